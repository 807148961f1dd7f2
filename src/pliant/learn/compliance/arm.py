"""A Franka Research 3 under Cartesian impedance whose stiffness changes in every step, for tasks of the benchmark.

The torques are those of the vendor's example of Cartesian impedance control,

    tau = g(q) + C(q, q') q' + J^T (K (x_d - x) - D x'),  D = 2 zeta sqrt(K m),

with the stiffness K as an input and the orientation of the start held. Joint friction is assumed to be compensated.
"""

from __future__ import annotations

from collections.abc import Callable

import mujoco
import numpy as np
from numpy.typing import NDArray

from pliant.base.numerics import GRAVITY
from pliant.learn.compliance.task import TaskParameter

DT = 0.002
"""Time step of physics and controller [s]; ours, twice the arm's own period."""
ROTATION = 40.0
"""Stiffness of the orientation [N m/rad]; assumed."""
ROTATION_DAMPING = 3.0
"""Damping of the orientation [N m s/rad]; assumed."""
ZETA = 0.8
"""Damping ratio of the translation; assumed."""
MASS = 3.0
"""Mass for which the damping ratio holds [kg]; about that of the arm at its end; assumed."""
JOINT_DAMPING = 2.0
"""Damping of all joints, for the redundant one [N m s/rad]; assumed."""
JOINTS = 7
_SITE = mujoco.mjtObj.mjOBJ_SITE


class ImpedanceArm:
    """One simulated arm; reset and stepped by a task.

    Args:
        spec: model whose first seven joints and actuators are those of the arm.
        site: name of the site that is controlled; all contacts of the arm are those of its body.
    """

    def __init__(self, spec: mujoco.MjSpec, site: str) -> None:
        # A sensor of this kind makes MuJoCo sum the contact forces of each body.
        spec.add_sensor(name=f"{site}_force", type=mujoco.mjtSensor.mjSENS_FORCE, objtype=_SITE, objname=site)
        self.model = spec.compile()
        self.model.opt.timestep = DT
        self.data = data = mujoco.MjData(self.model)
        self._site = self.model.site(site).id
        self._jacobian = np.zeros((6, self.model.nv))
        self._arm = self._jacobian[:, :JOINTS]
        self._held, self._turned, self._error = np.zeros(4), np.zeros(4), np.zeros(3)
        self._force = np.zeros(6)
        self._velocity, self._bias, self._control = (a[:JOINTS] for a in (data.qvel, data.qfrc_bias, data.ctrl))
        self._matrix = data.site_xmat[self._site]
        self.position: NDArray[np.float64] = data.site_xpos[self._site]
        """Position of the site in the world after the last forward pass [m]."""
        self.contact_force: NDArray[np.float64] = data.cfrc_ext[self.model.site_bodyid[self._site], 3:]
        """Force of all contacts on the body of the site, world axes, in the last step, shape (3,) [N]."""

    def reset(self, place: Callable[[mujoco.MjModel, mujoco.MjData], None]) -> None:
        """Set the key frame, let a function change the world of the episode, and hold the orientation from then on."""
        mujoco.mj_resetDataKeyframe(self.model, self.data, 0)
        place(self.model, self.data)
        mujoco.mj_forward(self.model, self.data)
        mujoco.mju_mat2Quat(self._held, self._matrix)
        self.contact_force[:] = 0.0
        mujoco.mj_jacSite(self.model, self.data, self._jacobian[:3], self._jacobian[3:], self._site)

    def step(self, reference: NDArray[np.float64], stiffness: NDArray[np.float64], unknown_mass: float = 0.0) -> None:
        """Advance by `DT`.

        Args:
            reference: position that the springs pull to, shape (3,) [m].
            stiffness: stiffness along the axes of the world, shape (3,) [N/m].
            unknown_mass: mass at the site that the gravity compensation does not know [kg].
        """
        force, twist = self._force, self._arm @ self._velocity
        mujoco.mju_mat2Quat(self._turned, self._matrix)
        mujoco.mju_subQuat(self._error, self._held, self._turned)  # in the axes of the site
        mujoco.mju_rotVecQuat(self._error, self._error.copy(), self._turned)
        damping = 2.0 * ZETA * np.sqrt(stiffness * MASS)
        force[:3] = stiffness * (reference - self.position) - damping * twist[:3]
        force[2] -= unknown_mass * GRAVITY  # the bias contains the whole weight
        force[3:] = ROTATION * self._error - ROTATION_DAMPING * twist[3:]
        self._control[:] = self._bias + force @ self._arm - JOINT_DAMPING * self._velocity
        mujoco.mj_step(self.model, self.data)
        mujoco.mj_jacSite(self.model, self.data, self._jacobian[:3], self._jacobian[3:], self._site)


def arm_stiffness(axis: str, phase: str, rule: float) -> TaskParameter:
    """Return the stiffness along an axis in one phase of a task as a parameter of its controller.

    Args:
        axis: "lateral" or "vertical"; the stiffnesses of one axis are a group.
        phase: name of the phase.
        rule: value of the hand-written controller [N/m].
    """
    return TaskParameter(
        f"{axis}_{phase}", 50.0, 3000.0, rule, unit="N/m", stiffness=axis, log=True, meaning=f"stiffness in the {phase}"
    )

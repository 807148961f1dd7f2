"""Kinematics and statics of the arm for planning, as the controllers of `pliant.control` take them."""

from __future__ import annotations

import math

import mujoco
import numpy as np

from pliant.base.numerics import Array
from pliant.joints.qbmove_5dof.build import BALL, JOINTS, TIP


class ArmKinematics:
    """Forward kinematics, Jacobian and holding torques of the arm, with data of its own: a run is not disturbed.

    Args:
        model: the compiled model of arm and box.

    Example:
        >>> arm = ArmKinematics(build_robot("qbmove-5dof").compile())
        >>> clik = ClosedLoopInverseKinematics(arm.forward, arm.jacobian, gain=20.0)
        >>> compensate = GravityCompensation(laws, arm.gravity)
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        self.model, self.data = model, mujoco.MjData(model)
        self.site = model.site(TIP).id
        self.qpos = [int(model.joint(j).qposadr[0]) for j in JOINTS]
        self.dofs = [int(model.joint(j).dofadr[0]) for j in JOINTS]

    def _at(self, q: Array) -> None:
        self.data.qpos[self.qpos] = q
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)

    def forward(self, q: Array) -> Array:
        """Return the position of the tip in the world [m] and the pitch of the last link [rad], shape (4,)."""
        self._at(q)
        along = -self.data.site_xmat[self.site].reshape(3, 3)[:, 2]
        return np.array([*self.data.site_xpos[self.site], math.atan2(along[0], -along[2])])

    def jacobian(self, q: Array) -> Array:
        """Return the Jacobian of `forward`, shape (4, 5) [m/rad, rad/rad]; its last row holds in the plane y = 0."""
        self._at(q)
        position, rotation = np.zeros((3, self.model.nv)), np.zeros((3, self.model.nv))
        mujoco.mj_jacSite(self.model, self.data, position, rotation, self.site)
        return np.vstack([position, -rotation[1]])[:, self.dofs]

    def gravity(self, q: Array) -> Array:
        """Return the torques that hold the arm at rest, shape (5,) [N m]."""
        self._at(q)
        self.data.qvel[:] = 0.0
        mujoco.mj_comVel(self.model, self.data)
        out = np.zeros(self.model.nv)
        mujoco.mj_rne(self.model, self.data, 0, out)
        return out[self.dofs]

    def load(self, q: Array, force: Array) -> Array:
        """Return the torques that hold the arm at rest while its ball pushes a wall x = constant, shape (5,) [N m].

        Args:
            q: joint positions, shape (5,) [rad].
            force: force of the ball on the wall, world axes, shape (3,) [N].
        """
        gravity = self.gravity(q)
        out = np.zeros(self.model.nv)
        body = int(self.model.site_bodyid[self.site])
        point = self.data.site_xpos[self.site] + [BALL, 0.0, 0.0]
        mujoco.mj_applyFT(self.model, self.data, force, np.zeros(3), point, body, out)
        return gravity + out[self.dofs]

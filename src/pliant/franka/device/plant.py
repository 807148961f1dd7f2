"""Sensors and motors of one Franka arm in a MuJoCo model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.errors import ModelError
from pliant.base.numerics import Array
from pliant.base.spatial import rotation_from_quaternion
from pliant.franka.device import kernels
from pliant.franka.device.parameters import Arm
from pliant.franka.device.static_friction import bristles, packed
from pliant.laws.compile import bound

if TYPE_CHECKING:
    import mujoco

REST_SPEED = 1e-9
"""Fingers that are slower than this stand still [m/s]."""  # assumed
LIP_POINTS = 8
"""Points of the suction cup's lip that feel contact."""  # assumed
OPENING = 0.04
"""Opening of a hand at start, where none is given [m]."""


def gravity_in(model: mujoco.MjModel, body: int) -> Array:
    """Return gravity in the axes of a body, whatever it stands on, with all joints at their reference [m/s^2]."""
    R = np.eye(3)
    while body:
        R = rotation_from_quaternion(model.body_quat[body]) @ R
        body = int(model.body_parentid[body])
    return R.T @ model.opt.gravity


class ArmPlant:
    """Sensors and motors of one arm: measured quantities and applied torques.

    The inertia of the motors and the joint friction act between motor and link, so the link-side torque sensor measures
    what is left of the motor's torque after both.

    Args:
        model: a compiled model that holds the arm.
        data: its state.
        name: prefix of the arm's bodies, joints and actuators.
        arm: parameters of the arm.
        friction: whether the identified friction acts on the joints.
        static_friction: bandwidth of the joints' torque loops, beside which static friction acts too [rad/s]; None: no
            static friction.
        friction_torque: array for the friction of each step, shape (nv,) [N m], such as `MujocoState.motor_friction`;
            None: one of its own.

    Raises:
        ModelError: the model has no arm of that name.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        name: str,
        *,
        arm: Arm,
        friction: bool,
        static_friction: float | None = None,
        friction_torque: Array | None = None,
    ) -> None:
        import mujoco

        def find(kind: mujoco.mjtObj, what: str) -> int:
            found = mujoco.mj_name2id(model, kind, what)
            if found < 0:
                raise ModelError(f"the model has no {what!r}", field=what)
            return found

        self.arm, self.name, self.friction = arm, name, friction
        self._model = model
        joints = [find(mujoco.mjtObj.mjOBJ_JOINT, f"{name}_joint{i}") for i in range(1, 8)]
        motors = [find(mujoco.mjtObj.mjOBJ_ACTUATOR, f"{name}_joint{i}") for i in range(1, 8)]
        # The joints are consecutive, so these are views.
        q0, v0, u0 = int(model.jnt_qposadr[joints[0]]), int(model.jnt_dofadr[joints[0]]), motors[0]
        self._q, self._dq = data.qpos[q0 : q0 + 7], data.qvel[v0 : v0 + 7]
        self._ddq = data.qacc[v0 : v0 + 7]
        self.rotor_inertia: Array = model.dof_armature[v0 : v0 + 7]
        """Inertia of the motors at the joints, shape (7,) [kg m^2]."""
        self._warm = [data.qacc_warmstart[v0 : v0 + 7]]
        self._held: Array | None = None
        self._u = data.ctrl[u0 : u0 + 7]
        total = np.zeros(7) if friction_torque is None else friction_torque[v0 : v0 + 7]
        curve = np.ravel(arm.friction) if friction else np.zeros(21)
        self._anchors: Array = self._q.copy()
        held, dt = np.zeros(21), 0.0
        if static_friction is not None:
            held, dt = packed(bristles(arm, self.rotor_inertia, static_friction)), float(model.opt.timestep)
        self.motors = kernels.Motors(self._q, self._dq, curve, held, self._anchors, dt, total, self._u)
        """What drives the joints."""
        self.sensors = kernels.Sensors(self._q, self._dq, self._u, self.rotor_inertia, self._ddq)
        """What the last step has left, for a cabinet that observes exactly this."""
        self._torque = np.zeros(7)
        self._drive = bound(kernels.drive, self._torque, *self.motors)
        self.has_hand = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, f"{name}_finger1") >= 0
        if self.has_hand:
            finger = find(mujoco.mjtObj.mjOBJ_JOINT, f"{name}_finger1")
            qf, vf = int(model.jnt_qposadr[finger]), int(model.jnt_dofadr[finger])
            uf = find(mujoco.mjtObj.mjOBJ_ACTUATOR, f"{name}_finger1")
            self._finger, self._finger_rate = data.qpos[qf : qf + 2], data.qvel[vf : vf + 2]
            self._finger_force = data.ctrl[uf : uf + 2]
            self._warm.append(data.qacc_warmstart[vf : vf + 2])
        self._data = data
        lip = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, f"{name}_lip{i}") for i in range(LIP_POINTS)]
        self.has_cup = min(lip) >= 0
        if self.has_cup:
            self._lip = {geom: i for i, geom in enumerate(lip)}
            uc = find(mujoco.mjtObj.mjOBJ_ACTUATOR, f"{name}_cup")
            self._cup_force = data.ctrl[uc : uc + 1]
        base = find(mujoco.mjtObj.mjOBJ_BODY, f"{name}_link0")
        self.gravity: Array = gravity_in(model, base)
        """Gravity in the base frame, shape (3,) [m/s^2]."""

    def start(self, q: ArrayLike, opening: float = OPENING) -> None:
        """Put the arm at q and its fingers at an opening [m], at rest."""
        self._q[:] = q
        self._dq[:] = 0.0
        self._u[:] = 0.0
        self._ddq[:] = 0.0
        self._held = None
        self._anchors[:] = self._q  # bristles without torque
        if self.has_hand:
            self._finger[:] = 0.5 * opening
            self._finger_rate[:] = 0.0
        self.write_cup(0.0)

    def read(self) -> tuple[Array, Array, Array]:
        """Return q, dq (views) and the link-side torques of the last step, shape (7,) each."""
        # The acceleration is that of the last step, and so is the torque.
        return self._q, self._dq, self._u - self.rotor_inertia * self._ddq

    def write(self, torque: Array) -> None:
        """Drive the motors during the next step, shape (7,) [N m]."""
        self._torque[:] = torque
        self._drive()

    def read_hand(self) -> tuple[float, float]:
        """Return the opening between the fingers [m] and its rate [m/s]; zeros without a hand."""
        if not self.has_hand:
            return 0.0, 0.0
        (left, right), (left_rate, right_rate) = self._finger.tolist(), self._finger_rate.tolist()
        return left + right, left_rate + right_rate

    def write_hand(self, force: float) -> None:
        """Apply a force to each finger, positive opening [N]."""
        if self.has_hand:
            self._finger_force.fill(force)

    def lip_is_closed(self) -> bool:
        """Return whether one body closes the lip of the suction cup all around; False without a cup."""
        data, model = self._data, self._model
        if not self.has_cup or data.ncon < LIP_POINTS:
            return False
        touched: dict[int, set[int]] = {}
        for first, second in data.contact.geom[: data.ncon].tolist():
            for point, other in ((first, second), (second, first)):
                if point in self._lip:
                    touched.setdefault(int(model.geom_bodyid[other]), set()).add(point)
        return any(len(points) == LIP_POINTS for points in touched.values())

    def write_cup(self, force: float) -> None:
        """Let the suction cup hold on to what it touches [N]."""
        if self.has_cup:
            self._cup_force[0] = force

    def settle(self, q: Array) -> None:
        """Put the arm at rest exactly at q, shape (7,) [rad]; fingers that stand still keep their places too."""
        self._q[:] = q
        self._dq[:] = 0.0
        self._ddq[:] = 0.0
        self._anchors[:] = self._q
        for part in self._warm:
            part[:] = 0.0
        if not self.has_hand:
            return
        if self._held is not None and np.abs(self._finger - self._held).max() < 1e-9:
            self._finger[:] = self._held
            self._finger_rate[:] = 0.0
        else:
            self._held = self._finger.copy() if np.abs(self._finger_rate).max() < REST_SPEED else None

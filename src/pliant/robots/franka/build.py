"""The arms as MuJoCo models, and the physics side of a control cabinet.

`arm_spec` makes one arm with primitive shapes from `pliant.robots.franka.parameters`; `world` puts any number of
them into one scene, each with its mounting. `MujocoArm` reads the sensors and drives the motors of one arm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import ModelError
from pliant.robots.franka.dynamics import friction_kernel
from pliant.robots.franka.parameters import DH, EE_OF_HAND, FER, FR3, FRANKA_HAND, HAND, Arm, Payload
from pliant.robots.franka.urdf import CAPSULES
from pliant.spatial import hat

if TYPE_CHECKING:
    import mujoco

__all__ = ["Q_START", "Mount", "MujocoArm", "MujocoPlant", "arm_spec", "world"]

Array = NDArray[np.float64]

Q_START = np.array([0.0, -0.6, 0.0, -2.2, 0.0, 1.6, 0.785])
"""Where a simulated arm starts [rad]: near the ready pose, not in it, since a client that moves to the ready pose
refuses a path of no length."""

STOP_MARGIN = 0.1
"""Distance of the mechanical stops from the position limits [rad]."""  # assumed

_WHITE, _BLACK, _GREY = (0.95, 0.95, 0.95, 1.0), (0.15, 0.15, 0.15, 1.0), (0.6, 0.6, 0.6, 1.0)
FINGER_Z = 0.0584
"""Where the fingers start, along z of the hand [m], franka_description."""
_TIP = 0.1034
"""Where the fingertips meet, along z of the hand [m]."""
_FINGER_INERTIA = HAND.finger_mass * (0.02**2 + 0.045**2) / 12
"""Of one finger about any axis through its centre [kg m^2]: a box of its size."""  # assumed


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """One arm in a world."""

    name: str = "franka"
    """Prefix of its bodies, joints and actuators."""
    arm: Arm = FER
    """`FER` or `FR3`."""
    hand: bool = True
    """Whether it carries the two-finger hand."""
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Of the base in the world [m]."""
    rpy: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Of the base in the world, fixed-axis roll, pitch, yaw [rad]."""
    q: tuple[float, ...] = tuple(Q_START.tolist())
    """Joint positions at start [rad]."""
    motor_inertia: bool = False
    """Whether the motors' reflected inertia is there; the FER takes the FR3's, its own is not published."""  # assumed

    def rotation(self) -> Array:
        """Return the base's rotation in the world, shape (3, 3)."""
        from pliant.spatial import rotation_from_rpy

        return rotation_from_rpy(self.rpy)


def _quaternion(R: Array) -> list[float]:
    import mujoco

    q = np.empty(4)
    mujoco.mju_mat2Quat(q, np.ascontiguousarray(R).reshape(-1))
    return q.tolist()


def _inertia(body: Any, mass: float, center: ArrayLike, tensor: Sequence[float]) -> None:
    """Give a body its inertia; tensor xx, xy, xz, yy, yz, zz about the centre of mass."""
    body.explicitinertial = True
    body.mass = mass
    body.ipos = list(np.asarray(center, dtype=float))
    xx, xy, xz, yy, yz, zz = tensor
    body.fullinertia = [xx, yy, zz, xy, xz, yz]


def _capsules(body: Any, link: int, rgba: tuple[float, ...]) -> None:
    import mujoco

    for owner, start, end, radius in CAPSULES:
        if owner == link:
            body.add_geom(
                type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=[*start, *end], size=[radius, 0, 0], rgba=list(rgba), mass=0
            )


def _hand_body() -> tuple[float, Array, Array, float, Array]:
    """Return mass, centre and tensor (flange axes) of the hand without fingers, and a finger's mass and place.

    Together with both fingers, closed, it is exactly `FRANKA_HAND`: what the cabinet compensates is what hangs there.
    Opening moves the fingers apart symmetrically: the centre of mass stays, the inertia grows by less than
    1e-4 kg m^2.
    """
    m, center = FRANKA_HAND.mass, np.array(FRANKA_HAND.center_of_mass)
    I = np.reshape(FRANKA_HAND.inertia, (3, 3)) + m * -hat(center) @ hat(center)
    mf = HAND.finger_mass
    at = np.array([0.0, 0.0, 0.5 * (FINGER_Z + _TIP)])
    rest = m - 2 * mf
    c = (m * center - 2 * mf * at) / rest
    I = I - 2 * mf * -hat(at) @ hat(at) - rest * -hat(c) @ hat(c) - 2 * _FINGER_INERTIA * np.eye(3)
    return rest, c, I, mf, at


def arm_spec(arm: Arm = FER, *, name: str = "franka", hand: bool = True, motor_inertia: bool = False) -> mujoco.MjSpec:
    """Return one arm as an editable MuJoCo model, base at the origin.

    Joints and motors ``{name}_joint1`` to ``7``, sites ``{name}_flange`` and ``{name}_ee``; with a hand, slides and
    motors ``{name}_finger1`` and ``{name}_finger2``. The motors are plain torques: the controller is the cabinet.
    Links of one arm do not collide with each other (the cabinet's self-collision check watches them).

    Args:
        arm: `FER` or `FR3`.
        name: prefix of everything in it; empty for none, to attach the arm under a prefix of its own.
        hand: whether it carries the two-finger hand.
        motor_inertia: whether the motors' reflected inertia is there.
    """
    import mujoco

    reflected = arm.motor_inertia if any(arm.motor_inertia) else FR3.motor_inertia
    spec = mujoco.MjSpec()
    spec.modelname = name or arm.name
    at = f"{name}_" if name else ""
    spec.option.timestep = 1e-3
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.gravity = [0.0, 0.0, -9.81]
    spec.compiler.degree = False
    base = spec.worldbody.add_body(name=f"{at}link0")
    _inertia(base, arm.base.mass, arm.base.center_of_mass, arm.base.inertia)
    _capsules(base, 0, _WHITE)
    bodies = [base]
    parent = base
    for i in range(8):
        a, alpha, d = (float(x) for x in DH[i])
        sine, cosine = float(round(math.sin(alpha))), float(round(math.cos(alpha)))
        R = np.array([[1.0, 0, 0], [0, cosine, -sine], [0, sine, cosine]])
        position = [a, -sine * d, cosine * d]
        if i == 7:
            parent.add_site(name=f"{at}flange", pos=position, size=[0.005] * 3)
            break
        body = parent.add_body(name=f"{at}link{i + 1}", pos=position, quat=_quaternion(R))
        link = arm.links[i]
        _inertia(body, link.mass, link.center_of_mass, link.inertia)
        _capsules(body, i + 1, _WHITE if i != 6 else _GREY)
        limits = arm.limits
        body.add_joint(
            name=f"{at}joint{i + 1}",
            type=mujoco.mjtJoint.mjJNT_HINGE,
            axis=[0, 0, 1],
            range=[limits.position_min[i] - STOP_MARGIN, limits.position_max[i] + STOP_MARGIN],
            limited=True,
            armature=reflected[i] if motor_inertia else 0.0,
        )
        motor = spec.add_actuator(name=f"{at}joint{i + 1}", target=f"{at}joint{i + 1}")
        motor.trntype = mujoco.mjtTrn.mjTRN_JOINT
        bodies.append(body)
        parent = body
    flange = [0.0, 0.0, float(DH[7, 2])]
    if hand:
        mass, center, tensor, finger_mass, finger_at = _hand_body()
        # axes of the flange first (the tensor is given there), the hand itself turned by -45 degrees
        palm = parent.add_body(name=f"{at}hand", pos=flange)
        _inertia(palm, mass, center, [*tensor[0], tensor[1, 1], tensor[1, 2], tensor[2, 2]])
        bodies.append(palm)
        turn = EE_OF_HAND[:3, :3]
        quat = _quaternion(turn)
        palm.add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX,
            size=[0.03, 0.1, 0.028],
            pos=[0, 0, 0.03],
            quat=quat,
            rgba=list(_WHITE),
            mass=0,
        )
        palm.add_site(name=f"{at}ee", pos=[0, 0, _TIP], quat=quat, size=[0.005] * 3)
        for n, sign in ((1, 1.0), (2, -1.0)):
            side = turn @ np.array([0.0, sign, 0.0])
            finger = palm.add_body(name=f"{at}finger{n}", pos=[0, 0, 0])
            _inertia(finger, finger_mass, finger_at, [_FINGER_INERTIA, 0, 0, _FINGER_INERTIA, 0, _FINGER_INERTIA])
            center_f = finger_at + side * 0.006
            finger.add_geom(
                type=mujoco.mjtGeom.mjGEOM_BOX,
                size=[0.01, 0.006, 0.5 * (_TIP - FINGER_Z) + 0.008],
                pos=center_f.tolist(),
                quat=quat,
                rgba=list(_BLACK),
                mass=0,
                friction=[1.0, 0.005, 0.0001],
                condim=4,
            )
            finger.add_joint(
                name=f"{at}finger{n}",
                type=mujoco.mjtJoint.mjJNT_SLIDE,
                axis=side.tolist(),
                range=[0.0, 0.5 * HAND.max_width],
                limited=True,
                armature=0.1,  # reflected inertia of the motor and spindle; assumed
                damping=[5.0, 0, 0],  # assumed
            )
            motor = spec.add_actuator(name=f"{at}finger{n}", target=f"{at}finger{n}")
            motor.trntype = mujoco.mjtTrn.mjTRN_JOINT
            bodies.append(finger)
        # one motor drives both fingers
        spec.add_equality(
            type=mujoco.mjtEq.mjEQ_JOINT,
            name1=f"{at}finger1",
            name2=f"{at}finger2",
            objtype=mujoco.mjtObj.mjOBJ_JOINT,
            # stiff: what the fingers sag under gravity would pull a floating arm away
            solref=[0.002, 1.0],
            solimp=[0.9999, 0.9999, 0.001, 0.5, 2.0],
            data=[0.0, 1.0] + [0.0] * (mujoco.mjNEQDATA - 2),
        )
    else:
        parent.add_site(name=f"{at}ee", pos=flange, size=[0.005] * 3)
    for i, first in enumerate(bodies):
        for second in bodies[i + 1 :]:
            if not (first.name.endswith("finger1") and second.name.endswith("finger2")):
                spec.add_exclude(bodyname1=first.name, bodyname2=second.name)
    return spec


def world(mounts: Sequence[Mount] = (Mount(),), *, floor: bool = True) -> mujoco.MjSpec:
    """Return a scene with arms, each on its own mounting.

    Args:
        mounts: the arms; their names must differ.
        floor: whether there is a floor at z = 0 (it collides with nothing of the bases).

    Raises:
        ModelError: two arms of one name, or a start of the wrong length.
    """
    import mujoco

    names = [m.name for m in mounts]
    if len(set(names)) != len(names):
        raise ModelError(f"two arms of one name among {names}", field="name")
    spec = mujoco.MjSpec()
    spec.option.timestep = 1e-3
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.compiler.degree = False
    spec.worldbody.add_light(pos=[0, 0, 3], dir=[0, 0, -1])
    if floor:
        spec.worldbody.add_geom(
            name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[3, 3, 0.1], rgba=[0.8, 0.85, 0.9, 1]
        )
    for mount in mounts:
        if len(mount.q) != 7:
            raise ModelError(f"{mount.name}: {len(mount.q)} start positions, not 7", field="q")
        child = arm_spec(mount.arm, name="", hand=mount.hand, motor_inertia=mount.motor_inertia)
        frame = spec.worldbody.add_frame(pos=list(mount.position), quat=_quaternion(mount.rotation()))
        frame.attach_body(child.body("link0"), f"{mount.name}_", "")
    return spec


class MujocoArm:
    """Sensors and motors of one arm in a MuJoCo model.

    Args:
        model: compiled from `world` or `arm_spec`.
        data: its state.
        name: the arm's prefix.
        arm: `FER` or `FR3`.
        friction: whether the identified friction acts on the joints.

    Motor inertia and joint friction sit between motor and link, so the torque sensor (link side) reads what is left of
    the motor's torque after both.
    """

    def __init__(self, model: Any, data: Any, name: str = "franka", *, arm: Arm = FER, friction: bool = True) -> None:
        import mujoco

        def find(kind: Any, what: str) -> int:
            found = mujoco.mj_name2id(model, kind, what)
            if found < 0:
                raise ModelError(f"the model has no {what!r}", field=what)
            return found

        self.arm, self.name, self.friction = arm, name, friction
        joints = [find(mujoco.mjtObj.mjOBJ_JOINT, f"{name}_joint{i}") for i in range(1, 8)]
        motors = [find(mujoco.mjtObj.mjOBJ_ACTUATOR, f"{name}_joint{i}") for i in range(1, 8)]
        # consecutive by construction: views, not copies
        q0, v0, u0 = int(model.jnt_qposadr[joints[0]]), int(model.jnt_dofadr[joints[0]]), motors[0]
        self._q, self._dq = data.qpos[q0 : q0 + 7], data.qvel[v0 : v0 + 7]
        self._ddq = data.qacc[v0 : v0 + 7]
        self._motor_inertia = model.dof_armature[v0 : v0 + 7]
        self._warm = [data.qacc_warmstart[v0 : v0 + 7]]
        self._held: Array | None = None
        self._u = data.ctrl[u0 : u0 + 7]
        self._friction = np.zeros(7)
        self._tau_J = np.zeros(7)
        self.has_hand = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, f"{name}_finger1") >= 0
        if self.has_hand:
            finger = find(mujoco.mjtObj.mjOBJ_JOINT, f"{name}_finger1")
            qf, vf = int(model.jnt_qposadr[finger]), int(model.jnt_dofadr[finger])
            uf = find(mujoco.mjtObj.mjOBJ_ACTUATOR, f"{name}_finger1")
            self._finger, self._finger_rate = data.qpos[qf : qf + 2], data.qvel[vf : vf + 2]
            self._finger_force = data.ctrl[uf : uf + 2]
            self._warm.append(data.qacc_warmstart[vf : vf + 2])
        base = find(mujoco.mjtObj.mjOBJ_BODY, f"{name}_link0")
        R = np.empty(9)
        mujoco.mju_quat2Mat(R, model.body_quat[base])
        self.gravity: Array = R.reshape(3, 3).T @ model.opt.gravity
        """Gravity in the base frame, shape (3,) [m/s^2]."""

    def start(self, q: ArrayLike) -> None:
        """Put the arm at q, at rest, fingers half open."""
        self._q[:] = q
        self._dq[:] = 0.0
        self._u[:] = 0.0
        self._ddq[:] = 0.0
        self._tau_J[:] = 0.0
        self._held = None
        if self.has_hand:
            self._finger[:] = 0.02
            self._finger_rate[:] = 0.0

    def read(self) -> tuple[Array, Array, Array]:
        """Return q, dq and the link-side torques of the last step (views), shape (7,) each."""
        # The acceleration is that of the step just done, and so is the torque.
        np.multiply(self._motor_inertia, self._ddq, self._tau_J)
        np.subtract(self._u, self._tau_J, self._tau_J)
        return self._q, self._dq, self._tau_J

    def write(self, torque: Array) -> None:
        """Drive the motors during the next step, shape (7,) [N m]."""
        if self.friction:
            friction_kernel(self._dq, self.arm.friction, self._friction)
            np.subtract(torque, self._friction, self._u)
        else:
            self._u[:] = torque

    def read_hand(self) -> tuple[float, float]:
        """Return the width between the fingers [m] and its rate [m/s]."""
        if not self.has_hand:
            return 0.0, 0.0
        return float(self._finger[0] + self._finger[1]), float(self._finger_rate[0] + self._finger_rate[1])

    def write_hand(self, force: float) -> None:
        """Apply a force to each finger, positive opening [N]."""
        if self.has_hand:
            self._finger_force[:] = force

    def settle(self, q: Array) -> None:
        """Rest exactly at q, shape (7,) [rad]; fingers that stand still stay where they are too."""
        self._q[:] = q
        self._dq[:] = 0.0
        self._ddq[:] = 0.0
        for part in self._warm:
            part[:] = 0.0
        if not self.has_hand:
            return
        if self._held is not None and np.abs(self._finger - self._held).max() < 1e-9:
            self._finger[:] = self._held
            self._finger_rate[:] = 0.0
        else:
            self._held = self._finger.copy() if np.abs(self._finger_rate).max() < 1e-9 else None

    def payload(self) -> Payload | None:
        """Return what hangs at the flange according to the model: the hand or nothing."""
        return FRANKA_HAND if self.has_hand else None


class MujocoPlant:
    """A world of arms: model, state and one `MujocoArm` for each.

    Args:
        mounts: the arms.
        friction: whether the identified joint friction acts.
        spec: a scene that already holds the arms; default `world(mounts)`.
    """

    def __init__(
        self, mounts: Sequence[Mount] = (Mount(),), *, friction: bool = True, spec: mujoco.MjSpec | None = None
    ) -> None:
        import mujoco

        self.mounts = tuple(mounts)
        self.model = (spec or world(self.mounts)).compile()
        self.data = mujoco.MjData(self.model)
        self.arms = [MujocoArm(self.model, self.data, m.name, arm=m.arm, friction=friction) for m in self.mounts]
        self._mj_step = mujoco.mj_step
        self._forward = mujoco.mj_forward
        self.reset()

    def reset(self) -> None:
        """Put every arm at its start, at rest, fingers half open."""
        import mujoco

        mujoco.mj_resetData(self.model, self.data)
        for mount, arm in zip(self.mounts, self.arms, strict=True):
            arm._q[:] = mount.q
            arm._tau_J[:] = 0.0
            if arm.has_hand:
                arm._finger[:] = 0.02
        self._forward(self.model, self.data)

    def step(self) -> None:
        """Advance by one millisecond."""
        self._mj_step(self.model, self.data)

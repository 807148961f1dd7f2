"""Common source of the writers of an export: the compiled model, names for all of its elements, the places of links."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from pliant.base.errors import ModelError
from pliant.base.names import free_name
from pliant.base.spatial import rpy_from_rotation
from pliant.formats.tags import numbers
from pliant.formats.urdf_extension import Mimic
from pliant.model.description import REST_KEY, actuator_names
from pliant.model.interface import JointInterface

if TYPE_CHECKING:
    from pliant.model.robot import Robot

FREE = int(mujoco.mjtJoint.mjJNT_FREE)
BALL = int(mujoco.mjtJoint.mjJNT_BALL)
SLIDE = int(mujoco.mjtJoint.mjJNT_SLIDE)
HINGE = int(mujoco.mjtJoint.mjJNT_HINGE)
DEFAULT_VELOCITY = 100.0
"""Velocity limit where the robot has none, that of the toolbox's templates [rad/s or m/s]."""
DEFAULT_EFFORT = 300.0
"""Effort limit where the robot has none, that of the toolbox's templates [N m or N]."""
CONSTRAINTS = {
    "connect": "closes a loop; a URDF is a tree",
    "weld": "closes a loop; a URDF is a tree",
    "joint": "is no <mimic>: one joint that follows one other linearly, once, and from the start",
}
"""Why a constraint cannot be written, by its kind."""
UNWRITABLE_SHAPES = {
    int(mujoco.mjtGeom.mjGEOM_HFIELD): "a height field",
    int(mujoco.mjtGeom.mjGEOM_SDF): "a signed distance field",
}


class Command:
    """Command of a joint: its command interfaces, and the gains of a position servo of MuJoCo's own."""

    __slots__ = ("gains", "interfaces")

    def __init__(self) -> None:
        self.interfaces: list[str] = []
        self.gains: dict[str, float] = {}


class Source:
    """A robot about to be written: its compiled model, and names.

    Args:
        robot: the robot.
        partial: whether what URDF cannot carry is left out with a note; a ball joint becomes a floating one.

    Raises:
        ModelError: the robot has elements that URDF cannot carry; the message names each.
    """

    def __init__(self, robot: Robot, *, partial: bool = False) -> None:
        self.robot = robot
        self.partial = partial
        self.model = robot.compile()
        self.notes: list[str] = []
        m = self.model
        self.bodies = _unique((m.body(b).name for b in range(m.nbody)), "link")
        """Names of the links, by body."""
        self.joints = _unique((m.joint(j).name for j in range(m.njnt)), "joint")
        """Names of the joints."""
        self.geoms = _unique((m.geom(g).name for g in range(m.ngeom)), "shape")
        """Names of the shapes."""
        self.mimics, self.constraints = self._mimics()
        self._refuse()
        self._note()
        self.offsets = self._offsets()
        """Place of each link's origin in its body [m]: URDF puts it on the last joint's axis."""
        keys = [k for k in range(m.nkey) if m.key(k).name == REST_KEY]
        self.rest: np.ndarray = m.key_qpos[keys[0]].copy() if keys else m.qpos0.copy()
        """Positions at the start."""
        self.colliding = self._colliding()
        """Whether each shape takes part in contacts."""

    # -- what cannot be written -------------------------------------------------------------------------

    def _refuse(self) -> None:
        m = self.model
        faults: list[tuple[str, str]] = []

        def fault(kind: str, name: str, index: int, why: str) -> None:
            faults.append((name, f"{kind} {name!r} {why}" if name else f"{kind} {index} {why}"))

        for j in range(m.njnt):
            if int(m.jnt_type[j]) == BALL:
                body = self.bodies[m.jnt_bodyid[j]]
                fault("joint", self.joints[j], j, f"is a ball joint of body {body!r}; URDF has hinges and slides")
        for e in range(m.neq):
            if e not in self.constraints:
                kind = mujoco.mjtEq(int(m.eq_type[e])).name.removeprefix("mjEQ_").lower()
                fault("equality", m.equality(e).name, e, f"({kind}) {CONSTRAINTS.get(kind, 'has no place in URDF')}")
        for t in range(m.ntendon):
            fault("tendon", m.tendon(t).name, t, "has no place in URDF")
        for f in range(m.nflex):
            fault("flex", mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_FLEX, f) or "", f, "has no place in URDF")
        for g in range(m.ngeom):
            if int(m.geom_type[g]) in UNWRITABLE_SHAPES:
                fault("geom", self.geoms[g], g, f"is {UNWRITABLE_SHAPES[int(m.geom_type[g])]}; URDF has none")
        for p in range(m.nplugin):
            fault(
                "plugin", mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_PLUGIN, p) or "", p, "of MuJoCo has no place in URDF"
            )
        if faults:
            shown = "; ".join(text for _, text in faults[:8])
            more = f"; and {len(faults) - 8} more" if len(faults) > 8 else ""
            if self.partial:
                self.notes.append(f"left out: {shown}{more}")
                return
            raise ModelError(
                f"the robot {self.robot.name!r} cannot be written as URDF: {shown}{more}",
                file=self.robot.file,
                field=faults[0][0] or None,
            )

    def _note(self) -> None:
        m = self.model
        own = [d for d in self.robot.devices if type(d).__module__.startswith("pliant.model.sensors")]
        counts = {"sensors": m.nsensor, "cameras": m.ncam, "skins": m.nskin, "sensor devices": len(own)}
        left_out = ", ".join(f"{what} ({count})" for what, count in counts.items() if count)
        if left_out:
            self.notes.append(f"left out: {left_out}")
        others = [m.key(k).name or str(k) for k in range(m.nkey) if m.key(k).name != REST_KEY]
        if others:
            self.notes.append(f"the key frames {', '.join(map(repr, others[:8]))} are left out")
        if m.ntex:
            self.notes.append("textures are left out; shapes keep their colours")

    def _mimics(self) -> tuple[dict[int, Mimic], set[int]]:
        """Return what `<mimic>` says of each joint that follows another, and which constraints that were."""
        m = self.model
        found: dict[int, Mimic] = {}
        constraints: set[int] = set()
        self.constraint_of: dict[int, int] = {}
        for e in range(m.neq):
            follower, other = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
            linear = not np.any(m.eq_data[e, 2:5])
            if int(m.eq_type[e]) != int(mujoco.mjtEq.mjEQ_JOINT) or other < 0 or not linear or not m.eq_active0[e]:
                continue
            if follower in found:
                continue
            # MuJoCo counts both positions from qpos0.
            start, start_other = (float(m.qpos0[m.jnt_qposadr[j]]) for j in (follower, other))
            offset, ratio = float(m.eq_data[e, 0]), float(m.eq_data[e, 1])
            found[follower] = Mimic(
                joint=self.joints[follower],
                other=self.joints[other],
                multiplier=ratio,
                offset=offset + start - ratio * start_other,
            )
            constraints.add(e)
            self.constraint_of[follower] = e
        return found, constraints

    # -- places -----------------------------------------------------------------------------------------

    def _offsets(self) -> np.ndarray:
        m = self.model
        out = np.zeros((m.nbody, 3))
        for body in range(1, m.nbody):
            count, first = int(m.body_jntnum[body]), int(m.body_jntadr[body])
            if count and int(m.jnt_type[first]) != FREE:
                out[body] = m.jnt_pos[first + count - 1]
        return out

    def joints_of(self, body: int) -> range:
        """Return the joints of a body."""
        first = int(self.model.body_jntadr[body])
        return range(first, first + int(self.model.body_jntnum[body]))

    def single_joints(self) -> list[int]:
        """Return the hinges and slides."""
        return [j for j in range(self.model.njnt) if int(self.model.jnt_type[j]) in (SLIDE, HINGE)]

    def between(self, body: int) -> list[str]:
        """Return the names of the links between a body's joints."""
        taken = set(self.bodies)
        out = []
        for k in range(1, len(self.joints_of(body))):
            out.append(free_name(f"{self.bodies[body]}_between_{k}", taken))
            taken.add(out[-1])
        return out

    def _colliding(self) -> np.ndarray:
        m = self.model
        out = (m.geom_contype != 0) | (m.geom_conaffinity != 0)
        for p in range(m.npair):
            out[[m.pair_geom1[p], m.pair_geom2[p]]] = True
        return out

    def excluded(self) -> list[tuple[int, int]]:
        """Return the pairs of bodies that do not collide."""
        return [(int(s) >> 16, int(s) & 0xFFFF) for s in self.model.exclude_signature]

    # -- limits and commands ----------------------------------------------------------------------------

    def interface(self, joint: int) -> JointInterface | None:
        """Return what the robot's interface says of a joint."""
        return self.robot.interface.joints.get(self.joints[joint])

    def effort(self, joint: int) -> float:
        """Return the effort limit [N m or N]."""
        m = self.model
        if m.jnt_actfrclimited[joint] and m.jnt_actfrcrange[joint, 1] > 0.0:
            return float(m.jnt_actfrcrange[joint, 1])
        actuator = self.robot.actuators.get(self.joints[joint])
        muscles = actuator is not None and actuator.law.second_input == "pressure"
        if (
            actuator is not None
            and not muscles
            and actuator.mode.has_motors
            and math.isfinite(actuator.motor_1.max_torque)
        ):
            second = actuator.motor_2
            total = actuator.motor_1.max_torque
            if second is not None and actuator.law.motors == 2 and actuator.law.second_input != "lever":
                total += second.max_torque
            return float(total) or DEFAULT_EFFORT
        return DEFAULT_EFFORT

    def velocity(self, joint: int) -> float:
        """Return the velocity limit [rad/s or m/s]."""
        described = self.interface(joint)
        limit = None if described is None else described.velocity_limit
        return DEFAULT_VELOCITY if limit is None else float(limit)

    def native_commands(self) -> dict[int, Command]:
        """Return what MuJoCo's own actuators command, by joint."""
        m = self.model
        pliant = {n for j, a in self.robot.actuators.items() for n in actuator_names(j)[: a.commands]}
        found: dict[int, Command] = {}
        for i in range(m.nactuator):
            name = m.actuator(i).name
            if name in pliant:
                continue
            kind = int(m.actuator_trntype[i])
            joint = int(m.actuator_trnid[i, 0])
            on_joint = kind in (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
            if not on_joint or int(m.jnt_type[joint]) not in (SLIDE, HINGE):
                self.notes.append(f"the actuator {name or i!r} drives no hinge or slide and is left out")
                continue
            command = found.setdefault(joint, Command())
            what, gains = _servo(m, i)
            if what not in command.interfaces:
                command.interfaces.append(what)
                command.gains |= gains
        return found


def servo_of(model: mujoco.MjModel, actuator: int) -> str:
    """Return the command interface of ros2_control that an actuator of MuJoCo's on a joint amounts to."""
    return _servo(model, actuator)[0]


def _servo(model: mujoco.MjModel, actuator: int) -> tuple[str, dict[str, float]]:
    """Return the command interface that an actuator of MuJoCo's amounts to, and a position servo's p and d."""
    gain, bias = model.actuator_gainprm[actuator], model.actuator_biasprm[actuator]
    fixed = int(model.actuator_gaintype[actuator]) == int(mujoco.mjtGain.mjGAIN_FIXED)
    affine = int(model.actuator_biastype[actuator]) == int(mujoco.mjtBias.mjBIAS_AFFINE)
    gear = float(model.actuator_gear[actuator, 0]) ** 2
    if fixed and affine and gain[0] > 0.0 and gear > 0.0:
        if np.isclose(bias[1], -gain[0]):
            return "position", {"p": float(gain[0]) * gear, "d": max(0.0, -float(bias[2])) * gear}
        if bias[1] == 0.0 and np.isclose(bias[2], -gain[0]):
            return "velocity", {"d": float(gain[0]) * gear}
    return "effort", {}


def _unique(names: Iterable[str], kind: str) -> list[str]:
    given = list(names)
    taken = {n for n in given if n}
    out = []
    for index, name in enumerate(given):
        if not name:
            taken.add(name := free_name(f"{kind}_{index}", taken))
        out.append(name)
    return out


# -- numbers ----------------------------------------------------------------------------------------------


def rpy_text(rotation: np.ndarray) -> str:
    """Return roll, pitch, yaw of a rotation matrix as text."""
    return numbers(rpy_from_rotation(rotation))

"""The actuators that serve the joints of a URDF with ``<ros2_control>`` tags, their gains and their parameters.

A joint is served by the strongest of its command interfaces that pliant has a mode for:

position and stiffness   a qbMove in mode 6
position                 mode 1, a PID on the link
effort                   mode 0, a torque on the link
velocity                 a velocity servo of MuJoCo, named ``<joint>_velocity``

A joint without any of these moves freely; so does one that mimics another. What was chosen stands in the notes.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

import mujoco
import numpy as np

from pliant.base.errors import LawError, ModelError, nearest
from pliant.base.options import parse_number
from pliant.formats.source import Draft
from pliant.laws import PID, SEA, CompliantActuator, Mode, QbMove, get_law
from pliant.model.interface import JointInterface
from pliant.model.parameters import change_actuator, parse_mode, put_value
from pliant.ros2_control.tags import HARDWARE, ControlledJoint

MOVING = ("revolute", "continuous", "prismatic")
"""Types of the joints that an actuator can drive."""
GAINS = {"p": "kp", "i": "ki", "d": "kd"}
"""Gain of the link's PID by the name of its parameter."""
BANDWIDTH = 100.0
"""Natural frequency that the default gains of a position interface aim at [rad/s]; assumed, about 16 Hz: stiff beside
the motions of an arm, and 0.1 of a radian in a step of 1 ms."""
VELOCITY_SUFFIX = "_velocity"
"""Behind the name of a joint, it names the joint's velocity servo."""
POSES = 64
"""Poses at which the inertia for the default gains is looked at; assumed."""


def serve_joints(controlled: Mapping[str, ControlledJoint], draft: Draft) -> None:
    """Add the actuators of joints that have ros2_control tags and no plugin of the toolbox.

    Raises:
        ModelError: a command interface of a joint that does not move, a gain or parameter that is not valid.
    """
    actuators: dict[str, CompliantActuator] = {}
    notes, types, spec = draft.notes, draft.types, draft.spec
    followed = {m.joint: m.other for m in draft.mimics}
    positioned: list[ControlledJoint] = []
    rolling: list[ControlledJoint] = []
    for joint, described in controlled.items():
        if types.get(joint) not in MOVING:
            if described.commands and types.get(joint) == "fixed":
                notes.append(f"{described.place}joint {joint!r} is fixed; its command interfaces are left out")
            elif described.commands:
                raise described.fail(
                    f"it is {types.get(joint)} and has the command interface {next(iter(described.commands))!r}; "
                    "must be a revolute, continuous or prismatic joint"
                )
            continue
        if described.mimics and joint not in followed:
            raise described.fail("mimic is true, and the joint has no <mimic joint=...> in the URDF")
        follows = joint in followed and described.mimics is not False
        if follows:
            if described.commands:
                notes.append(
                    f"{described.place}joint {joint!r} mimics {followed[joint]!r}; its commands have no effect"
                )
            continue
        if "law" in described.params:
            actuators[joint] = _by_law(described)
            continue
        if "position" in described.commands and "stiffness" not in described.commands:
            positioned.append(described)
            actuators[joint] = CompliantActuator(law=SEA(), mode=Mode.LINK_PID)  # keeps the order of the file
            continue
        actuator = _simple_actuator(described)
        if actuator is not None:
            actuators[joint] = actuator
            if described.hardware != HARDWARE:
                notes.append(_note(described, actuator))
        elif "velocity" in described.commands:
            rolling.append(described)
        elif described.commands:
            names = ", ".join(described.commands)
            notes.append(
                f"{described.place}joint {joint!r} moves freely: pliant has no mode for its command interface "
                f"{names}; must be position, velocity, effort, position with stiffness"
            )
    defaults = _default_gains(spec, [d.joint for d in (*positioned, *rolling)], spec.option.timestep)
    notes += [_add_velocity_servo(spec, described, defaults.get(described.joint)) for described in rolling]
    for described in positioned:
        actuators[described.joint] = _position_actuator(described, defaults.get(described.joint))
        notes.append(_note(described, actuators[described.joint]))
    draft.actuators.update(actuators)
    draft.joints.update({joint: _interface(controlled[joint], actuator) for joint, actuator in actuators.items()})


def _add_velocity_servo(spec: mujoco.MjSpec, described: ControlledJoint, default: tuple[float, float] | None) -> str:
    """Add the servo of a joint that has a velocity command only: torque = d (command - velocity); return a note.

    The default gain d = w A gives the velocity a time constant of 1/w, with w and A as for a position interface.
    """
    frequency, inertia = default or (0.0, 0.0)
    gains = _gains(described)
    gain = gains.get("kd", frequency * inertia if inertia > 0.0 else 1.0)  # assumed where the inertia is not known
    if not (math.isfinite(gain) and gain >= 0.0):
        raise described.fail(f"param d is {gain:g}; must be a finite number >= 0", "d")
    servo = spec.add_actuator(
        name=f"{described.joint}{VELOCITY_SUFFIX}", target=described.joint, trntype=mujoco.mjtTrn.mjTRN_JOINT
    )
    servo.set_to_velocity(gain)
    return (
        f"{described.place}joint {described.joint!r} of {described.system!r} is served by its velocity interface as "
        f"the velocity servo {servo.name!r} with d {gain:.4g}; the param d of the joint gives another"
    )


def _interface(described: ControlledJoint, actuator: CompliantActuator) -> JointInterface:
    velocity = described.commands.get("velocity", {}).get("max", math.inf)
    return JointInterface(
        joint=described.joint,
        compliant="law" in described.params or actuator.mode not in (Mode.LINK_TORQUE, Mode.LINK_PID),
        velocity_limit=velocity if 0.0 < velocity < math.inf else None,
        file=described.file,
        line=described.line,
    )


def command_limits(described: ControlledJoint) -> dict[str, tuple[float, float]]:
    """Return (min, max) of the command interfaces that have one of them; infinite where one is not given."""
    return {
        name: (limits.get("min", -math.inf), limits.get("max", math.inf))
        for name, limits in described.commands.items()
        if limits
    }


def _note(described: ControlledJoint, actuator: CompliantActuator) -> str:
    served = {
        Mode.LINK_TORQUE: "effort interface as a torque on the link (mode 0)",
        Mode.LINK_PID: "position interface as a PID on the link (mode 1)",
        Mode.PID_EQ_PRESET: "position and stiffness interfaces as a qbMove (mode 6)",
    }[actuator.mode]
    gains = ""
    if actuator.mode == Mode.LINK_PID and actuator.pid_1 is not None:
        pid = actuator.pid_1
        gains = f" with p {pid.kp:.4g}, i {pid.ki:.4g}, d {pid.kd:.4g}; params p, i, d of the joint give others"
    chosen = f" (of {', '.join(described.commands)})" if len(described.commands) > 1 else ""
    return (
        f"{described.place}joint {described.joint!r} of {described.system!r} is served by its {served}{gains}{chosen}"
    )


def _gains(described: ControlledJoint) -> dict[str, float]:
    gains = {}
    for key, name in GAINS.items():
        if key in described.params:
            try:
                gains[name] = float(parse_number(described.params[key], f"param {key}"))
            except ModelError as error:
                raise described.fail(error.message, key) from error
    return gains


def _pid(described: ControlledJoint, gains: Mapping[str, float]) -> PID:
    try:
        return dataclasses.replace(PID(), **gains)
    except LawError as error:
        raise described.fail(error.message, error.field) from error


def _simple_actuator(described: ControlledJoint) -> CompliantActuator | None:
    commands = described.commands
    gains = _gains(described)
    if "position" in commands and "stiffness" in commands:
        pid = _pid(described, gains) if gains else None
        return CompliantActuator(law=QbMove(), mode=Mode.PID_EQ_PRESET, pid_1=pid, pid_2=pid)
    if "effort" in commands:
        return CompliantActuator(law=SEA(), mode=Mode.LINK_TORQUE)
    return None


def _position_actuator(described: ControlledJoint, default: tuple[float, float] | None) -> CompliantActuator:
    """Return the PID on the link: gains of the params, the others from the inertia (frequency, inertia)."""
    gains = _gains(described)
    frequency, inertia = default or (0.0, 0.0)
    if inertia <= 0.0:
        gains = {"kp": 0.8, "ki": 0.0, "kd": 0.2} | gains  # the toolbox's, where the inertia is not known
    if "kp" not in gains:
        gains["kp"] = frequency**2 * inertia
    if "kd" not in gains:
        # critical damping, as far as the time step lets it
        gains["kd"] = min(2.0 * math.sqrt(max(gains["kp"], 0.0) * inertia), 2.0 * frequency * inertia)
    return CompliantActuator(law=SEA(), mode=Mode.LINK_PID, pid_1=_pid(described, {"ki": 0.0} | gains))


def _by_law(described: ControlledJoint) -> CompliantActuator:
    """Return the actuator of a law that the toolbox has no plugin for, named by the param ``law``."""
    try:
        law = get_law(described.params["law"])()
        return CompliantActuator(law=law, mode=parse_mode(described.params.get("mode", Mode.PID_EQ_PRESET)))
    except ModelError as error:
        raise described.fail(error.message, error.field) from error


def _default_gains(spec: mujoco.MjSpec, joints: list[str], timestep: float) -> dict[str, tuple[float, float]]:
    """Return (natural frequency [rad/s], inertia [kg m^2 or kg]) for the default gains of position joints.

    The inertia A of a joint is the smallest that it shows at some poses while all other joints are free,
    A = min 1/(M^-1)_jj; kp = w^2 A and kd = 2 w A damp it critically there. The torque is explicit in the velocity, so
    steps are stable while dt times the largest eigenvalue of M^-1 diag(kd) stays below 2; w is lowered from BANDWIDTH
    until it is below 1 at all these poses.
    """
    if not joints:
        return {}
    try:
        model = spec.copy().compile()
    except (ValueError, RuntimeError):
        return {}  # the robot's own check says what is wrong with it
    data = mujoco.MjData(model)
    dofs = [int(model.joint(joint).dofadr[0]) for joint in joints]
    rng = np.random.default_rng(0)
    single = [j for j in range(model.njnt) if int(model.jnt_type[j]) >= 2]
    inverse = []
    for index in range(POSES):
        if index:
            for j in single:
                low, high = model.jnt_range[j] if model.jnt_limited[j] else (-math.pi, math.pi)
                data.qpos[model.jnt_qposadr[j]] = rng.uniform(low, high)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_crb(model, data)
        mujoco.mj_factorM(model, data)
        columns = np.zeros((len(dofs), model.nv))
        columns[np.arange(len(dofs)), dofs] = 1.0
        solved = np.zeros_like(columns)
        mujoco.mj_solveM(model, data, solved, columns)
        inverse.append(solved[:, dofs])
    diagonal = np.array([m.diagonal() for m in inverse])
    if not np.all(np.isfinite(inverse)) or diagonal.min() < 1e-200:
        return {}  # masses beyond all numbers
    least = 1.0 / diagonal.max(axis=0)
    root = np.sqrt(least)
    largest = max(float(np.max(np.linalg.eigvalsh(root[:, None] * m * root))) for m in inverse)
    frequency = min(BANDWIDTH, 1.0 / (2.0 * timestep * largest))
    return {joint: (frequency, float(a)) for joint, a in zip(joints, least)}


def apply_params(actuators: dict[str, CompliantActuator], controlled: Mapping[str, ControlledJoint]) -> None:
    """Set the parameters of pliant's actuators that an exported file carries, such as ``link_friction.torque``.

    Raises:
        ModelError: a value that does not fit its parameter; in a file of pliant's own, a parameter that is unknown.
    """
    for joint, described in controlled.items():
        actuator = actuators.get(joint)
        if actuator is None:
            continue
        own = {f.name for f in dataclasses.fields(actuator)} | {f.name for f in dataclasses.fields(actuator.law)}
        paths = {path: path.split(".") for path in described.params}
        known = {*own, "law", "mode", "initial_position", *GAINS}
        unknown = next((path for path, names in paths.items() if names[0] not in known), None)
        if unknown is not None and described.hardware == HARDWARE:
            raise described.fail(f"the param {unknown!r} is unknown; {nearest(paths[unknown][0], own)}", unknown)
        tree: dict[str, object] = {}
        try:
            for path, names in paths.items():
                if names[0] in own - {"law", "mode"}:
                    put_value(tree, names, described.params[path], f"{joint}.{path}")
            if tree:
                actuators[joint] = change_actuator(actuator, tree, joint)
        except ModelError as error:
            raise described.fail(error.message, error.field) from error

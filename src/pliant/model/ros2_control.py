"""The ``<ros2_control>`` and ``<transmission>`` tags of a URDF, and the actuators that serve their joints.

A joint is served by the strongest of its command interfaces that pliant has a mode for:

position and stiffness   a qbMove in mode 6
position                 mode 1, a PID on the link
effort                   mode 0, a torque on the link

A joint with only a velocity command, and one without any, moves freely; so does one that mimics another. What was
chosen stands in the notes. ``initial_value`` of the position's state interface is the joint's place in the key frame
"rest".
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from pliant.errors import LawError, ModelError, nearest
from pliant.laws import PID, SEA, CompliantActuator, Mode, QbMove, get_law
from pliant.model.interface import JointInterface
from pliant.model.parameters import parse_bool, parse_mode, parse_number
from pliant.model.xmltree import line_of

if TYPE_CHECKING:
    from pliant.model.robot import Robot
    from pliant.model.urdf_extension import Mimic

__all__ = [
    "HARDWARE",
    "INTERFACES",
    "ControlledJoint",
    "Ros2Control",
    "apply_params",
    "place_initially",
    "read_ros2_control",
    "read_transmissions",
    "serve_joints",
]

HARDWARE = "pliant/CompliantSystem"
"""Name of the hardware plugin in the tags that pliant writes."""
INTERFACES = ("position", "velocity", "acceleration", "effort", "stiffness")
"""Interfaces of a joint: the standard ones of ros2_control's hardware_interface, and pliant's stiffness [N m/rad]."""
SYSTEM_TYPES = ("system", "actuator", "sensor")
MOVING = ("revolute", "continuous", "prismatic")
HARDWARE_INTERFACES = {
    "PositionJointInterface": "position",
    "VelocityJointInterface": "velocity",
    "EffortJointInterface": "effort",
}
"""Command interface by the hardwareInterface of a ROS 1 transmission."""
GAINS = {"p": "kp", "i": "ki", "d": "kd"}
"""Gain of the link's PID by the name of its parameter."""
BANDWIDTH = 100.0
"""Natural frequency that the default gains of a position interface aim at [rad/s]; assumed, about 16 Hz: stiff beside
the motions of an arm, and 0.1 of a radian in a step of 1 ms."""
POSES = 64
"""Poses at which the inertia for the default gains is looked at; assumed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlledJoint:
    """A joint of a ``<ros2_control>`` element."""

    joint: str
    """Its name."""
    system: str
    """Name of the ros2_control element."""
    hardware: str = ""
    """Its hardware plugin."""
    commands: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Command interface -> its limits, "min" and "max" where given."""
    states: tuple[str, ...] = ()
    """State interfaces."""
    initial: Mapping[str, float] = field(default_factory=dict)
    """Initial value by state interface, where given."""
    params: Mapping[str, str] = field(default_factory=dict)
    """Further parameters by name."""
    mimics: bool | None = None
    """The joint's ``mimic`` attribute; None where it has none, so that the URDF's ``<mimic>`` holds."""
    file: str | None = None
    """File that described it."""
    line: int | None = None
    """Line in the file."""

    @property
    def place(self) -> str:
        """``file:line: `` for notes."""
        return f"{self.file or 'description'}:{self.line or '?'}: "

    def fail(self, message: str, name: str | None = None) -> ModelError:
        """Return an error at the joint's line."""
        return ModelError(
            f"<ros2_control> joint {self.joint!r}: {message}", file=self.file, line=self.line, field=name or self.joint
        )


@dataclass(slots=True)
class Ros2Control:
    """What the ``<ros2_control>`` elements of a URDF say."""

    joints: dict[str, ControlledJoint] = field(default_factory=dict)
    """Joints by name, in the order of the file."""
    sensors: tuple[str, ...] = ()
    """Names of the ``<sensor>`` elements."""
    gpios: tuple[str, ...] = ()
    """Names of the ``<gpio>`` elements."""
    notes: list[str] = field(default_factory=list)
    """What has no effect."""


# -- reading ----------------------------------------------------------------------------------------------


def read_ros2_control(root: ET.Element, joints: Mapping[str, str], file: str | Path | None = None) -> Ros2Control:
    """Return what the ``<ros2_control>`` elements of a URDF say.

    Args:
        root: the robot element.
        joints: type of every joint of the robot, by name.
        file: where the tree came from, for messages.

    Raises:
        ModelError: an element without a name, a joint that does not exist or comes twice, an interface that does not
            exist or comes twice, a limit or an initial value that is no number, a minimum above its maximum. The
            message names file and line.
    """
    found = Ros2Control()
    names: dict[str, int | None] = {}
    sensors: list[str] = []
    gpios: list[str] = []
    for system in root.iter("ros2_control"):
        reader = _Reader(system, joints, file, found)
        if reader.name in names:
            raise reader.fail(
                system, f"the name {reader.name!r} is given twice, first in line {names[reader.name]}", "name"
            )
        names[reader.name] = line_of(system)
        for element in system:
            if element.tag == "joint":
                reader.joint(element)
            elif element.tag in ("sensor", "gpio"):
                (sensors if element.tag == "sensor" else gpios).append(reader.component(element))
            elif element.tag not in ("hardware", "transmission"):
                found.notes.append(
                    f"{reader.place(element)}<{element.tag}> in <ros2_control name={reader.name!r}> has no effect; "
                    + nearest(element.tag, ("hardware", "joint", "sensor", "gpio", "transmission"))
                )
    found.sensors, found.gpios = tuple(sensors), tuple(gpios)
    for what, those in (("sensors", sensors), ("gpio elements", gpios)):
        if those:
            shown = ", ".join(map(repr, those[:8])) + (", ..." if len(those) > 8 else "")
            found.notes.append(f"the {what} of ros2_control {shown} are not served")
    return found


class _Reader:
    """Read one ``<ros2_control>`` element."""

    def __init__(
        self, system: ET.Element, joints: Mapping[str, str], file: str | Path | None, found: Ros2Control
    ) -> None:
        self.joints = joints
        self.file = None if file is None else str(file)
        self.found = found
        self.name = system.get("name", "")
        if not self.name:
            raise self.fail(system, "the attribute 'name' is missing", "name")
        kind = system.get("type", "system")
        if kind not in SYSTEM_TYPES:
            raise self.fail(system, f"{self.name!r}: type is {kind!r}; {nearest(kind, SYSTEM_TYPES)}", "type")
        plugin = system.find("hardware/plugin")
        self.hardware = "" if plugin is None else (plugin.text or "").strip()

    def place(self, element: ET.Element) -> str:
        return f"{self.file or 'description'}:{line_of(element) or '?'}: "

    def fail(self, element: ET.Element, message: str, name: str | None = None) -> ModelError:
        return ModelError(f"<ros2_control> {message}", file=self.file, line=line_of(element), field=name)

    def component(self, element: ET.Element) -> str:
        """Return the name of a sensor or gpio, whose interfaces may have any name but have to have one."""
        name = element.get("name", "")
        if not name:
            raise self.fail(element, f"{self.name!r}: a <{element.tag}> has no name", "name")
        for kind in ("command_interface", "state_interface"):
            for interface in element.findall(kind):
                if not interface.get("name"):
                    raise self.fail(interface, f"{element.tag} {name!r}: a <{kind}> has no name", "name")
        return name

    def joint(self, element: ET.Element) -> None:
        name = element.get("name", "")
        who = f"joint {name!r}: "
        if name not in self.joints:
            raise self.fail(element, f"{who}the robot has no such joint; {nearest(name, self.joints)}", name)
        if name in self.found.joints:
            first = self.found.joints[name]
            raise self.fail(
                element,
                f"{who}it is given twice, first in line {first.line} of {first.system!r}; keep one",
                name,
            )
        commands: dict[str, dict[str, float]] = {}
        initial: dict[str, float] = {}
        states: list[str] = []
        for interface in element:
            if interface.tag not in ("command_interface", "state_interface"):
                continue
            what = self.interface(interface, who)
            if what is None:
                continue
            if what in (commands if interface.tag == "command_interface" else states):
                raise self.fail(interface, f"{who}the <{interface.tag}> {what!r} is given twice; keep one", what)
            numbers = self.numbers(interface, who, what)
            if interface.tag == "command_interface":
                commands[what] = {k: v for k, v in numbers.items() if k != "initial_value"}
            else:
                states.append(what)
            # Where both interfaces have one, the state is what the hardware starts from.
            if "initial_value" in numbers and (interface.tag == "state_interface" or what not in initial):
                initial[what] = numbers["initial_value"]
        mimic = element.get("mimic")
        try:
            mimics = None if mimic is None else parse_bool(mimic, "mimic")
        except ModelError as error:
            raise self.fail(element, who + error.message, "mimic") from error
        params: dict[str, str] = {}
        for param in element.findall("param"):
            key = param.get("name", "")
            if not key:
                raise self.fail(param, f"{who}a <param> has no name", "param")
            if key in params:
                raise self.fail(param, f"{who}the param {key!r} is given twice; keep one", key)
            params[key] = (param.text or "").strip()
        if "initial_position" in params and "position" not in initial:
            # The older way to say it, of gazebo_ros2_control.
            try:
                initial["position"] = float(parse_number(params["initial_position"], "initial_position"))
            except ModelError as error:
                raise self.fail(element, who + error.message, "initial_position") from error
            if not math.isfinite(initial["position"]):
                raise self.fail(element, f"{who}initial_position is not finite", "initial_position")
        self.found.joints[name] = ControlledJoint(
            joint=name,
            system=self.name,
            hardware=self.hardware,
            commands=commands,
            states=tuple(states),
            initial=initial,
            params=params,
            mimics=mimics,
            file=self.file,
            line=line_of(element),
        )

    def interface(self, element: ET.Element, who: str) -> str | None:
        """Return the name of an interface, or None for one that is the hardware's own and has no effect."""
        what = element.get("name", "")
        if not what:
            raise self.fail(element, f"{who}a <{element.tag}> has no name; valid: {', '.join(INTERFACES)}", "name")
        if what in INTERFACES:
            return what
        close = difflib.get_close_matches(what.lower(), INTERFACES, 1, 0.85)
        if close or not re.search(r"[_/.]", what):
            raise self.fail(
                element,
                f"{who}the <{element.tag}> is {what!r}; {nearest(what.lower(), INTERFACES)} (an interface of the "
                "hardware's own has a name of several words, joined by '_', '/' or '.')",
                what,
            )
        self.found.notes.append(
            f"{self.place(element)}joint {element_name(who)}: the <{element.tag}> {what!r} has no effect"
        )
        return None

    def numbers(self, interface: ET.Element, who: str, what: str) -> dict[str, float]:
        """Return the params min, max and initial_value of an interface; others are the hardware's."""
        out: dict[str, float] = {}
        for param in interface.findall("param"):
            key = param.get("name", "")
            if key not in ("min", "max", "initial_value"):
                continue
            text = (param.text or "").strip()
            if re.fullmatch(r"\$?\{.*\}", text):
                # Universal Robots' own files have limits such as {-2*pi}, which xacro leaves as they are.
                self.found.notes.append(
                    f"{self.place(param)}{who}{what} {key} is {text[:40]!r}, which xacro did not expand; it is left out"
                )
                continue
            try:
                value = float(parse_number(text, f"{what} {key}"))
            except ModelError as error:
                raise self.fail(param, who + error.message, key) from error
            if key == "initial_value" and not math.isfinite(value):
                raise self.fail(param, f"{who}{what} {key} is {value}; valid: a finite number", key)
            if key in out:
                raise self.fail(param, f"{who}{what} {key} is given twice; keep one", key)
            out[key] = value
        if out.get("min", -math.inf) > out.get("max", math.inf):
            raise self.fail(
                interface, f"{who}{what}: min {out['min']:g} is above max {out['max']:g}; valid: min below max", "min"
            )
        return out


def element_name(who: str) -> str:
    """Return the quoted name out of "joint 'name': "."""
    return who.removeprefix("joint ").removesuffix(": ")


def read_transmissions(
    root: ET.Element, joints: Mapping[str, str], file: str | Path | None = None
) -> tuple[dict[str, ControlledJoint], list[str]]:
    """Return the joints that ROS 1 ``<transmission>`` tags drive, as if ros2_control had named them, and notes.

    Interfaces that pliant does not have and joints that do not exist are noted: such tags describe a controller, not
    the robot, and often outlive it.
    """
    found: dict[str, ControlledJoint] = {}
    notes: list[str] = []
    for transmission in root.findall("transmission"):
        for element in transmission.findall("joint"):
            name = element.get("name", "")
            place = f"{file or 'description'}:{line_of(element) or '?'}: "
            if name not in joints:
                notes.append(f"{place}<transmission> joint {name!r} is not of the robot; {nearest(name, joints)}")
                continue
            # Old files have the interface with the actuator.
            both = [*element.findall("hardwareInterface"), *transmission.findall("actuator/hardwareInterface")]
            given = [(node.text or "").strip().rpartition("/")[2] for node in both]
            commands = {HARDWARE_INTERFACES[g]: {} for g in given if g in HARDWARE_INTERFACES}
            if not commands or name in found:
                continue
            found[name] = ControlledJoint(
                joint=name,
                system=transmission.get("name", ""),
                commands=commands,
                file=None if file is None else str(file),
                line=line_of(element),
            )
    return found, notes


# -- serving ----------------------------------------------------------------------------------------------


def serve_joints(
    controlled: Mapping[str, ControlledJoint],
    types: Mapping[str, str],
    mimics: Iterable[Mimic],
    spec: mujoco.MjSpec,
    timestep: float,
) -> tuple[dict[str, CompliantActuator], dict[str, JointInterface], list[str]]:
    """Return the actuators of joints that have ros2_control tags and no plugin of the toolbox.

    Args:
        controlled: those joints.
        types: type of every joint of the URDF.
        mimics: joints that follow others; they are driven by them.
        spec: the bodies, for the default gains.
        timestep: time step [s], for the default gains.

    Returns:
        (actuators by joint, interfaces by joint, notes).

    Raises:
        ModelError: a command interface of a joint that does not move, a gain or parameter that is not valid.
    """
    actuators: dict[str, CompliantActuator] = {}
    notes: list[str] = []
    followed = {m.joint: m.other for m in mimics}
    positioned: list[ControlledJoint] = []
    for joint, described in controlled.items():
        if types.get(joint) not in MOVING:
            if described.commands:
                raise described.fail(
                    f"it is {types.get(joint)} and has the command interface {next(iter(described.commands))!r}; "
                    "valid: a revolute, continuous or prismatic joint"
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
        elif described.commands:
            names = ", ".join(described.commands)
            notes.append(
                f"{described.place}joint {joint!r} moves freely: pliant has no mode for its command interface "
                f"{names}; valid: position, effort, position with stiffness"
            )
    defaults = _default_gains(spec, [d.joint for d in positioned], timestep)
    for described in positioned:
        actuators[described.joint] = _position_actuator(described, defaults.get(described.joint))
        notes.append(_note(described, actuators[described.joint]))
    interfaces = {joint: _interface(controlled[joint]) for joint in actuators}
    return actuators, interfaces, notes


def _interface(described: ControlledJoint) -> JointInterface:
    velocity = described.commands.get("velocity", {}).get("max", math.inf)
    return JointInterface(
        joint=described.joint,
        velocity_limit=velocity if 0.0 < velocity < math.inf else None,
        command_limits=command_limits(described),
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
        return PID(**gains)
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


def apply_params(robot: Robot, controlled: Mapping[str, ControlledJoint]) -> None:
    """Set the parameters of pliant's actuators that an exported file carries, such as ``link_friction.torque``.

    Raises:
        ModelError: a value that does not fit its parameter; in a file of pliant's own, a parameter that is unknown.
    """
    for joint, described in controlled.items():
        actuator = robot.actuators.get(joint)
        if actuator is None:
            continue
        own = {f.name for f in dataclasses.fields(actuator)} | {f.name for f in dataclasses.fields(actuator.law)}
        values = {}
        for path, text in described.params.items():
            head = path.partition(".")[0]
            if head in own - {"law", "mode"}:
                values[f"{joint}.{path}"] = text
            elif described.hardware == HARDWARE and head not in ("law", "mode", "initial_position", *GAINS):
                raise described.fail(f"the param {path!r} is unknown; {nearest(head, own)}", path)
        if values:
            try:
                robot.update(values)
            except ModelError as error:
                raise described.fail(error.message, error.field) from error


def place_initially(
    spec: mujoco.MjSpec, controlled: Mapping[str, ControlledJoint], mimics: Iterable[Mimic], key: str
) -> list[str]:
    """Give a spec a key frame with the joints at the initial positions of their state interfaces.

    A joint that mimics another and has no initial position of its own is put where the other puts it.

    Args:
        spec: the bodies; it gets the key frame unless every joint starts at 0.
        controlled: the joints of the ros2_control tags.
        mimics: joints that follow others.
        key: name of the key frame.

    Returns:
        Notes: initial positions outside of the joint's limits, other initial values.
    """
    notes = []
    initial = {j: d.initial["position"] for j, d in controlled.items() if "position" in d.initial}
    for joint, described in controlled.items():
        ignored = [k for k, v in described.initial.items() if k != "position" and v != 0.0]
        if ignored:
            notes.append(f"{described.place}joint {joint!r}: the initial_value of {', '.join(ignored)} has no effect")
    for mimic in mimics:
        if mimic.joint not in initial and mimic.other in initial:
            initial[mimic.joint] = mimic.multiplier * initial[mimic.other] + mimic.offset
    joints = {j.name: j for j in spec.joints}
    single = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
    initial = {n: v for n, v in initial.items() if v != 0.0 and n in joints and joints[n].type in single}
    if not initial or any(k.name == key for k in spec.keys):
        return notes
    try:
        model = spec.copy().compile()
    except (ValueError, RuntimeError):
        return notes  # the robot's own check says what is wrong with it
    qpos = model.qpos0.copy()
    for name, value in initial.items():
        joint = model.joint(name)
        qpos[joint.qposadr[0]] = value
        low, high = model.jnt_range[joint.id]
        if model.jnt_limited[joint.id] and not low <= value <= high:
            place = controlled[name].place if name in controlled else ""
            notes.append(f"{place}joint {name!r} starts at {value:g}, outside of its limits {low:g} to {high:g}")
    spec.add_key(name=key, qpos=qpos)
    return notes


def read_all(
    root: ET.Element, types: Mapping[str, str], file: str | Path | None, plugins: Iterable[str]
) -> tuple[dict[str, ControlledJoint], list[str]]:
    """Return all joints that ros2_control tags or, where a file has none of these, transmissions drive; and notes."""
    found = read_ros2_control(root, types, file)
    if root.find(".//ros2_control") is not None:
        return found.joints, found.notes
    joints, notes = read_transmissions(root, types, file)
    taken: set[Any] = set(plugins)
    return {name: joint for name, joint in joints.items() if name not in taken}, notes

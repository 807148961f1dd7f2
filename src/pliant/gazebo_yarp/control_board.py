"""Read the configuration of control boards: joints, limits, gains, trajectories and couplings, in SI units.

The keys are those of gazebo-yarp-plugins. A gain is per degree for a revolute joint where ``controlUnits`` is
``metric_units``, and divided by 2 to the power of ``shift``. Stiffness and damping are per degree there, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from pliant.base.errors import ModelError, nearest
from pliant.base.numerics import DEGREE
from pliant.base.options import describe
from pliant.control_boards.description import COUPLINGS, TRAJECTORIES, ControlBoard, Coupling
from pliant.gazebo_yarp.ini import Group, Item
from pliant.gazebo_yarp.places import Severity
from pliant.model.problem import Problem, Problems

UNITS = ("metric_units", "si_units")
VELOCITY_LAWS = {"integrator_and_position_pid": "integrator", "direct_velocity_pid": "direct"}
GAIN_KEYS = ("kp", "kd", "ki", "maxInt", "maxOutput", "shift", "ko", "stictionUp", "stictionDwn")
MAX_AXES = 1000
"""Most axes of a board. # assumed: the largest robot has about 70 in all"""
MOVABLE = ("revolute", "continuous", "prismatic")
MAX_SHIFT = 62
FIELDS = {info.name for info in describe(ControlBoard)}
MAX_TORQUE = 2000.0
"""Bound of the output of a controller that names none [N m]: the torque above which a joint faults by default."""

DEVICE_COUPLINGS = {"couplingICubEye": ("eyes_vergence_control", 1)}
"""Coupling of a device of YARP, and the first of its axes that is coupled: that of the eyes leaves their tilt alone."""

_TOP_KEYS = {
    "disableImplicitNetworkWrapper", "yarpDeviceName", "jointNames", "min_stiffness", "max_stiffness", "min_damping",
    "max_damping", "max_torques", "positionToleranceLinear", "positionToleranceRevolute", "useVirtualAnalogSensor",
    "initialConfiguration", "gazeboYarpPluginsRobotName", "robotName", "name", "device", "deviceId", "period",
    "controlLaw",
}  # fmt: skip
_GROUP_KEYS = {
    "TRAJECTORY_GENERATION": {"trajectory_type", "refSpeed", "refAcceleration"},
    "POSITION_CONTROL": {"controlUnits", "controlLaw", *GAIN_KEYS, "kff"},
    "VELOCITY_CONTROL": {"velocityControlImplementationType", "controlUnits", "controlLaw", *GAIN_KEYS, "kff"},
    "IMPEDANCE_CONTROL": {"controlUnits", "controlLaw", "stiffness", "damping", *GAIN_KEYS},
    "LIMITS": {"jntPosMax", "jntPosMin", "jntVelMax"},
    "SIMULATION": {"kPWM"},
}
"""Keys that are read, by group; a key outside of them is reported."""
_OTHER_GROUPS = {
    "WRAPPER", "ADDITIONAL_WRAPPER", "COUPLING", "ROS", "VIRTUAL_ANALOG_SERVER", "GAZEBO_PIDS", "GAZEBO_VELOCITY_PIDS",
    "GAZEBO_IMPEDANCE_POSITION_PIDS",
}  # fmt: skip
"""Further groups that are read, or that the original reads; one that is called almost like a known one is reported."""


@dataclass(slots=True)
class BoardConfiguration:
    """Configuration of one board."""

    board: ControlBoard
    """The board."""
    axis_of: dict[int, int]
    """Index on the board of each axis of the configuration, where couplings leave some out."""
    problems: list[Problem] = field(default_factory=list)
    """Entries without effect, and why."""


def read_control_board(
    config: Group, joints: Mapping[str, str], *, name: str, initial: tuple[float, ...] | None = None, driver: str = ""
) -> BoardConfiguration:
    """Return the control board of a configuration.

    Args:
        config: the configuration, as read from its file.
        joints: type of every joint of the robot, by name.
        name: name of the board, for messages and for the device.
        initial: positions at the start [rad or m], one per joint, from the plugin tag.
        driver: group that holds the names of the joints in the old form with networks; "" for the top.

    Raises:
        ModelError: a key is missing, lists are of unequal length, a value is out of range or a joint does not exist;
            the message has file and line.
    """
    config.who = f"control board {name!r}"
    for group in config.groups.values():
        group.who = config.who
    return _Board(config, joints, name, initial, driver).read()


def read_fake_board(config: Group, *, name: str) -> BoardConfiguration:
    """Return the board of axes that are not in the model.

    Raises:
        ModelError: neither joints nor their number are given.
    """
    config.who = f"fake control board {name!r}"
    for group in config.groups.values():
        group.who = config.who
    names: tuple[str, ...] = ()
    for group in (config, *config.groups.values()):
        names = names or group.words("jointNames")
    if not names:
        count = next((g.number("joints", least=1, most=MAX_AXES, whole=True) for g in (*config.groups.values(), config)
                      if g.has("joints")), None)  # fmt: skip
        if count is None:
            raise config.fault("neither 'jointNames' nor 'joints' is given; must be the names or their number")
        names = tuple(f"{name}_{i}" for i in range(int(count)))
    return BoardConfiguration(ControlBoard(name=name, axes=names), {i: i for i in range(len(names))})


class _Board:
    """Read one board."""

    def __init__(
        self, config: Group, joints: Mapping[str, str], name: str, initial: tuple[float, ...] | None, driver: str
    ) -> None:
        self.config, self.types, self.name, self.initial = config, joints, name, initial
        self.problems = Problems()
        self.driver = config.groups.get(driver, config)
        self.who = "the joints"

    def note(self, message: str, hint: str = "", severity: Severity = "info") -> None:
        self.problems.append(Problem(severity, self.name, message, hint))

    def read(self) -> BoardConfiguration:
        source = self.driver if self.driver.has("jointNames") else self.config
        source.required("jointNames", "the joints of the board")
        words = source.words("jointNames")
        if not 1 <= len(words) <= MAX_AXES:
            raise source.fault(f"jointNames has {len(words)} names; must be 1 to {MAX_AXES}", "jointNames")
        self.joints = tuple(self._joint(word, source) for word in words)
        self.rigid = {i for i, j in enumerate(self.joints) if self.types[j] not in MOVABLE}
        for i in sorted(self.rigid):
            self.note(f"the axis {words[i]!r} is left out: its joint is {self.types[self.joints[i]]}", "", "warning")
        twice = next((j for j in self.joints if self.joints.count(j) > 1), None)
        if twice is not None:
            raise source.fault(f"jointNames has the joint {twice!r} twice", "jointNames")
        self.names = tuple(word.rpartition("::")[2] for word in words)
        self.prismatic = [self.types[j] == "prismatic" for j in self.joints]
        self.per_degree = [1.0 if p else 1.0 / DEGREE for p in self.prismatic]
        self.degrees = [1.0 if p else DEGREE for p in self.prismatic]
        self.ones = [1.0] * len(self.joints)
        values: dict[str, tuple[float, ...]] = {}
        fields: dict[str, Any] = {}
        self._ranges(values)
        self._trajectories(values, fields)
        self._position(values)
        self._velocity(values, fields)
        self._impedance(values)
        self._limits(values)
        self._rest(values)
        if self.initial is not None:
            count = len(self.joints)
            if len(self.initial) > count:
                found = f"initialConfiguration has {len(self.initial)} values"
                raise self.config.fault(f"{found}; must be at most {count}, one for each of the joints")
            # The others begin at 0, as in gz-sim-yarp-plugins.
            values["initial_positions"] = (*self.initial, *[0.0] * (count - len(self.initial)))
        self._unknown_keys()
        everything = {i: i for i in range(len(self.names))}
        axes, couplings, kept = self._couplings(values)
        values = {key: tuple(value[i] for i in kept) for key, value in values.items()}
        try:
            joints = tuple(joint for i, joint in enumerate(self.joints) if i not in self.rigid)
            if not joints:  # of a model that stands still: the axes are there and never configured
                return BoardConfiguration(ControlBoard(name=self.name, axes=self.names), everything, self.problems)
            board = ControlBoard(name=self.name, joints=joints, axes=axes, couplings=couplings, **values, **fields)
        except ModelError as error:
            raise ModelError(error.message, file=self.config.file, line=self.config.line, field=error.field) from error
        return BoardConfiguration(board, {old: new for new, old in enumerate(kept)}, self.problems)

    # -- the parts --------------------------------------------------------------------------------------

    def _joint(self, word: str, source: Group) -> str:
        """Return the joint that a name means: exactly, or by the end of its name, as gazebo-yarp-plugins does."""
        plain = word.rpartition("::")[2]
        for name in (word, plain):
            if name in self.types:
                return name
        ends = [j for j, kind in self.types.items() if j.endswith(plain) and kind in MOVABLE]
        if len(ends) == 1:
            return ends[0]
        why = f"the end of {', '.join(ends[:4])}; must be of one joint" if ends else nearest(plain, self.types)
        raise source.fault(f"jointNames has {word!r}, which is no joint of the robot; {why}", "jointNames")

    def _list(self, group: Group, key: str, *, least: float = -math.inf, required: bool = False) -> list[float] | None:
        if required:
            group.required(key, "one value a joint")
        numbers = group.numbers(key, len(self.joints), least=least, what=self.who)
        return None if numbers is None else list(numbers)

    def _scaled(self, numbers: list[float] | None, scale: list[float]) -> tuple[float, ...]:
        return () if numbers is None else tuple(n * s for n, s in zip(numbers, scale, strict=True))

    def _take(
        self,
        values: dict[str, tuple[float, ...]],
        group: Group,
        rows: Mapping[str, str],
        scale: list[float],
        *,
        least: float = -math.inf,
    ) -> None:
        """Read keys of a group that have one number per joint into fields of the board, in SI."""
        for key, name in rows.items():
            numbers = self._list(group, key, least=least)
            if numbers is not None:
                values[name] = self._scaled(numbers, scale)

    def _ranges(self, values: dict[str, tuple[float, ...]]) -> None:
        rows = ("min_stiffness", "max_stiffness", "min_damping", "max_damping")
        self._take(values, self.config, dict(zip(rows, rows)), self.per_degree, least=0.0)
        for low, high in (("min_stiffness", "max_stiffness"), ("min_damping", "max_damping")):
            if low in values and high in values:
                wrong = next((i for i, (a, b) in enumerate(zip(values[low], values[high], strict=True)) if a > b), None)
                if wrong is not None:
                    raise self.config.fault(f"{low} is above {high} for joint {self.names[wrong]!r}", low)
        self._take(values, self.config, {"max_torques": "max_torque"}, self.ones, least=0.0)

    def _trajectories(self, values: dict[str, tuple[float, ...]], fields: dict[str, object]) -> None:
        group = self.config.group("TRAJECTORY_GENERATION")
        if group is None:
            return
        fields["trajectory"] = group.choice("trajectory_type", TRAJECTORIES, "minimum_jerk")
        self._take(values, group, {"refSpeed": "speed", "refAcceleration": "acceleration"}, self.degrees, least=0.0)

    def _gains(self, group: Group) -> dict[str, tuple[float, ...]]:
        units = group.choice("controlUnits", UNITS, "metric_units")
        law = group.text("controlLaw", "joint_pid_gazebo_v1")
        if law != "joint_pid_gazebo_v1":
            raise group.fault(f"controlLaw is {law!r}; must be joint_pid_gazebo_v1", "controlLaw")
        found = {
            key: self._list(group, key, least=0.0 if key in ("shift", "maxInt", "maxOutput") else -math.inf,
                            required=True) or []
            for key in GAIN_KEYS
        }  # fmt: skip
        if any(s > MAX_SHIFT for s in found["shift"]):
            raise group.fault(f"shift is {max(found['shift']):g}; must be at most {MAX_SHIFT}", "shift")
        scale = [
            (u if units == "metric_units" else 1.0) / 2.0**s
            for u, s in zip(self.per_degree, found["shift"], strict=True)
        ]
        for key in ("stictionUp", "stictionDwn"):
            if any(found[key]):
                what = "asks for a stiction compensation, which clients are told and which is not applied"
                self.note(f"[{group.name}] {key} {what}", "as in gazebo-yarp-plugins")
        return {
            "offset": tuple(found["ko"]),
            "stiction_up": tuple(found["stictionUp"]),
            "stiction_down": tuple(found["stictionDwn"]),
            "kp": self._scaled(found["kp"], scale),
            "ki": self._scaled(found["ki"], scale),
            "kd": self._scaled(found["kd"], scale),
            "max_integral": tuple(found["maxInt"]),
            "max_output": tuple(found["maxOutput"]),
        }

    def _old_gains(self, name: str) -> dict[str, tuple[float, ...]] | None:
        """Return the gains of the form ``Pid0 P D I maxInt maxOut ...``, one key per joint.

        They are per radian: the gain of 1000 of old files is written as 17.453 in files with metric units.  # assumed
        """
        group = self.config.group(name)
        if group is None:
            return None
        rows = []
        for i in range(len(self.joints)):
            key = f"Pid{i}"
            group.required(key, f"the gains of joint {self.names[i]!r}: P D I maxInt maxOutput")
            numbers = group.numbers(key) or ()
            if len(numbers) < 3:
                raise group.fault(f"{key} has {len(numbers)} values; must be P D I and optionally more", key)
            rows.append((*numbers, *((0.0, MAX_TORQUE)[len(numbers) - 3 :] if len(numbers) < 5 else ())))
        return {
            "kp": tuple(r[0] for r in rows),
            "kd": tuple(r[1] for r in rows),
            "ki": tuple(r[2] for r in rows),
            "max_integral": tuple(r[3] for r in rows),
            "max_output": tuple(r[4] for r in rows),
        }

    def _position(self, values: dict[str, tuple[float, ...]]) -> None:
        group = self.config.group("POSITION_CONTROL")
        gains = self._gains(group) if group is not None else self._old_gains("GAZEBO_PIDS")
        for key, numbers in (gains or {}).items():
            values[f"position_{key}"] = numbers

    def _velocity(self, values: dict[str, tuple[float, ...]], fields: dict[str, object]) -> None:
        group = self.config.group("VELOCITY_CONTROL")
        if group is None:
            gains = self._old_gains("GAZEBO_VELOCITY_PIDS")
        else:
            group.required("velocityControlImplementationType", " or ".join(VELOCITY_LAWS))
            law = VELOCITY_LAWS[group.choice("velocityControlImplementationType", VELOCITY_LAWS)]
            fields["velocity_control"] = law
            gains = self._gains(group) if law == "direct" else None
        for key, numbers in (gains or {}).items():
            if f"velocity_{key}" in FIELDS:
                values[f"velocity_{key}"] = numbers
            elif key == "offset" and any(numbers):
                self.note("[VELOCITY_CONTROL] ko has no effect: only the position controller has an offset")

    def _impedance(self, values: dict[str, tuple[float, ...]]) -> None:
        group = self.config.group("IMPEDANCE_CONTROL")
        if group is None:
            old = self._old_gains("GAZEBO_IMPEDANCE_POSITION_PIDS")
            if old is not None:
                values["stiffness"], values["damping"] = old["kp"], old["kd"]
            return
        units = group.choice("controlUnits", UNITS, "metric_units")
        scale = self.per_degree if units == "metric_units" else self.ones
        for key in ("stiffness", "damping"):
            values[key] = self._scaled(self._list(group, key, least=0.0, required=True), scale)

    def _limits(self, values: dict[str, tuple[float, ...]]) -> None:
        group = self.config.group("LIMITS")
        if group is None:
            return
        self._take(values, group, {"jntPosMin": "position_min", "jntPosMax": "position_max"}, self.degrees)
        self._take(values, group, {"jntVelMax": "velocity_max"}, self.degrees, least=0.0)
        if "position_min" in values and "position_max" in values:
            for i, (low, high) in enumerate(zip(values["position_min"], values["position_max"], strict=True)):
                if low > high:
                    raise group.fault(
                        f"jntPosMin is above jntPosMax for joint {self.names[i]!r}; must be at most it", "jntPosMin"
                    )

    def _rest(self, values: dict[str, tuple[float, ...]]) -> None:
        simulation = self.config.group("SIMULATION")
        if simulation is not None:
            self._take(values, simulation, {"kPWM": "torque_per_duty"}, self.ones, least=0.0)
        for key in ("positionToleranceLinear", "positionToleranceRevolute"):
            if self.config.has(key):
                self.config.number(key, least=0.0)
                # ControlBoardDriver.cpp of gazebo-yarp-plugins stores the threshold and never reads it.
                self.note(f"{key} has no effect, nor in gazebo-yarp-plugins: a motion is done when its trajectory ends")
        if self.config.flag("useVirtualAnalogSensor"):
            self.note(
                "useVirtualAnalogSensor is not served: measured torques are those of the simulation",
                "estimates of another program are not taken",
                "warning",
            )
        if self.config.group("ROS") is not None:
            self.note("[ROS] has no effect: joints are served on ROS by the bridges ros1, ros2 and zenoh")

    def _unknown_keys(self) -> None:
        """Report the keys and groups that nothing reads: a key in the wrong group is easily overlooked."""
        groups = {*_GROUP_KEYS, *_OTHER_GROUPS}
        for name, group in self.config.groups.items():
            if name not in groups and get_close_matches(name, groups, 1, 0.8):
                place = f"{group.file}:{group.line}: "
                self.note(f"{place}the group [{name}] has no effect", nearest(name, groups), "warning")
        for key, entry in self.config.entries.items():
            if key not in _TOP_KEYS and get_close_matches(key, _TOP_KEYS, 1, 0.85):
                place = f"{entry.file}:{entry.line}: "
                self.note(f"{place}{key} has no effect", nearest(key, _TOP_KEYS), "warning")
        for name, known in _GROUP_KEYS.items():
            group = self.config.groups.get(name)
            for key in group.entries if group is not None else ():
                if key not in known:
                    elsewhere = [g or "the top of the file" for g, keys in {"": _TOP_KEYS, **_GROUP_KEYS}.items()
                                 if key in keys]  # fmt: skip
                    hint = f"it belongs to {' or '.join(elsewhere)}" if elsewhere else nearest(key, known)
                    entry = group.entries[key] if group is not None else None
                    place = f"{entry.file}:{entry.line}: " if entry is not None else ""
                    self.note(f"{place}{key} in [{name}] has no effect", hint)

    def _couplings(
        self, values: dict[str, tuple[float, ...]]
    ) -> tuple[tuple[str, ...], tuple[Coupling, ...], list[int]]:
        """Return names of the axes, couplings, and the indices of the axes that exist."""
        names: list[str | None] = [None if i in self.rigid else name for i, name in enumerate(self.names)]
        group = self.config.group("COUPLING")
        couplings: list[Coupling] = []
        used: set[int] = set()
        if group is None:
            group = Group(name="COUPLING")
        for key, parts in self._described_couplings(group):
            kind, indices, axes, limits = self._coupling(group, key, parts)
            if used & set(indices):
                raise group.fault(f"{key}: the axis {min(used & set(indices))} has a coupling already", key)
            used |= set(indices)
            if kind not in COUPLINGS:
                self.note(
                    f"the coupling {kind!r} is not simulated; its axes are the joints themselves",
                    nearest(kind, [k for k in COUPLINGS if k != "linear"]),
                    "warning",
                )
                continue
            shown = [a for a in axes if a != "reserved"]
            try:
                coupling = Coupling(kind=kind, axes=tuple(shown), joints=tuple(self.joints[i] for i in indices))
            except ModelError as error:
                raise group.fault(f"{key}: {error.message}", key) from error
            couplings.append(coupling)
            for index, axis in zip(indices, axes, strict=True):
                names[index] = None if axis == "reserved" else axis
            visible = [index for index, axis in zip(indices, axes, strict=True) if axis != "reserved"]
            for which, side in zip(("position_min", "position_max"), limits, strict=False):
                if which not in values:
                    self.note(f"the limits of the coupling {key!r} have no effect without [LIMITS]")
                    break
                limit = list(values[which])
                for index, number in zip(visible, side, strict=True):
                    limit[index] = number * self.degrees[index]
                values[which] = tuple(limit)
        kept = [i for i, name in enumerate(names) if name is not None]
        return tuple(name for name in names if name is not None), tuple(couplings), kept

    def _described_couplings(self, group: Group) -> list[tuple[str, tuple[Item, ...]]]:
        """Return the couplings of a group, each as its key and KEYWORD (indices) (names) [(lowest) (highest)].

        The key is the keyword, unless the value begins with one. Files of gz-sim-yarp-plugins name a device of YARP
        and all axes.
        """
        if group.has("device"):
            return self._device_coupling(group)
        found = []
        for key, entry in group.entries.items():
            first = entry.values[0] if len(entry.values) == 1 else None
            parts = first if isinstance(first, tuple) else entry.values
            if parts and not isinstance(parts[0], str):
                parts = (key, *parts)
            if "none" not in (key, *parts[:1]) and parts:
                found.append((key, parts))
        return found

    def _device_coupling(self, group: Group) -> list[tuple[str, tuple[Item, ...]]]:
        device = group.text("device")
        keyword, first = DEVICE_COUPLINGS.get(device, (device, 0))
        axes = group.words("actuatedAxesNames") or self.names
        indices = tuple(range(first, len(self.joints)))
        if len(axes) != len(self.joints) and device in DEVICE_COUPLINGS:
            wrong = f"actuatedAxesNames has {len(axes)} names; must be {len(self.joints)}"
            raise group.fault(wrong, "actuatedAxesNames")
        if device not in DEVICE_COUPLINGS:
            return [("device", (keyword, indices, self.names))]
        limits = [group.numbers(f"actuatedAxesPos{end}", len(axes), what=self.who) for end in ("Min", "Max")]
        lists = [tuple(side[i] for i in indices) for side in limits if side is not None]
        return [("device", (keyword, indices, tuple(axes[i] for i in indices), *(lists if len(lists) == 2 else ())))]

    def _coupling(
        self, group: Group, key: str, parts: tuple[Item, ...]
    ) -> tuple[str, list[int], list[str], list[tuple[float, ...]]]:
        form = "must be KEYWORD (indices) (names) and optionally (lowest) (highest)"
        if len(parts) not in (3, 5) or not isinstance(parts[0], str):
            raise group.fault(f"{key} has {len(parts)} parts; {form}", key)
        lists = [p if isinstance(p, tuple) else (p,) for p in parts[1:]]
        if not all(isinstance(i, int) and 0 <= i < len(self.joints) for i in lists[0]):
            raise group.fault(
                f"{key}: the indices are {lists[0]!r}; must be whole numbers of 0 to {len(self.joints) - 1}", key
            )
        indices = [int(i) for i in lists[0] if not isinstance(i, tuple)]
        if len(set(indices)) != len(indices):
            raise group.fault(f"{key}: the indices are {lists[0]!r}; must be different", key)
        visible = len([name for name in lists[1] if name != "reserved"])
        counts = ", ".join(str(len(part)) for part in lists)
        if len(lists[1]) != len(indices) or any(len(part) != visible for part in lists[2:]):
            valid = "must be as many each, and a limit for each name that is not 'reserved'"
            raise group.fault(f"{key}: its lists have {counts} values; {valid}", key)
        limits = []
        for part in lists[2:]:
            if not all(isinstance(v, int | float) and math.isfinite(v) for v in part):
                raise group.fault(f"{key}: the limits are {part!r}; must be finite numbers", key)
            limits.append(tuple(float(v) for v in part if not isinstance(v, tuple)))
        return parts[0], indices, [str(v) for v in lists[1]], limits

"""Network servers of a robot: what remappers and attachments make of control boards and sensors.

A server is attached to a device or to a remapper, and remappers to others. Here every chain is followed to its end,
so that a server names the axes of boards and the sensors of devices that it shows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pliant.base.errors import ModelError, nearest
from pliant.gazebo_yarp.control_board import BoardConfiguration
from pliant.gazebo_yarp.ini import Group
from pliant.gazebo_yarp.places import Place
from pliant.gazebo_yarp.robot_interface import InterfaceDevice, RobotInterface
from pliant.model.problem import Problems
from pliant.yarp.model.services import (
    AnalogServer,
    AxisReference,
    BaseState,
    CameraImages,
    ContactLoadCells,
    ControlBoardServer,
    ForceTorqueSensor,
    ImageServer,
    InertialSensor,
    JointAngles,
    LaserScan,
    SensorReference,
    SkinInertials,
    VectorServer,
    WorldInterface,
    YarpDevice,
)
from pliant.yarp.wire.sensors import SENSOR_GROUPS

SensorGroups = dict[str, list[SensorReference]]

ANALOG_KEYS = {
    "gyroscopes": "ThreeAxisGyroscopesNames",
    "linear_accelerometers": "ThreeAxisLinearAccelerometersNames",
    "magnetometers": "ThreeAxisMagnetometersNames",
    "orientations": "OrientationSensorsNames",
    "temperatures": "TemperatureSensorsNames",
    "six_axis_force_torques": "SixAxisForceTorqueSensorsNames",
    "contact_load_cells": "ContactLoadCellArraysNames",
    "encoder_arrays": "EncoderArraysNames",
    "skin_patches": "SkinPatchesNames",
    "positions": "PositionSensorsNames",
    "linear_velocities": "LinearVelocitySensorsNames",
    "angular_accelerometers": "ThreeAxisAngularAccelerometersNames",
}
"""Key of a remapper that lists the sensors of a group, by group."""
BASE_GROUPS = (
    "gyroscopes", "linear_accelerometers", "orientations", "positions", "linear_velocities", "angular_accelerometers",
)  # fmt: skip
"""Groups in which a base state has a sensor, which is called like its link, as in gz-sim-yarp-plugins."""
VECTOR_DEVICES = (SkinInertials, BaseState, ContactLoadCells, JointAngles, ForceTorqueSensor, InertialSensor, LaserScan)
MIN_PERIOD = 1e-4
"""Shortest period of a server [s]. # assumed"""
MAX_PERIOD = 1e4


@dataclass(slots=True)
class Hardware:
    """Devices that servers can be attached to."""

    boards: dict[str, BoardConfiguration] = field(default_factory=dict)
    """Control boards by the name that YARP finds them by."""
    devices: dict[str, YarpDevice] = field(default_factory=dict)
    """Sensors and services by name."""

    @property
    def names(self) -> list[str]:
        """All names."""
        return [*self.boards, *self.devices]


class _Unserved(Exception):
    """The device behind a server does not exist."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """How a type of server is made."""

    make: Callable[[Servers, _Kind, Group, str, list[tuple[str, str]]], YarpDevice | None]
    """Takes the kind, parameters, name and targets; None for a server that only gives its device a port."""
    unit: float = 1.0
    """Unit of ``period`` [s]."""
    default: float = 0.02
    """Period where none is given [s]."""


class _Common(Place):
    """Fields that all servers have."""

    port: str
    period: float


class Servers:
    """Make the servers of a robot.

    Args:
        hardware: what they can be attached to.
    """

    def __init__(self, hardware: Hardware) -> None:
        self.hardware = hardware
        self.remappers: dict[str, InterfaceDevice] = {}
        self.found: list[YarpDevice] = []
        self.problems = Problems()
        self.level = 0

    # -- from a robot interface ---------------------------------------------------------------------------

    def add_interface(self, interface: RobotInterface) -> None:
        """Add the servers of a robot interface."""
        devices = {d.name: d for d in interface.devices}
        for name, device in devices.items():
            if device.type.lower() in REMAPPERS:
                self.remappers[name] = device
        for device in interface.devices:
            kind = device.type.lower()
            if kind in REMAPPERS:
                continue
            if kind not in KINDS:
                ros = "_ros" in kind or kind.startswith("ros")
                why = (
                    "ROS is served by the bridges ros1, ros2 and zenoh"
                    if ros
                    else "must be one of the servers and remappers that the page about gazebo-yarp-plugins lists"
                )
                place = f"{device.file}:{device.line}: "
                message = f"{place}a device of type {device.type!r} is not served"
                (self.problems.info if ros else self.problems.warning)(device.name, message, why)
                continue
            targets = device.targets()
            if not targets:
                self.problems.warning(device.name, f"{device.file}:{device.line}: the server is attached to nothing")
                continue
            self._check_levels(device, targets)
            self.add(device.type, device.params, device.name, targets)

    def _check_levels(self, device: InterfaceDevice, targets: list[tuple[str, str]]) -> None:
        """Report a remapper that is attached after what needs it: YARP would refuse to start."""
        own = device.attachment()
        for _, target in targets:
            other = self.remappers.get(target)
            inner = other.attachment() if other is not None else None
            if own is not None and inner is not None and inner.level >= own.level:
                self.problems.warning(
                    device.name,
                    f"{device.file}:{device.line}: it is attached at level {own.level}, and the remapper {target!r} "
                    f"behind it at level {inner.level}; YARP would not start it",
                    f"give the remapper a level below {own.level}",
                )

    def add(self, kind: str, params: Group, name: str, targets: list[tuple[str, str]]) -> None:
        """Add one server, or a problem where what it shows is missing.

        Args:
            kind: type of the server, as in YARP.
            params: its parameters.
            name: its name.
            targets: (network, device) of what it is attached to.

        Raises:
            ModelError: its parameters are wrong.
        """
        lowered = kind.lower()
        if lowered not in KINDS:
            raise params.fault(f"device is {kind!r}, which is no server; {nearest(kind, KINDS)}", "device")
        try:
            server = KINDS[lowered].make(self, KINDS[lowered], params, name, targets)
            if server is not None:
                self.found.append(server)
        except _Unserved as why:
            self.problems.warning(
                name, f"{params.file}:{params.line}: it is not served: {why}", "see the problems of its devices"
            )

    # -- the kinds ----------------------------------------------------------------------------------------

    def _common(self, params: Group, kind: _Kind, name: str) -> _Common:
        params.required("name", "the name of its port")
        port = params.text("name")
        if not port.startswith("/") or any(c.isspace() for c in port):
            raise params.fault(f"name is {port!r}; must begin with '/' and have no blanks", "name")
        period = kind.default
        if params.has("period"):
            period = kind.unit * params.number("period")
        elif params.has("freq") or params.has("framerate"):
            key = "freq" if params.has("freq") else "framerate"
            period = 1.0 / params.number(key, least=1.0 / MAX_PERIOD, most=1.0 / MIN_PERIOD)
        if not MIN_PERIOD <= period <= MAX_PERIOD:
            given = "ms" if kind.unit != 1.0 else "s"
            raise params.fault(
                f"period is {period / kind.unit:g} {given}; must be {MIN_PERIOD / kind.unit:g} to "
                f"{MAX_PERIOD / kind.unit:g} {given}",
                "period",
            )
        return {
            "name": name,
            "port": port.rstrip("/") or port,
            "period": period,
            "file": None if params.file is None else str(params.file),
            "line": params.line,
        }

    def control_boards(
        self, kind: _Kind, params: Group, name: str, targets: list[tuple[str, str]]
    ) -> ControlBoardServer:
        common = self._common(params, kind, name)
        if params.has("networks"):
            axes = self._mapped(params, targets, ())
        else:
            axes = [axis for _, target in targets for axis in self.axes(target, ())]
        if not axes:
            raise _Unserved("it has no axes")
        return ControlBoardServer(**common, axes=tuple(axes))

    def analog(self, kind: _Kind, params: Group, name: str, targets: list[tuple[str, str]]) -> AnalogServer:
        common = self._common(params, kind, name)
        groups: SensorGroups = {}
        for _, target in targets:
            for group, sensors in self.sensors(target, ()).items():
                groups.setdefault(group, []).extend(sensors)
        ordered = {group: tuple(groups[group]) for group in SENSOR_GROUPS if groups.get(group)}
        return AnalogServer(**common, groups=ordered)

    def vector(self, kind: _Kind, params: Group, name: str, targets: list[tuple[str, str]]) -> VectorServer:
        common = self._common(params, kind, name)
        device = self._single(params, targets, VECTOR_DEVICES, "channels")
        return VectorServer(**common, device=device)

    def images(self, kind: _Kind, params: Group, name: str, targets: list[tuple[str, str]]) -> ImageServer:
        device = self._single(params, targets, CameraImages, "images")
        return ImageServer(**self._common(params, kind, name), device=device)

    def world(self, kind: _Kind, params: Group, name: str, targets: list[tuple[str, str]]) -> None:
        """Give a world interface its port."""
        device = self._single(params, targets, WorldInterface, "a world")
        described = self.hardware.devices[device]
        if isinstance(described, WorldInterface):
            port = f"{self._common(params, kind, name)['port']}/rpc:i"
            self.hardware.devices[device] = dataclasses.replace(described, port=port, by_server=True)

    def _single(self, params: Group, targets: list[tuple[str, str]], kinds: type | tuple[type, ...], what: str) -> str:
        if len(targets) != 1:
            raise params.fault(f"it is attached to {len(targets)} devices; must be one with {what}")
        target = targets[0][1]
        device = self.hardware.devices.get(target)
        if device is None:
            raise _Unserved(f"there is no device {target!r}; {nearest(target, self.hardware.names)}")
        if not isinstance(device, kinds):
            raise params.fault(f"it is attached to {target!r}, a {type(device).__name__}; must be a device with {what}")
        return target

    # -- chains -------------------------------------------------------------------------------------------

    def _enter(self, target: str, chain: tuple[str, ...]) -> InterfaceDevice | None:
        """Return the remapper of a name, or None for hardware."""
        if target in chain:
            device = self.remappers[target]
            raise ModelError(
                f"the remapper {target!r} is attached to itself, through {', '.join(map(repr, chain))}",
                file=device.file,
                line=device.line,
                field=target,
            )
        return self.remappers.get(target)

    def axes(self, target: str, chain: tuple[str, ...]) -> list[AxisReference]:
        """Return the axes of a board or remapper."""
        remapper = self._enter(target, chain)
        if remapper is not None:
            if remapper.type.lower() != "controlboardremapper":
                raise remapper.params.fault("a control board server is attached to it; must be a controlboardremapper")
            return self._remapped(remapper, (*chain, target))
        configuration = self.hardware.boards.get(target)
        if configuration is None:
            raise _Unserved(
                f"there is no control board {target!r}; {nearest(target, [*self.hardware.boards, *self.remappers])}"
            )
        return [AxisReference(configuration.board.name, i) for i in configuration.axis_of.values()]

    def _raw(self, target: str, chain: tuple[str, ...]) -> list[AxisReference | None]:
        """Return the axes of a device by their index in its file; None where a coupling leaves an index out."""
        configuration = self.hardware.boards.get(target) if target not in self.remappers else None
        if configuration is None:
            return list(self.axes(target, chain))
        count = max(configuration.axis_of, default=-1) + 1
        axes: list[AxisReference | None] = [None] * count
        for old, new in configuration.axis_of.items():
            axes[old] = AxisReference(configuration.board.name, new)
        return axes

    def _remapped(self, remapper: InterfaceDevice, chain: tuple[str, ...]) -> list[AxisReference]:
        params, targets = remapper.params, remapper.targets()
        if params.has("axesNames"):
            known: dict[str, AxisReference] = {}
            for _, target in targets:
                for axis in self.axes(target, chain):
                    board = next(c.board for c in self.hardware.boards.values() if c.board.name == axis.board)
                    known.setdefault(board.axis_names[axis.index], axis)
            missing = [n for n in params.words("axesNames") if n not in known]
            if missing:
                raise params.fault(f"axesNames has {missing[0]!r}; {nearest(missing[0], known)}", "axesNames")
            return [known[n] for n in params.words("axesNames")]
        params.required("networks", "the networks of the remapper, or 'axesNames'")
        return self._mapped(params, targets, chain)

    def _mapped(self, params: Group, targets: list[tuple[str, str]], chain: tuple[str, ...]) -> list[AxisReference]:
        """Return the axes of ``networks``, each ``first last device_first device_last``."""
        devices = {network: target for network, target in targets if network}
        placed: dict[int, AxisReference | None] = {}
        for network in params.words("networks"):
            numbers = params.numbers(network, least=0)
            if numbers is None:
                raise params.fault(f"the network {network!r} has no line of its own; must be {network} 0 5 0 5")
            if len(numbers) != 4 or any(n != int(n) for n in numbers):
                shown = " ".join(f"{n:g}" for n in numbers)
                raise params.fault(
                    f"{network} is ({shown}); must be four whole numbers: first and last axis here, then on the device",
                    network,
                )
            first, last, start, end = map(int, numbers)
            if last < first or last - first != end - start:
                raise params.fault(
                    f"{network} maps axes {first} to {last} to {start} to {end} of its device; must be as many",
                    network,
                )
            if network not in devices:
                raise params.fault(f"the network {network!r} has no device; {nearest(network, devices)}", network)
            axes = self._raw(devices[network], chain)
            if end >= len(axes):
                raise params.fault(
                    f"{network} ends at axis {end} of {devices[network]!r}, which has {len(axes)} axes",
                    network,
                )
            for i in range(last - first + 1):
                if first + i in placed:
                    raise params.fault(f"{network} maps the axis {first + i}, which another network has", network)
                placed[first + i] = axes[start + i]
        joints = params.number("joints", float(len(placed)), whole=True)
        if sorted(placed) != list(range(int(joints))):
            raise params.fault(
                f"the networks give axes {_ranges(sorted(placed))}; must be 0 to {int(joints) - 1}, as 'joints' says",
                "joints" if params.has("joints") else "networks",
            )
        return [axis for axis in (placed[i] for i in sorted(placed)) if axis is not None]

    def sensors(self, target: str, chain: tuple[str, ...]) -> SensorGroups:
        """Return the sensors of a device or remapper by group."""
        remapper = self._enter(target, chain)
        if remapper is None:
            return self._own_sensors(target)
        if remapper.type.lower() != "multipleanalogsensorsremapper":
            raise remapper.params.fault("an analog server is attached to it; must be a multipleanalogsensorsremapper")
        known: SensorGroups = {}
        for _, inner in remapper.targets():
            for group, sensors in self.sensors(inner, (*chain, target)).items():
                known.setdefault(group, []).extend(sensors)
        found: SensorGroups = {}
        for group, key in ANALOG_KEYS.items():
            for name in remapper.params.words(key):
                by_name = {s.sensor_name: s for s in known.get(group, [])}
                if name not in by_name:
                    raise remapper.params.fault(f"{key} has {name!r}; {nearest(name, by_name)}", key)
                found.setdefault(group, []).append(by_name[name])
        unknown = [k for k in remapper.params.entries if k.endswith("Names") and k not in ANALOG_KEYS.values()]
        if unknown:
            raise remapper.params.fault(
                f"there are no {unknown[0]}; {nearest(unknown[0], ANALOG_KEYS.values())}", unknown[0]
            )
        return found

    def _own_sensors(self, target: str) -> SensorGroups:
        device = self.hardware.devices.get(target)
        if isinstance(device, ForceTorqueSensor):
            groups = ("six_axis_force_torques", "temperatures")
        elif isinstance(device, InertialSensor):
            groups = ("gyroscopes", "linear_accelerometers", "magnetometers", "orientations")
        elif isinstance(device, BaseState):
            return {group: [SensorReference(target, device.link)] for group in BASE_GROUPS}
        elif isinstance(device, ContactLoadCells):
            return {"contact_load_cells": [SensorReference(target, target)]}
        elif isinstance(device, JointAngles):
            return {"encoder_arrays": [SensorReference(target, device.sensor_name or target)]}
        elif device is None:
            raise _Unserved(
                f"there is no device {target!r}; {nearest(target, [*self.hardware.names, *self.remappers])}"
            )
        else:
            raise _Unserved(f"{target!r} is a {type(device).__name__}, which is no analog sensor")
        return {group: [SensorReference(target, device.sensor_name)] for group in groups}


REMAPPERS = ("controlboardremapper", "multipleanalogsensorsremapper")
KINDS: Mapping[str, _Kind] = {
    "controlboard_nws_yarp": _Kind(Servers.control_boards),
    "controlboardwrapper": _Kind(Servers.control_boards, 1e-3),
    "controlboardwrapper2": _Kind(Servers.control_boards, 1e-3),
    "multipleanalogsensorsserver": _Kind(Servers.analog, 1e-3, 0.01),
    "analogserver": _Kind(Servers.vector, 1e-3),
    "inertial": _Kind(Servers.vector, 1e-3),
    "serverinertial": _Kind(Servers.vector, 1e-3),
    "grabber": _Kind(Servers.images, 1e-3, 1.0 / 30.0),
    "servergrabber": _Kind(Servers.images, 1e-3, 1.0 / 30.0),
    "grabberdual": _Kind(Servers.images, 1e-3, 1.0 / 30.0),
    "framegrabber_nws_yarp": _Kind(Servers.images, 1.0, 1.0 / 30.0),
    "rgbdsensorwrapper": _Kind(Servers.images, 1e-3, 1.0 / 30.0),
    "rgbdsensor_nws_yarp": _Kind(Servers.images, 1.0, 1.0 / 30.0),
    "rangefinder2dwrapper": _Kind(Servers.vector, 1e-3),
    "rangefinder2d_nws_yarp": _Kind(Servers.vector, 1.0),
    "simulatedworld_nws_yarp": _Kind(Servers.world, 1.0),
}
"""Types of servers, in lower case."""


def is_server(kind: str) -> bool:
    """Return whether a type of device is a server that is made here."""
    return kind.lower() in KINDS


def _ranges(numbers: list[int]) -> str:
    """Return numbers as ranges: "0 to 5, 7"."""
    parts: list[list[int]] = []
    for n in numbers:
        if parts and n == parts[-1][-1] + 1:
            parts[-1].append(n)
        else:
            parts.append([n])
    return ", ".join(f"{p[0]} to {p[-1]}" if len(p) > 1 else str(p[0]) for p in parts) or "none"

"""YARP services of a robot: its analog sensors, cameras and services, and the network servers in front of them.

Control boards are devices of the robot itself (`pliant.control_boards.description`); servers name their axes.

The description names no port library and no file format: readers of configuration files make it, devices and bridges
are made from it. Values are SI: radians, metres, seconds, newtons; the user side of YARP (degrees, milliseconds) is
converted where a file is read and where bytes are written.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from pliant.base.errors import ModelError
from pliant.formats.source import Block
from pliant.model.interface import Interface
from pliant.model.problem import Problem
from pliant.model.robot import Robot

REFERENCES = ("sensor", "sensors", "link", "joints", "device")
"""Fields of devices and servers that hold names of the model, of described sensors or of devices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class YarpDevice:
    """Common part of all devices: a name by which servers and remappers find it, and where it was described."""

    name: str
    """Name of the device, unique on its robot (yarpDeviceName)."""
    file: str | None = None
    """File that described it."""
    line: int | None = None
    """Line in that file."""

    def __post_init__(self) -> None:
        if not self.name:
            raise ModelError("a YARP device has no name", file=self.file, line=self.line, field="name")

    def prefixed(self, prefix: str) -> YarpDevice:
        """Return the same device or server on a model whose names are prefixed; ports keep their names."""
        changes: dict[str, object] = {"name": prefix + self.name}
        for key in REFERENCES:
            value = getattr(self, key, None)
            if value:
                changes[key] = tuple(prefix + v for v in value) if isinstance(value, tuple) else prefix + value
        return dataclasses.replace(self, **changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForceTorqueSensor(YarpDevice):
    """A six-axis force/torque sensor, with a temperature that stays as it is."""

    sensor: str
    """Described sensor of the robot that measures."""
    sensor_name: str
    """Name that the server gives it; its frame has the same."""
    temperature: float = 25.0
    """Temperature that it shows [deg C]; gazebo-yarp-plugins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InertialSensor(YarpDevice):
    """An inertial unit: gyroscope, accelerometer, orientation, and a magnetometer that shows zeros."""

    sensor: str
    """Described sensor of the robot that measures."""
    sensor_name: str
    """Name that the server gives it."""
    relative_orientation: bool = False
    """Whether its orientation is that since the start (useInitialSensorOrientationAsReference)."""


def _arm(board: int, first: int) -> dict[str, int]:
    return {f"{board}b{7 + i}": first + i for i in range(7)}


def _leg(board: int, first: int, order: tuple[int, ...]) -> dict[str, int]:
    return {f"{board}b{sensor}": first + i for i, sensor in enumerate(order)}


SKIN_BOARDS: Mapping[str, tuple[Mapping[str, int], int]] = {
    "left_arm": (_arm(1, 1), 8),
    "left_leg": (_leg(10, 8, (12, 13, 8, 9, 10, 11, 1, 2, 3, 4, 5, 6, 7)), 13),
    "right_arm": (_arm(2, 25), 8),
    "right_leg": (_leg(11, 32, (12, 13, 8, 9, 10, 11, 1, 2, 3, 5, 4, 6, 7)), 13),
    "torso": ({f"9b{7 + i}": 49 + i for i in range(4)}, 4),
}
"""Part -> number of each position of its skin boards, and most sensors of the part; gazebo-yarp-plugins,
inertialMTBPartDriver."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkinInertials(YarpDevice):
    """The accelerometers of the skin boards of one part, as one vector."""

    part: str
    """Part of the robot, such as "left_leg"."""
    sensors: tuple[str, ...]
    """Described sensors, in the order of the vector."""
    sensor_names: tuple[str, ...]
    """Names as the file has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraImages(YarpDevice):
    """Images of one camera, of a stereo pair side by side, or colours with depth."""

    sensors: tuple[str, ...]
    """Described cameras: one, or the left and the right one."""
    depth: bool = False
    """Whether depth is served beside colours."""
    vertical: bool = False
    """Whether the images of a pair stand above each other."""
    flip_vertical: bool = False
    """Whether rows are reversed."""
    flip_horizontal: bool = False
    """Whether columns are reversed."""
    depth_quantum: int | None = None
    """Decimal digits of the depth [m], or None for all (QUANT_PARAM)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaserScan(YarpDevice):
    """A planar laser scanner."""

    sensor: str
    """Described sensor of the robot that measures."""
    range_clip: tuple[float, float] | None = None
    """Distances [m] to which others are set; None: those of the sensor."""
    range_discard: tuple[float, float] | None = None
    """Distances [m] outside which a measurement is taken as infinite."""
    skipped: tuple[tuple[float, float], ...] = ()
    """Sectors (from, to) whose measurements are taken as infinite [rad], from the first ray."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseState(YarpDevice):
    """Pose, velocity and acceleration of one link in the world, 18 numbers."""

    link: str
    """The link."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactLoadCells(YarpDevice):
    """Vertical forces of load cells below a foot, computed from the contact wrench of its link."""

    link: str
    """The link that touches the ground."""
    cells: tuple[str, ...]
    """Names of the cells."""
    positions: tuple[tuple[float, float, float], ...]
    """Positions of the cells in the link's frame [m]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JointAngles(YarpDevice):
    """Joint angles as analog channels (MAIS)."""

    joints: tuple[str, ...]
    """Joints, one per channel."""
    sensor_name: str = ""
    """Name of the encoder array that clients of multiple analog sensors see; "" for that of the device."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockPort(YarpDevice):
    """The clock of the simulation and its requests."""

    port: str = "/clock"
    """Port of the time; requests at its ``/rpc``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldInterface(YarpDevice):
    """Requests that make, move, attach and delete objects."""

    port: str
    """Port of the requests; "" while no server is attached."""
    by_server: bool = False
    """Whether its requests are those of YARP's ``simulatedWorld_nws_yarp``."""
    synchronous: bool = True
    """Whether a request is answered after it has happened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkAttacher(YarpDevice):
    """Requests that tie links of two models together."""

    port: str
    """Port of the requests."""
    joint_type: Literal["revolute", "fixed"] = "fixed"
    """Kind of the tie."""
    startup: tuple[tuple[str, ...], ...] = ()
    """Requests that are carried out at the start, as words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalWrench(YarpDevice):
    """Requests that push links."""

    port: str = ""
    """Port of the requests; "" for ``applyExternalWrench/rpc:i`` below the robot's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPose(YarpDevice):
    """Pose of the model, sent to a transform server."""

    period: float = 0.01
    """Time between two poses [s]."""
    link: str = ""
    """Link whose pose it is; "" for the first of the robot."""
    model: str = ""
    """Name of the model; its frame is ``/model/frame``; "" for the robot's name on the network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VideoTexture(YarpDevice):
    """Images of a port as the texture of a visual."""

    link: str = ""
    """Link whose visual it is."""
    visual: str = ""
    """Name of the visual; "" for all of the link."""
    port: str = ""
    """Port that takes images; "" for one below the robot's name."""
    width: int = 640
    """Columns."""
    height: int = 480
    """Rows."""
    source: str = ""
    """Port that sends the images; "" for none at the start."""

    @property
    def texture(self) -> str:
        """Name of the model's texture, and of its material."""
        return f"{self.name}/texture"


# -- servers: what the network sees ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AxisReference:
    """One axis of a control board."""

    board: str
    """Name of the board, a device of the robot."""
    index: int
    """Index of the axis on it."""


@dataclass(frozen=True, slots=True)
class SensorReference:
    """One sensor of a device, as a server shows it."""

    device: str
    """Name of the device."""
    sensor_name: str
    """Name that the server gives the sensor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlBoardServer(YarpDevice):
    """A part: axes of one or several boards behind one group of ports."""

    port: str
    """Prefix of its ports, such as "/icubSim/left_leg"."""
    period: float = 0.02
    """Time between two states [s]."""
    axes: tuple[AxisReference, ...] = ()
    """Its axes, in order."""

    def prefixed(self, prefix: str) -> ControlBoardServer:
        """Return the same server of a model whose names are prefixed."""
        axes = tuple(AxisReference(prefix + a.board, a.index) for a in self.axes)
        return dataclasses.replace(self, name=prefix + self.name, axes=axes)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalogServer(YarpDevice):
    """A multiple-analog-sensors server."""

    port: str
    """Prefix of its ports, such as "/icubSim/left_leg/FT"."""
    period: float = 0.01
    """Time between two messages [s]."""
    groups: Mapping[str, tuple[SensorReference, ...]] = field(default_factory=dict)
    """Its sensors by group (`pliant.yarp.wire.sensors.SENSOR_GROUPS`)."""

    def prefixed(self, prefix: str) -> AnalogServer:
        """Return the same server of a model whose names are prefixed."""
        groups = {
            group: tuple(SensorReference(prefix + s.device, s.sensor_name) for s in sensors)
            for group, sensors in self.groups.items()
        }
        return dataclasses.replace(self, name=prefix + self.name, groups=groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorServer(YarpDevice):
    """A server of one vector of channels: the old analogServer and inertial."""

    port: str
    """Name of its port."""
    period: float = 0.01
    """Time between two messages [s]."""
    device: str = ""
    """Device whose channels it sends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageServer(YarpDevice):
    """A server of images: one port, or colours and depth."""

    port: str
    """Name, or prefix where there is depth, of its ports."""
    period: float = 1.0 / 30.0
    """Time between two images [s]."""
    device: str = ""
    """Device whose images it sends."""


S = TypeVar("S", VectorServer, ImageServer)
D = TypeVar("D", bound=YarpDevice)


@dataclass(frozen=True, slots=True, kw_only=True)
class YarpInterface:
    """Everything that a robot shows over YARP."""

    robot: str = ""
    """Name of the robot on the network, such as "icubSim"."""
    devices: tuple[YarpDevice, ...] = ()
    """Sensors and services of the robot, by unique names."""
    servers: tuple[YarpDevice, ...] = ()
    """Network servers in front of the devices."""
    problems: tuple[Problem, ...] = ()
    """Requested devices and servers that are not served, and why."""

    def __post_init__(self) -> None:
        for kind, devices in (("device", self.devices), ("server", self.servers)):
            seen: dict[str, YarpDevice] = {}
            for device in devices:
                other = seen.setdefault(device.name, device)
                if other is not device:
                    place = f" (the other: {other.file}:{other.line})" if other.file else ""
                    raise ModelError(
                        f"two YARP {kind}s are called {device.name!r}{place}; give one of them another name",
                        file=device.file,
                        line=device.line,
                        field="name",
                    )

    def device(self, name: str) -> YarpDevice | None:
        """Return the device of a name, or None."""
        return next((d for d in self.devices if d.name == name), None)

    def shown_by(self, servers: type[S], kind: type[D]) -> Iterator[tuple[S, D]]:
        """Yield the servers of a type whose device is of a kind, each with its device."""
        for server in self.servers:
            if isinstance(server, servers):
                device = self.device(server.device)
                if isinstance(device, kind):
                    yield server, device

    def prefixed(self, prefix: str) -> YarpInterface:
        """Return the interface of the same robot with its model's names prefixed; ports keep their names."""
        devices, servers = (tuple(d.prefixed(prefix) for d in group) for group in (self.devices, self.servers))
        return dataclasses.replace(self, devices=devices, servers=servers)

    def merged(self, other: YarpInterface) -> YarpInterface:
        """Return this interface with another's devices and servers added."""
        return dataclasses.replace(
            self,
            robot=self.robot or other.robot,
            devices=(*self.devices, *other.devices),
            servers=(*self.servers, *other.servers),
            problems=(*self.problems, *other.problems),
        )


def yarp_interface(interface: Interface | None) -> YarpInterface | None:
    """Return what a robot shows over YARP, None for a robot without it."""
    found = None if interface is None else interface.extensions.get("yarp")
    return found if isinstance(found, YarpInterface) else None


# -- pushes on links ---------------------------------------------------------------------------------------


def add_external_wrench(robot: Robot, wanted: bool = True) -> None:
    """Let programs push the links of a robot, at a port below its name; nothing changes if it has such a port.

    Args:
        robot: the robot.
        wanted: the value of the block ``external_wrench`` of a robot file.

    Raises:
        ModelError: another device has the name ``external_wrench``.
    """
    if not wanted or any(isinstance(device, ExternalWrench) for device in robot.devices):
        return
    if any(device.name == "external_wrench" for device in robot.devices):
        raise ModelError("external_wrench: the model has a device of this name", field="external_wrench")
    robot.devices.append(ExternalWrench(name="external_wrench"))


EXTERNAL_WRENCH = Block(apply=add_external_wrench, type=bool)
"""The block ``external_wrench`` of a robot file."""

"""Read the plugin tags of gazebo-yarp-plugins and gz-sim-yarp-plugins in URDF and SDF.

Both families are read: ``libgazebo_yarp_NAME.so`` at the model or inside a sensor, and ``gz-sim-yarp-NAME-system`` at
the model. Their configuration files are found like meshes. A plugin whose file is missing is reported and left out, as
Gazebo would do; a file that is wrong is refused.
"""

from __future__ import annotations

import dataclasses
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pliant.base.documents.xml_tree import line_of
from pliant.base.errors import ModelError, WireError, nearest
from pliant.formats.source import TagReader, WingTags
from pliant.formats.tags import Tags, place_of
from pliant.formats.urdf import find_resource
from pliant.model.problem import Problem, Problems
from pliant.model.sensors import Camera, ForceTorque, Imu, Laser, SensorDescription
from pliant.model.world import World
from pliant.yarp.formats.control_board import read_control_board, read_fake_board
from pliant.yarp.formats.ini import Entry, Group, parse_list, read_ini
from pliant.yarp.formats.robot_interface import RobotInterface, read_robot_interface
from pliant.yarp.formats.servers import Hardware, Servers, is_server
from pliant.yarp.formats.textures import place_textures
from pliant.yarp.model.control_board import ControlBoard
from pliant.yarp.model.services import (
    SKIN_BOARDS,
    AxisReference,
    BaseState,
    CameraImages,
    ClockPort,
    ContactLoadCells,
    ControlBoardServer,
    ExternalWrench,
    ForceTorqueSensor,
    InertialSensor,
    JointAngles,
    LaserScan,
    LinkAttacher,
    ModelPose,
    SkinInertials,
    VideoTexture,
    WorldInterface,
    YarpDevice,
    YarpInterface,
)

__all__ = ["READER", "is_yarp_plugin", "read_yarp_tags"]

_PLUGIN = re.compile(
    r"(?:lib)?gazebo_yarp_(?P<old>\w+?)(?:\.so|\.dylib|\.dll)?|(?:lib)?gz-sim-yarp-(?P<new>\w+)-system(?:\.so)?"
)
MAX_LOAD_CELLS = 1000
S = TypeVar("S", bound=SensorDescription)


def is_yarp_plugin(filename: str) -> bool:
    """Return whether a plugin is one of those that are read here."""
    return _match(filename) is not None


def _match(filename: str) -> re.Match[str] | None:
    return _PLUGIN.fullmatch(re.split(r"[/\\]", filename.strip())[-1])


def _kind(element: ET.Element) -> str:
    match = _match(element.get("filename", ""))
    return (match["old"] or match["new"] or "").lower() if match is not None else ""


def read_yarp_tags(
    root: ET.Element,
    joints: Mapping[str, str],
    sensors: Sequence[SensorDescription],
    file: str | Path | None = None,
    package_paths: Iterable[str | Path] = (),
) -> WingTags:
    """Return what the plugin tags of a robot ask YARP to show.

    Args:
        root: the ``<robot>`` of a URDF or the ``<model>`` of an SDF.
        joints: type of every joint, by name.
        sensors: the described sensors of the robot.
        file: name of the file, for messages and for addresses of configuration files.
        package_paths: folders that hold packages, searched first.

    Raises:
        ModelError: a configuration file is wrong; the message has file and line.
    """
    if not any(_kind(element) for element in root.iter("plugin")):
        return WingTags()
    return _Reader(root, joints, sensors, file, [str(p) for p in package_paths]).read()


@dataclass(slots=True)
class _Plugin:
    """One plugin element."""

    element: ET.Element
    kind: str
    name: str
    sensor: str
    """Name of the sensor element that it is in, or ""."""
    link: str
    """Link or joint that the sensor stands on, or the link of the visual, or ""."""
    visual: str | None = None
    """Name of the visual element that it is in, "" for one without a name; None for none."""


@dataclass(slots=True)
class _Pending:
    """A server in front of a device, whose targets are known when everything is read."""

    kind: str
    params: Group
    name: str
    targets: list[tuple[str, str]]


class _Reader:
    """Collect the devices of one description."""

    def __init__(
        self,
        root: ET.Element,
        joints: Mapping[str, str],
        sensors: Sequence[SensorDescription],
        file: str | Path | None,
        package_paths: list[str],
    ) -> None:
        self.root, self.joints, self.sensors = root, joints, sensors
        self.file, self.package_paths = file, package_paths
        self.links = [link.get("name", "") for link in root.iter("link")]
        self.found = WingTags()
        self.hardware = Hardware()
        self.pending: list[_Pending] = []
        self.interfaces: list[RobotInterface] = []
        self.problems = Problems()
        self.overrides: dict[str, dict[str, str]] = {}
        self.robot = ""

    def read(self) -> WingTags:
        plugins = list(self._plugins())
        for plugin in plugins:
            if plugin.kind == "configurationoverride":
                self._override(plugin)
        for plugin in plugins:
            reader = READERS.get(plugin.kind)
            if reader is not None:
                reader(self, plugin)
            elif plugin.kind in UNSERVED:
                severity, why = UNSERVED[plugin.kind]
                self.problems.append(Problem(severity, plugin.name, f"{self._place(plugin)}{plugin.kind}: {why}"))
            elif plugin.kind != "configurationoverride":
                self.skip(
                    plugin, f"there is no YARP plugin {plugin.kind!r}", nearest(plugin.kind, [*READERS, *UNSERVED])
                )
        parts = self._world()
        servers = Servers(self.hardware)
        for pending in self.pending:
            servers.add(pending.kind, pending.params, pending.name, pending.targets)
        for interface in self.interfaces:
            servers.add_interface(interface)
            self.robot = interface.port_prefix.strip("/") or self.robot
        boards = boards_of(self.hardware)
        renamed = self._part_names(boards, servers.found)
        boards = [dataclasses.replace(b, name=renamed.get(b.name, b.name)) for b in boards]
        self.found.devices = [*boards, *parts]
        for board in boards:
            self.found.initial.update(zip(board.joints, board.initial_positions, strict=False))
        for device in self.hardware.devices.values():
            if isinstance(device, InertialSensor) and device.relative_orientation:
                self.problems.warning(device.name, "its orientation is that in the world, not that since the start")
        known = {*renamed.values(), *renamed}
        problems = [
            dataclasses.replace(p, subject=renamed.get(p.subject, p.subject)) if p.subject in known else p
            for p in (*self.problems, *servers.problems)
        ]
        self.found.extension = YarpInterface(
            robot=self.robot,
            devices=tuple(self.hardware.devices.values()),
            servers=tuple(_with_parts(s, renamed) for s in servers.found),
            problems=tuple(problems),
        )
        return self.found

    def _world(self) -> list[World]:
        """Return the spare objects and ties that services of the robot need."""
        devices = self.hardware.devices.values()
        attachers = [d for d in devices if isinstance(d, LinkAttacher)]
        objects = {} if any(isinstance(d, WorldInterface) for d in devices) else {"objects": 0}
        if objects and not attachers:
            return []
        pairs = []
        for attacher in attachers:
            if attacher.joint_type == "revolute":
                self.problems.warning(attacher.name, "revolute ties are fixed ones here")
            for words in attacher.startup:
                pair = self._startup(words)
                if pair is None:
                    message = f"[STARTUP] has {' '.join(words)!r}, which is left out"
                    hint = "must be attachUnscoped MODEL LINK ROBOT LINK, of links of this model"
                    self.problems.warning(attacher.name, message, hint)
                else:
                    pairs.append(pair)
        ties = max(8, len(pairs))
        return [World(**objects, ties=ties, startup=tuple(pairs))]

    def _startup(self, words: tuple[str, ...]) -> tuple[str, str] | None:
        """Return the links that a request at the start ties together; None if it is another request."""
        if "attachUnscoped" not in words[:2]:
            return None
        given = words[words.index("attachUnscoped") + 1 :]
        if len(given) != 4:
            return None
        links = []
        for model, link in (given[:2], given[2:]):
            plain = "world" if model in ("world", "ground_plane") else link.rpartition("::")[2]
            if plain not in (*self.links, "world"):
                return None
            links.append(plain)
        return (links[0], links[1]) if links[0] != links[1] else None

    def _part_names(self, boards: list[ControlBoard], servers: list[YarpDevice]) -> dict[str, str]:
        """Return the name of the part that a board is, where one server shows just its axes."""
        taken = {s.name for s in self.sensors} | {b.name for b in boards} | {"board"}
        names: dict[str, str] = {}
        for board in boards:
            whole = [AxisReference(board.name, i) for i in range(len(board.axis_names))]
            parts = [
                s.port.rpartition("/")[2] for s in servers if isinstance(s, ControlBoardServer) and [*s.axes] == whole
            ]
            if len(parts) == 1 and parts[0] and parts[0] not in taken:
                names[board.name] = parts[0]
                taken.add(parts[0])
        return names

    # -- plugin elements ----------------------------------------------------------------------------------

    def _plugins(self) -> Iterable[_Plugin]:
        parents = {child: parent for parent in self.root.iter() for child in parent}
        for element in self.root.iter("plugin"):
            kind = _kind(element)
            if not kind:
                continue
            above = parents.get(element)
            sensor = above.get("name", "") if above is not None and above.tag == "sensor" else ""
            place = parents.get(above) if sensor and above is not None else None
            link = "" if place is None else place.get("reference") or place.get("name") or ""
            visual = None
            if above is not None and above.tag == "visual":
                visual = above.get("name", "")
                place = parents.get(above)
                link = "" if place is None else place.get("reference") or place.get("name") or ""
            yield _Plugin(element, kind, element.get("name", "") or kind, sensor, link, visual)

    def _place(self, plugin: _Plugin) -> str:
        return place_of(plugin.element, self.file)

    def fault(self, plugin: _Plugin, message: str, field_name: str | None = None) -> ModelError:
        return ModelError(
            f"plugin {plugin.name!r} ({plugin.kind}): {message}", file=self.file, line=line_of(plugin.element),
            field=field_name,
        )  # fmt: skip

    def skip(self, plugin: _Plugin, message: str, hint: str = "", severity: Any = "warning") -> None:
        """Report a plugin that is left out."""
        subject = plugin.sensor or plugin.name
        self.problems.append(
            Problem(
                severity, subject, f"{self._place(plugin)}the YARP plugin {plugin.kind} is left out: {message}", hint
            )
        )

    def _override(self, plugin: _Plugin) -> None:
        for element in plugin.element.findall("yarpPluginConfigurationOverride"):
            target = element.get("plugin_name", "")
            if not target:
                raise self.fault(plugin, "<yarpPluginConfigurationOverride> has no plugin_name", "plugin_name")
            changes = self.overrides.setdefault(target, {})
            inside = [*element, *(e for e in plugin.element if e.tag != "yarpPluginConfigurationOverride")]
            changes.update({child.tag: (child.text or "").strip() for child in inside})

    def tag(self, plugin: _Plugin, name: str) -> str:
        """Return the text of a tag of a plugin, or what overrides it."""
        changes = self.overrides.get(plugin.element.get("name", ""), {})
        if name in changes:
            return changes[name]
        node = plugin.element.find(name)
        return "" if node is None else (node.text or "").strip()

    def resource(self, plugin: _Plugin, tag: str) -> Path | None:
        """Return the file that a tag names; None with a problem where it does not exist."""
        address = self.tag(plugin, tag)
        try:
            path, searched = find_resource(address, self.file, self.package_paths)
        except ModelError as error:
            raise self.fault(plugin, f"<{tag}>: {error.message}", tag) from error
        if path is None:
            where = ", ".join(searched) or "nowhere"
            self.skip(
                plugin, f"its file {address!r} is not found; searched: {where}", "name the folder in package_paths"
            )
        return path

    def config(self, plugin: _Plugin) -> Group | None:
        """Return the configuration of a plugin; None with a problem where its file or an include is missing."""
        text = self.tag(plugin, "yarpConfigurationString")
        if text:
            config = self._from_string(plugin, text)
        elif self.tag(plugin, "yarpConfigurationFile"):
            path = self.resource(plugin, "yarpConfigurationFile")
            if path is None:
                return None
            try:
                config = read_ini(path)
            except ModelError as error:
                if error.field != "include":
                    raise
                self.skip(plugin, str(error), "the file of the package is incomplete")
                return None
        else:
            raise self.fault(
                plugin, "it has no configuration; must be <yarpConfigurationFile> or <yarpConfigurationString>"
            )
        self.robot = self.robot or config.text("gazeboYarpPluginsRobotName", "")
        return config

    def _from_string(self, plugin: _Plugin, text: str) -> Group:
        line = line_of(plugin.element)
        config = Group(file=self.file, line=line)
        try:
            items = parse_list(text)
        except WireError as error:
            raise self.fault(plugin, f"<yarpConfigurationString>: {error.message}") from error
        for item in items:
            if not isinstance(item, tuple) or not item or not isinstance(item[0], str):
                raise self.fault(
                    plugin, f"<yarpConfigurationString> holds {item!r}; must be lists (key value) only",
                    "yarpConfigurationString",
                )  # fmt: skip
            config.entries[item[0]] = Entry(tuple(item[1:]), self.file, line)
        return config

    def common(self, plugin: _Plugin, config: Group, default: str) -> dict[str, Any]:
        """Return name and place of a device."""
        bare = config.flag("disableImplicitNetworkWrapper")
        if bare and not config.has("yarpDeviceName"):
            raise config.fault(
                f"plugin {plugin.name!r} ({plugin.kind}): the key 'yarpDeviceName' is missing; with "
                "disableImplicitNetworkWrapper it is the only name of the device"
            )
        name = config.text("yarpDeviceName", default)
        for other in (self.hardware.boards, self.hardware.devices):
            if name in other:
                raise self.fault(plugin, f"there is another YARP device called {name!r}", "yarpDeviceName")
        return {
            "name": name,
            "file": None if config.file is None else str(config.file),
            "line": (config.entries["yarpDeviceName"].line if config.has("yarpDeviceName") else config.line or 1),
        }

    def add(self, plugin: _Plugin, config: Group, device: YarpDevice) -> None:
        """Add a device, and the servers that its own configuration asks for."""
        self.hardware.devices[device.name] = device
        if config.flag("disableImplicitNetworkWrapper"):
            return
        for params in (config, config.group("WRAPPER"), config.group("ADDITIONAL_WRAPPER")):
            if params is not None and params.has("device") and params.has("name"):
                kind = params.text("device")
                if is_server(kind):
                    suffix = f"/{params.name.lower()}" if params.name else "/server"
                    self.pending.append(_Pending(kind, params, device.name + suffix, [("", device.name)]))
                elif params is not config:
                    raise params.fault(f"device is {kind!r}, which is no server", "device")

    def sensor(self, plugin: _Plugin, config: Group | None, kind: type[S]) -> S | None:
        """Return the described sensor that a plugin means; None with a problem where there is none."""
        wanted = plugin.sensor or (config.text("sensorName", "") if config is not None else "")
        if not wanted:
            raise self.fault(plugin, "it is in no <sensor> and has no 'sensorName'; must name its sensor", "sensorName")
        place = plugin.link
        if config is not None and not plugin.sensor:
            place = config.text("parentLinkName", config.text("jointName", ""))
        return self.described(plugin, wanted, place, kind)

    def described(self, plugin: _Plugin, wanted: str, place: str, kind: type[S]) -> S | None:
        plain, place = wanted.rpartition("::")[2], place.rpartition("::")[2]
        bodies = {place, self._child(place)} if place else set()
        found = [s for s in self.sensors if isinstance(s, kind) and s.name == plain]
        found = [s for s in found if not bodies or s.body in bodies] or found
        if not found:
            names = [s.name for s in self.sensors if isinstance(s, kind)]
            self.skip(plugin, f"the robot has no {kind.__name__} sensor {wanted!r}", nearest(plain, names))
            return None
        self.found.used.add(found[0].name)
        return found[0]

    def _child(self, joint: str) -> str:
        for element in self.root.iter("joint"):
            if element.get("name") == joint:
                child = element.find("child")
                return "" if child is None else child.get("link") or (child.text or "").strip()
        return ""

    def link(self, plugin: _Plugin, group: Group, key: str) -> str:
        """Return a link that a key names, scoped or not."""
        name = group.text(key)
        plain = name.rpartition("::")[2]
        for candidate in (name, plain):
            if candidate in self.links:
                return candidate
        raise group.fault(f"{key} is {name!r}, which is no link of the robot; {nearest(plain, self.links)}", key)

    # -- kinds ------------------------------------------------------------------------------------------------

    def control_board(self, plugin: _Plugin) -> None:
        config = self.config(plugin)
        if config is None:
            return
        initial = self._initial(plugin, config)
        wrapper = config.group("WRAPPER")
        networks = wrapper.words("networks") if wrapper is not None else ()
        drivers = [network for network in networks if network in config.groups]
        if drivers and len(drivers) > 1 and initial is not None:
            raise config.fault("initialConfiguration with several networks is not read; must be one network a board")
        bare = config.flag("disableImplicitNetworkWrapper")
        if drivers:
            for driver in drivers:
                name = config.groups[driver].text("name", driver)
                self._add_board(plugin, config, {"name": name}, initial, driver, alias=driver)
        elif config.has("jointNames") or wrapper is None:
            common = self.common(plugin, config, config.text("name", plugin.name).rpartition("/")[2])
            self._add_board(plugin, config, common, initial, "")
            networks = networks or (common["name"],)
        if wrapper is not None and not bare:
            kind = wrapper.text("device", "controlboardwrapper2")
            targets = [(network, network) for network in networks]
            self.pending.append(_Pending(kind, wrapper, f"{plugin.name}/wrapper", targets))

    def _add_board(
        self,
        plugin: _Plugin,
        config: Group,
        common: dict[str, Any],
        initial: tuple[float, ...] | None,
        driver: str,
        alias: str = "",
    ) -> None:
        name = common["name"]
        key = alias or name
        if key in self.hardware.boards or any(c.board.name == name for c in self.hardware.boards.values()):
            raise self.fault(plugin, f"there is another control board called {name!r}", "yarpDeviceName")
        found = read_control_board(config, self.joints, name=name, initial=initial, driver=driver)
        self.hardware.boards[key] = found
        self.problems += found.problems

    def _initial(self, plugin: _Plugin, config: Group) -> tuple[float, ...] | None:
        text = self.tag(plugin, "initialConfiguration")
        if not text:
            return config.numbers("initialConfiguration")
        tags = Tags(plugin.element, f"plugin {plugin.name!r}", self.file)
        numbers = []
        for word in text.replace(",", " ").split():
            try:
                numbers.append(float(word))
            except ValueError:
                numbers.append(math.nan)
        if not all(map(math.isfinite, numbers)):
            raise tags.fault(f"<initialConfiguration> is {text!r}; must be finite numbers", "initialConfiguration")
        return tuple(numbers)

    def fake_board(self, plugin: _Plugin) -> None:
        config = self.config(plugin)
        if config is None:
            return
        wrapper = config.group("WRAPPER")
        networks = wrapper.words("networks") if wrapper is not None else ()
        common = self.common(plugin, config, networks[0] if networks else plugin.name)
        self.hardware.boards[common["name"]] = read_fake_board(config, name=common["name"])
        if wrapper is not None and not config.flag("disableImplicitNetworkWrapper"):
            kind = wrapper.text("device", "controlboardwrapper2")
            targets = [(network, common["name"]) for network in networks] or [("", common["name"])]
            self.pending.append(_Pending(kind, wrapper, f"{plugin.name}/wrapper", targets))

    def force_torque(self, plugin: _Plugin) -> None:
        config = self.config(plugin)
        sensor = self.sensor(plugin, config, ForceTorque) if config is not None else None
        if config is None or sensor is None:
            return
        common = self.common(plugin, config, sensor.name)
        self.add(plugin, config, ForceTorqueSensor(**common, sensor=sensor.name, sensor_name=sensor.name))

    def imu(self, plugin: _Plugin) -> None:
        config = self.config(plugin)
        sensor = self.sensor(plugin, config, Imu) if config is not None else None
        if config is None or sensor is None:
            return
        common = self.common(plugin, config, sensor.name)
        relative = config.flag("useInitialSensorOrientationAsReference")
        device = InertialSensor(**common, sensor=sensor.name, sensor_name=sensor.name, relative_orientation=relative)
        self.add(plugin, config, device)

    def skin_inertials(self, plugin: _Plugin) -> None:
        config = self.config(plugin)
        if config is None:
            return
        driver = self._group(config, "PART_DRIVER")
        driver.required("enabledSensors", "the names of the sensors, in order")
        names = driver.words("enabledSensors")
        sensors = [self.described(plugin, name, "", Imu) for name in names]
        if any(sensor is None for sensor in sensors):
            return
        part = driver.text("robotPart")
        if part not in SKIN_BOARDS:
            self.skip(plugin, f"robotPart is {part!r}, which has no skin boards", nearest(part, SKIN_BOARDS))
            return
        boards, most = SKIN_BOARDS[part]
        for name in names:
            kind, _, label = name.rpartition("::")[2].rpartition("_")
            if label not in boards or kind.rpartition("_")[2] not in ("acc", "gyro"):
                valid = f"must end in _acc_ or _gyro_ and one of {', '.join(boards)}"
                self.skip(plugin, f"enabledSensors has {name!r}, which is no sensor of the skin of {part}", valid)
                return
        if not 0 < len(names) <= most:
            text = f"enabledSensors has {len(names)} names; must be 1 to {most} of {part}"
            raise driver.fault(text, "enabledSensors")
        common = self.common(plugin, config, f"{part}_inertials")
        used = tuple(s.name for s in sensors if s is not None)
        self.add(plugin, config, SkinInertials(**common, part=part, sensors=used, sensor_names=names))

    def _group(self, config: Group, name: str) -> Group:
        group = config.group(name)
        if group is None:
            raise config.fault(f"the group [{name}] is missing")
        return group

    def camera(self, plugin: _Plugin) -> None:
        self._images(plugin, depth=False)

    def depth_camera(self, plugin: _Plugin) -> None:
        self._images(plugin, depth=True)

    def _images(self, plugin: _Plugin, *, depth: bool) -> None:
        config = self.config(plugin)
        sensor = self.sensor(plugin, config, Camera) if config is not None else None
        if config is None or sensor is None:
            return
        if depth and not sensor.depth:
            self.skip(plugin, f"the camera {sensor.name!r} gives no depth", "must be a sensor of type depth or rgbd")
            return
        if depth:
            self.found.colored.add(sensor.name)  # the plugin sends both images, also of a sensor of type depth
        quantum = None
        quant = config.group("QUANT_PARAM")
        if quant is not None and quant.has("depth_quant"):
            quantum = int(quant.number("depth_quant", least=0, most=9, whole=True))
        stamp = config.flag("display_timestamp") or config.flag("display_time_box")
        common = self.common(plugin, config, sensor.name)
        if stamp:
            self.problems.info(common["name"], "the time is not drawn into the images", "envelopes carry it")
        self.add(
            plugin,
            config,
            CameraImages(
                **common,
                sensors=(sensor.name,),
                depth=depth,
                flip_vertical=config.flag("vertical_flip"),
                flip_horizontal=config.flag("horizontal_flip"),
                depth_quantum=quantum,
                stamp_shown=stamp,
            ),
        )

    def several_cameras(self, plugin: _Plugin) -> None:
        config = self.config(plugin)
        if config is None:
            return
        if not plugin.sensor:
            raise self.fault(plugin, "it is in no <sensor>; must be in one of type multicamera", "sensor")
        eyes = [s for s in self.sensors if isinstance(s, Camera) and s.name.startswith(f"{plugin.sensor}_")]
        vertical = config.flag("vertical")
        if len(eyes) < 2:
            self.skip(plugin, f"the sensor {plugin.sensor!r} has {len(eyes)} cameras", "must be two or more <camera>")
            return
        if len({eye.width if vertical else eye.height for eye in eyes}) > 1:
            side = "width" if vertical else "height"
            self.skip(plugin, f"its cameras have different {side}s", f"must have the same {side} to be joined")
            return
        self.found.used.update(eye.name for eye in eyes)
        images = CameraImages(
            **self.common(plugin, config, plugin.sensor),
            sensors=tuple(eye.name for eye in eyes),
            vertical=vertical,
            flip_vertical=config.flag("vertical_flip"),
            flip_horizontal=config.flag("horizontal_flip"),
        )
        self.add(plugin, config, images)

    def laser(self, plugin: _Plugin) -> None:
        config = self.config(plugin)
        sensor = self.sensor(plugin, config, Laser) if config is not None else None
        if config is None or sensor is None:
            return
        ranges: dict[str, tuple[float, float] | None] = {"clip": None, "discard": None}
        general = config.group("GENERAL")
        for kind in ranges if general is not None else ():
            if general is not None and general.flag(f"enable_{kind}_range"):
                ranges[kind] = self._range(general, f"{kind}_min_range", f"{kind}_max_range")
        if general is not None and all(ranges.values()):
            raise general.fault("enable_clip_range and enable_discard_range are both on; must be one of them")
        if config.has("min_distance") and config.has("max_distance") and not ranges["clip"]:
            ranges["clip"] = self._range(config, "min_distance", "max_distance")
        self.add(
            plugin,
            config,
            LaserScan(
                **self.common(plugin, config, sensor.name),
                sensor=sensor.name,
                range_clip=ranges["clip"],
                range_discard=ranges["discard"],
                skipped=self._skipped(config),
            ),
        )

    def _range(self, group: Group, low: str, high: str) -> tuple[float, float]:
        group.required(low, "a distance [m]")
        group.required(high, "a distance [m]")
        least, most = group.number(low, 0.0), group.number(high, 0.0)
        if not (math.isfinite(most) and 0.0 <= least < most):
            raise group.fault(f"{low} {least:g} and {high} {most:g}; must be 0 <= min < max", low)
        return least, most

    def _skipped(self, config: Group) -> tuple[tuple[float, float], ...]:
        """Return the sectors of the group [SKIP] in radians."""
        group = config.group("SKIP")
        if group is None:
            return ()
        starts, ends = group.numbers("min") or (), group.numbers("max") or ()
        pairs = list(zip(starts, ends, strict=False))
        if len(starts) != len(ends) or not all(0.0 <= a < b <= 360.0 for a, b in pairs):
            raise group.fault("min and max must be as many angles from 0 to 360 [deg], each min below its max", "min")
        return tuple((math.radians(a), math.radians(b)) for a, b in pairs)

    def clock(self, plugin: _Plugin) -> None:
        port = self.tag(plugin, "portName") or self.tag(plugin, "port") or "/clock"
        if not port.startswith("/"):
            raise self.fault(plugin, f"the port is {port!r}; must begin with '/'", "port")
        self.hardware.devices["clock"] = ClockPort(
            name="clock", port=port, file=None if self.file is None else str(self.file), line=line_of(plugin.element)
        )

    def _service(self, plugin: _Plugin) -> tuple[Group, dict[str, Any]] | None:
        config = self.config(plugin)
        if config is None:
            return None
        return config, self.common(plugin, config, plugin.name)

    def _port(self, config: Group) -> str:
        port = config.text("name")
        if not port.startswith("/"):
            raise config.fault(f"name is {port!r}; must be a port, which begins with '/'", "name")
        return port

    def world_interface(self, plugin: _Plugin) -> None:
        found = self._service(plugin)
        if found is not None:
            config, common = found
            port, synchronous = self._port(config), config.flag("synchro", True)
            self.hardware.devices[common["name"]] = WorldInterface(**common, port=port, synchronous=synchronous)

    def link_attacher(self, plugin: _Plugin) -> None:
        found = self._service(plugin)
        if found is None:
            return
        config, common = found
        startup = config.group("STARTUP")
        requests = []
        for key, entry in startup.entries.items() if startup is not None else ():
            values = [w for v in entry.values for w in (v if isinstance(v, tuple) else (v,))]
            requests.append((key, *map(str, values)))
        self.hardware.devices[common["name"]] = LinkAttacher(
            **common,
            port=self._port(config),
            joint_type=config.choice("jointType", ("fixed", "revolute"), "fixed"),  # type: ignore[arg-type]
            startup=tuple(requests),
        )

    def external_wrench(self, plugin: _Plugin) -> None:
        found = self._service(plugin)
        if found is not None:
            config, common = found
            keys = ("robot", "robotName", "gazeboYarpPluginsRobotName")
            robot = next((config.text(k) for k in keys if config.has(k)), self.root.get("name", "robot"))
            port = f"/{robot.strip('/')}/applyExternalWrench/rpc:i"
            self.hardware.devices[common["name"]] = ExternalWrench(**common, port=port)

    def base_state(self, plugin: _Plugin) -> None:
        config = self.config(plugin)
        if config is None:
            return
        driver = config.group("DRIVER") or config
        link = self.link(plugin, driver, "baseLink")
        self.add(plugin, config, BaseState(**self.common(plugin, config, f"{link}_state"), link=link))

    def load_cells(self, plugin: _Plugin) -> None:
        config = self.config(plugin)
        if config is None:
            return
        driver = config.group("DRIVER") or config
        link = self.link(plugin, driver, "linkName")
        driver.required("loadCellNames", "the names of the cells")
        cells = driver.words("loadCellNames")
        if len(cells) > MAX_LOAD_CELLS:
            raise driver.fault(f"there are {len(cells)} load cells; must be at most {MAX_LOAD_CELLS}", "loadCellNames")
        columns = []
        for axis in "XYZ":
            driver.required(f"loadCell{axis}", "one coordinate a cell [m]")
            columns.append(driver.numbers(f"loadCell{axis}", len(cells), what="the load cells") or ())
        self.add(
            plugin,
            config,
            ContactLoadCells(
                **self.common(plugin, config, f"{link}_load_cells"),
                link=link,
                cells=cells,
                positions=tuple(zip(*columns, strict=True)),
            ),
        )

    def joint_angles(self, plugin: _Plugin) -> None:
        config = self.config(plugin)
        if config is None:
            return
        groups = [g for g in (config, *config.groups.values()) if g.has("jointNames")]
        if not groups:
            raise config.fault(f"plugin {plugin.name!r} (maissensor): the key 'jointNames' is missing")
        names = tuple(word.rpartition("::")[2] for word in groups[0].words("jointNames"))
        unknown = next((n for n in names if n not in self.joints), None)
        if unknown is not None:
            raise groups[0].fault(f"jointNames has {unknown!r}; {nearest(unknown, self.joints)}", "jointNames")
        name = config.text("sensorName", plugin.name)
        self.add(plugin, config, JointAngles(**self.common(plugin, config, name), joints=names))

    def robot_interface(self, plugin: _Plugin) -> None:
        tag = "yarpRobotInterfaceConfigurationFile"
        if not self.tag(plugin, tag):
            raise self.fault(plugin, f"<{tag}> is missing", tag)
        path = self.resource(plugin, tag)
        if path is None:
            return

        def words(name: str) -> list[str]:
            try:
                items = parse_list(self.tag(plugin, name))
            except WireError as error:
                raise self.fault(plugin, f"<{name}>: {error.message}", name) from error
            flat = items[0] if len(items) == 1 and isinstance(items[0], tuple) else items
            return [str(item) for item in flat]

        try:
            self.interfaces.append(
                read_robot_interface(
                    path,
                    port_prefix=self.tag(plugin, "yarpRobotInterfacePortPrefix") or None,
                    enabled=words("yarpRobotInterfaceEnableTags"),
                    disabled=words("yarpRobotInterfaceDisableTags"),
                )
            )
        except ModelError as error:
            if error.field != "href":
                raise
            self.skip(plugin, str(error), "the files of the package are incomplete")

    def model_pose(self, plugin: _Plugin) -> None:
        tags = Tags(plugin.element, f"plugin {plugin.name!r}", self.file)
        # Seconds, as gazebo-yarp-plugins' source has it.
        period = tags.number("period", 0.01, least=1e-4, most=1e3)
        self.hardware.devices["model_pose"] = ModelPose(
            name="model_pose", period=period, link=self._first_link(), model=self.root.get("name", "")
        )

    def _first_link(self) -> str:
        """Return the link that no other carries; the world is no link of a model."""
        carried = {"world"}
        for joint in self.root.iter("joint"):
            parent, child = (_link_of(joint, end) for end in ("parent", "child"))
            if parent != "world":
                carried.add(child)
        return next((link for link in self.links if link and link not in carried), "")

    def video_texture(self, plugin: _Plugin) -> None:
        found = self._service(plugin)
        if found is not None:
            config, common = found
            texture = VideoTexture(
                **common,
                link=plugin.link,
                visual=plugin.visual or "",
                port=f"/{self.root.get('name', 'robot')}::{plugin.link}::{plugin.visual or plugin.link + '_visual'}",
                width=int(config.number("widthRes", 640, least=1, most=8192, whole=True)),
                height=int(config.number("heightRes", 480, least=1, most=8192, whole=True)),
                source=config.text("defaultSourcePortName", ""),
            )
            if plugin.visual is None:
                self.skip(plugin, "it stands in no <visual>", "must be inside the <visual> of a link")
            else:
                self.hardware.devices[texture.name] = texture


READERS: Mapping[str, Callable[[_Reader, _Plugin], None]] = {
    "controlboard": _Reader.control_board,
    "fakecontrolboard": _Reader.fake_board,
    "forcetorque": _Reader.force_torque,
    "imu": _Reader.imu,
    "inertialmtb": _Reader.skin_inertials,
    "inertialmtbpart": _Reader.skin_inertials,
    "distributedinertials": _Reader.skin_inertials,
    "camera": _Reader.camera,
    "depthcamera": _Reader.depth_camera,
    "multicamera": _Reader.several_cameras,
    "lasersensor": _Reader.laser,
    "laser": _Reader.laser,
    "clock": _Reader.clock,
    "worldinterface": _Reader.world_interface,
    "linkattacher": _Reader.link_attacher,
    "externalwrench": _Reader.external_wrench,
    "robotinterface": _Reader.robot_interface,
    "basestate": _Reader.base_state,
    "contactloadcellarray": _Reader.load_cells,
    "maissensor": _Reader.joint_angles,
    "modelposepublisher": _Reader.model_pose,
    "videotexture": _Reader.video_texture,
}
"""What is read, by the name of the plugin in lower case."""
UNSERVED: Mapping[str, tuple[Any, str]] = {
    "stereodepthcamera": (
        "warning",
        "a stereo sensor is not simulated; describe a multicamera, or one of type rgbd",
    ),
    "doublelaser": ("warning", "two lasers as one are not simulated"),
    "jointsensors": (
        "warning",
        "it was removed from gazebo-yarp-plugins; its values are in the state of the control board",
    ),
    "showmodelcom": ("info", "the centre of mass is shown by the viewer"),
}
"""What is known and not served, and why."""


def _link_of(joint: ET.Element, end: str) -> str:
    """Return the link at an end of a joint, as URDF or SDF has it."""
    element = joint.find(end)
    return "" if element is None else element.get("link") or (element.text or "").strip()


def boards_of(hardware: Hardware) -> list[ControlBoard]:
    """Return the control boards under the names that servers refer to."""
    return [configuration.board for configuration in hardware.boards.values()]


def _with_parts(server: YarpDevice, names: Mapping[str, str]) -> YarpDevice:
    if not isinstance(server, ControlBoardServer):
        return server
    axes = tuple(AxisReference(names.get(a.board, a.board), a.index) for a in server.axes)
    return dataclasses.replace(server, axes=axes)


READER = TagReader(name="yarp", title="YARP", owns=is_yarp_plugin, read=read_yarp_tags, complete=place_textures)
"""Reader of the plugin tags of gazebo-yarp-plugins and gz-sim-yarp-plugins."""

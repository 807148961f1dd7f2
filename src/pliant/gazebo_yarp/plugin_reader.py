"""The plugin elements of one description: their configurations, the sensors and links that they mean, their faults."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pliant.base.documents.xml_tree import file_of, line_of
from pliant.base.errors import ModelError, WireError, nearest
from pliant.formats.resources import find_resource
from pliant.formats.source import WingTags
from pliant.formats.tags import library_of, link_of, place_of
from pliant.gazebo_yarp.ini import Entry, Group, parse_list, read_ini
from pliant.gazebo_yarp.places import Place, Severity
from pliant.gazebo_yarp.robot_interface import RobotInterface
from pliant.gazebo_yarp.servers import Hardware, is_server
from pliant.model.problem import Problem
from pliant.model.sensors import SensorDescription
from pliant.yarp.model.services import YarpDevice

_PLUGIN = re.compile(
    r"(?:lib)?gazebo_yarp_(?P<old>\w+?)(?:\.so|\.dylib|\.dll)?|(?:lib)?gz-sim-yarp-(?P<new>\w+)-system(?:\.so)?"
)
OVERRIDDEN = ("plugin_name", "yarpDeviceName", "yarpRobotInterfaceName")
"""What an override names the plugins by that it changes."""
S = TypeVar("S", bound=SensorDescription)


def is_yarp_plugin(filename: str) -> bool:
    """Return whether a plugin is one of those that are read here."""
    return _match(filename) is not None


def _match(filename: str) -> re.Match[str] | None:
    return _PLUGIN.fullmatch(library_of(filename))


def kind_of(element: ET.Element) -> str:
    """Return the kind of a plugin in lower case, "" for one that is not read here."""
    match = _match(element.get("filename", ""))
    return (match["old"] or match["new"] or "").lower() if match is not None else ""


@dataclass(slots=True)
class Plugin:
    """One plugin element."""

    element: ET.Element
    """The element."""
    kind: str
    """Its kind, as `kind_of` has it."""
    name: str
    """Its name, for messages."""
    sensor: str
    """Name of the sensor element that it is in, or ""."""
    link: str
    """Link or joint that the sensor stands on, or the link of the visual, or ""."""
    visual: str | None = None
    """Name of the visual element that it is in, "" for one without a name; None for none."""
    models: tuple[ET.Element, ...] = ()
    """The models that it is in, the innermost first; the ``<robot>`` of a URDF."""


@dataclass(slots=True)
class Pending:
    """A server in front of a device, whose targets are known when everything is read."""

    kind: str
    """Type of the server."""
    params: Group
    """Its configuration."""
    name: str
    """Its name."""
    targets: list[tuple[str, str]]
    """Network and name of each device behind it."""


class PluginReader:
    """The devices, boards and servers of one description, as its plugins are read one after the other."""

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
        self.found = WingTags(selects=True)
        self.hardware = Hardware()
        self.pending: list[Pending] = []
        self.interfaces: list[RobotInterface] = []
        self.problems: list[Problem] = []
        self.overrides: list[tuple[ET.Element, dict[str, str], dict[str, str]]] = []
        """Model of a plugin that overrides others, the attributes that say which, and the tags."""
        self.robot = ""

    def plugins(self) -> Iterable[Plugin]:
        """Yield the plugins that are read here, in the order of the file."""
        parents = {child: parent for parent in self.root.iter() for child in parent}
        for element in self.root.iter("plugin"):
            kind = kind_of(element)
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
            models = []
            while above is not None:
                if above.tag in ("model", "robot"):
                    models.append(above)
                above = parents.get(above)
            models = models or [self.root]
            yield Plugin(element, kind, element.get("name", "") or kind, sensor, link, visual, tuple(models))

    def joints_of(self, plugin: Plugin) -> dict[str, str]:
        """Return the type of each joint of the model that a plugin is in, and of the models inside it."""
        own = {joint.get("name", "") for joint in plugin.models[0].iter("joint")}
        return {name: kind for name, kind in self.joints.items() if name in own}

    def model_name(self, plugin: Plugin) -> str:
        """Return the name of the outermost model that a plugin is in."""
        return plugin.models[-1].get("name", "")

    def place(self, plugin: Plugin) -> str:
        return place_of(plugin.element, self.file)

    def fault(self, plugin: Plugin, message: str, field_name: str | None = None) -> ModelError:
        return ModelError(
            f"plugin {plugin.name!r} ({plugin.kind}): {message}", file=self.home(plugin),
            line=line_of(plugin.element), field=field_name,
        )  # fmt: skip

    def home(self, plugin: Plugin) -> str | Path | None:
        """Return the file that a plugin stands in."""
        return file_of(plugin.element, self.file)

    def skip(self, plugin: Plugin, message: str, hint: str = "", severity: Severity = "warning") -> None:
        """Report a plugin that is left out."""
        subject = plugin.sensor or plugin.name
        self.problems.append(
            Problem(
                severity, subject, f"{self.place(plugin)}the YARP plugin {plugin.kind} is left out: {message}", hint
            )
        )

    def override(self, plugin: Plugin) -> None:
        """Note what a plugin sets in place of the tags of others: by their name, device or (all) robot interfaces."""
        for element in plugin.element.findall("yarpPluginConfigurationOverride"):
            target = {key: element.get(key, "") for key in OVERRIDDEN if element.get(key)}
            if len(target) != 1:
                valid = " or ".join(OVERRIDDEN)
                raise self.fault(plugin, f"<yarpPluginConfigurationOverride> must have one of {valid}", "plugin_name")
            inside = [*element, *(e for e in plugin.element if e.tag != "yarpPluginConfigurationOverride")]
            changes = {child.tag: (child.text or "").strip() for child in inside}
            self.overrides.append((plugin.models[0], target, changes))

    def tag(self, plugin: Plugin, name: str, device: str = "") -> str:
        """Return the text of a tag of a plugin, or what overrides it; the override of the outermost model wins."""
        own = {"plugin_name": plugin.element.get("name", ""), "yarpDeviceName": device}
        if plugin.kind == "robotinterface":
            own["yarpRobotInterfaceName"] = "all"
        for model in reversed(plugin.models):
            for place, target, changes in self.overrides:
                if place is model and name in changes and all(own.get(k) == v for k, v in target.items()):
                    return changes[name]
        node = plugin.element.find(name)
        return "" if node is None else (node.text or "").strip()

    def resource(self, plugin: Plugin, tag: str) -> Path | None:
        """Return the file that a tag names; None with a problem where it does not exist."""
        address = self.tag(plugin, tag)
        try:
            path, searched = find_resource(address, self.home(plugin), self.package_paths)
        except ModelError as error:
            raise self.fault(plugin, f"<{tag}>: {error.message}", tag) from error
        if path is None:
            where = ", ".join(searched) or "nowhere"
            self.skip(
                plugin, f"its file {address!r} is not found; searched: {where}", "name the folder in package_paths"
            )
        return path

    def config(self, plugin: Plugin) -> Group | None:
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

    def _from_string(self, plugin: Plugin, text: str) -> Group:
        line = line_of(plugin.element)
        config = Group(file=self.home(plugin), line=line)
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
            config.entries[item[0]] = Entry(tuple(item[1:]), self.home(plugin), line)
        return config

    def common(self, plugin: Plugin, config: Group, default: str) -> Place:
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

    def put(self, device: YarpDevice) -> None:
        """Add a device without servers of its own."""
        self.hardware.devices[device.name] = device

    def add(self, plugin: Plugin, config: Group, name: str, kind: type[YarpDevice], **fields: object) -> None:
        """Add a device under its configured name, else this one, and the servers that its configuration asks for."""
        device = kind(**self.common(plugin, config, name), **fields)
        self.put(device)
        if config.flag("disableImplicitNetworkWrapper"):
            return
        for params in (config, config.group("WRAPPER"), config.group("ADDITIONAL_WRAPPER")):
            if params is not None and params.has("device") and params.has("name"):
                server = params.text("device")
                if is_server(server):
                    suffix = f"/{params.name.lower()}" if params.name else "/server"
                    self.pending.append(Pending(server, params, device.name + suffix, [("", device.name)]))
                elif params is not config:
                    raise params.fault(f"device is {server!r}, which is no server", "device")

    def sensor(self, plugin: Plugin, config: Group | None, kind: type[S]) -> S | None:
        """Return the described sensor that a plugin means; None with a problem where there is none."""
        wanted = plugin.sensor or (config.text("sensorName", "") if config is not None else "")
        if not wanted:
            raise self.fault(plugin, "it is in no <sensor> and has no 'sensorName'; must name its sensor", "sensorName")
        place = plugin.link
        if config is not None and not plugin.sensor:
            place = config.text("parentLinkName", config.text("jointName", ""))
        return self.described(plugin, wanted, place, kind)

    def described(self, plugin: Plugin, wanted: str, place: str, kind: type[S]) -> S | None:
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
        found = next((element for element in self.root.iter("joint") if element.get("name") == joint), None)
        return "" if found is None else link_of(found, "child")

    def link(self, plugin: Plugin, group: Group, key: str) -> str:
        """Return a link that a key names, scoped or not."""
        name = group.text(key)
        plain = name.rpartition("::")[2]
        own = [link.get("name", "") for link in plugin.models[0].iter("link")]
        for links in (own, self.links):
            for candidate in (name, plain):
                if candidate in links:
                    return candidate
            ends = [link for link in links if link.endswith(f"::{plain}")]
            if len(ends) == 1:
                return ends[0]
        raise group.fault(f"{key} is {name!r}, which is no link of the robot; {nearest(plain, self.links)}", key)

"""Read robot interfaces: the XML files that say which devices YARP opens and which is attached to which.

::

    <robot name="sim" build="1" portprefix="/sim" xmlns:xi="http://www.w3.org/2001/XInclude">
      <devices>
        <xi:include href="leg.xml" />
        <device name="leg_nws" type="controlBoard_nws_yarp">
          <param name="name"> ${portprefix}/leg </param>
          <action phase="startup" level="10" type="attach"> <param name="device"> leg_remapper </param> </action>
        </device>
      </devices>
    </robot>

Parameters are the same keys with values as those of an ``.ini`` file, so they are read into the same `Group`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pliant.base.documents.files import is_file, read_file
from pliant.base.documents.xml_tree import Node, parse_xml
from pliant.base.errors import ModelError, WireError, nearest
from pliant.yarp.formats.includes import MAX_INCLUDE_DEPTH, entered, missing, through
from pliant.yarp.formats.ini import Entry, Group, Item, parse_list

__all__ = ["Action", "InterfaceDevice", "RobotInterface", "read_robot_interface"]

PHASES = ("startup", "run", "interrupt1", "interrupt2", "interrupt3", "shutdown")
ACTIONS = ("configure", "calibrate", "attach", "abort", "detach", "park", "custom")
CONTAINERS = ("devices", "params", "actions")
MAX_INCLUDES = 500
"""Most files that one robot interface includes. # assumed: a real robot has about 100"""
MAX_DEVICES = 10_000
"""Most devices of a robot. # assumed"""

_VARIABLE = re.compile(r"\$\{([^${}]*)\}")


@dataclass(slots=True, kw_only=True)
class Action:
    """Something that is done to a device in a phase of the robot's life."""

    phase: str
    """One of `PHASES`."""
    level: int
    """Order within the phase, from low to high."""
    type: str
    """One of `ACTIONS`."""
    params: Group
    """Its parameters."""


@dataclass(slots=True, kw_only=True)
class InterfaceDevice:
    """One device that YARP opens."""

    name: str
    """Its name."""
    type: str
    """Its kind, such as "controlboardremapper"."""
    params: Group
    """Its parameters."""
    actions: list[Action] = field(default_factory=list)
    """Actions on the device."""
    file: str | Path | None = None
    """File that it stands in."""
    line: int | None = None
    """Line in that file."""

    def attachment(self) -> Action | None:
        """Return the action that attaches it at the start, or None."""
        return next((a for a in self.actions if a.phase == "startup" and a.type == "attach"), None)

    def targets(self) -> list[tuple[str, str]]:
        """Return (network, device) for all that it is attached to; the network is "" where only a device is named.

        Raises:
            ModelError: the action names neither a device nor networks.
        """
        action = self.attachment()
        if action is None:
            return []
        params = action.params
        if params.has("networks"):
            return [(network, params.text(network)) for network in params.words("networks")]
        if params.has("device"):
            return [("", params.text("device"))]
        if params.has("all"):
            return [(network, params.text("all")) for network in self.params.words("networks")] or [
                ("", params.text("all"))
            ]
        raise params.fault("the attach action names nothing; must have a param 'device', or a paramlist 'networks'")


@dataclass(slots=True, kw_only=True)
class RobotInterface:
    """A robot interface."""

    name: str
    """Name of the robot."""
    port_prefix: str
    """Value of ``${portprefix}``."""
    params: Group
    """Parameters of the robot itself."""
    devices: list[InterfaceDevice]
    """Its devices, in the order of the files."""
    file: str | Path | None = None
    """File that it was read from."""


def read_robot_interface(
    path: str | Path,
    *,
    port_prefix: str | None = None,
    enabled: Iterable[str] = (),
    disabled: Iterable[str] = (),
    variables: Mapping[str, str] | None = None,
) -> RobotInterface:
    """Read a robot interface and the files that it includes.

    Args:
        path: the file, with a ``<robot>``.
        port_prefix: what ``${portprefix}`` stands for; None takes the robot's attribute.
        enabled: tags that are enabled, for ``enabled_by`` and ``disabled_by``.
        disabled: tags that are taken out of those again.
        variables: values of ``extern-name`` attributes and of further ``${name}``.

    Raises:
        ModelError: a file cannot be read, or an element is wrong; the message has file and line, and for an included
            file the chain of includes.
    """
    path = Path(path)
    root = _parse(path, ())
    if root.tag != "robot":
        raise ModelError(f"the root element is <{root.tag}>; must be <robot>", file=path, line=root.line)
    if not len(root):
        raise ModelError("the robot interface is empty; must have <devices>", file=path, line=root.line)
    prefix = port_prefix if port_prefix is not None else root.get("portprefix", "")
    reader = _Reader(set(enabled) - set(disabled), {**(variables or {}), "portprefix": prefix.strip()})
    name = _attribute(root, "name", "the robot", path)
    robot = RobotInterface(
        name=name,
        port_prefix=prefix.strip(),
        params=Group(file=path, line=root.line, who=f"robot {name!r}"),
        devices=reader.devices,
        file=path,
    )
    reader.robot(root, path, (), robot)
    return robot


class _Reader:
    """Walk one tree and what it includes."""

    def __init__(self, enabled: set[str], variables: dict[str, str]) -> None:
        self.enabled = enabled
        self.variables = variables
        self.devices: list[InterfaceDevice] = []
        self.seen: dict[str, InterfaceDevice] = {}
        self.files = 0

    def children(
        self, element: Node, file: Path, chain: tuple[str, ...]
    ) -> Iterable[tuple[Node, Path, tuple[str, ...]]]:
        """Yield the elements within one: includes are replaced by what they name, containers by what they hold."""
        for child in element:
            assert isinstance(child, Node)
            local = child.tag.rpartition(":")[2]
            if not self._wanted(child, file):
                continue
            if local == "include" and ":" in child.tag:
                yield from self._include(child, file, chain)
            elif child.tag in CONTAINERS:
                yield from self.children(child, file, chain)
            else:
                yield child, file, chain

    def _wanted(self, element: Node, file: Path) -> bool:
        def tags(attribute: str) -> set[str]:
            values = self._list(element.get(attribute, ""), element, file)
            flat = values[0] if len(values) == 1 and isinstance(values[0], tuple) else values
            return {str(v) for v in flat}

        needed, against = tags("enabled_by"), tags("disabled_by")
        return (not needed or bool(needed & self.enabled)) and not (against & self.enabled)

    def _include(
        self, element: Node, file: Path, chain: tuple[str, ...]
    ) -> Iterable[tuple[Node, Path, tuple[str, ...]]]:
        href = element.get("href", "").strip()
        if not href:
            raise _fault("<xi:include> has no href", element, file, "href")
        for attribute, valid in (("parse", ("", "xml")), ("xpointer", ("",))):
            if element.get(attribute, "") not in valid:
                raise _fault(
                    f"<xi:include {attribute}={element.get(attribute)!r}> is not read; must be a whole XML file",
                    element,
                    file,
                    attribute,
                )
        target = file.parent / self._expand(href, element, file)
        self.files += 1
        if self.files > MAX_INCLUDES or len(chain) >= MAX_INCLUDE_DEPTH:
            raise _fault(
                f"includes are more than {MAX_INCLUDES} or nested more than {MAX_INCLUDE_DEPTH} deep", element, file
            )
        places = entered(target, file, element.line, chain)
        if not is_file(target):
            fallback = next((c for c in element if c.tag.rpartition(":")[2] == "fallback"), None)
            if not isinstance(fallback, Node):
                raise missing(target, file, element.line, chain, "href")
            yield from self.children(fallback, file, chain)
            return
        root = _parse(target, places)
        if not self._wanted(root, target):
            return
        if root.tag in CONTAINERS or root.tag == "robot":
            yield from self.children(root, target, places)
        else:
            yield root, target, places

    def robot(self, root: Node, file: Path, chain: tuple[str, ...], robot: RobotInterface) -> None:
        for child, path, places in self.children(root, file, chain):
            if child.tag == "device":
                self.device(child, path, places)
            else:
                self.param(child, path, places, robot.params, ("device",))

    def device(self, element: Node, file: Path, chain: tuple[str, ...]) -> None:
        name = _attribute(element, "name", "a device", file)
        kind = _attribute(element, "type", f"device {name!r}", file)
        who = f"device {name!r} ({kind})"
        device = InterfaceDevice(
            name=name,
            type=kind,
            params=Group(file=file, line=element.line, who=who),
            file=file,
            line=element.line,
        )
        other = self.seen.setdefault(name, device)
        if other is not device:
            raise _fault(
                f"two devices are called {name!r}, the other in {other.file}:{other.line}", element, file, "name"
            )
        if len(self.devices) >= MAX_DEVICES:
            raise _fault(f"the robot has more than {MAX_DEVICES} devices", element, file)
        self.devices.append(device)
        for child, path, places in self.children(element, file, chain):
            if child.tag == "action":
                device.actions.append(self.action(child, path, places, who))
            else:
                self.param(child, path, places, device.params, ("action",))
        device.actions.sort(key=lambda a: (PHASES.index(a.phase), a.level))

    def action(self, element: Node, file: Path, chain: tuple[str, ...], who: str) -> Action:
        found = {}
        for attribute, valid in (("phase", PHASES), ("type", ACTIONS)):
            value = _attribute(element, attribute, f"{who}: an action", file)
            if value not in valid:
                raise _fault(
                    f"{who}: the {attribute} of an action is {value!r}; {nearest(value, valid)}",
                    element,
                    file,
                    attribute,
                )
            found[attribute] = value
        level = _attribute(element, "level", f"{who}: an action", file)
        if not re.fullmatch(r"\s*\d{1,9}\s*", level):
            raise _fault(
                f"{who}: the level of an action is {level!r}; must be a whole number >= 0", element, file, "level"
            )
        params = Group(file=file, line=element.line, who=who)
        for child, path, places in self.children(element, file, chain):
            self.param(child, path, places, params, ())
        return Action(phase=found["phase"], level=int(level), type=found["type"], params=params)

    def param(self, element: Node, file: Path, chain: tuple[str, ...], into: Group, further: tuple[str, ...]) -> None:
        """Read a <param>, <paramlist> or <group>."""
        valid = ("param", "paramlist", "group", *further)
        if element.tag not in ("param", "paramlist", "group"):
            raise _fault(
                f"{into.who}: <{element.tag}> has no place here; {nearest(element.tag, valid)}",
                element,
                file,
                element.tag,
            )
        name = _attribute(element, "name", f"{into.who}: a <{element.tag}>", file)
        if element.tag == "group":
            group = into.groups.setdefault(name, Group(name=name, file=file, line=element.line, who=into.who))
            for child, path, places in self.children(element, file, chain):
                self.param(child, path, places, group, ())
            return
        if element.tag == "param":
            external = element.get("extern-name", element.get("extern_name", ""))
            text = self.variables.get(external, element.text or "") if external else element.text or ""
            into.entries[name] = Entry(self._list(text, element, file), file, element.line)
            return
        names = []
        for child, path, _ in self.children(element, file, chain):
            if child.tag != "elem":
                raise _fault(
                    f"{into.who}: <{child.tag}> has no place in a <paramlist>; must be <elem>", child, path, child.tag
                )
            key = _attribute(child, "name", f"{into.who}: an <elem>", path)
            names.append(key)
            into.entries[key] = Entry(self._list(child.text or "", child, path), path, child.line)
        into.entries[name] = Entry(tuple(names), file, element.line)

    def _list(self, text: str, element: Node, file: Path) -> tuple[Item, ...]:
        try:
            return parse_list(self._expand(text, element, file))
        except WireError as error:
            raise _fault(f"<{element.tag}>: {error.message}", element, file) from error

    def _expand(self, text: str, element: Node, file: Path) -> str:
        def value(match: re.Match[str]) -> str:
            if match[1] not in self.variables:
                raise _fault(
                    f"${{{match[1]}}} is not defined; {nearest(match[1], self.variables)}", element, file, match[1]
                )
            return self.variables[match[1]]

        return _VARIABLE.sub(value, text)


def _fault(message: str, element: Node, file: Path, field: str | None = None) -> ModelError:
    return ModelError(message, file=file, line=element.line, field=field)


def _parse(path: Path, chain: tuple[str, ...]) -> Node:
    try:
        return parse_xml(read_file(path), path, doctype=True)
    except ModelError as error:
        if not chain:
            raise
        raise ModelError(f"{error.message}{through(chain)}", file=error.file, line=error.line) from error


def _attribute(element: Node, name: str, who: str, file: Path) -> str:
    value = element.get(name, "").strip()
    if not value:
        raise _fault(f"{who} has no {name}", element, file, name)
    return value

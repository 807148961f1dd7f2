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
from typing import NamedTuple

from pliant.base.documents.files import is_file, read_file
from pliant.base.documents.includes import MAX_INCLUDE_DEPTH, entered, missing, through
from pliant.base.documents.xml_tree import Node, parse_xml
from pliant.base.errors import ModelError, WireError, nearest
from pliant.gazebo_yarp.ini import Entry, Group, Item, parse_list

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
    at = _At(root, path, ())
    if root.tag != "robot":
        raise at.fault(f"the root element is <{root.tag}>; must be <robot>")
    if not len(root):
        raise at.fault("the robot interface is empty; must have <devices>")
    prefix = port_prefix if port_prefix is not None else root.get("portprefix", "")
    own = {"portprefix": prefix.strip(), "portprefixnoslash": prefix.strip().lstrip("/")}
    reader = _Reader(set(enabled), set(disabled), {**(variables or {}), **own})
    name = at.attribute("name", "the robot")
    robot = RobotInterface(
        name=name,
        port_prefix=prefix.strip(),
        params=at.group(f"robot {name!r}"),
        devices=reader.devices,
        file=path,
    )
    reader.robot(at, robot)
    return robot


class _At(NamedTuple):
    """An element, and where it stands."""

    element: Node
    file: Path
    chain: tuple[str, ...]
    """The files that include its file."""

    def fault(self, message: str, field: str | None = None) -> ModelError:
        """Return an error at the element."""
        return ModelError(message, file=self.file, line=self.element.line, field=field)

    def attribute(self, name: str, who: str) -> str:
        """Return an attribute that must be there."""
        value = self.element.get(name, "").strip()
        if not value:
            raise self.fault(f"{who} has no {name}", name)
        return value

    def group(self, who: str, name: str = "") -> Group:
        """Return an empty group that begins here."""
        return Group(name=name, file=self.file, line=self.element.line, who=who)


class _Reader:
    """Walk one tree and what it includes."""

    def __init__(self, enabled: set[str], disabled: set[str], variables: dict[str, str]) -> None:
        self.enabled = enabled
        self.disabled = disabled
        self.variables = variables
        self.devices: list[InterfaceDevice] = []
        self.seen: dict[str, InterfaceDevice] = {}
        self.files = 0

    def children(self, at: _At) -> Iterable[_At]:
        """Yield the elements within one: includes are replaced by what they name, containers by what they hold."""
        for child in at.element:
            assert isinstance(child, Node)
            inner = at._replace(element=child)
            if not self._wanted(inner):
                continue
            if child.tag.endswith(":include"):
                yield from self._include(inner)
            elif child.tag in CONTAINERS:
                yield from self.children(inner)
            else:
                yield inner

    def _wanted(self, at: _At) -> bool:
        def tags(attribute: str) -> set[str]:
            values = self._list(at.element.get(attribute, ""), at)
            flat = values[0] if len(values) == 1 and isinstance(values[0], tuple) else values
            return {str(v) for v in flat}

        needed, against = tags("enabled_by"), tags("disabled_by")
        enabled = self.enabled - self.disabled
        return (not needed or bool(needed & enabled)) and not (against & (self.disabled | self.enabled))

    def _include(self, at: _At) -> Iterable[_At]:
        element, file, chain = at
        href = at.attribute("href", "<xi:include>")
        for attribute, valid in (("parse", ("", "xml")), ("xpointer", ("",))):
            if element.get(attribute, "") not in valid:
                shown = f"<xi:include {attribute}={element.get(attribute)!r}>"
                raise at.fault(f"{shown} is not read; must be a whole XML file", attribute)
        target = file.parent / self._expand(href, at)
        self.files += 1
        if self.files > MAX_INCLUDES or len(chain) >= MAX_INCLUDE_DEPTH:
            raise at.fault(f"includes are more than {MAX_INCLUDES} or nested more than {MAX_INCLUDE_DEPTH} deep")
        places = entered(target, file, element.line, chain)
        if not is_file(target):
            fallback = next((c for c in element if c.tag.rpartition(":")[2] == "fallback"), None)
            if not isinstance(fallback, Node):
                raise missing(target, file, element.line, chain, "href")
            yield from self.children(at._replace(element=fallback))
            return
        inner = _At(_parse(target, places), target, places)
        if not self._wanted(inner):
            return
        if inner.element.tag in CONTAINERS or inner.element.tag == "robot":
            yield from self.children(inner)
        else:
            yield inner

    def robot(self, at: _At, robot: RobotInterface) -> None:
        for child in self.children(at):
            if child.element.tag == "device":
                self.device(child)
            else:
                self.param(child, robot.params, ("device",))

    def device(self, at: _At) -> None:
        name = at.attribute("name", "a device")
        kind = at.attribute("type", f"device {name!r}")
        who = f"device {name!r} ({kind})"
        device = InterfaceDevice(name=name, type=kind, params=at.group(who), file=at.file, line=at.element.line)
        other = self.seen.setdefault(name, device)
        if other is not device:
            raise at.fault(f"two devices are called {name!r}, the other in {other.file}:{other.line}", "name")
        if len(self.devices) >= MAX_DEVICES:
            raise at.fault(f"the robot has more than {MAX_DEVICES} devices")
        self.devices.append(device)
        for child in self.children(at):
            if child.element.tag == "action":
                device.actions.append(self.action(child, who))
            else:
                self.param(child, device.params, ("action",))
        device.actions.sort(key=lambda a: (PHASES.index(a.phase), a.level))

    def action(self, at: _At, who: str) -> Action:
        found = {}
        for attribute, valid in (("phase", PHASES), ("type", ACTIONS)):
            value = at.attribute(attribute, f"{who}: an action")
            if value not in valid:
                why = f"{who}: the {attribute} of an action is {value!r}; {nearest(value, valid)}"
                raise at.fault(why, attribute)
            found[attribute] = value
        level = at.attribute("level", f"{who}: an action")
        if not re.fullmatch(r"\s*\d{1,9}\s*", level):
            raise at.fault(f"{who}: the level of an action is {level!r}; must be a whole number >= 0", "level")
        params = at.group(who)
        for child in self.children(at):
            self.param(child, params, ())
        return Action(phase=found["phase"], level=int(level), type=found["type"], params=params)

    def param(self, at: _At, into: Group, further: tuple[str, ...]) -> None:
        """Read a <param>, <paramlist> or <group>."""
        element, file, _ = at
        valid = ("param", "paramlist", "group", *further)
        if element.tag not in ("param", "paramlist", "group"):
            why = f"{into.who}: <{element.tag}> has no place here; {nearest(element.tag, valid)}"
            raise at.fault(why, element.tag)
        name = at.attribute("name", f"{into.who}: a <{element.tag}>")
        if element.tag == "group":
            group = into.groups.setdefault(name, at.group(into.who, name))
            for child in self.children(at):
                self.param(child, group, ())
            return
        if element.tag == "param":
            external = element.get("extern-name", element.get("extern_name", ""))
            text = self.variables.get(external, element.text or "") if external else element.text or ""
            into.entries[name] = Entry(self._list(text, at), file, element.line)
            return
        names = []
        for inner in self.children(at):
            child = inner.element
            if child.tag != "elem":
                raise inner.fault(f"{into.who}: <{child.tag}> has no place in a <paramlist>; must be <elem>", child.tag)
            key = inner.attribute("name", f"{into.who}: an <elem>")
            names.append(key)
            into.entries[key] = Entry(self._list(child.text or "", inner), inner.file, child.line)
        into.entries[name] = Entry(tuple(names), file, element.line)

    def _list(self, text: str, at: _At) -> tuple[Item, ...]:
        try:
            return parse_list(self._expand(text, at))
        except WireError as error:
            raise at.fault(f"<{at.element.tag}>: {error.message}") from error

    def _expand(self, text: str, at: _At) -> str:
        def value(match: re.Match[str]) -> str:
            if match[1] not in self.variables:
                raise at.fault(f"${{{match[1]}}} is not defined; {nearest(match[1], self.variables)}", match[1])
            return self.variables[match[1]]

        return _VARIABLE.sub(value, text)


def _parse(path: Path, chain: tuple[str, ...]) -> Node:
    try:
        return parse_xml(read_file(path), path, doctype=True)
    except ModelError as error:
        if not chain:
            raise
        raise ModelError(f"{error.message}{through(chain)}", file=error.file, line=error.line) from error

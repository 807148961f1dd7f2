"""Read the plugin tags of gazebo-yarp-plugins and gz-sim-yarp-plugins in URDF and SDF.

Both families are read: ``libgazebo_yarp_NAME.so`` at the model or inside a sensor, and ``gz-sim-yarp-NAME-system`` at
the model. Their configuration files are found like meshes. A plugin whose file is missing is reported and left out, as
Gazebo would do; a file that is wrong is refused.
"""

from __future__ import annotations

import dataclasses
import functools
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pliant.base.errors import nearest
from pliant.control_boards.description import ControlBoard
from pliant.formats.source import Draft, TagReader, WingTags
from pliant.gazebo_yarp.plugin_kinds import READERS, UNSERVED
from pliant.gazebo_yarp.plugin_reader import PluginReader, is_yarp_plugin, kind_of
from pliant.gazebo_yarp.servers import Servers
from pliant.gazebo_yarp.textures import place_textures
from pliant.model.interface import DescribedDevice
from pliant.model.problem import Problem
from pliant.model.sensors import SensorDescription
from pliant.yarp.model.services import (
    AxisReference,
    ControlBoardServer,
    LinkAttacher,
    WorldInterface,
    YarpDevice,
    YarpInterface,
)


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
    if not any(kind_of(element) for element in root.iter("plugin")):
        return WingTags()
    return _read(PluginReader(root, joints, sensors, file, [str(p) for p in package_paths]))


def _read(reader: PluginReader) -> WingTags:
    """Read the plugins, then the servers, then give the boards the names of the parts that they are."""
    plugins = list(reader.plugins())
    for plugin in plugins:
        if plugin.kind == "configurationoverride":
            reader.override(plugin)
    for plugin in plugins:
        read = READERS.get(plugin.kind)
        if read is not None:
            read(reader, plugin)
        elif plugin.kind in UNSERVED:
            severity, why = UNSERVED[plugin.kind]
            reader.problems.append(Problem(severity, plugin.name, f"{reader.place(plugin)}{plugin.kind}: {why}"))
        elif plugin.kind != "configurationoverride":
            reader.skip(plugin, f"there is no YARP plugin {plugin.kind!r}", nearest(plugin.kind, [*READERS, *UNSERVED]))
    parts = _world(reader)
    servers = Servers(reader.hardware)
    for pending in reader.pending:
        servers.add(pending.kind, pending.params, pending.name, pending.targets)
    for interface in reader.interfaces:
        servers.add_interface(interface)
        reader.robot = interface.port_prefix.strip("/") or reader.robot
    boards = [configuration.board for configuration in reader.hardware.boards.values()]
    renamed = _part_names(reader, boards, servers.found)
    boards = [dataclasses.replace(b, name=renamed.get(b.name, b.name)) for b in boards]
    reader.found.devices = [*boards, *parts]
    for board in boards:
        reader.found.initial.update(zip(board.joints, board.initial_positions, strict=False))
    known = {*renamed.values(), *renamed}
    problems = [
        dataclasses.replace(p, subject=renamed.get(p.subject, p.subject)) if p.subject in known else p
        for p in (*reader.problems, *servers.problems)
    ]
    reader.found.complete = functools.partial(_complete, reader.found)
    reader.found.extension = YarpInterface(
        robot=reader.robot,
        devices=tuple(reader.hardware.devices.values()),
        servers=tuple(_with_parts(s, renamed) for s in servers.found),
        problems=tuple(problems),
    )
    return reader.found


def _complete(found: WingTags, draft: Draft) -> None:
    """Add the textures of the visuals that show images of other programs."""
    if isinstance(found.extension, YarpInterface):
        found.extension, missing = place_textures(draft.spec, found.extension)
        draft.notes += missing


def _world(reader: PluginReader) -> list[DescribedDevice]:
    """Return the spare objects and ties that services of the robot need."""
    devices = reader.hardware.devices.values()
    attachers = [d for d in devices if isinstance(d, LinkAttacher)]
    objects: dict[str, Any] = {} if any(isinstance(d, WorldInterface) for d in devices) else {"objects": 0}
    if objects and not attachers:
        return []
    pairs = []
    for attacher in attachers:
        if attacher.joint_type == "revolute":
            reader.problems.append(Problem("warning", attacher.name, "revolute ties are fixed ones here"))
        for words in attacher.startup:
            pair = _startup(reader, words)
            if pair is None:
                message = f"[STARTUP] has {' '.join(words)!r}, which is left out"
                hint = "must be attachUnscoped MODEL LINK ROBOT LINK, of links of this model"
                reader.problems.append(Problem("warning", attacher.name, message, hint))
            else:
                pairs.append(pair)
    from pliant.objects import World

    ties = max(8, len(pairs))
    return [World(**objects, ties=ties, startup=tuple(pairs))]


def _startup(reader: PluginReader, words: tuple[str, ...]) -> tuple[str, str] | None:
    """Return the links that a request at the start ties together; None if it is another request."""
    if "attachUnscoped" not in words[:2]:
        return None
    given = words[words.index("attachUnscoped") + 1 :]
    if len(given) != 4:
        return None
    links = []
    for model, link in (given[:2], given[2:]):
        plain = "world" if model in ("world", "ground_plane") else link.rpartition("::")[2]
        if plain not in (*reader.links, "world"):
            return None
        links.append(plain)
    return (links[0], links[1]) if links[0] != links[1] else None


def _part_names(reader: PluginReader, boards: list[ControlBoard], servers: list[YarpDevice]) -> dict[str, str]:
    """Return the name of the part that a board is, where one server shows just its axes."""
    taken = {s.name for s in reader.sensors} | {b.name for b in boards} | {"board"}
    names: dict[str, str] = {}
    for board in boards:
        whole = [AxisReference(board.name, i) for i in range(len(board.axis_names))]
        parts = [s.port.rpartition("/")[2] for s in servers if isinstance(s, ControlBoardServer) and [*s.axes] == whole]
        if len(parts) == 1 and parts[0] and parts[0] not in taken:
            names[board.name] = parts[0]
            taken.add(parts[0])
    return names


def _with_parts(server: YarpDevice, names: Mapping[str, str]) -> YarpDevice:
    if not isinstance(server, ControlBoardServer):
        return server
    axes = tuple(AxisReference(names.get(a.board, a.board), a.index) for a in server.axes)
    return dataclasses.replace(server, axes=axes)


READER = TagReader(name="yarp", title="YARP", owns=is_yarp_plugin, read=read_yarp_tags)
"""Reader of the plugin tags of gazebo-yarp-plugins and gz-sim-yarp-plugins."""

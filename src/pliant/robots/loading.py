"""Load a robot from a file or, by name, from the catalogue."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pliant.base.documents.files import exists, open_file
from pliant.base.documents.yaml_tree import read_yaml
from pliant.base.errors import ModelError, nearest
from pliant.base.options import describe, parse_bool, parse_number
from pliant.base.wing import offers
from pliant.formats.manager import give_manager
from pliant.formats.mjcf import read_mjcf
from pliant.formats.robot_yaml import find_block, read_robot_yaml
from pliant.formats.source import Format, Source
from pliant.formats.urdf_robot import read_urdf
from pliant.model.robot import Robot

FORMATS = (
    Format(name="MJCF", read=read_mjcf, suffixes=(".xml", ".mjcf"), root="mujoco"),
    Format(name="URDF", read=read_urdf, suffixes=(".urdf", ".xml"), root="robot"),
    Format(name="YAML", read=read_robot_yaml, suffixes=(".yaml", ".yml", ".json")),
)
"""Formats of the core, tried after those that wings declare."""


def formats() -> tuple[Format, ...]:
    """Return the formats of robot descriptions, in the order in which they are tried."""
    return (*(offer.load() for offer in offers("formats")), *FORMATS)


def suffixes() -> tuple[str, ...]:
    """Return the suffixes of robot files."""
    return tuple(dict.fromkeys(suffix for found in (*FORMATS, *formats()) for suffix in found.suffixes))


def load(
    path_or_name: str | Path,
    *,
    timestep: float | None = None,
    manager: str | Path | None = None,
    package_paths: Sequence[str | Path] = (),
    allow_missing_meshes: bool = False,
    self_collision: bool | None = None,
    options: Mapping[str, Any] | None = None,
    **blocks: Mapping[str, object],
) -> Robot:
    """Read a robot from a file or build it from the catalogue.

    The root element determines the format of an XML file: ``<mujoco>``, ``<robot>`` (URDF), or that of a wing's format,
    such as ``<sdf>``. The plugin tags of the compliant-actuator toolbox in URDF and SDF become compliant actuators.
    Other plugins are listed in `Robot.notes`.

    Args:
        path_or_name: a file (.xml, .urdf, .sdf, .yaml, .json), a name in the catalogue (``pliant list``), or a
            folder of the Gazebo simulator for parallel robots.
        timestep: time step [s]; None uses the time step of the file, or 0.001 s if it has none.
        manager: the plugin manager file (YAML) of the toolbox that belongs to the robot.
        package_paths: folders that contain ROS packages, searched first for ``package://`` URIs.
        allow_missing_meshes: whether to omit collision meshes that are not found instead of raising an error.
        self_collision: whether the links of a URDF collide with each other; None for the behaviour of Gazebo.
        options: options of a catalogue robot (`pliant.robots`), or of a file whose format has options, by name;
            strings are converted.
        blocks: options of wings by the name of their block, as in a robot file, such as ``soft_feet={"bodies": ...}``.

    Returns:
        The robot.

    Raises:
        ModelError: there is no such file or name, or the description is not valid; the message names file, line and
            field.
        MissingDependency: an optional package is needed; the message contains the command that installs it.

    Example:
        >>> robot = pliant.load("arm.urdf", timestep=0.0005)
    """
    if timestep is not None:
        timestep = float(parse_number(timestep, "timestep"))
        if not 0.0 < timestep < math.inf:
            raise ModelError(f"timestep is {timestep:g}; must be > 0 s", field="timestep")
    known = [offer.key for offer in offers("blocks")]
    for name in blocks:
        if name not in known:
            raise ModelError(
                f"load has no argument {name!r}; an option of the robot is given as options={{{name!r}: ...}}, a block "
                f"of a wing must be one of {', '.join(known)}",
                field=name,
            )
    text = os.fspath(path_or_name)
    path = Path(text).expanduser()
    if not (path.suffix.lower() in suffixes() or os.sep in text or "/" in text or exists(path)):
        from pliant.robots import build_robot

        try:
            robot = build_robot(text, options or {})
        except ModelError as error:
            if not path.suffix or error.field != text:
                raise
            endings = f"; the file of a robot must be one of {', '.join(suffixes())}"
            raise ModelError(f"there is no file {text!r}{_similar_files(path) or endings}", file=text) from None
    else:
        if not exists(path):
            raise ModelError(f"there is no file {text!r}{_similar_files(path)}", file=text)
        robot = _from_file(path, package_paths, allow_missing_meshes, self_collision, options or {})
    if timestep is not None:
        robot.set("option.timestep", timestep)
    if manager is not None:
        give_manager(robot, read_yaml(manager))
    for name, settings in blocks.items():
        find_block(name).apply(robot, settings)
    return robot


READING_OPTIONS = ("allow_missing_meshes", "self_collision")
"""Arguments of `load` that ``--set robot.KEY`` sets for a file."""


def is_option_path(path: str) -> bool:
    """Return whether a path names an option that a robot is built with: ``robot.KEY``, or ``BLOCK.KEY`` of a wing."""
    head, _, key = path.partition(".")
    return bool(key) and (head == "robot" or head in _option_blocks())


def _option_blocks() -> set[str]:
    return {offer.key for offer in offers("blocks") if offer.load().settable}


def load_with_settings(path_or_name: str | Path, settings: Mapping[str, object], **how: Any) -> Robot:
    """Load a robot as `load` does and set its parameters by dotted path.

    Args:
        path_or_name: a file or a name in the catalogue.
        settings: values by path: ``robot.KEY`` for options of the robot or, of a file, one of `READING_OPTIONS`,
            ``BLOCK.KEY`` for options of wings, and the paths of `pliant.model.Robot.update`.
        how: further arguments of `load`.

    Raises:
        ModelError: as for `load` and `pliant.model.Robot.update`.
    """
    groups: dict[str, dict[str, Any]] = {"robot": {}}
    rest = {}
    for path, value in settings.items():
        head, _, key = path.partition(".")
        if is_option_path(path):
            groups.setdefault(head, {})[key] = value
        else:
            rest[path] = value
    blocks = {name: group for name, group in groups.items() if group and name != "robot"}
    for key in READING_OPTIONS:
        if key in groups["robot"] and exists(Path(path_or_name)):
            how[key] = parse_bool(groups["robot"].pop(key), f"robot.{key}")
    robot = load(path_or_name, options=groups["robot"], **blocks, **how)
    try:
        return robot.update(rest)
    except ModelError as error:
        mine = _option_names(path_or_name)
        taken = [path for path in rest if path.partition(".")[0] in mine]
        if not taken:
            raise
        raise ModelError(
            f"{error.message}. The robot has an option of this name: robot.{taken[0]}={rest[taken[0]]}",
            field=error.field,
        ) from None


def _option_names(path_or_name: str | Path) -> set[str]:
    """Return the names of the options of a robot of the catalogue; none for a file."""
    from pliant.robots import list_robots

    for entry in list_robots():
        if entry.name == os.fspath(path_or_name):
            return {info.name for info in describe(entry.options_class)}
    return set()


def _similar_files(path: Path) -> str:
    try:
        names = [p.name for p in path.parent.iterdir() if p.suffix.lower() in suffixes()]
    except OSError:
        return f"; there is no folder {str(path.parent)!r}"
    return f"; {nearest(path.name, names)}" if names else ""


def _check_is_text(path: Path) -> None:
    """Refuse a file with another suffix than that of a robot that does not begin as XML, such as a recording.

    Raises:
        ModelError: the message says what a robot is, and which command reads recordings.
    """
    if path.is_dir() or path.suffix.lower() in suffixes():
        return
    with open_file(path, max_bytes=None) as file:
        head = file.read(4096)
    if not head.lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n").startswith(b"<"):
        about = (
            "this is a recording and not a robot; `pliant replay` shows it"
            if path.suffix.lower() in (".mcap", ".bag", ".db3")
            else "this is not a robot"
        )
        raise ModelError(f"{about}; the file of a robot must be one of {', '.join(suffixes())}", file=path)


def _from_file(
    path: Path,
    package_paths: Sequence[str | Path],
    allow_missing_meshes: bool,
    self_collision: bool | None,
    options: Mapping[str, object],
) -> Robot:
    how: dict[str, Any] = {
        "package_paths": package_paths,
        "allow_missing_meshes": allow_missing_meshes,
        "self_collision": self_collision,
    }
    source = Source(path=path, load=functools.partial(load, **how), options=options, **how)
    _check_is_text(path)
    is_yaml = path.is_dir() or any(path.suffix.lower() in f.suffixes for f in formats() if not f.root)
    candidates = [f for f in formats() if bool(f.root) != is_yaml]
    for found in candidates:
        if found.matches(source):
            if options and not found.has_options:
                others = [f"{other.name}s" for other in formats() if other.has_options]
                raise ModelError(
                    f"{str(path)!r} has no options ({', '.join(options)}); "
                    f"{' and '.join(['robots of the catalogue', *others])} have",
                    file=path,
                )
            return found.read(source)
    if path.is_dir():
        files = ", ".join(f.folder for f in candidates if f.folder)
        raise ModelError(f"this is a folder and not a robot; name a file, or a folder with {files}", file=path)
    named = [f for f in dict.fromkeys((*FORMATS, *formats())) if f in candidates]
    roots = ", ".join(f"<{f.root}> ({f.name})" for f in named)
    raise ModelError(
        f"the root element is <{source.root.tag}>; must be one of {roots}", file=path, line=source.root.line
    )

"""Robots and recordings in files that a browser gives: one file, or a zip archive with a robot and its meshes.

The files lie in a folder of their own, which goes when the page no longer offers what was in it.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
import zipfile
from collections.abc import Collection
from pathlib import Path, PurePosixPath

from pliant.base.documents.files import read_file
from pliant.base.errors import PliantError
from pliant.formats.source import Source
from pliant.page.loaded import Opened, OpenedRecording
from pliant.page.panels import OpenedRobot
from pliant.page.uploads import MAX_DROPPED_BYTES
from pliant.robots.loading import formats, load, suffixes

MAX_EXPANDED_BYTES = 256 << 20
"""Largest size of all files of an archive together [bytes]."""
MAX_FILES = 2000
"""Most files in an archive, and most references of a description that are looked at."""
MAX_ROBOTS = 8
"""Most robots of an archive that the page offers."""
RECORDING_SUFFIX = ".mcap"
DATA_SUFFIXES = (".yaml", ".yml", ".json")
"""Of robots that name no meshes themselves."""
REMEDIES = {
    ".bag": "`pliant replay FILE` summarises and publishes a bag",
    ".db3": "`pliant replay FILE` summarises and publishes a bag",
    ".xacro": "write the URDF with `xacro FILE > robot.urdf` and open that",
    ".csv": "`pliant run ROBOT --command FILE --view` plays a table of commands",
    ".npz": "`pliant replay FILE` shows the dump of a simulation that diverged",
    ".py": "`pliant view ROBOT --import FILE` loads robots and laws of your own",
    ".stl": "open it together with the description of the robot",
    ".obj": "open it together with the description of the robot",
    ".dae": "open it together with the description of the robot",
}
"""What to do with files that cannot be opened on the page, by suffix."""
_REFERENCE = re.compile(rb"(?:filename|file|uri)\s*=\s*[\"']([^\"']+)[\"']|<uri>([^<]+)</uri>")
_FOLDER = re.compile(rb"(?:meshdir|texturedir|assetdir)\s*=\s*[\"']([^\"']+)[\"']")
_INCLUDE = re.compile(rb"<include[^<>]*\sfile\s*=\s*[\"']([^\"']+)[\"']")


def open_dropped(data: bytes, name: str, taken: Collection[str] = ()) -> list[Opened]:
    """Return the robots or the recording of a file, the one to be shown first at the front; it is loaded once.

    Args:
        data: content of the file.
        name: its name; an archive ends in .zip.
        taken: names that a robot may not have; it then gets another one.

    Raises:
        PliantError: the file is too large, holds neither a robot nor a recording, or one that cannot be loaded; the
            message says which command opens it, if one does.
    """
    name = plain_file_name(name)
    if len(data) > MAX_DROPPED_BYTES:
        raise PliantError(f"the file has {len(data)} bytes; must be at most {MAX_DROPPED_BYTES}", file=name)
    folder = tempfile.TemporaryDirectory(prefix="pliant-page-", ignore_cleanup_errors=True)
    root = Path(folder.name).resolve()
    try:
        archive = name.lower().endswith(".zip")
        if archive:
            _unpack(data, root, name)
        else:
            (root / name).write_bytes(data)
        return _opened(root, folder, name, archive, taken)
    except PliantError as error:
        folder.cleanup()
        raise _without(root, name, error) from error
    except OSError as error:
        folder.cleanup()
        raise PliantError(f"the file cannot be kept: {error.strerror or error}", file=name) from error


def plain_file_name(name: str) -> str:
    """Return the last part of a file's name, of printable characters."""
    last = PurePosixPath(name.replace("\\", "/")).name
    return "".join(c if c.isprintable() else "?" for c in last)[-120:] or "file"


def _without(root: Path, name: str, error: PliantError) -> PliantError:
    """Return an error in the words of the person who gave the file: without the folder in which it lies."""
    text = str(error).replace(f"{root}{os.sep}", "").replace(str(root), "the files that were dropped")
    if "is not found" in text and not name.lower().endswith(".zip"):
        text = f"{text.partition('; searched:')[0]}; drop the robot together with its meshes: several files, their "
        text += "folder, or a .zip of it"
    return PliantError(text if name in text else f"{name}: {text}")


def _unpack(data: bytes, root: Path, name: str) -> None:
    """Write the files of an archive into a folder.

    Raises:
        PliantError: it is no archive, or one that is too large, or that leaves the folder.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = [info for info in archive.infolist() if not info.is_dir()]
            if len(files) > MAX_FILES:
                raise PliantError(f"the archive has {len(files)} files; must be at most {MAX_FILES}", file=name)
            left = MAX_EXPANDED_BYTES
            for info in files:
                place = (root / info.filename).resolve()
                if not place.is_relative_to(root):
                    raise PliantError(f"the archive holds {info.filename!r}, outside of its own folder", file=name)
                with archive.open(info) as member:
                    content = member.read(left + 1)  # what the header claims may be wrong
                left -= len(content)
                if left < 0:
                    raise PliantError(
                        f"the archive expands to more than {MAX_EXPANDED_BYTES} bytes, which is the most", file=name
                    )
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content)
    except PliantError:
        raise
    except Exception as fault:  # an untrusted archive: zipfile and zlib raise a dozen kinds of exceptions
        reason = " ".join(str(fault).split()) or type(fault).__name__
        raise PliantError(f"the file is not a zip archive that can be read: {reason}", file=name) from fault


def _opened(root: Path, folder: object, name: str, archive: bool, taken: Collection[str]) -> list[Opened]:
    files = sorted(path for path in root.rglob("*") if path.is_file())
    recordings = [path for path in files if path.suffix.lower() == RECORDING_SUFFIX]
    found: list[Opened]
    if archive:
        robots = _robots(root, files)
    else:
        robots = [path for path in files if path.suffix.lower() in suffixes()]
    if robots:
        for path in robots:
            _bring_meshes(root, path)
        found = [_robot(path, folder, taken) for path in robots[:MAX_ROBOTS]]
    elif recordings:
        found = [OpenedRecording(name=recordings[0].name, path=recordings[0], folder=folder)]
    else:
        what = "the archive holds neither a robot nor a recording" if archive else "this opens nothing on the page"
        remedy = REMEDIES.get(Path(name).suffix.lower())
        valid = ", ".join([*suffixes(), RECORDING_SUFFIX, *(() if archive else (".zip",))])
        raise PliantError(f"{what}; {remedy or f'must be one of {valid}'}", file=name)
    found[0].check()
    return found


def _robot(path: Path, folder: object, taken: Collection[str]) -> OpenedRobot:
    name = path.stem
    if name in taken:
        name = f"{name} ({path.name})"

    def build(kept: object = folder) -> object:  # holds the folder
        return load(path)

    return OpenedRobot(name=name, build=build)  # type: ignore[arg-type]


def _robots(root: Path, files: list[Path]) -> list[Path]:
    """Return the robots among the files of an archive, the one that is made of the others first."""
    found: dict[Path, tuple[bool, bool, bool, int, int]] = {}
    included: set[Path] = set()
    for path in files:
        if path.suffix.lower() not in suffixes() or not _is_robot(path):
            continue
        text = b"" if path.suffix.lower() in DATA_SUFFIXES else read_file(path)
        inner = [_beside(path, match) for match in _INCLUDE.findall(text)[:MAX_FILES]]
        included.update(inner)
        found[path] = (bool(text), False, not inner, len(path.relative_to(root).parts), len(path.name))
    for path in included & set(found):
        found[path] = (found[path][0], True, *found[path][2:])
    return sorted(found, key=lambda path: (found[path], path.name))


def _is_robot(path: Path) -> bool:
    """Return whether a file of an archive describes a robot: others of its kind are settings, worlds or plans."""
    source = Source(path=path, load=load)
    try:
        if path.suffix.lower() not in DATA_SUFFIXES:
            return any(found.root and found.matches(source) for found in formats())
        value = source.document.value
        own = isinstance(value, dict) and isinstance(value.get("model"), str)
        return own or any(found.key and not found.root and found.matches(source) for found in formats())
    except PliantError:
        return False


def _beside(path: Path, reference: bytes) -> Path:
    return (path.parent / reference.decode("utf-8", "replace")).resolve()


def _bring_meshes(root: Path, robot: Path) -> None:
    """Link files that lie beside a robot to where its description looks for them, in folders that were not given."""
    if robot.suffix.lower() in DATA_SUFFIXES:
        return
    text = read_file(robot)
    beside = {path.name: path for path in robot.parent.iterdir() if path.is_file()}
    folders = ["", *(found.decode("utf-8", "replace") for found in _FOLDER.findall(text)[:8])]
    for groups in _REFERENCE.findall(text)[:MAX_FILES]:
        reference = next(filter(None, groups)).decode("utf-8", "replace").strip().rpartition("://")[2]
        given = beside.get(PurePosixPath(reference).name)
        for folder in folders if given is not None else ():
            with contextlib.suppress(OSError, ValueError):
                place = (robot.parent / folder / reference).resolve()
                if place.is_relative_to(root) and not place.exists():
                    place.parent.mkdir(parents=True, exist_ok=True)
                    os.link(given, place)  # type: ignore[arg-type]

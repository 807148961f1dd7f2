"""Opening a bag: a ROS 1 bag, an MCAP or .db3 file, or a folder of ``ros2 bag``."""

from __future__ import annotations

import mmap
import os
import warnings
from pathlib import Path, PurePosixPath

from pliant.bags.base import Bag, BagPart
from pliant.bags.mcap_bag import McapBag
from pliant.bags.rosbag1 import Rosbag1
from pliant.bags.sqlite import SqliteBag
from pliant.base.documents.files import open_file
from pliant.base.documents.yaml_tree import read_yaml
from pliant.base.errors import PliantError, RecordingError, nearest
from pliant.recording.recording import RecordingWarning

BAG_SUFFIXES = (".bag", ".mcap", ".db3")
METADATA = "metadata.yaml"
METADATA_LIMIT = 16 << 20
"""Longest metadata.yaml [bytes]."""
FILE_LIMIT = 10_000
"""Files of a folder at most."""


def is_bag(path: str | Path) -> bool:
    """Return whether a path looks like a bag: by its suffix, or a folder, of which `open_bag` says what it lacks."""
    path = Path(path)
    return path.is_dir() or path.suffix.lower() in BAG_SUFFIXES or path.name.endswith(".bag.active")


def open_bag(path: str | Path) -> Bag:
    """Open a bag for reading; close it, or use it in a ``with``.

    Args:
        path: a .bag, .mcap or .db3 file, or a folder that ``ros2 bag`` wrote.

    Raises:
        RecordingError: there is no such file, or it is no bag, or nothing of it can be read; with the place.

    Warns:
        RecordingWarning: it was cut off, damaged or not closed; what stands before is read.
    """
    path = Path(path)
    try:
        bag = _open_folder(path) if path.is_dir() else Bag(path, [_open_file(path)])
    except OSError as error:
        raise RecordingError(f"the bag cannot be read: {error.strerror or error}", file=path) from None
    if bag.fault:
        if not bag.count:
            fault = bag.fault
            bag.close()
            raise RecordingError(f"the bag has no message that can be read: {fault}", file=path)
        text = f"{path}: {bag.fault}; read are {bag.count} messages in {bag.duration:g} s, what came later is lost"
        warnings.warn(text, RecordingWarning, stacklevel=2)
    return bag


def _open_file(path: Path) -> BagPart:
    suffix = ".bag" if path.name.endswith(".bag.active") else path.suffix.lower()
    if suffix == ".db3":
        return SqliteBag(path)
    readers = {".bag": Rosbag1, ".mcap": McapBag}
    if suffix not in readers:
        raise RecordingError(f"a bag ends in {suffix!r}; {nearest(suffix, BAG_SUFFIXES)}", file=path, field="suffix")
    with open_file(path, RecordingError, max_bytes=None) as file:
        if os.fstat(file.fileno()).st_size == 0:
            raise RecordingError(f"the file is empty; it must be a {suffix} file", file=path)
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        return readers[suffix](path, data)
    except BaseException:
        data.close()
        raise


def _open_folder(path: Path) -> Bag:
    names, note = _listed(path), ""
    if names is None:
        files = sorted(p for p in path.iterdir() if p.suffix in (".mcap", ".db3") and p.is_file())
        note = f"it has no {METADATA}: its recorder was interrupted (`ros2 bag reindex` makes one)"
        if not files:
            raise RecordingError(f"the folder has no {METADATA} and no .mcap or .db3 file", file=path)
    else:
        files = [path / name for name in names]
    if len(files) > FILE_LIMIT:
        raise RecordingError(f"the bag has {len(files)} files; must be at most {FILE_LIMIT}", file=path)
    parts: list[BagPart] = []
    try:
        for file in files:
            parts.append(_open_file(file))
    except BaseException:
        for part in parts:
            part.close()
        raise
    return Bag(path, parts, note)


def _listed(folder: Path) -> list[str] | None:
    """The files that the folder's metadata name; None without metadata."""
    path = folder / METADATA
    if not path.exists():
        return None
    size = path.stat().st_size
    if size > METADATA_LIMIT:
        raise RecordingError(f"it has {size} bytes; must be at most {METADATA_LIMIT}", file=path)
    document = read_yaml(path, RecordingError)
    key = "rosbag2_bagfile_information"
    try:
        about = document.value[key]
        mode = str(about.get("compression_mode") or "none").lower()
        found = about["relative_file_paths"]
        names = [PurePosixPath(str(name)).name for name in found]
    except (KeyError, TypeError, AttributeError, PliantError) as error:
        raise RecordingError(
            f"it lacks {error}; it must have {key}: with relative_file_paths, as ros2 bag writes it",
            file=path,
            field=key,
        ) from None
    if mode in ("file", "message"):
        raise RecordingError(
            f"the bag is compressed by {mode}; it must have no compression, or compressed MCAP chunks "
            "(`ros2 bag convert` makes one)",
            file=path,
            line=document.line(key, "compression_mode"),
            field="compression_mode",
        )
    if not names:
        raise RecordingError("it lists no file", file=path, line=document.line(key, "relative_file_paths"), field=key)
    for row, name in enumerate(names):
        if not (folder / name).is_file():
            raise RecordingError(
                f"it lists {name}, which is not in the folder", file=path,
                line=document.line(key, "relative_file_paths", row), field="relative_file_paths",
            )  # fmt: skip
    return names

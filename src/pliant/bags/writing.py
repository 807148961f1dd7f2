"""Writing bags through rosbags' writers: ROS 1 format 2.0 (.bag), MCAP, .db3, or a folder of rosbag2."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from pathlib import Path
from typing import Any

from pliant.base.errors import RecordingError, nearest, require
from pliant.ros.wire import Registry, registry
from pliant.ros.wire.types import definition

SUFFIXES = (".bag", ".mcap", ".db3")
FOLDER_VERSION = 8
"""Of metadata.yaml: texts for the quality of service, which Humble, Iron and Jazzy read."""
CALLER = "/pliant"


def bag_version(path: str | Path) -> int:
    """Return which generation of ROS a bag of this name is for: 1 for .bag, else 2.

    Raises:
        RecordingError: another suffix; a name without one is a folder.
    """
    path = Path(path)
    if path.suffix and path.suffix.lower() not in SUFFIXES:
        raise RecordingError(
            f"the name of the bag is {path.name!r}; {nearest(path.suffix, SUFFIXES)}, or a name without suffix for a "
            "folder of ros2 bag",
            file=path,
            field="suffix",
        )
    return 1 if path.suffix.lower() == ".bag" else 2


class BagWriter:
    """Writes one bag; it gets its name when it is closed whole.

    Args:
        path: a .bag, .mcap or .db3 file, or a folder (a name without suffix).
        overwrite: replace what is there.

    Raises:
        RecordingError: it exists, its folder does not, another suffix, or it may not be written.
    """

    def __init__(self, path: str | Path, *, overwrite: bool = False) -> None:
        self.path = Path(path)
        self.version = bag_version(path)
        self._types = registry(self.version)
        if not self.path.absolute().parent.is_dir():
            raise RecordingError(f"the folder {self.path.parent} does not exist; create it first", file=self.path)
        if not overwrite and (self.path.exists() or self.path.is_symlink()):
            raise RecordingError("the bag exists; replace it with --overwrite, or name another", file=self.path)
        if overwrite and self.path.exists() and self.path.is_dir() != (not self.path.suffix):
            kind = "folder" if self.path.is_dir() else "file"
            raise RecordingError(f"there is a {kind} of this name, which is not replaced", file=self.path)
        if overwrite and self.path.is_dir() and not (self.path / "metadata.yaml").exists():
            raise RecordingError("the folder is not a bag; it is not replaced", file=self.path)
        self._scratch: Path | None = None
        self._writer: Any = None
        try:
            self._scratch = Path(tempfile.mkdtemp(prefix=f".{self.path.stem[:100]}.", dir=self.path.absolute().parent))
            self._writer = self._open(self._scratch)
        except OSError as error:
            self.abort()
            raise self._refused(error) from None
        self._connections: dict[str, Any] = {}

    def _refused(self, error: OSError) -> RecordingError:
        left = "the bag that was there is as it was" if self.path.exists() else "no bag is left"
        return RecordingError(f"the bag cannot be written: {error.strerror}; {left}", file=self.path)

    def __enter__(self) -> BagWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()

    def add_topic(self, topic: str, type_name: str, *, latch: bool = False) -> None:
        """Declare a topic; ``type_name`` is one that pliant knows in this generation of ROS."""
        if topic in self._connections:
            return
        package, _, kind = type_name.partition("/")
        full = f"{package}/msg/{kind}"
        if self.version == 1:
            self._connections[topic] = self._writer.add_connection(
                topic,
                full,
                msgdef=self._types.full_text(type_name),
                md5sum=self._types.md5sum(type_name),
                callerid=CALLER,
                latching=int(latch),
            )
        else:
            self._connections[topic] = self._writer.add_connection(
                topic,
                full,
                msgdef=definition_2(self._types, type_name),
                rihs01=self._types.rihs01(type_name),
                offered_qos_profiles=[_quality(latch)],
            )

    def write(self, topic: str, log_ns: int, body: bytes) -> None:
        """Write one message, encoded with its prefix.

        Raises:
            RecordingError: the disk refused, or the time does not fit the format.
        """
        if not 0 <= log_ns < (1 << 32) * 1_000_000_000:
            raise RecordingError(f"{topic}: the log time is {log_ns} ns; must be 0 to 2^32 s", file=self.path)
        try:
            if self.version == 1:
                # ROS 1 counts times from one nanosecond on.
                self._writer.write(self._connections[topic], max(1, log_ns), body[4:])
            else:
                self._writer.write(self._connections[topic], log_ns, body)
        except OSError as error:
            raise self._refused(error) from None

    def close(self) -> None:
        """Write the index, and give the bag its name.

        Raises:
            RecordingError: the disk refused; there is no bag then, and an old one is as it was.
        """
        if self._writer is None or self._scratch is None:
            return
        writer, self._writer = self._writer, None
        try:
            writer.close()
            made = self._made(self._scratch)
            if self.path.is_dir():
                shutil.rmtree(self.path)
            made.replace(self.path)
        except OSError as error:
            raise self._refused(error) from None
        finally:
            self.abort()

    def abort(self) -> None:
        """Leave no bag; may be called twice, and after `close`."""
        writer, self._writer = self._writer, None
        if writer is not None:
            with contextlib.suppress(Exception):
                writer.abort()
        scratch, self._scratch = self._scratch, None
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)

    # ------------------------------------------------------------------ inside
    def _open(self, scratch: Path) -> object:
        require("rosbags", extra="bags", purpose=f"writing {self.path}")
        if self.version == 1:
            from rosbags.rosbag1 import Writer as Writer1

            writer: Any = Writer1(scratch / self.path.name)
        else:
            from rosbags.rosbag2 import StoragePlugin
            from rosbags.rosbag2 import Writer as Writer2

            plugin = StoragePlugin.SQLITE3 if self.path.suffix.lower() == ".db3" else StoragePlugin.MCAP
            writer = Writer2(scratch / self.path.stem, version=FOLDER_VERSION, storage_plugin=plugin)
        writer.open()
        return writer

    def _made(self, scratch: Path) -> Path:
        if self.version == 1:
            return scratch / self.path.name
        folder = scratch / self.path.stem
        return folder / f"{self.path.stem}{self.path.suffix.lower()}" if self.path.suffix else folder


def definition_2(types: Registry, name: str) -> str:
    """Return the definition of a type with all inside, in ROS 2's words (``builtin_interfaces/Time`` for ``time``)."""
    message = types.message(name)
    found = [message, *types.inside(message).values()]
    texts = {inner.name: definition(inner, 2) for inner in found}
    for base in ("time", "duration"):
        if any(field.base == base for inner in found for field in inner.fields):
            texts[f"builtin_interfaces/{base.capitalize()}"] = "int32 sec\nuint32 nanosec\n"
    first, *others = texts.items()
    return first[1] + "".join(f"{'=' * 80}\nMSG: {inner}\n{text}" for inner, text in others)


def _quality(latch: bool) -> object:
    """Reliable, so that ``ros2 bag play`` reaches every subscriber; latched topics wait for late ones."""
    from rosbags.interfaces import Qos, QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime

    never = QosTime(sec=9223372036, nsec=854775807)
    return Qos(
        history=QosHistory.KEEP_LAST,
        depth=1 if latch else 10,
        reliability=QosReliability.RELIABLE,
        durability=QosDurability.TRANSIENT_LOCAL if latch else QosDurability.VOLATILE,
        deadline=never,
        lifespan=never,
        liveliness=QosLiveliness.AUTOMATIC,
        liveliness_lease_duration=never,
        avoid_ros_namespace_conventions=False,
    )

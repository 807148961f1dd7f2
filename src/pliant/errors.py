"""The exceptions of pliant.

Every error says what was asked, what was found, what would be valid and, where a file is involved, where
it stands (``file:line``). The parts are also attributes, so that a program can react without reading text.
"""

from __future__ import annotations

import difflib
import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path

__all__ = [
    "BridgeError",
    "DeadThreadError",
    "DeviceError",
    "DivergedError",
    "LawError",
    "MissingDependency",
    "ModelError",
    "PliantError",
    "PortError",
    "RecordingError",
    "WireError",
    "nearest",
    "printable",
    "require",
]


MAX_LINE = 2000
"""Longest line of a message that is not shortened in its middle [characters]."""


class PliantError(Exception):
    """Base of every error that pliant raises on purpose.

    Args:
        message: what was asked, what was found, what would be valid.
        file: the file that holds the fault, if there is one.
        line: the line in that file, counted from 1.
        field: the name of the field, tag or parameter at fault.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | Path | None = None,
        line: int | None = None,
        field: str | None = None,
    ) -> None:
        message = printable(message)
        self.message = message
        self.file = None if file is None else str(file)
        self.line = line
        self.field = field
        super().__init__(f"{self.where}{message}")

    @property
    def where(self) -> str:
        """``file:line: `` in front of the message, or an empty text."""
        if self.file is None:
            return ""
        file = printable(self.file)
        return f"{file}:{self.line}: " if self.line is not None else f"{file}: "


def printable(text: str, *, max_line: int = MAX_LINE) -> str:
    """Return a text that neither controls a terminal nor fills it: it may quote a file or a message of a network.

    Args:
        text: any text, lone surrogates included.
        max_line: characters of a line beyond which its middle is left out; 0 for none.
    """
    if not text.isprintable():
        text = "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)
    if len(text) <= max_line or not max_line:
        return text
    lines = text.split("\n")
    return "\n".join(
        f"{line[: max_line - 400]} ... ({len(line)} characters) ... {line[-300:]}" if len(line) > max_line else line
        for line in lines
    )


class ModelError(PliantError):
    """A robot's description is wrong: a file, a tag, a name, a parameter."""


class LawError(ModelError):
    """A constitutive law or one of its parameters is wrong."""


class PortError(PliantError):
    """A port of the engine does not exist or has another shape."""


class DeviceError(PliantError):
    """A command to a device is wrong: mode, length, value."""


class BridgeError(PliantError):
    """A bridge cannot start or has lost its middleware."""


class DeadThreadError(BridgeError):
    """A thread of a bridge died, so that its wire is served no longer or in part.

    Attributes:
        bridge: name of the bridge.
        thread: name of the thread.
        why: what it raised, or that it ended by itself.
    """

    def __init__(self, message: str, *, bridge: str, thread: str, why: str) -> None:
        super().__init__(message, field=bridge)
        self.bridge = bridge
        self.thread = thread
        self.why = why


class WireError(PliantError):
    """Bytes from a network or a file do not follow their format."""


class RecordingError(PliantError):
    """A recording cannot be written or read."""


class DivergedError(PliantError):
    """The simulation produced NaN, infinity or an energy blow-up.

    Attributes:
        joint: the joint that went wrong first.
        time: simulation time of the fault [s].
        dump: file with the last states, or None.
    """

    def __init__(
        self, message: str, *, joint: str | None = None, time: float | None = None, dump: str | None = None
    ) -> None:
        super().__init__(message, field=joint)
        self.joint = joint
        self.time = time
        self.dump = dump


class MissingDependency(PliantError):
    """An optional package is not installed.

    Args:
        package: what is missing.
        command: what to type to get it.
        purpose: what it is needed for.
    """

    def __init__(self, package: str, *, command: str, purpose: str) -> None:
        self.package = package
        self.command = command
        super().__init__(f"{purpose} needs {package}, which is not installed. Type: {command}")


def require(package: str, *, extra: str, purpose: str) -> None:
    """Refuse to go on without an optional package.

    Args:
        package: name of the module.
        extra: the extra of pliant that brings it.
        purpose: what it is needed for.

    Raises:
        MissingDependency: it is not installed; the message has the command.
    """
    if sys.modules.get(package) is None and importlib.util.find_spec(package) is None:
        raise MissingDependency(package, command=f'pip install "pliant[{extra}]"', purpose=purpose)


def nearest(name: str, valid: Iterable[str], *, limit: int = 12) -> str:
    """Return the end of a message: the nearest valid name, then the valid names.

    Args:
        name: what was asked.
        valid: the names that exist.
        limit: how many names are listed at most.

    Returns:
        A text such as ``did you mean 'elbow'? must be one of elbow, shoulder``.
    """
    names = sorted({str(v) for v in valid})
    if not names:
        return "there are none"
    close = difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    inside = [n for n in names if len(str(name)) > 2 and str(name).lower() in n.lower()]
    if inside and not (close and str(name).lower() in close[0].lower()):
        close = inside  # a part of a name says more than a similar one
    hint = f"did you mean {close[0]!r}? " if close else ""
    shown = ", ".join(names[:limit]) + (f", ... ({len(names)} in all)" if len(names) > limit else "")
    return f"{hint}must be one of {shown}"

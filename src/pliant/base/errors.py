"""Exceptions of pliant.

Every message states the requested value, the value found, the valid values and, for errors in a file, the location
(``file:line``). These parts are also attributes, so that a program does not have to parse the message.
"""

from __future__ import annotations

import difflib
import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

MAX_LINE = 2000
"""Maximum length of a line of a message [characters]; longer lines are shortened in the middle."""


class PliantError(Exception):
    """Base class of the errors that pliant raises.

    Args:
        message: the requested value, the value found and the valid values.
        file: the file that contains the error, if any.
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
        """Location that precedes the message: ``file:line: ``, or an empty string."""
        if self.file is None:
            return ""
        file = printable(self.file)
        return f"{file}:{self.line}: " if self.line is not None else f"{file}: "


def printable(text: str, *, max_line: int = MAX_LINE) -> str:
    """Return a text that is safe to print: without control characters, and with long lines shortened.

    Error messages may quote files and data from a network.

    Args:
        text: any text, lone surrogates included.
        max_line: maximum length of a line [characters], beyond which its middle is omitted; 0 for no limit.
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
    """The description of a robot is not valid: a file, a tag, a name or a parameter."""


class LawError(ModelError):
    """A constitutive law or one of its parameters is not valid."""


class PortError(PliantError):
    """A port of the engine does not exist, or its shape does not match."""


class DeviceError(PliantError):
    """A command to a device is not valid: its mode, length or value."""


class BridgeError(PliantError):
    """A bridge cannot start or has lost its middleware."""


class DeadThreadError(BridgeError):
    """A thread of a bridge has ended unexpectedly, so that its clients are no longer, or only partly, served.

    Attributes:
        bridge: name of the bridge.
        thread: name of the thread.
        why: the exception that the thread raised, or a statement that it returned.
    """

    def __init__(self, message: str, *, bridge: str, thread: str, why: str) -> None:
        super().__init__(message, field=bridge)
        self.bridge = bridge
        self.thread = thread
        self.why = why


class WireError(PliantError):
    """Data from a network or a file do not conform to their format."""


class RecordingError(PliantError):
    """A recording cannot be written or read."""


class DivergedError(PliantError):
    """The simulation diverged: NaN, infinity or unbounded energy.

    Attributes:
        joint: the joint that diverged first.
        time: simulation time at which divergence was detected [s].
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
        package: name of the missing package.
        command: command that installs it.
        purpose: feature that needs it.
    """

    def __init__(self, package: str, *, command: str, purpose: str) -> None:
        self.package = package
        self.command = command
        super().__init__(f"{purpose} needs {package}, which is not installed. Type: {command}")


class importing:
    """Turn a failed import in a ``with`` block into a `MissingDependency`.

    Args:
        package: name of the package that is missing then.
        command: command that installs it.
        purpose: feature that needs it.

    Example:
        >>> with importing("skrl", command="pip install skrl", purpose="training with skrl"):
        ...     from skrl.envs.wrappers.torch import Wrapper
    """

    def __init__(self, package: str, *, command: str, purpose: str) -> None:
        self._missing = MissingDependency(package, command=command, purpose=purpose)

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if isinstance(error, ImportError):
            raise self._missing from None


def require(package: str, *, extra: str, purpose: str) -> None:
    """Raise an error if an optional package is not installed.

    Args:
        package: name of the module.
        extra: the extra of pliant that installs it.
        purpose: feature that needs it.

    Raises:
        MissingDependency: the package is not installed; the message contains the command that installs it.
    """
    if sys.modules.get(package) is None and importlib.util.find_spec(package) is None:
        raise MissingDependency(package, command=f'pip install "pliant[{extra}]"', purpose=purpose)


def nearest(name: str, valid: Iterable[str], *, limit: int = 12) -> str:
    """Return the end of an error message: the most similar valid name and a list of the valid names.

    Args:
        name: the requested name.
        valid: the existing names.
        limit: maximum number of names in the list.

    Returns:
        A string such as ``did you mean 'elbow'? must be one of elbow, shoulder``.
    """
    names = sorted({str(v) for v in valid} - {""})
    if not names:
        return "there are none"
    close = difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    inside = [n for n in names if len(str(name)) > 2 and str(name).lower() in n.lower()]
    if inside and not (close and str(name).lower() in close[0].lower()):
        close = inside  # a part of a name says more than a similar one
    hint = f"did you mean {close[0]!r}? " if close else ""
    shown = ", ".join(names[:limit]) + (f", ... ({len(names)} in all)" if len(names) > limit else "")
    return f"{hint}must be one of {shown}"

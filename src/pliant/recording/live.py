"""Robots that run elsewhere, listened to while they run: what the core asks of the wings that hear them.

A wing declares its listeners (`pliant.base.wing.Wing.listeners`). A listener puts what it hears into an `Inbox`, and
has no way to send a command.
"""

from __future__ import annotations

import inspect
import threading
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from pliant.base.errors import BridgeError, nearest
from pliant.base.options import options_of, parse_text
from pliant.base.wing import offer, offers

if TYPE_CHECKING:
    from pliant.model.robot import Robot

INBOX_LIMIT = 1_000_000
"""Most messages that wait to be taken; the oldest go first."""
NOTE_LIMIT = 200
"""Most notes that wait to be taken; further ones are counted."""


class Heard(NamedTuple):
    """One message of a robot, or of its controller."""

    source: str
    """The topic, port or file that it came from."""
    rank: int
    """Of several sources of one quantity the lowest is taken."""
    time: float
    """When it was measured or sent, in the robot's time [s]."""
    stamped: bool
    """Whether the time is the robot's own; else it is the time of the arrival."""
    values: Mapping[str, float]
    """Value by port, such as ``elbow/position`` or ``elbow/reference_1``; finite [SI]."""


class Inbox:
    """Samples that a listener has heard and nobody has taken yet; any thread puts, one takes.

    Args:
        limit: most messages that wait.
    """

    def __init__(self, limit: int = INBOX_LIMIT) -> None:
        self._arrived = threading.Condition()
        self._messages: deque[Heard] = deque()
        self._notes: deque[str] = deque()
        self._limit = limit
        self._ended = False
        self.count = 0
        """Messages that were put."""
        self.dropped = 0
        """Messages that nobody took in time."""

    def put(self, message: Heard) -> None:
        """Keep one message."""
        with self._arrived:
            self.count += 1
            if len(self._messages) >= self._limit:
                self._messages.popleft()
                self.dropped += 1
            self._messages.append(message)
            self._arrived.notify_all()

    def note(self, text: str) -> None:
        """Keep one sentence for the user."""
        with self._arrived:
            if len(self._notes) < NOTE_LIMIT:
                self._notes.append(text)
            self._arrived.notify_all()

    def end(self) -> None:
        """Tell that nothing more comes, such as at the end of a file."""
        with self._arrived:
            self._ended = True
            self._arrived.notify_all()

    def take(self, timeout: float) -> tuple[list[Heard], list[str], bool]:
        """Return what was heard, the notes, and whether nothing more comes.

        Args:
            timeout: longest wait for the first of them [s].
        """
        with self._arrived:
            self._arrived.wait_for(lambda: bool(self._messages or self._notes or self._ended), timeout)
            found = list(self._messages), list(self._notes), self._ended
            self._messages.clear()
            self._notes.clear()
            return found


class Listener(Protocol):
    """Hears one robot. It opens no publisher, and no output to a port of the robot's commands."""

    def start(self, inbox: Inbox) -> None:
        """Connect, and put what is heard into the inbox, in threads of its own.

        Raises:
            PliantError: it cannot connect, or the file cannot be read.
        """
        ...

    def stop(self) -> None:
        """Disconnect and join the threads; may be called twice."""
        ...

    def where(self) -> str:
        """Return what it listens to, for the user."""
        ...

    def lost(self) -> str:
        """Return why the connection is lost, "" while it is not."""
        ...

    def silent(self) -> str:
        """Return what could be heard and is not the robot's, for the message that nothing is heard; "" for nothing."""
        ...


def list_listeners() -> dict[str, str]:
    """Return the summary of every listener by name."""
    return {found.key: found.value.summary for found in offers("listeners")}


def make_listener(name: str, text: str, robot: Robot) -> Listener:
    """Make a listener for a robot.

    Args:
        name: a name as `list_listeners` has it.
        text: its options, ``KEY=VALUE,...``; a first value without a key is that of the first option of the class.
        robot: the robot as it is described.

    Raises:
        BridgeError: no listener of that name, or an option that it does not have.
    """
    if offer("listeners", name) is None:
        raise BridgeError(f"nothing listens to {name!r}; {nearest(name, list_listeners())}", field=name)
    return make_source("listeners", name, text, robot)


def make_source(kind: str, name: str, text: str, robot: Robot) -> Any:
    """Make what a wing declares among its ``listeners`` or ``logs``.

    Args:
        kind: the one or the other.
        name: its name.
        text: as of `make_listener`.
        robot: the robot as it is described.

    Raises:
        BridgeError: an option that it does not have.
    """
    found = offer(kind, name)
    assert found is not None
    factory: Any = found.load()
    options, make = options_of(factory, skip=1)
    first, comma, rest = text.partition(",")
    if first and "=" not in first:
        text = f"{next(iter(inspect.get_annotations(options)))}={first}{comma}{rest}"
    return make(robot, parse_text(options, text, where=f"--{name}: ", error=BridgeError))

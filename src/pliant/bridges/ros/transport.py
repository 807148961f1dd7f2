"""What a wire must offer so that a robot can be served on it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Protocol

from pliant.bridges.ros.actions import ActionServer
from pliant.wire.ros import Codec

__all__ = ["TopicHandle", "Transport"]


class TopicHandle(Protocol):
    """A topic that is published."""

    topic: str
    type: str
    count: int
    drops: int
    first_at: float
    """When the first message was sent [s, monotonic]."""
    last_at: float
    """When the last message was sent [s, monotonic]."""

    @property
    def active(self) -> bool:
        """Whether a message would go anywhere; if not, it need not be encoded."""
        ...

    @property
    def subscribers(self) -> list[str]:
        """Who listens."""
        ...

    def send(self, data: bytes) -> None:
        """Send one message, its prefix included, without waiting."""
        ...


class Transport(Protocol):
    """The wire below the topics.

    Callbacks of `subscribe` and `serve` run in threads of the wire. What they raise as `PliantError` is told to the
    other side where the wire can, and counted.
    """

    name: str
    codec: Codec
    state_type: str
    """Name of the toolbox's state message."""
    services: bool
    """Whether `serve` is there."""
    actions: bool
    """Whether `serve_action` is there."""
    lockstep: bool
    """Whether the loop waits for answers, in `wait_for`."""
    sync_topics: tuple[str, ...]
    """The topics that bring the answers."""
    on_complaint: Callable[[str], None]
    """Called, in any thread, with each fault of the other side; the bridge sets it."""
    on_publication: Callable[[str, str], None]
    """Called, in any thread, with the topic and the name of each other node that publishes one, once or more often; the
    bridge sets it."""

    def start(self) -> None:
        """Open the wire."""
        ...

    def announce(self) -> None:
        """Tell everyone what is served; called once, when all of it is planned."""
        ...

    def stop(self) -> None:
        """Close the wire and join its threads; may be called twice."""
        ...

    def advertise(self, topic: str, type_name: str, *, latch: bool = False) -> TopicHandle:
        """Publish a topic; ``latch`` keeps the last message for late joiners."""
        ...

    def subscribe(self, topic: str, type_name: str, callback: Callable[[dict[str, Any]], None]) -> None:
        """Listen to a topic."""
        ...

    def unsubscribe(self, topic: str) -> None:
        """Stop listening."""
        ...

    def serve(self, name: str, type_name: str, callback: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        """Answer a service."""
        ...

    def serve_action(self, name: str, type_name: str, server: ActionServer) -> None:
        """Take the goals of an action: give them to the server, and set its ``wire`` to hear of them."""
        ...

    def set_param(self, name: str, value: Any) -> None:
        """Set a parameter where the wire has a server of parameters; else do nothing."""
        ...

    def get_param(self, name: str) -> Any:
        """Return a parameter of the server; None where there is none."""
        ...

    def taken(self, topics: list[str]) -> dict[str, list[str]]:
        """Return the topics that somebody else publishes already, and who."""
        ...

    def complain(self, text: str) -> None:
        """Note a fault of the other side."""
        ...

    def lost(self) -> str:
        """Return why the wire is lost, "" if it is not."""
        ...

    def flush(self) -> None:
        """Send what is queued."""
        ...

    def wait_for(self, condition: threading.Condition, answered: Callable[[], bool], timeout: float) -> bool:
        """Wait until ``answered()``, which other threads make true and say through ``condition``."""
        ...

    def where(self) -> str:
        """Return where the wire is, for the user."""
        ...

    def health(self) -> dict[str, Any]:
        """Return the state of the wire as plain numbers and text."""
        ...

"""A node on a wire of ROS: what a robot is served through. ROS 1, ROS 2, zenoh and bags each have one."""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable

from pliant.base.threads import Threads
from pliant.ros.bridge.actions import ActionServer
from pliant.ros.bridge.send_rate import SendRate
from pliant.ros.wire import Codec
from pliant.ros.wire.message import DeferredService, MessageCallback, ServiceCallback
from pliant.simulation.switching import SwitchInterval

MAX_COMPLAINT = 500
"""Longest text of a fault [characters]."""
STATE_TYPES = {1: "viactors_plugins/state_info", 2: "viactors_plugins/StateInfo"}
"""Generation of ROS -> name of the toolbox's state message."""
ERROR_LIMIT = 20
"""Faults of the other side that are kept."""


class TopicHandle(ABC):
    """A topic that is published.

    Args:
        topic: its name.
        type_name: its type.
        latch: whether late joiners get the last message.
    """

    def __init__(self, topic: str, type_name: str, latch: bool) -> None:
        self.topic, self.type, self.latch = topic, type_name, latch
        self.count = self.drops = 0
        """Messages that were sent, and those that were dropped."""
        self.rate = SendRate()
        """How often it is sent while somebody listens."""
        self.seen: set[str] = set()
        """Names of the nodes that listen, or have listened."""

    @property
    @abstractmethod
    def active(self) -> bool:
        """Whether a message would go anywhere; if not, it need not be encoded."""

    @property
    def subscribers(self) -> list[str]:
        """Names of the nodes that listen, or have listened, sorted."""
        return sorted(self.seen)

    @abstractmethod
    def send(self, data: bytes) -> None:
        """Send one message, its prefix included, without waiting."""


class Node(ABC):
    """A node on a wire.

    Callbacks of `subscribe` and `serve` run in threads of the wire. What they raise as `PliantError` is told to the
    other side where the wire can, and counted.

    Args:
        codec: turns messages into bytes.
    """

    wire = ""
    """Name of the wire."""
    has_services = True
    """Whether `serve` does anything."""
    has_actions = True
    """Whether `serve_action` does anything."""

    def __init__(self, codec: Codec) -> None:
        self.codec = codec
        self.lockstep = False
        """Whether the loop waits for answers, in `wait_for`; the bridge sets it before the start."""
        self.errors: deque[str] = deque(maxlen=ERROR_LIMIT)
        self.error_count = 0
        self.on_complaint: Callable[[str], None] = lambda text: None
        """Called, in any thread, with each fault of the other side; the bridge sets it."""
        self.on_publication: Callable[[str, str], None] = lambda topic, who: None
        """Called, in any thread, with the topic and the name of each other node that publishes one, once or more often;
        the bridge sets it."""
        self.threads = Threads()
        """The threads of the wire."""
        self.threads.tell(lambda name, why: self.complain(f"the thread {name} died: {why}"))
        self.internal_faults = 0
        """Faults of ours while we handled what the other side sent; each has cost one message or connection."""
        self._interval = SwitchInterval()
        self._log = logging.getLogger("pliant").getChild(self.wire)

    @property
    def state_type(self) -> str:
        """Name of the toolbox's state message."""
        return STATE_TYPES[self.codec.version]

    # ------------------------------------------------------------------ life
    @abstractmethod
    def start(self) -> None:
        """Open the wire."""

    def announce(self) -> None:  # noqa: B027  # most wires announce each topic when it is made
        """Announce what is served; called once, when all of it is planned."""

    @abstractmethod
    def stop(self) -> None:
        """Close the wire and join its threads; may be called twice."""

    # ------------------------------------------------------------------ topics
    @abstractmethod
    def advertise(self, topic: str, type_name: str, *, latch: bool = False, reliable: bool = True) -> TopicHandle:
        """Publish a topic.

        Args:
            topic: its name in ROS, such as ``/clock``.
            type_name: its type, ``package/Type``.
            latch: late joiners get the last message.
            reliable: whether messages are sent again until they have arrived, where the wire has qualities of service;
                readers that ask for reliable messages get none of a best-effort topic.
        """

    @abstractmethod
    def subscribe(self, topic: str, type_name: str, callback: MessageCallback) -> None:
        """Listen to a topic; the callback must be short."""

    def subscribe_latched(self, topic: str, type_name: str, callback: MessageCallback) -> None:
        """Listen to a topic and to what latched publishers have sent before; most wires give that to everybody."""
        self.subscribe(topic, type_name, callback)

    @abstractmethod
    def unsubscribe(self, topic: str) -> None:
        """Stop listening."""

    @abstractmethod
    def taken(self, topics: list[str]) -> dict[str, list[str]]:
        """Return the topics that another node publishes already, and which nodes."""

    # ------------------------------------------------------------------ services, actions, parameters
    @abstractmethod
    def serve(self, name: str, type_name: str, callback: ServiceCallback) -> None:
        """Answer a service.

        Args:
            name: its name in ROS, such as ``/pliant/pause``.
            type_name: its type, such as ``std_srvs/Trigger``.
            callback: takes the request, returns the response; it runs in a thread of its own and may wait.
        """

    def serve_later(self, name: str, type_name: str, callback: DeferredService) -> None:  # noqa: B027  # ROS 2 alone
        """Answer a service whose reply comes later, where the wire is one of ROS 2.

        The callback takes the request and what any thread may call, once, with the response; it must not wait.
        """

    @abstractmethod
    def serve_action(self, name: str, type_name: str, server: ActionServer) -> None:
        """Take the goals of an action: give them to the server, and set its ``wire`` to hear of them."""

    def set_param(self, name: str, value: object) -> None:  # noqa: B027  # ROS 1 alone has a server of parameters
        """Set a parameter where the wire has a server of parameters; else do nothing."""

    def get_param(self, name: str) -> object:
        """Return a parameter of the server; None where there is none."""
        return None

    # ------------------------------------------------------------------ lock-step
    def flush(self) -> None:  # noqa: B027  # a wire may send at once
        """Send what is queued, in the caller's thread."""

    def wait_for(self, condition: threading.Condition, answered: Callable[[], bool], timeout: float) -> bool:
        """Wait until ``answered()``, which the wire's threads make true and say through ``condition``."""
        with condition:
            return condition.wait_for(answered, timeout)

    # ------------------------------------------------------------------ state
    def complain(self, text: str) -> None:
        """Note a fault of the other side."""
        self.error_count += 1
        if not self.errors or self.errors[-1] != text:
            self.errors.append(text)
            self._log.warning("%s", text)
        self.on_complaint(text)

    def lost(self) -> str:
        """Return why the wire is lost, "" if it is not."""
        return ""

    @abstractmethod
    def where(self) -> str:
        """Return where the wire is, for the user."""

    def lost_commands(self) -> dict[str, int]:
        """Return the topics that are heard -> messages that did not arrive; wires that cannot tell: none."""
        return {}

    def unacknowledged(self) -> dict[str, tuple[int, int]]:
        """Return the topics that are sent -> the last message that every reliable reader has acknowledged, and how many
        wait; wires that cannot tell: none."""
        return {}

    def publishers_of(self, topic: str) -> list[str]:
        """Return who publishes a topic that is heard; wires that cannot tell: nobody."""
        return []

    def health(self) -> dict[str, object]:
        """Return the state of the wire as plain numbers and text."""
        return {
            "faults": self.error_count,
            "internal_faults": self.internal_faults,
            "last_faults": list(self.errors),
            "dead_threads": self.threads.dead,
        }

    def fail(self, what: str, error: BaseException) -> None:
        """Note a fault of ours that must not end the thread: it goes on with the next message or connection."""
        self.internal_faults += 1
        self._log.debug("%s", what, exc_info=error)
        self.complain(f"{what}: an internal fault, {type(error).__name__}: {error}"[:MAX_COMPLAINT])


class SilentNode(Node):
    """A node without a wire: nothing comes back from it. What is left to say is where the topics go."""

    def start(self) -> None:
        """Do nothing."""

    def stop(self) -> None:
        """Do nothing."""

    def subscribe(self, topic: str, type_name: str, callback: MessageCallback) -> None:
        """Do nothing: nobody sends."""

    def unsubscribe(self, topic: str) -> None:
        """Do nothing."""

    def serve(self, name: str, type_name: str, callback: ServiceCallback) -> None:
        """Do nothing: nobody asks."""

    def serve_action(self, name: str, type_name: str, server: ActionServer) -> None:
        """Do nothing: nobody has goals."""

    def taken(self, topics: list[str]) -> dict[str, list[str]]:
        """Return nothing: nobody else is there."""
        return {}

    def where(self) -> str:
        """Return nothing."""
        return ""

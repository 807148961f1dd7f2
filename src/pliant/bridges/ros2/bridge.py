"""The bridge to ROS 2: the topics of ROS 1, with ROS 2's names and types, over DDS."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pliant.bridges.ros import RosBridge, RosOptions, TopicHandle
from pliant.bridges.ros.action_services import ActionServices
from pliant.bridges.ros.names import node_name
from pliant.bridges.ros.switching import SwitchInterval
from pliant.bridges.ros2.participant import Participant
from pliant.bridges.ros2.rtps_node import Respond, RtpsNode
from pliant.bridges.ros2.rtps_participant import RtpsParticipant
from pliant.wire.ros import dds_type_name
from pliant.wire.rtps import EndpointData, Qos

if TYPE_CHECKING:
    from pliant.bridges.ros.actions import ActionServer

__all__ = ["Ros2Options", "Ros2Transport", "make"]


class Ros2Transport:
    """DDS as the wire below a `RosBridge`: topics over cyclonedds, services over a participant of our own beside it.

    Args:
        participant: the node on the wire.
    """

    name = "ros2"
    state_type = "viactors_plugins/StateInfo"
    services = True
    actions = True
    lockstep = False

    def __init__(self, participant: Participant) -> None:
        self.participant = participant
        self.rtps = RtpsParticipant(
            participant.node,
            domain=participant.domain,
            loopback=participant.on_loopback,
            complain=participant.complain,
            user_data=b"enclave=/;",
        )
        self.node = RtpsNode(self.rtps, participant.codec, participant.complain)
        self.codec = participant.codec
        self.sync_topics: tuple[str, ...] = ()
        self._interval = SwitchInterval()
        self.on_complaint: Callable[[str], None] = lambda text: None
        participant.on_complaint = lambda text: self.on_complaint(text)
        self.on_publication: Callable[[str, str], None] = lambda topic, who: None
        self.rtps.on_publication = lambda topic, who: self.on_publication(topic, who)

    def start(self) -> None:
        """Join the domain."""
        self._interval.shorten()
        self.participant.direct = self.lockstep
        # The services' participant first: what it hears of nodes that are there already, it can hand on at once.
        self.node.start()
        try:
            self.participant.start()
        except BaseException:
            self.stop()
            raise
        if self.participant.on_loopback:
            self.rtps.relay_to(self.participant.prefix)

    def announce(self) -> None:
        """Tell graph tools what is there."""
        self.participant.announce(*self.node.gids)

    def stop(self) -> None:
        """Leave the domain."""
        self.node.stop()
        self.participant.stop()
        self._interval.restore()

    def advertise(self, topic: str, type_name: str, *, latch: bool = False, sensor: bool = False) -> TopicHandle:
        """Publish a topic; the clock is reliable, so that every subscriber matches it."""
        sensor = sensor and topic != "/clock"
        handle = self.participant.advertise(topic, type_name, latch=latch, sensor=sensor)
        self._expect(topic, type_name, Qos(reliable=not sensor, durability=int(latch)), writes=True)
        return handle

    def subscribe(self, topic: str, type_name: str, callback: Callable[[dict[str, Any]], None]) -> None:
        """Listen to a topic."""
        self.participant.subscribe(topic, type_name, callback)
        self._expect(topic, type_name, Qos(), writes=False)

    def unsubscribe(self, topic: str) -> None:
        """Stop listening."""
        self.participant.unsubscribe(topic)
        self.rtps.expect_no_more(_wire_name(topic), writes=False)

    def _expect(self, topic: str, type_name: str, qos: Qos, *, writes: bool) -> None:
        """Let the services' participant, which hears of every endpoint, tell of those that do not fit a topic."""
        ours = EndpointData(guid=bytes(16), topic=_wire_name(topic), type=dds_type_name(type_name), qos=qos)
        self.rtps.expect(ours, writes=writes)

    def serve(self, name: str, type_name: str, callback: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        """Answer a service, in the convention of rmw_fastrtps or rmw_cyclonedds, whichever asks."""
        self.node.serve(name, type_name, callback)

    def serve_later(self, name: str, type_name: str, callback: Callable[[dict[str, Any], Respond], None]) -> None:
        """Answer a service whose reply comes later; the callback must not wait."""
        self.node.serve_later(name, type_name, callback)

    def serve_action(self, name: str, type_name: str, server: ActionServer) -> None:
        """Take the goals of an action by the services and topics of rcl_action."""
        ActionServices(self, name, type_name, server)

    def set_param(self, name: str, value: Any) -> None:
        """Do nothing: ROS 2 has no parameter server."""

    def get_param(self, name: str) -> Any:
        """Return None: ROS 2 has no parameter server."""

    def taken(self, topics: list[str]) -> dict[str, list[str]]:
        """Return the topics that another participant writes already."""
        return self.participant.taken(topics)

    def complain(self, text: str) -> None:
        """Note a fault of the other side."""
        self.participant.complain(text)

    def lost(self) -> str:
        """Return "": DDS has no master that could be lost."""
        return ""

    def flush(self) -> None:
        """Write what is queued, in the caller's thread."""
        self.participant.flush()

    def wait_for(self, condition: threading.Condition, answered: Callable[[], bool], timeout: float) -> bool:
        """Read in the caller's thread until ``answered()``: no other thread stands between controller and loop."""
        end = time.monotonic() + timeout
        while not answered():
            left = end - time.monotonic()
            if left <= 0.0:
                return False
            self.participant.pump(min(left, 0.02), self.sync_topics)
        return True

    def where(self) -> str:
        """Return the domain."""
        p = self.participant
        return f"DDS domain {p.domain}{' on 127.0.0.1' if p.loopback else ''}"

    def health(self) -> dict[str, Any]:
        """Return the domain, how bytes are written, and the last faults."""
        p = self.participant
        return {
            "domain": p.domain,
            "loopback": p.loopback,
            "raw_writes": all(item.raw for item in p.publications.values()),
            "matched_readers": sum(item.matched for item in p.publications.values()),
            "service_calls": sum(self.node.services.values()),
            "refused_requests": self.node.refused,
            "malformed_datagrams": self.rtps.malformed,
            "faults": p.error_count,
            "last_faults": list(p.errors),
        }


def _wire_name(topic: str) -> str:
    return "rt/" + topic.strip("/")


@dataclass(frozen=True, kw_only=True)
class Ros2Options(RosOptions):
    """The options of ``--bridge ros2``."""

    domain: int = -1
    """Number of the domain; -1 takes ``ROS_DOMAIN_ID``, else 0."""
    loopback: bool = True
    """Talk on 127.0.0.1 only."""
    distro: str = "jazzy"
    """Distribution of ROS 2 that graph tools are of: humble, iron, jazzy, kilted, rolling."""
    raw: bool = True
    """Write bytes directly; False takes cyclonedds' public call."""


def make(robot: Any, options: Ros2Options) -> RosBridge:
    """Return the bridge of a robot; None for a replay."""
    interface = getattr(robot, "interface", None)
    space = (options.namespace or getattr(interface, "namespace", None) or "robot").strip("/")
    participant = Participant(
        node_name(options.node, space),
        domain=None if options.domain == -1 else options.domain,
        loopback=options.loopback,
        distro=options.distro,
        raw=options.raw,
    )
    return RosBridge(robot, Ros2Transport(participant), options, name="ros2")

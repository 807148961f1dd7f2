"""Listening to a robot on ROS: the states of its joints and the commands that reach them, without any publisher."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from pliant.base.errors import BridgeError, nearest, printable
from pliant.base.options import option
from pliant.laws import COMMAND_NAMES
from pliant.recording.live import Heard, Inbox
from pliant.ros.bridge.names import topic_name
from pliant.ros.controller_clock import CLOCK_TOPIC, CLOCKS
from pliant.ros.joint_sources import JOINT_STATE, JointSource, joint_sources
from pliant.ros.ros1.node import Ros1Node
from pliant.ros.ros2.node import Ros2Node
from pliant.ros.wire.message import MessageCallback, MessageView

if TYPE_CHECKING:
    from pliant.model.robot import Robot
    from pliant.ros.bridge.node import Node

NAME = "pliant_shadow"
PORTS = {
    "link_position": "position",
    "motor_1_position": "motor_1_position",
    "motor_2_position": "motor_2_position",
    "reference_1": "reference_1",
    "reference_2": "reference_2",
}
"""Quantity of `pliant.identification.measurements` -> quantity of a port."""
AGGREGATED = ("robot_state", "motor_1_state", "motor_2_state")
MAX_NAMES = 100
"""Most lists of joint names of one topic whose places are remembered."""
COMMAND_RANK = 5
"""Rank of a command's own topic; references in a state come first, because they have its time."""


@dataclass(frozen=True, kw_only=True)
class ListenOptions:
    """The options of a listener on any wire."""

    namespace: str = ""
    """Prefix of the robot's topics; "" takes that of the description."""
    states: str = "/joint_states"
    """Further topics of type ``sensor_msgs/JointState``, joined by ``+``."""
    clock: str = option("auto", choices=CLOCKS)
    """Time of messages without a stamp: ``ros`` for ``/clock``, ``wall`` for this machine's, ``auto`` for ``/clock`` if
    it is published."""


@dataclass(frozen=True, kw_only=True)
class Listen1Options(ListenOptions):
    """The options of a listener on ROS 1."""

    master: str = ""
    """Address of the master; "" takes ``ROS_MASTER_URI``, else ``http://127.0.0.1:11311``."""
    host: str = ""
    """Address to listen on; "" takes ``ROS_IP``, ``ROS_HOSTNAME``, else 127.0.0.1."""


@dataclass(frozen=True, kw_only=True)
class Listen2Options(ListenOptions):
    """The options of a listener on ROS 2."""

    domain: int = option(-1, low=-1, high=232)
    """Number of the domain; -1 takes ``ROS_DOMAIN_ID``, else 0."""
    loopback: bool = True
    """Talk on 127.0.0.1 only; false follows ``ROS_AUTOMATIC_DISCOVERY_RANGE`` and ``ROS_STATIC_PEERS``."""


class Mute:
    """Makes a node unable to send: it has no publisher, no service, no action and sets no parameter."""

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise BridgeError("this node only listens; it has no publishers, services, actions or parameters")

    advertise = serve = serve_later = serve_action = set_param = _refuse


class _Ros1Ear(Mute, Ros1Node):
    """A node of ROS 1 with subscriptions only."""


class _Ros2Ear(Mute, Ros2Node):
    """A node of ROS 2 whose only writers are those of discovery.

    Its readers are best effort: they match every publisher, ask for nothing again, and wait for nothing that is lost.
    """

    def subscribe(
        self, topic: str, type_name: str, callback: MessageCallback, *, latch: bool = False, reliable: bool = False
    ) -> None:
        """Listen to a topic."""
        super().subscribe(topic, type_name, callback, latch=latch, reliable=reliable)


class RosListener:
    """Subscribes to the states and commands of a robot's joints.

    Args:
        robot: the robot as it is described.
        node: a node that is not started.
        options: what is listened to.
    """

    def __init__(self, robot: Robot, node: Node, options: ListenOptions) -> None:
        self.node, self._options = node, options
        self._space = options.namespace or robot.interface.namespace or robot.name
        self._joints = {topic_name(joint)[1:]: joint for joint in robot.actuators}
        """Name on the wire -> joint."""
        self._modes = {joint: actuator.mode for joint, actuator in robot.actuators.items()}
        self._inbox = Inbox(1)
        self._clock_ns, self._clocked = 0, False
        self._plans: dict[str, dict[tuple[str, ...], list[tuple[str, JointSource]]]] = {}
        self._strangers: dict[str, str] = {}
        self._others: set[str] = set()
        self._own_topics = {self._topic(name, "link_state") for name in self._joints}
        self._own = False
        """Whether the joints have states of their own, so that those of all joints are not needed."""

    def start(self, inbox: Inbox) -> None:
        """Start the node and subscribe."""
        self._inbox = inbox
        node = self.node
        node.on_complaint = inbox.note
        node.on_publication = self._published
        node.start()
        node.announce()
        if self._options.clock != "wall":
            node.subscribe(CLOCK_TOPIC, "rosgraph_msgs/Clock", self._take_clock)
            self._clocked = self._options.clock == "ros" or bool(node.taken([CLOCK_TOPIC]))
        for name, joint in self._joints.items():
            self._hear(self._topic(name, "link_state"), node.state_type)
            for k in (1, 2):
                self._hear(self._topic(name, f"motor_{k}_state"), JOINT_STATE)
            for k, command in enumerate(COMMAND_NAMES[self._modes[joint]], start=1):
                if command != "disabled":
                    topic = self._topic(name, command)
                    node.subscribe(topic, "std_msgs/Float64", self._command_taker(topic, f"{joint}/reference_{k}"))
        self._others = {self._topic(each) for each in AGGREGATED}
        self._others |= {"/" + topic.strip("/") for topic in self._options.states.split("+") if topic}
        for topic in node.taken(sorted(self._others)):
            self._published(topic, "")

    def stop(self) -> None:
        """Close the node."""
        self.node.stop()

    def where(self) -> str:
        """Return the wire and the name space."""
        return f"{self.node.wire} at {self.node.where()}, name space {topic_name(self._space)}"

    def lost(self) -> str:
        """Return why the wire is lost, "" while it is not."""
        return self.node.lost()

    def silent(self) -> str:
        """Return the topics that other robots publish."""
        found = [f"{topic} ({who})" for topic, who in list(self._strangers.items())[:8]]
        return f"other states are published: {', '.join(found)}; choose with namespace=" if found else ""

    # ------------------------------------------------------------------ inside
    def _topic(self, *parts: str) -> str:
        return topic_name(self._space, *parts)

    def _time(self) -> float | None:
        """Return the robot's time of what arrives now [s]; None before the first message of the clock."""
        if self._clock_ns:
            return self._clock_ns * 1e-9
        return None if self._clocked else time.monotonic()

    def _take_clock(self, message: MessageView) -> None:
        self._clock_ns = int(message["clock"])

    def _published(self, topic: str, who: str) -> None:
        """Listen to states of all joints while no joint has its own; note joints that this robot does not have."""
        if topic in self._others and topic not in self._plans and not self._own:
            self._hear(topic, JOINT_STATE)
        owner, _, last = topic.rpartition("/")
        space = topic_name(self._space)
        if last == "link_state" and topic not in self._own_topics and len(self._strangers) < MAX_NAMES:
            joint = owner.rpartition("/")[2]
            if topic not in self._strangers and owner.startswith(space + "/"):
                near = nearest(joint, self._joints)
                self._inbox.note(
                    f"{printable(topic)}: the robot that is heard has a joint {printable(joint)!r}; {near}"
                )
            self._strangers[topic] = printable(who)

    def _hear(self, topic: str, kind: str) -> None:
        self._plans[topic] = {}
        self.node.subscribe(topic, kind, lambda message: self._take(topic, kind, message))

    def _take(self, topic: str, kind: str, message: MessageView) -> None:
        if not self._own and topic in self._own_topics:
            self._own = True
            for other in self._others & set(self._plans):
                self.node.unsubscribe(other)
        names = tuple(message["name"]) if kind == JOINT_STATE else ()
        plans = self._plans[topic]
        plan = plans.get(names)
        if plan is None:
            if len(plans) >= MAX_NAMES:
                plans.clear()
            plan = plans[names] = self._plan(topic, kind, names)
        header = message.get("header") if isinstance(message, Mapping) else None
        stamp = int(header["stamp"]) if header else 0
        now = stamp * 1e-9 if stamp else self._time()
        if now is None or not plan:
            return
        by_rank: dict[int, dict[str, float]] = {}
        for port, source in plan:
            value = source.read(message)
            if math.isfinite(value):
                by_rank.setdefault(source.rank, {})[port] = value
        for rank, values in by_rank.items():
            self._inbox.put(Heard(topic, rank, now, bool(stamp), values))

    def _plan(self, topic: str, kind: str, names: tuple[str, ...]) -> list[tuple[str, JointSource]]:
        plan = [
            (f"{joint}/{PORTS[source.quantity]}", source)
            for name, joint in self._joints.items()
            for source in joint_sources(topic, kind, name if not names else joint, names)
            if source.quantity in PORTS
        ]
        if names and not plan:
            self._inbox.note(
                f"{topic} names the joints {', '.join(printable(name) for name in names[:8])}, and none of "
                f"{', '.join(self._joints.values())}: it is another robot's"
            )
        return plan

    def _command_taker(self, topic: str, port: str) -> Callable[[MessageView], None]:
        def take(message: MessageView) -> None:
            now, value = self._time(), float(message["data"])
            if now is not None and math.isfinite(value):
                self._inbox.put(Heard(topic, COMMAND_RANK, now, False, {port: value}))

        return take


def listen1(robot: Robot, options: Listen1Options) -> RosListener:
    """Return what listens to a robot on ROS 1."""
    return RosListener(robot, _Ros1Ear(NAME, master=options.master or None, host=options.host or None), options)


def listen2(robot: Robot, options: Listen2Options) -> RosListener:
    """Return what listens to a robot on ROS 2."""
    domain = None if options.domain == -1 else options.domain
    return RosListener(robot, _Ros2Ear(NAME, domain=domain, loopback=options.loopback), options)

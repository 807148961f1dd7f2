"""The bridge between the devices and a wire of ROS, as the loop drives it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pliant.base.errors import BridgeError
from pliant.base.threads import Threads
from pliant.devices.base import Sample, SampleSource
from pliant.model.robot import Robot
from pliant.ros.bridge.control_topics import serve_control_topics
from pliant.ros.bridge.controller_manager import serve_controller_manager
from pliant.ros.bridge.description import described, serve_description
from pliant.ros.bridge.diagnostics import Diagnostics
from pliant.ros.bridge.groups import serve_groups
from pliant.ros.bridge.interfaces import INTERFACES, NAMES
from pliant.ros.bridge.joint_state import serve_other_joints
from pliant.ros.bridge.lockstep import Lockstep
from pliant.ros.bridge.names import sync_names
from pliant.ros.bridge.node import Node
from pliant.ros.bridge.node_parameters import serve_node_parameters
from pliant.ros.bridge.options import RosOptions
from pliant.ros.bridge.parameters import set_parameters
from pliant.ros.bridge.rosout import Rosout, serve_rosout
from pliant.ros.bridge.send_rate import SendRate
from pliant.ros.bridge.services import serve_clock, serve_control
from pliant.ros.bridge.sharing import ROBOTS, refuse_shared, serve_manifest
from pliant.ros.bridge.tf import serve_odometry, serve_tf
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.bridge.unmatched_commands import UnmatchedCommands
from pliant.simulation.bridge import BridgeBase, SimulationControl, TopicReport
from pliant.simulation.loop_cost import LoopCost

if TYPE_CHECKING:
    from pliant.simulation.replayed import Replayed

SHARED_TOPICS = ("/diagnostics", "/tf", "/tf_static", "/joint_states", "/rosout", "/parameter_events")
"""Topics that several nodes may publish."""
MIN_MESSAGES_FOR_RATE = 10
"""Topics with fewer messages have no rate of their own."""


class RosBridge(BridgeBase):
    """The devices of a robot on a wire of ROS.

    Encoding happens in the loop's thread, into templates; sending happens elsewhere.

    Args:
        robot: the robot, or what is replayed; None where there is neither.
        node: the wire.
        options: what is served, how often, and who waits for whom.
        name: how messages call the bridge.
    """

    def __init__(
        self, robot: Robot | Replayed | None, node: Node, options: RosOptions | None = None, *, name: str = "ros"
    ) -> None:
        self.name = name
        self.robot = robot
        self.node = node
        self.options = options or RosOptions()
        self.topics = RosTopics(robot, node, self.options)
        self._lockstep = Lockstep(
            self.topics,
            tuple(
                self.topics.names.topic(t if t.startswith("/") else self.topics.name(t))
                for t in sync_names(self.options.sync)
            ),
            self.options.sync_rate,
        )
        self.lockstep = bool(self._lockstep.awaited)
        self.on_complaint: Callable[[str], None] = lambda text: None
        """Called, in any thread, with each fault of the other side; whoever shows them sets it."""
        node.on_complaint = self._complained
        self._unmatched = UnmatchedCommands(self.topics)
        node.on_publication = self._unmatched.heard
        self._rosout: Rosout | None = None
        self._started = 0.0
        self._cost = LoopCost()
        self._last_tick = 0
        self._others: list[str] = []
        self._frames: frozenset[str] = frozenset()

    @property
    def threads(self) -> Threads:
        """The threads of the wire."""
        return self.node.threads

    @property
    def namespace(self) -> str:
        """Prefix of the robot's topics, without slashes around it."""
        return self.topics.namespace

    # ------------------------------------------------------------------ the loop
    def bind(self, simulation: SimulationControl) -> None:
        """Let services reach the simulation: pause, step, reset."""
        self.topics.simulation = simulation

    def start(self, devices: Mapping[str, SampleSource]) -> None:
        """Open the wire and announce every topic.

        Raises:
            BridgeError: no master, a name or name space that is in use, a port in use, a rate that no device has.
            MissingDependency: a package is not installed.
        """
        node = self.node
        node.lockstep = self.lockstep
        node.start()
        try:
            self.plan(devices)
            self._refuse_taken()
            self._manifest()
            if self._others:  # by now all of their topics are known
                self._refuse_taken()
            node.announce()
            self._unmatched.begin()
        except BaseException:
            node.stop()
            raise
        self._started = time.monotonic()

    def plan(self, devices: Mapping[str, SampleSource]) -> None:
        """Advertise and listen for every device; `start` calls this when the wire is open."""
        topics = self.topics
        topics.devices = dict(devices)
        if self.options.clock:
            serve_clock(topics)
        description = described(topics)
        if description is not None:
            topics.link_offsets = description.offsets
        for name, device in topics.devices.items():
            NAMES.find(device)(topics, name, device)
        for name, device in topics.devices.items():
            topics.writers[name] = []
            INTERFACES.find(device)(topics, name, device)
        serve_control_topics(topics)
        serve_groups(topics, None if description is None else description.tree.model)
        if description is not None:
            serve_other_joints(topics, description.tree, description.joints)
            serve_odometry(topics, description)
            if self.options.description:
                serve_description(topics, description)
            if self.options.tf:
                self._frames = serve_tf(topics, description)
        for topic in self._lockstep.awaited:
            if topic not in topics.incoming:
                topics.listen(topic, "std_msgs/Bool", lambda _: None)
        serve_control(topics)
        serve_controller_manager(topics)
        set_parameters(topics)
        serve_node_parameters(topics)
        self._rosout = serve_rosout(topics)
        if topics.simulation is not None:  # a bag has no pace
            Diagnostics(topics, self.options.node_name(self.robot))

    def _refuse_taken(self) -> None:
        # What is also listened to (the manager's references) may have other senders: a controller that came first.
        shared = {*SHARED_TOPICS, *self.topics.incoming}
        taken = self.node.taken([ROBOTS, *(h.topic for h in self.topics.handles if h.topic not in shared)])
        self._others = taken.pop(ROBOTS, [])
        if not taken:
            return
        space = f"/{self.namespace}/"
        topic = next((t for t in taken if t.startswith(space)), next(iter(taken)))
        nodes = ", ".join(taken[topic])
        if topic == "/clock":
            raise BridgeError(
                f"/clock is already published by {nodes}: only one simulation may publish the time. Stop it, or let "
                f"this one publish no clock ({self.name}:clock=false)",
                field="clock",
            )
        both = ",clock=false" if "/clock" in taken else ""
        if topic.startswith(space):
            raise BridgeError(
                f"{topic} is already published by {nodes}: another robot uses the name space /{self.namespace}. Stop "
                f"it, or give this one another ({self.name}:namespace=NAME{both})",
                field="namespace",
            )
        raise BridgeError(
            f"{topic} is already published by {nodes}. Stop it, or give the topic of this robot another name "
            f"({self.name}:remap={topic}:/NAME{topic}{both})",
            field="remap",
        )

    def _manifest(self) -> None:
        """Say what the robot has on the graph; refuse what another robot of the graph has too."""
        if isinstance(self.robot, Robot):
            node = self.options.node_name(self.robot)
            mine = serve_manifest(self.topics, node, self._frames)
            if self._others:
                refuse_shared(self.topics, self.name, mine, self._others)

    def publish(self, sample: Sample) -> None:
        """Encode and queue what this sample carries."""
        topics = self.topics
        writers = topics.writers.get(sample.device)
        if writers is None:
            return
        began = time.perf_counter_ns()
        topics.latest[sample.device] = sample
        for write in writers:
            write(sample)
        self._cost.spent_ns += time.perf_counter_ns() - began

    def tick(self, stamp_ns: int) -> None:
        """Send the clock and advance what runs with the time.

        Raises:
            BridgeError: the wire is lost, and ``on_lost`` is "halt".
        """
        began = time.perf_counter_ns()
        self._cost.end_step()
        if stamp_ns < self._last_tick:
            for rewind in self.topics.rewinds:
                rewind()
        self._last_tick = stamp_ns
        self.topics.tick(stamp_ns)
        if self.options.on_lost == "halt":
            fault = self.node.lost()
            if fault:
                raise BridgeError(f"{self.name}: {fault}", field=self.name)
        self._cost.spent_ns += time.perf_counter_ns() - began

    def wait(self, timeout: float) -> bool:
        """Wait [s] until every topic of ``sync`` has brought one message more; False if the time ran out."""
        return self._lockstep.wait(self._last_tick, timeout, self._again)

    def release(self) -> None:
        """Let a waiting loop go on."""
        self._lockstep.stop()

    def _again(self) -> None:
        topics = self.topics
        topics.tick(self._last_tick)
        for sample in list(topics.latest.values()):
            for write in topics.writers[sample.device]:
                write(sample)

    def stop(self) -> None:
        """Close the wire and join its threads."""
        self._lockstep.stop()
        self.node.stop()

    def end(self, text: str) -> None:
        """End the run after the present step, because the other side asks for it; any thread may call this.

        Args:
            text: who asks, and why.
        """
        simulation = self.topics.simulation
        self.node.complain(text if simulation is not None else f"{text}; it goes on")
        if simulation is not None:
            simulation.stop()
            self._lockstep.stop()

    def _complained(self, text: str) -> None:
        self.on_complaint(text)
        if self._rosout is not None:
            self._rosout.say(text)

    def health(self) -> dict[str, object]:
        """Return what was sent and received, what was dropped or refused, and what the loop paid for it."""
        topics = self.topics
        return {
            "namespace": self.namespace,
            "topics": len(topics.handles),
            "sent": sum(handle.count for handle in topics.handles),
            "dropped": sum(handle.drops for handle in topics.handles),
            "received": sum(item["count"] for item in list(topics.incoming.values())),
            "rejected": topics.rejected,
            **self._cost.health(),
            **self.node.health(),
        }

    @property
    def addresses(self) -> dict[str, str]:
        """Message to the user: served item -> address."""
        out, into = len(self.topics.handles), len(self.topics.incoming)
        return {f"{out} topics out, {into} in, name space /{self.namespace}": self.node.where()}

    @property
    def awaited(self) -> tuple[str, ...]:
        """Full names of the topics that answer each step; none where the loop does not wait."""
        return self._lockstep.awaited

    def report(self) -> list[TopicReport]:
        """Return one row per topic: name, type, direction, count, rate while somebody listened [Hz], who listened."""
        wall = max(1e-9, time.monotonic() - self._started)
        rows: list[tuple[Any, ...]] = [
            (h.topic, h.type, "out", h.count, h.rate, h.subscribers) for h in self.topics.handles
        ]
        for topic, item in list(self.topics.incoming.items()):
            rows.append((topic, item["type"], "in", item["count"], item["rate"], self.node.publishers_of(topic)))
        return [
            TopicReport(topic=topic, type=kind, direction=way, count=count, rate=_rate(rate, count, wall), peers=peers)
            for topic, kind, way, count, rate, peers in rows
        ]


def _rate(rate: SendRate, count: int, wall: float) -> float:
    """Return how often messages were sent while somebody listened, or came [Hz]; of a few, in all the time."""
    return rate.hz if rate.gaps >= MIN_MESSAGES_FOR_RATE else count / wall

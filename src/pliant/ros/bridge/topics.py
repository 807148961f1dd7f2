"""Topics of a bridge: topics out, topics in, and the actions of every step; the interfaces add them."""

from __future__ import annotations

import itertools
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.base.errors import BridgeError, PliantError
from pliant.base.names import free_name
from pliant.devices.base import Sample, SampleSource
from pliant.model.interface import DEFAULT_NAMESPACE, Interface
from pliant.model.wanted import check_source
from pliant.ros.bridge.actions import ActionHandler, ActionServer
from pliant.ros.bridge.graph_names import GraphNames, read_remaps
from pliant.ros.bridge.names import topic_name
from pliant.ros.bridge.node import Node, TopicHandle
from pliant.ros.bridge.options import RosOptions
from pliant.ros.bridge.send_rate import SendRate
from pliant.ros.wire import Template
from pliant.ros.wire.message import Message, MessageCallback, MessageView, ServiceCallback
from pliant.simulation.bridge import SimulationControl
from pliant.simulation.rate_timer import RateTimer

if TYPE_CHECKING:
    from pliant.model.robot import Robot
    from pliant.ros.bridge.trajectory_controller import TrajectoryController
    from pliant.simulation.replayed import Replayed


class RosTopics:
    """The topics of one bridge.

    An interface calls `advertise` and `listen` for its topics, adds to `writers` what is called with each sample of a
    device, to `ticks` what is called with each step's time [ns], and to `rewinds` what is called when time starts anew.

    Args:
        robot: the robot, or what is replayed; None where there is neither.
        node: the wire.
        options: what is asked for.
    """

    def __init__(self, robot: Robot | Replayed | None, node: Node, options: RosOptions) -> None:
        check_source(robot, "RosBridge")
        self.robot = robot
        self.node = node
        self.options = options
        self.interface: Interface = Interface() if robot is None else robot.interface
        self.namespace = (options.namespace or self.interface.namespace or DEFAULT_NAMESPACE).strip("/")
        self.names = GraphNames(options.prefix, options.frame_prefix, read_remaps(options.remap))
        """Names of joints, frames and topics on the graph."""
        self.stated: set[str] = set()
        """Joints that stand in ``/joint_states``, by their names before the prefix."""
        self.controllers: list[TrajectoryController] = []
        """The trajectory controllers; those of one joint take turns."""
        self.services: list[str] = []
        """Names of the services that are served."""
        self.actions: list[str] = []
        """Names of the actions that are served."""
        self.link_offsets: Mapping[str, np.ndarray] = {}
        """Body of the model -> place of its link's frame in it [m]: on the axis of its joint."""
        self.simulation: SimulationControl | None = None
        """The simulation that services reach; None where nobody bound one."""
        self.devices: dict[str, SampleSource] = {}
        self.latest: dict[str, Sample] = {}
        """Device -> its last sample."""
        self.handles: list[TopicHandle] = []
        self.numbers: defaultdict[str, Iterator[int]] = defaultdict(itertools.count)
        """Topic -> numbers of its messages on ROS 1, whoever fills them."""
        self.incoming: dict[str, dict[str, object]] = {}
        """Topic -> its type and how many messages came."""
        self.writers: dict[str, list[Callable[[Sample], None]]] = {}
        self.ticks: list[Callable[[int], None]] = []
        self._timed: dict[float, list[Callable[[int], None]]] = {}
        self._times: list[tuple[RateTimer, list[Callable[[int], None]]]] = []
        self.rewinds: list[Callable[[], None]] = []
        self.rejected = 0
        self.arrivals: dict[str, int] = {}
        """Topic that the loop waits for -> messages that came on it."""
        self.arrival = threading.Condition()

    def name(self, *parts: str) -> str:
        """Return a topic under the robot's name space."""
        return topic_name(self.namespace, *parts)

    def of(self, device: SampleSource, name: str, *parts: str) -> str:
        """Return a topic of a device: below what its description says, absolute or in the name space, else its name."""
        base = device.topic or name
        return topic_name(base, *parts) if base.startswith("/") else self.name(base, *parts)

    def frame(self, device: SampleSource) -> str:
        """Return the frame in which a device measures: its own where the frame of its body is not that of the link."""
        mount = device.mount
        if mount is None or device.frame != mount.body or not np.any(self.link_offsets.get(mount.body, 0.0)):
            return device.frame
        return free_name(device.name, self.link_offsets, "_frame")

    def at(self, rate: float, action: Callable[[int], None]) -> None:
        """Call ``action(stamp_ns)`` at a rate [Hz], after the ticks; actions of equal rate share one check per step."""
        actions = self._timed.get(rate)
        if actions is None:
            actions = self._timed[rate] = []
            self._times.append((RateTimer(rate), actions))
        actions.append(action)

    def tick(self, stamp_ns: int) -> None:
        """Run what runs with each step's time [ns]."""
        for act in self.ticks:
            act(stamp_ns)
        for every, actions in self._times:
            if every.due(stamp_ns):
                for act in actions:
                    act(stamp_ns)

    # ------------------------------------------------------------------ out
    def advertise(self, topic: str, type_name: str, *, latch: bool = False, reliable: bool = True) -> TopicHandle:
        """Publish a topic; the same topic twice is one."""
        handle = self.node.advertise(self.names.claim(topic), type_name, latch=latch, reliable=reliable)
        if handle not in self.handles:
            self.handles.append(handle)
        return handle

    def template(self, type_name: str, values: MessageView, paths: list[str]) -> Callable[..., bytes]:
        """Return what encodes a message whose length does not change; see `pliant.ros.wire.Template`."""
        return Template(self.node.codec, type_name, self.names.message(values), paths).fill

    def stamped(
        self, type_name: str, values: MessageView, paths: list[str], *, named: bool = False, topic: str = ""
    ) -> Callable[..., bytes]:
        """Return what encodes a message with a header: ``fill(stamp_ns, *values of the paths)``.

        With ``named`` the joints and frames in it have the names of the graph already. A ``topic`` that others fill too
        has one count of messages.
        """
        values = values if named else self.names.message(values)
        numbers = self.numbers[topic] if topic else None
        return Template(self.node.codec, type_name, values, ["header.stamp", *paths], numbers=numbers).fill

    def serve_action(self, name: str, type_name: str, handler: ActionHandler) -> ActionServer:
        """Serve an action on the bridge's wire.

        Args:
            name: full name of the action.
            type_name: ``package/Type`` without "Action", such as ``control_msgs/FollowJointTrajectory``.
            handler: what its goals do.
        """
        server = ActionServer(name, handler)
        self.actions.append(self.names.claim(name))
        self.node.serve_action(self.actions[-1], type_name, server)
        self.ticks.append(server.tick)
        self.rewinds.append(server.rewind)
        return server

    # ------------------------------------------------------------------ in
    def listen(self, topic: str, type_name: str, action: MessageCallback) -> None:
        """Take the messages of a topic; what ``action`` refuses is counted and told."""
        topic = self.names.claim(topic)
        item: dict[str, Any] = {"type": type_name, "count": 0, "rate": SendRate()}
        self.incoming[topic] = item
        awaited = topic in self.arrivals

        def arrived(message: Message) -> None:
            item["count"] += 1
            item["rate"].sent(1)
            try:
                action(message)
            except PliantError as error:
                self.refuse(f"{topic}: {error}")
            if awaited:
                with self.arrival:
                    self.arrivals[topic] += 1
                    self.arrival.notify_all()

        self.node.subscribe(topic, type_name, arrived)

    def serve(self, name: str, type_name: str, callback: ServiceCallback) -> None:
        """Answer a service, where the wire has services.

        Where the response has ``success`` and ``message``, it is a success unless the callback says otherwise; a
        `PliantError` of the callback becomes a refusal with the error's text.
        """
        if not self.node.has_services:
            return
        self.services.append(self.names.claim(name))

        def told(request: Message) -> Message:
            try:
                return {"success": True, **callback(request)}
            except PliantError as error:
                return {"success": False, "message": str(error)}

        tells = self.node.codec.types.service(type_name).tells_success
        self.node.serve(self.services[-1], type_name, told if tells else callback)

    def unlisten(self, topic: str) -> None:
        """Take no more messages of a topic."""
        topic = self.names.topic(topic)
        if self.incoming.pop(topic, None) is not None:
            self.node.unsubscribe(topic)

    def refuse(self, text: str) -> None:
        """Count and tell what the other side did wrong."""
        self.rejected += 1
        self.node.complain(text)

    # ------------------------------------------------------------------ the simulation
    def every(self, name: str, rate: float | None, device: SampleSource | None = None) -> RateTimer:
        """Return the times of a rate [Hz]; None is 0, every sample.

        Raises:
            BridgeError: the device's samples are fewer.
        """
        period = 0 if device is None else device.sample_period_ns
        if device is not None and rate and period and rate * period > 1.000001e9:
            raise BridgeError(
                f"{name} is {rate:g} Hz; {device.name} has a sample every {period * 1e-6:g} ms: must be at most "
                f"{1e9 / period:g} Hz",
                field=name,
            )
        return RateTimer(rate or 0.0)

"""Run a policy as a controller of a robot, real or simulated, over the joint topics of ROS."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.bridges.ros.names import topic_name
from pliant.control.policy import INPUT, Policy, PolicyError
from pliant.errors import BridgeError, nearest

if TYPE_CHECKING:
    from pliant.bridges.ros.node import Node

__all__ = ["BRIDGES", "PolicyRun", "RosJoints", "open_node", "run_policy"]

ROS = ("ros1", "ros2")
"""Wires of ROS."""
BRIDGES = (*ROS, "fci")
"""Wires that a policy can talk on; `pliant.clients.franka.policy` has the last one."""
STATE = {
    "position": "q",
    "velocity": "dq",
    "reference_1": "ref_1",
    "reference_2": "ref_2",
    "elastic_torque": "tau",
    "reported_stiffness": "stiff",
}
"""Quantity of a joint -> its field in the message ``link_state``."""
FIRST_MESSAGE_S = 10.0
"""How long the first message of each joint may take [s]."""
TIMEOUT_S = 0.5
"""Age of an observation after which the run stops [s]."""


def open_node(bridge: str, name: str = "pliant_policy") -> Node:
    """Return a node of ROS that is not started; ``ROS_MASTER_URI`` and ``ROS_DOMAIN_ID`` say where it goes.

    Raises:
        BridgeError: an unknown bridge.
    """
    if bridge == "ros1":
        from pliant.bridges.ros1.node import Ros1Node

        return Ros1Node(name)
    if bridge == "ros2":
        from pliant.bridges.ros2.node import Ros2Node

        return Ros2Node(name)
    raise BridgeError(f"{bridge!r} is no bridge of ROS; {nearest(bridge, ROS)}", field="bridge")


class RosJoints:
    """The joints that a policy observes and commands: ``<namespace>/<joint>/link_state`` and one topic a command.

    Args:
        policy: names the joints.
        node: a node that is not started.
        namespace: prefix of the robot's topics; "" takes that of the policy.

    Raises:
        PolicyError: an observation that ``link_state`` does not have.
    """

    def __init__(self, policy: Policy, node: Node, *, namespace: str = "") -> None:
        self.node = node
        self._space = namespace or policy.namespace
        self._messages: dict[str, dict[str, Any]] = {}
        self._times: dict[str, float] = {}
        self.arrived = threading.Condition()
        """Notified with each message."""
        self.counts: dict[str, int] = {}
        """Messages of each joint."""
        self._columns: list[tuple[str, str]] = []
        for name in policy.observations:
            if name.startswith(INPUT):
                continue
            joint, _, quantity = name.rpartition("/")
            if quantity not in STATE:
                raise PolicyError(
                    f"the observation {name!r} is not in the joint's message link_state; {nearest(quantity, STATE)}",
                    field="observations",
                )
            self._columns.append((joint, STATE[quantity]))
        self.joints = tuple(dict.fromkeys(joint for joint, _ in self._columns))
        self._commands = policy.commands
        self._publications: list[Any] = []

    def topic(self, joint: str, name: str) -> str:
        """Return the topic of a joint."""
        return topic_name(self._space, joint, name)

    def start(self) -> None:
        """Open the node, listen to the joints, announce the commands."""
        self.node.start()
        for joint in self.joints:
            self.node.subscribe(self.topic(joint, "link_state"), self.node.state_type, self._taker(joint))
        for name in self._commands:
            joint, _, command = name.rpartition("/")
            self._publications.append(self.node.advertise(self.topic(joint, command), "std_msgs/Float64"))
        self.node.announce()

    def stop(self) -> None:
        """Close the node; the robot keeps the last command."""
        self.node.stop()

    def _taker(self, joint: str) -> Callable[[dict[str, Any]], None]:
        def take(message: dict[str, Any]) -> None:
            with self.arrived:
                self._messages[joint] = message
                self._times[joint] = time.monotonic()
                self.counts[joint] = self.counts.get(joint, 0) + 1
                self.arrived.notify_all()

        return take

    def wait(self, timeout: float = FIRST_MESSAGE_S) -> None:
        """Wait for the first message of each joint, and for a listener to each command.

        Raises:
            BridgeError: a topic that nobody sends, or that nobody listens to.
        """
        end = time.monotonic() + timeout

        def silent() -> list[str]:
            found = [self.topic(joint, "link_state") for joint in self.joints if joint not in self._messages]
            return found or [p.topic for p in self._publications if not p.active]

        with self.arrived:
            while silent() and time.monotonic() < end:
                self.arrived.wait(0.05)
        for topic in silent()[:1]:
            raise BridgeError(
                f"nobody answers on {topic} within {timeout:g} s; start the robot, such as with pliant run ROBOT "
                f"--bridge {self.node.wire}, or give its name space with --namespace",
                field="topic",
            )

    def observe(self) -> tuple[NDArray[np.float64], float]:
        """Return the measured observations in the policy's order, and the age of the oldest message [s]."""
        with self.arrived:
            values = np.array([self._messages[joint][column] for joint, column in self._columns], dtype=float)
            age = time.monotonic() - min(self._times[joint] for joint in self.joints) if self.joints else 0.0
        return values, age

    def send(self, commands: NDArray[np.float64]) -> None:
        """Send one value for each command."""
        for publication, value in zip(self._publications, commands, strict=True):
            publication.send(self.node.codec.encode("std_msgs/Float64", {"data": float(value)}))

    def __enter__(self) -> RosJoints:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None):
        self.stop()


def check_inputs(policy: Policy, inputs: Mapping[str, float], timeout: float) -> None:
    """Refuse inputs that a policy does not have, that are missing or not finite, and a timeout of 0 or less.

    Raises:
        PolicyError: the first of these.
    """
    for name in inputs:
        if name not in policy.inputs:
            raise PolicyError(f"the policy has no input {name!r}; {nearest(name, policy.inputs)}", field=name)
    for name in policy.inputs:
        if name not in inputs:
            raise PolicyError(f"the policy needs the input {name!r}; give it as --input {name}=VALUE", field=name)
        if not math.isfinite(inputs[name]):
            raise PolicyError(f"the input {name} is {inputs[name]}; must be a finite number", field=name)
    if not timeout > 0.0:
        raise PolicyError(f"timeout is {timeout:g}; must be > 0 s", field="timeout")


def full_observation(policy: Policy, inputs: Mapping[str, float], measured: Iterable[float]) -> list[float]:
    """Return what a policy observes, in its order: inputs, and what was measured."""
    rest = iter(measured)
    return [
        inputs[name.removeprefix(INPUT)] if name.startswith(INPUT) else float(next(rest))
        for name in policy.observations
    ]


@dataclass(slots=True)
class PolicyRun:
    """A policy that acts on joints, once a period.

    Raises:
        PolicyError: an input that the policy does not have, or one that is missing.
    """

    policy: Policy
    """What acts."""
    joints: RosJoints
    """What it acts on."""
    inputs: Mapping[str, float]
    """Value of each ``input/<name>``."""
    timeout: float = TIMEOUT_S
    """Age of an observation after which `step` refuses to act [s]."""
    steps: int = 0
    """Commands that were sent."""
    late: int = 0
    """Commands that were sent more than a period late."""

    def __post_init__(self) -> None:
        check_inputs(self.policy, self.inputs, self.timeout)

    def step(self) -> NDArray[np.float64]:
        """Observe, act, send; return the commands.

        Raises:
            BridgeError: the last message of a joint is too old, the wire is lost, or a message holds NaN. Nothing is
                sent: the robot keeps its last references.
        """
        lost = self.joints.node.lost()
        if lost:
            raise BridgeError(f"the policy stopped: {lost}")
        measured, age = self.joints.observe()
        if age > self.timeout:
            raise BridgeError(
                f"the policy stopped: the last message of a joint is {age:.2f} s old, more than {self.timeout:g} s; "
                "the robot keeps its last references",
                field="timeout",
            )
        try:
            commands = self.policy.act(full_observation(self.policy, self.inputs, measured))
        except PolicyError as error:
            raise BridgeError(f"the policy stopped: {error}; the robot keeps its last references") from None
        self.joints.send(commands)
        self.steps += 1
        return commands


def run_policy(run: PolicyRun, *, duration: float = math.inf, stop: threading.Event | None = None) -> None:
    """Act once a period, in real time, until the duration is over or ``stop`` is set.

    Raises:
        BridgeError: the robot is silent.
    """
    run.joints.wait()
    stop = stop or threading.Event()
    first = time.monotonic()
    while run.steps * run.policy.period < duration - 1e-9:
        due = first + run.steps * run.policy.period
        ahead = due - time.monotonic()
        if ahead > 0.0 and stop.wait(ahead):
            return
        if stop.is_set():
            return
        if ahead < -run.policy.period:
            run.late += 1
            first -= ahead
        run.step()
    stop.wait(max(0.0, first + run.steps * run.policy.period - time.monotonic()))

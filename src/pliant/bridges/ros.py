"""A robot's topics, the same for ROS 1 and ROS 2: which device speaks where, in which type, how often.

The names and types are those of the compliant-actuator toolbox (NMMI/ROS-Gazebo-compliant-actuators-plugin) and, beside
them, the standard ones and those of the qb_move packages. `RosBridge` is the bridge; the wire below it is a
`Transport`. Encoding happens in the loop's thread, into templates; sending happens elsewhere.
"""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from pliant.devices.board import BOARD_STATES
from pliant.errors import BridgeError, DeviceError, PliantError, nearest
from pliant.laws import COMMAND_NAMES, Mode
from pliant.model.interface import DEFAULT_NAMESPACE, Interface, JointInterface
from pliant.wire.ros import Codec, Template

__all__ = ["RosBridge", "TopicHandle", "Trajectory", "Transport", "sync_names", "topic_name"]

ANSWER_TIMEOUT = 5.0
"""Longest wait of a service for the loop [s of wall time]."""
TF_PERIOD_NS = 20_000_000
QB_PERIOD_NS = 10_000_000
"""The qb_move packages publish their joints at 100 Hz."""
QB_PRESET = 3000 * math.pi / 2**14
"""Preset 1.0 of the qb_move packages [rad]: 3000 ticks of 180 deg / 2^14."""
QB_SUFFIXES = ("_motor_1_joint", "_motor_2_joint", "_shaft_joint", "_stiffness_preset_virtual_joint")
SYNC_TOPIC = "trigger_next_step"
WITH_MOTORS = (Mode.MOTOR_TORQUES, Mode.PID_REFS, Mode.PID_EQ_PRESET)


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
    """The wire below the topics."""

    name: str
    codec: Codec
    state_type: str
    """Name of the toolbox's state message."""
    services: bool
    """Whether `serve` is there."""
    lockstep: bool
    """Whether the loop waits for answers, in `wait_for`."""
    sync_topics: tuple[str, ...]
    """The topics that bring the answers."""

    def start(self) -> None: ...
    def announce(self) -> None: ...
    def stop(self) -> None: ...
    def advertise(self, topic: str, type_name: str, *, latch: bool = False, sensor: bool = False) -> TopicHandle: ...
    def subscribe(self, topic: str, type_name: str, callback: Callable[[dict[str, Any]], None]) -> None: ...
    def unsubscribe(self, topic: str) -> None: ...
    def serve(self, name: str, type_name: str, callback: Callable[[dict[str, Any]], dict[str, Any]]) -> None: ...
    def set_param(self, name: str, value: Any) -> None: ...
    def taken(self, topics: list[str]) -> dict[str, list[str]]: ...
    def complain(self, text: str) -> None: ...
    def lost(self) -> str: ...
    def flush(self) -> None: ...
    def wait_for(self, condition: threading.Condition, answered: Callable[[], bool], timeout: float) -> bool: ...
    def where(self) -> str: ...
    def health(self) -> dict[str, Any]: ...


def topic_name(*parts: str) -> str:
    """Return a name that ROS takes: other characters than letters, digits and underscores become underscores."""
    names = []
    for part in parts:
        for word in part.split("/"):
            plain = re.sub(r"[^A-Za-z0-9_]", "_", word)
            if plain:
                names.append(plain if not plain[0].isdigit() else f"_{plain}")
    return "/" + "/".join(names)


class Trajectory:
    """A joint trajectory being executed: linear between positions, cubic where velocities are given.

    Args:
        start_ns: simulation time of its time 0 [ns].
        times: times of the points [s], strictly increasing, shape (n,).
        positions: shape (n, joints).
        velocities: shape (n, joints), or None.
        begin: position at time 0, shape (joints,).
    """

    def __init__(
        self,
        start_ns: int,
        times: np.ndarray,
        positions: np.ndarray,
        velocities: np.ndarray | None,
        begin: np.ndarray,
    ) -> None:
        self.start_ns = start_ns
        if times[0] > 0.0:
            times = np.concatenate([[0.0], times])
            positions = np.vstack([begin, positions])
            if velocities is not None:
                velocities = np.vstack([np.zeros_like(begin), velocities])
        self._times, self._positions, self._velocities = times, positions, velocities

    def at(self, now_ns: int) -> tuple[np.ndarray, bool]:
        """Return the positions at a simulation time [ns], and whether the end is reached."""
        t = max(0.0, (now_ns - self.start_ns) * 1e-9)
        times, x = self._times, self._positions
        if t >= times[-1]:
            return x[-1], True
        i = int(np.searchsorted(times, t, side="right")) - 1
        h = times[i + 1] - times[i]
        s = (t - times[i]) / h
        if self._velocities is None:
            return x[i] + s * (x[i + 1] - x[i]), False
        v = self._velocities
        return (
            (1 + 2 * s) * (1 - s) ** 2 * x[i]
            + s * (1 - s) ** 2 * h * v[i]
            + s * s * (3 - 2 * s) * x[i + 1]
            + s * s * (s - 1) * h * v[i + 1]
        ), False


class _QbController:
    """A trajectory controller of the qb_move packages on one joint.

    Args:
        device: the joint.
        base: name of the qbmove.
        motors: whether it takes motor positions; else shaft position and preset.
    """

    def __init__(self, device: Any, base: str, motors: bool, complain: Callable[[str], None]) -> None:
        self.device = device
        self.motors = motors
        self.joints = [base + s for s in (QB_SUFFIXES[:2] if motors else QB_SUFFIXES[2:])]
        self.topic = ""
        self._complain = complain
        self._trajectory: Trajectory | None = None
        self._incoming: Mapping[str, Any] | None = None
        self._desired: np.ndarray | None = None

    def take(self, message: dict[str, Any]) -> None:
        """Leave a JointTrajectory for the loop; the thread of the sockets calls this."""
        self._incoming = message

    def forget(self) -> None:
        self._trajectory = self._incoming = self._desired = None

    @property
    def busy(self) -> bool:
        return self._incoming is not None or self._trajectory is not None

    def advance(self, now_ns: int, state: tuple[float, float] | None) -> None:
        """Put the references of this time into the mailbox; the loop's thread calls this.

        Args:
            now_ns: simulation time [ns].
            state: present equilibrium and preset [rad]; None: not measured yet, a new trajectory waits for it.
        """
        message = None
        if state is not None:
            message, self._incoming = self._incoming, None
        try:
            if message is not None and state is not None:
                self._begin(message, now_ns, state)
            if self._trajectory is None:
                return
            values, done = self._trajectory.at(now_ns)
            self._desired = values
            if done:
                self._trajectory = None
            self._put(values)
        except PliantError as error:
            self._trajectory = None
            self._complain(f"{self.topic}: {error}")

    def _begin(self, message: Mapping[str, Any], now_ns: int, state: tuple[float, float]) -> None:
        names = list(message["joint_names"])
        if sorted(names) != sorted(self.joints):
            raise DeviceError(f"joint_names are {names}; valid are {self.joints}, both in one message")
        order = [names.index(joint) for joint in self.joints]
        points = message["points"]
        if not points:
            self._trajectory = None  # an empty trajectory stops the motion where it is
            return
        times = np.array([p["time_from_start"] * 1e-9 for p in points])
        if times[0] < 0.0 or (np.diff(times) <= 0.0).any():
            raise DeviceError(f"time_from_start are {times.tolist()} s; valid are increasing times from 0 on")
        for key in ("positions", "velocities"):
            wrong = next((p for p in points if len(p[key]) not in ((2,) if key == "positions" else (0, 2))), None)
            if wrong is not None:
                raise DeviceError(f"a point has {len(wrong[key])} {key}; valid are 2, one for each of {self.joints}")
        positions = np.array([np.asarray(p["positions"], dtype=float)[order] for p in points])
        velocities = None
        if all(len(p["velocities"]) == 2 for p in points):
            velocities = np.array([np.asarray(p["velocities"], dtype=float)[order] for p in points])
        if not np.isfinite(positions).all() or not (velocities is None or np.isfinite(velocities).all()):
            raise DeviceError("a point has a position or velocity that is not finite")
        if not self.motors and not ((positions[:, 1] > -1e-9) & (positions[:, 1] < 1.0 + 1e-9)).all():
            raise DeviceError(f"the stiffness presets are {positions[:, 1].tolist()}; valid are 0 to 1")
        begin = self._desired
        if begin is None:
            eq, preset = state
            begin = np.array([eq + preset, eq - preset] if self.motors else [eq, preset / QB_PRESET])
        stamp = int(message["header"]["stamp"])
        self._trajectory = Trajectory(stamp or now_ns, times, positions, velocities, np.asarray(begin))

    def _put(self, values: np.ndarray) -> None:
        first, second = float(values[0]), float(values[1])
        if not self.motors:
            second *= QB_PRESET
        names = COMMAND_NAMES[self.device.mode]
        equilibrium = names[0] == "equilibrium_position"
        if names[0] not in ("equilibrium_position", "reference_1"):
            raise DeviceError(f"the joint is in mode {int(self.device.mode)}; valid are 2, 3, 5 and 6")
        if self.motors and equilibrium:
            first, second = 0.5 * (first + second), 0.5 * (first - second)
        elif not self.motors and not equilibrium:
            first, second = first + second, first - second
        self.device.inbox.put({names[0]: first, names[1]: second})


class RosBridge:
    """The bridge between the devices and a wire of ROS.

    Args:
        robot: a `pliant.model.Robot`, or None where there is none (a replay).
        transport: the wire.
        namespace: prefix of the toolbox's topics; None takes the robot's.
        clock: publish ``/clock`` at every step.
        aggregate_rate: rate of the aggregated topics [Hz]; 0 takes the manager's T_sample where there is a manager,
            else every sample of the board.
        joint_states: rate of ``/joint_states`` [Hz]; 0 for every sample of the board.
        tf: publish ``/tf`` (50 Hz, every body relative to the world).
        qb: serve the topics of the qb_move packages.
        sync: names of topics under the name space; if there are any, the loop waits after each step until every one
            of them has brought one message more ("lock-step").
        sync_rate: how often it waits [Hz of simulation time]; 0 for every step.
        on_lost: what happens when the wire is lost: "continue" or "halt".
        name: how messages call the bridge.
    """

    def __init__(
        self,
        robot: Any,
        transport: Transport,
        *,
        namespace: str | None = None,
        clock: bool = True,
        aggregate_rate: float = 0.0,
        joint_states: float = 0.0,
        tf: bool = True,
        qb: bool = True,
        sync: tuple[str, ...] = (),
        sync_rate: float = 0.0,
        on_lost: str = "continue",
        name: str = "ros",
    ) -> None:
        if on_lost not in ("continue", "halt"):
            raise BridgeError(f"on_lost is {on_lost!r}; {nearest(on_lost, ('continue', 'halt'))}", field="on_lost")
        for option, value in (
            ("aggregate_rate", aggregate_rate),
            ("joint_states", joint_states),
            ("sync_rate", sync_rate),
        ):
            if not (math.isfinite(value) and value >= 0.0):
                raise BridgeError(f"{option} is {value!r}; valid is a rate of 0 Hz or more", field=option)
        self.name = name
        self.robot = robot
        self.transport = transport
        self.lockstep = bool(sync)
        interface = getattr(robot, "interface", None) or Interface()
        self.interface: Interface = interface
        self.namespace = (namespace or interface.namespace or DEFAULT_NAMESPACE).strip("/")
        self._clock = clock
        self._aggregate_rate = aggregate_rate
        self._joint_states = joint_states
        self._tf = tf
        self._qb = qb
        self._sync_names = tuple(topic_name(self.namespace, item) for item in sync)
        self._on_lost = on_lost
        self._simulation: Any = None
        self._writers: dict[str, list[Callable[[Any], None]]] = {}
        self._ticks: list[Callable[[int], None]] = []
        self._handles: list[TopicHandle] = []
        self._incoming: dict[str, dict[str, Any]] = {}
        self._controllers: list[_QbController] = []
        self._latest: dict[str, Any] = {}
        self._sync_period = self._period(sync_rate)
        self._sync_condition = threading.Condition()
        self._sync_received = dict.fromkeys(self._sync_names, 0)
        self._sync_taken = dict.fromkeys(self._sync_names, 0)
        self._sync_begun = False
        self._stopping = False
        self._started = 0.0
        self._loop_ns = 0
        self._worst_ns = 0
        self._slow_steps = 0
        self._step_ns = 0
        self._steps = 0
        self._rejected = 0
        self._last_tick = 0
        self._board = ""
        self._board_joints: list[str] = []
        self._references: list[np.ndarray | None] = [None, None]
        self._seq = 0

    # ------------------------------------------------------------------ the loop
    def bind(self, simulation: Any) -> None:
        """Let services reach the simulation: pause, step, reset. Call this before the run."""
        self._simulation = simulation

    def start(self, devices: Mapping[str, Any]) -> None:
        """Open the wire and announce every topic.

        Raises:
            BridgeError: no master, a name or name space that is in use, a port in use.
            MissingDependency: a package is not installed.
        """
        self._devices = dict(devices)
        self.transport.lockstep = self.lockstep
        self.transport.sync_topics = self._sync_names
        self.transport.start()
        try:
            self._plan()
            taken = self.transport.taken([h.topic for h in self._handles if h.topic not in ("/tf", "/joint_states")])
            if taken:
                topic, nodes = next(iter(taken.items()))
                raise BridgeError(
                    f"{topic} is already published by {', '.join(nodes)}: another robot lives in the name space "
                    f"/{self.namespace}. Stop it, or give this one another (namespace=NAME)",
                    field="namespace",
                )
            self.transport.announce()
        except BaseException:
            self.transport.stop()
            raise
        self._started = time.monotonic()

    def publish(self, sample: Any) -> None:
        """Encode and queue what this sample carries."""
        writers = self._writers.get(sample.device)
        if writers is None:
            return
        began = time.perf_counter_ns()
        self._latest[sample.device] = sample
        for write in writers:
            write(sample)
        self._step_ns += time.perf_counter_ns() - began

    def tick(self, stamp_ns: int) -> None:
        """Send the clock and advance trajectories."""
        began = time.perf_counter_ns()
        spent = self._step_ns
        self._loop_ns += spent
        if spent > self._worst_ns:
            self._worst_ns = spent
        if spent > 1_000_000:
            self._slow_steps += 1
        self._steps += 1
        if stamp_ns < self._last_tick:
            for controller in self._controllers:
                controller.forget()
            self._references = [None, None]
        self._last_tick = stamp_ns
        for act in self._ticks:
            act(stamp_ns)
        if self._on_lost == "halt":
            fault = self.transport.lost()
            if fault:
                raise BridgeError(f"{self.name}: {fault}", field=self.name)
        self._step_ns = time.perf_counter_ns() - began

    def wait(self, timeout: float) -> bool:
        """Wait until every topic of ``sync`` has brought one message more.

        Before the first answer there is no time-out: the controller may come whenever it likes. Until then the samples
        are sent again every quarter of a second, for it may connect its two ends one after the other.
        """
        if self._last_tick % self._sync_period:
            return True
        self.transport.flush()
        if not self._sync_begun:
            self._first_contact()
            self._sync_begun = True
            return True
        answered = self._sync_answered
        if not self.transport.wait_for(self._sync_condition, answered, timeout) and not answered():
            return False
        for topic in self._sync_taken:
            self._sync_taken[topic] += 1
        return True

    def _sync_answered(self) -> bool:
        received = self._sync_received
        return self._stopping or all(received[topic] > count for topic, count in self._sync_taken.items())

    def _first_contact(self) -> None:
        answered = self._sync_answered
        while not self.transport.wait_for(self._sync_condition, answered, 0.25):
            if answered():
                break
            for act in self._ticks:
                act(self._last_tick)
            for sample in list(self._latest.values()):
                for write in self._writers[sample.device]:
                    write(sample)
            self.transport.flush()
        # What was sent again may be answered again: those answers must not count for later steps.
        seen = -1
        while seen != sum(self._sync_received.values()) and not self._stopping:
            seen = sum(self._sync_received.values())
            self.transport.wait_for(self._sync_condition, lambda seen=seen: False, 0.3)
        self._sync_taken = dict(self._sync_received)

    def stop(self) -> None:
        """Close the wire and join its threads."""
        self._stopping = True
        with self._sync_condition:
            self._sync_condition.notify_all()
        self.transport.stop()

    def health(self) -> dict[str, Any]:
        """Return what was sent and received, what was dropped or refused, and what the loop paid for it."""
        steps = max(1, self._steps)
        return {
            "namespace": self.namespace,
            "topics": len(self._handles),
            "sent": sum(handle.count for handle in self._handles),
            "dropped": sum(handle.drops for handle in self._handles),
            "received": sum(item["count"] for item in self._incoming.values()),
            "rejected": self._rejected,
            "loop_us_per_step": self._loop_ns / steps / 1e3,
            "loop_us_worst": self._worst_ns / 1e3,
            "loop_steps_over_1ms": self._slow_steps,
            **self.transport.health(),
        }

    @property
    def addresses(self) -> dict[str, str]:
        """What to tell the user: what is served -> where."""
        out = sum(1 for _ in self._handles)
        return {f"{out} topics out, {len(self._incoming)} in, name space /{self.namespace}": self.transport.where()}

    def report(self) -> list[dict[str, Any]]:
        """Return one row a topic: name, type, direction, count, achieved rate [Hz of wall time], who listened."""
        wall = max(1e-9, time.monotonic() - self._started)
        rows = [
            {
                "topic": h.topic,
                "type": h.type,
                "direction": "out",
                "count": h.count,
                "rate": (h.count - 1) / (h.last_at - h.first_at) if h.count > 1 else 0.0,
                "peers": h.subscribers,
            }
            for h in self._handles
        ]
        for topic, item in self._incoming.items():
            rows.append(
                {
                    "topic": topic,
                    "type": item["type"],
                    "direction": "in",
                    "count": item["count"],
                    "rate": item["count"] / wall,
                    "peers": [],
                }
            )
        return rows

    # ------------------------------------------------------------------ what is served
    def _plan(self) -> None:
        if self._clock:
            self._plan_clock()
        for name, device in self._devices.items():
            samples = device.samples
            self._writers[name] = []
            if "reported_stiffness" in samples:
                self._plan_joint(name, device)
            elif "motor_1_position" in samples and samples["motor_1_position"].shape:
                self._plan_board(name, device)
            else:
                self._plan_sensor(name, device)
        if self._tf and self._simulation is not None:
            self._plan_tf()
        for topic in self._sync_names:
            if topic not in self._incoming:
                self._listen(topic, "std_msgs/Bool", lambda _: None)
        if self._controllers:
            self._ticks.append(self._advance_controllers)
        if self.transport.services:
            self._plan_services()
        elif self._simulation is not None:
            self._plan_control()
        self._plan_parameters()

    def _advertise(self, topic: str, type_name: str, *, latch: bool = False, sensor: bool = False) -> TopicHandle:
        handle = self.transport.advertise(topic, type_name, latch=latch, sensor=sensor)
        if handle not in self._handles:
            self._handles.append(handle)
        return handle

    def _template(self, type_name: str, values: Mapping[str, Any], paths: list[str]) -> Callable[..., bytes]:
        return Template(self.transport.codec, type_name, values, paths).fill

    def _listen(self, topic: str, type_name: str, action: Callable[[dict[str, Any]], None]) -> None:
        item = {"type": type_name, "count": 0}
        self._incoming[topic] = item
        sync = topic in self._sync_received

        def arrived(message: dict[str, Any]) -> None:
            item["count"] += 1
            try:
                action(message)
            except PliantError as error:
                self._rejected += 1
                self.transport.complain(f"{topic}: {error}")
            if sync:
                with self._sync_condition:
                    self._sync_received[topic] += 1
                    self._sync_condition.notify_all()

        self.transport.subscribe(topic, type_name, arrived)

    def _plan_clock(self) -> None:
        handle = self._advertise("/clock", "rosgraph_msgs/Clock", sensor=True)
        fill = self._template("rosgraph_msgs/Clock", {}, ["clock"])

        def clock(stamp_ns: int) -> None:
            if handle.active:
                handle.send(fill(stamp_ns))

        self._ticks.append(clock)

    def _joint_state(
        self,
        topic: str,
        names: list[str],
        fields: tuple[str, str, str],
        period_ns: int,
        n: int,
        *,
        stamped: bool = True,
    ) -> Callable[[Any], None]:
        handle = self._advertise(topic, "sensor_msgs/JointState")
        zeros = [0.0] * n
        values = {"name": names, "position": zeros, "velocity": zeros, "effort": zeros}
        paths = ["position", "velocity", "effort"]
        first, second, third = fields
        if not stamped:
            fill = self._template("sensor_msgs/JointState", values, paths)

            def write_bare(sample: Any) -> None:
                if handle.active:
                    v = sample.values
                    handle.send(fill(v[first], v[second], v[third]))

            return write_bare
        numbered = self.transport.codec.version == 1
        fill = self._template(
            "sensor_msgs/JointState", values, ["header.stamp", *(["header.seq"] if numbered else []), *paths]
        )
        count = 0

        def write(sample: Any) -> None:
            nonlocal count
            if handle.active and not sample.stamp_ns % period_ns:
                v = sample.values
                if numbered:
                    handle.send(fill(sample.stamp_ns, count, v[first], v[second], v[third]))
                else:
                    handle.send(fill(sample.stamp_ns, v[first], v[second], v[third]))
                count = (count + 1) & 0xFFFFFFFF

        return write

    def _float(self, topic: str, field: str) -> Callable[[Any], None]:
        handle = self._advertise(topic, "std_msgs/Float64")
        fill = self._template("std_msgs/Float64", {}, ["data"])

        def write(sample: Any) -> None:
            if handle.active:
                handle.send(fill(sample.values[field]))

        return write

    def _plan_joint(self, name: str, device: Any) -> None:
        joint = getattr(device, "joint", name)
        info = self.interface.joints.get(joint) or JointInterface(joint=joint)
        base = (self.namespace, joint)
        writers = self._writers[name]
        if info.publish_elastic_torque:
            writers.append(self._float(topic_name(*base, "torque_el1_state"), "load_1"))
            writers.append(self._float(topic_name(*base, "torque_el2_state"), "load_2"))
        if info.publish_state:
            handle = self._advertise(topic_name(*base, "link_state"), self.transport.state_type)
            paths = ["q", "dq", "ref_1", "ref_2", "tau", "stiff"]
            fill = self._template(self.transport.state_type, {}, paths)

            def write_state(sample: Any) -> None:
                if handle.active:
                    v = sample.values
                    torque = v["elastic_torque"]
                    if torque != torque:  # modes 0 and 1 have no spring
                        torque = v["torque"]
                    handle.send(
                        fill(
                            v["position"],
                            v["velocity"],
                            v["reference_1"],
                            v["reference_2"],
                            torque,
                            v["reported_stiffness"],
                        )
                    )

            writers.append(write_state)
        mode = getattr(device, "mode", None)
        if mode is None or mode in WITH_MOTORS:
            for k in (1, 2):
                fields = (f"motor_{k}_position", f"motor_{k}_velocity", f"motor_{k}_effort")
                topic = topic_name(*base, f"motor_{k}_state")
                writers.append(self._joint_state(topic, [], fields, 1, 1, stamped=False))
        if mode is None:
            return
        self._listen_to_references(device, joint)
        if info.subscribe_external_torque:
            self._listen(
                topic_name(*base, "external_torque"),
                "std_msgs/Float64",
                lambda m: device.inbox.put({"external_torque": m["data"]}),
            )
        if self._qb and getattr(getattr(device, "actuator", None), "law", None) is not None:
            law = device.actuator.law
            if law.motors == 2 and law.second_input != "lever" and mode.has_spring:
                self._plan_qb(name, device, joint)

    def _listen_to_references(self, device: Any, joint: str) -> None:
        fields = device.commands[device.mode.name.lower()]
        for command in COMMAND_NAMES[device.mode]:
            topic = topic_name(self.namespace, joint, command)
            if command in fields:
                self._listen(
                    topic,
                    "std_msgs/Float64",
                    lambda m, command=command: device.inbox.put({command: m["data"]}),
                )
            else:  # the original listens, and does nothing with it
                self._listen(topic, "std_msgs/Float64", lambda _: None)

    def _period(self, rate: float) -> int:
        return 1 if not rate else max(1, round(1e9 / rate))

    def _plan_board(self, name: str, device: Any) -> None:
        joints = list(getattr(device, "joints", ())) or _recorded_joints(device)
        n = len(joints)
        self._board, self._board_joints = name, joints
        manager = self.interface.manager
        rate = self._aggregate_rate
        period = self._period(rate)
        if not rate and manager is not None:
            period = round(manager.sample_time * 1e9)
        writers = self._writers[name]
        for topic, fields in BOARD_STATES.items():
            writers.append(self._joint_state(topic_name(self.namespace, topic), joints, fields, period, n))
        writers.append(self._stiffness(topic_name(self.namespace, "stiffness_state"), joints, period))
        fields = BOARD_STATES["robot_state"]
        writers.append(self._joint_state("/joint_states", joints, fields, self._period(self._joint_states), n))
        if not hasattr(device, "inbox"):
            return
        for k, field in enumerate(("reference_1", "reference_2")):

            def command(message: dict[str, Any], k: int = k, field: str = field) -> None:
                device.inbox.put({field: message["data"]}, mode="references")
                self._references[k] = message["data"]

            self._listen(topic_name(self.namespace, field), "std_msgs/Float64MultiArray", command)
        if manager is not None:
            self._plan_forwarding(manager)

    def _stiffness(self, topic: str, joints: list[str], period: int) -> Callable[[Any], None]:
        handle = self._advertise(topic, "std_msgs/Float64MultiArray")
        n = len(joints)
        layout = {"dim": [{"label": ",".join(joints), "size": n, "stride": n}]}
        fill = self._template("std_msgs/Float64MultiArray", {"layout": layout, "data": [0.0] * n}, ["data"])

        def write(sample: Any) -> None:
            if handle.active and not sample.stamp_ns % period:
                handle.send(fill(sample.values["stiffness"]))

        return write

    def _plan_forwarding(self, manager: Any) -> None:
        """Send element i of the reference arrays to joint i's topic, as the original's manager does for all to see."""
        period = round(manager.sample_time * 1e9)
        fill = self._template("std_msgs/Float64", {}, ["data"])
        rows = []
        for k, suffixes in enumerate((manager.ref_1, manager.ref_2)):
            for i, (joint, suffix) in enumerate(zip(manager.joints, suffixes, strict=True)):
                handle = self._advertise(topic_name(manager.namespace, joint, suffix), "std_msgs/Float64")
                rows.append((handle, k, i))

        def forward(stamp_ns: int) -> None:
            if stamp_ns % period:
                return
            for handle, k, i in rows:
                values = self._references[k]
                if values is not None and handle.active:
                    handle.send(fill(values[i]))

        self._ticks.append(forward)

    def _plan_sensor(self, name: str, device: Any) -> None:
        samples = device.samples
        shape = {key: info.shape for key, info in samples.items()}
        topic = topic_name(self.namespace, name)
        header = {"header": {"frame_id": getattr(device, "frame", name)}}
        if shape.get("angular_velocity") == (3,) and shape.get("linear_acceleration") == (3,):
            handle = self._advertise(topic, "sensor_msgs/Imu", sensor=True)
            has_orientation = shape.get("orientation") == (4,)
            values = dict(header)
            if not has_orientation:  # by the message's own rule: no estimate
                values["orientation_covariance"] = [-1.0] + [0.0] * 8
            parts = [("orientation", "xyzw")] if has_orientation else []
            parts += [("angular_velocity", "xyz"), ("linear_acceleration", "xyz")]
            paths = ["header.stamp", *(f"{part}.{axis}" for part, axes in parts for axis in axes)]
            fill = self._template("sensor_msgs/Imu", values, paths)

            def write(sample: Any) -> None:
                if handle.active:
                    v = sample.values
                    numbers: list[float] = []
                    for part, axes in parts:
                        array = v[part].tolist()
                        # A quaternion is w, x, y, z inside, x, y, z, w in ROS.
                        numbers += array if len(axes) == 3 else [*array[1:], array[0]]
                    handle.send(fill(sample.stamp_ns, *numbers))

            self._writers[name].append(write)
        elif shape.get("force") == (3,) and shape.get("torque") == (3,):
            wrench = self._advertise(topic, "geometry_msgs/WrenchStamped", sensor=True)
            paths = ["header.stamp", *(f"wrench.{part}.{axis}" for part in ("force", "torque") for axis in "xyz")]
            fill_wrench = self._template("geometry_msgs/WrenchStamped", header, paths)

            def write_wrench(sample: Any) -> None:
                if wrench.active:
                    v = sample.values
                    wrench.send(fill_wrench(sample.stamp_ns, *v["force"].tolist(), *v["torque"].tolist()))

            self._writers[name].append(write_wrench)
        elif shape.get("position") and shape.get("velocity") == shape["position"]:
            effort = "effort" if "effort" in shape else "torque"
            if shape.get(effort) == shape["position"]:
                n = shape["position"][0]
                names = list(getattr(device, "joint_names", ())) or [f"{name}_joint{i + 1}" for i in range(n)]
                fields = ("position", "velocity", effort)
                writer = self._joint_state(topic_name(self.namespace, name, "joint_states"), names, fields, 1, n)
                self._writers[name].append(writer)

    def _plan_tf(self) -> None:
        engine = self._simulation.engine
        ports = engine.ports()
        bodies = [p[5:-9] for p in ports if p.startswith("body/") and p.endswith("/position") and p[5:-9] != "world"]
        if not bodies:
            return
        handle = self._advertise("/tf", "tf2_msgs/TFMessage")
        places = [(engine.port(f"body/{b}/position"), engine.port(f"body/{b}/orientation")) for b in bodies]
        values = {
            "transforms": [
                {"header": {"frame_id": "world"}, "child_frame_id": b, "transform": {"rotation": {"w": 1.0}}}
                for b in bodies
            ]
        }
        paths: list[str] = []
        for i in range(len(bodies)):
            at = f"transforms[{i}]."
            paths += [f"{at}header.stamp", *(f"{at}transform.translation.{a}" for a in "xyz")]
            paths += [f"{at}transform.rotation.{a}" for a in "wxyz"]
        fill = self._template("tf2_msgs/TFMessage", values, paths)

        def write(stamp_ns: int) -> None:
            if handle.active and not stamp_ns % TF_PERIOD_NS:
                numbers: list[Any] = []
                for position, orientation in places:
                    numbers += [stamp_ns, *position.tolist(), *orientation.tolist()]
                handle.send(fill(*numbers))

        self._ticks.append(write)

    def _plan_qb(self, name: str, device: Any, joint: str) -> None:
        """Serve what the qb_move packages serve for one device (joint_states, two trajectory controllers)."""
        handle = self._advertise(topic_name(self.namespace, joint, "joint_states"), "sensor_msgs/JointState")
        zeros = [0.0] * 4
        values = {"name": [joint + s for s in QB_SUFFIXES], "position": zeros, "velocity": zeros, "effort": zeros}
        fill = self._template("sensor_msgs/JointState", values, ["header.stamp", "position", "velocity", "effort"])
        position, velocity, effort = np.zeros(4), np.zeros(4), np.zeros(4)

        def write(sample: Any) -> None:
            if not handle.active or sample.stamp_ns % QB_PERIOD_NS:
                return
            v = sample.values
            position[:] = (v["motor_1_position"], v["motor_2_position"], v["position"], v["preset"] / QB_PRESET)
            velocity[:3] = (v["motor_1_velocity"], v["motor_2_velocity"], v["velocity"])
            effort[:3] = (v["motor_1_effort"], v["motor_2_effort"], v["elastic_torque"])
            handle.send(fill(sample.stamp_ns, position, velocity, effort))

        self._writers[name].append(write)
        for motors, kind in ((False, "position_and_preset"), (True, "motor_positions")):
            controller = _QbController(device, joint, motors, self._refused)
            controller.topic = topic_name(
                self.namespace, joint, "control", f"{joint}_{kind}_trajectory_controller", "command"
            )
            self._controllers.append(controller)
            self._listen(controller.topic, "trajectory_msgs/JointTrajectory", controller.take)

    def _refused(self, text: str) -> None:
        self._rejected += 1
        self.transport.complain(text)

    def _advance_controllers(self, stamp_ns: int) -> None:
        for controller in self._controllers:
            if controller.busy:
                controller.advance(stamp_ns, self._state(controller.device))

    def _state(self, device: Any) -> tuple[float, float] | None:
        """Equilibrium and preset of a joint, from the board's sample, which is younger than the joint's."""
        sample = self._latest.get(self._board)
        if sample is not None and device.joint in self._board_joints:
            i = self._board_joints.index(device.joint)
            return float(sample.values["equilibrium"][i]), float(sample.values["preset"][i])
        sample = self._latest.get(device.name)
        return None if sample is None else (sample.values["equilibrium"], sample.values["preset"])

    # ------------------------------------------------------------------ parameters and services
    def _plan_parameters(self) -> None:
        put = self.transport.set_param
        if self._clock:
            put("/use_sim_time", True)
        put("/namespace", self.namespace)
        manager = self.interface.manager
        if manager is not None:
            put("/T_sample", manager.sample_time)
            put("/joints_number", len(manager.joints))
            put("/joints_name", list(manager.joints))
            put("/ref1_topic_name", [f"/{r}" for r in manager.ref_1])
            put("/ref2_topic_name", [f"/{r}" for r in manager.ref_2])

    def _plan_services(self) -> None:
        serve = self.transport.serve

        def empty(action: Callable[[], Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
            def answer(_: dict[str, Any]) -> dict[str, Any]:
                action()
                return {}

            return answer

        def trigger(action: Callable[[], Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
            def answer(_: dict[str, Any]) -> dict[str, Any]:
                try:
                    text = action()
                except PliantError as error:
                    return {"success": False, "message": str(error)}
                return {"success": True, "message": text or ""}

            return answer

        for name, action in (("pause", self._pause), ("resume", self._resume), ("reset", self._reset)):
            serve(f"/pliant/{name}", "std_srvs/Trigger", trigger(action))
        serve("/pliant/step_once", "std_srvs/Trigger", trigger(lambda: self._step(1)))
        serve("/pliant/step", "pliant_msgs/Step", self._answer_step)
        # What scripts written for Gazebo call.
        serve("/gazebo/pause_physics", "std_srvs/Empty", empty(self._pause))
        serve("/gazebo/unpause_physics", "std_srvs/Empty", empty(self._resume))
        serve("/gazebo/reset_simulation", "std_srvs/Empty", empty(self._reset))
        serve("/gazebo/reset_world", "std_srvs/Empty", empty(self._reset))
        for device in self._devices.values():
            if hasattr(device, "actuator") and hasattr(device, "request"):
                self._plan_reconfigure(device)

    def _plan_control(self) -> None:
        """Offer as topics what has no service here: pause, step, reset."""
        simulation = self._simulation

        def step(message: dict[str, Any]) -> None:
            count = int(message["data"])
            if not simulation.paused:
                raise BridgeError(
                    "steps are taken one by one while the simulation is paused; send true to /pliant/pause"
                )
            if not 1 <= count <= 1_000_000:
                raise BridgeError(f"the count is {count}; valid is 1 to 1000000", field="count")
            simulation.submit(lambda: simulation.step(count))

        self._listen(
            "/pliant/pause", "std_msgs/Bool", lambda m: simulation.pause() if m["data"] else simulation.resume()
        )
        self._listen("/pliant/step", "std_msgs/UInt64", step)
        self._listen("/pliant/reset", "std_msgs/Empty", lambda _: simulation.request("simulation", "reset"))

    def _bound(self) -> Any:
        if self._simulation is None:
            raise BridgeError("no simulation is bound to this bridge: there is nothing to pause, step or reset")
        return self._simulation

    def _pause(self) -> str:
        self._bound().pause()
        return "paused"

    def _resume(self) -> str:
        self._bound().resume()
        return "running"

    def _reset(self) -> str:
        _answered(self._bound().request("simulation", "reset"))
        return "time is 0"

    def _step(self, count: int) -> str:
        simulation = self._bound()
        if not simulation.paused:
            raise BridgeError("steps are taken one by one while the simulation is paused; call /pliant/pause first")
        if not 1 <= count <= 1_000_000:
            raise BridgeError(f"the count is {count}; valid is 1 to 1000000", field="count")
        _answered(simulation.submit(lambda: simulation.step(count)), max(ANSWER_TIMEOUT, 0.01 * count))
        return f"time is {simulation.time:.9g} s"

    def _answer_step(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            text = self._step(int(request["count"]))
        except PliantError as error:
            return {"success": False, "message": str(error)}
        return {"success": True, "message": text, "time": self._bound().time_ns}

    def _gains(self, device: Any) -> dict[str, float]:
        out: dict[str, float] = {}
        for motor in (1, 2):
            pid = getattr(device.actuator, f"pid_{motor}", None)
            if pid is None or (motor == 2 and device.actuator.law.motors < 2):
                continue
            if device.mode not in (Mode.LINK_PID, *WITH_MOTORS):
                continue
            for gain in ("kp", "ki", "kd"):
                out[f"{gain}_{motor}"] = float(getattr(pid, gain))
        return out

    def _plan_reconfigure(self, device: Any) -> None:
        """Serve mode and gains of a joint as dynamic_reconfigure does: rqt_reconfigure and dynparam set them."""
        base = topic_name(self.namespace, device.joint)
        doubles = self._gains(device)
        config: dict[str, Any] = {
            "ints": [{"name": "operation_mode", "value": int(device.mode)}],
            "doubles": [{"name": key, "value": value} for key, value in doubles.items()],
            "groups": [{"name": "Default", "state": True}],
        }

        def limits(low: bool) -> dict[str, Any]:
            return {
                "ints": [{"name": "operation_mode", "value": 0 if low else 6}],
                "doubles": [{"name": key, "value": 0.0 if low else 1e6} for key in doubles],
                "groups": config["groups"],
            }

        described = [("operation_mode", "int", "mode of the toolbox, 0 to 6")]
        described += [(key, "double", f"gain of motor {key[-1]}") for key in doubles]
        codec = self.transport.codec
        description = {
            "groups": [
                {
                    "name": "Default",
                    "parameters": [
                        {"name": n, "type": kind, "level": 0, "description": text} for n, kind, text in described
                    ],
                }
            ],
            "max": limits(False),
            "min": limits(True),
            "dflt": config,
        }
        about = self._advertise(f"{base}/parameter_descriptions", "dynamic_reconfigure/ConfigDescription", latch=True)
        about.send(codec.encode("dynamic_reconfigure/ConfigDescription", description))
        updates = self._advertise(f"{base}/parameter_updates", "dynamic_reconfigure/Config", latch=True)
        updates.send(codec.encode("dynamic_reconfigure/Config", config))

        def answer(request: dict[str, Any]) -> dict[str, Any]:
            asked = request["config"]
            known = {"operation_mode", *doubles}
            for kind in ("ints", "doubles", "strs", "bools"):
                for item in asked[kind]:
                    if item["name"] not in known:
                        raise DeviceError(
                            f"{device.joint} has no parameter {item['name']!r}; {nearest(item['name'], known)}",
                            field=item["name"],
                        )
            for item in asked["ints"]:
                if int(item["value"]) != int(device.mode):
                    self._switch(device, int(item["value"]))
                    config["ints"] = [{"name": "operation_mode", "value": int(device.mode)}]
            for motor in (1, 2):
                gains = {i["name"][:2]: i["value"] for i in asked["doubles"] if i["name"].endswith(f"_{motor}")}
                if gains:
                    _answered(device.request("set_gains", motor=motor, **gains))
                    for item in config["doubles"]:
                        if item["name"].endswith(f"_{motor}"):
                            item["value"] = gains.get(item["name"][:2], item["value"])
            updates.send(codec.encode("dynamic_reconfigure/Config", config))
            return {"config": config}

        self.transport.serve(f"{base}/set_parameters", "dynamic_reconfigure/Reconfigure", answer)

    def _switch(self, device: Any, mode: int) -> None:
        before = {topic_name(self.namespace, device.joint, name) for name in COMMAND_NAMES[device.mode]}
        _answered(device.request("set_mode", mode=mode))
        for topic in before:
            self.transport.unsubscribe(topic)
            self._incoming.pop(topic, None)
        self._listen_to_references(device, device.joint)


def _answered(future: Any, timeout: float = ANSWER_TIMEOUT) -> Any:
    """Return what the loop answers, from another thread."""
    try:
        return future.result(timeout)
    except TimeoutError:
        future.cancel()
        raise BridgeError(f"the loop did not answer within {timeout:g} s: is the simulation running?") from None


def _recorded_joints(device: Any) -> list[str]:
    """The joints of a recorded board: its fields say them."""
    info = device.samples["motor_1_position"]
    names = [name.strip() for name in info.description.partition(", joints ")[2].split(",") if name.strip()]
    return names if len(names) == info.size else [f"joint_{i + 1}" for i in range(info.size)]


def sync_names(text: str) -> tuple[str, ...]:
    """Return the names in the ``sync`` option: ``reference_1+reference_2``; ``trigger`` is the trigger topic."""
    return tuple(SYNC_TOPIC if part == "trigger" else part for part in re.split(r"[+ ]", text) if part)

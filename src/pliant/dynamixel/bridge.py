"""The bridge: instructions of programs to servos, and the commands of servos to the devices of a robot.

A thread reads the ports and submits instructions to the loop, which carries them out between two steps. In each step
the loop runs the firmware of every servo and puts its command into the mailbox of the device that moves the joint.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.base.errors import BridgeError, PliantError
from pliant.devices.base import Sample, SampleSource
from pliant.dynamixel.fitting import Fitted, fit
from pliant.dynamixel.joints import find_joints
from pliant.dynamixel.line import Line
from pliant.dynamixel.options import DynamixelOptions
from pliant.dynamixel.ports import Client, Ports
from pliant.dynamixel.servos import EXTENSION
from pliant.dynamixel.wire import Packet
from pliant.model.wanted import check_source
from pliant.simulation.bridge import BridgeBase, TopicReport
from pliant.simulation.loop_cost import LoopCost
from pliant.simulation.switching import SwitchInterval

if TYPE_CHECKING:
    from pliant.model.robot import Robot
    from pliant.simulation.replayed import Replayed

PERIOD_NS = 1_000_000
"""Shortest period of the firmware [ns]. # assumed"""
MAX_WAITING = 256
"""Most packets that wait for the loop; what comes then is dropped and counted."""
BITS = 10
"""Bits on the line for each byte: start, eight of data, stop."""
JOIN_TIMEOUT_S = 5.0
_log = logging.getLogger("pliant.dynamixel")


@dataclass(slots=True)
class _Group:
    """The joints of one device, which takes their commands together."""

    device: SampleSource
    mode: str
    fitted: list[Fitted]
    values: dict[str, float | np.ndarray] = field(default_factory=dict)
    """What was commanded last, by field."""
    refused: str = ""
    """Why the device did not take the last command; "" if it did."""


class Dynamixel(BridgeBase):
    """Serves the joints of a robot as Dynamixel servos on one line.

    Args:
        robot: the robot.
        options: the line, and which servo moves which joint.

    Raises:
        BridgeError: a recording is given instead of a robot.
    """

    name = "dynamixel"

    def __init__(self, robot: Robot | Replayed | None = None, options: DynamixelOptions | None = None) -> None:
        super().__init__()
        check_source(robot, "Dynamixel")
        self.options = options or DynamixelOptions()
        interface = getattr(robot, "interface", None)
        self._mounted = None if interface is None else interface.extensions.get(EXTENSION)
        self._ports: Ports | None = None
        self._latest: dict[str, Sample] = {}
        self._fitted: list[Fitted] = []
        self._groups: list[_Group] = []
        self._line = Line(())
        self._began: set[int] = set()
        self._now = 0
        self._ran: int | None = None
        self._switch = SwitchInterval()
        # One is written by the reading thread, the other by the loop.
        self._submitted = self._packets = 0
        self._cost = LoopCost()
        self._order = itertools.count()
        self._pending: list[tuple[float, int, Client, Packet | bytes]] = []
        self._free = 0.0
        self._dropped = 0
        self._replies = 0
        self._since = 0.0

    # ------------------------------------------------------------------ start
    def start(self, devices: Mapping[str, SampleSource]) -> None:
        """Find the joints and open the ports.

        Raises:
            BridgeError: there is nothing to command, an option does not fit, a port cannot be opened, or a recording is
                replayed.
        """
        simulation = self._simulation
        if simulation is None:
            raise BridgeError("dynamixel: a recording has no servos that can be commanded; run a robot", field="robot")
        self._latest.clear()
        self._fitted = fit(find_joints(devices, simulation.engine), self.options, self._mounted)
        self._line = Line(item.servo for item in self._fitted)
        groups: dict[str, _Group] = {}
        for item in self._fitted:
            joint = item.joint
            joint.attach(simulation.engine, self._latest)
            groups.setdefault(joint.device.name, _Group(joint.device, joint.mode, [])).fitted.append(item)
        self._groups = list(groups.values())
        self._restart(simulation.time_ns)
        options = self.options
        self._ports = Ports(options.port, options.host, options.tcp, self._received)
        self._since = time.monotonic()
        over_tcp = {"Dynamixel over TCP": self._ports.address} if self._ports.address else {}
        self._where = {"Dynamixel": options.port or self._ports.path, **over_tcp}
        self._notes = (self._described(),)
        self._switch.shorten()
        self.threads.start("pliant-dynamixel", self._ports.work)

    def _described(self) -> str:
        parts = [f"{item.servo.id} {item.joint.name} ({item.servo.setup.model.name})" for item in self._fitted]
        more = f" and {len(parts) - 12} more" if len(parts) > 12 else ""
        at = f", at {self._ports.path}" if self._ports is not None and self.options.port else ""
        return f"Dynamixel IDs: {', '.join(parts[:12])}{more}{at}"

    def _restart(self, now: int) -> None:
        """Switch all servos on as at the start of a run."""
        self._began.clear()
        self._pending.clear()
        self._free = now * 1e-9
        self._now, self._ran = now, None
        for group in self._groups:
            group.values.clear()
        for k, item in enumerate(self._fitted):
            item.joint.restart()
            motion = item.joint.motion(now)
            if motion is None:
                item.servo.reset()
            else:
                item.servo.begin(motion)
                self._began.add(k)

    # ------------------------------------------------------------------ instructions
    def _received(self, client: Client, packets: list[Packet]) -> None:
        """Hand packets to the loop; called by the reading thread."""
        simulation = self._simulation
        if simulation is None or self._submitted - self._packets + len(packets) > MAX_WAITING:
            self._dropped += len(packets)
            return
        self._submitted += len(packets)
        with contextlib.suppress(PliantError):  # the run ends
            simulation.submit(partial(self._serve, client, packets))

    def _serve(self, client: Client, packets: list[Packet]) -> None:
        began = time.perf_counter_ns()
        self._carry_out(client, packets)
        self._cost.spent_ns += time.perf_counter_ns() - began

    def _carry_out(self, client: Client, packets: list[Packet]) -> None:
        self._packets += len(packets)
        if not self.options.baud:
            for packet in packets:
                replies = self._line.answer(packet)
                if replies:
                    self._send(client, b"".join(reply.data for reply in replies))
            return
        for packet in packets:
            begin = max(self._now * 1e-9, self._free)
            self._free = begin + packet.size * BITS / self._line.servos[0].baud
            heapq.heappush(self._pending, (self._free, next(self._order), client, packet))

    def _run_pending(self) -> None:
        """Carry out instructions, and send answers, whose last byte has passed the line."""
        now = self._now * 1e-9
        while self._pending and self._pending[0][0] <= now:
            due, _, client, item = heapq.heappop(self._pending)
            if not isinstance(item, Packet):
                self._send(client, item)
                continue
            for reply in self._line.answer(item):
                due += reply.delay + len(reply.data) * BITS / reply.baud
                heapq.heappush(self._pending, (due, next(self._order), client, reply.data))
            self._free = max(self._free, due)

    def _send(self, client: Client, data: bytes) -> None:
        self._replies += 1
        client.send(data)

    # ------------------------------------------------------------------ the loop
    def tick(self, stamp_ns: int) -> None:
        """Run the firmware of the servos, and put their commands into the mailboxes."""
        began = time.perf_counter_ns()
        self._run(stamp_ns)
        self._cost.spent_ns += time.perf_counter_ns() - began
        self._cost.end_step()

    def _run(self, stamp_ns: int) -> None:
        if stamp_ns < self._now:  # the simulation was reset
            self._latest.clear()
            self._restart(stamp_ns)
        self._now = stamp_ns
        if self._pending:
            self._run_pending()
        if self._ran is not None and stamp_ns - self._ran < PERIOD_NS:
            return
        step = PERIOD_NS * 1e-9 if self._ran is None else (stamp_ns - self._ran) * 1e-9
        self._ran = stamp_ns
        commands: dict[int, float] = {}
        for k, item in enumerate(self._fitted):
            motion = item.joint.motion(stamp_ns)
            if motion is None:
                continue
            if k not in self._began:
                self._began.add(k)
                item.servo.begin(motion)
            command = item.servo.step(step, motion)
            if command is not None:
                commands[id(item)] = item.joint.command(command)
        for group in self._groups:
            self._command(group, commands)

    def _command(self, group: _Group, commands: Mapping[int, float]) -> None:
        """Put the commands of one device into its mailbox, where they have changed."""
        fresh: dict[str, Any] = {}
        for item in group.fitted:
            value = commands.get(id(item))
            if value is None:
                continue
            joint = item.joint
            name, index = joint.drive.command, joint.index
            last = group.values.get(name)
            if index < 0:
                if last != value:
                    group.values[name] = fresh[name] = value
                continue
            array = fresh.get(name)
            if array is None:
                array = self._held(group, name) if last is None else np.array(last)
            if array[index] != value or last is None:
                array[index] = value
                group.values[name] = fresh[name] = array
        if not fresh:
            return
        try:
            group.device.inbox.put(fresh, mode=group.mode)
            group.refused = ""
        except PliantError as error:
            if not group.refused:
                _log.warning("dynamixel: %s", error)
            group.refused = str(error)
            group.values.clear()

    def _held(self, group: _Group, name: str) -> np.ndarray:
        """Return a command that holds all joints of a device where they are; 0 for what is no position."""
        joint = next(item.joint for item in group.fitted if item.joint.drive.command == name)
        info = group.device.commands[group.mode][name]
        sample = self._latest.get(group.device.name)
        if (
            joint.drive.position not in group.device.samples
            or sample is None
            or "rad/s" in info.unit
            or "N" in info.unit
        ):
            return np.zeros(info.shape)
        return np.array(sample.values[joint.drive.position], dtype=np.float64)

    def publish(self, sample: Sample) -> None:
        """Keep a sample; servos read it where the engine has no port."""
        self._latest[sample.device] = sample

    def stop(self) -> None:
        """Close the ports, and join the thread."""
        ports, self._ports = self._ports, None
        self.threads.close()
        if ports is not None:
            ports.end()
            self.threads.join(JOIN_TIMEOUT_S)
            self._final = (ports.skipped, ports.dropped, ports.refused)
            ports.close()
        self._switch.restore()

    _final = (0, 0, 0)

    def health(self) -> Mapping[str, object]:
        """Return counters of the line, and the hardware errors of the servos by ID."""
        ports = self._ports
        skipped, unread, refused = (ports.skipped, ports.dropped, ports.refused) if ports is not None else self._final
        return {
            **self._cost.health(),
            "packets": self._packets,
            "replies": self._replies,
            "dropped": self._dropped,
            "skipped_bytes": skipped,
            "unread_bytes": unread,
            "refused_connections": refused,
            "rejected": self._line.refusals,
            "last_rejection": self._line.last_refusal,
            "last_device_error": next((group.refused for group in self._groups if group.refused), ""),
            "hardware_errors": {
                str(item.servo.id): item.servo.memory["Hardware Error Status"]
                for item in self._fitted
                if item.servo.alert
            },
        }

    def report(self) -> list[TopicReport]:
        """Return one row for instructions and one for answers."""
        if not self._where:
            return []
        elapsed = max(time.monotonic() - self._since, 1e-9)
        rows = (("instructions", "in", self._packets), ("status packets", "out", self._replies))
        return [
            TopicReport(
                topic=self._where["Dynamixel"],
                type=f"Dynamixel 2.0 {kind}",
                direction=way,
                count=count,
                rate=count / elapsed,
                peers=(),
            )
            for kind, way, count in rows
        ]


def make(robot: Robot | Replayed | None, options: DynamixelOptions) -> Dynamixel:
    """Return the bridge of a robot."""
    return Dynamixel(robot, options)

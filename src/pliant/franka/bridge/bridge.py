"""The Franka Control Interface as a bridge of the simulation loop.

A sample of an arm is state k on the wire, the answer that the loop waits for is command k, and the next step obeys it:
the order of the robot's own cycle. Everything runs in the loop's thread. There are three time modes:

* ``paced`` (default): publish state k, wait for command k, advance, never faster than 1 kHz of the wall clock. No
  command is lost, and two runs give the same states. Clients that sleep on the wall clock during a motion find the
  robot where they expect it.
* ``lockstep``: the same as fast as the client answers, for tests and learning. Without a motion, states are published
  at 1 kHz.
* ``wall``: 1 kHz of the wall clock; late commands are dropped and counted, as the robot does.
"""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pliant.base.errors import BridgeError, PliantError
from pliant.base.listening import check_listening_host
from pliant.franka.bridge.arm_server import ArmServer, stranger_note
from pliant.franka.bridge.options import FciOptions
from pliant.model import Robot
from pliant.simulation.bridge import BridgeBase
from pliant.simulation.realtime import realtime

if TYPE_CHECKING:
    from pliant.devices.base import Sample, SampleSource
    from pliant.franka.device.arm import FrankaArm

PERIOD = 1e-3
"""The robot's cycle [s]."""
MAX_SELECTED = 1024
"""First descriptor that `select.select` refuses."""
_PACE = {
    "paced": "robot time waits for the client and is never faster than 1 kHz "
    "(mode=lockstep: as fast as the client; mode=wall: waits for nobody, as the robot)",
    "lockstep": "robot time waits for the client and runs as fast as it answers; clients that sleep on the wall clock "
    "during a motion need mode=paced",
    "wall": "robot time is the wall clock at 1 kHz; commands that come late are lost, as on the robot",
}
LOOK_S = 150e-6
"""How long a cycle in lock-step looks for the command without sleeping [s of wall time]; a client answers after 40 us
and more (`benchmarks/franka.py share`)."""
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
"""Processors for this process: on a single one a look would only keep the client from running."""
SLICE_S = 0.02
"""Longest part of a wait for a command that is counted as one [s of wall time]."""
MAX_STALL_S = 0.6
"""How long lock-step waits in addition, between two commands, for a client that does not read its states [s of wall
time]. It is short because a client that sleeps does not read either: it has to violate the communication constraints.
Beside a second arm a client gives up after 1 s without a state."""
MAX_LAG = 0.1
"""Lag behind the wall clock above which it is given up instead of caught up [s]."""


class FciBridge(BridgeBase):
    """Serves every Franka arm of a robot, each at an address of its own.

    Args:
        options: how the arms are served.
    """

    lockstep = True
    """The loop calls `wait` in every time mode; what it waits for depends on the mode."""
    name = "fci"
    own_timeout = "command_timeout"
    """The option that says how long a cycle waits; the loop's time-out is not used."""

    def __init__(self, options: FciOptions | None = None) -> None:
        self.options = options or FciOptions()
        self.arms: list[ArmServer] = []
        """The served arms, once started."""
        self._by_name: dict[str, ArmServer] = {}
        self._poll = select.epoll()
        self._handlers: dict[int, Callable[[], None]] = {}
        self._next = 0.0
        self._left = 0.0
        self._stalled = 0.0
        self._in_vain = self._unlooked = 0
        self._scheduling = contextlib.ExitStack()
        self.work_log: list[float] | None = None
        """Set to a list to record how long each cycle worked without waiting for the client [s]."""

    # --------------------------------------------------------------------------------------------- lifetime

    def start(self, devices: Mapping[str, SampleSource]) -> None:
        """Listen for clients.

        Raises:
            BridgeError: the robot has no Franka arm, a port is in use, the host is every interface, or the priority is
                refused.
        """
        from pliant.franka.device.arm import FrankaArm

        found = [device for device in devices.values() if isinstance(device, FrankaArm)]
        if not found:
            raise BridgeError(
                "the fci bridge serves Franka arms, and this robot has none; try: pliant run fr3 --bridge fci",
                field="bridge",
            )
        options = self.options
        check_listening_host(options.host, "host")
        _check_ports(options, found)
        for i, device in enumerate(found):
            host = _next_address(options.host, i)
            server = ArmServer(
                device,
                host=host,
                port=options.port,
                gripper_port=options.gripper_port,
                vacuum_port=options.vacuum_port,
                system_version=options.system_version,
                command_timeout=options.command_timeout,
            )
            server.open()
            self.arms.append(server)
            self._by_name[device.name] = server
        if options.priority:
            try:
                self._scheduling.enter_context(realtime(options.priority))
            except PliantError as fault:
                raise BridgeError(str(fault), field="priority") from None
        self._next = time.perf_counter() + PERIOD

    def stop(self) -> None:
        """Close every socket; may be called twice."""
        self._scheduling.close()
        for arm in self.arms:
            arm.close()
        self._poll.close()

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on what sets the pace of robot time, and on clients that real arms of these types refuse."""
        notes = [_PACE[self.options.mode]]
        if self.options.system_version == "any":
            kinds = {arm.device.description.arm.name: arm.device.description.arm for arm in self.arms}
            notes += [f"system_version=any: {stranger_note(kind)}" for kind in kinds.values()]
        return tuple(notes)

    @property
    def addresses(self) -> dict[str, str]:
        """Where each arm and each gripper is served, once started."""
        found: dict[str, str] = {}
        for arm in self.arms:
            found[arm.device.name] = f"{arm.host}:{arm.port}"
            if arm.hand is not None:
                kind = "gripper" if arm.device.gripper is not None else "vacuum gripper"
                found[f"{kind} of {arm.device.name}"] = f"{arm.hand.host}:{arm.hand.port}"
        return found

    def health(self) -> Mapping[str, object]:
        """Return the mode, and of each arm counters, client and last fault."""
        return {"mode": self.options.mode, "arms": [arm.health() for arm in self.arms]}

    # ------------------------------------------------------------------------------------------------ cycle

    def publish(self, sample: Sample) -> None:
        """Send one arm's state, and at a tenth of the rate its hand's."""
        arm = self._by_name.get(sample.device)
        if arm is not None:
            values: Any = sample.values
            arm.publish(values)

    def wait(self, timeout: float) -> bool:
        """Serve the sockets as the time mode asks, and put each arm's command of this cycle into its mailbox."""
        if self.work_log is not None and self._left:
            self.work_log.append(time.perf_counter() - self._left)
        if self.options.mode == "wall":
            self._until_next_tick(wake=False)
            self._serve(0.0)
            for arm in self.arms:
                arm.end_cycle(arm.timely)
        else:
            self._lockstep()
            for arm in self.arms:
                arm.end_cycle(arm.fitting)
        if self.work_log is not None:
            self._left = time.perf_counter()
        return True

    def _lockstep(self) -> None:
        """Wait for what the clients owe; where they owe nothing, wait for the wall clock's next millisecond."""
        left = self._owed()
        if not left:
            self._serve(0.0)
            left = self._owed()
        if not left:
            self._until_next_tick(wake=True)
            left = self._owed()  # a motion may have begun: its client first reads what it has
            if not left:
                return
        if self.options.mode == "lockstep" and CORES > 1 and (spent := self._look()):
            left -= spent
        while not self._answered():
            if left <= 0.0:
                self._count_timeouts()
                break
            loses, began = self._loses(), time.perf_counter()
            self._serve(min(left, SLICE_S if loses else PERIOD))  # that a state was read wakes nobody
            if self._answered():
                continue
            spent = time.perf_counter() - began
            if not loses:
                if self._starts_another():
                    break
                left -= spent
                continue
            # A longer slice than asked for means that the machine did not run this process.
            spent = min(spent, SLICE_S)
            if self._stalls():
                self._stalled += spent
            else:
                left -= spent
        else:
            self._stalled = 0.0
        if self.options.mode == "paced":
            self._until_next_tick(wake=False)
        else:
            self._next = time.perf_counter() + PERIOD

    def _look(self) -> float:
        """Look for the answers without sleeping, as long as a fast client needs: who sleeps wakes late.

        After a look in vain the next cycles sleep at once, twice as many after each.

        Returns:
            Time that was spent in vain [s].
        """
        if self._unlooked > 0:
            self._unlooked -= 1
            return 0.0
        clock = time.perf_counter
        until = clock() + LOOK_S
        while clock() < until:
            if self._serve(0.0) and self._answered():
                self._in_vain = 0
                return 0.0
        self._in_vain = min(self._in_vain + 1, 8)
        self._unlooked = 1 << self._in_vain
        return LOOK_S

    def _count_timeouts(self) -> None:
        for arm in self.arms:
            if arm.fitting is None and arm.awaits_command:
                arm.counters["timeouts"] += 1
                arm.last_fault = f"no command within {self.options.command_timeout} s"

    def _owed(self) -> float:
        """Return the shortest time for which an arm waits for its client [s]; 0: no client owes a command."""
        # A loop, since this is called in every cycle and a list costs as much as the rest of it.
        shortest = 0.0
        for arm in self.arms:
            wait = arm.owes
            if wait and (not shortest or wait < shortest):
                shortest = wait
        return shortest

    def _answered(self) -> bool:
        """Return whether each client has sent or read what it owed."""
        for arm in self.arms:  # noqa: SIM110 (called in every cycle)
            if arm.fitting is None and arm.owes:
                return False
        return True

    def _loses(self) -> bool:
        """Return whether a command is lost if robot time goes on; the first one of a motion is not."""
        return any(arm.fitting is None and arm.awaits_command for arm in self.arms)

    def _starts_another(self) -> bool:
        """Return whether a client that owes nothing has read all its states.

        A program of one thread that moves several arms starts one after another, and needs states for each start.
        """
        return any(arm.connected and not arm.owes and not arm.unread for arm in self.arms)

    def _stalls(self) -> bool:
        """Return whether the cycle waits for clients that the machine keeps from running.

        Of several arms, none may have read its state and be without a command: a program of one thread that moves them
        all may be waiting for that arm's next state, and gives up after 1 s.
        """
        served = [arm for arm in self.arms if arm.connected]
        return self._stalled < MAX_STALL_S and all(arm.fitting is not None or arm.unread for arm in served)

    def _until_next_tick(self, *, wake: bool) -> None:
        """Serve the sockets until the wall clock's next millisecond; wake: or until a motion's first command."""
        now = time.perf_counter()
        if self._next < now - MAX_LAG:
            self._next = now
        while (wait := self._next - time.perf_counter()) > 0.0:
            self._serve(wait)
            if wake and any(arm.begins for arm in self.arms):
                break
        self._next += PERIOD

    def _serve(self, timeout: float) -> int:
        """Handle sockets; wait at most timeout [s] for something to happen. Return how many had something to read."""
        arms = self.arms
        for arm in arms:
            if arm.changed:
                self._register()
                break
        if 0.0 < timeout < 0.02:
            # epoll counts in milliseconds; select waits for less, but takes no descriptor from 1024
            if self._poll.fileno() < MAX_SELECTED:
                select.select((self._poll,), (), (), timeout)
            else:
                time.sleep(min(timeout, PERIOD))
            timeout = 0.0
        ready = self._poll.poll(timeout)
        if len(ready) == 1:
            self._handlers[ready[0][0]]()
        elif ready:
            found = {fd for fd, _ in ready}
            for fd, handle in self._handlers.items():
                if fd in found:
                    handle()
        return len(ready)

    def _register(self) -> None:
        for fd in self._handlers:
            with contextlib.suppress(KeyError, OSError):
                self._poll.unregister(fd)
        self._handlers = {}
        for arm in self.arms:
            for sock, handle in arm.handlers().items():
                self._poll.register(sock, select.EPOLLIN)
                self._handlers[sock.fileno()] = handle


def _check_ports(options: FciOptions, arms: Sequence[FrankaArm]) -> None:
    """Raise an error for a port of a gripper that no arm has, and for equal ports of an arm and its gripper."""
    has = {
        "gripper_port": any(arm.gripper is not None for arm in arms),
        "vacuum_port": any(arm.gripper is None and arm.vacuum is not None for arm in arms),
    }
    for field, what in (("gripper_port", "hand"), ("vacuum_port", "vacuum gripper")):
        port = getattr(options, field)
        if not has[field] and port not in (0, getattr(FciOptions(), field)):
            raise BridgeError(f"{field} is {port}, and no arm of this robot has a {what}; omit it", field=field)
        if has[field] and port and port == options.port:
            raise BridgeError(f"port and {field} are both {port}; must differ", field=field)


def _next_address(host: str, index: int) -> str:
    if index == 0:
        return host
    parts = host.split(".")
    if len(parts) != 4 or not all(p.isdigit() for p in parts) or int(parts[3]) + index > 254:
        raise BridgeError(
            f"the arms after the first need addresses of their own, and {host!r} has no successor; "
            "the host must be an IPv4 address such as 127.0.0.1",
            field="host",
        )
    return ".".join([*parts[:3], str(int(parts[3]) + index)])


def make(robot: Robot | None, options: FciOptions) -> FciBridge:
    """Return the bridge for a robot."""
    return FciBridge(options)

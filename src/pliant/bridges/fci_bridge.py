"""The Franka Control Interface as a bridge: the server of `pliant.bridges.fci`, driven by the loop.

The loop measures, publishes, waits and controls in the order of the robot's own cycle: a sample of an arm is state k on
the wire, the answer that the loop waits for is command k, and the next step obeys it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from pliant.bridges.fci import ArmServer, FciServer
from pliant.errors import BridgeError

__all__ = ["FciBridge", "make"]


class FciBridge:
    """Serves every Franka arm of a robot; see `pliant.bridges.fci` for the modes.

    Stock clients know one port, 1337, so each arm has an address of its own: the first ``host``, the others the next
    addresses of the loopback network.

    Args:
        mode: "lockstep" (default), "paced" or "wall".
        host: address of the first arm.
        port: TCP port of the robot.
        gripper_port: TCP port of the hand.
        command_timeout: how long a lock-step cycle waits for its command [s of wall time], below 1.
        priority: SCHED_FIFO priority in "wall" mode, 1 to 99; 0 leaves the scheduler alone.
    """

    lockstep = True  # the loop asks `wait` in every mode; what it waits for is the mode's business
    name = "fci"
    own_timeout = "command_timeout"
    """The option that says how long a cycle waits; the loop's time-out is not asked."""

    def __init__(
        self,
        *,
        mode: str = "lockstep",
        host: str = "127.0.0.1",
        port: int = 1337,
        gripper_port: int = 1338,
        command_timeout: float = 0.2,
        priority: int = 0,
    ) -> None:
        self._options: dict[str, Any] = {"mode": mode, "command_timeout": command_timeout}
        self._host, self._port, self._gripper_port = host, port, gripper_port
        self._priority = priority
        self._sides: dict[str, tuple[ArmServer, Any]] = {}
        self._server: FciServer | None = None
        self._left = 0.0
        self.work_s = 0.0
        """Time that the last cycle spent on anything but the client [s]."""
        self.work_log: list[float] | None = None
        """Set to a list to record `work_s` of every cycle."""
        if mode not in FciServer.MODES:
            # The server would say so too, but only once the robot is there.
            FciServer([], lambda: None, mode=mode)  # type: ignore[arg-type]

    def start(self, devices: Mapping[str, Any]) -> None:
        """Listen for clients.

        Raises:
            BridgeError: the robot has no Franka arm, or a port is in use.
        """
        arms = [d for d in devices.values() if hasattr(d, "cabinet") and hasattr(d, "model_library")]
        if not arms:
            raise BridgeError(
                "the fci bridge serves Franka arms, and this robot has none; valid: pliant run franka --bridge fci",
                field="bridge",
            )
        for i, device in enumerate(arms):
            side = ArmServer(
                device.cabinet,
                device.plant,
                gripper=device.gripper,
                host=_next_address(self._host, i),
                port=self._port,
                gripper_port=self._gripper_port,
                urdf=device.urdf(),
                library=device.model_library,
                name=device.name,
            )
            self._sides[device.name] = (side, device)
            device.before_observe = side.present
        sides = [side for side, _ in self._sides.values()]
        self._server = FciServer(sides, lambda: None, **self._options)
        self._server.open()
        if self._priority:
            try:
                os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(self._priority))  # type: ignore[attr-defined]
            except (OSError, AttributeError) as fault:
                self._server.close()
                raise BridgeError(
                    f"priority {self._priority} refused: {fault}; run as root, raise RLIMIT_RTPRIO, or leave it out",
                    field="priority",
                ) from None

    @property
    def addresses(self) -> dict[str, str]:
        """Where each arm is served, once started."""
        return {name: f"{side.host}:{side.port}" for name, (side, _) in self._sides.items()}

    def publish(self, sample: Any) -> None:
        """Send one arm's state, and at a tenth of the rate its hand's."""
        found = self._sides.get(sample.device)
        if found is None:
            return
        side, device = found
        if side.gripper is not device.gripper:  # a reset gave the hand a new controller
            side.gripper = device.gripper
        side.serve_hand()
        side.publish()

    def tick(self, stamp_ns: int) -> None:
        """Nothing: the robot's own clock is in its state."""

    def wait(self, timeout: float) -> bool:
        """Serve the sockets until every client that owes a command has sent it, by the rules of the mode."""
        server = self._server
        if server is None:
            return True
        if self._left:
            # From the end of one exchange to the beginning of the next: control, physics, packing.
            self.work_s = time.perf_counter() - self._left
            if self.work_log is not None:
                self.work_log.append(self.work_s)
        commands = server.exchange()
        self._left = time.perf_counter()
        for (side, device), command in zip(self._sides.values(), commands, strict=True):
            side.obey(command)
            device.pending = command
        server.prepare()
        return True

    def stop(self) -> None:
        """Close every socket; may be called twice."""
        for side, device in self._sides.values():
            if device.before_observe == side.present:
                device.before_observe = None
        if self._server is not None:
            self._server.close()

    def health(self) -> Mapping[str, Any]:
        """Return the mode, and of each arm counters, client and last fault."""
        return {} if self._server is None else self._server.health()


def _next_address(host: str, index: int) -> str:
    if index == 0:
        return host
    parts = host.split(".")
    if len(parts) != 4 or not all(p.isdigit() for p in parts) or int(parts[3]) + index > 254:
        raise BridgeError(
            f"the arms after the first need addresses of their own, and {host!r} has no successor; "
            "valid: an IPv4 address such as 127.0.0.1",
            field="host",
        )
    return ".".join([*parts[:3], str(int(parts[3]) + index)])


def make(
    robot: Any,
    mode: str = "lockstep",
    host: str = "127.0.0.1",
    port: int = 1337,
    gripper_port: int = 1338,
    command_timeout: float = 0.2,
    priority: int = 0,
) -> FciBridge:
    """Return the bridge for a robot; the options are `FciBridge`'s."""
    return FciBridge(
        mode=mode,
        host=host,
        port=port,
        gripper_port=gripper_port,
        command_timeout=command_timeout,
        priority=priority,
    )

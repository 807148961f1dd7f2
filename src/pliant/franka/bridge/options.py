"""Options of the FCI bridge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pliant.base.errors import BridgeError, WireError
from pliant.base.options import check_values, option
from pliant.franka.wire.fci.frames import protocol_of_system
from pliant.franka.wire.fci.grippers import GRIPPER_PORT

TimeMode = Literal["lockstep", "paced", "wall"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FciOptions:
    """How the arms are served."""

    mode: TimeMode = "paced"
    """Time mode. paced: robot time waits for the client and never runs faster than 1 kHz, so that clients that sleep
    on the wall clock find the robot where they expect it; lockstep: the same as fast as the client answers, for tests
    and learning; wall: 1 kHz of the wall clock, and late commands are lost as on the robot."""
    host: str = "127.0.0.1"
    """Address of the first arm; each further arm has the next address, since clients know one port only."""
    port: int = option(1337, low=0, high=65535)
    """TCP port of the robot; 0 takes a free one. Every stock client uses 1337."""
    gripper_port: int = option(GRIPPER_PORT, low=0, high=65535)
    """TCP port of the hand; 0 takes a free one. Every stock client uses 1338."""
    vacuum_port: int = option(1339, low=0, high=65535)
    """TCP port of the vacuum gripper; 0 takes a free one. Every stock client uses 1339."""
    command_timeout: float = option(0.2, unit="s", low=0.0, above=True, high=60.0)
    """How long a lock-step cycle waits for its command before it counts as lost. The time counts while the client has
    its state and this process runs, so that a stalled machine loses no command: a client that has not read its state
    gets 0.6 s more. The first command of a motion is awaited for 0.6 s of wall time at most, and is never lost. Above
    1 s only clients that are slow to answer gain: one whose command was lost gives up after 1 s without a state."""
    system_version: str = "own"
    """Which clients are served. own: those that the firmware of the arm's type answers, protocol versions 4 and 5
    (libfranka 0.8 and 0.9) of a FER and 6 to 10 (libfranka 0.10 to 0.21) of an FR3; a version of the robot's system,
    such as 5.9.0: the one protocol version that this firmware answers, by the vendor's compatibility table; any:
    versions 4 to 10 of every arm, also the clients that a real arm of that type refuses."""
    priority: int = option(0, low=0, high=99)
    """SCHED_FIFO priority of the loop's thread; 0 leaves the scheduler alone."""

    def __post_init__(self) -> None:
        check_values(self, BridgeError)
        if self.system_version not in ("own", "any"):
            try:
                protocol_of_system(self.system_version)
            except WireError as fault:
                raise BridgeError(f"{fault}; or own, or any", field="system_version") from None

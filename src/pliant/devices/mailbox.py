"""The mailbox of a device: it checks commands and keeps the latest one."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from pliant.base.errors import DeviceError, nearest
from pliant.devices.fields import FieldInfo, Values


@dataclass(frozen=True, slots=True, eq=False)
class Command:
    """One immutable set of commanded values."""

    seq: int
    """Sequence number of the sample that the command answers, if the sender knows it; otherwise a counter."""
    mode: str
    """Command mode of the values, a key of ``Device.commands``."""
    values: Values
    """Field -> float, or read-only float64 array; fields of the mode that were never set are absent."""
    stamp_ns: int = 0
    """Time stamp of the sender [ns]; 0 if there is none."""


class Mailbox:
    """Mailbox that keeps the latest command; the only object of the loop that other threads write to.

    `put` may set some fields of a mode only. The other fields keep their last values, so that two clients can each
    send one reference. A field that several modes have in common, such as ``external_torque``, keeps its value when
    the mode is switched.

    Args:
        device: name of the device, used in error messages.
        commands: command mode -> field -> description of the field.
    """

    __slots__ = (
        "_accepted", "_commands", "_condition", "_count", "_held", "_latest", "_shared", "_taken", "_waiting", "device",
        "fresh",
    )  # fmt: skip

    def __init__(self, device: str, commands: Mapping[str, Mapping[str, FieldInfo]]) -> None:
        self.device = device
        self._commands = commands
        self._accepted: frozenset[str] = frozenset(commands)
        self._shared = {
            mode: tuple(
                (other, same)
                for other in commands
                if other != mode and (same := {n for n, info in fields.items() if commands[other].get(n) == info})
            )
            for mode, fields in commands.items()
        }
        self._condition = threading.Condition()
        self._held: dict[str, dict[str, float | np.ndarray]] = {}
        self._count = 0
        self._latest: Command | None = None
        self._taken: Command | None = None
        self.fresh = False
        """Whether a command may have come that `take` has not returned; the loop looks here before it calls."""
        self._waiting = 0  # threads that wait: to notify nobody costs a microsecond in each step

    @property
    def accepted(self) -> frozenset[str]:
        """The command modes that the device currently accepts."""
        return self._accepted

    def accept(self, modes: Iterable[str] | None = None) -> None:
        """Accept commands of these modes only, until the next call. Called by the loop thread.

        Args:
            modes: command modes; None accepts all modes.

        Raises:
            DeviceError: one of the modes does not exist.
        """
        chosen = frozenset(self._commands if modes is None else modes)
        for mode in chosen - frozenset(self._commands):
            raise DeviceError(
                f"{self.device}: there is no command mode {mode!r}; {nearest(mode, self._commands)}",
                field="mode",
            )
        self._accepted = chosen

    def put(
        self,
        values: Mapping[str, object],
        *,
        mode: str | None = None,
        seq: int | None = None,
        stamp_ns: int = 0,
    ) -> Command:
        """Check a command and store it for the device, replacing a command that has not been taken yet.

        Args:
            values: field -> number or sequence of numbers, in the units of the fields.
            mode: the command mode; None for the only mode that the device currently accepts.
            seq: sequence number of the sample that this command answers; None for a counter.
            stamp_ns: time stamp of the sender [ns].

        Returns:
            The complete command, including the fields set by earlier calls.

        Raises:
            DeviceError: the mode or a field is unknown or inactive, or a value has the wrong length, is out of range,
                or is not a finite number.
        """
        mode = self._choose(mode)
        fields = self._commands[mode]
        fresh: dict[str, float | np.ndarray] = {}
        for name, value in values.items():
            info = fields.get(name)
            if info is None:
                raise DeviceError(
                    f"{self.device}: mode {mode!r} has no command field {name!r}; {nearest(name, fields)}",
                    field=str(name),
                )
            fresh[name] = self._check(name, value, info)
        with self._condition:
            held = self._held.setdefault(mode, {})
            held.update(fresh)
            for other, same in self._shared.get(mode, ()):
                if common := {name: value for name, value in fresh.items() if name in same}:
                    self._held.setdefault(other, {}).update(common)
            number = self._count if seq is None else int(seq)
            self._count = number + 1
            command = Command(number, mode, MappingProxyType(dict(held)), stamp_ns)
            self._latest = command
            self.fresh = True
            if self._waiting:
                self._condition.notify_all()
        return command

    def post(self, command: Command) -> None:
        """Store a command that the sender has already checked, such as one decoded from a datagram.

        Arrays must be read-only; nothing is copied. The command replaces all earlier values of its mode.

        Raises:
            DeviceError: the device does not accept the mode.
        """
        mode = command.mode
        if mode not in self._accepted:
            self._choose(mode)
        with self._condition:
            self._held.pop(mode, None)
            self._count = command.seq + 1
            self._latest = command
            self.fresh = True
            if self._waiting:
                self._condition.notify_all()

    def take(self) -> Command | None:
        """Return the latest command if it has not been taken yet, else None. Called by the loop thread."""
        self.fresh = False  # before the look: a command that comes in between sets it again
        latest = self._latest
        if latest is self._taken:
            return None
        self._taken = latest
        return latest

    def peek(self) -> Command | None:
        """Return the latest command, taken or not; None if there was none since the last `clear`."""
        return self._latest

    def wait_for(self, seq: int, timeout: float) -> bool:
        """Wait for a command with this sequence number or a later one.

        Args:
            seq: sequence number of the sample that must be answered.
            timeout: longest wait [s of wall time].

        Returns:
            True if the command has arrived, False on timeout.
        """

        def answered() -> bool:
            return self._latest is not None and self._latest.seq >= seq

        with self._condition:
            self._waiting += 1
            try:
                return self._condition.wait_for(answered, timeout)
            finally:
                self._waiting -= 1

    def clear(self) -> None:
        """Remove all commands and restart the sequence numbers at 0."""
        with self._condition:
            self._held.clear()
            self._count = 0
            self._latest = self._taken = None
            self.fresh = False

    def _choose(self, mode: str | None) -> str:
        if mode is None:
            if len(self._accepted) == 1:
                return next(iter(self._accepted))
            found = "takes no commands" if not self._accepted else "takes several command modes: name one"
            raise DeviceError(f"{self.device}: {found}; {nearest('', self._accepted or self._commands)}", field="mode")
        if mode not in self._commands:
            raise DeviceError(
                f"{self.device}: there is no command mode {mode!r}; {nearest(mode, self._commands)}",
                field="mode",
            )
        if mode not in self._accepted:
            raise DeviceError(
                f"{self.device}: a command of mode {mode!r} came while the device takes "
                f"{', '.join(map(repr, sorted(self._accepted))) or 'none'}; switch the mode first",
                field="mode",
            )
        return mode

    def _check(self, name: str, value: Any, info: FieldInfo) -> float | np.ndarray:
        """Return the value of a field as it is kept: a number, or a read-only array."""
        if isinstance(value, str | bytes | bool) or value is None:
            raise self._fault(name, info, f"is {value!r}")
        try:
            given = np.array(value, dtype=np.float64) if info.shape else float(value)
        except (TypeError, ValueError):
            raise self._fault(name, info, f"is {value!r}") from None
        if not isinstance(given, np.ndarray):
            if not info.low <= given <= info.high or not math.isfinite(given):
                raise self._fault(name, info, f"is {given!r}")
            return given
        if given.shape != info.shape:
            raise self._fault(name, info, f"has shape {given.shape}", f", shape {info.shape}")
        # NaN is the least and the greatest of its array, and fails every comparison.
        if given.size and not (info.low <= given.min() > -math.inf and math.inf > given.max() <= info.high):
            wrong = np.argwhere(~(np.isfinite(given) & (given >= info.low) & (given <= info.high)))[0]
            place = ", ".join(str(k) for k in wrong.tolist())
            raise self._fault(name, info, f"has {float(given[tuple(wrong)])!r} at index {place}")
        given.flags.writeable = False
        return given

    def _fault(self, name: str, info: FieldInfo, found: str, more: str = "") -> DeviceError:
        wanted = f"an array of {info.size} finite numbers" if info.shape else "a finite number"
        unit = f" [{info.unit}]" if info.unit else ""
        limits = "" if info.low == -math.inf and info.high == math.inf else f" from {info.low:g} to {info.high:g}"
        return DeviceError(
            f"{self.device}: field {name!r} {found}; must be {wanted}{unit}{limits}{more}", field=str(name)
        )

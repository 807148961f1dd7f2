"""The time of what is in a bag: from header stamps where there are any, else from the log time, moved by ``/clock``.

A bag has two axes of time: when a message was recorded (wall time, mostly) and when it was meant (the stamp in its
header, simulation time where there is a ``/clock``). A recorded ``/clock`` says how one goes with the other, at any
speed of the simulation; without it the two are taken as shifted by what the stamped messages show.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pliant.bags.base import Bag
from pliant.base.errors import RecordingError
from pliant.ros.wire.message import Message

CLOCK = "/clock"
VALUES_LIMIT = 50_000_000
"""Numbers that are taken from a bag at most."""


@dataclass(slots=True, eq=False)
class Series:
    """The messages of one topic that are wanted."""

    log_ns: list[int] = field(default_factory=list)
    """Log times [ns]."""
    stamp_ns: list[int] = field(default_factory=list)
    """Stamps of the headers [ns]; 0 where there is none."""
    values: list[Message] = field(default_factory=list)
    """The decoded messages."""


class TimeAxis:
    """From log times to simulation time.

    Args:
        clock: the recorded clock, or None.
        shift_ns: without a clock: log time minus stamp [ns].
        bag: the bag, for messages.
    """

    def __init__(self, clock: Series | None, shift_ns: int, bag: Bag) -> None:
        self.shift_ns = shift_ns
        self.clock = clock is not None
        if clock is not None:
            self._log = np.array(clock.log_ns, dtype=np.int64)
            self._sim = np.array([value["clock"] for value in clock.values], dtype=np.int64)
            back = np.flatnonzero(np.diff(self._sim) < 0)
            if back.size:
                row = int(back[0])
                raise RecordingError(
                    f"{CLOCK} goes back from {self._sim[row] * 1e-9:g} to {self._sim[row + 1] * 1e-9:g} s, "
                    f"{(self._log[row + 1] - bag.begin_ns) * 1e-9:g} s after the bag's beginning: a reset; the "
                    "bag must hold one run (cut it there)",
                    file=bag.path,
                    field=CLOCK,
                )

    @property
    def begin_ns(self) -> int | None:
        """First value of the clock [ns]; None without a clock."""
        return int(self._sim[0]) if self.clock else None

    def at(self, log_ns: np.ndarray) -> np.ndarray:
        """Return simulation times [ns] of log times [ns]."""
        if not self.clock:
            return log_ns - self.shift_ns
        origin, start = int(self._log[0]), int(self._sim[0])
        inside = np.interp((log_ns - origin).astype(float), (self._log - origin).astype(float), self._sim - start)
        # Before the clock's first and after its last message time goes on as fast as it did between them.
        span = int(self._log[-1]) - origin
        speed = (int(self._sim[-1]) - start) / span if span else 1.0
        outside = np.minimum(log_ns - origin, 0) + np.maximum(log_ns - int(self._log[-1]), 0)
        return start + np.round(inside + speed * outside).astype(np.int64)

    def of(self, series: Series) -> np.ndarray:
        """Return the simulation time of each message [ns]: its stamp, else from its log time."""
        stamps = np.array(series.stamp_ns, dtype=np.int64)
        return np.where(stamps > 0, stamps, self.at(np.array(series.log_ns, dtype=np.int64)))


def collect(bag: Bag, wanted: set[str]) -> tuple[dict[str, Series], TimeAxis]:
    """Read topics whole, and the axis of time.

    Args:
        bag: the bag.
        wanted: names of the topics; each has one type that pliant knows.

    Raises:
        RecordingError: a topic has several types, the clock goes back, or there is more than memory should hold.
        WireError: a message does not follow its type.
    """
    for name in sorted(wanted):
        types = sorted({t.type for t in bag.topics if t.name == name and t.count})
        if len(types) > 1:
            raise RecordingError(
                f"the topic {name} has messages of {len(types)} types ({', '.join(types)}); must be one",
                file=bag.path,
                field=name,
            )
    clocks = {t.name for t in bag.topics if t.name == CLOCK and t.count and t.known_type() == "rosgraph_msgs/Clock"}
    found = {name: Series() for name in sorted(wanted | clocks)}
    size = 0
    for message in bag.messages(found):
        values = message.decode()
        series = found[message.topic.name]
        series.log_ns.append(message.log_ns)
        header = values.get("header")
        series.stamp_ns.append(header["stamp"] if isinstance(header, dict) else 0)
        series.values.append(values)
        size += len(message.body) // 8 + 1
        if size > VALUES_LIMIT:
            raise RecordingError(f"the bag has more than {VALUES_LIMIT} numbers of this kind; cut it", file=bag.path)
    clock = found.pop(CLOCK, None) if CLOCK not in wanted else found[CLOCK]
    shifts = [
        log - stamp
        for series in found.values()
        for log, stamp in zip(series.log_ns, series.stamp_ns, strict=True)
        if stamp > 0
    ]
    shift = int(np.median(np.array(shifts, dtype=np.int64))) if shifts and clock is None else 0
    return {name: series for name, series in found.items() if series.log_ns}, TimeAxis(clock, shift, bag)

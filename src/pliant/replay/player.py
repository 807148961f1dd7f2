"""Replays: what was recorded is published again, at a chosen speed, from a chosen time on.

A recording of pliant gives the samples of its devices, and the bridges make topics of them as in the run. A
recording of another program, such as a bag, gives its messages as they are: each topic is a `RecordedTopic`, and a
bridge serves those whose type it knows.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pliant.base.errors import DeadThreadError, RecordingError
from pliant.devices.base import Sample, SampleSource
from pliant.model.interface import Interface
from pliant.recording.foreign import ForeignRecording, foreign_format, is_recording
from pliant.recording.recording import Recording, read_recording
from pliant.simulation.bridge import Bridge
from pliant.simulation.replayed import RecordedTopic

LONGEST_SLEEP = 0.25
"""[s of wall time]; a progress bar moves in long gaps."""
READY_PERIOD = 0.02
"""How often it is asked whether a replay may begin [s of wall time]."""
TICK_NS = 1_000_000
"""Shortest time between two ticks of a bag that has no clock of its own [ns]."""


@dataclass(frozen=True, slots=True)
class WallClock:
    """Wall time of a replay."""

    clock: Callable[[], float] = time.perf_counter
    """Returns wall time [s]."""
    sleep: Callable[[float], None] = time.sleep
    """Sleeps for some seconds."""


WALL_CLOCK = WallClock()


class Replay:
    """Something recorded that can be played; see `open_replay`.

    Args:
        source: a recording, or an open foreign one.
    """

    def __init__(self, source: Recording | ForeignRecording) -> None:
        self.source = source
        self.path = source.path
        self.position = 0.0
        """Where it stands, from the first sample on [s]."""
        self.devices: dict[str, SampleSource] = {}
        if isinstance(source, Recording):
            self.devices.update(source.devices)
            self.interface = source.interface
            stamps = [int(times[0]) for times in source.log_times.values() if len(times)]
            self.begin_ns = min(stamps, default=0)
            self.end_ns = max((int(times[-1]) for times in source.log_times.values() if len(times)), default=0)
            return
        self.interface = Interface()
        self.begin_ns, self.end_ns = source.begin_ns, source.end_ns
        for topic in source.topics:
            if topic.count and not source.is_clock(topic) and topic.name not in self.devices:
                self.devices[topic.name] = RecordedTopic(topic)

    def __enter__(self) -> Replay:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the bag."""
        if not isinstance(self.source, Recording):
            self.source.close()

    @property
    def length(self) -> float:
        """From the first sample to the last [s]."""
        return (self.end_ns - self.begin_ns) * 1e-9

    @property
    def unserved(self) -> list[str]:
        """Topics of a bag that no bridge publishes, with their types; known once the bridges have started."""
        return [
            f"{device.name} ({device.recorded.type})"
            for device in self.devices.values()
            if isinstance(device, RecordedTopic) and not device.served_by
        ]

    def play(
        self,
        bridges: Iterable[Bridge] = (),
        *,
        speed: float = math.inf,
        start: float = 0.0,
        duration: float | None = None,
        loop: bool = False,
        delay: float = 0.0,
        ready: Callable[[], bool] | None = None,
        before_stop: Callable[[], None] | None = None,
        wall: WallClock = WALL_CLOCK,
    ) -> Generator[Sample, None, None]:
        """Yield the samples, each at its time, after the bridges got it.

        Args:
            bridges: get a ``tick`` before the samples of each time, and every sample before it is yielded. They start
                with the first sample and stop with the last one, or when the iterator is closed.
            speed: recorded seconds per wall second, > 0; infinity does not wait.
            start: where it begins, from the first sample on [s].
            duration: how much is played [s]; None for all.
            loop: begin again at the end, for ever; time then starts anew.
            delay: wait before the first sample [s of wall time], so that subscribers find the topics.
            ready: asked again and again before the delay; the replay begins when it returns True.
            before_stop: called when it ends, however it ends, while the bridges that started are still there.
            wall: wall time; tests pass their own.

        Raises:
            RecordingError: a wrong value, nothing between start and end, or damage.
            DeadThreadError: a thread of a bridge died.
        """
        bridges = tuple(bridges)
        if isinstance(speed, str) or not speed > 0.0:
            raise RecordingError(f"the speed of the replay is {speed!r}; must be a number above 0", field="speed")
        for name, value in (("start", start), ("delay", delay), ("duration", duration)):
            if value is not None and not (math.isfinite(value) and value >= 0.0):
                raise RecordingError(f"the {name} of the replay is {value!r}; must be a number >= 0 [s]", field=name)
        if start > self.length:
            raise RecordingError(
                f"the replay starts at {start:g} s; the recording has {self.length:g} s",
                file=self.path,
                field="start",
            )
        if loop and not self.end_ns > self.begin_ns + round(start * 1e9):
            raise RecordingError("a replay of no length cannot be repeated", file=self.path, field="loop")
        if loop and duration == 0.0:
            raise RecordingError("a replay of 0 s cannot be repeated", file=self.path, field="duration")
        waiting = next((b for b in bridges if b.lockstep), None)
        if waiting is not None:
            raise RecordingError(
                f"the bridge {waiting.name} waits for answers; a replay has none: omit its option sync",
                field="sync",
            )
        first = self.begin_ns + round(start * 1e9)
        last = self.end_ns if duration is None else min(self.end_ns, first + round(duration * 1e9))
        return self._play(bridges, (first, last), speed, loop, delay, ready, before_stop, wall)

    # ------------------------------------------------------------------ inside
    def _play(
        self,
        bridges: tuple[Bridge, ...],
        span: tuple[int, int],
        speed: float,
        loop: bool,
        delay: float,
        ready: Callable[[], bool] | None,
        before_stop: Callable[[], None] | None,
        wall: WallClock,
    ) -> Generator[Sample, None, None]:
        first, last = span
        clock, sleep = wall.clock, wall.sleep
        started: list[Bridge] = []

        deaths: list[DeadThreadError] = []

        def died(name: str, thread: str, why: str) -> None:
            text = f"{name}: the thread {thread} died ({why}), so the replay ends"
            deaths.append(DeadThreadError(text, bridge=name, thread=thread, why=why))

        def check() -> None:
            if deaths:
                raise deaths[0]

        def wait(until: float) -> None:
            while (ahead := until - clock()) > 0.0:
                sleep(min(ahead, LONGEST_SLEEP))
                check()

        try:
            for bridge in bridges:
                started.append(bridge)
                bridge.threads.tell(functools.partial(died, bridge.name))
                bridge.start(self.devices)
            while ready is not None and not ready():
                sleep(READY_PERIOD)
                check()
            if delay:
                wait(clock() + delay)
            while True:
                began = clock()
                previous: int | None = None
                for log_ns, stamp_ns, sample in self.events():
                    if log_ns < first:
                        continue
                    if log_ns > last:
                        break
                    if log_ns != previous:
                        wait(began + (log_ns - first) * 1e-9 / speed)
                        previous = log_ns
                        self.position = (log_ns - self.begin_ns) * 1e-9
                    if stamp_ns is not None:
                        for bridge in bridges:
                            bridge.tick(stamp_ns)
                    if sample is not None:
                        for bridge in bridges:
                            bridge.publish(sample)
                        check()
                        yield sample
                if not loop:
                    return
        finally:
            try:
                if before_stop is not None:
                    before_stop()
            finally:
                for bridge in started:
                    bridge.threads.close()
                    bridge.stop()

    def events(self) -> Iterator[tuple[int, int | None, Sample | None]]:
        """Yield (time on the axis of the file [ns], time that the bridges get or None, sample or None)."""
        if isinstance(self.source, Recording):
            previous: int | None = None
            for log_ns, sample in self.source.samples():
                yield log_ns, sample.stamp_ns if log_ns != previous else None, sample
                previous = log_ns
            return
        source = self.source
        clocked = any(topic.count and source.is_clock(topic) for topic in source.topics)
        count = dict.fromkeys(self.devices, 0)
        ticked: int | None = None
        for message in source.messages():
            name = message.topic.name
            if source.is_clock(message.topic):
                yield message.log_ns, source.clock_ns(message), None
                continue
            device = self.devices.get(name)
            if not isinstance(device, RecordedTopic) or device.recorded.type != message.topic.type:
                continue
            tick = None
            if not clocked and (ticked is None or message.log_ns >= ticked + TICK_NS):
                tick = ticked = message.log_ns
            values: Any = MappingProxyType({"body": message.body})
            yield message.log_ns, tick, Sample(name, count[name], message.log_ns, values)
            count[name] += 1


def open_replay(source: str | Path | Recording | ForeignRecording) -> Replay:
    """Open a recording of pliant or of another program for a replay; close it, or use it in a ``with``.

    Args:
        source: a recording, an open foreign one, or the path of one of them.

    Raises:
        RecordingError: it cannot be read.
    """
    if isinstance(source, Recording | ForeignRecording):
        return Replay(source)
    path = Path(source)
    foreign = None if is_recording(path) else foreign_format(path)
    if foreign is not None:
        return Replay(foreign.open(path))
    return Replay(read_recording(path))


def replay(
    source: str | Path | Recording | ForeignRecording, *, bridges: Iterable[Bridge] = (), **options: Any
) -> Generator[Sample, None, None]:
    """Yield the samples of a recording, at a chosen speed, and publish them on bridges; see `Replay.play`.

    Args:
        source: a recording, an open foreign one, or the path of one of them.
        bridges: get every sample.
        options: those of `Replay.play`.

    Raises:
        RecordingError: a wrong option, or the recording cannot be read.
    """
    return open_replay(source).play(bridges, **options)

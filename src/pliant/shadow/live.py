"""A simulation beside a robot that runs: what is heard goes in, judged windows come out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pliant.base.errors import RecordingError
from pliant.base.numerics import Array
from pliant.model.robot import Robot
from pliant.model.wanted import check_robot
from pliant.recording.live import Heard
from pliant.shadow.bank import STEP, Bank
from pliant.shadow.candidates import Compared, candidates_of
from pliant.shadow.drift import Drift, check_judged, judge, least_left
from pliant.shadow.log import MEASURED, Signal
from pliant.shadow.stream import Stream

GATHER = 1.0
"""Time after the first message in which every topic should be heard [s of the robot's time]; twice as long where the
times of arrivals have to settle."""
BEHIND = 1.0
"""A topic that is so far behind the others is silent [s of the robot's time]."""
HISTORY = 2.0
"""How long commands are kept for worlds with a longer delay [s]."""
PIECE = 0.5
"""Time that is simulated at most before page and console are served again [s]."""
UNCHOSEN = 10.0
"""How long measurements are kept that no commands belong to [s]."""
SLOW = 3.0
"""Lag behind the robot at which the simulation takes the robot's own, longer time step [s]."""
CLEARLY = 0.9
"""Part of the misfit that the shorter time step must leave at most, to be taken in place of the description's."""
LOST = 20.0
"""Lag behind the robot at which the simulation begins anew at the present state [s]."""
MAX_STREAMS = 1000
"""Most topics."""


@dataclass(frozen=True, slots=True)
class Pose:
    """Robot and simulation at one time."""

    time: float
    """The robot's time [s]."""
    qpos: Array
    """Positions of the whole simulation, shape (nq,)."""
    curves: Mapping[str, tuple[Array, Array, Array]]
    """Times [s], measured and simulated positions [rad] of each joint since the state before, shapes (n,)."""


@dataclass(slots=True)
class _Track:
    """One measured port of the present segment."""

    time: list[Array] = field(default_factory=list)
    measured: list[Array] = field(default_factory=list)
    simulated: list[dict[float, Array]] = field(default_factory=list)
    """By the time step of the worlds."""

    def compared(self, dt: float) -> Compared:
        simulated = np.concatenate([each[dt] for each in self.simulated])
        return Compared(np.concatenate(self.time), np.concatenate(self.measured), simulated)

    def drop(self, time: float) -> None:
        """Forget what was measured before a time."""
        while len(self.time) > 1 and self.time[0][-1] < time:
            for parts in (self.time, self.measured, self.simulated):
                parts.pop(0)


class LiveShadow:
    """Follows a robot: simulates it as described under the commands that are heard, and judges window by window.

    A segment begins when the joints are heard, and ends where the robot restarts, its clock jumps or a topic falls
    silent; the next one begins at rest in the positions that are then measured, and settles again.

    A motor's controller that runs once a step acts like a small delay and damping. The first window is therefore
    simulated with the step of the description and with `STEP`; the one is kept with which the best change of one
    parameter leaves less.

    Args:
        robot: the robot as described.
        watched: as of `candidates_of`.
        window: length of a window [s]; windows overlap by half.
        settle: begin of each segment that is not judged [s].
        commands: how commands are between their samples: ``held``, ``sampled`` or ``latched``; ``auto`` for latched
            where they come with measurements and held where they have a topic of their own.
        step: time step of the simulations [s]; None for the one of two that explains more.

    Raises:
        ModelError: a parameter cannot be watched.
        RecordingError: the robot has no compliant joint, the window is not more than 0 s, or `check_judged` refuses
            the commands or the time to settle.
    """

    def __init__(
        self,
        robot: Robot,
        *,
        watched: Sequence[str] = (),
        window: float = 10.0,
        settle: float = 1.0,
        commands: str = "auto",
        step: float | None = None,
    ) -> None:
        check_robot(robot, "LiveShadow", compiled=False)
        if not robot.actuators:
            raise RecordingError(
                f"{robot.name!r} has no compliant joint, so that nothing of it can drift", field="robot"
            )
        check_judged(commands, settle)
        if not (np.isfinite(window) and window > 0.0):
            raise RecordingError(f"the window has {window:g} s; must be more than 0 s", field="window")
        self._robot, self._window, self._settle, self._kind = robot, window, settle, commands
        own = float(robot.timestep)
        steps = [step] if step is not None else [own, STEP] if own > STEP else [own]
        candidates = candidates_of(robot, watched)
        self._banks = [Bank(robot, candidates, step=each) for each in steps]
        self.model = self._banks[0].batch.model
        """The compiled robot."""
        self.notes: list[str] = []
        """What is odd about what is heard; whoever reads them clears them."""
        self.pose: Pose | None = None
        """The newest common state."""
        self.heard = 0.0
        """Time that was simulated beside the robot, over all segments [s]."""
        self.restarts = 0
        """How often it began anew."""
        outputs = {
            joint: MEASURED if actuator.mode.has_motors else MEASURED[:1] for joint, actuator in robot.actuators.items()
        }
        self._wanted = {f"{joint}/{name}" for joint, names in outputs.items() for name in names}
        self._references = {f"{joint}/reference_{k}" for joint in outputs for k in (1, 2)}
        self._begin_anew()

    # ------------------------------------------------------------------ what is heard
    def hear(self, messages: Sequence[Heard]) -> None:
        """Take messages; what is odd about their times begins a new segment and is noted."""
        for message in messages:
            values = {p: v for p, v in message.values.items() if p in self._wanted or p in self._references}
            if not values:
                continue
            key = f"{message.source}#{message.rank}"
            stream = self._streams.get(key)
            fault = "" if stream is None else stream.fault(message.time)
            if fault:
                self._restart(fault)
                stream = None
            if stream is None:
                if len(self._streams) >= MAX_STREAMS:
                    continue
                late = [
                    port for port in values if self._sources and port not in self._sources and port not in self._left
                ]
                if late:
                    self._restart(f"{', '.join(late)} is heard from now on ({message.source})")
                stream = self._streams[key] = Stream(
                    message.source,
                    list(values),
                    rank=message.rank,
                    stamped=message.stamped,
                    events=not any(port in self._wanted for port in values),
                )
            if values.keys() != set(stream.ports):  # a value is not finite, or joints have come
                if not values.keys() >= set(stream.ports):
                    continue
                values = {port: values[port] for port in stream.ports}
            stream.put(message.time, [values[port] for port in stream.ports])

    @property
    def behind(self) -> float:
        """Time by which the simulation is behind what is heard [s]."""
        if np.isnan(self._begin):
            return 0.0
        newest = max((s.last for s in self._sources.values() if not s.events), default=self.time)
        return newest - self.time

    @property
    def time(self) -> float:
        """Time up to which is simulated [s]."""
        return min(bank.time for bank in self._banks)

    def keep_up(self) -> None:
        """Take the longer time step, or begin anew, where the simulation is too slow for the robot."""
        if self.behind > LOST:
            self._restart(
                f"the simulations are {self.behind:.0f} s behind the robot; fewer parameters (--watch) or a longer "
                "time step are faster"
            )
        elif self.behind > SLOW and len(self._banks) > 1:
            self._keep(self._banks[0], "because a shorter one is slower than the robot")

    def _keep(self, bank: Bank, why: str) -> None:
        """Go on with one time step."""
        self._banks = [bank]
        self.notes.append(f"the simulations have a time step of {1e3 * bank.batch.dt:g} ms, {why}")

    def _restart(self, why: str) -> None:
        self.notes.append(why)
        self.restarts += 1
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._streams: dict[str, Stream] = {}
        self._sources: dict[str, Stream] = {}
        self._pending: dict[str, tuple[list[Array], list[Array]]] = {}
        self._tracks: dict[str, _Track] = {}
        self._commands: dict[str, Signal] = {}
        self._left: set[str] = set()
        self._begin = self._seen = self._edge = np.nan

    # ------------------------------------------------------------------ beside it
    def advance(self) -> list[Drift]:
        """Simulate up to the newest time that every joint is heard at; return the windows that are complete."""
        self._collect()
        if not self._sources:
            self._choose()
        if not self._sources:
            return []
        end = self._horizon()
        if end is None or not np.isfinite(end):
            return []
        if np.isnan(self._begin):
            self._start(end)
        elif end > self.time:
            self._follow(min(end, self.time + PIECE))
        return self._windows()

    def _collect(self) -> None:
        """Take what the streams have settled."""
        for stream in self._streams.values():
            times, values = stream.take(loose=bool(np.isnan(self._begin)))
            if not len(times):
                continue
            for k, port in enumerate(stream.ports):
                if self._sources and self._sources.get(port) is not stream:
                    continue
                kept = self._pending.setdefault(f"{port}#{stream.name}#{stream.rank}", ([], []))
                kept[0].append(times)
                kept[1].append(values[:, k])

    def _choose(self) -> None:
        """Choose, once every topic should have been heard, the source of each port."""
        measuring = [s for s in self._streams.values() if not s.events and np.isfinite(s.given)]
        if not measuring:
            return
        newest = max(s.given for s in measuring)
        first = min(times[0][0] for times, _ in self._pending.values())
        if newest - first < (GATHER if all(s.stamped for s in measuring) else 2.0 * GATHER):
            return
        found: dict[str, Stream] = {}
        for stream in sorted(self._streams.values(), key=lambda s: s.rank):
            if np.isfinite(stream.given):
                for port in stream.ports:
                    found.setdefault(port, stream)
        ports = {port for port in found if port in self._wanted}
        told = {port for port in found if port in self._references}
        if not any(p.endswith("/position") for p in ports) or not any(p.endswith("/reference_1") for p in told):
            if newest - first > UNCHOSEN:
                self._begin_anew()
            return  # `missing` tells of it
        for joint in self._robot.actuators:
            missing = [q for q in ("position", "reference_1") if f"{joint}/{q}" not in found]
            if missing:
                self.notes.append(f"{joint} is left out: nobody sends its {' and '.join(missing)}")
                self._left |= {port for port in found if port.rpartition("/")[0] == joint}
        self._sources = {port: stream for port, stream in found.items() if port not in self._left}
        used = {f"{port}#{stream.name}#{stream.rank}" for port, stream in self._sources.items()}
        self._pending = {key: kept for key, kept in self._pending.items() if key in used}

    def missing(self) -> str:
        """Return what is not heard yet, for the user; "" once a segment has begun."""
        if self._sources:
            return ""
        ports = {port for stream in self._streams.values() for port in stream.ports}
        if not any(p.endswith("/position") for p in ports):
            return "no position of a joint is heard"
        return "" if any(p.endswith("/reference_1") for p in ports) else "no command of a joint is heard"

    def _horizon(self) -> float | None:
        """Return the newest time that all sources have reached; a silent one begins a new segment."""
        chosen = {id(s): s for p, s in self._sources.items() if p in self._wanted}.values()
        given = [s.given for s in chosen if not s.events]
        late = [s.name for s in chosen if s.given < max(given) - BEHIND]
        if late:
            self._restart(f"{', '.join(late)}: silent for more than {BEHIND:g} s while others are heard")
            return None
        return min(given)

    def _signal(self, port: str) -> Signal:
        stream = self._sources[port]
        times, values = self._pending.get(f"{port}#{stream.name}#{stream.rank}", ([], []))
        if not times:
            return Signal(np.empty(0), np.empty(0))
        return Signal(np.concatenate(times), np.concatenate(values))

    def _keep_after(self, port: str, signal: Signal, end: float) -> None:
        stream = self._sources[port]
        later = signal.time > end
        self._pending[f"{port}#{stream.name}#{stream.rank}"] = ([signal.time[later]], [signal.values[later]])

    def _start(self, end: float) -> None:
        """Begin a segment at rest in the positions that are measured at a time: the first at which all is heard.

        Times of arrivals are even from now on only, so that their segment begins now.
        """
        if all(s.stamped or s.events for s in self._sources.values()):
            end = max(float(self._signal(port).time[0]) for port in self._sources)
        positions = {}
        for port in sorted(p for p in self._sources if p in self._wanted):
            signal = self._signal(port)
            if port.endswith("/position"):
                positions[port.rpartition("/")[0]] = float(np.interp(end, signal.time, signal.values))
            self._keep_after(port, signal, end)
            self._tracks[port] = _Track()
        self._take_commands(end)
        if not self._commands:
            return
        self._begin, self._seen, self._edge = end, end, end + self._settle
        for bank in self._banks:
            bank.begin(end, positions, self._commands)

    def _take_commands(self, end: float) -> None:
        """Move the commands up to a time, and those just after it, to where the simulation finds them."""
        for port in self._sources:
            if port not in self._references:
                continue
            raw = self._signal(port)
            if not len(raw.time):
                continue
            signal = raw.between(self._kind_of(port))
            self._keep_after(port, raw, float(raw.time[-1]) - 1e-12)  # what comes next is joined to the last one
            known = self._commands.get(port)
            if known is not None:
                old = known.time < signal.time[0] - 1e-12
                signal = Signal(np.r_[known.time[old], signal.time], np.r_[known.values[old], signal.values])
            first = max(0, int(np.searchsorted(signal.time, end - HISTORY)) - 1)
            self._commands[port] = Signal(signal.time[first:], signal.values[first:])

    def _kind_of(self, port: str) -> str:
        if self._kind != "auto":
            return self._kind
        return "held" if self._sources[port].events else "latched"

    def _follow(self, end: float) -> None:
        """Simulate up to a time beside what was measured until then."""
        self._take_commands(end)
        before = self.time
        measured = {}
        for port in self._tracks:
            signal = self._signal(port)
            self._keep_after(port, signal, end)
            inside = (signal.time > self._seen) & (signal.time <= end)
            if inside.any():
                measured[port] = Signal(signal.time[inside], signal.values[inside])
        found = {bank.batch.dt: bank.advance(self._commands, measured, end) for bank in self._banks}
        self._seen = end
        self.heard += self.time - before
        if not all(np.isfinite(values[:, 0]).all() for one in found.values() for values in one.values()):
            self._restart(f"the simulation beside the robot diverged at {end:.3f} s")
            return
        for port, signal in measured.items():
            track = self._tracks[port]
            track.time.append(signal.time)
            track.measured.append(signal.values)
            # A world that diverged tells nothing: it counts as the robot as described.
            track.simulated.append(
                {dt: np.where(np.isfinite(one[port]), one[port], one[port][:, :1]) for dt, one in found.items()}
            )
            track.drop(self._edge)
        self._show(end)

    def _show(self, end: float) -> None:
        bank = self._banks[0]
        dt = bank.batch.dt
        curves = {
            port.rpartition("/")[0]: (track.time[-1], track.measured[-1], track.simulated[-1][dt][:, 0])
            for port, track in self._tracks.items()
            if port.endswith("/position") and track.time and track.time[-1][-1] > end - PIECE
        }
        self.pose = Pose(end, np.array(bank.batch.field("qpos")[0]), curves)

    def _windows(self) -> list[Drift]:
        found: list[Drift] = []
        while self._edge + self._window <= self.time and all(track.time for track in self._tracks.values()):
            end = self._edge + self._window
            kinds = " and ".join(sorted({self._kind_of(port) for port in self._commands}))
            if len(self._banks) > 1:
                self._keep(self._banks[self._better(end)], "which explains the robot better than another")
            (bank,) = self._banks
            found.append(judge(bank, self._compared(bank), self._edge, end, kinds))
            self._edge += self._window / 2.0
        return found

    def _better(self, end: float) -> int:
        """Return the time step with which the best change of one parameter leaves least of a window."""
        like = self._compared(self._banks[0])
        left = [least_left(bank, self._compared(bank), self._edge, end, like=like) for bank in self._banks]
        return 1 if left[1] < CLEARLY * left[0] else 0

    def _compared(self, bank: Bank) -> dict[str, Compared]:
        return {port: track.compared(bank.batch.dt) for port, track in self._tracks.items()}

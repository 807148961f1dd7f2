"""The loop: one thread that owns the engine and runs devices, bridges, recorder and pacer in a fixed order.

One step:

1. run queued work: submitted actions, scenario events, command files, requests of devices;
2. each device that is due latches its mailbox and runs its firmware;
3. the engine advances by one step;
4. each device that is due returns one immutable sample;
5. the recorder, then every bridge, receive the time and the same samples;
6. lock-step bridges wait for answers;
7. the pacer waits; in paced runs and runs with bridges Python's garbage collector runs during this wait.

Time is a whole number of nanoseconds. The firmware of a device runs in steps that start at a multiple of its period;
the device is sampled after steps that end at a multiple of its sample period.
"""

from __future__ import annotations

import atexit
import bisect
import contextlib
import hashlib
import inspect
import math
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.base.errors import BridgeError, DeadThreadError, DeviceError, PliantError, nearest
from pliant.base.numerics import is_finite_number
from pliant.devices.base import Device, Sample, step_ns, to_ns
from pliant.devices.world import WorldDevice
from pliant.engine.base import Engine, MujocoState
from pliant.simulation.bridge import Bridge, LockstepBridge
from pliant.simulation.collector import Collector
from pliant.simulation.pacer import Pacer, as_pacer

if TYPE_CHECKING:
    from pliant.recording.recorder import Recorder
    from pliant.simulation.commands import CommandPlayer, CommandTable

__all__ = ["Progress", "RunReport", "Simulation", "seeded"]

NO_EVENT_NS = 2**63 - 1
TIMEOUT_POLICIES = ("hold", "halt", "error")
DEAD_THREAD_POLICIES = ("hold", "error")
WAKE_MARGIN_NS = 150_000
"""Time before the deadline of a step from which no submitted action is started any more [ns of wall time]."""
PAUSE_POLL_S = 0.02
"""Interval at which a paused run checks for requests of devices [s of wall time]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Progress of a run."""

    done: float
    """Simulation time of this run so far [s]."""
    total: float | None
    """Duration of the run [s]; None if it runs until it is stopped."""
    time: float
    """Simulation time [s]."""
    wall: float
    """Wall time since the start of the run [s]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """Result of a run."""

    steps: int
    """Number of engine steps in this run."""
    time: float
    """Simulation time at the end [s]."""
    wall: float
    """Wall time of the run [s]."""
    achieved_rtf: float
    """Simulation time / wall time of this run; NaN if nothing ran."""
    halted: str
    """Why the run ended early: "" if it did not, "stopped", or the message of the time-out."""


@dataclass(slots=True)
class _Waiting:
    """A lock-step bridge and its counts."""

    name: str
    wait: Callable[[float], bool]
    timeouts: int = 0
    waited_ns: int = 0
    worst_ns: int = 0


def seeded(seed: int, name: str) -> np.random.Generator:
    """Return the random generator of one device.

    The generator depends only on the seed and the name, so adding a device does not change the noise of other devices.

    Args:
        seed: the seed of the run, >= 0.
        name: name of the device.
    """
    words = np.frombuffer(hashlib.sha256(name.encode()).digest()[:16], dtype="<u4")
    return np.random.Generator(
        np.random.PCG64(np.random.SeedSequence(seed, spawn_key=tuple(int(word) for word in words)))
    )


class Simulation:
    """The simulation loop for an engine, its devices and its bridges.

    Args:
        engine: physics engine.
        devices: devices of the robot, with unique names.
        bridges: bridges; they start with the first step and stop with ``close`` or on any error.
        pacer: ``sync()``, ``paced(rtf)``, ``free()``, the name of a clock mode, or a real-time factor.
        recorder: a `Recorder`, or the path of a recording; None records nothing.
        sync_timeout: longest wait for the answer of a lock-step bridge [s of wall time].
        on_timeout: action after this time: ``"hold"`` continues with the last command, ``"halt"`` ends the run and
            leaves everything open, ``"error"`` raises `BridgeError` and closes everything. All time-outs are counted.
        on_dead_thread: action when a thread of a bridge dies: ``"error"`` raises `DeadThreadError` and closes
            everything, ``"hold"`` continues. In both cases ``health()["dead_threads"]`` names the thread.
        seed: seed of all random numbers, >= 0.

    Raises:
        PliantError: two devices have the same name, or an option is invalid.
        DeviceError: the period of a device is not a whole multiple of the time step of the engine.
        BridgeError: a lock-step bridge has no ``wait``.

    Example:
        >>> with Simulation(engine, [elbow], pacer="free", seed=1) as simulation:
        ...     elbow.inbox.put({"equilibrium_position": 0.8})
        ...     simulation.run(2.0)
    """

    def __init__(
        self,
        engine: Engine,
        devices: Iterable[Device] = (),
        bridges: Iterable[Bridge] = (),
        *,
        pacer: Pacer | str | float = "sync",
        recorder: Recorder | str | Path | None = None,
        sync_timeout: float = 5.0,
        on_timeout: str = "error",
        on_dead_thread: str = "error",
        seed: int = 0,
    ) -> None:
        _check_policies(on_timeout, on_dead_thread, sync_timeout)
        self.engine = engine
        self.pacer = as_pacer(pacer)
        self.dt_ns = step_ns(engine)
        self._seed = _checked_seed(seed)
        self._devices: dict[str, Device] = {}
        for device in devices:
            if device.name in self._devices:
                raise PliantError(
                    f"two devices have the name {device.name!r}; every name must differ", field=device.name
                )
            device.attach(engine)
            if self.pacer.paces:
                device.keep_pace()
            self._devices[device.name] = device
        self._bridges: dict[str, Bridge] = {}
        self._waiting: list[_Waiting] = []
        self._started_bridges: list[Bridge] = []
        for bridge in bridges:
            self._add_bridge(bridge)
        # Only where somebody waits for the step's end is it worth to keep the garbage collector out of it.
        self._collector = Collector() if self._bridges or self.pacer.paces else None
        self._sync_timeout = float(sync_timeout)
        self._on_timeout = on_timeout
        self._on_dead_thread = on_dead_thread
        self._deaths: deque[DeadThreadError] = deque()

        self._owner = threading.RLock()
        self._wake = threading.Condition()
        self._interrupt = self._paused = self._stopping = self._in_step = False
        self._started = self._advanced = self._closed = False
        self._halted = ""
        self._submitted: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._events: list[tuple[int, int, Callable[[Simulation], Any]]] = []
        self._event = 0
        self._event_count = 0
        self._next_event_ns = NO_EVENT_NS
        self._event_futures: list[Future[Any]] = []
        self._players: list[CommandPlayer] = []
        self._latest: dict[str, Sample] = {}
        self._fresh: list[Sample] = []
        self._steps = 0
        self._now = 0
        self._offset_ns = 0
        self._log_offset_ns = 0
        self._resets = 0
        # Resolved once: the step looks nothing up by name.
        self._engine_step = engine.step
        self._serve = [device.serve for device in self._devices.values()]
        self._writers = [(device.period_ns, device.write) for device in self._devices.values()]
        self._readers = [(device.sample_period_ns, device.read) for device in self._devices.values()]
        self._publish = [bridge.publish for bridge in self._bridges.values()]
        self._tick = [bridge.tick for bridge in self._bridges.values()]
        self._restart()
        if isinstance(recorder, str | Path):
            from pliant.recording.recorder import Recorder

            recorder = Recorder(recorder)
        self.recorder: Recorder | None = recorder
        self._record: Callable[[Sample, int], None] | None = None
        self._payloads = engine.payloads if isinstance(engine, MujocoState) else None
        self._recorded_change = 0
        self._was_reset = False
        _OPEN.add(self)

    # ------------------------------------------------------------------ what is there
    @property
    def devices(self) -> Mapping[str, Device]:
        """Name -> device, in the order of the loop."""
        return dict(self._devices)

    @property
    def bridges(self) -> Mapping[str, Bridge]:
        """Name -> bridge; a second bridge with the same name has the suffix ``_2``."""
        return dict(self._bridges)

    @property
    def seed(self) -> int:
        """Seed of the current run."""
        return self._seed

    @property
    def time_ns(self) -> int:
        """Simulation time since the last reset [ns]."""
        return self._now

    @property
    def time(self) -> float:
        """Simulation time since the last reset [s]."""
        return self._now / 1e9

    @property
    def elapsed(self) -> float:
        """Run time [s]: simulation time that is not set back by a reset inside a scenario."""
        return (self._now + self._offset_ns) * 1e-9

    @property
    def steps(self) -> int:
        """Number of steps since the simulation was created."""
        return self._steps

    @property
    def resets(self) -> int:
        """Number of resets since the simulation was created."""
        return self._resets

    @property
    def paused(self) -> bool:
        """True between ``pause`` and ``resume``."""
        return self._paused

    @property
    def halted(self) -> str:
        """Why the last run ended early; "" if it did not."""
        return self._halted

    @property
    def world(self) -> WorldDevice:
        """The device that creates, moves and deletes objects.

        Its methods may be called between steps in the loop thread; other threads use ``request``.

        Raises:
            DeviceError: the robot has no spare objects.
        """
        for device in self._devices.values():
            if isinstance(device, WorldDevice):
                return device
        raise DeviceError(
            "the model has no spare objects; add them before the engine is made with pliant.model.add_world(robot), or "
            "on the command line with --objects N",
            field="world",
        )

    def sample(self, device: str) -> Sample:
        """Return the latest sample of a device.

        Raises:
            PliantError: the device does not exist, or has no sample since the last reset.
        """
        found = self._latest.get(device)
        if found is not None:
            return found
        self._device(device)
        raise PliantError(
            f"{device} has not measured yet: simulation time is {self.time:g} s, its period "
            f"{self._devices[device].sample_period_ns / 1e9:g} s",
            field=device,
        )

    # ------------------------------------------------------------------ running
    def start(self) -> None:
        """Open the recording and start the bridges; otherwise the first step does this.

        Raises:
            PliantError: the simulation was closed, or another thread runs it.
        """
        with self._owned():
            self._begin()

    def step(self, n: int = 1) -> None:
        """Advance by ``n`` steps, also while paused; ``stop`` ends the call after the current step.

        Args:
            n: number of steps, >= 0.

        Raises:
            DivergedError: the engine's state is no longer finite; recorder and bridges are closed.
            DeadThreadError: a thread of a bridge died, and ``on_dead_thread`` is "error".
            PliantError: whatever a device, a bridge, an event or the recorder raised; all is closed. Or ``n`` is not a
                whole number >= 0; then nothing is closed.
        """
        if not isinstance(n, int | np.integer) or n < 0:
            raise PliantError(f"step: n is {n!r}; must be a whole number >= 0", field="n")
        with self._owned():
            if self._in_step:
                raise PliantError("step() was called from inside a step: events and requests must not call it")
            self._begin()
            self._halted = ""
            self._advanced = True
            stopped_before = self._stopping
            self.pacer.start(self._now)
            try:
                for _ in range(n):
                    self._step()
                    if self._halted or (self._stopping and not stopped_before):
                        break
            except BaseException as error:
                self._fail(error)
                raise
            finally:
                self.pacer.suspend(self._now)

    def run(self, duration: float | None = None, progress: Callable[[Progress], None] | None = None) -> RunReport:
        """Run for a duration, or until ``stop``.

        Args:
            duration: simulation time [s], rounded up to whole steps; None runs until ``stop`` is called.
            progress: called about ten times per second of wall time, and at the end.

        Returns:
            Steps, times and reason of an early end. Bridges and recorder stay open until ``close``.

        Raises:
            DivergedError: the engine's state is no longer finite; recorder and bridges are closed.
            DeadThreadError: a thread of a bridge died, and ``on_dead_thread`` is "error".
            PliantError: whatever a device, a bridge, an event or the recorder raised; all is closed.
        """
        total = None
        if duration is not None:
            total = -(-to_ns(duration, "duration") // self.dt_ns)
        with self._owned():
            if self._in_step:
                raise PliantError("run() was called from inside a step: events and requests must not call it")
            with self._wake:
                if self._advanced:  # what ended an earlier run; a stop that came since `start` is for this one
                    self._stopping = False
                self._advanced = True
                self._halted = ""
                self._interrupt = self._paused or self._stopping
            self._begin()
            began = time.perf_counter_ns()
            report_at = began + 100_000_000
            done = 0
            step = self._step
            self.pacer.start(self._now)
            try:
                if self._collector is not None:
                    self._collector.start()
                while total is None or done < total:
                    if self._interrupt and not self._may_go_on():
                        break
                    step()
                    done += 1
                    if progress is not None and time.perf_counter_ns() >= report_at:
                        report_at = time.perf_counter_ns() + 100_000_000
                        progress(self._progress(done, total, began))
                if progress is not None:
                    progress(self._progress(done, total, began))
            except BaseException as error:
                self._fail(error)
                raise
            finally:
                if self._collector is not None:
                    self._collector.stop()
                self.pacer.suspend(self._now)
            wall = (time.perf_counter_ns() - began) * 1e-9
            return RunReport(
                steps=done,
                time=self._now * 1e-9,
                wall=wall,
                achieved_rtf=done * self.dt_ns * 1e-9 / wall if done else math.nan,
                halted=self._halted,
            )

    def reset(self, seed: int | None = None, *, rewind: bool = True) -> None:
        """Reset engine and devices to time 0 and clear all commands. Other threads use ``request``.

        Args:
            seed: new seed, >= 0; None repeats the same random numbers.
            rewind: also restart events and command files; False (a reset inside a scenario) lets them continue.
        """
        with self._owned():
            if self._closed:
                raise PliantError("the simulation is closed; make a new one")
            if seed is not None:
                self._seed = _checked_seed(seed)
            running = self.pacer.running
            if running:
                self.pacer.suspend(self._now)
            self._log_offset_ns += self._now
            self._resets += 1
            self._was_reset |= self._now > 0
            self._offset_ns = 0 if rewind else self._offset_ns + self._now
            self._restart()
            if rewind:
                self._event = 0
                self._next_event_ns = self._events[0][0] if self._events else NO_EVENT_NS
            if running:
                self.pacer.start(self._now)

    def pause(self) -> None:
        """Pause ``run`` before its next step; requests are still served. Any thread may call this."""
        with self._wake:
            self._paused = self._interrupt = True
            self._wake.notify_all()

    def resume(self) -> None:
        """End a pause. Any thread may call this."""
        with self._wake:
            self._paused = False
            self._wake.notify_all()

    @property
    def recording(self) -> Path | None:
        """Path of the current recording; None if nothing is recorded."""
        return None if self._record is None or self.recorder is None else self.recorder.path

    def record(self, path: str | Path, metadata: Mapping[str, str] | None = None) -> None:
        """Record from the next step on. Other threads use ``submit``.

        Args:
            path: path of the file.
            metadata: texts stored in the file, such as the ``command_line`` that names the robot.

        Raises:
            PliantError: a recording is already open, or the simulation has not started.
            RecordingError: the file exists, or cannot be written.
        """
        from pliant.recording.recorder import Recorder

        if self._record is not None or not self._started or self._closed:
            raise PliantError("a recording is already running, or the simulation does not run", field="record")
        recorder = Recorder(path, metadata=metadata)
        self._open_recording(recorder)
        self.recorder = recorder

    def stop_recording(self) -> None:
        """End the recording and close its file. Other threads use ``submit``."""
        recorder, self.recorder, self._record = self.recorder, None, None
        if recorder is not None:
            recorder.close()

    def _open_recording(self, recorder: Recorder) -> None:
        recorder.start(self._devices, dt=self.dt_ns * 1e-9, seed=self._seed, model_hash=self.engine.model_hash)
        self._record = recorder.record
        self._was_reset = False
        if self._payloads is not None:
            self._recorded_change = -1 if self._payloads else self._payloads.changes

    def _record_events(self, log_ns: int) -> None:
        """Record a reset and new payloads, at the time at which the present step began."""
        recorder, payloads = self.recorder, self._payloads
        if recorder is None:
            return
        times = log_ns - self.dt_ns, self._now - self.dt_ns
        if self._was_reset:
            self._was_reset = False
            recorder.event("reset", {"seed": self._seed}, *times)
        if payloads is not None and payloads.changes != self._recorded_change:
            self._recorded_change = payloads.changes
            loads = {body: {"mass": load.mass, "offset": load.offset} for body, load in payloads.loads.items()}
            recorder.event("payloads", {"payloads": loads}, *times)

    @property
    def paced(self) -> bool:
        """Whether the run keeps a real-time factor, which ``set_speed`` can change."""
        return self.pacer.paces

    def set_speed(self, rtf: float) -> None:
        """Change the real-time factor of a paced run. Other threads use ``submit``.

        Raises:
            PliantError: the run is not paced, or the factor is not a finite number > 0.
        """
        self.pacer.change(rtf, self._now)

    def stop(self) -> None:
        """End ``run`` after the current step, or the first ``run`` before it begins. Any thread may call this."""
        with self._wake:
            self._stopping = self._interrupt = True
            self._wake.notify_all()

    def close(self) -> None:
        """Stop all bridges, and close cameras and the recording. May be called twice.

        Raises:
            PliantError: the first error of a bridge, a device or the recorder; all of them are closed in any case.
        """
        with self._wake:  # whoever submits is either refused, or among those that are cancelled
            if self._closed:
                return
            self._closed = True
            submitted = list(self._submitted)
        _OPEN.discard(self)
        faults: list[BaseException] = []
        for _, future in submitted:  # first, because threads of the bridges may wait for them
            future.cancel()
        for bridge in self._started_bridges:
            try:
                bridge.threads.close()
                bridge.stop()
            except Exception as error:
                faults.append(error)
        for device in self._devices.values():
            try:
                device.close()
            except Exception as error:
                faults.append(error)
        if self.recorder is not None:
            try:
                self.recorder.close()
            except Exception as error:
                faults.append(error)
        if faults:
            raise faults[0]

    def __enter__(self) -> Simulation:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------------ asking for things
    def at(self, when: float, action: Callable[[Simulation], Any]) -> int:
        """Schedule ``action(simulation)`` for the start of the first step at or after a time.

        Events with equal times run in the order of scheduling. An error in the action ends the run; if the action
        returns a future, as ``device.request`` does, so does an error of the future. While the simulation runs, other
        threads use ``submit(lambda: simulation.at(...))``.

        Args:
            when: run time [s]: simulation time that is not set back by a reset inside a scenario.
            action: function to call; it may call ``reset``, ``pause`` and ``stop``.

        Returns:
            The number of the event, for `forget`.

        Raises:
            PliantError: the time is negative, not finite, or has already passed.
        """
        when_ns = to_ns(when, "event time")
        with self._wake:
            if when_ns < self._now + self._offset_ns:
                raise PliantError(
                    f"an event was scheduled for {when:g} s, but the run is at "
                    f"{(self._now + self._offset_ns) / 1e9:g} s; must be a later time",
                    field="time",
                )
            number = self._event_count
            bisect.insort(self._events, (when_ns, number, action), key=lambda event: event[:2])
            self._event_count += 1
            self._next_event_ns = self._events[self._event][0]
        return number

    def forget(self, events: Iterable[int]) -> None:
        """Remove events, including those that have already happened, so that they are not repeated after a reset.

        Other threads use ``submit``.

        Args:
            events: numbers that `at` returned.
        """
        gone = set(events)
        with self._wake:
            self._event -= sum(number in gone for _, number, _ in self._events[: self._event])
            self._events = [event for event in self._events if event[1] not in gone]
            more = self._event < len(self._events)
            self._next_event_ns = self._events[self._event][0] if more else NO_EVENT_NS

    def play(self, commands: CommandTable, *, start: float = 0.0) -> CommandPlayer:
        """Play a table of commands into the mailboxes.

        Args:
            commands: table, for instance from `read_commands`.
            start: run time that corresponds to time 0 of the table [s].

        Raises:
            DeviceError: a column names a device, a field or a mode that does not exist.

        Returns:
            The player; its ``left_out`` lists the columns of a bag that match no device.
        """
        player = commands.player(self._devices, to_ns(start, "start"))
        self._players.append(player)
        return player

    def submit(self, action: Callable[[], Any]) -> Future[Any]:
        """Run ``action()`` in the loop thread at the start of the next step. Any thread may call this.

        Returns:
            A future with the result or the error; an error of the action does not end the run.
        """
        future: Future[Any] = Future()
        with self._wake:
            if self._closed:
                raise PliantError("the simulation is closed; make a new one")
            self._submitted.append((action, future))
            self._interrupt = True
            self._wake.notify_all()
        return future

    def request(self, target: str, name: str, /, **args: Any) -> Future[Any]:
        """Send a request to a device or to the simulation. Any thread may call this.

        Args:
            target: name of a device, or ``"simulation"``.
            name: name of a request of the device, or of the simulation: reset(seed), pause, resume, stop, health.
            **args: arguments of the request.

        Returns:
            A future with the result or the error.

        Raises:
            PliantError: the target does not exist.
            DeviceError: the request does not exist, or does not accept the arguments.
        """
        if target != "simulation" or target in self._devices:
            return self._device(target, extra=("simulation",)).request(name, **args)
        actions: dict[str, Callable[..., Any]] = {
            "reset": self.reset,
            "pause": self.pause,
            "resume": self.resume,
            "stop": self.stop,
            "health": self.health,
        }
        if name not in actions:
            raise PliantError(f"simulation: there is no request {name!r}; {nearest(name, actions)}", field=name)
        try:
            inspect.signature(actions[name]).bind(**args)
        except TypeError as error:
            raise PliantError(
                f"simulation: request {name!r} was called with {sorted(args)}: {error}", field=name
            ) from None
        if name in ("pause", "resume", "stop"):  # these may not wait for a step that a pause holds back
            future: Future[Any] = Future()
            future.set_result(actions[name](**args))
            return future
        return self.submit(lambda: actions[name](**args))

    def serve(self, timeout: float) -> bool:
        """Run submitted actions and requests, then wait up to ``timeout`` [s of wall time] for more.

        Only `LockstepBridge.wait` may call this; it keeps clients served while the loop waits for the next step.

        Returns:
            False if the run ends because it was stopped or a thread of a bridge died, else True.
        """
        self._run_submitted()
        for serve in self._serve:
            serve()
        with self._wake:
            if not (self._submitted or self._stopping or self._deaths):
                self._wake.wait(timeout)
        return not (self._stopping or self._deaths)

    def health(self) -> dict[str, Any]:
        """Return state and counters of simulation, devices and bridges, as numbers and strings."""
        return {
            "time": self.time,
            "steps": self._steps,
            "seed": self._seed,
            "paused": self._paused,
            "halted": self._halted,
            "closed": self._closed,
            "pacer": self.pacer.stats(self._now),
            "collector": None if self._collector is None else self._collector.health(),
            "lockstep": {
                item.name: {
                    "timeouts": item.timeouts,
                    "waited": item.waited_ns * 1e-9,
                    "worst_wait": item.worst_ns * 1e-9,
                }
                for item in self._waiting
            },
            "devices": {name: dict(device.health()) for name, device in self._devices.items()},
            "bridges": {name: dict(bridge.health()) for name, bridge in self._bridges.items()},
            "dead_threads": {
                f"{name}: {thread}": why
                for name, bridge in self._bridges.items()
                for thread, why in bridge.threads.dead.items()
            },
            "recorder": None if self.recorder is None else dict(self.recorder.health()),
        }

    # ------------------------------------------------------------------ inside
    def _step(self) -> None:
        self._in_step = True
        # 1 queued work
        if self._submitted:
            self._run_submitted()
        if self._now + self._offset_ns >= self._next_event_ns:
            self._fire_events()
        if self._players:
            elapsed = self._now + self._offset_ns
            for play in self._players:
                play(elapsed)
        for serve in self._serve:
            serve()
        if self._event_futures:
            self._check_event_futures()
        # 2 firmware
        now = self._now
        for period, write in self._writers:
            if not now % period:
                write()
        # 3 physics
        self._engine_step(1)
        self._now = now = self.engine.time_ns
        self._steps += 1
        # 4 samples
        fresh = self._fresh
        fresh.clear()
        latest = self._latest
        for period, read in self._readers:
            if not now % period:
                sample = read(now)
                latest[sample.device] = sample
                fresh.append(sample)
        # 5 the same samples to all
        record = self._record
        if record is not None:
            log_ns = now + self._log_offset_ns
            if self._was_reset or (self._payloads is not None and self._payloads.changes != self._recorded_change):
                self._record_events(log_ns)
            for sample in fresh:
                record(sample, log_ns)
        if self._publish:
            for tick in self._tick:
                tick(now)
            for publish in self._publish:
                for sample in fresh:
                    publish(sample)
            # 6 lock-step
            if self._waiting and self.pacer.waits:
                self._await_answers()
            if self._deaths:
                raise self._deaths[0]
        self._in_step = False
        # 7 pace
        if self._collector is not None and self._collector.running:
            self._collector.between(self.pacer.slack(now))
        if self.pacer.paces:
            if self._publish:
                self._serve_until_due()
            if not self._stopping:
                self.pacer.pace(self._now)

    def _serve_until_due(self) -> None:
        """Run what is submitted in the time that the pacer would sleep away, so that nobody waits for the next step."""
        while not self._stopping and (slack := self.pacer.slack(self._now) - WAKE_MARGIN_NS) > 0.0:
            with self._wake:
                if not self._submitted and not self._stopping:
                    self._wake.wait(slack * 1e-9)
            if self._submitted:
                self._run_submitted()

    def _await_answers(self) -> None:
        for item in self._waiting:
            began = time.perf_counter_ns()
            answered = item.wait(self._sync_timeout)
            waited = time.perf_counter_ns() - began
            item.waited_ns += waited
            item.worst_ns = max(item.worst_ns, waited)
            if answered or self._deaths:
                continue
            item.timeouts += 1
            if self._on_timeout == "hold":
                continue
            text = (
                f"{item.name}: no answer within {self._sync_timeout:g} s to the samples of simulation time "
                f"{self.time:g} s; is the client running?"
            )
            if self._on_timeout == "error":
                raise BridgeError(text + " (on_timeout='hold' or 'halt' would not raise)", field=item.name)
            self._halted = text
            self._interrupt = True

    def _run_submitted(self) -> None:
        for _ in range(len(self._submitted)):
            if not self._submitted:  # an action that steps has run the others
                return
            action, future = self._submitted.popleft()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(action())
            except Exception as error:  # the asker gets it
                future.set_exception(error)

    def _fire_events(self) -> None:
        while self._event < len(self._events) and self._now + self._offset_ns >= self._events[self._event][0]:
            action = self._events[self._event][2]
            self._event += 1
            result = action(self)
            if isinstance(result, Future):
                self._event_futures.append(result)
        more = self._event < len(self._events)
        self._next_event_ns = self._events[self._event][0] if more else NO_EVENT_NS

    def _check_event_futures(self) -> None:
        futures = [future for future in self._event_futures if future.done()]
        self._event_futures = [future for future in self._event_futures if not future.done()]
        for future in futures:
            future.result()

    def _may_go_on(self) -> bool:
        """Handle pause and stop; False ends the run."""
        if self._paused and not (self._stopping or self._halted):
            self.pacer.suspend(self._now)
            while self._paused and not self._stopping:
                if self._deaths:
                    raise self._deaths[0]
                self._run_submitted()
                for serve in self._serve:
                    serve()
                if self._collector is not None and self._collector.running:
                    self._collector.between(math.inf)
                with self._wake:
                    if self._paused and not self._stopping and not self._submitted:
                        self._wake.wait(PAUSE_POLL_S)
            self.pacer.start(self._now)
        with self._wake:
            if self._stopping:
                self._halted = self._halted or "stopped"
            self._interrupt = self._paused or self._stopping
            return not (self._stopping or self._halted)

    def _restart(self) -> None:
        self.engine.reset(self._seed)
        self._now = self.engine.time_ns
        self._latest.clear()
        self._event_futures.clear()
        for player in self._players:
            player.restart()
        for name, device in self._devices.items():
            device.reset(seeded(self._seed, name))

    def _begin(self) -> None:
        if self._closed:
            raise PliantError("the simulation is closed; make a new one")
        if self._started:
            return
        self._started = True
        try:
            if self.recorder is not None:
                self._open_recording(self.recorder)
            for bridge in self._bridges.values():
                self._started_bridges.append(bridge)
                self._watch_threads(bridge)
                bridge.bind(self)
                bridge.start(self._devices)
        except BaseException as error:
            self._fail(error)
            raise

    def _watch_threads(self, bridge: Bridge) -> None:
        """Hear of the threads of a bridge that die; by policy the next step, or the one that waits, ends the run."""
        name = next(name for name, item in self._bridges.items() if item is bridge)

        def died(thread: str, why: str) -> None:
            if self._on_dead_thread == "hold" or self._closed:
                return
            text = f"{name}: the thread {thread} died ({why}), so the run ends (on_dead_thread='hold' would go on)"
            self._deaths.append(DeadThreadError(text, bridge=name, thread=thread, why=why))
            with self._wake:
                self._wake.notify_all()
            for other in self._bridges.values():
                if isinstance(other, LockstepBridge) and other.lockstep:
                    other.release()

        bridge.threads.tell(died)

    def _fail(self, error: BaseException) -> None:
        """Close everything; the error that led here stays the one that is raised."""
        self._in_step = False
        try:
            self.close()
        except Exception as second:
            error.add_note(f"while closing: {second}")

    def _owned(self) -> _Owned:
        return _Owned(self._owner)

    def _add_bridge(self, bridge: Bridge) -> None:
        base = name = bridge.name
        count = 1
        while name in self._bridges:
            count += 1
            name = f"{base}_{count}"
        self._bridges[name] = bridge
        if bridge.lockstep:
            if not isinstance(bridge, LockstepBridge):
                raise BridgeError(
                    f"{name}: lockstep is True, but {type(bridge).__name__} has no method wait(timeout) -> bool",
                    field="lockstep",
                )
            self._waiting.append(_Waiting(name, bridge.wait))

    def _device(self, name: str, extra: Iterable[str] = ()) -> Device:
        device = self._devices.get(name)
        if device is None:
            raise PliantError(f"there is no device {name!r}; {nearest(name, [*self._devices, *extra])}", field=name)
        return device

    def _progress(self, done: int, total: int | None, began: int) -> Progress:
        dt = self.dt_ns * 1e-9
        return Progress(
            done=done * dt,
            total=None if total is None else total * dt,
            time=self.time,
            wall=(time.perf_counter_ns() - began) * 1e-9,
        )


class _Owned:
    """Lets one thread at a time into the engine; a second one gets an error instead of waiting."""

    __slots__ = ("_lock",)

    def __init__(self, lock: Any) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise PliantError(
                "another thread runs this simulation; from here use request(), submit(), pause(), resume(), stop()"
            )

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def _check_policies(on_timeout: str, on_dead_thread: str, sync_timeout: float) -> None:
    """Raise PliantError unless the options of a simulation about time-outs and dead threads are valid."""
    for name, value, valid in (
        ("on_timeout", on_timeout, TIMEOUT_POLICIES),
        ("on_dead_thread", on_dead_thread, DEAD_THREAD_POLICIES),
    ):
        if value not in valid:
            raise PliantError(f"{name} is {value!r}; {nearest(str(value), valid)}", field=name)
    if not is_finite_number(sync_timeout) or not 0.0 < sync_timeout <= threading.TIMEOUT_MAX:
        raise PliantError(
            f"sync_timeout is {sync_timeout!r}; must be a finite number of seconds above 0", field="sync_timeout"
        )


def _checked_seed(seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise PliantError(f"the seed is {seed!r}; must be a whole number >= 0", field="seed")
    return int(seed)


_OPEN: weakref.WeakSet[Simulation] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Stop bridges and close recordings of simulations that nobody closed."""
    for simulation in list(_OPEN):
        with contextlib.suppress(Exception):  # the interpreter is going down; there is nobody to tell
            simulation.close()

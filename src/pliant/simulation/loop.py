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

import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.errors import PliantError
from pliant.devices.base import Device, Sample, step_ns, to_ns
from pliant.engine.base import Engine, check_engine
from pliant.simulation.awaited_answers import AwaitedAnswers
from pliant.simulation.bridge import Bridge
from pliant.simulation.collector import Collector
from pliant.simulation.own_requests import OPEN, request_simulation
from pliant.simulation.owner import Owner
from pliant.simulation.pacer import Pacer, as_pacer
from pliant.simulation.reports import Progress, RunClock, RunReport
from pliant.simulation.run_bridges import RunBridges
from pliant.simulation.run_devices import RunDevices
from pliant.simulation.run_log import RunLog
from pliant.simulation.run_options import check_parts, check_policies, checked_seed, seeded
from pliant.simulation.schedule import Schedule
from pliant.simulation.submissions import Submissions

if TYPE_CHECKING:
    from pliant.recording.recorder import Recorder
    from pliant.simulation.commands import Commands, P, Player

__all__ = ["Progress", "RunReport", "Simulation", "seeded"]

WAKE_MARGIN_NS = 150_000
"""Time before the deadline of a step from which no submitted action is started any more [ns of wall time]."""
PAUSE_POLL_S = 0.02
"""Interval at which a paused run checks for requests of devices [s of wall time]."""


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
        check_engine(engine)
        devices, bridges = check_parts("device", devices), check_parts("bridge", bridges)
        check_policies(on_timeout, on_dead_thread, sync_timeout)
        self.engine = engine
        self.pacer = as_pacer(pacer)
        self.dt_ns = step_ns(engine)
        self._seed = checked_seed(seed)
        self._run_devices = RunDevices(devices, engine, paced=self.pacer.paces)
        self._devices = self._run_devices.by_name
        self._wake = threading.Condition()
        self._bridges = RunBridges(bridges, on_dead_thread, self._wake_up)
        self._answers = AwaitedAnswers(float(sync_timeout), on_timeout)
        for name, bridge in self._bridges.by_name.items():
            self._answers.add(name, bridge)
        self._awaits = bool(self._answers)
        # Only where somebody waits for the step's end is it worth to keep the garbage collector out of it.
        self._collector = Collector() if self._bridges or self.pacer.paces else None
        self._deaths = self._bridges.deaths

        self._owner = Owner()
        self._interrupt = self._paused = self._stopping = self._in_step = False
        self._started = self._advanced = self._closed = False
        self._halted = ""
        self._submissions = Submissions()
        self._submitted = self._submissions.waiting
        self._run_submitted = self._submissions.run
        self._schedule = Schedule()
        self._players: list[Player] = []
        self._latest: dict[str, Sample] = {}
        self._fresh: list[Sample] = []
        self._steps = 0
        self._now = 0
        self._offset_ns = 0
        self._log_offset_ns = 0
        self._resets = 0
        # Resolved once: the step looks nothing up by name.
        self._engine_step = engine.step
        self._serve = self._run_devices.serve
        self._servers = self._run_devices.servers
        self._writers = self._run_devices.writers
        self._readers = self._run_devices.readers
        self._publish = [bridge.publish for bridge in self._bridges.by_name.values()]
        self._tick = self._bridges.ticks()
        self._restart()
        self._log = RunLog(recorder, engine, self._devices, self.dt_ns)
        OPEN.add(self)

    # ------------------------------------------------------------------ what is there
    @property
    def devices(self) -> Mapping[str, Device]:
        """Name -> device, in the order of the loop."""
        return dict(self._devices)

    @property
    def bridges(self) -> Mapping[str, Bridge]:
        """Name -> bridge; a second bridge with the same name has the suffix ``_2``."""
        return dict(self._bridges.by_name)

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

    def sample(self, device: str) -> Sample:
        """Return the latest sample of a device.

        Raises:
            PliantError: the device does not exist, or has no sample since the last reset.
        """
        found = self._latest.get(device)
        if found is not None:
            return found
        self._run_devices.find(device)
        raise PliantError(
            f"{device} has not measured yet: simulation time is {self.time:g} s, its period "
            f"{self._devices[device].sample_period_ns / 1e9:g} s",
            field=device,
        )

    @property
    def latest(self) -> Mapping[str, Sample]:
        """Latest sample of each device that has measured since the last reset."""
        return self._latest

    # ------------------------------------------------------------------ running
    def start(self) -> None:
        """Open the recording and start the bridges; otherwise the first step does this.

        Raises:
            PliantError: the simulation was closed, or another thread runs it.
        """
        with self._owner:
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
        with self._owner:
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
        with self._owner:
            if self._in_step:
                raise PliantError("run() was called from inside a step: events and requests must not call it")
            with self._wake:
                if self._advanced:  # what ended an earlier run; a stop that came since `start` is for this one
                    self._stopping = False
                self._advanced = True
                self._halted = ""
                self._interrupt = self._paused or self._stopping
            self._begin()
            clock = RunClock(self.dt_ns, total, progress)
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
                    if progress is not None and time.perf_counter_ns() >= clock.due_ns:
                        clock.tell(done, self.time)
                clock.tell(done, self.time)
            except BaseException as error:
                self._fail(error)
                raise
            finally:
                if self._collector is not None:
                    self._collector.stop()
                self.pacer.suspend(self._now)
            return clock.report(done, self._now, self._halted)

    def reset(self, seed: int | None = None, *, rewind: bool = True) -> None:
        """Reset engine and devices to time 0 and clear all commands. Other threads use ``request``.

        Args:
            seed: new seed, >= 0; None repeats the same random numbers.
            rewind: also restart events and command files; False (a reset inside a scenario) lets them continue.
        """
        with self._owner:
            if self._closed:
                raise PliantError("the simulation is closed; make a new one")
            if seed is not None:
                self._seed = checked_seed(seed)
            running = self.pacer.running
            if running:
                self.pacer.suspend(self._now)
            self._log_offset_ns += self._now
            self._resets += 1
            self._log.was_reset |= self._now > 0
            self._offset_ns = 0 if rewind else self._offset_ns + self._now
            self._restart()
            if rewind:
                self._schedule.rewind()
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
    def recorder(self) -> Recorder | None:
        """The recorder of the current recording; None if nothing is recorded."""
        return self._log.recorder

    @property
    def recording(self) -> Path | None:
        """Path of the current recording; None if nothing is recorded."""
        return self._log.path

    def record(self, path: str | Path, metadata: Mapping[str, str] | None = None, *, contacts: bool = False) -> None:
        """Record from the next step on. Other threads use ``submit``.

        Args:
            path: path of the file.
            metadata: texts stored in the file, such as the ``command_line`` that names the robot.
            contacts: also record contact forces.

        Raises:
            PliantError: a recording is already open, or the simulation has not started.
            RecordingError: the file exists, or cannot be written.
        """
        if not self._started or self._closed or self._log.path is not None:
            raise PliantError("a recording is already running, or the simulation does not run", field="record")
        self._log.begin(path, metadata, self._seed, contacts=contacts)

    def stop_recording(self) -> None:
        """End the recording and close its file. Other threads use ``submit``."""
        self._log.end()

    @property
    def paced(self) -> bool:
        """Whether the run keeps a real-time factor, which ``set_speed`` can change."""
        return self.pacer.paces

    @property
    def lost_time(self) -> float:
        """Wall time by which a paced run fell behind and that it does not catch up [s]."""
        return self.pacer.lost

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
            self._bridges.expect_end()
            submitted = list(self._submitted)
        OPEN.discard(self)
        for _, future in submitted:  # first, because threads of the bridges may wait for them
            future.cancel()
        faults = self._bridges.stop()
        faults += self._run_devices.close()
        if self.recorder is not None:
            try:
                self.recorder.close()
            except Exception as error:  # all are closed before the first fault is raised
                faults.append(error)
        if faults:
            raise faults[0]

    def __enter__(self) -> Simulation:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------------ asking for things
    def at(self, when: float, action: Callable[[Simulation], object]) -> int:
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
            return self._schedule.add(when_ns, action)

    def forget(self, events: Iterable[int]) -> None:
        """Remove events, including those that have already happened, so that they are not repeated after a reset.

        Other threads use ``submit``.

        Args:
            events: numbers that `at` returned.
        """
        with self._wake:
            self._schedule.forget(events)

    def play(self, commands: Commands[P], *, start: float = 0.0) -> P:
        """Play commands over time into the mailboxes.

        Args:
            commands: what is played, such as a table.
            start: run time that corresponds to time 0 of the table [s].

        Raises:
            DeviceError: a command names a device, a field or a mode that does not exist.

        Returns:
            The player.
        """
        player = commands.player(self._devices, to_ns(start, "start"))
        self._players.append(player)
        return player

    def submit(self, action: Callable[[], object]) -> Future[object]:
        """Run ``action()`` in the loop thread at the start of the next step. Any thread may call this.

        Returns:
            A future with the result or the error; an error of the action does not end the run.
        """
        with self._wake:
            if self._closed:
                raise PliantError("the simulation is closed; make a new one")
            future = self._submissions.add(action)
            self._interrupt = True
            self._wake.notify_all()
        return future

    def request(self, target: str, name: str, /, **args: object) -> Future[object]:
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
            return self._run_devices.find(target, extra=("simulation",)).request(name, **args)
        return request_simulation(self, name, args)

    def serve(self, timeout: float) -> bool:
        """Run submitted actions and requests, then wait up to ``timeout`` [s of wall time] for more.

        Only `LockstepBridge.wait` may call this; it keeps clients served while the loop waits for the next step.

        Returns:
            False if the run ends because it was stopped or a thread of a bridge died, else True.
        """
        self._run_submitted()
        self._serve()
        with self._wake:
            if not (self._submitted or self._stopping or self._deaths):
                self._wake.wait(timeout)
        return not (self._stopping or self._deaths)

    def health(self) -> dict[str, object]:
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
            "lockstep": self._answers.health(),
            "devices": self._run_devices.health(),
            "bridges": self._bridges.health(),
            "dead_threads": self._bridges.dead_threads(),
            "recorder": None if self.recorder is None else dict(self.recorder.health()),
        }

    # ------------------------------------------------------------------ inside
    def _step(self) -> None:
        self._in_step = True
        # 1 queued work
        if self._submitted:
            self._run_submitted()
        schedule = self._schedule
        if self._now + self._offset_ns >= schedule.next_ns:
            schedule.fire(self, lambda: self._now + self._offset_ns)
        if self._players:
            elapsed = self._now + self._offset_ns
            for play in self._players:
                play(elapsed)
        for queued, serve in self._servers:
            if queued:
                serve()
        if schedule.waits:
            schedule.check_futures()
        # 2 firmware
        now = self._now
        for period, mailbox, write in self._writers:
            if (mailbox is None or mailbox.fresh) and not now % period:
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
        record = self._log.write
        if record is not None:
            log_ns = now + self._log_offset_ns
            if self._log.has_events(now):
                self._log.write_events(self._seed, log_ns, now)
            for sample in fresh:
                record(sample, log_ns)
        if self._publish:
            for tick in self._tick:
                tick(now)
            for publish in self._publish:
                for sample in fresh:
                    publish(sample)
            # 6 lock-step
            if self._awaits and self.pacer.waits and (halted := self._answers.wait(now, self._deaths)):
                self._halted = halted
                self._interrupt = True
            if self._deaths:
                raise self._deaths[0]
        self._in_step = False
        # 7 pace
        collector = self._collector
        if collector is not None and collector.due:
            collector.between(self.pacer.slack(now))
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

    def _wake_up(self) -> None:
        """Let a thread that waits in the loop look again. Any thread may call this."""
        with self._wake:
            self._wake.notify_all()

    def _may_go_on(self) -> bool:
        """Handle pause and stop; False ends the run."""
        if self._paused and not (self._stopping or self._halted):
            self.pacer.suspend(self._now)
            while self._paused and not self._stopping:
                if self._deaths:
                    raise self._deaths[0]
                self._run_submitted()
                self._serve()
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
        self._schedule.drop_futures()
        for player in self._players:
            player.restart()
        self._run_devices.reset(self._seed)

    def _begin(self) -> None:
        if self._closed:
            raise PliantError("the simulation is closed; make a new one")
        if self._started:
            return
        self._started = True
        try:
            self._log.open(self._seed)
            self._bridges.start(self, self._devices)
        except BaseException as error:
            self._fail(error)
            raise

    def _fail(self, error: BaseException) -> None:
        """Close everything; the error that led here stays the one that is raised."""
        self._in_step = False
        try:
            if isinstance(error, PliantError):
                now = self.engine.time_ns
                self._log.record_fault(error, now + self._log_offset_ns, now)
            self.close()
        except Exception as second:  # the first error is the one to raise
            error.add_note(f"while closing: {second}")

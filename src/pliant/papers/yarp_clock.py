"""A control loop on the simulation's clock: its period in simulated and in wall time, slow, real-time and fast."""

from __future__ import annotations

import contextlib
import math
import threading
import time as wall
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import BridgeError
from pliant.base.options import option
from pliant.experiments.base import Context, Figure, Result, Statement, Table, Target, experiment
from pliant.experiments.panels import Line, Panel, draw
from pliant.simulation import free, paced
from pliant.yarp.program import TIMEOUT_S, Board, biped, serve

if TYPE_CHECKING:
    pass

Integers = NDArray[np.int64]

PAPER = "Mingo Hoffman et al.: Yarp based plugins for Gazebo simulator. MESAS 2014"
PERIOD_NS = 1_000_000
"""Wanted period of the loop, and step of the simulation [ns] (figure 6)."""
DELAYS_MS = (1.0, 10.0, 10.5, 50.0)
"""Delays that a thread asks for [ms]; the third lies between two steps.  # assumed"""


@dataclass(frozen=True, slots=True, kw_only=True)
class YarpClockOptions:
    """Parameters that the paper does not state."""

    slow: float = option(0.1, low=0.02, high=1.0, source="section 3.3.4")
    """Real-time factor of the slow run."""
    fast: float = option(5.0, low=1.0, high=20.0, source="assumed")
    """Real-time factor of the fast run; a machine that cannot reach it runs as fast as it can."""


@dataclass(slots=True, kw_only=True)
class LoopRun:
    """Executions of a control loop that waits for each tick of the clock."""

    label: str
    """Label in tables and figures."""
    factor: float
    """Real-time factor that was asked for; infinity for none."""
    stamps: Integers
    """Simulated time of each execution, shape (n,) [ns]."""
    times: Integers
    """Wall time of each execution, shape (n,) [ns]."""
    slept: Integers
    """Simulated times that a second loop saw, which sleeps for 1 ms and then asks for the time, as YARP's periodic
    threads do [ns]."""
    delays: tuple[float, ...] = ()
    """Simulated durations of `DELAYS_MS` [ms]."""
    began: int = -1
    """Wall time just before the simulation was told to go on [ns]; -1 takes that of the first tick read."""

    @property
    def simulated(self) -> Integers:
        """Simulated periods [ns]."""
        return np.diff(self.stamps)

    @property
    def worst(self) -> float:
        """Largest difference of a simulated period from 1 ms [us]."""
        return float(np.abs(self.simulated - PERIOD_NS).max()) / 1e3

    @property
    def achieved(self) -> float:
        """Simulated over wall time of the run; a program that wakes late and then catches up does not change it."""
        began = self.times[0] if self.began < 0 else self.began
        return float((self.stamps[-1] - self.stamps[0]) / max(1, self.times[-1] - began))

    @property
    def late(self) -> int:
        """Periods of the second loop that are not 1 ms, because it woke after the next tick."""
        return int(np.count_nonzero(np.diff(self.slept) != PERIOD_NS))

    @property
    def on_time(self) -> str:
        """How many periods of the second loop are 1 ms, of how many."""
        return f"{len(self.slept) - 1 - self.late} of {len(self.slept) - 1}"


def run_loop(label: str, factor: float, executions: int) -> LoopRun:
    """Run two control loops of 1 kHz beside a simulation of 1 kHz.

    Args:
        label: what tables and figures call it.
        factor: real-time factor; infinity for a simulation that runs as fast as it can.
        executions: of each loop.
    """
    from pliant.yarp.client import ClockReader, NetworkClock
    from pliant.yarp.wire import bottle

    pacer = paced(factor) if math.isfinite(factor) else free()
    slept: list[int] = []
    with serve(biped(timestep=1e-9 * PERIOD_NS), pacer=pacer, lockstep=False) as world:
        reader = ClockReader(world.yarp, name="/experiment/clock")
        newest = NetworkClock(world.yarp, name="/experiment/newest", timeout=TIMEOUT_S)

        def sleeping_loop() -> None:
            with contextlib.suppress(BridgeError):  # the run was given up
                now = newest.sleep_until(0)
                while len(slept) < executions:
                    slept.append(now)
                    now = newest.sleep_until(now + PERIOD_NS)

        sleeper = threading.Thread(target=sleeping_loop, name="pliant-experiment-sleeper")
        with newest:
            sleeper.start()
            began = wall.perf_counter_ns()
            world.call(world.clock, bottle("continueSimulation"))
            stamps, times = np.empty(executions, dtype=np.int64), np.empty(executions, dtype=np.int64)
            for k in range(executions):
                stamps[k] = reader.read(TIMEOUT_S)
                times[k] = wall.perf_counter_ns()
            delays = []
            for wanted in DELAYS_MS:
                start = now = reader.read(TIMEOUT_S)
                while now < start + wanted * 1e6:
                    now = reader.read(TIMEOUT_S)
                delays.append((now - start) / 1e6)
            sleeper.join(TIMEOUT_S)
            world.call(world.clock, bottle("pauseSimulation"))
        sleeper.join(10.0)
    return LoopRun(
        label=label, factor=factor, stamps=stamps, times=times, slept=np.array(slept), delays=tuple(delays), began=began
    )


def run_lockstep(executions: int, *, torque: float = 0.3) -> tuple[LoopRun, np.ndarray]:
    """Run the loops with a simulation that waits for its steps, sending torques; also return the last positions [deg].

    Args:
        executions: of the loops.
        torque: amplitude of the torques of the left arm [N m].
    """
    from pliant.yarp.client import ClockReader, NetworkClock

    with serve(biped(timestep=1e-9 * PERIOD_NS)) as world:
        reader = ClockReader(world.yarp, name="/experiment/clock")
        board = Board(world, "left_arm")
        board.modes("torq")
        stamps, times, slept = (np.empty(executions, dtype=np.int64) for _ in range(3))
        reader.read(TIMEOUT_S)  # a reader that connects gets the newest time
        with NetworkClock(world.yarp, name="/experiment/newest", timeout=TIMEOUT_S) as newest:
            now = newest.sleep_until(0)
            for k in range(executions):
                world.step()
                stamps[k] = reader.read(TIMEOUT_S)
                slept[k] = now = newest.sleep_until(now + PERIOD_NS, ticks=k + 2)
                times[k] = wall.perf_counter_ns()
                board.call(f"[set] [torq] [ref] 3 {torque * math.sin(0.1 * k):.17g}")
        position = board.numbers("[get] [encs]")
        board.close()
    run = LoopRun(label="lock-step", factor=math.inf, stamps=stamps, times=times, slept=slept)
    return run, np.asarray(position)


WALL = "Wall times depend on the machine and are not judged; the table has them."


def statements(runs: list[LoopRun]) -> list[Statement]:
    """Judge section 3.3.4 and figure 6."""
    paced = [run for run in runs if run.delays]
    return [*_period_statements(runs), *_delay_statements(paced), *_wall_statements(paced[0])]


def _period_statements(runs: list[LoopRun]) -> list[Statement]:
    """Judge the simulated periods of the loops, and the ticks of the clock."""
    locked = [run for run in runs if not run.delays]
    exact = all(run.worst == 0.0 for run in runs)
    return [
        Statement(
            what="A control loop of 1 kHz executes every 1 ms of simulated time beside a simulation of 1 ms steps.",
            where="section 3.3.4, figure 6",
            targets=[
                Target(f"largest difference of a simulated period from 1 ms, {run.label}", run.worst, equals=0.0,
                       unit="us", source="figure 6; exact, since time is counted in steps")
                for run in runs
            ],
            found=f"{'All' if exact else 'Not all'} simulated periods are exactly 1 ms: "
            + ", ".join(f"{len(run.simulated)} at {run.label}" for run in runs) + ".",
            rests_on="The loop reads every tick of the clock. The next statement has one that sleeps.",
        ),
        Statement(
            what="The simulation's clock times the threads of a program that sleep, with a granularity of 1 ms.",
            where="section 3.3.4, figure 6",
            targets=[
                Target(f"periods of a sleeping loop that are not 1 ms, {run.label}", float(run.late), equals=0.0,
                       source="figure 6; exact, since the simulation waits for the loop")
                for run in locked
            ],
            found="Periods of exactly 1 ms, of a loop that sleeps and then asks for the time: "
            + ", ".join(f"{run.on_time} at {run.label}" for run in runs) + ".",
            rests_on="A simulation that runs by itself does not wait for the loop: the machine decides when it wakes, "
            "and one that wakes after the next tick sees 2 ms or more. No tick is lost.",
        ),
        Statement(
            what="With every step of the simulation the time is incremented and sent.",
            where="section 3.3.4",
            targets=[
                Target("steps without a tick", float(sum(_missing(run) for run in runs)), equals=0.0,
                       source="section 3.3.4"),
                Target("ticks out of order", float(sum(np.count_nonzero(run.simulated <= 0) for run in runs)),
                       equals=0.0, source="section 3.3.4"),
            ],
            found=f"{sum(len(run.stamps) for run in runs)} ticks arrived in order, one for each step.",
        ),
    ]  # fmt: skip


def _delay_statements(paced: list[LoopRun]) -> list[Statement]:
    """Judge delays on the simulation's clock, and loops beside runs at other speeds than real time."""
    slow, fast = paced[0], paced[-1]
    off = max(
        abs(found - math.ceil(wanted)) for run in paced for found, wanted in zip(run.delays, DELAYS_MS, strict=True)
    )
    return [
        Statement(
            what="A thread that asks for a delay is woken when it has slept for that time on the simulation's clock.",
            where="section 3.3.4",
            targets=[
                Target("simulated delay less the wanted one, to the next step", float(off), equals=0.0, unit="ms",
                       source="section 3.3.4; exact"),
            ],
            found="Delays of " + ", ".join(f"{x:g}" for x in DELAYS_MS) + " ms took "
            + ", ".join(f"{x:g}" for x in slow.delays) + f" ms at {slow.label} and "
            + ", ".join(f"{x:g}" for x in fast.delays) + f" ms at {fast.label}.",
            rests_on="The program counts the delay by the ticks that it reads; a thread that the machine wakes late "
            "sleeps longer.",
        ),
        Statement(
            what="Loops stay synchronised with simulations that are slower and faster than real time.",
            where="section 3.3.4",
            targets=[
                Target(f"executions in a simulated second, {run.label}",
                       1e9 * len(run.simulated) / float(run.stamps[-1] - run.stamps[0]), equals=1000.0,
                       unit="1/s", source="section 3.3.4")
                for run in (slow, fast)
            ] + [
                Target(f"simulated over wall time, over the factor asked for, {slow.label}",
                       slow.achieved / slow.factor, high=2.0,
                       source="section 3.3.4; load only slows a run, and twice is ours"),
            ],
            found=f"The loop executes 1000 times in a simulated second at {slow.label} (wall time: "
            f"{slow.achieved:.2g} of real time) and at {fast.label} ({fast.achieved:.2g} times real time).",
            rests_on="How fast the fast run is depends on the machine, and is not judged.",
        ),
    ]  # fmt: skip


def _wall_statements(slow: LoopRun) -> list[Statement]:
    """Return the statements about wall time, which is not judged."""
    return [
        Statement(
            what="The real-time factor is the update frequency times the step; at 0.1, ten seconds are needed for one.",
            where="section 3.3.4, equation 2",
            found=f"{WALL} Asked for {slow.factor:g}, the run had {slow.achieved:.3g}.",
        ),
        Statement(
            what="Without the clock a loop would run faster or slower than the robot's dynamics.",
            where="section 3.3.4",
            found=f"{WALL} At {slow.label} a tick comes every {np.median(np.diff(slow.times)) / 1e6:.3g} ms of wall "
            f"time: a loop by the wall clock would execute {np.median(np.diff(slow.times)) / 1e6:.3g} times a step.",
        ),
        Statement(what="The wall time between two executions, as figure 6 draws it.", where="figure 6", found=WALL),
    ]


def _missing(run: LoopRun) -> int:
    return round((run.stamps[-1] - run.stamps[0]) / PERIOD_NS) - len(run.simulated)


def repetition_target(first: np.ndarray, second: np.ndarray) -> Target:
    """Compare the last positions of two runs in lock-step."""
    return Target("two runs in lock-step differ by", float(np.abs(first - second).max()), equals=0.0, unit="deg",
                  source="ours: a run depends on the calls alone")  # fmt: skip


@experiment(
    "yarp-clock",
    title="Control loops on the simulation's clock",
    paper=PAPER,
    section="3.3.4, figure 6",
    films="it measures the times of control loops, and the robot stands still",
)
def yarp_clock(context: Context, options: YarpClockOptions) -> Result:
    """Run a control loop of 1 kHz on the simulation's clock at several real-time factors, and in lock-step."""
    executions = 100 if context.quick else 1000
    factors = dict.fromkeys((options.slow, 1.0, options.fast, math.inf))
    cases = [(f"factor {factor:g}" if math.isfinite(factor) else "free", factor) for factor in factors]
    runs = [run_loop(label, factor, executions) for label, factor in context.track(cases, lambda c: c[0], high=0.8)]
    context.progress(0.8, "lock-step")
    locked, first = run_lockstep(executions)
    _, second = run_lockstep(executions)
    runs.append(locked)
    rows = []
    for run in runs:
        periods = np.diff(run.times) / 1e6
        low, middle, high = (round(float(x), 4) for x in np.percentile(periods, (1, 50, 99)))
        rows.append(
            {
                "run": run.label,
                "periods": len(run.simulated),
                "exactly 1 ms simulated": int(np.count_nonzero(run.simulated == PERIOD_NS)),
                "wall, 1 % [ms]": low,
                "median": middle,
                "99 %": high,
                "longest": round(float(periods.max()), 4),
                "simulated over wall time": round(run.achieved, 4),
                "sleeping loop, 1 ms": run.on_time,
            }
        )
    return Result(
        summary="A program connects to the clock's port and executes its loop once a tick, while the biped is "
        "simulated with steps of 1 ms: at a tenth of real time, at real time, as fast as possible, and in lock-step.",
        statements=statements(runs),
        targets=[repetition_target(first, second)],
        tables=[
            Table.of(
                "Periods of the loop",
                rows,
                "Wall times are information. The last column counts the periods of exactly 1 ms of a second loop, "
                "which sleeps for 1 ms and then asks for the time, as a thread with `yarp::os::Time::delay` does.",
            )
        ],
        figures=[_figure(runs)],
        notes=[
            "A loop that reads every tick cannot miss one: ticks wait in the order in which they were sent, 5000 for "
            "each reader. A loop that sleeps and then asks for the newest time sees two steps at once where its "
            "thread was late; in lock-step that cannot happen. Simulation and loops share a process here, which makes "
            "late wakes more frequent than with programs of their own."
        ],
        assumptions=["The robot is pliant's biped; the paper does not say which one figure 6 was measured with."],
        traces={
            key.replace(" ", "_"): value
            for run in runs
            for key, value in ((f"{run.label}_stamp_ns", run.stamps), (f"{run.label}_wall_ns", run.times))
        },
    )


def _figure(runs: list[LoopRun]) -> Figure:
    simulated, slept, walls = [], [], []
    for color, run in enumerate(runs[:6]):
        index = np.arange(len(run.simulated))
        simulated.append(Line(index, run.simulated / 1e6, color=color, lw=1.2, label=run.label, points=0))
        woken = np.diff(run.slept) / 1e6
        slept.append(Line(np.arange(len(woken)), woken, color=color, ls="", marker=".", ms=3.0, points=0))
        periods = np.sort(np.diff(run.times)) / 1e6
        walls.append(Line(periods, 100.0 * np.arange(1, len(periods) + 1) / len(periods), color=color, points=0))
    top = max(10.0, 1.5 * max(float(np.diff(run.slept).max()) for run in runs) / 1e6)
    panels = [
        Panel(simulated, "execution", "period [ms]", "Simulated, every tick", ylim=(0.0, 2.2)),
        Panel(slept, "execution", "period [ms]", "Simulated, sleeping loop", log="y", ylim=(0.5, top)),
        Panel(walls, "period [ms]", "shorter periods [%]", "Wall time", log="x"),
    ]
    caption = (
        "Time between two executions of the control loop. In simulated time it is 1 ms in every run of the loop that "
        "reads each tick, so that the lines lie on each other; the loop that sleeps wakes late now and then where the "
        "simulation does not wait for it. Wall time, as a distribution, follows the real-time factor; a simulation "
        "that is late catches up by steps in quick succession."
    )
    return draw("periods", caption, panels, legend=0, height=2.6)

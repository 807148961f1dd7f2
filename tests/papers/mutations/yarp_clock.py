"""What breaks the statements and checks of ``yarp-clock``."""

import math

from mutations import Mutation

from pliant.papers import yarp_clock
from pliant.yarp.bridge import clock

EXECUTIONS = 60


class WrongTime:
    """Packs one and a half times the time, and every seventh time as zero."""

    def __init__(self, right):
        self._right = right
        self._count = 0

    def pack(self, a, b, seconds, nanoseconds):
        self._count += 1
        whole = 3 * (seconds * 1_000_000_000 + nanoseconds) // 2
        return self._right.pack(a, b, *divmod(0 if self._count % 7 == 0 else whole, 1_000_000_000))


def wrong_time(monkeypatch):
    monkeypatch.setattr(clock, "_TIME", WrongTime(clock._TIME))


def all_runs(context, options):
    """Run all cases as fast as the machine can: what is broken does not depend on the pace."""
    labels = ("factor 0.1", "factor 1", "factor 5", "free")
    runs = [yarp_clock.run_loop(label, math.inf, EXECUTIONS) for label in labels]
    return yarp_clock.statements([*runs, yarp_clock.run_lockstep(EXECUTIONS)[0]])


def no_pace(monkeypatch):
    """Let a paced simulation run as fast as the machine can."""
    monkeypatch.setattr(yarp_clock, "paced", lambda factor: yarp_clock.free())


def slow_and_fast(context, options):
    runs = [yarp_clock.run_loop(f"factor {factor:g}", factor, EXECUTIONS) for factor in (0.1, 5.0)]
    return yarp_clock.statements(runs)


def other_calls(context, options):
    first, second = (yarp_clock.run_lockstep(20, torque=torque)[1] for torque in (0.3, 0.31))
    return [yarp_clock.repetition_target(first, second)]


MUTATIONS = [
    Mutation(
        experiment="yarp-clock",
        name="the clock sends wrong times",
        patch=wrong_time,
        run=all_runs,
        turns=(
            "largest difference of a simulated period from 1 ms, *",
            "periods of a sleeping loop that are not 1 ms, lock-step",
            "steps without a tick",
            "ticks out of order",
            "simulated delay less the wanted one, to the next step",
            "executions in a simulated second, *",
        ),
    ),
    Mutation(
        experiment="yarp-clock",
        name="the pace is ignored",
        patch=no_pace,
        run=slow_and_fast,
        turns=("simulated over wall time, over the factor asked for, *",),
    ),
    Mutation(
        experiment="yarp-clock",
        name="the second run sends other torques",
        run=other_calls,
        turns=("two runs in lock-step differ by",),
    ),
]

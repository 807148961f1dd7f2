"""Shared by several experiments: a loop with recording, numbers of a step response, static balance."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.base.errors import PliantError
from pliant.experiments.trace import Trace

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pliant.base.numerics import Array
    from pliant.engine import MujocoEngine
    from pliant.laws.base import Law

Source = str | Callable[[], "ArrayLike"]
"""A port of the engine, or a function that returns the value of a column."""


def rms(values: ArrayLike) -> float:
    """Return the root of the mean square of all entries."""
    return float(np.sqrt(np.mean(np.square(values))))


def drive(
    engine: MujocoEngine,
    inputs: Mapping[str, ArrayLike | float],
    record: Sequence[str] | Mapping[str, Source],
    steps: int,
    *,
    every: int = 1,
    progress: Callable[[float], None] | None = None,
) -> Trace:
    """Step an engine with given inputs and record ports.

    Args:
        engine: the simulation, in its initial state.
        inputs: port -> number, or one value a step, shape (steps,): what holds during step k, from k dt to (k + 1) dt.
        record: ports; or column -> a port, or a function that returns its value.
        steps: number of steps.
        every: record every so many steps.
        progress: called now and then with the fraction done.

    Returns:
        "time" [s] and the recorded columns, 1 + steps // every rows; the first row is the initial state.
    """
    moving = []
    for name, value in inputs.items():
        view = engine.port(name)
        if np.ndim(value) == 0:
            view[0] = np.asarray(value, dtype=float)
            continue
        values = np.ascontiguousarray(value, dtype=float)
        if values.shape != (steps,):
            raise PliantError(
                f"input {name!r} has shape {values.shape}; must be a number or have shape ({steps},)", field=name
            )
        moving.append((view, values.tolist()))
    sources = dict(record) if isinstance(record, Mapping) else {name: name for name in record}
    info = engine.ports()
    views: list[Any] = [engine.port(source) if isinstance(source, str) else source for source in sources.values()]
    count = steps // every
    rows = [np.empty((1 + count, *_shape(view))) for view in views]

    def take(i: int) -> None:
        for row, view in zip(rows, views):
            row[i] = view() if callable(view) else view[0] if view.size == 1 else view

    take(0)
    chunk = max(1, count // 50)
    for i in range(1, count + 1):
        if moving:
            for k in range((i - 1) * every, i * every):
                for view, values in moving:
                    view[0] = values[k]
                engine.step()
        else:
            engine.step(every)
        take(i)
        if progress is not None and i % chunk == 0:
            progress(i / count)
    units = {name: info[source].unit for name, source in sources.items() if isinstance(source, str) and source in info}
    time = np.arange(1 + count) * (every * engine.dt)
    return Trace({"time": time, **dict(zip(sources, rows))}, {"time": "s", **units})


def _shape(source: ArrayLike | Callable[[], ArrayLike]) -> tuple[int, ...]:
    """Return the shape of a row: that of a function's value, () for a port of one number."""
    shape = np.shape(source() if callable(source) else source)
    return () if shape == (1,) and not callable(source) else shape


@dataclass(frozen=True, slots=True)
class StepResponse:
    """The usual numbers of a step response that starts from rest at 0."""

    peak: float
    """Largest value [rad]."""
    rise: float
    """Time from 10 % to 90 % of the final value, at the first crossings [s]."""
    settling: float
    """Last time at which the response is more than 2 % of the final value away from it [s]."""


def step_response(time: ArrayLike, q: ArrayLike, final: float) -> StepResponse:
    """Return peak, rise time and settling time, interpolated between samples.

    Args:
        time: time of each sample, shape (n,) [s].
        q: response, shape (n,) [rad].
        final: its final value, not 0 [rad].
    """
    t, y = np.asarray(time, dtype=float), np.asarray(q, dtype=float) / final
    at = [_crossing(t, y, level) for level in (0.1, 0.9)]
    outside = np.flatnonzero(np.abs(y - 1.0) > 0.02)
    settling = 0.0
    if outside.size:
        k = int(outside[-1])
        settling = math.nan
        if k + 1 < t.size:
            a, b = abs(y[k] - 1.0), abs(y[k + 1] - 1.0)
            settling = float(t[k] + (t[k + 1] - t[k]) * (a - 0.02) / (a - b))
    top = int(np.argmax(y))
    peak = y[top]
    if 0 < top < y.size - 1:  # the parabola through the three highest samples
        left, right = y[top - 1], y[top + 1]
        bend = left - 2.0 * peak + right
        if bend < 0.0:
            peak -= (right - left) ** 2 / (8.0 * bend)
    return StepResponse(float(peak * final), at[1] - at[0], settling)


def _crossing(t: Array, y: Array, level: float) -> float:
    above = np.flatnonzero(y >= level)
    if not above.size:
        return math.nan
    k = int(above[0])
    if k == 0:
        return float(t[0])
    return float(t[k - 1] + (t[k] - t[k - 1]) * (level - y[k - 1]) / (y[k] - y[k - 1]))


def spring_equilibrium(
    law: Law, equilibrium: float, preset: float, load: Callable[[float], float], *, span: float = 0.79
) -> float:
    """Return the link angle at which the spring carries a load, found by bisection.

    Args:
        law: a constitutive law.
        equilibrium: commanded equilibrium [rad].
        preset: commanded stiffness preset [rad or m].
        load: torque of the load on the link at an angle [N m], such as gravity.
        span: how far from the equilibrium to look on both sides [rad].

    Raises:
        PliantError: the spring cannot carry the load within the span.
    """
    from scipy.optimize import brentq

    theta_1, theta_2 = law.map_references(equilibrium, preset)
    p, torques = law.parameters(), type(law).torques

    def balance(q: float) -> float:
        return float(torques(q, theta_1, theta_2, p)[0] + load(q))

    low, high = equilibrium - span, equilibrium + span
    if balance(low) * balance(high) > 0.0:
        raise PliantError(f"{law!r} cannot carry the load within {span:g} rad of {equilibrium:g} rad")
    return float(brentq(balance, low, high, xtol=1e-14, rtol=1e-14))


def nice_step(largest: float) -> float:
    """Return the largest of 1, 2 or 5 times a power of ten that is not larger [s]."""
    power = 10.0 ** math.floor(math.log10(largest))
    factor = max(f for f in (1.0, 2.0, 5.0) if f * power <= largest * (1.0 + 1e-9))
    return round(factor * power, 12)

"""Which parameter has drifted: one-parameter fits to what a robot did differently from its simulation.

With r the measured minus the simulated values, and the two worlds of a candidate at +-1 in its scale, the values of a
candidate at u are taken as quadratic between the three worlds, a u + b u^2 with a = (y+ - y-)/2 and
b = (y+ + y-)/2 - y0. The misfit |r - a u - b u^2|^2, summed over the samples with the weights of their ports, is a
polynomial of fourth degree in u, whose least value is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pliant.base.errors import RecordingError, nearest
from pliant.base.numerics import Array
from pliant.model.robot import Robot
from pliant.model.wanted import check_robot
from pliant.shadow.bank import Bank
from pliant.shadow.candidates import Candidate, Compared, candidates_of
from pliant.shadow.log import ShadowLog

BLOCKS = 10
"""Parts of the window, over which the estimates must agree."""
RANGE = 3.0
"""Largest change that is looked for, in units of the step of a candidate."""
CLEAR = 0.3
"""Share of the misfit that a drifted parameter must explain, at least."""
SURE = 4.0
"""Standard errors by which it must differ from its description, at least."""
LEAST = 0.02
"""Smallest change of a factor that is called a drift; for zeros a tenth of their step, for delays also 1.5 steps."""
FLOOR = 1e-3
"""Least noise of a port, as a part of its range in the window."""
COMMANDS = ("auto", "held", "sampled", "latched")
TRIED = 10.0
"""Time over which kinds of commands are compared [s]."""
TIE = 2.0
"""Another candidate explains as much, if it leaves at most this multiple of what the best one leaves, and removes at
least this part of what the best one removes."""


class Worlds(Protocol):
    """Predicted measurements of a robot as described, and with each candidate changed: `Bank`, or a wing's own."""

    candidates: list[Candidate]
    """Candidates with two worlds each."""
    offsets: list[Candidate]
    """Zeros of sensors, which need no world."""
    dt: float
    """Time step of the worlds [s]."""
    unit: str
    """Unit of what is compared."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimate of one parameter that alone explains the measurements."""

    candidate: Candidate
    change: float
    """In units of the candidate's step; 0 as described."""
    error: float
    """Standard error of the change, from the scatter over the blocks of the window."""
    explained: float
    """Share of the misfit that the change removes, 0 to 1."""

    @property
    def value(self) -> float:
        """Factor, or what is added [s, rad]."""
        return self.candidate.value(self.change)

    @property
    def spread(self) -> float:
        """Standard error of the value."""
        slope = self.value if self.candidate.kind == "factor" else 1.0
        return abs(slope * self.candidate.step * self.error)

    def __str__(self) -> str:
        name = self.candidate.name + (" (or beyond)" if abs(self.change) >= RANGE else "")
        if self.candidate.kind == "factor":
            return f"{name} x {self.value:.3g} +- {self.spread:.2g}"
        return f"{name} {self.value:+.3g} +- {self.spread:.2g} {self.candidate.unit}"


@dataclass(frozen=True, slots=True)
class Drift:
    """Evidence of a window of a log about the parameters of a robot."""

    begin: float
    """Begin of the window [s]."""
    end: float
    """End of the window [s]."""
    misfit: float
    """Root mean square of measured minus simulated values, as described [unit]: of the positions where they are."""
    estimates: tuple[Estimate, ...]
    """One for each candidate, the one that explains most first."""
    commands: str
    """How the commands of the log are taken to be between their samples."""
    drifted: tuple[str, ...]
    """The parameter that has drifted; several if the window cannot tell them apart; none if nothing has."""
    unit: str = "rad"
    """Unit of the misfit."""

    @property
    def verdict(self) -> str:
        """One sentence."""
        if not self.drifted:
            what = "positions" if self.unit == "rad" else "torques"
            return f"no parameter has drifted; {what} differ by {self.misfit:.2g} {self.unit} rms"
        best = self.estimates[0]
        others = [name for name in self.drifted if name != best.candidate.name]
        text = f"{best} explains {100.0 * best.explained:.0f} % of the difference"
        return text + (f"; this window cannot tell it from {' or '.join(others)}" if others else "")

    def row(self) -> dict[str, object]:
        """Return it as numbers and text, for JSON."""
        return {
            "begin": self.begin,
            "end": self.end,
            "misfit": self.misfit,
            "commands": self.commands,
            "drifted": list(self.drifted),
            "verdict": self.verdict,
            "estimates": [
                {
                    "parameter": one.candidate.name,
                    "paths": dict(one.candidate.values),
                    "kind": one.candidate.kind,
                    "value": one.value,
                    "standard_error": one.spread,
                    "explained": one.explained,
                }
                for one in self.estimates
            ],
        }


def find_drift(
    robot: Robot,
    log: ShadowLog,
    *,
    watched: Sequence[str] = (),
    window: float | None = None,
    settle: float = 1.0,
    commands: str = "auto",
    progress: Callable[[float], None] | None = None,
) -> tuple[list[Drift], dict[str, Compared]]:
    """Simulate a log beside its robot and judge it window by window.

    Args:
        robot: the robot as described; it is not changed.
        log: its commands and measurements.
        watched: as of `candidates_of`.
        window: length of a window [s]; windows overlap by half. None: one window over the whole log.
        settle: begin of the log that is not judged, because the state at its begin is not known [s].
        commands: how commands are between their samples: ``held`` from each to the next, ``sampled`` (straight from
            one to the next), ``latched`` (in effect since the sample before), or ``auto`` for that with which the robot
            as described, or with one parameter other than the delay changed, differs least from the begin of the log.
        progress: called with the log time that is simulated [s].

    Returns:
        The windows in the order of time, and measured and simulated values by port.

    Raises:
        RecordingError: the log is shorter than ``settle`` and a window, or `check_judged` refuses the commands or the
            time to settle.
        ModelError: a parameter cannot be watched.
    """
    check_robot(robot, "find_drift", compiled=False)
    check_judged(commands, settle)
    candidates = candidates_of(robot, watched)
    begin, end = log.begin + settle, log.end
    length = end - begin if window is None else window
    if not (math.isfinite(length) and 0.0 < length <= end - begin + 1e-9):
        raise RecordingError(
            f"{log.source}: the log has {end - log.begin:.3g} s; must be more than {settle:g} s to settle and a window "
            + (f"of {window:g} s" if window else ""),
            field="window",
        )
    kind = _kind_of_commands(robot, candidates, log, settle) if commands == "auto" else commands
    bank = Bank(robot, candidates)
    found = bank.run(log.between(kind), progress)
    return judge_windows(bank, found, begin, end, length, kind), found


def check_judged(commands: str, settle: float) -> None:
    """Refuse a kind of commands that does not exist, and a time to settle that is not finite or below 0.

    Raises:
        RecordingError: the message says what is valid.
    """
    if commands not in COMMANDS:
        raise RecordingError(f"commands is {commands!r}; {nearest(commands, COMMANDS)}", field="commands")
    if not (math.isfinite(settle) and settle >= 0.0):
        raise RecordingError(f"settle is {settle:g} s; must be finite and >= 0", field="settle")


def judge_windows(
    worlds: Worlds, found: Mapping[str, Compared], begin: float, end: float, length: float, kind: str
) -> list[Drift]:
    """Judge windows that overlap by half.

    Args:
        worlds: as described, and with candidates changed.
        found: measured and simulated values by port.
        begin: begin of the first window [s].
        end: end of the log [s].
        length: length of a window [s].
        kind: how commands are between their samples.

    Raises:
        RecordingError: the log is shorter than a window.
    """
    if not (math.isfinite(length) and 0.0 < length <= end - begin + 1e-9):
        raise RecordingError(
            f"{end - begin:.3g} s of the log can be judged; a window of {length:g} s must be more than 0 s and fit",
            field="window",
        )
    edges = np.arange(begin, end - length + 1e-9, length / 2.0)
    return [judge(worlds, found, float(edge), float(edge) + length, kind) for edge in edges]


def _kind_of_commands(robot: Robot, candidates: Sequence[Candidate], log: ShadowLog, settle: float) -> str:
    """Return the kind with which the best change of one parameter leaves least; a drift must not choose the kind."""
    part = log.until(log.begin + settle + TRIED)
    candidates = [c for c in candidates if c.kind != "delay"]
    bank = Bank(robot, candidates)
    left = {
        kind: least_left(bank, bank.run(part.between(kind)), part.begin + settle, part.end) for kind in COMMANDS[1:]
    }
    return min(left, key=left.__getitem__)


def least_left(
    bank: Worlds, found: Mapping[str, Compared], begin: float, end: float, *, like: Mapping[str, Compared] | None = None
) -> float:
    """Return the misfit that the best change of one parameter other than a delay leaves.

    Args:
        bank: the worlds.
        found: measured and simulated values by port.
        begin: begin of the window [s].
        end: end of the window [s].
        like: values whose noise gives the weights, so that several ways to simulate can be compared; None: ``found``.
    """
    terms = _Terms.of(bank, found, _weights(like or found, begin, end), begin, end)
    chosen = [k for k, one in enumerate([*bank.candidates, *bank.offsets]) if one.kind != "delay"]
    return min([terms.rr, *(terms.least(k)[1] for k in chosen)])


def _least(candidate: Candidate, dt: float) -> float:
    """Return the smallest change that is called a drift; two clocks of steps alone differ by a step or so."""
    if candidate.kind == "factor":
        return math.log1p(LEAST) / candidate.step
    return max(0.1, 1.5 * dt / candidate.step) if candidate.kind == "delay" else 0.1


def judge(bank: Worlds, found: Mapping[str, Compared], begin: float, end: float, kind: str) -> Drift:
    """Judge one window.

    Args:
        bank: the worlds.
        found: measured and simulated values by port.
        begin: begin of the window [s].
        end: end of the window [s].
        kind: how commands are between their samples.
    """
    weights, candidates = _weights(found, begin, end), [*bank.candidates, *bank.offsets]

    def estimated(values: Mapping[str, Compared]) -> list[Estimate]:
        terms = [_Terms.of(bank, values, weights, low, high) for low, high in _blocks(begin, end)]
        whole = sum(terms[1:], terms[0])
        return sorted((_estimate(c, k, whole, terms) for k, c in enumerate(candidates)), key=lambda e: -e.explained)

    estimates = estimated(found)
    # The best one is judged by what it acts on: the rest of a robot of many joints may differ for reasons of its own.
    best = candidates.index(estimates[0].candidate)
    acted = {port: one for port, one in found.items() if _acts(bank, port, one, best)}
    drifted = _drifted(estimated(acted) if acted and len(acted) < len(found) else estimates, bank.dt)
    return Drift(begin, end, _misfit(found, begin, end), tuple(estimates), kind, drifted, bank.unit)


def _estimate(candidate: Candidate, k: int, whole: _Terms, terms: Sequence[_Terms]) -> Estimate:
    """Return what one candidate alone would have to be, from sums over the window and over its blocks."""
    change, left = whole.least(k)
    without = [(whole - part).least(k)[0] for part in terms]
    scatter = math.sqrt((len(terms) - 1) / len(terms) * float(np.square(np.subtract(without, np.mean(without))).sum()))
    explained = 1.0 - left / whole.rr if whole.rr > 0.0 else 0.0
    return Estimate(candidate, change, scatter, max(0.0, explained))


def _acts(bank: Worlds, port: str, one: Compared, k: int) -> bool:
    """Return whether a candidate changes what is measured at a port."""
    if k >= len(bank.candidates):
        return port in bank.offsets[k - len(bank.candidates)].values
    y = one.simulated
    return bool((y[:, 1 + 2 * k : 3 + 2 * k] != y[:, :1]).any())


def _drifted(estimates: Sequence[Estimate], dt: float) -> tuple[str, ...]:
    best = estimates[0]
    if best.explained < CLEAR or abs(best.change) < max(_least(best.candidate, dt), SURE * best.error):
        return ()
    left = TIE * (1.0 - best.explained)
    like = best.explained / TIE
    return tuple(e.candidate.name for e in estimates if 1.0 - e.explained <= left and e.explained >= like)


def _blocks(begin: float, end: float) -> list[tuple[float, float]]:
    edges = np.linspace(begin, end, BLOCKS + 1)
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


def _weights(found: Mapping[str, Compared], begin: float, end: float) -> dict[str, float]:
    """Return the weight of each port: one over the square of the noise that its samples show between neighbours, which
    is taken as at least a thousandth of its range."""
    weights = {}
    for port, one in found.items():
        inside = (one.time >= begin) & (one.time < end)
        rest = (one.measured - one.simulated[:, 0])[inside]
        noise = np.std(np.diff(rest, n=2)) / math.sqrt(6.0) if rest.size > 4 else 0.0
        least = FLOOR * float(np.ptp(one.measured[inside])) if rest.size else 1.0
        weights[port] = 1.0 / max(float(noise), least, 1e-9) ** 2 / max(1, rest.size)
    return weights


def _misfit(found: Mapping[str, Compared], begin: float, end: float) -> float:
    positions = [port for port in found if port.endswith("/position")] or list(found)
    parts = [
        (one.measured - one.simulated[:, 0])[(one.time >= begin) & (one.time < end)]
        for one in (found[port] for port in positions)
    ]
    return float(np.sqrt(np.mean(np.square(np.concatenate(parts))))) if parts else 0.0


@dataclass(frozen=True, slots=True)
class _Terms:
    """Sums over samples from which the misfit of each candidate follows for every change."""

    rr: float
    products: Array
    """ra, rb, aa, ab, bb of each candidate, shape (candidates, 5)."""

    @classmethod
    def of(
        cls, bank: Worlds, found: Mapping[str, Compared], weights: Mapping[str, float], begin: float, end: float
    ) -> _Terms:
        count = len(bank.candidates) + len(bank.offsets)
        rr, products = 0.0, np.zeros((count, 5))
        for port, one in found.items():
            inside = (one.time >= begin) & (one.time < end)
            y, weight = one.simulated[inside], weights[port]
            r = one.measured[inside] - y[:, 0]
            rr += weight * float(r @ r)
            for k in range(count):
                if k < len(bank.candidates):
                    up, down = y[:, 1 + 2 * k], y[:, 2 + 2 * k]
                    a, b = 0.5 * (up - down), 0.5 * (up + down) - y[:, 0]
                else:
                    offset = bank.offsets[k - len(bank.candidates)]
                    a, b = np.full(len(r), offset.step if port in offset.values else 0.0), np.zeros(len(r))
                products[k] += weight * np.array([r @ a, r @ b, a @ a, a @ b, b @ b])
        return cls(rr, products)

    def __add__(self, other: _Terms) -> _Terms:
        return _Terms(self.rr + other.rr, self.products + other.products)

    def __sub__(self, other: _Terms) -> _Terms:
        return _Terms(self.rr - other.rr, self.products - other.products)

    def least(self, candidate: int) -> tuple[float, float]:
        """Return the change of a candidate with the least misfit, and that misfit."""
        ra, rb, aa, ab, bb = self.products[candidate]
        misfit = np.polynomial.Polynomial([self.rr, -2.0 * ra, aa - 2.0 * rb, 2.0 * ab, bb])
        roots = misfit.deriv().roots()
        real = np.clip(roots.real[np.abs(roots.imag) < 1e-9 * (1.0 + np.abs(roots.real))], -RANGE, RANGE)
        tried = np.concatenate([real, [0.0]])
        values = misfit(tried)
        best = int(np.argmin(values))
        return float(tried[best]), max(0.0, float(values[best]))

"""Iterative learning control: refine an input from run to run until the output follows the reference.

Mengacci 2021, equation 13, after Angelini et al. 2018: with the error e = q_d - q of the last run, sample by sample,

    theta_eq(n) = theta_eq(n-1) + K_off(n) e(n-1),    K_off(n) = K_q exp(-n / decay),    K_q = 0.5, decay = 10

The first run (n = 0 here, "iteration 1" in the paper) has theta_eq = q_d; learning stops once max |e| over the run is
inside the tolerance (0.08 rad) on every joint. With a static gain g = dq/dtheta_eq the error shrinks as
prod(1 - g K_off(n)), and the sum of all gains is finite (4.75), so it cannot vanish: gravity that needs more is a
matter of a larger K_q.

As an option, off by default, the error is filtered without phase as in the authors' learning toolbox
(github.com/NMMI/ILC-code): second-order Butterworth, 0.1 of Nyquist, forwards and backwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.argument_checks import ControlError, number
from pliant.base.errors import require
from pliant.base.numerics import Array

Plant = Callable[[Array], ArrayLike]


def low_pass(signal: ArrayLike, cutoff: float = 0.1, order: int = 2, pad: int = 25) -> Array:
    """Return a signal filtered forwards and backwards with a Butterworth filter: no phase shift.

    Args:
        signal: shape (t,) or (t, n).
        cutoff: cut-off as a part of the Nyquist frequency, in (0, 1). 0.1 in the authors' toolbox.
        order: order of the filter.
        pad: samples by which the first and last values are held before filtering.

    Returns:
        An array of the same shape.
    """
    require("scipy", extra="fit", purpose="the low-pass filter of iterative learning")
    from scipy.signal import butter, filtfilt

    number("low_pass", "cutoff", cutoff, "", low=0.0, above=True, high=1.0)
    x = np.asarray(signal, dtype=float)
    widths = [(pad, pad)] + [(0, 0)] * (x.ndim - 1)
    b, a = butter(order, cutoff)[:2]  # type: ignore[index]
    return np.asarray(filtfilt(b, a, np.pad(x, widths, mode="edge"), axis=0, padlen=0))[pad : pad + len(x)]


@dataclass(frozen=True, slots=True, kw_only=True)
class IterationRecord:
    """One run of the plant."""

    run: int
    """Number of the run, from 1."""
    command: Array
    """Input of the run, shape (t, n) [rad]."""
    response: Array
    """Output of the run, shape (t, n) [rad]."""
    error: Array
    """Reference minus response, shape (t, n) [rad]."""
    gain: float
    """K_off that led to this command; 0 for the first run."""

    @property
    def max_error(self) -> Array:
        """Largest |error| of each joint, shape (n,) [rad]."""
        return np.max(np.abs(self.error), axis=0)

    @property
    def mean_error(self) -> Array:
        """Mean |error| of each joint over the run, shape (n,) [rad]."""
        return np.mean(np.abs(self.error), axis=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningResult:
    """All runs of a learning process."""

    records: tuple[IterationRecord, ...]
    """The runs in order; at least one."""
    converged: bool
    """Whether the last run is inside the tolerance on all joints."""
    tolerance: float
    """The tolerance [rad]."""

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.records)

    @property
    def max_errors(self) -> Array:
        """Largest |error| by run and joint, shape (runs, n) [rad]."""
        return np.array([record.max_error for record in self.records])

    @property
    def monotone(self) -> bool:
        """Whether the largest error over the joints fell in every run."""
        worst = self.max_errors.max(axis=1)
        return bool(np.all(np.diff(worst) < 0.0))

    @property
    def command(self) -> Array:
        """The command of the last run, to be fed forward to the robot, shape (t, n) [rad]."""
        return self.records[-1].command


@dataclass(frozen=True, slots=True, kw_only=True)
class IterativeLearning:
    """The learning rule and when it stops.

    Example:
        >>> result = IterativeLearning().run(plant, reference)   # plant: command (t, n) -> response (t, n)
    """

    gain: float = 0.5
    """K_q, dimensionless. Mengacci 2021, section 4.3."""
    decay: float = 10.0
    """Runs over which the gain falls by e; infinity keeps it. Mengacci 2021, section 4.3."""
    tolerance: float = 0.08
    """Largest |error| on all joints that ends the learning [rad]. Mengacci 2021, section 4.3."""
    max_runs: int = 30
    """Runs at most."""
    filter_cutoff: float | None = None
    """Zero-phase low-pass on the error, as a part of Nyquist; None for none. 0.1 in the authors' toolbox."""

    def __post_init__(self) -> None:
        name = type(self).__name__
        number(name, "gain", self.gain, "", low=0.0)
        if not self.decay > 0.0:
            raise ControlError(f"{name}: decay is {self.decay}; must be more than 0 runs", field="decay")
        number(name, "tolerance", self.tolerance, "rad", low=0.0)
        if isinstance(self.max_runs, bool) or not isinstance(self.max_runs, int) or self.max_runs < 1:
            raise ControlError(f"{name}: max_runs is {self.max_runs!r}; must be at least 1", field="max_runs")
        if self.filter_cutoff is not None:
            number(name, "filter_cutoff", self.filter_cutoff, "of Nyquist", low=0.0, above=True, high=1.0)

    def gain_at(self, n: int) -> float:
        """Return K_off(n) of the n-th update, n from 1."""
        return self.gain * math.exp(-n / self.decay)

    def update(self, command: ArrayLike, error: ArrayLike, n: int) -> Array:
        """Return the command of the next run (equation 13).

        Args:
            command: command of the last run, shape (t, n) [rad].
            error: reference minus response of the last run, shape (t, n) [rad].
            n: number of the update, from 1.

        Raises:
            ControlError: shapes that differ.
        """
        command, error = np.asarray(command, dtype=float), np.asarray(error, dtype=float)
        if command.shape != error.shape:
            raise ControlError(f"ilc: error has shape {error.shape}; must be {command.shape}, as the command")
        if self.filter_cutoff is not None:
            error = low_pass(error, self.filter_cutoff)
        return command + self.gain_at(n) * error

    def run(
        self,
        plant: Plant,
        reference: ArrayLike,
        *,
        command: ArrayLike | None = None,
        progress: Callable[[IterationRecord], None] | None = None,
    ) -> LearningResult:
        """Run the plant and learn until the error is inside the tolerance.

        Args:
            plant: runs the robot once from the same state: command (t, n) -> response (t, n) [rad].
            reference: desired output, shape (t, n) or (t,) [rad].
            command: command of the first run; None takes the reference.
            progress: called after each run.

        Raises:
            ControlError: the plant returns another shape, or values that are not finite.
        """
        reference = np.asarray(reference, dtype=float)
        now = reference.copy() if command is None else np.array(command, dtype=float)
        if now.shape != reference.shape:
            raise ControlError(f"ilc: command has shape {now.shape}; must be {reference.shape}, as the reference")
        records: list[IterationRecord] = []
        used = 0.0
        converged = False
        for run in range(1, self.max_runs + 1):
            response = np.asarray(plant(now), dtype=float)
            if response.shape != reference.shape:
                raise ControlError(f"ilc: run {run} returned shape {response.shape}; must be {reference.shape}")
            if not np.all(np.isfinite(response)):
                raise ControlError(f"ilc: run {run} returned values that are not finite")
            error = reference - response
            record = IterationRecord(run=run, command=now, response=response, error=error, gain=used)
            records.append(record)
            if progress is not None:
                progress(record)
            if float(np.max(np.abs(error))) <= self.tolerance:
                converged = True
                break
            if run < self.max_runs:
                used = self.gain_at(run)
                now = self.update(now, error, run)
        return LearningResult(records=tuple(records), converged=converged, tolerance=self.tolerance)

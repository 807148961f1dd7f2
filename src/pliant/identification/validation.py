"""Held-out validation: the error of a model on data that it was not fitted to.

Several logs are left out in turn, one log by windows of time (k-fold; Stone 1974, Journal of the Royal Statistical
Society B 36(2)). The simulation of a window begins with its log, so that the state of motors at its begin is that of
the model.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pliant.base.errors import LawError
from pliant.identification.measurements import Measurement
from pliant.identification.results import Fit, HeldOut, Identification


@dataclass(frozen=True, slots=True)
class Fitting:
    """A fit, and the prediction of measurements by its values."""

    fit: Callable[[Sequence[Measurement]], Identification]
    """Fit of measurements."""
    predict: Callable[[Identification, Sequence[Measurement]], Sequence[Fit]]
    """Comparison of measurements with a model that was fitted to others."""


def with_held_out(
    fitting: Fitting,
    trials: Sequence[Measurement],
    folds: int,
    progress: Callable[[float, float], None] | None = None,
) -> Identification:
    """Fit measurements, and state the error on data that were not fitted.

    Args:
        fitting: the fit.
        trials: the measurements; with two or more, whole measurements are left out, else windows.
        folds: number of fits without a part of the data, 2 or more.
        progress: called with the number of finished fits and their total number.

    Raises:
        LawError: the number of folds is below 2, or larger than the number of samples.
    """
    if isinstance(folds, bool) or not isinstance(folds, int) or folds < 2:
        raise LawError(f"folds is {folds!r}; must be a whole number >= 2", field="folds")
    whole = fitting.fit(trials)
    rests: dict[str, list[np.ndarray]] = {}
    values: list[Mapping[str, float]] = []
    parts = list(_folds(trials, folds))
    for k, (fitted, held) in enumerate(parts):
        found = fitting.fit(fitted)
        values.append(found.values)
        for one in fitting.predict(found, held):
            rests.setdefault(one.quantity, []).append(one.residual)
        if progress is not None:
            progress(k + 1, len(parts))
    units = {one.quantity: one.unit for one in whole.fits}
    return dataclasses.replace(
        whole,
        held_out=tuple(
            HeldOut(
                quantity=quantity,
                unit=units[quantity],
                rms=float(np.sqrt(np.mean(np.concatenate(rest) ** 2))),
                fitted_rms=whole.rms(quantity),
                samples=int(sum(r.size for r in rest)),
                folds=len(parts),
                parts="logs" if len(trials) > 1 else "windows",
            )
            for quantity, rest in rests.items()
        ),
        fold_values=tuple(values),
    )


def _folds(trials: Sequence[Measurement], folds: int) -> Iterator[tuple[list[Measurement], list[Measurement]]]:
    """Yield what is fitted and what is held out."""
    if len(trials) > 1:
        count = min(folds, len(trials))
        for k in range(count):
            yield (
                [t for i, t in enumerate(trials) if i % count != k],
                [t for i, t in enumerate(trials) if i % count == k],
            )
        return
    (trial,) = trials
    if trial.samples < 4 * folds:
        raise LawError(f"folds is {folds}; must be at most a quarter of the {trial.samples} samples", field="folds")
    window = np.arange(trial.samples) * folds // trial.samples
    for k in range(folds):
        yield [trial.without(window == k)], [trial.without(window != k)]

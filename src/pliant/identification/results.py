"""Results of a fit: values with standard errors, residuals, condition number and warnings.

Results are available as values, as a text report and as a figure.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.errors import LawError, nearest
from pliant.base.numerics import Array
from pliant.laws.actuator import CompliantActuator
from pliant.laws.base import Law

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pliant.identification.faults import Fault
    from pliant.identification.profile import Profile


MAX_NAMED = 8
"""Most lines of a panel that its legend names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One identified parameter."""

    name: str
    """Dotted path: "law.k1", "link_friction.torque", "motor.inertia" (both motors)."""
    value: float
    """Value in SI units."""
    standard_error: float
    """Standard error (one standard deviation); infinite if the data do not determine the parameter."""
    unit: str
    """Unit of the value and its standard error."""
    start: float
    """Start value of the best search."""
    profile: Profile | None = None
    """Profile of the likelihood with the 95 % interval; None if it was not asked for."""

    @property
    def relative_error(self) -> float:
        """Standard error as a fraction of the value."""
        return self.standard_error / abs(self.value) if self.value else math.inf

    def as_dict(self) -> dict[str, object]:
        """Return the fields as plain types, for JSON."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name != "profile"}
        if self.profile is not None:
            fields["interval_95"] = [self.profile.low, self.profile.high]
        return fields


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """Error of a model on data that it was not fitted to, over all folds."""

    quantity: str
    """Compared quantity."""
    unit: str
    """Unit of the quantity."""
    rms: float
    """Root mean square error of samples that were not fitted, in ``unit``."""
    fitted_rms: float
    """Root mean square residual of the fit to all samples, in ``unit``."""
    samples: int
    """Samples that were held out, over all folds."""
    folds: int
    """Number of fits without a part of the data."""
    parts: str
    """What was held out: "logs", or "windows" of one log."""

    def as_dict(self) -> dict[str, object]:
        """Return the fields as plain types, for JSON."""
        return dataclasses.asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Comparison of model and data for one quantity of one measurement."""

    source: str
    """Source of the measurement."""
    quantity: str
    """Compared quantity, such as "torque" or "motor_1_position"."""
    unit: str
    """Unit of the quantity."""
    abscissa: Array
    """Time [s], or deflection [rad] for static fits, shape (n,)."""
    group: Array
    """Preset of each sample [rad; lever: m], or 0, shape (n,)."""
    measured: Array
    """Measured values, in ``unit``, shape (n,)."""
    predicted: Array
    """Values of the fitted model, in ``unit``, shape (n,)."""
    integration_error: float = 0.0
    """Root mean square of the estimated error of the integration of the model, in ``unit``; 0 without motors, and with
    a given step, which is then part of the model."""

    @property
    def residual(self) -> Array:
        """Measured minus predicted values, in ``unit``, shape (n,)."""
        return self.measured - self.predicted

    @property
    def rms(self) -> float:
        """Root mean square of the residual, in ``unit``."""
        return float(np.sqrt(np.mean(self.residual**2)))

    @property
    def explained(self) -> float:
        """Share of the variance of the measured values that the model explains, at most 1; NaN if they are constant."""
        total = float(np.sum((self.measured - self.measured.mean()) ** 2))
        return 1.0 - float(np.sum(self.residual**2)) / total if total > 0.0 else math.nan


@dataclass(frozen=True, slots=True, kw_only=True)
class Identification:
    """Identified parameters with standard errors and diagnostics."""

    actuator: CompliantActuator
    """The actuator with the identified values."""
    estimates: tuple[Estimate, ...]
    """Estimates of the free parameters, in the order of ``free``."""
    covariance: Array
    """Covariance matrix of the values, shape (n, n), in the units of the estimates."""
    fits: tuple[Fit, ...]
    """Comparison of measured and predicted values, one entry for each quantity of each measurement."""
    cost: float
    """Sum of squared weighted residuals."""
    condition: float
    """Condition number of the scaled Jacobian: ratio of the uncertainties of the least and the best determined
    combination of parameters. Above 1e3 the data hardly determine one of the combinations."""
    correlation: float
    """Correlation of successive residuals, -1 to 1; near 0 for white noise, near 1 for a systematic model error."""
    starts: int
    """Number of searches."""
    agreeing: int
    """Number of searches that ended at the same values as the best one (within 1 %)."""
    converged: bool
    """Whether the best search met its convergence criterion."""
    warnings: tuple[str, ...]
    """Warnings about the result, one sentence each."""
    held_out: tuple[HeldOut, ...] = ()
    """Error on data that were not fitted, one entry for each quantity; empty if it was not asked for."""
    fold_values: tuple[Mapping[str, float], ...] = ()
    """Name -> value of each fit without a part of the data."""
    faults: tuple[Fault, ...] = ()
    """Faults of the logs that were found."""

    @property
    def law(self) -> Law:
        """The law with the identified values."""
        return self.actuator.law

    @property
    def values(self) -> dict[str, float]:
        """Name -> value in SI units."""
        return {e.name: e.value for e in self.estimates}

    def __getitem__(self, name: str) -> Estimate:
        """Return an estimate by its path, or by the last part of it where that is unique."""
        found = [e for e in self.estimates if e.name == name] or [
            e for e in self.estimates if e.name.rsplit(".", 1)[-1] == name
        ]
        if len(found) != 1:
            raise LawError(f"no estimate {name!r}; {nearest(name, [e.name for e in self.estimates])}", field=name)
        return found[0]

    def rms(self, quantity: str | None = None) -> float:
        """Return the root mean square residual of one quantity, over all measurements, in its unit."""
        chosen = [f for f in self.fits if quantity in (None, f.quantity)]
        if not chosen:
            raise LawError(f"no fit of {quantity!r}; {nearest(str(quantity), {f.quantity for f in self.fits})}")
        return float(np.sqrt(np.mean(np.concatenate([f.residual for f in chosen]) ** 2)))

    @property
    def identified(self) -> bool:
        """Whether the data determine every free parameter."""
        return all(math.isfinite(e.standard_error) for e in self.estimates)

    def as_dict(self) -> dict[str, object]:
        """Return all results except the traces as plain types, for JSON."""
        return {
            "law": self.law.name,
            "identified": self.identified,
            "estimates": [e.as_dict() for e in self.estimates],
            "residuals": [
                {
                    "source": f.source,
                    "quantity": f.quantity,
                    "unit": f.unit,
                    "samples": int(f.measured.size),
                    "rms": f.rms,
                    "integration_error": f.integration_error,
                    "max": float(np.max(np.abs(f.residual))),
                    "explained": f.explained,
                }
                for f in self.fits
            ],
            "condition": self.condition,
            "residual_correlation": self.correlation,
            "starts": self.starts,
            "agreeing_starts": self.agreeing,
            "converged": self.converged,
            "covariance": self.covariance.tolist(),
            "held_out": [h.as_dict() for h in self.held_out],
            "fold_values": [dict(v) for v in self.fold_values],
            "faults": [f.as_dict() for f in self.faults],
            "warnings": list(self.warnings),
        }

    def report(self) -> str:
        """Return a table of the values and the residuals as text."""
        width = max(len(e.name) for e in self.estimates)
        lines = []
        for e in self.estimates:
            line = f"{e.name:<{width}}  {e.value: .6g} +- {e.standard_error:.2g} {e.unit}".rstrip()
            if e.profile is not None:
                line += f", 95 % interval {e.profile.low:.6g} to {e.profile.high:.6g}"
            lines.append(line)
        for f in self.fits:
            lines.append(
                f"residual of {f.quantity} ({f.source}): rms {f.rms:.3g} {f.unit}, "
                f"largest {np.max(np.abs(f.residual)):.3g} {f.unit}, {f.measured.size} samples"
            )
        for h in self.held_out:
            lines.append(
                f"error of {h.quantity} on {h.parts} that were not fitted ({h.folds} folds): rms {h.rms:.3g} {h.unit}, "
                f"{h.rms / h.fitted_rms:.2f} times that of the fit"
            )
        lines.append(f"condition {self.condition:.3g}; {self.agreeing} of {self.starts} searches agree")
        lines.extend(f"fault of {f}" for f in self.faults)
        lines.extend(f"warning: {w}" for w in self.warnings)
        return "\n".join(lines)

    def figure(self) -> Figure:
        """Return a `matplotlib.figure.Figure` with measured and predicted values above and residuals below.

        Each quantity has one column. The abscissa is the time [s], or the deflection [rad] for a static fit.
        """
        from pliant.base.figures import label, legend, new_figure

        quantities = list(dict.fromkeys(f.quantity for f in self.fits))
        figure, axes = new_figure(
            2, len(quantities), width=max(5.0, 4.2 * len(quantities)), height=2.3, squeeze=False, sharex="col",
            gridspec_kw={"height_ratios": [3, 1]},
        )  # fmt: skip
        for quantity, (top, bottom) in zip(quantities, axes.T, strict=True):
            count = draw_fits(top, bottom, [f for f in self.fits if f.quantity == quantity])
            if count <= MAX_NAMED:
                legend(top, fontsize=7)
        label(axes[0, 0], title="points: measured, lines: identified")
        return figure


def is_static(f: Fit) -> bool:
    """Return whether a fit is one over the deflection, whose samples have no order."""
    return not bool(np.all(np.diff(f.abscissa) > 0.0))


def draw_fits(top: Axes, bottom: Axes, fits: Sequence[Fit]) -> int:
    """Draw fits of one quantity, each preset of a static one in a colour of its own; return the number of lines.

    Args:
        top: axes of measured and predicted values.
        bottom: axes of the residuals.
        fits: one or more, of equal units.
    """
    from pliant.base.figures import CYCLE, MUTED, label, thin

    count, static = 0, False
    for f in fits:
        presets = np.unique(np.round(f.group, 6)) if is_static(f) else np.array([np.nan])
        static = static or is_static(f)
        for preset in presets:
            at = np.ones(f.group.size, dtype=bool) if np.isnan(preset) else np.round(f.group, 6) == preset
            color, count = CYCLE[count % len(CYCLE)], count + 1
            x, measured, predicted = f.abscissa[at], f.measured[at], f.predicted[at]
            if not static:
                x, measured, predicted = thin(x, measured, predicted)
            name = f"preset {preset:.4g}" if presets.size > 1 or preset > 0.0 else f.source
            top.plot(x, measured, ".", ms=2.5, alpha=0.45, color=color)
            top.plot(*_line(x, predicted), "-", lw=1.2, color=color, label=name)
            bottom.plot(x, measured - predicted, ".", ms=2.0, color=color)
    bottom.axhline(0.0, color=MUTED, lw=0.7)
    label(top, y=f"{fits[0].quantity.replace('_', ' ')} [{fits[0].unit}]")
    label(bottom, "deflection [rad]" if static else "time [s]", f"residual [{fits[0].unit}]")
    return count


def _line(x: Array, y: Array) -> tuple[Array, Array]:
    """Return a line in the order of x where it is one smooth curve over x, and in the order of time for a loop."""
    order = np.argsort(x, kind="stable")
    span = np.ptp(y) or 1.0
    smooth = np.max(np.abs(np.diff(y[order])), initial=0.0) < 0.05 * span
    return (x[order], y[order]) if smooth else (x, y)

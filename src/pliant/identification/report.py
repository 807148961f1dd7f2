"""The report of an identification: one HTML page with its figures, which needs no other file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pliant import __version__
from pliant.base.errors import PliantError
from pliant.base.figures import COLORS, CYCLE, INK, MUTED, label, legend, new_figure
from pliant.base.numerics import Array
from pliant.experiments.pages import badge, bullets, escaped, figure, page, picture_of, table
from pliant.identification.profile import QUANTILE
from pliant.identification.results import MAX_NAMED, Fit, Identification, draw_fits, is_static

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DOT = " \u00b7 "

SHOWN_FITS = 12
"""Most comparisons of a quantity of a log that are drawn."""

SHOWN_LAGS = 40
"""Most lags of the correlation of residuals that are drawn."""


def write_identification(found: Identification, path: Path, command: str = "") -> None:
    """Write the report of an identification.

    Args:
        found: the identification.
        path: file to write, HTML.
        command: command that was run, for the end of the report.

    Raises:
        PliantError: the file cannot be written.
    """
    text = render_identification(found, command)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise PliantError(f"the report cannot be written: {error.strerror}", file=path) from None


def render_identification(found: Identification, command: str = "") -> str:
    """Return the report of an identification as HTML; arguments as for `write_identification`."""
    law = found.law
    sources = list(dict.fromkeys(f.source for f in found.fits))
    samples = sum(f.measured.size for f in found.fits)
    good = found.identified and found.converged
    said = "every parameter is determined" if good else "the data do not determine every parameter"
    facts = [
        f"{len(sources)} log{'s' if len(sources) > 1 else ''}, {samples} values compared",
        f"{found.agreeing} of {found.starts} searches agree",
        f"condition number {found.condition:.3g}",
    ]
    parts = [
        "<header>",
        '<p class="over">pliant identifies</p>',
        f"<h1>{escaped(law.label)}</h1>",
        f'<p class="source">{escaped(", ".join(sources))}</p>',
        f'<div class="verdict">{badge("pass") if good else badge("fail")}<span class="facts">'
        f"{escaped(_DOT.join((said, *facts)))}</span></div>",
        "</header>",
    ]
    if found.faults:
        parts.append("<h2>Faults of the logs</h2>" + bullets(str(f) for f in found.faults))
    if found.warnings:
        parts.append("<h2>Warnings</h2>" + bullets(found.warnings))
    parts.append("<h2>Parameters</h2>" + _parameters(found))
    parts.append("<h2>Errors</h2>" + _errors(found))
    for number, one in enumerate(found.fits[:SHOWN_FITS]):
        parts.append(figure(_fit_caption(one), picture_of(_fit_figure(one))))
        if number == SHOWN_FITS - 1 and len(found.fits) > SHOWN_FITS:
            parts.append(f"<p>{len(found.fits) - SHOWN_FITS} more comparisons are not drawn.</p>")
    parts.append(figure(_RESIDUALS, picture_of(_residual_figure(found))))
    parts.append(figure(_PROFILES if _profiled(found) else _INTERVALS, picture_of(_interval_figure(found))))
    if len(found.estimates) > 1:
        parts.append(figure(_CORRELATION, picture_of(_correlation_figure(found))))
    if command:
        parts.append(f"<h2>Run it again</h2><pre>{escaped(command)}</pre>")
    parts.append(f"<footer>pliant {escaped(__version__)}</footer>")
    return page(f"{law.label} from {', '.join(sources)}", parts)


_RESIDUALS = (
    "Residuals in units of their rms. Left: their distribution beside that of white noise. Right: their correlation "
    "over the lag in samples; outside of the band, they are not white, and the standard errors are enlarged."
)
_INTERVALS = (
    "Intervals of 95 percent, in standard errors, as the stated errors give them. `--intervals` finds them by the "
    "profile of the likelihood. Dots are the values of fits without a part of the data (`--folds`)."
)
_PROFILES = (
    "Profiles of the likelihood. Each parameter is held while all others are fitted; a straight line means that the "
    "stated error is the whole story, the dashed levels bound 95 percent."
)
_CORRELATION = (
    "Which parameters the data tell apart. Left: correlation of the estimates; near 1 or \u22121, only a combination "
    "of both is known. Right: relative errors, 100 percent and more is not known at all."
)


def _profiled(found: Identification) -> bool:
    return any(e.profile is not None for e in found.estimates)


def _interval(found: Identification, i: int) -> tuple[float, float]:
    e = found.estimates[i]
    if e.profile is not None:
        return e.profile.low, e.profile.high
    return e.value - QUANTILE * e.standard_error, e.value + QUANTILE * e.standard_error


def _parameters(found: Identification) -> str:
    rows = []
    for i, e in enumerate(found.estimates):
        known = math.isfinite(e.standard_error)
        low, high = _interval(found, i)
        folds = [v[e.name] for v in found.fold_values if e.name in v]
        rows.append(
            (
                e.name,
                e.value,
                e.standard_error if known else None,
                low if math.isfinite(low) else None,
                high if math.isfinite(high) else None,
                100.0 * e.relative_error if known and math.isfinite(e.relative_error) else None,
                *((f"{np.min(folds):.5g} to {np.max(folds):.5g}",) if folds else ()),
                e.unit,
            )
        )
    folded = ("Of the folds",) if found.fold_values else ()
    columns = ("Parameter", "Value", "Standard error", "95 %, from", "to", "Error [%]", *folded, "Unit")
    how = "the profile of the likelihood" if _profiled(found) else "1.96 standard errors"
    return table(columns, rows, f"Intervals of 95 % by {how}. A dash: not determined.")


def _errors(found: Identification) -> str:
    rows = [
        (
            f.source,
            f.quantity.replace("_", " "),
            f.measured.size,
            f.rms,
            float(np.max(np.abs(f.residual))),
            f.integration_error,
            f.unit,
        )
        for f in found.fits
    ]
    shown = table(("Log", "Quantity", "Samples", "rms", "Largest", "Error of the simulation", "Unit"), rows)
    if not found.held_out:
        return (
            shown
            + "<p>No data were held out; <code>--folds 5</code> states the error on data that were not fitted.</p>"
        )
    held = [
        (h.quantity.replace("_", " "), f"{h.folds} folds of {h.parts}", h.samples, h.rms, h.rms / h.fitted_rms, h.unit)
        for h in found.held_out
    ]
    columns = ("Quantity", "Held out", "Samples", "rms", "Times that of the fit", "Unit")
    note = (
        "Error on data that were not fitted. Well above 1: the model has too many free parameters, or misses something."
    )
    return shown + table(columns, held, note)


def _fit_caption(f: Fit) -> str:
    over = "deflection" if is_static(f) else "time"
    return (
        f"{f.quantity.replace('_', ' ').capitalize()} of {f.source} over the {over}. Dots: measured; lines: the model. "
        f"Below: the residual, rms {f.rms:.3g} {f.unit}."
    )


def _fit_figure(f: Fit) -> Figure:
    drawing, axes = new_figure(2, 1, height=1.75, sharex=True, gridspec_kw={"height_ratios": [3, 1.6]})
    if 1 < draw_fits(axes[0], axes[1], [f]) <= MAX_NAMED:
        legend(axes[0])
    return drawing


def _residual_figure(found: Identification) -> Figure:
    drawing, (left, right) = new_figure(1, 2, height=2.5)
    edges = np.linspace(-4.0, 4.0, 33)
    longest = 0.0
    for k, quantity in enumerate(dict.fromkeys(f.quantity for f in found.fits)):
        fits = [f for f in found.fits if f.quantity == quantity]
        rms = found.rms(quantity) or 1.0
        color = CYCLE[k % len(CYCLE)]
        rest = np.concatenate([f.residual for f in fits]) / rms
        counts, _ = np.histogram(np.clip(rest, -4.0, 4.0), edges, density=True)
        left.stairs(counts, edges, color=color, label=quantity.replace("_", " "))
        lags, rho = _autocorrelation([f.residual for f in fits])
        right.plot(lags, rho, ".-", ms=3.5, lw=0.9, color=color)
        longest = max(longest, 2.0 / math.sqrt(max(1, rest.size)))
    x = np.linspace(-4.0, 4.0, 161)
    left.plot(x, np.exp(-0.5 * x**2) / math.sqrt(2.0 * math.pi), "--", color=MUTED, lw=1.0, label="white noise")
    right.axhspan(-longest, longest, color=MUTED, alpha=0.18, lw=0)
    right.axhline(0.0, color=MUTED, lw=0.7)
    label(left, "residual / rms", "density")
    label(right, "lag [samples]", "correlation")
    legend(left)
    return drawing


def _autocorrelation(series: list[Array]) -> tuple[Array, Array]:
    """Return lags and correlation of residuals, without pairs across two series."""
    most = max(1, min(SHOWN_LAGS, min(r.size for r in series) // 4))
    total = sum(float(r @ r) for r in series) or 1.0
    lags = range(1, most + 1)
    return np.array(lags, dtype=float), np.array([sum(float(r[k:] @ r[:-k]) for r in series) / total for k in lags])


def _interval_figure(found: Identification) -> Figure:
    known = [i for i, e in enumerate(found.estimates) if math.isfinite(e.standard_error) and e.standard_error > 0.0]
    profiled = [i for i in known if found.estimates[i].profile is not None]
    if not profiled:
        return _bar_figure(found, known)
    columns = min(3, len(profiled))
    rows = math.ceil(len(profiled) / columns)
    drawing, axes = new_figure(rows, columns, height=1.9, squeeze=False, sharey=True)
    flat = list(np.ravel(axes))
    for axis, i in zip(flat, profiled, strict=False):
        e = found.estimates[i]
        if e.profile is None:
            continue
        axis.axhspan(-QUANTILE, QUANTILE, color=COLORS["pass"], alpha=0.1, lw=0)
        for level in (-QUANTILE, QUANTILE):
            axis.axhline(level, ls="--", lw=0.7, color=MUTED)
        straight = (e.profile.values - e.value) / e.standard_error
        axis.plot(e.profile.values, straight, color=MUTED, lw=0.9)
        axis.plot(e.profile.values, e.profile.ratio, "o-", ms=3.5, color=CYCLE[0])
        for fold in found.fold_values:
            if e.name in fold:
                axis.axvline(fold[e.name], color=CYCLE[1], lw=0.6, alpha=0.6)
        axis.locator_params(axis="x", nbins=4)
        label(axis, f"{e.name} [{e.unit}]" if e.unit else e.name)
    for axis in flat[len(profiled) :]:
        axis.set_visible(False)
    label(flat[0], y="root of likelihood ratio")
    return drawing


def _bar_figure(found: Identification, known: list[int]) -> Figure:
    drawing, axis = new_figure(1, 1, height=max(1.6, 0.32 * len(known) + 0.8))
    for row, i in enumerate(known):
        e = found.estimates[i]
        axis.plot([-QUANTILE, QUANTILE], [row, row], "-", lw=5.0, alpha=0.35, color=CYCLE[0], solid_capstyle="butt")
        axis.plot([0.0], [row], "|", ms=11, color=INK)
        away = [(fold[e.name] - e.value) / e.standard_error for fold in found.fold_values if e.name in fold]
        axis.plot(away, [row] * len(away), "o", ms=3.5, color=CYCLE[1])
    axis.set_yticks(range(len(known)), [found.estimates[i].name for i in known])
    axis.invert_yaxis()
    label(axis, "distance from the value [standard errors]")
    return drawing


def _correlation_figure(found: Identification) -> Figure:
    names = [e.name for e in found.estimates]
    n = len(names)
    drawing, (left, right) = new_figure(1, 2, height=max(2.6, 0.3 * n + 1.6))
    size = np.sqrt(np.clip(np.diag(found.covariance), 0.0, None))
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = found.covariance / np.outer(size, size)
    image = left.imshow(np.nan_to_num(rho), vmin=-1.0, vmax=1.0, cmap="RdBu_r")
    left.grid(False)
    if n <= 10:
        for i in range(n):
            for j in range(n):
                dark = abs(rho[i, j]) > 0.6
                left.text(
                    j,
                    i,
                    f"{rho[i, j]:.2f}",
                    ha="center",
                    va="center",
                    fontsize=6.5,
                    color="#ffffff" if dark else "#24292e",
                )
    left.set_xticks(range(n), names, rotation=60, ha="right", fontsize=7)
    left.set_yticks(range(n), names, fontsize=7)
    drawing.colorbar(image, ax=left, shrink=0.8).ax.tick_params(labelsize=7)
    errors = [100.0 * min(e.relative_error, 10.0) for e in found.estimates]
    right.barh(range(n), errors, color=[COLORS["pass"] if x < 20.0 else COLORS["fail"] for x in errors], height=0.55)
    right.set_xscale("log")
    right.xaxis.set_minor_formatter("")
    right.set_xlim(0.3 * min(errors), 3.0 * max(errors))
    right.set_yticks(range(n), names, fontsize=7)
    right.invert_yaxis()
    label(right, "standard error / value [%]")
    return drawing

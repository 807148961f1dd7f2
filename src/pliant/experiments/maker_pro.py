"""Loops of deflection over torque measured on a qbMove Maker Pro, against the law and with identified friction.

The measurements are read by eye from a figure of the draft of the plugin's first paper
(github.com/nickparnenzini/qbmove_plugin): a load of 1 kg gives +-1.5 N m at three stiffness presets. What can be
predicted is predicted, what has to be fitted is said to be fitted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.experiments.base import Context, Figure, Result, Table, Target, experiment

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "LOOPS",
    "READINGS",
    "Loss",
    "Reading",
    "branch",
    "identify_friction",
    "identify_joint",
    "maker_pro",
    "sweep",
]

PAPER = "qbMove Maker Pro, draft of the plugin's first paper (nickparnenzini/qbmove_plugin)"
PEAK = 1.5
"""Largest torque of the load [N m]."""
READING_ERROR = 0.005
"""Error of reading the figure [rad]."""
PRESETS = (0.0, 0.4602, 0.6903)
"""Stiffness presets theta_sr [rad]."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One point read from the figure."""

    preset: float
    """Stiffness preset [rad]."""
    torque: float
    """External torque [N m]."""
    rising: bool
    """Whether the torque rises at the point."""
    low: float
    """Smallest deflection that may be read there [rad]."""
    high: float
    """Largest one [rad]; the same where the figure shows a point."""

    @property
    def value(self) -> float:
        """Middle of the range [rad]."""
        return 0.5 * (self.low + self.high)

    @property
    def sigma(self) -> float:
        """Half of the range, or the reading error [rad]."""
        return max(READING_ERROR, 0.5 * (self.high - self.low))

    @property
    def text(self) -> str:
        """Preset, torque and branch."""
        tip = "" if abs(self.torque) == PEAK else ", rising" if self.rising else ", falling"
        return f"preset {self.preset:g}, {self.torque:+g} N m{tip}"


READINGS: tuple[Reading, ...] = (
    Reading(0.0, 1.5, True, 0.60, 0.60),
    Reading(0.0, -1.5, False, -0.59, -0.59),
    Reading(0.4602, 1.5, True, 0.30, 0.33),
    Reading(0.4602, -1.5, False, -0.325, -0.29),
    Reading(0.4602, 0.5, True, 0.150, 0.150),
    Reading(0.4602, 0.5, False, 0.265, 0.265),
    Reading(0.4602, -0.5, True, -0.238, -0.238),
    Reading(0.4602, -0.5, False, -0.156, -0.156),
    Reading(0.6903, 1.5, True, 0.134, 0.149),
    Reading(0.6903, -1.5, False, -0.117, -0.117),
    Reading(0.6903, 0.5, True, 0.030, 0.030),
    Reading(0.6903, 0.5, False, 0.057, 0.057),
)
"""What the figure shows."""

LOOPS: tuple[tuple[float, float, float], ...] = ((0.4602, 0.5, 0.11), (0.4602, -0.5, 0.08), (0.6903, 0.5, 0.03))
"""(preset [rad], torque [N m], width of the loop [rad]) that a friction model shall give: differences of the readings,
to a hundredth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """Losses that separate the law from the measured loops."""

    friction: float = 0.0
    """Coulomb friction of the link [N m]."""
    dead_band: float = 0.0
    """How far the motors stop short of their references [rad]: the preset in force is that much smaller, but not less
    than 0."""
    torque_offset: float = 0.0
    """Torque that the measurement shows at no load [N m]."""
    position_offset: float = 0.0
    """Deflection that the measurement shows at no deflection [rad]."""

    def preset(self, commanded: float) -> float:
        """Return the preset in force [rad]."""
        return max(0.0, commanded - self.dead_band)


def spring() -> Any:
    """Return the law of the Maker Pro with the draft's k = 0.022 N m and a = 6.85 1/rad."""
    from pliant.robots.qbmove import spring_law

    return spring_law("maker-pro")


def branch(reading: Reading, loss: Loss) -> float:
    """Return the deflection at a reading, in closed form, on a steady loop [rad].

    The spring carries the external torque less the friction, which opposes the motion:
    phi = asinh((tau -+ F) / (2 k cosh(a p))) / a.
    """
    law = spring()
    force = loss.friction if reading.rising else -loss.friction
    torque = reading.torque - loss.torque_offset - force
    scale = 2.0 * law.k1 * math.cosh(law.a1 * loss.preset(reading.preset))
    return math.asinh(torque / scale) / law.a1 + loss.position_offset


def _width(preset: float, torque: float, loss: Loss) -> float:
    rising = branch(Reading(preset, torque, True, 0.0, 0.0), loss)
    return branch(Reading(preset, torque, False, 0.0, 0.0), loss) - rising


def measured_width(preset: float, torque: float) -> float:
    """Return the width of a measured loop [rad]."""
    values = {r.rising: r.value for r in READINGS if r.preset == preset and r.torque == torque}
    return values[False] - values[True]


def identify_friction() -> Loss:
    """Return the friction alone that gives the mean width of the two loops measured at preset 0.4602."""
    from scipy.optimize import brentq

    wanted = np.mean([width for preset, _, width in LOOPS if preset == 0.4602])

    def excess(friction: float) -> float:
        loss = Loss(friction=friction)
        return float(np.mean([_width(0.4602, torque, loss) for torque in (0.5, -0.5)]) - wanted)

    return Loss(friction=float(brentq(excess, 1e-6, 1.0, xtol=1e-12)))


def identify_joint(width_weight: float = 0.0) -> tuple[Loss, NDArray[np.float64]]:
    """Return the loss fitted to all readings and to the widths of the three loops, and its standard errors.

    Args:
        width_weight: how much more a loop's width weighs than a reading; 0 fits the readings alone.

    Returns:
        (loss, errors): errors of friction, dead band, torque offset and position offset, shape (4,).
    """
    from scipy.optimize import least_squares

    def residual(x: NDArray[np.float64]) -> NDArray[np.float64]:
        loss = _loss(x)
        points = [(branch(r, loss) - r.value) / r.sigma for r in READINGS]
        factor = width_weight / (READING_ERROR * math.sqrt(0.5))
        widths = [(_width(p, t, loss) - width) * factor for p, t, width in LOOPS]
        return np.array(points + widths)

    scale = np.array([0.1, 0.05, 0.1, 0.02])
    starts = [(f, d, 0.0, 0.0) for f in (0.05, 0.2) for d in (0.0, 0.05, 0.1)]
    bounds = ([0.0, 0.0, -0.5, -0.1], [1.0, 0.4, 0.5, 0.1])
    best = min(
        (least_squares(residual, np.clip(x, *bounds), bounds=bounds, x_scale=scale, xtol=1e-14) for x in starts),
        key=lambda s: s.cost,
    )
    variance = 2.0 * best.cost / (len(READINGS) + (3 if width_weight else 0) - best.x.size)
    errors = np.sqrt(np.diag(np.linalg.inv(best.jac.T @ best.jac)) * variance)
    return _loss(best.x), errors


def _loss(x: Any) -> Loss:
    return Loss(friction=float(x[0]), dead_band=float(x[1]), torque_offset=float(x[2]), position_offset=float(x[3]))


def sweep(
    preset: float, loss: Loss, timestep: float = 1e-3, period: float = 60.0, *, every: int = 25
) -> dict[str, NDArray[np.float64]]:
    """Run a joint in the engine under a slow load and return its steady loop.

    The load rises to its peak in a quarter period, then goes through one and a quarter periods; the returned period
    begins at the peak. Motors hold their references (mode 3).

    Args:
        preset: commanded preset [rad].
        loss: friction, dead band, offsets of the measurement.
        timestep: of the simulation [s].
        period: of the load [s].
        every: steps between two samples.

    Returns:
        "torque" and "deflection" as they would be measured, shape (t,).
    """
    from pliant.engine import MujocoEngine
    from pliant.experiments.runs import drive
    from pliant.robots import build_robot

    robot = build_robot(
        "qbmove-1dof",
        {
            "springs": "maker-pro",
            "preset": loss.preset(preset),
            "load_mass": 0.0,
            "friction": loss.friction,
            "friction_stiffness": 1000.0,
            "mode": 3,
            "timestep": timestep,
        },
    )
    robot.set("option.gravity", [0.0, 0.0, 0.0])
    engine = MujocoEngine(robot)
    steps = round(1.5 * period / timestep / every) * every
    load = PEAK * np.sin(2.0 * np.pi * np.arange(steps) * timestep / period)
    traces = drive(
        engine,
        {
            "joint/external_torque": load - loss.torque_offset,
            "joint/reference_1": 0.0,
            "joint/reference_2": loss.preset(preset),
        },
        ["joint/position"],
        steps,
        every=every,
    )
    last = round(period / timestep / every)
    torque = PEAK * np.sin(2.0 * np.pi * (traces["time"] - timestep) / period)
    begin = round(0.25 * period / timestep / every)
    here = slice(begin, begin + last + 1)
    return {"torque": torque[here], "deflection": traces["joint/position"][here] + loss.position_offset}


def _read(loop: dict[str, NDArray[np.float64]], torque: float, rising: bool) -> float:
    """Return the deflection of a steady loop, which begins at the largest torque, at a torque [rad]."""
    lowest = int(np.argmin(loop["torque"]))
    part = slice(lowest, None) if rising else slice(0, lowest + 1)
    t, q = loop["torque"][part], loop["deflection"][part]
    order = np.argsort(t, kind="stable")
    return float(np.interp(torque, t[order], q[order]))


def _loop_width(loop: dict[str, NDArray[np.float64]], torque: float) -> float:
    return _read(loop, torque, False) - _read(loop, torque, True)


@experiment(
    "maker-pro",
    title="Loops measured on a qbMove Maker Pro",
    paper=PAPER,
    section="figure of deflection over torque",
)
def maker_pro(context: Context) -> Result:
    """Compare measured loops of deflection over torque with the law, and with friction identified from them."""
    alone = Loss()
    friction = identify_friction()
    joint, errors = identify_joint()
    wide, wide_errors = identify_joint(10.0)
    losses = {"friction": friction, "joint": joint, "widths": wide}
    loops = {}
    for name, loss in context.track(losses.items(), lambda item: f"loops: {item[0]}", low=0.05, high=0.7):
        loops[name] = {preset: sweep(preset, loss) for preset in PRESETS}

    expected = {0.0: 0.616, 0.4602: 0.261, 0.6903: 0.083}
    targets = [
        Target(
            f"law: deflection at 1.5 N m, preset {preset:g}",
            equals=value,
            tolerance=1e-3,
            unit="rad",
            source="asinh(tau / (2 k cosh(a p))) / a, k 0.022 N m, a 6.85 1/rad",
            note="Nothing is fitted.",
        ).measure(branch(Reading(preset, PEAK, True, 0.0, 0.0), alone))
        for preset, value in expected.items()
    ]
    targets.append(
        Target(
            "friction alone: width of the loop at preset 0.6903, 0.5 N m",
            equals=0.03,
            tolerance=READING_ERROR,
            unit="rad",
            source="figure, read by eye",
            note="Predicted: the friction is fitted to the loops at preset 0.4602 only.",
        ).measure(_loop_width(loops["friction"][0.6903], 0.5))
    )
    targets.extend(
        Target(
            f"fit to the widths: preset {preset:g}, {torque:+g} N m",
            equals=value,
            tolerance=READING_ERROR,
            unit="rad",
            source="figure, read by eye",
            note="Fitted: four numbers, to three widths and, with a tenth of the weight, twelve readings.",
        ).measure(_loop_width(loops["widths"][preset], torque))
        for preset, torque, value in LOOPS
    )
    targets.extend(
        Target(
            f"fit to the readings: {r.text}",
            equals=r.value,
            tolerance=READING_ERROR,
            unit="rad",
            source="figure, read by eye",
            note="Fitted: four numbers to twelve readings.",
        ).measure(_read(loops["joint"][0.0], r.torque, r.rising))
        for r in READINGS[:2]
    )
    closed = max(
        abs(_read(loops[name][r.preset], r.torque, r.rising) - branch(r, loss))
        for name, loss in losses.items()
        for r in READINGS
    )
    targets.append(
        Target(
            "largest difference of the simulated loops from the closed form",
            high=2e-3,
            unit="rad",
            source="statics of spring and Coulomb friction",
            note="What is left is presliding and the bearing's damping at the load's speed.",
        ).measure(closed)
    )
    model = {
        "law": [branch(r, alone) for r in READINGS],
        **{name: [_read(by[r.preset], r.torque, r.rising) for r in READINGS] for name, by in loops.items()},
    }
    rms = {
        name: float(np.sqrt(np.mean([(x - r.value) ** 2 for x, r in zip(values, READINGS)])))
        for name, values in model.items()
    }
    beyond = {
        name: [max(0.0, r.low - READING_ERROR - x, x - r.high - READING_ERROR) for x, r in zip(values, READINGS)]
        for name, values in model.items()
    }
    spans = ", ".join(f"{_loop_width(loops['joint'][p], t):.3f}" for p, t, _ in LOOPS)
    outside = int(np.count_nonzero(beyond["joint"]))
    notes = [
        f"Friction alone: {friction.friction:.3f} N m gives the mean width at preset 0.4602 and predicts that at "
        "0.6903. Equal springs and friction that does not know directions give the same width at +0.5 and -0.5 N m, so "
        "0.11 and 0.08 cannot both follow from it.",
        f"Fit to the readings: friction {joint.friction:.3f} +- {errors[0]:.3f} N m, motors that stop "
        f"{joint.dead_band:.3f} +- {errors[1]:.3f} rad short of their references. It brings the rms misfit from "
        f"{rms['law']:.3f} rad (law) to {rms['joint']:.3f} rad; {outside} of 12 readings stay beyond the reading "
        f"error, by up to {max(beyond['joint']):.3f} rad, and its loops are {spans} rad wide.",
        f"Fit to the widths: friction {wide.friction:.3f} +- {wide_errors[0]:.3f} N m, dead band "
        f"{wide.dead_band:.3f} +- {wide_errors[1]:.3f} rad, and zero errors of the measurement of "
        f"{wide.torque_offset:.3f} +- {wide_errors[2]:.3f} N m and {wide.position_offset:.3f} +- "
        f"{wide_errors[3]:.3f} rad. It has the three widths, at the price of the positions: rms {rms['widths']:.3f} "
        f"rad, up to {max(beyond['widths']):.3f} rad beyond the reading error. No single set of these four numbers "
        "gives both.",
        "The zero errors stand for whatever makes the two halves of the loops differ; the readings do not tell what "
        "it is: the weight of the link, unequal springs, or friction that depends on the direction. Nor is it in "
        "the model that the real joint softens under a large load at the stiffest preset.",
    ]
    if not context.quick:
        context.progress(0.75, "half the time step")
        half = {preset: sweep(preset, wide, 5e-4, every=50) for preset in PRESETS}
        change = max(abs(_loop_width(half[p], t) - _loop_width(loops["widths"][p], t)) for p, t, _ in LOOPS)
        notes.append(f"Half the time step changes no width by more than {1e6 * change:.1f} urad.")
    rows = [
        [
            r.text,
            f"{r.low:g}" if r.low == r.high else f"{r.low:g} to {r.high:g}",
            *(model[name][i] for name in ("law", "friction", "joint", "widths")),
        ]
        for i, r in enumerate(READINGS)
    ]
    rows.append(["rms misfit", None, *(rms[name] for name in ("law", "friction", "joint", "widths"))])
    halved = [branch(Reading(0.5 * p, PEAK, True, 0.0, 0.0), alone) for p in PRESETS[1:]]
    notes.append(
        f"If the printed preset were the difference of the motors' angles, the law would give {halved[0]:.3f} and "
        f"{halved[1]:.3f} rad at 1.5 N m, far from the readings: it is half of it, theta_sr."
    )
    tables = [
        Table(
            title="Deflections",
            columns=[
                "reading",
                "measured [rad]",
                "law [rad]",
                "friction alone [rad]",
                "fit to readings [rad]",
                "fit to widths [rad]",
            ],
            rows=rows,
            note="Law: closed form, nothing fitted. The others: steady loops of the simulation.",
        ),
        Table(
            title="Widths of the loops",
            columns=[
                "loop",
                "readings [rad]",
                "target [rad]",
                "friction alone [rad]",
                "fit to readings [rad]",
                "fit to widths [rad]",
            ],
            rows=[
                [
                    f"preset {p:g}, {t:+g} N m",
                    measured_width(p, t),
                    width,
                    *(_loop_width(loops[name][p], t) for name in ("friction", "joint", "widths")),
                ]
                for p, t, width in LOOPS
            ],
        ),
        Table(
            title="Identified",
            columns=["parameter", "friction alone", "fit to readings", "+-", "fit to widths", "+-", "unit"],
            rows=[
                [text, getattr(friction, key), getattr(joint, key), float(e), getattr(wide, key), float(w), unit]
                for (key, text, unit), e, w in zip(
                    (
                        ("friction", "friction of the link", "N m"),
                        ("dead_band", "motors stop short by", "rad"),
                        ("torque_offset", "zero error of the torque", "N m"),
                        ("position_offset", "zero error of the deflection", "rad"),
                    ),
                    errors,
                    wide_errors,
                )
            ],
            note="k = 0.022 N m and a = 6.85 1/rad are the draft's and not fitted. The standard errors take the fit's "
            "own misfit as the noise.",
        ),
    ]
    context.progress(0.9, "figures")
    return Result(
        targets=targets,
        tables=tables,
        figures=[_figure(loops, alone)],
        summary=(
            "Twelve points of measured loops of deflection over torque at three presets. The law alone is right at "
            "preset 0 and too stiff at the others. Friction fitted at one preset predicts the width of the loop at "
            "another; with motors that stop short of their references the rms misfit of the deflections falls from "
            f"{rms['law']:.3f} to {rms['joint']:.3f} rad."
        ),
        notes=notes,
        assumptions=[
            "The points are read from a printed figure by eye, to about 0.005 rad.",
            "The load moves slowly enough for statics; the draft does not say how fast.",
            "Once in place the motors do not yield to the load.",
        ],
        traces={
            f"{name}_{preset:g}_{key}": values
            for name, by_preset in loops.items()
            for preset, loop in by_preset.items()
            for key, values in (("torque_nm", loop["torque"]), ("deflection_rad", loop["deflection"]))
        },
    )


def _figure(loops: dict[str, dict[float, dict[str, NDArray[np.float64]]]], alone: Loss) -> Figure:
    from pliant.experiments.style import COLORS, INK, MUTED, label, legend, new_figure

    figure, axes = new_figure(1, 3, height=3.0, sharex=True)
    torque = np.linspace(-PEAK, PEAK, 301)
    for axis, preset in zip(axes, PRESETS):
        axis.plot(
            torque,
            [branch(Reading(preset, float(t), True, 0.0, 0.0), alone) for t in torque],
            color=MUTED,
            ls="--",
            lw=1.2,
            label="law",
        )
        for name, text, color, width in (
            ("joint", "fit to readings", COLORS["stiff"], 1.5),
            ("widths", "fit to widths", COLORS["soft"], 1.2),
        ):
            loop = loops[name][preset]
            axis.plot(loop["torque"], loop["deflection"], color=color, lw=width, label=text)
        points = [r for r in READINGS if r.preset == preset]
        axis.errorbar(
            [r.torque for r in points],
            [r.value for r in points],
            yerr=[r.sigma for r in points],
            fmt="o",
            ms=3.5,
            color=INK,
            capsize=2.5,
            lw=1.0,
            label="measured",
            zorder=5,
        )
        label(axis, "torque [N m]", "deflection [rad]" if preset == 0.0 else "", f"preset {preset:g} rad")
    legend(axes[2], loc="upper left")
    return Figure(
        name="loops",
        caption="Deflection over torque. Dots: read from the figure, with the reading error; dashed: the law alone; "
        "solid: with friction, motors that stop short, and zero errors, fitted to the dots or to the loops' widths.",
        figure=figure,
    )

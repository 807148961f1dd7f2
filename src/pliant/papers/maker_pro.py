"""Loops of deflection over torque measured on a qbMove Maker Pro, against the law and with identified friction.

The loops are those of figure 3 of the draft of the plugin's first paper (github.com/nickparnenzini/qbmove_plugin): a
weight of 1 kg is turned slowly between -1.5 and +1.5 N m at three stiffness presets, for five cycles (two at the
stiffest preset). The figure is a vector drawing, from which the curves "Real experiment" were taken point by point.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.options import option
from pliant.engine import MujocoEngine
from pliant.experiments.base import Context, Figure, Result, Statement, Table, Target, experiment
from pliant.experiments.films import Film, Shot
from pliant.experiments.panels import Line, Panel, draw
from pliant.experiments.runs import drive
from pliant.identification.loops import LoopFit, TorqueLoops, fit_loops, loop_misfits, refit_one, validate_loops
from pliant.papers._maker_pro_blocks import COMPLETE, SETS, WITHOUT, blocks_figure, blocks_statement, blocks_tables
from pliant.robots import build_robot

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pliant.base.numerics import Array
    from pliant.laws.qbmove import QbMove

PAPER = "qbMove Maker Pro, draft of the plugin's first paper (nickparnenzini/qbmove_plugin)"
PEAK = 1.5
"""Largest torque of the load [N m]. Section IV A."""
TURN = 1.47
"""Torque at which the measured loops turn [N m]: the largest of the drawing."""
PRESETS = (0.0, 0.4602, 0.6903)
"""Stiffness presets theta_sr [rad]. Figure 3."""
CLOSE = 0.1
"""Largest RMS misfit of a "very good approximation", as a fraction of the largest measured deflection: ours."""

MEASURED: Array = np.array(
    # torque [N m]; deflection [rad] at each preset, torque rising and torque falling: medians over the cycles
    [
        [-1.4, -0.5856, -0.5705, -0.3228, -0.2720, -0.1142, -0.1096],
        [-1.3, -0.5804, -0.5596, -0.3152, -0.2544, -0.1085, -0.1012],
        [-1.2, -0.5737, -0.5498, -0.3081, -0.2423, -0.1027, -0.0951],
        [-1.1, -0.5674, -0.5368, -0.3005, -0.2307, -0.0958, -0.0881],
        [-1.0, -0.5581, -0.5256, -0.2905, -0.2199, -0.0891, -0.0781],
        [-0.9, -0.5469, -0.5134, -0.2840, -0.2093, -0.0822, -0.0674],
        [-0.8, -0.5347, -0.4986, -0.2728, -0.1966, -0.0757, -0.0580],
        [-0.7, -0.5197, -0.4838, -0.2631, -0.1841, -0.0684, -0.0485],
        [-0.6, -0.4989, -0.4662, -0.2531, -0.1705, -0.0605, -0.0398],
        [-0.5, -0.4698, -0.4423, -0.2415, -0.1585, -0.0536, -0.0314],
        [-0.4, -0.4314, -0.4091, -0.2246, -0.1409, -0.0457, -0.0204],
        [-0.3, -0.3733, -0.3639, -0.1885, -0.1188, -0.0367, -0.0114],
        [-0.2, -0.2788, -0.2918, -0.1436, -0.0911, -0.0291, -0.0001],
        [-0.1, -0.1287, -0.1853, -0.0856, -0.0498, -0.0195, 0.0098],
        [0.0, 0.0488, -0.0109, 0.0016, 0.0132, -0.0007, 0.0212],
        [0.1, 0.1952, 0.1851, 0.0561, 0.0945, 0.0077, 0.0319],
        [0.2, 0.3066, 0.3177, 0.0966, 0.1655, 0.0184, 0.0419],
        [0.3, 0.3912, 0.4158, 0.1271, 0.2111, 0.0284, 0.0511],
        [0.4, 0.4428, 0.4714, 0.1467, 0.2373, 0.0396, 0.0591],
        [0.5, 0.4745, 0.5051, 0.1647, 0.2521, 0.0480, 0.0666],
        [0.6, 0.4942, 0.5269, 0.1812, 0.2694, 0.0580, 0.0733],
        [0.7, 0.5088, 0.5435, 0.1941, 0.2798, 0.0668, 0.0806],
        [0.8, 0.5233, 0.5555, 0.2076, 0.2907, 0.0752, 0.0863],
        [0.9, 0.5376, 0.5666, 0.2201, 0.3035, 0.0844, 0.0940],
        [1.0, 0.5493, 0.5757, 0.2333, 0.3099, 0.0946, 0.1000],
        [1.1, 0.5596, 0.5840, 0.2441, 0.3163, 0.1047, 0.1055],
        [1.2, 0.5700, 0.5923, 0.2570, 0.3231, 0.1170, 0.1105],
        [1.3, 0.5809, 0.5986, 0.2723, 0.3307, 0.1254, 0.1173],
        [1.4, 0.5923, 0.6084, 0.2855, 0.3384, 0.1358, 0.1266],
    ]
)
"""Measured loops, shape (29, 7). The figure has no arrows. In the order in which its simulated curves begin at the
origin, the points of the drawing run through the measured loops such that the joint dissipates energy."""
SPREAD = {0.0: 0.0039, 0.4602: 0.0057, 0.6903: 0.0025}
"""RMS difference between the cycles of a loop, by preset [rad]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MakerProOptions:
    """Assumptions of the experiment."""

    k: float = option(0.022, unit="N m", low=0.0, above=True, high=10.0, source="table I of the draft")
    """Stiffness parameter of both springs."""
    a: float = option(6.85, unit="1/rad", low=0.0, above=True, high=100.0, source="table I of the draft")
    """Exponent of both springs."""
    friction: float = option(0.01, unit="N m", low=0.0, high=10.0, source="table I of the draft; its unit is lost")
    """Dry friction of the output shaft."""


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


def measured(preset: float) -> tuple[Array, Array]:
    """Return the deflections of a measured loop with rising and with falling torque, each of shape (29,) [rad]."""
    column = 1 + 2 * PRESETS.index(preset)
    return MEASURED[:, column], MEASURED[:, column + 1]


def spring(options: MakerProOptions | None = None) -> QbMove:
    """Return the law of the Maker Pro."""
    from pliant.joints.qbmove import spring_law

    o = options or MakerProOptions()
    return dataclasses.replace(spring_law("maker-pro"), k1=o.k, k2=o.k, a1=o.a, a2=o.a)


def branch(preset: float, torque: ArrayLike, rising: bool, loss: Loss, options: MakerProOptions | None = None) -> Array:
    """Return the deflection on a branch of a steady loop, in closed form [rad].

    The spring carries the external torque less the friction, which opposes the motion:
    phi = asinh((tau -+ F) / (2 k cosh(a p))) / a.

    Args:
        preset: commanded preset [rad].
        torque: external torque, a number or an array [N m].
        rising: whether the torque rises.
        loss: friction, dead band, offsets of the measurement.
        options: of the law.
    """
    o = options or MakerProOptions()
    force = loss.friction if rising else -loss.friction
    scale = 2.0 * o.k * math.cosh(o.a * loss.preset(preset))
    return (
        np.arcsinh((np.asarray(torque, dtype=float) - loss.torque_offset - force) / scale) / o.a + loss.position_offset
    )


def misfit(preset: float, loss: Loss, options: MakerProOptions | None = None) -> Array:
    """Return closed form minus measurement on both branches, shape (58,) [rad]."""
    torque = MEASURED[:, 0]
    pairs = zip((True, False), measured(preset))
    return np.concatenate([branch(preset, torque, rising, loss, options) - q for rising, q in pairs])


def relative_misfit(preset: float, loss: Loss, options: MakerProOptions | None = None) -> float:
    """Return the RMS misfit of a loop over its largest measured deflection."""
    return float(np.sqrt(np.mean(misfit(preset, loss, options) ** 2)) / np.abs(measured(preset)).max())


def identify(presets: Sequence[float] = PRESETS, options: MakerProOptions | None = None) -> Loss:
    """Return the loss that fits the measured loops best; each loop counts by its largest deflection.

    Args:
        presets: of the loops that are used.
        options: of the law, which is not fitted.
    """
    from scipy.optimize import least_squares

    def residual(x: Array) -> Array:
        return np.concatenate([misfit(p, _loss(x), options) / np.abs(measured(p)).max() for p in presets])

    bounds = ([0.0, 0.0, -0.5, -0.1], [1.0, 0.4, 0.5, 0.1])
    starts = [(f, d, 0.0, 0.0) for f in (0.05, 0.2) for d in (0.0, 0.05, 0.1)]
    fits = (
        least_squares(residual, np.clip(x, *bounds), bounds=bounds, x_scale=[0.1, 0.05, 0.1, 0.02], xtol=1e-12)
        for x in starts
    )
    return _loss(min(fits, key=lambda s: s.cost).x)


def _loss(x: Array) -> Loss:
    return Loss(friction=float(x[0]), dead_band=float(x[1]), torque_offset=float(x[2]), position_offset=float(x[3]))


def sweep(
    preset: float,
    loss: Loss,
    timestep: float = 2e-3,
    period: float = 100.0,
    *,
    every: int = 25,
    options: MakerProOptions | None = None,
) -> dict[str, Array]:
    """Run a joint in the engine under a slow load and return its steady loop.

    The load rises to its peak in a quarter period, then goes through one and a quarter periods; the returned period
    begins at the peak. Motors hold their references (mode 3).

    Args:
        preset: commanded preset [rad].
        loss: friction, dead band, offsets of the measurement.
        timestep: of the simulation [s].
        period: of the load [s].
        every: steps between two samples.
        options: of the law.

    Returns:
        "torque" and "deflection" as they would be measured, shape (t,).
    """
    o = options or MakerProOptions()
    robot = build_robot(
        "qbmove-1dof",
        {
            "springs": "maker-pro",
            "preset": loss.preset(preset),
            "load_mass": 0.0,
            "damping": 2e-3,  # the measured motion is slow: none of its loss is viscous
            "friction": loss.friction,
            "friction_stiffness": 200.0,
            "mode": 3,
            "timestep": timestep,
        },
    )
    robot.update({"joint.k1": o.k, "joint.k2": o.k, "joint.a1": o.a, "joint.a2": o.a})
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


def read_loop(loop: dict[str, Array], rising: bool) -> Array:
    """Return the deflections of a steady loop, which begins at the largest torque, at the measured torques [rad]."""
    lowest = int(np.argmin(loop["torque"]))
    part = slice(lowest, None) if rising else slice(0, lowest + 1)
    t, q = loop["torque"][part], loop["deflection"][part]
    order = np.argsort(t, kind="stable")
    return np.interp(MEASURED[:, 0], t[order], q[order])


def _at(values: Array, torque: float) -> float:
    return float(values[int(np.argmin(np.abs(MEASURED[:, 0] - torque)))])


def width(preset: float, torque: float, loss: Loss | None, options: MakerProOptions | None = None) -> float:
    """Return the width of a loop at a torque: measured where ``loss`` is None, else in closed form [rad]."""
    if loss is None:
        rising, falling = measured(preset)
        return _at(falling, torque) - _at(rising, torque)
    return float(branch(preset, torque, False, loss, options) - branch(preset, torque, True, loss, options))


def _films(context: Context, options: MakerProOptions) -> list[Film]:
    fit = identify(options=options)
    model = build_robot("qbmove-1dof", {"springs": "maker-pro"}).compile()
    loops = {preset: sweep(preset, fit, options=options)["deflection"][::10] for preset in PRESETS}
    return [
        Film(
            name="loops",
            caption=f"The joint under a load that goes slowly from +{PEAK:g} to -{PEAK:g} N m and back, at the three "
            "stiffness presets.",
            time=np.linspace(0.0, 6.0, len(loops[PRESETS[0]])),
            shots=[
                Shot(title=f"preset {preset:g} rad", model=model, poses=deflection[:, None])
                for preset, deflection in loops.items()
            ],
            size="320x320",
            clock=False,
        )
    ]


@experiment(
    "maker-pro",
    title="Loops measured on a qbMove Maker Pro",
    paper=PAPER,
    section="figure 3",
    films=_films,
    cameras=("front",),
)
def maker_pro(context: Context, options: MakerProOptions) -> Result:
    """Compare measured loops of deflection over torque with the law, and with friction identified from them."""
    context.progress(0.02, "identification")
    fit = identify(options=options)
    left_out = {p: identify([q for q in PRESETS if q != p], options) for p in PRESETS}
    loops = {
        p: sweep(p, fit, options=options)
        for p in context.track(PRESETS, lambda p: f"loop at preset {p:g}", low=0.1, high=0.6)
    }
    context.progress(0.6, "blocks beside the law")
    fits, ablated = blocks()
    refitted = refit_one(measured_loops(), fits[COMPLETE])
    context.progress(0.7, "half the time step")
    half = sweep(PRESETS[-1], fit, 1e-3, every=50, options=options)
    result = Result(
        statements=[
            *law_statements(options),
            friction_statement(options),
            blocks_statement(fits[COMPLETE]),
            Statement(
                what="The maximum speed is 3.75 rad/s; the stiffness preset changes within the time shown.",
                where="section IV B and C, figures 4 and 5",
                found="The figures do not say which curves were recorded and which were simulated, nor the voltage.",
            ),
        ],
        targets=checks(loops, half, fit, options),
        summary=(
            "Measured loops of deflection over torque at three presets, taken from the vector drawing of the figure at "
            f"{MEASURED.shape[0]} torques on both branches. Nothing of the law is fitted: it meets the loop at preset "
            "0 and is too stiff at the others. Four further numbers, friction, motors that stop short and two zero "
            "errors, are fitted to all loops and, to see what they predict, to two loops at a time."
        ),
        notes=_notes(fit, left_out, options),
        assumptions=[
            "The load moves slowly enough for statics; the draft does not say how fast.",
            "Once in place the motors do not yield to the load.",
            "The printed preset is half the difference of the motors' angles, theta_sr. With the whole difference the "
            f"law would give {float(branch(0.5 * PRESETS[1], 1.4, True, Loss(), options)):.3f} and "
            f"{float(branch(0.5 * PRESETS[2], 1.4, True, Loss(), options)):.3f} rad at 1.4 N m for "
            f"{_at(measured(PRESETS[1])[0], 1.4):.3f} and {_at(measured(PRESETS[2])[0], 1.4):.3f} rad measured.",
        ],
    )
    result.tables = [*_tables(fit, left_out, options), *blocks_tables(fits, ablated, refitted)]
    context.progress(0.9, "figures")
    result.figures = [_figure(loops, options), blocks_figure(measured_loops(), fits[COMPLETE])]
    result.traces = {
        f"fit_{preset:g}_{key}": values
        for preset, loop in loops.items()
        for key, values in (("torque_nm", loop["torque"]), ("deflection_rad", loop["deflection"]))
    }
    return result


def measured_loops() -> TorqueLoops:
    """Return the measured loops."""
    loops = {preset: np.stack(measured(preset)) for preset in PRESETS}
    return TorqueLoops(torque=MEASURED[:, 0], turn=TURN, deflection=loops)


def blocks() -> tuple[dict[str, LoopFit], dict[str, dict[float, float]]]:
    """Fit every set of blocks to all loops and to all but one, and the complete set without each of its blocks.

    Returns:
        Name of a set -> its fits, and block -> misfits of the complete set without it, by preset.
    """
    loops = measured_loops()
    fits = {name: validate_loops(loops, free) for name, free in SETS.items()}
    ablated = {}
    for name, gone in WITHOUT.items():
        free = [parameter for parameter in SETS[COMPLETE] if parameter not in gone]
        ablated[name] = loop_misfits(loops, fit_loops(loops, free))
    return fits, ablated


def law_statements(options: MakerProOptions) -> list[Statement]:
    """Return what the draft says about its law, a statement for each measured loop."""
    out = []
    for preset in PRESETS:
        rising, falling = measured(preset)
        middle = 0.5 * (_at(rising, 1.4) + _at(falling, 1.4))
        law = float(branch(preset, 1.4, True, Loss(), options))
        share = relative_misfit(preset, Loss(), options)
        out.append(
            Statement(
                what=f"tau = k sinh(a (x - q1)) + k sinh(a (x - q2)) is a very good approximation (preset {preset:g}).",
                where="section II, table I, figure 3",
                targets=[
                    Target(f"Law alone: RMS misfit of the loop over its largest deflection, preset {preset:g}", share,
                           high=CLOSE, source="section II and figure 3; one tenth is ours")
                ],
                found=f"The law misses the loop by {100 * share:.1f} % RMS of its largest deflection. At 1.4 N m it "
                f"gives {law:.3f} rad; the middle of the measured loop is {middle:.3f} rad.",
                rests_on="How fast the load moves and how stiff the motors hold were never published; statics and "
                "rigid motors are assumed.",
            )
        )  # fmt: skip
    return out


def friction_statement(options: MakerProOptions) -> Statement:
    """Return what the draft says about friction."""
    loss = Loss(friction=options.friction)
    pairs = {p: (width(p, 0.5, loss, options), width(p, 0.5, None)) for p in PRESETS}
    return Statement(
        what="The static friction of the output shaft is 0.01.",
        where="table I",
        targets=[
            Target(f"Friction of the draft: width of the loop at 0.5 N m over the measured one, preset {preset:g}",
                   model / real, low=0.5, high=2.0, source="table I and figure 3; a factor of two is ours")
            for preset, (model, real) in pairs.items()
        ],
        found="At 0.5 N m the loops are "
        + ", ".join(f"{1e3 * real:.0f}" for _, real in pairs.values())
        + " mrad wide; this friction gives "
        + ", ".join(f"{1e3 * model:.1f}" for model, _ in pairs.values())
        + " mrad.",
        rests_on="The unit of the number, N m, is lost in the draft.",
    )  # fmt: skip


def loss_table(fit: Loss, left_out: dict[float, Loss], options: MakerProOptions) -> Table:
    """Return how well four fitted numbers describe the loops, and predict one that was left out: ours, not judged."""
    rows = [
        [f"preset {p:g}", *(100.0 * relative_misfit(p, loss, options) for loss in (Loss(), fit, left_out[p]))]
        for p in PRESETS
    ]
    return Table(
        title="Ours: RMS misfit over the largest deflection [%]",
        columns=["loop", "law alone", "losses fitted to all loops", "losses fitted to the other two loops"],
        rows=rows,
        note="The paper says nothing about losses beyond its friction; friction and motors that stop short are ours, "
        "and so are these numbers. They are not judged.",
    )


def checks(
    loops: dict[float, dict[str, Array]], half: dict[str, Array], fit: Loss, options: MakerProOptions
) -> list[Target]:
    """Return the simulation against statics, its convergence, and the direction of the measured loops."""
    torque = MEASURED[:, 0]
    closed = max(
        float(np.abs(read_loop(loop, rising) - branch(p, torque, rising, fit, options)).max())
        for p, loop in loops.items()
        for rising in (True, False)
    )
    change = max(float(np.abs(read_loop(half, r) - read_loop(loops[PRESETS[-1]], r)).max()) for r in (True, False))
    lost = min(float(np.trapezoid(measured(p)[1] - measured(p)[0], torque)) for p in PRESETS)
    return [
        Target("Simulated loops: largest difference from the closed form", closed, high=2e-3, unit="rad",
               source="ours: statics of spring and Coulomb friction",
               note="What is left is presliding and the bearing's damping at the load's speed."),
        Target("Simulated loops: largest change with half the time step", change, high=1e-4, unit="rad",
               source="ours: convergence"),
        Target("Measured loops: smallest energy that a loop dissipates", lost, low=0.0, unit="J",
               source="ours: the joint is passive"),
    ]  # fmt: skip


def _notes(fit: Loss, left_out: dict[float, Loss], options: MakerProOptions) -> list[str]:
    worst = {p: float(np.abs(misfit(p, fit, options)).max()) for p in PRESETS}
    return [
        "The cycles of a loop differ by "
        + ", ".join(f"{1e3 * s:.1f} mrad RMS (preset {p:g})" for p, s in SPREAD.items())
        + "; the misfits are larger, so they are not noise.",
        f"Fit to all loops: friction {fit.friction:.3f} N m, motors that stop {fit.dead_band:.3f} rad short, zero "
        f"errors of {1e3 * fit.torque_offset:.0f} mN m and {1e3 * fit.position_offset:.0f} mrad. Largest misfits: "
        + ", ".join(f"{1e3 * w:.0f} mrad (preset {p:g})" for p, w in worst.items())
        + ".",
        "The friction that two loops ask for is "
        + ", ".join(f"{loss.friction:.3f} N m without preset {p:g}" for p, loss in left_out.items())
        + ": the loops do not share one Coulomb friction. The loop at preset 0 is narrower, and crosses itself near "
        "zero torque, which no friction of the link does.",
        "The dead band stands for whatever makes the joint softer than its preset: motors that stop short, tendons "
        "that stretch, or a smaller a.",
    ]


def _tables(fit: Loss, left_out: dict[float, Loss], options: MakerProOptions) -> list[Table]:
    law = Loss()
    rows = []
    for torque in (-1.4, -1.0, -0.5, 0.0, 0.5, 1.0, 1.4):
        for preset in PRESETS:
            for rising, values in zip((True, False), measured(preset)):
                rows.append(
                    [
                        f"preset {preset:g}, {torque:+g} N m, {'rising' if rising else 'falling'}",
                        _at(values, torque),
                        *(float(branch(preset, torque, rising, x, options)) for x in (law, fit, left_out[preset])),
                    ]
                )
    fitted = {"all loops": fit, **{f"without preset {p:g}": loss for p, loss in left_out.items()}}
    return [
        loss_table(fit, left_out, options),
        Table(
            title="Deflections",
            columns=["point", "measured [rad]", "law [rad]", "fit to all loops [rad]", "fit to the other loops [rad]"],
            rows=rows,
        ),
        Table(
            title="Identified",
            columns=[
                "fit to",
                "friction [N m]",
                "motors stop short by [rad]",
                "torque zero [N m]",
                "deflection zero [rad]",
            ],
            rows=[[n, x.friction, x.dead_band, x.torque_offset, x.position_offset] for n, x in fitted.items()],
            note="k and a are the draft's and not fitted.",
        ),
    ]


def _figure(loops: dict[float, dict[str, Array]], options: MakerProOptions) -> Figure:
    torque = np.linspace(-PEAK, PEAK, 301)
    panels = []
    for preset in PRESETS:
        dots = [
            Line(MEASURED[:, 0], values, "o", ms=2.6, color="ink", label=None if i else "measured", zorder=5)
            for i, values in enumerate(measured(preset))
        ]
        law = Line(torque, branch(preset, torque, True, Loss(), options), color="muted", ls="--", lw=1.2, label="law")
        loop = loops[preset]
        fit = Line(loop["torque"], loop["deflection"], color="stiff", lw=1.5, label="fit to all loops", points=0)
        title, y = f"preset {preset:g} rad", "" if panels else "deflection [rad]"
        panels.append(Panel([dots, law, fit], "torque [N m]", y, title))
    panels[-1].legend = "upper left"
    caption = (
        "Deflection over torque. Dots: measured on a real joint; dashed: the law alone, nothing fitted; solid: "
        "simulated with friction, motors that stop short, and zero errors, fitted to all three loops."
    )
    return draw("loops", caption, panels, height=3.0, sharex=True)

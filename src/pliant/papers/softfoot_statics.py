"""A standing SoftFoot: what the paper says of its compliance, its stiffening and its support on an obstacle."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.base.options import option
from pliant.experiments.base import Context, Figure, Result, Statement, Table, Target, experiment
from pliant.experiments.films import Film, film_of_tracks
from pliant.experiments.panels import BESIDE, Band, Level, Line, Note, Panel, draw
from pliant.feet.press_bench import REDUCED, Standing, press, stand

if TYPE_CHECKING:
    from pliant.experiments.panels import Item

PAPER = "Crotti et al. 2024, Soft Adaptive Feet for Legged Robots, arXiv 2412.03191"
LOADS = (20.0, 50.0, 100.0, 200.0, 300.0, 500.0, 700.0, 900.0)
"""Loads of the stiffness curve [N].  # assumed"""
SHAPE_LOADS = (50.0, 500.0)
"""Loads between which the shape is compared [N].  # assumed"""
LOAD = 300.0
"""Load where one is enough [N].  # assumed"""
PLACES = (-0.066, -0.03, 0.0, 0.02, 0.05, 0.08, 0.115, 0.15)
"""Positions of a bar ahead of the ankle [m]; the first is under the heel, the seventh under the metatarsus."""
HEEL, BETWEEN, METATARSUS = -0.066, (0.02, 0.05, 0.08), 0.115
LOW_BAR = 0.01
"""Edge of that bar [m] (panel captions beside Table I: 5 mm and 10 mm)."""
PITCHES = (-2.0, 1.0, 4.0, 7.0, 10.0)
TRIAL_CENTER = {900.0: (-50.2, -27.4, 4.5, 39.1, 50.0), 300.0: (-50.8, -6.4, 56.0, 62.0, 76.0)}
"""Load [N] -> centre of pressure ahead of the ankle at each pitch [mm], in a trial with the released model."""
TRIAL_ROLL = {(300.0, 0.5): 30.6, (300.0, 1.0): 44.5, (900.0, 1.0): 22.3, (900.0, 2.0): 39.1}
"""Load [N] and roll to which the servo was sent [deg] -> centre of pressure beside the ankle [mm], in that trial."""
TRIAL_FLAT = {100.0: (95.04, 46.8, 59.2), 300.0: (94.71, 153.0, 150.5), 500.0: (94.44, 288.1, 208.3)}
"""Load [N] -> ankle height [mm], force on the heel and on the first modules [N], in that trial."""
TRIAL_PITCHES = (20.9, 21.9, 7.0, -7.2, -11.6, -13.2, -16.9, 1.2, 1.8)
"""Pitch of the modules on a bar of 20 mm at 300 N [deg], in that trial."""
TRIAL = "ours: trial with the released model"
LIMIT = "section II-A in words; the limit is ours"
STEP = {"short": 2e-3, "long": 4e-3}
"""Time steps whose equilibria are compared [s]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftFootStaticsOptions:
    """Unpublished parameters of the foot and of the ground."""

    closure_compliance: float = option(
        7.7e-6, unit="m/N", low=1e-6, high=1e-3, source="fitted to the released model; the real one is unknown"
    )
    """Compliance of the closure between frontal arch and metatarsus."""
    bar: float = option(0.02, unit="m", low=0.001, high=0.05, source="assumed")
    """Edge of the square bar across the sole."""
    bar_position: float = option(0.02, unit="m", low=-0.05, high=0.1, source="assumed")
    """Middle of the bar ahead of the ankle."""


def foot_options(context: Context, closure_compliance: float) -> dict[str, object]:
    """Return the foot of a run: exact with five chains, in the quick version one lumped chain; compliance in m/N."""
    return {"closure_compliance": closure_compliance, **(REDUCED if context.quick else {})}


def stiffness_curve(feet: list[Standing]) -> np.ndarray:
    """Return the stiffness of the sole between neighbouring loads [N/m]."""
    heights = np.array([foot.height for foot in feet])
    return np.diff(LOADS) / -np.diff(heights)


def stiffening(feet: list[Standing]) -> Statement:
    """Judge that the foot yields under a low load and stiffens as the load increases."""
    stiffness = stiffness_curve(feet)
    ratio = float(stiffness[-1] / stiffness[0])
    falls = int(np.sum(np.diff(stiffness) < 0.0))
    return Statement(
        what="The SoftFoot exhibits compliance when the load is low, and stiffens as the load increases.",
        where="section II-A",
        targets=[
            Target("Stiffness at the largest load over that at the smallest", ratio, low=2.0, source=LIMIT),
            Target("Steps of the load in which the stiffness falls", float(falls), high=0.0, source=LIMIT),
        ],
        found=f"On the bar {1e-3 * stiffness[0]:.0f} N/mm from {LOADS[0]:g} to {LOADS[1]:g} N, "
        f"{1e-3 * stiffness[-1]:.0f} N/mm from {LOADS[-2]:g} to {LOADS[-1]:g} N. The tendons carry at most "
        f"{max(foot.tendon for foot in feet):.0f} N: the foot stiffens because more modules come to bear and couplings "
        "reach their stops.",
        rests_on="The stiffness of bands, closure and ground of the prototype.",
    )


def shape(flat: Standing, on_bar: dict[float, Standing]) -> Statement:
    """Judge that the sole changes its shape with the ground and with the load."""
    ground = math.degrees(float(np.abs(np.subtract(on_bar[LOAD].pitches, flat.pitches)).max()))
    light, heavy = (on_bar[load] for load in SHAPE_LOADS)
    load = math.degrees(float(np.abs(np.subtract(heavy.pitches, light.pitches)).max()))
    return Statement(
        what="The sole changes its shape depending on the applied load and the ground profile.",
        where="section II-A",
        targets=[
            Target("Largest turn of a module from flat ground to the bar", ground, low=10.0, unit="deg", source=LIMIT),
            Target("Largest turn of a module from 50 to 500 N", load, low=2.0, unit="deg", source=LIMIT),
        ],
        found=f"Modules turn by up to {ground:.1f} deg from flat ground to the bar, and by up to {load:.1f} deg from "
        f"{SHAPE_LOADS[0]:g} to {SHAPE_LOADS[1]:g} N on it.",
        rests_on="The stiffness of the bands; the prototype's measured rotations were not published.",
    )


def support(soft: Standing, rigid: Standing) -> Statement:
    """Judge that the soft foot stands on a larger support area over an obstacle than a rigid one."""
    share = 1.0 - soft.bar / soft.force
    gain = soft.support / rigid.support
    return Statement(
        what="Over an obstacle the rigid foot has a very small contact surface and support area; the SoftFoot filters "
        "the obstacle and keeps a large one.",
        where="section IV-A, figure 10",
        targets=[
            Target("Soft foot: share of the load beside the bar", share, low=0.3, source="section IV-A; limit ours"),
            Target(
                "Length of the support, soft over rigid foot", gain, low=3.0, source="section IV-A; the limit is ours"
            ),
        ],
        found=f"Ankle kept level, {LOAD:g} N: the soft foot stands on {1e3 * soft.support:.0f} mm of its length and "
        f"carries {100 * share:.0f} % of the load beside the bar; the rigid one on {1e3 * rigid.support:.0f} mm, all "
        f"on the bar, which lifts the ankle by {1e3 * (rigid.height - soft.height):.0f} mm more under it.",
        rests_on="Size of the bars and of the rigid feet; here a plate with the outline of the SoftFoot.",
    )


def flexible(forces: dict[float, float]) -> Statement:
    """Judge that the sole is most flexible between the arches."""
    middle = max(forces[place] for place in BETWEEN)
    return Statement(
        what="The sole is most flexible between the posterior and the anterior arch.",
        where="section V-C",
        targets=[
            Target(
                "Force on a bar under the heel over that between the arches", forces[HEEL] / middle, low=1.5,
                source="section V-C; the limit is ours",
            ),
            Target(
                "Force on a bar under the metatarsus over that between the arches", forces[METATARSUS] / middle,
                low=1.5, source="section V-C; the limit is ours",
            ),
        ],
        found=f"At {LOAD:g} N a bar of {1e3 * LOW_BAR:g} mm takes {forces[HEEL]:.0f} N under the heel, at most "
        f"{middle:.0f} N between the arches and {forces[METATARSUS]:.0f} N under the metatarsus.",
        rests_on="Size and positions of the bars.",
    )  # fmt: skip


def trial_targets() -> list[Target]:
    """Compare the generated foot, with the release's own parameters, with the trial of the released model."""
    found = []
    for load, (height, heel, first) in TRIAL_FLAT.items():
        foot = stand(load, seconds=3.0, release_quirks=True)
        where = f"Flat, {load:g} N:"
        found += [
            Target(f"{where} height of the ankle", 1e3 * foot.height, equals=height, tolerance=0.02, unit="mm",
                   source=TRIAL),
            Target(f"{where} force on the heel", foot.on("heel"), equals=heel, relative=0.02, unit="N", source=TRIAL),
            Target(f"{where} force on the first modules", foot.on("phalanx_1"), equals=first, relative=0.02, unit="N",
                   source=TRIAL),
        ]  # fmt: skip
    foot = stand(LOAD, bar=(0.02, 0.02), seconds=3.0, release_quirks=True)
    gap = float(np.abs(np.degrees(foot.pitches) - TRIAL_PITCHES).max())
    found.append(Target("Bar of 20 mm: largest difference of a pitch", gap, high=0.1, unit="deg", source=TRIAL))
    return found


def rig_targets(quick: bool) -> list[Target]:
    """Compare the generated foot, with the release's own parameters, with the trial on the rig of the trial.

    Args:
        quick: whether three of the fourteen points are enough.
    """
    pitches = [(load, k) for load in TRIAL_CENTER for k in range(len(PITCHES))]
    turns = list(TRIAL_ROLL)
    if quick:
        pitches, turns = [(900.0, 1), (900.0, 3)], [(900.0, 1.0)]
    rig: dict[str, Any] = {"seconds": 2.0, "release_quirks": True}
    ahead = [
        1e3 * stand(load, servo=("pitch", math.radians(PITCHES[k])), **rig).center - TRIAL_CENTER[load][k]
        for load, k in pitches
    ]
    beside = [
        1e3 * stand(load, servo=("roll", math.radians(roll)), **rig).side / TRIAL_ROLL[load, roll] - 1.0
        for load, roll in turns
    ]
    return [
        Target("Rig of the trial, pitch: largest difference of the centre of pressure", float(np.abs(ahead).max()),
               high=0.7, unit="mm", source=TRIAL),
        Target("Rig of the trial, roll: largest relative difference of the centre of pressure",
               float(np.abs(beside).max()), high=0.02, source=TRIAL),
    ]  # fmt: skip


def centers(**foot: object) -> np.ndarray:
    """Return the centre of pressure ahead of the ankle over the sweep of loads and pitches [mm]."""
    return np.array(
        [
            [
                1e3 * stand(load, pitch=math.radians(pitch), forward=True, seconds=2.0, **foot).center
                for pitch in PITCHES
            ]
            for load in TRIAL_CENTER
        ]
    )


def center_targets(exact: np.ndarray, reduced: np.ndarray) -> list[Target]:
    """Compare the centre of pressure with the trial, and the reduced foot with the one of this run."""
    trial = np.array(list(TRIAL_CENTER.values()))
    return [
        Target(
            "Pitch sweep: largest difference of the centre of pressure", float(np.abs(exact - trial).max()), high=5.0,
            unit="mm", source=TRIAL, note="With a fixed pitch and the closure of this run; the servo of the trial gave "
            "way, see the rig of the trial.",
        ),
        Target(
            "Reduced foot: largest difference of the centre of pressure", float(np.abs(reduced - exact).max()),
            high=5.0, unit="mm", source="ours: one lumped chain of midpoint hinges against the foot of this run",
        ),
    ]  # fmt: skip


def consistency_targets(short: Standing, long: Standing) -> list[Target]:
    """Check the balance of forces, and the equilibria of two time steps."""
    rest = abs(short.force - LOAD - short.weight)
    gap = 1e3 * abs(short.height - long.height)
    return [
        Target("Force of the ground less load and weight", rest, high=0.01, unit="N", source="ours: balance"),
        Target(
            f"Height with steps of {1e3 * STEP['short']:g} and {1e3 * STEP['long']:g} ms", gap, high=1e-3, unit="mm",
            source="ours: equilibria do not depend on the step",
        ),
    ]  # fmt: skip


def steps_compared(foot: dict[str, object], bar: tuple[float, float]) -> list[Target]:
    """Return the checks of one foot with two time steps."""
    return consistency_targets(*(stand(LOAD, bar=bar, timestep=STEP[k], **foot) for k in ("short", "long")))


def _films(context: Context, options: SoftFootStaticsOptions) -> list[Film]:
    bar = (options.bar, options.bar_position)
    foot = {"closure_compliance": options.closure_compliance}
    return [
        film_of_tracks(
            {"SoftFoot": press(LOAD, bar=bar, **foot), "rigid plate": press(LOAD, bar=bar, rigid=True)},
            name="bar",
            caption=f"A SoftFoot and a rigid plate of its outline are pressed on a bar of {1e3 * options.bar:g} mm "
            f"with up to {LOAD:g} N: the SoftFoot bends around it.",
            camera="side",
            size="480x360",
        )
    ]


@experiment(
    "softfoot-statics",
    title="The SoftFoot under a load",
    paper=PAPER,
    section="II-A, IV-A and V-C in words",
    films=_films,
    cameras=("side",),
)
def softfoot_statics(context: Context, options: SoftFootStaticsOptions) -> Result:
    """Press a SoftFoot on flat ground and on bars: stiffening, shape, support, and the centre of pressure."""
    foot = foot_options(context, options.closure_compliance)
    bar = (options.bar, options.bar_position)
    on_bar = {
        load: stand(load, bar=bar, **foot)
        for load in context.track(sorted({*LOADS, *SHAPE_LOADS, LOAD}), lambda x: f"{x:g} N", high=0.25)
    }
    curve = [on_bar[load] for load in LOADS]
    flat = stand(LOAD, **foot)
    flats = [stand(load, **foot) for load in LOADS]
    rigid = stand(LOAD, bar=bar, rigid=True)
    forces = {
        place: stand(LOAD, bar=(LOW_BAR, place), **foot).bar
        for place in context.track(PLACES, lambda x: f"bar at {1e3 * x:g} mm", low=0.25, high=0.45)
    }
    context.progress(0.5, "trial with the released model")
    targets = [*trial_targets(), *rig_targets(context.quick)]
    context.progress(0.7, "centre of pressure")
    exact = centers(**foot)
    reference = exact if not context.quick else centers(**{**foot, "coupling": "exact"})
    reduced = exact if context.quick else centers(**{**REDUCED, "closure_compliance": options.closure_compliance})
    targets += center_targets(reference, reduced)
    targets += steps_compared(foot, bar)
    stiffness = stiffness_curve(curve)
    rows = [
        [load, round(1e3 * f.height, 3), None if i == 0 else round(1e-3 * stiffness[i - 1], 1), round(f.bar, 1),
         round(f.on("heel"), 1), round(f.force - f.bar - f.on("heel"), 1), round(f.tendon, 1)]
        for i, (load, f) in enumerate(zip(LOADS, curve, strict=True))
    ]  # fmt: skip
    return Result(
        summary="The foot, its ankle kept level on a vertical slide, is pressed on flat ground and on bars across the "
        "sole, and its ankle is pitched under two loads. Forces, heights and shapes are those at rest.",
        statements=[stiffening(curve), shape(flat, on_bar), support(on_bar[LOAD], rigid), flexible(forces)],
        targets=targets,
        tables=[
            Table(
                title=f"On a bar of {1e3 * options.bar:g} mm, {1e3 * options.bar_position:g} mm ahead of the ankle",
                columns=["load [N]", "ankle [mm]", "stiffness from the load before [N/mm]", "bar [N]", "heel [N]",
                         "rest of the ground [N]", "tendons [N]"],
                rows=rows,
            ),
            Table(
                title="Centre of pressure ahead of the ankle [mm]",
                columns=["load [N]", "", *(f"{pitch:g} deg" for pitch in PITCHES)],
                rows=[
                    [load, what, *(round(float(x), 1) for x in values)]
                    for i, (load, trial) in enumerate(TRIAL_CENTER.items())
                    for what, values in (("trial", trial), ("this run", reference[i]), ("reduced", reduced[i]))
                ],
            ),
        ],
        figures=[
            _figure_stiffness(curve, flats, bar),
            _figure_shape(flat, on_bar),
            _figure_places(forces),
            _figure_centers(reference, reduced),
        ],
        assumptions=[
            f"Loads of {LOADS[0]:g} to {LOADS[-1]:g} N, and where the bars lie: the paper names none.",
            f"The closure of the arches has the compliance {options.closure_compliance:g} m/N, fitted to the released "
            "model. That of the prototype was never published; standing stiffness rests on it.",
        ],
        notes=["Quick version: one lumped chain of midpoint hinges."] if context.quick else [],
        traces={
            "load_N": np.array(LOADS),
            "height_on_bar_m": np.array([f.height for f in curve]),
            "height_flat_m": np.array([f.height for f in flats]),
            "center_of_pressure_mm": reference,
        },
    )  # fmt: skip


def _figure_stiffness(curve: list[Standing], flats: list[Standing], bar: tuple[float, float]) -> Figure:
    middles = [0.5 * (a + b) for a, b in itertools.pairwise(LOADS)]
    left, right = [], []
    for feet, name, color in ((curve, f"bar of {1e3 * bar[0]:g} mm", 1), (flats, "flat ground", 0)):
        style = {"markersize": 3.5, "color": color, "label": name}
        left.append(Line([1e3 * foot.height for foot in feet], LOADS, "o-", **style))
        right.append(Line(middles, 1e-3 * stiffness_curve(feet), "o-", **style))
    ticks = [10, 20, 50, 100, 200, 500, 1000]
    rulers = {"log": "y", "yticks": (ticks, [str(tick) for tick in ticks])}
    panels = [
        Panel(left, "height of the ankle [mm]", "load [N]", "Load over height", legend="best"),
        Panel(right, "load [N]", "stiffness [N/mm]", "Stiffness over load", **rulers),
    ]
    caption = (
        "The foot stiffens as the load increases. On the bar it yields by millimetres under a light load, because only "
        "bands bend; flat ground is stiff at once."
    )
    return draw("stiffening", caption, panels, height=2.8)


def figure_of_soles(pitches: dict[str, tuple[object, dict[str, object]]], caption: str, height: float = 2.8) -> Figure:
    """Return a figure of the pitches of the modules of soles: label -> pitches [rad] and style."""
    items = []
    for text, (values, style) in pitches.items():
        index = np.arange(1, len(values) + 1)
        items.append(
            Line(index, np.degrees(values), style.get("form", "o-"), markersize=4, label=text, color=style["color"])
        )
    modules = (index, ["1", "2", "3", "4", "5", "reverse", "meta-\ntarsus", "toe", "tip"])
    panel = Panel(items, "module, from the heel", "pitch, toe end up [deg]", legend=BESIDE, xticks=modules)
    return draw("shape", caption, [panel], height=height, width=6.4)


def _figure_shape(flat: Standing, on_bar: dict[float, Standing]) -> Figure:
    loads = (*SHAPE_LOADS[:1], LOAD, *SHAPE_LOADS[1:])
    soles = {f"bar, {load:g} N": (on_bar[load].pitches, {"color": k}) for k, load in enumerate(loads)}
    caption = (
        "Shape of the sole: the pitch of its modules. The sole lies flat on flat ground and wraps around the bar, "
        "which is under the fourth module."
    )
    return figure_of_soles({"flat, 300 N": (flat.pitches, {"color": "muted", "form": "s-"}), **soles}, caption)


def _figure_places(forces: dict[float, float]) -> Figure:
    items = [
        Band(1e3 * min(BETWEEN), 1e3 * max(BETWEEN), color=2),
        Note(1e3 * float(np.mean(BETWEEN)), 0.9 * max(forces.values()), "between the arches", color="ink", ha="center"),
        Line([1e3 * x for x in forces], list(forces.values()), "o-", color=0, markersize=4),
    ]
    panel = Panel(items, "bar ahead of the ankle [mm]", "force on the bar [N]", ylim=(0.0, None))
    caption = (
        f"Force on a bar of {1e3 * LOW_BAR:g} mm at {LOAD:g} N, where it lies. Between the arches the sole gives way; "
        "under the heel and the metatarsus the bar meets the arches."
    )
    return draw("places", caption, [panel], height=2.5, width=6.4)


def _figure_centers(exact: np.ndarray, reduced: np.ndarray) -> Figure:
    items: list[Item] = [Level(0.0, color="0.6", linewidth=0.6)]
    for i, (load, trial) in enumerate(TRIAL_CENTER.items()):
        items.append(Line(PITCHES, trial, "x", color=i, markersize=7, label=f"{load:g} N, trial"))
        items.append(Line(PITCHES, exact[i], "-", color=i, label=f"{load:g} N, this run"))
        items.append(Line(PITCHES, reduced[i], "--", color=i, linewidth=1.0, label=f"{load:g} N, reduced"))
    panel = Panel(
        items, "pitch of the ankle, toes down [deg]", "centre of pressure\nahead of the ankle [mm]", legend=BESIDE
    )
    caption = (
        "Centre of pressure over the pitch of the ankle. At zero pitch it lies behind the ankle: a robot stands with "
        "its ankle behind that of the foot, or with the foot pitched forward."
    )
    return draw("center_of_pressure", caption, [panel], height=2.8, width=6.4)

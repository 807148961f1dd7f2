"""Standing on obstacles and drops: the SoftFoot against a rigid foot and a compliant pad of the same footprint.

Piazza et al. 2024 (arXiv 2401.05318) compare three feet by the equivalent support surface, by the angle with which the
ankle must compensate, and by the rejection of impulses. The definitions here are ours, as the numbers and the set-up of
that paper are not at hand:

* A foot carries a load on its free ankle, over flat ground and over a bar across. The *support* is the distance along
  the foot between the points behind and ahead of which 1 % of the ground's force acts. The *compensating angle* is the
  pitch that the foot takes on the bar, less that on flat ground.
  The support of the pad depends on its stiffness, which is ours; pads of a third and of three times of it stand, too.
* A foot with a payload on its locked ankle falls on flat ground or on a bar. Its *impact* is the largest acceleration
  of the payload, in units of gravity.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pliant.experiments.base import Context, Figure, Result, Statement, Table, Target, experiment
from pliant.experiments.films import Film, film_of_tracks
from pliant.experiments.panels import Line, Panel, draw
from pliant.experiments.pictures import frames
from pliant.feet.standing_bench import FEET, NAMES, Standing, StandingOptions, drop, press, scene, stand

if TYPE_CHECKING:
    from numpy.typing import NDArray

PAPER = "Piazza et al. 2024, arXiv 2401.05318"
_RESTS = "Loads, obstacles, the compliant foot and the definitions are ours: those of the paper are not at hand."
MARGIN = 1.1
"""Factor by which a support must be larger, and an angle smaller, to count: the definitions are ours."""
PADS = (1.0 / 3.0, 3.0)
"""Stiffnesses of further pads that the SoftFoot is compared with, over `StandingOptions.pad_stiffness`."""


def standing_statements(
    found: dict[str, Standing], pads: dict[float, NDArray], bars: Sequence[tuple[float, float]], rows: Sequence[int]
) -> list[Statement]:
    """Judge support and compensating angle.

    Args:
        found: the three feet on the bars.
        pads: support of compliant feet on some of the bars [m], by the stiffness of the pad [N/m].
        bars: height and position of the bars [m]; the first is flat ground.
        rows: those of the pads.
    """
    support = {kind: 1e3 * float(s.length[1:].mean()) for kind, s in found.items()}
    angles = {kind: np.degrees(np.abs(s.pitch[1:] - s.pitch[0])) for kind, s in found.items()}
    tops = np.array([top for top, _ in bars[1:]])
    heights = [float(top) for top in np.unique(tops)]
    on = {top: {kind: values[tops == top] for kind, values in angles.items()} for top in heights}
    own = float(found["soft"].length[list(rows)].mean())
    ratio = {stiffness: own / float(lengths.mean()) for stiffness, lengths in sorted(pads.items())}
    less = int(np.sum(angles["soft"] < angles["rigid"]))
    above = "abstract; the margin is ours"
    return [
        Statement(
            what="The SoftFoot has a larger equivalent support surface than a rigid foot when standing on obstacles.",
            where="abstract",
            targets=[
                Target("Support: SoftFoot over rigid foot", support["soft"] / support["rigid"], low=MARGIN,
                       source=above),
            ],
            found="Mean over all bars: " + _list({k: f"{support[k]:.0f} mm" for k in ("soft", "rigid")}) + ".",
            rests_on=_RESTS,
        ),
        Statement(
            what="The SoftFoot has a larger equivalent support surface than a compliant foot when standing on "
            "obstacles.",
            where="abstract",
            targets=[
                Target("Support: SoftFoot over compliant pad, least of the stiffnesses", min(ratio.values()),
                       low=MARGIN, source=above),
            ],
            found="It depends on the stiffness of the pad, which is ours: mean support of the SoftFoot over that of a "
            "pad of " + ", ".join(f"{1e-3 * k:.3g} N/mm {r:.2f}" for k, r in ratio.items()) + ".",
            rests_on=_RESTS,
        ),
        Statement(
            what="On an obstacle the SoftFoot needs a smaller compensating angle of the ankle than a rigid foot.",
            where="section on the standing tests",
            targets=[
                Target(f"Compensating angle, bar of {1e3 * top:g} mm: SoftFoot over rigid foot, {name}",
                       float(of(values["soft"]) / of(values["rigid"])), high=1.0 / MARGIN,
                       source="standing tests; the margin is ours")
                for top, values in on.items() for name, of in (("mean", np.mean), ("largest", np.max))
            ],
            found="Mean and largest angle: " + "; ".join(
                f"bar of {1e3 * top:g} mm " + _list(
                    {k: f"{values[k].mean():.2f} and {values[k].max():.2f} deg" for k in ("soft", "rigid")})
                for top, values in on.items()
            ) + f". At {less} of {len(tops)} places of the bars the SoftFoot turns less.",
            rests_on=_RESTS,
        ),
    ]  # fmt: skip


def drop_statement(impacts: dict[str, NDArray]) -> Statement:
    """Judge the absorption of impulses."""
    mean = {kind: float(values.mean()) for kind, values in impacts.items()}
    share = (mean["rigid"] - mean["soft"]) / (mean["rigid"] - mean["compliant"])
    return Statement(
        what="The SoftFoot absorbs impulsive loads almost as well as a compliant foot.",
        where="abstract",
        targets=[
            Target("Drops: impact of the SoftFoot over that of the rigid foot", mean["soft"] / mean["rigid"], high=1.0,
                   source="abstract"),
            Target("Drops: what the SoftFoot takes off the rigid foot's impact, as a share of what the pad takes off",
                   share, low=0.8, source='abstract: "almost as good"; the share is ours'),
        ],
        found="Mean largest acceleration of the payload: " + _list({k: f"{v:.1f} g" for k, v in mean.items()})
        + f". The SoftFoot takes off {100 * share:.0f} % of what the pad takes off.",
        rests_on=_RESTS,
    )  # fmt: skip


def _list(values: dict[str, str]) -> str:
    return ", ".join(f"{text} ({NAMES[kind]})" for kind, text in values.items())


def checks(found: dict[str, Standing], options: StandingOptions) -> list[Target]:
    """Return checks: vertical balance, moments about the ankle, and the rigid foot's angle by geometry."""
    return [
        *(
            Target(f"Balance on bars, {NAMES[kind]}: ground against load and weight", s.balance, high=0.01, unit="N",
                   source="ours: sum of the vertical forces at rest")
            for kind, s in found.items()
        ),
        *(
            Target(f"Moments on bars, {NAMES[kind]}: ground against weight, about the ankle", s.moment, high=0.005,
                   unit="N m", source="ours: sum of the moments about the ankle at rest")
            for kind, s in found.items()
        ),
    ]  # fmt: skip


def rigid_angle_check(options: StandingOptions) -> Target:
    """Return the check of the rigid foot: it tilts as a straight line over the bar's edge."""
    top, x = options.heights[-1], 0.08
    found = stand("rigid", [(0.0, x), (top, x)], options)
    # Heel edge on the ground, sole on the bar's near upper edge: sin(a) d = h, in the ground's frame.
    edge = x - 0.5 * options.bar_length
    measured = float(found.pitch[0] - found.pitch[1])
    heel = float(found.support[1, 0])
    expected = math.atan2(top, edge - heel)
    return Target("Rigid foot: angle on a bar against geometry", math.degrees(measured), equals=math.degrees(expected),
                  tolerance=0.1, unit="deg", source="ours: a line from the heel's edge to the bar's edge")  # fmt: skip


def _plot(bars: list[tuple[float, float]], found: dict[str, Standing], options: StandingOptions) -> Figure:
    above, below = [], []
    for j, height in enumerate(options.heights):
        rows = [i for i, (top, _) in enumerate(bars) if top == height]
        x = [1e3 * bars[i][1] for i in rows]
        support, angles = [], []
        for k, (kind, s) in enumerate(found.items()):
            style = {"color": k, "markersize": 3.0, "label": NAMES[kind]}
            support.append(Line(x, 1e3 * s.length[rows], "o-", **style))
            angles.append(Line(x, np.degrees(s.pitch - s.pitch[0])[rows], "o-", **style))
        limits = {"ylim": (0.0, 280.0)} if j == 0 else {}
        above.append(Panel(support, "", "support [mm]", f"bar of {1e3 * height:g} mm", **limits))
        below.append(Panel(angles, "bar ahead of the ankle [mm]", "compensating angle [deg]"))
    caption = (
        "Standing on a bar. Above, the length over which a foot is supported; below, the pitch that it takes on the "
        "bar (toes down positive), less that on flat ground."
    )
    shared = {"sharex": True, "sharey": "row"}
    return draw("standing", caption, [*above, *below], rows=2, legend=0, height=2.0, **shared)


def _drop_plot(drops: list[tuple[float, float, float]], impacts: dict[str, NDArray]) -> Figure:
    width, index = 0.8 / len(impacts), np.arange(len(drops))
    items = [
        Line(index + (k - 1) * width, values, kind="bar", width=0.92 * width, color=k, label=NAMES[kind])
        for k, (kind, values) in enumerate(impacts.items())
    ]
    names = [f"{1e3 * fall:g} mm\n{'flat' if top == 0.0 else f'bar at {1e3 * x:g} mm'}" for fall, top, x in drops]
    panel = Panel(items, "height of the fall, ground", "impact [g]", xticks=(index, names))
    caption = "Impact of a drop. Largest acceleration of the payload, by height of the fall and ground."
    return draw("drops", caption, [panel], legend=0, height=2.4)


def _films(context: Context, options: StandingOptions) -> list[Film]:
    bar = (options.heights[-1], 0.09)
    return [
        film_of_tracks(
            {NAMES[kind]: press(kind, options, bar) for kind in FEET},
            name="standing",
            caption=f"The feet are loaded with up to {options.load:g} N on a bar of {1e3 * bar[0]:g} mm; the ankle is "
            "free to turn.",
            camera="side",
            size="480x320",
            speed=0.5,
        )
    ]


@experiment(
    "softfoot-standing",
    title="SoftFoot, rigid foot and compliant pad: standing and drops",
    paper=PAPER,
    section="standing tests and impacts",
    films=_films,
    cameras=("side",),
)
def softfoot_standing(context: Context, options: StandingOptions) -> Result:
    """Put a SoftFoot, a rigid foot and a compliant pad on bars, and drop them."""
    places = np.linspace(-0.03, 0.13, 3 if context.quick else 17)
    bars = [(0.0, 0.0), *((height, float(x)) for height in options.heights for x in places)]
    found = {}
    for kind in context.track(FEET, lambda k: f"{NAMES[k]} stands", low=0.0, high=0.6):
        found[kind] = stand(kind, bars, options, seconds=3.0 if context.quick else 8.0)
    # Further pads stand on fewer bars: on every second one, in the quick version on those of the first height.
    rows = range(1, 1 + len(places)) if context.quick else range(1, len(bars), 2)
    pads = {options.pad_stiffness: found["compliant"].length[list(rows)]}
    for factor in context.track(PADS, "further pads", low=0.6, high=0.75):
        other = dataclasses.replace(options, pad_stiffness=factor * options.pad_stiffness)
        pads[other.pad_stiffness] = stand("compliant", [bars[i] for i in rows], other).length
    drops = [(fall, 0.0, 0.0) for fall in options.drop_heights]
    drops += [(options.drop_heights[-1], options.heights[-1], x) for x in (-0.06, 0.02, 0.08)]
    impacts = {
        kind: drop(kind, drops, options, pitch=float(found[kind].pitch[0]))
        for kind in context.track(FEET, "drops", low=0.75, high=0.9)
    }
    result = Result(
        summary="Three feet of equal footprint, mass and height stand on a bar that is moved along the sole, with a "
        "free ankle, and fall with a payload, at the pitch at which they stand on flat ground. The statements are "
        "those of Piazza et al. 2024; all numbers are ours.",
        statements=[*standing_statements(found, pads, bars, rows), drop_statement(impacts)],
        targets=[*checks(found, options), rigid_angle_check(options)],
        assumptions=[_RESTS],
    )
    rows = []
    for kind, s in found.items():
        for height in options.heights:
            chosen = [i for i, (top, _) in enumerate(bars) if top == height]
            angle = np.degrees(np.abs(s.pitch - s.pitch[0]))[chosen]
            rows.append([NAMES[kind], 1e3 * height, 1e3 * s.length[chosen].mean(), angle.mean(), angle.max()])
    result.tables += [
        Table(
            title="Standing",
            columns=["foot", "bar [mm]", "mean support [mm]", "mean angle [deg]", "largest angle [deg]"],
            rows=rows,
            note=f"Mean over {len(places)} positions of the bar from -30 to 130 mm ahead of the ankle.",
        ),
        Table(
            title="Impact of drops [g]",
            columns=["fall [mm]", "bar [mm]", "bar at [mm]", *(NAMES[k] for k in FEET)],
            rows=[
                [1e3 * a, 1e3 * b, 1e3 * x if b else None, *(float(impacts[k][i]) for k in FEET)]
                for i, (a, b, x) in enumerate(drops)
            ],
            note="Largest acceleration of the payload.",
        ),
    ]
    picture = "" if context.quick else _picture(bars, found, options)
    if isinstance(picture, Figure):
        result.figures.append(picture)
    result.figures += [_plot(bars, found, options), _drop_plot(drops, impacts)]
    context.progress(1.0)
    return result


def _picture(bars: list[tuple[float, float]], found: dict[str, Standing], options: StandingOptions) -> Figure | str:
    """Return a picture of the three feet on the highest bar, or the reason why nothing can be rendered."""
    wanted = [i for i, (top, _) in enumerate(bars) if top == options.heights[-1]]
    wanted = [wanted[len(wanted) // 4], wanted[3 * len(wanted) // 4]]
    view = {"camera": "side", "width": 560, "height": 330}
    scenes = ((scene(kind, options, bars[i]), [s.poses[i]], view) for kind, s in found.items() for i in wanted)
    caption = f"The feet on a bar of {1e3 * options.heights[-1]:g} mm. SoftFoot, rigid foot and compliant pad."
    columns = [f"bar at {1e3 * bars[i][1]:.0f} mm" for i in wanted]
    return frames("feet", caption, scenes, [NAMES[k] for k in found], columns)

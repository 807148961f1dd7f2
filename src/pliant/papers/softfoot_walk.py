"""A robot walks over bars with rigid and with soft feet, many seeds of each (Crotti et al. 2024, section IV)."""

from __future__ import annotations

import dataclasses
import itertools
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Literal

import numpy as np

from pliant.base.numerics import holm
from pliant.base.options import option
from pliant.experiments.base import Context, Figure, Result, Statement, Table, Target, experiment
from pliant.experiments.films import Film, Shot
from pliant.experiments.panels import Line, Panel, draw
from pliant.papers._softfoot_walk_pictures import FEET, crossing, pictures
from pliant.robots import build_robot
from pliant.walking.trials import COURSES, Crossing, Rate, Walk, fisher, fisher_stratified, mcnemar, walk_many

PAPER = "Crotti et al. 2024, arXiv 2412.03191"
LIKELY = (0.005, 0.010)
"""Sizes of the paper's obstacles, likely: the numbers are lost, these two stand beside another figure [m]."""
ANKLE_HEIGHT = 0.020
"""Height of the bar over which the stiffness of the ankles is varied, and of pictures and films [m]: ours."""
ANKLE_SHARES = (0.0, 0.25, 0.5)
"""Stiffnesses of the ankles at which a full run repeats the walks over that bar, as fractions of the robot's own."""
SOMETIMES = (0.05, 0.95)
"""Rates that count as "sometimes"; below it is "always falls", above it "always passes": ours."""
GENERALLY = 0.9
"""Rate that counts as "generally": ours."""
FULL_WALK = ((0.25, 1.15), 1.45, 15.0)
"""Range of the bar [m], goal [m] and longest duration [s] of a walk of the biped."""
QUICK_WALK = ((0.25, 0.6), 0.95, 10.0)
"""Those of the quick version."""
ASSUMED = (
    "Robot and controller are not those of the paper (COMAN+ under a whole-body predictive control), whose models are "
    "not public; the stiffness of its ankles, sizes and positions of its obstacles are lost."
)

MIN_SEEDS = 20
"""Fewest walks of a cell from which the feet are compared: with fewer, no difference is significant."""
SETTINGS: dict[str, Mapping[str, object]] = {"rigid": {}, "soft": {}}
"""Feet -> options of the robot that differ from its defaults: none, the controller is the same."""

Walks = Mapping[Walk, Crossing]
Ankles = Mapping[float, Mapping[str, Rate]]
"""Completed walks over the bar of the ankles: stiffness [N m/rad] -> feet -> rate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftFootWalkOptions:
    """Options of the experiment."""

    SCOPE: ClassVar = ("robot", "seeds", "sizes", "heights")
    robot: Literal["biped", "g1", "talos"] = option("biped", source="ours; COMAN+ is not public")
    """The robot that walks. g1 and talos need example-robot-data. Their way, the time of a walk and the pushes are
    scaled from the biped's with mass and height; the bars are not."""
    seeds: int = option(100, low=1, high=10000, source="ours")
    """Walks of each cell; the quick version takes 2, and 1 on flat ground."""
    sizes: tuple[float, ...] = option(LIKELY, unit="m", low=0.001, high=0.1, source="likely; the paper's are lost")
    """Heights of the square bars at which all statements about "both sizes" are judged."""
    heights: tuple[float, ...] = option(
        (0.005, 0.010, 0.015, 0.020, 0.025, 0.030), unit="m", low=0.001, high=0.1, source="ours"
    )
    """Heights of the square bars that are walked beside them."""
    push: float = option(2.0, unit="N s", low=0.0, high=50.0, source="ours")
    """Largest push on the torso of a walk of the biped: a variation. With 4 N s, about 3 of 100 walks fall on flat
    ground. Other robots are pushed in proportion to mass times speed: 1.16 times as much (g1), 3.6 times (talos)."""
    ankle_stiffness: float | None = option(None, unit="N m/rad", low=0.0, high=5000.0, source="ours")
    """Impedance that keeps loaded feet level; none: that of the robot, 100 for the biped, 124 for g1, 444 for talos. A
    full run without this option also walks with 0, 25 and 50 % of it over 20 mm."""


def cells(options: SoftFootWalkOptions, quick: bool) -> list[Walk]:
    """Return all walks, the flat ground first, then the judged sizes, the seeds of one height together."""
    sizes = sorted(set(options.sizes))
    heights = [*sizes, *sorted(set(options.heights) - set(sizes))]
    if quick:
        heights = sizes[-1:]
    found = []
    for height in (0.0, *heights):
        count = (2 if height else 1) if quick else options.seeds
        found += _cell(options, height, min(count, options.seeds), options.ankle_stiffness, quick)
    if not quick and options.ankle_stiffness is None:
        own = COURSES[options.robot].ankle_stiffness
        for share in ANKLE_SHARES:
            found += _cell(options, ANKLE_HEIGHT, options.seeds, share * own, quick)
        if ANKLE_HEIGHT not in heights:
            found += _cell(options, ANKLE_HEIGHT, options.seeds, own, quick)
    return found


def _cell(
    options: SoftFootWalkOptions, height: float, count: int, ankle_stiffness: float | None, quick: bool
) -> list[Walk]:
    course = COURSES[options.robot]
    (low, high), goal, duration = QUICK_WALK if quick else FULL_WALK
    return [
        Walk(
            robot=options.robot,
            feet=feet,
            height=height,
            seed=seed,
            goal=goal * course.length,
            duration=duration * math.sqrt(course.length),
            bar_range=(low * course.length, high * course.length),
            push=options.push * course.impulse,
            ankle_stiffness=ankle_stiffness,
        )
        for seed in range(count)
        for feet in FEET
    ]


def simulate(context: Context, options: SoftFootWalkOptions, walks: Sequence[Walk]) -> Walks:
    """Run the walks; those of an interrupted run in the same folder are not run again."""
    return walk_many(
        walks,
        settings=SETTINGS,
        file=None if context.quick else context.output / "walks.jsonl",
        executor=context.executor,
        progress=lambda fraction, text: context.progress(0.95 * fraction, text),
    )


def select(walks: Walks, feet: str, height: float) -> list[Crossing]:
    """Return the walks of a cell, by their seeds."""
    chosen = sorted((w.seed, w) for w in walks if w.feet == feet and abs(w.height - height) < 1e-9)
    return [walks[w] for _, w in chosen]


def rate(walks: Walks, feet: str, height: float) -> Rate:
    """Return how many walks of a cell were completed."""
    found = select(walks, feet, height)
    return Rate(successes=sum(c.result.completed for c in found), trials=len(found))


def settings_that_differ(robot: str = "biped") -> list[str]:
    """Return which settings of a robot's controller are not the same for both feet."""
    from pliant.walking.device import WalkingDescription

    found = []
    for feet in FEET:
        given = {"feet": feet, "controller": "walking", "actuation": "torque", **SETTINGS[feet]}
        built = build_robot(robot, given)
        found.append(next(d for d in built.devices if isinstance(d, WalkingDescription)))
    one, two = ({**{f.name: getattr(d, f.name) for f in dataclasses.fields(d)}, **_settings(d.settings)} for d in found)
    return sorted(name for name in one if name != "settings" and one[name] != two[name])


def _settings(settings: object) -> dict[str, object]:
    return {f"settings.{f.name}": getattr(settings, f.name) for f in dataclasses.fields(settings)}


def judge(
    walks: Walks, differing: Sequence[str], sizes: Sequence[float] = LIKELY, ankles: Ankles = MappingProxyType({})
) -> list[Statement]:
    """Return the statements of section IV with what the walks say.

    All statements about "both sizes" are judged at the same sizes. The chances of all tests are adjusted together for
    their number (Holm).

    Args:
        walks: the walks.
        differing: settings of the controller that are not the same for both feet.
        sizes: heights of the bars that stand for the paper's two.
        ankles: completed walks by the stiffness of the ankles.
    """
    stiffness = by_ankles_in_words(ankles)
    heights = sorted({w.height for w in walks if w.height > 0.0})
    sizes = [h for h in heights if any(abs(h - size) < 1e-9 for size in sizes)]
    robot = next(iter(walks)).robot
    fewest = min(rate(walks, feet, h).trials for feet in FEET for h in heights)
    chances = _chances(walks, heights, sizes)
    compared = [
        _improvement(walks, heights, sizes, chances, stiffness),
        _rigid(walks, heights, sizes, stiffness),
        _passes(walks, heights, sizes),
        _between(walks, heights, chances),
        _motion(walks, heights, chances),
    ]
    if not sizes:
        none = "Not judged: no bar had a judged size. "
        compared[:3] = [dataclasses.replace(item, targets=(), found=none + item.found) for item in compared[:3]]
    if fewest < MIN_SEEDS:
        few = f"Not judged with {fewest} walks a cell; it takes at least {MIN_SEEDS}. "
        compared = [dataclasses.replace(item, targets=(), found=few + item.found) for item in compared]
    statements = [*compared, unmodified(differing)]
    if COURSES[robot].support:
        statements = [
            dataclasses.replace(item, rests_on=f"{item.rests_on} {COURSES[robot].support}") for item in statements
        ]
    return [
        *statements,
        Statement(
            what="The complexity and the numerous components of the SoftFoot slow the simulation down.",
            where="section V-C",
            found="Times depend on the machine and are no target; the page on the SoftFoot has those of each level of "
            "detail. The walks here use feet of one lumped chain.",
        ),
    ]


def _chances(walks: Walks, heights: Sequence[float], sizes: Sequence[float]) -> dict[str, float]:
    """Return the chance of each test of the statements, adjusted for the number of tests."""
    found = {}
    for h in sizes:
        pairs = [[c.result.completed for c in select(walks, feet, h)] for feet in FEET]
        more = rate(walks, "soft", h).value > rate(walks, "rigid", h).value
        found[f"feet {h:g}"] = mcnemar(*pairs)[2] if more else 1.0
    found["place"] = fisher_stratified(_places(walks, heights))
    found["motion"] = _less_motion(walks, heights)[0]
    return dict(zip(found, holm(list(found.values())), strict=True))


def unmodified(differing: Sequence[str]) -> Statement:
    """Return the statement on the controller.

    Args:
        differing: settings of the controller that are not the same for both feet.
    """
    return Statement(
        what="The SoftFoot is used without modifying the robot's control structure.",
        where="section IV",
        targets=[
            Target(
                "settings of the controller that differ between the feet", equals=0, source="section IV: unmodified"
            ).measure(len(differing))
        ],
        found=f"{len(differing)} settings of the walking controller differ between the feet.",
        rests_on=ASSUMED,
    )


def _mm(height: float) -> str:
    return f"{1e3 * height:g} mm"


def _improvement(
    walks: Walks, heights: Sequence[float], sizes: Sequence[float], chances: Mapping[str, float], stiffness: str
) -> Statement:
    rates = {h: [rate(walks, feet, h) for feet in FEET] for h in heights}

    def text(h: float) -> str:
        rigid, soft = rates[h]
        p = f", p = {chances[f'feet {h:g}']:.2g} (McNemar, Holm)" if h in sizes else ""
        return f"{_mm(h)}: rigid {rigid}, soft {soft}{p}"

    others = [h for h in heights if h not in sizes]
    better = min((rates[h][1].value - rates[h][0].value for h in sizes), default=0.0)
    chance = max((chances[f"feet {h:g}"] for h in sizes), default=1.0)
    targets = [
        Target("completed walks, soft less rigid feet, least of the sizes", low=0.05,
               source="section IV-A: an improvement; 5 % is ours").measure(better),
        Target("chance that the feet are equal, same seeds, largest of the sizes", high=0.05,
               source="section IV-A; the test is ours: McNemar, Holm").measure(chance),
        Target("falls with rigid feet, least of the sizes", low=0.5, source="section IV-A: tends to fall").measure(
            1.0 - max((rates[h][0].value for h in sizes), default=1.0)
        ),
    ]  # fmt: skip
    return Statement(
        what="With the SoftFoot the humanoid overcomes small obstacles without a specific control structure, whereas "
        "it tends to fall with its rigid flat feet.",
        where="section IV-A",
        targets=targets,
        found=f"Completed walks: {'; '.join(map(text, sizes)) or 'none'}."
        + (f" Sizes of ours, not judged: {'; '.join(map(text, others))}." if others else ""),
        rests_on=f"{ASSUMED} The judged sizes are {_list(sizes)}. {stiffness}",
    )


def by_ankles_in_words(ankles: Ankles) -> str:
    """Return what a verdict on the feet rests on besides."""
    depends = "The comparison depends on the stiffness of the loaded ankles"
    if len(ankles) < 2:
        return f"{depends}, which a full run varies."
    rates = (f"at {k:.0f} N m/rad rigid {r['rigid']}, soft {r['soft']}" for k, r in ankles.items())
    return f"{depends}. Completed walks over {_mm(ANKLE_HEIGHT)}: {'; '.join(rates)}."


def _list(heights: Sequence[float]) -> str:
    return " and ".join(map(_mm, heights)) or "none"


def _rigid(walks: Walks, heights: Sequence[float], sizes: Sequence[float], stiffness: str) -> Statement:
    rates = {h: rate(walks, "rigid", h) for h in heights}
    low, high = SOMETIMES
    some = [h for h in sizes if low < rates[h].value < high]
    pairs = [(a, b) for a, b in itertools.combinations(sizes, 2) if a in some and rates[b].value <= low]
    texts = ", ".join(f"{_mm(h)}: {r}" for h, r in rates.items())
    one = "Not judged on one size. " if len(sizes) < 2 else ""
    return Statement(
        what="With rigid feet the robot sometimes keeps its balance on obstacles of one size and consistently falls on "
        "those of the other.",
        where="section V-C",
        targets=[]
        if one
        else [
            Target("rigid: sizes on which it sometimes falls", low=1, source="section V-C: sometimes").measure(
                len(some)
            ),
            Target("rigid: pairs of sizes, sometimes and never", low=1, source="section V-C").measure(len(pairs)),
            Target("rigid: completed walks on the worst size", high=low, source="section V-C: consistently").measure(
                min(rates[h].value for h in sizes)
            ),
        ],
        found=f"{one}Rigid feet complete: {texts}. Judged: {_list(sizes)}.",
        rests_on=f"{ASSUMED} {stiffness}",
    )


def _passes(walks: Walks, heights: Sequence[float], sizes: Sequence[float]) -> Statement:
    rates = {h: rate(walks, "soft", h) for h in heights}
    passed = [h for h in heights if rates[h].value >= GENERALLY]
    texts = ", ".join(f"{_mm(h)}: {r}" for h, r in rates.items())
    return Statement(
        what="With the SoftFoot the robot generally passes the obstacles of both sizes.",
        where="section V-C",
        targets=[
            Target(
                "soft: completed walks on the sizes, the worse", low=GENERALLY, source="section V-C: generally"
            ).measure(min((rates[h].value for h in sizes), default=0.0))
        ],
        found=f"Soft feet complete: {texts}; at least {100 * GENERALLY:g} % on {_list(passed)}. "
        f"Judged: {_list(sizes)}.",
        rests_on=ASSUMED,
    )


def _places(walks: Walks, heights: Sequence[float]) -> list[tuple[Rate, Rate]]:
    """Return the completed walks with soft feet at each height, bar between the arches and elsewhere."""
    rear, front = COURSES[next(iter(walks)).robot].between
    out = []
    for h in heights:
        where: dict[bool, list[bool]] = {True: [], False: []}
        for one in select(walks, "soft", h):
            if not math.isnan(one.offset):
                where[rear < one.offset < front].append(one.result.completed)
        inside, outside = (Rate(successes=sum(where[k]), trials=len(where[k])) for k in (True, False))
        out.append((inside, outside))
    return out


def _between(walks: Walks, heights: Sequence[float], chances: Mapping[str, float]) -> Statement:
    places = _places(walks, heights)
    inside, outside = (
        Rate(successes=sum(p[k].successes for p in places), trials=sum(p[k].trials for p in places)) for k in (0, 1)
    )
    # Weights of Mantel and Haenszel: a height without walks at both places says nothing about the place.
    both = [(a, b) for a, b in places if a.trials and b.trials]
    weights = [a.trials * b.trials / (a.trials + b.trials) for a, b in both]
    better = sum(w * (a.value - b.value) for w, (a, b) in zip(weights, both, strict=True)) / sum(weights) if both else 0
    return Statement(
        what="The SoftFoot is most robust where the obstacle touches it between the posterior and the anterior arch.",
        where="section V-C",
        targets=[
            Target(
                "soft: completed walks, bar between the arches less elsewhere, at equal heights", low=0.0,
                source="section V-C",
            ).measure(better),
            Target(
                "soft: chance that the place of the bar does not matter", high=0.05,
                source="section V-C; the test is ours: exact, stratified by height, Holm",
            ).measure(chances["place"]),
        ],
        found=f"Bars of all sizes: soft feet complete {inside} where the first foot on the bar has it between the "
        f"arches, {outside} where it lies under the heel or the toes; at equal heights {100 * better:+.0f} %, p = "
        f"{chances['place']:.2g} (exact, stratified by height, Holm).",
        rests_on=ASSUMED,
    )  # fmt: skip


def _less_motion(walks: Walks, heights: Sequence[float]) -> tuple[float, dict[int, tuple[float, float]]]:
    """Return the chance that soft feet do not reduce what bars add to the motion, and what they add, by seed.

    A seed is one sample, whatever the number of its heights: the mean over those that it completes with both feet.
    What a bar adds is the difference from the walk of the same seed on flat ground, where the feet differ already.
    """
    from scipy.stats import wilcoxon

    error = {(w.feet, w.height, w.seed): c.result.max_dcm_error for w, c in walks.items() if c.result.completed}
    added: dict[int, tuple[float, float]] = {}
    for seed in sorted({w.seed for w in walks}):
        level = [error.get((feet, 0.0, seed)) for feet in FEET]
        pairs = [[error.get((feet, h, seed)) for feet in FEET] for h in heights]
        whole = [pair for pair in pairs if None not in (*pair, *level)]
        if whole:
            rigid, soft = (statistics.mean(pair[k] - level[k] for pair in whole) for k in (0, 1))  # type: ignore[operator]
            added[seed] = (rigid, soft)
    differences = [soft - rigid for rigid, soft in added.values()]
    chance = float(wilcoxon(differences, alternative="less").pvalue) if any(differences) else 1.0
    return chance, added


def _motion(walks: Walks, heights: Sequence[float], chances: Mapping[str, float]) -> Statement:
    from scipy.stats import spearmanr

    moved = [statistics.median(c.result.max_dcm_error for c in select(walks, "rigid", h)) for h in heights]
    _, added = _less_motion(walks, heights)
    rank = float(spearmanr(heights, moved)[0]) if len(set(moved)) > 1 else 0.0  # type: ignore[index]
    less, pairs = math.nan, "No seed was completed with both feet."
    if added:
        less = statistics.median(soft - rigid for rigid, soft in added.values())
        rigid_added, soft_added = (statistics.median(pair[k] for pair in added.values()) for k in (0, 1))
        pairs = (
            f"Where both feet complete the walk ({len(added)} seeds), a bar adds {1e3 * rigid_added:.0f} mm to the "
            f"walk of the same seed on flat ground with rigid feet and {1e3 * soft_added:.0f} mm with soft feet "
            f"(medians over the seeds), p = {chances['motion']:.2g} (Wilcoxon, Holm)."
        )
    targets = [
        Target(
            "centre of mass: motion added by a bar, soft less rigid feet", high=0.0, unit="m",
            source="section V-C: reduces",
        ).measure(less),
        Target(
            "centre of mass: chance that soft feet do not reduce it", high=0.05,
            source="section V-C: significantly; the test is ours: Wilcoxon over the seeds, Holm",
        ).measure(chances["motion"]),
    ]  # fmt: skip
    if len(heights) > 2:
        targets.append(
            Target("centre of mass: rank correlation of motion and height, rigid", low=0.9,
                   source="section V-C: the higher").measure(rank)
        )  # fmt: skip
    texts = ", ".join(f"{_mm(h)}: {1e3 * m:.0f} mm" for h, m in zip(heights, moved, strict=True))
    return Statement(
        what="With rigid feet the centre of mass moves more the higher the obstacle is; the SoftFoot reduces this "
        "significantly.",
        where="section V-C, figure 9",
        targets=targets,
        found=f"Largest error of the divergent component of motion, rigid feet, median: {texts}. {pairs}"
        f"{_motion_on_flat_ground(walks)}",
        rests_on=f"{ASSUMED} The error of the divergent component of motion stands for the centre of mass's motion.",
    )


def _motion_on_flat_ground(walks: Walks) -> str:
    """Return what the feet change without a bar: that part of the difference is not one of bars."""
    pairs = zip(select(walks, "rigid", 0.0), select(walks, "soft", 0.0), strict=True)
    ratios = [
        b.result.max_dcm_error / a.result.max_dcm_error for a, b in pairs if a.result.completed and b.result.completed
    ]
    if not ratios:
        return ""
    return f" On flat ground soft feet have {statistics.median(ratios):.2f} times the error of rigid ones."


def table(walks: Walks, title: str) -> Table:
    """Return one row a cell."""
    rows = []
    for h in sorted({w.height for w in walks}):
        rigid, soft = rate(walks, "rigid", h), rate(walks, "soft", h)
        pair = mcnemar(*([c.result.completed for c in select(walks, feet, h)] for feet in FEET))
        for feet, found in (("rigid", rigid), ("soft", soft)):
            done = [c.result for c in select(walks, feet, h) if c.result.completed]
            low, high = found.interval
            first = feet == "rigid"
            rows.append(
                (
                    f"{1e3 * h:g}" if h else "flat",
                    feet,
                    f"{found.successes}/{found.trials}",
                    f"{100 * low:.0f} to {100 * high:.0f}",
                    f"{fisher(rigid, soft):.2g}" if first else "",
                    f"{pair[2]:.2g} ({pair[0]} : {pair[1]})" if first else "",
                    _degrees([r.max_base_pitch for r in done]),
                    _millimetres([r.max_dcm_error for r in done]),
                )
            )
    return Table(
        title=title,
        columns=(
            "bar [mm]", "feet", "completed", "95 % interval [%]", "p, Fisher", "p, McNemar (only rigid : only soft)",
            "largest base pitch [deg]", "largest DCM error [mm]",
        ),
        rows=rows,
        note="Base pitch and error of the divergent component of motion: median and largest over the completed walks.",
    )  # fmt: skip


def _degrees(values: Sequence[float]) -> str:
    return f"{math.degrees(statistics.median(values)):.1f}, {math.degrees(max(values)):.1f}" if values else ""


def _millimetres(values: Sequence[float]) -> str:
    return f"{1e3 * statistics.median(values):.0f}, {1e3 * max(values):.0f}" if values else ""


def _ankles_table(rates: Ankles) -> Table:
    rows = [[f"{k:.0f}", *map(str, r.values()), f"{fisher(*r.values()):.2g}"] for k, r in rates.items()]
    columns = ["ankles [N m/rad]", *(f"{feet} feet, completed" for feet in FEET), "p, Fisher"]
    return Table(
        title=f"Walks over {_mm(ANKLE_HEIGHT)} by the stiffness of the loaded ankles", columns=columns, rows=rows
    )


def _completed(x: Sequence[float], rates: Sequence[Rate], number: int) -> Line:
    """Return the completed walks with some feet, a number of `FEET`, and their intervals [%]."""
    y = 100 * np.array([rate.value for rate in rates])
    low, high = 100 * np.array([rate.interval for rate in rates]).T
    style = {"color": number, "marker": "o", "markersize": 4, "capsize": 3, "label": f"{FEET[number]} feet"}
    return Line(np.array(x), y, kind="errorbar", yerr=np.maximum(0.0, [y - low, high - y]), **style)


def rates_figure(walks: Walks) -> Figure:
    """Draw the completed walks over the height, with their intervals, and the motion of the completed ones."""
    heights = sorted({w.height for w in walks})
    completed, pitches = [], []
    for k, feet in enumerate(FEET):
        x = [1e3 * h + 0.3 * (2 * k - 1) for h in heights]
        completed.append(_completed(x, [rate(walks, feet, h) for h in heights], k))
        for h, place in zip(heights, x, strict=True):
            done = [math.degrees(c.result.max_base_pitch) for c in select(walks, feet, h) if c.result.completed]
            if done:
                spread = np.linspace(-0.25, 0.25, len(done)) if len(done) > 1 else np.zeros(1)
                pitches.append(Line(place + spread, done, ".", color=k, markersize=3, alpha=0.5))
                pitches.append(Line([place - 0.35, place + 0.35], [statistics.median(done)] * 2, color=k))
    bar = "height of the bar [mm]"
    panels = [
        Panel(completed, bar, "completed walks [%]", legend="best", ylim=(-4.0, 104.0)),
        Panel(pitches, bar, "largest pitch of the base [deg]", ylim=(0.0, None)),
    ]
    caption = (
        "Completed walks, and the pitch of the base in them. Left: completed walks over the height of the bar with 95 "
        "% intervals. Right: each completed walk is a point, the line their median."
    )
    return draw("rates", caption, panels, height=2.8)


def by_ankles(every: Walks) -> dict[float, dict[str, Rate]]:
    """Return the completed walks over the bar of the ankles: stiffness [N m/rad] -> feet -> rate."""
    there = {w: c for w, c in every.items() if abs(w.height - ANKLE_HEIGHT) < 1e-9}

    def stiffness(walk: Walk) -> float:
        return COURSES[walk.robot].ankle_stiffness if walk.ankle_stiffness is None else walk.ankle_stiffness

    return {
        k: {feet: rate({w: c for w, c in there.items() if stiffness(w) == k}, feet, ANKLE_HEIGHT) for feet in FEET}
        for k in sorted({stiffness(w) for w in there})
    }


def ankles_figure(rates: Ankles) -> Figure:
    """Draw the completed walks over the stiffness of the loaded ankles, with their intervals."""
    lines = [_completed(list(rates), [one[feet] for one in rates.values()], k) for k, feet in enumerate(FEET)]
    caption = (
        "Completed walks over the stiffness of the loaded ankles. The comparison of the feet depends on the ankles: "
        f"the bar has {_mm(ANKLE_HEIGHT)}, intervals are of 95 %."
    )
    panel = Panel(lines, "stiffness of the ankles [N m/rad]", "completed walks [%]", legend="best", ylim=(-4.0, 104.0))
    return draw("ankles", caption, [panel], height=2.8)


def _films(context: Context, options: SoftFootWalkOptions) -> list[Film]:
    walks = {feet: crossing(feet, ANKLE_HEIGHT, options.robot, context.seed) for feet in FEET}
    before = min(FILM_BEFORE, *(first for _, _, first in walks.values()))
    rows = min(before + FILM_AFTER, *(len(poses) - first + before for _, poses, first in walks.values()))
    return [
        Film(
            name="crossing",
            caption=f"{options.robot} walks over a bar of {1e3 * ANKLE_HEIGHT:g} mm, with rigid and with soft feet.",
            time=0.02 * np.arange(rows),
            shots=[
                Shot(title=f"{feet} feet", model=model, poses=np.array(poses[first - before : first - before + rows]))
                for feet, (model, poses, first) in walks.items()
            ],
            camera="whole",
        )
    ]


FILM_BEFORE, FILM_AFTER = 100, 150
"""Rows of the film before and after a foot stands on the bar [20 ms]."""


def checks(walks: Walks) -> list[Target]:
    """Return what must hold of the walking robot itself."""
    diverged = sum(one.result.diverged for one in walks.values())
    return [
        *(
            Target(
                f"flat ground: completed walks with {feet} feet", equals=1.0, source="ours: the controller walks"
            ).measure(rate(walks, feet, 0.0).value)
            for feet in FEET
        ),
        Target("walks whose simulation diverged", equals=0, source="ours: such a walk is no fall").measure(diverged),
    ]


@experiment(
    "softfoot-walk",
    title="A robot walks over bars with rigid and with soft feet",
    paper=PAPER,
    section="sections IV and V-C, figures 9 and 10",
    films=_films,
    cameras=("close", "whole"),
    uses_executor=True,
)
def softfoot_walk(context: Context, options: SoftFootWalkOptions) -> Result:
    """Compare rigid and soft feet of a walking robot on bars at random positions, by the completed walks of many seeds.

    The same controller walks with both feet, on flat ground and over one square bar of each height. The seed of a walk
    draws the place of the bar, a push on the torso, the start and the noise of the sensors, alike for both feet. A
    full run has 2000 walks of one or two seconds each, on all cores; one that is interrupted goes on in the same
    folder (``--output``).
    """
    course = COURSES[options.robot]
    every = simulate(context, options, cells(options, context.quick))
    judged = {*options.sizes, *options.heights, 0.0}
    walks = {
        walk: found
        for walk, found in every.items()
        if walk.ankle_stiffness == options.ankle_stiffness and walk.height in judged
    }
    stiffness = course.ankle_stiffness if options.ankle_stiffness is None else options.ankle_stiffness
    figures = [rates_figure(walks)]
    notes = []
    ankles = by_ankles(every)
    if len(ankles) > 1:
        figures.append(ankles_figure(ankles))
        notes.append(by_ankles_in_words(ankles))
    if not context.quick:
        context.progress(0.96, "pictures")
        picture = pictures(ANKLE_HEIGHT, options.robot)
        if isinstance(picture, Figure):
            figures.append(picture)
        else:
            notes.append(f"There are no pictures: {picture}.")
    return Result(
        statements=judge(walks, settings_that_differ(options.robot), options.sizes, ankles),
        targets=checks(walks),
        tables=[
            table(walks, f"Walks of {options.robot} over one bar, ankles of {stiffness:.0f} N m/rad"),
            *([_ankles_table(ankles)] if len(ankles) > 1 else []),
        ],
        figures=figures,
        notes=notes,
        assumptions=[
            f"The robot: {options.robot}, torque-controlled, with a DCM stabiliser, not COMAN+.",
            "The impedance of the loaded ankles, which keeps the feet level as joints do that follow references.",
            f"The sizes of the bars that are judged, {_list(sorted(options.sizes))}: the paper's two are lost, 5 and "
            "10 mm are likely.",
            'What the words of the paper mean in numbers: "sometimes" is 5 to 95 %, "generally" at least 90 %.',
        ],
        summary=f"The robot {options.robot} walks {FULL_WALK[1] * course.length:.2f} m with rigid and with soft feet "
        "under the same controller. Each walk has one square bar at a random place; the seeds are the same for both "
        f"feet.{' ' if course.support else ''}{course.support}",
    )

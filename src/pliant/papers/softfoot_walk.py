"""A robot walks over bars with rigid and with soft feet, many seeds of each (Crotti et al. 2024, section IV)."""

from __future__ import annotations

import dataclasses
import itertools
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from pliant.base.options import option
from pliant.papers.frame.base import Context, Figure, Result, Statement, Table, Target, experiment
from pliant.papers.frame.films import Film, Shot
from pliant.papers.frame.panels import Line, Panel, draw
from pliant.walking.trials import COURSES, Crossing, Rate, Walk, fisher, mcnemar, walk_many

PAPER = "Crotti et al. 2024, arXiv 2412.03191"
FEET = ("rigid", "soft")
LIKELY = (0.005, 0.010)
"""Sizes of the paper's obstacles, likely: the numbers are lost, these two stand beside another figure [m]."""
DECISIVE = 0.020
"""Height at which the feet are compared [m]: ours."""
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
SETTINGS: dict[str, Mapping[str, Any]] = {"rigid": {}, "soft": {}}
"""Feet -> options of the robot that differ from its defaults: none, the controller is the same."""

Walks = Mapping[Walk, Crossing]


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftFootWalkOptions:
    """Options of the experiment."""

    SCOPE: ClassVar = ("robot", "seeds", "heights")
    robot: Literal["biped", "g1", "talos"] = option("biped", source="ours; COMAN+ is not public")
    """The robot that walks. g1 and talos need example-robot-data. Their way, the time of a walk and the pushes are
    scaled from the biped's with mass and height; the bars are not."""
    seeds: int = option(100, low=1, high=10000, source="ours")
    """Walks of each cell; the quick version takes 2, and 1 on flat ground."""
    heights: tuple[float, ...] = option(
        (0.005, 0.010, 0.015, 0.020, 0.025, 0.030), unit="m", low=0.001, high=0.1, source="ours; the paper's are lost"
    )
    """Heights of the square bars."""
    push: float = option(2.0, unit="N s", low=0.0, high=50.0, source="ours")
    """Largest push on the torso of a walk of the biped: a variation. With 4 N s, about 3 of 100 walks fall on flat
    ground. Other robots are pushed in proportion to mass times speed: 1.16 times as much (g1), 3.6 times (talos)."""
    ankle_stiffness: float | None = option(None, unit="N m/rad", low=0.0, high=5000.0, source="ours")
    """Impedance that keeps loaded feet level; none: that of the robot, 100 for the biped, 124 for g1, 444 for talos. A
    full run also walks without it over the bar that decides."""


def cells(options: SoftFootWalkOptions, quick: bool) -> list[Walk]:
    """Return all walks, the flat ground first, then the decisive height, the seeds of one height together."""
    heights = sorted(set(options.heights), key=lambda h: (abs(h - DECISIVE) > 1e-9, h))
    if quick:
        heights = [h for h in heights if any(abs(h - x) < 1e-9 for x in (DECISIVE, LIKELY[-1]))] or heights[:1]
    found = []
    for height in (0.0, *heights):
        count = (2 if height else 1) if quick else options.seeds
        found += _cell(options, height, min(count, options.seeds), options.ankle_stiffness, quick)
    if not quick and options.ankle_stiffness != 0.0:
        found += _cell(options, heights[0], options.seeds, 0.0, quick)
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
    from pliant.robots import build_robot
    from pliant.walking.device import WalkingDescription

    found = []
    for feet in FEET:
        given = {"feet": feet, "controller": "walking", "actuation": "torque", **SETTINGS[feet]}
        built = build_robot(robot, given)
        found.append(next(d for d in built.devices if isinstance(d, WalkingDescription)))
    one, two = ({**{f.name: getattr(d, f.name) for f in dataclasses.fields(d)}, **_settings(d.settings)} for d in found)
    return sorted(name for name in one if name != "settings" and one[name] != two[name])


def _settings(settings: Any) -> dict[str, Any]:
    return {f"settings.{f.name}": getattr(settings, f.name) for f in dataclasses.fields(settings)}


def judge(walks: Walks, differing: Sequence[str]) -> list[Statement]:
    """Return the statements of section IV with what the walks say.

    Args:
        walks: the walks.
        differing: settings of the controller that are not the same for both feet.
    """
    heights = sorted({w.height for w in walks if w.height > 0.0})
    robot = next(iter(walks)).robot
    fewest = min(rate(walks, feet, h).trials for feet in FEET for h in heights)
    compared = [_improvement(walks, heights), _rigid(walks, heights), _between(walks, heights), _motion(walks, heights)]
    if fewest < MIN_SEEDS:
        few = f"Not judged with {fewest} walks a cell; it takes at least {MIN_SEEDS}. "
        compared = [dataclasses.replace(item, targets=(), found=few + item.found) for item in compared]
    statements = [
        *compared[:2],
        passes_likely_sizes(walks, heights),
        *compared[2:],
        unmodified(differing),
    ]
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


def _percent(height: float) -> str:
    return f"{1e3 * height:g} mm"


def _decisive(heights: Sequence[float]) -> float:
    """Return the height of the comparison: the nearest one that was walked."""
    return min(heights, key=lambda h: abs(h - DECISIVE))


def _improvement(walks: Walks, heights: Sequence[float]) -> Statement:
    h = _decisive(heights)
    rigid, soft = rate(walks, "rigid", h), rate(walks, "soft", h)
    chance = fisher(rigid, soft)
    pairs = [[c.result.completed for c in select(walks, feet, h)] for feet in FEET]
    only_rigid, only_soft, paired = mcnemar(*pairs)
    more = soft.value > rigid.value
    return Statement(
        what="With the SoftFoot the humanoid overcomes small obstacles without a specific control structure, whereas "
        "it tends to fall with its rigid flat feet.",
        where="section IV-A",
        targets=[
            Target(
                "decisive bar: completed walks, soft less rigid", low=0.05, source="section IV-A: an improvement"
            ).measure(soft.value - rigid.value),
            Target(
                "decisive bar: chance that the feet are equal, independent samples", high=0.05, source="ours: Fisher"
            ).measure(chance if more else 1.0),
            Target(
                "decisive bar: chance that the feet are equal, same seeds", high=0.05, source="ours: McNemar"
            ).measure(paired if more else 1.0),
            Target("decisive bar: falls with rigid feet", low=0.5, source="section IV-A: tends to fall").measure(
                1.0 - rigid.value
            ),
        ],
        found=f"Bar of {_percent(h)}: rigid feet complete {rigid}, soft feet {soft}; p = {chance:.2g} (Fisher), "
        f"{paired:.2g} (McNemar: {only_soft} seeds only with soft, {only_rigid} only with rigid feet)."
        + "".join(
            f" On {_percent(x)}, likely a size of the paper: rigid {rate(walks, 'rigid', x)}, soft "
            f"{rate(walks, 'soft', x)}."
            for x in heights
            if any(abs(x - y) < 1e-9 for y in LIKELY)
        ),
        rests_on=ASSUMED + f" The size of the comparison, {_percent(h)}, is ours.",
    )


def _rigid(walks: Walks, heights: Sequence[float]) -> Statement:
    rates = {h: rate(walks, "rigid", h) for h in heights}
    low, high = SOMETIMES
    pairs = [
        (a, b) for a, b in itertools.combinations(heights, 2) if low < rates[a].value < high and rates[b].value <= low
    ]
    worst = min(heights, key=lambda h: rates[h].value)
    texts = ", ".join(f"{_percent(h)}: {r}" for h, r in rates.items())
    one = "Not judged on one size. " if len(heights) < 2 else ""
    return Statement(
        what="With rigid feet the robot sometimes keeps its balance on obstacles of one size and consistently falls on "
        "those of the other.",
        where="section V-C",
        targets=[]
        if one
        else [
            Target("rigid: sizes on which it sometimes falls", low=1, source="section V-C: sometimes").measure(
                sum(low < r.value < high for r in rates.values())
            ),
            Target("rigid: pairs of sizes, sometimes and never", low=1, source="section V-C").measure(len(pairs)),
            Target("rigid: completed walks on the worst size", high=low, source="section V-C: consistently").measure(
                rates[worst].value
            ),
        ],
        found=f"{one}Rigid feet complete: {texts}.",
        rests_on=ASSUMED + " Any two of the walked sizes count, not only the likely ones.",
    )


def passes_likely_sizes(walks: Walks, heights: Sequence[float]) -> Statement:
    """Return the statement on the likely sizes of the bars."""
    likely = [h for h in heights if any(abs(h - x) < 1e-9 for x in LIKELY)]
    rates = {h: rate(walks, "soft", h) for h in heights}
    passed = [h for h in heights if rates[h].value >= GENERALLY]
    texts = ", ".join(f"{_percent(h)}: {r}" for h, r in rates.items())
    none = "" if likely else "Not judged: no bar had a likely size. "
    return Statement(
        what="With the SoftFoot the robot generally passes the obstacles of both sizes.",
        where="section V-C",
        targets=[
            Target(
                "soft: completed walks on the likely sizes, the worse", low=GENERALLY, source="section V-C: generally"
            ).measure(min(rates[h].value for h in likely))
        ]
        if likely
        else [],
        found=f"{none}Soft feet complete: {texts}; at least {100 * GENERALLY:g} % on "
        f"{', '.join(map(_percent, passed)) or 'none'}.",
        rests_on=ASSUMED + " Their likely sizes are 5 and 10 mm.",
    )


def _between(walks: Walks, heights: Sequence[float]) -> Statement:
    where: dict[bool, list[bool]] = {True: [], False: []}
    rear, front = COURSES[next(iter(walks)).robot].between
    for h in heights:
        for crossing in select(walks, "soft", h):
            if not math.isnan(crossing.offset):
                where[rear < crossing.offset < front].append(crossing.result.completed)
    inside, outside = (Rate(successes=sum(where[k]), trials=len(where[k])) for k in (True, False))
    return Statement(
        what="The SoftFoot is most robust where the obstacle touches it between the posterior and the anterior arch.",
        where="section V-C",
        targets=[
            Target(
                "soft: completed walks, bar between the arches less elsewhere", low=0.0, source="section V-C"
            ).measure(inside.value - outside.value),
            Target("soft: chance that the place of the bar does not matter", high=0.05, source="ours: Fisher").measure(
                fisher(inside, outside) if inside.trials and outside.trials else 1.0
            ),
        ],
        found=f"Bars of all sizes: soft feet complete {inside} where the first foot on the bar has it between the "
        f"arches, {outside} where it lies under the heel or the toes.",
        rests_on=ASSUMED,
    )


def _motion(walks: Walks, heights: Sequence[float]) -> Statement:
    from scipy.stats import spearmanr, wilcoxon

    rows = [(h, select(walks, "rigid", h), select(walks, "soft", h)) for h in heights]
    flat = {feet: select(walks, feet, 0.0) for feet in FEET}
    moved = [statistics.median(c.result.max_dcm_error for c in rigid) for _, rigid, _ in rows]
    # What a bar adds to the walk of the same seed on flat ground: there the feet differ already.
    added = [
        tuple(walk.result.max_dcm_error - level.result.max_dcm_error for walk, level in ((a, a0), (b, b0)))
        for _, rigid, soft in rows
        for a, b, a0, b0 in zip(rigid, soft, flat["rigid"], flat["soft"], strict=False)
        if all(c.result.completed for c in (a, b, a0, b0))
    ]
    rank = float(spearmanr(heights, moved)[0]) if len(set(moved)) > 1 else 0.0  # type: ignore[index]
    chance, less = 1.0, math.nan
    rigid_added = soft_added = math.nan
    if added:
        rigid_added, soft_added = (statistics.median(pair[k] for pair in added) for k in (0, 1))
        differences = [b - a for a, b in added]
        less = statistics.median(differences)
        chance = float(wilcoxon(differences, alternative="less").pvalue) if any(differences) else 1.0
    targets = [
        Target(
            "centre of mass: motion added by a bar, soft less rigid feet", high=0.0, unit="m",
            source="section V-C: reduces",
        ).measure(less),
        Target("centre of mass: chance that soft feet do not reduce it", high=0.05, source="ours: Wilcoxon").measure(
            chance
        ),
    ]  # fmt: skip
    if len(heights) > 2:
        targets.append(
            Target(
                "centre of mass: rank correlation of motion and height, rigid",
                low=0.9,
                source="section V-C: the higher",
            ).measure(rank)
        )
    texts = ", ".join(f"{_percent(h)}: {1e3 * m:.0f} mm" for h, m in zip(heights, moved, strict=True))
    pairs = "No seed was completed with both feet."
    if added:
        pairs = (
            f"Where both feet complete the walk ({len(added)} pairs), a bar adds {1e3 * rigid_added:.0f} mm to the "
            f"walk of the same seed on flat ground with rigid feet and {1e3 * soft_added:.0f} mm with soft feet "
            f"(medians), p = {chance:.2g} (Wilcoxon)."
        )
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


def rates_figure(walks: Walks) -> Figure:
    """Draw the completed walks over the height, with their intervals, and the motion of the completed ones."""
    heights = sorted({w.height for w in walks})
    completed, pitches = [], []
    for k, feet in enumerate(FEET):
        rates = [rate(walks, feet, h) for h in heights]
        x = [1e3 * h + 0.3 * (2 * k - 1) for h in heights]
        y = 100 * np.array([r.value for r in rates])
        reach = np.maximum(0.0, [y - [100 * r.interval[0] for r in rates], [100 * r.interval[1] for r in rates] - y])
        style = {"color": k, "marker": "o", "markersize": 4, "capsize": 3, "label": f"{feet} feet"}
        completed.append(Line(x, y, kind="errorbar", yerr=reach, **style))
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


def _crossing(feet: str, height: float, robot: str, seed: int) -> tuple[Any, list[Any], int]:
    """Walk over one bar; return the scene with its cameras, qpos every 20 ms, and the row at which a foot is on it."""
    from pliant.robots import build_robot
    from pliant.walking.walk import run_walk

    course = COURSES[robot]
    bar, goal, duration = 0.64 * course.length, 1.1 * course.length, 10.0 * math.sqrt(course.length)
    trace: list[dict[str, Any]] = []
    walked = run_walk(
        robot=robot, feet=feet, bar_height=height, bars=(bar,), seed=seed, duration=duration, goal=goal,
        push=4.0 * course.impulse, trace=trace,
    )  # fmt: skip
    (x,) = walked.bars
    # From the moment at which a foot carries the robot on the bar.
    standing = (i for reach in (UNDER, course.sole) for i, row in enumerate(trace) if _on_bar(row, x, reach))
    first = next(standing, len(trace) // 2)
    built = build_robot(robot, {"feet": feet, "bar_height": height, "bar_positions": (bar,)})
    for name, place, fovy in (
        ("close", [x, -1.2 * course.length, 0.07 * course.length], 13.0),
        ("whole", [x + 0.05, -2.6 * course.length, 0.55 * course.length], 30.0),
    ):
        camera = built.spec.worldbody.add_camera(name=name, pos=place, fovy=fovy)
        camera.quat = [math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0]
    model = built.compile()
    model.vis.global_.offwidth, model.vis.global_.offheight = 1280, 960
    return model, [row["qpos"] for row in trace], first


def pictures(height: float, robot: str = "biped", seed: int = 0) -> Figure | str:
    """Draw the robot on a bar with both feet, as figures 9 and 10 of the paper; return why not where it cannot."""
    from pliant.model.snapshots import snapshots
    from pliant.papers.frame.pictures import strip

    shown, columns = [], []
    for feet in FEET:
        model, poses, first = _crossing(feet, height, robot, seed)
        times = [min(len(poses) - 1, first + k) for k in (8, 30, 55)]
        chosen = [poses[t] for t in times]
        whole, reason = snapshots(model, chosen, camera="whole", width=360, height=360)
        close, reason = snapshots(model, chosen[:1], camera="close", width=400, height=360)
        if not whole or not close:
            return reason
        shown.append([*close, *whole])
        columns = ["foot on the bar", *(f"{0.02 * (t - times[0]):.1f} s" for t in times)]
    flat = [picture for row in shown for picture in row]
    return Figure(
        name="bar",
        caption=f"{robot} on a bar of {1e3 * height:g} mm, rigid feet above, soft feet below. The rigid foot stands "
        "on two edges; the soft one bends around the bar and keeps its heel and its toes on the ground.",
        figure=strip(flat, [f"{feet} feet" for feet in FEET], columns),
    )


def _films(context: Context, options: SoftFootWalkOptions) -> list[Film]:
    walks = {feet: _crossing(feet, DECISIVE, options.robot, context.seed) for feet in FEET}
    before = min(FILM_BEFORE, *(first for _, _, first in walks.values()))
    rows = min(before + FILM_AFTER, *(len(poses) - first + before for _, poses, first in walks.values()))
    return [
        Film(
            name="crossing",
            caption=f"{options.robot} walks over a bar of {1e3 * DECISIVE:g} mm, with rigid and with soft feet.",
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
UNDER = (-0.02, 0.09)
"""Where a bar lies under the middle of a foot, from the ankle [m]."""


def _on_bar(row: Mapping[str, Any], bar: float, reach: tuple[float, float]) -> bool:
    load = sum(row["load"])
    return any(
        share > 0.6 * load > 0.0 and reach[0] < bar - float(foot[0]) < reach[1]
        for foot, share in zip(row["feet"], row["load"], strict=True)
    )


def checks(walks: Walks) -> list[Target]:
    """Return what must hold of the walking robot itself."""
    diverged = sum(crossing.result.diverged for crossing in walks.values())
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
    full run has 1600 walks of one or two seconds each, on all cores; one that is interrupted goes on in the same
    folder (``--output``).
    """
    course = COURSES[options.robot]
    every = simulate(context, options, cells(options, context.quick))
    walks = {walk: found for walk, found in every.items() if walk.ankle_stiffness == options.ankle_stiffness}
    limp = {walk: found for walk, found in every.items() if walk not in walks}
    ankles = course.ankle_stiffness if options.ankle_stiffness is None else options.ankle_stiffness
    figures = [rates_figure(walks)]
    notes = []
    if limp:
        h = next(iter(limp)).height
        rigid, soft = rate(limp, "rigid", h), rate(limp, "soft", h)
        notes.append(
            "The comparison depends on the ankles. Without an impedance of the loaded ankles (pure torque control) a "
            f"rigid foot turns on the bar, too: over {_percent(h)} rigid feet then complete {rigid} and soft feet "
            f"{soft}, p = {fisher(rigid, soft):.2g} (Fisher)."
        )
    if not context.quick:
        context.progress(0.96, "pictures")
        picture = pictures(DECISIVE, options.robot)
        if isinstance(picture, Figure):
            figures.append(picture)
        else:
            notes.append(f"There are no pictures: {picture}.")
    return Result(
        statements=judge(walks, settings_that_differ(options.robot)),
        targets=checks(walks),
        tables=[
            table(walks, f"Walks of {options.robot} over one bar, ankles of {ankles:.0f} N m/rad"),
            *([table(limp, "The same with ankles of pure torque control")] if limp else []),
        ],
        figures=figures,
        notes=notes,
        assumptions=[
            f"The robot: {options.robot}, torque-controlled, with a DCM stabiliser, not COMAN+.",
            "The impedance of the loaded ankles, which keeps the feet level as joints do that follow references.",
            "The sizes of the bars: from 5 to 30 mm; the paper's two sizes are lost, 5 and 10 mm are likely.",
            'What the words of the paper mean in numbers: "sometimes" is 5 to 95 %, "generally" at least 90 %.',
        ],
        summary=f"The robot {options.robot} walks {FULL_WALK[1] * course.length:.2f} m with rigid and with soft feet "
        "under the same controller. Each walk has one square bar at a random place; the seeds are the same for both "
        f"feet.{' ' if course.support else ''}{course.support}",
    )

"""Visual servoing of a Franka arm before an AprilTag, by position and by image (Oliva et al. 2022)."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pliant import vision
from pliant.base.options import option
from pliant.base.spatial import inverse
from pliant.experiments.base import Context, Result, Statement, Table, Target, experiment
from pliant.experiments.films import Film
from pliant.papers.arms import EXACT, RENDERED

if TYPE_CHECKING:
    from pliant.papers.arms.tag_servo import Law, Run, Setup, Start

PAPER = "Oliva, Spindler, Robuffo Giordano, Chaumette: FrankaSim. ICARCV 2022"
DEMONSTRATION = "ViSP's demonstration programs of visual servoing for this arm"
LAWS: tuple[Law, ...] = ("PBVS", "IBVS")
QUICK_INTERFACE = 1.0
"""Length of the run through the interface in the quick version [s]."""
IMAGE_PERIOD = 0.02
"""Time between two images [s], section III-F."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrankaVisualServoOptions:
    """Assumptions of the experiment: the paper shows its visual servoing in a video and prints no numbers of it."""

    starts: int = option(20, low=1, high=500, source="ours")
    """Number of start poses."""
    near: float = option(0.25, unit="m", low=0.1, high=1.0, source="assumed")
    """Least distance of the camera from the tag at the start."""
    far: float = option(0.55, unit="m", low=0.1, high=1.0, source="assumed")
    """Largest distance at the start."""
    tilt: float = option(math.radians(35.0), unit="rad", low=0.0, high=1.2, source="assumed")
    """Largest angle between the line of sight and the tag's normal at the start."""
    turn: float = option(math.radians(60.0), unit="rad", low=0.0, high=1.5, source="assumed")
    """Largest turn of the camera about its optical axis at the start."""
    size: float = option(0.08, unit="m", low=0.01, high=0.2, source=DEMONSTRATION)
    """Edge of the tag's black border."""
    distance: float = option(0.24, unit="m", low=0.1, high=1.0, source=f"{DEMONSTRATION}: three times the tag")
    """Desired distance of the camera, which faces the tag."""
    gain_at_zero: float = option(4.0, unit="1/s", low=1e-4, high=20.0, source=DEMONSTRATION)
    """Adaptive gain at the goal."""
    gain_at_infinity: float = option(1.2, unit="1/s", low=1e-4, high=20.0, source=DEMONSTRATION)
    """Adaptive gain far from it."""
    gain_slope: float = option(25.0, unit="1/s", low=0.0, high=1000.0, source=DEMONSTRATION)
    """Slope of the adaptive gain at the goal."""
    decay: float = option(4.0, unit="1/s", low=0.1, high=100.0, source=DEMONSTRATION)
    """Rate mu of the smooth start."""
    smooth_start: Literal["scaled", "published", "none"] = option("scaled", source="ours")
    """scaled: v (1 - exp(-mu t)); published: v - v(0) exp(-mu t), in the axes of a camera that turns, which bends the
    path of PBVS by up to 3 mm; none."""
    interaction: Literal["current", "desired", "mean"] = option("current", source=DEMONSTRATION)
    """Where the interaction matrix of IBVS is taken."""


def gain_of(options: Any) -> vision.AdaptiveGain:
    """Return the adaptive gain of options with gain_at_zero, gain_at_infinity and gain_slope."""
    at_infinity = min(options.gain_at_infinity, options.gain_at_zero)
    return vision.AdaptiveGain(at_zero=options.gain_at_zero, at_infinity=at_infinity, slope_at_zero=options.gain_slope)


def setup_of(options: FrankaVisualServoOptions) -> Setup:
    """Return what all runs have in common."""
    from pliant.papers.arms.tag_servo import Setup

    return Setup(
        size=options.size,
        distance=options.distance,
        gain=gain_of(options),
        decay=options.decay,
        smooth=options.smooth_start,
        interaction=options.interaction,
    )


def start_poses(options: object, rng: np.random.Generator, setup: Setup | None = None) -> tuple[list[Start], int]:
    """Return the start poses within near, far, tilt and turn of the options, and how many were drawn."""
    from pliant.papers.arms.tag_servo import Wish, exact_camera, starts

    wish = Wish(near=options.near, far=max(options.near, options.far), tilt=options.tilt, turn=options.turn)
    return starts(options.starts, rng, wish, setup or setup_of(options), exact_camera())


def run_servo(
    start: Start, law: Law, setup: Setup, *, rendered: bool, fci: bool = False, duration: float | None = None
) -> Run:
    """Servo an arm of this process, or one that another process serves through the Franka Control Interface."""
    from pliant.papers.arms.tag_servo import run_program, servo

    program = lambda cell: servo(cell, start, law, setup, duration=duration)  # noqa: E731
    return run_program(program, start, setup, lambda run: run, rendered=rendered, fci=fci)


def missing_client() -> str:
    """Return what is missing for runs through the interface, with the command that installs it; "" if nothing is."""
    if importlib.util.find_spec("pylibfranka") is None:
        return "pylibfranka is not installed: pip install pylibfranka"
    return ""


def of(runs: Sequence[Run], law: Law, features: str) -> list[Run]:
    """Return the runs of a law and a kind of features."""
    return [run for run in runs if run.law == law and run.features == features]


def end_errors(runs: Sequence[Run]) -> tuple[float, float]:
    """Return the largest true errors of place and orientation at the end [m, rad]; infinite where a run failed."""
    if not runs or not all(run.converged and len(run.time) for run in runs):
        return math.inf, math.inf
    place, angle = np.max([run.errors[-1] for run in runs], axis=0)
    return float(place), float(angle)


def end_targets(runs: Sequence[Run], law: Law, features: str, source: str) -> list[Target]:
    """Return the targets of the ends of the runs of a law; none without runs."""
    chosen = of(runs, law, features)
    if not chosen:
        return []
    place, angle = end_errors(chosen)
    return error_targets(place, angle, f"{law}, {features}", source)


def error_targets(place: float, angle: float, of_what: str, source: str) -> list[Target]:
    """Return the targets of the camera's errors of place [m] and orientation [rad] at the end of runs."""
    name = f"largest error of the camera's {{}} at the end, {of_what}"
    return [
        Target(name.format("place"), 1e3 * place, high=0.5, unit="mm", source=source),
        Target(name.format("orientation"), math.degrees(angle), high=0.5, unit="deg", source=source),
    ]


def _ends(runs: Sequence[Run], features: str) -> str:
    parts = []
    for law in LAWS:
        chosen = of(runs, law, features)
        if not chosen:
            continue
        place, angle = end_errors(chosen)
        lost = [run for run in chosen if not run.converged]
        parts.append(
            f"{law} brings {len(chosen) - len(lost)} of {len(chosen)} starts to the goal"
            + (f" ({lost[0].status}: {lost[0].message})" if lost else f", within {1e3 * place:.2g} mm and ")
            + ("" if lost else f"{math.degrees(angle):.2g} deg")
        )
    return "; ".join(parts)


def tag_statement(runs: Sequence[Run], missing: str) -> Statement:
    """Judge that both kinds of visual servoing work with an AprilTag."""
    what = "A pose-based and an image-based visual servoing run with an AprilTag as their target."
    where = "section IV-A, video"
    source = "section IV-A; 0.5 mm and 0.5 deg are those of the demonstration programs"
    targets = [target for law in LAWS for target in end_targets(runs, law, RENDERED, source)]
    if not targets:
        return Statement(what=what, where=where, found=f"It cannot be judged without rendered images: {missing}.")
    return Statement(
        what=what,
        where=where,
        targets=targets,
        found=f"With rendered images, {_ends(runs, RENDERED)}, by the true pose of the camera.",
        rests_on=f"The paper prints no poses, gains or camera parameters; they are those of {DEMONSTRATION}, or ours.",
    )


def image_statement(runs: Sequence[Run]) -> Statement:
    """Judge what image-based servoing minimises, and what it does to the camera's path."""
    pbvs, ibvs = of(runs, "PBVS", EXACT), of(runs, "IBVS", EXACT)
    left = max((float(np.abs(r.true_pixels[-1] - r.true_goal).max()) for r in ibvs if len(r.time)), default=math.inf)
    image = [float(np.median([r.image_deviation for r in some])) for some in (pbvs, ibvs)]
    path = [float(np.median([r.path_deviation for r in some])) for some in (pbvs, ibvs)]
    return Statement(
        what="Image-based visual servoing minimises the error in the image, which makes the Cartesian path of the "
        "camera unpredictable.",
        where="section I",
        targets=[
            Target("largest distance of a corner from its goal at the end, IBVS", left, high=0.5, unit="px",
                   source="section I; half a pixel is ours"),
            Target("median bend of the corners' paths in the image, IBVS over PBVS",
                   image[1] / image[0] if image[0] > 0.0 else math.inf, high=0.5, source="section I; the half is ours"),
            Target("median bend of the camera's path, IBVS over PBVS", path[1] / path[0] if path[0] > 0.0 else 0.0,
                   low=5.0, source="section I; five times is ours"),
        ],
        found=(
            f"Under IBVS the corners end within {left:.2g} px of their goals; the median of their largest distance "
            f"from straight lines is {image[1]:.2g} px ({image[0]:.3g} px under PBVS), and that of the camera from a "
            f"straight line {1e3 * path[1]:.3g} mm ({1e3 * path[0]:.2g} mm under PBVS)."
        ),
        rests_on="The start poses are ours; unpredictable is read as not straight.",
    )  # fmt: skip


def synchronous_statement(runs: Sequence[Run]) -> Statement:
    """Judge the synchronous loop."""
    periods = (float(np.abs(np.diff(r.time) - IMAGE_PERIOD).max()) for r in runs if len(r.time) > 1)
    period = max(periods, default=math.inf)
    rendered = [run for run in runs if run.rendered]
    targets = [
        Target("largest difference of the loop's period from 20 ms", 1e3 * period, high=1e-6, unit="ms",
               source="section III-F; the limit is that of rounding")
    ]  # fmt: skip
    age = max((run.age for run in rendered), default=math.nan)
    if rendered:
        targets.append(
            Target("largest age of an image when it is used", 1e3 * age, high=1e-6, unit="ms",
                   source="section III-F: synchronous; the limit is that of rounding")
        )  # fmt: skip
    return Statement(
        what="The loop of visual servoing is synchronised with the simulation at 20 ms, like a real camera.",
        where="section III-F",
        targets=targets,
        found=(
            f"In {len(runs)} runs every period is 20 ms of robot time, to {1e3 * period:.0e} ms, with one command a "
            "millisecond"
            + (
                f"; each rendered image shows the state at which it is used (age {1e3 * age:.0e} ms)."
                if rendered
                else "."
            )
        ),
    )


def interface_statement(near: Sequence[Run], far: Sequence[Run], why_not: str = "") -> Statement:
    """Judge the transfer of a program: the same loop in this process and through the robot's interface.

    Args:
        near: runs in this process.
        far: the same starts and laws through the interface.
        why_not: why there are none.
    """
    what = "Code that works in the simulation is transferred to the robot."
    where = "sections II and V"
    if not far:
        return Statement(what=what, where=where, found=f"It cannot be judged: {why_not}.")
    lost = sum(int(run.counters.get(name, 1)) for run in far for name in ("lost", "late", "timeouts", "malformed"))
    apart = 0.0
    for a, b in zip(near, far, strict=True):
        n = min(len(a.time), len(b.time)) if b.status in ("running", "converged") else 0
        apart = max(apart, float(np.linalg.norm(a.place[:n] - b.place[:n], axis=1).max())) if n > 1 else math.inf
    cycles = sum(int(run.counters.get("cycles", 0)) for run in far)
    whole = [run for run in far if run.converged]
    broken = [run for run in far if run.status not in ("running", "converged")]
    laws = " and ".join(dict.fromkeys(run.law for run in far))
    place, angle = end_errors(whole)
    return Statement(
        what=what,
        where=where,
        targets=[
            Target("packets lost, late or malformed at the robot's interface", lost, equals=0,
                   source="sections II and V; that none is lost in lock-step is ours"),
            Target("largest distance of the camera between the interface and this process", 1e3 * apart, high=0.05,
                   unit="mm", source="sections II and V; a tenth of the tolerance is ours, states travel in float32"),
        ],
        found=(
            f"{laws}: the same function drives the arm in this process and through the Franka Control Interface with "
            f"pylibfranka; the cameras are at most {1e3 * apart:.1e} mm apart, and of {cycles} cycles {lost} packets "
            "were lost, late or malformed."
            + "".join(f" {r.law} ended early: {r.status}, {r.message}." for r in broken)
            + (
                f" Through the interface they end within {1e3 * place:.2g} mm and {math.degrees(angle):.2g} deg."
                if whole
                else ""
            )
        ),
        rests_on="The robot behind the interface is a simulated one.",
    )  # fmt: skip


def unjudged() -> list[Statement]:
    """Return the statements about real recordings and programs."""
    return [
        Statement(
            what="The behaviours of visual servoing are very close between the real and the simulated robot.",
            where="section IV-A, video",
            found="It cannot be judged: the recordings of the real robot were never published.",
        ),
        Statement(
            what="More than 95 % of the code of these experiments is common to robot and simulation; about ten lines "
            "are specific to the simulator.",
            where="section IV-A",
            found="It cannot be judged: it counts lines of the authors' programs. Here the loop is one function; what "
            "differs is how the arm and the image source are opened.",
        ),
    ]


def checks(runs: Sequence[Run]) -> list[Target]:
    """Return the checks of the simulation and of the laws."""
    targets = [t for law in LAWS for t in end_targets(runs, law, EXACT, "ours: exact features have no error")]
    for features in (EXACT, RENDERED):
        chosen = of(runs, "PBVS", features)
        if chosen:
            targets.append(
                Target(f"largest distance of the camera from a straight line, PBVS, {features}",
                       1e3 * max(run.path_deviation for run in chosen), high=1.0, unit="mm",
                       source="ours: the law's own path is a straight line; 1 mm")
            )  # fmt: skip
    seen = [float(np.abs(r.pixels - r.true_pixels).max()) for r in runs if r.rendered and len(r.time)]
    if seen:
        targets.append(
            Target("largest distance of a detected corner from where the true pose projects it", max(seen), high=0.5,
                   unit="px", source="ours: half a pixel")
        )  # fmt: skip
    return targets


def _summary_table(runs: Sequence[Run]) -> Table:
    rows = []
    for law in LAWS:
        for features in (EXACT, RENDERED):
            chosen = of(runs, law, features)
            if not chosen:
                continue
            place, angle = end_errors(chosen)
            path = 1e3 * np.array([run.path_deviation for run in chosen])
            image = np.array([run.image_deviation for run in chosen])
            times = np.array([run.converged_at for run in chosen])
            found = (law, features, f"{sum(run.converged for run in chosen)} of {len(chosen)}")
            spread = (float(of(values)) for values in (times, path, image) for of in (np.median, np.max))
            rows.append([*found, 1e3 * place, math.degrees(angle), *spread])
    bends = ["bend of the camera's path, median [mm]", "largest", "bend of the corners' paths, median [px]", "largest"]
    times_of = ["time to 0.5 mm and 0.5 deg, median [s]", "longest"]
    return Table(
        title="All starts",
        columns=["law", "features", "converged", "worst end [mm]", "[deg]", *times_of, *bends],
        rows=rows,
        note="Errors are those of the true pose. A bend is the largest distance from the straight line between start "
        "and goal.",
    )


def smooth_start_table(poses: Sequence[Start], setup: Setup) -> Table:
    """Return how much each smooth start bends the path of PBVS, by the kinematics of the law alone."""
    from pliant.papers.arms.tag_servo import deviation
    from pliant.vision.visual_servoing import pbvs_task

    rows = []
    for smooth in ("scaled", "published", "none"):
        for period in (0.02, 0.001):
            bends = []
            for start in poses:
                X, places = start.X_CO, []
                published = vision.SmoothStart(setup.decay)
                for k in range(round(3.0 / period)):
                    t = k * period
                    v = vision.solve(pbvs_task(X, start.goal), setup.gain)
                    if smooth == "published":
                        v = published(v, t)
                    elif smooth == "scaled":
                        v = v * (1.0 - math.exp(-setup.decay * t))
                    places.append(inverse(X)[:3, 3])
                    X = vision.camera_moved(X, v, period)
                bends.append(1e3 * deviation(np.array(places), inverse(start.goal)[:3, 3]))
            rows.append([smooth, 1e3 * period, float(np.median(bends)), float(np.max(bends))])
    return Table(
        title="Bend of the path of PBVS by the smooth start and the loop's period, without an arm",
        columns=["smooth start", "period [ms]", "median [mm]", "largest [mm]"],
        rows=rows,
        note="The published start subtracts the first velocity in the axes of the camera, which turns meanwhile.",
    )


def _starts_table(poses: Sequence[Start], runs: Sequence[Run]) -> Table:
    by = {(law, features): of(runs, law, features) for law in LAWS for features in (EXACT, RENDERED)}
    rows = []
    for i, start in enumerate(poses):
        row: list[float | int | None] = [i, start.distance, math.degrees(start.tilt)]
        for chosen in by.values():
            row.append(chosen[i].converged_at if i < len(chosen) else None)
        rows.append(row)
    return Table(
        title="Time to 0.5 mm and 0.5 deg [s]",
        columns=["start", "distance [m]", "tilt [deg]", *(f"{law}, {features}" for law, features in by)],
        rows=rows,
    )


def interface_table(runs: Sequence[Run], names: Sequence[str], about: Callable[[Run], Sequence[object]]) -> Table:
    """Return what the interface counted in runs; ``names`` and ``about`` are their first columns."""
    counted = ("cycles", "lost", "late", "timeouts", "malformed")
    rows = [[*about(run), *(run.counters.get(name) for name in counted)] for run in runs]
    return Table(title="Runs through the interface", columns=[*names, *counted], rows=rows)


def _about(run: Run) -> list[object]:
    return [run.law, run.features, float(run.time[-1]) if len(run.time) else None, run.status]


def _films(context: Context, options: FrankaVisualServoOptions) -> list[Film]:
    from pliant.papers._servo_figures import film_of

    setup = setup_of(options)
    poses, _ = start_poses(replace(options, starts=1), context.rng, setup)
    return [film_of([run_servo(poses[0], law, setup, rendered=False) for law in LAWS], setup)]


@experiment(
    "franka-visual-servo",
    title="Visual servoing before an AprilTag",
    paper=PAPER,
    section="I, III-F, IV-A",
    films=_films,
    cameras=("view",),
)
def franka_visual_servo(context: Context, options: FrankaVisualServoOptions) -> Result:
    """Move a wrist camera to a tag, position-based and image-based, with rendered images and exact features."""
    from pliant.papers._servo_figures import figures
    from pliant.papers.arms.tag_servo import missing_for_pictures

    missing = missing_for_pictures()
    setup = setup_of(options)
    if context.quick:
        options = replace(options, starts=1)
        setup = replace(setup, settle=0.3)
    poses, drawn = start_poses(options, context.rng, setup)
    jobs = [(start, law, False) for law in LAWS for start in poses]
    if not missing:
        jobs += [(start, law, True) for law in LAWS for start in poses]
    runs = []
    for start, law, rendered in context.track(
        jobs, lambda job: f"{job[1]}, {RENDERED if job[2] else EXACT}", low=0.02, high=0.8
    ):
        runs.append(run_servo(start, law, setup, rendered=rendered))
    far, near, why_not = [], [], missing_client()
    if not why_not:
        context.progress(0.8, "through the interface")
        duration = QUICK_INTERFACE if context.quick else None
        for law in LAWS[:1] if context.quick else LAWS:
            near.append(of(runs, law, EXACT if missing else RENDERED)[0])
            far.append(run_servo(poses[0], law, setup, rendered=not missing, fci=True, duration=duration))
    notes = [
        f"{len(poses)} start poses were taken of {drawn} drawn; the others showed the tag within 20 px of the edge "
        "of the image, or the straight way to the goal came near a limit of a joint.",
        "The camera of the arm, the tag and the arm's controller are those of `pliant run franka --set "
        "robot.camera=wrist --set robot.tag=table`.",
    ]
    if missing:
        notes.insert(0, f"There are no runs with rendered images: {missing}")
    if why_not:
        notes.insert(0, f"There are no runs through the interface: {why_not}")
    tables = [_summary_table(runs), _starts_table(poses, runs)]
    if far:
        tables.append(interface_table(far, ["law", "features", "robot time [s]", "ended"], _about))
    if not context.quick:
        context.progress(0.9, "smooth starts")
        tables.append(smooth_start_table(poses, setup))
    context.progress(0.95, "figures")
    best = RENDERED if not missing else EXACT
    shown = [run for law in LAWS for run in of(runs, law, best)]
    example = of(runs, "PBVS", best)[0]
    traces = {"time_s": example.time, "velocity_camera": example.velocity, "error_m_rad": example.errors}
    return Result(
        statements=[
            tag_statement(runs, missing),
            image_statement(runs),
            synchronous_statement([*runs, *far]),
            interface_statement(near, far, why_not),
            *unjudged(),
        ],
        targets=checks(runs),
        tables=tables,
        figures=figures(poses, runs, setup, pictures=not missing, quick=context.quick),
        summary=f"{_ends(runs, best)}. The camera's path under PBVS is straight within "
        f"{1e3 * max(r.path_deviation for r in shown if r.law == 'PBVS'):.2g} mm.",
        notes=notes,
        assumptions=[
            "Place, lens (42.5 deg, 640 x 480) and rate (50 Hz) of the wrist camera; it has no mass.",
            "The tag lies 0.5 m before the arm at the height of its base; of its two alike orientations the nearer one "
            "is the goal.",
            "Both laws have the same adaptive gain.",
            "A run ends 1 s after the measured pose has come within 0.5 mm and 0.5 deg.",
        ],
        traces=traces,
    )

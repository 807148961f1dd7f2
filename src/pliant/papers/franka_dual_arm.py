"""Two Franka arms: one moves a tag, the other follows it by vision and gives way to an obstacle (Oliva et al. 2022)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.base.numerics import Array
from pliant.base.options import option
from pliant.experiments.base import Context, Result, Statement, Table, Target, experiment
from pliant.experiments.films import Film
from pliant.papers.arms.franka_server import names_stall, past_stalls
from pliant.papers.franka_visual_servo import PAPER, gain_of, missing_client

if TYPE_CHECKING:
    from pliant.papers.arms.follow_tag import Plan, Run

SECTION = "section IV-B"
SPECIFIED = "the program of the published demonstration"
ASSUMED = "The paper prints no mounting, places, masses or gains of this experiment; they are assumed."
BEFORE_CONTACT = 0.35
"""Laps after which the hand may touch the post."""
IMPACT = 0.1
"""How long after the first touch the force is that of the impact [s]: ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrankaDualArmOptions:
    """Assumptions of the experiment: the paper shows it in a figure and a video and prints one number, 20 cm."""

    laps: float = option(2.0, low=0.7, high=20.0, source="ours")
    """Laps of the circle."""
    radius: float = option(0.05, unit="m", low=0.01, high=0.08, source=SPECIFIED)
    """Radius of the circle."""
    frequency: float = option(0.3, unit="Hz", low=0.05, high=0.6, source=SPECIFIED)
    """Laps a second."""
    distance: float = option(0.2, unit="m", low=0.12, high=0.35, source=SECTION)
    """Desired distance of the camera from the tag."""
    gain_at_zero: float = option(4.0, unit="1/s", low=0.1, high=20.0, source=SPECIFIED)
    """Adaptive gain at the goal."""
    gain_at_infinity: float = option(1.2, unit="1/s", low=0.1, high=20.0, source=SPECIFIED)
    """Adaptive gain far from it."""
    gain_slope: float = option(25.0, unit="1/s", low=0.0, high=1000.0, source=SPECIFIED)
    """Slope of the adaptive gain at the goal."""
    feedforward: bool = option(True, source="ours")
    """Whether the camera also moves with the estimated velocity of the tag and with that of the admittance. Without it,
    which is the published law, the camera lags by the velocity over the gain."""
    stiffness: float = option(100.0, unit="N/m", low=1.0, high=1e4, source=SPECIFIED)
    """Stiffness of the admittance, for its virtual mass of 1 kg."""
    damping: float = option(100.0, unit="N s/m", low=1.0, high=1e4, source=SPECIFIED)
    """Damping of the admittance, for the same mass."""
    translation_bandwidth: float = option(50.0, unit="rad/s", low=1.0, high=80.0, source=SPECIFIED)
    """Bandwidth of the left hand's place."""
    rotation_bandwidth: float = option(20.0, unit="rad/s", low=1.0, high=80.0, source=SPECIFIED)
    """Bandwidth of its orientation."""
    force_limit: float = option(18.0, unit="N", low=1.0, high=100.0, source="ours; the arm's own limit is 20 N")
    """Contact force at which both arms stop."""
    friction: bool = option(True, source="Gaz et al. 2019")
    """Whether the identified joint friction acts, and the cabinets compensate it."""


def plan_of(options: FrankaDualArmOptions, *, quick: bool = False) -> Plan:
    """Return what the arms do."""
    from pliant.papers.arms.follow_tag import Plan

    return Plan(
        radius=options.radius,
        frequency=options.frequency,
        laps=min(options.laps, 0.72) if quick else options.laps,
        distance=options.distance,
        gain=gain_of(options),
        feedforward=options.feedforward,
        stiffness=options.stiffness,
        damping=options.damping,
        bandwidth=(options.translation_bandwidth, options.rotation_bandwidth),
        force_limit=options.force_limit,
        step=2 if quick else 1,
    )


def run_arms(
    plan: Plan,
    *,
    fci: bool = False,
    rendered: bool = False,
    obstacle: bool = True,
    friction: bool = True,
    mode: str = "lockstep",
) -> Run:
    """Run both arms once.

    Args:
        plan: what they do.
        fci: whether the arms are served by another process through the robot's interface.
        rendered: whether the camera renders images; else the features are exact.
        obstacle: whether the post stands on the table.
        friction: whether the identified joint friction acts.
        mode: time mode of the interface.
    """
    from pliant.papers.arms.follow_tag import Ending, follow, start_joints
    from pliant.papers.arms.opened import open_torso

    start = None if plan.approach else start_joints(plan)
    options: dict[str, Any] = {"fci": fci, "rendered": rendered, "obstacle": obstacle, "friction": friction}

    def make() -> Run:
        with open_torso(**options, mode=mode, start=start) as torso:
            run = follow(torso, plan)
        run.health = [dict(arm) for arm in torso.health()]
        return run

    return past_stalls(make, lambda run: run.ending is Ending.FAULT and names_stall(run.message))


def _ended(run: Run) -> str:
    return "" if run.ending == "completed" else f" The run ended early: {run.ending}, {run.message}."


def _whole(run: Run, of: str) -> Target:
    """Return the target that a run was not cut short, and what it is of."""
    made = 0.0 if math.isnan(run.circle_at) or not len(run.time) else float(run.time[-1]) - run.circle_at
    missing = 0.0 if run.ending == "completed" else max(run.plan.laps - made * run.plan.frequency, 1e-3)
    return Target(
        f"laps of the circle that were not made, {of}", missing, equals=0, source="ours: a run that ended early"
    )


def robots_statement(run: Run) -> Statement:
    """Judge that one program handles two robots, one in torque and one in velocity."""
    apart = 1e3 * run.time_apart
    return Statement(
        what="The same program handles several robots, one controlled in torque and the other in velocity.",
        where=SECTION,
        targets=[
            Target("largest difference between the times of both arms' states", apart, high=1e-6, unit="ms",
                   source=f"{SECTION}; the limit is that of rounding"),
            _whole(run, "both arms"),
        ],
        found=(
            f"One thread sends {run.cycles} torques to the left and {run.cycles} velocities to the right arm, "
            f"{run.through}; the states that it receives are at most {apart:.0e} ms apart." + _ended(run)
        ),
    )  # fmt: skip


def gravity_statement(run: Run) -> Statement:
    """Judge that gravity and payload are compensated on level bases."""
    floated = bool(len(run.time)) and float(run.time[-1]) >= run.plan.float_time - 0.01
    drift = run.float_drift if floated else math.inf
    return Statement(
        what="The dynamic model compensates gravity and the payload (gripper) fully, even though the robot is not "
        "mounted vertically; at the start the left arm only compensates gravity.",
        where=SECTION,
        targets=[
            Target("motion of the left arm's joints under zero torques at the start", drift, high=1e-3, unit="rad",
                   source=f"{SECTION}; 1e-3 rad is ours")
        ],
        found=(
            f"With its base axis level and the hand on it the left arm moves by {drift:.1e} rad in "
            f"{run.plan.float_time:g} s of zero torques."
            if floated
            else "The run ended before the arm had floated." + _ended(run)
        ),
        rests_on="The mounting is assumed: the axes of the bases are level.",
    )  # fmt: skip


def rate_statement(run: Run) -> Statement:
    """Judge the lower rate of the camera."""
    gaps = np.diff(run.images) if len(run.images) > 1 else np.array([math.inf])
    low, high = float(1e3 * gaps.min()), float(1e3 * gaps.max())
    return Statement(
        what="The execution is synchronous with the physics, and the camera is slower than the control loop.",
        where=f"sections III-F and {SECTION.split()[-1]}",
        targets=[
            Target(f"{name} time between two images", value, equals=20.0, tolerance=1e-6, unit="ms",
                   source="section III-F: 20 ms, like a real camera")
            for name, value in (("longest", high), ("shortest", low))
        ],
        found=(
            f"Of {len(run.images)} images "
            + ("(rendered)" if run.rendered else "(exact features)")
            + f" one comes every {low:.6g} to {high:.6g} ms of robot time, and {run.cycles} "
            "commands went to each arm." + _ended(run)
        ),
    )  # fmt: skip


def left_statement(run: Run) -> Statement:
    """Judge the computed torque of the left arm."""
    rows = run.lap(0.0, math.inf)
    away = float(np.linalg.norm((run.tag - run.desired)[rows], axis=1).max()) if rows.any() else math.inf
    return Statement(
        what="The left arm is torque controlled by a computed-torque Cartesian controller, and its end effector "
        "follows a circle.",
        where=f"{SECTION}, figure 6",
        targets=[
            Target("largest distance of the tag from its place on the circle", 1e3 * away, high=1.0, unit="mm",
                   source="figure 6 shows a circle; 1 mm is ours"),
            _whole(run, "left arm"),
        ],
        found=(
            f"The tag stays within {1e3 * away:.2g} mm of its place on the circle of {1e3 * run.plan.radius:g} mm at "
            f"{run.plan.frequency:g} Hz." + _ended(run)
        ),
        rests_on=ASSUMED,
    )  # fmt: skip


def view_statement(run: Run) -> Statement:
    """Judge that the tag is brought to the middle of the image at 20 cm."""
    began = bool(len(run.time)) and not math.isnan(run.circle_at)
    off = math.inf
    if began:
        row = min(int(np.searchsorted(run.time, run.circle_at)), len(run.time) - 1)
        off = float(np.linalg.norm(run.X_CO[row][:3, 3] - (0.0, 0.0, 0.2)))
    took = run.circle_at - run.plan.float_time
    return Statement(
        what="The right arm makes the tag centred in the image at a distance of 20 cm; then the circle begins.",
        where=SECTION,
        targets=[
            Target("distance of the tag from the point 20 cm before the camera when the circle begins", 1e3 * off,
                   high=2.0, unit="mm", source=f"{SECTION}; 2 mm is ours")
        ],
        found=(
            f"The servo takes {took:.2f} s; the tag is then {1e3 * off:.2g} mm from that point."
            if began
            else "The circle did not begin."
        )
        + _ended(run),
        rests_on=ASSUMED,
    )  # fmt: skip


def _free_error(run: Run, laps: tuple[float, float]) -> tuple[float, float]:
    """Return the largest errors of place and orientation in some laps [m, rad]; infinite without a row."""
    rows = run.lap(*laps)
    if not rows.any():
        return math.inf, math.inf
    e = run.errors[rows]
    return float(np.linalg.norm(e[:, :3], axis=1).max()), float(np.linalg.norm(e[:, 3:], axis=1).max())


def follow_statement(published: Run, ours: Run, laps: tuple[float, float]) -> Statement:
    """Judge that the right arm follows, by a run of the published law, which has no feed-forward.

    Args:
        published: a run of the published law without an obstacle.
        ours: a run with the options of the experiment.
        laps: which of the laps of ``ours`` are free of contact, from and to.
    """
    lag, _ = _free_error(published, (0.0, math.inf))
    place, angle = _free_error(ours, laps)
    rows = published.lap(0.0, math.inf)
    way = float(np.linalg.norm((published.tag - published.tag[rows][0])[rows], axis=1).max()) if rows.any() else 0.0
    speed = 2.0 * math.pi * ours.plan.frequency * ours.plan.radius
    return Statement(
        what="The left arm's circle makes the right arm follow, which chases the tag visually.",
        where=f"{SECTION}, figure 6",
        targets=[
            Target(
                "largest error of the camera's place under the published law, over the way of the tag from its start",
                lag / way if way > 0.0 else math.inf,
                high=0.5,
                source="figure 6: it chases the tag; a half is ours, and 1 is a camera at rest",
            ),
            _whole(published, "published law"),
        ],
        found=(
            f"Under the published law the camera follows, and lags by up to {1e3 * lag:.3g} mm where the tag goes "
            f"{1e3 * way:.3g} mm from its start, because the tag moves at {speed:.2g} m/s and the gain is at most "
            f"{ours.plan.gain(0.0):.2g} 1/s."
            + _ended(published)
            + (
                f" With the feed-forward of the tag's velocity, which is ours, it keeps the tag within "
                f"{1e3 * place:.2g} mm and {math.degrees(angle):.2g} deg of the desired pose, {ours.through}, with "
                f"{'rendered images' if ours.rendered else 'exact features'}." + _ended(ours)
                if ours.plan.feedforward
                else ""
            )
        ),
        rests_on=f"{ASSUMED} The run of the published law is one in this process with exact features.",
    )


def follow_checks(run: Run, laps: tuple[float, float]) -> list[Target]:
    """Return what the camera shall keep in free motion: 1 cm and 1 deg, which the paper does not ask for.

    Args:
        run: a run.
        laps: which of its laps are free of contact, from and to.
    """
    place, angle = _free_error(run, laps)
    source = "ours" + (", with the feed-forward, which is ours" if run.plan.feedforward else ", the published law")
    return [
        Target("largest error of the camera's place in free motion", 1e3 * place, high=10.0, unit="mm", source=source),
        Target("largest error of the camera's orientation in free motion", math.degrees(angle), high=1.0, unit="deg",
               source=source),
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Contact:
    """Observations of the contact in a run."""

    touched: bool
    """Whether the hand touched something on the circle."""
    depth: float
    """By how much the path stays short of the circle [m]."""
    flat: float
    """Range of the path across the face of the post, while it touches [m]."""
    length: float
    """Range of the path along it [m]."""
    force: float
    """Largest force after the impact [N]."""
    largest: list[float]
    """Largest force of each lap, after the first impact [N]."""


def contact_of(run: Run) -> Contact:
    """Return what a run shows of the contact."""
    force = np.linalg.norm(run.force, axis=1)
    rows = run.lap(0.0, math.inf) & (force > 1.0)
    if not rows.any():
        return Contact(False, 0.0, math.inf, 0.0, 0.0, [])
    began = run.time[rows][0]
    steady = rows & (run.time > began + IMPACT)
    hand = run.hand
    # The hand keeps its place beside the tag where nothing is in the way.
    beside = (
        hand[int(np.searchsorted(run.time, run.circle_at))] - run.tag[int(np.searchsorted(run.time, run.circle_at))]
    )
    free = run.tag + beside
    laps = range(math.ceil(run.plan.laps))
    largest = [float(force[steady & run.lap(k, k + 1)].max()) for k in laps if (steady & run.lap(k, k + 1)).any()]
    return Contact(
        True,
        float(hand[rows, 0].min() - free[run.lap(0.0, math.inf), 0].min()),
        float(np.ptp(hand[steady, 0])) if steady.any() else math.inf,
        float(np.ptp(hand[steady, 2])) if steady.any() else 0.0,
        max(largest, default=math.inf),
        largest,
    )


def contact_statement(run: Run) -> Statement:
    """Judge the D and the force of the contact."""
    found = contact_of(run)
    asked = run.plan.damping * 2.0 * math.pi * run.plan.frequency * run.plan.radius + run.plan.stiffness * 0.025
    growth = found.largest[-1] / found.largest[0] if found.largest else math.inf
    targets = [
        Target("by how much the obstacle keeps the hand from the circle", 1e3 * found.depth, low=15.0, unit="mm",
               source="figure 6: a D; the post stands 25 mm in the way, and 10 mm for its padding is ours"),
        Target("range of the path across the face of the post, while it touches", 1e3 * found.flat, high=6.0,
               unit="mm",
               source="figure 6: a D has a straight side; 6 mm is ours, the padding yields by 12 N / 2 N/mm"),
        Target("largest contact force after the impact", found.force if found.touched else math.inf, high=15.0,
               unit="N",
               source=f"ours: the admittance asks for {asked:.3g} N at full speed; the arm reports a contact at 20 N"),
        _whole(run, "contact"),
    ]  # fmt: skip
    text = (
        f"The post takes {1e3 * found.depth:.3g} mm from the circle; along its face the hand moves by "
        f"{1e3 * found.length:.3g} mm and across it by {1e3 * found.flat:.2g} mm. The force after the impact is at "
        f"most {found.force:.3g} N ({run.peak_force:.3g} N with it)"
        + (f", in the last lap {growth:.2g} times that of the first." if len(found.largest) > 1 else ".")
        if found.touched
        else "The hand touched nothing."
    )
    return Statement(
        what="The gripper of the right arm collides with an obstacle on the work table while it chases the tag, and "
        "the extended external hybrid controller makes the path of that arm a D.",
        where=f"{SECTION}, figure 6",
        targets=targets,
        found=text + _ended(run),
        rests_on=f"{ASSUMED} So are shape, place, padding and friction of the obstacle."
        + (" The feed-forward of this run is ours." if run.plan.feedforward else ""),
    )


def interface_statement(run: Run | None, why_not: str = "") -> Statement:
    """Judge the connection."""
    what = "The code is that of the real robots: they are reached through their own interface."
    where = "sections III-D and V"
    if run is None:
        return Statement(what=what, where=where, found=f"It cannot be judged: {why_not}.")
    arms = run.health
    lost = sum(int(arm[name]) for arm in arms for name in ("lost", "late", "timeouts", "malformed")) if arms else 1
    return Statement(
        what=what,
        where=where,
        targets=[
            Target("packets of both arms lost, late or malformed", lost, equals=0,
                   source="sections III-D and V; that none is lost in lock-step is ours"),
            _whole(run, "interface"),
        ],
        found=(
            f"Both arms are driven by one program with pylibfranka, each at its own address; of "
            f"{sum(int(arm['cycles']) for arm in arms)} states {lost} packets were lost, late or malformed."
            + _ended(run)
        ),
        rests_on="The robots behind the interface are simulated ones.",
    )  # fmt: skip


def picture_statement() -> Statement:
    """Say why the curves are not judged."""
    return Statement(
        what="The camera view and some plotted curves show the course of the experiment.",
        where="figure 6",
        found="It cannot be judged: the curves have no published data. The figure here shows the same four parts.",
    )


def published_law(plan: Plan, duration: float) -> tuple[Array, Array]:
    """Integrate the published law for a camera that moves as commanded, in the plane of the circle.

    e' = -gain(|e|_inf) e_held - V(t), with the error held for the time between two images.

    Args:
        plan: circle, gain and rate of the smooth start.
        duration: length [s].

    Returns:
        times, shape (n,) [s], and lengths of the error, shape (n,) [m].
    """
    from pliant.papers.arms.follow_tag import CYCLE, IMAGE_CYCLES

    w, mu = 2.0 * math.pi * plan.frequency, 2.0 * plan.decay
    e, held = np.zeros(2), np.zeros(2)
    times = np.arange(round(duration / CYCLE)) * CYCLE
    sizes = np.empty(len(times))
    for k, t in enumerate(times):
        if k % IMAGE_CYCLES == 0:
            held = e.copy()
        sizes[k] = np.linalg.norm(e)
        fade = math.exp(-mu * t)
        phase, rate = w * (t - (1.0 - fade) / mu), w * (1.0 - fade)
        tag = plan.radius * rate * np.array([-math.sin(phase), math.cos(phase)])
        e = e + CYCLE * (-plan.gain(float(np.abs(held).max())) * held - tag)
    return times, sizes


def published_checks(run: Run) -> list[Target]:
    """Compare a run of the published law with the law alone."""
    rows = run.lap(0.0, math.inf)
    t = run.time[rows] - run.circle_at
    if not len(t):
        return [
            Target("residual of the published law against its reference", math.inf, high=2.0, unit="mm", source="ours")
        ]
    times, sizes = published_law(run.plan, float(t[-1]) + 0.1)
    found = np.linalg.norm(run.errors[rows][:, :3], axis=1)
    residual = float(np.abs(found - np.interp(t, times, sizes)).max())
    return [
        Target("residual of the published law against its reference", 1e3 * residual, high=2.0, unit="mm",
               source="ours: the reference is the law integrated for a camera that moves as commanded")
    ]  # fmt: skip


def _films(context: Context, options: FrankaDualArmOptions) -> list[Film]:
    from pliant.papers._dual_figures import film_of

    plan = replace(plan_of(options, quick=True), laps=min(options.laps, 1.0))
    return [film_of(run_arms(plan, friction=options.friction))]


@experiment(
    "franka-dual-arm",
    title="Two Franka arms: vision and force in one controller",
    paper=PAPER,
    section=f"{SECTION}, figure 6",
    films=_films,
    cameras=("view",),
)
def franka_dual_arm(context: Context, options: FrankaDualArmOptions) -> Result:
    """Move a tag on a circle with one Franka arm, and follow it with another by vision and force control.

    The arms are those of the catalogue robot ``franka-torso``. The left one is under torques, the right one under
    velocities, a command of each in every millisecond from one thread, with an image every 20 ms. With pylibfranka and
    a renderer both arms are driven through the Franka Control Interface on rendered images; the quick version has exact
    features and less than a lap.
    """
    from pliant.papers import _dual_figures as dual_figures
    from pliant.papers.arms.tag_servo import missing_for_pictures

    quick = context.quick
    plan = plan_of(options, quick=quick)
    client = not missing_client()
    missing = missing_for_pictures()
    rendered, fci = not quick and not missing, client
    context.progress(0.0, "circle and obstacle")
    contact = run_arms(plan, fci=fci, rendered=rendered, friction=options.friction)
    free = contact
    if not quick:
        context.progress(0.4, "circle without obstacle")
        free = run_arms(plan, fci=fci, rendered=rendered, obstacle=False, friction=options.friction)
    context.progress(0.75, "published law")
    short = replace(plan, feedforward=False, approach=False, laps=0.35 if quick else 1.0)
    published = run_arms(short, obstacle=False, friction=options.friction)
    context.progress(0.95, "figures")
    free_laps = (0.0, BEFORE_CONTACT) if quick else (0.0, math.inf)
    statements = [
        robots_statement(contact),
        gravity_statement(contact),
        rate_statement(contact),
        left_statement(contact),
        view_statement(contact),
        follow_statement(published, free, free_laps),
        contact_statement(contact),
        interface_statement(contact if fci else None, "pylibfranka is not installed"),
        picture_statement(),
    ]
    checks = [*published_checks(published), *follow_checks(free, free_laps)]
    notes = [
        "Sign: the force is what the obstacle exerts on the hand, in world axes; x points away from the torso.",
        "The admittance's slow pole is at 1.0 1/s, so that the hand comes back to the circle within some seconds: the "
        "curved part of the D stays up to some millimetres outside of the circle.",
    ]
    if missing and not quick:
        notes.append(f"Rendered images were left out: {missing}.")
    if not client:
        notes.append("The arms were simulated in this process, because pylibfranka is not installed.")
    lag, _ = _free_error(published, (0.0, math.inf))
    error, _ = _free_error(free, free_laps)
    return Result(
        statements=statements,
        targets=checks,
        tables=[_table(contact, free, published)],
        figures=dual_figures.figures(contact, free, published, published_law(short, short.laps / short.frequency)),
        summary=(
            f"One program moves both arms, {contact.through}. The tag goes round a circle of "
            f"{1e3 * plan.radius:g} mm at {plan.frequency:g} Hz; the right camera follows it and its hand meets "
            f"the post. The published law alone lags by {1e3 * lag:.3g} mm"
            + (
                f"; with the tag's velocity estimated and fed forward the error is {1e3 * error:.2g} mm."
                if plan.feedforward
                else "."
            )
        ),
        notes=notes,
        assumptions=[
            "Mounting: both bases 1.2 m high and 0.3 m apart, their axes level and to the sides.",
            "Camera 7 cm beside the flange's axis, tag 3 cm before the fingertips, both without mass.",
            "Post: its face 25 mm inside the path of the fingers, on a padding of 2 N/mm, friction 0.1.",
            f"The left arm reaches the start of the circle in 1.5 s; smooth starts with mu = {plan.decay:g} 1/s.",
            f"A contact force up to {plan.deadband:g} N counts as none.",
        ],
        traces=_traces(contact),
    )


def _table(contact: Run, free: Run, published: Run) -> Table:
    rows = []
    for name, run in (("with the post", contact), ("without it", free), ("published law, without it", published)):
        e = run.errors[run.lap(0.0, math.inf)]
        if (run is contact and name == "without it") or not len(e):
            continue
        rows.append(
            {
                "run": name,
                "end": str(run.ending),
                "error of place [mm]": round(1e3 * float(np.linalg.norm(e[:, :3], axis=1).max()), 2),
                "of orientation [deg]": round(math.degrees(float(np.linalg.norm(e[:, 3:], axis=1).max())), 3),
                "largest force [N]": round(run.peak_force, 2),
                "largest shift [mm]": round(1e3 * float(np.abs(run.shift[:, :3]).max()), 2),
            }
        )
    note = "Errors are those of the camera against the unshifted desired pose, on the circle."
    return Table.of("Runs", rows, note)


def _traces(run: Run) -> dict[str, Array]:
    return {
        "time_s": run.time,
        "tag_m": run.tag,
        "hand_m": run.hand,
        "force_N": run.force,
        "shift_m_rad": run.shift,
        "camera_velocity_m_s_rad_s": run.velocity,
        "left_torque_N_m": run.torque,
        "error_m_rad": run.errors,
    }

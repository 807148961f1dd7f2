"""An arm of five qbMoves pushes a box, soft and stiff (Mengacci et al. 2021, section 4.2.3, figure 14)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from pliant.base.errors import PliantError
from pliant.base.numerics import GRAVITY, Array
from pliant.experiments.base import Context, Figure, Result, Statement, Table, Target, experiment
from pliant.experiments.films import Film, Shot
from pliant.experiments.panels import Band, Level, Line, Note, Panel, draw
from pliant.experiments.pictures import frames
from pliant.joints.qbmove_5dof.build import BALL
from pliant.papers._box_push import (
    BAND,
    BOX_MASS,
    HOLD,
    MOVE,
    PRESETS,
    REACHED,
    STAYED,
    STOPPED,
    TIMESTEP,
    WAIT,
    BoxOptions,
    GoalSweep,
    Push,
    build_arm,
    push,
    sweep_goals,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

PAPER = "Mengacci et al. 2021, Front. Robot. AI 8:713083"
JOINT_FRICTION = 0.025
"""Friction of the joints [N m]. Section 4.2."""
PUSHES = tuple(round(0.03 + 0.005 * k, 3) for k in range(21))
"""Pushes of the sweep over the goal [m]; the quick version has those from 55 to 100 mm."""


def judge_pushes(options: BoxOptions, runs: Mapping[str, Push]) -> list[Statement]:
    """Judge the two pushes of one commanded path.

    Args:
        options: assumptions.
        runs: "soft" and "stiff".
    """
    soft, stiff = runs["soft"], runs["stiff"]
    path = options.approach + options.push
    moved = 1e3 * float(stiff.displacement[-1])
    slid = float(np.max(np.abs(soft.displacement)))
    pressed = [float(run.horizontal_force.max()) for run in (soft, stiff)]
    unknown = (
        "Body, pose, springs and path of the arm, and the gain of the inverse kinematics were never published; they "
        "were chosen so that the statement holds over a range of goals (see the sweep)."
    )
    return [
        Statement(
            what="In the soft case the box stops the movement of the end effector, and stays.",
            where="section 4.2.3, figure 14",
            targets=[
                Target(
                    "soft: largest displacement of the box", slid, high=STAYED, unit="m",
                    source="section 4.2.3: the arm cannot move the box; 0.1 mm is ours",
                ),
                Target("soft: way of the tip beyond the first contact", soft.advance, high=STOPPED, unit="m",
                       source="section 4.2.3: the box stops the movement; 5 mm is ours",
                       note="A tip that slips over the box would pass the box without moving it."),
            ],
            found=f"The box moves {1e3 * slid:.2f} mm; the tip ends "
            f"{1e3 * soft.advance:.1f} mm beyond the first contact, {1e3 * soft.remaining:.0f} mm short of its goal.",
            rests_on=unknown,
        ),
        Statement(
            what="In the stiff case the arm moves the box.",
            where="section 4.2.3, figure 14",
            targets=[
                Target(
                    "stiff: displacement of the box", float(stiff.displacement[-1]), low=0.5 * options.push, unit="m",
                    source="section 4.2.3: the arm moves the box; half of the commanded push is ours",
                )
            ],
            found=f"The box moves {moved:.1f} mm; the commanded push is {1e3 * options.push:.0f} mm.",
            rests_on=unknown,
        ),
        Statement(
            what="In the stiff case the arm reaches the desired position of the end effector.",
            where="section 4.2.3, figure 14",
            targets=[
                Target(
                    "stiff: distance of the tip from its goal over the length of the path", stiff.remaining / path,
                    high=REACHED, source="section 4.2.3: reaches; 10 % of the path is ours",
                ),
                Target(
                    "stiff: largest difference of a joint from its desired position", stiff.joint_error,
                    high=BAND, unit="rad", source="tolerance of section 4.3",
                ),
            ],
            found=f"The tip ends {1e3 * stiff.remaining:.1f} mm short of its goal after a path of {1e3 * path:.0f} mm, "
            f"the joints within {stiff.joint_error:.3f} rad. The command has no feedback, so the springs "
            "give way by what the force of the box bends them.",
            rests_on=unknown,
        ),
        Statement(
            what="A stiffened arm exerts a greater force on the box.",
            where="figure 14, caption",
            targets=[
                Target(
                    "largest horizontal force of the stiff arm over that of the soft one", pressed[1] / pressed[0],
                    low=1.05, source="figure 14, caption: an increased force; 5 % is ours",
                )
            ],
            found=f"The largest force is {pressed[0]:.2f} N soft and {pressed[1]:.2f} N stiff.",
            rests_on=unknown,
        ),
    ]  # fmt: skip


def judge_goals(sweep: GoalSweep) -> list[Statement]:
    """Judge whether the result holds for more than one goal."""
    low, high = sweep.range
    if math.isnan(low):
        found = "No goal of the sweep has both."
        width = 0.0
    else:
        width = high - low
        found = f"Both hold for commanded pushes from {1e3 * low:.0f} to {1e3 * high:.0f} mm beyond the first contact."
    return [
        Statement(
            what="One commanded path is stopped by the box when the arm is soft and completed when it is stiff.",
            where="section 4.2.3, figure 14",
            targets=[
                Target("range of pushes at which the soft arm is stopped and the stiff one reaches its goal",
                       low=0.01, unit="m",
                       source="section 4.2.3; a range of 10 mm instead of a single goal is ours").measure(width)
            ],
            found=found,
            rests_on="The arm and its path were never published.",
        ),
        Statement(
            what="The real arm behaves as the simulated one, soft and stiff.",
            where="section 4.2.3, figure 14",
            found="Only photographs of the real arm were published; there is no number to compare with.",
        ),
    ]  # fmt: skip


def verify(options: BoxOptions, runs: Mapping[str, Push]) -> list[Target]:
    """Check forces and torques of the pushes by statics and Coulomb's law."""
    return [
        *(
            Target(f"{name}: springs' torque less gravity and contact force, at the end", high=1.02 * JOINT_FRICTION,
                   unit="N m",
                   source="ours: statics; at rest the joints' friction holds at most 0.025 N m").measure(run.unbalanced)
            for name, run in runs.items()
        ),
        Target(
            "stiff: pushing force over Coulomb's, while the box slides",
            equals=1.0,
            tolerance=0.03,
            source="ours: Coulomb's law with the friction of the options",
            note="The tip also presses the box down or lifts it, which changes the normal force.",
        ).measure(runs["stiff"].friction_ratio(options.box_friction)),
    ]  # fmt: skip


VARIANTS: tuple[tuple[str, dict[str, object]], ...] = (
    ("default", {}),
    ("springs of the toolbox", {"springs": "toolbox"}),
    ("springs of the kit manual", {"springs": "kit"}),
    ("modules of 0.35 kg", {"module_mass": 0.35}),
    ("modules of 80 mm, last link level", {"module_length": 0.08, "face": 0.01, "height": -0.2, "pitch": 1.2}),
    ("path 20 mm lower", {"height": -0.21}),
    ("box 20 mm further", {"face": 0.05}),
    ("last link turned by 0.3 rad", {"pitch": 1.9}),
    ("friction 0.18 under the box", {"box_friction": 0.18}),
    ("friction 0.3 under the box", {"box_friction": 0.3}),
    ("tip friction 0.8", {"tip_friction": 0.8}),
)
"""Other assumptions, one change each."""


def _scene(options: BoxOptions) -> mujoco.MjModel:
    """Return arm and box with a camera at their side and a stick at the first place of the box's face."""
    robot = build_arm(options, PRESETS["soft"], 1e-3)
    face = options.face + BALL
    world = robot.spec.worldbody
    camera = world.add_camera(name="side", pos=[0.12, -1.3, 0.26], xyaxes=[1.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    camera.fovy = 30.0
    world.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=[face, -0.14, 0.15],
        size=[0.0007, 0.0007, 0.15],
        rgba=[0.85, 0.1, 0.1, 1.0],
        contype=0,
        conaffinity=0,
    )
    return robot.compile()


def _films(context: Context, options: BoxOptions) -> list[Film]:
    model = _scene(options)
    runs = {name: push(preset, options) for name, preset in PRESETS.items()}
    return [
        Film(
            name="push",
            caption="The arm pushes the box, soft and stiff, with the same path. The red stick marks the first place "
            "of the box's face: the box stops the soft arm, the stiff arm pushes it along.",
            time=next(iter(runs.values())).trace.time,
            shots=[Shot(title=name, model=model, poses=run.trace.qpos) for name, run in runs.items()],
            camera="side",
        )
    ]


@experiment(
    "box",
    title="An arm pushes a box, soft and stiff",
    paper=PAPER,
    section="4.2.3",
    films=_films,
    cameras=("front", "side"),
)
def box(context: Context, options: BoxOptions) -> Result:
    """Push a box of 2 kg with a five-joint arm: the soft arm is stopped, the stiff one moves the box to its goal."""
    runs = {
        name: push(preset, options)
        for name, preset in context.track(PRESETS.items(), lambda item: f"{item[0]} push", low=0.0, high=0.2)
    }
    stiff = runs["stiff"]
    pushes = PUSHES[5:15] if context.quick else PUSHES
    sweep = sweep_goals(options, pushes, lambda f: context.progress(0.2 + 0.3 * f, "sweep over the goal"))
    targets = verify(options, runs)
    notes = [
        f"Friction holds the box against {options.box_friction * BOX_MASS * GRAVITY:.3f} N, less or more where the tip "
        "drags it up or down.",
        f"The planned joints follow the desired tip within {1e6 * stiff.plan.tracking_error:.0f} um.",
        "An arm that is commanded without feedback cannot reach its goal exactly while it pushes: the springs give way "
        f"until they carry the force. The stiff arm ends {1e3 * stiff.remaining:.1f} mm short; the soft one must "
        f"be sent more than {1e3 * sweep.push[sweep.stays][-1]:.0f} mm into the box to move it."
        if sweep.stays.any()
        else "The soft arm moves the box at every goal of the sweep.",
    ]
    pushes_in_numbers = [
        {
            "arm": name,
            "preset [rad]": run.preset,
            "largest force [N]": float(run.horizontal_force.max()),
            "force at the end [N]": float(run.horizontal_force[-1]),
            "box moved [mm]": 1e3 * float(run.displacement[-1]),
            "tip beyond first contact [mm]": 1e3 * run.advance,
            "tip short of its goal [mm]": 1e3 * run.remaining,
            "largest joint error [rad]": run.joint_error,
        }
        for name, run in runs.items()
    ]
    tables = [Table.of("The two pushes", pushes_in_numbers)]
    figures = [_figure_push(context, runs, options), _figure_goals(sweep), _figure_joints(runs)]
    if not context.quick:
        half = {name: push(run.preset, options, 0.5 * TIMESTEP) for name, run in runs.items()}
        pairs = {
            "stiff: displacement of the box": [run["stiff"].displacement[-1] for run in (half, runs)],
            "soft: largest force": [run["soft"].horizontal_force.max() for run in (half, runs)],
        }
        expected = {"equals": 1.0, "tolerance": 0.05, "source": "ours: convergence"}
        targets += [
            Target(f"{what} with half the time step over that with 1 ms", **expected).measure(fine / coarse)  # pyright: ignore[reportArgumentType]
            for what, (fine, coarse) in pairs.items()
        ]
        tables.append(_table_of_variants(context, options))
    context.progress(0.95, "figures")
    picture = _frames(runs, options)
    if isinstance(picture, Figure):
        figures.insert(0, picture)
    else:
        notes.append(f"No pictures of the arm: {picture}.")
    low, high = (1e3 * value for value in sweep.range)
    return Result(
        statements=[*judge_pushes(options, runs), *judge_goals(sweep)],
        targets=targets,
        tables=tables,
        figures=figures,
        summary=(
            f"The same path of the tip, {1e3 * options.push:.0f} mm into the box, is commanded twice. With preset "
            f"0.2 rad the box stops the tip; with 0.6 rad the box slides {1e3 * stiff.displacement[-1]:.0f} mm and the "
            f"tip ends {1e3 * stiff.remaining:.0f} mm short of its goal."
            + ("" if math.isnan(low) else f" Both hold for pushes from {low:.0f} to {high:.0f} mm.")
        ),
        notes=notes,
        assumptions=[
            "Lengths, masses, arrangement, pose and springs of the arm, the path, its duration, and the gain of the "
            "inverse kinematics: the paper prints none of them. They were searched for a range of goals at which both "
            "statements hold.",
            "The path is a horizontal line at a constant pitch of the last link.",
        ],
        traces={
            **{f"{name}_{key}": value for name, run in runs.items() for key, value in _arrays(run).items()},
            "sweep_push_m": sweep.push,
            "sweep_moved_m": sweep.moved,
            "sweep_remaining_m": sweep.remaining,
        },
    )


def _arrays(run: Push) -> dict[str, Array]:
    """Return what the file of traces has of a push, with units in the names."""
    plan, trace = run.plan, run.trace
    return {
        "time_s": trace.time,
        "tip_m": trace.tip,
        "desired_tip_m": plan.tip,
        "joints_rad": trace.joints,
        "planned_joints_rad": plan.joints,
        "command_rad": plan.equilibrium,
        "force_n": trace.force,
        "box_m": trace.box,
    }


def _table_of_variants(context: Context, options: BoxOptions) -> Table:
    rows = []
    for name, changes in context.track(VARIANTS, lambda v: v[0], low=0.6, high=0.95):
        low = high = least = math.nan
        stopped = reached = np.zeros(0)
        both = "none"
        try:
            sweep = sweep_goals(replace(options, **changes), PUSHES[::2])
        except PliantError as error:
            both, least = None, str(error)[:60]
        else:
            low, high = sweep.range
            stopped, reached = sweep.push[sweep.stays], sweep.push[sweep.reaches]
            least = 1e3 * float(sweep.remaining[1].min())
        rows.append(
            {
                "arm": name,
                "soft stopped up to [mm]": 1e3 * float(stopped.max()) if stopped.size else None,
                "stiff reaches from [mm]": 1e3 * float(reached.min()) if reached.size else None,
                "both [mm]": both if math.isnan(low) else f"{1e3 * low:.0f} to {1e3 * high:.0f}",
                "stiff: least distance from the goal [mm]": least,
            }
        )
    note = "Pushes from 30 to 130 mm in steps of 10 mm; one change of the assumptions per row."
    return Table.of("Range of pushes by assumption", rows, note)


def _figure_push(context: Context, runs: Mapping[str, Push], options: BoxOptions) -> Figure:
    breakaway = options.box_friction * BOX_MASS * GRAVITY
    desired = next(iter(runs.values())).plan
    held = f"{breakaway:.2f} N: friction under the box's own weight"

    def each(what: Callable[[Push], ArrayLike]) -> list[Line]:
        return [Line(run.trace.time, what(run), color=name, label=name) for name, run in runs.items()]

    tip = [Line(desired.time, 1e3 * desired.tip[:, 0], color="muted", ls="--", label="desired")]
    measured = [f"figure14-{name}" for name in runs]
    panels = [
        Panel(
            [tip, each(lambda r: 1e3 * r.trace.tip[:, 0])],
            "",
            "tip x [mm]",
            "the tip",
            legend="upper left",
            measured=measured,
        ),
        Panel(
            [each(lambda r: r.horizontal_force), Level(breakaway, ls=":", lw=1.2), Note(0.05, breakaway + 0.1, held)],
            y="force [N]",
            title="horizontal force on the box",
        ),
        Panel([each(lambda r: 1e3 * r.displacement)], "time [s]", "box x [mm]", "displacement of the box"),
    ]
    caption = (
        "The push. Top: the tip follows the path until it meets the box; the stiff arm ends short of its goal by what "
        "the force of the box bends its springs. Middle: the soft arm's force stays below what friction holds, the "
        "stiff arm's passes it. Bottom: the box stays, or slides."
    )
    return draw("push", caption, panels, rows=3, context=context, height=1.75, sharex=True)


def _figure_goals(sweep: GoalSweep) -> Figure:
    x, low, high = 1e3 * sweep.push, *sweep.range
    both = None if math.isnan(low) else Band(1e3 * low, 1e3 * high, color="pass", label="both hold")
    panels = []
    for values, reference, name, labels, columns in (
        (sweep.moved, x, "commanded", ("box moved [mm]", "displacement of the box"), 1),
        (
            sweep.remaining,
            1e3 * REACHED * sweep.path,
            "10 % of the path",
            ("distance from the goal [mm]", "tip at the end"),
            2,
        ),
    ):
        items = [Line(x, reference, color="muted", ls="--", label=name)]
        for k, form in enumerate(("o-", "s-")):
            arm = list(PRESETS)[k]
            items.append(Line(x, 1e3 * values[k], form, ms=3.5, color=arm, label=arm))
        # Room for the legend: as matplotlib's own margins, and a third more.
        drawn = np.concatenate([reference, 1e3 * values.ravel()])
        top = 1.35 * (drawn.max() + 0.05 * np.ptp(drawn))
        legend = {"loc": "upper left", "ncols": columns}
        panels.append(
            Panel([items, both], "commanded push beyond contact [mm]", *labels, ylim=(0.0, top), legend=legend)
        )
    caption = (
        "The result by goal. Left: the box stays under the soft arm until it is sent far enough into the box. Right: "
        "the stiff arm always ends short by about the same deflection, which is small against the path only if the "
        "path is long. Green: pushes at which the soft arm is stopped and the stiff one reaches its goal within 10 % "
        "of the path."
    )
    return draw("goals", caption, panels, height=2.7)


def _figure_joints(runs: Mapping[str, Push]) -> Figure:
    panels = []
    for index, title in ((1, "shoulder"), (3, "elbow"), (4, "wrist")):
        items = []
        for name, run in runs.items():
            items.append(Line(run.trace.time, run.plan.equilibrium[:, index], color=name, ls="--", lw=1.0))
            items.append(Line(run.trace.time, run.trace.joints[:, index], color=name, label=name))
        panels.append(Panel(items, "time [s]", "angle [rad]", title, legend="best" if index == 1 else None))
    caption = (
        "The joints that bend. Dashed: the equilibrium command, inverse kinematics and the springs' deflection under "
        "gravity; solid: the link. The soft arm's springs take up the whole way."
    )
    return draw("joints", caption, panels, height=2.5, sharey=True)


def _frames(runs: Mapping[str, Push], options: BoxOptions) -> Figure | str:
    times = (0.0, WAIT + 0.5 * MOVE, WAIT + 0.75 * MOVE, WAIT + MOVE + HOLD)
    poses = [run.trace.qpos[np.argmin(np.abs(run.trace.time - t))] for run in runs.values() for t in times]
    caption = (
        "The arm and the box. The red stick marks the first place of the box's face: the box stops the soft arm, the "
        "stiff arm pushes it along."
    )
    scene = (_scene(options), poses, {"camera": "side", "width": 400, "height": 400})
    return frames("frames", caption, [scene], list(runs), [f"{t:.1f} s" for t in times], height=2.0)

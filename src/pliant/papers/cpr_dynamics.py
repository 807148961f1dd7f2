"""Dynamic models of parallel robots: where the plate settles, how rods swing, what is lost, how fast it runs."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from pliant import rods
from pliant.base.options import option
from pliant.experiments.base import Context, Figure, Result, Statement, Table, Target, experiment
from pliant.experiments.films import Film, film_of_tracks
from pliant.experiments.panels import DASHED, Level, Line, Panel, draw, lines
from pliant.experiments.trace import Recorder, Trace
from pliant.papers.cpr_planar import PAPER
from pliant.simulation.pose_track import PoseTrack

if TYPE_CHECKING:
    from pliant.model import Robot
    from pliant.parallel.model import MechanismState, ParallelOptions

FINE_STEP = 2.5e-4  # [s]: a quarter of the other models', whose integrator damps the swing


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamicsOptions:
    """How the rods become a dynamic model, and how far the joints move."""

    segments: int = option(10, low=3, high=200, source="assumed")
    """Links a rod in the comparison of all robots."""
    damping: float = option(1e-3, unit="s", low=0.0, source="assumed")
    """Damping of the material of the rods in that comparison."""
    move: float = option(0.03, unit="m", low=0.0, source="assumed")
    """Largest move of the joints of the 6PFR away from the start."""


def start(robot: Robot) -> MechanismState:
    """Return a robot at rest in a simulation of its own."""

    from pliant.parallel.model import mechanism_of

    model = robot.compile()
    state = mechanism_of(robot).bind(model, mujoco.MjData(model))
    state.start()
    return state


def settled_error(
    statics: rods.ContinuumParallelRobot, options: ParallelOptions, move: float = 0.03
) -> tuple[float, float]:
    """Return the plate's distance from the direct model after the joints moved [m], and simulated by wall seconds."""
    from pliant.parallel.model import build_parallel, settle

    robot = build_parallel(statics, options=options)
    state = start(robot)
    home = state.mechanism.solution
    step = move * np.random.default_rng(0).uniform(-1.0, 1.0, len(home.q))
    goal = statics.solve_dgm(home.q + step, start=home)
    ramp = round(0.5 / robot.timestep)
    began = time.perf_counter()
    for k in range(ramp):
        state.set_joints(home.q + step * (k + 1) / ramp)
        state.step()
    speed = 0.5 / (time.perf_counter() - began)
    settle(state)
    return float(np.linalg.norm(state.plate_pose()[:3, 3] - goal.plate_pose[:3, 3])), speed


def swing(
    statics: rods.ContinuumParallelRobot,
    segments: int,
    seconds: float,
    timestep: float = 1e-3,
    track: PoseTrack | None = None,
) -> tuple[Trace, np.ndarray]:
    """Return time and positions of the plate of a 6PFR whose joints step by 20 mm in 50 ms, and its goal [m].

    Args:
        statics: the robot.
        segments: links per rod.
        seconds: duration [s].
        timestep: length of a step [s].
        track: what keeps the poses; None keeps none.
    """
    from pliant.parallel.model import build_parallel

    state = start(build_parallel(statics, segments=segments).set("option.timestep", timestep))
    home, data = state.mechanism.solution, state.data
    step = 0.02 * np.array([1.0, -1.0, 0.5, 1.0, -0.5, 0.2])[: len(home.q)]
    recorder = Recorder(time="s", position=("m", 3))
    if track is not None:
        track.watch(state.model, data)
    for _ in range(round(seconds / timestep)):
        share = min(1.0, data.time / 0.05)
        state.set_joints(home.q + share * step)
        state.step()
        recorder.add(data.time, data.body("plate").xpos)
        if track is not None:
            track.take()
    goal = statics.solve_dgm(home.q + step, start=home)
    return recorder.trace(), goal.plate_pose[:3, 3]


def segment_row(statics: rods.ContinuumParallelRobot, variant: str, segments: int, move: float) -> list[float]:
    """Return segments, settled error [m], error of a rod's frequency [%] and simulated by wall seconds of a model."""
    from pliant.parallel.model import ParallelOptions, first_frequency

    options = ParallelOptions(variant=variant, segments=segments)
    error, speed = settled_error(statics, options, move)
    found, theory = first_frequency(statics.description.limbs[0].rod, options)
    return [segments, error, 100.0 * abs(found / theory - 1.0), speed]


def time_stretch(one: np.ndarray, two: np.ndarray) -> float:
    """Return the factor on time that brings one swing closest to another."""
    from scipy.optimize import minimize_scalar

    t = np.arange(len(two), dtype=float)

    def misfit(factor: float) -> float:
        return float(np.sum((np.interp(factor * t, t, one) - two) ** 2))

    return float(minimize_scalar(misfit, bounds=(0.95, 1.05), method="bounded", options={"xatol": 1e-6}).x)


def robot_targets(name: str, options: DynamicsOptions) -> tuple[list[Target], list]:
    """Hold the dynamic model of a robot against its statics; return the checks and a row of the table."""
    from pliant.parallel.model import build_parallel, compare_with_statics

    findings = compare_with_statics(build_parallel(name, segments=options.segments, damping=options.damping))
    short = name.removeprefix("Stewart_Gough_")
    values = {f.subject: f for f in findings}
    moved = values["plate against direct model, joints moved"]
    load = values["displacement under a load against direct model"]
    energy = values["growth of energy after a push"]
    cells = [values["plate against direct model, at the start"].value, moved.value, load.value]
    cells += [values["first bending frequency against theory"].value, values["speed on one core"].value]
    targets = [
        Target(f"Settled plate: {short}", moved.value, high=moved.limit, unit="mm", source="ours: direct model"),
        Target(
            f"Load: {short}", load.value, high=load.limit, unit="% of the displacement", source="ours: direct model"
        ),
        Target(f"Energy: {short}", energy.value, high=energy.limit, source="ours: passivity"),
    ]
    return targets, [short, *(float(f"{v:.3g}") for v in cells)]


def chain_targets(chain: np.ndarray) -> list[Target]:
    """Return the checks on rows (links, settled error [m], frequency error [%]) of the 6PFR as chains."""
    order = -float(np.polyfit(np.log(chain[:, 0]), np.log(chain[:, 1]), 1)[0])
    coarse = chain[0]
    return [
        Target("6PFR: order of the settled error in the number of links", order, low=1.7,
               source="ours: Gauss' rule, chords"),
        Target("6PFR: settled error of the coarsest chain", 1e3 * float(coarse[1]), high=1.0, unit="mm",
               source="ours: requirement", note=f"{coarse[0]:.0f} links a rod"),
        Target("6PFR: first bending frequency of the coarsest chain", float(coarse[2]), high=0.5, unit="%",
               source="ours: Euler and Bernoulli"),
    ]  # fmt: skip


def pitch_target(pitch: float) -> Target:
    """Return the check on the difference of the swing's pitch between 12 and 16 links [%]."""
    return Target("6PFR: pitch of the sideways swing with 12 links against 16 links", abs(pitch), high=2.0, unit="%",
                  source="ours: refinement")  # fmt: skip


def _films(context: Context, options: DynamicsOptions) -> list[Film]:
    tracks = {name: PoseTrack(0.005) for name in ("Stewart_Gough_6PFR", "Stewart_Gough_6PFS")}
    for name, track in tracks.items():
        swing(rods.load_robot(name), 8, 1.0, track=track)
    return [
        film_of_tracks(
            {name[14:]: track for name, track in tracks.items()},
            name="swing",
            caption="The joints of two hexapods step by up to 20 mm in 50 ms, and their plates swing to the new "
            "equilibrium. Colour is the bending strain of the rods.",
            camera="90,-20",
            speed=0.2,
        )
    ]


@experiment(
    "cpr-dynamics",
    title="Dynamic models of parallel robots",
    paper=PAPER,
    section="6, beyond the paper",
    films=_films,
    cameras=("overview",),
)
def cpr_dynamics(context: Context, options: DynamicsOptions) -> Result:
    """Simulate parallel robots in MuJoCo and compare them with their statics and with beam theory."""
    names = ["Stewart_Gough_6PFR", "RERRFR"] if context.quick else list(rods.catalogue())
    result = Result(
        summary="The description of the statics becomes a MuJoCo model that starts at rest in an equilibrium. Its "
        "plate must settle where the direct model says after the joints moved, a rod must swing as the beam "
        "of Euler and Bernoulli, and energy must not grow.",
        assumptions=[
            "The plate has the inertia of a disc and the rods a material damping of "
            f"{1e3 * options.damping:g} ms: neither is part of the statics."
        ],
        notes=["Speeds depend on the machine and on what else it does: they are information, not targets."],
    )
    rows = []
    for name in context.track(names, lambda n: n, low=0.02, high=0.5):
        targets, cells = robot_targets(name, options)
        result.targets += targets
        rows.append(cells)
    slow, fast = min(row[-1] for row in rows), max(row[-1] for row in rows)
    result.statements.append(
        Statement(
            what="Real-time performance in the simulator is future work.",
            where="section 6",
            found=f"The paper reports no time, and time is no target here. The dynamic models of {len(rows)} robots "
            f"ran at {slow:.2g} to {fast:.2g} times real time on one core in this run.",
        )
    )
    result.tables.append(
        Table(
            title=f"Errors of all robots, {options.segments} links a rod, time step 1 ms",
            columns=["robot", "at the start [mm]", "joints moved [mm]", "load [%]", "frequency [%]", "x real time"],
            rows=rows,
        )
    )
    statics = rods.load_robot("Stewart_Gough_6PFR")
    counts = {
        "chain": [4, 6, 8] if context.quick else [4, 6, 8, 12, 16, 24],
        "flex": [8] if context.quick else [8, 12, 16, 24],
    }
    jobs = [(variant, n) for variant, ns in counts.items() for n in ns]
    found: dict[str, list[list[float]]] = {variant: [] for variant in counts}
    for variant, n in context.track(jobs, lambda j: f"{j[0]}, {j[1]} segments", low=0.5, high=0.85):
        found[variant].append(segment_row(statics, variant, n, options.move))
    curves = {variant: np.array(table) for variant, table in found.items()}
    result.targets += chain_targets(curves["chain"])
    result.tables.append(
        Table(
            title="6PFR against the number of segments",
            columns=["variant", "segments a rod", "settled error [mm]", "frequency error [%]", "x real time"],
            rows=[
                [v, int(row[0]), *(float(f"{x:.3g}") for x in (1e3 * row[1], row[2], row[3]))]
                for v, table in curves.items()
                for row in table
            ],
        )
    )
    context.progress(0.87, "swing")
    seconds = 0.3 if context.quick else 3.0
    motion, goal = swing(statics, 8, seconds)
    links = (12, 16) if context.quick else (8, 12, 16)
    fine = {n: swing(statics, n, seconds, timestep=FINE_STEP)[0].position[:, 1] for n in links}
    pitch = {n: 100.0 * (time_stretch(fine[n], fine[16]) - 1.0) for n in fine}
    result.targets.append(pitch_target(pitch[12]))
    if 8 in pitch:
        result.notes.append(
            "Where a rod swings between two clamps its pitch needs more links than a cantilever's: the sideways swing "
            f"of the 6PFR is off by {abs(pitch[8]):.1f} % with 8 links and {abs(pitch[12]):.1f} % with 12, against 16."
        )
    coarse = np.interp(np.arange(len(fine[12])) * FINE_STEP, motion.time, motion.position[:, 1])
    lost = float(np.abs(coarse - fine[12]).max() / np.ptp(fine[12]))
    result.notes.append(
        "The integrator damps a swing of frequency f by pi f dt: after the step, positions at 1 ms differ "
        f"from those at 0.25 ms by up to {100.0 * lost:.0f} % of the amplitude. If oscillations matter, use a smaller "
        "step."
    )
    result.figures.append(_figure(curves, motion, goal))
    result.traces = {"time_s": motion.time, "plate_m": motion.position, "sideways_16_links_m": fine[16]}
    return result


def _figure(curves: dict[str, np.ndarray], motion: Trace, goal: np.ndarray) -> Figure:
    limit = Level(1.0, color="bound", linewidth=1.0, linestyle=DASHED)
    ticks = {"log": "xy", "xticks": ([4, 8, 16, 24], ["4", "8", "16", "24"])}
    errors, speeds = (
        [
            Line(table[:, 0], scale * table[:, column], "o-", color=k, markersize=4, label=variant)
            for k, (variant, table) in enumerate(curves.items())
        ]
        for column, scale in ((1, 1e3), (3, 1.0))
    )
    away = lines(motion.time, 1e3 * (motion.position - goal), "xyz", points=0, linewidth=1.1)
    labels = "time [s]", "plate minus direct model [mm]", "Joints step by 20 mm"
    far = "plate against direct model [mm]"
    panels = [
        Panel([errors, limit], "segments a rod", far, "Settled error", legend="best", **ticks),
        Panel([speeds, limit], "segments a rod", "simulated / wall seconds", "Speed, 6PFR", **ticks),
        Panel(away, *labels, legend={"ncols": 3}),
    ]
    caption = (
        "The 6PFR as a dynamic model. Left, where its plate settles against the direct model after the joints moved; "
        "the limit is dashed. Middle, simulated by wall seconds on one core; real time is dashed. Right, the plate "
        "swings to the new equilibrium after a step of the joints."
    )
    return draw("dynamics", caption, panels, height=2.6)

"""Dynamic models of parallel robots: where the plate settles, how rods swing, what is lost, how fast it runs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from pliant.experiments.base import Context, Figure, Result, Table, Target, experiment
from pliant.experiments.cpr_planar import PAPER

if TYPE_CHECKING:
    from pliant.model import Robot
    from pliant.model.parallel import MechanismState, ParallelOptions
    from pliant.rods import ContinuumParallelRobot

__all__ = ["MOVE", "cpr_dynamics", "settled_error"]

MOVE = 0.03
"""Largest move of the joints away from the start [m], as a user of the robot would make it."""


def start(robot: Robot) -> MechanismState:
    """Return a robot at rest in a simulation of its own."""
    import mujoco

    from pliant.model.parallel import mechanism_of

    model = robot.compile()
    state = mechanism_of(robot).bind(model, mujoco.MjData(model))
    state.start()
    return state


def settled_error(
    statics: ContinuumParallelRobot, options: ParallelOptions, move: float = MOVE, seed: int = 0
) -> tuple[float, float]:
    """Return the plate's distance from the direct model after the joints moved [m], and simulated by wall seconds."""
    from pliant.model.parallel import build_parallel, settle

    robot = build_parallel(statics, options=options)
    state = start(robot)
    home = state.mechanism.solution
    step = move * np.random.default_rng(seed).uniform(-1.0, 1.0, len(home.q))
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
    statics: ContinuumParallelRobot, segments: int, seconds: float, timestep: float = 1e-3
) -> dict[str, np.ndarray]:
    """Return time, plate positions and joint values of a 6PFR whose joints step by 20 mm in 50 ms."""
    from pliant.model.parallel import build_parallel

    state = start(build_parallel(statics, segments=segments).set("option.timestep", timestep))
    home, data = state.mechanism.solution, state.data
    step = 0.02 * np.array([1.0, -1.0, 0.5, 1.0, -0.5, 0.2])[: len(home.q)]
    rows = []
    for _ in range(round(seconds / timestep)):
        share = min(1.0, data.time / 0.05)
        state.set_joints(home.q + share * step)
        state.step()
        rows.append([data.time, *data.body("plate").xpos])
    table = np.array(rows)
    goal = statics.solve_dgm(home.q + step, start=home)
    return {"time": table[:, 0], "position": table[:, 1:], "goal": goal.plate_pose[:3, 3]}


def time_stretch(one: np.ndarray, two: np.ndarray) -> float:
    """Return the factor on time that brings one swing closest to another."""
    from scipy.optimize import minimize_scalar

    t = np.arange(len(two), dtype=float)

    def misfit(factor: float) -> float:
        return float(np.sum((np.interp(factor * t, t, one) - two) ** 2))

    return float(minimize_scalar(misfit, bounds=(0.95, 1.05), method="bounded", options={"xatol": 1e-6}).x)


@experiment("cpr-dynamics", title="Dynamic models of parallel robots", paper=PAPER, section="beyond the paper")
def cpr_dynamics(context: Context) -> Result:
    """Simulate parallel robots in MuJoCo and hold them against their statics and against beam theory."""
    from pliant.figures import COLORS, CYCLE, label, legend, new_figure
    from pliant.model.parallel import ParallelOptions, build_parallel, compare_with_statics, first_frequency
    from pliant.rods import catalogue, load_robot

    names = ["Stewart_Gough_6PFR", "Stewart_Gough_6EFR", "RERRFR"] if context.quick else list(catalogue())
    result = Result(
        summary="The description of the statics becomes a MuJoCo model that starts at rest in an equilibrium. Its "
        "plate must settle where the direct model says after the joints moved, a rod must swing as the beam "
        "of Euler and Bernoulli, and energy must not grow.",
        notes=[
            "The plate has the inertia of a disc and the rods a material damping of 1 ms: neither is part of the "
            "statics.",
            "The speed depends on the machine and on what else it does; one core is used.",
        ],
    )
    rows = []
    for name in context.track(names, lambda n: n, low=0.02, high=0.5):
        findings = compare_with_statics(build_parallel(name))
        short = name.removeprefix("Stewart_Gough_")
        values = {f.subject: f for f in findings}
        moved = values["plate against direct model, joints moved"]
        result.targets.append(
            Target(f"Settled plate: {short}", moved.value, high=moved.limit, unit="mm", source="direct model")
        )
        load = values["displacement under a load against direct model"]
        result.targets.append(
            Target(f"Load: {short}", load.value, high=load.limit, unit="% of the displacement", source="direct model")
        )
        energy, fast = values["growth of energy after a push"], values["speed on one core"]
        result.targets.append(Target(f"Energy: {short}", energy.value, high=energy.limit, source="passivity"))
        result.targets.append(
            Target(f"Speed: {short}", fast.value, low=1.0, unit="x real time", source="real time on one core")
        )
        frequency = values["first bending frequency against theory"]
        start = values["plate against direct model, at the start"]
        cells = [short, start.value, moved.value, load.value, frequency.value, fast.value]
        rows.append([cells[0], *(float(f"{v:.3g}") for v in cells[1:])])
    result.tables.append(
        Table(
            title="Errors of all robots, ten links a rod, time step 1 ms",
            columns=["robot", "at the start [mm]", "joints moved [mm]", "load [%]", "frequency [%]", "x real time"],
            rows=rows,
        )
    )
    statics = load_robot("Stewart_Gough_6PFR")
    counts = {"chain": [4, 6, 8, 12] if context.quick else [4, 6, 8, 12, 16, 24], "flex": [8, 12, 16]}
    if not context.quick:
        counts["flex"].append(24)
    curves: dict[str, np.ndarray] = {}
    jobs = [(variant, n) for variant, ns in counts.items() for n in ns]
    found: dict[str, list[list[float]]] = {variant: [] for variant in counts}
    for variant, n in context.track(jobs, lambda j: f"{j[0]}, {j[1]} segments", low=0.5, high=0.85):
        error, speed = settled_error(statics, ParallelOptions(variant=variant, segments=n))
        f, theory = first_frequency(statics.description.limbs[0].rod, ParallelOptions(variant=variant, segments=n))
        found[variant].append([n, error, 100.0 * abs(f / theory - 1.0), speed])
    curves = {variant: np.array(table) for variant, table in found.items()}
    chain = curves["chain"]
    order = -float(np.polyfit(np.log(chain[:, 0]), np.log(chain[:, 1]), 1)[0])
    best = max((row for row in chain if row[1] <= 1e-3 and row[2] <= 0.5), key=lambda row: row[3], default=chain[-1])
    result.targets += [
        Target(
            "6PFR: order of the settled error in the number of links", order, low=1.7, source="Gauss' rule, chords"
        ),
        Target(
            "6PFR: settled error of the fastest model that holds both limits", 1e3 * float(best[1]), high=1.0,
            unit="mm", source="requirement", note=f"{best[0]:.0f} links a rod",
        ),
        Target(
            "6PFR: its first bending frequency", float(best[2]), high=0.5, unit="%", source="Euler and Bernoulli",
        ),
        Target("6PFR: its speed", float(best[3]), low=1.0, unit="x real time", source="requirement"),
    ]  # fmt: skip
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
    seconds = 1.0 if context.quick else 3.0
    motion = swing(statics, 8, seconds)
    fine = {
        n: swing(statics, n, seconds, timestep=2.5e-4)["position"][:, 1]
        for n in ((12, 16) if context.quick else (8, 12, 16))
    }
    pitch = {n: 100.0 * (time_stretch(fine[n], fine[16]) - 1.0) for n in fine}
    result.targets.append(
        Target(
            "6PFR: pitch of the sideways swing with 12 links against 16 links", abs(pitch[12]), high=2.0, unit="%",
            source="refinement",
        )
    )  # fmt: skip
    if 8 in pitch:
        result.notes.append(
            "Where a rod swings between two clamps its pitch needs more links than a cantilever's: the sideways swing "
            f"of the 6PFR is off by {abs(pitch[8]):.1f} % with 8 links and {abs(pitch[12]):.1f} % with 12, against 16."
        )
    coarse = np.interp(np.arange(len(fine[12])) * 2.5e-4, motion["time"], motion["position"][:, 1])
    lost = float(np.abs(coarse - fine[12]).max() / np.ptp(fine[12]))
    result.notes.append(
        "The integrator damps a swing of frequency f by pi f dt: after the step, positions at 1 ms differ "
        f"from those at 0.25 ms by up to {100.0 * lost:.0f} % of the amplitude. Where a swing matters, take a smaller "
        "step."
    )
    figure, axes = new_figure(1, 3, height=2.6)
    for k, (variant, table) in enumerate(curves.items()):
        axes[0].loglog(table[:, 0], 1e3 * table[:, 1], "o-", color=CYCLE[k], markersize=4, label=variant)
        axes[1].loglog(table[:, 0], table[:, 3], "o-", color=CYCLE[k], markersize=4, label=variant)
    axes[0].axhline(1.0, color=COLORS["bound"], linewidth=1.0, linestyle=(0, (4, 3)))
    axes[1].axhline(1.0, color=COLORS["bound"], linewidth=1.0, linestyle=(0, (4, 3)))
    for axis in axes[:2]:
        ticks = [4, 8, 16, 24]
        axis.set_xticks(ticks, [str(n) for n in ticks])
        axis.minorticks_off()
    label(axes[0], "segments a rod", "plate against direct model [mm]", "Settled error")
    label(axes[1], "segments a rod", "simulated / wall seconds", "Speed, 6PFR")
    legend(axes[0])
    for c, name in enumerate("xyz"):
        axes[2].plot(
            motion["time"], 1e3 * (motion["position"][:, c] - motion["goal"][c]), color=CYCLE[c], label=name,
            linewidth=1.1,
        )  # fmt: skip
    label(axes[2], "time [s]", "plate minus direct model [mm]", "Joints step by 20 mm")
    legend(axes[2], ncols=3)
    result.figures.append(
        Figure(
            name="dynamics",
            caption="The 6PFR as a dynamic model. Left, where its plate settles against the direct model after the "
            "joints moved; the limit is dashed. Middle, simulated by wall seconds on one core; real time is dashed. "
            "Right, the plate swings to the new equilibrium after a step of the joints.",
            figure=figure,
        )
    )
    result.traces = {"time_s": motion["time"], "plate_m": motion["position"]}
    return result

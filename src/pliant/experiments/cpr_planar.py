"""Four planar parallel robots, moved by the direct and the inverse model (Gotelli et al. 2022, figure 3)."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from pliant.experiments.base import Context, Figure, Result, Table, Target, experiment

if TYPE_CHECKING:
    from pliant.rods import Path, Solution

__all__ = ["PAPER", "cpr_planar", "plane_balance", "round_trip"]

PAPER = "Gotelli et al. 2022, A Gazebo Simulator for Continuum Parallel Robots, ARK 2022, hal-03594927"
INVERSE = {"3ER": "3EFR, three extensible limbs", "3PR": "3PFR, prismatic bases", "3RR": "3RFR, revolute bases"}
"""Robots of figures 3d to 3f."""
START = {"3PR": (-0.249776, -0.285377, -0.359053)}
"""Joint values of the robot's own file to start from [m]; at its home pose a rod stands near its limit point."""
RADIUS, TURN = 0.04, 0.15
"""The plate's circle [m] and turn [rad]; the paper prints no path.  # assumed"""


def loop_poses(home: np.ndarray, rows: int) -> np.ndarray:
    """Return (x, y, angle) along a closed path that leaves home along x, shape (rows, 3)."""
    t = np.linspace(0.0, 2.0 * np.pi, rows)
    out = np.empty((rows, 3))
    out[:, 0] = home[0] + RADIUS * np.sin(t)
    out[:, 1] = home[1] + RADIUS * (1.0 - np.cos(t))
    out[:, 2] = home[2] + TURN * np.sin(t)
    return out


def round_trip(path: Path, rows: int = 25) -> float:
    """Return the largest difference between the plate's poses and the direct model at their joint values [m].

    The direct model starts from another pose of the path.
    """
    worst = 0.0
    picks = np.linspace(0, len(path) - 1, rows).astype(int)
    for before, k in pairwise(picks):
        s = path[int(k)]
        back = s.robot.solve_dgm(s.q, s.wrench, start=path[int(before)])
        worst = max(worst, float(np.abs(back.plate_pose - s.plate_pose).max()))
    return worst


def plane_balance(solution: Solution) -> float:
    """Return the largest force or moment left on the plate, from the rods' shapes alone [N, N m]."""
    X = solution.plate_pose
    total = np.array(solution.wrench, dtype=float)
    d = solution.robot.description
    gravity = d.plate.mass * np.asarray(d.gravity)
    total[:3] += gravity
    total[3:] += np.cross(X[:3, :3] @ np.asarray(d.plate.com), gravity)
    for i in range(len(d.limbs)):
        line = solution.centreline(i, 201)
        total[:3] -= line.force[-1]
        total[3:] -= line.moment[-1] + np.cross(line.position[-1] - X[:3, 3], line.force[-1])
    return float(np.abs(total).max())


@experiment("cpr-planar", title="Four planar continuum parallel robots", paper=PAPER, section="5, figure 3")
def cpr_planar(context: Context) -> Result:
    """Move four planar robots of elastic rods: one by its joints, three by their plate."""
    from pliant.experiments.rod_figures import figure_of_robots
    from pliant.rods import load_robot

    rows = 60 if context.quick else 400
    result = Result(
        summary="The robot of two revolute joints and one extensible limb is moved by its joints (direct model, "
        "figures 3a to 3c of the paper), those with three extensible, prismatic and revolute limbs by their plate "
        "(inverse model, figures 3d to 3f).",
        assumptions=[
            "The paper prints neither the paths nor the loads of its figure: the plate runs a circle of "
            f"{1e3 * RADIUS:.0f} mm with a turn of {TURN} rad here, "
            "and no wrench acts on it. 3PFR starts at the joint values stored in its file.",
        ],
    )
    groups, titles, table = [], [], []
    targets = result.targets
    context.progress(0.05, "RERRFR")
    mixed = load_robot("RERRFR")
    home = mixed.home()
    moves = np.array([[0.0, 0.0, 0.0], [0.25, -0.15, 0.06], [-0.2, 0.25, 0.1]])
    t = np.linspace(0.0, 1.0, rows)[:, None]
    table_q = np.vstack([home.q + moves[0] + t * (moves[1] - moves[0]), home.q + moves[1] + t * (moves[2] - moves[1])])
    began = time.perf_counter()
    path = mixed.follow(table_q, start=home, inverse=False)
    spent = time.perf_counter() - began
    _judge(targets, table, "RERRFR", "direct", path, spent)
    for k, letter in ((0, "a"), (rows, "b"), (2 * rows - 1, "c")):
        groups.append([path[k]])
        titles.append(f"({letter}) RERRFR, direct")
    for share, (name, text) in zip((0.2, 0.45, 0.7), INVERSE.items()):
        context.progress(share, name)
        robot = load_robot(name)
        home = robot.solve_dgm(START[name]) if name in START else robot.home()
        began = time.perf_counter()
        path = robot.follow(loop_poses(home.pose2d, rows), start=home)
        spent = time.perf_counter() - began
        _judge(targets, table, name, "inverse", path, spent)
        targets.append(
            Target(
                f"{name}: joints after the closed path against before",
                float(np.abs(path.q[-1] - path.q[0]).max()), high=1e-6, unit="m, rad", source="same branch",
            )
        )  # fmt: skip
        groups.append([path[k] for k in (0, rows // 3, 2 * rows // 3, rows // 2)])
        titles.append(f"({'def'[len(groups) - 4]}) {text.split(',')[0]}, inverse")
    context.progress(0.9, "drawing")
    result.tables.append(
        Table(
            title="Paths",
            columns=["robot", "model", "rows", "iterations a row", "time a row [ms]", "largest residual", "stable"],
            rows=table,
            note="Time in one thread, compiled loop, kernels already compiled.",
        )
    )
    result.figures.append(
        Figure(
            name="robots",
            caption="The robots of the paper's figure 3. (a) to (c): joints given, plate found. (d) to (f): the plate "
            "runs a circle, joints found; earlier configurations are faint. Colour is the bending strain at the "
            "surface of the rods.",
            figure=figure_of_robots(groups, titles, columns=3),
        )
    )
    return result


def _judge(targets: list[Target], table: list, name: str, model: str, path: Path, spent: float) -> None:
    shown = [path[int(k)] for k in np.linspace(0, len(path) - 1, 9)]
    index = max(s.morse_index for s in shown)
    targets += [
        Target(f"{name}: largest scaled residual", float(path.residual.max()), high=1e-8, source="convergence"),
        Target(f"{name}: direct against inverse model", round_trip(path), high=1e-6, unit="m", source="same equations"),
        Target(
            f"{name}: force left on the plate", max(map(plane_balance, shown)), high=1e-5, unit="N, N m",
            source="statics of the drawn rods",
        ),
        Target(f"{name}: unstable directions", float(index), high=0.0, source="second variation of the energy"),
    ]  # fmt: skip
    table.append(
        [
            name, model, len(path), round(float(path.iterations.mean()), 2), round(1e3 * spent / len(path), 4),
            f"{path.residual.max():.1e}", "yes" if index == 0 else f"index {index}",
        ]
    )  # fmt: skip

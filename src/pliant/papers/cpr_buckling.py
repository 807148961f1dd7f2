"""Buckling of rods and robots: Euler's loads, the path after buckling, and how much a plate can carry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant import rods
from pliant.base.numerics import GRAVITY
from pliant.base.options import option
from pliant.base.spatial import pose
from pliant.experiments.base import Context, Figure, Result, Statement, Table, Target, experiment
from pliant.experiments.films import Film
from pliant.experiments.panels import DASHED, Line, Panel, draw
from pliant.papers.cpr_planar import PAPER, film_of_paths

if TYPE_CHECKING:
    from collections.abc import Sequence


E, G, RADIUS, LENGTH = 200e9, 80e9, 1e-3, 1.0
EI = E * np.pi * RADIUS**4 / 4.0
DOWN = (0.0, 0.0, -1.0, 0.0, 0.0, 0.0)
"""Unit load on a plate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BucklingOptions:
    """How the loads are applied."""

    side_load: float = option(0.02, unit="N", low=0.0, source="assumed")
    """Lateral force that selects the plane in which the column bends; it is removed afterwards."""
    largest_load: float = option(40.0, unit="N", low=0.0, above=True, source="assumed")
    """Load on the hexapods at which the search for their limit ends."""


def column(kind: str) -> rods.ContinuumParallelRobot:
    """Return a robot of vertical rods under a plate: "free" (one rod, its tip free) or "sway" (four, clamped to it)."""
    rod = rods.Rod(length=LENGTH, section=rods.Round(radius=RADIUS), young_modulus=E, shear_modulus=G, density=0.0)
    places = [(0.0, 0.0)] if kind == "free" else [(0.2, 0.2), (-0.2, 0.2), (-0.2, -0.2), (0.2, -0.2)]
    limbs = tuple(
        rods.Limb(rod=rod, base=at, distal=rods.DistalJoint(kind="fixed", pose=at), name=f"rod{k}")
        for k, at in enumerate(pose((x, y, 0.0)) for x, y in places)
    )
    return rods.ContinuumParallelRobot(
        rods.RobotDescription(name=kind, limbs=limbs, gravity=(0.0, 0.0, 0.0), home=pose((0.0, 0.0, LENGTH)))
    )


def elastica_angle(ratio: float) -> float:
    """Return the tip angle of a cantilever column under ``ratio`` times its critical load [rad].

    Inextensible elastica under a dead axial load: P / P_cr = (2 K(k) / pi)^2, k = sin(angle / 2).
    """
    from scipy.optimize import brentq
    from scipy.special import ellipk

    if ratio <= 1.0:
        return 0.0
    k = brentq(lambda k: (2.0 / np.pi * ellipk(k * k)) ** 2 - ratio, 0.0, 1.0 - 1e-12)
    return float(2.0 * np.arcsin(k))


def euler_targets(context: Context) -> tuple[list[Target], list[list]]:
    """Return the checks of Euler's loads, and the rows of the table."""
    euler = {"free": np.pi**2 * EI / (4.0 * LENGTH**2), "sway": 4.0 * np.pi**2 * EI / LENGTH**2}
    rows, targets = [], []
    for kind, text in (("free", "one rod, tip free"), ("sway", "four rods, plate free to sway")):
        context.progress(0.1, text)
        found, index = rods.critical_load(column(kind), np.zeros(0), DOWN, 0.5 * euler[kind], 1.5 * euler[kind])
        rows.append([text, round(euler[kind], 5), round(found, 5), index])
        targets += [
            Target(f"{text}: critical load", found, equals=float(euler[kind]), relative=2e-3, unit="N",
                   source="ours: Euler's load"),
            Target(f"{text}: unstable directions beyond", float(index), equals=2.0,
                   source="ours: two planes of bending"),
        ]  # fmt: skip
    return targets, rows


def bent_columns(options: BucklingOptions, ratios: Sequence[float]) -> list[rods.Solution]:
    """Return a buckled column under falling ratios of its critical load, all larger than 1."""
    euler = np.pi**2 * EI / (4.0 * LENGTH**2)
    robot, side = column("free"), options.side_load
    start = robot.solve_dgm(np.zeros(0), (side, 0.0, -1.05 * euler, 0.0, 0.0, 0.0))
    start = robot.follow(
        [[]] * 8,
        [(side * (1 - t), 0.0, -(1.05 + 1.15 * t) * euler, 0.0, 0.0, 0.0) for t in np.linspace(0, 1, 8)],
        start=start,
        inverse=False,
    )[-1]
    found = []
    for ratio in ratios:
        start = robot.solve_dgm(np.zeros(0), (0.0, 0.0, -ratio * euler, 0.0, 0.0, 0.0), start=start)
        found.append(start)
    return found


def elastica(options: BucklingOptions, count: int) -> tuple[list[Target], np.ndarray, np.ndarray]:
    """Return the checks of the column after buckling, ratios of its load to Euler's, and the angles of its tip."""
    ratios = np.concatenate([[0.9, 0.97, 1.0], 1.0 + np.geomspace(2e-3, 1.2, count)])[::-1]
    angles = np.zeros(len(ratios))
    columns = bent_columns(options, [ratio for ratio in ratios if ratio > 1.0])
    for k, bent in enumerate(columns):
        tangent = bent.plate_pose[:3, 2]
        angles[k] = np.arctan2(np.hypot(*tangent[:2]), tangent[2])
    worst = max(abs(a - elastica_angle(r)) for a, r in zip(angles, ratios) if r > 1.02)
    targets = [
        Target("after buckling: tip angle against elastica", worst, high=2e-3, unit="rad",
               source="ours: elliptic integrals"),
        Target("after buckling: the bent rod is stable", float(columns[-1].morse_index == 0), equals=1.0,
               source="ours: second variation of the energy"),
    ]  # fmt: skip
    return targets, ratios, angles


HEXAPODS = ("Stewart_Gough_6PFF", "Stewart_Gough_6PFR", "Stewart_Gough_6PFS")


def largest_load(name: str, options: BucklingOptions) -> tuple[Target, np.ndarray, np.ndarray]:
    """Load a hexapod until no stable equilibrium is left; return a check, loads and stiffnesses."""
    loads, found = rods.load_until_unstable(rods.load_robot(name).home(), DOWN, options.largest_load)
    stiffness = np.array([s.smallest_stiffness for s in found])
    weight = found[0].robot.description.plate.mass * GRAVITY
    target = Target(
        f"{name[14:]}: stiffness left at the largest load, as a share", float(stiffness[-1] / stiffness[0]), high=0.01,
        source="ours: a stable equilibrium ends where a stiffness vanishes",
        note=f"carries {loads[-1]:.2f} N beside its weight of {weight:.2f} N",
    )  # fmt: skip
    return target, loads, stiffness


def _films(context: Context, options: BucklingOptions) -> list[Film]:
    ratios = 1.0 + np.linspace(1.2**0.5, 2e-3**0.5, 81) ** 2
    shown = {"column": bent_columns(options, ratios.tolist())[::-1]}
    for name in HEXAPODS[:2]:
        shown[name[14:]] = rods.load_until_unstable(rods.load_robot(name).home(), DOWN, options.largest_load)[1]
    return [
        film_of_paths(
            shown,
            name="loading",
            caption="A column from its critical load on to 2.2 times that, and two hexapods with locked joints whose "
            "plates are loaded until no stable equilibrium is left. Colour is the bending strain of the rods.",
            camera="path",
            size="320x440",
        )
    ]


@experiment(
    "cpr-buckling",
    title="Buckling of rods and robots",
    paper=PAPER,
    section="2, beyond the paper",
    films=_films,
    cameras=("overview", "path"),
)
def cpr_buckling(context: Context, options: BucklingOptions) -> Result:
    """Find the loads at which rods and robots lose their stability, and their shapes after buckling."""
    result = Result(
        summary="The stability index counts the directions in which the energy falls while the actuators are locked. "
        "It must change at Euler's loads; the equilibrium beyond must be the elastica; and the loads that the hexapods "
        "carry follow from it.",
        notes=["Loads are dead forces at the plate's origin, along -z, beside the plate's weight."],
    )
    targets, rows = euler_targets(context)
    context.progress(0.3, "elastica")
    bent, ratios, angles = elastica(options, 9 if context.quick else 24)
    result.targets += targets + bent
    error = abs((targets[0].measured or 0.0) / (targets[0].equals or 1.0) - 1.0)
    curves = {}
    for name in context.track(HEXAPODS, lambda n: n, low=0.5, high=0.95):
        target, loads, stiffness = largest_load(name, options)
        result.targets.append(target)
        curves[name] = (loads, stiffness)
        rows.append([f"{name[14:]}, joints locked at home", None, round(float(loads[-1]), 3), None])
    result.statements.append(
        Statement(
            what="Cosserat rod theory models the properties of continuum robots reliably and precisely.",
            where="section 2",
            found="The paper cites this and shows no measured rod. That the theory is solved precisely is checked: "
            f"Euler's load within {100.0 * error:.2g} %, the elastica within {bent[0].measured or 0.0:.0e} rad.",
        )
    )
    result.tables.append(
        Table(
            title="Critical loads [N]",
            columns=["what", "theory", "found", "unstable directions beyond"],
            rows=rows,
            note="E I = 0.15708 N m^2, L = 1 m. Hexapods: the last load that a stable equilibrium carries.",
        )
    )
    result.figures.append(_figure(ratios, angles, curves))
    return result


def _figure(ratios: np.ndarray, angles: np.ndarray, curves: dict[str, tuple[np.ndarray, np.ndarray]]) -> Figure:
    fine = np.linspace(0.9, ratios[0], 300)
    rod = [
        Line(fine, [elastica_angle(r) for r in fine], color="reference", linewidth=1.2, label="elastica"),
        Line(ratios, angles, "o", color=0, markersize=3.5, label="pliant"),
        Line([1.0, ratios[0]], [0.0, 0.0], color=1, linestyle=DASHED, label="straight, unstable"),
    ]
    hexapods = [Line(*curve, color=k, label=name[14:]) for k, (name, curve) in enumerate(curves.items())]
    bottom = {"ylim": (0.0, None), "legend": "best"}
    panels = [
        Panel(rod, "load / Euler's load", "angle of the tip [rad]", "One rod, tip free", legend="best"),
        Panel(hexapods, "load on the plate [N]", "smallest stiffness [N/m]", "Hexapods, joints locked", **bottom),
    ]
    caption = (
        "Buckling. Left, the tip's angle of a column past Euler's load against elliptic integrals; right, the smallest "
        "stiffness of the hexapods under a growing load, up to where it buckles."
    )
    return draw("buckling", caption, panels, height=2.8)

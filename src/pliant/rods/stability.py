"""Stability of an equilibrium: the negative curvatures of the energy, and motions that cost none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from pliant.base.numerics import Array
from pliant.rods import kernels
from pliant.rods._build import bending_unit, rod_table
from pliant.rods.geometry import tip_joint_frames
from pliant.rods.kernels import layout
from pliant.rods.linearisation import Linearisation, limb_rows
from pliant.rods.statics import State, Statics

MOST_PARTS = 12  # of a rod for the stability index
NEUTRAL = 1e-7  # a curvature below it, in units of the bending of the softest rod, is none
BY_ROTATION, BY_POSITION = slice(layout.BY_PHI, layout.BY_P), slice(layout.BY_P, layout.BY_M)
FREE = {"fixed": (), "revolute": (5,), "universal": (4, 5), "spherical": (3, 4, 5), "prismatic": (2,)}
"""Rows of a distal joint that hold a force or moment along a free axis."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """Negative curvatures of the energy with locked actuators; the equilibrium is stable if there are none.

    By the additivity of inertia the index is the sum of three counts: inside the rods with both ends clamped,
    in the free directions of the joints with the plate clamped, and of the condensed plate. Curvatures are judged in
    units of the bending of the softest rod (E I / L per radian, E I / L^3 per metre), against the rounding error of
    each direction, so that neither the axial stiffness of the rods nor the choice of units matters.
    """

    index: int
    """Morse index: the sum."""
    rods: tuple[int, ...]
    """Inside each rod."""
    joints: tuple[int, ...]
    """In the joints of each limb."""
    plate: int
    """Of the plate on the condensed limbs."""
    free: tuple[str, ...] = ()
    """Motions that cost no energy, in words, such as "the plate turns freely about the point (0, 0.8)"."""

    @property
    def verdict(self) -> Literal["stable", "neutral", "unstable"]:
        """``unstable`` if the index is positive, else ``neutral`` if a motion is free, else ``stable``."""
        return "unstable" if self.index else "neutral" if self.free else "stable"


def stability_left(
    robot: Statics, state: State, steps: int, lin: Linearisation, potential: bool
) -> tuple[Stability, Array]:
    """Return the stability of a state whose linearisation is in the memory of its robot, and the unstable plate twists.

    Args:
        potential: as for `plate_curvatures`.
    """
    d, plate = robot.description, plate_curvatures(robot, lin, potential)
    rods = tuple(_modes_inside(robot, state, i, int(parts)) for i, parts in enumerate(parts_of_rods(robot, state)))
    joints = tuple(_joint_indices(robot, state.X, robot._model(steps)))
    values, directions, floor = plate
    unstable = directions[:, values < -floor]
    free = directions[:, np.abs(values) <= floor]
    count = unstable.shape[1]
    found = Stability(
        index=sum(rods) + sum(joints) + count, rods=rods, joints=joints, plate=count,
        free=tuple(_free_motion(twist, state.X[layout.POS_X :], d.planar) for twist in free.T),
    )  # fmt: skip
    return found, unstable


def parts_of_rods(robot: Statics, state: State) -> Array:
    """Return into how many parts each rod is cut, so that no part has a negative mode of its own, shape (limbs,).

    With the turn T(s) of the cross-sections (world axes) zero at both ends, the second variation of the energy of a
    part of length l is the integral of T'.K T' + m.(T' x T) + n.(T x (T x t)), at least k - |m| l / pi - |n| l^2 / pi^2
    times that of |T'|^2 by Wirtinger's inequality; k is the least stiffness. Where `MOST_PARTS` are not enough (loads
    of a hundred times that at which the clamped rod buckles), the index may miss modes inside a part.
    """
    wk = robot._wk
    known = robot.__dict__.setdefault("_softest_sections", [])
    if not known:
        for table in survey_tables(robot, 1):
            load, couple = (
                np.linalg.norm(table[:, at : at + 3], axis=1).max() for at in (layout.LOAD_X, layout.COUPLE_X)
            )
            yields = table[:, layout.SHEAR_1 : layout.CURVATURE_1].max(axis=0)
            known.append((1.0 / yields[3:].max(), yields[:3].max(), load, couple))
    k, yielding, load, couple = np.array(known).T
    L = wk.tips[:, layout.TIP_LENGTH]
    n = np.linalg.norm(state.W[:, :3], axis=1) + L * load
    n = n * (1.0 + 2.0 * n * yielding)  # what shear and stretch add
    ends = np.linalg.norm(state.W[:, 3:], axis=1) + np.linalg.norm(wk.tips[:, layout.TIP_M : layout.TIP_N], axis=1)
    a, b = 0.5 * (ends + L * (n + couple)) * L / (np.pi * k), n * L**2 / (np.pi**2 * k)
    return np.minimum(np.floor(0.5 * (a + np.sqrt(a**2 + 4.0 * b))) + 1.0, MOST_PARTS)


def _modes_inside(robot: Statics, state: State, i: int, parts: int) -> int:
    """Count the negative modes of rod i, cut into parts, with both ends clamped."""
    if parts == 1:
        return 0
    wk, length = robot._wk, robot.characteristic_length()
    states = np.zeros((parts + 4, layout.TIP_SIZE))
    count = 0
    for cuts in (parts, parts + 1, parts + 3):  # elsewhere, where a cut lies at a singular point
        count = kernels.survey(
            survey_tables(robot, cuts)[i], wk.roots[i], state.W[i], wk.tips[i, layout.TIP_LENGTH], length,
            robot.planar, True, states, wk.w,
        )  # fmt: skip
        if count != layout.SINGULAR_CUT:
            break
    return max(0, int(count))


def plate_curvatures(robot: Statics, lin: Linearisation, potential: bool) -> tuple[Array, Array, Array]:
    """Return the curvatures of the energy by the plate's motion, their directions and their rounding errors.

    Curvatures are in units of the bending of the softest rod, directions are columns of plate twists, world axes,
    which are lengths of the softest rod and radians long.

    Args:
        potential: whether the wrench has one; a wrench that turns with the plate has none: K is not symmetric.
    """
    length, moment = softest_rod(robot)
    unit = np.array([length, length, 1.0] if robot.planar else [length] * 3 + [1.0] * 3)
    A = lin.stiffness * (np.outer(unit, unit) / moment)
    values, vectors = np.linalg.eigh(0.5 * (A + A.T))
    # Rounding of the entries, and what the asymmetry of K shows of its error. A part E_ij that couples two
    # directions changes their curvatures by E_ij^2 / |l_i - l_j|, so an error in a stiff direction does no harm.
    floor = np.full(len(values), NEUTRAL) + 16.0 * np.finfo(float).eps * np.abs(values).max()
    if potential:
        E = np.abs(vectors.T @ (0.5 * (A - A.T)) @ vectors)
        apart = np.abs(values[:, None] - values[None, :])
        floor += (E * np.minimum(1.0, E / np.maximum(apart, 1e-300))).sum(axis=1)
    return values, vectors * unit[:, None], floor


def _free_motion(twist: Array, origin: Array, planar: bool) -> str:
    """Say how the plate moves along a twist (world axes, at the origin of the plate)."""

    def point(p: Array) -> str:
        return "(" + ", ".join(f"{round(float(v), 6) + 0.0:g}" for v in (p[:2] if planar else p)) + ")"

    v = np.array([twist[0], twist[1], 0.0]) if planar else twist[:3]
    w = np.array([0.0, 0.0, twist[2]]) if planar else twist[3:]
    turn = float(np.linalg.norm(w))
    if turn < 1e-6 * float(np.linalg.norm(twist)):
        return f"the plate slides freely along {point(v / np.linalg.norm(v))}"
    centre = origin + np.cross(w, v) / turn**2
    if planar:
        return f"the plate turns freely about the point {point(centre)}"
    axis = w / turn * (-1.0 if w[np.argmax(np.abs(w))] < 0.0 else 1.0)
    pitch = float(v @ w) / turn**2
    also = "" if abs(pitch) < 1e-6 else f", moving {pitch:.3g} m along it per radian"
    return f"the plate turns freely about the axis {point(axis)} through {point(centre)}{also}"


def softest_rod(robot: Statics) -> tuple[float, float]:
    """Return length and E I / L of the softest rod, found once: see `bending_unit`."""
    known = robot.__dict__.get("_softest_rod")
    if known is None:
        known = robot.__dict__["_softest_rod"] = bending_unit(robot.description.limbs)
    return known


def survey_tables(robot: Statics, steps: int) -> list[Array]:
    """Return the rods' tables for a number of steps, made once."""
    tables = robot.__dict__.setdefault("_survey_tables", {})
    if steps not in tables:
        d = robot.description
        tables[steps] = [rod_table(limb.rod, d.gravity, steps) for limb in d.limbs]
    return tables[steps]


def _joint_indices(robot: Statics, X: Array, md: kernels.Model) -> list[int]:
    """Count the negative directions of each limb's free joint coordinates, plate and actuators locked.

    With M = (held rows; free coordinates) by the limb's unknowns, the unit motions are Z = M^-1 (0; 1) and the
    Hessian is minus the free rows (force of the rod along each freedom) times Z.
    """
    wk = robot._wk
    counts = [0] * robot._n
    on_plate, on_tip, tips = tip_joint_frames(robot, X)
    for limbs, kind, rows, unknown in _alike(robot):
        free = [row for row in FREE[kind] if row in rows]
        passive = [c for c in unknown if c >= layout.JOINT_COLUMN]
        size, width = len(free) + len(passive), len(unknown)
        d, cols = wk.d[limbs][:, :, unknown], wk.cols[limbs][:, :, unknown]
        J, B = on_plate[limbs], on_tip[limbs]
        axes = {"revolute": [B[:, :, 2]], "universal": [J[:, :, 0], B[:, :, 1]], "prismatic": [J[:, :, 2]],
                "spherical": [np.broadcast_to(a, (len(limbs), 3)) for a in np.eye(3)], "fixed": []}[kind]  # fmt: skip
        M, force = np.zeros((len(limbs), width, width)), np.zeros((len(limbs), size, width))
        held = [row for row in rows if row < layout.PASSIVE_ROW and row not in free]
        M[:, : len(held)] = d[:, held]
        at = len(held)
        for t, (row, a) in enumerate(zip(free, axes)):
            slides = kind == "prismatic"
            turned = np.cross((tips[limbs] @ md.tip[limbs, layout.POS_X :, None])[..., 0], a) if slides else a
            M[:, at + t] = (turned[:, None] @ cols[:, BY_ROTATION])[:, 0]
            if slides:
                M[:, at + t] += (a[:, None] @ cols[:, BY_POSITION])[:, 0]
            force[:, t] = d[:, row] * md.scale[layout.FORCE if slides else layout.MOMENT]
        passive_rows = [row for row in rows if row >= layout.PASSIVE_ROW]
        for t, c in enumerate(passive, len(free)):
            M[:, at + t, unknown.index(c)] = 1.0
            slides = md.kind[limbs, c - layout.JOINT_COLUMN, None] == layout.PRISMATIC
            scale = np.where(slides, md.scale[layout.FORCE], md.scale[layout.MOMENT])
            force[:, t] = d[:, passive_rows[t - len(free)]] * scale
        rhs = np.zeros((width, size))
        rhs[width - size :] = np.eye(size)
        try:
            Z = np.linalg.solve(M, np.broadcast_to(rhs, (len(M), *rhs.shape)))
        except np.linalg.LinAlgError:  # a limb at its own limit point
            Z = np.linalg.pinv(M) @ rhs
        H = -force @ Z
        negative = np.linalg.eigvalsh(0.5 * (H + np.swapaxes(H, 1, 2))) < -NEUTRAL * softest_rod(robot)[1]
        for i, count in zip(limbs, np.sum(negative, axis=1)):
            counts[i] = int(count)
    return counts


def _alike(robot: Statics) -> list[tuple[list[int], str, list[int], list[int]]]:
    """Return the limbs that have free joints, their joint's kind, rows and unknowns, those with the same together."""
    known = robot.__dict__.get("_alike")
    if known is None:
        groups: dict[tuple, list[int]] = {}
        for i, limb in enumerate(robot.description.limbs):
            rows, unknown = limb_rows(robot, i)
            if max(unknown) >= layout.JOINT_COLUMN or set(FREE[limb.distal.kind]) & set(rows):
                groups.setdefault((limb.distal.kind, tuple(rows), tuple(unknown)), []).append(i)
        known = [(limbs, kind, list(rows), list(unknown)) for (kind, rows, unknown), limbs in groups.items()]
        robot.__dict__["_alike"] = known
    return known

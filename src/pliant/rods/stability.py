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

CUTS = 12  # of a rod for the stability index
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
    rods = tuple(_modes_inside(robot, state, i) for i in range(robot._n))
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


def _modes_inside(robot: Statics, state: State, i: int) -> int:
    """Count the negative modes of rod i with both ends clamped."""
    wk, length = robot._wk, robot.characteristic_length()
    states = np.zeros((CUTS + 4, layout.TIP_SIZE))
    count = 0
    for cuts in (CUTS, CUTS + 1, CUTS + 3):  # elsewhere, where a cut lies at a singular point
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
    groups: dict[tuple[int, int], list] = {}
    on_plate, on_tip, tips = tip_joint_frames(robot, X)
    for i, limb in enumerate(robot.description.limbs):
        rows, unknown = limb_rows(robot, i)
        kind = limb.distal.kind
        free = [row for row in FREE[kind] if row in rows]
        passive = [c for c in unknown if c >= 6]
        size = len(free) + len(passive)
        if size == 0:
            continue
        d, cols = wk.d[i][:, unknown], wk.cols[i][:, unknown]
        J, B = on_plate[i], on_tip[i]
        M, force = np.zeros((len(unknown), len(unknown))), np.zeros((size, len(unknown)))
        held = [row for row in rows if row < 6 and row not in free]
        M[: len(held)] = d[held]
        at = len(held)
        for t, row in enumerate(free):
            if kind == "prismatic":
                a = J[:, 2]
                rho = tips[i] @ md.tip[i, layout.POS_X :]
                M[at + t] = a @ cols[BY_POSITION] + np.cross(rho, a) @ cols[BY_ROTATION]
            else:
                if kind == "revolute":
                    a = B[:, 2]
                elif kind == "universal":
                    a = J[:, 0] if t == 0 else B[:, 1]
                else:
                    a = np.eye(3)[t]
                M[at + t] = a @ cols[BY_ROTATION]
            force[t] = d[row] * md.scale[layout.FORCE if kind == "prismatic" else layout.MOMENT]
        passive_rows = [row for row in rows if row >= 6]
        for t, c in enumerate(passive):
            M[at + len(free) + t, unknown.index(c)] = 1.0
            slides = md.kind[i, c - 6] == layout.PRISMATIC
            force[len(free) + t] = d[passive_rows[t]] * md.scale[layout.FORCE if slides else layout.MOMENT]
        groups.setdefault((len(unknown), size), []).append((i, M, force))
    for (_, size), members in groups.items():
        M = np.array([m for _, m, _ in members])
        rhs = np.zeros((M.shape[1], size))
        rhs[M.shape[1] - size :] = np.eye(size)
        try:
            Z = np.linalg.solve(M, np.broadcast_to(rhs, (len(M), *rhs.shape)))
        except np.linalg.LinAlgError:  # a limb at its own limit point
            Z = np.linalg.pinv(M) @ rhs
        H = -np.array([f for _, _, f in members]) @ Z
        negative = np.sum(
            np.linalg.eigvalsh(0.5 * (H + np.swapaxes(H, 1, 2))) < -NEUTRAL * softest_rod(robot)[1], axis=1
        )
        for (i, _, _), count in zip(members, negative):
            counts[i] = int(count)
    return counts

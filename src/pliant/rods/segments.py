"""A rod cut into segments: each one's end state and transfer matrix, all segments integrated side by side.

State in world axes: position p, frame R = (d1, d2, d3), internal force n, internal moment m (what the outer part does
to the inner one). With the rest length L, abscissa s in [0, 1] (Antman, Nonlinear Problems of Elasticity, chapter 8):

    v = (0, 0, 1) + diag(GA, GA, EA)^-1 R^T n        p' = L R v              n' = -L f
    u = u0 + diag(EI1, EI2, GJ)^-1 R^T m             R' = L R hat(u)         m' = -p' x n - L l

f and l are loads per rest length: dead (world axes) or follower (axes of the section). A transfer matrix maps a small
change (dp, dphi, dm, dn) of the state at the begin of a segment to that at its end; dphi is a turn in world axes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.base.numerics import Array
from pliant.base.spatial import hat
from pliant.rods.description import Rod

STEPS = 4
"""Steps of Runge and Kutta's method of fourth order in each segment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """States of a rod at several points."""

    p: Array
    """Positions in the world, shape (k, 3) [m]."""
    R: Array
    """Frames (d1, d2, d3), shape (k, 3, 3)."""
    m: Array
    """Internal moments, world axes, shape (k, 3) [N m]."""
    n: Array
    """Internal forces, world axes, shape (k, 3) [N]."""

    def at(self, pick: slice | NDArray[np.intp]) -> State:
        """Return the states at some of the points."""
        return State(p=self.p[pick], R=self.R[pick], m=self.m[pick], n=self.n[pick])


class Segments:
    """The constants of a rod at the points that the integration needs.

    Args:
        rod: the rod.
        length: its rest length [m].
        gravity: acceleration of gravity in the world, shape (3,) [m/s^2].
        begin: where the segments begin, abscissae, shape (k,).
        end: where they end, shape (k,).
        loads: function of the abscissa, shape (points,), and the middle of its segment, (points,), that gives (force,
            moment, force in axes of the section, moment in those axes) per rest length, each (points, 3), beside the
            rod's own; None: none.
    """

    def __init__(
        self, rod: Rod, length: float, gravity: Array, begin: Array, end: Array,
        loads: Callable[[Array, Array], tuple[Array, Array, Array, Array]] | None = None,
    ) -> None:  # fmt: skip
        self.rod, self.length, self.size = rod, float(length), np.asarray(end, dtype=float) - begin
        k, stages = len(begin), 2 * STEPS + 1
        inner = np.linspace(0.0, 1.0, stages)
        s = (np.asarray(begin)[:, None] + self.size[:, None] * inner).ravel()
        values = [rod.values(float(t)) for t in s]
        shape = (k, stages, 3)
        self.mass = np.array([v.mass for v in values]).reshape(k, stages)
        self._strain = 1.0 / np.array([[*v.shear, v.axial] for v in values]).reshape(shape)
        self._bend = 1.0 / np.array([[*v.bending, v.torsion] for v in values]).reshape(shape)
        self._u0 = np.array([rod.curvature(float(t)) for t in s]).reshape(shape)
        self._f = self.mass[..., None] * np.asarray(gravity, dtype=float) + np.asarray(rod.distributed_force)
        self._l = np.broadcast_to(np.asarray(rod.distributed_moment, dtype=float), shape)
        self._fb, self._lb = np.zeros(shape), np.zeros(shape)
        if loads is not None:
            middle = np.repeat(0.5 * (np.asarray(begin) + np.asarray(end)), stages)
            more = [one.reshape(shape) for one in loads(s, middle)]
            self._f, self._l, self._fb, self._lb = self._f + more[0], self._l + more[1], more[2], more[3]

    def _rates(self, j: int, p: Array, R: Array, m: Array, n: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Return p', hat(world curvature), m', n' and the matrix A of the changes, d' = A d, at stage j."""
        L = self.length
        Rt = np.swapaxes(R, 1, 2)
        v = (Rt @ n[:, :, None])[:, :, 0] * self._strain[:, j]
        v[:, 2] += 1.0
        u = self._u0[:, j] + (Rt @ m[:, :, None])[:, :, 0] * self._bend[:, j]
        dp = L * (R @ v[:, :, None])[:, :, 0]
        turn = hat(L * (R @ u[:, :, None])[:, :, 0])
        fb, lb = (L * (R @ one[:, j, :, None])[:, :, 0] for one in (self._fb, self._lb))
        dn = -L * self._f[:, j] - fb
        dm = -np.cross(dp, n) - L * self._l[:, j] - lb
        S = L * (R * self._strain[:, j, None, :]) @ Rt
        B = L * (R * self._bend[:, j, None, :]) @ Rt
        hn, hp = hat(n), hat(dp)
        A = np.zeros((len(p), 12, 12))
        by_phi = S @ hn - hp
        A[:, 0:3, 3:6], A[:, 0:3, 9:12] = by_phi, S
        A[:, 3:6, 3:6], A[:, 3:6, 6:9] = B @ hat(m), B
        A[:, 6:9, 3:6], A[:, 6:9, 9:12] = hn @ by_phi + hat(lb), hn @ S - hp
        A[:, 9:12, 3:6] = hat(fb)
        return dp, turn, dm, dn, A

    def advance(self, begin: State) -> tuple[State, Array]:
        """Integrate every segment from its own begin; return the ends, and the transfer matrices (k, 12, 12)."""
        p, R, m, n = (np.array(one) for one in (begin.p, begin.R, begin.m, begin.n))
        T = np.tile(np.eye(12), (len(p), 1, 1))
        h = (self.size / STEPS)[:, None]
        H = h[:, :, None]
        for step in range(STEPS):
            total: list[Array] = []
            rates: tuple[Array, ...] = ()
            for part, weight in ((0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)):
                here = (p, R, m, n, T)
                if rates:
                    here = tuple(x + part * (h if x.ndim == 2 else H) * d for x, d in zip(here, rates))
                Q, D = here[1], here[4]
                dp, turn, dm, dn, A = self._rates(2 * step + round(2 * part), *here[:4])
                rates = (dp, turn @ Q, dm, dn, A @ D)
                total = [t + weight * d for d, t in zip(rates, total)] if total else list(rates)
            p, R, m, n, T = (x + (h if x.ndim == 2 else H) / 6.0 * d for x, d in zip((p, R, m, n, T), total))
            R = R @ (1.5 * np.eye(3) - 0.5 * np.swapaxes(R, 1, 2) @ R)  # towards the nearest rotation
        return State(p=p, R=R, m=m, n=n), T


def end_stiffness(T: Array) -> Array:
    """Return the stiffness matrices of segments from their transfer matrices, shape (k, 12, 12).

    Rows: force and moment that act on the begin and on the end from outside; columns: displacement and turn of the
    begin and of the end, all (3 + 3 + 3 + 3) in world axes.
    """
    swap = np.r_[9:12, 6:9]  # forces before moments
    uu, uf = T[:, :6, :6], T[:, :6, swap]
    fu, ff = T[:, swap, :6], T[:, swap][:, :, swap]
    inverse = np.linalg.inv(uf)
    out = np.empty((len(T), 12, 12))
    begin_by_begin, begin_by_end = -inverse @ uu, inverse
    out[:, :6, :6], out[:, :6, 6:] = -begin_by_begin, -begin_by_end
    out[:, 6:, :6], out[:, 6:, 6:] = fu + ff @ begin_by_begin, ff @ begin_by_end
    return out

"""Equilibria of one rod whose two ends are held, or whose second end is free.

Unknown are the states at the cuts of the rod (multiple shooting); Newton's method closes the gaps between a segment's
end and the next one's begin. A found equilibrium is exact up to the integration: its segments are integrated once more
in steps of half the size, and where that changes their ends by more than `ACCURACY`, the rod gets more segments.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.errors import ModelError, PliantError
from pliant.base.numerics import Array, is_positive_definite
from pliant.base.spatial import exp_so3, hat, log_so3
from pliant.rods.between.loads import Load, PointLoad, distributed
from pliant.rods.checks import rigid_pose
from pliant.rods.description import Rod
from pliant.rods.failure import is_soft, largest_stretch
from pliant.rods.segments import Segments, State, end_stiffness
from pliant.rods.solution import Centreline, surface_strain
from pliant.rods.spline import CubicSpline

CUTS, MAX_CUTS = 16, 64
"""Segments of a rod, beside those that begin at a load; doubled while the accuracy is not reached."""
ACCURACY = 2e-6
"""Largest change of a segment's end by half the step of integration: of a place by the rod's length, of an angle, of a
force or moment by the largest or, where these are small, in the units of the tolerance."""
MOST_BENDS = 25.0
"""Length of a rod by the length sqrt(EI / F) of a bend under its forces, above which these are named where no
equilibrium is found."""
TOLERANCE = 1e-10
"""Largest gap of an equilibrium: lengths by the rod's, angles, forces and moments by its bending."""
MAX_ITERATIONS = 80
MAX_TURN = 0.6
"""Largest turn of a cut in one step of Newton's method [rad]."""
GRAVITY = (0.0, 0.0, -9.81)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RodEquilibrium:
    """A rod in equilibrium between two frames."""

    rod: Rod
    """The rod."""
    cuts: Array
    """Abscissae of the states, shape (k + 1,)."""
    states: State
    """States at the cuts; at a point load, before it."""
    stiffness: Array
    """Force and moment on end B by its displacement and turn, end A held, shape (6, 6); zero for a free end."""
    unstable: int
    """Number of directions in which the rod gives way with both ends held; 0 for a stable equilibrium."""
    residual: float
    """Largest gap, without unit."""
    problem: _Problem
    """Its equations."""

    @property
    def wrench_a(self) -> Array:
        """Force and moment of the rod on its holder at end A, about this end, world axes, shape (6,) [N, N m]."""
        return np.append(self.states.n[0], self.states.m[0])

    @property
    def wrench_b(self) -> Array:
        """Force and moment of the rod on its holder at end B, about this end, world axes, shape (6,) [N, N m]."""
        begin, _ = self.problem.behind(self.states)
        return -np.append(begin.n[-1], begin.m[-1])

    @property
    def tip(self) -> Array:
        """Frame of end B, shape (4, 4)."""
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = self.states.R[-1], self.states.p[-1]
        return X

    def centreline(self, points: int = 201) -> Centreline:
        """Return shape and loads along the rod; at a point load, those before it.

        Args:
            points: number of points, >= 2.
        """
        return self.at(np.linspace(0.0, 1.0, points))

    def at(self, s: Array) -> Centreline:
        """Return shape and loads at given abscissae, shape (points,), rising from 0 to 1."""
        cell = np.clip(np.searchsorted(self.cuts, s, side="left") - 1, 0, len(self.cuts) - 2)
        begin, _ = self.problem.behind(self.states)
        line, _ = self.problem.between(self.cuts[cell], s).advance(begin.at(cell))
        rotation, moment = line.R, line.m
        bent = np.einsum("kji,kj->ki", rotation, moment)[:, :2] / [self.rod.values(float(t)).bending for t in s]
        return Centreline(
            s=s, position=line.p, rotation=rotation, force=line.n, moment=moment,
            bending_strain=surface_strain(self.rod.section, s, bent),
            length=self.rod.length,
        )  # fmt: skip


def solve_rod(
    rod: Rod,
    X_a: ArrayLike,
    X_b: ArrayLike | None,
    *,
    loads: Sequence[Load] = (),
    gravity: ArrayLike = GRAVITY,
    end_b: Literal["clamped", "ball"] = "clamped",
    start: RodEquilibrium | None = None,
    name: str = "rod",
) -> RodEquilibrium:
    """Return a stable equilibrium of a rod between two frames whose third axes are along it.

    Args:
        rod: the rod; its own distributed loads act too.
        X_a: frame of end A, shape (4, 4), z from A to B along the rod.
        X_b: frame of end B, shape (4, 4), z along the rod, away from A; None: the end is free.
        loads: point loads and distributed loads.
        gravity: acceleration of gravity in the world, shape (3,) [m/s^2].
        end_b: whether the frame at B is held, or its position only.
        start: equilibrium to begin with; None: a smooth curve between the frames.
        name: of the rod, in messages.

    Raises:
        ModelError: the rod is too short for the distance of its ends, or an argument is not valid.
        PliantError: no stable equilibrium was found.

    Example:
        >>> held = solve_rod(Rod(length=0.5, section=Round(radius=1e-3)), np.eye(4), pose((0.05, 0, 0.48)))
        >>> held.wrench_b[:3]  # force on the holder at B [N]
    """
    A = rigid_pose(name, "X_a", X_a)
    B = None if X_b is None else rigid_pose(name, "X_b", X_b)
    if end_b not in ("clamped", "ball"):
        raise ModelError(f"{name}: end_b is {end_b!r}; must be 'clamped' or 'ball'", field="end_b")
    if B is not None:
        check_reach(rod, A, B, name)
    cuts = CUTS if start is None else start.problem.parts
    while True:
        problem = _Problem(rod, A, B, loads, np.asarray(gravity, dtype=float), end_b, cuts)
        found = _stable(problem, start)
        if isinstance(found, str):
            why = found + problem.too_large()
            break
        error = problem.error(found.states)
        if error <= ACCURACY:
            return found
        start, cuts = found, 2 * cuts
        if cuts > MAX_CUTS:
            why = f"{MAX_CUTS} segments do not resolve its bends (error {error:.1e}){problem.too_large()}"
            break
    raise PliantError(f"{name}: no stable equilibrium between its ends was found: {why}")


def _stable(problem: _Problem, start: RodEquilibrium | None) -> RodEquilibrium | str:
    """Return the first stable equilibrium that a start leads to, or why there is none."""
    tried: list[tuple[float, int]] = []
    for begin in itertools.chain([] if start is None else [problem.sampled(start)], problem.starts()):
        state, residual = problem.newton(begin)
        if not residual < TOLERANCE:
            tried.append((residual, -1))
            continue
        unstable, stiffness, way = problem.stability(state)
        for side in (1.0, -1.0):  # beside an unstable equilibrium lies a stable one
            if unstable == 0 or way is None:
                break
            other, gap = problem.newton(problem.moved(state, 0.05 * side * way))
            if gap < TOLERANCE and (found := problem.stability(other))[0] == 0:
                state, residual, (unstable, stiffness, _) = other, gap, found
        if unstable == 0:
            return RodEquilibrium(
                rod=problem.rod, cuts=problem.cuts, states=state, stiffness=stiffness, unstable=0, residual=residual,
                problem=problem,
            )  # fmt: skip
        tried.append((residual, unstable))
    solved = [k for _, k in tried if k > 0]
    if solved:
        why = f"the equilibria that were found give way in {min(solved)} directions"
    else:
        closed = min((r for r, _ in tried if np.isfinite(r)), default=np.inf)
        why = f"Newton's method closes the rod to {closed:.1e} only" if closed < 1.0 else "Newton's method diverges"
    return f"{why} ({len(tried)} start{'s' if len(tried) > 1 else ''})"


def check_reach(rod: Rod, X_a: Array, X_b: Array, name: str) -> None:
    """Refuse ends that are farther apart than the rod is long.

    Raises:
        ModelError: with the length that would be valid.
    """
    distance = float(np.linalg.norm(X_b[:3, 3] - X_a[:3, 3]))
    soft = is_soft(rod)
    longest = rod.length * (1.0 + largest_stretch(rod)) if soft else rod.length
    if distance > longest * (1.0 + 1e-12):
        stretch = f", which this soft rod could stretch to {longest:.4g} m" if soft else ""
        raise ModelError(
            f"{name}: its ends are {distance:.6g} m apart and the rod is {rod.length:.6g} m long{stretch}; the length "
            f"must be at least {distance / (longest / rod.length):.6g} m, or the ends nearer to each other",
            field="length",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gaps:
    """Gaps in the states of a rod."""

    inner: Array
    """End of each segment less begin of the next, (dp, dphi, dm, dn), shape (k, 12)."""
    root: Array
    """First state less the frame at A, shape (6,)."""
    tip: Array
    """Last state less what is held at B, zero for the rest, shape (12,)."""
    follower: Array
    """Change of moment and force at the end by its turn, from followers there, shape (6, 3)."""
    T: Array
    """Transfer matrices, with the point loads at the begins of the segments, shape (k, 12, 12)."""
    scaled: Array
    """All gaps in units."""
    load: float
    """A hundredth of the largest force or moment in units, at least 1."""

    @property
    def size(self) -> float:
        """The largest of them, where forces are large by the part of these that rounding leaves."""
        return float(np.abs(self.scaled).max()) / self.load


class _Problem:
    """The equations of one rod between its frames."""

    def __init__(
        self, rod: Rod, A: Array, B: Array | None, loads: Sequence[Load], gravity: Array, end_b: str, parts: int
    ) -> None:
        self.rod, self.A, self.B, self.parts = rod, A, B, parts
        places = {0.0, 1.0, *np.linspace(0.0, 1.0, parts + 1).round(12)}
        for load in loads:
            places |= {float(load.at)} if isinstance(load, PointLoad) else {float(load.begin), float(load.end)}
        cuts = np.array(sorted(places))
        keep = np.append(np.diff(cuts) > 1e-9, True)
        self.cuts = cuts[keep]
        self.points = [(int(np.argmin(np.abs(self.cuts - one.at))), one) for one in loads if isinstance(one, PointLoad)]
        self.loads, self.gravity = loads, gravity
        self.segments = self.between(self.cuts[:-1], self.cuts[1:])
        v = rod.values(0.5)
        L, bend = rod.length, max(v.bending)
        self.unit = np.array([L] * 3 + [1.0] * 3 + [bend / L] * 3 + [bend / L**2] * 3)
        # What is held at end B: pose, position and no moment, or no load at all.
        self.held = np.arange(6, 12) if B is None else np.arange(6) if end_b == "clamped" else np.r_[0:3, 6:9]

    def between(self, begin: Array, end: Array) -> Segments:
        """Return parts of the rod."""
        loads = self.loads
        return Segments(
            self.rod, self.rod.length, self.gravity, begin, end, lambda s, middle: distributed(loads, s, middle)
        )

    def too_large(self) -> str:
        """Return which forces are too large for the cuts, as a clause of a message; empty if they are not."""
        force = float(sum(np.linalg.norm(load.force) for _, load in self.points))
        bending, L = max(self.rod.values(0.5).bending), self.rod.length
        if force * L**2 <= MOST_BENDS**2 * bending:
            return ""
        return (
            f"; its point loads of {force:.4g} N bend it within {1e3 * np.sqrt(bending / force):.3g} mm, up to about "
            f"{MOST_BENDS**2 * bending / L**2:.3g} N in all can be resolved"
        )

    def error(self, x: State) -> float:
        """Return by how much the ends of the segments change when they are integrated in steps of half the size."""
        begin, _ = self.behind(x)
        begin, middle = begin.at(slice(0, -1)), 0.5 * (self.cuts[:-1] + self.cuts[1:])
        once, _ = self.segments.advance(begin)
        half, _ = self.between(self.cuts[:-1], middle).advance(begin)
        twice, _ = self.between(middle, self.cuts[1:]).advance(half)
        turn = np.array([log_so3(a @ b.T) for a, b in zip(once.R, twice.R)])
        change = np.hstack([once.p - twice.p, turn, once.m - twice.m, once.n - twice.n]) / self.unit
        change[:, 6:] /= max(1.0, self.largest(x))
        return float(np.abs(change).max())

    def largest(self, x: State) -> float:
        """Return the largest force or moment in units."""
        return float(np.abs(np.hstack([x.m, x.n]) / self.unit[6:]).max())

    def behind(self, x: State) -> tuple[State, Array]:
        """Return the states behind the point loads, and the change of (m, n) there by the turn, shape (k + 1, 6, 3)."""
        n, m = x.n.copy(), x.m.copy()
        by_turn = np.zeros((len(self.cuts), 6, 3))
        for k, load in self.points:
            f, t = np.asarray(load.force, dtype=float), np.asarray(load.moment, dtype=float)
            if load.follower:
                f, t = x.R[k] @ f, x.R[k] @ t
                by_turn[k] += np.concatenate([hat(t), hat(f)])
            n[k] -= f
            m[k] -= t
        return State(p=x.p, R=x.R, m=m, n=n), by_turn

    def curve(self, aside: Array | None) -> State:
        """Return a smooth curve of the rod's length between the frames, without loads.

        Args:
            aside: the unit vector along which the curve bulges, shape (3,); None: its slopes at the ends are so large
                that it is long enough.
        """
        L, s, A = self.rod.length, self.cuts, self.A
        if self.B is None:
            p = A[:3, 3] + L * s[:, None] * A[:3, 2]
            return self._unloaded(p, np.tile(A[:3, :3], (len(s), 1, 1)))
        B, t = self.B, np.linspace(0.0, 1.0, 201)[:, None]
        chord = float(np.linalg.norm(B[:3, 3] - A[:3, 3]))

        def path(size: float) -> Array:
            reach = size if aside is None else min(chord, L)
            out = (
                (2 * t**3 - 3 * t**2 + 1) * A[:3, 3] + (t**3 - 2 * t**2 + t) * reach * A[:3, 2]
                + (3 * t**2 - 2 * t**3) * B[:3, 3] + (t**3 - t**2) * reach * B[:3, 2]
            )  # fmt: skip
            return out if aside is None else out + 16.0 * size * t**2 * (1.0 - t) ** 2 * aside

        def arc(points: Array) -> Array:
            return np.append(0.0, np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1)))

        low, high = 0.0, 8.0 * L
        for _ in range(40):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if arc(path(middle))[-1] < L else (low, middle)
        points = path(0.5 * (low + high))
        along = arc(points)
        p = CubicSpline(t[:, 0], points)(np.interp(s * along[-1], along, t[:, 0]))
        tangent = np.gradient(p, s, axis=0)
        tangent[0], tangent[-1] = A[:3, 2], B[:3, 2]
        tangent /= np.linalg.norm(tangent, axis=1)[:, None]
        R = [A[:3, :3]]
        for one, two in itertools.pairwise(tangent):
            axis = np.cross(one, two)
            sine = float(np.linalg.norm(axis))
            R.append(exp_so3(axis / max(sine, 1e-12) * np.arctan2(sine, float(one @ two))) @ R[-1])
        twist = float(log_so3(R[-1].T @ B[:3, :3])[2])
        return self._unloaded(p, np.array([r @ exp_so3([0.0, 0.0, twist * f]) for r, f in zip(R, s)]))

    def _unloaded(self, p: Array, R: Array) -> State:
        return State(p=p, R=R, m=np.zeros_like(p), n=np.zeros_like(p))

    def sampled(self, other: RodEquilibrium) -> State:
        """Return the states of another equilibrium at these cuts."""
        if len(other.cuts) == len(self.cuts) and np.allclose(other.cuts, self.cuts):
            return other.states
        line = other.at(self.cuts)
        return State(p=line.position, R=line.rotation, m=line.moment, n=line.force)

    def starts(self) -> Iterator[State]:
        """Yield smooth curves: of a free end one, else one with the slopes of the ends and four that bulge."""
        if self.B is None:
            yield self.curve(None)
            return
        way = self.B[:3, 3] - self.A[:3, 3]
        aligned = abs(float(self.A[:3, 2] @ self.B[:3, 2])) > 0.999 and np.linalg.norm(
            np.cross(way, self.A[:3, 2])
        ) < 0.02 * np.linalg.norm(way)  # such a curve would go back and forth on a line
        if not aligned:
            yield self.curve(None)
        x, y = self.A[:3, 0], self.A[:3, 1]
        for d in (x + 0.1 * y, -x - 0.1 * y, y - 0.1 * x, 0.1 * x - y):
            yield self.curve(d / np.linalg.norm(d))

    def moved(self, x: State, step: Array) -> State:
        """Return states changed by (dp, dphi, dm, dn) in units, shape (k + 1, 12)."""
        d = step * self.unit
        R = np.array([exp_so3(w) @ r for w, r in zip(d[:, 3:6], x.R)])
        return State(p=x.p + d[:, :3], R=R, m=x.m + d[:, 6:9], n=x.n + d[:, 9:])

    def _gaps(self, x: State) -> _Gaps:
        """Return what is open between the segments and at the ends, and the transfer matrices with the point loads."""
        begin, by_turn = self.behind(x)  # behind the tip there is nothing but its holder
        ends, T = self.segments.advance(begin.at(slice(0, -1)))
        T = T.copy()
        T[:, :, 3:6] += T[:, :, 6:] @ by_turn[:-1]
        inner = np.zeros((len(T), 12))
        inner[:, :3], inner[:, 6:9], inner[:, 9:] = ends.p - x.p[1:], ends.m - x.m[1:], ends.n - x.n[1:]
        inner[:, 3:6] = [log_so3(a @ b.T) for a, b in zip(ends.R, x.R[1:])]
        root = np.append(x.p[0] - self.A[:3, 3], log_so3(x.R[0] @ self.A[:3, :3].T))
        last = np.zeros(12)
        if self.B is not None:
            last[:3], last[3:6] = x.p[-1] - self.B[:3, 3], log_so3(x.R[-1] @ self.B[:3, :3].T)
        last[6:9], last[9:] = begin.m[-1], begin.n[-1]
        last[[k for k in range(12) if k not in self.held]] = 0.0
        all_gaps = np.concatenate([(inner / self.unit).ravel(), root / self.unit[:6], last / self.unit])
        load = max(1.0, 0.01 * self.largest(begin))
        return _Gaps(inner=inner, root=root, tip=last, follower=by_turn[-1], T=T, scaled=all_gaps, load=load)

    def _hessian(self, T: Array, follower: Array) -> tuple[Array, Array, Array]:
        """Return the stiffness by all displacements and turns of the cuts, and which of them are free and of end B."""
        K, k = end_stiffness(T), len(T)
        H = np.zeros((6 * (k + 1), 6 * (k + 1)))
        for i in range(k):
            H[6 * i : 6 * i + 12, 6 * i : 6 * i + 12] += K[i]
        H[-3:, -3:] += follower[:3]  # of the end
        H[-6:-3, -3:] += follower[3:]
        free, end = np.arange(6, 6 * k), np.arange(6 * k, 6 * k + 6)
        if self.B is None:
            return H, np.append(free, end), end[:0]
        return (H, np.append(free, end[3:]), end[:3]) if self.held[-1] >= 6 else (H, free, end)

    def _step(self, gaps: _Gaps) -> tuple[Array, bool]:
        """Return a step of Newton's method in units, shape (k + 1, 12), and whether the rod is stable there.

        Where the energy has negative curvatures, the step goes down along them (saddle-free Newton).
        """
        T, swap = gaps.T, np.r_[9:12, 6:9]
        k = len(T)
        inverse = np.linalg.inv(T[:, :6, swap])
        ru, rf = gaps.inner[:, :6], gaps.inner[:, swap]
        begin = -(inverse @ ru[:, :, None])[:, :, 0]  # what closes the gaps, with the cuts held
        closed = rf + (T[:, swap][:, :, swap] @ begin[:, :, None])[:, :, 0]
        c = np.zeros((k + 1, 6))
        c[1:] += closed
        c[:-1] -= begin
        c[-1] += gaps.tip[swap]
        c = c.ravel()
        H, free, end = self._hessian(T, gaps.follower)
        du = np.zeros(6 * (k + 1))
        du[:6] = -gaps.root
        du[end] = -gaps.tip[: len(end)]
        unit = np.tile(self.unit[:6], k + 1)
        rest = unit[free] * (c + H @ du)[free]
        inner = H[np.ix_(free, free)] * np.outer(unit[free], unit[free])
        even = 0.5 * (inner + inner.T)
        stable = is_positive_definite(even)
        if stable:
            step = np.linalg.solve(inner, -rest)
        else:
            values, vectors = np.linalg.eigh(even)
            soft = 1e-9 * values[-1]
            step = -vectors @ ((vectors.T @ rest) / np.maximum(np.abs(values), soft))
        du[free] = unit[free] * step
        du = du.reshape(-1, 6)
        out = np.zeros((k + 1, 12))
        out[:, :6] = du
        df = begin + (inverse @ (du[1:] - (T[:, :6, :6] @ du[:-1, :, None])[:, :, 0])[:, :, None])[:, :, 0]
        out[:-1, swap] = df
        out[-1, swap] = rf[-1] + T[-1][swap, :6] @ du[-2] + T[-1][swap][:, swap] @ df[-1]
        return out / self.unit, stable

    def newton(self, x: State) -> tuple[State, float]:
        """Close the gaps; return the states and the largest gap that is left."""
        with np.errstate(all="ignore"):
            gaps = self._gaps(x)
            size = gaps.size
            for _ in range(MAX_ITERATIONS):
                if size < TOLERANCE or not np.isfinite(size):
                    break
                try:
                    step, stable = self._step(gaps)
                except np.linalg.LinAlgError:
                    break
                part = min(1.0, MAX_TURN / max(float(np.linalg.norm(step[:, 3:6], axis=1).max()), 1e-12))
                before = np.linalg.norm(gaps.scaled)
                for _ in range(6):
                    other = self.moved(x, part * step)
                    new = self._gaps(other)
                    norm = np.linalg.norm(new.scaled)
                    if np.isfinite(norm) and (not stable or norm < (1.0 - 0.1 * part) * before):
                        break
                    part *= 0.5
                if size < 1e-8 and new.size > 0.5 * size:  # rounding
                    break
                x, gaps, size = other, new, new.size
        return x, size

    def stability(self, x: State) -> tuple[int, Array, Array | None]:
        """Return the number of unstable directions, the stiffness of end B, and one unstable direction."""
        gaps = self._gaps(x)
        k = len(gaps.T)
        H, free, end = self._hessian(gaps.T, gaps.follower)
        unit = np.tile(self.unit[:6], k + 1)
        inner = H[np.ix_(free, free)] * np.outer(unit[free], unit[free])
        even = 0.5 * (inner + inner.T)
        floor = 1e-7 * float(min(self.rod.values(0.5).bending)) / self.rod.length
        count, vectors = 0, even
        if not is_positive_definite(even + floor * np.eye(len(even))):
            values, vectors = np.linalg.eigh(even)
            count = int(np.sum(values < -floor))
        stiffness = np.zeros((6, 6))
        if self.B is not None:
            rows = end - end[0]
            part = H[np.ix_(end, end)] - H[np.ix_(end, free)] @ np.linalg.solve(
                H[np.ix_(free, free)], H[np.ix_(free, end)]
            )
            stiffness[np.ix_(rows, rows)] = part
        way = None
        if count:
            flat = np.zeros(6 * (k + 1))
            flat[free] = vectors[:, 0]
            way = np.zeros((k + 1, 12))
            way[:, :6] = flat.reshape(-1, 6) / max(float(np.abs(flat).max()), 1e-12)
        return count, stiffness, way

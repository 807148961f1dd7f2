"""Statics of concentric tubes: shapes for rotations and translations, stability, snapping, all equilibria."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.errors import PliantError
from pliant.base.numerics import Array
from pliant.base.spatial import exp_so3, hat, log_so3
from pliant.tubes.description import TubesDescription
from pliant.tubes.kernels import BEND, MASS
from pliant.tubes.shooting import Shot, Tip, shoot

TOLERANCE = 1e-11
"""Largest angle that is open at the base [rad]."""
MAX_ITERATIONS = 25
MAX_TURN = 0.5
"""Largest change of an unknown in one step of Newton's method [rad]."""
STARTS = {1: 1, 2: 16, 3: 8, 4: 5}
"""Relative tip angles tried for each tube but the first, by the number of tubes."""
SAME = 1e-6
"""Difference of angles below which two equilibria are the same [rad]."""
LEAST_SHARE = 2e-3
"""Smallest step of growing curvatures and loads."""
MAX_DECAYS = 11.0
"""Most lengths sqrt(stiffness / force) in the tubes: a turn of the tip grows by e in each towards the base, and
e^11 times the rounding of an angle is `TOLERANCE`."""
ROW, LEAST = 0.1, 1e-6
"""Largest and smallest turn of a tube between two equilibria of a path [rad]."""


class NoTubeEquilibrium(PliantError):
    """No equilibrium was found; ``residual`` is the smallest angle that stayed open at the base [rad]."""

    def __init__(self, message: str, *, residual: float) -> None:
        super().__init__(message, field="rotation")
        self.residual = residual


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TubeSolution:
    """An equilibrium of concentric tubes."""

    robot: ConcentricTubes
    """The robot."""
    rotation: Array
    """Angles of the tubes' bases about z of the guide, shape (N,) [rad]."""
    translation: Array
    """Places of the tubes' bases behind the guide's end, <= 0, shape (N,) [m]."""
    wrench: Array
    """Dead force and moment at the tip, world axes, shape (6,) [N, N m]."""
    end: Tip
    """State at the tip."""
    s: Array
    """Places of the states below, from the guide's end to the tip [m], shape (K,)."""
    position: Array
    """Centreline in the world, shape (K, 3) [m]."""
    frames: Array
    """Frames of the backbone without torsion, shape (K, 3, 3)."""
    angles: Array
    """Angles of the tubes against these frames, shape (K, N) [rad]; beyond a tube's end: that at its end."""
    torques: Array
    """Torsional moments of the tubes, shape (K, N) [N m]."""
    energy: float
    """Elastic energy of the tubes less the work of loads and weight [J]."""
    measure: float
    """1 for tubes without curvature and load, 0 at a limit of stability; see `ConcentricTubes`."""
    index: int
    """Number of unstable directions."""
    residual: float
    """Largest angle open at the base [rad]."""
    snapped: bool = False
    """Whether a path jumped to this equilibrium because the one before became unstable (`ConcentricTubes.follow`)."""
    name: str = ""
    """Name among several equilibria, such as "stable 1" (`ConcentricTubes.equilibria`)."""

    @property
    def stable(self) -> bool:
        """Whether the equilibrium is stable."""
        return self.index == 0

    @property
    def tip(self) -> Array:
        """Frame of the innermost tube's end in the world, its x axis where the tube bends to, shape (4, 4)."""
        X, a = np.eye(4), self.angles[-1, 0]
        turn = np.array([[np.cos(a), -np.sin(a), 0.0], [np.sin(a), np.cos(a), 0.0], [0.0, 0.0, 1.0]])
        X[:3, :3], X[:3, 3] = self.frames[-1] @ turn, self.position[-1]
        return X

    @property
    def twist(self) -> Array:
        """Angle of each tube's end less that of its base, shape (N,) [rad]."""
        return self.angles[-1] - self.rotation

    def jacobian(self) -> Array:
        """Return how the tip moves by rotations and translations, shape (6, 2 N): turn [rad], place [m], world axes."""
        return self.robot._sensitivity(self)[:, : 2 * len(self.rotation)]

    def compliance(self) -> Array:
        """Return how the tip moves by force and moment at the tip, shape (6, 6): turn [rad], place [m]."""
        return self.robot._sensitivity(self)[:, 2 * len(self.rotation) :]


class ConcentricTubes:
    """Statics of a concentric-tube robot with torsion (equations: `pliant.tubes.kernels`).

    Stability is that of the second variation of the energy: the linearised equations are integrated from the free tip
    with any angles there to the base; an equilibrium is stable if no combination of them vanishes on the way (conjugate
    point; without load: Gilbert, Hendrick and Webster, "Elastic stability of concentric tube robots: a stability
    measure and design test", IEEE T-RO 32(1), 2016, whose measure is the determinant at the base; with loads: Ha, Park
    and Dupont, IEEE T-BME 63(6), 2016).

    Example:
        robot = ConcentricTubes(description)
        robot.solve(rotation=[0.0, 1.5]).tip
    """

    def __init__(self, description: TubesDescription) -> None:
        self.description = description
        """The robot."""
        d = description
        self.table = np.array([[t.bending, t.torsion, t.curvature, t.mass] for t in d.tubes]).T.copy()
        """Stiffness against bending and torsion, curvature, mass per length of each tube, shape (4, N)."""
        self.base = np.asarray(d.base, dtype=float)
        """Pose of the guide's end."""

    @property
    def count(self) -> int:
        """Number of tubes."""
        return len(self.description.tubes)

    def solve(
        self,
        rotation: ArrayLike,
        translation: ArrayLike | None = None,
        *,
        force: ArrayLike = (0.0, 0.0, 0.0),
        moment: ArrayLike = (0.0, 0.0, 0.0),
        start: TubeSolution | None = None,
    ) -> TubeSolution:
        """Return a stable equilibrium; without ``start`` the one that growing curvatures and loads reach.

        Where this one becomes unstable, that of least energy is returned that the loads reach from a stable equilibrium
        of the unloaded tubes.

        Args:
            rotation: angles of the tubes' bases about z of the guide, shape (N,) [rad].
            translation: places of their bases behind the guide's end, <= 0, shape (N,) [m]; None: those at home.
            force: dead force at the tip, world axes, shape (3,) [N].
            moment: dead moment at the tip, world axes, shape (3,) [N m].
            start: equilibrium to start from; the result may then be unstable.

        Raises:
            ModelError: translations that the tubes do not permit.
            NoTubeEquilibrium: none was found.
        """
        alpha, beta, wrench = self._checked(rotation, translation, force, moment)
        if start is not None:
            found = self._newton(alpha, beta, wrench, start.end)
            if isinstance(found, TubeSolution):
                return found
            raise self._failure(alpha, found)
        found, share = self._grown(alpha, beta, wrench)
        if share == 1.0 and isinstance(found, TubeSolution):
            return found
        laden = bool(np.any(wrench) or np.any(self.table[MASS]))
        every = [one for one in self._scaled(1.0, 0.0)._all(alpha, beta, 0.0 * wrench) if one.stable]
        if not laden and every:
            return replace(every[0], robot=self)
        ends = [self._grown(alpha, beta, wrench, one.end) for one in every] if laden else []
        reached = [one for one, at in ends if at == 1.0 and isinstance(one, TubeSolution)]
        if reached:
            return min(reached, key=lambda one: one.energy)
        residual = found.residual if isinstance(found, TubeSolution) else found
        raise self._failure(alpha, residual, max((at for _, at in ends), default=None), wrench)

    def equilibria(
        self,
        rotation: ArrayLike,
        translation: ArrayLike | None = None,
        *,
        force: ArrayLike = (0.0, 0.0, 0.0),
        moment: ArrayLike = (0.0, 0.0, 0.0),
    ) -> list[TubeSolution]:
        """Return the equilibria at given bases, by energy, with names "stable 1", "unstable 1" and so on.

        Each has a tip whose relative angles lie in one turn, which is searched by a regular grid of starts
        (`STARTS`), a finer one if those of even index are not one more than those of odd index. Between two starts more
        may exist. Arguments as for `solve`.
        """
        return self._all(*self._checked(rotation, translation, force, moment))

    def follow(
        self,
        rotations: Sequence[ArrayLike],
        translations: Sequence[ArrayLike] | None = None,
        *,
        force: ArrayLike = (0.0, 0.0, 0.0),
        moment: ArrayLike = (0.0, 0.0, 0.0),
        start: TubeSolution | None = None,
    ) -> list[TubeSolution]:
        """Return the equilibria along a slow motion of the bases; where one becomes unstable, the tubes snap.

        Statics do not say where a snap ends if several stable equilibria have less energy; the nearest one is taken.

        Args:
            rotations: rows of rotations, shape (rows, N) [rad].
            translations: rows of translations, shape (rows, N) [m]; None: those at home.
            force: as for `solve`.
            moment: as for `solve`.
            start: equilibrium before the first row; None: that of `solve` at the first row.
        """
        out: list[TubeSolution] = []
        now = start
        for row, rotation in enumerate(rotations):
            at = None if translations is None else translations[row]
            goal = self._checked(rotation, at, force, moment)
            now = self.solve(rotation, at, force=force, moment=moment) if now is None else self._path(now, goal)
            out.append(now)
        return out

    def unstable_alignments(self, translation: ArrayLike | None = None) -> list[tuple[int, ...]]:
        """Return the alignments at which the unloaded tubes are unstable: 1 for a tube turned by pi against tube 0.

        Two tubes whose opposed alignment is stable never snap at this translation, whatever their rotations (Gilbert
        et al. 2016, section V); for more tubes an empty list is a necessary condition.
        """
        out = []
        for flags in itertools.product((0, 1), repeat=self.count - 1):
            alpha = np.pi * np.array([0, *flags], dtype=float)
            alpha, beta, _ = self._checked(alpha, translation, np.zeros(3), np.zeros(3))
            shot = shoot(self, self._guess(alpha, beta, alpha), beta, np.zeros(6), weight=False)
            if shot.stability(self, beta)[0]:
                out.append((0, *flags))
        return out

    def _checked(self, rotation, translation, force, moment) -> tuple[Array, Array, Array]:
        d, N = self.description, self.count
        alpha = np.asarray(rotation, dtype=float)
        if alpha.shape != (N,) or not np.all(np.isfinite(alpha)):
            raise PliantError(
                f"{d.name}: rotation needs {N} finite numbers [rad], found {np.asarray(rotation).tolist()}",
                field="rotation",
            )
        wrench = []
        for name, value in (("force", force), ("moment", moment)):
            vector = np.asarray(value, dtype=float)
            if vector.shape != (3,) or not np.all(np.isfinite(vector)):
                raise PliantError(
                    f"{d.name}: {name} needs 3 finite numbers, found {np.asarray(value).tolist()}", field=name
                )
            wrench.append(vector)
        beta = d.checked(d.home if translation is None else translation)
        decays = self._decays(beta, wrench[0])
        if decays > MAX_DECAYS:
            size = float(np.linalg.norm(wrench[0]))
            most = size * (MAX_DECAYS / decays) ** 2
            raise PliantError(
                f"{d.name}: a force of {size:.4g} N is too large for these tubes to be resolved; must be at most "
                f"{most:.4g} N at this translation",
                field="force",
            )
        return alpha, beta, np.concatenate(wrench)

    def _decays(self, beta: Array, force: Array) -> float:
        """Return how many times the length over which a bend decays under this force fits into the tubes."""
        ends = np.array([tube.length for tube in self.description.tubes]) + beta
        cuts = np.unique(np.append(ends[ends > 0.0], 0.0))
        stiffness = np.array([self.table[BEND, ends >= cut].sum() for cut in cuts[1:]])
        return float(np.sum(np.diff(cuts) * np.sqrt(np.linalg.norm(force) / stiffness)))

    def _guess(self, alpha: Array, beta: Array, angles: Array) -> Tip:
        """Return a state at the tip with these relative angles whose base is aligned, but for the loads' effect."""
        tip = Tip(np.eye(3), np.array(angles))
        shot = shoot(self, tip, beta, np.zeros(6), weight=False, columns=1)
        R = shot.rotation[0, -1]
        tip = Tip(self.base[:3, :3] @ R.T, tip.angles)
        # The frame has no torsion of its own, so that turning it and all tubes changes nothing.
        off = alpha[0] - shot.base_angles(self, beta)[0]
        turn = exp_so3(self.base[:3, 2] * off)
        return Tip(turn @ tip.rotation @ exp_so3((0.0, 0.0, -off)), tip.angles + off)

    def _newton(
        self, alpha: Array, beta: Array, wrench: Array, tip: Tip, most: int = MAX_ITERATIONS
    ) -> TubeSolution | float:
        """Close the base; return the equilibrium, or the smallest angle that stayed open."""
        best, part = np.inf, 1.0
        shot = shoot(self, tip, beta, wrench)
        miss = self._miss(shot, alpha, beta)
        for _ in range(most):
            size = float(np.abs(miss).max())
            best = min(best, size) if np.isfinite(size) else best
            if not np.isfinite(size):
                break
            if size < TOLERANCE:
                return self._solution(shot, alpha, beta, wrench, size)
            try:
                step = np.linalg.solve(shot.tangent(self, beta), -miss)
            except np.linalg.LinAlgError:
                break
            part = min(1.0, MAX_TURN / max(float(np.abs(step).max()), 1e-300))
            for _ in range(5):
                other = shoot(self, tip.moved(part * step), beta, wrench)
                new = self._miss(other, alpha, beta)
                if np.linalg.norm(new) < (1.0 - 0.1 * part) * np.linalg.norm(miss) or size < 1e-9:
                    break
                part *= 0.5
            else:
                break
            tip, shot, miss = other.tip, other, new
        return best

    def _scaled(self, curvature: float, weight: float) -> ConcentricTubes:
        """Return these tubes with shares of their curvatures and weights."""
        robot = copy(self)
        robot.table = self.table * np.array([[1.0], [1.0], [curvature], [weight]])
        return robot

    def _grown(
        self, alpha: Array, beta: Array, wrench: Array, unloaded: Tip | None = None
    ) -> tuple[TubeSolution | float, float]:
        """Return the stable equilibrium at fixed bases that growing curvatures and loads reach, and the share reached.

        Below a share of 1 it is the last trial, or the smallest angle that stayed open at the base.

        Args:
            unloaded: end of an equilibrium without loads, from which only the loads grow.
        """
        tip = self._scaled(0.0, 1.0)._guess(alpha, beta, alpha) if unloaded is None else unloaded
        share, step, rate = 0.0, 1.0, np.zeros(3 + self.count)
        found: TubeSolution | float = np.inf
        while share < 1.0 and step > LEAST_SHARE:
            to = min(1.0, share + step)
            robot = self._scaled(to if unloaded is None else 1.0, to)
            found = robot._newton(alpha, beta, to * wrench, tip.moved((to - share) * rate), 8)
            if isinstance(found, TubeSolution) and found.stable:
                change = np.concatenate([log_so3(found.end.rotation @ tip.rotation.T), found.end.angles - tip.angles])
                if np.abs(change[3:]).max() < MAX_TURN and np.abs(change - (to - share) * rate).max() < MAX_TURN:
                    tip, rate, share, step = found.end, change / (to - share), to, 2.0 * step
                    continue
            step *= 0.5
        return (replace(found, robot=self) if isinstance(found, TubeSolution) else found), share

    def _miss(self, shot: Shot, alpha: Array, beta: Array) -> Array:
        """Return the angles open at the base: of the frame, and of the tubes modulo a turn, shape (3 + N,)."""
        frame = log_so3(shot.rotation[0, -1] @ self.base[:3, :3].T)
        angles = shot.base_angles(self, beta) - alpha
        return np.concatenate([frame, angles - 2.0 * np.pi * np.round(angles / (2.0 * np.pi))])

    def _solution(self, shot: Shot, alpha: Array, beta: Array, wrench: Array, residual: float) -> TubeSolution:
        index, measure = shot.stability(self, beta)
        turns = 2.0 * np.pi * np.round((shot.base_angles(self, beta) - alpha) / (2.0 * np.pi))
        begin = shot.position[0, -1]
        return TubeSolution(
            robot=self, rotation=alpha, translation=beta, wrench=wrench,
            end=Tip(shot.tip.rotation, shot.tip.angles - turns), s=shot.s[::-1],
            position=self.base[:3, 3] + shot.position[0, ::-1] - begin, frames=shot.rotation[0, ::-1],
            angles=shot.angles[0, ::-1] - turns, torques=shot.torques[0, ::-1],
            energy=shot.energy(self, beta, wrench), measure=measure, index=index, residual=residual,
        )  # fmt: skip

    def _all(self, alpha: Array, beta: Array, wrench: Array) -> list[TubeSolution]:
        N = self.count
        found: list[TubeSolution] = []
        for finer in (1, 2):
            count = finer * STARTS.get(N, 4)
            for others in itertools.product(2.0 * np.pi * np.arange(count) / count, repeat=N - 1):
                start = self._guess(alpha, beta, alpha + np.array([0.0, *others]))
                one = self._newton(alpha, beta, wrench, start)
                if isinstance(one, TubeSolution) and not any(_same(one, other) for other in found):
                    found.append(one)
            # The degree of the equations is that of straight tubes, which have one equilibrium.
            if sum((-1) ** one.index for one in found) == 1:
                break
        found.sort(key=lambda one: one.energy)
        counts = {True: 0, False: 0}
        out = []
        for one in found:
            counts[one.stable] += 1
            out.append(replace(one, name=f"{'stable' if one.stable else 'unstable'} {counts[one.stable]}"))
        return out

    def _path(self, now: TubeSolution, goal: tuple[Array, Array, Array]) -> TubeSolution:
        """Return the equilibrium at ``goal`` that a slow motion reaches."""
        alpha, beta, _ = goal
        unit = max(1e-3, float(now.s[-1]))
        way = max(float(np.abs(alpha - now.rotation).max()), float(np.abs(beta - now.translation).max()) / unit)
        share, step, begin, snapped = 0.0, min(1.0, ROW / max(way, 1e-12)), now, False
        while share < 1.0:
            to = min(1.0, share + step)
            at = [
                a + to * (b - a) for a, b in zip((begin.rotation, begin.translation, begin.wrench), goal, strict=True)
            ]
            other = self._newton(at[0], at[1], at[2], now.end)
            if (
                isinstance(other, TubeSolution)
                and other.stable
                and np.abs(other.twist - now.twist).max() < 5.0 * ROW + 2.0 * step * way
            ):
                now, share, step = other, to, min(2.0 * step, ROW / max(way, 1e-12))
            elif step * way > LEAST:
                step *= 0.5
            else:
                now, share, snapped = self._snap(now, at), to, True
                step = min(1.0, ROW / max(way, 1e-12))
        return replace(now, snapped=True) if snapped else now

    def _snap(self, now: TubeSolution, at: list[Array]) -> TubeSolution:
        """Return the stable equilibrium that is nearest to an unstable one and has less energy."""
        stable = [one for one in self._all(*at) if one.stable]
        lower = [one for one in stable if one.energy < now.energy + 1e-12 * abs(now.energy)] or stable
        if not lower:
            raise self._failure(at[0], now.residual)
        return min(lower, key=lambda one: float(np.abs(one.twist - now.twist).max()))

    def _sensitivity(self, s: TubeSolution) -> Array:
        """Return the motion of the tip by rotations, translations, force and moment, shape (6, 2 N + 6)."""
        N = self.count
        shot = shoot(self, s.end, s.translation, s.wrench, columns=3 + N + N + 6)
        rows, place = shot.rates(self, s.translation)
        right = np.hstack([np.vstack([np.zeros((3, N)), np.eye(N)]), -rows[:, 3 + N :]])
        x = np.linalg.solve(rows[:, : 3 + N], right)
        out = np.zeros((6, 2 * N + 6))
        axis = s.frames[-1][:, 2]
        out[:3] = x[:3] + np.outer(axis, x[3])
        out[3:] = place[:, : 3 + N] @ x
        out[3:, N:] += place[:, 3 + N :]
        return out

    def _failure(
        self, alpha: Array, residual: float, share: float | None = None, wrench: Array | None = None
    ) -> NoTubeEquilibrium:
        who = f"{self.description.name}: no stable equilibrium was found for the rotations"
        why = f"the base stays open by {residual:.2g} rad"
        if share is not None and wrench is not None:
            f, m = (", ".join(f"{v:.4g}" for v in part) for part in np.split(share * wrench, 2))
            why = f"the last load on the way that has one, {100.0 * share:.3g} % of it, is {f} N and {m} N m"
        return NoTubeEquilibrium(f"{who} {', '.join(f'{v:.4g}' for v in alpha)} rad; {why}", residual=residual)


def _same(a: TubeSolution, b: TubeSolution) -> bool:
    turns = (a.twist - b.twist) / (2.0 * np.pi)
    near = float(np.abs(turns - np.round(turns)).max()) * 2.0 * np.pi
    return near < SAME and float(np.abs(hat(log_so3(a.tip[:3, :3] @ b.tip[:3, :3].T))).max()) < SAME

"""Statics of a tendon-driven robot: shapes for commands, tip poses for least tension, stiffness, stability."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.errors import ModelError, PliantError
from pliant.base.numerics import Array, is_positive_definite
from pliant.rods.checks import finite, numbers
from pliant.tendons.build import Resolution, build_chain, fresh_memory, tendon_law, usual_resolution
from pliant.tendons.chain import Chain, Loads, Memory, make_work, no_loads
from pliant.tendons.description import TendonRobotDescription

LOG = logging.getLogger("pliant")
LIMITS = np.array([2.5e-8, 5e-10, 0.5, 60.0])
"""What counts as zero: of a force by the moment that bends the softest segment by 1 rad, of a length by the robot's;
largest change of an unknown, iterations."""
REPLAY_LIMITS = np.array([2.5e-6, 5e-8, 0.5, 60.0])
"""The same of `TendonRobot.replay`, whose tips differ by 0.2 um from those of `LIMITS` over 1000 rows of 200 mm."""
REACH = 1e-6
"""Distance from the target at which `TendonRobot.solve_igm` ends [m, rad]."""


class NoTendonEquilibrium(PliantError):
    """No equilibrium was found; ``share`` is how far the way to the command was followed, in [0, 1]."""

    def __init__(self, message: str, *, share: float, field: str = "") -> None:
        super().__init__(message, field=field)
        self.share = share


@dataclass(frozen=True, slots=True, kw_only=True)
class TendonSolution:
    """An equilibrium."""

    robot: TendonRobot
    """The robot."""
    x: Array
    """Unknowns of the strains, shape (n,)."""
    tension: Array
    """Tension of each tendon at the spool [N], shape (N,)."""
    command: Array
    """Lengths drawn in [m] or tensions [N], shape (N,)."""
    by_length: bool
    """Whether the command was lengths."""
    position: Array
    """Places of the nodes, base to last disk [m], shape (nodes, 3)."""
    rotation: Array
    """Their axes, shape (nodes, 3, 3)."""
    path: Array
    """Path length of each tendon from the base plate to its end [m], shape (N,)."""
    end_tension: Array
    """Tension of each tendon at its end [N], shape (N,)."""
    memory: Memory
    """Friction after this equilibrium; the next one starts from it."""
    loads: Loads
    """What acted on the robot."""
    stable: bool = True
    """Whether it is stable; otherwise the robot does not stay there, and no stable one was found beside it."""

    @property
    def tip(self) -> Array:
        """Place of the tip [m], shape (3,)."""
        return self.position[-1] + self.rotation[-1] @ np.asarray(self.robot.description.tip_offset)

    @property
    def slack(self) -> list[int]:
        """Tendons without tension."""
        return [i for i, T in enumerate(self.tension) if T <= 0.0]

    def pull(self) -> Array:
        """Return the lengths drawn in at the spools that hold this shape by these tensions [m], shape (N,).

        A tendon without tension is just taut.
        """
        robot = self.robot
        robot._evaluate(self.x, self.tension, self.loads, self.memory)
        free, drive, strand = robot.law[:3]
        return free - self.path + self.tension * (drive + strand * robot._work.stretch)

    def stability(self) -> float:
        """Return the smallest eigenvalue of the stiffness against the robot's unloaded one; stable if > 0.

        The stiffness is that of the strains with the tendons' own stretch; a rigid tendon by length keeps its length.
        """
        return self.robot._curvatures(self)[0]

    def jacobian(self) -> Array:
        """Return how the tip moves by each command, shape (6, N): rotation [rad], then place, world axes."""
        return self.robot._sensitivity(self)[0]

    def compliance(self) -> Array:
        """Return how the tip moves by a moment and force at the last disk, shape (6, 6) [rad, m by N m, N]."""
        return self.robot._sensitivity(self)[1]


class TendonRobot:
    """Statics of a tendon-driven continuum robot.

    Example:
        robot = TendonRobot(description)
        robot.solve(pull=[0.002, -0.001, -0.001]).tip
    """

    def __init__(self, description: TendonRobotDescription, *, resolution: Resolution | None = None) -> None:
        self.description = description
        """The robot."""
        self.resolution = resolution or usual_resolution(description)
        """How finely strains are resolved."""
        self.chain: Chain = build_chain(description, self.resolution)
        """Its arrays."""
        self._work = make_work(self.chain)
        self._gravity = np.asarray(description.gravity, dtype=float)
        softest = min(min(one.rod.values(0.5).bending) / one.rod.length for one in description.segments)
        self.unit = np.array([softest, description.length, 1.0, 1.0])
        """Moment and length by which `LIMITS` are measured [N m, m]."""
        N = len(description.tendons)
        blank = Memory(np.zeros(len(self.chain.link)), np.zeros(len(self.chain.link)), *[np.ones(N)] * 3)
        self._evaluate(np.zeros(self.size), np.zeros(N), no_loads(self.chain), blank)
        self.straight = self._work.link_length.copy()
        """Length of each link of the straight robot [m]."""
        self.law = tendon_law(description, self.chain, self.straight)
        """Law of each tendon, as `build.tendon_law` returns it, shape (5, N)."""

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return len(self._work.force)

    def loads(
        self,
        *,
        wrench: ArrayLike | None = None,
        follower: ArrayLike | None = None,
        at: dict[int, ArrayLike] | None = None,
        gravity: ArrayLike | None = None,
    ) -> Loads:
        """Return loads for `solve`.

        Args:
            wrench: moment and force on the last disk, world axes, shape (6,) [N m, N].
            follower: the same in axes of the last disk.
            at: moment and force on nodes, world axes.
            gravity: [m/s^2], shape (3,); None: that of the description.
        """
        found, name = no_loads(self.chain), self.description.name
        found.gravity[:] = self._gravity if gravity is None else finite(name, "gravity", gravity, 3)
        for node, value in (at or {}).items():
            if node not in range(len(found.dead)):
                raise ModelError(f"{name}: there is no node {node!r}; valid are 0 to {len(found.dead) - 1}", field="at")
            found.dead[node] += finite(name, "at", value, 6)
        if wrench is not None:
            found.dead[-1] += finite(name, "wrench", wrench, 6)
        if follower is not None:
            found.follower[-1] += finite(name, "follower", follower, 6)
        return found

    def memory(self) -> Memory:
        """Return friction of tendons that never slid from the straight robot."""
        return fresh_memory(self.description, self.chain, self.straight)

    def solve(
        self,
        *,
        pull: ArrayLike | None = None,
        tension: ArrayLike | None = None,
        loads: Loads | None = None,
        start: TendonSolution | None = None,
    ) -> TendonSolution:
        """Return the equilibrium for lengths drawn in [m], or for tensions at the spools [N], shape (N,).

        Where the one on the straight way has lost its stability, it is the stable one beside it; where none is found
        there, a warning is logged and `TendonSolution.stable` is false.

        Args:
            pull: lengths drawn in, positive shortens a tendon.
            tension: tensions, >= 0.
            loads: see `loads`; None: gravity alone.
            start: equilibrium before, whose friction is remembered; None: the straight robot.

        Raises:
            PliantError: a command that is not possible, with the valid one.
            NoTendonEquilibrium: none was found.
        """
        rows = [None if command is None else [command] for command in (pull, tension)]
        return self.follow(*rows, loads=loads, start=start)[-1]

    def follow(
        self,
        pulls: ArrayLike | None = None,
        tensions: ArrayLike | None = None,
        *,
        loads: Loads | None = None,
        start: TendonSolution | None = None,
    ) -> list[TendonSolution]:
        """Return the equilibria of a sequence of commands, shape (rows, N); see `solve`."""
        commands, by_length = self._commands(pulls, tensions)
        N = commands.shape[1]
        loads = loads or self.loads()
        if start and (start.x.shape != (self.size,) or start.tension.shape != (N,)):
            raise PliantError(f"{self.description.name}: start is an equilibrium of another robot", field="start")
        old = start.memory if start else self.memory()
        memory = old._replace(state=old.state.copy(), distal=old.distal.copy())
        x = start.x.copy() if start else np.zeros(self.size)
        T = start.tension.copy() if start else np.zeros(N)
        if start is None:
            before = np.zeros(N)
        elif start.by_length == by_length:
            before = start.command.copy()
        else:
            before = start.pull() if by_length else start.tension.copy()
        found: list[TendonSolution] = []
        for row in commands:
            done, share = self._newton(x, T, before, row, by_length, memory, loads)
            if not done:
                raise self._failure(row, before, share, by_length)
            one = self._solution(x, T, row, by_length, memory, loads)
            if not one.stable:
                one = self._beside(one)
                x, T, memory = one.x.copy(), one.tension.copy(), one.memory._replace(state=one.memory.state.copy())
            found.append(one)
            before = row
            self._check_load(found[-1])
        return found

    def _newton(
        self, x: Array, T: Array, before: Array, row: Array, by_length: bool, memory: Memory, loads: Loads
    ) -> tuple[bool, float]:
        """Move unknowns, tensions and memory to a command; return whether it was reached, and the share of the way."""
        from pliant.tendons.newton import follow

        N = len(T)
        pose, out_T, unused = np.zeros((1, 12)), np.zeros((1, N)), np.zeros((0, self.size + N))
        done, _, share = follow(
            self.chain, loads, memory, x, T, before, row[None], self.law, np.full(N, by_length), LIMITS * self.unit,
            self._work, unused, pose, out_T, unused,
        )  # fmt: skip
        return done == 1, share

    def _beside(self, s: TendonSolution) -> TendonSolution:
        """Return the stable equilibrium beside an unstable one, or this one with a warning."""
        way = self._curvatures(s)[1]
        way /= np.abs(way).max()
        for size in (0.1, -0.1, 0.5, -0.5):
            x, T = s.x + size * way, s.tension.copy()
            memory = s.memory._replace(state=s.memory.state.copy(), distal=s.memory.distal.copy())
            if self._newton(x, T, s.command, s.command, s.by_length, memory, s.loads)[0]:
                other = self._solution(x, T, s.command, s.by_length, memory, s.loads)
                if other.stable:
                    return other
        LOG.warning(
            "%s: the equilibrium for this command is unstable (%.3g of the unloaded stiffness), and no stable one was "
            "found beside it: the robot does not stay there",
            self.description.name, s.stability(),
        )  # fmt: skip
        return s

    def replay(
        self, pulls: ArrayLike, *, loads: Loads | None = None, near: Array | None = None
    ) -> tuple[Array, Array, Array]:
        """Return tips [m], tensions [N] and equilibria of a long sequence of lengths drawn in.

        As `follow`, but at full speed, to `REPLAY_LIMITS` and without its checks: rows without an equilibrium are NaN,
        and the next row starts from the straight robot.

        Args:
            pulls: lengths drawn in [m], shape (rows, N).
            loads: see `loads`.
            near: equilibria that this method returned for a robot of almost the same parameters; less time is needed.

        Returns:
            Tips, shape (rows, 3); tensions, shape (rows, N); strains' unknowns and tensions, shape (rows, n + N).
        """
        from pliant.tendons.newton import follow

        commands, _ = self._commands(pulls, None)
        rows, N = commands.shape
        loads, memory = loads or self.loads(), self.memory()
        poses, T_out = np.full((rows, 12), np.nan), np.full((rows, N), np.nan)
        states = np.full((rows, self.size + N), np.nan)
        near = np.zeros((0, self.size + N)) if near is None else near
        x, T, before = np.zeros(self.size), np.zeros(N), np.zeros(N)
        modes, first = np.ones(N, bool), 0
        while first < rows:
            done, _, _ = follow(
                self.chain, loads, memory, x, T, before, commands[first:], self.law, modes, REPLAY_LIMITS * self.unit,
                self._work, near[first:], poses[first:], T_out[first:], states[first:],
            )  # fmt: skip
            first += done + 1
            x[:], T[:], before[:] = 0.0, 0.0, 0.0
            memory = self.memory()
        tips = poses[:, 9:] + poses[:, :9].reshape(-1, 3, 3) @ np.asarray(self.description.tip_offset)
        return tips, T_out, states

    def _commands(self, pulls: ArrayLike | None, tensions: ArrayLike | None) -> tuple[Array, bool]:
        name, N = self.description.name, len(self.description.tendons)
        if (pulls is None) == (tensions is None):
            raise PliantError(f"{name}: give either pull or tension, found {'none' if pulls is None else 'both'}")
        given = pulls if pulls is not None else tensions
        commands = numbers(given)
        if commands is not None and commands.ndim == 1:
            commands = commands[None]
        if commands is None or commands.ndim != 2 or commands.shape[1] != N or not np.all(np.isfinite(commands)):
            raise PliantError(f"{name}: a command needs {N} finite numbers, found {given!r:.200}")
        for i, tendon in enumerate(self.description.tendons):
            if tensions is not None and commands[:, i].min() < 0.0:
                raise PliantError(
                    f"{name}: tendon {i} is commanded {commands[:, i].min():g} N; a tendon cannot push, must be >= 0 N",
                    field="tension",
                )
            if tensions is not None and commands[:, i].max() > tendon.breaking_load:
                raise PliantError(
                    f"{name}: tendon {i} is commanded {commands[:, i].max():g} N and breaks at "
                    f"{tendon.breaking_load:g} N; must be at most that",
                    field="tension",
                )
            path = float(self.straight[slice(*self.chain.tendon[i])].sum())
            if pulls is not None and commands[:, i].max() >= path:
                raise PliantError(
                    f"{name}: tendon {i} is drawn in by {1e3 * commands[:, i].max():.4g} mm, but only "
                    f"{1e3 * path:.4g} mm of it are in the robot; must be less",
                    field="pull",
                )
        return commands, pulls is not None

    def _check_load(self, found: TendonSolution) -> None:
        d = self.description
        for i, tendon in enumerate(d.tendons):
            if found.by_length and found.tension[i] > tendon.breaking_load:
                soft = self.law[1, i] + self.law[2, i] * found.path[i]
                valid = found.command[i] - (found.tension[i] - tendon.breaking_load) * soft
                raise PliantError(
                    f"{d.name}: tendon {i} is drawn in by {1e3 * found.command[i]:.4g} mm, which needs "
                    f"{found.tension[i]:.4g} N; it breaks at {tendon.breaking_load:g} N, at about "
                    f"{1e3 * valid:.4g} mm in this shape",
                    field="pull",
                )
        if found.by_length and d.tendons and len(found.slack) == len(d.tendons):
            least = min(float(self.law[0, i] - found.path[i]) for i in range(len(d.tendons)))
            raise PliantError(
                f"{d.name}: the command makes all {len(d.tendons)} tendons slack, so none holds the robot; the first "
                f"becomes taut at {1e3 * least:.3f} mm",
                field="pull",
            )

    def _failure(self, row: Array, before: Array, share: float, by_length: bool) -> NoTendonEquilibrium:
        what = "lengths that no tension reaches, or the robot buckles on the way" if by_length else "the robot buckles"
        unit, scale = ("mm", 1e3) if by_length else ("N", 1.0)
        last = ", ".join(f"{scale * v:.4g}" for v in before + share * (row - before))
        return NoTendonEquilibrium(
            f"{self.description.name}: no equilibrium for the command "
            f"{', '.join(f'{scale * v:.4g}' for v in row)} {unit}: {what}. The last one on the way that has one, "
            f"{100.0 * share:.3g} % of it, is {last} {unit}",
            share=share,
            field="pull" if by_length else "tension",
        )

    def _evaluate(self, x: Array, T: Array, loads: Loads, memory: Memory) -> None:
        from pliant.tendons.kernels import assemble

        assemble(self.chain, loads, memory, x, T, self._work)

    def _solution(
        self, x: Array, T: Array, row: Array, by_length: bool, memory: Memory, loads: Loads
    ) -> TendonSolution:
        w = self._work
        last = self.chain.tendon[:, 1] - 1
        found = TendonSolution(
            robot=self, x=x.copy(), tension=T.copy(), command=row.copy(), by_length=by_length,
            position=w.position.copy(), rotation=w.rotation.copy(), path=w.path.copy(),
            end_tension=T * w.weight[last], loads=loads,
            memory=memory._replace(state=memory.state.copy(), distal=memory.distal.copy()),
        )  # fmt: skip
        H, Z = self._held(found)
        return found if is_positive_definite(Z.T @ H @ Z) else replace(found, stable=False)

    def _tangent(self, s: TendonSolution) -> tuple[Array, Array]:
        """Return the stiffness of the strains, tendons sticking where friction holds them, and the tip's twist."""
        self._evaluate(s.x, s.tension, s.loads, s.memory)
        w = self._work
        H = w.hessian.copy()
        J = np.zeros((6, self.size))
        for first, last, c0, m in self.chain.element:
            J[:, c0 : c0 + m] = w.twist[first:last, :, :m].sum(axis=0)
        # From the world's origin to the tip.
        J[3:] += np.cross(J[:3].T, s.tip).T
        return H, J

    def _sensitivity(self, s: TendonSolution) -> tuple[Array, Array]:
        H, J = self._tangent(s)
        w, n, N = self._work, self.size, len(s.tension)
        A = np.zeros((n + N, n + N))
        A[:n, :n], A[:n, n:] = H, w.column
        right = np.zeros((n + N, N + 6))
        for i in range(N):
            if s.by_length and s.tension[i] > 0.0:
                A[n + i, :n] = -w.row[i]
                A[n + i, n + i] = self.law[1, i] + self.law[2, i] * w.stretch[i]
                right[n + i, i] = 1.0
            else:
                A[n + i, n + i] = 1.0
                right[n + i, i] = 0.0 if s.by_length else 1.0
        # A wrench on the last disk works through the motion of its own origin.
        at_disk = J.copy()
        at_disk[3:] += np.cross(J[:3].T, s.position[-1] - s.tip).T
        right[:n, N:] = at_disk.T
        moved = J @ np.linalg.solve(A, right)[:n]
        return moved[:, :N], moved[:, N:]

    def _held(self, s: TendonSolution) -> tuple[Array, Array]:
        """Return the stiffness of the strains with the tendons' stretch, and the motions that rigid tendons permit."""
        from scipy.linalg import null_space

        H = self._tangent(s)[0]
        w = self._work
        H = 0.5 * (H + H.T)
        rigid = []
        for i, T in enumerate(s.tension):
            if not s.by_length or T <= 0.0:
                continue
            soft = self.law[1, i] + self.law[2, i] * w.stretch[i]
            if soft > 0.0:
                H += np.outer(w.row[i], w.row[i]) / soft
            else:
                rigid.append(w.row[i])
        return H, null_space(np.array(rigid)) if rigid else np.eye(self.size)

    def _curvatures(self, s: TendonSolution) -> tuple[float, Array]:
        """Return the smallest eigenvalue of the stiffness against that of the unloaded robot, and its direction."""
        from scipy.linalg import eigh

        H, Z = self._held(s)
        rest = np.zeros_like(H)
        basis, stiff = self.chain.basis, self.chain.stiffness
        for first, last, c0, m in self.chain.element:
            half = 0.5 * self.chain.length[first:last]
            B = basis[first:last, ..., :m]
            part = np.einsum("k,kgia,kgi,kgib->ab", half, B, stiff[first:last], B)
            rest[c0 : c0 + m, c0 : c0 + m] = part
        values, vectors = eigh(Z.T @ H @ Z, Z.T @ rest @ Z, subset_by_index=(0, 0))
        return float(values[0]), Z @ vectors[:, 0]

    def solve_igm(
        self, target: ArrayLike, *, loads: Loads | None = None, start: TendonSolution | None = None, steps: int = 60
    ) -> TendonSolution:
        """Return the equilibrium whose tip is at a target with the least sum of squared tensions.

        Args:
            target: place of the tip, shape (3,) [m], or pose, shape (4, 4).
            loads: see `loads`.
            start: equilibrium to start from; by default that of equal small tensions.
            steps: most steps of Gauss and Newton.

        Raises:
            NoTendonEquilibrium: the target is out of reach; the message names the nearest place.
        """
        from scipy.optimize import lsq_linear

        goal = numbers(target)
        if goal is None or goal.shape not in ((3,), (4, 4)) or not np.all(np.isfinite(goal)):
            raise PliantError(
                f"{self.description.name}: a target is a place of 3 numbers or a pose of 4 x 4, found {target!r:.200}"
            )
        top = np.array([t.breaking_load for t in self.description.tendons])
        now = start or self.solve(tension=np.full(len(top), 0.1), loads=loads)
        T, best, nearest, worse = now.tension.copy(), np.inf, now, 0
        # Tendons press the backbone, which never becomes longer: what lies beyond it is sought only while it is nearer.
        reach = 1.1 * (self.description.length + float(np.linalg.norm(self.description.tip_offset)))
        place = goal[:3, 3] if goal.ndim == 2 else goal
        beyond = float(np.linalg.norm(place - self.chain.base_position)) > reach
        weight = np.array([self.description.length] * 3 + [1.0] * 3)
        for _ in range(steps):
            error = self._miss(now, goal)
            size = float(np.abs(error).max())
            rows = slice(3, 6) if goal.shape == (3,) else slice(0, 6)
            J = now.jacobian()[rows] if not now.by_length else self._by_tension(now).jacobian()[rows]
            scale = weight[rows] / self.description.length
            # min |J dT - error|^2 / w^2 + |T + dT|^2, 0 <= T + dT <= breaking load
            w = 1e-7 * max(1.0, float(np.linalg.norm(J)))
            A = np.vstack([scale[:, None] * J / w, np.eye(len(T))])
            b = np.concatenate([scale * (J @ T + error) / w, np.zeros(len(T))])
            wanted = lsq_linear(A, b, bounds=(0.0, top), tol=1e-14).x
            change = float(np.abs(wanted - T).max())
            if size < REACH and change < 1e-3:
                return now
            best, nearest, worse = (size, now, 0) if size < best else (best, nearest, worse + 1)
            if beyond and worse >= 3:
                break
            share = min(1.0, 2.0 / change) if change > 0.0 else 1.0
            try:
                now = self._nearer(now, np.clip(T + share * (wanted - T), 0.0, top), loads)
            except NoTendonEquilibrium:  # on the way to a target out of reach the robot buckles
                break
            T = now.command
        size = float(np.abs(self._miss(now, goal)).max())
        if size < REACH:
            return now
        if size < best:
            best, nearest = size, now
        raise NoTendonEquilibrium(
            f"{self.description.name}: no tensions within the breaking loads bring the tip to the target; the nearest "
            f"tip found is {np.round(1e3 * nearest.tip, 2).tolist()} mm, {1e3 * best:.3g} mm or mrad away",
            share=0.0,
            field="target",
        )

    def _nearer(self, now: TendonSolution, wanted: Array, loads: Loads | None) -> TendonSolution:
        """Return the equilibrium of tensions, or of those on the way to them that have one."""
        start = now.tension
        for share in (1.0, 0.5, 0.25, 0.1, 0.03):
            try:
                return self.solve(tension=start + share * (wanted - start), loads=loads, start=now)
            except NoTendonEquilibrium as error:
                last = error
        raise last

    def _by_tension(self, s: TendonSolution) -> TendonSolution:
        return self.solve(tension=s.tension, loads=s.loads, start=s)

    @staticmethod
    def _miss(s: TendonSolution, goal: Array) -> Array:
        if goal.shape == (3,):
            return goal - s.tip
        from pliant.base.spatial import log_so3

        return np.concatenate([log_so3(goal[:3, :3] @ s.rotation[-1].T), goal[:3, 3] - s.tip])

    def workspace(self, tensions: Sequence[ArrayLike], *, loads: Loads | None = None) -> Array:
        """Return the tips of many tensions [m], shape (rows, 3); NaN where there is no stable equilibrium."""
        tips = np.full((len(tensions), 3), np.nan)
        for row, tension in enumerate(tensions):
            try:
                found = self.solve(tension=tension, loads=loads)
            except NoTendonEquilibrium:
                continue
            tips[row] = found.tip if found.stable else np.nan
        return tips

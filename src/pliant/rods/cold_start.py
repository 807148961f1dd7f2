"""Starts of a solve that has no solution nearby: guesses, multiple shooting, Levenberg and Marquardt's method."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.numerics import Array
from pliant.base.spatial import cross, quaternion_product
from pliant.rods import kernels
from pliant.rods._build import flatten, unflatten
from pliant.rods.accuracy import TOLERANCE
from pliant.rods.geometry import motion, rod_bases, rotations, tip_joint_frames, turned
from pliant.rods.kernels import layout
from pliant.rods.linearisation import dense_step, directions
from pliant.rods.statics import State, Statics, Task

SEGMENTS = 4
"""Segments of multiple shooting in a cold start."""
NEAR = 1e-2
"""Residual of multiple shooting from which single shooting goes on."""


class Run(Protocol):
    """How a solve goes on from a state, in place, with a robot's memory."""

    def __call__(self, robot: Statics, state: State) -> tuple[bool, float, int]:
        """Return whether it converged, the residual and the number of Newton steps."""
        ...


@dataclass(frozen=True, slots=True)
class Lifted:
    """Multiple shooting from nodes; many of one task are solved together by `lifted_newton`."""

    task: Task
    steps: int
    nodes: Array | None = None
    """From `curved_nodes`; None: those of an undisturbed curve."""

    def __call__(self, robot: Statics, state: State) -> tuple[bool, float, int]:
        """Return whether it converged, the residual and the number of Newton steps."""
        return lifted_newton(robot, [state], self.task, self.steps, [self.nodes])[0]


def guess(robot: Statics, problem: Task, slack: float = 1.06) -> State:
    """Return a first guess: zero wrenches, plate at the target or at home, joints aimed at the plate."""
    d = robot.description
    X = problem.x.copy() if problem.inverse else flatten(d.home)
    Q = np.zeros((robot._n, robot._k))
    XP = unflatten(X)
    for i, limb in enumerate(d.limbs):
        target = (XP @ limb.distal.pose @ limb.distal.attach)[:3, 3]
        frame = np.asarray(limb.base, dtype=float)
        for j, joint in enumerate(limb.joints):
            frame = frame @ joint.pose
            axis = np.asarray(joint.axis, dtype=float) / np.linalg.norm(joint.axis)
            if joint.kind == "revolute":
                rest = np.eye(4)
                for later in limb.joints[j + 1 :]:
                    rest = rest @ later.pose
                d3 = (rest @ limb.attach)[:3, 2]
                to = frame[:3, :3].T @ (target - frame[:3, 3])
                a, b = d3 - axis * (axis @ d3), to - axis * (axis @ to)
                if np.linalg.norm(a) > 1e-6 and np.linalg.norm(b) > 1e-6:
                    Q[i, j] = np.arctan2(axis @ cross(a, b), a @ b)
                frame = frame @ motion("revolute", axis, Q[i, j])
            elif joint.kind == "extension":
                Q[i, j] = slack * np.linalg.norm(target - (frame @ limb.attach)[:3, 3])
    if not problem.inverse:
        Q[robot._actuators] = problem.q
    return State(np.zeros((robot._n, 6)), Q, X)


def _tips(md: kernels.Model, X: Array, p0: Array, length: Array) -> tuple[Array, Array]:
    """Return position and tangent (rest length long) of every rod's tip at plate poses; p0: its base.

    From a revolute joint the rod may leave in any direction about the axis: the one nearest the chord is taken.
    """
    plate = rotations(X)[:, None]
    joint = plate @ rotations(md.plate_joint)
    origin = X[:, None, 9:] + (plate @ md.plate_joint[:, 9:, None])[..., 0]
    R = joint @ np.swapaxes(rotations(md.tip), -1, -2)
    p1, t1, axis = origin - (R @ md.tip[:, 9:, None])[..., 0], R[..., 2], joint[..., 2]
    d, to = (v - axis * np.sum(axis * v, axis=-1, keepdims=True) for v in (t1, p1 - p0))
    free = (np.linalg.norm(d, axis=-1) > 1e-6) & (np.linalg.norm(to, axis=-1) > 1e-9)
    angle = np.arctan2(np.sum(axis * np.cross(d, to), axis=-1), np.sum(d * to, axis=-1))
    angle = np.where(free & (md.distal == layout.REVOLUTE_JOINT), angle, 0.0)
    p1, t1 = origin + turned(axis, angle, p1 - origin), turned(axis, angle, t1) * length[..., None]
    held = np.isin(md.distal, (layout.FIXED_JOINT, layout.REVOLUTE_JOINT, layout.PRISMATIC_JOINT))
    return p1, np.where(held[:, None], t1, p1 - p0)


def _quaternions(R: Array) -> Array:
    """Return the unit quaternions of rotations, shape (..., 4): the longest row of the matrix 4 q q^T."""
    trace, K = np.trace(R, axis1=-2, axis2=-1)[..., None, None], np.empty((*R.shape[:-2], 4, 4))
    K[..., 0, 0] = 1.0 + trace[..., 0, 0]
    K[..., 1:, 0] = K[..., 0, 1:] = R[..., [2, 0, 1], [1, 2, 0]] - R[..., [1, 2, 0], [2, 0, 1]]
    K[..., 1:, 1:] = R + np.swapaxes(R, -1, -2) + (1.0 - trace) * np.eye(3)
    longest = np.argmax(np.diagonal(K, axis1=-2, axis2=-1), axis=-1)
    q = np.take_along_axis(K, longest[..., None, None], axis=-2)[..., 0, :]
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def disturbance(rng: np.random.Generator, limbs: int, amplitude: float) -> Array:
    """Return random numbers for `curved_nodes`, shape (limbs, 5): a bump by rest length, factors of both tangents."""
    out = np.empty((limbs, 5))
    for row in out:
        rng.standard_normal(out=row[:3])
        rng.random(out=row[3:])
    out[:, :3] *= amplitude
    out[:, 3:] += 0.6
    return out


def curved_nodes(robot: Statics, states: Sequence[State], disturbances: ArrayLike = (0.0, 0.0, 0.0, 1.0, 1.0)) -> Array:
    """Return nodes on cubic Hermite curves between the base and tip frames, zero moments.

    Args:
        disturbances: from `disturbance`, shape (starts, limbs, 5).

    Returns:
        shape (starts, limbs, `SEGMENTS` - 1, 10).
    """
    md = robot._model(robot._steps(None, None))
    R, p0, length = rod_bases(md, np.array([state.Q for state in states]))
    p1, t1 = _tips(md, np.array([state.X for state in states]), p0, length)
    change = np.broadcast_to(np.asarray(disturbances, dtype=float), (*length.shape, 5))
    tangent, bump = R[..., 2], change[..., :3] * length[..., None]
    t0, t1 = tangent * (length * change[..., 3])[..., None], t1 * change[..., 4:]
    nodes, q = np.zeros((*length.shape, SEGMENTS - 1, layout.NODE_SIZE)), np.moveaxis(_quaternions(R), -1, 0)
    for s in range(SEGMENTS - 1):
        t = (s + 1) / SEGMENTS
        p = (
            (2 * t**3 - 3 * t**2 + 1) * p0
            + (t**3 - 2 * t**2 + t) * t0
            + (-2 * t**3 + 3 * t**2) * p1
            + (t**3 - t**2) * t1
            + 16.0 * t**2 * (1.0 - t) ** 2 * bump
        )
        v = (
            (6 * t**2 - 6 * t) * p0
            + (3 * t**2 - 4 * t + 1) * t0
            + (-6 * t**2 + 6 * t) * p1
            + (3 * t**2 - 2 * t) * t1
            + 32.0 * (t * (1.0 - t) ** 2 - t**2 * (1.0 - t)) * bump
        )
        size = np.linalg.norm(v, axis=-1, keepdims=True)
        v = np.where(size > 1e-9, v / np.maximum(size, 1e-9), tangent)
        turn = np.cross(tangent, v)  # the smallest turn; none between opposite tangents
        clear = np.linalg.norm(turn, axis=-1) > 1e-9
        small = np.array([np.where(clear, 1.0 + np.sum(tangent * v, axis=-1), 1.0), *np.moveaxis(turn, -1, 0) * clear])
        q = quaternion_product(small / np.linalg.norm(small, axis=0), q)
        tangent = v
        nodes[:, :, s, :3], nodes[:, :, s, 3:7] = p, np.moveaxis(q, 0, -1)
    if robot.planar:
        nodes[..., 2] = 0.0
    return nodes


def lifted_newton(
    robot: Statics, states: Sequence[State], problem: Task, steps: int, nodes: Sequence[Array | None], *,
    polished: bool = True,
) -> list[tuple[bool, float, int]]:  # fmt: skip
    """Solve by multiple shooting, then by single shooting, from each of several states, which change in place.

    Args:
        nodes: of each state, from `curved_nodes`; None: those of an undisturbed curve.
        polished: whether single shooting follows where multiple shooting has converged, too.

    Returns:
        Of each state whether it converged, the residual and the number of Newton steps.
    """
    plain = [k for k, each in enumerate(nodes) if each is None]
    made = iter(curved_nodes(robot, [states[k] for k in plain]) if plain else ())
    placed = np.array([next(made) if each is None else each for each in nodes])
    report = _solve_apart(robot, states, problem, max(steps, SEGMENTS), placed, limit=40, segments=SEGMENTS)
    again = [k for k, row in enumerate(report) if row[0] < NEAR and (polished or row[0] >= TOLERANCE)]
    if again:
        taken = report[again, layout.STEPS]
        report[again] = _solve_apart(robot, [states[k] for k in again], problem, steps, placed, limit=15, segments=1)
        report[again, layout.STEPS] += taken
    residuals = report[:, layout.RESIDUAL]
    return [(bool(worst < TOLERANCE), float(worst), int(n)) for worst, n in zip(residuals, report[:, layout.STEPS])]


def _solve_apart(
    robot: Statics, states: Sequence[State], problem: Task, steps: int, nodes: Array, *, limit: int, segments: int
) -> Array:  # fmt: skip
    """Solve by Newton's method from each of several states, in place, and return the report of each."""
    one = problem.rows()
    tasks = one._replace(**{key: np.repeat(getattr(one, key), len(states), axis=0) for key in ("q", "x", "wrench")})
    rows = kernels.Rows(np.zeros((len(states), layout.REPORT_SIZE)), *(np.array(each) for each in zip(*states)))
    kernels.solve(
        robot._model(steps), robot._wk, kernels.Unknowns(*states[0].copy(), nodes), tasks,
        kernels.Newton(TOLERANCE, limit, segments, False, True), rows,
    )  # fmt: skip
    for k, state in enumerate(states):
        state.W[:], state.Q[:], state.X[:] = rows.W[k], rows.Q[k], rows.X[k]
    return rows.report


def levenberg(robot: Statics, state: State, problem: Task, steps: int, limit: int = 40) -> tuple[bool, float, int]:
    """Levenberg and Marquardt's method on single shooting, with the exact Jacobian."""
    damping = 1e-3
    _, out = robot._one(state, problem, steps, limit=layout.LINEARISE_ONLY)
    r, J = dense_step(robot, problem)
    cost = float(r @ r)
    worst = float(out[0])
    for it in range(limit):
        with np.errstate(over="ignore"):
            scale = np.sum(J * J, axis=0) + 1e-12
        if not np.isfinite(cost) or not np.all(np.isfinite(scale)):
            return False, np.inf, it
        Q, R = np.linalg.qr(np.vstack([J, np.diag(np.sqrt(damping * scale))]))
        step = np.linalg.solve(R, -Q[: len(r)].T @ r)
        trial = directions(robot, problem, step[:, None])[0].moved(state, 1.0)
        if any(
            joint.kind == "extension" and trial.Q[i, j] < 0.05 * robot.description.limbs[i].rod.length
            for i, limb in enumerate(robot.description.limbs)
            for j, joint in enumerate(limb.joints)
        ):
            damping = min(damping * 8.0, 1e8)
            continue
        _, out = robot._one(trial, problem, steps, limit=layout.LINEARISE_ONLY)
        r1, J1 = dense_step(robot, problem)
        c1 = float(r1 @ r1)
        if np.isfinite(c1) and c1 < cost:
            state.W[:], state.Q[:], state.X[:] = trial.W, trial.Q, trial.X
            r, J, cost, worst = r1, J1, c1, float(out[0])
            damping = max(damping * 0.2, 1e-12)
            if worst < 1e-4:
                ok, out = robot._one(state, problem, steps, limit=12)
                return ok, float(out[0]), it + 1
        else:
            damping *= 5.0
            if damping > 1e9:
                break
    return False, worst, limit


def random_starts(robot: Statics, task: Task, count: int, seed: int) -> Iterator[tuple[str, State, Array]]:
    """Yield names, first guesses and nodes of multiple shooting for bounded random starts."""
    rng = np.random.default_rng(seed)
    states, disturbances, first = [], [], guess(robot, task)
    turning = robot._model(robot._steps(None, None)).kind == layout.REVOLUTE
    if not task.inverse:
        turning[robot._actuators] = False
    for trial in range(count):
        state = first.copy()
        if trial % 2:
            state.Q[turning] += rng.uniform(-1.0, 1.0)
        if task.inverse:
            for i, j in robot.description.actuators:
                length = robot.description.limbs[i].rod.length
                kind = robot.description.limbs[i].joints[j].kind
                if kind == "extension":
                    state.Q[i, j] *= rng.uniform(0.97, 1.15)
                elif kind == "prismatic":
                    state.Q[i, j] = rng.uniform(-0.2, 0.2) * length
                else:
                    state.Q[i, j] += rng.uniform(-0.5, 0.5)
        elif trial > 0:
            state.X[9:11] += rng.uniform(-0.1, 0.1, 2) * robot.description.limbs[0].rod.length
        states.append(state)
        disturbances.append(disturbance(rng, robot._n, 0.1))
    if states:
        for trial, (state, nodes) in enumerate(zip(states, curved_nodes(robot, states, disturbances))):
            yield f"random restart {trial + 1} of seed {seed}", state, nodes


def cold_starts(
    robot: Statics, problem: Task, steps: int, restarts: int, seed: int
) -> Iterator[tuple[str, State, Run]]:
    """Yield (name, state, function that solves from it): lifted Newton, Levenberg-Marquardt, seeded restarts."""

    def lifted(name: str, state: State) -> tuple[str, State, Run]:
        return name, state, Lifted(problem, steps)

    if problem.inverse and robot.description.home_joints is not None:
        state = guess(robot, problem)
        state.Q[robot._actuators] = robot.description.home_joints
        yield lifted("lifted Newton from the home joints", state)
    first = guess(robot, problem)
    yield lifted("lifted Newton", first.copy())
    yield "Levenberg-Marquardt", first, lambda robot, state: levenberg(robot, state, problem, steps)
    if problem.inverse and any(j.kind == "extension" for limb in robot.description.limbs for j in limb.joints):
        yield lifted("lifted Newton, rods taut", guess(robot, problem, slack=1.0))
    for name, state, nodes in random_starts(robot, problem, restarts, seed):
        yield name, state, Lifted(problem, steps, nodes)


def is_proper(robot: Statics, state: State) -> bool:
    """True if no joint sits at the mirrored zero of its rows (turned by pi) and all lengths are positive."""
    on_plate, on_tip, _ = tip_joint_frames(robot, state.X)
    for i, limb in enumerate(robot.description.limbs):
        Q = on_plate[i].T @ on_tip[i]
        if limb.distal.kind in ("fixed", "prismatic") and np.trace(Q) < 0.0:
            return False
        if limb.distal.kind == "revolute" and Q[2, 2] < 0.0:
            return False
        for j, joint in enumerate(limb.joints):
            if joint.kind == "extension" and state.Q[i, j] <= 0.0:
                return False
    return True

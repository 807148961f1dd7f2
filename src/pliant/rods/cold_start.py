"""Starts of a solve that has no solution nearby: guesses, multiple shooting, Levenberg and Marquardt's method."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from pliant.base.spatial import exp_so3, quaternion_from_rotation
from pliant.rods._build import flatten, unflatten
from pliant.rods.description import Limb
from pliant.rods.geometry import root_pose, tip_joint_frames
from pliant.rods.kernels import layout
from pliant.rods.linearisation import dense_step
from pliant.rods.statics import State, Statics, Task

__all__ = ["cold_starts", "curved_nodes", "guess", "is_proper", "levenberg", "lifted_newton", "random_starts"]

Array = NDArray[np.float64]
SEGMENTS = 4
"""Segments of multiple shooting in a cold start."""
Run = Callable[[State], tuple[bool, float, int]]
"""Solves from a state, in place; returns whether it converged, the residual and the number of Newton steps."""


def guess(robot: Statics, problem: Task, aim: float = 0.0, slack: float = 1.06) -> State:
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
                    Q[i, j] = np.arctan2(axis @ np.cross(a, b), a @ b) + aim
                turned = np.eye(4)
                turned[:3, :3] = exp_so3(Q[i, j] * axis)
                frame = frame @ turned
            elif joint.kind == "extension":
                Q[i, j] = slack * np.linalg.norm(target - (frame @ limb.attach)[:3, 3])
    if not problem.inverse:
        Q[robot._actuators] = problem.q
    return State(np.zeros((robot._n, 6)), Q, X)


def _tip_towards_plate(limb: Limb, XP: Array, p0: Array, length: float) -> tuple[Array, Array]:
    """Return position and tangent (rest length long) of a rod's tip at a plate pose; p0: its base.

    From a revolute joint the rod may leave in any direction about the axis: the one nearest the chord is taken.
    """
    B = XP @ np.asarray(limb.distal.pose) @ np.asarray(limb.distal.attach)
    p1 = B[:3, 3]
    if limb.distal.kind not in ("fixed", "revolute", "prismatic"):
        return p1, p1 - p0
    t1 = B[:3, 2] * length
    if limb.distal.kind != "revolute":
        return p1, t1
    J = XP @ np.asarray(limb.distal.pose)
    axis = J[:3, :3] @ (np.asarray(limb.distal.axis) / np.linalg.norm(limb.distal.axis))
    d = B[:3, 2] - axis * (axis @ B[:3, 2])
    to = (p1 - p0) - axis * (axis @ (p1 - p0))
    if np.linalg.norm(d) > 1e-6 and np.linalg.norm(to) > 1e-9:
        turn = exp_so3(np.arctan2(axis @ np.cross(d, to), d @ to) * axis)
        return J[:3, 3] + turn @ (B[:3, 3] - J[:3, 3]), turn @ B[:3, 2] * length
    return p1, t1


def curved_nodes(robot: Statics, state: State, rng: np.random.Generator | None = None, amplitude: float = 0.0) -> Array:
    """Return nodes on cubic Hermite curves between the base and tip frames, zero moments."""
    nodes = np.zeros((robot._n, SEGMENTS - 1, 10))
    XP = unflatten(state.X)
    rest = robot._model(robot._steps(None, None)).rest
    for i, limb in enumerate(robot.description.limbs):
        A, L = root_pose(limb, state.Q[i], rest[i])
        p0, t0 = A[:3, 3], A[:3, 2] * L
        p1, t1 = _tip_towards_plate(limb, XP, p0, L)
        bump = np.zeros(3)
        if rng is not None:
            bump = rng.normal(size=3) * amplitude * L
            t0 = t0 * rng.uniform(0.6, 1.6)
            t1 = t1 * rng.uniform(0.6, 1.6)
        R, tangent = A[:3, :3], A[:3, 2]
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
            size = np.linalg.norm(v)
            v = v / size if size > 1e-9 else tangent
            turn = np.cross(tangent, v)
            sine = np.linalg.norm(turn)
            if sine > 1e-9:
                R = exp_so3(turn / sine * np.arctan2(sine, tangent @ v)) @ R
            tangent = v
            nodes[i, s, :3] = p
            nodes[i, s, 3:7] = quaternion_from_rotation(R)
    if robot.planar:
        nodes[:, :, 2] = 0.0
    return nodes


def lifted_newton(robot: Statics, state: State, problem: Task, steps: int, nodes: Array) -> tuple[bool, float, int]:
    ok, out = robot._one(state, problem, max(steps, SEGMENTS), segments=SEGMENTS, nodes=nodes, limit=40)
    worst, iterations = float(out[0]), int(out[1])
    if ok or worst < 1e-2:
        good, out = robot._one(state, problem, steps, limit=15)
        worst, iterations = float(out[0]), iterations + int(out[1])
        ok = good
    return ok, worst, iterations


def levenberg(robot: Statics, state: State, problem: Task, steps: int, limit: int = 40) -> tuple[bool, float, int]:
    """Levenberg and Marquardt's method on single shooting, with the exact Jacobian."""
    damping = 1e-3
    _, out = robot._one(state, problem, steps, limit=layout.LINEARISE_ONLY)
    r, J, unpack = dense_step(robot, state, problem)
    cost = float(r @ r)
    worst = float(out[0])
    for it in range(limit):
        with np.errstate(over="ignore"):
            scale = np.sum(J * J, axis=0) + 1e-12
        if not np.isfinite(cost) or not np.all(np.isfinite(scale)):
            return False, np.inf, it
        step = np.linalg.lstsq(
            np.vstack([J, np.diag(np.sqrt(damping * scale))]),
            np.concatenate([-r, np.zeros(len(scale))]),
            rcond=None,
        )[0]
        trial = state.copy()
        unpack(trial, step)
        if any(
            joint.kind == "extension" and trial.Q[i, j] < 0.05 * robot.description.limbs[i].rod.length
            for i, limb in enumerate(robot.description.limbs)
            for j, joint in enumerate(limb.joints)
        ):
            damping = min(damping * 8.0, 1e8)
            continue
        _, out = robot._one(trial, problem, steps, limit=layout.LINEARISE_ONLY)
        r1, J1, unpack1 = dense_step(robot, trial, problem)
        c1 = float(r1 @ r1)
        if np.isfinite(c1) and c1 < cost:
            state.W[:], state.Q[:], state.X[:] = trial.W, trial.Q, trial.X
            r, J, unpack, cost, worst = r1, J1, unpack1, c1, float(out[0])
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
    for trial in range(count):
        state = guess(robot, task, aim=0.0 if trial % 2 == 0 else rng.uniform(-1.0, 1.0))
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
        yield f"random restart {trial + 1} of seed {seed}", state, curved_nodes(robot, state, rng, 0.1)


def cold_starts(
    robot: Statics, problem: Task, steps: int, restarts: int, seed: int
) -> Iterator[tuple[str, State, Run]]:
    """Yield (name, state, function that solves from it): lifted Newton, Levenberg-Marquardt, seeded restarts."""

    def lifted(state: State) -> tuple[bool, float, int]:
        return lifted_newton(robot, state, problem, steps, curved_nodes(robot, state))

    if problem.inverse and robot.description.home_joints is not None:
        state = guess(robot, problem)
        state.Q[robot._actuators] = robot.description.home_joints
        yield "lifted Newton from the home joints", state, lifted
    yield "lifted Newton", guess(robot, problem), lifted
    yield "Levenberg-Marquardt", guess(robot, problem), lambda state: levenberg(robot, state, problem, steps)
    if problem.inverse and any(j.kind == "extension" for limb in robot.description.limbs for j in limb.joints):
        yield "lifted Newton, rods taut", guess(robot, problem, slack=1.0), lifted
    for name, state, nodes in random_starts(robot, problem, restarts, seed):
        yield name, state, lambda state, nodes=nodes: lifted_newton(robot, state, problem, steps, nodes)


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

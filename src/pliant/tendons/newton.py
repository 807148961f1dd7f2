"""Newton's method for strains and tensions at once, and paths of commands with friction that remembers."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from pliant.base.numerics import Array
from pliant.rods.kernels.jit import INNER, entry
from pliant.tendons.kernels import evaluate

HALVINGS = 7
"""How often the way to a command is halved where Newton's method does not converge."""
SURE, AHEAD = 10, 5
"""Most iterations of a step along the way, and of one from a foretold start.

What needs more may have led to another equilibrium or friction: the step is then halved, or begins without the
foretold change. Where no step is short enough for that, as with strong friction, all iterations are used.
"""
PIECES = 1000
"""Most steps of a command: of one that lets a tendon out by metres, which stays slack."""


@njit(**INNER)
def _system(work, tension, command, law, by_length, A, b):
    """Set the linear system of one Newton step; returns the largest force and gap.

    A tendon by length obeys 0 <= T, 0 <= gap, T gap = 0, where gap = T (stretch by tension) - (path + drawn in - free
    length): the smaller of both is zero, which a semismooth Newton method solves as an equation.
    """
    n, N = len(work.force), len(tension)
    worst, open_gap = 0.0, 0.0
    for value in work.force:
        # The comparison is false for NaN, which must come through.
        worst = worst if abs(value) <= worst else abs(value)
    A[:n, :n] = work.hessian
    b[:n] = -work.force
    for i in range(N):
        A[n + i, :] = 0.0
        A[:n, n + i] = work.column[:, i]
        A[n + i, n + i] = 1.0
        if by_length[i]:
            soft = law[1, i] + law[2, i] * work.stretch[i]
            gap = tension[i] * soft - (work.path[i] + command[i] - law[0, i])
            if tension[i] < gap / max(soft, 1e-5):
                b[n + i] = -tension[i]
                miss = abs(tension[i]) * 1e-5
            else:
                A[n + i, :n] = -work.row[i]
                A[n + i, n + i] = soft
                b[n + i] = -gap
                miss = abs(gap)
        else:
            b[n + i] = command[i] - tension[i]
            miss = abs(b[n + i]) * 1e-5
        open_gap = open_gap if miss <= open_gap else miss
    return worst, open_gap


@njit(**INNER)
def _newton(chain, loads, memory, x, tension, command, law, by_length, limits, most, work, A, b):
    """Return the iterations used, or -1 after ``most``; ``x`` and ``tension`` are start and result."""
    n, N = len(x), len(tension)
    best, stalled = np.inf, 0
    for iteration in range(most):
        evaluate(chain, loads, memory, x, tension, work)
        worst, open_gap = _system(work, tension, command, law, by_length, A, b)
        if not (np.isfinite(worst) and np.isfinite(open_gap)):
            return -1
        if worst < limits[0] and open_gap < limits[1]:
            return iteration
        merit = worst / limits[0] + open_gap / limits[1]
        stalled = stalled + 1 if merit > 0.5 * best else 0
        best = min(best, merit)
        step = np.linalg.solve(A, b)
        size = np.abs(step[:n]).max()
        share = min(1.0, limits[2] / size) if size > limits[2] else 1.0
        if stalled > 3:
            share *= 0.5
        for i in range(n):
            x[i] += share * step[i]
        for i in range(N):
            tension[i] += share * step[n + i]
    return -1


@njit(**INNER)
def _remember(chain, memory, work):
    """Take the present equilibrium as the last one of the friction."""
    for i in range(len(chain.tendon)):
        distal = 0.0
        for j in range(chain.tendon[i, 1] - 1, chain.tendon[i, 0] - 1, -1):
            distal += work.link_length[j]
            memory.distal[j] = distal
            memory.state[j] = work.slip[j]


@njit(**INNER)
def _foretell(command, before, way, x, tension, moved):
    """Move unknowns and tensions ahead as they moved with the last command, where this one goes on along its way.

    Returns whether they were moved.
    """
    n, along, square, size = len(x), 0.0, 0.0, 0.0
    for i in range(len(command)):
        step = command[i] - before[i]
        along += step * way[i]
        square += way[i] * way[i]
        size += step * step
    # A share of the last change is of use where it accounts for most of the way: |step - share way|^2 < size / 4.
    if square == 0.0 or along <= 0.0 or size - along * along / square >= 0.25 * size:
        return False
    share = min(2.0, along / square)
    for i in range(n):
        x[i] += share * moved[i]
    for i in range(len(tension)):
        tension[i] = max(0.0, tension[i] + share * moved[n + i])
    return True


class Way(NamedTuple):
    """Where a sequence of commands is; changed by each step."""

    at: Array
    """Command that the unknowns and tensions belong to, shape (N,)."""
    goal: Array
    """Command of the present try, shape (N,)."""
    x: Array
    """Unknowns at ``at``, shape (n,)."""
    tension: Array
    """Tensions at ``at`` [N], shape (N,)."""
    last: Array
    """Change of the command in the step before, shape (N,)."""
    moved: Array
    """Change of unknowns and tensions in it, shape (n + N,)."""
    A: Array
    """Matrix of the linear system of a Newton step, shape (n + N, n + N)."""
    b: Array
    """Its right side, shape (n + N,)."""


@njit(**INNER)
def _pieces(before, command, law, by_length):
    """Return in how many equal steps friction follows from one command to the next: the nearest whole number."""
    most = 1.0
    for i in range(len(command)):
        most = max(most, abs(command[i] - before[i]) / law[3 if by_length[i] else 4, i])
    return min(PIECES, math.ceil(most - 0.5))


@njit(**INNER)
def _step(chain, loads, memory, x, tension, to, law, by_length, limits, work, way, ahead):
    """Go from the command ``way.at`` to ``to``; ``ahead``: unknowns and tensions were foretold, try them briefly.

    Returns the iterations, and the share of the way that was found, 1 where all of it.
    """
    done, stride, halved, bold, total = 0.0, 1.0, 0, False, 0
    while done < 1.0:
        share = min(1.0, done + stride)
        for i in range(len(tension)):
            way.goal[i] = way.at[i] + share * (to[i] - way.at[i])
        most = int(limits[3]) if bold else AHEAD if ahead else SURE
        used = _newton(chain, loads, memory, x, tension, way.goal, law, by_length, limits, most, work, way.A, way.b)
        total += used if used >= 0 else most
        if used >= 0:
            done = share
            way.x[:] = x
            way.tension[:] = tension
            _remember(chain, memory, work)
            if halved > 0 and not bold:
                halved -= 1
                stride *= 2.0
        else:
            x[:] = way.x
            tension[:] = way.tension
            if not ahead:
                stride *= 0.5
                halved += 1
            if halved > HALVINGS and bold:
                return total, done
            if halved > HALVINGS:
                bold, stride, halved = True, 1.0, 0
        ahead = False
    return total, 1.0


@entry
def follow(
    chain,
    loads,
    memory,
    x,
    tension,
    start,
    commands,
    law,
    by_length,
    limits,
    work,
    near,
    out_pose,
    out_tension,
    out_state,
):
    """Solve for a sequence of commands, each from the equilibrium before; friction remembers every one of them.

    A command far from the one before is divided into equal steps of about the size that ``law`` gives, because
    friction depends on the way. Where Newton's method does not converge soon, a step is halved up to `HALVINGS` times;
    it is doubled again behind each that does.

    Args:
        chain, loads, memory, work: as in `kernels.assemble`; ``memory`` and ``work`` are changed.
        x: equilibrium to start from, shape (n,); changed to that of the last row.
        tension: its tensions [N], shape (N,); changed likewise.
        start: its command, shape (N,).
        commands: drawn in [m] or tension [N], shape (rows, N).
        law: as `build.tendon_law` returns it, shape (5, N).
        by_length: whether a command is a length, shape (N,).
        limits: force and length that count as zero, largest change of an unknown in a step, iterations; shape (4,).
        near: equilibria of the same commands of a robot of almost the same parameters, NaN where it has none, shape
            (rows, n + N), or (0, n + N) without one. A row starts from its change, which takes half the iterations.
        out_pose: axes (row by row) and place of the last disk after each row, shape (rows, 12).
        out_tension: tensions of each row [N], shape (rows, N).
        out_state: unknowns and tensions of each row, shape (rows, n + N), or (0, n + N): not wanted.

    Returns:
        rows solved (less than given: the next one has no equilibrium that was found), iterations in all, and the
        share of the way to the failed row.
    """
    n, N = len(x), len(tension)
    way = Way(
        start.copy(), start.copy(), x.copy(), tension.copy(), np.zeros(N), np.zeros(n + N), np.zeros((n + N, n + N)),
        np.zeros(n + N),
    )  # fmt: skip
    before, to, total = start.copy(), start.copy(), 0
    for row in range(len(commands)):
        pieces = _pieces(before, commands[row], law, by_length)
        for piece in range(pieces):
            for i in range(N):
                to[i] = before[i] + (commands[row, i] - before[i]) * (piece + 1) / pieces
            ahead = len(near) == 0 and _foretell(to, way.at, way.last, x, tension, way.moved)
            way.moved[:n] = -way.x
            way.moved[n:] = -way.tension
            if row > 0 and len(near) > 0:
                for i in range(n + N):
                    change = (near[row, i] - near[row - 1, i]) / pieces
                    if np.isfinite(change) and i < n:
                        x[i] += change
                    elif np.isfinite(change):
                        tension[i - n] = max(0.0, tension[i - n] + change)
            used, share = _step(chain, loads, memory, x, tension, to, law, by_length, limits, work, way, ahead)
            total += used
            if share < 1.0:
                return row, total, (piece + share) / pieces
            way.last[:] = to - way.at
            way.at[:] = to
            way.moved[:n] += x
            way.moved[n:] += tension
        before[:] = commands[row]
        for i in range(3):
            out_pose[row, 9 + i] = work.position[-1, i]
            for j in range(3):
                out_pose[row, 3 * i + j] = work.rotation[-1, i, j]
        out_tension[row] = tension
        if len(out_state) > 0:
            out_state[row, :n] = x
            out_state[row, n:] = tension
    return len(commands), total, 1.0

"""Checks of what a robot is asked: poses, wrenches, joint values, controlled degrees of freedom."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.base.errors import ModelError, nearest
from pliant.base.numerics import Array
from pliant.base.spatial import is_rotation
from pliant.rods._build import flatten
from pliant.rods.description import RobotDescription


def pose_row(description: RobotDescription, pose: ArrayLike) -> Array:
    """Return a plate pose as 12 numbers, from a 4x4 matrix or a planar (x, y, angle)."""
    X = np.asarray(pose, dtype=float)
    if X.shape == (3,) and description.planar:
        if not np.all(np.isfinite(X)):
            raise ModelError(f"pose contains a number that is not finite: {X}", field="pose")
        c, s = np.cos(X[2]), np.sin(X[2])
        return np.array([c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0, X[0], X[1], 0.0])
    if X.shape != (4, 4):
        valid = "a 4x4 matrix or (x, y, angle)" if description.planar else "a 4x4 matrix"
        raise ModelError(f"pose has shape {X.shape}; must be {valid}", field="pose")
    if not np.isfinite(X).all():
        raise ModelError("pose contains a number that is not finite", field="pose")
    R = X[:3, :3]
    if not is_rotation(R):
        raise ModelError("pose is not a rigid pose: its rotation is not orthonormal", field="pose")
    if description.planar and (abs(X[2, 3]) > 1e-9 or abs(X[2, 2] - 1.0) > 1e-9):
        raise ModelError("pose leaves the plane z = 0 of a planar robot", field="pose")
    return flatten(X)


def pose_rows(description: RobotDescription, rows: Sequence[ArrayLike]) -> Array:
    """Return many poses as rows of 12 numbers, checked together where they are 4x4."""
    try:
        X = np.asarray(rows, dtype=float)
    except (TypeError, ValueError):  # of different shapes, or no numbers
        X = np.zeros(0)
    if X.shape[1:] == (4, 4) and np.isfinite(X).all():
        R = X[:, :3, :3]
        straight = np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(3)).max() < 1e-6 and np.linalg.det(R).min() > 0.0
        flat = not description.planar or (np.abs(X[:, 2, 3]).max() < 1e-9 and np.abs(X[:, 2, 2] - 1.0).max() < 1e-9)
        if straight and flat:
            return np.concatenate([R.reshape(-1, 9), X[:, :3, 3]], axis=1)
    return np.array([pose_row(description, row) for row in rows])


def wrench_row(description: RobotDescription, wrench: ArrayLike | None) -> Array:
    """Return a wrench on the plate as an array, shape (6,) [N, N m]; None for none.

    Raises:
        ModelError: a wrong number of values, one that is not finite, or one out of a planar robot's plane.
    """
    if wrench is None:
        return np.zeros(6)
    w = np.asarray(wrench, dtype=float)
    if description.planar and w.shape == (3,):
        w = np.array([w[0], w[1], 0.0, 0.0, 0.0, w[2]])
    if w.shape != (6,) or not np.isfinite(w).all():
        valid = "(fx, fy, mz)" if description.planar else "(fx, fy, fz, mx, my, mz)"
        raise ModelError(f"wrench must be {valid}, finite, found {wrench!r}", field="wrench")
    if description.planar and (w[2] != 0.0 or w[3] != 0.0 or w[4] != 0.0):
        raise ModelError("wrench leaves the plane of a planar robot: fz, mx, my must be zero", field="wrench")
    return w


def joint_row(description: RobotDescription, q: ArrayLike) -> Array:
    """Return actuated joint values as an array, shape (actuators,) [m or rad].

    Raises:
        ModelError: a wrong number of values, one that is not finite, or a length that is not positive.
    """
    count = len(description.actuators)
    try:
        out = np.atleast_1d(np.asarray(q, dtype=float))
    except (TypeError, ValueError):
        raise ModelError(f"q needs {count} finite joint values, found {q!r}", field="q") from None
    if out.shape != (count,) or not np.isfinite(out).all():
        raise ModelError(f"q needs {count} finite joint values, found {np.asarray(q).tolist()}", field="q")
    for a, (i, j) in enumerate(description.actuators):
        if description.limbs[i].joints[j].kind == "extension" and not out[a] > 0.0:
            raise ModelError(
                f"q[{a}] is the length of {description.limb_name(i)} and must be positive, found {out[a]:g}",
                field="q",
            )
    return out


def controlled_mask(description: RobotDescription, controlled: Sequence[str] | None) -> NDArray[np.bool_]:
    """Return which freedoms of the plate are held at a pose, shape (6,); None: those of the description, else all."""
    names = description.freedoms
    count, freedoms = len(description.actuators), len(names)
    mask = np.zeros(6, bool)
    if controlled is None:
        controlled = description.controlled
    if count >= freedoms and controlled is None:
        mask[:freedoms] = True
        return mask
    if controlled is None:
        raise ModelError(
            f"{description.name} has {count} actuators for {freedoms} degrees of freedom of the plate: name the "
            f"{count} that they control, as in controlled={list(names[:count])}; valid names: "
            f"{', '.join(names)}",
            field="controlled",
        )
    for name in controlled:
        if name not in names:
            raise ModelError(
                f"{name!r} is not a degree of freedom of the plate; {nearest(name, names)}", field="controlled"
            )
        mask[names.index(name)] = True
    if mask.sum() > count:
        raise ModelError(
            f"{description.name}: {count} actuators cannot control {int(mask.sum())} degrees of freedom",
            field="controlled",
        )
    if mask.sum() < min(count, freedoms):
        raise ModelError(
            f"{description.name}: {count} actuators control {min(count, freedoms)} freedoms,"
            f" found {int(mask.sum())}: {', '.join(controlled)}",
            field="controlled",
        )
    return mask


def checked_seed(seed: int) -> None:
    """Refuse what cannot seed a generator of random numbers.

    Raises:
        ModelError: it is negative or no integer.
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ModelError(f"seed must be an integer >= 0, found {seed!r}", field="seed")

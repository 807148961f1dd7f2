"""Joint trajectories, as trajectory_msgs/JointTrajectory describes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.base.errors import DeviceError
from pliant.ros.wire.message import MessageView

MAX_POINTS = 100_000
"""Points that a trajectory may have; at 1 kHz more than a minute and a half."""


@dataclass(frozen=True, slots=True)
class MotionState:
    """Where joints are, or should be, and how they move."""

    position: np.ndarray
    """In rad, or in the unit of the joint; shape (n,)."""
    velocity: np.ndarray
    """Its rate of change [1/s], shape (n,)."""
    acceleration: np.ndarray
    """Its second rate of change [1/s^2], shape (n,)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JointPoints:
    """The points of a trajectory message, in the order of a controller's joints."""

    times: np.ndarray
    """Time of each point after the start [s], increasing, shape (m,)."""
    positions: np.ndarray
    """Shape (m, n)."""
    velocities: np.ndarray
    """Shape (m, n); NaN in the rows of points that have none."""
    accelerations: np.ndarray
    """Shape (m, n); NaN in the rows of points that have none."""
    start_ns: int
    """When it begins [ns of simulation time]; 0 for at once."""


def read_points(message: MessageView, joints: Sequence[str]) -> JointPoints:
    """Return the points of a trajectory_msgs/JointTrajectory in the order of these joints.

    Raises:
        DeviceError: other joints, no or too many points, times that do not increase, a wrong number of values, a value
            that is not finite.
    """
    names, n = list(message["joint_names"]), len(joints)
    if sorted(names) != sorted(joints):
        raise DeviceError(f"joint_names are {names[:8]}; must be {list(joints)}, all in one message", field="joints")
    order = [names.index(joint) for joint in joints]
    points = message["points"]
    if not 0 < len(points) <= MAX_POINTS:
        raise DeviceError(f"the trajectory has {len(points)} points; must be 1 to {MAX_POINTS}", field="points")
    times = np.array([p["time_from_start"] * 1e-9 for p in points])
    if times[0] < 0.0 or (np.diff(times) <= 0.0).any():
        at = 0 if times[0] < 0.0 else int(np.argmax(np.diff(times) <= 0.0)) + 1
        raise DeviceError(
            f"time_from_start of point {at} is {times[at]:g} s; must be increasing times from 0 on", field="points"
        )
    columns: list[np.ndarray] = []
    for key in ("positions", "velocities", "accelerations"):
        valid = (n,) if key == "positions" else (0, n)
        wrong = next((i for i, p in enumerate(points) if len(p[key]) not in valid), None)
        if wrong is not None:
            raise DeviceError(
                f"point {wrong} has {len(points[wrong][key])} {key}; there must be {n}, one for each of {list(joints)}",
                field="points",
            )
        given = np.array([len(p[key]) > 0 for p in points])
        values = np.array([p[key] if len(p[key]) else np.full(n, np.nan) for p in points], dtype=float)[:, order]
        bad = given & ~np.isfinite(values).all(axis=1)
        if bad.any():
            at = int(np.argmax(bad))
            raise DeviceError(f"point {at} has {key} {values[at].tolist()}; must be finite numbers", field="points")
        columns.append(values)
    positions, velocities, accelerations = columns
    return JointPoints(
        times=times,
        positions=positions,
        velocities=velocities,
        accelerations=accelerations,
        start_ns=int(message["header"]["stamp"]),
    )


class Trajectory:
    """A joint trajectory being executed.

    A segment is linear; cubic where both of its points have velocities; quintic where both have accelerations too, as
    joint_trajectory_controller interpolates.

    Args:
        points: what was asked for.
        now_ns: simulation time at which it is taken up [ns]; points before it are left away.
        begin: the motion at that time.
        wraps: which joints turn without limits, shape (n,): the trajectory is moved by whole turns so that its first
            point is the nearest one; None for none.
        early: whether the way to the first point begins at once where the start is in the future, as in ROS 2; else at
            the start, as in ROS 1.

    Raises:
        DeviceError: all of its points are over.
    """

    def __init__(
        self, points: JointPoints, now_ns: int, begin: MotionState, *, wraps: np.ndarray | None = None,
        early: bool = False,
    ) -> None:  # fmt: skip
        self.start_ns = points.start_ns or now_ns
        since = (now_ns - self.start_ns) * 1e-9
        keep = points.times >= since
        if not keep.any():
            raise DeviceError(
                f"the trajectory ended at {self.start_ns * 1e-9 + points.times[-1]:.9g} s; it is {now_ns * 1e-9:.9g} s",
                field="points",
            )
        times, positions = points.times[keep], points.positions[keep]
        velocities, accelerations = points.velocities[keep], points.accelerations[keep]
        if wraps is not None:
            turns = np.round((begin.position - positions[0]) / (2.0 * np.pi))
            positions = positions + np.where(wraps, 2.0 * np.pi * turns, 0.0)
        since = since if early else max(0.0, since)
        if times[0] > since:
            times = np.concatenate([[since], times])
            positions = np.vstack([begin.position, positions])
            velocities = np.vstack([begin.velocity, velocities])
            accelerations = np.vstack([begin.acceleration, accelerations])
        moving = np.array(np.isfinite(velocities).all(axis=1))
        curved = np.array(moving & np.isfinite(accelerations).all(axis=1))
        self._cubic, self._quintic = (rows[:-1] & rows[1:] for rows in (moving, curved))
        self._times, self._positions, self._before = times, positions, begin.position
        self._velocities, self._accelerations = velocities, accelerations
        self.end_ns = self.start_ns + round(float(times[-1]) * 1e9)

    def at(self, now_ns: int) -> MotionState:
        """Return the motion at a simulation time [ns]; before it begins and after its end it stands still."""
        t = (now_ns - self.start_ns) * 1e-9
        times, x = self._times, self._positions
        still = np.zeros(x.shape[1])
        if now_ns >= self.end_ns:
            return MotionState(x[-1], still, still)
        if t < times[0]:
            return MotionState(self._before, still, still)
        i = min(int(np.searchsorted(times, t, side="right")) - 1, len(times) - 2)
        h = times[i + 1] - times[i]
        s = min(1.0, max(0.0, (t - times[i]) / h))
        a, b = x[i], x[i + 1]
        if not self._cubic[i]:
            return MotionState(a + s * (b - a), (b - a) / h, still)
        va, vb = self._velocities[i] * h, self._velocities[i + 1] * h
        if not self._quintic[i]:
            coefficients = (a, va, 3 * (b - a) - 2 * va - vb, 2 * (a - b) + va + vb)
        else:
            aa, ab = self._accelerations[i] * h * h, self._accelerations[i + 1] * h * h
            d = b - a
            coefficients = (
                a,
                va,
                0.5 * aa,
                10 * d - 6 * va - 4 * vb - 1.5 * aa + 0.5 * ab,
                -15 * d + 8 * va + 7 * vb + 1.5 * aa - ab,
                6 * d - 3 * va - 3 * vb - 0.5 * aa + 0.5 * ab,
            )
        position, velocity, acceleration = still, still, still
        for c in reversed(coefficients):  # Horner's scheme for the polynomial and its two derivatives
            acceleration = acceleration * s + 2.0 * velocity
            velocity = velocity * s + position
            position = position * s + c
        return MotionState(position, velocity / h, acceleration / (h * h))

"""Visual servoing: velocities and torques that bring a camera to where its target looks as it should.

Frames: c is the present optical frame, cd the desired one, o the target; cMo is the pose of o in c, shape (4, 4). The
velocity is (v, omega) of the optical frame in its own axes [m/s, rad/s]. Laws (Chaumette and Hutchinson 2006, 2007):

    velocity = -gain pinv(L) e

| law | features | what moves as one would draw it |
|---|---|---|
| `ibvs_velocity` | points of the image | the points: nearly straight lines |
| `pbvs_velocity` | translation and theta-u of the pose | the camera: a straight line |
| `hybrid_velocity` | one point, its depth ratio, theta-u (2.5-D) | that point: a straight line |

Whatever cannot be computed raises `pliant.camera.VisionError` with a named condition; no function returns NaN.
`VisualServo` runs a law safely: it reports convergence, stalling and divergence, and answers a condition with zero
velocity.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.numerics import Array, is_positive_definite
from pliant.base.spatial import inverse
from pliant.camera.conditions import Condition, VisionError, finite_array, finite_result, number, whole_number
from pliant.vision.checks import per_row, pose_matrix, require_fresh
from pliant.vision.points import point_interaction, project_points
from pliant.vision.poses import pose_features, pose_interaction
from pliant.vision.tasks import Gain, SmoothStart, Task, gain_at, pseudo_inverse, solve

Interaction = Literal["current", "desired", "mean"]

MIN_MARGIN = 1e-9
"""Smallest margin of a joint's limit [rad]; less is no range."""  # assumed


def ibvs_task(points: ArrayLike, cMo: ArrayLike, cdMo: ArrayLike, interaction: Interaction = "current") -> Task:
    """Return error and interaction matrix of points in the image.

    Args:
        points: of the target, in its frame, shape (n, 3) [m].
        cMo: present pose of the target, shape (4, 4); it gives present coordinates and depths.
        cdMo: desired pose, shape (4, 4).
        interaction: at which place the matrix is taken: "current", "desired", or the "mean" of both.

    Returns:
        error (x - x*, y - y*, ...), shape (2 n,), and matrix, shape (2 n, 6).

    Raises:
        VisionError: BEHIND_CAMERA; bad arrays; another word for interaction.
    """
    s, Z = project_points(points, cMo)
    desired, desired_Z = project_points(points, cdMo)
    return image_points_task(s, Z, desired, desired_Z, interaction)


def image_points_task(
    xy: ArrayLike, Z: ArrayLike, desired_xy: ArrayLike, desired_Z: ArrayLike, interaction: Interaction = "current"
) -> Task:
    """Return the task of measured points, for a detector that gives coordinates; see `ibvs_task`.

    Args:
        xy: measured normalised coordinates, shape (n, 2).
        Z: depths, known or estimated, shape (n,) or a number [m].
        desired_xy: shape (n, 2).
        desired_Z: depths at the goal, shape (n,) or a number [m].
        interaction: "current", "desired" or "mean".

    Raises:
        VisionError: DEPTH; bad arrays; another word for interaction.
    """
    s, wanted = finite_array("xy", xy, (None, 2)), finite_array("desired_xy", desired_xy, (None, 2))
    if s.shape != wanted.shape:
        raise VisionError(Condition.SHAPE, f"xy has {len(s)} points, desired_xy {len(wanted)}", field="desired_xy")
    if interaction == "current":
        L = point_interaction(s, Z)
    elif interaction == "desired":
        L = point_interaction(wanted, desired_Z)
    elif interaction == "mean":
        L = 0.5 * (point_interaction(s, Z) + point_interaction(wanted, desired_Z))
    else:
        raise VisionError(
            Condition.OUT_OF_RANGE,
            f"interaction is {interaction!r}; must be current, desired or mean",
            field="interaction",
        )
    return Task(error=finite_result("error", (s - wanted).ravel()), interaction=L)


def ibvs_velocity(
    points: ArrayLike,
    cMo: ArrayLike,
    cdMo: ArrayLike,
    *,
    gain: Gain = 1.0,
    interaction: Interaction = "current",
) -> Array:
    """Return the camera's velocity of image-based visual servoing with points.

    Args:
        points: of the target, in its frame, shape (n, 3), n >= 3; four in a square avoid singularities [m].
        cMo: present pose of the target, shape (4, 4).
        cdMo: desired pose, shape (4, 4).
        gain: number or `AdaptiveGain` [1/s].
        interaction: at which place the matrix is taken: "current", "desired", or the "mean" of both.

    Returns:
        (v, omega), shape (6,) [m/s, rad/s].

    Raises:
        VisionError: BEHIND_CAMERA, SINGULAR (such as all points in a line); bad arrays.

    Example:
        >>> velocity = ibvs_velocity(tag_corners(0.08), cMo, facing_pose(0.24), gain=AdaptiveGain(
        ...     at_zero=1.5, at_infinity=0.4, slope_at_zero=30.0))
    """
    return solve(ibvs_task(points, cMo, cdMo, interaction), gain, rank=6)


def pbvs_task(cMo: ArrayLike, cdMo: ArrayLike) -> Task:
    """Return error and interaction matrix of the pose: translation and theta-u of the camera in the desired frame.

    Raises:
        VisionError: BEHIND_CAMERA where the target's origin is not in front of the camera; not a pose.
    """
    _in_front("cMo", cMo)
    _in_front("cdMo", cdMo)
    e = pose_features(cMo, cdMo)
    return Task(error=e, interaction=pose_interaction(pose_matrix("cdMo", cdMo) @ inverse(pose_matrix("cMo", cMo))))


def pbvs_velocity(cMo: ArrayLike, cdMo: ArrayLike, *, gain: Gain = 1.0) -> Array:
    """Return the camera's velocity of position-based visual servoing.

        v = -gain R^T t,  omega = -gain theta u,   R, t, theta u of cdMc = cdMo cMo^-1

    The camera moves along a straight line.

    Args:
        cMo: present pose of the target, shape (4, 4).
        cdMo: desired pose, shape (4, 4).
        gain: number or `AdaptiveGain` [1/s].

    Returns:
        (v, omega), shape (6,) [m/s, rad/s].

    Raises:
        VisionError: BEHIND_CAMERA where the target's origin is not in front of the camera; not a pose.
    """
    return solve(pbvs_task(cMo, cdMo), gain)


def hybrid_task(point: ArrayLike, cMo: ArrayLike, cdMo: ArrayLike) -> Task:
    """Return error and interaction matrix of 2.5-D visual servoing (Malis, Chaumette and Boudet 1999).

        e = (x - x*, y - y*, log(Z / Z*), theta u of cdMc)

    Args:
        point: of the target, in its frame, shape (3,) [m].
        cMo: present pose of the target, shape (4, 4).
        cdMo: desired pose, shape (4, 4).

    Raises:
        VisionError: BEHIND_CAMERA; bad arrays.
    """
    p = finite_array("point", point, (3,))[None]
    s, Z = project_points(p, cMo)
    desired, desired_Z = project_points(p, cdMo)
    rotation = pbvs_rotation(cMo, cdMo)
    x, y = s[0]
    L = np.zeros((6, 6))
    L[:2] = point_interaction(s, Z)
    L[2] = [0.0, 0.0, -1.0 / Z[0], -y, x, 0.0]
    L[3:, 3:] = rotation.interaction
    return Task(error=np.concatenate([(s - desired)[0], np.log(Z / desired_Z), rotation.error]), interaction=L)


def pbvs_rotation(cMo: ArrayLike, cdMo: ArrayLike) -> Task:
    """Return the rotation of `pbvs_task` alone: theta-u and its matrix by omega, shape (3,) and (3, 3)."""
    X_DC = pose_matrix("cdMo", cdMo) @ inverse(pose_matrix("cMo", cMo))
    return Task(error=pose_features(cMo, cdMo)[3:], interaction=pose_interaction(X_DC)[3:, 3:])


def hybrid_velocity(point: ArrayLike, cMo: ArrayLike, cdMo: ArrayLike, *, gain: Gain = 1.0) -> Array:
    """Return the camera's velocity of 2.5-D visual servoing: the image of one point runs along a straight line.

    Args:
        point: of the target, in its frame, shape (3,) [m].
        cMo: present pose of the target, shape (4, 4).
        cdMo: desired pose, shape (4, 4).
        gain: number or `AdaptiveGain` [1/s].

    Returns:
        (v, omega), shape (6,) [m/s, rad/s].

    Raises:
        VisionError: BEHIND_CAMERA; bad arrays.
    """
    return solve(hybrid_task(point, cMo, cdMo), gain)


def joint_velocity(
    camera_velocity: ArrayLike, jacobian: ArrayLike, *, secondary: ArrayLike | None = None, damping: float = 0.0
) -> Array:
    """Return the joint velocities that give a camera velocity: dq = pinv(J) v + (I - pinv(J) J) z.

    To servo in joint space at once, so that the secondary task uses every freedom that the features leave, solve
    `Task.through(jacobian)` instead.

    Args:
        camera_velocity: (v, omega), shape (6,) [m/s, rad/s].
        jacobian: `eye_in_hand_jacobian` or `eye_to_hand_jacobian`, shape (6, n).
        secondary: joint velocities z of a secondary task, shape (n,) [rad/s].
        damping: above 0, damped least squares are taken and a singular Jacobian is allowed.

    Returns:
        shape (n,) [rad/s].

    Raises:
        VisionError: SINGULAR where the arm has lost a freedom; bad arrays.
    """
    v = finite_array("camera_velocity", camera_velocity, (6,))
    task = Task(error=-v, interaction=finite_array("jacobian", jacobian, (6, None)))
    return solve(task, 1.0, secondary=secondary, damping=damping)


class JointLimitAvoidance:
    """A secondary task that keeps joints away from their limits (after Chaumette and Marchand 2001).

    Inside a margin m = fraction (upper - lower) of a limit the cost is h = sum (d_i / m_i)^2 / 2, d_i the depth inside
    the margin; the joint velocity is its negative gradient, scaled by m_i: z_i = -speed d_i / m_i toward the middle.

    Args:
        lower: lower limits, shape (n,) [rad].
        upper: upper limits, shape (n,) [rad].
        fraction: width of each margin over the range, in (0, 0.5).
        speed: joint speed that is asked for at the limit [rad/s].

    Raises:
        VisionError: limits in the wrong order, or parameters out of range.
    """

    def __init__(self, lower: ArrayLike, upper: ArrayLike, *, fraction: float = 0.1, speed: float = 0.5) -> None:
        self.lower = finite_array("lower", lower, (None,))
        self.upper = finite_array("upper", upper, (self.lower.size,))
        self.speed = number("speed", speed, low=0.0, above=True)
        fraction = number("fraction", fraction, low=0.0, above=True, high=0.5)
        with np.errstate(over="ignore"):
            self.margin = fraction * (self.upper - self.lower)
        bad = np.flatnonzero(~((self.margin >= MIN_MARGIN) & (self.margin < math.inf)))
        if bad.size:
            i = int(bad[0])
            raise VisionError(
                Condition.OUT_OF_RANGE,
                f"lower[{i}] is {self.lower[i]:g}, upper[{i}] {self.upper[i]:g}; must be in order and apart",
                field="lower",
            )

    def __call__(self, q: ArrayLike) -> Array:
        """Return the joint velocities z of the secondary task, zero in the middle, shape (n,) [rad/s]."""
        q = finite_array("q", q, (self.lower.size,))
        above = np.maximum(q - (self.upper - self.margin), 0.0)
        below = np.maximum(self.lower + self.margin - q, 0.0)
        return self.speed * np.clip((below - above) / self.margin, -1.0, 1.0)

    def limited(self, q: ArrayLike, velocity: ArrayLike, dt: float) -> Array:
        """Return a joint velocity scaled down, its direction kept, so that no joint passes its limit within dt.

        A joint that is at its limit or beyond and moves further out stops the arm.

        Args:
            q: joint positions, shape (n,) [rad].
            velocity: joint velocities, shape (n,) [rad/s].
            dt: time for which the velocity is held [s].
        """
        q, v = finite_array("q", q, (self.lower.size,)), finite_array("velocity", velocity, (self.lower.size,))
        step = number("dt", dt, low=0.0, above=True) * v
        room = np.where(step > 0.0, np.maximum(self.upper - q, 0.0), np.maximum(q - self.lower, 0.0))
        moving = step != 0.0
        ratio = float(np.min(room[moving] / np.abs(step[moving]), initial=1.0))
        return v * min(ratio, 1.0)


def servo_torque(
    task: Task,
    dq: ArrayLike,
    mass: ArrayLike,
    bias: ArrayLike,
    *,
    stiffness: ArrayLike,
    damping: ArrayLike,
    drift: ArrayLike = 0.0,
    null_damping: float = 0.0,
    rank: int | None = None,
) -> Array:
    """Return the joint torques of dynamic visual servoing, a computed torque in feature space.

        tau = M pinv(J) (-K e - D de/dt - dJ/dt dq) + n - N M dq k,   de/dt = J dq
        N = I - J^T (J M^-1 J^T)^+ J M^-1

    so that an exact model gives d2e/dt2 + D de/dt + K e = 0 (Oliva et al. 2022; the torque law of the left arm in
    FrankaSim's experiment with two arms).

    Args:
        task: error, shape (m,), and its Jacobian by the joints J = L J_C, shape (m, n); see `Task.through`.
        dq: joint velocities, shape (n,) [rad/s].
        mass: M(q), shape (n, n) [kg m^2].
        bias: Coriolis, gravity and friction torques, shape (n,) [N m].
        stiffness: K, number or shape (m,) [1/s^2].
        damping: D, number or shape (m,) [1/s]; 2 sqrt(K) is critical.
        drift: dJ/dt dq, number or shape (m,); without it the loop is exact for slow motion only.
        null_damping: k of joint motion that the features do not see [1/s].
        rank: rank that J must have; None takes the smallest of m, n and 6.

    Returns:
        shape (n,) [N m].

    Raises:
        VisionError: SINGULAR; a mass matrix that is not positive; bad arrays.
    """
    J, e = task.interaction, task.error
    m, n = J.shape
    dq, bias_ = finite_array("dq", dq, (n,)), finite_array("bias", bias, (n,))
    M = finite_array("mass", mass, (n, n))
    K, D, drift_ = (per_row(k, v, m) for k, v in (("stiffness", stiffness), ("damping", damping), ("drift", drift)))
    if np.any(K < 0.0) or np.any(D < 0.0):
        raise VisionError(Condition.OUT_OF_RANGE, "stiffness and damping must be at least 0", field="stiffness")
    if not is_positive_definite(M):
        raise VisionError(Condition.OUT_OF_RANGE, "mass is not a positive definite matrix", field="mass")
    J_inverse, _ = pseudo_inverse(J, min(m, n, 6) if rank is None else rank, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        tau = M @ (J_inverse @ (-K * e - D * (J @ dq) - drift_)) + bias_
        k = number("null_damping", null_damping, low=0.0)
        if k > 0.0:
            J_over_M = np.linalg.solve(M, J.T).T
            p = M @ dq
            try:
                inertia = np.linalg.pinv(finite_result("J M^-1 J^T", J @ J_over_M.T), rcond=1e-12)
            except np.linalg.LinAlgError:
                raise VisionError(Condition.SINGULAR, "J M^-1 J^T has no singular values", field="mass") from None
            tau = tau - k * (p - J.T @ (inertia @ (J_over_M @ p)))
    return finite_result("torque", tau)


class ServoStatus(StrEnum):
    """How a servo loop stands."""

    RUNNING = "running"
    """The error is on its way."""
    CONVERGED = "converged"
    """The error has been inside the tolerance for the time asked for."""
    STALLED = "stalled"
    """The error has not fallen for a while: a local minimum, a target that moves, or a robot that does not follow."""
    DIVERGED = "diverged"
    """The error has grown far beyond where it began: wrong signs, frames or gains."""
    STOPPED = "stopped"
    """Nothing could be computed; the condition says why, the velocity is zero."""


def norm_below(tolerance: float = 5e-4) -> Callable[[Array], bool]:
    """Return a test of the norm of the error, for points; 5e-4 is what ViSP's demonstrations use."""
    limit = number("tolerance", tolerance, low=0.0, above=True)
    return lambda e: float(np.linalg.norm(e)) <= limit


def pose_below(translation: float = 5e-4, rotation: float = math.radians(0.5)) -> Callable[[Array], bool]:
    """Return a test of a pose's error, [m] and [rad]; the defaults are what ViSP's demonstrations use."""
    far = number("translation", translation, low=0.0, above=True)
    turned = number("rotation", rotation, low=0.0, above=True)
    return lambda e: float(np.linalg.norm(e[:3])) <= far and float(np.linalg.norm(e[3:6])) <= turned


class ServoMonitor:
    """Says whether a servo converges, stalls or diverges.

    Args:
        reached: error -> whether it is inside the tolerance, `norm_below` or `pose_below`.
        hold: how long the error must stay there [s].
        growth: the norm of the error over that of the start at which the servo counts as diverged.
        patience: time without a new least norm, outside of the tolerance, after which it counts as stalled [s].

    Raises:
        VisionError: parameters out of range.
    """

    def __init__(
        self,
        reached: Callable[[Array], bool],
        *,
        hold: float = 0.1,
        growth: float = 5.0,
        patience: float = 5.0,
    ) -> None:
        self.reached = reached
        self.hold = number("hold", hold, low=0.0)
        self.growth = number("growth", growth, low=1.0, above=True)
        self.patience = number("patience", patience, low=0.0, above=True)
        self.reset()

    def reset(self) -> None:
        """Begin again with the next error."""
        self._first = self._least = math.inf
        self._least_time = 0.0
        self._inside: float | None = None

    def __call__(self, error: ArrayLike, t: float) -> ServoStatus:
        """Return the status at a time.

        Args:
            error: of the task, shape (m,).
            t: time [s], not decreasing.

        Raises:
            VisionError: an error that is not finite.
        """
        e = finite_array("error", error, (None,))
        t = number("t", t)
        size = float(np.linalg.norm(e))
        if self.reached(e):
            # A target that moves on after this is a new start: growth and patience count from there.
            self._first = self._least = math.inf
            self._inside = t if self._inside is None else self._inside
            return ServoStatus.CONVERGED if t - self._inside >= self.hold else ServoStatus.RUNNING
        self._inside = None
        if math.isinf(self._first):
            self._first = size
        if size < self._least * (1.0 - 1e-6):
            self._least, self._least_time = size, t
        if size > self.growth * self._first:
            return ServoStatus.DIVERGED
        return ServoStatus.STALLED if t - self._least_time > self.patience else ServoStatus.RUNNING


@dataclass(frozen=True, slots=True, kw_only=True)
class ServoStep:
    """One answer of a servo."""

    velocity: Array
    """Commanded velocity, shape (n,) [m/s, rad/s]; zeros where the status is stopped or diverged. Never NaN."""
    status: ServoStatus
    """How the loop stands."""
    error: float
    """Norm of the error; infinite where there is none."""
    condition: Condition | None = None
    """Why the servo stopped."""
    message: str = ""
    """The same in words, with numbers."""


class VisualServo:
    """A law, run safely: gain, smooth start, monitor, and a stop instead of an exception.

    Once diverged, it stays stopped until `reset`. A condition such as a tag out of view gives zero velocity while it
    lasts; afterwards the start is smooth again.

    Args:
        task: what was measured -> Task, such as ``lambda cMo: pbvs_task(cMo, cdMo)``.
        gain: number or `AdaptiveGain` [1/s].
        monitor: of the error.
        size: length of the velocity, 6 for a camera.
        smooth_start: rate of the smooth start [1/s]; 0 for none.
        max_velocity: largest size of each entry, number or shape (size,); the whole velocity is scaled, its direction
            kept; infinite for none.
        max_age: largest age of what was measured [s]; older is the condition LATE. Infinite for none.

    Raises:
        VisionError: parameters out of range.

    Example:
        >>> servo = VisualServo(lambda cMo: pbvs_task(cMo, cdMo), AdaptiveGain(
        ...     at_zero=4.0, at_infinity=1.2, slope_at_zero=25.0), ServoMonitor(pose_below()))
        >>> robot.set_velocity(servo(cMo, t).velocity)
    """

    def __init__(
        self,
        task: Callable[[object], Task],
        gain: Gain,
        monitor: ServoMonitor,
        *,
        size: int = 6,
        smooth_start: float = 0.0,
        max_velocity: ArrayLike = math.inf,
        max_age: float = math.inf,
    ) -> None:
        self.task, self.gain, self.monitor = task, gain, monitor
        self.size = whole_number("size", size, low=1)
        gain_at(gain, np.zeros(1))  # refuse a bad one before the robot moves
        rate = number("smooth_start", smooth_start, low=0.0)
        self._smooth = SmoothStart(rate) if rate > 0.0 else None
        self.max_velocity = _largest("max_velocity", max_velocity, self.size)
        self.max_age = float(_largest("max_age", max_age, 1)[0])
        self._diverged = ""

    def reset(self) -> None:
        """Begin again: smooth start, monitor, and a divergence that was found."""
        self._diverged = ""
        self.monitor.reset()
        if self._smooth is not None:
            self._smooth.reset()

    def __call__(self, measured: object, t: float, *, age: float = 0.0) -> ServoStep:
        """Return what to do.

        Args:
            measured: what the task takes, such as the pose cMo.
            t: time [s], not decreasing.
            age: time since it was measured [s].
        """
        zero = np.zeros(self.size)
        if self._diverged:
            return ServoStep(velocity=zero, status=ServoStatus.DIVERGED, error=math.inf, message=self._diverged)
        try:
            require_fresh(age, self.max_age)
            task = self.task(measured)
            velocity = solve(task, self.gain)
            if velocity.shape != (self.size,):
                raise VisionError(
                    Condition.SHAPE, f"velocity has shape {velocity.shape}; must be ({self.size},)", field="task"
                )
            status = self.monitor(task.error, t)
            if self._smooth is not None:
                velocity = self._smooth(velocity, t)
        except VisionError as e:
            if self._smooth is not None:
                self._smooth.reset()
            return ServoStep(
                velocity=zero, status=ServoStatus.STOPPED, error=math.inf, condition=e.condition, message=e.message
            )
        size = float(np.linalg.norm(task.error))
        if status is ServoStatus.DIVERGED:
            self._diverged = f"the error grew to {size:g}, more than {self.monitor.growth:g} times that of the start"
            return ServoStep(velocity=zero, status=status, error=size, message=self._diverged)
        worst = float(np.max(np.abs(velocity) / self.max_velocity))
        return ServoStep(velocity=velocity / worst if worst > 1.0 else velocity, status=status, error=size)


def _in_front(field: str, X: ArrayLike) -> None:
    """Raise where the target's origin is not in front of the camera."""
    project_points(np.zeros((1, 3)), pose_matrix(field, X))


def _largest(field: str, value: ArrayLike, rows: int) -> Array:
    """Return largest values, more than 0, one per row; infinite for none."""
    try:
        found = np.broadcast_to(np.asarray(value, dtype=float), (rows,)).copy()
    except (TypeError, ValueError):
        found = np.zeros(rows)
    if not np.all(found > 0.0):
        wanted = "a number" if rows == 1 else f"a number or {rows} numbers"
        raise VisionError(Condition.OUT_OF_RANGE, f"{field} is {value!r}; must be {wanted} more than 0", field=field)
    return found

"""Vision and force in one loop: external hybrid control with an admittance in feature space.

The scheme of A. A. Oliva, P. Robuffo Giordano and F. Chaumette, "A general visual-impedance framework for effectively
combining vision and force sensing in feature space", RA-L 6(3), 2021, as FrankaSim's right arm uses it: the measured
contact wrench, moved to the camera and through the features' interaction matrix, drives a second-order system whose
state shifts the desired features. Free of contact the servo is the visual one; in contact it gives way.

    F_s = L_s B_c^-1 f_c,   B_c^-1 = cVe B_e^-1 cVe^T          force in feature space
    e'' = F_s - K e - D e'                                      admittance
    desired features s* + e

Wrenches are (force, torque), what the environment exerts on the tool; twists are (v, omega).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.argument_checks import ControlError, number, vector
from pliant.base.numerics import GRAVITY, Array
from pliant.base.spatial import cross, exp_so3, inverse, pose
from pliant.camera.conditions import Condition, VisionError, finite_array, finite_result
from pliant.vision.checks import pose_matrix
from pliant.vision.kinematics import adjoint
from pliant.vision.poses import pose_interaction
from pliant.vision.tasks import Task
from pliant.vision.visual_servoing import pbvs_task

_TERMS = 18  # of the series: below a norm of 1/2 the remainder is less than 1e-22


def matrix_exponential(A: ArrayLike) -> Array:
    """Return exp(A) of a small square matrix: Taylor's series of A / 2^k, squared k times.

    Args:
        A: shape (n, n).
    """
    A = np.asarray(A, dtype=float)
    norm = float(np.abs(A).sum(axis=1).max())
    halvings = max(0, int(np.ceil(np.log2(norm))) + 1) if norm > 0.0 else 0
    scaled = A / 2.0**halvings
    result = np.eye(len(A))
    for k in range(_TERMS, 0, -1):
        result = np.eye(len(A)) + scaled @ result / k
    for _ in range(halvings):
        result = result @ result
    return result


class ToolLoad:
    """Load of a tool's weight on a force/torque sensor, to be subtracted from its measurements.

    The sensor measures the wrench of the tool on the sensor's carrier, about the sensor's origin and in its axes
    (``measure_direction="child_to_parent"``): a tool at rest pulls it down.

    Args:
        mass: of what the sensor carries [kg].
        center: its centre of mass in the sensor frame, shape (3,) [m].
        bias: what the sensor measures without any load, shape (6,) [N, N m].
        gravity: in the world, shape (3,) [m/s^2].

    Raises:
        ControlError: a negative mass, other shapes, values that are not finite.
    """

    def __init__(
        self,
        mass: float,
        center: ArrayLike = (0.0, 0.0, 0.0),
        *,
        bias: ArrayLike = (0.0,) * 6,
        gravity: ArrayLike = (0.0, 0.0, -GRAVITY),
    ) -> None:
        self.mass = number("ToolLoad", "mass", mass, "kg", low=0.0)
        self.center = vector("ToolLoad", "center", center, 3)
        self.bias = vector("ToolLoad", "bias", bias, 6)
        self.gravity = vector("ToolLoad", "gravity", gravity, 3)

    @classmethod
    def identify(
        cls, measured: Sequence[ArrayLike], rotations: Sequence[ArrayLike], gravity: ArrayLike = (0.0, 0.0, -GRAVITY)
    ) -> ToolLoad:
        """Return mass, centre and bias from measurements at rest in several orientations, by least squares.

        Args:
            measured: wrenches, each of shape (6,) [N, N m].
            rotations: orientation R_WS of the sensor at each, shape (3, 3).
            gravity: in the world, shape (3,) [m/s^2].

        Raises:
            ControlError: orientations that do not tell mass and bias apart, fewer than three of them.
        """
        g = vector("ToolLoad", "gravity", gravity, 3)
        if len(measured) != len(rotations) or len(measured) < 3:
            raise ControlError(
                f"ToolLoad: {len(measured)} wrenches and {len(rotations)} rotations; must be equally many, at least 3",
                field="measured",
            )
        rows, values = [], []
        for wrench, R in zip(measured, rotations, strict=True):
            down = np.asarray(R, dtype=float).T @ g
            rows.append(_load_matrix(down))
            values.append(vector("ToolLoad", "measured", wrench, 6))
        A, y = np.concatenate(rows), np.concatenate(values)
        x, _, rank, _ = np.linalg.lstsq(A, y, rcond=1e-9)
        if rank < 10:
            raise ControlError(
                "ToolLoad: the orientations do not separate weight and bias; must be at least three that are turned "
                "about two axes",
                field="rotations",
            )
        if not x[0] > 0.0:
            raise ControlError(f"ToolLoad: the wrenches give a mass of {x[0]:.3g} kg; must be > 0", field="measured")
        return cls(float(x[0]), x[1:4] / x[0], bias=x[4:], gravity=g)

    def weight(self, R_WS: ArrayLike) -> Array:
        """Return the wrench of the weight alone, shape (6,) [N, N m], for an orientation of the sensor, (3, 3)."""
        f = self.mass * (np.asarray(R_WS, dtype=float).T @ self.gravity)
        return np.concatenate([f, cross(self.center, f)])

    def contact(self, measured: ArrayLike, R_WS: ArrayLike) -> Array:
        """Return what the environment exerts on the tool, at rest or in slow motion.

        Args:
            measured: wrench of the sensor, shape (6,) [N, N m].
            R_WS: orientation of the sensor in the world, shape (3, 3).

        Returns:
            wrench about the sensor's origin in its axes, shape (6,).

        Raises:
            ControlError: values that are not finite.
        """
        return vector("ToolLoad", "measured", measured, 6) - self.bias - self.weight(R_WS)


def _load_matrix(down: Array) -> Array:
    """Return the matrix of a load's wrench by (mass, mass times centre, bias), shape (6, 10)."""
    A = np.zeros((6, 10))
    A[:3, 0] = down
    x, y, z = down
    A[3:, 1:4] = [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]  # c x down, linear in c
    A[:, 4:] = np.eye(6)
    return A


def feature_force(
    L: ArrayLike, wrench: ArrayLike, X_CE: ArrayLike, inertia: ArrayLike = (1.0, 1.0, 1.0, 0.1, 0.1, 0.1)
) -> Array:
    """Return the force in feature space of a contact wrench, F_s = L B_c^-1 f_c.

    Args:
        L: interaction matrix of the features, shape (m, 6).
        wrench: what the environment exerts, about the camera's origin in its axes, shape (6,) [N, N m].
        X_CE: pose of the tool frame in the optical frame, in which the virtual inertia is diagonal, shape (4, 4).
        inertia: diagonal of the virtual inertia B_e at the tool, shape (6,) [kg, kg m^2].

    Returns:
        shape (m,).

    Raises:
        VisionError: an inertia of zero or less, no pose, arrays of other shapes or not finite.
    """
    L_, f = finite_array("L", L, (None, 6)), finite_array("wrench", wrench, (6,))
    B = finite_array("inertia", inertia, (6,))
    if np.any(B <= 0.0):
        raise VisionError(Condition.OUT_OF_RANGE, f"inertia is {B.min():g}; must be more than 0", field="inertia")
    V = adjoint(pose_matrix("X_CE", X_CE))
    return finite_result("feature force", L_ @ (V @ ((V.T @ f) / B)))


class FeatureAdmittance:
    """A mass, spring and damper for each feature, driven by a force in feature space: e'' = F - K e - D e'.

    It is integrated exactly for a force that is constant over a step, so no step is too long for it.

    Args:
        dt: step [s].
        stiffness: K, number or shape (m,) [1/s^2], more than 0.
        damping: D, number or shape (m,) [1/s]; 100 and 100 are FrankaSim's.
        size: number of features m.
        limit: largest shift of each feature, number or shape (m,); beyond it the shift stays and its speed is zero.

    Raises:
        ControlError: parameters out of range.
    """

    def __init__(
        self,
        dt: float,
        stiffness: ArrayLike = 100.0,
        damping: ArrayLike = 100.0,
        *,
        size: int = 6,
        limit: ArrayLike = math.inf,
    ) -> None:
        owner = "FeatureAdmittance"
        self.dt = number(owner, "dt", dt, "s", low=0.0, above=True)
        K, D = (
            vector(owner, field, np.broadcast_to(np.asarray(value, dtype=float), (size,)), size)
            for field, value in (("stiffness", stiffness), ("damping", damping))
        )
        if np.any(K <= 0.0) or np.any(D < 0.0):
            raise ControlError(
                f"{owner}: stiffness is {K.min():g} and damping {D.min():g} at least; must be > 0 and >= 0",
                field="stiffness",
            )
        self.limit = np.broadcast_to(np.asarray(limit, dtype=float), (size,)).copy()
        if not np.all(self.limit > 0.0):
            raise ControlError(f"{owner}: limit is {self.limit.min():g}; must be > 0", field="limit")
        self._A = np.empty((size, 2, 2))
        self._b = np.empty((size, 2))
        for i in range(size):
            step = matrix_exponential(np.array([[0.0, 1.0, 0.0], [-K[i], -D[i], 1.0], [0.0, 0.0, 0.0]]) * self.dt)
            self._A[i], self._b[i] = step[:2, :2], step[:2, 2]
        self._state = np.zeros((size, 2))

    @property
    def shift(self) -> Array:
        """The shift of the features e, shape (m,)."""
        return self._state[:, 0].copy()

    def reset(self) -> None:
        """Begin again without a shift."""
        self._state[:] = 0.0

    def __call__(self, force: ArrayLike) -> Array:
        """Return the shift after one step under a force in feature space, shape (m,).

        Raises:
            VisionError: a force of another shape or not finite.
        """
        F = finite_array("force", force, (len(self._state),))
        state = np.einsum("ijk,ik->ij", self._A, self._state) + self._b * F[:, None]
        beyond = np.abs(state[:, 0]) > self.limit
        state[beyond] = np.column_stack([np.sign(state[beyond, 0]) * self.limit[beyond], np.zeros(beyond.sum())])
        self._state = finite_result("shift", state)
        return self.shift


class HybridPoseServo:
    """Position-based visual servoing whose desired pose gives way to contact.

    Each step in the fast loop takes the newest pose of the target (the camera may be slower) and the contact wrench;
    `task` is what `pliant.vision.visual_servoing.VisualServo` or `pliant.vision.tasks.solve` take.

    Args:
        X_DO: desired pose of the target in the optical frame, shape (4, 4).
        X_CE: pose of the tool frame in the optical frame, shape (4, 4).
        admittance: of six features.
        inertia: diagonal of the virtual inertia at the tool, shape (6,) [kg, kg m^2].

    Raises:
        VisionError, ControlError: no poses, an admittance of another size.

    Example:
        >>> hybrid = HybridPoseServo(facing_pose(0.2), X_CE, FeatureAdmittance(0.001))
        >>> hybrid.push(X_CO, wrench)                            # every step of the fast loop
        >>> v = solve(hybrid.task(X_CO), AdaptiveGain(at_zero=4.0, at_infinity=1.2, slope_at_zero=25.0))
    """

    def __init__(
        self,
        X_DO: ArrayLike,
        X_CE: ArrayLike,
        admittance: FeatureAdmittance,
        *,
        inertia: ArrayLike = (1.0, 1.0, 1.0, 0.1, 0.1, 0.1),
    ) -> None:
        self.X_DO, self.X_CE = pose_matrix("X_DO", X_DO), pose_matrix("X_CE", X_CE)
        self.admittance, self.inertia = admittance, finite_array("inertia", inertia, (6,))
        if admittance.shift.shape != (6,):
            raise ControlError(
                f"HybridPoseServo: the admittance has {admittance.shift.size} features; must be 6, those of a pose",
                field="admittance",
            )

    @property
    def X_DG(self) -> Array:
        """The pose that gives way, in the desired one, shape (4, 4)."""
        e = self.admittance.shift
        return pose(e[:3], exp_so3(e[3:]))

    def push(self, X_CO: ArrayLike, wrench: ArrayLike) -> Array:
        """Advance the admittance by one step under a contact wrench; return the shift of the features, shape (6,).

        Args:
            X_CO: newest pose of the target in the optical frame, shape (4, 4).
            wrench: what the environment exerts, about the camera's origin in its axes, shape (6,) [N, N m].

        Raises:
            VisionError: bad arrays.
        """
        L = pose_interaction(self.X_DO @ inverse(pose_matrix("X_CO", X_CO)))
        return self.admittance(feature_force(L, wrench, self.X_CE, self.inertia))

    def task(self, X_CO: ArrayLike) -> Task:
        """Return error and interaction matrix of the pose against the desired one as it is shifted now."""
        return pbvs_task(X_CO, inverse(self.X_DG) @ self.X_DO)

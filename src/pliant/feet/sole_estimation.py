"""Joint angles and contact forces of a jointed sole, from inertial units and a model of the foot.

Angles. Two neighbouring modules carry an inertial unit each. Both feel nearly the same specific force (gravity and the
acceleration that they share), so the angle between the two measured vectors, in the plane of the foot, is their
relative angle, whatever that force is; the difference of the two rates is its rate. `RelativeAngleFilter` combines
them:

    q <- q + (w_2 - w_1) dt,    q <- q + g(a) dt / (T + dt) (q_a - q),    g = max(0, 1 - ||a| - g| / g)

with the time constant T, above which the accelerometers and below which the gyroscopes count. g(a) trusts the
accelerometers less the more the foot accelerates, because the two units then no longer feel the same.

Forces. `SoleForceEstimator` solves the quasi-static equilibrium of the foot in its sagittal plane: of the torque on
every joint, and of the forces and the moment on the whole foot where the wrench of the ankle is measured,

    tau_band(q) + tau_weight(q) + sum_k J_k(q)' f_k + J_c(q)' lambda + l T + s = 0

for contact forces f_k >= 0 at the soles, closure forces lambda, tendon tensions T >= 0 of taut tendons and torques s of
joints that rest on a stop. There are more unknowns than equations; of all solutions it takes the smallest (weighted
least squares). The idea of sensing contact forces by the shape of this foot is that of Mura et al., IEEE Robotics and
Automation Letters 5, 2020; the equations here are pliant's own.

What is assumed: rest (no inertia), a plane foot (roll does not enter), contact forces at the two lower edges of each
module and of the heel, tangential forces small against normal ones, and the nominal geometry, bands and weights. The
front edge of the heel and the rear edge of the first module lie 2 mm apart, and when the coupling between them rests on
its stop their forces cannot be told apart; then the lower of the two edges of the heel is taken to stand. Without the
wrench of the ankle the bands alone tell the size of the forces, and they are weak.

Frame: that of the foot's root, x to the toes and y down; angles turn x towards y. Points and forces are written as
complex numbers x + i y inside this module.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.base.argument_checks import ControlError
from pliant.base.numerics import GRAVITY, Array

UNKNOWN_LOAD = 100.0
"""Size of the forces that is expected where nothing is known of the load [N].  # assumed"""
HORIZONTAL_SHARE = 0.3
"""Tangential force at a contact that is expected, over the whole horizontal force that the ankle measures.  # assumed:
chosen between 0.1 and 1 on feet pressed on flat ground, bars and the blocks of the bench"""
FORCE_LEVER = 0.05
"""Error of a measured moment over that of a measured force [m].  # assumed: a quarter of the length of the foot"""
PAD_HEIGHT = 0.005
"""Height of one edge of the heel over the other at which it is expected to carry half as much [m].  # assumed"""
TAUT_MARGIN = 3e-4
"""Tendons that lack less than this may be taut [m].  # assumed: a degree of the angles along the chain"""
STOP_MARGIN = 0.02
"""Joints that are nearer to a stop may rest on it [rad].  # assumed: a degree"""
MODULE_LENGTH = 0.02
"""Lever of the forces on a module, for the size of the torque of a stop [m]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoleHinge:
    """A hinge of the mechanism; a rolling coupling is two of them that turn by half of its angle each."""

    body: int
    """Body that it turns."""
    position: complex
    """Its axis in the frame of that body [m]."""
    coordinate: int
    """Number of the measured angle that turns it."""
    ratio: float
    """Angle of this hinge over the measured one."""
    stiffness: float
    """Of its spring [N m/rad]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoleModel:
    """The foot in its sagittal plane: a tree of bodies on the root, closed at the metatarsus."""

    coordinates: tuple[str, ...]
    """Names of the measured angles."""
    bodies: tuple[str, ...]
    """Names of the bodies; the first one is the root, and a parent comes before its children."""
    parents: tuple[int, ...]
    """Number of the parent of each body; that of the root is -1."""
    positions: tuple[complex, ...]
    """Origin of each body in its parent's frame at rest [m]."""
    angles: tuple[float, ...]
    """Angle of each body against its parent at rest [rad]."""
    masses: tuple[float, ...]
    """Mass of each body [kg]."""
    centers: tuple[complex, ...]
    """Centre of mass of each body in its frame [m]."""
    hinges: tuple[SoleHinge, ...]
    """Hinges; those of one body in the order in which they turn it."""
    limits: tuple[tuple[float, float], ...]
    """Least and largest angle of each coordinate [rad]."""
    contacts: tuple[tuple[int, complex], ...]
    """Body and point of each contact that may carry force, in the frame of the body [m]."""
    closures: tuple[tuple[int, complex, int, complex], ...]
    """Body and point of each closure on the one side, body and point on the other."""
    tendons: tuple[tuple[tuple[float, ...], float], ...]
    """Change of length of each tendon per radian of every hinge [m/rad], one for each hinge, and slack at rest [m]."""
    pad: tuple[int, int] | None = None
    """Numbers of the contacts at the rear and the front edge of the heel's pad; None: the heel has no pad."""


class RelativeAngleFilter:
    """Complementary filter of the relative angles of pairs of inertial units about their z axis.

    Args:
        first: number of the first unit of each pair.
        second: number of the second unit of each pair.
        rest: angle between the frames of the pair where the relative angle is zero [rad].
        time_constant: above it accelerometers count, below it gyroscopes [s]; 0: accelerometers alone.

    Raises:
        ControlError: a time constant below 0.
    """

    def __init__(self, first: ArrayLike, second: ArrayLike, rest: ArrayLike, time_constant: float) -> None:
        if not (math.isfinite(time_constant) and time_constant >= 0.0):
            raise ControlError(f"time_constant is {time_constant!r}; must be >= 0 [s]", field="time_constant")
        self._first, self._second = np.asarray(first, dtype=int), np.asarray(second, dtype=int)
        self._rest = np.asarray(rest, dtype=float)
        self._time_constant = time_constant
        self._angle: Array | None = None

    def reset(self) -> None:
        """Forget the angles; the next update starts from the accelerometers."""
        self._angle = None

    def update(self, rates: Array, accelerations: Array, dt: float) -> tuple[Array, Array]:
        """Take one reading of all units.

        Args:
            rates: angular velocities of the units in their own axes, shape (units, 3) [rad/s].
            accelerations: proper accelerations in their own axes, shape (units, 3) [m/s^2].
            dt: time since the last reading [s].

        Returns:
            Relative angles, the second unit against the first, shape (pairs,) [rad], and their rates [rad/s].
        """
        force = accelerations[:, 0] + 1j * accelerations[:, 1]
        one, two = force[self._first], force[self._second]
        # A vector that is fixed in the world turns backwards in the frame of what turns forwards.
        measured = _wrapped(np.angle(one * np.conj(two)) - self._rest)
        speed = rates[self._second, 2] - rates[self._first, 2]
        size = np.minimum(np.abs(one), np.abs(two)), np.maximum(np.abs(one), np.abs(two))
        trust = np.clip(1.0 - np.maximum(GRAVITY - size[0], size[1] - GRAVITY) / GRAVITY, 0.0, 1.0)
        if self._angle is None:
            # A foot that starts in free fall is taken to have its shape at rest.
            angle = np.where(trust > 0.5, measured, 0.0)
        else:
            angle = self._angle + speed * dt
            angle = _wrapped(angle + trust * (dt / (self._time_constant + dt)) * _wrapped(measured - angle))
        self._angle = angle
        return angle.copy(), speed


def _wrapped(angle: Array) -> Array:
    return (angle + np.pi) % (2.0 * np.pi) - np.pi


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactEstimate:
    """Forces on the foot, estimated from its shape."""

    normal: Array
    """Force upwards at each contact of the model, shape (contacts,) [N]."""
    tangential: Array
    """Force forwards at each contact, level, shape (contacts,) [N]."""
    closure: Array
    """Force at each closure on its first body, in the axes of the root, shape (closures, 2) [N]."""
    tension: Array
    """Tension of each tendon, shape (tendons,) [N]."""
    force: Array
    """Sum of the contact forces in the axes of the root, x to the toes and y down, shape (2,) [N]."""
    moment: float
    """Moment of the contact forces about the axis of the ankle [N m], positive as the angles."""
    residual: float
    """Root mean square of the torques on the joints that are not in balance [N m]."""


class SoleForceEstimator:
    """Quasi-static contact forces from the measured shape of the foot.

    Args:
        model: the foot.
        friction: size of the tangential forces that is expected, over that of the normal ones, where the ankle measures
            no horizontal force.
        torque_error: what the balance of a joint is trusted to, over the load [m]: the error of the angles times the
            length of a module.
        force_error: what the measured wrench of the ankle is trusted to [N]; the moment to 0.05 m of it.

    Raises:
        ControlError: an argument out of its range.
    """

    def __init__(
        self, model: SoleModel, *, friction: float = 0.01, torque_error: float = 1e-4, force_error: float = 0.5
    ) -> None:
        for name, value, positive in (
            ("friction", friction, True), ("torque_error", torque_error, True), ("force_error", force_error, True),
        ):  # fmt: skip
            if not math.isfinite(value) or value < 0.0 or (positive and value == 0.0):
                raise ControlError(f"{name} is {value!r}; must be {'> 0' if positive else '>= 0'}", field=name)
        self.model = model
        self._friction, self._torque_error, self._force_error = friction, torque_error, force_error
        n = len(model.hinges)
        self._coordinate = np.array([h.coordinate for h in model.hinges])
        self._ratio = np.array([h.ratio for h in model.hinges])
        self._stiffness = np.array([h.stiffness for h in model.hinges])
        self._combine = np.zeros((len(model.coordinates), n))
        self._combine[self._coordinate, np.arange(n)] = self._ratio
        path = np.zeros((len(model.bodies), n))
        for k, parent in enumerate(model.parents):
            if parent >= 0:
                path[k] = path[parent]
            for j, hinge in enumerate(model.hinges):
                if hinge.body == k:
                    path[k, j] = 1.0
        self._path = path
        self._hinges: list[list[tuple[int, complex]]] = [[] for _ in model.bodies]
        for j, hinge in enumerate(model.hinges):
            self._hinges[hinge.body].append((j, hinge.position))
        self._masses = np.array(model.masses)
        self._centers = np.array(model.centers)
        self._contact_body = np.array([body for body, _ in model.contacts], dtype=np.intp)
        self._contact_point = np.array([point for _, point in model.contacts])
        self._closure_body = tuple(np.array([c[i] for c in model.closures], dtype=np.intp) for i in (0, 2))
        self._closure_point = tuple(np.array([c[i] for c in model.closures], dtype=complex) for i in (1, 3))
        self._levers = np.array([lever for lever, _ in model.tendons]).reshape(-1, n)
        self._slacks = np.array([slack for _, slack in model.tendons])
        self._limits = np.array(model.limits)

    def shape(self, angles: ArrayLike) -> tuple[NDArray[np.complex128], NDArray[np.complex128], NDArray[np.complex128]]:
        """Return origins and turns of the bodies, and the axes of the hinges, in the frame of the root.

        Args:
            angles: one for each coordinate [rad].
        """
        model = self.model
        turned = np.exp(1j * self._ratio * np.asarray(angles, dtype=float)[self._coordinate]).tolist()
        origins: list[complex] = [0j] * len(model.bodies)
        turns: list[complex] = [1 + 0j] * len(model.bodies)
        axes: list[complex] = [0j] * len(model.hinges)
        for k, parent in enumerate(model.parents):
            if parent < 0:
                continue
            origin = origins[parent] + turns[parent] * model.positions[k]
            turn = turns[parent] * complex(math.cos(model.angles[k]), math.sin(model.angles[k]))
            for j, position in self._hinges[k]:
                axis = origin + turn * position
                turn *= turned[j]
                origin = axis - turn * position
                axes[j] = axis
            origins[k], turns[k] = origin, turn
        return np.array(origins), np.array(turns), np.array(axes)

    def center_of_mass(self, angles: ArrayLike) -> complex:
        """Return the centre of mass of the foot in the frame of the root.

        Args:
            angles: one for each coordinate [rad].
        """
        origins, turns, _ = self.shape(angles)
        return complex(self._masses @ (origins + turns * self._centers) / self._masses.sum())

    def _jacobian(self, bodies: NDArray[np.intp], points: NDArray[np.complex128], axes: NDArray[np.complex128]) -> Any:
        """Return the motion of points per radian of every hinge, complex, shape (points, hinges)."""
        return self._path[bodies] * (1j * (points[:, None] - axes[None, :]))

    def estimate(
        self, angles: ArrayLike, *, pitch: float = 0.0, ankle: ArrayLike | None = None, load: float | None = None
    ) -> ContactEstimate:
        """Return the contact forces that hold the foot in its shape.

        Args:
            angles: one for each coordinate [rad].
            pitch: angle of the root against the level, positive with the toes down [rad].
            ankle: what the leg does to the root: force in the axes of the root, x and y [N], and moment about the
                axis of the ankle [N m]; None: not measured.
            load: force of the leg on the root straight down [N], where no wrench is measured; None: not known either,
                the bands tell the size of the forces.

        Raises:
            ControlError: the number of angles is not that of the coordinates.
        """
        model = self.model
        q = np.asarray(angles, dtype=float)
        if q.shape != (len(model.coordinates),) or not np.all(np.isfinite(q)):
            raise ControlError(
                f"angles have the shape {q.shape}; must be {len(model.coordinates)} finite numbers", field="angles"
            )
        origins, turns, axes = self.shape(q)
        down = complex(math.sin(pitch), math.cos(pitch))
        up, forward = -down, -1j * down
        points = origins[self._contact_body] + turns[self._contact_body] * self._contact_point
        if ankle is not None:
            wrench = np.asarray(ankle, dtype=float)
            scale = max(float(np.hypot(wrench[0], wrench[1])), 1.0)
            friction = (
                self._friction + HORIZONTAL_SHARE * abs(wrench[0] * forward.real + wrench[1] * forward.imag) / scale
            )
        else:
            wrench, friction = None, self._friction
            scale = max(abs(load), 1.0) if load is not None else UNKNOWN_LOAD
        unknowns = self._unknowns(q, origins, turns, axes, points, up, forward, scale, friction)
        matrix = np.hstack([u.torques for u in unknowns])
        wholes = np.hstack([u.wholes for u in unknowns])

        hinge_angles = self._ratio * q[self._coordinate]
        centers = origins + turns * self._centers
        weight = GRAVITY * self._masses
        bodies = np.arange(len(origins), dtype=np.intp)
        known = self._combine @ (
            -self._stiffness * hinge_angles + _work(self._jacobian(bodies, centers, axes), down) @ weight
        )
        rows, right = [matrix / (self._torque_error * scale)], [-known / (self._torque_error * scale)]
        if wrench is not None:
            total, about = weight.sum() * down, float((np.conj(centers) * down).imag @ weight)
            error = self._force_error * np.array([1.0, 1.0, FORCE_LEVER])
            rows.append(wholes / error[:, None])
            right.append(-(wrench + np.array([total.real, total.imag, about])) / error)
        elif load is not None:
            downwards = down.real * wholes[0] + down.imag * wholes[1]
            rows.append(downwards[None, :] / self._force_error)
            right.append(np.array([-(load + weight.sum()) / self._force_error]))
        sizes = np.concatenate([u.sizes for u in unknowns])
        bounded = np.concatenate([np.full(len(u.sizes), u.bounded) for u in unknowns])
        solution = _least(np.vstack(rows), np.concatenate(right), sizes, bounded)

        normal, tangential, closure, tension, _ = np.split(solution, np.cumsum([len(u.sizes) for u in unknowns])[:-1])
        forces = normal * up + tangential * forward
        tensions = np.zeros(len(model.tendons))
        tensions[self._taut(hinge_angles)] = tension
        return ContactEstimate(
            normal=normal,
            tangential=tangential,
            closure=closure.reshape(2, -1).T,
            tension=tensions,
            force=np.array([forces.sum().real, forces.sum().imag]),
            moment=float((np.conj(points) * forces).imag.sum()),
            residual=float(np.sqrt(np.mean((known + matrix @ solution) ** 2))),
        )

    def _taut(self, hinge_angles: Array) -> NDArray[np.intp]:
        """Return the numbers of the tendons that may be taut."""
        return np.flatnonzero(self._levers @ hinge_angles > self._slacks - TAUT_MARGIN)

    def _unknowns(
        self,
        q: Array,
        origins: NDArray[np.complex128],
        turns: NDArray[np.complex128],
        axes: NDArray[np.complex128],
        points: NDArray[np.complex128],
        up: complex,
        forward: complex,
        scale: float,
        friction: float,
    ) -> list[_Unknowns]:
        """Return what each kind of unknown does: normal and tangential forces, closures, tendons, stops."""
        model, count = self.model, len(points)
        jacobian = self._jacobian(self._contact_body, points, axes)
        sizes = np.full(count, scale)
        if model.pad is not None:
            # Of the two edges of the heel the lower one stands; see the assumptions of the module.
            rear, front = model.pad
            height = float((np.conj(points[rear] - points[front]) * up).real)
            sizes[rear if height > 0.0 else front] /= 1.0 + (height / PAD_HEIGHT) ** 2

        def on_whole(direction: complex) -> Array:
            one = np.ones(count)
            return np.stack([direction.real * one, direction.imag * one, (np.conj(points) * direction).imag])

        found = [
            _Unknowns(self._combine @ _work(jacobian, up), on_whole(up), sizes, True),
            _Unknowns(self._combine @ _work(jacobian, forward), on_whole(forward), friction * sizes, False),
        ]
        n = len(model.closures)
        one, two = self._closure_body
        first, second = (origins[b] + turns[b] * p for b, p in zip((one, two), self._closure_point, strict=True))
        relative = self._jacobian(one, first, axes) - self._jacobian(two, second, axes)
        both = np.hstack([_work(relative, 1.0 + 0j), _work(relative, 1j)])
        found.append(_Unknowns(self._combine @ both, np.zeros((3, 2 * n)), np.full(2 * n, 3.0 * scale), False))
        taut = self._taut(self._ratio * q[self._coordinate])
        pulls = -self._combine @ self._levers[taut].T
        found.append(_Unknowns(pulls, np.zeros((3, len(taut))), np.full(len(taut), 3.0 * scale), True))
        low = np.flatnonzero(q - self._limits[:, 0] < STOP_MARGIN)
        high = np.flatnonzero(self._limits[:, 1] - q < STOP_MARGIN)
        stops = np.zeros((len(q), len(low) + len(high)))
        stops[low, np.arange(len(low))] = 1.0
        stops[high, len(low) + np.arange(len(high))] = -1.0
        size = np.full(stops.shape[1], MODULE_LENGTH * scale)
        found.append(_Unknowns(stops, np.zeros((3, stops.shape[1])), size, True))
        return found


@dataclass(frozen=True, slots=True)
class _Unknowns:
    """One kind of unknown of the equilibrium."""

    torques: Array
    """Torque of a unit of each on every coordinate, shape (coordinates, unknowns)."""
    wholes: Array
    """Force x, force y and moment of a unit of each on the whole foot, shape (3, unknowns)."""
    sizes: Array
    """Expected size of each [N or N m]."""
    bounded: bool
    """Whether they cannot be negative."""


def _work(jacobian: Array, direction: complex) -> Array:
    """Return the torque of a unit force in a direction on every hinge, shape (hinges, points)."""
    return (np.conj(jacobian) * direction).real.T


def _least(matrix: Array, right: Array, sizes: Array, bounded: NDArray[np.bool_]) -> Array:
    """Return x that minimises |matrix x - right|^2 + |x / sizes|^2 with x >= 0 where it is bounded.

    Block principal pivoting (Portugal, Judice, Vicente 1994): all unknowns that violate their conditions change sides
    at once, and one at a time where that does not converge. The equations are few, so sums are solved in their space.
    """
    scaled = matrix * sizes
    free = np.ones(len(sizes), dtype=bool)
    fewest, chances = len(sizes) + 1, 3
    x = np.zeros(len(sizes))
    for _ in range(10 * len(sizes)):
        part = scaled[:, free]
        system = part @ part.T
        system[np.diag_indices_from(system)] += 1.0
        remainder = np.linalg.solve(system, right)
        gradient = scaled.T @ remainder
        x = np.where(free, gradient, 0.0)
        tolerance = 1e-9 * max(1.0, float(np.abs(x).max()))
        wrong = bounded & np.where(free, x < -tolerance, gradient > tolerance)
        count = int(wrong.sum())
        if count == 0:
            break
        if count < fewest:
            fewest, chances = count, 3
        elif chances:
            chances -= 1
        else:
            wrong[: int(np.flatnonzero(wrong)[-1])] = False
        free ^= wrong
    return np.where(bounded, np.maximum(x, 0.0), x) * sizes

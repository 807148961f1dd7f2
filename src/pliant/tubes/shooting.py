"""One integration of concentric tubes from given angles at the tip, with what it says of base and stability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pliant.base.numerics import Array
from pliant.base.spatial import exp_so3, hat
from pliant.tubes.description import TubesDescription
from pliant.tubes.kernels import ANGLE, BEND, CURVATURE, ENERGY, FORCE, MASS, MOMENT, POSITION, TWIST, integrate

STEP = 0.06
"""Length of a step of the integration times the largest rate of its exponentials; at 1e-11 the fifth order is exact."""
TINY = 1e-30
"""Imaginary step."""
GUIDE = np.linspace(0.0, 1.0, 33)
"""Shares of the guided length at which the determinant is looked at."""


class Tubes(Protocol):
    """Data of a robot for the integration."""

    description: TubesDescription
    """The robot."""
    table: Array
    """Stiffness against bending and torsion, curvature, mass per length of each tube, shape (4, N)."""

    @property
    def count(self) -> int:
        """Number of tubes."""
        ...


@dataclass(frozen=True, slots=True)
class Tip:
    """Unknowns of an equilibrium: what the tubes have at their ends."""

    rotation: Array
    """Frame without torsion at the tip, shape (3, 3)."""
    angles: Array
    """Angle of each tube at its end against this frame, shape (N,) [rad]."""

    def moved(self, step: Array) -> Tip:
        """Return the state turned by ``step``: rotation vector in the world, then angles, shape (3 + N,) [rad]."""
        return Tip(exp_so3(step[:3]) @ self.rotation, self.angles + step[3:])


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """States from the tip to the guide's end.

    Column k is differentiated by the k-th input: turn of the tip's frame (3), angles at the ends (N), translations (N),
    force (3), moment (3).
    """

    tip: Tip
    """Its begin."""
    s: Array
    """Places, from the tip to 0, shape (K,) [m]."""
    states: NDArray[np.complex128]
    """States, shape (columns, K, 19 + 2 N), complex."""
    shift: Array
    """Derivative of the translations by the inputs, shape (columns, N)."""

    @property
    def _size(self) -> int:
        return (self.states.shape[2] - ANGLE) // 2

    @property
    def rotation(self) -> Array:
        """Frames, shape (columns, K, 3, 3)."""
        flat = self.states[..., :9].real
        return np.swapaxes(flat.reshape(*flat.shape[:2], 3, 3), 2, 3)

    @property
    def position(self) -> Array:
        """Places against the tip, shape (columns, K, 3) [m]."""
        return self.states[..., POSITION : POSITION + 3].real

    @property
    def angles(self) -> Array:
        """Angles of the tubes, shape (columns, K, N) [rad]."""
        return self.states[..., ANGLE : ANGLE + self._size].real

    @property
    def torques(self) -> Array:
        """Torsional moments, shape (columns, K, N) [N m]."""
        return self.states[..., ANGLE + self._size :].real

    def base_angles(self, robot: Tubes, beta: Array) -> Array:
        """Return the angles of the tubes' bases, shape (N,) [rad]; in the guide the torque is constant."""
        return self.angles[0, -1] + beta * self.torques[0, -1] / robot.table[TWIST]

    def _turns(self) -> Array:
        """Return the derivatives of frames, in the world, and of angles, shape (K, 3 + N, columns)."""
        rate = self.states.imag / TINY
        dR = np.swapaxes(rate[..., :9].reshape(*rate.shape[:2], 3, 3), 2, 3)
        spin = dR @ np.swapaxes(self.rotation, 2, 3)
        turn = np.stack([spin[..., 2, 1], spin[..., 0, 2], spin[..., 1, 0]], axis=-1)
        both = np.concatenate([turn, rate[..., ANGLE : ANGLE + self._size]], axis=-1)
        return np.moveaxis(both, 0, -1)

    def rates(self, robot: Tubes, beta: Array) -> tuple[Array, Array]:
        """Return the derivatives of what is open at the base, shape (3 + N, columns), and of the tip's place."""
        N = self._size
        rate = self.states[:, -1].imag / TINY
        out = self._turns()[-1].copy()
        out[3:] += (beta * rate[:, ANGLE + N :] / robot.table[TWIST]).T
        out[3:] += (self.shift * self.torques[0, -1] / robot.table[TWIST]).T
        return out, -rate[:, POSITION : POSITION + 3].T

    def tangent(self, robot: Tubes, beta: Array) -> Array:
        """Return the derivative of what is open at the base by the unknowns, shape (3 + N, 3 + N)."""
        return self.rates(robot, beta)[0][:, : 3 + self._size]

    def stability(self, robot: Tubes, beta: Array) -> tuple[int, float]:
        """Return the number of conjugate points between tip and base, with multiplicity, and the determinant."""
        N = self._size
        turns = self._turns()[..., : 3 + N]
        soft = np.zeros((3 + N, 3 + N))
        soft[3:] = (beta * self.states[: 3 + N, -1, ANGLE + N :].imag / TINY / robot.table[TWIST]).T
        guided = turns[-1] + GUIDE[1:, None, None] * soft
        every = np.concatenate([turns, guided])
        # The field at one place by that at the place before: near 1, and negative where a direction has passed zero.
        before = every[:-1] + 1e-14 * np.eye(3 + N)
        ratio = np.linalg.eigvals(
            np.swapaxes(np.linalg.solve(np.swapaxes(before, 1, 2), np.swapaxes(every[1:], 1, 2)), 1, 2)
        )
        return int(np.sum(ratio.real < 0.0)), float(np.linalg.det(every[-1]))

    def energy(self, robot: Tubes, beta: Array, wrench: Array) -> float:
        """Return elastic energy less the work of the tip's force and of the weight [J], without that of a moment."""
        last = self.states[0, -1].real
        weight = last[FORCE : FORCE + 3] - wrench[:3]
        torque = self.torques[0, -1]
        guide = 0.5 * float(np.sum(-beta * torque**2 / robot.table[TWIST]))
        return float(-last[ENERGY] + last[POSITION : POSITION + 3] @ (wrench[:3] + weight)) + guide


def shoot(
    robot: Tubes, tip: Tip, beta: Array, wrench: Array, *, weight: bool = True, columns: int | None = None
) -> Shot:
    """Integrate the tubes from their ends to the guide's end.

    Args:
        robot: the tubes.
        tip: frame and angles at the ends.
        beta: places of the bases, shape (N,) [m].
        wrench: dead force and moment at the tip, shape (6,) [N, N m].
        weight: whether the tubes are heavy.
        columns: number of inputs to differentiate by; None: the unknowns.
    """
    d, N = robot.description, robot.count
    columns = 3 + N if columns is None else columns
    inputs = 1j * TINY * np.eye(columns, 3 + 2 * N + 6)
    y = np.zeros((columns, ANGLE + 2 * N), dtype=np.complex128)
    load = wrench + inputs[:, 3 + 2 * N :]
    for c in range(columns):
        R = tip.rotation + 1j * hat(inputs[c, :3].imag) @ tip.rotation
        y[c, :9] = R.T.ravel()
    y[:, ANGLE : ANGLE + N] = tip.angles + inputs[:, 3 : 3 + N]
    y[:, FORCE : FORCE + 3], y[:, MOMENT : MOMENT + 3] = load[:, :3], load[:, 3:]
    y[:, ANGLE + N] = (y[:, 6:9] * load[:, 3:]).sum(axis=1)
    place = beta + inputs[:, 3 + N : 3 + 2 * N]
    length = np.array([tube.length for tube in d.tubes])
    begin = length - np.array([tube.curved_length for tube in d.tubes])
    # Ends before begins, tube 0 first: where they coincide, the piece between has no length.
    cuts = np.hstack([place + length, place + begin])
    order = np.argsort(-cuts[0].real, kind="stable")
    order = order[cuts[0, order].real > 1e-12]
    rank = np.full(2 * N, len(order))
    rank[order] = np.arange(len(order))
    pieces = np.arange(len(order))[:, None]
    active, curved = pieces >= rank[:N], (pieces >= rank[:N]) & (pieces < rank[N:])
    cuts = np.ascontiguousarray(np.hstack([cuts[:, order], np.zeros((columns, 1))]))
    steps = _steps(robot, -np.diff(cuts[0].real), active, wrench)
    out = np.empty((columns, int(steps.sum()) + 1, y.shape[1]), dtype=np.complex128)
    gravity = np.asarray(d.gravity if weight else (0.0, 0.0, 0.0), dtype=float)
    integrate(y, cuts, steps, active, curved, robot.table, gravity, out)
    s = np.concatenate(
        [cuts[0, :1].real]
        + [np.linspace(a, b, n + 1)[1:] for a, b, n in zip(cuts[0, :-1].real, cuts[0, 1:].real, steps, strict=True)]
    )
    return Shot(tip=tip, s=s, states=out, shift=(place - beta).imag / TINY)


def _steps(robot: Tubes, lengths: Array, active: NDArray[np.bool_], wrench: Array) -> NDArray[np.int64]:
    """Return the number of steps of each piece."""
    bend, twist, curvature, mass = (robot.table[row] for row in (BEND, TWIST, CURVATURE, MASS))
    gravity = float(np.linalg.norm(robot.description.gravity))
    out = []
    for length, alive in zip(lengths, active, strict=True):
        stiffness = float(bend[alive].sum())
        pull = float(np.linalg.norm(wrench[:3])) + gravity * float((mass * alive).sum() * lengths.sum())
        rate = float((curvature * np.sqrt(bend / twist))[alive].max()) + float(curvature.max())
        rate += np.sqrt(pull / stiffness) + float(np.linalg.norm(wrench[3:])) / stiffness
        out.append(1 if length < 1e-12 else max(2, int(np.ceil(length * rate / STEP))))
    return np.array(out, dtype=np.int64)

"""The spring of a compliant actuator as a cubic spline of its deflection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.base.errors import ModelError
from pliant.base.numerics import Array
from pliant.laws import SEA, CompliantActuator

KNOTS = (0.2, 0.4, 0.6, 0.8)
"""Knots of a spline on each side, as fractions of the largest deflection. Knots closer to the end halve the largest
error of the torque and make the stiffness near rest wrong by up to a half."""
WIDE = 1.0e3
"""End of a dead band that is never reached [rad]."""
POINTS = 401
"""Deflections at which a law is evaluated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpringFit:
    """Torque on the link over the deflection x [rad] as tendons of MuJoCo have it, with the distance d_i to a band:

    -(k_0 e + k_1 e^2 + k_2 e^3 + sum c_i d_i^3),    e = x - rest

    d_i = x - high_i above, x - low_i below, 0 inside the band i
    """

    stiffness: tuple[float, float, float]
    """k_0 [N m/rad], k_1 [N m/rad^2], k_2 [N m/rad^3]."""
    rest: float = 0.0
    """Deflection without torque [rad]: 0 but for unequal springs."""
    bands: tuple[tuple[float, float, float], ...] = ()
    """(low_i [rad], high_i [rad], c_i [N m/rad^3]) of the dead bands: the knots of the spline."""
    limit: float
    """Largest deflection [rad] of the law, or of the range of the fit."""
    beyond: float = 0.0
    """Slope beyond ``limit`` [N m/rad]; 0 where the torque stays constant."""
    exact: bool = True
    """Whether the law is this spring."""
    preset: float = 0.0
    """Preset of the fit, in its unit of the law."""
    error: float = 0.0
    """Largest difference to the torque of the law in the range [N m]."""
    torque: float = 0.0
    """Largest torque of the law in the range [N m]."""

    def describe(self) -> str:
        """Return the fit in words: range, preset, largest error."""
        kind = "a cubic spline" if self.bands else "a cubic polynomial" if any(self.stiffness[1:]) else "a line"
        percent = 100.0 * self.error / self.torque if self.torque > 0.0 else 0.0
        return (
            f"{kind} fitted at the preset {self.preset:g} for deflections up to {self.limit:.4g} rad: largest error "
            f"{self.error:.3g} N m, {percent:.2g} % of the largest torque {self.torque:.3g} N m"
        )


NO_SPRING = SpringFit(stiffness=(0.0, 0.0, 0.0), limit=0.0)
"""The spring of the modes that have none."""


def fit_spring(actuator: CompliantActuator) -> SpringFit:
    """Return the spring of an actuator at its initial preset.

    A `SEA` is exact. The torque of another law over the deflections in which none of its springs is clipped is
    approximated with the least squares of the error at Chebyshev nodes: by a cubic spline, and in the modes with ideal
    motors by a line, because MuJoCo's servos are linear.

    Raises:
        ModelError: no deflection is left at the preset.
    """
    law = actuator.law
    if type(law) is SEA:
        return SpringFit(stiffness=(law.k, 0.0, 0.0), limit=law.max_deflection, beyond=law.stop)
    preset = float(actuator.initial_preset or 0.0)
    limit = float(getattr(law, "max_deflection", 0.5))
    if law.second_input == "angle":
        limit -= abs(preset)
    if limit <= 0.0:
        raise ModelError(
            f"the preset {preset:g} rad deflects the springs of {law.label} to their limit; nothing is left to fit; "
            "set a smaller initial_preset",
            field="initial_preset",
        )
    th_1, th_2 = law.map_references(0.0, preset)
    nodes = limit * np.cos(np.pi * (np.arange(POINTS) + 0.5) / POINTS)
    spline = actuator.mode.has_motors
    wanted = np.asarray(law.evaluate(nodes, th_1, th_2).torque)
    symmetric = bool(np.abs(wanted + wanted[::-1]).max() < 1e-9 * np.abs(wanted).max())
    bands = _bands(limit, symmetric) if spline else []
    # The torque rises along the nodes, which fall. A servo rests at its reference.
    rest = float(np.interp(0.0, wanted, nodes)) if spline and not symmetric else 0.0
    powers = ((1, 3) if symmetric else (1, 2, 3)) if spline else (1,)
    found, *_ = np.linalg.lstsq(_basis(nodes, rest, powers, bands), wanted, rcond=None)
    stiffness = np.zeros(3)
    stiffness[np.array(powers) - 1] = found[: len(powers)]
    x = np.linspace(-limit, limit, 2 * POINTS + 1)
    torque = np.asarray(law.evaluate(x, th_1, th_2).torque)
    fitted = _basis(x, rest, powers, bands) @ found
    return SpringFit(
        stiffness=(float(stiffness[0]), float(stiffness[1]), float(stiffness[2])),
        rest=rest,
        bands=tuple((low, high, float(c)) for (low, high), c in zip(bands, found[len(powers) :])),
        limit=limit,
        exact=False,
        preset=preset,
        error=float(np.abs(torque - fitted).max()),
        torque=float(np.abs(torque).max()),
    )


def _bands(limit: float, symmetric: bool) -> list[tuple[float, float]]:
    """Return the dead bands of the knots; a symmetric spring has one for both sides."""
    knots = [fraction * limit for fraction in KNOTS]
    if symmetric:
        return [(-knot, knot) for knot in knots]
    return [(-WIDE, knot) for knot in knots] + [(-knot, WIDE) for knot in knots]


def _basis(x: Array, rest: float, powers: Sequence[int], bands: Sequence[tuple[float, float]]) -> Array:
    """Return the torque on the link per coefficient, shape (len(x), n)."""
    outside = [np.maximum(0.0, x - high) + np.minimum(0.0, x - low) for low, high in bands]
    return np.stack([*(-((x - rest) ** n) for n in powers), *(-(d**3) for d in outside)], axis=1)

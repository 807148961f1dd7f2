"""The spring of a compliant actuator as a polynomial of its deflection."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.base.errors import ModelError
from pliant.laws import SEA, CompliantActuator

__all__ = ["NO_SPRING", "SpringFit", "fit_spring"]

POINTS = 401
"""Deflections at which a law is evaluated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpringFit:
    """Torque on the link -(k_0 x + k_1 x^2 + k_2 x^3) over the deflection x [rad], as a tendon of MuJoCo has it."""

    stiffness: tuple[float, float, float]
    """k_0 [N m/rad], k_1 [N m/rad^2], k_2 [N m/rad^3]."""
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
        kind = "a cubic polynomial" if any(self.stiffness[1:]) else "a line"
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
    approximated with the least squares of the error at Chebyshev nodes: by a cubic polynomial, and in the modes with
    ideal motors by a line, because MuJoCo's servos are linear.

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
    powers = (1, 2, 3) if actuator.mode.has_motors else (1,)
    basis = np.stack([-(nodes**n) for n in powers], axis=1)
    wanted = np.asarray(law.evaluate(nodes, th_1, th_2).torque)
    found, *_ = np.linalg.lstsq(basis, wanted, rcond=None)
    stiffness = np.zeros(3)
    stiffness[: len(powers)] = found
    # The coefficient of an even power of a symmetric spring is rounding.
    stiffness[np.abs(stiffness) * limit ** np.arange(3) < 1e-9 * np.abs(stiffness[0])] = 0.0
    x = np.linspace(-limit, limit, 2 * POINTS + 1)
    torque = np.asarray(law.evaluate(x, th_1, th_2).torque)
    fitted = -(stiffness[0] * x + stiffness[1] * x**2 + stiffness[2] * x**3)
    return SpringFit(
        stiffness=(float(stiffness[0]), float(stiffness[1]), float(stiffness[2])),
        limit=limit,
        exact=False,
        preset=preset,
        error=float(np.abs(torque - fitted).max()),
        torque=float(np.abs(torque).max()),
    )

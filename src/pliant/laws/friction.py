"""Presliding friction: elasto-plastic bristle, the limiting case of Dahl's model."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.base.errors import LawError
from pliant.base.options import check_values, option

__all__ = ["PreslidingFriction"]


@dataclass(frozen=True, slots=True)
class PreslidingFriction:
    """Rate-independent friction with presliding (Hayward and Armstrong 2000, after Dahl 1968).

    An anchor w follows the position x such that the deflection of the bristle, x - w, never exceeds z_max = F / K in
    magnitude. The friction is K (x - w), opposes the motion and is at most F. The model is passive and stores
    K (x - w)^2 / 2 [J] in the bristle. With

        F = torque + load_coefficient |load| + preset_coefficient |preset|

    it also depends on the transmitted load and on the stiffness preset, as measured on variable stiffness actuators.
    Both coefficients are 0 in the original toolbox.
    """

    torque: float = option(0.02, unit="N m", low=0.0, source="the toolbox's actuators")
    """Coulomb friction F at zero load; on a lever drive a force [N]."""
    stiffness: float = option(1000.0, unit="N m/rad", low=0.0, above=True, source="the toolbox, for every motor")
    """Presliding stiffness K."""
    load_coefficient: float = option(0.0, low=0.0)
    """Increase of F per magnitude of the transmitted load [N m per N m]."""
    preset_coefficient: float = option(0.0, unit="N m/rad", low=0.0)
    """Increase of F per magnitude of the stiffness preset."""

    def __post_init__(self) -> None:
        check_values(self, LawError)

    def step(self, position: float, anchor: float, load: float = 0.0, preset: float = 0.0) -> tuple[float, float]:
        """Advance the anchor and return the friction.

        Args:
            position: position x at the end of the step [rad].
            anchor: anchor w at the start of the step [rad].
            load: transmitted load [N m].
            preset: stiffness preset [rad].

        Returns:
            (anchor, friction): the new anchor [rad] and the friction torque that opposes the motion [N m].
        """
        from pliant.laws import kernels

        level = self.torque + self.load_coefficient * abs(load) + self.preset_coefficient * abs(preset)
        anchor = kernels.slide(position, anchor, level / self.stiffness)
        return anchor, self.stiffness * (position - anchor)

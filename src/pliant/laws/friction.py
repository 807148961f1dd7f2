"""Presliding friction: elasto-plastic bristle, the limiting case of Dahl's model."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.base.errors import LawError
from pliant.base.options import check_values, option


@dataclass(frozen=True, slots=True)
class PreslidingFriction:
    """Rate-independent friction with presliding (Hayward and Armstrong 2000, after Dahl 1968).

    An anchor w follows the position x such that the deflection of the bristle, x - w, never exceeds z_max = F / K in
    magnitude. The friction is K (x - w), opposes the motion and is at most F. The model is passive and stores
    K (x - w)^2 / 2 [J] in the bristle. With

        F = torque + load_coefficient |load| + preset_coefficient |preset|

    it also depends on the transmitted load and on the stiffness preset, as measured on variable stiffness actuators.
    Both coefficients are 0 in the original toolbox.

    With ``stribeck_velocity`` > 0 the bristle is that of the LuGre model (Canudas de Wit, Olsson, Astrom and
    Lischinsky 1995, IEEE Transactions on Automatic Control 40(3), equations 1 to 4): with z = x - w and the speed v,

        dz/dt = v - K |v| z / g(v),    g(v) = F + breakaway exp(-(v / stribeck_velocity)^2)
        friction = K z + bristle_damping dz/dt

    Steady sliding gives g(v): the friction falls from F + breakaway at rest to F. Unlike the elasto-plastic bristle,
    LuGre's drifts under an oscillating load below F. The step is implicit in z, so that every time step is stable.
    """

    torque: float = option(0.02, unit="N m", low=0.0, source="the toolbox's actuators")
    """Coulomb friction F at zero load; on a lever drive a force [N]."""
    stiffness: float = option(1000.0, unit="N m/rad", low=0.0, above=True, source="the toolbox, for every motor")
    """Presliding stiffness K."""
    load_coefficient: float = option(0.0, low=0.0)
    """Increase of F per magnitude of the transmitted load [N m per N m]."""
    preset_coefficient: float = option(0.0, unit="N m/rad", low=0.0)
    """Increase of F per magnitude of the stiffness preset."""
    stribeck_velocity: float = option(0.0, unit="rad/s", low=0.0)
    """Speed at which the Stribeck effect has fallen to 1/e; 0 for the elasto-plastic bristle, > 0 for LuGre's."""
    breakaway: float = option(0.0, unit="N m", low=0.0)
    """Friction at rest beyond F, with ``stribeck_velocity``."""
    bristle_damping: float = option(0.0, unit="N m s/rad", low=0.0)
    """Damping of the bristle (sigma_1), with ``stribeck_velocity``."""

    def __post_init__(self) -> None:
        check_values(self, LawError)
        for name in ("breakaway", "bristle_damping"):
            if getattr(self, name) > 0.0 and self.stribeck_velocity == 0.0:
                raise LawError(
                    f"PreslidingFriction: {name} is {getattr(self, name):g} and stribeck_velocity is 0; "
                    "set stribeck_velocity > 0 [rad/s] for the LuGre model",
                    field=name,
                )
        if self.stribeck_velocity > 0.0 and self.torque == 0.0:
            raise LawError(
                "PreslidingFriction: stribeck_velocity needs a Coulomb friction; torque must be > 0 [N m]",
                field="torque",
            )

    def step(
        self,
        position: float,
        anchor: float,
        load: float = 0.0,
        preset: float = 0.0,
        velocity: float = 0.0,
        dt: float = 1.0e-3,
    ) -> tuple[float, float]:
        """Advance the anchor and return the friction.

        Args:
            position: position x at the end of the step [rad].
            anchor: anchor w at the start of the step [rad].
            load: transmitted load [N m].
            preset: stiffness preset [rad].
            velocity: velocity of x [rad/s], of which only LuGre's bristle depends.
            dt: time step of LuGre's bristle [s].

        Returns:
            (anchor, friction): the new anchor [rad] and the friction torque that opposes the motion [N m].
        """
        from pliant.laws import friction_kernels as kernels
        from pliant.laws.layout import F_PARAMETERS, pack_friction

        par = [0.0] * F_PARAMETERS
        pack_friction(par, 0, self)
        level = kernels.friction_level(par, 0, load, preset)
        return kernels.friction_step(par, 0, position, velocity, anchor, level, dt)

"""Options that the benches and arms share, and the actuators that they describe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pliant.base.options import option

if TYPE_CHECKING:
    from pliant.laws import CompliantActuator, Law


@dataclass(frozen=True, slots=True, kw_only=True)
class JointOptions:
    """Common options of all benches and arms."""

    damping: float = option(
        0.065, unit="N m s/rad", low=0.0, high=1000.0, source="Mengacci et al. 2021, section 4.2; for 4.1 assumed"
    )
    """Viscous damping of the bearing of each joint."""
    friction: float = option(0.0, unit="N m", low=0.0, high=1000.0, source="URDF templates of the toolbox")
    """Coulomb friction of each bearing, with presliding."""
    friction_stiffness: float = option(100.0, unit="N m/rad", low=1e-3, high=1e6, source="assumed")
    """Presliding stiffness of that friction."""
    mode: int = option(3, low=0, high=6, source="Mengacci et al. 2021, section 4.1")
    """Operation mode of the actuators, 0 to 6."""
    timestep: float = option(0.0005, unit="s", low=1e-7, high=0.1, source="assumed: the paper prints none")
    """Length of a simulation step."""
    realistic: bool = option(False, source="pliant.joints.realism names that of each value")
    """Whether motors and springs have the blocks of `pliant.joints.realism`: current, temperature, cogging, elastic
    gears, backlash, hysteresis. Modes 2 and 3, whose motors are ideal, become 5 and 6."""


def actuator(law: Law, options: JointOptions, preset: float | None = None) -> CompliantActuator:
    """Return an actuator in the mode and with the link friction of the options.

    Args:
        law: the law.
        options: the robot's options.
        preset: stiffness preset before the first command; None for a law that has none.
    """
    from pliant.joints.realism import realistic
    from pliant.laws import CompliantActuator, Mode, PreslidingFriction

    friction = None
    if options.friction > 0.0:
        friction = PreslidingFriction(torque=options.friction, stiffness=options.friction_stiffness)
    made = CompliantActuator(law, mode=Mode(options.mode), initial_preset=preset, link_friction=friction)
    return realistic(made) if options.realistic else made

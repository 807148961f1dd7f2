"""Settings of the walking controller: the gait, the stabiliser, the joints."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pliant.base.options import option

REFERENCE_MASS = 30.7
"""Mass of the robot for which the defaults were chosen, the catalogue's biped [kg]."""
REFERENCE_HEIGHT = 0.583
"""Height of its centre of mass above the ground [m]."""
REFERENCE_SPACING = 0.16
"""Lateral distance of its feet [m]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkSettings:
    """Settings of the gait and of the stabiliser. The same hold for every foot."""

    step_length: float = option(0.15, unit="m", low=-0.3, high=0.4, source="assumed")
    """Length of a step; 0 steps in place."""
    single_support: float = option(0.7, unit="s", low=0.2, high=2.0, source="assumed")
    """Time on one foot."""
    double_support: float = option(0.15, unit="s", low=0.02, high=2.0, source="assumed")
    """Time in which the centre of pressure goes from one foot to the other."""
    first_support: float = option(0.8, unit="s", low=0.1, high=5.0, source="assumed")
    """Time on both feet before the first step."""
    lift: float = option(0.07, unit="m", low=0.01, high=0.2, source="assumed")
    """Height of the swinging sole over the stance sole."""
    toe_up: float = option(0.15, unit="rad", low=-0.3, high=0.5, source="assumed")
    """Pitch of the swinging foot, toe up, in the middle of the swing."""
    rise: float = option(0.12, low=0.0, high=0.5, source="assumed")
    """Fraction of the swing in which the foot only rises and turns its toe up, before it goes forward."""
    center_of_pressure: float = option(0.03, unit="m", low=-0.1, high=0.15, source="assumed")
    """Reference of the centre of pressure ahead of the ankle."""
    support_back: float = option(-0.03, unit="m", low=-0.2, high=0.0, source="assumed")
    """Hindmost centre of pressure that the stabiliser asks for, ahead of the ankle."""
    support_front: float = option(0.09, unit="m", low=0.0, high=0.3, source="assumed")
    """Foremost centre of pressure that the stabiliser asks for, ahead of the ankle."""
    support_side: float = option(0.03, unit="m", low=0.0, high=0.2, source="assumed")
    """Largest lateral centre of pressure that the stabiliser asks for."""
    dcm_rate: float = option(6.0, unit="1/s", low=0.0, high=100.0, source="assumed")
    """Rate at which an error of the divergent component of motion decays."""
    max_adjustment: float = option(0.3, unit="m", low=0.0, high=0.5, source="assumed")
    """Largest change of a foothold by the stabiliser."""
    min_spacing: float = option(0.13, unit="m", low=0.0, high=1.0, source="assumed")
    """Least lateral distance of the feet."""
    height_stiffness: float = option(60.0, low=0.0, high=1e4, source="assumed")
    """Acceleration of the centre of mass for an error of its height [1/s^2]."""
    height_damping: float = option(12.0, unit="1/s", low=0.0, high=1e3, source="assumed")
    """Acceleration of the centre of mass for its vertical velocity."""
    posture_stiffness: float = option(250.0, unit="N m/rad", low=0.0, high=1e4, source="assumed")
    """Moment about the centre of mass for an inclination of the base."""
    posture_damping: float = option(40.0, unit="N m s/rad", low=0.0, high=1e3, source="assumed")
    """Moment about the centre of mass for the angular velocity of the base."""
    ankle_stiffness: float = option(100.0, unit="N m/rad", low=0.0, high=5000.0, source="assumed")
    """Stiffness of a loaded ankle towards a level foot, beside the torque for the centre of pressure, as a joint
    impedance controller has it; with 0 the ground turns the foot freely."""
    ankle_damping: float = option(2.0, unit="N m s/rad", low=0.0, high=100.0, source="assumed")
    """Damping of the joints of a loaded leg."""
    swing_stiffness: float = option(400.0, unit="N m/rad", low=0.0, high=1e4, source="assumed")
    """Stiffness of the joints of the swinging leg, of torso and arms."""
    swing_damping: float = option(18.0, unit="N m s/rad", low=0.0, high=1e3, source="assumed")
    """Damping of these joints."""
    swing_frequency: float = option(0.0, unit="rad/s", low=0.0, high=1e3, source="assumed")
    """If positive, each of these joints has the stiffness I w^2 and the damping 2 I w instead, where w is this
    frequency and I the inertia that the joint's motor feels when all else is free."""
    contact_force: float = option(30.0, unit="N", low=0.0, high=1e4, source="assumed")
    """Vertical force at which touchdown of a swinging foot is detected."""


def scaled_settings(*, mass: float, height: float, spacing: float, sole: tuple[float, float, float]) -> WalkSettings:
    """Return the settings of a robot of another size than the one that the defaults were chosen for.

    Two robots walk alike if their lengths are in the ratio of the heights of the centre of mass, their times in the
    ratio of the square roots of these (the pendulum's omega T stays), and their forces in the ratio of the weights.
    What follows from the foot, the limits of the centre of pressure, is taken from its sole.

    Args:
        mass: of the robot [kg].
        height: of its centre of mass above the ground [m].
        spacing: lateral distance of the feet [m].
        sole: hindmost and foremost point of the sole ahead of the ankle, and half of its width [m].

    Returns:
        Settings with the reference in the middle of the sole and 0.6 of the sole around it for the stabiliser.
    """
    base = WalkSettings()
    length, weight = height / REFERENCE_HEIGHT, mass / REFERENCE_MASS
    time = math.sqrt(length)
    back, front, side = sole
    middle, half = 0.5 * (back + front), 0.5 * (front - back)
    return WalkSettings(
        step_length=base.step_length * length,
        single_support=base.single_support * time,
        double_support=base.double_support * time,
        first_support=base.first_support * time,
        lift=base.lift,  # an obstacle does not grow with the robot
        toe_up=base.toe_up,
        rise=base.rise,
        center_of_pressure=middle,
        support_back=middle - 0.6 * half,
        support_front=middle + 0.6 * half,
        support_side=0.6 * side,
        dcm_rate=base.dcm_rate / time,
        max_adjustment=base.max_adjustment * length,
        min_spacing=base.min_spacing * spacing / REFERENCE_SPACING,
        height_stiffness=base.height_stiffness / length,
        height_damping=base.height_damping / time,
        posture_stiffness=base.posture_stiffness * weight * length,
        posture_damping=base.posture_damping * weight * length * time,
        ankle_stiffness=base.ankle_stiffness * weight * length,
        ankle_damping=base.ankle_damping * weight * length * time,
        swing_frequency=90.0 / time,
        contact_force=base.contact_force * weight,
    )

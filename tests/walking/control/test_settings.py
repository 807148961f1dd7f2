"""Settings of the walk for robots of other sizes: the rules of dynamic similarity."""

import dataclasses
import math

import pytest

from pliant.walking.control.settings import (
    REFERENCE_HEIGHT,
    REFERENCE_MASS,
    REFERENCE_SPACING,
    WalkSettings,
    scaled_settings,
)

SOLE = (-0.07, 0.13, 0.05)
"""That of the biped."""


def scaled(length=1.0, weight=1.0):
    return scaled_settings(
        mass=weight * REFERENCE_MASS,
        height=length * REFERENCE_HEIGHT,
        spacing=length * REFERENCE_SPACING,
        sole=(length * SOLE[0], length * SOLE[1], length * SOLE[2]),
    )


def test_a_robot_of_the_size_of_the_biped_gets_the_defaults():
    same, default = dataclasses.asdict(scaled()), dataclasses.asdict(WalkSettings())
    assert same.pop("swing_frequency") > 0.0 == default.pop("swing_frequency")
    assert same == pytest.approx(default)


@pytest.mark.parametrize(("length", "weight"), [(1.5, 3.0), (0.5, 0.2)])
def test_dimensionless_numbers_do_not_depend_on_the_size(length, weight):
    def numbers(s, length, weight):
        g, m, h = 9.81, weight * REFERENCE_MASS, length * REFERENCE_HEIGHT
        omega = math.sqrt(g / h)
        return {
            "step": s.step_length / h,
            "back": s.support_back / h,
            "front": s.support_front / h,
            "side": s.support_side / h,
            "adjustment": s.max_adjustment / h,
            "spacing": s.min_spacing / h,
            "single": omega * s.single_support,
            "double": omega * s.double_support,
            "first": omega * s.first_support,
            "dcm": s.dcm_rate / omega,
            "height": s.height_stiffness / omega**2,
            "height damping": s.height_damping / omega,
            "posture": s.posture_stiffness / (m * g * h),
            "posture damping": s.posture_damping * omega / (m * g * h),
            "ankle": s.ankle_stiffness / (m * g * h),
            "ankle damping": s.ankle_damping * omega / (m * g * h),
            "swing": s.swing_frequency / omega,
            "contact": s.contact_force / (m * g),
        }

    assert numbers(scaled(length, weight), length, weight) == pytest.approx(numbers(scaled(), 1.0, 1.0))


def test_the_limits_of_the_centre_of_pressure_lie_within_the_sole():
    settings = scaled_settings(mass=90.0, height=0.88, spacing=0.17, sole=(-0.1, 0.12, 0.07))
    assert settings.center_of_pressure == pytest.approx(0.01)
    assert (settings.support_back, settings.support_front) == pytest.approx((0.01 - 0.066, 0.01 + 0.066))
    assert settings.support_side == pytest.approx(0.042)


def test_the_height_of_a_step_does_not_grow_with_the_robot():
    assert scaled(2.0, 8.0).lift == WalkSettings().lift

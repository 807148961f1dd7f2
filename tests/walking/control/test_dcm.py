"""The divergent component of motion: against its differential equation, and what the formulas promise."""

import math

import pytest

from pliant.walking.control import dcm

OMEGA = 4.1


def integrated(xi, segments, omega=OMEGA, steps=20000):
    """Return the DCM at the end of a plan, by the midpoint rule on xi' = omega (xi - p)."""
    for duration, first, last in segments:
        dt = duration / steps
        for k in range(steps):
            middle = xi + 0.5 * dt * omega * (xi - (first + (last - first) * k / steps))
            xi += dt * omega * (middle - (first + (last - first) * (k + 0.5) / steps))
    return xi


def test_a_plan_that_starts_at_its_reference_ends_over_its_last_centre_of_pressure():
    plan = [(0.15, 0.0, 0.1), (0.6, 0.1, 0.1), (0.15, 0.1, 0.3), (0.2, 0.3, 0.25)]
    assert integrated(dcm.reference(plan, OMEGA), plan) == pytest.approx(0.25, abs=1e-5)


def test_a_plan_may_end_with_a_dcm_that_is_given():
    plan = [(0.3, 0.0, 0.05), (0.4, 0.05, 0.05)]
    assert integrated(dcm.reference(plan, OMEGA, 0.12), plan) == pytest.approx(0.12, abs=1e-5)


def test_a_segment_without_duration_changes_nothing():
    plan = [(0.3, 0.0, 0.05), (0.0, 0.05, 0.2), (0.4, 0.2, 0.2)]
    assert dcm.reference(plan, OMEGA) == dcm.reference([plan[0], plan[2]], OMEGA)


def test_the_periodic_gait_has_the_offset_of_the_textbook():
    # Khadiv et al. 2020: with instant changes of support xi - p = L / (exp(omega T) - 1) at the start of a step.
    length, duration = 0.2, 0.7
    plan = [(duration, k * length, k * length) for k in range(12)]
    assert dcm.reference(plan, OMEGA) == pytest.approx(length / math.expm1(OMEGA * duration), rel=1e-6)


def test_the_feedback_lets_an_error_decay_at_its_rate():
    xi, ref, p_ref, rate, dt = 0.05, 0.02, 0.0, 6.0, 1e-5
    for _ in range(20000):
        p = dcm.feedback(xi, ref, p_ref, OMEGA, rate)
        xi += dt * OMEGA * (xi - p)
        ref += dt * OMEGA * (ref - p_ref)
    assert xi - ref == pytest.approx(0.03 * math.exp(-rate * 0.2), rel=1e-3)


def test_the_correcting_offset_ends_the_error_in_time():
    shift = dcm.correcting_offset(0.01, OMEGA, 0.3)
    assert integrated(0.01, [(0.3, shift, shift)]) == pytest.approx(0.0, abs=1e-6)


def test_an_error_that_the_foot_can_correct_leaves_nothing_for_the_step():
    assert dcm.unreachable_error(0.01, -0.05, 0.05, OMEGA, 0.3) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_the_foot_cannot_correct_is_left_for_the_step(sign):
    left = dcm.unreachable_error(sign * 0.06, -0.04, 0.04, OMEGA, 0.3)
    end = integrated(sign * 0.06, [(0.3, sign * 0.04, sign * 0.04)])
    assert left == pytest.approx(end, abs=1e-6)
    assert sign * left > 0.03


def test_at_the_touchdown_the_whole_error_is_left():
    assert dcm.unreachable_error(0.02, -0.04, 0.04, OMEGA, 0.0) == 0.02

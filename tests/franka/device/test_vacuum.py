"""The vacuum gripper's controller: pressure, thresholds, answers."""

import math

import pytest

from pliant.franka.device.vacuum import VacuumGripper
from pliant.franka.robots.parameters import CUP
from pliant.franka.wire import fci


def run(gripper, milliseconds, sealed):
    """Return the force after some milliseconds, and the answers that came."""
    force = 0.0
    for _ in range(milliseconds):
        force = gripper.step(sealed)
    return force, [(a.command, a.command_id, a.status) for a in gripper.take_answers()]


def test_the_vacuum_rises_by_a_first_order_law_and_its_force_is_area_times_pressure():
    gripper = VacuumGripper(CUP)
    gripper.request(fci.Vacuum(vacuum=75, timeout=1000), 1)
    force, answers = run(gripper, 100, True)
    assert gripper.vacuum == pytest.approx(800.0 * (1.0 - math.exp(-1.0)), rel=1e-9)
    assert force == pytest.approx(100.0 * gripper.vacuum * math.pi * 0.015**2, rel=1e-12)
    assert answers == []
    expected = 0.1 * math.log(800.0 / 50.0)
    _, answers = run(gripper, math.ceil(1000 * expected) - 100, True)
    assert answers == [(1, 1, "success")]
    state = gripper.state(7)
    assert (state.in_control_range, state.part_present, state.vacuum) == (True, True, 750)


def test_a_vacuum_that_is_let_off_reaches_zero_and_no_subnormal_number():
    gripper = VacuumGripper(CUP)
    gripper.vacuum = 1e-98
    seen = set()
    for _ in range(20_000):
        gripper.step(False)
        seen.add(gripper.vacuum)
    assert gripper.vacuum == 0.0
    assert all(value == 0.0 or value > 1e-101 for value in seen)


def test_without_an_object_the_vacuum_is_unsuccessful_when_its_time_is_over():
    gripper = VacuumGripper(CUP)
    gripper.request(fci.Vacuum(vacuum=100, timeout=1000), 1)
    assert run(gripper, 999, False)[1] == []
    assert run(gripper, 1, False)[1] == [(1, 1, "unsuccessful")]
    state = gripper.state(0)
    assert (state.in_control_range, state.part_present, state.part_detached, state.actual_power) == (False,) * 3 + (0,)


def test_a_drop_off_vents_the_cup_and_says_that_the_part_is_detached():
    gripper = VacuumGripper(CUP)
    gripper.request(fci.Vacuum(vacuum=60, timeout=1000), 1)
    run(gripper, 1000, True)
    assert gripper.part_present
    gripper.request(fci.VacuumDropOff(timeout=500), 2)
    force, answers = run(gripper, 100, True)
    assert answers == [(2, 2, "success")]
    assert force < 1.0
    assert (gripper.part_present, gripper.part_detached, gripper.in_control_range) == (False, True, False)


def test_a_drop_off_that_has_no_time_is_unsuccessful():
    gripper = VacuumGripper(CUP)
    gripper.request(fci.Vacuum(vacuum=60, timeout=1000), 1)
    run(gripper, 1000, True)
    gripper.request(fci.VacuumDropOff(timeout=1), 2)
    assert run(gripper, 5, True)[1] == [(2, 2, "unsuccessful")]


def test_a_lost_part_is_seen_and_a_held_one_is_pumped_again_after_the_hysteresis():
    gripper = VacuumGripper(CUP)
    gripper.request(fci.Vacuum(vacuum=75, timeout=1000), 1)
    run(gripper, 1000, True)
    powers = set()
    for _ in range(30000):
        gripper.step(True)
        powers.add(gripper.state(0).actual_power)
        assert 600.0 - 1.0 < gripper.vacuum < 760.0
    assert powers == {0, 100}
    run(gripper, 300, False)
    assert not gripper.part_present
    assert not gripper.in_control_range


def test_stop_aborts_the_running_operation_and_leaves_a_held_part_alone():
    gripper = VacuumGripper(CUP)
    gripper.request(fci.Vacuum(vacuum=75, timeout=1000), 1)
    run(gripper, 10, True)
    gripper.request(fci.VacuumStop(), 2)
    assert run(gripper, 1, True)[1] == [(1, 1, "aborted"), (3, 2, "success")]
    assert gripper.state(0).actual_power == 0
    gripper.request(fci.Vacuum(vacuum=75, timeout=1000), 3)
    run(gripper, 1000, True)
    gripper.request(fci.VacuumStop(), 4)
    assert run(gripper, 100, True)[1] == [(3, 4, "success")]
    assert gripper.part_present


@pytest.mark.parametrize(
    "request_",
    [
        fci.Vacuum(vacuum=0, timeout=1000),
        fci.Vacuum(vacuum=60, timeout=0),
        fci.Vacuum(vacuum=60, timeout=-5),
        fci.Vacuum(vacuum=60, profile=4, timeout=1000),
        fci.VacuumDropOff(timeout=0),
    ],
)
def test_values_without_meaning_fail_and_change_nothing(request_):
    gripper = VacuumGripper(CUP)
    gripper.request(request_, 1)
    assert [a.status for a in gripper.take_answers()] == ["fail"]
    assert run(gripper, 100, True)[0] == 0.0

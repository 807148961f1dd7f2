"""Statics for a page: ranges of its sliders, and the thread that solves the newest target."""

import threading

import numpy as np
import pytest

from pliant.parallel.page.statics import StaticsSolver, Target, joint_ranges, pose_ranges, wrench_ranges
from pliant.rods import load_robot


class Answers(list):
    """Keeps answers, and lets a test wait for a number of them."""

    def __init__(self):
        self.changed = threading.Condition()

    def __call__(self, found):
        with self.changed:
            self.append(found)
            self.changed.notify_all()

    def wait(self, number):
        with self.changed:
            assert self.changed.wait_for(lambda: self and self[-1].number >= number, 60.0)
        return self[-1]


@pytest.fixture
def answers():
    return Answers()


@pytest.fixture
def solver(answers):
    made = StaticsSolver(load_robot("2RR"), answers)
    yield made
    made.close()


def direct(values, wrench=(0.0, 0.0, 0.0), **options):
    return Target(model="direct", values=tuple(values), wrench=tuple(wrench), **options)


def inverse(values, **options):
    return Target(model="inverse", values=tuple(values), wrench=(0.0, 0.0, 0.0), **options)


def test_both_models_are_solved_as_the_library_solves_them(solver, answers):
    q = np.add(solver.home.q, 0.1)
    found = answers.wait(solver.ask(direct(q))).equilibrium
    exact = load_robot("2RR").solve_dgm(q)
    np.testing.assert_allclose(found.pose, exact.robot.pose_numbers(exact.plate_pose), atol=1e-6)
    np.testing.assert_allclose(found.lines[0, -1], exact.centreline(0).position[-1], atol=1e-6)
    assert found.strain.shape == found.lines.shape[:2]
    back = answers.wait(solver.ask(inverse(found.pose, controlled=("x", "y")))).equilibrium
    np.testing.assert_allclose(back.q, q, atol=1e-6)


def test_the_reason_is_told_where_there_is_no_equilibrium_and_the_next_target_is_solved(solver, answers):
    found = answers.wait(solver.ask(inverse((50.0, 0.0, 0.0))))
    assert found.equilibrium is None
    assert "too short" in found.reason
    assert answers.wait(solver.ask(direct(solver.home.q))).equilibrium is not None


@pytest.mark.parametrize(
    "target",
    [
        direct((0.1,)),
        direct((float("nan"), 0.0)),
        direct((1e300, 1e300)),
        inverse((0.0, 0.8, 0.0), controlled=("x", "up")),
        direct((0.0, 0.0), (float("inf"), 0.0, 0.0)),
    ],
)
def test_a_target_that_makes_no_sense_is_answered_with_a_reason(solver, answers, target):
    found = answers.wait(solver.ask(target))
    assert found.equilibrium is None
    assert found.reason


def test_of_several_targets_that_wait_only_the_newest_is_solved(answers):
    held, entered, waits = threading.Event(), threading.Event(), []

    def slow(found):
        answers(found)
        entered.set()
        waits.append(held.wait(60.0))

    solver = StaticsSolver(load_robot("2RR"), slow)
    try:
        solver.ask(direct(solver.home.q))
        assert entered.wait(60.0)
        for k in range(50):  # as a pointer does; none of them waits for the solver, which is held
            last = solver.ask(direct(np.add(solver.home.q, 0.001 * k)))
        assert waits == [], "a target waited for the solver"
        assert solver.busy
        held.set()
        answers.wait(last)
        assert [found.number for found in answers] == [1, last]
        assert solver.replaced == 49
        np.testing.assert_allclose(answers[-1].equilibrium.q, np.add(solver.home.q, 0.049), atol=1e-9)
    finally:
        held.set()
        solver.close()


def test_the_thread_has_a_name_and_ends(solver, answers):
    answers.wait(solver.ask(direct(solver.home.q)))
    solver.close()
    solver.close()
    assert "pliant-statics" not in {thread.name for thread in threading.enumerate()}


def test_a_change_of_branch_is_told(answers):
    solver = StaticsSolver(load_robot("6PFR"), answers)
    try:
        notes = []
        # Under 42 N the plate has buckled: the straight equilibrium is left for the stable one beside it, or another.
        for load in (10.0, 20.0, 30.0, 34.0, 38.0, 42.0):
            found = answers.wait(solver.ask(direct(solver.home.q, (0.0, 0.0, -load, 0.0, 0.0, 0.0))))
            notes.append("no solution" if found.equilibrium is None else found.equilibrium.note)
    finally:
        solver.close()
    assert notes[0] == ""
    assert any(notes), "no branch was left"


@pytest.mark.parametrize("name", ["6PFR", "3RR", "6EFR"])
def test_the_ranges_hold_the_home_pose_and_stay_within_the_limits(name, answers):
    robot = load_robot(name)
    solver = StaticsSolver(robot, answers)
    solver.close()
    home = solver.home
    for rows, values in (
        (joint_ranges(robot, home), home.q),
        (pose_ranges(robot, home), home.pose),
        (wrench_ranges(robot), home.wrench),
    ):
        assert len(rows) == len(values)
        assert all(row.low < row.high and row.low <= value <= row.high for row, value in zip(rows, values))
    for row, (i, j) in zip(joint_ranges(robot, home), robot.description.actuators):
        limits = robot.description.limbs[i].joints[j].limits
        assert limits is None or (limits[0] <= row.low and row.high <= limits[1])

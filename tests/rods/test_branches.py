"""Which of several equilibria a solve returns: continued from home, beside it after buckling, of the lowest energy."""

import dataclasses
import threading

import numpy as np
import pytest
from tests.helpers.branch_problems import connected_stable, continued, judge, problems, tasks

from pliant.base.errors import ModelError
from pliant.base.spatial import pose
from pliant.rods import (
    BaseJoint,
    ContinuumParallelRobot,
    DistalJoint,
    Limb,
    Rectangular,
    RobotDescription,
    Rod,
    Round,
    load_robot,
)
from pliant.rods import stability as stability_module
from pliant.rods._build import flatten
from pliant.rods.branches import SAME, distance, wrap
from pliant.rods.cold_start import cold_starts, is_proper, levenberg
from pliant.rods.statics import State, Task


def column(section):
    rod = Rod(length=1.0, section=section, density=0.0)
    limb = Limb(rod=rod, distal=DistalJoint(kind="fixed"))
    home = pose((0.0, 0.0, 1.0))
    d = RobotDescription(name="column", limbs=(limb,), gravity=(0.0, 0.0, 0.0), home=home)
    return ContinuumParallelRobot(d), np.pi**2 / 4.0 * min(rod.values(0.5).bending)


@pytest.mark.parametrize("section", [Round(radius=1e-3), Rectangular(width=20e-3, height=0.2e-3)])
@pytest.mark.parametrize("factor", [1.001, 1.05, 2.0])
def test_after_buckling_the_stable_neighbour_is_found_and_said(section, factor):
    robot, load = column(section)
    wrench = (0.0, 0.0, -factor * load, 0.0, 0.0, 0.0)
    straight = robot.solve_dgm([], wrench, branch="smooth")
    bent = robot.solve_dgm([], wrench)
    assert straight.morse_index > 0
    assert (bent.morse_index, bent.branch) == (0, "neighbour")
    assert f"lost its stability; this is the {bent.stability().verdict} one beside it" in bent.note
    assert bent.energy() < straight.energy()
    # elastica: P / P_cr = (2 K(sin(a/2)) / pi)^2 with the tip angle a
    from scipy.special import ellipk

    tangent = bent.plate_pose[:3, 2]
    angle = np.arctan2(np.hypot(tangent[0], tangent[1]), tangent[2])
    assert (2.0 * ellipk(np.sin(angle / 2.0) ** 2) / np.pi) ** 2 == pytest.approx(factor, rel=2e-4)


def test_a_warm_start_that_buckles_goes_to_the_stable_side_and_says_so():
    robot, load = column(Round(radius=1e-3))
    before = robot.solve_dgm([], (0.0, 0.0, -0.95 * load, 0.0, 0.0, 0.0))
    assert (before.branch, before.note) == ("home", "")
    after = robot.solve_dgm([], (0.0, 0.0, -1.1 * load, 0.0, 0.0, 0.0), start=before)
    assert (after.morse_index, after.branch) == (0, "neighbour")
    assert after.note
    again = robot.solve_dgm([], (0.0, 0.0, -1.11 * load, 0.0, 0.0, 0.0), start=after)
    assert (again.morse_index, again.branch, again.note) == (0, "neighbour", "")


def test_homes_are_the_originals_own_where_these_are_stable():
    """Its stored joint values, solved with correct physics; energy and stiffness tell the shapes of RERRFR apart."""
    mixed = load_robot("RERRFR").home()
    assert mixed.energy() == pytest.approx(1.5785, abs=1e-4)
    assert mixed.smallest_stiffness == pytest.approx(9.714, abs=1e-3)
    two = load_robot("2RR").home()
    assert two.q == pytest.approx([1.27254, -1.27254], abs=1e-5)  # the guess in its configuration file
    assert mixed.morse_index == two.morse_index == 0


@pytest.mark.parametrize(
    ("name", "n", "q"),
    [
        ("3ER", [(-0.338482, 2.00354, -0.128828), (2.07496, -1.29491, -0.248296), (-1.73648, -0.708638, -0.0592134)],
         [0.5, 0.5, 0.5]),
        ("3PR", [(-0.338482, 2.00354, -0.128828), (2.07496, -1.29491, -0.248296), (-1.73648, -0.708638, -0.0592134)],
         [-0.249776, -0.285377, -0.359053]),
        ("3RR", [(0.0752245, 2.11201, 0.0892685), (0.791652, -1.06258, 0.326752), (-0.866929, -1.04932, -0.299138)],
         [-2.05246, -0.481525, 0.447793]),
    ],
)  # fmt: skip
def test_the_other_planar_homes_differ_because_the_original_launches_in_unstable_equilibria(name, n, q):
    robot = load_robot(name)
    W = np.zeros((3, 6))
    W[:, [0, 1, 5]] = n
    state = State(W, np.array(q)[:, None], flatten(np.eye(4)))
    task = Task(True, np.zeros(3), state.X.copy(), robot._controlled(None), np.zeros(6), False, 1e-6)
    assert levenberg(robot, state, task, 4)[0]
    launched = robot._checked(state, task, 4, [], "launched")
    assert launched.smallest_stiffness < -10.0
    assert launched.morse_index == 1


def test_equilibria_have_energy_index_strain_and_their_connection_with_home():
    robot = load_robot("RERRFR")
    found = robot.equilibria(starts=40)
    energies = [one.energy for one in found]
    assert energies == sorted(energies)
    assert [one.connection for one in found].count("home") == 1
    home = next(one for one in found if one.connection == "home")
    assert home.q == pytest.approx(robot.home().q, abs=1e-6)
    assert {one.index for one in found} >= {0, 1}
    for one in found:
        assert one.solution.residual < 1e-8
        assert one.plate_pose == pytest.approx(robot.description.home, abs=1e-6)
        assert one.index == one.solution.morse_index
        assert 0.0 < one.strain < 0.05
        assert (np.abs(one.q[:2] - robot.home().q[:2]) <= np.pi + 1e-9).all()
    lowest = robot.solve_igm(robot.description.home, branch="lowest")
    assert lowest.energy() == pytest.approx(min(one.energy for one in found if one.index == 0), rel=1e-6)
    direct = robot.equilibria(q=robot.home().q, starts=20)
    assert any(np.abs(one.plate_pose - robot.description.home).max() < 1e-6 for one in direct)


def test_a_connection_is_the_same_whenever_it_is_read_and_changes_no_other_solve():
    robot = load_robot("3RR")
    home = robot.home()
    X = home.plate_pose.copy()
    X[0, 3] += 0.05
    found = robot.equilibria(X, starts=20)
    before = robot.solve_igm(X, start=home)
    read = [one.connection for one in found]
    after = robot.solve_igm(X, start=home)
    np.testing.assert_array_equal(before.q, after.q)
    again = [one.connection for one in robot.fork().equilibria(X, starts=20)]
    assert again == read
    assert {"home", "leads to another equilibrium at home"} & set(read)


def every_start_by_itself(robot, task, starts):
    """Return the states that cold starts reach, each solved, refined and compared with the others in this thread."""
    home, out = robot.home(), []
    for name, state, run in cold_starts(robot, task, 4, starts, 0):
        if run(robot, state)[0] and is_proper(robot, state):
            wrap(robot, state, home._state.Q, only_into_limits=False)
            found = robot._checked(state, task, 4, [], name)._state
            if all(distance(robot, found, other) > SAME for other in out):
                out.append(found)
    return out


@pytest.mark.parametrize("name", ["RERRFR", "3RR", "Stewart_Gough_6EFR"])
@pytest.mark.parametrize("inverse", [True, False])
def test_equilibria_found_on_all_cores_are_those_of_every_start_solved_by_itself(name, inverse):
    robot = load_robot(name)
    X = np.array(robot.description.home)
    X[:2, 3] += 0.04, -0.02
    if inverse:
        found = robot.equilibria(X, starts=24)
        task = Task(True, np.zeros(robot.actuator_count), flatten(X), robot._controlled(None), np.zeros(6), False, 1e-6)
    else:
        q = robot.home().q
        found = robot.equilibria(q=q, starts=24)
        task = Task(False, q, np.zeros(12), np.zeros(6, bool), np.zeros(6), False, 1e-6)
    task = dataclasses.replace(task, tolerance=robot._tolerance(None))
    expected = every_start_by_itself(robot, task, 24)
    assert len(expected) > 1
    states = [one.solution._state for one in found]
    assert all(min(distance(robot, state, other) for other in states) < SAME for state in expected)
    cold = [one.solution._state for one in found if one.solution.branch == "other"]
    assert all(min(distance(robot, state, other) for other in expected) < SAME for state in cold)
    assert all(distance(robot, a, b) > SAME for k, a in enumerate(states) for b in states[:k])


def test_revolute_values_stay_next_to_home_and_within_limits():
    robot = load_robot("3RR")
    home = robot.home().q
    turned = np.round((0.5 - home[0]) / (2 * np.pi))  # limits that only the value with whole turns more meets
    first = robot.description.limbs[0]
    limits = (home[0] + 2 * np.pi * turned - 2.0, home[0] + 2 * np.pi * turned + 2.0)
    limb = dataclasses.replace(first, joints=(BaseJoint(kind="revolute", limits=limits),))
    limited = ContinuumParallelRobot(dataclasses.replace(robot.description, limbs=(limb, *robot.description.limbs[1:])))
    X = robot.home().plate_pose
    X[0, 3] += 0.02
    free, held = robot.solve_igm(X), limited.solve_igm(X)
    assert np.abs(free.q - home).max() < 1.0
    assert turned != 0.0
    assert held.q - free.q == pytest.approx([2 * np.pi * turned, 0.0, 0.0], abs=1e-6)


def test_a_branch_that_ends_is_said_with_the_one_taken_instead():
    """3ER, some direct problem of the random set: the equilibrium from home ends at a fold."""
    *_, problem = problems(3, 0)
    found = problem.robot.solve_dgm(problem.q, problem.wrench)
    assert found.branch == "other"
    assert "the branch from home ends after" in found.note
    assert "found by" in found.note


def test_an_unknown_branch_is_named():
    with pytest.raises(ModelError, match="did you mean 'lowest'"):
        load_robot("3PR").solve_igm(np.eye(4), branch="lowst")


def test_the_default_is_the_branch_from_home_stable_where_one_is_connected():
    """A sample of the random problems; all 500 run by hand: tests/helpers/branch_problems.py."""
    verdicts = []
    for problem in problems(24, 7):
        verdict, details = judge(problem)
        assert verdict in ("home", "neighbour", "unstable", "ended", "detour", "limits", "none"), (
            problem.robot.name,
            details,
        )
        if verdict == "unstable":
            assert connected_stable(problem, starts=10) is None
        verdicts.append(verdict)
    assert verdicts.count("home") >= 12


def test_the_reference_continues_forth_and_back_to_the_same_state():
    from pliant.rods.branches import distance

    problem = next(problems(1, 3))
    start, at = tasks(problem, 8)
    there, fraction = continued(problem, at, start)
    assert fraction == 1.0
    back, _ = continued(problem, at, there, 1.0, 0.0)
    assert distance(problem.robot, back, start) < 1e-6


def test_a_fork_answers_for_its_home_in_its_own_memory():
    robot = load_robot("Stewart_Gough_6PFR")
    home = robot.home()
    fork = robot.fork()
    found = []
    thread = threading.Thread(target=lambda: found.append(fork.home()), name="fork")
    thread.start()
    thread.join()
    assert found[0].robot is fork
    assert home.robot is robot
    assert found[0].q == pytest.approx(home.q, abs=0.0)


def test_a_path_through_a_bifurcation_goes_on_on_the_stable_side_and_says_where():
    robot, load = column(Round(radius=1e-3))
    loads = [(0.0, 0.0, -factor * load, 0.0, 0.0, 0.0) for factor in np.linspace(0.525, 1.525, 21)]
    path = robot.follow([[]] * 21, loads, inverse=False)
    assert [path[k].morse_index for k in range(21)] == [0] * 21
    assert len(path.notes) == 1
    row, note = path.notes[0]
    assert row == 10  # the first one above the load
    assert "lost its stability" in note
    smooth = robot.follow([[]] * 21, loads, inverse=False, branch="smooth")
    assert smooth[20].morse_index == 2
    assert smooth.notes == ()


def test_rods_cut_as_their_loads_ask_have_the_modes_of_rods_cut_into_many_parts(monkeypatch):
    robot = load_robot("Stewart_Gough_6EFR")
    X = np.array(robot.description.home)
    X[:2, 3] += 0.05, 0.02
    found = [one.solution for one in robot.equilibria(X)]
    own = [one.stability().rods for one in found]
    assert sum(map(sum, own)) > 0
    for parts, same in ((24, True), (1, False)):  # rods that are not cut hide their modes
        monkeypatch.setattr(stability_module, "parts_of_rods", lambda *_, parts=parts: np.full(robot._n, parts))
        for one in found:
            one._stability = None
        assert ([one.stability().rods for one in found] == own) is same

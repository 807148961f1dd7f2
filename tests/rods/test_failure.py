"""Why a robot has no equilibrium: reach without solving, loads that no rod resists, the order of the message."""

import dataclasses

import numpy as np
import pytest
from daily import robots_by_day

from pliant.base.errors import ModelError
from pliant.base.spatial import pose
from pliant.rods import (
    BaseJoint,
    ContinuumParallelRobot,
    DistalJoint,
    GivenStiffness,
    Limb,
    NoEquilibrium,
    Plate,
    RobotDescription,
    Rod,
    Round,
    catalogue,
    load_robot,
)
from pliant.rods.failure import Reach, free_motion


def failure(call):
    with pytest.raises(NoEquilibrium) as error:
        call()
    return error.value


def test_a_pose_out_of_reach_begins_with_the_rod_that_is_too_short_and_solves_nothing(monkeypatch):
    robot = load_robot("Stewart_Gough_6PFR")
    X = robot.description.home.copy()
    X[0, 3] += 3.0
    monkeypatch.setattr(robot, "_one", lambda *a, **k: pytest.fail("a solver was started"))
    found = failure(lambda: robot.solve_igm(X))
    # Straight from the slider at its upper limit to the tip, which the joint's axis carries below the plate.
    limb = robot.description.limbs[5]
    base = (limb.base @ pose((0.0, 0.0, limb.joints[0].limits[1])) @ limb.attach)[:3, 3]
    gap = np.linalg.norm((X @ limb.distal.pose @ limb.distal.attach)[:3, 3] - base) - 1.001
    assert found.reach == ("limb6", pytest.approx(gap, abs=1e-9))
    assert str(found).startswith(
        f"Stewart_Gough_6PFR: no equilibrium for the pose: the rod of limb6 is too short by {1e3 * found.reach[1]:.4g}"
    )
    assert found.starts == ()


@pytest.mark.parametrize("height", [9.0, -9.0])
def test_a_slider_at_its_limit_is_the_reason_where_the_rod_would_reach_without(height):
    robot = load_robot("Stewart_Gough_6PFR")
    X = robot.description.home.copy()
    X[2, 3] = height
    message = str(failure(lambda: robot.solve_igm(X)))
    limit = 0.4 if height > 0.0 else -1
    beyond = float(message.split("its slider ")[1].split(" mm beyond")[0]) / 1e3
    assert f"mm beyond its limit {limit:g} m" in message
    assert "too short" not in message
    # At the value that is named the rod is straight, 2 mm before it does not reach.
    value = limit + np.sign(height) * beyond
    for more, enough in ((2e-3, True), (-2e-3, False)):
        bounds = tuple(sorted((0.0, value + np.sign(height) * more)))
        limbs = [
            dataclasses.replace(limb, joints=(dataclasses.replace(limb.joints[0], limits=bounds),))
            for limb in robot.description.limbs
        ]
        short = Reach(dataclasses.replace(robot.description, limbs=tuple(limbs)), strain=1e-3).missing(X)
        assert (short is None) == enough  # limbs that are alike may be named instead of each other


@pytest.mark.parametrize("name", robots_by_day(catalogue()))
def test_every_pose_with_an_equilibrium_is_within_reach(name):
    robot = load_robot(name)
    reach, rng = Reach(robot.description), np.random.default_rng(1)
    start = robot.home()
    for _ in range(8):
        try:
            start = robot.solve_dgm(start.q + rng.uniform(-0.1, 0.1, len(start.q)), start=start, restarts=0)
        except NoEquilibrium:
            start = robot.home()
        assert reach.missing(start.plate_pose) is None


def test_a_stiff_rod_reaches_its_length_and_a_soft_one_more():
    def reach(modulus, length=1.0):
        limb = Limb(rod=Rod(length=1.0, section=Round(radius=1e-3), young_modulus=modulus, shear_modulus=modulus / 3),
                    distal=DistalJoint(kind="spherical"))  # fmt: skip
        d = RobotDescription(name="one", limbs=(limb,))
        return Reach(d).missing(pose((0.0, 0.0, length)))

    assert reach(200e9, 1.04) is None
    assert reach(200e9, 1.06) == ("limb 1", pytest.approx(0.01))
    assert reach(5e6, 1.9) is None
    assert reach(5e6, 2.1) == ("limb 1", pytest.approx(0.1))


def test_a_slider_reaches_only_as_far_as_its_limits():
    rod = Rod(length=1.0, section=GivenStiffness(bending=(1.0, 1.0), torsion=1.0, axial=1e6, shear=(1e5, 1e5)))
    limb = Limb(rod=rod, joints=(BaseJoint(kind="prismatic", limits=(-0.2, 0.3)),), distal=DistalJoint(kind="fixed"))
    reach = Reach(RobotDescription(name="one", limbs=(limb,)), strain=0.0)
    assert reach.missing(pose((0.0, 0.0, 1.3))) is None
    assert reach.missing(pose((0.0, 0.0, 1.5))) == ("limb 1", pytest.approx(0.2))
    assert reach.missing(pose((0.6, 0.0, 1.0))) is None  # the slider moves below: 0.6^2 + 0.8^2 = 1
    assert reach.missing(pose((0.0, 0.0, -1.3))) == ("limb 1", pytest.approx(0.1))


@pytest.mark.parametrize("name", ["2RR", "2PR"])
def test_a_moment_about_a_free_hinge_is_the_reason(name):
    robot = load_robot(name)
    home = robot.home()
    for call in (
        lambda: robot.solve_dgm(home.q, (0.0, 0.0, 0.5), start=home, restarts=2),
        lambda: robot.solve_igm(robot.description.home, (0.0, 0.0, 0.5), restarts=2),
    ):
        message = str(failure(call))
        head, tail = message.split(": ", 2)[2].split(". Smallest", 1)
        assert head.startswith(
            "the plate turns freely about z through (0, 0.8, 0), and nothing balances a moment of 0.5"
        )
        assert "2 random restarts" in tail


def test_a_force_at_an_arm_can_balance_a_moment_about_a_free_hinge():
    robot = load_robot("2RR")
    limbs = [
        dataclasses.replace(limb, distal=dataclasses.replace(limb.distal, pose=pose((0.1, 0.0, 0.0))))
        for limb in robot.description.limbs
    ]
    d = dataclasses.replace(robot.description, limbs=tuple(limbs), home=pose((-0.1, 0.8, 0.0)))
    X = d.home
    assert free_motion(d, X, (2.0, 0.0, 0.0, 0.0, 0.0, 0.15), held=False) is None
    assert "a moment of 0.05 N m" in free_motion(d, X, (2.0, 0.0, 0.0, 0.0, 0.0, 0.25), held=False)
    # Where the plate is held as it stands, the force along x has no arm about the pin beside it.
    assert "a moment of 0.15 N m" in free_motion(d, X, (2.0, 0.0, 0.0, 0.0, 0.0, 0.15), held=True)
    assert free_motion(d, X, (0.0, 2.0, 0.0, 0.0, 0.0, -0.2), held=True) == (
        "the plate turns freely about z through (0, 0.8, 0), and nothing balances a moment of 0.4 N m about it"
    )
    assert free_motion(d, X, (0.0, 2.0, 0.0, 0.0, 0.0, 0.2), held=True) is None


def test_a_plate_that_slides_or_turns_about_one_point_is_named():
    rod = Rod(length=1.0, section=Round(radius=1e-3))
    bases = [pose((x, 0.1, 0.0)) for x in (-0.1, 0.1)]
    slide = tuple(Limb(rod=rod, base=b, distal=DistalJoint(kind="prismatic", pose=b)) for b in bases)
    d = RobotDescription(name="slide", limbs=slide, home=pose((0.0, 0.0, 1.0)), plate=Plate(mass=0.1))
    assert "slides freely along z" in free_motion(d, d.home, np.zeros(6), held=False)
    balls = tuple(Limb(rod=rod, base=b, distal=DistalJoint(kind="spherical")) for b in bases)
    d = RobotDescription(name="ball", limbs=balls, home=pose((0.0, 0.0, 1.0)))
    assert free_motion(d, d.home, (1.0, 2.0, 3.0, 0.0, 0.0, 0.0), held=False) is None
    assert "common centre of the joints at (0, 0, 1)" in free_motion(d, d.home, (1, 2, 3, 0, 0.3, 0.4), held=False)


@pytest.mark.parametrize("name", catalogue())
def test_loads_that_rods_carry_are_no_reason(name):
    robot = load_robot(name)
    wrench = [0.3, 0.2, 0.0, 0.0, 0.0, 0.0] if name in ("2RR", "2PR") else [0.3, 0.2, 0.0, 0.0, 0.0, 0.05]
    assert free_motion(robot.description, robot.home().plate_pose, wrench, held=False) is None


def test_limbs_of_one_name_are_refused():
    d = load_robot("Stewart_Gough_6PFR").description
    limbs = list(d.limbs)
    limbs[3] = dataclasses.replace(limbs[3], name="limb1")
    with pytest.raises(ModelError, match="limbs 1, 4 are all named 'limb1'; every limb must have a name of its own"):
        dataclasses.replace(d, limbs=tuple(limbs))
    limbs[3] = dataclasses.replace(limbs[3], name="limb 4")
    assert ContinuumParallelRobot(dataclasses.replace(d, limbs=tuple(limbs))).name == d.name

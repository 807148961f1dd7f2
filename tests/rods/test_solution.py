"""Stability of an equilibrium: Euler's loads over four decades of slenderness, thin sections, free motions."""

import numpy as np
import pytest

from pliant.base.errors import ModelError
from pliant.base.spatial import exp_so3, pose
from pliant.rods import (
    BaseJoint,
    ContinuumParallelRobot,
    DistalJoint,
    GivenStiffness,
    Limb,
    Rectangular,
    RobotDescription,
    Rod,
    Round,
    load_robot,
)

SLENDERNESS = np.geomspace(10.0, 1e5, 10)  # length by radius
STEEL_ROD = Rod(length=1.0, section=Round(radius=1e-3), density=0.0)


def column(rod, rotation=None):
    """A rod clamped at its base, with a weightless plate on its tip."""
    base = pose((0.1, 0.2, 0.3), np.eye(3) if rotation is None else rotation)
    limb = Limb(rod=rod, base=base, distal=DistalJoint(kind="fixed"))
    home = base @ pose((0.0, 0.0, rod.length))
    return ContinuumParallelRobot(RobotDescription(name="column", limbs=(limb,), gravity=(0.0, 0.0, 0.0), home=home))


def buckling_load(rod, factor):
    """Load of a straight rod with shear and compression, P (1 + P / GA - P / EA) = factor EI / L^2.

    From EI theta'' + P (1 - P / EA + P / GA) theta = 0, the linearised moment balance with v = (P theta / GA, 1 - P /
    EA); factor = pi^2 / 4 for a free tip, 4 pi^2 for a clamped one.
    """
    v = rod.values(0.5)
    euler = factor * min(v.bending) / rod.length**2
    a = 1.0 / min(v.shear) - 1.0 / v.axial
    return 2.0 * euler / (1.0 + np.sqrt(1.0 + 4.0 * a * euler))


def straight(robot, load, direction=(0.0, 0.0, 1.0)):
    """The column under a load along its axis, as it stood before it could buckle."""
    return robot.solve_dgm([], (*(-load * np.asarray(direction)), 0.0, 0.0, 0.0), branch="smooth")


@pytest.mark.parametrize("slenderness", SLENDERNESS)
def test_index_is_right_a_thousandth_below_and_above_the_buckling_load(slenderness):
    rod = Rod(length=1.0, section=Round(radius=1.0 / slenderness), density=0.0)
    R = exp_so3([0.5, 0.7, -0.4])
    robot = column(rod, R)
    load = buckling_load(rod, np.pi**2 / 4.0)
    below, above = (straight(robot, factor * load, R[:, 2]) for factor in (0.999, 1.001))
    assert (below.morse_index, below.stable) == (0, True)
    assert (above.stability().plate, above.stable) == (2, False)
    load = buckling_load(rod, 4.0 * np.pi**2)  # the same rod with its plate held: the part of the index within the rod
    below, above = (straight(robot, factor * load, R[:, 2]) for factor in (0.999, 1.001))
    assert below.stability().rods == (0,)
    assert above.stability().rods == (2,)


@pytest.mark.parametrize(
    "section",
    [
        Rectangular(width=20e-3, height=0.2e-3),
        GivenStiffness(bending=(0.157, 0.158), torsion=0.12, axial=1e9, shear=(1e9, 1e9)),
    ],
    ids=["strip of 0.2 mm", "axial stiffness 1e9 N"],
)
@pytest.mark.parametrize("factor", [1.001, 1.05, 2.0])
def test_buckled_rods_that_are_stiff_along_their_axis_are_unstable(section, factor):
    rod = Rod(length=1.0, section=section, density=0.0)
    robot = column(rod)
    load = buckling_load(rod, np.pi**2 / 4.0)
    assert straight(robot, 0.999 * load).stable
    above = straight(robot, factor * load)
    assert above.stability().verdict == "unstable"
    assert above.morse_index >= 1


def test_verdict_does_not_depend_on_the_unit_of_length():
    for scale in (1e-3, 1.0, 30.0):
        rod = Rod(length=scale, section=Round(radius=1e-3 * scale), density=0.0)
        load = buckling_load(rod, np.pi**2 / 4.0)
        found = [straight(column(rod), factor * load).morse_index for factor in (0.999, 1.001)]
        assert found == [0, 2]


@pytest.mark.parametrize("name", ["2RR", "2PR"])
def test_a_plate_on_one_pin_turns_freely_and_is_not_called_stable(name):
    home = load_robot(name).home()
    assert home.stability().free == ("the plate turns freely about the point (0, 0.8)",)
    assert home.stability().verdict == "neutral"
    assert home.morse_index == 0
    assert not home.stable


def test_a_plate_on_two_ball_joints_turns_freely_about_the_line_through_them():
    limbs = tuple(
        Limb(
            rod=STEEL_ROD,
            base=pose((x, 0.0, 0.0)),
            distal=DistalJoint(kind="spherical", pose=pose((x, 0.0, 0.0))),
        )
        for x in (-0.2, 0.2)
    )
    d = RobotDescription(name="swing", limbs=limbs, gravity=(0.0, 0.0, 0.0), home=pose((0.0, 0.0, 1.0)))
    found = ContinuumParallelRobot(d).solve_dgm([]).stability()
    assert found.free == ("the plate turns freely about the axis (1, 0, 0) through (0, 0, 1)",)
    assert found.verdict == "neutral"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3,), "limb is 3; must be from 0 to 2"),
        ((-1,), "limb is -1; must be from 0 to 2"),
        ((0, 1), "points is 1; must be a whole number >= 2"),
    ],
)
def test_a_rod_that_does_not_exist_and_a_shape_of_one_point_are_refused(arguments, message):
    home = load_robot("3RR").home()
    with pytest.raises(ModelError, match=message):
        home.centreline(*arguments)


FORMS = {
    "uniform": {"section": Round(radius=1e-3)},
    "curved": {"section": Round(radius=1e-3), "precurvature": ((0.0, 0.6, -0.4, 0.3),)},
    "tapered": {"section": Round(radius=1.2e-3, tip_radius=0.8e-3)},
    "flat": {"section": Rectangular(width=3e-3, height=1.5e-3, tip_width=2e-3, tip_height=1.8e-3)},
    "changing curve": {
        "section": Round(radius=1e-3),
        "precurvature": ((0.0, 0.6, -0.4, 0.3), (0.4, 0.0, 0.5, 0.0), (1.0, 0.4, 0.2, 0.1)),
    },
    "given": {"section": GivenStiffness(bending=(0.2, 0.3), torsion=0.15, axial=1e5, shear=(4e4, 5e4), mass=0.03)},
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_the_force_of_an_extension_is_the_derivative_of_the_energy_by_its_length(form):
    rod = Rod(length=0.5, distributed_force=(0.05, -0.03, 0.1), **FORMS[form])
    limbs = tuple(
        Limb(
            rod=rod, joints=(BaseJoint(kind="extension"),),
            base=pose(turn @ (0.1, 0.0, 0.0), turn @ exp_so3([0.2, 0.1, 0.0])),
            distal=DistalJoint(kind="spherical", pose=pose(turn @ (0.06, 0.0, 0.0))),
        )
        for turn in (exp_so3([0.0, 0.0, angle]) for angle in (0.0, 2.1, 4.2))
    )  # fmt: skip
    home = pose((0.0, 0.0, 0.47))
    robot = ContinuumParallelRobot(RobotDescription(name="own", limbs=limbs, home=home, home_joints=(0.5, 0.5, 0.5)))
    q, load, h = np.array([0.5, 0.52, 0.49]), (0.2, -0.1, -0.3, 0.0, 0.0, 0.0), 1e-4
    s = robot.solve_dgm(q, load)
    for a, line in enumerate(s.centrelines()):
        ends = [robot.solve_dgm(q + by * np.eye(3)[a], load, start=s, branch="smooth").energy() for by in (h, -h)]
        weight = np.mean([rod.values(t).mass for t in np.linspace(0.0, 1.0, 1001)])
        store = (weight * np.array(robot.description.gravity) + rod.distributed_force) @ line.position[0]
        assert s.actuator_forces()[a] == pytest.approx((ends[0] - ends[1]) / (2.0 * h) + store, abs=2e-5)

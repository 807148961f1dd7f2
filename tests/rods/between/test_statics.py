"""A rod between two frames: against beam theory, against the statics of parallel robots, and bad input."""

import numpy as np
import pytest

from pliant.base.errors import ModelError, PliantError
from pliant.base.spatial import exp_so3, pose
from pliant.rods import (
    ContinuumParallelRobot,
    DistalJoint,
    DistributedLoad,
    Limb,
    Plate,
    PointLoad,
    Rectangular,
    RobotDescription,
    Rod,
    Round,
    solve_rod,
)

ROD = Rod(length=0.5, section=Round(radius=1e-3))
EI = 200e9 * np.pi / 4 * 1e-12
NONE = (0.0, 0.0, 0.0)


def test_small_loads_bend_a_cantilever_as_euler_and_bernoulli_say():
    loads = [PointLoad(at=0.3, force=(1e-3, 0, 0)), DistributedLoad(force=(0, 2e-3, 0), begin=0.2, end=0.7)]
    found = solve_rod(ROD, np.eye(4), None, gravity=NONE, loads=loads)
    a = 0.3 * 0.5
    assert found.tip[0, 3] == pytest.approx(1e-3 * a**2 * (3 * 0.5 - a) / (6 * EI), rel=1e-4)

    def until(a):  # of a load of 2e-3 N/m from the clamp to a
        return 2e-3 * a**3 * (4 * 0.5 - a) / (24 * EI)

    assert found.tip[1, 3] == pytest.approx(until(0.35) - until(0.1), rel=1e-4)
    # The clamp carries both loads and their moments.
    np.testing.assert_allclose(found.wrench_a[:3], [1e-3, 2e-3 * 0.25, 0.0], atol=1e-12)
    assert found.wrench_a[4] == pytest.approx(1e-3 * a, rel=1e-4)
    assert found.wrench_a[3] == pytest.approx(-2e-3 * 0.25 * 0.225, rel=1e-4)


def test_a_follower_moment_at_the_tip_bends_a_rod_into_a_circle():
    moment = EI * 2.0 / 0.5  # a turn of 2 rad
    for follower in (False, True):
        load = PointLoad(at=1.0, moment=(0.0, moment, 0.0), follower=follower)
        found = solve_rod(ROD, np.eye(4), None, gravity=NONE, loads=[load])
        radius = 0.25
        np.testing.assert_allclose(found.tip[:3, 3], [radius * (1 - np.cos(2.0)), 0.0, radius * np.sin(2.0)], atol=1e-7)


@pytest.mark.parametrize(
    "section",
    [Round(radius=1e-3), Round(radius=1e-3, tip_radius=6e-4), Rectangular(width=4e-3, height=1e-3, tip_height=5e-4)],
    ids=["round", "tapered", "rectangular"],
)
@pytest.mark.parametrize("axis", [0, 1])
def test_the_strain_at_the_surface_is_moment_by_half_the_section(section, axis):
    rod = Rod(length=0.2, section=section)
    moment = np.zeros(3)
    moment[axis] = 0.05
    found = solve_rod(
        rod, np.eye(4), None, gravity=NONE, loads=[PointLoad(at=1.0, moment=tuple(moment), follower=True)]
    )
    s = np.array([0.0, 0.4, 1.0])
    if isinstance(section, Round):
        half = 1e-3 + s * ((section.tip_radius or 1e-3) - 1e-3)
        inertia = np.pi / 4 * half**4
    else:
        width, height = 4e-3 + 0.0 * s, 1e-3 - 5e-4 * s
        across, along = (width, height) if axis == 0 else (height, width)
        half, inertia = 0.5 * along, across * along**3 / 12
    np.testing.assert_allclose(found.at(s).bending_strain, 0.05 * half / (200e9 * inertia), rtol=1e-5)


def test_a_straight_rod_that_is_pushed_together_buckles_at_eulers_load():
    found = solve_rod(ROD, np.eye(4), pose((0.0, 0.0, 0.4995)), gravity=NONE)
    assert found.unstable == 0
    # 4 pi^2 EI / L^2 of a rod clamped at both ends; 0.1 % of end shortening raises it by less than 0.1 %.
    assert found.wrench_b[2] == pytest.approx(4 * np.pi**2 * EI / 0.25, rel=1e-3)


@pytest.mark.parametrize(
    "X", [pose((0.1, 0, 0.45), exp_so3([0, 0.5, 0.2])), pose((0.3, 0, 0.1), exp_so3([0, 1.5, 0]))], ids=["bent", "arc"]
)
def test_the_solver_of_parallel_robots_finds_the_same_shape_from_the_wrench_at_the_base(X):
    found = solve_rod(ROD, np.eye(4), X)
    description = RobotDescription(
        name="one", home=pose((0.0, 0.0, 0.5)), plate=Plate(),
        limbs=(Limb(rod=ROD, distal=DistalJoint(kind="fixed"), name="rod"),),
    )  # fmt: skip
    robot = ContinuumParallelRobot(description)
    other = robot.solve_dgm(np.zeros(0)).with_unknowns(found.wrench_a[None], np.zeros(0), X).centreline(0, 201)
    line = found.centreline(201)
    np.testing.assert_allclose(line.position, other.position, atol=2e-6)
    np.testing.assert_allclose(line.rotation, other.rotation, atol=1e-5)
    np.testing.assert_allclose(-found.wrench_b, np.append(other.force[-1], other.moment[-1]), atol=1e-5)


def test_forces_at_both_ends_weight_and_loads_are_in_balance():
    loads = [PointLoad(at=0.4, force=(0.5, 0, 0.2), follower=True), DistributedLoad(force=(0, 0.3, 0))]
    ends = [
        PointLoad(at=0.0, force=(0.1, -0.2, 0.3), moment=(0.0, 0.01, 0.0)),
        PointLoad(at=1.0, force=(0.0, 0.4, 0.1)),
    ]
    X = pose((0.05, 0.02, 0.47), exp_so3([0.2, 0.1, 0.4]))
    found = solve_rod(ROD, np.eye(4), X, loads=loads)
    line = found.centreline(6)
    follower = line.rotation[2] @ [0.5, 0, 0.2]
    weight = np.array([0, 0, -9.81]) * ROD.values(0.0).mass * 0.5
    total = -found.wrench_a[:3] - found.wrench_b[:3] + follower + [0, 0.15, 0] + weight
    np.testing.assert_allclose(total, 0.0, atol=1e-8)
    # Loads at the ends go into the holders and bend nothing.
    held = solve_rod(ROD, np.eye(4), X, loads=[*loads, *ends])
    np.testing.assert_allclose(held.centreline(6).position, line.position, atol=1e-8)
    np.testing.assert_allclose(held.wrench_a - found.wrench_a, [0.1, -0.2, 0.3, 0.0, 0.01, 0.0], atol=1e-6)
    np.testing.assert_allclose(held.wrench_b - found.wrench_b, [0.0, 0.4, 0.1, 0.0, 0.0, 0.0], atol=1e-6)


def test_the_stiffness_of_the_end_is_the_derivative_of_its_wrench():
    X = pose((0.1, 0.0, 0.45), exp_so3([0.0, 0.5, 0.2]))
    here = solve_rod(ROD, np.eye(4), X)
    h = 1e-5
    for k in range(3):
        moved = [solve_rod(ROD, np.eye(4), pose(s * h * np.eye(3)[k]) @ X, start=here).wrench_b for s in (1, -1)]
        slope = -(moved[0] - moved[1]) / (2 * h)
        np.testing.assert_allclose(slope, here.stiffness[:, k], rtol=1e-3, atol=1e-3 * np.abs(here.stiffness).max())


def test_a_rod_gets_more_segments_until_its_integration_is_accurate_and_too_large_loads_are_named(monkeypatch):
    force = 30.0 * EI / 0.5**2
    monkeypatch.setattr("pliant.rods.between.statics.CUTS", 2)
    found = solve_rod(ROD, np.eye(4), None, gravity=NONE, loads=[PointLoad(at=1.0, force=(force, 0, 0))])
    # The elastica: E I theta'^2 / 2 = F sin(theta) less that of the tip, which stands almost across: z^2 = 2 E I / F.
    assert found.tip[2, 3] == pytest.approx(np.sqrt(2.0 * EI / force), rel=1e-4)
    assert found.problem.parts >= 8
    monkeypatch.setattr("pliant.rods.between.statics.MAX_CUTS", 4)
    with pytest.raises(PliantError, match=r"4 segments do not resolve its bends \(error .*e-0.\)$"):
        solve_rod(ROD, np.eye(4), None, gravity=NONE, loads=[PointLoad(at=1.0, force=(force, 0, 0))])
    with pytest.raises(PliantError, match=r"diverges .* bend it within 4\.88 mm, up to about 393 N in all"):
        solve_rod(ROD, np.eye(4), None, gravity=NONE, loads=[PointLoad(at=1.0, force=(6600.0, 0, 0))])


def test_a_ball_at_the_end_takes_no_moment():
    found = solve_rod(ROD, np.eye(4), pose((0.05, 0.0, 0.45), exp_so3([0.0, 1.0, 0.0])), end_b="ball")
    np.testing.assert_allclose(found.wrench_b[3:], 0.0, atol=1e-9)
    np.testing.assert_allclose(found.tip[:3, 3], [0.05, 0.0, 0.45], atol=1e-10)


def test_ends_that_cannot_meet_are_refused_with_the_length_that_would_be_valid():
    with pytest.raises(ModelError, match=r"0\.61 m apart .* 0\.5 m long; the length must be at least 0\.61 m"):
        solve_rod(ROD, np.eye(4), pose((0.0, 0.0, 0.61)))
    rubber = Rod(length=0.5, section=Round(radius=5e-3), young_modulus=1e6, shear_modulus=0.35e6)
    assert solve_rod(rubber, np.eye(4), pose((0.0, 0.0, 0.51))).wrench_b[2] < 0.0  # it pulls
    with pytest.raises(ModelError, match=r"could stretch to 1 m; the length must be at least 0\.55 m"):
        solve_rod(rubber, np.eye(4), pose((0.0, 0.0, 1.1)))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: PointLoad(at=1.5), "from 0 to 1"),
        (lambda: PointLoad(at=0.5, force=(1.0, 2.0)), "three numbers"),
        (lambda: PointLoad(at=0.5, moment=(1.0, float("nan"), 0.0)), "three numbers"),
        (lambda: DistributedLoad(begin=0.5, end=0.5), "after the begin"),
        (lambda: solve_rod(ROD, np.zeros((4, 4)), None), "not orthonormal"),
        (lambda: solve_rod(ROD, np.eye(3), None), "4x4"),
        (lambda: solve_rod(ROD, np.eye(4), np.eye(4), end_b="glued"), "'clamped' or 'ball'"),
    ],
)
def test_wrong_arguments_are_named(build, message):
    with pytest.raises(ModelError, match=message):
        build()

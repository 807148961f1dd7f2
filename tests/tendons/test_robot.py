"""Statics of tendon-driven robots against closed forms, an independent shooting, and the statics of parallel robots."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from pliant.base.errors import ModelError, PliantError
from pliant.base.spatial import pose
from pliant.rods import Rod, Round
from pliant.rods.description import GivenStiffness
from pliant.tendons import (
    NoTendonEquilibrium,
    Resolution,
    Segment,
    Tendon,
    TendonRobot,
    TendonRobotDescription,
)
from pliant.tendons.robots import generic

ROD = Rod(length=0.2, section=Round(radius=0.7e-3), young_modulus=60e9, shear_modulus=23e9, density=0.0)
EI = 60e9 * np.pi / 4.0 * 0.7e-3**4
EXACT = Resolution(elements=1, bending=6, torsion=4)


def robot(*tendons: Tendon, rod: Rod = ROD, links="curves", resolution=EXACT, disks=10, segments=1, **extra):
    segment = Segment(rod=rod, disks=disks, disk_radius=12e-3)
    d = TendonRobotDescription(name="arm", segments=(segment,) * segments, tendons=tendons, links=links, **extra)
    return TendonRobot(d, resolution=resolution)


def three(segment: int = 0, **extra) -> tuple[Tendon, ...]:
    return tuple(
        Tendon(segment=segment, radius=8e-3, angle=2.0 * np.pi * i / 3.0 + 0.5 * segment, **extra) for i in range(3)
    )


@pytest.mark.parametrize("links", ["curves", "chords"])
def test_one_tendon_without_load_bends_the_rod_to_an_arc(links):
    T, r = 3.0, 8e-3
    found = robot(Tendon(segment=0, radius=r, angle=0.0), links=links).solve(tension=[T])
    kappa = T * r / EI
    if links == "chords":
        # A chord over the arc h has the moment arm r cos(kappa h / 2) - (1 - cos(kappa h / 2)) / kappa at its ends'
        # mean; the rod between two disks is a beam under that eccentric force, to fourth order this curvature.
        kappa = np.linalg.norm(found.robot.chain.basis[0, 0, :3] @ found.x)
        assert kappa == pytest.approx(T * r / EI, rel=0.03)
        return
    tip = [(1.0 - np.cos(kappa * 0.2)) / kappa, 0.0, np.sin(kappa * 0.2) / kappa]
    assert found.tip == pytest.approx(tip, abs=1e-7)
    assert found.path[0] == pytest.approx(0.2 * (1.0 - kappa * r), abs=1e-9)


def test_a_tendon_wound_around_an_arc_loses_tension_as_the_capstan_says():
    mu, T = 0.2, 3.0
    tendon = Tendon(segment=0, radius=8e-3, angle=0.0, friction=mu, presliding=1e-6)
    found = robot(tendon).solve(tension=[T])
    # Ten steps, of which the first and last Gauss point leave 0.2113 each: the turn counts between these points.
    angle = (1.0 - 2.0 * 0.2113 / 10.0) * np.arccos(found.rotation[-1][2, 2])
    assert found.end_tension[0] == pytest.approx(T * np.exp(-mu * angle), rel=3e-4)


def test_friction_remembers_the_side_a_command_is_reached_from():
    arm = robot(*three(drive_stiffness=4000.0, pretension=4.0, friction=0.2), links="chords")
    d = 1.5e-3 * np.array([1.0, -0.5, -0.5])
    up, _, down = arm.follow([d, 2.0 * d, d])
    assert np.linalg.norm(up.tip - down.tip) > 5e-4
    free = robot(*three(drive_stiffness=4000.0, pretension=4.0), links="chords")
    up, _, down = free.follow([d, 2.0 * d, d])
    assert down.tip == pytest.approx(up.tip, abs=1e-8)


def shoot(tendons, tensions, force):
    """Return the tip of an inextensible rod with continuous tendons, by SciPy on the strong form.

    N and M are force and moment in rod and tendons together: N' = 0, M' = -p' x N, and M = K u + sum T r x t.
    """
    from scipy.integrate import solve_ivp

    K = np.array([EI, EI, EI * 2.0 * 23.0 / 60.0])

    def strain(s, moment):
        u = moment / K
        for _ in range(12):
            miss, slope = K * u - moment, np.diag(K)
            for t, T in zip(tendons, tensions):
                r, dr = np.append(t.place(s / 0.2), 0.0), np.append(t.slope(s / 0.2) / 0.2, 0.0)
                e = np.array([0.0, 0.0, 1.0]) + np.cross(u, r) + dr
                size = np.linalg.norm(e)
                miss = miss + T * np.cross(r, e / size)
                A = -np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])
                slope = slope + T / size * A.T @ (np.eye(3) - np.outer(e, e) / size**2) @ A
            step = np.linalg.solve(slope, miss)
            u = u - step
            if np.abs(step).max() < 1e-12:
                break
        return u

    def slope(s, y):
        R = y[3:12].reshape(3, 3)
        u = strain(s, R.T @ y[12:])
        hat = np.array([[0.0, -u[2], u[1]], [u[2], 0.0, -u[0]], [-u[1], u[0], 0.0]])
        return np.concatenate([R[:, 2], (R @ hat).ravel(), -np.cross(R[:, 2], force)])

    def end(moment):
        start = np.concatenate([np.zeros(3), np.eye(3).ravel(), moment])
        return solve_ivp(slope, (0.0, 0.2), start, method="DOP853", rtol=1e-9, atol=1e-11).y[:, -1]

    moment = np.cross([0.0, 0.0, 0.2], force)
    for _ in range(12):
        at = end(moment)
        J = np.array([(end(moment + 1e-6 * e)[12:] - at[12:]) / 1e-6 for e in np.eye(3)]).T
        step = np.linalg.solve(J, -at[12:])
        moment = moment + step
        if np.abs(step).max() < 1e-10:
            return end(moment)[:3]
    raise AssertionError("the shooting does not converge")


def test_helical_and_tapered_tendons_with_a_load_agree_with_an_independent_shooting():
    tendons = (
        Tendon(segment=0, radius=8e-3, angle=0.3, turn=2.0),
        Tendon(segment=0, radius=9e-3, angle=2.5, tip_radius=4e-3),
    )
    force = np.array([0.1, 0.15, -0.05])
    arm = robot(*tendons, resolution=Resolution(elements=2, bending=6, torsion=5))
    found = arm.solve(tension=[2.5, 1.5], loads=arm.loads(wrench=[0.0, 0.0, 0.0, *force], gravity=(0.0, 0.0, 0.0)))
    assert found.tip == pytest.approx(shoot(tendons, [2.5, 1.5], force), abs=2e-7)


def test_without_tension_a_rod_is_that_of_the_statics_of_parallel_robots():
    from pliant.rods import ContinuumParallelRobot, DistalJoint, Limb, RobotDescription

    rod = dataclasses.replace(ROD, density=8000.0, length=0.3)
    wrench = np.array([0.1, 0.2, -0.1, 0.01, 0.02, 0.015])
    limb = Limb(rod=rod, distal=DistalJoint(kind="fixed"))
    d = RobotDescription(name="rod", limbs=(limb,), gravity=(1.0, 2.0, -9.0), home=pose((0.0, 0.0, 0.3)))
    X = ContinuumParallelRobot(d, accuracy="accurate").solve_dgm(np.zeros(0), wrench).plate_pose
    fine = Resolution(elements=8, steps=2, bending=4, torsion=4, shear=3, stretch=3)
    segment = Segment(rod=rod, disks=16, disk_radius=0.01)
    arm = TendonRobot(
        TendonRobotDescription(name="rod", segments=(segment,), tendons=(), gravity=(1.0, 2.0, -9.0)), resolution=fine
    )
    found = arm.solve(tension=np.zeros(0), loads=arm.loads(wrench=[*wrench[3:], *wrench[:3]]))
    assert found.tip == pytest.approx(X[:3, 3], abs=1e-8)


def test_lengths_and_tensions_of_one_equilibrium_give_the_same_shape():
    arm = robot(
        *three(), *three(1), segments=2, links="chords", resolution=Resolution(elements=1, bending=3, torsion=1)
    )
    a = arm.solve(tension=[3.0, 1.0, 0.5, 0.6, 2.0, 0.7])
    straight = np.array([arm.straight[slice(*t)].sum() for t in arm.chain.tendon])
    b = arm.solve(pull=straight - a.path, start=a)
    assert b.tip == pytest.approx(a.tip, abs=1e-8)
    assert b.tension == pytest.approx(a.tension, abs=1e-4)


def test_an_elastic_tendon_is_slack_where_its_path_is_shorter_than_the_tendon():
    arm = robot(*three(drive_stiffness=3000.0), links="chords")
    found = arm.solve(pull=[3e-3, -5e-3, 0.0])
    assert found.slack == [1]
    assert found.tension[0] > 0.1
    T = 3000.0 * (found.path + found.command - [arm.straight[slice(*t)].sum() for t in arm.chain.tendon])
    assert found.tension[[0, 2]] == pytest.approx(np.maximum(T, 0.0)[[0, 2]], abs=1e-5)


def test_jacobian_and_compliance_are_the_derivatives_of_the_tip():
    arm = robot(*three(drive_stiffness=3000.0, pretension=5.0), links="chords", tip_offset=(0.0, 0.002, 0.01))
    d = np.array([1.5e-3, -0.5e-3, -0.8e-3])
    found = arm.solve(pull=d)
    numeric = [(arm.solve(pull=d + e).tip - arm.solve(pull=d - e).tip) / 2e-6 for e in 1e-6 * np.eye(3)]
    assert found.jacobian()[3:] == pytest.approx(np.array(numeric).T, abs=1e-4)
    F = 1e-5 * np.eye(6)
    tips = [[arm.solve(pull=d, loads=arm.loads(wrench=sign * f)).tip for sign in (1, -1)] for f in F]
    moved = [(a - b) / 2e-5 for a, b in tips]
    assert found.compliance()[3:] == pytest.approx(np.array(moved).T, rel=2e-3, abs=2e-5)


def test_a_rod_under_more_than_its_buckling_load_is_found_bent_aside():
    v = ROD.values(0.5)
    tube = GivenStiffness(bending=v.bending, torsion=v.torsion, axial=v.axial, shear=v.shear)  # a tendon has room in it
    arm = robot(Tendon(segment=0, radius=0.0, angle=0.0), links="chords", rod=dataclasses.replace(ROD, section=tube))
    # The force of a central tendon turns with the disks; between two of them it acts as on Euler's rod.
    assert arm.solve(tension=[50.0]).stable
    load = np.pi**2 * EI / (4.0 * 0.2**2)
    bare = robot()
    for share in (0.98, 1.02):
        found = bare.solve(tension=np.zeros(0), loads=bare.loads(wrench=[0, 0, 0, 0, 0, -share * load]))
        assert found.stable
        assert found.stability() > 0.0
        assert (np.hypot(*found.tip[:2]) > 0.01) == (share > 1.0)


def test_the_inverse_model_reaches_a_place_with_the_least_tensions():
    arm = robot(
        *three(), *three(1), segments=2, links="chords", resolution=Resolution(elements=1, bending=3, torsion=1)
    )
    goal = arm.solve(tension=[2.0, 0.3, 0.4, 0.5, 1.0, 0.3]).tip
    found = arm.solve_igm(goal)
    assert found.tip == pytest.approx(goal, abs=1e-6)
    assert np.linalg.norm(found.tension) < np.linalg.norm([2.0, 0.3, 0.4, 0.5, 1.0, 0.3])
    # No neighbour that keeps the tip needs less: the gradient of the sum of squares lies in the rows of the Jacobian.
    free = found.tension > 1e-6
    J = found.jacobian()[3:][:, free]
    T = found.tension[free]
    rest = T - J.T @ np.linalg.lstsq(J.T, T, rcond=None)[0]
    assert np.abs(rest).max() < 0.02 * T.max()
    with pytest.raises(NoTendonEquilibrium, match="nearest tip found"):
        arm.solve_igm([0.0, 0.0, 0.6])


def test_a_robot_that_stands_elsewhere_reaches_the_same_places_from_there():
    here, offset = TendonRobot(generic()), np.array([0.8, -0.5, 0.3])
    there = TendonRobot(dataclasses.replace(generic(), base=pose(offset)))
    for tension in np.random.default_rng(0).uniform(0.0, 12.0, (11, 6))[[3, 10]]:
        goal = here.solve(tension=tension).tip
        assert here.solve_igm(goal).tip == pytest.approx(goal, abs=1e-6)
        assert there.solve_igm(goal + offset).tip == pytest.approx(goal + offset, abs=1e-6)


def test_bad_routings_are_named_with_the_valid_number():
    with pytest.raises(ModelError, match=r"leaves the base plate: .* 13 mm from the axis, the disk's radius is 12 mm"):
        robot(Tendon(segment=0, radius=13e-3, angle=0.0))
    with pytest.raises(ModelError, match=r"tendons 0 and 1 cross .* must be at least 0.3 mm"):
        robot(Tendon(segment=0, radius=8e-3, angle=0.0, turn=1.0), Tendon(segment=0, radius=8e-3, angle=1.0, turn=-1.0))
    for radius, links, why in (
        (8e-4, "chords", r"lies in the rod 0 mm .* 0.8 mm from the axis of the rod, must be at least 0.85 mm"),
        (0.0, "curves", "lies in the rod"),
    ):
        with pytest.raises(ModelError, match=why):
            robot(Tendon(segment=0, radius=radius, angle=0.0), links=links)
    straight, through = ((8e-3, 0.0),) * 9, ((8e-3, 0.0), (-8e-3, 0.0))
    with pytest.raises(ModelError, match=r"tendon 0 lies in the rod 190 mm from the base: its axis is 0 mm"):
        robot(Tendon(segment=0, radius=8e-3, angle=0.0, holes=straight + through), links="chords")
    with pytest.raises(ModelError, match="passes no disk of it; valid are 0 to 0"):
        robot(Tendon(segment=1, radius=8e-3, angle=0.0))
    with pytest.raises(ModelError, match="disks must be >= 1"):
        robot(*three(), disks=0)


def test_helices_that_meet_between_two_disks_cross_and_those_beside_each_other_do_not():
    fast = dataclasses.replace(three()[0], angle=0.0, turn=20.0 * np.pi)
    with pytest.raises(ModelError, match="tendons 0 and 1 cross"):  # at each disk they are opposite
        robot(fast, dataclasses.replace(fast, angle=np.pi, turn=0.0), resolution=None)
    robot(fast, dataclasses.replace(fast, angle=np.pi), resolution=None)


def test_a_helix_is_resolved_or_refused_with_the_steps_that_are_enough():
    fast = dataclasses.replace(three()[0], turn=40.0)
    one = robot(fast, resolution=None)
    assert one.resolution.steps == 2
    fine = robot(fast, resolution=dataclasses.replace(one.resolution, steps=8))
    assert one.solve(tension=[2.0]).tip == pytest.approx(fine.solve(tension=[2.0]).tip, abs=5e-5)
    with pytest.raises(ModelError, match="steps must be at least 2"):
        robot(fast, resolution=dataclasses.replace(one.resolution, steps=1))


def test_equal_tensions_between_disks_bend_the_rod_beyond_the_analytic_limit(caplog):
    # Chords of an evenly bent rod are shorter by (kappa h)^2 / 24 of h: N T h^2 / 24 kappa^2 against E I kappa^2 / 2.
    arm = robot(*three(breaking_load=200.0), links="chords", resolution=None, gravity=(0.0, 0.0, 0.0))
    limit = 12.0 * EI / (3.0 * 0.02**2)
    for factor in (0.98, 1.02):
        found = arm.solve(tension=[factor * limit] * 3)
        assert found.stable == (factor < 1.0) == (found.stability() > 0.0)
        assert ("is unstable" in caplog.text) == (factor > 1.0)
    assert np.isnan(arm.workspace([[1.02 * limit] * 3])).all()


def test_bad_commands_are_named_with_the_valid_number():
    arm = robot(*three(drive_stiffness=3000.0, breaking_load=20.0), links="chords")
    with pytest.raises(PliantError, match=r"makes all 3 tendons slack.* becomes taut at 0\.000 mm"):
        arm.solve(pull=[-1e-3, -1e-3, -1e-3])
    with pytest.raises(PliantError, match="must be >= 0 N"):
        arm.solve(tension=[-1.0, 0.0, 0.0])
    with pytest.raises(PliantError, match="breaks at 20 N; must be at most that"):
        arm.solve(tension=[21.0, 0.0, 0.0])
    with pytest.raises(PliantError, match="it breaks at 20 N, at about"):
        arm.solve(pull=[8e-3, 8e-3, 8e-3])
    with pytest.raises(PliantError, match="200 mm of it are in the robot"):
        arm.solve(pull=[0.3, 0.0, 0.0])
    with pytest.raises(PliantError, match="needs 3 finite numbers"):
        arm.solve(pull=[0.0, np.nan, 0.0])
    rigid = robot(*three(), links="chords")
    with pytest.raises(PliantError, match=r"no equilibrium for the command|breaks at"):
        rigid.solve(pull=[5e-3, 5e-3, 5e-3])


def test_a_segment_of_one_disk_bends_to_the_arc_of_its_tension():
    arm = robot(Tendon(segment=0, radius=8e-3, angle=0.0), resolution=None, disks=1)
    found = arm.solve(tension=[2.0])
    assert found.rotation[-1, 0, 2] == pytest.approx(np.sin(0.2 * 2.0 * 8e-3 / EI), rel=1e-6)


@pytest.mark.parametrize("key", ["distributed_force", "distributed_moment"])
def test_distributed_loads_of_a_backbone_are_refused(key):
    with pytest.raises(ModelError, match=f"segment: the rod has a {key} of .*must be 0"):
        robot(*three(), rod=dataclasses.replace(ROD, **{key: (0.0, 0.1, 0.0)}))

"""Whatever stands in a field of a rod, a tendon, a tube or a load, it is taken or named with what is valid."""

import dataclasses
import math

import numpy as np
import pytest

from pliant.base.errors import PliantError
from pliant.base.spatial import pose
from pliant.rods import ContinuumParallelRobot, Rod, Round, load_robot
from pliant.rods.between.loads import DistributedLoad, PointLoad
from pliant.rods.between.statics import solve_rod
from pliant.rods.description import BaseJoint, GivenStiffness, Rectangular
from pliant.rods.model.rod_between import RodBetween
from pliant.rods.tendons import Resolution, TendonRobot
from pliant.rods.tendons.description import Tendon, TendonRobotDescription
from pliant.rods.tendons.robots import generic
from pliant.rods.tubes.description import Tube, TubesDescription

NAN, INF = math.nan, math.inf
NUMBERS = (NAN, INF, -INF, "4 mm", None, [1.0], True)
VECTORS = ((1.0, 2.0), (1.0, 2.0, 3.0, 4.0), (NAN, 0.0, 0.0), "down", None, 5.0)
POSES = (np.eye(3), np.full((4, 4), NAN), np.zeros((4, 4)), np.diag([1.0, 1.0, -1.0, 1.0]), None, "here")
WORDS = ("", None, 5)

ROD = Rod(length=0.2, section=Round(radius=5e-4))
TUBE = Tube(length=0.2, curved_length=0.05, curvature=5.0, outer_radius=1e-3, inner_radius=8e-4)
TENDON = Tendon(segment=0, radius=4e-3, angle=0.0)
ROBOT = generic()

FIELDS = [
    (ROD, "length young_modulus shear_modulus density", (*NUMBERS, -1.0)),
    (ROD, "distributed_force distributed_moment", VECTORS),
    (ROD, "precurvature", (5.0, "bent", ((0.0, 1.0),), ((0.0, NAN, 0.0, 0.0),))),
    (ROD.section, "radius", (*NUMBERS, 0.0)),
    (Rectangular(width=1e-3, height=1e-3), "width height", (*NUMBERS, 0.0)),
    (GivenStiffness(bending=(1.0, 1.0), torsion=1.0, axial=1e4, shear=(1e4, 1e4)), "torsion axial", (*NUMBERS, 0.0)),
    (BaseJoint(kind="prismatic"), "axis", (*VECTORS, (0.0, 0.0, 0.0))),
    (TENDON, "segment", (0.5, "a", True, None, NAN, -1, 9)),
    (TENDON, "radius pretension slack friction guide_angle diameter", (*NUMBERS, -1.0)),
    (TENDON, "angle turn", NUMBERS),
    (TENDON, "presliding breaking_load", (*NUMBERS, 0.0)),
    (TENDON, "drive_stiffness axial_stiffness", (0.0, -1.0, NAN, INF, "stiff")),
    (TENDON, "tip_radius", (-1.0, NAN, "x")),
    (TENDON, "holes", (((0.0, 0.0),), ((NAN, 0.0),) * 6, ((0.0, 0.0, 0.0),) * 6, "abc", (5.0,) * 6, 5)),
    (ROBOT.segments[0], "disks", (0, 2.5, "a", True, None, NAN)),
    (ROBOT.segments[0], "disk_radius disk_mass", (*NUMBERS, -1.0)),
    (ROBOT.segments[0], "rod", (None, "steel")),
    (ROBOT, "name", WORDS),
    (ROBOT, "segments tendons", ((1,), 5, "x")),
    (ROBOT, "base", POSES),
    (ROBOT, "gravity tip_offset", VECTORS),
    (ROBOT, "tip_mass", (*NUMBERS, -1.0)),
    (ROBOT, "links", ("x", None)),
    (Resolution(), "elements steps bending torsion shear stretch", (-2, 1.5, "x", None, NAN, True)),
    (TUBE, "length outer_radius curvature young_modulus density", (*NUMBERS, -1.0)),
    (TubesDescription(name="tubes", tubes=(TUBE,)), "name", WORDS),
    (TubesDescription(name="tubes", tubes=(TUBE,)), "tubes", ((1,), 5, ())),
    (TubesDescription(name="tubes", tubes=(TUBE,)), "base", POSES),
    (TubesDescription(name="tubes", tubes=(TUBE,)), "gravity", VECTORS),
    (PointLoad(at=0.5), "at", (*NUMBERS, -0.1, 1.1)),
    (PointLoad(at=0.5), "force moment", VECTORS),
    (DistributedLoad(), "begin end", (*NUMBERS, -0.1, 1.1)),
    (RodBetween(name="r", rod=ROD, body_a="world", body_b=None), "name", WORDS),
    (RodBetween(name="r", rod=ROD, body_a="world", body_b=None), "damping", (*NUMBERS, -1.0)),
    (RodBetween(name="r", rod=ROD, body_a="world", body_b=None), "contact", ("x", None, 1)),
    (RodBetween(name="r", rod=ROD, body_a="world", body_b=None), "body_a", (None, 5)),
    (RodBetween(name="r", rod=ROD, body_a="world", body_b=None), "pose_a pose_b", POSES),
    (RodBetween(name="r", rod=ROD, body_a="world", body_b=None), "loads", (5, (1,), "x")),
]


@pytest.mark.parametrize(
    ("whole", "name", "values"),
    [pytest.param(w, name, v, id=f"{type(w).__name__}.{name}") for w, names, v in FIELDS for name in names.split()],
)
def test_a_wrong_value_of_a_field_is_named(whole, name, values):
    for value in values:
        with pytest.raises(PliantError) as caught:
            change(whole, name, value)
        assert caught.value.field == name or name in str(caught.value), value


def change(whole, name, value):
    changed = dataclasses.replace(whole, **{name: value})
    if isinstance(changed, Tendon):  # some of it only the disks tell
        TendonRobotDescription(name="r", segments=ROBOT.segments, tendons=(changed,))


@pytest.fixture(scope="module")
def robot():
    return TendonRobot(ROBOT)


@pytest.mark.parametrize("command", [[1.0, 2.0], [[1e-3] * 6] * 2, "abc", [None] * 6, [NAN] * 6, [], 5.0, [["a"] * 6]])
def test_a_wrong_command_names_how_many_numbers_are_valid(robot, command):
    for name in ("pull", "tension"):
        with pytest.raises(PliantError, match="a command needs 6 finite numbers, found"):
            robot.solve(**{name: command})


@pytest.mark.parametrize(
    ("loads", "message"),
    [
        ({"wrench": [1.0, 2.0]}, "wrench .* must be 6 numbers"),
        ({"follower": "x"}, "follower .* must be 6 numbers"),
        ({"at": {-3: [0.0] * 6}}, "there is no node -3; valid are 0 to"),
        ({"at": {1: [NAN] * 6}}, "at .* must be 6 numbers"),
        ({"gravity": [NAN] * 3}, "gravity .* must be three numbers"),
    ],
)
def test_a_wrong_load_is_named(robot, loads, message):
    with pytest.raises(PliantError, match=message):
        robot.loads(**loads)


def test_the_nearest_tip_that_a_refusal_names_is_as_far_as_it_says(robot, monkeypatch):
    solved, solve = [], TendonRobot.solve
    monkeypatch.setattr(TendonRobot, "solve", lambda *given, **named: solved.append(1) or solve(*given, **named))
    with pytest.raises(PliantError, match="the nearest tip found is") as caught:
        robot.solve_igm([0.0, 0.0, 5.0])
    text = str(caught.value)
    tip = np.array([float(x) for x in text.split("[")[1].split("]")[0].split(",")])
    away = float(text.split("mm, ")[1].split()[0])
    assert np.abs(tip - [0.0, 0.0, 5000.0]).max() == pytest.approx(away, rel=5e-3)
    assert len(solved) < 10  # no tension makes the backbone longer: to pull until it buckles took 68, and 10 s


def test_a_start_of_another_robot_is_refused(robot):
    other = TendonRobot(dataclasses.replace(ROBOT, segments=ROBOT.segments[:1], tendons=ROBOT.tendons[:3]))
    with pytest.raises(PliantError, match="start is an equilibrium of another robot"):
        robot.solve(pull=[0.0] * 6, start=other.solve(pull=[0.0] * 3))


@pytest.mark.parametrize("X", POSES[:4], ids=["3 x 3", "not finite", "zero", "mirror"])
def test_a_rod_between_no_poses_is_refused(X):
    with pytest.raises(PliantError, match="X_b"):
        solve_rod(ROD, np.eye(4), X)
    assert solve_rod(ROD, np.eye(4), pose((0.02, 0.0, 0.19))).wrench_b.shape == (6,)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"precurvature": ((0.0, 0.1, 0.0, 0.0),)}, "limb1: the rod's precurvature leaves the plane"),
        ({"precurvature": ((0.0, 0.0, 0.1, 0.2),)}, "limb1: the rod's precurvature leaves the plane"),
        ({"distributed_force": (0.0, 0.0, 1.0)}, "limb1: distributed_force must be in the plane"),
        ({"distributed_moment": (0.1, 0.0, 0.0)}, "distributed_moment about z"),
    ],
)
def test_what_bends_a_rod_of_a_planar_robot_out_of_its_plane_is_refused(fields, words):
    d = load_robot("3RR").description
    limb = dataclasses.replace(d.limbs[0], rod=dataclasses.replace(d.limbs[0].rod, **fields))
    with pytest.raises(PliantError, match=words):
        ContinuumParallelRobot(dataclasses.replace(d, limbs=(limb, *d.limbs[1:])))

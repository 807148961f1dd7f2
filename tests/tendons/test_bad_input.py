"""Whatever stands in a field of a tendon, a command or a load, it is taken or named with what is valid."""

import dataclasses

import numpy as np
import pytest
from wrong_values import INF, NAN, NUMBERS, POSES, VECTORS, WORDS

from pliant.base.errors import PliantError
from pliant.tendons import Resolution, TendonRobot
from pliant.tendons.description import Tendon, TendonRobotDescription
from pliant.tendons.robots import generic

TENDON = Tendon(segment=0, radius=4e-3, angle=0.0)
ROBOT = generic()

FIELDS = [
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

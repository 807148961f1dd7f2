"""Paths of joint values and plate poses."""

import numpy as np
import pytest

from pliant.base.errors import PliantError
from pliant.parallel.page.pose_path import MAX_ROWS, PosePath
from pliant.rods import load_robot

BOTH = "q1,q2,q3,q4,q5,q6,x,y,z,roll,pitch,yaw\n3,0,0,0,0,0,4,0,0,0,0,0\n0,0,0,0,0,0,0,0,0,0,0,0\n"
"""A table as `pliant cpr solve --output` writes it."""


@pytest.fixture(scope="module")
def spatial():
    return load_robot("6PFR")


@pytest.fixture
def path(spatial):
    return PosePath(spatial)


def test_joint_values_go_in_straight_lines_through_every_row(path):
    rows = np.array([[0.0] * 6, [0.1] * 6, [0.0, 0.2, 0.0, 0.0, 0.0, 0.0]])
    for row in rows:
        path.add(row, direct=True)
    for place, expected in ((0.0, rows[0]), (0.25, 0.5 * rows[1]), (0.5, rows[1]), (1.0, rows[2])):
        path.place = place
        np.testing.assert_allclose(path.values(), expected, atol=1e-12)


def test_poses_turn_the_shortest_way(path):
    path.add((0.0, 0.0, 1.1, 0.0, 0.0, 3.0), direct=False)
    path.add((0.1, 0.0, 1.1, 0.0, 0.0, -3.0), direct=False)
    path.place = 0.5
    found = path.values()
    assert found[0] == pytest.approx(0.05)
    assert abs(found[5]) == pytest.approx(np.pi)


def test_a_planar_pose_turns_the_shortest_way():
    path = PosePath(load_robot("3RR"))
    path.add((0.0, 0.0, 3.0), direct=False)
    path.add((0.0, 0.0, -3.0), direct=False)
    path.place = 0.5
    assert abs(path.values()[2]) == pytest.approx(np.pi)


def test_a_path_plays_to_its_end_and_begins_again(path):
    with pytest.raises(PliantError, match="must be 2 or more"):
        path.play()
    for k in range(3):
        path.add([0.01 * k] * 6, direct=True)
    path.play()
    path.advance(0.5 * path.duration)
    assert path.playing
    assert path.place == pytest.approx(0.5)
    path.advance(path.duration)
    assert not path.playing
    assert path.place == 1.0
    path.play()
    assert path.place == 0.0


def test_rows_of_two_kinds_are_not_mixed(path):
    path.add([0.0] * 6, direct=True)
    with pytest.raises(PliantError, match="the rows of the path are joint values; clear it"):
        path.add([0.0] * 6, direct=False)
    path.clear()
    path.add([0.0] * 6, direct=False)


@pytest.mark.parametrize(
    ("text", "direct", "found", "first"),
    [
        ("0,0,0,0,0,0\n0.1,0,0,0,0,0\n", True, True, 0.0),
        ("0,0,1,0,0,0\n0.1,0,1,0,0,0\n", False, False, 0.0),
        ("q1,q2,q3,q4,q5,q6\n1,0,0,0,0,0\n0,0,0,0,0,0\n", False, True, 1.0),
        ("x y z roll pitch yaw\n2 0 0 0 0 0\n0 0 0 0 0 0\n", True, False, 2.0),
        (BOTH, True, True, 3.0),
        (BOTH, False, False, 4.0),
    ],
)
def test_a_table_becomes_the_path_and_its_header_says_what_it_is(path, text, direct, found, first):
    path.load(text.encode(), "rows.csv", direct=direct)
    assert path.direct is found
    assert len(path.rows) == 2
    assert path.rows[0][0] == first
    assert len(path.values()) == 6


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"0,0,0,0,0,0\n", "the table has 1 rows; must be 2 to 5000"),
        (b"0,0,0,0,0\n" * 3, "5 numbers in a row; must be 6"),
        (b"0,0,0,0,0,0\n" * (MAX_ROWS + 1), f"{MAX_ROWS + 1} rows"),
        (b"\xff\xff", "not UTF-8"),
        (b"q1,q3,q2,q4,q5,q6\n" + b"0,0,0,0,0,0\n" * 3, "the order must be"),
    ],
)
def test_a_table_that_is_no_path_is_refused_and_the_path_stays(path, data, message):
    path.add([0.5] * 6, direct=True)
    with pytest.raises(PliantError, match=message) as caught:
        path.load(data, "rows.csv", direct=True)
    assert "rows.csv" in str(caught.value)
    assert path.rows == [(0.5,) * 6]

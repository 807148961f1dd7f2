"""Tables of parallel robots as text."""

import numpy as np
import pytest

from pliant.base.errors import PliantError
from pliant.rods import load_robot
from pliant.rods.tables import SHAPE_COLUMNS, joint_columns, parse_table, plate_columns, shape_rows, table_text

ROWS = np.array([[0.1, -0.2], [1.0 / 3.0, 4e-5]])


def test_a_table_is_read_as_it_was_written():
    text = table_text(joint_columns(2), ROWS)
    assert text.splitlines()[0] == "q1,q2"
    np.testing.assert_allclose(parse_table(text.encode(), "t.csv", [2], joint_columns(2)), ROWS, rtol=1e-8)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the table has no rows"),
        (b"\xff\xfe", "not UTF-8"),
        (b"1,2\n3\n", r"t.csv:2: 1 numbers in a row; must be 2"),
        (b"1,nan\n", "not finite"),
        (b"q2,q1\n1,2\n", "the order must be q1,q2"),
        (b"1;2,5\n", "decimal comma"),
        (b"1,2\na,b\n", "t.csv:2: not numbers"),
    ],
)
def test_a_table_that_is_none_is_refused_with_its_line(data, message):
    with pytest.raises(PliantError, match=message):
        parse_table(data, "t.csv", [2], joint_columns(2))


def test_the_columns_are_those_of_the_robot():
    assert plate_columns(True) == (["x", "y", "angle"], ["fx", "fy", "mz"])
    assert len(plate_columns(False)[0]) == len(plate_columns(False)[1]) == 6


def test_the_shapes_of_the_rods_begin_and_end_where_the_rods_do():
    home = load_robot("2RR").home()
    rows = shape_rows(home, 11)
    assert rows.shape == (22, len(SHAPE_COLUMNS))
    for i in (0, 1):
        mine = rows[rows[:, 0] == i + 1]
        line = home.centreline(i, 11)
        np.testing.assert_allclose(mine[[0, -1], 2:5], line.position[[0, -1]])
        np.testing.assert_allclose(mine[:, 11], line.bending_strain)

"""Robots from the text of a file that a browser gives."""

import pytest
from tripod import TRIPOD

from pliant.errors import PliantError
from pliant.viewer.robot_files import MAX_ROBOT_BYTES, read_robot


def test_a_description_becomes_a_robot_in_its_home_equilibrium():
    robot = read_robot(TRIPOD.encode(), "tripod.yaml")
    assert robot.name == "tripod"
    assert robot.home().stable


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "my.yaml: the file holds no values"),
        (b"\xff", "not UTF-8 text"),
        (b"limbs: 3", "needs a list of one limb or more"),
        (TRIPOD.replace("universal", "uniwersal").encode(), "my.yaml:"),
        (TRIPOD.replace("name: tripod", "name: 3RR").encode(), "there is a robot '3RR' already"),
        (TRIPOD.replace("name: tripod", 'name: "a\\nb"').encode(), "1 to 60 printable characters"),
        (b"[" * 20000, "my.yaml"),
        (b"a: &a [1]\nb: *a", "my.yaml"),
        (b"#" * (MAX_ROBOT_BYTES + 1), "must be at most"),
        (TRIPOD.replace("controlled: [z, rx, ry]", "controlled: [z, up, ry]").encode(), "my.yaml"),
    ],
)
def test_a_file_that_describes_no_robot_is_refused_with_the_reason(data, message):
    with pytest.raises(PliantError, match=message):
        read_robot(data, "my.yaml", taken=["3RR"])


def test_a_robot_with_more_limbs_than_a_page_solves_is_refused():
    limb = "  - {{base: {{xyz: [{0}, 0, 0]}}, plate_joint: {{xyz: [{0}, 0, 0]}}}}\n"
    head = TRIPOD.partition("limbs:")[0].replace(", q: [0, 0, 0]", "").replace("controlled: [z, rx, ry]", "")
    text = head + "limbs:\n" + "".join(limb.format(0.01 * k) for k in range(40))
    with pytest.raises(PliantError, match="has 40 limbs; must be at most 32"):
        read_robot(text.encode(), "my.yaml")

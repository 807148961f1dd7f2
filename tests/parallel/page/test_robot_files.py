"""Robots from the text of a file that a browser gives."""

from importlib import resources

import numpy as np
import pytest
from tripod import TRIPOD

from pliant.base.errors import PliantError
from pliant.parallel.page.robot_files import MAX_ROBOT_BYTES, read_robot
from pliant.rods import ContinuumParallelRobot


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


@pytest.mark.parametrize("name", ["6PFR", "6pfr", "3rr", "stewart_gough_6PFR", "QBMOVE-1dof"])
def test_a_name_by_which_the_catalogue_is_known_is_refused_in_any_case_of_its_letters(name):
    text = TRIPOD.replace("name: tripod", f"name: {name}")
    with pytest.raises(PliantError, match=rf"my.yaml: there is a robot '{name}' already"):
        read_robot(text.encode(), "my.yaml", taken=["3RR", "qbmove-1dof"])


def test_a_robot_without_a_home_equilibrium_is_refused_with_the_file_and_the_reason():
    with pytest.raises(PliantError, match=r"^my\.yaml: the home pose cannot be solved: tripod: no equilibrium"):
        read_robot(TRIPOD.replace("50 g", "1e3 kg").encode(), "my.yaml")


def test_numbers_that_leave_every_range_are_refused_with_the_file_and_nothing_else_is_printed(capfd):
    text = (resources.files("pliant.rods") / "catalogue" / "Stewart_Gough_6PFR.yaml").read_text()
    text = text.replace('name: "Stewart_Gough_6PFR"', "name: mine").replace("aliases: [6PFR]\n", "")
    text = text.replace("mass: 0.112", "mass: 1e6")
    with pytest.raises(PliantError, match=r"^my\.yaml: the home pose cannot be solved: mine: no equilibrium"):
        read_robot(text.encode(), "my.yaml")
    out, err = capfd.readouterr()
    assert "DLASCL" not in out + err
    assert "Warning" not in out + err


def test_a_fault_of_the_linear_algebra_is_refused_with_the_file(monkeypatch):
    def fail(self):
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr(ContinuumParallelRobot, "home", fail)
    with pytest.raises(PliantError, match=r"^my\.yaml: the home pose cannot be solved: .*SVD did not converge"):
        read_robot(TRIPOD.encode(), "my.yaml")


def test_a_robot_with_more_limbs_than_a_page_solves_is_refused():
    limb = "  - {{base: {{xyz: [{0}, 0, 0]}}, plate_joint: {{xyz: [{0}, 0, 0]}}}}\n"
    head = TRIPOD.partition("limbs:")[0].replace(", q: [0, 0, 0]", "").replace("controlled: [z, rx, ry]", "")
    text = head + "limbs:\n" + "".join(limb.format(0.01 * k) for k in range(40))
    with pytest.raises(PliantError, match="has 40 limbs; must be at most 32"):
        read_robot(text.encode(), "my.yaml")

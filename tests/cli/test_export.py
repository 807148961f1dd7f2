"""`pliant export urdf` and `pliant export mjcf`."""

import xml.etree.ElementTree as ET

import pytest

from pliant.robots.loading import load

MESH = """<mujoco model="boat"><asset><mesh name="hull" vertex="0 0 0  1 0 0  0 1 0  0 0 1"/></asset>
  <worldbody><geom name="sea" type="plane" size="1 1 1"/>
  <body name="boat"><joint name="roll" armature="0.1"/><geom type="mesh" mesh="hull"/></body></worldbody></mujoco>"""


@pytest.fixture
def boat(tmp_path):
    path = tmp_path / "boat.xml"
    path.write_text(MESH)
    return path


def test_a_robot_is_written_and_read_again(call, robot_file, tmp_path):
    code, out, _ = call("export", "urdf", robot_file, "--output", tmp_path / "arm.urdf")
    assert code == 0
    assert f"written: {tmp_path / 'arm.urdf'}" in out
    assert load(tmp_path / "arm.urdf").actuators == load(robot_file).actuators


def test_without_a_file_the_text_is_printed_and_the_notes_are_not_in_it(call, robot_file):
    code, out, err = call("export", "urdf", robot_file)
    assert code == 0
    root = ET.fromstring(out)
    assert root.find("ros2_control/joint").get("name") == "elbow"
    code, out, err = call("export", "urdf", "qbmove-1dof")
    assert ET.fromstring(out).tag == "robot"
    assert "note: shapes that URDF lacks" in err


def test_meshes_go_beside_the_file(call, boat, tmp_path):
    (tmp_path / "out").mkdir()
    file = tmp_path / "out" / "boat.urdf"
    code, out, _ = call("export", "urdf", boat, "--output", file, "--package", "boat_description")
    assert code == 0
    assert f"and 1 mesh file in {tmp_path / 'out' / 'meshes'}" in out
    assert "note: the armature of the joints is read by pliant only" in out
    assert "package://boat_description/meshes/hull.stl" in file.read_text()
    code, _, err = call("export", "urdf", boat)
    assert code == 1
    assert "--output" in err


def test_a_file_that_exists_is_replaced_only_when_asked(call, boat, tmp_path):
    file = tmp_path / "boat.urdf"
    file.write_text("mine")
    code, _, err = call("export", "urdf", boat, "--output", file)
    assert code == 1
    assert "--overwrite" in err
    assert file.read_text() == "mine"
    assert call("export", "urdf", boat, "--output", file, "--overwrite")[0] == 0
    assert "<robot" in file.read_text()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(("urfd", "qbmove-1dof"), "did you mean 'urdf'"), (("urdf", "qbmove-1dof", "--package", "a b"), "ROS package")],
)
def test_what_is_wrong_is_said(call, arguments, says):
    code, _, err = call("export", *arguments)
    assert code == 1
    assert says in " ".join(err.split())


# -- MJCF ----------------------------------------------------------------------------------------------------------


def test_an_arm_as_mjcf_says_on_the_console_and_in_the_file_what_it_needs(call, tmp_path):
    file = tmp_path / "arm.xml"
    code, out, err = call("export", "mjcf", "qbmove-1dof", file)
    assert code == 0
    assert out.startswith(f"written: {file}")
    assert err.startswith("warning: the compliant actuators ('joint') are user actuators")
    assert "pliant.engine.install(model)" in file.read_text()


def test_the_printed_mjcf_is_the_file_and_the_warning_is_beside_it(call, tmp_path):
    file = tmp_path / "arm.xml"
    assert call("export", "mjcf", "qbmove-1dof", file)[0] == 0
    code, out, err = call("export", "mjcf", "qbmove-1dof")
    assert code == 0
    assert out == file.read_text()
    assert "pliant.engine.install(model)" in err
    assert ET.fromstring(out).tag == "mujoco"


def test_a_robot_without_compliant_actuators_is_written_without_a_warning(call, tmp_path):
    code, _, err = call("export", "mjcf", "6PFR", tmp_path / "robot.xml")
    assert code == 0
    assert err == ""

"""`pliant export urdf` and `pliant export mjcf`."""

import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

from pliant.engine import MujocoEngine
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


# Runs in a process of its own, in a folder without pliant: only MuJoCo loads the file and steps it.
SIMULATE = """
import sys
import mujoco
model = mujoco.MjModel.from_xml_path(sys.argv[1])
data = mujoco.MjData(model)
mujoco.mj_resetDataKeyframe(model, data, model.key("rest").id)
for name in sys.argv[2:]:
    data.ctrl[model.actuator_ctrladr[model.actuator(name).id]] += 0.5
mujoco.mj_step(model, data, round(4.0 / model.opt.timestep))
assert not any(name.startswith("pliant") for name in sys.modules)
print(*(data.qpos[model.joint(name).qposadr[0]] for name in sys.argv[2:]))
"""


@pytest.fixture
def in_plain_mujoco(tmp_path):
    def run(file, *joints):
        command = [sys.executable, "-c", SIMULATE, str(file), *joints]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        return [float(word) for word in done.stdout.split()]

    return run


def in_pliant(robot, *joints, settings=()):
    """Return the angles of joints 4 s after their equilibria have been moved by 0.5 rad."""
    loaded = load(robot)
    for name, value in settings:
        loaded.set(name, value)
    engine = MujocoEngine(loaded)
    for joint in joints:
        engine.data.ctrl[engine.model.actuator_ctrladr[engine.model.actuator(joint).id]] += 0.5
    engine.step(round(4.0 / engine.dt))
    return [float(engine.data.joint(joint).qpos[0]) for joint in joints]


def test_a_native_file_moves_in_plain_mujoco_outside_the_project(call, tmp_path, in_plain_mujoco):
    file = tmp_path / "arm.xml"
    code, out, err = call("export", "mjcf", "sea-1dof", file, "--native")
    assert code == 0
    assert out.startswith(f"written: {file}")
    assert "pliant.engine.install" not in err + file.read_text()
    (angle,) = in_plain_mujoco(file, "joint")
    assert angle == pytest.approx(in_pliant("sea-1dof", "joint")[0], abs=1e-9)
    assert angle > 0.4


def test_a_nonlinear_spring_is_refused_natively_until_its_fit_is_asked_for(call, tmp_path, in_plain_mujoco):
    file = tmp_path / "arm.xml"
    code, _, err = call("export", "mjcf", "qbmove-2dof", file, "--native")
    assert code == 1
    assert "law qbmove is not a linear spring" in " ".join(err.split())
    assert "--fit" in err
    assert not file.exists()
    joints = ("joint_1", "joint_2")
    smooth = [(f"{joint}.link_friction.torque", 0.0) for joint in joints]  # with friction the links stop anywhere
    settings = [word for name, value in smooth for word in ("--set", f"{name}={value}")]
    code, _, err = call("export", "mjcf", "qbmove-2dof", file, "--native", "--fit", *settings)
    assert code == 0
    said = " ".join(err.split())
    assert "the spring of joint 'joint_1' is a cubic spline fitted at the preset 0.2" in said
    assert "0.055 % of the largest torque" in said
    assert "is a cubic spline fitted at the preset 0.2" in file.read_text()
    found = in_plain_mujoco(file, *joints)
    assert found == pytest.approx(in_pliant("qbmove-2dof", *joints, settings=smooth), abs=1e-3)
    assert min(found) > 0.3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("mjcf", "sea-1dof", "--fit"), "--native"),
        (("urdf", "sea-1dof", "--native"), "the format mjcf"),
        (("urdf", "sea-1dof", "--fit"), "the format mjcf"),
    ],
)
def test_native_and_fit_belong_to_mjcf(call, arguments, says):
    code, _, err = call("export", *arguments)
    assert code != 0
    assert says in " ".join(err.split())

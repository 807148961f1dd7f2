"""URDF with ros2_control tags: written, read again, the same robot."""

import xml.etree.ElementTree as ET

import mujoco
import numpy as np
import pytest

from pliant.errors import ModelError
from pliant.laws import Mode, QbMove
from pliant.model import load
from pliant.model.export import export_urdf, read_ros2_control

ARM = """<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>
  </inertial></link>
  <joint name="elbow" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="5"/></joint>
  <ros2_control name="system" type="system">
    <hardware><plugin>some/Hardware</plugin></hardware>
    <joint name="{name}">{body}</joint>
  </ros2_control>
</robot>"""


def mass_matrices(robot, count=5):
    """Mass matrix and gravity torque at some poses, by joint name: the physics without the frames."""
    model = robot.compile()
    data = mujoco.MjData(model)
    names = sorted(model.joint(j).name for j in range(model.njnt) if model.jnt_type[j] in (2, 3))
    order = [int(model.jnt_dofadr[model.joint(n).id]) for n in names]
    out = []
    rng = np.random.default_rng(3)
    for _ in range(count):
        for name, value in zip(names, rng.uniform(-1, 1, len(names))):
            data.qpos[model.jnt_qposadr[model.joint(name).id]] = value
        mujoco.mj_forward(model, data)
        full = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, full)
        armature = np.diag(model.dof_armature)
        out.append(((full - armature)[np.ix_(order, order)], data.qfrc_bias[order].copy()))
    return names, out


@pytest.mark.parametrize("name", ["qbmove-1dof", "qbmove-2dof", "sea-1dof", "bavs-1dof", "awas2-1dof"])
def test_a_robot_of_the_catalogue_survives_the_way_through_urdf(name, tmp_path):
    robot = load(name)
    path = tmp_path / "robot.urdf"
    export_urdf(robot, path)
    again = load(path)
    names, before = mass_matrices(robot)
    assert mass_matrices(again)[0] == names
    for (mass_1, bias_1), (mass_2, bias_2) in zip(before, mass_matrices(again)[1]):
        assert mass_2 == pytest.approx(mass_1, rel=1e-6, abs=1e-9)
        assert bias_2 == pytest.approx(bias_1, rel=1e-6, abs=1e-9)
    assert again.actuators == robot.actuators


def test_the_tags_name_what_can_be_commanded_and_read():
    root = ET.fromstring(export_urdf(load("qbmove-2dof")))
    system = root.find("ros2_control")
    assert system.find("hardware/plugin").text == "pliant/CompliantSystem"
    for joint in system.findall("joint"):
        assert [i.get("name") for i in joint.findall("command_interface")] == ["position", "stiffness"]
        assert [i.get("name") for i in joint.findall("state_interface")] == [
            "position",
            "velocity",
            "effort",
            "stiffness",
        ]
    joints = {j.get("name") for j in root.findall("joint") if j.get("type") != "fixed"}
    assert {t.find("joint").get("name") for t in root.findall("transmission")} == joints
    for joint in root.findall("joint"):
        if joint.get("type") == "revolute":
            assert float(joint.find("limit").get("effort")) > 0.0


@pytest.mark.parametrize(
    ("body", "mode"),
    [
        ('<command_interface name="position"/><param name="p">3</param>', Mode.LINK_PID),
        ('<command_interface name="effort"/>', Mode.LINK_TORQUE),
        ('<command_interface name="position"/><command_interface name="stiffness"/>', Mode.PID_EQ_PRESET),
    ],
)
def test_a_urdf_that_has_only_such_tags_is_served(body, mode, tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM.format(name="elbow", body=body))
    robot = load(path)
    actuator = robot.actuators["elbow"]
    assert actuator.mode == mode
    if mode == Mode.LINK_PID:
        assert actuator.pid_1.kp == 3.0
    if mode == Mode.PID_EQ_PRESET:
        assert isinstance(actuator.law, QbMove)
    assert "elbow" in robot.interface.joints
    robot.compile()


def test_limits_and_states_are_read():
    body = (
        '<command_interface name="position"><param name="min">-1</param><param name="max">1</param>'
        '</command_interface><state_interface name="position"/>'
    )
    found = read_ros2_control(ET.fromstring(ARM.format(name="elbow", body=body)), {"elbow": "revolute"})["elbow"]
    assert found.commands == {"position": {"min": -1.0, "max": 1.0}}
    assert found.states == ("position",)
    assert found.system == "system"


@pytest.mark.parametrize(
    ("name", "body", "says"),
    [
        ("elbo", "", "did you mean 'elbow'"),
        ("elbow", "<command_interface/>", "has no name"),
        ("elbow", '<command_interface name="position"><param name="min">low</param></command_interface>', "'low'"),
    ],
)
def test_wrong_tags_are_refused(name, body, says, tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM.format(name=name, body=body))
    with pytest.raises(ModelError, match=says) as caught:
        load(path)
    assert caught.value.line is not None


def test_a_ball_joint_is_refused():
    from pliant.model import Robot

    spec = mujoco.MjSpec.from_string(
        "<mujoco><worldbody><body><joint type='ball' name='wrist'/><geom size='0.1'/></body></worldbody></mujoco>"
    )
    with pytest.raises(ModelError, match="'wrist' is a ball joint"):
        export_urdf(Robot(spec))

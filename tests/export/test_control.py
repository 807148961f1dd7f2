"""The tags of an exported robot: what can be commanded and read, and the actuators as they were."""

import xml.etree.ElementTree as ET

import mujoco
import pytest

from pliant.export import describe_urdf, export_urdf
from pliant.gazebo.plugin_kinds import PLUGINS
from pliant.laws import (
    BAVS,
    PID,
    SEA,
    AwAS2,
    Backlash,
    Cogging,
    CompliantActuator,
    Creep,
    DCMotor,
    Electrical,
    Gear,
    Hysteresis,
    LeverDrive,
    Mode,
    PreslidingFriction,
    QbMove,
    Strength,
    Tendon,
    Thermal,
)
from pliant.model import Robot
from pliant.robots.loading import load

ONE = """<mujoco model="one"><compiler angle="radian"/><worldbody><body name="arm">
  <joint name="elbow" axis="0 1 0" range="-1 1"/>
  <geom name="rod" type="capsule" fromto="0 0 0 0.3 0 0" size="0.02"/></body></worldbody>{rest}</mujoco>"""


def one(rest="", actuator=None):
    spec = mujoco.MjSpec.from_string(ONE.replace("{rest}", rest))
    return Robot(spec, {"elbow": actuator} if actuator is not None else None)


def control_of(robot):
    root = ET.fromstring(describe_urdf(robot).text)
    return root, {j.get("name"): j for j in root.findall("ros2_control/joint")}


def interfaces(joint, kind):
    return [i.get("name") for i in joint.findall(f"{kind}_interface")]


@pytest.mark.parametrize(
    ("law", "mode", "commands"),
    [
        (QbMove(), Mode.LINK_TORQUE, ["effort"]),
        (QbMove(), Mode.LINK_PID, ["position"]),
        (QbMove(), Mode.SPRING_REFS, ["position"]),
        (QbMove(), Mode.SPRING_EQ_PRESET, ["position", "stiffness"]),
        (QbMove(), Mode.MOTOR_TORQUES, ["effort"]),
        (QbMove(), Mode.PID_REFS, ["position"]),
        (QbMove(), Mode.PID_EQ_PRESET, ["position", "stiffness"]),
        (SEA(), Mode.PID_EQ_PRESET, ["position"]),
    ],
)
def test_a_joint_offers_the_commands_of_its_mode_and_all_states(law, mode, commands, tmp_path):
    robot = one(actuator=CompliantActuator(law, mode=mode))
    root, joints = control_of(robot)
    assert interfaces(joints["elbow"], "command") == commands
    assert interfaces(joints["elbow"], "state") == ["position", "velocity", "effort", "stiffness"]
    assert root.find("ros2_control/hardware/plugin").text == "pliant/CompliantSystem"
    wanted = "EffortJointInterface" if commands == ["effort"] else "PositionJointInterface"
    assert root.find("transmission/joint/hardwareInterface").text == f"hardware_interface/{wanted}"
    export_urdf(robot, tmp_path / "one.urdf")
    assert load(tmp_path / "one.urdf").actuators == robot.actuators


def test_limits_stand_with_the_commands():
    _, joints = control_of(one(actuator=CompliantActuator(QbMove(), mode=Mode.PID_REFS)))
    position = joints["elbow"].find("command_interface")
    assert {p.get("name"): float(p.text) for p in position.findall("param")} == {"min": -1.0, "max": 1.0}
    root, joints = control_of(one(actuator=CompliantActuator(QbMove(), mode=Mode.MOTOR_TORQUES)))
    effort = {p.get("name"): float(p.text) for p in joints["elbow"].find("command_interface").findall("param")}
    assert effort == {"min": -12.0, "max": 12.0}  # two motors of 6 N m
    assert float(root.find("joint[@name='elbow']/limit").get("effort")) == 12.0


def test_a_joint_that_nothing_drives_has_states_alone(tmp_path):
    robot = one()
    root, joints = control_of(robot)
    assert interfaces(joints["elbow"], "command") == []
    assert interfaces(joints["elbow"], "state") == ["position", "velocity", "effort"]
    assert root.find("transmission") is None
    export_urdf(robot, tmp_path / "one.urdf")
    assert load(tmp_path / "one.urdf").actuators == {}


@pytest.mark.parametrize(
    ("actuator", "commands", "params"),
    [
        ("<motor joint='elbow'/>", ["effort"], {}),
        ("<position joint='elbow' kp='50' kv='3'/>", ["position"], {"p": 50.0, "d": 3.0}),
        ("<position joint='elbow' kp='50' gear='2'/>", ["position"], {"p": 200.0, "d": 0.0}),
        ("<velocity joint='elbow' kv='3'/>", ["velocity"], {"d": 3.0}),
        ("<motor joint='elbow'/><position joint='elbow' kp='5'/>", ["effort", "position"], {"p": 5.0, "d": 0.0}),
    ],
)
def test_mujocos_own_actuators_become_the_command_that_they_amount_to(actuator, commands, params, tmp_path):
    robot = one(f"<actuator>{actuator}</actuator>")
    _, joints = control_of(robot)
    assert interfaces(joints["elbow"], "command") == commands
    assert {p.get("name"): float(p.text) for p in joints["elbow"].findall("param")} == params
    export_urdf(robot, tmp_path / "one.urdf")
    served = load(tmp_path / "one.urdf").actuators
    if "position" in commands:
        assert served["elbow"].pid_1 == PID(kp=params["p"], ki=0.0, kd=params["d"])
    assert set(served) == (set() if commands == ["velocity"] else {"elbow"})


def test_what_the_plugin_tags_cannot_say_stands_in_params(tmp_path):
    actuator = CompliantActuator(
        QbMove(),
        mode=Mode.PID_EQ_PRESET,
        link_friction=PreslidingFriction(torque=0.05),
        link_damping=0.01,
        command_delay=0.002,
        command_resolution=1.9175e-4,
        initial_preset=0.3,
        start="zero",
        motor_1=DCMotor(torque_speed=True),
    )
    robot = one(actuator=actuator)
    root, joints = control_of(robot)
    assert {p.get("name") for p in joints["elbow"].findall("param")} == {"start", "motor_1.torque_speed"}
    tags = {e.tag for e in root.find("gazebo/plugin")}
    assert {"link_friction_torque", "link_damping", "command_delay", "initial_preset"} <= tags
    export_urdf(robot, tmp_path / "one.urdf")
    assert load(tmp_path / "one.urdf").actuators["elbow"] == actuator


EVERY_BLOCK = {
    "link_friction": PreslidingFriction(torque=0.1, stribeck_velocity=0.2, breakaway=0.05, bristle_damping=0.1),
    "link_backlash": Backlash(width=0.02),
    "hysteresis": Hysteresis(torque=0.3),
    "creep": Creep(stiffness=2.0),
    "strength": Strength(yield_torque=8.0, break_torque=12.0),
    "reference_slew_1": 4.0,
}
EVERY_BLOCK_OF_A_MOTOR = {
    "electrical": Electrical(max_current=3.0, max_current_rate=200.0, supply_resistance=0.2),
    "cogging": Cogging(ripple=0.02),
    "thermal": Thermal(derating_temperature=350.0, max_temperature=390.0),
    "gear": Gear(stiffness=9000.0),
    "backlash": Backlash(),
    "tendon": Tendon(pretension=2.0),
}


@pytest.mark.parametrize("law", [SEA(), QbMove(), BAVS(), AwAS2()], ids=lambda law: law.name)
def test_every_block_is_written_and_read_again(law, tmp_path):
    motors = {"motor_1": DCMotor(**EVERY_BLOCK_OF_A_MOTOR)}
    if law.second_input == "lever":
        motors["motor_2"] = LeverDrive(backlash=Backlash(width=1e-3), gear=Gear(inertia=1.0), max_position=0.04)
    elif law.motors == 2:
        motors["motor_2"] = DCMotor(inertia=0.03, **EVERY_BLOCK_OF_A_MOTOR)
    actuator = CompliantActuator(law, **motors, **EVERY_BLOCK)
    export_urdf(one(actuator=actuator), tmp_path / "one.urdf")
    assert load(tmp_path / "one.urdf").actuators["elbow"] == actuator


def test_a_law_without_a_plugin_is_named_with_its_mode_and_parameters(tmp_path, monkeypatch):
    # The toolbox's tags know the SEA; without them it stands for a law of a user's own.
    monkeypatch.delitem(PLUGINS, "sea")
    actuator = CompliantActuator(SEA(k=123.0), mode=Mode.PID_REFS, pid_1=PID(kp=80.0, kd=2.0), link_damping=0.2)
    robot = one(actuator=actuator)
    root, joints = control_of(robot)
    params = {p.get("name"): p.text for p in joints["elbow"].findall("param")}
    assert params["law"] == "sea"
    assert params["mode"] == "5"
    assert root.find("gazebo/plugin") is None
    export_urdf(robot, tmp_path / "one.urdf")
    assert load(tmp_path / "one.urdf").actuators["elbow"] == actuator


def test_a_joint_that_follows_has_no_command(tmp_path):
    text = ONE.replace(
        "</body></worldbody>",
        "<body name='tip' pos='0.3 0 0'><joint name='finger'/><geom size='0.01'/></body></body></worldbody>",
    )
    rest = (
        "<equality><joint joint1='finger' joint2='elbow' polycoef='0.1 2 0 0 0'/></equality>"
        "<actuator><motor joint='elbow'/><motor joint='finger'/></actuator>"
    )
    robot = Robot(mujoco.MjSpec.from_string(text.replace("{rest}", rest)))
    root, joints = control_of(robot)
    assert interfaces(joints["finger"], "command") == []
    mimic = root.find("joint[@name='finger']/mimic")
    assert (mimic.get("joint"), float(mimic.get("multiplier")), float(mimic.get("offset"))) == ("elbow", 2.0, 0.1)


def test_a_robot_without_joints_has_no_ros2_control():
    spec = mujoco.MjSpec.from_string("<mujoco><worldbody><body name='a'><geom size='0.1'/></body></worldbody></mujoco>")
    root = ET.fromstring(describe_urdf(Robot(spec)).text)
    assert root.find("ros2_control") is None


def test_limits_of_a_files_own_tags_are_written_again(tmp_path):
    robot = one("<actuator><motor joint='elbow'/></actuator>")
    export_urdf(robot, tmp_path / "one.urdf")
    text = (tmp_path / "one.urdf").read_text()
    start = text.index("<ros2_control")
    changed = text[:start] + text[start:].replace('<param name="min">-300.0', '<param name="min">-25', 1)
    (tmp_path / "two.urdf").write_text(changed)
    again = load(tmp_path / "two.urdf")
    assert again.interface.extensions["ros2_control"].limits["elbow"]["effort"] == (-25.0, 300.0)
    _, joints = control_of(again)
    assert float(joints["elbow"].find("command_interface/param[@name='min']").text) == -25.0

"""Blocks of actuators in pliant's own YAML."""

import numpy as np
import pytest

import pliant
from pliant.base.errors import ModelError
from pliant.laws import (
    SEA,
    Backlash,
    Cogging,
    CompliantActuator,
    Creep,
    DCMotor,
    Electrical,
    Gear,
    Hysteresis,
    Strength,
    Tendon,
    Thermal,
)

ARM = """<mujoco><compiler angle="radian"/><worldbody><body name="link">
<joint name="elbow" axis="0 1 0" range="-1 1"/>
<geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02"/></body></worldbody></mujoco>"""


def load(folder, text):
    (folder / "arm.xml").write_text(ARM)
    path = folder / "arm.yaml"
    path.write_text(text)
    return pliant.load(path)


def test_yaml_gives_an_actuator_its_blocks(tmp_path):
    robot = load(
        tmp_path,
        """model: arm.xml
actuators:
  elbow:
    law: sea
    k: 40
    hysteresis: {torque: 0.2}
    creep: {time: 2}
    strength: {break_torque: 9}
    link_backlash: {width: 0.01}
    motor_1:
      electrical: {max_current: 3, max_current_rate: 100}
      thermal: {capacity: 15}
      cogging: {torque: 0.04}
      gear: {stiffness: 9000}
      backlash: {}
      tendon: {pretension: 2}
""",
    )
    actuator = robot.actuators["elbow"]
    assert actuator.motor_1 == DCMotor(
        electrical=Electrical(max_current=3.0, max_current_rate=100.0), thermal=Thermal(capacity=15.0),
        cogging=Cogging(torque=0.04), gear=Gear(stiffness=9000.0), backlash=Backlash(), tendon=Tendon(pretension=2.0),
    )  # fmt: skip
    assert (actuator.hysteresis, actuator.creep) == (Hysteresis(torque=0.2), Creep(time=2.0))
    assert (actuator.strength, actuator.link_backlash) == (Strength(break_torque=9.0), Backlash(width=0.01))


@pytest.mark.parametrize(
    ("block", "words", "line"),
    [
        ("link_backlash: {width: 2.5}", "the range of the joint 2 rad", 6),
        ("motor_1: {backlash: {width: 3}}", "the range of the joint 2 rad", 6),
        ("motor_1: {thermal: {capacity: 10}}", "set electrical", 6),
        ("motor_1: {tendon: {slack: 0.1, pretension: 1}}", "contradicts slack", 6),
        ("strength: {yield_torque: 3, break_torque: 2}", "must be below break_torque", 6),
        ("creep: {tiem: 3}", "did you mean 'time'", 6),
    ],
)
def test_a_block_that_contradicts_the_robot_is_refused_with_file_and_line(block, words, line, tmp_path):
    with pytest.raises(ModelError, match=words) as caught:
        load(tmp_path, f"model: arm.xml\nactuators:\n  elbow:\n    law: sea\n    k: 40\n    {block}\n")
    assert caught.value.file.endswith("arm.yaml")
    assert caught.value.line == line


OWN = """<mujoco><compiler angle="radian"/><worldbody><body name="link"><joint name="elbow" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02"/><body pos="0.3 0 0"><joint name="wrist" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.02"/></body></body></worldbody><actuator>{0}
<intvelocity name="wrist" joint="wrist" kp="3" actrange="-2 2"/>{1}</actuator>
<keyframe><key name="up" qpos="0.1 0.2" ctrl="{2} 0.5" act="{3} 0.7"/></keyframe></mujoco>"""
SERVOS = (
    '<intvelocity name="elbow" joint="elbow" kp="9" actrange="-2 2"/><position name="servo" joint="elbow" kp="9"/>',
    '<motor joint="elbow"/>',
)


def test_an_actuator_of_the_file_is_refused_and_the_remedy_of_the_message_works(tmp_path):
    (tmp_path / "arm.xml").write_text(OWN.format(*SERVOS, "1 2", "0.6").replace(' 0.5"', ' 0.5 3"'))
    (tmp_path / "bare.xml").write_text(OWN.format("", "", "", ""))
    path = tmp_path / "arm.yaml"
    path.write_text("model: arm.xml\nactuators:\n  elbow: {law: sea, mode: 0}\n")
    with pytest.raises(ModelError, match=r"arm\.yaml:3: .* 'elbow' already .*'replace: true' of the joint's actuator"):
        pliant.load(path)
    path.write_text("model: arm.xml\nactuators:\n  elbow: {law: sea, mode: 0, replace: true}\n")
    robot = pliant.load(path)
    replaced = [note.rpartition("own, ")[2] for note in robot.notes if "in place of the model's own" in note]
    assert replaced == ["'elbow'", "'servo'", "'elbow_actuator'"]
    assert not [problem for problem in robot.check() if "drives this compliant joint" in problem.message]
    (tmp_path / "bare.yaml").write_text("model: bare.xml\nactuators:\n  elbow: {law: sea, mode: 0}\n")
    model, expected = robot.compile(), pliant.load(tmp_path / "bare.yaml").compile()
    names = [model.actuator(i).name for i in range(model.nactuator)]
    assert names == [expected.actuator(i).name for i in range(expected.nactuator)]
    for field in ("key_qpos", "key_act", "key_ctrl", "actuator_gainprm"):
        np.testing.assert_array_equal(getattr(model, field), getattr(expected, field))


def test_the_check_names_an_actuator_of_the_file_beside_a_compliant_one_and_the_remedy(tmp_path):
    (tmp_path / "arm.xml").write_text(OWN.format(SERVOS[1], "", "1", ""))
    path = tmp_path / "arm.yaml"
    path.write_text("model: arm.xml\nactuators:\n  elbow: {law: sea, mode: 0}\n")
    (found,) = (problem for problem in pliant.load(path).check() if "drives this compliant joint" in problem.message)
    assert "'replace: true'" in found.hint
    path.write_text("model: arm.xml\nactuators:\n  elbow: {law: sea, mode: 0, replace: perhaps}\n")
    with pytest.raises(ModelError, match=r"arm\.yaml:3: actuators\.elbow\.replace"):
        pliant.load(path)


SERVED = """<robot name="r"><link name="world"/><link name="arm"><inertial><mass value="20"/>
<inertia ixx="3" iyy="3" izz="3" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="elbow" type="continuous">
<parent link="world"/><child link="arm"/><axis xyz="0 1 0"/></joint><ros2_control name="s" type="system">
<hardware><plugin>a/B</plugin></hardware><joint name="elbow"><command_interface name="position"/></joint></ros2_control>
</robot>"""


def test_a_motor_that_takes_the_place_of_a_position_controller_of_the_link_has_gains_of_its_own(tmp_path):
    (tmp_path / "arm.urdf").write_text(SERVED)
    path = tmp_path / "arm.yaml"
    path.write_text("model: arm.urdf\nactuators:\n  elbow: {law: sea, mode: 6}\n")
    served, robot = pliant.load(tmp_path / "arm.urdf"), pliant.load(path)
    assert served.actuators["elbow"].pid_1.kp > 1000.0
    assert robot.actuators["elbow"].pid_1 == CompliantActuator(SEA(), mode=6).pid_1
    assert not [problem for problem in robot.check() if problem.severity == "error"]
    path.write_text("model: arm.urdf\nactuators:\n  elbow: {law: sea, mode: 6, pid_1: {kp: 7}}\n")
    assert pliant.load(path).actuators["elbow"].pid_1.kp == 7.0
    path.write_text("model: arm.urdf\nactuators:\n  elbow: {law: qbmove}\n")
    assert pliant.load(path).actuators["elbow"].pid_1 == served.actuators["elbow"].pid_1

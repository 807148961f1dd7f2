"""Blocks of actuators in pliant's own YAML."""

import pytest

import pliant
from pliant.base.errors import ModelError
from pliant.laws import Backlash, Cogging, Creep, DCMotor, Electrical, Gear, Hysteresis, Strength, Tendon, Thermal

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

"""Which joints get a servo: every robot of the catalogue, compliant joints in every mode, and plain MuJoCo models."""

import mujoco
import numpy as np
import pytest

from pliant.devices import make_devices
from pliant.dynamixel.joints import find_joints
from pliant.dynamixel.motor import Actuation
from pliant.engine import MujocoEngine
from pliant.laws import SEA, CompliantActuator, Mode
from pliant.model import Robot
from pliant.robots.loading import load
from pliant.simulation import Simulation

MODEL = """
<mujoco>
  <compiler angle="radian"/>
  <worldbody>
    <body name="a"><joint name="turn" axis="0 1 0" damping="0.1"/>
      <geom type="capsule" size="0.01" fromto="0 0 0 0 0 -0.2" mass="0.1"/>
      <body name="b" pos="0 0 -0.2"><joint name="lift" type="slide" axis="0 0 1" actuatorfrcrange="-5 5"
            actuatorfrclimited="true"/><geom size="0.02" mass="0.1"/>
        <body name="c"><joint name="spin" axis="1 0 0" damping="0.1"/><geom size="0.02" pos="0 0.05 0" mass="0.1"/>
          <body name="d"><joint name="wheel" axis="1 0 0"/><geom size="0.02" pos="0 0.05 0" mass="0.1"/></body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position name="one" joint="turn" kp="30" kv="1" forcerange="-3 3"/>
    <position name="two" joint="lift" kp="900" kv="20"/>
    <motor name="three" joint="spin" gear="2" forcerange="-1 1"/>
    <velocity name="four" joint="wheel" kv="1"/>
    <general name="nothing" joint="spin" gainprm="3"/>
  </actuator>
</mujoco>
"""


def joints_of(robot):
    simulation = Simulation(MujocoEngine(robot, check=False), make_devices(robot), pacer="free")
    with simulation:
        return find_joints(simulation.devices, simulation.engine)


def test_actuators_of_mujoco_are_found_by_the_units_of_their_controls():
    found = {joint.name: joint for joint in joints_of(Robot(mujoco.MjSpec.from_string(MODEL)))}
    kinds = {
        "turn": Actuation.POSITION,
        "lift": Actuation.POSITION,
        "spin": Actuation.TORQUE,
        "wheel": Actuation.VELOCITY,
    }
    assert {name: joint.actuation for name, joint in found.items()} == kinds
    assert [joint.slides for joint in found.values()] == [False, True, False, False]
    assert [joint.limit for joint in found.values()] == [3.0, 5.0, 2.0, np.inf]
    assert [joint.stiffness for joint in found.values()] == [30.0, 900.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("mode", "names", "kind"),
    [
        (Mode.LINK_TORQUE, ["joint"], Actuation.TORQUE),
        (Mode.LINK_PID, ["joint"], Actuation.POSITION),
        (Mode.SPRING_REFS, ["joint/1", "joint/2"], Actuation.POSITION),
        (Mode.SPRING_EQ_PRESET, ["joint"], Actuation.POSITION),
        (Mode.MOTOR_TORQUES, ["joint/1", "joint/2"], Actuation.TORQUE),
        (Mode.PID_REFS, ["joint/1", "joint/2"], Actuation.POSITION),
        (Mode.PID_EQ_PRESET, ["joint"], Actuation.POSITION),
    ],
)
def test_a_compliant_joint_has_a_servo_for_each_reference_of_its_mode(mode, names, kind):
    robot = load("qbmove-1dof")
    robot.set("joint.mode", mode)
    found = joints_of(robot)
    assert [joint.name for joint in found] == names
    assert {joint.actuation for joint in found} == {kind}


@pytest.mark.parametrize(
    ("name", "count"),
    [("sea-1dof", 1), ("bavs-1dof", 1), ("awas2-1dof", 1), ("qbmove-5dof", 5), ("pam-1dof", 1), ("softfoot-bench", 0)],
)
def test_the_joints_of_a_robot_of_the_catalogue_are_found_in_their_order(name, count):
    robot = load(name)
    found = joints_of(robot)
    assert [joint.name for joint in found] == list(robot.actuators)[:count]


def test_a_compliant_joint_that_slides_travels_a_hundredth_of_a_metre_a_radian():
    spec = mujoco.MjSpec.from_string(MODEL)
    robot = Robot(spec, {joint.name: CompliantActuator(SEA()) for joint in spec.joints})
    for actuator in list(spec.actuators):
        spec.delete(actuator)
    slides = {joint.name: joint.type == mujoco.mjtJoint.mjJNT_SLIDE for joint in spec.joints}
    assert {joint.name: (joint.slides, joint.scale) for joint in joints_of(robot)} == {
        name: (slide, 0.01 if slide else 1.0) for name, slide in slides.items()
    }

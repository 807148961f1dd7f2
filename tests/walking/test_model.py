"""What the walking device reads from a model."""

import mujoco
import pytest

from pliant.base.errors import DeviceError
from pliant.walking.model import joint_inertia, kinematic_tree

PENDULUM = """
<mujoco><worldbody><body name="arm"><joint name="hinge" axis="0 1 0" armature="0.02"/>
<inertial mass="2" pos="0 0 -0.3" diaginertia="0.01 0.01 0.01"/></body></worldbody></mujoco>
"""
FLOATING = """
<mujoco><worldbody><body name="base"><freejoint/><inertial mass="3" pos="0 0 0" diaginertia="0.5 0.6 0.7"/>
<body name="wheel"><joint name="hinge" axis="0 0 1" armature="0.1"/>
<inertial mass="1" pos="0 0 0" diaginertia="0.2 0.2 0.3"/></body></body></worldbody></mujoco>
"""


def test_the_motor_of_a_pendulum_feels_its_inertia_about_the_hinge_and_the_rotor():
    model = mujoco.MjModel.from_xml_string(PENDULUM)
    assert joint_inertia(model, ["hinge"], [0.4]) == pytest.approx([2.0 * 0.3**2 + 0.01 + 0.02])


def test_the_motor_between_two_free_bodies_feels_their_reduced_inertia():
    model = mujoco.MjModel.from_xml_string(FLOATING)
    assert joint_inertia(model, ["hinge"], [0.0]) == pytest.approx([0.7 * 0.3 / (0.7 + 0.3) + 0.1])


def test_a_joint_that_moves_the_base_is_refused():
    model = mujoco.MjModel.from_xml_string(PENDULUM)
    with pytest.raises(DeviceError, match="the joint 'hinge' moves the body 'arm'; must be below it"):
        kinematic_tree(model, "arm", ["hinge"])

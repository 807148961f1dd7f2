"""The board of all joints, in any order of its joints."""

import itertools

import numpy as np
import pytest

import pliant
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.simulation import Simulation

LINK = (
    '<link name="l{0}"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>'
    '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
JOINT = (
    '<joint name="j{0}" type="continuous"><parent link="l{0}"/><child link="l{1}"/><origin xyz="0.2 0 0"/>'
    '<axis xyz="0 1 0"/></joint>'
)
TRANSMISSION = (
    '<transmission name="t{0}"><type>transmission_interface/SimpleTransmission</type><joint name="j{0}">'
    "<hardwareInterface>hardware_interface/EffortJointInterface</hardwareInterface></joint></transmission>"
)


@pytest.mark.parametrize("order", [o for n in (1, 2, 3) for o in itertools.permutations(range(n))])
def test_the_board_has_the_state_of_each_joint_in_any_order_of_the_joints(tmp_path, order):
    links = "".join(LINK.format(i) for i in range(len(order) + 1))
    joints = "".join(JOINT.format(i, i + 1) for i in range(len(order)))
    transmissions = "".join(TRANSMISSION.format(i) for i in order)
    (tmp_path / "arm.urdf").write_text(f'<robot name="arm">{links}{joints}{transmissions}</robot>')
    robot = pliant.load(tmp_path / "arm.urdf")
    assert list(robot.actuators) == [f"j{i}" for i in order]
    engine = MujocoEngine(robot)
    with Simulation(engine, make_devices(robot), pacer="free") as simulation:
        simulation.run(0.05)
        (board,) = (device for device in simulation.devices.values() if "board" in device.signatures)
        sample = simulation.sample(board.name).values
    for field, source in (("position", "position"), ("velocity", "velocity"), ("effort", "torque")):
        expected = [engine.port(f"j{i}/{source}")[0] for i in order]
        np.testing.assert_array_equal(sample[field], expected)
    assert np.all(sample["position"] != 0.0)

"""The vector of the skin boards of a part."""

import mujoco
import numpy as np
import pytest
from yarp_simulation import served

from pliant.devices.base import Sample
from pliant.model import Imu, Interface, Robot
from pliant.yarp.bridge.skin_inertials import skin_vector
from pliant.yarp.client import YarpNetwork
from pliant.yarp.model.services import SKIN_BOARDS, SkinInertials, VectorServer, YarpInterface

NAMES = ("l_leg_mtb_acc_10b12", "l_leg_mtb_acc_10b7")
SKIN = SkinInertials(name="skin", part="left_leg", sensors=NAMES, sensor_names=NAMES)
XML = '<mujoco><worldbody><body name="leg"><joint axis="0 0 1"/><geom size=".1" mass="1"/></body></worldbody></mujoco>'


def test_a_vector_has_a_header_a_row_for_each_sensor_and_zeros_for_the_rest():
    gravity = {"linear_acceleration": np.array([0.0, 0.0, 9.81])}
    vector = skin_vector(SKIN, [Sample(name, 0, 500_000_000, gravity) for name in NAMES])
    assert len(vector) == 2 + 6 * 13
    assert vector[:2] == [2.0, 6.0]
    raw = 9.81 * 1e4 / 5.9855
    assert vector[2:14] == pytest.approx([8.0, 1.0, 0.5, 0.0, 0.0, raw, 20.0, 1.0, 0.5, 0.0, 0.0, raw])
    assert not any(vector[14:])


def test_positions_have_numbers_of_their_own():
    numbers = [number for boards, _ in SKIN_BOARDS.values() for number in boards.values()]
    assert sorted(numbers) == [*range(1, 21), *range(25, 45), *range(49, 53)]


@pytest.mark.network
def test_the_vector_is_served_at_the_port_of_its_server():
    robot = Robot(mujoco.MjSpec.from_string(XML))
    robot.devices += [Imu(name=name, body="leg", rate=100.0) for name in NAMES]
    servers = (VectorServer(name="server", port="/r/left_leg/inertialMTB", period=0.01, device="skin"),)
    robot.interface = Interface(extensions={"yarp": YarpInterface(robot="r", devices=(SKIN,), servers=servers)})
    with served(robot) as world, YarpNetwork(str(world.yarp.names.address), dialect=3) as client:
        reader = client.open_input("/reader", strict=False)
        client.connect("/r/left_leg/inertialMTB", "/reader")
        content = list(reader.read().content)
    assert content[:2] == [2.0, 6.0]
    assert content[7] == pytest.approx(9.81 * 1e4 / 5.9855, rel=1e-6)

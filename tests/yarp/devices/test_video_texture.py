"""Images of other programs on a visual, as cameras see them."""

import mujoco
import numpy as np
import pytest

from pliant.base.errors import DeviceError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.gazebo_yarp.textures import place_textures
from pliant.model import Camera, Interface, Robot
from pliant.simulation import Simulation
from pliant.yarp.model.services import VideoTexture, YarpInterface

XML = """
<mujoco><option timestep="0.001"/><visual><headlight ambient="1 1 1" diffuse="0 0 0" specular="0 0 0"/></visual>
<worldbody><camera name="eye" pos="0 -1 0" xyaxes="1 0 0 0 0 1" fovy="60"/>
<body name="wall"><geom name="screen" type="box" size="0.5 0.01 0.5" contype="0" conaffinity="0"/>
<geom name="core" type="sphere" size="0.01" mass="1" contype="0" conaffinity="0" rgba="0 0 0 0"/></body>
</worldbody></mujoco>
"""
RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)
QUARTERS = np.array([[RED, GREEN], [BLUE, WHITE]], np.uint8)


def robot_with_screen(visual="screen"):
    spec = mujoco.MjSpec.from_string(XML)
    texture = VideoTexture(name="film", link="wall", visual=visual, port="/screen", width=16, height=8)
    interface, notes = place_textures(spec, YarpInterface(robot="r", devices=(texture,)))
    assert not notes
    robot = Robot(spec)
    robot.interface = Interface(extensions={"yarp": interface})
    robot.devices.append(Camera(name="view", camera="eye", width=60, height=60, rate=100.0, latency=0.0))
    return robot


def corners(simulation):
    simulation.step(20)
    image = simulation.sample("view").values["image"].astype(int)
    return [image[r, c].tolist() for r in (15, 45) for c in (15, 45)]


def test_a_camera_sees_the_newest_image_upright_and_not_mirrored():
    robot = robot_with_screen()
    with Simulation(MujocoEngine(robot, check=False), make_devices(robot), pacer="free") as simulation:
        gray = corners(simulation)
        assert all(len({*pixel}) == 1 for pixel in gray)
        film = simulation.devices["film"]
        film.request("show", pixels=np.repeat(np.repeat(QUARTERS, 20, 0), 30, 1))
        seen = corners(simulation)
        for pixel, expected in zip(seen, (RED, GREEN, BLUE, WHITE), strict=True):
            assert (np.array(pixel) > 100).tolist() == [value > 0 for value in expected], seen
        assert simulation.sample("film").values["images"] == 1.0
        film.request("show", pixels=QUARTERS[::-1])
        assert corners(simulation) == [seen[2], seen[3], seen[0], seen[1]]
        simulation.reset()
        assert corners(simulation) == gray
        assert simulation.sample("film").values["images"] == 0.0


WRONG = (
    np.zeros((2, 2), np.uint8),
    np.zeros((2, 2, 3)),
    np.zeros((0, 2, 3), np.uint8),
    np.zeros((1, 9000, 3), np.uint8),
)


@pytest.mark.parametrize("pixels", WRONG)
def test_what_is_no_image_is_refused(pixels):
    robot = robot_with_screen()
    robot.devices.clear()
    with Simulation(MujocoEngine(robot, check=False), make_devices(robot), pacer="free") as simulation:
        future = simulation.devices["film"].request("show", pixels=pixels)
        simulation.step(1)
        with pytest.raises(DeviceError, match="the image"):
            future.result(1.0)

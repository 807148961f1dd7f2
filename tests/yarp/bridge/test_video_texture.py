"""The port whose images a visual shows."""

import mujoco
import numpy as np
import pytest
from fuzz import until
from yarp_simulation import served

from pliant.base.errors import WireError
from pliant.gazebo_yarp.textures import place_textures
from pliant.model import Interface, Robot
from pliant.yarp.bridge.calls import NameClient
from pliant.yarp.bridge.network import Network
from pliant.yarp.bridge.video_texture import rgb_of
from pliant.yarp.model.services import VideoTexture, YarpInterface
from pliant.yarp.wire import bottle
from pliant.yarp.wire.images import Image, encode_image

XML = """
<mujoco><worldbody><body name="wall"><joint name="j"/><geom size="0.1" mass="1" contype="0" conaffinity="0"/></body>
</worldbody></mujoco>
"""
PORT = "/r::wall::wall_visual"


@pytest.mark.parametrize(
    ("code", "pixels", "expected"),
    [
        ("rgb", [[[1, 2, 3]]], [[[1, 2, 3]]]),
        ("bgr", [[[1, 2, 3]]], [[[3, 2, 1]]]),
        ("rgba", [[[1, 2, 3, 4]]], [[[1, 2, 3]]]),
        ("mono", [[7]], [[[7, 7, 7]]]),
    ],
)
def test_images_become_red_green_and_blue(code, pixels, expected):
    assert rgb_of(Image(np.array(pixels, np.uint8), code)).tolist() == expected


def test_images_without_colours_are_refused():
    with pytest.raises(WireError, match="must be one of rgb"):
        rgb_of(Image(np.zeros((1, 1), np.float32), "dec"))


@pytest.mark.network
def test_images_of_the_source_are_shown_once_it_exists_and_others_are_told(monkeypatch):
    monkeypatch.setattr("pliant.yarp.bridge.video_texture.RETRY_S", 0.1)
    spec = mujoco.MjSpec.from_string(XML)
    film = VideoTexture(name="film", link="wall", port=PORT, width=3, height=2, source="/player/rgb:o")
    robot = Robot(spec)
    robot.interface = Interface(extensions={"yarp": place_textures(spec, YarpInterface(robot="r", devices=(film,)))[0]})
    told = []
    pixels = np.arange(18, dtype=np.uint8).reshape(2, 3, 3)
    with served(robot) as world:
        world.bridge.on_complaint = told.append
        with Network(NameClient(world.bridge.server.address), watch=False) as network:
            player = network.open("/player/rgb:o")
            until(lambda: player.active, "the connection that the texture makes", 20.0)
            player.write_bottle(bottle("no image"))
            player.write(lambda _, pixels=pixels: encode_image(pixels, "rgb"))
            shown = lambda: world.simulation.sample("film").values["images"]  # noqa: E731
            until(lambda: shown() == 1.0, "the image", 20.0)
        model = world.simulation.engine.model
        assert model.tex_data[: pixels.size].tolist() == pixels.ravel().tolist()
    assert any("an image must be [mat]" in text for text in told)

"""The description of a sole's sensing: what it names, adds to a model, and refuses."""

import mujoco
import pytest

import pliant
from pliant.base.errors import ModelError
from pliant.feet.model.sole import Sole
from pliant.model import Noise, Robot

ARM = '<mujoco><worldbody><body name="arm"><joint/><geom size=".1"/></body></worldbody></mujoco>'


def test_every_part_that_moves_has_an_inertial_unit_and_the_ankle_a_sensor():
    robot = pliant.load("softfoot")
    robot.devices = [Sole(name="sole", body="attachment_cube")]
    model = robot.compile()
    names = {model.sensor(i).name for i in range(model.nsensor)}
    # Root, heel, frontal arch and 45 modules, two sensors each, and the two of the ankle.
    assert sum(name.startswith("sole/") for name in names) == 2 * 48 + 2
    assert {"sole/heel/rate", "sole/phalanx_3_5/acceleration", "sole/ankle/force"} <= names


def test_without_a_sensor_at_the_ankle_there_is_none():
    robot = pliant.load("softfoot")
    robot.devices = [Sole(name="sole", body="attachment_cube", ankle="none")]
    model = robot.compile()
    assert not any(model.sensor(i).name.startswith("sole/ankle") for i in range(model.nsensor))


def test_it_is_described_in_yaml_by_its_kind_and_follows_a_prefix():
    from pliant.model.sensor_reading import sensor_from_mapping

    found = sensor_from_mapping("sole", {"kind": "sole", "body": "attachment_cube", "rate": 50}, "sensors.sole")
    assert isinstance(found, Sole)
    assert found.rate == 50.0
    turned = found.prefixed("left/")
    assert (turned.name, turned.body, turned.frame_id) == ("left/sole", "left/attachment_cube", "left/attachment_cube")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"body": ""}, "it has no body; must be the body that is the root of a SoftFoot"),
        ({"body": "x", "ankle": "wrenhc"}, "did you mean 'wrench'"),
        ({"body": "x", "time_constant": -1.0}, "time_constant"),
        ({"body": "x", "force_noise": Noise(std=(1.0, 2.0))}, "must be a number, or 3 of them"),
    ],
)
def test_a_wrong_description_is_refused(arguments, message):
    with pytest.raises(ModelError, match=message):
        Sole(name="sole", **arguments)


def test_a_body_that_is_no_root_of_a_foot_is_refused_with_the_ones_that_are():
    robot = pliant.load("softfoot")
    with pytest.raises(ModelError, match=r"body is 'heel'; must be the root of a SoftFoot.*attachment_cube"):
        Sole(name="sole", body="heel").parts(robot.spec)
    arm = Robot(mujoco.MjSpec.from_string(ARM))
    with pytest.raises(ModelError, match="the model has none"):
        Sole(name="sole", body="arm").parts(arm.spec)

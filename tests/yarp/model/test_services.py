"""What a robot shows over YARP: names stay unique and follow the model under a prefix."""

import mujoco
import pytest

from pliant.base.errors import ModelError
from pliant.model import Robot
from pliant.model.interface import Interface
from pliant.model.problem import Problem
from pliant.yarp.model.services import (
    AnalogServer,
    AxisReference,
    BaseState,
    ControlBoardServer,
    ForceTorqueSensor,
    ImageServer,
    SensorReference,
    SkinInertials,
    VectorServer,
    YarpInterface,
)

FOOT = ForceTorqueSensor(name="foot_ft", sensor="foot", sensor_name="foot_ft_sensor")
YARP = YarpInterface(
    robot="sim",
    devices=(
        FOOT,
        BaseState(name="base", link="root"),
        SkinInertials(name="skin", part="leg", sensors=("a", "b"), sensor_names=("a", "b")),
    ),
    servers=(
        ControlBoardServer(name="leg_nws", port="/sim/leg", axes=(AxisReference("leg", 1),)),
        AnalogServer(
            name="ft", port="/sim/ft", groups={"six_axis_force_torques": (SensorReference("foot_ft", "foot_ft"),)}
        ),
        VectorServer(name="old", port="/sim/skin", device="skin"),
        ImageServer(name="eye", port="/sim/eye"),
    ),
)


def test_two_devices_of_one_name_are_refused_with_both_places():
    one = BaseState(name="base", link="a", file="one.ini", line=3)
    with pytest.raises(ModelError, match=r"two.ini:4: two YARP devices are called 'base' \(the other: one.ini:3\)"):
        YarpInterface(devices=(one, BaseState(name="base", link="b", file="two.ini", line=4)))


def test_a_device_without_a_name_is_refused():
    with pytest.raises(ModelError, match=r"a.ini:2: .*no name"):
        BaseState(name="", link="a", file="a.ini", line=2)


def test_a_prefix_goes_in_front_of_names_of_the_model_and_not_of_ports():
    moved = YARP.prefixed("left_")
    assert moved.device("left_foot_ft").sensor == "left_foot"
    assert moved.device("left_base").link == "left_root"
    assert moved.device("left_skin").sensors == ("left_a", "left_b")
    part, force, skin, eye = moved.servers
    assert (part.port, part.axes) == ("/sim/leg", (AxisReference("left_leg", 1),))
    assert force.groups["six_axis_force_torques"] == (SensorReference("left_foot_ft", "foot_ft"),)
    assert (skin.device, eye.device) == ("left_skin", "")


def test_attached_robots_show_the_devices_of_both():
    def robot(yarp):
        spec = mujoco.MjSpec()
        spec.worldbody.add_body(name="root").add_geom(size=[0.1, 0, 0])
        return Robot(spec, interface=Interface(extensions={"yarp": yarp} if yarp else {}))

    both = robot(YARP).attach(robot(YarpInterface(devices=(FOOT,))), prefix="b_")
    assert [d.name for d in both.interface.extensions["yarp"].devices] == ["foot_ft", "base", "skin", "b_foot_ft"]
    assert both.interface.extensions["yarp"].robot == "sim"
    assert robot(None).attach(robot(YARP), prefix="b_").interface.extensions["yarp"].devices[0].name == "b_foot_ft"
    assert robot(YARP).attach(robot(None), prefix="b_").interface.extensions["yarp"] == YARP


def test_a_check_reports_what_is_not_served():
    spec = mujoco.MjSpec()
    spec.worldbody.add_body(name="root").add_geom(size=[0.1, 0, 0])
    missing = Problem("warning", "laser", "is not served")
    robot = Robot(spec, interface=Interface(extensions={"yarp": YarpInterface(problems=(missing,))}))
    assert missing in robot.check()

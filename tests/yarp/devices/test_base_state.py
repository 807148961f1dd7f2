"""Base state, load cells, joint angles and pushes against mechanics."""

import mujoco
import numpy as np
import pytest

from pliant.base.errors import DeviceError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.model import Interface, Robot
from pliant.yarp.model.services import (
    BaseState,
    ClockPort,
    ContactLoadCells,
    ExternalWrench,
    JointAngles,
    YarpInterface,
)

pytestmark = pytest.mark.quick

G = 9.81
XML = """
<mujoco>
  <option timestep="0.001" gravity="0 0 -9.81"/>
  <worldbody>
    <geom name="ground" type="plane" size="5 5 .1"/>
    <body name="block" pos="0 0 {height}"><freejoint/>
      <geom name="sole" type="box" size=".1 .05 .02" mass="2"/>
      <body name="load" pos=".04 -.02 .1"><geom type="sphere" size=".01" mass="3" contype="0" conaffinity="0"/></body>
      <body name="finger" pos="0 0 .2"><joint name="bend" axis="0 1 0" damping="1"/>
        <geom type="sphere" size=".01" mass=".001" contype="0" conaffinity="0"/></body>
    </body>
  </worldbody>
</mujoco>
"""
CORNERS = ((0.1, 0.05, -0.02), (0.1, -0.05, -0.02), (-0.1, 0.05, -0.02), (-0.1, -0.05, -0.02))


def made(described, height=0.02, xml=XML):
    robot = Robot(mujoco.MjSpec.from_string(xml.format(height=height)))
    robot.devices.append(described)
    engine = MujocoEngine(robot, check=False)
    (device,) = make_devices(robot)
    device.attach(engine)
    device.reset(np.random.default_rng(0))
    return device, engine


def run(device, engine, steps):
    for _ in range(steps):
        device.write()
        engine.step()
    return device.read(engine.time_ns).values


def test_a_body_in_free_fall_has_the_acceleration_of_gravity_and_its_velocity():
    device, engine = made(BaseState(name="base", link="block"), height=3.0)
    values = run(device, engine, 100)
    assert values["acceleration"] == pytest.approx([0, 0, -G], abs=1e-6)
    assert values["linear_velocity"] == pytest.approx([0, 0, -G * 0.099], abs=1e-6)
    assert values["position"] == pytest.approx(engine.data.body("block").xpos)


def test_a_turning_body_shows_its_rotation_in_world_axes():
    device, engine = made(BaseState(name="base", link="block"), height=3.0)
    engine.data.qpos[3:7] = [np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]  # a quarter turn about z
    engine.data.qvel[3:6] = [0.0, 0.4, 0.0]  # about the body's own y axis, which points along -x of the world
    engine.forward()
    device.write()
    assert device.read(0).values["angular_velocity"] == pytest.approx([-0.4, 0.0, 0.0], abs=1e-9)


def test_load_cells_carry_the_weight_and_its_moments():
    device, engine = made(ContactLoadCells(name="cells", link="block", cells=tuple("abcd"), positions=CORNERS))
    values = run(device, engine, 3000)
    load = values["load"]
    x, y = np.array(CORNERS)[:, :2].T
    weight = 5.001 * G
    assert load.sum() == pytest.approx(weight, rel=1e-3)
    assert (x * load).sum() == pytest.approx(3 * G * 0.04, rel=1e-2)
    assert (y * load).sum() == pytest.approx(-3 * G * 0.02, rel=1e-2)


def test_load_cells_of_a_body_in_the_air_read_zero():
    device, engine = made(
        ContactLoadCells(name="cells", link="block", cells=tuple("abcd"), positions=CORNERS), height=2.0
    )
    assert run(device, engine, 10)["load"].tolist() == [0.0] * 4


def test_joint_angles_are_the_positions_of_the_joints():
    device, engine = made(JointAngles(name="hand", joints=("bend",)))
    engine.port("bend/position")[0] = 0.7
    assert device.read(0).values["angle"].tolist() == [0.7]


@pytest.mark.parametrize(("position", "reading"), [(-0.5, 255.0), (-9.0, 255.0), (0.25, 127.5), (1.0, 0.0), (7.0, 0.0)])
def test_the_raw_values_of_joints_fall_from_255_at_the_lower_limit_to_0_at_the_upper_one(position, reading):
    limited = XML.replace('<joint name="bend"', '<joint name="bend" range="-28.64788975654116 57.29577951308232"')
    device, engine = made(JointAngles(name="hand", joints=("bend",)), xml=limited)
    engine.port("bend/position")[0] = position
    assert device.read(0).values["reading"].tolist() == pytest.approx([reading])


def test_the_raw_value_of_a_slide_is_its_position_and_that_of_a_joint_without_limits_half():
    device, engine = made(JointAngles(name="hand", joints=("bend",)))
    engine.port("bend/position")[0] = 0.7
    assert device.read(0).values["reading"].tolist() == [127.5]
    slide = XML.replace('<joint name="bend"', '<joint name="bend" type="slide"')
    device, engine = made(JointAngles(name="hand", joints=("bend",)), xml=slide)
    engine.port("bend/position")[0] = 0.07
    assert device.read(0).values["reading"].tolist() == [0.07]
    assert (device.samples["angle"].unit, device.samples["reading"].unit) == ("m", "m")


def pusher(height=3.0):
    return made(ExternalWrench(name="wrench", port="/robot/applyExternalWrench/rpc:i"), height=height)


def test_a_push_gives_the_momentum_of_force_times_duration():
    device, engine = pusher()
    device.push("block", [6.0, 0.0, 0.0], [0.0, 0.0, 0.0], 0.05)
    before = run(device, engine, 50)
    engine.forward()
    mujoco.mj_subtreeVel(engine.model, engine.data)
    assert engine.data.subtree_linvel[1][0] * 5.001 == pytest.approx(
        6.0 * 0.05, rel=1e-3
    )  # it tumbles: an error of the Euler step
    assert before["pushes"] == 1.0
    after = run(device, engine, 10)
    assert after["pushes"] == 0.0
    assert engine.port("body/block/wrench").tolist() == [0.0] * 6
    engine.forward()
    mujoco.mj_subtreeVel(engine.model, engine.data)
    assert engine.data.subtree_linvel[1][0] * 5.001 == pytest.approx(0.3, rel=1e-3)


def test_pushes_follow_each_other_in_single_mode_and_add_up_in_multiple():
    device, engine = pusher()
    device.push("block", [1, 0, 0], [0, 0, 0], 1.0)
    device.push("block", [0, 2, 0], [0, 0, 0], 1.0)
    assert run(device, engine, 2)["pushed_force"].tolist() == [0.0, 2.0, 0.0]
    device.allow_several()
    device.push("load", [1, 0, 0], [0, 0, 0.5], 1.0)
    values = run(device, engine, 2)
    assert values["pushed_force"].tolist() == [1.0, 2.0, 0.0]
    assert engine.port("body/load/wrench").tolist() == [1.0, 0, 0, 0, 0, 0.5]


def test_a_push_leaves_what_others_apply():
    device, engine = pusher()
    engine.port("body/block/wrench")[2] = 7.0
    device.push("block", [1, 0, 0], [0, 0, 0], 0.01)
    run(device, engine, 5)
    assert engine.port("body/block/wrench")[:3].tolist() == [1.0, 0.0, 7.0]
    run(device, engine, 20)
    assert engine.port("body/block/wrench")[:3].tolist() == [0.0, 0.0, 7.0]


@pytest.mark.parametrize(
    ("link", "force", "duration", "message"),
    [
        ("blok", [1, 0, 0], 1.0, "did you mean 'block'"),
        ("block", [np.nan, 0, 0], 1.0, "finite"),
        ("block", [1, 0], 1.0, "three forces"),
        ("block", [1, 0, 0], 0.0, "must be > 0"),
        ("block", [1, 0, 0], np.inf, "must be > 0"),
    ],
)
def test_a_push_that_cannot_be_is_refused(link, force, duration, message):
    device, _ = pusher()
    with pytest.raises(DeviceError, match=message):
        device.push(link, force, [0, 0, 0], duration)


@pytest.mark.parametrize(
    "described",
    [BaseState(name="x", link="blok"), ContactLoadCells(name="x", link="blok", cells=("a",), positions=((0, 0, 0),))],
)
def test_a_link_that_does_not_exist_is_named_with_the_nearest(described):
    with pytest.raises(DeviceError, match="did you mean 'block'"):
        made(described)


def test_services_of_a_robot_that_plugin_tags_describe_become_devices():
    robot = Robot(mujoco.MjSpec.from_string(XML.format(height=1.0)))
    described = (BaseState(name="base", link="block"), ClockPort(name="clock"))
    robot.interface = Interface(extensions={"yarp": YarpInterface(devices=described)})
    assert [(type(d).__name__, d.name) for d in make_devices(robot)] == [("BaseStateDevice", "base")]

"""The force/torque sensor against statics: what it carries, where, in which axes, with which sign."""

import mujoco
import numpy as np
import pytest

from pliant.base.errors import ModelError
from pliant.base.spatial import rotation_from_quaternion, rotation_from_rpy
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.model import ForceTorque, Noise, Robot
from pliant.sensors import ForceTorqueDevice
from pliant.simulation import Simulation

G = 9.81
MASS, CENTRE = 1.7, np.array([0.02, -0.03, 0.11])
FLANGE = """
<mujoco>
  <option gravity="0 0 -9.81" timestep="0.001"/>
  <worldbody>
    <body name="flange" pos="0 0 1" euler="40 -25 70">
      <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
      <body name="tool" pos="0 0 0.05" euler="0 30 0">
        <inertial pos="0.02 -0.03 0.11" mass="1.7" diaginertia="0.01 0.01 0.01"/>
        <site name="cut"/>
      </body>
    </body>
    <body name="slider"><joint name="lift" type="slide" axis="0 0 1"/>
      <inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/>
      <body name="load" pos="0.2 0 0"><inertial pos="0.1 0 0" mass="0.5" diaginertia="0.01 0.01 0.01"/></body>
    </body>
  </worldbody>
</mujoco>
"""


def read(*described, before=None, steps=3):
    robot = Robot(mujoco.MjSpec.from_string(FLANGE))
    robot.devices = list(described)
    engine = MujocoEngine(robot, check=False)
    devices = make_devices(robot)
    for device in devices:
        device.attach(engine)
        device.reset(np.random.default_rng(0))
    if before is not None:
        before(engine)
    for _ in range(steps):
        engine.step()
    samples = [device.read(engine.time_ns) for device in devices]
    return [(s.values["force"], s.values["torque"]) for s in samples], engine, devices


def rotations(engine):
    """Rotation of the flange and of the tool in the world, from MuJoCo's own matrices."""
    return [engine.data.body(name).xmat.reshape(3, 3) for name in ("flange", "tool")]


def test_a_tool_pulls_its_flange_down_with_its_weight_about_the_sensor():
    [(force, torque)], engine, _ = read(ForceTorque(name="ft", body="tool"))
    R = rotations(engine)[1]
    weight = R.T @ [0.0, 0.0, -MASS * G]
    np.testing.assert_allclose(force, weight, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(torque, np.cross(CENTRE, weight), rtol=1e-6, atol=1e-9)


def test_the_other_direction_is_mujocos_own_and_the_opposite():
    both = [
        ForceTorque(name="a", site="cut"),
        ForceTorque(name="b", site="cut", measure_direction="parent_to_child"),
    ]
    [(force, torque), (back, turned)], engine, _ = read(*both)
    np.testing.assert_array_equal(back, -force)
    np.testing.assert_array_equal(turned, -torque)
    np.testing.assert_array_equal(back, engine.data.sensor("a/force").data)
    assert (rotations(engine)[1] @ back)[2] == pytest.approx(MASS * G, rel=1e-6)


@pytest.mark.parametrize("axes", ["sensor", "child", "parent"])
def test_the_axes_are_those_that_were_asked_for(axes):
    turn = (np.cos(0.3), 0.0, np.sin(0.3), 0.0)
    place = np.array([0.01, 0.02, 0.03])
    described = ForceTorque(name="ft", body="tool", pos=tuple(place), quat=turn, measure_frame=axes)
    [(force, torque)], engine, (device,) = read(described)
    flange, tool = rotations(engine)
    R = {"sensor": tool @ rotation_from_rpy(np.array([0.0, 0.6, 0.0])), "child": tool, "parent": flange}[axes]
    weight = np.array([0.0, 0.0, -MASS * G])
    np.testing.assert_allclose(force, R.T @ weight, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(torque, R.T @ np.cross(tool @ (CENTRE - place), weight), rtol=1e-6, atol=1e-9)
    assert device.frame == {"sensor": "ft", "child": "ft", "parent": "flange"}[axes]
    if axes == "parent":
        assert device.mount is None  # these axes move on both bodies
    else:
        own = tool if axes == "child" else R
        assert device.mount.body == "tool"
        np.testing.assert_allclose(device.mount.position, place)
        np.testing.assert_allclose(tool @ rotation_from_quaternion(device.mount.orientation), own, atol=1e-12)


def test_the_axes_of_the_child_in_its_origin_are_the_child():
    _, _, (device,) = read(ForceTorque(name="ft", body="tool", measure_frame="child"))
    assert (device.frame, device.mount.body) == ("tool", "tool")


def test_axes_of_the_world_where_the_parent_is_the_world():
    described = ForceTorque(name="ft", body="flange", measure_frame="parent")
    [(force, _)], _, (device,) = read(described)
    np.testing.assert_allclose(force, [0.0, 0.0, -(MASS + 1.0) * G], rtol=1e-6, atol=1e-9)
    assert device.frame == "world"


def test_an_external_force_on_the_tool_reaches_the_sensor():
    def push(engine):
        engine.port("body/tool/wrench")[:3] = [5.0, 0.0, 0.0]

    described = ForceTorque(name="ft", body="tool", measure_frame="parent")
    [(loaded, _)], engine, _ = read(described, before=push)
    [(free, _)], _, _ = read(described)
    np.testing.assert_allclose(loaded - free, rotations(engine)[0].T @ [5.0, 0.0, 0.0], rtol=1e-6, atol=1e-9)


def test_an_accelerated_load_adds_its_inertia():
    def lift(engine):
        engine.port("lift/external_torque")[0] = 2.5 * (G + 3.0)  # 2 kg and 0.5 kg, 3 m/s^2 upwards

    [(force, torque)], _, _ = read(ForceTorque(name="ft", body="load"), before=lift)
    np.testing.assert_allclose(force, [0.0, 0.0, -0.5 * (G + 3.0)], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(torque, np.cross([0.1, 0.0, 0.0], force), rtol=1e-6, atol=1e-9)


FLOATING = """
<mujoco>
  <option gravity="1 2 -9" timestep="0.001"/>
  <worldbody>
    <body name="arm" pos="0 0 1" euler="10 20 30"><joint name="elbow" axis="0 1 0"{motor}/>
      <inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
      <body name="tool" pos="0.3 0 0" euler="0 30 10" gravcomp="{tool}">
        <inertial pos="0.02 -0.03 0.11" mass="1.7" diaginertia="0.01 0.01 0.01"/>
        <body name="finger" pos="0 0.1 0.1" gravcomp="{finger}">
          <inertial pos="0 0.05 0" mass="0.4" diaginertia="0.001 0.001 0.001"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator><motor name="elbow" joint="elbow"/></actuator>
</mujoco>
"""


@pytest.mark.parametrize("axes", ["sensor", "child", "parent"])
@pytest.mark.parametrize("disabled", [False, True])
@pytest.mark.parametrize(("tool", "finger"), [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.5, 2.0)])
def test_what_floats_does_not_hang_on_the_sensor(tool, finger, disabled, axes):
    robot = Robot(mujoco.MjSpec.from_string(FLOATING.format(tool=tool, finger=finger, motor="")))
    robot.devices = [ForceTorque(name="ft", body="tool", pos=(0.01, 0.02, 0.03), measure_frame=axes)]
    engine = MujocoEngine(robot, check=False)
    engine.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_GRAVITY) * disabled
    with Simulation(engine, make_devices(robot), pacer="free") as simulation:
        simulation.step(200)
        values = simulation.sample("ft").values
    model, data = engine.model, engine.data
    mujoco.mj_rnePostConstraint(model, data)  # at the poses at the start of the step, as the sample
    gravity = model.opt.gravity * (not disabled)
    origin, force, torque = data.site("ft/frame").xpos, np.zeros(3), np.zeros(3)
    for name in ("tool", "finger"):
        body = model.body(name).id
        motion, speed = np.zeros(6), np.zeros(6)
        mujoco.mj_objectAcceleration(model, data, mujoco.mjtObj.mjOBJ_BODY, body, motion, 0)  # less gravity
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, body, speed, 0)
        R = data.ximat[body].reshape(3, 3)
        inertia = R @ np.diag(model.body_inertia[body]) @ R.T
        held = model.body_mass[body] * (motion[3:] + model.body_gravcomp[body] * gravity)
        spin = inertia @ motion[:3] + np.cross(speed[:3], inertia @ speed[:3])
        force += held
        torque += np.cross(data.xipos[body] - origin, held) + spin
    R = data.body("arm" if axes == "parent" else "tool").xmat.reshape(3, 3)
    np.testing.assert_allclose(values["force"], -R.T @ force, atol=1e-9)
    np.testing.assert_allclose(values["torque"], -R.T @ torque, atol=1e-9)


def test_what_motors_hold_up_hangs_on_the_sensor():
    robot = Robot(mujoco.MjSpec.from_string(FLOATING.format(tool=1, finger=1, motor=' actuatorgravcomp="true"')))
    robot.set("arm.gravcomp", 1.0)
    robot.devices = [ForceTorque(name="ft", body="tool", measure_frame="parent")]
    with Simulation(MujocoEngine(robot, check=False), make_devices(robot), pacer="free") as simulation:
        simulation.step(3)
        force = simulation.sample("ft").values["force"]
        R = simulation.engine.data.body("arm").xmat.reshape(3, 3)
    np.testing.assert_allclose(force, R.T @ (2.1 * np.array([1.0, 2.0, -9.0])), atol=1e-6)


def test_a_tared_sensor_reads_zero_until_the_next_reset():
    robot = Robot(mujoco.MjSpec.from_string(FLANGE))
    described = ForceTorque(name="ft", body="tool")
    robot.devices = [described]
    engine = MujocoEngine(robot, check=False)
    device = ForceTorqueDevice(described, robot)
    device.attach(engine)
    device.reset(np.random.default_rng(0))
    engine.step()
    asked = device.request("tare")
    device.serve()
    zero = asked.result(0)
    assert np.linalg.norm(zero[:3]) == pytest.approx(MASS * G, rel=1e-6)
    assert not device.read(engine.time_ns).values["force"].any()
    device.reset(np.random.default_rng(0))
    assert np.linalg.norm(device.read(engine.time_ns).values["force"]) == pytest.approx(MASS * G, rel=1e-6)


def test_noise_of_the_wrench_repeats_with_the_seed():
    described = ForceTorque(name="ft", body="tool", force_noise=Noise(std=0.5, bias=1.0), torque_noise=Noise(std=0.01))
    first, second = read(described)[0], read(described)[0]
    np.testing.assert_array_equal(first, second)
    exact = read(ForceTorque(name="ft", body="tool"))[0]
    assert np.all(np.abs(np.array(first) - np.array(exact)) > 0.0)


def test_the_world_and_wrong_words_are_refused():
    with pytest.raises(ModelError, match="it sits on the world, which has no parent"):
        read(ForceTorque(name="ft", body="world"))
    with pytest.raises(ModelError, match="measure_direction is 'child-to-parent'; did you mean 'child_to_parent'"):
        ForceTorque(name="ft", body="tool", measure_direction="child-to-parent")
    with pytest.raises(ModelError, match="measure_frame is 'parent'; valid with a site: 'sensor'"):
        ForceTorque(name="ft", site="cut", measure_frame="parent")


def test_the_axes_of_a_parent_without_a_name_are_refused():
    spec = mujoco.MjSpec.from_string(FLANGE.replace('name="flange" pos', "pos"))
    robot = Robot(spec, devices=[ForceTorque(name="ft", body="tool", measure_frame="parent")])
    with pytest.raises(ModelError, match="the parent of body 'tool' has no name"):
        robot.compile()

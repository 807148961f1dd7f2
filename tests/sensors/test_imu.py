"""The inertial unit against what a real one measures at rest, in free fall, on a turntable."""

import dataclasses

import mujoco
import numpy as np
import pytest

from pliant.base.errors import DeviceError, ModelError
from pliant.devices import make_devices
from pliant.devices.base import Mount
from pliant.engine import MujocoEngine
from pliant.model import Imu, Noise, Robot
from pliant.sensors import ImuDevice

G = 9.81
TURNTABLE = """
<mujoco>
  <option gravity="0 0 -9.81" timestep="0.001"><flag contact="disable"/></option>
  <worldbody>
    <body name="table">
      <joint name="axle" axis="0 0 1"/>
      <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
      <body name="arm" pos="0.3 0 0">
        <site name="tip"/><inertial pos="0 0 0" mass="1e-3" diaginertia="1e-6 1e-6 1e-6"/>
      </body>
    </body>
    <body name="stone" pos="0 0 2"><freejoint name="free"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
  </worldbody>
</mujoco>
"""


def robot_with(*described, text=TURNTABLE):
    robot = Robot(mujoco.MjSpec.from_string(text))
    robot.devices = list(described)
    return robot


def measured(robot, steps=5, seed=0, before=None, device=None):
    """The last sample of each device after some steps, by name."""
    engine = MujocoEngine(robot, check=False)
    devices = make_devices(robot) if device is None else [device]
    for index, item in enumerate(devices):
        item.attach(engine)
        item.reset(np.random.default_rng([seed, index]))
    if before is not None:
        before(engine)
    for _ in range(steps):
        engine.step()
        samples = {item.name: item.read(engine.time_ns) for item in devices}
    return samples


def test_at_rest_it_measures_g_upwards_in_its_own_axes():
    turned = Imu(name="turned", body="arm", quat=(np.sqrt(0.5), np.sqrt(0.5), 0, 0))  # its y axis points up
    samples = measured(robot_with(Imu(name="level", body="arm"), turned))
    np.testing.assert_allclose(samples["level"].values["linear_acceleration"], [0, 0, G], atol=1e-12)
    np.testing.assert_allclose(samples["turned"].values["linear_acceleration"], [0, G, 0], atol=1e-12)
    np.testing.assert_allclose(samples["level"].values["angular_velocity"], 0.0, atol=1e-15)
    np.testing.assert_allclose(samples["turned"].values["orientation"], turned.quat, atol=1e-15)


def test_in_free_fall_it_measures_nothing():
    sample = measured(robot_with(Imu(name="imu", body="stone", pos=(0.1, 0.2, 0.3))), steps=300)["imu"]
    np.testing.assert_allclose(sample.values["linear_acceleration"], 0.0, atol=1e-11)


def test_on_a_turntable_it_measures_the_centripetal_acceleration():
    omega, radius = 7.0, 0.3

    def spin(engine):
        engine.port("axle/velocity")[0] = omega

    sample = measured(robot_with(Imu(name="imu", site="tip")), before=spin, steps=200)["imu"]
    np.testing.assert_allclose(sample.values["angular_velocity"], [0, 0, omega], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        sample.values["linear_acceleration"], [-(omega**2) * radius, 0.0, G], rtol=1e-10, atol=1e-10
    )
    # Angular velocity and orientation are those of the start of the step.
    angle = omega * 0.199
    np.testing.assert_allclose(
        sample.values["orientation"], [np.cos(angle / 2), 0, 0, np.sin(angle / 2)], rtol=1e-9, atol=1e-9
    )


def test_an_accelerated_turntable_adds_the_tangential_acceleration():
    def push(engine):
        engine.port("axle/external_torque")[0] = 2.0

    sample = measured(robot_with(Imu(name="imu", site="tip")), before=push, steps=1)["imu"]
    inertia = 1.0 + 1e-6 + 1e-3 * 0.3**2
    np.testing.assert_allclose(sample.values["linear_acceleration"], [0, 2.0 / inertia * 0.3, G], rtol=1e-9, atol=1e-9)


def test_without_orientation_there_is_no_such_field():
    sample = measured(robot_with(Imu(name="imu", site="tip", orientation=False)))["imu"]
    assert list(sample.values) == ["angular_velocity", "linear_acceleration"]


def test_noise_has_the_stated_moments_on_each_axis_and_repeats_with_the_seed():
    described = Imu(
        name="imu",
        body="arm",
        angular_velocity_noise=Noise(std=(0.01, 0.02, 0.0)),
        linear_acceleration_noise=Noise(mean=0.5, bias=0.1),
        orientation_noise=Noise(std=0.02),
    )
    robot = robot_with(described)

    def series(seed):
        engine = MujocoEngine(robot, check=False)
        device = ImuDevice(described, robot)
        device.attach(engine)
        device.reset(np.random.default_rng(seed))
        rows = [np.concatenate(list(device.read(i).values.values())) for i in range(2000)]
        return np.array(rows)

    values = series(4)
    np.testing.assert_array_equal(values, series(4))
    assert not np.array_equal(values, series(5))
    assert values[:, 4].std() == pytest.approx(0.01, rel=0.1)
    assert values[:, 5].std() == pytest.approx(0.02, rel=0.1)
    assert values[:, 6].std() == 0.0
    # A bias is one draw for the run; the mean is no draw.
    offset = values[0, 7:] - [0.0, 0.0, G]
    np.testing.assert_allclose(values[:, 7:] - [0.0, 0.0, G], np.tile(offset, (2000, 1)), atol=1e-12)
    assert np.all(np.abs(offset - 0.5) < 0.6)
    assert np.any(np.abs(offset - 0.5) > 1e-3)
    np.testing.assert_allclose(np.linalg.norm(values[:, :4], axis=1), 1.0, rtol=1e-14)
    assert (2.0 * values[:, 1]).std() == pytest.approx(0.02, rel=0.1)


def test_the_rate_is_the_nearest_with_a_whole_number_of_steps():
    robot = robot_with(Imu(name="imu", site="tip", rate=300.0, latency=0.004))
    (device,) = make_devices(robot)
    device.attach(MujocoEngine(robot, check=False))
    assert device.sample_period_ns == 3_000_000
    assert sample_periods(0.0) == 1_000_000
    assert sample_periods(1000.0) == 1_000_000
    assert sample_periods(5000.0) == 1_000_000


def sample_periods(rate):
    robot = robot_with(Imu(name="imu", site="tip", rate=rate))
    (device,) = make_devices(robot)
    device.attach(MujocoEngine(robot, check=False))
    return device.sample_period_ns


def test_latency_delays_what_it_measures():
    described = Imu(name="imu", site="tip", latency=0.010)
    robot = robot_with(described)
    engine = MujocoEngine(robot, check=False)
    late, prompt = ImuDevice(described, robot), ImuDevice(dataclasses.replace(described, latency=0.0), robot)
    for device in (late, prompt):
        device.attach(engine)
        device.reset(np.random.default_rng(0))
    engine.port("axle/external_torque")[0] = 1.0
    seen = {"late": [], "prompt": []}
    for _ in range(40):
        engine.step()
        seen["late"].append(late.read(engine.time_ns).values["angular_velocity"][2])
        seen["prompt"].append(prompt.read(engine.time_ns).values["angular_velocity"][2])
    assert seen["late"][10:] == seen["prompt"][:-10]


def test_a_disabled_one_is_not_made_and_adds_nothing_to_the_model():
    robot = robot_with(Imu(name="imu", site="tip", enabled=False))
    assert make_devices(robot) == []
    assert robot.compile().nsensor == 0
    robot.set("imu.enabled", "true")
    assert [device.name for device in make_devices(robot)] == ["imu"]
    assert robot.compile().nsensor == 3


def test_a_model_without_its_sensors_is_refused():
    robot = robot_with()
    engine = MujocoEngine(robot, check=False)
    device = ImuDevice(Imu(name="imu", site="tip"), robot)
    with pytest.raises(DeviceError, match="imu: the model has no sensor 'imu/orientation'; was the robot compiled"):
        device.attach(engine)


def test_a_body_that_does_not_exist_is_refused():
    with pytest.raises(ModelError, match="Imu 'imu': body is 'amr'; did you mean 'arm'"):
        robot_with(Imu(name="imu", body="amr")).compile()


def test_the_frame_of_a_site_is_told_with_its_place_on_the_body():
    robot = robot_with(
        Imu(name="imu", site="tip"), Imu(name="own", body="arm"), Imu(name="off", body="arm", pos=(0, 0, 0.1))
    )
    engine = MujocoEngine(robot, check=False)
    devices = {device.name: device for device in make_devices(robot)}
    for device in devices.values():
        device.attach(engine)

    def mounted_at(position):
        return Mount(body="arm", position=position, orientation=(1, 0, 0, 0))

    assert (devices["imu"].frame, devices["imu"].mount) == ("imu", mounted_at((0, 0, 0)))
    assert (devices["own"].frame, devices["own"].mount) == ("arm", mounted_at((0, 0, 0)))
    assert (devices["off"].frame, devices["off"].mount) == ("off", mounted_at((0, 0, 0.1)))

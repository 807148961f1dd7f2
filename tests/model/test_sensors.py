"""Described sensors: found in MJCF, set by path, carried under a prefix, added to the model when it is compiled."""

import dataclasses

import mujoco
import numpy as np
import pytest

from pliant.base.errors import ModelError
from pliant.base.spatial import quaternion_product
from pliant.model import Camera, ForceTorque, Imu, Laser, Noise, Robot
from pliant.model.sensor_reading import described_sensors
from pliant.robots.loading import load

MJCF = """
<mujoco model="sensed">
  <worldbody>
    <camera name="overview" pos="0 0 2"/>
    <body name="arm"><joint name="elbow"/><geom size="0.1"/>
      <site name="imu"/><site name="wrist"/><site name="both"/><site name="lonely"/>
      <camera name="eye" resolution="320 200" fovy="60"/><camera name="elbow"/>
    </body>
  </worldbody>
  <sensor>
    <gyro name="turn" site="imu" noise="0.01"/><accelerometer site="imu" noise="0.2"/>
    <framequat objtype="site" objname="imu"/>
    <force name="push" site="wrist" noise="0.5"/><torque site="wrist"/>
    <gyro site="both"/><accelerometer site="both"/><force site="both"/><torque site="both"/>
    <gyro name="alone" site="lonely"/><jointpos joint="elbow"/>
  </sensor>
</mujoco>
"""

PLACES = {"pos": (0.1, 0.0, 0.0), "quat": (0.0, 1.0, 0.0, 0.0)}


@pytest.fixture
def mjcf(tmp_path):
    path = tmp_path / "sensed.xml"
    path.write_text(MJCF)
    return path


def sensed(*described):
    robot = Robot(mujoco.MjSpec.from_string(MJCF))
    robot.devices = list(described)
    return robot


# ---------------------------------------------------------------------------- MJCF
def test_sensors_on_one_site_become_one_device(mjcf):
    robot = load(mjcf)
    devices = {device.name: device for device in robot.devices}
    assert list(devices) == ["imu", "wrist", "both_imu", "both_ft", "overview", "eye", "elbow"]
    imu = devices["imu"]
    assert (imu.site, imu.orientation) == ("imu", True)
    assert (imu.angular_velocity_noise, imu.linear_acceleration_noise) == (Noise(std=0.01), Noise(std=0.2))
    wrist = devices["wrist"]
    assert (wrist.measure_direction, wrist.force_noise.std) == ("parent_to_child", 0.5)
    assert devices["both_imu"].orientation is False


def test_sensors_of_the_file_are_used_and_none_is_added(mjcf):
    robot = load(mjcf)
    plain = mujoco.MjSpec.from_string(MJCF).compile()
    model = robot.compile()
    assert model.nsensor == plain.nsensor
    assert robot.devices[0].sensors(robot.spec) == {
        "angular_velocity": "turn",
        "linear_acceleration": "imu/linear_acceleration",
        "orientation": "imu/orientation",
    }
    assert all(mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SENSOR, name) >= 0 for name in ("turn", "imu/orientation"))


def test_cameras_of_the_file_are_described_and_rest_until_asked(mjcf):
    robot = load(mjcf)
    eye = next(device for device in robot.devices if device.name == "eye")
    assert isinstance(eye, Camera)
    assert (eye.enabled, eye.width, eye.height, eye.camera) == (False, 320, 200, "eye")
    overview = next(device for device in robot.devices if device.name == "overview")
    assert (overview.width, overview.height) == (640, 480)
    robot.update({"eye.enabled": "yes", "eye.rate": "15", "eye.depth": True})
    eye = next(device for device in robot.devices if device.name == "eye")
    assert (eye.enabled, eye.rate, eye.depth, eye.camera) == (True, 15.0, True, "eye")


def test_names_that_are_taken_get_a_number():
    spec = mujoco.MjSpec.from_string(MJCF)
    names = [described.name for described in described_sensors(spec, taken=["imu", "eye"])]
    assert names == ["imu_2", "wrist", "both_imu", "both_ft", "overview", "eye_2", "elbow"]


# ---------------------------------------------------------------------------- paths
def test_fields_are_set_by_path():
    robot = sensed(Imu(name="unit", site="imu"), ForceTorque(name="cell", site="wrist"))
    robot.update(
        {
            "unit.rate": "200",
            "unit.angular_velocity_noise.std": "0.1, 0.2, 0.3",
            "unit.angular_velocity_noise.bias": 0.01,
            "cell.force_noise.resolution": "0.5",
            "cell.frame": "flange",
        }
    )
    unit, cell = robot.devices
    assert unit.rate == 200.0
    assert unit.angular_velocity_noise == Noise(std=(0.1, 0.2, 0.3), bias=0.01)
    assert cell.force_noise == Noise(resolution=0.5)
    assert cell.frame_id == "flange"
    robot.set("*.latency", 0.002)
    assert [device.latency for device in robot.devices] == [0.002, 0.002]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("unit.rates", 1, "'unit' has no 'rates'; did you mean 'rate'"),
        ("unit.rate", "fast", "unit.rate is 'fast'; must be a number"),
        ("unit.rate", -1, "unit: Imu 'unit': rate is -1; must be a number >= 0"),
        ("unit.pos", "1 2", "unit.pos is '1 2', 2 numbers; must be 3 numbers"),
        ("unit.orientation", "maybe", "unit.orientation is 'maybe'; must be true or false"),
        ("unit.angular_velocity_noise", 0.1, "it has parts, set one of them: unit.angular_velocity_noise.std"),
        ("unit.angular_velocity_noise.sdt", 0.1, "Noise has no 'sdt'; did you mean 'std'"),
        ("unit.angular_velocity_noise.std", "-0.1", "noise std is -0.1"),
        ("unit.angular_velocity_noise.std", "1 2", "noise std has 2 numbers; must be a number, or 3 of them"),
        ("unit.name", "other", "'unit' has no 'name'"),
        ("unit.pos", "0 0 0.1", r"pos is \(0.0, 0.0, 0.1\), which has no effect: the model's site 'imu' has its own"),
        ("unit.orientation_noise.resolution", 0.1, "orientation_noise.resolution is 0.1, which has no effect"),
    ],
)
def test_a_wrong_path_or_value_is_refused_and_nothing_changes(path, value, message):
    described = Imu(name="unit", site="imu")
    robot = sensed(described)
    with pytest.raises(ModelError, match=message):
        robot.set(path, value)
    assert robot.devices == [described]


# ---------------------------------------------------------------------------- attach
def test_an_attached_robot_keeps_its_sensors_under_the_prefix(mjcf):
    world = Robot(mujoco.MjSpec.from_string("<mujoco><worldbody><body name='base'/></worldbody></mujoco>"))
    for side in ("left_", "right_"):
        robot = load(mjcf)
        robot.devices.append(ForceTorque(name="cell", body="arm"))
        robot.devices.append(Camera(name="far", body="world", pos=(0, 0, 3)))
        world.attach(robot, body="base", prefix=side)
    devices = {device.name: device for device in world.devices}
    assert devices["left_imu"].site == "left_imu"
    assert devices["right_cell"].body == "right_arm"
    assert devices["right_eye"].camera == "right_eye"
    assert devices["right_far"].body == "world"
    model = world.compile()
    for name in ("left_turn", "right_turn", "left_cell/force", "right_cell/torque"):
        assert mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SENSOR, name) >= 0, name
    assert mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_CAMERA, "left_far/camera") >= 0


# ---------------------------------------------------------------------------- wrong descriptions
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Imu(name="", body="arm"), "the name is ''"),
        (lambda: Imu(name="a"), "Imu 'a': it has neither site nor body"),
        (lambda: Imu(name="a", body="arm", site="imu"), "it has site 'imu' and body 'arm'; must be one"),
        (lambda: Imu(name="a", body="arm", pos=(1, 2)), "pos is .* must be 3 finite numbers"),
        (lambda: Imu(name="a", body="arm", quat=(0, 0, 0, 0)), r"quat is .* a quaternion \(w, x, y, z\)"),
        (lambda: Imu(name="a", body="arm", rate=float("nan")), "rate is nan"),
        (lambda: Imu(name="a", body="arm", latency=-0.1), "latency is -0.1"),
        (
            lambda: Imu(name="a", body="arm", angular_velocity_noise=0.1),
            "angular_velocity_noise is 0.1, a float; must be a Noise",
        ),
        (lambda: Camera(name="a"), "it has no place; must be one of camera, site, body"),
        (lambda: Camera(name="a", body="arm", camera="eye"), "it has camera 'eye' and body 'arm'"),
        (lambda: Camera(name="a", body="arm", width=0), "width is 0; must be a whole number from 1 to 4096"),
        (lambda: Camera(name="a", body="arm", height=480.5), "height is 480.5"),
        (lambda: Camera(name="a", body="arm", fovy=180), "fovy is 180"),
        (lambda: Camera(name="a", body="arm", near=2, far=1), "far is 1; must be a number > 2"),
        (lambda: Camera(name="a", body="arm", rate=0), "rate is 0; must be a number > 0"),
        (lambda: Camera(name="a", body="arm", latency=60), r"latency is 60 s: 1.5 GiB of images would be on their way"),
        (lambda: Camera(name="a", body="arm", color=False), "color, depth and segmentation are false"),
        (lambda: Camera(name="a", body="arm", focal=(500.0,)), r"focal is \(500.0,\); must be two finite numbers > 0"),
        (lambda: Camera(name="a", body="arm", focal=(500.0, 0.0)), "must be two finite numbers > 0"),
        (
            lambda: Camera(name="a", body="arm", principal=(1.0, 2.0, 3.0)),
            "principal is .* must be two finite numbers:",
        ),
        (lambda: Camera(name="a", body="arm", distortion=(0.1,) * 6), "must be up to five finite numbers"),
        (lambda: Camera(name="a", body="arm", segmentation=True, samples=4), "samples is 4 and segmentation is true"),
        (
            lambda: Camera(name="a", body="arm", color=False, depth=True, exposure_time=0.01),
            "exposure_time is 0.01 s and color is false",
        ),
    ],
)
def test_a_wrong_description_is_refused(make, message):
    with pytest.raises(ModelError, match=message):
        make()


@pytest.mark.parametrize(
    ("place", "field", "value"),
    [
        *(("site", f, v) for f, v in PLACES.items()),
        *(("camera", f, v) for f, v in {**PLACES, "fovy": 60.0}.items()),
    ],
)
def test_a_field_that_the_model_says_in_its_place_is_refused(place, field, value):
    for kind in (Imu, ForceTorque, Laser, Camera):
        if place in {f.name for f in dataclasses.fields(kind)}:
            with pytest.raises(ModelError, match=f"{field} is .*: the model's {place} 'mount' has its own"):
                kind(name="a", **{place: "mount", field: value})


@pytest.mark.parametrize(
    ("described", "message"),
    [
        (Imu(name="a", site="imus"), "site is 'imus'; did you mean 'imu'"),
        (ForceTorque(name="a", body="arms"), "body is 'arms'; did you mean 'arm'"),
        (Camera(name="a", camera="eyes"), "camera is 'eyes'; did you mean 'eye'"),
    ],
)
def test_a_place_that_does_not_exist_is_refused_when_the_robot_is_compiled(described, message):
    with pytest.raises(ModelError, match=message):
        sensed(described).compile()


def test_any_number_of_distortion_coefficients_up_to_five_is_a_lens():
    for count in range(6):
        assert len(Camera(name="a", body="arm", distortion=(0.01,) * count).distortion) == count


# ---------------------------------------------------------------------------- frames
@pytest.mark.parametrize("frame", ["parent", "child", "sensor"])
def test_the_weight_that_a_force_sensor_measures_is_vertical_in_the_frame_that_it_names(frame):
    text = """<mujoco><worldbody><body name="upper" euler="20 30 40" pos="0 0 1"><joint axis="1 1 0"/><geom size="0.1"/>
    <body name="arm" euler="-50 10 70"><geom size="0.1" mass="2"/></body></body></worldbody></mujoco>"""
    robot = Robot(mujoco.MjSpec.from_string(text))
    sensor = ForceTorque(name="cell", body="arm", quat=(0.8, 0.0, 0.6, 0.0), measure_frame=frame)
    robot.devices = [sensor]
    model = robot.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    data.qacc[:] = 0.0
    data.qfrc_applied[:] = data.qfrc_bias  # the joint is held
    mujoco.mj_forward(model, data)
    names = sensor.sensors(robot.spec)
    force = data.sensor(names["force"]).data
    rotation = np.zeros(9)
    if "orientation" in names:
        mujoco.mju_quat2Mat(rotation, data.sensor(names["orientation"]).data)
        force = rotation.reshape(3, 3) @ force
    body = {"parent": "upper", "child": "arm", "sensor": "arm"}[frame]
    in_world = data.body(body).xmat.reshape(3, 3)
    if frame == "sensor":
        mujoco.mju_quat2Mat(rotation, np.array(sensor.quat))
        in_world = in_world @ rotation.reshape(3, 3)
    weight = 2.0 * 9.81
    np.testing.assert_allclose(np.abs(in_world @ force), [0.0, 0.0, weight], atol=1e-3 * weight)


def test_a_camera_of_its_own_looks_along_the_z_axis_of_its_optical_frame():
    # Half a turn about x: image to the right stays x, y down is MuJoCo's -y, forward is its -z.
    quat = (np.cos(0.4), 0.0, np.sin(0.4), 0.0)
    model = sensed(Camera(name="a", body="arm", pos=(0.1, 0.2, 0.3), quat=quat, fovy=50)).compile()
    camera = model.camera("a/camera")
    np.testing.assert_allclose(camera.pos, [0.1, 0.2, 0.3])
    np.testing.assert_allclose(np.abs(camera.quat @ quaternion_product(quat, (0, 1, 0, 0))), 1.0, atol=1e-12)
    assert camera.fovy == 50.0
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, camera.quat)
    forward = -R.reshape(3, 3)[:, 2]
    np.testing.assert_allclose(forward, [np.sin(0.8), 0.0, np.cos(0.8)], atol=1e-12)


def test_a_camera_may_sit_on_a_site():
    robot = sensed(Camera(name="a", site="imu"))
    assert robot.compile().camera("a/camera").quat == pytest.approx([0, 1, 0, 0])


# ---------------------------------------------------------------------------- pliant's own YAML
YAML = """
model: sensed.xml
sensors:
  cell:
    kind: force_torque
    body: arm
    measure_frame: parent
    force_noise: {std: [0.1, 0.2, 0.3]}
  far: {kind: camera, body: world, pos: [0, 0, 3], quat: "0 1 0 0", rate: 10, depth: yes}
set:
  far.width: 320
"""


def test_pliants_own_yaml_describes_sensors(mjcf):
    path = mjcf.with_name("robot.yaml")
    path.write_text(YAML)
    devices = {device.name: device for device in load(path).devices}
    assert devices["cell"] == ForceTorque(
        name="cell", body="arm", measure_frame="parent", force_noise=Noise(std=(0.1, 0.2, 0.3))
    )
    far = devices["far"]
    assert isinstance(far, Camera)
    assert (far.body, far.pos, far.rate, far.depth, far.width, far.enabled) == ("world", (0, 0, 3), 10, True, 320, True)
    assert "imu" in devices


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        (
            "kind: force_torque",
            "kind: forcetorque",
            5,
            "sensors.cell.kind is 'forcetorque'; did you mean 'force_torque'",
        ),
        ("kind: force_torque", "rate: 1", 4, "sensors.cell.kind is missing; must be one of camera, force_torque, imu"),
        ("body: arm", "bodi: arm", 6, "ForceTorque has no 'bodi'; did you mean 'body'"),
        (
            "measure_frame: parent",
            "measure_frame: up",
            7,
            "measure_frame is 'up'; must be one of child, parent, sensor",
        ),
        ("{std: [0.1, 0.2, 0.3]}", "{std: [0.1, 0.2]}", 8, "noise std has 2 numbers"),
        ("{std: [0.1, 0.2, 0.3]}", "0.1", 8, "it has parts, set one of them"),
        ("rate: 10", "rate: soon", 9, "sensors.far.rate is 'soon'; must be a number"),
        ("  far:", "  imu:", 9, "sensors.imu: the model has a device of this name"),
        ("far.width", "far.widht", 11, "'far' has no 'widht'; did you mean 'width'"),
    ],
)
def test_a_wrong_sensor_in_yaml_is_refused_with_its_line(mjcf, old, new, line, message):
    path = mjcf.with_name("robot.yaml")
    assert old in YAML
    path.write_text(YAML.replace(old, new))
    with pytest.raises(ModelError, match=message) as caught:
        load(path)
    assert caught.value.line == line

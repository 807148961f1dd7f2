"""Gazebo's sensor tags and the ROS plugins' in them: what they become, what they publish where, what is refused."""

import math
from pathlib import Path

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.base.documents.xml_tree import parse_xml
from pliant.base.errors import ModelError
from pliant.gazebo.sensors import is_sensor_plugin, read_sensor_tags
from pliant.model import Camera, ForceTorque, Imu, Laser, Noise
from pliant.robots.loading import load

URDF = """<?xml version="1.0"?>
<robot name="bench">
  <link name="world"/>
  <joint name="elbow" type="revolute">
    <parent link="world"/><child link="arm"/><limit effort="1" velocity="1" lower="-1" upper="1"/><axis xyz="0 0 1"/>
  </joint>
  <link name="arm"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="mount" type="fixed"><parent link="arm"/><child link="tool"/><origin xyz="0.1 0 0"/></joint>
  <link name="tool"><inertial><mass value="2"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  {extra}
</robot>
"""


@pytest.fixture
def read(tmp_path):
    """Return a function that loads the bench with something added."""

    def run(extra):
        path = tmp_path / "bench.urdf"
        path.write_text(URDF.format(extra=extra))
        return load(path)

    return run


def one(robot, name=None):
    found = [device for device in robot.devices if name is None or device.name == name]
    assert len(found) == 1
    return found[0]


# ---------------------------------------------------------------------------- imu
IMU = """
<gazebo reference="tool">
  <sensor name="imu" type="imu">
    <always_on>true</always_on><update_rate>200</update_rate><visualize>false</visualize>
    <pose>0.1 0.2 0.3 0 0 1.5707963267948966</pose>
    <imu>
      <angular_velocity>
        <x><noise type="gaussian"><mean>0.01</mean><stddev>0.1</stddev><bias_mean>0.02</bias_mean>
          <bias_stddev>0.03</bias_stddev></noise></x>
        <y><noise type="gaussian"><stddev>0.2</stddev></noise></y>
        <z><noise type="none"><stddev>9</stddev></noise></z>
      </angular_velocity>
      <linear_acceleration>
        <x><noise type="gaussian_quantized"><stddev>0.5</stddev><precision>0.25</precision></noise></x>
        <y><noise type="gaussian_quantized"><stddev>0.5</stddev><precision>0.25</precision></noise></y>
        <z><noise type="gaussian_quantized"><stddev>0.5</stddev><precision>0.25</precision></noise></z>
      </linear_acceleration>
    </imu>
    {plugin}
  </sensor>
</gazebo>
"""


def test_an_imu_has_rate_place_and_the_noise_of_each_axis(read):
    robot = read(IMU.format(plugin=""))
    imu = one(robot)
    assert isinstance(imu, Imu)
    assert (imu.name, imu.body, imu.rate, imu.topic, imu.frame_id) == ("imu", "tool", 200.0, "", "imu")
    assert imu.pos == (0.1, 0.2, 0.3)
    np.testing.assert_allclose(imu.quat, [math.sqrt(0.5), 0, 0, math.sqrt(0.5)], atol=1e-15)
    assert imu.angular_velocity_noise == Noise(
        std=(0.1, 0.2, 0.0), bias=(0.03, 0.0, 0.0), mean=(0.03, 0.0, 0.0), resolution=0.0
    )
    assert imu.linear_acceleration_noise == Noise(std=0.5, resolution=0.25)
    assert mujoco.mj_name2id(robot.compile(), mujoco.mjtObj.mjOBJ_SENSOR, "imu/angular_velocity") >= 0
    assert not any("sensor" in note for note in robot.notes)


def test_the_ros1_imu_plugin_says_topic_frame_rate_noise_and_offset(read):
    plugin = """<plugin name="p" filename="libgazebo_ros_imu_sensor.so"><topicName>imu/data</topicName>
      <bodyName>arm</bodyName><updateRateHZ>50.0</updateRateHZ><gaussianNoise>0.3</gaussianNoise>
      <xyzOffset>1 0 0</xyzOffset><rpyOffset>0 0 1.5707963267948966</rpyOffset><frameName>imu_link</frameName>
      <robotNamespace>left</robotNamespace></plugin>"""
    robot = read(IMU.format(plugin=plugin))
    imu = one(robot)
    assert (imu.body, imu.rate, imu.topic, imu.frame_id) == ("arm", 50.0, "/left/imu/data", "imu_link")
    np.testing.assert_allclose(imu.pos, [0.1, 1.2, 0.3], atol=1e-15)  # the offset is in the sensor's own axes
    np.testing.assert_allclose(np.abs(imu.quat), [0, 0, 0, 1], atol=1e-15)
    np.testing.assert_allclose(imu.angular_velocity_noise.std, np.hypot([0.1, 0.2, 0.0], 0.3))
    assert imu.orientation_noise == Noise(std=0.3)
    assert not any("not understood" in note for note in robot.notes)


def test_the_ros1_imu_plugin_of_a_model_makes_a_sensor(read):
    imu = one(
        read(
            """<gazebo><plugin name="imu_plugin" filename="libgazebo_ros_imu.so"><alwaysOn>true</alwaysOn>
            <bodyName>tool</bodyName><topicName>/tool_imu</topicName><updateRate>100.0</updateRate></plugin></gazebo>"""
        )
    )
    assert (imu.name, imu.body, imu.topic, imu.rate, imu.frame_id) == ("imu_plugin", "tool", "/tool_imu", 100.0, "tool")


@pytest.mark.parametrize("tag", ["remapping", "argument"])
def test_the_ros2_imu_plugin_says_its_topic_by_remapping(read, tag):
    plugin = f"""<plugin name="p" filename="libgazebo_ros_imu_sensor.so"><ros><namespace>/left</namespace>
      <{tag}>~/out:=imu</{tag}></ros><frame_name>imu_link</frame_name></plugin>"""
    imu = one(read(IMU.format(plugin=plugin)))
    assert (imu.topic, imu.frame_id) == ("/left/imu", "imu_link")


def test_the_noise_of_old_descriptions_is_one_for_all_axes(read):
    imu = one(
        read(
            """<gazebo reference="arm"><sensor name="i" type="imu"><topic>old</topic><imu><noise><type>gaussian</type>
            <rate><mean>0.1</mean><stddev>0.2</stddev></rate><accel><mean>0</mean><stddev>0.4</stddev></accel>
            </noise></imu></sensor></gazebo>"""
        )
    )
    assert (imu.angular_velocity_noise, imu.linear_acceleration_noise) == (Noise(std=0.2, mean=0.1), Noise(std=0.4))
    assert (imu.topic, imu.rate) == ("/old", 0.0)


# ---------------------------------------------------------------------------- force/torque
def test_a_force_torque_sensor_stands_on_a_joint_and_measures_as_gazebo_does(read):
    cell = one(
        read(
            """<gazebo reference="mount"><provideFeedback>true</provideFeedback>
            <sensor name="cell" type="force_torque"><update_rate>500</update_rate><force_torque>
            <force><x><noise type="gaussian"><stddev>0.5</stddev></noise></x></force></force_torque></sensor>
            </gazebo>"""
        )
    )
    assert isinstance(cell, ForceTorque)
    assert (cell.body, cell.measure_frame, cell.measure_direction) == ("tool", "child", "child_to_parent")
    assert cell.force_noise == Noise(std=(0.5, 0.0, 0.0))


def test_frame_and_direction_are_read(read):
    cell = one(
        read(
            """<gazebo reference="elbow"><sensor name="cell" type="force_torque"><pose>0 0 0.1 0 0 0</pose>
            <force_torque><frame>parent</frame><measure_direction>parent_to_child</measure_direction></force_torque>
            </sensor></gazebo>"""
        )
    )
    assert (cell.body, cell.measure_frame, cell.measure_direction) == ("arm", "parent", "parent_to_child")
    assert cell.pos == (0.0, 0.0, 0.1)


def test_the_ros1_ft_plugin_makes_a_sensor_and_it_weighs_the_tool(read):
    robot = read(
        """<gazebo><plugin name="ft" filename="libgazebo_ros_ft_sensor.so"><updateRate>100.0</updateRate>
        <topicName>ft_sensor_topic</topicName><jointName>mount</jointName></plugin></gazebo>"""
    )
    cell = one(robot)
    assert (cell.name, cell.body, cell.topic, cell.rate) == ("ft", "tool", "/ft_sensor_topic", 100.0)
    assert (cell.frame_id, cell.measure_frame) == ("tool", "child")
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine

    engine = MujocoEngine(robot, check=False)
    (device,) = make_devices(robot)
    device.attach(engine)
    device.reset(np.random.default_rng(0))
    engine.step()
    np.testing.assert_allclose(device.read(0).values["force"], [0, 0, -2 * 9.81], atol=1e-9)


# ---------------------------------------------------------------------------- cameras
CAMERA = """
<gazebo reference="tool">
  <sensor name="eye" type="{type}"><update_rate>20</update_rate>{more}
    <camera name="head"><horizontal_fov>1.2</horizontal_fov>
      <image><width>800</width><height>600</height><format>R8G8B8</format></image>
      <clip><near>0.02</near><far>30</far></clip>
      <noise><type>gaussian</type><mean>0.0</mean><stddev>0.01</stddev></noise></camera>
    {plugin}
  </sensor>
</gazebo>
"""
ROS1 = """<plugin name="c" filename="libgazebo_ros_camera.so"><alwaysOn>true</alwaysOn><updateRate>0.0</updateRate>
  <cameraName>rig/eye1</cameraName><imageTopicName>image_color</imageTopicName>
  <cameraInfoTopicName>info</cameraInfoTopicName><frameName>optical_link</frameName></plugin>"""


def test_a_camera_has_size_view_and_clip_and_rests_until_asked(read):
    robot = read(CAMERA.format(type="camera", more="", plugin=""))
    eye = one(robot)
    assert isinstance(eye, Camera)
    assert (eye.width, eye.height, eye.near, eye.far, eye.rate) == (800, 600, 0.02, 30.0, 20.0)
    assert (eye.color, eye.depth, eye.enabled, eye.topic) == (True, False, False, "")
    # tan(h/2) / tan(v/2) is the ratio of the sides
    assert math.tan(0.6) / math.tan(math.radians(eye.fovy) / 2) == pytest.approx(800 / 600, rel=1e-12)
    assert eye.noise.std == pytest.approx(2.55)
    assert any("--set eye.enabled=true" in note for note in robot.notes)
    assert one(read(CAMERA.format(type="camera", more="<always_on>1</always_on>", plugin=""))).enabled


def test_a_camera_looks_along_the_x_axis_of_its_link(read):
    model = read(CAMERA.format(type="camera", more="<always_on>1</always_on>", plugin="")).compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    R = data.camera("eye/camera").xmat.reshape(3, 3)
    np.testing.assert_allclose(R, [[0, 0, -1], [-1, 0, 0], [0, 1, 0]], atol=1e-12)  # right is -y, up is z, back is -x


def test_a_camera_has_the_distortion_and_the_intrinsics_of_its_tags(read):
    lens = """<distortion><k1>-0.25</k1><k2>0.12</k2><p1>-0.0003</p1><p2>0.001</p2><center>0.5 0.5</center></distortion>
      <lens><intrinsics><fx>500</fx><fy>510</fy><cx>401</cx><cy>300.5</cy><s>0</s></intrinsics></lens></camera>"""
    robot = read(CAMERA.format(type="camera", more="", plugin="").replace("</camera>", lens))
    eye = one(robot)
    assert eye.distortion == (-0.25, 0.12, -0.0003, 0.001, 0.0)
    # SDF has its origin at the corner of the first pixel, pliant in its middle.
    assert (eye.focal, eye.principal) == ((500.0, 510.0), (400.5, 300.0))
    assert not any("intrinsics" in note or "distortion" in note for note in robot.notes)
    odd = lens.replace("<fy>510</fy>", "").replace("0.5 0.5", "0.4 0.5").replace("<s>0</s>", "<s>2</s>")
    robot = read(CAMERA.format(type="camera", more="", plugin="").replace("</camera>", odd))
    assert one(robot).focal == ()
    for text in ("fx> has no effect without <lens/intrinsics/fy", "center> is 0.4 0.5", "intrinsics/s> is 2"):
        assert any(text in note for note in robot.notes), (text, robot.notes)


def test_the_ros1_camera_plugin_says_topics_and_frame(read):
    eye = one(read(CAMERA.format(type="camera", more="", plugin=ROS1)))
    assert (eye.topic, eye.image_topic, eye.info_topic) == ("/rig/eye1", "image_color", "info")
    assert (eye.enabled, eye.frame_id, eye.rate) == (True, "optical_link", 20.0)


def test_the_ros1_depth_camera_plugin_gives_colours_and_depth(read):
    plugin = """<plugin name="k" filename="libgazebo_ros_openni_kinect.so"><cameraName>kinect</cameraName>
      <depthImageTopicName>depth/raw</depthImageTopicName><pointCloudTopicName>points</pointCloudTopicName></plugin>"""
    robot = read(CAMERA.format(type="depth", more="", plugin=plugin))
    eye = one(robot)
    assert (eye.color, eye.depth, eye.topic, eye.depth_topic) == (True, True, "/kinect", "depth/raw")
    assert eye.depth_info_topic == "depth/camera_info"
    assert any("no point clouds" in note for note in robot.notes)


def test_the_ros2_camera_plugin_remaps(read):
    plugin = """<plugin name="c" filename="libgazebo_ros_camera.so"><ros><namespace>left</namespace>
      <remapping>~/image_raw:=picture</remapping></ros><camera_name>eye</camera_name>
      <frame_name>f</frame_name></plugin>"""
    eye = one(read(CAMERA.format(type="camera", more="", plugin=plugin)))
    assert (eye.topic, eye.image_topic, eye.info_topic) == ("/left/eye", "/left/picture", "camera_info")
    assert eye.frame_id == "f"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("camera", {"image_topic": "/rig/picture", "info_topic": "/rig/camera_info", "color": True, "depth": False}),
        ("depth", {"depth_topic": "/rig/picture", "depth_info_topic": "/rig/camera_info", "color": False}),
        ("depth_camera", {"depth_topic": "/rig/picture", "depth": True, "depth_noise": Noise(std=0.01)}),
        ("rgbd", {"topic": "/rig/picture", "image_topic": "image", "depth_topic": "depth_image", "color": True}),
        ("rgbd_camera", {"topic": "/rig/picture", "depth": True, "info_topic": "camera_info"}),
    ],
)
def test_the_topic_of_gazebo_sim_is_that_of_the_picture(read, kind, expected):
    eye = one(read(CAMERA.format(type=kind, more="<topic>rig/picture</topic>", plugin="")))
    assert {key: getattr(eye, key) for key in expected} == expected


# ---------------------------------------------------------------------------- lasers
LASER = """<gazebo reference="arm"><sensor name="scan" type="{type}"><pose>0.1 0 0.2 0 0 0</pose>
<update_rate>20</update_rate><{tag}><scan><horizontal><samples>91</samples><resolution>2</resolution><min_angle>-1.5</min_angle>
<max_angle>1.5</max_angle></horizontal>{vertical}</scan><range><min>0.1</min><max>8</max><resolution>0.01</resolution>
</range><noise><type>gaussian</type><stddev>0.02</stddev></noise></{tag}></sensor></gazebo>"""


@pytest.mark.parametrize(
    ("type_", "tag"), [("ray", "ray"), ("gpu_ray", "ray"), ("lidar", "lidar"), ("gpu_lidar", "ray")]
)
def test_a_laser_is_read_with_its_angles_ranges_and_noise(read, type_, tag):
    scan = one(read(LASER.format(type=type_, tag=tag, vertical="")))
    assert isinstance(scan, Laser)
    assert (scan.rays, scan.min_angle, scan.max_angle, scan.min_range, scan.max_range) == (182, -1.5, 1.5, 0.1, 8.0)
    assert (scan.rate, scan.pos, scan.body) == (20.0, (0.1, 0.0, 0.2), "arm")
    assert scan.noise == Noise(std=0.02, resolution=0.01)


@pytest.mark.parametrize(("samples", "resolution"), [(1, 1), (2, 0.5)])
@pytest.mark.parametrize("half", [0.0, 0.5])
def test_the_ray_of_a_laser_with_one_looks_ahead(read, samples, resolution, half):
    text = LASER.format(type="ray", tag="ray", vertical="").replace("-1.5", str(-half)).replace("1.5", str(half))
    text = text.replace("<samples>91", f"<samples>{samples}").replace("<resolution>2", f"<resolution>{resolution}")
    scan = one(read(text))
    assert (scan.rays, scan.min_angle, scan.max_angle) == (1, 0.0, 0.0)


@pytest.mark.parametrize(
    ("file", "inside", "topic"),
    [
        ("libgazebo_ros_laser.so", "<topicName>scan</topicName><frameName>/eye</frameName>", "/scan"),
        (
            "libgazebo_ros_gpu_laser.so",
            "<robotNamespace>/r</robotNamespace><topicName>scan</topicName><frameName>eye</frameName>",
            "/r/scan",
        ),
        (
            "libgazebo_ros_ray_sensor.so",
            "<ros><namespace>/r</namespace><remapping>~/out:=scan</remapping></ros><frame_name>eye</frame_name>",
            "/r/scan",
        ),
    ],
)
def test_the_plugins_of_lasers_say_topic_frame_rate_and_noise(read, file, inside, topic):
    inside += "<updateRate>10</updateRate><gaussianNoise>0.0375</gaussianNoise>"
    plugin = f'<plugin name="p" filename="{file}">{inside}</plugin></sensor>'
    robot = read(LASER.format(type="ray", tag="ray", vertical="").replace("</sensor>", plugin))
    scan = one(robot)
    assert (scan.topic, scan.frame, scan.rate) == (topic, "eye", 10.0)
    assert scan.noise.std == pytest.approx(0.0425)
    assert not any("plugin" in note for note in robot.notes)


def test_a_cloud_that_a_laser_should_send_is_noted(read):
    output = "<output_type>sensor_msgs/PointCloud2</output_type>"
    plugin = f'<plugin name="p" filename="libgazebo_ros_ray_sensor.so">{output}</plugin>'
    robot = read(LASER.format(type="ray", tag="ray", vertical="").replace("</sensor>", f"{plugin}</sensor>"))
    assert "sends sensor_msgs/LaserScan" in "".join(robot.notes)


def test_a_laser_of_several_planes_scans_one_and_one_without_rays_is_refused(read):
    vertical = "<vertical><samples>16</samples></vertical>"
    assert "scans one plane" in "".join(read(LASER.format(type="ray", tag="ray", vertical=vertical)).notes)
    with pytest.raises(ModelError, match="needs <ray> or <lidar>"):
        read('<gazebo reference="arm"><sensor name="scan" type="ray"/></gazebo>')


# ---------------------------------------------------------------------------- the rest
def test_other_sensors_and_tags_are_noted(read):
    robot = read(
        """<gazebo reference="arm"><sensor name="sonar" type="sonar"/><sensor name="i" type="imu"><sparkle/>
        <imu><orientation_reference_frame/></imu></sensor></gazebo>"""
    )
    text = "\n".join(robot.notes)
    assert "bench.urdf:12: sensor 'sonar' of type 'sonar' is not simulated and left out" in text
    assert "<sparkle> of sensor 'i' has no effect" in text
    assert "<orientation_reference_frame> of sensor 'i' has no effect" in text
    assert [device.name for device in robot.devices] == ["i"]


def test_names_that_are_taken_are_changed_with_a_note(read):
    robot = read(
        """<gazebo reference="arm"><sensor name="elbow" type="imu"/><sensor name="i" type="imu"/></gazebo>
        <gazebo reference="tool"><sensor name="i" type="imu"/></gazebo>"""
    )
    found = [(device.name, device.body) for device in robot.devices]
    assert found == [("elbow_2", "arm"), ("i", "arm"), ("i_2", "tool")]
    assert any("the sensor 'i' is called 'i_2'" in note for note in robot.notes)


def test_a_camera_without_a_rate_takes_one_with_a_note(read):
    robot = read('<gazebo reference="arm"><sensor name="c" type="camera"><always_on>1</always_on></sensor></gazebo>')
    eye = one(robot)
    assert (eye.rate, eye.width, eye.height) == (30.0, 320, 240)
    assert any("it takes 30 Hz" in note for note in robot.notes)


def sensor(text, kind="imu", reference="arm"):
    return f'<gazebo reference="{reference}">\n<sensor name="s" type="{kind}">{text}</sensor></gazebo>'


@pytest.mark.parametrize(
    ("extra", "line", "message"),
    [
        (sensor("<update_rate>fast</update_rate>"), 13, "sensor 's': <update_rate> is 'fast'; must be a number"),
        (sensor("<update_rate>-1</update_rate>"), 13, "<update_rate> is -1; must be a finite number >= 0"),
        (sensor("\n<pose>0 0 0</pose>"), 14, "<pose> is '0 0 0', 3 numbers; must be 6 numbers"),
        (sensor("\n<pose relative_to='x'>0 0 0 0 0 0</pose>"), 14, "relative_to='x'> is not read"),
        (sensor("\n<pose>0 0 nan 0 0 0</pose>"), 14, "<pose> is 'nan'; must be a number"),
        (
            sensor("<imu><angular_velocity><x>\n<noise type='pink'/></x></angular_velocity></imu>"),
            14,
            "the noise is of type 'pink'",
        ),
        (
            sensor(
                "<imu><linear_acceleration><x><noise type='gaussian'>\n<stddev>-1</stddev></noise></x>"
                "</linear_acceleration></imu>"
            ),
            14,
            "<stddev> is -1; must be a finite number >= 0",
        ),
        (sensor("", kind="force_torque"), 13, "a force/torque sensor stands on a joint, and 'arm' is none"),
        (
            sensor("<force_torque>\n<frame>moon</frame></force_torque>", "force_torque", "elbow"),
            14,
            "<frame> is 'moon'; must be one of child, parent, sensor",
        ),
        (
            sensor("<camera>\n<horizontal_fov>4</horizontal_fov></camera>", "camera"),
            14,
            "<horizontal_fov> is 4; must be",
        ),
        (sensor("<camera><image>\n<width>0</width></image></camera>", "camera"), 14, "<image/width> is 0; must be"),
        (sensor("<camera><image>\n<width>9.5</width></image></camera>", "camera"), 14, "must be a whole number"),
        (
            sensor("<camera><image><width>9000</width></image></camera>", "camera"),
            13,
            "width is 9000; must be a whole",
        ),
        (sensor("<camera><clip><near>2</near><far>1</far></clip></camera>", "camera"), 13, "far is 1"),
        (sensor("<always_on>perhaps</always_on>", "camera"), 13, "<always_on> is 'perhaps'; must be true or false"),
        ('<gazebo reference="arm"><sensor type="imu"/></gazebo>', 12, "a sensor has no name"),
        (
            '<gazebo reference="arm"><sensor name="s"/></gazebo>',
            12,
            "'s': the type is missing; must be one of imu",
        ),
        ('<gazebo><sensor name="s" type="imu"/></gazebo>', 12, "it stands on no link"),
        (sensor("", reference="amr"), 13, "it is on 'amr', which the robot does not have; did you mean 'arm'"),
        (
            '<gazebo><plugin name="f" filename="libgazebo_ros_ft_sensor.so"><topicName>t</topicName></plugin></gazebo>',
            12,
            "plugin 'f': <jointName> is missing; must be one of elbow, mount",
        ),
        (
            '<gazebo><plugin name="f" filename="libgazebo_ros_ft_sensor.so">'
            "\n<jointName>mont</jointName></plugin></gazebo>",
            13,
            "<jointName> is 'mont'; did you mean 'mount'",
        ),
        (
            '<gazebo><plugin name="i" filename="libgazebo_ros_imu.so">\n<bodyName>tol</bodyName></plugin></gazebo>',
            13,
            "which the robot does not have; did you mean 'tool'",
        ),
        (
            sensor(
                '<plugin name="p" filename="libgazebo_ros_imu_sensor.so">\n<gaussianNoise>much</gaussianNoise></plugin>'
            ),
            14,
            "plugin 'p' of sensor 's': <gaussianNoise> is 'much'; must be a number",
        ),
    ],
)
def test_a_wrong_value_is_refused_with_its_line(read, extra, line, message):
    with pytest.raises(ModelError, match=message.replace("(", r"\(")) as caught:
        read(extra)
    assert caught.value.line == line
    assert caught.value.file.endswith("bench.urdf")


def test_plugins_are_told_by_their_file_names():
    for name in (
        "libgazebo_ros_imu.so",
        "libgazebo_ros_imu_sensor.so",
        "/opt/lib/libgazebo_ros_camera.so",
        "gz-sim-imu-system",
        "libignition-gazebo-sensors-system.so",
        "libgazebo_ros_ft_sensor.so",
    ):
        assert is_sensor_plugin(name), name
    for name in ("libqbmove_plugin.so", "libgazebo_ros_control.so", "", "gazebo_ros_imus"):
        assert not is_sensor_plugin(name), name


SDF = """<?xml version="1.0"?>
<sdf version="1.7"><model name="bench">
  <link name="base">{inertial}</link>
  <link name="arm"><pose>0 0 0.5 0 0 0</pose>{inertial}
    <sensor name="imu" type="imu"><pose>0 0 0.1 0 0 0</pose><topic>imu</topic></sensor>
  </link>
  <joint name="weld" type="fixed"><parent>world</parent><child>base</child></joint>
  <joint name="elbow" type="revolute"><parent>base</parent><child>arm</child>
    <axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>1</upper></limit></axis>
    <sensor name="cell" type="force_torque"><force_torque><measure_direction>{direction}</measure_direction>
    </force_torque></sensor>
  </joint>
</model></sdf>
"""


INERTIAL = (
    "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz>"
    "<ixy>0</ixy><ixz>0</ixz><iyz>0</iyz></inertia></inertial>"
)


def test_an_sdf_keeps_its_sensors(tmp_path):
    path = tmp_path / "bench.sdf"
    path.write_text(SDF.format(direction="parent_to_child", inertial=INERTIAL))
    robot = load(path)
    imu, cell = robot.devices
    assert (imu.body, imu.pos, imu.topic) == ("arm", (0.0, 0.0, 0.1), "/imu")
    assert (cell.body, cell.measure_direction) == ("arm", "parent_to_child")
    robot.compile()
    path.write_text(SDF.format(direction="up", inertial=INERTIAL))
    with pytest.raises(ModelError, match="<measure_direction> is 'up'; must be one of child_to_parent") as caught:
        load(path)
    assert caught.value.line == 10


def test_a_description_from_memory_is_read_without_a_file():
    text = b"<robot name='r'><link name='a'/><gazebo reference='a'><sensor name='i' type='imu'/></gazebo></robot>"
    found = read_sensor_tags(parse_xml(text), (), None, [])
    assert [device.name for device in found] == ["i"]


TAGS = (
    "update_rate", "pose", "topic", "imu", "force_torque", "camera", "noise", "mean", "stddev", "type", "x", "plugin",
     "angular_velocity", "linear_acceleration", "horizontal_fov", "image", "width", "height", "clip", "near", "far",
     "frame", "measure_direction", "always_on", "ros", "remapping", "topicName", "cameraName", "bodyName", "jointName",
     "gaussianNoise", "xyzOffset", "rate", "accel", "depth_camera", "frameName", "robotNamespace",
)  # fmt: skip
TEXTS = st.one_of(
    st.sampled_from(["", "0", "1", "-1", "1e308", "inf", "0 0 0 0 0 0", "1 2 3", "gaussian", "child", "true", "arm",
                     "~/out:=x"]),
    st.text(st.characters(codec="ascii", exclude_characters="<&>", min_codepoint=32), max_size=12),
    st.floats(allow_nan=True).map(str),
)  # fmt: skip


ATTRIBUTES = {
    "plugin": [
        f' name="p" filename="libgazebo_ros_{kind}.so"'
        for kind in ("imu", "imu_sensor", "ft_sensor", "camera", "openni_kinect", "control")
    ],
    "noise": ["", ' type="gaussian"', ' type="gaussian_quantized"'],
}
HEADS = st.sampled_from([(tag, attributes) for tag in TAGS for attributes in ATTRIBUTES.get(tag, [""])])


def element(head, text, inside=()):
    """An element with a tag that sensors have, attributes that some of them have, and such elements inside."""
    tag, attributes = head
    return f"<{tag}{attributes}>{text}{''.join(inside)}</{tag}>"


TREES = st.recursive(
    st.builds(element, HEADS, TEXTS),
    lambda inner: st.builds(element, HEADS, TEXTS, st.lists(inner, max_size=4)),
    max_leaves=12,
)


@given(
    kind=st.sampled_from(["imu", "force_torque", "camera", "depth", "rgbd", "ray"]),
    reference=st.sampled_from(["arm", "elbow", "tool", "nowhere", ""]),
    inside=st.lists(TREES, max_size=4),
)
@settings(max_examples=300, deadline=None)
def test_any_tags_give_sensors_or_an_error_with_a_line(kind, reference, inside):
    body = "".join(inside)
    text = URDF.format(
        extra=f'<gazebo reference="{reference}"><sensor name="s" type="{kind}">{body}</sensor>{body}</gazebo>'
    )
    lines, devices = [], []
    try:
        devices = read_sensor_tags(parse_xml(text.encode(), "f.urdf"), (), Path("f.urdf"), [])
    except ModelError as error:
        lines.append(error.line)
    assert None not in lines
    for device in devices:
        assert device.topic == "" or device.topic.startswith("/"), device
        assert device.body in ("arm", "tool", "world"), device

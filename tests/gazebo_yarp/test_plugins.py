"""Plugin tags of YARP: each is read, or reported with a reason, and refused where its configuration is wrong."""

import math
from pathlib import Path

import mujoco
import pytest

import pliant
from pliant.base.errors import ModelError
from pliant.control_boards.description import ControlBoard
from pliant.gazebo_yarp.plugin_reader import is_yarp_plugin
from pliant.gazebo_yarp.plugins import READERS, UNSERVED
from pliant.model.sensors import Camera, Laser
from pliant.objects import World
from pliant.yarp.model.services import (
    AnalogServer,
    AxisReference,
    BaseState,
    CameraImages,
    ClockPort,
    ContactLoadCells,
    ControlBoardServer,
    ExternalWrench,
    ForceTorqueSensor,
    ImageServer,
    InertialSensor,
    JointAngles,
    LaserScan,
    LinkAttacher,
    ModelPose,
    SensorReference,
    SkinInertials,
    VectorServer,
    VideoTexture,
    WorldInterface,
)

HOPPER = Path(__file__).parents[1] / "data" / "yarp" / "robots" / "hopper.urdf"
BODY = """
  <link name="base">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="j" type="revolute">
    <parent link="base"/><child link="arm"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="9" velocity="9"/>
  </joint>
  <link name="arm">
    <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
"""


def load(folder, tags, **files):
    """Return a robot of one joint with these tags and configuration files."""
    for name, text in files.items():
        suffix = "xml" if text.lstrip().startswith("<") else "ini"
        (folder / f"{name}.{suffix}").write_text(text)
    path = folder / "robot.urdf"
    path.write_text(f'<robot name="r">{BODY}{tags}</robot>')
    return pliant.load(path)


def plugin(name, inside="", *, file="a.ini", title="p"):
    config = f"<yarpConfigurationFile>{file}</yarpConfigurationFile>" if file else ""
    return f'<gazebo><plugin name="{title}" filename="libgazebo_yarp_{name}.so">{config}{inside}</plugin></gazebo>'


def sensor(name, kind, inside, extra=""):
    return f'<gazebo reference="arm"><sensor name="{name}" type="{kind}">{extra}{inside}</sensor></gazebo>'


def inner(name, file="a.ini"):
    config = f"<yarpConfigurationFile>{file}</yarpConfigurationFile>"
    return f'<plugin name="p" filename="libgazebo_yarp_{name}.so">{config}</plugin>'


LASER = sensor(
    "scan", "ray", inner("lasersensor"), "<ray><scan><horizontal><samples>4</samples></horizontal></scan></ray>"
)
GENERAL = (
    "[GENERAL]\nclip_min_range 0.2\nclip_max_range 5\ndiscard_min_range 0.3\ndiscard_max_range 4\n"
    "enable_clip_range 1\nenable_discard_range 0\n"
)


def only(robot, kind):
    found = [
        d
        for d in (*robot.interface.extensions["yarp"].devices, *robot.interface.extensions["yarp"].servers)
        if isinstance(d, kind)
    ]
    assert len(found) == 1
    return found[0]


# -- a robot with the tags of gz-sim ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hopper():
    return pliant.load(HOPPER)


def test_a_board_is_named_as_the_part_that_shows_it(hopper):
    boards = [d for d in hopper.devices if isinstance(d, ControlBoard)]
    assert [b.name for b in boards] == ["leg"]
    server = only(hopper, ControlBoardServer)
    assert (server.port, server.period) == ("/hopperSim/leg", 0.005)
    assert server.axes == (AxisReference("leg", 0), AxisReference("leg", 1))


def test_sensors_keep_their_names_behind_a_remapper(hopper):
    servers = {s.port: s for s in hopper.interface.extensions["yarp"].servers}
    assert servers["/hopperSim/leg/FT"].groups == {
        "six_axis_force_torques": (SensorReference("foot_ft_device", "foot_ft"),)
    }
    assert list(servers["/hopperSim/waist/inertials"].groups) == [
        "gyroscopes", "linear_accelerometers", "magnetometers", "orientations",
    ]  # fmt: skip
    assert servers["/hopperSim/waist/inertials"].period == 0.005
    state = servers["/hopperSim/floating_base/state:o"]
    assert (type(state), state.device) == (VectorServer, "root_link_state")


def test_hardware_names_the_described_sensors(hopper):
    yarp = hopper.interface.extensions["yarp"]
    assert yarp.robot == "hopperSim"
    assert yarp.device("foot_ft_device").sensor == "foot_ft"
    assert yarp.device("waist_device").sensor == "waist_imu"
    assert yarp.device("root_link_state").link == "root_link"
    assert yarp.device("clock").port == "/clock"
    assert yarp.problems == ()


def test_sensors_that_nothing_shows_are_described_and_not_enabled(hopper):
    enabled = {d.name: d.enabled for d in hopper.devices if not isinstance(d, ControlBoard)}
    assert enabled == {"foot_ft": True, "waist_imu": True, "spare_imu": False}
    assert any("(spare_imu) are not enabled" in note for note in hopper.notes)


def test_the_initial_configuration_is_where_the_robot_starts(hopper):
    model = hopper.compile()
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("rest").id)
    assert list(data.qpos) == pytest.approx([0.3, 0.05])


def test_every_joint_of_a_board_has_a_motor(hopper):
    model = hopper.compile()
    assert [model.actuator(i).name for i in range(model.nu)] == ["hip", "slide"]


def test_notes_and_checks_are_quiet_about_what_is_served(hopper):
    text = " ".join(hopper.notes)
    assert "not understood" not in text
    assert "preserveFixedJoint" not in text
    assert not [p for p in hopper.check() if p.severity == "error"]


# -- the plugins one by one ----------------------------------------------------------------------------------


def test_both_families_are_recognised_and_others_are_not():
    for name in (
        "libgazebo_yarp_imu.so",
        "gz-sim-yarp-imu-system",
        "libgz-sim-yarp-imu-system.so",
        "x/libgazebo_yarp_imu.so",
    ):
        assert is_yarp_plugin(name)
    for name in ("libgazebo_ros_imu.so", "gz-sim-imu-system", "", "libyarp.so"):
        assert not is_yarp_plugin(name)


def test_a_board_of_the_old_form_has_networks_and_a_wrapper(tmp_path):
    robot = load(
        tmp_path,
        plugin("controlboard", "<initialConfiguration>0.5</initialConfiguration>"),
        a="[WRAPPER]\ndevice controlboardwrapper2\nperiod 10\nname /r/arm\njoints 1\nnetworks (net)\nnet 0 0 0 0\n"
        "[net]\ndevice gazebo_controlboard\nname arm\njointNames j\n",
    )
    server = only(robot, ControlBoardServer)
    assert (server.port, server.period, server.axes) == ("/r/arm", 0.01, (AxisReference("arm", 0),))
    assert robot.devices[0].initial_positions == (0.5,)


def test_a_wrapper_without_networks_shows_its_board(tmp_path):
    text = "yarpDeviceName dev\njointNames j\n[WRAPPER]\ndevice controlBoard_nws_yarp\nname /r/dev\nperiod 0.05\n"
    server = only(load(tmp_path, plugin("controlboard"), a=text), ControlBoardServer)
    assert (server.period, server.axes) == (0.05, (AxisReference("dev", 0),))


def test_a_board_without_networks_and_wrapper_is_a_device_alone(tmp_path):
    robot = load(
        tmp_path, plugin("controlboard"), a="yarpDeviceName dev\ndisableImplicitNetworkWrapper\njointNames j\n"
    )
    assert [d.name for d in robot.devices] == ["dev"]
    assert robot.interface.extensions["yarp"].servers == ()


def test_a_fake_board_completes_a_part(tmp_path):
    text = "[WRAPPER]\ndevice controlboardwrapper2\nname /r/hand\njoints 2\nnetworks (fake)\nfake 0 1 0 1\n"
    robot = load(tmp_path, plugin("fakecontrolboard"), a=text)
    assert robot.devices[0].fake
    assert [a.index for a in only(robot, ControlBoardServer).axes] == [0, 1]


def test_a_force_torque_sensor_of_the_old_form_is_that_of_its_element(tmp_path):
    tags = '<gazebo reference="j"><sensor name="ft" type="force_torque">' + inner("forcetorque") + "</sensor></gazebo>"
    text = "device analogServer\nname /r/arm/analog:o\nperiod 20\n"
    robot = load(tmp_path, tags, a=text)
    device = only(robot, ForceTorqueSensor)
    assert (device.name, device.sensor, device.sensor_name, device.temperature) == ("ft", "ft", "ft", 25.0)
    server = only(robot, VectorServer)
    assert (server.port, server.period, server.device) == ("/r/arm/analog:o", 0.02, "ft")


def test_an_imu_can_be_relative_and_have_a_second_server(tmp_path):
    text = (
        "yarpDeviceName imu_dev\nuseInitialSensorOrientationAsReference\n[WRAPPER]\ndevice inertial\nname /r/inertial\n"
        "[ADDITIONAL_WRAPPER]\ndevice multipleanalogsensorsserver\nname /r/imu\nperiod 5\n"
    )
    robot = load(tmp_path, sensor("imu", "imu", inner("imu")), a=text)
    assert only(robot, InertialSensor).relative_orientation
    assert only(robot, VectorServer).device == "imu_dev"
    assert only(robot, AnalogServer).period == 0.005


SKIN = (
    "[WRAPPER]\ndevice analogServer\nname /r/mtb\nperiod 10\n"
    "[PART_DRIVER]\nrobotPart {part}\nenabledSensors ({names})\n"
)


def test_skin_inertials_list_their_sensors(tmp_path):
    first, second = "l_arm_mtb_acc_1b7", "l_arm_mtb_gyro_1b13"
    tags = sensor(first, "imu", "") + sensor(second, "imu", "") + plugin("inertialmtb")
    names = (f"r::arm::{first}", f"r::arm::{second}")
    device = only(load(tmp_path, tags, a=SKIN.format(part="left_arm", names=" ".join(names))), SkinInertials)
    assert (device.part, device.sensors, device.sensor_names) == ("left_arm", (first, second), names)


@pytest.mark.parametrize(
    ("part", "name", "message"),
    [("left_arm", "l_arm_mtb_acc_9b7", "no sensor of the skin"), ("tail", "l_arm_mtb_acc_1b7", "no skin boards")],
)
def test_skin_sensors_of_other_boards_are_left_out_with_a_reason(part, name, message, tmp_path):
    tags = sensor(name, "imu", "") + plugin("inertialmtb")
    robot = load(tmp_path, tags, a=SKIN.format(part=part, names=name))
    assert robot.interface.extensions["yarp"].devices == ()
    assert message in robot.interface.extensions["yarp"].problems[0].message


def test_a_camera_can_be_flipped(tmp_path):
    text = "device grabber\nname /r/cam\nfreq 20\nvertical_flip\nhorizontal_flip 0\ndisplay_timestamp\n"
    robot = load(tmp_path, sensor("cam", "camera", inner("camera"), "<update_rate>20</update_rate>"), a=text)
    device = only(robot, CameraImages)
    assert (device.sensors, device.flip_vertical, device.flip_horizontal, device.depth) == (
        ("cam",),
        True,
        False,
        False,
    )
    assert only(robot, ImageServer).period == 0.05
    assert "not drawn into the images" in robot.interface.extensions["yarp"].problems[0].message


def test_a_depth_camera_quantises_depth(tmp_path):
    text = "device RGBDSensorWrapper\nname /r/depth\nperiod 40\n[QUANT_PARAM]\ndepth_quant 2\n"
    robot = load(tmp_path, sensor("d", "rgbd", inner("depthCamera"), "<update_rate>20</update_rate>"), a=text)
    device = only(robot, CameraImages)
    assert (device.depth, device.depth_quantum) == (True, 2)
    assert only(robot, ImageServer).period == 0.04


@pytest.mark.parametrize("kind", ["rgbd", "depth"])
def test_a_depth_camera_gives_colours_too_as_its_clients_need_both_images(tmp_path, kind):
    text = "device RGBDSensorWrapper\nname /r/depth\n"
    robot = load(tmp_path, sensor("d", kind, inner("depthCamera")), a=text)
    (camera,) = [d for d in robot.devices if isinstance(d, Camera)]
    assert (camera.color, camera.depth) == (True, True)


def test_a_sensor_of_depth_that_no_plugin_reads_stays_without_colours(tmp_path):
    robot = load(tmp_path, sensor("d", "depth", "") + plugin("clock", file=""))
    (camera,) = [d for d in robot.devices if isinstance(d, Camera)]
    assert (camera.color, camera.depth) == (False, True)


def test_a_depth_camera_needs_depth(tmp_path):
    robot = load(tmp_path, sensor("d", "camera", inner("depthCamera"), "<update_rate>20</update_rate>"), a="x 1\n")
    assert "gives no depth" in robot.interface.extensions["yarp"].problems[0].message


EYES = "".join(
    f'<camera name="{eye}"><image><width>64</width><height>{height}</height></image></camera>'
    for eye, height in (("left", 48), ("right", 48))
)


def test_several_cameras_of_one_sensor_are_shown_side_by_side(tmp_path):
    config = "vertical 0\nhorizontal_flip\n[WRAPPER]\ndevice grabberDual\nname /r/stereo\n"
    inside = "<always_on>1</always_on><update_rate>20</update_rate>" + EYES + inner("multicamera")
    robot = load(tmp_path, sensor("eyes", "multicamera", inside), a=config)
    images = only(robot, CameraImages)
    assert (images.sensors, images.vertical, images.flip_horizontal) == (("eyes_left", "eyes_right"), False, True)
    assert only(robot, ImageServer).port == "/r/stereo"
    cameras = {d.name: d for d in robot.devices if isinstance(d, Camera)}
    assert {name: (c.width, c.height, c.enabled) for name, c in cameras.items()} == {
        "eyes_left": (64, 48, True),
        "eyes_right": (64, 48, True),
    }


@pytest.mark.parametrize(
    ("cameras", "message"),
    [
        (EYES[: len(EYES) // 2], "has 1 cameras"),
        (EYES.replace("48", "24", 1), "different heights"),
    ],
)
def test_cameras_that_cannot_be_joined_are_left_out_with_a_reason(cameras, message, tmp_path):
    inside = "<always_on>1</always_on><update_rate>20</update_rate>" + cameras + inner("multicamera")
    robot = load(tmp_path, sensor("eyes", "multicamera", inside), a="vertical 0\n")
    assert robot.interface.extensions["yarp"].devices == ()
    assert message in robot.interface.extensions["yarp"].problems[0].message


def test_a_laser_has_limits_sectors_and_a_port(tmp_path):
    wrapper = "[WRAPPER]\ndevice Rangefinder2DWrapper\nname /r/laser:o\nperiod 50\n"
    robot = load(tmp_path, LASER, a=GENERAL + "[SKIP]\nmin 10 180\nmax 20 360\n" + wrapper)
    scan = only(robot, LaserScan)
    assert (scan.sensor, scan.range_clip, scan.range_discard) == ("scan", (0.2, 5.0), None)
    assert scan.skipped == ((math.radians(10), math.radians(20)), (math.pi, 2 * math.pi))
    server = only(robot, VectorServer)
    assert (server.port, server.period, server.device) == ("/r/laser:o", 0.05, "scan")
    assert [d.enabled for d in robot.devices if isinstance(d, Laser)] == [True]
    other = GENERAL.replace("enable_clip_range 1", "enable_clip_range 0").replace("discard_range 0", "discard_range 1")
    assert only(load(tmp_path, LASER, a=other), LaserScan).range_discard == (0.3, 4.0)


@pytest.mark.parametrize(
    ("name", "config", "kind", "values"),
    [
        ("worldinterface", "name /world\nsynchro 0\n", WorldInterface, {"port": "/world", "synchronous": False}),
        (
            "linkattacher",
            "name /attach\njointType revolute\n[STARTUP]\nattachUnscoped a b c d\n",
            LinkAttacher,
            {"port": "/attach", "joint_type": "revolute", "startup": (("attachUnscoped", "a", "b", "c", "d"),)},
        ),
        ("externalwrench", "robot sim\n", ExternalWrench, {"port": "/sim/applyExternalWrench/rpc:i"}),
        ("basestate", "[DRIVER]\nbaseLink r::base\nrobot r\n", BaseState, {"link": "base", "name": "base_state"}),
        (
            "contactloadcellarray",
            "[DRIVER]\nlinkName arm\nloadCellNames a b\nloadCellX 1 2\nloadCellY 3 4\nloadCellZ 5 6\n",
            ContactLoadCells,
            {"cells": ("a", "b"), "positions": ((1.0, 3.0, 5.0), (2.0, 4.0, 6.0))},
        ),
        ("maissensor", "sensorName m\n[net]\njointNames j\n", JointAngles, {"joints": ("j",), "name": "m"}),
    ],
)
def test_a_plugin_of_the_model_is_read(name, config, kind, values, tmp_path):
    device = only(load(tmp_path, plugin(name), a=config), kind)
    assert {key: getattr(device, key) for key in values} == values
    assert device.file == str(tmp_path / "a.ini")


def test_plugins_without_a_file_are_read_from_their_tags(tmp_path):
    robot = load(
        tmp_path,
        plugin("clock", "<port>/time</port>", file="") + plugin("modelposepublisher", "<period>0.02</period>", file=""),
    )
    assert only(robot, ClockPort).port == "/time"
    pose = only(robot, ModelPose)
    assert (pose.period, pose.link, pose.model) == (pytest.approx(0.02), "base", "r")


def test_the_pose_of_a_model_that_floats_in_the_world_is_that_of_its_first_link(tmp_path):
    floats = '<link name="world"/><joint name="w" type="floating"><parent link="world"/><child link="base"/></joint>'
    robot = load(tmp_path, floats + plugin("modelposepublisher", file=""))
    assert only(robot, ModelPose).link == "base"


def test_every_plugin_is_read_or_reported_with_a_reason(tmp_path):
    names = (
        "controlboard fakecontrolboard forcetorque imu inertialmtb inertialmtbPart distributedinertials "
        "camera multicamera depthCamera lasersensor clock worldinterface linkattacher externalwrench robotinterface "
        "basestate configurationoverride contactloadcellarray maissensor modelposepublisher showmodelcom "
        "videotexture jointsensors"
    )
    for name in names.split():
        known = (name.lower() in READERS, name.lower() in UNSERVED, name == "configurationoverride")
        assert known.count(True) == 1
    robot = load(tmp_path, "".join(plugin(name) for name in ("showmodelcom", "multicamera", "jointsensors", "imuu")))
    assert [p.severity for p in robot.interface.extensions["yarp"].problems] == [
        "info",
        "warning",
        "warning",
        "warning",
    ]
    assert "there is no YARP plugin 'imuu'" in robot.interface.extensions["yarp"].problems[-1].message
    assert all("robot.urdf:" in p.message for p in robot.interface.extensions["yarp"].problems)


def test_a_tag_can_be_overridden_by_another_plugin(tmp_path):
    override = '<yarpPluginConfigurationOverride plugin_name="board"/><initialConfiguration>0.7</initialConfiguration>'
    tags = plugin("controlboard", "<initialConfiguration>0.1</initialConfiguration>", title="board")
    robot = load(tmp_path, tags + plugin("configurationoverride", override, file=""), a="jointNames j\n")
    assert robot.devices[0].initial_positions == (0.7,)


def test_an_sdf_has_the_same_tags(tmp_path):
    (tmp_path / "a.ini").write_text("yarpDeviceName dev\njointNames j\n")
    path = tmp_path / "robot.sdf"
    inertial = "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"
    path.write_text(
        f"""<sdf version="1.7"><model name="r"><link name="base">{inertial}</link>
        <link name="arm">{inertial}</link>
        <joint name="w" type="fixed"><parent>world</parent><child>base</child></joint>
        <joint name="j" type="revolute"><parent>base</parent><child>arm</child>
        <axis><xyz>0 1 0</xyz><limit><lower>-1</lower><upper>1</upper></limit></axis></joint>
        <plugin name="p" filename="gz-sim-yarp-controlboard-system">
        <yarpConfigurationFile>a.ini</yarpConfigurationFile></plugin></model></sdf>"""
    )
    assert [d.joints for d in pliant.load(path).devices] == [("j",)]


# -- what is missing is reported, what is wrong is refused ----------------------------------------------------


def test_a_missing_configuration_is_reported_and_the_robot_loads(tmp_path):
    robot = load(tmp_path, plugin("controlboard"))
    problem = robot.interface.extensions["yarp"].problems[0]
    assert problem.severity == "warning"
    assert "its file 'a.ini' is not found; searched:" in problem.message
    assert problem in robot.check()


def test_a_missing_include_is_reported_with_its_chain(tmp_path):
    robot = load(tmp_path, plugin("controlboard"), a='[include "b.ini"]\n', b='[include "c.ini"]\n')
    message = robot.interface.extensions["yarp"].problems[0].message
    assert f"{tmp_path / 'b.ini'}:1: the included file" in message
    assert f"included from {tmp_path / 'a.ini'}:1" in message


def test_a_missing_include_of_a_robot_interface_is_reported(tmp_path):
    tag = "<yarpRobotInterfaceConfigurationFile>b.xml</yarpRobotInterfaceConfigurationFile>"
    inside = '<robot name="r" xmlns:xi="x"><xi:include href="no.xml"/></robot>'
    robot = load(tmp_path, plugin("robotinterface", tag, file=""), b=inside)
    assert "b.xml:1: the included file" in robot.interface.extensions["yarp"].problems[0].message


def test_a_sensor_that_the_robot_lacks_is_reported(tmp_path):
    robot = load(tmp_path, sensor("imu", "imu", "") + plugin("imu"), a="sensorName imo\n")
    assert "the robot has no Imu sensor 'imo'" in robot.interface.extensions["yarp"].problems[0].message
    assert "did you mean 'imu'" in robot.interface.extensions["yarp"].problems[0].hint


@pytest.mark.parametrize(
    ("tags", "config", "message"),
    [
        (plugin("controlboard", file=""), "", "robot.urdf:.*it has no configuration"),
        (plugin("controlboard", file="http://a.ini"), "", "robot.urdf:.*address of kind http"),
        (plugin("controlboard"), "disableImplicitNetworkWrapper\njointNames j\n", "'yarpDeviceName' is missing"),
        (plugin("controlboard") * 2, "yarpDeviceName d\njointNames j\n", "another YARP device called 'd'"),
        (plugin("controlboard", "<initialConfiguration>x</initialConfiguration>"), "jointNames j\n", "finite numbers"),
        (plugin("controlboard", "<initialConfiguration>1 2</initialConfiguration>"), "jointNames j\n", "has 2 values"),
        (plugin("controlboard"), "jointNames q\n", r"a.ini:1: .*'q', which is no joint"),
        (plugin("worldinterface"), "name world\n", r"a.ini:1: .*name is 'world'; must be a port"),
        (plugin("worldinterface"), "x 1\n", r"the key 'name' is missing"),
        (plugin("linkattacher"), "name /a\njointType rigid\n", "jointType is 'rigid'"),
        (plugin("basestate"), "[DRIVER]\nbaseLink bse\n", r"a.ini:2: .*'bse', which is no link of the robot; did you"),
        (
            plugin("contactloadcellarray"),
            "[DRIVER]\nlinkName arm\nloadCellNames a b\nloadCellX 1\nloadCellY 1 1\nloadCellZ 1 1\n",
            "loadCellX has 1 values; must be 2, one for each of the load cells",
        ),
        (plugin("maissensor"), "x 1\n", "the key 'jointNames' is missing"),
        (LASER, "min_distance 2\nmax_distance 1\n", "must be 0 <= min < max"),
        (LASER, "[GENERAL]\nenable_clip_range 1\nclip_min_range 0\n", "clip_max_range"),
        (LASER, GENERAL.replace("discard_range 0", "discard_range 1"), "both on"),
        (LASER, "[SKIP]\nmin 1 2\nmax 3\n", "as many angles"),
        (plugin("inertialmtb"), "x 1\n", r"the group \[PART_DRIVER\] is missing"),
        (plugin("videotexture"), "widthRes 0\n", "widthRes is 0; must be a finite number >= 1"),
        (plugin("imu"), "x 1\n", "it is in no <sensor> and has no 'sensorName'"),
        (plugin("clock", "<port>time</port>", file=""), "", "the port is 'time'; must begin with '/'"),
        (plugin("robotinterface", file=""), "", "<yarpRobotInterfaceConfigurationFile> is missing"),
        (
            plugin("configurationoverride", "<yarpPluginConfigurationOverride/>", file=""),
            "",
            "must have one of plugin_name or yarpDeviceName",
        ),
    ],
)
def test_a_wrong_tag_or_configuration_is_refused_with_its_place(tags, config, message, tmp_path):
    with pytest.raises(ModelError, match=message):
        load(tmp_path, tags, **({"a": config} if config else {}))


@pytest.mark.parametrize("text", ["a", "(a", "(a b) c", "((a b))"])
def test_a_configuration_string_holds_pairs_only(text, tmp_path):
    inside = f"<yarpConfigurationString>{text}</yarpConfigurationString>"
    with pytest.raises(ModelError, match=r"robot.urdf:.*yarpConfigurationString"):
        load(tmp_path, plugin("controlboard", inside, file=""))


def test_a_video_texture_outside_a_visual_is_reported_with_a_reason(tmp_path):
    robot = load(tmp_path, plugin("videotexture"), a="name /texture\n")
    problem = robot.interface.extensions["yarp"].problems[0]
    assert problem.severity == "warning"
    assert "it stands in no <visual>" in problem.message


SCREEN = """<link name="screen"><visual name="{name}"><origin xyz="0 0 1"/><geometry><box size="1 0.02 0.5"/></geometry>
</visual><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="s" type="fixed"><parent link="base"/><child link="screen"/></joint>
<gazebo reference="screen"><visual>{plugin}</visual></gazebo>"""


def test_a_video_texture_gives_its_visual_a_texture(tmp_path):
    inside = SCREEN.format(name="front", plugin=inner("videotexture"))
    robot = load(tmp_path, inside, a="widthRes 64\nheightRes 32\ndefaultSourcePortName /cam\n")
    device = only(robot, VideoTexture)
    assert (device.width, device.height, device.source, device.link) == (64, 32, "/cam", "screen")
    assert device.port == "/r::screen::screen_visual"
    model = robot.compile()
    texture = model.texture(device.texture)
    assert (int(texture.width[0]), int(texture.height[0])) == (64, 32)
    assert not any("have no effect" in note for note in robot.notes)
    shown = [i for i in range(model.ngeom) if model.geom_matid[i] >= 0]
    assert len(shown) == 1
    # The box is what it was; its own third axis is the thin one now.
    assert model.geom_size[shown[0]] == pytest.approx([0.5, 0.25, 0.01])
    assert model.geom_pos[shown[0]] == pytest.approx([0.0, 0.0, 1.0])


def test_a_video_texture_of_an_sdf_is_that_of_its_visual_alone(tmp_path):
    (tmp_path / "a.ini").write_text("widthRes 64\nheightRes 32\n")
    box = "<geometry><box><size>1 0.02 0.5</size></box></geometry>"
    path = tmp_path / "robot.sdf"
    path.write_text(
        f"""<sdf version="1.7"><model name="room"><link name="base">
        <inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>
        <visual name="frame">{box}</visual><visual name="film">{box}{inner("videotexture")}</visual></link>
        <joint name="w" type="fixed"><parent>world</parent><child>base</child></joint></model></sdf>"""
    )
    robot = pliant.load(path)
    device = only(robot, VideoTexture)
    assert (device.port, device.link, device.visual) == ("/room::base::film", "base", "film")
    assert [g.name for g in robot.spec.geoms if g.material == device.texture] == ["film"]


def test_a_video_texture_of_a_link_without_visuals_is_left_out_with_a_note(tmp_path):
    inside = f'<gazebo reference="none"><visual>{inner("videotexture")}</visual></gazebo>'
    robot = load(tmp_path, inside, a="name x\n")
    assert not any(isinstance(d, VideoTexture) for d in robot.interface.extensions["yarp"].devices)
    assert any("link 'none' has no visual" in note for note in robot.notes)


def test_a_world_interface_gives_the_model_spare_objects_and_an_attacher_ties(tmp_path):
    attacher = "name /attach\n[STARTUP]\nattachUnscoped ground_plane link robot arm\nother 1 2\n"
    plugins = plugin("worldinterface") + plugin("linkattacher", file="b.ini", title="q")
    robot = load(tmp_path, plugins, a="name /world\n", b=attacher)
    assert [d for d in robot.devices if isinstance(d, World)] == [World(startup=(("world", "arm"),))]
    assert [p.message for p in robot.interface.extensions["yarp"].problems] == [
        "[STARTUP] has 'other 1 2', which is left out"
    ]
    alone = load(tmp_path, plugin("linkattacher"), a="name /attach\njointType revolute\n")
    assert [d for d in alone.devices if isinstance(d, World)] == [World(objects=0)]
    assert [p.message for p in alone.interface.extensions["yarp"].problems] == ["revolute ties are fixed ones here"]


def test_a_part_of_two_boards_is_served_by_one_server(tmp_path):
    text = (
        "yarpDeviceName dev\njointNames j\n[WRAPPER]\ndevice controlboardwrapper2\nname /r/p\njoints 3\n"
        "networks (a b)\na 0 0 0 0\nb 1 2 0 1\n[a]\nname arm\njointNames j\n"
    )
    fake = "yarpDeviceName b\njointNames x y\n"
    robot = load(tmp_path, plugin("controlboard") + plugin("fakecontrolboard", file="f.ini"), a=text, f=fake)
    assert [a.board for a in only(robot, ControlBoardServer).axes] == ["arm", "b", "b"]
    assert robot.interface.extensions["yarp"].problems == ()


def gz(kind, inside):
    return f'<plugin name="gzyarp::{kind}" filename="gz-sim-yarp-{kind.lower()}-system">{inside}</plugin>'


def pendulum(device="board"):
    board = f"<yarpConfigurationString>(yarpDeviceName {device}) (jointNames (hinge))</yarpConfigurationString>"
    joint = '<joint name="hinge" type="revolute"><parent>a</parent><child>b</child><axis/></joint>'
    start = "<initialConfiguration>0.1</initialConfiguration>"
    return f'<link name="a"/><link name="b"/>{joint}{gz("ControlBoard", board + start)}'


def load_world(tmp_path, body, **files):
    for name, text in {"world.sdf": f'<sdf version="1.7"><world name="w">{body}</world></sdf>', **files}.items():
        (tmp_path / name).write_text(text)
    return pliant.load(tmp_path / "world.sdf")


def override(value, target='yarpDeviceName="board"'):
    tags = f"<yarpPluginConfigurationOverride {target}/><initialConfiguration>{value}</initialConfiguration>"
    return gz("ConfigurationOverride", tags)


def test_an_override_of_a_device_reaches_nested_models_and_the_outermost_wins(tmp_path):
    inner = f'<model name="inner">{override(0.2)}<model name="core">{pendulum()}</model></model>'
    robot = load_world(tmp_path, f'<model name="outer">{override(0.3)}{inner}</model>')
    assert robot.devices[0].initial_positions == (0.3,)
    other = override(0.3, 'yarpDeviceName="q"')
    robot = load_world(tmp_path, f'<model name="outer">{other}{inner}</model>')
    assert robot.devices[0].initial_positions == (0.2,)


def test_boards_of_two_models_move_the_joints_of_their_own_model(tmp_path):
    models = f'<model name="one">{pendulum("first")}</model><model name="two">{pendulum("second")}</model>'
    boards = load_world(tmp_path, models).devices
    assert [board.joints for board in boards] == [("hinge",), ("two::hinge",)]


def test_a_world_has_its_clock_and_a_world_interface_without_configuration_takes_the_port_of_its_server(tmp_path):
    server = """<robot name="r" portprefix="/r"><devices><device name="s" type="simulatedWorld_nws_yarp">
      <param name="name">${portprefix}/${portprefixnoslash}world</param>
      <action phase="startup" level="5" type="attach"><param name="device">worldInterfaceName</param></action>
      </device></devices></robot>"""
    interface = "<yarpRobotInterfaceConfigurationFile>s.xml</yarpRobotInterfaceConfigurationFile>"
    prefix = (
        "<yarpRobotInterfaceOverridePortPrefixWithModelName>true</yarpRobotInterfaceOverridePortPrefixWithModelName>"
    )
    plugins = gz("WorldInterface", "") + gz("RobotInterface", interface + prefix)
    body = f'{gz("Clock", "")}<model name="room"><link name="a"/>{plugins}</model>'
    devices = load_world(tmp_path, body, **{"s.xml": server}).interface.extensions["yarp"].devices
    assert sorted(device.port for device in devices) == ["/clock", "/room/roomworld/rpc:i"]

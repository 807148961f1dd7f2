"""The cases that gz-sim-yarp-plugins tests, one of ours for each, over ports of one world of ours in lock-step.

The numbers expected are those of its tests; the world is described here. docs/yarp/from-gazebo-yarp.md has the table.
"""

import math
import socket
import struct
from types import SimpleNamespace

import numpy as np
import pytest
from yarp_readers import DIALECTS, StockReader
from yarp_replies import decode_measurements
from yarp_simulation import served

import pliant
from pliant.simulation import sync
from pliant.yarp.bridge.calls import Stream
from pliant.yarp.bridge.world import SIMULATED_CALLS
from pliant.yarp.client import YarpNetwork
from pliant.yarp.wire import (
    ACKNOWLEDGEMENT,
    Bottle,
    Command,
    Hello,
    Message,
    Vocab,
    bottle,
    encode_bottle,
    parse_bottle,
)
from pliant.yarp.wire.images import Image
from pliant.yarp.wire.joints import StreamCommand

pytestmark = pytest.mark.network


def plugin(kind, inside):
    return f'<plugin name="gzyarp::{kind}" filename="gz-sim-yarp-{kind.lower()}-system">{inside}</plugin>'


def configured(kind, text, more=""):
    return plugin(kind, f"<yarpConfigurationString>{text}</yarpConfigurationString>{more}")


def body(mass, inertia, com="0 0 0"):
    diagonal = "".join(f"<{axis}>{value}</{axis}>" for axis, value in zip(("ixx", "iyy", "izz"), inertia))
    return f"<inertial><pose>{com} 0 0 0</pose><mass>{mass}</mass><inertia>{diagonal}</inertia></inertial>"


def shape(text, tags=("collision", "visual"), color=""):
    paint = f"<material><diffuse>{color}</diffuse><ambient>{color}</ambient></material>" if color else ""
    return "".join(
        f'<{tag} name="{tag}"><geometry>{text}</geometry>{paint if tag == "visual" else ""}</{tag}>' for tag in tags
    )


def hinge(name, parent, child, pose="0 0 0 0 0 0"):
    limit = "<limit><lower>-5</lower><upper>5</upper><effort>1e4</effort><velocity>100</velocity></limit>"
    return (
        f'<joint name="{name}" type="revolute"><pose relative_to="{parent}">{pose}</pose><parent>{parent}</parent>'
        f"<child>{child}</child><axis><xyz>1 0 0</xyz>{limit}</axis></joint>"
    )


def fixed(parent, child):
    return f'<joint name="fix_{child}" type="fixed"><parent>{parent}</parent><child>{child}</child></joint>'


ROWS = ("maxInt", "maxOutput"), ("shift", "ko", "stictionUp", "stictionDwn")


def gains(kp, kd):
    """Return the tables of a board's configuration for these gains."""

    def table(name, kp, kd, extra=""):
        rows = {"kp": kp, "kd": kd, "ki": [0.1] * len(kp)}
        rows |= {key: [9999.0] * len(kp) for key in ROWS[0]} | {key: [0.0] * len(kp) for key in ROWS[1]}
        lists = "".join(f"({key} {' '.join(map(str, row))})" for key, row in rows.items())
        return f"({name} (controlUnits metric_units) (controlLaw joint_pid_gazebo_v1) {extra} {lists})"

    kind = "(velocityControlImplementationType integrator_and_position_pid)"
    speeds = " ".join(["100"] * len(kp))  # a case is short
    fast = f"(TRAJECTORY_GENERATION (trajectory_type minimum_jerk) (refSpeed {speeds}))"
    return fast + table("POSITION_CONTROL", kp, kd) + table("VELOCITY_CONTROL", kp, kd, kind)


def served_by(kind, name, device, period="0.01"):
    """Return the file of a robot interface with one server."""
    return f"""<robot name="r" portprefix="r"><devices>
      <device name="{device}_server" type="{kind}"><param name="name">{name}</param>
      <param name="period">{period}</param><action phase="startup" level="5" type="attach"><param name="device">{device}
      </param></action></device></devices></robot>"""


def interface(file):
    return plugin(
        "RobotInterface", f"<yarpRobotInterfaceConfigurationFile>{file}</yarpRobotInterfaceConfigurationFile>"
    )


def pendulum(name, device, start="0.0", config=""):
    link = body(1.0, (0.0852, 0.0852, 0.0037), "0 0 -0.5")
    limits = "(LIMITS (jntPosMax 200.0) (jntPosMin -200.0))"
    board = f"(yarpDeviceName {device}) (jointNames upper_joint) (max_torques 1e6) {config} {limits}"
    start = f"<initialConfiguration>{start}</initialConfiguration>"
    return (
        f'<link name="base_link">{body(100, (1, 1, 1))}</link>{fixed("world", "base_link")}'
        f'<link name="upper_link"><pose relative_to="upper_joint"/>{link}</link>'
        f"{hinge('upper_joint', 'base_link', 'upper_link', '0.15 0 2 0 0 0')}{configured('ControlBoard', board, start)}"
    )


NAMES = ("fixed_base", "upper_joint", "lower_joint")
COUPLED = (
    f"(yarpDeviceName coupled) (jointNames {' '.join(NAMES)}) (max_torques 1e6 1e6 1e6) (COUPLING (device "
    f"couplingICubEye) (actuatedAxesNames {' '.join(NAMES)}) (actuatedAxesPosMin 0.0 -200.0 -200.0) "
    f"(actuatedAxesPosMax 0.0 200.0 200.0)) {gains([0.0, 3000.0, 3000.0], [0.0, 2.0, 2.0])} "
    "(LIMITS (jntPosMax 0.0 200.0 200.0) (jntPosMin 0.0 -200.0 -200.0))"
)
CAMERA = (
    "<camera><horizontal_fov>1.5708</horizontal_fov><image><width>640</width><height>480</height></image>{}</camera>"
)


def camera(name, flips):
    text = f"(yarpDeviceName {name}) (parentLinkName eye) (sensorName {name}) {flips}"
    tags = f"{CAMERA.format('')}<update_rate>2</update_rate><always_on>1</always_on>"
    sensor = f'<sensor name="{name}" type="camera">{tags}</sensor>'
    return f'<link name="eye">{sensor}</link>{configured("Camera", text)}{interface(f"{name}.xml")}'


def world_models():
    """Return the models by name: pose, and what is in them."""
    box = shape("<box><size>0.1 0.1 0.1</size></box>")
    scan = (
        "<lidar><scan><horizontal><samples>360</samples><resolution>1</resolution><min_angle>-3.14159</min_angle>"
        "<max_angle>3.14159</max_angle></horizontal></scan><range><min>0.1</min><max>5.0</max></range><noise>"
        "<type>gaussian</type><mean>0</mean><stddev>0.005</stddev></noise></lidar><update_rate>30</update_rate>"
    )
    laser = (
        "(SENSOR (max_distance 5.0) (min_distance 0.1) (max_angle 360) (min_angle 0) (resolution 1) (allow_infinity 1))"
    )
    lens = "<fx>554.256</fx><fy>554.256</fy><cx>320</cx><cy>240</cy><s>0</s>"
    depth = (
        "<distortion><k1>.001</k1><k2>.002</k2><k3>.003</k3><p1>.004</p1><p2>.005</p2></distortion>"
        f"<lens><intrinsics>{lens}</intrinsics></lens><clip><near>0.1</near><far>100</far></clip>"
    )
    ball = shape("<sphere><radius>0.5</radius></sphere>", color="0 0 1 1")
    pair = (
        f'<link name="base">{body(1000, (1, 1, 1))}</link>{hinge("fixed_base", "world", "base")}'
        + "".join(
            f'<link name="{link}"><pose relative_to="{joint}"/>{body(1, (1, 1, 1), "0 0 -0.9")}</link>'
            + hinge(joint, "base", link, f"{x} 0 1.75 0 0 0")
            for joint, link, x in (("upper_joint", "link1", -0.15), ("lower_joint", "link2", 0.15))
        )
        + configured("ControlBoard", COUPLED)
        + interface("coupled.xml")
    )
    scale = (
        f'<link name="low">{body(10, (0.02, 0.02, 0.02), "0 0 0.05")}</link>{fixed("world", "low")}'
        f'<link name="top"><pose>0 0 0.15 0 0 0</pose>{body(10, (0.02, 0.02, 0.02))}</link><joint name="joint_12" '
        'type="fixed"><parent>low</parent><child>top</child><sensor name="ft" type="force_torque"><update_rate>30'
        "</update_rate></sensor></joint>"
        + configured("ForceTorque", "(yarpDeviceName ft_dev) (jointName joint_12) (sensorName ft)")
        + interface("ft.xml")
    )
    return {
        "single": ("10 0 0", pendulum("single", "board", config=gains([3000.0], [2.0])) + interface("single.xml")),
        "torque": ("12 0 0", pendulum("torque", "tboard") + interface("torque.xml")),
        "coupled": ("14 0 0", pair),
        "imu_box": (
            "4 3 0.05 0 0 3.14",
            f'<link name="link_1">{body(0.1, (1.7e-4,) * 3)}{box}<sensor name="imu" type="imu"><update_rate>100'
            "</update_rate></sensor></link>"
            + configured("Imu", "(yarpDeviceName imu_dev) (parentLinkName link_1) (sensorName imu)")
            + interface("imu.xml"),
        ),
        "scale": ("0 5 0", scale),
        "base": (
            "0 -5 0.2",
            f'<link name="link_1">{box}</link>'
            + configured("BaseState", "(yarpDeviceName base_dev) (baseLink link_1)")
            + interface("base.xml"),
        ),
        "scanner": (
            "0 -10 0.1",
            f'<link name="link_1"><sensor name="scan" type="gpu_lidar">{scan}</sensor></link>'
            + configured("Laser", f"(yarpDeviceName scan_dev) (parentLinkName link_1) (sensorName scan) {laser}")
            + interface("scan.xml"),
        ),
        "wall": ("-4 -10.5 0.5", f'<link name="link">{shape("<box><size>1 1 1</size></box>")}</link>'),
        "depth": (
            "0 20 0.1",
            f'<link name="eye"><sensor name="deep" type="rgbd_camera">{CAMERA.format(depth)}<update_rate>2'
            "</update_rate><always_on>1</always_on></sensor></link>"
            + configured("DepthCamera", "(yarpDeviceName deep_dev) (parentLinkName eye) (sensorName deep)")
            + interface("deep.xml"),
        ),
        **{name: ("0 20 0.1", camera(name, flips)) for name, flips in FLIPS.items()},
        "ball": ("5 21.5 0.5", f'<link name="link">{ball}</link>'),
        "room": ("0 0 0", f'<link name="link"/>{plugin("WorldInterface", "")}{interface("room.xml")}'),
    }


FLIPS = {
    "plain": "",
    "mirrored": "(horizontal_flip)",
    "inverted": "(vertical_flip)",
    "turned": "(horizontal_flip) (vertical_flip)",
}
STATIC = {"scanner", "wall", "depth", "ball", "room", *FLIPS}
SERVERS = {
    "single.xml": ("controlBoard_nws_yarp", "/single", "board"),
    "torque.xml": ("controlBoard_nws_yarp", "/torque", "tboard"),
    "coupled.xml": ("controlBoard_nws_yarp", "/coupled", "coupled"),
    "imu.xml": ("multipleanalogsensorsserver", "/imu", "imu_dev", "10"),
    "ft.xml": ("multipleanalogsensorsserver", "/forcetorque", "ft_dev", "10"),
    "base.xml": ("multipleanalogsensorsserver", "/basestate", "base_dev", "10"),
    "scan.xml": ("rangefinder2D_nws_yarp", "/laser", "scan_dev"),
    "deep.xml": ("rgbdSensor_nws_yarp", "/depthcamera", "deep_dev"),
    "room.xml": ("simulatedWorld_nws_yarp", "/world/worldinterface", "worldInterfaceName"),
    **{f"{name}.xml": ("frameGrabber_nws_yarp", f"/{name}", name) for name in FLIPS},
}
STEP = 0.001


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gz")
    for name, row in SERVERS.items():
        (folder / name).write_text(served_by(*row))
    models = "".join(
        f'<model name="{name}">{"<static>true</static>" if name in STATIC else ""}'
        f"<pose>{pose if pose.count(' ') > 2 else pose + ' 0 0 0'}</pose>{inside}</model>"
        for name, (pose, inside) in world_models().items()
    )
    physics = f'<physics name="p" type="ignored"><max_step_size>{STEP}</max_step_size></physics>'
    ground = "<include><uri>model://ground_plane</uri></include><include><uri>model://sun</uri></include>"
    path = folder / "world.sdf"
    path.write_text(f'<sdf version="1.7"><world name="w">{physics}{ground}{plugin("Clock", "")}{models}</world></sdf>')
    robot = pliant.load(path)
    with (
        served(robot, ",lockstep=true", pacer=sync()) as world,
        world.yarp.open_rpc("/clock/rpc") as clock,
        YarpNetwork(str(world.yarp.names.address), dialect=3) as client,
    ):

        def step(count=1, **commands):
            waited = "".join(f" ({port} {number})" for port, number in commands.items())
            assert clock.call(parse_bottle(f"stepSimulationAndWait {count}{waited}")) == Bottle()

        def call(port, text):
            return client.rpc(port, parse_bottle(text))

        def newest(port, steps=40, carrier="tcp"):
            """Return the newest message of a stream after some steps."""
            reader = client.open_input(strict=False)
            client.connect(port, reader.name, carrier)
            step(steps)
            message = reader.read(30.0)
            client.network.shut(reader.port)
            return message

        yield SimpleNamespace(step=step, call=call, newest=newest, client=client, world=world, robot=robot)


def board_call(run, port, text):
    reply = run.call(f"{port}/rpc:i", text)
    assert reply != bottle(Vocab.of("fail")), text
    return reply


def encoders(run, port):
    return np.array(board_call(run, port, "[get] [encs]")[2].items)


def go_until_done(run, port, axis, most=20_000):
    for _ in range(most // 500):
        run.step(500)
        if board_call(run, port, f"[get] [don] {axis}")[2]:
            return
    pytest.fail("the motion is not done")


def test_limits_of_several_joints_are_told(run):
    for axis, limit in ((1, 200.0), (2, 200.0)):
        assert board_call(run, "/coupled", f"[get] [llim] {axis}").items[2:4] == pytest.approx((-limit, limit))


def test_a_trajectory_ends_at_its_target_and_the_mode_changes_there_and_back(run):
    assert board_call(run, "/single", "[get] [icmd] [cmod] 0")[2] == Vocab.of("pos")
    for target in (90.0, 10.0):
        board_call(run, "/single", f"[set] [pos] 0 {target}")
        go_until_done(run, "/single", 0)
        run.step(1000)
        assert encoders(run, "/single")[0] == pytest.approx(target, abs=5e-2)
    board_call(run, "/single", "[set] [icmd] [cmod] 0 [posd]")
    run.client.rpc("/single/command:i", StreamCommand(quantity="position_direct", values=(0.0,)).encode(3))
    run.step(1000)
    assert board_call(run, "/single", "[get] [icmd] [cmod] 0")[2] == Vocab.of("posd")
    assert encoders(run, "/single")[0] == pytest.approx(0.0, abs=5e-2)
    board_call(run, "/single", "[set] [icmd] [cmod] 0 [pos]")
    run.step(1)
    assert board_call(run, "/single", "[get] [don] 0")[2]
    assert encoders(run, "/single")[0] == pytest.approx(0.0, abs=5e-2)


@pytest.mark.parametrize(("port", "axes", "tolerance"), [("/single", [0], 5e-2), ("/coupled", [1, 2], 5e-1)])
def test_direct_positions_follow_a_sine(run, port, axes, tolerance):
    count, errors = 2500, []
    modes = " ".join(["[posd]"] * len(encoders(run, port)))
    board_call(run, port, f"[set] [icmd] [cmds] ({modes})")
    with run.client.open_rpc(f"{port}/command:i", "/sine") as stream:
        for i in range(0, count, 2):  # every other step of 5000, so that a case is short
            reference = 100.0 * math.sin(math.pi * i / count)
            values = np.zeros(len(modes.split()))
            values[axes] = reference
            stream.call(StreamCommand(quantity="position_direct", values=tuple(values)).encode(3))
            run.step(2)
            if i % 50 == 0:
                told = np.array(board_call(run, port, "[get] [dpos]")[2].items)
                assert told[axes] == pytest.approx(reference)
                errors.append(np.abs(encoders(run, port)[axes] - reference))
    assert np.mean(errors) < tolerance


def test_coupled_axes_reach_their_targets_by_trajectories(run):
    board_call(run, "/coupled", "[set] [icmd] [cmds] ([pos] [pos] [pos])")
    for axis in (1, 2):
        board_call(run, "/coupled", f"[set] [pos] {axis} 90.0")
        go_until_done(run, "/coupled", axis)
    run.step(1000)
    assert encoders(run, "/coupled")[[1, 2]] == pytest.approx([90.0, 90.0], abs=5e-2)


def test_a_torque_is_the_one_that_moves_the_pendulum(run):
    mass, length, inertia, gravity, torque = 1.0, 1.0, 0.3352, 9.8, 0.5
    board_call(run, "/torque", "[set] [icmd] [cmod] 0 [torq]")
    speeds = []
    with run.client.open_rpc("/torque/command:i", "/pusher") as stream:
        for _ in range(10):
            stream.call(StreamCommand(quantity="torque", values=(torque,)).encode(3))
            run.step(1)
            speeds.append(math.radians(board_call(run, "/torque", "[get] [esps]")[2][0]))
    measured = board_call(run, "/torque", "[get] [torq] [trq] 0")[2]
    angle = math.radians(encoders(run, "/torque")[0])
    expected = mass * gravity * length / 2.0 * math.sin(angle) + inertia * (speeds[-1] - speeds[-2]) / STEP
    assert measured == pytest.approx(torque, abs=5e-3)
    assert expected == pytest.approx(torque, abs=5e-3)


@pytest.mark.parametrize(("value", "overriding"), [(0.0, ""), (1.0, ""), (2.0, "2.0"), (-1.0, "-1.0")])
def test_a_pendulum_starts_where_its_configuration_or_the_last_override_says(value, overriding, tmp_path):
    override = (
        plugin(
            "ConfigurationOverride",
            '<yarpPluginConfigurationOverride yarpDeviceName="board"/>'
            f"<initialConfiguration>{overriding}</initialConfiguration>",
        )
        if overriding
        else ""
    )
    inner = f'<model name="m">{pendulum("m", "board", 1.0 if overriding else value, gains([3000.0], [2.0]))}</model>'
    path = tmp_path / "w.sdf"
    path.write_text(f'<sdf version="1.7"><world name="w"><model name="o">{override}{inner}</model></world></sdf>')
    robot = pliant.load(path)
    assert robot.devices[0].initial_positions == (value,)


def measured(run, port):
    message = run.newest(f"{port}/measures:o")
    return decode_measurements(message.content), message


def test_an_inertial_unit_at_rest_measures_gravity_and_no_turn_since_the_start(run):
    groups, _ = measured(run, "/imu")
    expected = {"gyroscopes": (0, 0, 0), "orientations": (0, 0, 0), "linear_accelerometers": (0, 0, 9.8)}
    for group, values in expected.items():
        (found,) = groups[group]
        assert found.values == pytest.approx(values, abs=1e-2), group
        assert found.time > 0.0


def test_a_force_torque_sensor_carries_ten_kilograms(run):
    (found,) = measured(run, "/forcetorque")[0]["six_axis_force_torques"]
    assert found.values == pytest.approx((0, 0, -98.0, 0, 0, 0), abs=1e-2)
    assert found.time > 0.0


def test_the_base_state_of_a_fallen_box_is_read_by_six_groups(run):
    run.step(1000)  # it falls
    groups, _ = measured(run, "/basestate")
    expected = {
        "positions": (0.0, -5.0, 0.05), "orientations": (0, 0, 0), "linear_velocities": (0, 0, 0),
        "gyroscopes": (0, 0, 0), "linear_accelerometers": (0, 0, 0), "angular_accelerometers": (0, 0, 0),
    }  # fmt: skip
    assert set(groups) == set(expected)
    for group, values in expected.items():
        (found,) = groups[group]
        assert found.values == pytest.approx(values, abs=0.01), group
    names = run.call("/basestate/rpc:o", "getMetadata")
    assert names[9][0].items == ("base::link_1", "base::link_1", "")


def test_a_laser_sees_a_box_behind_it_and_infinity_elsewhere(run):
    content = run.newest("/laser").content
    ranges = content[4].items
    assert len(ranges) == 360
    assert ranges[:3] == pytest.approx((3.5, 3.5, 3.5), abs=0.1)
    assert all(math.isinf(ranges[k]) for k in (100, 200, 300, 359))


IMAGE = 501
"""Steps in which each camera takes an image; two a second, because images cost most of this file's time."""
# Where the ball, the ground and the sky are seen, from the peers' tests.
PIXELS = {
    "plain": ((218, 221), (289, 246), (0, 40)),
    "mirrored": ((420, 220), (304, 247), (0, 40)),
    "inverted": ((219, 254), (380, 232), (270, 400)),
    "turned": ((420, 254), (380, 232), (270, 400)),
}


@pytest.mark.parametrize("name", PIXELS)
def test_a_camera_sees_ball_ground_and_sky_where_its_flips_put_them(run, name):
    pixels = Image.decode(run.newest(f"/{name}", IMAGE).content).pixels
    assert pixels.shape == (480, 640, 3)
    ball, ground, sky = (pixels[v, u].astype(int) for u, v in PIXELS[name])
    assert ball[2] > 2 * max(ball[:2]) + 20, (ball, ground, sky)
    assert np.ptp(ground) < 40, (ball, ground, sky)
    assert np.abs(ground - sky).max() > 10, (ball, ground, sky)


def test_a_depth_camera_measures_ball_and_ground_and_tells_its_lens(run):
    depth = Image.decode(run.newest("/depthcamera/depthImage:o", IMAGE).content).pixels
    colors = Image.decode(run.newest("/depthcamera/rgbImage:o", IMAGE).content).pixels
    assert depth.shape[:2] == colors.shape[:2] == (480, 640)
    assert depth[204, 152] == pytest.approx(4.531866, abs=2e-2)
    assert depth[289, 151] == pytest.approx(1.11972, abs=2e-2)
    assert np.isinf(depth[40, 0])
    assert colors[204, 152, 2] > 2 * int(colors[204, 152, :2].max()) + 20

    def asked(text):
        return run.call("/depthcamera/rpc:i", text)

    for interface_ in ("[visr]", "[visd]"):
        assert asked(f"{interface_} [get] [res]").items[3:] == (640, 480)
        pairs = {p[0]: p[1] for p in _pairs(asked(f"{interface_} [get] [intp]"))}
        found = [pairs[key] for key in ("focalLengthX", "focalLengthY", "k1", "k2", "k3", "t1", "t2")]
        assert found == pytest.approx((554.256, 554.256, 0.001, 0.002, 0.003, 0.004, 0.005))
        assert pairs["distortionModel"] == "plumb_bob"
        assert asked(f"{interface_} [get] [mirr]")[3] == 0
    assert asked("[visd] [get] [acrc]")[3] == pytest.approx(1e-5)
    assert asked("[visd] [get] [clip]").items[3:] == pytest.approx((0.1, 100.0))
    for change in ("[visd] [set] [clip] 0.1 100.0", "[visr] [set] [res] 640 480", "[visd] [set] [acrc] 1e-5"):
        assert asked(change)[2] == 0


def _pairs(value):
    """Yield the (key value) lists in a reply."""
    if isinstance(value, Bottle):
        if len(value) == 2 and isinstance(value[0], str):
            yield value.items
        for item in value.items:
            yield from _pairs(item)


# -- the wire of simulatedWorld_nws_yarp ------------------------------------------------------------------------
POSE, RED = (1.0, 2.0, 3.0, 0.1, 0.2, 0.3), (255, 0, 0)
WORLD = "/world/worldinterface/rpc:i"


def sent(name, *arguments):
    """Return a request as YARP's generated stubs write it: pose and colour are lists of their own."""
    items = [Bottle(tuple(a), layout="tagged") if isinstance(a, tuple) else a for a in arguments]
    items = [(Vocab.of("ok") if a else Vocab.of("fail")) if isinstance(a, bool) else a for a in items]
    return encode_bottle(Bottle((name, *items), layout="tagged"), 4)


def returned(dialect, done=True):
    """Return the bytes of a ReturnValue: of YARP 3.12 a number, of YARP 4 a list of a vocabulary."""
    if dialect == 3:
        return struct.pack("<2i", 1, 0 if done else 5)
    return struct.pack("<4i", 256, 1, 9, int.from_bytes(b"ok" if done else b"err5", "little"))


@pytest.mark.parametrize("version", ["3.12", "4.0"])
def test_the_world_interface_answers_in_the_return_values_of_its_caller(run, version):
    dialect, names = DIALECTS[version], run.world.bridge.network.names
    caller = f"/caller{dialect}/rpc:o"
    with StockReader(version, kind="any") as reader:  # the bridge asks the caller's port which YARP it belongs to
        names.register(caller, "tcp", "127.0.0.1", reader.port)
        where = names.find(WORLD)
        with socket.create_connection((where.host, where.port), timeout=30.0) as sock:
            stream = Stream(sock, 30.0, WORLD)
            stream.send(Hello(carrier="tcp", sender=caller).encode())
            stream.take(8)

            def ask(request, size):
                stream.renew(30.0)
                stream.send(Message(Command("d"), request).encode())
                run.step(2)
                reply = stream.take(size)
                assert stream.take(8) == ACKNOWLEDGEMENT
                return reply

            one, five = returned(dialect), returned(dialect, done=False)
            assert ask(sent("makeBox", "cube", 0.1, 0.2, 0.3, POSE, RED, "", False, True), len(one)) == one
            assert ask(sent("makeBox", "cube", 0.1, 0.2, 0.3, POSE, RED, "", False, True), len(five)) == five
            assert ask(sent("makeSphere", "ball", 0.1, (9.0, *POSE[1:]), RED, "", False, True), len(one)) == one
            assert ask(sent("makeModel", "m", "/no/such.sdf", POSE, "", False, True), len(five)) == five
            doubles = struct.pack("<2i", 256, 6)
            reply = ask(sent("getPose", "cube", ""), 8 + len(one) + 8 + 6 * 12)
            assert reply[: 16 + len(one)] == struct.pack("<2i", 256, 2) + one + doubles
            tags, values = zip(*struct.iter_unpack("<id", reply[16 + len(one) :]))
            assert set(tags) == {10 if dialect == 3 else 20}
            assert values == pytest.approx(POSE, abs=1e-9)
            listed = struct.pack("<4i", 256 + 4, 2, 4, 0)[:12] + b"cube" + struct.pack("<i", 4) + b"ball"
            assert ask(sent("getList"), 8 + len(one) + len(listed)) == struct.pack("<2i", 256, 2) + one + listed
            ask(sent("deleteObject", "ghost"), len(five))
            for name, *arguments in (("setPose", "cube", POSE, ""), ("deleteObject", "ball"), ("deleteAll",)):
                assert ask(sent(name, *arguments), len(one)) == one, name
            empty = struct.pack("<4i", 256, 2, 0, 0)[:8] + one + struct.pack("<2i", 256 + 4, 0)
            assert ask(sent("getList"), len(empty)) == empty
        names.unregister(caller)


def test_a_person_types_the_calls_of_the_world_interface(run):
    assert run.call(WORLD, "makeSphere apple 0.1 (0 0 1 0 0 0) (0 255 0)") == bottle((Vocab.of("ok"),))[0]
    assert run.call(WORLD, "rename apple pear") == Bottle((Vocab.of("ok"),))
    assert set(SIMULATED_CALLS) < {*run.call(WORLD, "help").items}
    assert run.call(WORLD, "deleteAll") == Bottle((Vocab.of("ok"),))

"""A parallel robot on a wire of ROS: names, types and fields of the Gazebo simulator, and what answers them."""

import itertools
import math
import threading
import time

import numpy as np
import pytest
from daily import by_day
from fake_master import FakeMaster
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kept_node import KeptNode
from shared_files import shared_file
from waiting import until

from pliant.base.errors import PliantError
from pliant.engine import MujocoEngine
from pliant.parallel.device.parallel import ParallelRobotDevice
from pliant.parallel.device.plate_controller import PlateController
from pliant.parallel.model import build_parallel, mechanism_of
from pliant.parallel.plate_pose import PlatePosePID
from pliant.parallel.ros import Lines
from pliant.recording.recording import RecordedDevice
from pliant.rods import load_robot
from pliant.ros.bridge import RosBridge, RosOptions
from pliant.simulation import Simulation, sync

SPATIAL, PLANAR = "Stewart_Gough_6PFR", "3RR"


class World:
    """A robot, its simulation and a bridge on a wire that goes nowhere."""

    def __init__(self, name=SPATIAL, *, version=1, controller=False, segments=4, worker=False, **options):
        self.model = build_parallel(name, segments=segments, damping=0.02)
        self.mechanism = mechanism_of(self.model)
        self.robot = self.mechanism.solution.robot
        self.device = ParallelRobotDevice(self.mechanism, worker=worker, **options)
        devices = [self.device]
        if controller:
            self.controller = PlateController(self.device, PlatePosePID())
            devices.insert(0, self.controller)
        self.wire = KeptNode(version)
        self.bridge = RosBridge(self.model, self.wire, RosOptions(namespace="cpr", tf=False))
        self.loop = Simulation(MujocoEngine(self.model, check=False), devices, [self.bridge], pacer=sync())
        self.loop.start()

    def call(self, name, **request):
        """Call a service that the loop answers: it runs meanwhile."""
        got = []

        def ask():
            try:
                got.append(self.wire.call(name, **request))
            except PliantError as error:
                got.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        end = time.monotonic() + 30.0
        while thread.is_alive() and time.monotonic() < end:
            self.loop.step()
        thread.join(1.0)
        if isinstance(got[0], PliantError):
            raise got[0]
        return got[0]

    def last(self, topic):
        return self.wire.out[topic].messages()[-1]

    def close(self):
        self.loop.close()
        self.device.close()


@pytest.fixture
def world():
    made = []

    def make(*args, **options):
        made.append(World(*args, **options))
        return made[-1]

    yield make
    for item in made:
        item.close()


def pose(x=0.0, y=0.0, z=1.1):
    return {"position": {"x": x, "y": y, "z": z}, "orientation": {"w": 1.0}}


# ---------------------------------------------------------------------- names
def test_topics_and_services_of_a_spatial_robot_are_those_of_the_specification(world):
    wire = world().wire
    assert {t: kind for t, (kind, _) in wire.into.items() if not t.startswith("/pliant")} == {
        "/dgm_parameters": "cpr_messages/DGMParams",
        "/igm_parameters": "cpr_messages/IGMParams",
        "/controller_wrench": "geometry_msgs/Wrench",
        "/cpr/joint_trajectory_controller/command": "trajectory_msgs/JointTrajectory",  # pliant's own
    }
    assert {t: h.type for t, h in wire.out.items() if t != "/rosout"} == {
        "/joint_values": "std_msgs/Float32MultiArray",
        # pliant's own
        "/clock": "rosgraph_msgs/Clock",
        "/joint_states": "sensor_msgs/JointState",
        "/cpr/robot_description": "std_msgs/String",
        "/diagnostics": "diagnostic_msgs/DiagnosticArray",
        "/pliant/robots": "std_msgs/String",
        "/cpr/joint_trajectory_controller/state": "control_msgs/JointTrajectoryControllerState",
        "/cpr/plate_pose": "geometry_msgs/PoseStamped",
        "/cpr/rods": "visualization_msgs/MarkerArray",
    }
    services = {name: kind for name, (kind, _) in wire.services.items()}
    assert services["/parameters_vector_services"] == "cpr_messages/GuessVectorHandling"
    assert services["/remove_robot"] == "std_srvs/Empty"
    assert services["/gazebo/get_link_state"] == "gazebo_msgs/GetLinkState"
    # what its window calls to stop and go
    assert {"/gazebo/pause_physics", "/gazebo/unpause_physics"} <= set(services)


def test_topics_and_services_of_a_planar_robot_are_those_of_the_specification(world):
    wire = world(PLANAR).wire
    assert {t: kind for t, (kind, _) in wire.into.items() if not t.startswith("/pliant")} == {
        "/dgm_parameters": "cpr_planar_messages/DGMParameters",
        "/igm_parameters": "cpr_planar_messages/IGMParameters",
        "/cpr/joint_trajectory_controller/command": "trajectory_msgs/JointTrajectory",  # pliant's own
    }
    assert wire.out["/joint_values"].type == "std_msgs/Float32MultiArray"
    assert wire.services["/parameters_vector_services"][0] == "cpr_planar_messages/GuessVectorHandling"


def test_the_controller_has_the_topics_of_the_specification(world):
    wire = world(controller=True, controller_wrench="exert").wire
    found = {t: h.type for t, h in wire.out.items()}
    assert found["/controller_wrench"] == "geometry_msgs/Wrench"
    assert found["/desired_values"] == found["/current_values"] == "cpr_messages/SE3Pose"
    assert found["/time"] == "std_msgs/Float32"
    assert wire.into["/desired_value"][0] == "std_msgs/Float32"
    assert "/controller_wrench" not in wire.into  # its own wrench does not come back to it


SPECIFIED = (
    "/dgm_parameters", "/igm_parameters", "/controller_wrench", "/joint_values", "/parameters_vector_services",
    "/remove_robot", "/desired_values", "/current_values", "/time", "/desired_value",
)  # fmt: skip
SPECIFIED_PARAMETERS = ("limb_name_prefix", "robot_name", "number_of_limbs", "initial_guess", "underactuation_vector")


def test_every_name_of_the_specification_is_served(world):
    item = world(controller=True)
    names = {*item.wire.out, *item.wire.into, *item.wire.services}
    topics = names | {f"/{name.rpartition('/')[2]}" for name in names}
    assert set(SPECIFIED) <= topics
    assert {f"/{name}" for name in SPECIFIED_PARAMETERS} <= set(item.wire.params)


@pytest.mark.shared
def test_the_names_of_the_specification_are_those_of_its_text():
    section = shared_file("spec/cpr.md").read_text(encoding="utf-8").partition("## 6.")[2].partition("\n## 7.")[0]
    for topic in SPECIFIED:
        assert topic.removeprefix("/igm_").removeprefix("/") in section
    for name in SPECIFIED_PARAMETERS:
        assert f"/{name}" in section


@pytest.mark.parametrize("name", [SPATIAL, PLANAR, "RERRFR", "Stewart_Gough_6EFR", "3PFR_spatial"])
def test_parameters_are_those_that_the_original_sets(name):
    robot = load_robot(name)
    wire = KeptNode()
    bridge = RosBridge(None, wire)
    device = ParallelRobotDevice(robot)
    bridge.plan({"cpr": device})
    p, limbs, planar = wire.params, robot.description.limbs, robot.planar
    assert p["/robot_name"] == name
    assert p["/limb_name_prefix"] == "limb"
    assert p["/number_of_limbs"] == len(limbs)
    assert len(p["/initial_guess"]) == (4 if planar else 7) * len(limbs)
    assert len(p["/underactuation_vector"]) == (3 if planar else 6)
    assert sum(p["/underactuation_vector"]) == min(len(p["/underactuation_vector"]), robot.actuator_count)
    assert p["/rod/E"] == 200e9
    assert p["/rod/G"] == 80e9
    assert p["/rod/ds"] == 0.005
    assert p["/rod/radius"] == limbs[0].rod.section.radius
    assert p["/rod/L"] == limbs[0].rod.length
    for i, limb in enumerate(limbs):
        extends = any(joint.kind == "extension" for joint in limb.joints)
        assert p[f"/limb{i + 1}/is_extendible"] is extends
    # The tail of the guess are the joint values of the start.
    n = robot.actuator_count
    np.testing.assert_allclose(p["/initial_guess"][-n:], robot.home().q)


# ---------------------------------------------------------------------- commands
@pytest.mark.parametrize("version", [1, 2])
def test_joint_values_move_the_robot(world, version):
    item = world(version=version)
    goal = item.mechanism.solution.q + 0.01
    item.wire.hear("/dgm_parameters", joints_values=goal, distal_plate_wrench={})
    item.loop.run(0.5)
    np.testing.assert_allclose(item.last("/joint_values")["data"], goal, atol=1e-4)
    state = item.last("/joint_states")
    np.testing.assert_allclose(state["position"], goal, atol=1e-4)
    assert state["name"] == item.mechanism.actuators
    assert len(state["velocity"]) == 6
    assert len(state["effort"]) == 0
    found = item.last("/cpr/plate_pose")
    assert found["header"]["frame_id"] == "world"
    assert found["pose"]["position"]["z"] == pytest.approx(1.11, abs=2e-3)
    assert item.wire.said == []


@pytest.mark.parametrize("version", [1, 2])
def test_a_pose_moves_a_planar_robot(world, version):
    item = world(PLANAR, version=version, segments=6, joint_speeds=(1.0, 4.0))
    item.wire.hear("/igm_parameters", pose={"x": 0.02, "y": -0.03, "theta": 0.1}, wrench={})
    item.loop.run(2.5)
    np.testing.assert_allclose(item.last("/joint_values")["data"], item.device.equilibrium.q, atol=1e-3)
    np.testing.assert_allclose(item.device.equilibrium.pose2d, (0.02, -0.03, 0.1), atol=1e-9)
    found = item.last("/cpr/plate_pose")["pose"]
    # Six links are a few millimetres off in this robot's strongly bent rods.
    assert found["position"]["x"] == pytest.approx(0.02, abs=1e-2)
    assert found["position"]["y"] == pytest.approx(-0.03, abs=1e-2)
    assert 2.0 * math.atan2(found["orientation"]["z"], found["orientation"]["w"]) == pytest.approx(0.1, abs=0.03)


def test_joint_values_come_at_every_step_and_lines_thirty_times_a_second(world):
    item = world()
    item.loop.run(1.0)
    assert item.wire.out["/joint_values"].count == 1000
    assert item.wire.out["/cpr/rods"].count == 30


def test_a_pose_and_a_wrench_of_one_step_are_both_taken(world):
    item = world()
    item.wire.hear("/igm_parameters", distal_plate_pose=pose(z=1.12), distal_plate_wrench={})
    item.wire.hear("/controller_wrench", force={"x": 0.2})
    item.loop.step()
    assert item.device.health()["commands"] == 2
    assert item.loop.sample("cpr").values["wrench"][0] == 0.2
    assert item.device.equilibrium.q[0] > item.mechanism.solution.q[0] + 0.01


def test_a_topic_at_the_root_of_the_graph_can_be_awaited():
    bridge = RosBridge(None, KeptNode(), RosOptions(namespace="cpr", sync="/igm_parameters+trigger"))
    assert bridge.lockstep
    assert list(bridge.topics.arrivals) == ["/igm_parameters", "/cpr/trigger_next_step"]


def recorded(device):
    return RecordedDevice(
        device.name,
        device.period_ns,
        device.sample_period_ns,
        device.samples,
        joints=device.joints,
        signatures=device.signatures,
    )


def test_a_recording_is_published_as_the_live_robot_was(world):
    item = world(controller=True, controller_wrench="exert")
    item.wire.hear("/igm_parameters", distal_plate_pose=pose(x=0.02), distal_plate_wrench={})
    item.loop.run(0.01)
    wire = KeptNode()
    bridge = RosBridge(None, wire, RosOptions(namespace="cpr"))
    bridge.plan({name: recorded(device) for name, device in item.loop.devices.items()})
    for name in item.loop.devices:
        bridge.publish(item.loop.sample(name))
    for topic in ("/joint_values", "/joint_states", "/cpr/plate_pose", "/controller_wrench", "/desired_values"):
        live, again = item.last(topic), wire.out[topic].messages()[-1]
        if "header" in live:
            live["header"]["seq"] = again["header"]["seq"] = 0
        live.pop("name", None)
        again.pop("name", None)
        np.testing.assert_equal(again, live)
    assert not any(topic.endswith("_parameters") for topic in wire.into)


# ---------------------------------------------------------------------- lines
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("name", [SPATIAL, "3RR"])
def test_rods_are_strips_of_101_points_from_base_to_plate(world, version, name):
    item = world(name, version=version, segments=8)
    item.loop.run(0.04)
    message = item.last("/cpr/rods")
    lines = item.mechanism.solution.centrelines(101)
    assert len(message["markers"]) == len(lines)
    for i, (marker, line) in enumerate(zip(message["markers"], lines, strict=True)):
        assert (marker["type"], marker["action"], marker["ns"], marker["id"]) == (4, 0, "rods", i)
        assert marker["header"]["frame_id"] == "world"
        assert marker["header"]["stamp"] > 0
        assert marker["scale"]["x"] > 0.0
        assert marker["color"]["a"] == 1.0
        points = np.array([[p["x"], p["y"], p["z"]] for p in marker["points"]])
        assert points.shape == (101, 3)
        np.testing.assert_allclose(points, line.position, atol=1e-3)
    stamps = [m["markers"][0]["header"].get("seq") for m in item.wire.out["/cpr/rods"].messages()]
    if version == 1:
        assert stamps == list(range(len(stamps)))


@pytest.mark.parametrize("version", [1, 2])
def test_lines_that_are_filled_in_place_are_those_that_are_encoded(version):
    wire = KeptNode(version)
    bridge = RosBridge(None, wire)
    lines = Lines(bridge.topics, [0.002, 0.01])
    points = np.random.default_rng(0).normal(size=(2, 101, 3))
    first = wire.codec.decode("visualization_msgs/MarkerArray", lines.fill(5_000_000_007, points))
    for marker, line, width in zip(first["markers"], points, (0.002, 0.01), strict=True):
        assert marker["header"]["stamp"] == 5_000_000_007
        assert marker["scale"]["x"] == width
        np.testing.assert_array_equal([[p["x"], p["y"], p["z"]] for p in marker["points"]], line)
    again = wire.codec.decode("visualization_msgs/MarkerArray", lines.fill(6_000_000_000, points + 1.0))
    assert again["markers"][1]["points"][100]["z"] == points[1, 100, 2] + 1.0
    erased = wire.codec.decode("visualization_msgs/MarkerArray", lines.erase())
    assert [m["action"] for m in erased["markers"]] == [3]


def test_another_implementation_reads_the_lines():
    from rosbags.typesys import Stores, get_typestore

    points = np.random.default_rng(1).normal(size=(3, 101, 3))
    for version, store in ((1, Stores.ROS1_NOETIC), (2, Stores.ROS2_HUMBLE)):
        lines = Lines(RosBridge(None, KeptNode(version)).topics, [0.002] * 3)
        lines.fill(1, points)
        data = lines.fill(7_000_000_009, points)
        types, name = get_typestore(store), "visualization_msgs/msg/MarkerArray"
        # ROS 1 has the length before the message, CDR its encapsulation
        found = types.deserialize_ros1(data[4:], name) if version == 1 else types.deserialize_cdr(data, name)
        for marker, line in zip(found.markers, points, strict=True):
            assert (marker.header.stamp.sec, marker.header.stamp.nanosec) == (7, 9)
            assert (marker.type, marker.ns, marker.header.frame_id) == (4, "rods", "world")
            np.testing.assert_array_equal([[p.x, p.y, p.z] for p in marker.points], line)


def test_lines_of_the_statics_alone_are_those_of_the_equilibrium():
    wire = KeptNode()
    bridge = RosBridge(None, wire)
    robot = load_robot(PLANAR)
    device = ParallelRobotDevice(robot)
    bridge.plan({"cpr": device})
    np.testing.assert_allclose(device.centre_lines()[1], robot.home().centreline(1, 101).position)


# ---------------------------------------------------------------------- services
@pytest.mark.parametrize("worker", [False, True])
def test_the_parameters_vector_is_read_and_set(world, worker):
    item = world(worker=worker)
    home = item.call("/parameters_vector_services")["actual_guess"]
    assert len(home) == 7 * 6 + 6
    np.testing.assert_allclose(home[36:42], item.mechanism.solution.q, atol=1e-6)
    np.testing.assert_allclose(home[42:], [0, 0, 1.1, 0, 0, 0], atol=1e-6)
    given = np.array(home, dtype=float)
    given[44] += 0.05
    found = item.call("/parameters_vector_services", given_guess=given)["actual_guess"]
    np.testing.assert_allclose(found[36:42], item.mechanism.solution.q + 0.05, atol=1e-4)
    item.loop.run(0.5)
    assert item.last("/cpr/plate_pose")["pose"]["position"]["z"] == pytest.approx(1.15, abs=2e-3)
    # what was read can be given back
    back = item.call("/parameters_vector_services", given_guess=home)["actual_guess"]
    np.testing.assert_allclose(back, home, atol=1e-5)


@pytest.mark.parametrize("worker", [False, True])
def test_a_parameters_vector_that_does_not_solve_is_refused_with_the_reason(world, worker):
    item = world(worker=worker)
    q = item.device.equilibrium.q.copy()
    with pytest.raises(PliantError, match="has 3 numbers; must be 48 finite numbers"):
        item.call("/parameters_vector_services", given_guess=[0.0, 0.0, 0.0])
    given = np.array(item.call("/parameters_vector_services")["actual_guess"], dtype=float)
    given[42:45] = (9.0, 0.0, 1.0)
    with pytest.raises(PliantError, match="no equilibrium"):
        item.call("/parameters_vector_services", given_guess=given)
    given[0] = math.nan
    with pytest.raises(PliantError, match="not finite"):
        item.call("/parameters_vector_services", given_guess=given)
    np.testing.assert_array_equal(item.device.equilibrium.q, q)


def test_the_parameters_vector_of_a_planar_robot(world):
    item = world(PLANAR)
    home = item.call("/parameters_vector_services")["actual_guess"]
    assert len(home) == 4 * 3 + 3
    given = np.array(home, dtype=float)
    given[-3:] = (0.03, 0.02, 0.1)
    found = item.call("/parameters_vector_services", given_guess=given)["actual_guess"]
    np.testing.assert_allclose(found[-3:], (0.03, 0.02, 0.1), atol=1e-6)


@pytest.mark.shared
@pytest.mark.parametrize(
    "path", ["CPR_spatial/cpr_physics/launch/Stewart_Gough_6PFS", "CPR_planar/cpr_planar_physics/launch/RERRFR"]
)
def test_a_vector_of_the_original_is_taken(path):
    # Its wrenches and joint values are those of other physics (docs/rods/cpr.md): the plate's pose is kept.
    file = shared_file(f"data/gazebo_cpr/{path}/robot_config.yaml")
    import yaml

    config = yaml.safe_load(file.read_text(encoding="utf-8"))
    vector = next(iter(config["user_parameters_vectors"].values()))["parameters"]
    device = ParallelRobotDevice(load_robot(file.parent.name))
    end = 3 if device.planar else 6
    found = device.parameters_vector(vector)
    assert len(found) == len(vector)
    wanted, reached = np.array(vector[-end:]), np.array(found[-end:])
    np.testing.assert_allclose(reached, wanted, atol=1e-6)


@pytest.mark.parametrize("name", [SPATIAL, PLANAR])
def test_link_state_is_that_of_the_plate(world, name):
    item = world(name)
    early = item.wire.call("/gazebo/get_link_state", link_name="distal_plate::distal_plate", reference_frame="world")
    assert not early["success"]
    assert "not made a step" in early["status_message"]
    item.loop.run(0.1)
    for link in ("distal_plate::distal_plate", "distal_plate"):
        found = item.wire.call("/gazebo/get_link_state", link_name=link, reference_frame="world")
        assert found["success"]
        where = item.last("/cpr/plate_pose")["pose"]
        assert found["link_state"]["pose"] == where
        assert found["link_state"]["link_name"] == link
        assert abs(found["link_state"]["twist"]["linear"]["x"]) < 1e-2
    for link, frame in (("distal_plate::x", "world"), ("distal_plate", "limb1::base")):
        found = item.wire.call("/gazebo/get_link_state", link_name=link, reference_frame=frame)
        assert not found["success"]
        assert "there is no" in found["status_message"]


def test_the_twist_is_the_change_of_the_pose(world):
    item = world()
    item.wire.hear("/igm_parameters", distal_plate_pose=pose(x=0.02, z=1.14), distal_plate_wrench={})
    item.loop.run(0.03)
    before = item.loop.sample("cpr").values
    item.loop.step()
    after = item.loop.sample("cpr").values
    assert np.linalg.norm(after["twist"][:3]) > 0.01
    np.testing.assert_allclose((after["pose"] - before["pose"])[:3] / 1e-3, after["twist"][:3], atol=5e-3)
    turned = 2.0 * (after["pose"] - before["pose"])[3:6] / 1e-3
    np.testing.assert_allclose(turned, after["twist"][3:], atol=2e-2)


def test_a_removed_robot_is_silent_and_deaf_until_a_reset(world):
    item = world()
    item.loop.run(0.05)
    item.call("/remove_robot")
    values = item.wire.out["/joint_values"].count
    item.loop.run(0.1)
    assert item.wire.out["/joint_values"].count <= values + 1
    assert [m["action"] for m in item.last("/cpr/rods")["markers"]] == [3]
    item.wire.hear("/dgm_parameters", joints_values=[0.0] * 6, distal_plate_wrench={})
    assert "the robot was removed" in item.wire.said[-1]
    found = item.wire.call("/gazebo/get_link_state", link_name="distal_plate", reference_frame="")
    assert not found["success"]
    assert "removed" in found["status_message"]
    item.call("/gazebo/reset_simulation")
    values = item.wire.out["/joint_values"].count
    item.loop.run(0.05)
    assert item.wire.out["/joint_values"].count == values + 50
    item.wire.hear("/dgm_parameters", joints_values=[0.01] * 6, distal_plate_wrench={})
    item.loop.step()
    assert item.device.equilibrium.q[0] == pytest.approx(0.01)


# ---------------------------------------------------------------------- bad input
def test_what_is_wrong_is_told_and_changes_nothing(world):
    item = world()
    q = item.device.equilibrium.q.copy()
    item.wire.hear("/dgm_parameters", joints_values=[0.1] * 5, distal_plate_wrench={})
    assert "has 5 numbers; must be 6" in item.wire.said[-1]
    item.wire.hear("/dgm_parameters", joints_values=[math.nan] * 6, distal_plate_wrench={})
    assert "finite" in item.wire.said[-1]
    item.wire.hear("/controller_wrench", force={"x": math.inf})
    assert "finite" in item.wire.said[-1]
    item.wire.hear("/igm_parameters", distal_plate_pose={"position": {"z": 1.1}}, distal_plate_wrench={})
    item.loop.step()
    assert "quaternion of pose has length 0" in item.wire.said[-1]
    item.wire.hear("/dgm_parameters", joints_values=[0.9] * 6, distal_plate_wrench={})
    item.loop.step()
    assert "its limits are -1 and 0.4" in item.wire.said[-1]
    np.testing.assert_array_equal(item.device.equilibrium.q, q)


ABSURD = st.sampled_from([0.0, 1e-300, 1.0, -3.0, 40.0, -1e3, 1e6, -1e12, 1e155, -1e300])


EACH_POLICY = ((SPATIAL, "hold"), (PLANAR, "push"), (PLANAR, "exert"))


@pytest.mark.parametrize(
    ("name", "policy"),
    by_day(itertools.product((SPATIAL, PLANAR), ("hold", "push", "exert")), lambda case: case in EACH_POLICY),
)
def test_absurd_numbers_end_with_a_reason_and_never_with_nan(name, policy):
    robot = load_robot(name)

    @settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(ABSURD, min_size=12, max_size=12))
    def run(numbers):
        wire = KeptNode()
        device = ParallelRobotDevice(robot, controller_wrench=policy)
        RosBridge(None, wire).plan({"cpr": device})
        device.wrenches.put({"wrench": numbers[: device.samples["wrench"].size]})
        device.write()
        n = device.samples["joint_values"].size
        device.inbox.put({"joints_values": numbers[:n], "wrench": numbers[-device.samples["wrench"].size :]},
                         mode="dgm_parameters")  # fmt: skip
        device.write()
        place = numbers[:3] if robot.planar else [*numbers[:3], 0.0, 0.0, 0.0, 1.0]
        device.inbox.put({"pose": place, "wrench": [0.0] * device.samples["wrench"].size}, mode="igm_parameters")
        device.write()
        sample = device.read(1)
        for field, value in sample.values.items():
            assert np.isfinite(value).all(), field
        assert device.health()["without_equilibrium"] == len(wire.said)
        assert all(text.split(":")[0] in device.commands for text in wire.said)

    run()


# ---------------------------------------------------------------------- the controller
def test_the_controller_moves_the_plate_to_the_pose_that_is_asked_for(world):
    item = world(controller=True, controller_wrench="exert")
    item.loop.run(0.01)
    assert item.wire.out["/controller_wrench"].count == 0  # silent until its first goal
    assert item.wire.out["/time"].count == 10
    item.wire.hear("/igm_parameters", distal_plate_pose=pose(x=0.02), distal_plate_wrench={})
    item.loop.step()
    # The inverse model is not asked: the joints begin where they are.
    assert item.last("/controller_wrench")["force"]["x"] == pytest.approx(5.0 * 0.02, rel=0.01)
    item.loop.run(1.0)
    middle = item.last("/cpr/plate_pose")["pose"]["position"]["x"]
    item.loop.run(2.0)
    end = item.last("/cpr/plate_pose")["pose"]["position"]["x"]
    assert 0.005 < middle < end
    assert end == pytest.approx(0.02, abs=4e-3)
    assert item.last("/desired_values")["x"] == pytest.approx(0.02)
    assert item.last("/current_values")["x"] == pytest.approx(end, abs=1e-6)
    assert item.last("/time")["data"] == pytest.approx(item.loop.time)
    assert item.wire.said == []


def test_the_desired_value_is_the_height_of_the_goal(world):
    item = world(controller=True, controller_wrench="exert")
    item.wire.hear("/desired_value", data=1.12)
    item.loop.step()
    found = item.last("/desired_values")
    assert found["z"] == pytest.approx(1.12)
    assert found["x"] == pytest.approx(0.0, abs=1e-6)
    assert item.last("/controller_wrench")["force"]["z"] > 0.05


def test_with_hold_the_controller_leaves_the_plate_to_the_inverse_model(world):
    item = world(controller=True, controller_wrench="hold")
    item.wire.hear("/igm_parameters", distal_plate_pose=pose(z=1.12), distal_plate_wrench={})
    item.loop.run(0.2)
    assert item.device.equilibrium.plate_pose[2, 3] == pytest.approx(1.12, abs=1e-6)


# ---------------------------------------------------------------------- a real wire
@pytest.mark.network
def test_a_node_of_ros_1_drives_the_robot():
    from pliant.ros.ros1 import Ros1Node
    from pliant.simulation.bridges import make_bridge

    master = FakeMaster()
    model = build_parallel(SPATIAL, segments=4, damping=0.02)
    model.interface = model.interface.replace(namespace=SPATIAL)
    mechanism = mechanism_of(model)
    device = ParallelRobotDevice(mechanism)
    bridge = make_bridge(f"ros1:master={master.uri},host=127.0.0.1", model)
    loop = Simulation(MujocoEngine(model, check=False), [device], [bridge], pacer=sync())
    client = Ros1Node("/client", master=master.uri, host="127.0.0.1")
    try:
        loop.start()
        client.start()
        client.announce()
        until(lambda: master.types.get("/joint_values") == "std_msgs/Float32MultiArray", "the topic is there")
        got = []
        client.subscribe("/joint_values", "std_msgs/Float32MultiArray", got.append)
        publication = client.advertise("/dgm_parameters", "cpr_messages/DGMParams")
        node = bridge.node
        until(lambda: publication.connections and node.publications["/joint_values"].connections, "connected")
        goal = mechanism.solution.q + 0.01
        values = {"joints_values": goal, "distal_plate_wrench": {}}
        publication.send(client.codec.encode("cpr_messages/DGMParams", values))
        until(lambda: node.subscriptions["/dgm_parameters"].count, "the command is there")
        loop.run(0.3)
        until(lambda: got and np.allclose(got[-1]["data"], goal, atol=1e-4), "the robot moved")
        assert f"/{SPATIAL}/plate_pose" in master.types
        assert {"/parameters_vector_services", "/remove_robot", "/gazebo/get_link_state"} <= set(master.services)
        assert master.params["/robot_name"] == SPATIAL
    finally:
        client.stop()
        loop.close()
        device.close()
        master.close()

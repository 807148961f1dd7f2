"""An arm under the names of franka_ros and franka_ros2: states, setters, recovery, hand."""

import threading
import time

import numpy as np
import pytest
from kept_node import KeptNode

from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.franka_ros.serve import serve_arm
from pliant.franka_ros.setters import SETTER_NODES, SETTERS
from pliant.recording.recording import RecordedDevice
from pliant.robots import build_robot
from pliant.ros.bridge import RosBridge, RosOptions
from pliant.ros.bridge.actions import GoalState
from pliant.simulation import Simulation

EYE = np.eye(4).ravel().tolist()


class World:
    """A simulation with a wire of a generation of ROS, stepped by the test."""

    def __init__(self, version, name="fr3", *, tf=False, namespace="", **options):
        robot = build_robot(name, {"meshes": "shapes", **options})
        self.wire = KeptNode(version)
        bridge = RosBridge(robot, self.wire, RosOptions(clock=False, tf=tf, namespace=namespace))
        self.simulation = Simulation(MujocoEngine(robot), make_devices(robot), [bridge], pacer="free")
        self.simulation.start()
        self.arm = self.simulation.devices["left" if name == "franka-dual" else "franka"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.simulation.close()

    def call(self, service, **request):
        """Call a service in a thread, as a wire does, while the simulation runs."""
        kind, callback = self.wire.services[service]
        assert self.wire.codec.types.service(kind)
        answers = []
        thread = threading.Thread(target=lambda: answers.append(callback(request)), daemon=True)
        thread.start()
        end = time.monotonic() + 30.0
        while not answers and time.monotonic() < end:
            self.simulation.step()
        thread.join(5.0)
        return answers[0]

    def act(self, action, request, seconds=5.0):
        """Run a goal to its end; return it."""
        _, server = self.wire.actions[action]
        goal = server.submit(f"{action}-{len(server.goals)}", request)
        for _ in range(round(seconds * 1000)):
            self.simulation.step()
            if goal.state.ended:
                return goal
        pytest.fail(f"{action} goes on after {seconds} s")


@pytest.fixture(scope="module", params=[1, 2], ids=["ros1", "ros2"])
def world(request):
    with World(request.param) as made:
        yield made


@pytest.fixture(scope="module")
def first():
    with World(1) as made:
        yield made


@pytest.fixture(scope="module")
def second():
    with World(2) as made:
        yield made


def settings(version, node_setters=None):
    """Return valid values of each setter's fields."""
    return {
        "joint_stiffness": [2000.0] * 7,
        "cartesian_stiffness": [1500.0] * 3 + [100.0] * 3,
        "NE_T_EE": EYE,
        "EE_T_K": EYE,
        "transformation": EYE,
        "mass": 0.5,
        "F_x_center_load": [0.0, 0.0, 0.05],
        "center_of_mass": [0.0, 0.0, 0.05],
        "load_inertia": (np.eye(3) * 1e-3).ravel().tolist(),
        **{
            f"{side}_{what}_thresholds_{phase}": [40.0] * n
            for what, n in (("torque", 7), ("force", 6))
            for side in ("lower", "upper")
            for phase in ("acceleration", "nominal")
        },
    }


def test_the_state_of_ros_1_is_that_of_the_interface(first):
    first.simulation.run(0.1)
    message = first.wire.out["/franka_state_controller/franka_states"].last()
    values = first.simulation.sample("franka").values
    for field in ("q", "O_T_EE", "F_T_EE", "I_ee"):
        np.testing.assert_allclose(message[field], np.asarray(values[field]).ravel(), atol=1e-2)
    assert message["m_total"] == pytest.approx(message["m_ee"] + message["m_load"])
    assert message["robot_mode"] == 1
    assert message["time"] == pytest.approx(first.simulation.time, abs=0.05)
    assert not any(message["current_errors"].values())
    joints = first.wire.out["/franka_state_controller/joint_states"].last()
    assert list(joints["name"]) == [f"fr3_joint{i}" for i in range(1, 8)]
    assert list(joints["position"]) == list(message["q"])
    wrench = first.wire.out["/franka_state_controller/F_ext"].last()
    assert wrench["header"]["frame_id"] == "fr3_K"


def test_the_single_topics_of_ros_2_are_parts_of_the_robot_state(second):
    second.simulation.run(0.05)
    out, node = second.wire.out, "/franka_robot_state_broadcaster"
    state = out[f"{node}/robot_state"].last()
    assert out[f"{node}/robot_state"].type == "franka_msgs/FrankaRobotState"
    for topic, part, field in (
        ("current_pose", "o_t_ee", "pose"),
        ("last_desired_pose", "o_t_ee_d", "pose"),
        ("desired_end_effector_twist", "o_dp_ee_d", "twist"),
        ("external_wrench_in_base_frame", "o_f_ext_hat_k", "wrench"),
        ("external_wrench_in_stiffness_frame", "k_f_ext_hat_k", "wrench"),
    ):
        single = out[f"{node}/{topic}"].last()
        assert single[field] == state[part][field], topic
        assert single["header"] == state[part]["header"], topic
    for topic, part in (
        ("measured_joint_states", "measured_joint_state"),
        ("desired_joint_states", "desired_joint_state"),
        ("external_joint_torques", "tau_ext_hat_filtered"),
    ):
        single, whole = out[f"{node}/{topic}"].last(), state[part]
        assert list(single["name"]) == list(whole["name"]) == [f"fr3_joint{i}" for i in range(1, 8)]
        assert list(single["effort"]) == list(whole["effort"])
    T = np.asarray(second.simulation.sample("franka").values["O_T_EE"]).reshape(4, 4).T
    place = state["o_t_ee"]["pose"]["position"]
    np.testing.assert_allclose([place[a] for a in "xyz"], T[:3, 3], atol=1e-4)
    assert state["inertia_total"]["inertia"]["m"] == pytest.approx(0.73, abs=0.6)
    assert state["o_t_ee"]["header"]["frame_id"] == "fr3_link0"
    assert state["k_f_ext_hat_k"]["header"]["frame_id"] == "fr3_hand_tcp"


def test_the_frames_of_the_state_controller_lead_from_the_flange_to_the_stiffness_frame():
    with World(1, tf=True) as world:
        world.simulation.run(0.05)
        message = world.wire.out["/tf"].messages()
        (sent,) = [m for m in message if m["transforms"][0]["child_frame_id"] == "fr3_NE"][:1]
    pairs = [(item["header"]["frame_id"], item["child_frame_id"]) for item in sent["transforms"]]
    assert pairs == [("fr3_link8", "fr3_NE"), ("fr3_NE", "fr3_EE"), ("fr3_EE", "fr3_K")]
    nominal = sent["transforms"][0]["transform"]
    assert nominal["translation"]["z"] == pytest.approx(0.1034)
    assert nominal["rotation"]["z"] == pytest.approx(-np.sin(np.pi / 8))
    assert sent["transforms"][2]["transform"]["rotation"]["w"] == pytest.approx(1.0)


def test_a_namespace_stands_before_the_vendors_names():
    with World(2, namespace="/test_namespace") as world:
        world.simulation.run(0.05)
        goal = world.act("/test_namespace/franka_gripper/move", {"width": 0.05, "speed": 1.0})
        assert goal.state is GoalState.SUCCEEDED
        fingers = world.wire.out["/test_namespace/franka_gripper/joint_states"].last()
        assert sum(fingers["position"]) == pytest.approx(0.05, abs=5e-3)
        assert "/test_namespace/franka_robot_state_broadcaster/robot_state" in world.wire.out
        assert "/test_namespace/service_server/set_load" in world.wire.services
        assert "/test_namespace/fr3_arm_controller/follow_joint_trajectory" in world.wire.actions


def test_states_come_at_the_vendors_rate(first):
    handle = first.wire.out["/franka_state_controller/franka_states"]
    before = handle.count
    first.simulation.run(1.0)
    assert handle.count - before == 30


@pytest.mark.parametrize("index", range(7))
def test_every_setter_takes_valid_values_and_refuses_wrong_ones_with_the_vendors_words(world, index):
    version = world.wire.codec.version
    setter = SETTERS[version][index]
    service = f"/{SETTER_NODES[version]}/{setter.service}"
    valid = settings(version)
    request = {field: valid[field] for field in setter.fields.values()}
    assert world.call(service, **request) == {"success": True, "error": ""}
    for bad in (float("nan"), -1.0, 1e9):
        wrong = {key: bad if isinstance(value, float) else [bad] * len(value) for key, value in request.items()}
        if bad == 1e9 and ("collision" in service or "load" in service):
            continue  # any threshold above 0 and any mass is valid
        answer = world.call(service, **wrong)
        assert answer == {
            "success": False,
            "error": f"libfranka: {setter.command} command rejected: invalid argument!",
        }, (setter, bad)


def test_a_setter_during_a_motion_is_refused_with_the_vendors_words(first):
    first.arm.request("move", controller=2, motion_generator=4)
    first.simulation.step()
    answer = first.call("/franka_control/set_joint_impedance", joint_stiffness=[2000.0] * 7)
    first.arm.request("stop_move")
    first.simulation.run(0.2)
    text = 'libfranka: Set Joint Impedance command rejected: command not possible in the current mode ("Move")!'
    assert answer == {"success": False, "error": text}


def test_the_load_that_a_service_sets_is_in_the_state(first):
    first.call(
        "/franka_control/set_load",
        mass=0.3,
        F_x_center_load=[0.0, 0.01, 0.02],
        load_inertia=[1e-3, 0, 0, 0, 1e-3, 0, 0, 0, 1e-3],
    )
    first.simulation.run(0.05)
    message = first.wire.out["/franka_state_controller/franka_states"].last()
    assert message["m_load"] == pytest.approx(0.3)
    assert message["m_total"] == pytest.approx(1.03)
    assert list(message["F_x_Cload"]) == pytest.approx([0.0, 0.01, 0.02])
    first.call("/franka_control/set_load", mass=0.0, F_x_center_load=[0.0] * 3, load_inertia=[0.0] * 9)


def test_recovery_clears_a_reflex(world):
    node = "/franka_control" if world.wire.codec.version == 1 else "/action_server"
    assert world.act(f"{node}/error_recovery", {}).state is GoalState.SUCCEEDED  # nothing to recover from
    world.arm.request("move", controller=2, motion_generator=4)
    world.simulation.step()
    world.arm.inbox.put({"tau_J_d": np.zeros(7)})
    world.simulation.run(0.2)  # no further command comes: a reflex
    assert world.simulation.sample("franka").values["robot_mode"] == 4
    assert world.act(f"{node}/error_recovery", {}).state is GoalState.SUCCEEDED
    world.simulation.run(0.05)
    assert world.simulation.sample("franka").values["robot_mode"] == 1


def test_the_hand_homes_moves_grasps_and_says_what_failed(world):
    version = world.wire.codec.version
    homing = world.act("/franka_gripper/homing", {}, 10.0)
    assert (homing.state, homing.result) == (GoalState.SUCCEEDED, {"success": True, "error": ""})
    moved = world.act("/franka_gripper/move", {"width": 0.04, "speed": 0.1})
    assert moved.state is GoalState.SUCCEEDED
    assert world.arm.gripper.width == pytest.approx(0.04, abs=2e-3)
    wide = world.act("/franka_gripper/move", {"width": 0.5, "speed": 0.1})
    assert wide.state is GoalState.ABORTED
    assert wide.result == {"success": False, "error": "libfranka gripper: Command failed!"}
    goal = {"width": 0.03, "speed": 0.1, "force": 20.0, "epsilon": {"inner": 0.005, "outer": 0.005}}
    nothing = world.act("/franka_gripper/grasp", goal)
    assert nothing.result == {"success": False, "error": ""}
    assert nothing.state is (GoalState.SUCCEEDED if version == 1 else GoalState.ABORTED)
    for bad in ({"width": float("nan")}, {"speed": -1.0}, {"force": float("inf")}):
        assert world.act("/franka_gripper/grasp", {**goal, **bad}).state is GoalState.ABORTED


def test_a_gripper_command_moves_both_fingers(world):
    done = world.act("/franka_gripper/gripper_action", {"command": {"position": 0.035, "max_effort": 0.0}})
    assert done.state is GoalState.SUCCEEDED
    assert done.result["reached_goal"]
    assert done.result["position"] == pytest.approx(0.07, abs=2e-3)
    for bad in (0.05, -0.01, float("nan")):
        goal = world.act("/franka_gripper/gripper_action", {"command": {"position": bad, "max_effort": 0.0}})
        assert goal.state is GoalState.ABORTED
        assert "out of range" in goal.text


def test_a_cancelled_motion_stops_the_hand(world):
    _, server = world.wire.actions["/franka_gripper/move"]
    goal = server.submit("cancelled", {"width": 0.01, "speed": 0.01})
    world.simulation.run(0.2)
    server.cancel("cancelled")
    world.simulation.run(0.1)
    width = world.arm.gripper.width
    world.simulation.run(0.5)
    assert goal.state is GoalState.CANCELED
    assert world.arm.gripper.width == pytest.approx(width, abs=1e-3)
    assert width > 0.02


def test_stop_is_an_action_of_ros_1_and_a_service_of_ros_2(first, second):
    assert first.act("/franka_gripper/stop", {}).result == {"success": True, "error": ""}
    assert second.call("/franka_gripper/stop") == {"success": True, "message": ""}


READY = [0.0, -0.785398163, 0.0, -2.35619449, 0.0, 1.57079633, 0.785398163]


def point_to_point(q, speeds=(0.5,) * 7, tolerance=0.01):
    goal = {"goal_joint_configuration": list(q), "maximum_joint_velocities": list(speeds), "goal_tolerance": tolerance}
    return "/action_server/ptp_motion", goal


def test_a_point_to_point_motion_reaches_its_goal_within_its_speed(second):
    second.simulation.run(0.3)
    before = second.simulation.time
    goal = second.act(*point_to_point(READY))
    assert (goal.state, goal.result["target_status"]) == (GoalState.SUCCEEDED, {"status": 2})
    assert second.simulation.time - before > 0.15 / 0.5  # joint 4 goes 0.156 rad
    np.testing.assert_allclose(second.simulation.sample("franka").values["q_d"], READY, atol=0.01)
    second.simulation.run(0.3)
    assert second.simulation.sample("franka").values["robot_mode"] == 1
    assert second.act(*point_to_point(READY, speeds=())).state is GoalState.SUCCEEDED
    second.simulation.run(0.3)


@pytest.mark.parametrize(
    ("q", "speeds", "said"),
    [
        (READY[:6], [0.5] * 7, "size does not match"),
        ([*READY[:6], float("nan")], [0.5] * 7, "infinite or NaN"),
        (READY, [0.5] * 6, "must be 7, or none"),
        (READY, [-0.5] * 7, "Move command rejected: invalid argument"),
        (READY, [float("inf")] * 7, "Move command rejected: invalid argument"),
        ([*READY[:6], 4.0], [2.0] * 7, "Control aborted due to reflex."),
    ],
)
def test_a_wrong_point_to_point_goal_is_aborted_with_the_reason(second, q, speeds, said):
    goal = second.act(*point_to_point(q, speeds))
    second.simulation.run(0.3)
    recovered = second.act("/action_server/error_recovery", {})
    second.simulation.run(0.1)
    assert (goal.state, goal.result["target_status"]) == (GoalState.ABORTED, {"status": 3})
    assert said in goal.result["error_message"]
    assert recovered.state is GoalState.SUCCEEDED
    assert second.simulation.sample("franka").values["robot_mode"] == 1


def test_a_cancelled_point_to_point_motion_comes_to_rest_before_its_goal(second):
    second.act(*point_to_point(READY))
    second.simulation.run(0.3)
    _, server = second.wire.actions["/action_server/ptp_motion"]
    goal = server.submit("far", point_to_point([0.8, *READY[1:]], [0.2] * 7)[1])
    second.simulation.run(0.5)
    server.cancel("far")
    second.simulation.run(0.5)
    assert (goal.state, goal.result["target_status"]) == (GoalState.CANCELED, {"status": 3})
    values = second.simulation.sample("franka").values
    assert 0.0 < values["q"][0] < 0.3
    assert values["robot_mode"] == 1


def test_the_vendors_moveit_configurations_find_their_actions(first, second):
    # names in panda_moveit_config of ROS 1 and in franka_fr3_moveit_config of ROS 2
    for world, arm, hand in (
        (first, "/position_joint_trajectory_controller", "/franka_gripper"),
        (second, "/fr3_arm_controller", "/fr3_gripper"),
    ):
        kind, _ = world.wire.actions[f"{arm}/follow_joint_trajectory"]
        assert kind == "control_msgs/FollowJointTrajectory"
        kind, _ = world.wire.actions[f"{hand}/gripper_action"]
        assert kind == "control_msgs/GripperCommand"
    done = second.act("/fr3_gripper/gripper_action", {"command": {"position": 0.02, "max_effort": 0.0}})
    assert done.state is GoalState.SUCCEEDED
    assert second.arm.gripper.width == pytest.approx(0.04, abs=2e-3)


def test_two_arms_stand_below_their_names():
    with World(2, "franka-dual") as world:
        world.simulation.run(0.05)
        for side in ("left", "right"):
            state = world.wire.out[f"/{side}/franka_robot_state_broadcaster/robot_state"].last()
            assert list(state["measured_joint_state"]["name"]) == [f"{side}_joint{i}" for i in range(1, 8)]
            assert f"/{side}/service_server/set_load" in world.wire.services
            assert f"/{side}/franka_gripper/grasp" in world.wire.actions


def test_an_arm_without_a_hand_has_no_actions_of_one():
    with World(1, hand="none") as world:
        world.simulation.run(0.05)
        assert not any("/franka_gripper/" in name for name in (*world.wire.actions, *world.wire.out))
        assert len(world.wire.out["/joint_states"].last()["name"]) == 7


def test_a_recorded_arm_only_speaks(second):
    wire = KeptNode(1)
    bridge = RosBridge(None, wire, RosOptions(clock=False, tf=False))
    recorded = RecordedDevice("franka", 1_000_000, 1_000_000, second.arm.samples, signatures=("franka_arm",))
    bridge.topics.devices = {"franka": recorded}
    bridge.topics.writers["franka"] = []
    serve_arm(bridge.topics, "franka", recorded)
    assert not wire.services
    assert any(topic.endswith("/franka/q") for topic in wire.out)

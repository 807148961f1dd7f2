"""Types of exported packages, built by rosidl and used by real rclpy: hashes, states, services, actions.

control_msgs and franka_msgs, which no package index has, are built from the definitions that pliant speaks.
"""

import json
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import real

from pliant.franka_ros.definitions import ACTIONS_2, SERVICES_2
from pliant.robots import build_robot
from pliant.ros.package import describe_packages
from pliant.ros.wire import registry
from pliant.ros.wire.definitions_node import ACTIONS, NODE_SERVICES
from pliant.ros.wire.types import definition, parse

pytestmark = [pytest.mark.network, pytest.mark.slow]

FOLLOW = "control_msgs/FollowJointTrajectory"
GOALS = int(os.environ.get("PLIANT_ARM_GOALS", "6"))
"""Random goals that are sent to the end; PLIANT_ARM_GOALS=100 in the nightly run."""
EXTRA = 2 if GOALS < 100 else 10
"""Goals that are cancelled, and goals that are pre-empted."""


FRANKA = ("Errors", "Elbow", "CollisionIndicators", "FrankaRobotState", "GraspEpsilon")
"""Messages of franka_msgs that the steps use."""


def write_package(folder, name, messages, actions, services=()):
    """Write a package: names of its messages, its actions with their three parts, its services with their two."""
    types = registry(2)
    files = {f"msg/{kind}.msg": definition(types.message(f"{name}/{kind}"), 2) for kind in messages}
    for folder_name, suffix, kinds in (("action", "action", actions), ("srv", "srv", dict(services))):
        for kind, parts in kinds.items():
            files[f"{folder_name}/{kind}.{suffix}"] = "---\n".join(
                definition(parse(f"{name}/{kind}", text), 2) for text in parts
            )
    for path, text in files.items():
        file = folder / name / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def vendors_packages(folder):
    """Write control_msgs, franka_msgs and controller_manager_msgs; return their names."""
    franka = {kind: ACTIONS_2[f"franka_msgs/{kind}"] for kind in ("ErrorRecovery", "Homing", "Move", "Grasp")}
    write_package(
        folder,
        "control_msgs",
        ("JointTolerance", "JointComponentTolerance", "GripperCommand"),
        {"FollowJointTrajectory": ACTIONS[FOLLOW], "GripperCommand": ACTIONS_2["control_msgs/GripperCommand"]},
    )
    write_package(folder, "franka_msgs", FRANKA, franka, {"SetLoad": SERVICES_2["franka_msgs/SetLoad"]})
    lists = ("ListControllers", "ListControllerTypes", "ListHardwareComponents", "ListHardwareInterfaces")
    services = {kind: NODE_SERVICES[f"controller_manager_msgs/{kind}"] for kind in (*lists, "SwitchController")}
    kinds = ("ChainConnection", "ControllerState", "HardwareInterface", "HardwareComponentState")
    write_package(folder, "controller_manager_msgs", kinds, {}, services)
    return ["control_msgs", "franka_msgs", "controller_manager_msgs"]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return the interpreter with rclpy, the variables that give it the types, and the hashes of rosidl."""
    python, why = real.rclpy_python("jazzy")
    if python is None:
        pytest.skip(why)
    folder = tmp_path_factory.mktemp("types")
    packages = describe_packages(build_robot("qbmove-2dof", {}), "qbmove-2dof")
    packages.write(folder / "src")
    names = [*packages.packages[:-1], *vendors_packages(folder / "src")]
    root = Path(python).parents[1]
    env = {**real.clean_env(), "LD_LIBRARY_PATH": str(root / "lib")}
    words = [python, real.FOLDER / "rosidl_build.py", folder / "built", *(folder / "src" / name for name in names)]
    code, out, err = real.run(words, env, 300.0)
    assert code == 0, (out, err)
    env |= {
        "LD_LIBRARY_PATH": f"{folder / 'built' / 'lib'}:{root / 'lib'}",
        "PYTHONPATH": str(folder / "built" / "python"),
        "AMENT_PREFIX_PATH": str(root),
    }
    return python, env, json.loads((folder / "built" / "hashes.json").read_text())


@pytest.fixture
def run(built):
    """Serve a robot and run a step beside it."""
    started = []

    def start(robot, options, *step, settings=()):
        python, env, _ = built
        domain = real.free_domain()
        words = ["run", robot, "--bridge", f"ros2:domain={domain}{options}", "--no-check", *settings]
        started.append(real.pliant(words, os.environ))
        words = [python, real.FOLDER / "ros2_types_steps.py", *map(str, step)]
        started.append(real.Program(words, {**env, "ROS_DOMAIN_ID": str(domain)}))
        out = real.finish(started[-1], 1500.0)
        return json.loads(next(line for line in out.splitlines() if line.startswith("RESULT "))[7:])

    yield start
    for process in started:
        process.close()


def test_rosidl_computes_the_hashes_that_the_bridge_announces(built):
    own = {name: value for name, value in built[2].items() if name.split("/")[0] in (
        "viactors_plugins", "pliant_msgs", "control_msgs", "franka_msgs")}  # fmt: skip
    assert {"viactors_plugins/msg/StateInfo", "pliant_msgs/srv/Step", "control_msgs/msg/JointTolerance"} <= own.keys()
    types = registry(2)
    plain = {name: name.replace("/srv/", "/") if name.count("_") < 2 else name for name in own}
    found = {name: types.rihs01(plain[name]) for name in own if "/action/" not in name}
    assert sum(name.startswith("franka_msgs/") for name in found) >= len(FRANKA)
    assert found == {name: own[name] for name in found}


def test_states_are_heard_and_steps_made_by_the_exported_types(run):
    found = run("qbmove-2dof", "", "echo", "qbmove_2dof", "joint_1")
    assert found["type"] == ["viactors_plugins/msg/StateInfo"]
    assert found["success"] == [True, True]
    assert found["stepped"] == 25_000_000
    assert "must be 1 to 1000000" in found["wrong"]


def test_random_goals_of_seven_joints_are_reached_cancelled_and_pre_empted_by_rclpy(run):
    found = run("fr3", ",joint_states=100", "goals", GOALS, EXTRA)
    assert found["done"] == [[4, 0]] * GOALS  # action_msgs/GoalStatus.STATUS_SUCCEEDED
    assert found["worst"] < 0.02
    assert found["cancelled"] == [5] * EXTRA  # STATUS_CANCELED
    # rcl_action knows no pre-emption: the goal that made room is cancelled by the server.
    assert found["preempted"] == [[5, 4]] * EXTRA
    assert not found["refused"]
    assert found["feedback"] > 5 * GOALS


def test_a_client_of_franka_ros2_reads_sets_recovers_and_grasps_by_the_vendors_types(run):
    found = run("fr3", ",joint_states=100", "franka")
    assert found["q"] == pytest.approx([0.0, -0.6, 0.0, -2.2, 0.0, 1.6, 0.785], abs=0.02)
    assert (found["mode"], found["errors"]) == (1, False)
    assert found["m_total"] == pytest.approx(0.73, abs=1e-6)
    assert found["pose"][:3] == pytest.approx(found["tf"], abs=1e-3)
    assert found["load"] == [True, ""]
    assert found["loaded"] == pytest.approx(0.93, abs=1e-6)
    assert found["wrong_load"] == [False, "libfranka: Set Load command rejected: invalid argument!"]
    assert found["homing"] == [4, True, ""]  # action_msgs/GoalStatus.STATUS_SUCCEEDED
    assert found["move"] == [4, True, ""]
    assert found["width"] == pytest.approx(0.05, abs=2e-3)
    assert found["wide"] == [6, False, "libfranka gripper: Command failed!"]  # STATUS_ABORTED
    assert found["nothing"][1:] == [False, ""]
    assert found["command"][0] == 4
    assert found["command"][1:] == [pytest.approx(0.04, abs=2e-3), True]  # the width, as the vendor answers
    assert found["fingers"] == pytest.approx([0.02, 0.02], abs=1e-3)
    assert found["recovery"] == 4


@pytest.mark.parametrize(
    ("robot", "controller", "settings"),
    [
        ("fr3", "/fr3_arm_controller", ()),
        # With the friction of its bearings a soft qbMove stops 0.16 rad short, and its goal is aborted.
        (
            "qbmove-2dof",
            "/qbmove_2dof/joint_trajectory_controller",
            ("--set", "robot.friction=0", "--set", "robot.preset=0.5"),
        ),
    ],
    ids=["fr3", "qbmove-2dof"],
)
def test_what_the_simple_controller_manager_of_moveit_sends_moves_and_stops_a_robot(run, robot, controller, settings):
    found = run(robot, ",joint_states=100", "moveit", controller, settings=settings)
    assert len(found["joints"]) == (7 if robot == "fr3" else 2)
    assert found["done"] == [4, 0]  # STATUS_SUCCEEDED, SUCCESSFUL
    assert found["cancelled"] == [5, 0, 1]  # STATUS_CANCELED
    assert found["again"] == [4, 0]
    assert found["off"] == [6, -4]  # STATUS_ABORTED, PATH_TOLERANCE_VIOLATED
    assert found["feedback"] > 20


def test_the_services_that_ros2controlcli_calls_list_and_switch_the_controllers_of_a_robot(run):
    group, efforts = "qbmove_2dof/joint_trajectory_controller", "qbmove_2dof/forward_effort_controller"
    found = run("qbmove-2dof", "", "control", efforts, group)
    before, between = found["before"], found["between"]
    assert before["joint_state_broadcaster"][1] == "active"
    assert before[group][:2] == ["joint_trajectory_controller/JointTrajectoryController", "active"]
    assert before[efforts][1] == "inactive"
    assert {kind for kind, _, _ in before.values()} <= set(found["types"])
    assert found["component"] == ["system", "active"]
    assert all(found["commands"][name] == [True, True] for name in before[group][2])
    assert len(found["states"]) == 6
    assert (found["switched"], found["back"]) == ([True, ""], [True, ""])
    assert (between[group][1], between[efforts][1]) == ("inactive", "active")
    # What moved the same joints beside them stays inactive, as in controller_manager.
    assert [found["after"][name] for name in (group, efforts)] == [before[name] for name in (group, efforts)]
    assert found["unknown"][0] is False
    assert "no_such_controller" in found["unknown"][1]

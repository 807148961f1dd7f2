"""Types of exported packages, built by rosidl and used by real rclpy: hashes, states, services, the trajectory action.

control_msgs, which no package index has, is built from the definitions that pliant speaks.
"""

import json
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import real

from pliant.robots import build_robot
from pliant.ros.package import describe_packages
from pliant.ros.package_types import definition
from pliant.ros.wire import registry
from pliant.ros.wire.definitions_node import ACTIONS
from pliant.ros.wire.types import parse

pytestmark = [pytest.mark.network, pytest.mark.slow]

FOLLOW = "control_msgs/FollowJointTrajectory"
GOALS = int(os.environ.get("PLIANT_ARM_GOALS", "6"))
"""Random goals that are sent to the end; PLIANT_ARM_GOALS=100 in the nightly run."""
EXTRA = 2 if GOALS < 100 else 10
"""Goals that are cancelled, and goals that are pre-empted."""


def control_msgs(folder):
    """Write the package of the action."""
    files = {f"action/{FOLLOW.partition('/')[2]}.action": "---\n".join(
        definition(parse(FOLLOW, text), 2) for text in ACTIONS[FOLLOW])}  # fmt: skip
    for name in ("JointTolerance", "JointComponentTolerance"):
        files[f"msg/{name}.msg"] = definition(registry(2).message(f"control_msgs/{name}"), 2)
    for name, text in files.items():
        file = folder / "control_msgs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return the interpreter with rclpy, the variables that give it the types, and the hashes of rosidl."""
    python, why = real.rclpy_python("jazzy")
    if python is None:
        pytest.skip(why)
    folder = tmp_path_factory.mktemp("types")
    packages = describe_packages(build_robot("qbmove-2dof", {}), "qbmove-2dof")
    packages.write(folder / "src")
    control_msgs(folder / "src")
    names = [*packages.packages[:-1], "control_msgs"]
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

    def start(robot, options, *step):
        python, env, _ = built
        domain = real.free_domain()
        words = ["run", robot, "--bridge", f"ros2:domain={domain}{options}", "--no-check"]
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
        "viactors_plugins", "pliant_msgs", "control_msgs")}  # fmt: skip
    assert {"viactors_plugins/msg/StateInfo", "pliant_msgs/srv/Step", "control_msgs/msg/JointTolerance"} <= own.keys()
    types = registry(2)
    plain = {name: name.replace("/srv/", "/") if name.count("_") < 2 else name for name in own}
    found = {name: types.rihs01(plain[name]) for name in own if not name.startswith("control_msgs/action/Follow")}
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

"""One trajectory for a whole group of joints: reached, cancelled, pre-empted, refused with the action's own codes."""

import math

import numpy as np
import pytest
from ros_runs import FOLLOW, RosRun

from pliant.base.errors import DeviceError
from pliant.robots.loading import load
from pliant.ros.bridge.actions import GoalState

JOINTS = ["joint_1", "joint_2"]
GROUP = "/joint_trajectory_controller"


@pytest.fixture
def arm():
    with RosRun("qbmove-2dof", clock=False) as run:
        run.simulation.step(20)
        yield run


@pytest.mark.parametrize("mode", [1, 2, 3, 5, 6])
def test_all_joints_reach_a_goal_together_in_each_mode_that_follows_positions(mode):
    with RosRun("qbmove-2dof", built={"mode": mode}, clock=False) as run:
        run.simulation.step(20)
        goal = run.send(GROUP, JOINTS[::-1], (0.5, (0.2, -0.3)))
        assert run.end(goal) == (GoalState.SUCCEEDED, 0)
        run.simulation.step(1500)
        values = run.simulation.sample("board").values
        # In mode 1 the link hangs from a PID without integral term.
        where = values["position"] if mode == 1 else values["equilibrium"]
        assert where == pytest.approx([-0.3, 0.2], abs=0.05 if mode == 1 else 0.02)


def test_names_are_those_of_the_joint_states(arm):
    assert arm.controller(GROUP).handler.joints == arm.wire.out["/joint_states"].last()["name"]


@pytest.fixture(scope="module", params=[1, 2])
def standing(request):
    with RosRun("qbmove-2dof", version=request.param, clock=False) as run:
        run.simulation.step(20)
        yield run


GOALS = {1: "control_msgs/FollowJointTrajectoryGoal", 2: "control_msgs/action/FollowJointTrajectory_Goal"}
TOLERANCE = {"name": "", "position": 0.1, "velocity": 0.1, "acceleration": 0.0}
WRONG = [
    ({"joint_names": ["elbow"]}, -2),
    ({"joint_names": []}, -2),
    ({"joint_names": [0]}, -2),
    ({"joint_names": [0, 0]}, -2),
    ({"joint_names": [0, 1, 0]}, -2),
    ({"points": []}, -1),
    ({"times": [0.5, 0.4]}, -1),
    ({"times": [0.5, 0.5]}, -1),
    ({"times": [-0.5, 0.5]}, -1),
    *[({field: [value, 0.1]}, -1) for value in (math.nan, math.inf, -math.inf)
      for field in ("positions", "velocities", "accelerations")],
    *[({field: [0.1] * n}, -1) for n in (1, 3) for field in ("positions", "velocities", "accelerations")],
    ({"positions": []}, -1),
    *[({bounds: [{**TOLERANCE, "name": "elbow"}]}, -2) for bounds in ("path_tolerance", "goal_tolerance")],
    *[({bounds: [{**TOLERANCE, "name": 0, field: math.nan}]}, -1)
      for bounds in ("path_tolerance", "goal_tolerance") for field in ("position", "velocity")],
]  # fmt: skip
"""Change of a goal for two joints, which stand for themselves as 0 and 1, and the code of the action."""


def wrong_goal(codec, joints, change):
    """Return a goal as its wire carries it."""

    def named(name):
        return joints[name] if isinstance(name, int) else name

    fields = {k: change[k] for k in ("positions", "velocities", "accelerations") if k in change}
    points = [
        {"positions": [0.1, 0.1], "velocities": [], "accelerations": [], "time_from_start": round(t * 1e9)} | fields
        for t in change.get("times", [0.5])
    ]
    if "accelerations" in fields and "velocities" not in fields:
        points[0]["velocities"] = [0.0, 0.0]
    names = [named(name) for name in change.get("joint_names", (0, 1))]
    goal = {"trajectory": {"joint_names": names, "points": change.get("points", points)}}
    for bounds in ("path_tolerance", "goal_tolerance"):
        goal[bounds] = [{**row, "name": named(row["name"])} for row in change.get(bounds, [])]
    kind = GOALS[codec.version]
    return codec.decode(kind, codec.encode(kind, goal))


@pytest.mark.parametrize(("change", "code"), WRONG)
def test_a_wrong_goal_has_the_code_of_the_action_and_a_sentence_in_every_controller(standing, change, code):
    servers = [server for kind, server in standing.wire.actions.values() if kind == FOLLOW]
    assert len(servers) == 5
    for k, server in enumerate(servers):
        goal = server.submit(f"{k} {change}", wrong_goal(standing.wire.codec, server.handler.joints, change))
        assert (goal.state, goal.result["error_code"]) == (GoalState.REJECTED, code)
        assert len(goal.result["error_string"]) > 20
        assert goal.text == goal.result["error_string"]


TRAJECTORIES = [change for change, _ in WRONG if not {"path_tolerance", "goal_tolerance"} & change.keys()]
TRAJECTORIES.remove({"points": []})  # which stops the motion


@pytest.mark.parametrize("change", TRAJECTORIES)
def test_a_wrong_trajectory_without_a_goal_is_told_and_moves_nothing(standing, change):
    for controller in standing.bridge.topics.controllers:
        trajectory = wrong_goal(standing.wire.codec, controller.joints, change)["trajectory"]
        told = len(standing.wire.said)
        standing.wire.into[controller.topic][1](trajectory)
        assert len(standing.wire.said) == told + 1
        assert controller._queued is None


def test_a_goal_whose_time_is_over_is_refused_as_old(arm):
    arm.simulation.step(200)
    goal = arm.send(GROUP, JOINTS, (0.05, (0.1, 0.1)), start=1)
    assert (goal.state, goal.result["error_code"]) == (GoalState.REJECTED, -3)


def test_tolerances_of_a_goal_end_it(arm):
    tight = [{"name": "joint_1", "position": 1e-6, "velocity": 0.0, "acceleration": 0.0}]
    goal = arm.send(GROUP, JOINTS, (0.2, (0.8, 0.8)), path_tolerance=tight)
    assert arm.end(goal) == (GoalState.ABORTED, -4)
    goal = arm.send(GROUP, JOINTS, (0.05, (-0.5, -0.5)), goal_tolerance=tight)
    assert arm.end(goal) == (GoalState.ABORTED, -5)


def test_a_goal_is_cancelled_and_a_newer_one_takes_its_place_without_a_jump(arm):
    server = arm.controller(GROUP)
    first = arm.send(GROUP, JOINTS, (2.0, (1.0, 1.0)))
    arm.simulation.step(500)
    before = server.handler.state()[0].position
    second = arm.send(GROUP, JOINTS, (1.0, (0.0, 0.0)))
    arm.simulation.step()
    assert (first.state, second.state) == (GoalState.CANCELED, GoalState.ACTIVE)
    assert server.handler.state()[0].position == pytest.approx(before, abs=2e-3)
    server.cancel(second.id)
    arm.simulation.step()
    assert second.state is GoalState.CANCELED
    held = arm.simulation.sample("board").values["equilibrium"].copy()
    arm.simulation.step(300)
    assert arm.simulation.sample("board").values["equilibrium"] == pytest.approx(held, abs=0.05)


def test_the_group_and_the_controllers_of_one_joint_take_turns(arm):
    whole = arm.send(GROUP, JOINTS, (2.0, (0.5, 0.5)))
    arm.simulation.step(100)
    names = ["joint_1_shaft_joint", "joint_1_stiffness_preset_virtual_joint"]
    single = arm.send("joint_1_position_and_preset", names, (2.0, (0.1, 0.1)))
    arm.simulation.step(2)
    assert (whole.state, single.state) == (GoalState.CANCELED, GoalState.ACTIVE)
    again = arm.send(GROUP, JOINTS, (2.0, (0.5, 0.5)))
    arm.simulation.step(2)
    assert (single.state, again.state) == (GoalState.CANCELED, GoalState.ACTIVE)


def test_joints_that_take_torques_have_no_group_and_a_switch_ends_the_goal(arm):
    with RosRun("qbmove-2dof", built={"mode": 4}, clock=False) as run:
        assert not [name for name in run.wire.actions if GROUP in name]
    goal = arm.send(GROUP, JOINTS, (2.0, (0.5, 0.5)))
    arm.simulation.step(10)
    arm.simulation.devices["joint_2"].request("set_mode", mode=4)
    assert arm.end(goal) == (GoalState.ABORTED, -1)
    with pytest.raises(DeviceError, match="joint_2 is in mode 4"):
        arm.controller(GROUP).handler.limb.check(None)


def test_each_board_of_a_biped_is_a_group():
    with RosRun("biped", clock=False) as run:
        run.simulation.step(40)
        boards = {"torso": 3, "left_arm": 4, "right_arm": 4, "left_leg": 6, "right_leg": 6}
        for board, count in boards.items():
            limb = run.controller(f"/biped/{board}_trajectory_controller").handler.limb
            assert len(limb.joints) == count
        joints = run.controller("left_arm").handler.joints
        goal = run.send("left_arm", joints, (0.5, (0.3, 0.3, 0.1, -0.4)))
        assert run.end(goal) == (GoalState.SUCCEEDED, 0)
        run.simulation.step(300)
        reached = run.simulation.sample("left_arm").values["position"]
        assert reached == pytest.approx([0.3, 0.3, 0.1, -0.4], abs=0.05)


def test_the_position_servos_of_a_plain_model_are_a_group(tmp_path):
    path = tmp_path / "two.xml"
    path.write_text(
        '<mujoco><option gravity="0 0 0"/><worldbody><body name="a"><joint name="a" damping="0.1"/><geom size="0.1"/>'
        '<body name="b" pos="0.5 0 0"><joint name="b" damping="0.1"/><geom size="0.1"/></body></body></worldbody>'
        '<actuator><position name="a_servo" joint="a" kp="400" kv="40" gear="2"/>'
        '<position name="b_servo" joint="b" kp="400" kv="40"/><motor name="push" joint="b"/></actuator></mujoco>'
    )
    with RosRun(load(path), clock=False) as run:
        run.simulation.step(5)
        goal = run.send(GROUP, ["b", "a"], (0.5, (0.4, -0.2)))
        assert run.end(goal) == (GoalState.SUCCEEDED, 0)
        run.simulation.step(1000)
        qpos = run.simulation.engine.port("state/qpos")
        assert qpos == pytest.approx(np.array([-0.2, 0.4]), abs=5e-3)

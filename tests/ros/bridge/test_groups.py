"""One trajectory for a whole group of joints: reached, cancelled, pre-empted, refused with the action's own codes."""

import math

import daily
import numpy as np
import pytest
from robot_data import needs_data
from ros_runs import FOLLOW, RosRun

from pliant.base.errors import DeviceError
from pliant.robots import list_robots
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


def _robots():
    """The robots of the catalogue on both generations of ROS; those that `make test` leaves out are nightly."""
    for robot in list_robots():
        by_day = robot.name == "qbmove-2dof"
        for version in (1, 2) if by_day or daily.night else ():
            marks = [] if by_day else pytest.mark.nightly
            yield pytest.param((robot.name, version), marks=marks, id=f"{robot.name}-{version}")


@pytest.fixture(scope="module", params=_robots())
def standing(request):
    name, version = request.param
    needs_data(name)
    with RosRun(name, version=version, clock=False) as run:
        run.simulation.step(60)
        yield run


GOALS = {1: "control_msgs/FollowJointTrajectoryGoal", 2: "control_msgs/action/FollowJointTrajectory_Goal"}
TOLERANCE = {"name": "", "position": 0.1, "velocity": 0.1, "acceleration": 0.0}
FIELDS = ("positions", "velocities", "accelerations")
BOUNDS = ("path_tolerance", "goal_tolerance")


def names(change):
    return lambda goal: goal["trajectory"].update(joint_names=change(goal["trajectory"]["joint_names"]))


def times(*found):
    def change(goal):
        (point,) = goal["trajectory"]["points"]
        goal["trajectory"]["points"] = [{**point, "time_from_start": round(t * 1e9)} for t in found]

    return change


def values(field, change):
    def changed(goal):
        (point,) = goal["trajectory"]["points"]
        still = [0.0] * len(point["positions"])
        if field == "accelerations":
            point["velocities"] = still
        point[field] = change(point["positions"] if field == "positions" else still)

    return changed


def bound(which, **row):
    def change(goal):
        goal[which] = [{**TOLERANCE, "name": goal["trajectory"]["joint_names"][0], **row}]

    return change


WRONG = {
    "another joint": (names(lambda found: [*found[:-1], "elbow"]), -2),
    "no joints": (names(lambda found: []), -2),
    "one joint less": (names(lambda found: found[:-1]), -2),
    "a joint twice": (names(lambda found: [*found, found[0]]), -2),
    "no points": (times(), -1),
    "times that go back": (times(0.5, 0.4), -1),
    "equal times": (times(0.5, 0.5), -1),
    "a negative time": (times(-0.5, 0.5), -1),
    **{f"{value} in {field}": (values(field, lambda found, value=value: [value, *found[1:]]), -1)
       for value in (math.nan, math.inf, -math.inf) for field in FIELDS},
    **{f"a value more in {field}": (values(field, lambda found: [*found, 0.0]), -1) for field in FIELDS},
    **{f"a value less in {field}": (values(field, lambda found: [0.0] * (len(found) - 1 or 3)), -1)
       for field in FIELDS},
    "no positions": (values("positions", lambda found: []), -1),
    **{f"{which} of another joint": (bound(which, name="elbow"), -2) for which in BOUNDS},
    **{f"nan in {which} of the {field}": (bound(which, **{field: math.nan}), -1)
       for which in BOUNDS for field in ("position", "velocity")},
}  # fmt: skip
"""What is wrong with a goal, and the code of the action."""


def follow_servers(run):
    return [server for kind, server in run.wire.actions.values() if kind == FOLLOW]


def goal_of(codec, controller, *changes, after=0.5):
    """Return a goal that holds the joints where they are, but for changes, as its wire carries it."""
    held = controller.limb.standing().position.tolist()
    point = {"positions": held, "velocities": [], "accelerations": [], "time_from_start": round(after * 1e9)}
    trajectory = {"joint_names": list(controller.joints), "points": [point]}
    goal = {"trajectory": trajectory, **{which: [] for which in BOUNDS}}
    for change in changes:
        change(goal)
    kind = GOALS[codec.version]
    return codec.decode(kind, codec.encode(kind, goal))


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_goal_has_the_code_of_the_action_and_a_sentence_in_every_controller(standing, what):
    change, code = WRONG[what]
    for k, server in enumerate(follow_servers(standing)):
        goal = server.submit(f"{k} {what}", goal_of(standing.wire.codec, server.handler, change))
        assert (goal.state, goal.result["error_code"]) == (GoalState.REJECTED, code)
        assert len(goal.result["error_string"]) > 20
        assert goal.text == goal.result["error_string"]


@pytest.mark.parametrize("what", [what for what in WRONG if "tolerance" not in what and what != "no points"])
def test_a_wrong_trajectory_without_a_goal_is_told_and_moves_nothing(standing, what):
    for controller in standing.bridge.topics.controllers:
        trajectory = goal_of(standing.wire.codec, controller, WRONG[what][0])["trajectory"]
        told = len(standing.wire.said)
        standing.wire.into[controller.topic][1](trajectory)
        assert len(standing.wire.said) == told + 1
        assert controller._queued is None


def test_goals_of_one_cycle_take_turns_and_what_is_cancelled_early_never_begins(standing):
    for k, server in enumerate(follow_servers(standing)):
        first, second, third = (
            server.submit(f"turn {k} {n}", goal_of(standing.wire.codec, server.handler)) for n in range(3)
        )
        assert server.cancel("nobody") == []
        assert server.cancel(third.id) == [third]
        assert (third.state, third.begun) == (GoalState.CANCELED, False)
        standing.simulation.step()
        assert (first.state, second.state) == (GoalState.CANCELED, GoalState.ACTIVE)
        assert (third.begun, "took its place" in first.text) == (False, True)
        recalled = server.recall(f"recalled {k}", {}, 0, "it was cancelled before it came")
        assert (recalled.state, recalled.begun) == (GoalState.CANCELED, False)
        server.cancel(second.id)
        standing.simulation.step()
        assert second.state is GoalState.CANCELED


@pytest.mark.parametrize("speed", [1e3, 1e9, 1e300])
def test_a_goal_that_no_motor_can_follow_ends_with_a_code_and_the_robot_goes_on(standing, speed):
    fast = values("velocities", lambda found: [speed, *found[1:]])
    for k, server in enumerate(follow_servers(standing)):
        asked = goal_of(standing.wire.codec, server.handler, fast, times(0.02, 0.04))
        goal = server.submit(f"fast {k} {speed}", asked)
        state, code = standing.end(goal, steps=400)
        assert state.ended, goal.text
        assert state is GoalState.SUCCEEDED or (code in (-1, -4, -5) and len(goal.text) > 20)
    standing.simulation.reset()
    standing.simulation.step(60)


def test_a_goal_that_a_reset_ends_has_a_code_that_is_not_success(standing):
    for k, server in enumerate(follow_servers(standing)):
        asked = goal_of(standing.wire.codec, server.handler, after=5.0)
        goal = server.submit(f"reset {k}", asked)
        standing.simulation.step(5)
        assert goal.state is GoalState.ACTIVE, goal.text
        standing.simulation.reset()
        standing.simulation.step(60)
        assert (goal.state, goal.result["error_code"]) == (GoalState.ABORTED, -1)


def test_a_joint_that_urdf_calls_continuous_takes_the_short_way(arm):
    near = arm.simulation.sample("board").values["equilibrium"] + np.array([0.1, -0.1])
    goal = arm.send(GROUP, JOINTS, (0.3, near + 2 * math.pi))
    assert arm.end(goal) == (GoalState.SUCCEEDED, 0)
    arm.simulation.step(500)
    assert arm.simulation.sample("board").values["equilibrium"] == pytest.approx(near, abs=0.02)


@pytest.mark.parametrize("version", [1, 2])
def test_a_velocity_of_the_last_point_is_refused_in_ros_2_alone(version):
    with RosRun("qbmove-2dof", version=version, clock=False) as run:
        run.simulation.step(20)
        goal = run.send(GROUP, JOINTS, (0.1, (0.05, 0.05), {"velocities": [0.0, 0.1]}))
        state, code = run.end(goal, 200)
        assert (state, code) == ((GoalState.SUCCEEDED, 0) if version == 1 else (GoalState.REJECTED, -1))


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
        '<position name="b_servo" joint="b" kp="400" kv="40" gear="-1"/><motor name="push" joint="b"/>'
        '<position name="idle" joint="b" kp="400" gear="0"/></actuator></mujoco>'
    )
    with RosRun(load(path), clock=False) as run:
        run.simulation.step(5)
        goal = run.send(GROUP, ["b", "a"], (0.5, (0.4, -0.2)))
        assert run.end(goal) == (GoalState.SUCCEEDED, 0)
        run.simulation.step(1000)
        qpos = run.simulation.engine.port("state/qpos")
        assert qpos == pytest.approx(np.array([-0.2, 0.4]), abs=5e-3)

"""The whole arm by one trajectory, as the vendor's controller takes it."""

import contextlib

import numpy as np
import pytest
from ros_runs import RosRun

from pliant.franka.wire import fci
from pliant.ros.bridge.actions import GoalState

ARM = "/fr3_arm_controller"
HOME = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])


@pytest.fixture(scope="module")
def run():
    with RosRun("fr3", built={"meshes": "shapes"}, clock=False) as made:
        made.simulation.step(50)
        yield made


@pytest.fixture(scope="module")
def joints(run):
    return run.controller(ARM).handler.joints


def smooth(time, target):
    return time, target, {"velocities": [0.0] * 7, "accelerations": [0.0] * 7}


def test_random_goals_are_reached_cancelled_and_pre_empted(run, joints):
    rng = np.random.default_rng(7)
    arm, server = run.simulation.devices["franka"], run.controller(ARM)
    for k in range(4):
        target = HOME + rng.uniform(-0.4, 0.4, 7)
        goal = run.send(ARM, joints, smooth(0.6, target) if k % 2 else (1.0, target))
        if k % 4 == 2:
            run.simulation.step(200)
            server.cancel(goal.id)
            assert run.end(goal) == (GoalState.CANCELED, 0)
        elif k % 4 == 3:
            run.simulation.step(200)
            other = run.send(ARM, joints, smooth(0.8, HOME))
            assert run.end(other) == (GoalState.SUCCEEDED, 0)
            assert goal.state is GoalState.CANCELED
        else:
            assert run.end(goal) == (GoalState.SUCCEEDED, 0)
            run.simulation.step(500)
            q = np.asarray(run.simulation.sample("franka").values["q"])
            assert q == pytest.approx(target, abs=0.005)  # p of joint 7 is 50 N m/rad, without integral term
        run.simulation.step(800)
        assert arm.cabinet.state.robot_mode == fci.RobotMode.IDLE
        assert not np.any(arm.cabinet.state.reflex_reason)


def test_a_linear_path_without_velocities_ends_in_no_reflex(run, joints):
    goal = run.send(ARM, joints, (0.5, HOME + 0.2), (1.0, HOME))
    assert run.end(goal) == (GoalState.SUCCEEDED, 0)
    run.simulation.step(300)


def test_points_beyond_the_limits_are_refused(run, joints):
    goal = run.send(ARM, joints, (0.5, HOME), (1.0, np.where(np.arange(7) == 3, 4.0, HOME)))
    assert (goal.state, goal.result["error_code"]) == (GoalState.REJECTED, -1)
    assert "point 1 has fr3_joint4" in goal.text


def test_a_client_that_moves_the_arm_has_it_alone(run, joints):
    arm = run.simulation.devices["franka"]
    arm.client = "the client at 127.0.0.1"
    try:
        goal = run.send(ARM, joints, (0.5, HOME))
    finally:
        arm.client = ""
    assert (goal.state, goal.result["error_code"]) == (GoalState.REJECTED, -1)
    assert "must disconnect first" in goal.text


def test_a_user_stop_aborts_the_goal_and_says_why(run, joints):
    arm = run.simulation.devices["franka"]
    goal = run.send(ARM, joints, smooth(2.0, HOME + 0.3))
    run.simulation.step(300)
    arm.user_stop(True)
    assert run.end(goal) == (GoalState.ABORTED, -1)
    assert "robot ended the motion" in goal.text
    arm.user_stop(False)
    run.simulation.step(50)
    again = run.send(ARM, joints, smooth(1.0, HOME))
    assert run.end(again) == (GoalState.SUCCEEDED, 0)
    run.simulation.step(300)


def state_listed(run):
    rows = run.wire.call("/controller_manager/list_controllers")["controller"]
    claimed = {r["name"] for r in run.wire.call("/controller_manager/list_hardware_interfaces")["command_interfaces"]
               if r["is_claimed"]}  # fmt: skip
    (row,) = [row for row in rows if row["name"] == ARM.strip("/")]
    assert set(row["claimed_interfaces"]) == claimed
    assert bool(claimed) == (row["state"] == "active")
    return row["state"]


def user_stopped(arm, step):
    arm.user_stop(True)
    yield
    arm.user_stop(False)


def guided(arm, step):
    arm.guide(True)
    yield
    arm.guide(False)


def locked(arm, step):
    arm.brakes(True)
    yield
    arm.brakes(False)


def in_reflex(arm, step):
    arm.ask(fci.Move(controller=fci.Controller.EXTERNAL, motion_generator=fci.MotionGenerator.NONE))
    arm.inbox.put({"tau_J_d": np.full(7, 80.0), "finished": 0.0}, mode="torque")
    step(5)
    yield
    arm.ask(fci.AutomaticErrorRecovery())


def moved_by_another(arm, step):
    arm.ask(fci.Move(controller=fci.Controller.JOINT_IMPEDANCE, motion_generator=fci.MotionGenerator.JOINT_VELOCITY))
    step(1)
    yield
    arm.ask(fci.StopMove())


@pytest.mark.parametrize("other", [user_stopped, guided, locked, in_reflex, moved_by_another])
def test_the_controller_is_listed_active_exactly_where_it_takes_a_goal(run, joints, other):
    """In each mode of the robot but idle and its own motions a goal has the action's code and a sentence."""
    arm, step = run.simulation.devices["franka"], run.simulation.step
    assert state_listed(run) == "active"
    with contextlib.contextmanager(other)(arm, step):
        step(2)
        refused = run.send(ARM, joints, (0.5, HOME))
        step(2)
        assert (refused.state, refused.result["error_code"]) == (GoalState.REJECTED, -1)
        assert "must be idle" in refused.text or "must end first" in refused.text
        assert state_listed(run) == "inactive"
    while arm.cabinet.motion is not None or arm.cabinet.state.robot_mode != fci.RobotMode.IDLE:
        step()
    assert state_listed(run) == "active"
    run.controller(ARM).handler.check(refused.request)  # a goal is taken again


def test_two_arms_have_a_controller_each():
    with RosRun("franka-dual", built={"meshes": "shapes"}, clock=False) as run:
        run.simulation.step(50)
        names = [name for name in run.wire.actions if "arm_controller" in name]
        assert sorted(names) == [f"/{s}/{s}_arm_controller/follow_joint_trajectory" for s in ("left", "right")]
        joints = run.controller("/left/").handler.joints
        assert joints == [f"left_joint{i}" for i in range(1, 8)]

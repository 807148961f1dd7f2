"""Trajectories of the actuated joints of parallel robots: followed, refused and interrupted with reasons."""

import numpy as np
import pytest
from ros_runs import RosRun

from pliant.ros.bridge.actions import GoalState

CONTROLLER = "/joint_trajectory_controller"


@pytest.fixture(params=["2RR", "Stewart_Gough_6PFS"])
def robot(request):
    with RosRun(request.param, clock=False) as run:
        run.simulation.step(20)
        yield run


def limb(run):
    return run.controller(CONTROLLER).handler.limb


def test_all_actuated_joints_reach_a_goal_and_have_the_names_of_the_joint_states(robot):
    joints, dt = limb(robot).joints, robot.simulation.engine.dt
    goal = limb(robot).standing().position + 0.02
    assert set(joints) <= set(robot.wire.out["/joint_states"].last()["name"])
    assert robot.end(robot.send(CONTROLLER, joints, (0.3, goal))) == (GoalState.SUCCEEDED, 0)
    robot.simulation.step(round(0.3 / dt))
    assert limb(robot).actual().position == pytest.approx(goal, abs=1e-3)


def test_a_cancelled_goal_stops_the_joints_on_the_way(robot):
    joints, dt, begin = limb(robot).joints, robot.simulation.engine.dt, limb(robot).standing().position
    goal = robot.send(CONTROLLER, joints, (0.4, begin + 0.04))
    robot.simulation.step(round(0.2 / dt))
    robot.controller(CONTROLLER).cancel(goal.id)
    assert robot.end(goal)[0] is GoalState.CANCELED
    robot.simulation.step(round(0.3 / dt))
    moved = limb(robot).actual().position - begin
    assert ((moved > 0.015) & (moved < 0.03)).all()


def test_a_goal_that_the_robot_cannot_follow_has_its_reason():
    with RosRun("Stewart_Gough_6PFS", clock=False) as run:
        run.simulation.step(20)
        goal = run.send(CONTROLLER, limb(run).joints, (0.2, limb(run).standing().position + 5.0))
        assert run.end(goal) == (GoalState.ABORTED, -1)
        assert "its limits are" in goal.text


def test_a_command_of_the_original_and_the_removal_of_the_robot_end_a_goal():
    with RosRun("2RR", clock=False) as run:
        run.simulation.step(20)
        joints, begin = limb(run).joints, limb(run).standing().position
        goal = run.send(CONTROLLER, joints, (5.0, begin + 0.1))
        run.simulation.step(5)
        wrench = {"fx": 0.0, "fy": 0.0, "mz": 0.0}
        run.wire.hear("/dgm_parameters", joints_values=list(begin), wrench=wrench)
        assert run.end(goal, 5) == (GoalState.ABORTED, -1)
        assert "/dgm_parameters took its place" in goal.text
        run.simulation.devices["cpr"].request("remove")
        run.simulation.step(2)
        assert run.end(run.send(CONTROLLER, joints, (1.0, begin)), 5)[0] in (GoalState.ABORTED, GoalState.REJECTED)
        assert np.isfinite(limb(run).actual().position).all()


def test_a_plate_that_a_controller_moves_takes_no_trajectory():
    with RosRun("Stewart_Gough_6PFS", built={"controller": True}, clock=False) as run:
        run.simulation.step(20)
        goal = run.send(CONTROLLER, limb(run).joints, (1.0, limb(run).standing().position))
        assert (goal.state, goal.result["error_code"]) == (GoalState.REJECTED, -1)
        assert "controller of the plate" in goal.text

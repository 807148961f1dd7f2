"""The wrist camera and the tag of the Franka arm: frames, and a servo loop on rendered images."""

import math

import numpy as np
import pytest
from daily import by_day

from pliant import load
from pliant.base.errors import MissingDependency
from pliant.base.spatial import inverse, pose
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.franka.client import FrankaRobot
from pliant.franka.robots.build import WristCamera
from pliant.franka.robots.entry import TAG_DISTANCE
from pliant.simulation import Simulation
from pliant.vision import AprilTagDetector, facing_pose, tag_corners
from pliant.vision.poses import nearest_alike_pose, pose_features
from pliant.vision.tasks import AdaptiveGain
from pliant.vision.visual_servoing import ServoMonitor, ServoStatus, VisualServo, ibvs_task, pbvs_task, pose_below

SIZE = 0.08
GOAL = facing_pose(0.24)


@pytest.fixture
def cell():
    robot = load("franka", options={"camera": "wrist", "tag": "table"})
    try:
        simulation = Simulation(MujocoEngine(robot), make_devices(robot), pacer="free")
        arm = FrankaRobot.of(simulation, period=0.02)
    except MissingDependency as error:
        pytest.skip(str(error))
    arm.set_eMc(inverse(arm.get_flMe()) @ WristCamera().F_T_C)
    arm.wait(0.02)
    with simulation, arm:
        yield simulation, arm


def true_pose(arm):
    """Pose of the tag in the camera by the arm's kinematics; the tag lies at the height of the base."""
    return inverse(arm.get_fMc()) @ pose((TAG_DISTANCE, 0.0, 0.0))


def test_the_camera_is_where_the_arms_kinematics_says(cell):
    simulation, arm = cell
    camera = simulation.devices["franka_camera"].camera
    found = AprilTagDetector(camera, SIZE).find(simulation.sample("franka_camera").values["image"], 0)
    X_CO = true_pose(arm)
    corners = (np.c_[tag_corners(SIZE), np.ones(4)] @ X_CO.T)[:, :3]
    assert np.abs(found.pixels - camera.project(corners)).max() < 0.3
    assert np.linalg.norm(found.X_CO[:3, 3] - X_CO[:3, 3]) < 1e-3


@pytest.mark.parametrize("law", by_day(["position", "image"], "position".__eq__))
def test_a_servo_on_rendered_images_ends_at_its_goal_and_keeps_the_arm_free_of_errors(cell, law):
    simulation, arm = cell
    detector = AprilTagDetector(simulation.devices["franka_camera"].camera, SIZE)
    goal = nearest_alike_pose(true_pose(arm), GOAL)
    tasks = {
        "position": lambda X_CO: pbvs_task(X_CO, goal),
        "image": lambda X_CO: ibvs_task(tag_corners(SIZE), X_CO, goal, "mean"),
    }
    near = pose_below(0.5e-3, math.radians(0.5))
    state = {}

    def reached(_error):
        return near(pose_features(state["X_CO"], goal))

    servo = VisualServo(
        tasks[law],
        AdaptiveGain(at_zero=4.0, at_infinity=1.2, slope_at_zero=25.0),
        ServoMonitor(reached),
        smooth_start=4.0,
    )
    arm.set_robot_state("velocity")
    for _ in range(300):
        state["X_CO"] = detector.find(simulation.sample("franka_camera").values["image"], 0).X_CO
        step = servo(state["X_CO"], arm.time)
        arm.set_velocity("camera", step.velocity)
        if step.status is not ServoStatus.RUNNING:
            break
    assert step.status is ServoStatus.CONVERGED
    arm.stop_motion()
    error = pose_features(true_pose(arm), goal)
    assert np.linalg.norm(error[:3]) < 0.7e-3  # the tolerance and what the detector errs
    assert np.degrees(np.linalg.norm(error[3:])) < 0.7
    assert arm.get_robot_state() == "stop"

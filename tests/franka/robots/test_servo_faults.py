"""What a visual-servo loop on a Franka arm does when something is wrong: a named condition, and the arm at rest.

Each case runs a healthy loop until the arm moves, and then gives one wrong thing. The arm must come to rest without
an error of its controller, and nothing but finite numbers may be sent to it.
"""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from pliant import load
from pliant.base.errors import DeviceError, PliantError
from pliant.base.spatial import inverse, pose
from pliant.camera.conditions import Condition
from pliant.camera.model import CameraModel
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.franka.client import FrankaRobot
from pliant.franka.robots.build import WristCamera
from pliant.model import Camera
from pliant.simulation import Simulation
from pliant.vision import (
    AprilTagDetector,
    ExactDetector,
    estimate_planar_pose,
    facing_pose,
    project_points,
    tag_corners,
)
from pliant.vision.tasks import AdaptiveGain
from pliant.vision.visual_servoing import (
    ServoMonitor,
    ServoStatus,
    VisualServo,
    image_points_task,
    norm_below,
    pbvs_task,
)

CORNERS = tag_corners(0.08)
GOAL = facing_pose(0.24)
X_FO = pose((0.5, 0.0, 0.0))
DETECTOR = ExactDetector(CameraModel.from_field_of_view(math.radians(42.5), 640, 480), CORNERS)
DESIRED, DESIRED_Z = project_points(CORNERS, GOAL)
AWAY = pose((0.5, 0.0, 0.3), np.diag([1.0, -1.0, -1.0]))
BEHIND = pose((0.0, 0.0, -0.3))
NOWHERE = np.full((4, 4), math.nan)


@dataclass
class Seen:
    """What a loop knows of an image."""

    X_CO: np.ndarray
    Z: object = None
    line: bool = False
    age: float = 0.0


def by_pose(seen):
    exact = DETECTOR.detect(seen.X_CO)
    return pbvs_task(estimate_planar_pose(exact.xy, CORNERS), GOAL)


def by_points(seen):
    exact = DETECTOR.detect(seen.X_CO)
    xy = np.array(exact.xy)
    if seen.line:
        xy[:, 1] = 0.1 * xy[:, 0]
    return image_points_task(xy, exact.Z if seen.Z is None else seen.Z, DESIRED, DESIRED_Z)


@pytest.fixture
def arm(monkeypatch):
    with FrankaRobot.simulated("fer", period=0.02) as made:
        made.set_eMc(inverse(made.get_flMe()) @ WristCamera().F_T_C)
        sent, right = [], made.backend.exchange

        def exchange(values):
            sent.append(np.array(values))
            right(values)

        monkeypatch.setattr(made.backend, "exchange", exchange)
        made.sent = sent
        yield made


FAULTS = [
    pytest.param(by_pose, lambda s: Seen(AWAY), Condition.OUT_OF_VIEW, id="tag out of view"),
    pytest.param(by_pose, lambda s: Seen(BEHIND), Condition.BEHIND_CAMERA, id="tag behind the camera"),
    pytest.param(by_points, lambda s: Seen(s.X_CO, Z=0.0), Condition.DEPTH, id="depth of zero"),
    pytest.param(by_points, lambda s: Seen(s.X_CO, Z=-0.4), Condition.DEPTH, id="negative depth"),
    pytest.param(
        by_points, lambda s: Seen(s.X_CO, Z=0.4, line=True), Condition.SINGULAR, id="singular interaction matrix"
    ),
    pytest.param(by_pose, lambda s: Seen(s.X_CO, age=0.15), Condition.LATE, id="image that comes late"),
    pytest.param(by_pose, lambda s: Seen(s.X_CO, age=math.nan), Condition.NOT_FINITE, id="age that is no number"),
    pytest.param(by_pose, lambda s: Seen(NOWHERE), Condition.NOT_FINITE, id="pose of NaN"),
]


@pytest.mark.parametrize(("task", "fault", "condition"), FAULTS)
def test_a_fault_is_named_and_brings_the_arm_to_rest(arm, task, fault, condition):
    servo = VisualServo(
        task,
        AdaptiveGain(at_zero=4.0, at_infinity=1.2, slope_at_zero=25.0),
        ServoMonitor(norm_below(1e-4)),
        smooth_start=4.0,
        max_age=0.1,
    )
    arm.set_robot_state("velocity")
    for k in range(35):
        seen = Seen(inverse(arm.get_fMc()) @ X_FO)
        if k >= 15:
            seen = fault(seen)
        step = servo(seen, arm.time, age=seen.age)
        if k == 14:
            assert step.status is ServoStatus.RUNNING
            assert np.abs(arm.get_velocity("joint")).max() > 0.05
        if k >= 15:
            assert step.status is ServoStatus.STOPPED
            assert step.condition is condition
            assert step.message
            assert not step.velocity.any()
        arm.set_velocity("camera", step.velocity)
    assert np.abs(arm.get_velocity("joint")).max() < 1e-3
    arm.stop_motion()
    assert arm.mode == "idle"
    assert arm.sent
    assert np.isfinite(arm.sent).all()


def test_a_servo_goes_on_after_a_fault_that_has_passed(arm):
    servo = VisualServo(by_pose, 1.5, ServoMonitor(norm_below(1e-4)), smooth_start=4.0, max_age=0.1)
    arm.set_robot_state("velocity")
    statuses = []
    for k in range(60):
        seen = Seen(inverse(arm.get_fMc()) @ X_FO, age=0.2 if 15 <= k < 30 else 0.0)
        step = servo(seen, arm.time, age=seen.age)
        statuses.append(step.status)
        arm.set_velocity("camera", step.velocity)
    assert statuses[15:30] == [ServoStatus.STOPPED] * 15
    assert statuses[30:] == [ServoStatus.RUNNING] * 30
    arm.stop_motion()
    assert arm.mode == "idle"


@pytest.mark.parametrize("frame", ["camera", "joint"])
def test_the_arm_itself_refuses_a_velocity_of_nan_and_keeps_its_last_one(arm, frame):
    arm.set_robot_state("velocity")
    arm.set_velocity("joint", [0.05, 0, 0, 0, 0, 0, 0])
    with pytest.raises(DeviceError, match="must be finite numbers"):
        arm.set_velocity(frame, np.full(6 if frame == "camera" else 7, math.nan))
    arm.stop_motion()
    assert arm.mode == "idle"
    assert np.isfinite(arm.sent).all()


@pytest.mark.parametrize("size", [0.0, -0.08, math.nan, math.inf])
def test_a_size_that_is_none_is_refused_before_the_arm_moves(size):
    camera = CameraModel.from_field_of_view(math.radians(42.5), 640, 480)
    with pytest.raises(PliantError) as refused:
        AprilTagDetector(camera, size)
    assert "size" in str(refused.value)


def test_a_wrong_size_scales_the_distance_and_nothing_else():
    # An image cannot tell it: the pose is that of a tag of the right shape at another distance.
    X = pose((0.03, -0.02, 0.4), np.diag([1.0, -1.0, -1.0]))
    found = estimate_planar_pose(DETECTOR.detect(X).xy, tag_corners(0.16))
    np.testing.assert_allclose(found[:3, :3], X[:3, :3], atol=1e-6)
    np.testing.assert_allclose(found[:3, 3], 2.0 * X[:3, 3], atol=1e-6)


def test_without_a_renderer_the_simulation_with_a_camera_does_not_start(monkeypatch):
    monkeypatch.setenv("MUJOCO_GL", "off")
    robot = load("franka", options={"camera": "wrist"})
    with pytest.raises(PliantError, match="MUJOCO_GL is 'off', which forbids it"):
        Simulation(MujocoEngine(robot), make_devices(robot), pacer="free")


def test_a_camera_that_the_model_does_not_have_is_refused():
    robot = load("franka")
    robot.devices.append(Camera(name="eye", camera="elbow"))
    with pytest.raises(PliantError, match="elbow"):
        Simulation(MujocoEngine(robot), make_devices(robot), pacer="free")

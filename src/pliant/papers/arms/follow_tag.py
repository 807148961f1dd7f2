"""The control loop of the dual-arm experiment: the left arm moves a tag, the right arm follows it and gives way.

One thread drives both arms with a command of each in every millisecond. The left arm is under torques (computed torque
in Cartesian space), the right one under velocities (position-based visual servoing with an admittance in feature
space). Images come every 20 ms. Nothing here knows the engine: the arms are `FrankaRobot`s.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import BridgeError, DeviceError, PliantError
from pliant.base.numerics import GRAVITY, Array
from pliant.base.spatial import cross, exp_so3, inverse, log_so3, pose
from pliant.camera.conditions import VisionError
from pliant.camera.model import CameraModel
from pliant.control import CartesianComputedTorque
from pliant.experiments.trace import Recorder, Trace, Traced
from pliant.franka.client import FrankaGroup
from pliant.franka.robots import dynamics, kinematics
from pliant.franka.robots.parameters import EE_OF_HAND, FER, FRANKA_HAND
from pliant.franka.robots.torso import CAMERA, Q_LEFT, Q_RIGHT, TAG, base
from pliant.vision import AprilTagDetector, ExactDetector, estimate_planar_pose
from pliant.vision.detector import tag_corners
from pliant.vision.poses import facing_pose, pose_features
from pliant.vision.tasks import AdaptiveGain, SmoothStart, solve
from pliant.vision.tracking import TargetTracker
from pliant.vision.vision_force import FeatureAdmittance, HybridPoseServo, ToolLoad

if TYPE_CHECKING:
    from pliant.papers.arms.opened import Opened


CENTER = (0.5, 0.1, 1.0)
"""Of the tag's circle in the world [m]."""  # assumed
R_WO = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""Orientation of the tag in the world: x forward, y up, its print to the right arm."""  # assumed
CYCLE = 1e-3
"""Of the interface [s]."""
IMAGE_CYCLES = 20
"""Cycles between two images, section III-F: 20 ms."""
RECORD = 5e-3
"""Time between two rows of a run [s]."""
REACH = 1.5
"""How long the left arm takes to the start of the circle [s]."""  # assumed
ALPHA, BETA = 0.7, 0.37
"""Gains of the filter that follows the tag; beta = alpha^2 / (2 - alpha) (Benedict and Bordner 1962)."""
SMOOTHING = 0.01
"""Time constant of the visual part of the velocity, which would jump at every image [s]."""  # assumed
KEPT = 64
"""Joint positions that are kept for late images [cycles]."""


class Ending(enum.StrEnum):
    """How a run ended."""

    COMPLETED = "completed"
    """All laps were made."""
    TAG_LOST = "tag lost"
    """The camera did not see the tag for longer than `Plan.patience`."""
    TAG_LOST_IN_CONTACT = "tag lost in contact"
    """The same, while the hand touched something."""
    FORCE_LIMIT = "force limit"
    """The contact force exceeded `Plan.force_limit`."""
    NOT_CONVERGED = "not converged"
    """The servo did not come to its goal before the circle."""
    FAULT = "fault"
    """A law or a robot refused to go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Task of both arms."""

    radius: float = 0.05
    """Of the circle [m]."""
    frequency: float = 0.3
    """Laps a second [Hz]."""
    laps: float = 2.0
    """Laps to make."""
    distance: float = 0.2
    """Desired distance of the camera from the tag [m]."""
    gain: AdaptiveGain = field(default_factory=lambda: AdaptiveGain(at_zero=4.0, at_infinity=1.2, slope_at_zero=25.0))
    """Of the visual servoing [1/s]."""
    feedforward: bool = True
    """Whether the camera moves with the estimated velocity of the tag and of the admittance; the published law does
    not."""
    stiffness: float = 100.0
    """Of the admittance [1/s^2]."""
    damping: float = 100.0
    """Of the admittance [1/s]."""
    inertia: tuple[float, ...] = (1.0, 1.0, 1.0, 0.1, 0.1, 0.1)
    """Diagonal of the virtual inertia at the tool [kg, kg m^2]."""
    deadband: float = 0.5
    """Contact force that counts as none [N]; the hand's inertia gives 0.15 N on the circle."""
    bandwidth: tuple[float, float] = (50.0, 20.0)
    """Of the left arm's pose, translation and rotation [rad/s]."""
    null_damping: float = 100.0
    """Of the left arm's motion that does not move its hand [1/s]."""
    decay: float = 2.0
    """Rate mu of the smooth starts [1/s]."""
    step: int = 1
    """Cycles between two computed commands."""
    float_time: float = 0.2
    """How long the arms are not servoed at first [s]."""
    approach: bool = True
    """Whether the arms come from the robot's start; else they begin where the circle starts."""
    converge_time: float = 6.0
    """Longest approach [s]."""
    force_limit: float = 18.0
    """Contact force at which both arms stop [N]; the cabinet's own limit is 20 N."""
    patience: float = 0.1
    """How long the tag may be out of view [s]."""
    blind_after: float = math.inf
    """When the camera is covered, after the start of the circle [s]."""


@dataclass(slots=True)
class Run(Traced):
    """Result of a run, one row per `RECORD`."""

    plan: Plan
    """The plan."""
    rendered: bool
    """Whether images were rendered; else the features are exact."""
    through: str
    """How the arms were reached."""
    ending: Ending
    """How it ended."""
    message: str
    """Why, if not completed."""
    trace: Trace
    """Time since the start [s]; positions q_left and q_right [rad]; contact force on the right hand in world axes,
    weight removed [N]; shift of the features [m, rad]; commanded velocity of the camera; commanded torque of the left
    arm [N m]; desired places of the tag in the world [m]."""
    circle_at: float
    """When the circle began [s]; NaN if it did not."""
    stopped_at: float
    """When the arms were told to stop [s]."""
    stop_time: float
    """How long they took to rest [s]."""
    peak_force: float
    """Largest contact force of all cycles [N]."""
    float_drift: float
    """Largest motion of a joint of the left arm while it floated [rad]."""
    images: Array
    """Times at which images were used, shape (m,) [s]."""
    time_apart: float
    """Largest difference between the times of both arms' states [s]."""
    cycles: int
    """Commands sent to each arm."""
    health: list[dict[str, object]] = field(default_factory=list)
    """The server's counters of each arm."""
    picture: NDArray[np.uint8] | None = None
    """An image on the way; None with exact features."""
    picture_row: int = 0
    """Its row."""
    picture_corners: Array | None = None
    """Corners of the tag that were found in it, shape (4, 2) [pixels]."""

    @property
    def X_CO(self) -> Array:
        """True poses of the tag in the camera, by the kinematics, shape (n, 4, 4)."""
        return np.array([true_pose(a, b) for a, b in zip(self.q_left, self.q_right, strict=True)])

    @property
    def errors(self) -> Array:
        """True error of the pose: translation and rotation vector in the desired camera, shape (n, 6) [m, rad]."""
        goal = facing_pose(self.plan.distance)
        return np.array([pose_features(X, goal) for X in self.X_CO]).reshape(-1, 6)

    @property
    def tag(self) -> Array:
        """Places of the tag in the world, shape (n, 3) [m]."""
        X = kinematics.forward_kinematics(self.q_left, F_T_EE=EE_OF_HAND) @ TAG.EE_T_O
        return (base("left") @ X)[:, :3, 3]

    @property
    def hand(self) -> Array:
        """Places of the right end effector in the world, shape (n, 3) [m]."""
        return (base("right") @ kinematics.forward_kinematics(self.q_right, F_T_EE=EE_OF_HAND))[:, :3, 3]

    def lap(self, first: float, last: float) -> NDArray[np.bool_]:
        """Return which rows belong to laps first to last of the circle."""
        turns = (self.time - self.circle_at) * self.plan.frequency
        return (turns >= first) & (turns < last)


def true_pose(q_left: Array, q_right: Array) -> Array:
    """Return the pose of the tag in the camera by the joints of both arms, shape (4, 4)."""
    X_WO = base("left") @ kinematics.forward_kinematics(q_left, F_T_EE=EE_OF_HAND) @ TAG.EE_T_O
    return inverse(base("right") @ kinematics.forward_kinematics(q_right, F_T_EE=CAMERA.F_T_C)) @ X_WO


def camera_model() -> CameraModel:
    """Return the model of the right camera."""
    return CameraModel.from_field_of_view(math.radians(CAMERA.fovy), CAMERA.width, CAMERA.height)


def goal_pose(radius: float) -> Array:
    """Return the pose of the tag in the world at the start of the circle, shape (4, 4)."""
    x, y, z = CENTER
    return pose((x + radius, y, z), R_WO)


def start_joints(plan: Plan) -> tuple[Array, Array]:
    """Return the joints of both arms at the start, shape (7,) each [rad]."""
    if plan.approach:
        return np.array(Q_LEFT), np.array(Q_RIGHT)
    X_WO = goal_pose(plan.radius)
    left = inverse(base("left")) @ X_WO @ inverse(TAG.EE_T_O)
    right = inverse(base("right")) @ X_WO @ inverse(facing_pose(plan.distance))
    return (
        kinematics.inverse_kinematics(left, np.array(Q_LEFT), F_T_EE=EE_OF_HAND),
        kinematics.inverse_kinematics(right, np.array(Q_RIGHT), F_T_EE=CAMERA.F_T_C),
    )


class _Reference:
    """Where the tag shall be: straight to the start of the circle, then round."""

    def __init__(self, plan: Plan, first: Array) -> None:
        self.plan, self.first, self.goal = plan, first, goal_pose(plan.radius)
        self.turn = log_so3(first[:3, :3].T @ self.goal[:3, :3])
        self.straight = self.goal[:3, 3] - first[:3, 3]

    def reach(self, t: float) -> tuple[Array, Array, Array]:
        """Return pose, velocity and acceleration of the tag in the world on its way to the circle."""
        s = min(max(t / REACH, 0.0), 1.0)
        x = s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
        dx = 30.0 * s * s * (1.0 - s) ** 2 / REACH
        ddx = 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / REACH**2
        R = self.first[:3, :3] @ exp_so3(x * self.turn)
        w = self.first[:3, :3] @ self.turn
        return (
            pose(self.first[:3, 3] + x * self.straight, R),
            np.concatenate([dx * self.straight, dx * w]),
            np.concatenate([ddx * self.straight, ddx * w]),
        )

    def circle(self, t: float) -> tuple[Array, Array, Array]:
        """Return the same on the circle, whose speed grows as 1 - exp(-mu t)."""
        plan = self.plan
        w, fade = 2.0 * math.pi * plan.frequency, math.exp(-2.0 * plan.decay * t)
        phase = w * (t - (1.0 - fade) / (2.0 * plan.decay))
        rate, growth = w * (1.0 - fade), 2.0 * plan.decay * w * fade
        c, s, r = math.cos(phase), math.sin(phase), plan.radius
        place = self.goal[:3, 3] + r * np.array([c - 1.0, 0.0, s])
        along, inwards = r * np.array([-s, 0.0, c]), r * np.array([-c, 0.0, -s])
        return (
            pose(place, self.goal[:3, :3]),
            np.concatenate([rate * along, np.zeros(3)]),
            np.concatenate([growth * along + rate * rate * inwards, np.zeros(3)]),
        )


class _LeftArm:
    """The torques of the left arm."""

    def __init__(self, plan: Plan) -> None:
        translation, rotation = plan.bandwidth
        self.law = CartesianComputedTorque([translation**2] * 3 + [rotation**2] * 3, null_damping=plan.null_damping)
        self.start = SmoothStart(plan.decay)
        self.X_BW = inverse(base("left"))
        self.X_OE = inverse(TAG.EE_T_O)

    def __call__(self, q: Array, dq: Array, wanted: tuple[Array, Array, Array], t: float) -> Array:
        """Return the torques, gravity and friction excluded, shape (7,) [N m]."""
        X_WO, V, A = wanted
        R, arm = self.X_BW[:3, :3], X_WO[:3, :3] @ self.X_OE[:3, 3]
        # The end effector is beside the tag: its velocity and acceleration are those of a rigid body.
        v = V[:3] + cross(V[3:], arm)
        a = A[:3] + cross(A[3:], arm) + cross(V[3:], cross(V[3:], arm))
        X = kinematics.forward_kinematics(q, F_T_EE=EE_OF_HAND)
        J = kinematics.jacobian(q, F_T_EE=EE_OF_HAND)
        h = 1e-6
        dJdq = (kinematics.jacobian(q + h * dq, F_T_EE=EE_OF_HAND) - J) @ dq / h
        M = dynamics.mass(q, FRANKA_HAND, arm=FER)
        bias = dynamics.coriolis(q, dq, FRANKA_HAND, arm=FER) @ dq
        tau = self.law(
            X,
            J,
            dJdq,
            dq,
            M,
            bias,
            self.X_BW @ X_WO @ self.X_OE,
            np.concatenate([R @ v, R @ V[3:]]),
            np.concatenate([R @ a, R @ A[3:]]),
        )
        return self.start(tau, t)


class _Eyes:
    """Poses of the tag in the camera, one an image."""

    def __init__(self, torso: Opened, plan: Plan) -> None:
        self.torso, self.plan, self.model = torso, plan, camera_model()
        corners = tag_corners(TAG.size)
        self.exact = ExactDetector(self.model, corners)
        self.corners = corners
        self.detector = AprilTagDetector(self.model, TAG.size) if torso.picture is not None else None
        self.stamp = -1
        self.image: NDArray[np.uint8] | None = None
        self.found: Array | None = None

    def __call__(self, cycle: int) -> tuple[int, Array] | None:
        """Return the cycle of a new image and the pose in it; None where there is none.

        Raises:
            VisionError: the tag is not in the image.
        """
        if cycle % IMAGE_CYCLES:
            return None
        if self.torso.picture is None or self.detector is None:
            arms = self.torso.left, self.torso.right
            seen = self.exact.detect(true_pose(*(arm.backend.get("q") for arm in arms)))
            self.found = seen.pixels
            return cycle, estimate_planar_pose(seen.xy, self.corners)
        try:
            stamp, image = self.torso.picture()
        except BridgeError:  # there is none yet
            return None
        if stamp == self.stamp:
            return None
        self.stamp, self.image = stamp, image
        tag = self.detector.find(image, TAG.tag_id)
        self.found = tag.pixels
        return round(1e-9 * stamp / CYCLE), tag.X_CO


def follow(torso: Opened, plan: Plan, *, tick: Callable[[float], None] | None = None) -> Run:
    """Let the left arm move the tag and the right arm follow it; the arms rest at the end, however it ends.

    Args:
        torso: both arms, at rest.
        plan: what they do.
        tick: is told the fraction that is done, now and then.
    """
    loop = _Loop(torso, plan)
    ending, message, stop_time = Ending.COMPLETED, "", 0.0
    try:
        loop.group.start("force_torque", "velocity")
        while round(torso.right.time / CYCLE) % IMAGE_CYCLES:  # so that images come in the same cycles of every run
            loop.group.step()
        began = torso.left.time
        while (outcome := loop.cycle()) is None:
            loop.record()
            if tick is not None and loop.k % 500 == 0:
                tick(min(1.0, loop.t / (loop.total + 4.0)))
            loop.group.step()
            loop.k += 1
        ending, message = outcome
        loop.group.stop()
        stop_time = torso.left.time - began - loop.t
    except PliantError as fault:
        ending, message = Ending.FAULT, str(fault)
        if isinstance(fault, DeviceError):
            loop.group.abort()
        else:
            loop.group.stop()
    return Run(
        plan=plan,
        rendered=torso.picture is not None,
        through=torso.through,
        ending=ending,
        message=message,
        trace=loop.rows.trace(),
        circle_at=loop.circle_at,
        stopped_at=loop.t,
        stop_time=stop_time,
        peak_force=loop.peak,
        float_drift=loop.drift,
        images=np.array(loop.images),
        time_apart=loop.apart,
        cycles=loop.k,
        picture=loop.picture,
        picture_row=loop.picture_row,
        picture_corners=loop.picture_corners,
    )


class _Loop:
    """The cycles of both arms: `cycle` commands, `record` takes a row."""

    def __init__(self, torso: Opened, plan: Plan) -> None:
        self.torso, self.plan = torso, plan
        self.left, self.right = left, right = torso.left, torso.right
        self.X_CS = inverse(CAMERA.F_T_C)  # the sensor sits at the flange
        right.set_eMc(inverse(right.get_flMe()) @ CAMERA.F_T_C)
        down = inverse(base("right"))[:3, :3] @ (0.0, 0.0, -GRAVITY)
        self.weight = ToolLoad(FRANKA_HAND.mass, FRANKA_HAND.center_of_mass, gravity=down)
        self.dt = plan.step * CYCLE
        self.goal = facing_pose(plan.distance)
        admittance = FeatureAdmittance(self.dt, plan.stiffness, plan.damping)
        self.hybrid = HybridPoseServo(self.goal, self.X_CS @ EE_OF_HAND, admittance, inertia=plan.inertia)
        self.drive, self.eyes, self.follower = _LeftArm(plan), _Eyes(torso, plan), TargetTracker(alpha=ALPHA, beta=BETA)
        self.group = FrankaGroup([left, right])
        seven = ("", 7)
        self.rows = Recorder(
            time="s", q_left=seven, q_right=seven, force=("N", 3), shift=("", 6), velocity=("", 6), torque=seven,
            desired=("m", 3),
        )  # fmt: skip
        self.images: list[float] = []
        self.past: dict[int, Array] = {}
        self.k = self.calm = self.picture_row = 0
        self.circle_at = self.served_at = math.nan
        self.peak = self.drift = self.apart = self.seen_at = 0.0
        self.velocity, self.torque, self.shift, self.smooth = np.zeros(6), np.zeros(7), np.zeros(6), np.zeros(6)
        self.X_CO: Array | None = None
        self.picture: NDArray[np.uint8] | None = None
        self.picture_corners: Array | None = None
        self.first = left.get_position()
        X_WO = base("left") @ kinematics.forward_kinematics(self.first, F_T_EE=EE_OF_HAND) @ TAG.EE_T_O
        self.reference = _Reference(plan, X_WO)
        self.total = plan.laps / plan.frequency

    @property
    def t(self) -> float:
        """Time since the start [s]."""
        return self.k * CYCLE

    @property
    def circling(self) -> bool:
        """Whether the tag is on the circle."""
        return not math.isnan(self.circle_at)

    def cycle(self) -> tuple[Ending, str] | None:
        """Command both arms; return how the run ends and why, None if it goes on."""
        plan, t = self.plan, self.t
        self.apart = max(self.apart, abs(self.left.time - self.right.time))
        self.q_left, self.q_right = self.left.backend.get("q"), self.right.backend.get("q")
        now = round(self.right.time / CYCLE)
        self.past[now] = self.q_right
        self.past.pop(now - KEPT, None)
        self.R_BS = kinematics.forward_kinematics(self.q_right, "flange")[:3, :3]
        self.contact = self.weight.contact(self.torso.wrench(), self.R_BS)
        size = float(np.linalg.norm(self.contact[:3]))
        self.peak = max(self.peak, size)
        if size > plan.force_limit:
            limit = f"must be <= {plan.force_limit:g} N"
            return Ending.FORCE_LIMIT, f"the contact force is {size:.1f} N at {t:.3f} s; {limit}"
        if self.circling and t - self.circle_at >= self.total - 0.5 * CYCLE:
            return Ending.COMPLETED, ""
        if t < plan.float_time - 0.5 * CYCLE:
            self.drift = max(self.drift, float(np.abs(self.q_left - self.first).max()))
            self.wanted = self.reference.reach(0.0)
            return None
        if math.isnan(self.served_at):
            self.served_at = self.seen_at = t
        circle, reach = self.reference.circle, self.reference.reach
        self.wanted = circle(t - self.circle_at) if self.circling else reach(t - self.served_at)
        self._look(now)
        if t - self.seen_at > plan.patience:
            message = f"tag {TAG.tag_id} was not seen for {1e3 * plan.patience:.0f} ms at {t:.3f} s"
            if size <= plan.deadband:
                return Ending.TAG_LOST, message
            return Ending.TAG_LOST_IN_CONTACT, f"{message}, with a contact force of {size:.1f} N"
        if self.k % plan.step == 0:
            self._command(now)
        return None if self.circling else self._settle()

    def _look(self, now: int) -> None:
        """Take an image if there is a new one."""
        if self.circling and self.t - self.circle_at >= self.plan.blind_after:
            return
        try:
            new = self.eyes(now)
        except VisionError:
            return
        if new is None:
            return
        at, self.X_CO = new
        self.images.append(self.t)
        self.seen_at = self.t
        X_BC = kinematics.forward_kinematics(self.past.get(at, self.q_right), F_T_EE=CAMERA.F_T_C)
        self.follower.see(X_BC @ self.X_CO, at * CYCLE)

    def _command(self, now: int) -> None:
        """Send a torque to the left arm and, once the tag was seen, a velocity to the right one."""
        since = self.t - self.served_at
        self.torque = self.drive(self.q_left, self.left.backend.get("dq"), self.wanted, since)
        self.left.want_force_torque("joint", self.torque, filter_gain=1.0)
        if self.X_CO is None:
            return
        wrench = _at_camera(self.contact, self.X_CS, self.plan)
        seen_part, force_part, self.shift = _camera_velocity(
            self.plan, self.hybrid, self.follower, self.q_right, now * CYCLE, self.X_CO, wrench, self.dt
        )
        self.smooth = self.smooth + (1.0 - math.exp(-self.dt / SMOOTHING)) * (seen_part - self.smooth)
        self.velocity = (self.smooth + force_part) * (1.0 - math.exp(-2.0 * self.plan.decay * since))
        self.right.want_velocity("camera", self.velocity)

    def _settle(self) -> tuple[Ending, str] | None:
        """Begin the circle once the camera rests at its goal; return the ending if that takes too long."""
        plan, since = self.plan, self.t - self.served_at
        if self.k % 10 == 0:
            e = pose_features(true_pose(self.q_left, self.q_right), self.goal)
            near = np.linalg.norm(e[:3]) < 1e-3 and np.linalg.norm(e[3:]) < math.radians(0.5)
            self.calm = self.calm + 1 if near else 0
        if (since >= REACH or not plan.approach) and self.calm >= 10:
            self.circle_at = self.t
        elif since > plan.converge_time:
            return Ending.NOT_CONVERGED, f"the servo did not converge in {plan.converge_time:g} s"
        return None

    def record(self) -> None:
        """Take a row where one is due, and an image on the first lap."""
        if self.k % round(RECORD / CYCLE):
            return
        force = base("right")[:3, :3] @ self.R_BS @ self.contact[:3]
        place = self.wanted[0][:3, 3]
        self.rows.add(self.t, self.q_left, self.q_right, force, self.shift, self.velocity, self.torque, place)
        late = self.circling and self.t - self.circle_at > 0.45 / self.plan.frequency
        if self.eyes.image is not None and self.picture is None and late:
            self.picture, self.picture_row = np.array(self.eyes.image), len(self.rows) - 1
            self.picture_corners = None if self.eyes.found is None else self.eyes.found.copy()


def _at_camera(contact: Array, X_CS: Array, plan: Plan) -> Array:
    """Return a wrench about the sensor's origin as one about the camera's, without what the dead band takes."""
    size = float(np.linalg.norm(contact[:3]))
    if size <= plan.deadband:
        return np.zeros(6)
    F = contact * (1.0 - plan.deadband / size)
    f = X_CS[:3, :3] @ F[:3]
    return np.concatenate([f, X_CS[:3, :3] @ F[3:] + cross(X_CS[:3, 3], f)])


def _camera_velocity(
    plan: Plan,
    hybrid: HybridPoseServo,
    follower: TargetTracker,
    q: Array,
    now: float,
    X_CO: Array,
    wrench: Array,
    dt: float,
) -> tuple[Array, Array, Array]:
    """Return the visual part of the camera's velocity, that of the admittance, and the shift, shape (6,) each."""
    before = hybrid.admittance.shift
    if not plan.feedforward:
        shift = hybrid.push(X_CO, wrench)
        return solve(hybrid.task(X_CO), plan.gain), np.zeros(6), shift
    X_BC = kinematics.forward_kinematics(q, F_T_EE=CAMERA.F_T_C)
    X_CO = inverse(X_BC) @ follower.pose(now)
    shift = hybrid.push(X_CO, wrench)
    velocity = solve(hybrid.task(X_CO), plan.gain)
    velocity[:3] += X_BC[:3, :3].T @ follower.velocity
    rate = (shift - before) / dt
    R_GD = hybrid.X_DG[:3, :3].T
    # for small turns
    return velocity, np.concatenate([R_GD @ rate[:3], R_GD @ rate[3:]]), shift

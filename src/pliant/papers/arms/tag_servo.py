"""A Franka arm with a wrist camera before an AprilTag: start poses, the arm in process or served, one servo loop."""

from __future__ import annotations

import contextlib
import importlib.util
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import mujoco
import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import BridgeError, DeviceError, MissingDependency, ModelError
from pliant.base.graphics import choose_backend
from pliant.base.numerics import Array
from pliant.base.spatial import exp_so3, inverse, log_so3, pose
from pliant.camera.conditions import VisionError
from pliant.camera.model import CameraModel
from pliant.engine.base import mujoco_state
from pliant.experiments.trace import Recorder, Trace, Traced
from pliant.franka.client import FrankaRobot
from pliant.franka.robots.arm_model import MOTOR_INERTIA
from pliant.franka.robots.build import Q_START, WristCamera
from pliant.franka.robots.kinematics import inverse_kinematics
from pliant.franka.robots.parameters import FER
from pliant.papers.arms import EXACT, RENDERED
from pliant.papers.arms.franka_server import names_stall, past_stalls
from pliant.papers.arms.opened import open_arms
from pliant.simulation import Simulation
from pliant.vision import AprilTagDetector, ExactDetector, estimate_planar_pose
from pliant.vision.checks import require_fresh
from pliant.vision.detector import tag_corners
from pliant.vision.points import project_points
from pliant.vision.poses import facing_pose, nearest_alike_pose, pose_features
from pliant.vision.tasks import AdaptiveGain, Task
from pliant.vision.visual_servoing import (
    ServoMonitor,
    ServoStatus,
    VisualServo,
    image_points_task,
    pbvs_task,
    pose_below,
)

if TYPE_CHECKING:
    from pliant.franka.client.model import RobotState


Image = NDArray[np.uint8]
Law = Literal["PBVS", "IBVS"]

TAG = (0.5, 0.0, 0.0)
"""Place of the tag in the base of the arm [m]; it lies flat, its x and y along those of the base."""  # assumed
HEIGHT = 0.5
"""Height of the base above the floor [m], as `pliant run franka` has it."""  # assumed
PERIOD = 0.02
"""Time between two images [s], section III-F."""
MAX_AGE = 0.1
"""Largest age of an image that is acted on [s]."""  # assumed
CYCLE = 1e-3
"""Period of the robot's interface [s]."""
BORDER = 20.0
"""Least distance of the tag's corners from the edge of the image at the start [pixels]."""  # assumed
ROOM = 0.1
"""Least distance of a joint from its limit on the straight way to the goal [rad]."""  # assumed
WAY = 12
"""Places of that way at which it is checked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Common setup of the runs."""

    size: float
    """Edge of the tag [m]."""
    distance: float
    """Desired distance of the camera [m]."""
    gain: AdaptiveGain
    """Of both laws [1/s]."""
    decay: float
    """Rate mu of the smooth start [1/s]."""
    smooth: Literal["scaled", "published", "none"]
    """How the start is made smooth: v (1 - exp(-mu t)), v - v(0) exp(-mu t), or not at all."""
    interaction: Literal["current", "desired", "mean"]
    """Where the interaction matrix of the points is taken."""
    timeout: float = 10.0
    """Longest run [s]."""
    settle: float = 1.0
    """How long a run goes on after it has converged [s]."""
    translation: float = 0.5e-3
    """Error of the camera's place below which a run has converged [m]."""
    rotation: float = math.radians(0.5)
    """Error of its orientation [rad]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """The ranges of the start poses."""

    near: float
    """Least distance from the tag [m]."""
    far: float
    """Largest distance [m]."""
    tilt: float
    """Largest angle between the line of sight and the tag's normal [rad]."""
    turn: float
    """Largest turn about the optical axis [rad]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A start: what the camera sees, and the joints that bring it there."""

    X_CO: Array
    """Pose of the tag in the camera, shape (4, 4)."""
    goal: Array
    """Desired pose of the tag: of the two alike, the nearer one, shape (4, 4)."""
    q: Array
    """Joint positions, shape (7,) [rad]."""
    distance: float
    """From the tag [m]."""
    tilt: float
    """Of the line of sight [rad]."""


@dataclass(slots=True)
class Run(Traced):
    """Result of a servo run, one row per image."""

    law: Law
    """The law."""
    rendered: bool
    """Whether the images were rendered; else the features are exact."""
    through: str
    """How the arm was reached."""
    goal: Array
    """Desired pose of the tag in the camera, shape (4, 4)."""
    true_goal: Array
    """Corners at the goal, shape (4, 2) [pixels]."""
    trace: Trace
    """Time since the first image [s], true pose X_CO of the tag in the camera, corners that were measured and
    true_pixels where the true pose projects them, commanded velocity of the camera in its axes, joint positions q."""
    age: float
    """Largest age of an image when it was used [s]."""
    status: str
    """How the servo ended."""
    message: str
    """Why, if it did not converge."""
    counters: dict[str, Any] = field(default_factory=dict)
    """Counters of the interface's server."""
    image: NDArray[np.uint8] | None = None
    """An image on the way, the one at half of the initial distance; None with exact features."""
    image_row: int = 0
    """Its row."""

    @property
    def features(self) -> str:
        """Source of the features, `EXACT` or `RENDERED`."""
        return RENDERED if self.rendered else EXACT

    @property
    def converged(self) -> bool:
        """Whether the servo said so."""
        return self.status == ServoStatus.CONVERGED

    @property
    def converged_at(self) -> float:
        """When the true error was last outside of the tolerance [s]."""
        outside = np.flatnonzero((self.errors[:, 0] > 0.5e-3) | (self.errors[:, 1] > math.radians(0.5)))
        return float(self.time[min(outside[-1] + 1, len(self.time) - 1)]) if len(outside) else 0.0

    @property
    def place(self) -> Array:
        """Places of the camera in the axes of the tag, shape (n, 3) [m]."""
        return np.array([inverse(X)[:3, 3] for X in self.X_CO])

    @property
    def pose_errors(self) -> Array:
        """True error of the pose, (t, theta u) of the camera in the desired frame, shape (n, 6) [m, rad]."""
        return np.array([pose_features(X, self.goal) for X in self.X_CO])

    @property
    def errors(self) -> Array:
        """True distance and angle to the goal, shape (n, 2) [m, rad]."""
        e = self.pose_errors
        return np.stack([np.linalg.norm(e[:, :3], axis=1), np.linalg.norm(e[:, 3:], axis=1)], axis=1)

    @property
    def path_deviation(self) -> float:
        """Largest distance of the camera from the straight line between its first place and the goal [m]."""
        return deviation(self.place, inverse(self.goal)[:3, 3])

    @property
    def image_deviation(self) -> float:
        """Largest distance of a corner from the straight line between its first place and its goal [pixels]."""
        ends = self.true_goal
        return max(deviation(self.true_pixels[:, i], ends[i]) for i in range(4))


def deviation(path: Array, end: Array) -> float:
    """Return the largest distance of a path from the straight line between its first point and an end.

    A path without points is infinitely far.
    """
    if not len(path):
        return math.inf
    along = end - path[0]
    length = float(np.linalg.norm(along))
    if length < 1e-12:
        return float(np.linalg.norm(path - end, axis=1).max())
    offset = path - path[0]
    return float(np.linalg.norm(offset - np.outer(offset @ along, along) / length**2, axis=1).max())


def starts(
    count: int, rng: np.random.Generator, wish: Wish, setup: Setup, camera: CameraModel
) -> tuple[list[Start], int]:
    """Draw start poses that an arm can take, and from which it can go straight to the goal.

    Args:
        count: how many.
        rng: source of the draws.
        wish: ranges.
        setup: tag and goal.
        camera: for what is in view.

    Returns:
        (starts, drawn): and how many were drawn in all.

    Raises:
        ModelError: hardly a pose in these ranges can be reached.
    """
    found: list[Start] = []
    most = 200 * count
    detector = ExactDetector(camera, tag_corners(setup.size))
    for drawn in range(1, most + 1):
        distance = float(rng.uniform(wish.near, wish.far))
        tilt, azimuth = float(rng.uniform(0.0, wish.tilt)), float(rng.uniform(-math.pi, math.pi))
        turn = float(rng.uniform(-wish.turn, wish.turn))
        aside = rng.uniform(-1.0, 1.0, 2) * np.arctan([camera.cx / camera.fx, camera.cy / camera.fy])
        X_CO = _looking(distance, tilt, azimuth, turn, aside)
        try:
            pixels = detector.detect(X_CO).pixels
        except VisionError:
            continue
        if (np.minimum(pixels, np.array([camera.width, camera.height]) - 1.0 - pixels) < BORDER).any():
            continue
        goal = nearest_alike_pose(X_CO, facing_pose(setup.distance))
        q = _joints(X_CO, goal)
        if q is None:
            continue
        found.append(Start(X_CO=X_CO, goal=goal, q=q, distance=distance, tilt=tilt))
        if len(found) == count:
            return found, drawn
    raise ModelError(
        f"{len(found)} of {count} start poses found in {most} draws; the ranges are too narrow for this arm"
    )


def _looking(distance: float, tilt: float, azimuth: float, turn: float, aside: Array) -> Array:
    """Return the pose of the tag in a camera that looks at it from a direction, turned, and beside it."""
    R_OF = np.diag([1.0, -1.0, -1.0])  # a camera before the tag, upright
    axis = np.array([-math.sin(azimuth), math.cos(azimuth), 0.0])
    about_z = exp_so3(np.array([0.0, 0.0, turn]))
    R_OC = exp_so3(tilt * axis) @ R_OF @ about_z @ exp_so3(np.array([aside[1], -aside[0], 0.0]))
    place = distance * (exp_so3(tilt * axis) @ np.array([0.0, 0.0, 1.0]))
    return inverse(pose(place, R_OC))


def _joints(X_CO: Array, goal: Array) -> Array | None:
    """Return joints of a start from which the straight way to the goal keeps clear of the joints' limits, or None."""
    limits = FER.limits
    low, high = np.array(limits.position_min) + ROOM, np.array(limits.position_max) - ROOM
    first, last = inverse(X_CO), inverse(goal)
    turn = log_so3(first[:3, :3].T @ last[:3, :3])
    tool = WristCamera().F_T_C
    q, begin = Q_START, None
    for s in np.linspace(0.0, 1.0, WAY):
        X_OC = pose((1.0 - s) * first[:3, 3] + s * last[:3, 3], first[:3, :3] @ exp_so3(s * turn))
        try:
            q = inverse_kinematics(pose(TAG) @ X_OC, q, F_T_EE=tool)
        except ModelError:
            return None
        if np.any(q < low) or np.any(q > high):
            return None
        begin = q.copy() if begin is None else begin
    return begin


@dataclass(slots=True)
class Cell:
    """An arm with its camera before the tag."""

    arm: FrankaRobot
    """The arm, at rest at its start."""
    camera: CameraModel
    """The camera's model."""
    through: str
    """How the arm is reached."""
    picture: Callable[[], tuple[float, NDArray[np.uint8]]] | None
    """Gives the newest image and its age [s]; None with exact features."""
    true_pose: Callable[[], Array]
    """Gives the true pose of the tag in the camera."""
    counters: Callable[[], dict[str, Any]] = dict
    """Counters of the server, after its end."""


def missing_for_pictures() -> str:
    """Return what is missing for rendered images, with the command that installs it; "" if nothing is."""
    if importlib.util.find_spec("pyapriltags") is None:
        return 'pyapriltags is not installed: pip install "pliant[vision]"'
    try:
        choose_backend("rendered images")
    except (MissingDependency, DeviceError) as error:
        return str(error)
    return ""


def exact_camera() -> CameraModel:
    """Return the model of the wrist camera."""
    camera = WristCamera()
    return CameraModel.from_field_of_view(math.radians(camera.fovy), camera.width, camera.height)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plant:
    """Behaviour of the arm's joints beside the rigid links."""

    friction: bool = True
    """Whether the identified friction acts."""
    compensated: bool = True
    """Whether the cabinet compensates it."""
    motor_inertia: float = MOTOR_INERTIA
    """Fraction of the motors' inertia that is left, 0 to 1."""


MODE = "lockstep"
"""Time mode of a served arm."""


@contextlib.contextmanager
def cell(
    start: Start,
    setup: Setup,
    *,
    rendered: bool,
    fci: bool = False,
    period: float | None = None,
    plant: Plant = Plant(),
) -> Iterator[Cell]:
    """Yield an arm before the tag.

    Args:
        start: where it begins.
        setup: the tag.
        rendered: whether its camera renders.
        fci: through the Franka Control Interface, served by another process; else in this one.
        period: time between two commands [s]; None: between two images.
        plant: friction and motors.

    Raises:
        MissingDependency: pylibfranka is not installed, or images cannot be rendered.
        BridgeError: no server started.
    """
    built = {
        "friction": plant.friction,
        "compensated": plant.compensated,
        "motor_inertia": plant.motor_inertia,
        "q": start.q.tolist(),
        "height": HEIGHT,
        "tag": (setup.size, *TAG) if rendered else None,
        "camera": rendered,
    }
    camera = WristCamera()
    with open_arms(fci=fci, rendered=rendered, mode=MODE, period=period or PERIOD, **built) as opened:
        arm, simulation = opened.left, opened.simulation
        arm.set_eMc(inverse(arm.get_flMe()) @ camera.F_T_C)

        def picture() -> tuple[float, Image]:
            assert opened.picture is not None
            stamp_ns, image = opened.picture()
            now_ns = round(1e9 * arm.time) if simulation is None else simulation.time_ns
            return 1e-9 * (now_ns - stamp_ns), image

        true_pose = lambda: inverse(arm.get_fMc()) @ pose(TAG)  # noqa: E731
        if simulation is not None:
            true_pose = _exact_pose(simulation, camera)
        yield Cell(
            arm,
            exact_camera(),
            opened.through,
            picture if rendered else None,
            true_pose,
            lambda: dict(*opened.health()[:1]),
        )


def _exact_pose(simulation: Simulation, camera: WristCamera) -> Callable[[], Array]:
    """Return a function that gives the pose of the tag in the camera from the state of the simulation."""
    state = mujoco_state(simulation.engine, "the flange")
    now = mujoco.MjData(state.model)  # a step leaves the engine's own places those before it
    flange = now.site("franka_flange")

    def exact_pose() -> Array:
        now.qpos[:] = state.data.qpos
        mujoco.mj_kinematics(state.model, now)
        X_WC = pose(flange.xpos, np.reshape(flange.xmat, (3, 3))) @ camera.F_T_C
        return inverse(X_WC) @ pose((*TAG[:2], TAG[2] + HEIGHT))

    return exact_pose


R = TypeVar("R")


def run_program(program: Callable[[Cell], R], start: Start, setup: Setup, of: Callable[[R], Run], **options: Any) -> R:
    """Run a program on an arm of its own; through the interface one that a stall of the machine ended runs again.

    Args:
        program: what drives the arm.
        start: where the arm begins.
        setup: the tag.
        of: gives the servo run in what the program returns.
        options: of `cell`.
    """

    def make() -> R:
        with cell(start, setup, **options) as found:
            result = program(found)
        of(result).counters = found.counters()
        return result

    if not options.get("fci"):
        return make()
    return past_stalls(make, lambda result: interrupted(of(result)))


def interrupted(run: Run) -> bool:
    """Return whether a run ended because the machine stalled the server."""
    return run.status == "fault" and names_stall(run.message)


@dataclass(slots=True)
class _Seen:
    """Features of an image."""

    pixels: Array
    xy: Array
    Z: Array
    X_CO: Array


def look_with(cell: Cell, setup: Setup) -> Callable[[], tuple[_Seen, float, Image | None]]:
    """Return a function that looks: features, age of the image [s], image or None."""
    corners = tag_corners(setup.size)
    take = cell.picture
    if take is None:
        exact = ExactDetector(cell.camera, corners)

        def look() -> tuple[_Seen, float, Image | None]:
            seen = exact.detect(cell.true_pose())
            return _Seen(seen.pixels, seen.xy, seen.Z, estimate_planar_pose(seen.xy, corners)), 0.0, None

        return look
    detector = AprilTagDetector(cell.camera, setup.size)

    def look_at_picture() -> tuple[_Seen, float, Image | None]:
        age, image = take()
        tag = detector.find(image, 0)
        return _Seen(tag.pixels, tag.xy, tag.Z, tag.X_CO), age, image

    return look_at_picture


def law_task(law: Law, seen: _Seen, goal: Array, setup: Setup) -> Task:
    """Return the task of a law."""
    if law == "PBVS":
        return pbvs_task(seen.X_CO, goal)
    desired, desired_Z = project_points(tag_corners(setup.size), goal)
    return image_points_task(seen.xy, seen.Z, desired, desired_Z, setup.interaction)


def servo(cell: Cell, start: Start, law: Law, setup: Setup, *, duration: float | None = None) -> Run:
    """Bring the camera of an arm to its goal, with one command a millisecond and one image in 20 ms.

    A run ends `Setup.settle` after the servo has converged, after `Setup.timeout`, or when it stops.

    Args:
        cell: the arm.
        start: where it is, and its goal.
        law: the law.
        setup: gains and limits.
        duration: length of the run [s]; None: until it has converged.
    """
    arm, goal = cell.arm, start.goal
    look = look_with(cell, setup)
    held: list[_Seen] = []
    near = pose_below(setup.translation, setup.rotation)

    def task(_: object) -> Task:
        seen, age, image = look()
        require_fresh(age, MAX_AGE)
        held[:] = [seen]
        ages.append(age)
        images[:] = [image]
        return law_task(law, seen, goal, setup)

    ages: list[float] = []
    images: list[Image | None] = [None]
    loop = VisualServo(
        task,
        setup.gain,
        ServoMonitor(lambda _: near(pose_features(held[0].X_CO, goal))),
        smooth_start=setup.decay if setup.smooth == "published" else 0.0,
    )
    rows = servo_rows()
    status, message, end = "running", "", math.inf
    half = 0.5 * (start.distance + setup.distance)
    kept, kept_row = None, 0
    try:
        begin_with_image(arm, "velocity")
        began = arm.time
        while arm.time - began < (setup.timeout if duration is None else duration) - 0.5 * CYCLE:
            t = arm.time - began
            X_CO = cell.true_pose()
            step = loop(None, t)
            if step.status in (ServoStatus.STOPPED, ServoStatus.DIVERGED):
                status, message = str(step.status), step.message
                break
            velocity = step.velocity * (1.0 - math.exp(-setup.decay * t) if setup.smooth == "scaled" else 1.0)
            rows.add(t, X_CO, held[0].pixels, velocity, arm.get_position())
            if kept is None and np.linalg.norm(X_CO[:3, 3]) <= half:
                kept, kept_row = images[0], len(rows) - 1
            if step.status is ServoStatus.CONVERGED and status != ServoStatus.CONVERGED:
                status, end = str(step.status), t + setup.settle
            if duration is None and t >= end:
                break
            arm.set_velocity("camera", velocity)
        arm.stop_motion()
    except (DeviceError, BridgeError) as fault:
        status, message = "fault", str(fault)
    return make_run(
        cell,
        law,
        goal,
        setup.size,
        rows,
        age=max(ages, default=math.nan),
        status=status,
        message=message or ("" if status == ServoStatus.CONVERGED else f"not converged within {setup.timeout:g} s"),
        image=None if kept is None else np.array(kept),
        image_row=kept_row,
    )


def begin_with_image(arm: FrankaRobot, state: RobotState) -> None:
    """Enter a state of the robot, and wait for the cycle of an image."""
    arm.wait(0.02)  # until there is an image
    arm.set_robot_state(state)
    while round(arm.time / CYCLE) % round(PERIOD / CYCLE):
        arm.wait(CYCLE)


def servo_rows() -> Recorder:
    """Return a recorder of a servo's rows, one per image."""
    return Recorder(time="s", X_CO=("", (4, 4)), pixels=("pixels", (4, 2)), velocity=("", 6), q=("rad", 7))


def make_run(cell: Cell, law: Law, goal: Array, size: float, rows: Recorder, **outcome: object) -> Run:
    """Return what a run gave.

    Args:
        cell: where it was made.
        law: how the camera moved.
        goal: desired pose of the tag in the camera, shape (4, 4).
        size: edge of the tag [m].
        rows: those of `servo_rows`.
        outcome: further fields of `Run`.
    """
    corners = tag_corners(size)
    trace = rows.trace()
    true = np.array([cell.camera.pixels(project_points(corners, X)[0]) for X in trace.X_CO])
    return Run(
        law=law,
        rendered=cell.picture is not None,
        through=cell.through,
        goal=goal,
        true_goal=cell.camera.pixels(project_points(corners, goal)[0]),
        trace=trace.extended({"true_pixels": "pixels"}, true_pixels=true.reshape(-1, 4, 2)),
        **outcome,
    )

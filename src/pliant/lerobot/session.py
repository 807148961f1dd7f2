"""An arm between `connect` and `disconnect`: observations, actions within limits, and the scene of each episode."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.base.errors import DeviceError, PliantError, nearest
from pliant.base.numerics import Array
from pliant.base.spatial import exp_so3, log_so3, pose
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.franka.client import FrankaRobot
from pliant.franka.client.backend import PERIOD
from pliant.franka.robots import kinematics
from pliant.franka.robots.build import Q_START
from pliant.franka.robots.parameters import ARMS, HAND
from pliant.lerobot.options import ArmOptions
from pliant.lerobot.tracker import Order, StreamThread, Tracker
from pliant.model import Camera
from pliant.simulation import Simulation

Action = Mapping[str, Any]
"""An action of LeRobot: numbers by name."""
DOWN = np.diag([1.0, -1.0, -1.0])
"""Rotation of an end effector whose fingers point down; rotations of actions and observations are relative to it."""
JOINTS = tuple(f"joint_{i}.pos" for i in range(1, 8))
POSE = ("x.pos", "y.pos", "z.pos", "rx.pos", "ry.pos", "rz.pos")
GRIPPER, STIFFNESS = "gripper.pos", "stiffness.pos"
FORCE = ("x.force", "y.force", "z.force")
SCENE = ("box.x", "box.y")
START_SPEED = 50.0
"""Percent of the joints' limits at which an arm behind its interface returns to its start pose; assumed."""
BOX, GOAL_X = "box", 0.6
"""Body to push, and where its middle shall come to, before the base [m]."""
BOX_LOW, BOX_HIGH = (0.44, -0.08), (0.5, 0.08)
"""Range of the places of the box before the base [m]."""
GOAL_TOLERANCE = 0.02
"""Distance from the goal that counts as success [m]; assumed."""
CAMERAS = {"wrist": "franka_camera", "table": "table_camera"}
"""Camera of an observation -> device."""
_log = logging.getLogger("pliant.lerobot")
_connected: list[ArmSession] = []


def connected_session() -> ArmSession:
    """Return the session of this process that is connected.

    Raises:
        DeviceError: there is none, or there are several.
    """
    if len(_connected) != 1:
        raise DeviceError(
            f"{len(_connected)} robots of type pliant are connected in this process; the scripted teleoperator needs "
            "exactly one: use it with --robot.type=pliant",
            field="teleop",
        )
    return _connected[0]


def box_place(seed: int, episode: int) -> Array:
    """Return where the box of an episode stands before the base, shape (2,) [m]."""
    return np.random.default_rng([seed, episode]).uniform(BOX_LOW, BOX_HIGH)


class ArmSession:
    """One arm as LeRobot sees it.

    Args:
        options: what the user has chosen.

    Raises:
        DeviceError: a value of the options is invalid.
    """

    def __init__(self, options: ArmOptions) -> None:
        options.check()
        self.options = options
        self.action_names = (
            *(JOINTS if options.action == "joint" else POSE),
            GRIPPER,
            *((STIFFNESS,) if options.stiffness == "action" else ()),
        )
        """Names of the numbers of an action: positions [rad] or [m] and rotation vector [rad], opening of the hand
        [m], stiffness [N/m]."""
        stamps = ("time", *(f"{name}.time" for name in options.pictured)) if options.stamps else ()
        self._scene = SCENE if options.scene == "state" else ()
        self.observation_names = (*JOINTS, *POSE, GRIPPER, *FORCE, *self._scene, *stamps)
        """Names of the numbers of an observation; forces are estimates [N]."""
        self.pictures = dict.fromkeys(options.pictured, (options.height, options.width, 3))
        """Camera -> shape of its pictures, RGB, uint8."""
        self.episode = options.episode
        """Number of the episode."""
        self.resets = 0
        """How often a scene was prepared."""
        self._arm = ARMS[options.arm]
        self._tracker: Tracker | None = None
        self._thread: StreamThread | None = None
        self._robot: FrankaRobot | None = None
        self._simulation: Simulation | None = None
        self.frames = 0
        """Actions since the scene was prepared."""

    # ---------------------------------------------------------------------------------------------- lifetime

    @property
    def connected(self) -> bool:
        """Whether the arm is connected."""
        return self._tracker is not None

    def connect(self) -> None:
        """Connect and prepare the scene of the chosen episode.

        Raises:
            DeviceError: it is connected already, or the arm refuses.
            BridgeError: no arm answers at the address.
        """
        if self.connected:
            raise DeviceError("the arm is connected already; disconnect first", field="connect")
        options = self.options
        if options.address:
            self._robot = FrankaRobot.connect(options.address, arm=options.arm)
            served = self._robot.backend.served_arm()
            if served and served != options.arm:
                self._robot.close()
                self._robot = None
                raise DeviceError(
                    f"the arm at {options.address} is of type {served}; --robot.arm={served} fits", field="arm"
                )
        else:
            self._simulation = _simulation(options)
        _connected.append(self)
        try:
            self.reset(options.episode)
        except BaseException:
            self.disconnect()
            raise

    def disconnect(self) -> None:
        """Bring the arm to rest and disconnect."""
        with contextlib.suppress(PliantError):
            self._report()
        with contextlib.suppress(PliantError):
            self._rest()
        if self._robot is not None:
            self._robot.close()
        if self._simulation is not None:
            self._simulation.close()
        self._robot = self._simulation = self._tracker = None
        if self in _connected:
            _connected.remove(self)

    def _rest(self) -> None:
        thread, self._thread = self._thread, None
        tracker, self._tracker = self._tracker, None
        if thread is not None:
            thread.stop()
        if tracker is not None:
            tracker.stop()

    def reset(self, episode: int) -> None:
        """Prepare the scene of an episode: the arm at its start pose, and the box of a simulated one at its place.

        Raises:
            DeviceError: the arm refuses.
        """
        self._report()
        self._rest()
        self.episode, self.frames = episode, 0
        if self._simulation is not None:
            self._simulation.reset(seed=self.options.seed)
            self._place(self._simulation)
            self._robot = FrankaRobot.of(self._simulation)
        robot = self._robot
        if robot is None:
            raise DeviceError("the arm is not connected; call connect() first", field="connect")
        if self._simulation is None:
            robot.set_positioning_velocity(START_SPEED)
            robot.set_position("joint", Q_START)
            robot.set_robot_state("stop")
        options = self.options
        self._tracker = Tracker(robot, impedance=options.stiffness != "none", stiffness=options.translation_stiffness)
        if self._simulation is None:
            self._thread = StreamThread(self._tracker)
        while any(device not in self._simulation.latest for device in self._devices()) if self._simulation else False:
            self._tracker.cycle()
        # Load the remaining kernels now: the first action must not wait for a compiler.
        self._joints(self.pose, self._tracker.state.reference, 1.0)
        self.resets += 1

    def _devices(self) -> list[str]:
        return [CAMERAS[name] for name in self.pictures]

    def _place(self, simulation: Simulation) -> None:
        """Put the box of a simulated scene to the place of the episode."""
        if self.options.task != "push":
            return
        state: Any = simulation.engine
        base = state.model.body("franka_link0").pos
        place = state.data.joint(BOX).qpos
        place[:2] = base[:2] + box_place(self.options.seed, self.episode)
        state.forward()

    # -------------------------------------------------------------------------------------------------- loop

    def _running(self) -> Tracker:
        if self._tracker is None:
            raise DeviceError("the arm is not connected; call connect() first", field="connect")
        if self._thread is not None:
            self._thread.check()
        return self._tracker

    @property
    def time(self) -> float:
        """Robot time [s]; it begins anew in each episode of a simulated arm."""
        return self._running().state.time

    def observe(self) -> dict[str, Any]:
        """Return an observation: a number for each name, a picture for each camera.

        Raises:
            DeviceError: it is not connected, or the arm has ended the motion.
        """
        state = self._running().state
        scene = self.box()[:2] if self._scene else ()
        values = (*state.q, *self._pose(state.q), state.width, *state.force, *scene)
        found: dict[str, Any] = dict(zip(self.observation_names, map(float, values), strict=False))
        if self.options.stamps:
            found["time"] = state.time
        if self._simulation is not None:
            for name in self.pictures:
                sample = self._simulation.sample(CAMERAS[name])
                found[name] = sample.values["image"]
                if self.options.stamps:
                    found[f"{name}.time"] = sample.stamp_ns * 1e-9
        return found

    @staticmethod
    def pose_matrix(motion: Array) -> Array:
        """Return the pose in the base of a position [m] and a rotation vector [rad] as in `POSE`, shape (4, 4)."""
        return pose(motion[:3], exp_so3(motion[3:]) @ DOWN)

    def _pose(self, q: Array) -> Array:
        X = kinematics.forward_kinematics(q, F_T_EE=self.tool())
        return np.concatenate([X[:3, 3], log_so3(X[:3, :3] @ DOWN.T)])

    def tool(self) -> Array:
        """Return the pose of the end effector in the flange, shape (4, 4)."""
        return self._running().robot.backend.pose("F_T_EE")

    def act(self, action: Action) -> dict[str, float]:
        """Send an action; a simulated arm then advances by one frame of robot time.

        Args:
            action: a finite number for each of `action_names`.

        Returns:
            The action within the limits of positions, opening, stiffness and speeds.

        Raises:
            DeviceError: other names, numbers that are not finite, or the arm has ended the motion.
        """
        tracker = self._running()
        values = self._checked(action)
        options, start, frame = self.options, tracker.state.reference, 1.0 / self.options.fps
        motion = values[: 7 if options.action == "joint" else 6]
        q = motion if options.action == "joint" else self._joints(motion, start, frame)
        low, high = np.array(self._arm.limits.position_min), np.array(self._arm.limits.position_max)
        q = np.clip(q, low, high)
        most = min(options.joint_speed, float(np.min(self._arm.limits.velocity))) * frame
        q = start + np.clip(q - start, -most, most)
        rest = values[len(motion) :]
        width = float(np.clip(rest[0], 0.0, HAND.max_width))
        stiffness = float(np.clip(rest[1], 50.0, 3000.0)) if len(rest) > 1 else options.translation_stiffness
        speed = np.abs(q - start) / frame
        tracker.order = Order(tuple(q.tolist()), tuple(speed.tolist()), width, stiffness)
        if self._thread is not None:
            self.frames += 1
        else:
            done = round(self.frames * frame / PERIOD)
            self.frames += 1
            for _ in range(round(self.frames * frame / PERIOD) - done):
                tracker.cycle()
        sent = [*(q if options.action == "joint" else self._pose(q)), width, stiffness]
        return dict(zip(self.action_names, map(float, sent), strict=False))

    def _checked(self, action: Action) -> Array:
        wanted = self.action_names
        if set(action) != set(wanted):
            raise DeviceError(_misfit(action, wanted, self.options), field="action")
        found = np.array([float(action[name]) for name in wanted])
        wrong = np.flatnonzero(~np.isfinite(found))
        if len(wrong):
            name = wanted[wrong[0]]
            raise DeviceError(f"action {name} is {found[wrong[0]]}; must be a finite number", field=name)
        return found

    def _joints(self, motion: Array, start: Array, frame: float) -> Array:
        """Return the joints of a pose, or of one towards it at the largest speeds; `start` where there are none."""
        options, tool = self.options, self.tool()
        X = kinematics.forward_kinematics(start, F_T_EE=tool)
        way = motion[:3] - X[:3, 3]
        turn = log_so3(self.pose_matrix(motion)[:3, :3] @ X[:3, :3].T)
        way *= min(1.0, options.speed * frame / max(float(np.linalg.norm(way)), 1e-12))
        turn *= min(1.0, options.turn_speed * frame / max(float(np.linalg.norm(turn)), 1e-12))
        goal = pose(X[:3, 3] + way, exp_so3(turn) @ X[:3, :3])
        try:
            return kinematics.inverse_kinematics(goal, start, F_T_EE=tool)
        except PliantError:
            return start

    # -------------------------------------------------------------------------------------------------- task

    def box(self) -> Array:
        """Return where the box stands before the base, shape (3,) [m]; its usual place behind an interface."""
        if self._simulation is None:
            return np.array([0.5 * (BOX_LOW[0] + BOX_HIGH[0]), 0.0, 0.025])
        state: Any = self._simulation.engine
        return state.data.body(BOX).xpos - state.model.body("franka_link0").pos

    @property
    def pose(self) -> Array:
        """Position [m] and rotation vector [rad] of the end effector, as in `POSE`, shape (6,)."""
        return self._pose(self._running().state.q)

    @property
    def succeeded(self) -> bool:
        """Whether the box is at its goal."""
        return math.isclose(float(self.box()[0]), GOAL_X, abs_tol=GOAL_TOLERANCE)

    def _report(self) -> None:
        """Log how the episode ended."""
        if self._tracker is None or not self.frames:
            return
        x, y, z = self.pose[:3].tolist()
        text = f"episode {self.episode}: {self.frames} actions, end effector at {x:.4f}, {y:.4f}, {z:.4f} m"
        if self._simulation is not None and self.options.task == "push":
            verdict = "success" if self.succeeded else f"failure, must be within {GOAL_TOLERANCE} m of {GOAL_X} m"
            text += f", box at {float(self.box()[0]):.3f} m: {verdict}"
        _log.info(text)


def _misfit(action: Action, wanted: tuple[str, ...], options: ArmOptions) -> str:
    """Return why an action of another robot, or of other options, does not fit, and what would."""
    names = set(action)
    motions = {"joint": JOINTS, "cartesian": POSE}
    for kind, motion in motions.items():
        fits = {*motion, GRIPPER}
        if names in (fits, {*fits, STIFFNESS}):
            stiffness = "action" if STIFFNESS in names else "none or fixed"
            return (
                f"the action is of a pliant arm with action={kind} and stiffness={stiffness}, and this one has "
                f"action={options.action} and stiffness={options.stiffness}; --robot.action={kind} "
                f"--robot.stiffness={stiffness.partition(' ')[0]} fits"
            )
    extra, missing = sorted(names - set(wanted)), [name for name in wanted if name not in names]
    near = f"; {nearest(extra[0], missing)}" if extra and missing else ""
    return (
        f"the action is of another robot: it has {', '.join(extra) or 'nothing else'} and lacks "
        f"{', '.join(missing) or 'nothing'}{near}. A dataset or policy fits that was recorded with "
        f"--robot.type=pliant --robot.action={options.action} --robot.stiffness={options.stiffness}"
    )


def _simulation(options: ArmOptions) -> Simulation:
    """Return the simulation of an arm before its task."""
    import pliant

    push = options.task == "push"
    robot = pliant.load(
        "franka" if options.arm == "fer" else options.arm,
        options={"camera": options.views, "table": push, "objects": (BOX,) if push else ()},
    )
    seen = {CAMERAS[name] for name in options.pictured}
    described: list[Any] = []
    for device in robot.devices:
        if isinstance(device, Camera):
            if device.name not in seen:
                continue
            device = dataclasses.replace(
                device, width=options.width, height=options.height, rate=options.fps, depth=False
            )
        described.append(device)
    robot.devices[:] = described
    return Simulation(MujocoEngine(robot), make_devices(robot), pacer="free", seed=options.seed)

"""A robot with all its devices as a `gymnasium.Env`, with noise, latency and delay as on the hardware."""

from __future__ import annotations

import contextlib
import math
import tempfile
from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import DivergedError, ModelError, PliantError, PortError, nearest
from pliant.base.numerics import is_number
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.engine.distributions import draw
from pliant.laws import COMMAND_NAMES
from pliant.learn.envs.actions import Scale, checked_actions, observe, reward_terms
from pliant.learn.envs.optional import load_gymnasium
from pliant.learn.envs.pictures import Pictures, add_camera, chosen_camera, picture_size
from pliant.learn.envs.task import Task, flags, positions, reset_options, start_positions
from pliant.simulation import Simulation

gymnasium = load_gymnasium()

__all__ = ["RobotEnv"]


class _Truth:
    """The engine as the functions of a task see it: what is, not what is measured."""

    worlds = 1

    def __init__(self, engine: MujocoEngine, actions: int, period: float) -> None:
        self.engine = engine
        self.elapsed = 0
        self.period = period
        self.last = np.zeros((1, actions))

    def port(self, name: str) -> NDArray[np.float64]:
        view = self.engine.port(name)[None]
        view.flags.writeable = False  # a function that changes a port would change the state
        return view

    @property
    def time(self) -> NDArray[np.float64]:
        return np.array([self.elapsed * self.period])

    @property
    def action(self) -> NDArray[np.float64]:
        return self.last


class _Measured(_Truth):
    """The same, but with the samples of devices where a device measures what a port carries."""

    def __init__(self, truth: _Truth, simulation: Simulation) -> None:
        super().__init__(truth.engine, truth.last.shape[1], truth.period)
        self._truth = truth
        self._simulation = simulation
        self._samples = {
            f"{name}/{quantity}": (name, quantity, info)
            for name, device in simulation.devices.items()
            for quantity, info in device.samples.items()
        }

    def port(self, name: str) -> NDArray[np.float64]:
        ports = self._truth.engine.ports()
        if name not in self._samples:
            if name not in ports:
                known = nearest(name, [*ports, *self._samples])
                raise PortError(f"no port and no field of a device {name!r}; {known}", field=name)
            return self._truth.port(name)
        device, quantity, info = self._samples[name]
        try:
            value = self._simulation.sample(device).values[quantity]
        except PliantError:  # before the first measurement
            return self._truth.port(name) if name in ports else np.zeros((1, *(info.shape or (1,))))
        return np.atleast_1d(np.asarray(value, dtype=float))[None]

    @property
    def time(self) -> NDArray[np.float64]:
        return self._truth.time

    @property
    def action(self) -> NDArray[np.float64]:
        return self._truth.last


class RobotEnv(gymnasium.Env):
    """Environment with the interface of the hardware: actions are commands to devices, observations are their samples.

    Observation functions receive measurements of the devices, with noise, quantisation and latency. They may also use
    fields that are not ports, such as ``imu/angular_velocity``, which is 0 before the first measurement. Ports without
    a device, rewards and terminations use the true state.

    Args:
        task: the task to learn.
        render_mode: ``"rgb_array"`` or None.
        latency: age of the measurements [s].
        command_latency: delay of the commands [s], to devices and to ports alike.
        width: width of an image [pixel].
        height: height of an image [pixel].

    Raises:
        PliantError: the port of an action does not exist, the robot check finds errors, or an option is invalid.

    Example:
        >>> env = RobotEnv(throw(), latency=0.004, command_latency=0.002)
        >>> observation, info = env.reset(seed=1)
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 50}  # noqa: RUF012 - as in Gymnasium

    def __init__(
        self,
        task: Task,
        *,
        render_mode: str | None = None,
        latency: float = 0.0,
        command_latency: float = 0.0,
        width: int = 480,
        height: int = 360,
    ) -> None:
        if render_mode not in (None, "rgb_array"):
            raise PliantError(f"render_mode is {render_mode!r}; must be 'rgb_array' or None", field="render_mode")
        self.task = task
        self.render_mode = render_mode
        self._delays = {"latency": latency, "command_latency": command_latency}
        for name, value in self._delays.items():
            if not is_number(value) or not 0.0 <= value < math.inf:
                raise PliantError(f"{name} is {value!r}; must be a time >= 0 s", field=name)
        robot = task.robot()
        self._robot = add_camera(robot) if render_mode else robot
        self._size = picture_size(width, height)
        self._pictures: Pictures | None = None
        self._ended, self._broken = True, False
        self._scale = Scale(task.actions)
        count = len(task.actions)
        folder = tempfile.TemporaryDirectory(prefix="pliant-env-", ignore_cleanup_errors=True)
        self._folder: tempfile.TemporaryDirectory[str] | None = folder
        with contextlib.ExitStack() as unfinished:
            unfinished.callback(folder.cleanup)
            self.simulation = self._made(self._robot)
            """The `Simulation` below."""
            unfinished.callback(self.simulation.close)
            self._observation = observe(task, self._measured)
            self._camera = chosen_camera(self._engine.model, task.camera) if render_mode else ""
            unfinished.pop_all()
        self.metadata = {**type(self).metadata, "render_fps": max(1, round(1.0 / self._truth.period))}
        self._limit = task.limit(self._engine.dt)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (count,), np.float32)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, self._observation.shape[1:], np.float32)

    def _dumps(self) -> str:
        """Return the folder for the states of robots that diverge; an error after `close`."""
        if self._folder is None:
            raise PliantError("the environment is closed; make a new one")
        return self._folder.name

    def _made(self, robot: Any) -> Simulation:
        """Return a new simulation of a robot."""
        self._engine = MujocoEngine(robot, dump_folder=self._dumps())
        self.frames = self.task.frames(self._engine.dt)
        """Steps of the engine for each action."""
        period = self.frames * self._engine.dt
        made = make_devices(robot, joint_sample_period=self._engine.dt, **self._delays)
        devices = self.task.kept_devices(made)
        self.task.check_ports(self._engine.ports(), devices)
        simulation = Simulation(self._engine, devices, pacer="free")
        self._truth = _Truth(self._engine, len(self.task.actions), period)
        self._measured = _Measured(self._truth, simulation)
        self._commands: list[tuple[str, str, int]] = []
        self._line: deque[tuple[int, dict[str, float]]] = deque()
        for k, action in enumerate(self.task.actions):
            joint, _, field = action.port.rpartition("/")
            actuator = robot.actuators.get(joint)
            if actuator is not None and field in ("reference_1", "reference_2") and joint in simulation.devices:
                self._commands.append((joint, COMMAND_NAMES[actuator.mode][0 if field == "reference_1" else 1], k))
            else:
                self._commands.append(("", action.port, k))
        return simulation

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start an episode.

        Args:
            seed: new seed for start positions, parameters and the noise of devices.
            options: ``key``: key frame to start from; ``positions``: joint name -> position [rad or m].

        Returns:
            The observation, shape (n,), and an empty dictionary.

        Raises:
            PliantError: an option, a key frame or a joint does not exist, or the environment is closed.
        """
        self._dumps()
        super().reset(seed=seed)
        chosen = reset_options(options, ["key", "positions"])
        key, given = chosen.get("key", self.task.key), start_positions(chosen.get("positions") or {})
        for joint, array in given.items():
            if array.shape not in ((), (1,)):
                raise ModelError(f"positions: {joint!r} has shape {array.shape}; must be one number", field="positions")
        if self.task.randomize:
            robot = self._robot.copy()
            drawn = draw(self.task.randomize, int(self.np_random.integers(2**31)), 1)
            robot.update({path: float(value[0]) for path, value in drawn.items()})
            self._renew(robot)
        elif self._broken:
            self._renew(self._robot)
        self.simulation.reset(seed=int(self.np_random.integers(2**31)))
        start = key_positions(self._engine.model, key) if key else {}
        start |= {joint: float(v[0]) for joint, v in positions(self.task, self.np_random, 1).items()}
        start |= {joint: float(array.item()) for joint, array in given.items()}
        if start:
            self._engine.set_pose(start)
        self._truth.elapsed = 0
        self._truth.last[:] = 0.0
        self._line.clear()
        self._ended = False
        self._observation = observe(self.task, self._measured)
        return self._observation[0].copy(), {}

    def _renew(self, robot: Any) -> None:
        """Replace the simulation; a world that diverged has closed its own."""
        self.simulation.close()
        self._broken = False
        self.simulation = self._made(robot)
        if self._pictures is not None:
            self._pictures.close()
            self._pictures = None

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Advance by one period.

        Args:
            action: action, shape (actions,); values are clipped to -1 to 1.

        Returns:
            Observation, reward, terminated, truncated and info. The info has all terms of the reward in ``reward``
            and, at the end of an episode, the ``reason``.

        Raises:
            PortError: the action has another shape, or is not finite.
            PliantError: the environment was not reset, or the episode has ended.
        """
        if self._ended:
            raise PliantError("step() was called before reset(), or after the end of an episode; call reset()")
        command = checked_actions(action, (len(self.task.actions),))
        values = self._scale.values(command)
        self._send(values)
        self._truth.last[:] = command
        self._truth.elapsed += 1
        try:
            self._advance()
        except DivergedError as error:
            self._ended = self._broken = True
            info = {"reason": f"diverged: {error}", "reward": dict.fromkeys(self.task.reward, 0.0)}
            return self._observation[0].copy(), float(self.task.diverged_reward), True, False, info
        self._observation = observe(self.task, self._measured)
        reward, terms = reward_terms(self.task, self._truth)
        endings = dict(zip(self.task.terminated, flags(self.task.terminated, self._truth)))
        reason = next((name for name, ending in endings.items() if ending[0]), "")
        truncated = not reason and self._truth.elapsed >= self._limit
        info: dict[str, Any] = {"reward": {name: float(term[0]) for name, term in terms.items()}}
        if reason or truncated:
            info["reason"] = reason or "duration"
            self._ended = True
        return self._observation[0].copy(), float(reward[0]), bool(reason), truncated, info

    def _send(self, values: NDArray[np.float64]) -> None:
        """Give the actions to the devices, and to ports without a device after the same latency."""
        puts: dict[str, dict[str, float]] = {}
        ports: dict[str, float] = {}
        for device, name, k in self._commands:
            if device:
                puts.setdefault(device, {})[name] = float(values[k])
            else:
                ports[name] = float(values[k])
        for device, fields in puts.items():
            self.simulation.devices[device].inbox.put(fields)
        if ports:
            due = self._engine.time_ns + round(1e9 * self._delays["command_latency"])
            self._line.append((due, ports))

    def _advance(self) -> None:
        """Step by one period; what is on its way to a port is written before the first step at which it is due."""
        line, left, dt_ns = self._line, self.frames, round(1e9 * self._engine.dt)
        while left:
            now = self._engine.time_ns
            while line and line[0][0] <= now:
                for name, value in line.popleft()[1].items():
                    self._engine.port(name)[:] = value
            steps = min(left, -((now - line[0][0]) // dt_ns)) if line else left
            self.simulation.step(steps)
            left -= steps

    def __getstate__(self) -> Any:
        """Refuse a copy: the state of the physics is not in Python."""
        raise PliantError(
            "an environment cannot be pickled or copied; pass a function that makes one, as AsyncVectorEnv does"
        )

    def render(self) -> NDArray[np.uint8] | None:
        """Return an RGB image, shape (height, width, 3).

        Raises:
            MissingDependency: no graphics library is available.
        """
        if self.render_mode is None:
            return None
        self._dumps()
        if self._pictures is None:
            self._pictures = Pictures(self._engine.model, self._camera, *self._size)
        return self._pictures.render(self._engine.port("state/qpos"))

    def close(self) -> None:
        """Close devices and graphics. May be called twice."""
        self.simulation.close()
        if self._pictures is not None:
            self._pictures.close()
            self._pictures = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


def key_positions(model: Any, key: str) -> dict[str, float]:
    """Return the positions of the hinge joints [rad] and slide joints [m] in a key frame, by joint name.

    Raises:
        ModelError: the key frame does not exist.
    """
    names = [model.key(k).name for k in range(model.nkey)]
    if key not in names:
        raise ModelError(f"no key frame {key!r}; {nearest(key, names)}", field="key")
    qpos = model.key_qpos[names.index(key)]
    return {
        model.joint(j).name: float(qpos[model.jnt_qposadr[j]])
        for j in range(model.njnt)
        if int(model.jnt_type[j]) >= 2 and model.joint(j).name
    }

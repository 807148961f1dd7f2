"""A robot with all its devices as a `gymnasium.Env`, with noise, latency and delay as on the hardware."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.base.errors import DeviceError, DivergedError, ModelError, PliantError
from pliant.batch.distributions import draw
from pliant.learn.envs.actions import Scale, checked_actions, observe, reward_terms
from pliant.learn.envs.delays import check_delays
from pliant.learn.envs.optional import load_gymnasium
from pliant.learn.envs.pictures import Cameras, Observations, add_camera, picture_size
from pliant.learn.envs.plant import Plant, key_positions
from pliant.learn.envs.task import Task, flags, joined_ports, positions, reset_options, start_positions
from pliant.simulation import Simulation

gymnasium = load_gymnasium()


@dataclass(slots=True)
class _Episode:
    """How far an episode is: the period of the actions [s], the last one, shape (1, n), and how many there were."""

    period: float
    last: NDArray[np.float64]
    elapsed: int = 0


class _View:
    """The engine as the functions of a task see it.

    Args:
        plant: the robot with its devices.
        episode: how far the episode is.
        measured: samples of devices where a device measures what a port carries; else what is, and samples only of
            what is no port.
    """

    worlds = 1

    def __init__(self, plant: Plant, episode: _Episode, *, measured: bool) -> None:
        self._plant = plant
        self._episode = episode
        self._measured = measured

    def port(self, name: str) -> NDArray[np.float64]:
        plant = self._plant
        sampled = self._measured or (name not in plant.engine.ports() and name in plant.samples)
        view = (plant.measured(name) if sampled else plant.engine.port(name))[None]
        view.flags.writeable = False  # it may be the state, which a function of the task cannot change
        return view

    def ports(self, names: Sequence[str]) -> NDArray[np.float64]:
        return joined_ports(self, names)

    @property
    def time(self) -> NDArray[np.float64]:
        return np.array([self._episode.elapsed * self._episode.period])

    @property
    def action(self) -> NDArray[np.float64]:
        return self._episode.last


class RobotEnv(gymnasium.Env):
    """Environment with the interface of the hardware: actions are commands to devices, observations are their samples.

    Observation functions receive measurements of the devices, with noise, quantisation and latency. They may also use
    fields that are not ports, such as ``imu/angular_velocity``, which is 0 before the first measurement. Ports without
    a device, rewards and terminations use the true, present state.

    Args:
        task: the task to learn.
        render_mode: ``"rgb_array"`` or None.
        cameras: cameras of the model whose pictures are observed; the observation then is a dictionary of ``state``,
            and of each camera a picture of shape (height, width, 3), uint8.
        latency: age of the measurements, not of pictures [s], rounded to whole steps of the engine.
        command_latency: delay of the commands [s], to devices and to ports alike, rounded in the same way.
        width: width of an image [pixel].
        height: height of an image [pixel].

    Raises:
        PliantError: the port of an action does not exist, the robot check finds errors, or an option is invalid.

    Example:
        >>> env = RobotEnv(throw(), latency=0.004, command_latency=0.002)
        >>> observation, info = env.reset(seed=1)
    """

    metadata: dict[str, object] = {"render_modes": ["rgb_array"], "render_fps": 50}  # noqa: RUF012 - as in Gymnasium

    def __init__(
        self,
        task: Task,
        *,
        render_mode: str | None = None,
        latency: float = 0.0,
        command_latency: float = 0.0,
        cameras: Sequence[str] = (),
        width: int = 480,
        height: int = 360,
    ) -> None:
        if render_mode not in (None, "rgb_array"):
            raise PliantError(f"render_mode is {render_mode!r}; must be 'rgb_array' or None", field="render_mode")
        self.task = task
        self.render_mode = render_mode
        self._delays = check_delays({"latency": latency, "command_latency": command_latency})
        robot = task.robot()
        self._robot = add_camera(robot) if render_mode else robot
        self._size = picture_size(width, height)
        self._ended, self._broken = True, False
        self._episodes = 0
        self._scale = Scale(task.actions)
        count = len(task.actions)
        folder = tempfile.TemporaryDirectory(prefix="pliant-env-", ignore_cleanup_errors=True)
        self._folder: tempfile.TemporaryDirectory[str] | None = folder
        with contextlib.ExitStack() as unfinished:
            unfinished.callback(folder.cleanup)
            first = draw(task.distributions(0), 0, 1)
            self._plant = self._made({path: float(value[0]) for path, value in first.items()})  # checks every name
            unfinished.callback(self._plant.close)
            key_positions(self._plant.engine.model, task.key)
            self._observation = observe(task, self._measured)
            self._look(cameras)
            unfinished.pop_all()
        self.metadata = {**type(self).metadata, "render_fps": max(1, round(1.0 / self._episode.period))}
        self._limit = task.limit(self._plant.engine.dt)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (count,), np.float32)
        state = gymnasium.spaces.Box(-np.inf, np.inf, self._observation.shape[1:], np.float32)
        self.observation_space = self._cameras.space(state)

    def _look(self, cameras: Sequence[str]) -> None:
        """Look through the cameras that are observed and the one that is rendered, at the present robot."""
        model = self._plant.engine.model
        self._cameras = Cameras(model, cameras, self._size)
        self._view = Cameras(model, [self.task.camera] if self.render_mode else [], self._size)

    def _seen(self) -> Observations:
        """Return a copy of the observation, with the pictures of the cameras."""
        state = self._observation[0].copy()
        if not self._cameras.names:
            return state
        return {"state": state, **self._cameras.render(self._plant.engine.port("state/qpos"))}

    def _dumps(self) -> str:
        """Return the folder for the states of robots that diverge; an error after `close`."""
        if self._folder is None:
            raise PliantError("the environment is closed; make a new one")
        return self._folder.name

    def _made(self, parameters: Mapping[str, float]) -> Plant:
        """Return a new simulation of the robot with other parameters."""
        plant = Plant(self._robot, self.task, dump_folder=self._dumps(), delays=self._delays, parameters=parameters)
        self.frames = self.task.frames(plant.engine.dt)
        """Steps of the engine for each action."""
        self._episode = _Episode(self.frames * plant.engine.dt, np.zeros((1, len(self.task.actions))))
        self._truth = _View(plant, self._episode, measured=False)
        self._measured = _View(plant, self._episode, measured=True)
        return plant

    @property
    def simulation(self) -> Simulation:
        """The `Simulation` below."""
        return self._plant.simulation

    def reset(
        self, *, seed: int | None = None, options: dict[str, object] | None = None
    ) -> tuple[Observations, dict[str, object]]:
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
        distributions = self.task.distributions(self._episodes)
        if distributions:
            drawn = draw(distributions, int(self.np_random.integers(2**31)), 1)
            self._renew({path: float(value[0]) for path, value in drawn.items()})
        elif self._broken:
            self._renew({})
        seed_of_noise = int(self.np_random.integers(2**31))
        start = key_positions(self._plant.engine.model, key)
        start |= {joint: float(v[0]) for joint, v in positions(self.task, self.np_random, 1).items()}
        start |= {joint: float(array.item()) for joint, array in given.items()}
        self._plant.reset(seed_of_noise, start)
        self._episode.elapsed = 0
        self._episode.last[:] = 0.0
        self._ended = False
        self._observation = observe(self.task, self._measured)
        return self._seen(), {}

    def _renew(self, parameters: Mapping[str, float]) -> None:
        """Replace the simulation; a world that diverged has closed its own."""
        self._plant.close()
        self._broken = False
        self._close_cameras()
        self._plant = self._made(parameters)
        self._look(self._cameras.names)

    def step(self, action: ArrayLike) -> tuple[Observations, float, bool, bool, dict[str, object]]:
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
        self._dumps()
        if self._ended:
            raise PliantError("step() was called before reset(), or after the end of an episode; call reset()")
        command = checked_actions(action, (len(self.task.actions),))
        self._plant.give(self._scale.values(command))
        self._episode.last[:] = command
        self._episode.elapsed += 1
        try:
            self._plant.advance(self.frames)
        except (DivergedError, DeviceError) as error:
            self._ended = self._broken = True
            self._episodes += 1
            kind = "diverged" if isinstance(error, DivergedError) else "stopped"
            info = {"reason": f"{kind}: {error}", "reward": dict.fromkeys(self.task.reward, 0.0)}
            return self._seen(), float(self.task.diverged_reward), True, False, info
        self._observation = observe(self.task, self._measured)
        reward, terms = reward_terms(self.task, self._truth)
        endings = dict(zip(self.task.terminated, flags(self.task.terminated, self._truth)))
        reason = next((name for name, ending in endings.items() if ending[0]), "")
        truncated = not reason and self._episode.elapsed >= self._limit
        info: dict[str, object] = {"reward": {name: float(term[0]) for name, term in terms.items()}}
        if reason or truncated:
            info["reason"] = reason or "duration"
            self._ended = True
            self._episodes += 1
        return self._seen(), float(reward[0]), bool(reason), truncated, info

    def __getstate__(self) -> NoReturn:
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
        (picture,) = self._view.render(self._plant.engine.port("state/qpos")).values()
        return picture

    def _close_cameras(self) -> None:
        self._cameras.close()
        self._view.close()

    def close(self) -> None:
        """Close devices and graphics; further steps are refused. May be called twice."""
        self._plant.close()
        self._close_cameras()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

"""Many worlds of a robot as a `gymnasium.vector.VectorEnv`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.base.errors import ModelError, PliantError, nearest
from pliant.batch.distributions import draw
from pliant.batch.worlds import CpuBatch, RobotBatch, Selection
from pliant.learn.envs.actions import ActionWriter, Scale, reward_terms
from pliant.learn.envs.delays import AgedWorld, Delays, ObservationNoise, check_delays
from pliant.learn.envs.device_batch import DeviceBatch
from pliant.learn.envs.gather import JoinedPorts, Observer, can_gather
from pliant.learn.envs.optional import load_gymnasium
from pliant.learn.envs.pictures import Cameras, Observations, add_camera, picture_size
from pliant.learn.envs.plant import DELAYS, commanded_channels, key_positions, measured_names
from pliant.learn.envs.task import (
    Task,
    evaluate,
    flags,
    joined_ports,
    named_options,
    positions,
    reset_options,
    start_positions,
)

if TYPE_CHECKING:
    from gymnasium.vector import AutoresetMode

gymnasium = load_gymnasium()

Infos = dict[str, Any]
"""Arrays by name, as Gymnasium has them."""
RENDERED = 16
"""Maximum number of worlds that `render` draws."""


class WorldStates(TypedDict):
    """State of worlds, from which a `BatchEnv` continues."""

    batch: dict[str, NDArray[np.generic]]
    elapsed: NDArray[np.int64]
    action: NDArray[np.float64]
    ended: NDArray[np.bool_]
    observation: NDArray[np.float32]
    rng: list[dict[str, object]]


class _BatchWorld:
    """A batch as the functions of a task see it."""

    def __init__(self, batch: RobotBatch, actions: int) -> None:
        self.worlds = batch.worlds
        self._batch = batch
        # On the CPU, Warp's too, a port is the memory itself; from a GPU a field is fetched once per step, on request.
        self.live = batch.live and isinstance(batch.port("state/qpos"), np.ndarray)
        self._ports: dict[str, NDArray[np.float64]] = {}
        self._fields: dict[str, NDArray[np.float64]] = {}
        self._joined: dict[Sequence[str], JoinedPorts] = {}
        self._time = np.zeros(batch.worlds)
        self.elapsed = np.zeros(batch.worlds, dtype=np.int64)
        self.last = np.zeros((batch.worlds, actions))
        self.period = 0.0

    def port(self, name: str) -> NDArray[np.float64]:
        found = self._ports.get(name)
        if found is None and name in self._batch.sampled:
            found = self._ports[name] = self._batch.port(name)
            found.flags.writeable = False
        if found is None:
            place = self._batch.place(name)
            whole = self._fields.get(place.field)
            if whole is None:
                whole = self._fields[place.field] = self._batch.field(place.field)
            found = self._ports[name] = whole[(slice(None), *place.index)]
            found.flags.writeable = False  # a function that changes a port would change the state
        return found

    def ports(self, names: Sequence[str]) -> NDArray[np.float64]:
        joined = self._joined.get(names := tuple(names))
        if joined is None:
            if not self.live or not can_gather(parts := [self.port(name) for name in names], self.worlds):
                return joined_ports(self, names)
            joined = self._joined[names] = JoinedPorts(parts)
        return joined.read()

    def stepped(self) -> None:
        """Forget copies of ports that are not live."""
        if not self.live:
            self._ports.clear()
            self._fields.clear()

    @property
    def time(self) -> NDArray[np.float64]:
        return np.multiply(self.elapsed, self.period, out=self._time)

    @property
    def action(self) -> NDArray[np.float64]:
        return self.last


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchOptions:
    """Options of a `BatchEnv`.

    Raises:
        PliantError: a value is invalid.
    """

    autoreset_mode: str | AutoresetMode = "NextStep"
    """``"NextStep"`` (Gymnasium's default), ``"SameStep"`` or ``"Disabled"``. With ``"Disabled"``, worlds whose episode
    has ended must be reset with ``reset(options={"reset_mask": mask})``."""
    max_episode_steps: int | None = None
    """Number of actions after which an episode is truncated; None for the duration of the task."""
    batch: Callable[..., RobotBatch] | None = None
    """Function of a robot and a number of worlds that returns the batch; None for `pliant.batch.CpuBatch`."""
    cameras: Sequence[str] = ()
    """Cameras of the model whose pictures are observed. The observation then is a dictionary of ``state``, shape
    (num_envs, n), and of each camera its pictures, shape (num_envs, height, width, 3), uint8. They are drawn one after
    another, and show what moves, not what ``randomize`` changes: for a few worlds."""
    render_mode: str | None = None
    """``"rgb_array"`` or None."""
    width: int = 480
    """Width of an image [pixel]."""
    height: int = 360
    """Height of an image [pixel]."""
    latency: float = 0.0
    """Age of what devices measure [s], rounded to whole steps of the engine; ports that no device measures, the time
    and the last action are the present ones."""
    command_latency: float = 0.0
    """Delay of the actions [s], rounded to whole steps of the engine."""
    noise: Mapping[str, float] | None = None
    """Name of an observation -> standard deviation of its noise, in its unit."""

    def __post_init__(self) -> None:
        modes = {mode.value: mode for mode in gymnasium.vector.AutoresetMode}
        mode = getattr(self.autoreset_mode, "value", self.autoreset_mode)
        if mode not in modes:
            raise PliantError(f"autoreset_mode is {mode!r}; {nearest(str(mode), modes)}", field="autoreset_mode")
        object.__setattr__(self, "autoreset_mode", modes[mode])
        if self.render_mode not in (None, "rgb_array"):
            raise PliantError(f"render_mode is {self.render_mode!r}; must be 'rgb_array' or None", field="render_mode")
        steps = self.max_episode_steps
        if steps is not None and (isinstance(steps, bool) or not isinstance(steps, int) or steps < 1):
            raise PliantError(f"max_episode_steps is {steps!r}; must be a whole number >= 1", field="max_episode_steps")
        if self.batch is not None and not callable(self.batch):
            raise PliantError(
                f"batch is {self.batch!r}; must be a function of a robot and a number of worlds", field="batch"
            )


class BatchEnv(gymnasium.vector.VectorEnv):
    """Many worlds of a robot in one batch, with laws, motors, friction and contacts.

    Commands of joints and motors go to them without a device. Where an action is a command that a firmware computes
    with, such as the joint velocities of an arm, each world has all devices of the robot (`DeviceBatch`).

    Args:
        task: the task to learn.
        num_envs: number of worlds.
        options: fields of `BatchOptions`, by name.

    Raises:
        PliantError: the command of an action or a parameter of ``randomize`` does not exist, the robot check finds
            errors, or an option is invalid.

    Example:
        >>> env = BatchEnv(throw(), num_envs=256)
        >>> observations, infos = env.reset(seed=1)
        >>> observations, rewards, terminated, truncated, infos = env.step(env.action_space.sample())
    """

    metadata: dict[str, object] = {  # noqa: RUF012 - Gymnasium reads it from the class
        "render_modes": ["rgb_array"],
        "autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP,
    }

    def __init__(self, task: Task, num_envs: int = 1, **options: Any) -> None:
        chosen = BatchOptions(**named_options(options, BatchOptions.__slots__, "BatchEnv"))
        self.task = task
        self.autoreset_mode = gymnasium.vector.AutoresetMode(chosen.autoreset_mode)
        mode = self.autoreset_mode.value
        self._disabled, self._same = mode == "Disabled", mode == "SameStep"
        self.render_mode = render_mode = chosen.render_mode
        batch = chosen.batch
        robot = task.robot()
        channels = commanded_channels(robot, task)
        firmware = next((channel.name for channel in channels if not channel.port), "")
        if firmware and batch is not None:
            raise PliantError(
                f"{firmware} is a command that a device computes with, which only worlds with devices have; must be "
                "without batch",
                field="batch",
            )
        seen = add_camera(robot) if render_mode else robot
        self._devices = DeviceBatch(seen, num_envs, task) if firmware else None
        made = self._devices or (batch or CpuBatch)(seen, num_envs)
        if not isinstance(made, RobotBatch):
            raise PliantError(f"batch returned {made!r:.100}; must be a RobotBatch, such as CpuBatch", field="batch")
        self.batch: RobotBatch = made
        """The `RobotBatch` below: ports, parameters, resets of single worlds."""
        self.num_envs = self.batch.worlds
        key_positions(self.batch.model, task.key)
        self.frames = task.frames(self.batch.dt)
        """Steps of the engine for each action."""
        period = self.frames * self.batch.dt
        self.metadata = {
            **type(self).metadata,
            "autoreset_mode": self.autoreset_mode,
            "render_fps": max(1, round(1.0 / period)),
        }
        self.max_episode_steps = chosen.max_episode_steps or task.limit(self.batch.dt)
        """Actions after which an episode is truncated."""
        size = picture_size(chosen.width, chosen.height)
        self._cameras = Cameras(self.batch.model, chosen.cameras, size)
        self._view = Cameras(self.batch.model, [task.camera] if render_mode else [], size)
        self._images = {name: np.zeros((num_envs, size[1], size[0], 3), np.uint8) for name in self._cameras.names}
        count = len(task.actions)
        self._world = _BatchWorld(self.batch, count)
        self._world.period = period
        # All references and controls at once where they lie side by side in memory.
        self._written = [channel.port for channel in channels]
        written = [] if firmware else [self.batch.place(port) for port in self._written]
        self._controls: NDArray[np.float64] | None = None
        if written and all(place.field == "ctrl" for place in written):
            self._controls = self.batch.field("ctrl")
            self._columns = np.array([place.index[0].start for place in written])
        state = (self._world.last, self._world.elapsed)
        # The memory of the controls itself, where it is float64 and stays: on the CPU.
        self._values: NDArray[np.float64] | None = None
        delays = check_delays({"latency": chosen.latency, "command_latency": chosen.command_latency})
        self._delays: Delays | None = None
        if any(delays.values()) or set(DELAYS) & set(task.distributions(0)):
            aged = AgedWorld(self._world, self.frames, measured_names(robot, task))
            self._delays = Delays(self.frames, self._write_values, self._advance, aged)
            for name, value in delays.items():
                self._delay(name, np.full(self.num_envs, value), np.ones(self.num_envs, dtype=bool))
        direct = self._controls is not None and self._world.live and self._controls.dtype == np.float64
        if self._controls is not None and direct and self._delays is None:
            self._actions = ActionWriter(Scale(task.actions), self._controls, self._columns, *state)
        else:
            self._values = np.zeros((self.num_envs, count))
            self._actions = ActionWriter(Scale(task.actions), self._values, np.arange(count), *state)
        self._ended = np.zeros(self.num_envs, dtype=bool)
        self._ready = self._closed = False
        self._episodes = 0
        self._rngs: list[np.random.Generator] = []
        self._randomized = dict(task.distributions(0))
        self._set(draw(self._randomized, 0, self.num_envs), np.ones(self.num_envs, dtype=bool))  # checks every name
        # Every port is read once before the first episode: one that is read first between two steps is computed anew
        # from the state, and those that were read before then change, too.
        for kind, functions in (("reward", task.reward), ("terminated", task.terminated)):
            evaluate(kind, functions, self._world)
        parts = evaluate("observation", task.observation, self._world)
        sizes = {name: part.shape[1] for name, part in zip(task.observation, parts)}
        self._noise = ObservationNoise(chosen.noise or {}, sizes)
        self._observe = Observer(task, self._world if self._delays is None else self._delays.seen)
        self._observation = self._observe()
        self._make_spaces(count)

    def _make_spaces(self, count: int) -> None:
        space = gymnasium.spaces
        self.single_action_space = space.Box(-1.0, 1.0, (count,), np.float32)
        numbers = space.Box(-np.inf, np.inf, self._observation.shape[1:], np.float32)
        self.single_observation_space = self._cameras.space(numbers)
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, self.num_envs)
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, self.num_envs)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, object] | None = None
    ) -> tuple[Observations, dict[str, object]]:
        """Start an episode in every world.

        Each world has a random generator of its own, so that what it gets does not depend on the number of worlds, and
        a `RobotEnv` with the same seed draws the same start.

        Args:
            seed: new seeds of the worlds: one for each, or a number s for s, s + 1, s + 2 and so on; None continues
                with the present generators.
            options: ``reset_mask``: worlds to reset, shape (num_envs,); ``key``: key frame to start from;
                ``positions``: joint name -> position [rad or m], a number or one for each world, which replaces the
                start positions of the task.

        Returns:
            Observations, shape (num_envs, n), and an empty dictionary.

        Raises:
            PliantError: an option, a key frame or a joint does not exist, or the environment is closed.
        """
        self._check_open()
        seeds = self._seeds(seed)
        super().reset(seed=seeds[0])
        chosen = reset_options(options, ["key", "positions", "reset_mask"])
        mask = self.batch.select(chosen.get("reset_mask"))
        key, given = chosen.get("key", self.task.key), start_positions(chosen.get("positions") or {})
        if not self._rngs:
            seeds = [int(self.np_random.integers(2**31)) if value is None else value for value in seeds]
            self._rngs = [np.random.default_rng() for _ in seeds]
        for world in np.flatnonzero(mask).tolist():
            if seeds[world] is not None:
                self._rngs[world] = gymnasium.utils.seeding.np_random(seeds[world])[0]
        self._restart(mask, key, given)
        self._ready = True
        return self._seen(mask), {}

    def _seen(self, worlds: NDArray[np.bool_] | None = None) -> Observations:
        """Return a copy of the observations, with new pictures of some worlds or of all that have not diverged."""
        state = self._observation.copy()
        if not self._images:
            return state
        qpos, sane = self.batch.read("state/qpos"), ~self.batch.diverged
        for world in np.flatnonzero(sane if worlds is None else worlds & sane):
            for name, picture in self._cameras.render(qpos[world]).items():
                self._images[name][world] = picture
        return {"state": state, **{name: images.copy() for name, images in self._images.items()}}

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        """Return a seed for each world."""
        if seed is None:
            return [None] * self.num_envs
        given = seed
        if isinstance(seed, int | np.integer) and not isinstance(seed, bool):
            given = [int(seed) + world for world in range(self.num_envs)]
        seeds = list(given) if isinstance(given, Sequence | np.ndarray) and not isinstance(given, str) else [seed]
        right = len(seeds) == self.num_envs and all(
            value is None or (isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 0)
            for value in seeds
        )
        if not right:
            raise PliantError(
                f"seed is {seed!r}; must be a whole number >= 0, or {self.num_envs} of them, one for each world",
                field="seed",
            )
        return [None if value is None else int(value) for value in seeds]

    def _check_open(self) -> None:
        if self._closed:
            raise PliantError("the environment is closed; make a new one")

    def _restart(
        self, mask: NDArray[np.bool_], key: str | None, given: Mapping[str, NDArray[np.float64]] | None = None
    ) -> None:
        """Start a new episode in some worlds; ``_observation`` then has what they show."""
        worlds = np.flatnonzero(mask).tolist()
        parameters: dict[str, list[float]] = {}
        drawn: dict[str, list[float]] = {}
        distributions = self.task.distributions(self._episodes)
        if distributions.keys() != self._randomized.keys():
            raise ModelError(
                f"randomize gave {', '.join(distributions)} after {self._episodes} episodes, and "
                f"{', '.join(self._randomized)} before; the paths must stay",
                field="randomize",
            )
        # The order of the draws is that of `RobotEnv`.
        for world in worlds:
            rng = self._rngs[world]
            if distributions:
                for path, values in draw(distributions, int(rng.integers(2**31)), 1).items():
                    parameters.setdefault(path, []).append(float(values[0]))
            rng.integers(2**31)
            for joint, values in positions(self.task, rng, 1).items():
                drawn.setdefault(joint, []).append(float(values[0]))
        if parameters:
            self._set({path: np.array(values) for path, values in parameters.items()}, mask)
        start: dict[str, ArrayLike] = {**drawn}
        for joint, array in (given or {}).items():
            start[joint] = array[mask] if array.shape == (self.num_envs,) else array
        self.batch.reset(mask, start, key=key)
        self._world.stepped()
        if self._controls is not None and not self._world.live:
            self._controls = self.batch.field("ctrl")
        self._world.elapsed[mask] = 0
        self._world.last[mask] = 0.0
        self._ended[mask] = False
        if self._delays is not None:
            self._delays.clear(mask)
        self._observation = self._noisy(self._observe(self._sane()))

    def _restart_ended(self, worlds: NDArray[np.bool_]) -> None:
        """Start a new episode in the worlds that ended; the others keep what they observed."""
        before = self._observation
        self._restart(worlds, self.task.key)
        self._observation = np.where(worlds[:, None], self._observation, before)

    def _set(self, parameters: Mapping[str, NDArray[np.float64]], mask: NDArray[np.bool_]) -> None:
        """Set parameters of the robot and delays of the environment in some worlds."""
        own = {path: values for path, values in parameters.items() if path not in DELAYS}
        if own:
            self.batch.set_parameters(own, mask)
        for name in DELAYS:
            if name in parameters:
                self._delay(name, parameters[name], mask)

    def _delay(self, name: str, values: NDArray[np.float64], mask: NDArray[np.bool_]) -> None:
        assert self._delays is not None
        for value in (values.min(initial=0.0), values.max(initial=0.0)):
            check_delays({name: float(value)})
        steps = self._delays.seen.age if name == "latency" else self._delays.command
        given = values if values.shape != (self.num_envs,) else values[mask]
        whole = np.round(given / self.batch.dt).astype(np.int64)
        steps[mask] = -(-whole // self.batch.cycle) * self.batch.cycle

    def _advance(self, steps: int) -> None:
        self.batch.step(steps)
        self._world.stepped()

    def _sane(self) -> NDArray[np.bool_] | None:
        """Return which worlds have not diverged; None for all."""
        bad = self.batch.diverged
        return ~bad if np.count_nonzero(bad) else None

    def _noisy(self, observation: NDArray[np.float32]) -> NDArray[np.float32]:
        return self._noise.add(observation, self._rngs) if self._noise.active and self._rngs else observation

    def get_state(self, worlds: Selection = None) -> WorldStates:
        """Return the state of worlds, from which `set_state` continues with the same bytes.

        Args:
            worlds: the worlds: a mask or numbers; None for all.

        Raises:
            PliantError: the environment was not reset, or it has parts whose state cannot be read: devices, Warp, or
                actions and observations on their way.
        """
        mask = self._with_state(worlds)
        return {
            "batch": self.batch.save(mask),
            "elapsed": self._world.elapsed[mask],
            "action": self._world.last[mask],
            "ended": self._ended[mask],
            "observation": self._observation[mask],
            "rng": [self._rngs[world].bit_generator.state for world in np.flatnonzero(mask).tolist()],
        }

    def set_state(self, state: WorldStates, worlds: Selection = None) -> Observations:
        """Continue from a state of `get_state`; the state of one world is taken for all of them.

        Args:
            state: the state.
            worlds: the worlds: a mask or numbers; None for all.

        Returns:
            The observations of all worlds, shape (num_envs, n).

        Raises:
            PliantError: the state is of another robot, task or number of worlds; nothing has changed then.
        """
        mask = self._with_state(worlds)
        if not isinstance(state, Mapping) or set(state) != set(WorldStates.__annotations__):
            raise PliantError("the state is none of get_state()", field="state")
        count = int(mask.sum())
        self._ended = self._ended.copy()
        world = self._world
        own = {"elapsed": world.elapsed, "action": world.last, "ended": self._ended, "observation": self._observation}
        for name, array in own.items():
            found = np.asarray(state[name])
            if found.dtype != array.dtype or found.shape not in ((count, *array.shape[1:]), (1, *array.shape[1:])):
                raise PliantError(
                    f"the state has {name} of shape {found.shape} of {found.dtype}; must be of this task, shape "
                    f"{(count, *array.shape[1:])} of {array.dtype}",
                    field=name,
                )
        rngs = _generators(state["rng"], count)
        self.batch.load(state["batch"], mask)
        world.stepped()
        for name, array in own.items():
            array[mask] = state[name]
        for k, index in enumerate(np.flatnonzero(mask).tolist()):
            self._rngs[index] = rngs[k]
        return self._seen(mask)

    def _with_state(self, worlds: Selection) -> NDArray[np.bool_]:
        self._check_open()
        if not self._ready:
            raise PliantError("the environment has no state before reset()")
        if self._delays is not None:
            raise PliantError("the state of an environment with delays cannot be read; make it without", field="state")
        return self.batch.select(worlds)

    def step(
        self, actions: ArrayLike
    ) -> tuple[Observations, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], Infos]:
        """Advance every world by one period.

        Args:
            actions: actions, shape (num_envs, actions); values are clipped to -1 to 1.

        Returns:
            Observations, rewards, terminated, truncated and infos, with one row for each world. Infos have all terms of
            the reward in ``reward`` and, for worlds whose episode ends, the ``reason``: a reason of the task,
            ``duration``, or ``diverged: ...``. If a world diverges, its last finite observation is returned.

        Raises:
            PortError: the actions have another shape, or are not finite.
            PliantError: the environment was not reset, or autoreset is disabled and a world whose episode has ended
                was not reset.
        """
        self._check_open()
        if not self._ready:
            raise PliantError("step() was called before reset()")
        if self._disabled and self._ended.any():
            worlds = np.flatnonzero(self._ended)
            raise PliantError(
                f"environment {worlds[0]} ended and was not reset; with autoreset disabled call "
                'reset(options={"reset_mask": mask})'
            )
        self._actions.write(actions)
        if self._delays is not None and self._values is not None:
            self._delays.advance(self._values)
        else:
            if self._values is not None:
                self._write_values(self._values)
            self.batch.step(self.frames)
        world, restarted = self._world, self._ended
        again = np.count_nonzero(restarted) > 0
        world.stepped()
        if again:
            restarted = restarted.copy()  # a restart changes the flags
            self._restart_ended(restarted)
        bad = self.batch.diverged
        sane = ~bad if np.count_nonzero(bad) else None
        with np.errstate(invalid="ignore", over="ignore"):
            observation = self._noisy(self._observe(sane))
            reward, terms = reward_terms(self.task, world, sane)
            endings = flags(self.task.terminated, world)
        if sane is not None:
            observation[bad] = self._observation[bad]
            reward[bad] = self.task.diverged_reward
            for term in terms.values():
                term[bad] = 0.0
        terminated = bad
        for ending in endings:
            terminated = terminated | ending
        truncated = world.elapsed >= self.max_episode_steps
        if np.count_nonzero(truncated):
            truncated &= ~terminated
        live = ~restarted
        if again:
            terminated = terminated & live
            truncated &= live
            reward[restarted] = 0.0
            for term in terms.values():
                term[restarted] = 0.0
        ended = terminated | truncated
        infos: Infos = {"reward": {}, "_reward": live}
        for name, term in terms.items():
            infos["reward"][name], infos["reward"][f"_{name}"] = term, live.copy()
        any_ended = int(np.count_nonzero(ended))
        if any_ended:
            infos["reason"], infos["_reason"] = self._reasons(endings, bad, ended), ended.copy()
        self._ended = ended
        self._episodes += any_ended
        self._observation = observation
        seen = self._seen()
        if any_ended and self._same:
            seen = self._same_step(seen, ended, infos)
        return seen, reward, terminated, truncated, infos

    def _write_values(self, values: NDArray[np.float64], mask: NDArray[np.bool_] | None = None) -> None:
        """Write the values of the actions where they are not written in place, in some worlds or in all."""
        if self._devices is not None:
            self._devices.give(values, mask)
            return
        worlds = np.arange(self.num_envs) if mask is None else np.flatnonzero(mask)
        if self._controls is not None:
            self._controls[worlds[:, None], self._columns] = values[worlds]
            if not self._world.live:
                self.batch.write("state/ctrl", self._controls)
            return
        for k, port in enumerate(self._written):
            self.batch.write(port, values[worlds, k : k + 1], mask)

    def _same_step(self, seen: Observations, ended: NDArray[np.bool_], infos: Infos) -> Observations:
        """Reset the worlds that ended, and return what is seen; their last observations and reasons go to the infos."""
        final = np.full(self.num_envs, None, dtype=object)
        for world in np.flatnonzero(ended):
            final[world] = (
                {k: v[world].copy() for k, v in seen.items()} if isinstance(seen, dict) else seen[world].copy()
            )
        last: Infos = {"reason": infos.pop("reason"), "_reason": infos.pop("_reason")}
        last |= {"reward": {}, "_reward": ended.copy()}
        for name, terms in infos["reward"].items():
            last["reward"][name] = ended.copy() if name.startswith("_") else np.where(ended, terms, 0.0)
        for name, terms in infos["reward"].items():
            infos["reward"][name] = terms & ~ended if name.startswith("_") else np.where(ended, 0.0, terms)
        infos["_reward"] = infos["_reward"] & ~ended
        infos["final_obs"], infos["_final_obs"] = final, ended.copy()
        infos["final_info"], infos["_final_info"] = last, ended.copy()
        chosen = ended.copy()  # a restart changes the flags
        self._restart_ended(chosen)
        return self._seen(chosen)

    def _reasons(
        self, endings: list[NDArray[np.bool_]], bad: NDArray[np.bool_], ended: NDArray[np.bool_]
    ) -> NDArray[np.object_]:
        reasons = np.full(self.num_envs, None, dtype=object)
        for world in np.flatnonzero(ended):
            if bad[world]:
                reasons[world] = f"diverged: {self.batch.reason(int(world))}"
                continue
            names = (name for name, ending in zip(self.task.terminated, endings) if ending[world])
            reasons[world] = next(names, "duration")
        return reasons

    def __getstate__(self) -> NoReturn:
        """Refuse a copy: the state of the physics is not in Python."""
        raise PliantError(
            "an environment cannot be pickled or copied; pass a function that makes one, as AsyncVectorEnv does"
        )

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """Return an RGB image of each of the first 16 worlds, each of shape (height, width, 3).

        Raises:
            MissingDependency: no graphics library is available.
        """
        if self.render_mode is None:
            return None
        self._check_open()
        qpos = self.batch.read("state/qpos")[:RENDERED]
        return tuple(picture for row in qpos for picture in self._view.render(row).values())

    def close_extras(self, **_: object) -> None:
        """Release the graphics library and the devices; further steps are refused."""
        self._closed = True
        if self._devices is not None:
            self._devices.close()
        self._cameras.close()
        self._view.close()


def _generators(states: object, count: int) -> list[np.random.Generator]:
    """Return random generators with given states; one state is taken for all of them.

    Raises:
        PliantError: another number of states, or a state that is none.
    """
    given = states if isinstance(states, list) else []
    if len(given) not in (1, count):
        raise PliantError(f"the state has the random generators of {len(given)} worlds; must be {count}", field="rng")
    made = [np.random.default_rng(0) for _ in range(count)]
    for k, generator in enumerate(made):
        try:
            generator.bit_generator.state = given[k if len(given) > 1 else 0]
        except (TypeError, ValueError, KeyError, AttributeError, OverflowError):
            raise PliantError(f"the state of the random generator of world {k} is none", field="rng") from None
    return made


def check_same_step(env: object, library: str, *, pictures: bool = False) -> None:
    """Refuse an environment that is no batch, or that resets its worlds in a step of their own.

    Args:
        env: the environment.
        library: who is to train it.
        pictures: whether the library takes observations with pictures.

    Raises:
        PliantError: ``env`` is not a `BatchEnv`, or has another autoreset mode, or cameras.
    """
    if not isinstance(env, BatchEnv):
        raise PliantError(f"env is a {type(env).__name__}; must be a pliant.learn.envs.BatchEnv", field="env")
    if env.autoreset_mode.value != "SameStep":
        raise PliantError(
            f"autoreset_mode of the environment is {env.autoreset_mode.value!r}; must be 'SameStep', because {library} "
            "expects the first observation of the next episode in the step that ends one",
            field="autoreset_mode",
        )
    if not pictures and isinstance(env.single_observation_space, gymnasium.spaces.Dict):
        raise PliantError(f"the wrapper of {library} takes no pictures; must be without cameras", field="cameras")

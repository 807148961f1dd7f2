"""One walk of a robot with two legs: what experiments and sweeps call."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.base.errors import DivergedError, ModelError, nearest

if TYPE_CHECKING:
    from pliant.engine import MujocoEngine
    from pliant.model.robot import Robot
    from pliant.walking.device import WalkingDevice

ROBOTS = ("biped", "g1", "talos")
"""Robots of the catalogue that walk."""
_USUAL: dict[str, object] = {"actuation": "torque", "rate_noise": 0.01, "load_noise": 1.0}
"""Options of the robot where the caller gives none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkResult:
    """Result of one walk."""

    completed: bool
    """Whether the robot walked as far as `goal`, or without one to the end of the duration, without a fall. A robot
    that stood still at the end, for two steps or longer, did not."""
    fall_time: float
    """When it fell [s]; NaN if it did not."""
    distance: float
    """How far the waist came along the way [m]."""
    drift: float
    """How far it is beside the way at the end [m]."""
    steps: int
    """Touchdowns."""
    max_base_pitch: float
    """Largest inclination of the base forwards or backwards while it walked, until a fall [rad]."""
    max_base_roll: float
    """Largest sideways inclination [rad]."""
    rms_base_pitch: float
    """Root mean square of the pitch of the base while it walked, until a fall [rad]."""
    max_dcm_error: float
    """Largest distance of the divergent component of motion from its reference while it walked [m]."""
    max_adjustment: float
    """Largest change of a foothold by the stabiliser [m]."""
    duration: float
    """Simulated time [s]."""
    bars: tuple[float, ...]
    """Where the bars were [m]."""
    diverged: bool = False
    """Whether the simulation ended with numbers that are none: a fault of the simulation, not a fall of the robot."""


class WalkRow(NamedTuple):
    """State of a walk, every 20 ms."""

    qpos: np.ndarray
    """Positions of the robot, shape (nq,)."""
    feet: np.ndarray
    """Positions of the feet, shape (2, 3) [m]."""
    load: tuple[float, ...]
    """Measured loads of the feet [N]."""


def run_walk(
    *,
    robot: str = "biped",
    feet: str = "rigid",
    bar_height: float = 0.0,
    bars: Sequence[float] = (),
    seed: int = 0,
    duration: float = 12.0,
    goal: float | None = None,
    push: float = 4.0,
    options: Mapping[str, object] | None = None,
    trace: list[WalkRow] | None = None,
) -> WalkResult:
    """Let a robot walk once, and say how it went.

    The seed chooses the variations of the run: start of the walk (from 1 s to 1.75 s), velocity of the base at the
    start (each horizontal component up to 0.03 m/s), a horizontal push on the torso in any direction while it walks
    (uniform up to `push`, within 0.1 s), noise of gyroscope (0.01 rad/s) and ankle loads (1 N). Equal arguments give
    equal results, bit by bit, also in other processes.

    Args:
        robot: "biped", or "g1" or "talos", which need example-robot-data.
        feet: "rigid" or "soft".
        bar_height: height and length of the square bars [m]; 0: none.
        bars: middle of each bar ahead of the ankles at the start [m]; empty with a height: those of the options
            (`bar_count`, `bar_range`), drawn with the seed.
        seed: of the variations, >= 0.
        duration: of the run [s].
        goal: distance of the waist at which the run ends as completed [m]; None: the duration alone counts.
        push: largest impulse of the push [N s].
        options: further options of the robot, such as ``{"actuation": "position", "foot_forward": 0.0}``. With
            ``"ankle_stiffness": 0.0`` the loaded ankles are under pure torque control, where the ground turns the foot,
            and rigid feet do as well as soft ones.
        trace: where a row is appended every 20 ms; None keeps none.

    Raises:
        ModelError: a robot that does not walk, an option that does not exist, or a value that is not valid.
        MissingDependency: example-robot-data is not installed.

    Example:
        >>> run_walk(feet="soft", bar_height=0.02, bars=[0.6], seed=3).completed
    """
    # Here, because listing the experiments loads no engine.
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine
    from pliant.robots import build_robot
    from pliant.simulation import Simulation
    from pliant.simulation.loop import seeded
    from pliant.walking.device import WalkingDevice

    _check_arguments(robot, seed, duration, push)
    varied = _Variations.draw(seeded(seed, "walk"), push)
    given = _USUAL | {"walk_start": 1.0 + 0.75 * varied.start} | dict(options or {})
    given |= {"feet": feet, "controller": "walking", "bar_height": bar_height, "bar_seed": seed}
    if bars:
        given["bar_positions"] = tuple(bars)
    walking = build_robot(robot, given)
    engine = MujocoEngine(walking, check=False)
    device = next(d for d in make_devices(walking) if isinstance(d, WalkingDevice))
    run = _Run(engine, walking, device, trace)
    pushed = run.start + 0.5 + varied.moment * max(0.0, duration - run.start - 1.0)
    steps, every = round(duration / engine.dt), max(1, round(0.02 / engine.dt))
    with Simulation(engine, [device], pacer="free", seed=seed) as simulation:
        engine.data.qvel[:2] = varied.speed
        while run.done < steps:
            time = run.done * engine.dt
            run.torso[:2] = varied.force if pushed <= time < pushed + 0.1 else 0.0
            count = min(every, steps - run.done)
            try:
                simulation.step(count)
            except DivergedError:
                run.fall, run.diverged = time, True
                break
            run.note(time, count)
            if device.walker.fallen:
                run.fall = run.done * engine.dt
                break
            if goal is not None and run.distance >= goal:
                break
    return run.result(goal)


def _check_arguments(robot: str, seed: int, duration: float, push: float) -> None:
    if not duration > 0.0:
        raise ModelError(f"run_walk: duration is {duration!r}; must be > 0 [s]", field="duration")
    if not (isinstance(seed, int | np.integer) and seed >= 0):
        raise ModelError(f"run_walk: seed is {seed!r}; must be a whole number >= 0", field="seed")
    if not 0.0 <= push < math.inf:
        raise ModelError(f"run_walk: push is {push!r}; must be a number >= 0 [N s]", field="push")
    if robot not in ROBOTS:
        raise ModelError(f"run_walk: robot is {robot!r}; {nearest(robot, ROBOTS)}", field="robot")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Variations:
    """Variations that the seed of a walk chooses."""

    start: float
    """Share of the range of the start of the walk."""
    moment: float
    """Share of the time of the walk after which the push comes."""
    force: np.ndarray
    """Force of the push, for 0.1 s, (x, y) [N]."""
    speed: np.ndarray
    """Velocity of the base at the start, (x, y) [m/s]."""

    @classmethod
    def draw(cls, rng: np.random.Generator, push: float) -> _Variations:
        start, direction, impulse, moment, speed = (
            rng.random(), rng.uniform(0.0, 2.0 * np.pi), rng.uniform(0.0, push), rng.random(),
            rng.uniform(-0.03, 0.03, 2),
        )  # fmt: skip
        force = impulse / 0.1 * np.array([np.cos(direction), np.sin(direction)])
        return cls(start=start, moment=moment, force=force, speed=speed)


class _Run:
    """A walk while it runs: what is noted for its result.

    Args:
        engine: the engine of the robot, before the first step.
        robot: the robot.
        device: its walking controller.
        trace: where samples are appended, or None.
    """

    def __init__(self, engine: MujocoEngine, robot: Robot, device: WalkingDevice, trace: list[WalkRow] | None) -> None:
        from pliant.model.sensors import ForceTorque

        self._data, self._model, self._dt = engine.data, engine.model, engine.dt
        self._device, self._trace = device, trace
        bodies = {sensor.name: sensor.body for sensor in robot.devices if isinstance(sensor, ForceTorque)}
        self._soles = [engine.model.body(bodies[name]).id for name in device.description.force_torque]
        # The heaviest body is the torso of each of these robots.
        heaviest = engine.model.body(int(np.argmax(engine.model.body_mass))).name
        self.torso = engine.port(f"body/{heaviest}/wrench")
        self._x0 = float(engine.data.qpos[0])
        self._pitches: list[float] = []
        self._rolls: list[float] = []
        self._error = self._adjustment = 0.0
        self._touchdowns, self._stepped = 0, -math.inf
        self.start = device.description.start
        self.done = 0
        """Steps done."""
        self.fall, self.diverged = math.nan, False

    @property
    def distance(self) -> float:
        """How far the waist has come [m]."""
        return float(self._data.qpos[0]) - self._x0

    def note(self, time: float, count: int) -> None:
        """Note what came of ``count`` steps from a time on [s]."""
        self.done += count
        walker = self._device.walker
        if walker.steps != self._touchdowns:
            self._touchdowns, self._stepped = walker.steps, time
        roll, pitch = self._device.inclination
        if time >= self.start:
            self._pitches.append(float(pitch))
            self._rolls.append(float(roll))
            self._error = max(self._error, float(np.hypot(*(walker.dcm - walker.dcm_ref))))
            self._adjustment = max(self._adjustment, float(walker.adjustment))
        if self._trace is not None:
            self._trace.append(WalkRow(self._data.qpos.copy(), self._data.xpos[self._soles].copy(), tuple(walker.load)))

    def result(self, goal: float | None) -> WalkResult:
        """Return how the walk went."""
        model, walker = self._model, self._device.walker
        pitches = np.abs(self._pitches) if self._pitches else np.zeros(1)
        found = [model.geom(g) for g in range(model.ngeom) if model.geom(g).name.startswith("bar_")]
        settings = walker.settings
        two_steps = settings.first_support + 2.0 * (settings.single_support + settings.double_support)
        walked_on = self.done * self._dt - self._stepped < two_steps
        return WalkResult(
            completed=bool(np.isnan(self.fall)) and (walked_on if goal is None else self.distance >= goal),
            fall_time=float(self.fall),
            distance=self.distance,
            drift=float(self._data.qpos[1]),
            steps=walker.steps,
            max_base_pitch=float(pitches.max()),
            max_base_roll=float(np.abs(self._rolls).max()) if self._rolls else 0.0,
            rms_base_pitch=float(np.sqrt(np.mean(pitches**2))),
            max_dcm_error=self._error,
            max_adjustment=self._adjustment,
            duration=self.done * self._dt,
            bars=tuple(float(geom.pos[0]) for geom in found),
            diverged=self.diverged,
        )

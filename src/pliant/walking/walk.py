"""One walk of a robot with two legs: what experiments and sweeps call."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.base.errors import DivergedError, ModelError, nearest

__all__ = ["ROBOTS", "WalkResult", "run_walk"]

ROBOTS = ("biped", "g1", "talos")
"""Robots of the catalogue that walk."""


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
    ankle_stiffness: float | None = None,
    options: Mapping[str, Any] | None = None,
    trace: list[dict[str, Any]] | None = None,
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
        ankle_stiffness: of the loaded ankles towards a level foot [N m/rad]: None, that of the robot, is a joint
            impedance that keeps the foot level, 100 for the biped; 0 is pure torque control, where the ground turns the
            foot, and rigid feet do as well as soft ones.
        options: further options of the robot, such as ``{"actuation": "position", "foot_forward": 0.0}``.
        trace: where samples are appended, one dictionary every 20 ms; None keeps none.

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

    if not duration > 0.0:
        raise ModelError(f"run_walk: duration is {duration!r}; must be > 0 [s]", field="duration")
    if not (isinstance(seed, int | np.integer) and seed >= 0):
        raise ModelError(f"run_walk: seed is {seed!r}; must be a whole number >= 0", field="seed")
    if not 0.0 <= push < math.inf:
        raise ModelError(f"run_walk: push is {push!r}; must be a number >= 0 [N s]", field="push")
    if robot not in ROBOTS:
        raise ModelError(f"run_walk: robot is {robot!r}; {nearest(robot, ROBOTS)}", field="robot")
    rng = seeded(seed, "walk")
    given: dict[str, Any] = {"actuation": "torque", "rate_noise": 0.01, "load_noise": 1.0}
    if ankle_stiffness is not None:
        given["ankle_stiffness"] = ankle_stiffness
    given |= options or {}
    given |= {"feet": feet, "controller": "walking", "bar_height": bar_height, "bar_seed": seed}
    if bars:
        given["bar_positions"] = tuple(bars)
    start, direction, impulse, moment, speed = (
        rng.random(), rng.uniform(0.0, 2.0 * np.pi), rng.uniform(0.0, push), rng.random(), rng.uniform(-0.03, 0.03, 2),
    )  # fmt: skip
    given.setdefault("walk_start", 1.0 + 0.75 * start)
    walking = build_robot(robot, given)
    engine = MujocoEngine(walking, check=False)
    devices = make_devices(walking)
    device: Any = next(d for d in devices if d.name == "walking")
    walker = None
    data = engine.data
    model = engine.model
    # The heaviest body is the torso of each of these robots.
    torso = engine.port(f"body/{model.body(int(np.argmax(model.body_mass))).name}/wrench")
    sensors = {sensor.name: sensor for sensor in walking.devices}
    soles = [model.body(sensors[name].body).id for name in device.description.force_torque]
    x0 = float(data.qpos[0])
    pushed = given["walk_start"] + 0.5 + moment * max(0.0, duration - given["walk_start"] - 1.0)
    force = impulse / 0.1 * np.array([np.cos(direction), np.sin(direction)])
    pitches: list[float] = []
    rolls: list[float] = []
    errors, adjustments = 0.0, 0.0
    fall, diverged = float("nan"), False
    touchdowns, stepped = 0, -math.inf
    every = max(1, round(0.02 / engine.dt))
    with Simulation(engine, [device], pacer="free", seed=seed) as simulation:
        data.qvel[:2] = speed
        walker = device.walker
        steps = round(duration / engine.dt)
        done = 0
        while done < steps:
            time = done * engine.dt
            torso[:2] = force if pushed <= time < pushed + 0.1 else 0.0
            count = min(every, steps - done)
            try:
                simulation.step(count)
            except DivergedError:
                fall, diverged = time, True
                break
            done += count
            if walker.steps != touchdowns:
                touchdowns, stepped = walker.steps, time
            roll, pitch = device._inclination
            if time >= given["walk_start"]:
                pitches.append(float(pitch))
                rolls.append(float(roll))
                errors = max(errors, float(np.hypot(*(walker.dcm - walker.dcm_ref))))
                adjustments = max(adjustments, float(walker.adjustment))
            if trace is not None:
                trace.append(
                    {
                        "time": done * engine.dt,
                        "phase": walker.phase,
                        "stance": walker.stance,
                        "dcm": walker.dcm.copy(),
                        "dcm_reference": walker.dcm_ref.copy(),
                        "center_of_pressure": walker.cop.copy(),
                        "center_of_mass": walker.com.copy(),
                        "foothold": walker.foothold.copy(),
                        "base": data.qpos[:7].copy(),
                        "qpos": data.qpos.copy(),
                        "feet": data.xpos[soles].copy(),
                        "roll": float(roll),
                        "pitch": float(pitch),
                        "load": tuple(walker.load),
                    }
                )
            if walker.fallen:
                fall = done * engine.dt
                break
            if goal is not None and data.qpos[0] - x0 >= goal:
                break
    sizes = np.abs(pitches) if pitches else np.zeros(1)
    found = [model.geom(g) for g in range(model.ngeom) if model.geom(g).name.startswith("bar_")]
    settings = walker.settings
    two_steps = settings.first_support + 2.0 * (settings.single_support + settings.double_support)
    reached = done * engine.dt - stepped < two_steps if goal is None else float(data.qpos[0]) - x0 >= goal
    return WalkResult(
        completed=bool(np.isnan(fall)) and reached,
        fall_time=float(fall),
        distance=float(data.qpos[0]) - x0,
        drift=float(data.qpos[1]),
        steps=walker.steps,
        max_base_pitch=float(sizes.max()),
        max_base_roll=float(np.abs(rolls).max()) if rolls else 0.0,
        rms_base_pitch=float(np.sqrt(np.mean(sizes**2))),
        max_dcm_error=errors,
        max_adjustment=adjustments,
        duration=done * engine.dt,
        bars=tuple(float(geom.pos[0]) for geom in found),
        diverged=diverged,
    )

"""Throw a ball with a budget of motor energy: series-elastic, variable-stiffness and stiff joints.

An arm of two qbMoves hangs, swings back, swings ahead and releases the ball. The ball leaves the hand at the chosen
time or when the motors have done `BUDGET` of work, whichever is earlier: every joint type keeps the budget. The flight
is a parabola.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.numerics import GRAVITY, Array
from pliant.learn.compliance.episodes import JOINT_CLAIMS, PRESETS, Episodes, joint_methods
from pliant.learn.compliance.task import ComplianceTask, Measure, TaskParameter

if TYPE_CHECKING:
    from pliant.model import Robot

BUDGET = 10.0
"""Positive mechanical work that the motors may do before the ball leaves [J]; ours: fewer than half of 300
random throws of each joint type stay within it."""
JOINTS = ("joint_1", "joint_2")
REST = 0.1
"""Time at rest before the swing [s]."""
CHECK_STEPS = 4
"""Steps of the engine, of 1 ms, between two decisions: the budget is kept within the work of this time."""
MASSES = (0.03, 0.07)
"""Range of the ball's mass [kg]; ours."""
DELAYS = (0.0, 0.015)
"""Range of the delay of the release [s]; ours."""

PARAMETERS = (
    TaskParameter("preset_back", *PRESETS, 0.3, unit="rad", stiffness="arm", meaning="preset while swinging back"),
    TaskParameter("preset_ahead", *PRESETS, 0.6, unit="rad", stiffness="arm", meaning="preset while swinging ahead"),
    TaskParameter("back_1", -1.5, 0.0, -0.4, unit="rad", meaning="reference of joint 1 while swinging back"),
    TaskParameter("back_2", -1.5, 0.5, -0.4, unit="rad", meaning="reference of joint 2 while swinging back"),
    TaskParameter("ahead_1", 0.0, 2.0, 1.0, unit="rad", meaning="reference of joint 1 while swinging ahead"),
    TaskParameter("ahead_2", 0.0, 2.0, 1.0, unit="rad", meaning="reference of joint 2 while swinging ahead"),
    TaskParameter("back_time", 0.1, 0.5, 0.4, unit="s", meaning="time of the swing back"),
    TaskParameter("swing", 0.05, 0.5, 0.25, unit="s", meaning="time in which a reference goes ahead"),
    TaskParameter("delay_2", 0.0, 0.2, 0.05, unit="s", meaning="delay of joint 2 after joint 1 in the swing ahead"),
    TaskParameter("release", 0.05, 0.5, 0.3, unit="s", meaning="time from the start of the swing ahead to the release"),
    TaskParameter("springs", 1.0, 20.0, 1.0, meaning="factor on the springs; pinned by the joint type"),
)


def build_thrower() -> Robot:
    """Return the hanging arm of two qbMoves with a ball at its tip, whose place and velocity are sensors."""
    import mujoco

    from pliant.robots import build_robot

    arm = build_robot("qbmove-2dof", {"mounting": "vertical", "springs": "maker-pro"})
    arm.update({"actuator.motor_1.limit_velocity": True, "actuator.motor_2.limit_velocity": True})
    hand = arm.spec.body("link_2")
    ball = hand.add_body(name="ball", pos=arm.spec.site("tip").pos)
    ball.add_geom(
        name="ball", type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.015, 0.0, 0.0], mass=0.05, contype=0, conaffinity=0
    )
    kinds = {"place": mujoco.mjtSensor.mjSENS_FRAMEPOS, "velocity": mujoco.mjtSensor.mjSENS_FRAMELINVEL}
    for name, kind in kinds.items():
        arm.spec.add_sensor(name=f"ball_{name}", type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname="tip")
    return arm


def landing(place: Array, velocity: Array) -> Array:
    """Return how far ahead a ball that leaves with this place [m] and velocity [m/s] lands on the floor [m]."""
    up = velocity[:, 2]
    flight = (up + np.sqrt(up**2 + 2.0 * GRAVITY * np.maximum(place[:, 2], 0.0))) / GRAVITY
    return place[:, 0] + velocity[:, 0] * flight


def evaluate(parameters: Array, seeds: Sequence[int]) -> dict[str, Array]:
    """Throw with each candidate in each world."""
    run = Episodes(build_thrower, parameters, [p.name for p in PARAMETERS], seeds)
    of = run.of
    ahead = REST + of["back_time"]

    def command(time: float) -> tuple[list[Array], Array, Array]:
        references = []
        for k in (1, 2):
            back = of[f"back_{k}"] * np.clip((time - REST) / of["back_time"], 0.0, 1.0)
            gone = np.clip((time - ahead - (k - 1) * of["delay_2"]) / of["swing"], 0.0, 1.0)
            references.append(back + gone * (of[f"ahead_{k}"] - back))
        return references, np.where(time < ahead, of["preset_back"], of["preset_ahead"]), ahead + of["release"]

    return simulate(run, of["preset_back"], command)


def simulate(
    run: Episodes, preset: Array, command: Callable[[float], tuple[Sequence[Array], Array, Array]]
) -> dict[str, Array]:
    """Throw in each world.

    Args:
        run: the worlds, new.
        preset: stiffness preset with which each world starts [rad], shape (worlds,).
        command: function of the time [s] that returns the reference of each joint and the preset [rad], and the time of
            the release [s], each of shape (worlds,); called once in `CHECK_STEPS`.

    Returns:
        The measures of the task.
    """
    batch = run.batch
    batch.set_parameters({"ball.mass": run.draw(*MASSES)})
    late = run.draw(*DELAYS)
    run.start(preset, {})
    distance, held = np.zeros(batch.worlds), np.ones(batch.worlds, dtype=bool)
    spent, exhausted = np.full(batch.worlds, np.inf), np.zeros(batch.worlds, dtype=bool)
    time, period = 0.0, CHECK_STEPS * run.dt
    while held.any():
        references, preset, release = command(time)
        for joint, reference in zip(JOINTS, references, strict=True):
            run.command(joint, reference, preset)
        run.step(CHECK_STEPS, held)
        time += period
        spent = np.where((run.work >= BUDGET) & np.isinf(spent), time, spent)
        leaves = held & ((time >= release + late) | (time >= spent))
        if leaves.any():
            place, velocity = (batch.port(f"sensor/ball_{name}")[leaves] for name in ("place", "velocity"))
            distance[leaves] = landing(place, velocity)
            exhausted[leaves] = (spent < release + late)[leaves]
            held &= ~leaves
    return run.measures(distance=distance, work=run.work, exhausted=exhausted)


TASK = ComplianceTask(
    name="throw",
    title=f"Throw a ball with {BUDGET:g} J of motor work by series-elastic, variable and stiff joints",
    claim="With the same motor work, joints whose stiffness changes during the throw throw farther than series-elastic "
    "ones of the best constant stiffness, and those farther than stiff joints.",
    primary=Measure("distance", unit="m", better="higher", meaning="how far ahead of the base the ball lands"),
    secondary=(
        Measure("work", unit="J", better="lower", meaning="positive mechanical work of the motors before the release"),
        Measure("exhausted", unit="1", better="lower", meaning="throws that the budget ended"),
    ),
    parameters=PARAMETERS,
    evaluate=evaluate,
    methods=joint_methods("preset_back", "preset_ahead"),
    claims=JOINT_CLAIMS,
    code=("pliant.learn.compliance.episodes", "pliant.laws", "pliant.joints.qbmove", "pliant.joints.qbmove_2dof"),
)

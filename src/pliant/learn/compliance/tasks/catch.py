"""Catch a falling mass with one joint: series-elastic, variable-stiffness and stiff.

A link of one qbMove is held horizontally. A mass of unknown weight falls onto its hand from an unknown height. The
joint may change its preset and move its reference when the hand feels the mass, `FELT` late. One second after the
impact the link shall be horizontal again, with the mass on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.numerics import GRAVITY, Array
from pliant.learn.compliance.episodes import JOINT_CLAIMS, PRESETS, Episodes, joint_methods
from pliant.learn.compliance.task import ComplianceTask, Measure, TaskParameter

if TYPE_CHECKING:
    from pliant.model import Robot

JOINT = "joint"
LENGTH = 0.1
"""Distance of the hand from the axis [m]; ours."""
LEVEL = 0.5 * math.pi
"""Angle of the joint at which the link is horizontal; it hangs at 0 [rad]."""
RADIUS = 0.02
"""Radius of the ball that falls [m]; ours."""
HALF_PLATE = 0.003
"""Half of the thickness of the hand [m]; ours."""
MASSES = (0.1, 0.4)
"""Range of the falling mass [kg]; ours."""
HEIGHTS = (0.05, 0.25)
"""Range of the height of fall over the hand [m]; ours."""
SETTLE = 0.4
"""Time to hold the link before the mass is released [s]."""
FELT = 0.005
"""Time from the impact to the reaction [s]; ours."""
AFTER = 1.0
"""Time from the impact to the end [s]."""
SLEW = 2.0
"""Largest rate of the references [rad/s], for a step of a reference would ask for the largest torque at once; ours."""
CHECK_STEPS = 4
"""Steps of the engine, of 0.5 ms, between two commands."""
TOLERANCE = 0.05
"""Angle error at the end that costs nothing [rad]; ours."""
CHARGE = 10.0
"""Cost of a larger one [N m/rad]; ours."""

PARAMETERS = (
    TaskParameter("preset_before", *PRESETS, 0.1, unit="rad", stiffness="arm", meaning="preset until the switch"),
    TaskParameter("preset_after", *PRESETS, 0.6, unit="rad", stiffness="arm", meaning="preset after the switch"),
    TaskParameter("switch", 0.0, 0.4, 0.2, unit="s", meaning="time of the switch after the impact is felt"),
    TaskParameter("give", -0.6, 0.2, 0.0, unit="rad", meaning="change of the reference when the impact is felt"),
    TaskParameter("give_time", 0.0, 0.4, 0.2, unit="s", meaning="how long it lasts"),
    TaskParameter("lift", 0.0, 0.6, 0.1, unit="rad", meaning="change of the reference from then on"),
    TaskParameter("springs", 1.0, 20.0, 1.0, meaning="factor on the springs; pinned by the joint type"),
)


def build_catcher() -> Robot:
    """Return the arm of one qbMove with a plate as its hand and a ball on a vertical rail above it."""
    import mujoco

    from pliant.robots import build_robot

    options = {"mounting": "hanging", "springs": "maker-pro", "load_mass": 0.05, "load_distance": LENGTH, "mode": 6}
    arm = build_robot("qbmove-1dof", options)
    arm.update({"actuator.reference_slew_1": SLEW, "actuator.reference_slew_2": SLEW})
    spec = arm.spec
    spec.body("link").add_geom(
        name="hand",
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=[HALF_PLATE, 0.03, 0.03],
        pos=[0.0, 0.0, -LENGTH],
        contype=2,
        conaffinity=0,
        condim=1,
        mass=0.0,
        solref=[0.004, 1.0],
        priority=1,
    )
    axis = np.array(spec.body("stand").pos, dtype=float)
    ball = spec.worldbody.add_body(name="ball", pos=[axis[0] + LENGTH, axis[1], axis[2] + HALF_PLATE + RADIUS])
    ball.add_joint(name="fall", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[0.0, 0.0, 1.0])
    ball.add_geom(
        name="ball",
        type=mujoco.mjtGeom.mjGEOM_SPHERE,
        size=[RADIUS, 0.0, 0.0],
        contype=0,
        conaffinity=2,
        condim=1,
        mass=0.2,
    )
    return arm


def evaluate(parameters: Array, seeds: Sequence[int]) -> dict[str, Array]:
    """Catch with each candidate in each world."""
    run = Episodes(build_catcher, parameters, [p.name for p in PARAMETERS], seeds)
    of = run.of

    def command(felt: Array) -> tuple[Array, Array]:
        given = np.where(felt < of["give_time"], of["give"], of["lift"])
        return np.where(felt < 0.0, 0.0, given), np.where(felt < of["switch"], of["preset_before"], of["preset_after"])

    return simulate(run, of["preset_before"], command)


def simulate(run: Episodes, preset: Array, command: Callable[[Array], tuple[Array, Array]]) -> dict[str, Array]:
    """Catch in each world.

    Args:
        run: the worlds, new.
        preset: stiffness preset with which each world starts [rad], shape (worlds,).
        command: function of the time since each world has felt the mass [s], negative before, that returns the change
            of the reference from the level, and the preset [rad]; called once in `CHECK_STEPS`.

    Returns:
        The measures of the task.
    """
    batch = run.batch
    batch.set_parameters({"ball.mass": run.draw(*MASSES)})
    height = run.draw(*HEIGHTS)
    run.start(preset, {JOINT: LEVEL})
    fall, rate = batch.port("fall/position"), batch.port("fall/velocity")
    efforts = [batch.port(f"{JOINT}/motor_{k}_effort") for k in (1, 2)]
    peak, (lowest, final) = np.zeros(batch.worlds), np.full((2, batch.worlds), LEVEL)
    period = CHECK_STEPS * run.dt
    impact = np.sqrt(2.0 * height / GRAVITY)
    for k in range(round((SETTLE + float(impact.max()) + AFTER) / period)):
        time = k * period - SETTLE
        if time < 0.0:  # the ball waits on its rail
            fall[:, 0], rate[:, 0] = height, 0.0
        change, preset = command(time - impact - FELT)
        run.command(JOINT, LEVEL + change, preset)
        counts = (time >= impact - period) & (time < impact + AFTER)
        run.step(CHECK_STEPS, counts)
        largest = np.maximum(*(np.abs(effort[:, 0]) for effort in efforts))
        peak = np.where(counts, np.maximum(peak, largest), peak)
        angle = batch.port(f"{JOINT}/position")[:, 0].copy()
        lowest = np.where(counts, np.minimum(lowest, angle), lowest)
        final = np.where(counts, angle, final)
    dropped = np.abs(fall[:, 0]) > LENGTH
    error = np.where(dropped, LEVEL, np.minimum(np.abs(final - LEVEL), LEVEL))
    return run.measures(
        cost=peak + CHARGE * np.maximum(error - TOLERANCE, 0.0),
        peak_torque=peak,
        work=run.work,
        error=error,
        deflection=LEVEL - lowest,
    )


TASK = ComplianceTask(
    name="catch",
    title="Catch a falling mass and hold it level, with series-elastic, variable and stiff joints",
    claim="A joint that is soft at the impact and stiff afterwards needs less motor torque to catch a mass and hold it "
    "level than a series-elastic one of the best constant stiffness, and that less than a stiff joint.",
    primary=Measure(
        "cost",
        unit="N m",
        better="lower",
        meaning=f"largest torque of a motor, plus {CHARGE:g} N m/rad for an angle error above {TOLERANCE:g} rad at the "
        "end",
    ),
    secondary=(
        Measure("peak_torque", unit="N m", better="lower", meaning="largest torque of a motor after the impact"),
        Measure("work", unit="J", better="lower", meaning="positive mechanical work of both motors after the impact"),
        Measure("error", unit="rad", better="lower", meaning="angle error at the end; pi/2 if the mass fell down"),
        Measure("deflection", unit="rad", better="lower", meaning="largest angle by which the link gave way"),
    ),
    parameters=PARAMETERS,
    evaluate=evaluate,
    methods=joint_methods("preset_before", "preset_after"),
    claims=JOINT_CLAIMS,
    code=("pliant.learn.compliance.episodes", "pliant.laws", "pliant.joints.qbmove", "pliant.joints.benches"),
)

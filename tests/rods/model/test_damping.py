"""Damping of the rods in the step: of every robot as its material has it, between 1 and 20 Hz."""

import dataclasses
import re

import mujoco
import numpy as np
import pytest
from daily import robots_by_day

from pliant.base.spatial import pose
from pliant.parallel.model import build_parallel, mechanism_of
from pliant.parallel.model.modes import simulated_modes
from pliant.rods import (
    ContinuumParallelRobot,
    DistalJoint,
    Limb,
    Plate,
    RobotDescription,
    Rod,
    Round,
    catalogue,
)
from pliant.rods.model.damping import bending_frequency, material_damping, simulated_damping

STEEL = Rod(length=1.0, section=Round(radius=1e-3))


@pytest.mark.parametrize("name", robots_by_day(catalogue()))
def test_every_oscillation_between_1_and_20_hz_has_the_damping_of_its_material_at_1_ms(name):
    damping = 3e-3
    robot = build_parallel(name, segments=5, damping=damping)
    mechanism, model = mechanism_of(robot), robot.compile()
    state = mechanism.bind(model, mujoco.MjData(model))
    state.start()
    modes = simulated_modes(model, state.data, mechanism.elastic, damping, 12)
    heard = [mode for mode in modes if 1.0 <= mode.frequency <= 20.0]
    assert heard
    # Measured: 2.4 % at most; with 1 ms, 1.6 %.
    assert [mode for mode in heard if abs(mode.ratio / mode.material - 1.0) > 0.03] == []


def warnings(name, timestep=1e-3, **changes):
    robot = build_parallel(name, segments=4, **changes).set("option.timestep", timestep)
    return [p for p in robot.check() if p.subject == "robot.damping"]


def test_check_warns_where_the_time_step_is_longer_than_the_damping():
    assert warnings("3RR") == []
    (found,) = warnings("3RR", damping=0.0)
    assert found.severity == "warning"
    assert "instead of 0.0000" in found.message
    (found,) = warnings("3RR", timestep=2e-3)
    simulated, asked = (float(x) for x in re.findall(r"ratio is ([\d.]+) instead of ([\d.]+)", found.message)[0])
    assert simulated == pytest.approx(2.0 * asked, rel=0.05)
    assert "at most 0.001 s" in found.hint


def test_another_integrator_adds_nothing_that_would_be_left_out():
    robot = build_parallel("2RR", segments=4, damping=5e-3)
    discrete = robot.compile()
    robot.set("option.integrator", "implicitfast")
    other = robot.compile()
    dof = discrete.jnt_dofadr[discrete.joint("limb1/bend1").id]
    assert other.dof_damping[dof] == pytest.approx(1.25 * discrete.dof_damping[dof], rel=1e-12)  # 5 ms and 5 - 1 ms


def cantilever(variant, damping, timestep, length):
    """Return the tip's deflection of a swinging rod that is clamped at one end, and its frequency [Hz]."""
    rod = dataclasses.replace(STEEL, length=length)
    robot = ContinuumParallelRobot(
        RobotDescription(
            name="cantilever", gravity=(0.0, 0.0, 0.0), home=pose((0.0, 0.0, rod.length)), plate=Plate(),
            limbs=(Limb(rod=rod, distal=DistalJoint(kind="revolute"), name="rod"),),
        )
    )  # fmt: skip
    start = robot.solve_dgm(np.zeros(0))
    built = build_parallel(robot, start=start, plate_mass=1e-3, damping=damping, variant=variant)
    built.set("option.timestep", timestep)
    for equality in list(built.spec.equalities):
        if equality.type == mujoco.mjtEq.mjEQ_CONNECT:
            built.spec.delete(equality)
    model = built.compile()
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    if variant == "chain":
        data.qvel[model.jnt_dofadr[model.joint("rod/bend1").id]] = -1e-2
    else:
        for j in range(model.njnt):
            if model.joint(j).name.startswith("rod/point") and model.joint(j).name.endswith("y"):
                data.qvel[model.jnt_dofadr[j]] = 1e-2 * model.body_pos[model.jnt_bodyid[j], 2] ** 2 / length
    tip = model.body("rod/link10" if variant == "chain" else "rod/point10").id
    frequency, tips = bending_frequency(rod), []
    while data.time < 12.0 / frequency:
        mujoco.mj_step(model, data)
        tips.append(data.xpos[tip, 1])
    return np.array(tips), frequency


@pytest.mark.parametrize(
    ("variant", "damping", "timestep", "length"),
    [
        ("chain", 1e-3, 1e-3, 1.0), ("chain", 1e-3, 1e-3, 0.27), ("chain", 3e-3, 1e-3, 0.5), ("chain", 0.0, 1e-3, 0.5),
        ("chain", 2e-3, 4e-3, 0.5), ("flex", 1e-3, 1e-3, 0.5), ("flex", 3e-3, 1e-3, 0.27),
    ],
)  # fmt: skip
def test_a_free_decay_has_the_damping_ratio_of_the_material_or_that_of_the_integrator_alone(
    variant, damping, timestep, length
):
    tips, frequency = cantilever(variant, damping, timestep, length)
    peaks = [k for k in range(1, len(tips) - 1) if tips[k - 1] < tips[k] >= tips[k + 1] and tips[k] > 0.0]
    late = [k for k in peaks if k * timestep > 3.0 / frequency]  # the higher modes are gone
    decrement = np.log(tips[late[0]] / tips[late[-1]]) / (len(late) - 1)
    measured = decrement / np.hypot(2.0 * np.pi, decrement)
    assert measured == pytest.approx(simulated_damping(frequency, damping, timestep), rel=0.02)
    assert measured == pytest.approx(material_damping(frequency, max(damping, timestep)), rel=0.03)

"""Blocks, laws and modes in random combinations with random values on a pendulum: every state stays finite."""

import math
import random

import mujoco
import numpy as np
import pytest
from pendulum import LAWS, PENDULUM, references

from pliant.engine import MujocoEngine
from pliant.laws import (
    Backlash,
    Cogging,
    CompliantActuator,
    Creep,
    DCMotor,
    Electrical,
    Gear,
    Hysteresis,
    LeverDrive,
    Mode,
    PreslidingFriction,
    Strength,
    Tendon,
    Thermal,
)
from pliant.model import Robot


def between(pick, low, high):
    """A number whose logarithm is uniform."""
    return math.exp(pick.uniform(math.log(low), math.log(high)))


def friction_of(pick, scale):
    slow = pick.random() < 0.6
    return PreslidingFriction(
        torque=scale * between(pick, 0.01, 0.5),
        stiffness=scale * between(pick, 50.0, 2000.0),
        load_coefficient=pick.choice((0.0, 0.1)),
        stribeck_velocity=between(pick, 0.02, 0.5) if slow else 0.0,
        breakaway=scale * 0.1 if slow else 0.0,
        bristle_damping=scale * 0.05 if slow else 0.0,
    )


def motor_of(pick, lever):
    """A motor with random blocks, in the units of a lever's drive where it is one."""
    size, way = (300.0, 0.02) if lever else (1.0, 1.0)  # of forces and of ways
    chosen = lambda make: make() if pick.random() < 0.5 else None  # noqa: E731
    electrical = chosen(
        lambda: Electrical(
            resistance=between(pick, 0.5, 5.0),
            inductance=pick.choice((0.0, 0.005)),
            torque_constant=size * between(pick, 0.2, 2.0),
            back_emf_constant=0.3 / way,
            supply_resistance=pick.choice((0.0, 0.3)),
            max_current=pick.choice((math.inf, 4.0)),
            max_current_rate=pick.choice((math.inf, 100.0)),
        )
    )
    return (LeverDrive if lever else DCMotor)(
        friction=friction_of(pick, size),
        limit_velocity=pick.random() < 0.3,
        torque_speed=not lever and pick.random() < 0.3,
        electrical=electrical,
        thermal=chosen(lambda: Thermal(capacity=between(pick, 0.01, 10.0))) if electrical is not None else None,
        cogging=chosen(lambda: Cogging(torque=0.1 * size, periods=between(pick, 5.0, 90.0) / way, ripple=0.1)),
        gear=chosen(
            lambda: Gear(
                inertia=(1.0 if lever else 0.01) * between(pick, 0.3, 5.0),
                stiffness=size / way * between(pick, 300.0, 30_000.0),
                damping=size / way * pick.choice((0.0, 0.5)),
            )
        ),
        backlash=chosen(lambda: Backlash(width=way * between(pick, 0.001, 0.1), damping=size / way * 0.01)),
        tendon=chosen(
            lambda: Tendon(
                stiffness=size / way * between(pick, 50.0, 5000.0),
                damping=size / way * between(pick, 0.01, 1.0),
                **pick.choice(({}, {"pretension": 0.5 * size}, {"slack": 0.02 * way})),
            )
        ),
    )


def actuator_of(pick):
    name, mode = pick.choice(sorted(LAWS)), pick.choice(list(Mode))
    law = LAWS[name].replace(clip=pick.choice(("flat", "stop")))
    lever = law.second_input == "lever"
    chosen = lambda make: make() if pick.random() < 0.5 else None  # noqa: E731
    weak = between(pick, 0.5, 10.0)
    return CompliantActuator(
        law,
        mode=mode,
        motor_1=motor_of(pick, False),
        motor_2=None if law.motors == 1 else motor_of(pick, lever),
        link_friction=chosen(lambda: friction_of(pick, 0.3)),
        link_damping=pick.choice((0.0, 0.05)),
        link_backlash=chosen(lambda: Backlash(width=between(pick, 0.001, 0.2), damping=between(pick, 1e-4, 0.1))),
        hysteresis=chosen(lambda: Hysteresis(torque=between(pick, 0.01, 1.0), deflection=between(pick, 0.01, 0.3))),
        creep=chosen(lambda: Creep(stiffness=between(pick, 0.1, 20.0), time=between(pick, 0.01, 5.0))),
        strength=chosen(lambda: Strength(yield_torque=weak, break_torque=pick.choice((math.inf, 1.5 * weak)))),
        reference_slew_1=pick.choice((math.inf, 3.0)),
        command_delay=pick.choice((0.0, 0.004)),
        initial_preset=0.01 if lever else 0.1 if law.motors == 2 else 0.0,
    )


def run_finite(seed, duration):
    """Run one random actuator on the pendulum; the engine's guard raises where it diverges."""
    actuator = actuator_of(random.Random(seed))
    robot = Robot(mujoco.MjSpec.from_string(PENDULUM.format(dt=1e-3)))
    robot.add_actuator("joint", actuator)
    engine = MujocoEngine(robot, check=False)
    ports = [engine.port(f"joint/reference_{k + 1}") for k in range(actuator.commands)]
    n = round(duration / 1e-3)
    given = references(actuator.law, actuator.mode, 1e-3 * np.arange(n))
    for first in range(0, n, 5):
        for port, values in zip(ports, given):
            port[0] = values[first]
        engine.step(5)
    values = np.concatenate([engine.data.qpos, engine.data.qvel, engine.data.act, engine.port("joint/stored_energy")])
    assert np.isfinite(values).all(), (seed, actuator)


@pytest.mark.parametrize("tens", range(4))
def test_random_combinations_of_blocks_laws_and_modes_stay_finite(tens):
    for seed in range(10 * tens, 10 * tens + 10):
        run_finite(seed, 0.5)


@pytest.mark.nightly
@pytest.mark.parametrize("hundreds", range(10))
def test_1000_random_combinations_of_blocks_laws_and_modes_stay_finite_for_2_s(hundreds):
    for seed in range(1000 + 100 * hundreds, 1100 + 100 * hundreds):
        run_finite(seed, 2.0)

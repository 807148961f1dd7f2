"""The energy audit closes for every option, and every pair of options, of every actuator in every mode.

A case moves the link of a pendulum through one period of its references, at two time steps. The residual must be below
0.1 % of the exchanged energy at the shorter one, and it must fall with the step: it is the error of the time
integration. A term that the audit does not name does not fall.
"""

import dataclasses
import itertools
import random

import daily
import mujoco
import numpy as np
import pytest
from audited import AuditedEngine
from pendulum import LAWS, PENDULUM, PERIOD, references

from pliant.base.errors import DivergedError
from pliant.engine.program import StepProgram
from pliant.laws import PID, SEA, CompliantActuator, DCMotor, Mode
from pliant.laws.compile import bound
from pliant.laws.friction import PreslidingFriction
from pliant.laws.motor import Cogging, Electrical, Thermal
from pliant.laws.spring import Creep, Hysteresis, Strength
from pliant.laws.transmission import Backlash, Gear, Tendon
from pliant.model import Robot
from pliant.model.parameters import change_actuator

STEPS = (1e-3, 2.5e-4)


# -- the options -----------------------------------------------------------------------------------------------


def motors(lever=None, **values):
    """An option of all motors of a law, with other values for a lever's drive."""

    def tree(law):
        of_lever = lever is not None and law.second_input == "lever"
        blocks = {"motor_1": values, "motor_2": lever if of_lever else values}
        return {name: blocks[name] for name in ("motor_1", "motor_2")[: law.motors]}

    return tree


def controllers(**values):
    return lambda law: dict.fromkeys(("pid_1", "pid_2")[: law.motors], values)


def actuator(**values):
    return lambda law: values


OPTIONS = {
    "clip": actuator(clip="stop"),
    "stop_stiffness": actuator(clip="stop", stop_stiffness=50.0),
    "link_friction": actuator(link_friction={"torque": 0.05}),
    "link_friction.stiffness": actuator(link_friction={"stiffness": 100.0, "torque": 0.05}),
    "link_friction.load_coefficient": actuator(link_friction={"torque": 0.02, "load_coefficient": 0.1}),
    "link_friction.preset_coefficient": actuator(link_friction={"torque": 0.02, "preset_coefficient": 0.2}),
    "link_damping": actuator(link_damping=0.05),
    "link_preset_damping": actuator(link_preset_damping=0.2),
    "command_delay": actuator(command_delay=4e-3),
    "command_resolution": actuator(command_resolution=0.01),
    "start": actuator(start="zero"),
    "initial_preset": lambda law: {"initial_preset": 0.012 if law.second_input == "lever" else 0.15},
    "inertia": motors(inertia=0.05, lever={"inertia": 4.0}),
    "damping": motors(damping=0.5, lever={"damping": 200.0}),
    "friction.torque": motors(friction={"torque": 0.3}),
    "friction.stiffness": motors(friction={"stiffness": 200.0}),
    "friction.load_coefficient": motors(friction={"load_coefficient": 0.1}),
    "friction.preset_coefficient": motors(friction={"preset_coefficient": 0.5}),
    "max_torque": motors(max_torque=0.6),
    "limit_velocity": motors(
        limit_velocity=True, max_velocity=1.0, lever={"limit_velocity": True, "max_velocity": 0.01}
    ),
    "torque_speed": motors(torque_speed=True),
    "max_velocity": motors(torque_speed=True, max_velocity=2.0),
    "min_position": motors(min_position=-0.2, lever={"min_position": 0.006}),
    "max_position": motors(max_position=0.3, lever={"max_position": 0.0115}),
    "preset_damping": motors(preset_damping=0.5),
    "electrical": motors(electrical={}),
    "electrical.resistance": motors(electrical={"resistance": 5.0}),
    "electrical.inductance": motors(electrical={"inductance": 0.01}),
    "electrical.torque_constant": motors(electrical={"torque_constant": 0.4}),
    "electrical.back_emf_constant": motors(electrical={"back_emf_constant": 0.6}),
    "electrical.supply_voltage": motors(electrical={"supply_voltage": 3.0}),
    "electrical.supply_resistance": motors(electrical={"supply_voltage": 6.0, "supply_resistance": 1.0}),
    "electrical.max_current": motors(electrical={"max_current": 1.0}),
    "friction.stribeck_velocity": motors(friction={"torque": 0.2, "stribeck_velocity": 0.1}),
    "friction.breakaway": motors(friction={"torque": 0.2, "stribeck_velocity": 0.1, "breakaway": 0.1}),
    "friction.bristle_damping": motors(friction={"torque": 0.2, "stribeck_velocity": 0.1, "bristle_damping": 0.5}),
    "link_friction.stribeck_velocity": actuator(link_friction={"torque": 0.05, "stribeck_velocity": 0.1}),
    "link_friction.breakaway": actuator(link_friction={"torque": 0.05, "stribeck_velocity": 0.1, "breakaway": 0.03}),
    "link_friction.bristle_damping": actuator(
        link_friction={"torque": 0.05, "stribeck_velocity": 0.1, "bristle_damping": 0.1}
    ),
    "cogging": motors(cogging={"torque": 0.1}, lever={"cogging": {"torque": 10.0, "periods": 2000.0}}),
    "cogging.torque": motors(cogging={"torque": 0.2}, lever={"cogging": {"torque": 20.0, "periods": 2000.0}}),
    "cogging.periods": motors(cogging={"periods": 20.0}, lever={"cogging": {"periods": 1000.0}}),
    "cogging.phase": motors(cogging={"phase": 1.0}),
    "cogging.ripple": motors(cogging={"ripple": 0.2}),
    "thermal": motors(electrical={}, thermal={}),
    "thermal.resistance": motors(electrical={}, thermal={"resistance": 1.0}),
    "thermal.capacity": motors(electrical={}, thermal={"capacity": 0.01}),
    "thermal.ambient": motors(electrical={}, thermal={"ambient": 250.0}),
    "thermal.temperature_coefficient": motors(electrical={}, thermal={"temperature_coefficient": 0.01}),
    "thermal.derating_temperature": motors(
        electrical={"max_current": 5.0},
        thermal={"capacity": 0.01, "derating_temperature": 300.0, "max_temperature": 400.0},
    ),
    "thermal.max_temperature": motors(electrical={}, thermal={"capacity": 0.01, "max_temperature": 310.0}),
    "electrical.max_current_rate": motors(electrical={"max_current_rate": 20.0}),
    "gear": motors(gear={}, lever={"gear": {"inertia": 0.5, "stiffness": 1e6, "damping": 50.0}}),
    "gear.inertia": motors(gear={"inertia": 0.02}, lever={"gear": {"inertia": 1.0, "stiffness": 1e6}}),
    "gear.stiffness": motors(gear={"stiffness": 1500.0}, lever={"gear": {"inertia": 0.5, "stiffness": 3e5}}),
    "gear.damping": motors(gear={"damping": 2.0}, lever={"gear": {"inertia": 0.5, "stiffness": 1e6, "damping": 200.0}}),
    "backlash": motors(backlash={"width": 0.03}, lever={"backlash": {"width": 5e-4, "damping": 50.0}}),
    "backlash.width": motors(backlash={"width": 0.1}, lever={"backlash": {"width": 1e-3, "damping": 50.0}}),
    "backlash.damping": motors(backlash={"damping": 0.2}, lever={"backlash": {"width": 1e-3, "damping": 500.0}}),
    "tendon": motors(tendon={}, lever={"tendon": {"stiffness": 1e5, "damping": 100.0}}),
    "tendon.stiffness": motors(tendon={"stiffness": 100.0}, lever={"tendon": {"stiffness": 3e4, "damping": 100.0}}),
    "tendon.damping": motors(tendon={"damping": 2.0}, lever={"tendon": {"stiffness": 1e5, "damping": 500.0}}),
    "tendon.pretension": motors(
        tendon={"pretension": 0.5}, lever={"tendon": {"stiffness": 1e5, "damping": 100.0, "pretension": 20.0}}
    ),
    "tendon.slack": motors(
        tendon={"slack": 0.05}, lever={"tendon": {"stiffness": 1e5, "damping": 100.0, "slack": 5e-4}}
    ),
    "link_backlash": actuator(link_backlash={"width": 0.05}),
    "link_backlash.width": actuator(link_backlash={"width": 0.1}),
    "link_backlash.damping": actuator(link_backlash={"damping": 0.2}),
    "hysteresis": actuator(hysteresis={}),
    "hysteresis.torque": actuator(hysteresis={"torque": 0.3}),
    "hysteresis.deflection": actuator(hysteresis={"deflection": 0.15}),
    "creep": actuator(creep={"time": 0.1}),
    "creep.stiffness": actuator(creep={"stiffness": 5.0, "time": 0.2}),
    "creep.time": actuator(creep={"time": 0.03}),
    "strength.yield_torque": actuator(strength={"yield_torque": 0.15}),
    "strength.flow_damping": actuator(strength={"yield_torque": 0.15, "flow_damping": 0.3}),
    "strength.break_torque": actuator(strength={"break_torque": 0.4}),
    "reference_slew_1": actuator(reference_slew_1=1.0),
    "reference_slew_2": actuator(reference_slew_2=0.05),
    "kp": controllers(kp=60.0),
    "kd": controllers(kd=3.0),
    "ki": controllers(ki=100.0),
    "integral_limit": controllers(ki=100.0, integral_limit=0.3),
    "anti_windup": controllers(ki=100.0, anti_windup=True),
    "velocity_feedforward": controllers(velocity_feedforward=True),
}


def merged(one, other):
    out = dict(one)
    for name, value in other.items():
        inner = out.get(name)
        out[name] = merged(inner, value) if isinstance(value, dict) and isinstance(inner, dict) else value
    return out


def test_the_sweep_has_every_option_of_an_actuator_its_motors_and_controllers():
    blocks = {"law", "mode", "motor_1", "motor_2", "pid_1", "pid_2", "friction", "strength"}
    inner = {
        "electrical.": Electrical,
        "cogging.": Cogging,
        "thermal.": Thermal,
        "friction.": PreslidingFriction,
        "link_friction.": PreslidingFriction,
        "gear.": Gear,
        "backlash.": Backlash,
        "tendon.": Tendon,
        "link_backlash.": Backlash,
        "hysteresis.": Hysteresis,
        "creep.": Creep,
        "strength.": Strength,
    }
    names = {f.name for cls in (CompliantActuator, DCMotor, PID) for f in dataclasses.fields(cls)} - blocks
    names |= {prefix + f.name for prefix, cls in inner.items() for f in dataclasses.fields(cls)}
    names |= {"clip", "stop_stiffness"}
    assert names - {"link_friction.torque"} == set(OPTIONS)  # which "link_friction" sets


# -- a run -----------------------------------------------------------------------------------------------------


def robot_of(law, mode, names, dt):
    tree = {}
    for name in names:
        tree = merged(tree, OPTIONS[name](law))
    tree.setdefault("initial_preset", {"none": 0.0, "angle": 0.1, "lever": 0.01}[law.second_input])
    robot = Robot(mujoco.MjSpec.from_string(PENDULUM.format(dt=dt)))
    robot.add_actuator("joint", change_actuator(CompliantActuator(law, mode=mode), tree, "joint"))
    return robot


def next_references(given, n, commands, controls, step):
    """Write the references of the next step (C arrays)."""
    for k in range(commands):
        controls[k] = given[k * n + step[0]]
    step[0] += 1


def play(engine, given):
    """Step as often as there are references, each step as a call of `step` does, in one call."""
    place = np.zeros(1, dtype=np.int64)
    write = bound(next_references, given, given.shape[1], given.shape[0], engine.data.ctrl, place)
    first, each = engine._program.first, engine._program.each
    engine.audit.begin()
    if StepProgram([], [write, *first, *each], [], engine._stop).run(given.shape[1]):
        engine.guard.stop()


def balance_of(law, mode, names, dt):
    """Return the energy balance of a period with some options."""
    robot = robot_of(law, mode, names, dt)
    engine = AuditedEngine(robot, check=False)
    n = round(PERIOD / dt)
    given = np.array(references(law, mode, dt * (1.0 + np.arange(n))))[: robot.actuators["joint"].commands]
    play(engine, given)
    return engine.audit.balance()


def check_case(name, mode, options):
    law, steps = LAWS[name], STEPS
    try:
        coarse = balance_of(law, mode, options, steps[0])
    except DivergedError:  # only where the check of the robot says that this step is too long
        assert any("is unstable" in p.message for p in robot_of(law, mode, options, steps[0]).check())
        steps = tuple(step / 4 for step in steps)
        coarse = balance_of(law, mode, options, steps[0])
    fine = balance_of(law, mode, options, steps[1])
    assert coarse.throughput > 5e-5
    assert fine.relative < 1e-3
    if fine.relative >= max(0.6 * coarse.relative, 2e-5):  # an impact falls between other steps: refine once more
        finest = balance_of(law, mode, options, steps[1] / 4)
        assert finest.relative < max(0.36 * coarse.relative, 2e-5)
    return coarse


def acts(option, name, mode):
    """Whether an option belongs to something that the mode has."""
    blocks = OPTIONS[option](LAWS[name])
    if any(block.startswith("motor") for block in blocks):
        return mode.has_motors
    if not {"link_backlash", "hysteresis", "creep", "strength"}.isdisjoint(blocks):
        return mode.has_spring
    return mode in (Mode.LINK_PID, Mode.PID_REFS, Mode.PID_EQ_PRESET) or not any(b.startswith("pid") for b in blocks)


CONTRADICTIONS = [("tendon.pretension", "tendon.slack")]
PAIRS = [pair for pair in itertools.combinations(OPTIONS, 2) if pair not in CONTRADICTIONS]
EVERY = [*((option,) for option in OPTIONS), *PAIRS]
WHERE = {option: {(n, m) for n, m in itertools.product(LAWS, Mode) if acts(option, n, m)} for option in OPTIONS}
CASES = {
    options: [case for case in itertools.product(LAWS, Mode) if all(case in WHERE[option] for option in options)]
    for options in EVERY
}
DAY = [("limit_velocity",), ("min_position", "max_position"), ("clip", "command_delay")]
SAMPLE = random.Random(2).sample([(*case, options) for options in EVERY for case in CASES[options]], 60)


@pytest.mark.parametrize(
    "options",
    [o if o in DAY else pytest.param(o, marks=pytest.mark.nightly) for o in EVERY if o in DAY or daily.night],
    ids="+".join,
)
def test_the_balance_closes_with_every_option_and_pair_in_every_mode_of_every_actuator(options):
    for name, mode in CASES[options]:
        check_case(name, mode, options)


@pytest.mark.parametrize(("name", "mode", "options"), SAMPLE, ids=lambda x: "+".join(x) if type(x) is tuple else None)
def test_the_balance_closes_with_a_sample_of_options(name, mode, options):
    check_case(name, mode, options)


# -- the terms that make it close ------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [Mode.MOTOR_TORQUES, Mode.PID_REFS, Mode.PID_EQ_PRESET])
@pytest.mark.parametrize("name", LAWS)
def test_speed_limit_and_stops_are_terms_of_the_balance(name, mode):
    limited = check_case(name, mode, ("limit_velocity",))
    assert limited.motor_stops == 0.0
    stopped = check_case(name, mode, ("min_position", "max_position"))
    assert stopped.velocity_limit == 0.0
    plain = check_case(name, mode, ())
    assert plain.velocity_limit == 0.0
    assert plain.motor_stops == 0.0 or LAWS[name].second_input == "lever"  # whose drive has stops
    assert max(limited.velocity_limit / limited.throughput, stopped.motor_stops / stopped.throughput) > 0.003


def free_motor(**options):
    """A motor alone: its spring has no stiffness."""
    motor = DCMotor(damping=0.0, friction=PreslidingFriction(torque=0.0), **options)
    robot = Robot(mujoco.MjSpec.from_string(PENDULUM.format(dt=1e-3)))
    robot.add_actuator("joint", CompliantActuator(SEA(k=0.0), mode=Mode.MOTOR_TORQUES, motor_1=motor))
    return AuditedEngine(robot, check=False)


def test_a_speed_limit_takes_what_the_motor_supplies_at_the_limit():
    engine = free_motor(limit_velocity=True, max_velocity=2.0)
    engine.port("joint/reference_1")[0] = 0.0233 * 10.0  # 10 rad/s^2: 2 rad/s after 0.2 s
    engine.step(500)
    balance = engine.audit.balance()
    assert balance.velocity_limit == pytest.approx(0.233 * 2.0 * 0.3, rel=1e-9)
    assert balance.residual == pytest.approx(0.0, abs=1e-12)


def test_a_stop_takes_the_kinetic_energy_of_the_impact():
    engine = free_motor(max_position=0.3)
    engine.port("joint/reference_1")[0] = 0.0233 * 10.0
    engine.step(500)
    balance = engine.audit.balance()
    speed = np.sqrt(2.0 * 10.0 * 0.3)
    assert balance.motor_stops == pytest.approx(0.5 * 0.0233 * speed**2, rel=0.01)
    assert balance.motor_stops == pytest.approx(balance.motors, rel=1e-9)


@pytest.mark.parametrize("steps", [1, 3])
def test_a_delayed_reference_of_an_ideal_motor_does_the_work_of_a_prompt_one(steps):
    found = []
    for delay in (0.0, steps * 1e-3):
        robot = Robot(mujoco.MjSpec.from_string(PENDULUM.format(dt=1e-3)))
        robot.add_actuator("joint", CompliantActuator(SEA(k=10.0), mode=Mode.SPRING_REFS, command_delay=delay))
        engine = AuditedEngine(robot, check=False)
        engine.port("joint/reference_1")[0] = 0.2  # a jump: 10 x 0.2^2 / 2
        engine.step(100 if delay == 0.0 else 100 + steps)
        found.append(engine.audit.balance())
        assert engine.port("joint/position")[0] > 0.1
    assert found[0].references == pytest.approx(0.2, rel=1e-9)
    assert found[1].references == pytest.approx(0.2, rel=1e-9)
    assert found[1].residual == pytest.approx(found[0].residual, rel=1e-6)

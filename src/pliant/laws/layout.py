"""Layout of the parameter vector and the state of a compliant actuator.

The kernels receive an actuator as one vector of PARAMETERS numbers: the parameters of the law (0..15), followed by the
values whose indices are defined below. In MuJoCo this vector is the `actuator_user` row of the actuator, so it can
differ between the simulations of a batch. Infinite limits are stored as `BIG`, which an XML file preserves.
"""

from __future__ import annotations

import functools
import math
import zlib
from typing import Any

from pliant.base.numerics import Array
from pliant.base.options import describe
from pliant.laws.fields import OBSERVED

BIG = 1.0e6
"""Stands for infinity among limits. MuJoCo's XML writer drops what is 1e-12 of the largest number in a row, so this is
the largest number that leaves a row's small ones (above 1e-6) alone."""

SECOND_INPUTS = ("none", "angle", "lever", "pressure")
"""Types of the inputs of a law by their number in the parameter vector."""
USUAL_PRESETS = {"none": 0.0, "angle": 0.0, "lever": 0.01, "pressure": 1.5e5}
"""Stiffness preset before the first command, by type of the inputs [rad, m, Pa]: assumed."""

# -- the parameter vector ---------------------------------------------------------------------------------
P_MAGIC = 16  # MAGIC: this actuator is ours
P_LAW = 17  # law_key(name)
P_MODE = 18
P_SECOND = 19  # what theta_2 is: 0 none, 1 angle, 2 lever, 3 pressure (of both)
P_COMPANION = 20  # 1 where the second reference is the control of the next actuator
P_RESOLUTION_1 = 21  # quantum of reference 1, 0 for none
P_RESOLUTION_2 = 22
P_DELAY = 23  # command delay in steps
P_LINK_DAMPING = 24  # constant, growth with the preset
P_SLEW_1 = 26  # largest rate of reference 1, 0 for no limit: BIG is in reach of a pressure [Pa/s]
P_SLEW_2 = 27
A_LINK = 28  # from here to A_TEMPERATURE_2, and from A_PLAY on: offsets into the state, -1 for absent
A_MOTOR_1 = 29
A_MOTOR_2 = 30
A_CURRENT_1 = 31
A_CURRENT_2 = 32
A_PREVIOUS_1 = 33
A_PREVIOUS_2 = 34
A_DELAY = 35
A_SLEW = 36
A_TEMPERATURE_1 = 37
A_TEMPERATURE_2 = 38
P_STATES = 39  # length of the state
P_LINK_FRICTION = 40  # friction block
A_RATES = 47  # offset of the rates of both references in the last step, of controllers with feed-forward; 0 for absent
M_1 = 48  # motor blocks
M_2 = 96
C_1 = 144  # controller blocks
C_2 = 150
P_BLOCKS = 156  # 1 with any of what follows, or with backlash, tendon or gear of a motor
P_PLAY = 157  # width and damping of the backlash between spring and link
P_SLIP = 159  # stiffness of one slip element, and the deflection at which the last one slips
P_CREEP = 161  # stiffness and time constant of the creep branch
P_YIELD = 163  # torque (BIG for none) and damping of plastic flow
P_BREAK = 165  # torque, BIG for none
A_PLAY = 166  # from here to A_GEAR_2: offsets into the state, -1 for absent
A_YIELD = 167
A_BROKEN = 168
A_SLIP = 169
A_CREEP = 170
A_PLAY_1 = 171
A_PLAY_2 = 172
A_TENDON_1 = 173
A_TENDON_2 = 174
A_GEAR_1 = 175
A_GEAR_2 = 176
PARAMETERS = 177

MAGIC = 71917.0
"""Mark of pliant's actuators; like the law keys short enough to survive six printed digits."""

# -- inside a friction block ------------------------------------------------------------------------------
F_LEVEL = 0
F_STIFFNESS = 1
F_LOAD = 2
F_PRESET = 3
F_STRIBECK_VELOCITY = 4  # 0 without LuGre's bristle
F_BREAKAWAY = 5
F_BRISTLE_DAMPING = 6
F_PARAMETERS = 7

# -- inside a motor block ---------------------------------------------------------------------------------
M_INERTIA = 0
M_DAMPING = 1
M_TORQUE = 2
M_SPEED = 3  # BIG unless enforced
M_LOW = 4
M_HIGH = 5
M_FRICTION = 6  # friction block
M_NO_LOAD_SPEED = 13  # BIG without torque-speed line
M_PRESET_DAMPING = 14
M_RESISTANCE = 15  # 0 without electrical part
M_INDUCTANCE = 16
M_KT = 17
M_KB = 18
M_SUPPLY = 19
M_SUPPLY_RESISTANCE = 20
M_CURRENT = 21  # largest current, BIG for none
M_COGGING = 22
M_COGGING_PERIODS = 23  # 0 without cogging
M_COGGING_PHASE = 24
M_RIPPLE = 25
M_THERMAL_RESISTANCE = 26  # 0 without thermal part
M_THERMAL_CAPACITY = 27
M_AMBIENT = 28
M_COPPER = 29  # temperature coefficient of the resistance
M_DERATING = 30  # the largest current falls from here ...
M_HOTTEST = 31  # ... to 0 here
M_CURRENT_RATE = 32  # BIG for none
M_PLAY = 33  # width and damping of the backlash between motor and spring
M_TENDON = 35  # stiffness, damping, pretension and slack of a pair of tendons
M_GEAR_INERTIA = 39
M_GEAR_STIFFNESS = 40  # 0 without elastic gear
M_GEAR_DAMPING = 41
M_PARAMETERS = 42
M_STRIDE = M_2 - M_1

# -- the slip elements of a spring's hysteresis -------------------------------------------------------------
SLIPS = 4

# -- inside a controller block ----------------------------------------------------------------------------
C_KP = 0
C_KI = 1
C_KD = 2
C_LIMIT = 3
C_ANTI_WINDUP = 4
C_FEEDFORWARD = 5
C_PARAMETERS = 6

# -- inside a motor's state -------------------------------------------------------------------------------
S_POSITION = 0
S_ANCHOR = 2
S_INTEGRAL = 3
MOTOR_STATES = 4

# -- what `observe` writes: the observed fields of `pliant.laws.fields.JOINT_FIELDS`, in their order ---------
OBSERVATIONS = len(OBSERVED)
OUT = {name: index for index, name in enumerate(OBSERVED)}
O_MOTION_STRIDE = OUT["motor_2_position"] - OUT["motor_1_position"]
"""From a column of position, velocity or effort of motor 1 to that of motor 2."""
O_LOSS_STRIDE = OUT["motor_2_friction"] - OUT["motor_1_friction"]
"""From a column of friction, damping, speed limit, stop or cogging of motor 1 to that of motor 2."""
SHOWN = ("motor_1_position", "motor_2_position", "equilibrium", "preset")
"""Columns of a narrow trace of `pliant.laws.kernels.simulate`."""
O_ELASTIC_TORQUE = OUT["elastic_torque"]
O_TORQUE = OUT["torque"]
O_LOAD_1 = OUT["load_1"]
O_LOAD_2 = OUT["load_2"]
O_STIFFNESS = OUT["stiffness"]
O_REPORTED_STIFFNESS = OUT["reported_stiffness"]
O_ENERGY = OUT["energy"]
O_MOTOR_1_POSITION = OUT["motor_1_position"]
O_MOTOR_2_POSITION = OUT["motor_2_position"]
O_MOTOR_1_EFFORT = OUT["motor_1_effort"]
O_MOTOR_2_EFFORT = OUT["motor_2_effort"]
O_MOTOR_1_VELOCITY = OUT["motor_1_velocity"]
O_MOTOR_2_VELOCITY = OUT["motor_2_velocity"]
O_EQUILIBRIUM = OUT["equilibrium"]
O_PRESET = OUT["preset"]
O_MOTOR_POWER = OUT["motor_power"]
O_FRICTION_POWER = OUT["friction_power"]
O_DAMPING_POWER = OUT["damping_power"]
O_COPPER_POWER = OUT["copper_power"]
O_LINK_FRICTION_TORQUE = OUT["link_friction_torque"]
O_LINK_LOSS_POWER = OUT["link_loss_power"]
O_STORED_ENERGY = OUT["stored_energy"]
O_AT_STOP = OUT["at_stop"]
O_MOTOR_1_FRICTION = OUT["motor_1_friction"]
O_MOTOR_2_FRICTION = OUT["motor_2_friction"]
O_MOTOR_1_TEMPERATURE = OUT["motor_1_temperature"]
O_MOTOR_2_TEMPERATURE = OUT["motor_2_temperature"]
O_LINK_DAMPING_TORQUE = OUT["link_damping_torque"]
O_BRANCH_TORQUE = OUT["branch_torque"]
O_BRANCH_ENERGY = OUT["branch_energy"]
O_TENDON_ENERGY = OUT["tendon_energy"]
O_LINK_OFFSET = OUT["link_offset"]
O_PLASTIC = OUT["plastic_deflection"]
O_MOTOR_1_OFFSET = OUT["motor_1_offset"]
O_MOTOR_2_OFFSET = OUT["motor_2_offset"]
O_MOTOR_1_OUTPUT_VELOCITY = OUT["motor_1_output_velocity"]
O_MOTOR_2_OUTPUT_VELOCITY = OUT["motor_2_output_velocity"]
O_GEAR_POWER = OUT["gear_power"]
O_BROKEN = OUT["broken"]
O_SUPPLY_POWER = OUT["supply_power"]
O_VALVE_POWER = OUT["valve_power"]


def law_key(name: str) -> float:
    """Return the number of at most six digits that stands for a law's name in the parameter vector."""
    return float(zlib.crc32(name.encode()) % 999_983)


def _limit(value: float) -> float:
    return math.copysign(BIG, value) if abs(value) > BIG else float(value)


@functools.cache
def _fields(kind: type) -> tuple[tuple[str, bool], ...]:
    """Return the fields of a block in the order of their declaration, and whether each is a limit, which may be inf."""
    return tuple((info.name, info.infinite) for info in describe(kind))


def _numbers(block: object) -> list[float]:
    """Return the values of the fields of a block, in the order of their declaration."""
    return [
        _limit(getattr(block, name)) if limit else float(getattr(block, name)) for name, limit in _fields(type(block))
    ]


def pack_friction(par: Array | list[float], base: int, friction: Any) -> None:
    """Write a `PreslidingFriction` into ``par`` from index ``base`` on."""
    par[base : base + F_PARAMETERS] = _numbers(friction)


def pack_motor(par: Array | list[float], base: int, motor: Any) -> None:
    """Write a `DCMotor` or `LeverDrive` into ``par`` from index ``base`` on."""
    par[base + M_INERTIA] = float(motor.inertia)
    par[base + M_DAMPING] = float(motor.damping)
    par[base + M_TORQUE] = _limit(motor.max_torque)
    par[base + M_SPEED] = _limit(motor.max_velocity if motor.limit_velocity else math.inf)
    par[base + M_LOW] = _limit(motor.min_position)
    par[base + M_HIGH] = _limit(motor.max_position)
    pack_friction(par, base + M_FRICTION, motor.friction)
    par[base + M_NO_LOAD_SPEED] = _limit(motor.max_velocity if motor.torque_speed else math.inf)
    par[base + M_PRESET_DAMPING] = float(motor.preset_damping)
    winding = [0.0, 0.0, 1.0, 0.0, BIG, 0.0, BIG, BIG] if motor.electrical is None else _numbers(motor.electrical)
    par[base + M_RESISTANCE : base + M_CURRENT + 1] = winding[:-1]
    par[base + M_CURRENT_RATE] = winding[-1]
    par[base + M_COGGING : base + M_RIPPLE + 1] = [0.0] * 4 if motor.cogging is None else _numbers(motor.cogging)
    heat = [0.0, 1.0, 0.0, 0.0, BIG, BIG] if motor.thermal is None else _numbers(motor.thermal)
    par[base + M_THERMAL_RESISTANCE : base + M_HOTTEST + 1] = heat
    for start, block in ((M_PLAY, motor.backlash), (M_TENDON, motor.tendon), (M_GEAR_INERTIA, motor.gear)):
        if block is not None:
            numbers = _numbers(block)
            par[base + start : base + start + len(numbers)] = numbers


def pack_spring(par: Array, actuator: Any) -> None:
    """Write what a `CompliantActuator` has between its motors and its link beside the law into ``par``."""
    par[P_YIELD], par[P_BREAK] = BIG, BIG
    if actuator.link_backlash is not None:
        par[P_PLAY], par[P_PLAY + 1] = float(actuator.link_backlash.width), float(actuator.link_backlash.damping)
    if actuator.hysteresis is not None:
        width = float(actuator.hysteresis.deflection)
        par[P_SLIP], par[P_SLIP + 1] = 2.0 * float(actuator.hysteresis.torque) / (width * (SLIPS + 1)), width
    if actuator.creep is not None:
        par[P_CREEP], par[P_CREEP + 1] = float(actuator.creep.stiffness), float(actuator.creep.time)
    if actuator.strength is not None:
        par[P_YIELD], par[P_YIELD + 1] = _limit(actuator.strength.yield_torque), float(actuator.strength.flow_damping)
        par[P_BREAK] = _limit(actuator.strength.break_torque)


def pack_pid(par: Array | list[float], base: int, pid: Any) -> None:
    """Write a `PID` into ``par`` from index ``base`` on."""
    par[base : base + C_PARAMETERS] = _numbers(pid)

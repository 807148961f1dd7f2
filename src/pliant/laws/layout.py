"""Layout of the parameter vector and the state of a compliant actuator.

The kernels receive an actuator as one vector of PARAMETERS numbers: the parameters of the law (0..15), followed by the
values whose indices are defined below. In MuJoCo this vector is the `actuator_user` row of the actuator, so it can
differ between the simulations of a batch. Infinite limits are stored as `BIG`, which an XML file preserves.
"""

from __future__ import annotations

import math
import zlib
from typing import Any

from pliant.laws.fields import OBSERVED

__all__ = ["PARAMETERS", "law_key", "pack_motor", "pack_pid"]

BIG = 1.0e6
"""Stands for infinity among limits. MuJoCo's XML writer drops what is 1e-12 of the largest number in a row, so this is
the largest number that leaves a row's small ones (above 1e-6) alone."""

# -- the parameter vector ---------------------------------------------------------------------------------
P_MAGIC = 16  # MAGIC: this actuator is ours
P_LAW = 17  # law_key(name)
P_MODE = 18
P_SECOND = 19  # what theta_2 is: 0 none, 1 angle, 2 lever
P_COMPANION = 20  # 1 where the second reference is the control of the next actuator
P_RESOLUTION_1 = 21  # quantum of reference 1, 0 for none
P_RESOLUTION_2 = 22
P_DELAY = 23  # command delay in steps
P_LINK_FRICTION = 24  # level, presliding stiffness, load and preset coefficient
P_LINK_DAMPING = 28  # constant, growth with the preset
A_LINK = 30  # from here to 37: offsets into the state, -1 for absent
A_MOTOR_1 = 31
A_MOTOR_2 = 32
A_CURRENT_1 = 33
A_CURRENT_2 = 34
A_PREVIOUS_1 = 35
A_PREVIOUS_2 = 36
A_DELAY = 37
P_STATES = 38  # length of the state
M_1 = 40  # motor blocks
M_2 = 58
C_1 = 76  # controller blocks
C_2 = 82
PARAMETERS = 88

MAGIC = 71917.0
"""Mark of pliant's actuators; like the law keys short enough to survive six printed digits."""

# -- inside a motor block ---------------------------------------------------------------------------------
M_INERTIA = 0
M_DAMPING = 1
M_TORQUE = 2
M_SPEED = 3  # BIG unless enforced
M_LOW = 4
M_HIGH = 5
M_FRICTION = 6
M_FRICTION_STIFFNESS = 7
M_FRICTION_LOAD = 8
M_FRICTION_PRESET = 9
M_NO_LOAD_SPEED = 10  # BIG without torque-speed line
M_PRESET_DAMPING = 11
M_RESISTANCE = 12  # 0 without electrical part
M_INDUCTANCE = 13
M_KT = 14
M_KB = 15
M_SUPPLY = 16
M_PARAMETERS = 17

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
S_VELOCITY = 1
S_ANCHOR = 2
S_INTEGRAL = 3
MOTOR_STATES = 4

# -- what `observe` writes: the observed fields of `pliant.laws.fields.JOINT_FIELDS`, in their order ---------
OBSERVATIONS = len(OBSERVED)
OUT = {name: index for index, name in enumerate(OBSERVED)}
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
O_MOTOR_1_DAMPING = OUT["motor_1_damping"]
O_MOTOR_1_VELOCITY_LIMIT = OUT["motor_1_velocity_limit"]
O_MOTOR_1_STOP = OUT["motor_1_stop"]
O_MOTOR_2_FRICTION = OUT["motor_2_friction"]
O_MOTOR_2_DAMPING = OUT["motor_2_damping"]
O_MOTOR_2_VELOCITY_LIMIT = OUT["motor_2_velocity_limit"]
O_MOTOR_2_STOP = OUT["motor_2_stop"]
O_LINK_DAMPING_TORQUE = OUT["link_damping_torque"]


def law_key(name: str) -> float:
    """Return the number of at most six digits that stands for a law's name in the parameter vector."""
    return float(zlib.crc32(name.encode()) % 999_983)


def _limit(value: float) -> float:
    return math.copysign(BIG, value) if abs(value) > BIG else float(value)


def pack_motor(par: Any, base: int, motor: Any) -> None:
    """Write a `DCMotor` or `LeverDrive` into ``par`` from index ``base`` on."""
    friction, electrical = motor.friction, motor.electrical
    par[base + M_INERTIA] = float(motor.inertia)
    par[base + M_DAMPING] = float(motor.damping)
    par[base + M_TORQUE] = _limit(motor.max_torque)
    par[base + M_SPEED] = _limit(motor.max_velocity if motor.limit_velocity else math.inf)
    par[base + M_LOW] = _limit(motor.min_position)
    par[base + M_HIGH] = _limit(motor.max_position)
    par[base + M_FRICTION] = float(friction.torque)
    par[base + M_FRICTION_STIFFNESS] = float(friction.stiffness)
    par[base + M_FRICTION_LOAD] = float(friction.load_coefficient)
    par[base + M_FRICTION_PRESET] = float(friction.preset_coefficient)
    par[base + M_NO_LOAD_SPEED] = _limit(motor.max_velocity if motor.torque_speed else math.inf)
    par[base + M_PRESET_DAMPING] = float(motor.preset_damping)
    par[base + M_RESISTANCE] = 0.0 if electrical is None else float(electrical.resistance)
    par[base + M_INDUCTANCE] = 0.0 if electrical is None else float(electrical.inductance)
    par[base + M_KT] = 1.0 if electrical is None else float(electrical.torque_constant)
    par[base + M_KB] = 0.0 if electrical is None else float(electrical.back_emf_constant)
    par[base + M_SUPPLY] = BIG if electrical is None else _limit(electrical.supply_voltage)


def pack_pid(par: Any, base: int, pid: Any) -> None:
    """Write a `PID` into ``par`` from index ``base`` on."""
    par[base + C_KP] = float(pid.kp)
    par[base + C_KI] = float(pid.ki)
    par[base + C_KD] = float(pid.kd)
    par[base + C_LIMIT] = _limit(pid.integral_limit)
    par[base + C_ANTI_WINDUP] = float(pid.anti_windup)
    par[base + C_FEEDFORWARD] = float(pid.velocity_feedforward)

"""Actuators with every option of the laws, for the comparison of Warp with numba."""

from itertools import product

import numpy as np
from law_cases import *  # noqa: F403  registers the laws of the tests

from pliant.base.errors import LawError
from pliant.laws import (
    PID,
    Backlash,
    Cogging,
    CompliantActuator,
    Creep,
    DCMotor,
    Electrical,
    Gear,
    Hysteresis,
    LeverDrive,
    PreslidingFriction,
    Strength,
    Tendon,
    Thermal,
    get_law,
)

DT = 1e-3
COIL = Electrical(resistance=2.3, inductance=0.02, torque_constant=0.8, back_emf_constant=0.3, supply_voltage=12.0)
LUGRE = PreslidingFriction(
    torque=0.05, stiffness=200.0, stribeck_velocity=0.1, breakaway=0.03, bristle_damping=0.02, load_coefficient=0.1
)
DRIVE = Electrical(max_current=2.0, supply_resistance=0.5)
WARM = Thermal(capacity=0.01, derating_temperature=299.0, max_temperature=330.0)
RICH = PreslidingFriction(torque=0.05, load_coefficient=0.1, preset_coefficient=0.05)

# Name -> (changes of the actuator, of each motor, of each controller, of the law).
OPTIONS = {
    "plain": ({}, {}, {}, {}),
    "stop": ({}, {}, {}, {"clip": "stop"}),
    "torque_speed": ({}, {"torque_speed": True}, {}, {}),
    "limit_velocity": ({}, {"limit_velocity": True, "max_velocity": 0.05}, {}, {}),
    "stops": ({}, {"min_position": -0.02, "max_position": 0.03}, {}, {}),
    "preset_damping": ({}, {"preset_damping": 2.0}, {}, {}),
    "friction": ({}, {"friction": RICH}, {}, {}),
    "resistance": ({}, {"electrical": Electrical(inductance=0.0)}, {}, {}),
    "inductance": ({}, {"electrical": COIL}, {}, {}),
    "integral": ({}, {"max_torque": 0.5}, {"ki": 50.0, "integral_limit": 0.3}, {}),
    "anti_windup": ({}, {"max_torque": 0.5}, {"ki": 50.0, "anti_windup": True}, {}),
    "feedforward": ({}, {}, {"velocity_feedforward": True}, {}),
    "link_friction": ({"link_friction": RICH}, {}, {}, {}),
    "link_damping": ({"link_damping": 0.3, "link_preset_damping": 0.2}, {}, {}, {}),
    "delay": ({"command_delay": 7e-3}, {}, {}, {}),
    "resolution": ({"command_resolution": 0.01}, {}, {}, {}),
    "lugre": ({"link_friction": LUGRE}, {"friction": LUGRE}, {}, {}),
    "cogging": ({}, {"cogging": Cogging(torque=0.1, periods=30.0, phase=0.3, ripple=0.1)}, {}, {}),
    "drive": ({}, {"electrical": DRIVE}, {}, {}),
    "sag": ({}, {"electrical": Electrical(inductance=0.02, supply_resistance=0.5)}, {}, {}),
    "thermal": ({}, {"electrical": DRIVE, "thermal": WARM}, {}, {}),
    "current_rate": ({}, {"electrical": Electrical(max_current_rate=20.0)}, {}, {}),
    "gear": ({}, {"gear": Gear(stiffness=2000.0)}, {}, {}),
    "backlash": ({"link_backlash": Backlash(width=0.02)}, {"backlash": Backlash(width=0.01)}, {}, {}),
    "tendon": ({}, {"tendon": Tendon(pretension=0.2)}, {}, {}),
    "slack": ({}, {"tendon": Tendon(slack=0.01)}, {}, {}),
    "hysteresis": ({"hysteresis": Hysteresis(), "creep": Creep(time=0.1)}, {}, {}, {}),
    "yield": ({"strength": Strength(yield_torque=0.1, break_torque=0.4)}, {}, {}, {}),
    "slew": ({"reference_slew_1": 1.0, "reference_slew_2": 0.05}, {}, {}, {}),
    "all": (
        {"link_friction": RICH, "link_damping": 0.1, "command_delay": 3e-3, "command_resolution": 1e-3},
        {"electrical": COIL, "friction": RICH, "torque_speed": True, "preset_damping": 0.5},
        {"ki": 5.0, "anti_windup": True, "velocity_feedforward": True},
        {"clip": "stop"},
    ),
}


def actuator(name, mode, option):
    """Return an actuator of a law in a mode with an option, None where the law cannot have it."""
    cls = get_law(name)
    changes, motor, pid, of_law = OPTIONS[option]
    lever = cls.second_input == "lever"
    muscles = cls.second_input == "pressure"
    start = {"lever": 0.02, "pressure": 1.5e5}.get(cls.second_input, 0.15)
    try:
        more = dict(changes)
        if muscles:
            if motor or pid.get("velocity_feedforward"):
                return None
            gains = {"kp": 0.8, "kd": 0.2} if mode == 1 else {"kp": 2e-5, "kd": 0.0}
            if "link_preset_damping" in more:  # per Pa
                more["link_preset_damping"] /= 1e5
            valve = {"kp": 2e-5, "kd": 0.0} | {k: v for k, v in pid.items() if k != "ki"}
            return CompliantActuator(
                cls(**of_law), mode=mode, pid_1=PID(**gains | pid), pid_2=PID(**valve), initial_preset=start, **more
            )
        if cls.motors == 2:
            second = LeverDrive if lever else DCMotor
            limits = {k: v for k, v in motor.items() if not (lever and k in ("min_position", "max_torque"))}
            if lever and "torque_speed" in motor:
                # With the 0.1 m/s of the default the line is so steep that a step of 1 ms is unstable.
                limits["max_velocity"] = 2.0
            if lever and "gear" in motor:
                # 5 g behind the gear are unstable with 1e5 N/m of the law: `Robot.check` refuses them.
                limits["gear"] = Gear(inertia=2.0, stiffness=2000.0)
            more["motor_2"] = second(**{"max_position": 0.045, **limits} if lever else limits)
            more["pid_2"] = PID(**({"kp": 2e4, "kd": 300.0} if lever else {}) | pid)
        gains = {"kp": 0.8, "kd": 0.2} if mode == 1 else {}
        return CompliantActuator(
            cls(**of_law), mode=mode, motor_1=DCMotor(**motor), pid_1=PID(**gains | pid), initial_preset=start, **more
        )
    except LawError:
        return None


def cases(name):
    """Return the actuators of a law by (mode, option)."""
    found = {(mode, option): actuator(name, mode, option) for mode, option in product(range(7), OPTIONS)}
    return {key: value for key, value in found.items() if value is not None}


def motion(samples=400):
    """Return link angle, velocity, and two references that move, cross zero and pass the springs' clip."""
    t = np.arange(samples) * DT
    q = 0.5 * np.sin(14.0 * t) + 0.4 * np.sin(31.0 * t)
    dq = 7.0 * np.cos(14.0 * t) + 12.4 * np.cos(31.0 * t)
    return q, dq, 0.3 * np.sin(9.0 * t + 0.4), 0.02 + 0.012 * np.sin(11.0 * t)

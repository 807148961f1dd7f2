"""The state of a cabinet: one record that all kernels read and write, and the names of its rows and flags."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from pliant.franka.device.parameters import CAPSULES, HAND_CAPSULES
from pliant.franka.wire.fci import ERRORS, N_MOTION, N_REALS, Controller, MotionGenerator

N_CAPSULES = len(CAPSULES) + len(HAND_CAPSULES)
DT = 1e-3
"""Control period [s]."""
UNUSABLE = 1000
"""Added to the number of errors for a command that cannot be followed at all, whether or not its check is on."""
DEVIATION_OFF = (10.0, 3.12, 6.28)
"""Allowed deviations (translation [m], rotation [rad], elbow [rad]) from which on the check is off; every client sends
them."""

HOLD, MOTION, GUIDING = range(3)
JOINT_POSITION, JOINT_VELOCITY, CARTESIAN_POSITION, CARTESIAN_VELOCITY, NONE = (int(g) for g in MotionGenerator)
JOINT_IMPEDANCE, CARTESIAN_IMPEDANCE, EXTERNAL = (int(c) for c in Controller)
# flags of `control`
PRESENT, ELBOW, FIRST, FINISH, ASYNC, WAIT = (1 << bit for bit in range(6))


def _numbered(title: str, names: str) -> Any:
    """Return the numbers of rows or columns by their names, as a named tuple, which compiled code can read."""
    return namedtuple(title, names)(*range(len(names.split())))


AXIS = _numbered("Axis", "translation rotation elbow")
"""Rows of the Cartesian limits, columns of the allowed deviations."""
RATE = _numbered("Rate", "velocity acceleration jerk")
"""Columns of the Cartesian limits."""
THRESHOLD = _numbered("Threshold", "lower_acceleration upper_acceleration lower_nominal upper_nominal")
"""Rows of the thresholds of contact (lower) and collision (upper)."""
DEVIATION = _numbered("Deviation", "path goal")
"""Rows of the allowed deviations."""
FILTER = _numbered("Filter", "joint_position joint_velocity cartesian_position cartesian_velocity controller")
"""Filters of commands, named as the fields of `fci.SetFilters`."""

SEARCH = np.dtype(
    [
        ("R", "f8", (7, 3, 3)),
        ("p", "f8", (7, 3)),
        ("X", "f8", (4, 4)),
        ("J", "f8", (6, 7)),
        ("A", "f8", (7, 7)),
        ("b", "f8", (7,)),
        ("e", "f8", (7,)),
        ("w", "f8", (3,)),
    ],
    align=True,
)
"""Scratch of the inverse kinematics, and frames of any joint positions."""

MEMORY = np.dtype(
    [
        # what comes in with a cycle, besides the measurements
        ("motion", "f8", (N_MOTION,)),
        ("tau", "f8", (7,)),
        ("flags", "i8"),
        ("raised", "i8"),  # what comes out: the number of errors
        # what the cabinet sets
        ("table", "f8", (7, 10)),
        ("friction", "f8", (21,)),
        ("friction_on", "i8"),
        ("gravity", "f8", (3,)),
        ("rotor_inertia", "f8", (7,)),  # that the torque loop leaves, reflected
        ("joint_stiffness", "f8", (7,)),
        ("torque_loop", "f8"),  # gain of the low-pass of the torque loop
        ("F_T_EE", "f8", (4, 4)),
        ("EE_T_K", "f8", (4, 4)),
        ("K_theta", "f8", (7,)),
        ("K_x", "f8", (6,)),
        ("zeta", "f8"),
        ("K_null", "f8"),
        ("hand", "i8"),  # whether the hand is part of the self collision
        ("wrong_way", "f8"),  # how much farther beyond a limit the arm may be guided [rad]
        ("singular", "f8"),  # manipulability below which the external wrench is zero
        ("observer_gain", "f8"),
        ("q_min", "f8", (7,)),
        ("q_max", "f8", (7,)),
        ("dq_max", "f8", (7,)),
        ("ddq_max", "f8", (7,)),
        ("dddq_max", "f8", (7,)),
        ("dq_offset", "f8", (7,)),
        ("dq_dec", "f8", (7,)),
        ("position_dependent", "i8"),
        ("cartesian", "f8", (len(AXIS), len(RATE))),  # limits of commands
        ("tau_max", "f8", (7,)),
        ("tau_rate", "f8"),
        ("tau_range", "f8"),
        ("velocity_margin", "f8"),
        ("power_limit", "f8"),
        ("start_tolerance", "f8"),
        ("tol_ddq", "f8"),
        ("tol_dddq", "f8"),
        ("threshold_torque", "f8", (len(THRESHOLD), 7)),
        ("threshold_force", "f8", (len(THRESHOLD), 6)),
        ("deviation", "f8", (len(DEVIATION), len(AXIS))),
        ("filter", "f8", (len(FILTER),)),  # gains
        ("enabled", "u1", (len(ERRORS),)),
        ("guiding_free", "i8", (7,)),
        ("mode", "i8"),
        ("controller", "i8"),
        ("generator", "i8"),
        # measured and derived
        ("q", "f8", (7,)),
        ("dq", "f8", (7,)),
        ("tau_J", "f8", (7,)),
        ("tau_J_last", "f8", (7,)),
        ("dq_last", "f8", (7,)),
        ("rotor_torque", "f8", (7,)),  # what accelerates the rotors, low-passed by the torque loop
        ("rotor_drive", "f8", (7,)),  # what the motors add to the desired torque to accelerate the rotors
        ("R", "f8", (7, 3, 3)),
        ("p", "f8", (7, 3)),
        ("X", "f8", (4, 4)),
        ("XK", "f8", (4, 4)),
        ("J", "f8", (6, 7)),
        ("JK", "f8", (6, 7)),
        ("M", "f8", (7, 7)),
        ("C", "f8", (7, 7)),
        ("g", "f8", (7,)),
        ("tau_f", "f8", (7,)),
        ("S", "f8", (7, 6)),
        ("V", "f8", (7, 6)),
        ("D", "f8", (7, 6)),
        ("integral", "f8", (7,)),
        ("observer_started", "i8"),
        ("residual", "f8", (7,)),
        ("F_K", "f8", (6,)),
        # desired
        ("q_d", "f8", (7,)),
        ("dq_d", "f8", (7,)),
        ("ddq_d", "f8", (7,)),
        ("X_c", "f8", (4, 4)),
        ("dX_c", "f8", (6,)),
        ("ddX_c", "f8", (6,)),
        ("X_d", "f8", (4, 4)),
        ("dX_d", "f8", (6,)),
        ("elbow_c", "f8", (2,)),
        ("delbow_c", "f8"),
        ("ddelbow_c", "f8"),
        ("use_elbow", "i8"),
        ("tau_c", "f8", (7,)),
        ("tau_d", "f8", (7,)),
        ("target", "f8", (7,)),
        ("target_velocity", "f8", (7,)),
        ("X_latch", "f8", (4, 4)),
        ("q_latch", "f8", (7,)),
        ("q_hold", "f8", (7,)),
        ("contact", "f8", (13,)),
        ("collision", "f8", (13,)),
        ("errors", "u1", (len(ERRORS),)),
        ("rest", "i8"),
        ("motor_noise", "f8", (7,)),
        ("torque", "f8", (7,)),
        ("reals", "f8", (N_REALS,)),
        # scratch
        ("A7", "f8", (7, 7)),
        ("K7", "f8", (7, 7)),
        ("D7", "f8", (7, 7)),
        ("P7", "f8", (7, 7)),
        ("A6", "f8", (6, 6)),
        ("b7", "f8", (7,)),
        ("b6", "f8", (6,)),
        ("w3", "f8", (3,)),
        ("K6", "f8", (6,)),
        ("D6", "f8", (6,)),
        ("e6", "f8", (6,)),
        ("force", "f8", (7,)),
        ("JL", "f8", (6, 7)),  # Jacobian in the axes of the stiffness frame
        ("XKd", "f8", (3, 4)),
        ("capsules", "f8", (2, N_CAPSULES, 3)),  # ends of the capsules of self collision
        ("search", SEARCH),
        ("q_new", "f8", (7,)),
        ("X_new", "f8", (4, 4)),
        ("dX_new", "f8", (6,)),
    ],
    align=True,
)
"""Layout of a cabinet's whole state: copying it saves and restores the controller."""

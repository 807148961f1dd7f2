"""Where the numbers of a control board lie: modes, and the rows of the arrays that its kernel works on.

Everything is a float64 array of one column an axis (or a joint), so that one call of the kernel runs all axes.
"""

from __future__ import annotations

from enum import IntEnum

from pliant.base.errors import DeviceError, nearest
from pliant.devices.base import FieldInfo


class ControlMode(IntEnum):
    """Control mode of an axis."""

    IDLE = 0
    """Nothing: no torque."""
    POSITION = 1
    """A trajectory to the target, followed by the position controller."""
    POSITION_DIRECT = 2
    """The position controller follows the reference itself."""
    VELOCITY = 3
    """A speed that is reached by a ramp, and ends when no command comes."""
    VELOCITY_DIRECT = 4
    """A speed without a ramp."""
    MIXED = 5
    """Trajectory and speed together."""
    TORQUE = 6
    """A torque."""
    CURRENT = 7
    """A current of the motor."""
    PWM = 8
    """A duty cycle of the amplifier."""
    HARDWARE_FAULT = 9
    """The board found a fault and gives no torque; only a forced idle ends it."""
    CALIBRATING = 10
    """The axis looks for its zero; a simulated one knows it."""
    CALIBRATION_DONE = 11
    """The zero is found."""
    NOT_CONFIGURED = 12
    """An axis of a fake board."""
    CONFIGURED = 13
    """Configured, and never calibrated."""


class InteractionMode(IntEnum):
    """How an axis behaves when it is pushed."""

    STIFF = 0
    """It holds its reference."""
    COMPLIANT = 1
    """It behaves as a spring and a damper about its reference."""


class Loop(IntEnum):
    """The controllers of an axis."""

    POSITION = 0
    """Of the position."""
    VELOCITY = 1
    """Of the speed, where the velocity modes have a controller of their own."""
    TORQUE = 2
    """Of the torque; its output is added to the reference, and without gains the torque is exact."""
    CURRENT = 3
    """Of the current, as that of the torque."""


LOOPS = len(Loop)

# -- rows of the state of the axes; the first ones, in this order, are the fields of a sample ------------------
(
    POSITION,
    VELOCITY,
    ACCELERATION,
    TORQUE,
    MOTOR_POSITION,
    MOTOR_VELOCITY,
    MOTOR_ACCELERATION,
    POSITION_REFERENCE,
    VELOCITY_REFERENCE,
    TORQUE_REFERENCE,
    POSITION_TARGET,
    CURRENT,
    DUTY_CYCLE,
    TEMPERATURE,
    CONTROL_MODE,
    INTERACTION_MODE,
    MOTION_DONE,
    FAULT,
    SAMPLED,  # how many of the above are sampled
) = range(19)
(
    ZERO,  # position of the joint where the encoder reads 0
    MOTOR_ZERO,
    VELOCITY_TARGET,  # what the ramp goes to
    RAMP,  # speed that the ramp has reached
    COMMAND_TIME,  # of the last speed command [s]
    COMMANDED_DUTY,
    COMMANDED_CURRENT,
    BRAKE_POSITION,
    BRAKED,
    BRAKE_MANUAL,
    BRAKE_AUTO,
    AMPLIFIER,  # 1 where it is on
    # trajectory
    MOVING,
    STEP,
    START,
    GOAL,
    DURATION,
    START_SPEED,  # generated speed at the start, for trapezoids along the way
    PEAK,
    FIRST,
    SECOND,
    SLOPE_1,
    SLOPE_2,
    GENERATED,
    GENERATED_SPEED,
    # what a client sets
    SPEED,
    SLOPE,  # acceleration of trajectories and ramps
    LOW,
    HIGH,
    MAX_SPEED,
    MAX_TORQUE,
    STIFFNESS,
    DAMPING,
    TORQUE_OFFSET,
    TORQUE_PER_DUTY,
    GEAR,
    TIMEOUT,
    KIND,  # of the trajectory: 0 minimum jerk, 1 constant speed, 2 trapezoid
    DIRECT,  # 1 where the velocity mode has a controller of its own
    MAX_DUTY,
    MAX_CURRENT,
    END,
) = range(SAMPLED, SAMPLED + 42)

# -- rows of a controller, from END + loop * GAINS on ------------------------------------------------------------
(
    KP,
    KD,
    KI,
    MAX_INTEGRAL,
    MAX_OUTPUT,
    OFFSET,
    SCALE,
    STICTION_UP,
    STICTION_DOWN,
    KFF,
    FEEDFORWARD,
    ERROR_LIMIT,
    ENABLED,
    ERROR,  # live values from here
    INTEGRAL,
    OUTPUT,
    GAINS,
) = range(17)

# -- rows behind the controllers: constants of motors that are kept for clients and have no effect ------------------
(
    NOMINAL_CURRENT,
    PEAK_CURRENT,
    TEMPERATURE_LIMIT,
    COUNTS_PER_REVOLUTION,
    MOTOR_PARAMETERS,  # first of the parameters of a motor's torque model
) = range(END + LOOPS * GAINS, END + LOOPS * GAINS + 5)
PARAMETER_COUNT = 9
AXIS_ROWS = MOTOR_PARAMETERS + PARAMETER_COUNT

# -- rows of the joints ------------------------------------------------------------------------------------------
(
    AXIS,  # the axis whose gains it takes
    MOTOR_AXIS,  # the axis that shows it as a motor, -1 for none
    Q_ADDRESS,
    V_ADDRESS,
    CONTROL,  # address of its control, -1 for none
    SECOND_CONTROL,  # of a compliant joint with a second reference
    DRIVE,
    TRANSMISSION,  # gear of the actuator
    FORCE_GAIN,
    BIAS_0,
    BIAS_1,
    BIAS_2,
    OBSERVED,  # row of a compliant joint in the engine's observations, -1
    PRESET,
    ORIGIN,  # its position where the axes of its coupling are at 0
    # state
    J_POSITION,
    J_VELOCITY,
    J_LAST_VELOCITY,
    J_ACCELERATION,
    J_TORQUE,
    J_REFERENCE,
    J_SPEED,
    J_EFFORT,  # what the board asks of it
    J_INTEGRAL,
    J_ERROR,
    J_FRESH,  # 1 in the first step after a reset
    JOINT_ROWS,
) = range(27)

# -- kinds of drives ---------------------------------------------------------------------------------------------
FORCE, SERVO, SPRING = range(3)
"""An actuator whose force the board computes; a servo of the model that holds positions; a compliant actuator whose
reference is its equilibrium."""

FAULT_NONE, FAULT_TORQUE, FAULT_NUMBER = range(3)
FAULTS = {
    FAULT_NONE: "no fault",
    FAULT_TORQUE: "the measured torque was larger than the limit of the axis",
    FAULT_NUMBER: "the controller gave no finite torque",
}
"""Code of a fault -> what it means."""

WATCHED = (ControlMode.VELOCITY, ControlMode.VELOCITY_DIRECT, ControlMode.MIXED)
"""Modes that the watchdog stops."""

REFERENCES: dict[str, tuple[str, str, tuple[ControlMode, ...]]] = {
    "position": ("{}", "target of a trajectory", (ControlMode.POSITION, ControlMode.MIXED)),
    "position_direct": ("{}", "reference of the position controller", (ControlMode.POSITION_DIRECT,)),
    "velocity": ("{}/s", "speed that a ramp leads to", (ControlMode.VELOCITY, ControlMode.MIXED)),
    "velocity_direct": ("{}/s", "speed without a ramp", (ControlMode.VELOCITY_DIRECT,)),
    "torque": ("torque", "torque", (ControlMode.TORQUE,)),
    "current": ("A", "current of the motor", (ControlMode.CURRENT,)),
    "pwm": ("", "duty cycle [%]", (ControlMode.PWM,)),
}
"""Command mode -> unit of its reference, what it is, and the control modes of the axes that take it."""

_FIELDS = (
    ("position", "{}", "position of the axes, counted from the zero of the encoders"),
    ("velocity", "{}/s", "speed of the axes"),
    ("acceleration", "{}/s^2", "acceleration of the axes: difference of two speeds over a step"),
    ("torque", "{}", "torque of the actuators on the joints, at the axes"),
    ("motor_position", "{}", "position of the motors, counted from the zero of their encoders"),
    ("motor_velocity", "{}/s", "speed of the motors"),
    ("motor_acceleration", "{}/s^2", "acceleration of the motors"),
    ("position_reference", "{}", "what the position controllers follow"),
    ("velocity_reference", "{}/s", "speed of the references"),
    ("torque_reference", "{}", "torque that is asked of the axes in the modes torque, current and pwm"),
    ("position_target", "{}", "where the trajectories end"),
    ("current", "A", "currents of the motors: torque over the torque of 1 A"),
    ("duty_cycle", "", "duty cycles of the amplifiers [%]: torque over the torque of 1 %"),
    ("temperature", "K", "temperatures of the motors, constant"),
    ("control_mode", "", "control modes, `ControlMode`"),
    ("interaction_mode", "", "interaction modes: 0 stiff, 1 compliant"),
    ("motion_done", "", "1 where no trajectory is under way"),
    ("fault", "", "code of the last fault, 0 for none"),
)
SAMPLE_NAMES = tuple(name for name, _, _ in _FIELDS)


def length_unit(slides: list[bool]) -> str:
    """Return the unit of positions: "rad", "m", or both where the axes differ."""
    return "rad or m" if any(slides) and not all(slides) else "m" if any(slides) else "rad"


def samples_of(slides: list[bool]) -> dict[str, FieldInfo]:
    """Return the field table of a board, by which of its axes are prismatic."""
    lengths = length_unit(slides).split(" or ")
    forces = [{"rad": "N m", "m": "N"}[u] for u in lengths]
    table = {}
    for name, unit, text in _FIELDS:
        if "{}" in unit:
            unit = " or ".join([unit.format(u) for u in (forces if name.startswith("torque") else lengths)])
        table[name] = FieldInfo((len(slides),), unit, text)
    return table


def commands_of(slides: list[bool]) -> dict[str, dict[str, FieldInfo]]:
    """Return the command modes of a board, by which of its axes are prismatic."""
    lengths = length_unit(slides).split(" or ")
    torque = " or ".join([{"rad": "N m", "m": "N"}[u] for u in lengths])
    commands: dict[str, dict[str, FieldInfo]] = {}
    for mode, (unit, text, _) in REFERENCES.items():
        unit = torque if unit == "torque" else " or ".join([unit.format(u) for u in lengths]) if "{" in unit else unit
        commands[mode] = {mode: FieldInfo((len(slides),), unit, f"{text}, for the axes in this control mode")}
    return commands


GAIN_NAMES = (
    "kp", "kd", "ki", "max_integral", "max_output", "offset", "scale", "stiction_up", "stiction_down", "kff",
)  # fmt: skip
"""Names of a controller's parameters, in the order of its rows."""

LOOP_ROWS = {
    "error": ERROR,
    "output": OUTPUT,
    "feedforward": FEEDFORWARD,
    "error_limit": ERROR_LIMIT,
    "enabled": ENABLED,
    "offset": OFFSET,
}
"""Name of a controller's live value or setting -> its row."""
LOOP_SETTINGS = ("feedforward", "error_limit", "enabled", "offset")
"""Those of `LOOP_ROWS` that can be set."""
LOOP_REFERENCES = {
    "position": POSITION_REFERENCE,
    "velocity": VELOCITY_REFERENCE,
    "torque": TORQUE_REFERENCE,
    "current": COMMANDED_CURRENT,
}
"""Controller -> row of what it follows."""

MOTOR_CONSTANTS = {
    "max_current": MAX_CURRENT,
    "max_duty": MAX_DUTY,
    "gear_ratio": GEAR,
    "torque_per_duty": TORQUE_PER_DUTY,
    "nominal_current": NOMINAL_CURRENT,
    "peak_current": PEAK_CURRENT,
    "temperature_limit": TEMPERATURE_LIMIT,
    "counts_per_revolution": COUNTS_PER_REVOLUTION,
}
"""Constant of a motor -> its row."""

QUANTITIES = {
    **{name: k for k, name in enumerate(SAMPLE_NAMES)},
    **MOTOR_CONSTANTS,
    "speed": SPEED,
    "acceleration_limit": SLOPE,
    "low": LOW,
    "high": HIGH,
    "max_speed": MAX_SPEED,
    "max_torque": MAX_TORQUE,
    "torque_offset": TORQUE_OFFSET,
    "velocity_target": VELOCITY_TARGET,
    "duty_reference": COMMANDED_DUTY,
    "current_reference": COMMANDED_CURRENT,
    "amplifier": AMPLIFIER,
}
"""Quantity of an axis that a board can be asked for -> its row."""

POSITION_ROWS = [POSITION, POSITION_REFERENCE, POSITION_TARGET, START, GOAL, GENERATED, LOW, HIGH, BRAKE_POSITION]
"""Positions, which count from the zero of the encoder."""


def loop_row(loop: Loop | str) -> int:
    """Return the first row of a controller, given by name.

    Raises:
        DeviceError: there is no such controller.
    """
    if isinstance(loop, str):
        if loop.upper() not in Loop.__members__:
            raise DeviceError(
                f"the controller is {loop!r}; {nearest(loop, [m.name.lower() for m in Loop])}", field="loop"
            )
        loop = Loop[loop.upper()]
    return END + int(loop) * GAINS

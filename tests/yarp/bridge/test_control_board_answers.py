"""Every remote call of a control board, in both dialects: its answer has the right types and the board's values."""

import math

import numpy as np
import pytest
from tests.helpers.control_boards import JoinedRig, arm, part_of
from yarp_replies import decode_protocol_version, decode_reply, decode_reply_3, encode_request, encode_words

from pliant.base.errors import DeviceError, WireError
from pliant.control_boards import JoinedBoard
from pliant.control_boards.layout import ControlMode
from pliant.yarp.bridge import control_board_answers as answers
from pliant.yarp.bridge.control_board_state import StateEncoder, sampled_field
from pliant.yarp.wire import control_board as v4
from pliant.yarp.wire import control_board_v3 as v3
from pliant.yarp.wire.binary import decode_bottle, encode_bottle, encode_vector
from pliant.yarp.wire.joints import JointState, StreamCommand
from pliant.yarp.wire.records import Pid
from pliant.yarp.wire.text import format_bottle, parse_bottle
from pliant.yarp.wire.values import Bottle, Vocab, bottle

DEG = 180.0 / math.pi
SCALE = np.array([DEG, 1.0, DEG])
"""Degrees a radian of the hinges, metres of the slide between them."""
V = Vocab.of
PID = Pid(
    kp=2.0, kd=0.5, ki=0.25, max_int=3.0, max_output=40.0, offset=0.1, scale=1.0, stiction_up=0.2, stiction_down=0.3,
    kff=0.4,
)  # fmt: skip
INTERFACES = dict.fromkeys(v4.INTERFACES, True)
TORQUE_PARAMETERS = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0)
VARIABLES = list(answers.REMOTE_VARIABLES)


def rig(make=arm):
    """Return a rig under way: every quantity of every axis differs, so that no answer is right by chance."""
    made = make(
        position_kp=(60.0, 2000.0, 30.0),
        position_kd=(3.0, 90.0, 2.0),
        max_torque=(200.0, 300.0, 100.0),
        torque_per_duty=(2.0, 4.0, 5.0),
        gear_ratio=(100.0, 50.0, 80.0),
        speed=(0.8, 0.2, 0.7),
        acceleration=(2.0, 0.5, 3.0),
        stiffness=(11.0, 12.0, 13.0),
        damping=(1.0, 2.0, 3.0),
        min_stiffness=(0.0,),
        max_stiffness=(5000.0,),
        velocity_max=(3.0, 0.6, 4.0),
        gravity=-9.81,
    )
    made.board.refer("position", [0.5, 0.1, -0.4])
    made.step(150)
    return made


def group(row):
    """Return expected results of one axis, of all, and of the group (2, 0)."""
    return {
        "one": lambda b: (row(b)[1],),
        "all": lambda b: (row(b),),
        "group": lambda b: (row(b)[[2, 0]],),
    }


def row(name, scale=SCALE):
    return lambda b: b.read_row(name) * scale


def const(*values):
    return lambda b: np.array(values, dtype=float)


PLAIN = np.ones(3)
READ = {
    "position": row("position"),
    "velocity": row("velocity"),
    "acceleration": row("acceleration"),
    "motor": row("motor_position"),
    "motor_speed": row("motor_velocity"),
    "motor_acceleration": row("motor_acceleration"),
    "current": row("current", PLAIN),
    "duty": row("duty_cycle", PLAIN),
    "torque": row("torque", PLAIN),
    "torque_reference": row("torque_reference", PLAIN),
    "duty_reference": row("duty_reference", PLAIN),
    "current_reference": row("current_reference", PLAIN),
    "reference": row("position_reference"),
    "target": row("position_target"),
    "speed_reference": row("velocity_reference"),
    "speed_target": row("velocity_target"),
    "speed": const(0.8 * DEG, 0.2, 0.7 * DEG),
    "slope": const(2.0 * DEG, 0.5, 3.0 * DEG),
    "temperature": const(25.0, 25.0, 25.0),
    "temperature_limit": const(100.0, 100.0, 100.0),
    "gear": const(100.0, 50.0, 80.0),
    "counts": const(360.0, 360.0, 360.0),
    "max_current": const(100.0, 75.0, 20.0),
    "max_duty": const(100.0, 100.0, 100.0),
    "supply": const(40.0, 40.0, 40.0),
    "error": lambda b: b.controller("error", "position") * SCALE,
    "output": lambda b: b.controller("output", "position"),
    "max_torque": const(200.0, 300.0, 100.0),
}


def pid_of(b, j):
    kp, kd = (60.0, 2000.0, 30.0)[j], (3.0, 90.0, 2.0)[j]
    return Pid(kp=kp / SCALE[j], kd=kd / SCALE[j], ki=0.1 / SCALE[j], max_output=(200.0, 300.0, 100.0)[j])


def pairs(names, shape, arguments=()):
    """Return method -> (arguments, expected results) of reading methods of a shape."""
    return {method: (arguments, group(READ[quantity])[shape]) for method, quantity in names.items()}


POS1 = V("pos1")
GET_4 = {
    **pairs(
        {
            "getEncoderOneRPC": "position", "getEncoderSpeedOneRPC": "velocity",
            "getEncoderAccelerationOneRPC": "acceleration", "getMotorEncoderOneRPC": "motor",
            "getMotorEncoderSpeedOneRPC": "motor_speed", "getMotorEncoderAccelerationOneRPC": "motor_acceleration",
            "getMotorEncoderCountsPerRevolutionRPC": "counts", "getRefCurrentOneRPC": "current_reference",
            "getCurrentOneRPC": "current", "getRefDutyCycleOneRPC": "duty_reference", "getDutyCycleOneRPC": "duty",
            "getRefTorqueOneRPC": "torque_reference", "getRefPositionOneRPC": "reference",
            "getTargetPositionOneRPC": "target", "getTargetVelocityOneRPC": "speed_target",
            "getRefVelocityOneRPC": "speed_reference", "getTrajSpeedOneRPC": "speed",
            "getTrajAccelerationOneRPC": "slope", "getTemperatureOneRPC": "temperature",
            "getTemperatureLimitRPC": "temperature_limit", "getGearboxRatioRPC": "gear",
            "getMaxCurrentRPC": "max_current", "getNominalCurrentRPC": "max_current",
            "getPeakCurrentRPC": "max_current", "getPWMLimitRPC": "max_duty", "getPowerSupplyVoltageRPC": "supply",
            "getPWMRPC": "duty",
        }, "one", (1,),
    ),
    **pairs(
        {
            "getEncoderAllRPC": "position", "getEncoderSpeedAllRPC": "velocity",
            "getEncoderAccelerationAllRPC": "acceleration", "getMotorEncoderAllRPC": "motor",
            "getMotorEncoderSpeedAllRPC": "motor_speed", "getMotorEncoderAccelerationAllRPC": "motor_acceleration",
            "getRefCurrentAllRPC": "current_reference", "getCurrentAllRPC": "current",
            "getRefDutyCycleAllRPC": "duty_reference", "getDutyCycleAllRPC": "duty",
            "getRefTorqueAllRPC": "torque_reference", "getRefPositionAllRPC": "reference",
            "getTargetPositionAllRPC": "target", "getTargetVelocityAllRPC": "speed_target",
            "getRefVelocityAllRPC": "speed_reference", "getTrajSpeedsAllRPC": "speed",
            "getTrajAccelerationAllRPC": "slope", "getTemperatureAllRPC": "temperature",
        }, "all",
    ),
    **pairs(
        {
            "getRefTorqueGroupRPC": "torque_reference", "getRefPositionGroupRPC": "reference",
            "getTargetPositionGroupRPC": "target", "getTargetVelocityGroupRPC": "speed_target",
            "getRefVelocityGroupRPC": "speed_reference", "getTrajSpeedsGroupRPC": "speed",
            "getTrajAccelerationGroupRPC": "slope",
        }, "group", ((2, 0),),
    ),
    "getDeviceInterfacesRPC": ((), lambda b: (INTERFACES,)),
    "getAvailableControlModesRPC": (
        (0,), lambda b: ([V(m) for m in ["idl", "pos", "posd", "vel", "veld", "mix", "torq", "icur", "ipwm", "fidl"]],),
    ),
    "getImpedanceRPC": ((2,), lambda b: (13.0 / DEG, 3.0 / DEG)),
    "getImpedanceOffsetRPC": ((2,), lambda b: (0.0,)),
    "getCurrentImpedanceLimitRPC": ((0,), lambda b: (0.0, 5000.0 / DEG, 0.0, 100.0)),
    "getLastJointFaultRPC": ((0,), lambda b: (0, "no fault")),
    "getRemoteVariableRPC": (("yarp_jntMaxPos",), lambda b: (bottle((2.0 * DEG, 0.3, 3.0 * DEG)),)),
    "getRemoteVariablesListRPC": ((), lambda b: ([bottle(*VARIABLES)],)),
    "getInteractionModeOneRPC": ((1,), lambda b: (V("stif"),)),
    "getInteractionModesGroupRPC": (((2, 0),), lambda b: ([V("stif")] * 2,)),
    "getInteractionModesAllRPC": ((), lambda b: ([V("stif")] * 3,)),
    "getCurrentRangeOneRPC": ((1,), lambda b: (-75.0, 75.0)),
    "getCurrentRangeAllRPC": ((), lambda b: ([-100.0, -75.0, -20.0], [100.0, 75.0, 20.0])),
    "getEncoderTimedOneRPC": ((1,), lambda b: (b.read_row("position")[1], b.time)),
    "getEncoderTimedAllRPC": ((), lambda b: (READ["position"](b), [b.time] * 3)),
    "getMotorEncoderTimedOneRPC": ((1,), lambda b: (b.read_row("motor_position")[1], b.time)),
    "getMotorEncodersTimedAllRPC": ((), lambda b: (READ["motor"](b), [b.time] * 3)),
    "getNumberOfMotorEncodersRPC": ((), lambda b: (3,)),
    "getNumberOfMotorsRPC": ((), lambda b: (3,)),
    "isCalibratorDevicePresentRPC": ((), lambda b: (True,)),
    "isJointBrakedRPC": ((0,), lambda b: (False,)),
    "getAutoBrakeEnabledRPC": ((0,), lambda b: (False,)),
    "getAxesRPC": ((), lambda b: (3,)),
    "getAxisNameRPC": ((1,), lambda b: ("slide",)),
    "getJointTypeRPC": ((1,), lambda b: (V("atpr"),)),
    "getPosLimitsRPC": ((0,), lambda b: (-2.0 * DEG, 2.0 * DEG)),
    "getVelLimitsRPC": ((0,), lambda b: (0.0, 3.0 * DEG)),
    "getAvailablePidsRPC": ((0,), lambda b: ([V(f"{p}1") for p in ("pos", "vel", "trq", "cur")],)),
    "isPidEnabledRPC": ((POS1, 0), lambda b: (True,)),
    "getPidErrorRPC": ((POS1, 2), lambda b: (READ["error"](b)[2],)),
    "getPidErrorsRPC": ((POS1,), lambda b: (READ["error"](b),)),
    "getPidReferenceRPC": ((POS1, 2), lambda b: (READ["reference"](b)[2],)),
    "getPidReferencesRPC": ((POS1,), lambda b: (READ["reference"](b),)),
    "getPidErrorLimitRPC": ((POS1, 0), lambda b: (0.0,)),
    "getPidErrorLimitsRPC": ((POS1,), lambda b: ([0.0] * 3,)),
    "getPidOutputRPC": ((POS1, 0), lambda b: (READ["output"](b)[0],)),
    "getPidOutputsRPC": ((POS1,), lambda b: (READ["output"](b),)),
    "getPidRPC": ((POS1, 1), lambda b: (pid_of(b, 1),)),
    "getPidsRPC": ((POS1,), lambda b: ([pid_of(b, j) for j in range(3)],)),
    "getPidExtraInfoRPC": ((POS1, 0), lambda b: (bottle(*[""] * 13),)),
    "getPidExtraInfosRPC": ((POS1,), lambda b: ([bottle(*[""] * 13)] * 3,)),
    "getPidOffsetRPC": ((POS1, 0), lambda b: (0.0,)),
    "getPidFeedforwardRPC": ((POS1, 0), lambda b: (0.0,)),
    "checkMotionDoneOneRPC": ((0,), lambda b: (False,)),
    "checkMotionDoneGroupRPC": (((2, 0),), lambda b: (False,)),
    "checkMotionDoneAllRPC": ((), lambda b: (False,)),
    "getTorqueRangeOneRPC": ((1,), lambda b: (-300.0, 300.0)),
    "getTorqueRangeAllRPC": ((), lambda b: ([-200.0, -300.0, -100.0], [200.0, 300.0, 100.0])),
    "getMotorTorqueParamsRPC": ((0,), lambda b: ((0.0,) * 9,)),
    "getAmpStatusAllRPC": ((), lambda b: ([0, 0, 0],)),
    "getAmpStatusOneRPC": ((0,), lambda b: (0,)),
}  # fmt: skip
"""Reading method -> its arguments, and what it must answer of a board."""


def at(name, axes, wanted, mode=None):
    """Return (arguments are taken in `mode`, a check that a row of the board has these values in SI)."""
    return mode, lambda b: b.read_row(name, axes) == pytest.approx(wanted, abs=1e-12)


def motor(name, axis, wanted):
    return None, lambda b: b.read_row(name, axis) == pytest.approx([wanted])


def is_mode(*names):
    return None, lambda b: [b.mode_of(a).name.lower() for a in range(3)] == list(names)


def gain(loop, axis, **gains):
    return None, lambda b: all(b.gains(loop, axis)[k] == pytest.approx(v) for k, v in gains.items())


NOTHING = (None, lambda b: True)
SI = (1.0 / DEG, 0.01, -2.0 / DEG)
USER = (1.0, 0.01, -2.0)
SET_4 = {
    "setImpedanceRPC": ((0, 0.5, 0.1), (None, lambda b: b.impedance(0) == pytest.approx((0.5 * DEG, 0.1 * DEG)))),
    "setImpedanceOffsetRPC": ((0, 1.5), at("torque_offset", 0, 1.5)),
    "setRemoteVariableRPC": (
        ("VelocityTimeout", bottle((0.5, 0.25, 1.0))),
        (None, lambda b: b.remote_variable("VelocityTimeout").tolist() == [0.5, 0.25, 1.0]),
    ),
    "setInteractionModeOneRPC": ((1, V("comp")), at("interaction_mode", None, [0, 1, 0])),
    "setInteractionModesGroupRPC": (((2, 0), (V("comp"), V("comp"))), at("interaction_mode", None, [1, 0, 1])),
    "setInteractionModesAllRPC": (((V("comp"),) * 3,), at("interaction_mode", None, [1, 1, 1])),
    "setRefCurrentAllRPC": (((1.0, 2.0, 3.0),), at("current_reference", None, [1, 2, 3], "current")),
    "setRefCurrentOneRPC": ((1, 2.5), at("current_reference", 1, 2.5, "current")),
    "setRefCurrentGroupRPC": (((2, 0), (1.0, 2.0)), at("current_reference", [2, 0], [1, 2], "current")),
    "setRefDutyCycleOneRPC": ((1, 2.5), at("duty_reference", 1, 2.5, "pwm")),
    "setRefDutyCycleAllRPC": (((1.0, 2.0, 3.0),), at("duty_reference", None, [1, 2, 3], "pwm")),
    "setRefDutyCycleGroupRPC": (((2, 0), (1.0, 2.0)), at("duty_reference", [2, 0], [1, 2], "pwm")),
    "resetEncoderOneRPC": ((0,), at("position", 0, 0.0)),
    "resetEncoderAllRPC": ((), at("position", None, [0, 0, 0])),
    "setEncoderOneRPC": ((0, 3), at("position", 0, 3.0 / DEG)),
    "setEncoderAllRPC": ((USER,), at("position", None, SI)),
    "resetMotorEncoderRPC": ((0,), at("motor_position", 0, 0.0)),
    "resetMotorEncodersRPC": ((), at("motor_position", None, [0, 0, 0])),
    "setMotorEncoderRPC": ((0, 5.0), at("motor_position", 0, 5.0 / DEG)),
    "setMotorEncoderCountsPerRevolutionRPC": ((0, 4096.0), motor("counts_per_revolution", 0, 4096.0)),
    "setMotorEncodersAllRPC": ((USER,), at("motor_position", None, SI)),
    "calibrateSingleJointRPC": ((0,), NOTHING),
    "calibrateWholePartRPC": ((), NOTHING),
    "homingSingleJointRPC": ((0,), at("position_target", 0, 0.0)),
    "homingWholePartRPC": ((), at("position_target", None, [0, 0, 0])),
    "parkSingleJointRPC": ((0, False), at("position_target", 0, 0.0)),
    "parkWholePartRPC": ((), at("position_target", None, [0, 0, 0])),
    "quitCalibrateRPC": ((), NOTHING),
    "quitParkRPC": ((), at("motion_done", None, [1, 1, 1])),
    "setManualBrakeActiveRPC": ((0, True), (None, lambda b: b.brake(0) == (True, False))),
    "setAutoBrakeEnabledRPC": ((0, True), (None, lambda b: b.brake(0) == (False, True))),
    "setRefTorqueOneRPC": ((1, 2.5), at("torque_reference", 1, 2.5, "torque")),
    "setRefTorqueAllRPC": (((1.0, 2.0, 3.0),), at("torque_reference", None, [1, 2, 3], "torque")),
    "setRefTorqueGroupRPC": (((2, 0), (1.0, 2.0)), at("torque_reference", [2, 0], [1, 2], "torque")),
    "setRefPositionOneRPC": ((0, 4.0), at("position_reference", 0, 4.0 / DEG, "position_direct")),
    "setRefPositionAllRPC": ((USER,), at("position_reference", None, SI, "position_direct")),
    "setRefPositionGroupRPC": (
        ((2, 0), (4.0, 5.0)), at("position_reference", [2, 0], [4 / DEG, 5 / DEG], "position_direct"),
    ),
    "setControlModeOneRPC": ((1, V("torq")), is_mode("position", "torque", "position")),
    "setControlModeAllRPC": (((V("idl"), V("icur"), V("veld")),), is_mode("idle", "current", "velocity_direct")),
    "setControlModeGroupRPC": (((2, 0), (V("mix"), V("ipwm"))), is_mode("pwm", "position", "mixed")),
    "calibrateRobotRPC": ((), NOTHING),
    "abortCalibrationRPC": ((), NOTHING),
    "abortParkRPC": ((), at("motion_done", None, [1, 1, 1])),
    "parkRPC": ((True,), at("position_target", None, [0, 0, 0])),
    "calibrateAxisWithParamsRPC": ((0, 1, 1.0, 2.0, 3.0), NOTHING),
    "setCalibrationParametersRPC": ((0, 1, (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)), NOTHING),
    "calibrationDoneRPC": ((0,), NOTHING),
    "setPosLimitsRPC": ((0, -45.0, 90.0), at("low", 0, -45.0 / DEG)),
    "setVelLimitsRPC": ((0, 0.0, 120.0), at("max_speed", 0, 120.0 / DEG)),
    "setTemperatureLimitRPC": ((0, 80.0), motor("temperature_limit", 0, 353.15)),
    "setGearboxRatioRPC": ((0, 160.0), motor("gear_ratio", 0, 160.0)),
    "enablePidRPC": ((POS1, 0), (None, lambda b: b.controller("enabled", "position").tolist() == [1, 1, 1])),
    "disablePidRPC": ((POS1, 0), (None, lambda b: b.controller("enabled", "position").tolist() == [0, 1, 1])),
    "resetPidRPC": ((POS1, 0), NOTHING),
    "setPidRPC": ((POS1, 0, PID), gain("position", 0, kp=2.0 * DEG, ki=0.25 * DEG, kd=0.5 * DEG, max_output=40.0)),
    "setPidsRPC": ((V("trq1"), (PID, PID, PID)), gain("torque", 2, kp=2.0, ki=0.25, kff=0.4, stiction_down=0.3)),
    "setPidOffsetOneRPC": ((POS1, 0, 0.5), (None, lambda b: b.controller("offset", "position")[0] == 0.5)),
    "setPidFeedforwardOneRPC": ((POS1, 0, 0.5), (None, lambda b: b.controller("feedforward", "position")[0] == 0.5)),
    "setPidReferenceRPC": ((POS1, 0, 6.0), at("position_reference", 0, 6.0 / DEG, "position_direct")),
    "setPidReferencesRPC": ((POS1, USER), at("position_reference", None, SI, "position_direct")),
    "setPidErrorLimitRPC": (
        (POS1, 0, 9.0), (None, lambda b: b.controller("error_limit", "position")[0] == pytest.approx(9.0 / DEG)),
    ),
    "setPidErrorLimitsRPC": (
        (POS1, (9.0, 0.5, 8.0)),
        (None, lambda b: b.controller("error_limit", "position") == pytest.approx([9 / DEG, 0.5, 8 / DEG])),
    ),
    "positionMoveOneRPC": ((0, 4.0), at("position_target", 0, 4.0 / DEG)),
    "positionMoveGroupRPC": (((2, 0), (4.0, 5.0)), at("position_target", [2, 0], [4 / DEG, 5 / DEG])),
    "positionMoveAllRPC": ((USER,), at("position_target", None, SI)),
    "relativeMoveOneRPC": ((0, 4.0), (None, lambda b: moved_by(b, [4.0 / DEG], [0]))),
    "relativeMoveGroupRPC": (((2, 0), (4.0, 5.0)), (None, lambda b: moved_by(b, [4 / DEG, 5 / DEG], [2, 0]))),
    "relativeMoveAllRPC": ((USER,), (None, lambda b: moved_by(b, SI, None))),
    "setTrajSpeedOneRPC": ((0, 20.0), at("speed", 0, 20.0 / DEG)),
    "setTrajSpeedGroupRPC": (((2, 0), (20.0, 30.0)), at("speed", [2, 0], [20 / DEG, 30 / DEG])),
    "setTrajSpeedAllRPC": (((20.0, 0.1, 30.0),), at("speed", None, [20 / DEG, 0.1, 30 / DEG])),
    "setTrajAccelerationOneRPC": ((0, 20.0), at("acceleration_limit", 0, 20.0 / DEG)),
    "setTrajAccelerationsGroupRPC": (((2, 0), (20.0, 30.0)), at("acceleration_limit", [2, 0], [20 / DEG, 30 / DEG])),
    "setTrajAccelerationsAllRPC": (((20.0, 0.1, 30.0),), at("acceleration_limit", None, [20 / DEG, 0.1, 30 / DEG])),
    "stopOneRPC": ((0,), at("motion_done", None, [1, 0, 0])),
    "stopGroupRPC": (((2, 0),), at("motion_done", None, [1, 0, 1])),
    "stopAllRPC": ((), at("motion_done", None, [1, 1, 1])),
    "velocityMoveOneRPC": ((0, 20.0), at("velocity_target", 0, 20.0 / DEG, "velocity")),
    "velocityMoveGroupRPC": (((2, 0), (20.0, 30.0)), at("velocity_target", [2, 0], [20 / DEG, 30 / DEG], "velocity")),
    "velocityMoveAllRPC": (((20.0, 0.1, 30.0),), at("velocity_target", None, [20 / DEG, 0.1, 30 / DEG], "velocity")),
    "setRefVelocityOneRPC": ((0, 20.0), at("velocity_target", 0, 20.0 / DEG, "velocity_direct")),
    "setRefVelocityAllRPC": (
        ((20.0, 0.1, 30.0),), at("velocity_target", None, [20 / DEG, 0.1, 30 / DEG], "velocity_direct"),
    ),
    "setRefVelocityGroupRPC": (
        ((2, 0), (20.0, 30.0)), at("velocity_target", [2, 0], [20 / DEG, 30 / DEG], "velocity_direct"),
    ),
    "setMotorTorqueParamsRPC": ((0, TORQUE_PARAMETERS), (None, lambda b: b.motor_parameters(0) == TORQUE_PARAMETERS)),
    "enableAmpRPC": ((0,), is_mode("position", "position", "position")),
    "disableAmpRPC": ((0,), is_mode("idle", "position", "position")),
    "setMaxCurrentRPC": ((0, 12.0), motor("max_current", 0, 12.0)),
    "setNominalCurrentRPC": ((0, 12.0), motor("nominal_current", 0, 12.0)),
    "setPeakCurrentRPC": ((0, 12.0), motor("peak_current", 0, 12.0)),
    "setPWMLimitRPC": ((0, 50.0), motor("max_duty", 0, 50.0)),
}  # fmt: skip
"""Writing method -> its arguments, the control mode that it needs (None: position), and what it does to the board."""


def moved_by(board, deltas, axes):
    measured = board.read_row("position", axes)
    return board.read_row("position_target", axes) == pytest.approx(measured + deltas, abs=1e-9)


def same(found, wanted):
    """Compare results: numbers nearly, everything else exactly, and lists by their elements."""
    if isinstance(wanted, Pid):
        names = Pid.__dataclass_fields__
        assert [getattr(found, n) for n in names] == pytest.approx([getattr(wanted, n) for n in names])
    elif isinstance(wanted, np.ndarray | list | tuple | Bottle) and not isinstance(wanted, str):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            same(one, other)
    elif isinstance(wanted, float | np.floating):
        assert type(found) is float
        assert found == pytest.approx(float(wanted), rel=1e-9, abs=1e-9)
    else:
        assert type(found) is type(wanted)
        assert found == wanted


def call_4(board, name, *arguments):
    """Send a call of dialect 4 through bytes and return the status and the results that a client reads."""
    request = decode_bottle(encode_bottle(encode_request(v4.METHODS[name], *arguments), 4), 4)
    reply = answers.answer(part_of(board), request, 4)
    return decode_reply(name, decode_bottle(encode_bottle(reply, 4), 4))


def test_every_method_of_dialect_4_is_tested_once():
    assert set(GET_4) | set(SET_4) == set(v4.METHODS)
    assert not set(GET_4) & set(SET_4)


@pytest.fixture(scope="module")
def running():
    """A board that tests only read."""
    return rig().board


@pytest.mark.parametrize("name", sorted(GET_4))
def test_a_reading_method_of_dialect_4_answers_what_the_board_has(name, running):
    arguments, expected = GET_4[name]
    status, results = call_4(running, name, *arguments)
    assert status == "ok"
    same(results, tuple(expected(running)))


@pytest.mark.parametrize("name", sorted(SET_4))
def test_a_writing_method_of_dialect_4_changes_the_board(name, changed):
    arguments, (mode, check) = SET_4[name]
    if mode is not None:
        changed.set_control_mode(mode)
    status, results = call_4(changed, name, *arguments)
    assert (status, results) == ("ok", ())
    assert check(changed)


_MADE = []


@pytest.fixture
def changed():
    """A board that a test changes; its robot is compiled once."""
    if not _MADE:
        _MADE.append(rig())
    made = _MADE[0]
    made.engine.reset()
    made.board.reset(np.random.default_rng(0))
    made.board.move([0.5, 0.1, -0.4])
    made.step(60)
    return made.board


# -- dialect 3 ----------------------------------------------------------------------------------------------


def words_of(names, shape):
    arguments = {"one": (1,), "all": (), "group": (2, (2, 0))}[shape]
    return {words: (arguments, group(READ[quantity])[shape]) for words, quantity in names.items()}


def whole(function):
    return lambda b: tuple(int(x) if isinstance(x, bool) else x for x in function(b))


POS = V("pos")
GET_3 = {
    **words_of(
        {
            "get pos": "target", "get vel": "speed", "get acc": "slope", "get dpo": "reference",
            "get vmo": "speed_target", "get enc": "position", "get esp": "velocity", "get eac": "acceleration",
            "get mnc": "motor", "get msp": "motor_speed", "get mac": "motor_acceleration", "get mcpr": "counts",
            "get maxc": "max_current", "get acpk": "max_current", "get acno": "max_current", "get pwml": "max_duty",
            "get acu": "current", "get pwm": "duty", "get avsu": "supply", "get tmp": "temperature",
            "get tmpl": "temperature_limit", "get gbxr": "gear", "get torq trq": "torque",
            "get torq ref": "torque_reference", "get ipwm ref": "duty_reference", "get ipwm pwm": "duty",
            "get icur ref": "current_reference",
        }, "one",
    ),
    **words_of(
        {
            "get poss": "target", "get vels": "speed", "get accs": "slope", "get dpos": "reference",
            "get vmos": "speed_target", "get encs": "position", "get esps": "velocity", "get eacs": "acceleration",
            "get mncs": "motor", "get msps": "motor_speed", "get macs": "motor_acceleration", "get acus": "current",
            "get tmps": "temperature", "get torq trqs": "torque", "get torq refs": "torque_reference",
            "get ipwm refs": "duty_reference", "get ipwm pwms": "duty", "get icur refs": "current_reference",
        }, "all",
    ),
    **words_of(
        {
            "get posg": "target", "get velg": "speed", "get accg": "slope", "get dpog": "reference",
            "get vmog": "speed_target",
        }, "group",
    ),
    "get axes": ((), lambda b: (3,)),
    "get don": ((0,), lambda b: (0,)),
    "get dons": ((), lambda b: (0,)),
    "get dong": ((2, (2, 0)), lambda b: (0,)),
    "get mnum": ((), lambda b: (3,)),
    "get mtnm": ((), lambda b: (3,)),
    "get llim": GET_4["getPosLimitsRPC"],
    "get vlim": GET_4["getVelLimitsRPC"],
    "get asta": ((), lambda b: ([0, 0, 0],)),
    "get asts": ((0,), lambda b: (0,)),
    "get name": ((1,), lambda b: ("slide",)),
    "get type": ((0,), lambda b: (V("atrv"),)),
    "get torq rng": GET_4["getTorqueRangeOneRPC"],
    "get torq rngs": GET_4["getTorqueRangeAllRPC"],
    "get torq mtps": GET_4["getMotorTorqueParamsRPC"],
    "get iimp ipr": ((2,), lambda b: ((13.0 / DEG, 3.0 / DEG),)),
    "get iimp iof": ((2,), lambda b: ((0.0,),)),
    "get iimp llim": ((0,), lambda b: ((0.0, 5000.0 / DEG, 0.0, 100.0),)),
    "get icmd cmod": ((1,), lambda b: (V("pos"),)),
    "get icmd cmog": ((2, (2, 0)), lambda b: ([V("pos")] * 2,)),
    "get icmd cmds": ((), lambda b: ([V("pos")] * 3,)),
    "get intm mode": ((1,), lambda b: (V("stif"),)),
    "get intm modg": ((2, (2, 0)), lambda b: ([V("stif")] * 2,)),
    "get intm mods": ((), lambda b: ([V("stif")] * 3,)),
    "get pid pid": ((POS, 1), lambda b: (pid_of(b, 1),)),
    "get pid pids": ((POS,), lambda b: ([pid_of(b, j) for j in range(3)],)),
    "get pid err": ((POS, 2), lambda b: (READ["error"](b)[2],)),
    "get pid errs": ((POS,), lambda b: (READ["error"](b),)),
    "get pid out": ((POS, 0), lambda b: (READ["output"](b)[0],)),
    "get pid outs": ((POS,), lambda b: (READ["output"](b),)),
    "get pid ref": ((POS, 2), lambda b: (READ["reference"](b)[2],)),
    "get pid refs": ((POS,), lambda b: (READ["reference"](b),)),
    "get pid lim": ((POS, 0), lambda b: (0.0,)),
    "get pid lims": ((POS,), lambda b: ([0.0] * 3,)),
    "get pid ena": ((POS, 0), lambda b: (1,)),
    "get icur rng": GET_4["getCurrentRangeOneRPC"],
    "get icur rngs": GET_4["getCurrentRangeAllRPC"],
    "get reca isca": ((), lambda b: (1,)),
    "get ijfl jhfl": ((0,), lambda b: (0, "no fault")),
}  # fmt: skip


def grouped(name):
    """Return arguments and check of a group's method of dialect 4, with the number of axes in front."""
    (joints, *rest), check = SET_4[name]
    return (len(joints), joints, *rest), check


def slot_3(name):
    """Return arguments and check of a method of a controller of dialect 4, with the slot of dialect 3."""
    (slot, *rest), check = SET_4[name]
    return (V(slot.name[:-1]), *rest), check


SET_3 = {
    "set pos": SET_4["positionMoveOneRPC"], "set poss": SET_4["positionMoveAllRPC"],
    "set posg": grouped("positionMoveGroupRPC"),
    "set rel": SET_4["relativeMoveOneRPC"], "set rels": SET_4["relativeMoveAllRPC"],
    "set relg": grouped("relativeMoveGroupRPC"),
    "set vel": SET_4["setTrajSpeedOneRPC"], "set vels": SET_4["setTrajSpeedAllRPC"],
    "set velg": grouped("setTrajSpeedGroupRPC"),
    "set acc": SET_4["setTrajAccelerationOneRPC"], "set accs": SET_4["setTrajAccelerationsAllRPC"],
    "set accg": grouped("setTrajAccelerationsGroupRPC"),
    "set sto": SET_4["stopOneRPC"], "set stos": SET_4["stopAllRPC"], "set stog": grouped("stopGroupRPC"),
    "set vmos": SET_4["velocityMoveAllRPC"],
    "set ere": SET_4["resetEncoderOneRPC"], "set eres": SET_4["resetEncoderAllRPC"],
    "set enc": ((0, 3.5), at("position", 0, 3.5 / DEG)), "set encs": SET_4["setEncoderAllRPC"],
    "set mre": SET_4["resetMotorEncoderRPC"], "set mres": SET_4["resetMotorEncodersRPC"],
    "set mnc": SET_4["setMotorEncoderRPC"], "set mncs": SET_4["setMotorEncodersAllRPC"],
    "set mcpr": SET_4["setMotorEncoderCountsPerRevolutionRPC"],
    "set llim": SET_4["setPosLimitsRPC"], "set vlim": SET_4["setVelLimitsRPC"],
    "set aen": SET_4["enableAmpRPC"], "set adi": SET_4["disableAmpRPC"],
    "set maxc": SET_4["setMaxCurrentRPC"], "set acpk": SET_4["setPeakCurrentRPC"],
    "set acno": SET_4["setNominalCurrentRPC"], "set pwml": SET_4["setPWMLimitRPC"],
    "set tmpl": SET_4["setTemperatureLimitRPC"], "set gbxr": SET_4["setGearboxRatioRPC"],
    "set torq ref": SET_4["setRefTorqueOneRPC"], "set torq refs": SET_4["setRefTorqueAllRPC"],
    "set torq mtps": SET_4["setMotorTorqueParamsRPC"],
    "set iimp ipr": ((0, (0.5, 0.1)), SET_4["setImpedanceRPC"][1]),
    "set iimp iof": ((0, (1.5,)), SET_4["setImpedanceOffsetRPC"][1]),
    "set icmd cmod": SET_4["setControlModeOneRPC"], "set icmd cmog": grouped("setControlModeGroupRPC"),
    "set icmd cmds": SET_4["setControlModeAllRPC"],
    "set intm mode": SET_4["setInteractionModeOneRPC"], "set intm modg": grouped("setInteractionModesGroupRPC"),
    "set intm mods": SET_4["setInteractionModesAllRPC"],
    "set pid pid": slot_3("setPidRPC"), "set pid pids": slot_3("setPidsRPC"),
    "set pid ref": slot_3("setPidReferenceRPC"), "set pid refs": slot_3("setPidReferencesRPC"),
    "set pid lim": slot_3("setPidErrorLimitRPC"), "set pid lims": slot_3("setPidErrorLimitsRPC"),
    "set pid off": slot_3("setPidOffsetOneRPC"), "set pid res": slot_3("resetPidRPC"),
    "set pid ena": slot_3("enablePidRPC"), "set pid dis": slot_3("disablePidRPC"),
    "set reca cal": ((0,), NOTHING), "set reca cals": ((), NOTHING),
    "set reca hom": SET_4["homingSingleJointRPC"], "set reca homs": SET_4["homingWholePartRPC"],
    "set reca par": SET_4["homingSingleJointRPC"], "set reca pars": SET_4["homingWholePartRPC"],
    "set reca quca": ((), NOTHING), "set reca qupa": SET_4["quitParkRPC"],
    "calj": ((0, 1, 1.0, 2.0, 3.0), NOTHING), "cljp": ((0, 1, 1.0, 2.0, 3.0, 4.0), NOTHING), "cal": ((), NOTHING),
    "cald": ((0,), NOTHING), "park": ((1,), at("position_target", None, [0, 0, 0])),
}  # fmt: skip


def call_3(board, words, *arguments):
    request = decode_bottle(encode_bottle(encode_words(words, *arguments), 3), 3)
    reply = decode_bottle(encode_bottle(answers.answer(part_of(board), request, 3, 7), 3), 3)
    return decode_reply_3(request, reply)


def test_every_request_of_dialect_3_is_tested_once():
    assert set(GET_3) | set(SET_3) == set(v3.METHODS)


@pytest.mark.parametrize("words", sorted(GET_3))
def test_a_reading_request_of_dialect_3_answers_what_the_board_has(words, running):
    arguments, expected = GET_3[words]
    results, stamp = call_3(running, words, *arguments)
    same(results, tuple(expected(running)))
    if stamp is not None:
        assert (stamp.count, stamp.time) == (7, running.time)


@pytest.mark.parametrize("words", sorted(SET_3))
def test_a_writing_request_of_dialect_3_changes_the_board(words, changed):
    arguments, (mode, check) = SET_3[words]
    if mode is not None:
        changed.set_control_mode(mode)
    assert call_3(changed, words, *arguments) == ((), None)
    assert check(changed)


# -- what is typed, wrong, or particular ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dialect", "typed", "reply"),
    [
        (3, "get axes", "[is] axes 3 [tsta] 0 {time} [ok]"),
        (3, "[get] [prot]", "[prot] 1 9 0 [ok]"),
        (3, "[get] [don]", "[is] [don] 0 [tsta] 0 {time} [ok]"),
        (3, "[get] [icmd] [cmod] 0", "[is] 0 [pos] [tsta] 0 {time} [ok]"),
        (3, "[get] [nope] 0", "[fail]"),
        (3, "[get] [enc] 9", "[fail]"),
        (3, "[get] [enc] -1", "[fail]"),
        (3, "[set] [pos] 0 nan", "[fail]"),
        (3, "[set] [poss] (1.0 2.0)", "[fail]"),
        (3, "[set] [posg] 3 (0 2) (1.0 2.0)", "[fail]"),
        (3, "[set] [icmd] [cmod] 0 [hwfa]", "[fail]"),
        (3, "[set] [icmd] [cmod] 0 posd", "[ok]"),
        (3, "[get] [pid] [pid] [nope] 0", "[fail]"),
        (3, "foo", "[nak]"),
        (3, "", "[nak]"),
        (3, "[get] [ivar] [mvar] yarp_kPWM", "[is] [ivar] ((2.0 4.0 5.0)) [ok]"),
        (3, "[set] [ivar] [mvar] yarp_kPWM (2.0 4.0 5.0)", "[ok]"),
        (3, "[set] [ivar] [mvar] yarp_kPWM 1.0 2.0", "[fail]"),
        (3, "[set] [torq] [mtps] 0 (1.0 2.0 3.0 4.0)", "[ok]"),
        (3, "[set] [torq] [mtps] 0 (1.0 2.0 3.0)", "[fail]"),
        (3, "[get] [ivar] [mvar] nonsense", "[fail]"),
        (3, "[get] [ivar]", "[fail]"),
        (3, "(1 2) (3)", "[nak]"),
        (3, "[get] [ivar] [mvar] 3", "[fail]"),
        (4, "getAxesRPC", "([ok]) 3"),
        (4, "nosuch 1", "[fail]"),
        (4, "getEncoderOneRPC 9", "([err7]) 0.0"),
        (4, "getPidRPC [pos] 0", "([err5]) (0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0)"),
        (4, "getEncoderOneRPC", "[fail]"),
        (4, "positionMoveOneRPC 0 nan", "[err5]"),
        (4, "setControlModeOneRPC 0 [hwfa]", "[err5]"),
        (4, "setControlModeOneRPC 0 [posd]", "[ok]"),
        (4, "positionMoveAllRPC (1.0)", "[err5]"),
        (4, "setPidErrorLimitsRPC [pos1] (1.0 2.0)", "[err5]"),
        (4, "", "[fail]"),
    ],
)
def test_what_is_typed_or_wrong_is_answered_as_yarp_does(dialect, typed, reply, changed):
    request = parse_bottle(typed)
    found = answers.answer(part_of(changed), request, dialect)
    assert format_bottle(found) == reply.format(time=format_bottle(bottle(changed.time)))


@pytest.mark.parametrize("request_", ["help", "[help]", "[help] [more]"])
def test_help_of_dialect_3_lists_every_request_as_it_is_written(running, request_):
    reply = answers.answer(part_of(running), parse_bottle(request_), 3)
    assert reply[0] == Vocab.of("many")
    told = {" ".join(word for word in item.split() if word[0] == "[") for item in reply.items[1:]}
    expected = {" ".join(f"[{word}]" for word in words.split()) for words in v3.METHODS}
    assert expected <= told
    assert len(told) == len(reply) - 1


def test_help_and_the_version_of_dialect_4_are_answered(running):
    assert answers.answer(part_of(running), parse_bottle("help"), 4) == v4.encode_help()
    version = answers.answer(part_of(running), parse_bottle("getRemoteProtocolVersion"), 4)
    assert decode_protocol_version(version)[0] == 0


def test_the_remote_variables_are_listed(running):
    reply = answers.answer(part_of(running), parse_bottle("[get] [ivar] [lvar]"), 3)
    assert list(reply[2].items) == VARIABLES


def test_a_request_changes_nothing_when_it_is_refused(changed):
    before = changed.axis_table.copy()
    good, broken, negative = ("(" + 3 * "9.0 " + f"{x} 50.0 0.0 0.0 0.0 0.0 0.0)" for x in ("1.0", "nan", "-1.0"))
    for typed in (
        "[set] [pos] 0 nan",
        "[set] [vels] (1.0 2.0 inf)",
        "[set] [torq] [refs] (1.0 nan 2.0)",
        f"[set] [pid] [pids] [pos] ({good} {good} {broken})",
        f"[set] [pid] [pids] [pos] ({good} {negative} {good})",
    ):
        assert answers.answer(part_of(changed), parse_bottle(typed), 3) == v3.FAILED
    assert np.array_equal(changed.axis_table, before)


# -- streams ----------------------------------------------------------------------------------------------------

STREAMS = {
    "position_direct": ("position_direct", "position_reference", SCALE),
    "velocity": ("velocity", "velocity_target", SCALE),
    "torque": ("torque", "torque_reference", PLAIN),
    "position_move": ("position", "position_target", SCALE),
    "pwm": ("pwm", "duty_reference", PLAIN),
    "current": ("current", "current_reference", PLAIN),
    "velocity_direct": ("velocity_direct", "velocity_target", SCALE),
}


def streamed():
    """Return every command that a dialect has, with its message."""
    for dialect in (3, 4):
        for quantity in STREAMS:
            for joints, grouped in ((None, False), ((1,), False), ((2, 0), True)):
                values = (0.03, 0.04, 0.05)[: 3 if joints is None else len(joints)]
                sent = StreamCommand(quantity=quantity, values=values, joints=joints, group=grouped)
                try:
                    data = encode_bottle(sent.encode(dialect), dialect)
                except WireError:
                    continue  # the dialect has no such command
                yield pytest.param(dialect, sent, data, id=f"{dialect}-{quantity}-{joints}")


@pytest.mark.parametrize(("dialect", "sent", "data"), list(streamed()))
def test_a_streamed_command_reaches_its_axes(dialect, sent, data, changed):
    mode, name, scale = STREAMS[sent.quantity]
    message = decode_bottle(data, dialect)
    joints, values = sent.joints, sent.values
    changed.set_control_mode(mode)
    answers.command(part_of(changed), message)
    chosen = [0, 1, 2] if joints is None else list(joints)
    assert changed.read_row(name, chosen) * scale[chosen] == pytest.approx(values)


def test_offset_and_feedforward_of_a_controller_are_streamed(changed):
    for quantity, name in (("pid_offset", "offset"), ("pid_feedforward", "feedforward")):
        sent = StreamCommand(quantity=quantity, values=(0.5,), joints=(1,), slot=V("pos1"))
        answers.command(part_of(changed), sent.encode(4))
        assert changed.controller(name, "position").tolist() == [0.0, 0.5, 0.0]


def test_a_streamed_command_in_another_mode_is_refused_with_its_reason(changed):
    with pytest.raises(DeviceError, match="must be in mode position_direct"):
        answers.command(
            part_of(changed), StreamCommand(quantity="position_direct", values=(1.0,), joints=(0,)).encode(3)
        )


def joint_state(values):
    """Return the state of a sample as a record, field by field."""
    angles = ("position", "velocity", "acceleration", "motor_position", "motor_velocity", "motor_acceleration")
    modes = {"control_mode": answers.CONTROL_MODES, "interaction_mode": answers.INTERACTION_MODES}
    fields = {}
    for name in JointState.names(4):
        field = sampled_field(name)
        if field in modes:
            fields[name] = tuple(modes[field][k] for k in values[field].astype(int))
            continue
        array = values[field] * SCALE if field in angles else values[field]
        fields[name] = tuple((array - 273.15 if field == "temperature" else array).tolist())
    return JointState(**fields)


@pytest.mark.parametrize("dialect", [3, 4])
def test_the_streamed_state_is_that_of_the_sample_to_the_last_byte(dialect, changed):
    changed.set_control_mode(["torque", "velocity", "idle"])
    changed.set_interaction_mode("compliant", 1)
    sample = changed.read(0)
    encoded = StateEncoder(answers.user_scale(changed), dialect).encode(sample.values)
    state = joint_state(sample.values)
    assert encoded == encode_bottle(state.encode(dialect, 3), dialect)
    found = JointState.decode(decode_bottle(encoded, dialect))
    assert found.joint_position == pytest.approx(sample.values["position"] * SCALE)
    assert [m.name for m in found.control_mode] == ["torq", "vel", "idl"]
    assert [m.name for m in found.interaction_mode] == ["stif", "comp", "stif"]
    assert found.torque == pytest.approx(sample.values["torque"])
    if dialect == 4:
        assert found.temperature == pytest.approx([25.0] * 3)


def test_every_control_mode_has_a_vocabulary_of_its_own():
    assert set(answers.CONTROL_MODES) == set(ControlMode)
    assert len(set(answers.CONTROL_MODES.values())) == len(ControlMode)


def test_the_vector_of_positions_is_in_the_units_of_the_wire(changed):
    sample = changed.read(0)
    for dialect in (3, 4):
        vector = decode_bottle(encode_vector(sample.values["position"] * SCALE, dialect), dialect)
        assert list(vector) == pytest.approx(sample.values["position"] * SCALE)


# -- axes of two boards -------------------------------------------------------------------------------------------


def started(made):
    """Return the part of a rig that is reset and under way."""
    made.reset()
    made.board.refer("position", [0.5, 0.1, -0.4])
    made.step(20)
    return made.board


def test_every_call_to_axes_of_two_boards_is_answered_as_by_one_board():
    made = rig(JoinedRig)
    part = made.board
    for name, (arguments, expected) in GET_4.items():
        status, results = call_4(part, name, *arguments)
        assert status == "ok", name
        same(results, tuple(expected(part)))
    for words, (arguments, expected) in GET_3.items():
        same(call_3(part, words, *arguments)[0], tuple(expected(part)))
    for methods, call, done in ((SET_4, call_4, ("ok", ())), (SET_3, call_3, ((), None))):
        for name, (arguments, (mode, check)) in methods.items():
            part = started(made)
            if mode is not None:
                part.set_control_mode(mode)
            assert call(part, name, *arguments) == done, name
            assert check(part), name


@pytest.mark.parametrize(("dialect", "sent", "data"), list(streamed()))
def test_a_streamed_command_reaches_axes_of_two_boards(dialect, sent, data, joined):
    test_a_streamed_command_reaches_its_axes(dialect, sent, data, joined)


@pytest.fixture
def joined():
    """A part of axes of two boards, which a test changes."""
    if not _JOINED:
        _JOINED.append(rig(JoinedRig))
    return started(_JOINED[0])


_JOINED = []


@pytest.mark.parametrize(
    ("typed", "reply"),
    [
        ("[get] [enc] 3", "[fail]"), ("[set] [pos] 0 nan", "[fail]"), ("[set] [poss] (1.0 2.0)", "[fail]"),
        ("[set] [posg] 2 (0 0) (1.0 2.0)", "[fail]"), ("[set] [icmd] [cmds] (pos pos)", "[fail]"),
        ("[get] [ivar] [mvar] yarp_kPWM", "[is] [ivar] ((2.0 4.0 5.0)) [ok]"), ("[get] [name] 2", "wrist"),
    ],
)  # fmt: skip
def test_what_is_wrong_for_a_part_of_two_boards_changes_neither(typed, reply, joined):
    before = joined.read_row("position_target")
    found = format_bottle(answers.answer(part_of(joined), parse_bottle(typed), 3))
    assert reply in found
    assert np.array_equal(joined.read_row("position_target"), before)


def test_a_variable_of_a_part_leaves_the_axes_that_it_does_not_show(joined):
    hinges = joined.split(0)[0][0]
    shoulder = JoinedBoard("shoulder", [(hinges, 1)])
    request = parse_bottle("[set] [ivar] [mvar] VelocityTimeout (0.7)")
    assert format_bottle(answers.answer(part_of(shoulder), request, 3)) == "[ok]"
    assert hinges.remote_variable("VelocityTimeout").tolist() == pytest.approx([0.2, 0.7])

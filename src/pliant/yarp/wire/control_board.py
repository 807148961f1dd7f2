"""The control board's remote calls in dialect 4 (`<part>/nws/rpc:i`): one table of methods, and their replies.

Every reply begins with a return value, a nested list of one vocabulary; a method without results replies that list
itself. One reply is no Bottle: that of `getRemoteProtocolVersion`, the first call of every client.

Enumerations (control mode, interaction mode, joint type, slot of a controller) are vocabularies that travel as int32.

Source: the interface of YARP 4.0.0, and recorded calls. Never recorded and therefore uncertain: the results of
`getPidExtraInfoRPC` and `getPidExtraInfosRPC`, which are given as lists here.
"""

from __future__ import annotations

import struct
from typing import Any

from pliant.base.errors import WireError, nearest
from pliant.yarp.wire.records import Method, decode_fields, encode_fields, parse_method
from pliant.yarp.wire.values import FAIL, Bottle, Value, Vocab, bottle, text

__all__ = [
    "INTERFACES",
    "METHODS",
    "PROTOCOL_VERSION_SIZE",
    "REFUSED",
    "RETURN_VALUES",
    "decode_protocol_version",
    "decode_reply",
    "decode_request",
    "encode_help",
    "encode_protocol_version",
    "encode_reply",
    "encode_request",
]

RETURN_VALUES = {
    "ok": "done",
    "err1": "generic error",
    "err2": "not implemented",
    "err3": "communication error",
    "err4": "deprecated",
    "err5": "method failed",
    "err6": "not ready",
    "err7": "out of bounds",
    "miss": "no value was set",
}
"""Vocabularies of a return value and what they mean."""

INTERFACES = (
    "iAmplifierControl",
    "iAxisInfo",
    "iControlCalibration",
    "iControlLimits",
    "iControlMode",
    "iCurrentControl",
    "iEncodersTimed",
    "iImpedanceControl",
    "iInteractionMode",
    "iJointBrake",
    "iJointFault",
    "iMotor",
    "iMotorEncoders",
    "iPWMControl",
    "iPidControl",
    "iPositionControl",
    "iPositionDirect",
    "iPreciselyTimed",
    "iRemoteCalibrator",
    "iRemoteVariables",
    "iTorqueControl",
    "iVelocityControl",
    "iVelocityDirect",
)
"""Keys of the reply to `getDeviceInterfacesRPC`, in its order."""

REFUSED = bottle(FAIL)
"""Reply to an unknown method or to arguments that do not fit: ``[fail]``."""

_TABLE = """
getDeviceInterfacesRPC() -> interfaces: flags
getAvailableControlModesRPC(j: i16) -> avail: vocab[]
getImpedanceRPC(j: i32) -> stiffness: f64, damping: f64
setImpedanceRPC(j: i32, stiffness: f64, damping: f64)
setImpedanceOffsetRPC(j: i32, offset: f64)
getImpedanceOffsetRPC(j: i32) -> offset: f64
getCurrentImpedanceLimitRPC(j: i32) -> min_stiffness: f64, max_stiffness: f64, min_damping: f64, max_damping: f64
getLastJointFaultRPC(j: i32) -> fault: i32, message: str
getRemoteVariableRPC(key: str) -> val: bottle
setRemoteVariableRPC(key: str, val: bottle)
getRemoteVariablesListRPC() -> listOfKeys: bottle[]
getInteractionModeOneRPC(axis: i32) -> mode: vocab
getInteractionModesGroupRPC(joints: i32[]) -> modes: vocab[]
getInteractionModesAllRPC() -> modes: vocab[]
setInteractionModeOneRPC(axis: i32, mode: vocab)
setInteractionModesGroupRPC(joints: i32[], modes: vocab[])
setInteractionModesAllRPC(modes: vocab[])
getRefCurrentAllRPC() -> refs: f64[]
getRefCurrentOneRPC(j: i32) -> ref: f64
setRefCurrentAllRPC(refs: f64[])
setRefCurrentOneRPC(j: i32, ref: f64)
setRefCurrentGroupRPC(j: i32[], refs: f64[])
getCurrentAllRPC() -> currs: f64[]
getCurrentOneRPC(j: i32) -> curr: f64
getCurrentRangeOneRPC(j: i32) -> min: f64, max: f64
getCurrentRangeAllRPC() -> mins: f64[], maxs: f64[]
setRefDutyCycleOneRPC(j: i32, v: f64)
setRefDutyCycleAllRPC(v: f64[])
setRefDutyCycleGroupRPC(j: i32[], v: f64[])
getRefDutyCycleOneRPC(j: i32) -> val: f64
getRefDutyCycleAllRPC() -> val: f64[]
getDutyCycleOneRPC(j: i32) -> val: f64
getDutyCycleAllRPC() -> val: f64[]
resetEncoderOneRPC(j: i32)
resetEncoderAllRPC()
setEncoderOneRPC(j: i32, val: i32)
setEncoderAllRPC(vals: f64[])
getEncoderOneRPC(j: i32) -> val: f64
getEncoderTimedOneRPC(j: i32) -> val: f64, time: f64
getEncoderAllRPC() -> val: f64[]
getEncoderTimedAllRPC() -> val: f64[], time: f64[]
getEncoderSpeedOneRPC(j: i32) -> val: f64
getEncoderSpeedAllRPC() -> val: f64[]
getEncoderAccelerationOneRPC(j: i32) -> val: f64
getEncoderAccelerationAllRPC() -> val: f64[]
resetMotorEncoderRPC(j: i32)
resetMotorEncodersRPC()
setMotorEncoderRPC(j: i32, val: f64)
setMotorEncoderCountsPerRevolutionRPC(j: i32, val: f64)
getMotorEncoderCountsPerRevolutionRPC(m: i32) -> cpr: f64
setMotorEncodersAllRPC(vals: f64[])
getMotorEncoderOneRPC(j: i32) -> val: f64
getMotorEncoderAllRPC() -> val: f64[]
getMotorEncoderTimedOneRPC(j: i32) -> val: f64, time: f64
getMotorEncodersTimedAllRPC() -> val: f64[], time: f64[]
getMotorEncoderSpeedOneRPC(j: i32) -> val: f64
getMotorEncoderSpeedAllRPC() -> val: f64[]
getMotorEncoderAccelerationOneRPC(j: i32) -> val: f64
getMotorEncoderAccelerationAllRPC() -> val: f64[]
getNumberOfMotorEncodersRPC() -> num: i32
isCalibratorDevicePresentRPC() -> isPresent: bool
calibrateSingleJointRPC(j: i32)
calibrateWholePartRPC()
homingSingleJointRPC(j: i32)
homingWholePartRPC()
parkSingleJointRPC(j: i32, wait: bool)
parkWholePartRPC()
quitCalibrateRPC()
quitParkRPC()
setManualBrakeActiveRPC(j: i32, active: bool)
setAutoBrakeEnabledRPC(j: i32, enabled: bool)
isJointBrakedRPC(j: i32) -> isBraked: bool
getAutoBrakeEnabledRPC(j: i32) -> enabled: bool
getAxesRPC() -> axes: i32
getRefTorqueOneRPC(j: i32) -> val: f64
getRefTorqueAllRPC() -> val: f64[]
getRefTorqueGroupRPC(j: i32[]) -> val: f64[]
setRefTorqueOneRPC(j: i32, val: f64)
setRefTorqueAllRPC(val: f64[])
setRefTorqueGroupRPC(j: i32[], val: f64[])
setRefPositionOneRPC(j: i32, value: f64)
setRefPositionAllRPC(value: f64[])
setRefPositionGroupRPC(j: i32[], value: f64[])
getRefPositionOneRPC(j: i32) -> val: f64
getRefPositionAllRPC() -> val: f64[]
getRefPositionGroupRPC(j: i32[]) -> val: f64[]
setControlModeOneRPC(j: i32, mod: vocab)
setControlModeAllRPC(modes: vocab[])
setControlModeGroupRPC(j: i32[], modes: vocab[])
getAxisNameRPC(j: i32) -> name: str
getJointTypeRPC(j: i32) -> joint: vocab
calibrateRobotRPC()
abortCalibrationRPC()
abortParkRPC()
parkRPC(wait: bool)
calibrateAxisWithParamsRPC(j: i32, ui: i32, v1: f64, v2: f64, v3: f64)
setCalibrationParametersRPC(j: i32, calibration_type: i32, parameters: f64*6)
calibrationDoneRPC(j: i32)
setPosLimitsRPC(j: i16, min: f64, max: f64)
setVelLimitsRPC(j: i16, min: f64, max: f64)
getPosLimitsRPC(j: i16) -> min: f64, max: f64
getVelLimitsRPC(j: i16) -> min: f64, max: f64
getNumberOfMotorsRPC() -> val: i32
getTemperatureOneRPC(m: i32) -> val: f64
getTemperatureAllRPC() -> val: f64[]
getTemperatureLimitRPC(m: i32) -> val: f64
setTemperatureLimitRPC(m: i32, val: f64)
getGearboxRatioRPC(m: i32) -> val: f64
setGearboxRatioRPC(m: i32, val: f64)
enablePidRPC(pidtype: vocab, j: i16)
disablePidRPC(pidtype: vocab, j: i16)
resetPidRPC(pidtype: vocab, j: i16)
setPidRPC(pidtype: vocab, j: i16, pid: pid)
setPidsRPC(pidtype: vocab, pids: pid[])
setPidOffsetOneRPC(pidtype: vocab, j: i16, off: f64)
setPidFeedforwardOneRPC(pidtype: vocab, j: i16, off: f64)
setPidReferenceRPC(pidtype: vocab, j: i16, ref: f64)
setPidReferencesRPC(pidtype: vocab, refs: f64[])
setPidErrorLimitRPC(pidtype: vocab, j: i16, limit: f64)
setPidErrorLimitsRPC(pidtype: vocab, limits: f64[])
getAvailablePidsRPC(j: i16) -> avail: vocab[]
isPidEnabledRPC(pidtype: vocab, j: i16) -> isEnabled: bool
getPidErrorRPC(pidtype: vocab, j: i16) -> err: f64
getPidErrorsRPC(pidtype: vocab) -> errs: f64[]
getPidReferenceRPC(pidtype: vocab, j: i16) -> ref: f64
getPidReferencesRPC(pidtype: vocab) -> refs: f64[]
getPidErrorLimitRPC(pidtype: vocab, j: i16) -> lim: f64
getPidErrorLimitsRPC(pidtype: vocab) -> lims: f64[]
getPidOutputRPC(pidtype: vocab, j: i16) -> out: f64
getPidOutputsRPC(pidtype: vocab) -> outs: f64[]
getPidRPC(pidtype: vocab, j: i16) -> pid: pid
getPidsRPC(pidtype: vocab) -> pids: pid[]
getPidExtraInfoRPC(pidtype: vocab, j: i16) -> info: bottle
getPidExtraInfosRPC(pidtype: vocab) -> info: bottle[]
getPidOffsetRPC(pidtype: vocab, j: i16) -> offset: f64
getPidFeedforwardRPC(pidtype: vocab, j: i16) -> feedforward: f64
positionMoveOneRPC(j: i32, ref: f64)
positionMoveGroupRPC(joints: i32[], refs: f64[])
positionMoveAllRPC(refs: f64[])
relativeMoveOneRPC(j: i32, delta: f64)
relativeMoveGroupRPC(joints: i32[], refs: f64[])
relativeMoveAllRPC(deltas: f64[])
setTrajSpeedOneRPC(j: i32, sp: f64)
setTrajSpeedGroupRPC(joints: i32[], spds: f64[])
setTrajSpeedAllRPC(spds: f64[])
setTrajAccelerationOneRPC(j: i32, acc: f64)
setTrajAccelerationsGroupRPC(joints: i32[], accs: f64[])
setTrajAccelerationsAllRPC(accs: f64[])
stopOneRPC(j: i32)
stopGroupRPC(joints: i32[])
stopAllRPC()
getTargetPositionOneRPC(j: i32) -> val: f64
getTargetPositionGroupRPC(joints: i32[]) -> val: f64[]
getTargetPositionAllRPC() -> val: f64[]
getTrajSpeedOneRPC(j: i32) -> val: f64
getTrajSpeedsGroupRPC(joints: i32[]) -> val: f64[]
getTrajSpeedsAllRPC() -> val: f64[]
getTrajAccelerationOneRPC(j: i32) -> val: f64
getTrajAccelerationGroupRPC(joints: i32[]) -> val: f64[]
getTrajAccelerationAllRPC() -> val: f64[]
checkMotionDoneOneRPC(j: i32) -> flag: bool
checkMotionDoneGroupRPC(joints: i32[]) -> flag: bool
checkMotionDoneAllRPC() -> flag: bool
velocityMoveOneRPC(j: i32, ref: f64)
velocityMoveGroupRPC(joints: i32[], refs: f64[])
velocityMoveAllRPC(refs: f64[])
getTargetVelocityOneRPC(j: i32) -> val: f64
getTargetVelocityGroupRPC(joints: i32[]) -> val: f64[]
getTargetVelocityAllRPC() -> val: f64[]
setRefVelocityOneRPC(j: i32, ref: f64)
setRefVelocityAllRPC(ref: f64[])
setRefVelocityGroupRPC(j: i32[], ref: f64[])
getRefVelocityOneRPC(j: i32) -> vel: f64
getRefVelocityAllRPC() -> vel: f64[]
getRefVelocityGroupRPC(j: i32[]) -> vel: f64[]
getTorqueRangeOneRPC(j: i32) -> min: f64, max: f64
getTorqueRangeAllRPC() -> mins: f64[], maxs: f64[]
setMotorTorqueParamsRPC(j: i32, params: f64*9)
getMotorTorqueParamsRPC(j: i32) -> params: f64*9
enableAmpRPC(j: i32)
disableAmpRPC(j: i32)
getAmpStatusAllRPC() -> val: i32[]
getAmpStatusOneRPC(j: i32) -> val: i32
setMaxCurrentRPC(j: i32, v: f64)
getMaxCurrentRPC(j: i32) -> val: f64
getNominalCurrentRPC(m: i32) -> val: f64
setNominalCurrentRPC(m: i32, val: f64)
getPeakCurrentRPC(m: i32) -> val: f64
setPeakCurrentRPC(m: i32, val: f64)
getPWMRPC(m: i32) -> val: f64
getPWMLimitRPC(m: i32) -> val: f64
setPWMLimitRPC(m: i32, val: f64)
getPowerSupplyVoltageRPC(m: i32) -> val: f64
"""

METHODS: dict[str, Method] = {m.name: m for m in map(parse_method, _TABLE.strip().splitlines())}
"""Every method by its name; the return value is not among the results."""

_VERSION_CALL = Method("getRemoteProtocolVersion")
_VERSION = struct.Struct("<ii4h")
PROTOCOL_VERSION_SIZE = _VERSION.size
"""Length of the reply to `getRemoteProtocolVersion` [bytes]."""


def method(name: str) -> Method:
    """Return a method.

    Raises:
        WireError: there is none of that name; the message says which is nearest.
    """
    found = METHODS.get(name)
    if found is None:
        if name == _VERSION_CALL.name:
            return _VERSION_CALL
        raise WireError(f"method {name[:80]!r} of a control board: {nearest(name[:80], METHODS)}", field="method")
    return found


def encode_request(name: str, *values: Any) -> Bottle:
    """Return the request of a method with its arguments.

    Raises:
        WireError: the method does not exist, or the arguments do not fit.
    """
    return method(name).encode_request(*values)


def decode_request(request: Bottle) -> tuple[str, tuple[Any, ...]]:
    """Return the name of the method and its arguments; `REFUSED` is the answer to what raises.

    Raises:
        WireError: the method does not exist, or the arguments do not fit.
    """
    items = request.items[1:] if request.items[:1] == ("__direct__",) else request.items
    if not items:
        raise WireError("an empty request to a control board", field="method")
    name = text(items[0])
    return name, method(name).decode_request(request)


def encode_reply(name: str, *values: Any, status: str = "ok") -> Bottle:
    """Return the reply of a method: its return value and its results.

    Args:
        name: name of the method.
        values: the results; for a status other than ``ok`` too, since the reply always holds them.
        status: one of `RETURN_VALUES`.

    Raises:
        WireError: the method or the status does not exist, or the results do not fit.
    """
    if status not in RETURN_VALUES:
        raise WireError(f"return value {status!r}: {nearest(status, RETURN_VALUES)}", field="status")
    head = Bottle((Vocab.of(status),), layout="tagged")
    results = method(name).results
    items = encode_fields(results, values)
    return Bottle((head, *items), layout="tagged") if results else head


def decode_reply(name: str, reply: Bottle) -> tuple[str, tuple[Any, ...]]:
    """Return the status of a reply and its results.

    Raises:
        WireError: the server refused the method, or the reply does not fit it.
    """
    results = method(name).results
    if not results:
        return _status(reply), ()
    if reply.items == REFUSED.items:
        raise WireError(f"the control board refused {name}: [fail]", field="method")
    if not reply.items:
        raise WireError(f"an empty reply to {name}", field="status")
    return _status(reply.items[0]), decode_fields(results, reply.items[1:])


def _status(value: Value) -> str:
    first = value.items[0] if isinstance(value, Bottle) and len(value) == 1 else 0
    name = first.name if isinstance(first, Vocab) else ""
    if name == "fail":
        raise WireError("the control board refused the method: [fail]", field="method")
    if name not in RETURN_VALUES:
        raise WireError(f"no return value in a reply; {nearest(name, RETURN_VALUES)}", field="status")
    return name


def encode_help() -> Bottle:
    """Return the reply to ``help``: the names of all methods."""
    return bottle(Vocab.of("many"), ("*** Available commands:", _VERSION_CALL.name, *METHODS, "help"))


def encode_protocol_version(protocol: int = 0, major: int = 0, minor: int = 0, patch: int = 0) -> bytes:
    """Return the reply to `getRemoteProtocolVersion`: four int16 without tags behind the header of a list of one.

    Clients compare the first number only, and it must be 0.
    """
    return _VERSION.pack(256, 1, protocol, major, minor, patch)


def decode_protocol_version(data: bytes) -> tuple[int, int, int, int]:
    """Return protocol, major, minor and patch number of such a reply.

    Raises:
        WireError: the reply has another length or header.
    """
    if len(data) != _VERSION.size:
        raise WireError(f"a protocol version of {len(data)} bytes; must be {_VERSION.size}")
    tag, count, *numbers = _VERSION.unpack(data)
    if (tag, count) != (256, 1):
        raise WireError(f"a protocol version behind tag {tag} and count {count}; must be 256 and 1")
    return tuple(numbers)

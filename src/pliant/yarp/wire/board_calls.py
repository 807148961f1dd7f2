"""The remote calls of a control board, one row each: quantity, words of dialect 3, method of dialect 4.

A row reads or sets a quantity of axes, or lets them do something. The layouts of its requests and replies in both
dialects follow from the verb, the type of the quantity (`QUANTITIES`), and the axes that the call is for:

| axes | dialect 4 | dialect 3 | values |
|---|---|---|---|
| one | ``(j)`` | first word | one per field |
| all | ``()`` | second word | one list per field |
| group | ``(joints)`` | third word; a count goes before the joints | one list per field |
| none, but a name | ``(key)`` | (``[ivar]`` is not in the table) | |

Rows whose quantity begins with ``loop.`` take the slot of a controller in front. What stands behind the axes in
brackets is on the wire, and has no effect. A word of dialect 3 stands behind ``[get]`` or ``[set]``, and behind its
interface (``torq.ref``); one with ``=`` stands alone.

Source: the interface of YARP 4.0.0, and recorded calls of 3.12.3 and 4.0.0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pliant.base.errors import WireError
from pliant.yarp.wire.binary import Dialect
from pliant.yarp.wire.records import Argument, Method, encode_fields
from pliant.yarp.wire.values import Bottle, Value, Vocab

CALL_PORTS: tuple[tuple[str, Dialect, str], ...] = (("rpc:i", 3, "/rpc:o"), ("nws/rpc:i", 4, "/nwc/rpc:o"))
"""Port for calls, its dialect, and how the names of the ports end by which clients connect to it."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """Type and unit of a quantity on the wire."""

    unit: str
    """``angle``, ``per_angle``, ``celsius``, ``loop_error``, ``control_mode``, ``interaction_mode``, or empty."""
    fields: dict[Dialect, tuple[str, ...]]
    """Types of its fields in each dialect."""
    whole: bool = False
    """Whether there is one value for all axes that are asked for, and not one for each."""

    @property
    def bundled(self) -> bool:
        """Whether dialect 3 has one list in place of the fields."""
        return self.fields[3] == ("f64[]",) and self.fields[4] != ("f64*9",)


_TYPES = """
f64                        : torque torque_reference current current_reference duty_cycle duty_reference
                             supply_voltage max_current nominal_current peak_current max_duty gear_ratio pwm
                             counts_per_revolution loop.output loop.offset loop.feedforward
f64 angle                  : position velocity acceleration motor_position motor_velocity motor_acceleration encoder
                             position_reference position_target position_direct velocity_reference velocity_target
                             velocity_direct relative speed acceleration_limit motor_encoder
f64 celsius                : temperature temperature_limit
f64 loop_error             : loop.error loop.error_limit loop.reference
f64,f64 angle              : limits speed_limits
f64,f64                    : torque_range current_range timed_position timed_motor_position
f64[]/f64,f64 per_angle    : impedance
f64[]/f64,f64,f64,f64 per_angle : impedance_limits
f64[]/f64                  : torque_offset
f64[]/f64*9                : motor_parameters
i32 angle                  : encoder_count
mode/vocab control_mode    : control_mode
mode/vocab interaction_mode: interaction_mode
vocab                      : joint_type
str                        : axis_name
i32                        : amplifier_status
i32,str                    : last_fault
i32/bool                   : braked automatic_brake manual_brake loop.enabled
i32/bool whole             : motion_done calibrator
i32 whole                  : axes motors
flags whole                : interfaces
vocab[]                    : available_modes available_loops
pid                        : loop.pid
bottle                     : loop.info variable
bottle[] whole             : variables
"""

_TABLE = """
get interfaces | | getDeviceInterfacesRPC()
get available_modes | | getAvailableControlModesRPC(j:i16)
get impedance | iimp.ipr | getImpedanceRPC(j)
set impedance | iimp.ipr | setImpedanceRPC(j)
set torque_offset | iimp.iof | setImpedanceOffsetRPC(j)
get torque_offset | iimp.iof | getImpedanceOffsetRPC(j)
get impedance_limits | iimp.llim | getCurrentImpedanceLimitRPC(j)
get last_fault | ijfl.jhfl | getLastJointFaultRPC(j)
get variable | | getRemoteVariableRPC(key)
set variable | | setRemoteVariableRPC(key)
get variables | | getRemoteVariablesListRPC()
get interaction_mode | intm.mode intm.mods intm.modg |
    getInteractionModeOneRPC(j) getInteractionModesGroupRPC(joints) getInteractionModesAllRPC()
set interaction_mode | intm.mode intm.mods intm.modg |
    setInteractionModeOneRPC(j) setInteractionModesGroupRPC(joints) setInteractionModesAllRPC()
get current_reference | icur.ref icur.refs | getRefCurrentAllRPC() getRefCurrentOneRPC(j)
set current | | setRefCurrentAllRPC() setRefCurrentOneRPC(j) setRefCurrentGroupRPC(joints)
get current | acu acus | getCurrentAllRPC() getCurrentOneRPC(j)
get current_range | icur.rng icur.rngs | getCurrentRangeOneRPC(j) getCurrentRangeAllRPC()
set pwm | | setRefDutyCycleOneRPC(j) setRefDutyCycleAllRPC() setRefDutyCycleGroupRPC(joints)
get duty_reference | ipwm.ref ipwm.refs | getRefDutyCycleOneRPC(j) getRefDutyCycleAllRPC()
get duty_cycle | ipwm.pwm ipwm.pwms | getDutyCycleOneRPC(j) getDutyCycleAllRPC()
do reset_encoder | ere eres | resetEncoderOneRPC(j) resetEncoderAllRPC()
set encoder_count | | setEncoderOneRPC(j)
set encoder | enc encs | setEncoderAllRPC()
get position | enc | getEncoderOneRPC(j)
get timed_position | | getEncoderTimedOneRPC(j)
get position | - encs | getEncoderAllRPC()
get timed_position | | getEncoderTimedAllRPC()
get velocity | esp esps | getEncoderSpeedOneRPC(j) getEncoderSpeedAllRPC()
get acceleration | eac eacs | getEncoderAccelerationOneRPC(j) getEncoderAccelerationAllRPC()
do reset_motor_encoder | mre mres | resetMotorEncoderRPC(j) resetMotorEncodersRPC()
set motor_encoder | mnc | setMotorEncoderRPC(j)
set counts_per_revolution | mcpr | setMotorEncoderCountsPerRevolutionRPC(j)
get counts_per_revolution | mcpr | getMotorEncoderCountsPerRevolutionRPC(j)
set motor_encoder | - mncs | setMotorEncodersAllRPC()
get motor_position | mnc mncs | getMotorEncoderOneRPC(j) getMotorEncoderAllRPC()
get timed_motor_position | | getMotorEncoderTimedOneRPC(j) getMotorEncodersTimedAllRPC()
get motor_velocity | msp msps | getMotorEncoderSpeedOneRPC(j) getMotorEncoderSpeedAllRPC()
get motor_acceleration | mac macs | getMotorEncoderAccelerationOneRPC(j) getMotorEncoderAccelerationAllRPC()
get motors | - mnum | getNumberOfMotorEncodersRPC()
get calibrator | - reca.isca | isCalibratorDevicePresentRPC()
do calibrate | reca.cal reca.cals | calibrateSingleJointRPC(j) calibrateWholePartRPC()
do home | reca.hom reca.homs | homingSingleJointRPC(j) homingWholePartRPC()
do home | reca.par reca.pars | parkSingleJointRPC(j,wait:bool) parkWholePartRPC()
do calibrate | - reca.quca | quitCalibrateRPC()
do stop | - reca.qupa | quitParkRPC()
set manual_brake | | setManualBrakeActiveRPC(j)
set automatic_brake | | setAutoBrakeEnabledRPC(j)
get braked | | isJointBrakedRPC(j)
get automatic_brake | | getAutoBrakeEnabledRPC(j)
get axes | - axes | getAxesRPC()
get torque | torq.trq torq.trqs |
get torque_reference | torq.ref torq.refs | getRefTorqueOneRPC(j) getRefTorqueAllRPC() getRefTorqueGroupRPC(joints)
set torque | torq.ref torq.refs | setRefTorqueOneRPC(j) setRefTorqueAllRPC() setRefTorqueGroupRPC(joints)
set position_direct | | setRefPositionOneRPC(j) setRefPositionAllRPC() setRefPositionGroupRPC(joints)
get position_reference | dpo dpos dpog | getRefPositionOneRPC(j) getRefPositionAllRPC() getRefPositionGroupRPC(joints)
get control_mode | icmd.cmod icmd.cmds icmd.cmog |
set control_mode | icmd.cmod icmd.cmds icmd.cmog |
    setControlModeOneRPC(j) setControlModeAllRPC() setControlModeGroupRPC(joints)
get axis_name | name | getAxisNameRPC(j)
get joint_type | type | getJointTypeRPC(j)
do calibrate | - =cal | calibrateRobotRPC() abortCalibrationRPC()
do stop | | abortParkRPC()
do home | - =park(wait:i32) | parkRPC(,wait:bool)
do calibrate | =calj(type:i32,v1:f64,v2:f64,v3:f64) | calibrateAxisWithParamsRPC(j,ui:i32,v1:f64,v2:f64,v3:f64)
do calibrate | =cljp(type:i32,p1:f64,p2:f64,p3:f64,p4:f64) |
    setCalibrationParametersRPC(j,calibration_type:i32,parameters:f64*6)
do calibrate | =cald | calibrationDoneRPC(j)
set limits | llim | setPosLimitsRPC(j:i16)
set speed_limits | vlim | setVelLimitsRPC(j:i16)
get limits | llim | getPosLimitsRPC(j:i16)
get speed_limits | vlim | getVelLimitsRPC(j:i16)
get motors | - mtnm | getNumberOfMotorsRPC()
get temperature | tmp tmps | getTemperatureOneRPC(j) getTemperatureAllRPC()
get temperature_limit | tmpl | getTemperatureLimitRPC(j)
set temperature_limit | tmpl | setTemperatureLimitRPC(j)
get gear_ratio | gbxr | getGearboxRatioRPC(j)
set gear_ratio | gbxr | setGearboxRatioRPC(j)
do loop.enable | pid.ena | enablePidRPC(j)
do loop.disable | pid.dis | disablePidRPC(j)
do loop.reset | pid.res | resetPidRPC(j)
set loop.pid | pid.pid pid.pids | setPidRPC(j) setPidsRPC()
set loop.offset | pid.off | setPidOffsetOneRPC(j)
set loop.feedforward | | setPidFeedforwardOneRPC(j)
set loop.reference | pid.ref pid.refs | setPidReferenceRPC(j) setPidReferencesRPC()
set loop.error_limit | pid.lim pid.lims | setPidErrorLimitRPC(j) setPidErrorLimitsRPC()
get available_loops | | getAvailablePidsRPC(j:i16)
get loop.enabled | pid.ena | isPidEnabledRPC(j)
get loop.error | pid.err pid.errs | getPidErrorRPC(j) getPidErrorsRPC()
get loop.reference | pid.ref pid.refs | getPidReferenceRPC(j) getPidReferencesRPC()
get loop.error_limit | pid.lim pid.lims | getPidErrorLimitRPC(j) getPidErrorLimitsRPC()
get loop.output | pid.out pid.outs | getPidOutputRPC(j) getPidOutputsRPC()
get loop.pid | pid.pid pid.pids | getPidRPC(j) getPidsRPC()
get loop.info | | getPidExtraInfoRPC(j) getPidExtraInfosRPC()
get loop.offset | | getPidOffsetRPC(j)
get loop.feedforward | | getPidFeedforwardRPC(j)
set position | pos poss posg | positionMoveOneRPC(j) positionMoveGroupRPC(joints) positionMoveAllRPC()
set relative | rel rels relg | relativeMoveOneRPC(j) relativeMoveGroupRPC(joints) relativeMoveAllRPC()
set speed | vel vels velg | setTrajSpeedOneRPC(j) setTrajSpeedGroupRPC(joints) setTrajSpeedAllRPC()
set acceleration_limit | acc accs accg |
    setTrajAccelerationOneRPC(j) setTrajAccelerationsGroupRPC(joints) setTrajAccelerationsAllRPC()
do stop | sto stos stog | stopOneRPC(j) stopGroupRPC(joints) stopAllRPC()
get position_target | pos poss posg |
    getTargetPositionOneRPC(j) getTargetPositionGroupRPC(joints) getTargetPositionAllRPC()
get speed | vel vels velg | getTrajSpeedOneRPC(j) getTrajSpeedsGroupRPC(joints) getTrajSpeedsAllRPC()
get acceleration_limit | acc accs accg |
    getTrajAccelerationOneRPC(j) getTrajAccelerationGroupRPC(joints) getTrajAccelerationAllRPC()
get motion_done | don dons dong | checkMotionDoneOneRPC(j) checkMotionDoneGroupRPC(joints) checkMotionDoneAllRPC()
set velocity | - vmos | velocityMoveOneRPC(j) velocityMoveGroupRPC(joints) velocityMoveAllRPC()
get velocity_target | vmo vmos vmog |
    getTargetVelocityOneRPC(j) getTargetVelocityGroupRPC(joints) getTargetVelocityAllRPC()
set velocity_direct | | setRefVelocityOneRPC(j) setRefVelocityAllRPC() setRefVelocityGroupRPC(joints)
get velocity_reference | | getRefVelocityOneRPC(j) getRefVelocityAllRPC() getRefVelocityGroupRPC(joints)
get torque_range | torq.rng torq.rngs | getTorqueRangeOneRPC(j) getTorqueRangeAllRPC()
set motor_parameters | torq.mtps | setMotorTorqueParamsRPC(j)
get motor_parameters | torq.mtps | getMotorTorqueParamsRPC(j)
do enable_amplifier | aen | enableAmpRPC(j)
do disable_amplifier | adi | disableAmpRPC(j)
get amplifier_status | asts asta | getAmpStatusAllRPC() getAmpStatusOneRPC(j)
set max_current | maxc | setMaxCurrentRPC(j)
get max_current | maxc | getMaxCurrentRPC(j)
get nominal_current | acno | getNominalCurrentRPC(j)
set nominal_current | acno | setNominalCurrentRPC(j)
get peak_current | acpk | getPeakCurrentRPC(j)
set peak_current | acpk | setPeakCurrentRPC(j)
get duty_cycle | pwm | getPWMRPC(j)
get max_duty | pwml | getPWMLimitRPC(j)
set max_duty | pwml | setPWMLimitRPC(j)
get supply_voltage | avsu | getPowerSupplyVoltageRPC(j)
"""


def _quantities(text: str) -> dict[str, Quantity]:
    """Return the types of quantities by name: a type for both dialects or one each, a unit, and the names."""
    found: dict[str, Quantity] = {}
    for line in re.sub(r"\n +", " ", text.strip()).splitlines():
        types, names = line.split(":")
        layout, *flags = types.split()
        old, _, new = layout.partition("/")
        fields: dict[Dialect, tuple[str, ...]] = {3: tuple(old.split(",")), 4: tuple((new or old).split(","))}
        unit = next((flag for flag in flags if flag != "whole"), "")
        found |= dict.fromkeys(names.split(), Quantity(unit, fields, "whole" in flags))
    return found


QUANTITIES = _quantities(_TYPES)
"""Type and unit of each quantity that a call reads or sets."""


@dataclass(frozen=True, slots=True)
class Call:
    """One remote call of one dialect."""

    verb: str
    """``get``, ``set`` or ``do``."""
    quantity: str
    """Quantity that it reads or sets, or motion that it starts."""
    axes: str
    """Which axes it is for: ``one``, ``all``, ``group``, or ``key`` for a remote variable."""
    method: Method
    """Layout of its request and of its reply."""

    @property
    def slotted(self) -> bool:
        """Whether the slot of a controller goes before its other arguments."""
        return self.quantity.startswith("loop.")


_AXES = {"j": "one", "": "all", "joints": "group", "key": "key"}


def _call(dialect: Dialect, verb: str, quantity: str, name: str, axes: str, index: str, extra: str) -> Call:
    """Return a call with the layout that follows from its quantity and axes."""
    kind = QUANTITIES.get(quantity)
    types = kind.fields[dialect] if kind and verb != "do" else ()
    if axes in ("all", "group") and not (kind and kind.whole):
        types = tuple([f"{type_}[]" for type_ in types])
    slot = [Argument("type", "vocab" if dialect == 4 else "mode")] if quantity.startswith("loop.") else []
    count = [Argument("n", "i32")] if dialect == 3 else []
    chosen = {
        "one": [Argument("j", index)],
        "all": [],
        "group": [*count, Argument("joints", "i32[]")],
        "key": [Argument("key", "str")],
    }[axes]
    values = tuple([Argument(f"value{k}" if k else "value", type_) for k, type_ in enumerate(types)])
    unused = [Argument(*item.split(":")) for item in extra.split(",") if item]
    arguments = (*slot, *chosen, *(values if verb == "set" else ()), *unused)
    return Call(verb, quantity, axes, Method(name, arguments, values if verb == "get" else ()))


def _calls() -> dict[Dialect, dict[str, Call]]:
    """Return the calls of each dialect by name: the method, or the words of the request."""
    found: dict[Dialect, dict[str, Call]] = {3: {}, 4: {}}

    def add(dialect: Dialect, call: Call) -> None:
        if call.method.name in found[dialect]:
            raise ValueError(f"the call {call.method.name!r} stands twice in the table")
        found[dialect][call.method.name] = call

    for line in re.sub(r"\n +", " ", _TABLE.strip()).splitlines():
        row, words, methods = [cell.strip() for cell in line.split("|")]
        verb, quantity = row.split()
        for word, axes in zip(words.split(), ("one", "all", "group")):
            name, _, extra = word.rstrip(")").partition("(")
            spelled = name[1:] if name[0] == "=" else f"{'get' if verb == 'get' else 'set'} {name.replace('.', ' ')}"
            if name != "-":
                add(3, _call(3, verb, quantity, spelled, axes, "i32", extra))
        for method in methods.split():
            name, _, arguments = method.rstrip(")").partition("(")
            first, _, extra = arguments.partition(",")
            argument, _, type_ = first.partition(":")
            index = "i16" if type_ or quantity.startswith("loop.") else "i32"
            add(4, _call(4, verb, quantity, name, _AXES[argument], index, extra))
    return found


CALLS = _calls()
"""The calls of each dialect by name: words of the request (dialect 3), or method (dialect 4)."""


def encode_request(dialect: Dialect, verb: str, quantity: str, axes: str, *values: object) -> Bottle:
    """Return the request by which a client reads or sets a quantity; of two calls for it, the first of the table.

    Args:
        dialect: 3 or 4.
        verb: ``get`` or ``set``; the calls of motions (``do``) differ in more than these arguments.
        quantity: as in `Call`.
        axes: as in `Call`.
        values: its arguments.

    Raises:
        WireError: the dialect has no such call, or the arguments do not fit.
    """
    wanted = (verb, quantity, axes)
    method = next((c.method for c in CALLS[dialect].values() if (c.verb, c.quantity, c.axes) == wanted), None)
    if method is None:
        raise WireError(f"dialect {dialect} has no call to {verb} {quantity} of {axes}", field="quantity")
    words: list[Value] = [method.name] if dialect == 4 else [Vocab.of(word) for word in method.name.split()]
    items = (*words, *encode_fields(method.arguments, values, dialect))
    return Bottle(items, layout="tagged" if dialect == 4 else "")

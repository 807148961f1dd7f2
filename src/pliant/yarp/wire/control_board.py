"""The control board's remote calls in dialect 4 (`<part>/nws/rpc:i`): their requests and replies.

Every reply begins with a return value, a nested list of one vocabulary; a method without results replies that list
itself. One reply is no Bottle: that of `getRemoteProtocolVersion`, the first call of every client.

Enumerations (control mode, interaction mode, joint type, slot of a controller) are vocabularies that travel as int32.

Source: the interface of YARP 4.0.0, and recorded calls.
"""

from __future__ import annotations

from pliant.base.errors import WireError, nearest
from pliant.yarp.wire.board_calls import CALLS
from pliant.yarp.wire.records import PROTOCOL_CALL, Fields, Method, call_of, encode_fields, return_value
from pliant.yarp.wire.values import FAIL, Bottle, Vocab, bottle

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
    "iPwmControl",
)
"""Keys of the reply to `getDeviceInterfacesRPC`, in its order. The client of YARP 4.0.0 looks for the last one where
YARP's servers say iPWMControl."""

REFUSED = bottle(FAIL)
"""Reply to an unknown method or to arguments that do not fit: ``[fail]``."""

METHODS: dict[str, Method] = {name: call.method for name, call in CALLS[4].items()}
"""Every method by its name; the return value is not among the results."""

_VERSION_CALL = Method(PROTOCOL_CALL)


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


def decode_request(request: Bottle) -> tuple[str, Fields]:
    """Return the name of the method and its arguments; `REFUSED` is the answer to what raises.

    Raises:
        WireError: the method does not exist, or the arguments do not fit.
    """
    name, _ = call_of(request)
    if not name:
        raise WireError("an empty request to a control board", field="method")
    return name, method(name).decode_request(request)


def encode_reply(name: str, *values: object, status: str = "ok") -> Bottle:
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
    head = return_value(status)
    results = method(name).results
    items = encode_fields(results, values)
    return Bottle((head, *items), layout="tagged") if results else head


def encode_help() -> Bottle:
    """Return the reply to ``help``: the names of all methods."""
    return bottle(Vocab.of("many"), ("*** Available commands:", _VERSION_CALL.name, *METHODS, "help"))

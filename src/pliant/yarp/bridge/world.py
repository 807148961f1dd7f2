"""The ports by which programs make objects in the world and tie links together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pliant.base.errors import WireError
from pliant.devices.base import Device, SampleSource
from pliant.yarp.bridge.messages import Answer, Arrival
from pliant.yarp.bridge.requests import RequestQueue, help_reply
from pliant.yarp.bridge.served import Served
from pliant.yarp.model.services import LinkAttacher, WorldInterface
from pliant.yarp.wire import Bottle, Dialect, Value
from pliant.yarp.wire.binary import encode_value
from pliant.yarp.wire.records import Method, call_of, encode_fields, parse_method, return_value

OBJECT = "pose: f64*6, color: i16*3, frame_name: str, object_name: str, gravity_enable: bool, collision_enable: bool"
DEFAULTS: Mapping[str, str | bool] = {
    "frame_name": "",
    "object_name": "",
    "gravity_enable": False,
    "collision_enable": True,
}
"""Arguments that a caller may leave out; those of the interface file of gazebo-yarp-plugins."""
COLORS = 255.0
"""Colours on the wire are whole numbers up to this one."""
Arguments = Callable[..., dict[str, object]]


@dataclass(frozen=True, slots=True)
class Call:
    """One remote call, and the request of the device that it means."""

    method: Method
    """Its arguments and its result, which is a name, a truth, a pose or a list of names."""
    request: str
    """Request of the device with the signature "world"."""
    arguments: Arguments
    """Returns the arguments of the request."""


def _object(*sizes: str) -> Arguments:
    def arguments(*values: Any) -> dict[str, object]:
        pose, color, frame, name, gravity, collision = values[len(sizes) :]
        return {
            **dict(zip(sizes, values)),
            "position": pose[:3],
            "angles": pose[3:],
            "color": [channel / COLORS for channel in color],
            "frame": frame,
            "name": name,
            "gravity": gravity,
            "collision": collision,
        }

    return arguments


def _named(*names: str) -> Arguments:
    return lambda *values: dict(zip(names, values))


def _call(line: str, request: str, arguments: Arguments) -> Call:
    return Call(parse_method(line), request, arguments)


_WORLD = (
    _call(f"makeSphere(radius: f64, {OBJECT}) -> name: str", "make_sphere", _object("radius")),
    _call(
        f"makeBox(width: f64, height: f64, thickness: f64, {OBJECT}) -> name: str",
        "make_box",
        _object("width", "height", "thickness"),
    ),
    _call(
        f"makeCylinder(radius: f64, length: f64, {OBJECT}) -> name: str", "make_cylinder", _object("radius", "length")
    ),
    _call(f"makeFrame(size: f64, {OBJECT}) -> name: str", "make_frame", _object("size")),
    _call(
        "changeColor(id: str, color: i16*3) -> done: bool",
        "change_color",
        lambda name, color: {"name": name, "color": [channel / COLORS for channel in color]},
    ),
    _call(
        "setPose(id: str, pose: f64*6, frame_name: str) -> done: bool",
        "set_pose",
        lambda name, pose, frame: {"name": name, "position": pose[:3], "angles": pose[3:], "frame": frame},
    ),
    _call("enableGravity(id: str, enable: bool) -> done: bool", "enable_gravity", _named("name", "on")),
    _call("enableCollision(id: str, enable: bool) -> done: bool", "enable_collision", _named("name", "on")),
    _call("getPose(id: str, frame_name: str) -> pose: f64*6", "pose", _named("name", "frame")),
    _call("loadModelFromFile(filename: str) -> done: bool", "load_model", _named("file")),
    _call(
        "loadModelFromFileWithPose(filename: str, pose: f64*6, object_name: str) -> name: str",
        "load_model",
        lambda file, pose, name: {"file": file},
    ),
    _call("deleteObject(id: str) -> done: bool", "delete", _named("name")),
    _call("deleteAll() -> done: bool", "delete_all", _named()),
    _call("getList() -> names: str[]", "names", _named()),
    _call("attach(id: str, link_name: str) -> done: bool", "attach_object", _named("name", "link")),
    _call("detach(id: str) -> done: bool", "detach_object", _named("name")),
    _call("rename(old_name: str, new_name: str) -> done: bool", "rename", _named("name", "new_name")),
)
WORLD_CALLS: Mapping[str, Call] = {call.method.name: call for call in _WORLD}
"""The calls of the world interface."""


def _simulated() -> dict[str, Call]:
    """Return the calls of `WORLD_CALLS` as ``simulatedWorld_nws_yarp`` has them: the name of an object comes first."""
    found: dict[str, Call] = {}
    for call in _WORLD:
        if call.request == "load_model":
            continue
        given, arguments = call.method.arguments, call.arguments
        named = next((i for i, a in enumerate(given) if a.name == "object_name"), None)
        if named is not None:
            given = (given[named], *given[:named], *given[named + 1 :])
            arguments = _renamed_first(arguments, named)
        found[call.method.name] = Call(Method(call.method.name, given, call.method.results), call.request, arguments)
    model = "makeModel(object_name: str, filename: str, pose: f64*6, frame_name: str, gravity_enable: bool, "
    actor = "makeActor(object_name: str, skinfile: str, animfile: str, pose: f64*6) -> done: bool"
    for line in (f"{model}collision_enable: bool) -> done: bool", actor):
        load = _call(line, "load_model", lambda name, file, *rest: {"file": file})
        found[load.method.name] = load
    return found


def _renamed_first(arguments: Arguments, at: int) -> Arguments:
    """Return a function of the arguments with the one of this number in front of the others."""
    return lambda name, *rest: arguments(*rest[:at], name, *rest[at:])


SIMULATED_CALLS: Mapping[str, Call] = _simulated()
"""The calls of YARP's ``simulatedWorld_nws_yarp``, the server of gz-sim-yarp-plugins.

Source: ``ISimulatedWorldMsgs.thrift`` of YARP 3.12.3 and 4.0.0, the tags that have it.
"""
DONE_CODES: Mapping[Dialect, tuple[Value, Value]] = {3: (0, 5), 4: (return_value("ok"), return_value("err5"))}
"""ReturnValue of a call that was carried out, and of one that failed, in YARP 3.12 and in YARP 4."""


def encode_outcome(done: bool, result: object, dialect: Dialect) -> Bottle | bytes:
    """Return the reply of ``simulatedWorld_nws_yarp``: a ReturnValue, and a pose or a list of names behind it.

    Args:
        done: whether the call was carried out.
        result: six numbers or a list of names; anything else for a reply without result.
        dialect: of the caller; the ReturnValue of YARP 3.12 is a number, that of YARP 4 a list of a vocabulary.
    """
    outcome = DONE_CODES[dialect][0 if done else 1]
    if isinstance(result, list | tuple):
        numbers = bool(result) and not isinstance(result[0], str)
        value = Bottle(tuple(result), layout="tagged" if numbers else "" if result else "string")
        return Bottle((outcome, value), layout="tagged")
    return outcome if isinstance(outcome, Bottle) else encode_value(outcome, dialect)


_ATTACHER = (
    _call("enableGravity(model_name: str, enable: bool) -> done: bool", "enable_gravity", _named("name", "on")),
    _call(
        "attachUnscoped(model_name: str, model_link_name: str, robot_name: str, robot_link_name: str) -> done: bool",
        "attach_model",
        lambda model, model_link, robot, link: {"model": model, "model_link": model_link, "link": link},
    ),
    _call(
        "detachUnscoped(model_name: str, model_link_name: str) -> done: bool",
        "detach_model",
        _named("model", "model_link"),
    ),
)
ATTACHER_CALLS: Mapping[str, Call] = {call.method.name: call for call in _ATTACHER}
"""The calls of the link attacher."""


def read_call(calls: Mapping[str, Call], request: Bottle) -> tuple[Call, dict[str, object]]:
    """Return which call a request is, and the arguments of the device's request.

    Poses and colours may be lists of their own, as a person types them.

    Raises:
        WireError: no such call, or its arguments do not fit.
    """
    name, items = call_of(request)
    call = calls.get(name)
    if call is None:
        raise WireError(f"there is no call {name[:80]!r}; help lists them", field="method")
    flat: list[Value] = [name]
    for item in items[1:]:
        flat += item.items if isinstance(item, Bottle) else (item,)
    sizes = [int(a.type.partition("*")[2] or 1) for a in call.method.arguments]
    for i, argument in enumerate(call.method.arguments):
        if len(flat) - 1 == sum(sizes[:i]) and argument.name in DEFAULTS:
            flat += encode_fields((argument,), (DEFAULTS[argument.name],))
    values = call.method.decode_request(Bottle(tuple(flat)))
    return call, call.arguments(*values)


def serve_world(served: Served, name: str, device: SampleSource) -> None:
    """Serve objects at the ports of the world interface and the link attacher.

    | port | calls |
    |---|---|
    | of each ``WorldInterface``, else ``/robot/world/rpc:i`` | `WORLD_CALLS`, or `SIMULATED_CALLS` with a server |
    | of each ``LinkAttacher`` | `ATTACHER_CALLS` |
    """
    if not isinstance(device, Device):  # of a recording
        return
    described = served.interface.devices
    worlds = [d for d in described if isinstance(d, WorldInterface) and d.port]
    ports = [(d.port, SIMULATED_CALLS if d.by_server else WORLD_CALLS) for d in worlds]
    ports += [(d.port, ATTACHER_CALLS) for d in described if isinstance(d, LinkAttacher)]
    requests = RequestQueue(device)
    for port, calls in ports or [(served.full_name(name, "rpc:i"), WORLD_CALLS)]:
        served.input(
            port,
            "Bottle",
            is_rpc=True,
            on_data=lambda arrival, port=port, calls=calls: _answer(served, port, requests, calls, arrival),
        )


def _answer(served: Served, port: str, requests: RequestQueue, calls: Mapping[str, Call], arrival: Arrival) -> Answer:
    request = arrival.bottle()
    if call_of(request)[0] == "help":
        return help_reply(calls)
    call, arguments = read_call(calls, request)
    told = served.receivers.told_dialect(arrival.sender) if arrival.text is None else None

    def reply(result: object) -> Bottle | bytes:
        if calls is SIMULATED_CALLS:  # a caller that does not say gets the form that a person can read
            return encode_outcome(True, result, told or 4)
        return call.method.encode_reply(True if call.method.results[0].type == "bool" else result)

    def refused(why: str) -> Bottle | bytes:
        failure = call.method.results[0].empty  # the interface has no text for a reason
        served.network.on_complaint(f"{port}: {call.method.name}: {why}")
        if calls is SIMULATED_CALLS:
            return encode_outcome(False, failure, told or 4)
        return call.method.encode_reply(failure)

    return requests.ask(call.request, arguments, reply, refused)

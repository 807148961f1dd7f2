"""Parameters of a node of ROS 2: mode and gains of each joint, as ``ros2 param`` lists, reads and sets them.

The six services of rcl_interfaces and the topic ``/parameter_events``. Names have the form ``<joint>.kp_1``. What is
set goes to the loop as a request, and the answer waits for it; what is refused is refused with its reason.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

from pliant.base.errors import DeviceError, PliantError, nearest
from pliant.ros.bridge.names import node_name, topic_name
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.wire.message import Message, MessageView
from pliant.simulation.live_parameters import LiveParameter, live_parameters

BOOL, INTEGER, DOUBLE = 1, 2, 3
"""Numbers of the types (rcl_interfaces/ParameterType); 0 is no value."""
TYPE_NAMES = (
    "not set", "bool", "integer", "double", "string", "byte array", "bool array", "integer array", "double array",
    "string array",
)  # fmt: skip
KINDS = {bool: BOOL, int: INTEGER, float: DOUBLE}
_FIELDS = {BOOL: "bool_value", INTEGER: "integer_value", DOUBLE: "double_value"}
MAX_LIST = 1000
"""Most names that one request may have."""


class NodeParameters:
    """The parameters and their services.

    Args:
        topics: the topics of the bridge; its devices that are joints have parameters.
        node: full name of the node.
    """

    def __init__(self, topics: RosTopics, node: str) -> None:
        self._served = topics
        self._node = node
        self._lock = threading.Lock()
        clock = LiveParameter(
            name="use_sim_time",
            kind=bool,
            read=lambda: topics.options.clock,
            write=None,
            text="stamps are the simulation's time; the bridge's option 'clock' decides who publishes it",
        )
        joints = live_parameters(topics.devices, lambda joint: topic_name(joint)[1:])
        self._parameters: dict[str, LiveParameter] = {clock.name: clock, **joints}
        topics.rewinds.append(self._rewind)
        self._known: dict[str, object] = {}
        self._events = topics.advertise("/parameter_events", "rcl_interfaces/ParameterEvent")
        for name, kind, answer in (
            ("list_parameters", "ListParameters", self._list),
            ("get_parameters", "GetParameters", self._get),
            ("get_parameter_types", "GetParameterTypes", self._types),
            ("describe_parameters", "DescribeParameters", self._describe),
            ("set_parameters", "SetParameters", self._set),
            ("set_parameters_atomically", "SetParametersAtomically", self._set_atomically),
        ):
            topics.serve(f"{node}/{name}", f"rcl_interfaces/{kind}", answer)

    def _rewind(self) -> None:
        """Tell what a reset has changed; all values are those that the run began with."""
        found = {name: parameter.read() for name, parameter in self._parameters.items()}
        self._tell("changed_parameters", [name for name, value in found.items() if self._known.get(name) != value])
        self._known = found

    def announce(self) -> None:
        """Tell who listens which parameters there are."""
        self._known = {name: parameter.read() for name, parameter in self._parameters.items()}
        self._tell("new_parameters", list(self._parameters))

    @property
    def names(self) -> list[str]:
        """The parameters there are."""
        return sorted(self._parameters)

    # ------------------------------------------------------------------ values
    def _value(self, name: str) -> Message:
        parameter = self._parameters.get(name)
        if parameter is None:
            return {}
        kind = KINDS[parameter.kind]
        return {"type": kind, _FIELDS[kind]: parameter.read()}

    def _check(self, name: str, value: MessageView) -> bool | int | float:
        """Return the value that is asked for.

        Raises:
            DeviceError: no such parameter, another type, out of range, or it cannot be set.
        """
        parameter = self._parameters.get(name)
        if parameter is None:
            raise DeviceError(f"there is no parameter {name!r}; {nearest(name, self._parameters)}", field=name)
        kind = int(value["type"])
        if kind != KINDS[parameter.kind]:
            found = TYPE_NAMES[kind] if kind < len(TYPE_NAMES) else str(kind)
            raise DeviceError(f"{name} is {found}; must be {TYPE_NAMES[KINDS[parameter.kind]]}", field=name)
        asked = value[_FIELDS[kind]]
        return parameter.check(asked)

    def _write(self, name: str, value: bool | int | float) -> bool:
        """Set a parameter that has been checked; return whether it changed."""
        return self._parameters[name].change(value)

    def _tell(self, field: str, names: Iterable[str]) -> None:
        changed = [{"name": name, "value": self._value(name)} for name in names]
        self._known |= {name: self._parameters[name].read() for name in names}
        if changed and self._events.active:
            now = 0 if self._served.simulation is None else self._served.simulation.time_ns
            values = {"stamp": now, "node": self._node, field: changed}
            self._events.send(self._served.node.codec.encode("rcl_interfaces/ParameterEvent", values))

    # ------------------------------------------------------------------ services
    def _names(self, request: MessageView, field: str = "names") -> list[Any]:
        found = list(request[field])
        if len(found) > MAX_LIST:
            raise DeviceError(f"{len(found)} {field} in one request; must be at most {MAX_LIST}", field=field)
        return found

    def _list(self, request: MessageView) -> Message:
        depth = int(request["depth"])
        prefixes = self._names(request, "prefixes")

        def wanted(name: str) -> bool:
            if not prefixes:
                return not depth or name.count(".") < depth
            for prefix in prefixes:
                if name == prefix:
                    return True
                if name.startswith(f"{prefix}."):
                    rest = name[len(prefix) + 1 :]
                    if not depth or rest.count(".") < depth:
                        return True
            return False

        names = [name for name in self.names if wanted(name)]
        inside = sorted({name.rpartition(".")[0] for name in names if "." in name})
        return {"result": {"names": names, "prefixes": inside}}

    def _get(self, request: MessageView) -> Message:
        return {"values": [self._value(name) for name in self._names(request)]}

    def _types(self, request: MessageView) -> Message:
        return {"types": bytes(int(self._value(name).get("type", 0)) for name in self._names(request))}

    def _describe(self, request: MessageView) -> Message:
        out = []
        for name in self._names(request):
            parameter = self._parameters.get(name)
            item: Message = {"name": name}
            if parameter is not None:
                item |= {
                    "type": KINDS[parameter.kind], "description": parameter.text, "read_only": parameter.write is None,
                }  # fmt: skip
                if parameter.kind is int:
                    item["integer_range"] = [{"from_value": int(parameter.low), "to_value": int(parameter.high)}]
                elif parameter.kind is float:
                    item["floating_point_range"] = [{"from_value": parameter.low, "to_value": parameter.high}]
            out.append(item)
        return {"descriptors": out}

    def _set(self, request: MessageView) -> Message:
        results, changed = [], []
        with self._lock:
            for item in self._names(request, "parameters"):
                name = item["name"]
                try:
                    if self._write(name, self._check(name, item["value"])):
                        changed.append(name)
                    results.append({"successful": True})
                except PliantError as error:
                    results.append({"successful": False, "reason": str(error)})
        self._tell("changed_parameters", changed)
        return {"results": results}

    def _set_atomically(self, request: MessageView) -> Message:
        """Set all or nothing: what was set before one is refused by the loop is set back."""
        before: list[tuple[str, bool | int | float]] = []
        with self._lock:
            try:
                items = [(i["name"], self._check(i["name"], i["value"])) for i in self._names(request, "parameters")]
                for name, value in items:
                    old = self._parameters[name].read()
                    if self._write(name, value):
                        before.append((name, old))
            except PliantError as error:
                reason = str(error)
                try:
                    for name, old in reversed(before):
                        self._write(name, old)
                except PliantError as second:
                    reason += f"; and what was set before could not be set back: {second}"
                return {"result": {"successful": False, "reason": reason}}
        self._tell("changed_parameters", [name for name, _ in before])
        return {"result": {"successful": True}}


def serve_node_parameters(topics: RosTopics) -> NodeParameters | None:
    """Serve the parameters of the node where the wire has services of ROS 2; return them, None elsewhere."""
    node = topics.node
    if not node.has_services or node.codec.version != 2:
        return None
    parameters = NodeParameters(topics, f"/{node_name(topics.options.node, topics.namespace)}")
    parameters.announce()
    return parameters

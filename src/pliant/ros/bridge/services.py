"""The simulation itself: ``/clock``, and pause, resume, step, reset as services and topics.

These stand below the node's name, and below ``/pliant`` and ``/gazebo``. The last two are those of the simulation that
publishes the time, of which a graph has one.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future

from pliant.base.errors import BridgeError, PliantError
from pliant.ros.bridge.names import node_name
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.wire.message import Message, ServiceCallback
from pliant.simulation.answers import ANSWER_TIMEOUT, answered
from pliant.simulation.bridge import bound

SHARED = "/pliant"
"""Name below which the simulation that publishes the time is reached, whatever its node is called."""
MAX_COUNT = 1_000_000
"""Most steps that one request may ask for."""


def serve_clock(topics: RosTopics) -> None:
    """Send the time of every step; programs with ``use_sim_time`` take theirs from it."""
    handle = topics.advertise("/clock", "rosgraph_msgs/Clock")
    fill = topics.template("rosgraph_msgs/Clock", {}, ["clock"])

    def clock(stamp_ns: int) -> None:
        if handle.active:
            handle.send(fill(stamp_ns))

    topics.ticks.append(clock)


def serve_control(topics: RosTopics) -> None:
    """Serve the simulation itself, and on ROS 2 the descriptions of the node's types."""
    own = f"/{node_name(topics.options.node, topics.namespace)}"
    control = _Control(topics, SHARED if topics.options.clock else own)
    for base in (own, SHARED) if topics.options.clock and own != SHARED else (own,):
        _serve_services(topics, control, base)
        if topics.simulation is not None:
            _listen_to_topics(topics, control, base)
    if topics.node.codec.version == 2:
        kind = "type_description_interfaces/GetTypeDescription"
        topics.serve(f"{own}/get_type_description", kind, lambda request: _type_description(topics, request))


def _type_description(topics: RosTopics, request: Message) -> Message:
    """Describe a type as REP 2016 has it; the hash may be left out."""
    types, name, asked = topics.node.codec.types, request["type_name"], request["type_hash"]
    try:
        own = types.rihs01(name)
        if asked not in ("", own):
            raise BridgeError(f"the hash of {name} is {own}; asked for was {asked[:80]!r}")
        answer: Message = {"successful": True, "type_description": types.description(name)}
    except PliantError as error:
        return {"successful": False, "failure_reason": str(error)}
    if request["include_type_sources"]:
        answer["type_sources"] = [
            {"type_name": part, "encoding": encoding, "raw_file_contents": text}
            for part, encoding, text in types.sources(name)
        ]
    return answer


class _Control:
    """The requests; they run in threads of the wire."""

    def __init__(self, topics: RosTopics, base: str) -> None:
        self._served, self._base = topics, base

    def pause(self) -> str:
        bound(self._served.simulation).pause()
        return "paused"

    def resume(self) -> str:
        bound(self._served.simulation).resume()
        return "running"

    def reset(self) -> str:
        answered(bound(self._served.simulation).request("simulation", "reset"))
        return "time is 0"

    def submit(self, count: int) -> Future[object]:
        """Queue steps; return the future."""
        simulation = bound(self._served.simulation)
        if not simulation.paused:
            raise BridgeError(f"single steps need a paused simulation; call {self._base}/pause first")
        if not 1 <= count <= MAX_COUNT:
            raise BridgeError(f"the count is {count}; must be 1 to {MAX_COUNT}", field="count")
        return simulation.submit(lambda: simulation.step(count))

    def step(self, count: int) -> str:
        answered(self.submit(count), max(ANSWER_TIMEOUT, 0.01 * count))
        return f"time is {bound(self._served.simulation).time:.9g} s"

    def answer_step(self, request: Message) -> Message:
        return {"message": self.step(int(request["count"])), "time": bound(self._served.simulation).time_ns}


def _empty(act: Callable[[], object]) -> ServiceCallback:
    def answer(_: Message) -> Message:
        act()
        return {}

    return answer


def _serve_services(topics: RosTopics, control: _Control, base: str) -> None:
    for name, act in (
        ("pause", control.pause),
        ("resume", control.resume),
        ("reset", control.reset),
        ("step_once", lambda: control.step(1)),
    ):
        topics.serve(f"{base}/{name}", "std_srvs/Trigger", lambda _, act=act: {"message": act()})
    topics.serve(f"{base}/step", "pliant_msgs/Step", control.answer_step)
    if base != SHARED:
        return
    # What scripts written for Gazebo call.
    for name, act in (
        ("pause_physics", control.pause),
        ("unpause_physics", control.resume),
        ("reset_simulation", control.reset),
        ("reset_world", control.reset),
    ):
        topics.serve(f"/gazebo/{name}", "std_srvs/Empty", _empty(act))


def _listen_to_topics(topics: RosTopics, control: _Control, base: str) -> None:
    topics.listen(f"{base}/pause", "std_msgs/Bool", lambda m: control.pause() if m["data"] else control.resume())
    topics.listen(f"{base}/step", "std_msgs/UInt64", lambda m: control.submit(int(m["data"])))
    topics.listen(f"{base}/reset", "std_msgs/Empty", lambda _: bound(topics.simulation).request("simulation", "reset"))

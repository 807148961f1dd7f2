"""Measured traces out of bags and recordings, for `pliant identify`.

Of a joint: ``link_state`` (position, velocity, references, torque), ``motor_1_state``, ``motor_2_state``,
``external_torque``, and every ``sensor_msgs/JointState`` that names the joint (``robot_state``, ``joint_states``, the
aggregated motor states, what the qb_move packages publish). The rows are those of the position; what other topics say
is interpolated between their messages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pliant.base.errors import RecordingError, WireError, nearest
from pliant.recording.foreign import Traces, is_recording, traces_of_recording
from pliant.ros.bags.base import Bag, BagTopic
from pliant.ros.bags.opening import open_bag
from pliant.ros.bags.times import CLOCK, Series, TimeAxis, collect
from pliant.ros.wire.message import MessageView

__all__ = ["JointSource", "Traces", "joint_sources", "qb_joint", "read_traces"]

STATE_TYPES = ("viactors_plugins/state_info", "viactors_plugins/StateInfo")
STATE = {
    "q": "link_position", "dq": "link_velocity", "tau": "torque", "ref_1": "reference_1", "ref_2": "reference_2",
}  # fmt: skip
"""Field of link_state -> quantity of `pliant.identification.measurements`."""
QB = {
    "_motor_1_joint": "motor_1_position",
    "_motor_2_joint": "motor_2_position",
    "_shaft_joint": "link_position",
    "_stiffness_preset_virtual_joint": "",
}
"""Ending of a name of the qb_move packages -> quantity; the preset is said by the motors."""
HELD = ("external_torque", "reference_1", "reference_2")
"""Quantities that keep their value until the next message."""


@dataclass(frozen=True, slots=True)
class JointSource:
    """One quantity of a joint, as one topic gives it."""

    joint: str
    quantity: str
    topic: str
    rank: int
    """Of several sources of one quantity the lowest is taken."""
    read: Callable[[MessageView], float]
    """Its value in a decoded message; NaN where there is none."""


def read_traces(path: str | Path, joint: str | None = None) -> Traces:
    """Return the traces of one joint of a bag or of a recording of pliant.

    Args:
        path: a .bag, .mcap or .db3 file, or a folder of ``ros2 bag``.
        joint: the joint (of a recording: the device); None where there is one only.

    Raises:
        RecordingError: it cannot be read, has no such joint, or several and none was named.
    """
    path = Path(path)
    if is_recording(path):
        return traces_of_recording(path, joint)
    with open_bag(path) as bag:
        topics = [t for t in bag.topics if t.count and t.known_type()]
        states = {t.name for t in topics if t.known_type() == "sensor_msgs/JointState"}
        joints = {t.name.strip("/").split("/")[-2] for t in topics if _is_state(t)}
        named = _names_of(bag, states)
        joints |= {qb_joint(name) or name for names in named.values() for name in names}
        chosen = _choose(path, joint, joints, bag)
        sources = [s for t in topics for s in joint_sources(t, chosen, named.get(t.name, ()))]
        if not any(s.quantity == "link_position" for s in sources):
            raise RecordingError(
                f"no topic has the position of joint {chosen!r}; known topics are .../{chosen}/link_state and "
                f"JointState messages that name it. The bag's topics: {bag.listed()}",
                file=path,
                field=chosen,
            )
        try:
            found, axis = collect(bag, {s.topic for s in sources})
        except WireError as error:
            raise RecordingError(f"the bag has a damaged message: {error}", file=path) from None
        columns, used = _aligned(path, chosen, sources, found, axis)
        unused = tuple(f"{t.name} ({t.type})" for t in bag.topics if t.name not in {*used.values(), CLOCK})
    return Traces(columns=columns, joint=chosen, topics=used, unused=unused)


# ---------------------------------------------------------------------- which topic says what
def _is_state(topic: BagTopic) -> bool:
    return topic.known_type() in STATE_TYPES and len(topic.name.strip("/").split("/")) >= 2


def _names_of(bag: Bag, states: set[str]) -> dict[str, tuple[str, ...]]:
    """The names in the first message of each JointState topic."""
    found: dict[str, tuple[str, ...]] = {}
    for name in states:
        for message in bag.messages([name]):
            if message.topic.known_type() != "sensor_msgs/JointState":
                continue  # two topics of a damaged bag may have one name
            try:
                found[name] = tuple(message.decode()["name"])
            except WireError as error:
                raise RecordingError(f"{name} has a damaged message: {error}", file=bag.path, field=name) from None
            break
    return found


def qb_joint(name: str) -> str:
    return next((name.removesuffix(end) for end in QB if name.endswith(end) and name != end), "")


def _choose(path: Path, joint: str | None, joints: set[str], bag: Bag) -> str:
    if not joints:
        raise RecordingError(
            "the bag has no state of a joint; it must have topics .../<joint>/link_state of type "
            "viactors_plugins/state_info and topics of type sensor_msgs/JointState with names. Its topics: "
            f"{bag.listed()}",
            file=path,
        )
    if joint is None and len(joints) == 1:
        return next(iter(joints))
    if joint is None:
        raise RecordingError(
            f"the bag has {len(joints)} joints; name one (--device JOINT): {', '.join(sorted(joints)[:12])}",
            file=path,
            field="device",
        )
    if joint not in joints:
        raise RecordingError(f"the bag has no joint {joint!r}; {nearest(joint, joints)}", file=path, field="device")
    return joint


def joint_sources(topic: BagTopic, joint: str, names: tuple[str, ...]) -> list[JointSource]:
    """Return the quantities of a joint that a topic gives.

    Args:
        topic: the topic.
        joint: the joint.
        names: names in its first message, where it is of type ``sensor_msgs/JointState``.
    """
    parts = topic.name.strip("/").split("/")
    kind = topic.known_type()
    last, owner = parts[-1], parts[-2] if len(parts) >= 2 else ""
    if kind in STATE_TYPES and last == "link_state" and owner == joint:
        return [JointSource(joint, quantity, topic.name, 0, _field(name)) for name, quantity in STATE.items()]
    if kind == "std_msgs/Float64" and last == "external_torque" and owner == joint:
        return [JointSource(joint, "external_torque", topic.name, 0, _field("data"))]
    if kind != "sensor_msgs/JointState":
        return []
    motor = next((f"motor_{k}_position" for k in (1, 2) if last == f"motor_{k}_state"), "")
    if motor and owner == joint and not names:
        return [JointSource(joint, motor, topic.name, 0, _element("position", 0))]
    found = []
    for i, name in enumerate(names):
        if name == joint and motor:
            found.append(JointSource(joint, motor, topic.name, 1, _named("position", name, i)))
        elif name == joint:
            rank = 1 if last == "robot_state" else 2
            for field, quantity in (("position", "link_position"), ("velocity", "link_velocity"), ("effort", "torque")):
                found.append(JointSource(joint, quantity, topic.name, rank, _named(field, name, i)))
        elif qb_joint(name) == joint and QB[name[len(joint) :]]:
            ending = name[len(joint) :]
            found.append(JointSource(joint, QB[ending], topic.name, 3, _named("position", name, i)))
            if ending == "_shaft_joint":
                found.append(JointSource(joint, "link_velocity", topic.name, 3, _named("velocity", name, i)))
                found.append(JointSource(joint, "torque", topic.name, 3, _named("effort", name, i)))
    return found


def _field(name: str) -> Callable[[MessageView], float]:
    return lambda message: float(message[name])


def _element(field: str, i: int) -> Callable[[MessageView], float]:
    return lambda message: float(message[field][i]) if len(message[field]) > i else np.nan


def _named(field: str, name: str, place: int) -> Callable[[MessageView], float]:
    def read(message: MessageView) -> float:
        names, values = message["name"], message[field]
        i = (
            place
            if place < len(names) and names[place] == name
            else names.index(name)
            if name in names
            else len(values)
        )
        return float(values[i]) if i < len(values) else np.nan

    return read


# ---------------------------------------------------------------------- one table
def _aligned(
    path: Path, joint: str, sources: list[JointSource], found: Mapping[str, Series], axis: TimeAxis
) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Bring the quantities to the times of the position."""
    curves: dict[str, tuple[str, np.ndarray, np.ndarray]] = {}
    times = {name: axis.of(series) for name, series in found.items()}
    for source in sorted(sources, key=lambda s: (s.rank, s.topic)):
        if source.quantity in curves or source.topic not in found:
            continue
        values = np.array([source.read(message) for message in found[source.topic].values])
        finite = np.isfinite(values)
        if not finite.any():
            continue
        at, first = np.unique(times[source.topic][finite][::-1], return_index=True)
        curves[source.quantity] = source.topic, at, values[finite][::-1][first]
    if "link_position" not in curves:
        raise RecordingError(f"the position of joint {joint!r} is never a finite number", file=path, field=joint)
    base = curves["link_position"][1]
    keep = np.ones(len(base), dtype=bool)
    origin = int(base[0])
    columns: dict[str, np.ndarray] = {}
    for quantity, (_, at, values) in curves.items():
        if quantity in HELD:
            place = np.searchsorted(at, base, side="right") - 1
            columns[quantity] = np.where(place >= 0, values[np.maximum(place, 0)], 0.0)
            if quantity != "external_torque":  # nothing pushes before the first message; a reference is not known then
                keep &= place >= 0
        else:
            columns[quantity] = np.interp((base - origin).astype(float), (at - origin).astype(float), values)
            keep &= (base >= at[0]) & (base <= at[-1])
    if keep.sum() < 2:
        raise RecordingError(
            f"the topics of joint {joint!r} have fewer than two times in common: "
            + ", ".join(
                dict.fromkeys(
                    f"{topic} from {(at[0] - origin) * 1e-9:g} to {(at[-1] - origin) * 1e-9:g} s"
                    for topic, at, _ in curves.values()
                )
            ),
            file=path,
            field=joint,
        )
    chosen = base[keep]
    table = {"time": (chosen - chosen[0]) * 1e-9}
    table.update({quantity: values[keep] for quantity, values in columns.items()})
    return table, {"time": curves["link_position"][0], **{q: topic for q, (topic, _, _) in curves.items()}}

"""Measured traces out of bags and recordings, for `pliant identify`.

`pliant.ros.joint_sources` says which topic has what of a joint. The rows are those of the position; what other topics
say is interpolated between their messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pliant.bags.base import Bag, BagTopic
from pliant.bags.opening import open_bag
from pliant.bags.times import CLOCK, Series, TimeAxis, collect
from pliant.base.errors import RecordingError, WireError, nearest
from pliant.recording.foreign import Traces, is_recording, traces_of_recording
from pliant.ros.joint_sources import JOINT_STATE, STATE_TYPES, JointSource, joint_sources, qb_joint

HELD = ("external_torque", "reference_1", "reference_2")
"""Quantities that keep their value until the next message."""


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
        states = {t.name for t in topics if t.known_type() == JOINT_STATE}
        joints = {t.name.strip("/").split("/")[-2] for t in topics if _is_state(t)}
        named = _names_of(bag, states)
        joints |= {qb_joint(name) or name for names in named.values() for name in names}
        chosen = _choose(path, joint, joints, bag)
        sources = [s for t in topics for s in joint_sources(t.name, t.known_type(), chosen, named.get(t.name, ()))]
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
            if message.topic.known_type() != JOINT_STATE:
                continue  # two topics of a damaged bag may have one name
            try:
                found[name] = tuple(message.decode()["name"])
            except WireError as error:
                raise RecordingError(f"{name} has a damaged message: {error}", file=bag.path, field=name) from None
            break
    return found


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

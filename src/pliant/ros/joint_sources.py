"""Which topic says what about a joint, live or in a bag.

Of a joint: ``link_state`` (position, velocity, references, torque), ``motor_1_state``, ``motor_2_state``,
``external_torque``, and every ``sensor_msgs/JointState`` that names the joint (``robot_state``, ``joint_states``, the
aggregated motor states, what the qb_move packages publish).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pliant.ros.wire.message import MessageView

JOINT_STATE = "sensor_msgs/JointState"
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


def qb_joint(name: str) -> str:
    """Return the joint of a name of the qb_move packages, "" if it is none."""
    return next((name.removesuffix(end) for end in QB if name.endswith(end) and name != end), "")


def joint_sources(topic: str, kind: str, joint: str, names: tuple[str, ...]) -> list[JointSource]:
    """Return the quantities of a joint that a topic gives.

    Args:
        topic: name of the topic.
        kind: its type, ``package/Type``; "" gives none.
        joint: the joint.
        names: names in its first message, where it is of type ``sensor_msgs/JointState``.
    """
    parts = topic.strip("/").split("/")
    last, owner = parts[-1], parts[-2] if len(parts) >= 2 else ""
    if kind in STATE_TYPES and last == "link_state" and owner == joint:
        return [JointSource(joint, quantity, topic, 0, _field(name)) for name, quantity in STATE.items()]
    if kind == "std_msgs/Float64" and last == "external_torque" and owner == joint:
        return [JointSource(joint, "external_torque", topic, 0, _field("data"))]
    if kind != JOINT_STATE:
        return []
    motor = next((f"motor_{k}_position" for k in (1, 2) if last == f"motor_{k}_state"), "")
    if motor and owner == joint and not names:
        return [JointSource(joint, motor, topic, 0, _element("position", 0))]
    found = []
    for i, name in enumerate(names):
        if name == joint and motor:
            found.append(JointSource(joint, motor, topic, 1, _named("position", name, i)))
        elif name == joint:
            rank = 1 if last == "robot_state" else 2
            for field, quantity in (("position", "link_position"), ("velocity", "link_velocity"), ("effort", "torque")):
                found.append(JointSource(joint, quantity, topic, rank, _named(field, name, i)))
        elif qb_joint(name) == joint and QB[name[len(joint) :]]:
            ending = name[len(joint) :]
            found.append(JointSource(joint, QB[ending], topic, 3, _named("position", name, i)))
            if ending == "_shaft_joint":
                found.append(JointSource(joint, "link_velocity", topic, 3, _named("velocity", name, i)))
                found.append(JointSource(joint, "torque", topic, 3, _named("effort", name, i)))
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

"""A compliant joint: the topics of the toolbox's joint plugin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pliant.bridges.ros.joint_state import joint_state_writer
from pliant.bridges.ros.qb import serve_qb
from pliant.bridges.ros.reconfigure import serve_reconfigure
from pliant.bridges.ros.served import Served
from pliant.laws import COMMAND_NAMES
from pliant.model.interface import JointInterface

__all__ = ["is_joint", "serve_joint"]


def is_joint(device: Any) -> bool:
    """Return whether a device, live or recorded, samples as a compliant joint does."""
    return "reported_stiffness" in device.samples


def serve_joint(served: Served, name: str, device: Any) -> None:
    """Serve state, elastic torques, motors, references, external torque, and what the qb_move packages have."""
    joint = getattr(device, "joint", name)
    info = served.interface.joints.get(joint) or JointInterface(joint=joint)
    writers = served.writers[name]
    if info.publish_elastic_torque:
        for k in (1, 2):
            writers.append(_float(served, served.name(joint, f"torque_el{k}_state"), f"load_{k}"))
    if info.publish_state:
        writers.append(_state(served, served.name(joint, "link_state")))
    mode = getattr(device, "mode", None)
    if getattr(device if mode is None else mode, "has_motors", True):  # a recorded joint says it itself
        for k in (1, 2):
            fields = (f"motor_{k}_position", f"motor_{k}_velocity", f"motor_{k}_effort")
            topic = served.name(joint, f"motor_{k}_state")
            writers.append(joint_state_writer(served, topic, [], fields, size=1, stamped=False))
    if mode is None:  # a recorded joint takes no command
        return
    _listen_to_references(served, device)
    if info.subscribe_external_torque:
        served.listen(
            served.name(joint, "external_torque"),
            "std_msgs/Float64",
            lambda m: device.inbox.put({"external_torque": m["data"]}),
        )
    if served.options.qb:
        serve_qb(served, name, device)
    if served.transport.services and served.transport.codec.version == 1 and hasattr(device, "actuator"):
        serve_reconfigure(served, device)


def _float(served: Served, topic: str, field: str) -> Callable[[Any], None]:
    handle = served.advertise(topic, "std_msgs/Float64")
    fill = served.template("std_msgs/Float64", {}, ["data"])

    def write(sample: Any) -> None:
        if handle.active:
            handle.send(fill(sample.values[field]))

    return write


def _state(served: Served, topic: str) -> Callable[[Any], None]:
    kind = served.transport.state_type
    handle = served.advertise(topic, kind)
    fill = served.template(kind, {}, ["q", "dq", "ref_1", "ref_2", "tau", "stiff"])
    fields = ("position", "velocity", "reference_1", "reference_2", "elastic_torque", "reported_stiffness")

    def write(sample: Any) -> None:
        if handle.active:
            v = sample.values
            q, dq, first, second, torque, stiffness = (v[field] for field in fields)
            if torque != torque:  # modes 0 and 1 have no spring
                torque = v["torque"]
            handle.send(fill(q, dq, first, second, torque, stiffness))

    return write


def _listen_to_references(served: Served, device: Any) -> None:
    """Listen to the two topics of the joint's mode, and to those of the new mode when it is switched or reset."""
    heard: tuple[Any, list[str]] = (None, [])

    def follow(_: int = 0) -> None:
        nonlocal heard
        mode = device.mode
        if mode is heard[0]:
            return
        before = heard[1]
        heard = mode, [served.name(device.joint, command) for command in COMMAND_NAMES[mode]]
        for topic in before:
            served.unlisten(topic)
        fields = device.commands[mode.name.lower()]
        for command, topic in zip(COMMAND_NAMES[mode], heard[1], strict=True):
            if command in fields:
                served.listen(topic, "std_msgs/Float64", lambda m, c=command: device.inbox.put({c: m["data"]}))
            else:  # the original listens, and does nothing with it
                served.listen(topic, "std_msgs/Float64", lambda _: None)

    follow()
    served.ticks.append(follow)

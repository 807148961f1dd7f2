"""A joint with two motors: what the qb_move packages serve for one qbmove.

``joint_states`` at 100 Hz, and two trajectory controllers, each with ``command``, ``follow_joint_trajectory``,
``state`` at 50 Hz and ``query_state``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.devices.fields import Values
from pliant.devices.signatures import BOARD, JointDevice
from pliant.ros.bridge.joint_state import joint_state
from pliant.ros.bridge.publication import Publication
from pliant.ros.bridge.qb_limb import MEASURED, QB_PRESET, QB_SUFFIXES, Measured, QbLimb, QbMotion
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.bridge.trajectory_topics import serve_controller
from pliant.simulation.rate_timer import RateTimer

QB_RATE = 100.0
"""The qb_move packages publish their joints at 100 Hz."""
CONTROLLERS = ((False, "position_and_preset"), (True, "motor_positions"))


def serve_qb(topics: RosTopics, name: str, device: JointDevice) -> None:
    """Serve joint_states and both trajectory controllers of one joint; nothing for a joint that is no qbmove."""
    law = device.actuator.law
    if law.second_input != "angle" or not device.mode.has_spring:
        return
    joint = device.joint
    _states(topics.name(joint, "joint_states"), joint).serve(topics, name)
    motion = QbMotion(_measure(topics, device))
    for motors, kind in CONTROLLERS:
        limb = QbLimb(device, topics.names.joint(joint), motors, motion)
        topics.rewinds.append(motion.forget)
        base = topics.name(joint, "control", f"{joint}_{kind}_trajectory_controller")
        serve_controller(topics, base, limb, take="command")


def _states(topic: str, joint: str) -> Publication:
    position, velocity, effort = np.zeros(4), np.zeros(4), np.zeros(4)

    def numbers(v: Values) -> tuple[np.ndarray, ...]:
        position[:] = (v["motor_1_position"], v["motor_2_position"], v["position"], v["preset"] / QB_PRESET)
        velocity[:3] = (v["motor_1_velocity"], v["motor_2_velocity"], v["velocity"])
        effort[:3] = (v["motor_1_effort"], v["motor_2_effort"], v["elastic_torque"])
        return position, velocity, effort

    names = [joint + suffix for suffix in QB_SUFFIXES]
    fields = ("position", "velocity", "effort")
    return joint_state(topic, names, fields, size=4, numbers=numbers, every=RateTimer(QB_RATE))


def _measure(topics: RosTopics, device: JointDevice) -> Callable[[], Measured | None]:
    """Return what looks up the newest sample of a joint: a board's where there is one, it is younger."""
    sources: list[tuple[str, int | None]] = [
        (name, board.joints.index(device.joint))
        for name, board in topics.devices.items()
        if BOARD.of(board) and device.joint in board.joints
    ]
    sources.append((device.name, None))

    def measure() -> Measured | None:
        for name, i in sources:
            sample = topics.latest.get(name)
            if sample is not None:
                v: Any = sample.values  # a board has arrays only
                return Measured(sample.stamp_ns, *(float(v[f] if i is None else v[f][i]) for f in MEASURED))
        return None

    return measure

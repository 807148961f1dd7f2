"""A joint with two motors: what the qb_move packages serve for one qbmove.

``joint_states`` at 100 Hz, and two trajectory controllers, each with ``command``, ``follow_joint_trajectory``,
``state`` at 50 Hz and ``query_state``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pliant.base.errors import DeviceError
from pliant.devices.fields import Values
from pliant.devices.signatures import BOARD, JointDevice
from pliant.laws import COMMAND_NAMES
from pliant.ros.bridge.joint_state import joint_state
from pliant.ros.bridge.publication import Publication
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.bridge.trajectory import JointPoints, MotionState
from pliant.ros.bridge.trajectory_controller import Limb
from pliant.ros.bridge.trajectory_topics import serve_controller
from pliant.simulation.rate_timer import RateTimer

QB_PRESET = 3000 * math.pi / 2**14
"""Preset 1.0 of the qb_move packages [rad]: 3000 ticks of 180 deg / 2^14."""
QB_SUFFIXES = ("_motor_1_joint", "_motor_2_joint", "_shaft_joint", "_stiffness_preset_virtual_joint")
PATH_TOLERANCE = 0.05
"""Largest distance from the path [rad, or preset]: qb_move's configuration."""
GOAL_TOLERANCE = 0.01
"""Largest distance from the end [rad, or preset]: qb_move's configuration."""
GOAL_TIME = 0.2
"""How long after its end a goal may take to get there [s]: qb_move's configuration."""
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


class Measured(NamedTuple):
    """Measured state of a joint with two motors: the time of a sample, and some of its fields."""

    stamp_ns: int
    """Time of the sample [ns]."""
    position: float
    """Of the shaft [rad]."""
    velocity: float
    """Of the shaft [rad/s]."""
    equilibrium: float
    """Half the sum of the motor positions [rad]."""
    preset: float
    """Half their difference [rad]."""
    motor_1_velocity: float
    """In rad/s; NaN where the motor has no dynamics, as in modes 2 and 3."""
    motor_2_velocity: float
    """The same of the other motor."""


MEASURED = Measured._fields[1:]
"""The fields of a sample."""


class QbMotion:
    """State of one joint: its newest sample, and what a controller commanded last.

    Args:
        measure: returns the newest sample of the joint; None before the first.
    """

    def __init__(self, measure: Callable[[], Measured | None]) -> None:
        self.measure = measure
        self.commanded: tuple[int, float, float] | None = None
        """Time [ns], equilibrium and preset [rad] of the last command of a controller."""

    def forget(self) -> None:
        """Begin anew, as the simulation does."""
        self.commanded = None

    def held(self) -> tuple[float, float] | None:
        """Return equilibrium and preset [rad] that the joint is held at; None where they are not known yet."""
        measured = self.measure()
        known = [] if self.commanded is None else [self.commanded]
        if measured is not None:
            known.append((measured.stamp_ns, measured.equilibrium, measured.preset))
        # What is put at the end of a step acts in the next, so a sample of the same time does not show it.
        return max(known, key=lambda item: item[0])[1:] if known else None


class QbLimb(Limb):
    """Two of the joints that the packages give one qbmove.

    Args:
        device: the joint.
        name: name of the qbmove on the graph.
        motors: whether it takes motor positions; else shaft position and preset.
        motion: what is known of the joint.
    """

    path_tolerance = PATH_TOLERANCE
    goal_tolerance = GOAL_TOLERANCE
    goal_time = GOAL_TIME

    def __init__(self, device: JointDevice, name: str, motors: bool, motion: QbMotion) -> None:
        self.device = device
        self.motors = motors
        self.joints = [name + s for s in (QB_SUFFIXES[:2] if motors else QB_SUFFIXES[2:])]
        self.owned = (device.joint,)
        self._motion = motion

    def check(self, points: JointPoints | None) -> None:
        """Refuse presets outside 0 to 1, and everything while the joint takes no positions."""
        self._names()
        if points is None or self.motors:
            return
        preset = points.positions[:, 1]
        if not ((preset > -1e-9) & (preset < 1.0 + 1e-9)).all():
            raise DeviceError(f"the stiffness presets are {preset.tolist()[:8]}; must be 0 to 1", field="points")

    def actual(self) -> MotionState | None:
        """Return the measured motion."""
        m = self._motion.measure()
        if m is None:
            return None
        velocity = [0.0 if math.isnan(v) else v for v in (m.motor_1_velocity, m.motor_2_velocity)]
        if self.motors:
            position = [m.equilibrium + m.preset, m.equilibrium - m.preset]
        else:
            position = [m.position, m.preset / QB_PRESET]
            velocity = [m.velocity, 0.5 * (velocity[0] - velocity[1]) / QB_PRESET]
        return MotionState(np.array(position), np.array(velocity), np.zeros(2))

    def standing(self) -> MotionState | None:
        """Return where the joint is held."""
        held = self._motion.held()
        if held is None:
            return None
        equilibrium, preset = held
        place = [equilibrium + preset, equilibrium - preset] if self.motors else [equilibrium, preset / QB_PRESET]
        return MotionState(np.array(place), np.zeros(2), np.zeros(2))

    def _names(self) -> tuple[str, str]:
        names = COMMAND_NAMES[self.device.mode]
        if names[0] not in ("equilibrium_position", "reference_1"):
            raise DeviceError(f"the joint is in mode {int(self.device.mode)}; must be 2, 3, 5 or 6", field="mode")
        return names

    def put(self, desired: MotionState, stamp_ns: int) -> None:
        """Command the joint in the terms of its mode."""
        first, second = (float(value) for value in desired.position)
        if self.motors:
            first, second = 0.5 * (first + second), 0.5 * (first - second)
        else:
            second *= QB_PRESET
        self._motion.commanded = stamp_ns, first, second
        names = self._names()
        if names[0] == "reference_1":
            first, second = first + second, first - second
        self.device.inbox.put({names[0]: first, names[1]: second})

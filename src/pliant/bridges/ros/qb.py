"""A joint with two motors: what the qb_move packages serve for one qbmove.

``joint_states`` at 100 Hz and two trajectory controllers; spec of the real device: `QB_SUFFIXES`, `QB_PRESET`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pliant.bridges.ros.served import Every, Served
from pliant.bridges.ros.trajectory import Trajectory
from pliant.errors import DeviceError, PliantError
from pliant.laws import COMMAND_NAMES

__all__ = ["QB_PRESET", "QB_SUFFIXES", "QbController", "serve_qb"]

QB_RATE = 100.0
"""The qb_move packages publish their joints at 100 Hz."""
QB_PRESET = 3000 * math.pi / 2**14
"""Preset 1.0 of the qb_move packages [rad]: 3000 ticks of 180 deg / 2^14."""
QB_SUFFIXES = ("_motor_1_joint", "_motor_2_joint", "_shaft_joint", "_stiffness_preset_virtual_joint")
CONTROLLERS = ((False, "position_and_preset"), (True, "motor_positions"))


class QbController:
    """A trajectory controller of the qb_move packages on one joint.

    Args:
        device: the joint.
        base: name of the qbmove.
        motors: whether it takes motor positions; else shaft position and preset.
    """

    def __init__(self, device: Any, base: str, motors: bool, complain: Callable[[str], None]) -> None:
        self.device = device
        self.motors = motors
        self.joints = [base + s for s in (QB_SUFFIXES[:2] if motors else QB_SUFFIXES[2:])]
        self.topic = ""
        self._complain = complain
        self._trajectory: Trajectory | None = None
        self._incoming: Mapping[str, Any] | None = None
        self._desired: np.ndarray | None = None

    def take(self, message: dict[str, Any]) -> None:
        """Leave a JointTrajectory for the loop; the thread of the sockets calls this."""
        self._incoming = message

    def forget(self) -> None:
        self._trajectory = self._incoming = self._desired = None

    @property
    def busy(self) -> bool:
        return self._incoming is not None or self._trajectory is not None

    def advance(self, now_ns: int, state: tuple[float, float] | None) -> None:
        """Put the references of this time into the mailbox; the loop's thread calls this.

        Args:
            now_ns: simulation time [ns].
            state: present equilibrium and preset [rad]; None: not measured yet, a new trajectory waits for it.
        """
        message = None
        if state is not None:
            message, self._incoming = self._incoming, None
        try:
            if message is not None and state is not None:
                self._begin(message, now_ns, state)
            if self._trajectory is None:
                return
            values, done = self._trajectory.at(now_ns)
            self._desired = values
            if done:
                self._trajectory = None
            self._put(values)
        except PliantError as error:
            self._trajectory = None
            self._complain(f"{self.topic}: {error}")

    def _begin(self, message: Mapping[str, Any], now_ns: int, state: tuple[float, float]) -> None:
        names = list(message["joint_names"])
        if sorted(names) != sorted(self.joints):
            raise DeviceError(f"joint_names are {names}; valid are {self.joints}, both in one message")
        order = [names.index(joint) for joint in self.joints]
        points = message["points"]
        if not points:
            self._trajectory = None  # an empty trajectory stops the motion where it is
            return
        times = np.array([p["time_from_start"] * 1e-9 for p in points])
        if times[0] < 0.0 or (np.diff(times) <= 0.0).any():
            raise DeviceError(f"time_from_start are {times.tolist()} s; valid are increasing times from 0 on")
        for key in ("positions", "velocities"):
            wrong = next((p for p in points if len(p[key]) not in ((2,) if key == "positions" else (0, 2))), None)
            if wrong is not None:
                raise DeviceError(f"a point has {len(wrong[key])} {key}; valid are 2, one for each of {self.joints}")
        positions = np.array([np.asarray(p["positions"], dtype=float)[order] for p in points])
        velocities = None
        if all(len(p["velocities"]) == 2 for p in points):
            velocities = np.array([np.asarray(p["velocities"], dtype=float)[order] for p in points])
        if not np.isfinite(positions).all() or not (velocities is None or np.isfinite(velocities).all()):
            raise DeviceError("a point has a position or velocity that is not finite")
        if not self.motors and not ((positions[:, 1] > -1e-9) & (positions[:, 1] < 1.0 + 1e-9)).all():
            raise DeviceError(f"the stiffness presets are {positions[:, 1].tolist()}; valid are 0 to 1")
        begin = self._desired
        if begin is None:
            eq, preset = state
            begin = np.array([eq + preset, eq - preset] if self.motors else [eq, preset / QB_PRESET])
        stamp = int(message["header"]["stamp"])
        self._trajectory = Trajectory(stamp or now_ns, times, positions, velocities, np.asarray(begin))

    def _put(self, values: np.ndarray) -> None:
        first, second = float(values[0]), float(values[1])
        if not self.motors:
            second *= QB_PRESET
        names = COMMAND_NAMES[self.device.mode]
        equilibrium = names[0] == "equilibrium_position"
        if names[0] not in ("equilibrium_position", "reference_1"):
            raise DeviceError(f"the joint is in mode {int(self.device.mode)}; valid are 2, 3, 5 and 6")
        if self.motors and equilibrium:
            first, second = 0.5 * (first + second), 0.5 * (first - second)
        elif not self.motors and not equilibrium:
            first, second = first + second, first - second
        self.device.inbox.put({names[0]: first, names[1]: second})


def serve_qb(served: Served, name: str, device: Any) -> None:
    """Serve joint_states and both trajectory controllers of one joint; nothing for a joint that is no qbmove."""
    law = getattr(getattr(device, "actuator", None), "law", None)
    if law is None or law.motors != 2 or law.second_input == "lever" or not device.mode.has_spring:
        return
    joint = device.joint
    served.writers[name].append(_states(served, joint))
    for motors, kind in CONTROLLERS:
        controller = QbController(device, joint, motors, served.refuse)
        controller.topic = served.name(joint, "control", f"{joint}_{kind}_trajectory_controller", "command")
        served.listen(controller.topic, "trajectory_msgs/JointTrajectory", controller.take)
        served.rewinds.append(controller.forget)
        served.ticks.append(_advance(served, controller))


def _advance(served: Served, controller: QbController) -> Callable[[int], None]:
    def advance(stamp_ns: int) -> None:
        if controller.busy:
            controller.advance(stamp_ns, _state(served, controller.device))

    return advance


def _states(served: Served, joint: str) -> Callable[[Any], None]:
    handle = served.advertise(served.name(joint, "joint_states"), "sensor_msgs/JointState")
    zeros = [0.0] * 4
    values = {"name": [joint + s for s in QB_SUFFIXES], "position": zeros, "velocity": zeros, "effort": zeros}
    fill = served.stamped("sensor_msgs/JointState", values, ["position", "velocity", "effort"])
    position, velocity, effort = np.zeros(4), np.zeros(4), np.zeros(4)
    every = Every(QB_RATE)

    def write(sample: Any) -> None:
        if not (every.due(sample.stamp_ns) and handle.active):
            return
        v = sample.values
        position[:] = (v["motor_1_position"], v["motor_2_position"], v["position"], v["preset"] / QB_PRESET)
        velocity[:3] = (v["motor_1_velocity"], v["motor_2_velocity"], v["velocity"])
        effort[:3] = (v["motor_1_effort"], v["motor_2_effort"], v["elastic_torque"])
        handle.send(fill(sample.stamp_ns, position, velocity, effort))

    return write


def _state(served: Served, device: Any) -> tuple[float, float] | None:
    """Equilibrium and preset of a joint, from a board's sample where there is one: it is younger than the joint's."""
    for name, board in served.devices.items():
        sample = served.latest.get(name)
        if sample is not None and device.joint in getattr(board, "joints", ()):
            i = board.joints.index(device.joint)
            return float(sample.values["equilibrium"][i]), float(sample.values["preset"][i])
    sample = served.latest.get(device.name)
    return None if sample is None else (sample.values["equilibrium"], sample.values["preset"])

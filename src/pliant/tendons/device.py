"""The tendons of a robot as one device: lengths drawn in or tensions, readings of tension, pose of the tip."""

from __future__ import annotations

import logging
from typing import Unpack

import mujoco
import numpy as np

from pliant.devices.base import Command, DeviceBase, DeviceOptions, FieldInfo
from pliant.devices.kinds import device_for
from pliant.engine.base import Engine, mujoco_state
from pliant.model.robot import Robot
from pliant.tendons.model import TendonMechanism

log = logging.getLogger("pliant")

RATE = 100.0
"""Samples a second [Hz]."""


@device_for(TendonMechanism)
class TendonDevice(DeviceBase):
    """All tendons of a robot at once, in metres and newtons; its spools are joints beside, in radians.

    A command holds all tendons: ``pull`` of robots whose servos take lengths, ``tension`` of those whose spools take
    torques. A pull beyond a tendon's length and a tension below 0 or beyond the breaking load are refused. Pulls that
    leave every tendon slack are carried out, with one warning.

    Args:
        description: the tendons.
        robot: the robot.
        options: of `DeviceBase`.
    """

    signatures = ("tendons",)

    def __init__(self, description: TendonMechanism, robot: Robot, **options: Unpack[DeviceOptions]) -> None:
        d, count = description.description, len(description.spools)
        n = (count,)
        self.description = description
        self._radius = description.options.spool_radius
        self._by_length = description.options.control == "length"
        samples = {
            "pull": FieldInfo(n, "m", "length that each servo has drawn in, positive shortens a tendon"),
            "given": FieldInfo(n, "m", "length that the robot has given off to each spool"),
            "tension": FieldInfo(n, "N", "tension of each tendon at its spool"),
            "tip_position": FieldInfo((3,), "m", "place of the tip in the world"),
            "tip_orientation": FieldInfo(
                (4,), "", "orientation of the last disk in the world, quaternion (w, x, y, z)"
            ),
        }
        if self._by_length:
            name, unit, low, high = "pull", "m", -float(description.path.min()), float(description.path.min())
        else:
            name, unit, low, high = "tension", "N", 0.0, min(t.breaking_load for t in d.tendons)
        commands = {name: {name: FieldInfo(n, unit, samples[name].description, low, high)}}
        dt = float(robot.spec.option.timestep)
        options.setdefault("sample_period", dt * max(1, round(1.0 / (RATE * dt))))
        super().__init__(description.name, samples=samples, commands=commands, **options)
        self.field = name
        """Name of its command: pull or tension."""
        self._taut = np.array([t.slack for t in d.tendons]) - np.array(
            [t.pretension / (t.drive_stiffness or np.inf) for t in d.tendons]
        )
        self._said = False

    def _connect(self, engine: Engine) -> None:
        spools = self.description.spools
        self._references = [engine.port(f"{joint}/reference_1") for joint in spools]
        servo, load = ("motor_1_position", "load_1") if self._by_length else ("position", "torque")
        self._servo = [engine.port(f"{joint}/{servo}").item for joint in spools]
        self._load = [engine.port(f"{joint}/{load}").item for joint in spools]
        self._given = [engine.port(f"{joint}/position").item for joint in spools]
        state = mujoco_state(engine, self.name)
        tip = state.model.site(self.description.tip).id
        self._place, self._axes = state.data.site_xpos[tip], state.data.site_xmat[tip]

    def _restart(self, rng: np.random.Generator) -> None:
        self._said = False

    def _latch(self, command: Command) -> None:
        values = np.asarray(command.values[self.field], dtype=float)
        if self._by_length and not self._said and np.all(values <= self._taut):
            self._said = True
            log.warning(
                f"{self.name}: the command makes all {len(values)} tendons of the unloaded robot slack, so none holds "
                f"it; the first becomes taut at {1e3 * self._taut.min():.3f} mm"
            )
        for port, value in zip(self._references, values):
            port[0] = value / self._radius if self._by_length else value * self._radius

    def _trip(self) -> None:
        """Let every spool hold its place."""
        for joint in self.description.spools:
            self._engine.set_mode(joint, self._engine.mode(joint))

    def _measure(self) -> dict[str, float | np.ndarray]:
        quaternion = np.empty(4)
        mujoco.mju_mat2Quat(quaternion, self._axes)
        r = self._radius
        return {
            "pull": np.array([read() for read in self._servo]) * r,
            "given": np.array([read() for read in self._given]) * r,
            "tension": np.array([read() for read in self._load]) / r,
            "tip_position": self._place.copy(),
            "tip_orientation": quaternion,
        }

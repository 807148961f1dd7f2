"""How a robot begins on the page of `pliant view`: with something that moves, until somebody moves it."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from pliant.devices.base import Device, Sample
from pliant.events.scenario import Scenario, Set

PLATE = "plate_pose"
"""Command mode of a plate that is moved in space."""
ROUND_S = 4.0
"""Time of a round of the dance [s]."""
ROUNDS = 3
BEFORE_ALL = 1000
"""Rank of the dance as an opening."""
STEP_S = 0.1
"""Time between two poses of the dance [s]."""
RADIUS = 0.03
"""Radius of the dance over the height of the plate."""
TURN = 0.06
"""Angle by which the plate turns to both sides [rad]."""


def opening(fitting: Mapping[str, Scenario]) -> str | None:
    """Return the name of the scenario that a robot begins with; None for none.

    Args:
        fitting: scenarios that fit the robot, by name.
    """
    name = max(fitting, key=lambda name: fitting[name].opening, default=None)
    return name if name is not None and fitting[name].opening > 0 else None


def dance(devices: Mapping[str, Device], latest: Mapping[str, Sample]) -> Scenario | None:
    """Return a scenario that leads the plate of a parallel robot around in circles and turns it; None without one.

    Args:
        devices: name -> device.
        latest: device -> its newest sample: the circles are around this pose.
    """
    for name, device in devices.items():
        sample = latest.get(name)
        if PLATE not in device.commands or sample is None:
            continue
        x, y, z = (float(v) for v in np.ravel(sample.values["pose"])[:3])
        radius, events = RADIUS * abs(z), []
        for k in range(round(ROUNDS * ROUND_S / STEP_S) + 1):
            angle = 2.0 * math.pi * k * STEP_S / ROUND_S
            share = min(1.0, k * STEP_S, ROUNDS * ROUND_S - k * STEP_S)  # the first and the last second
            pose = [
                x + share * radius * math.cos(angle), y + share * radius * math.sin(angle), z, 0.0, 0.0,
                share * TURN * math.sin(0.5 * angle),
            ]  # fmt: skip
            events.append(Set(at=k * STEP_S, device=name, mode=PLATE, values={"xyz_rpy": pose}))
        return Scenario(description="the plate goes around in circles and turns", opening=BEFORE_ALL, events=events)
    return None

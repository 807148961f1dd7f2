"""Descriptions of tendon-driven robots: a generic one, and two measured ones as built."""

from __future__ import annotations

import numpy as np

from pliant.rods.description import Rod, Round
from pliant.tendons.description import Segment, Tendon, TendonRobotDescription


def _robot(
    name: str,
    lengths: tuple[float, ...],
    pretension: tuple[float, ...],
    *,
    disks: int,
    gravity: float,
    turn: float,
    mass: float = 0.05,
) -> TendonRobotDescription:
    segments = tuple(
        Segment(
            rod=Rod(
                length=length,
                section=Round(radius=0.5e-3),
                young_modulus=50e9,
                shear_modulus=50e9 / 2.6,
                density=7800.0,
            ),
            disks=disks,
            disk_radius=5.5e-3,
            disk_mass=mass / (disks * len(lengths)),
        )
        for length in lengths
    )
    tendons = tuple(
        Tendon(
            segment=s,
            radius=4.5e-3,
            angle=turn + np.radians(120.0 * i + 30.0 * s),
            drive_stiffness=3200.0,
            pretension=pretension[s],
            friction=0.1,  # assumed
            guide_angle=1.0,  # assumed
            presliding=2e-4,  # assumed
            breaking_load=200.0,  # assumed
        )
        for s in range(len(lengths))
        for i in range(3)
    )
    return TendonRobotDescription(
        name=name, segments=segments, tendons=tendons, gravity=(0.0, 0.0, gravity), tip_offset=(0.0, 0.0, 0.008)
    )


def generic() -> TendonRobotDescription:
    """Return a standing robot of two segments of 100 mm with three tendons each; its disks weigh 10 g in all."""
    return _robot("tdcr", (0.1, 0.1), (3.0, 3.0), disks=5, gravity=-9.81, turn=0.0, mass=0.01)


def measured_v4() -> TendonRobotDescription:
    """Return the robot v4 of the Continuum Robotics Laboratory's tip measurements, nominal, hanging along +z.

    Source: opencr-mujoco, commit 17fff8b (MIT): lengths, wire, tendon circle, pretensions, servo stiffness (mean) and
    mass of 50 g. The number of disks is assumed, the masses' distribution too.
    """
    return _robot("tdcr-v4", (0.06, 0.0625, 0.064), (7.3, 1.7, 3.7), disks=4, gravity=9.81, turn=np.pi)


def measured_v6() -> TendonRobotDescription:
    """Return the robot v6 of the same source; see `measured_v4`. Its pretensions are assumed to be those of v4."""
    return _robot("tdcr-v6", (0.1, 0.1, 0.022), (7.3, 1.7, 3.7), disks=4, gravity=9.81, turn=np.pi)


ROBOTS = {"tdcr": generic, "tdcr-v4": measured_v4, "tdcr-v6": measured_v6}
"""Descriptions by name."""

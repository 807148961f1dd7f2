"""Shapes of a steel rod by another Cosserat code (SoRoSim, rounded to 0.1 mm, 0.1 mN and 0.1 mN m)."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from shared_files import shared_file

from pliant.rods import Rod, Round
from pliant.rods.tendons import Resolution, Segment, TendonRobot, TendonRobotDescription

TO_Z = np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]])
"""From the file's axes (rod along x) to those of the package (rod along z)."""


def tip(arm: TendonRobot, shape: np.ndarray) -> np.ndarray:
    middle = arm.chain.element[0, 1]
    loads = arm.loads(
        gravity=TO_Z @ shape[3:, 0],
        wrench=[*(TO_Z @ shape[:3, 2]), *(TO_Z @ shape[3:, 2])],
        at={int(middle): [*(TO_Z @ shape[:3, 1]), *(TO_Z @ shape[3:, 1])]},
    )
    return arm.solve(tension=np.zeros(0), loads=loads).tip


@pytest.mark.shared
def test_tips_of_all_500_steel_shapes_differ_by_what_the_rounding_of_the_loads_explains():
    with shared_file("data/tdcr/statics/steel.csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))[2:]
    shapes = np.array([[float(v) for v in row[1:]] for row in rows]).reshape(-1, 6, 17)
    assert len(shapes) == 500
    E = 200e9
    rod = Rod(length=0.3, section=Round(radius=0.8e-3), young_modulus=E, shear_modulus=E / 2.66, density=7870.0)
    segment = Segment(rod=rod, disks=3, disk_radius=0.01)
    arm = TendonRobot(
        TendonRobotDescription(name="steel", segments=(segment, segment), tendons=()),
        resolution=Resolution(elements=1, steps=2, bending=5, torsion=4),
    )
    error = np.array([np.linalg.norm(tip(arm, s) - TO_Z @ s[3:, -1]) for s in shapes])
    assert error.mean() < 0.17e-3
    # The file gives the loads to four decimals. How far the tip moves by that alone:
    rng = np.random.default_rng(0)
    moved = []
    for s in shapes[::10]:
        other = s.copy()
        other[:, :3] += rng.uniform(-5e-5, 5e-5, (6, 3))
        moved.append(np.linalg.norm(tip(arm, other) - tip(arm, s) + rng.uniform(-5e-5, 5e-5, 3)))
    assert error.mean() < 1.4 * np.mean(moved)

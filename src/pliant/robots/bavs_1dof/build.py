"""One BAVS joint with a load of 0.2 kg at 0.04 m (Mengacci et al. 2021, section 4.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pliant.robots.catalogue import CatalogueRobot, Option
from pliant.robots.parts import BENCH_OPTIONS

if TYPE_CHECKING:
    from pliant.model import Robot

__all__ = ["ROBOT", "build"]


def build(
    preset: float = 0.001,
    mounting: str = "horizontal",
    load_mass: float = 0.2,
    load_distance: float = 0.04,
    link_inertia: float = 0.002,
    damping: float = 0.065,
    friction: float = 0.0,
    friction_stiffness: float = 100.0,
    mode: int = 3,
    timestep: float = 0.0005,
) -> Robot:
    """Return the bench; the arguments are the options of `ROBOT`."""
    from pliant.laws import BAVS, CompliantActuator
    from pliant.model import Robot
    from pliant.robots.parts import bench, box, cylinder, finished, interface_of, link_friction

    spec, stand, _ = bench(
        "bavs-1dof",
        mounting=mounting,
        load_mass=load_mass,
        load_distance=load_distance,
        link_inertia=link_inertia,
        damping=damping,
        timestep=timestep,
    )
    # A round gear case with its two motors behind it.
    cylinder(stand, (0.0, 0.024, 0.0), (0.0, 0.058, 0.0), 0.032, "housing")
    cylinder(stand, (0.0, 0.036, 0.0), (0.0, 0.044, 0.0), 0.0328, "orange")
    box(stand, (0.030, 0.020, 0.045), (0.0, 0.060, -0.030), "stand")
    for side in (-1.0, 1.0):
        cylinder(stand, (side * 0.0165, 0.058, 0.0), (side * 0.0165, 0.112, 0.0), 0.0145, "trim")
        cylinder(stand, (side * 0.0165, 0.112, 0.0), (side * 0.0165, 0.116, 0.0), 0.006, "metal")
    actuator = CompliantActuator(
        BAVS(),
        mode=mode,
        initial_preset=preset,
        link_friction=link_friction(friction, friction_stiffness),
    )
    return finished(Robot(spec, {"joint": actuator}, interface=interface_of("bavs_1dof", {"joint": actuator})))


ROBOT = CatalogueRobot(
    name="bavs-1dof",
    summary="one bidirectional antagonistic variable stiffness joint (BAVS) with a load",
    function=build,
    source="Mengacci et al. 2021, doi 10.3389/frobt.2021.713083, section 4.1",
    options=(
        Option(
            name="preset",
            default=0.001,
            unit="rad",
            low=-3.0,
            high=3.0,
            description="Stiffness preset before the first command; the paper's soft case, its stiff one has 0.22.",
            source="Mengacci et al. 2021, section 4.1",
        ),
        *BENCH_OPTIONS,
    ),
    assumed=(
        "The direction of gravity at q = 0, the inertia of the link and its damping: the paper prints none of them.",
    ),
)

"""One AwAS-II joint with a load of 0.2 kg at 0.04 m (Mengacci et al. 2021, section 4.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pliant.robots.catalogue import CatalogueRobot, Option
from pliant.robots.parts import BENCH_OPTIONS

if TYPE_CHECKING:
    from pliant.model import Robot

__all__ = ["ROBOT", "build"]


def build(
    preset: float = 0.005,
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
    from pliant.laws import AwAS2, CompliantActuator
    from pliant.model import Robot
    from pliant.robots.parts import bench, box, cylinder, finished, interface_of, link_friction

    spec, stand, _ = bench(
        "awas2-1dof",
        mounting=mounting,
        load_mass=load_mass,
        load_distance=load_distance,
        link_inertia=link_inertia,
        damping=damping,
        timestep=timestep,
    )
    # The main motor, and across it the lever with its pivot, moved by a screw.
    cylinder(stand, (0.0, 0.050, 0.0), (0.0, 0.118, 0.0), 0.028, "housing")
    cylinder(stand, (0.0, 0.094, 0.0), (0.0, 0.102, 0.0), 0.0288, "blue")
    box(stand, (0.090, 0.016, 0.040), (0.0, 0.042, 0.0), "housing")
    box(stand, (0.074, 0.004, 0.010), (0.0, 0.033, 0.010), "metal")
    cylinder(stand, (-0.040, 0.034, -0.010), (0.040, 0.034, -0.010), 0.003, "metal")
    cylinder(stand, (0.018, 0.029, 0.010), (0.018, 0.036, 0.010), 0.006, "orange")
    cylinder(stand, (0.045, 0.042, -0.010), (0.075, 0.042, -0.010), 0.009, "trim")
    actuator = CompliantActuator(
        AwAS2(),
        mode=mode,
        initial_preset=preset,
        link_friction=link_friction(friction, friction_stiffness),
    )
    return finished(Robot(spec, {"joint": actuator}, interface=interface_of("awas2_1dof", {"joint": actuator})))


ROBOT = CatalogueRobot(
    name="awas2-1dof",
    summary="one joint with adjustable lever stiffness (AwAS-II) and a load",
    function=build,
    source="Mengacci et al. 2021, doi 10.3389/frobt.2021.713083, section 4.1",
    options=(
        Option(
            name="preset",
            default=0.005,
            unit="m",
            low=0.0,
            high=0.049,
            description="Lever position before the first command: the paper's soft case; its stiff one has 0.04.",
            source="Mengacci et al. 2021, section 4.1",
        ),
        *BENCH_OPTIONS,
    ),
    assumed=(
        "The direction of gravity at q = 0, the inertia of the link and its damping: the paper prints none of them.",
    ),
)

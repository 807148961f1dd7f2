"""One joint with a series elastic actuator, a load of 0.2 kg at 0.04 m (Mengacci et al. 2021, section 4.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pliant.robots.catalogue import CatalogueRobot, Option
from pliant.robots.parts import BENCH_OPTIONS

if TYPE_CHECKING:
    from pliant.model import Robot

__all__ = ["ROBOT", "build"]


def build(
    k: float = 200.0,
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
    from pliant.laws import SEA, CompliantActuator
    from pliant.model import Robot
    from pliant.robots.parts import bench, box, cylinder, finished, interface_of, link_friction

    spec, stand, _ = bench(
        "sea-1dof",
        mounting=mounting,
        load_mass=load_mass,
        load_distance=load_distance,
        link_inertia=link_inertia,
        damping=damping,
        timestep=timestep,
    )
    # A slim motor, and between it and the link the torsion bar in its cage.
    box(stand, (0.044, 0.030, 0.044), (0.0, 0.062, 0.0), "housing")
    cylinder(stand, (0.0, 0.060, 0.0), (0.0, 0.118, 0.0), 0.025, "housing")
    cylinder(stand, (0.0, 0.088, 0.0), (0.0, 0.096, 0.0), 0.0258, "blue")
    cylinder(stand, (0.0, 0.040, 0.0), (0.0, 0.047, 0.0), 0.026, "trim")
    cylinder(stand, (0.0, 0.024, 0.0), (0.0, 0.060, 0.0), 0.008, "metal")
    actuator = CompliantActuator(SEA(k=k), mode=mode, link_friction=link_friction(friction, friction_stiffness))
    return finished(Robot(spec, {"joint": actuator}, interface=interface_of("sea_1dof", {"joint": actuator})))


ROBOT = CatalogueRobot(
    name="sea-1dof",
    summary="one joint with a series elastic actuator and a load",
    function=build,
    source="Mengacci et al. 2021, doi 10.3389/frobt.2021.713083, section 4.1",
    options=(
        Option(
            name="k",
            default=200.0,
            unit="N m/rad",
            low=0.0,
            high=1e6,
            description="Stiffness of the spring; the paper's soft case, its stiff one has 400.",
            source="Mengacci et al. 2021, section 4.1",
        ),
        *BENCH_OPTIONS,
    ),
    assumed=(
        "The direction of gravity at q = 0, the inertia of the link and its damping: the paper prints none of them.",
    ),
)

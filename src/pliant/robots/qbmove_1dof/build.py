"""One qbMove Advanced with a load of 0.2 kg at 0.04 m (Mengacci et al. 2021, sections 4.1 and 4.2.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pliant.robots.catalogue import CatalogueRobot, Option
from pliant.robots.parts import BENCH_OPTIONS
from pliant.robots.qbmove import SPRINGS_1DOF

if TYPE_CHECKING:
    from pliant.model import Robot

__all__ = ["ROBOT", "build"]


def build(
    springs: str = "toolbox",
    preset: float = 0.2,
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
    from pliant.laws import CompliantActuator
    from pliant.model import Robot
    from pliant.robots.parts import bench, finished, interface_of, link_friction
    from pliant.robots.qbmove import CUBE, add_cube, spring_law

    spec, stand, _ = bench(
        "qbmove-1dof",
        mounting=mounting,
        load_mass=load_mass,
        load_distance=load_distance,
        link_inertia=link_inertia,
        damping=damping,
        timestep=timestep,
    )
    add_cube(stand, "y", pos=(0.0, 0.020 + 0.5 * CUBE, 0.0))
    actuator = CompliantActuator(
        spring_law(springs),
        mode=mode,
        initial_preset=preset,
        link_friction=link_friction(friction, friction_stiffness),
    )
    return finished(Robot(spec, {"joint": actuator}, interface=interface_of("qbmove_1dof", {"joint": actuator})))


ROBOT = CatalogueRobot(
    name="qbmove-1dof",
    summary="one qbMove Advanced with a load",
    function=build,
    source="Mengacci et al. 2021, doi 10.3389/frobt.2021.713083, sections 4.1 and 4.2.1",
    options=(
        SPRINGS_1DOF,
        Option(
            name="preset",
            default=0.2,
            unit="rad",
            low=-3.0,
            high=3.0,
            description="Stiffness preset before the first command; the paper's soft case, its stiff one has 0.6.",
            source="Mengacci et al. 2021, section 4.1",
        ),
        *BENCH_OPTIONS,
    ),
    assumed=(
        "The direction of gravity at q = 0, the inertia of the link and its damping: the paper prints none of them.",
    ),
)

"""Arm of two qbMove Advanced (Mengacci et al. 2021, sections 4.2.2 and 4.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pliant.robots.catalogue import CatalogueRobot, Option
from pliant.robots.qbmove import ARM_SPRINGS

if TYPE_CHECKING:
    from pliant.model import Robot

__all__ = ["JOINTS", "ROBOT", "build"]

JOINTS = ("joint_1", "joint_2")
"""Names of the joints, from the base on."""

BASE_HEIGHT = {"horizontal": 0.16, "vertical": 0.34}
"""Height of the first axis over the floor by mounting [m]; for the eye only."""


def build(
    mounting: str = "horizontal",
    springs: str = "toolbox",
    preset: float = 0.2,
    link_mass: float = 0.5,
    link_com: float = 0.04,
    link_length: float = 0.085,
    link_inertia: float = 0.002,
    damping: float = 0.065,
    friction: float = 0.025,
    friction_stiffness: float = 1000.0,
    mode: int = 6,
    timestep: float = 0.001,
) -> Robot:
    """Return the arm; the arguments are the options of `ROBOT`."""
    from pliant.laws import CompliantActuator
    from pliant.model import Robot
    from pliant.robots.parts import box, capsule, cylinder, finished, interface_of, link_friction, look_at, new_spec
    from pliant.robots.qbmove import CUBE, add_cube, spring_law

    height = BASE_HEIGHT[mounting]
    spec = new_spec("qbmove-2dof", timestep, extent=0.3, center=(0.06, 0.0, 0.6 * height))
    base = spec.worldbody.add_body(name="base", pos=[0.0, 0.0, height])
    half = 0.5 * CUBE
    if mounting == "horizontal":
        box(base, (0.16, 0.16, 0.014), (-0.03, 0.0, 0.007 - height), "stand")
        box(base, (0.05, 0.05, height - half - 0.014), (0.0, 0.0, -0.5 * (height + half - 0.014)), "stand")
        eye, target = (0.36, -0.42, 0.42), (0.06, 0.0, 0.12)
    else:
        # The frame turns so that the arm's x axis hangs down and its z axis lies in -y: positive angles swing to +x.
        base.quat = [0.5, 0.5, 0.5, -0.5]
        box(base, (height + 0.06, 0.04, 0.03), (0.5 * height - 0.03, 0.0, -half - 0.045), "stand")
        box(base, (0.014, 0.16, 0.16), (height - 0.007, 0.0, -half - 0.005), "stand")
        box(base, (0.05, 0.05, 0.035), (0.0, 0.0, -half - 0.016), "stand")
        eye, target = (0.34, -0.66, 0.40), (0.02, 0.0, 0.22)
    add_cube(base, "z")

    parent, start = base, 0.0
    for number, joint in enumerate(JOINTS, 1):
        link = parent.add_body(name=f"link_{number}", pos=[start, 0.0, 0.0])
        link.add_joint(name=joint, axis=[0.0, 0.0, 1.0], damping=[damping, 0.0, 0.0])
        link.explicitinertial = True
        link.mass, link.ipos = link_mass, [link_com, 0.0, 0.0]
        link.inertia = [link_inertia, link_inertia, link_inertia]
        # A fork around the cube: two cheeks and the plate that holds what follows.
        reach = half + 0.006
        for side in (-1.0, 1.0):
            z = side * (half + 0.005)
            cylinder(link, (0.0, 0.0, z - side * 0.002), (0.0, 0.0, z + side * 0.003), 0.021, "metal")
            capsule(link, (0.0, 0.0, z + side * 0.001), (reach, 0.0, z + side * 0.001), 0.005, "link")
        box(link, (0.006, 0.05, CUBE + 0.018), (reach + 0.003, 0.0, 0.0), "link")
        if number < len(JOINTS):
            box(link, (max(0.002, link_length - half - reach), 0.03, 0.03), (0.5 * (link_length - half + reach), 0, 0))
            add_cube(link, "z", pos=(link_length, 0.0, 0.0), accent="blue")
        else:
            cylinder(link, (reach, 0.0, 0.0), (link_length - 0.012, 0.0, 0.0), 0.012, "trim")
            capsule(link, (link_length - 0.018, 0.0, 0.0), (link_length - 0.012, 0.0, 0.0), 0.012, "orange")
            link.add_site(name="tip", pos=[link_length, 0.0, 0.0], size=[0.003] * 3, rgba=[0.0, 0.0, 0.0, 0.0])
        parent, start = link, link_length
    camera = spec.worldbody.add_camera(name="front", pos=list(eye))
    look_at(camera, eye, target)
    camera.fovy = 34.0

    sets = ("identified-1", "identified-2") if springs == "identified" else (springs, springs)
    actuators = {
        joint: CompliantActuator(
            spring_law(name),
            mode=mode,
            initial_preset=preset,
            link_friction=link_friction(friction, friction_stiffness),
        )
        for joint, name in zip(JOINTS, sets)
    }
    return finished(Robot(spec, actuators, interface=interface_of("qbmove_2dof", actuators)))


_TEMPLATE = "assumed: the geometry of the toolbox's template; the paper prints no rigid-body data of the arm"

ROBOT = CatalogueRobot(
    name="qbmove-2dof",
    summary="arm of two qbMove Advanced, lying or hanging",
    function=build,
    source="Mengacci et al. 2021, doi 10.3389/frobt.2021.713083, sections 4.2.2 and 4.3",
    options=(
        Option(
            name="mounting",
            default="horizontal",
            choices=("horizontal", "vertical"),
            description="horizontal: the axes are vertical and gravity does not matter; vertical: it hangs at q = 0.",
            source="Mengacci et al. 2021, figure 10; hanging rather than upright: assumed, the only pose in which the "
            "learning of section 4.3 converges",
        ),
        ARM_SPRINGS,
        Option(
            name="preset",
            default=0.2,
            unit="rad",
            low=-3.0,
            high=3.0,
            description="Stiffness preset before the first command; the paper's soft case, its stiff one has 0.6.",
            source="Mengacci et al. 2021, section 4.2",
        ),
        Option(
            name="link_mass",
            default=0.5,
            unit="kg",
            low=1e-6,
            high=100.0,
            description="Mass of each link, with the actuator that it carries.",
            source="assumed",
        ),
        Option(
            name="link_com",
            default=0.04,
            unit="m",
            low=-2.0,
            high=2.0,
            description="Distance of a link's centre of mass from its axis.",
            source=_TEMPLATE,
        ),
        Option(
            name="link_length",
            default=0.085,
            unit="m",
            low=0.05,
            high=2.0,
            description="Distance from an axis to the next one, or to the tip.",
            source=_TEMPLATE,
        ),
        Option(
            name="link_inertia",
            default=0.002,
            unit="kg m^2",
            low=1e-9,
            high=100.0,
            description="Inertia of a link about its centre of mass.",
            source=_TEMPLATE,
        ),
        Option(
            name="damping",
            default=0.065,
            unit="N m s/rad",
            low=0.0,
            high=1000.0,
            description="Viscous damping of each bearing.",
            source="Mengacci et al. 2021, section 4.2",
        ),
        Option(
            name="friction",
            default=0.025,
            unit="N m",
            low=0.0,
            high=1000.0,
            description="Coulomb friction of each bearing, with presliding.",
            source="Mengacci et al. 2021, section 4.2",
        ),
        Option(
            name="friction_stiffness",
            default=1000.0,
            unit="N m/rad",
            low=1e-3,
            high=1e6,
            description="Presliding stiffness of that friction.",
            source="assumed: that of the toolbox's motors",
        ),
        Option(
            name="mode",
            default=6,
            low=0,
            high=6,
            description="Operation mode of the actuators, 0 to 6.",
            source="Mengacci et al. 2021, section 4.2.2",
        ),
        Option(
            name="timestep",
            default=0.001,
            unit="s",
            low=1e-7,
            high=0.1,
            description="Length of a simulation step.",
            source="assumed: the paper prints none",
        ),
    ),
    assumed=("Mass, centre of mass, length and inertia of the links; that the vertical mounting hangs at q = 0.",),
)

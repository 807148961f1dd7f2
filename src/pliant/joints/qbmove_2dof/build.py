"""Arm of two qbMove Advanced (Mengacci et al. 2021, sections 4.2.2 and 4.3)."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.base.options import option
from pliant.joints.qbmove import CUBE, ArmOptions, add_cube, spring_law
from pliant.model import Robot
from pliant.model.inertia import set_inertia
from pliant.robots.catalogue import CatalogueRobot

JOINTS = ("joint_1", "joint_2")
"""Names of the joints, from the base on."""

BASE_HEIGHT = {"horizontal": 0.16, "vertical": 0.34}
"""Height of the first axis over the floor by mounting [m]; for the eye only."""


_TEMPLATE = "assumed: the geometry of the toolbox's template; the paper prints no rigid-body data of the arm"


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoJointOptions(ArmOptions):
    """Options of ``qbmove-2dof``."""

    mounting: str = option(
        "horizontal",
        choices=("horizontal", "vertical"),
        source="Mengacci et al. 2021, figure 10; hanging rather than upright: assumed, the only pose in which the "
        "learning of section 4.3 converges",
    )
    """horizontal: the axes are vertical and gravity does not matter; vertical: it hangs at q = 0."""
    springs: str = option(
        "toolbox", choices=("toolbox", "kit", "maker-pro", "identified"), source="see pliant.joints.qbmove.SPRINGS"
    )
    """Set of spring parameters; identified gives each of the two joints its own."""
    link_mass: float = option(0.5, unit="kg", low=1e-6, high=100.0, source="assumed")
    """Mass of each link, with the actuator that it carries."""
    link_com: float = option(0.04, unit="m", low=-2.0, high=2.0, source=_TEMPLATE)
    """Distance of a link's centre of mass from its axis."""
    link_length: float = option(0.085, unit="m", low=0.05, high=2.0, source=_TEMPLATE)
    """Distance from an axis to the next one, or to the tip."""
    link_inertia: float = option(0.002, unit="kg m^2", low=1e-9, high=100.0, source=_TEMPLATE)
    """Inertia of a link about its centre of mass."""


def build(options: TwoJointOptions) -> Robot:
    """Return the arm."""
    from pliant.joints.options import actuator
    from pliant.robots.parts import box, capsule, cylinder, finished, interface_of, look_at, new_spec

    length = options.link_length
    height = BASE_HEIGHT[options.mounting]
    spec = new_spec("qbmove-2dof", options.timestep, extent=0.3, center=(0.06, 0.0, 0.6 * height))
    base = spec.worldbody.add_body(name="base", pos=[0.0, 0.0, height])
    half = 0.5 * CUBE
    if options.mounting == "horizontal":
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
        link.add_joint(name=joint, axis=[0.0, 0.0, 1.0], damping=[options.damping, 0.0, 0.0])
        set_inertia(link, options.link_mass, options.link_inertia, (options.link_com, 0.0, 0.0))
        # A fork around the cube: two cheeks and the plate that holds what follows.
        reach = half + 0.006
        for side in (-1.0, 1.0):
            z = side * (half + 0.005)
            cylinder(link, (0.0, 0.0, z - side * 0.002), (0.0, 0.0, z + side * 0.003), 0.021, "metal")
            capsule(link, (0.0, 0.0, z + side * 0.001), (reach, 0.0, z + side * 0.001), 0.005, "link")
        box(link, (0.006, 0.05, CUBE + 0.018), (reach + 0.003, 0.0, 0.0), "link")
        if number < len(JOINTS):
            box(
                link,
                (max(0.002, length - half - reach), 0.03, 0.03),
                (0.5 * (length - half + reach), 0, 0),
            )
            add_cube(link, "z", pos=(length, 0.0, 0.0), accent="blue")
        else:
            cylinder(link, (reach, 0.0, 0.0), (length - 0.012, 0.0, 0.0), 0.012, "trim")
            capsule(link, (length - 0.018, 0.0, 0.0), (length - 0.012, 0.0, 0.0), 0.012, "orange")
            link.add_site(name="tip", pos=[length, 0.0, 0.0], size=[0.003] * 3, rgba=[0.0, 0.0, 0.0, 0.0])
        parent, start = link, length
    camera = spec.worldbody.add_camera(name="front", pos=list(eye))
    look_at(camera, eye, target)
    camera.fovy = 34.0

    sets = ("identified-1", "identified-2") if options.springs == "identified" else (options.springs, options.springs)
    actuators = {joint: actuator(spring_law(name), options, options.preset) for joint, name in zip(JOINTS, sets)}
    return finished(Robot(spec, actuators, interface=interface_of("qbmove_2dof", actuators)))


ROBOT = CatalogueRobot(
    name="qbmove-2dof",
    summary="Arm of two qbMove Advanced, lying or hanging.",
    options=TwoJointOptions,
    function=build,
    source="Mengacci et al. 2021, doi 10.3389/frobt.2021.713083, sections 4.2.2 and 4.3",
    scenarios=("soft-then-stiff", "swing"),
    assumed=("Mass, centre of mass, length and inertia of the links; that the vertical mounting hangs at q = 0.",),
)

"""Arm of five qbMove Advanced over a floor with a box of 2 kg (Mengacci et al. 2021, section 4.2.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pliant.base.options import option
from pliant.joints.options import actuator
from pliant.joints.qbmove import CUBE, ArmOptions, add_cube, spring_law
from pliant.model import Robot
from pliant.model.inertia import set_inertia
from pliant.robots.catalogue import CatalogueRobot
from pliant.robots.parts import box, capsule, cylinder, finished, interface_of, look_at, new_spec

if TYPE_CHECKING:
    import mujoco

JOINTS = ("joint_1", "joint_2", "joint_3", "joint_4", "joint_5")
"""Names of the joints from the shoulder on: yaw, pitch, roll of the upper arm, pitch of the elbow and of the wrist."""
TIP = "tip"
"""Name of the site, of the body and of the ball at the end of the arm."""
BOX = "box"
"""Name of the box, its free joint and its geom."""
BALL = 0.014
"""Radius of the ball at the end of the arm [m]: assumed."""

_AXES = {"joint_1": "z", "joint_2": "y", "joint_3": "z", "joint_4": "y", "joint_5": "y"}
# At 0 the arm hangs along -z; a positive pitch swings what follows towards +x, as a rotation about -y does.
_SIGNS = {"z": 1.0, "y": -1.0}


_BOX = "Mengacci et al. 2021, section 4.2.3"


@dataclass(frozen=True, slots=True, kw_only=True)
class FiveJointOptions(ArmOptions):
    """Options of ``qbmove-5dof``."""

    springs: str = option("toolbox", choices=("toolbox", "kit", "maker-pro"), source="see pliant.joints.qbmove.SPRINGS")
    """Set of spring parameters of every joint."""
    module_mass: float = option(0.26, unit="kg", low=1e-6, high=10.0, source="assumed")
    """Mass of one qbMove with its bracket."""
    module_length: float = option(
        0.0665, unit="m", low=0.066, high=1.0, source="assumed: the edge of the cube, so cubes touch"
    )
    """Distance between neighbouring axes; the shoulder's two meet."""
    module_inertia: float = option(0.0005, unit="kg m^2", low=1e-9, high=1.0, source="assumed")
    """Inertia of a module about its centre."""
    tip_mass: float = option(0.05, unit="kg", low=1e-6, high=10.0, source="assumed")
    """Mass of the last link, a rod with a ball."""
    box_mass: float = option(2.0, unit="kg", low=1e-3, high=1000.0, source=_BOX)
    """Mass of the box."""
    box_side: float = option(0.265, unit="m", low=0.01, high=2.0, source=_BOX)
    """Edge of the box."""
    box_friction: float = option(0.23, low=0.0, high=10.0, source=f"{_BOX}, footnote 6")
    """Friction coefficient of box and floor."""
    box_distance: float = option(0.05, unit="m", low=-1.0, high=5.0, source="assumed")
    """Gap between the hanging tip and the box."""
    shoulder_height: float = option(
        0.4285, unit="m", low=0.0, high=5.0, source="assumed: the hanging tip is 30 mm above the middle of the box"
    )
    """Height of the shoulder's pitch axis over the floor."""
    tip_friction: float = option(0.5, low=0.0, high=10.0, source="assumed")
    """Friction coefficient of the tip on the box."""


def build(options: FiveJointOptions) -> Robot:
    """Return arm and box."""
    import mujoco

    length, side = options.module_length, options.box_side
    height = options.shoulder_height
    spec = new_spec("qbmove-5dof", options.timestep, extent=0.55, center=(0.10, 0.0, 0.22))
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 10.0
    # Without it a box that friction holds would creep.
    spec.option.noslip_iterations = 10
    spec.geom("floor").friction = [options.box_friction, 0.005, 0.0001]

    base = spec.worldbody.add_body(name="base", pos=[0.0, 0.0, height + CUBE])
    box(base, (0.30, 0.045, 0.030), (-0.09, 0.0, 0.5 * CUBE + 0.017), "stand")
    low, high = 0.008 - height - CUBE, 0.5 * CUBE + 0.017
    box(base, (0.044, 0.044, high - low), (-0.215, 0.0, 0.5 * (low + high)), "stand")
    box(base, (0.20, 0.24, 0.016), (-0.22, 0.0, 0.008 - height - CUBE), "stand")
    add_cube(base, "z")

    drop = [CUBE, 0.0, length, length, length]
    parent: Any = base
    for number, joint in enumerate(JOINTS, 1):
        axis = _AXES[joint]
        module = parent.add_body(name=f"link_{number}", pos=[0.0, 0.0, -drop[number - 1]])
        vector = [0.0, 0.0, 0.0]
        vector["xyz".index(axis)] = _SIGNS[axis]
        module.add_joint(name=joint, axis=vector, damping=[options.damping, 0.0, 0.0])
        # A link carries the cube of the next joint, a module's length further on; the shoulder's is on the spot.
        ahead = 0.0 if number == 1 else length
        last = number == len(JOINTS)
        mass, below = (options.tip_mass, 0.5 * ahead) if last else (options.module_mass, ahead)
        set_inertia(module, mass, options.module_inertia, (0.0, 0.0, -below))
        accent = "orange" if number % 2 else "blue"
        if axis == "y":
            _fork(module, ahead, last)
        else:
            cylinder(module, (0.0, 0.0, 0.5 * CUBE), (0.0, 0.0, 0.5 * CUBE - 0.006), 0.022, "metal")
        if not last:
            following = _AXES[JOINTS[number]]
            add_cube(module, following, pos=(0.0, 0.0, -ahead), accent=accent)
        parent = module
    capsule(parent, (0.0, 0.0, -0.5 * length), (0.0, 0.0, -length + BALL), 0.008, "link")
    tip = parent.add_geom(
        name=TIP,
        type=mujoco.mjtGeom.mjGEOM_SPHERE,
        size=[BALL, 0.0, 0.0],
        pos=[0.0, 0.0, -length],
        material="orange",
        friction=[options.tip_friction, 0.005, 0.0001],
        mass=0.0,
    )
    tip.condim = 3
    tip.priority = 1  # its friction holds against the box, also where the box's is larger
    parent.add_site(name=TIP, pos=[0.0, 0.0, -length], size=[0.004] * 3, rgba=[0.0, 0.0, 0.0, 0.0])

    crate = spec.worldbody.add_body(name=BOX, pos=[options.box_distance + BALL + 0.5 * side, 0.0, 0.5 * side])
    crate.add_freejoint(name=BOX)
    crate.add_geom(
        name=BOX,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=[0.5 * side] * 3,
        mass=options.box_mass,
        material="wood",
        friction=[options.box_friction, 0.005, 0.0001],
    )
    for sign in (-1.0, 1.0):
        box(
            crate,
            (side + 0.002, 0.030, side + 0.002),
            (0.0, sign * 0.36 * side, 0.0),
            "load",
        )
    camera = spec.worldbody.add_camera(name="front", pos=[0.55, -0.95, 0.50])
    look_at(camera, (0.55, -0.95, 0.50), (0.07, 0.0, 0.21))
    camera.fovy = 38.0

    actuators = {joint: actuator(spring_law(options.springs), options, options.preset) for joint in JOINTS}
    return finished(Robot(spec, actuators, interface=interface_of("qbmove_5dof", actuators)))


def _fork(body: mujoco.MjsBody, ahead: float, last: bool) -> None:
    half = 0.5 * CUBE
    down = -min(ahead, half + 0.004) if not last else -half - 0.004
    for side in (-1.0, 1.0):
        y = side * (half + 0.0045)
        cylinder(body, (0.0, y - side * 0.002, 0.0), (0.0, y + side * 0.003, 0.0), 0.020, "metal")
        capsule(body, (0.0, y, 0.0), (0.0, y, down + 0.002), 0.0055, "link")
    box(body, (0.040, CUBE + 0.016, 0.004), (0.0, 0.0, down), "link")


ROBOT = CatalogueRobot(
    name="qbmove-5dof",
    summary="Hanging arm of five qbMove Advanced, and a box of 2 kg on the floor.",
    options=FiveJointOptions,
    function=build,
    source="Mengacci et al. 2021, doi 10.3389/frobt.2021.713083, section 4.2.3",
    scenarios=("reach", "soft-then-stiff", "swing"),
    assumed=(
        "Arrangement, lengths, masses and inertias of the arm; that it hangs; where the box stands.",
        "The friction of the tip on the box (0.5).",
    ),
)

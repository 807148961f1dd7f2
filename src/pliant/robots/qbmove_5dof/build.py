"""Arm of five qbMove Advanced over a floor with a box of 2 kg (Mengacci et al. 2021, section 4.2.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pliant.robots.catalogue import CatalogueRobot, Option

if TYPE_CHECKING:
    from pliant.model import Robot

__all__ = ["BOX", "JOINTS", "ROBOT", "TIP", "build"]

JOINTS = ("joint_1", "joint_2", "joint_3", "joint_4", "joint_5")
"""Names of the joints from the shoulder on: yaw, pitch, roll of the upper arm, pitch of the elbow and of the wrist."""
TIP = "tip"
"""Name of the site, of the body and of the ball at the end of the arm."""
BOX = "box"
"""Name of the box, its free joint and its geom."""

_AXES = {"joint_1": "z", "joint_2": "y", "joint_3": "z", "joint_4": "y", "joint_5": "y"}
# At 0 the arm hangs along -z; a positive pitch swings what follows towards +x, as a rotation about -y does.
_SIGNS = {"z": 1.0, "y": -1.0}


def build(
    springs: str = "toolbox",
    preset: float = 0.2,
    module_mass: float = 0.26,
    module_length: float = 0.0665,
    module_inertia: float = 0.0005,
    tip_mass: float = 0.05,
    damping: float = 0.065,
    friction: float = 0.025,
    friction_stiffness: float = 1000.0,
    box_mass: float = 2.0,
    box_side: float = 0.265,
    box_friction: float = 0.23,
    box_distance: float = 0.05,
    mode: int = 6,
    timestep: float = 0.001,
) -> Robot:
    """Return arm and box; the arguments are the options of `ROBOT`."""
    import mujoco

    from pliant.laws import CompliantActuator
    from pliant.model import Robot
    from pliant.robots.parts import box, capsule, cylinder, finished, interface_of, link_friction, look_at, new_spec
    from pliant.robots.qbmove import CUBE, add_cube, spring_law

    reach = 4.0 * module_length
    tip_height = 0.5 * box_side + 0.03  # of the hanging tip: the bent arm then meets the box over its middle
    height = tip_height + reach
    spec = new_spec("qbmove-5dof", timestep, extent=0.55, center=(0.10, 0.0, 0.22))
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 10.0
    # Without it a box that friction holds would creep.
    spec.option.noslip_iterations = 10
    spec.geom("floor").friction = [box_friction, 0.005, 0.0001]

    base = spec.worldbody.add_body(name="base", pos=[0.0, 0.0, height + CUBE])
    box(base, (0.30, 0.045, 0.030), (-0.09, 0.0, 0.5 * CUBE + 0.017), "stand")
    low, high = 0.008 - height - CUBE, 0.5 * CUBE + 0.017
    box(base, (0.044, 0.044, high - low), (-0.215, 0.0, 0.5 * (low + high)), "stand")
    box(base, (0.20, 0.24, 0.016), (-0.22, 0.0, 0.008 - height - CUBE), "stand")
    add_cube(base, "z")

    drop = [CUBE, 0.0, module_length, module_length, module_length]
    parent: Any = base
    for number, joint in enumerate(JOINTS, 1):
        axis = _AXES[joint]
        module = parent.add_body(name=f"link_{number}", pos=[0.0, 0.0, -drop[number - 1]])
        vector = [0.0, 0.0, 0.0]
        vector["xyz".index(axis)] = _SIGNS[axis]
        module.add_joint(name=joint, axis=vector, damping=[damping, 0.0, 0.0])
        module.explicitinertial = True
        # A link carries the cube of the next joint, a module's length further on; the shoulder's is on the spot.
        ahead = 0.0 if number == 1 else module_length
        last = number == len(JOINTS)
        module.mass = tip_mass if last else module_mass
        module.ipos = [0.0, 0.0, -0.5 * ahead if last else -ahead]
        module.inertia = [module_inertia] * 3
        accent = "orange" if number % 2 else "blue"
        if axis == "y":
            _fork(module, ahead, last)
        else:
            cylinder(module, (0.0, 0.0, 0.5 * CUBE), (0.0, 0.0, 0.5 * CUBE - 0.006), 0.022, "metal")
        if not last:
            following = _AXES[JOINTS[number]]
            add_cube(module, following, pos=(0.0, 0.0, -ahead), accent=accent)
        parent = module
    capsule(parent, (0.0, 0.0, -0.5 * module_length), (0.0, 0.0, -module_length + 0.014), 0.008, "link")
    tip = parent.add_geom(
        name=TIP,
        type=mujoco.mjtGeom.mjGEOM_SPHERE,
        size=[0.014, 0.0, 0.0],
        pos=[0.0, 0.0, -module_length],
        material="orange",
        friction=[0.5, 0.005, 0.0001],
        mass=0.0,
    )
    tip.condim = 3
    parent.add_site(name=TIP, pos=[0.0, 0.0, -module_length], size=[0.004] * 3, rgba=[0.0, 0.0, 0.0, 0.0])

    crate = spec.worldbody.add_body(name=BOX, pos=[box_distance + 0.014 + 0.5 * box_side, 0.0, 0.5 * box_side])
    crate.add_freejoint(name=BOX)
    crate.add_geom(
        name=BOX,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=[0.5 * box_side] * 3,
        mass=box_mass,
        material="wood",
        friction=[box_friction, 0.005, 0.0001],
    )
    for sign in (-1.0, 1.0):
        box(crate, (box_side + 0.002, 0.030, box_side + 0.002), (0.0, sign * 0.36 * box_side, 0.0), "load")
    camera = spec.worldbody.add_camera(name="front", pos=[0.55, -0.95, 0.50])
    look_at(camera, (0.55, -0.95, 0.50), (0.07, 0.0, 0.21))
    camera.fovy = 38.0

    actuators = {
        joint: CompliantActuator(
            spring_law(springs),
            mode=mode,
            initial_preset=preset,
            link_friction=link_friction(friction, friction_stiffness),
        )
        for joint in JOINTS
    }
    return finished(Robot(spec, actuators, interface=interface_of("qbmove_5dof", actuators)))


def _fork(body: Any, ahead: float, last: bool) -> None:
    from pliant.robots.parts import box, capsule, cylinder
    from pliant.robots.qbmove import CUBE

    half = 0.5 * CUBE
    down = -min(ahead, half + 0.004) if not last else -half - 0.004
    for side in (-1.0, 1.0):
        y = side * (half + 0.0045)
        cylinder(body, (0.0, y - side * 0.002, 0.0), (0.0, y + side * 0.003, 0.0), 0.020, "metal")
        capsule(body, (0.0, y, 0.0), (0.0, y, down + 0.002), 0.0055, "link")
    box(body, (0.040, CUBE + 0.016, 0.004), (0.0, 0.0, down), "link")


def _number(name: str, default: float, unit: str, description: str, source: str, low: float, high: float) -> Option:
    return Option(name=name, default=default, unit=unit, description=description, source=source, low=low, high=high)


_PAPER = "Mengacci et al. 2021, section 4.2"
_BOX = "Mengacci et al. 2021, section 4.2.3"

ROBOT = CatalogueRobot(
    name="qbmove-5dof",
    summary="hanging arm of five qbMove Advanced, and a box of 2 kg on the floor",
    function=build,
    source="Mengacci et al. 2021, doi 10.3389/frobt.2021.713083, section 4.2.3",
    options=(
        Option(
            name="springs",
            default="toolbox",
            choices=("toolbox", "kit", "maker-pro"),
            description="Set of spring parameters of every joint.",
            source="see pliant.robots.qbmove.SPRINGS",
        ),
        _number("preset", 0.2, "rad", "Stiffness preset before the first command; stiff is 0.6.", _PAPER, -3.0, 3.0),
        _number("module_mass", 0.26, "kg", "Mass of one qbMove with its bracket.", "assumed", 1e-6, 10.0),
        _number(
            "module_length",
            0.0665,
            "m",
            "Distance between neighbouring axes; the shoulder's two meet.",
            "assumed: the edge of the cube, so cubes touch",
            0.066,
            1.0,
        ),
        _number("module_inertia", 0.0005, "kg m^2", "Inertia of a module about its centre.", "assumed", 1e-9, 1.0),
        _number("tip_mass", 0.05, "kg", "Mass of the last link, a rod with a ball.", "assumed", 1e-6, 10.0),
        _number("damping", 0.065, "N m s/rad", "Viscous damping of each bearing.", _PAPER, 0.0, 1000.0),
        _number("friction", 0.025, "N m", "Coulomb friction of each bearing, with presliding.", _PAPER, 0.0, 1000.0),
        _number(
            "friction_stiffness",
            1000.0,
            "N m/rad",
            "Presliding stiffness of that friction.",
            "assumed: that of the toolbox's motors",
            1e-3,
            1e6,
        ),
        _number("box_mass", 2.0, "kg", "Mass of the box.", _BOX, 1e-3, 1000.0),
        _number("box_side", 0.265, "m", "Edge of the box.", _BOX, 0.01, 2.0),
        _number("box_friction", 0.23, "", "Friction coefficient of box and floor.", _BOX + ", footnote 6", 0.0, 10.0),
        _number("box_distance", 0.05, "m", "Gap between the hanging tip and the box.", "assumed", 0.0, 5.0),
        Option(
            name="mode",
            default=6,
            low=0,
            high=6,
            description="Operation mode of the actuators, 0 to 6.",
            source="Mengacci et al. 2021, section 4.2",
        ),
        _number("timestep", 0.001, "s", "Length of a simulation step.", "assumed: none is printed", 1e-7, 0.1),
    ),
    assumed=(
        "Arrangement, lengths, masses and inertias of the arm; that it hangs; where the box stands.",
        "The friction of the tip on the box (0.5).",
    ),
)

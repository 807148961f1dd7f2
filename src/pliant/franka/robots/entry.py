"""The Franka arms in the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pliant.base.options import option
from pliant.robots.catalogue import CatalogueRobot

if TYPE_CHECKING:
    from pliant.model import Robot

TABLE_MIDDLE = (0.55, 0.0)
"""Middle of the table before the base [m]."""  # assumed
DUAL_TABLE = 0.3
"""Height of the bases of two arms over the table [m]."""  # assumed
TAG_DISTANCE = 0.5
"""Distance of the tag on the table from the axis of the base [m]."""  # assumed
_SOURCE = "Gaz et al. 2019 (RA-L), the vendor's published descriptions and interface; see the parameters' docstrings"
_AS_FR3 = ("Protocol versions, friction, motors, limits of acceleration, jerk and Cartesian motion: the FR3's.",)


@dataclass(frozen=True, slots=True, kw_only=True)
class FrankaOptions:
    """Options of the Franka arms."""

    hand: Literal["fingers", "vacuum", "none"] = "fingers"
    """What the arm carries: the two-finger hand, the vacuum gripper or nothing."""
    friction: bool = option(True, source="Gaz et al. 2019")
    """Whether the identified joint friction acts, and the cabinet compensates it."""
    static_friction: bool = option(True, source="LuGre, broken away from by half of a of Gaz et al. 2019; see the docs")
    """Whether joints at rest are held by static friction, which no controller compensates: without it, a load that was
    announced a little wrong sends the arm away under zero torques. Comparisons with the identified dynamics are exact
    only without it."""
    motor_inertia: float = option(
        0.15,
        low=0.0,
        high=1.0,
        source="fraction assumed; of the vendor's numbers for the FR3, quoted in Drake; for the FER assumed the same",
    )
    """Fraction of the motors' reflected inertia that the torque loops of the joints leave. 0: links without motors; 1:
    motors without torque loops."""
    torque_loop_bandwidth: float = option(100.0, unit="rad/s", low=0.0, high=2999.0, source="assumed")
    """Below it, an arm under torques of a client accelerates as its links alone would; above it, the inertia of the
    motors shows. 0: no such loop."""
    encoder_resolution: float = option(0.0, unit="rad", low=0.0, high=0.01, source="assumed: exact")
    """Step of the measured joint positions; the measured velocities change by the rate of the rounding error."""
    torque_sensor_noise: float = option(0.0, unit="N m", low=0.0, high=10.0, source="assumed: none")
    """Standard deviation of the measured torques, white in each millisecond."""
    torque_sensor_bias: float = option(0.0, unit="N m", low=0.0, high=10.0, source="assumed: none")
    """Standard deviation of a constant error of each torque sensor, drawn with the seed at the start of a run."""
    motor_noise: float = option(0.0, unit="N m", low=0.0, high=10.0, source="assumed: none")
    """Standard deviation of the motors' torques at the joints, white in each millisecond: the flange trembles by it."""
    height: float = option(0.5, unit="m", low=0.0, source="assumed")
    """Height of a single arm's base above the floor, on a pedestal. With 0, motions of the vendor's examples at the
    height of the base meet the floor."""
    camera: Literal["none", "wrist", "table", "both"] = option("none", source="place and lens assumed")
    """Cameras: "wrist" for one at the wrist of each arm, the device NAME_camera, 640 x 480 at 50 Hz; "table" for one
    that looks at the table in colour and depth, the device table_camera, 640 x 480 at 30 Hz; or both."""
    table: bool = option(False, source="size and place assumed")
    """Whether a table stands before the arm, its top as high as the base (0.3 m below two arms), on a scale: the device
    scale, a force/torque sensor."""
    objects: tuple[str, ...] = option((), source="sizes and places assumed")
    """What stands on the table, or on the floor without a table: box, cylinder, peg, hole, pad (compliant) or plate,
    each as KIND, KIND@X/Y with its place before the base in metres, or KIND@hand for one of them: between the fingers,
    or below what would touch it. Such as "box,pad@0.5/0.1"."""
    tag: Literal["none", "table"] = option("none", source="place assumed")
    """Whether AprilTag 0 of the family 36h11, 80 mm wide, lies before a single arm at the height of its base."""
    meshes: str = ""
    """What is drawn: empty for pliant's surfaces, "shapes" for the shapes that collide, "example-robot-data" for the
    vendor's meshes from the installed package, or a folder with link0 to link7, hand, finger as .obj, .stl or .dae."""


def _build(
    model: str,
    options: FrankaOptions,
    places: Mapping[str, tuple[tuple[float, float, float], tuple[float, float, float]]],
) -> Robot:
    """Return arms of one model; places: name -> position [m] and roll, pitch, yaw [rad] of the base."""
    from pliant.franka.device.imperfections import Imperfections
    from pliant.franka.device.settings import Settings
    from pliant.franka.robots.build import ArmMount, Surroundings, TagPlace, WristCamera, build_arms
    from pliant.franka.robots.parameters import arm
    from pliant.franka.robots.workcell import Table, parse_objects, table_camera

    imperfections = Imperfections(
        encoder_resolution=options.encoder_resolution,
        torque_sensor_noise=options.torque_sensor_noise,
        torque_sensor_bias=options.torque_sensor_bias,
        motor_noise=options.motor_noise,
    )
    mounts = [
        ArmMount(
            name=name,
            arm=arm(model),
            hand=options.hand,
            position=position,
            rpy=rpy,
            motor_inertia=options.motor_inertia,
            camera=WristCamera() if options.camera in ("wrist", "both") else None,
            imperfections=imperfections,
        )
        for name, (position, rpy) in places.items()
    ]
    height = options.height if len(mounts) == 1 else mounts[0].position[2] - DUAL_TABLE
    table = Table(position=(*TABLE_MIDDLE, height))
    looks_at = [table_camera(table)] if options.camera in ("table", "both") else []
    name = model if len(mounts) == 1 else f"{model}-dual"
    settings = Settings(torque_loop_bandwidth=options.torque_loop_bandwidth)
    around = Surroundings(
        tags=(TagPlace(position=(TAG_DISTANCE, 0.0, options.height)),) if options.tag == "table" else (),
        table=table if options.table else None,
        objects=tuple(parse_objects(options.objects)),
    )
    robot = build_arms(
        mounts,
        name=name,
        friction=options.friction,
        static_friction=options.static_friction,
        meshes=options.meshes,
        settings=settings,
        around=around,
    )
    robot.devices += looks_at
    return robot


def _on_pedestal(model: str) -> Callable[[FrankaOptions], Robot]:
    """Return what builds one arm of a model on a pedestal."""

    def build(options: FrankaOptions) -> Robot:
        return _build(model, options, {"franka": ((0.0, 0.0, options.height), (0.0, 0.0, 0.0))})

    return build


@dataclass(frozen=True, slots=True, kw_only=True)
class FrankaWorkcellOptions(FrankaOptions):
    """Options of the workcell: those of the arm, with a table, objects and cameras."""

    camera: Literal["none", "wrist", "table", "both"] = "both"
    table: bool = True
    objects: tuple[str, ...] = ("box", "cylinder", "peg", "hole", "pad")


def build_dual(options: FrankaOptions) -> Robot:
    """Return two Franka Research 3 on a torso, their bases leaning outwards by 45 degrees."""
    lean = 0.7853981633974483
    places = {"left": ((0.0, 0.1, 1.0), (-lean, 0.0, 0.0)), "right": ((0.0, -0.1, 1.0), (lean, 0.0, 0.0))}
    return _build("fr3", options, places)


@dataclass(frozen=True, slots=True, kw_only=True)
class FrankaTorsoOptions:
    """Options of the torso with two arms."""

    camera: Literal["none", "wrist"] = option("none", source="place and lens assumed")
    """Whether the right arm has a camera at its wrist: the device right_camera, 640 x 480 at 50 Hz."""
    tag: Literal["none", "held"] = option("none", source="section IV-B; size and place assumed")
    """Whether the left hand holds AprilTag 0 of the family 36h11, 80 mm wide."""
    obstacle: bool = option(True, source="section IV-B; shape and place assumed")
    """Whether the post stands on the work table."""
    friction: bool = option(True, source="Gaz et al. 2019")
    """Whether the identified joint friction acts, and the cabinets compensate it."""
    motor_inertia: float = option(0.15, low=0.0, high=1.0, source="see FrankaOptions")
    """Fraction of the motors' reflected inertia that the torque loops of the joints leave."""
    meshes: str = ""
    """What is drawn, as in FrankaOptions; empty for pliant's surfaces."""


def build_torso(options: FrankaTorsoOptions) -> Robot:
    """Return the torso with two FER, hands, and the work table: FrankaSim's dual-arm manipulator."""
    from pliant.franka.robots.torso import torso

    return torso(
        camera=options.camera == "wrist",
        tag=options.tag == "held",
        obstacle=options.obstacle,
        friction=options.friction,
        motor_inertia=options.motor_inertia,
        meshes=options.meshes,
    )


def _single(name: str, model: str, summary: str, assumed: tuple[str, ...] = ()) -> CatalogueRobot:
    """Return the entry of one arm on a pedestal."""
    return CatalogueRobot(
        name=name, function=_on_pedestal(model), summary=f"{summary}; serve it with --bridge fci.", source=_SOURCE,
        scenarios=("nod",), options=FrankaOptions, assumed=assumed,
    )  # fmt: skip


ROBOTS = (
    _single("franka", "fer", "Franka Emika Robot (Panda) with hand"),
    _single("fr3", "fr3", "Franka Research 3 with hand"),
    _single("fp3", "fp3", "Franka Production 3 with hand: the FR3's links, the published limits", _AS_FR3),
    _single("fr3v2", "fr3v2", "Franka Research 3 v2 with hand: its published links", _AS_FR3),
    CatalogueRobot(
        name="fr3-workcell",
        summary="Franka Research 3 before a table on a scale: box, cylinder, peg and hole, compliant pad, two cameras.",
        function=_on_pedestal("fr3"),
        source=_SOURCE,
        scenarios=("nod",),
        options=FrankaWorkcellOptions,
        assumed=("Sizes, places, masses, friction and stiffness of table and objects; places of the cameras.",),
    ),
    CatalogueRobot(
        name="franka-dual",
        summary="Two Franka Research 3 on a torso, each with its own address.",
        function=build_dual,
        scenarios=("push-on-both-hands",),
        source=_SOURCE,
        options=FrankaOptions,
        assumed=("Height, distance and lean of the two bases: 1 m, 0.2 m, 45 degrees.",),
    ),
    CatalogueRobot(
        name="franka-torso",
        summary="Two FER at the sides of a torso, wrench sensor at the right wrist, work table; as in FrankaSim.",
        function=build_torso,
        scenarios=("push-on-both-hands",),
        source="Oliva et al. 2022 (ICARCV), section IV-B; " + _SOURCE,
        options=FrankaTorsoOptions,
        assumed=(
            "Place and direction of the bases: 1.2 m high, 0.3 m apart, their axes to the sides and level.",
            "Place of camera and tag; table and post; stiffness and friction of the post.",
        ),
    ),
)

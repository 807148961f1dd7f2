"""The arms as robots.

`world` puts any number of arms of `pliant.franka.robots.arm_model` into one scene, each with its mounting, and
`build_arms` adds their controllers: the robot that `pliant run` runs.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.base.errors import ModelError
from pliant.base.numerics import Array
from pliant.base.spatial import pose, quaternion_from_rotation, rotation_from_rpy
from pliant.franka.device.arm import FrankaArmDescription
from pliant.franka.device.imperfections import NO_IMPERFECTIONS, Imperfections
from pliant.franka.device.parameters import D_FLANGE, Arm, HandName, Payload
from pliant.franka.device.plant import OPENING
from pliant.franka.device.settings import Settings
from pliant.franka.robots.arm_model import GREY, MOTOR_INERTIA, arm_spec, set_inertia
from pliant.franka.robots.parameters import CUP, EE_OF_CUP, EE_OF_HAND, FER, FRANKA_HAND, HAND, VACUUM_GRIPPER
from pliant.franka.robots.urdf import urdf
from pliant.franka.robots.workcell import TOUCH, Table, TableObject, add_objects, add_table
from pliant.model import Camera, ForceTorque, Robot

if TYPE_CHECKING:
    import mujoco

Q_START = np.array([0.0, -0.6, 0.0, -2.2, 0.0, 1.6, 0.785])
"""Start of a simulated arm [rad]: near the ready pose but not in it, because a client that moves to the ready pose
refuses a path of zero length."""

_SKIN = 0.8
"""Impedance of the contact with a padded block: softer than MuJoCo's 0.9 to 0.95."""  # assumed


@dataclass(frozen=True, slots=True, kw_only=True)
class WristCamera:
    """A camera at the flange, without mass: the arm's hand and load are told to the cabinet, the camera's is not."""

    position: tuple[float, float, float] = (0.0495, 0.0495, 0.02)
    """Of the optical frame in the flange [m]: where the fingers do not hide the view. It lies inside the box that
    stands for the hand in collisions, through which it sees; (0.0495, -0.0495, 0.02) is beside the hand."""  # assumed
    rpy: tuple[float, float, float] = (0.0, 0.0, -0.25 * math.pi)
    """Of the optical frame in the flange, roll, pitch, yaw [rad]: it looks along the flange's z, x across the
    fingers."""  # assumed
    fovy: float = 42.5
    """Vertical field of view [deg]."""  # assumed; as the colour sensor of a RealSense D435 (datasheet, 42.5)
    width: int = 640
    """Columns."""
    height: int = 480
    """Rows."""
    rate: float = 50.0
    """Images a second [Hz]; the paper's visual loop has 20 ms."""

    @property
    def F_T_C(self) -> Array:
        """Pose of the optical frame in the flange, shape (4, 4)."""
        return pose(self.position, rotation_from_rpy(self.rpy))


@dataclass(frozen=True, slots=True, kw_only=True)
class TagPlace:
    """An AprilTag in the world."""

    tag_id: int = 0
    """Its number in the family 36h11."""
    size: float = 0.08
    """Edge of its black border [m]; 0.08 is that of ViSP's demonstrations."""
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Of its frame [m]."""
    rpy: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Of its frame, roll, pitch, yaw [rad]: x to the right of the print, y up, z out of it."""
    pedestal: bool = True
    """Whether it lies on a pedestal, to look at only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldTag:
    """An AprilTag that a hand holds between its fingers; it weighs nothing and collides with nothing."""

    tag_id: int = 0
    """Its number in the family 36h11."""
    size: float = 0.08
    """Edge of its black border [m]."""
    position: tuple[float, float, float] = (0.0, 0.0, 0.03)
    """Of its frame in the nominal end effector [m]: beyond the fingertips."""  # assumed
    rpy: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Of its frame in the nominal end effector, roll, pitch, yaw [rad]; the print looks away from the hand."""

    @property
    def EE_T_O(self) -> Array:
        """Pose of the tag in the nominal end effector, shape (4, 4)."""
        return pose(self.position, rotation_from_rpy(self.rpy))


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A box in the world, fixed or on a padding."""

    name: str
    """Name of its geom."""
    position: tuple[float, float, float]
    """Of its middle [m]."""
    size: tuple[float, float, float]
    """Its edges [m]."""
    rgba: tuple[float, float, float, float] = GREY
    """Its colour."""
    stiffness: float = math.inf
    """Of its padding along x, by which the whole box yields [N/m]; infinite: it is fixed."""
    damping: float = 0.0
    """Of the padding [N s/m]."""
    mass: float = 0.2
    """Of what yields [kg]."""
    friction: float = 1.0
    """Coefficient of sliding friction."""
    collides: bool = True
    """Whether arms collide with it; False for something to look at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmMount:
    """One arm in a world."""

    name: str = "franka"
    """Prefix of its bodies, joints and actuators."""
    arm: Arm = FER
    """`FER` or `FR3`."""
    hand: HandName = "fingers"
    """End effector: the two-finger hand, the vacuum gripper or nothing."""
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Of the base in the world [m]."""
    rpy: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Of the base in the world, fixed-axis roll, pitch, yaw [rad]."""
    q: tuple[float, ...] = tuple(Q_START.tolist())
    """Joint positions at start [rad]."""
    opening: float = OPENING
    """Opening of the fingers at start [m]; the whole stroke where something to grasp stands between them."""
    motor_inertia: float = MOTOR_INERTIA
    """Fraction of the motors' reflected inertia that the torque loops of the joints leave, 0 to 1."""  # assumed
    camera: WristCamera | None = None
    """A camera at the flange; its device is called ``{name}_camera``."""
    wrench_sensor: bool = False
    """Whether a force/torque sensor sits between flange and hand; its device is called ``{name}_wrench``."""
    tag: HeldTag | None = None
    """A tag in the hand; its site is called ``{name}_tag``. It needs the extra ``vision``."""
    imperfections: Imperfections = NO_IMPERFECTIONS
    """Of its sensors and motors."""

    def rotation(self) -> Array:
        """Return the base's rotation in the world, shape (3, 3)."""
        return rotation_from_rpy(self.rpy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Tags, boxes, a table and objects around the arms."""

    tags: Sequence[TagPlace] = ()
    """AprilTags in the world; they need the extra ``vision``."""
    blocks: Sequence[Block] = ()
    """Boxes in the world."""
    table: Table | None = None
    """A table on a scale, the device ``scale``."""
    objects: Sequence[TableObject] = ()
    """Placed on the table, or on the floor where there is none; see `workcell`."""
    pedestals: bool = True
    """Whether each base above the floor stands on a pedestal, to look at only."""


def world(mounts: Sequence[ArmMount] = (ArmMount(),), *, pedestals: bool = True) -> mujoco.MjSpec:
    """Return a scene with arms, each on its own mounting, and a floor at z = 0 that collides with no base.

    Args:
        mounts: the arms; their names must differ.
        pedestals: whether each base above the floor stands on a pedestal, to look at only.

    Raises:
        ModelError: two arms of one name, or a start of the wrong length.
    """
    import mujoco

    from pliant.robots.parts import add_floor, add_sky

    names = [m.name for m in mounts]
    if len(set(names)) != len(names):
        raise ModelError(f"two arms have the same name: {names}", field="name")
    spec = mujoco.MjSpec()
    spec.option.timestep = 1e-3
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.compiler.degree = False
    light = spec.worldbody.add_light(pos=[1.0, -1.5, 4], dir=[-0.25, 0.35, -1], diffuse=[0.45, 0.45, 0.45])
    light.type = mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
    light.specular = [0.15, 0.15, 0.15]
    spec.visual.headlight.ambient = [0.36, 0.36, 0.36]
    spec.visual.headlight.diffuse = [0.2, 0.2, 0.2]
    spec.visual.headlight.specular = [0.1, 0.1, 0.1]
    add_sky(spec)
    add_floor(spec, (3.0, 3.0, 0.1))
    for mount in mounts:
        if len(mount.q) != 7:
            raise ModelError(f"{mount.name}: {len(mount.q)} start positions, not 7", field="q")
        child = arm_spec(mount.arm, name="", hand=mount.hand, motor_inertia=mount.motor_inertia)
        x, y, z = mount.position
        if pedestals and z > 0.0:
            # to look at only: nothing collides with it
            spec.worldbody.add_geom(
                name=f"{mount.name}_pedestal",
                type=mujoco.mjtGeom.mjGEOM_CYLINDER,
                size=[0.08, 0.5 * z, 0.0],
                pos=[x, y, 0.5 * z],
                rgba=list(GREY),
                contype=0,
                conaffinity=0,
            )
        frame = spec.worldbody.add_frame(pos=list(mount.position), quat=quaternion_from_rotation(mount.rotation()))
        frame.attach_body(child.body("link0"), f"{mount.name}_", "")
    return spec


def _rows(T: Array) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, T.tolist()))


_END_EFFECTORS: dict[HandName, tuple[Payload | None, tuple[tuple[float, ...], ...] | None]] = {
    "fingers": (FRANKA_HAND, _rows(EE_OF_HAND)),
    "vacuum": (VACUUM_GRIPPER, _rows(EE_OF_CUP)),
    "none": (None, None),
}
"""End effector of the mount -> its inertia, and the pose of the nominal end effector in the flange."""


def build_arms(
    mounts: Sequence[ArmMount] = (ArmMount(),),
    *,
    name: str = "franka",
    friction: bool = True,
    static_friction: bool = False,
    settings: Settings | None = None,
    load: Payload | None = None,
    meshes: str = "",
    around: Surroundings = Surroundings(),
) -> Robot:
    """Return a robot of Franka arms with their controllers, at rest at their start positions.

    Args:
        mounts: the arms; their names must differ.
        name: name of the model.
        friction: whether the identified joint friction acts.
        static_friction: whether static friction acts too, which holds a joint at rest and nobody compensates.
        settings: gains, thresholds and checks of every cabinet.
        load: a body fixed to the flange of every arm beside the hand, unknown to the controller until it is told.
        meshes: what is drawn: "" for pliant's surfaces, "shapes" for the shapes that collide, else a folder of meshes
            or the name of an installed package.
        around: what stands around the arms.

    Raises:
        ModelError: two arms of one name, a start of the wrong length, meshes that are not found, a force/torque
            sensor or a tag without a hand, or an object at a hand that is too low.
        MissingDependency: tags are asked for, and pyapriltags is not installed.
    """
    if any(thing.at_hand and thing.graspable for thing in around.objects):
        mounts = [dataclasses.replace(mounts[0], opening=HAND.max_width), *mounts[1:]]
    spec = world(mounts, pedestals=around.pedestals)
    for block in around.blocks:
        _add_block(spec, block)
    for mount in mounts:
        if mount.hand != "fingers" and (mount.wrench_sensor or mount.tag is not None):
            what = "force/torque sensor" if mount.wrench_sensor else "tag"
            raise ModelError(
                f"{mount.name}: a {what} with hand {mount.hand!r}; must be hand 'fingers', which carries it",
                field="hand",
            )
        if mount.tag is not None:
            _add_held_tag(spec, mount)
        if load is not None and load.mass > 0.0:
            _add_load(spec, mount.name, load)
    for tag in around.tags:
        _add_tag(spec, tag)
    scales = add_table(spec, around.table) if around.table is not None else []
    if around.objects:
        _add_objects(spec, mounts[0], around.table, around.objects)
    compiled = spec.compile()  # before the surfaces, which cost more than all else
    qpos = compiled.qpos0.copy()
    for mount in mounts:
        for i, angle in enumerate(mount.q, start=1):
            qpos[compiled.joint(f"{mount.name}_joint{i}").qposadr[0]] = angle
        for i in (1, 2) if mount.hand == "fingers" else ():
            qpos[compiled.joint(f"{mount.name}_finger{i}").qposadr[0]] = 0.5 * mount.opening
        _dress(spec, mount, meshes)
    spec.add_key(name="rest", qpos=qpos)
    spec.modelname = name
    joints = {"friction": friction, "static_friction": static_friction}
    arms = [_arm(mount, joints, settings or Settings()) for mount in mounts]
    cameras = [_camera(mount) for mount in mounts if mount.camera is not None]
    wrenches = [_wrench(mount) for mount in mounts if mount.wrench_sensor]
    return Robot(spec, devices=[*arms, *cameras, *wrenches, *scales])


def _add_objects(spec: mujoco.MjSpec, mount: ArmMount, table: Table | None, objects: Sequence[TableObject]) -> None:
    """Put objects on the table, or on the floor, and at the hand of an arm."""
    hand = np.zeros(3)
    if any(thing.at_hand for thing in objects):  # else nothing here needs numba
        from pliant.franka.robots.kinematics import forward_kinematics

        F_T_NE = _END_EFFECTORS[mount.hand][1]
        B_T_EE = forward_kinematics(mount.q, F_T_EE=np.eye(4) if F_T_NE is None else np.array(F_T_NE))
        hand = np.asarray(mount.position) + mount.rotation() @ B_T_EE[:3, 3]
    top = (mount.position[0], mount.position[1], 0.0) if table is None else table.position
    base = (mount.position[0], mount.position[1])
    add_objects(spec, objects, top=top, base=base, hand=hand, touch=TOUCH[mount.hand])


def _dress(spec: mujoco.MjSpec, mount: ArmMount, meshes: str) -> None:
    """Give an arm what is drawn in place of its shapes."""
    if meshes == "shapes":
        return
    if meshes:
        from pliant.franka.robots.meshes import add_meshes

        add_meshes(spec, f"{mount.name}_", meshes)
    else:
        from pliant.franka.robots.looks import add_looks

        add_looks(spec, f"{mount.name}_", hand=mount.hand == "fingers")


def _arm(mount: ArmMount, joints: dict[str, Any], settings: Settings) -> FrankaArmDescription:
    """Return the description of an arm with its controller."""
    end_effector, F_T_NE = _END_EFFECTORS[mount.hand]
    return FrankaArmDescription(
        name=mount.name,
        arm=mount.arm,
        q=tuple(mount.q),
        opening=mount.opening,
        hand=HAND if mount.hand == "fingers" else None,
        cup=CUP if mount.hand == "vacuum" else None,
        end_effector=end_effector,
        F_T_NE=F_T_NE,
        **joints,
        settings=settings,
        imperfections=mount.imperfections,
        urdf=urdf(mount.arm),
    )


def _wrench(mount: ArmMount) -> ForceTorque:
    """Return the description of an arm's force/torque sensor: its frame is the flange's, its load is the hand."""
    return ForceTorque(name=f"{mount.name}_wrench", body=f"{mount.name}_hand", rate=1000.0)


def _camera(mount: ArmMount) -> Camera:
    """Return the description of an arm's wrist camera, whose body is the one that carries the flange."""
    camera = mount.camera or WristCamera()
    X = camera.F_T_C
    return Camera(
        name=f"{mount.name}_camera",
        body=f"{mount.name}_link7",
        pos=(float(X[0, 3]), float(X[1, 3]), float(X[2, 3]) + D_FLANGE),
        quat=tuple(quaternion_from_rotation(X[:3, :3]).tolist()),
        fovy=camera.fovy,
        width=camera.width,
        height=camera.height,
        rate=camera.rate,
    )


def _add_tag(spec: mujoco.MjSpec, tag: TagPlace) -> None:
    import mujoco

    from pliant.vision.tags import add_tag

    x, y, z = tag.position
    R = rotation_from_rpy(tag.rpy)
    add_tag(spec, tag.tag_id, tag.size, pos=tag.position, quat=tuple(quaternion_from_rotation(R).tolist()))
    if tag.pedestal and z > 0.01:
        spec.worldbody.add_geom(
            name=f"tag{tag.tag_id}_pedestal",
            type=mujoco.mjtGeom.mjGEOM_BOX,
            size=[0.9 * tag.size, 0.9 * tag.size, 0.5 * z - 0.002],
            pos=[x, y, 0.5 * z - 0.002],
            rgba=list(GREY),
            contype=0,
            conaffinity=0,
        )


def _add_held_tag(spec: mujoco.MjSpec, mount: ArmMount) -> None:
    from pliant.vision.tags import add_tag

    assert mount.tag is not None
    X = EE_OF_HAND @ mount.tag.EE_T_O  # the hand's body has the flange's frame
    x, y, z = X[:3, 3].tolist()
    add_tag(
        spec,
        mount.tag.tag_id,
        mount.tag.size,
        body=f"{mount.name}_hand",
        pos=(x, y, z),
        quat=tuple(quaternion_from_rotation(X[:3, :3]).tolist()),
        name=f"{mount.name}_tag",
    )


def _add_block(spec: mujoco.MjSpec, block: Block) -> None:
    import mujoco

    soft = math.isfinite(block.stiffness)
    carrier = spec.worldbody
    if soft:
        # The friction cones of MuJoCo part surfaces that slide, at the friction coefficient times the sliding speed.
        # With pyramids or a hard skin this opens a contact with a light block for single steps, at any force.
        spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        carrier = carrier.add_body(name=block.name, pos=list(block.position))
        carrier.add_joint(
            name=block.name,
            type=mujoco.mjtJoint.mjJNT_SLIDE,
            axis=[1, 0, 0],
            stiffness=[block.stiffness, 0, 0],
            damping=[block.damping, 0, 0],
        )
    geom = carrier.add_geom(
        name=block.name,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=[0.5 * edge for edge in block.size],
        pos=[0.0, 0.0, 0.0] if soft else list(block.position),
        rgba=list(block.rgba),
        mass=block.mass if soft else 0.0,
        friction=[block.friction, 0.005, 0.0001],
        priority=1,  # its surface decides, not the finger's
        condim=3,
        contype=int(block.collides),
        conaffinity=int(block.collides),
    )
    if soft:
        geom.solimp[:2] = _SKIN, _SKIN


def _add_load(spec: mujoco.MjSpec, arm: str, load: Payload) -> None:
    body = spec.body(f"{arm}_link7").add_body(name=f"{arm}_load", pos=[0.0, 0.0, D_FLANGE])
    xx, xy, xz, _, yy, yz, _, _, zz = load.inertia
    point = 1e-9  # [kg m^2]: MuJoCo takes no point masses
    set_inertia(body, load.mass, load.center_of_mass, (xx + point, xy, xz, yy + point, yz, zz + point))

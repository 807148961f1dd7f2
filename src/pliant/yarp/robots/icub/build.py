"""The iCub in the catalogue: the files of icub-models, where they are installed, on a floor."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pliant.base.errors import ModelError, importing, nearest
from pliant.base.options import option
from pliant.robots.catalogue import CatalogueRobot

if TYPE_CHECKING:
    import mujoco

    from pliant.model import Robot

PACKAGE = "icub-models"
FOLDER_VARIABLE = "ICUB_MODELS_PATH"
"""Variable of the environment with the folder share/iCub of the package, where it is not installed for Python."""
ARMATURE = 0.01
"""Reflected inertia of the motors of a real iCub [kg m^2].  # assumed: the smallest round value that keeps it stable"""
SOURCE = "icub-models 3.2 of the Italian Institute of Technology (CC BY-SA 4.0), read where it is installed"


@dataclass(frozen=True, slots=True, kw_only=True)
class IcubOptions:
    """Options of the iCub."""

    variant: str = option("iCubGazeboV2_5", source=SOURCE)
    """Robot of the package: the name of a folder in share/iCub/robots."""
    base: Literal["floating", "fixed"] = option(
        "floating", source="Gazebo: a model without a joint to the world floats"
    )
    """Whether the root link floats, with the feet on the ground at the start, or is fixed in the air."""
    feet: Literal["as given", "box"] = option("as given", source="of pliant")
    """Shape of the soles: as in the description, or a box around each foot, which touches at its four corners."""
    armature: float | None = option(None, unit="kg m^2", low=0.0, high=10.0, source="assumed: the description has none")
    """Reflected inertia of the motors, added to every joint. None: 0 for the variants made for simulation, which are
    called iCubGazebo, and 0.01 for the others, whose small links are unstable under their own gains without it."""
    height: float = option(0.0, unit="m", low=-1.0, high=10.0, source="of pliant")
    """Clearance of the soles over the ground at the start; of a fixed base, where that is 0, it is 0.5 m."""
    timestep: float = option(0.001, unit="s", low=1e-5, high=0.01, source="the world of icub-models")
    """Length of a simulation step."""


def robots_folder() -> Path:
    """Return the folder share/iCub/robots of icub-models.

    Raises:
        MissingDependency: the package is not installed and ICUB_MODELS_PATH names no folder.
        ModelError: ICUB_MODELS_PATH names a folder without robots.
    """
    given = os.environ.get(FOLDER_VARIABLE, "")
    if given:
        folder = Path(given).expanduser()
        for candidate in (folder / "robots", folder / "iCub" / "robots", folder / "share" / "iCub" / "robots", folder):
            if any(candidate.glob("*/model.urdf")):
                return candidate
        raise ModelError(
            f"{FOLDER_VARIABLE} is {given!r}, which contains no robots/NAME/model.urdf; must be the folder share/iCub "
            f"of {PACKAGE}",
            field=FOLDER_VARIABLE,
        )
    with importing(PACKAGE, command=f"pip install {PACKAGE}", purpose="the robot icub"):
        import icub_models  # type: ignore[import-not-found]
    return Path(icub_models.get_models_path())


def build(options: IcubOptions) -> Robot:
    """Return an iCub of icub-models on a floor, with its control boards, sensors and YARP servers."""
    from pliant.formats.source import Source
    from pliant.formats.urdf_robot import read_urdf
    from pliant.model import REST_KEY
    from pliant.robots.parts import add_scene, finished
    from pliant.yarp.model.services import add_external_wrench

    folder = robots_folder()
    path = folder / options.variant / "model.urdf"
    if not path.is_file():
        names = [p.parent.name for p in folder.glob("*/model.urdf")]
        raise ModelError(
            f"icub: variant is {options.variant!r}; {nearest(options.variant, names, limit=30)}", field="variant"
        )

    def load_other(other: str | Path) -> Robot:
        raise ModelError(f"a URDF of {PACKAGE} names another robot: {other}", file=path)

    robot = read_urdf(Source(path=path, load=load_other))
    robot.notes[:] = [note for note in robot.notes if "is fixed to the world" not in note]
    rest = _initial_positions(robot, REST_KEY)
    for key in list(robot.spec.keys):
        robot.spec.delete(key)
    robot.spec.option.timestep = options.timestep
    add_scene(robot.spec, extent=0.7, center=(0.0, 0.0, 0.5))
    root = robot.spec.worldbody.first_body()
    if options.base == "floating":
        root.add_freejoint(name=f"{root.name}/free")
    own = 0.0 if options.variant.startswith("iCubGazebo") else ARMATURE
    for joint in robot.spec.joints:
        if joint.name in rest:
            joint.armature += own if options.armature is None else options.armature
    _add_motors(robot, rest)
    add_external_wrench(robot)
    if options.feet == "box":
        _box_feet(robot)
    clearance = options.height or (0.5 if options.base == "fixed" else 0.0)
    _place(robot, root, rest, clearance, REST_KEY, floating=options.base == "floating")
    return finished(robot)


def _initial_positions(robot: Robot, key: str) -> dict[str, float]:
    """Return the positions at the start by joint: those of the control boards, else 0."""
    qpos = next((list(k.qpos) for k in robot.spec.keys if k.name == key), [0.0] * len(robot.joints))
    return dict(zip(robot.joints, map(float, qpos), strict=True))


def _add_motors(robot: Robot, joints: Iterable[str]) -> None:
    """Give a torque motor to the joints that no control board moves: some variants have no plugins."""
    import mujoco

    from pliant.control_boards.description import ControlBoard

    driven = {joint for d in robot.devices if isinstance(d, ControlBoard) for joint in d.joint_names}
    for joint in joints:
        if joint not in driven:
            motor = robot.spec.add_actuator(name=joint)
            motor.target = joint
            motor.trntype = mujoco.mjtTrn.mjTRN_JOINT
            motor.gainprm[0] = 1.0


def _box_feet(robot: Robot) -> None:
    """Replace the meshes of the feet, as far as they collide, by boxes around them."""
    import mujoco
    import numpy as np

    model = robot.spec.copy().compile()
    for geom in list(robot.spec.geoms):
        name = geom.parent.name
        if geom.type != mujoco.mjtGeom.mjGEOM_MESH or not geom.contype or name not in ("l_foot", "r_foot"):
            continue
        body = model.body(name).id
        first, count = model.body_geomadr[body], model.body_geomnum[body]
        for i in range(first, first + count):
            if model.geom_type[i] == mujoco.mjtGeom.mjGEOM_MESH and model.geom_contype[i]:
                box = model.geom_aabb[i]
                turn = np.zeros(9)
                mujoco.mju_quat2Mat(turn, model.geom_quat[i])
                center = model.geom_pos[i] + turn.reshape(3, 3) @ box[:3]
                geom.parent.add_geom(
                    type=mujoco.mjtGeom.mjGEOM_BOX,
                    size=box[3:],
                    pos=center,
                    quat=model.geom_quat[i],
                    friction=model.geom_friction[i],
                    group=3,
                    mass=0.0,
                )
        geom.contype = geom.conaffinity = 0


def _place(
    robot: Robot, root: mujoco.MjsBody, rest: dict[str, float], clearance: float, key: str, *, floating: bool
) -> None:
    """Set the height of the root so that the lowest shape has a clearance, and give the spec its key frame."""
    import mujoco
    import numpy as np

    model = robot.spec.copy().compile()
    data = mujoco.MjData(model)
    for name, value in rest.items():
        data.qpos[model.joint(name).qposadr[0]] = value
    mujoco.mj_forward(model, data)
    lowest = np.inf
    for i in range(model.ngeom):
        if model.geom_bodyid[i] == 0 or not (model.geom_contype[i] or model.geom_conaffinity[i]):
            continue
        turn = data.geom_xmat[i].reshape(3, 3)
        if model.geom_type[i] == mujoco.mjtGeom.mjGEOM_MESH:
            mesh = model.geom_dataid[i]
            start, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
            z = float((model.mesh_vert[start : start + count] @ turn[2]).min())
        else:
            box = model.geom_aabb[i]
            z = float(turn[2] @ box[:3] - np.abs(turn[2]) @ box[3:])
        lowest = min(lowest, float(data.geom_xpos[i][2]) + z)
    up = clearance - (lowest if np.isfinite(lowest) else 0.0)
    root.pos = [root.pos[0], root.pos[1], root.pos[2] + up]
    qpos = data.qpos.copy()
    if floating:
        address = model.joint(f"{root.name}/free").qposadr[0]
        qpos[address + 2] += up
    robot.spec.add_key(name=key, qpos=qpos)


ROBOT = CatalogueRobot(
    name="icub",
    summary=f"iCub of the package icub-models (pip install {PACKAGE}), with its YARP interface.",
    options=IcubOptions,
    function=build,
    source=SOURCE,
    package=PACKAGE,
    scenarios=("push-icub",),
    assumed=(
        "That the soles touch the ground at the start; worlds of Gazebo drop the robot from a small height.",
        "The reflected inertia of the motors: the descriptions give none.",
    ),
)

"""Data of the present foot of a robot for its replacement: shapes, extent, side, inertia."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import mujoco
import numpy as np

from pliant.base.errors import ModelError, nearest
from pliant.base.numerics import GRAVITY, Array
from pliant.feet.model.description import FootDescription, Side
from pliant.feet.model.geometry import Extent, Pose, extent_of, pose_of
from pliant.feet.model.part import ReplacedFoot
from pliant.feet.model.support import level_pitch
from pliant.model.description import Description
from pliant.model.sensors import ForceTorque


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenInertia:
    """Mass properties of a body as it was compiled."""

    index: int
    """Index of the body in the spec and in the model."""
    mass: float
    """Mass [kg]."""
    center: Array
    """Centre of mass [m]."""
    frame: Array
    """Orientation of the principal axes (w, x, y, z)."""
    inertia: Array
    """Principal moments [kg m^2]."""


def refuse_body(robot: Description, name: str) -> None:
    names = [b.name for b in robot.spec.bodies if b.name and b.name != "world"]
    body = next((b for b in robot.spec.bodies if b.name == name and name != "world"), None)
    if body is None:
        raise ModelError(f"replace_foot: there is no body {name!r}; {nearest(str(name), names)}", field=str(name))
    for part in robot.devices:
        if isinstance(part, ReplacedFoot) and (part.body == name or name.startswith(part.prefix)):
            raise ModelError(
                f"replace_foot: {part.body!r} has a {part.foot.label} already, with the prefix {part.prefix!r}; a "
                "foot is replaced once: load the robot again to choose another",
                field=name,
            )
    link = body
    while link is not None and link.name != "world" and not link.joints:
        link = link.parent
    if link is None or link.name == "world":
        raise ModelError(f"replace_foot: {name!r} has no ankle: no joint lies between it and the base", field=name)
    if all(j.type == mujoco.mjtJoint.mjJNT_FREE for j in link.joints):
        floats = f"{name!r} floats" if link.name == name else f"{name!r} is fixed to {link.name!r}, which floats"
        raise ModelError(
            f"replace_foot: {floats} on a free joint: it has no ankle; name the last link of a leg", field=name
        )


def refuse_names(robot: Description, prefix: str) -> None:
    for part in robot.devices:
        if isinstance(part, ReplacedFoot) and part.prefix == prefix:
            raise ModelError(
                f"replace_foot: the foot on {part.body!r} has the prefix {prefix!r} already; give another",
                field="prefix",
            )


def refuse_toes(model: mujoco.MjModel, index: int, members: list[int]) -> None:
    below = [i for i in range(index + 1, model.nbody) if int(model.body_parentid[i]) in members and i not in members]
    if below:
        names = ", ".join(repr(model.body(i).name) for i in below)
        raise ModelError(
            f"replace_foot: {model.body(index).name!r} is not the end of the leg: {names} "
            f"{'moves' if len(below) == 1 else 'move'} on it; name the last link, or fix the joints of the toes in the "
            "robot's file",
            field=model.body(index).name,
        )


def side_of(pose: Pose, index: int, anchor: Array, body: str) -> Side:
    root = int(pose.model.body_rootid[index])
    lateral = float((anchor - pose.data.subtree_com[root]) @ pose.left)
    if abs(lateral) < 0.005:
        raise ModelError(
            f"replace_foot: {body!r} is {1e3 * lateral:.1f} mm sideways from the robot's centre of mass; give side, "
            "left or right (as a setting: soft_feet.side=left)",
            field="side",
        )
    return "left" if lateral > 0.0 else "right"


def pitch_of_level_foot(
    robot: Description,
    pose: Pose,
    index: int,
    anchor: Array,
    foot: FootDescription,
    alone: mujoco.MjModel,
    place: tuple[float, float, float],
) -> float:
    """Return the pitch at which a level foot carries half the robot right below its centre of mass [rad]."""
    model = pose.model
    root = int(model.body_rootid[index])
    feet = sum(isinstance(part, ReplacedFoot) for part in robot.devices)
    mass = float(model.body_subtreemass[root]) + float(alone.body_mass.sum()) * max(1, 2 - feet)
    gravity = float(np.linalg.norm(model.opt.gravity)) or GRAVITY
    target = float((pose.data.subtree_com[root] - anchor) @ pose.forward)
    ahead, depth, down = place
    return level_pitch(
        foot,
        load=0.5 * mass * gravity,
        target=target,
        ahead=ahead,
        depth=depth,
        down=down,
        gravity=gravity,
        timestep=robot.timestep,
    )


def _shape_indices(model: mujoco.MjModel, members: Iterable[int], colliding: bool) -> list[int]:
    members = set(members)
    return [
        g
        for g in range(model.ngeom)
        if int(model.geom_bodyid[g]) in members
        and (not colliding or model.geom_contype[g] or model.geom_conaffinity[g] or _paired(model, g))
    ]


def _paired(model: mujoco.MjModel, geom: int) -> bool:
    return geom in model.pair_geom1 or geom in model.pair_geom2


def extent_of_old_foot(
    pose: Pose, members: list[int], anchor: Array, body: str, sole_height: object, notes: list[str]
) -> tuple[Extent | None, list[int]]:
    geoms = _shape_indices(pose.model, members, colliding=True)
    if not geoms:
        geoms = _shape_indices(pose.model, members, colliding=False)
        if geoms and sole_height == "keep":
            notes.append(f"{body}: the old foot touches nothing; its sole was taken from its visual shapes")
    if not geoms:
        if sole_height == "keep":
            raise ModelError(
                f"replace_foot: {body!r} has no shape, so the height of its sole is unknown; give sole_height, the "
                "height of the ankle above the sole [m]",
                field="sole_height",
            )
        return None, []
    try:
        return extent_of(pose, geoms, anchor), geoms
    except ModelError:
        if sole_height == "keep":
            raise
        return None, geoms


def extent_of_foot(model: mujoco.MjModel, label: str) -> Extent:
    geoms = _shape_indices(model, range(model.nbody), colliding=True)
    if not geoms:
        raise ModelError(f"replace_foot: the {label} has no shape with contacts", field="foot")
    return extent_of(pose_of(model, None, "x"), geoms, np.zeros(3))


def compare_extents(old: Extent, own: Extent, body: str, notes: list[str], *, refuse: bool) -> None:
    """Compare the old foot with the direction and the size of the new one."""
    found = ""
    if old.width > 1.3 * old.length:
        found = f"is {1e3 * old.length:.0f} mm long and {1e3 * old.width:.0f} mm wide"
    elif old.rear > 1.3 * old.front and old.length > 1.2 * old.width:
        found = f"reaches {1e3 * old.front:.0f} mm ahead of the ankle and {1e3 * old.rear:.0f} mm behind it"
    if found and refuse:
        raise ModelError(
            f"replace_foot: if the robot faces along the world's x, the foot {body!r} {found}; give forward_axis, the "
            "direction in which it faces: x, -x, y, -y or three numbers",
            field="forward_axis",
        )
    if found:
        notes.append(f"{body}: the old foot {found} in the given direction; check forward_axis")
    size = own.length / old.length
    if not 0.5 < size < 2.0:
        notes.append(
            f"{body}: the new foot is {1e3 * own.length:.0f} mm long, the old one {1e3 * old.length:.0f} mm; "
            f"scale={1.0 / size:.2g} of what is chosen would have its length"
        )


def shapes_to_remove(
    robot: Description, model: mujoco.MjModel, members: list[int], visuals: bool, notes: list[str]
) -> tuple[list[mujoco.MjsGeom], list[mujoco.MjsPair]]:
    """Return the shapes and contact pairs that go, and refuse what refers to them."""
    spec = robot.spec
    bodies = [list(spec.bodies)[i] for i in members]
    gone = [
        geom
        for body in bodies
        for geom in body.geoms
        if not visuals or geom.contype or geom.conaffinity or _in_pair(spec, geom)
    ]
    named = {geom.name for geom in gone if geom.name}
    users = [
        f"the sensor {s.name or '(unnamed)'!r} (shape {name!r})"
        for s in spec.sensors
        for kind, name in ((s.objtype, s.objname), (s.reftype, s.refname))
        if kind == mujoco.mjtObj.mjOBJ_GEOM and name in named
    ]
    wraps = {mujoco.mjtWrap.mjWRAP_SPHERE, mujoco.mjtWrap.mjWRAP_CYLINDER}
    for tendon in spec.tendons:
        for wrap in tendon.path:
            if wrap.type in wraps and getattr(wrap.target, "name", None) in named:
                users.append(f"the tendon {tendon.name!r} (shape {wrap.target.name!r})")
    if users:
        raise ModelError(
            "replace_foot: the old foot is used by " + ", ".join(users) + "; remove these from the model first, or let "
            "them use a site or the body",
            field=bodies[0].name,
        )
    _refuse_idle_sensors(robot, bodies)
    pairs = [p for p in spec.pairs if p.geomname1 in named or p.geomname2 in named]
    if pairs:
        notes.append(
            f"{len(pairs)} contact pairs of the old foot are removed; the new foot meets the ground by contact bits"
        )
    sites = {site.name: body.name for body in bodies for site in body.sites if site.name}
    for sensor in spec.sensors:
        if sensor.type == mujoco.mjtSensor.mjSENS_TOUCH and sensor.objname in sites:
            notes.append(
                f"the touch sensor {sensor.name or sensor.objname!r} feels the body {sites[sensor.objname]!r} only, "
                "not the new foot below it; a force sensor at this site feels all of it"
            )
    return gone, pairs


def _refuse_idle_sensors(robot: Description, bodies: list[mujoco.MjsBody]) -> None:
    """Refuse force and torque sensors between the named body and what is fixed to it: no load would pass there."""
    below = {body.name for body in bodies[1:] if body.name}
    sites = {site.name: body.name for body in bodies[1:] for site in body.sites if site.name}
    loads = (mujoco.mjtSensor.mjSENS_FORCE, mujoco.mjtSensor.mjSENS_TORQUE)
    idle = {s.name or s.objname: sites[s.objname] for s in robot.spec.sensors if s.type in loads and s.objname in sites}
    idle |= {d.name: d.body for d in robot.devices if isinstance(d, ForceTorque) and d.body in below}
    if idle:
        body = bodies[0].name
        places = ", ".join(f"{name!r} on {place!r}" for name, place in idle.items())
        raise ModelError(
            f"replace_foot: the force sensors {places} would measure nothing of a foot on {body!r}; name "
            f"{next(iter(idle.values()))!r} as the body, or remove them",
            field=body,
        )


def _in_pair(spec: mujoco.MjSpec, geom: mujoco.MjsGeom) -> bool:
    return bool(geom.name) and any(geom.name in (p.geomname1, p.geomname2) for p in spec.pairs)


def _inertia(model: mujoco.MjModel, i: int) -> FrozenInertia:
    return FrozenInertia(
        index=i,
        mass=float(model.body_mass[i]),
        center=np.array(model.body_ipos[i]),
        frame=np.array(model.body_iquat[i]),
        inertia=np.array(model.body_inertia[i]),
    )


def frozen_inertias(spec: mujoco.MjSpec, model: mujoco.MjModel, members: list[int]) -> list[FrozenInertia]:
    """Return the mass properties that have to be written down, because they come from shapes or the total mass."""
    compiler = spec.compiler
    if compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE or compiler.settotalmass > 0.0:
        return [_inertia(model, i) for i in range(1, model.nbody)]
    bodies = list(spec.bodies)
    return [_inertia(model, i) for i in members if not bodies[i].explicitinertial]


def compile_bodies(robot: Description) -> mujoco.MjModel:
    """Compile the bodies so that body i of the model is body i of the spec."""
    copy = robot.spec.copy()
    copy.compiler.fusestatic = False
    try:
        return copy.compile()
    except (ValueError, RuntimeError) as error:
        raise robot.compile_error(error) from error

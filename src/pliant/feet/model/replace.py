"""Take a foot off a robot and put another in its place."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import mujoco
import numpy as np

from pliant.base.errors import ModelError, nearest
from pliant.base.numerics import GRAVITY, Array, is_finite_number
from pliant.base.spatial import quaternion_from_rotation, rotation_from_rpy
from pliant.feet.model.closures import fit_closures, measure_closures
from pliant.feet.model.description import FootDescription, GivenFoot, Side
from pliant.feet.model.geometry import Extent, Pose, extent_of, pose_of, weld_children
from pliant.feet.model.part import ReplacedFoot, no_ground, support_of, touches_ground
from pliant.feet.model.support import FootSupport, level_pitch
from pliant.model.description import Description
from pliant.model.robot import Robot
from pliant.model.sensors import ForceTorque

__all__ = ["Replacement", "complete", "plan", "replace_foot"]

_LEG_LINKS = 2
"""Links above the ankle that the foot does not touch: of a leg with two joints at the ankle, the link between them and
the shin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Inertia:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """A replacement that was checked, and what it needs."""

    body: str
    joint: str
    prefix: str
    side: Side
    foot: FootDescription
    child: mujoco.MjSpec
    pose: Pose
    position: Array
    quaternion: Array
    anchor: Array
    offset: tuple[float, float]
    pitch: float
    sole_depth: float
    old_sole_depth: float
    key: str | None
    compliances: dict[str, float]
    frozen: list[_Inertia]
    geoms: list[Any]
    pairs: list[Any]
    drop_mass: list[int]
    old_mass: float
    mass_before: float
    old_bits: list[tuple[int, int]]
    notes: list[str]

    def take_off(self, spec: mujoco.MjSpec) -> Any:
        """Remove the old foot from the spec; return the frame that the new one goes to."""
        bodies = list(spec.bodies)
        for frozen in self.frozen:
            body = bodies[frozen.index]
            body.explicitinertial = True
            body.mass, body.ipos, body.iquat, body.inertia = frozen.mass, frozen.center, frozen.frame, frozen.inertia
            body.fullinertia = [math.nan, *[0.0] * 5]
        if len(self.frozen) == len(bodies) - 1:
            spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_AUTO
            spec.compiler.settotalmass = -1.0
        for element in (*self.pairs, *self.geoms):
            spec.delete(element)
        total = sum(bodies[index].mass for index in self.drop_mass)
        factor = self.old_mass / total if total > 0.0 else 0.0
        for index in self.drop_mass:
            body = bodies[index]
            body.mass = factor * body.mass
            body.inertia = factor * np.asarray(body.inertia)
        return spec.body(self.body).add_frame(pos=self.position, quat=self.quaternion)


def replace_foot(
    robot: Robot,
    body: str,
    foot: FootDescription | mujoco.MjSpec,
    *,
    sole_height: float | Literal["keep"] = "keep",
    forward_offset: float = 0.0,
    pitch: float | Literal["level"] = 0.0,
    forward_axis: Sequence[float] | str | None = None,
    side: Literal["auto", "left", "right"] = "auto",
    prefix: str | None = None,
    key: str | None = None,
    old_mass: float | Literal["keep"] = "keep",
    visuals: bool = False,
) -> ReplacedFoot:
    """Replace a foot of a robot.

    The geoms of the old foot are removed: those of the body and of the bodies fixed to it. The new foot is oriented
    such that it is flat, with the toes forward, in the pose of the key frame, for any orientation of the body
    frame. Its sole is at the height of the old sole, so that the joints and the height of the robot do not change.
    The difference of the two ankle heights becomes a vertical offset between the ankle of the foot and that of the
    robot. The foot collides with ground and obstacles, but not with another foot of this kind or with the two links
    above its ankle. `Robot.spec` is a new object afterwards.

    Args:
        robot: the robot.
        body: the old foot: the last link of the leg, after the ankle joints, or a body fixed to it, such as a foot
            after a force sensor. Its geoms, and those of bodies fixed to it, are the old foot.
        foot: a description such as `pliant.feet.softfoot.SoftFoot`, which is mirrored for the side, or a
            spec, such as that of `pliant.feet.softfoot.softfoot`, which is used unchanged.
        sole_height: height of the robot's ankle above the new sole [m]; "keep" for the height above the old
            sole, computed from its collision geoms, including meshes.
        forward_offset: displacement of the foot towards its toes [m]; at 0 the two ankles are in line vertically.
        pitch: pitch of the foot on the robot's ankle, positive with the toes down [rad]. A SoftFoot with a level
            ankle stands on its heel. "level" uses the pitch at which half the robot's weight acts directly
            below its centre of mass, so that the robot stands level on two feet.
        forward_axis: forward direction of the robot in this pose, in world axes: "x", "-x", "y", "-y" or a vector
            of three numbers. None uses x, and raises an error if the old foot points in another direction.
        side: side of the robot; "auto" for the side of the centre of mass on which the ankle is.
        prefix: prefix of every name of the foot; None for the name of the body and a slash.
        key: name of the key frame in which the old foot is flat; None for the initial pose.
        old_mass: remaining mass of the old foot [kg]; "keep" for its whole mass, because the last link usually
            includes parts of the ankle. The inertia tensor is scaled with the mass.
        visuals: whether to keep the geoms of the old foot that do not collide.

    Returns:
        Placement and support of the foot. It is also added to `Robot.devices`, so that `check` includes it. The ratio
        of its pitch stiffness to m g h is added to `Robot.notes`.

    Raises:
        ModelError: the body does not exist, is not the end of a leg, has no ankle, or already has such a foot;
            elements of the model refer to the old geoms; the time step is too long for the foot; or the foot cannot
            carry the robot.

    Example:
        >>> for side in ("left", "right"):
        ...     replace_foot(robot, f"{side}_ankle_roll_link", SoftFoot(n_chains=1, lump=True))
    """
    trial = robot.copy()  # nothing of the robot changes if the foot does not fit
    planned = plan(
        trial,
        body,
        foot,
        sole_height=sole_height,
        forward_offset=forward_offset,
        pitch=pitch,
        forward_axis=forward_axis,
        side=side,
        prefix=prefix,
        key=key,
        old_mass=old_mass,
        visuals=visuals,
    )
    frame = planned.take_off(trial.spec)
    trial.attach(Robot(planned.child, set_defaults=False), frame=frame, prefix=planned.prefix)
    part = complete(trial, planned)
    trial.devices.append(part)
    robot.spec, robot.devices, robot.notes = trial.spec, trial.devices, trial.notes
    return part


def plan(
    robot: Description,
    body: str,
    foot: FootDescription | mujoco.MjSpec,
    *,
    sole_height: float | Literal["keep"],
    forward_offset: float,
    pitch: float | Literal["level"],
    forward_axis: Sequence[float] | str | None,
    side: Side | Literal["auto"],
    prefix: str | None,
    key: str | None,
    old_mass: float | Literal["keep"],
    visuals: bool,
) -> Replacement:
    """Check a replacement and work out where the foot goes; the robot is not changed.

    Raises:
        ModelError: see `replace_foot`.
    """
    spec = robot.spec
    _refuse_body(robot, body)
    prefix = f"{body}/" if prefix is None else prefix
    _refuse_names(robot, prefix)
    described = GivenFoot(spec=foot) if isinstance(foot, mujoco.MjSpec) else foot
    if not isinstance(described, FootDescription):
        raise ModelError(
            f"replace_foot: foot is a {type(foot).__name__}; must be an MjSpec or a description such as "
            "pliant.feet.softfoot.SoftFoot",
            field="foot",
        )
    for name, value, word, unit in (
        ("sole_height", sole_height, "keep", "m"),
        ("forward_offset", forward_offset, "", "m"),
        ("pitch", pitch, "level", "rad"),
        ("old_mass", old_mass, "keep", "kg"),
    ):
        if not is_finite_number(value) and not (word and value == word):
            known = f'"{word}" or ' if word else ""
            raise ModelError(f"replace_foot: {name} is {value!r}; must be {known}a number [{unit}]", field=name)
    if side not in ("auto", "left", "right"):
        raise ModelError(f"replace_foot: side is {side!r}; must be auto, left or right", field="side")
    if isinstance(described, GivenFoot) and side != "auto":
        raise ModelError(
            "replace_foot: side is given with a foot that is a spec, which has no mirror image; build the spec for its "
            "side, or give a SoftFoot",
            field="side",
        )
    model = _compile(robot)
    pose = pose_of(model, key, "x" if forward_axis is None else forward_axis)
    index = model.body(body).id
    members = weld_children(model, index)
    _refuse_toes(model, index, members)
    ankle = index
    while model.body_jntnum[ankle] == 0:
        ankle = int(model.body_parentid[ankle])
    joint = int(model.body_jntadr[ankle]) + int(model.body_jntnum[ankle]) - 1
    anchor = np.array(pose.data.xanchor[joint])
    side = _side(pose, index, anchor, body) if side == "auto" else side
    described = described.for_side(side)
    child = described.build_foot(robot.timestep)
    alone = child.copy().compile()
    own = _extent_of_foot(alone, described.label)
    notes: list[str] = []
    old, old_geoms = _old_extent(pose, members, anchor, body, sole_height, notes)
    if old is not None:
        _doubt(old, own, body, notes, refuse=forward_axis is None)
    depth = old.down if sole_height == "keep" and old is not None else float(sole_height)  # type: ignore[arg-type]
    if not 0.0 < depth < 1000.0:
        raise ModelError(
            f"replace_foot: the sole would be {depth:g} m below the ankle of {body!r}; must be > 0 m"
            + ("; give sole_height, or the key frame in which the foot is flat" if sole_height == "keep" else ""),
            field="sole_height",
        )
    if old is not None and abs(depth - old.down) > 1e-9:
        notes.append(
            f"{body}: the sole is {1e3 * depth:.1f} mm below the ankle, {1e3 * (depth - old.down):+.1f} mm against the "
            "old one; the height of the robot's base is as it was"
        )
    if isinstance(pitch, str):
        pitch = _level(robot, pose, index, anchor, described, alone, (float(forward_offset), depth, own.down))
    # Turned about the point of the sole below the foot's ankle.
    ahead = forward_offset + own.down * math.sin(pitch)
    above = own.down * math.cos(pitch) - depth
    place = anchor + ahead * pose.forward + above * pose.up
    turned = rotation_from_rpy((0.0, pitch, 0.0))
    rotation = pose.data.xmat[index].reshape(3, 3)
    origin = pose.data.xpos[index]
    geoms, pairs = _old_shapes(robot, model, members, visuals, notes)
    if sole_height != "keep" and not old_geoms:
        notes.append(f"{body}: the old foot has no shape; the new sole is where sole_height says")
    frozen = _frozen(spec, model, members)
    now = float(sum(model.body_mass[i] for i in members))
    drop = [] if old_mass == "keep" else list(members)
    if old_mass != "keep" and not 0.0 <= float(old_mass) <= now:
        raise ModelError(
            f"replace_foot: old_mass is {old_mass:g} kg; must be from 0 to {now:.4g} kg, the mass of {body!r}",
            field="old_mass",
        )
    return Replacement(
        body=body,
        joint=model.joint(joint).name,
        prefix=prefix,
        side=side,
        foot=described,
        child=child,
        pose=pose,
        position=rotation.T @ (place - origin),
        quaternion=np.asarray(quaternion_from_rotation(rotation.T @ pose.rotation @ turned)),
        anchor=rotation.T @ (anchor - origin),
        offset=(float(ahead), float(above)),
        pitch=float(pitch),
        sole_depth=depth,
        old_sole_depth=math.nan if old is None else old.down,
        key=key,
        compliances={prefix + n: c for n, c in measure_closures(alone).items()} if described.keeps_compliance else {},
        frozen=frozen,
        geoms=geoms,
        pairs=pairs,
        drop_mass=drop,
        old_mass=now if old_mass == "keep" else float(old_mass),
        mass_before=float(model.body_mass.sum()),
        old_bits=[(geom.contype, geom.conaffinity) for geom in geoms],
        notes=notes,
    )


def complete(robot: Description, planned: Replacement) -> ReplacedFoot:
    """Finish a replacement after the foot was attached: contacts, closures, what it carries.

    Raises:
        ModelError: the foot does not fit the time step, or gives way under the robot.
    """
    spec, prefix = robot.spec, planned.prefix
    _meet_ground(spec, planned)
    notes = [*planned.notes, *_exclude(robot, planned)]
    model = _compile(robot)
    constants = fit_closures(model, planned.compliances)
    for equality in spec.equalities:
        if equality.name in constants:
            equality.solref = [constants[equality.name], 1.0]
    anchor = _triple(planned.anchor)
    w, x, y, z = (float(v) for v in planned.quaternion)
    support = support_of(
        model,
        body=planned.body,
        anchor=anchor,
        key=planned.key,
        foot=planned.foot,
        offset=planned.offset,
        mount=planned.pitch,
    )
    mass = float(model.body_mass.sum())
    name = prefix.strip("/")
    part = ReplacedFoot(
        name=f"{name}/foot" if name else "foot",
        body=planned.body,
        joint=planned.joint,
        prefix=prefix,
        side=planned.side,
        foot=planned.foot,
        position=_triple(planned.position),
        quaternion=(w, x, y, z),
        offset=planned.offset,
        pitch=planned.pitch,
        sole_depth=planned.sole_depth,
        old_sole_depth=planned.old_sole_depth,
        mass_change=mass - planned.mass_before,
        anchor=anchor,
        key=planned.key,
        compliances=planned.compliances,
        support=support,
    )
    if not touches_ground(model, prefix):
        problem = no_ground(planned.body)
        notes.append(f"{problem.subject}: {problem.message}; {problem.hint}")
    for other in robot.devices:
        if isinstance(other, ReplacedFoot):
            _measure_again(robot, model, other)
    robot.notes.extend([*notes, _told(part, support)])
    return part


def _told(part: ReplacedFoot, support: FootSupport) -> str:
    """Return the note on a replaced foot."""
    return "; ".join(filter(None, [_head(part), part.foot.remark, str(support)]))


def _head(part: ReplacedFoot) -> str:
    return f"{part.body}: {part.foot.label} ({part.side}), {part.mass_change:+.3f} kg"


def _measure_again(robot: Description, model: mujoco.MjModel, part: ReplacedFoot) -> None:
    """Tell of a foot that was put on before what it carries now: the robot has another weight.

    Raises:
        ModelError: it gives way under the robot as it is now.
    """
    support = support_of(
        model,
        body=part.body,
        anchor=part.anchor,
        key=part.key,
        foot=part.foot,
        offset=part.offset,
        mount=part.pitch,
    )
    for i, note in enumerate(robot.notes):
        if note.startswith(_head(part)):
            robot.notes[i] = _told(part, support)


def _triple(vector: Array) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in vector)
    return x, y, z


# -- what is found before -----------------------------------------------------------------------------------------


def _refuse_body(robot: Description, name: str) -> None:
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


def _refuse_names(robot: Description, prefix: str) -> None:
    for part in robot.devices:
        if isinstance(part, ReplacedFoot) and part.prefix == prefix:
            raise ModelError(
                f"replace_foot: the foot on {part.body!r} has the prefix {prefix!r} already; give another",
                field="prefix",
            )


def _refuse_toes(model: mujoco.MjModel, index: int, members: list[int]) -> None:
    below = [i for i in range(index + 1, model.nbody) if int(model.body_parentid[i]) in members and i not in members]
    if below:
        names = ", ".join(repr(model.body(i).name) for i in below)
        raise ModelError(
            f"replace_foot: {model.body(index).name!r} is not the end of the leg: {names} "
            f"{'moves' if len(below) == 1 else 'move'} on it; name the last link, or fix the joints of the toes in the "
            "robot's file",
            field=model.body(index).name,
        )


def _side(pose: Pose, index: int, anchor: Array, body: str) -> Side:
    root = int(pose.model.body_rootid[index])
    lateral = float((anchor - pose.data.subtree_com[root]) @ pose.left)
    if abs(lateral) < 0.005:
        raise ModelError(
            f"replace_foot: {body!r} is {1e3 * lateral:.1f} mm sideways from the robot's centre of mass; give side, "
            "left or right",
            field="side",
        )
    return "left" if lateral > 0.0 else "right"


def _level(
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


def _old_extent(
    pose: Pose, members: list[int], anchor: Array, body: str, sole_height: Any, notes: list[str]
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


def _extent_of_foot(model: mujoco.MjModel, label: str) -> Extent:
    geoms = _shape_indices(model, range(model.nbody), colliding=True)
    if not geoms:
        raise ModelError(f"replace_foot: the {label} has no shape with contacts", field="foot")
    return extent_of(pose_of(model, None, "x"), geoms, np.zeros(3))


def _doubt(old: Extent, own: Extent, body: str, notes: list[str], *, refuse: bool) -> None:
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


def _old_shapes(
    robot: Description, model: mujoco.MjModel, members: list[int], visuals: bool, notes: list[str]
) -> tuple[list[Any], list[Any]]:
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


def _refuse_idle_sensors(robot: Description, bodies: list[Any]) -> None:
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


def _in_pair(spec: mujoco.MjSpec, geom: Any) -> bool:
    return bool(geom.name) and any(geom.name in (p.geomname1, p.geomname2) for p in spec.pairs)


def _inertia(model: mujoco.MjModel, i: int) -> _Inertia:
    return _Inertia(
        index=i,
        mass=float(model.body_mass[i]),
        center=np.array(model.body_ipos[i]),
        frame=np.array(model.body_iquat[i]),
        inertia=np.array(model.body_inertia[i]),
    )


def _frozen(spec: mujoco.MjSpec, model: mujoco.MjModel, members: list[int]) -> list[_Inertia]:
    """Return the mass properties that have to be written down, because they come from shapes or the total mass."""
    compiler = spec.compiler
    if compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE or compiler.settotalmass > 0.0:
        return [_inertia(model, i) for i in range(1, model.nbody)]
    bodies = list(spec.bodies)
    return [_inertia(model, i) for i in members if not bodies[i].explicitinertial]


def _compile(robot: Description) -> mujoco.MjModel:
    """Compile the bodies so that body i of the model is body i of the spec."""
    copy = robot.spec.copy()
    copy.compiler.fusestatic = False
    try:
        return copy.compile()
    except (ValueError, RuntimeError) as error:
        raise robot.compile_error(error) from error


# -- what is done after ------------------------------------------------------------------------------------------------


def _fixed_to_world(spec: mujoco.MjSpec) -> list[Any]:
    found, waiting = [], [spec.worldbody]
    while waiting:
        body = waiting.pop()
        found.append(body)
        waiting += [child for child in body.bodies if not child.joints and not child.mocap]
    return found


def _meet_ground(spec: mujoco.MjSpec, planned: Replacement) -> None:
    """Give ground that the old foot met and the new one would pass a contact bit of its own, and the foot as well."""
    shapes = [geom for body in spec.bodies if body.name.startswith(planned.prefix) for geom in body.geoms]
    foot = [geom for geom in shapes if geom.contype or geom.conaffinity]
    missed = [
        geom
        for body in _fixed_to_world(spec)
        for geom in body.geoms
        if not any(_meet(geom, other.contype, other.conaffinity) for other in foot)
        and (
            geom.type in (mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_HFIELD)
            or any(_meet(geom, *bits) for bits in planned.old_bits)
        )
    ]
    if not missed:
        return
    used = 0
    for body in spec.bodies:
        for geom in body.geoms:
            used |= geom.contype | geom.conaffinity
    free = next((1 << i for i in range(2, 31) if not used & (1 << i)), None)
    if free is None:
        raise ModelError(
            f"replace_foot: no contact bit is free to let the foot on {planned.body!r} meet the ground; free one of "
            "contype and conaffinity",
            field="contype",
        )
    for geom in missed:
        geom.contype |= free
    for geom in foot:
        geom.conaffinity |= free


def _meet(geom: Any, contype: int, conaffinity: int) -> bool:
    return bool((geom.contype & conaffinity) or (contype & geom.conaffinity))


def _exclude(robot: Description, planned: Replacement) -> list[str]:
    """Exclude contacts with the foot's own leg and with what the old foot did not touch; return notes."""
    spec, prefix = robot.spec, planned.prefix
    for number, body in enumerate(spec.bodies):
        if not body.name:
            body.name = f"body_{number}"
    own = [
        body.name
        for body in spec.bodies
        if body.name.startswith(prefix) and any(g.contype or g.conaffinity for g in body.geoms)
    ]
    excluded = {frozenset((e.bodyname1, e.bodyname2)) for e in spec.excludes}

    def exclude(one: str, two: str) -> None:
        if frozenset((one, two)) not in excluded:
            excluded.add(frozenset((one, two)))
            spec.add_exclude(bodyname1=one, bodyname2=two)

    old = {body.name for body in _weld_group(spec.body(planned.body)) if not body.name.startswith(prefix)}
    others = {name for pair in excluded if pair & old for name in pair - old if name != "world"}
    link, links = spec.body(planned.body), 0
    while link is not None and link.name != "world" and links <= _LEG_LINKS:
        while not link.joints and link.parent is not None and link.parent.name != "world":
            link = link.parent
        others |= {body.name for body in _weld_group(link)}
        link, links = link.parent, links + 1
    for name in own:
        for other in others - set(own):
            exclude(name, other)
    model = _compile(robot)
    pose = pose_of(model, planned.key, planned.pose.forward.tolist())
    touching: set[str] = set()
    for contact in pose.data.contact[: pose.data.ncon]:
        names = [model.body(int(model.geom_bodyid[g])).name for g in contact.geom]
        mine = [name for name in names if name in own]
        if len(mine) == 1:
            other = names[1 - names.index(mine[0])]
            if model.body_weldid[model.body(other).id] != 0:
                exclude(mine[0], other)
                touching.add(other)
    if not touching:
        return []
    return [f"{planned.body}: the new foot overlaps {', '.join(sorted(touching))} and does not collide with it"]


def _weld_group(top: Any) -> list[Any]:
    """Return a body and the bodies that are fixed below it."""
    found, waiting = [], [top]
    while waiting:
        body = waiting.pop()
        found.append(body)
        waiting += [child for child in body.bodies if not child.joints]
    return found

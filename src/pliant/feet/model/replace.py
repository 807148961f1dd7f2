"""Take a foot off a robot and put another in its place."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import mujoco
import numpy as np

from pliant.base.errors import ModelError
from pliant.base.numerics import Array
from pliant.base.spatial import quaternion_from_rotation, rotation_from_rpy
from pliant.feet.model.closures import measure_closures
from pliant.feet.model.description import FootDescription, GivenFoot
from pliant.feet.model.foot_fit import FootFit
from pliant.feet.model.geometry import Extent, Pose, pose_of, weld_children
from pliant.feet.model.old_foot import (
    FrozenInertia,
    compare_extents,
    compile_bodies,
    extent_of_foot,
    extent_of_old_foot,
    frozen_inertias,
    pitch_of_level_foot,
    refuse_body,
    refuse_names,
    refuse_toes,
    shapes_to_remove,
    side_of,
)
from pliant.feet.model.part import ReplacedFoot, no_ground, touches_ground
from pliant.feet.model.soles import hold_soles, measure_soles
from pliant.feet.model.support import FootSupport
from pliant.model.description import Description
from pliant.model.robot import Robot
from pliant.model.wanted import check_robot

_LEG_LINKS = 2
"""Links above the ankle that the foot does not touch: of a leg with two joints at the ankle, the link between them and
the shin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """A replacement that was checked, and what it needs."""

    part: ReplacedFoot
    """Placement of the new foot; its support and the change of the mass follow once it is attached."""
    child: mujoco.MjSpec
    pose: Pose
    frozen: list[FrozenInertia]
    geoms: list[mujoco.MjsGeom]
    pairs: list[mujoco.MjsPair]
    drop_mass: list[int]
    old_mass: float
    mass_before: float
    old_bits: list[tuple[int, int]]
    notes: list[str]

    def take_off(self, spec: mujoco.MjSpec) -> mujoco.MjsFrame:
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
        return spec.body(self.part.body).add_frame(pos=self.part.position, quat=self.part.quaternion)


def replace_foot(
    robot: Robot, body: str, foot: FootDescription | mujoco.MjSpec, fit: FootFit | None = None
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
        fit: placement of the new foot, and what is kept of the old one; None for the defaults of `FootFit`.

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
    check_robot(robot, "replace_foot", compiled=False)
    trial = robot.copy()  # nothing of the robot changes if the foot does not fit
    planned = _plan(trial, body, foot, fit or FootFit())
    frame = planned.take_off(trial.spec)
    trial.attach(Robot(planned.child, set_defaults=False), frame=frame, prefix=planned.part.prefix)
    part = _complete(trial, planned)
    trial.devices.append(part)
    robot.spec, robot.devices, robot.notes = trial.spec, trial.devices, trial.notes
    return part


def _plan(robot: Description, body: str, foot: FootDescription | mujoco.MjSpec, fit: FootFit) -> Replacement:
    """Check a replacement and work out where the foot goes; the robot is not changed."""
    refuse_body(robot, body)
    prefix = f"{body}/" if fit.prefix is None else fit.prefix
    refuse_names(robot, prefix)
    described = _described(foot, fit)
    model = compile_bodies(robot)
    pose = pose_of(model, fit.key, "x" if fit.forward_axis is None else fit.forward_axis)
    index = model.body(body).id
    members = weld_children(model, index)
    refuse_toes(model, index, members)
    joint = _ankle_joint(model, index)
    anchor = np.array(pose.data.xanchor[joint])
    side = side_of(pose, index, anchor, body) if fit.side == "auto" else fit.side
    described = described.for_side(side)
    child = described.build_foot(robot.timestep)
    alone = child.copy().compile()
    own = extent_of_foot(alone, described.label)
    notes: list[str] = []
    old, old_geoms = extent_of_old_foot(pose, members, anchor, body, fit.sole_height, notes)
    if old is not None:
        compare_extents(old, own, body, notes, refuse=fit.forward_axis is None)
    depth = _sole_depth(old, body, fit, notes)
    pitch = fit.pitch
    if isinstance(pitch, str):
        place = (float(fit.forward_offset), depth, own.down)
        pitch = pitch_of_level_foot(robot, pose, index, anchor, described, alone, place)
    # Turned about the point of the sole below the foot's ankle.
    ahead = fit.forward_offset + own.down * math.sin(pitch)
    above = own.down * math.cos(pitch) - depth
    place = anchor + ahead * pose.forward + above * pose.up
    turned = rotation_from_rpy((0.0, pitch, 0.0))
    rotation = pose.data.xmat[index].reshape(3, 3)
    origin = pose.data.xpos[index]
    geoms, pairs = shapes_to_remove(robot, model, members, fit.visuals, notes)
    if fit.sole_height != "keep" and not old_geoms:
        notes.append(f"{body}: the old foot has no shape; the new sole is where sole_height says")
    w, x, y, z = (float(v) for v in quaternion_from_rotation(rotation.T @ pose.rotation @ turned))
    name = prefix.strip("/")
    part = ReplacedFoot(
        name=f"{name}/foot" if name else "foot",
        body=body,
        joint=model.joint(joint).name,
        prefix=prefix,
        side=side,
        foot=described,
        position=_triple(rotation.T @ (place - origin)),
        quaternion=(w, x, y, z),
        offset=(float(ahead), float(above)),
        pitch=float(pitch),
        sole_depth=depth,
        old_sole_depth=math.nan if old is None else old.down,
        anchor=_triple(rotation.T @ (anchor - origin)),
        key=fit.key,
        compliances={prefix + n: c for n, c in measure_closures(alone).items()} if described.keeps_compliance else {},
        soles={prefix + name: law for name, law in measure_soles(alone).items()},
    )
    return Replacement(
        part=part,
        child=child,
        pose=pose,
        frozen=frozen_inertias(robot.spec, model, members),
        geoms=geoms,
        pairs=pairs,
        drop_mass=[] if fit.old_mass == "keep" else list(members),
        old_mass=_old_mass(model, members, body, fit),
        mass_before=float(model.body_mass.sum()),
        old_bits=[(geom.contype, geom.conaffinity) for geom in geoms],
        notes=notes,
    )


def _described(foot: FootDescription | mujoco.MjSpec, fit: FootFit) -> FootDescription:
    described = GivenFoot(spec=foot) if isinstance(foot, mujoco.MjSpec) else foot
    if not isinstance(described, FootDescription):
        raise ModelError(
            f"replace_foot: foot is a {type(foot).__name__}; must be an MjSpec or a description such as "
            "pliant.feet.softfoot.SoftFoot",
            field="foot",
        )
    if isinstance(described, GivenFoot) and fit.side != "auto":
        raise ModelError(
            "replace_foot: side is given with a foot that is a spec, which has no mirror image; build the spec for its "
            "side, or give a SoftFoot",
            field="side",
        )
    return described


def _ankle_joint(model: mujoco.MjModel, body: int) -> int:
    """Return the last joint between the robot and the body."""
    while model.body_jntnum[body] == 0:
        body = int(model.body_parentid[body])
    return int(model.body_jntadr[body]) + int(model.body_jntnum[body]) - 1


def _sole_depth(old: Extent | None, body: str, fit: FootFit, notes: list[str]) -> float:
    """Return the height of the ankle above the new sole [m]; note a change."""
    depth = old.down if fit.sole_height == "keep" and old is not None else float(fit.sole_height)
    if not 0.0 < depth < 1000.0:
        raise ModelError(
            f"replace_foot: the sole would be {depth:g} m below the ankle of {body!r}; must be > 0 m"
            + ("; give sole_height, or the key frame in which the foot is flat" if fit.sole_height == "keep" else ""),
            field="sole_height",
        )
    if old is not None and abs(depth - old.down) > 1e-9:
        notes.append(
            f"{body}: the sole is {1e3 * depth:.1f} mm below the ankle, {1e3 * (depth - old.down):+.1f} mm against the "
            "old one; the height of the robot's base is as it was"
        )
    return depth


def _old_mass(model: mujoco.MjModel, members: list[int], body: str, fit: FootFit) -> float:
    """Return the mass that remains of the old foot [kg]."""
    now = float(sum(model.body_mass[i] for i in members))
    if fit.old_mass == "keep":
        return now
    if not 0.0 <= fit.old_mass <= now:
        raise ModelError(
            f"replace_foot: old_mass is {fit.old_mass:g} kg; must be from 0 to {now:.4g} kg, the mass of {body!r}",
            field="old_mass",
        )
    return float(fit.old_mass)


def _complete(robot: Description, planned: Replacement) -> ReplacedFoot:
    """Finish a replacement after the foot was attached: contacts, closures, what it carries.

    Raises:
        ModelError: the foot does not fit the time step, or gives way under the robot.
    """
    spec, part = robot.spec, planned.part
    _meet_ground(spec, planned)
    notes = [*planned.notes, *_exclude(robot, planned)]
    if part.soles:
        hold_soles(spec)
    model = compile_bodies(robot)
    part.finish(model)
    part.export(spec, model)
    mass = float(model.body_mass.sum())
    part = dataclasses.replace(part, mass_change=mass - planned.mass_before, support=part.support_on(model))
    if not touches_ground(model, part.prefix):
        problem = no_ground(part.body)
        notes.append(f"{problem.subject}: {problem.message}; {problem.hint}")
    for other in robot.devices:
        if isinstance(other, ReplacedFoot):
            _measure_again(robot, model, other)
    robot.notes.extend([*notes, _told(part, part.support)])
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
    support = part.support_on(model)
    for i, note in enumerate(robot.notes):
        if note.startswith(_head(part)):
            robot.notes[i] = _told(part, support)


def _triple(vector: Array) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in vector)
    return x, y, z


# -- what is done after ------------------------------------------------------------------------------------------------


def _fixed_to_world(spec: mujoco.MjSpec) -> list[mujoco.MjsBody]:
    found, waiting = [], [spec.worldbody]
    while waiting:
        body = waiting.pop()
        found.append(body)
        waiting += [child for child in body.bodies if not child.joints and not child.mocap]
    return found


def _meet_ground(spec: mujoco.MjSpec, planned: Replacement) -> None:
    """Give ground that the old foot met and the new one would pass a contact bit of its own, and the foot as well."""
    shapes = [geom for body in spec.bodies if body.name.startswith(planned.part.prefix) for geom in body.geoms]
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
            f"replace_foot: no contact bit is free to let the foot on {planned.part.body!r} meet the ground; free one "
            "of contype and conaffinity",
            field="contype",
        )
    for geom in missed:
        geom.contype |= free
    for geom in foot:
        geom.conaffinity |= free


def _meet(geom: mujoco.MjsGeom, contype: int, conaffinity: int) -> bool:
    return bool((geom.contype & conaffinity) or (contype & geom.conaffinity))


def _exclude(robot: Description, planned: Replacement) -> list[str]:
    """Exclude contacts with the foot's own leg and with what the old foot did not touch; return notes."""
    spec, prefix = robot.spec, planned.part.prefix
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

    old = {body.name for body in _weld_group(spec.body(planned.part.body)) if not body.name.startswith(prefix)}
    others = {name for pair in excluded if pair & old for name in pair - old if name != "world"}
    link, links = spec.body(planned.part.body), 0
    while link is not None and link.name != "world" and links <= _LEG_LINKS:
        while not link.joints and link.parent is not None and link.parent.name != "world":
            link = link.parent
        others |= {body.name for body in _weld_group(link)}
        link, links = link.parent, links + 1
    for name in own:
        for other in others - set(own):
            exclude(name, other)
    model = compile_bodies(robot)
    pose = pose_of(model, planned.part.key, planned.pose.forward.tolist())
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
    return [f"{planned.part.body}: the new foot overlaps {', '.join(sorted(touching))} and does not collide with it"]


def _weld_group(top: mujoco.MjsBody) -> list[mujoco.MjsBody]:
    """Return a body and the bodies that are fixed below it."""
    found, waiting = [], [top]
    while waiting:
        body = waiting.pop()
        found.append(body)
        waiting += [child for child in body.bodies if not child.joints]
    return found

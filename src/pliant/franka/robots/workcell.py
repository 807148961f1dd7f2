"""A workcell before an arm: a table on a scale, and objects to grasp, to press on and to put together.

The table's top has the height of the arm's base. Everything that stands on it, is fixed to it or presses on it acts on
the scale, a force/torque sensor between the table and the floor. An object has a place on the table or, with ``@hand``,
a place at the end effector of the arm at its start: what can be grasped stands between the fingers, and a surface
touches the fingers, the flange or the lip of the suction cup from below.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pliant.base.errors import ModelError, nearest
from pliant.base.numerics import Array

if TYPE_CHECKING:
    import mujoco

    from pliant.model import Camera, ForceTorque

ObjectKind = Literal["box", "cylinder", "peg", "hole", "pad", "plate"]
KINDS: tuple[ObjectKind, ...] = ("box", "cylinder", "peg", "hole", "pad", "plate")
"""What can stand on the table."""

BOX = 0.05
"""Edge of the box [m]; the hand opens 0.08 m."""  # assumed
CYLINDER = (0.03, 0.1)
"""Radius and height of the cylinder [m]."""  # assumed
PEG = (0.0125, 0.08)
"""Radius and length of the peg [m]."""  # assumed
CLEARANCE = 0.0005
"""Between peg and hole, on each side [m]."""  # assumed
HOLE = (0.09, 0.04)
"""Edge and height of the block with the hole [m]; the hole is square and goes through."""  # assumed
PAD = (0.12, 0.03)
"""Edge and height of the compliant pad [m]."""  # assumed
PAD_STIFFNESS, PAD_DAMPING, PAD_MASS = 4000.0, 60.0, 0.15
"""Of the pad along z [N/m, N s/m, kg]: foam rubber."""  # assumed
PLATE = (0.16, 0.02)
"""Edge and height of the rigid plate [m]."""  # assumed
DENSITY = 700.0
"""Of what can be grasped [kg/m^3]: hard wood."""  # assumed
POST = 0.02
"""Radius of the post under an object at the hand [m]."""  # assumed
PLACES: dict[str, tuple[float, float]] = {
    "box": (0.42, 0.2),
    "cylinder": (0.42, -0.2),
    "peg": (0.55, 0.2),
    "hole": (0.55, 0.0),
    "pad": (0.55, -0.2),
    "plate": (0.7, 0.0),
}
"""Place of the first object of a kind, x and y before the base [m]."""  # assumed
HALF_WIDTHS = {
    "base": 0.1,
    "box": 0.5 * BOX,
    "cylinder": CYLINDER[0],
    "peg": PEG[0],
    "hole": 0.5 * HOLE[0],
    "pad": 0.5 * PAD[0],
    "plate": 0.5 * PLATE[0],
}
"""Half of the edge of the square that an object, or the arm's base, needs [m]."""
_COLOURS = {
    "box": (0.85, 0.33, 0.2, 1.0),
    "cylinder": (0.2, 0.5, 0.75, 1.0),
    "peg": (0.9, 0.7, 0.2, 1.0),
    "hole": (0.45, 0.48, 0.52, 1.0),
    "pad": (0.35, 0.6, 0.4, 1.0),
    "plate": (0.7, 0.72, 0.75, 1.0),
}
_WOOD, _STEEL = (0.78, 0.68, 0.53, 1.0), (0.55, 0.56, 0.58, 1.0)
TOUCH = {"fingers": -0.009, "vacuum": -0.0005, "none": 0.001}
"""Height of a surface at the hand over the origin of the end effector, by the hand [m]: half a millimetre to a
millimetre below what would touch it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table, whose top is level, and the scale below it."""

    position: tuple[float, float, float] = (0.55, 0.0, 0.5)
    """Of the middle of its top [m]."""
    size: tuple[float, float] = (0.7, 1.0)
    """Edges of its top along x and y [m]."""
    thickness: float = 0.03
    """Of its top [m]."""
    mass: float = 25.0
    """[kg]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableObject:
    """One object of a workcell."""

    kind: ObjectKind
    """What it is."""
    place: tuple[float, float] | Literal["hand"]
    """x and y of its middle before the base [m], or at the end effector."""
    name: str
    """Name of its body."""

    @property
    def at_hand(self) -> bool:
        """Whether it stands at the end effector."""
        return self.place == "hand"

    @property
    def graspable(self) -> bool:
        """Whether it can be grasped; other objects are fixed to the table."""
        return self.kind in ("box", "cylinder", "peg")


def parse_objects(texts: Sequence[str]) -> tuple[TableObject, ...]:
    """Return objects from texts ``KIND``, ``KIND@X/Y`` with metres before the base, or ``KIND@hand``; blanks around
    ``@`` and ``/`` do not count.

    An object without a place stands at the usual one of its kind, or 0.1 m farther while another is there; names are
    the kinds, then ``box2`` and so on.

    Raises:
        ModelError: no such kind, a place that is no place or in the base, two objects at one place or at the hand.
    """
    kinds, places = list[ObjectKind](), list[Any]()
    words = " ".join(" ".join(map(str, texts)).split())
    for text in re.sub(r" ?([@/]) ?", r"\1", words).split():
        kind, at, where = text.partition("@")
        if kind not in KINDS:
            what = f"no object {kind!r} for a table" if kind else f"{text!r} has no object before @"
            raise ModelError(f"{what}: {nearest(kind, KINDS)}, each as KIND, KIND@X/Y or KIND@hand", field="objects")
        if where == "hand" and where in places:
            raise ModelError(f"{text!r}: there is another object at the hand; one has room", field="objects")
        place = where if where == "hand" else _place(text, where) if at else None
        if at and (other := _in_the_way(kind, place, kinds, places)):
            raise ModelError(f"{text!r} is in the place of the {other}; must be beside it", field="objects")
        kinds.append(kind)
        places.append(place)
    for i, kind in enumerate(kinds):
        if places[i] is None:
            x, y = PLACES[kind]
            while _in_the_way(kind, (x, y), kinds, places):
                x += 0.1
            places[i] = (x, y)
    found = list[TableObject]()
    for i, (kind, place) in enumerate(zip(kinds, places, strict=True)):
        count = kinds[:i].count(kind)
        found.append(TableObject(kind=kind, place=place, name=kind if not count else f"{kind}{count + 1}"))
    return tuple(found)


def _in_the_way(kind: str, place: Any, kinds: Sequence[str], places: Sequence[Any]) -> str:
    """Return which of the placed objects, or the base, overlaps one of a kind at a place; "" for none."""
    if place == "hand":
        return ""
    for other, there in zip(("base", *kinds), ((0.0, 0.0), *places), strict=True):
        if there is None or there == "hand":
            continue
        away = max(abs(place[0] - there[0]), abs(place[1] - there[1]))
        in_the_hole = {kind, other} == {"peg", "hole"} and away <= CLEARANCE
        if away < HALF_WIDTHS[kind] + HALF_WIDTHS[other] and not in_the_hole:
            return other
    return ""


def _place(text: str, where: str) -> tuple[float, float]:
    try:
        x, y = map(float, where.split("/"))
    except ValueError:
        x = y = math.nan
    if not (math.isfinite(x) and math.isfinite(y) and math.hypot(x, y) < 2.0):
        raise ModelError(
            f"the place of {text!r} is {where!r}; must be 'hand' or X/Y, metres before the base, nearer than 2 m",
            field="objects",
        )
    return x, y


def add_table(spec: mujoco.MjSpec, table: Table) -> list[ForceTorque]:
    """Add a table, and return the description of its scale, the device ``scale``.

    The scale measures the force of the table on what carries it, its own weight included; its request ``tare`` takes
    the present load as zero.
    """
    import mujoco

    from pliant.model import ForceTorque

    x, y, z = table.position
    body = spec.worldbody.add_body(name="table", pos=[x, y, z])
    body.add_geom(
        name="table",
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=[0.5 * table.size[0], 0.5 * table.size[1], 0.5 * table.thickness],
        pos=[0.0, 0.0, -0.5 * table.thickness],
        rgba=list(_WOOD),
        mass=table.mass,
        friction=[0.6, 0.005, 0.0001],  # assumed
    )
    length = z - table.thickness
    for sx in (-1.0, 1.0) if length > 0.05 else ():
        for sy in (-1.0, 1.0):
            body.add_geom(
                type=mujoco.mjtGeom.mjGEOM_CYLINDER,
                size=[0.02, 0.5 * length, 0.0],
                pos=[
                    sx * (0.5 * table.size[0] - 0.05),
                    sy * (0.5 * table.size[1] - 0.05),
                    -table.thickness - 0.5 * length,
                ],
                rgba=list(_STEEL),
                mass=0.0,
                contype=0,
                conaffinity=0,
            )
    return [ForceTorque(name="scale", body="table", rate=1000.0)]


def add_objects(
    spec: mujoco.MjSpec,
    objects: Sequence[TableObject],
    *,
    top: tuple[float, float, float],
    base: tuple[float, float],
    hand: Array,
    touch: float,
) -> None:
    """Add objects to a scene.

    Args:
        spec: the scene; what is fixed is a child of its body ``table``, or of the world where there is none.
        objects: the objects; their names must differ from those of the scene.
        top: a point of the table's top [m].
        base: x and y of the arm's base [m], from which places are measured.
        hand: origin of the end effector at the start, in the world, shape (3,) [m].
        touch: height of a surface at the hand over this origin [m].

    Raises:
        ModelError: an object at a hand below the table, or beyond the table's edge.
    """
    import mujoco

    table = spec.body("table")
    for thing in objects:
        height = _height(thing.kind)
        if thing.place == "hand":
            x, y = float(hand[0]), float(hand[1])
            bottom = float(hand[2]) + (-0.5 * height if thing.graspable else touch - height)
            if bottom < top[2] + 0.002:
                raise ModelError(
                    f"{thing.name}: the hand is {float(hand[2]) - top[2]:.3f} m above the table; an object at the hand "
                    f"needs {height:.2f} m. Lower the table or move the arm",
                    field="objects",
                )
        else:
            x, y, bottom = base[0] + thing.place[0], base[1] + thing.place[1], top[2]
            _check_on_table(table, thing, base)
        carrier, origin = (spec.worldbody, (0.0, 0.0, 0.0)) if table is None else (table, tuple(table.pos))
        if bottom > top[2]:
            carrier.add_geom(
                name=f"{thing.name}_post",
                type=mujoco.mjtGeom.mjGEOM_CYLINDER,
                size=[POST if not thing.graspable else 0.01, 0.5 * (bottom - top[2]), 0.0],
                pos=[x - origin[0], y - origin[1], 0.5 * (bottom + top[2]) - origin[2]],
                rgba=list(_STEEL),
                mass=0.0,
            )
        if thing.graspable:
            _add_graspable(spec, thing, (x, y, bottom))
        else:
            _add_fixed(carrier, thing, (x - origin[0], y - origin[1], bottom - origin[2]))
            if thing.kind == "pad":  # a joint of its own stops it, not what carries it
                spec.add_exclude(bodyname1=carrier.name, bodyname2=thing.name)


def _check_on_table(table: mujoco.MjsBody | None, thing: TableObject, base: tuple[float, float]) -> None:
    """Raise an error for an object that is not wholly on the table, if there is one."""
    assert thing.place != "hand"
    if table is None:
        return
    half, room = table.first_geom().size, HALF_WIDTHS[thing.kind]
    if any(abs(base[i] + thing.place[i] - table.pos[i]) + room > half[i] for i in (0, 1)):
        raise ModelError(
            f"{thing.name}: there is no table at {thing.place[0]:g}/{thing.place[1]:g}; its top is "
            f"{2.0 * half[0]:g} m by {2.0 * half[1]:g} m, with its middle at {table.pos[0] - base[0]:g}/"
            f"{table.pos[1] - base[1]:g}; give it a place on it, as {thing.kind}@X/Y",
            field="objects",
        )


def _height(kind: str) -> float:
    return {"box": BOX, "cylinder": CYLINDER[1], "peg": PEG[1], "hole": HOLE[1], "pad": PAD[1], "plate": PLATE[1]}[kind]


def _add_graspable(spec: mujoco.MjSpec, thing: TableObject, bottom: tuple[float, float, float]) -> None:
    """Add a free body that stands on a point."""
    import mujoco

    half = 0.5 * _height(thing.kind)
    body = spec.worldbody.add_body(name=thing.name, pos=[bottom[0], bottom[1], bottom[2] + half])
    body.add_freejoint(name=thing.name)
    box = thing.kind == "box"
    radius = CYLINDER[0] if thing.kind == "cylinder" else PEG[0]
    body.add_geom(
        name=thing.name,
        type=mujoco.mjtGeom.mjGEOM_BOX if box else mujoco.mjtGeom.mjGEOM_CYLINDER,
        size=[half] * 3 if box else [radius, half, 0.0],
        rgba=list(_COLOURS[thing.kind]),
        density=DENSITY,
        condim=4,
        friction=[0.8, 0.005, 0.0001],  # assumed
        priority=1,  # its surface decides, not the finger's
        # Hard wood: MuJoCo's usual contact of so light a body yields by 3 mm to the force of the hand.
        solref=[0.004, 1.0],
        solimp=[0.95, 0.99, 0.0005, 0.5, 2.0],
    )


def _add_fixed(carrier: mujoco.MjsBody, thing: TableObject, at: tuple[float, float, float]) -> None:
    """Add a part that is fixed to the table, or yields along z."""
    import mujoco

    height = _height(thing.kind)
    body = carrier.add_body(name=thing.name, pos=[at[0], at[1], at[2] + 0.5 * height])
    look = {"type": mujoco.mjtGeom.mjGEOM_BOX, "rgba": list(_COLOURS[thing.kind])}
    if thing.kind == "hole":
        inner = PEG[0] + CLEARANCE
        wall = 0.5 * (0.5 * HOLE[0] - inner)
        for k, (sx, sy) in enumerate(((1, 0), (-1, 0), (0, 1), (0, -1))):
            body.add_geom(
                name=f"{thing.name}_wall{k + 1}",
                size=[wall if sx else inner, wall if sy else 0.5 * HOLE[0], 0.5 * height],
                pos=[sx * (inner + wall), sy * (inner + wall), 0.0],
                mass=0.1,
                friction=[0.3, 0.005, 0.0001],  # assumed
                **look,
            )
        return
    edge = PAD[0] if thing.kind == "pad" else PLATE[0]
    if thing.kind == "pad":
        body.add_joint(
            name=thing.name,
            type=mujoco.mjtJoint.mjJNT_SLIDE,
            axis=[0, 0, 1],
            stiffness=[PAD_STIFFNESS, 0, 0],
            damping=[PAD_DAMPING, 0, 0],
            springref=PAD_MASS * 9.81 / PAD_STIFFNESS,  # it carries its own weight where it stands
            range=[-0.9 * height, 0.01],
            limited=True,
        )
    body.add_geom(
        name=thing.name,
        size=[0.5 * edge, 0.5 * edge, 0.5 * height],
        mass=PAD_MASS if thing.kind == "pad" else 0.5,
        friction=[0.8, 0.005, 0.0001],  # assumed
        **look,
    )


def table_camera(table: Table) -> Camera:
    """Return the description of a camera that looks at a table from its far side, the device ``table_camera``."""
    import numpy as np

    from pliant.base.spatial import quaternion_from_rotation
    from pliant.model import Camera

    x, y, z = table.position
    eye = np.array([x + 1.0, y, z + 0.8])
    forward = np.array([x - 0.1, y, z + 0.22]) - eye
    forward /= np.linalg.norm(forward)
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    rotation = np.stack([right, np.cross(forward, right), forward], axis=1)  # optical axes: right, down, forward
    return Camera(
        name="table_camera",
        body="world",
        pos=(float(eye[0]), float(eye[1]), float(eye[2])),
        quat=tuple(quaternion_from_rotation(rotation).tolist()),
        fovy=58.0,
        width=640,
        height=480,
        rate=30.0,
        depth=True,
    )

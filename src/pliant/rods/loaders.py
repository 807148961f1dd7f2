"""Read robots: pliant's own YAML, the folders of the Gazebo simulator, and the catalogue by name.

pliant's YAML (lengths in metres, angles in radians, pascal, kilogram, newton; a number may carry a unit as text:
``5 mm``, ``30 deg``, ``200 GPa``, ``100 g``)::

    name: three-legs
    kind: spatial                     # or planar: poses are then {xy: [x, y], angle: a}
    gravity: [0, 0, -9.81]
    plate: {mass: 0.1, com: [0, 0, 0]}
    home: {xyz: [0, 0, 1.1], rpy: [0, 0, 0], q: [0, 0, 0]}
    controlled: [z, rx, ry]           # only with fewer actuators than plate freedoms
    limb:                             # what all limbs share; each limb may override any part
      rod: {length: 1.0, radius: 1 mm, E: 200 GPa, G: 80 GPa, density: 8000}
      joints: [{type: prismatic, axis: [0, 0, 1], limits: [-1, 0.4]}]
      attach: {xyz: [0, 0, 0.1]}      # rod base in the frame that the last joint moves
      plate_joint: {type: revolute, axis: [0, 0, 1], attach: {xyz: [0, 0, -0.04]}}
    limbs:
      - base: {xyz: [0.5, 0, 0]}
        plate_joint: {xyz: [0.3, 0, 0]}

A planar rod leaves its base along the local y axis, a spatial one along the local z axis.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from pliant.base.documents.files import exists
from pliant.base.documents.yaml_tree import Document, parse_yaml, read_yaml
from pliant.base.errors import ModelError, nearest
from pliant.base.spatial import pose, rotation_from_rpy
from pliant.rods.description import (
    BASE_JOINT_KINDS,
    DISTAL_JOINT_KINDS,
    BaseJoint,
    DistalJoint,
    GivenStiffness,
    Limb,
    Plate,
    Rectangular,
    RobotDescription,
    Rod,
    Round,
    planar_turn,
)
from pliant.rods.gazebo import read_gazebo_folder
from pliant.rods.listed import headers
from pliant.rods.robot import ContinuumParallelRobot

T = TypeVar("T")

UNITS = {
    "m": ("length", 1.0),
    "cm": ("length", 1e-2),
    "mm": ("length", 1e-3),
    "um": ("length", 1e-6),
    "rad": ("angle", 1.0),
    "deg": ("angle", np.pi / 180.0),
    "Pa": ("pressure", 1.0),
    "kPa": ("pressure", 1e3),
    "MPa": ("pressure", 1e6),
    "GPa": ("pressure", 1e9),
    "kg": ("mass", 1.0),
    "g": ("mass", 1e-3),
    "kg/m": ("mass per length", 1.0),
    "g/m": ("mass per length", 1e-3),
    "kg/m^3": ("density", 1.0),
    "g/cm^3": ("density", 1e3),
    "N": ("force", 1.0),
    "N/m": ("force per length", 1.0),
    "N m": ("moment", 1.0),
    "N m^2": ("bending stiffness", 1.0),
    "1/m": ("curvature", 1.0),
}


class PlacedError(ModelError):
    """Error whose message names the field in full."""


class Reader:
    """Takes values out of a mapping, with checks; messages carry file, line and field.

    Args:
        data: the mapping.
        document: the document that it comes from.
        places: keys that lead to it in the document; a mapping that was merged from several stands in several places.
        field: how messages name it.
    """

    def __init__(
        self, data: object, document: Document, places: Sequence[tuple[str | int, ...]] = ((),), field: str = ""
    ) -> None:
        self.document, self.places, self.field = document, places, field
        if not isinstance(data, Mapping):
            raise PlacedError(
                f"{field or 'the file'} must be a mapping, found {data!r}", file=document.file, line=self.line(),
                field=field,
            )  # fmt: skip
        self.data = data

    def line(self, *keys: str | int) -> int | None:
        """Return the line of a value, or of the nearest value around it."""
        for place in self.places:
            if (*place, *keys) in self.document.lines:
                return self.document.lines[(*place, *keys)]
        return self.document.line(*self.places[0])

    def fail(self, message: str, key: str | None = None) -> PlacedError:
        field = ".".join(v for v in (self.field, key or "") if v)
        line = self.line() if key is None else self.line(key)
        text = f"{field}: {message}" if field else message
        return PlacedError(text, file=self.document.file, line=line, field=field)

    @contextlib.contextmanager
    def placing(self) -> Iterator[None]:
        """Give the errors of a dataclass the file, line and key that its values come from."""
        try:
            yield
        except ModelError as fault:
            if isinstance(fault, PlacedError) or fault.file is not None:
                raise
            key = SHORT.get(fault.field or "", fault.field)
            raise self.fail(fault.message, key if isinstance(key, str) and key in self.data else None) from None

    def known(self, *keys: str, empty: str = "") -> None:
        """Refuse unknown keys, and keys without a value but for `empty`, whose null has a meaning."""
        for key in self.data:
            if key not in keys:
                raise self.fail(f"this key is not known; {nearest(str(key), keys)}", key)
            if self.data[key] is None and key != empty:
                raise self.fail("this key has no value; give it one, or leave the key out for its default", key)

    def __contains__(self, key: str) -> bool:
        return key in self.data

    def sub(self, key: str) -> Reader:
        return self.inner(self.data[key], key, field=".".join(v for v in (self.field, key) if v))

    def inner(self, data: object, *keys: str | int, field: str) -> Reader:
        """Return the reader of a mapping further inside."""
        return Reader(data, self.document, [(*place, *keys) for place in self.places], field)

    def number(self, key: str, quantity: str, default: float | None = None) -> float:
        if key not in self:
            if default is None:
                unit = next((f" [{u}], or one with its unit" for u, (kind, _) in UNITS.items() if kind == quantity), "")
                raise self.fail(f"a {quantity} is missing; must be a number{unit}", key)
            return default
        return self._value(self.data[key], quantity, key)

    def _value(self, value: object, quantity: str, key: str) -> float:
        if isinstance(value, bool):
            raise self.fail(f"needs a {quantity}, found {value!r}", key)
        if isinstance(value, str):
            match = re.fullmatch(r"\s*([-+0-9.eE]+)\s*(.*?)\s*", value)
            if match is None:
                raise self.fail(f"needs a {quantity}, found {value!r}", key)
            number, unit = match.groups()
            try:
                out = float(number)
            except ValueError:
                raise self.fail(f"needs a {quantity}, found {value!r}", key) from None
            if unit:
                if unit not in UNITS:
                    raise self.fail(f"unit {unit!r} is not known; {nearest(unit, UNITS, limit=30)}", key)
                kind, factor = UNITS[unit]
                if kind != quantity:
                    fits = [u for u, (k, _) in UNITS.items() if k == quantity]
                    raise self.fail(f"needs a {quantity}, found {value!r}; valid units: {', '.join(fits)}", key)
                out *= factor
        elif isinstance(value, (int, float)):
            out = float(value)
        else:
            raise self.fail(f"needs a {quantity}, found {value!r}", key)
        if not np.isfinite(out):
            raise self.fail(f"must be finite, found {value!r}", key)
        return out

    def vector(self, key: str, quantity: str, size: int, default=None) -> tuple[float, ...]:
        if key not in self:
            if default is None:
                raise self.fail(f"{size} numbers are missing; must be a list of {size}, each a {quantity}", key)
            return tuple(default)
        value = self.data[key]
        if not isinstance(value, (list, tuple)) or len(value) != size:
            raise self.fail(f"needs {size} numbers, found {value!r}", key)
        return tuple(self._value(v, quantity, key) for v in value)

    def text(self, key: str, default: str) -> str:
        value = self.data.get(key)
        if value is not None and not isinstance(value, str):
            raise self.fail(f"needs a text, found {value!r}; a name of digits is written in quotes", key)
        return value or default

    def flag(self, key: str, default: bool) -> bool:
        value = self.data.get(key, default)
        if not isinstance(value, bool):
            raise self.fail(f"must be true or false, found {value!r}", key)
        return value

    def values(self, key: str, quantity: str) -> tuple[float, ...]:
        """Return a list of one number or more."""
        value = self.data[key]
        if not isinstance(value, list) or not value:
            raise self.fail(f"needs a list of numbers, found {value!r}", key)
        return tuple(self._value(v, quantity, key) for v in value)

    def whole(self, key: str, default: int | None = None) -> int:
        value = self.data.get(key, default)
        if value is None:
            raise self.fail("is missing; must be a whole number", key)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.fail(f"needs a whole number, found {value!r}", key)
        return value

    def choice(self, key: str, valid, default: str | None = None) -> str:
        value = self.data.get(key, default)
        if value not in valid:
            fault = f"a {key} is missing" if value is None else f"{value!r} is not known"
            raise self.fail(f"{fault}; {nearest(str(value), valid)}", key)
        return value


def read_frame(r: Reader, planar: bool) -> np.ndarray:
    """Read xyz and rpy (or xy and angle) of a mapping."""
    if planar:
        if "xyz" in r or "rpy" in r:
            raise r.fail("a planar robot's poses are {xy: [x, y], angle: a}", "xyz" if "xyz" in r else "rpy")
        x, y = r.vector("xy", "length", 2, (0.0, 0.0))
        return pose((x, y, 0.0), rotation_from_rpy((0.0, 0.0, r.number("angle", "angle", 0.0))))
    if "xy" in r or "angle" in r:
        raise r.fail("a spatial robot's poses are {xyz: [x, y, z], rpy: [r, p, y]}", "xy" if "xy" in r else "angle")
    return pose(
        r.vector("xyz", "length", 3, (0.0, 0.0, 0.0)),
        rotation_from_rpy(r.vector("rpy", "angle", 3, (0.0, 0.0, 0.0))),
    )


FRAME = ("xyz", "rpy", "xy", "angle")
SHORT = {"young_modulus": "E", "shear_modulus": "G"}
"""Keys of fields that have another name in files."""


def find_or_read(
    name: str | Path, robots: Mapping[str, Callable[[], T]], describe: Callable[[Document], T], kind: str,
    suffixes: Sequence[str],
) -> T:  # fmt: skip
    """Return a description of a catalogue, or what a file describes.

    Args:
        name: a name of the catalogue, or a path.
        robots: the catalogue.
        describe: turns a document into a description.
        kind: how messages name such a robot.
        suffixes: endings of files, in small letters.

    Raises:
        ModelError: there is none of this name, or the file is not valid; the message names file, line and key.
    """
    if str(name) in robots:
        return robots[str(name)]()
    path = Path(name)
    if path.suffix.lower() not in suffixes:
        raise ModelError(
            f"there is no {kind} {str(name)!r}; {nearest(str(name), robots)}, or a file .yaml", field="robot"
        )
    return describe(read_yaml(path))


def read_pose(r: Reader, key: str, planar: bool = False) -> np.ndarray:
    """Read the frame at a key, where there is one."""
    if key not in r:
        return np.eye(4)
    frame = r.sub(key)
    frame.known(*FRAME)
    return read_frame(frame, planar)


def field_keys(kind: Any) -> list[str]:
    """Return the keys of the fields of a dataclass that are declared by `pliant.rods.checks.quantity`."""
    return [SHORT.get(f.name, f.name) for f in dataclasses.fields(kind) if "quantity" in f.metadata]


def read_fields(r: Reader, kind: Any) -> dict[str, Any]:
    """Read these fields, with their units; those with a default may be left out."""
    out = {}
    for f in dataclasses.fields(kind):
        key, quantity = SHORT.get(f.name, f.name), f.metadata.get("quantity")
        if quantity is not None and (key in r or f.default is dataclasses.MISSING):
            if f.metadata["size"] is not None:
                out[f.name] = r.vector(key, quantity, f.metadata["size"])
            else:
                out[f.name] = r.whole(key) if quantity == "whole" else r.number(key, quantity)
    return out


def read_rod(r: Reader) -> Rod:
    r.known(
        *(key for kind in (Rod, Round, Rectangular) for key in field_keys(kind)), "stiffness", "poisson", "precurvature"
    )
    shapes = [key for key in ("radius", "width", "stiffness") if key in r]
    if len(shapes) != 1:
        raise r.fail(f"needs one of radius, width (with height) or stiffness, found {shapes or 'none'}")
    values = read_fields(r, Rod)
    poisson = r.number("poisson", "ratio", 0.25)
    if "G" not in r:
        values["shear_modulus"] = values.get("young_modulus", 200e9) / (2.0 * (1.0 + poisson))
    with r.placing():
        if shapes[0] == "stiffness":
            stiffness = r.sub("stiffness")
            stiffness.known(*field_keys(GivenStiffness))
            section = GivenStiffness(**read_fields(stiffness, GivenStiffness))
        else:
            shape = Round if shapes[0] == "radius" else Rectangular
            section = shape(**read_fields(r, shape))
        curved: tuple = ()
        if "precurvature" in r:
            rows = r.data["precurvature"]
            if isinstance(rows, list) and len(rows) == 3 and not isinstance(rows[0], list):
                curved = ((0.0, *r.vector("precurvature", "curvature", 3)),)
            elif isinstance(rows, list) and all(isinstance(v, list) and len(v) == 4 for v in rows):
                curved = tuple(tuple(r._value(v, "curvature", "precurvature") for v in row) for row in rows)
            else:
                raise r.fail("needs three numbers (u1, u2, u3) or rows (s, u1, u2, u3)", "precurvature")
        return Rod(section=section, precurvature=curved, **values)


def merge(base: Any, over: Any) -> Any:
    """Return base with the values of over, mappings merged, everything else replaced."""
    if isinstance(base, Mapping) and isinstance(over, Mapping):
        return {**base, **{key: merge(base[key], over[key]) if key in base else over[key] for key in over}}
    return over


def _joint(r: Reader, planar: bool) -> BaseJoint:
    r.known("type", "axis", "passive", "limits", *FRAME)
    kind = r.choice("type", BASE_JOINT_KINDS)
    limits = None
    if "limits" in r:
        limits = r.vector("limits", "angle" if kind == "revolute" else "length", 2)
        if not limits[0] < limits[1]:
            raise r.fail(f"the lower limit must be below the upper one, found {limits}", "limits")
    passive = r.flag("passive", False)
    default = (1.0, 0.0, 0.0) if planar and kind == "prismatic" else (0.0, 0.0, 1.0)
    with r.placing():
        return BaseJoint(
            kind=kind,
            axis=r.vector("axis", "direction", 3, default),
            actuated=not passive,
            pose=read_frame(r, planar),
            limits=limits,
        )


def _limb(r: Reader, number: int, planar: bool) -> Limb:
    r.known("name", "rod", "base", "joints", "attach", "plate_joint")
    for key in ("rod", "plate_joint"):
        if key not in r:
            raise r.fail(f"limb {number} has no {key}; one is needed here, or under limb for all limbs", key)
    joints = r.data.get("joints") or []
    if not isinstance(joints, list):
        raise r.fail(f"needs a list of joints, found {joints!r}", "joints")
    p = r.sub("plate_joint")
    p.known("type", "axis", "axis_2", "attach", *FRAME)
    turn = planar_turn() if planar else np.eye(4)

    kind = p.choice("type", DISTAL_JOINT_KINDS)
    default = (1.0, 0.0, 0.0) if kind == "universal" or (planar and kind == "prismatic") else (0.0, 0.0, 1.0)
    with p.placing():
        distal = DistalJoint(
            kind=kind,
            axis=p.vector("axis", "direction", 3, default),
            axis_2=p.vector("axis_2", "direction", 3, (0.0, 1.0, 0.0)),
            pose=read_frame(p, planar),
            attach=read_pose(p, "attach", planar) @ turn,
        )
    return Limb(
        name=r.text("name", ""),
        rod=read_rod(r.sub("rod")),
        base=read_pose(r, "base", planar),
        joints=tuple(
            _joint(r.inner(joint, "joints", k, field=f"{r.field}.joints[{k + 1}]"), planar)
            for k, joint in enumerate(joints)
        ),
        attach=read_pose(r, "attach", planar) @ turn,
        distal=distal,
    )


def describe(document: Document) -> RobotDescription:
    """Turn the YAML document of a robot into a description.

    Raises:
        ModelError: with file, line and field of the fault.
    """
    r = Reader(document.value, document)
    r.known(
        "name",
        "aliases",
        "summary",
        "source",
        "kind",
        "gravity",
        "plate",
        "home",
        "controlled",
        "limb",
        "limbs",
        "configurations",
        "notes",
    )
    planar = r.choice("kind", ("spatial", "planar"), "spatial") == "planar"
    limbs = r.data.get("limbs")
    if not isinstance(limbs, list) or not limbs:
        raise r.fail(f"needs a list of one limb or more, found {limbs!r}", "limbs")
    shared = r.data.get("limb") or {}
    built = []
    for k, one in enumerate(limbs):
        merged = merge(shared, one) if isinstance(one, Mapping) else one
        reader = Reader(merged, document, (("limbs", k), ("limb",)), f"limbs[{k + 1}]")
        built.append(_limb(reader, k + 1, planar))
    plate = Plate()
    if "plate" in r:
        p = r.sub("plate")
        p.known(*field_keys(Plate))
        with p.placing():
            plate = Plate(**read_fields(p, Plate))
    home, home_joints = np.eye(4), None
    if "home" in r:
        h = r.sub("home")
        h.known(*FRAME, "q")
        home = read_frame(h, planar)
        if "q" in h:
            home_joints = h.values("q", "joint value")
    configurations = {}
    if "configurations" in r:
        c = r.sub("configurations")
        for name in c.data:
            one = c.sub(name)
            one.known("q", "pose", "brief")
            configurations[str(name)] = {key: one.values(key, "number") for key in ("q", "pose") if key in one}
    controlled = r.data.get("controlled")
    if controlled is not None and not (isinstance(controlled, list) and all(isinstance(v, str) for v in controlled)):
        raise r.fail(f"needs a list of freedoms, found {controlled!r}", "controlled")
    default = (0.0, 0.0, 0.0) if planar else (0.0, 0.0, -9.81)
    return RobotDescription(
        name=r.text("name", Path(document.file).stem if document.file else "robot"),
        limbs=tuple(built),
        plate=plate,
        planar=planar,
        gravity=r.vector("gravity", "acceleration", 3, default),
        home=home,
        home_joints=home_joints,
        controlled=None if controlled is None else tuple(controlled),
        configurations=configurations,
        file=None if document.file is None else str(document.file),
    )


def read_robot_yaml(path: str | Path) -> RobotDescription:
    """Read a robot from a YAML file.

    Raises:
        ModelError: the file is missing, no YAML, or describes no valid robot; with file and line.
    """
    return describe(read_yaml(path))


def catalogue() -> tuple[str, ...]:
    """Return the names of the robots that come with pliant."""
    folder = resources.files("pliant.rods") / "catalogue"
    return tuple(sorted(item.name[: -len(".yaml")] for item in folder.iterdir() if item.name.endswith(".yaml")))


@functools.cache
def short_names() -> dict[str, str]:
    """Return the names under which the catalogue's robots are also known -> their full names.

    The papers omit the family of the hexapods (6PFR), and name planar robots by how their rods are held (3EFR for 3ER).
    """
    return {alias: one["name"] for one in headers() for alias in one.get("aliases", ())}


def full_name(text: str) -> str | None:
    """Return the catalogue's name for a robot, whatever the case of its letters; None where it has none."""
    if text in catalogue():
        return text
    known = {name: name for name in catalogue()} | short_names()
    if text in known:
        return known[text]
    return next((name for short, name in known.items() if short.lower() == text.lower()), None)


def load_description(name_or_path: str | Path) -> RobotDescription:
    """Return the description of a catalogue robot, a YAML file, or a folder of the Gazebo simulator.

    Raises:
        ModelError: there is none of that name; the message says which is the nearest. Or its description is wrong.
    """
    text = str(name_or_path)
    known = None if text not in catalogue() and exists(Path(name_or_path)) else full_name(text)
    if known is not None:
        text = known
        item = resources.files("pliant.rods") / "catalogue" / f"{text}.yaml"
        return describe(parse_yaml(item.read_bytes(), str(item)))
    path = Path(name_or_path)
    if path.is_dir() or path.name == "robot_config.yaml":
        return read_gazebo_folder(path if path.is_dir() else path.parent)
    if path.suffix in (".yaml", ".yml") or exists(path):
        return read_robot_yaml(path)
    near = nearest(text, [*catalogue(), *short_names()], limit=30)
    raise ModelError(f"there is no robot and no file {text!r}; {near}", field="name")


def load_robot(name_or_path: str | Path, *, accuracy: str = "accurate") -> ContinuumParallelRobot:
    """Return a robot ready to solve: a catalogue name, a YAML file, or a folder of the Gazebo simulator.

    Example:
        >>> robot = load_robot("Stewart_Gough_6PFR")
        >>> robot.solve_igm(robot.description.home).q
    """
    return ContinuumParallelRobot(load_description(name_or_path), accuracy=accuracy)

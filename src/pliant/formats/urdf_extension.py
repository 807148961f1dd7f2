"""Extension of URDF: properties of a robot in the ``<mujoco>`` element and in Gazebo's own tags.

MuJoCo reads ``<compiler>``, ``<option>`` and ``<size>`` in that element. pliant reads these as well, in MJCF's words:
``<joint>`` (armature, springs, limits of the solver), ``<inertial>``, ``<body>``, ``<geom>`` (contact parameters, and
shapes that URDF lacks), ``<site>``, ``<equality>``, ``<contact>``, and ``<compose>``: links that stand between several
joints of one body. ``pliant export urdf`` writes them. Of Gazebo's tags, ``mu1``, ``mu2``, ``springStiffness`` and
``springReference`` are read.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import mujoco
import numpy as np

from pliant.base.documents.xml_tree import Node, line_of
from pliant.base.errors import ModelError, nearest
from pliant.base.options import parse_bool, parse_number, parse_vector
from pliant.base.spatial import rotation_from_rpy, rpy_from_rotation
from pliant.formats.tags import Sink, Tags, numbers

NATIVE = ("compiler", "option", "size")
"""Children of ``<mujoco>`` that MuJoCo itself reads in a URDF."""
OWN = ("joint", "inertial", "body", "geom", "site", "equality", "contact", "compose")
"""Children that pliant reads."""
OWN_SHAPES = {
    "plane": mujoco.mjtGeom.mjGEOM_PLANE,
    "ellipsoid": mujoco.mjtGeom.mjGEOM_ELLIPSOID,
    "capsule": mujoco.mjtGeom.mjGEOM_CAPSULE,
    "sphere": mujoco.mjtGeom.mjGEOM_SPHERE,
    "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
    "box": mujoco.mjtGeom.mjGEOM_BOX,
}
"""Shapes by MJCF's name; URDF itself has sphere, cylinder and box."""
FRICTION_TAGS = ("mu1", "mu2")
SPRING_TAGS = ("springStiffness", "springReference")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """An attribute of an element of ``<mujoco>``: what it is called in the file and in MuJoCo's spec."""

    spec: str
    """Name in `mujoco.MjSpec`."""
    length: int = 1
    """Largest count of numbers."""
    least: int | None = None
    """Smallest count of numbers; None for ``length``."""
    low: float = -math.inf
    """Smallest valid number."""
    kind: str = "number"
    """"number", "integer", "flag" (true or false), "limited" (a flag that MuJoCo keeps as a choice of three)."""

    def parse(self, text: str, what: str) -> object:
        """Return the value of a text as the spec takes it.

        Raises:
            ModelError: not such a value.
        """
        if self.kind in ("flag", "limited"):
            value = parse_bool(text, what)
            if self.kind == "flag":
                return value
            return mujoco.mjtLimited.mjLIMITED_TRUE if value else mujoco.mjtLimited.mjLIMITED_FALSE
        if self.kind == "integer":
            number = int(parse_number(text, what, integer=True))
            if not max(self.low, -(2**31)) <= number < 2**31:
                raise ModelError(f"{what} is {text!r}; must be a whole number >= {self.low:g}", field=what)
            return number
        least = self.length if self.least is None else self.least
        count = len(text.replace(",", " ").split())
        if not least <= count <= self.length:
            valid = f"{least}" if least == self.length else f"{least} to {self.length}"
            raise ModelError(f"{what} is {text[:80]!r}, {count} numbers; must be {valid} numbers", field=what)
        numbers = parse_vector(text, what, count)
        if not all(math.isfinite(n) and n >= self.low for n in numbers):
            low = f" >= {self.low:g}" if math.isfinite(self.low) else ""
            raise ModelError(f"{what} is {text[:80]!r}; must be finite numbers{low}", field=what)
        return numbers[0] if self.length == 1 else numbers


def _solver(suffix: str, spec: str) -> dict[str, Attribute]:
    return {
        f"solref{suffix}": Attribute(spec=f"solref{spec}", length=2, least=1),
        f"solimp{suffix}": Attribute(spec=f"solimp{spec}", length=5, least=1),
    }


JOINT: dict[str, Attribute] = {
    "pos": Attribute(spec="pos", length=3),
    "armature": Attribute(spec="armature", low=0.0),
    "stiffness": Attribute(spec="stiffness", length=3, least=1),
    "damping": Attribute(spec="damping", length=3, least=1),
    "springref": Attribute(spec="springref"),
    "springyield": Attribute(spec="springyield", low=0.0),
    "frictionloss": Attribute(spec="frictionloss", low=0.0),
    "margin": Attribute(spec="margin"),
    "limited": Attribute(spec="limited", kind="limited"),
    "range": Attribute(spec="range", length=2),
    "actuatorfrclimited": Attribute(spec="actfrclimited", kind="limited"),
    "actuatorfrcrange": Attribute(spec="actfrcrange", length=2),
    "actuatorgravcomp": Attribute(spec="actgravcomp", kind="flag"),
    "group": Attribute(spec="group", kind="integer", low=0.0),
    **_solver("limit", "_limit"),
    **_solver("friction", "_friction"),
}
"""Attributes of ``<joint name=...>``: angles in rad, as in the spec of a URDF."""
INERTIAL: dict[str, Attribute] = {
    "mass": Attribute(spec="mass", low=0.0),
    "pos": Attribute(spec="ipos", length=3),
    "quat": Attribute(spec="iquat", length=4),
    "diaginertia": Attribute(spec="inertia", length=3, low=0.0),
}
"""Attributes of ``<inertial body=...>``; a mass of 0 alone makes the body's shapes weightless."""
BODY: dict[str, Attribute] = {
    "gravcomp": Attribute(spec="gravcomp"),
    "mocap": Attribute(spec="mocap", kind="flag"),
}
"""Attributes of ``<body name=...>``."""
GEOM: dict[str, Attribute] = {
    "size": Attribute(spec="size", length=3, least=1, low=0.0),
    "contype": Attribute(spec="contype", kind="integer"),
    "conaffinity": Attribute(spec="conaffinity", kind="integer"),
    "condim": Attribute(spec="condim", kind="integer", low=1.0),
    "friction": Attribute(spec="friction", length=3, least=1, low=0.0),
    "density": Attribute(spec="density", low=0.0),
    "priority": Attribute(spec="priority", kind="integer"),
    "solmix": Attribute(spec="solmix", low=0.0),
    "margin": Attribute(spec="margin"),
    "gap": Attribute(spec="gap"),
    "adhesion": Attribute(spec="adhesion"),
    "surfacevel": Attribute(spec="surfacevel", length=6),
    "group": Attribute(spec="group", kind="integer", low=0.0),
    "rgba": Attribute(spec="rgba", length=4, low=0.0),
    "fluidellipsoid": Attribute(spec="fluid_ellipsoid", low=0.0),
    "fluidcoef": Attribute(spec="fluid_coefs", length=5, low=0.0),
    **_solver("", ""),
}
"""Attributes of ``<geom name=...>`` beside ``type``; with ``body``, ``pos`` and ``quat`` it is a new shape."""
SITE: dict[str, Attribute] = {
    "pos": Attribute(spec="pos", length=3),
    "quat": Attribute(spec="quat", length=4),
    "size": Attribute(spec="size", length=3, least=1, low=0.0),
    "group": Attribute(spec="group", kind="integer", low=0.0),
    "rgba": Attribute(spec="rgba", length=4, low=0.0),
}
"""Attributes of ``<site name=... body=...>``."""
PAIR: dict[str, Attribute] = {
    "condim": Attribute(spec="condim", kind="integer", low=1.0),
    "friction": Attribute(spec="friction", length=5, least=1, low=0.0),
    "margin": Attribute(spec="margin"),
    "gap": Attribute(spec="gap"),
    "adhesion": Attribute(spec="adhesion"),
    "solreffriction": Attribute(spec="solreffriction", length=2),
    **_solver("", ""),
}
"""Attributes of ``<contact><pair geom1=... geom2=...>``."""
EQUALITY: dict[str, Attribute] = _solver("", "")
"""Attributes of ``<equality><joint joint1=...>``, which refers to the joint that has a ``<mimic>``."""
PLACE: dict[str, Attribute] = {"pos": Attribute(spec="pos", length=3), "quat": Attribute(spec="quat", length=4)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mimic:
    """A joint that follows another: q = multiplier q_other + offset."""

    joint: str
    """The joint that follows."""
    other: str
    """The joint that it follows."""
    multiplier: float = 1.0
    """Ratio of the positions."""
    offset: float = 0.0
    """Position where the other is at 0 [rad or m]."""


@dataclass(slots=True)
class Extension:
    """The contents of a URDF's ``<mujoco>`` element that pliant reads itself; values by attribute of the spec."""

    joints: dict[str, dict[str, object]] = field(default_factory=dict)
    """Attributes by joint."""
    inertials: dict[str, dict[str, object]] = field(default_factory=dict)
    """Inertias by link."""
    bodies: dict[str, dict[str, object]] = field(default_factory=dict)
    """Other attributes by link."""
    geoms: dict[str, dict[str, object]] = field(default_factory=dict)
    """Attributes of the URDF's visuals and collisions, by name."""
    shapes: list[tuple[str, str, dict[str, object]]] = field(default_factory=list)
    """Shapes of its own: link, name, attributes."""
    sites: list[tuple[str, str, dict[str, object]]] = field(default_factory=list)
    """Sites: link, name, attributes."""
    couplings: dict[str, dict[str, object]] = field(default_factory=dict)
    """Solver parameters of the mimic constraint, by joint that follows."""
    excludes: list[tuple[str, str]] | None = None
    """Pairs of links that do not collide; None where the file leaves it to Gazebo's rule."""
    pairs: list[tuple[str, str, dict[str, object]]] = field(default_factory=list)
    """Pairs of shapes that collide by parameters of their own."""
    composed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Link -> the links between its joints, from the root on."""
    notes: list[str] = field(default_factory=list)
    """Omissions."""
    lines: dict[tuple[str, str], int | None] = field(default_factory=dict)
    """Line of the file by ("geom", name) of a shape and ("compose", name) of a composed link."""
    chains: dict[str, list[ET.Element]] = field(default_factory=dict)
    """Joint elements of the composed links, once `prepare` has taken them out."""

    def prepare(self, root: ET.Element, file: str | Path | None = None) -> None:
        """Take out of a URDF what `apply` puts in again: composed joints, visuals that repeat a collision.

        Raises:
            ModelError: the joints of a composed link are not a chain of hinges and slides.
        """
        for link in root.findall("link"):
            both = {c.get("name") for c in link.findall("collision")} & set(self.geoms)
            for visual in [v for v in link.findall("visual") if v.get("name") in both]:
                link.remove(visual)
        for body, between in self.composed.items():
            self.chains[body] = _take_out_chain(root, body, between, file, self.lines.get(("compose", body)))

    def apply(self, spec: mujoco.MjSpec, file: str | Path | None = None) -> None:
        """Put what the element says into the spec that MuJoCo made of the rest.

        Raises:
            ModelError: a shape that does not exist.
        """
        bodies = {b.name: b for b in spec.bodies}
        for name, chain in self.chains.items():
            _add_chain(bodies[name], chain)
        joints = {j.name: j for j in spec.joints}
        for name, values in self.joints.items():
            _assign(joints[name], values)
        for name, values in self.inertials.items():
            if values.get("mass") == 0.0 and len(values) == 1:
                for geom in bodies[name].geoms:
                    geom.mass, geom.density = 0.0, 0.0
            else:
                bodies[name].explicitinertial = True
                bodies[name].fullinertia = [math.nan, 0, 0, 0, 0, 0]
                _assign(bodies[name], values)
        for name, values in self.bodies.items():
            _assign(bodies[name], values)
        for body, name, values in self.shapes:
            _assign(bodies[body].add_geom(name=name, density=0.0), values)
        geoms = {g.name: g for g in spec.geoms if g.name}

        def find(name: str, missing: str) -> mujoco.MjsGeom:
            if name not in geoms:
                line = self.lines.get(("geom", name))
                raise ModelError(f"<mujoco>{missing}; {nearest(name, geoms)}", file=file, line=line, field=name)
            return geoms[name]

        for name, values in self.geoms.items():
            _assign(find(name, f"<geom name={name!r}>: no visual or collision of a link has that name"), values)
        for body, name, values in self.sites:
            _assign(bodies[body].add_site(name=name), values)
        for first, second in self.excludes or ():
            spec.add_exclude(bodyname1=first, bodyname2=second)
        for first, second, values in self.pairs:
            for name in (first, second):
                find(name, f"<contact><pair>: there is no shape {name!r}")
            _assign(spec.add_pair(geomname1=first, geomname2=second), values)

    def couple(self, spec: mujoco.MjSpec, mimics: Iterable[Mimic]) -> None:
        """Add the constraints of joints that follow others."""
        joints = {j.name: j for j in spec.joints}
        single = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
        for mimic in mimics:
            pair = [joints.get(name) for name in (mimic.joint, mimic.other)]
            if any(joint is None or joint.type not in single for joint in pair):
                continue
            equality = spec.add_equality(
                type=mujoco.mjtEq.mjEQ_JOINT,
                objtype=mujoco.mjtObj.mjOBJ_JOINT,
                name1=mimic.joint,
                name2=mimic.other,
                data=[mimic.offset, mimic.multiplier] + [0.0] * (mujoco.mjNEQDATA - 2),
            )
            _assign(equality, self.couplings.get(mimic.joint, {}))


def _assign(element: object, values: Mapping[str, object]) -> None:
    for name, value in values.items():
        if isinstance(value, list):
            # As in MJCF, numbers that are not given keep their defaults; those of a polynomial or a size are 0.
            target = np.array(getattr(element, name), dtype=float)
            target[len(value) :] *= name not in ("size", "stiffness", "damping")
            target[: len(value)] = value
            value = target
        setattr(element, name, value)


# -- reading ----------------------------------------------------------------------------------------------


class _Reader(Sink):
    def __init__(self, links: Mapping[str, object], joints: Mapping[str, str], file: str | Path | None) -> None:
        self.links = links
        self.joints = joints
        self.found = Extension()
        super().__init__(file, self.found.notes)

    def fail(self, element: ET.Element, message: str, field: str | None = None) -> ModelError:
        return Tags(element, f"<mujoco><{element.tag}>", self.file).fault(message, field, element)

    def name(self, element: ET.Element, attribute: str, valid: Iterable[str] | None = None) -> str:
        return Tags(element, f"<mujoco><{element.tag}>", self.file).name(attribute, valid)

    def values(self, element: ET.Element, table: Mapping[str, Attribute], names: Sequence[str]) -> dict[str, object]:
        out = {}
        for attribute, text in element.attrib.items():
            if attribute in names:
                continue
            if attribute not in table:
                raise self.fail(
                    element, f"unknown attribute {attribute!r}; {nearest(attribute, [*names, *table])}", attribute
                )
            try:
                out[table[attribute].spec] = table[attribute].parse(text, attribute)
            except ModelError as error:
                raise self.fail(element, error.message, attribute) from error
        for key in ("quat", "iquat"):
            if key in out and not math.hypot(*out[key]) > 1e-6:
                raise self.fail(element, f"the quaternion {element.get('quat')!r} has no direction", "quat")
        return out

    def put(
        self, table: dict[str, dict[str, object]], element: ET.Element, name: str, values: dict[str, object]
    ) -> None:
        if name in table:
            raise self.fail(element, f"{name!r} is given twice; keep one", name)
        table[name] = values

    def run(self, extension: ET.Element) -> None:
        for element in extension:
            if element.tag in NATIVE:
                self._refuse_nan(element)
            elif element.tag in OWN:
                getattr(self, f"_{element.tag}")(element)
            else:
                nearby = nearest(element.tag, (*NATIVE, *OWN))
                self.note(element, f"<mujoco><{element.tag}> of a URDF has no effect; {nearby}")

    def _refuse_nan(self, top: ET.Element) -> None:
        for element in top.iter():
            for attribute, text in element.attrib.items():
                if any(word.lower().lstrip("+-") in ("nan", "inf", "infinity") for word in text.split()):
                    raise self.fail(element, f"{attribute} is {text!r}; must be finite numbers", attribute)

    def _joint(self, element: ET.Element) -> None:
        name = self.name(element, "name", self.joints)
        if self.joints[name] == "fixed":
            raise self.fail(element, f"the joint {name!r} is fixed; must be a joint that moves", name)
        self.put(self.found.joints, element, name, self.values(element, JOINT, ("name",)))

    def _inertial(self, element: ET.Element) -> None:
        name = self.name(element, "body", self.links)
        values = self.values(element, INERTIAL, ("body",))
        if values != {"mass": 0.0} and set(values) != {"mass", "ipos", "iquat", "inertia"}:
            raise self.fail(element, f"of {name!r} has to give mass, pos, quat and diaginertia, or a mass of 0 alone")
        self.put(self.found.inertials, element, name, values)

    def _body(self, element: ET.Element) -> None:
        name = self.name(element, "name", self.links)
        self.put(self.found.bodies, element, name, self.values(element, BODY, ("name",)))

    def _geom(self, element: ET.Element) -> None:
        name = self.name(element, "name")
        self.found.lines["geom", name] = line_of(element)
        kind = element.get("type")
        names = ("name", "type", "body", "pos", "quat") if "body" in element.attrib else ("name", "type")
        values = self.values(element, GEOM, names)
        if kind is not None:
            values["type"] = OWN_SHAPES[self.name(element, "type", OWN_SHAPES)]
            if "size" not in values:
                raise self.fail(element, "a geom with a type needs a size", "size")
        if "body" not in element.attrib:
            self.put(self.found.geoms, element, name, values)
            return
        if kind is None:
            raise self.fail(element, f"the attribute 'type' is missing; must be one of {', '.join(OWN_SHAPES)}", "type")
        body = self.name(element, "body", self.links)
        taken = [n for _, n, _ in self.found.shapes]
        if name in taken:
            raise self.fail(element, f"{name!r} is given twice; keep one", name)
        others = [k for k in element.attrib if k not in PLACE]
        values |= self.values(element, PLACE, others)
        self.found.shapes.append((body, name, values))

    def _site(self, element: ET.Element) -> None:
        name, body = self.name(element, "name"), self.name(element, "body", self.links)
        if name in [n for _, n, _ in self.found.sites]:
            raise self.fail(element, f"{name!r} is given twice; keep one", name)
        self.found.sites.append((body, name, self.values(element, SITE, ("name", "body"))))

    def _equality(self, element: ET.Element) -> None:
        for child in element:
            if child.tag != "joint":
                raise self.fail(element, f"<{child.tag}> is not read in a URDF; must be <joint joint1=...>", child.tag)
            name = self.name(child, "joint1", self.joints)
            self.put(self.found.couplings, child, name, self.values(child, EQUALITY, ("joint1",)))

    def _contact(self, element: ET.Element) -> None:
        if self.found.excludes is None:
            self.found.excludes = []
        for child in element:
            if child.tag == "exclude":
                self.values(child, {}, ("body1", "body2"))
                bodies = (self.name(child, "body1", self.links), self.name(child, "body2", self.links))
                self.found.excludes.append(bodies)
            elif child.tag == "pair":
                values = self.values(child, PAIR, ("geom1", "geom2"))
                first, second = self.name(child, "geom1"), self.name(child, "geom2")
                for name in (first, second):
                    self.found.lines.setdefault(("geom", name), line_of(child))
                self.found.pairs.append((first, second, values))
            else:
                raise self.fail(child, "is not known; must be <exclude> or <pair>", child.tag)

    def _compose(self, element: ET.Element) -> None:
        body = self.name(element, "body", self.links)
        between = tuple(self.name(child, "name", self.links) for child in element.findall("link"))
        if not between or len(set(between)) != len(between) or body in between:
            raise self.fail(element, "must be <compose body=...> with the links between its joints, each once", body)
        if body in self.found.composed:
            raise self.fail(element, f"{body!r} is given twice; keep one", body)
        self.found.composed[body] = between
        self.found.lines["compose", body] = line_of(element)


def read_extension(
    root: ET.Element, links: Mapping[str, object], joints: Mapping[str, str], file: str | Path | None = None
) -> Extension:
    """Read what pliant knows of a URDF's ``<mujoco>`` element, and take it out of the tree.

    Args:
        root: the robot element; pliant's own children of ``<mujoco>`` are removed.
        links: the links, by name.
        joints: type of every joint, by name.
        file: name of the file, for messages.

    Raises:
        ModelError: an unknown name or attribute, a value that is not valid; the message names file and line.
    """
    reader = _Reader(links, joints, file)
    for extension in root.findall("mujoco"):
        reader.run(extension)
        for element in [e for e in extension if e.tag not in NATIVE]:
            extension.remove(element)
    return reader.found


def read_mimics(root: ET.Element, joints: Mapping[str, str], file: str | Path | None = None) -> list[Mimic]:
    """Read the ``<mimic>`` elements of a URDF's joints, and take them out of the tree.

    Raises:
        ModelError: an unknown joint, a joint that follows itself, a number that is none.
    """
    found = []
    for joint in root.findall("joint"):
        for mimic in joint.findall("mimic"):
            name, other = joint.get("name", ""), mimic.get("joint", "")
            tags = Tags(mimic, f"joint {name!r} mimics {other!r}", file)
            if other not in joints:
                raise tags.fault(nearest(other, joints), "mimic", mimic)
            if other == name:
                raise tags.fault("it follows itself; must be another joint", "mimic", mimic)
            numbers = {k: tags.attribute_number(k, default) for k, default in (("multiplier", 1.0), ("offset", 0.0))}
            found.append(Mimic(joint=name, other=other, **numbers))
            joint.remove(mimic)
    return found


# -- several joints of one body ---------------------------------------------------------------------------


def _pose(element: ET.Element) -> tuple[np.ndarray, np.ndarray]:
    """Return position and rotation matrix of an ``<origin>``."""
    origin = element.find("origin")
    if origin is None:
        return np.zeros(3), np.eye(3)
    position = np.array(parse_vector(origin.get("xyz", "0 0 0"), "xyz", 3))
    return position, rotation_from_rpy(parse_vector(origin.get("rpy", "0 0 0"), "rpy", 3))


def _pose_along(joints: Sequence[ET.Element]) -> tuple[np.ndarray, np.ndarray]:
    """Return position and rotation matrix behind joints that follow each other and are at 0."""
    position, rotation = np.zeros(3), np.eye(3)
    for joint in joints:
        p, r = _pose(joint)
        position, rotation = position + rotation @ p, rotation @ r
    return position, rotation


def _take_out_chain(
    root: ET.Element, body: str, between: Sequence[str], file: str | Path | None, line: int | None
) -> list[ET.Element]:
    """Replace the joints above a composed link by one fixed joint; return them, the first first."""
    above: dict[str, ET.Element] = {}
    below: dict[str, int] = {}
    for joint in root.findall("joint"):
        parent, child = (joint.find(end) for end in ("parent", "child"))
        if parent is not None and child is not None:
            above[child.get("link", "")] = joint
            below[parent.get("link", "")] = below.get(parent.get("link", ""), 0) + 1
    chain: list[ET.Element] = []
    names = [*between, body]

    def fail(message: str, field: str) -> ModelError:
        return ModelError(f"<mujoco><compose body={body!r}>: {message}", file=file, line=line, field=field)

    for index, name in enumerate(names):
        joint = above.get(name)
        parent = None if joint is None else joint.find("parent")
        before = None if parent is None else parent.get("link")
        moves = joint is not None and joint.get("type") in ("revolute", "continuous", "prismatic")
        if joint is None or not moves or (index and before != names[index - 1]):
            links = ", ".join(map(repr, names))
            raise fail(f"the links {links} are no chain of revolute, continuous and prismatic joints", body)
        chain.append(joint)
    for name in between:
        if below[name] != 1:
            carries = "is the parent of other links too; a link between the joints of one body carries nothing"
            raise fail(f"{name!r} {carries}", name)
    position, rotation = _pose_along(chain)
    fixed = ET.SubElement(root, "joint", name=chain[-1].get("name", ""), type="fixed")
    ET.SubElement(fixed, "origin", xyz=numbers(position), rpy=numbers(rpy_from_rotation(rotation)))
    for end, joint in (("parent", chain[0]), ("child", chain[-1])):
        element = joint.find(end)
        ET.SubElement(fixed, end, link="" if element is None else element.get("link", ""))
    for joint in chain:
        root.remove(joint)
    for link in [e for e in root.findall("link") if e.get("name") in between]:
        root.remove(link)
    return chain


def _add_chain(body: mujoco.MjsBody, chain: Sequence[ET.Element]) -> None:
    """Give a body the joints of a chain, each where it stands when all are at 0."""
    for index, joint in enumerate(chain):
        position, rotation = _pose_along(chain[index + 1 :])  # of the body in the frame of this joint's child
        axis = joint.find("axis")
        direction = np.array(parse_vector("1 0 0" if axis is None else axis.get("xyz", "1 0 0"), "axis", 3))
        kind = mujoco.mjtJoint.mjJNT_SLIDE if joint.get("type") == "prismatic" else mujoco.mjtJoint.mjJNT_HINGE
        added = body.add_joint(
            name=joint.get("name", ""), type=kind, axis=rotation.T @ direction, pos=-rotation.T @ position
        )
        limit, dynamics = joint.find("limit"), joint.find("dynamics")
        if dynamics is not None:
            added.damping = [float(dynamics.get("damping", 0.0)), 0.0, 0.0]
            added.frictionloss = float(dynamics.get("friction", 0.0))
        if limit is not None:
            if joint.get("type") != "continuous":
                added.range = [float(limit.get("lower", 0.0)), float(limit.get("upper", 0.0))]
            effort = float(limit.get("effort", 0.0))
            if effort > 0.0:
                added.actfrcrange = [-effort, effort]


# -- Gazebo's tags ----------------------------------------------------------------------------------------


def _texts(root: ET.Element, tags: Sequence[str]) -> Iterator[tuple[str, ET.Element, ET.Element]]:
    for element in root.findall("gazebo"):
        for child in element:
            if child.tag in tags:
                yield element.get("reference", ""), element, child


def read_gazebo_tags(root: Node, file: str | Path | None = None) -> dict[str, dict[str, float]]:
    """Read the friction and the joint springs of ``<gazebo reference=...>`` elements: name -> tag -> number.

    Raises:
        ModelError: a value that is no number of 0 or more (the reference of a spring: no finite number).
    """
    found: dict[str, dict[str, float]] = {}
    for name, element, child in _texts(root, (*FRICTION_TAGS, *SPRING_TAGS)):
        tags = Tags(element, f"<gazebo reference={name!r}>", file)
        least = -math.inf if child.tag == "springReference" else 0.0
        value = tags.number(child.tag, 0.0, least=least)
        found.setdefault(name, {})[child.tag] = value
    return found


def apply_gazebo_tags(spec: mujoco.MjSpec, tags: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Give links their friction and joints their springs; return notes of what MuJoCo cannot follow.

    MuJoCo's sliding friction is the same in both directions: where mu1 and mu2 differ, their mean is taken.
    """
    notes = []
    bodies = {b.name: b for b in spec.bodies}
    joints = {j.name: j for j in spec.joints}
    for name, values in tags.items():
        if name in bodies and any(t in values for t in FRICTION_TAGS):
            given = [values[t] for t in FRICTION_TAGS if t in values]
            if len(set(given)) > 1:
                notes.append(f"link {name!r}: mu1 {given[0]:g} and mu2 {given[1]:g} differ; their mean is taken")
            for geom in [g for g in bodies[name].geoms if g.contype or g.conaffinity]:
                friction = np.array(geom.friction)
                friction[0] = sum(given) / len(given)
                geom.friction = friction
        if name in joints and any(t in values for t in SPRING_TAGS):
            joints[name].stiffness = [values.get("springStiffness", 0.0), 0.0, 0.0]
            joints[name].springref = values.get("springReference", 0.0)
    return notes

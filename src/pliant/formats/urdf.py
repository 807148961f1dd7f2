"""URDF into a MuJoCo spec: the structure is checked with lines, meshes are found, then MuJoCo reads it."""

from __future__ import annotations

import hashlib
import math
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import mujoco
import numpy as np

from pliant.base.documents.files import read_file
from pliant.base.documents.xml_tree import Node, line_of
from pliant.base.errors import MissingDependency, ModelError, nearest
from pliant.base.options import parse_number, parse_vector
from pliant.formats.mesh_file import MAX_MESH_BYTES, NATIVE_MESHES, is_flat, read_mesh
from pliant.formats.resources import find_resource
from pliant.formats.tags import Sink, Tags
from pliant.formats.urdf_extension import (
    FRICTION_TAGS,
    SPRING_TAGS,
    Mimic,
    apply_gazebo_tags,
    read_extension,
    read_gazebo_tags,
    read_mimics,
)

ELEMENTS = ("link", "joint", "material", "mujoco")
"""Elements of a robot that MuJoCo reads."""
JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
MAX_LINKS = 5_000
"""Most links. 2,000 with a joint each on one link take 0.5 s to compile."""
MAX_CHAIN = 500
"""Longest chain of links. 500 take 0.3 s to compile, 1,000 take 2 s, 2,000 take 21 s."""
SMALLEST_RADIUS = 1e-4
"""Radius of gyration that a link with mass has at least [m]; assumed, a tenth of a millimetre."""
SMALLEST_MASS = 1e-6
"""Mass of a link of mass 0 that moves by itself [kg].  # assumed: a thousandth of a gram"""
SMALLEST_LEVER = 1e-2
"""Radius of gyration that such a link has at least [m].  # assumed"""
HELD = 1e-6
"""Half of the range of a joint with equal limits, which MuJoCo does not take [rad or m].  # assumed"""
INERTIA_PLACES = {"ixx": (0, 0), "iyy": (1, 1), "izz": (2, 2), "ixy": (0, 1), "ixz": (0, 2), "iyz": (1, 2)}
VECTORS = {
    "origin": {"xyz": 3, "rpy": 3},
    "axis": {"xyz": 3},
    "box": {"size": 3},
    "sphere": {"radius": 1},
    "cylinder": {"radius": 1, "length": 1},
    "capsule": {"radius": 1, "length": 1},
    "mesh": {"scale": 3},
    "color": {"rgba": 4},
}
"""Numbers of an attribute, by element."""
SHAPES = ("box", "sphere", "cylinder", "capsule", "mesh")
"""Shapes of a ``<geometry>`` that are read."""
SINGLE_TAGS = {
    "link": ("inertial",),
    "inertial": ("origin", "mass", "inertia"),
    "joint": ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic"),
    "visual": ("origin", "geometry", "material"),
    "collision": ("origin", "geometry"),
}
"""Elements that a link, a joint or a part of them has once."""
REMEDY = (
    "Name the folder of its package by --package-path (in Python: package_paths), or leave it out: --set "
    "robot.allow_missing_meshes=true (in Python: allow_missing_meshes=True)"
)
"""What to do about a collision mesh that is not found."""
ALWAYS_TAGS = ("implicitSpringDamper", "preserveFixedJoint", "disableFixedJointLumping")
"""Gazebo's tags that ask for what is done in any case: implicit damping, and links behind fixed joints are kept."""
COMPILER = {"balanceinertia": "true", "fusestatic": "false", "discardvisual": "false", "strippath": "false"}


@dataclass(slots=True)
class UrdfModel:
    """Content of a URDF."""

    spec: mujoco.MjSpec
    """The bodies."""
    joints: dict[str, str]
    """Type of every joint, by name."""
    velocity_limits: dict[str, float] = field(default_factory=dict)
    """Velocity limits [rad/s or m/s] by joint."""
    notes: list[str] = field(default_factory=list)
    """Omissions and assumptions."""
    mimics: list[Mimic] = field(default_factory=list)
    """Joints that follow others."""


def read_bodies(
    root: Node,
    file: str | Path | None,
    *,
    package_paths: Sequence[str | Path] = (),
    allow_missing_meshes: bool = False,
    self_collision: bool | None = None,
) -> UrdfModel:
    """Return the spec of a URDF.

    Args:
        root: the robot element; it is changed.
        file: name of the file, for messages and for relative mesh names.
        package_paths: folders that hold ROS packages, searched first.
        allow_missing_meshes: leave out collision meshes that are not found, with a note, rather than fail.
        self_collision: whether links of the robot collide with each other; None does as Gazebo: only with a
            ``<self_collide>`` or ``<selfCollide>`` tag.

    Raises:
        ModelError: the description is wrong or a mesh is missing; the message names file and line.
        MissingDependency: a mesh needs a converter that is not installed.
    """
    checker = _Checker(root, file)
    checker.run()
    model = UrdfModel(mujoco.MjSpec(), checker.joints, checker.velocity_limits, checker.notes)
    collide = _wants_self_collision(root, file) if self_collision is None else self_collision
    _note_references(root, checker)
    extension = read_extension(root, checker.links, checker.joints, file)
    model.notes.extend(extension.notes)
    model.mimics = read_mimics(root, checker.joints, file)
    tags = read_gazebo_tags(root, file)
    extension.prepare(root, file)

    compiler = root.find("mujoco/compiler")
    if compiler is None:
        settings = root.find("mujoco")
        if settings is None:
            settings = ET.SubElement(root, "mujoco")
        compiler = ET.SubElement(settings, "compiler")
    for key, value in COMPILER.items():
        if key not in compiler.attrib or key == "strippath":
            compiler.set(key, value)
    meshdir = compiler.attrib.pop("meshdir", "")
    assets = _Meshes(file, [str(p) for p in package_paths], meshdir, allow_missing_meshes, model.notes)
    assets.collect(root)
    for element in [e for e in root if e.tag not in ELEMENTS]:
        root.remove(element)
    try:
        model.spec = mujoco.MjSpec.from_string(ET.tostring(root, encoding="unicode"), assets=assets.data)
    except (ValueError, RuntimeError) as error:
        raise ModelError(f"MuJoCo refuses the URDF: {' '.join(str(error).split())}", file=file) from error
    given = {name for name, link in checker.links.items() if link.find("inertial") is not None} | {*extension.inertials}
    weightless = set() if compiler.get("inertiafromgeom") == "true" else checker.weightless - given - checker.dense
    for name in weightless:
        body = model.spec.body(name)  # none: the root that the file calls as the world
        for geom in body.geoms if body is not None else ():
            geom.mass = 0.0
    # Where the inertias are given, a surface that does not close has to enclose no volume.
    closed = {g.meshname for body in model.spec.bodies if body.name not in given | weightless for g in body.geoms}
    for mesh in model.spec.meshes:
        if mesh.name not in closed:
            mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
    model.notes.extend(apply_gazebo_tags(model.spec, tags))
    extension.apply(model.spec, file)
    extension.couple(model.spec, model.mimics)
    if not collide and (extension.excludes is None or self_collision is False):
        _exclude_self_collision(model.spec)
    return model


def _write_inertia(element: ET.Element, axes: np.ndarray, principal: np.ndarray) -> None:
    """Write an inertia, given by its principal axes, shape (3, 3), and moments, shape (3,) [kg m^2]."""
    matrix = axes @ np.diag(principal) @ axes.T
    for attribute, (i, j) in INERTIA_PLACES.items():
        element.set(attribute, repr(float(matrix[i, j])))


class _Checker(Sink):
    """Check the structure of a URDF and collect what later steps need."""

    def __init__(self, root: Node, file: str | Path | None) -> None:
        super().__init__(file)
        self.root = root
        self.links: dict[str, ET.Element] = {}
        self.joints: dict[str, str] = {}
        self.velocity_limits: dict[str, float] = {}
        self.massless: dict[str, tuple[ET.Element, np.ndarray]] = {}
        """Links of mass 0, or without collisions and <inertial>: their <inertial>, taken out, and their inertia."""
        self.weightless: set[str] = set()
        """Links that need no mass, since they are fixed to others or carry some: without <inertial> they have none."""
        joints = root.findall("joint")
        children = ((j, j.find("child")) for j in joints if j.get("type") == "fixed")
        self.exact: set[str] = {e.get("body", "") for e in root.findall("mujoco/inertial")}
        """Links whose inertia the ``<mujoco>`` element gives, so that nothing has to be raised."""
        dense = [geom.attrib for geom in root.iterfind("mujoco/geom[@density]")]
        self.dense = {geom.get("body", "") for geom in dense}
        """Links with shapes whose density the ``<mujoco>`` element gives."""
        named = {geom.get("name") for geom in dense if "body" not in geom}
        for link in root.findall("link"):
            if any(part.get("name") in named for part in link.iterfind("collision[@name]")):
                self.dense.add(link.get("name", ""))
        self.alike: dict[tuple[str, str, str], list[tuple[ET.Element, str]]] = {}
        """Elements and names to which one note applies, by their kind and what it says of one and of several."""
        self.fixed: set[str] = {child.get("link", "") for _, child in children if child is not None}

    def run(self) -> None:
        for element in self.root.iter():
            if isinstance(element.tag, str) and element.tag.startswith("xacro:"):
                raise self.fail(
                    element, f"<{element.tag}>: this is a xacro file; expand it first: xacro FILE.xacro > FILE.urdf"
                )
        for tag in self.root.iterfind("gazebo[@reference]/*[@value]"):
            tag.text = (tag.text or "").strip() or tag.get("value")  # the older way to write it, which Gazebo reads too
        for part in (e for top in self.root if top.tag in ("link", "joint") for e in top.iter()):
            self._once(part)
            self._vectors(part)
        for link in self.root.findall("link"):
            name = link.get("name", "")
            if not name:
                raise self.fail(link, "a link has no name", "name")
            if name in self.links:
                first = line_of(self.links[name])
                raise self.fail(link, f"the link {name!r} exists already, from line {first}", name)
            self.links[name] = link
            self._shapes(link, name)
            self._inertial(link, name)
        if not self.links:
            raise self.fail(self.root, "the robot has no link")
        if len(self.links) > MAX_LINKS:
            raise self.fail(self.root, f"the robot has {len(self.links)} links; must be at most {MAX_LINKS}")
        seen: dict[str, ET.Element] = {}
        parent_of: dict[str, tuple[str, ET.Element]] = {}
        for joint in self.root.findall("joint"):
            name = joint.get("name", "")
            if not name:
                raise self.fail(joint, "a joint has no name", "name")
            if name in seen:
                raise self.fail(joint, f"the joint {name!r} exists already, from line {line_of(seen[name])}", name)
            seen[name] = joint
            self._joint(joint, name, parent_of)
        self._tree(parent_of)
        self._massless(parent_of)
        for (kind, one, many), found in self.alike.items():
            shown = ", ".join(repr(name) for _, name in found[:6]) + (", ..." if len(found) > 6 else "")
            count = f" ({len(found)} in all)" if len(found) > 6 else ""
            said = f"{kind} {shown} {one}" if len(found) == 1 else f"{kind}s {shown}{count} {many}"
            self.note(found[0][0], said)

    def _alike(self, element: ET.Element, name: str, kind: str, one: str, many: str) -> None:
        """Note something that many links or joints of a robot can have, once for all of them."""
        self.alike.setdefault((kind, one, many), []).append((element, name))

    def _massless(self, parent_of: dict[str, tuple[str, ET.Element]]) -> None:
        """Give links of mass 0 that move by themselves the smallest mass that MuJoCo takes; others need none."""
        carried = dict.fromkeys(self.links, 0.0)
        for name, link in self.links.items():
            mass = link.find("inertial/mass")
            value = float(mass.get("value", "0")) if mass is not None else float(name in self.exact | self.dense)
            at: str | None = name
            while at is not None:
                carried[at] += value
                parent = parent_of.get(at)
                at = parent[0] if parent is not None and parent[1].get("type") == "fixed" else None
        for name in self.links:
            joint = parent_of[name][1] if name in parent_of else None
            if joint is None or joint.get("type") == "fixed" or carried[name] > 0.0:
                self.weightless.add(name)
        if self.root.find("mujoco/compiler[@inertiafromgeom='true']") is None:
            for name, link in self.links.items():
                has_mass = name in self.weightless or name in self.massless or name in self.dense
                if not has_mass and link.find("inertial") is None:
                    one = "has no <inertial>: it has the mass of its collision shapes, at 1000 kg/m^3"
                    many = "have no <inertial>: they have the mass of their collision shapes, at 1000 kg/m^3"
                    self._alike(link, name, "link", one, many)
        for name, (inertial, matrix) in self.massless.items():
            element, mass = inertial.find("inertia"), inertial.find("mass")
            assert element is not None
            assert mass is not None
            told = mass.get("value") is not None
            if name in self.weightless:
                if told:
                    one, many = "has mass 0; its <inertial> is left out", "have mass 0; their <inertial> is left out"
                    self._alike(inertial, name, "link", one, many)
                continue
            principal, axes = np.linalg.eigh(matrix)
            mass.set("value", repr(SMALLEST_MASS))
            _write_inertia(element, axes, np.maximum(principal, SMALLEST_MASS * SMALLEST_LEVER**2))
            self.links[name].append(inertial)
            what = (
                f"link {name!r} has {'mass 0' if told else 'no <inertial> and no collision shape'}; it moves by itself"
            )
            self.note(self.links[name], f"{what} and is given {SMALLEST_MASS:g} kg, as MuJoCo wants a mass")

    def _number(self, element: ET.Element, attribute: str, what: str) -> float | None:
        text = element.get(attribute)
        if text is None:
            return None
        try:
            return float(parse_number(text, f"{what} {attribute}"))
        except ModelError as error:
            raise self.fail(element, error.message, attribute) from error

    def _vectors(self, element: ET.Element) -> None:
        """Refuse vectors with another count of numbers, or with numbers that are not finite."""
        for attribute, count in VECTORS.get(element.tag, {}).items():
            text = element.get(attribute)
            if text is None:
                continue
            try:
                numbers = parse_vector(text, f"<{element.tag}> {attribute}", count)
            except ModelError as error:
                raise self.fail(element, error.message, attribute) from error
            if not np.all(np.isfinite(numbers)):
                raise self.fail(element, f"<{element.tag}> {attribute} is {text!r}; must be finite numbers", attribute)
            element.set(attribute, text.replace(",", " "))
            if element.tag in ("box", "sphere", "cylinder", "capsule") and min(numbers) <= 0.0:
                raise self.fail(element, f"<{element.tag}> {attribute} is {text!r}; must be above 0 m", attribute)

    def _once(self, element: ET.Element) -> None:
        """Keep the first of elements that stand once, as the readers of ROS do."""
        for tag in SINGLE_TAGS.get(element.tag, ()):
            first, *others = element.findall(tag) or [element]
            for other in others:
                self.note(
                    other, f"a second <{tag}> of a <{element.tag}> is left out; the first is in line {line_of(first)}"
                )
                element.remove(other)

    def _shapes(self, link: ET.Element, name: str) -> None:
        """Leave out the shapes that are not read."""
        for element in [e for e in link if e.tag in ("visual", "collision")]:
            shapes = [shape.tag for shape in element.iterfind("geometry/*")]
            if not any(shape in SHAPES for shape in shapes):
                found = f"the <{element.tag}> has {f'the shape <{shapes[0]}>' if shapes else 'no shape'}"
                self.note(element, f"link {name!r}: {found}; must be one of {', '.join(SHAPES)}. It is left out")
                link.remove(element)

    def _inertial(self, link: ET.Element, name: str) -> None:
        inertial = link.find("inertial")
        if inertial is None:
            if link.find("collision") is None and name not in self.exact | self.dense:
                inertial = ET.Element("inertial")
                ET.SubElement(inertial, "mass")
                ET.SubElement(inertial, "inertia")
                self.massless[name] = (inertial, np.zeros((3, 3)))
            return
        mass = inertial.find("mass")
        value = self._number(mass, "value", f"link {name!r}: mass") if mass is not None else None
        if mass is None or value is None:
            raise self.fail(inertial, f"link {name!r}: <inertial> has no <mass value=...>", "mass")
        if value < 0.0 or math.isinf(value):
            raise self.fail(mass, f"link {name!r}: mass is {value:g} kg; must be more than 0", "mass")
        inertia = inertial.find("inertia")
        if inertia is None:
            raise self.fail(inertial, f"link {name!r}: <inertial> has no <inertia ixx=...>", "inertia")
        values = []
        for attribute in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"):
            number = self._number(inertia, attribute, f"link {name!r}: inertia")
            if number is None and attribute in ("ixx", "iyy", "izz"):
                raise self.fail(inertia, f"link {name!r}: the inertia has no {attribute}", attribute)
            if number is None:
                inertia.set(attribute, "0")
            values.append(number or 0.0)
        xx, yy, zz, xy, xz, yz = values
        if not np.all(np.isfinite(values)):
            raise self.fail(inertia, f"link {name!r}: the inertia is not finite", "inertia")
        matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        principal, axes = np.linalg.eigh(matrix)
        # A point or a thin rod has principal inertias of 0, and printed digits leave them a little below.
        least = max(value * SMALLEST_RADIUS**2, 1e-12)
        rounding = max(1e-6 * float(np.max(np.abs(principal))), least)
        if principal[0] < -rounding and name not in self.fixed:
            shown = ", ".join(f"{p:g}" for p in principal)
            raise self.fail(
                inertia, f"link {name!r}: the principal inertias are {shown} kg m^2; must be 0 or more", "inertia"
            )
        if value > 0.0 and principal[0] < least and name not in self.exact:
            repaired = np.maximum(principal, least)
            _write_inertia(inertia, axes, repaired)
            shown = ", ".join(f"{p:.3g}" for p in principal)
            self.note(
                inertia,
                f"link {name!r}: the principal inertias {shown} kg m^2 are raised to "
                f"{least:.3g}, MuJoCo wants them above 0",
            )
            principal = np.sort(repaired)
        if value <= mujoco.mjMINVAL:
            # MuJoCo wants positive definite or nothing: a link of mass 0 is one without <inertial>.
            link.remove(inertial)
            self.massless[name] = (inertial, matrix)
        elif principal[0] + principal[1] < principal[2] * (1.0 - 1e-9) and name not in self.exact:
            shown = ", ".join(f"{p:.4g}" for p in principal)
            principal[:2] += 0.5 * (principal[2] * (1.0 + 1e-9) - principal[0] - principal[1])
            _write_inertia(inertia, axes, principal)
            self.note(
                inertia,
                f"link {name!r}: the principal inertias {shown} kg m^2 break the triangle inequality, which MuJoCo "
                f"wants; the smaller two are raised to {principal[0]:.4g}, {principal[1]:.4g}",
            )

    def _joint(self, joint: ET.Element, name: str, parent_of: dict[str, tuple[str, ET.Element]]) -> None:
        kind = joint.get("type", "")
        if kind not in JOINT_TYPES:
            raise self.fail(joint, f"joint {name!r}: type is {kind!r}; {nearest(kind, JOINT_TYPES)}", "type")
        self.joints[name] = kind
        ends = {}
        for end in ("parent", "child"):
            element = joint.find(end)
            link = element.get("link", "") if element is not None else ""
            if element is None or not link:
                raise self.fail(joint, f"joint {name!r}: <{end} link=...> is missing", end)
            if link not in self.links:
                raise self.fail(element, f"joint {name!r}: {end} is {link!r}; {nearest(link, self.links)}", end)
            ends[end] = link
        child = ends["child"]
        if child in parent_of:
            other = parent_of[child][1]
            raise self.fail(
                joint,
                f"joint {name!r}: link {child!r} is the child of joint {other.get('name')!r} in line {line_of(other)} "
                "already; a URDF is a tree",
                "child",
            )
        parent_of[child] = (ends["parent"], joint)
        axis = joint.find("axis")
        if axis is not None and kind not in ("fixed", "floating"):
            vector = parse_vector(axis.get("xyz", "1 0 0"), "axis", 3)
            if not math.hypot(*vector) > 0.0:
                raise self.fail(axis, f"joint {name!r}: axis is {axis.get('xyz')!r}; must not be all 0", "axis")
        self._limits(joint, name, kind)

    def _limits(self, joint: ET.Element, name: str, kind: str) -> None:
        limit = joint.find("limit")
        dynamics = joint.find("dynamics")
        if dynamics is not None:
            for attribute in ("damping", "friction"):
                value = self._number(dynamics, attribute, f"joint {name!r}:")
                if value is not None and not 0.0 <= value < math.inf:
                    raise self.fail(dynamics, f"joint {name!r}: {attribute} is {value:g}; must be 0 or more", attribute)
        if limit is None:
            if kind in ("revolute", "prismatic"):
                self.note(joint, f"joint {name!r} has no <limit>; it moves freely")
            return
        values = {a: self._number(limit, a, f"joint {name!r}:") for a in ("lower", "upper", "effort", "velocity")}
        if kind in ("revolute", "prismatic"):
            lower, upper = values["lower"] or 0.0, values["upper"] or 0.0
            if lower > upper:
                raise self.fail(
                    limit, f"joint {name!r}: the lower limit {lower:g} is above the upper limit {upper:g}", "limit"
                )
            if math.isinf(lower) or math.isinf(upper):
                # MuJoCo would read infinite limits as given; Gazebo takes them as none.
                joint_limits = {a: limit.attrib.pop(a, None) for a in ("lower", "upper")}
                self.note(
                    limit,
                    f"joint {name!r} has the limits {joint_limits['lower']} to "
                    f"{joint_limits['upper']}; it moves freely",
                )
            elif values["lower"] is None and values["upper"] is None:
                self.note(limit, f"joint {name!r} has neither a lower nor an upper limit; it moves freely")
            elif lower == upper and not any(values.values()):
                self.note(
                    limit,
                    f"joint {name!r} has a <limit> of zeros only; they are taken as not filled in, it moves freely",
                )
            elif lower == upper:
                limit.attrib.update(lower=repr(lower - HELD), upper=repr(upper + HELD))
                self.note(limit, f"joint {name!r} has equal limits; it is held at {lower:g} within {HELD:g}")
        for attribute in ("effort", "velocity"):
            value = values[attribute]
            if value is not None and value < 0.0:
                self.note(limit, f"joint {name!r}: {attribute} {value:g} means no limit")
                del limit.attrib[attribute]
            elif value is not None and math.isinf(value):
                del limit.attrib[attribute]
        if values["effort"] == 0.0:
            one, many = "has effort 0, which is taken as no limit", "have effort 0, which is taken as no limit"
            self._alike(limit, name, "joint", one, many)
        velocity = values["velocity"]
        if velocity is not None and 0.0 < velocity < math.inf:
            self.velocity_limits[name] = velocity

    def _tree(self, parent_of: dict[str, tuple[str, ET.Element]]) -> None:
        roots = [name for name in self.links if name not in parent_of]
        for parent, joint in parent_of.values():
            if joint.get("type") == "floating" and parent != "world":
                message = (
                    f"joint {joint.get('name')!r} of type floating has the parent {parent!r}; must be the root link"
                )
                raise self.fail(joint, f"{message} 'world', as only links on the world float", "type")
        if not roots:
            raise self.fail(self.root, "every link is the child of a joint: the joints form a loop")
        if len(roots) > 1:
            lonely = roots[1]
            raise self.fail(
                self.links[lonely], f"the links {', '.join(map(repr, roots[:5]))} have no parent; a URDF has one root"
            )
        for name in self.links:
            at, steps = name, 0
            while at in parent_of:
                at = parent_of[at][0]
                steps += 1
                if steps > len(self.links):
                    raise self.fail(self.links[name], f"the joints above link {name!r} form a loop")
                if steps > MAX_CHAIN and len(self.links) > MAX_CHAIN:
                    chain = f"the chain of joints above link {name!r} is longer than {MAX_CHAIN}"
                    raise self.fail(self.links[name], f"{chain}, or a loop")
        if "world" in self.links and roots[0] != "world":
            raise self.fail(self.links["world"], "the link 'world' is not the root of the tree", "world")
        if roots[0] == "world":
            # An inertia or a shape of the world itself moves nothing; MuJoCo ignores the former.
            return
        self.notes.append(
            f"the root link {roots[0]!r} is fixed to the world (Gazebo would let it float); give it a free joint to "
            "let it move"
        )


# -- Gazebo's tags about links and joints -----------------------------------------------------------------


def _wants_self_collision(root: ET.Element, file: str | Path | None) -> bool:
    asked = [Tags(element, "", file) for element in root.findall("gazebo")]
    return any(tags.flag(tag, False) for tags in asked for tag in ("self_collide", "selfCollide"))


def _note_references(root: ET.Element, checker: _Checker) -> None:
    quiet = {
        "material", "plugin", "sensor", "self_collide", "selfCollide", *FRICTION_TAGS, *SPRING_TAGS, *ALWAYS_TAGS,
    }  # fmt: skip
    known = {*checker.links, *checker.joints}
    for element in root.findall("gazebo"):
        reference = element.get("reference")
        if reference is not None and reference not in known:
            checker.note(
                element, f"<gazebo reference={reference!r}> names nothing of the robot; {nearest(reference, known)}"
            )
            continue
        # A <visual> that only holds plugins is read with them.
        silent = {child for child in element if child.tag == "visual" and all(part.tag == "plugin" for part in child)}
        tags = sorted({child.tag for child in element if child not in silent} - quiet)
        if tags:
            shown = ", ".join(f"<{tag}>" for tag in tags)
            checker.note(element, f"the Gazebo tags {shown} of {reference or 'the robot'} have no effect")


def _exclude_self_collision(spec: mujoco.MjSpec) -> None:
    bodies = [b.name for b in spec.bodies if b.name and b.name != "world" and any(g.contype for g in b.geoms)]
    for i, first in enumerate(bodies):
        for second in bodies[i + 1 :]:
            spec.add_exclude(bodyname1=first, bodyname2=second)


# -- meshes -----------------------------------------------------------------------------------------------


class _Meshes(Sink):
    """Find the meshes of a URDF, convert what MuJoCo cannot read, and name each file once."""

    def __init__(
        self, file: str | Path | None, package_paths: list[str], meshdir: str, allow_missing: bool, notes: list[str]
    ) -> None:
        super().__init__(file, notes)
        self.package_paths = package_paths
        self.meshdir = meshdir
        self.allow_missing = allow_missing
        self.data: dict[str, bytes] = {}
        self._names: dict[Path, str] = {}

    def collect(self, root: ET.Element) -> None:
        for link in root.findall("link"):
            for role in ("visual", "collision"):
                for element in link.findall(role):
                    mesh = element.find("geometry/mesh")
                    if mesh is not None:
                        self._mesh(link, role, element, mesh)

    def _mesh(self, link: ET.Element, role: str, element: ET.Element, mesh: ET.Element) -> None:
        uri = mesh.get("filename", "")
        who = f"link {link.get('name')!r}: the {role} mesh"
        if not uri:
            raise self.fail(mesh, f"{who} has no filename", "filename")
        try:
            path, searched = find_resource(uri, self.file, self.package_paths, self.meshdir)
        except ModelError as error:
            raise self.fail(mesh, f"{who}: {error.message}", "filename") from error
        if path is None:
            message = f"{who} {uri!r} is not found; searched: {', '.join(searched) or 'nowhere'}"
            if role == "collision" and not self.allow_missing:
                raise self.fail(mesh, f"{message}. {REMEDY}", "filename")
            self.note(mesh, f"{message}; it is left out")
            link.remove(element)
            return
        try:
            name = self._asset(path)
            if role == "collision" and is_flat(self.data[name], name):
                self.note(mesh, f"{who} {uri!r} is flat, of which MuJoCo has no hull; it is left out")
                link.remove(element)
                return
            mesh.set("filename", name)
        except MissingDependency:
            if role == "collision":
                raise
            self.note(
                mesh, f'{who} {uri!r} is left out: {path.suffix} files need trimesh (pip install "pliant[meshes]")'
            )
            link.remove(element)
        except ModelError as error:
            if role == "collision":
                raise
            self.note(mesh, f"{who} {uri!r} is left out: {error.message}")
            link.remove(element)

    def _asset(self, path: Path) -> str:
        path = path.resolve()
        if path not in self._names:
            suffix = path.suffix.lower()
            if suffix not in NATIVE_MESHES:
                data, suffix = _convert(path), ".obj"
            else:
                data = read_file(path, max_bytes=MAX_MESH_BYTES)
                if suffix == ".stl" and not _is_binary_stl(data):
                    data, suffix = _convert(path), ".obj"
            stem = path.stem
            name = f"{stem}{suffix}"
            if name in self.data:
                # The folder keeps visual/link0.stl and collision/link0.stl apart.
                stem = f"{path.parent.name}_{path.stem}"
                name = f"{stem}{suffix}"
            if name in self.data:
                name = f"{stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}{suffix}"
            self.data[name] = data
            self._names[path] = name
        return self._names[path]


def _is_binary_stl(data: bytes) -> bool:
    """Say whether an STL has the length that its count of faces asks for; a text has not."""
    return len(data) >= 84 and len(data) >= 84 + 50 * int.from_bytes(data[80:84], "little")


def _convert(path: Path) -> bytes:
    """Return a mesh of another format as OBJ."""
    return str(read_mesh(path).export(file_type="obj")).encode()

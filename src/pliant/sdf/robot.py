"""Read SDF 1.4 to 1.12: worlds and models, by way of one URDF of all links under the world."""

from __future__ import annotations

import dataclasses
import xml.etree.ElementTree as ET

import mujoco
import numpy as np

from pliant.base.documents.xml_tree import Node, file_of, line_of
from pliant.base.errors import ModelError
from pliant.base.names import free_name
from pliant.base.numerics import Array
from pliant.base.spatial import inverse, pose, quaternion_from_rotation, rotation_from_quaternion, rpy_from_rotation
from pliant.formats.source import Format, Source, read_tags
from pliant.formats.tags import Sink, Tags, numbers
from pliant.formats.urdf_robot import robot_of_urdf
from pliant.model.robot import Robot
from pliant.sdf.world import SdfModel, SdfWorld, read_world

JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed")
NO_LIMIT = 1e16
"""Limits of this size and above are none, as in SDFormat."""
GRID = "1"
"""Distance of the lines that a viewer draws on a plane [m]."""
MAX_FRICTION = 1e3
"""Coefficient of friction for all above.  # assumed"""
DENSITY = 1000.0
"""Density of links with ``<inertial auto="true">`` that name none, as in SDFormat [kg/m^3]."""
NO_SHAPE = ("empty", "heightmap", "polyline", "image", "cone")
"""Shapes that are not read."""


def read_sdf(source: Source) -> Robot:
    """Return the robot of an SDF file: all models of its world, or its one model.

    The models of a world fall unless they are static or joined to the world, as in Gazebo. A file that is one model
    without a world is mounted where it stands, as a URDF is.

    Raises:
        ModelError: a description that cannot be read; the message names file, line and element.
    """
    world = read_world(source)
    if world.single and not any(model.links for model in world.models):
        raise ModelError("the SDF has no model with a link", file=source.path, line=line_of(world.root))
    root = world.root
    every = [(joint, model.static) for model in world.models for joint in model.joints]
    joints = {joint.get("name", ""): "fixed" if static else joint.get("type", "") for joint, static in every}
    found = read_tags(root, joints, source.path, source.package_paths)
    writer = _Writer(world, source)
    collision = source.self_collision
    urdf = writer.run(collide=collision)
    how = dataclasses.replace(source, self_collision=True if collision is None else collision)
    robot = robot_of_urdf(urdf, how, found)
    robot.notes += [*world.notes, *writer.notes]
    _lights(root, robot, source)
    _physics(root, robot, source)
    return robot


SDF = Format(name="SDF", read=read_sdf, suffixes=(".sdf", ".world"), root="sdf")


class _Writer(Sink):
    """Write the models of a world as one URDF."""

    def __init__(self, world: SdfWorld, source: Source) -> None:
        super().__init__(source.path)
        self.world = world
        self.urdf = Node("robot", {"name": self.name()})
        self.extension = Node("mujoco")
        self.density: float | None = None
        self.shapes: set[str] = set()
        self.default_masses: list[str] = []

    def name(self) -> str:
        """Return the name of the robot: of the first model with joints or plugins, else of the world."""
        for model in self.world.models:
            if model.joints or any(True for _ in model.element.iter("plugin")):
                return model.key.partition("::")[0]
        return self.world.root.get("name") or "world"

    def put(self, parent: ET.Element, tag: str, at: ET.Element | None = None, **attributes: str) -> Node:
        node = Node(tag, attributes)
        if at is not None:
            node.line, node.file = line_of(at) or 0, file_of(at, None)
        parent.append(node)
        return node

    def run(self, *, collide: bool | None) -> Node:
        """Return the URDF; all its links hang on the link "world"."""
        self.put(self.urdf, "link", name="world")
        for model in self.world.models:
            for link in model.links:
                self.link(link)
        joined: dict[str, str] = {}
        for model in self.world.models:
            for joint in model.joints:
                self.joint(joint, model, joined)
        for model in self.world.models:
            for link in model.links:
                if link.get("name") not in joined:
                    self.mount(link, model)
        self.urdf.append(self.extension)
        if collide is None:
            self.exclude()
        if self.default_masses:
            shown = ", ".join(self.default_masses[:4]) + (", ..." if len(self.default_masses) > 4 else "")
            self.notes.append(f"links without a mass have SDF's default, 1 kg and 1 kg m^2: {shown}")
        return self.urdf

    def exclude(self) -> None:
        """Let the links of a model pass through each other, except those that all say <self_collide>."""
        contact = self.put(self.extension, "contact")
        for model in self.world.models:
            who = f"model {model.key!r}"
            whole = Tags(model.element, who, self.file).flag("self_collide", False)
            own = {link.get("name", ""): Tags(link, who, self.file).flag("self_collide", whole) for link in model.links}
            names = list(own)
            for i, first in enumerate(names):
                for second in names[i + 1 :]:
                    if not (own[first] and own[second]):
                        self.put(contact, "exclude", body1=first, body2=second)

    # -- links ----------------------------------------------------------------------------------------------

    def link(self, link: Node) -> None:
        name = link.get("name", "")
        tags = Tags(link, f"link {name!r}", self.file)
        node = self.put(self.urdf, "link", link, name=name)
        self.inertial(tags, node, name)
        for role in ("visual", "collision"):
            for element in link.findall(role):
                self.shape(element, role, node, name, [c.tag for c in link])
        if not tags.flag("gravity", True):
            self.put(self.extension, "body", link, name=name, gravcomp="1")

    def inertial(self, tags: Tags, node: Node, name: str) -> None:
        element = tags.child("inertial")
        self.density = None
        if element is not None and element.get("auto", "").strip().lower() in ("true", "1"):
            # MuJoCo computes the inertia of the shapes.
            self.density = Tags(element, f"link {name!r}", self.file).number("density", DENSITY, least=0.0)
            return
        inner = Tags(element if element is not None else Node("inertial"), f"link {name!r}", self.file)
        if inner.child("mass") is None and inner.child("inertia") is None:
            self.default_masses.append(name)
        inertial = self.put(node, "inertial", element)
        self.origin(inertial, _pose(inner))
        self.put(inertial, "mass", inner.child("mass"), value=repr(inner.number("mass", 1.0)))
        values = {
            key: inner.number(f"inertia/{key}", 1.0 if key in ("ixx", "iyy", "izz") else 0.0)
            for key in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
        }
        self.put(inertial, "inertia", inner.child("inertia"), **{key: repr(value) for key, value in values.items()})

    def origin(self, parent: ET.Element, X: Array) -> None:
        rpy = rpy_from_rotation(X[:3, :3])
        self.put(parent, "origin", xyz=numbers(X[:3, 3]), rpy=numbers(rpy))

    def shape(self, element: ET.Element, role: str, node: Node, link: str, roles: list[str]) -> None:
        name = element.get("name", "") or role
        tags = Tags(element, f"{role} {name!r} of link {link!r}", self.file)
        name = free_name(name if name not in self.shapes else f"{link}/{name}", self.shapes)
        self.shapes.add(name)
        geometry = tags.child("geometry")
        kinds = [] if geometry is None else [child for child in geometry if isinstance(child.tag, str)]
        if kinds and all(shape.tag in NO_SHAPE for shape in kinds):
            self.note(kinds[0], f"{tags.who}: <{kinds[0].tag}> is not read; it is left out")
            return
        if len(kinds) != 1:
            raise tags.fault("<geometry> must hold one shape", "geometry")
        kind, X = kinds[0].tag, _pose(tags)
        if kind == "plane" and role == "visual" and "collision" in roles:
            return  # drawn as the collision
        color = self.color(tags) if role == "visual" else None
        if kind in ("plane", "capsule", "ellipsoid"):
            self.own_shape(tags, kind, name, link, role, X, color)
            return
        part = self.put(node, role, element, name=name)
        self.origin(part, X)
        shape = self.put(self.put(part, "geometry"), kind, kinds[0])
        if kind == "box":
            shape.set("size", numbers(tags.vector("geometry/box/size", 3) or [1.0, 1.0, 1.0]))
        elif kind in ("sphere", "cylinder"):
            for key in ("radius", "length") if kind == "cylinder" else ("radius",):
                shape.set(key, repr(tags.number(f"geometry/{kind}/{key}", 1.0)))
        elif kind == "mesh":
            shape.set("filename", tags.text("geometry/mesh/uri"))
            shape.set("scale", numbers(tags.vector("geometry/mesh/scale", 3) or [1.0, 1.0, 1.0]))
        else:
            raise tags.fault(f"<geometry><{kind}> is no shape that is read", "geometry", kinds[0])
        if color is not None:
            self.put(self.put(part, "material", name=f"{name}_color"), "color", rgba=numbers(color))
        surface = {}
        if role == "collision" and tags.child("surface/friction/ode/mu") is not None:
            mu = tags.number("surface/friction/ode/mu", 1.0)  # below 0 without a limit, as in Gazebo
            surface["friction"] = repr(min(mu, MAX_FRICTION) if mu >= 0.0 else MAX_FRICTION)
        if role == "collision" and self.density is not None:
            surface["density"] = repr(tags.number("density", self.density, least=0.0))
        if surface:
            self.put(self.extension, "geom", element, name=name, **surface)

    def own_shape(
        self, tags: Tags, kind: str, name: str, link: str, role: str, X: Array, color: list[float] | None
    ) -> None:
        """Write a shape that URDF lacks."""
        if kind == "plane":
            normal = np.array(tags.vector("geometry/plane/normal", 3) or [0.0, 0.0, 1.0])
            if not np.linalg.norm(normal) > 0.0:
                raise tags.fault("<normal> is 0 0 0; must be a direction", "geometry")
            X = X @ pose(R=_rotation_to(normal / np.linalg.norm(normal)))
            width, depth = tags.vector("geometry/plane/size", 2) or [1.0, 1.0]
            size = f"{abs(width) / 2!r} {abs(depth) / 2!r} {GRID}"
        elif kind == "capsule":
            length = tags.number("geometry/capsule/length", 1.0, least=0.0)
            size = f"{tags.number('geometry/capsule/radius', 0.5, least=0.0)!r} {length / 2!r}"
        else:
            size = numbers(tags.vector("geometry/ellipsoid/radii", 3) or [1.0, 1.0, 1.0])
        geom = self.put(
            self.extension,
            "geom",
            tags.element,
            name=name,
            body=link,
            type=kind,
            size=size,
            pos=numbers(X[:3, 3]),
            quat=numbers(quaternion_from_rotation(X[:3, :3])),
        )
        if role == "visual":
            geom.attrib.update(contype="0", conaffinity="0", group="1")
        elif self.density is not None:
            geom.set("density", repr(tags.number("density", self.density, least=0.0)))
        if color is not None:
            geom.set("rgba", numbers(color))

    def color(self, tags: Tags) -> list[float] | None:
        for tag in ("material/diffuse", "material/ambient"):
            node = tags.child(tag)
            if node is not None:
                count = len((node.text or "").split())
                channels = tags.vector(tag, 3 if count == 3 else 4) or [0.5] * 4
                return [min(max(v, 0.0), 1.0) for v in ([*channels, 1.0] if count == 3 else channels)]
        return None

    # -- joints ---------------------------------------------------------------------------------------------

    def mount(self, link: Node, model: SdfModel) -> None:
        """Join a link without a joint above it to the world: fixed, or free to fall."""
        name, fixed = link.get("name", ""), model.static or self.world.single
        if fixed and not model.static:
            self.note(link, f"the root link {name!r} is fixed to the world (Gazebo would let it float); put the model "
                      "into a <world> to let it move")  # fmt: skip
        joint = self.put(
            self.urdf, "joint", link, name=f"world/{name}" if fixed else f"{name}/free",
            type="fixed" if fixed else "floating",
        )  # fmt: skip
        self.origin(joint, self.world.poses[id(link)])
        self.put(joint, "parent", link="world")
        self.put(joint, "child", link=name)

    def joint(self, element: Node, model: SdfModel, joined: dict[str, str]) -> None:
        name, kind = element.get("name", ""), element.get("type", "")
        tags = Tags(element, f"joint {name!r}", self.file)
        if kind not in JOINT_TYPES:
            raise tags.fault(f"the type is {kind!r}; must be one of {', '.join(JOINT_TYPES)}", "type", element)
        parent, child = tags.text("parent"), tags.text("child")
        if child in joined:
            message = f"link {child!r} is the child of joint {joined[child]!r} already; closed loops are not read"
            raise tags.fault(message, "child")
        joined[child] = name
        links = {link.get("name", ""): link for m in self.world.models for link in m.links}
        X_WC, X_WJ = self.world.poses[id(links[child])], self.world.poses[id(element)]
        X_WP = np.eye(4) if parent == "world" else self.world.poses[id(links[parent])]
        if model.static:
            kind = "fixed"
        low, high = (tags.number(f"axis/limit/{end}", sign * NO_LIMIT) if _finite(tags, f"axis/limit/{end}") else
                     sign * NO_LIMIT for end, sign in (("lower", -1.0), ("upper", 1.0)))  # fmt: skip
        if kind == "revolute" and low <= -NO_LIMIT and high >= NO_LIMIT:
            kind = "continuous"
        node = self.put(self.urdf, "joint", element, name=name, type=kind)
        self.origin(node, inverse(X_WP) @ X_WC)
        self.put(node, "parent", tags.child("parent"), link=parent)
        self.put(node, "child", tags.child("child"), link=child)
        if kind == "fixed":
            return
        X_CJ = inverse(X_WC) @ X_WJ
        axis = np.array(tags.vector("axis/xyz", 3) or [0.0, 0.0, 1.0])
        self.put(node, "axis", tags.child("axis"), xyz=numbers(X_CJ[:3, :3] @ axis))
        if np.any(np.abs(X_CJ[:3, 3]) > 1e-12):
            self.put(self.extension, "joint", element, name=name, pos=numbers(X_CJ[:3, 3]))
        limit = self.put(node, "limit", tags.child("axis/limit"))
        if kind != "continuous" and (low > -NO_LIMIT or high < NO_LIMIT):
            limit.attrib.update(lower=repr(max(low, -NO_LIMIT)), upper=repr(min(high, NO_LIMIT)))
        for key in ("effort", "velocity"):
            value = tags.number(f"axis/limit/{key}", -1.0) if _finite(tags, f"axis/limit/{key}") else -1.0
            if 0.0 < value < NO_LIMIT:
                limit.set(key, repr(value))
        self.dynamics(tags, node, name)

    def dynamics(self, tags: Tags, node: Node, name: str) -> None:
        values = {key: tags.number(f"axis/dynamics/{key}", 0.0) for key in ("damping", "friction")}
        self.put(node, "dynamics", tags.child("axis/dynamics"), **{key: repr(v) for key, v in values.items()})
        stiffness = tags.number("axis/dynamics/spring_stiffness", 0.0, least=0.0)
        if stiffness > 0.0:
            spring = self.put(self.urdf, "gazebo", tags.child("axis/dynamics"), reference=name)
            self.put(spring, "springStiffness").text = repr(stiffness)
            self.put(spring, "springReference").text = repr(tags.number("axis/dynamics/spring_reference", 0.0))
        mimic = tags.child("axis/mimic")
        if mimic is not None:
            inner = Tags(mimic, f"{tags.who}: <mimic>", self.file)
            ratio = inner.number("multiplier", 1.0)
            offset = inner.number("offset", 0.0) - ratio * inner.number("reference", 0.0)
            self.put(node, "mimic", mimic, joint=mimic.get("joint", ""), multiplier=repr(ratio), offset=repr(offset))


def _finite(tags: Tags, path: str) -> bool:
    """Return whether a child holds a number that is finite; "inf" and "-inf" mean no limit."""
    return tags.text(path).lower().lstrip("+-") not in ("inf", "infinity")


def _pose(tags: Tags) -> Array:
    position, quaternion = tags.pose()
    return pose(position, rotation_from_quaternion(quaternion))


def _rotation_to(normal: Array) -> Array:
    """Return a rotation that takes the third axis to a direction."""
    if normal[2] > 1.0 - 1e-12:
        return np.eye(3)
    other = np.eye(3)[int(np.argmin(np.abs(normal)))]
    first = np.cross(other, normal)
    first /= np.linalg.norm(first)
    return np.column_stack([first, np.cross(normal, first), normal])


def _lights(root: Node, robot: Robot, source: Source) -> None:
    """Add the lights of a world."""
    kinds = {
        "directional": mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        "point": mujoco.mjtLightType.mjLIGHT_POINT,
        "spot": mujoco.mjtLightType.mjLIGHT_SPOT,
    }
    for element in root.findall("light"):
        tags = Tags(element, f"light {element.get('name', '')!r}", source.path)
        tags.name("type", kinds)
        position, quaternion = tags.pose()
        direction = rotation_from_quaternion(quaternion) @ np.array(tags.vector("direction", 3) or [0.0, 0.0, -1.0])
        length = float(np.linalg.norm(direction))
        robot.spec.worldbody.add_light(
            pos=position,
            dir=direction / length if length > 0.0 else [0.0, 0.0, -1.0],
            type=kinds[element.get("type", "")],
            castshadow=tags.flag("cast_shadows", False),
        )


def _physics(root: Node, robot: Robot, source: Source) -> None:
    """Take time step and gravity over from a world; one without <gravity> has the 9.8 m/s^2 of SDF's specification."""
    if root.tag != "world":
        return
    if root.find("gravity") is None:
        robot.set("option.gravity", "0 0 -9.8")
    for tag, option in (("physics/max_step_size", "option.timestep"), ("gravity", "option.gravity")):
        node = root.find(tag)
        if node is not None:
            try:
                robot.set(option, (node.text or "").strip())
            except ModelError as error:
                raise ModelError(
                    f"<{tag}>: {error.message}", file=source.path, line=line_of(node), field=tag
                ) from error

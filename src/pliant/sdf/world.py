"""The models of an SDF file as one tree: includes are put in, names are made unique, poses are resolved.

Versions 1.4 to 1.12 of SDFormat (http://sdformat.org/spec). Poses follow version 1.7 and later, of which the earlier
ones without ``<frame>`` are a part: the pose of a link is in the frame of its model, that of a joint in the frame of
its child, unless ``relative_to`` names another frame. In 1.4 the axis of a joint is in the frame of its model.
"""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pliant.base.documents.files import exists, read_file
from pliant.base.documents.includes import MAX_INCLUDE_DEPTH, Chain, entered
from pliant.base.documents.xml_tree import Node, line_of, parse_xml
from pliant.base.errors import ModelError, nearest
from pliant.base.numerics import Array
from pliant.base.spatial import inverse, pose, quaternion_from_rotation, rotation_from_quaternion
from pliant.formats.resources import find_resource
from pliant.formats.source import Source
from pliant.formats.tags import Sink, Tags, numbers

VERSIONS = tuple(f"1.{minor}" for minor in range(4, 13))
MAX_INCLUDES = 1000
"""Most includes of one file, with those of the included files.  # assumed"""
BUILT_IN = {
    "ground_plane": """<model name="ground_plane"><static>true</static><link name="link"><collision name="collision">
    <geometry><plane><normal>0 0 1</normal><size>100 100</size></plane></geometry></collision></link></model>""",
    "sun": """<light type="directional" name="sun"><pose>0 0 10 0 0 0</pose><diffuse>0.8 0.8 0.8 1</diffuse>
    <specular>0.2 0.2 0.2 1</specular><direction>-0.5 0.1 -0.9</direction></light>""",
}
"""Models that every installation of Gazebo has, used where no folder of models holds them."""


@dataclass(slots=True)
class SdfModel:
    """One model of a file, with what its own elements are called in the tree."""

    element: Node
    """The ``<model>``; names and poses in it are those of the whole tree."""
    key: str
    """Its name with those of the models around it."""
    static: bool
    """Whether its links are fixed where they are."""
    links: list[Node] = field(default_factory=list)
    """Its own links."""
    joints: list[Node] = field(default_factory=list)
    """Its own joints."""


@dataclass(slots=True)
class SdfWorld:
    """Content of an SDF file."""

    root: Node
    """The ``<world>``, or the one ``<model>`` of a file without a world."""
    models: list[SdfModel]
    """The models, with those inside others."""
    poses: dict[int, Array]
    """Pose in the world, shape (4, 4), of a link or joint, by ``id`` of its element."""
    notes: list[str]
    """Omissions."""

    @property
    def single(self) -> bool:
        """Whether the file is one model without a world, which is not dropped but mounted."""
        return self.root.tag == "model"


def read_world(source: Source) -> SdfWorld:
    """Return the models of an SDF file, with those that it includes.

    Raises:
        ModelError: the file or an included one is wrong, missing or includes itself; the message names file, line and
            element.
    """
    reader = _Reader(source)
    top = reader.top(source.root)
    reader.expand(top, (), source.path)
    reader.collect(top)
    return SdfWorld(top, reader.models, reader.resolve(), reader.notes)


class _Reader(Sink):
    def __init__(self, source: Source) -> None:
        super().__init__(source.path)
        self.source = source
        self.models: list[SdfModel] = []
        self.frames: dict[str, tuple[str, Array, Node]] = {}
        """Frame by scoped name: that in which its pose is given, the pose, the element."""
        self.attached: dict[str, str] = {}
        """What a ``<frame>``, a joint or a model stands on, by scoped name."""
        self.links: dict[str, Node] = {}
        self.placed: dict[str, str] = {}
        """Placement frame by model."""
        self.includes = 0

    # -- the file, and those that it includes ---------------------------------------------------------------

    def top(self, root: Node) -> Node:
        """Return the world of a file, or its model."""
        version = root.get("version", "")
        if version not in VERSIONS:
            found = f"version {version!r}" if version else "no version"
            raise self.fail(root, f"the SDF has {found}; must be {VERSIONS[0]} to {VERSIONS[-1]}", "version")
        _place_axes(root)
        found = [e for e in root if e.tag in ("world", "model", "include")]
        if not found:
            raise self.fail(root, "the SDF has neither a <world> nor a <model>")
        worlds = [e for e in found if e.tag == "world"]
        if len(worlds) > 1:
            self.note(worlds[1], f"the SDF has {len(worlds)} worlds; the first is read")
        if worlds:
            return worlds[0]
        if len(found) == 1 and found[0].tag == "model":
            return found[0]
        world = Node("world", {"name": "world"})
        world.extend(found)
        return world

    def expand(self, element: ET.Element, chain: Chain, file: str | Path) -> None:
        """Put the included models in the places of the includes."""
        for place, child in reversed(list(enumerate(element))):
            if child.tag == "include" and isinstance(child, Node):
                included = self.include(child, chain, file)
                element.remove(child)
                merged = child.get("merge", "").strip().lower() in ("true", "1") and included.tag == "model"
                for offset, new in enumerate(self.merged(child, included) if merged else [included]):
                    element.insert(place + offset, new)
            elif child.tag == "model":
                self.expand(child, chain, file)

    def merged(self, include: Node, model: Node) -> list[ET.Element]:
        if include.find("pose") is not None or model.find("pose") is not None:
            raise self.fail(include, "<include merge='true'> with a pose is not read; must be without", "merge")
        return [e for e in model if e.tag not in ("static", "self_collide")]

    def include(self, element: Node, chain: Chain, file: str | Path) -> Node:
        """Return the model, or the light, that an include means."""
        tags = Tags(element, "<include>", self.file)
        uri = tags.text("uri")
        self.includes += 1
        if not uri:
            raise tags.fault("<uri> is missing; must be model://NAME or a path", "uri", element)
        if self.includes > MAX_INCLUDES:
            raise tags.fault(f"there are more than {MAX_INCLUDES} includes", "uri")
        path = self.find(tags, uri, file)
        if path is None:
            model = parse_xml(BUILT_IN[uri.removeprefix("model://").strip("/")].encode())
            for part in model.iter():
                part.line, part.file = element.line, element.file
        else:
            if len(chain) >= MAX_INCLUDE_DEPTH:
                raise tags.fault(f"includes are nested deeper than {MAX_INCLUDE_DEPTH}", "uri")
            inner = entered(path, file, line_of(element), chain)
            root = parse_xml(read_file(path), path)
            if root.tag != "sdf":
                raise tags.fault(f"{str(path)!r} begins with <{root.tag}>; must be an SDF, <sdf>", "uri")
            for part in root.iter():
                part.file = path
            if root.get("version") not in VERSIONS:
                found = f"{str(path)!r} has version {root.get('version')!r}"
                raise tags.fault(f"{found}; must be {VERSIONS[0]} to {VERSIONS[-1]}", "uri")
            _place_axes(root)
            found = [e for e in root if e.tag in ("model", "light", "actor")]
            if len(found) != 1 or found[0].tag == "actor":
                names = ", ".join(f"<{e.tag}>" for e in root) or "nothing"
                raise tags.fault(f"{str(path)!r} holds {names}; must be one <model> or <light>", "uri")
            model = found[0]
            self.expand(model, inner, path)
        self.override(tags, model)
        return model

    def override(self, tags: Tags, model: ET.Element) -> None:
        """Apply name, pose, flags and plugins of an include."""
        for child in tags.element:
            if child.tag == "name":
                model.set("name", (child.text or "").strip() or model.get("name", ""))
            elif child.tag in ("pose", "static"):
                for old in model.findall(child.tag):
                    model.remove(old)
                model.append(child)
            elif child.tag == "placement_frame":
                model.set("placement_frame", (child.text or "").strip())
            elif child.tag == "plugin":
                model.append(child)
            elif child.tag != "uri":
                self.note(child, f"<{child.tag}> of <include> has no effect")
        if tags.child("placement_frame") is not None and tags.child("pose") is None:
            raise tags.fault("<placement_frame> has no effect without <pose>; must have both", "placement_frame")

    def find(self, tags: Tags, uri: str, file: str | Path) -> Path | None:
        """Return the SDF file that an address names; None for a built-in model."""
        try:
            found, searched = find_resource(uri, file, self.source.package_paths, is_there=exists)
        except ModelError as error:
            raise tags.fault(error.message, "uri") from error
        if found is None:
            if uri.removeprefix("model://").strip("/") in BUILT_IN:
                return None
            where = ", ".join(searched[:8]) or "nowhere"
            remedy = "Name its folder in package_paths or in GZ_SIM_RESOURCE_PATH, GAZEBO_MODEL_PATH or SDF_PATH"
            raise tags.fault(f"{uri!r} is not found; searched: {where}. {remedy}", "uri")
        if not found.is_dir():
            return found
        config = found / "model.config"
        named: list[tuple[tuple[int, ...], str]] = []
        if exists(config):
            for entry in parse_xml(read_file(config), config).iter("sdf"):
                version = tuple(int(n) for n in re.findall(r"\d+", entry.get("version", "0"))[:2])
                named.append((version, (entry.text or "").strip()))
        name = max(named)[1] if named else "model.sdf"
        path = Path(os.path.normpath(found / name))
        if found not in path.parents or not exists(path):
            raise tags.fault(f"the folder {str(found)!r} has no file {name!r}, which is its model", "uri")
        return path

    # -- frames ---------------------------------------------------------------------------------------------

    def collect(self, top: Node) -> None:
        """Note all models, frames, links and joints below the top."""
        if top.tag == "model":
            self.model(top, "", False)
            return
        for child in top:
            if child.tag == "model":
                self.model(child, "", False)
            elif child.tag == "frame":
                self.frame(child, "")
            elif child.tag in ("joint", "actor", "road", "population"):
                self.note(child, f"<{child.tag}> of a world is not read and left out")

    def model(self, element: ET.Element, scope: str, static: bool) -> None:
        assert isinstance(element, Node)
        tags = Tags(element, f"model {element.get('name', '')!r}", self.file)
        key = _scoped(scope, tags.name())
        found = SdfModel(element, key, static or tags.flag("static", False))
        self.models.append(found)
        self.add(key, element, scope, scope)
        if element.get("placement_frame"):
            self.placed[key] = _scoped(key, element.get("placement_frame", ""))
        for child in element:
            if child.tag == "model":
                self.model(child, key, found.static)
            elif child.tag == "frame":
                self.frame(child, key)
            elif child.tag == "link":
                link = Tags(child, "a link", self.file).name()
                self.add(_scoped(key, link), child, key, key)
                self.links[_scoped(key, link)] = child
                found.links.append(child)
            elif child.tag == "joint":
                self.joint(child, key)
                found.joints.append(child)
        canonical = element.get("canonical_link") or (found.links[0].get("name", "") if found.links else "")
        nested = next((m.key for m in self.models if m.key.startswith(f"{key}::")), "")
        self.attached[key] = _scoped(key, canonical) if canonical else nested

    def joint(self, element: ET.Element, key: str) -> None:
        tags = Tags(element, f"joint {element.get('name', '')!r}", self.file)
        name = tags.name()
        for end in ("parent", "child"):
            if not tags.text(end):
                raise tags.fault(f"<{end}> is missing; must be the name of a link", end, element)
        child = self.lookup(tags.text("child"), key)
        self.add(_scoped(key, name), element, child, key)
        self.attached[_scoped(key, name)] = child

    def frame(self, element: ET.Element, key: str) -> None:
        name = _scoped(key, Tags(element, "a <frame>", self.file).name())
        on = element.get("attached_to", "")
        self.attached[name] = self.lookup(on, key) if on else key
        self.add(name, element, self.attached[name], key)

    def add(self, key: str, element: ET.Element, default: str, scope: str) -> None:
        if key in self.frames:
            first = self.frames[key][2]
            raise self.fail(element, f"the name {key!r} is taken by <{first.tag}> in line {line_of(first)}", "name")
        assert isinstance(element, Node)
        other, X = self.pose(element, scope)
        self.frames[key] = (default if other is None else other, X, element)

    def pose(self, element: ET.Element, scope: str) -> tuple[str | None, Array]:
        """Return the frame of an element's pose, None for the default, and the pose; the element then has none."""
        node = element.find("pose")
        if node is None:
            return None, np.eye(4)
        other = node.attrib.pop("relative_to", "") or node.attrib.pop("frame", "")
        who = f"<{element.tag}> {element.get('name', '')!r}"
        position, quaternion = Tags(element, who, self.file).pose()
        X = pose(position, rotation_from_quaternion(quaternion))
        return self.lookup(other, scope) if other else None, X

    def lookup(self, name: str, scope: str) -> str:
        return scope if name == "__model__" else "" if name == "world" else _scoped(scope, name)

    def in_frame(self, key: str, root: str = "", at: ET.Element | None = None, seen: tuple[str, ...] = ()) -> Array:
        """Return the pose of a frame in another one that its chain of frames leads to; "" is the world."""
        if key == root:
            return np.eye(4)
        if key in seen:
            shown = " -> ".join(map(repr, (*seen[seen.index(key) :], key)))
            raise self.fail(self.frames[key][2], f"the frames are given relative to each other in a loop: {shown}")
        if key not in self.frames:
            where = at if at is not None else self.source.root
            raise self.fail(where, f"<{where.tag}> {where.get('name', '')!r} refers to {key or 'the world'!r}; "
                            + nearest(key, self.frames), "relative_to")  # fmt: skip
        other, X, element = self.frames[key]
        result = self.in_frame(other, root, element, (*seen, key)) @ X
        if key in self.placed:
            result = result @ inverse(self.in_frame(self.placed[key], key, element))
        return result

    # -- the tree -------------------------------------------------------------------------------------------

    def resolve(self) -> dict[int, Array]:
        """Write final names and poses into the tree; return the poses of links and joints in the world."""
        names = self.unique_names()
        for key in self.frames:
            self.in_frame(key)
        poses: dict[int, Array] = {}
        for model in self.models:
            for element in (*model.links, *model.joints):
                key = _scoped(model.key, element.get("name", ""))
                poses[id(element)] = self.in_frame(key)
        for model in self.models:
            for link in model.links:
                self.inside(link, model, poses[id(link)], np.eye(4))
            for joint in model.joints:
                child = self.link_of(joint, "child", model.key)
                if child == "":
                    raise self.fail(joint, f"joint {joint.get('name')!r}: <child> is the world; must be a link")
                offset = inverse(poses[id(self.links[child])]) @ poses[id(joint)]
                self.inside(joint, model, poses[id(joint)], offset)
                self.axes(joint, model, poses[id(joint)])
                for end in ("parent", "child"):
                    node = joint.find(end)
                    link = self.link_of(joint, end, model.key)
                    if node is not None:
                        node.text = names[id(self.links[link])] if link else "world"
            mimics = [m for joint in model.joints for m in joint.iter("mimic")]
            for mimic in mimics:
                key = _scoped(model.key, mimic.get("joint", ""))
                if key in self.frames and id(self.frames[key][2]) in names:
                    mimic.set("joint", names[id(self.frames[key][2])])
        for model in self.models:
            for element in (*model.links, *model.joints):
                element.set("name", names[id(element)])
        return poses

    def unique_names(self) -> dict[int, str]:
        """Return the names of links and joints: their own; where several have it, all but the first are scoped.

        Models with plugins, sensors or joints come before those that are part of the scenery.
        """

        def scenery(model: SdfModel) -> bool:
            return not model.joints and not any(e.tag in ("plugin", "sensor") for e in model.element.iter())

        names: dict[int, str] = {}
        taken = {"link": {"world"}, "joint": set()}
        for model in sorted(self.models, key=scenery):
            for element in (*model.links, *model.joints):
                name, used = element.get("name", ""), taken[element.tag]
                name = name if name not in used else _scoped(model.key, name)
                if name in used:
                    raise self.fail(element, f"the {element.tag} {name!r} exists already", "name")
                used.add(name)
                names[id(element)] = name
        return names

    def link_of(self, joint: Node, end: str, scope: str) -> str:
        """Return the scoped name of the link at an end of a joint, "" for the world."""
        text = (joint.findtext(end) or "").strip()
        key, steps = self.lookup(text, scope), 0
        while key and key not in self.links and steps <= len(self.attached):
            if key not in self.attached:
                valid = nearest(text, [k.removeprefix(f"{scope}::") for k in self.links])
                raise self.fail(joint, f"joint {joint.get('name')!r}: <{end}> is {text!r}; {valid}", end)
            key, steps = self.attached[key], steps + 1
        return key if key in self.links else ""

    def inside(self, holder: Node, model: SdfModel, at: Array, offset: Array) -> None:
        """Write the poses of all that stands on a link or joint in the frame of the link.

        Args:
            holder: the link or joint.
            model: its model.
            at: pose of the holder in the world.
            offset: pose of the holder in the frame of the link.
        """
        for element in [e for e in holder.iter() if e is not holder and e.tag in PLACED]:
            other, X = self.pose(element, model.key)
            if other is not None:
                X = inverse(at) @ self.in_frame(other, at=element) @ X
            direct = element in list(holder)
            if other is None and (not direct or np.array_equal(offset, np.eye(4))):
                continue
            node = element.find("pose")
            if node is None:
                node = ET.SubElement(element, "pose")
            node.attrib.clear()
            node.set("rotation_format", "quat_xyzw")
            node.text = _pose_text(offset @ X if direct else X)

    def axes(self, joint: Node, model: SdfModel, at: Array) -> None:
        """Write the axes of a joint in its own frame."""
        for axis in joint.findall("axis"):
            xyz = axis.find("xyz")
            if xyz is None:
                xyz = ET.SubElement(axis, "xyz")
                xyz.text = "0 0 1"
            frame = xyz.attrib.pop("expressed_in", "")
            if Tags(axis, f"joint {joint.get('name')!r}", self.file).flag("use_parent_model_frame", False):
                frame = "__model__"
            if frame:
                vector = Tags(axis, f"joint {joint.get('name')!r}", self.file).vector("xyz", 3) or [0.0, 0.0, 1.0]
                other = self.in_frame(self.lookup(frame, model.key), at=joint)
                xyz.text = numbers(at[:3, :3].T @ other[:3, :3] @ np.array(vector))


PLACED = ("collision", "visual", "inertial", "sensor", "light", "camera", "projector")
"""Elements on a link or joint that have a pose."""


def _place_axes(root: ET.Element) -> None:
    """Say of the axes in a file of version 1.4, which has no tag for it, that they are in the frame of their model."""
    if root.get("version") == "1.4":
        for axis in root.iterfind(".//joint/axis"):
            ET.SubElement(axis, "use_parent_model_frame").text = "true"


def _scoped(scope: str, name: str) -> str:
    return f"{scope}::{name}" if scope else name


def _pose_text(X: Array) -> str:
    w, x, y, z = quaternion_from_rotation(X[:3, :3])
    return numbers([*X[:3, 3], x, y, z, w])

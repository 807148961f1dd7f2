"""Rods between bodies in files: the block ``rods`` of a YAML file and of `pliant.load`, and a plugin tag of URDF."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pliant.base.documents.yaml_tree import Document
from pliant.base.errors import ModelError
from pliant.formats.source import Block, TagReader, WingTags
from pliant.model.robot import Robot
from pliant.model.sensors import SensorDescription
from pliant.rods.between.loads import DistributedLoad, Load, PointLoad
from pliant.rods.loaders import Reader, read_frame, read_rod
from pliant.rods.model.rod_between import RodBetween, attach_rod

PLUGIN = "libpliant_rod.so"
"""File name of the plugin tag of a rod in a URDF."""
ENDS = ("name", "body_a", "pose_a", "body_b", "pose_b", "end_b", "loads", "segments", "damping", "contact")
LOADS = ("at", "begin", "end", "force", "moment", "follower")
LISTS = ("xyz", "rpy", "force", "moment", "distributed_force", "distributed_moment", "precurvature", "bending", "shear")
"""Elements of the tag that hold several numbers."""


def rod_from_mapping(data: object, where: str, document: Document | None = None) -> RodBetween:
    """Return the rod that a mapping describes: the keys of a limb's ``rod``, and those of `RodBetween`.

    Args:
        data: the mapping.
        where: how messages name it.
        document: the document that it stands in; None: none.

    Raises:
        ModelError: a key is unknown, or a value not valid; the message names it.
    """
    r = Reader(data, document or Document(data, {}, None), field=where)
    own = {key: value for key, value in r.data.items() if key in ENDS}
    rod = read_rod(Reader({k: v for k, v in r.data.items() if k not in ENDS}, r.document, field=where))
    ends = Reader(own, r.document, field=where)
    ends.known(*ENDS, empty="body_b")
    if "body_b" not in own:
        raise r.fail("the body at end B is missing; null leaves this end free", "body_b")
    poses = {}
    for key in ("pose_a", "pose_b"):
        if key in ends:
            frame = ends.sub(key)
            frame.known("xyz", "rpy")
            poses[key] = read_frame(frame, False)
    loads = own.get("loads") or []
    if not isinstance(loads, list):
        raise r.fail(f"needs a list of loads, found {loads!r}", "loads")
    with ends.placing():
        return RodBetween(
            name=ends.text("name", "rod"), rod=rod, body_a=ends.text("body_a", "world"),
            body_b=ends.text("body_b", "") or None, end_b=own.get("end_b", "clamped"),
            loads=tuple(_load(ends.inner(one, "loads", k, field=f"{where}.loads.{k}")) for k, one in enumerate(loads)),
            segments=ends.whole("segments", 10), damping=ends.number("damping", "time", 1e-3),
            contact=ends.flag("contact", True), **poses,
        )  # fmt: skip


def _load(r: Reader) -> Load:
    r.known(*LOADS)
    follower = r.flag("follower", False)
    zero = (0.0, 0.0, 0.0)
    with r.placing():
        if "at" in r:
            return PointLoad(
                at=r.number("at", "ratio"), force=r.vector("force", "force", 3, zero),
                moment=r.vector("moment", "moment", 3, zero), follower=follower,
            )  # fmt: skip
        return DistributedLoad(
            begin=r.number("begin", "ratio", 0.0), end=r.number("end", "ratio", 1.0),
            force=r.vector("force", "force per length", 3, zero), moment=r.vector("moment", "force", 3, zero),
            follower=follower,
        )  # fmt: skip


def _apply(robot: Robot, settings: object) -> None:
    if not isinstance(settings, list) or not settings:
        raise ModelError(f"rods: must be a list of rods, found {settings!r}", field="rods")
    for k, one in enumerate(settings):
        try:
            attach_rod(robot, rod_from_mapping(one, f"rods.{k}"))
        except ModelError as error:
            field = error.field or ""
            raise ModelError(error.message, field=field if field.startswith("rods") else f"rods.{k}.{field}") from error


RODS_BLOCK = Block(apply=_apply, type=list[dict[str, Any]])
"""The block ``rods`` of a robot file and of `pliant.load`."""


def _tree(element: ET.Element, where: str) -> Any:
    """Return the value of an element: a mapping of its children, numbers, a truth value, or text."""
    if len(element):
        out: dict[str, Any] = {}
        for child in element:
            if child.tag == "load":
                out.setdefault("loads", []).append(_tree(child, where))
            elif child.tag in out:
                raise ModelError(f"{where}: <{child.tag}> is given twice", field=child.tag)
            else:
                out[child.tag] = _tree(child, where)
        return out
    text = (element.text or "").strip()
    if element.tag in LISTS:
        return [_number(part) for part in text.split()]
    return {"true": True, "false": False}.get(text, _number(text))


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _read(
    root: ET.Element, joints: Mapping[str, str], sensors: Sequence[SensorDescription], file: Path,
    package_paths: Sequence[str | Path],
) -> WingTags:  # fmt: skip
    """Return the rods of the plugin tags of a robot."""
    found = WingTags()
    for k, plugin in enumerate(p for p in root.iter("plugin") if p.get("filename") == PLUGIN):
        name = plugin.get("name") or f"rod{k + 1}"
        tree = _tree(plugin, f"rod {name!r}")
        data = {"name": name, **(tree if isinstance(tree, dict) else {})}
        if data.get("body_b") == "":
            data["body_b"] = None
        found.devices.append(rod_from_mapping(data, f"rod {name!r}", Document(data, {}, file)))
    return found


READER = TagReader(name="rods", title="rods", read=_read, owns=lambda filename: filename == PLUGIN)
"""The plugin tag ``libpliant_rod.so`` of a URDF or an SDF."""

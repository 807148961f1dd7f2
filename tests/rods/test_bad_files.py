"""Whatever stands at a place of a file of rods, tubes or parallel robots, it is taken or named with file and field."""

import copy
import math
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from pliant.base.documents.yaml_tree import Document
from pliant.base.errors import PliantError
from pliant.rods import loaders
from pliant.rods.model.rod_reading import READER, rod_from_mapping
from pliant.rods.tendons import files as tendon_files
from pliant.tubes.files import describe

NAN, INF = math.nan, math.inf
NEVER = (None, NAN, INF, -INF, {"a": 1}, [[1.0]], [1.0] * 9, [], "3 bananas", "nan", [NAN] * 3)
"""Values that are valid nowhere, but for texts where any text is valid."""
ROD = {
    "length": "200 mm", "radius": 5e-4, "tip_radius": 4e-4, "E": "60 GPa", "G": 23e9, "poisson": 0.3, "density": 7800,
    "precurvature": [0.0, 1.0, 0.0], "distributed_force": [0.0, 0.0, 0.1], "distributed_moment": [0.0, 0.0, 1e-3],
}  # fmt: skip
UNLOADED = {"distributed_force": [0.0] * 3, "distributed_moment": [0.0] * 3}
FLAT = {"length": 0.2, "width": 2e-3, "height": 1e-3, "tip_width": 1e-3, "tip_height": 1e-3}
SOFT = {"bending": [1.0, 1.0], "torsion": 1.0, "axial": 1e4, "shear": [1e4, 1e4], "mass": 0.1}
FRAME = {"xyz": [0.1, 0.0, 0.0], "rpy": [0.0, 0.1, 0.0]}
ROBOT = {
    "name": "r", "kind": "spatial", "gravity": [0.0, 0.0, -9.81], "plate": {"mass": 0.1, "com": [0.0, 0.0, 0.01]},
    "controlled": ["x", "y"], "home": {**FRAME, "q": [0.1] * 2},
    "configurations": {"one": {"q": [0.0] * 2, "pose": [0.0, 0.0, 0.2, 0.0, 0.0, 0.0]}},
    "limb": {
        "rod": ROD, "attach": FRAME,
        "joints": [{"type": "prismatic", "axis": [0.0, 0.0, 1.0], "limits": [-1.0, 1.0], "passive": False, **FRAME}],
        "plate_joint": {"type": "universal", "axis": [1.0, 0.0, 0.0], "axis_2": [0.0, 1.0, 0.0], "attach": FRAME,
                        **FRAME},
    },
    "limbs": [{"name": f"limb{i}", "base": {**FRAME, "xyz": [0.1 * i, 0.0, 0.0]}} for i in range(2)],
}  # fmt: skip
PLANAR = {
    "name": "p", "kind": "planar", "home": {"xy": [0.0, 0.1], "angle": 0.1},
    "limb": {"rod": {"length": 0.2, "stiffness": SOFT}, "joints": [{"type": "revolute"}]},
    "limbs": [{"plate_joint": {"type": "fixed", "xy": [0.1 * i, 0.0], "angle": 0.1}} for i in range(3)],
}  # fmt: skip
TUBE = {"length": 0.2, "curved_length": 0.1, "curvature": 10.0, "outer_radius": 5e-4, "inner_radius": 3e-4,
        "E": 6e10, "G": 2e10, "density": 6450}  # fmt: skip
TUBES = {
    "name": "t", "base": FRAME, "gravity": [0.0, 0.0, -9.81], "translation": [-0.02, -0.01],
    "tubes": [TUBE, {**TUBE, "length": 0.15, "outer_radius": 8e-4, "inner_radius": 5.5e-4}],
}  # fmt: skip
TENDONS = {
    "name": "f", "base": FRAME, "gravity": [0.0, 0.0, 9.81], "tip_mass": "5 g", "tip_offset": [0.0, 0.0, 0.01],
    "links": "chords",
    "segment": {"rod": {**ROD, **UNLOADED, "precurvature": [0.0, 0.1, 0.0]}, "disks": 3, "disk_radius": 6e-3,
                "disk_mass": 1e-3},
    "segments": [{"disk_mass": 2e-3}, {"rod": {"length": 0.1}}],
    "tendon": {
        "radius": 5e-3, "tip_radius": 4e-3, "turn": 0.1, "drive_stiffness": 3200.0, "axial_stiffness": 2e4,
        "pretension": "3 N", "slack": 0.0, "friction": 0.1, "presliding": 2e-4, "guide_angle": 1.0,
        "breaking_load": 100.0, "diameter": "0.3 mm",
    },
    "tendons": [
        {"segment": 1, "angle": "60 deg"},
        {"segment": 0, "holes": [[-5e-3, 0.0], [-5e-3, 1e-4], [-5e-3, 2e-4], [-5e-3, 3e-4]]},
    ],
}  # fmt: skip
BETWEEN = {
    **ROD, "name": "rod", "body_a": "world", "pose_a": FRAME, "body_b": "hand", "pose_b": FRAME, "end_b": "clamped",
    "segments": 10, "damping": 1e-3, "contact": True,
    "loads": [{"at": 0.5, "force": [0.0, 0.0, 1.0], "moment": [0.0, 0.0, 0.1], "follower": False},
              {"begin": 0.1, "end": 0.9, "force": [0.0, 0.0, 1.0]}],
}  # fmt: skip


def robot(data, _):
    return loaders.describe(Document(data, {}, Path("robot.yaml")))


def tubes(data, _):
    return describe(Document(data, {}, Path("tubes.yaml")))


def tendons(data, _):
    return tendon_files.describe(Document(data, {}, Path("finger.yaml")))


def between(data, _):
    return rod_from_mapping(data, "rods.0", Document(data, {}, Path("robot.yaml")))


def tag(data, folder):
    """Return the rod of a plugin tag in a URDF."""

    def put(parent, name, value):
        if isinstance(value, list) and value and isinstance(value[0], dict):
            for one in value:
                put(parent, "load", one)
            return
        element = ET.SubElement(parent, name)
        if isinstance(value, dict):
            for key, inner in value.items():
                put(element, key, inner)
        elif isinstance(value, list):
            element.text = " ".join(str(part) for part in value)
        else:
            element.text = str(value).lower() if isinstance(value, bool) else str(value)

    root = ET.Element("robot")
    put(root, "plugin", {key: value for key, value in data.items() if key != "name"})
    root[0].set("filename", "libpliant_rod.so")
    return READER.read(root, {}, [], folder / "robot.urdf", [])


KINDS = {
    "robot": (robot, ROBOT), "planar robot": (robot, PLANAR), "tubes": (tubes, TUBES),
    "tendons": (tendons, TENDONS), "rod": (between, BETWEEN),
    "flat rod": (between, {**FLAT, "body_a": "world", "body_b": "hand"}), "tag": (tag, BETWEEN),
}  # fmt: skip


def places(value, place=()):
    """Yield the places of a document below its root, once for parts that stand in it several times."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        if not (isinstance(key, int) and key > 1):
            yield (*place, key)
            yield from places(inner, (*place, key))


def changed(data, place, value):
    out = copy.deepcopy(data)
    at = out
    for key in place[:-1]:
        at = at[key]
    if value is KeyError:
        del at[place[-1]]
    else:
        at[place[-1]] = value
    return out


def wrong(data, place):
    """Yield values that are not valid at a place."""
    was = data
    for key in place:
        was = was[key]
    text = isinstance(was, str) and not was[0].isdigit()
    empty = place[-1] in ("loads", "precurvature", "joints", "holes")  # there may be none
    yield from (v for v in NEVER if not (text and isinstance(v, str)) and not (empty and v == []))
    if isinstance(was, list):
        if not isinstance(was[0], dict):
            yield was + was[:1]
        yield "text"
    elif isinstance(was, dict):
        yield 5.0
        yield {**was, "unknown": 1}
    elif not isinstance(was, bool) and not text:
        yield True
    if text:
        yield from (5, True)


@pytest.mark.parametrize("kind", KINDS)
def test_the_files_that_are_changed_hold_every_key_that_is_read(kind, tmp_path, monkeypatch):
    read, data = KINDS[kind]
    found, known = set(), loaders.Reader.known
    monkeypatch.setattr(
        loaders.Reader, "known", lambda self, *keys, **more: found.update(keys) or known(self, *keys, **more)
    )
    read(data, tmp_path)
    everywhere = {key for _, one in KINDS.values() for place in places(one) for key in place}
    assert found <= everywhere | UNCHECKED


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_that_is_missing_is_named_with_its_file_and_what_would_be_valid(kind, tmp_path):
    read, data = KINDS[kind]
    vague, refused = [], 0
    for place in places(data):
        # The rest has defaults, which may contradict the remaining keys.
        if isinstance(place[-1], int) or place[-1] in ("joints", "xyz", "kind", "xy"):
            continue
        try:
            read(changed(data, place, KeyError), tmp_path)
        except PliantError as fault:
            refused += 1
            text = str(fault)
            valid = any(word in text for word in ("must be", "needs", "needed", "null leaves"))
            named = str(place[-1]) in text or {"limb": "rod"}.get(place[-1], place[-1]) in text
            if not (valid and named and (".yaml" in text or ".urdf" in text)):
                vague.append((place, text))
    assert not vague, "\n".join(map(str, vague))
    assert refused >= 3


UNCHECKED = {"aliases", "summary", "source", "notes", "brief"}
"""Keys of parallel robots that no number depends on."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_value_at_any_place_of_a_file_is_named(kind, tmp_path):
    read, data = KINDS[kind]
    silent = []
    for place in places(data):
        for value in wrong(data, place):
            if value is None and (read is tag or place == ("body_b",)):  # XML has no null; a free end
                continue
            if read is tag and (place == ("name",) or isinstance(value, list | dict)):  # an attribute; other elements
                continue
            try:
                read(changed(data, place, value), tmp_path)
            except PliantError as fault:
                names = [str(key) for key in place if isinstance(key, str)]
                if not any(name in str(fault) for name in names[-2:]):
                    silent.append((place, value, str(fault)))
            else:
                silent.append((place, value, "taken"))
    assert not silent, "\n".join(map(str, silent[:40]))

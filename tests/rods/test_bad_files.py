"""Whatever stands at a place of a file of rods or parallel robots, it is taken or named with file and field."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from wrong_files import FLAT, FRAME, ROD, SOFT, check_keys, check_missing, check_wrong

from pliant.base.documents.yaml_tree import Document
from pliant.rods import loaders
from pliant.rods.model.rod_reading import READER, rod_from_mapping

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
BETWEEN = {
    **ROD, "name": "rod", "body_a": "world", "pose_a": FRAME, "body_b": "hand", "pose_b": FRAME, "end_b": "clamped",
    "segments": 10, "damping": 1e-3, "contact": True,
    "loads": [{"at": 0.5, "force": [0.0, 0.0, 1.0], "moment": [0.0, 0.0, 0.1], "follower": False},
              {"begin": 0.1, "end": 0.9, "force": [0.0, 0.0, 1.0]}],
}  # fmt: skip


def robot(data, _):
    return loaders.describe(Document(data, {}, Path("robot.yaml")))


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
    "robot": (robot, ROBOT), "planar robot": (robot, PLANAR), "rod": (between, BETWEEN),
    "flat rod": (between, {**FLAT, "body_a": "world", "body_b": "hand"}), "tag": (tag, BETWEEN),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_the_files_that_are_changed_hold_every_key_that_is_read(kind, tmp_path):
    check_keys(KINDS, kind, tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_that_is_missing_is_named_with_its_file_and_what_would_be_valid(kind, tmp_path):
    check_missing(*KINDS[kind], tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_value_at_any_place_of_a_file_is_named(kind, tmp_path):
    read, data = KINDS[kind]

    def valid(place, value):
        if value is None and (read is tag or place == ("body_b",)):  # XML has no null; a free end
            return True
        return read is tag and (place == ("name",) or isinstance(value, list | dict))  # an attribute; other elements

    check_wrong(read, data, tmp_path, valid)

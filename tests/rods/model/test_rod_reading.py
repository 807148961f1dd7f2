"""Rods between bodies in YAML files and as a plugin tag of URDF."""

import numpy as np
import pytest

import pliant
from pliant.base.errors import ModelError
from pliant.rods import DistributedLoad, PointLoad

URDF = """<robot name="arm"><link name="base"/><link name="tip"><inertial><mass value="1"/>
<inertia ixx=".01" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="prismatic"><parent link="base"/><child link="tip"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="10" velocity="1"/></joint>{tag}</robot>"""
TAG = """<gazebo><plugin name="spring" filename="libpliant_rod.so"><length>{length}</length><radius>1 mm</radius>
<pose_a><xyz>0.05 0 -0.45</xyz></pose_a><body_b>tip</body_b><segments>4</segments>
<load><at>0.5</at><force>0.1 0 0</force><follower>true</follower></load></plugin></gazebo>"""
ONE = {"length": 0.5, "radius": "1 mm", "pose_a": {"xyz": [0.05, 0, -0.45]}, "body_b": "tip", "segments": 4}


def urdf(folder, tag=""):
    file = folder / "arm.urdf"
    file.write_text(URDF.format(tag=tag), encoding="utf-8")
    return file


def test_a_tag_of_a_urdf_is_a_rod(tmp_path):
    robot = pliant.load(urdf(tmp_path, TAG.format(length=0.5)))
    (part,) = robot.devices
    assert (part.name, part.body_a, part.body_b, part.rod.length, part.segments) == ("spring", "world", "tip", 0.5, 4)
    assert part.loads == (PointLoad(at=0.5, force=(0.1, 0.0, 0.0), follower=True),)
    np.testing.assert_array_equal(part.pose_a[:3, 3], [0.05, 0.0, -0.45])
    assert robot.compile().body("spring/link4").id > 0


def test_a_rod_of_a_urdf_that_is_too_short_is_an_error_of_check(tmp_path):
    robot = pliant.load(urdf(tmp_path, TAG.format(length=0.3)))
    assert "length must be at least" in next(p for p in robot.check() if p.severity == "error").message


def test_a_block_of_a_yaml_file_and_an_argument_of_load_are_rods(tmp_path):
    urdf(tmp_path)
    file = tmp_path / "arm.yaml"
    file.write_text(
        "model: arm.urdf\nrods:\n  - name: spring\n    length: 0.5\n    radius: 1 mm\n    body_b: tip\n"
        "    pose_a: {xyz: [0.05, 0, -0.45]}\n    loads:\n      - {begin: 0.2, force: [0, 0.1, 0]}\n",
        encoding="utf-8",
    )
    (part,) = pliant.load(file).devices
    assert part.loads == (DistributedLoad(begin=0.2, force=(0.0, 0.1, 0.0)),)
    (part,) = pliant.load(tmp_path / "arm.urdf", rods=[ONE]).devices
    assert part.rod.section.radius == 1e-3


def test_a_wrong_value_of_a_yaml_file_is_named_with_its_line(tmp_path):
    urdf(tmp_path)
    file = tmp_path / "arm.yaml"
    file.write_text("model: arm.urdf\nrods:\n  - length: 0.5\n    radius: 1 mm\n    body_b: tipp\n", encoding="utf-8")
    with pytest.raises(ModelError, match="no body 'tipp'"):
        pliant.load(file)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lenght": 1.0}, "did you mean 'length'"),
        ({"length": 0.3}, "length must be at least"),
        ({"radius": "1 kg"}, "valid units"),
        ({"loads": [{"at": 2}]}, "from 0 to 1"),
        ({"loads": {"at": 0.5}}, "list of loads"),
        ({"loads": [{"at": 0.5, "force": 3}]}, "3 numbers"),
        ({"segments": 1}, "from 3 to 200"),
        ({"segments": 4.5}, "whole number"),
        ({"contact": "yes"}, "true or false"),
        ({"pose_a": {"xy": [0, 0]}}, "not known"),
        ({"damping": "fast"}, "needs a time"),
    ],
)
def test_wrong_rods_of_a_block_are_named(tmp_path, changes, message):
    with pytest.raises(ModelError, match=message):
        pliant.load(urdf(tmp_path), rods=[ONE | changes])


def test_a_rod_without_a_body_b_is_refused_and_null_leaves_its_end_free(tmp_path):
    file = urdf(tmp_path)
    with pytest.raises(ModelError, match="null leaves this end free"):
        pliant.load(file, rods=[{key: value for key, value in ONE.items() if key != "body_b"}])
    assert pliant.load(file, rods=[ONE | {"body_b": None}]).compile().neq == 0
    with pytest.raises(ModelError, match="must be a list of rods"):
        pliant.load(file, rods={"name": "spring"})


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"radius": "x"}, "radius", "needs a length, found 'x'"),
        ({"length": -1}, "length", "rod: length must be a positive number, found -1.0"),
        ({"segments": "k"}, "segments", "needs a whole number, found 'k'"),
        ({"segments": 1}, "segments", "rod: segments is 1; must be from 3 to 200"),
        ({"loads": [{"at": "k"}]}, "loads.0.at", "needs a ratio, found 'k'"),
        ({"loads": [{"at": 7.0}]}, "loads.0.at", "point load: at is 7.0; must be from 0 to 1"),
        ({"loads": [3]}, "loads.0", "must be a mapping, found 3"),
    ],
)
def test_an_error_of_a_block_names_its_field_in_full_and_once(tmp_path, changes, field, message):
    with pytest.raises(ModelError) as error:
        pliant.load(urdf(tmp_path), rods=[ONE | changes])
    assert error.value.field == f"rods.0.{field}"
    assert message in error.value.message
    assert error.value.message.count("rods.0") == 1

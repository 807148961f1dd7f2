"""The catalogue, the YAML format, the Gazebo simulator's folders, and what each says to bad input."""

import json
import shutil

import numpy as np
import pytest
from shared_files import shared_file

from pliant.base.errors import ModelError
from pliant.rods import catalogue, load_description, load_robot
from pliant.rods.description import planar_turn
from pliant.rods.gazebo import expand_xacro, read_gazebo_folder

NAMES = (
    "2PR", "2RR", "3ER", "3PR", "3RR", "RERRFR", "3PFR_spatial", "Stewart_Gough_6EFR", "Stewart_Gough_6FFR_Till",
    "Stewart_Gough_6PFF", "Stewart_Gough_6PFR", "Stewart_Gough_6PFS",
)  # fmt: skip


def frames(limb):
    return np.array([limb.base, limb.attach, limb.distal.pose, limb.distal.attach])


def test_the_catalogue_has_the_twelve_robots():
    assert set(NAMES) <= set(catalogue())


@pytest.mark.shared
@pytest.mark.parametrize("name", NAMES)
def test_catalogue_geometry_equals_the_resolved_geometry(name):
    ref = json.loads(shared_file("data/cpr_robots.json").read_text())[name]
    robot = load_description(name)
    assert robot.planar == (ref["family"] == "planar")
    for limb, one in zip(robot.limbs, ref["limbs"]):
        want = np.array([one[k] for k in ("base_T", "base_attach", "dist_T", "dist_attach")], dtype=float)
        if robot.planar:
            want[:, 2, 3] = 0.0
            want[1], want[3] = want[1] @ planar_turn(), want[3] @ planar_turn()
        assert frames(limb) == pytest.approx(want, abs=1e-12)
    if not robot.planar:
        assert robot.plate.mass == pytest.approx(ref["mass_total"])


@pytest.mark.shared
@pytest.mark.parametrize("name", NAMES)
def test_gazebo_folder_gives_the_same_robot_as_the_catalogue(name):
    (config,) = shared_file("data/gazebo_cpr").glob(f"**/{name}/robot_config.yaml")
    a, b = read_gazebo_folder(config.parent), load_description(name)
    assert len(a.limbs) == len(b.limbs)
    assert a.planar == b.planar
    for one, two in zip(a.limbs, b.limbs):
        assert frames(one) == pytest.approx(frames(two), abs=1e-12)
        assert [j.kind for j in one.joints] == [j.kind for j in two.joints]
        assert one.distal.kind == two.distal.kind
        assert one.rod.section == two.rod.section
    assert a.plate.mass == pytest.approx(b.plate.mass)
    assert a.plate.com == pytest.approx(b.plate.com, abs=1e-12)


@pytest.mark.shared
def test_a_broken_xacro_names_file_and_fault(tmp_path):
    shutil.copytree(shared_file("data/gazebo_cpr"), tmp_path / "g", copy_function=shutil.copyfile)
    for p in (tmp_path / "g").rglob("*"):
        p.chmod(0o755)
    folder = next((tmp_path / "g").rglob("Stewart_Gough_6PFR"))
    file = folder / "distal_plate.sdf.xacro"
    good = file.read_text()
    for change, words in (
        (lambda s: s.replace("${mass}", "${mas}"), ["mas", "did you mean 'mass'"]),
        (lambda s: s.replace("</model>", ""), ["not well-formed XML", "distal_plate.sdf.xacro:"]),
        (lambda s: s.replace('type="revolute"', 'type="revolut"', 1), ["revolut", "did you mean 'revolute'"]),
        (lambda s: s.replace("$(arg x1)", "$(arg xx1)"), ["xx1"]),
        (lambda s: s.replace("${mass}", "${__import__('os').system('true')}"), ["arithmetic"]),
        (lambda s: s.replace("<model", "<xacro:macro name='a'/><model"), ["xacro:macro"]),
    ):
        file.write_text(change(good))
        with pytest.raises(ModelError) as error:
            read_gazebo_folder(folder)
        for word in words:
            assert word in str(error.value)
    file.unlink()
    with pytest.raises(ModelError, match="does not exist"):
        read_gazebo_folder(folder)


def test_xacro_puts_in_args_properties_and_expressions(tmp_path):
    file = tmp_path / "a.xacro"
    file.write_text(
        '<r xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="h" default="0.2"/>'
        '<xacro:property name="w" value="$(arg h)"/><a x="${-w/2 + 2**3*pi}" y="$(arg h)"><b>${w} 1</b></a></r>'
    )
    root = expand_xacro(file, {"h": "0.4"})
    assert float(root.find("a").get("x")) == pytest.approx(-0.2 + 8 * np.pi)
    assert root.find("a").get("y") == "0.4"
    assert root.findtext("a/b") == "0.4 1"


THREE_LEGS = """\
name: three-legs
kind: spatial
plate: {mass: 100 g}
home: {xyz: [0, 0, 1.05]}
controlled: [z, rx, ry]
limb:
  rod: {length: 1.0, radius: 1 mm, E: 200 GPa, G: 80 GPa}
  joints: [{type: prismatic, axis: [0, 0, 1]}]
  plate_joint: {type: revolute, axis: [0, 0, 1]}
limbs:
  - {base: {xyz: [0.4, 0, 0]}, plate_joint: {xyz: [0.3, 0, 0]}}
  - {base: {xyz: [-0.2, 0.35, 0]}, plate_joint: {xyz: [-0.15, 0.26, 0]}}
  - {base: {xyz: [-0.2, -0.35, 0]}, plate_joint: {xyz: [-0.15, -0.26, 0]}}
"""


def write(tmp_path, text):
    file = tmp_path / "robot.yaml"
    file.write_text(text)
    return file


def test_a_three_limb_robot_from_yaml_solves_and_units_are_read(tmp_path):
    robot = load_robot(write(tmp_path, THREE_LEGS))
    assert robot.description.plate.mass == pytest.approx(0.1)
    assert robot.description.limbs[0].rod.section.radius == pytest.approx(1e-3)
    s = robot.solve_igm(robot.description.home)
    assert s.residual < 1e-8
    assert robot.solve_dgm(s.q).plate_pose == pytest.approx(s.plate_pose, abs=1e-7)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("type: revolute", "type: revolut", ["plate_joint.type", "did you mean 'revolute'", ":9"]),
        ("type: prismatic", "type: slider", ["joints[1].type", "'slider'"]),
        ("E: 200 GPa", "E: 200", ["rod.E", "pascal", "200e9", ":7"]),
        ("length: 1.0", "length: 1000.0", ["length", "metres"]),
        ("radius: 1 mm", "radius: 1 kg", ["radius", "valid units: m"]),
        ("radius: 1 mm", "radius: .nan", ["radius", "finite"]),
        ("radius: 1 mm", "radius: 1", ["stout"]),
        ("radius: 1 mm", "radus: 1 mm", ["radus", "did you mean 'radius'", ":7"]),
        ("controlled: [z, rx, ry]", "controlled: [z, rx, r]", ["'r'"]),
        ("controlled: [z, rx, ry]", "controlled: [z]", ["1 freedoms for 3 actuators"]),
        ("mass: 100 g", "mass: -1", ["plate", "negative"]),
        ("- {base: {xyz: [-0.2, 0.35, 0]}, plate_joint: {xyz: [-0.15, 0.26, 0]}}",
         "- {base: {xyz: [0.4, 0, 0]}, plate_joint: {xyz: [0.3, 0, 0]}}", ["limb 2 repeats limb 1"]),
        ("limbs:\n", "limbs:\n  - 3\n", ["limbs[1]", "mapping"]),
        ("kind: spatial", "kind: planar", ["planar"]),
        ("name: three-legs", "name: [", ["not valid YAML"]),
        ("name: three-legs", "name: a\nname: b", ["twice", ":2"]),
    ],
)  # fmt: skip
def test_bad_yaml_is_answered_with_field_and_line(tmp_path, old, new, words):
    assert old in THREE_LEGS
    with pytest.raises(ModelError) as error:
        load_description(write(tmp_path, THREE_LEGS.replace(old, new, 1)))
    for word in ["robot.yaml", *words]:
        assert word in str(error.value)


def test_an_unknown_name_lists_the_catalogue():
    with pytest.raises(ModelError, match="did you mean 'Stewart_Gough_6PFR'"):
        load_robot("Stewart_Gouf_6PFR")


@pytest.mark.parametrize(
    ("short", "full"),
    [("6PFR", "Stewart_Gough_6PFR"), ("6pfs", "Stewart_Gough_6PFS"), ("3EFR", "3ER"), ("3rr", "3RR"),
     ("6FFR_Till", "Stewart_Gough_6FFR_Till"), ("Stewart_Gough_6EFR", "Stewart_Gough_6EFR")],
)  # fmt: skip
def test_short_names_stand_for_robots_of_the_catalogue(short, full):
    assert load_description(short).name == full


def test_every_robot_of_the_catalogue_has_one_meaning():
    from pliant.rods.loaders import full_name, short_names

    assert [full_name(name) for name in catalogue()] == list(catalogue())
    assert not set(short_names()) & set(catalogue())


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(ModelError, match="did you mean '6PFR'"):
        load_description("6PFRR")


def test_a_file_of_that_name_comes_before_a_short_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "6PFR").write_text("name: mine\n", encoding="utf-8")
    with pytest.raises(ModelError, match="6PFR"):
        load_description("6PFR")

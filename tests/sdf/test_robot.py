"""SDF worlds: includes, frames, nested and static models, joints away from the frame of their link, and refusals."""

import contextlib
import itertools
import math
import os

import mujoco
import numpy as np
import pytest

import pliant
from pliant.base.errors import ModelError
from pliant.formats.resources import find_resource

INERTIAL = "<inertial><mass>1</mass><inertia><ixx>.1</ixx><iyy>.1</iyy><izz>.1</izz></inertia></inertial>"
BOX = "<collision name='c'><geometry><box><size>.1 .1 .1</size></box></geometry></collision>"


def world(body, version="1.7"):
    return f"<sdf version='{version}'><world name='w'>{body}</world></sdf>"


def model(name, body, **attributes):
    shown = "".join(f" {key}='{value}'" for key, value in attributes.items())
    return f"<model name='{name}'{shown}>{body}</model>"


def link(name, pose="", inside=""):
    return f"<link name='{name}'>{f'<pose>{pose}</pose>' if pose else ''}{INERTIAL}{inside}</link>"


def hinge(name, parent, child, inside="", axis="<xyz>0 1 0</xyz>"):
    ends = f"<parent>{parent}</parent><child>{child}</child>"
    return f"<joint name='{name}' type='revolute'>{inside}{ends}<axis>{axis}</axis></joint>"


@pytest.fixture
def load(tmp_path):
    def read(text, name="x.sdf", **files):
        for path, content in {name: text, **files}.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(content)
        return pliant.load(tmp_path / name)

    return read


def state(robot, q=()):
    compiled = robot.compile()
    data = mujoco.MjData(compiled)
    data.qpos[: len(q)] = q
    mujoco.mj_kinematics(compiled, data)
    return compiled, data


@pytest.mark.parametrize("version", ["1.5", "1.6", "1.7", "1.8", "1.9", "1.10", "1.11"])
def test_every_version_from_5_to_11_is_read_and_a_body_falls_onto_the_ground_plane(version, load):
    ground = "<include><uri>model://ground_plane</uri></include><include><uri>model://sun</uri></include>"
    robot = load(world(ground + model("box", "<pose>1 2 0.3 0 0 0</pose>" + link("b", inside=BOX)), version))
    compiled, data = state(robot)
    assert compiled.nq == 7
    assert compiled.nlight == 1
    np.testing.assert_allclose(data.body("b").xpos, (1.0, 2.0, 0.3))
    for _ in range(2000):
        mujoco.mj_step(compiled, data)
    assert data.body("b").xpos[2] == pytest.approx(0.05, abs=1e-3)


@pytest.mark.parametrize(("tag", "gravity"), [("", -9.8), ("<gravity>0 0 -1.6</gravity>", -1.6)])
def test_a_world_has_its_own_gravity_or_that_of_the_specification(tag, gravity, load):
    assert load(world(tag + model("box", link("b", inside=BOX)))).compile().opt.gravity.tolist() == [0.0, 0.0, gravity]


def test_a_joint_away_from_the_frame_of_its_link_turns_about_its_own_place(load):
    arm = link("base") + link("arm", "0 0 1 0 0 0") + hinge("j", "base", "arm", "<pose>0 0 -1 0 0 0</pose>")
    compiled, data = state(
        load(world(model("m", "<static>false</static>" + arm + hinge("w", "world", "base")))), (0.0,)
    )
    data.qpos[compiled.joint("j").qposadr[0]] = math.pi / 2
    mujoco.mj_kinematics(compiled, data)
    # A quarter turn about +y through the origin takes +z to +x.
    np.testing.assert_allclose(data.body("arm").xpos, (1.0, 0.0, 0.0), atol=1e-12)


def test_poses_follow_the_frames_that_they_are_relative_to(load):
    text = model(
        "m",
        "<pose>1 0 0 0 0 0</pose><frame name='f' attached_to='base'><pose>0 2 0 0 0 1.5707963267948966</pose></frame>"
        + link("base")
        + f"<link name='tip'><pose relative_to='f'>3 0 0 0 0 0</pose>{INERTIAL}"
        "<sensor name='s' type='imu'><pose relative_to='base'>0 0 1 0 0 0</pose></sensor></link>"
        + hinge("j", "base", "tip", axis="<xyz expressed_in='base'>1 0 0</xyz>")
        + "<joint name='a' type='fixed'><parent>world</parent><child>base</child></joint>",
    )
    robot = load(world(text))
    compiled, data = state(robot)
    np.testing.assert_allclose(data.body("tip").xpos, (1.0, 5.0, 0.0), atol=1e-12)
    axis = data.body("tip").xmat.reshape(3, 3) @ compiled.jnt_axis[0]
    np.testing.assert_allclose(axis, (1.0, 0.0, 0.0), atol=1e-12)
    sensor = next(d for d in robot.devices if d.name == "s")
    at = data.body("tip").xpos + data.body("tip").xmat.reshape(3, 3) @ np.array(sensor.pos)
    np.testing.assert_allclose(at, (1.0, 0.0, 1.0), atol=1e-12)


def test_an_include_takes_name_pose_and_placement_frame(load):
    arm = model("arm", link("base") + link("tip", "0 0 1 0 0 0") + hinge("j", "base", "tip"))
    place = "<placement_frame>tip</placement_frame><pose>0 0 5 0 0 0</pose>"
    robot = load(
        world(f"<include><uri>model://arm</uri><name>left</name>{place}</include>"
              "<include><uri>model://arm</uri><name>right</name><static>1</static></include>"),
        **{"arm/model.config": "<model><sdf version='1.5'>old.sdf</sdf><sdf version='1.7'>new.sdf</sdf></model>",
           "arm/new.sdf": f"<sdf version='1.7'>{arm}</sdf>"},
    )  # fmt: skip
    compiled, data = state(robot)
    np.testing.assert_allclose(data.body("tip").xpos, (0.0, 0.0, 5.0), atol=1e-12)
    np.testing.assert_allclose(data.body("right::tip").xpos, (0.0, 0.0, 1.0), atol=1e-12)
    assert robot.name == "left"
    assert [compiled.joint(i).name for i in range(compiled.njnt)] == ["base/free", "j"]


def test_nested_models_are_joined_by_scoped_names_and_frames(load):
    inner = model("inner", "<pose>0 1 0 0 0 0</pose>" + link("a") + link("b") + hinge("k", "a", "b"))
    outer = model("outer", link("base") + inner + hinge("j", "base", "inner"))
    compiled, data = state(load(world(outer)))
    np.testing.assert_allclose(data.body("a").xpos, (0.0, 1.0, 0.0))
    assert compiled.body("a").parentid[0] == compiled.body("base").id
    assert {compiled.joint(i).name for i in range(compiled.njnt)} == {"base/free", "j", "k"}


def test_links_of_a_model_pass_through_each_other_and_touch_those_of_others(load):
    two = link("a", inside=BOX) + link("b", "0 0 0.05 0 0 0", BOX) + hinge("j", "a", "b")
    other = model("n", link("c", "0 0.09 0 0 0 0", BOX))
    compiled, data = state(load(world(model("m", two) + other)))
    mujoco.mj_forward(compiled, data)
    pairs = {tuple(sorted(compiled.body(compiled.geom_bodyid[g]).name for g in c.geom)) for c in data.contact}
    assert pairs == {("a", "c"), ("b", "c")}


def test_a_lone_model_is_mounted_with_a_note(load):
    robot = load(f"<sdf version='1.9'>{model('m', '<pose>0 0 2 0 0 0</pose>' + link('a'))}</sdf>")
    compiled, data = state(robot)
    assert compiled.nq == 0
    np.testing.assert_allclose(data.body("a").xpos, (0.0, 0.0, 2.0))
    assert any("'a' is fixed to the world" in note for note in robot.notes)


def test_a_link_without_inertia_has_the_default_of_sdf(load):
    robot = load(world(model("m", "<link name='a'/>")))
    assert robot.compile().body("a").mass[0] == 1.0
    assert any("SDF's default, 1 kg" in note for note in robot.notes)


@pytest.mark.parametrize("version", ["1.4", "1.5"])
@pytest.mark.parametrize("included", [False, True])
def test_the_axis_of_a_joint_is_in_the_frame_of_the_model_in_version_4_and_of_the_joint_in_later_ones(
    version, included, load
):
    turned = f"0 0 0 {math.pi / 2} 0 0"
    text = model("m", link("a") + link("b", turned) + hinge("j", "a", "b"))
    if included:
        (file, text) = f"<sdf version='{version}'>{text}</sdf>", "<include><uri>m.sdf</uri></include>"
        robot = load(world(text, "1.7"), **{"m.sdf": file})
    else:
        robot = load(world(text, version))
    compiled, data = state(robot)
    expected = [0, 1, 0] if version == "1.4" else [0, 0, 1]
    np.testing.assert_allclose(data.xaxis[compiled.joint("j").id], expected, atol=1e-12)


@pytest.mark.parametrize(("mu", "expected"), [("0.4", 0.4), ("-1", 1e3), ("1e16", 1e3)])
def test_a_friction_below_0_has_no_limit(mu, expected, load):
    surface = f"<surface><friction><ode><mu>{mu}</mu></ode></friction></surface>"
    robot = load(world(model("m", link("a", inside=BOX.replace("</geometry>", f"</geometry>{surface}")))))
    assert robot.compile().geom_friction[0, 0] == expected


@pytest.mark.parametrize(
    ("shape", "found"),
    [("<empty/>", "<empty> is not read"), ("<polyline/><polyline/>", "<polyline> is not read")],
)
def test_a_geometry_without_a_shape_that_is_read_is_left_out(shape, found, load):
    part = f"<collision name='c'><geometry>{shape}</geometry></collision>"
    robot = load(world(model("m", link("a", inside=part))))
    assert robot.compile().ngeom == 0
    assert any(found in note and "x.sdf:1: collision 'c' of link 'a'" in note for note in robot.notes)


VOLUMES = {
    "<box><size>.1 .2 .3</size></box>": 0.006,
    "<sphere><radius>.1</radius></sphere>": 4e-3 / 3 * math.pi,
    "<cylinder><radius>.1</radius><length>.2</length></cylinder>": 2e-3 * math.pi,
    "<capsule><radius>.1</radius><length>.2</length></capsule>": (2e-3 + 4e-3 / 3) * math.pi,
    "<ellipsoid><radii>.1 .2 .3</radii></ellipsoid>": 4 / 3 * math.pi * 0.006,
}
"""Shapes, and their volumes [m^3]."""


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize(
    ("of_link", "of_shape", "density"),
    [(None, None, 1000.0), (500, None, 500.0), (None, 200, 200.0), (500, 200, 200.0)],
)
@pytest.mark.parametrize("shape", VOLUMES)
def test_an_automatic_inertia_is_that_of_the_shapes_with_their_density(shape, of_link, of_shape, density, fixed, load):
    inertial, dense = (f"<density>{d}</density>" if d is not None else "" for d in (of_link, of_shape))
    part = f"<collision name='c'>{dense}<geometry>{shape}</geometry></collision>"
    shown = f"<visual name='v'><geometry>{shape}</geometry></visual>"
    links = f"<link name='a'><inertial auto='true'>{inertial}</inertial>{part}{shown}</link>"
    if fixed:
        links += link("b") + "<joint name='j' type='fixed'><parent>b</parent><child>a</child></joint>"
    robot = load(world(model("m", links)))
    assert robot.compile().body("a").mass[0] == pytest.approx(density * VOLUMES[shape], rel=1e-9)
    assert robot.notes == []


ARM = model("m", link("a") + link("b"))
REFUSED = {
    "no version": ("<sdf><world name='w'/></sdf>", "x.sdf:1: the SDF has no version; must be 1.4 to 1.12"),
    "missing": (world("<include><uri>model://none</uri></include>"), "x.sdf:1: .*'model://none' is not found; sear"),
    "climbs": (world("<include><uri>model://../../etc</uri></include>"), "x.sdf:1: .*climbs out of the folder"),
    "web": (world("<include><uri>https://a.org/m</uri></include>"), "address of kind https"),
    "no uri": (world("<include/>"), "<uri> is missing"),
    "loop": (world("<include><uri>x.sdf</uri></include>"), "the file includes itself"),
    "a world": (world("<include><uri>other.sdf</uri></include>"), "must be one <model> or <light>"),
    "two names": (world(model("m", link("a") + link("a"))), "x.sdf:1: the name 'm::a' is taken by <link> in line 1"),
    "frames": (
        world(model("m", link("a") + "<frame name='f'><pose relative_to='g'/></frame>"
                    "<frame name='g'><pose relative_to='f'/></frame>" + hinge("j", "f", "a", ""))),
        "relative to each other in a loop",
    ),
    "no frame": (world(model("m", "<link name='a'><pose relative_to='q'/></link>")), "refers to 'm::q'"),
    "no link": (world(model("m", link("a") + hinge("j", "a", "q"))), "<child>.*'q'|refers to 'm::q'"),
    "type": (world(model("m", link("a") + link("b") + hinge("j", "a", "b").replace("revolute", "screw"))),
             "x.sdf:1: joint 'j': the type is 'screw'; must be one of revolute"),
    "two parents": (
        world(model("m", link("a") + link("b") + hinge("j", "a", "b") + hinge("k", "a", "b"))),
        "the child of joint 'j' already; closed loops are not read",
    ),
    "shape": (world(model("m", "<link name='a'><visual name='v'><geometry/></visual></link>")), "must hold one shape"),
    "plane moves": (
        world(model("m", link("a", inside=BOX.replace("<box><size>.1 .1 .1</size></box>", "<plane/>")))),
        "plane",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused_with_its_place(name, load):
    text, message = REFUSED[name]
    with pytest.raises(ModelError, match=message):
        load(text, **{"other.sdf": world("")}).compile()


def test_no_address_of_a_model_leads_out_of_the_folders_of_models():
    parts = ("..", ".", "", "m", "%2e%2e")
    found = set()
    for scheme, count in itertools.product(("model", "package"), range(1, 5)):
        for names in itertools.product(parts, repeat=count):
            with contextlib.suppress(ModelError):
                path, _ = find_resource(f"{scheme}://{'/'.join(names)}", "/a/b/x.sdf", ["/models"], is_there=bool)
                found.add(os.path.normpath(path))
    assert len(found) > 30
    assert {path for path in found if not path.startswith("/models/")} <= {"/a/b/model:", "/a/b/package:"}


def test_a_loop_of_included_files_is_refused_with_the_chain(load):
    files = {
        "a/model.sdf": f"<sdf version='1.7'>{model('a', '<include><uri>model://b</uri></include>')}</sdf>",
        "b/model.sdf": f"<sdf version='1.7'>{model('b', '<include><uri>model://a</uri></include>')}</sdf>",
    }
    with pytest.raises(ModelError, match=r"includes itself: .*a/model.sdf \(included from .*x.sdf:1"):
        load(world("<include><uri>model://a</uri></include>"), **files)


def test_models_are_found_in_the_folders_of_the_environment(load, tmp_path, monkeypatch):
    for number, variable in enumerate(("GAZEBO_MODEL_PATH", "GZ_SIM_RESOURCE_PATH", "SDF_PATH")):
        folder = tmp_path / f"elsewhere{number}"
        (folder / f"m{number}").mkdir(parents=True)
        (folder / f"m{number}" / "model.sdf").write_text(f"<sdf version='1.7'>{model('m', link('a'))}</sdf>")
        monkeypatch.setenv(variable, str(folder))
        robot = load(world(f"<include><uri>model://m{number}</uri></include>"), name="other/x.sdf")
        assert robot.compile().nbody == 2

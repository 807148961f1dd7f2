"""Descriptions are read with their lines; whatever is wrong in them is named."""

import mujoco
import numpy as np
import pytest

import pliant
from pliant.base.errors import MissingDependency, ModelError
from pliant.engine import MujocoEngine
from pliant.formats.source import Format
from pliant.formats.urdf import find_resource
from pliant.laws import SEA, Mode, QbMove
from pliant.model import Robot
from pliant.robots import loading
from pliant.robots.loading import load, load_with_settings

MESH = """<visual><geometry><mesh filename="{visual}"/></geometry></visual>
<collision><geometry><mesh filename="{collision}"/></geometry></collision>"""


def with_meshes(urdf, visual, collision):
    return urdf.text.replace(
        '<link name="link">', '<link name="link">' + MESH.format(visual=visual, collision=collision)
    )


@pytest.fixture
def package(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    folder = tmp_path / "ws" / "arm_description"
    for name, mesh in (
        ("visual", trimesh.creation.icosphere(radius=0.1)),
        ("collision", trimesh.creation.box((1, 2, 3))),
    ):
        (folder / name).mkdir(parents=True)
        mesh.export(folder / name / "link.stl")
    trimesh.creation.box((1, 1, 1)).export(folder / "visual" / "cube.dae")
    return folder


def test_meshes_of_the_same_name_are_found_in_their_package_and_kept_apart(package, urdf):
    text = with_meshes(
        urdf, "package://arm_description/visual/link.stl", "package://arm_description/collision/link.stl"
    )
    robot = pliant.load(urdf(text=text), package_paths=[package.parent])
    model = robot.compile()
    assert model.nmesh == 2
    assert sorted(model.mesh_facenum) == [12, 1280]
    other = pliant.model.Robot(mujoco.MjSpec()).attach(robot, prefix="a_").attach(robot, prefix="b_")
    assert other.compile().nmesh >= 2


def test_packages_are_found_above_the_file_and_in_the_environment(package, tmp_path, monkeypatch):
    uri = "package://arm_description/visual/link.stl"
    inside = package / "urdf" / "arm.urdf"
    assert find_resource(uri, inside)[0] == package / "visual" / "link.stl"
    outside = tmp_path / "else" / "arm.urdf"
    assert find_resource(uri, outside)[0] is None
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere:{package.parent}")
    assert find_resource(uri, outside)[0] == package / "visual" / "link.stl"
    monkeypatch.delenv("ROS_PACKAGE_PATH")
    share = tmp_path / "prefix" / "share"
    share.mkdir(parents=True)
    (share / "arm_description").symlink_to(package)
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "prefix"))
    assert find_resource(uri, outside)[0] == share / "arm_description" / "visual" / "link.stl"


def test_a_collada_mesh_is_converted(package, urdf):
    pytest.importorskip("collada")
    text = with_meshes(
        urdf, "package://arm_description/visual/cube.dae", "package://arm_description/collision/link.stl"
    )
    model = pliant.load(urdf(text=text), package_paths=[package.parent]).compile()
    assert model.nmesh == 2
    assert model.mesh_facenum.tolist() == [12, 12]


def test_a_collada_mesh_without_the_converter_names_the_command(package, urdf, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "trimesh", None)
    uri = "package://arm_description/visual/cube.dae"
    with pytest.raises(MissingDependency, match=r"pip install .*meshes"):
        pliant.load(urdf(text=with_meshes(urdf, uri, uri)), package_paths=[package.parent])


def test_a_missing_collision_mesh_is_an_error_and_a_missing_visual_one_a_note(package, urdf):
    good = "package://arm_description/visual/link.stl"
    path = urdf(text=with_meshes(urdf, "package://arm_description/visual/lost.stl", good))
    robot = pliant.load(path, package_paths=[package.parent])
    assert any("lost.stl' is not found" in note and note.startswith(f"{path}:") for note in robot.notes)
    assert robot.compile().nmesh == 1
    path = urdf(text=with_meshes(urdf, good, "package://nowhere/lost.stl"))
    with pytest.raises(ModelError, match="not found; searched") as caught:
        pliant.load(path, package_paths=[package.parent])
    assert "lost.stl" in path.read_text().splitlines()[caught.value.line - 1]
    assert str(package.parent) in str(caught.value)
    robot = pliant.load(path, package_paths=[package.parent], allow_missing_meshes=True)
    assert robot.compile().ngeom == 1
    assert "--set robot.allow_missing_meshes=true" in str(caught.value)
    above = path.parent / "above.yaml"
    above.write_text(f"model: {path.name}\n")
    for source in (path, above):
        robot = load_with_settings(source, {"robot.allow_missing_meshes": "true"}, package_paths=[package.parent])
        assert robot.compile().ngeom == 1
    with pytest.raises(ModelError, match=r"robot\.allow_missing_meshes"):
        load_with_settings(path, {"robot.allow_missing_meshes": "perhaps"}, package_paths=[package.parent])
    with pytest.raises(ModelError, match="allow_missing_meshes"):
        load_with_settings("sea-1dof", {"robot.allow_missing_meshes": "true"})


@pytest.mark.parametrize("collide", [False, True])
def test_a_setting_lets_the_links_of_a_urdf_collide(collide, urdf):
    robot = load_with_settings(urdf(), {"robot.self_collision": str(collide)})
    assert robot.compile().nexclude == pliant.load(urdf(), self_collision=collide).compile().nexclude


def test_an_address_on_the_network_is_refused(urdf):
    with pytest.raises(ModelError, match="kind http://; must be package://"):
        pliant.load(urdf(text=with_meshes(urdf, "http://x/y.stl", "http://x/y.stl")))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('<child link="link"/>', '<child link="lnik"/>', "did you mean 'link'"),
        ('<parent link="world"/>', "", "<parent link=...> is missing"),
        ('type="revolute"', 'type="hinge"', "type is 'hinge'; must be one of continuous"),
        ('lower="-3.14"', 'lower="4"', "above the upper limit"),
        ('lower="-3.14"', 'lower="a"', "lower is 'a'; must be a number"),
        ('damping="0.02"', 'damping="-1"', "0 or more"),
        ('xyz="0 0 1"', 'xyz="0 0 0"', "must not be all 0"),
        ('xyz="0 0 1"', 'xyz="0 0 nan"', "must be a number"),
        ('xyz="0 0 1"', 'xyz="0 1"', "must be 3 numbers"),
        ("<axis", '<origin xyz="0 inf 0"/><axis', "must be finite"),
        ("<inertial>", '<visual><geometry><box size="1 0 1"/></geometry></visual><inertial>', "above 0 m"),
        ('<mass value="1"/>', '<mass value="-1"/>', "mass is -1"),
        ('<mass value="1"/>', "", "no <mass"),
        ('izz="0.002"', 'izz="-0.002"', "principal inertias"),
        ('izz="0.002"', 'izz="2,1"', "izz is '2,1'"),
        ('<link name="world"/>', '<link name="world"/><link name="world"/>', "exists already, from line 3"),
        ('<link name="world"/>', '<link name="world"/><link name="alone"/>', "have no parent"),
        ('<parent link="world"/>', '<parent link="link"/>', "form a loop|one root"),
    ],
)
def test_a_wrong_urdf_is_refused_with_its_line(old, new, message, urdf):
    path = urdf(text=urdf.text.replace(old, new))
    with pytest.raises(ModelError, match=message) as caught:
        pliant.load(path)
    assert caught.value.file == str(path)
    assert caught.value.line is not None


def test_joint_limits_and_dynamics_arrive_in_the_model(urdf):
    text = urdf.text.replace('friction="0.0"', 'friction="0.3"').replace('effort="300"', 'effort="12"')
    model = pliant.load(urdf(text=text)).compile()
    assert model.dof_frictionloss.tolist() == [0.3]
    assert model.jnt_actfrcrange.tolist() == [[-12.0, 12.0]]
    np.testing.assert_allclose(model.jnt_range, [[-3.14, 3.14]])


def test_a_massless_link_between_two_joints_is_named(urdf):
    extra = (
        '<link name="tip"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>'
        '<link name="cross"/><joint name="a" type="continuous"><parent link="link"/><child link="cross"/></joint>'
        '<joint name="b" type="continuous"><parent link="cross"/><child link="tip"/></joint>'
    )
    robot = pliant.load(urdf(extra))
    assert robot.compile().body("cross").mass[0] == 1e-6
    assert any("'cross' has no <inertial>" in note for note in robot.notes)


def test_links_of_a_urdf_do_not_collide_with_each_other_unless_asked(urdf):
    box = '<collision><geometry><box size="1 1 1"/></geometry></collision>'
    mass = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    extra = "".join(
        f'<link name="l{i}">{mass}{box}</link><joint name="j{i}" type="continuous"><parent link="{parent}"/>'
        f'<child link="l{i}"/></joint>'
        for i, parent in enumerate(["link", "l0", "l1"])
    )
    assert contacts(pliant.load(urdf(extra))) == 0
    assert contacts(pliant.load(urdf(extra), self_collision=True)) > 0
    assert contacts(pliant.load(urdf(extra + "<gazebo><self_collide>true</self_collide></gazebo>"))) > 0


def contacts(robot):
    model = robot.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return data.ncon


def test_a_thin_rod_and_a_point_get_the_least_inertia_with_a_note(urdf):
    robot = pliant.load(urdf(text=urdf.text.replace('ixx="0.001"', 'ixx="0"')))
    assert any("are raised to 1e-08" in note for note in robot.notes)
    np.testing.assert_allclose(np.sort(robot.compile().body("link").inertia), [1e-3, 1.5e-3, 1.5e-3], rtol=0.5)


def test_a_mesh_as_text_and_one_that_does_not_close_are_read(package, urdf):
    trimesh = pytest.importorskip("trimesh")
    flat = trimesh.Trimesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0.001]], [[0, 1, 2], [1, 3, 2]])
    (package / "collision" / "flat.stl").write_text(flat.export(file_type="stl_ascii"))
    uri = "package://arm_description/collision/flat.stl"
    model = pliant.load(urdf(text=with_meshes(urdf, uri, uri)), package_paths=[package.parent]).compile()
    assert model.mesh_facenum[0] == 2


def test_a_floating_root_is_noted(urdf):
    text = urdf.text.replace('<link name="world"/>', '<link name="base"/>').replace('link="world"', 'link="base"')
    assert any("'base' is fixed to the world" in note for note in pliant.load(urdf(text=text)).notes)


def test_entities_and_document_types_are_refused(urdf):
    bomb = '<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>\n'
    with pytest.raises(ModelError, match="document type") as caught:
        pliant.load(urdf(text=urdf.text.replace("<robot", bomb + "<robot", 1)))
    assert caught.value.line == 2
    with pytest.raises(ModelError, match="document type"):
        pliant.load(urdf(text=bomb + "<mujoco/>", name="bomb.xml"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("hello", "not well-formed XML"),
        ("", "empty"),
        ("<robot><link></robot>", "not well-formed XML"),
        ("<html></html>", "root element is <html>"),
        ("\x00\x01\x02", "not well-formed XML"),
        ('<?xml version="1.0" encoding="klingon"?><robot/>', "not"),
        ("<a>" * 300 + "</a>" * 300, "nested deeper"),
        ("<robot><xacro:property/></robot>", "expand it first"),
    ],
)
def test_what_is_no_description_is_refused(content, message, urdf):
    with pytest.raises(ModelError, match=message):
        pliant.load(urdf(text=content))


def test_a_file_or_name_that_does_not_exist_is_answered_with_the_nearest(urdf):
    path = urdf()
    with pytest.raises(ModelError, match=r"did you mean 'bench\.urdf'"):
        pliant.load(path.with_name("bensh.urdf"))
    with pytest.raises(ModelError, match="a_robot_that_is_not_there"):
        pliant.load("a_robot_that_is_not_there")
    with pytest.raises(ModelError, match="this is a folder"):
        pliant.load(path.parent)


def test_the_time_step_is_a_millisecond_unless_the_file_or_the_caller_names_one(urdf):
    assert pliant.load(urdf()).timestep == 0.001
    assert pliant.load(urdf(), timestep=0.0005).timestep == 0.0005
    plain = urdf(text="<mujoco><worldbody/></mujoco>", name="a.xml")
    named = urdf(text='<mujoco><option timestep="0.004"/><worldbody/></mujoco>', name="b.xml")
    assert pliant.load(plain).timestep == 0.001
    assert pliant.load(named).timestep == 0.004
    for wrong in (0.0, -1.0, float("nan"), "fast"):
        with pytest.raises(ModelError, match="timestep"):
            pliant.load(named, timestep=wrong)


def test_a_nan_in_an_mjcf_is_refused_with_its_line(urdf):
    with pytest.raises(ModelError, match="pos is '0 NaN 0'") as caught:
        pliant.load(urdf(text="<mujoco>\n<worldbody>\n<body pos='0 NaN 0'/></worldbody></mujoco>", name="a.xml"))
    assert caught.value.line == 3


def test_an_mjcf_that_mujoco_refuses_is_an_error_with_its_file_and_line(tmp_path):
    path = tmp_path / "robot.xml"
    path.write_text('<mujoco><worldbody>\n<body>\n<joint type="fixed"/><geom size=".1"/></body></worldbody></mujoco>')
    with pytest.raises(ModelError, match=r"robot\.xml:3: MuJoCo refuses the file: .*'fixed'"):
        load(path)
    # the line is that of another file, perhaps
    (tmp_path / "part.xml").write_text("<mujoco>\n\n\n<nonsense/></mujoco>")
    path.write_text('<mujoco>\n<include file="part.xml"/></mujoco>')
    with pytest.raises(ModelError, match=r"robot\.xml: MuJoCo refuses the file"):
        load(path)
    path.write_text('<mujoco><worldbody><geom type="plane" size="0 0 0"/></worldbody></mujoco>')
    with pytest.raises(ModelError, match=r"robot\.xml: model: MuJoCo refuses the model: plane"):
        MujocoEngine(load(path))


def test_an_elastic_flex_keeps_the_integrator_of_mujoco_which_can_integrate_it(tmp_path):
    path = tmp_path / "robot.xml"
    path.write_text(
        '<mujoco><worldbody><flexcomp name="soft" type="grid" count="3 3 3" spacing=".1 .1 .1" mass="1" dim="3" '
        'radius="0.01"><elasticity young="5e4" poisson="0.2"/></flexcomp></worldbody></mujoco>'
    )
    MujocoEngine(load(path)).step()


def test_limits_of_a_free_or_ball_joint_from_a_default_class_are_no_error(tmp_path):
    path = tmp_path / "robot.xml"
    joints = "".join(
        f'<body pos="0 0 {k}"><joint type="{kind}"/><geom size=".1"/></body>' for k, kind in enumerate(("free", "ball"))
    )
    default = '<default><joint limited="true"/></default>'
    path.write_text(f"<mujoco>{default}<worldbody>{joints}</worldbody></mujoco>")
    assert not [problem for problem in load(path).check() if problem.severity == "error"]


def test_a_broken_mjcf_is_a_model_error_with_its_file(urdf):
    with pytest.raises(ModelError, match=r"a\.xml:1: MuJoCo refuses"):
        pliant.load(urdf(text="<mujoco><worldbody><geom sise='1'/></worldbody></mujoco>", name="a.xml"))


# -- SDF --------------------------------------------------------------------------------------------------

SDF = """<?xml version="1.0"?>
<sdf version="1.7">
  <model name="bench">
    <link name="base"><inertial><mass>1</mass>
      <inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial></link>
    <link name="arm"><pose>0 0 0.1 0 0 0</pose><inertial><mass>0.5</mass>
      <inertia><ixx>0.001</ixx><iyy>0.001</iyy><izz>0.002</izz></inertia></inertial></link>
    <joint name="anchor" type="fixed"><parent>world</parent><child>base</child></joint>
    <joint name="joint" type="revolute"><parent>base</parent><child>arm</child>
      <axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>1</upper><effort>30</effort><velocity>5</velocity></limit>
      <dynamics><damping>0.02</damping><friction>0</friction></dynamics></axis></joint>
    {extra}
  </model>
</sdf>
"""


def test_an_sdf_with_a_plugin_becomes_a_robot(urdf, plugin):
    tags = plugin("qbmove").replace("<gazebo>", "").replace("</gazebo>", "")
    robot = pliant.load(urdf(tags, text=SDF, name="bench.sdf"))
    assert robot.actuators["joint"].law == QbMove()
    model = robot.compile()
    assert model.nu == 2
    assert model.dof_damping.tolist() == [0.02]
    np.testing.assert_allclose(model.jnt_range, [[-1.0, 1.0]])
    assert model.body("arm").mass[0] == 0.5


def test_a_wrong_tag_in_an_sdf_is_refused_with_its_line(urdf, plugin):
    tags = plugin("qbmove", spring_a1="7x").replace("<gazebo>", "").replace("</gazebo>", "")
    path = urdf(tags, text=SDF, name="bench.sdf")
    with pytest.raises(ModelError) as caught:
        pliant.load(path)
    assert "<spring_a1>" in path.read_text().splitlines()[caught.value.line - 1]


@pytest.mark.parametrize(
    "text",
    [
        "<sdf version='1.7'><model name='x'/></sdf>",
        "<sdf version='1.7'><model name='x'><link name='a'/><joint name='j' type='revolute'/></model></sdf>",
        "<sdf version='1.3'><model name='x'><link name='a'/></model></sdf>",
        "<sdf version='1.7'><model name='x'><link/></model></sdf>",
        "<sdf><world><model name='x'><link name='a'/></model><model name='y'><link name='a'/></model></world></sdf>",
    ],
)
def test_a_malformed_sdf_is_a_model_error_with_its_file(text, urdf):
    with pytest.raises(ModelError, match=r"x\.sdf"):
        pliant.load(urdf(text=text, name="x.sdf"))


# -- YAML -------------------------------------------------------------------------------------------------

ROBOT_YAML = """
model: bench.urdf
name: my bench
namespace: my_robot
option:
  timestep: 5e-4
  gravity: [0, 0, -1.6]
actuators:
  joint:
    law: sea
    k: 200
    mode: 6
    motor_1: {inertia: 0.01, friction: {torque: 0.1}}
    pid_1:
      kp: 50
set:
  joint.damping: 0.065
"""


def test_a_yaml_description_puts_actuators_on_a_model(urdf, tmp_path):
    urdf()
    path = tmp_path / "robot.yaml"
    path.write_text(ROBOT_YAML)
    robot = pliant.load(path)
    actuator = robot.actuators["joint"]
    assert actuator.law == SEA(k=200.0)
    assert actuator.mode is Mode.PID_EQ_PRESET
    assert actuator.motor_1.inertia == 0.01
    assert actuator.motor_1.friction.torque == 0.1
    assert actuator.pid_1.kp == 50.0
    assert robot.name == "my bench"
    assert robot.interface.namespace == "my_robot"
    model = robot.compile()
    assert model.opt.timestep == 5e-4
    assert model.opt.gravity[2] == -1.6
    assert model.dof_damping.tolist() == [0.065]


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("model: bench.urdf", "modle: bench.urdf", 2, "did you mean 'model'"),
        ("model: bench.urdf", "model: bensh.urdf", 2, "did you mean 'bench.urdf'"),
        ("model: bench.urdf", "model: 3", 2, "Expected `str`"),
        ("law: sea", "law: see", 9, "did you mean 'sea'"),
        ("    law: sea\n", "", 9, "'law' is missing"),
        ("k: 200", "kk: 200", 11, "did you mean 'k'"),
        ("k: 200", "k: stiff", 11, "must be a number"),
        ("mode: 6", "mode: 9", 12, "0 LinkTorque"),
        ("inertia: 0.01", "inertia: 0", 13, "> 0"),
        ("  joint:\n    law", "  jiont:\n    law", 9, "did you mean 'joint'"),
        ("timestep: 5e-4", "timestep: soon", 6, "must be a number"),
        ("joint.damping: 0.065", "joint.dampling: 1", 17, "did you mean 'damping'"),
        ("actuators:\n", "actuators: 7\nother:\n", 8, "unknown field|Expected `object"),
        ("    k: 200", "    k: 200\n    k: 300", 12, "given twice"),
        ("name: my bench", "name: [my", 4, "not valid YAML"),
    ],
)
def test_a_wrong_yaml_is_refused_with_its_line(old, new, line, message, urdf, tmp_path):
    urdf()
    path = tmp_path / "robot.yaml"
    path.write_text(ROBOT_YAML.replace(old, new, 1))
    with pytest.raises(ModelError, match=message) as caught:
        pliant.load(path)
    assert caught.value.file == str(path)
    assert caught.value.line in (line, line + 1)


def test_yaml_aliases_are_refused(tmp_path):
    path = tmp_path / "bomb.yaml"
    path.write_text("a: &a [1, 2]\nb: [*a, *a]\n")
    with pytest.raises(ModelError, match="aliases") as caught:
        pliant.load(path)
    assert caught.value.line == 2


def test_a_format_is_one_reader_and_one_line_in_the_table(tmp_path, monkeypatch):
    def read_pendulum(source):
        length = float(source.root.get("length"))
        spec = mujoco.MjSpec()
        body = spec.worldbody.add_body(name="rod")
        body.add_joint(name="pivot")
        body.add_geom(size=[0.01, 0.01, length])
        return Robot(spec, file=source.path)

    pendulum = Format(name="pendulum", read=read_pendulum, suffixes=(".pendulum",), root="pendulum")
    monkeypatch.setattr(loading, "FORMATS", (*loading.FORMATS, pendulum))
    path = tmp_path / "long.pendulum"
    path.write_text("<pendulum length='2'/>")
    assert load(path).joints == ["pivot"]
    (tmp_path / "robot.yaml").write_text("model: long.pendulum\noption: {timestep: 0.002}")
    assert load(tmp_path / "robot.yaml").timestep == 0.002


def test_an_unknown_root_element_names_those_that_are_read(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text("\n<robott/>")
    with pytest.raises(ModelError, match=r"<robott>; must be one of <mujoco> \(MJCF\), <robot> \(URDF\)") as caught:
        load(path)
    assert caught.value.line == 2

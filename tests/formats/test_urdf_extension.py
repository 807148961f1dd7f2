"""The `<mujoco>` element and Gazebo's tags of a URDF: what is read there, and what is refused."""

import string

import mujoco
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pliant.base.errors import ModelError, PliantError
from pliant.base.spatial import rotation_from_rpy, rpy_from_rotation
from pliant.formats.urdf_extension import BODY, GEOM, INERTIAL, JOINT, PAIR, SITE
from pliant.robots.loading import load

pytestmark = pytest.mark.quick

LINK = """<link name="{name}"><inertial><mass value="1"/>
  <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>{more}</link>"""
SHAPES = """<visual name="seen"><geometry><box size="1 1 1"/></geometry></visual>
  <collision name="touched"><geometry><cylinder radius="0.1" length="1"/></geometry></collision>"""


def joint(name, parent, child, kind="revolute", more=""):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><origin xyz="0 0 1" '
        f'rpy="0.1 0.2 0.3"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="5" velocity="1"/>{more}</joint>'
    )


@pytest.fixture
def write(tmp_path):
    def write(extension="", more="", links="", mimic=""):
        path = tmp_path / "robot.urdf"
        path.write_text(
            '<robot name="it">\n<link name="base"/>\n'
            + LINK.format(name="one", more=SHAPES)
            + LINK.format(name="two", more="")
            + links
            + joint("a", "base", "one")
            + joint("b", "one", "two", more=mimic)
            + f"\n<mujoco>\n{extension}\n</mujoco>\n{more}\n</robot>"
        )
        return path

    return write


def model_of(path):
    return load(path).compile()


# -------------------------------------------------------------------------------------------------- read


def test_joints_have_armature_springs_and_solver_parameters(write):
    model = model_of(
        write(
            '<joint name="a" armature="0.3" stiffness="2 1" springref="0.4" damping="0.1 0.2 0.3" '
            'solreflimit="0.01 1.5" actuatorfrcrange="-1 2" group="3"/>'
        )
    )
    j, dof = model.joint("a").id, model.joint("a").dofadr[0]
    assert model.dof_armature[dof] == 0.3
    assert (model.jnt_stiffness[j], *model.jnt_stiffnesspoly[j]) == (2.0, 1.0, 0.0)
    assert (model.dof_damping[dof], *model.dof_dampingpoly[dof]) == (0.1, 0.2, 0.3)
    assert model.qpos_spring[model.jnt_qposadr[j]] == 0.4
    assert model.jnt_solref[j].tolist() == [0.01, 1.5]
    assert model.jnt_actfrcrange[j].tolist() == [-1.0, 2.0]
    assert model.jnt_group[j] == 3


def test_a_time_step_and_options_of_the_file_are_taken(write):
    robot = load(write('<option timestep="0.0004" gravity="0 0 -1.6"><flag contact="disable"/></option>'))
    assert robot.timestep == 0.0004
    assert robot.compile().opt.gravity.tolist() == [0.0, 0.0, -1.6]
    assert robot.compile().opt.disableflags & mujoco.mjtDisableBit.mjDSBL_CONTACT
    assert load(write()).timestep == 0.001


def test_shapes_have_contact_parameters_and_may_be_capsules(write):
    model = model_of(
        write('<geom name="touched" type="capsule" size="0.1 0.4" friction="0.6" condim="4" rgba="1 0 0 1"/>')
    )
    geom = model.geom("touched")
    assert geom.type[0] == mujoco.mjtGeom.mjGEOM_CAPSULE
    assert geom.size[:2].tolist() == [0.1, 0.4]
    assert geom.friction.tolist() == [0.6, 0.005, 0.0001]
    assert geom.condim[0] == 4
    assert model.geom("seen").contype[0] == 0


def test_shapes_that_urdf_lacks_are_added_without_weight(write):
    model = model_of(
        write(
            '<geom name="floor" body="world" type="plane" size="0 0 1"/>'
            '<geom name="egg" body="base" type="ellipsoid" size="0.1 0.2 0.3" pos="1 2 3"/>',
            links='<link name="world"/><joint name="w" type="fixed"><parent link="world"/><child link="base"/></joint>',
        )
    )
    assert model.geom("floor").bodyid[0] == 0
    assert model.geom("egg").pos.tolist() == [1.0, 2.0, 3.0]
    assert model.body("base").mass[0] == 0.0


def test_inertia_body_and_site(write):
    model = model_of(
        write(
            '<inertial body="two" mass="2" pos="0.1 0 0" quat="1 0 0 0" diaginertia="3e-12 2e-12 2e-12"/>'
            '<body name="one" gravcomp="1"/><site name="tip" body="two" pos="0 0 0.3"/>'
        )
    )
    assert model.body("two").inertia.tolist() == [3e-12, 2e-12, 2e-12]
    assert model.body_gravcomp[model.body("one").id] == 1.0
    assert model.site("tip").pos.tolist() == [0.0, 0.0, 0.3]


def test_shapes_weigh_nothing_without_a_mass_and_with_a_mass_of_0(write):
    links = '<link name="flag"><collision name="cloth"><geometry><box size="1 1 1"/></geometry></collision></link>'
    links += joint("f", "two", "flag", "fixed")
    assert model_of(write(links=links)).body("flag").mass[0] == 0.0
    assert model_of(write('<inertial body="flag" mass="0"/>', links=links)).body("flag").mass[0] == 0.0


def test_contacts_replace_gazebos_rule(write):
    links = LINK.format(
        name="three", more='<collision name="other"><geometry><sphere radius="0.2"/></geometry></collision>'
    ) + joint("c", "two", "three")
    assert model_of(write(links=links)).nexclude == 1
    assert model_of(write("<contact/>", links=links)).nexclude == 0
    model = model_of(
        write(
            '<contact><exclude body1="one" body2="two"/><pair geom1="touched" geom2="other" condim="1" gap="0.01"/>'
            "</contact>",
            links=links,
        )
    )
    assert (model.nexclude, model.npair, model.pair_dim[0], model.pair_gap[0]) == (1, 1, 1, 0.01)
    assert load(write("<contact/>", links=links), self_collision=False).compile().nexclude == 1


def test_a_mimic_joint_follows_with_the_solver_parameters_of_the_extension(write):
    mimic = '<mimic joint="a" multiplier="2" offset="0.1"/>'
    model = model_of(write('<equality><joint joint1="b" solref="0.005 1"/></equality>', mimic=mimic))
    assert model.neq == 1
    assert model.eq_data[0, :2].tolist() == [0.1, 2.0]
    assert model.eq_solref[0].tolist() == [0.005, 1.0]


def test_composed_links_become_one_body_with_several_joints(write):
    model = model_of(write_composed(write))
    body = model.body("end")
    assert (body.jntnum[0], model.body("end").mass[0]) == (3, 1.0)
    assert "mid_1" not in [model.body(b).name for b in range(model.nbody)]
    names = [model.joint(body.jntadr[0] + k).name for k in range(3)]
    assert names == ["x", "y", "z"]


def composed_links():
    return (
        LINK.format(name="mid_1", more="")
        + LINK.format(name="mid_2", more="")
        + LINK.format(name="end", more="")
        + joint("x", "two", "mid_1", "prismatic", '<dynamics damping="3" friction="0.2"/>')
        + joint("y", "mid_1", "mid_2", "continuous")
        + joint("z", "mid_2", "end")
    )


def write_composed(write, extension='<compose body="end"><link name="mid_1"/><link name="mid_2"/></compose>'):
    return write(extension, links=composed_links())


def test_a_composed_body_moves_as_the_chain_does(write):
    """The same joints with the links between them kept: places agree at any pose, weights do not."""
    models = [model_of(write_composed(write)), model_of(write_composed(write, ""))]
    rng = np.random.default_rng(5)
    for _ in range(20):
        q = dict(zip("abxyz", rng.uniform(-1, 1, 5)))
        places = []
        for model in models:
            data = mujoco.MjData(model)
            for name, value in q.items():
                data.qpos[model.joint(name).qposadr[0]] = value
            mujoco.mj_forward(model, data)
            body = model.body("end").id
            places.append(np.concatenate([data.xpos[body], data.xmat[body]]))
        assert places[0] == pytest.approx(places[1], abs=1e-13)
    one, other = (m.joint("x") for m in models)
    assert (one.damping[0], one.frictionloss[0]) == (other.damping[0], other.frictionloss[0]) == (3.0, 0.2)
    for name in ("x", "y", "z"):
        j, k = (m.joint(name).id for m in models)
        assert models[0].jnt_limited[j] == models[1].jnt_limited[k]
        assert models[0].jnt_range[j].tolist() == models[1].jnt_range[k].tolist()
        assert models[0].jnt_actfrcrange[j].tolist() == models[1].jnt_actfrcrange[k].tolist()


def test_gazebos_friction_and_springs_are_read(write):
    more = (
        '<gazebo reference="one"><mu1>0.3</mu1><mu2>0.5</mu2></gazebo>'
        '<gazebo reference="a"><springStiffness>7</springStiffness><springReference>-0.2</springReference></gazebo>'
    )
    robot = load(write(more=more))
    model = robot.compile()
    assert model.geom("touched").friction[0] == pytest.approx(0.4)
    assert model.jnt_stiffness[model.joint("a").id] == 7.0
    assert model.qpos_spring[model.joint("a").qposadr[0]] == -0.2
    assert any("mu1 0.3 and mu2 0.5 differ" in note for note in robot.notes)
    assert not any("no effect" in note for note in robot.notes)
    # What the <mujoco> element says is exact and wins.
    model = model_of(write('<geom name="touched" friction="0.9"/><joint name="a" stiffness="1"/>', more=more))
    assert model.geom("touched").friction[0] == 0.9
    assert model.jnt_stiffness[model.joint("a").id] == 1.0


def test_an_unknown_child_has_no_effect_and_a_note(write):
    robot = load(write("<jiont name='a'/>"))
    assert any("<mujoco><jiont> of a URDF has no effect; did you mean 'joint'" in note for note in robot.notes)


# ----------------------------------------------------------------------------------------------- refused

WRONG = [
    ('<joint armature="1"/>', "'name' is missing"),
    ('<joint name="aa" armature="1"/>', "name is 'aa'"),
    ('<joint name="a" armatur="1"/>', "did you mean 'armature'"),
    ('<joint name="a" armature="-1"/>', ">= 0"),
    ('<joint name="a" armature="nan"/>', "'nan'"),
    ('<joint name="a" armature="inf"/>', "finite"),
    ('<joint name="a" actuatorfrcrange="1"/>', "1 numbers; must be 2 numbers"),
    ('<joint name="a" stiffness="1 2 3 4"/>', "4 numbers; must be 1 to 3 numbers"),
    ('<joint name="a" stiffness=""/>', "0 numbers"),
    ('<joint name="a" limited="maybe"/>', "'maybe'"),
    ('<joint name="a"/>\n<joint name="a"/>', "'a' is given twice"),
    ('<inertial body="one" mass="1"/>', "has to give mass, pos, quat and diaginertia"),
    ('<inertial body="one" mass="1" pos="0 0 0" quat="0 0 0 0" diaginertia="1 1 1"/>', "no direction"),
    ('<body name="three" gravcomp="1"/>', "name is 'three'"),
    ('<geom name="touched" condim="x"/>', "'x'"),
    ('<geom name="touched" contype="99999999999"/>', "whole number"),
    ('<geom name="touched" type="capsule"/>', "needs a size"),
    ('<geom name="touched" type="donut" size="1"/>', "type is 'donut'"),
    ('<geom name="new" body="one" size="1"/>', "'type' is missing"),
    ('<geom name="new" body="none" type="box" size="1 1 1"/>', "body is 'none'"),
    ('<geom name="new" body="one" type="box" size="1 1 1" pos="1"/>', "1 numbers; must be 3"),
    ('<site name="s" body="one" pos="1 2"/>', "2 numbers; must be 3"),
    ('<equality><weld body1="one"/></equality>', "<weld> is not read"),
    ('<contact><exclude body1="one" body2="five"/></contact>', "body2 is 'five'"),
    ("<contact><touch/></contact>", "must be <exclude> or <pair>"),
    ('<compose body="two"/>', "the links between its joints"),
    ('<compose body="two"><link name="two"/></compose>', "the links between its joints"),
    ('<option timestep="nan"/>', "finite numbers"),
    ('<option gravity="0 0 -inf"/>', "finite numbers"),
]


@pytest.mark.parametrize(("extension", "says"), WRONG, ids=[e[:50] for e, _ in WRONG])
def test_wrong_elements_are_refused_with_their_place(extension, says, write):
    path = write(extension)
    with pytest.raises(ModelError) as caught:
        load(path)
    assert says in str(caught.value)
    assert caught.value.file == str(path)
    first = next(n for n, line in enumerate(path.read_text().splitlines(), 1) if line == "<mujoco>")
    assert first < (caught.value.line or 0) <= first + 1 + extension.count("\n")


@pytest.mark.parametrize(
    ("extension", "says"),
    [
        ('<geom name="nothing" friction="1"/>', "no visual or collision of a link has that name"),
        ('<contact><pair geom1="touched" geom2="nothing"/></contact>', "there is no shape 'nothing'"),
        ('<compose body="two"><link name="base"/></compose>', "are no chain of revolute"),
        ('<compose body="one"><link name="two"/></compose>', "are no chain of revolute"),
    ],
)
def test_names_of_nothing_are_refused(extension, says, write):
    with pytest.raises(ModelError, match=says) as caught:
        load(write(extension))
    assert caught.value.line is not None


def test_a_link_between_the_joints_of_one_body_carries_nothing(write):
    links = composed_links() + LINK.format(name="more", more="") + joint("m", "mid_1", "more")
    with pytest.raises(ModelError, match="'mid_1' is the parent of other links too"):
        load(write('<compose body="end"><link name="mid_1"/><link name="mid_2"/></compose>', links=links))


@pytest.mark.parametrize(
    ("mimic", "says"),
    [
        ('<mimic joint="c"/>', "mimics 'c'"),
        ('<mimic joint="b"/>', "itself"),
        ('<mimic joint="a" multiplier="nan"/>', "multiplier is 'nan'"),
        ('<mimic joint="a" offset="inf"/>', "offset is inf"),
    ],
)
def test_a_wrong_mimic_is_refused_with_its_place(mimic, says, write):
    with pytest.raises(ModelError, match=says) as caught:
        load(write(mimic=mimic))
    assert caught.value.line is not None


@pytest.mark.parametrize(
    ("tag", "value"), [("mu1", "-1"), ("mu2", "nan"), ("mu1", "slippery"), ("springStiffness", "-3"), ("mu1", "inf")]
)
def test_wrong_gazebo_tags_are_refused_with_their_place(tag, value, write):
    with pytest.raises(ModelError, match=f"<{tag}>") as caught:
        load(write(more=f'<gazebo reference="one">\n<{tag}>{value}</{tag}></gazebo>'))
    assert caught.value.line is not None


# ------------------------------------------------------------------------------------------------ fuzzed

TABLES = {"joint": JOINT, "inertial": INERTIAL, "body": BODY, "geom": GEOM, "site": SITE, "pair": PAIR}
VALUES = st.one_of(
    st.sampled_from(
        ["0", "1", "-1", "0.5 1", "1 0 0", "1 0 0 0", "nan", "inf", "1e300", "1e-300", "true", "box", "plane"]
    ),
    st.sampled_from(["a", "b", "one", "two", "touched", "seen", "capsule", "1 2 3 4 5", "1 1 1 1 1 1", ""]),
    st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=7).map(lambda v: " ".join(map(repr, v))),
    st.text(alphabet=string.ascii_letters + string.digits + " .-_", max_size=10),
)


@st.composite
def elements(draw):
    tag = draw(st.sampled_from([*TABLES, "compose", "equality", "contact"]))
    if tag in ("equality", "contact", "compose"):
        inner = draw(st.sampled_from(["joint", "exclude", "pair", "link", "x"]))
        names = ["name", "joint1", "body1", "body2", "geom1", "geom2", "solref", "friction", "body"]
        chosen = {k: draw(VALUES) for k in draw(st.lists(st.sampled_from(names), max_size=4, unique=True))}
        attributes = "".join(f' {k}="{v}"' for k, v in chosen.items())
        return f'<{tag} body="{draw(VALUES)}"><{inner}{attributes}/></{tag}>'
    names = [*TABLES[tag], "name", "body", "type"]
    chosen = {k: draw(VALUES) for k in draw(st.lists(st.sampled_from(names), max_size=5, unique=True))}
    return f"<{tag}" + "".join(f' {k}="{v}"' for k, v in chosen.items()) + "/>"


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(elements(), min_size=1, max_size=3))
@example(['<inertial body="one" mass="1e300" pos="0 0 0" quat="1 0 0 0" diaginertia="1 1 1"/>'])
@example(['<compose body="two"><link name="one"/></compose>'])
def test_whatever_the_element_holds_the_robot_loads_or_the_fault_is_named(write, parts):
    try:
        robot = load(write("\n".join(parts)))
        robot.compile()
    except PliantError as error:
        message = str(error)
    else:
        message = "loaded"
    assert message


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.floats(-3.2, 3.2), min_size=3, max_size=3), st.sampled_from([0.0, 1e-16, 1e-12, 1e-9, 1e-7, 1e-4, 1.0])
)
def test_roll_pitch_yaw_give_the_rotation_again(rpy, away):
    # Also where pitch is a right angle, or nearly, and roll and yaw turn about one axis.
    for pitch in (rpy[1], np.pi / 2 - away, -np.pi / 2 + away):
        rotation = rotation_from_rpy([rpy[0], pitch, rpy[2]])
        assert rotation_from_rpy(rpy_from_rotation(rotation)) == pytest.approx(rotation, abs=5e-15)

"""URDF links without mass, and tags of Gazebo that ask for what is done in any case."""

import struct

import mujoco
import numpy as np
import pytest

import pliant
from pliant.base.spatial import exp_so3
from pliant.formats.urdf import INERTIA_PLACES
from pliant.model.check import check

pytestmark = pytest.mark.quick

INERTIA = '<inertia ixx="{2}" iyy="{2}" izz="{2}" ixy="0" ixz="0" iyz="0"/>'
LINK = f'<link name="{{0}}"><inertial><mass value="{{1}}"/>{INERTIA}</inertial></link>'
JOINT = '<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/><axis xyz="0 1 0"/>{4}</joint>'
LIMIT = '<limit lower="-1" upper="1" effort="9" velocity="9"/>'


def load(folder, *parts):
    path = folder / "robot.urdf"
    path.write_text(f'<robot name="r">{"".join(parts)}</robot>')
    return pliant.load(path)


@pytest.mark.parametrize(("inertia", "expected"), [(2e-3, 2e-3), (0.0, 1e-10)])
def test_a_moving_link_of_mass_0_gets_the_smallest_mass_and_keeps_its_inertia(inertia, expected, tmp_path):
    robot = load(
        tmp_path,
        LINK.format("base", 1, 1), LINK.format("middle", 0, inertia), LINK.format("arm", 1, 1),
        JOINT.format("a", "revolute", "base", "middle", LIMIT), JOINT.format("b", "revolute", "middle", "arm", LIMIT),
    )  # fmt: skip
    model = robot.compile()
    assert model.body("middle").mass[0] == 1e-6
    assert model.body("middle").inertia == pytest.approx([expected] * 3)
    assert any("'middle' has mass 0; it moves by itself and is given 1e-06 kg" in note for note in robot.notes)


@pytest.mark.parametrize("kind", ["fixed", "carrier"])
def test_a_link_of_mass_0_that_is_carried_or_carries_something_fixed_needs_none(kind, tmp_path):
    joints = ("fixed", "revolute") if kind == "fixed" else ("revolute", "fixed")
    limits = [LIMIT if joint == "revolute" else "" for joint in joints]
    robot = load(
        tmp_path,
        LINK.format("base", 1, 1), LINK.format("middle", 0, 2e-3), LINK.format("arm", 1, 1),
        JOINT.format("a", joints[0], "base", "middle", limits[0]),
        JOINT.format("b", joints[1], "middle", "arm", limits[1]),
    )  # fmt: skip
    assert robot.compile().body("middle").mass[0] == 0.0
    assert any("'middle' has mass 0; its <inertial> is left out" in note for note in robot.notes)


SHAPES = (
    '<visual><geometry><sphere radius="0.1"/></geometry></visual>'
    '<collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision>'
)


@pytest.mark.parametrize("inertial", ["", f'<inertial><mass value="0"/>{INERTIA.format(0, 0, 0)}</inertial>'])
@pytest.mark.parametrize("kind", ["fixed", "carrier"])
def test_the_shapes_of_a_link_without_inertial_weigh_nothing_where_it_needs_no_mass(kind, inertial, tmp_path):
    joints = ("fixed", "revolute") if kind == "fixed" else ("revolute", "fixed")
    limits = [LIMIT if joint == "revolute" else "" for joint in joints]
    robot = load(
        tmp_path,
        LINK.format("base", 1, 1), f'<link name="middle">{inertial}{SHAPES}</link>', LINK.format("arm", 1, 1),
        JOINT.format("a", joints[0], "base", "middle", limits[0]),
        JOINT.format("b", joints[1], "middle", "arm", limits[1]),
    )  # fmt: skip
    model = robot.compile()
    assert model.body("middle").mass[0] == 0.0
    assert len(model.body("middle").geomnum) == 1
    assert model.body("middle").geomnum[0] == 2
    assert not any("density" in problem.message for problem in check(robot))


def test_a_link_without_inertial_that_moves_by_itself_weighs_what_its_shapes_do_and_the_check_says_so(tmp_path):
    robot = load(
        tmp_path,
        LINK.format("base", 1, 1), f'<link name="arm">{SHAPES}</link>',
        JOINT.format("a", "revolute", "base", "arm", LIMIT),
    )  # fmt: skip
    assert robot.compile().body("arm").mass[0] > 0.9
    assert any("mass of arm comes from its shape" in problem.message for problem in check(robot))


def test_a_moving_link_without_inertial_and_shapes_gets_the_smallest_mass(tmp_path):
    robot = load(
        tmp_path,
        LINK.format("base", 1, 1), '<link name="middle"/>', LINK.format("arm", 1, 1),
        JOINT.format("a", "revolute", "base", "middle", LIMIT), JOINT.format("b", "revolute", "middle", "arm", LIMIT),
    )  # fmt: skip
    assert robot.compile().body("middle").mass[0] == 1e-6
    assert any("'middle' has no <inertial> and no collision shape" in note for note in robot.notes)


def test_inertias_that_break_the_triangle_inequality_keep_the_largest(tmp_path):
    inertia = '<inertia ixx="0.1" iyy="0.1" izz="1.0" ixy="0" ixz="0" iyz="0"/>'
    arm = f'<link name="arm"><inertial><mass value="1"/>{inertia}</inertial></link>'
    robot = load(tmp_path, LINK.format("base", 1, 1), arm, JOINT.format("a", "revolute", "base", "arm", LIMIT))
    assert sorted(robot.compile().body("arm").inertia) == pytest.approx([0.5, 0.5, 1.0], rel=1e-6)
    assert any("the smaller two are raised to 0.5, 0.5" in note for note in robot.notes)


def test_a_tag_of_gazebo_with_its_number_as_an_attribute_is_read(tmp_path):
    arm = LINK.format("arm", 1, 1).replace("</link>", f"{SHAPES}</link>")
    for tag in ('<mu1 value="0.3"/>', "<mu1>0.3</mu1>"):
        robot = load(
            tmp_path, LINK.format("base", 1, 1), arm, JOINT.format("a", "revolute", "base", "arm", LIMIT),
            f'<gazebo reference="arm">{tag}</gazebo>',
        )  # fmt: skip
        model = robot.compile()
        assert max(model.geom_friction[model.geom_contype > 0, 0]) == 0.3


JOINTS_OF_TREES = ("revolute", "continuous", "prismatic", "fixed")


def tree(rng):
    """Return a random tree of links, each of six masses, with joints of all kinds in any pose, as URDF."""
    count, parts = int(rng.integers(2, 9)), []
    for i in range(count):
        masses, points = rng.uniform(0.1, 0.5, 6), 0.1 * rng.normal(size=(6, 3))
        points -= masses @ points / masses.sum()
        inertia = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, points, strict=True))
        values = " ".join(f'{k}="{float(inertia[at])!r}"' for k, at in INERTIA_PLACES.items())
        place = f'<origin xyz="{numbers(0.1 * rng.normal(size=3))}" rpy="{numbers(rng.normal(size=3))}"/>'
        inertial = f'<inertial>{place}<mass value="{float(masses.sum())!r}"/><inertia {values}/></inertial>'
        shapes = SHAPES if rng.random() < 0.5 else ""
        parts.append(f'<link name="l{i}">{inertial}{shapes}</link><link name="frame{i}">{shapes}</link>')
        parts.append(JOINT.format(f"at{i}", "fixed", f"l{i}", f"frame{i}", ""))
    for i in range(1, count):
        kind = str(rng.choice(JOINTS_OF_TREES))
        place = f'<origin xyz="{numbers(0.3 * rng.normal(size=3))}" rpy="{numbers(1.2 * rng.normal(size=3))}"/>'
        axis = f'<axis xyz="{numbers(rng.normal(size=3))}"/>' if rng.random() < 0.8 else ""
        ends = f'<parent link="l{int(rng.integers(0, i))}"/><child link="l{i}"/>'
        limit = LIMIT if kind in ("revolute", "prismatic") else ""
        parts.append(f'<joint name="j{i}" type="{kind}">{ends}{place}{axis}{limit}</joint>')
    return "".join(parts)


def numbers(values):
    return " ".join(repr(float(v)) for v in values)


def test_random_trees_have_the_mass_matrix_and_the_bias_forces_of_pinocchio(tmp_path):
    pin = pytest.importorskip("pinocchio", reason="compares with the package pin")
    rng = np.random.default_rng(7)
    compared = 0
    for _ in range(12):
        robot = load(tmp_path, tree(rng))
        model = robot.compile()
        theirs = pin.buildModelFromUrdf(str(tmp_path / "robot.urdf"))
        names = list(theirs.names)[1:]
        if not names:
            continue
        data, other = mujoco.MjData(model), theirs.createData()
        q, v = pin.neutral(theirs), rng.normal(size=theirs.nv)
        dofs, rows = [], []
        for k, name in enumerate(names, start=1):
            angle, joint = rng.uniform(-1.5, 1.5), theirs.joints[k]
            q[joint.idx_q : joint.idx_q + joint.nq] = (np.cos(angle), np.sin(angle)) if joint.nq == 2 else angle
            data.joint(name).qpos[:], data.joint(name).qvel[:] = angle, v[joint.idx_v]
            dofs.append(int(model.joint(name).dofadr[0]))
            rows.append(joint.idx_v)
        mujoco.mj_forward(model, data)
        M = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, M)
        upper = np.triu(pin.crba(theirs, other, q))
        expected = (upper + np.triu(upper, 1).T)[np.ix_(rows, rows)]
        np.testing.assert_allclose(M[np.ix_(dofs, dofs)], expected, atol=1e-9 * expected.max())
        bias = pin.nonLinearEffects(theirs, other, q, v)[rows]
        np.testing.assert_allclose(data.qfrc_bias[dofs], bias, atol=1e-9 * np.abs(bias).max())
        compared += 1
    assert compared >= 8


def test_tags_that_ask_for_what_is_always_done_are_no_note(tmp_path):
    always = ("implicitSpringDamper", "preserveFixedJoint", "disableFixedJointLumping")
    tags = "".join(f"<{tag}>1</{tag}>" for tag in always)
    robot = load(
        tmp_path,
        LINK.format("base", 1, 1), LINK.format("arm", 1, 1), JOINT.format("a", "revolute", "base", "arm", LIMIT),
        f'<gazebo reference="a">{tags}<provideFeedback>1</provideFeedback></gazebo>',
    )  # fmt: skip
    notes = [note for note in robot.notes if "no effect" in note]
    assert len(notes) == 1
    assert "<provideFeedback>" in notes[0]


def one_joint(folder, *, link="", limit=LIMIT, kind="revolute", arm=""):
    arm = (arm or LINK.format("arm", 1, 1)).replace("</link>", f"{link}</link>")
    return load(folder, LINK.format("base", 1, 1), arm, JOINT.format("a", kind, "base", "arm", limit))


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
@pytest.mark.parametrize("at", [0.0, 0.7])
def test_a_joint_with_equal_limits_is_held_there(at, kind, tmp_path):
    limit = f'<limit lower="{at}" upper="{at}" effort="9" velocity="9"/>'
    robot = one_joint(tmp_path, limit=limit, kind=kind)
    assert any(f"it is held at {at:g} within 1e-06" in note for note in robot.notes)
    model = robot.compile()
    data = mujoco.MjData(model)
    data.qpos[:] = at
    for _ in range(1000):
        data.qfrc_applied[:] = 1.0
        mujoco.mj_step(model, data)
    assert abs(data.qpos[0] - at) < 2e-3


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        ('<limit effort="9" velocity="9"/>', "neither a lower nor an upper limit"),
        ('<limit lower="0" upper="0" effort="0" velocity="0"/>', "a <limit> of zeros only"),
        ('<limit lower="-inf" upper="inf" effort="9" velocity="9"/>', "the limits -inf to inf"),
        ("", "no <limit>"),
    ],
)
def test_a_joint_without_limits_moves_freely_and_a_note_says_why(limit, reason, tmp_path):
    robot = one_joint(tmp_path, limit=limit)
    (note,) = [note for note in robot.notes if "joint 'a'" in note and "moves freely" in note]
    assert reason in note
    assert not robot.compile().jnt_limited[0]


SHAPE = '<geometry><sphere radius="0.1"/></geometry>'


def test_a_moving_link_with_a_visual_only_gets_the_smallest_mass(tmp_path):
    robot = one_joint(tmp_path, arm=f'<link name="arm"><visual>{SHAPE}</visual></link>')
    assert robot.compile().body("arm").mass[0] == 1e-6
    assert any("'arm' has no <inertial> and no collision shape" in note for note in robot.notes)


def test_a_mass_below_the_least_of_mujoco_is_taken_as_0(tmp_path):
    assert one_joint(tmp_path, arm=LINK.format("arm", 1e-20, 1e-25)).compile().body("arm").mass[0] == 1e-6


@pytest.mark.parametrize("role", ["visual", "collision"])
@pytest.mark.parametrize("inside", ["", "<geometry/>", '<geometry><plane normal="0 0 1"/></geometry>'])
def test_a_shape_that_is_not_read_is_left_out_with_its_line(role, inside, tmp_path):
    robot = one_joint(tmp_path, link=f"<{role}>{inside}</{role}>")
    found = "the shape <plane>" if "plane" in inside else "no shape"
    (note,) = [note for note in robot.notes if "It is left out" in note]
    assert f"robot.urdf:1: link 'arm': the <{role}> has {found}; must be one of box, sphere" in note
    assert robot.compile().ngeom == 0


@pytest.mark.parametrize(
    ("link", "joint"),
    [
        ('<inertial><mass value="7"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>', ""),
        (f"<visual>{SHAPE}{SHAPE}</visual>", ""),
        (f'<visual>{SHAPE}<material name="a"/><material name="b"/></visual>', ""),
        (f'<collision><origin xyz="0 0 0"/><origin xyz="1 0 0"/>{SHAPE}</collision>', ""),
        ("", '<axis xyz="1 0 0"/>'),
        ("", '<limit lower="-2" upper="2" effort="1" velocity="1"/>'),
    ],
)
def test_the_first_of_elements_that_stand_once_is_read(link, joint, tmp_path):
    robot = one_joint(tmp_path, link=link, limit=LIMIT + joint)
    model = robot.compile()
    assert model.body("arm").mass[0] == 1.0
    assert model.joint("a").axis.tolist() == [0.0, 1.0, 0.0]
    assert model.joint("a").range.tolist() == [-1.0, 1.0]
    assert any("robot.urdf:1: a second <" in note and "the first is in line 1" in note for note in robot.notes)


def test_commas_in_vectors_are_read(tmp_path):
    path = tmp_path / "robot.urdf"
    joint = JOINT.format("a", "revolute", "base", "arm", LIMIT).replace("0 1 0", "0, 0,1")
    path.write_text(f'<robot name="r">{LINK.format("base", 1, 1)}{LINK.format("arm", 1, 1)}{joint}</robot>')
    assert pliant.load(path).compile().joint("a").axis.tolist() == [0.0, 0.0, 1.0]


def test_a_floating_joint_that_is_not_on_the_world_is_refused_with_its_line(tmp_path):
    with pytest.raises(pliant.PliantError, match=r"robot\.urdf:1: joint 'a' of type floating has the parent 'base'"):
        one_joint(tmp_path, kind="floating", limit="")


def test_a_note_names_the_links_that_have_the_mass_of_their_shapes(tmp_path):
    (note,) = (note for note in one_joint(tmp_path, arm=f'<link name="arm">{SHAPES}</link>').notes if "1000" in note)
    assert "robot.urdf:1: link 'arm' has no <inertial>: it has the mass of its collision shapes, at 1000 kg/m^3" in note


def test_one_note_names_all_joints_that_are_alike(tmp_path):
    limit = '<limit lower="-1" upper="1" effort="0" velocity="9"/>'
    links = [LINK.format(f"l{i}", 1, 1) for i in range(9)]
    joints = [JOINT.format(f"j{i}", "revolute", f"l{i}", f"l{i + 1}", limit) for i in range(8)]
    (note,) = (note for note in load(tmp_path, *links, *joints).notes if "effort" in note)
    named = ", ".join(f"'j{i}'" for i in range(6))
    assert note.endswith(f"robot.urdf:1: joints {named}, ... (8 in all) have effort 0, which is taken as no limit")


def stl(corners, faces):
    triangles = [
        struct.pack("<12fH", 0, 0, 0, *(float(x) for corner in face for x in corners[corner]), 0) for face in faces
    ]
    return bytes(80) + struct.pack("<I", len(faces)) + b"".join(triangles)


@pytest.mark.parametrize("kind", ["obj", "stl"])
@pytest.mark.parametrize("turned", [False, True])
def test_a_flat_collision_mesh_is_left_out_and_a_flat_visual_is_kept(turned, kind, tmp_path):
    corners = 0.07 * np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    if turned:
        corners = corners @ exp_so3(np.array([0.3, -0.8, 0.5])).T + [0.1, 0.2, 0.3]
    faces = [[0, 1, 2], [0, 2, 3]]
    lines = ["v {} {} {}".format(*corner) for corner in corners] + ["f {} {} {}".format(*(np.add(f, 1))) for f in faces]
    data = "\n".join(lines).encode() if kind == "obj" else stl(corners, faces)
    (tmp_path / f"flat.{kind}").write_bytes(data)
    mesh = f'<geometry><mesh filename="flat.{kind}"/></geometry>'
    robot = one_joint(tmp_path, link=f"<visual>{mesh}</visual><collision>{mesh}</collision>")
    model = robot.compile()
    assert model.geom_contype.tolist() == [0]
    (note,) = (note for note in robot.notes if "is flat" in note)
    assert f"robot.urdf:1: link 'arm': the collision mesh 'flat.{kind}' is flat" in note


def test_a_mesh_needs_no_volume_where_its_link_has_an_inertia(tmp_path):
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]) * 0.1
    faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]
    (tmp_path / "tiny.stl").write_bytes(stl(1e-5 * corners, faces))
    (tmp_path / "box.stl").write_bytes(stl(corners, faces))
    part = '<collision><geometry><mesh filename="{}.stl"/></geometry></collision>'
    robot = load(
        tmp_path,
        LINK.format("base", 1, 1), LINK.format("arm", 1, 1).replace("</link>", part.format("tiny") + "</link>"),
        f'<link name="hand">{part.format("box")}</link>',
        JOINT.format("a", "revolute", "base", "arm", LIMIT), JOINT.format("b", "revolute", "arm", "hand", LIMIT),
    )  # fmt: skip
    assert robot.compile().body("hand").mass[0] == pytest.approx(1000.0 * 0.1**3 / 6.0, rel=1e-6)
    bare = one_joint(tmp_path, arm=f'<link name="arm">{part.format("tiny")}</link>')
    with pytest.raises(pliant.PliantError, match="it is a shape of 'arm': must be a closed mesh, or give the body an"):
        bare.compile()


def test_a_mesh_with_too_few_points_names_its_link(tmp_path):
    (tmp_path / "flat.obj").write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n")
    robot = one_joint(tmp_path, link='<visual><geometry><mesh filename="flat.obj"/></geometry></visual>')
    with pytest.raises(pliant.PliantError, match="it is a shape of 'arm': must be a mesh with a volume"):
        robot.compile()


def test_a_sensor_of_a_robot_without_links_is_refused_without_an_empty_list_of_names(tmp_path):
    sensor = '<gazebo reference="head"><sensor name="eye" type="camera"><camera/></sensor></gazebo>'
    with pytest.raises(pliant.PliantError, match=r"'head', which the robot does not have; there are none$"):
        load(tmp_path, sensor)

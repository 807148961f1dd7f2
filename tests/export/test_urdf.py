"""A robot through URDF and back: the same physics, with meshes, springs, contacts and several joints on a body."""

import xml.etree.ElementTree as ET

import mujoco
import numpy as np
import pytest
from daily import robots_by_day
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pliant.base.errors import MissingDependency, ModelError
from pliant.export import describe_urdf, export_urdf
from pliant.model import Robot
from pliant.parallel.model import build_parallel
from pliant.robots import list_robots
from pliant.robots.loading import load
from pliant.rods.loaders import catalogue as parallel_robots

# Everything that URDF and its extensions carry at once: positions that do not start at 0, springs and dampers that are
# not linear, three joints on one body, rotations where roll and yaw share an axis, fluid, gravity compensation, bodies
# without names and without mass, shapes that URDF lacks, contact parameters, a free and a mocap body, a joint that
# follows another, an inertia too small for a plain URDF.
HARD = """
<mujoco model="hard">
  <compiler angle="radian" autolimits="true"/>
  <option timestep="0.0025" gravity="0.3 -0.2 -9.7" density="1.2" viscosity="0.01" wind="1 0.5 0" integrator="implicit"
          cone="elliptic" iterations="37" impratio="3"><flag warmstart="disable" energy="enable"/></option>
  <asset><mesh name="wedge/1" vertex="0 0 0  0.1 0 0  0 0.07 0  0 0 0.05"/></asset>
  <worldbody>
    <geom name="ground" type="plane" size="0 0 1" friction="0.7 0.01 0.001"/>
    <site name="origin" pos="0 0 1"/>
    <body name="mount" pos="0.1 0.2 1" euler="0.3 1.5707963 -0.4">
      <geom type="box" size="0.1 0.1 0.02" mass="0" rgba="1 0 0 0.5"/>
      <body name="arm" pos="0 0.1 0.3" quat="0.6 0.4 -0.3 0.62" gravcomp="0.4">
        <inertial pos="0.1 0.02 -0.03" mass="1.3" fullinertia="0.02 0.03 0.025 0.002 -0.001 0.003"/>
        <joint name="slide" type="slide" axis="0.2 0.3 1" pos="0.3 0 0" ref="0.05" armature="0.2" damping="2"
               stiffness="40" springref="0.02"/>
        <joint name="yaw" axis="0 0.6 0.8" pos="0.02 0.03 -0.05" ref="0.4" range="-2 2" stiffness="5 2 1"
               damping="1 0.5 0.2" frictionloss="0.3" actuatorfrcrange="-4 7" solreflimit="0.01 1.2"/>
        <joint name="pitch" axis="1 0.1 0" pos="-0.1 0.04 0.02" ref="-0.7" armature="0.01" springref="0.3"
               stiffness="3"/>
        <geom name="tube" type="capsule" size="0.03 0.1" friction="0.4 0.02 0.003" condim="4" solref="0.03 0.9"
              priority="2" margin="0.001"/>
        <geom type="ellipsoid" size="0.05 0.06 0.07" fluidshape="ellipsoid" mass="0.1"/>
        <site name="tip" pos="0.2 0 0" euler="0.1 0.2 0.3"/>
        <body pos="0.2 0 0.1" euler="1.5707963267948966 1.57079632 0.1">
          <joint name="elbow" axis="0 0 1" pos="0.05 0.05 0" ref="0.2" range="-1 1" damping="0.1"/>
          <geom type="mesh" mesh="wedge/1" mass="0.4" contype="2" conaffinity="1"/>
          <body name="plate"><geom type="box" size="0.02 0.03 0.001" mass="0.05"/></body>
          <body name="wheel" pos="0 0.1 0">
            <joint name="follower" axis="0 1 0" ref="0.1"/><geom type="cylinder" size="0.02 0.01" mass="0.1"/>
          </body>
        </body>
      </body>
    </body>
    <body name="ball" pos="1 0 0.5" quat="0.9 0.1 0.2 0.3">
      <freejoint name="ball_free"/><geom type="sphere" size="0.05" mass="0.2"/>
      <body name="grain" pos="0 0 0.1"><joint name="grain" axis="0 1 0"/>
        <inertial pos="0 0 0" mass="0.01" diaginertia="3e-11 2e-11 2e-11"/></body>
    </body>
    <body name="target" mocap="true" pos="0 1 1"><geom type="sphere" size="0.01" contype="0" conaffinity="0"/></body>
  </worldbody>
  <contact><exclude body1="arm" body2="plate"/>
    <pair geom1="ground" geom2="tube" friction="0.5 0.5 0.01 0.001 0.001" condim="6" gap="0.002"/></contact>
  <equality><joint joint1="follower" joint2="elbow" polycoef="0.05 -1.5 0 0 0" solref="0.01 1"/></equality>
  <actuator><position name="elbow" joint="elbow" kp="20" kv="2" gear="2"/><motor name="yaw" joint="yaw"/>
    <velocity name="pitch" joint="pitch" kv="3"/></actuator>
  <keyframe><key name="rest" qpos="0.1 0.2 0.3 0.4 -0.2  0.5 0.6 0.7 1 0 0 0  0.3" ctrl="0 0 0"/></keyframe>
</mujoco>
"""


def states_of(robot, bodies, count=20):
    """Mass matrix, bias force, passive force and places of bodies and sites at random states, in the joints' order."""
    model = robot.compile()
    data = mujoco.MjData(model)
    order = sorted(range(model.njnt), key=lambda j: model.joint(j).name)
    dofs = np.concatenate([model.joint(j).dofadr[0] + np.arange(6 if model.jnt_type[j] == 0 else 1) for j in order])
    sites = sorted(range(model.nsite), key=lambda s: model.site(s).name)
    rng = np.random.default_rng(3)
    out = []
    for _ in range(count):
        for j in order:
            address = model.jnt_qposadr[j]
            size = 7 if model.jnt_type[j] == 0 else 1
            data.qpos[address : address + size] = rng.normal(size=size)
        mujoco.mj_normalizeQuat(model, data.qpos)
        data.qvel[dofs] = rng.normal(size=model.nv)
        mujoco.mj_forward(model, data)
        full = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, full)
        out.append(
            {
                "mass matrix": full[np.ix_(dofs, dofs)],
                "bias": data.qfrc_bias[dofs],
                "passive": data.qfrc_passive[dofs],
                "centres of mass": np.array([data.xipos[model.body(b).id] for b in bodies]),
                "sites": data.site_xpos[sites],
            }
        )
    return [model.joint(j).name for j in order], [model.site(s).name for s in sites], out


def assert_same_physics(robot, again):
    """Relative to the largest entry: 1e-9, as sums of products of numbers known to 1e-16 can be."""
    model = robot.compile()
    bodies = [name for name in (model.body(b).name for b in range(model.nbody)) if name]
    *names, before = states_of(robot, bodies)
    *names_again, after = states_of(again, bodies)
    assert names_again == names
    for one, other in zip(before, after):
        for what, values in one.items():
            scale = max(float(np.abs(values).max(initial=0.0)), 1e-12)
            assert np.abs(other[what] - values).max(initial=0.0) <= 1e-9 * scale, what


def through_urdf(robot, folder):
    path = folder / "robot.urdf"
    export_urdf(robot, path)
    return load(path)


@pytest.fixture
def hard():
    return Robot(mujoco.MjSpec.from_string(HARD))


TREES = (
    {robot.name for robot in list_robots() if not robot.package}
    - set(parallel_robots())
    - {"softfoot", "softfoot-bench"}
    - {"tdcr", "tdcr-v4", "tdcr-v6", "fr3-tdcr"}
)
"""The robots without closed loops and without tendons."""


def test_a_foot_of_closed_loops_is_refused_and_the_loops_are_named(tmp_path):
    with pytest.raises(ModelError, match=r"frontal_arch_to_rollover_phalanx_1.*closes a loop"):
        export_urdf(load("softfoot"), tmp_path / "foot.urdf")


CABLE = """
<mujoco><worldbody><body name="base"><geom size="0.1"/><joint name="j"/></body>
<flexcomp name="{name}" type="grid" count="4 1 1" spacing="0.1 0.1 0.1" mass="1" dim="1" radius="0.01"/>
</worldbody></mujoco>
"""


@pytest.mark.parametrize("name", ["rope", "sheet of cloth"])
def test_a_flexible_body_is_refused_by_its_name(name, tmp_path):
    with pytest.raises(ModelError, match=f"flex '{name}' has no place in URDF"):
        export_urdf(Robot(mujoco.MjSpec.from_string(CABLE.format(name=name))), tmp_path / "rope.urdf")


@pytest.mark.parametrize("name", ["tdcr", "tdcr-v4", "tdcr-v6", "fr3-tdcr"])
def test_a_robot_of_tendons_is_refused_and_the_tendons_are_named(name, tmp_path):
    with pytest.raises(ModelError, match=r"equality 'coupling1' \(tendon\) has no place in URDF"):
        export_urdf(load(name), tmp_path / "arm.urdf")


@pytest.mark.parametrize("name", robots_by_day(sorted(TREES)))
def test_a_robot_of_the_catalogue_survives_the_way_through_urdf(name, tmp_path):
    try:
        robot = load(name)
    except MissingDependency as missing:
        pytest.skip(str(missing))
    again = through_urdf(robot, tmp_path)
    assert_same_physics(robot, again)
    for joint, actuator in robot.actuators.items():
        assert again.actuators[joint] == actuator
    before, after = robot.compile(), again.compile()
    assert (after.nbody, after.ngeom, after.neq, after.nexclude) == (
        before.nbody,
        before.ngeom,
        before.neq,
        before.nexclude,
    )
    assert after.opt.timestep == before.opt.timestep
    assert np.array_equal(after.key("rest").qpos, before.key("rest").qpos)


@pytest.mark.parametrize("name", ["awas_ii", "bavs", "qbmove", "sea"])
def test_the_toolboxs_files_of_one_joint_survive_it(name, joint_file, tmp_path):
    assert_survives(joint_file(name).read_text(), tmp_path)


@pytest.mark.shared
def test_the_toolboxs_general_template_survives_it(data, tmp_path):
    assert_survives((data / "template.urdf").read_text(), tmp_path)


def assert_survives(text, tmp_path):
    (tmp_path / "given.urdf").write_text(text)
    robot = load(tmp_path / "given.urdf")
    again = through_urdf(robot, tmp_path)
    assert_same_physics(robot, again)
    assert again.actuators == robot.actuators
    for joint, described in robot.interface.joints.items():
        other = again.interface.joints[joint]
        for key in ("plugin", "publish_state", "publish_elastic_torque", "subscribe_external_torque", "velocity_limit"):
            assert getattr(other, key) == getattr(described, key)


def test_what_urdf_cannot_say_survives_it(hard, tmp_path):
    again = through_urdf(hard, tmp_path)
    assert_same_physics(hard, again)
    before, after = hard.compile(), again.compile()
    for name in ("timestep", "gravity", "density", "viscosity", "wind", "integrator", "cone", "iterations", "impratio"):
        assert np.array_equal(getattr(after.opt, name), getattr(before.opt, name)), name
    assert (after.opt.disableflags, after.opt.enableflags) == (before.opt.disableflags, before.opt.enableflags)
    assert after.nbody == before.nbody
    assert after.body("target").mocapid[0] == 0
    assert after.body("grain").inertia == pytest.approx(before.body("grain").inertia, rel=1e-12)


def random_robot(seed):
    """A tree of one to seven bodies with up to three hinges and slides each, and everything else drawn at random."""
    rng = np.random.default_rng(seed)
    spec = mujoco.MjSpec()
    spec.option.gravity = rng.normal(scale=5, size=3)
    spec.option.density, spec.option.viscosity = rng.choice([0.0, 1.2]), rng.choice([0.0, 0.01])
    bodies = [spec.worldbody]
    for index in range(int(rng.integers(1, 8))):
        parent = bodies[int(rng.integers(len(bodies)))]
        body = parent.add_body(name=f"body {index}", pos=rng.normal(size=3), quat=rng.normal(size=4))
        principal = np.sort(rng.uniform(0.5, 1.0, 3))  # of any three, no two add up to less than the third
        body.explicitinertial = True
        body.mass = float(10.0 ** rng.uniform(-2, 2))
        body.inertia = principal * 10.0 ** rng.uniform(-7, 0) * body.mass
        body.ipos, body.iquat = rng.normal(size=3), rng.normal(size=4)
        body.gravcomp = float(rng.choice([0.0, 0.5]))
        if parent is spec.worldbody and rng.random() < 0.2:
            body.add_freejoint(name=f"free {index}")
        else:
            for k in range(int(rng.integers(0, 4))):
                limited = rng.random() < 0.5
                body.add_joint(
                    name=f"joint {index}{k}",
                    type=mujoco.mjtJoint.mjJNT_SLIDE if rng.random() < 0.3 else mujoco.mjtJoint.mjJNT_HINGE,
                    axis=rng.normal(size=3),
                    pos=rng.normal(size=3) * (rng.random() < 0.7),
                    ref=float(rng.normal() * (rng.random() < 0.5)),
                    range=[-2.0, 2.0] if limited else [0.0, 0.0],
                    armature=float(rng.choice([0.0, 0.1])),
                    stiffness=rng.uniform(size=3) * (rng.random() < 0.5),
                    springref=float(rng.normal()),
                    damping=rng.uniform(size=3) * (rng.random() < 0.5),
                )
        bodies.append(body)
    spec.compiler.degree = False
    if not spec.joints:
        bodies[1].add_joint(name="one")
    return Robot(spec)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32 - 1))
def test_any_tree_survives_it(seed, tmp_path):
    robot = random_robot(seed)
    file = tmp_path / "random.urdf"
    export_urdf(robot, file, overwrite=True)
    assert_same_physics(robot, load(file))


def test_a_robot_with_closed_loops_is_refused_by_its_constraint():
    with pytest.raises(ModelError, match=r"cannot be written as URDF: .*\((connect|weld)\) closes a loop"):
        export_urdf(build_parallel("2RR"))


def test_limits_and_solver_parameters_of_joints_survive_it(hard, tmp_path):
    before, after = hard.compile(), through_urdf(hard, tmp_path).compile()
    for joint in ("slide", "yaw", "pitch", "elbow", "follower", "ball_free"):
        one, other = before.joint(joint).id, after.joint(joint).id
        for flag, values in (("jnt_limited", "jnt_range"), ("jnt_actfrclimited", "jnt_actfrcrange")):
            assert getattr(after, flag)[other] == getattr(before, flag)[one], (joint, flag)
            if getattr(before, flag)[one]:
                assert np.array_equal(getattr(after, values)[other], getattr(before, values)[one]), (joint, values)
        assert np.array_equal(after.jnt_solref[other], before.jnt_solref[one]), joint
        dofs = (before.jnt_dofadr[one], after.jnt_dofadr[other])
        assert before.dof_frictionloss[dofs[0]] == after.dof_frictionloss[dofs[1]], joint


def test_contacts_survive_it(hard, tmp_path):
    before, after = hard.compile(), through_urdf(hard, tmp_path).compile()
    assert after.ngeom == before.ngeom
    for name in ("ground", "tube"):
        one, other = before.geom(name), after.geom(name)
        for what in ("type", "size", "friction", "condim", "solref", "priority", "margin", "contype", "conaffinity"):
            assert np.array_equal(getattr(other, what), getattr(one, what)), (name, what)
    assert (after.nexclude, after.npair) == (1, 1)
    for what in ("pair_friction", "pair_dim", "pair_gap", "pair_solref"):
        assert np.array_equal(getattr(after, what), getattr(before, what)), what
    wedge = [g for g in range(before.ngeom) if before.geom_type[g] == mujoco.mjtGeom.mjGEOM_MESH]
    assert [(int(before.geom_contype[g]), int(after.geom_contype[g])) for g in wedge] == [(2, 2)]


def test_a_robot_moves_alike_before_and_after(hard, tmp_path):
    hard.set("option.timestep", 0.001)
    models = [hard.compile(), through_urdf(hard, tmp_path).compile()]
    ends = []
    for model in models:
        data = mujoco.MjData(model)
        mujoco.mj_resetDataKeyframe(model, data, model.key("rest").id)
        data.ctrl[:] = 0.0
        model.actuator_gainprm[:] = model.actuator_biasprm[:] = 0.0
        for k in range(model.nu):
            model.actuator_biastype[k] = mujoco.mjtBias.mjBIAS_NONE
            model.actuator_dyntype[k] = mujoco.mjtDyn.mjDYN_NONE
        mujoco.mj_step(model, data, 300)
        ends.append({model.joint(j).name: data.qpos[model.jnt_qposadr[j]] for j in range(model.njnt)})
    # 300 steps with contacts and limits: rounding of 1e-16 grows with the motion's own instability.
    assert ends[1] == pytest.approx(ends[0], abs=1e-6)


def test_positions_at_the_start_survive_it(hard, tmp_path):
    before, after = hard.compile(), through_urdf(hard, tmp_path).compile()
    assert after.key("rest").qpos == pytest.approx(before.key("rest").qpos, abs=1e-15)


def test_a_body_with_several_joints_is_a_chain_for_other_programs(hard):
    export = describe_urdf(hard)
    root = ET.fromstring(export.text)
    links = {link.get("name"): link for link in root.findall("link")}
    chain = {j.get("name"): (j.find("parent").get("link"), j.find("child").get("link")) for j in root.findall("joint")}
    assert chain["slide"] == ("mount", "arm_between_1")
    assert chain["yaw"] == ("arm_between_1", "arm_between_2")
    assert chain["pitch"] == ("arm_between_2", "arm")
    assert float(links["arm_between_1"].find("inertial/mass").get("value")) == 1e-6
    assert any("'arm'" in note and "1e-06" in note.replace("1e-6", "1e-06") for note in export.notes)
    # MuJoCo alone, which knows nothing of <compose>, reads the chain: heavier by the two links, otherwise the same.
    for mesh in root.iter("mesh"):
        mesh.set("filename", mesh.get("filename").rpartition("/")[2])
    assets = {name.rpartition("/")[2]: data for name, data in export.meshes.items()}
    plain = mujoco.MjSpec.from_string(ET.tostring(root, encoding="unicode"), assets=assets).compile()
    assert plain.nv == hard.compile().nv
    arm = plain.body("arm").id
    assert plain.body_mass[plain.body_parentid[arm]] == 1e-6


def test_the_second_way_through_urdf_changes_nothing(hard, tmp_path):
    once = through_urdf(hard, tmp_path)
    (tmp_path / "again").mkdir()
    first = (tmp_path / "robot.urdf").read_text()
    twice = through_urdf(once, tmp_path / "again")
    assert_same_physics(once, twice)
    second = (tmp_path / "again" / "robot.urdf").read_text()
    for path in ("link", "joint", "link/visual", "link/collision", "mujoco/geom", "mujoco/joint", "mujoco/compose"):
        names = [[e.get("name", e.get("body")) for e in ET.fromstring(t).findall(path)] for t in (first, second)]
        assert names[0] == names[1], path


# ------------------------------------------------------------------------------------------------- meshes


def test_meshes_are_written_beside_the_file(hard, tmp_path):
    export_urdf(hard, tmp_path / "robot.urdf")
    root = ET.parse(tmp_path / "robot.urdf").getroot()
    names = {mesh.get("filename") for mesh in root.iter("mesh")}
    assert names == {"meshes/wedge_1.stl"}
    data = (tmp_path / "meshes" / "wedge_1.stl").read_bytes()
    assert len(data) == 84 + 50 * 4
    assert int.from_bytes(data[80:84], "little") == 4
    before, after = hard.compile(), load(tmp_path / "robot.urdf").compile()
    # Vertices in the world, at rest: the same tetrahedron, to the 32 bits of an STL.
    corners = []
    for model in (before, after):
        vehicle = mujoco.MjData(model)
        mujoco.mj_resetDataKeyframe(model, vehicle, model.key("rest").id)
        mujoco.mj_forward(model, vehicle)
        geom = next(g for g in range(model.ngeom) if model.geom_type[g] == mujoco.mjtGeom.mjGEOM_MESH)
        world = vehicle.geom_xpos[geom] + model.mesh_vert @ vehicle.geom_xmat[geom].reshape(3, 3).T
        corners.append(world[np.lexsort(np.round(world, 4).T)])
    assert corners[1] == pytest.approx(corners[0], abs=1e-6)


def test_meshes_are_named_by_the_package(hard, tmp_path):
    folder = tmp_path / "arm_description"
    folder.mkdir()
    export_urdf(hard, folder / "robot.urdf", package="arm_description")
    text = (folder / "robot.urdf").read_text()
    assert 'filename="package://arm_description/meshes/wedge_1.stl"' in text
    assert load(folder / "robot.urdf").compile().nmesh == 1


@pytest.mark.parametrize("package", ["", "a/b", "../x", "9 lives"])
def test_a_package_without_a_proper_name_is_refused(hard, package):
    with pytest.raises(ModelError, match="the name of a ROS package"):
        describe_urdf(hard, package=package)


def test_a_mesh_too_large_for_an_stl_is_an_obj(hard, tmp_path, monkeypatch):
    monkeypatch.setattr("pliant.ros2_control.geometry.LARGEST_STL", 3)
    again = through_urdf(hard, tmp_path)
    assert [p.name for p in (tmp_path / "meshes").iterdir()] == ["wedge_1.obj"]
    assert_same_physics(hard, again)


def test_the_hull_of_a_mesh_has_its_vertices_without_faces_before_and_after(tmp_path):
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 2) for z in (0, 3)], dtype=float)
    faces = [[1, 2, 4], [1, 4, 3]]  # one side of the box
    lines = ["v {} {} {}".format(*corner) for corner in corners] + ["f {} {} {}".format(*face) for face in faces]
    (tmp_path / "box.obj").write_text("\n".join(lines))
    part = '<collision><geometry><mesh filename="box.obj"/></geometry></collision>'
    (tmp_path / "box.urdf").write_text(f'<robot name="r"><link name="a">{part}</link></robot>')
    robot = load(tmp_path / "box.urdf")
    (tmp_path / "out").mkdir()
    export_urdf(robot, tmp_path / "out" / "box.urdf")
    hulls = []
    for compiled in (robot.compile(), load(tmp_path / "out" / "box.urdf").compile()):
        data = mujoco.MjData(compiled)
        mujoco.mj_kinematics(compiled, data)
        points = compiled.mesh_vert @ data.geom_xmat[0].reshape(3, 3).T + data.geom_xpos[0]
        hulls.append(points[np.lexsort(np.round(points, 5).T)])
    np.testing.assert_allclose(hulls[0], corners[np.lexsort(corners.T)], atol=1e-6)
    np.testing.assert_allclose(hulls[1], hulls[0], atol=1e-6)


def test_meshes_and_files_that_exist_are_replaced_only_when_asked(hard, tmp_path):
    export_urdf(hard, tmp_path / "robot.urdf")
    export_urdf(hard, tmp_path / "robot.urdf")  # the same again changes nothing
    # A robot that was read from here: its meshes must not be replaced by those in another frame.
    again = load(tmp_path / "robot.urdf")
    before = (tmp_path / "robot.urdf").read_bytes()
    with pytest.raises(ModelError, match=r"exists and holds something else.*--overwrite"):
        export_urdf(again, tmp_path / "robot.urdf")
    assert (tmp_path / "robot.urdf").read_bytes() == before
    (tmp_path / "meshes" / "wedge_1.stl").write_bytes(b"mine")
    with pytest.raises(ModelError, match="exists and holds something else") as caught:
        export_urdf(hard, tmp_path / "other.urdf")
    assert caught.value.file == str(tmp_path / "meshes" / "wedge_1.stl")
    assert not (tmp_path / "other.urdf").exists()
    export_urdf(hard, tmp_path / "other.urdf", overwrite=True)
    assert load(tmp_path / "other.urdf").compile().nmesh == 1


def test_a_folder_that_does_not_exist_is_named(hard, tmp_path):
    with pytest.raises(ModelError, match="cannot be written: No such file") as caught:
        export_urdf(hard, tmp_path / "nowhere" / "robot.urdf")
    assert caught.value.file == str(tmp_path / "nowhere" / "robot.urdf")
    (tmp_path / "meshes").write_text("in the way")
    with pytest.raises(ModelError, match="cannot be written") as caught:
        export_urdf(hard, tmp_path / "robot.urdf")
    assert str(tmp_path / "meshes") in (caught.value.file or "")


# ----------------------------------------------------------------------------------------------- refusals


def make(worldbody="", rest="", asset=""):
    base = "<body name='a'><joint name='j'/><geom name='g' size='0.1'/></body>"
    text = f"<mujoco model='it'><asset>{asset}</asset><worldbody>{base}{worldbody}</worldbody>{rest}</mujoco>"
    return Robot(mujoco.MjSpec.from_string(text))


BALL = "<body name='b'><joint type='ball' name='wrist'/><geom name='h' size='0.1'/></body>"
SECOND = "<body name='b'><joint name='k'/><geom name='h' size='0.1'/></body>"


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ((BALL,), r"joint 'wrist' is a ball joint of body 'b'"),
        (
            (SECOND, "<equality><connect name='loop' body1='a' body2='b' anchor='0 0 0'/></equality>"),
            r"'loop' \(connect\)",
        ),
        ((SECOND, "<equality><weld body1='a' body2='b'/></equality>"), r"equality 0 \(weld\)"),
        (
            (SECOND, "<equality><joint name='bent' joint1='j' joint2='k' polycoef='0 1 2 0 0'/></equality>"),
            r"'bent' \(joint\)",
        ),
        ((SECOND, "<equality><joint name='still' joint1='j'/></equality>"), r"'still' \(joint\)"),
        (("", "<tendon><fixed name='cord'><joint joint='j' coef='1'/></fixed></tendon>"), "tendon 'cord'"),
        (
            (
                "<geom name='hills' type='hfield' hfield='h'/>",
                "",
                "<hfield name='h' nrow='2' ncol='2' size='1 1 1 1'/>",
            ),
            "geom 'hills' is a height field",
        ),
    ],
)
def test_what_urdf_cannot_carry_is_refused_by_name(parts, says):
    with pytest.raises(ModelError, match=f"the robot 'it' cannot be written as URDF: .*{says}"):
        export_urdf(make(*parts))


@pytest.mark.parametrize("name", ["", "grid"])
def test_a_plugin_of_mujoco_is_refused(name):
    plugin = "mujoco.sensor.touch_grid"
    keys = "".join(f'<config key="{k}" value="{v}"/>' for k, v in (("size", "2 2"), ("fov", "9 9"), ("gamma", "0")))
    if name:
        extension = (
            f'<extension><plugin plugin="{plugin}"><instance name="{name}">{keys}</instance></plugin></extension>'
        )
        sensor = f'<plugin plugin="{plugin}" instance="{name}" objtype="site" objname="s"/>'
    else:
        extension = f'<extension><plugin plugin="{plugin}"/></extension>'
        sensor = f'<plugin name="t" plugin="{plugin}" objtype="site" objname="s">{keys}</plugin>'
    world = "<worldbody><site name='s'/><body><joint name='j'/><geom size='0.1'/></body></worldbody>"
    robot = Robot(mujoco.MjSpec.from_string(f"<mujoco>{extension}{world}<sensor>{sensor}</sensor></mujoco>"))
    with pytest.raises(ModelError, match=f"plugin .*{name}.* of MuJoCo has no place in URDF"):
        export_urdf(robot)


def test_all_that_cannot_be_carried_is_named_at_once():
    rest = "<tendon><fixed name='cord'><joint joint='j' coef='1'/></fixed></tendon>"
    with pytest.raises(ModelError, match=r"'wrist'.*'cord'") as caught:
        export_urdf(make(BALL, rest))
    assert caught.value.field == "wrist"


def test_what_is_left_out_is_noted():
    rest = (
        "<actuator><adhesion name='glue' body='a' ctrlrange='0 1'/></actuator>"
        "<sensor><jointpos joint='j'/></sensor><keyframe><key name='up' qpos='1'/></keyframe>"
    )
    notes = describe_urdf(make(rest=rest)).notes
    for word in ("'glue'", "sensors", "'up'"):
        assert any(word in note for note in notes), (word, notes)

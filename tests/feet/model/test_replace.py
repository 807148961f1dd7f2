"""A foot of a robot is replaced by another one, wherever its frame is."""

import math
from pathlib import Path

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant
from pliant.base.errors import ModelError
from pliant.base.spatial import exp_so3, quaternion_from_rotation
from pliant.devices import make_devices
from pliant.export import describe_urdf
from pliant.export.mjcf import describe_mjcf
from pliant.feet.model import GivenFoot
from pliant.feet.model.foot_fit import FootFit
from pliant.feet.model.replace import replace_foot
from pliant.feet.softfoot import SoftFoot, closure_compliance, softfoot
from pliant.model import Robot

DATA = Path(__file__).resolve().parents[2] / "data"
FAST = SoftFoot(n_chains=1, lump=True, coupling="midpoint", tendon="fixed")
FEET = ("left_foot", "right_foot")


def biped():
    return pliant.load(DATA / "biped.xml")


def soft_biped(foot=FAST, **how):
    robot = biped()
    parts = [replace_foot(robot, body, foot, FootFit(**how)) for body in FEET]
    return robot, parts


def still(robot, key=None):
    model = robot.compile()
    data = mujoco.MjData(model)
    if key is not None:
        mujoco.mj_resetDataKeyframe(model, data, model.key(key).id)
    mujoco.mj_forward(model, data)
    return model, data


def lowest_of(model, data, prefix):
    """Return the lowest corner of the boxes of a foot."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    heights = []
    for g in range(model.ngeom):
        mine = model.body(model.geom_bodyid[g]).name.startswith(prefix) and model.geom_contype[g]
        if mine and model.geom_type[g] == mujoco.mjtGeom.mjGEOM_BOX:
            points = data.geom_xpos[g] + corners * model.geom_size[g] @ data.geom_xmat[g].reshape(3, 3).T
            heights.append(points[:, 2].min())
    return min(heights)


def ground_force(model, data):
    total, force = 0.0, np.zeros(6)
    for i in range(data.ncon):
        mujoco.mj_contactForce(model, data, i, force)
        total += abs((data.contact[i].frame.reshape(3, 3).T @ force[:3])[2])
    return total


def test_the_new_sole_is_at_the_height_of_the_old_one():
    robot, parts = soft_biped()
    model, data = still(robot, "stand")
    for part in parts:
        assert part.old_sole_depth == pytest.approx(0.08, abs=1e-12)
        assert part.sole_depth == part.old_sole_depth
        assert lowest_of(model, data, part.prefix) == pytest.approx(0.68 - 0.6 - 0.08, abs=1e-6)


def test_a_robot_with_servos_stands_level_on_two_soft_feet_and_presses_with_its_weight():
    robot, parts = soft_biped(pitch="level")
    assert parts[0].support.ratio > 1.0
    model, data = still(robot, "stand")
    for _ in range(3000):
        mujoco.mj_step(model, data)
    up = data.xmat[model.body("pelvis").id].reshape(3, 3)[2, 2]
    assert math.degrees(math.acos(up)) < 1.0
    assert np.abs(data.qvel).max() < 0.02
    mujoco.mj_forward(model, data)
    assert ground_force(model, data) == pytest.approx(9.81 * model.body_mass.sum(), rel=1e-3)


@pytest.mark.parametrize("ratio", [1.0, 40.0])
def test_the_friction_of_a_robot_on_soft_feet_holds(ratio):
    robot = biped()
    robot.spec.option.impratio = ratio
    for body in FEET:
        replace_foot(robot, body, FAST)
    model = robot.compile()
    assert model.opt.cone == mujoco.mjtCone.mjCONE_ELLIPTIC
    assert model.opt.impratio == max(ratio, 10.0)
    assert biped().compile().opt.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL


def test_the_robot_gains_the_mass_of_the_feet():
    before = biped().compile().body_mass.sum()
    robot, parts = soft_biped()
    gained = robot.compile().body_mass.sum() - before
    assert gained == pytest.approx(2 * 0.9371521, abs=1e-6)
    assert sum(part.mass_change for part in parts) == pytest.approx(gained, abs=1e-12)


def test_the_closures_keep_their_compliance_on_the_robot_and_when_masses_change():
    robot, parts = soft_biped()
    for mass in (12.0, 40.0):
        robot.set("pelvis.mass", mass)
        robot.set("left_foot.mass", 0.05 * mass)
        model = robot.compile()
        for part in parts:
            assert closure_compliance(model, part.prefix) == pytest.approx(FAST.closure_compliance, rel=1e-9)


# -- arbitrary frames ----------------------------------------------------------------------------------------------


def turned(rotation, offset=(0.0, 0.0, 0.0), body="left_foot"):
    """Return the biped with another frame on a foot's body: the same robot, described otherwise."""
    robot = biped()
    foot = robot.spec.body(body)
    quat = quaternion_from_rotation(rotation)
    back = quaternion_from_rotation(rotation.T)
    offset = np.asarray(offset, dtype=float)

    def moved(point):
        return rotation.T @ (np.asarray(point) - offset)

    def product(q):
        out = np.zeros(4)
        mujoco.mju_mulQuat(out, back, np.asarray(q, dtype=float))
        return out

    foot.pos, foot.quat = np.asarray(foot.pos) + offset, quat
    foot.ipos, foot.iquat = moved(foot.ipos), product(foot.iquat)
    for joint in foot.joints:
        joint.pos, joint.axis = moved(joint.pos), rotation.T @ np.asarray(joint.axis)
    for part in (*foot.geoms, *foot.sites, *foot.bodies):
        part.pos, part.quat = moved(part.pos), product(part.quat)
    return robot


def physics(robot):
    """Return what must not depend on the frame of a body: mass matrix, gravity, positions and axes of the foot."""
    model, data = still(robot, "stand")
    mass = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, mass)
    ids = [i for i in range(model.nbody) if model.body(i).name.startswith("left_foot/")]
    return mass, data.qfrc_bias, data.xipos[ids], data.xmat[ids]


@settings(max_examples=5, deadline=None, derandomize=True)
@given(
    st.tuples(*[st.floats(-3.0, 3.0)] * 3),
    st.tuples(*[st.floats(-0.05, 0.05)] * 3),
)
def test_the_frame_of_the_foot_s_body_does_not_matter(vector, offset):
    plain, other = biped(), turned(exp_so3(vector), offset)
    for robot in (plain, other):
        replace_foot(robot, "left_foot", FAST, FootFit(pitch=0.02))
    for found, expected in zip(physics(other), physics(plain), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_the_anchor_of_a_part_is_the_ankle_in_the_frame_of_its_link():
    robot = turned(exp_so3((0.3, -0.5, 0.8)), (0.02, -0.03, 0.04))
    part = replace_foot(robot, "left_foot", FAST, FootFit())
    model, data = still(robot, "stand")
    link = model.body("left_foot").id
    ankle = data.xpos[link] + data.xmat[link].reshape(3, 3) @ np.asarray(part.anchor)
    assert np.linalg.norm(part.anchor) > 0.01
    assert ankle == pytest.approx(data.xanchor[model.joint(part.joint).id], abs=1e-9)


def test_a_robot_that_looks_along_y_gets_its_toes_along_y():
    robot = biped()
    pelvis = robot.spec.body("pelvis")
    pelvis.quat = [math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)]
    part = replace_foot(robot, "left_foot", FAST, FootFit(forward_axis="y"))
    assert part.side == "left"
    _, data = still(robot)
    toes = data.body("left_foot/distal_phalanx_1").xpos - data.body("left_foot/heel").xpos
    assert toes[1] > 0.2
    assert abs(toes[0]) < 1e-9


def test_a_robot_whose_feet_point_backwards_is_asked_where_it_looks():
    robot = biped()
    robot.spec.geom("left_sole").pos = [-0.05, 0.0, 0.0]
    with pytest.raises(ModelError, match=r"reaches 80 mm ahead of the ankle and 120 mm behind it; give forward_axis"):
        replace_foot(robot, "left_foot", FAST)
    part = replace_foot(robot, "left_foot", FAST, FootFit(forward_axis="-x"))
    assert part.side == "right"  # seen along -x
    _, data = still(robot, "stand")
    assert data.body("left_foot/distal_phalanx_1").xpos[0] < data.body("left_foot/heel").xpos[0] - 0.2


def test_a_foot_across_the_direction_is_mentioned_where_the_direction_was_given():
    robot = biped()
    replace_foot(robot, "left_foot", FAST, FootFit(forward_axis="y", side="left"))
    assert any("100 mm long and 200 mm wide in the given direction; check forward_axis" in note for note in robot.notes)


def test_the_right_foot_is_the_mirror_image_of_the_left_one():
    robot, parts = soft_biped(pitch=0.02, foot=SoftFoot(n_chains=3, lump=True, coupling="midpoint", tendon="fixed"))
    assert [part.side for part in parts] == ["left", "right"]
    model, data = still(robot, "stand")
    for i in range(model.nbody):
        name = model.body(i).name
        if name.startswith("left_foot/"):
            twin = model.body("right" + name.removeprefix("left")).id
            np.testing.assert_allclose(data.xipos[twin], data.xipos[i] * [1.0, -1.0, 1.0], atol=1e-12)
            assert model.body_mass[twin] == model.body_mass[i]


def test_the_pose_of_a_key_frame_counts_where_the_foot_is_flat_only_there():
    robot = biped()
    spec = robot.spec
    key = spec.keys[0]
    qpos = np.array(key.qpos)
    qpos[9], qpos[10] = 0.6, -0.6  # the ankle turns back by as much as the knee is bent
    key.qpos = qpos
    part = replace_foot(robot, "left_foot", FAST, FootFit(key="stand"))
    _, data = still(robot, "stand")
    assert part.sole_depth == pytest.approx(0.08, abs=1e-9)
    np.testing.assert_allclose(data.body("left_foot/attachment_cube").xmat.reshape(3, 3)[:, 1], [0, 0, -1], atol=1e-9)


# -- what stays and what goes --------------------------------------------------------------------------------------


def test_joints_sites_sensors_actuators_and_key_frames_of_the_robot_stay():
    before, (robot, _) = biped().compile(), soft_biped()
    after, data = still(robot, "stand")
    for i in range(before.njnt):
        assert after.joint(before.joint(i).name).axis.tolist() == before.joint(i).axis.tolist()
    assert [after.actuator(i).name for i in range(after.nu)] == [before.actuator(i).name for i in range(before.nu)]
    assert after.sensor("left_force").dim[0] == 3
    assert data.site("left_sole").xpos[2] == pytest.approx(0.01, abs=1e-9)
    held = mujoco.MjData(before)
    mujoco.mj_resetDataKeyframe(before, held, 0)
    for i in range(before.njnt):
        name = before.joint(i).name
        assert data.joint(name).qpos.tolist() == held.joint(name).qpos.tolist()


def test_the_sole_of_a_mesh_is_found_from_its_vertices():
    robot = biped()
    corners = [[x, y, z] for x in (-0.1, 0.1) for y in (-0.05, 0.05) for z in (-0.013, 0.02)]
    robot.spec.add_mesh(name="sole", uservert=np.ravel(corners).tolist())
    old = robot.spec.geom("left_sole")
    old.type, old.meshname = mujoco.mjtGeom.mjGEOM_MESH, "sole"
    part = replace_foot(robot, "left_foot", FAST)
    assert part.old_sole_depth == pytest.approx(0.083, abs=1e-9)
    model, data = still(robot, "stand")
    assert lowest_of(model, data, part.prefix) == pytest.approx(-0.003, abs=1e-6)


def test_shapes_of_the_old_foot_go_and_visual_ones_stay_when_asked():
    def shapes(robot):
        spec = robot.spec
        return sum(len(spec.body(name).geoms) for name in ("left_foot", "left_plate"))

    robot, kept = biped(), biped()
    replace_foot(robot, "left_foot", FAST)
    replace_foot(kept, "left_foot", FAST, FootFit(visuals=True))
    assert (shapes(biped()), shapes(robot), shapes(kept)) == (2, 0, 1)


def test_a_robot_whose_compiler_fuses_fixed_bodies_gets_the_same_foot():
    models = []
    for fuses in (False, True):
        robot = biped()
        robot.spec.compiler.fusestatic = fuses
        part = replace_foot(robot, "left_foot", FAST)
        assert part.old_sole_depth == pytest.approx(0.08, abs=1e-12)
        models.append(robot.compile())
    assert models[0].body_mass.sum() == pytest.approx(models[1].body_mass.sum(), rel=1e-12)
    assert models[0].nv == models[1].nv


@pytest.mark.parametrize("left", [0.0, 0.3])
def test_the_old_mass_can_be_taken_away(left):
    robot = biped()
    part = replace_foot(robot, "left_foot", FAST, FootFit(old_mass=left))
    assert part.mass_change == pytest.approx(0.9371521 - 0.8 + left, abs=1e-6)
    assert robot.compile().body("left_foot").mass[0] == pytest.approx(left)


def test_a_mass_that_came_from_the_old_shapes_is_kept():
    robot = biped()
    foot = robot.spec.body("left_foot")
    foot.explicitinertial = False
    for geom in foot.geoms:
        geom.density = 2000.0
    before = robot.compile().body("left_foot")
    replace_foot(robot, "left_foot", FAST)
    after = robot.compile().body("left_foot")
    for quantity in ("mass", "ipos", "inertia"):
        np.testing.assert_allclose(getattr(after, quantity), getattr(before, quantity), rtol=1e-12)


@pytest.mark.filterwarnings("ignore:compiler attribute 'settotalmass':UserWarning")
@pytest.mark.parametrize("setting", ["inertiafromgeom", "settotalmass"])
def test_settings_that_would_change_the_masses_of_the_foot_do_not(setting):
    robot = biped()
    for body in robot.spec.bodies:
        for geom in body.geoms:
            geom.density = 500.0
    if setting == "settotalmass":
        robot.spec.compiler.settotalmass = 30.0
    else:
        robot.spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    before = robot.compile()
    replace_foot(robot, "left_foot", FAST)
    after = robot.compile()
    assert after.body_mass.sum() == pytest.approx(before.body_mass.sum() + 0.9371521, abs=1e-6)
    assert after.body("left_foot/heel").mass[0] == pytest.approx(0.0795653, abs=1e-9)


def test_the_foot_meets_a_floor_with_contact_bits_of_its_own_and_obstacles_of_the_default():
    robot = biped()
    for body in robot.spec.bodies:
        for geom in body.geoms:
            if geom.contype:
                geom.contype, geom.conaffinity = 4, 8
    floor = robot.spec.geom("floor")
    floor.contype, floor.conaffinity = 8, 4
    robot.spec.worldbody.add_geom(name="bar", type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.01] * 3, pos=[2, 0, 0])
    ball = robot.spec.worldbody.add_body(name="ball", pos=[2, 1, 1])
    ball.add_joint(type=mujoco.mjtJoint.mjJNT_FREE)
    ball.add_geom(name="ball", size=[0.1] * 3, contype=16, conaffinity=32)  # meets neither foot nor floor
    replace_foot(robot, "left_foot", FAST)
    model = robot.compile()

    def meet(one, two):
        a, b = model.geom(one), model.geom(two)
        return bool((a.contype[0] & b.conaffinity[0]) or (b.contype[0] & a.conaffinity[0]))

    heel = next(
        model.geom(g).name
        for g in range(model.ngeom)
        if model.body(model.geom_bodyid[g]).name == "left_foot/heel" and model.geom_contype[g]
    )
    assert meet("floor", heel)
    assert meet("bar", heel)
    assert meet("floor", "right_sole")
    assert not meet("floor", "bar")  # as before
    assert not meet("ball", heel)
    assert not meet("right_sole", heel)  # a bit that others use is not free
    assert not meet("ball", "floor")


def test_a_foot_that_overlaps_its_shin_does_not_push_it_away():
    robot = biped()
    robot.spec.geom("left_shin").fromto = [0, 0, -0.03, 0, 0, -0.29]
    replace_foot(robot, "left_foot", FAST, FootFit(sole_height=0.02))
    model, data = still(robot, "stand")
    touching = {tuple(sorted(model.body(model.geom_bodyid[g]).name for g in c.geom)) for c in data.contact[: data.ncon]}
    assert not [pair for pair in touching if "left_shin" in pair]
    apart, _ = soft_biped()
    assert not [note for note in apart.notes if "overlaps" in note]


def test_excludes_of_the_old_foot_hold_for_the_new_one():
    robot = biped()
    robot.spec.add_exclude(bodyname1="left_foot", bodyname2="right_shin")
    replace_foot(robot, "left_foot", FAST)
    pairs = {frozenset((e.bodyname1, e.bodyname2)) for e in robot.spec.excludes}
    assert frozenset(("left_foot/heel", "right_shin")) in pairs
    assert frozenset(("left_foot/heel", "left_shin")) in pairs  # its own leg


def test_contact_pairs_of_the_old_foot_are_removed_with_a_note():
    robot = biped()
    robot.spec.add_pair(geomname1="left_sole", geomname2="floor")
    replace_foot(robot, "left_foot", FAST)
    assert not robot.spec.pairs
    assert any("contact pairs" in note for note in robot.notes)


def test_a_foot_behind_a_force_sensor_is_replaced_there_and_the_sensor_feels_it():
    robot = biped()
    robot.spec.add_sensor(
        name="plate_force",
        type=mujoco.mjtSensor.mjSENS_FORCE,
        objtype=mujoco.mjtObj.mjOBJ_SITE,
        objname="left_sole",
    )
    with pytest.raises(ModelError, match=r"'plate_force' on 'left_plate' would measure nothing .* name 'left_plate'"):
        replace_foot(robot, "left_foot", FAST)
    part = replace_foot(robot, "left_plate", FAST)
    assert part.joint == "left_ankle_roll"
    assert part.old_sole_depth == pytest.approx(0.08, abs=1e-12)
    model, data = still(robot, "stand")
    mujoco.mj_rnePostConstraint(model, data)
    assert lowest_of(model, data, part.prefix) == pytest.approx(0.0, abs=1e-6)


def test_a_touch_sensor_on_the_old_foot_is_mentioned():
    robot = biped()
    robot.spec.add_sensor(
        name="sole", type=mujoco.mjtSensor.mjSENS_TOUCH, objtype=mujoco.mjtObj.mjOBJ_SITE, objname="left_sole"
    )
    replace_foot(robot, "left_foot", FAST)
    assert any("touch sensor 'sole'" in note for note in robot.notes)


def test_a_spec_from_the_generator_is_taken_as_it_is_and_keeps_its_compliance():
    robot = biped()
    spec = softfoot(n_chains=1, lump=True, side="right", closure_compliance=1.5e-5, timestep=0.001)
    replace_foot(robot, "right_foot", spec)
    assert closure_compliance(robot.compile(), "right_foot/") == pytest.approx(1.5e-5, rel=1e-9)


def test_a_spec_keeps_the_damping_ratio_of_its_closures():
    robot = biped()
    spec = softfoot(n_chains=1, lump=True, timestep=0.001)
    closures = {equality.name for equality in spec.equalities if equality.name.startswith("frontal_arch")}
    for name in closures:
        spec.equality(name).solref[1] = 0.8
    replace_foot(robot, "left_foot", spec)
    model = robot.compile()
    assert {float(model.equality(f"left_foot/{name}").solref[1]) for name in closures} == {0.8}


def test_the_foot_of_a_robot_with_angles_in_degrees_keeps_its_joint_limits():
    robot, _ = soft_biped()
    model = robot.compile()
    alone = FAST.build_foot(0.001).compile()
    for i in range(alone.njnt):
        np.testing.assert_allclose(
            model.joint("left_foot/" + alone.joint(i).name).range, alone.jnt_range[i], atol=1e-12
        )


def test_a_robot_with_soft_feet_goes_under_a_prefix_with_its_feet():
    robot, _ = soft_biped()
    scene = Robot(mujoco.MjSpec())
    scene.spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
    scene.attach(robot, prefix="one/")
    model = scene.compile()
    assert closure_compliance(model, "one/left_foot/") == pytest.approx(FAST.closure_compliance, rel=1e-9)
    assert not [problem for problem in scene.check() if problem.severity == "error"]


def test_soft_feet_are_no_device_of_the_simulation():
    robot, parts = soft_biped()
    assert {part.name for part in parts} == {"left_foot/foot", "right_foot/foot"}
    assert not {device.name for device in make_devices(robot)} & {part.name for part in parts}


# -- check and export ----------------------------------------------------------------------------------------------


def test_check_has_the_pitch_stiffness_over_the_moment_of_gravity():
    robot, parts = soft_biped()
    found = [problem for problem in robot.check() if problem.subject == "left_foot"]
    assert [problem.severity for problem in found] == ["info"]
    # The second foot made the robot heavier since.
    assert found[0].value == pytest.approx(parts[0].support.ratio, rel=0.1)
    assert found[0].limit == 1.0


def test_a_robot_that_is_too_heavy_to_stand_on_one_foot_is_warned_of_with_what_to_do():
    robot = biped()
    robot.set("pelvis.mass", 120.0)
    robot.spec.body("pelvis").ipos = [0.0, 0.0, 0.9]
    part = replace_foot(robot, "left_foot", FAST)
    assert part.support.ratio < 1.0
    found = [problem for problem in robot.check() if problem.subject == "left_foot"]
    assert [problem.severity for problem in found] == ["warning"]
    for remedy in ("stabiliser", "scale", "closure_compliance"):
        assert remedy in found[0].hint


def test_a_robot_that_flattens_the_foot_is_refused_and_stays_as_it_was():
    robot = biped()
    robot.set("pelvis.mass", 50000.0)
    with pytest.raises(ModelError, match="cannot carry 491000 N: it is crushed"):
        replace_foot(robot, "left_foot", FAST)
    assert robot.spec.geom("left_sole") is not None
    assert not robot.devices
    assert not robot.notes


def test_a_robot_without_a_floor_is_told_so():
    robot = biped()
    robot.spec.delete(robot.spec.geom("floor"))
    replace_foot(robot, "left_foot", FAST)
    assert any("no floor" in note for note in robot.notes)
    warned = [p for p in robot.check() if p.subject == "left_foot" and p.severity == "warning"]
    assert len(warned) == 1
    assert "no floor" in warned[0].message


def test_a_step_that_is_set_too_long_afterwards_is_refused_with_the_bound():
    robot, _ = soft_biped()
    robot.set("option.timestep", 0.02)
    with pytest.raises(ModelError, match=r"time step is 0\.02 s; .* must be <= 0\.00\d+ s"):
        robot.compile()
    errors = [p for p in robot.check() if p.severity == "error"]
    assert any("time step is 0.02 s" in p.message for p in errors)


def test_export_to_urdf_names_the_closed_loops_and_mjcf_keeps_the_compliance(tmp_path):
    robot, _ = soft_biped()
    with pytest.raises(ModelError, match="left_foot/frontal_arch_to_rollover_phalanx_1' \\(connect\\) closes a loop"):
        describe_urdf(robot)
    path = tmp_path / "soft.xml"
    path.write_text(describe_mjcf(robot).text)
    model = mujoco.MjModel.from_xml_path(str(path))
    assert closure_compliance(model, "left_foot/") == pytest.approx(FAST.closure_compliance, rel=1e-6)


# -- bad input -----------------------------------------------------------------------------------------------------

REFUSED = {
    "ankle missing": ({"body": "left_fot"}, "there is no body 'left_fot'; did you mean 'left_foot'"),
    "world": ({"body": "world"}, "there is no body 'world'"),
    "base": ({"body": "pelvis"}, "'pelvis' floats on a free joint"),
    "not the end": ({"body": "left_shin"}, "'left_shin' is not the end of the leg: 'left_ankle' moves on it"),
    "fixed to the base": ({"body": "crate"}, "'crate' is fixed to 'pelvis', which floats on a free joint"),
    "no foot": ({"foot": 3.0}, "foot is a float; must be an MjSpec or a description"),
    "scale": ({"foot": SoftFoot(scale=-1.0)}, "scale is -1; must be"),
    "chains": ({"foot": SoftFoot(n_chains=9)}, "n_chains is 9; must be"),
    "stiff": ({"foot": SoftFoot(closure_compliance=1e-9)}, "must be >= .* time step must be <="),
    "direction": ({"forward_axis": (0.0, 0.0, 1.0)}, "must have a horizontal part"),
    "axis": ({"forward_axis": "forward"}, "must be x, -x, y, -y or three numbers"),
    "side": ({"side": "middle"}, "must be auto, left or right"),
    "height": ({"sole_height": "low"}, "sole_height is 'low'; must be \"keep\" or a number"),
    "negative height": ({"sole_height": -0.1}, "-0.1 m below the ankle"),
    "offset": ({"forward_offset": float("nan")}, "forward_offset is nan; must be a number"),
    "pitch": ({"pitch": "flat"}, "pitch is 'flat'; must be \"level\" or a number"),
    "key": ({"key": "stnd"}, "no key frame 'stnd'; did you mean 'stand'"),
    "mass": ({"old_mass": 5.0}, "old_mass is 5 kg; must be from 0 to 0.8 kg"),
    "level": ({"pitch": "level", "forward_offset": -0.3}, "no pitch from 0 to .* larger forward_offset"),
    "level too far ahead": ({"pitch": "level", "forward_offset": 0.3}, "no pitch from 0 to .* smaller forward_offset"),
    "level but soft": (
        {"pitch": "level", "foot": SoftFoot(n_chains=1, lump=True, closure_compliance=1e-3)},
        "gives way .* smaller closure_compliance",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused_with_what_is_valid(name):
    changes, message = REFUSED[name]
    robot = biped()
    robot.spec.body("pelvis").add_body(name="crate")
    arguments = {"body": "left_foot", "foot": FAST, **changes}
    with pytest.raises(ModelError, match=message):
        replace_foot(robot, arguments.pop("body"), arguments.pop("foot"), FootFit(**arguments))
    assert robot.spec.geom("left_sole") is not None


def test_a_foot_is_replaced_once():
    robot, _ = soft_biped()
    with pytest.raises(ModelError, match="'left_foot' has a SoftFoot already"):
        replace_foot(robot, "left_foot", FAST)
    with pytest.raises(ModelError, match="'left_foot' has a SoftFoot already"):
        replace_foot(robot, "left_foot/heel", FAST)


def test_two_feet_need_two_prefixes():
    robot = biped()
    replace_foot(robot, "left_foot", FAST, FootFit(prefix="soft_"))
    with pytest.raises(ModelError, match="the foot on 'left_foot' has the prefix 'soft_' already"):
        replace_foot(robot, "right_foot", FAST, FootFit(prefix="soft_"))


def test_a_body_without_joint_above_it_has_no_ankle():
    robot = Robot(mujoco.MjSpec.from_string("<mujoco><worldbody><body name='rock'/></worldbody></mujoco>"))
    with pytest.raises(ModelError, match="'rock' has no ankle: no joint lies between it and the base"):
        replace_foot(robot, "rock", FAST)


def test_a_foot_without_shape_needs_the_height_of_its_sole():
    robot = biped()
    for name in ("left_foot", "left_plate"):
        for geom in list(robot.spec.body(name).geoms):
            robot.spec.delete(geom)
    with pytest.raises(ModelError, match="has no shape, so the height of its sole is unknown; give sole_height"):
        replace_foot(robot, "left_foot", FAST)
    part = replace_foot(robot, "left_foot", FAST, FootFit(sole_height=0.09))
    assert part.sole_depth == 0.09
    assert math.isnan(part.old_sole_depth)
    assert "left_foot: the old foot has no shape; the new sole is where sole_height says" in robot.notes
    other = biped()
    replace_foot(other, "left_foot", FAST, FootFit(sole_height=0.09))
    assert not [note for note in other.notes if "has no shape" in note]


def test_a_new_foot_without_shape_is_refused():
    spec = mujoco.MjSpec()
    spec.worldbody.add_body(name="plate").add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.1, 0.05, 0.01], contype=0, conaffinity=0
    )
    with pytest.raises(ModelError, match="has no shape with contacts"):
        replace_foot(biped(), "left_foot", GivenFoot(spec=spec))


def test_a_sensor_that_measures_an_old_shape_is_named():
    robot = biped()
    robot.spec.add_sensor(
        name="gap",
        type=mujoco.mjtSensor.mjSENS_GEOMDIST,
        objtype=mujoco.mjtObj.mjOBJ_GEOM,
        objname="left_sole",
        reftype=mujoco.mjtObj.mjOBJ_GEOM,
        refname="right_shin",
        cutoff=1.0,
    )
    with pytest.raises(ModelError, match=r"used by the sensor 'gap' \(shape 'left_sole'\)"):
        replace_foot(robot, "left_foot", FAST)


def test_a_foot_in_the_middle_needs_its_side():
    robot = biped()
    robot.spec.body("left_thigh").pos = [0.0, -0.1, 0.0]
    _, data = still(robot)
    shift = float(data.subtree_com[1][1] - data.body("left_foot").xpos[1])
    robot.spec.body("left_thigh").pos = [0.0, -0.1 + 1.3 * shift, 0.0]
    with pytest.raises(ModelError, match="sideways from the robot's centre of mass; give side"):
        replace_foot(robot, "left_foot", FAST)


def test_a_given_spec_has_no_other_side():
    with pytest.raises(ModelError, match="has no mirror image"):
        replace_foot(biped(), "right_foot", softfoot(timestep=0.001), FootFit(side="right"))


def test_the_notes_have_what_both_feet_carry_once_both_are_on():
    robot = biped()
    for body in ("left_foot", "right_foot"):
        replace_foot(robot, body, FAST)
    found = {p.subject: p.message for p in robot.check() if "pitch stiffness" in p.message}
    for body in ("left_foot", "right_foot"):
        (note,) = [note for note in robot.notes if note.startswith(f"{body}: SoftFoot")]
        assert note.endswith(found[body]), "the weight of the other foot counts, too"


def test_a_foot_of_fewer_chains_is_told_of_lump_where_it_carries_too_little():
    robot = biped()
    foot = SoftFoot(n_chains=1, coupling="midpoint", tendon="fixed")
    replace_foot(robot, "left_foot", foot)
    assert any("1 chain of its 5, as light and as soft; lump=true" in note for note in robot.notes)
    (problem,) = [p for p in robot.check() if "pitch stiffness" in p.message]
    assert "lump=true lets them stand for all" in problem.hint
    assert not FAST.remark
    assert not SoftFoot().remark


def test_a_much_larger_foot_is_mentioned_with_the_scale_that_fits():
    robot = biped()
    replace_foot(robot, "left_foot", SoftFoot(n_chains=1, lump=True, scale=2.0))
    assert any("scale=" in note for note in robot.notes)

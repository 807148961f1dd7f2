"""The generated SoftFoot: geometry, masses, tendons, variants, bad input."""

import math
import os
from pathlib import Path

import mujoco
import numpy as np
import pytest
from tests.helpers.softfoot_rigs import press

from pliant import load
from pliant.base.errors import ModelError
from pliant.base.options import check_declaration, describe
from pliant.base.spatial import rotation_from_quaternion
from pliant.cli.application import main
from pliant.engine import MujocoEngine
from pliant.feet.softfoot import SoftFootOptions, add_softfoot, softfoot
from pliant.feet.softfoot import parameters as p
from pliant.feet.softfoot.generator import chain_layout
from pliant.robots import build_robot, find_robot

MODULES = [m.name for m in p.MODULES]
MILLIMETRE = 1e-3


@pytest.fixture(scope="module")
def release():
    model = softfoot(release_quirks=True).compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def in_cube(model, data, body, point=(0.0, 0.0, 0.0)):
    """Return a point of a body in the frame of the ankle's cube [m]."""
    cube = model.body("attachment_cube").id
    i = model.body(body).id
    world = data.xpos[i] + data.xmat[i].reshape(3, 3) @ np.asarray(point)
    return data.xmat[cube].reshape(3, 3).T @ (world - data.xpos[cube])


def mass_matrix(model, data):
    full = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, full)
    return full


def test_the_foot_has_the_mass_and_the_parts_of_the_release(release):
    model, _ = release
    assert sum(model.body_mass) == pytest.approx(0.937152, abs=1e-6)
    assert (model.nbody - 1, model.nv, model.neq, model.ntendon) == (49, 92, 50, 5)
    assert np.sum(model.eq_type == mujoco.mjtEq.mjEQ_CONNECT) == 5
    assert list(model.wrap_type).count(mujoco.mjtWrap.mjWRAP_CYLINDER) == 5 * 19
    assert model.nwrap == 5 * 39


def test_every_body_has_its_name_and_parent(release):
    model, _ = release
    for number in range(1, 6):
        before = "heel"
        for name in MODULES:
            body = model.body(f"{name}_{number}")
            assert model.body(body.parentid[0]).name == before
            before = body.name
    assert model.body(model.body("frontal_arch").parentid[0]).name == "attachment_cube"
    assert model.body(model.body("heel").parentid[0]).name == "posterior_arch"


def test_the_straight_sole_lies_where_the_specification_prints_it(release):
    # Printed with two digits of a millimetre, y down.
    model, data = release
    printed = dict(zip(MODULES, (-35.5, -13.5, 8.5, 30.5, 52.5, 74.5, 97.8, 129.8, 151.8), strict=True))
    for name, x in printed.items():
        found = in_cube(model, data, f"{name}_3") / MILLIMETRE
        assert found == pytest.approx([x, 84.74, 0.0], abs=0.06)
    assert in_cube(model, data, "heel") / MILLIMETRE == pytest.approx([-53.0, 72.7411, 0.0], abs=1e-9)
    joint = in_cube(model, data, "frontal_arch", (p.CLOSURE_ANCHOR, 0.0, 0.0)) / MILLIMETRE
    assert joint[:2] == pytest.approx([107.3, 72.7], abs=0.06)


def chain_of_frames():
    """Return position, rotation, inertial and joints of all bodies in the frame of the cube, by own kinematics.

    A joint is the name, the point on its axis; all axes are z.
    """
    eye = np.eye(3)
    heel_r = rotation_from_quaternion(np.array(p.HEEL_QUATERNION) / np.linalg.norm(p.HEEL_QUATERNION))
    front_r = rotation_from_quaternion(np.array(p.FRONTAL_QUATERNION) / np.linalg.norm(p.FRONTAL_QUATERNION))
    heel = np.array(p.HEEL_POSITION)
    heel_joint = [("posterior_arch_to_heel", heel)]
    bodies = {
        "attachment_cube": (np.zeros(3), eye, p.ROOT, [], 1.0),
        "posterior_arch": (np.zeros(3), eye, p.POSTERIOR_ARCH, [], 1.0),
        "heel": (heel, heel_r, p.HEEL, heel_joint, 1.0),
        "frontal_arch": (np.zeros(3), front_r, p.FRONTAL_ARCH, [("cube_to_frontal_arch", np.zeros(3))], 1.0),
    }
    turn = heel_r @ rotation_from_quaternion(np.array(p.CHAIN_QUATERNION))
    for number, z in enumerate((0.037, 0.0185, 0.0, -0.018, -0.037), 1):
        place, joints, before = (
            heel + heel_r @ np.array([*p.CHAIN_START, z]),
            list(heel_joint),
            f"heel_phalanx_{number}",
        )
        for k, module in enumerate(p.MODULES, 1):
            place = place + turn @ np.array([module.offset, 0.0, 0.0])
            name = f"{module.name}_{number}"
            first = place + turn @ np.array([-p.AXIS_DISTANCE, 0.0, 0.0])
            joints = [
                *joints,
                (f"{before}_to_virtual_{k}_{number}", first),
                (f"virtual_{k}_{number}_to_{name}", place),
            ]
            bodies[name] = (place, turn, module.inertial, joints, 1.0)
            before = name
    return bodies


def test_body_positions_are_those_of_the_table(release):
    model, data = release
    for name, (place, rotation, *_) in chain_of_frames().items():
        assert np.abs(in_cube(model, data, name) - place).max() < 1e-9
        cube = data.xmat[model.body("attachment_cube").id].reshape(3, 3)
        assert np.abs(cube.T @ data.xmat[model.body(name).id].reshape(3, 3) - rotation).max() < 1e-9


def test_the_mass_matrix_is_that_of_the_table(release):
    # M = sum over bodies of m Jv^T Jv + Jw^T I Jw, and the armature, in the frame of the cube.
    model, data = release
    expected = np.diag(np.full(model.nv, 0.001))
    for place, rotation, inertial, joints, factor in chain_of_frames().values():
        center = place + rotation @ np.array(inertial.center)
        if len(inertial.inertia) == 3:
            axes = rotation_from_quaternion(np.array(inertial.quaternion) / np.linalg.norm(inertial.quaternion))
            inertia = axes @ np.diag(inertial.inertia) @ axes.T
        else:
            xx, yy, zz, xy, xz, yz = inertial.inertia
            inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        inertia = rotation @ inertia @ rotation.T
        index = [model.joint(name).dofadr[0] for name, _ in joints]
        linear = np.array([np.cross([0.0, 0.0, 1.0], center - point) for _, point in joints]).reshape(-1, 3)
        expected[np.ix_(index, index)] += factor * (inertial.mass * linear @ linear.T + inertia[2, 2])
    assert np.abs(mass_matrix(model, data) - expected).max() < 1e-9


def test_tendons_have_the_length_of_the_release(release):
    model, _ = release
    assert model.tendon_length0 == pytest.approx([0.284043, 0.284043, 0.284043, 0.284052, 0.284043], abs=5e-7)
    assert model.tendon_range == pytest.approx(np.tile([0.0, 0.286], (5, 1)))
    own = softfoot().compile()
    assert np.ptp(own.tendon_length0) < 1e-12
    assert own.tendon_range[:, 1] == pytest.approx(0.286, abs=1e-9)


def test_tendon_length_is_the_sum_of_straight_lines_tangents_and_one_arc(release):
    # In the frame of the heel: around the redirecting pulley to the last site of the heel, straight to the first
    # module, straight along the modules, whose pulleys lie 0.3 mm above the line.
    model, data = release
    start, last = np.array(p.TENDON_START), np.array(p.HEEL_PULLEY_SIDE)
    center, radius = np.array(p.REDIRECT), p.REDIRECT_RADIUS
    length, angles = 0.0, []
    for point in (start, last):
        arm = point - center
        distance = np.linalg.norm(arm)
        length += math.sqrt(distance**2 - radius**2)
        angles.append((math.atan2(arm[1], arm[0]), math.acos(radius / distance)))
    (one, spread_one), (two, spread_two) = angles
    # The long way round, by the side at larger y.
    length += radius * (math.tau - ((two - one) % math.tau) - spread_one - spread_two)
    heel_r = rotation_from_quaternion(np.array(p.HEEL_QUATERNION) / np.linalg.norm(p.HEEL_QUATERNION))
    gap = in_cube(model, data, "phalanx_1_3", (0.0, p.TENDON_OFFSET, 0.0)) - p.HEEL_POSITION
    gap -= heel_r @ np.array([*last, 0.0])
    length += np.linalg.norm(gap)
    length += in_cube(model, data, "distal_phalanx_3")[0] - in_cube(model, data, "phalanx_1_3")[0] + p.TENDON_END
    assert model.tendon_length0[2] == pytest.approx(length, abs=1e-9)
    assert model.tendon_length0[3] == pytest.approx(
        length + math.hypot(np.linalg.norm(gap), 0.0005) - np.linalg.norm(gap), abs=1e-9
    )


@pytest.mark.parametrize("options", [{}, {"coupling": "midpoint"}, {"tendon": "fixed"}])
def test_the_tendon_shortens_by_3_8_mm_per_radian(options):
    model = softfoot(**options).compile()
    data = mujoco.MjData(model)
    chain = [j for j in range(model.njnt) if model.joint(j).name.endswith("_3") and "heel" not in model.joint(j).name]
    for joint in chain:
        lengths = []
        for q in (-0.01, 0.01):
            data.qpos[:] = 0.0
            data.qpos[model.jnt_qposadr[joint]] = q
            mujoco.mj_forward(model, data)
            lengths.append(data.ten_length[2])
        assert (lengths[1] - lengths[0]) / 0.02 == pytest.approx(-0.0038, rel=0.01)


def test_soles_are_95_mm_below_the_ankle_and_the_foot_is_as_wide_as_it_is_printed(release):
    model, data = release
    low = {}
    for g in range(model.ngeom):
        if model.geom_contype[g] and model.geom_type[g] == mujoco.mjtGeom.mjGEOM_BOX:
            reach = np.abs(data.geom_xmat[g].reshape(3, 3)) @ model.geom_size[g]
            low[model.geom(g).name] = -(data.geom_xpos[g] - reach)[2] / MILLIMETRE
            if model.geom(g).name == "heel_collision":
                assert 2.0 * reach[1] == pytest.approx(0.116)
    assert low["phalanx_1_1_collision"] == pytest.approx(95.2, abs=0.06)
    assert low["heel_collision"] == pytest.approx(95.3, abs=0.06)
    assert low["rollover_phalanx_5_collision"] == pytest.approx(94.7, abs=0.06)
    assert low["distal_phalanx_2_collision"] == pytest.approx(95.7, abs=0.06)


def test_shapes_have_no_mass_and_parts_do_not_touch_each_other(release):
    model, data = release
    both = (model.geom_contype[:, None] & model.geom_conaffinity[None, :]) != 0
    assert not both.any()
    assert data.ncon == 0


@pytest.mark.parametrize("n_chains", [1, 2, 3, 4, 5])
def test_lumped_chains_have_the_mass_the_width_and_the_lateral_moment_of_five(n_chains):
    five, _ = chain_layout(5, True)
    z, half = chain_layout(n_chains, True)
    assert max(z) + half == pytest.approx(max(five) + 0.0055)
    if n_chains > 1:
        assert np.mean(np.square(z)) == pytest.approx(np.mean(np.square(five)))
        assert abs(z[0] - z[1]) > 2.0 * half
    model = softfoot(n_chains=n_chains, lump=True).compile()
    assert sum(model.body_mass) == pytest.approx(0.9371521, abs=1e-7)
    assert sum(s for s in model.jnt_stiffness.reshape(model.njnt, -1)[:, 0] if s > 0.01) == pytest.approx(5 * 18 * 0.8)


def test_separate_chains_keep_their_mass():
    model = softfoot(n_chains=1).compile()
    assert sum(model.body_mass) == pytest.approx(0.9371521 - 4 * 0.05274625, abs=1e-7)


def test_midpoint_hinges_have_half_the_stiffness_and_twice_the_range():
    exact, midpoint = softfoot().compile(), softfoot(coupling="midpoint").compile()
    # 2 hinges of arch and heel; of each chain 8 midpoint hinges and the 2 of the coupling at the heel.
    assert (midpoint.nv, midpoint.neq) == (2 + 5 * 10, 5 + 5)
    assert midpoint.joint("virtual_1_1_to_phalanx_1_1").range == pytest.approx(p.RANGE)
    one, other = exact.joint("phalanx_2_1_to_virtual_3_1"), midpoint.joint("phalanx_2_1_to_phalanx_3_1")
    assert other.stiffness[0] == pytest.approx(0.5 * one.stiffness[0])
    assert other.damping[0] == pytest.approx(0.5 * one.damping[0])
    assert other.armature[0] == pytest.approx(0.5 * one.armature[0])
    assert other.range == pytest.approx(2.0 * one.range)


@pytest.mark.parametrize("options", [{}, {"coupling": "midpoint"}, {"n_chains": 3, "lump": True}, {"scale": 0.5}])
def test_the_softness_of_couplings_and_stops_does_not_depend_on_the_armature(options):
    # (1 - d) A t^2 with the inverse inertia A that MuJoCo gives each constraint.
    def compliances(model):
        hinge = [j for j in range(model.njnt) if model.joint(j).name[-1] == "1" and "heel" not in model.joint(j).name]
        inverse = model.dof_invweight0[model.jnt_dofadr]
        ties = [e for e in range(model.neq) if model.eq_type[e] == mujoco.mjtEq.mjEQ_JOINT]
        pairs = inverse[model.eq_obj1id[ties]] + inverse[model.eq_obj2id[ties]]
        stops = (1.0 - p.STOP_SOLIMP[1]) * inverse[hinge] * model.jnt_solref[hinge, 0] ** 2
        return np.append(stops, (1.0 - p.COUPLING_SOLIMP[1]) * pairs * model.eq_solref[ties, 0] ** 2)

    one, other = (softfoot(armature=a, timestep=5e-4, **options).compile() for a in (1e-3, 1e-4))
    assert compliances(one) == pytest.approx(compliances(other))
    chains = 3 / 5 if "lump" in options else 1.0
    least = 0.0193 * chains * options.get("scale", 1.0) ** -5
    assert compliances(one).min() == pytest.approx(least)


def test_couplings_and_stops_are_as_soft_as_those_of_the_release():
    own, release = softfoot().compile(), softfoot(release_quirks=True).compile()
    ties = release.eq_type == mujoco.mjtEq.mjEQ_JOINT
    # Those of the release differ by a tenth along the chain.
    assert own.eq_solref[ties, 0] == pytest.approx(release.eq_solref[ties, 0], rel=0.06)
    assert own.jnt_solref[2:, 0] == pytest.approx(release.jnt_solref[2:, 0], rel=0.08)


@pytest.mark.parametrize("coupling", ["exact", "midpoint"])
def test_both_couplings_put_the_next_module_at_the_same_place_to_first_order(coupling):
    angle = 1e-4
    exact, model = softfoot().compile(), softfoot(coupling=coupling).compile()
    places = []
    for m in (exact, model):
        data = mujoco.MjData(m)
        for j in range(m.njnt):
            name = m.joint(j).name
            if name.endswith("_3") and ("phalanx_3_3" in name or "virtual_3_3" in name) and "_4_3" not in name:
                share = 1.0 if m is exact or coupling == "exact" else 2.0
                data.qpos[m.jnt_qposadr[j]] = share * angle
        mujoco.mj_forward(m, data)
        places.append(in_cube(m, data, "distal_phalanx_3"))
    assert places[0] == pytest.approx(places[1], abs=1e-8)


def test_the_right_foot_is_the_mirror_image_of_the_left_one():
    left, right = softfoot(side="left").compile(), softfoot(side="right").compile()
    assert mass_at_rest(left) == pytest.approx(mass_at_rest(right), abs=1e-12)
    mirror = np.array([1.0, -1.0, 1.0])
    one, other = at_rest(left), at_rest(right)
    for b in range(left.nbody):
        assert one.xipos[b] * mirror == pytest.approx(other.xipos[b], abs=1e-12)
    assert one.xpos[left.body("phalanx_1_1").id][1] == pytest.approx(0.037)
    assert other.xpos[left.body("phalanx_1_1").id][1] == pytest.approx(-0.037)


def at_rest(model):
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return data


def mass_at_rest(model):
    return mass_matrix(model, at_rest(model))


def test_size_scales_lengths_masses_and_inertias():
    one, two = softfoot().compile(), softfoot(scale=2.0, tendon="spatial").compile()
    assert at_rest(two).xpos == pytest.approx(2.0 * at_rest(one).xpos)
    assert two.body_mass == pytest.approx(8.0 * one.body_mass)
    assert mass_at_rest(two) == pytest.approx(32.0 * mass_at_rest(one))
    assert two.tendon_length0 == pytest.approx(2.0 * one.tendon_length0)


def test_the_windlass_slack_is_a_parameter():
    model = softfoot(tendon_slack=0.0005).compile()
    assert model.tendon_range[:, 1] - model.tendon_length0 == pytest.approx(0.0005, abs=1e-12)
    model = softfoot(tendon_slack=0.0005, tendon="fixed").compile()
    assert model.tendon_range[:, 1] == pytest.approx(0.0005)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scale": -1.0}, ("scale", "-1", "> 0")),
        ({"scale": 0.0}, ("scale", "> 0")),
        ({"n_chains": 7}, ("n_chains", "7", "from 1 to 6")),
        ({"n_chains": 6, "lump": True}, ("n_chains", "6", "from 1 to 5")),
        ({"n_chains": 0}, ("n_chains", "from 1 to 6")),
        ({"coupling": "rolling"}, ("coupling", "rolling", "exact")),
        ({"band_stiffness": -0.1}, ("band_stiffness", "-0.1")),
        ({"closure_compliance": 0.0}, ("closure_compliance", "> 0")),
        ({"stiffness": 1.0}, ("stiffness", "band_stiffness")),
        ({"scale": math.nan}, ("scale",)),
        ({"timestep": 0.0}, ("timestep", "> 0")),
        ({"armature": 1e-6}, ("coupling_compliance", "0.0386", "time step 0.002 s", "must be >=", "armature")),
        ({"stop_compliance": 1e-5}, ("stop_compliance", "1e-05", "must be >=", "time step must be <=")),
        ({"chain_spring": 1.0, "n_chains": 1}, ("chain_spring", "must be 0", "no neighbour")),
        ({"chain_spring": -1.0}, ("chain_spring", "-1", "from 0 to 1000")),
        ({"frontal_stiffness": -1.0}, ("frontal_stiffness", "-1", "from 0 to 10000")),
        ({"frontal_stiffness": 5000.0, "frontal_freedom": True}, ("frontal_stiffness", "5000", "<= 1e+03", "unstable")),
        ({"band_stiffness": 1000.0, "timestep": 0.004}, ("band_stiffness", "1000", "<= 250", "time step must be <=")),
        ({"chain_spring": 200.0}, ("chain_spring", "200", "must be <= 125")),
        ({"scale": 200.0}, ("scale", "200", "100")),
    ],
)
def test_a_wrong_option_is_refused_with_what_is_valid(options, words):
    with pytest.raises(ModelError) as failed:
        softfoot(**options)
    for word in words:
        assert word in str(failed.value)


def test_options_change_those_that_are_given():
    options = SoftFootOptions(n_chains=3, lump=True)
    assert softfoot(options).compile().ntendon == 3
    assert softfoot(options, n_chains=2).compile().ntendon == 2


def test_every_option_says_what_it_is_and_where_it_comes_from():
    check_declaration(SoftFootOptions)
    for info in describe(find_robot("softfoot").options_class):
        assert info.description.endswith("."), info.name
        assert info.source, info.name


def test_the_foot_of_the_catalogue_rests_on_the_bar_under_its_load():
    model = build_robot("softfoot", {"bar": 0.02, "n_chains": 1, "lump": True, "load": 200.0}).compile()
    data = mujoco.MjData(model)
    for _ in range(1500):
        mujoco.mj_step(model, data)
    assert data.actuator_force[0] == pytest.approx(200.0)
    assert np.abs(data.qvel).max() < 1e-3
    touched = {model.geom(int(g)).name for g in data.contact.geom.ravel()}
    assert {"bar", "floor"} <= touched
    # It does not fall through the floor.
    assert data.xpos[model.body("attachment_cube").id][2] > 0.09


def test_the_released_model_has_the_numbers_of_the_generator(release):
    """Set SOFTFOOT_RELEASE to the released softfoot.xml, with its meshes, to compare."""
    model, data = release
    theirs = mujoco.MjModel.from_xml_path(str(released_file()))
    other = mujoco.MjData(theirs)
    mujoco.mj_forward(theirs, other)
    for b in range(1, theirs.nbody):
        mine = model.body(theirs.body(b).name).id
        assert np.abs(data.xpos[mine] - other.xpos[b]).max() < 1e-9
        assert model.body_mass[mine] == pytest.approx(theirs.body_mass[b], abs=1e-12)
    index = [model.joint(theirs.joint(j).name).dofadr[0] for j in range(theirs.njnt)]
    assert np.abs(mass_matrix(model, data)[np.ix_(index, index)] - mass_matrix(theirs, other)).max() < 1e-9
    for t in range(theirs.ntendon):
        assert model.tendon_length0[model.tendon(theirs.tendon(t).name).id] == pytest.approx(
            theirs.tendon_length0[t], abs=1e-9
        )


def released_file():
    file = Path(os.environ.get("SOFTFOOT_RELEASE", ""))
    if not file.is_file():
        pytest.skip("the released model is not here: set SOFTFOOT_RELEASE to its softfoot.xml")
    return file


def test_the_released_model_runs_from_its_file_as_the_generated_one_moves(tmp_path):
    """Set SOFTFOOT_RELEASE to the released softfoot.xml, with its meshes, to compare."""
    file = released_file()
    with pytest.raises(SystemExit) as ended:
        main(["run", str(file), "--duration", "0.01", "--json"])
    assert not ended.value.code
    robot = load(file)
    theirs = MujocoEngine(robot, check=False)
    spec = softfoot(release_quirks=True, timestep=robot.spec.option.timestep)
    spec.option.integrator = robot.spec.option.integrator
    model = spec.compile()
    data = mujoco.MjData(model)
    # It falls from the straight sole: the fixed ankle carries it.
    steps = round(0.5 / model.opt.timestep)
    theirs.step(steps)
    mujoco.mj_step(model, data, steps)
    for j in range(model.njnt):
        other = theirs.port(f"{model.joint(j).name}/position").item()
        assert data.qpos[model.jnt_qposadr[j]] == pytest.approx(other, abs=1e-6)
    assert np.abs(data.qpos).max() > 1e-3


@pytest.mark.filterwarnings("ignore:Attach")
@pytest.mark.parametrize("bar", [None, (0.02, 0.02)])
def test_the_released_model_stands_as_the_generated_one(bar):
    """Set SOFTFOOT_RELEASE to the released softfoot.xml, with its meshes, to compare."""
    file = released_file()

    def add(spec, body):
        body.add_frame().attach_body(mujoco.MjSpec.from_file(str(file)).body("attachment_cube"), "", "")

    theirs, mine = press(300, bar=bar, add=add), press(300, bar=bar, release_quirks=True)
    assert mine.height == pytest.approx(theirs.height, abs=1e-6)
    assert mine.body_force("heel") == pytest.approx(theirs.body_force("heel"), rel=1e-3)
    assert mine.pitches() == pytest.approx(theirs.pitches(), abs=0.01)


@pytest.mark.parametrize("n_chains", [5, 3, 1])
def test_lumped_chains_have_the_centre_of_pressure_and_the_load_sharing_of_five(n_chains):
    # The numbers of docs/feet/softfoot.md, the same for any number of chains.
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.compiler.autolimits = True
    spec.option.timestep = 1e-3
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0])
    rig = spec.worldbody.add_body(name="rig", pos=[0.0, 0.0, 0.1])
    rig.explicitinertial, rig.mass, rig.ipos, rig.inertia, rig.gravcomp = True, 1.0, [0.0] * 3, [1e-2] * 3, 1.0
    rig.add_joint(name="z", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[0.0, 0.0, 1.0], damping=[300.0, 0.0, 0.0])
    add_softfoot(spec, rig, n_chains=n_chains, lump=n_chains < 5)
    model = spec.compile()
    data = mujoco.MjData(model)
    data.xfrc_applied[model.body("rig").id, 2] = -300.0
    mujoco.mj_step(model, data, 3000)
    force = np.zeros(6)
    total = heel = moment = 0.0
    for i, contact in enumerate(data.contact):
        mujoco.mj_contactForce(model, data, i, force)
        body = model.body(model.geom_bodyid[max(contact.geom)]).name
        total, moment = total + force[0], moment + force[0] * contact.pos[0]
        heel += force[0] * (body == "heel")
    assert total == pytest.approx(300.0 + 9.81 * 0.937, abs=0.5)
    assert moment / total == pytest.approx(-0.04844, abs=2e-5)
    assert heel == pytest.approx(267.96, abs=0.01)

"""Rods that meet: each other, and objects, with the stiffness that the default parameters give."""

import dataclasses

import mujoco
import numpy as np
import pytest
from audited import AuditedEngine
from daily import by_day

from pliant.base.spatial import pose
from pliant.parallel.model import build_parallel, mechanism_of, settle
from pliant.parallel.model.rod_contact import segment_distances
from pliant.rods import BaseJoint, ContinuumParallelRobot, DistalJoint, Limb, Plate, RobotDescription, Rod, Round

RADIUS = 1.5e-3
ROD = Rod(length=0.5, section=Round(radius=RADIUS))
STIFFNESS = 200e9 * np.pi / 4 * RADIUS**4  # E I
AXIS = (0.0, 1.0, 0.0)  # of the sliders, across both rods


def crossed(gap: float = 0.02, kind: str = "fixed") -> ContinuumParallelRobot:
    """Two rods that cross like an X with a gap, and an upright one, between sliders along y and a plate."""
    up = float(np.sqrt(ROD.length**2 - 0.2**2))
    places = (("a", -0.1, -0.5 * gap, 0.2), ("b", 0.1, 0.5 * gap, -0.2), ("c", 0.0, 0.2, 0.0))
    limbs = []
    for name, x, y, aside in places:
        z = np.array([aside, 0.0, up]) / np.hypot(aside, up)
        frame = np.column_stack([np.cross(AXIS, z), AXIS, z])
        rod = dataclasses.replace(ROD, length=float(np.hypot(aside, up)))
        distal = DistalJoint(kind=kind, pose=pose([x + aside, y, 0], frame))
        slider = BaseJoint(kind="prismatic", axis=AXIS)
        limbs.append(Limb(name=name, rod=rod, joints=(slider,), base=pose([x, y, 0], frame), distal=distal))
    return ContinuumParallelRobot(
        RobotDescription(
            name="crossed", limbs=tuple(limbs), plate=Plate(mass=0.1), home=pose((0, 0, up)),
            home_joints=(0.0, 0.0, 0.0), controlled=("y", "rx", "rz"),
        )
    )  # fmt: skip


@pytest.fixture(scope="module")
def start():
    return crossed().solve_dgm([0.0, 0.0, 0.0])


def bound(robot):
    model = robot.compile()
    state = mechanism_of(robot).bind(model, mujoco.MjData(model))
    state.start()
    return state


def axis_of(state, limb: str):
    """Return the centre line of a rod: the axes of its capsules, or the line through its points."""
    model, data = state.model, state.data
    if model.nflex:
        f = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_FLEX, f"{limb}/rod")
        first = model.flex_vertadr[f]
        return data.flexvert_xpos[first : first + model.flex_vertnum[f]]
    geoms = [g for g in range(model.ngeom) if model.geom(g).name.startswith(f"{limb}/link")]
    half = [data.geom_xmat[g].reshape(3, 3)[:, 2] * model.geom_size[g, 1] for g in geoms]
    return np.array([data.geom_xpos[g] - h for g, h in zip(geoms, half)] + [data.geom_xpos[geoms[-1]] + half[-1]])


def contact_forces(state):
    """Return the normal forces [N] and the penetrations [m]."""
    force, out = np.zeros(6), []
    for c in range(state.data.ncon):
        mujoco.mj_contactForce(state.model, state.data, c, force)
        out.append((force[0], -state.data.contact[c].dist))
    return np.array(out).reshape(-1, 2).T


def drive(state, travel: float = 0.05, seconds: float = 1.2) -> float:
    """Drive the bases of both rods across each other in one second; return the least distance of the rods [m]."""
    dt, least = state.model.opt.timestep, np.inf
    for k in range(round(seconds / dt)):
        part = min(1.0, k * dt)
        state.set_joints([travel * part, -travel * part, 0.0])
        state.step()
        least = min(least, float(segment_distances(axis_of(state, "a"), axis_of(state, "b")).min()))
    return least


@pytest.mark.parametrize(
    ("variant", "timestep", "tolerance"),
    by_day([("chain", 1e-3, 0.1), ("chain", 5e-4, 0.1), ("flex", 1e-3, 0.2)], lambda case: case[1] == 1e-3),
)
def test_two_rods_driven_across_each_other_do_not_pass_through(variant, timestep, tolerance, start):
    if variant == "flex":
        start = crossed(kind="revolute").solve_dgm([0.0, 0.0, 0.0])
    robot = build_parallel(start.robot, start=start, variant=variant, segments=12).set("option.timestep", timestep)
    state = bound(robot)
    least = drive(state)
    assert state.data.ncon > 0
    assert 2.0 * RADIUS - tolerance * RADIUS < least < 2.0 * RADIUS


def test_rods_pass_through_each_other_without_the_option(start):
    state = bound(build_parallel(start.robot, start=start, segments=12, rod_contact=False))
    assert drive(state) < 0.1 * RADIUS
    assert state.data.ncon == 0


def test_the_force_on_one_rod_is_that_on_the_other_reversed(start):
    # Only the sliders hold the robot along y: their forces cancel if, and only if, those between the rods do.
    state = bound(build_parallel(start.robot, start=start, segments=12))
    drive(state)
    settle(state)
    (force,), (depth,) = contact_forces(state)
    assert force > 5.0
    assert depth < 0.1 * RADIUS
    assert abs(state.data.actuator_force.sum()) < 1e-4 * force


def test_the_energy_balance_of_rods_that_meet_closes(start):
    engine = AuditedEngine(build_parallel(start.robot, start=start, segments=12))
    touched = 0
    for k in range(1200):
        part = min(1.0, k * 1e-3)
        engine.port("a/prismatic/control")[0] = 0.05 * part
        engine.port("b/prismatic/control")[0] = -0.05 * part
        engine.step()
        touched += engine.data.ncon > 0
    assert engine.audit is not None
    balance = engine.audit.balance()
    assert touched > 300
    assert balance.throughput > 0.1
    assert abs(balance.residual) < 1e-3 * balance.throughput


@pytest.mark.parametrize(
    "name", ["Stewart_Gough_6PFR", "Stewart_Gough_6EFR", "Stewart_Gough_6FFR_Till", "3PFR_spatial"]
)
def test_a_robot_at_home_has_no_contacts(name):
    robot = build_parallel(name, segments=6)
    assert bound(robot).data.ncon == 0
    assert not [note for note in robot.notes if "touch" in note]


def test_a_rod_does_not_meet_itself(start):
    model = build_parallel(start.robot, start=start, segments=5).compile()
    for limb in "abc":
        geoms = [g for g in range(model.ngeom) if model.geom(g).name.startswith(f"{limb}/link")]
        kind, affinity = model.geom_contype[geoms], model.geom_conaffinity[geoms]
        assert not (kind[:, None] & affinity[None, :]).any()


def test_rods_of_planar_robots_lie_in_layers():
    robot = build_parallel("2RR", segments=5)
    assert any("lie in layers" in note for note in robot.notes)
    bits = {(int(g.contype), int(g.conaffinity)) for g in robot.spec.geoms if "/link" in g.name}
    assert bits == {(2, 1)}


@pytest.mark.parametrize("variant", ["chain", "flex"])
def test_rods_that_overlap_at_the_start_are_named_and_do_not_touch_there(variant):
    home = crossed(gap=0.001, kind="revolute").solve_dgm([0.0, 0.0, 0.0])
    robot = build_parallel(home.robot, start=home, variant=variant, segments=12)
    (note,) = [note for note in robot.notes if "touch" in note]
    assert "the rods of a and b overlap by 2 mm at the start" in note
    state = bound(robot)
    assert state.data.ncon == 0
    for _ in range(50):
        state.step()
    assert np.linalg.norm(state.plate_pose()[:3, 3] - home.plate_pose[:3, 3]) < 1e-3 * ROD.length


def test_objects_meet_an_extended_rod_over_its_whole_length():
    robot = build_parallel("Stewart_Gough_6EFR", segments=4)
    ball = robot.spec.worldbody.add_body(name="ball", mocap=True)
    ball.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[2e-3, 0, 0])
    state = bound(robot)
    model, data = state.model, state.data
    rod = [model.geom(f"limb1/{half}2").id for half in ("link", "half")]
    for ratio in (0.7, 1.4):
        length = data.joint("limb1/extension").qpos[0]
        for k in [*range(1, 5), "tip"]:
            node = "tip" if k == "tip" else f"node{k}"
            share = np.linalg.norm(model.body(f"limb1/{node}").pos) if k != 1 else 0.0
            data.joint(f"limb1/{node}/stretch").qpos[0] = (ratio - 1.0) * share
        mujoco.mj_kinematics(model, data)
        begin, end = data.body("limb1/link2").xpos.copy(), data.body("limb1/node3").xpos.copy()
        assert np.linalg.norm(end - begin) == pytest.approx(ratio * np.linalg.norm(model.body("limb1/node3").pos))
        assert length > 0.0
        for part in (0.05, 0.5, 0.95):
            data.mocap_pos[0] = begin + part * (end - begin)
            mujoco.mj_kinematics(model, data)
            mujoco.mj_collision(model, data)
            assert any(g in rod for c in range(data.ncon) for g in data.contact[c].geom)


@pytest.mark.parametrize("variant", ["chain", "flex"])
def test_contact_with_a_post_is_stiff_at_any_time_step_and_carries_what_the_statics_say(variant):
    # A cantilever with a force at its tip, propped at the middle after a gap: R = 5/2 F - 24 E I gap / L^3.
    description = RobotDescription(
        name="cantilever", gravity=(0.0, 0.0, 0.0), home=pose((0.0, 0.0, ROD.length)), plate=Plate(),
        limbs=(Limb(rod=ROD, distal=DistalJoint(kind="revolute"), name="rod"),),
    )  # fmt: skip
    cantilever = ContinuumParallelRobot(description)
    solution = cantilever.solve_dgm(np.zeros(0))
    push, gap = 2.0, 1e-3
    theory = 2.5 * push - 24.0 * STIFFNESS * gap / ROD.length**3
    depths = []
    for timestep in (2e-3, 1e-3, 2.5e-4):
        robot = build_parallel(cantilever, start=solution, variant=variant, segments=12)
        robot.spec.worldbody.add_geom(
            name="post", type=mujoco.mjtGeom.mjGEOM_CAPSULE, size=[5e-3, 0.03, 0],
            pos=[gap + 5e-3 + RADIUS, 0.0, 0.5 * ROD.length], quat=[1.0, 1.0, 0.0, 0.0],
        )  # fmt: skip
        state = bound(robot.set("option.timestep", timestep))
        state.set_wrench([push, 0, 0, 0, 0, 0])
        settle(state)
        force, depth = contact_forces(state)
        assert force.sum() == pytest.approx(theory, rel=0.005)  # 4.85 N
        depths.append(depth.max())
    assert max(depths) < 0.02 * RADIUS
    assert max(depths) < 1.2 * min(depths)


def test_the_distance_of_segments_is_that_of_their_nearest_points():
    rng = np.random.default_rng(3)
    one, other = rng.normal(size=(6, 3)), rng.normal(size=(5, 3))
    found = segment_distances(one, other)
    t = np.linspace(0.0, 1.0, 401)[:, None]
    for i in range(5):
        for j in range(4):
            a, b = one[i] + t * (one[i + 1] - one[i]), other[j] + t * (other[j + 1] - other[j])
            sampled = np.linalg.norm(a[:, None] - b[None], axis=2).min()
            assert found[i, j] <= sampled + 1e-12
            assert found[i, j] == pytest.approx(sampled, abs=0.01)
    parallel = segment_distances(np.array([[0.0, 0, 0], [1, 0, 0]]), np.array([[3.0, 4, 0], [2, 4, 0]]))
    assert parallel[0, 0] == pytest.approx(np.sqrt(17.0))

"""Dynamic models of parallel robots against the statics, beam theory and energy."""

import dataclasses

import mujoco
import numpy as np
import pytest
from daily import by_day, robots_by_day

from pliant.base.errors import ModelError
from pliant.base.spatial import exp_so3, pose
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.model import Robot
from pliant.parallel.model import (
    ParallelOptions,
    build_parallel,
    compare_with_statics,
    first_frequency,
    mechanism_of,
    settle,
)
from pliant.rods import (
    BaseJoint,
    ContinuumParallelRobot,
    DistalJoint,
    Limb,
    Plate,
    Rectangular,
    RobotDescription,
    Rod,
    Round,
    catalogue,
    load_robot,
)
from pliant.simulation import Simulation

STEEL = Rod(length=1.0, section=Round(radius=1e-3))


def simulation(robot):
    model = robot.compile()
    state = mechanism_of(robot).bind(model, mujoco.MjData(model))
    state.start()
    return state


def distance(state, solution) -> float:
    return float(np.linalg.norm(state.plate_pose()[:3, 3] - solution.plate_pose[:3, 3]))


@pytest.mark.parametrize("name", by_day(catalogue(), ("Stewart_Gough_6PFR", "RERRFR").__contains__))
def test_the_robot_is_drawn_in_one_piece(name):
    model = build_parallel(name, segments=6).compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    size = 1e-3 * float(np.linalg.norm(np.ptp(data.geom_xpos, axis=0)))
    near = {geom: {geom} for geom in range(model.ngeom)}
    for a in range(model.ngeom):
        for b in range(a):
            if near[a] is not near[b] and mujoco.mj_geomDistance(model, data, a, b, 1.0, np.zeros(6)) < size:
                near[a] |= near[b]
                for geom in near[a]:
                    near[geom] = near[a]
    assert max(map(len, near.values())) == model.ngeom


@pytest.mark.parametrize("name", ["Stewart_Gough_6PFR", "Stewart_Gough_6EFR", "RERRFR", "Stewart_Gough_6PFS"])
def test_the_model_starts_at_rest_in_the_equilibrium(name):
    robot = build_parallel(name, segments=6)
    state = simulation(robot)
    for _ in range(500):
        state.step()
    assert distance(state, mechanism_of(robot).solution) < 2e-5
    np.testing.assert_allclose(state.joints(), mechanism_of(robot).solution.q, atol=1e-4)


@pytest.mark.parametrize(
    "name",
    robots_by_day(
        ("Stewart_Gough_6PFR", "Stewart_Gough_6PFF", "Stewart_Gough_6FFR_Till", "RERRFR", "3PFR_spatial", "2RR")
    ),
)
def test_a_catalogue_robot_passes_its_own_check(name):
    findings = compare_with_statics(build_parallel(name, segments=8))
    # The speed depends on what else the machine does: `pliant check --simulate` judges it.
    assert [f for f in findings if f.severity == "error" and f.unit != "x real time"] == []
    assert {f.unit for f in findings} == {"mm", "rad", "% of it", "%", "of the push", "x real time"}


@pytest.mark.parametrize(("segments", "error"), by_day([(5, 4e-5), (10, 1e-5)], lambda case: case[0] == 5))
def test_the_error_away_from_the_start_is_of_second_order(segments, error):
    findings = compare_with_statics(build_parallel("Stewart_Gough_6PFR", segments=segments))
    moved = next(f for f in findings if f.subject == "plate against direct model, joints moved")
    assert 1e-8 < 1e-3 * moved.value < error


def test_a_load_moves_the_plate_as_the_statics_say_even_with_few_links():
    robot = build_parallel("Stewart_Gough_6PFR", segments=5)
    statics, home = mechanism_of(robot).solution.robot, mechanism_of(robot).solution
    state = simulation(robot)
    load = [0.3, 0.4, 0.0, 0.0, 0.0, 0.05]
    state.set_wrench(load)
    settle(state)
    goal = statics.solve_dgm(home.q, load, start=home)
    moved = np.linalg.norm(goal.plate_pose[:3, 3] - home.plate_pose[:3, 3])
    assert moved > 1e-3
    assert distance(state, goal) < 0.02 * moved


def test_a_wrench_on_a_plate_whose_mass_is_aside_of_its_origin_stays_about_the_origin_while_the_plate_turns():
    limbs = tuple(
        Limb(
            rod=Rod(length=0.5, section=Round(radius=1e-3)), joints=(BaseJoint(kind="prismatic"),),
            base=pose((0.1 * np.cos(angle), 0.1 * np.sin(angle), 0.0)),
            distal=DistalJoint(kind="spherical", pose=pose((0.06 * np.cos(angle), 0.06 * np.sin(angle), 0.0))),
        )
        for angle in (0.0, 2.1, 4.2)
    )  # fmt: skip
    plate, home = Plate(mass=0.05, com=(0.02, -0.04, 0.03)), pose((0.0, 0.0, 0.48))
    description = RobotDescription(name="own", limbs=limbs, plate=plate, home=home, home_joints=(0.0, 0.0, 0.0))
    robot = build_parallel(ContinuumParallelRobot(description), segments=8, contact=False)
    start = mechanism_of(robot).solution
    state, load = simulation(robot), [0.15, 0.1, -0.2, 0.0, 0.01, 0.02]
    state.set_wrench(load)
    settle(state)
    goal = start.robot.solve_dgm(start.q, load, start=start)
    moved = np.linalg.norm(goal.plate_pose[:3, 3] - start.plate_pose[:3, 3])
    assert moved > 5e-3
    assert distance(state, goal) < 0.004 * moved


def test_a_flex_rod_carries_the_plate_where_the_statics_say():
    findings = compare_with_statics(build_parallel("Stewart_Gough_6PFR", variant="flex", segments=14))
    assert [f.subject for f in findings if f.severity == "error" and f.unit not in ("x real time", "% of it")] == []
    # Its points are at equal distances: loads move it less than they should, and it starts 0.8 mm off.
    load = next(f for f in findings if f.unit == "% of it")
    assert load.value < 20.0


@pytest.mark.parametrize("variant", ["chain", "flex"])
def test_the_first_bending_frequency_is_that_of_euler_and_bernoulli(variant):
    found, theory = first_frequency(STEEL, ParallelOptions(variant=variant))
    assert theory == pytest.approx(1.39902, rel=1e-4)  # 1.8751^2 / (2 pi) sqrt(0.15708 / 0.025133)
    assert found == pytest.approx(theory, rel=0.005)


def test_a_rectangular_rod_swings_in_its_soft_plane():
    wide = Rod(length=0.5, section=Rectangular(width=4e-3, height=1e-3))
    found, theory = first_frequency(wide)
    EI, mass = 200e9 * 4e-3 * 1e-3**3 / 12, 8000 * 4e-6
    assert theory == pytest.approx(1.8751041**2 / (2 * np.pi) * np.sqrt(EI / (mass * 0.5**4)), rel=1e-6)
    assert found == pytest.approx(theory, rel=0.005)


SHORT = Rod(length=0.5, section=Round(radius=1.5e-3))


def legs(kind: str, rod: Rod = SHORT, **options) -> ContinuumParallelRobot:
    """Three vertical legs on sliders, tips on the plate by joints of one kind."""
    limbs = []
    for k in range(3):
        angle = 2 * np.pi * k / 3
        turn = exp_so3([0, 0, angle])
        distal = DistalJoint(kind=kind, pose=pose(turn @ [0.2, 0, 0], turn), **options)
        base = pose(turn @ [0.25, 0, 0], turn)
        limbs.append(Limb(rod=rod, distal=distal, joints=(BaseJoint(kind="prismatic"),), base=base, name=f"leg{k}"))
    return ContinuumParallelRobot(
        RobotDescription(
            name="legs", limbs=tuple(limbs), plate=Plate(mass=0.1), home=pose((0.0, 0.0, 0.98 * rod.length)),
            home_joints=(0.0, 0.0, 0.0), controlled=("z", "rx", "ry"),
        )
    )  # fmt: skip


@pytest.mark.parametrize("name", catalogue())
def test_what_a_base_joint_moves_has_its_centre_of_mass_at_the_joint(name):
    # MuJoCo takes the place in the parent's frame where a body of Python names no centre of mass.
    model = build_parallel(name).compile()
    moved = [b for b in range(model.nbody) if model.body(b).name.endswith(("/carrier", "/spool"))]
    assert len(moved) >= len(load_robot(name).description.actuators)
    assert not model.body_ipos[moved].any()


@pytest.mark.parametrize("kind", ["universal", "prismatic", "spherical", "fixed", "revolute"])
def test_every_plate_joint_settles_where_the_statics_say(kind):
    axis = (1.0, 0.0, 0.0) if kind in ("universal", "prismatic", "revolute") else (0.0, 0.0, 1.0)
    statics = legs(kind, axis=axis)
    start = statics.solve_dgm([0.0, 0.0, 0.0], [0.05, 0.02, 0.0, 0.0, 0.01, 0.0])
    robot = build_parallel(statics, start=start, segments=8)
    state = simulation(robot)
    settle(state)
    assert distance(state, start) < 3e-5
    goal = statics.solve_dgm([0.02, -0.01, 0.0], [0.0, -0.05, 0.0, 0.0, 0.01, 0.0], start=start)
    state.set_joints(goal.q)
    state.set_wrench(goal.wrench)
    settle(state)
    assert distance(state, goal) < 5e-4


def test_tapered_precurved_and_rectangular_rods_settle_where_the_statics_say():
    rods = [
        Rod(length=1.0, section=Round(radius=1.2e-3, tip_radius=0.8e-3), precurvature=((0.0, 0.4, 0.1, 0.0),)),
        Rod(length=1.0, section=Rectangular(width=2e-3, height=1.5e-3)),
    ]
    for rod in rods:
        statics = legs("revolute", rod)
        start = statics.solve_dgm([0.0, 0.0, 0.0])
        goal = statics.solve_dgm([0.03, 0.0, -0.03], start=start)
        robot = build_parallel(statics, start=start, segments=10)
        state = simulation(robot)
        state.set_joints(goal.q)
        settle(state)
        assert distance(state, goal) < 5e-4


def test_an_extensible_limb_changes_its_rest_length_while_it_runs():
    robot = build_parallel("Stewart_Gough_6EFR", segments=8)
    state = simulation(robot)
    home = mechanism_of(robot).solution
    goal = home.robot.solve_dgm(home.q + 0.05, start=home)
    for k in range(1000):
        state.set_joints(home.q + 0.05 * (k + 1) / 1000)
        state.step()
    settle(state)
    assert distance(state, goal) < 1e-3


@pytest.mark.parametrize("variant", ["chain", "flex"])
def test_a_rod_stops_at_an_object(variant):
    robot = build_parallel("Stewart_Gough_6PFR", variant=variant, segments=12)
    free = mechanism_of(robot).solution.centreline(0, 25).position[12]
    outward = np.array([free[0], free[1], 0.0])
    outward /= np.linalg.norm(outward)
    # A post of 10 mm that stands 2 mm outside the middle of rod 1, and a push on the plate towards it.
    robot.spec.worldbody.add_geom(
        name="post", type=mujoco.mjtGeom.mjGEOM_CAPSULE, size=[5e-3, 0.03, 0],
        pos=free + outward * 8e-3, quat=[1.0, -outward[0], -outward[1], 0.0],
    )  # fmt: skip
    state = simulation(robot)
    state.set_wrench([*(1.5 * outward), 0, 0, 0])
    touched, deepest = False, 0.0
    for _ in range(1500):
        state.step()
        for c in range(state.data.ncon):
            touched = True
            deepest = min(deepest, state.data.contact[c].dist)
    assert touched
    assert deepest > -3e-4  # not into a post of 10 mm, let alone through it
    assert np.all(np.isfinite(state.data.qpos))


def test_the_engine_serves_the_servos_as_ports():
    robot = build_parallel("Stewart_Gough_6PFR", segments=5)
    engine = MujocoEngine(robot)
    engine.port("limb1/prismatic/control")[0] += 0.01
    engine.step(2000)
    assert engine.port("limb1/prismatic/position")[0] == pytest.approx(
        mechanism_of(robot).solution.q[0] + 0.01, abs=1e-5
    )


def test_a_parallel_robot_is_checked_copied_and_changed_as_any_robot():
    robot = build_parallel("Stewart_Gough_6PFR", segments=5)
    problems = robot.copy().check()
    assert [p.subject for p in problems if p.severity != "info"] == []
    assert {p.subject for p in problems if p.value is not None} == {
        "scaled residual at the start", "direct against inverse model", "integration against four times the steps",
    }  # fmt: skip
    robot.set("option.timestep", 5e-4).set("option.integrator", "implicitfast")
    model = robot.compile()
    assert model.opt.timestep == 5e-4
    np.testing.assert_allclose(model.eq_solref[:, 0], 1e-3)
    servo = model.actuator("limb1/prismatic").id
    assert model.actuator_biasprm[servo, 2] == pytest.approx(-2.0 * 1e6 * 5e-4)
    assert [p.subject for p in robot.check() if p.severity == "warning"] == ["option.integrator"]


def test_a_parallel_robot_takes_another_robot_but_does_not_follow_one():
    tool = mujoco.MjSpec.from_string(
        '<mujoco><worldbody><body name="tool"><geom size=".01" mass=".01"/></body></worldbody></mujoco>'
    )
    robot = build_parallel("Stewart_Gough_6PFR", segments=5).attach(Robot(tool), body="plate", prefix="tool/")
    state = simulation(robot)
    for _ in range(100):
        state.step()
    assert np.isfinite(state.data.qpos).all()
    assert robot.copy().check()
    with pytest.raises(ModelError, match="cannot follow under the prefix 'left/'"):
        Robot(mujoco.MjSpec()).attach(build_parallel("2RR", segments=5), prefix="left/")


def test_a_simulation_is_made_as_that_of_any_robot():
    robot = build_parallel("3RR", segments=5)
    with Simulation(MujocoEngine(robot), make_devices(robot)) as loop:
        loop.run(0.05)
        np.testing.assert_allclose(loop.sample("cpr").values["joint_values"], mechanism_of(robot).solution.q, atol=1e-4)


def test_a_rod_without_damping_loses_energy_only_to_the_time_step():
    robot = build_parallel("3PFR_spatial", segments=5, damping=0.0).set("option.timestep", 5e-4)
    findings = compare_with_statics(robot)
    assert next(f for f in findings if f.unit == "of the push").severity == "info"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variant": "chains"}, "did you mean 'chain'"),
        ({"segments": 2}, "from 3 to 200"),
        ({"servo_mass": 0.0}, "> 0"),
        ({"damping": float("nan")}, "damping"),
        ({"stiffness": 1.0}, "no option 'stiffness'"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(ModelError, match=message):
        build_parallel("2PR", **options)


@pytest.mark.parametrize(
    ("name", "message"),
    [("2PR", "planar"), ("Stewart_Gough_6EFR", "extensible"), ("Stewart_Gough_6PFS", "spherical plate joint")],
)
def test_the_flex_variant_says_what_it_cannot_carry(name, message):
    with pytest.raises(ModelError, match=f"{message}.*chain"):
        build_parallel(name, variant="flex")


def test_a_start_of_another_robot_is_refused():
    other = load_robot("2PR").home()
    with pytest.raises(ModelError, match="belongs to '2PR'"):
        build_parallel("2RR", start=other)


def test_notes_say_what_is_left_out():
    robot = load_robot("2PR")
    robot = ContinuumParallelRobot(
        dataclasses.replace(
            robot.description,
            limbs=tuple(
                dataclasses.replace(limb, rod=dataclasses.replace(limb.rod, distributed_force=(0.0, -0.01, 0.0)))
                for limb in robot.description.limbs
            ),
        )
    )
    notes = " ".join(build_parallel(robot).notes)
    assert "distributed loads" in notes
    assert "the plate has no mass" in notes

"""Every problem is found before the run; the step-size bound is the true one."""

import math

import mujoco
import numpy as np
import pytest

import pliant
from pliant.base.errors import ModelError
from pliant.engine import callbacks
from pliant.laws import (
    BAVS,
    PID,
    SEA,
    AwAS2,
    Cogging,
    CompliantActuator,
    DCMotor,
    Electrical,
    LeverDrive,
    Mode,
    PreslidingFriction,
    QbMove,
    layout,
)
from pliant.model import DeviceSpec, Interface, JointInterface, PluginManager, Robot
from pliant.model.check import preset_reach, propose_timestep, stable_timestep, step_sizes
from pliant.model.check.declared import _initial_angle

pytestmark = pytest.mark.quick

INERTIA = 0.00232
STILL = PreslidingFriction(torque=0.0)


def bench(actuator=None, *, inertia=INERTIA, damping=0.0, timestep=0.001, option="", gravity="0 0 0"):
    """A link about a vertical axis, with a compliant actuator."""
    xml = f"""<mujoco><option timestep="{timestep}" gravity="{gravity}" {option}/><worldbody><body name="link">
    <joint name="joint" axis="0 0 1" damping="{damping}"/>
    <inertial pos="0 0 0" mass="0.2" diaginertia="{inertia} {inertia} {inertia}"/></body></worldbody></mujoco>"""
    robot = Robot(mujoco.MjSpec.from_string(xml))
    if actuator is not None:
        robot.add_actuator("joint", actuator)
    return robot


def found(robot, severity=None, **options):
    return [p for p in robot.check(**options) if severity in (None, p.severity)]


def grows(stiffness, damping, inertia, timestep, implicit=True):
    """Say whether MuJoCo's own spring on a joint explodes at this step."""
    robot = bench(inertia=inertia, damping=damping, timestep=timestep)
    if not implicit:
        robot.spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER
        robot.spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_EULERDAMP
    robot.set("joint.stiffness", stiffness)
    model = robot.compile()
    data = mujoco.MjData(model)
    data.qpos[0] = 1e-6
    for _ in range(300):
        mujoco.mj_step(model, data, 10)
        if not abs(data.qpos[0]) < 1e-3:
            return True
    return False


FINGERS = """<mujoco><option timestep="0.001" gravity="0 0 0"/><worldbody><body>
<inertial pos="0 0 0" mass="0.01" diaginertia="1.3e-6 1.3e-6 1.3e-6"/><joint name="a" axis="0 1 0" damping="{0}"/>
<body><inertial pos="0 0 0" mass="0.01" diaginertia="1.3e-6 1.3e-6 1.3e-6"/>
<joint name="b" axis="0 1 0" damping="{0}"/></body></body></worldbody></mujoco>"""


@pytest.mark.parametrize("joints", ["a", "b", "ab"])
@pytest.mark.parametrize("damping", [0.0, 0.001, 0.004, 0.03, 1.0])
def test_a_light_link_is_refused_where_its_damping_does_not_keep_the_step_stable(joints, damping):
    robot = Robot(mujoco.MjSpec.from_string(FINGERS.format(damping)))
    for joint in joints:
        robot.add_actuator(joint, CompliantActuator(SEA(k=10.0), mode=2))
    model = robot.compile()
    data = mujoco.MjData(model)
    callbacks.install(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("rest").id)
    data.qpos[:] += 1e-6
    for _ in range(1000):
        mujoco.mj_step(model, data)
    moves_away = not np.abs(data.qpos).max() < 1e-3
    refused = bool(found(robot, "error"))
    assert refused or not moves_away
    assert refused == (damping < 0.03)


# -- the bound -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("damping", [0.0, 0.02, 0.3])
@pytest.mark.parametrize("implicit", [True, False])
def test_the_bound_of_a_link_is_that_of_the_simulator(damping, implicit):
    stiffness = 200.0
    actuator = CompliantActuator(SEA(k=stiffness), mode=3)
    robot = bench(actuator, damping=damping)
    if not implicit:
        robot.spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER
        robot.spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_EULERDAMP
    (row,) = [r for r in step_sizes(robot, modes={"joint": Mode(3)}) if r.at == "rest"]
    assert (row.implicit_damping, row.damping) == ((damping, 0.0) if implicit else (0.0, damping))
    assert row.limit == pytest.approx(stable_timestep(stiffness, -damping if implicit else damping, INERTIA))
    assert not grows(stiffness, damping, INERTIA, 0.98 * row.limit, implicit)
    assert grows(stiffness, damping, INERTIA, 1.02 * row.limit, implicit)


def test_the_verdict_turns_at_the_bound():
    limit = 2.0 * math.sqrt(INERTIA / 200.0)
    texts = {}
    for factor in (0.98, 1.02):
        robot = bench(CompliantActuator(SEA(k=200.0), mode=3), timestep=factor * limit)
        (problem,) = found(robot, "error")
        texts[factor] = problem.message
        assert problem.subject == "joint"
        assert f"w dt = {2 * factor:.2f}" in problem.message
    assert "too near to the bound" in texts[0.98]
    assert "is unstable" in texts[1.02]


@pytest.mark.parametrize(
    ("friction", "k", "limit_ms"),
    [(False, 0.0, 8.76), (True, 0.0, 5.80), (False, 400.0, 7.04), (True, 400.0, 5.29)],
)
def test_the_bounds_of_a_motor_with_the_toolbox_gains(friction, k, limit_ms):
    actuator = CompliantActuator(SEA(k=k), mode=6)
    (row,) = [
        r
        for r in step_sizes(bench(actuator), modes={"joint": Mode(6)})
        if r.element == "motor_1" and r.at == "rest" and r.stuck is friction
    ]
    assert row.limit * 1e3 == pytest.approx(limit_ms, abs=0.006)


def test_the_bounds_with_friction_alone_and_with_the_bare_gains():
    torque = CompliantActuator(SEA(k=0.0), mode=4)
    stuck = [r for r in step_sizes(bench(torque), modes={"joint": Mode(4)}) if r.stuck and r.at == "rest"]
    assert stuck[0].limit * 1e3 == pytest.approx(9.39, abs=0.006)
    stiff = CompliantActuator(SEA(k=0.0), mode=6, pid_1=PID(kp=164.0, kd=41.0))
    rows = [r for r in step_sizes(bench(stiff), modes={"joint": Mode(6)}) if r.element == "motor_1"]
    assert {round(r.limit * 1e3, 3) for r in rows if not r.stuck} == {1.127}
    assert [p.subject for p in found(bench(stiff), "error")] == ["joint"]


@pytest.mark.parametrize(("factor", "explodes"), [(0.98, False), (1.02, True)])
def test_the_bound_of_a_motor_is_that_of_the_actuator_itself(factor, explodes):
    motor = DCMotor(friction=STILL, max_torque=math.inf)
    actuator = CompliantActuator(SEA(k=400.0, max_deflection=1e6), mode=5, motor_1=motor)
    row = next(r for r in step_sizes(bench(actuator), modes={"joint": Mode(5)}) if r.element == "motor_1")
    trace = actuator.simulate(np.zeros(2000), np.zeros(2000), 1e-6, dt=factor * row.limit)
    position = trace.motor_1_position
    assert (not np.all(np.abs(position) < 1e-3)) is explodes


@pytest.mark.parametrize(
    ("law", "preset", "inertia", "limit_ms"),
    [
        (SEA(k=200.0), 0.0, 3.2e-4, 2.53),
        (SEA(k=400.0), 0.0, 0.00232, 4.82),
        (AwAS2(), 0.005, 3.2e-4, 21.6),
        (AwAS2(), 0.04, 3.2e-4, 0.600),
        (AwAS2(), 0.04, 0.00232, 1.62),
        (BAVS(), 0.001, 3.2e-4, 4.93),
        (BAVS(), 0.22, 3.2e-4, 5.06),
        (QbMove(), 0.2, 3.2e-4, 10.4),
        (QbMove(), 0.6, 0.00232, 28.1),
    ],
)
def test_the_largest_steps_of_the_four_actuators(law, preset, inertia, limit_ms):
    robot = bench(CompliantActuator(law, mode=3, initial_preset=preset), inertia=inertia)
    row = next(r for r in step_sizes(robot, modes={"joint": Mode(3)}) if r.at == "rest")
    assert row.limit * 1e3 == pytest.approx(limit_ms, rel=0.004)


def test_the_inertia_is_the_smallest_that_a_joint_moves_with_the_others_free():
    xml = """<mujoco><worldbody><body><joint name="a" axis="0 0 1"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
    <body pos="1 0 0"><joint name="b" axis="0 0 1" armature="0.5"/>
    <inertial pos="1 0 0" mass="2" diaginertia="0.1 0.1 0.1"/></body></body></worldbody></mujoco>"""
    robot = Robot(mujoco.MjSpec.from_string(xml))
    for joint in "ab":
        robot.add_actuator(joint, CompliantActuator(SEA(), mode=3))
    rows = {r.joint: r for r in step_sizes(robot, poses=0) if r.mode == 3 and r.at == "rest"}
    # Mass matrix at q = 0, by hand: M_bb = 0.1 + 2 + 0.5, M_ab = 2 * 1 * 2 + 0.1, M_aa = 1 + 2 * 4 + 0.1.
    M = np.array([[1.0 + 8.0 + 0.1, 4.0 + 0.1], [4.0 + 0.1, 0.1 + 2.0 + 0.5]])
    np.testing.assert_allclose([rows["a"].inertia, rows["b"].inertia], 1.0 / np.diag(np.linalg.inv(M)))


def test_joints_that_are_only_too_stiff_together_are_reported():
    xml = """<mujoco><option gravity="0 0 0"/><worldbody><body><joint name="a" axis="0 0 1"/>
    <inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.01 0.01"/><body pos="0.2 0 0"><joint name="b" axis="0 0 1"/>
    <inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.01 0.01"/></body></body></worldbody></mujoco>"""
    robot = Robot(mujoco.MjSpec.from_string(xml))
    for joint in "ab":
        robot.add_actuator(joint, CompliantActuator(SEA(), mode=3))
    rows = [r for r in step_sizes(robot) if r.mode == 3 and r.at == "rest"]
    h = 1.45 / max(r.ratio / r.timestep for r in rows)
    problems = found(robot.set("option.timestep", h), "error")
    assert [p.subject for p in problems] == ["model"]
    assert "together" in problems[0].message
    stiffness = {"a": 200.0, "b": 50.0}
    for joint, k in stiffness.items():
        robot.actuators[joint] = CompliantActuator(SEA(k=k), mode=3)
    alone = [r.ratio / r.timestep for r in step_sizes(robot) if r.mode == 3 and r.at == "rest"]
    robot.set("option.timestep", 0.29 / max(alone))
    (problem,) = [p for p in found(robot, "warning") if p.subject == "model"]
    assert "alone at most 0.29" in problem.message
    # The fastest of both together, by hand: eigenvalues of M^-1 K where the arm is stretched, bent, and folded.
    M = np.array([[0.02 + 0.01 + 0.09, 0.01 + 0.03], [0.01 + 0.03, 0.01 + 0.01]])
    stretched = np.sqrt(np.linalg.eigvals(np.linalg.solve(M, np.diag(list(stiffness.values())))).real.max())
    together = float(problem.message.split("w dt = ")[1].split()[0])
    assert together >= stretched * robot.timestep - 0.005


@pytest.mark.parametrize("kind", ["k", "d", "both"])
def test_a_proposed_step_is_resolved_and_the_next_larger_is_not(kind):
    stiffness, damping = (0.0 if kind == "d" else 321.0), (0.0 if kind == "k" else 4.7)
    h = propose_timestep(stiffness, damping, 0.0233)
    speed = max(math.sqrt(stiffness / 0.0233), damping / 0.0233)
    assert h * speed <= 0.3
    assert 2.5 * h * speed > 0.3
    assert f"{h:.0e}"[0] in "125"


def test_nothing_that_moves_by_itself_has_no_bound():
    assert stable_timestep(0.0, 0.0, 1.0) == math.inf
    assert propose_timestep(0.0, 0.0, 1.0) == math.inf


# -- verdicts --------------------------------------------------------------------------------------------


def test_a_stiff_preset_in_reach_is_a_warning_that_names_the_safe_one():
    robot = bench(CompliantActuator(AwAS2(), mode=3))
    assert found(robot, "error") == []
    (problem,) = [p for p in found(robot, "warning") if p.message.startswith("link")]
    safe = float(problem.hint.split("below ")[1].split()[0])
    assert 0.03 < safe < 0.0425
    inside = found(robot, "error", presets={"joint": (0.0, safe)})
    assert inside == []
    assert len(found(robot, "error", presets={"joint": (0.0, 0.045)})) == 1


def test_a_poorly_resolved_spring_is_a_warning_with_a_step():
    (problem,) = found(bench(CompliantActuator(SEA(k=400.0), mode=3)), "warning")
    assert "w dt = 0.42" in problem.message
    assert "option.timestep = 0.0005" in problem.hint
    finer = bench(CompliantActuator(SEA(k=400.0), mode=3), timestep=5e-4)
    assert found(finer, "warning") == []


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("law", [SEA(), QbMove(), BAVS()], ids=lambda law: law.name)
def test_the_default_actuators_have_neither_errors_nor_warnings_at_a_millisecond(law, mode):
    robot = bench(CompliantActuator(law, mode=mode))
    assert [str(p) for p in robot.check() if p.severity != "info"] == []


@pytest.mark.parametrize("kind", ["sea", "qbmove", "awas_ii"])
def test_the_joints_of_the_toolbox_pass(kind, joint_file):
    robot = pliant.load(joint_file(kind))
    assert [str(p) for p in robot.check() if p.severity == "error"] == []


@pytest.mark.shared
def test_the_general_template_of_the_toolbox_passes(data):
    robot = pliant.load(data / "template.urdf")
    assert [str(p) for p in robot.check() if p.severity == "error"] == []


def test_the_world_of_the_toolbox_is_too_coarse_for_its_own_gains(joint_file):
    robot = pliant.load(joint_file("qbmove"), timestep=0.025)
    assert any("unstable" in p.message for p in found(robot, "error"))


def test_all_problems_come_at_once_and_the_errors_first():
    motor = DCMotor(friction=PreslidingFriction(torque=7.0))
    robot = bench(CompliantActuator(SEA(k=1e6), mode=6, motor_1=motor), option='integrator="RK4"')
    robot.interface = Interface(
        joints={"jiont": JointInterface(joint="jiont")},
        manager=PluginManager(
            namespace="n", sample_time=0.01, joints=("elbow",), ref_1=("reference_1",), ref_2=("reference_2",)
        ),
    )
    robot.devices = [DeviceSpec(name="imu", kind="imu", elements=("lnik",), joints=("joint",))] * 2
    robot.actuators["knee"] = CompliantActuator(SEA())
    problems = robot.check()
    errors = " | ".join(str(p) for p in problems if p.severity == "error")
    for text in ("RK4", "'knee'", "jiont", "elbow", "did you mean 'link'", "two devices", "up to 7 N m", "unstable"):
        assert text in errors
    order = [p.severity for p in problems]
    assert order == sorted(order, key=["error", "warning", "info"].index)


def test_rk4_is_an_error_only_with_states_and_discrete_a_warning():
    stateless = bench(CompliantActuator(SEA(), mode=3), option='integrator="RK4"')
    assert found(stateless, "error") == []
    discrete = bench(CompliantActuator(SEA(), mode=3), option='integrator="discrete"')
    assert [p.subject for p in found(discrete, "warning")] == ["option.integrator"]


def test_a_body_without_mass_is_an_error_and_not_an_exception():
    spec = mujoco.MjSpec.from_string('<mujoco><worldbody><body name="g"><joint name="j"/></body></worldbody></mujoco>')
    problems = Robot(spec).check()
    assert any(p.severity == "error" and p.subject == "g" for p in problems)


def test_reversed_limits_and_a_start_outside_them_are_found():
    robot = bench(CompliantActuator(SEA(), mode=3))
    robot.update({"joint.lower": 1.0, "joint.upper": 0.5})
    assert any("not below the upper" in p.message for p in found(robot, "error"))
    robot.update({"joint.lower": 0.5, "joint.upper": 1.0})
    assert any("outside its limits" in p.message for p in found(robot, "warning"))


def test_a_joint_that_cannot_carry_its_weight_is_found():
    xml = """<mujoco><option timestep="0.001"/><worldbody><body name="link"><joint name="joint" axis="0 1 0"/>
    <inertial pos="1 0 0" mass="1" diaginertia="0.1 0.1 0.1"/></body></worldbody></mujoco>"""
    robot = Robot(mujoco.MjSpec.from_string(xml))
    robot.add_actuator("joint", CompliantActuator(QbMove(), mode=6))
    texts = [p.message for p in found(robot, "warning")]
    assert any("gravity asks up to 9.8" in t and "spring gives at most 2.5" in t for t in texts)
    robot.set("option.gravity", 0)
    assert found(robot, "warning") == []


def test_a_motor_that_starts_beyond_its_stop_is_found():
    motor = DCMotor(min_position=0.1)
    assert any(
        "beyond its stops" in p.message for p in found(bench(CompliantActuator(SEA(), motor_1=motor)), "warning")
    )


@pytest.mark.parametrize(
    ("blocks", "moves"),
    [
        ({"cogging": Cogging(torque=7.0)}, False),
        ({"cogging": Cogging(torque=5.9)}, True),
        ({"friction": PreslidingFriction(torque=4.0, breakaway=2.5, stribeck_velocity=0.1)}, False),
        ({"friction": PreslidingFriction(torque=1.0), "electrical": Electrical(max_current=1.2)}, False),
        ({"friction": PreslidingFriction(torque=1.0), "electrical": Electrical(max_current=1.3)}, True),
        ({"friction": PreslidingFriction(torque=1.0), "electrical": Electrical(supply_voltage=2.8)}, False),
    ],
)
def test_a_motor_that_its_friction_and_cogging_hold_is_an_error(blocks, moves):
    errors = found(bench(CompliantActuator(SEA(), motor_1=DCMotor(**blocks))), "error")
    assert any("it cannot move" in p.message for p in errors) != moves


def test_a_second_actuator_on_the_joint_is_found():
    xml = """<mujoco><worldbody><body><joint name="joint"/><geom size="0.1"/></body></worldbody>
    <actuator><position name="servo" joint="joint" kp="1"/></actuator></mujoco>"""
    robot = Robot(mujoco.MjSpec.from_string(xml))
    robot.add_actuator("joint", CompliantActuator(SEA(k=100.0)))
    assert any("'servo' drives" in p.message for p in found(robot, "warning"))


def test_what_was_assumed_is_told(urdf, plugin):
    robot = pliant.load(urdf(plugin("qbmove", mot_1_D=0.0019, operation_mode=6)))
    texts = " | ".join(str(p) for p in found(robot, "info"))
    assert "time step 0.001 s, integrator implicitfast, gravity (0, 0, -9.81)" in texts
    assert "motor friction is 0.02" in texts
    assert "print 0.5" in texts
    assert "motor damping" not in texts
    robot.set("option.timestep", 0.0005)
    assert "time step" not in " | ".join(str(p) for p in robot.copy().check())
    lever = pliant.load(urdf(plugin("awas_ii")))
    assert any("lever drive" in p.message for p in found(lever, "info"))
    shapes = Robot(
        mujoco.MjSpec.from_string("<mujoco><worldbody><body name='b'><geom size='1'/></body></worldbody></mujoco>")
    )
    assert any("density of 1000" in p.message for p in shapes.check())


def test_masses_are_called_assumed_only_where_nothing_gives_them():
    inertial = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    bodies = "".join(
        f"<body name='{name}'>{inside}</body>"
        for name, inside in {
            "weighed": f"{inertial}<geom size='1'/>",
            "dense": "<geom size='1' density='2700'/>",
            "heavy": "<geom size='1' mass='3'/>",
            "assumed": "<geom size='1'/>",
        }.items()
    )
    robot = Robot(mujoco.MjSpec.from_string(f"<mujoco><worldbody><geom size='1'/>{bodies}</worldbody></mujoco>"))
    (problem,) = [p for p in robot.check() if "density of 1000" in p.message]
    assert problem.message.startswith("mass of assumed comes from its shape")


@pytest.mark.parametrize("step", [0.0, -0.001, math.nan, math.inf])
def test_a_time_step_that_is_none_is_the_only_problem(step):
    (problem,) = bench(CompliantActuator(SEA())).check(timestep=step)
    assert (problem.severity, problem.subject, problem.message) == ("error", "option.timestep", f"is {step}")


@pytest.mark.parametrize("unit", ["degree", "radian"])
@pytest.mark.parametrize("kind", ["hinge", "slide"])
def test_the_angle_at_which_a_joint_begins_is_the_compiled_one(kind, unit):
    text = f"""<mujoco><compiler angle="{unit}"/><worldbody><body><joint name="j" type="{kind}" ref="0.3"/>
    <geom size="1"/></body></worldbody></mujoco>"""
    robot = Robot(mujoco.MjSpec.from_string(text))
    assert _initial_angle(robot, "j") == pytest.approx(robot.spec.copy().compile().qpos0[0], rel=1e-12)


def test_a_file_that_gives_actuators_few_numbers_has_room_for_those_of_a_law():
    text = """<mujoco><size nuser_actuator="2"/><worldbody><body><joint name="joint" axis="0 0 1"/>
    <geom size="0.1"/></body></worldbody></mujoco>"""
    robot = Robot(mujoco.MjSpec.from_string(text))
    robot.add_actuator("joint", CompliantActuator(SEA(k=7.0)))
    assert robot.compile().nuser_actuator >= layout.PARAMETERS


def test_the_check_leaves_the_robot_as_it_is():
    robot = bench(CompliantActuator(QbMove()))
    before = robot.spec.to_xml(), dict(robot.actuators)
    robot.check()
    assert (robot.spec.to_xml(), robot.actuators) == before


def test_presets_in_reach_end_at_the_clip_the_stops_and_the_lever():
    assert preset_reach(CompliantActuator(SEA())) == (0.0, 0.0)
    assert preset_reach(CompliantActuator(QbMove())) == (0.0, 0.8)
    stops = CompliantActuator(QbMove(), motor_1=DCMotor(max_position=0.3), motor_2=DCMotor(min_position=-0.5))
    assert preset_reach(stops) == (0.0, 0.4)
    assert preset_reach(CompliantActuator(AwAS2(), motor_2=LeverDrive(max_position=0.03))) == (0.0, 0.03)


def test_step_sizes_of_a_joint_that_is_not_there_is_a_model_error():
    robot = bench()
    robot.actuators["jiont"] = CompliantActuator(SEA())
    with pytest.raises(ModelError, match="did you mean 'joint'"):
        step_sizes(robot)

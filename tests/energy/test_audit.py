"""The energy audit: every catalogue robot closes, and single elements give known numbers."""

import mujoco
import numpy as np
import pytest
from audited import AuditedEngine
from daily import robots_by_day

from pliant import load
from pliant.base.errors import MissingDependency
from pliant.devices import make_devices
from pliant.energy.audit import EnergyAudit, audit_of
from pliant.engine import MujocoEngine
from pliant.franka.device.arm import FrankaArm
from pliant.parallel.model import MechanismState, find_mechanism
from pliant.robots import list_robots
from pliant.simulation import Simulation

DT = 1e-3


def engine_of(xml, integrator="implicitfast", dt=DT):
    text = f'<mujoco><option timestep="{dt}" integrator="{integrator}" gravity="0 0 0"/>{xml}</mujoco>'
    return AuditedEngine(mujoco.MjModel.from_xml_string(text))


def slider(joint="", rest=""):
    return (
        f'<worldbody><body><joint name="x" type="slide" axis="1 0 0" {joint}/>'
        f'<geom type="sphere" size="0.1" mass="2" contype="0" conaffinity="0"/></body></worldbody>{rest}'
    )


# -- single elements: analytic truth ---------------------------------------------------------------------------


def test_the_work_of_a_motor_is_the_kinetic_energy_that_it_gives():
    engine = engine_of(slider(rest='<actuator><motor name="m" joint="x" gear="5"/></actuator>'))
    engine.port("m/control")[0] = 0.6  # 3 N on 2 kg for 1 s: 1.5 m/s
    engine.step(1000)
    balance = engine.audit.balance()
    assert balance.motors == pytest.approx(0.5 * 2.0 * 1.5**2, rel=1e-12)
    assert balance.stored == pytest.approx(balance.motors, rel=1e-12)
    assert balance.residual == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "implicit", "discrete"])
def test_a_stiff_servo_and_a_stiff_damper_count_as_they_act(integrator):
    # Damping of 4/h per mass: a force that is taken at the start of the step would be wrong by its own size.
    servo = 2e3 if integrator == "Euler" else 8e3
    rest = f'<actuator><position name="p" joint="x" kp="4e5" kv="{servo}"/></actuator>'
    engine = engine_of(slider('damping="8e3"', rest), integrator)
    for k in range(400):
        engine.port("p/control")[0] = 0.1 * np.sin(0.03 * k)
        engine.step()
    balance = engine.audit.balance()
    assert balance.motors > 0.0
    assert balance.joint_damping > 0.1 * balance.motors
    assert balance.residual == pytest.approx(0.0, abs=1e-9 * balance.throughput)


FIXED = '<fixed name="t" {}><joint joint="x" coef="1"/></fixed>'
SPATIAL = '<spatial name="t" {}><site site="there"/><site site="here"/></spatial>'


@pytest.mark.parametrize(
    ("joint", "tendon", "exact"),
    [
        ('stiffness="4e4" springref="0.05"', "", True),
        ('stiffness="2e4 0 3e7"', "", True),
        ("", FIXED.format('stiffness="4e4" springlength="0.05"'), True),
        ("", FIXED.format('stiffness="4e4" springlength="-0.02 0.03"'), True),
        ("", FIXED.format('stiffness="2e4 3e5 3e7" springlength="0.01" damping="300"'), True),
        ("", SPATIAL.format('stiffness="4e4" springlength="0.1" damping="30"'), False),
        ("", SPATIAL.format('stiffness="2e4 0 3e6" springlength="0.1"'), False),
    ],
)
def test_stiff_springs_of_joints_and_tendons_count_as_they_act(joint, tendon, exact):
    """A mass on a spring of 0.14 rad a step or more, of which the integrator takes nearly all energy in 0.2 s."""
    engine = elastic(joint, tendon, "discrete")
    engine.step(200)
    balance = engine.audit.balance()
    assert balance.stored < -1.0
    assert balance.integrator > 0.02 * balance.throughput
    assert abs(balance.residual) < (1e-9 if exact else 1e-3) * balance.throughput


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "implicit"])
def test_other_integrators_take_nothing_from_springs(integrator):
    engine = elastic('stiffness="40 0 3e3"', SPATIAL.format('stiffness="40 3 30" springlength="0.1"'), integrator)
    engine.step(200)
    assert engine.audit.balance().integrator == 0.0


@pytest.mark.parametrize("integrator", ["implicitfast", "implicit", "discrete"])
def test_a_stiff_damper_of_a_tendon_counts_as_it_acts(integrator):
    engine = elastic("", FIXED.format('damping="4e3"'), integrator)
    engine.step(20)
    balance = engine.audit.balance()
    assert balance.joint_damping == pytest.approx(0.5 * 2.0 * 3.0**2, rel=1e-6)
    assert balance.residual == pytest.approx(0.0, abs=1e-9)


def elastic(joint, tendon, integrator):
    sites = '<site name="there" pos="0 0.08 0"/></worldbody>'
    body = slider(joint).replace("<geom", '<site name="here"/><geom').replace("</worldbody>", sites)
    engine = engine_of(f"{body}<tendon>{tendon}</tendon>", integrator)
    engine.data.qvel[0] = 3.0
    return engine


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "implicit", "discrete"])
def test_a_servo_at_the_torque_limit_of_its_joint_does_the_work_of_the_limit(integrator):
    # The servo asks for up to 200 N and its joint lets 3 N pass: after 0.5 s, 0.75 m/s and 3 N x 0.1875 m.
    rest = '<actuator><position name="p" joint="x" kp="100"/></actuator>'
    engine = engine_of(slider('actuatorfrcrange="-3 3"', rest), integrator)
    engine.port("p/control")[0] = 2.0
    engine.step(500)
    balance = engine.audit.balance()
    assert balance.motors == pytest.approx(0.5 * 2.0 * 0.75**2, rel=1e-9)
    assert balance.residual == pytest.approx(0.0, abs=1e-9 * balance.throughput)


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "implicit", "discrete"])
def test_the_balance_closes_while_a_servo_enters_and_leaves_the_limit_of_its_joint(integrator):
    # Two actuators and the compensation of gravity share the limit of a pendulum's first joint.
    body = (
        '<worldbody><body gravcomp="0.5"><joint name="a" type="hinge" axis="0 1 0" actuatorfrcrange="-4 4" '
        'actuatorgravcomp="true"/><geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0" mass="1"/>'
        '<body pos="0.3 0 0"><joint name="b" type="hinge" axis="0 1 0" damping="0.02"/>'
        '<geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0" mass="0.5"/></body></body></worldbody>'
        '<actuator><position name="p" joint="a" kp="60" kv="3"/><motor name="m" joint="a" gear="2"/></actuator>'
    )
    wrong = []
    for dt in (5e-4, 2.5e-4):
        text = f'<mujoco><option timestep="{dt}" integrator="{integrator}"/>{body}</mujoco>'
        engine = AuditedEngine(mujoco.MjModel.from_xml_string(text))
        limited = 0
        for k in range(round(1.0 / dt)):
            engine.port("p/control")[0] = 1.5 * np.sin(4.0 * k * dt)
            engine.port("m/control")[0] = 0.3
            engine.step()
            limited += abs(engine.data.qfrc_actuator[0]) > 3.999
        assert 0.1 < limited * dt < 0.9
        balance = engine.audit.balance()
        wrong.append(balance.residual / balance.throughput)
    # What is left is the error of the integrators, of first order in the step: it vanishes with the step.
    assert abs(wrong[1]) < 0.6 * abs(wrong[0])
    assert abs(2.0 * wrong[1] - wrong[0]) < 2e-5


@pytest.mark.parametrize("limit", ["", 'actuatorfrcrange="-0.5 0.5"'])
@pytest.mark.parametrize(
    ("rest", "disabled", "acts"),
    [
        ("", "", False),
        ('<actuator><motor name="m" joint="a"/></actuator>', "", True),
        ('<actuator><motor name="m" joint="a"/></actuator>', '<flag actuation="disable"/>', False),
    ],
    ids=["no actuators", "an actuator", "actuation disabled"],
)
def test_compensation_of_gravity_by_actuators_counts_only_where_it_acts(rest, disabled, acts, limit):
    # A pendulum that falls from the horizontal, fully compensated by its actuators where there are any.
    xml = (
        f'<mujoco><option timestep="5e-4" integrator="implicitfast">{disabled}</option>'
        f'<worldbody><body gravcomp="1"><joint name="a" type="hinge" axis="0 1 0" actuatorgravcomp="true" {limit}/>'
        f'<geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0" mass="1"/></body></worldbody>{rest}</mujoco>'
    )
    engine = AuditedEngine(mujoco.MjModel.from_xml_string(xml))
    engine.step(400)
    balance = engine.audit.balance()
    fell = abs(engine.data.qpos[0])
    if not acts:
        assert fell > 0.3
        assert (balance.motors, balance.external) == (0.0, 0.0)
    elif not limit:
        assert fell < 1e-9
    else:  # 0.5 of 1.47 N m are left, and act along the mean of the velocities before and after each step
        way = fell - 0.5 * 5e-4 * abs(engine.data.qvel[0])
        assert balance.motors + balance.external == pytest.approx(-0.5 * way, rel=1e-9)
    assert abs(balance.residual) < 3e-3 * 9.81 * 0.15  # of the energy of the fall: what the step leaves


@pytest.mark.parametrize("dt", [1e-3, 1e-2])
def test_the_numerical_damping_of_a_spring_is_the_energy_that_the_oscillator_lost(dt):
    engine = engine_of(slider('stiffness="200"'), "discrete", dt)
    engine.port("x/velocity")[0] = 1.0  # 1 J
    n = round(1.0 / dt)
    engine.step(n)
    x, v = engine.port("x/position")[0], engine.port("x/velocity")[0]
    left = 0.5 * 2.0 * v**2 + 0.5 * 200.0 * x**2
    balance = engine.audit.balance()
    assert balance.integrator == pytest.approx(1.0 - left, rel=1e-9)
    # A mode of 1.59 Hz loses amplitude at the rate pi f dt omega / (2 pi) of docs/rods/cpr.md: omega^2 dt / 2.
    assert left == pytest.approx(np.exp(-100.0 * dt), rel=0.02 + 2.0 * dt)
    assert balance.residual == pytest.approx(0.0, abs=1e-9)


def test_an_explicit_spring_loses_nothing_to_the_integrator():
    engine = engine_of(slider('stiffness="200"'), "Euler")
    engine.port("x/velocity")[0] = 1.0
    engine.step(1000)
    balance = engine.audit.balance()
    assert balance.integrator == 0.0
    assert balance.relative < 0.005


def test_the_work_of_a_wrench_is_force_times_way():
    engine = engine_of(
        '<worldbody><body name="b"><freejoint/><geom type="sphere" size="0.1" mass="2"/></body></worldbody>'
    )
    engine.port("body/b/wrench")[:] = [3.0, 0.0, 0.0, 0.0, 0.0, 0.01]
    engine.step(1000)
    inertia = 0.4 * 2.0 * 0.1**2
    expected = 0.5 * 2.0 * 1.5**2 + 0.5 * inertia * (0.01 / inertia) ** 2
    balance = engine.audit.balance()
    assert balance.external == pytest.approx(expected, rel=1e-9)
    assert balance.residual == pytest.approx(0.0, abs=1e-9)


def test_friction_that_a_device_hides_in_a_torque_is_a_loss_and_no_smaller_work_of_the_motor():
    engine = engine_of(slider(rest='<actuator><motor name="m" joint="x"/></actuator>'))
    engine.motor_friction[0] = 1.0
    engine.port("m/control")[0] = 3.0 - 1.0
    engine.step(1000)
    balance = engine.audit.balance()
    way = 0.5 * 1.0 * 1.0**2
    assert balance.motor_friction == pytest.approx(1.0 * way, rel=1e-9)
    assert balance.motors == pytest.approx(3.0 * way, rel=1e-9)
    assert balance.residual == pytest.approx(0.0, abs=1e-12)


# -- whole robots ----------------------------------------------------------------------------------------------


def move_arms(simulation, cycles):
    """Swing every arm about its pose by torques."""
    arms = [device for device in simulation.devices.values() if isinstance(device, FrankaArm)]
    # Two arms swing by half: some poses overshoot the limit of a joint's velocity.
    swing = 0.1 / max(1, len(arms))
    for arm in arms:
        simulation.request(arm.name, "move", controller=2, motion_generator=4)
    simulation.step()
    start = {arm.name: np.array(simulation.sample(arm.name).values["q"]) for arm in arms}
    for k in range(cycles):
        for arm in arms:
            state = simulation.sample(arm.name).values
            goal = start[arm.name] + swing * (1.0 - np.cos(2.0 * np.pi * k / cycles))
            torque = np.array([60, 60, 60, 60, 20, 10, 1]) * (goal - state["q"])
            torque -= np.array([6, 6, 6, 4, 1, 0.5, 0.05]) * state["dq"]
            arm.inbox.put({"tau_J_d": torque}, mode="torque")
        simulation.step()


def move_joints(simulation, duration):
    """Move every compliant joint by its first reference and its second."""
    engine = simulation.engine
    for k in range(round(duration / engine.dt)):
        angle = 2.0 * np.pi * 2.0 * k * engine.dt
        for joint in engine.compliant_joints():
            device = simulation.devices[joint]
            (mode,) = device.inbox.accepted
            first, *others = device.commands[mode]
            lever = device.commands[mode][others[0]].unit == "m"
            preset = 0.011 + 0.001 * np.sin(angle) if lever else 0.1 + 0.05 * np.sin(angle)
            device.inbox.put({first: 0.3 * np.sin(angle), others[0]: preset}, mode=mode)
        simulation.step()


def move_rods(robot, steps):
    """Move the actuated joints of a parallel robot and pull at its plate; return the balance."""
    mechanism = find_mechanism(robot)
    engine = AuditedEngine(robot)
    state = MechanismState(mechanism, engine.model, engine.data)
    start = state.joints()
    wrench = np.zeros_like(mechanism.solution.wrench)
    for k in range(steps):
        phase = 2.0 * np.pi * k / steps
        wrench[1] = 0.2 * np.sin(phase)
        state.set_wrench(wrench)
        state.set_joints(start + 0.01 * (1.0 - np.cos(phase)) * np.cos(1.3 * np.arange(len(start))))
        engine.step()
    return engine.audit.balance()


def balance_of(name):
    robot = load(name)
    if find_mechanism(robot) is not None:
        return move_rods(robot, 80)
    engine = AuditedEngine(robot)
    with Simulation(engine, make_devices(robot)) as simulation:
        simulation.start()
        if engine.compliant_joints():
            move_joints(simulation, 0.3)
        else:
            move_arms(simulation, 300)
        return engine.audit.balance()


@pytest.mark.parametrize("name", robots_by_day(robot.name for robot in list_robots() if not robot.package))
def test_a_run_of_every_catalogue_robot_closes_within_half_a_percent(name):
    try:
        balance = balance_of(name)
    except MissingDependency as missing:
        pytest.skip(str(missing))
    assert balance.throughput > 1e-3
    assert balance.relative < 0.005


def test_the_audit_of_an_arm_tells_friction_from_the_work_of_its_motors():
    balance = balance_of("fr3")
    assert balance.motors > balance.motor_friction > 0.05 * balance.motors
    # Without one of the terms it would not close.
    assert balance.motor_friction > 0.01 * balance.throughput
    assert abs(balance.stored) > 0.01 * balance.throughput


def test_the_work_of_spools_that_change_the_length_of_rods_is_counted():
    balance = balance_of("3ER")
    assert abs(balance.motors) > 0.1 * balance.throughput
    # What the integrator takes from the springs of the rods' tendons; without it the balance would not close.
    assert balance.integrator > 0.02 * balance.throughput


FLEX = (
    '<worldbody><flexcomp name="cloth" type="grid" count="3 3 1" spacing="0.1 0.1 0.1" dim="2" radius="0.01">'
    "{}</flexcomp></worldbody>"
)


@pytest.mark.parametrize(
    ("inside", "counted"),
    [
        ('<elasticity young="1e3" poisson="0.2" thickness="0.01" elastic2d="both"/>', False),
        ('<edge equality="true"/>', True),
    ],
    ids=["elastic", "constrained"],
)
def test_a_model_whose_flex_stores_energy_has_no_balance(inside, counted):
    text = f'<mujoco><option timestep="1e-3"/>{FLEX.format(inside)}</mujoco>'
    audit = audit_of(MujocoEngine(mujoco.MjModel.from_xml_string(text)))
    assert isinstance(audit, EnergyAudit) == counted

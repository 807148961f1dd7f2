"""Pneumatic muscles in the engine: convergence to an independent integration, energy, and random use."""

import dataclasses
import math

import mujoco
import numpy as np
import pytest
from audited import AuditedEngine
from benches import INERTIA, WEIGHT, bench
from scipy.integrate import solve_ivp

from pliant.batch.worlds import CpuBatch
from pliant.engine import MujocoEngine
from pliant.engine.mujoco_engine import hold_pose
from pliant.laws import PID, CompliantActuator, PreslidingFriction
from pliant.laws.layout import USUAL_PRESETS
from pliant.muscles import McKibben, PneumaticDrive, muscle_friction
from pliant.robots.loading import load
from pliant.spring_tables import TableSEA

LAW, DRIVE = McKibben(), PneumaticDrive(time_constant=0.02, conductance=4e-9)
DAMPING = 0.3
END = 0.25
START = 1.5e5


def commands(mode, t):
    """Return smooth references of a mode."""
    if mode == 4:
        return 0.4 * np.sin(12.0 * t), -0.3 * np.sin(9.0 * t)
    if mode == 5:
        return START + 0.6e5 * np.sin(12.0 * t), START - 0.4e5 * np.sin(9.0 * t)
    return 0.4 * np.sin(9.0 * t), START + 0.5e5 * np.sin(12.0 * t)


def flow(high, low):
    """Return R T m' by ISO 6358 [W]."""
    r = low / high
    if r <= DRIVE.critical_ratio:
        phi = 1.0
    else:
        phi = math.sqrt(1.0 - ((min(r, 0.999) - DRIVE.critical_ratio) / (1.0 - DRIVE.critical_ratio)) ** 2)
        phi *= min(1.0, (1.0 - r) / 0.001)
    return 1e5 * DRIVE.conductance * high * phi


def truth(mode):
    """Integrate angle, speed, absolute pressures and openings, the textbook's states, with DOP853."""
    a, b = 3.0 / math.tan(LAW.braid_angle) ** 2, 1.0 / math.sin(LAW.braid_angle) ** 2
    k, r, area = LAW.end_correction, LAW.pulley_radius, math.pi * LAW.radius**2
    ambient, supply, n = DRIVE.ambient_pressure, DRIVE.supply_pressure, DRIVE.exponent

    def shape(e):
        force = area * (a * (1.0 - k * e) ** 2 - b)
        return force, area * LAW.length * (1.0 + a / (3.0 * k) * (1.0 - (1.0 - k * e) ** 3) - b * e)

    def rate(t, y):
        q, dq, pressures, openings = y[0], y[1], y[2:4], y[4:6]
        shapes = [shape(LAW.contraction + s * r * q / LAW.length) for s in (1.0, -1.0)]
        torque = r * sum(s * f * (p - ambient) for s, (f, _), p in zip((1.0, -1.0), shapes, pressures))
        refs = commands(mode, t)
        if mode == 6:
            eq, mean = refs
            f1, f2 = (shape(LAW.contraction + s * r * eq / LAW.length)[0] for s in (1.0, -1.0))
            refs = [mean * (1.0 + s * (f2 - f1) / (f1 + f2)) for s in (1.0, -1.0)]
        out = [dq, (torque - DAMPING * dq + WEIGHT * math.cos(q)) / INERTIA]
        spools = []
        for ref, s, (f, v), p, x in zip(refs, (1.0, -1.0), shapes, pressures, openings):
            u = ref if mode == 4 else 2e-5 * (ref - (p - ambient))
            spools.append((min(max(u, -1.0), 1.0) - x) / DRIVE.time_constant)
            other = supply if x > 0.0 else ambient
            gain = abs(x) * (flow(other, p) if other > p else -flow(p, other))
            out.append(n * (gain - p * s * r * f * dq) / (v + DRIVE.dead_volume))
        return out + spools

    start = [0.0, 0.0, START + ambient, START + ambient, 0.0, 0.0]
    return solve_ivp(rate, (0.0, END), start, method="DOP853", rtol=1e-9, atol=1e-9, max_step=5e-4, dense_output=True)


def run(mode, dt, **options):
    actuator = CompliantActuator(LAW, mode=mode, motor_1=DRIVE, **options)
    engine = AuditedEngine(bench(actuator, dt=dt, damping=DAMPING), check=False)
    ports = [engine.port(f"joint/{name}") for name in ("position", "motor_1_position", "motor_2_position")]
    r1, r2 = engine.port("joint/reference_1"), engine.port("joint/reference_2")
    found = []
    for i in range(round(END / dt)):
        r1[0], r2[0] = commands(mode, i * dt)
        engine.step()
        found.append([port[0] for port in ports])
    return np.array(found), engine


@pytest.mark.parametrize("mode", [4, 5, 6])
def test_the_motion_converges_to_an_independent_integration_in_first_order(mode):
    solution = truth(mode)
    assert solution.success
    errors = []
    for dt in (1e-3, 5e-4, 2.5e-4):
        found, _ = run(mode, dt)
        exact = solution.sol(dt * np.arange(1, len(found) + 1))[[0, 2, 3]].T
        exact[:, 1:] -= DRIVE.ambient_pressure
        errors.append(np.abs(found - exact).max(axis=0))
    errors = np.array(errors)
    assert (np.log2(errors[:-1] / errors[1:]) > 0.8).all(), errors
    assert (errors[-1] < [2e-3, 1e3, 1e3]).all(), errors


@pytest.mark.parametrize("mode", range(7))
def test_the_energy_audit_closes_with_friction(mode):
    actuator = CompliantActuator(LAW, mode=mode, motor_1=DRIVE, link_friction=muscle_friction(LAW), link_damping=0.02)
    engine = AuditedEngine(bench(actuator, dt=2.5e-4, gravity=0.0), check=False)
    audit = engine.audit
    r1 = engine.port("joint/reference_1")
    r2 = engine.port("joint/reference_2") if "joint/reference_2" in engine.ports() else np.zeros(1)
    for i in range(2000):
        one, two = commands(mode if mode > 3 else mode + 3, i * 2.5e-4)
        r1[0], r2[0] = (0.1 * math.sin(0.01 * i), 0.0) if mode < 2 else (one, two)
        engine.step()
    balance = audit.balance()
    assert balance.relative < 1e-4
    if mode > 1:
        assert balance.link_losses > 0.0
    if mode > 3:
        # The gas moves much more energy than the joint: the error is small beside the joint's exchanges too.
        assert abs(balance.residual) < 1e-3 * (balance.link_losses + balance.joint_damping)
        assert balance.motors > 0.0
        assert balance.valves > 0.0


def test_the_work_of_the_supply_is_that_of_an_independent_integration():
    solution = truth(4)
    t = np.linspace(0.0, END, 20001)
    y = solution.sol(t)
    n, ambient, supply = DRIVE.exponent, DRIVE.ambient_pressure, DRIVE.supply_pressure
    worth = n / (n - 1.0) * (1.0 - (ambient / supply) ** (1.0 - 1.0 / n))
    power = sum(
        np.array([max(x, 0.0) * worth * (flow(supply, p) if p < supply else 0.0) for p, x in zip(y[2 + i], y[4 + i])])
        for i in (0, 1)
    )
    expected = float(np.trapezoid(power, t))
    found = run(4, 2.5e-4)[1].audit.balance().motors
    assert found == pytest.approx(expected, rel=5e-3)


def random_case(rng):
    """Return an actuator of a new law with random parameters and options, and random commands."""
    mode = int(rng.integers(7))
    options = {"mode": mode}
    if rng.random() < 0.5:
        lugre = {"stribeck_velocity": 0.1, "breakaway": 0.05} if rng.random() < 0.5 else {}
        options["link_friction"] = PreslidingFriction(
            torque=rng.uniform(0.01, 0.3),
            stiffness=rng.uniform(20.0, 300.0),
            load_coefficient=rng.uniform(0.0, 0.3),
            **lugre,
        )
    options["command_delay"] = float(rng.choice([0.0, 3e-3, 2e-2]))
    options["reference_slew_1"] = float(rng.choice([math.inf, 2.0, 5e4]))
    options["link_damping"] = float(rng.choice([0.0, 0.05]))
    if rng.random() < 0.5:
        clip = str(rng.choice(["linear", "flat", "stop"]))
        law = TableSEA(clip=clip, torque_scale=rng.uniform(0.1, 3.0), stop_stiffness=rng.uniform(10.0, 300.0))
        scale = (3.0, 1.0) if mode != 4 else (8.0, 1.0)
        return CompliantActuator(law, **options), scale
    angle, k = rng.uniform(0.2, 0.6), rng.uniform(1.0, 1.5)
    most = (1.0 - 1.0 / (math.sqrt(3.0) * math.cos(angle))) / k
    contraction, length, arm = rng.uniform(0.2, 0.8) * most, rng.uniform(0.1, 0.5), rng.uniform(0.01, 0.04)
    law = McKibben(
        radius=rng.uniform(0.004, 0.012), length=length, braid_angle=angle, end_correction=k, contraction=contraction,
        pulley_radius=arm, max_deflection=0.99 * contraction * length / arm, clip=str(rng.choice(["flat", "stop"])),
        stop_stiffness=rng.uniform(10.0, 300.0),
    )  # fmt: skip
    drives = [
        PneumaticDrive(
            supply_pressure=rng.uniform(2e5, 9e5),
            conductance=10.0 ** rng.uniform(-10.0, -6.5),
            critical_ratio=rng.uniform(0.0, 0.6),
            time_constant=float(rng.choice([0.0, 2e-3, 0.05])),
            dead_volume=10.0 ** rng.uniform(-6.0, -4.0),
            exponent=float(rng.choice([1.0, 1.2, 1.4])),
        )
        for _ in range(2)
    ]  # fmt: skip
    gains = {} if mode == 1 else {"pid_1": PID(kp=10.0 ** rng.uniform(-6.0, -4.0), ki=1e-5, kd=0.0)}
    options["initial_preset"] = rng.uniform(0.0, 4e5)
    actuator = CompliantActuator(law, motor_1=drives[0], motor_2=drives[1], **gains, **options)
    return actuator, {2: (5e5, 5e5), 5: (5e5, 5e5), 3: (2.0, 4e5), 6: (2.0, 4e5)}.get(mode, (1.5, 1.5))


def run_random(seed, seconds):
    rng = np.random.default_rng(seed)
    actuator, (one, two) = random_case(rng)
    dt = 5e-4
    engine = MujocoEngine(bench(actuator, dt=dt, damping=0.065, gravity=-9.81), check=False)
    r1 = engine.port("joint/reference_1")
    r2 = engine.port("joint/reference_2") if "joint/reference_2" in engine.ports() else np.zeros(1)
    for _ in range(20):
        r1[0], r2[0] = rng.uniform(-one, one), rng.uniform(-0.2 * two, two)
        engine.step(round(seconds / 20 / dt))
    state = np.concatenate([engine.data.qpos, engine.data.qvel, engine.data.act])
    assert np.isfinite(state).all(), (seed, actuator)
    assert math.isfinite(engine.port("joint/torque")[0]), (seed, actuator)


def test_random_parameters_options_and_commands_run_without_nan():
    for seed in range(30):
        run_random(seed, 0.5)


@pytest.mark.nightly
@pytest.mark.slow
def test_a_thousand_random_parameters_options_and_commands_run_two_seconds_without_nan():
    for seed in range(1000):
        run_random(10_000 + seed, 2.0)


def test_a_mode_change_keeps_the_mean_pressure():
    engine = MujocoEngine(bench(CompliantActuator(LAW, mode=6, motor_1=DRIVE)), check=False)
    engine.port("joint/reference_2")[0] = 2.5e5
    engine.step(1000)
    assert engine.port("joint/preset")[0] == pytest.approx(2.5e5, rel=0.02)
    engine.set_mode("joint", 5)
    assert engine.port("joint/reference_1")[0] + engine.port("joint/reference_2")[0] == pytest.approx(5e5, rel=0.02)
    engine.step(200)
    assert engine.port("joint/preset")[0] == pytest.approx(2.5e5, rel=0.02)


def test_worlds_of_a_batch_have_their_own_muscles_and_air():
    robot = bench(CompliantActuator(LAW, mode=6, motor_1=DRIVE), damping=1.0, dt=1e-3)
    batch = CpuBatch(robot, 2)
    arms, exponents = np.array([0.02, 0.025]), np.array([1.0, 1.4])
    batch.set_parameters({"joint.pulley_radius": arms, "joint.motor_1.exponent": exponents}, np.ones(2, dtype=bool))
    batch.reset()  # the air at rest is that of the new parameters
    batch.write("joint/reference_1", 0.3)
    batch.write("joint/reference_2", 2e5)
    batch.step(500)
    for world, (arm, exponent) in enumerate(zip(arms, exponents)):
        drive = dataclasses.replace(DRIVE, exponent=float(exponent))
        actuator = CompliantActuator(LAW.replace(pulley_radius=float(arm)), mode=6, motor_1=drive, motor_2=DRIVE)
        engine = MujocoEngine(bench(actuator, damping=1.0, dt=1e-3), check=False)
        engine.port("joint/reference_1")[0], engine.port("joint/reference_2")[0] = 0.3, 2e5
        engine.step(500)
        for name in ("position", "motor_1_position", "motor_2_position"):
            assert batch.read(f"joint/{name}")[world, 0] == pytest.approx(
                float(engine.port(f"joint/{name}")[0]), rel=1e-3
            )


def test_without_a_preset_plain_mujoco_starts_with_the_usual_pressure():
    model = load("pam-1dof").compile()
    data = mujoco.MjData(model)
    hold_pose(model, data)
    assert data.ctrl[1] == USUAL_PRESETS["pressure"]

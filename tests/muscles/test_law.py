"""A pair of McKibben muscles has the forces of Chou and Hannaford and of Tondu and Lopez, and one potential."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from pliant.base.errors import LawError, ModelError
from pliant.control.gravity import equilibrium_for_torque, preset_for_stiffness
from pliant.identification.data_sheet import datasheet
from pliant.laws import (
    PID,
    SEA,
    Backlash,
    CompliantActuator,
    Creep,
    DCMotor,
    Hysteresis,
    Law,
    Mode,
    QbMove,
    Strength,
)
from pliant.laws import law as register
from pliant.muscles import McKibben, PneumaticDrive, closed_stiffness, muscle_friction
from pliant.muscles.law import muscle

LAW = McKibben()
CYLINDER = LAW.replace(end_correction=1.0)


def test_without_end_correction_the_force_is_that_of_chou_and_hannaford():
    """F = p b^2 (3 cos^2 - 1) / (4 pi n^2), V = L (b^2 - L^2) / (4 pi n^2), from the thread's length b and turns n."""
    b = LAW.length / math.cos(LAW.braid_angle)
    turns = b * math.sin(LAW.braid_angle) / (2.0 * math.pi * LAW.radius)
    for contraction in np.linspace(0.0, 0.35, 15):
        length = LAW.length * (1.0 - contraction)
        area, volume, _ = muscle(CYLINDER.parameters(), contraction)
        assert area == pytest.approx(b**2 * (3.0 * (length / b) ** 2 - 1.0) / (4.0 * math.pi * turns**2), rel=1e-12)
        assert volume == pytest.approx(length * (b**2 - length**2) / (4.0 * math.pi * turns**2), rel=1e-12)


def test_the_force_at_rest_is_the_published_order_of_magnitude():
    # Tondu and Lopez 2000: a muscle of 1.5 cm "can easily develop more than 1000 N under 5 bar".
    area, _, _ = muscle(LAW.parameters(), 0.0)
    assert 5e5 * area == pytest.approx(1085.0, abs=1.0)


@pytest.mark.parametrize("law", [LAW, CYLINDER], ids=["corrected", "cylinder"])
def test_the_force_is_the_pressure_times_the_derivative_of_the_volume(law):
    p = law.parameters()
    for contraction in np.linspace(-0.05, 0.5, 56):
        step = 1e-6
        area, _, slope = muscle(p, contraction)
        up, down = muscle(p, contraction + step), muscle(p, contraction - step)
        assert area == pytest.approx((up[1] - down[1]) / (2.0 * step * law.length), abs=1e-9)
        if abs(contraction - law.largest_contraction) > 2.0 * step:
            assert slope == pytest.approx((up[0] - down[0]) / (2.0 * step), abs=1e-8)


def test_a_muscle_at_its_largest_contraction_is_slack_and_never_pushes():
    p = LAW.parameters()
    assert muscle(p, LAW.largest_contraction - 1e-6)[0] > 0.0
    assert muscle(p, LAW.largest_contraction + 1e-12)[0] == 0.0
    assert muscle(p, 2.0)[0] == 0.0
    assert CYLINDER.largest_contraction == pytest.approx(1.0 - 1.0 / (math.sqrt(3.0) * math.cos(LAW.braid_angle)))


def test_torque_and_stiffness_of_the_pair_are_those_of_two_muscles_on_a_pulley():
    a, b = 3.0 / math.tan(LAW.braid_angle) ** 2, 1.0 / math.sin(LAW.braid_angle) ** 2
    section, r, k = math.pi * LAW.radius**2, LAW.pulley_radius, LAW.end_correction
    q, p_1, p_2 = 0.4, 3.0e5, 1.2e5
    e_1, e_2 = (LAW.contraction + sign * r * q / LAW.length for sign in (1.0, -1.0))
    f_1, f_2 = (section * (a * (1.0 - k * e) ** 2 - b) for e in (e_1, e_2))
    values = LAW.evaluate(q, p_1, p_2)
    assert values.torque == pytest.approx(r * (p_1 * f_1 - p_2 * f_2), rel=1e-12)
    slope = 2.0 * section * a * k * r**2 / LAW.length
    assert values.stiffness == pytest.approx(slope * (p_1 * (1.0 - k * e_1) + p_2 * (1.0 - k * e_2)), rel=1e-12)


def test_loads_and_torque_are_the_gradient_of_the_potential():
    rng = np.random.default_rng(0)
    for law in (LAW, LAW.replace(clip="stop", stop_stiffness=200.0)):
        for q, p_1, p_2 in zip(rng.uniform(-2.0, 2.0, 200), *rng.uniform(0.0, 5e5, (2, 200))):
            values = law.evaluate(q, p_1, p_2)
            push = 10.0  # exact: the potential is linear in the pressures
            for load, dp in ((values.load_1, (push, 0.0)), (values.load_2, (0.0, push))):
                up, down = law.evaluate(q, p_1 + dp[0], p_2 + dp[1]), law.evaluate(q, p_1 - dp[0], p_2 - dp[1])
                assert load == pytest.approx((up.energy - down.energy) / (2.0 * push), rel=1e-7)
            up, down = law.evaluate(q + 1e-5, p_1, p_2), law.evaluate(q - 1e-5, p_1, p_2)
            assert values.torque == pytest.approx((down.energy - up.energy) / 2e-5, abs=2e-4)


@pytest.mark.parametrize("preset", [0.5e5, 1.5e5, 3.0e5])
def test_the_references_are_an_isobaric_equilibrium_of_the_wanted_mean_pressure(preset):
    for q in np.linspace(-1.2, 1.2, 13):
        p_1, p_2 = LAW.map_references(q, preset)
        assert 0.5 * (p_1 + p_2) == pytest.approx(preset)
        assert min(p_1, p_2) >= 0.0
        values = LAW.evaluate(q, p_1, p_2)
        assert values.torque == pytest.approx(0.0, abs=1e-10)
        assert values.stiffness > 0.0


def test_the_stiffness_at_the_middle_is_proportional_to_the_preset():
    one, two = (LAW.evaluate(0.0, *LAW.map_references(0.0, p)).stiffness for p in (1e5, 3e5))
    assert two == pytest.approx(3.0 * one, rel=1e-12)


@pytest.mark.parametrize("exponent", [1.0, 1.2, 1.4])
def test_trapped_air_adds_the_stiffness_of_a_closed_volume(exponent):
    drive, q, p_1, p_2 = PneumaticDrive(exponent=exponent), 0.3, 2.5e5, 1.0e5
    air = drive.ambient_pressure

    def torque(at):
        start, now = LAW.evaluate(q, p_1, p_2), LAW.evaluate(at, p_1, p_2)
        found = [
            (p + air) * ((drive.dead_volume - a) / (drive.dead_volume - b)) ** exponent - air
            for p, a, b in ((p_1, start.load_1, now.load_1), (p_2, start.load_2, now.load_2))
        ]
        return LAW.evaluate(at, *found).torque

    slope = -(torque(q + 1e-5) - torque(q - 1e-5)) / 2e-5
    assert closed_stiffness(LAW, q, p_1, p_2, drive) == pytest.approx(slope, rel=1e-7)
    assert slope > LAW.evaluate(q, p_1, p_2).stiffness


def test_the_friction_of_the_threads_is_a_force_and_a_share_of_the_pressure():
    friction = muscle_friction(LAW, force=2.5, pressure_area=2e-5)
    assert friction.torque == pytest.approx(2.0 * LAW.pulley_radius * 2.5)
    assert friction.preset_coefficient * 2e5 == pytest.approx(2.0 * LAW.pulley_radius * 2e-5 * 2e5)


@pytest.mark.parametrize("slow", [2.0, 1.0])
def test_the_hysteresis_loop_has_the_width_of_the_friction_at_any_speed(slow):
    friction = muscle_friction(LAW)
    actuator = CompliantActuator(LAW, mode=Mode.SPRING_REFS, link_friction=friction)
    t = np.arange(0.0, 4.0 * slow, 1e-3)
    q = 0.5 * np.sin(2.0 * math.pi * t / (2.0 * slow))
    found = actuator.simulate(q, None, 2e5, 1e5).torque
    upwards, downwards = round(2.0 * slow / 1e-3), round(3.0 * slow / 1e-3)
    assert abs(q[upwards]) + abs(q[downwards]) < 1e-9
    width = found[downwards] - found[upwards]
    level = friction.torque + friction.preset_coefficient * 1.5e5
    slope = LAW.evaluate(0.0, 2e5, 1e5).stiffness
    assert width == pytest.approx(2.0 * level, abs=slope * 1e-3)


WRONG = [
    ({"max_deflection": 2.0}, "max_deflection", "stretched to 1.017 of its length"),
    ({"contraction": 0.31, "max_deflection": 0.5}, "contraction", "must be below the largest contraction .* 0.3085"),
    ({"braid_angle": 1.0}, "braid_angle", "from 0.01 to 0.95"),
    ({"radius": 0.0}, "radius", "> 0"),
    ({"end_correction": 0.1}, "end_correction", "from 0.5 to 3"),
]


@pytest.mark.parametrize(("values", "field", "message"), WRONG)
def test_a_geometry_that_no_muscle_has_is_refused(values, field, message):
    with pytest.raises(LawError, match=message) as caught:
        McKibben(**values)
    assert caught.value.field == field


def test_an_actuator_of_muscles_has_valves_and_no_motors():
    actuator = CompliantActuator(LAW)
    assert isinstance(actuator.motor_1, PneumaticDrive)
    assert actuator.motor_2 == actuator.motor_1
    assert actuator.initial_preset == 1.5e5
    assert CompliantActuator(LAW, motor_1=PneumaticDrive(exponent=1.0)).motor_2.exponent == 1.0
    refused = [
        ({"motor_1": DCMotor(inertia=0.1)}, "needs a PneumaticDrive as motor_1"),
        ({"pid_1": PID(kp=1e-5, kd=1.0)}, "pid_1 controls a pressure; kd must be 0"),
        ({"pid_2": PID(kp=1e-5, kd=0.0, velocity_feedforward=True)}, "pid_2 controls a pressure"),
        ({"initial_preset": -1.0}, "gauge pressure of -1 Pa; must be >= 0"),
    ]
    for values, message in refused:
        with pytest.raises(LawError, match=message):
            CompliantActuator(LAW, **values)
    for law in (SEA(), QbMove()):
        with pytest.raises(LawError, match="has motors; motor_1 must be a DCMotor"):
            CompliantActuator(law, motor_1=PneumaticDrive())


def test_changing_between_motors_and_muscles_takes_the_defaults_of_the_other(tmp_path):
    import pliant

    robot = pliant.load("pam-1dof")
    robot.set("joint.law", "qbmove")
    assert robot.actuators["joint"].motor_1 == robot.actuators["joint"].motor_2 == DCMotor()
    robot.set("joint.law", "pam")
    assert robot.actuators["joint"].motor_1 == PneumaticDrive()
    assert robot.actuators["joint"].pid_1.kd == 0.0
    robot.set("joint.motor_1.exponent", "1.0")
    assert robot.actuators["joint"].motor_1.exponent == 1.0
    path = tmp_path / "arm.yaml"
    path.write_text(
        "model: pam-1dof\nactuators:\n  joint:\n    braid_angle: 0.4\n    motor_2: {supply_pressure: 1e4}\n"
    )
    with pytest.raises(ModelError, match=r"arm.yaml:5: .*supply_pressure 10000 Pa must be above ambient"):
        pliant.load(path)


def test_gravity_compensation_holds_a_load_with_pressures():
    law, preset, load = LAW, 2e5, 3.0
    for q in (-0.6, 0.0, 0.5):
        equilibrium = equilibrium_for_torque(law, q, load, preset)
        values = law.evaluate(q, *law.map_references(equilibrium, preset))
        assert values.torque == pytest.approx(load, abs=1e-9)
    with pytest.raises(LawError, match="the joint has to give 100 N m, its spring gives"):
        equilibrium_for_torque(law, 0.0, 100.0, preset)
    stiffness = law.evaluate(0.0, *law.map_references(0.0, 2.2e5)).stiffness
    assert preset_for_stiffness(law, float(stiffness)) == pytest.approx(2.2e5)


def test_a_data_sheet_of_muscles_has_curves_at_their_pressures():
    sheet = datasheet(CompliantActuator(LAW, link_friction=muscle_friction(LAW)))
    assert [c["preset"] for c in sheet["curves"]] == pytest.approx([0.6e5, 1.2e5, 1.8e5, 2.4e5, 3.0e5])
    assert sheet["stiffness_range"][1] == pytest.approx(5.0 * sheet["stiffness_range"][0], rel=1e-6)
    assert sheet["servo"] is None


@pytest.mark.parametrize(
    "block",
    [{"hysteresis": Hysteresis(torque=1.0, deflection=0.1)}, {"creep": Creep(stiffness=1.0, time=1.0)},
     {"strength": Strength(yield_torque=1.0)}, {"link_backlash": Backlash(width=0.01)}],
    ids=lambda block: next(iter(block)),
)  # fmt: skip
def test_a_muscle_has_no_blocks_of_a_spring(block):
    with pytest.raises(LawError, match=f"has no {next(iter(block))}, which belongs to a spring"):
        CompliantActuator(McKibben(), mode=Mode.SPRING_REFS, **block)


def test_a_law_of_pressures_without_a_step_of_its_own_is_refused():
    body = {
        "__module__": __name__,
        "second_input": "pressure",
        "energy": staticmethod(lambda q, theta_1, theta_2, p: 0.0),
    }
    with pytest.raises(LawError, match="derive the class from a law of pressures"):
        register("dry")(dataclass(frozen=True)(type("Dry", (Law,), body)))

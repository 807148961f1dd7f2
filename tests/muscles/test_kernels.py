"""The chambers of muscles: flow of ISO 6358, work of an ideal gas, commands by mode."""

import math

import numpy as np
import pytest

from pliant.base.errors import LawError
from pliant.laws import PID, CompliantActuator, Mode
from pliant.muscles import McKibben, PneumaticDrive
from pliant.muscles.kernels import content_step, flow_energy, gas_energy, gas_pressure, valve_flow

LAW = McKibben()
EXPONENTS = pytest.mark.parametrize("exponent", [1.0, 1.2, 1.4])


def row(drive):
    return drive.pack()


def test_the_choked_flow_is_the_conductance_times_the_upstream_pressure():
    # ISO 6358-1: m' = C rho_0 P_u at the reference temperature, rho_0 = 1.185 kg/m^3.
    # The kernel gives m' R T with the gas constant of dry air.
    par = row(PneumaticDrive(conductance=2e-8, critical_ratio=0.3))
    assert valve_flow(par, 0, 7e5, 2e5) / (287.05 * 293.15) == pytest.approx(2e-8 * 1.185 * 7e5, rel=4e-3)
    assert valve_flow(par, 0, 7e5, 0.3 * 7e5) == valve_flow(par, 0, 7e5, 1e5)


def test_the_unchoked_flow_is_a_quarter_of_an_ellipse_and_vanishes_between_equal_pressures():
    par, b = row(PneumaticDrive(critical_ratio=0.25)), 0.25
    for ratio in (0.3, 0.5, 0.7, 0.9, 0.998):
        expected = math.sqrt(1.0 - ((ratio - b) / (1.0 - b)) ** 2)
        assert valve_flow(par, 0, 6e5, ratio * 6e5) / valve_flow(par, 0, 6e5, 1e5) == pytest.approx(expected, rel=1e-12)
    near = [valve_flow(par, 0, 6e5, 6e5 * (1.0 - x)) for x in (0.0, 2.5e-4, 5e-4, 1e-3)]
    assert near == pytest.approx([0.0, 0.25 * near[3], 0.5 * near[3], near[3]], rel=1e-9)


@EXPONENTS
def test_the_energy_of_the_air_is_the_work_of_its_expansion_to_the_ambient_pressure(exponent):
    from scipy.integrate import quad

    par = row(PneumaticDrive(exponent=exponent))
    ambient, volume = 101325.0, 2e-4
    for pressure in (0.6e5, 1.0e5, 3.0e5, 7.0e5):
        content = volume * (pressure / ambient) ** (1.0 / exponent)
        work, _ = quad(lambda v, w=content: gas_pressure(par, 0, w, v) - ambient, volume, content)
        assert gas_pressure(par, 0, content, volume) == pytest.approx(pressure)
        assert gas_energy(par, 0, content, volume) == pytest.approx(work, rel=1e-9, abs=1e-9)
    assert gas_energy(par, 0, volume, volume) == 0.0


@EXPONENTS
def test_air_brings_its_flow_energy_into_a_chamber(exponent):
    par = row(PneumaticDrive(exponent=exponent))
    ambient, volume = 101325.0, 2e-4
    for pressure in (1.5e5, 4e5):
        y = (pressure / ambient) ** (1.0 / exponent)
        step = 1e-9
        up, down = gas_energy(par, 0, y * volume + step, volume), gas_energy(par, 0, y * volume - step, volume)
        # R T m' = P_a W' (P / P_a)^(1 - 1/n)
        heat = ambient * (pressure / ambient) ** (1.0 - 1.0 / exponent)
        assert (up - down) / (2.0 * step) == pytest.approx(heat * flow_energy(par, 0, pressure), rel=1e-6)


@EXPONENTS
@pytest.mark.parametrize("opening", [1.0, 0.2, -0.2, -1.0])
def test_no_step_takes_the_pressure_past_that_on_the_other_side_of_the_valve(exponent, opening):
    drive = PneumaticDrive(exponent=exponent, conductance=1e-6)
    par, volume = row(drive), 1e-4
    other = drive.supply_pressure if opening > 0.0 else drive.ambient_pressure
    for pressure in (0.5e5, 1.01e5, 3e5, 6.99e5, 9e5):
        content = volume * (pressure / drive.ambient_pressure) ** (1.0 / exponent)
        for h in (1e-5, 1e-3, 0.1):
            after = gas_pressure(par, 0, content_step(par, 0, content, volume, opening, h), volume)
            assert min(pressure, other) * (1 - 1e-9) <= after <= max(pressure, other) * (1 + 1e-9)
    assert content_step(par, 0, 3e-4, volume, 0.0, 1.0) == 3e-4


def test_a_closed_chamber_keeps_its_air_whatever_the_joint_does():
    actuator = CompliantActuator(LAW, mode=Mode.MOTOR_TORQUES)
    t = np.arange(1000) * 1e-3
    found = actuator.simulate(0.8 * np.sin(9.0 * t), None, 0.0, 0.0)
    drive = actuator.motor_1
    volume = drive.dead_volume - found.load_1
    state = (found.motor_1_position + drive.ambient_pressure) * volume**drive.exponent
    np.testing.assert_allclose(state, state[0], rtol=1e-9)
    assert np.ptp(found.motor_1_position) > 2e4


@pytest.mark.parametrize("mode", [5, 6])
def test_the_controllers_reach_pressures_of_an_isobaric_equilibrium(mode):
    actuator = CompliantActuator(
        LAW, mode=mode, pid_1=PID(kp=2e-5, ki=1e-4, kd=0.0), pid_2=PID(kp=2e-5, ki=1e-4, kd=0.0)
    )
    q = np.full(3000, 0.4)
    refs = LAW.map_references(0.4, 2.5e5)
    found = actuator.simulate(q, 0.0 * q, *(refs if mode == 5 else (0.4, 2.5e5)))
    assert found.motor_1_position[-1] == pytest.approx(refs[0], rel=1e-3)
    assert found.motor_2_position[-1] == pytest.approx(refs[1], rel=1e-3)
    assert found.preset[-1] == pytest.approx(2.5e5, rel=1e-3)
    assert found.equilibrium[-1] == pytest.approx(0.4, abs=1e-3)
    assert 0.9 < np.abs(found.motor_1_effort).max() <= 1.0


@pytest.mark.parametrize("mode", [2, 3])
def test_ideal_pressures_are_those_that_the_supply_can_give(mode):
    actuator = CompliantActuator(LAW, mode=mode)
    top = actuator.motor_1.max_position
    found = actuator.simulate(np.zeros(2), np.zeros(2), *((2e6, 0.0) if mode == 2 else (0.0, 2e6)))
    assert found.motor_1_position[0] == pytest.approx(top)
    assert found.motor_2_position[0] == pytest.approx(0.0 if mode == 2 else top)


def test_the_exhaust_loses_and_the_valve_never_gains_energy():
    actuator = CompliantActuator(LAW, mode=4)
    t = np.arange(4000) * 1e-3
    command = np.sign(np.sin(3.0 * t))
    found = actuator.simulate(0.5 * np.sin(5.0 * t), None, command, -command)
    assert (found.valve_power >= -1e-3).all()
    assert (found.supply_power[command < 0.0] < 3e3).all()
    assert found.motor_1_position.max() <= actuator.motor_1.max_position * 1.2
    assert found.motor_1_position.min() >= -0.3e5


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"supply_pressure": 1e5}, "supply_pressure 100000 Pa must be above ambient_pressure 101325 Pa"),
        ({"exponent": 0.9}, "exponent is 0.9; must be a number from 1 to 1.5"),
        ({"conductance": 0.0}, "conductance is 0; must be a number > 0"),
        ({"critical_ratio": 1.0}, "critical_ratio is 1; must be a number from 0 to 0.9"),
        ({"dead_volume": 0.0}, "dead_volume is 0"),
        ({"time_constant": -1.0}, "time_constant is -1"),
        ({"supply_pressure": math.nan}, "supply_pressure is nan"),
    ],
)
def test_a_drive_that_cannot_be_is_refused(values, message):
    with pytest.raises(LawError, match=message):
        PneumaticDrive(**values)


def test_a_negative_mean_pressure_is_refused():
    with pytest.raises(LawError, match="ref_2 is a gauge pressure of -1 Pa; must be >= 0"):
        CompliantActuator(LAW, mode=3).simulate(np.zeros(2), np.zeros(2), 0.0, -1.0)

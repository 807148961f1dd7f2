"""Anti-windup stops the integration at every limit that cuts the output of a controller."""

import math

import numpy as np
import pytest

from pliant.laws import PID, SEA, AwAS2, CompliantActuator, DCMotor, Mode, QbMove, layout, motor_kernels
from pliant.laws.motor import Electrical

DT = 1e-3
FREE = SEA(k=0.0)
GAINS = {"ki": 200.0}
SUPPLY = 1.0 * 2.3 / 0.8  # K_t V / R = 1 N m

LIMITS = {
    "torque": DCMotor(max_torque=1.0),
    "supply voltage": DCMotor(max_torque=math.inf, electrical=Electrical(supply_voltage=SUPPLY)),
    "supply voltage, inductance": DCMotor(
        max_torque=math.inf, electrical=Electrical(supply_voltage=SUPPLY, inductance=0.01)
    ),
    "speed": DCMotor(max_torque=math.inf, limit_velocity=True, max_velocity=1.0),
    "torque-speed line": DCMotor(max_torque=20.0, torque_speed=True, max_velocity=1.0),
}
"""Motors with one limit each, in a step that reaches it for most of the way."""


def overshoot(motor, pid, sign=1.0):
    """Return the overshoot of a step of 1 rad [rad]."""
    actuator = CompliantActuator(FREE, mode=Mode.PID_REFS, motor_1=motor, pid_1=pid)
    traces = actuator.simulate(np.zeros(3000), np.zeros(3000), sign, 0.0, DT)
    return (sign * traces.motor_1_position).max() - 1.0


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("name", LIMITS)
def test_every_limit_of_the_output_stops_the_integration(name, sign):
    motor = LIMITS[name]
    plain, guarded = overshoot(motor, PID(**GAINS), sign), overshoot(motor, PID(**GAINS, anti_windup=True), sign)
    assert plain > 0.25
    assert guarded < 0.02 * plain


def test_a_limit_by_the_supply_voltage_is_the_torque_limit_that_it_makes():
    # Without back-EMF both motors get the same torque, so the controllers must do the same.
    guard = PID(**GAINS, anti_windup=True)
    electrical = Electrical(supply_voltage=SUPPLY, back_emf_constant=0.0)
    by_torque = overshoot(DCMotor(max_torque=1.0), guard)
    assert by_torque == pytest.approx(5.7e-3, abs=0.05e-3)
    assert overshoot(DCMotor(max_torque=math.inf, electrical=electrical), guard) == pytest.approx(by_torque, rel=1e-9)
    # With back-EMF the winding brakes; which of the two limits cuts the command makes no difference.
    electrical = Electrical(supply_voltage=SUPPLY)
    by_both = overshoot(DCMotor(max_torque=1.0, electrical=electrical), guard)
    assert overshoot(DCMotor(max_torque=math.inf, electrical=electrical), guard) == pytest.approx(by_both, rel=1e-9)


@pytest.mark.parametrize("velocity", [-3.0, 0.0, 0.7, 3.0])
@pytest.mark.parametrize(
    "given",
    [
        {"supply_voltage": SUPPLY},
        {"supply_voltage": SUPPLY, "supply_resistance": 0.5},
        {"max_current": 1.0},
        {"supply_voltage": SUPPLY, "supply_resistance": 2.0, "max_current": 0.3},
    ],
    ids=lambda given: "-".join(given),
)
def test_the_integration_stops_where_a_larger_command_gives_no_more_torque(given, velocity):
    par = np.zeros(layout.PARAMETERS)
    layout.pack_motor(par, layout.M_1, DCMotor(max_torque=math.inf, electrical=Electrical(**given)))
    low, high = motor_kernels.effective_limits(par, layout.M_1, 0.0, velocity)

    def torque(command):
        return motor_kernels.motor_torques(par, layout.M_1, 0.0, velocity, 0.0, 0.0, 20.0, command, 0.0, 0.0, DT)[0]

    assert low < high
    for limit, beyond in ((high, 0.1), (low, -0.1)):
        assert torque(limit + beyond) == pytest.approx(torque(limit), abs=1e-12)
        assert abs(torque(limit - beyond) - torque(limit)) > 0.05


@pytest.mark.parametrize("second", ["motor 1", "motor 2", "lever"])
def test_a_motor_that_was_pressed_against_its_stop_leaves_it_at_once(second):
    law = {"motor 1": FREE, "motor 2": QbMove(k1=0.0, k2=0.0), "lever": AwAS2()}[second]
    top = 0.02 if second == "lever" else 0.5
    n, field = 2000, "motor_1" if second == "motor 1" else "motor_2"
    reference = np.where(np.arange(n) < 1500, 1.5 * top, 0.8 * top)

    def left_after(anti_windup):
        actuator = CompliantActuator(law, mode=Mode.PID_REFS, initial_preset=0.01 if second == "lever" else 0.0)
        block, pid = getattr(actuator, field), getattr(actuator, field.replace("motor", "pid"))
        changed = pid.__class__(kp=pid.kp, ki=10.0 * pid.kp, kd=pid.kd, anti_windup=anti_windup)
        limited = block.__class__(max_position=top, min_position=0.0)
        actuator = actuator.replace(**{field: limited, field.replace("motor", "pid"): changed})
        given = {"ref_1": reference, "ref_2": 0.0} if field == "motor_1" else {"ref_1": 0.0, "ref_2": reference}
        position = actuator.simulate(np.zeros(n), np.zeros(n), **given, dt=DT).values[f"{field}_position"]
        assert position[1499] == top
        return int(np.argmax(position[1500:] < top)) if (position[1500:] < top).any() else n

    assert left_after(False) > 100
    assert left_after(True) <= 20


def test_the_integral_still_decreases_while_the_output_is_cut():
    # An integral that is too large must come down although the output is beyond the limit.
    actuator = CompliantActuator(FREE, mode=5, motor_1=DCMotor(max_torque=1.0), pid_1=PID(**GAINS, anti_windup=True))
    state, _ = actuator.hold(0.0, DT)
    state[3] = 50.0
    traces = actuator.simulate(np.zeros(4000), np.zeros(4000), 0.0, 0.0, DT, state=state)
    assert traces.motor_1_effort[0] == 1.0
    assert traces.motor_1_position.max() > 0.1
    assert abs(traces.motor_1_position[-1]) < 0.005

"""What a control board makes its joints do: controllers, impedance, torques, limits, faults, against statics."""

import numpy as np
import pytest
from tests.helpers.control_boards import DEGREE, DT, arm

from pliant.base.errors import DeviceError
from pliant.control_boards.layout import ControlMode


def hold(rig, joint, q, v=0.0):
    """Put a joint of the model somewhere, with a speed."""
    rig.engine.port(f"{joint}/position")[0] = q
    rig.engine.port(f"{joint}/velocity")[0] = v
    rig.engine.forward()


def asked(rig, joint="wrist"):
    """Return the torque that the board asks of a joint now."""
    rig.board.write()
    return float(rig.engine.port(f"{joint}/control")[0])


def test_the_position_controller_is_minus_kp_e_minus_ki_integral_minus_kd_rate():
    rig = arm(
        joints=("wrist",), position_kp=(40.0,), position_ki=(7.0,), position_kd=(3.0,), position_max_integral=(9.0,)
    )
    rig.board.set_control_mode("position_direct")
    rig.board.refer("position_direct", [0.25])
    integral = 0.0
    for q, v in [(0.1, 0.0), (0.12, 0.4), (0.3, -0.2)]:
        hold(rig, "wrist", q, v)
        e = q - 0.25
        integral += e * DT
        assert asked(rig) == pytest.approx(-(40.0 * e + 7.0 * integral + 3.0 * v), abs=1e-12)


def test_integral_part_and_output_keep_their_limits():
    rig = arm(joints=("wrist",), position_kp=(1.0,), position_ki=(1e4,), position_kd=(0.0,))
    rig.board.set_gains("position", max_integral=2.0, max_output=2.5)
    rig.board.set_control_mode("position_direct")
    rig.board.refer("position_direct", [1.0])
    for _ in range(50):
        assert asked(rig) <= 2.5
    assert asked(rig) == 2.5
    rig.board.set_gains("position", max_output=100.0)
    assert asked(rig) == pytest.approx(1.0 + 2.0)


def test_offset_and_feedforward_are_added_and_a_disabled_controller_gives_nothing():
    rig = arm(joints=("wrist",), position_kp=(10.0,))
    rig.board.set_controller("offset", "position", [0.5])
    rig.board.set_controller("feedforward", "position", [0.25])
    assert asked(rig) == pytest.approx(0.75)
    rig.board.set_controller("enabled", "position", [0.0])
    assert asked(rig) == 0.0


def test_an_error_limit_clips_the_error():
    rig = arm(joints=("wrist",), position_kp=(10.0,), position_kd=(0.0,))
    rig.board.set_controller("error_limit", "position", [0.1])
    hold(rig, "wrist", 1.0)
    assert asked(rig) == pytest.approx(-1.0)


def test_a_compliant_axis_is_a_spring_a_damper_and_an_offset():
    rig = arm(joints=("wrist",))
    rig.board.set_interaction_mode("compliant")
    rig.board.set_impedance(0, 12.0, 0.7)
    rig.board.set_torque_offset(0, 0.3)
    hold(rig, "wrist", 0.4, -1.5)
    assert asked(rig) == pytest.approx(-12.0 * 0.4 + 0.7 * 1.5 + 0.3, abs=1e-12)


def test_a_compliant_axis_yields_by_load_over_stiffness():
    rig = arm(joints=("wrist",))
    rig.board.set_interaction_mode("compliant")
    rig.board.set_impedance(0, 10.0, 2.0)
    rig.engine.port("wrist/external_torque")[0] = 1.5
    rig.step(6000)
    assert rig.board.read_row("position")[0] == pytest.approx(0.15, abs=1e-6)


def test_a_torque_is_exact_and_accelerates_the_link_by_torque_over_inertia():
    rig = arm(joints=("wrist",))
    rig.board.set_control_mode("torque")
    rig.board.refer("torque", [0.2])
    rig.step(200)
    assert rig.board.read_row("torque")[0] == pytest.approx(0.2, abs=1e-12)
    assert rig.board.read_row("velocity")[0] == pytest.approx(0.2 / 0.05 * 199 * DT, rel=1e-9)


def test_current_and_duty_cycle_are_torques_by_their_constant():
    rig = arm(joints=("wrist",), torque_per_duty=(0.04,))
    rig.board.set_control_mode("current")
    rig.board.refer("current", [5.0])
    assert asked(rig) == pytest.approx(0.2)
    rig.engine.step()
    rig.board.write()
    assert rig.board.read_row("current")[0] == pytest.approx(5.0)
    rig.board.set_control_mode("pwm")
    rig.board.refer("pwm", [250.0])
    assert rig.board.read_row("duty_reference")[0] == 100.0
    assert asked(rig) == pytest.approx(4.0)


def test_torque_mode_begins_with_the_torque_that_acts():
    rig = arm(gravity=-9.81)
    rig.board.set_control_mode("position")
    rig.board.move([0.7, 0.0, 0.0])
    rig.board.set_speed(2.0)
    rig.step(4000)
    before = rig.board.read_row("torque")[0]
    assert abs(before) > 1.0
    rig.board.set_control_mode("torque", 0)
    assert rig.board.read_row("torque_reference")[0] == before
    rig.step(300)
    assert abs(rig.board.read_row("velocity")[0]) < 0.05


def test_velocity_climbs_by_the_acceleration_and_stops_when_the_watchdog_finds_no_command():
    rig = arm(joints=("wrist",), acceleration=(2.0,))
    rig.board.set_control_mode("velocity")
    rig.board.refer("velocity", [0.3])
    speeds = rig.rows("velocity_reference", 250)[:, 0]
    k = np.arange(1, 151)
    assert speeds[:150] == pytest.approx(2.0 * DT * k, abs=1e-12)
    assert speeds[199] == pytest.approx(0.3)
    assert (speeds[201:] == 0.0).all()


def test_the_watchdog_waits_while_commands_come_and_can_be_switched_off():
    rig = arm(joints=("wrist",), acceleration=(100.0,))
    rig.board.set_control_mode("velocity")
    for _ in range(8):
        rig.board.refer("velocity", [0.3])
        rig.step(150)
    assert rig.board.read_row("velocity_reference")[0] == pytest.approx(0.3)
    rig.board.set_remote_variable("VelocityTimeout", [-1.0])
    rig.step(1000)
    assert rig.board.read_row("velocity_reference")[0] == pytest.approx(0.3)


def test_a_direct_speed_has_no_ramp_and_a_direct_controller_its_own_gains():
    rig = arm(joints=("wrist",), velocity_control="direct", velocity_kp=(4.0,))
    rig.board.set_control_mode("velocity_direct")
    rig.board.refer("velocity_direct", [0.5])
    hold(rig, "wrist", 0.0, 0.2)
    assert asked(rig) == pytest.approx(4.0 * 0.3)


def test_mixed_mode_adds_trajectory_and_speed():
    rig = arm(joints=("wrist",), speed=(0.5,), acceleration=(1e6,), velocity_timeout=-1.0)
    rig.board.set_control_mode("mixed")
    rig.board.move([0.5])
    rig.board.refer("velocity", [0.1])
    rows = rig.rows("position_reference", 1500)[:, 0]
    assert rows[-1] == pytest.approx(0.5 + 0.1 * 1500 * DT, abs=1e-9)


def test_a_speed_stops_at_the_limit_of_the_axis():
    rig = arm(joints=("wrist",), acceleration=(100.0,), velocity_timeout=-1.0, position_max=(0.4,))
    rig.board.set_control_mode("velocity")
    rig.board.refer("velocity", [2.0])
    rig.step(600)
    assert rig.board.read_row("position_reference")[0] == 0.4
    assert rig.board.read_row("position")[0] == pytest.approx(0.4, abs=0.05)


def test_a_torque_that_pushes_beyond_a_limit_gives_way_to_the_position_controller():
    rig = arm(joints=("wrist",), position_max=(0.5,), position_kp=(200.0,))
    rig.board.set_control_mode("torque")
    rig.board.refer("torque", [3.0])
    hold(rig, "wrist", 0.6)
    assert asked(rig) == pytest.approx(-0.1 * 200.0)
    rig.board.refer("torque", [-3.0])
    assert asked(rig) == -3.0


def test_a_torque_beyond_the_limit_is_a_fault_that_only_a_forced_idle_ends():
    rig = arm(joints=("wrist",), max_torque=(5.0,))
    rig.board.set_control_mode("torque")
    rig.board.refer("torque", [6.0])
    rig.step(3)
    assert rig.board.mode_of(0) == ControlMode.HARDWARE_FAULT
    code, message = rig.board.last_fault(0)
    assert code == 1
    assert "torque" in message
    assert asked(rig) == 0.0
    rig.board.set_control_mode("position")
    assert rig.board.mode_of(0) == ControlMode.HARDWARE_FAULT
    rig.engine.step()
    rig.board.set_control_mode("force_idle")
    rig.step(3)
    assert rig.board.mode_of(0) == ControlMode.IDLE
    rig.board.set_control_mode("position")
    assert rig.board.mode_of(0) == ControlMode.POSITION
    assert rig.board.health()["faults"] == 1


def test_direct_positions_are_refused_outside_their_mode_and_clipped_inside():
    rig = arm()
    with pytest.raises(DeviceError, match="position_direct"):
        rig.board.refer("position_direct", [0.1, 0.1, 0.1])
    rig.board.set_control_mode("position_direct")
    rig.board.refer("position_direct", [9.0, 0.1, -0.2])
    assert rig.board.read_row("position_reference") == pytest.approx([2.0, 0.1, -0.2])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_refused_without_effect(bad):
    rig = arm()
    rig.board.set_control_mode("torque")
    before = rig.board.read_row("torque_reference")
    with pytest.raises(DeviceError, match="finite"):
        rig.board.refer("torque", [0.0, bad, 0.0])
    with pytest.raises(DeviceError, match="finite"):
        rig.board.inbox.put({"torque": [0.0, bad, 0.0]}, mode="torque")
    assert (rig.board.read_row("torque_reference") == before).all()


def test_the_encoder_counts_from_its_zero_and_the_axis_stays_where_it_is():
    rig = arm(joints=("wrist",), initial_positions=(0.3,))
    rig.step(2000)
    rig.board.reset_encoder()
    rig.step(500)
    assert rig.board.read_row("position")[0] == pytest.approx(0.0, abs=1e-6)
    assert rig.engine.port("wrist/position")[0] == pytest.approx(0.3, abs=1e-6)
    rig.board.set_encoder([1.0])
    rig.board.move([1.1])
    rig.board.set_speed(1.0)
    rig.step(3000)
    assert rig.engine.port("wrist/position")[0] == pytest.approx(0.4, abs=1e-6)


def test_motor_encoders_turn_by_the_gear_ratio_and_have_a_zero_of_their_own():
    rig = arm(joints=("wrist",), gear_ratio=(100.0,), initial_positions=(0.2,))
    rig.step(2000)
    assert rig.board.read_row("motor_position")[0] == pytest.approx(20.0, abs=1e-3)
    rig.board.reset_motor_encoder()
    rig.step()
    assert rig.board.read_row("motor_position")[0] == pytest.approx(0.0, abs=1e-6)


def test_accelerations_are_differences_of_speeds():
    rig = arm(joints=("wrist",))
    rig.board.set_control_mode("torque")
    rig.board.refer("torque", [0.1])
    rig.step(5)
    assert rig.board.read_row("acceleration")[0] == pytest.approx(2.0)


def test_stop_ends_a_trajectory_where_the_axis_is():
    rig = arm(joints=("wrist",), speed=(1.0,))
    rig.board.move([1.0])
    rig.step(500)
    rig.board.stop()
    here = rig.board.read_row("position")[0]
    assert rig.board.motion_done()
    assert rig.board.read_row("position_target")[0] == pytest.approx(here)
    rig.step(1000)
    assert rig.board.read_row("position")[0] == pytest.approx(here, abs=0.02)


def test_a_closed_brake_holds_an_axis_in_any_mode_and_an_automatic_one_while_it_is_idle():
    rig = arm(joints=("shoulder",), gravity=-9.81, initial_positions=(0.6,), position_kd=(40.0,))
    rig.board.set_speed(3.0)
    rig.step(1500)
    rig.board.set_brake(0, True)
    rig.step()
    rig.board.set_control_mode("idle")
    rig.step(500)
    assert rig.board.brake(0) == (True, False)
    assert rig.board.read_row("position")[0] == pytest.approx(0.6, abs=0.05)
    rig.board.set_brake(0, False)
    rig.board.set_brake(0, True, automatic=True)
    rig.step(500)
    assert rig.board.brake(0) == (True, True)
    assert rig.board.read_row("position")[0] == pytest.approx(0.6, abs=0.05)
    rig.board.set_brake(0, False, automatic=True)
    rig.step(300)
    assert rig.board.read_row("position")[0] < 0.5


def test_a_reset_of_the_world_puts_every_axis_into_position_mode_at_its_initial_position():
    rig = arm(initial_positions=(0.1, 0.05, -0.2))
    rig.board.set_control_mode("torque")
    rig.board.set_gains("position", kp=3.0)
    rig.step(50)
    rig.engine.reset()
    rig.board.reset(np.random.default_rng(0))
    assert rig.board.read_row("control_mode").tolist() == [ControlMode.POSITION] * 3
    assert rig.board.read_row("position_target") == pytest.approx([0.1, 0.05, -0.2])
    assert rig.board.gains("position", 0)["kp"] == 500.0


def test_remote_variables_of_the_hardware_are_those_of_the_model():
    rig = arm()
    rig.board.set_remote_variable("hardwareDamping", [0.5, 0.25, 0.125])
    assert rig.board.remote_variable("hardwareDamping").tolist() == [0.5, 0.25, 0.125]
    assert rig.engine.model.dof_damping[:3].tolist() == [0.5, 0.25, 0.125]
    assert rig.board.remote_variable("hardwareHiStop").tolist() == [2.0, 0.3, 3.0]
    with pytest.raises(DeviceError, match="did you mean 'hardwareDamping'"):
        rig.board.set_remote_variable("hardwaredamping", [0.0] * 3)


def test_axes_that_do_not_exist_are_named_with_the_valid_ones():
    rig = arm()
    for axes in (3, [-1], [0, 7], [1.5], [True]):
        with pytest.raises(DeviceError, match="must be 0 to 2"):
            rig.board.stop(axes)
    with pytest.raises(DeviceError, match="different"):
        rig.board.stop([1, 1])


def test_default_speed_and_acceleration_are_ten_degrees_and_ten_millimetres_a_second():
    rig = arm()
    assert rig.board.read_row("speed") == pytest.approx([10 * DEGREE, 0.010, 10 * DEGREE])
    assert rig.board.read_row("acceleration_limit") == pytest.approx([10 * DEGREE, 0.010, 10 * DEGREE])


def test_an_encoder_that_is_set_leaves_the_range_of_motion_where_it_is():
    rig = arm()
    low, high = (rig.board.remote_variable(name)[0] for name in ("yarp_jntMinPos", "yarp_jntMaxPos"))
    rig.board.set_encoder([0.3], [0])
    assert rig.board.read_row("position")[0] == pytest.approx(0.3, abs=1e-12)
    assert rig.board.remote_variable("yarp_jntMinPos")[0] == pytest.approx(low + 0.3)
    assert rig.board.remote_variable("yarp_jntMaxPos")[0] == pytest.approx(high + 0.3)
    rig.board.reset_encoder([0])
    assert rig.board.remote_variable("yarp_jntMaxPos")[0] == pytest.approx(high)

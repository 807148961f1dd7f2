"""The firmware of a servo: operating modes, profiles, units, watchdog and shutdown, on motors of the test."""

import math

import pytest

from pliant.dynamixel.models import MODELS
from pliant.dynamixel.motor import Actuation
from pliant.dynamixel.servo import PULSE, VELOCITY

pytest.importorskip("dynamixel_sdk", reason="no dynamixel-sdk; type: pip install dynamixel-sdk")

from dynamixel_line import DynamixelClient

KINDS = list(Actuation)
CURRENT, SPEED, POSITION, EXTENDED, CURRENT_POSITION, PWM = 0, 1, 3, 4, 5, 16


@pytest.fixture(params=KINDS, ids=[kind.value for kind in KINDS])
def client(request):
    return DynamixelClient("XM430-W350", actuation=request.param)


def test_position_mode_reaches_its_goal(client):
    client.set(1, Torque_Enable=1, Goal_Position=3000)
    client.bench.run(2.0)
    assert client.get(1, "Present Position") == pytest.approx(3000, abs=10)
    assert client.bench.motions[0].position == pytest.approx((3000 - 2048) * 2 * math.pi / 4096, abs=10 * PULSE)
    assert client.get(1, "Moving") == 0
    assert client.get(1, "Moving Status") & 0x0B == 0x01


def test_extended_position_mode_turns_more_than_once(client):
    client.set(1, Operating_Mode=EXTENDED, Torque_Enable=1, Goal_Position=2048 - 3 * 4096)
    client.bench.run(6.0)
    assert client.get(1, "Present Position") == pytest.approx(2048 - 3 * 4096, abs=10)
    assert client.bench.motions[0].position == pytest.approx(-6 * math.pi, abs=0.02)


def test_velocity_mode_turns_at_its_goal_along_a_ramp(client):
    client.set(1, Operating_Mode=SPEED, Torque_Enable=1, Profile_Acceleration=20, Goal_Velocity=-100)
    # t1 = 64 Goal Velocity / Profile Acceleration, in ms.
    client.bench.run(0.160)
    assert client.get(1, "Velocity Trajectory") == pytest.approx(-50, abs=2)
    client.bench.run(2.0)
    assert client.get(1, "Velocity Trajectory") == -100
    assert client.get(1, "Present Velocity") == pytest.approx(-100, abs=4)
    assert client.bench.motions[0].velocity == pytest.approx(-100 * 0.229 * 2 * math.pi / 60, rel=0.04)
    assert client.get(1, "Moving") == 1


def test_current_mode_holds_a_load_with_the_current_of_its_torque(client):
    # 4.1 N m at 2.3 A: 1 N m needs 0.561 A, in units of 2.69 mA.
    client.bench.loads[0] = -1.0
    client.set(1, Operating_Mode=CURRENT, Torque_Enable=1, Goal_Current=round(0.561 / 2.69e-3))
    client.bench.run(1.0)
    assert abs(client.bench.motions[0].velocity) < 0.1
    assert client.get(1, "Present Current") == pytest.approx(0.561 / 2.69e-3, rel=0.1)
    client.set(1, Goal_Current=round(0.9 / 2.69e-3))
    client.bench.run(0.5)
    assert client.bench.motions[0].velocity > 0.2


def test_pwm_mode_turns_as_fast_as_its_duty_cycle(client):
    client.set(1, Operating_Mode=PWM, Torque_Enable=1, Goal_PWM=442)
    client.bench.run(3.0)
    # v = v_0 (u - friction v / tau_stall)
    fast = 46 * 2 * math.pi / 60
    speed = 442 / 885 * fast / (1.0 + client.bench.friction * fast / 4.1)
    assert client.bench.motions[0].velocity == pytest.approx(speed, rel=0.015)
    assert client.get(1, "Present PWM") == pytest.approx(442, rel=0.015)


def test_current_based_position_mode_gives_way_to_a_load_beyond_its_goal_current(client):
    client.set(1, Operating_Mode=CURRENT_POSITION, Torque_Enable=1, Goal_Current=round(0.561 / 2.69e-3))
    client.set(1, Goal_Position=2600)
    client.bench.run(2.0)
    assert client.get(1, "Present Position") == pytest.approx(2600, abs=12)
    client.bench.loads[0] = -0.7
    client.bench.run(2.0)
    held = client.get(1, "Present Position")
    assert held > 2450
    client.bench.loads[0] = -2.0
    client.bench.run(0.6)
    assert client.get(1, "Present Position") < held - 100
    assert client.get(1, "Hardware Error Status") == 0


def test_a_profile_takes_its_published_time(client):
    client.set(1, Torque_Enable=1, Profile_Velocity=100, Profile_Acceleration=20, Goal_Position=2048 + 1024)
    # 0.64 ms per unit of velocity over acceleration, then the rest of the way at 100 units.
    t1 = 64e-3 * 100 / 20
    t3 = t1 + 1024 * PULSE / (100 * VELOCITY)
    client.bench.run(0.5 * t3)
    assert client.get(1, "Position Trajectory") == pytest.approx(2048 + 512, abs=3)
    assert client.get(1, "Velocity Trajectory") == 100
    assert client.get(1, "Moving Status") & 0x32 == 0x32
    client.bench.run(0.5 * t3 - 0.02)
    assert client.get(1, "Moving Status") & 0x02
    client.bench.run(0.04)
    assert not client.get(1, "Moving Status") & 0x02
    assert client.get(1, "Position Trajectory") == 2048 + 1024


def test_a_profile_by_time_takes_the_time_that_is_written():
    client = DynamixelClient("XL330-M288")
    client.set(1, Drive_Mode=4, Torque_Enable=1, Profile_Velocity=800, Profile_Acceleration=200, Goal_Position=2500)
    client.bench.run(0.4)
    assert client.get(1, "Position Trajectory") == pytest.approx((2048 + 2500) / 2, abs=3)
    client.bench.run(0.39)
    assert client.get(1, "Moving Status") & 0x02
    client.bench.run(0.02)
    assert client.get(1, "Moving Status") & 0x02 == 0


def test_a_new_goal_continues_from_the_present_velocity():
    client = DynamixelClient("XM430-W350")
    client.set(1, Torque_Enable=1, Profile_Velocity=100, Profile_Acceleration=20, Goal_Position=3500)
    client.bench.run(0.8)
    before = client.get(1, "Velocity Trajectory")
    client.set(1, Goal_Position=1500)
    client.bench.run(0.01)
    assert before == 100
    assert client.get(1, "Velocity Trajectory") == pytest.approx(100 - 20 / 64e-3 * 0.01, abs=1)
    client.bench.run(4.0)
    assert client.get(1, "Present Position") == pytest.approx(1500, abs=10)


def test_reverse_mode_turns_the_other_way_in_every_mode(client):
    client.set(1, Drive_Mode=1, Torque_Enable=1)
    client.set(1, Goal_Position=2500)
    client.bench.run(2.0)
    assert client.bench.motions[0].position == pytest.approx(-(2500 - 2048) * PULSE, abs=0.02)
    assert client.get(1, "Present Position") == pytest.approx(2500, abs=10)
    for mode, goal, value in ((SPEED, "Goal_Velocity", 50), (PWM, "Goal_PWM", 300), (CURRENT, "Goal_Current", 100)):
        client.set(1, Torque_Enable=0)
        client.set(1, Operating_Mode=mode, Torque_Enable=1, **{goal: value})
        client.bench.run(0.5)
        assert client.bench.motions[0].velocity < -0.1
        assert client.get(1, "Present Velocity") > 5


def test_a_homing_offset_is_added_to_the_position_and_ignored_where_it_is_too_large():
    client = DynamixelClient("XM430-W350")
    client.set(1, Homing_Offset=1000)
    assert client.get(1, "Present Position") == 3048
    client.set(1, Torque_Enable=1, Goal_Position=3148)
    client.bench.run(1.0)
    assert client.bench.motions[0].position == pytest.approx(100 * PULSE, abs=5 * PULSE)
    client.set(1, Torque_Enable=0, Homing_Offset=5000)
    assert client.get(1, "Present Position") == pytest.approx(2148, abs=5)
    client.set(1, Operating_Mode=EXTENDED)
    assert client.get(1, "Present Position") == pytest.approx(7148, abs=5)


def test_torque_begins_without_a_jump_and_ends_limp():
    client = DynamixelClient("XM430-W350", limp=True)
    client.bench.loads[0] = 0.2
    client.bench.run(1.0)
    assert client.bench.motions[0].velocity > 1.0
    client.bench.loads[0] = 0.0
    client.bench.run(3.0)
    here = client.get(1, "Present Position")
    client.set(1, Torque_Enable=1)
    client.bench.run(0.5)
    # Position mode is within one revolution.
    assert client.get(1, "Present Position") == pytest.approx(here % 4096, abs=12)
    assert client.get(1, "Goal Position") == pytest.approx(here % 4096, abs=1)


def test_a_new_operating_mode_resets_gains_profile_and_goals():
    client = DynamixelClient("XM430-W350")
    client.set(1, Position_P_Gain=100, Profile_Velocity=10, Goal_PWM=100, Goal_Current=20)
    client.set(1, Operating_Mode=CURRENT_POSITION)
    read = [client.get(1, name) for name in ("Position P Gain", "Profile Velocity", "Goal PWM", "Goal Current")]
    assert read == [800, 0, 885, 1193]


def test_torque_on_by_goal_update_switches_torque_on():
    client = DynamixelClient("XL330-M288")
    client.set(1, Goal_Position=2500)
    assert client.get(1, "Torque Enable") == 0
    client.set(1, Drive_Mode=8, Goal_Position=2200)
    assert client.get(1, "Torque Enable") == 1
    client.bench.run(2.0)
    assert client.get(1, "Present Position") == pytest.approx(2200, abs=25)


GOALS = {SPEED: ("Goal_Velocity", 100), PWM: ("Goal_PWM", 400), CURRENT: ("Goal_Current", 50),
         EXTENDED: ("Goal_Position", 20_000)}  # fmt: skip


@pytest.mark.parametrize("mode", GOALS)
def test_the_bus_watchdog_stops_a_servo_that_hears_nothing(client, mode):
    goal, value = GOALS[mode]
    client.set(1, Operating_Mode=mode, Torque_Enable=1, Bus_Watchdog=5, **{goal: value})
    for _ in range(10):
        client.bench.run(0.05)
        assert client.get(1, "Bus Watchdog") == 5
    assert client.bench.motions[0].velocity > 0.2
    client.bench.run(1.5)
    assert abs(client.bench.motions[0].velocity) < 0.25
    assert client.get(1, "Bus Watchdog") == -1
    assert client.put(1, goal.replace("_", " "), 10) == 4
    client.set(1, Bus_Watchdog=0, **{goal: value})


def test_an_overload_switches_torque_off_until_a_reboot(client):
    client.set(1, Torque_Enable=1)
    client.bench.loads[0] = 3.8
    client.bench.run(0.9)
    assert client.get(1, "Hardware Error Status") == 0
    client.bench.run(0.6)
    assert client.get(1, "Hardware Error Status") == 0x20
    assert client.get(1, "Torque Enable") == 0
    _, _, error = client.sdk.read1ByteTxRx(client.port, 1, 64)
    assert error == 0x80
    assert client.put(1, "Torque Enable", 1) == 0x81
    client.bench.loads[0] = 0.0
    client.bench.run(0.1)
    assert client.sdk.reboot(client.port, 1)[0] == 0
    client.set(1, Torque_Enable=1)


@pytest.mark.parametrize(("voltage", "error"), [(12.0, 0), (9.4, 1), (16.1, 1), (9.5, 0), (16.0, 0)])
def test_a_supply_outside_its_limits_is_an_error_that_by_default_leaves_torque_on(voltage, error):
    client = DynamixelClient("XM430-W350", voltage=voltage)
    client.sdk.write1ByteTxRx(client.port, 1, 64, 1)
    client.bench.run(0.01)
    assert client.get(1, "Hardware Error Status") == error
    assert client.get(1, "Torque Enable") == 1
    assert client.get(1, "Present Input Voltage") == round(10 * voltage)


def test_a_hot_servo_reports_it_and_switches_torque_off():
    client = DynamixelClient("XL330-M288", ambient=69.0)
    client.set(1, Torque_Enable=1)
    assert client.get(1, "Present Temperature") == 69
    client.servos[0]._temperature = 70.4
    client.bench.run(0.002)
    assert (client.get(1, "Hardware Error Status"), client.get(1, "Torque Enable")) == (4, 0)


def test_the_clock_counts_milliseconds_from_the_start():
    client = DynamixelClient("XL330-M288")
    client.bench.run(0.5)
    assert client.get(1, "Realtime Tick") == 502
    client.bench.run(32.768)
    assert client.get(1, "Realtime Tick") == 502
    client.sdk.reboot(client.port, 1)
    assert client.get(1, "Realtime Tick") == 0


@pytest.mark.parametrize("model", sorted(MODELS))
def test_each_model_has_its_own_torque_and_unit_of_current(model):
    found = MODELS[model]
    client = DynamixelClient(model)
    torque = 0.4 * found.stall_torque
    client.bench.loads[0] = -torque
    client.set(1, Torque_Enable=1)
    client.bench.run(3.0)
    current = 0.4 * found.stall_current
    assert client.get(1, "Present Current") == pytest.approx(current / found.current_unit, rel=0.05)
    assert client.get(1, "Present PWM") == pytest.approx(0.4 * 885, rel=0.05)

"""Control boards from their configuration: units, defaults, couplings, and an error with file and line for the rest."""

import math
from pathlib import Path

import mujoco
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.base.errors import ModelError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.gazebo_yarp.control_board import read_control_board, read_fake_board
from pliant.gazebo_yarp.ini import parse_ini, read_ini
from pliant.model import Robot
from pliant.simulation import Simulation, free

LEG = Path(__file__).parents[1] / "data" / "yarp" / "conf" / "leg.ini"
TYPES = {
    "hip": "revolute",
    "slide": "prismatic",
    "weld": "fixed",
    "wheel": "continuous",
    "e0": "revolute",
    "e1": "revolute",
}
DEGREE = math.pi / 180.0
H, H2, E = "jointNames hip\n", "jointNames hip slide\n", "jointNames e0 e1\n[COUPLING]\n"
GAINS = "kp 1\nkd 1\nki 1\nmaxInt 1\nmaxOutput 1\nshift 0\nko 0\nstictionUp 0\nstictionDwn 0\n"


def board(text, **options):
    return read_control_board(parse_ini(text, "b.ini"), TYPES, name="part", **options)


def test_every_key_of_a_board_is_read_in_si_units():
    found = read_control_board(read_ini(LEG), TYPES, name="leg", initial=(0.3, 0.05)).board
    assert found.joints == found.axes == ("hip", "slide")
    assert found.trajectory == "trapezoidal_speed"
    assert found.speed == pytest.approx((20 * DEGREE, 0.02))
    assert found.acceleration == pytest.approx((40 * DEGREE, 0.04))
    assert found.position_kp == pytest.approx((2.0 / DEGREE / 2, 4000.0))
    assert found.position_kd == pytest.approx((0.05 / DEGREE / 2, 40.0))
    assert found.position_ki == pytest.approx((0.5 / DEGREE / 2, 0.0))
    assert found.position_max_integral == (10.0, 10.0)
    assert found.position_max_output == (60.0, 120.0)
    assert found.velocity_control == "integrator"
    assert found.stiffness == pytest.approx((1.0 / DEGREE, 100.0))
    assert found.damping == pytest.approx((0.1 / DEGREE, 10.0))
    assert found.min_stiffness == (0.0, 0.0)
    assert found.max_stiffness == pytest.approx((10.0 / DEGREE, 1000.0))
    assert found.max_torque == (80.0, 150.0)
    assert found.position_min == pytest.approx((-math.pi / 2, 0.0))
    assert found.position_max == pytest.approx((math.pi / 2, 0.08))
    assert found.velocity_max == pytest.approx((math.pi, 0.5))
    assert found.torque_per_duty == (0.5, 2.0)
    assert found.initial_positions == (0.3, 0.05)


def test_a_board_of_joints_alone_has_the_defaults_of_the_original():
    found = board(H2).board
    assert found.position_kp == ()  # 500 where the board is the joint's motor
    assert (found.position_ki, found.position_kd, found.position_max_integral) == ((0.1,), (1.0,), (0.0,))
    assert found.max_torque == (2000.0,)
    assert found.trajectory == "minimum_jerk"


@given(st.floats(1e-3, 1e4), st.integers(0, 20))
def test_si_units_take_gains_as_they_are_and_metric_ones_per_degree(kp, shift):
    gains = GAINS.replace("kp 1", f"kp {kp!r}").replace("shift 0", f"shift {shift}")
    for units, scale in (("si_units", 1.0), ("metric_units", 180.0 / math.pi)):
        found = board(H + f"[POSITION_CONTROL]\ncontrolUnits {units}\n{gains}").board
        assert found.position_kp[0] == pytest.approx(kp * scale / 2.0**shift)


def test_direct_velocity_control_has_gains_of_its_own():
    law = "velocityControlImplementationType direct_velocity_pid\n"
    found = board(f"jointNames slide\n[VELOCITY_CONTROL]\n{law}{GAINS.replace('kp 1', 'kp 30')}").board
    assert (found.velocity_control, found.velocity_kp) == ("direct", (30.0,))


def test_the_old_form_of_gains_is_per_radian():
    text = (
        H2 + "[GAZEBO_PIDS]\nPid0 1000 2 0.1 9 99\nPid1 500 1 0\n"
        "[GAZEBO_IMPEDANCE_POSITION_PIDS]\nPid0 5 6 0\nPid1 7 8 0\n"
    )
    found = board(text).board
    assert (found.position_kp, found.position_kd, found.position_ki) == ((1000.0, 500.0), (2.0, 1.0), (0.1, 0.0))
    assert found.position_max_integral == (9.0, 0.0)
    assert found.position_max_output == (99.0, 2000.0)
    assert found.stiffness == (5.0, 7.0)


def test_joints_are_found_by_the_end_of_their_scoped_name():
    assert board("jointNames robot::leg::hip\n").board.joints == ("hip",)
    found = read_control_board(parse_ini(H), {"robot::hip": "revolute"}, name="part").board
    assert (found.joints, found.axes) == (("robot::hip",), ("hip",))


def test_coupled_axes_have_their_names_and_limits():
    text = (
        "jointNames hip e0 e1\n[LIMITS]\njntPosMin -1 -2 -3\njntPosMax 1 2 3\n"
        "[COUPLING]\neyes (eyes_vergence_control (1 2) (version vergence) (-30 0) (30 50))\n"
    )
    found = board(text).board
    assert found.axis_names == ("hip", "version", "vergence")
    assert found.couplings[0].joints == ("e0", "e1")
    assert found.position_min == pytest.approx((-DEGREE, -30 * DEGREE, 0.0))
    assert found.position_max == pytest.approx((DEGREE, 30 * DEGREE, 50 * DEGREE))


def test_reserved_axes_are_left_out_and_the_others_keep_their_numbers():
    coupling = "finger pinky_control (0 1 2) (finger reserved reserved)"
    found = board(f"jointNames e0 e1 slide hip\nmax_torques 1 2 3 4\n[COUPLING]\n{coupling}\n")
    assert found.board.axis_names == ("finger", "hip")
    assert found.board.max_torque == (1.0, 4.0)
    assert found.axis_of == {0: 0, 3: 1}


def test_a_coupling_that_is_not_simulated_is_reported():
    found = board(E + "hand icub_hand_mk3 (0 1) (a b)\nother none\n")
    assert found.board.axis_names == ("e0", "e1")
    assert [p.severity for p in found.problems] == ["warning"]
    assert "'icub_hand_mk3' is not simulated" in found.problems[0].message


def test_a_key_in_the_wrong_group_is_reported_with_its_place():
    found = board(H + "[TRAJECTORY_GENERATION]\nmin_stiffness 1\nspeed 2\n")
    assert [str(p) for p in found.problems] == [
        "info: part: b.ini:3: min_stiffness in [TRAJECTORY_GENERATION] has no effect (it belongs to the top of the "
        "file)",
        "info: part: b.ini:4: speed in [TRAJECTORY_GENERATION] has no effect (did you mean 'refSpeed'? must be one of "
        "refAcceleration, refSpeed, trajectory_type)",
    ]


def test_a_misspelt_group_or_key_is_a_warning_with_its_place():
    found = board("robot r\n" + H + "max_torque 1\n[POSITION_CONTROLS]\nkp 1\n[NOTES]\nkp 2\n")
    assert [str(p).partition(";")[0].partition("?")[0] for p in found.problems] == [
        "warning: part: b.ini:4: the group [POSITION_CONTROLS] has no effect (did you mean 'POSITION_CONTROL'",
        "warning: part: b.ini:3: max_torque has no effect (did you mean 'max_torques'",
    ]


def test_what_a_board_does_not_do_is_reported():
    gains = GAINS.replace("ko 0", "ko -1").replace("stictionUp 0", "stictionUp 1")
    text = H + f"positionToleranceLinear 1\nuseVirtualAnalogSensor true\n[ROS]\n[POSITION_CONTROL]\n{gains}"
    messages = " ".join(p.message for p in board(text).problems)
    for part in ("stictionUp asks", "positionToleranceLinear has no", "useVirtualAnalogSensor", "[ROS]"):
        assert part in messages


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "b.ini: control board 'part': the key 'jointNames' is missing; it is the joints of the board"),
        ("jointNames\n", "b.ini:1: .*the key 'jointNames' has no value"),
        ("jointNames hop\n", "b.ini:1: .*has 'hop', which is no joint of the robot; did you mean 'hip'"),
        ("jointNames hip hip\n", "b.ini:1: .*has the joint 'hip' twice"),
        (H2 + "max_torques 1\n", "b.ini:2: .*max_torques has 1 values; must be 2, one for each of the joints"),
        (H + "max_torques -1\n", "b.ini:2: .*max_torques is -1; must be a finite number >= 0"),
        (H + "max_torques nan\n", "b.ini:2: .*must be a number"),
        (H + "min_stiffness 2\nmax_stiffness 1\n", "b.ini:2: .*min_stiffness is above max_stiffness for joint 'hip'"),
        (H + "[TRAJECTORY_GENERATION]\ntrajectory_type jerky\n", "b.ini:3: .*trajectory_type is 'jerky'"),
        (H + "[POSITION_CONTROL]\nkp 1\n", r"b.ini:2: .*\[POSITION_CONTROL\] the key 'kd' is missing"),
        (H2 + f"[POSITION_CONTROL]\n{GAINS}", r"b.ini:3: .*\[POSITION_CONTROL\] kp has 1 values; must be 2"),
        (H + f"[POSITION_CONTROL]\ncontrolUnits feet\n{GAINS}", "b.ini:3: .*controlUnits is 'feet'"),
        (H + f"[POSITION_CONTROL]\ncontrolLaw other\n{GAINS}", "b.ini:3: .*controlLaw is 'other'"),
        (H + f"[POSITION_CONTROL]\n{GAINS.replace('shift 0', 'shift 99')}", "shift is 99; must be at most 62"),
        (H + "[VELOCITY_CONTROL]\nkp 1\n", "the key 'velocityControlImplementationType' is missing"),
        (H + "[IMPEDANCE_CONTROL]\nstiffness 1\n", "the key 'damping' is missing"),
        (H + "[LIMITS]\njntPosMin 2\njntPosMax 1\n", "b.ini:3: .*jntPosMin is above jntPosMax for joint 'hip'"),
        (H2 + "[GAZEBO_PIDS]\nPid0 1 1 1\n", "the key 'Pid1' is missing"),
        (H + "[GAZEBO_PIDS]\nPid0 1\n", "Pid0 has 1 values; must be P D I"),
        (E + "x (eyes_vergence_control)\n", "b.ini:3: .*x has 1 parts; must be KEYWORD"),
        (E + "x (eyes_vergence_control (0 5) (a b))\n", "must be whole numbers of 0 to 1"),
        (E + "x (eyes_vergence_control (0 1) (a))\n", "its lists have 2, 1 values"),
        (E + "x (eyes_vergence_control (0 0) (a b))\n", "must be different"),
        (E + "x (eyes_vergence_control (0) (a))\n", "x: .*must have two axes and two joints"),
        (E + "x (index_control (0 1) (a b))\ny (index_control (1) (c))\n", "axis 1 has a coupling"),
        (E + "x (index_control (0 1) (a b) (0 q) (1 1))\n", "the limits are .*finite"),
    ],
)  # fmt: skip
def test_a_wrong_configuration_is_refused_with_its_place(text, message):
    with pytest.raises(ModelError, match=message):
        board(text)


def test_a_short_list_of_initial_positions_is_filled_with_zeros_and_a_long_one_refused():
    assert board(H2, initial=(0.1,)).board.initial_positions == (0.1, 0.0)
    with pytest.raises(ModelError, match="initialConfiguration has 3 values; must be at most 2"):
        board(H2, initial=(0.1, 0.2, 0.3))


def test_a_fixed_joint_is_no_axis_and_the_others_keep_their_numbers():
    found = board("jointNames weld hip\nmax_torques 1 2\n")
    assert found.board.joints == ("hip",)
    assert found.board.max_torque == (2.0,)
    assert found.axis_of == {1: 0}
    assert "'weld' is left out: its joint is fixed" in found.problems[0].message
    assert board("jointNames weld\n").board.fake


def test_a_joint_is_found_by_the_end_of_its_name():
    assert board("jointNames lide\n").board.joints == ("slide",)
    with pytest.raises(ModelError, match="'e', which is no joint of the robot; the end of slide, "):
        read_control_board(parse_ini("jointNames e\n"), {**TYPES, "made": "revolute", "use": "prismatic"}, name="p")


@pytest.mark.parametrize(
    ("text", "axes", "low"),
    [
        ("eyes_vergence_control (1 2) (version vergence)", ("hip", "version", "vergence"), (-1, -2, -3)),
        ("eyes_vergence_control (1 2) (version vergence) (-5 -6) (5 6)", ("hip", "version", "vergence"), (-1, -5, -6)),
        ("eyes (eyes_vergence_control (1 2) (version vergence))", ("hip", "version", "vergence"), (-1, -2, -3)),
        ("index_control (0 1 2) (hip finger reserved) (-1 -7) (9 9)", ("hip", "finger"), (-1, -7)),
        (
            "device couplingICubEye\nactuatedAxesNames (hip version vergence)\n"
            "actuatedAxesPosMin (-4 -5 -6)\nactuatedAxesPosMax (4 5 6)",
            ("hip", "version", "vergence"),
            (-1, -5, -6),
        ),
    ],
)
def test_a_coupling_is_read_in_every_form_of_real_files(text, axes, low):
    limits = "[LIMITS]\njntPosMin -1 -2 -3\njntPosMax 9 9 9\n"
    found = board(f"jointNames hip e0 e1\n{limits}[COUPLING]\n{text}\n").board
    assert found.axis_names == axes
    assert found.joint_names == ("hip", "e0", "e1")
    assert found.position_min == pytest.approx([v * DEGREE for v in low])


def test_a_fake_board_has_axes_and_no_joints():
    found = read_fake_board(parse_ini("[WRAPPER]\njoints 3\n"), name="hand").board
    assert found.fake
    assert found.axis_names == ("hand_0", "hand_1", "hand_2")
    named = read_fake_board(parse_ini("[hand]\njointNames a b\n"), name="hand").board
    assert named.axis_names == ("a", "b")
    with pytest.raises(ModelError, match="neither 'jointNames' nor 'joints'"):
        read_fake_board(parse_ini("x 1\n"), name="hand")


def test_offset_and_stiction_reach_the_controller_that_clients_ask_for():
    gains = GAINS.replace("ko 0", "ko -0.5").replace("Up 0", "Up 2").replace("Dwn 0", "Dwn -3")
    found = board(f"{H}[POSITION_CONTROL]\n{gains}").board
    body = "<body><joint name='hip'/><geom size='.1'/></body>"
    robot = Robot(mujoco.MjSpec.from_string(f"<mujoco><worldbody>{body}</worldbody></mujoco>"))
    robot.devices.append(found)
    devices = make_devices(robot)
    with Simulation(MujocoEngine(robot, check=False), devices, pacer=free()) as simulation:
        simulation.start()
        told = simulation.devices["part"].gains("position", 0)
    assert (told["offset"], told["stiction_up"], told["stiction_down"]) == (-0.5, 2.0, -3.0)

"""Control boards on joints with servos, with compliant actuators, without actuators, and with couplings."""

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers.control_boards import ARM, JOINTS, Rig, arm

from pliant import load
from pliant.base.errors import DeviceError, ModelError
from pliant.base.numerics import DEGREE
from pliant.control_boards.description import ControlBoard, Coupling, add_control_boards
from pliant.control_boards.layout import ControlMode, InteractionMode
from pliant.laws import CompliantActuator, QbMove, get_law
from pliant.model import Robot
from pliant.simulation import Simulation

SERVO = '<actuator><position name="servo" joint="wrist" kp="80" kv="4" gear="2"/></actuator>'
MOTOR = '<actuator><motor name="drive" joint="wrist" gear="50" ctrlrange="-.1 .1"/></actuator>'


def test_a_servo_of_the_model_holds_positions_by_its_own_law():
    rig = arm(joints=("wrist",), actuators=SERVO)
    assert rig.board.gains("position", 0)["kp"] == 80.0 * 4
    rig.board.set_control_mode("position_direct")
    rig.board.refer("position_direct", [0.5])
    rig.step(1500)
    assert rig.engine.port("servo/control")[0] == 1.0
    assert rig.board.read_row("position")[0] == pytest.approx(0.5, abs=1e-4)


def test_a_servo_gives_a_torque_when_it_is_asked_for_one():
    rig = arm(joints=("wrist",), actuators=SERVO)
    rig.board.set_control_mode("torque")
    rig.board.refer("torque", [0.3])
    rig.step(20)
    rig.board.write()
    rig.engine.forward()
    assert rig.engine.data.qfrc_actuator[2] == pytest.approx(0.3, abs=1e-9)


def test_gains_that_a_client_sets_take_the_place_of_the_law_of_a_servo():
    rig = arm(joints=("wrist",), actuators=SERVO)
    rig.board.set_gains("position", kp=5.0, kd=0.0)
    rig.engine.port("wrist/position")[0] = 0.2
    rig.board.write()
    rig.engine.forward()
    assert rig.engine.data.qfrc_actuator[2] == pytest.approx(-1.0, abs=1e-9)


def test_a_geared_motor_gives_the_torque_at_the_joint():
    rig = arm(joints=("wrist",), actuators=MOTOR)
    rig.board.set_control_mode("torque")
    rig.board.refer("torque", [2.5])
    rig.step(2)
    assert rig.engine.port("drive/control")[0] == pytest.approx(0.05)
    assert rig.board.read_row("torque")[0] == pytest.approx(2.5)


@pytest.mark.parametrize("kind", ["motor", "position", "velocity"])
def test_an_actuator_whose_gear_is_zero_moves_no_joint_and_the_next_one_is_taken(kind):
    idle = f'<{kind} name="idle" joint="wrist" gear="0"/>'
    with pytest.raises(DeviceError, match="'wrist' has no actuator that a control board can command"):
        arm(joints=("wrist",), actuators=f"<actuator>{idle}</actuator>")
    back = '<position name="back" joint="wrist" kp="80" kv="4" gear="-2"/>'
    rig = arm(joints=("wrist",), actuators=f"<actuator>{idle}{back}</actuator>")
    rig.board.set_control_mode("torque")
    rig.board.refer("torque", [0.3])
    rig.step(20)
    rig.board.write()
    rig.engine.forward()
    assert rig.engine.data.qfrc_actuator[2] == pytest.approx(0.3, abs=1e-9)


def test_a_joint_without_actuator_gets_a_motor_of_its_name():
    rig = arm()
    assert [rig.engine.model.actuator(i).name for i in range(3)] == list(JOINTS)


# -- compliant joints ---------------------------------------------------------------------


def compliant(law=None, mode=6, **options):
    spec = mujoco.MjSpec.from_string(ARM.format(gravity=0.0, actuators=""))
    robot = Robot(spec, {"wrist": CompliantActuator(law or QbMove(), mode=mode, initial_preset=0.2)})
    robot.devices.append(ControlBoard(name="arm", joints=("wrist",), **options))
    return Rig(robot)


def test_a_compliant_joint_follows_positions_with_its_equilibrium():
    rig = compliant(speed=(1.0,))
    rig.engine.model.dof_damping[2] = 0.15
    rig.board.move([0.4])
    rig.step(6000)
    assert rig.engine.port("wrist/reference_1")[0] == 0.4
    assert rig.board.read_row("position")[0] == pytest.approx(0.4, abs=5e-3)
    assert rig.board.read_row("motor_position")[0] == pytest.approx(rig.engine.port("wrist/motor_1_position")[0])
    assert rig.board.interaction_of(0) == InteractionMode.COMPLIANT


def test_impedance_of_a_compliant_joint_is_set_through_its_stiffness_preset():
    rig = compliant()
    low, high, _, _ = rig.board.impedance_limits(0)
    wanted = 1.7 * low
    rig.board.set_impedance(0, wanted, 0.0)
    rig.step(3000)
    assert rig.board.impedance(0)[0] == pytest.approx(wanted, rel=0.02)
    assert rig.board.remote_variable("stiffness")[0] == pytest.approx(wanted, rel=0.02)
    with pytest.raises(DeviceError, match="stiffness must be"):
        rig.board.set_impedance(0, 0.5 * low, 0.0)
    assert high > 2.0 * low


def test_the_stiffness_of_several_axes_is_changed_for_all_or_for_none():
    spec = mujoco.MjSpec.from_string(ARM.format(gravity=0.0, actuators=""))
    joints = tuple(JOINTS[1:])
    robot = Robot(spec, {joint: CompliantActuator(QbMove(), mode=6, initial_preset=0.2) for joint in joints})
    robot.devices.append(ControlBoard(name="arm", joints=joints))
    board = Rig(robot).board
    presets = board.remote_variable("stiffness_preset").tolist()
    low = board.impedance_limits(0)[0]
    with pytest.raises(DeviceError, match="stiffness must be"):
        board.set_remote_variable("stiffness", [1.7 * low, 0.5 * low])
    assert board.remote_variable("stiffness_preset").tolist() == presets
    board.set_remote_variable("stiffness", [1.7 * low, 1.7 * low])
    assert all(now != before for now, before in zip(board.remote_variable("stiffness_preset"), presets, strict=True))


def test_a_compliant_joint_reaches_a_torque_against_a_stop():
    rig = compliant()
    rig.engine.model.jnt_range[2] = (-1e-3, 1e-3)
    rig.board.set_control_mode("torque")
    rig.board.refer("torque", [0.05])
    rig.step(3000)
    assert rig.board.read_row("torque")[0] == pytest.approx(0.05, abs=5e-4)


def test_an_idle_compliant_joint_yields():
    rig = compliant()
    rig.board.set_control_mode("idle")
    rig.engine.port("wrist/external_torque")[0] = 0.02
    rig.step(2000)
    assert rig.board.read_row("position")[0] > 0.5


def test_the_stiffness_of_a_joint_with_one_motor_is_fixed_and_it_cannot_be_stiff():
    rig = compliant(get_law("sea")())
    low, high, _, _ = rig.board.impedance_limits(0)
    assert low == high
    with pytest.raises(DeviceError, match="cannot be stiff"):
        rig.board.set_interaction_mode("stiff")


def test_a_joint_that_takes_motor_positions_cannot_be_on_a_board():
    with pytest.raises(DeviceError, match="mode 6 or 3"):
        compliant(mode=5)


def test_a_joint_with_a_position_controller_of_its_own_takes_no_torque():
    rig = compliant(mode=1)
    with pytest.raises(DeviceError, match="follows positions only"):
        rig.board.set_control_mode("torque")
    assert rig.board.mode_of(0) == ControlMode.POSITION


# -- couplings ---------------------------------------------------------------------

KINDS = {
    "eyes_vergence_control": (2, 2),
    "fingers_abduction_control": (1, 4),
    "thumb_control": (3, 4),
    "index_control": (2, 3),
    "middle_control": (2, 3),
    "pinky_control": (1, 6),
}


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_axes_of_a_coupling_give_joints_that_give_the_axes_back(kind, data):
    n, m = KINDS[kind]
    coupling = Coupling(kind=kind, axes=tuple("abc"[:n]), joints=tuple("uvwxyz"[:m]))
    matrix = np.array(coupling.rows())
    axes = np.array(data.draw(st.lists(st.floats(-3, 3), min_size=n, max_size=n)))
    assert np.linalg.pinv(matrix) @ (matrix @ axes) == pytest.approx(axes, abs=1e-12)


def eyes():
    return arm(
        joints=("shoulder", "slide", "wrist"),
        axes=("version", "slide", "vergence"),
        position_kd=(40.0,),
        couplings=(Coupling(kind="eyes_vergence_control", axes=("version", "vergence"), joints=("shoulder", "wrist")),),
    )


def test_axes_of_eyes_are_sum_and_difference_of_the_joints():
    rig = eyes()
    rig.board.set_control_mode("position_direct")
    rig.board.refer("position_direct", [0.6, 0.0, 0.2])
    rig.step(3000)
    assert rig.engine.port("shoulder/position")[0] == pytest.approx(0.4, abs=1e-3)
    assert rig.engine.port("wrist/position")[0] == pytest.approx(0.2, abs=1e-3)
    assert rig.board.read_row("position") == pytest.approx([0.6, 0.0, 0.2], abs=2e-3)


FINGER = (
    '<body pos="{0} 0 0"><joint name="j{0}" range="-90 90"/>'
    '<inertial pos=".1 0 0" mass=".1" diaginertia=".01 .01 .01"/></body>'
)
HAND = "<mujoco><option gravity='0 0 0'/><worldbody>{}</worldbody></mujoco>".format(
    "".join(FINGER.format(k) for k in range(8))
)


@pytest.mark.parametrize(
    ("kind", "axes", "commanded_deg", "expected_deg"),
    [
        # gazebo-yarp-plugins: -(20 - a/3), 0, 20 - a/3, 20 - a/3
        ("fingers_abduction_control", 1, (0.0,), (-20.0, 0.0, 20.0, 20.0)),
        ("fingers_abduction_control", 1, (60.0,), (0.0, 0.0, 0.0, 0.0)),
        ("fingers_abduction_control", 1, (30.0,), (-10.0, 0.0, 10.0, 10.0)),
        ("pinky_control", 1, (90.0,), (30.0,) * 6),
        ("thumb_control", 3, (10.0, 20.0, 60.0), (10.0, 20.0, 30.0, 30.0)),
        ("index_control", 2, (10.0, 60.0), (10.0, 30.0, 30.0)),
        ("middle_control", 2, (-10.0, 40.0), (-10.0, 20.0, 20.0)),
    ],
)
def test_fingers_stand_where_gazebo_yarp_plugins_puts_them(kind, axes, commanded_deg, expected_deg):
    robot = Robot(mujoco.MjSpec.from_string(HAND))
    m = len(expected_deg)
    names, joints = tuple("abc"[:axes]), tuple(f"j{k}" for k in range(1, m + 1))
    coupling = Coupling(kind=kind, axes=names, joints=joints)
    robot.devices.append(
        ControlBoard(
            name="hand", joints=("j0", *joints), axes=("first", *names), couplings=(coupling,),
            position_kp=(5.0,), position_kd=(1.0,), max_torque=(1e6,),
        )
    )  # fmt: skip
    rig = Rig(robot)
    started = rig.engine.port("j1/position")[0]
    assert rig.board.read_row("position")[1] == pytest.approx(60.0 * DEGREE if "abduction" in kind else started)
    rig.board.set_control_mode("position_direct")
    rig.board.refer("position_direct", [0.1, *np.array(commanded_deg) * DEGREE])
    rig.step(4000)
    found = [rig.engine.port(joint)[0] for joint in [f"{joint}/position" for joint in joints]]
    assert found == pytest.approx(np.array(expected_deg) * DEGREE, abs=1e-3)
    assert rig.board.read_row("position") == pytest.approx([0.1, *np.array(commanded_deg) * DEGREE], abs=3e-3)
    rig.board.set_control_mode("idle", 1)
    assert rig.board.mode_of(0) == ControlMode.POSITION_DIRECT  # of an axis without coupling


def test_torques_of_coupled_axes_do_the_work_that_the_joints_do():
    rig = eyes()
    rig.board.set_control_mode("torque")
    rig.board.refer("torque", [0.3, 0.0, -0.1])
    rig.step(20)
    rig.board.write()
    joints = rig.engine.data.qfrc_actuator[[0, 2]] @ rig.engine.data.qvel[[0, 2]]
    axes = rig.board.read_row("torque") @ rig.board.read_row("velocity")
    assert axes == pytest.approx(joints, rel=1e-9)
    assert rig.board.read_row("torque") == pytest.approx([0.3, 0.0, -0.1], abs=1e-9)


def test_coupled_axes_change_their_modes_together():
    rig = eyes()
    rig.board.set_control_mode("torque", 0)
    assert [rig.board.mode_of(a) for a in range(3)] == [ControlMode.TORQUE, ControlMode.POSITION, ControlMode.TORQUE]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "eyes"}, "did you mean|must be one of"),
        ({"kind": "eyes_vergence_control", "axes": ("a",)}, "two axes and two joints"),
        ({"kind": "pinky_control", "axes": ("a", "b")}, "must have one axis, and three joints"),
        ({"kind": "pinky_control", "axes": ("a",), "joints": tuple("uvwxy")}, "three joints for each finger"),
        ({"kind": "fingers_abduction_control", "axes": ("a",), "joints": tuple("uvwxyz")}, "one axis and four joints"),
        ({"kind": "linear"}, "matrix of 2 rows"),
        ({"kind": "linear", "axes": ("a", "b", "c")}, "at least as many joints"),
    ],
)
def test_a_coupling_that_does_not_fit_is_refused(options, message):
    with pytest.raises(ModelError, match=message):
        Coupling(**{"axes": ("a", "b"), "joints": ("x", "y"), **options})


# -- the description ---------------------------------------------------------------------


def test_a_fake_board_has_axes_that_are_never_configured():
    robot = Robot(mujoco.MjSpec.from_string(ARM.format(gravity=0.0, actuators="")))
    robot.devices.append(ControlBoard(name="hand", axes=("thumb", "index")))
    rig = Rig(robot)
    rig.step(3)
    assert [rig.board.mode_of(a) for a in range(2)] == [ControlMode.NOT_CONFIGURED] * 2
    assert rig.board.read_row("position").tolist() == [0.0, 0.0]
    with pytest.raises(DeviceError, match="fake"):
        rig.board.set_control_mode("position")


def test_parts_of_a_robot_get_a_board_each_and_a_wrong_joint_is_named():
    robot = Robot(mujoco.MjSpec.from_string(ARM.format(gravity=0.0, actuators="")))
    add_control_boards(robot, {"upper": ["shoulder"], "lower": ["slide", "wrist"]}, position_kp=[100.0])
    assert [(b.name, b.joints) for b in robot.devices] == [("upper", ("shoulder",)), ("lower", ("slide", "wrist"))]
    with pytest.raises(ModelError, match="did you mean 'wrist'"):
        add_control_boards(robot, {"hand": ["wrst"]})


def test_a_board_follows_its_robot_under_a_prefix_and_keeps_the_names_of_its_axes():
    robot = Robot(mujoco.MjSpec())
    one = Robot(mujoco.MjSpec.from_string(ARM.format(gravity=0.0, actuators="")))
    add_control_boards(one, {"arm": list(JOINTS)})
    robot.attach(one, prefix="left_")
    (board,) = robot.devices
    assert (board.name, board.joints, board.axis_names) == ("left_arm", tuple("left_" + j for j in JOINTS), JOINTS)
    robot.compile()


def test_boards_are_described_in_yaml(tmp_path):
    (tmp_path / "arm.xml").write_text(ARM.format(gravity=0.0, actuators=""))
    file = tmp_path / "robot.yaml"
    file.write_text(
        "model: arm.xml\nboards:\n  hand: [wrist]\n  arm:\n    joints: [shoulder, slide]\n    position_kp: [50, 60]\n"
    )
    hand, arm_board = load(file).devices
    assert hand.joints == ("wrist",)
    assert arm_board.position_kp == (50.0, 60.0)
    file.write_text("model: arm.xml\nboards:\n  arm:\n    joints: [shoulder, slider]\n")
    with pytest.raises(ModelError, match="slide") as caught:
        load(file)
    assert caught.value.line == 4


@pytest.mark.parametrize(
    ("coupling", "message"),
    [
        ("[{kind: linear, axes: [a], joints: [wrist], matrix: [[x]]}]", "matrix is"),
        (
            "[{kind: linear, axes: [a], joints: [wrist], matrix: 5, joint: b}]",
            "no option 'joint'; did you mean 'joints'",
        ),
        ("[{kind: linear, axes: [a], joints: [wrist], matrix: [[.nan]]}]", "matrix is"),
        ("[{axes: [a]}]", "must be a mapping with kind, axes, joints"),
        ("[7]", "must be a mapping with kind, axes, joints"),
        ("7", "couplings is 7; must be a list of mappings"),
    ],
)
def test_a_coupling_in_yaml_that_does_not_fit_is_refused_at_its_line(tmp_path, coupling, message):
    (tmp_path / "arm.xml").write_text(ARM.format(gravity=0.0, actuators=""))
    file = tmp_path / "robot.yaml"
    file.write_text(f"model: arm.xml\nboards:\n  arm:\n    joints: [wrist]\n    couplings: {coupling}\n")
    with pytest.raises(ModelError, match=message) as caught:
        load(file)
    assert caught.value.line == 5


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"joints": ("a", "b"), "position_kp": (1.0, 2.0, 3.0)}, "must be 1, or 2"),
        ({"joints": ("a", "a")}, "twice"),
        ({"joints": ("a",), "trajectory": "spline"}, "minimum_jerk"),
        ({"joints": ("a",), "speed": (np.nan,)}, "numbers"),
        ({"joints": ("a",), "axes": ("x", "y")}, "must be as many"),
        ({}, "no axis"),
    ],
)
def test_a_board_that_does_not_fit_is_refused(fields, message):
    with pytest.raises(ModelError, match=message):
        ControlBoard(name="arm", **fields)


def test_a_coupling_with_a_number_that_is_not_finite_is_refused():
    with pytest.raises(ModelError, match="must have finite numbers in its matrix"):
        Coupling(kind="linear", axes=("a",), joints=("wrist",), matrix=((np.nan,),))


def test_a_simulation_runs_a_board_and_takes_commands_through_its_mailbox():
    robot = Robot(mujoco.MjSpec.from_string(ARM.format(gravity=0.0, actuators="")))
    add_control_boards(robot, {"arm": list(JOINTS)}, speed=[1.0], position_kd=[40.0])
    rig = Rig(robot)
    sim = Simulation(rig.engine, [rig.board])
    with sim:
        rig.board.inbox.put({"position": [0.2, 0.1, -0.3]}, mode="position")
        sim.run(2.0)
    assert rig.board.read_row("position") == pytest.approx([0.2, 0.1, -0.3], abs=1e-3)

"""One program on two back ends: the arm in this process, and pliant's own server through pylibfranka."""

import logging
import os
import subprocess
import sys

import mujoco
import numpy as np
import pytest
from daily import by_day
from fci_clients import served

from pliant.base.errors import BridgeError, DeviceError, ModelError
from pliant.franka.client import FrankaRobot
from pliant.franka.device.parameters import Payload
from pliant.franka.device.settings import Settings
from pliant.franka.robots import dynamics, kinematics
from pliant.franka.robots.build import Q_START
from pliant.franka.robots.parameters import EE_OF_HAND, FER, FR3, FRANKA_HAND

LOAD = Payload(
    mass=0.8, center_of_mass=(0.02, -0.03, 0.12), inertia=(2e-3, 1e-4, 0.0, 1e-4, 3e-3, 0.0, 0.0, 0.0, 1.5e-3)
)
eMc = np.array([[0.0, -1.0, 0.0, 0.05], [1.0, 0.0, 0.0, -0.02], [0.0, 0.0, 1.0, -0.06], [0.0, 0.0, 0.0, 1.0]])


@pytest.fixture
def robot():
    with FrankaRobot.simulated("fer", friction=False) as made:
        yield made


def program(robot):
    """What a user would write; returns what was seen on the way."""
    seen = {"start": robot.get_position()}
    goal = seen["start"] + [0.3, 0.1, -0.2, 0.2, 0.1, -0.1, 0.4]
    robot.set_positioning_velocity(50)
    robot.set_position("joint", goal)
    seen["goal"] = robot.get_position()
    assert np.abs(seen["goal"] - goal).max() < 2e-4
    robot.set_robot_state("velocity")
    for _ in range(200):
        robot.set_velocity("end_effector", [0.0, 0.02, -0.05, 0.0, 0.0, 0.1])
    seen["twist"] = robot.get_velocity("end_effector")
    seen["after velocity"] = robot.get_position()
    robot.stop_motion()
    for _ in range(800):  # how long the arm takes to the next line depends on the machine: let it come to rest
        robot.backend.idle()
    robot.set_robot_state("force_torque")
    # A whole period, which ends slowly.
    for k in range(300):
        robot.set_force_torque("joint", 0.4 * np.sin(2 * np.pi * k / 300) * np.array([1, 1, 1, 1, 0.2, 0.2, 0.1]))
    seen["after torque"] = robot.get_position()
    seen["torque"] = robot.get_force_torque()
    seen["mass"] = robot.get_mass()
    seen["coriolis"] = robot.get_coriolis()
    seen["gravity"] = robot.get_gravity()
    seen["friction"] = robot.get_friction()
    seen["pose"] = robot.get_fMe()
    robot.stop_motion()
    robot.add_tool(EE_OF_HAND, 0.3, [0.0, 0.0, 0.05], 1e-3 * np.eye(3))
    seen["tool"] = np.array([robot.get_tool_mass(), *robot.get_flMcom()[:3, 3]])
    seen["moved"] = np.array([robot.gripper_move(0.03)])
    seen["width"] = np.array([robot.get_gripper_width()])
    assert robot.mode == "idle"
    return seen


@pytest.mark.network
@pytest.mark.slow
@pytest.mark.parametrize(("name", "arm"), by_day([("franka", "fer"), ("fr3", "fr3")], lambda case: case[1] == "fr3"))
def test_the_same_program_sees_the_same_arm_in_process_and_through_the_interface(name, arm):
    with served(name) as host, FrankaRobot.connect(host, arm=arm) as robot:
        far = program(robot)
    with pytest.raises(BridgeError, match="closed"):
        robot.get_position()
    with FrankaRobot.simulated(arm, static_friction=True) as robot:
        near = program(robot)
    # states travel in float32, and the program's own control acts on them
    tolerance = dict.fromkeys(near, 1e-6) | {"torque": 5e-4, "gravity": 1e-4, "width": 1e-3, "friction": 1e-4}
    for key, value in near.items():
        np.testing.assert_allclose(far[key], value, atol=tolerance[key], rtol=0, err_msg=key)


@pytest.mark.network
def test_a_robot_that_does_not_answer_is_an_error_in_words():
    pytest.importorskip("pylibfranka")
    with pytest.raises(BridgeError, match=r"127\.9\.9\.9"):
        FrankaRobot.connect("127.9.9.9")


@pytest.mark.network
def test_a_thread_that_drives_a_served_arm_keeps_its_priority():
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    with served("franka") as host, FrankaRobot.connect(host) as robot:
        connected = os.sched_getscheduler(0), os.sched_getparam(0)
        robot.set_robot_state("velocity")
        robot.set_velocity("joint", np.zeros(7))
        robot.wait(0.01)
        robot.stop_motion()
        assert (os.sched_getscheduler(0), os.sched_getparam(0)) == connected == before


def test_two_runs_give_the_same_bits():
    def run():
        with FrankaRobot.simulated("fr3") as robot:
            return b"".join(value.tobytes() for value in program(robot).values())

    assert run() == run()


@pytest.mark.parametrize("percent", [20, 100])
def test_a_position_is_reached_within_the_speed_asked(robot, percent):
    goal = Q_START + np.array([1.0, 0.3, -0.5, 0.4, 0.2, 0.3, -1.0])
    robot.set_positioning_velocity(percent)
    fastest = np.zeros(7)
    exchange = robot.backend.exchange

    def watch(values):
        np.maximum(fastest, np.abs(values), out=fastest)
        exchange(values)

    robot.backend.exchange = watch
    robot.set_position("joint", goal)
    assert robot.get_robot_state() == "position"
    np.testing.assert_allclose(robot.get_position(), goal, atol=2e-4)
    assert np.all(fastest <= np.array(FER.limits.velocity) * percent / 100 + 1e-9)
    assert np.abs(robot.get_velocity()).max() < 1e-2


@pytest.mark.parametrize("frame", ["end_effector", "camera"])
def test_a_pose_is_reached(robot, frame):
    robot.set_eMc(eMc)
    goal = robot.get_position(frame)
    goal[:3, 3] += [0.05, -0.1, -0.08]
    robot.set_position(frame, goal)
    np.testing.assert_allclose(robot.get_position(frame), goal, atol=5e-4)


@pytest.mark.parametrize("frame", ["end_effector", "reference", "camera"])
def test_a_twist_is_followed_in_its_frame(robot, frame):
    robot.set_eMc(eMc)
    twist = np.array([0.03, -0.02, 0.04, 0.1, 0.05, -0.1])
    robot.set_robot_state("velocity")
    for _ in range(400):
        robot.set_velocity(frame, twist)
    np.testing.assert_allclose(robot.get_velocity(frame), twist, atol=2e-4)
    # truth by differences of poses, the frame's own motion included
    before = robot.get_position("camera" if frame == "camera" else "end_effector")
    robot.wait(0.001)
    after = robot.get_position("camera" if frame == "camera" else "end_effector")
    step = (after - before) / 1e-3
    v = step[:3, 3] if frame == "reference" else before[:3, :3].T @ step[:3, 3]
    np.testing.assert_allclose(v, twist[:3], atol=2e-3)
    omega = step[:3, :3] @ before[:3, :3].T
    omega = np.array([omega[2, 1], omega[0, 2], omega[1, 0]])
    np.testing.assert_allclose(omega if frame == "reference" else before[:3, :3].T @ omega, twist[3:], atol=2e-3)


def test_a_velocity_beyond_the_limits_is_scaled_and_changes_within_the_limits(robot):
    sent = []
    exchange = robot.backend.exchange
    robot.backend.exchange = lambda v: (sent.append(v), exchange(v))
    robot.set_robot_state("velocity")
    for _ in range(300):
        robot.set_velocity("joint", [9.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(sent[-1], [2.175, 0, 0, 0.725, 0, 0, 0], atol=1e-9)
    robot.stop_motion()
    assert np.abs(sent[-1]).max() == 0.0
    v = np.array([np.zeros(7), *sent])
    a = np.diff(v, axis=0) / 1e-3
    assert np.all(np.abs(a) <= np.array(FER.limits.acceleration))
    assert np.all(np.abs(np.diff(a, axis=0)) / 1e-3 <= np.array(FER.limits.jerk) + 1e-6)


def test_zero_torque_floats_and_a_wrench_accelerates_by_the_inverse_inertia(robot):
    robot.set_robot_state("force_torque")
    for _ in range(200):
        robot.set_force_torque("joint", np.zeros(7))
    np.testing.assert_allclose(robot.get_position(), Q_START, atol=1e-9)
    wrench = np.array([0.0, 0.3, 0.2, 0.0, 0.01, 0.0])
    q = robot.get_position()
    expected = np.linalg.solve(robot.get_mass(), robot.get_fJe().T @ wrench)
    # slower than the torque loops, which hide the motors' inertia: 1/(100 rad/s)
    for _ in range(300):
        robot.set_force_torque("reference", 0.1 * wrench, filter_gain=1.0)
    assert np.abs(robot.get_velocity() - 0.03 * expected).max() < 0.05 * np.abs(0.03 * expected).max()
    assert np.abs(robot.get_position() - q).max() > 0


def test_the_torque_filter_is_of_first_order(robot):
    sent = []
    exchange = robot.backend.exchange
    robot.backend.exchange = lambda tau: (sent.append(tau), exchange(tau))
    robot.set_robot_state("force_torque")
    for _ in range(30):
        robot.set_force_torque("joint", [0.5, 0, 0, 0, 0, 0, 0], filter_gain=0.1)
    np.testing.assert_allclose(np.array(sent)[:, 0], 0.5 * (1 - 0.9 ** np.arange(1, 31)), atol=1e-12)


def test_torques_change_by_at_most_a_thousand_newton_metres_a_second_and_too_large_ones_warn(caplog):
    fast = Settings().without("joint_velocity_violation")
    with FrankaRobot.simulated("fer", friction=False, settings=fast) as robot:
        robot.set_robot_state("force_torque")
        with caplog.at_level(logging.WARNING, "pliant.franka"):
            for _ in range(5):
                robot.set_force_torque("joint", [0, 0, 0, 0, 0, 0, 5.0], filter_gain=1.0)
        assert robot.backend.get("tau_J_d")[6] == pytest.approx(5.0, abs=0.01)
        assert not [r for r in caplog.records if r.name == "pliant.franka"]
        with caplog.at_level(logging.WARNING, "pliant.franka"):
            for _ in range(10):
                robot.set_force_torque("joint", [0, 0, 0, 0, 0, 0, 13.0], filter_gain=1.0)
        assert "joint 7" in caplog.text


def test_the_model_is_that_of_the_library_at_the_present_state(robot):
    robot.set_robot_state("velocity")
    for _ in range(100):
        robot.set_velocity("joint", [0.2, -0.1, 0.3, 0.1, 0.2, 0.1, -0.3])
    q, dq = robot.get_position(), robot.get_velocity()
    np.testing.assert_array_equal(robot.get_mass(), dynamics.mass(q, FRANKA_HAND))
    C = robot.get_coriolis_matrix()
    np.testing.assert_array_equal(C, dynamics.coriolis(q, dq, FRANKA_HAND))
    np.testing.assert_allclose(robot.get_coriolis(), C @ dq, atol=1e-15)
    np.testing.assert_array_equal(robot.get_friction(), dynamics.friction(dq))
    np.testing.assert_array_equal(robot.get_gravity(), dynamics.gravity(q, FRANKA_HAND))
    robot.set_g0([0.0, 0.0, -9.80665])
    np.testing.assert_allclose(robot.get_gravity(), dynamics.gravity(q, FRANKA_HAND) * 9.80665 / 9.81, atol=1e-12)


def test_frames_and_jacobians_fit_together(robot):
    robot.set_eMc(eMc)
    q = np.array([0.3, -0.5, 0.2, -2.0, 0.4, 1.5, 0.9])
    np.testing.assert_allclose(robot.get_fMe(q), kinematics.forward_kinematics(q), atol=1e-15)
    np.testing.assert_allclose(robot.get_fMc(q), robot.get_fMe(q) @ eMc, atol=1e-15)
    R = robot.get_fMe(q)[:3, :3]
    np.testing.assert_allclose(np.kron(np.eye(2), R) @ robot.get_eJe(q), robot.get_fJe(q), atol=1e-14)
    np.testing.assert_array_equal(robot.get_eMc(), eMc)
    np.testing.assert_allclose(robot.get_flMe(), EE_OF_HAND, atol=1e-15)


def test_a_tool_that_the_controller_knows_floats_and_an_unknown_one_sinks():
    def drift(tell):
        with FrankaRobot.simulated("fer", friction=False, load=LOAD) as robot:
            if tell:
                X = np.eye(4)
                X[:3, 3] = LOAD.center_of_mass
                robot.add_tool(EE_OF_HAND, LOAD.mass, X, np.reshape(LOAD.inertia, (3, 3)))
                assert robot.get_tool_mass() == pytest.approx(FRANKA_HAND.mass + LOAD.mass)
            robot.wait(1.0)
            robot.set_robot_state("force_torque")
            start = robot.get_position()
            for _ in range(300):
                robot.set_force_torque("joint", np.zeros(7))
            return np.abs(robot.get_position() - start).max()

    assert drift(tell=True) < 1e-5
    assert drift(tell=False) > 0.01


def test_a_load_is_in_the_world_what_the_model_says():
    with FrankaRobot.simulated("fer", friction=False, load=LOAD) as robot:
        engine = robot.backend.simulation.engine
        M = np.zeros((engine.model.nv, engine.model.nv))
        mujoco.mj_forward(engine.model, engine.data)
        mujoco.mj_fullM(engine.model, M, engine.data.qM) if hasattr(engine.data, "qM") else mujoco.mj_fullM(
            engine.model, engine.data, M
        )
        expected = dynamics.mass(Q_START, FRANKA_HAND.combined(LOAD)) + 0.15 * np.diag(FER.motor_inertia)
        # the fingers stand open: their inertia exceeds that of the closed hand by less than 1e-4
        np.testing.assert_allclose(M[:7, :7], expected, atol=2e-4)


def test_a_period_of_twenty_milliseconds_lets_that_much_robot_time_pass():
    with FrankaRobot.simulated("fer", friction=False, period=0.02) as robot:
        robot.set_robot_state("velocity")
        before = robot.time
        robot.set_velocity("joint", [0.1] * 7)
        assert robot.time - before == pytest.approx(0.02)


def test_after_a_reflex_the_robot_stops_names_it_and_recovers(robot):
    robot.set_robot_state("force_torque")
    robot.set_force_torque("joint", [0, 0, 0, 0, 0, 0, 3.0])
    with pytest.raises(DeviceError, match="joint_velocity_violation"):
        robot.wait(2.0)
    assert robot.get_robot_state() == "stop"
    assert robot.mode == "reflex"
    with pytest.raises(DeviceError, match="reflex"):
        robot.set_robot_state("velocity")
    robot.wait(1.0)
    robot.automatic_error_recovery()
    assert robot.mode == "idle"
    robot.set_position("joint", robot.get_position() + 0.05)


def test_the_hand_opens_closes_and_grasps_nothing(robot):
    robot.gripper_homing()
    assert robot.gripper_open()
    assert robot.get_gripper_width() == pytest.approx(0.08, abs=1e-3)
    assert robot.gripper_close()
    assert not robot.gripper_grasp(0.03)
    robot.gripper_release()
    with pytest.raises(DeviceError, match="refused"):
        robot.gripper_move(0.5)


@pytest.mark.parametrize("state", ["velocity", "force_torque"])
def test_the_hand_moves_while_the_arm_does(robot, state):
    robot.set_robot_state(state)
    if state == "velocity":
        robot.set_velocity("joint", [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.2])
    start, begun = robot.get_position()[6], robot.time
    assert robot.gripper_move(0.03)
    assert robot.get_robot_state() == state
    assert robot.get_gripper_width() == pytest.approx(0.03, abs=1e-3)
    moved = robot.get_position()[6] - start
    assert moved == pytest.approx(0.2 * (robot.time - begun) if state == "velocity" else 0.0, abs=0.02)
    first, second = robot.gripper_begin(0.02), robot.gripper_begin(0.07)
    assert second() is None
    robot.wait(1.0)
    assert second()
    with pytest.raises(DeviceError, match="aborted"):
        first()
    robot.stop_motion()
    assert robot.mode == "idle"


def moving_hand(robot, *, hand=True):
    """Open and close the hand of a moving arm; return time, joint positions and width in each cycle."""
    robot.set_position("joint", Q_START + 0.1)  # at rest, robot time does not wait for the program
    robot.get_gripper_width()
    robot.set_robot_state("velocity")
    begun, rows, done = robot.time, [], None
    for k in range(900):
        if hand and k in (50, 500):
            done = robot.gripper_begin(0.02 if k == 50 else 0.04)
        robot.set_velocity("joint", [0.0, 0.1, 0.0, 0.2, 0.0, 0.0, 0.3])
        answered = done is not None and done() is not None
        rows.append([robot.time - begun, *robot.get_position(), robot.get_gripper_width(), float(answered)])
    robot.stop_motion()
    return np.array(rows)


@pytest.mark.network
@pytest.mark.slow
def test_the_hand_of_a_served_arm_moves_in_the_same_cycles_while_the_arm_does():
    with FrankaRobot.simulated("fr3", static_friction=True) as robot:
        near = moving_hand(robot)
    with FrankaRobot.simulated("fr3", static_friction=True) as robot:
        alone = moving_hand(robot, hand=False)
    with served("fr3") as host, FrankaRobot.connect(host, arm="fr3") as robot:
        far = moving_hand(robot)
        with pytest.raises(DeviceError, match="fail"):
            robot.gripper_move(0.5)
    answered = np.flatnonzero(np.diff(near[:, 9]) > 0)
    assert len(answered) == 2
    np.testing.assert_array_equal(far[:, 9], near[:, 9])  # the answers come in the same cycles
    np.testing.assert_allclose(far[:, :8], near[:, :8], atol=5e-6)
    np.testing.assert_allclose(alone[:, :8], near[:, :8], atol=2e-4)  # the fingers hardly move the arm
    assert near[answered, 8] == pytest.approx([0.02, 0.04], abs=1e-3)
    # The hand sends its state in every tenth cycle: its width is that of one of the last ten.
    for k in range(20, 900):
        assert np.abs(near[k - 10 : k + 1, 8] - far[k, 8]).min() < 2e-4


@pytest.mark.parametrize("wait", [0.0, 0.005, 0.1])
def test_a_hand_that_is_pressed_shut_grasps_with_a_width_of_zero(robot, wait):
    assert not robot.gripper_grasp(0.03, 20.0)
    robot.wait(wait)
    assert robot.gripper_grasp(0.0, 20.0)
    assert robot.get_gripper_width() < 1e-3


def test_an_arm_without_hand_has_none():
    with FrankaRobot.simulated("fr3", hand=False) as robot:
        assert robot.get_tool_mass() == 0.0
        np.testing.assert_allclose(robot.get_flMe(), np.eye(4))
        with pytest.raises(DeviceError, match="no hand"):
            robot.gripper_open()


def test_position_files_are_those_of_visp(robot, tmp_path):
    path = tmp_path / "home.pos"
    goal = Q_START + 0.1
    robot.save_pos_file(path, goal)
    assert "R: 5.7" in path.read_text()
    np.testing.assert_allclose(robot.read_pos_file(path), goal, atol=1e-10)
    robot.move(path, 50)
    np.testing.assert_allclose(robot.get_position(), goal, atol=2e-4)
    path.write_text("# nothing\nR: 1 2 3\n")
    with pytest.raises(DeviceError, match=r"home\.pos:2"):
        robot.read_pos_file(path)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda r: r.set_robot_state("speed"), "'speed'"),
        (lambda r: r.set_velocity("joint", [0] * 7), "set_robot_state"),
        (lambda r: r.set_force_torque("joint", [0] * 7), "set_robot_state"),
        (lambda r: r.get_position("join"), "'joint'"),
        (lambda r: r.get_force_torque("camera"), "camera"),
        (lambda r: r.set_position("joint", [0.0] * 6), r"\(7,\)"),
        (lambda r: r.set_position("joint", [3.0, 0, 0, -1, 0, 1, 0]), "joint 1"),
        (lambda r: r.set_position("joint", [np.nan] * 7), "finite"),
        (lambda r: r.set_position("end_effector", np.ones((4, 4))), "homogeneous"),
        (lambda r: r.set_positioning_velocity(0), "100"),
        (lambda r: r.set_eMc(np.eye(3)), "eMc"),
        (lambda r: r.set_g0([1, 2]), "g0"),
        (lambda r: r.add_tool(np.eye(4), 1.0, [0, 0, 0], np.eye(2)), "inertia"),
        (lambda r: r.read_pos_file("/nowhere.pos"), "nowhere"),
        (lambda r: FrankaRobot(r.backend, period=0.0015), "milliseconds"),
        (lambda r: FrankaRobot(r.backend, period=np.nan), "period is nan; must be a whole number of milliseconds"),
        (lambda r: FrankaRobot(r.backend, period="20 ms"), "period is '20 ms'; must be a whole number"),
        (lambda r: r.wait(-1.0), "duration is -1.0; must be a finite number >= 0"),
        (lambda r: r.wait(np.nan), "duration is nan; must be a finite number >= 0"),
        (lambda r: r.set_position("joint", Q_START, tolerance=np.nan), "tolerance is nan; must be a finite number > 0"),
        (lambda r: r.set_position("joint", Q_START, tolerance=0.0), "tolerance is 0; must be > 0"),
        (lambda r: r.set_position("joint", Q_START, timeout=np.nan), "timeout is nan; must be None, or a finite"),
        (lambda r: r.set_position("joint", "home"), "position is 'home'; must be 7 numbers"),
        (lambda r: r.set_positioning_velocity("fast"), "positioning velocity is 'fast'"),
        (lambda r: r.set_eMc("wrist"), "eMc is 'wrist'; must be a homogeneous transform"),
        (lambda r: r.add_tool(np.eye(4), "1 kg"), "mass is '1 kg'; must be a finite number >= 0"),
        (lambda r: r.add_tool(np.eye(4), 1.0, "middle"), "flMcom is 'middle'"),
        (lambda r: r.gripper_move(np.nan), "width is nan; must be a finite number >= 0"),
        (lambda r: r.save_pos_file("/nowhere/home.pos", Q_START), "cannot write positions"),
    ],
)
def test_bad_input_is_named(robot, call, words):
    with pytest.raises(DeviceError, match=words):
        call(robot)


def test_what_the_model_refuses_is_an_error(robot):
    with pytest.raises(ModelError, match="mass"):
        robot.add_tool(np.eye(4), -1.0)
    with pytest.raises(ModelError, match="fer"):
        FrankaRobot.simulated("fre")
    far = np.eye(4)
    far[0, 3] = 3.0
    with pytest.raises(ModelError, match="found"):
        robot.set_position("end_effector", far)
    robot.set_robot_state("velocity")
    robot.set_velocity("joint", [0.0] * 7)
    with pytest.raises(DeviceError, match="stop"):
        robot.add_tool(np.eye(4))
    with pytest.raises(DeviceError, match="finite"):
        robot.set_velocity("joint", [np.inf] * 7)
    robot.set_robot_state("force_torque")
    with pytest.raises(DeviceError, match="filter_gain"):
        robot.set_force_torque("joint", [0.0] * 7, filter_gain=2.0)


def test_a_start_outside_of_the_limits_is_refused():
    with pytest.raises(DeviceError, match="joint 6"):
        FrankaRobot.simulated(FR3, q=[0, 0, 0, -1, 0, 0.1, 0])


def test_verbose_changes_the_level_of_what_is_logged(robot, caplog):
    with caplog.at_level(logging.INFO, "pliant.franka"):
        robot.set_robot_state("position")
        assert not caplog.records
        robot.verbose = True
        robot.set_robot_state("stop")
    assert "state stop" in caplog.text


def test_importing_the_package_of_the_robots_stays_light():
    code = "import sys, pliant.franka.robots; assert 'numba' not in sys.modules and 'mujoco' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_guiding_user_stop_and_brakes_are_methods(robot):
    for press, mode in ((robot.guide, "guiding"), (robot.user_stop, "user_stopped"), (robot.brakes, "other")):
        press()
        robot.wait(0.002)
        assert robot.backend.mode == mode
        press(False)
        robot.wait(0.002)
        assert robot.backend.mode == "idle"
    robot.user_stop()
    with pytest.raises(DeviceError, match="the robot's mode is user_stopped"):
        robot.guide()
    with pytest.raises(DeviceError, match="refused"):
        robot.set_robot_state("velocity")
    robot.user_stop(False)
    robot.set_robot_state("velocity")
    robot.stop_motion()

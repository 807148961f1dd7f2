"""The cases of franka_ros2's own tests on hardware, against a served arm: what each example controller commands.

franka_ros2 2.5 lists them in `test_hardware_example_controllers.py`, `test_hardware_generic_controller.py` and
`test_hardware_franka_gripper_position.py`: each controller runs for 10 s from the start pose without an error. The
controllers run on `franka_hardware` in the client's computer; what reaches the robot are motions of its interface.
Here their published motions are sent through the same protocol version, on both types of arm of those tests.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pliant.franka.robots import kinematics
from pliant.franka.testing_client import FciClient
from pliant.franka.wire import fci

pytestmark = [pytest.mark.network, pytest.mark.slow]

FOLDER = Path(__file__).parent / "fci"
READY = np.array([0.0, -np.pi / 4, 0.0, -3 * np.pi / 4, 0.0, np.pi / 2, np.pi / 4])
IMPEDANCE, EXTERNAL = fci.Controller.JOINT_IMPEDANCE, fci.Controller.EXTERNAL
POSITION, VELOCITY, POSE, TWIST, NONE = fci.MotionGenerator
SOFT = np.array([24, 24, 24, 24, 10, 6, 2]), np.array([2, 2, 2, 1, 1, 1, 0.5])
STIFF = np.array([600, 600, 600, 600, 250, 150, 50]), np.array([30, 30, 30, 30, 10, 10, 5])
DURATION = 10.0


@pytest.fixture(scope="module", params=os.environ.get("PLIANT_FRANKA_CASES", "fr3v2").split(","))
def host(request):
    """Serve an arm in a process of its own, on the vendor's ports of an address of its own."""
    address = f"127.{10 + os.getpid() % 200}.{100 + len(request.param)}.1"
    words = [sys.executable, FOLDER / "serve.py", f"--host={address}", f"--arm={request.param}", "--command-timeout=5"]
    server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdin is not None
    assert server.stdout is not None
    assert server.stdout.readline().strip() == "READY"
    yield address
    server.stdin.close()
    server.stdout.read()
    server.wait(60)
    server.stdout.close()


def run(client, controller, generator, command, duration):
    """Run a motion; command(t, first, state) returns the keywords of `FciClient.command`. Return its last states."""
    number, first = client.begin(fci.Move(controller=controller, motion_generator=generator))
    state, cycles = first, round(1000 * duration)
    path = np.empty((cycles, 7))
    for k in range(cycles):
        client.command(state, finish=k == cycles - 1, **command(1e-3 * k, first, state))
        state = client.state()
        assert not state.error_names(), f"{state.error_names()} after {k} ms"
        path[k] = state.q
    while state.robot_mode == fci.RobotMode.MOVE:  # the last command is repeated until the robot has stopped
        client.command(state, finish=True, **command(duration, first, state))
        state = client.state()
    assert client.answer(number) == "success"
    assert state.robot_mode == fci.RobotMode.IDLE
    return path


def torques(goal, gains):
    """Return the law of a controller that holds joint positions goal(t, first); its torques change by 0.9 N m a ms."""
    last = np.zeros(7)

    def command(t, first, state):
        nonlocal last
        wanted = gains[0] * (goal(t, first) - state.q) - gains[1] * state.dq
        last = last + np.clip(wanted - last, -0.9, 0.9)
        return {"tau": last}

    return command


def swing(t, period):
    return 1.0 - np.cos(2.0 * np.pi / period * t)


def move_to_start(t, first):
    s = min(1.0, t / 3.0)
    return first.q + s**3 * (10.0 - 15.0 * s + 6.0 * s * s) * (READY - first.q)


def joint_impedance(t, first):
    goal = np.array(first.q)
    goal[3:5] += np.pi / 8 * swing(t, 5.0)
    return goal


def shifted(t, first):
    """Return the pose of the Cartesian examples: on an arc of 0.1 m around a point below."""
    pose = np.array(first.O_T_EE_c)
    angle = np.pi / 4 * swing(t, 10.0)
    pose[12] -= 0.1 * np.sin(angle)
    pose[14] -= 0.1 * (np.cos(angle) - 1.0)
    return pose


def with_ik():
    last = None

    def goal(t, first):
        nonlocal last
        last = np.array(first.q) if last is None else last
        T = shifted(t, first).reshape(4, 4).T
        last = kinematics.inverse_kinematics(T, last, F_T_EE=first.F_T_EE.reshape(4, 4).T)
        return last

    return goal


def turned(t, first):
    pose = np.array(first.O_T_EE_c).reshape(4, 4).T
    angle = np.pi / 8 * swing(t, 10.0)
    c, s = np.cos(angle), np.sin(angle)
    pose[:3, :3] = np.array([[1, 0, 0], [0, c, -s], [0, s, c]]) @ pose[:3, :3]
    return pose.T.ravel()


def elbow(t, first):
    return [first.elbow[0] + np.pi / 15 * swing(t, 10.0), first.elbow[1]]


def joint_positions(t, first):
    signs = np.where(np.arange(7) == 4, -1.0, 1.0)
    return np.array(first.q_d) + 0.2 * np.pi / 16 * swing(t, 10.0) * signs


def joint_velocities(t):
    omega = (-1.0) ** (t // 8.0) * 0.05 * swing(t, 8.0)
    return np.where(np.isin(np.arange(7), (3, 4)), omega, 0.0)


def twist(t):
    v = (-1.0) ** (t // 4.0) * 0.025 * swing(t, 4.0)
    return [np.sqrt(0.5) * v, 0.0, -np.sqrt(0.5) * v, 0.0, 0.0, 0.0]


CASES = {
    "move_to_start": lambda: (EXTERNAL, NONE, torques(move_to_start, STIFF)),
    "cartesian_elbow": lambda: (
        IMPEDANCE, POSE, lambda t, first, state: {"pose": np.array(first.O_T_EE_c), "elbow": elbow(t, first)}
    ),
    "cartesian_orientation": lambda: (IMPEDANCE, POSE, lambda t, first, state: {"pose": turned(t, first)}),
    "cartesian_pose": lambda: (IMPEDANCE, POSE, lambda t, first, state: {"pose": shifted(t, first)}),
    "cartesian_velocity": lambda: (IMPEDANCE, TWIST, lambda t, first, state: {"twist": twist(t)}),
    "elbow": lambda: (IMPEDANCE, TWIST, lambda t, first, state: {"twist": np.zeros(6), "elbow": elbow(t, first)}),
    "gravity_compensation": lambda: (EXTERNAL, NONE, lambda t, first, state: {"tau": np.zeros(7)}),
    "joint_impedance": lambda: (EXTERNAL, NONE, torques(joint_impedance, SOFT)),
    "joint_impedance_with_ik": lambda: (EXTERNAL, NONE, torques(with_ik(), STIFF)),
    "joint_position": lambda: (IMPEDANCE, POSITION, lambda t, first, state: {"q": joint_positions(t, first)}),
    "joint_velocity": lambda: (IMPEDANCE, VELOCITY, lambda t, first, state: {"dq": joint_velocities(t)}),
}  # fmt: skip
"""Example controller -> controller and motion generator of Move, and its commands."""
MOVES = {
    "cartesian_elbow": 0.3, "cartesian_orientation": 0.3, "cartesian_pose": 0.1, "cartesian_velocity": 0.05,
    "elbow": 0.3, "joint_impedance": 0.5, "joint_impedance_with_ik": 0.1, "joint_position": 0.05, "joint_velocity": 0.3,
}  # fmt: skip
"""Example controller -> largest joint angle that it must have moved at least [rad]."""


@pytest.mark.parametrize("case", CASES)
def test_an_example_controller_runs_for_10_s_from_the_start_pose(host, case):
    with FciClient(host, 1337) as client:
        path = run(client, EXTERNAL, NONE, torques(move_to_start, STIFF), 4.0 if case == "move_to_start" else 3.2)
        assert np.abs(path[-1] - READY).max() < 0.01
        if case != "move_to_start":
            path = run(client, *CASES[case](), DURATION)
            moved = np.abs(path - path[0]).max()
            assert MOVES.get(case, 0.0) <= moved < 1.5


def test_the_model_example_reads_poses_jacobian_and_dynamics(host):
    pylibfranka = pytest.importorskip("pylibfranka")
    robot = pylibfranka.Robot(host, pylibfranka.RealtimeConfig.kIgnore)
    state, model = robot.read_once(), robot.load_model()
    mass = np.reshape(model.mass(state), (7, 7))
    np.testing.assert_allclose(mass, mass.T, atol=1e-9)
    assert np.linalg.eigvalsh(mass)[0] > 0.0
    assert np.shape(model.zero_jacobian(state)) in ((42,), (6, 7))
    assert np.isfinite([*model.coriolis(state), *model.gravity(state)]).all()


def test_the_gripper_test_reaches_its_widths(host):
    pylibfranka = pytest.importorskip("pylibfranka")
    gripper = pylibfranka.Gripper(host)
    for width in (0.02, 0.05, 0.08):
        assert gripper.move(width, 1.0)
        assert gripper.read_once().width == pytest.approx(width, abs=0.005)


def test_the_gripper_example_opens_and_grasps(host):
    pylibfranka = pytest.importorskip("pylibfranka")
    gripper = pylibfranka.Gripper(host)
    assert gripper.move(0.08, 0.2)
    assert not gripper.grasp(0.015, 0.05, 60.0, 0.005, 0.01)  # nothing lies between the fingers

"""The arm as a device: command modes through the mailbox, the robot state as its sample, requests."""

import numpy as np
import pytest

from pliant.base.errors import DeviceError
from pliant.devices import make_devices
from pliant.devices.base import Device
from pliant.engine import MujocoEngine
from pliant.franka.device.arm import MODES, REQUESTS, SAMPLES, CommandValues, FrankaArm
from pliant.franka.robots import kinematics
from pliant.franka.robots.build import Q_START, ArmMount, build_arms
from pliant.franka.robots.parameters import FR3, FRANKA_HAND
from pliant.franka.wire import fci
from pliant.simulation import Simulation


@pytest.fixture
def simulation():
    robot = build_arms(friction=False)
    with Simulation(MujocoEngine(robot), make_devices(robot)) as made:
        made.step()
        yield made


def arm_of(simulation):
    return simulation.devices["franka"]


def ask(simulation, name, **fields):
    """Ask, step once, and return the result."""
    future = simulation.request("franka", name, **fields)
    simulation.step()
    return future.result(0.0)


def move(simulation, mode, **fields):
    """Start the motion of a command mode with joint impedance or torques."""
    chosen = MODES[mode]
    controller = fci.Controller.EXTERNAL if chosen.torque else fci.Controller.JOINT_IMPEDANCE
    return ask(simulation, "move", controller=controller, motion_generator=chosen.generator, **fields)


def test_the_arm_keeps_the_contract_of_a_device(simulation):
    arm = arm_of(simulation)
    assert isinstance(arm, FrankaArm)
    assert isinstance(arm, Device)
    assert set(arm.commands) == set(MODES)
    assert arm.period_ns == arm.sample_period_ns == 1_000_000


def test_the_sample_is_the_robot_state_read_only_and_of_the_declared_shapes(simulation):
    sample = simulation.sample("franka")
    assert list(sample.values) == list(SAMPLES) == list(arm_of(simulation).samples)
    assert len(sample.values) == len(SAMPLES)
    for name, info in SAMPLES.items():
        value = sample.values[name]
        assert np.shape(value) == info.shape, name
        if info.shape:
            assert value.dtype == np.float64
            assert not value.flags.writeable
            with pytest.raises(ValueError, match="read-only"):
                value[0] = 1.0
        else:
            assert isinstance(value, float)
    with pytest.raises(KeyError):
        sample.values["torque"]
    np.testing.assert_allclose(sample.values["q"], Q_START, atol=1e-12)
    assert sample.values["m_ee"] == FRANKA_HAND.mass
    assert sample.values["robot_mode"] == fci.RobotMode.IDLE


def test_a_sample_does_not_change_when_the_arm_moves_on(simulation):
    first = simulation.sample("franka")
    before = {name: np.copy(value) for name, value in first.values.items()}
    move(simulation, "joint_velocity")
    for k in range(50):
        arm_of(simulation).inbox.put({"dq_c": np.full(7, 0.001 * k)})
        simulation.step()
    assert simulation.sample("franka").values["message_id"] == first.values["message_id"] + 51
    assert np.abs(simulation.sample("franka").values["q"] - before["q"]).max() > 1e-5
    for name, value in first.values.items():
        np.testing.assert_array_equal(value, before[name], err_msg=name)


@pytest.mark.parametrize("mode", MODES)
def test_every_command_mode_runs_a_motion_through_the_mailbox(simulation, mode):
    arm = arm_of(simulation)
    assert arm.inbox.accepted == frozenset()
    assert move(simulation, mode) == "started"
    assert arm.mode == mode
    assert arm.inbox.accepted == {mode}
    simulation.step()
    state = simulation.sample("franka").values
    hold = {
        "q_c": state["q_d"],
        "dq_c": np.zeros(7),
        "O_T_EE_c": kinematics.forward_kinematics(state["q_d"]).T.reshape(-1),
        "O_dP_EE_c": np.zeros(6),
        "tau_J_d": np.zeros(7),
    }
    values = {name: hold[name] for name in arm.commands[mode] if name in hold}
    for _ in range(30):
        arm.inbox.put(values, seq=int(simulation.sample("franka").values["message_id"]))
        simulation.step()
        assert simulation.sample("franka").values["robot_mode"] == fci.RobotMode.MOVE
        assert simulation.sample("franka").values["success_rate"] == 1.0
    np.testing.assert_allclose(simulation.sample("franka").values["q"], Q_START, atol=1e-4)
    arm.inbox.put({**values, "finished": 1.0})
    for _ in range(1000):
        simulation.step()
        if not arm.mode:
            break
    assert simulation.sample("franka").values["robot_mode"] == fci.RobotMode.IDLE
    assert arm.inbox.accepted == frozenset()


def test_a_command_outside_of_its_motion_is_refused(simulation):
    arm = arm_of(simulation)
    with pytest.raises(DeviceError, match="takes none"):
        arm.inbox.put({"tau_J_d": np.zeros(7)}, mode="torque")
    move(simulation, "torque")
    with pytest.raises(DeviceError, match="'joint_velocity' came while the device takes 'torque'"):
        arm.inbox.put({"dq_c": np.zeros(7)}, mode="joint_velocity")
    with pytest.raises(DeviceError, match="finite"):
        arm.inbox.put({"tau_J_d": np.full(7, np.nan)})


def test_missing_commands_end_the_motion_as_on_the_robot(simulation):
    answers = []
    move(simulation, "torque", answered=answers.append)
    simulation.step()
    arm_of(simulation).inbox.put({"tau_J_d": np.zeros(7)})
    simulation.step(25)
    values = simulation.sample("franka").values
    assert values["robot_mode"] == fci.RobotMode.REFLEX
    assert values["errors"][fci.ERRORS.index("communication_constraints_violation")] == 1.0
    assert [a.status for a in answers] == ["started", "reflex"]
    assert ask(simulation, "automatic_error_recovery") == ""
    simulation.step(60)
    assert simulation.sample("franka").values["robot_mode"] == fci.RobotMode.IDLE


def test_a_command_of_the_interface_has_the_values_of_its_mode():
    motion = np.arange(38.0)
    torque = np.arange(7.0)
    for elbow in (False, True):
        command = fci.RobotCommand(
            message_id=3, motion=motion, tau_J_d=torque, valid_elbow=elbow, torque_command_finished=True
        )
        values = CommandValues("torque_with_cartesian_pose", command)
        assert set(values) == {"tau_J_d", "O_T_EE_c", "finished"} | ({"elbow_c"} if elbow else set())
        assert len(values) == 3 + elbow
        np.testing.assert_array_equal(values["O_T_EE_c"], motion[14:30])
        np.testing.assert_array_equal(values["tau_J_d"], torque)
        assert values["finished"] == 1.0
        values = CommandValues("joint_velocity", command)
        assert dict(values).keys() == {"dq_c", "finished"}
        assert values["finished"] == 0.0
        with pytest.raises(KeyError):
            values["tau_J_d"]


def test_the_requests_are_those_of_the_interface(simulation):
    arm = arm_of(simulation)
    of_the_arm = {name for name in REQUESTS.values() if not name.startswith("vacuum")}  # it has a hand
    assert set(arm.requests) == {*of_the_arm, "user_stop", "guide", "brakes", "disconnect"}
    assert "set_load(*, mass: " in arm.requests["set_load"]
    load = {"mass": 0.5, "F_x_Cload": (0.0, 0.0, 0.1), "I_load": (1e-3, 0, 0, 0, 1e-3, 0, 0, 0, 1e-3)}
    assert ask(simulation, "set_load", **load) == "success"
    assert simulation.sample("franka").values["m_load"] == 0.5
    with pytest.raises(DeviceError, match=r"set_load.*mass"):
        simulation.request("franka", "set_load", weight=1.0)
    with pytest.raises(DeviceError, match="SetLoad was refused: invalid_argument"):
        ask(simulation, "set_load", **(load | {"mass": -1.0}))
    move(simulation, "torque")
    with pytest.raises(DeviceError, match=r"not_possible .the robot.s mode is move"):
        ask(simulation, "set_load", **load)


def test_the_user_stop_ends_a_motion_and_holds_the_arm(simulation):
    answers = []
    move(simulation, "torque", answered=answers.append)
    ask(simulation, "user_stop")
    assert simulation.sample("franka").values["robot_mode"] == fci.RobotMode.USER_STOPPED
    assert [a.status for a in answers] == ["started", "emergency"]
    with pytest.raises(DeviceError, match="not_possible"):
        move(simulation, "torque")
    ask(simulation, "user_stop", pressed=False)
    assert move(simulation, "torque") == "started"


def test_guiding_starts_and_ends_by_request(simulation):
    ask(simulation, "guide")
    assert simulation.sample("franka").values["robot_mode"] == fci.RobotMode.GUIDING
    with pytest.raises(DeviceError, match="guiding starts only from idle"):
        ask(simulation, "guide")
    ask(simulation, "guide", pressed=False)
    assert simulation.sample("franka").values["robot_mode"] == fci.RobotMode.IDLE


def test_the_hand_is_asked_like_the_arm(simulation):
    answers = []
    assert ask(simulation, "gripper_move", width=0.06, speed=0.1, answered=answers.append) == ""
    simulation.step(1000)
    assert [a.status for a in answers] == ["success"]
    assert simulation.sample("franka").values["gripper_width"] == pytest.approx(0.06, abs=1e-3)
    with pytest.raises(DeviceError, match="GripperMove was refused: fail"):
        ask(simulation, "gripper_move", width=1.0, speed=0.1)


def test_an_arm_without_a_hand_says_so():
    robot = build_arms([ArmMount(arm=FR3, hand="none")])
    with Simulation(MujocoEngine(robot), make_devices(robot)) as simulation:
        simulation.step()
        assert simulation.sample("franka").values["gripper_width"] == 0.0
        assert simulation.sample("franka").values["m_ee"] == 0.0
        with pytest.raises(DeviceError, match="no request 'gripper_homing'"):
            ask(simulation, "gripper_homing")


def test_a_reset_repeats_a_run_bit_by_bit(simulation):
    def run():
        simulation.reset()
        simulation.step()
        move(simulation, "torque")
        seen = []
        for k in range(100):
            arm_of(simulation).inbox.put({"tau_J_d": 0.2 * np.sin(0.1 * k) * np.ones(7)})
            simulation.step()
            seen.append(simulation.sample("franka").values.state.reals.tobytes())
        return b"".join(seen)

    assert run() == run()


def test_two_arms_of_one_robot_move_on_their_own():
    robot = build_arms([ArmMount(name="left", position=(0, 0.5, 0)), ArmMount(name="right", position=(0, -0.5, 0))])
    with Simulation(MujocoEngine(robot), make_devices(robot)) as simulation:
        simulation.step()
        simulation.request("left", "move", controller=2, motion_generator=4)
        simulation.step()
        for _ in range(100):
            simulation.devices["left"].inbox.put({"tau_J_d": [0.5, 0, 0, 0, 0, 0, 0]})
            simulation.step()
        assert simulation.sample("left").values["q"][0] > 1e-4
        np.testing.assert_allclose(simulation.sample("right").values["q"], Q_START, atol=1e-6)


@pytest.mark.parametrize(("hand", "tools"), [("none", set()), ("fingers", {"gripper"}), ("vacuum", {"vacuum"})])
def test_an_arm_has_the_requests_of_the_tool_that_it_carries(hand, tools):
    arm = make_devices(build_arms([ArmMount(arm=FR3, hand=hand)]))[0]
    assert {name.partition("_")[0] for name in arm.requests} & {"gripper", "vacuum"} == tools


@pytest.mark.parametrize(
    ("hand", "name", "values"),
    [
        ("fingers", "gripper_homing", {}),
        ("fingers", "gripper_move", {"width": 0.01, "speed": 0.05}),
        (
            "fingers",
            "gripper_grasp",
            {"width": 0.0, "epsilon_inner": 0.005, "epsilon_outer": 0.005, "speed": 0.05, "force": 10.0},
        ),
        ("vacuum", "vacuum", {"vacuum": 60, "timeout": 300}),
        ("vacuum", "vacuum_drop_off", {"timeout": 300}),
    ],
)
def test_a_request_of_the_tool_is_answered_although_the_client_of_the_arm_leaves_meanwhile(hand, name, values):
    robot = build_arms([ArmMount(arm=FR3, hand=hand)])
    with Simulation(MujocoEngine(robot), make_devices(robot), pacer="free") as simulation:
        arm, answers, moves = simulation.devices["franka"], [], []
        arm.request("move", controller=2, motion_generator=4, answered=moves.append)
        arm.request(name, answered=answers.append, **values)
        simulation.step(5)
        arm.request("disconnect")
        simulation.step(3000)
        assert [answer.status for answer in moves] == ["started"]  # nobody is there to hear of its end
        assert len(answers) == 1
        assert answers[0].status != "started"

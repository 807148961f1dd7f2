"""pylibfranka against the server: every motion mode, stop, reflex, recovery, asynchronous targets, gripper."""

import faulthandler
import hashlib
import sys
import time

import numpy as np
import pylibfranka as f
from steps import Steps

HOST = sys.argv[1]
faulthandler.dump_traceback_later(200, exit=True)
step = Steps()
JOINT, CARTESIAN = f.ControllerMode.JointImpedance, f.ControllerMode.CartesianImpedance
robot = f.Robot(HOST, f.RealtimeConfig.kIgnore)
FIELDS = ("q", "dq", "q_d", "dq_d", "tau_J", "tau_J_d", "O_T_EE", "O_T_EE_c", "tau_ext_hat_filtered", "O_F_ext_hat_K")


def fresh():
    """Return a state that is newer than the last request: the socket may still hold older ones."""
    for _ in range(150):
        state = robot.read_once()
    return state


def run(control, make, seconds, digest=None):
    """One start / readOnce / writeOnce loop; returns cycles, real-time factor, and the lowest success rate."""
    t, cycles, lowest, wall = 0.0, 0, 1.0, time.perf_counter()
    while True:
        state, period = control.readOnce()
        t += period.to_sec()
        cycles += 1
        lowest = min(lowest, state.control_command_success_rate)
        if digest is not None:
            for name in FIELDS:
                digest.update(np.asarray(getattr(state, name), float).tobytes())
        given = make(state, t)
        if t >= seconds:
            given.motion_finished = True
        control.writeOnce(given)
        if t >= seconds:
            break
    wall = time.perf_counter() - wall
    assert lowest == 1.0, f"success rate fell to {lowest}"
    return {"cycles": cycles, "real_time_factor": round(seconds / wall, 2)}


def expect(name, act):
    text = "no exception"
    try:
        act()
    except f.ControlException as fault:
        text = str(fault)
    assert name in text, text
    return text


@step
def connect_and_read():
    state = robot.read_once()
    assert state.robot_mode == f.RobotMode.Idle
    assert abs(state.m_ee - 0.73) < 1e-6
    assert np.allclose(state.O_ddP_O if hasattr(state, "O_ddP_O") else (0, 0, -9.81), (0, 0, -9.81), atol=1e-6)
    return [round(x, 3) for x in state.q]


@step
def states_of_a_motion_from_rest():
    for _ in range(5):
        q_start = np.array(fresh().q_d)
    digest = hashlib.sha256()

    def make(state, t):
        q = q_start.copy()
        q[1] += 0.1 * (1 - np.cos(2 * np.pi * t))
        return f.JointPositions(q.tolist())

    run(robot.start_joint_position_control(JOINT), make, 1.0, digest)
    return digest.hexdigest()


@step
def setters():
    robot.set_collision_behavior([20.0] * 7, [20.0] * 7, [20.0] * 6, [20.0] * 6)
    robot.set_joint_impedance([3000.0, 3000.0, 3000.0, 2500.0, 2500.0, 2000.0, 2000.0])
    robot.set_cartesian_impedance([3000.0, 3000.0, 3000.0, 300.0, 300.0, 300.0])
    robot.set_load(0.1, [0.0, 0.0, 0.05], [1e-4, 0, 0, 0, 1e-4, 0, 0, 0, 1e-4])
    assert abs(fresh().m_total - 0.83) < 1e-6
    robot.set_load(0.0, [0.0] * 3, [0.0] * 9)
    eye = np.eye(4).reshape(-1).tolist()
    robot.set_EE(eye)
    robot.set_K(eye)


@step
def setters_refuse_nonsense():
    refused = 0
    for call in (lambda: robot.set_load(-1.0, [0.0] * 3, [0.0] * 9), lambda: robot.set_joint_impedance([-1.0] * 7)):
        try:
            call()
        except f.CommandException:
            refused += 1
    assert refused == 2


@step
def model():
    from pliant.franka.robots import dynamics
    from pliant.franka.robots.parameters import FR3, FRANKA_HAND

    served = robot.load_model()
    state = fresh()
    q = np.array(state.q)
    errors = {
        "mass": np.abs(np.reshape(served.mass(state), (7, 7)) - dynamics.mass(q, FRANKA_HAND, arm=FR3)).max(),
        "gravity": np.abs(np.array(served.gravity(state)) - dynamics.gravity(q, FRANKA_HAND, arm=FR3)).max(),
        "coriolis": np.abs(np.array(served.coriolis(state))).max(),
    }
    # the end effector's inertia travels in float32
    assert max(errors.values()) < 1e-5, errors
    return {name: float(value) for name, value in errors.items()}


@step
def joint_position():
    start = {}

    def make(state, t):
        q = start.setdefault("q", np.array(state.q_d)).copy()
        q[[3, 4, 6]] += np.pi / 8 * (1 - np.cos(np.pi / 2.5 * t)) * np.array([1, 1, 1])
        return f.JointPositions(q.tolist())

    result = run(robot.start_joint_position_control(JOINT), make, 5.0)
    assert np.allclose(fresh().q, start["q"], atol=1e-3)
    return result


@step
def joint_velocity():
    def make(state, t):
        omega = 0.3 * (1 - np.cos(2 * np.pi / 2.0 * t)) * (1 if t < 2.0 else -1)
        return f.JointVelocities([0, 0, 0, omega, omega, omega, omega])

    return run(robot.start_joint_velocity_control(JOINT), make, 4.0)


@step
def cartesian_pose():
    start = {}

    def make(state, t):
        T = start.setdefault("T", np.array(state.O_T_EE_c)).copy()
        angle = np.pi / 4 * (1 - np.cos(np.pi / 5 * t))
        T[12] += 0.1 * np.sin(angle)
        T[14] += 0.1 * (np.cos(angle) - 1)
        return f.CartesianPose(T.tolist())

    result = run(robot.start_cartesian_pose_control(JOINT), make, 10.0)
    assert np.allclose(fresh().O_T_EE, start["T"], atol=2e-3)
    return result


@step
def cartesian_pose_with_cartesian_impedance():
    start = {}

    def make(state, t):
        T = start.setdefault("T", np.array(state.O_T_EE_c)).copy()
        T[13] += 0.05 * (1 - np.cos(np.pi * t))
        return f.CartesianPose(T.tolist())

    return run(robot.start_cartesian_pose_control(CARTESIAN), make, 2.0)


@step
def cartesian_velocity():
    def make(state, t):
        v = 0.05 * (1 - np.cos(2 * np.pi / 2.0 * t)) * (1 if t < 2.0 else -1)
        return f.CartesianVelocities([v, 0, -v, 0, 0, 0])

    return run(robot.start_cartesian_velocity_control(CARTESIAN), make, 4.0)


@step
def torque():
    return run(robot.start_torque_control(), lambda state, t: f.Torques([0.0] * 7), 5.0)


@step
def joint_impedance_in_torques():
    served = robot.load_model()
    start = {}
    # the gains of the vendor's joint_impedance_control
    K, D = np.array([600.0, 600, 600, 600, 250, 150, 50]), np.array([50.0, 50, 50, 50, 30, 25, 15])

    def make(state, t):
        q0 = start.setdefault("q", np.array(state.q)).copy()
        q0[[0, 6]] += 0.1 * (1 - np.cos(np.pi * t))
        tau = K * (q0 - state.q) - D * np.array(state.dq) + np.array(served.coriolis(state))
        return f.Torques(tau.tolist())

    return run(robot.start_torque_control(), make, 2.0)


@step
def torques_from_averaged_velocities():
    # the law, gains and filters of the vendor's motion_with_control: five velocities averaged, torques low-passed
    start, past, last = {}, [], np.zeros(7)
    gain = 1e-3 / (1e-3 + 1.0 / (2.0 * np.pi * 100.0))

    def make(state, t):
        nonlocal last
        q0 = start.setdefault("q", np.array(state.q)).copy()
        past.append(np.array(state.dq))
        q0[3] += 0.1 * (1 - np.cos(np.pi * t))
        tau = 200.0 * (q0 - state.q) - 10.0 * np.mean(past[-5:], axis=0)
        last = gain * tau + (1.0 - gain) * last
        return f.Torques(last.tolist())

    return run(robot.start_torque_control(), make, 2.0)


def move_to(goal, seconds):
    start = {}

    def make(state, t):
        s = min(1.0, t / seconds)
        q0 = start.setdefault("q", np.array(state.q_d))
        return f.JointPositions((q0 + (np.array(goal) - q0) * (10 * s**3 - 15 * s**4 + 6 * s**5)).tolist())

    run(robot.start_joint_position_control(JOINT), make, seconds)


@step
def a_cartesian_motion_at_the_height_of_the_base():
    # where the vendor's cartesian_velocity_example begins: the hand is 26 mm above the base, and no floor is there
    home = np.array(fresh().q_d)
    move_to([0.0, np.pi / 4, 0.0, -3 * np.pi / 4, 0.0, np.pi / 2, np.pi / 4], 3.0)

    def make(state, t):
        v = 0.05 * (1 - np.cos(np.pi * t)) * (1 if t < 2.0 else -1)
        return f.CartesianVelocities([v, 0, v, 0, 0, 0])

    result = run(robot.start_cartesian_velocity_control(CARTESIAN), make, 4.0)
    move_to(home, 3.0)
    return result


@step
def a_joint_that_passed_its_limit_is_recovered():
    home = np.array(fresh().q_d)

    def act():
        def make(state, t):
            # joint 6 downwards with 0.8 rad/s, the others held
            tau = 100.0 * (home - state.q) - 10.0 * np.array(state.dq)
            tau[5] = 20.0 * (-min(0.8, 4.0 * t) - state.dq[5])
            return f.Torques(tau.tolist())

        run(robot.start_torque_control(), make, 5.0)

    text = expect("joint_position_limits_violation", act)
    robot.automatic_error_recovery()
    state = fresh()
    assert state.robot_mode == f.RobotMode.Idle
    assert state.q[5] > 0.54092
    move_to(home, 3.0)
    return text


@step
def stop_ends_a_motion():
    control = robot.start_joint_velocity_control(JOINT)
    for _ in range(50):
        control.readOnce()
        control.writeOnce(f.JointVelocities([0.0] * 7))
    robot.stop()
    assert fresh().robot_mode == f.RobotMode.Idle


@step
def an_abandoned_control_object_ends_its_motion():
    control = robot.start_torque_control()
    control.readOnce()
    control.writeOnce(f.Torques([0.0] * 7))
    del control
    assert fresh().robot_mode == f.RobotMode.Idle


@step
def a_jump_is_a_discontinuity():
    def act():
        start = {}

        def make(state, t):
            q = start.setdefault("q", np.array(state.q_d)).copy()
            q[2] += 0.1 if t > 0.05 else 0.0
            return f.JointPositions(q.tolist())

        run(robot.start_joint_position_control(JOINT), make, 1.0)

    text = expect("joint_motion_generator_velocity_discontinuity", act)
    assert fresh().robot_mode == f.RobotMode.Reflex
    return text


@step
def recovery():
    robot.automatic_error_recovery()
    state = fresh()
    assert state.robot_mode == f.RobotMode.Idle
    assert not state.current_errors
    assert state.last_motion_errors


@step
def a_torque_jump_is_a_discontinuity():
    text = expect(
        "controller_torque_discontinuity",
        lambda: run(
            robot.start_torque_control(), lambda s, t: f.Torques([0, 0, 0, 0, 0, 0, 3.0 if t > 0.1 else 0]), 1.0
        ),
    )
    robot.automatic_error_recovery()
    return text


@step
def a_silent_client_violates_the_communication_constraints():
    def act():
        control = robot.start_joint_velocity_control(JOINT)
        for _ in range(10):
            control.readOnce()
            control.writeOnce(f.JointVelocities([0.0] * 7))
        time.sleep(25 * float(sys.argv[2]))
        control.readOnce()
        control.writeOnce(f.JointVelocities([0.0] * 7))
        for _ in range(10):
            control.readOnce()

    text = expect("communication_constraints_violation", act)
    robot.automatic_error_recovery()
    return text


@step
def a_second_client_is_refused():
    try:
        f.Robot(HOST, f.RealtimeConfig.kIgnore)
    except f.NetworkException as fault:
        return str(fault)
    raise AssertionError("a second client was let in")


@step
def asynchronous_targets():
    assert fresh().robot_mode == f.RobotMode.Idle
    start = np.array(fresh().q_d)
    handlers = f.AsyncPositionControlHandler
    made = handlers.configure(robot, handlers.Configuration([1.0] * 7, 0.005))
    assert made.handler is not None, made.error_message
    handler = made.handler
    goal = start.copy()
    goal[0] += 0.2
    sent = handler.set_joint_position_target(handlers.JointPositionTarget(goal.tolist()))
    assert sent.was_successful, sent.error_message
    began = time.time()
    while time.time() - began < 60.0:
        feedback = handler.get_target_feedback()
        if "REACHED" in str(feedback.status).upper():
            break
        time.sleep(0.001)
    handler.stop_control()
    assert "REACHED" in str(feedback.status).upper(), (str(feedback.status), feedback.error_message)
    return str(feedback.status)


@step
def gripper():
    hand = f.Gripper(HOST)
    assert hand.homing()
    assert hand.move(0.05, 0.1)
    for _ in range(20):
        state = hand.read_once()
    assert abs(state.width - 0.05) < 2e-3
    assert not hand.grasp(0.03, 0.1, 20.0, 0.005, 0.005)
    assert hand.grasp(0.0, 0.1, 20.0, 0.005, 0.005)
    hand.stop()
    return round(state.max_width, 4)

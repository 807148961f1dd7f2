"""The cabinet as a state machine and as a controller, against MuJoCo physics, without sockets."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
from daily import by_day
from franka_plant import Plant

from pliant.base.errors import DeviceError
from pliant.franka.device.cabinet import Cabinet
from pliant.franka.device.gripper import Gripper
from pliant.franka.device.memory import N_CAPSULES
from pliant.franka.device.reflex_kernels import self_collision
from pliant.franka.device.settings import CHECKS, Settings
from pliant.franka.robots import dynamics, kinematics
from pliant.franka.robots.build import Q_START, ArmMount
from pliant.franka.robots.kinematics import frames
from pliant.franka.robots.parameters import EE_OF_HAND, FER, FR3, FRANKA_HAND, HAND
from pliant.franka.wire import fci
from pliant.franka.wire.fci import RobotMode

JOINT, CARTESIAN, EXTERNAL = 0, 1, 2
POSITION, VELOCITY, POSE, TWIST, NONE = 0, 1, 2, 3, 4
QUIET = fci.SetCollisionBehavior(
    **{name: (1e6,) * (7 if "torque" in name else 6) for name in fci.SetCollisionBehavior.__dataclass_fields__}
)


class Rig:
    """One arm with its cabinet; `run` advances milliseconds."""

    def __init__(self, *, friction=False, mount=None, settings=None, spec=None):
        mount = mount or ArmMount()
        self.plant = Plant((mount,), friction=friction, spec=spec)
        self.arm = self.plant.arms[0]
        settings = settings or Settings(friction_compensation=friction)
        self.cabinet = Cabinet(
            mount.arm,
            settings=settings,
            gravity=self.arm.gravity,
            rotor_inertia=self.arm.rotor_inertia,
            q=mount.q,
            end_effector=FRANKA_HAND if mount.hand == "fingers" else None,
            F_T_NE=EE_OF_HAND if mount.hand == "fingers" else None,
        )
        self.gripper = Gripper(HAND, width=0.04)
        self.answers = []
        self.states = []

    @property
    def q(self):
        return self.arm.read()[0].copy()

    def begin(self):
        return self.cabinet.observe(self.arm.read())

    def end(self, command=None):
        self.arm.write(self.cabinet.control(command))
        if self.arm.has_hand:
            self.arm.write_hand(self.gripper.step(*self.arm.read_hand()))
        self.plant.step()
        self.answers += self.cabinet.take_answers()

    def run(self, milliseconds, command=None):
        """Run cycles; command(state, k) returns a RobotCommand or None. Stops early at a motion's end."""
        for k in range(milliseconds):
            state = self.begin()
            given = None if command is None else command(state, k)
            self.end(given)
            if command is not None and not self.cabinet.moving:
                break
        return self.begin()

    def move(self, controller, generator, **options):
        options = {"maximum_path_deviation": (10.0, 3.12, 6.2832), **options}
        self.cabinet.request(fci.Move(controller=controller, motion_generator=generator, **options), 7)
        answers = self.cabinet.take_answers()
        self.answers += answers
        return answers[-1].status

    def request(self, request, command_id=1):
        self.cabinet.request(request, command_id)
        return self.cabinet.take_answers()[-1].status if self.cabinet.answers else None

    def statuses(self, command="Move"):
        return [a.status for a in self.answers if a.command == command]


def command(state, *, finish=False, torque_finish=False, elbow=None, q=None, dq=None, T=None, v=None, tau=None):
    motion = np.zeros(38)
    for values, at in ((q, 0), (dq, 7), (T, 14), (v, 30), (elbow, 36)):
        if values is not None:
            motion[at : at + len(values)] = values
    return fci.RobotCommand(
        message_id=state.message_id,
        motion=motion,
        tau_J_d=np.zeros(7) if tau is None else np.asarray(tau, float),
        valid_elbow=elbow is not None,
        motion_generation_finished=finish,
        torque_command_finished=torque_finish,
    )


@pytest.fixture
def rig():
    return Rig()


def smooth(k, total):
    """A jerk-limited ramp from 0 to 1."""
    s = min(1.0, k / total)
    return 10 * s**3 - 15 * s**4 + 6 * s**5


# ------------------------------------------------------------------------------------------------- states


def swinging(generator, controller, start, k):
    """Return the command of cycle k of a swing that has a motion finish while it still moves."""
    a = 0.02 * smooth(k, 400)
    T = start.copy()
    T[12:15] += a
    rate = 30e-6 / 0.4e-3 * (k / 400) ** 2 * (1 - k / 400) ** 2
    fields = {
        POSITION: {"q": Q_START + a},
        VELOCITY: {"dq": [rate] * 7},
        POSE: {"T": T},
        TWIST: {"v": [rate] * 6, "elbow": [0.2 * a, -1.0]},
        NONE: {},
    }[generator]
    return fields | ({"tau": [2 * a] * 7} if controller == EXTERNAL else {})


@pytest.mark.parametrize("generator", [POSITION, VELOCITY, POSE, TWIST, NONE])
@pytest.mark.parametrize("controller", [JOINT, CARTESIAN, EXTERNAL])
def test_in_every_state_each_rate_is_that_of_its_quantity_and_each_pose_that_of_its_joints(controller, generator):
    if generator == NONE and controller != EXTERNAL:
        pytest.skip("only torques come without a generator")
    rig = Rig()
    rig.request(fci.SetLoad(mass=0.2, F_x_Cload=(0.0, 0.0, 0.1), I_load=(0.0,) * 9))  # so that q is not q_d
    states = []
    for k in range(-300, 900):
        if k == 0:
            start = states[-1].O_T_EE_c.copy()
            assert rig.move(controller, generator) == "started"
        state = rig.begin()
        states.append(state)
        moving = k >= 0 and rig.cabinet.moving
        done = k >= 300
        fields = swinging(generator, controller, start, k) if moving else {}
        rig.end(command(state, **fields, finish=done, torque_finish=done) if moving else None)
    assert rig.statuses() == ["started", "success"], states[-1].error_names()
    del states[0]  # before it nothing has driven the motors
    F_T_EE, dt = states[0].matrix("F_T_EE"), 1e-3
    rows = {
        name: np.array([getattr(s, name) for s in states])
        for name in (
            "q_d", "dq_d", "ddq_d", "O_T_EE_c", "O_T_EE_d", "O_dP_EE_c", "O_dP_EE_d", "O_ddP_EE_c",
            "elbow_c", "delbow_c", "ddelbow_c", "tau_J", "dtau_J", "theta", "dtheta",
        )
    }  # fmt: skip

    def check(rate, of, within, where=slice(None)):
        np.testing.assert_allclose(rows[rate][1:][where], (np.diff(of, axis=0) / dt)[where], rtol=1e-7, atol=within)

    q, dq = rows["q_d"][1:], rows["dq_d"][1:]
    twist = np.einsum("kij,kj->ki", kinematics.jacobian(q, F_T_EE=F_T_EE), dq)
    np.testing.assert_allclose(rows["O_dP_EE_d"][1:], twist, atol=1e-9)
    poses = kinematics.forward_kinematics(q, F_T_EE=F_T_EE).swapaxes(1, 2).reshape(-1, 16)
    np.testing.assert_allclose(rows["O_T_EE_d"][1:], poses, atol=1e-12)
    np.testing.assert_allclose(rows["O_T_EE_c"][1:], rows["O_T_EE_d"][1:], atol=1e-8)
    check("dtau_J", rows["tau_J"], 1e-9)
    check("dtheta", rows["theta"], 1e-9)
    # Elsewhere q_d became the measured position, or the first command.
    smooth_there = np.abs(np.diff(rows["q_d"], axis=0) - dt * dq).max(axis=1) <= 1e-9
    assert smooth_there.sum() > 1000
    np.testing.assert_allclose(
        rows["delbow_c"][1:, 0][smooth_there], np.diff(rows["elbow_c"][:, 0])[smooth_there] / dt, rtol=1e-6, atol=1e-5
    )
    np.testing.assert_allclose(
        rows["O_dP_EE_c"][1:, :3][smooth_there],
        np.diff(rows["O_T_EE_c"][:, 12:15], axis=0)[smooth_there] / dt,
        atol=2e-4,
    )
    check("O_ddP_EE_c", rows["O_dP_EE_c"], 1e-6, smooth_there)
    if generator != NONE:  # q_d is the measured position, and no acceleration is desired
        check("ddq_d", rows["dq_d"], 1e-6, smooth_there)
        np.testing.assert_allclose(
            rows["ddelbow_c"][1:, 0][smooth_there],
            np.diff(rows["delbow_c"][:, 0])[smooth_there] / dt,
            rtol=1e-6,
            atol=1e-6,
        )


def test_the_estimated_wrench_stays_when_a_frame_or_a_load_changes():
    rig = Rig()
    push(rig, [0, 0, 10, 0, 0, 0])
    rig.run(1000)
    T = np.eye(4).T.reshape(-1)
    before = rig.begin().tau_ext_hat_filtered.copy()
    assert np.abs(before).max() > 1.0
    for request in (fci.SetEEToK(EE_T_K=tuple(T)), fci.SetNEToEE(NE_T_EE=tuple(T))):
        assert rig.request(request) == "success"
        rig.end()
        np.testing.assert_allclose(rig.begin().tau_ext_hat_filtered, before, rtol=0.01, atol=0.01)


# ------------------------------------------------------------------------------------------------ holding


def test_an_idle_arm_holds_its_place(rig):
    state = rig.run(2000)
    np.testing.assert_allclose(state.q, Q_START, atol=1e-9)
    assert state.robot_mode == RobotMode.IDLE
    assert state.message_id == 2001
    assert np.abs(state.tau_ext_hat_filtered).max() < 1e-9


UPRIGHT, TILTED = (0.0, 0.0, 0.0), (1.2, -0.4, 0.3)


@pytest.mark.parametrize(
    ("arm", "rpy"),
    [
        pytest.param(FER, UPRIGHT, id="upright-fer", marks=pytest.mark.nightly),
        pytest.param(FR3, UPRIGHT, id="upright-fr3", marks=pytest.mark.nightly),
        pytest.param(FER, TILTED, id="tilted-fer", marks=pytest.mark.nightly),
        pytest.param(FR3, TILTED, id="tilted-fr3"),
    ],
)
def test_with_zero_torque_the_arm_floats_and_drifts_less_than_a_milliradian_in_a_minute(arm, rpy):
    rig = Rig(mount=ArmMount(arm=arm, rpy=rpy, position=(0, 0, 2.0)))
    rig.run(10)
    assert rig.move(EXTERNAL, NONE) == "started"
    state = rig.run(60_000, lambda s, k: command(s))
    drift = np.abs(state.q - Q_START).max()
    assert drift < 1e-3  # measured 1e-10
    assert rig.cabinet.moving


def test_with_friction_compensated_the_arm_floats_too():
    rig = Rig(friction=True)
    assert rig.move(EXTERNAL, NONE) == "started"
    state = rig.run(5000, lambda s, k: command(s))
    assert np.abs(state.q - Q_START).max() < 1e-6


def push(rig, wrench):
    """Let a wrench (world axes) act on the hand at the end effector's origin from now on."""
    body = rig.plant.model.body("franka_hand").id
    site = rig.plant.model.site("franka_ee").id
    arm = rig.plant.data.site_xpos[site] - rig.plant.data.xipos[body]
    f = np.array(wrench[:3])
    rig.plant.data.xfrc_applied[body] = [*f, *(np.array(wrench[3:]) + np.cross(arm, f))]


def test_the_momentum_observer_recovers_a_known_wrench(rig):
    rig.cabinet.request(fci.SetCartesianImpedance(K_x=(3000.0,) * 3 + (300.0,) * 3))
    rig.run(5)
    wrench = np.array([5.0, -8.0, 6.0, 0.5, -0.3, 0.4])
    for _ in range(2000):
        push(rig, wrench)
        rig.begin()
        rig.end()
    push(rig, wrench)
    state = rig.begin()
    # the published wrench is what the robot exerts on its surroundings
    error = state.O_F_ext_hat_K + wrench
    assert np.abs(error[:3]).max() < 0.2
    assert np.abs(error[3:]).max() < 0.05
    J = kinematics.jacobian(state.q)
    np.testing.assert_allclose(state.tau_ext_hat_filtered, -J.T @ wrench, atol=0.05)
    R = state.matrix("O_T_EE")[:3, :3]
    np.testing.assert_allclose(state.K_F_ext_hat_K[:3], R.T @ state.O_F_ext_hat_K[:3], atol=1e-12)


def test_joint_impedance_yields_by_torque_over_stiffness(rig):
    rig.cabinet.request(fci.SetJointImpedance(K_theta=(300.0,) * 7))
    wrench = np.array([6.0, 4.0, -5.0, 0.0, 0.0, 0.0])
    for _ in range(4000):
        push(rig, wrench)
        rig.begin()
        rig.end()
    state = rig.begin()
    J = kinematics.jacobian(state.q)
    np.testing.assert_allclose(state.q - Q_START, J.T @ wrench / 300.0, atol=2e-4)


def test_cartesian_impedance_yields_by_force_over_stiffness():
    rig = Rig(settings=Settings(friction_compensation=False, collision=QUIET))
    assert rig.request(fci.SetCartesianImpedance(K_x=(500.0, 1000.0, 2000.0, 50.0, 50.0, 50.0))) == "success"
    start = rig.begin().O_T_EE_c.copy()
    assert rig.move(CARTESIAN, POSE) == "started"
    R = kinematics.forward_kinematics(Q_START)[:3, :3]
    force = R @ np.array([5.0, 6.0, 8.0])  # along the axes of the stiffness frame

    def hold(state, k):
        push(rig, [*force, 0, 0, 0])
        return command(state, T=start)

    state = rig.run(4000, hold)
    moved = state.matrix("O_T_EE")[:3, 3] - start[12:15]
    np.testing.assert_allclose(R.T @ moved, [0.01, 0.006, 0.004], rtol=0.02, atol=2e-5)


# ---------------------------------------------------------------------------------------- motion generators


def test_a_joint_motion_is_followed_and_ends_with_success(rig):
    rig.run(3)
    assert rig.move(JOINT, POSITION) == "started"
    goal = Q_START + np.array([0.3, 0.2, -0.2, 0.2, 0.1, -0.1, 0.4])
    state = rig.begin()
    assert (state.robot_mode, state.motion_generator_mode, state.controller_mode) == (2, 1, 0)
    worst = 0.0

    def follow(state, k):
        nonlocal worst
        worst = max(worst, np.abs(state.q - state.q_d).max())
        return command(state, q=Q_START + smooth(k, 1500) * (goal - Q_START), finish=k >= 1500)

    state = rig.run(3000, follow)
    assert rig.statuses() == ["started", "success"]
    np.testing.assert_allclose(state.q, goal, atol=1e-4)
    assert worst < 2e-3
    assert (state.robot_mode, state.motion_generator_mode, state.controller_mode) == (1, 0, 3)
    assert state.success_rate == 0.0


def test_a_joint_velocity_motion_integrates(rig):
    assert rig.move(JOINT, VELOCITY) == "started"
    rig.run(2000, lambda s, k: command(s, dq=[0.2 * np.sin(np.pi * k / 1000) ** 2] * 7, finish=k >= 1000))
    assert rig.statuses() == ["started", "success"]
    np.testing.assert_allclose(rig.q - Q_START, 0.1, atol=1e-3)


def test_a_cartesian_pose_motion_is_followed_by_inverse_kinematics(rig):
    rig.run(3)
    start = rig.begin().matrix("O_T_EE_c").copy()
    assert rig.move(CARTESIAN, POSE) == "started"

    def circle(state, k):
        T = start.copy()
        a = 2 * np.pi * smooth(k, 2000)
        T[:3, 3] += [0.05 * (np.cos(a) - 1), 0.05 * np.sin(a), 0.0]
        return command(state, T=T.T.reshape(-1), finish=k >= 2000)

    worst = 0.0
    for k in range(2000):
        state = rig.begin()
        worst = max(worst, np.abs(state.O_T_EE - state.O_T_EE_d).max())
        np.testing.assert_allclose(state.O_T_EE_d, state.O_T_EE_c, atol=1e-8)
        rig.end(circle(state, k))
        assert rig.cabinet.moving, state.error_names()
    assert worst < 0.01
    rig.run(500, lambda s, k: command(s, finish=True))
    assert rig.statuses() == ["started", "success"]


def test_a_cartesian_velocity_motion_with_elbow_moves_the_elbow_and_keeps_the_pose(rig):
    rig.run(3)
    start = rig.begin().O_T_EE_c.copy()
    assert rig.move(JOINT, TWIST) == "started"

    def swing(state, k):
        return command(state, v=np.zeros(6), elbow=[0.2 * smooth(k, 1500), -1.0], finish=k >= 1500)

    state = rig.run(3000, swing)
    assert rig.statuses() == ["started", "success"], state.error_names()
    assert state.q[2] == pytest.approx(0.2, abs=1e-3)
    np.testing.assert_allclose(state.O_T_EE, start, atol=2e-3)
    assert state.elbow[1] == -1.0


def test_a_cartesian_velocity_motion_goes_as_far_as_its_integral(rig):
    start = rig.begin().O_T_EE_c.copy()
    assert rig.move(CARTESIAN, TWIST) == "started"
    state = rig.run(
        3000,
        lambda s, k: command(s, v=[0, 0.1 * np.sin(np.pi * k / 1000) ** 2, 0, 0, 0, 0], finish=k >= 1000),
    )
    assert rig.statuses() == ["started", "success"], state.error_names()
    np.testing.assert_allclose(state.O_T_EE[12:15] - start[12:15], [0, 0.05, 0], atol=2e-3)


def test_torques_move_the_arm_and_win_over_a_motion_generator(rig):
    # protocol versions 5 and 6 ask for torque control together with a joint velocity generator at zero
    assert rig.move(EXTERNAL, VELOCITY) == "started"
    state = rig.run(300, lambda s, k: command(s, tau=[0.5 * min(1.0, k / 100), 0, 0, 0, 0, 0, 0]))
    assert state.q[0] > Q_START[0] + 0.005
    np.testing.assert_allclose(state.q_d, Q_START, atol=1e-12)
    assert state.tau_J_d[0] == pytest.approx(0.5)
    state = rig.run(500, lambda s, k: command(s, finish=True))
    assert rig.statuses() == ["started", "success"]
    np.testing.assert_allclose(rig.run(500).dq, 0, atol=1e-3)


def test_torques_alone_end_by_their_own_flag(rig):
    rig.move(EXTERNAL, NONE)
    rig.run(20, lambda s, k: command(s))
    rig.run(500, lambda s, k: command(s, torque_finish=True))
    assert rig.statuses() == ["started", "success"]


def test_asynchronous_targets_are_reached_within_the_speed_limit_without_a_stream(rig):
    limit = (0.5,) * 7
    assert rig.move(JOINT, POSITION, use_async=True, maximum_joint_velocity=limit) == "started"
    goal = Q_START + 0.3
    rig.run(1, lambda s, k: command(s, q=goal))
    fastest = 0.0
    for _ in range(2000):
        state = rig.begin()
        fastest = max(fastest, np.abs(state.dq_d).max())
        rig.end()
    state = rig.begin()
    assert state.robot_mode == RobotMode.MOVE
    np.testing.assert_allclose(state.q_d, goal, atol=1e-12)
    np.testing.assert_allclose(state.q, goal, atol=1e-6)
    assert 0.49 < fastest <= 0.5
    rig.run(100, lambda s, k: command(s, q=goal, finish=True))
    assert rig.statuses() == ["started", "success"]


# --------------------------------------------------------------------------------------------- torque loop

LOW_PASS = 1e-3 / (1e-3 + 1.0 / (2.0 * np.pi * 100.0))
"""Gain of the client library's own low-pass of 100 Hz, which starts from the published q_d and O_T_EE_c."""


def wrist_response(mount, tau, milliseconds, **settings):
    """Push joint 7 with a torque; return the link-side torque at the joint in each cycle, without gravity."""
    rig = Rig(mount=mount, settings=Settings(friction_compensation=False, **settings))
    rig.run(5)
    assert rig.move(EXTERNAL, NONE) == "started"
    measured = []

    def turn(state, k):
        measured.append(state.tau_J[6] - rig.cabinet.fields["g"][6])
        return command(state, tau=[0, 0, 0, 0, 0, 0, tau])

    state = rig.run(milliseconds, turn)
    assert state.error_names() == []
    return np.array(measured[1:])


def test_the_torque_at_the_link_reaches_the_clients_torque_as_fast_as_the_torque_loop_lets_it():
    # One joint with link inertia M and rotor inertia B under u = tau + LP(B ddq): the torque at the link is
    # tau (1 - (1 - r) exp(-w r t)), r = M / (M + B). The other joints hardly move.
    mount, tau, w = ArmMount(arm=FR3), 0.02, 100.0
    M = 1.0 / np.linalg.inv(dynamics.mass(Q_START, FRANKA_HAND, arm=FR3))[6, 6]
    B = 0.15 * FR3.motor_inertia[6]
    r, t = M / (M + B), 1e-3 * np.arange(299)
    expected = tau * (1.0 - (1.0 - r) * np.exp(-w * r * t))
    found = wrist_response(mount, tau, 300, torque_loop_bandwidth=w)
    np.testing.assert_allclose(found, expected, atol=0.05 * tau)
    assert found[-1] > 0.8 * tau
    without = wrist_response(mount, tau, 300, torque_loop_bandwidth=0.0)
    np.testing.assert_allclose(without, r * tau, atol=0.01 * tau)


def test_with_the_torque_loop_slow_torques_move_the_arm_as_the_clients_model_says():
    # Joints 4 and 5 to and fro with 1 Hz, by the inverse dynamics of a client, whose model knows the links only.
    errors = {bandwidth: inverse_dynamics_error(bandwidth) for bandwidth in (100.0, 0.0)}
    assert (errors[100.0] < 0.2 * errors[0.0])[[3, 4]].all()
    assert (errors[100.0] < 0.1)[[3, 4]].all()
    assert errors[0.0][4] > 0.3


def inverse_dynamics_error(bandwidth):
    """Return the error of each joint's acceleration over the one that was asked for."""
    rig = Rig(mount=ArmMount(arm=FR3), settings=Settings(friction_compensation=False, torque_loop_bandwidth=bandwidth))
    rig.run(5)
    rig.move(EXTERNAL, NONE)
    asked, found = [], []

    def sway(state, k):
        a = 0.5 * np.sin(2e-3 * np.pi * k) * np.array([0, 0, 0, 1, 1, 0, 0])
        asked.append(a)
        found.append(rig.plant.data.qacc[:7].copy())
        M = dynamics.mass(state.q, FRANKA_HAND, arm=FR3)
        return command(state, tau=M @ a + dynamics.coriolis(state.q, state.dq, FRANKA_HAND, arm=FR3) @ state.dq)

    assert rig.run(1000, sway).error_names() == []
    difference = np.array(found[1:]) - np.array(asked[:-1])
    return np.sqrt(np.mean(np.square(difference), axis=0) / 0.125)


EXAMPLE_GAINS = {
    # The vendor's examples, by their gains, the number of velocities that are averaged, and the library's low-pass.
    "joint_impedance_control": ((600, 600, 600, 600, 250, 150, 50), (50, 50, 50, 50, 30, 25, 15), 1, 1.0),
    "motion_with_control": ((200,) * 7, (10,) * 7, 5, LOW_PASS),
}


@pytest.mark.parametrize("arm", [FER, FR3], ids=lambda a: a.name)
@pytest.mark.parametrize("example", EXAMPLE_GAINS)
@pytest.mark.parametrize("part", [0.15, 0.03])
def test_strongly_damped_controllers_of_the_vendors_examples_are_stable(arm, example, part):
    K, D, count, gain = EXAMPLE_GAINS[example]
    settings = Settings(friction_compensation=False, collision=QUIET)
    rig = Rig(mount=ArmMount(arm=arm, motor_inertia=part), settings=settings)
    rig.run(5)
    rig.move(EXTERNAL, NONE)
    past, last = [], np.zeros(7)

    def regulate(state, k):
        nonlocal last
        past.append(state.dq.copy())
        wish = Q_START + 0.02 * smooth(k, 500)
        tau = np.multiply(K, wish - state.q) - np.multiply(D, np.mean(past[-count:], axis=0))
        last = gain * tau + (1.0 - gain) * last
        return command(state, tau=last)

    state = rig.run(2500, regulate)
    unstable = part == 0.03 and example == "motion_with_control"
    assert bool(state.error_names()) is unstable
    if not unstable:
        np.testing.assert_allclose(state.q, Q_START + 0.02, atol=1e-4)


@pytest.mark.parametrize("controller", [JOINT, CARTESIAN])
@pytest.mark.parametrize("part", [0.0, 0.15, 1.0])
def test_the_motors_inertia_does_not_change_how_the_impedances_follow(controller, part):
    rig = Rig(mount=ArmMount(arm=FR3, motor_inertia=part), settings=Settings(friction_compensation=False))
    rig.run(5)
    rig.move(controller, POSITION)
    worst = 0.0

    def follow(state, k):
        nonlocal worst
        worst = max(worst, np.abs(state.q - state.q_d).max())
        return command(state, q=Q_START + 0.3 * smooth(k, 1200))

    assert rig.run(1500, follow).error_names() == []
    assert worst < 2e-3  # one cycle's motion: q_d is what q shall be at the end of the cycle
    state = rig.run(300, lambda s, k: command(s, q=Q_START + 0.3))
    np.testing.assert_allclose(state.q, state.q_d, atol=1e-6)


def test_the_motor_is_ahead_of_the_link_by_the_torque_over_the_joints_stiffness():
    rig = Rig(mount=ArmMount(arm=FR3))
    state = rig.run(5)
    np.testing.assert_allclose(state.theta - state.q, state.tau_J / 14250.0, atol=1e-12)
    assert np.abs(state.theta - state.q).max() > 1e-3  # gravity at joint 2
    np.testing.assert_allclose(state.dtheta, state.dq + state.dtau_J / 14250.0, atol=1e-12)


# -------------------------------------------------------------------------------------------------- start

WEIGHT = 0.1 * 9.81
"""Weight of 0.1 kg on the hand that nobody has announced [N]."""


def weighted(arm):
    """An arm that has come to rest under the unannounced weight: q is not q_d."""
    rig = Rig(mount=ArmMount(arm=arm))
    push(rig, [0.0, 0.0, -WEIGHT, 0.0, 0.0, 0.0])
    state = rig.run(1500)
    assert np.abs(state.q - state.q_d).max() > 1e-4
    assert np.abs(state.dq).max() < 1e-7
    return rig


def half(*values):
    """Return all combinations of pairs of values; by day half of them, with every combination of any three."""
    return by_day(
        itertools.product(*values),
        lambda case: sum(value is second for value, (_, second) in zip(case, values, strict=True)) % 2 == 0,
    )


def name_of(value):
    return getattr(value, "name", None)


@pytest.mark.parametrize(
    ("arm", "gain", "wait", "start"), half((FER, FR3), (1.0, LOW_PASS), (0, 40), ("q", "q_d")), ids=name_of
)
def test_a_joint_motion_may_start_from_the_measured_or_the_desired_position(arm, gain, wait, start):
    rig = weighted(arm)
    assert rig.move(JOINT, POSITION) == "started"
    rig.run(wait)
    origin = []

    def follow(state, k):
        if not origin:
            origin.append(getattr(state, start).copy())
        goal = origin[0] + 0.1 * smooth(k, 1500)
        return command(state, q=gain * goal + (1.0 - gain) * state.q_d, finish=k >= 1800)

    state = rig.run(3000, follow)
    assert state.error_names() == []
    assert rig.statuses() == ["started", "success"]
    np.testing.assert_allclose(state.q_d, origin[0] + 0.1, atol=1e-4)


@pytest.mark.parametrize(
    ("arm", "gain", "start", "elbow"),
    half((FER, FR3), (1.0, LOW_PASS), ("O_T_EE", "O_T_EE_c"), (False, True)),
    ids=name_of,
)
def test_a_pose_motion_may_start_from_the_measured_or_the_commanded_pose(arm, gain, start, elbow):
    rig = weighted(arm)
    assert rig.move(CARTESIAN, POSE) == "started"
    origin = []

    def follow(state, k):
        if not origin:
            origin.append((getattr(state, start).copy(), state.elbow.copy()))
        T, e = origin[0][0].copy(), origin[0][1].copy()
        if elbow:
            e[0] += 0.2 * smooth(k, 1500)
        else:
            T[13] += 0.1 * smooth(k, 1500)
        T[12:15] = gain * T[12:15] + (1.0 - gain) * state.O_T_EE_c[12:15]
        return command(state, T=T, elbow=e if elbow else None, finish=k >= 1800)

    state = rig.run(3000, follow)
    assert state.error_names() == []
    assert rig.statuses() == ["started", "success"]
    moved = state.q[2] - origin[0][1][0] if elbow else state.O_T_EE[13] - origin[0][0][13]
    assert moved == pytest.approx(0.2 if elbow else 0.1, abs=2e-3)


def test_the_first_command_becomes_the_desired_position_with_zero_differences():
    rig = weighted(FR3)
    rig.move(JOINT, POSITION)
    first = rig.begin().q.copy()
    rig.end(command(rig.cabinet.state, q=first))
    state = rig.begin()
    np.testing.assert_array_equal(state.q_d, first)
    assert not state.dq_d.any()
    assert not state.ddq_d.any()


def test_before_the_first_command_the_arm_holds_its_old_place():
    rig = weighted(FR3)
    before = rig.begin().q.copy(), rig.begin().q_d.copy()
    rig.move(JOINT, POSITION)
    state = rig.run(300)
    np.testing.assert_allclose(state.q, before[0], atol=1e-7)
    np.testing.assert_allclose(state.q_d, state.q, atol=1e-9)
    rig.cabinet.request(fci.StopMove(), 8)
    np.testing.assert_array_equal(rig.run(300).q_d, before[1])


# ------------------------------------------------------------------------------------------------- checks


def jump_q(index, size, at=5):
    def make(state, k):
        q = Q_START.copy()
        if k >= at:
            q[index] += size
        return command(state, q=q)

    return make


def pose(state_pose, offset=(0, 0, 0), R=None):
    T = state_pose.copy()
    T[:3, 3] += offset
    if R is not None:
        T[:3, :3] = R @ T[:3, :3]
    return T.T.reshape(-1)


START_POSE = kinematics.forward_kinematics(Q_START)
SHEARED = START_POSE.copy()
SHEARED[0, 0] *= 1.01

FAULTS = {
    "joint_position_motion_generator_start_pose_invalid": (JOINT, POSITION, jump_q(0, 0.02, at=0)),
    "joint_motion_generator_velocity_limits_violation": (JOINT, POSITION, jump_q(0, 0.003)),
    "joint_motion_generator_velocity_discontinuity": (JOINT, POSITION, jump_q(1, 2e-5)),
    "joint_motion_generator_acceleration_discontinuity": (JOINT, POSITION, jump_q(6, 2e-5)),
    "joint_motion_generator_position_limits_violation": (
        JOINT,
        VELOCITY,
        lambda s, k: command(s, dq=[0, 0, 0, 0, 0, -1.5 * smooth(k, 400), 0]),
    ),
    "cartesian_position_motion_generator_invalid_frame": (
        CARTESIAN,
        POSE,
        lambda s, k: command(s, T=SHEARED.T.reshape(-1) if k > 3 else START_POSE.T.reshape(-1)),
    ),
    "cartesian_position_motion_generator_start_pose_invalid": (
        CARTESIAN,
        POSE,
        lambda s, k: command(s, T=pose(START_POSE, (0.05, 0, 0))),
    ),
    "cartesian_motion_generator_velocity_limits_violation": (
        CARTESIAN,
        TWIST,
        lambda s, k: command(s, v=[2.5 if k > 2 else 0, 0, 0, 0, 0, 0]),
    ),
    "cartesian_motion_generator_velocity_discontinuity": (
        CARTESIAN,
        POSE,
        lambda s, k: command(s, T=pose(START_POSE, (2e-4 if k > 3 else 0, 0, 0))),
    ),
    "cartesian_motion_generator_acceleration_discontinuity": (
        CARTESIAN,
        TWIST,
        lambda s, k: command(s, v=[0, 0.012 if k > 3 else 0, 0, 0, 0, 0]),
    ),
    "cartesian_motion_generator_joint_position_limits_violation": (
        JOINT,
        TWIST,
        lambda s, k: command(s, v=[0, 0, 0, 0, 0, 1.6 * smooth(k, 600)], elbow=[0.0, -1.0]),
    ),
    "cartesian_motion_generator_start_elbow_invalid": (
        CARTESIAN,
        POSE,
        lambda s, k: command(s, T=START_POSE.T.reshape(-1), elbow=[0.1, -1.0]),
    ),
    "cartesian_motion_generator_elbow_sign_inconsistent": (
        CARTESIAN,
        POSE,
        lambda s, k: command(s, T=START_POSE.T.reshape(-1), elbow=[0.0, 1.0 if k > 3 else -1.0]),
    ),
    "cartesian_motion_generator_elbow_limit_violation": (
        CARTESIAN,
        POSE,
        lambda s, k: command(s, T=START_POSE.T.reshape(-1), elbow=[3.5 if k > 3 else 0.0, -1.0]),
    ),
    "controller_torque_discontinuity": (
        EXTERNAL,
        NONE,
        lambda s, k: command(s, tau=[0, 0, 0, 0, 0, 0, 1.5 if k > 3 else 0.0]),
    ),
    "communication_constraints_violation": (JOINT, POSITION, lambda s, k: command(s, q=Q_START) if k < 5 else None),
    "joint_velocity_violation": (
        EXTERNAL,
        NONE,
        lambda s, k: command(s, tau=[0, 0, 0, 0, 0, 0, 0.01 * min(k, 100)]),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_violation_ends_the_motion_with_its_own_error(name):
    controller, generator, make = FAULTS[name]
    rig = Rig(settings=Settings(friction_compensation=False, collision=QUIET))
    rig.run(3)
    assert rig.move(controller, generator) == "started"
    state = rig.run(3000, make)
    assert name in state.error_names()
    assert rig.statuses() == ["started", "reflex"]
    assert state.robot_mode == RobotMode.REFLEX
    assert (state.motion_generator_mode, state.controller_mode) == (0, 3)
    assert state.reflex_reason[fci.ERRORS.index(name)] == 1
    # the arm comes to a stand and a new motion is refused until recovery
    assert rig.move(JOINT, POSITION) == "not_possible"
    state = rig.run(1500)
    np.testing.assert_allclose(state.dq, 0, atol=1e-3)


@pytest.mark.parametrize("name", FAULTS)
def test_each_check_can_be_switched_off(name):
    controller, generator, make = FAULTS[name]
    rig = Rig(settings=Settings(friction_compensation=False, collision=QUIET).without(name))
    rig.run(3)
    assert rig.move(controller, generator) == "started"
    state = rig.run(200, make)
    assert name not in state.error_names()


def test_the_position_dependent_velocity_limit_of_the_fr3_bites_near_a_stop():
    q = np.array(Q_START)
    q[0] = 2.2
    rig = Rig(mount=ArmMount(arm=FR3, q=tuple(q)))
    _, upper = FR3.limits.velocity_bounds(q)
    assert upper[0] < FR3.limits.velocity[0]
    rig.move(JOINT, VELOCITY)
    state = rig.run(800, lambda s, k: command(s, dq=[2.0 * smooth(k, 600), 0, 0, 0, 0, 0, 0]))
    assert state.error_names()[0] == "joint_motion_generator_velocity_limits_violation"


def test_a_collision_during_a_motion_is_a_reflex_and_a_contact_is_a_flag():
    low = fci.SetCollisionBehavior(
        **{
            n: ((2.0 if "lower" in n else 30.0),) * (7 if "torque" in n else 6)
            for n in fci.SetCollisionBehavior.__dataclass_fields__
        }
    )
    rig = Rig(settings=Settings(friction_compensation=False, collision=low))
    rig.run(3)
    rig.move(JOINT, POSITION)

    def pushed(force):
        def make(state, k):
            push(rig, [0, force, 0, 0, 0, 0])
            return command(state, q=Q_START)

        return make

    state = rig.run(300, pushed(10.0))
    assert state.cartesian_contact[1] == 1.0
    assert state.joint_contact[0] == 1.0
    assert not state.error_names()
    state = rig.run(300, pushed(0.0))
    assert not state.cartesian_contact.any()
    state = rig.run(300, pushed(60.0))
    assert state.error_names() in (["cartesian_reflex"], ["joint_reflex"], ["joint_reflex", "cartesian_reflex"])
    assert state.cartesian_collision.any() or state.joint_collision.any()
    assert rig.statuses()[-1] == "reflex"
    push(rig, [0] * 6)
    rig.run(500)
    rig.request(fci.AutomaticErrorRecovery(), 9)
    state = rig.run(200)
    assert not state.cartesian_collision.any()
    assert not state.joint_collision.any()


def test_self_collision_is_seen_before_the_links_meet():
    rig = Rig(settings=Settings(friction_compensation=False, collision=QUIET))
    rig.move(JOINT, POSITION)
    folded = np.array([0.066, 0.459, -0.619, -3.05, 0.242, 0.508, 1.574])  # the wrist at the shoulder
    state = rig.run(3000, lambda s, k: command(s, q=Q_START + smooth(k, 2500) * (folded - Q_START)))
    assert state.error_names() == ["self_collision_avoidance_violation"]


@pytest.mark.parametrize("hand", [True, False])
def test_the_hand_folded_to_the_shoulder_is_a_self_collision(hand):
    # the hand is 46 mm inside the shoulder's capsule there, by the vendor's description; the wrist is 27 mm away
    R, p = frames(np.array([0.0, -0.785, 0.0, -3.0, 0.0, 0.6, 0.785]))
    ends = np.empty((2, N_CAPSULES, 3))
    assert self_collision(R, p, hand, ends) == hand
    assert not self_collision(*frames(Q_START), hand, ends)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
@pytest.mark.parametrize(
    ("controller", "generator", "field"),
    [
        (JOINT, POSITION, "q"),
        (JOINT, VELOCITY, "dq"),
        (CARTESIAN, POSE, "T"),
        (CARTESIAN, TWIST, "v"),
        (2, NONE, "tau"),
    ],
)
def test_a_command_that_is_no_number_stops_the_arm(controller, generator, field, value):
    length = {"q": 7, "dq": 7, "T": 16, "v": 6, "tau": 7}[field]
    for checks in (CHECKS, frozenset()):
        rig = Rig(settings=Settings(friction_compensation=False, checks=checks))
        rig.run(3)
        rig.move(controller, generator)
        state = rig.run(100, lambda s, k: command(s, **{field: [value] * length}))
        assert rig.statuses() == ["started", "input_error"]
        assert state.robot_mode == RobotMode.REFLEX
        assert np.isfinite(state.reals).all()
        assert np.isfinite(rig.run(50).reals).all()


# ---------------------------------------------------------------------------------------------- life cycle


def test_lost_commands_are_extrapolated_counted_and_survived_below_the_limit(rig):
    rig.move(JOINT, VELOCITY)
    rig.run(200, lambda s, k: command(s, dq=[0.2 * smooth(k, 200)] * 7))
    state = rig.run(1, lambda s, k: command(s, dq=[0.2] * 7))
    before = state.q_d.copy()
    state = rig.run(19, lambda s, k: None)
    assert rig.cabinet.moving
    np.testing.assert_allclose(state.q_d - before, 0.2 * 19e-3, rtol=0.02)
    assert state.success_rate == pytest.approx(0.81)
    rig.run(1, lambda s, k: command(s, dq=state.dq_d))
    assert rig.cabinet.moving


def test_before_its_first_command_a_motion_waits_without_counting_losses(rig):
    rig.run(3)
    rig.move(EXTERNAL, NONE)
    for _ in range(100):
        rig.begin()
        rig.end()
    state = rig.begin()
    assert state.robot_mode == RobotMode.MOVE
    assert state.success_rate == 1.0
    np.testing.assert_allclose(state.q, Q_START, atol=1e-9)


def test_stop_move_answers_both_and_comes_to_a_stand(rig):
    rig.move(JOINT, VELOCITY)
    rig.run(300, lambda s, k: command(s, dq=[0.5 * smooth(k, 300)] * 7))
    rig.cabinet.request(fci.StopMove(), 8)
    state = rig.run(500)
    assert [(a.command, a.command_id, a.status) for a in rig.answers] == [
        ("Move", 7, "started"),
        ("StopMove", 8, "success"),
        ("Move", 7, "preempted"),
    ]
    assert state.robot_mode == RobotMode.IDLE
    np.testing.assert_allclose(state.dq, 0, atol=1e-4)
    assert rig.request(fci.StopMove()) == "success"


def test_a_second_move_preempts_the_first(rig):
    rig.move(JOINT, VELOCITY)
    rig.run(20, lambda s, k: command(s, dq=[0.0] * 7))
    assert rig.move(EXTERNAL, NONE) == "started"
    assert rig.statuses() == ["started", "preempted", "started"]


def test_recovery_clears_errors_and_keeps_the_reason(rig):
    rig.move(JOINT, POSITION)
    rig.run(50, jump_q(0, 0.5))
    assert rig.begin().robot_mode == RobotMode.REFLEX
    rig.cabinet.request(fci.AutomaticErrorRecovery(), 5)
    assert rig.begin().robot_mode == RobotMode.AUTOMATIC_ERROR_RECOVERY
    state = rig.run(200)
    assert rig.statuses("AutomaticErrorRecovery") == ["success"]
    assert state.robot_mode == RobotMode.IDLE
    assert not state.errors.any()
    assert state.reflex_reason.any()
    assert rig.move(JOINT, POSITION) == "started"
    assert not rig.begin().reflex_reason.any()


def past_a_limit(**settings):
    """An arm whose joint 1 a client's torque has driven past its limit, at some speed."""
    q = np.array(Q_START)
    q[0] = FER.limits.position_max[0] - 0.15
    settings = Settings(friction_compensation=False, collision=QUIET, **settings)
    rig = Rig(mount=ArmMount(q=tuple(q)), settings=settings)
    rig.run(3)
    rig.move(EXTERNAL, NONE)
    state = rig.run(3000, lambda s, k: command(s, tau=[min(2.0, 0.1 * k), 0, 0, 0, 0, 0, 0]))
    assert state.error_names() == ["joint_position_limits_violation"]
    assert state.dq[0] > 0.5
    return rig


def test_after_a_joint_limit_violation_the_arm_returns_and_automatic_recovery_succeeds():
    rig = past_a_limit()
    top = FER.limits.position_max[0]
    rig.cabinet.request(fci.AutomaticErrorRecovery(), 5)  # at once, while the joint is still beyond its limit
    desired = []
    for _ in range(600):
        desired.append(rig.begin().q_d[0])
        rig.end()
    assert max(desired) <= top
    assert rig.statuses("AutomaticErrorRecovery") == ["success"]
    state = rig.begin()
    assert state.robot_mode == RobotMode.IDLE
    assert top - 0.01 < state.q[0] < top
    assert rig.move(JOINT, POSITION) == "started"
    back = state.q_d.copy()
    state = rig.run(2000, lambda s, k: command(s, q=back - [0.3 * smooth(k, 1000), 0, 0, 0, 0, 0, 0], finish=k > 1200))
    assert rig.statuses()[-1] == "success"
    assert state.q[0] == pytest.approx(back[0] - 0.3, abs=1e-3)


@pytest.mark.parametrize(
    ("joint", "side"), by_day(itertools.product(range(7), (-1, 1)), lambda case: (case[1] > 0) == (case[0] % 2 > 0))
)
def test_a_joint_that_was_driven_to_its_limit_stands_inside_it_after_the_recovery_and_moves(joint, side):
    limits = FER.limits.position_max if side > 0 else FER.limits.position_min
    q = np.array(Q_START)
    q[joint] = limits[joint] - side * 0.2
    settings = Settings(friction_compensation=False, collision=QUIET).without("self_collision_avoidance_violation")
    rig = Rig(mount=ArmMount(q=tuple(q), position=(0.0, 0.0, 2.0)), settings=settings)
    along = side * np.eye(7)[joint]
    for wait in (0, 200, 283, 341, 800):  # the joint swings about the place that it returns to
        rig.run(3)
        assert rig.move(JOINT, VELOCITY) == "started"
        state = rig.run(2000, lambda s, k: command(s, dq=smooth(k, 300) * along))
        assert state.error_names() == ["joint_motion_generator_position_limits_violation"]
        rig.run(wait)
        rig.cabinet.request(fci.AutomaticErrorRecovery(), 5)
        state = rig.run(600)
        assert rig.statuses("AutomaticErrorRecovery")[-1] == "success"
        assert side * (limits[joint] - state.q[joint]) == pytest.approx(settings.recovery_margin, abs=1e-3)
        assert rig.move(JOINT, VELOCITY) == "started"
        rig.run(50, lambda s, k: command(s, dq=np.zeros(7), finish=k > 20))
        assert rig.statuses()[-1] == "success"


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("joint", range(7))
def test_a_motion_that_is_stopped_at_a_limit_leaves_an_arm_that_takes_the_next(joint, side):
    limits = FER.limits.position_max if side > 0 else FER.limits.position_min
    q = np.array(Q_START)
    q[joint] = limits[joint] - side * 0.1
    settings = Settings(friction_compensation=False, collision=QUIET).without(
        "self_collision_avoidance_violation", "joint_position_limits_violation"
    )
    rig = Rig(mount=ArmMount(q=tuple(q), position=(0.0, 0.0, 2.0)), settings=settings)
    along = side * np.eye(7)[joint]
    rig.run(3)
    rig.move(JOINT, VELOCITY)

    def towards(state, k):
        near = side * (limits[joint] - state.q_d[joint]) < 5e-4
        return command(state, dq=0.3 * smooth(k, 300) * along, finish=near)

    rig.run(2000, towards)
    assert rig.statuses()[-1] == "success"
    rig.run(300)
    rig.cabinet.fields["enabled"][:] = 1
    rig.move(JOINT, POSITION)
    start = rig.begin().q_d.copy()
    rig.run(60, lambda s, k: command(s, q=start, finish=k > 40))
    assert rig.statuses()[-1] == "success", rig.begin().error_names()
    rig.move(EXTERNAL, NONE)
    rig.run(60, lambda s, k: command(s, tau=np.zeros(7), torque_finish=k > 40))
    assert rig.statuses()[-1] == "success", rig.begin().error_names()


def test_recovery_is_manual_while_something_holds_a_joint_beyond_its_limit_and_guiding_brings_it_back():
    rig = past_a_limit(recovery_timeout_ms=200)
    rig.cabinet.request(fci.AutomaticErrorRecovery(), 5)
    at = rig.plant.model.joint("franka_joint1").dofadr[0]
    rig.plant.data.qfrc_applied[at] = 80.0
    state = rig.run(400)
    assert rig.statuses("AutomaticErrorRecovery") == ["manual_recovery"]
    assert state.robot_mode == RobotMode.REFLEX
    assert state.q[0] > FER.limits.position_max[0]
    rig.cabinet.guide(True)
    rig.plant.data.qfrc_applied[at] = -3.0
    state = rig.run(600)
    assert state.robot_mode == RobotMode.GUIDING
    assert state.q[0] < FER.limits.position_max[0]
    rig.plant.data.qfrc_applied[at] = 0.0
    rig.cabinet.guide(False)
    state = rig.run(300)
    assert state.robot_mode == RobotMode.IDLE
    assert not state.errors.any()
    assert rig.move(JOINT, POSITION) == "started"


def test_guiding_further_beyond_a_limit_is_stopped_with_its_own_error():
    rig = past_a_limit()
    rig.cabinet.guide(True)
    rig.plant.data.qfrc_applied[rig.plant.model.joint("franka_joint1").dofadr[0]] = 4.0
    state = rig.run(600)
    assert state.robot_mode == RobotMode.REFLEX
    assert "joint_move_in_wrong_direction" in state.error_names()


def test_a_motion_that_is_stopped_before_a_limit_never_desires_to_pass_it():
    q = np.array(Q_START)
    q[0] = FER.limits.position_max[0] - 0.35
    rig = Rig(mount=ArmMount(q=tuple(q)), settings=Settings(friction_compensation=False, collision=QUIET))
    rig.run(3)
    rig.move(JOINT, VELOCITY)
    rig.run(350, lambda s, k: command(s, dq=[2.0 * smooth(k, 350), 0, 0, 0, 0, 0, 0]))
    rig.run(3, lambda s, k: command(s, dq=[2.0, 0, 0, 0, 0, 0, 0]) if s.q_d[0] < 2.89 else None)
    rig.cabinet.request(fci.StopMove(), 8)
    desired = []
    for _ in range(300):
        desired.append(rig.begin().q_d[0])
        rig.end()
    assert max(desired) <= FER.limits.position_max[0]


@pytest.mark.parametrize("q4", [-2.2, -0.5])
def test_the_external_wrench_is_zero_near_a_singularity(q4):
    # at -0.5 rad the elbow is stretched: the shoulder, elbow and wrist centres are in line
    rig = Rig(mount=ArmMount(q=(0.0, -0.3, 0.0, q4, 0.0, 1.6, 0.785)), settings=Settings(friction_compensation=False))
    push(rig, [0.0, 5.0, 0.0, 0.0, 0.0, 0.0])
    state = rig.run(1500)
    assert np.abs(state.tau_ext_hat_filtered).max() > 0.5
    if q4 == -0.5:
        assert not state.O_F_ext_hat_K.any()
        assert not state.K_F_ext_hat_K.any()
        assert not state.cartesian_contact.any()
    else:
        np.testing.assert_allclose(state.O_F_ext_hat_K[:3], [0.0, -5.0, 0.0], atol=0.1)


def test_an_elbow_that_jumps_in_velocity_violates_the_elbow_limits():
    rig = Rig(settings=Settings(friction_compensation=False, collision=QUIET))
    rig.run(3)
    rig.move(CARTESIAN, POSE)
    T = START_POSE.T.reshape(-1)
    state = rig.run(50, lambda s, k: command(s, T=T, elbow=[1e-4 * max(0, k - 3), -1.0]))
    assert "cartesian_motion_generator_elbow_limit_violation" in state.error_names()


def test_the_user_stop_ends_a_motion_and_blocks_the_next(rig):
    rig.move(JOINT, VELOCITY)
    rig.run(100, lambda s, k: command(s, dq=[0.0] * 7))
    rig.cabinet.user_stop(True)
    state = rig.run(10)
    assert rig.statuses() == ["started", "emergency"]
    assert state.robot_mode == RobotMode.USER_STOPPED
    assert rig.move(JOINT, POSITION) == "not_possible"
    assert rig.request(fci.StopMove()) == "emergency"
    assert rig.request(fci.AutomaticErrorRecovery()) == "emergency"
    assert rig.request(fci.SetLoad(mass=0.0, F_x_Cload=(0.0,) * 3, I_load=(0.0,) * 9)) == "not_possible"
    rig.cabinet.user_stop(False)
    assert rig.begin().robot_mode == RobotMode.IDLE
    assert rig.move(JOINT, POSITION) == "started"


def test_guiding_yields_along_the_free_directions_only(rig):
    rig.run(3)
    free_x = fci.SetGuidingMode(guiding_mode=(True, False, False, False, False, False), nullspace=False)
    assert rig.request(free_x) == "success"
    start = rig.begin().O_T_EE[12:15].copy()
    rig.cabinet.guide(True)
    for _ in range(400):
        push(rig, [4.0, 4.0, 0, 0, 0, 0])
        rig.begin()
        rig.end()
    state = rig.begin()
    moved = state.O_T_EE[12:15] - start
    assert state.robot_mode == RobotMode.GUIDING
    assert moved[0] > 0.02
    assert abs(moved[1]) < 0.005
    assert abs(moved[2]) < 0.005
    assert rig.move(JOINT, POSITION) == "not_possible"
    push(rig, [0] * 6)
    rig.cabinet.guide(False)
    state = rig.run(1000)
    assert state.robot_mode == RobotMode.IDLE
    np.testing.assert_allclose(state.q, state.q_d, atol=1e-4)


def test_the_user_stop_during_guiding_holds_the_arm_where_it_is(rig):
    rig.run(3)
    start = rig.begin().q.copy()
    rig.cabinet.guide(True)
    for _ in range(400):
        push(rig, [0.0, 6.0, 0, 0, 0, 0])
        rig.begin()
        rig.end()
    push(rig, [0] * 6)
    rig.cabinet.user_stop(True)
    here = rig.begin().q.copy()
    assert np.abs(here - start).max() > 0.02
    state = rig.run(500)
    assert state.robot_mode == RobotMode.USER_STOPPED
    assert np.abs(state.q - here).max() < 0.3 * np.abs(here - start).max()
    assert not state.errors.any()


def test_locked_brakes_end_a_motion_and_a_reflex_stays_behind_them(rig):
    rig.move(JOINT, POSITION)
    rig.run(10, lambda s, k: command(s, q=Q_START))
    rig.cabinet.lock_brakes(True)
    rig.run(10)
    assert rig.statuses() == ["started", "emergency"]
    assert rig.begin().robot_mode == RobotMode.OTHER
    assert rig.request(fci.AutomaticErrorRecovery()) == "not_possible"
    assert rig.request(fci.SetLoad(mass=0.0, F_x_Cload=(0.0,) * 3, I_load=(0.0,) * 9)) == "not_possible"
    rig.cabinet.user_stop(True)
    rig.cabinet.lock_brakes(False)
    assert rig.begin().robot_mode == RobotMode.USER_STOPPED
    rig.cabinet.user_stop(False)
    assert rig.begin().robot_mode == RobotMode.IDLE
    rig.move(JOINT, POSITION)
    rig.run(50, jump_q(0, 0.5))
    assert rig.begin().robot_mode == RobotMode.REFLEX
    rig.cabinet.lock_brakes(True)
    rig.cabinet.lock_brakes(False)
    assert rig.begin().robot_mode == RobotMode.REFLEX


def test_guiding_does_not_start_during_a_motion(rig):
    rig.move(JOINT, POSITION)
    with pytest.raises(DeviceError, match=r"only from idle, .* mode is move"):
        rig.cabinet.guide(True)


def test_a_client_that_is_gone_leaves_an_arm_at_rest(rig):
    rig.move(JOINT, VELOCITY)
    rig.run(300, lambda s, k: command(s, dq=[0.5 * smooth(k, 300)] * 7))
    rig.cabinet.disconnected()
    state = rig.run(500)
    assert state.robot_mode == RobotMode.IDLE
    np.testing.assert_allclose(state.dq, 0, atol=1e-4)


def test_path_and_goal_deviations_end_a_motion_that_strays():
    rig = Rig(settings=Settings(friction_compensation=False, collision=QUIET))
    rig.run(3)
    rig.move(JOINT, POSITION, maximum_path_deviation=(0.005, 3.12, 6.3))

    def pushed(state, k):
        push(rig, [0, 100.0, 0, 0, 0, 0])
        return command(state, q=Q_START)

    state = rig.run(300, pushed)
    assert state.error_names() == ["max_path_pose_deviation_violation"]


# ------------------------------------------------------------------------------------------------ settings

IDENTITY = tuple(np.eye(4).reshape(-1).tolist())
SKEW = (1.0, 0.1, *IDENTITY[2:])
BAD = {
    "negative load": fci.SetLoad(mass=-1.0, F_x_Cload=(0.0,) * 3, I_load=(0.0,) * 9),
    "nan load": fci.SetLoad(mass=float("nan"), F_x_Cload=(0.0,) * 3, I_load=(0.0,) * 9),
    "indefinite inertia": fci.SetLoad(mass=1.0, F_x_Cload=(0.0,) * 3, I_load=(-1.0, 0, 0, 0, 1, 0, 0, 0, 1)),
    "sheared end effector": fci.SetNEToEE(NE_T_EE=SKEW),
    "sheared stiffness frame": fci.SetEEToK(EE_T_K=SKEW),
    "negative joint stiffness": fci.SetJointImpedance(K_theta=(-1.0,) * 7),
    "too stiff": fci.SetCartesianImpedance(K_x=(5000.0,) * 6),
    "zero cut-off": fci.SetFilters(
        joint_position=0.0, joint_velocity=100.0, cartesian_position=100.0, cartesian_velocity=100.0, controller=100.0
    ),
    "lower above upper": fci.SetCollisionBehavior(
        lower_torque_acceleration=(2.0,) * 7,
        upper_torque_acceleration=(1.0,) * 7,
        lower_torque_nominal=(1.0,) * 7,
        upper_torque_nominal=(1.0,) * 7,
        lower_force_acceleration=(1.0,) * 6,
        upper_force_acceleration=(1.0,) * 6,
        lower_force_nominal=(1.0,) * 6,
        upper_force_nominal=(1.0,) * 6,
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_settings_that_make_no_sense_are_refused(rig, name):
    assert rig.request(BAD[name]) == "invalid_argument"


@pytest.mark.parametrize(
    "options",
    [
        {"controller": 3, "motion_generator": 0},
        {"controller": 0, "motion_generator": 5},
        {"controller": 0, "motion_generator": NONE},
        {"controller": 0, "motion_generator": 0, "maximum_path_deviation": (float("nan"), 1.0, 1.0)},
        {"controller": 0, "motion_generator": 0, "maximum_goal_deviation": (-1.0, 1.0, 1.0)},
        {"controller": 0, "motion_generator": VELOCITY, "use_async": True},
    ],
)
def test_motions_that_make_no_sense_are_refused(rig, options):
    assert rig.request(fci.Move(**options)) == "invalid_argument"


def test_settings_are_refused_while_moving(rig):
    rig.move(JOINT, POSITION)
    assert rig.request(fci.SetJointImpedance(K_theta=(100.0,) * 7)) == "not_possible"


def test_end_effector_and_load_appear_in_the_state_and_in_the_compensation(rig):
    rig.run(3)
    T = np.eye(4)
    T[:3, 3] = [0.0, 0.02, 0.05]
    assert rig.request(fci.SetNEToEE(NE_T_EE=tuple(T.T.reshape(-1)))) == "success"
    load = fci.SetLoad(mass=0.5, F_x_Cload=(0.0, 0.0, 0.1), I_load=(0.001, 0, 0, 0, 0.001, 0, 0, 0, 0.001))
    assert rig.request(load) == "success"
    state = rig.begin()
    assert state.m_load[0] == 0.5
    assert state.m_ee[0] == 0.73
    expected = kinematics.forward_kinematics(state.q) @ T
    np.testing.assert_allclose(state.matrix("O_T_EE"), expected, atol=1e-12)
    np.testing.assert_allclose(state.matrix("F_T_EE"), state.matrix("F_T_NE") @ T, atol=1e-15)
    # the load that is not there is compensated, so the arm rises and the estimate shows its weight
    state = rig.run(3000)
    assert state.O_F_ext_hat_K[2] == pytest.approx(-0.5 * 9.81, abs=0.1)


def test_command_filters_smooth_a_step_of_torque(rig):
    filters = fci.SetFilters(
        joint_position=1000.0,
        joint_velocity=1000.0,
        cartesian_position=1000.0,
        cartesian_velocity=1000.0,
        controller=10.0,
    )
    assert rig.request(filters) == "success"
    rig.move(EXTERNAL, VELOCITY)
    state = rig.run(5, lambda s, k: command(s, tau=[0, 0, 0, 0, 0, 0, 5.0]))
    gain = 1e-3 / (1e-3 + 1 / (2 * np.pi * 10.0))
    assert state.tau_J_d[6] == pytest.approx(5.0 * (1 - (1 - gain) ** 5), rel=1e-9)


def test_an_unknown_check_is_named():
    with pytest.raises(DeviceError, match="did you mean 'joint_reflex'"):
        Settings().without("joint_reflexx")


# --------------------------------------------------------------------------------------------- determinism


def test_two_runs_give_the_same_bytes():
    def run(rig, packer, n):
        out = []
        for k in range(n):
            state = rig.begin()
            out.append(bytes(packer.pack(state)))
            rig.end(command(state, tau=[0.3 * np.sin(0.01 * k)] * 7))
        return b"".join(out)

    packer = fci.StatePacker(5)
    first, second = Rig(friction=True), Rig(friction=True)
    for rig in (first, second):
        rig.move(EXTERNAL, NONE)
    assert run(first, packer, 300) == run(second, packer, 300)


def test_a_cabinet_whose_code_is_compiled_needs_no_numba():
    program = (
        "import sys, numpy as np\n"
        "from pliant.franka.device.cabinet import Cabinet\n"
        "from pliant.franka.robots.parameters import FR3\n"
        f"cabinet = Cabinet(FR3, q={Q_START.tolist()})\n"
        "cabinet.observe((cabinet.fields['q'], np.zeros(7), cabinet.control()))\n"
        "print('numba' in sys.modules)"
    )
    Cabinet(FR3, q=Q_START)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize(
    ("stiffness", "status"),
    [
        (0.0, "success"),
        (14250.0, "success"),
        (14250.1, "invalid_argument"),
        (-1e-9, "invalid_argument"),
        (float("nan"), "invalid_argument"),
    ],
)
def test_the_joint_stiffness_has_the_range_of_the_vendors_documentation(rig, stiffness, status):
    """libfranka's documentation of setJointImpedance gives 0 to 14250 N m/rad, both included."""
    given = [3000.0] * 6 + [stiffness]
    assert rig.request(fci.SetJointImpedance(K_theta=tuple(given))) == status
    assert rig.cabinet.fields["K_theta"].tolist() == (given if status == "success" else list(Settings().K_theta))


def test_an_arm_with_joint_stiffness_zero_keeps_still_and_yields_to_a_push():
    rig = Rig()
    assert rig.request(fci.SetJointImpedance(K_theta=(0.0,) * 7)) == "success"
    assert rig.move(JOINT, POSITION) == "started"
    start = rig.q
    rig.run(200, lambda state, k: command(state, q=start))
    assert np.abs(rig.q - start).max() < 1e-6
    rig.plant.data.qfrc_applied[3] = 3.0
    rig.run(200, lambda state, k: command(state, q=start))
    assert rig.q[3] - start[3] > 5e-3  # with 3000 N m/rad 0.001

"""A policy on a Franka arm: limits, held commands, stopping, and the same motion in process and over the interface."""

import contextlib
import dataclasses
import importlib.util
import socket
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from fci_clients import own_host

from pliant.base.errors import BridgeError, DeviceError
from pliant.franka.client import FrankaRobot
from pliant.franka.client import policy as room
from pliant.franka.client.held import EDGE
from pliant.franka.client.policy import FrankaPolicyRun, arm_of_policy, run_franka_policy
from pliant.learn.policy import Policy, PolicyError
from pliant.learn.running import Safety

PERIOD = 0.02


@pytest.fixture(autouse=True)
def _only_robot_time_counts(monkeypatch):
    """A busy machine may keep a simulated arm from its core for longer than a policy waits for a state."""
    monkeypatch.setattr(room, "time", SimpleNamespace(monotonic=lambda: 0.0))


def policy(field="dq_c", low=-0.5, high=0.5, damping=0.0, **changes):
    """Turn joint 1 to the target and joint 4 back to its start; the height of the hand has no weight."""
    seen = ("franka/q[0]", "franka/dq[0]", "franka/q[3]", "franka/dq[3]", "franka/O_T_EE[14]", "input/target")
    weights = np.array([[-2.0, -damping, 0.0, 0.0, 0.0, 2.0], [0.0, 0.0, -2.0, -damping, 0.0, 0.0]])
    values = {
        "robot": "fr3",
        "observations": seen,
        "commands": (f"franka/{field}[0]", f"franka/{field}[3]"),
        "low": np.full(2, low),
        "high": np.full(2, high),
        "layers": ((weights, np.array([0.0, -2.0 * 2.356194490192345])),),
        "period": PERIOD,
        "mean": np.zeros(6),
        "scale": np.ones(6),
    }
    return Policy(**(values | changes))


def constant(field, values, period=PERIOD):
    """Command the same whatever is seen."""
    n = len(values)
    return Policy(
        robot="fr3",
        observations=("arm/q[0]",),
        commands=tuple(f"arm/{field}[{k}]" for k in range(n)),
        low=-np.abs(values) - 1e-9,
        high=np.abs(values) + 1e-9,
        layers=((np.zeros((n, 1)), np.sign(values).astype(float)),),
        period=period,
        mean=np.zeros(1),
        scale=np.ones(1),
    )


@pytest.fixture
def robot():
    with FrankaRobot.simulated("fr3", friction=False) as made:
        yield made


def watch(robot):
    """Keep every command that is sent and the robot time of each."""
    kept, send = [], robot.backend.send

    def keep(values):
        kept.append((robot.time, values.copy()))
        send(values)

    robot.backend.send = keep
    return kept


@pytest.mark.parametrize(("field", "low", "high"), [("dq_c", -0.5, 0.5), ("tau_J_d", -8.0, 8.0)])
def test_a_policy_turns_the_joint_to_its_target_and_the_arm_holds_it_afterwards(robot, field, low, high):
    chosen = policy(field, low, high, damping=0.0 if field == "dq_c" else 1.0)
    run = FrankaPolicyRun(chosen, robot, {"target": 0.4})
    run_franka_policy(run, duration=3.0)
    assert run.steps == 150
    assert run.lost == 0
    assert robot.mode == "idle"
    assert robot.get_robot_state() == "stop"
    assert robot.get_position()[0] == pytest.approx(0.4, abs=0.02)
    held = robot.get_position()
    robot.wait(0.2)
    assert np.abs(robot.get_position() - held).max() < 2e-3
    assert np.abs(robot.get_velocity()).max() < 0.01


def test_a_command_is_held_for_a_period_and_approached_within_acceleration_and_jerk(robot):
    sent = watch(robot)
    run = FrankaPolicyRun(constant("dq_c", np.array([1.0, -0.5])), robot, {})
    run_franka_policy(run, duration=0.2)
    assert run.steps == 10  # one action for each 20 commands
    times = np.array([t for t, _ in sent])
    np.testing.assert_allclose(np.diff(times), 1e-3, atol=1e-9)
    v = np.vstack([np.zeros((2, 7)), [values for _, values in sent]])
    a = np.diff(v, axis=0) / 1e-3
    jerk = np.diff(a, axis=0) / 1e-3
    limits = robot.arm.limits
    assert (np.abs(a) <= np.array(limits.acceleration)).all()
    assert (np.abs(jerk) <= np.array(limits.jerk) * (1.0 + 1e-9) + 1e-6).all()
    assert v.max() == pytest.approx(1.0, abs=2e-3)
    assert not sent[-1][1].any()  # the last command is rest


def test_torques_are_approached_within_the_rate_of_the_interface(robot):
    sent = watch(robot)
    run_franka_policy(FrankaPolicyRun(constant("tau_J_d", np.array([9.0])), robot, {}), duration=0.04)
    torque = np.array([values[0] for _, values in sent])
    assert np.abs(np.diff(torque)).max() <= 1.0  # 1000 N m/s
    assert torque.max() == pytest.approx(9.0)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_joint_that_is_pushed_to_its_limit_comes_to_rest_before_it_without_a_reflex(robot, sign):
    run_franka_policy(FrankaPolicyRun(constant("dq_c", np.array([2.0 * sign])), robot, {}), duration=4.0)
    end = robot.arm.limits.position_max[0] if sign > 0 else robot.arm.limits.position_min[0]
    assert robot.mode == "idle"
    assert abs(end - robot.get_position()[0]) < 2.0 * EDGE + 0.05
    assert abs(robot.get_position()[0]) < abs(end)


@pytest.mark.parametrize("field", ["dq_c", "tau_J_d"])
def test_a_stop_in_the_middle_of_a_period_brings_the_arm_to_rest_and_finishes_the_motion(robot, field):
    stop, sent = threading.Event(), watch(robot)
    run = FrankaPolicyRun(constant(field, np.array([1.0]), period=5.0), robot, {})
    exchange = robot.backend.exchange

    def count(values):
        exchange(values)
        if len(sent) == 300:
            stop.set()

    robot.backend.exchange = count
    run_franka_policy(run, stop=stop)
    assert run.steps == 1
    assert 300 < len(sent) < 2000
    assert robot.mode == "idle"
    assert np.abs(robot.get_velocity()).max() < 0.02


def test_what_ended_the_motion_of_the_arm_is_named(robot):
    run = FrankaPolicyRun(constant("tau_J_d", np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 8.0])), robot, {})
    with pytest.raises(DeviceError, match=r"the arm ended the policy after \d+ commands: .*violation"):
        run_franka_policy(run, duration=5.0)
    assert robot.mode == "reflex"
    with pytest.raises(DeviceError, match="refused"):  # until the errors are cleared
        run_franka_policy(run, duration=5.0)


def test_a_state_that_stands_still_or_comes_late_stops_the_arm_properly(robot):
    exchange = robot.backend.exchange
    for name, fault, message in (
        ("old", lambda values: None, "the state of the arm is old"),
        ("late", lambda values: [exchange(values) for _ in range(80)], r"no new state of the arm for 0\.08 s"),
    ):
        run = FrankaPolicyRun(
            constant("dq_c", np.array([0.5])), robot, {}, safety=Safety(timeout=0.05 if name == "late" else 60.0)
        )
        count = 0

        def broken(values, fault=fault):
            nonlocal count
            count += 1
            fault(values) if count == 200 else exchange(values)

        robot.backend.exchange = broken
        with pytest.raises(BridgeError, match=message):
            run_franka_policy(run)
        assert robot.mode == "idle"
        assert np.abs(robot.get_velocity()).max() < 0.02


def test_a_state_that_holds_nan_stops_the_arm_properly(robot):
    run = FrankaPolicyRun(policy(), robot, {"target": 0.5})
    get = robot.backend.get
    robot.backend.get = lambda name: np.full(16, np.nan) if name == "O_T_EE" and run.steps == 5 else get(name)
    with pytest.raises(BridgeError, match=r"the policy stopped: .*not finite"):
        run_franka_policy(run)
    assert run.steps == 5
    assert robot.mode == "idle"


KEPT = policy().observations[:4]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"period": 0.0205}, "must be a whole number of milliseconds"),
        ({"period": 0.0004}, "must be a whole number of milliseconds"),
        ({"low": np.full(2, -3.0)}, r"from -3 to 0\.5 rad/s; must be within 2\.62 rad/s, the limit of joint"),
        ({"commands": ("franka/dq_c[0]", "franka/tau_J_d[1]")}, "commands dq_c and tau_J_d; must be one of them"),
        ({"commands": ("franka/dq_c[0]", "other/dq_c[1]")}, "names the devices franka, other; must be one arm"),
        ({"commands": ("franka/dq_c[0]", "franka/dq_c[7]")}, r"does not exist; must be at most dq_c\[6\]"),
        ({"commands": ("franka/dq_c[0]", "franka/elbow_c[1]")}, r"no command 'franka/elbow_c\[1\]'"),
        ({"commands": ("franka/q_c[0]", "franka/q_c[3]"), "high": np.full(2, 9.0)}, "must be within"),
        ({"observations": (*KEPT, "franka/O_T_EF[0]", "input/target")}, "no observation"),
        (
            {"observations": (*KEPT, "franka/O_T_EE", "input/target")},
            r"must name one, O_T_EE\[0\]",
        ),
        ({"observations": (*KEPT, "franka/q[-1]", "input/target")}, "no observation"),
    ],
)
def test_what_an_arm_does_not_have_or_cannot_do_is_refused_before_it_moves(robot, changes, words):
    with pytest.raises(PolicyError, match=words):
        FrankaPolicyRun(policy(**changes), robot, {"target": 0.0})


def test_an_arm_of_another_type_than_the_policys_is_refused_before_it_moves(robot, monkeypatch):
    with pytest.raises(PolicyError, match=r"is a Franka Research 3 \(fr3\); must be the Franka Emika Robot \(fer\)"):
        FrankaPolicyRun(policy(robot="franka"), robot, {"target": 0.0})
    FrankaPolicyRun(policy(robot="mine"), robot, {"target": 0.0})  # who made it chose the arm
    monkeypatch.setattr(robot.backend, "served_arm", lambda: "fer")  # as a robot with another model says
    for name in ("fr3", "mine"):
        with pytest.raises(PolicyError, match=r"is a Franka Emika Robot \(fer\); must be the Franka Research 3"):
            FrankaPolicyRun(policy(robot=name), robot, {"target": 0.0})
    monkeypatch.setattr(robot.backend, "served_arm", lambda: "")  # it does not tell
    FrankaPolicyRun(policy(), robot, {"target": 0.0})
    assert robot.mode == "idle"


def test_the_type_of_the_arm_is_that_of_the_policy_or_must_be_given():
    assert arm_of_policy(policy()) == "fr3"
    assert arm_of_policy(policy(robot="franka")) == "fer"
    assert arm_of_policy(policy(robot="mine"), "fer") == "fer"
    with pytest.raises(PolicyError, match="give it as --arm fer or --arm fr3"):
        arm_of_policy(policy(robot="mine"))
    with pytest.raises(PolicyError, match="the policy is for the arm fr3, its robot is 'fr3'; --arm says 'fer'"):
        arm_of_policy(policy(), "fer")


INSERTION = """
import sys
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.learn.envs.tasks import insert
from pliant.simulation import Simulation
from pliant.simulation.bridges import make_bridge

robot = insert.robot()
engine, bridge = MujocoEngine(robot), make_bridge(f"fci:host={sys.argv[1]},mode=lockstep", robot)
simulation = Simulation(engine, make_devices(robot), [bridge])
simulation.start()
engine.set_pose({"hole_x": 0.002, "hole_y": -0.003})
simulation.run()
"""
"""Program that serves the arm of the task of insertion."""


def test_an_arm_whose_state_leaves_the_range_of_the_training_comes_to_rest(robot):
    seen = constant("dq_c", np.array([0.5]))
    ranged = dataclasses.replace(seen, range_low=[-0.05], range_high=[0.05])
    run = FrankaPolicyRun(ranged, robot, {}, Safety(margin=0.0))
    with pytest.raises(BridgeError, match=r"arm/q\[0\] is 0.05"):
        run_franka_policy(run, duration=5.0)
    assert robot.mode == "idle"
    assert 0.05 < robot.get_position()[0] < 0.15
    with pytest.raises(PolicyError, match="begins and ends at rest"):
        FrankaPolicyRun(dataclasses.replace(seen, start=[0.0]), robot, {}, Safety(approach=1.0))


SERVERS = {}
"""Address -> process that serves an arm there."""


@contextlib.contextmanager
def served(*program):
    """Run `pliant run fr3 --bridge fci`, or a program, in lock-step on an address of its own while the block runs."""
    if importlib.util.find_spec("pylibfranka") is None:
        pytest.skip("pylibfranka is not installed")
    host = own_host(5)
    usual = ("-m", "pliant", "run", "fr3", "--bridge", f"fci:host={host},mode=lockstep")
    command = [sys.executable, *((*program, host) if program else usual)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        SERVERS[host] = server
        try:
            until = time.monotonic() + 240.0
            while True:
                assert server.poll() is None, server.stdout.read()
                try:
                    socket.create_connection((host, 1337), timeout=1.0).close()
                    break
                except OSError:
                    assert time.monotonic() < until, "the server does not listen"
            yield host
        finally:
            server.terminate()


@pytest.mark.network
@pytest.mark.slow
def test_a_policy_moves_a_served_arm_as_it_does_in_process(tmp_path):
    chosen = policy()

    def motion(robot):
        seen = []
        run = FrankaPolicyRun(chosen, robot, {"target": 0.4})
        run.start()
        for _ in range(60):
            run.step()
            seen.append(robot.backend.get("q"))
        run.finish()
        assert run.lost == 0
        return np.array([*seen, robot.get_position()])

    file = str(chosen.save(tmp_path / "p.npz"))
    with served() as host:
        with FrankaRobot.connect(host, arm="fer") as robot, pytest.raises(PolicyError, match=r"Research 3 \(fr3\)"):
            FrankaPolicyRun(policy(robot="franka"), robot, {"target": 0.4})
        with FrankaRobot.connect(host, arm="fr3") as robot:
            assert robot.backend.served_arm() == "fr3"
            far = motion(robot)
        words = ("policy", "run", file, "--bridge", "fci", "--host", host, "--input", "target=-0.4", "--json")
        done = subprocess.run(
            [sys.executable, "-m", "pliant", *words, "--duration", "5"], capture_output=True, text=True, timeout=240
        )
        assert done.returncode == 0, done.stderr
        assert '"commands": 250' in done.stdout
        with FrankaRobot.connect(host, arm="fr3") as robot:
            turned = robot.get_position()[0]
            assert robot.mode == "idle"
    with FrankaRobot.simulated("fr3", static_friction=True) as robot:
        near = motion(robot)
    np.testing.assert_allclose(far, near, atol=5e-6, rtol=0)  # states travel in float32
    assert far[-1, 0] > 0.2
    assert turned == pytest.approx(-0.4, abs=0.01)


@pytest.mark.network
@pytest.mark.slow
def test_an_insertion_over_the_interface_follows_the_batch_in_which_it_was_trained():
    pytest.importorskip("gymnasium")
    from policy_runs import PERIODS, in_a_batch

    from pliant.learn.envs.export import export_policy
    from pliant.learn.envs.tasks import insert

    task, hole = insert.task(), {"hole_x": 0.002, "hole_y": -0.003}
    rows = np.arange(7)
    weights = np.zeros((7, len(insert.NAMES) + 1))
    weights[rows, 14 + rows] = -0.05  # yield to contact
    weights[:, -1] = np.array([0.0, 0.5, 0.0, -0.3, 0.0, 0.8, 0.0]) / insert.SPEED * 0.15
    chosen = export_policy(task, weights, insert.NAMES, robot="fr3")
    assert chosen.commands == tuple(f"franka/dq_c[{i}]" for i in range(7))
    act = lambda row, k: chosen.act(row)  # noqa: E731
    read = lambda env, seen: env.batch.read("franka/q")[-1]  # noqa: E731
    expected = in_a_batch(task, act, chosen, worlds=2, read=read, options={"positions": hole})
    with served("-c", INSERTION) as host, FrankaRobot.connect(host, arm="fr3") as arm:
        run = FrankaPolicyRun(chosen, arm, {})
        run.start()
        found = [arm.backend.get("q")]
        for _ in range(PERIODS):
            run.step()
            found.append(arm.backend.get("q"))
        run.finish()
        assert run.lost == 0
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert np.abs(expected[-1] - expected[0]).max() > 0.01  # it moved


@pytest.mark.network
@pytest.mark.slow
@pytest.mark.parametrize("round_", [0, *(pytest.param(k, marks=pytest.mark.nightly) for k in range(1, 20))])
def test_an_arm_that_is_killed_in_the_middle_ends_the_policy_with_an_error(round_):
    from policy_runs import killed_in_the_middle

    with served() as host, FrankaRobot.connect(host, arm="fr3") as robot:
        run = FrankaPolicyRun(policy(), robot, {"target": 0.4})
        with killed_in_the_middle(run, SERVERS[host]), pytest.raises(BridgeError, match=host):
            run_franka_policy(run, duration=600.0)
        assert robot.get_robot_state() == "stop"

"""`pliant policy`."""

import json
import signal

import numpy as np
import pytest

from pliant.franka.client import FrankaRobot
from pliant.learn.policy import Policy


@pytest.fixture
def file(tmp_path):
    policy = Policy(
        robot="qbmove-1dof",
        observations=("joint/position", "input/target"),
        commands=("joint/equilibrium_position",),
        low=np.array([-2.0]),
        high=np.array([4.0]),
        layers=((np.array([[0.5, -0.25]]), np.array([0.1])),),
        period=0.1,
        mean=np.zeros(2),
        scale=np.ones(2),
    )
    return str(policy.save(tmp_path / "p.npz"))


def test_a_policy_is_shown_with_what_it_observes_and_commands(call, file):
    code, out, _ = call("policy", "show", file)
    assert code == 0
    assert "qbmove-1dof: layers 2 x 1, every 0.1 s" in out
    assert "input/target" in out
    assert "-2 to 4" in out
    code, out, _ = call("policy", "show", file, "--json")
    assert json.loads(out)["commands"] == [{"name": "joint/equilibrium_position", "low": -2.0, "high": 4.0}]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--input", "target"), "--input target: must be NAME=NUMBER"),
        (("--input", "target=soon"), "--input target=soon: must be NAME=NUMBER"),
        ((), "give it as --input target=VALUE"),
        (("--input", "target=1", "--bridge", "dynamixel"), "a policy does not run on the bridge 'dynamixel'"),
        (("--input", "target=1", "--server", "here:1"), "--server has no meaning on the bridge ros1"),
        (("--input", "target=1", "--bridge", "fci"), "which does not say the type of the arm; give it as --arm"),
        (("--input", "target=1", "--bridge", "fci", "--arm", "fr3"), "needs --host ADDRESS"),
        (
            ("--input", "target=1", "--bridge", "fci", "--namespace", "x"),
            "--namespace has no meaning on the bridge fci",
        ),
        (("--input", "target=1", "--bridge", "fci", "--clock", "wall"), "--clock has no meaning on the bridge fci"),
        (("--input", "target=1", "--clock", "sun"), "there is no clock 'sun'"),
        (("--input", "target=1", "--host", "127.0.0.1"), "--host has no meaning on the bridge ros1"),
        (("--input", "target=1", "--duration", "0"), "--duration is 0; must be > 0 s"),
        (("--input", "target=1", "--timeout", "-1"), "timeout is -1; must be > 0 s"),
    ],
)
def test_what_a_run_cannot_be_is_refused_in_words(call, file, words, message):
    code, out, error = call("policy", "run", file, *words)
    assert code != 0
    assert message in " ".join((out + error).split())
    assert "Traceback" not in error


def test_a_file_that_is_no_policy_is_refused_in_words(call, tmp_path):
    (tmp_path / "p.npz").write_text("hello")
    code, out, error = call("policy", "show", str(tmp_path / "p.npz"))
    assert code != 0
    assert "is not an NPZ archive" in " ".join((out + error).split())


def test_ctrl_c_brings_a_franka_arm_to_rest_and_finishes_the_motion(call, tmp_path, monkeypatch):
    chosen = Policy(
        robot="fr3",
        observations=("franka/q[0]",),
        commands=("franka/dq_c[0]",),
        low=np.array([-1.0]),
        high=np.array([1.0]),
        layers=((np.zeros((1, 1)), np.ones(1)),),
        period=0.01,
        mean=np.zeros(1),
        scale=np.ones(1),
    )
    made, sent, asked = FrankaRobot.simulated("fr3"), [], []
    exchange = made.backend.exchange

    def pressed(values):
        exchange(values)
        sent.append(values[0])
        if len(sent) == 300:
            signal.raise_signal(signal.SIGINT)

    made.backend.exchange = pressed
    ended = []
    made.backend.close = lambda: ended.append((made.mode, np.abs(made.get_velocity()).max()))
    monkeypatch.setattr(FrankaRobot, "connect", lambda address, **options: asked.append((address, options)) or made)
    before = signal.getsignal(signal.SIGINT)
    file = str(chosen.save(tmp_path / "p.npz"))
    code, out, error = call("policy", "run", file, "--bridge", "fci", "--host", "172.16.0.2")
    made.backend.simulation.close()
    assert code == 0, error
    assert asked == [("172.16.0.2", {"arm": "fr3", "realtime": False})]
    assert "30 commands, 0 states lost; the arm is at rest and holds its position" in out
    assert sent[299] == pytest.approx(1.0, abs=2e-3)
    assert sent[-1] < 0.01  # it slowed down by itself
    assert ended[0][0] == "idle"
    assert ended[0][1] < 0.01
    assert signal.getsignal(signal.SIGINT) is before

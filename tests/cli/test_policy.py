"""`pliant policy`."""

import json

import numpy as np
import pytest

from pliant.control import Policy


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
        (("--input", "target=1", "--bridge", "yarp"), "a policy does not run on the bridge 'yarp'"),
        (("--input", "target=1", "--bridge", "fci"), "which does not say the type of the arm; give it as --arm"),
        (("--input", "target=1", "--bridge", "fci", "--arm", "fr3"), "needs --host ADDRESS"),
        (
            ("--input", "target=1", "--bridge", "fci", "--namespace", "x"),
            "--namespace has no meaning on the bridge fci",
        ),
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
    assert "is not the archive of a policy" in " ".join((out + error).split())

"""A policy as a file: what it computes, what an archive keeps, and files that are refused."""

import json
import pickle
import zipfile

import numpy as np
import pytest

from pliant.learn.policy import Policy, PolicyError


def policy(**changes):
    values = {
        "robot": "qbmove-1dof",
        "observations": ("joint/position", "input/target"),
        "commands": ("joint/equilibrium_position",),
        "low": np.array([-2.0]),
        "high": np.array([4.0]),
        "layers": ((np.array([[0.5, -0.25]]), np.array([0.1])),),
        "period": 0.1,
        "mean": np.array([1.0, 0.0]),
        "scale": np.array([2.0, 1.0]),
        "namespace": "bench",
        "settings": {"load_mass": 0.3},
        "version": "0.1.0",
    }
    return Policy(**(values | changes))


def test_a_linear_policy_gives_what_a_pencil_gives():
    # (3 - 1) / 2 = 1; 0.5 * 1 - 0.25 * 0.4 + 0.1 = 0.5; 0.5 is three quarters of the way from -2 to 4.
    assert policy().act([3.0, 0.4]) == pytest.approx([2.5])


def test_commands_stay_inside_their_limits_whatever_is_observed():
    for value in (-1e9, 1e9):
        assert -2.0 <= policy().act([value, 0.0])[0] <= 4.0


def test_layers_are_joined_by_the_activation_that_the_policy_names():
    first = (np.array([[1.0, 0.0], [0.0, 1.0]]), np.zeros(2))
    last = (np.array([[1.0, 1.0]]), np.zeros(1))
    plain = {"mean": np.zeros(2), "scale": np.ones(2), "layers": (first, last), "low": [-1.0], "high": [1.0]}
    assert policy(**plain).act([0.3, -0.5]) == pytest.approx([np.tanh(0.3) + np.tanh(-0.5)])
    assert policy(**plain, activation="relu").act([0.3, -0.5]) == pytest.approx([0.3])
    assert policy(**plain, activation="relu", output="tanh").act([0.3, -0.5]) == pytest.approx([np.tanh(0.3)])


def test_an_archive_gives_the_same_policy_back(tmp_path):
    made = policy()
    found = Policy.load(made.save(tmp_path / "p.npz"))
    assert found.act([0.2, 0.3]).tolist() == made.act([0.2, 0.3]).tolist()
    for name in ("robot", "observations", "commands", "period", "namespace", "settings", "version", "inputs"):
        assert getattr(found, name) == getattr(made, name)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"layers": ()}, "one layer"),
        ({"layers": ((np.ones((1, 3)), np.ones(1)),)}, r"weight_0 has shape \(1, 3\); must be \(1, 2\)"),
        ({"layers": ((np.ones((2, 2)), np.ones(2)),)}, "the last layer has 2 outputs; must be 1"),
        ({"layers": ((np.array([[np.nan, 0.0]]), np.ones(1)),)}, "weight_0 contains a number that is not finite"),
        ({"mean": np.zeros(3)}, r"mean has shape \(3,\); must be \(2,\)"),
        ({"scale": np.array([1.0, 0.0])}, "scale must be positive"),
        ({"high": np.array([np.inf])}, "high contains a number"),
        ({"period": 0.0}, "period is 0.0; must be 0.0001 to 60 s"),
        ({"period": float("nan")}, "period is nan"),
        ({"activation": "tanj"}, "tanh"),
        ({"observations": ("position", "input/target")}, "must be <device>/<quantity>"),
        ({"observations": ("joint/position", "joint/position")}, "named twice"),
    ],
)
def test_what_a_policy_cannot_be_is_refused(changes, words):
    with pytest.raises(PolicyError, match=words):
        policy(**changes)


@pytest.mark.parametrize("seen", [[np.nan, 0.0], [1.0], "text"])
def test_an_observation_that_cannot_be_is_refused(seen):
    with pytest.raises(PolicyError, match="observation"):
        policy().act(seen)


def rewritten(path, **changes):
    """Write the archive of a policy with other arrays; None leaves one out."""
    policy().save(path)
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files} | changes
    np.savez(path, **{name: value for name, value in arrays.items() if value is not None})
    return path


def header(**changes):
    policy_header = {
        "format": 1, "robot": "r", "namespace": "", "activation": "tanh", "output": "clip", "version": "",
        "observations": ["joint/position", "input/target"], "commands": ["joint/equilibrium_position"],
        "joints": ["joint"], "period": 0.1, "settings": {},
    }  # fmt: skip
    return np.frombuffer(json.dumps(policy_header | changes).encode(), dtype=np.uint8)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"mean": None}, "there is no array mean"),
        ({"bias_0": None}, "there is no array bias_0"),
        ({"weight_0": np.ones((1, 5))}, "weight_0 has shape"),
        ({"low": np.array([np.nan])}, "low contains a number that is not finite"),
        ({"header": np.frombuffer(b"{", dtype=np.uint8)}, "the header cannot be read"),
        ({"header": np.frombuffer(b"[1]", dtype=np.uint8)}, "it is not an object"),
        ({"header": np.ones(3)}, "it is not text"),
        ({"header": header(format=7)}, "has the format 7; must be 1"),
        ({"header": header(period="soon")}, "period in the header must be a number"),
        ({"header": header(commands=3)}, "commands in the header must be a list"),
        ({"header": header(observations=[1, 2])}, "the observation 1 must be"),
        ({"header": header(joints=None)}, "joints in the header must be a list"),
        ({"header": header(joints=["joint", 3])}, "must be names"),
        ({"header": header(robot=None)}, "robot in the header must be a str"),
    ],
)
def test_an_archive_with_a_wrong_part_is_refused_in_words(tmp_path, changes, words):
    with pytest.raises(PolicyError, match=words):
        Policy.load(rewritten(tmp_path / "p.npz", **changes))


class Bomb:
    def __reduce__(self):
        return (open, ("/tmp/this must never exist", "w"))


def test_pickles_are_never_loaded(tmp_path):
    path = rewritten(tmp_path / "p.npz")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("more.npy", pickle.dumps(Bomb()))
    with pytest.raises(PolicyError, match="'more' is not an array"):
        Policy.load(path)
    path = tmp_path / "q.npz"
    np.savez(path, header=np.array([Bomb()], dtype=object), allow_pickle=True)
    with pytest.raises(PolicyError, match="must be numbers or texts"):
        Policy.load(path)


def test_files_that_are_no_archives_are_refused(tmp_path):
    with pytest.raises(PolicyError, match="there is no such file"):
        Policy.load(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("hello")
    with pytest.raises(PolicyError, match="not an NPZ archive"):
        Policy.load(tmp_path / "text.npz")
    with pytest.raises(PolicyError, match=r"must end in \.npz"):
        policy().save(tmp_path / "policy.bin")


def test_an_archive_that_would_fill_the_memory_is_refused_before_it_is_unpacked(tmp_path):
    path = rewritten(tmp_path / "p.npz")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("more.npy", bytes(65 * 2**20))
    with pytest.raises(PolicyError, match="must be at most"):
        Policy.load(path)

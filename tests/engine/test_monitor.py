"""Monitors follow every step of an engine in machine code, and end up in the report of a run."""

import json
from contextlib import contextmanager

import numpy as np
import pytest

from pliant.base.wing import Wing, declare, withdraw
from pliant.engine import Monitor, MujocoEngine
from pliant.laws.compile import bound
from pliant.robots.loading import load


def keep_largest(qvel, nv, largest):
    """Keep the largest speed (C arrays)."""
    for k in range(nv):
        largest[0] = max(largest[0], abs(qvel[k]))
    largest[1] += 1.0


class Fastest(Monitor):
    """The largest speed of a joint over the steps of a run."""

    def __init__(self, engine):
        self._largest = np.zeros(2)
        self.first, self.before = [], []
        self.after = [bound(keep_largest, engine.data.qvel, engine.model.nv, self._largest)]

    def reset(self):
        self._largest[:] = 0.0

    def line(self):
        return f"fastest joint: {self._largest[0]:.4g} rad/s"

    def as_dict(self):
        return {"speed": float(self._largest[0]), "steps": float(self._largest[1])}


def nothing(engine):
    """A monitor that fits no model."""


class Recorder(Fastest):
    """Notes the calls in Python, and sees in machine code how far the references and the steps are."""

    def __init__(self, engine):
        super().__init__(engine)
        self.said = []
        self.seen = np.zeros(3)
        self.first = [bound(count_one, self.seen)]
        self.before = [bound(count_one, self.seen[1:])]
        self.after = [bound(count_one, self.seen[2:])]

    def reset(self):
        self.said.append("reset")

    def begin(self):
        self.said.append("begin")

    @contextmanager
    def change(self):
        self.said.append("changing")
        yield
        self.said.append("changed")


def count_one(number):
    """Add one (C array)."""
    number[0] += 1.0


def test_a_monitor_sees_every_step_however_many_a_call_has():
    found = []
    for n in (1, 50):
        engine = MujocoEngine(load("qbmove-1dof"))
        monitor = engine.add_monitor(Fastest(engine))
        engine.port("joint/reference_1")[0] = 0.5
        largest = 0.0
        for _ in range(200 // n):
            engine.step(n)
            largest = max(largest, abs(float(engine.port("joint/velocity")[0])))
        found.append(monitor.as_dict())
        assert n > 1 or monitor.as_dict()["speed"] == largest
        assert monitor.as_dict()["speed"] >= largest > 0.1
    assert found[0] == found[1]
    assert found[0]["steps"] == 200.0
    engine.reset()
    assert monitor.as_dict() == {"speed": 0.0, "steps": 0.0}


def test_a_monitor_knows_of_resets_calls_of_step_and_changes_of_the_model():
    engine = MujocoEngine(load("qbmove-1dof"))
    monitor = engine.add_monitor(Recorder(engine))
    engine.reset()
    engine.step(3)
    engine.step(4)
    engine.set_payload(engine.payloads.bodies()[-1], 0.1)
    engine.set_pose({"joint": 0.1})
    assert monitor.said == ["reset", "begin", "begin", "changing", "changed", "reset"]
    assert monitor.seen.tolist() == [2.0, 7.0, 7.0]


def test_an_error_in_a_change_of_the_model_reaches_every_monitor_and_the_caller():
    engine = MujocoEngine(load("qbmove-1dof"))
    monitors = [engine.add_monitor(Recorder(engine)) for _ in range(2)]
    with pytest.raises(ZeroDivisionError), engine.change_model():
        raise ZeroDivisionError
    assert [m.said for m in monitors] == [["changing"]] * 2


def test_steps_with_a_monitor_give_the_same_state():
    plain, followed = (MujocoEngine(load("qbmove-2dof")) for _ in range(2))
    followed.add_monitor(Fastest(followed))
    followed.add_monitor(Recorder(followed))
    for engine in (plain, followed):
        engine.port("joint_1/reference_1")[0] = 0.4
        engine.step(300)
    assert plain.save().tobytes() == followed.save().tobytes()
    assert plain.observed.tobytes() == followed.observed.tobytes()


@pytest.fixture
def guest():
    """A wing with a monitor, one that fits no robot, and one that cannot be imported."""
    places = {"fastest": f"{__name__}:Fastest", "none": f"{__name__}:nothing", "torn": "no_such_module:Torn"}
    declare(Wing(name="guest_monitors", summary="monitors of a test", monitors=places))
    yield
    withdraw("guest_monitors")


def test_a_run_prints_what_the_monitors_of_all_wings_have_added_up(guest, call):
    command = ("run", "qbmove-1dof", "-r", "joint/equilibrium_position=0.5", "--duration", "0.2")
    code, out, err = call(*command)
    assert code == 0, err
    said = " ".join(err.split())
    assert "the wing 'guest_monitors': monitors 'torn' cannot be imported: No module named 'no_such_module'" in said
    lines = out.splitlines()
    shown = [i for i, line in enumerate(lines) if line.startswith("fastest joint: ")]
    (balance,) = (i for i, line in enumerate(lines) if line.startswith("energy [J]: "))
    assert shown == [balance + 1]
    assert float(lines[shown[0]].split()[2]) > 0.1
    code, out, err = call(*command, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["fastest"]["steps"] == found["steps"] > 0
    assert found["none"] is None
    assert "torn" not in found
    assert found["energy"]["relative"] < 1e-3

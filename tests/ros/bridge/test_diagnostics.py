"""``/diagnostics``: the lost real time and the starved topic are named, on the console once."""

from types import SimpleNamespace

import pytest
from ros_runs import RosRun


class Wall:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def run(monkeypatch):
    wall = Wall()
    monkeypatch.setattr("pliant.ros.bridge.diagnostics.time", SimpleNamespace(monotonic=wall))
    with RosRun("qbmove-1dof", clock=False) as found:
        found.wall = wall
        yield found


def rows(run):
    return {row["name"].partition(": ")[2]: row for row in run.wire.out["/diagnostics"].last()["status"]}


def step(run, wall, steps=1):
    run.wall.now += wall
    run.simulation.step(steps)


def topic(run):
    return next(name for name in run.wire.into if name.endswith("/equilibrium_position"))


def test_a_run_that_keeps_its_pace_is_well(run):
    step(run, 1.0, 500)
    row = rows(run)["real time"]
    assert (row["level"], row["message"]) == (0, "keeps its pace")
    assert run.wire.said == []


def test_lost_real_time_is_told_as_long_as_it_is_lost(run):
    step(run, 1.0)
    run.simulation.pacer._dropped = 0.4e9
    step(run, 1.0)
    row = rows(run)["real time"]
    assert row["level"] == 1
    assert row["message"].startswith("0.4 s of real time lost in the last 1 s")
    assert {"key": "lost time [s]", "value": "0.400"} in row["values"]
    step(run, 1.0)
    assert rows(run)["real time"]["level"] == 0


def hear(run, name, count):
    for _ in range(count):
        run.wire.hear(name, data=0.1)


def test_a_starved_topic_is_named_within_a_quarter_of_a_second_and_on_the_console_once(run):
    name = topic(run)
    hear(run, name, 100)
    step(run, 0.25)
    hear(run, name, 100)
    step(run, 0.25)
    assert rows(run)[name]["level"] == 0
    run.wire.lost_of = {name: 50}
    hear(run, name, 50)
    step(run, 0.25)
    row = rows(run)[name]
    assert (row["level"], row["message"]) == (1, "50 of 200 messages did not arrive")
    (said,) = run.wire.said
    assert said.startswith(f"{name} is starved: 50 of 200 messages did not arrive in the last 0.5 s")
    run.wire.lost_of = {name: 500}
    step(run, 0.25)
    assert len(run.wire.said) == 1


@pytest.mark.parametrize("lag", [0.0, 0.1, 0.249])
def test_however_a_fault_falls_between_two_looks_it_is_named_before_a_second_has_passed(run, lag):
    name = topic(run)
    hear(run, name, 100)
    step(run, 0.25)
    step(run, lag)
    run.wire.lost_of = {name: 90}
    began = run.wall.now
    while not run.wire.said and run.wall.now < began + 5.0:
        hear(run, name, 1)
        step(run, 0.01)
    assert run.wall.now - began <= 0.26
    assert run.wire.said[0].startswith(f"{name} is starved")


def test_one_lost_message_of_hundreds_is_no_starvation(run):
    name = topic(run)
    run.wire.lost_of = {name: 1}
    hear(run, name, 400)
    step(run, 0.25)
    assert (rows(run)[name]["level"], run.wire.said) == (0, [])
    assert rows(run)[name]["message"] == "1 of 401 messages did not arrive"


def test_a_topic_whose_reader_is_too_slow_is_named_with_its_reader(run):
    (name,) = [topic for topic in run.wire.out if topic.endswith("/link_state")]
    step(run, 0.25, 400)
    assert f"{name} (out)" not in rows(run)
    run.wire.out[name].drops = 30
    step(run, 0.25, 500)
    row = rows(run)[f"{name} (out)"]
    assert (row["level"], row["message"]) == (1, "30 messages dropped, 20 sent")
    (said,) = run.wire.said
    assert said.startswith(f"{name} (out) is starved: 30 messages dropped, 20 sent in the last 0.5 s")
    assert "Read by test." in said
    step(run, 0.25, 500)
    step(run, 0.25, 500)
    assert (rows(run)[f"{name} (out)"]["level"], len(run.wire.said)) == (0, 1)


def test_a_reader_that_stands_still_is_named_before_it_loses_a_message(run):
    (name,) = [topic for topic in run.wire.out if topic.endswith("/link_state")]
    for acknowledged, waiting in ((0, 260), (600, 10), (600, 260), (601, 509)):  # a reader that takes what comes
        run.wire.waits_of = {name: (acknowledged, waiting)}
        step(run, 0.25)
    assert f"{name} (out)" not in rows(run)
    for waiting in (759, 1009):
        assert run.wire.said == []
        run.wire.waits_of = {name: (601, waiting)}
        step(run, 0.25)
    assert rows(run)[f"{name} (out)"]["level"] == 1
    (said,) = run.wire.said
    assert said.startswith(f"{name} (out) is starved: 1009 messages wait, none acknowledged in the last 0.5 s. Read by")

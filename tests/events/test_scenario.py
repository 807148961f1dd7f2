"""Scenario events, from files and from code."""

import math

import numpy as np
import pytest
from fake_engine import Board, SpringJoint, SpringMassEngine

from pliant.base.errors import DeviceError
from pliant.events import Scenario, read_scenario
from pliant.events.scenario import ExternalTorque, Pause, Request, Reset, Set, SetGains, SetMode, Stop
from pliant.simulation import Simulation

GOOD = """\
description: a push and a switch
events:
  - {event: set, at: 0.0, device: joint_0, values: {reference: 0.1}}
  - event: external_torque
    at: 1e-3
    device: joint_0
    torque: 0.5
    duration: 0.002
  - {event: mode, at: 0.010, device: joint_0, mode: torque}
  - {event: gains, at: 0.010, device: joint_0, gains: {k: 77.0}}
  - {event: request, at: 0.011, device: joint_0, request: set_gains, args: {k: 78.0}}
  - {event: reset, at: 0.012, seed: 5}
  - {event: stop, at: 0.015}
"""


def read(tmp_path, text, name="scenario.yaml"):
    path = tmp_path / name
    path.write_text(text)
    return read_scenario(path)


def test_a_file_gives_the_same_events_as_code(tmp_path):
    scenario = read(tmp_path, GOOD)
    assert scenario == Scenario(
        description="a push and a switch",
        events=[
            Set(at=0.0, device="joint_0", values={"reference": 0.1}),
            ExternalTorque(at=0.001, device="joint_0", torque=0.5, duration=0.002),
            SetMode(at=0.01, device="joint_0", mode="torque"),
            SetGains(at=0.01, device="joint_0", gains={"k": 77.0}),
            Request(at=0.011, device="joint_0", request="set_gains", args={"k": 78.0}),
            Reset(at=0.012, seed=5),
            Stop(at=0.015),
        ],
    )


def test_json_is_read_as_well(tmp_path):
    text = '{\n\t"events": [\n\t\t{"event": "reset", "at": 1.5}\n\t]\n}'
    assert read(tmp_path, text, "scenario.json").events == [Reset(at=1.5)]


def test_the_events_happen_at_their_time(tmp_path):
    joint = SpringJoint()
    engine = SpringMassEngine()
    simulation = Simulation(engine, [joint], seed=1)
    read(tmp_path, GOOD).install(simulation)
    seen = []
    external, reference = engine.port("joint_0/external_torque"), engine.port("joint_0/reference")
    for _ in range(12):
        simulation.step()
        seen.append((external.item(), reference.item(), joint.k, *joint.inbox.accepted))
    assert [row[0] for row in seen] == [0.0, 0.5, 0.5, *[0.0] * 9]
    assert {row[1] for row in seen} == {0.1}
    assert [row[2] for row in seen] == [*[200.0] * 10, 77.0, 78.0]
    assert [row[3] for row in seen] == [*["position"] * 10, "torque", "torque"]
    report = simulation.run(1.0)
    assert simulation.seed == 5
    assert report.halted == "stopped"
    assert simulation.elapsed == pytest.approx(0.016)
    assert simulation.time == pytest.approx(0.004)


def test_a_push_gives_the_momentum_of_its_torque_times_its_duration():
    """A free mass: m v = torque x duration, whatever the grid of the steps."""
    engine = SpringMassEngine(mass=0.5, k=0.0)
    simulation = Simulation(engine, [SpringJoint()])
    Scenario(events=[ExternalTorque(at=0.0035, device="joint_0", torque=2.0, duration=0.05)]).install(simulation)
    simulation.run(0.2)
    assert engine.port("joint_0/velocity")[0] * 0.5 == pytest.approx(2.0 * 0.05, rel=1e-12)


def test_a_push_that_is_shorter_than_a_step_acts_for_one_step():
    engine = SpringMassEngine(mass=0.5, k=0.0)
    simulation = Simulation(engine, [SpringJoint()])
    Scenario(events=[ExternalTorque(at=0.0031, device="joint_0", torque=2.0, duration=1e-4)]).install(simulation)
    simulation.run(0.1)
    assert engine.port("joint_0/velocity")[0] * 0.5 == pytest.approx(2.0 * 0.001, rel=1e-12)


def test_a_pause_waits_for_somebody():
    simulation = Simulation(SpringMassEngine(), [])
    Scenario(events=[Pause(at=0.002), Stop(at=0.002)]).install(simulation)
    assert simulation.run(1.0).steps == 3
    assert simulation.paused


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("events:\n  - {event: set, at: 0, device: a, values: {r: 1.21*pow(10,-6)}}", "got `str`", 2),
        ("events:\n  - {event: reset, at: 1}\n  - {event: reset, at: soon}", r"events\[1\]\.at: expected `float`", 3),
        ("events:\n  - {event: reset}", "required field `at`", 2),
        ("events:\n  - {event: rest, at: 1}", r"events\[0\]: unknown event 'rest'; did you mean 'reset'", 2),
        ("events:\n  - {at: 1}", "has no entry 'event'", 2),
        ("events:\n  - event: gains\n    at: 1\n    gain: {}", "unknown entry 'gain'; did you mean 'gains'", 4),
        ("evnts: []", "a list named 'events'", 1),
        ("events: []\nrepeat: 3", "unknown entry 'repeat'; .*must be one of description, events", 2),
        ("events:\n  - {event: reset, at: [", "not valid YAML: .*", 2),
        ("- 1", "a mapping with a list named 'events'", 1),
        ("", "the file is empty", None),
    ],
)
def test_a_wrong_file_is_refused_with_file_line_and_path(tmp_path, text, message, line):
    with pytest.raises(DeviceError, match=message) as caught:
        read(tmp_path, text)
    assert caught.value.file == str(tmp_path / "scenario.yaml")
    assert caught.value.line == line


def test_a_missing_or_binary_file_is_refused(tmp_path):
    with pytest.raises(DeviceError, match="there is no such file"):
        read_scenario(tmp_path / "none.yaml")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00events")
    with pytest.raises(DeviceError, match="not UTF-8 text"):
        read_scenario(tmp_path / "binary.yaml")


def test_all_events_that_do_not_fit_are_named_at_once():
    simulation = Simulation(SpringMassEngine(3), [SpringJoint(), Board(3)])
    scenario = Scenario(
        events=[
            Set(at=0.0, device="joint_O", values={}),
            Set(at=0.0, device="joint_0", values={"refrence": 1.0}),
            Set(at=0.0, device="joint_0", values={"reference": 1.0}, mode="postion"),
            Set(at=0.0, device="joint_0", values={"reference": math.nan}),
            Set(at=0.0, device="board", values={"references": [1.0, 2.0]}),
            ExternalTorque(at=0.0, device="board", torque=1.0),
            ExternalTorque(at=0.0, device="joint_0", torque=1.0, duration=-1.0),
            SetMode(at=-1.0, device="joint_0", mode="torque"),
            SetMode(at=0.0, device="board", mode="torque"),
            Request(at=0.0, device="joint_0", request="set_gain"),
            Reset(at=0.0),
        ]
    )
    problems = scenario.problems(simulation.devices, simulation.engine)
    expected = [
        r"events[0] (set): there is no device 'joint_O'; did you mean 'joint_0'",
        r"events[1] (set): device 'joint_0' has no command field 'refrence'; did you mean 'reference'",
        r"events[2] (set): device 'joint_0' has no command mode 'postion'; did you mean 'position'",
        r"events[3] (set): reference is nan; must be finite numbers",
        r"events[4] (set): references is [1.0, 2.0]; must be a list of 3 numbers",
        r"events[5] (external_torque): device 'board' has no command field 'external_torque'",
        r"events[6] (external_torque): duration is -1.0; must be a finite number of seconds above 0",
        r"events[7] (mode): at is -1.0; must be a finite number of seconds >= 0",
        r"events[8] (mode): device 'board' has no request 'set_mode'; there are none",
        r"events[9] (request): device 'joint_0' has no request 'set_gain'; did you mean 'set_gains'",
    ]
    assert len(problems) == len(expected)
    for found, start in zip(problems, expected, strict=True):
        assert found.startswith(start)
    with pytest.raises(DeviceError, match=r"does not fit the robot: events\[0\].*events\[9\]"):
        scenario.install(simulation)
    simulation.step()


def test_a_board_is_set_by_lists():
    engine = SpringMassEngine(3)
    simulation = Simulation(engine, [Board(3)])
    Scenario(events=[Set(at=0.0, device="board", values={"references": [0.1, 0.2, 0.3]})]).install(simulation)
    simulation.step()
    assert np.array_equal(engine._values["reference"], [0.1, 0.2, 0.3])

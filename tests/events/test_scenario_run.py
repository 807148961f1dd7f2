"""Scenarios that are started and ended while a simulation runs, and those that come with pliant."""

import pytest
from daily import robots_by_day
from fake_engine import SpringJoint, SpringMassEngine

from pliant.base.errors import DeviceError, MissingDependency
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.events import Scenario, ScenarioRun, find_scenario, read_scenario_file, shipped_scenarios
from pliant.events.scenario import ExternalTorque, Request, Set, SetGains, Stop
from pliant.robots import list_robots
from pliant.robots.loading import load
from pliant.simulation import Simulation


@pytest.fixture
def simulation():
    with Simulation(SpringMassEngine(), [SpringJoint()], seed=1) as made:
        yield made


def start(simulation, *events):
    said = []
    run = ScenarioRun(Scenario(events=list(events)), simulation, said.append)
    return run, said


def pushed(simulation):
    return simulation.engine.port("joint_0/external_torque").item()


PUSH = ExternalTorque(at=0.01, device="joint_0", torque=0.5, duration=0.02)


def test_its_times_count_from_the_moment_in_which_it_is_started(simulation):
    simulation.run(0.1)
    run, _ = start(simulation, PUSH)
    simulation.run(0.010)
    assert pushed(simulation) == 0.0
    simulation.run(0.001)
    assert pushed(simulation) == 0.5
    assert run.time == pytest.approx(0.011)
    assert not run.over
    simulation.run(0.02)
    assert pushed(simulation) == 0.0
    simulation.run(0.001)
    assert run.over
    assert run.duration == pytest.approx(0.03)


def test_when_it_is_stopped_its_torque_ends_and_the_rest_does_not_happen(simulation):
    run, said = start(simulation, PUSH, Set(at=0.02, device="joint_0", values={"reference": 0.3}))
    simulation.run(0.015)
    assert pushed(simulation) == 0.5
    run.stop()
    simulation.run(0.1)
    assert pushed(simulation) == 0.0
    assert simulation.engine.port("joint_0/reference").item() == 0.0
    assert run.over
    assert said == []


def test_what_was_stopped_does_not_come_again_after_a_reset(simulation):
    run, _ = start(simulation, PUSH)
    simulation.run(0.015)
    run.stop()
    simulation.reset()
    simulation.run(0.015)
    assert pushed(simulation) == 0.0
    other, _ = start(simulation, PUSH)
    simulation.run(0.015)
    assert pushed(simulation) == 0.5
    other.stop()


def test_its_stop_ends_the_scenario_and_the_run_goes_on(simulation):
    run, _ = start(simulation, Stop(at=0.01), Set(at=0.02, device="joint_0", values={"reference": 0.3}))
    report = simulation.run(0.05)
    assert report.halted == ""
    assert run.over
    assert simulation.engine.port("joint_0/reference").item() == 0.0


def test_an_event_that_is_refused_is_told_and_ends_the_scenario_only(simulation):
    wrong = SetGains(at=0.01, device="joint_0", gains={"no_such_gain": 1.0})
    run, said = start(simulation, wrong, Set(at=0.02, device="joint_0", values={"reference": 0.3}))
    assert simulation.run(0.05).halted == ""
    assert run.over
    assert len(said) == 1
    assert said[0].startswith("the scenario ends at 0.01 s (gains): ")
    assert simulation.engine.port("joint_0/reference").item() == 0.0


def test_one_that_does_not_fit_is_refused_before_anything_happens(simulation):
    with pytest.raises(DeviceError, match="there is no device 'elbow'"):
        start(simulation, PUSH, Request(at=0.0, device="elbow", request="open"))
    simulation.run(0.05)
    assert pushed(simulation) == 0.0


def test_a_scenario_of_the_command_line_can_be_stopped_too(simulation):
    run = Scenario(events=[PUSH]).install(simulation)
    simulation.run(0.015)
    run.stop()
    simulation.run(0.001)
    assert pushed(simulation) == 0.0


def test_forgotten_events_leave_those_of_others_in_their_order(simulation):
    seen = []
    numbers = [simulation.at(0.001 * k, lambda _, k=k: seen.append(k)) for k in range(6)]
    simulation.run(0.002)
    simulation.forget([numbers[0], numbers[3], 99])
    simulation.run(0.010)
    assert seen == [0, 1, 2, 4, 5]
    simulation.reset()
    simulation.run(0.010)
    assert seen[5:] == [1, 2, 4, 5]


def parts_of(name):
    """Return the devices and the engine of a robot of the catalogue."""
    robot = load(name)
    return {device.name: device for device in make_devices(robot)}, MujocoEngine(robot, check=False)


@pytest.mark.parametrize("name", robots_by_day(robot.name for robot in list_robots()))
def test_the_scenarios_that_a_robot_of_the_catalogue_lists_are_those_that_fit_and_say_what_they_do(name):
    robot = next(robot for robot in list_robots() if robot.name == name)
    try:
        parts = parts_of(name)
    except MissingDependency as error:
        pytest.skip(str(error))
    found = shipped_scenarios(*parts)
    assert set(robot.scenarios) == set(found)
    for scenario in found.values():
        assert len(scenario.description) > 20
        assert scenario.events


def test_a_scenario_of_pliant_is_found_by_its_name():
    parts = parts_of("qbmove-1dof")
    assert read_scenario_file("steps") is None
    assert find_scenario("steps", *parts) == shipped_scenarios(*parts)["steps"]


def test_a_file_comes_before_a_scenario_of_pliant_with_the_same_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "steps").mkdir()
    assert read_scenario_file("steps") is None
    (tmp_path / "push").write_text("events:\n  - {event: stop, at: 1.0}\n")
    assert read_scenario_file("push") == Scenario(events=[Stop(at=1.0)])


@pytest.mark.parametrize("given", ["stes.yaml", "STEPS.JSON", "./steps", "folder/steps"])
def test_what_is_written_like_a_file_is_no_name(tmp_path, monkeypatch, given):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DeviceError, match="there is no such file"):
        read_scenario_file(given)


def test_a_name_that_does_not_exist_or_does_not_fit_is_refused_with_those_that_fit():
    parts = parts_of("qbmove-1dof")
    with pytest.raises(
        DeviceError,
        match=r"'stes' is neither a file nor a scenario of pliant; did you mean 'steps'\? must be one of push, steps "
        r"\(those that fit this robot\)",
    ):
        find_scenario("stes", *parts)
    with pytest.raises(
        DeviceError, match=r"'nod' does not fit this robot \(.*there is no device 'franka'\); must be one of p"
    ):
        find_scenario("nod", *parts)
    with pytest.raises(DeviceError, match="no scenario of pliant fits it"):
        find_scenario("nod", {}, parts[1])

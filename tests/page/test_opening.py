"""How robots begin on the page: with something that moves, until somebody moves it."""

import numpy as np
import pytest
from running import enter, eventually, free_port, running

from pliant.base.errors import MissingDependency
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.events.scenario import ScenarioRun
from pliant.events.shipped import shipped_scenarios
from pliant.page import PageServer
from pliant.page.opening import dance, opening
from pliant.robots import find_robot, list_robots
from pliant.robots.loading import load_with_settings
from pliant.simulation import Simulation


@pytest.mark.parametrize(
    ("name", "seconds", "way"),
    [
        ("qbmove-1dof", 1.0, 0.1),
        ("qbmove-2dof", 1.0, 0.1),
        ("qbmove-5dof", 1.0, 0.1),
        ("fr3", 1.0, 0.1),
        ("softfoot", 1.0, 0.001),
        ("Stewart_Gough_6PFR", 0.8, 0.02),
        ("tdcr", 0.4, 0.01),
        pytest.param("biped", 1.0, 0.01, marks=pytest.mark.slow),
    ],
)
def test_a_robot_of_each_family_moves_at_once(name, seconds, way):
    given = dict(setting.split("=") for setting in find_robot(name).view_settings)
    robot = load_with_settings(name, given)
    engine, devices = MujocoEngine(robot, check=False), make_devices(robot)
    with Simulation(engine, devices, [], pacer="free") as simulation:
        simulation.run(0.01)
        before, turns = engine.data.xipos.copy(), engine.data.xmat.copy()
        shipped = shipped_scenarios(simulation.devices, engine)
        if (plate := dance(simulation.devices, simulation.latest)) is not None:
            shipped["dance"] = plate
        chosen = opening(shipped)
        if chosen is not None:
            ScenarioRun(shipped[chosen], simulation, pytest.fail)
        simulation.run(seconds)
        moved = np.linalg.norm(engine.data.xipos - before, axis=1).max()
        turned = np.linalg.norm(engine.data.xmat - turns, axis=1).max() / np.sqrt(2.0)  # of a small angle [rad]
        assert max(moved, turned) > way


def begun(name):
    """Return a simulation of a robot as on the page, with the scenario that it begins with."""
    robot = load_with_settings(name, dict(setting.split("=") for setting in find_robot(name).view_settings))
    engine = MujocoEngine(robot, check=False)
    simulation = Simulation(engine, make_devices(robot), [], pacer="free")
    fitting = shipped_scenarios(simulation.devices, engine)
    return simulation, fitting, opening(fitting)


def test_an_arm_without_a_hand_does_not_begin_by_opening_its_hand():
    simulation, fitting, chosen = begun("fr3-tdcr")
    with simulation:
        assert "nod" not in fitting
        assert chosen is not None
        assert not any("gripper" in name for name in simulation.devices["franka"].requests)


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", [robot.name for robot in list_robots()])
def test_no_event_of_the_scenarios_that_fit_a_robot_is_refused(name):
    try:
        simulation, fitting, _ = begun(name)
    except MissingDependency as error:
        pytest.skip(str(error).splitlines()[0])
    with simulation:
        for scenario in fitting.values():
            run = ScenarioRun(scenario, simulation, pytest.fail)
            simulation.run(run.duration + 0.01)
            assert run.over


@pytest.mark.network
def test_an_opening_ends_when_somebody_moves_a_slider():
    with PageServer(port=free_port()) as server, running("qbmove-2dof", server=server, begin="opening") as (_, view):
        eventually(lambda: view._scenarios.run is not None)
        assert view._scenarios.run.duration > 0.0
        eventually(lambda: "swing" in view._messages._text.content)
        slider = next(
            uuid
            for uuid, handle in server.gui._gui_input_handle_from_uuid.items()
            if handle.label.startswith("equilibrium")
        )
        enter(server, slider, 0.25)
        eventually(lambda: view._scenarios.run.over)


@pytest.mark.network
def test_a_scenario_that_somebody_starts_takes_the_place_of_the_opening_and_no_run_is_left_beside_it():
    with (
        PageServer(port=free_port()) as server,
        running("qbmove-2dof", server=server, begin="opening") as (simulation, view),
    ):
        panel = view._scenarios
        eventually(lambda: panel.run is not None)
        for button in [*("Start", "Restart") * 60, "Start"]:
            panel._buttons._impl.value = button
            panel._pressed(None)
        eventually(lambda: not view._opening)
        chosen = panel.scenarios[str(panel._choice.value)]
        assert len(simulation._schedule._events) == len(chosen.events)
        begun = panel.run
        server.numbers += 1  # somebody moves a slider
        drawn = view.health()["pictures"]
        eventually(lambda: view.health()["pictures"] > drawn + 10)
        assert panel.run is begun
        assert not begun.over

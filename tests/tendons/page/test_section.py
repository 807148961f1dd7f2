"""The handle at the tip of a tendon-driven robot."""

import threading
import time

import numpy as np
import pytest

import pliant
from pliant.base.spatial import pose
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.page import PageView
from pliant.simulation import Simulation

pytestmark = pytest.mark.network
SLOW = {"damping": 0.2, "tendon_damping": 0.01}
"""Options that let the robot come to rest soon."""


def wait(section):
    until = time.monotonic() + 60.0
    while section.busy:
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.parametrize(("control", "share"), [("length", 0.2), ("tension", 0.3)])
def test_the_simulated_tip_goes_where_the_handle_was_dragged(control, share):
    robot = pliant.load("tdcr", options={**SLOW, "control": control})
    engine = MujocoEngine(robot)
    view = PageView(engine, title="tdcr")
    with Simulation(engine, make_devices(robot), [view], pacer="free") as simulation:
        simulation.run(0.05)
        section = view._section
        section.show(None, view._data)
        tip = simulation.sample("tendons").values["tip_position"]
        goal = tip + np.array([0.03, 0.02, -0.005])
        section.move_tip(pose(goal, np.eye(3)))
        wait(section)
        simulation.run(1.0)
        # The step has the friction before the base plate, the panel's statics has none.
        found = simulation.sample("tendons").values["tip_position"]
        assert np.linalg.norm(found - goal) < share * np.linalg.norm(goal - tip)
    assert "pliant-tendons" not in {thread.name for thread in threading.enumerate()}


def test_a_place_out_of_reach_is_said_and_commands_nothing():
    robot = pliant.load("tdcr")
    engine = MujocoEngine(robot)
    view = PageView(engine, title="tdcr")
    with Simulation(engine, make_devices(robot), [view], pacer="free") as simulation:
        simulation.run(0.01)
        section = view._section
        section.move_tip(pose([1.0, 0.0, 0.0], np.eye(3)))
        wait(section)
        simulation.run(0.01)
        assert "no tensions within the breaking loads" in view._fault
        np.testing.assert_allclose(simulation.sample("tendons").values["pull"], 0.0, atol=1e-9)
        section.home()
        assert not section.busy

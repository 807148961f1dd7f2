"""`--scenario`: a scenario plays from the start of a run, and pages offer it."""

import json

import pytest

from pliant.base.errors import DeviceError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.events.options import ScenarioOptions, ScenarioPage
from pliant.page import PageView
from pliant.robots import build_robot
from pliant.simulation import BridgeBase, Simulation


class Page(BridgeBase):
    """A page that keeps what it is offered."""

    name = "page"

    def __init__(self):
        super().__init__()
        self.offered = []

    def publish(self, sample):
        """Show nothing."""

    def offer(self, name, scenario, run=None):
        """Keep it."""
        self.offered.append((name, scenario, run))


class Plain(Page):
    """A bridge that is no page."""

    name = "plain"
    offer = None


@pytest.fixture
def simulation():
    robot = build_robot("qbmove-1dof")
    with Simulation(MujocoEngine(robot), make_devices(robot), [Page(), Plain()]) as made:
        yield made


def test_without_the_option_nothing_is_added():
    assert ScenarioOptions().make() is None


@pytest.mark.parametrize("given", ["steps", "{folder}/own.yaml"])
def test_a_scenario_begins_with_the_run_and_every_page_offers_it(simulation, tmp_path, given):
    event = {"event": "set", "at": 0.0, "device": "joint", "values": {"equilibrium_position": 0.5}}
    (tmp_path / "own.yaml").write_text(json.dumps({"events": [event]}))
    ScenarioOptions(scenario=given.format(folder=tmp_path)).make().begin(simulation)
    ((name, scenario, run),) = simulation.bridges["page"].offered
    assert name == given.rpartition("/")[2]
    assert scenario.events[0].values == {"equilibrium_position": 0.5}
    assert not run.over
    simulation.run(0.5)
    assert simulation.sample("joint").values["position"] > 0.1


def test_a_file_that_is_missing_is_refused_before_a_robot_is_loaded(tmp_path):
    with pytest.raises(DeviceError, match=r"nowhere\.yaml: there is no such file"):
        ScenarioOptions(scenario=str(tmp_path / "nowhere.yaml")).make()


def test_a_scenario_that_does_not_fit_is_refused_before_the_first_step(simulation):
    with pytest.raises(DeviceError, match="'nod' does not fit this robot"):
        ScenarioOptions(scenario="nod").make().begin(simulation)
    assert simulation.bridges["page"].offered == []


def test_the_page_of_pliant_is_one_that_offers_scenarios():
    assert issubclass(PageView, ScenarioPage)

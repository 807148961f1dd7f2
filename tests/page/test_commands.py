"""`pliant view`: what its page records, and the scenario that it offers first."""

import gc
import json
import threading
import weakref

import pytest

from pliant.base.errors import DivergedError
from pliant.page import commands
from pliant.recording.recording import read_recording
from pliant.simulation import Simulation

pytestmark = pytest.mark.network


def test_what_the_page_records_names_its_robot_also_after_another_one_was_chosen(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = []

    def run(simulation, *_):
        """Record a little, as by the page's button; then choose the next robot."""
        page = simulation.bridges["view"]
        pressed = threading.Thread(target=page._run._recorded, args=(None,), name="test-click")
        pressed.start()
        while simulation.recording is None:
            simulation.step()
        pressed.join()
        simulation.step(100)
        shown.append(simulation.recording)
        simulation.stop_recording()
        if len(shown) == 1:
            page.choice.change_to("sea-1dof")

    monkeypatch.setattr(Simulation, "run", run)
    code, _, err = call("view", "qbmove-1dof", "--set", "option.timestep=0.0005")
    assert code == 0, err
    first, second = shown
    assert read_recording(first).metadata["command_line"] == "pliant view qbmove-1dof --set option.timestep=0.0005"
    assert read_recording(second).metadata["command_line"] == "pliant view sea-1dof"
    for file in shown:
        code, out, err = call("replay", file, "--html", file.with_suffix(".html"), "--json")
        assert code == 0, err
        assert json.loads(out)["html"].endswith(".html")


def test_the_scenario_of_pliant_that_is_named_is_the_first_on_the_page(call, monkeypatch):
    shown = []

    def run(simulation, *_):
        panel = simulation.bridges["view"]._scenarios
        shown.append((str(panel._choice.value), list(panel._choice.options)))

    monkeypatch.setattr(Simulation, "run", run)
    code, _, err = call("view", "qbmove-1dof", "--scenario", "steps")
    assert code == 0, err
    assert shown == [("steps", ["steps", "push"])]


def test_a_folder_without_a_report_is_refused_before_the_robot_is_loaded(call, tmp_path):
    code, out, err = call("view", tmp_path / "missing.urdf", "--report", tmp_path)
    assert code == 1
    assert not out
    assert "there is no report in this folder (index.html)" in err


class _Server:
    """Counts what is done on a page, and what the page says."""

    uses = 0

    def __init__(self):
        self.said = []

    def notify(self, head, text):
        self.said.append(head)


@pytest.mark.parametrize(("used", "runs"), [(False, 2), (True, 5)])
def test_a_robot_that_diverges_at_once_ends_the_page_only_where_nobody_used_it(monkeypatch, used, runs):
    server, begun = _Server(), []

    def show(*_, **__):
        begun.append(1)
        server.uses += used
        if len(begun) == 5:
            raise KeyboardInterrupt
        raise DivergedError("diverged", time=0.1)

    monkeypatch.setattr(commands, "_show", show)
    with pytest.raises(KeyboardInterrupt if used else DivergedError):
        commands.show_robots(server, None, "robot", None)
    assert len(begun) == runs
    assert len(server.said) == runs - 1


def test_the_engine_of_a_robot_goes_before_the_next_one_is_shown(call, monkeypatch):
    engines = []

    def run(simulation, *_):
        """Choose the next robot, and look whether the one before is gone."""
        gc.collect()
        engines.append([engine() is None for engine in shown])
        shown.append(weakref.ref(simulation.engine))
        if len(shown) < 3:
            simulation.bridges["view"].choice.change_to("sea-1dof" if len(shown) == 1 else "qbmove-1dof")

    shown = []
    monkeypatch.setattr(Simulation, "run", run)
    code, _, err = call("view", "qbmove-1dof")
    assert code == 0, err
    assert engines == [[], [True], [True, True]]


def test_a_robot_of_the_catalogue_is_shown_by_its_name_there(call, monkeypatch):
    shown = []
    monkeypatch.setattr(Simulation, "run", lambda simulation, *_: shown.append(simulation.bridges["view"]._title))
    code, _, err = call("view", "franka")
    assert code == 0, err
    assert shown == ["franka"]

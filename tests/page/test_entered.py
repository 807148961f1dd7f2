"""Numbers that are entered on a page: one command when they are entered, and inside the range of the control."""

import contextlib
import importlib.util
import math
from pathlib import Path

import pytest
from robot_data import needs_data
from running import enter, eventually, free_port, running
from viser import GuiEvent

from pliant.devices.mailbox import Mailbox
from pliant.page import PageServer
from pliant.page.controls import guarded
from pliant.robots import list_robots

pytestmark = pytest.mark.network

_spec = importlib.util.spec_from_file_location("chromium", Path(__file__).with_name("chromium.py"))
chromium = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(chromium)
with_browser = pytest.mark.skipif(chromium.find() is None, reason="no Chromium is installed")

BOX = "[...document.querySelectorAll('input.mantine-NumberInput-input')].find(e => /equilibrium/.test(e.ariaLabel))"


@contextlib.contextmanager
def box_of_a_joint(monkeypatch):
    """Open a page, with the box of the equilibrium position in focus; yields browser, simulation and the commands."""
    puts, put = [], Mailbox.put

    def noted(inbox, values, **options):
        puts.append(dict(values))
        put(inbox, values, **options)

    monkeypatch.setattr(Mailbox, "put", noted)
    with running("qbmove-1dof") as (simulation, view), chromium.Page(view.url, 1000, 420) as browser:
        browser.until(f"{BOX} !== undefined && {BOX}.select() === undefined")
        yield browser, simulation, puts


@with_browser
def test_in_a_browser_a_number_is_one_command_when_it_is_entered(monkeypatch):
    with box_of_a_joint(monkeypatch) as (browser, simulation, puts):
        browser.type("0.75")
        browser.run("new Promise(done => setTimeout(done, 500))")
        assert puts == []
        assert browser.run(f"{BOX}.value") == "0.75"
        browser.key("Enter", 13, "\r")
        eventually(lambda: puts)
        eventually(lambda: simulation.sample("joint").values["position"] > 0.7)
        assert puts == [{"equilibrium_position": 0.75}]
        browser.run(f"{BOX}.select()")
        browser.type("-1.5")
        browser.run(f"{BOX}.blur()")
        eventually(lambda: len(puts) == 2)
        assert puts[-1] == {"equilibrium_position": -1.5}
        assert browser.errors == []


@with_browser
@pytest.mark.parametrize("ended", ["enter", pytest.param("left", marks=pytest.mark.nightly)])
def test_in_a_browser_a_number_beyond_the_range_is_limited_and_the_page_says_so(monkeypatch, ended):
    with box_of_a_joint(monkeypatch) as (browser, _, puts):
        browser.type("99")
        if ended == "enter":
            browser.key("Enter", 13, "\r")
        else:
            browser.run(f"{BOX}.blur()")
        eventually(lambda: puts)
        high = puts[0]["equilibrium_position"]
        assert high < 3.2
        browser.until("/99 was entered; must be at most/.test(document.body.innerText)")
        browser.until(f"Math.abs(+{BOX}.value - {high}) < 1e-6")
        assert [v for v in puts if v["equilibrium_position"] != high] == []


DAILY = ("qbmove-1dof", "fr3", "6PFR")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in DAILY else (pytest.mark.nightly, pytest.mark.slow))
        for name in sorted({robot.name for robot in list_robots()})
    ],
)
def test_no_control_of_a_robot_takes_a_number_outside_its_range(name):
    needs_data(name)
    with PageServer(port=free_port()) as server, running(name, server=server) as (simulation, view):
        eventually(lambda: view._filled or view._controls is None)
        simulation.pause()
        controls = {
            uuid: handle
            for uuid, handle in list(server.gui._gui_input_handle_from_uuid.items())
            if isinstance(handle.value, int | float) and not isinstance(handle.value, bool)
        }
        swept = 0
        for uuid, handle in controls.items():
            if server.gui._gui_input_handle_from_uuid.get(uuid) is not handle:
                continue  # its panel has been built anew since
            swept += 1
            low, high = server._limits(uuid)
            assert math.isfinite(low), (handle.label, low, high)
            for value in (1e9, -1e9, math.nan, 1e400):
                enter(server, uuid, value)
                assert low <= handle.value <= high, (handle.label, value)
        assert swept or not controls


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in ("qbmove-2dof", "tdcr") else (pytest.mark.nightly, pytest.mark.slow))
        for name in sorted({robot.name for robot in list_robots()})
    ],
)
def test_every_mode_that_a_list_of_a_device_offers_is_accepted(name):
    needs_data(name)
    with PageServer(port=free_port()) as server, running(name, server=server) as (_, view):
        eventually(lambda: view._filled or view._controls is None)
        for uuid, handle in list(server.gui._gui_input_handle_from_uuid.items()):
            if handle.label == "mode" and not handle._impl.removed:
                for mode in [*handle._impl.props.options, handle.value]:
                    enter(server, uuid, mode)
                    assert handle.value == mode
        assert view.health()["last_error"] == ""


def test_what_no_list_offers_changes_nothing_and_is_no_fault():
    with PageServer(port=free_port()) as server, running("qbmove-1dof", server=server) as (simulation, view):
        eventually(lambda: view.health()["filled"])
        for uuid, handle in list(server.gui._gui_input_handle_from_uuid.items()):
            if hasattr(handle._impl.props, "options"):
                before = handle.value
                for value in ("no such thing", 3, None, ["1"]):
                    enter(server, uuid, value)
                    assert handle.value == before, handle.label
        mode = next(h for h in server.gui._gui_input_handle_from_uuid.values() if h.label == "mode")
        assert mode.value in simulation.devices["joint"].inbox.accepted
        assert server.faults == 0


def test_a_control_of_a_page_that_is_gone_does_nothing():
    said = []
    with PageServer(port=free_port()) as server:
        slider = server.gui.add_slider("mass", min=0.0, max=1.0, step=0.1, initial_value=0.0)
        work = guarded(said.append, lambda event: setattr(event.target, "max", 2.0))
        server.clear()
        work(GuiEvent(None, 0, slider))
        assert said == []
        stays = server.gui.add_slider("mass", min=0.0, max=1.0, step=0.1, initial_value=0.0)
        with pytest.raises(KeyError):
            guarded(said.append, lambda event: {}["nothing"])(GuiEvent(None, 0, stays))


def test_a_value_for_a_control_that_is_taken_away_meanwhile_goes_to_no_browser():
    with PageServer(port=free_port()) as server:
        kept = server.viser._websock_server._broadcast_buffer.message_from_id
        controls = [server.gui.add_slider(name, min=0.0, max=1.0, step=0.1, initial_value=0.0) for name in "ab"]
        controls[0].remove()  # between viser's look at the control and the value that it passes on
        for control in controls:
            control._impl.sync_cb(1, {"value": 0.5})
        values = [message for message in kept.values() if getattr(message, "updates", None) == {"value": 0.5}]
        assert [message.uuid for message in values] == [controls[1]._impl.uuid]

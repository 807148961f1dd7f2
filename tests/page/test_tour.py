"""The first minute of a page: an arm is pulled soft and stiff, and the page says how much softer it was."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from running import eventually, free_port, running

from pliant.base.errors import PliantError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.page import PageView
from pliant.page.choice import RobotChoice
from pliant.page.tour import PULL_TIME, SOFT, STIFF, check_tour
from pliant.robots.loading import load
from pliant.simulation import Simulation

pytestmark = pytest.mark.network

_spec = importlib.util.spec_from_file_location("chromium", Path(__file__).with_name("chromium.py"))
chromium = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(chromium)


def begun(**options):
    robot = load("qbmove-5dof")
    view = PageView(
        MujocoEngine(robot, check=False),
        port=free_port(),
        begin="tour",
        choice=RobotChoice(["fr3", "softfoot"]),
        **options,
    )
    return view, make_devices(robot)


def pulled(simulation, tour, preset):
    """Set a preset, pull with the button, and return what the page says of it, drawn every 0.1 s as in real time."""
    tour.set_preset(preset)
    simulation.run(2.0)
    tour.pull()
    for _ in range(round(10 * PULL_TIME) + 5):
        simulation.run(0.1)
        tour.draw(simulation.engine.data)
    return tour.pulls[-1]


def test_the_same_pull_moves_the_soft_arm_several_times_as_far(monkeypatch):
    view, devices = begun()
    with Simulation(view._engine, devices, [view], pacer="free") as simulation:
        simulation.start()
        tour = view._tour
        view._tour = None  # drawn by this test alone
        soft, stiff = pulled(simulation, tour, SOFT), pulled(simulation, tour, STIFF)

        assert soft.force == pytest.approx(tour.force) == pytest.approx(stiff.force)
        assert 4.0 < soft.compliance / stiff.compliance < 12.0
        said = f"{soft.compliance / stiff.compliance:.1f} times"
        assert said in tour._bars.content
        assert f"{20.0 / soft.compliance:.1f} N</b> from the soft arm" in tour._bars.content
        lines, labels = tour._marks[::2], tour._marks[1::2]
        assert [label.text for label in labels] == [f"soft {1e3 * soft.way:.0f} mm", f"stiff {1e3 * stiff.way:.0f} mm"]
        drawn = [float(np.linalg.norm(line.points[0, 1] - line.points[0, 0])) for line in lines]
        assert soft.way > drawn[0] > 0.9 * soft.way  # the horizontal part
        assert stiff.way > drawn[1] > 0.9 * stiff.way
        again = pulled(simulation, tour, SOFT)
        assert len(tour.pulls) == 2
        assert again.way == pytest.approx(soft.way, rel=0.05)
        assert not simulation.engine.data.xfrc_applied.any()


def test_a_pull_away_from_the_box_and_none_that_is_too_weak_counts():
    view, devices = begun()
    with Simulation(view._engine, devices, [view], pacer="free") as simulation:
        simulation.start()
        tour, data = view._tour, simulation.engine.data
        view._tour = None
        way = tour.way
        box = data.body("box").xpos - data.xpos[tour.tip]
        assert way @ box < 0.0
        assert np.linalg.norm(way) == pytest.approx(1.0)
        assert way[2] == 0.0

        view._pull.push(tour.tip, 0.1 * tour.force * way, 0.5)
        for _ in range(8):
            simulation.run(0.1)
            tour.draw(data)
        assert tour.pulls == []


@pytest.mark.parametrize(
    "name", ["qbmove-1dof", "sea-1dof", "bavs-1dof", "awas2-1dof", "pam-1dof", "fr3", "biped", "softfoot", "3RR"]
)
def test_only_robots_whose_stiffness_can_be_set_have_a_tour(name):
    devices = {device.name: device for device in make_devices(load(name))}
    variable = any("stiffness_preset" in fields for d in devices.values() for fields in d.commands.values())
    if variable:
        check_tour(devices)
    else:
        with pytest.raises(PliantError, match="--tour needs joints with a stiffness preset; use it with qbmove-5dof"):
            check_tour(devices)


@pytest.mark.slow
@pytest.mark.skipif(chromium.find() is None, reason="no Chromium is installed")
@pytest.mark.parametrize("size", [pytest.param((1366, 768), marks=pytest.mark.nightly), (390, 844)])
def test_a_visitor_pulls_moves_the_slider_and_pulls_again(size):
    press = "[...document.querySelectorAll('button')].find(b => b.innerText.includes('Pull with')).click()"
    with (
        running("qbmove-5dof", begin="tour", choice=RobotChoice(["fr3", "softfoot"])) as (_, view),
        chromium.Page(view.url, *size) as page,
    ):
        page.until("document.body.innerText.includes('Pull the arm')", 120)
        page.run(press)
        page.until("document.body.innerText.includes('mm under')", 60)
        eventually(lambda: not view._pull.active)
        page.move_slider("soft to stiff", 1.0)
        eventually(lambda: view._tour.preset == pytest.approx(STIFF))
        page.run(press)
        page.until("document.body.innerText.includes('times as far')", 60)
        page.run("[...document.querySelectorAll('button')].find(b => b.innerText.includes('A Franka arm')).click()")
        eventually(lambda: view.choice.wanted == "fr3")
        assert page.errors == []

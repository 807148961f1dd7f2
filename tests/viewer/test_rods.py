"""Parallel robots on the page: what sliders, saved poses and paths solve, and what goes to the simulated robot."""

from types import SimpleNamespace

import numpy as np
import pytest

from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.errors import PliantError
from pliant.loading import load
from pliant.viewer.rods import RodColours, RodPanel
from pliant.viewer.server import PageServer

pytestmark = pytest.mark.network
HAND = SimpleNamespace(client=object())
"""An event of a browser."""


@pytest.fixture(scope="module")
def robot():
    loaded = load("2RR")
    engine = MujocoEngine(loaded, audit=False, check=False)
    (device,) = (d for d in make_devices(loaded) if hasattr(d, "robot"))
    device.attach(engine)
    return engine, device


@pytest.fixture
def panel(robot, tmp_path):
    said = []
    with PageServer() as server:
        made = RodPanel(server.gui, robot[1], said.append, store=tmp_path / "saved.json")
        made.said = said
        robot[1].inbox.clear()
        yield made


def move(panel, handles, values):
    for handle, value in zip(handles, values):
        handle._impl.value = float(value)
    panel._solve()


def test_joint_values_are_solved_and_go_to_the_robot(panel, robot):
    q = np.array(panel._solution["q"]) + 0.1
    move(panel, panel._joints, q)
    np.testing.assert_allclose(robot[1].inbox.peek().values["joints_values"], q, atol=1e-9)
    exact = robot[1].robot.solve_dgm(q)
    np.testing.assert_allclose(panel._solution["pose"], exact.robot.pose_numbers(exact.plate_pose), atol=1e-6)
    assert "stiffness" in panel._facts.content
    assert panel.said == []


def test_a_plate_pose_is_solved_for_its_joints(panel, robot):
    panel._mode.value = "plate pose"
    goal = np.add(panel._solution["pose"], [0.01, 0.01, 0.0])
    move(panel, panel._poses, goal)
    np.testing.assert_allclose(panel._solution["pose"][:2], goal[:2], atol=1e-7)
    assert robot[1].inbox.peek().mode == "dgm_parameters"


def test_without_an_equilibrium_the_reason_is_shown_and_the_robot_stays(panel, robot):
    panel._mode.value = "plate pose"
    move(panel, panel._poses, [50.0, 0.0, 0.0])
    assert "no equilibrium" in panel._facts.content
    assert robot[1].inbox.peek() is None


def test_poses_are_saved_and_found_again(panel):
    move(panel, panel._joints, np.array(panel._solution["q"]) + 0.05)
    kept = list(panel._solution["q"])
    panel._name.value = "low"
    panel._save(False)
    assert "low" in panel._choice.options
    move(panel, panel._joints, np.array(kept) - 0.1)
    panel._choice._impl.value = "low"
    panel._go(HAND)
    np.testing.assert_allclose(panel._solution["q"], kept, atol=1e-8)
    panel._save(True)
    assert "low" not in panel._choice.options
    with pytest.raises(PliantError, match="no saved configuration"):
        panel._save(True)


def test_a_path_is_played_to_its_end(panel):
    start = np.array(panel._solution["q"])
    panel._rows = [start, start + 0.1]
    panel._at = 0.0
    for _ in range(100):
        panel.draw()
    assert panel._at is None
    np.testing.assert_allclose(panel._solution["q"], start + 0.1, atol=1e-8)


def test_rods_are_drawn_with_the_colour_of_their_strain(robot):
    engine, _ = robot
    with PageServer() as server:
        colours = RodColours(server, engine.model, engine.data, 1.0)
        colours.draw()
        assert colours._handle.points.shape[1:] == (2, 3)
        assert len(np.unique(colours._handle.colors.reshape(-1, 3), axis=0)) > 3  # bent, so not of one colour
        assert 0.0 < colours.largest < 0.1

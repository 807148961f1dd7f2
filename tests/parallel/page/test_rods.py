"""Parallel robots on the page: what sliders, the plate's handle, saved poses and paths solve, and where it goes."""

import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from pliant.base.errors import PliantError
from pliant.base.spatial import exp_so3
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.page.server import PageServer
from pliant.parallel.page.rods import RodPanel
from pliant.robots.loading import load

pytestmark = pytest.mark.network
HAND = SimpleNamespace(client=object())
"""An event of a browser."""


@pytest.fixture(scope="module")
def robot():
    loaded = load("2RR")
    engine = MujocoEngine(loaded, check=False)
    (device,) = (d for d in make_devices(loaded) if hasattr(d, "robot"))
    device.attach(engine)
    return engine, device


@pytest.fixture
def panel(robot, tmp_path):
    said = []
    with PageServer() as server:
        robot[1].inbox.clear()
        made = RodPanel(
            server, robot[1].robot, said.append, size=1.0, device=robot[1], store=tmp_path / "saved.json"
        )  # fmt: skip
        made.said = said
        yield made
        made.close()


def settle(panel, seconds=60.0):
    """Draw until everything that was asked is solved and shown."""
    until = time.monotonic() + seconds
    panel.draw()
    while panel.busy or panel.path.playing:
        assert time.monotonic() < until, "nothing was found"
        time.sleep(0.005)
        panel.draw()
    return panel.shown


def by_hand(handle, value):
    """Change a control as a browser does."""
    handle._impl.value = type(handle.value)(value)
    for call in handle._impl.update_cb:
        call(HAND)


def press(panel, label, option):
    handles = panel._gui._gui_input_handle_from_uuid.values()
    group = next(h for h in handles if getattr(h, "label", "") == label)
    by_hand(group, option)


def test_joint_values_are_solved_and_go_to_the_robot(panel, robot):
    q = np.array(panel.shown.q) + 0.1
    for slider, value in zip(panel._joints, q):
        by_hand(slider, value)
    found = settle(panel)
    np.testing.assert_allclose(robot[1].inbox.peek().values["joints_values"], q, atol=1e-9)
    exact = robot[1].robot.solve_dgm(q)
    np.testing.assert_allclose(found.pose, exact.robot.pose_numbers(exact.plate_pose), atol=1e-6)
    np.testing.assert_allclose([s.value for s in panel._poses], found.pose, atol=1e-9)
    assert "stiffness" in panel._facts.content
    assert panel.said == []


def test_moving_a_slider_of_the_pose_chooses_the_inverse_model(panel, robot):
    goal = np.add(panel.shown.pose, [0.01, 0.01, 0.0])
    by_hand(panel._poses[0], goal[0])
    assert panel._mode.value == "plate pose"
    by_hand(panel._poses[1], goal[1])
    found = settle(panel)
    np.testing.assert_allclose(found.pose[:2], goal[:2], atol=1e-7)
    np.testing.assert_allclose([s.value for s in panel._joints], found.q, atol=1e-9)
    by_hand(panel._joints[0], found.q[0])
    assert panel._mode.value == "joint values"


def test_what_the_page_writes_into_a_control_is_no_command(panel):
    asked = panel._solver.asked
    panel._joints[0].value = panel._joints[0].value + 0.1
    panel._mode.value = "plate pose"
    assert panel._solver.asked == asked


def test_without_an_equilibrium_the_reason_is_shown_and_the_robot_stays(panel, robot):
    before = panel.shown
    panel._poses[0].max = 50.0
    by_hand(panel._poses[0], 50.0)
    assert settle(panel) is before
    assert panel.faint
    assert "no equilibrium" in panel._facts.content
    assert "too short" in panel._facts.content
    assert robot[1].inbox.peek() is None
    press(panel, "set", "Home")
    settle(panel)
    assert not panel.faint


def test_beyond_the_limits_of_a_joint_the_page_says_that_the_simulated_robot_does_not_follow(tmp_path):
    loaded = load("6PFR")
    (device,) = (d for d in make_devices(loaded) if hasattr(d, "robot"))
    with PageServer() as server:
        panel = RodPanel(server, device.robot, print, size=1.0, device=device, store=tmp_path / "saved.json")
        q = np.array(panel.shown.q) + 0.45
        panel._solver.ask(panel._target("joint values", q))
        assert settle(panel).beyond
        panel.close()
    assert "does not follow" in panel._facts.content
    assert device.inbox.peek() is None


def test_a_load_acts_and_is_taken_away(panel, robot):
    by_hand(panel._wrench[1], -0.05)
    low = settle(panel).pose[1]
    assert robot[1].inbox.peek().values["wrench"][1] == -0.05
    press(panel, "set", "No load")
    assert settle(panel).pose[1] > low
    assert panel.shown.wrench == (0.0, 0.0, 0.0)


def test_home_and_the_search_from_nothing_lead_back(panel):
    home = panel.shown
    by_hand(panel._wrench[0], 0.1)
    by_hand(panel._joints[0], home.q[0] + 0.3)
    settle(panel)
    press(panel, "set", "Search again")
    settle(panel)
    press(panel, "set", "Home")
    found = settle(panel)
    np.testing.assert_allclose(found.pose, home.pose, atol=1e-8)
    np.testing.assert_allclose([s.value for s in panel._wrench], 0.0)
    np.testing.assert_allclose([s.value for s in panel._joints], home.q, atol=1e-9)


def test_the_plate_is_dragged_and_only_the_newest_target_is_solved(panel, robot):
    plate = panel.shown.plate.copy()
    for k in range(1, 101):
        goal = plate.copy()
        goal[:2, 3] += 1e-4 * k
        panel.move_plate(goal)
    found = settle(panel)
    np.testing.assert_allclose(found.plate[:2, 3], plate[:2, 3] + 0.01, atol=1e-7)
    assert panel._mode.value == "plate pose"
    np.testing.assert_allclose(robot[1].inbox.peek().values["joints_values"], found.q, atol=1e-9)
    asked = panel._solver.asked
    panel.move_plate(np.full((4, 4), np.nan))
    panel.move_plate(1e9 * plate)
    assert panel._solver.asked == asked


def test_a_plate_of_a_spatial_robot_is_turned(tmp_path):
    robot = load("6PFR")
    (device,) = (d for d in make_devices(robot) if hasattr(d, "robot"))
    with PageServer() as server:
        panel = RodPanel(server, device.robot, print, size=1.0, store=tmp_path / "saved.json")
        goal = panel.shown.plate.copy()
        goal[:3, :3] = exp_so3([0.1, -0.05, 0.2]) @ goal[:3, :3]
        panel.move_plate(goal)
        np.testing.assert_allclose(settle(panel).plate, goal, atol=1e-7)
        panel.close()


def test_poses_are_saved_with_their_load_and_found_again(panel):
    by_hand(panel._wrench[1], -0.02)
    by_hand(panel._joints[0], panel.shown.q[0] + 0.05)
    kept = settle(panel)
    panel._name.value = "low"
    press(panel, "pose", "Save")
    assert "low" in panel._choice.options
    press(panel, "set", "Home")
    settle(panel)
    by_hand(panel._choice, "low")
    found = settle(panel)
    np.testing.assert_allclose(found.q, kept.q, atol=1e-8)
    np.testing.assert_allclose(found.pose, kept.pose, atol=1e-6)
    assert panel._wrench[1].value == -0.02
    press(panel, "pose", "Delete")
    assert "low" not in panel._choice.options
    press(panel, "pose", "Delete")
    assert "no saved pose" in panel.said[-1]


def test_a_broken_file_of_saved_poses_leaves_the_rest_of_the_panel(robot, tmp_path):
    file = tmp_path / "saved.json"
    file.write_text("{")
    said = []
    with PageServer() as server:
        panel = RodPanel(server, robot[1].robot, said.append, size=1.0, store=file)
        panel._name.value = "low"
        press(panel, "pose", "Save")
        by_hand(panel._joints[0], panel.shown.q[0] + 0.1)
        settle(panel)
        panel.close()
    assert "saved.json" in said[0]


def test_a_path_is_added_played_to_its_end_and_gone_to_by_its_slider(panel):
    first = panel.shown
    press(panel, "rows", "Add")
    by_hand(panel._joints[0], first.q[0] + 0.1)
    second = settle(panel)
    press(panel, "rows", "Add")
    assert "2 rows of joint values" in panel._count.content
    press(panel, "rows", "Play")
    settle(panel)
    np.testing.assert_allclose(panel.shown.q, second.q, atol=1e-9)
    assert panel._place.value == 1.0
    by_hand(panel._place, 0.5)
    np.testing.assert_allclose(settle(panel).q, 0.5 * np.add(first.q, second.q), atol=1e-9)
    by_hand(panel._mode, "plate pose")
    press(panel, "rows", "Add")
    assert "the rows of the path are joint values" in panel.said[-1]
    press(panel, "rows", "Clear")
    assert "no rows" in panel._count.content


def test_a_path_stops_where_it_has_no_equilibrium(panel):
    panel.path.add(panel.shown.pose, direct=False)
    panel.path.add((50.0, 0.0, 0.0), direct=False)
    panel.path.play()
    settle(panel)
    assert panel.faint
    assert panel.path.place < 1.0


def test_a_slider_takes_values_beyond_its_range_that_the_page_was_given(panel):
    high = panel._joints[0].max
    panel._put([panel._joints[0]], [high + 1.0])
    assert panel._joints[0].value == panel._joints[0].max == high + 1.0


def test_the_thread_that_solves_ends_with_the_panel(robot, tmp_path):
    with PageServer() as server:
        panel = RodPanel(server, robot[1].robot, print, size=1.0, store=tmp_path / "saved.json")
        panel.solve()
        panel.close()
        assert "pliant-statics" not in {thread.name for thread in threading.enumerate()}


def test_an_error_of_the_store_is_told_and_nothing_is_raised(panel):
    panel._name.value = ""
    press(panel, "pose", "Save")
    assert "1 to 60 printable" in panel.said[-1]
    with pytest.raises(PliantError):
        panel._saved.delete("")


def test_the_simulated_plate_goes_where_the_handle_was_dragged(tmp_path, monkeypatch):
    from pliant.page import PageView
    from pliant.simulation import Simulation

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    robot = load("2RR", options={"segments": 4, "damping": 0.3})
    engine = MujocoEngine(robot, check=False)
    view = PageView(engine, title="2RR")
    with Simulation(engine, make_devices(robot), [view], pacer="free") as simulation:
        simulation.run(0.01)
        panel = view._section.panel
        goal = panel.shown.plate.copy()
        goal[:2, 3] += [0.05, -0.03]
        panel.move_plate(goal)
        until = time.monotonic() + 60.0
        while panel.busy:  # the page's own thread shows it
            assert time.monotonic() < until
            time.sleep(0.01)
        simulation.run(3.0)
        np.testing.assert_allclose(simulation.sample("cpr").values["pose"][:2], goal[:2, 3], atol=2e-3)
        simulation.request("simulation", "reset")
        view._was_reset()
        simulation.run(0.01)
        while panel.busy:
            time.sleep(0.01)
        assert panel.shown.pose == pytest.approx(panel._solver.home.pose, abs=1e-7)
    assert "pliant-statics" not in {thread.name for thread in threading.enumerate()}

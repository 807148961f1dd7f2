"""Files of a parallel robot's page: what is opened becomes the path, what is downloaded can be opened."""

import threading

import numpy as np
import pytest
from tripod import TRIPOD

from pliant.base.documents.yaml_tree import parse_yaml
from pliant.base.errors import PliantError
from pliant.page.server import PageServer
from pliant.parallel.page.rods import RodPanel
from pliant.rods import load_robot
from pliant.rods.tables import parse_table

pytestmark = pytest.mark.network


class Browser:
    """Gets files."""

    def __init__(self):
        self.files = {}
        self._came = threading.Event()

    def send_file_download(self, name, content, save_immediately):
        assert save_immediately
        self.files[name] = content
        self._came.set()

    def file(self, name):
        assert self._came.wait(60.0)
        self._came.clear()
        return self.files[name]


@pytest.fixture
def panel(tmp_path):
    said = []
    with PageServer() as server:
        made = RodPanel(server, load_robot("2RR"), said.append, size=1.0, store=tmp_path / "saved.json")
        made.said = said
        yield made
        made.close()


def test_only_tables_are_opened_as_a_path(panel):
    for name, data in (("tripod.yaml", TRIPOD.encode()), ("", b"")):
        with pytest.raises(PliantError, match=r"must end in \.csv or \.txt"):
            panel.files.open(name, data)


def test_a_table_becomes_the_path(panel):
    panel.files.open("rows.CSV", b"q1,q2\n0.1,0.2\n0.2,0.1\n")
    assert panel.path.rows == [(0.1, 0.2), (0.2, 0.1)]
    assert "2 rows of joint values" in panel._count.content


def test_a_path_that_is_downloaded_can_be_opened_again(panel):
    q = np.array(panel.shown.q)
    panel.path.add(q, direct=True)
    panel.path.add(q + 0.1, direct=True)
    browser = Browser()
    panel.files._download("Path", browser)
    data = browser.file("2RR-path.csv")
    table = parse_table(data, "a.csv", [5], ["q1", "q2", "x", "y", "angle"])
    np.testing.assert_allclose(table[:, :2], [q, q + 0.1], atol=1e-8)
    exact = load_robot("2RR").solve_dgm(q + 0.1)
    np.testing.assert_allclose(table[1, 2:4], exact.plate_pose[:2, 3], atol=1e-6)
    panel.path.clear()
    panel.files.open("2RR-path.csv", data)
    np.testing.assert_allclose(panel.path.rows, [q, q + 0.1], atol=1e-8)


def test_shapes_and_saved_poses_are_downloaded(panel):
    browser = Browser()
    panel.files._download("Shapes", browser)
    assert browser.file("2RR-shapes.csv").splitlines()[0].startswith(b"limb,s,x,y,z")
    panel._saved.save("low", direct=True, q=(0.1, 0.2), pose=(0.0, 0.8, 0.0), wrench=(0.0, 0.0, 0.0))
    panel.files._download("Poses", browser)
    assert parse_yaml(browser.file("2RR-poses.yaml")).value["configurations"]["low"] == {"q": [0.1, 0.2]}


def test_a_path_without_equilibria_is_not_downloaded_and_the_reason_is_told(panel):
    panel.path.add((50.0, 0.0, 0.0), direct=False)
    browser = Browser()
    panel.files._download("Path", browser)
    panel._solver._solver.close()
    assert browser.files == {}
    assert "too short" in panel.said[-1]


def long_path(panel, rows=100):
    """Give the panel a path of several portions; return its rows."""
    for k in range(rows):
        panel.path.add(np.add(panel.shown.q, 0.3 * np.sin([0.2 * k, 0.1 * k])), direct=True)
    return panel.path.rows


def at_portion(panel, number, act):
    """Do something in the thread that solves, before a portion of a download is solved; return the portions."""
    robot, solved = panel._solver.robot, []
    follow = robot.follow

    def follow_and_act(rows, *args, **options):
        solved.append(len(rows))
        if len(solved) == number:
            act()
        return follow(rows, *args, **options)

    robot.follow = follow_and_act
    return solved


def end(panel):
    """Let the thread that solves come to the end of a download."""
    for _ in range(50):
        done = threading.Event()
        panel._solver._solver.submit("end", done.set)  # behind the portion that waits
        assert done.wait(60.0)
        if panel.files._rows is None:
            break
    panel.close()


def test_a_target_of_the_page_does_not_wait_for_a_long_download(panel):
    rows, order = long_path(panel), []
    target = panel._target("joint values", np.add(panel.shown.q, 0.01))
    panel._solver._found = lambda found: order.append(("answer", len(solved)))
    solved = at_portion(panel, 2, lambda: panel._solver.ask(target))
    browser = Browser()
    panel.files._download("Path", browser)
    table = parse_table(browser.file("2RR-path.csv"), "a.csv", [5], ["q1", "q2", "x", "y", "angle"])
    end(panel)
    assert order == [("answer", 2)], "it waited for more than the portion that was being solved"
    assert solved == [16] + [17] * 5 + [5]
    # The portions give what the path gives in one piece.
    exact = load_robot("2RR")
    whole = exact.follow(rows, inverse=False)
    np.testing.assert_allclose(table[:, :2], rows, atol=1e-8)
    np.testing.assert_allclose(table[:, 2:], [exact.pose_numbers(X) for X in whole.plate_poses], atol=1e-7)


def test_a_long_download_shows_how_far_it_is_and_can_be_stopped(panel):
    long_path(panel)
    shown = []

    def stop():
        shown.append((panel.files._progress.visible, panel.files._stop.visible, panel.files._progress.content))
        panel.files.stop()

    solved = at_portion(panel, 3, stop)
    browser = Browser()
    panel.files._download("Path", browser)
    end(panel)
    assert shown[0][:2] == (True, True)
    assert "32 % of 100 rows solved" in shown[0][2]
    assert len(solved) == 3
    assert browser.files == {}
    assert not panel.files._progress.visible
    assert not panel.files._stop.visible
    assert panel.said == []


def test_closing_the_page_gives_a_download_up(panel):
    long_path(panel)
    closed = threading.Event()
    solved = at_portion(panel, 2, lambda: (panel.close(), closed.set()))
    browser = Browser()
    panel.files._download("Path", browser)
    assert closed.wait(60.0)
    panel.close()  # joins the thread
    assert len(solved) == 2
    assert browser.files == {}


def test_of_two_downloads_of_paths_the_newer_one_is_given(panel):
    long_path(panel)
    first, second = Browser(), Browser()
    at_portion(panel, 2, lambda: panel.files._download("Path", second))
    panel.files._download("Path", first)
    end(panel)
    assert first.files == {}
    assert list(second.files) == ["2RR-path.csv"]


def test_the_row_without_an_equilibrium_is_named_by_its_number_in_the_whole_path(panel):
    x, y, angle = panel.shown.pose
    for k in range(40):
        panel.path.add((x, y + (50.0 if k == 37 else 0.0), angle), direct=False)
    panel._mode.value = "plate pose"
    browser = Browser()
    panel.files._download("Path", browser)
    end(panel)
    assert browser.files == {}
    assert "path row 37:" in panel.said[-1]
    assert not panel.files._stop.visible

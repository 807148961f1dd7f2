"""Files of a parallel robot's page: what is opened becomes the path or the robot, what is downloaded can be opened."""

import threading

import numpy as np
import pytest
from tripod import TRIPOD

from pliant.documents.yaml_tree import parse_yaml
from pliant.errors import PliantError
from pliant.rods import load_robot
from pliant.rods.tables import parse_table
from pliant.viewer.rods import RodPanel
from pliant.viewer.server import PageServer

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
        assert self._came.wait(20.0)
        self._came.clear()
        return self.files[name]


@pytest.fixture
def opened():
    return []


@pytest.fixture
def panel(tmp_path, opened):
    said = []
    with PageServer() as server:
        made = RodPanel(
            server, load_robot("2RR"), said.append, size=1.0, store=tmp_path / "saved.json", opened=opened.append,
            taken=["3RR"],
        )  # fmt: skip
        made.said = said
        yield made
        made.close()


def test_a_description_is_opened_and_one_with_a_fault_is_told(panel, opened):
    panel._files.open("tripod.yaml", TRIPOD.encode())
    assert opened[0].name == "tripod"
    for name, data, message in (
        ("a.yaml", b"limbs: 3", "a.yaml"),
        ("a.yml", TRIPOD.replace("name: tripod", "name: 3RR").encode(), "already"),
        ("a.exe", b"", r"must end in \.yaml"),
        ("", b"", r"must end in \.yaml"),
    ):
        with pytest.raises(PliantError, match=message):
            panel._files.open(name, data)
    assert len(opened) == 1


def test_the_page_of_a_run_opens_tables_only(tmp_path):
    with PageServer() as server:
        panel = RodPanel(server, load_robot("2RR"), print, size=1.0, store=tmp_path / "saved.json")
        with pytest.raises(PliantError, match="a robot is opened with `pliant view`"):
            panel._files.open("tripod.yaml", TRIPOD.encode())
        panel.close()


def test_a_table_becomes_the_path(panel):
    panel._files.open("rows.CSV", b"q1,q2\n0.1,0.2\n0.2,0.1\n")
    assert panel.path.rows == [(0.1, 0.2), (0.2, 0.1)]
    assert "2 rows of joint values" in panel._count.content


def test_a_path_that_is_downloaded_can_be_opened_again(panel):
    q = np.array(panel.shown.q)
    panel.path.add(q, direct=True)
    panel.path.add(q + 0.1, direct=True)
    browser = Browser()
    panel._files._download("Path", browser)
    data = browser.file("2RR-path.csv")
    table = parse_table(data, "a.csv", [5], ["q1", "q2", "x", "y", "angle"])
    np.testing.assert_allclose(table[:, :2], [q, q + 0.1], atol=1e-8)
    exact = load_robot("2RR").solve_dgm(q + 0.1)
    np.testing.assert_allclose(table[1, 2:4], exact.plate_pose[:2, 3], atol=1e-6)
    panel.path.clear()
    panel._files.open("2RR-path.csv", data)
    np.testing.assert_allclose(panel.path.rows, [q, q + 0.1], atol=1e-8)


def test_shapes_and_saved_poses_are_downloaded(panel):
    browser = Browser()
    panel._files._download("Shapes", browser)
    assert browser.file("2RR-shapes.csv").splitlines()[0].startswith(b"limb,s,x,y,z")
    panel._saved.save("low", direct=True, q=(0.1, 0.2), pose=(0.0, 0.8, 0.0), wrench=(0.0, 0.0, 0.0))
    panel._files._download("Poses", browser)
    assert parse_yaml(browser.file("2RR-poses.yaml")).value["configurations"]["low"] == {"q": [0.1, 0.2]}


def test_a_path_without_equilibria_is_not_downloaded_and_the_reason_is_told(panel):
    panel.path.add((50.0, 0.0, 0.0), direct=False)
    browser = Browser()
    panel._files._download("Path", browser)
    panel._solver._solver.close()
    assert browser.files == {}
    assert "too short" in panel.said[-1]

"""The page in a browser: on a phone, and when a file is dropped on it."""

import importlib.util
from pathlib import Path

import pytest
from running import eventually, free_port, running

from pliant.page import PageServer

_spec = importlib.util.spec_from_file_location("chromium", Path(__file__).with_name("chromium.py"))
chromium = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(chromium)
pytestmark = [
    pytest.mark.network,
    pytest.mark.skipif(chromium.find() is None, reason="no Chromium is installed"),
]

BOX = "(e => {{ const r = e.getBoundingClientRect(); return [r.x, r.y, r.right, r.bottom]; }})({})"


def test_a_phone_shows_the_robot_and_one_chart_without_scrolling():
    with running("qbmove-1dof") as (_, view), chromium.Page(view.url, 390, 844) as browser:
        browser.until("document.querySelectorAll('.pliant-phone polyline').length > 0")
        browser.until(
            "document.querySelector('.pliant-phone svg').getBoundingClientRect().bottom <= 844"
        )  # it slides up
        chart = browser.run(BOX.format("document.querySelector('.pliant-phone svg')"))
        scene = browser.run(BOX.format("document.querySelector('[data-dock-root] > div')"))
        assert chart[0] >= 0
        assert chart[2] <= 390
        assert scene[3] <= chart[1]  # the chart is below the robot, and does not hide it
        assert chart[3] <= 844
        assert scene[3] - scene[1] >= 350
        assert browser.errors == []


def test_a_wide_page_has_its_charts_and_not_the_one_of_the_phone():
    with running("qbmove-1dof") as (_, view), chromium.Page(view.url, 1280, 800) as browser:
        browser.until("document.querySelectorAll('.pliant-phone polyline').length > 0")
        assert browser.run("getComputedStyle(document.querySelector('.pliant-phone')).display") == "none"
        assert browser.run("document.querySelectorAll('.uplot').length") >= 2


DROP = """(() => {
  const given = new DataTransfer();
  given.items.add(new File(["hello"], "poses.csv", {type: "text/csv"}));
  for (const kind of ["dragover", "drop"])
    document.body.dispatchEvent(new DragEvent(kind, {dataTransfer: given, bubbles: true, cancelable: true}));
})()"""


def test_a_file_that_is_dropped_on_the_page_is_that_of_its_button():
    with PageServer(port=free_port()) as server, chromium.Page(server.url, 800, 600) as browser:
        browser.until("!!document.querySelector('canvas')")
        browser.run(DROP)  # without a button: the page stays
        button, said = server.gui.add_upload_button("Open a file"), []
        server.uploads.accept(button, 1000, said.append)
        browser.until("!!document.querySelector('input[type=file]')")
        browser.run(DROP)
        eventually(lambda: button.value is not None and button.value.content == b"hello")
        assert button.value.name == "poses.csv"
        assert said == []
        assert browser.run("getComputedStyle(document.getElementById('pliant-drop')).display") == "none"

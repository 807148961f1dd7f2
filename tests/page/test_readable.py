"""Whether the page can be read: contrast of its text and labels of its controls, in a real browser."""

import contextlib
import importlib.util
import json
from pathlib import Path

import pytest

from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.page import PageView
from pliant.page.choice import RobotChoice
from pliant.page.server import PageServer, set_theme
from pliant.parallel.page.statics_view import StaticsView
from pliant.robots.loading import load
from pliant.rods import load_robot
from pliant.simulation import Simulation

_spec = importlib.util.spec_from_file_location("chromium", Path(__file__).with_name("chromium.py"))
chromium = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(chromium)
pytestmark = [pytest.mark.network, pytest.mark.skipif(chromium.find() is None, reason="no Chromium is installed")]

LOOK = """
(() => {
  const linear = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = c => 0.2126 * linear(c[0]) + 0.7152 * linear(c[1]) + 0.0722 * linear(c[2]);
  const rgba = s => { const m = (s.match(/[\\d.]+/g) || []).map(Number); return m.length === 3 ? [...m, 1] : m; };
  const over = (a, b) => [0, 1, 2].map(k => a[k] * a[3] + b[k] * (1 - a[3]));
  const ground = e => {
    const found = [];
    for (let p = e; p; p = p.parentElement) {
      const c = rgba(getComputedStyle(p).backgroundColor);
      if (c.length === 4 && c[3] > 0) found.push(c);
      if (c[3] === 1) break;
    }
    return found.reverse().reduce((below, c) => over(c, below), [255, 255, 255]);
  };
  const root = document.getElementById("root"), seen = {opacityProperty: true, visibilityProperty: true};
  const poor = new Set(), words = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  let texts = 0;
  while (words.nextNode()) {
    const text = words.currentNode.textContent.trim(), e = words.currentNode.parentElement;
    if (!text || e.closest("style, script, [disabled], [data-disabled]") || !e.checkVisibility(seen)) continue;
    texts += 1;
    const b = ground(e), c = over(rgba(getComputedStyle(e).color), b);
    const [high, low] = [light(c), light(b)].sort((p, q) => q - p), ratio = (high + 0.05) / (low + 0.05);
    if (ratio < 4.5) poor.add(`${text.slice(0, 30)}: ${ratio.toFixed(2)}`);
  }
  const controls = [...root.querySelectorAll("input:not([type=hidden]), [role=slider], button, textarea")]
    .filter(e => e.checkVisibility());
  const bare = controls.filter(e => !(e.getAttribute("aria-label") || e.getAttribute("aria-labelledby")
    || (e.labels && e.labels.length) || e.innerText || e.title)).map(e => e.outerHTML.slice(0, 200));
  return JSON.stringify({texts, controls: controls.length, poor: [...poor], bare});
})()
"""


OPEN = """[...document.querySelectorAll("*")].filter(e => e.children.length < 3
 && ["saved poses", "path", "files"].includes((e.innerText || "").trim())).forEach(e => e.click())"""
"""Opens the folders that begin closed."""


def look_at(browser, server):
    """Look at the page in light and dark."""
    browser.until("document.querySelectorAll('[role=slider]').length > 0")
    browser.until("!document.querySelector('[role=slider][aria-label=\"\"]')")
    for dark in (False, True):
        set_theme(server.gui, dark=dark)
        scheme = "dark" if dark else "light"
        browser.until(f"document.documentElement.dataset.mantineColorScheme === '{scheme}'")
        with contextlib.suppress(RuntimeError):  # colours and folders change over some frames
            browser.until(f"(f => !f.poor.length && !f.bare.length)(JSON.parse({LOOK.strip()}))", 5.0)
        found = json.loads(browser.run(LOOK))
        assert found["texts"] > 20
        assert found["controls"] > 10
        assert found["poor"] == []
        assert found["bare"] == []


def test_text_has_contrast_and_every_control_a_label_in_light_and_dark():
    robot = load("qbmove-1dof")
    engine = MujocoEngine(robot, check=False)
    view = PageView(engine, title="qbmove-1dof")
    with Simulation(engine, make_devices(robot), [view], pacer="free") as simulation:
        simulation.run(0.1)
        with chromium.Page(view.url, 1366, 768) as browser:
            look_at(browser, view._server)
            assert browser.run("document.querySelector('[role=slider]').ariaLabel") == "equilibrium position [rad]"


def test_the_panel_of_parallel_robots_has_contrast_and_labels_in_light_and_dark(tmp_path):
    with (
        PageServer() as server,
        StaticsView(load_robot("2RR"), server, choice=RobotChoice(["2RR"]), store=tmp_path / "saved.json") as view,
    ):
        view.panel.path.add((0.1, 0.1), direct=True)
        with chromium.Page(server.url, 1366, 1500) as browser:
            browser.until("document.querySelectorAll('[role=slider]').length > 0")
            browser.run(OPEN)
            browser.until("[...document.querySelectorAll('button')].some(e => e.innerText.includes('Open a file'))")
            view.panel._solver.ask(view.panel._target("plate pose", (50.0, 0.0, 0.0)))  # the reason is readable as well
            while view.panel.busy:
                view.draw()
            browser.until("document.body.innerText.includes('no equilibrium')")
            look_at(browser, server)

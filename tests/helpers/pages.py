"""The page of each robot of the catalogue in a real browser: its picture, and what is wrong with it.

The tests judge the pictures; this command keeps them, to be looked at:

    python tests/helpers/pages.py FOLDER [ROBOT ...]
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

FAMILIES = ("softfoot", "Stewart_Gough_6PFR", "franka")
"""One robot of each family that no other test opens in a browser."""
WIDTH, HEIGHT = 1000, 420
PANEL = 325
"""Width of the panels on both sides of the scene [pixels]."""
MIN_CHANGE = 12
"""Smallest difference of a colour, 0 to 255, that counts."""
MIN_PART = 0.004
"""Smallest part of the scene that a robot covers: rods of parallel robots are thin."""
MIN_HEIGHT, MAX_HEIGHT = 0.15, 0.97
"""Extent of a robot in the picture, the larger of width and height, as part of the scene's."""
MIN_COLOURS = 12
CONTROLS = (
    "(() => { const all = [...document.querySelectorAll('[role=slider], button, input:not([type=hidden])')]"
    ".filter(e => e.checkVisibility()); return all.length; })()"
)


def _chromium() -> Any:
    path = Path(__file__).resolve().parents[1] / "page" / "chromium.py"
    spec = importlib.util.spec_from_file_location("chromium", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


chromium = _chromium()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """The page of one robot."""

    name: str
    """The robot."""
    picture: np.ndarray
    """The window, shape (height, width, 3), uint8."""
    empty: np.ndarray
    """The same without the robot."""
    controls: int
    """Number of controls that are seen."""
    text: str
    """Text of the page."""
    errors: tuple[str, ...]
    """What the browser's console complained about."""
    fault: str
    """What could not be drawn, or was refused."""

    @property
    def silhouette(self) -> np.ndarray:
        """Where the robot is seen, between the panels, shape (height, width), bool."""
        change = np.abs(self.picture.astype(int) - self.empty.astype(int)).max(axis=2) > MIN_CHANGE
        return change[:, PANEL:-PANEL]


def problems(shot: Shot) -> list[str]:
    """Return what is wrong with a page."""
    found = [f"console: {error}" for error in shot.errors]
    if shot.fault:
        found.append(f"page: {shot.fault}")
    seen = shot.silhouette
    part = float(seen.mean())
    if part < MIN_PART:
        found.append(f"the robot covers {part:.4f} of the scene; must be >= {MIN_PART}")
    else:
        rows, columns = np.flatnonzero(seen.any(axis=1)), np.flatnonzero(seen.any(axis=0))
        high = (rows[-1] - rows[0] + 1) / seen.shape[0]
        wide = (columns[-1] - columns[0] + 1) / seen.shape[1]
        if not max(high, wide) >= MIN_HEIGHT or max(high, wide) > MAX_HEIGHT:
            found.append(
                f"the robot is {wide:.2f} of the scene wide and {high:.2f} high; the larger must be {MIN_HEIGHT} to "
                f"{MAX_HEIGHT}"
            )
        inside = shot.picture[:, PANEL:-PANEL][seen]
        colours = len(np.unique(inside // 16, axis=0))
        if colours < MIN_COLOURS:
            found.append(f"the robot has {colours} colours; must be >= {MIN_COLOURS}")
        if inside.max(axis=1).mean() < 40:
            found.append("the robot is black")
    if shot.controls < 8:
        found.append(f"the page has {shot.controls} controls; must be >= 8")
    found += [f"there is no {word!r} on the page" for word in ("Pause", "Reset", "Record") if word not in shot.text]
    return found


class Pages:
    """One server and one browser that show one robot after the other.

    Args:
        server: the server.
        browser: the browser.
    """

    def __init__(self, server: Any, browser: Any) -> None:
        self.server, self.browser = server, browser
        self._open = False

    def shoot(self, robot: Any, name: str) -> Shot:
        """Return the page of a robot that has been simulated for a moment.

        The first robot is there when the page is loaded; the others come to the page that is open, as when somebody
        chooses another robot.
        """
        from pliant.devices import make_devices
        from pliant.engine import MujocoEngine
        from pliant.page import PageView
        from pliant.page.choice import RobotChoice
        from pliant.simulation import Simulation

        engine = MujocoEngine(robot, check=False)
        view = PageView(engine, title=name, server=self.server, choice=RobotChoice([name]), needed=True)
        with Simulation(engine, make_devices(robot), [view], pacer="free") as simulation:
            simulation.run(0.02)
            browser = self.browser
            if not self._open:
                self._open = True
                browser.open(self.server.url)
            browser.errors.clear()
            browser.until(
                "!!document.querySelector('.pliant-ready') && document.querySelectorAll('canvas').length > 0 && "
                f"document.title.startsWith({name!r})"
            )
            picture, empty = self._pair(view)
            return Shot(
                name=name,
                picture=picture,
                empty=empty,
                controls=int(browser.run(CONTROLS)),
                text=browser.run("document.body.innerText"),
                errors=tuple(browser.errors),
                fault=str(view.health()["last_error"]),
            )

    def _pair(self, view: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return pictures with and without the robot, from one place of the camera."""
        _show(view, False)
        empty = self._still()
        for _ in range(5):
            _show(view, True)
            picture = self._changed(empty)
            _show(view, False)
            again = self._changed(picture)
            if np.array_equal(again[:, PANEL:-PANEL], empty[:, PANEL:-PANEL]):
                break
            empty = again  # the camera had not come to its place
        return picture, again

    def _picture(self) -> np.ndarray:
        from PIL import Image

        return np.asarray(Image.open(io.BytesIO(self.browser.screenshot())).convert("RGB"))

    def _still(self) -> np.ndarray:
        """Return the picture once two in a row show the same scene, which is not one colour."""
        until = time.monotonic() + 20.0
        before = self._picture()
        while True:
            now = self._picture()
            scene = now[:, PANEL:-PANEL]
            if (np.array_equal(scene, before[:, PANEL:-PANEL]) and scene.std() > 0.5) or time.monotonic() > until:
                return now
            before = now

    def _changed(self, empty: np.ndarray) -> np.ndarray:
        """Return the picture once it differs from another and stands still."""
        until = time.monotonic() + 20.0
        before = empty
        while True:
            now = self._picture()
            scene = now[:, PANEL:-PANEL]
            changed = not np.array_equal(scene, empty[:, PANEL:-PANEL])
            if (changed and np.array_equal(scene, before[:, PANEL:-PANEL])) or time.monotonic() > until:
                return now
            before = now


def _show(view: Any, on: bool) -> None:
    """Show or hide the robot; floor, stands, light and panels stay."""
    nodes = view._server.scene._handle_from_node_name
    with view._server.viser.atomic():
        for name, handle in list(nodes.items()):
            parts = name.strip("/").split("/")
            robot = len(parts) == 2 and parts[0] == "body" and parts[1] != "0"
            drawn = parts[0] in ("rods", "tendons", "contacts", "plate") and len(parts) == 1
            if robot or drawn:
                handle.visible = on


@contextlib.contextmanager
def pages(width: int = WIDTH, height: int = HEIGHT) -> Iterator[Pages]:
    """Start a server and a browser for the block."""
    from pliant.page import PageServer

    with PageServer(title="pliant") as server, chromium.Page("about:blank", width, height, webgl=True) as browser:
        yield Pages(server, browser)


def load_or_reason(name: str) -> tuple[Any, str]:
    """Return a robot of the catalogue, or None and why its files are not here."""
    from pliant.base.errors import MissingDependency
    from pliant.robots.loading import load

    try:
        return load(name), ""
    except MissingDependency as error:
        return None, str(error).splitlines()[0]


def main(folder: Path, names: list[str]) -> int:
    """Keep the picture of each page, and print what is wrong with it."""
    from PIL import Image

    from pliant.robots import list_robots

    folder.mkdir(parents=True, exist_ok=True)
    wrong = 0
    with pages(1366, 768) as shown:
        for name in names or [robot.name for robot in list_robots()]:
            robot, reason = load_or_reason(name)
            if robot is None:
                print(f"{name}: left out: {reason}", flush=True)
                continue
            began = time.monotonic()
            shot = shown.shoot(robot, name)
            Image.fromarray(shot.picture).save(folder / f"{name}.png")
            found = problems(shot)
            wrong += bool(found)
            part = float(shot.silhouette.mean())
            print(
                f"{name}: {part:.3f} of the scene, {time.monotonic() - began:.1f} s", *found, sep="\n    ", flush=True
            )
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))

"""Continuum parallel robots on the page: both models of the statics, stability, branch, strain, saved poses, a path.

The sliders' values are solved at once by the statics; what is found is shown and goes to the simulated robot as joint
values. The rods of the simulation are coloured by the bending strain that they have there.
"""

from __future__ import annotations

import html
import threading
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np

from pliant.devices.parallel import ParallelRobotDevice
from pliant.devices.rod_lines import RodLines, bending_strain, rod_radius, strain_colours
from pliant.errors import PliantError
from pliant.viewer.controls import Say, guarded
from pliant.viewer.cpr import ParallelView
from pliant.viewer.ranges import step_of
from pliant.viewer.server import PageServer

__all__ = ["RodColours", "RodPanel"]

Array = np.ndarray
POINTS = 33
"""Points of a drawn centre line."""
THINNEST = 0.007
"""Thickness of a drawn rod, as part of the robot's size; real rods are often thinner than a pixel."""
MAX_ROWS = 100
"""Longest path."""
PATH_STEP = 0.04
"""Part of the way between two rows of a path that one picture of the panel goes."""
MODES = {"joint values": "dgm", "plate pose": "igm"}
NOTHING = "(choose)"
SESSION = {"session": "page"}


class RodColours:
    """Draws the rods of a simulated parallel robot, coloured by bending strain.

    Args:
        server: the page's server.
        model: the model.
        data: state that is drawn; its kinematics are up to date when `draw` is called.
        size: size of the robot [m].
    """

    def __init__(self, server: PageServer, model: mujoco.MjModel, data: mujoco.MjData, size: float) -> None:
        self._server, self._lines = server, RodLines(model, data, POINTS)
        self._radius = rod_radius(model)
        self._thickness = max(2.6 * self._radius, THINNEST * size)
        self._largest = 1e-3
        self._handle: Any = None

    def draw(self) -> None:
        """Draw the present state."""
        lines = self._lines()
        if not np.isfinite(lines).all():
            return
        strain = bending_strain(lines, self._radius)
        self._largest = max(self._largest, float(strain.max()))
        colours = strain_colours(strain / self._largest)
        points = np.stack([lines[:, :-1], lines[:, 1:]], axis=2).reshape(-1, 2, 3).astype(np.float32)
        ends = np.stack([colours[:, :-1], colours[:, 1:]], axis=2).reshape(-1, 2, 3)
        if self._handle is None:
            self._handle = self._server.scene.add_line_segments("/rods", points, ends, thickness=self._thickness)
            return
        self._handle.points, self._handle.colors = points, ends

    @property
    def largest(self) -> float:
        """Largest bending strain so far, at the end of the colours."""
        return self._largest


class RodPanel:
    """Sliders and facts of a parallel robot, in a GUI container.

    Args:
        gui: viser's GUI.
        device: the robot's device; it gets what was solved.
        say: tells what was refused.
        store: file of the saved configurations; None takes the user's.
    """

    def __init__(self, gui: Any, device: ParallelRobotDevice, say: Say, store: Any = None) -> None:
        self._gui, self._device, self._say = gui, device, say
        self._statics = ParallelView(device.robot.fork(), store=store)
        self._lock = threading.Lock()
        self._rows: list[Array] = []
        self._at: float | None = None
        found = self._statics.answer("/api/robot", dict(SESSION))
        self._solution: dict[str, Any] = found["solution"]
        self._mode = gui.add_dropdown("given are", list(MODES), initial_value="joint values")
        self._facts = gui.add_html("")
        self._joints = self._sliders("joints", found["joints"], self._solution["q"])
        self._poses = self._sliders("plate pose", found["poses"], self._solution["pose"])
        self._free: dict[str, Any] = {}
        if found["underactuated"]:
            with gui.add_folder("controlled freedoms"):
                for name in found["freedoms"]:
                    self._free[name] = gui.add_checkbox(name, initial_value=name in found["controlled"])
                    self._free[name].on_update(self._by_hand(self._solve))
        self._wrench = self._sliders("wrench on the plate", found["wrenches"], self._solution["wrench"], flat=True)
        self._mode.on_update(self._by_hand(lambda: self._solve()))
        self._add_saved(found["configurations"])
        self._add_path()
        cold = gui.add_button("Start from nothing", hint="Forget the present shape and search again", color="gray")
        cold.on_click(guarded(say, lambda _: self._solve(cold=True)))
        self._show(self._solution)

    # -- what is made -------------------------------------------------------------------------------------------

    def _sliders(self, title: str, rows: list[dict[str, Any]], values: list[float], flat: bool = False) -> list[Any]:
        made = []
        numbers = _planar(values, len(rows)) if flat else values
        with self._gui.add_folder(title):
            for row, value in zip(rows, numbers):
                low, high = min(row["low"], value), max(row["high"], value)
                slider = self._gui.add_slider(
                    f"{row['name']} [{row['unit']}]", min=low, max=high, step=step_of(low, high) / 5.0,
                    initial_value=float(value),
                )  # fmt: skip
                slider.on_update(self._by_hand(self._solve))
                made.append(slider)
        return made

    def _by_hand(self, work: Callable[[], None]) -> Callable[..., None]:
        """Return a callback for what a person changed; what the page itself writes into a slider is no command."""

        def call(event: Any = None) -> None:
            if event is not None and event.client is None:
                return
            self._at = None
            work()

        return guarded(self._say, call)

    def _add_saved(self, configurations: dict[str, Any]) -> None:
        gui = self._gui
        with gui.add_folder("saved poses", expand_by_default=False):
            self._saved = configurations
            self._choice = gui.add_dropdown("go to", [NOTHING, *configurations], initial_value=NOTHING)
            self._name = gui.add_text("name", initial_value="")
            save = gui.add_button_group("", ("Save", "Delete"))
        self._choice.on_update(guarded(self._say, self._go))
        save.on_click(guarded(self._say, lambda _: self._save(save.value == "Delete")))

    def _add_path(self) -> None:
        with self._gui.add_folder("path", expand_by_default=False):
            self._count = self._gui.add_html(_small("no rows"))
            buttons = self._gui.add_button_group("", ("Add", "Play", "Clear"))

        def press(_: Any) -> None:
            if buttons.value == "Add" and len(self._rows) < MAX_ROWS:
                self._rows.append(np.array(self._solution["q"]))
            elif buttons.value == "Clear":
                self._rows.clear()
                self._at = None
            elif buttons.value == "Play" and len(self._rows) > 1:
                self._at = 0.0
            self._count.content = _small(f"{len(self._rows)} rows of joint values")

        buttons.on_click(guarded(self._say, press))

    # -- what happens -------------------------------------------------------------------------------------------

    def draw(self) -> None:
        """Go on along the path; the page's thread calls this some ten times a second."""
        at = self._at
        if at is None:
            return
        at = min(at + PATH_STEP * 2.0, len(self._rows) - 1.0)
        k = min(int(at), len(self._rows) - 2)
        q = self._rows[k] + (at - k) * (self._rows[k + 1] - self._rows[k])
        self._at = None if at >= len(self._rows) - 1.0 else at
        self._apply(self._ask({"mode": "dgm", "q": q.tolist()}))

    def _solve(self, *, cold: bool = False) -> None:
        asked: dict[str, Any] = {"mode": MODES[str(self._mode.value)], "cold": cold}
        if asked["mode"] == "dgm":
            asked["q"] = [float(s.value) for s in self._joints]
        else:
            asked["pose"] = [float(s.value) for s in self._poses]
            if self._free:
                asked["controlled"] = [name for name, box in self._free.items() if box.value]
        self._apply(self._ask(asked))

    def _ask(self, asked: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            wrench = [float(s.value) for s in self._wrench]
            return self._statics.answer("/api/solve", {**SESSION, "wrench": wrench, **asked})

    def _apply(self, found: dict[str, Any]) -> None:
        if not found["ok"]:
            self._facts.content = _badge("no equilibrium", "#d1495b", [found["reason"]])
            self._at = None
            return
        self._solution = found
        self._show(found)
        wrench = _planar(found["wrench"], len(self._wrench))
        self._device.inbox.put({"joints_values": found["q"], "wrench": wrench}, mode="dgm_parameters")
        for handles, values in ((self._joints, found["q"]), (self._poses, found["pose"])):
            for handle, value in zip(handles, values):
                if abs(handle.value - value) > 1e-9 and handle.min <= value <= handle.max:
                    handle.value = float(value)

    def _show(self, found: dict[str, Any]) -> None:
        free = ", ".join(found["free"])
        if found["stable"]:
            badge, colour = "stable", "#2e8b57"
        elif free:
            badge, colour = f"free to move: {free}", "#b7791f"
        else:
            badge, colour = f"unstable, index {found['index']}", "#d1495b"
        rows = [
            f"smallest stiffness {found['stiffness']:.4g}, branch {found['branch']}",
            f"residual {found['residual']:.1e}, {found['iterations']} iterations, {found['milliseconds']:.1f} ms",
            "singular values: " + ", ".join(f"{k} {v:.3g}" for k, v in found["singular"].items()),
            *found["limits"],
        ]
        if found["note"]:
            rows.append(found["note"])
        largest = max(max(line) for line in found["strain"])
        rows.append(f"largest bending strain {largest:.3g} / 1000")
        self._facts.content = _badge(badge, colour, rows)

    def _go(self, event: Any) -> None:
        one = self._saved.get(str(self._choice.value))
        if one is None or (event is not None and event.client is None):
            return
        asked = {"mode": one["mode"], "cold": True}
        asked |= {"q": one["q"]} if one["mode"] == "dgm" else {"pose": one["pose"]}
        self._apply(self._ask(asked))

    def _save(self, delete: bool) -> None:
        name = str(self._name.value)
        if delete:
            answer = self._statics.answer("/api/save", {"name": name, "delete": True})
        else:
            count = len(self._wrench)
            answer = self._statics.answer(
                "/api/save",
                {
                    "name": name, "mode": MODES[str(self._mode.value)], "q": list(self._solution["q"]),
                    "pose": list(self._solution["pose"]), "wrench": _planar(self._solution["wrench"], count),
                },
            )  # fmt: skip
        if not isinstance(answer, dict):
            raise PliantError("the pose cannot be saved", field="name")
        self._saved = answer["configurations"]
        self._choice.options = [NOTHING, *self._saved]


def _planar(wrench: list[float], count: int) -> list[float]:
    """Return a wrench with as many numbers as the robot takes."""
    values = list(map(float, wrench))
    return values if len(values) == count else [values[0], values[1], values[5]]


def _small(text: str) -> str:
    return f'<div style="padding:0 1em;font-size:0.85em">{html.escape(text)}</div>'


def _badge(head: str, colour: str, rows: list[str]) -> str:
    lines = "".join(f"<div>{html.escape(row)}</div>" for row in rows)
    return (
        f'<div role="status" style="padding:0.2em 1em 0.5em"><span style="background:{colour};color:#fff;'
        f'border-radius:0.3em;padding:0.1em 0.6em;font-weight:600">{html.escape(head)}</span>'
        f'<div style="font-size:0.8em;margin-top:0.4em">{lines}</div></div>'
    )

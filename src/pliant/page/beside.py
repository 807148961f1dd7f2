"""The page of a robot that runs elsewhere: the simulation, the measured robot as a ghost, curves, the verdict."""

from __future__ import annotations

import html
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from pliant.base.numerics import Array
from pliant.devices.base import Sample
from pliant.devices.fields import FieldInfo
from pliant.model.scene import place_bodies
from pliant.page.controls import plain_name, plain_text
from pliant.page.document import READY
from pliant.page.look import LookPanel
from pliant.page.plots import Plots
from pliant.page.scene import Scene
from pliant.page.server import PageServer, icon

if TYPE_CHECKING:
    import viser

FIELDS = {
    "position": FieldInfo(unit="rad", description="What the robot's sensor measures."),
    "predicted": FieldInfo(unit="rad", description="What the simulation of the robot as described would measure."),
    "deviation": FieldInfo(unit="rad", description="Measured minus predicted position."),
}
SENTENCES = 8
"""Sentences that the page keeps."""
COLOURS = {"well": "#2b7a4b", "drift": "#c0392b", "note": "#5c6670"}
"""Kind of a sentence -> its colour."""
PANEL_PERIOD = 0.1
"""How often curves are sent [s of the robot's time]."""
LEGEND = (
    '<div style="padding:0.2em 1em"><b>solid</b>: the simulation of the robot as described<br>'
    '<b style="color:#b35c0f">orange, transparent</b>: the robot as measured</div>'
)


class _Joint:
    """Source of the curves of one joint."""

    samples = FIELDS
    signatures = ()

    def __init__(self, name: str) -> None:
        self.name = name


class BesideView:
    """A page that shows a robot and the simulation beside it; it has no controls that move anything.

    Args:
        model: the compiled robot.
        joints: joints that are measured.
        host: address that the page is served on.
        port: port of the page; 0 takes the first free one from 8080 on.
        title: name of the robot.
    """

    def __init__(
        self, model: mujoco.MjModel, joints: Sequence[str], *, host: str = "127.0.0.1", port: int = 0, title: str = ""
    ) -> None:
        self._model, self._data = model, mujoco.MjData(model)
        self._server = PageServer(host=host, port=port, title=plain_name(f"{title} and its shadow"))
        self.url = self._server.url
        """Address of the page."""
        self._places = {joint: int(model.jnt_qposadr[model.joint(joint).id]) for joint in joints}
        self._sentences: deque[tuple[str, str]] = deque(maxlen=SENTENCES)
        self._verdict = ("note", "no window is judged yet")
        self._drawn = -np.inf
        server = self._server
        with server.viser.atomic():
            self._scene = Scene(server, model)
            self._ghost = Scene(server, model, ghost=True)
            server.look(*self._scene.camera(), max(0.005 * self._scene.size, 1e-4))
            self._build(server.gui, joints)
        self._write()

    def show(self, time: float, qpos: Array, curves: Mapping[str, tuple[Array, Array, Array]]) -> None:
        """Show a common state; see `pliant.simulation.viewer.BesidePage`."""
        self._draw(self._scene, qpos)
        real = np.array(qpos)
        for joint, (times, measured, simulated) in curves.items():
            real[self._places[joint]] = measured[-1]
            for stamp, value, predicted in zip(times.tolist(), measured.tolist(), simulated.tolist(), strict=True):
                values = {"position": value, "predicted": predicted, "deviation": value - predicted}
                self._plots.take(Sample(joint, 0, round(stamp * 1e9), values))
        self._draw(self._ghost, real)
        if not self._drawn <= time < self._drawn + PANEL_PERIOD:
            self._drawn = time
            self._time.content = f'<div style="padding:0.2em 1em"><b>t = {time:.2f} s</b> of the robot</div>'
            self._plots.draw()
            self._scene.spare()

    def tell(self, text: str, *, kind: str) -> None:
        """Show a sentence; the newest verdict stands above."""
        kind = kind if kind in COLOURS else "note"
        if kind != "note":
            self._verdict = kind, plain_text(text)
        self._sentences.appendleft((kind, plain_text(text)))
        self._write()

    def stop(self) -> None:
        """Close the page; may be called twice."""
        self._server.stop()

    # ------------------------------------------------------------------ inside
    def _draw(self, scene: Scene, qpos: Array) -> None:
        model, data = self._model, self._data
        data.qpos[:] = qpos
        place_bodies(model, data)
        scene.update(data, None)

    def _build(self, gui: viser.GuiApi, joints: Sequence[str]) -> None:
        gui.main_panel.dock_right()
        gui.main_panel.set_width(320)
        gui.add_html(READY)
        self._time = gui.add_html("")
        self._text = gui.add_html("")
        gui.add_html(LEGEND)
        with gui.add_tab_group().add_tab("Look", icon=icon("eye")):
            LookPanel(gui, self._server, self._scene, self._model)
            ghost = gui.add_checkbox("measured robot", initial_value=True)
            ghost.on_update(lambda _: self._ghost.show("seen", bool(ghost.value)))
        curves = gui.add_panel()
        with curves.add_tab("Curves", icon=icon("chart-line")):
            devices: dict[str, Any] = {joint: _Joint(joint) for joint in joints}
            self._plots = Plots(gui, devices, lambda text: self._server.notify("Not done", plain_text(text)))
        curves.dock_left()
        curves.set_width(320)

    def _write(self) -> None:
        kind, text = self._verdict
        rows = "".join(
            f'<div style="color:{COLOURS[each]};padding-top:0.3em">{html.escape(line)}</div>'
            for each, line in self._sentences
        )
        head = f"padding:0.3em 1em;font-weight:600;color:{COLOURS[kind]}"
        self._text.content = (
            f'<div role="status" style="{head}">{html.escape(text)}</div>'
            f'<div style="padding:0.2em 1em;font-size:0.85em;max-height:16em;overflow-y:auto">{rows}</div>'
        )

"""The page of a recording: its poses on the robot, its fields as curves, and a slider of its time."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from pliant.model.scene import place_bodies
from pliant.page.choice import RobotChoice
from pliant.page.document import READY
from pliant.page.look import LookPanel
from pliant.page.panel import SPEEDS
from pliant.page.payload import PayloadBalls
from pliant.page.plots import MAX_POINTS, WINDOW, Plots
from pliant.page.scene import Scene
from pliant.page.server import PageServer, icon
from pliant.recording.recorded_motion import recorded_actions, recorded_poses
from pliant.recording.recording import Recording

if TYPE_CHECKING:
    import viser

MAX_POSES = 200_000
"""Most poses that are kept; a longer recording is shown in coarser steps."""
PERIOD = 1.0 / 30.0
"""Time between two pictures [s of wall time]."""
PANEL_PERIOD = 0.1
"""How often curves and the slider follow [s of wall time]."""
SLIDER_STEPS = 1000


class ReplayView:
    """A page that shows a recording; `run` plays it.

    Args:
        recording: the recording.
        model: the compiled robot that was recorded.
        server: the page's server.
        choice: what else can be shown; None: nothing.

    Raises:
        RecordingError: no position of a joint of this model was recorded.
    """

    def __init__(
        self, recording: Recording, model: mujoco.MjModel, server: PageServer, *, choice: RobotChoice | None = None
    ) -> None:
        self._recording, self._model, self._server = recording, model, server
        self.duration = float(recording.duration)
        """Length of the recording [s]."""
        self._begin = recording.begin_ns * 1e-9
        self._step = max(PERIOD / 4.0, self.duration / MAX_POSES)
        poses = recorded_poses(recording, model, self._step)
        self._qpos, self.missing = poses.qpos, poses.missing
        self._acting = recorded_actions(recording, model)
        self._data = mujoco.MjData(model)
        if model.nkey:
            mujoco.mj_resetDataKeyframe(model, self._data, 0)
        self._lock = threading.Lock()
        self.position = 0.0
        """Time that is shown, from the begin of the recording [s]."""
        self.playing = True
        """Whether the time goes on by itself."""
        self._speed = 1.0
        self._stopping = threading.Event()
        with server.viser.atomic():
            self._scene = Scene(server, model)
            self._scene.show("contacts", recording.has_contacts)
            self._balls = PayloadBalls(server, model, self._scene.size)
            server.look(*self._scene.camera(), max(0.005 * self._scene.size, 1e-4))
            self._build(server.gui, choice)
        self.draw()
        self.draw_panel()

    def run(self) -> None:
        """Play until `stop`, in this thread."""
        before = time.monotonic()
        panel_at = 0.0
        while not self._stopping.wait(PERIOD):
            now = time.monotonic()
            if self._server.viser.get_clients():  # without a page it would be over before anybody sees it
                self.advance(now - before)
            before = now
            self.draw()
            if now >= panel_at:
                panel_at = now + PANEL_PERIOD
                self.draw_panel()

    def stop(self) -> None:
        """End `run`; any thread may call this."""
        self._stopping.set()

    def advance(self, seconds: float) -> None:
        """Let wall time go by [s]; at its end the recording waits."""
        with self._lock:
            if self.playing:
                self.position = min(self.position + self._speed * seconds, self.duration)
                self.playing = self.position < self.duration

    def seek(self, seconds: float) -> None:
        """Show another time of the recording [s]."""
        if np.isfinite(seconds):
            with self._lock:
                self.position = min(max(float(seconds), 0.0), self.duration)

    def play(self, on: bool) -> None:
        """Let the time go on, or hold it; at the end it begins again."""
        with self._lock:
            self.playing = on
            if on and self.position >= self.duration:
                self.position = 0.0

    def draw(self) -> None:
        """Show the robot at the present time."""
        model, data = self._model, self._data
        data.qpos[:] = self._qpos[min(round(self.position / self._step), len(self._qpos) - 1)]
        place_bodies(model, data)
        loads, wrenches, contacts = self._acting(self._begin + self.position + 1e-9)
        self._scene.update(data, contacts)
        self._balls.draw(loads)
        self._scene.draw_forces(wrenches, data)
        self._look.follow(data)

    def draw_panel(self) -> None:
        """Bring the slider, the button and the curves to the present time."""
        self._scene.spare()
        now = self.position
        self._slider.value = min(round(now / self._tick) * self._tick, self._slider.max)
        self._button.label = "Pause" if self.playing else "Play"
        self._button.icon = icon("player-pause" if self.playing else "player-play")
        for signal in self._plots.signals:
            signal.points = self._points(signal.device, signal.name, signal.index, now)
        self._plots.draw()
        if self._sketched != (second := int(2.0 * time.monotonic())):
            self._sketched = second
            self._sketch.content = self._plots.sketch()

    def _points(self, device: str, name: str, index: int | None, now: float) -> deque[tuple[int, float]]:
        """Return the points of a curve up to a time from the begin."""
        now += self._begin + 1e-9  # times are rounded
        times = self._recording[f"{device}/time"]
        first, last = np.searchsorted(times, (now - WINDOW, now), side="right")
        some = np.unique(np.linspace(first, max(last - 1, first), MAX_POINTS).astype(int)) if last > first else []
        values = self._recording[f"{device}/{name}"]
        return deque(
            (round(float(times[k]) * 1e9), float(values[k] if index is None else values[k].flat[index])) for k in some
        )

    def _build(self, gui: viser.GuiApi, choice: RobotChoice | None) -> None:
        gui.main_panel.dock_right()
        gui.main_panel.set_width(320)
        gui.add_html(READY)
        self._sketch, self._sketched = gui.add_html(""), 0
        if choice is not None:
            choice.build(self._server, self._recording.path.name, self._say, lambda _: self.stop())
        self._button = gui.add_button("Pause", icon=icon("player-pause"), hint="Hold the recording, or let it go on")
        self._button.on_click(lambda _: self.play(not self.playing))
        longest = max(self.duration, 1e-3)
        self._tick = float(f"{longest / SLIDER_STEPS:.1g}")
        self._slider = gui.add_slider("time [s]", min=0.0, max=longest, step=self._tick, initial_value=0.0)
        self._slider.on_update(self._moved)
        self._rate = gui.add_dropdown("speed", SPEEDS, initial_value="1", hint="Recorded seconds a second")
        self._rate.on_update(self._changed)
        with gui.add_folder("Look", expand_by_default=False):
            self._look = LookPanel(gui, self._server, self._scene, self._model)
        curves = gui.add_panel()
        with curves.add_tab("Curves", icon=icon("chart-line")):
            self._plots = Plots(gui, self._recording.devices, self._say)
        curves.dock_left()
        curves.set_width(320)

    def _moved(self, event: object) -> None:
        # The browser's own changes carry a client; those of `draw_panel` do not.
        if getattr(event, "client", None) is not None:
            self.seek(float(self._slider.value))

    def _changed(self, _: object) -> None:
        if str(self._rate.value) in SPEEDS:
            self._speed = float(self._rate.value)

    def _say(self, text: str) -> None:
        self._server.notify("Not done", text)

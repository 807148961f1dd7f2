"""The head of the page's panel: what runs, how fast, and the buttons that pause, step and reset it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pliant.model.scene import sky
from pliant.page.controls import REQUEST_TIMEOUT, Say, guarded
from pliant.page.server import icon, set_theme
from pliant.simulation.answers import answered
from pliant.simulation.bridge import SimulationControl

if TYPE_CHECKING:
    import viser

SPEEDS = ("0.1", "0.25", "0.5", "1", "2", "4")
STEPS = 10
"""Steps of the button Step."""
STATUS_PERIOD = 0.25
"""How often the status line changes [s of wall time]."""


class RunPanel:
    """Status and the buttons of a run.

    Args:
        gui: viser's GUI.
        simulation: what runs.
        say: tells what was refused.
        after_reset: called when the page has reset the simulation.
        title: name of the robot, for the names of recordings.
        done: tells where a recording is.
        metadata: texts that go into recordings, such as the command line that names the robot.
        contacts: whether contact forces are recorded, which are those that are shown.
    """

    def __init__(
        self,
        gui: viser.GuiApi,
        simulation: SimulationControl,
        say: Say,
        after_reset: Callable[[], None],
        title: str,
        done: Say,
        metadata: Mapping[str, str],
        contacts: Callable[[], bool],
    ) -> None:
        self._contacts = contacts
        self._simulation, self._after_reset = simulation, after_reset
        self._status = gui.add_html(_status(0.0, None, False))
        self._pause = gui.add_button("Pause", icon=icon("player-pause"), hint="Hold the simulation, or let it go on")
        self._buttons = gui.add_button_group(
            "simulation", ("Step", "Reset"), hint=f"Step: {STEPS} steps while it is paused"
        )
        self._speed = gui.add_dropdown(
            "simulation speed",
            SPEEDS,
            initial_value="1",
            hint="Simulated seconds a second; off where clients set the pace",
        )
        self._speed.disabled = not simulation.paced
        self._record = gui.add_button(
            "Record", icon=icon("player-record"), hint="Write a recording into the present folder"
        )
        self._name = title
        self._say_done, self._metadata = done, dict(metadata)
        self._recording: bool | None = None
        self._record.on_click(guarded(say, self._recorded))
        self._pause.on_click(guarded(say, self._paused))
        self._buttons.on_click(guarded(say, self._pressed))
        self._speed.on_update(guarded(say, self._changed))
        self._shown: bool | None = None
        self._at = (time.monotonic(), simulation.time_ns)
        self._factor: float | None = None

    def draw(self) -> None:
        """Bring the status up to date; cheap when called more often than it changes."""
        now, stamp = time.monotonic(), self._simulation.time_ns
        paused = self._simulation.paused
        if paused != self._shown:
            self._shown = paused
            self._pause.label = "Run" if paused else "Pause"
            self._pause.icon = icon("player-play" if paused else "player-pause")
        recording = self._simulation.recording is not None
        if recording != self._recording:
            self._recording = recording
            self._record.label = "Stop recording" if recording else "Record"
            self._record.color = "red" if recording else "gray"
        elapsed = now - self._at[0]
        if elapsed < STATUS_PERIOD:
            return
        gone = (stamp - self._at[1]) * 1e-9
        self._factor = gone / elapsed if gone >= 0.0 else None
        self._at = now, stamp
        self._status.content = _status(stamp * 1e-9, self._factor, paused)

    def _paused(self, _: object) -> None:
        if self._simulation.paused:
            self._simulation.resume()
        else:
            self._simulation.pause()

    def _recorded(self, _: object) -> None:
        simulation = self._simulation
        path = simulation.recording
        if path is not None:
            answered(simulation.submit(simulation.stop_recording), REQUEST_TIMEOUT)
            how = "--view shows" if self._metadata.get("command_line") else "--plot figure.png draws"
            self._say_done(f"{path} is written; pliant replay {path} {how} it")
            return
        safe = "".join(c if c.isalnum() or c in "-_" else "-" for c in self._name)[:40].strip("-") or "robot"
        fresh = Path.cwd() / f"{safe}-{time.strftime('%Y%m%d-%H%M%S')}.mcap"
        contacts = self._contacts()
        answered(
            simulation.submit(lambda: simulation.record(fresh, self._metadata, contacts=contacts)), REQUEST_TIMEOUT
        )

    def _pressed(self, _: object) -> None:
        if self._buttons.value == "Reset":
            answered(self._simulation.request("simulation", "reset"), REQUEST_TIMEOUT)
            self._after_reset()
            return
        self._simulation.pause()
        answered(self._simulation.submit(lambda: self._simulation.step(STEPS)), REQUEST_TIMEOUT)

    def _changed(self, _: object) -> None:
        factor = float(self._speed.value)
        answered(self._simulation.submit(lambda: self._simulation.set_speed(factor)), REQUEST_TIMEOUT)


def _status(seconds: float, factor: float | None, paused: bool) -> str:
    if paused:
        pace = "paused"
    else:
        pace = "" if factor is None else f"{factor:.2f} &times; real time"
    return (
        '<div role="status" style="display:flex;justify-content:space-between;padding:0.2em 1em 0.4em;'
        f'font-variant-numeric:tabular-nums"><b>t = {seconds:.2f} s</b><span>{pace}</span></div>'
    )


def theme_button(gui: viser.GuiApi) -> None:
    """Add a button that changes between light and dark, for each browser by itself."""
    dark: set[int] = set()
    button = gui.add_button("light or dark", icon=icon("sun-moon"))

    @button.on_click
    def _(event: viser.GuiEvent) -> None:
        client = event.client
        if client is None:
            return
        dark.symmetric_difference_update({client.client_id})
        night = client.client_id in dark
        set_theme(client.gui, dark=night)
        client.scene.set_background_image(sky(128, 8, dark=night), format="png")

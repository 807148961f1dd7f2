"""Scenarios on the page: choose one that fits the robot, start it, stop it, begin it again."""

from __future__ import annotations

import html
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar, cast

from pliant.base.errors import PliantError
from pliant.events.scenario import Scenario, ScenarioRun
from pliant.page.controls import REQUEST_TIMEOUT, Say, guarded, plain_name
from pliant.simulation.answers import answered
from pliant.simulation.bridge import SimulationControl

if TYPE_CHECKING:
    from concurrent.futures import Future

    import viser

    from pliant.simulation.loop import Simulation

BUTTONS = ("Start", "Stop", "Restart")


T = TypeVar("T")


class ScenarioPanel:
    """List, description, buttons and progress of scenarios, in a GUI container.

    Args:
        gui: viser's GUI.
        simulation: where they are played.
        scenarios: name -> scenario; at least one. The first one is shown.
        say: tells what was refused.
        after_reset: called when the page has reset the simulation.
        run: a run of the first that the command line has begun.
    """

    def __init__(
        self,
        gui: viser.GuiApi,
        simulation: SimulationControl,
        scenarios: Mapping[str, Scenario],
        say: Say,
        after_reset: Callable[[], None],
        *,
        run: ScenarioRun | None = None,
    ) -> None:
        self._simulation, self._say, self._after_reset = simulation, say, after_reset
        self.scenarios = {plain_name(name): scenario for name, scenario in scenarios.items()}
        """Name -> scenario."""
        self._given = run
        self._turn = threading.RLock()
        self.used = False
        """Whether somebody has pressed a button."""
        self.run = run
        """The scenario that is played, or was played last; None before the first."""
        self._name = chosen = next(iter(self.scenarios))
        self._choice = gui.add_dropdown("scenario", list(self.scenarios), initial_value=chosen)
        self._about = gui.add_html(_about(self.scenarios[chosen]))
        self._buttons = gui.add_button_group(
            "play", BUTTONS,
            hint="Start: from the present state; Stop: what has not happened does not happen; Restart: from time 0",
        )  # fmt: skip
        self._status = gui.add_html(_line(""))
        self._shown = ""
        self._choice.on_update(guarded(say, self._changed))
        self._buttons.on_click(guarded(say, self._pressed))

    def draw(self) -> None:
        """Show how far the scenario is."""
        run = self.run
        if run is None:
            text = ""
        elif run.over:
            text = f"{self._name}: ended"
        else:
            text = f"{self._name}: {max(run.time, 0.0):.1f} of {run.duration:.1f} s"
        if text != self._shown:
            self._shown = text
            self._status.content = _line(text)

    def restart(self) -> None:
        """End what was started on the page, after a reset; what the command line started plays again by itself."""
        with self._turn:
            if self.run is not None and self.run is not self._given:
                self._do(self.run.stop)
                self.run = None

    def _changed(self, _: object) -> None:
        scenario = self.scenarios.get(str(self._choice.value))
        if scenario is not None:
            self._about.content = _about(scenario)

    def _pressed(self, _: object) -> None:
        what, name = self._buttons.value, str(self._choice.value)
        scenario = self.scenarios.get(name)
        if scenario is None:
            raise PliantError(f"there is no scenario {name!r}", field="scenario")
        if what not in BUTTONS:
            raise PliantError(f"there is no button {what!r}", field="play")
        with self._turn:
            self.used = True
            if self.run is not None:
                self._do(self.run.stop)
            if what == "Stop":
                return
            self.run = self._given = None
            if what == "Restart":
                answered(self._simulation.request("simulation", "reset"), REQUEST_TIMEOUT)
                self._after_reset()
            self.begin(name)

    def add(self, name: str, scenario: Scenario) -> None:
        """Offer another scenario, first in the list."""
        self.scenarios = {name: scenario, **self.scenarios}
        self._choice.options = list(self.scenarios)

    def begin(self, name: str) -> None:
        """Play a scenario from the present state on."""
        scenario, simulation = self.scenarios[name], cast("Simulation", self._simulation)
        with self._turn:
            if self.run is not None:
                self._do(self.run.stop)
            self.run, self._name = self._do(lambda: ScenarioRun(scenario, simulation, self._say)), name
        self._choice.value = name

    def stop(self) -> None:
        """End what was started on the page."""
        with self._turn:
            if self.run is not None and not self.run.over and self.run is not self._given:
                self._do(self.run.stop)

    def _do(self, work: Callable[[], T]) -> T:
        return answered(cast("Future[T]", self._simulation.submit(work)), REQUEST_TIMEOUT)


def _about(scenario: Scenario) -> str:
    last = max((event.at for event in scenario.events), default=0.0)
    text = scenario.description or "without a description"
    return _line(f"{text[:1].upper()}{text[1:]}. {len(scenario.events)} events in {last:g} s.")


def _line(text: str) -> str:
    return f'<div style="padding:0.1em 1em 0.4em;font-size:0.85em">{html.escape(text)}</div>'

"""The option ``--scenario``: events over time, from a file or from pliant."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol, runtime_checkable

from cyclopts import Parameter

from pliant.simulation.additions import Addition

if TYPE_CHECKING:
    from pliant.events.scenario import Scenario, ScenarioRun
    from pliant.simulation import Simulation

ScenarioOption = Annotated[
    str | None,
    Parameter(
        name="--scenario",
        help="Events over time: a YAML or JSON file, or the name of a scenario of pliant (`pliant list ROBOT`).",
    ),
]


@runtime_checkable
class ScenarioPage(Protocol):
    """A bridge on which a person can play scenarios."""

    def offer(self, name: str, scenario: Scenario, run: ScenarioRun | None = None) -> None:
        """Offer a scenario, and its run where it plays from the start on; to be called before the page starts."""
        ...


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioOptions:
    """The scenario of a run."""

    scenario: ScenarioOption = None

    def make(self) -> Addition | None:
        """Read the file of the scenario; a name is looked up when the robot is known."""
        if self.scenario is None:
            return None
        from pliant.events.shipped import find_scenario, read_scenario_file

        given, read = self.scenario, read_scenario_file(self.scenario)

        def begin(simulation: Simulation) -> tuple[str, ...]:
            events = read or find_scenario(given, simulation.devices, simulation.engine)
            run = events.install(simulation)
            for bridge in simulation.bridges.values():
                if isinstance(bridge, ScenarioPage):
                    bridge.offer(Path(given).name, events, run)
            return ()

        return Addition(begin=begin)

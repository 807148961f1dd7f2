"""Events at given times of a run: commands, forces, payloads, requests and resets, in a scenario."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "Scenario": "pliant.events.scenario",
    "ScenarioRun": "pliant.events.scenario",
    "find_scenario": "pliant.events.shipped",
    "read_scenario": "pliant.events.scenario",
    "read_scenario_file": "pliant.events.shipped",
    "shipped_scenarios": "pliant.events.shipped",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)

"""The loop: clock, pacing, lock-step, replays, scenarios, command files.

Names resolve on first use: what needs the list of bridges does not import the loop.
"""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "Bridge": "pliant.simulation.bridge",
    "BridgeBase": "pliant.simulation.bridge",
    "CommandTable": "pliant.simulation.commands",
    "LockstepBridge": "pliant.simulation.bridge",
    "Pacer": "pliant.simulation.pacer",
    "PacerStats": "pliant.simulation.pacer",
    "Progress": "pliant.simulation.loop",
    "RecordedTopic": "pliant.simulation.replay",
    "Replay": "pliant.simulation.replay",
    "RunReport": "pliant.simulation.loop",
    "Scenario": "pliant.simulation.scenario",
    "ScenarioRun": "pliant.simulation.scenario",
    "Simulation": "pliant.simulation.loop",
    "SimulationControl": "pliant.simulation.bridge",
    "TopicReport": "pliant.simulation.bridge",
    "find_scenario": "pliant.simulation.shipped",
    "free": "pliant.simulation.pacer",
    "open_replay": "pliant.simulation.replay",
    "paced": "pliant.simulation.pacer",
    "read_commands": "pliant.simulation.commands",
    "read_scenario": "pliant.simulation.scenario",
    "read_scenario_file": "pliant.simulation.shipped",
    "shipped_scenarios": "pliant.simulation.shipped",
    "sync": "pliant.simulation.pacer",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)

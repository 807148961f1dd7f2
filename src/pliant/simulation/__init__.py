"""The loop: clock, pacing, lock-step, replays, scenarios, command files."""

from pliant.simulation.bridge import Bridge, BridgeBase, LockstepBridge, SimulationControl, TopicReport
from pliant.simulation.commands import CommandTable, read_commands
from pliant.simulation.loop import Progress, RunReport, Simulation
from pliant.simulation.pacer import Pacer, PacerStats, free, paced, sync
from pliant.simulation.replay import RecordedTopic, Replay, open_replay, replay
from pliant.simulation.scenario import Scenario, ScenarioRun, read_scenario
from pliant.simulation.shipped import find_scenario, read_scenario_file, shipped_scenarios

__all__ = [
    "Bridge",
    "BridgeBase",
    "CommandTable",
    "LockstepBridge",
    "Pacer",
    "PacerStats",
    "Progress",
    "RecordedTopic",
    "Replay",
    "RunReport",
    "Scenario",
    "ScenarioRun",
    "Simulation",
    "SimulationControl",
    "TopicReport",
    "find_scenario",
    "free",
    "open_replay",
    "paced",
    "read_commands",
    "read_scenario",
    "read_scenario_file",
    "replay",
    "shipped_scenarios",
    "sync",
]

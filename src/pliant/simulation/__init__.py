"""The loop: clock, pacing, lock-step, recording, scenarios, command files."""

from pliant.simulation.bridge import Bridge, LockstepBridge
from pliant.simulation.commands import CommandTable, read_commands
from pliant.simulation.loop import Progress, RunReport, Simulation
from pliant.simulation.pacer import Pacer, PacerStats, free, paced, sync
from pliant.simulation.plot import plot_recording
from pliant.simulation.recorder import Recorder
from pliant.simulation.recording import Recording, RecordingWarning, compare, export, read_recording
from pliant.simulation.replay import RecordedTopic, Replay, open_replay, replay
from pliant.simulation.scenario import Scenario, read_scenario

__all__ = [
    "Bridge",
    "CommandTable",
    "LockstepBridge",
    "Pacer",
    "PacerStats",
    "Progress",
    "RecordedTopic",
    "Recorder",
    "Recording",
    "RecordingWarning",
    "Replay",
    "RunReport",
    "Scenario",
    "Simulation",
    "compare",
    "export",
    "free",
    "open_replay",
    "paced",
    "plot_recording",
    "read_commands",
    "read_recording",
    "read_scenario",
    "replay",
    "sync",
]

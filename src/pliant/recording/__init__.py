"""Recordings: the MCAP log of a run, bags of ROS 1 and ROS 2, plots, motions."""

from pliant.recording.plot import plot_recording
from pliant.recording.recorder import Recorder
from pliant.recording.recording import Recording, RecordingWarning, compare, export, read_recording

__all__ = [
    "Recorder",
    "Recording",
    "RecordingWarning",
    "compare",
    "export",
    "plot_recording",
    "read_recording",
]

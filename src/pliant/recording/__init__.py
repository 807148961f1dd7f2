"""Recordings: the MCAP log of a run, bags of ROS 1 and ROS 2, plots, films."""

from pliant.recording.film import FilmOptions, FilmReport, FilmWriter, Panel
from pliant.recording.plot import plot_recording
from pliant.recording.recorder import Recorder
from pliant.recording.recording import Recording, RecordingWarning, compare, export, read_recording

__all__ = [
    "FilmOptions",
    "FilmReport",
    "FilmWriter",
    "Panel",
    "Recorder",
    "Recording",
    "RecordingWarning",
    "compare",
    "export",
    "plot_recording",
    "read_recording",
]

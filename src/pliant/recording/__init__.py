"""Recordings: the MCAP log of a run, motions, formats of recordings of other programs."""

from pliant.recording.recorder import Recorder
from pliant.recording.recording import Recording, RecordingWarning, compare, export, read_recording

__all__ = [
    "Recorder",
    "Recording",
    "RecordingWarning",
    "compare",
    "export",
    "read_recording",
]

"""View that bridges have of something recorded that is published again."""

from __future__ import annotations

from typing import Protocol

from pliant.model.interface import Interface
from pliant.recording.foreign import ForeignTopic
from pliant.recording.recording import RecordedDevice


class Replayed(Protocol):
    """Something recorded, in place of a robot."""

    @property
    def interface(self) -> Interface:
        """Names of the recorded robot on networks."""
        ...


class RecordedTopic(RecordedDevice):
    """One topic of a bag, as a bridge sees it: a source whose samples are encoded messages (field ``body``).

    Args:
        recorded: the topic in the bag.
    """

    def __init__(self, recorded: ForeignTopic) -> None:
        super().__init__(recorded.name, 0, 0, {}, topic=recorded.name, signatures=("recorded_topic",))
        self.recorded = recorded
        """The topic in the bag."""
        self.served_by: list[str] = []
        """Bridges that publish it; they enter their names in ``start``."""

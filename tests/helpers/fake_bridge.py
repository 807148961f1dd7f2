"""A bridge for tests of the loop and of recordings."""

from pliant.base.errors import BridgeError
from pliant.simulation import BridgeBase


class Recall(BridgeBase):
    """A bridge that remembers what it was told."""

    def __init__(self, name="recall", fail=None):
        self.name = name
        self.fail = fail
        self.calls = []

    def _call(self, *call):
        self.calls.append(call)
        if self.fail == call[0]:
            raise BridgeError(f"{self.name}: {call[0]} failed")

    def start(self, devices):
        self.devices = devices
        self._call("start")

    def publish(self, sample):
        self._call("publish", sample)

    def tick(self, stamp_ns):
        self._call("tick", stamp_ns)

    def stop(self):
        self._call("stop")

    def health(self):
        return {"calls": len(self.calls)}

    def names(self):
        return [call[0] for call in self.calls]

"""The loop: clock, pacing, lock-step.

Names resolve on first use: what needs the list of bridges does not import the loop.
"""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "Bridge": "pliant.simulation.bridge",
    "BridgeBase": "pliant.simulation.bridge",
    "LockstepBridge": "pliant.simulation.bridge",
    "Pacer": "pliant.simulation.pacer",
    "PacerStats": "pliant.simulation.pacer",
    "Progress": "pliant.simulation.loop",
    "RecordedTopic": "pliant.simulation.replayed",
    "RunReport": "pliant.simulation.loop",
    "Simulation": "pliant.simulation.loop",
    "SimulationControl": "pliant.simulation.bridge",
    "TopicReport": "pliant.simulation.bridge",
    "free": "pliant.simulation.pacer",
    "paced": "pliant.simulation.pacer",
    "sync": "pliant.simulation.pacer",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)

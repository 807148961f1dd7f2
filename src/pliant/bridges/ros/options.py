"""The options that every bridge of ROS takes, as ``--bridge ros1:namespace=left,tf=false`` writes them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pliant.errors import BridgeError, nearest

__all__ = ["ON_LOST", "RosOptions"]

ON_LOST = ("continue", "halt")


@dataclass(frozen=True, kw_only=True)
class RosOptions:
    """What is served, how often, and who waits for whom.

    Raises:
        BridgeError: a value is not valid; the message says which and what would be.
    """

    namespace: str = ""
    """Prefix of the toolbox's topics; "" takes the robot's."""
    node: str = ""
    """Name of the node; "" takes ``pliant_<namespace>``."""
    clock: bool = True
    """Publish ``/clock`` at every step, and set ``use_sim_time`` where there is a parameter server. A second robot in
    the same graph leaves it away."""
    tf: bool = True
    """Publish ``/tf`` (50 Hz, every body relative to the world)."""
    qb: bool = True
    """Serve what the qb_move packages serve."""
    aggregate_rate: float = 0.0
    """Rate of the robot-wide topics [Hz]; 0 takes the manager's T_sample where there is a manager, else all samples."""
    joint_states: float = 0.0
    """Rate of ``/joint_states`` [Hz]; 0 for every sample of the board."""
    sync: str = ""
    """Topics, joined by ``+``, that the loop waits for after each step ("lock-step"); "" for none. ``trigger`` is
    FrankaSim's trigger topic."""
    sync_rate: float = 0.0
    """How often it waits [Hz of simulation time]; 0 for every step."""
    on_lost: str = "continue"
    """What happens when the wire is lost: "continue" or "halt"."""

    def __post_init__(self) -> None:
        if self.on_lost not in ON_LOST:
            raise BridgeError(f"on_lost is {self.on_lost!r}; {nearest(self.on_lost, ON_LOST)}", field="on_lost")
        if self.namespace and not self.namespace.strip("/ "):
            raise BridgeError(
                f"namespace is {self.namespace!r}, which has no name in it; valid: a name such as left, or nothing for "
                "the robot's",
                field="namespace",
            )
        for name in ("aggregate_rate", "joint_states", "sync_rate"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0.0):
                raise BridgeError(f"{name} is {value!r}; valid is a rate of 0 Hz or more", field=name)
        if self.sync_rate and not self.sync:
            raise BridgeError(
                "sync_rate says how often the loop waits, and nothing says for what; add sync=TOPIC", field="sync_rate"
            )

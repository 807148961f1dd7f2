"""``/clock``: the simulation's time at every step."""

from __future__ import annotations

from pliant.bridges.ros.served import Served

__all__ = ["serve_clock"]


def serve_clock(served: Served) -> None:
    """Send the time of every step; programs with ``use_sim_time`` take theirs from it."""
    handle = served.advertise("/clock", "rosgraph_msgs/Clock", sensor=True)
    fill = served.template("rosgraph_msgs/Clock", {}, ["clock"])

    def clock(stamp_ns: int) -> None:
        if handle.active:
            handle.send(fill(stamp_ns))

    served.ticks.append(clock)

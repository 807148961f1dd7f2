"""``/clock``: the simulation's time at every step."""

from __future__ import annotations

from pliant.ros.bridge.topics import RosTopics


def serve_clock(topics: RosTopics) -> None:
    """Send the time of every step; programs with ``use_sim_time`` take theirs from it."""
    handle = topics.advertise("/clock", "rosgraph_msgs/Clock")
    fill = topics.template("rosgraph_msgs/Clock", {}, ["clock"])

    def clock(stamp_ns: int) -> None:
        if handle.active:
            handle.send(fill(stamp_ns))

    topics.ticks.append(clock)

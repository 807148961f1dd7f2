"""Four robots on one graph of ROS 2: no message of states has a joint or a value of another robot.

PLIANT_FOUR_ROBOTS_S is the simulated time of each, 8 s by default; the nightly run takes 600 s.
"""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import real

from pliant.ros.ros2 import Ros2Node

SECONDS = float(os.environ.get("PLIANT_FOUR_ROBOTS_S", "8"))
pytestmark = [pytest.mark.network, pytest.mark.slow, pytest.mark.timeout(10.0 * SECONDS + 220.0)]

NAMES = ("north", "east", "south", "west")
PLACES = {"north": 0.1, "east": 0.3, "south": -0.2, "west": -0.4}
"""Equilibrium of both joints of each robot, which tells its samples from those of the others [rad]."""


def test_no_sample_of_four_robots_is_mixed():
    domain = real.free_domain()
    robots = []
    node = Ros2Node("listener", domain=domain)
    last, seen, wrong = {}, dict.fromkeys(NAMES, 0), []

    def states(message):
        owners = {name.partition("_")[0] for name in message["name"]}
        (owner,) = owners if len(owners) == 1 else ("",)
        stamp = message["header"]["stamp"]
        known = owner in seen and message["name"] == [f"{owner}_joint_{k}" for k in (1, 2)]
        if not known or stamp <= last.get(owner, -1):
            wrong.append((list(message["name"]), stamp))
            return
        last[owner] = stamp
        seen[owner] += 1
        # The springs give way to gravity; halfway to the neighbours' places a value would be another robot's.
        if stamp > 3_000_000_000 and max(abs(q - PLACES[owner]) for q in message["position"]) > 0.09:
            wrong.append((owner, stamp, list(message["position"])))

    node.start()
    node.subscribe("/joint_states", "sensor_msgs/JointState", states)
    node.announce()
    try:
        for k, name in enumerate(NAMES):
            options = f"domain={domain},namespace={name},prefix={name}_,joint_states=100,aggregate_rate=10"
            clock = "" if k == 0 else ",clock=false"
            references = [f"joint_{j}/equilibrium_position={PLACES[name]}" for j in (1, 2)]
            presets = [f"joint_{j}/stiffness_preset=0.5" for j in (1, 2)]
            words = ["run", "qbmove-2dof", "--bridge", f"ros2:{options}{clock}", "--duration", str(SECONDS)]
            words += [w for r in (*references, *presets) for w in ("-r", r)]
            robots.append(real.pliant([*words, "--no-check"], os.environ))
            real.until(lambda name=name: seen[name], f"{name} is heard")
        for robot in robots:
            real.finish(robot, 10.0 * SECONDS + 120.0)
    finally:
        for robot in robots:
            robot.close()
        node.stop()
    assert wrong == []
    # Ten a second of the hundred that are sent: a loaded listener misses many, and none would say nothing.
    assert min(seen.values()) > 10 * SECONDS, seen

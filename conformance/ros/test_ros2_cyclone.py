"""pliant on the wire of ROS 2 with Cyclone DDS, the DDS below rmw_cyclonedds, from PyPI."""

import itertools
import json
import os
import sys
import threading
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "helpers"))
import real

cyclone_peer = pytest.importorskip("cyclone_peer")

COUNT = 12_000
PERIOD = 1e-3

pytestmark = [pytest.mark.network, pytest.mark.slow, pytest.mark.alone]


@pytest.fixture
def domain():
    return real.free_domain()


@pytest.fixture
def peer(domain):
    peer = cyclone_peer.CyclonePeer("cyclone", domain=domain)
    peer.start()
    yield peer
    peer.stop()


@pytest.fixture
def run(domain):
    process = real.pliant(
        ["run", "qbmove-5dof", "--bridge", f"ros2:domain={domain},aggregate_rate=1000", "--duration", 24, "--no-check",
         "--json"], os.environ,
    )  # fmt: skip
    yield process
    if process.poll() is None:
        process.kill()
        process.communicate()


def test_nothing_is_lost_in_either_direction(peer, run):
    stamps, all_heard = [], threading.Event()

    def heard(message):
        stamps.append(message["header"]["stamp"])
        if len(stamps) >= COUNT:
            all_heard.set()

    peer.subscribe("qbmove_5dof/robot_state", "sensor_msgs/JointState", heard)
    references = peer.advertise("qbmove_5dof/reference_1", "std_msgs/Float64MultiArray")
    end = time.monotonic() + 60
    while not references.matched:
        assert time.monotonic() < end, "no reader of the references within a minute"
        time.sleep(0.01)
    message = peer.codec.encode("std_msgs/Float64MultiArray", {"data": [0.1] * 5})
    begin = time.monotonic()
    for k in range(COUNT):
        references.send(message)
        time.sleep(max(0.0, begin + (k + 1) * PERIOD - time.monotonic()))
    assert all_heard.wait(60)
    bridge = json.loads(real.interrupted(run))["health"]["bridges"]["ros2"]
    assert bridge["received"] == COUNT
    assert bridge["dropped"] == bridge["rejected"] == 0
    gaps = {after - before for before, after in itertools.pairwise(stamps)}
    assert gaps == {1_000_000}

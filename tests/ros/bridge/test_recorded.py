"""Topics of a bag on a wire: ROS 1 against the small master, both generations of ROS as sources."""

import threading
import time

import bag_files as bags
import pytest
from fake_master import FakeMaster

from pliant.replay.player import open_replay
from pliant.ros.ros1 import Ros1Node
from pliant.simulation.bridges import make_bridge

pytestmark = pytest.mark.network
MS = 1_000_000


def rows(store):
    for k in range(20):
        yield "/arm/elbow/link_state", "viactors_plugins/msg/StateInfo", k * MS, bags.state(store, k, 1, 2, 3, 4, 5)
        yield (
            "/joint_states",
            "sensor_msgs/msg/JointState",
            k * MS,
            bags.joint_state(store, k * MS, ["elbow"], [0.5 * k], [0.1], [0.2]),
        )
        yield "/clock", "rosgraph_msgs/msg/Clock", k * MS, bags.clock(store, 5_000 * MS + k * MS)
    kind = "sensor_msgs/msg/FluidPressure"  # none of pliant's
    yield "/depth", kind, 20 * MS, store.types[kind](bags.joint_state(store, 0, [], []).header, 1e5, 0.0)


@pytest.mark.parametrize("kind", ["bag", "mcap"])
def test_the_topics_of_a_bag_are_published_on_ros_1_whichever_it_comes_from(kind, tmp_path):
    master = FakeMaster()
    client = Ros1Node("/client", master=master.uri, host="127.0.0.1")
    client.start()
    got = {"/arm/elbow/link_state": [], "/joint_states": [], "/clock": []}
    enough = threading.Event()

    def take(topic, message):
        got[topic].append(message)
        if all(len(messages) == 20 for messages in got.values()):
            enough.set()

    types = {
        "/arm/elbow/link_state": "viactors_plugins/state_info",
        "/joint_states": "sensor_msgs/JointState",
        "/clock": "rosgraph_msgs/Clock",
    }
    for topic, name in types.items():
        client.subscribe(topic, name, lambda message, topic=topic: take(topic, message))
    client.announce()
    deadline = time.monotonic() + 30

    def heard():
        assert time.monotonic() < deadline, bridge.report()
        return all(row["peers"] for row in bridge.report() if row["topic"] in types)

    try:
        with open_replay(bags.write_any(tmp_path, rows, kind)) as replay:
            bridge = make_bridge(f"ros1:master={master.uri},host=127.0.0.1", replay)
            playing = replay.play([bridge], ready=heard)
            for _ in playing:
                pass
            assert replay.unserved == ["/depth (sensor_msgs/FluidPressure)"]
            counts = {row["topic"]: row["count"] for row in bridge.report()}
        assert {topic: counts[topic] for topic in types} == dict.fromkeys(types, 20)
        assert enough.wait(30), {topic: len(messages) for topic, messages in got.items()}
    finally:
        client.stop()
        master.close()
    assert [m["clock"] for m in got["/clock"]] == [5_000 * MS + k * MS for k in range(20)]
    assert [m["position"].tolist() for m in got["/joint_states"]] == [[0.5 * k] for k in range(20)]
    assert [m["header"]["stamp"] for m in got["/joint_states"]] == [k * MS for k in range(20)]
    assert [m["q"] for m in got["/arm/elbow/link_state"]] == list(range(20))

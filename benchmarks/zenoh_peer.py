"""A node as rmw_zenoh_cpp makes one, with the calls of eclipse-zenoh, for benchmarks/ros.py: it counts, or drives.

python benchmarks/zenoh_peer.py count PORT DOMAIN NAMESPACE JOINTS SECONDS | drive PORT DOMAIN NAMESPACE JOINTS STEPS
"""

import hashlib
import itertools
import json
import sys
import threading
import time

import numpy as np
import zenoh
import zenoh.ext

from pliant.ros.wire import Codec, dds_type_name
from pliant.ros_zenoh.wire.rmw_zenoh import Attachment, Endpoint, Qos, topic_key

CODEC = Codec(2)
STATE, COMMAND = "sensor_msgs/JointState", "std_msgs/Float64MultiArray"


def opened(port):
    """Connect to the router, which may come later."""
    config = zenoh.Config.from_json5(
        json.dumps(
            {
                "mode": "client",
                "connect": {"endpoints": [f"tcp/127.0.0.1:{port}"], "timeout_ms": 60_000},
                "scouting": {"multicast": {"enabled": False}},
                "timestamping": {"enabled": True},
            }
        )
    )
    return zenoh.open(config)


class Peer:
    def __init__(self, port, domain):
        self.session = opened(port)
        self.domain = domain
        self.kept = []
        self.numbers = itertools.count(1)

    def key(self, topic, type_name):
        return topic_key(self.domain, topic, dds_type_name(type_name), CODEC.types.rihs01(type_name))

    def token(self, kind, topic, type_name):
        endpoint = Endpoint(
            domain=self.domain, session=str(self.session.zid()), node_id=0, entity_id=next(self.numbers), kind=kind,
            node="peer", name=topic, dds_type=dds_type_name(type_name), type_hash=CODEC.types.rihs01(type_name),
            qos=Qos(depth=1000),
        )  # fmt: skip
        self.kept.append(self.session.liveliness().declare_token(endpoint.token()))

    def listen(self, topic, type_name, callback):
        handler = zenoh.handlers.Callback(callback, indirect=False)
        self.kept.append(self.session.declare_subscriber(self.key(topic, type_name), handler))
        self.token("MS", topic, type_name)

    def publisher(self, topic, type_name):
        publisher = self.session.declare_publisher(self.key(topic, type_name))
        self.token("MP", topic, type_name)
        end = time.monotonic() + 60
        while not publisher.matching_status.matching:
            if time.monotonic() > end:
                sys.exit(f"nobody listens to {topic}")
            time.sleep(0.01)
        count = itertools.count(1)

        def send(values):
            beside = Attachment(sequence_number=next(count), timestamp_ns=time.time_ns(), gid=bytes(16))
            publisher.put(CODEC.encode(type_name, values), attachment=beside.encode())

        return send


def count(peer, namespace, joints, seconds):
    """Count messages by their numbers, and send references at 1 kHz."""
    seen = {}

    def counted(name):
        seen[name] = found = [0, 0, 0]

        def arrived(sample):
            number = Attachment.decode(bytes(sample.attachment)).sequence_number
            found[0] += 1
            found[1] = found[1] or number
            found[2] = number

        return arrived

    for topic, kind in (
        (f"/{namespace}/robot_state", STATE),
        ("/joint_states", STATE),
        ("/clock", "rosgraph_msgs/Clock"),
    ):
        peer.listen(topic, kind, counted(topic))
    send = peer.publisher(f"/{namespace}/reference_1", COMMAND)
    begin, sent = time.monotonic(), 0
    while sent < 1000 * seconds:
        send({"data": [0.1] * joints})
        sent += 1
        time.sleep(max(0.0, begin + 1e-3 * sent - time.monotonic()))
    # Until nothing comes any more: the run ends by itself.
    before = None
    while before != (before := [found[0] for found in seen.values()]):
        time.sleep(1.0)
    return {
        "sent": sent,
        "heard": {topic: {"received": n, "missing": last - first + 1 - n} for topic, (n, first, last) in seen.items()},
    }


def drive(peer, namespace, joints, steps):
    """Answer every state with a reference; measure from reference to next state."""
    came = threading.Semaphore(0)
    states = []

    def arrived(sample):
        states.append((time.perf_counter(), bytes(sample.payload)))
        came.release()

    peer.listen(f"/{namespace}/robot_state", STATE, arrived)
    send = peer.publisher(f"/{namespace}/reference_1", COMMAND)
    digest, delays, last, sent_at, began = hashlib.sha256(), [], 0, 0.0, 0.0
    for index in itertools.count():
        if not came.acquire(timeout=60):
            sys.exit("no state came for 60 s")
        at, data = states[index]
        message = CODEC.decode(STATE, data)
        stamp = message["header"]["stamp"]
        if stamp > last:
            digest.update(message["position"].tobytes())
            if last:
                delays.append(at - sent_at)
            began = began or time.monotonic()
            last = stamp
        if len(delays) >= steps:
            break
        sent_at = time.perf_counter()
        send({"data": [0.3 * np.sin(3e-9 * stamp)] * joints})
    seconds = time.monotonic() - began
    p50, p99 = np.percentile(np.array(delays[len(delays) // 10 :]) * 1e6, [50, 99])
    return {"digest": digest.hexdigest(), "rtf": 1e-3 * steps / seconds, "p50_us": p50, "p99_us": p99}


def main():
    what, port, domain, namespace, joints, number = sys.argv[1:]
    peer = Peer(int(port), int(domain))
    try:
        role = count if what == "count" else drive
        print(json.dumps(role(peer, namespace, int(joints), int(float(number)))))
    finally:
        peer.session.close()


if __name__ == "__main__":
    main()

"""What real rclpy does with pliant's topics and services. Runs in an interpreter that has rclpy; prints one JSON line.

Usage: ros2_rclpy_steps.py STEP [ARGUMENTS ...]
"""

import hashlib
import itertools
import json
import sys
import threading
import time

import rclpy
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import GetParameters, ListParameters, SetParameters
from rclpy.parameter import Parameter as NodeParameter
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Image, JointState
from std_msgs.msg import Empty, Float64, Float64MultiArray
from std_srvs.srv import Trigger

LIMIT = 60.0
"""How long anything may take on a machine that has much to do [s]."""
ALL = QoSProfile(depth=20_000)
"""Reliable, and deeper than anything that is counted here."""


class Client:
    """A node, and the thread that spins it."""

    def __init__(self, name):
        rclpy.init()
        self.node = rclpy.create_node(name)
        self.counts, self.last = {}, {}
        self._running = True
        self._thread = threading.Thread(target=self._spin)
        self._thread.start()

    def _spin(self):
        while self._running:
            rclpy.spin_once(self.node, timeout_sec=0.1)

    def close(self):
        self._running = False
        self._thread.join()
        self.node.destroy_node()
        rclpy.shutdown()

    def hear(self, topic, kind, qos=ALL):
        def arrived(message):
            self.counts[topic] = self.counts.get(topic, 0) + 1
            self.last[topic] = message

        self.node.create_subscription(kind, topic, arrived, qos)

    def call(self, kind, name, request):
        client = self.node.create_client(kind, name)
        assert client.wait_for_service(LIMIT), name
        future = client.call_async(request)
        until(future.done, name)
        return future.result()


def until(condition, what, timeout=LIMIT):
    end = time.monotonic() + timeout
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < end, f"not within {timeout} s: {what}"
        time.sleep(0.005)


def nanoseconds(stamp):
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def main_job(client, ns, joint):
    """Drive a joint and hear the topics of the toolbox."""
    base = f"/{ns}/{joint}"
    for name in ("torque_el1_state", "torque_el2_state"):
        client.hear(f"{base}/{name}", Float64)
    for name in ("motor_1_state", "motor_2_state"):
        client.hear(f"{base}/{name}", JointState)
    for topic in (f"/{ns}/robot_state", "/joint_states"):
        client.hear(topic, JointState)
    stamps = []
    client.node.create_subscription(Clock, "/clock", lambda m: stamps.append(nanoseconds(m.clock)), ALL)
    references = [client.node.create_publisher(Float64, f"{base}/reference_{k}", 10) for k in (1, 2)]
    for publisher in references:
        until(publisher.get_subscription_count, "pliant listens")
    for publisher, value in zip(references, (0.7, 0.3)):
        publisher.publish(Float64(data=value))
    until(lambda: stamps, "the clock")
    # The node's own clock follows /clock.
    client.node.set_parameters([NodeParameter("use_sim_time", value=True)])
    types = {name: kinds[0] for name, kinds in client.node.get_topic_names_and_types()}
    nodes = client.node.get_node_names()
    while True:  # until the simulation has ended and everything has arrived
        seen = len(stamps) + sum(client.counts.values())
        time.sleep(3.0)
        if seen == len(stamps) + sum(client.counts.values()):
            break
    now = client.node.get_clock().now().nanoseconds
    return {
        "counts": {"/clock": len(stamps), **client.counts},
        "types": types,
        "nodes": nodes,
        "motors": [client.last[f"{base}/motor_{k}_state"].position[0] for k in (1, 2)],
        "q": client.last[f"/{ns}/robot_state"].position[0],
        "names": list(client.last[f"/{ns}/robot_state"].name),
        "now": now * 1e-9,
    }


def count_states(client, ns, count):
    """Hear consecutive states until there are enough; tell which stamps are missing [ms]."""
    stamps = []
    client.node.create_subscription(
        JointState, f"/{ns}/robot_state", lambda m: stamps.append(nanoseconds(m.header.stamp) // 1_000_000), ALL
    )
    count = int(count)
    until(lambda: len(stamps) >= count, f"{count} states", count / 1000 + LIMIT)
    stamps = stamps[:count]
    steps = [b - a for a, b in itertools.pairwise(stamps)]
    return {"received": len(stamps), "missing": sum(s - 1 for s in steps), "backward": sum(s <= 0 for s in steps)}


def send_references(client, ns, size, count):
    """Send references at 1 kHz; wait until they have arrived."""
    publisher = client.node.create_publisher(Float64MultiArray, f"/{ns}/reference_1", ALL)
    until(publisher.get_subscription_count, "pliant listens")
    count, began = int(count), time.monotonic()
    for k in range(count):
        publisher.publish(Float64MultiArray(data=[0.1 + 1e-6 * k] * int(size)))
        time.sleep(max(0.0, began + (k + 1) * 1e-3 - time.monotonic()))
    acknowledged = publisher.wait_for_all_acked(rclpy.duration.Duration(seconds=LIMIT))
    return {"sent": count, "acknowledged": acknowledged, "seconds": time.monotonic() - began}


def storm(client, ns, kind, joints, count):
    """Send to a topic of each joint at 1 kHz, as fast as this process can, with the history of a default publisher."""
    publishers = [client.node.create_publisher(Float64, f"/{ns}/{joint}/{kind}", 10) for joint in joints.split("+")]
    for publisher in publishers:
        until(publisher.get_subscription_count, "pliant listens")
    count, began = int(count), time.monotonic()
    for k in range(count):
        for publisher in publishers:
            publisher.publish(Float64(data=0.1 + 1e-6 * k))
        time.sleep(max(0.0, began + (k + 1) * 1e-3 - time.monotonic()))
    seconds = time.monotonic() - began
    time.sleep(3.0)
    return {"sent": count * len(publishers), "seconds": seconds}


def control(client, node):
    """Pause, step and resume by services; list, read and set parameters."""
    said = [client.call(Trigger, f"/pliant/{name}", Trigger.Request()) for name in ("pause", "step_once", "resume")]
    listed = client.call(ListParameters, f"/{node}/list_parameters", ListParameters.Request())
    value = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=0.5)
    request = SetParameters.Request(parameters=[Parameter(name="joint_1.kp_1", value=value)])
    (result,) = client.call(SetParameters, f"/{node}/set_parameters", request).results
    request = GetParameters.Request(names=["joint_1.kp_1"])
    (found,) = client.call(GetParameters, f"/{node}/get_parameters", request).values
    return {
        "triggers": [[reply.success, reply.message] for reply in said],
        "parameters": list(listed.result.names),
        "set": result.successful,
        "value": found.double_value,
    }


def see_images(client, topic, reliability):
    """Receive images until the sender is done, answer each with its stamp, and tell its digest by its stamp."""
    digests = {}
    seen = client.node.create_publisher(Float64, "/eye/seen", ALL)

    def arrived(message):
        stamp = nanoseconds(message.header.stamp)
        digests[stamp] = hashlib.sha256(bytes(message.data)).hexdigest()
        seen.publish(Float64(data=float(stamp)))

    policy = ReliabilityPolicy.RELIABLE if reliability == "reliable" else ReliabilityPolicy.BEST_EFFORT
    images = client.node.create_subscription(Image, topic, arrived, QoSProfile(depth=30, reliability=policy))
    client.hear("/eye/done", Empty)
    until(lambda: client.node.count_publishers(topic) and seen.get_subscription_count(), "the sender is there")
    seen.publish(Float64(data=0.0))
    until(lambda: client.counts.get("/eye/done"), "the sender is done", 2 * LIMIT)
    client.node.destroy_subscription(images)
    return {"digests": digests}


def find(client, topic):
    """Tell how long a default node needs until it has a message of a topic [s]."""
    began = time.monotonic()
    client.hear(topic, Clock)
    until(lambda: client.counts, topic)
    return {"seconds": time.monotonic() - began}


if __name__ == "__main__":
    step = {
        f.__name__: f for f in (main_job, count_states, send_references, storm, control, see_images, find)
    }[sys.argv[1]]  # fmt: skip
    client = Client("client")
    try:
        print("RESULT " + json.dumps(step(client, *sys.argv[2:])), flush=True)
    finally:
        client.close()

"""A robot of rclpy: publishes clock, command and state of a joint from a table, as a driver in a laboratory does.

Runs in the interpreter that has rclpy, and prints one RESULT line with what the graph says of the shadow.
"""

import csv
import json
import sys
import time
from pathlib import Path

import rclpy
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64

SHADOW = "pliant_shadow"


def main():
    path, period = sys.argv[1], float(sys.argv[2])
    with Path(path).open() as file:
        rows = [(float(row["time"]), float(row["reference"]), float(row["position"])) for row in csv.DictReader(file)]
    rclpy.init()
    node = rclpy.create_node("lab_driver")
    deep = QoSProfile(depth=1000)
    clock = node.create_publisher(Clock, "/clock", deep)
    command = node.create_publisher(Float64, "/lab/joint/equilibrium_position", deep)
    state = node.create_publisher(JointState, "/lab/robot_state", deep)
    publishers = (clock, command, state)
    heard = []
    node.create_subscription(Float64, "/lab/joint/equilibrium_position", lambda _: heard.append(1), deep)
    end = time.monotonic() + 60.0
    # The node hears its own command; the shadow is the second.
    while [p.get_subscription_count() for p in publishers] != [1, 2, 1] and time.monotonic() < end:
        rclpy.spin_once(node, timeout_sec=0.05)
    sent, graph = 0, {}
    for now, reference, position in rows:
        if sent and not state.get_subscription_count():
            break  # the shadow has ended
        stamp = rclpy.time.Time(nanoseconds=round(1e9 * now)).to_msg()
        clock.publish(Clock(clock=stamp))
        message = JointState(name=["joint"], position=[position])
        message.header.stamp = stamp
        state.publish(message)
        command.publish(Float64(data=reference))
        sent += 1
        rclpy.spin_once(node, timeout_sec=0.0)
        if sent == 300:
            graph = {
                "publishers": [name for name, _ in node.get_publisher_names_and_types_by_node(SHADOW, "/")],
                "services": [name for name, _ in node.get_service_names_and_types_by_node(SHADOW, "/")],
                "clients": [name for name, _ in node.get_client_names_and_types_by_node(SHADOW, "/")],
                "subscriptions": [name for name, _ in node.get_subscriber_names_and_types_by_node(SHADOW, "/")],
                "commanders": [
                    info.node_name for info in node.get_publishers_info_by_topic("/lab/joint/equilibrium_position")
                ],
            }
        time.sleep(period)
    end = time.monotonic() + 10.0
    while len(heard) < sent and time.monotonic() < end:
        rclpy.spin_once(node, timeout_sec=0.05)
    print("RESULT " + json.dumps({"sent": sent, "heard": len(heard), **graph}), flush=True)
    node.destroy_node()
    rclpy.shutdown()


main()

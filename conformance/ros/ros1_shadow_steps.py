"""A robot of rospy: publishes clock, command and state of a joint from a table, as a driver in a laboratory does.

Runs in the interpreter that has rospy, and prints one RESULT line.
"""

import csv
import json
import sys
import time
from pathlib import Path

import rospy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64


def main():
    path, period = sys.argv[1], float(sys.argv[2])
    with Path(path).open() as file:
        rows = [(float(row["time"]), float(row["reference"]), float(row["position"])) for row in csv.DictReader(file)]
    rospy.init_node("lab_driver", anonymous=True, disable_signals=True)
    clock = rospy.Publisher("/clock", Clock, queue_size=1000)
    command = rospy.Publisher("/lab/joint/equilibrium_position", Float64, queue_size=1000)
    state = rospy.Publisher("/lab/robot_state", JointState, queue_size=1000)
    publishers = (clock, command, state)
    end = time.monotonic() + 60.0
    while not all(p.get_num_connections() for p in publishers) and time.monotonic() < end:
        time.sleep(0.05)
    sent = 0
    for now, reference, position in rows:
        if not state.get_num_connections():
            break  # the shadow has ended
        stamp = rospy.Time.from_sec(now)
        clock.publish(Clock(clock=stamp))
        message = JointState(name=["joint"], position=[position])
        message.header.stamp = stamp
        state.publish(message)
        command.publish(Float64(data=reference))
        sent += 1
        time.sleep(period)
    print("RESULT " + json.dumps({"sent": sent}), flush=True)


main()

"""The qualities of service of the vendor's topics on ROS 2, as Cyclone DDS sees them."""

import threading

import pytest
from ros2_clients import DOMAINS, until

from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.robots import build_robot
from pliant.simulation import Simulation
from pliant.simulation.bridges import make_bridge

pytestmark = pytest.mark.network

NODE = "/franka_robot_state_broadcaster"
SINGLE = {
    "current_pose": "geometry_msgs/PoseStamped",
    "last_desired_pose": "geometry_msgs/PoseStamped",
    "desired_end_effector_twist": "geometry_msgs/TwistStamped",
    "external_wrench_in_base_frame": "geometry_msgs/WrenchStamped",
    "external_wrench_in_stiffness_frame": "geometry_msgs/WrenchStamped",
    "measured_joint_states": "sensor_msgs/JointState",
    "desired_joint_states": "sensor_msgs/JointState",
    "external_joint_torques": "sensor_msgs/JointState",
}
"""The vendor's convenience topics, from the documentation of its broadcaster."""


def test_the_vendors_single_topics_are_best_effort_and_the_joint_states_are_reliable():
    cyclone_peer = pytest.importorskip("cyclone_peer")
    domain = next(DOMAINS)
    robot = build_robot("fr3")
    bridge = make_bridge(f"ros2:domain={domain}", robot)
    peer = cyclone_peer.CyclonePeer("client", domain=domain)
    heard = {"reliable": set(), "best effort": set()}
    with Simulation(MujocoEngine(robot), make_devices(robot), [bridge], pacer="paced") as simulation:
        simulation.start()
        peer.start()
        try:
            for topic, kind in {
                **{f"{NODE}/{name}": t for name, t in SINGLE.items()},
                "/joint_states": "sensor_msgs/JointState",
            }.items():
                for quality, names in heard.items():
                    peer.subscribe(
                        topic, kind, lambda _, t=topic, names=names: names.add(t), reliable=quality == "reliable"
                    )
            runner = threading.Thread(target=simulation.run)
            runner.start()
            everything = {f"{NODE}/{name}" for name in SINGLE} | {"/joint_states"}
            until(lambda: heard["best effort"] == everything and heard["reliable"], "all topics by best effort")
        finally:
            simulation.stop()
            runner.join(20)
            peer.stop()
    assert heard["reliable"] == {"/joint_states"}

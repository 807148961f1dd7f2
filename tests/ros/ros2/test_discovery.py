"""Whom a node of ROS 2 looks for, by its option and by the variables of ROS 2."""

import pytest
from ros2_clients import DOMAINS, until

from pliant.base.errors import BridgeError
from pliant.ros.ros2.discovery import Discovery, discovery
from pliant.ros.ros2.participant import RtpsParticipant


@pytest.mark.parametrize(
    ("loopback", "variables", "expected"),
    [
        (True, {}, Discovery()),
        (False, {}, Discovery(loopback=False)),
        (False, {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}, Discovery(loopback=False)),
        (False, {"ROS_AUTOMATIC_DISCOVERY_RANGE": "system_default"}, Discovery(loopback=False)),
        (False, {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}, Discovery()),
        (True, {"ROS_AUTOMATIC_DISCOVERY_RANGE": "OFF"}, Discovery(multicast=False)),
        (False, {"ROS_LOCALHOST_ONLY": "1"}, Discovery()),
        (False, {"ROS_LOCALHOST_ONLY": "1", "ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}, Discovery(loopback=False)),
        (False, {"ROS_STATIC_PEERS": "10.0.0.2; 10.0.0.3"}, Discovery(loopback=False, peers=("10.0.0.2", "10.0.0.3"))),
        (True, {"ROS_STATIC_PEERS": "10.0.0.2;localhost"}, Discovery(peers=("127.0.0.1",))),
    ],
)
def test_the_variables_of_ros_2_narrow_what_the_option_allows(loopback, variables, expected):
    assert discovery(loopback, variables) == expected


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCAL"}, "did you mean 'LOCALHOST'"),
        ({"ROS_LOCALHOST_ONLY": "yes"}, "must be 0 or 1"),
        ({"ROS_STATIC_PEERS": "10.0.0"}, "must be an IPv4 address"),
        ({"ROS_STATIC_PEERS": "10.0.0.256"}, "must be an IPv4 address"),
        ({"ROS_STATIC_PEERS": ";".join(["10.0.0.2"] * 33)}, "at most 32"),
    ],
)
def test_wrong_variables_are_refused(variables, says):
    with pytest.raises(BridgeError, match=says):
        discovery(False, variables)


@pytest.mark.network
def test_a_node_that_discovers_nobody_is_found_by_its_static_peer_alone():
    domain = next(DOMAINS)
    off = RtpsParticipant("off", domain=domain, discovery=Discovery(multicast=False))
    peer = RtpsParticipant("peer", domain=domain, discovery=Discovery(multicast=False, peers=("127.0.0.1",)))
    off.start()
    try:
        assert off._everywhere() == []
        peer.start()
        until(lambda: peer.prefix in off.remotes and off.prefix in peer.remotes)
    finally:
        peer.stop()
        off.stop()

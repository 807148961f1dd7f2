"""A program's own ports on a network of YARP: connect, read, write, call, without YARP."""

from pliant.yarp.client.clock import ClockReader, NetworkClock
from pliant.yarp.client.network import InputPort, Received, YarpNetwork, find_server

__all__ = ["ClockReader", "InputPort", "NetworkClock", "Received", "YarpNetwork", "find_server"]

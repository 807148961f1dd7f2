"""A program's own ports on a network of YARP: connect, read, write, call, without YARP."""

from pliant.yarp.client.network import InputPort, Received, YarpNetwork, find_server

__all__ = ["InputPort", "Received", "YarpNetwork", "find_server"]

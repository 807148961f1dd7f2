"""YARP without YARP: ports, a name server, and the bridge that serves a robot by them."""

from pliant.bridges.yarp.bridge import YarpBridge, make
from pliant.bridges.yarp.options import YarpOptions

__all__ = ["YarpBridge", "YarpOptions", "make"]

"""YARP without YARP: ports, a name server, and the bridge that serves a robot by them."""

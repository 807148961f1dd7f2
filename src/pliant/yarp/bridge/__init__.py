"""YARP without YARP: ports, a name server, and the bridge that serves a robot by them (`bridge`).

Nothing is imported here, so that a client of ports needs neither devices nor the engine.
"""

"""Commands `pliant yarp` and `pliant yarpserver`."""

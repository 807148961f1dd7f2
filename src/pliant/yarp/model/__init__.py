"""Control boards and YARP services, as descriptions of a robot."""

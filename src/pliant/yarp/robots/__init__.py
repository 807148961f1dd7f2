"""Robots whose software speaks YARP."""

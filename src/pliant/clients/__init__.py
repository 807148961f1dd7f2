"""Clients of a simulation: what a user's program holds instead of the robot's own driver."""

"""Parameters of laws and actuators from measured data."""

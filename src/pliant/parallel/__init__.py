"""Continuum parallel robots in the simulation: models, device, page, ROS."""

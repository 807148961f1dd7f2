"""Humanoids whose descriptions come with PyPI's package example-robot-data: Talos and G1."""

from pliant.walking.robots.humanoids.data import find_data

__all__ = ["find_data"]

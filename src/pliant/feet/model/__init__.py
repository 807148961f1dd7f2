"""Feet in place of a robot's own: where they go, what they carry, and the part of the model that they are."""

from pliant.feet.model.description import FootDescription, GivenFoot
from pliant.feet.model.part import ReplacedFoot
from pliant.feet.model.support import FootSupport, measure_support

__all__ = ["FootDescription", "FootSupport", "GivenFoot", "ReplacedFoot", "measure_support"]

"""Feet in place of a robot's own: where they go, what they carry, and the part of the model that they are."""

from pliant.model.feet.description import FootDescription, GivenFoot
from pliant.model.feet.part import ReplacedFoot
from pliant.model.feet.support import FootSupport, measure_support

__all__ = ["FootDescription", "FootSupport", "GivenFoot", "ReplacedFoot", "measure_support"]

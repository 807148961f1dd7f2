"""A torque-controlled biped of primitive shapes, in the class of COMAN, with rigid feet or SoftFeet."""

from pliant.walking.robots.biped.parameters import JOINTS, PARTS, SIDES

__all__ = ["JOINTS", "PARTS", "SIDES"]

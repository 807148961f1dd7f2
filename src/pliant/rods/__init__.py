"""Cosserat rods and continuum parallel robots: statics, stability, sensitivities. Sees no engine."""

from pliant.rods.analysis import Identification, Measurement, Workspace, WrenchEstimate
from pliant.rods.branches import BRANCHES, Equilibrium
from pliant.rods.description import (
    BaseJoint,
    DistalJoint,
    GivenStiffness,
    Limb,
    Plate,
    Rectangular,
    RobotDescription,
    Rod,
    Round,
)
from pliant.rods.loaders import catalogue, load_description, load_robot
from pliant.rods.robot import ACCURACIES, ContinuumParallelRobot, NoEquilibrium, Path
from pliant.rods.solution import Centreline, Linearisation, Solution, Stability

__all__ = [
    "ACCURACIES",
    "BRANCHES",
    "BaseJoint",
    "Centreline",
    "ContinuumParallelRobot",
    "DistalJoint",
    "Equilibrium",
    "GivenStiffness",
    "Identification",
    "Limb",
    "Linearisation",
    "Measurement",
    "NoEquilibrium",
    "Path",
    "Plate",
    "Rectangular",
    "RobotDescription",
    "Rod",
    "Round",
    "Solution",
    "Stability",
    "Workspace",
    "WrenchEstimate",
    "catalogue",
    "load_description",
    "load_robot",
]

"""Cosserat rods and continuum parallel robots: statics, stability, sensitivities. Sees no engine."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "ACCURACIES": "pliant.rods.accuracy",
    "BRANCHES": "pliant.rods.branches",
    "BaseJoint": "pliant.rods.description",
    "Centreline": "pliant.rods.solution",
    "ContinuumParallelRobot": "pliant.rods.robot",
    "DistalJoint": "pliant.rods.description",
    "Equilibrium": "pliant.rods.branches",
    "GivenStiffness": "pliant.rods.description",
    "Identification": "pliant.rods.analysis",
    "Limb": "pliant.rods.description",
    "Linearisation": "pliant.rods.linearisation",
    "Measurement": "pliant.rods.analysis",
    "NoEquilibrium": "pliant.rods.no_equilibrium",
    "Path": "pliant.rods.path",
    "Plate": "pliant.rods.description",
    "Rectangular": "pliant.rods.description",
    "RobotDescription": "pliant.rods.description",
    "Rod": "pliant.rods.description",
    "Round": "pliant.rods.description",
    "Solution": "pliant.rods.solution",
    "Stability": "pliant.rods.stability",
    "Workspace": "pliant.rods.analysis",
    "WrenchEstimate": "pliant.rods.analysis",
    "catalogue": "pliant.rods.loaders",
    "load_description": "pliant.rods.loaders",
    "load_robot": "pliant.rods.loaders",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)

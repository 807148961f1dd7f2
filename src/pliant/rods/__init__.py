"""Cosserat rods and continuum parallel robots: statics, stability, sensitivities. Sees no engine, but for
what puts a rod into a robot's model."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "ACCURACIES": "pliant.rods.accuracy",
    "BRANCHES": "pliant.rods.branches",
    "BaseJoint": "pliant.rods.description",
    "Centreline": "pliant.rods.solution",
    "ContinuumParallelRobot": "pliant.rods.robot",
    "DistalJoint": "pliant.rods.description",
    "DistributedLoad": "pliant.rods.between.loads",
    "Equilibrium": "pliant.rods.branches",
    "GivenStiffness": "pliant.rods.description",
    "Identification": "pliant.rods.analysis",
    "Limb": "pliant.rods.description",
    "Linearisation": "pliant.rods.linearisation",
    "Measurement": "pliant.rods.analysis",
    "NoEquilibrium": "pliant.rods.no_equilibrium",
    "Path": "pliant.rods.path",
    "Plate": "pliant.rods.description",
    "PointLoad": "pliant.rods.between.loads",
    "Rectangular": "pliant.rods.description",
    "RobotDescription": "pliant.rods.description",
    "Rod": "pliant.rods.description",
    "RodBetween": "pliant.rods.model.rod_between",
    "RodEquilibrium": "pliant.rods.between.statics",
    "Round": "pliant.rods.description",
    "Solution": "pliant.rods.solution",
    "Stability": "pliant.rods.stability",
    "Workspace": "pliant.rods.analysis",
    "WrenchEstimate": "pliant.rods.analysis",
    "attach_rod": "pliant.rods.model.rod_between",
    "catalogue": "pliant.rods.loaders",
    "critical_load": "pliant.rods.load_limit",
    "joint_faults": "pliant.rods.verification",
    "load_description": "pliant.rods.loaders",
    "load_robot": "pliant.rods.loaders",
    "load_until_unstable": "pliant.rods.load_limit",
    "plate_imbalance": "pliant.rods.verification",
    "round_trip": "pliant.rods.verification",
    "solve_batch": "pliant.rods.batch",
    "solve_rod": "pliant.rods.between.statics",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)

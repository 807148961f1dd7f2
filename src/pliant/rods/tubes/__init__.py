"""Concentric-tube robots: statics of precurved tubes in each other, with torsion, loads, stability and snapping."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "ConcentricTubes": "pliant.rods.tubes.robot",
    "NoTubeEquilibrium": "pliant.rods.tubes.robot",
    "Tube": "pliant.rods.tubes.description",
    "TubeSolution": "pliant.rods.tubes.robot",
    "TubesDescription": "pliant.rods.tubes.description",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)

"""Concentric-tube robots: statics of precurved tubes in each other, with torsion, loads, stability and snapping."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "ConcentricTubes": "pliant.tubes.robot",
    "NoTubeEquilibrium": "pliant.tubes.robot",
    "Tube": "pliant.tubes.description",
    "TubeSolution": "pliant.tubes.robot",
    "TubesDescription": "pliant.tubes.description",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)

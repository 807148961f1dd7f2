"""How exactly the statics of a robot are solved."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.base.errors import ModelError, nearest


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """How finely the rods are integrated."""

    steps: int
    """Steps of the eighth-order formula a rod, at least; doubled while the check below fails."""
    tolerance: float
    """Largest change of the scaled residual (metres for positions) when the number of steps is doubled."""


# Against a reference with 400 steps: errors of joint values below 1e-5 m and 1e-6 m.
ACCURACIES = {
    "fast": Accuracy(steps=2, tolerance=1e-5),
    "accurate": Accuracy(steps=4, tolerance=1e-6),
}
TOLERANCE = 1e-8
"""Largest scaled residual of a solution."""
MAX_STEPS = 128
"""Steps a rod beyond which nothing is refined."""
FINEST = 100.0
"""Factor of the tolerance at `MAX_STEPS`: a rod whose own curvature has a kink is integrated with a lower order, and
leaves 2.5 times the tolerance there, for example."""


def accuracy_named(name: str) -> Accuracy:
    """Return an accuracy by its name.

    Raises:
        ModelError: there is none of this name.
    """
    if name not in ACCURACIES:
        raise ModelError(f"accuracy {name!r} is not known; {nearest(name, ACCURACIES)}", field="accuracy")
    return ACCURACIES[name]

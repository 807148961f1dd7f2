"""Films of parallel robots that go through equilibria."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pliant.papers.films import Film, Shot
from pliant.rods.solution import Solution

__all__ = ["film_of_paths"]


def film_of_paths(
    paths: Mapping[str, Sequence[Solution]], *, rows: int = 101, seconds: float = 4.0, **about: Any
) -> Film:
    """Return a film of robots that go through equilibria, side by side.

    Args:
        paths: title -> equilibria of one robot.
        rows: poses of the film; paths with fewer equilibria show each longer.
        seconds: length of the film [s].
        about: further fields of `pliant.papers.films.Film`.
    """
    from pliant.rods.model import draw_solutions

    shots = []
    for title, path in paths.items():
        chosen = np.linspace(0, len(path) - 1, rows).round().astype(int)
        used = sorted(set(chosen.tolist()))
        model, poses = draw_solutions([path[k] for k in used])
        shots.append(Shot(title=title, model=model, poses=poses[np.searchsorted(used, chosen)]))
    return Film(time=np.linspace(0.0, seconds, rows), shots=shots, clock=False, **about)

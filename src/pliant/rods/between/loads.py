"""Loads on a rod beside its weight: at a point, or along a part of it; dead or turning with the section."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.base.errors import ModelError
from pliant.base.numerics import Array
from pliant.rods.checks import vector


def _place(owner: str, name: str, value: object, low: float, high: float) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise ModelError(
            f"{owner}: {name} is {value!r}; must be from {low:g} to {high:g}, a fraction of the rod's length",
            field=name,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PointLoad:
    """A force and a moment at one point of a rod."""

    at: float
    """Where it acts, a fraction of the rest length: 0 at body A, 1 at body B."""
    force: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """[N], in world axes, or with ``follower`` in the axes (d1, d2, d3) of the section."""
    moment: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """[N m], in the same axes."""
    follower: bool = False
    """Whether it turns with the section."""

    def __post_init__(self) -> None:
        _place("point load", "at", self.at, 0.0, 1.0)
        vector("point load", "force", self.force)
        vector("point load", "moment", self.moment)


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributedLoad:
    """A constant force and moment per rest length on a part of a rod."""

    force: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """[N/m], in world axes, or with ``follower`` in the axes (d1, d2, d3) of the section."""
    moment: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """[N], in the same axes."""
    begin: float = 0.0
    """Where it begins, a fraction of the rest length."""
    end: float = 1.0
    """Where it ends, > begin."""
    follower: bool = False
    """Whether it turns with the section."""

    def __post_init__(self) -> None:
        _place("distributed load", "begin", self.begin, 0.0, 1.0)
        _place("distributed load", "end", self.end, 0.0, 1.0)
        if self.end <= self.begin:
            raise ModelError(
                f"distributed load: it ends at {self.end:g} and begins at {self.begin:g}; the end must be after the "
                "begin",
                field="end",
            )
        vector("distributed load", "force", self.force)
        vector("distributed load", "moment", self.moment)


Load = PointLoad | DistributedLoad


def distributed(loads: Sequence[Load], s: Array, middle: Array) -> tuple[Array, Array, Array, Array]:
    """Return the sum of distributed loads at points of a rod, as `pliant.rods.segments.Segments` takes it.

    Args:
        loads: the loads; point loads are passed over.
        s: the points, shape (k,).
        middle: for each point the middle of its segment, which tells on which side of an end it is, shape (k,).
    """
    out = tuple(np.zeros((len(s), 3)) for _ in range(4))
    for load in loads:
        if isinstance(load, DistributedLoad):
            inside = (middle > load.begin) & (middle < load.end)
            first = 2 if load.follower else 0
            out[first][inside] += load.force
            out[first + 1][inside] += load.moment
    return out

"""Arrays of a tendon-driven robot as its compiled kernels read them.

A backbone is a chain of steps; each step has two Gauss points. Strains (u1, u2, u3, v1, v2, v3) [rad/m, -] in axes of
the cross-section are polynomials on elements, which are groups of steps. A node is the end of a step; node 0 is the
base.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.base.numerics import Array

Ints = NDArray[np.int64]


class Chain(NamedTuple):
    """Geometry, stiffness and routing; K steps, E elements, V intervals between disks, n unknowns, L links."""

    length: Array
    """Length of each step [m], shape (K,)."""
    element: Ints
    """First step, step after the last, first unknown, number of unknowns of each element, shape (E, 4)."""
    interval: Ints
    """First step, step after the last, element of each interval between disks, shape (V, 3)."""
    basis: Array
    """Strain by unknown at both Gauss points of each step, shape (K, 2, 6, m)."""
    rest: Array
    """Strain of the unloaded rod at the Gauss points, shape (K, 2, 6)."""
    stiffness: Array
    """E I1, E I2, G J [N m^2], G A, G A, E A [N] at the Gauss points, shape (K, 2, 6)."""
    mass: Array
    """Lumped masses [kg], shape (M,)."""
    mass_node: Ints
    """Node of each mass, shape (M,)."""
    mass_offset: Array
    """Their places in axes of the node [m], shape (M, 3)."""
    tendon: Ints
    """First link and link after the last of each tendon, from the base outwards, shape (N, 2)."""
    link: Ints
    """Interval, step and Gauss point of each link, shape (L, 3); step -1: a chord across the interval."""
    hole: Array
    """Chord: holes in axes of both disks; curve: place and its derivative by arc length, shape (L, 2, 3) [m]."""
    base_rotation: Array
    """Axes of the base, shape (3, 3)."""
    base_position: Array
    """Place of the base [m], shape (3,)."""


class Loads(NamedTuple):
    """Loads of the nodes."""

    gravity: Array
    """[m/s^2], shape (3,)."""
    dead: Array
    """Moment and force at each node in fixed axes [N m, N], shape (K + 1, 6)."""
    follower: Array
    """Moment and force at each node in its axes [N m, N], shape (K + 1, 6)."""


class Memory(NamedTuple):
    """Friction of each link's proximal end: state of the last equilibrium, and the law."""

    state: Array
    """Share of the capstan limit in [-1, 1]; 1 where the tendon last slid towards the base, shape (L,)."""
    distal: Array
    """Path length beyond the hole in the last equilibrium [m], shape (L,)."""
    friction: Array
    """Coefficient of friction of each tendon, >= 0, shape (N,)."""
    presliding: Array
    """Slide over which friction builds up [m], > 0, shape (N,)."""
    guide: Array
    """Turning angle between spool and base plate [rad], >= 0, shape (N,)."""


class Work(NamedTuple):
    """Results and scratch of one evaluation."""

    rotation: Array
    position: Array
    omega: Array
    slope: Array
    twist: Array
    wrench: Array
    change: Array
    link_length: Array
    link_gradient: Array
    link_direction: Array
    angle: Array
    weight: Array
    slip: Array
    force: Array
    hessian: Array
    column: Array
    row: Array
    path: Array
    stretch: Array


class Scratch(NamedTuple):
    """Arrays of `kernels._within_step`."""

    p: Array
    q: Array
    phi: Array
    dp: Array
    dq: Array
    dphi: Array
    M: Array
    left: Array


def no_loads(chain: Chain) -> Loads:
    """Return loads of zero, without gravity."""
    nodes = len(chain.length) + 1
    return Loads(np.zeros(3), np.zeros((nodes, 6)), np.zeros((nodes, 6)))


def make_work(chain: Chain) -> Work:
    """Return arrays for `kernels.assemble`."""
    K, m = len(chain.length), chain.basis.shape[3]
    n, L, N = int(chain.element[:, 3].sum()), len(chain.link), len(chain.tendon)
    z = np.zeros
    return Work(
        rotation=z((K + 1, 3, 3)), position=z((K + 1, 3)), omega=z((K, 6)), slope=z((K, 6, m)),
        twist=z((K, 6, m)), wrench=z((K + 1, 6)),
        change=z((K + 1, 6, 6)), link_length=z(L), link_gradient=z((L, m)), link_direction=z((L, 3)), angle=z(L),
        weight=z(L), slip=z(L), force=z(n), hessian=z((n, n)), column=z((n, N)), row=z((N, n)), path=z(N),
        stretch=z(N),
    )  # fmt: skip

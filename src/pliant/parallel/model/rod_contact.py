"""Contact between the rods of different limbs: who meets whom, and which pairs are left out because they overlap."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from pliant.base.numerics import Array
from pliant.parallel.model.assembly import Assembly
from pliant.rods.model.shapes import RodShape

FIRST_LIMB_BIT = 2  # bit 0 of a contact type is that of objects, bit 1 that of rods and plate
MAX_TOUCHING_LIMBS = 28
"""Limbs that have a contact bit of their own; MuJoCo has 31 bits."""


def add_rod_contact(out: Assembly) -> None:
    """Let the rods of different limbs meet each other, and leave out what overlaps at the start.

    Rod i has contact type bit i and the affinity of the rods before it, so rods of different limbs meet and a rod does
    not meet itself. Two segments that overlap at the start, such as those at a plate joint of two limbs, and their
    neighbours are excluded; of a flex, which MuJoCo cannot exclude segment by segment, the pair of rods.
    """
    if not (out.options.contact and out.options.rod_contact):
        return
    d = out.description
    if d.planar:
        out.notes.append("the rods of a planar robot lie in layers: they do not touch each other")
        return
    if len(d.limbs) > MAX_TOUCHING_LIMBS:
        out.notes.append(f"of {len(d.limbs)} limbs, only the rods of the first {MAX_TOUCHING_LIMBS} touch each other")
    rods = out.rods[:MAX_TOUCHING_LIMBS]
    for i, rod in enumerate(rods):
        meets = 0
        for j, other in enumerate(rods[:i]):
            gaps = segment_distances(rod.points, other.points) - rod.radius - other.radius
            overlap = np.argwhere(gaps <= 0.0)
            whole = len(overlap) > 0 and not (rod.bodies and other.bodies)
            if not whole:
                meets |= 1 << (FIRST_LIMB_BIT + j)
                _exclude(out, rod, other, overlap)
            if len(overlap):
                what = "they do" if whole else "these parts and their neighbours do"
                out.notes.append(
                    f"the rods of {d.limb_name(j)} and {d.limb_name(i)} overlap by {-1e3 * gaps.min():.2g} mm at the "
                    f"start: {what} not touch each other"
                )
        for shape in rod.shapes:
            shape.contype |= 1 << (FIRST_LIMB_BIT + i)
            shape.conaffinity |= meets


def _exclude(out: Assembly, one: RodShape, other: RodShape, overlap: NDArray[np.int64]) -> None:
    pairs = {
        pair
        for k, m in overlap
        for a in one.bodies[max(k - 1, 0) : k + 2]
        for b in other.bodies[max(m - 1, 0) : m + 2]
        for pair in itertools.product(a, b)
    }
    for a, b in sorted(pairs):
        out.spec.add_exclude(name=f"{a}|{b}", bodyname1=a, bodyname2=b)


def segment_distances(one: Array, other: Array) -> Array:
    """Return the distances between the segments of two polylines.

    Args:
        one: points, shape (n + 1, 3) [m].
        other: points, shape (m + 1, 3) [m].

    Returns:
        Distances, shape (n, m) [m].
    """
    a, b = one[:-1, None], one[1:, None]
    c, d = other[None, :-1], other[None, 1:]
    u, v, w = b - a, d - c, a - c
    uu, vv, uv = (u * u).sum(-1), (v * v).sum(-1), (u * v).sum(-1)
    uw, vw = (u * w).sum(-1), (v * w).sum(-1)
    tiny = 1e-300
    # The nearest points of the two lines, then each clamped to its segment given the other.
    bent = uu * vv - uv**2
    s = np.where(bent > 1e-12 * uu * vv, np.clip((uv * vw - vv * uw) / np.maximum(bent, tiny), 0.0, 1.0), 0.0)
    t = np.clip((uv * s + vw) / np.maximum(vv, tiny), 0.0, 1.0)
    s = np.clip((uv * t - uw) / np.maximum(uu, tiny), 0.0, 1.0)
    return np.linalg.norm(w + s[..., None] * u - t[..., None] * v, axis=-1)

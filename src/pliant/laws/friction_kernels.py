"""Friction of motors, links and springs: scalar functions of the compiled step (see `pliant.laws.kernels`)."""

from __future__ import annotations

import math

from pliant.laws import layout as at

TINY = 1.0e-12
"""Keeps a friction level of 0 out of a division [N m]."""


def slide(position, anchor, z_max):
    """Return the friction anchor that keeps |position - anchor| <= z_max (Hayward and Armstrong 2000)."""
    if position - anchor < -z_max:
        return position + z_max
    if position - anchor > z_max:
        return position - z_max
    return anchor


def friction_level(par, f, load, preset):
    """Return the Coulomb level of a friction block at ``f``."""
    return par[f + at.F_LEVEL] + par[f + at.F_LOAD] * abs(load) + par[f + at.F_PRESET] * abs(preset)


def bristle_torque(par, f, x, v, w, slip):
    """Return the friction against the motion of a friction block: ``w`` is the anchor after the step, ``slip`` its
    rate in the step."""
    return par[f + at.F_STIFFNESS] * (x - w) + par[f + at.F_BRISTLE_DAMPING] * (v - slip)


def friction_step(par, f, x, v, w, level, h):
    """Return the anchor of a friction block after a step, and the friction against the motion in the step.

    ``x`` and ``v`` are the position and the velocity, ``w`` is the anchor, ``level`` the Coulomb level.
    """
    k = par[f + at.F_STIFFNESS]
    before = w
    if par[f + at.F_STRIBECK_VELOCITY] > 0.0:  # LuGre: dw/dt = K |v| (x - w) / g(v), implicit in w
        s = v / par[f + at.F_STRIBECK_VELOCITY]
        a = h * k * abs(v) / max(level + par[f + at.F_BREAKAWAY] * math.exp(-s * s), TINY)
        w = w + (x - w) * a / (1.0 + a)
    elif abs(k * (x - w)) > level:  # the division only where the bristle slides
        w = slide(x, w, level / k)
    slip = 0.0
    if par[f + at.F_BRISTLE_DAMPING] > 0.0:
        slip = (w - before) / h
    return w, bristle_torque(par, f, x, v, w, slip)

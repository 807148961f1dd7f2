"""Compensation of the deflection of the spring: where the equilibrium must be for the link to be where it should.

A compliant joint that carries a torque tau rests at q with its equilibrium ahead of it. Mengacci 2021, section 4.2.3,
adds this deflection to the command:

    theta_eq = q_d + deflection(tau),    torque of the law at (q_d, theta_eq, preset) = tau

Sign: tau is what the actuator puts on the link. In M q'' + C q' + G = tau a joint at rest needs tau = G(q_d), so a
positive G asks for an equilibrium above q_d.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.errors import LawError
from pliant.base.numerics import Array
from pliant.laws import SEA, Law, QbMove

MAX_PRESSURE = 6.0e5
"""Largest mean pressure of muscles that is looked at [Pa]."""


def qbmove_deflection(torque: ArrayLike, k: float, a: float, preset: ArrayLike = 0.0) -> Array:
    """Return theta_eq - q of a qbMove with equal springs that carries a torque.

        theta_eq - q = asinh(torque / (2 k cosh(a preset))) / a

    Valid while neither spring is at its clip: |theta_eq - q| <= max_deflection - |preset|.

    Args:
        torque: torque on the link, any shape [N m].
        k: torque scale of each spring [N m].
        a: shape of each spring [1/rad].
        preset: stiffness preset [rad].
    """
    return np.arcsinh(np.asarray(torque, dtype=float) / (2.0 * k * np.cosh(a * np.asarray(preset, dtype=float)))) / a


def torque_range(law: Law, preset: float = 0.0, q: float = 0.0) -> tuple[float, float]:
    """Return the least and the largest torque that a law can put on the link at a preset [N m].

    Of muscles it depends on the angle q of the link [rad]; of other laws it does not.

    With ``clip="stop"`` the end stop counts: the range is then infinite. A law without ``max_deflection`` is taken
    over deflections of pi on both sides.
    """
    if law.stop > 0.0:
        return -math.inf, math.inf
    reach = _reach(law, preset)
    p = law.parameters()
    # The torque rises with the equilibrium up to the clip and rests there; a grid also catches laws that fall again.
    torques = [_torque(law, p, x, preset, q) for x in np.linspace(-reach, reach, 401)]
    return min(torques), max(torques)


def equilibrium_for_torque(law: Law, q: ArrayLike, torque: ArrayLike, preset: ArrayLike = 0.0) -> float | Array:
    """Return the equilibrium position at which a law puts a torque on the link at q.

    Closed form for a SEA and for a qbMove with equal springs inside their clips; else by bisection of the law's own
    torque.

    Args:
        law: any law with a reference map.
        q: link position [rad].
        torque: wanted torque on the link, positive along q [N m].
        preset: stiffness preset [rad], or lever position [m]. The three broadcast.

    Returns:
        theta_eq [rad], a float where all inputs are numbers. Where a spring is clipped several equilibria give the
        same torque; the nearest to q is returned.

    Raises:
        LawError: the spring cannot give the torque, or an input is not finite.

    Example:
        >>> equilibrium_for_torque(SEA(k=200), 0.5, 1.0)
        0.505
    """
    q_, tau_, p_ = np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in (q, torque, preset)))
    for name, array in (("q", q_), ("torque", tau_), ("preset", p_)):
        if not np.all(np.isfinite(array)):
            raise LawError(f"equilibrium_for_torque: {name} is {array}; must be finite numbers", field=name)
    phi = np.empty(q_.shape)
    for index in np.ndindex(q_.shape):
        phi[index] = _deflection(law, float(tau_[index]), float(p_[index]), float(q_[index]))
    out = q_ + phi
    return float(out) if out.ndim == 0 else out


def preset_for_stiffness(law: Law, stiffness: float) -> float:
    """Return the preset at which the unloaded joint has a stiffness.

    It is sought from 0 to the clip, to 0.9 of a lever's length, or to 600 kPa of muscles.

    Args:
        law: a law with a preset.
        stiffness: wanted stiffness at zero deflection [N m/rad].

    Raises:
        LawError: the law has no preset, or the stiffness is outside what it can reach.
    """
    if law.second_input == "none":
        raise LawError(f"preset_for_stiffness: {law.label} has no preset", field="law")
    low, high = 0.0, float(getattr(law, "max_deflection", 1))
    if law.second_input != "angle":
        high = 0.9 * getattr(law, "L", 0.05) if law.second_input == "lever" else MAX_PRESSURE
    p = law.parameters()

    def excess(preset: float) -> float:
        ref_1, ref_2 = law.map_references(0.0, preset)
        return float(type(law).stiffness(0.0, ref_1, ref_2, p)) - stiffness

    if not excess(low) <= 0.0 <= excess(high):
        raise LawError(
            f"preset_for_stiffness: {law.label} has {excess(low) + stiffness:.4g} to {excess(high) + stiffness:.4g} "
            f"N m/rad for presets of {low:g} to {high:g}; asked for {stiffness:.4g}",
            field="stiffness",
        )
    return _crossing(excess, low, high)


class GravityCompensation:
    """Turns desired joint positions into equilibrium commands that hold them against a joint torque.

    Args:
        laws: one law per joint.
        gravity: q, shape (n,) -> torque that the joints must give at rest there, shape (n,) [N m].

    Example:
        >>> compensate = GravityCompensation([QbMove()] * 2, gravity)
        >>> reference_1 = compensate(q_desired, preset=0.2)
    """

    def __init__(self, laws: Sequence[Law], gravity: Callable[[Array], ArrayLike]) -> None:
        self.laws = tuple(laws)
        self.gravity = gravity
        for i, law in enumerate(self.laws):
            if not isinstance(law, Law):
                raise LawError(f"GravityCompensation: laws[{i}] is {law!r}; must be a Law", field="laws")

    def __call__(self, q: ArrayLike, preset: ArrayLike = 0.0, torque: ArrayLike = 0.0) -> Array:
        """Return theta_eq of each joint, shape (n,) [rad].

        Args:
            q: desired joint positions, shape (n,) [rad].
            preset: stiffness preset, number or shape (n,).
            torque: torque on top of gravity, for instance J^T f of a wanted contact force, shape (n,) [N m].

        Raises:
            LawError: shapes that do not fit, or a spring that cannot carry its load; the message names the joint.
        """
        n = len(self.laws)
        q_ = np.asarray(q, dtype=float)
        if q_.shape != (n,):
            raise LawError(f"GravityCompensation: q has shape {q_.shape}; must be ({n},)", field="q")
        tau = np.asarray(self.gravity(q_), dtype=float) + np.asarray(torque, dtype=float)
        if tau.shape != (n,):
            raise LawError(f"GravityCompensation: the torque has shape {tau.shape}; must be ({n},)", field="gravity")
        presets = np.broadcast_to(np.asarray(preset, dtype=float), (n,))
        out = np.empty(n)
        for i, law in enumerate(self.laws):
            try:
                out[i] = equilibrium_for_torque(law, q_[i], tau[i], presets[i])
            except LawError as error:
                raise LawError(f"joint {i + 1} of {n}: {error.message}", field=error.field) from None
        return out


def _torque(law: Law, p: Array, phi: float, preset: float, q: float) -> float:
    """Return the torque on the link at q with the equilibrium q + phi; only that of muscles depends on q."""
    at = q if law.second_input == "pressure" else 0.0
    ref_1, ref_2 = type(law).references(at + phi, preset, p)
    return float(type(law).torques(at, ref_1, ref_2, p)[0])


def _crossing(excess: Callable[[float], float], below: float, above: float) -> float:
    """Return, to the last bit, where a function that is negative at one place and not at the other changes its sign."""
    while (middle := 0.5 * (below + above)) not in (below, above):
        if excess(middle) < 0.0:
            below = middle
        else:
            above = middle
    return above


def _reach(law: Law, preset: float) -> float:
    """Return a deflection beyond which the torque of a law with a flat clip no longer changes [rad]."""
    limit = getattr(law, "max_deflection", None)
    if limit is None:
        return math.pi
    if law.second_input == "pressure":
        return 2.0 * float(limit)
    return float(limit) + (abs(preset) if law.second_input == "angle" else 0.0)


def _deflection(law: Law, torque: float, preset: float, q: float) -> float:
    """Return theta_eq - q."""
    if isinstance(law, SEA) and law.k > 0.0 and abs(torque) <= law.k * law.max_deflection:
        return torque / law.k
    if isinstance(law, QbMove) and law.k1 == law.k2 > 0.0 and law.a1 == law.a2:
        phi = float(qbmove_deflection(torque, law.k1, law.a1, preset))
        if abs(phi) + abs(preset) <= law.max_deflection:
            return phi
    p = law.parameters()
    start = _torque(law, p, 0.0, preset, q)
    if torque == start:
        return 0.0
    side = 1.0 if torque > start else -1.0
    # Walk outwards until the torque is bracketed: near q first, so that the nearest solution is found.
    reach = _reach(law, preset)
    steps = 200
    inner, outer = 0.0, None
    for i in range(1, steps + 1):
        x = side * reach * i / steps
        if side * (_torque(law, p, x, preset, q) - torque) >= 0.0:
            outer = x
            break
        inner = x
    if outer is None and law.stop > 0.0:
        x = side * reach
        for _ in range(60):
            x *= 1.5
            if side * (_torque(law, p, x, preset, q) - torque) >= 0.0:
                outer = x
                break
            inner = x
    if outer is None:
        low, high = torque_range(law, preset, q)
        raise LawError(
            f"{law.label}: the joint has to give {torque:.4g} N m, its spring gives {low:.4g} to {high:.4g} N m at "
            f"preset {preset:g}; reduce the load or increase the preset",
            field="torque",
        )
    return _crossing(lambda x: side * (_torque(law, p, x, preset, q) - torque), inner, outer)

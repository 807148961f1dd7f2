"""The divergent component of motion (DCM) of the linear inverted pendulum, for one horizontal axis.

With centre of mass c at constant height z over the centre of pressure p and omega = sqrt(g / z), the point
xi = c + c' / omega obeys xi' = omega (xi - p), whatever c does: it runs away from the centre of pressure, and c follows
it. So the gait is planned and stabilised in xi alone.

Sources: Englsberger, Ott and Albu-Schaeffer, "Three-dimensional bipedal walking control based on divergent component of
motion", T-RO 31(2), 2015 (reference by backward recursion, feedback); Khadiv, Herzog, Moosavian and Righetti, "Walking
control based on step timing adaptation", T-RO 36(3), 2020 (step adjustment by the offset of the DCM from the foothold).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

Segment = tuple[float, float, float]
"""Duration [s], centre of pressure at its start and at its end [m]; linear between."""


def reference(segments: Sequence[Segment], omega: float, end: float | None = None) -> float:
    """Return the DCM at the start of a plan of centres of pressure.

    Backward in time: for p(t) = p_0 + v t the bounded part of the solution is p(t) + v / omega, and the rest shrinks by
    exp(-omega t) on the way back.

    Args:
        segments: of the plan.
        omega: of the pendulum [1/s].
        end: the DCM at its end [m]; None for a robot that then stays over the last centre of pressure.
    """
    xi = segments[-1][2] if end is None else end
    for duration, first, last in reversed(segments):
        if duration > 0.0:
            slope = (last - first) / (duration * omega)
            xi = first + slope + (xi - last - slope) * math.exp(-omega * duration)
    return xi


def feedback(xi: float, xi_ref: float, p_ref: float, omega: float, rate: float) -> float:
    """Return the centre of pressure that lets the error of the DCM decay: e' = -rate e.

    p = p_ref + (1 + rate / omega) (xi - xi_ref), from xi' = omega (xi - p) for both.
    """
    return p_ref + (1.0 + rate / omega) * (xi - xi_ref)


def correcting_offset(error: float, omega: float, duration: float) -> float:
    """Return the constant shift of the centre of pressure that ends an error of the DCM within a time.

    e(T) = e exp(omega T) - d (exp(omega T) - 1) = 0 gives d = e / (1 - exp(-omega T)).
    """
    return error / -math.expm1(-omega * duration)


def unreachable_error(error: float, low: float, high: float, omega: float, duration: float) -> float:
    """Return what is left of an error of the DCM after a time, with the best constant shift of the centre of pressure.

    Args:
        error: of the DCM now [m].
        low: least shift of the centre of pressure that the foot allows [m].
        high: largest one [m].
        omega: of the pendulum [1/s].
        duration: until the next foot takes over [s].
    """
    grown = math.exp(omega * duration)
    shift = min(max(correcting_offset(error, omega, duration), low), high) if duration > 1e-9 else 0.0
    return error * grown - shift * (grown - 1.0)

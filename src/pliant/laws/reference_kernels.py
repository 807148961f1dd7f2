"""References on their way to the motors: delay, slew limit, quantisation (see `pliant.laws.kernels`)."""

from __future__ import annotations

import math

from pliant.laws import layout as at


def delayed_references(par, r1, r2, act):
    """Return the references that arrive after the delay of the bus."""
    n = int(par[at.P_DELAY])
    if n > 0:
        a = int(par[at.A_DELAY])
        i = int(act[a] + 0.5)
        r1 = act[a + 1 + i]
        r2 = act[a + 1 + n + i]
    return r1, r2


def slewed(reference, before, rate, h):
    """Return a reference that moves by at most ``rate`` from where it was one step ``before``; 0: without limit."""
    if rate == 0.0:
        return reference
    return before + min(max(reference - before, -h * rate), h * rate)


def effective_references(par, r1, r2, h, act):
    """Return the references after delay, slew limit and quantisation."""
    r1, r2 = delayed_references(par, r1, r2, act)
    s = int(par[at.A_SLEW])
    if s >= 0:
        r1 = slewed(r1, act[s], par[at.P_SLEW_1], h)
        r2 = slewed(r2, act[s + 1], par[at.P_SLEW_2], h)
    if par[at.P_RESOLUTION_1] > 0.0:
        r1 = par[at.P_RESOLUTION_1] * math.floor(r1 / par[at.P_RESOLUTION_1] + 0.5)
    if par[at.P_RESOLUTION_2] > 0.0:
        r2 = par[at.P_RESOLUTION_2] * math.floor(r2 / par[at.P_RESOLUTION_2] + 0.5)
    return r1, r2


def rest_references(par, r1, r2, act):
    """Write the states of the delay line and of the slew limit of references that have long been the same."""
    s = int(par[at.A_SLEW])
    if s >= 0:
        act[s] = r1
        act[s + 1] = r2
    n = int(par[at.P_DELAY])
    for k in range(n):
        act[int(par[at.A_DELAY]) + 1 + k] = r1
        act[int(par[at.A_DELAY]) + 1 + n + k] = r2


def preset_of(par, theta_1, theta_2):
    """Return the stiffness preset of two motor positions."""
    if par[at.P_SECOND] == 1.0:
        return 0.5 * (theta_1 - theta_2)
    if par[at.P_SECOND] == 2.0:
        return theta_2
    return 0.0


def advance_references(par, r1, r2, h, act, rate):
    """Write the rates of the delay line and of the slew limit."""
    per = 1.0 / h
    s = int(par[at.A_SLEW])
    if s >= 0:
        late_1, late_2 = delayed_references(par, r1, r2, act)
        rate[s] = (slewed(late_1, act[s], par[at.P_SLEW_1], h) - act[s]) * per
        rate[s + 1] = (slewed(late_2, act[s + 1], par[at.P_SLEW_2], h) - act[s + 1]) * per
    n = int(par[at.P_DELAY])
    if n > 0:
        a = int(par[at.A_DELAY])
        for k in range(2 * n + 1):
            rate[a + k] = 0.0
        i = int(act[a] + 0.5)
        after = i + 1 if i + 1 < n else 0
        rate[a] = (after - act[a]) * per
        rate[a + 1 + i] = (r1 - act[a + 1 + i]) * per
        rate[a + 1 + n + i] = (r2 - act[a + 1 + n + i]) * per

"""Simulate an actuator together with the link that it moves: a load on the axis of the joint, under gravity."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pliant.base.numerics import Array
from pliant.identification.parameters import Load
from pliant.laws import layout
from pliant.laws.actuator import ActuatorTraces, CompliantActuator
from pliant.laws.compile import compiled

__all__ = ["simulate_with_load"]


def simulate_with_load(
    actuator: CompliantActuator,
    load: Load,
    begin: tuple[float, float],
    references: tuple[Array, Array],
    external_torque: Array,
    step: float,
    state: NDArray[np.float64] | None,
) -> ActuatorTraces:
    """Simulate motors, spring and link, with the semi-implicit Euler method.

    Args:
        actuator: the actuator.
        load: what the link carries.
        begin: position [rad] and velocity [rad/s] of the link at first.
        references: references of the mode, each of shape (n,).
        external_torque: torque of the environment on the link, shape (n,) [N m].
        step: time step [s].
        state: state of the actuator at first; None for rest at the link's position.

    Returns:
        Traces; "link_position" and "link_velocity" are those at the end of each step.
    """
    par = actuator.pack(step)
    size, n = int(par[layout.P_STATES]), external_torque.size
    act = np.zeros(size + 1)
    act[:size] = actuator.hold(begin[0], step)[0] if state is None else state
    torque, trace = np.empty(n), np.zeros((n, layout.OBSERVATIONS + size + 1))
    link = np.empty((n, 2))
    one, two = (np.ascontiguousarray(r, dtype=float) for r in references)
    advance = compiled(type(actuator.law)).simulate
    q, dq = np.array([begin[0]]), np.array([begin[1]])
    position, velocity = begin
    for k in range(n):
        here = slice(k, k + 1)
        q[0], dq[0] = position, velocity
        advance(par, q, dq, one[here], two[here], step, act, torque[here], trace[here])
        gravity = load.gravity * math.sin(position - load.angle)
        # The damping is implicit.
        rate = (torque[k] + external_torque[k] - gravity - load.damping * velocity) / (
            load.inertia + step * load.damping
        )
        velocity += step * rate
        position += step * velocity
        if not abs(position) < 1e6:
            link[k:] = math.inf
            break
        link[k] = position, velocity
    values = {name: np.ascontiguousarray(trace[:, i]) for name, i in layout.OUT.items()}
    values |= {"link_position": link[:, 0].copy(), "link_velocity": link[:, 1].copy()}
    return ActuatorTraces(np.arange(n) * step, torque, values)

"""Natural oscillations of a dynamic model with rods, as its steps have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

__all__ = ["Mode", "simulated_modes"]

MIN_FREQUENCY = 1e-2
"""Frequency below which a motion of the model counts as none: a free motion, or one that creeps [Hz]."""
MAX_RATIO = 0.99
"""Damping ratio beyond which a motion is no oscillation."""
DIFFERENCE = 1e-6
"""Step of the central differences [m, rad and their rates]; the map of a step is smooth at rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """A natural oscillation about an equilibrium."""

    frequency: float
    """Undamped frequency [Hz]."""
    ratio: float
    """Damping ratio of the simulation, integrator included."""
    material: float
    """Damping ratio that the material alone gives this oscillation: damping / 2 times its power in the springs of the
    rods, over its angular frequency. Of a rod without load it is pi f damping; a load changes the frequency only."""


def simulated_modes(
    model: mujoco.MjModel, data: mujoco.MjData, elastic: Sequence[str], damping: float, count: int = 6
) -> list[Mode]:
    """Return the slowest oscillations of a model about the state it rests in, slowest first.

    They are those of the map from one step to the next (`mujoco.mjd_transitionFD`), with constraints, servos and the
    integrator: an eigenvalue z of it is exp(s timestep), with the frequency |s| / (2 pi) and the ratio -Re(s) / |s|.

    Args:
        model: the compiled model.
        data: its state, at rest; not changed.
        elastic: names of the joints that are the elasticity of the rods.
        damping: time constant of their material [s].
        count: the most that are returned.
    """
    here = mujoco.MjData(model)
    mujoco.mj_copyData(here, model, data)
    nv, size = model.nv, 2 * model.nv + model.na
    A = np.zeros((size, size))
    mujoco.mjd_transitionFD(model, here, DIFFERENCE, True, A, None, None, None)
    values, vectors = np.linalg.eig(A)
    with np.errstate(divide="ignore"):
        s = np.log(values.astype(complex)) / model.opt.timestep
    stiffness = np.zeros(nv)
    for name in elastic:
        joint = model.joint(name).id
        stiffness[model.jnt_dofadr[joint]] = np.ravel(model.jnt_stiffness[joint])[0]
    mass = np.zeros((nv, nv))
    mujoco.mj_fullM(model, here, mass)
    out = []
    for k in np.argsort(np.abs(s)):
        omega = abs(s[k])
        swings = np.isfinite(omega) and s[k].imag > 0.0 and -s[k].real < MAX_RATIO * omega
        if not swings or omega < 2.0 * np.pi * MIN_FREQUENCY:
            continue
        shape = vectors[:nv, k]
        power = float((stiffness * np.abs(shape) ** 2).sum() / np.real(shape.conj() @ mass @ shape))
        out.append(
            Mode(
                frequency=float(omega / (2.0 * np.pi)), ratio=float(-s[k].real / omega),
                material=0.5 * damping * power / float(omega),
            )
        )  # fmt: skip
        if len(out) == count:
            break
    return out

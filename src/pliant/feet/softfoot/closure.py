"""Compliance of the closure between frontal arch and metatarsus, as parameters of MuJoCo's soft constraints.

A row of a constraint has the residual r, the impedance d(r) and the approximate inverse inertia A (the sum of the two
bodies' ``body_invweight0``). With the time constant t and damping ratio 1 MuJoCo gives it at rest the force

    F = d(r)^2 / ((1 - d(r)) A d_max^2 t^2) r

Above the width of the impedance, d = d_max and the compliance is C = r/F = (1 - d_max) A t^2. So the stiffness of the
released foot depends on masses, armatures, number of chains and what the foot is mounted on, all through A. Here t is
chosen for a compliance that is given: t = sqrt(C / ((1 - d_max) A)). The force is then a function of r alone, whatever
the time step, the number of chains and the robot; what changes A must be followed by `fit_closure`.

MuJoCo refuses time constants below two steps and silently replaces them, which bounds the compliance from below:
C >= (1 - d_max) A (2 dt)^2.

Sources: MuJoCo documentation, "Solver parameters"; compared in the tests with MuJoCo's ``efc_R`` and with the
deflection under a force.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pliant.base.errors import ModelError
from pliant.feet.softfoot.parameters import CHAINS, CLOSURE_SOLIMP

if TYPE_CHECKING:
    import mujoco

CLOSURE = "frontal_arch_to_rollover_phalanx_"
"""Name of the closures, before the number of the chain."""

_SOFTNESS = 1.0 - CLOSURE_SOLIMP[1]


def closure_time_constant(compliance: float, inverse_weight: float) -> float:
    """Return the time constant that gives one closure a compliance.

    Args:
        compliance: of this closure, for deflections above the width of the impedance [m/N].
        inverse_weight: sum of the inverse inertias of the two bodies [1/kg].

    Returns:
        Time constant for ``solref`` [s].
    """
    return math.sqrt(compliance / (_SOFTNESS * inverse_weight))


def _inverse_weights(model: mujoco.MjModel, prefix: str) -> dict[str, float]:
    """Return the approximate inverse inertia of each closure [1/kg], by name."""
    found = {}
    for i in range(model.neq):
        name = model.equality(i).name
        if name.startswith(prefix + CLOSURE):
            one, two = int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
            found[name] = float(model.body_invweight0[one, 0] + model.body_invweight0[two, 0])
    if not found:
        raise ModelError(
            f"the model has no closure of a SoftFoot: no equality is named {prefix + CLOSURE + '1'!r}; give the prefix "
            "under which the foot was attached",
            field="prefix",
        )
    return found


def closure_compliance(model: mujoco.MjModel, prefix: str = "") -> float:
    """Return the compliance of all closures of a foot in parallel, for deflections above the impedance's width [m/N].

    Args:
        model: the compiled model.
        prefix: prefix under which the foot was attached.

    Raises:
        ModelError: the model has no such foot.
    """
    stiffness = 0.0
    for name, weight in _inverse_weights(model, prefix).items():
        time_constant = max(float(model.equality(name).solref[0]), 2.0 * float(model.opt.timestep))
        stiffness += 1.0 / (_SOFTNESS * weight * time_constant**2)
    return 1.0 / stiffness


def smallest_compliance(
    model: mujoco.MjModel, timestep: float, prefix: str = "", *, share: float | None = None
) -> float:
    """Return the smallest closure compliance of a foot that a time step allows [m/N].

    Args:
        model: the compiled model.
        timestep: length of a step [s].
        prefix: prefix under which the foot was attached.
        share: compliance of one closure over that of the foot; None: the number of closures.

    Raises:
        ModelError: the model has no such foot.
    """
    weights = _inverse_weights(model, prefix)
    return _SOFTNESS * max(weights.values()) * (2.0 * timestep) ** 2 / (len(weights) if share is None else share)


def fit_closure(spec: mujoco.MjSpec, compliance: float, prefix: str = "", *, lump: bool = True) -> None:
    """Give the closures of a foot a compliance; call it again after the foot was attached or inertias were changed.

    Args:
        spec: the `mujoco.MjSpec` with the foot; its closures are changed.
        compliance: of a whole foot [m/N].
        prefix: prefix under which the foot was attached.
        lump: whether the chains stand for a whole foot; otherwise each is one of five.

    Raises:
        ModelError: the compliance is not positive, or too small for the time step; the model has no such foot.
    """
    if not compliance > 0.0 or not math.isfinite(compliance):
        raise ModelError(f"closure_compliance is {compliance:g}; must be > 0 [m/N]", field="closure_compliance")
    model = spec.copy().compile()
    weights = _inverse_weights(model, prefix)
    share = len(weights) if lump else CHAINS
    step = float(spec.option.timestep)
    bound = smallest_compliance(model, step, prefix, share=share)
    if compliance < bound * (1.0 - 1e-9):
        longest = 0.5 * min(closure_time_constant(share * compliance, weight) for weight in weights.values())
        raise ModelError(
            f"closure_compliance is {compliance:.3g} m/N; with the time step {step:g} s it must be >= {bound:.3g} m/N, "
            f"because MuJoCo softens constraints with time constants below two steps. For {compliance:.3g} m/N the "
            f"time step must be <= {longest:.3g} s",
            field="closure_compliance",
        )
    for equality in spec.equalities:
        if equality.name in weights:
            constant = closure_time_constant(share * compliance, weights[equality.name])
            equality.solref = [constant, 1.0]
            equality.solimp = list(CLOSURE_SOLIMP)

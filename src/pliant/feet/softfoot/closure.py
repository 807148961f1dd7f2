"""Compliance of the closure between frontal arch and metatarsus, as parameters of MuJoCo's soft constraints.

`pliant.feet.model.closures` has the law: above the width of the impedance a closure has the compliance
C = (1 - d_max) A t^2 with its time constant t and the approximate inverse inertia A of the bodies that it joins. So the
stiffness of the released foot depends on masses, armatures, number of chains and what the foot is mounted on, all
through A. Here t is chosen for a compliance that is given. The force is then a function of the residual alone, whatever
the time step, the number of chains and the robot; what changes A must be followed by `fit_closure`.

Sources: MuJoCo documentation, "Solver parameters"; compared in the tests with MuJoCo's ``efc_R`` and with the
deflection under a force.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pliant.base.errors import ModelError
from pliant.feet.model.closures import fit_closures, measure_closures, softness_of, write_closures
from pliant.feet.softfoot.parameters import CHAINS

if TYPE_CHECKING:
    import mujoco

CLOSURE = "frontal_arch_to_rollover_phalanx_"
"""Name of the closures, before the number of the chain."""


def _of_foot(closures: Mapping[str, float], prefix: str) -> dict[str, float]:
    """Return what there is of the closures of one foot."""
    found = {name: value for name, value in closures.items() if name.startswith(prefix + CLOSURE)}
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
    return 1.0 / sum(1.0 / compliance for compliance in _of_foot(measure_closures(model), prefix).values())


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
    softness = _of_foot(softness_of(model), prefix)
    return max(softness.values()) * (2.0 * timestep) ** 2 / (len(softness) if share is None else share)


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
    softness = _of_foot(softness_of(model), prefix)
    share = len(softness) if lump else CHAINS
    step = float(spec.option.timestep)
    bound = smallest_compliance(model, step, prefix, share=share)
    if compliance < bound * (1.0 - 1e-9):
        longest = 0.5 * math.sqrt(share * compliance / max(softness.values()))
        raise ModelError(
            f"closure_compliance is {compliance:.3g} m/N; with the time step {step:g} s it must be >= {bound:.3g} m/N, "
            f"because MuJoCo softens constraints with time constants below two steps. For {compliance:.3g} m/N the "
            f"time step must be <= {longest:.3g} s",
            field="closure_compliance",
        )
    fit_closures(model, dict.fromkeys(softness, share * compliance))
    write_closures(spec, model, softness)

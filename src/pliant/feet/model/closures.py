"""Keep the compliance of a foot's closures, whatever carries the foot.

A row of an equality constraint with the time constant t, largest impedance d_max and approximate inverse inertia A (the
sum of the two bodies' ``body_invweight0``) has at rest the compliance

    C = (1 - d_max) A t^2                                                                                  (1)

above the width of its impedance (MuJoCo documentation, "Solver parameters"). A changes with the mass of the robot that
carries the foot, and t must follow. (1) holds for the damping ratio 1; another ratio z, which stays as it is, gives z^2
times that. MuJoCo replaces time constants below two steps, so C >= (1 - d_max) A (2 dt)^2.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping

import mujoco

from pliant.base.errors import ModelError

_KINDS = (int(mujoco.mjtEq.mjEQ_CONNECT), int(mujoco.mjtEq.mjEQ_WELD))


def softness_of(model: mujoco.MjModel) -> dict[str, float]:
    """Return the compliance over the square of the time constant of every named closure, (1 - d_max) A [m/(N s^2)]."""
    found = {}
    for i in range(model.neq):
        if model.equality(i).name and int(model.eq_type[i]) in _KINDS:
            one, two = int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
            if int(model.eq_objtype[i]) == mujoco.mjtObj.mjOBJ_SITE:
                one, two = int(model.site_bodyid[one]), int(model.site_bodyid[two])
            weight = float(model.body_invweight0[one, 0] + model.body_invweight0[two, 0])
            found[model.equality(i).name] = (1.0 - float(model.eq_solimp[i, 1])) * weight
    return found


def measure_closures(model: mujoco.MjModel) -> dict[str, float]:
    """Return the compliance of every named closure of a foot that is given by a time constant [m/N].

    Args:
        model: the foot alone, compiled.
    """
    found, least = {}, 2.0 * float(model.opt.timestep)
    for name, softness in softness_of(model).items():
        constant = float(model.equality(name).solref[0])
        if constant > 0.0:
            found[name] = softness * max(constant, least) ** 2
    return found


def fit_closures(model: mujoco.MjModel, compliances: Mapping[str, float]) -> None:
    """Give closures of a compiled model their compliance.

    Args:
        model: the model; its ``eq_solref`` is changed.
        compliances: compliance by name of the equality [m/N].

    Raises:
        ModelError: a closure is missing, or the time step is too long for its compliance.
    """
    step = float(model.opt.timestep)
    softness = softness_of(model)
    constants = {}
    for name, compliance in compliances.items():
        if name not in softness:
            raise ModelError(f"the model no longer has the closure {name!r} of its foot", field=name)
        constants[name] = math.sqrt(compliance / softness[name])
    late = {name: t for name, t in constants.items() if t < 2.0 * step * (1.0 - 1e-9)}
    if late:
        name = min(late, key=lambda n: late[n])
        bound = compliances[name] * (2.0 * step / late[name]) ** 2
        raise ModelError(
            f"the time step is {step:g} s; with the compliance {compliances[name]:.3g} m/N of the closure {name!r} it "
            f"must be <= {0.5 * late[name]:.3g} s, because MuJoCo softens constraints with time constants below two "
            f"steps; with this step the compliance of the closure must be >= {bound:.3g} m/N",
            field="option.timestep",
        )
    for name, constant in constants.items():
        model.equality(name).solref[0] = constant


def write_closures(spec: mujoco.MjSpec, model: mujoco.MjModel, names: Container[str]) -> None:
    """Write the time constants of a fitted model into the spec that it was compiled from.

    Args:
        spec: the spec; its equalities are changed.
        model: the model after `fit_closures`.
        names: of the closures.
    """
    for equality in spec.equalities:
        if equality.name in names:
            equality.solref = model.equality(equality.name).solref

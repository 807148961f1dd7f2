"""Keep the stiffness and damping of a foot's soles, whatever carries the foot.

The contacts of MuJoCo depend on the inertia of the bodies; `pliant.feet.model.contact_law.ContactLaw` cancels it. The
inertia changes with the mass of the robot that carries the foot, and the parameters of the contacts must follow.

MuJoCo has no static friction: a contact point that sticks creeps at the speed f / (i (K h + B)) under the sideways
force f, with stiffness K and damping B of `ContactLaw`, time step h and ``impratio`` i (elliptic cones; with pyramidal
ones i is 1/2 for the friction coefficient 1). Rubber has little damping, so that a robot on soft soles would drift.
`hold_soles` chooses the cone and ``impratio`` with which it does not; the law along the normal stays the same.
"""

from __future__ import annotations

from collections.abc import Mapping

import mujoco

from pliant.base.errors import ModelError
from pliant.feet.model.contact_law import ContactLaw, contact_law, set_contact_law

FRICTION_RATIO = 10.0
"""``impratio`` of a robot on soft soles.  # assumed: sticking soles creep no faster than those of the released model, 4
mm/s under 30 N sideways and 300 N down"""


def hold_soles(spec: mujoco.MjSpec) -> None:
    """Let soft soles that stick creep no faster than MuJoCo's own contacts: elliptic cones, ``impratio`` 10 or more.

    Call it before `fit_soles`, whose parameters depend on both.

    Args:
        spec: the spec of the robot; its options are changed.
    """
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = max(FRICTION_RATIO, float(spec.option.impratio))


def measure_soles(model: mujoco.MjModel) -> dict[str, ContactLaw]:
    """Return the law of every named colliding geom of a foot whose contacts are in the direct form.

    Args:
        model: the foot alone, compiled.
    """
    found = {}
    for i in range(model.ngeom):
        law = contact_law(model, i)
        if law is not None and model.geom(i).name and (model.geom_contype[i] or model.geom_conaffinity[i]):
            found[model.geom(i).name] = law
    return found


def fit_soles(model: mujoco.MjModel, laws: Mapping[str, ContactLaw]) -> None:
    """Give geoms of a compiled model their contact laws.

    Args:
        model: the model; solref, solimp and priority of the geoms are changed.
        laws: law of one contact point by name of the geom.

    Raises:
        ModelError: a geom is missing.
    """
    index = {model.geom(i).name: i for i in range(model.ngeom)}
    for name, law in laws.items():
        if name not in index:
            raise ModelError(f"the model no longer has the sole {name!r} of its foot", field=name)
        set_contact_law(model, index[name], law)


def write_soles(spec: mujoco.MjSpec, model: mujoco.MjModel, laws: Mapping[str, ContactLaw]) -> None:
    """Write the contact parameters of a fitted model into the spec that it was compiled from.

    Args:
        spec: the spec; its geoms are changed.
        model: the model after `fit_soles`.
        laws: as there; only the names count.
    """
    for name in laws:
        geom, fitted = spec.geom(name), model.geom(name)
        geom.solref, geom.solimp, geom.priority = fitted.solref, fitted.solimp, int(fitted.priority[0])

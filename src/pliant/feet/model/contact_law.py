"""Contacts with a spring and a damper of their own, whatever the inertia of the bodies."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactLaw:
    """Spring and damper in each contact point of a geom, along the normal: F = stiffness r + damping dr/dt for F > 0.

    r is the penetration. MuJoCo has no such law: the stiffness of its contacts follows from the inertia of the bodies
    (``R = (1 - d) / d A`` with the impedance d and the approximate inverse inertia A), so that armature, number of
    bodies and what carries them change it. A contact with a constant impedance and the direct form of ``solref``,
    however, has the normal force

        F = -D (a + b v + k r),     D = c d / ((1 - d) A)                                                        (1)

    where v and a are speed and acceleration along the normal, and c is 1 with elliptic cones and one dimension, and
    (n - 1) i / (f^2 (1 + f^2)) with pyramidal cones of n dimensions, friction f and ``impratio`` i. (1) is the implicit
    Euler step of the spring and damper if

        D = h (K h + B),     b = (K h + B) / D,     k = K / D                                                    (2)

    with the time step h, the stiffness K and the damping B. So d = D A / (c + D A): the inertia cancels. At rest
    F = K r exactly, with any step, inertia and solver; in motion the law is that of implicit Euler, which is stable for
    all K, B and h. Where d leaves the range that MuJoCo allows, 1e-4 to 0.9999, D has the value of the limit, and k and
    b keep K and the damping. A step turns the speed v into (1 - h b) v - h k r where the contact prevails, which
    diverges for b > 2 / h; so b is at most 1 / h and k at most 1 / h^2, the values of (2) for a rigid contact.

    Sources: MuJoCo documentation, "Solver parameters"; (2) is ours. Valid on ground that is fixed. On a movable body of
    the mass m the point is softer by the factor 1 + 1 / (m A).
    """

    stiffness: float
    """Of one contact point [N/m]."""
    damping: float
    """Of one contact point [N s/m]."""


_IMPEDANCE = (1e-4, 0.9999)
"""Range of the impedance that MuJoCo allows."""


def _cone(model: mujoco.MjModel, geom: int) -> float:
    """Return c of `ContactLaw`."""
    dimensions = int(model.geom_condim[geom])
    if dimensions == 1 or model.opt.cone == mujoco.mjtCone.mjCONE_ELLIPTIC:
        return 1.0
    square = float(model.geom_friction[geom, 0]) ** 2
    return (dimensions - 1) * float(model.opt.impratio) / (square * (1.0 + square))


def _inverse_inertia(model: mujoco.MjModel, geom: int) -> float:
    """Return A / c of `ContactLaw` [1/kg]."""
    return float(model.body_invweight0[model.geom_bodyid[geom], 0]) / _cone(model, geom)


def contact_law(model: mujoco.MjModel, geom: int) -> ContactLaw | None:
    """Return the law of a geom on ground that is fixed; None where its stiffness is not in the direct form.

    Args:
        model: the compiled model.
        geom: index of the geom.
    """
    if model.geom_solref[geom, 0] >= 0.0 or model.geom_solref[geom, 1] >= 0.0:
        return None
    impedance = float(model.geom_solimp[geom, 1])
    mass = impedance / (1.0 - impedance) / _inverse_inertia(model, geom)
    stiffness = -float(model.geom_solref[geom, 0]) / impedance * mass
    rate = -float(model.geom_solref[geom, 1]) / impedance
    return ContactLaw(stiffness=stiffness, damping=rate * mass - stiffness * float(model.opt.timestep))


def set_contact_law(model: mujoco.MjModel, geom: int, law: ContactLaw) -> None:
    """Give the contacts of a geom a spring and a damper, see `ContactLaw`, and a priority over those of the ground.

    Args:
        model: the compiled model; solref, solimp and priority of the geom are changed. Time step, cone and impratio are
            those with which the law holds.
        geom: index of the geom.
        law: of one contact point.
    """
    step = float(model.opt.timestep)
    total = law.stiffness * step + law.damping
    weight = _inverse_inertia(model, geom)
    mass = step * total
    impedance = min(max(mass * weight / (1.0 + mass * weight), _IMPEDANCE[0]), _IMPEDANCE[1])
    mass = impedance / (1.0 - impedance) / weight
    stiffness = law.stiffness
    if impedance == _IMPEDANCE[1]:
        total, stiffness = min(total, mass / step), min(stiffness, mass / step**2)
    # MuJoCo divides the direct form by the largest impedance, or by its square.
    model.geom_solref[geom] = -stiffness / mass * impedance, -total / mass * impedance
    model.geom_solimp[geom] = impedance, impedance, 0.001, 0.5, 2.0
    model.geom_priority[geom] = max(1, int(model.geom_priority[geom]))

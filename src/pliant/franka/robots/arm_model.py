"""One Franka arm as a MuJoCo model with primitive shapes: links, two-finger hand, vacuum gripper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.errors import ModelError
from pliant.base.numerics import Array
from pliant.base.spatial import hat, quaternion_from_rotation
from pliant.franka.device.parameters import CAPSULES, DH, Arm, HandName
from pliant.franka.device.plant import LIP_POINTS
from pliant.franka.robots.parameters import (
    CUP,
    EE_OF_CUP,
    EE_OF_HAND,
    FER,
    FINGER_Z,
    FRANKA_HAND,
    HAND,
    VACUUM_GRIPPER,
)

if TYPE_CHECKING:
    import mujoco

STOP_MARGIN = 0.1
"""Distance of the mechanical stops from the position limits [rad]."""  # assumed

MOTOR_INERTIA = 0.15
"""Fraction of the motors' reflected inertia that the torque loops of the joints leave, 1/(1 + loop gain). With 0.03 the
vendor's example motion_with_control is unstable."""  # assumed

_WHITE, _BLACK, GREY = (0.95, 0.95, 0.95, 1.0), (0.15, 0.15, 0.15, 1.0), (0.6, 0.6, 0.6, 1.0)
_LIP = 0.004
"""Radius of the spheres that make the lip of the suction cup [m]."""  # assumed
_LIP_TRAVEL = 0.002
"""Gap that the lip of the suction cup bridges [m]."""  # assumed
_TIP = 0.1034
"""Where the fingertips meet, along z of the hand [m]."""
_FINGER_INERTIA = HAND.finger_mass * (0.02**2 + 0.045**2) / 12
"""Of one finger about any axis through its centre [kg m^2]: a box of its size."""  # assumed


def set_inertia(body: mujoco.MjsBody, mass: float, center: ArrayLike, tensor: Sequence[float]) -> None:
    """Set the inertia of a body; tensor xx, xy, xz, yy, yz, zz about the centre of mass."""
    body.explicitinertial = True
    body.mass = mass
    body.ipos = list(np.asarray(center, dtype=float))
    xx, xy, xz, yy, yz, zz = tensor
    body.fullinertia = [xx, yy, zz, xy, xz, yz]


def _capsules(body: mujoco.MjsBody, link: int, rgba: tuple[float, ...]) -> None:
    import mujoco

    for owner, start, end, radius in CAPSULES:
        if owner == link:
            body.add_geom(
                type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=[*start, *end], size=[radius, 0, 0], rgba=list(rgba), mass=0
            )


def _hand_body() -> tuple[float, Array, Array, float, Array]:
    """Return mass, centre and tensor (flange axes) of the hand without fingers, and a finger's mass and place.

    Together with both closed fingers it equals `FRANKA_HAND`, so that the cabinet compensates exactly the body that is
    there. Opening moves the fingers apart symmetrically: the centre of mass stays, the inertia grows by less than
    1e-4 kg m^2.
    """
    m, center = FRANKA_HAND.mass, np.array(FRANKA_HAND.center_of_mass)
    I = np.reshape(FRANKA_HAND.inertia, (3, 3)) + m * -hat(center) @ hat(center)
    mf = HAND.finger_mass
    at = np.array([0.0, 0.0, 0.5 * (FINGER_Z + _TIP)])
    rest = m - 2 * mf
    c = (m * center - 2 * mf * at) / rest
    I = I - 2 * mf * -hat(at) @ hat(at) - rest * -hat(c) @ hat(c) - 2 * _FINGER_INERTIA * np.eye(3)
    return rest, c, I, mf, at


def _add_vacuum_gripper(
    spec: mujoco.MjSpec, parent: mujoco.MjsBody, at: str, flange: list[float]
) -> list[mujoco.MjsBody]:
    """Add the pump and the suction cup at the flange; return their bodies."""
    import mujoco

    end = float(EE_OF_CUP[2, 3])
    pump = parent.add_body(name=f"{at}pump", pos=flange)
    xx, xy, xz, _, yy, yz, _, _, zz = VACUUM_GRIPPER.inertia
    set_inertia(pump, VACUUM_GRIPPER.mass, VACUUM_GRIPPER.center_of_mass, (xx, xy, xz, yy, yz, zz))
    pump.add_geom(
        type=mujoco.mjtGeom.mjGEOM_CYLINDER, size=[0.035, 0.05, 0], pos=[0, 0, 0.05], rgba=list(_WHITE), mass=0
    )
    pump.add_site(name=f"{at}ee", pos=[0, 0, end], size=[0.005] * 3)
    # The cup is a body of its own, because adhesion acts on every contact of its body.
    cup = pump.add_body(name=f"{at}cup", pos=[0, 0, 0])
    cup.add_geom(
        type=mujoco.mjtGeom.mjGEOM_CYLINDER,
        fromto=[0, 0, 0.1, 0, 0, end - 0.004],
        size=[0.5 * CUP.radius, 0, 0],
        rgba=list(_BLACK),
        mass=0,
        contype=0,
        conaffinity=0,
    )
    for i in range(LIP_POINTS):
        angle = 2.0 * math.pi * i / LIP_POINTS
        cup.add_geom(
            name=f"{at}lip{i}",
            type=mujoco.mjtGeom.mjGEOM_SPHERE,
            size=[_LIP, 0, 0],
            pos=[CUP.radius * math.cos(angle), CUP.radius * math.sin(angle), end - _LIP],
            rgba=list(_BLACK),
            mass=0,
            condim=4,
            friction=[1.0, 0.005, 0.0001],  # assumed
            solref=[0.01, 1.0],  # rubber; assumed
            # The lip bends: it closes on what is nearer than this, and pulls without pushing.
            gap=_LIP_TRAVEL,
        )
    suction = spec.add_actuator(name=f"{at}cup", target=f"{at}cup")
    suction.set_to_adhesion(gain=1.0)
    suction.trntype = mujoco.mjtTrn.mjTRN_BODY
    suction.ctrllimited = True
    suction.ctrlrange = [0.0, 100.0 * CUP.max_vacuum * CUP.area]
    return [pump, cup]


def _add_links(spec: mujoco.MjSpec, arm: Arm, at: str, motor_inertia: float) -> list[mujoco.MjsBody]:
    """Add base, links, joints, motors and the flange's site; return the bodies, base first."""
    import mujoco

    base = spec.worldbody.add_body(name=f"{at}link0")
    set_inertia(base, arm.base.mass, arm.base.center_of_mass, arm.base.inertia)
    _capsules(base, 0, _WHITE)
    bodies = [base]
    parent = base
    for i in range(8):
        a, alpha, d = (float(x) for x in DH[i])
        sine, cosine = float(round(math.sin(alpha))), float(round(math.cos(alpha)))
        R = np.array([[1.0, 0, 0], [0, cosine, -sine], [0, sine, cosine]])
        position = [a, -sine * d, cosine * d]
        if i == 7:
            parent.add_site(name=f"{at}flange", pos=position, size=[0.005] * 3)
            break
        body = parent.add_body(name=f"{at}link{i + 1}", pos=position, quat=quaternion_from_rotation(R))
        link = arm.links[i]
        set_inertia(body, link.mass, link.center_of_mass, link.inertia)
        _capsules(body, i + 1, _WHITE if i != 6 else GREY)
        limits = arm.limits
        body.add_joint(
            name=f"{at}joint{i + 1}",
            type=mujoco.mjtJoint.mjJNT_HINGE,
            axis=[0, 0, 1],
            range=[limits.position_min[i] - STOP_MARGIN, limits.position_max[i] + STOP_MARGIN],
            limited=True,
            armature=motor_inertia * arm.motor_inertia[i],
        )
        motor = spec.add_actuator(name=f"{at}joint{i + 1}", target=f"{at}joint{i + 1}")
        motor.trntype = mujoco.mjtTrn.mjTRN_JOINT
        bodies.append(body)
        parent = body
    return bodies


def _add_hand(spec: mujoco.MjSpec, parent: mujoco.MjsBody, at: str, flange: list[float]) -> list[mujoco.MjsBody]:
    """Add the hand with its two fingers at the flange; return their bodies."""
    import mujoco

    mass, center, tensor, finger_mass, finger_at = _hand_body()
    # The body has the axes of the flange, as the tensor; the hand is turned by -45 degrees.
    palm = parent.add_body(name=f"{at}hand", pos=flange)
    set_inertia(palm, mass, center, [*tensor[0], tensor[1, 1], tensor[1, 2], tensor[2, 2]])
    bodies = [palm]
    turn = EE_OF_HAND[:3, :3]
    quat = quaternion_from_rotation(turn)
    palm.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=[0.03, 0.1, 0.028],
        pos=[0, 0, 0.03],
        quat=quat,
        rgba=list(_WHITE),
        mass=0,
    )
    palm.add_site(name=f"{at}ee", pos=[0, 0, _TIP], quat=quat, size=[0.005] * 3)
    for n, sign in ((1, 1.0), (2, -1.0)):
        side = turn @ np.array([0.0, sign, 0.0])
        finger = palm.add_body(name=f"{at}finger{n}", pos=[0, 0, 0])
        set_inertia(finger, finger_mass, finger_at, [_FINGER_INERTIA, 0, 0, _FINGER_INERTIA, 0, _FINGER_INERTIA])
        center_f = finger_at + side * 0.006
        finger.add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX,
            size=[0.01, 0.006, 0.5 * (_TIP - FINGER_Z) + 0.008],
            pos=center_f.tolist(),
            quat=quat,
            rgba=list(_BLACK),
            mass=0,
            friction=[1.0, 0.005, 0.0001],
            condim=4,
        )
        finger.add_joint(
            name=f"{at}finger{n}",
            type=mujoco.mjtJoint.mjJNT_SLIDE,
            axis=side.tolist(),
            range=[0.0, 0.5 * HAND.max_width],
            limited=True,
            armature=0.1,  # reflected inertia of the motor and spindle; assumed
            damping=[5.0, 0, 0],  # assumed
        )
        motor = spec.add_actuator(name=f"{at}finger{n}", target=f"{at}finger{n}")
        motor.trntype = mujoco.mjtTrn.mjTRN_JOINT
        bodies.append(finger)
    # One motor drives both fingers.
    spec.add_equality(
        type=mujoco.mjtEq.mjEQ_JOINT,
        name1=f"{at}finger1",
        name2=f"{at}finger2",
        objtype=mujoco.mjtObj.mjOBJ_JOINT,
        # Stiff, because fingers that sag under gravity would pull a floating arm away.
        solref=[0.002, 1.0],
        solimp=[0.9999, 0.9999, 0.001, 0.5, 2.0],
        data=[0.0, 1.0] + [0.0] * (mujoco.mjNEQDATA - 2),
    )
    return bodies


def arm_spec(
    arm: Arm = FER, *, name: str = "franka", hand: HandName = "fingers", motor_inertia: float = MOTOR_INERTIA
) -> mujoco.MjSpec:
    """Return one arm as an editable MuJoCo model, base at the origin.

    Joints and motors ``{name}_joint1`` to ``7``, sites ``{name}_flange`` and ``{name}_ee``; with a hand, slides and
    motors ``{name}_finger1`` and ``{name}_finger2``; with a vacuum gripper, the adhesion actuator ``{name}_cup``. The
    motors are plain torques: the controller is the cabinet. Links of one arm do not collide with each other (the
    cabinet's self-collision check watches them).

    Args:
        arm: `FER` or `FR3`.
        name: prefix of all names in the model; empty for none, to attach the arm under another prefix.
        hand: what it carries.
        motor_inertia: fraction of the motors' reflected inertia that the torque loops leave, 0 to 1.

    Raises:
        ModelError: such a fraction outside 0 to 1.
    """
    import mujoco

    if not 0.0 <= motor_inertia <= 1.0:
        raise ModelError(f"motor_inertia is {motor_inertia}; must be 0 to 1", field="motor_inertia")
    spec = mujoco.MjSpec()
    spec.modelname = name or arm.name
    at = f"{name}_" if name else ""
    spec.option.timestep = 1e-3
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.gravity = [0.0, 0.0, -9.81]
    spec.compiler.degree = False
    bodies = _add_links(spec, arm, at, motor_inertia)
    flange = [0.0, 0.0, float(DH[7, 2])]
    if hand == "fingers":
        bodies += _add_hand(spec, bodies[-1], at, flange)
    elif hand == "vacuum":
        bodies += _add_vacuum_gripper(spec, bodies[-1], at, flange)
    else:
        bodies[-1].add_site(name=f"{at}ee", pos=flange, size=[0.005] * 3)
    for i, first in enumerate(bodies):
        for second in bodies[i + 1 :]:
            if not (first.name.endswith("finger1") and second.name.endswith("finger2")):
                spec.add_exclude(bodyname1=first.name, bodyname2=second.name)
    return spec

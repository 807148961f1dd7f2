"""Rigs that press a SoftFoot: a vertical slide, and one with an imposed pitch or roll of the ankle."""

from __future__ import annotations

import math
from dataclasses import dataclass

import mujoco
import numpy as np

from pliant.feet.softfoot import add_softfoot
from pliant.model.inertia import set_inertia


@dataclass(frozen=True)
class Rest:
    """A foot at rest."""

    model: mujoco.MjModel
    data: mujoco.MjData
    height: float
    """Height of the ankle [m]."""
    speed: float
    """Largest joint speed [rad/s, m/s]."""

    def body_force(self, *names: str) -> float:
        """Return the vertical contact force on all bodies whose names begin with one of ``names`` [N]."""
        total = 0.0
        for name, _, force in contacts(self.model, self.data):
            total += force if name.startswith(names) else 0.0
        return total

    def force_on(self, geom: str) -> float:
        """Return the vertical force on a fixed shape [N]."""
        return sum(f for _, other, f in contacts(self.model, self.data) if other[0] == geom)

    def contacts_of(self, *names: str) -> int:
        """Return the number of contact points that carry a load on the bodies whose names begin with these."""
        return sum(name.startswith(names) and force > 0.0 for name, _, force in contacts(self.model, self.data))

    def center_of_pressure(self) -> np.ndarray:
        """Return the centre of pressure from the ankle, x forward and y to the left [m]."""
        ankle = self.data.xpos[self.model.body("attachment_cube").id]
        total, moment = 0.0, np.zeros(2)
        for _, (_, point), force in contacts(self.model, self.data):
            total += force
            moment += force * (point[:2] - ankle[:2])
        return moment / total

    def pitches(self) -> list[float]:
        """Return the pitch of the modules of the middle chain, from the heel, positive with the toe end up [deg]."""
        number = (1 + sum(name.startswith("rollover") for name in body_names(self.model))) // 2
        modules = [f"phalanx_{i}" for i in range(1, 6)]
        modules += ["reverse_phalanx", "rollover_phalanx", "phalanx_6", "distal_phalanx"]
        found = []
        for module in modules:
            axis = self.data.xmat[self.model.body(f"{module}_{number}").id].reshape(3, 3)[:, 0]
            found.append(math.degrees(math.atan2(axis[2], math.hypot(axis[0], axis[1]))))
        return found


def body_names(model):
    return [model.body(i).name for i in range(model.nbody)]


def contacts(model, data):
    """Return the body of the foot, (the fixed shape, the point) and the vertical force of every contact."""
    found = []
    for i in range(data.ncon):
        contact = data.contact[i]
        force = np.zeros(6)
        mujoco.mj_contactForce(model, data, i, force)
        world = contact.frame.reshape(3, 3).T @ force[:3]
        one, two = (int(g) for g in contact.geom)
        sign = 1.0
        if model.geom_bodyid[one] != 0:
            one, two, sign = two, one, -1.0
        name = model.body(model.geom_bodyid[two]).name
        found.append((name, (model.geom(one).name, contact.pos.copy()), sign * world[2]))
    return found


AT_REST = 1e-8
"""Largest speed of a foot that does not move any more [m/s, rad/s]: in ten seconds by less than a test looks at."""


def press(
    load,
    *,
    pitch_deg=0.0,
    roll_deg=0.0,
    forward=False,
    sideways=False,
    bar=None,
    timestep=1e-3,
    seconds=4.0,
    solimp=None,
    solref=None,
    mass=0.0,
    add=add_softfoot,
    servo=None,
    **options,
):
    """Press a foot on the ground and return it at rest.

    Args:
        load: force on the ankle, without the weight [N].
        pitch_deg: imposed pitch of the ankle, positive with the toes down [deg].
        roll_deg: imposed roll of the ankle, positive with its right side down [deg].
        forward: whether the ankle also slides in x.
        sideways: whether the ankle also slides in y.
        bar: edge of a square bar and its position ahead of the ankle [m]; then, for a bar under a part of the width,
            the positions of its right and its left end, y to the left [m].
        timestep: length of a step [s].
        seconds: longest duration [s]; a foot at rest is returned earlier.
        solimp: impedance of the closure in place of its own.
        solref: time constant and damping ratio of the closure in place of its own.
        mass: of the carriage [kg].
        add: adds the foot to a body of the spec.
        servo: stiffness [N m/rad] and damping [N m s/rad] of a servo that holds pitch or roll and gives way under the
            load, and inertia of what it holds beside the foot [kg m^2]; None: pitch and roll are fixed.
        options: of the foot.
    """
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.timestep = timestep
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[2.0, 2.0, 0.1])
    extra = 0.0
    if bar is not None:
        edge, place, right, left = bar if len(bar) == 4 else (*bar, -0.2, 0.2)
        extra = edge
        spec.worldbody.add_geom(
            name="bar",
            type=mujoco.mjtGeom.mjGEOM_BOX,
            size=[edge / 2, 0.5 * (left - right), edge / 2],
            pos=[place, 0.5 * (left + right), edge / 2],
        )
    scale = options.get("scale", 1.0)
    tilt = scale * 0.15 * abs(math.sin(math.radians(pitch_deg))) + 0.06 * abs(math.sin(math.radians(roll_deg)))
    carriage = spec.worldbody.add_body(name="carriage", pos=[0.0, 0.0, scale * 0.0955 + extra + tilt])
    if mass:
        set_inertia(carriage, mass, mass * 1e-3)
        carriage.gravcomp = 1.0
    slide = mujoco.mjtJoint.mjJNT_SLIDE
    carriage.add_joint(name="z", type=slide, axis=[0.0, 0.0, 1.0], damping=[100.0, 0.0, 0.0])
    if forward:
        carriage.add_joint(name="x", type=slide, axis=[1.0, 0.0, 0.0], damping=[100.0, 0.0, 0.0])
    if sideways:
        carriage.add_joint(name="y", type=slide, axis=[0.0, 1.0, 0.0], damping=[100.0, 0.0, 0.0])
    p, r = 0.5 * math.radians(pitch_deg), 0.5 * math.radians(roll_deg)
    turn = [math.cos(p) * math.cos(r), math.cos(p) * math.sin(r), math.sin(p) * math.cos(r), -math.sin(p) * math.sin(r)]
    if servo is None:
        add(spec, carriage.add_body(name="ankle", quat=turn), **options)
    else:
        _add_servo(spec, carriage, servo, [1.0, 0.0, 0.0] if roll_deg else [0.0, 1.0, 0.0])
        add(spec, carriage.add_body(name="ankle"), **options)
    for equality in spec.equalities:
        if equality.name.startswith("frontal_arch"):
            equality.solimp = solimp or list(equality.solimp)
            equality.solref = solref or list(equality.solref)
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qfrc_applied[0] = -load
    if servo is not None:
        data.ctrl[0] = data.qpos[model.joint("servo").qposadr[0]] = math.radians(roll_deg or pitch_deg)
    part = round(0.1 / timestep)
    for begin in range(0, round(seconds / timestep), part):
        for _ in range(min(part, round(seconds / timestep) - begin)):
            mujoco.mj_step(model, data)
        if np.abs(data.qvel).max() < AT_REST:
            break
    speed = float(np.abs(data.qvel).max())
    mujoco.mj_forward(model, data)
    return Rest(model, data, float(data.xpos[model.body("attachment_cube").id][2]), speed)


def _add_servo(spec, carriage, servo, axis):
    """Hold the turn of the carriage about an axis by a position servo."""
    stiffness, damping, inertia = servo
    set_inertia(carriage, carriage.mass or 1e-6, inertia)
    carriage.gravcomp = 1.0
    carriage.add_joint(name="servo", type=mujoco.mjtJoint.mjJNT_HINGE, axis=axis)
    actuator = spec.add_actuator(name="servo", target="servo", trntype=mujoco.mjtTrn.mjTRN_JOINT)
    actuator.set_to_position(kp=stiffness, kv=damping)

"""A SoftFoot that stands under a load: on flat ground or on a bar, its ankle pitched, its toes bent up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.numerics import GRAVITY
from pliant.feet.contacts import contact_forces
from pliant.model.inertia import set_inertia

if TYPE_CHECKING:
    import mujoco

    from pliant.simulation.pose_track import PoseTrack

REDUCED = {"n_chains": 1, "lump": True, "coupling": "midpoint", "tendon": "fixed"}
"""The cheapest foot: one lumped chain of midpoint hinges."""
SLIDE_DAMPING = 100.0
"""Of the vertical and the horizontal slide [N s/m], as in the released scene."""
TOE_STIFFNESS = 100.0
"""Of the servos that bend the toes, all chains together [N m/rad].  # assumed: much stiffer than the bands"""
TRIAL_RIG = {"stiffness": 3000.0, "damping": 100.0, "mass": 1.0, "inertia": 0.07}
"""Servo and carriage of the rig of the trial with the released model [N m/rad, N m s/rad, kg, kg m^2], which was not
described. The stiffness follows from the printed angles of roll, at which servos rest that are sent to round angles;
mass and inertia are fitted to the printed centres of pressure (they make MuJoCo's closure stiffer)."""
PLATE = (-0.091, 0.174, 0.116)
"""A rigid foot with the outline of the SoftFoot: heel, toes, width [m]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A foot at rest."""

    height: float
    """Height of the ankle [m]."""
    center: float
    """Centre of pressure ahead of the ankle [m]."""
    side: float
    """Centre of pressure beside the ankle, to the right [m]."""
    support: float
    """Distance of the foremost from the rearmost loaded contact [m]."""
    forces: dict[str, float]
    """Vertical force on each body [N]."""
    bar: float
    """Vertical force on the bar [N]."""
    pitches: tuple[float, ...]
    """Pitch of the modules of the middle chain from the heel on, positive with the toe end up [rad]."""
    tendon: float
    """Tension of all tendons together [N]."""
    weight: float
    """Weight of all that stands [N]."""
    speed: float
    """Largest joint speed that is left [rad/s, m/s]."""

    @property
    def force(self) -> float:
        """Force of the ground and the bar [N]."""
        return sum(self.forces.values())

    def on(self, *names: str) -> float:
        """Return the force on the bodies whose names begin with one of these [N]."""
        return sum(value for name, value in self.forces.items() if name.startswith(names))


def stand(
    load: float,
    *,
    pitch: float = 0.0,
    bar: tuple[float, float] | None = None,
    toes: float | None = None,
    rigid: bool = False,
    forward: bool = False,
    servo: tuple[str, float] | None = None,
    timestep: float = 2e-3,
    seconds: float = 2.5,
    **foot: object,
) -> Standing:
    """Press a foot on the ground and return it at rest.

    Args:
        load: force on the ankle, without the weight [N].
        pitch: of the ankle, positive with the toes down [rad].
        bar: edge of a square bar and its position ahead of the ankle [m].
        toes: dorsiflexion of the toes against the metatarsus, by servos after the first half second [rad]; None: free.
        rigid: a rigid plate with the outline of the foot in its place.
        forward: whether the ankle slides forward as well.
        servo: "pitch" or "roll" and the angle to which the servo of `TRIAL_RIG` is sent [rad]; the ankle then
            slides forwards or sideways, too. None: the pitch is fixed.
        timestep: length of a step [s].
        seconds: duration [s].
        foot: options of the foot.
    """
    import mujoco

    spec, servos = _build(pitch, bar, toes is not None, rigid, forward, servo, timestep, foot)
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qfrc_applied[0] = -load
    if servo is not None:
        data.ctrl[0] = data.joint("hold").qpos[0] = servo[1]
    half_second = round(0.5 / timestep)
    mujoco.mj_step(model, data, half_second)
    # Bent within half a second, not at once.
    for i in range(half_second if servos else 0):
        data.ctrl[:] = -(toes or 0.0) / 2.0 * np.array(servos) * (i + 1) / half_second
        mujoco.mj_step(model, data)
    mujoco.mj_step(model, data, max(1, round(seconds / timestep) - half_second * (2 if servos else 1)))
    speed = float(np.abs(data.qvel).max())
    mujoco.mj_forward(model, data)
    return _measured(model, data, speed)


def press(
    load: float,
    *,
    bar: tuple[float, float] | None = None,
    toes: float | None = None,
    rigid: bool = False,
    seconds: float = 3.0,
    timestep: float = 2e-3,
    **foot: object,
) -> PoseTrack:
    """Return the poses of a foot whose load grows slowly, and whose toes are then bent up; arguments as for `stand`.

    The model has a camera "side".
    """
    import mujoco

    from pliant.robots.parts import add_scene
    from pliant.simulation.pose_track import PoseTrack

    spec, servos = _build(0.0, bar, toes is not None, rigid, False, None, timestep, foot)
    spec.delete(spec.geom("floor"))
    add_scene(spec, extent=0.3, center=(0.04, 0.0, 0.05))
    add_side_camera(spec)
    model = spec.compile()
    data = mujoco.MjData(model)
    track = PoseTrack().watch(model, data)
    steps = round(seconds / timestep)
    for i in range(steps):
        done = i / steps
        data.qfrc_applied[0] = -load * min(1.0, done / (0.3 if servos else 0.8))
        if servos:
            data.ctrl[:] = -(toes or 0.0) / 2.0 * np.array(servos) * min(1.0, max(0.0, (done - 0.35) / 0.5))
        mujoco.mj_step(model, data)
        track.take()
    return track


def _build(
    pitch: float,
    bar: tuple[float, float] | None,
    toes: bool,
    rigid: bool,
    forward: bool,
    servo: tuple[str, float] | None,
    timestep: float,
    foot: dict[str, object],
) -> tuple[mujoco.MjSpec, list[float]]:
    """Return the foot on its slide, see `stand`, and the shares of the servos of its toes."""
    import mujoco

    from pliant.feet.softfoot import add_softfoot
    from pliant.feet.softfoot.parameters import ANKLE_HEIGHT

    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.timestep = timestep
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[2.0, 2.0, 0.1])
    kind, angle = servo or ("", 0.0)
    above = 0.3e-3 + 0.15 * abs(math.sin(pitch + angle))
    if bar is not None:
        half = 0.5 * bar[0]
        above += bar[0]
        box = mujoco.mjtGeom.mjGEOM_BOX
        spec.worldbody.add_geom(name="bar", type=box, size=[half, 0.2, half], pos=[bar[1], 0.0, half])
    carriage = spec.worldbody.add_body(name="carriage", pos=[0.0, 0.0, ANKLE_HEIGHT + above])
    axes = {"z": [0.0, 0.0, 1.0], **({"x": [1.0, 0.0, 0.0]} if forward or kind == "pitch" else {})}
    axes |= {"y": [0.0, 1.0, 0.0]} if kind == "roll" else {}
    for name, axis in axes.items():
        slide = mujoco.mjtJoint.mjJNT_SLIDE
        carriage.add_joint(name=name, type=slide, axis=axis, damping=[SLIDE_DAMPING, 0.0, 0.0])
    if servo is not None:
        _hold(spec, carriage, kind)
    ankle = carriage.add_body(name="ankle", quat=[math.cos(0.5 * pitch), 0.0, math.sin(0.5 * pitch), 0.0])
    if rigid:
        rear, front, width = PLATE
        size, pos = [0.5 * (front - rear), 0.5 * width, 0.005], [0.5 * (front + rear), 0.0, 0.005 - ANKLE_HEIGHT]
        plate = ankle.add_geom(name="plate", type=mujoco.mjtGeom.mjGEOM_BOX, size=size, pos=pos)
        plate.mass = 0.937
    else:
        add_softfoot(spec, ankle, None, **foot)
    servos = _add_servos(spec) if toes else []
    return spec, servos


def add_side_camera(spec: mujoco.MjSpec) -> None:
    """Add a camera "side" that sees a foot from its side."""
    from pliant.robots.parts import look_at

    camera = spec.worldbody.add_camera(name="side", fovy=32.0)
    look_at(camera, (0.04, -0.55, 0.09), (0.04, 0.0, 0.05))
    camera.pos = [0.04, -0.55, 0.09]


def _hold(spec: mujoco.MjSpec, carriage: mujoco.MjsBody, kind: str) -> None:
    """Hold pitch or roll of the carriage as the rig of the trial does."""
    import mujoco

    rig = TRIAL_RIG
    set_inertia(carriage, rig["mass"], rig["inertia"])
    carriage.gravcomp = 1.0
    axis = [1.0, 0.0, 0.0] if kind == "roll" else [0.0, 1.0, 0.0]
    carriage.add_joint(name="hold", type=mujoco.mjtJoint.mjJNT_HINGE, axis=axis)
    actuator = spec.add_actuator(name="hold", target="hold", trntype=mujoco.mjtTrn.mjTRN_JOINT)
    actuator.set_to_position(kp=rig["stiffness"], kv=rig["damping"])


def _add_servos(spec: mujoco.MjSpec) -> list[float]:
    """Add a servo to each hinge of the toes; return the share that each has of the angle of its coupling."""
    import mujoco

    joints = [j.name for j in spec.joints if "phalanx_6" in j.name or "distal" in j.name or "virtual_9" in j.name]
    chains = sum(equality.name.startswith("frontal_arch_to") for equality in spec.equalities)
    shares = []
    for name in joints:
        share = 0.5 if "virtual" in name else 1.0
        actuator = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        stiffness = TOE_STIFFNESS / chains / share
        actuator.set_to_position(kp=stiffness, kv=0.01 * stiffness)
        shares.append(share)
    return shares


def _measured(model: mujoco.MjModel, data: mujoco.MjData, speed: float) -> Standing:
    import mujoco

    ankle = data.xpos[model.body("ankle").id]
    forces: dict[str, float] = {}
    points, sides, loads, on_bar = [], [], [], 0.0
    for (one, two), force, point in zip(*contact_forces(model, data), strict=True):
        vertical = float(force[2])
        if model.geom_bodyid[one] != 0:
            one, two, vertical = two, one, -vertical
        name = model.body(model.geom_bodyid[two]).name
        forces[name] = forces.get(name, 0.0) + vertical
        on_bar += vertical if model.geom(one).name == "bar" else 0.0
        points.append(float(point[0] - ankle[0]))
        sides.append(float(ankle[1] - point[1]))
        loads.append(vertical)
    total = sum(loads)
    loaded = [x for x, f in zip(points, loads, strict=True) if f > 0.01 * total]
    names = [model.body(i).name for i in range(model.nbody)]
    chains = sum(name.startswith("distal") for name in names)
    middle = f"_{(chains + 1) // 2}"
    modules = [i for i, name in enumerate(names) if "phalanx" in name and name.endswith(middle)]
    limits = data.efc_type == mujoco.mjtConstraint.mjCNSTR_LIMIT_TENDON
    return Standing(
        height=float(ankle[2]),
        center=float(np.dot(points, loads) / total) if total else math.nan,
        side=float(np.dot(sides, loads) / total) if total else math.nan,
        support=max(loaded) - min(loaded) if loaded else 0.0,
        forces=forces,
        bar=on_bar,
        pitches=tuple(float(math.asin(data.xmat[i].reshape(3, 3)[2, 0])) for i in modules),
        tendon=float(data.efc_force[limits].sum()),
        weight=float(sum(model.body_mass) * GRAVITY),
        speed=speed,
    )

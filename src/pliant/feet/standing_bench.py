"""Feet that stand on bars with a free ankle, and feet that fall with a payload: SoftFoot, rigid foot, compliant pad.

All have the SoftFoot's mass, height and footprint, so that what they do can be compared; many bars are simulated at
once. `pliant.feet.press_bench` has one SoftFoot whose ankle is kept level.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from pliant.base.errors import PliantError
from pliant.base.numerics import GRAVITY, Array
from pliant.base.options import option
from pliant.feet.contacts import contact_forces
from pliant.feet.model.geometry import lowest_point
from pliant.feet.model.pad import Pad, add_pad
from pliant.feet.press_bench import PLATE, REDUCED, add_side_camera
from pliant.feet.softfoot import add_softfoot
from pliant.feet.softfoot.parameters import ANKLE_HEIGHT
from pliant.model.inertia import set_inertia
from pliant.robots.parts import new_spec
from pliant.simulation.pose_track import PoseTrack

if TYPE_CHECKING:
    from mujoco.batch import Batch

FEET = ("soft", "rigid", "compliant")
"""The three feet."""
NAMES = {"soft": "SoftFoot", "rigid": "rigid foot", "compliant": "compliant pad"}
"""Names of the feet in texts."""
STEP = 0.001
"""Step of the feet that stand [s]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingOptions:
    """The feet, the obstacles, the drops."""

    load: float = option(300.0, unit="N", low=0.0, above=True, high=5000.0, source="assumed")
    """Load of a foot that stands."""
    heights: tuple[float, ...] = option((0.01, 0.02), unit="m", low=0.0, above=True, high=0.04, source="assumed")
    """Heights of the bar."""
    bar_length: float = option(0.02, unit="m", low=0.001, high=0.1, source="assumed")
    """Length of the bar along the foot."""
    pad_stiffness: float = option(1e5, unit="N/m", low=1e3, high=1e7, source="assumed: 3 mm under 300 N")
    """Stiffness of the whole pad of the compliant foot against compression."""
    pad_damping: float = option(200.0, unit="N s/m", low=0.0, high=1e5, source="assumed")
    """Damping of the whole pad."""
    pad_thickness: float = option(0.02, unit="m", low=0.001, high=0.05, source="assumed")
    """Thickness of the pad."""
    payload: float = option(5.0, unit="kg", low=0.1, high=200.0, source="assumed")
    """Mass above the ankle in a drop."""
    drop_heights: tuple[float, ...] = option(
        (0.01, 0.02, 0.04), unit="m", low=0.0, above=True, high=0.5, source="assumed"
    )
    """Heights of the drops: lowest point of the sole above the surface that it falls on."""
    contact_time: float = option(0.004, unit="s", low=0.001, high=0.05, source="assumed")
    """Time constant of the contacts of rigid foot and pad, in drops; it limits the impact of the rigid foot."""
    closure_compliance: float = option(7.7e-6, unit="m/N", low=0.0, above=True, high=1.0, source="as of `softfoot`")
    """Compliance of the closure of the SoftFoot."""


def rig(kind: str, options: StandingOptions, timestep: float, *, locked: bool, pitch: float = 0.0) -> mujoco.MjSpec:
    """Return a foot on a vertical slide, above ground and a bar, as a spec.

    Args:
        kind: one of `FEET`.
        options: the feet and the bar.
        timestep: length of a step [s].
        locked: whether the ankle is locked and a payload is on it; otherwise it turns and carries the load.
        pitch: pitch of the foot at the start, toes down positive [rad].

    Raises:
        PliantError: there is no such foot.
    """
    if kind not in FEET:
        raise PliantError(f"foot {kind!r}; must be one of {', '.join(FEET)}", field="kind")
    spec = new_spec(f"standing-{kind}", timestep, extent=0.3, center=(0.04, 0.0, 0.05))
    carriage = spec.worldbody.add_body(name="carriage")
    carriage.add_joint(name="slide", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[0.0, 0.0, 1.0])
    mass = options.payload if locked else 0.1
    set_inertia(carriage, mass, 0.01 * mass)
    if not locked:
        carriage.joints[0].damping = [100.0, 0.0, 0.0]
    ankle = carriage.add_body(name="ankle", quat=[math.cos(0.5 * pitch), 0.0, math.sin(0.5 * pitch), 0.0])
    set_inertia(ankle, 1e-3, 1e-5)
    if not locked:
        ankle.add_joint(name="ankle", type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0.0, 1.0, 0.0], damping=[0.5, 0.0, 0.0])
    if kind == "soft":
        add_softfoot(spec, ankle, closure_compliance=options.closure_compliance, **REDUCED)
    else:
        _flat_foot(ankle, options if kind == "compliant" else None)
    bar = spec.worldbody.add_body(name="bar", pos=[0.0, 0.0, -1.0])
    size = [0.5 * options.bar_length, 0.2, 0.02]
    bar.add_geom(
        name="bar", type=mujoco.mjtGeom.mjGEOM_BOX, size=size, pos=[0.0, 0.0, -0.02], material="wood", mass=0.0
    )
    if locked:
        for geom in spec.geoms:
            if geom.priority == 0:  # The soles of the SoftFoot have a stiffness and a damping of their own.
                geom.solref = [options.contact_time, 1.0]
    return spec


def _flat_foot(ankle: mujoco.MjsBody, pad: StandingOptions | None) -> None:
    """Add a flat foot of the SoftFoot's mass, height and footprint; ``pad`` gives it a compliant sole."""
    (rear, front, _), half_width, mass = PLATE, 0.0425, 0.937152
    thickness = 0.0 if pad is None else pad.pad_thickness
    middle, half = 0.5 * (rear + front), 0.5 * (front - rear)
    foot = ankle.add_body(name="foot")
    set_inertia(foot, mass, [2e-3, 5e-3, 5e-3])
    contype, conaffinity = (1, 2) if pad is None else (0, 0)
    plate: dict[str, Any] = {"type": mujoco.mjtGeom.mjGEOM_BOX, "material": "metal", "mass": 0.0}
    bottom = -ANKLE_HEIGHT + thickness
    foot.add_geom(
        name="sole", size=[half, half_width, 0.005], pos=[middle, 0.0, bottom + 0.005], **plate,
        contype=contype, conaffinity=conaffinity,
    )  # fmt: skip
    foot.add_geom(
        name="leg", size=[0.02, 0.02, 0.5 * (-bottom - 0.01)], pos=[0.0, 0.0, 0.5 * (bottom + 0.01)], **plate,
        contype=0, conaffinity=0,
    )  # fmt: skip
    if pad is not None:
        own = Pad(stiffness=pad.pad_stiffness, damping=pad.pad_damping, thickness=thickness)
        add_pad(foot, own, x=(rear, front), half_width=half_width, bottom=-ANKLE_HEIGHT)


def _start(model: mujoco.MjModel) -> float:
    """Return the height of the ankle above the lowest point of the sole [m]."""
    soles = [g for g in range(model.ngeom) if model.geom_contype[g] == 1 and model.geom_conaffinity[g] == 2]
    return -min(0.0, lowest_point(model, soles))


def _on_bars(model: mujoco.MjModel, bars: Sequence[tuple[float, float, float]]) -> tuple[Batch, Array]:
    """Return feet above bars, and their joint positions, shape (n, nq).

    Args:
        model: the compiled rig.
        bars: height of the sole over the bar, height and position of the bar [m]; bar height 0 for flat ground.
    """
    from pliant.batch import make_batch

    height, batch = _start(model), make_batch(model, len(bars))
    place, qpos = batch.expand("body_pos"), batch.bind("qpos")
    bar, slide = model.body("bar").id, int(model.joint("slide").qposadr[0])
    for i, (above, top, x) in enumerate(bars):
        place[i, bar] = (x, 0.0, top) if top > 0.0 else (x, 0.0, -1.0)
        qpos[i, slide] = height + max(top, 0.0) + above
    return batch, qpos


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A foot at rest on flat ground, or on a bar."""

    pitch: Array
    """Pitch of the ankle, toes down positive, shape (n,) [rad]."""
    support: Array
    """Where 1 % and 99 % of the ground's force have been carried, from the heel on, shape (n, 2) [m]."""
    balance: float
    """Largest difference of the ground's forces and load plus weight [N]."""
    moment: float
    """Largest difference of the moments of ground and weight about the ankle [N m]."""
    poses: Array
    """Joint positions, shape (n, nq)."""
    model: mujoco.MjModel
    """The compiled model."""

    @property
    def length(self) -> Array:
        """Support along the foot, shape (n,) [m]."""
        return self.support[:, 1] - self.support[:, 0]


def stand(
    kind: str, bars: Sequence[tuple[float, float]], options: StandingOptions, *, seconds: float = 3.0
) -> Standing:
    """Return a foot at rest on bars.

    Args:
        kind: one of `FEET`.
        bars: height and position of each bar ahead of the ankle [m]; height 0 for flat ground.
        options: feet and load.
        seconds: time that the foot has to come to rest [s].
    """
    model = rig(kind, options, STEP, locked=False).compile()
    batch, qpos = _on_bars(model, [(0.002, *bar) for bar in bars])
    batch.bind("xfrc_applied").reshape(len(bars), model.nbody, 6)[:, model.body("carriage").id, 2] = -options.load
    batch.step(nstep=round(seconds / STEP))
    pitch = qpos[:, int(model.joint("ankle").qposadr[0])].copy()
    weight = GRAVITY * float(model.body_mass.sum())
    support, balance, moment = [], 0.0, 0.0
    for i in range(len(bars)):
        own, data = batch.get_model(i), batch.get_data(i)
        mujoco.mj_forward(own, data)
        geoms, force, points = contact_forces(own, data)
        # On the foot: it may be the first geom of a contact.
        force = np.where(own.body_weldid[own.geom_bodyid[geoms[:, :1]]] == 0, force, -force)
        if not force[:, 2].sum() > 0.0:
            raise PliantError(f"the {NAMES[kind]} does not stand on a bar of {bars[i][0]:g} m", field="kind")
        balance = max(balance, abs(float(force[:, 2].sum()) - options.load - weight))
        # About the ankle, in which load and slide act: the ground's forces and the foot's weight.
        arm = points - data.xpos[own.body("ankle").id]
        turning = float(np.sum(arm[:, 0] * force[:, 2] - arm[:, 2] * force[:, 0]))
        own_weight = GRAVITY * float(own.body_mass @ (data.xipos[:, 0] - data.xpos[own.body("ankle").id, 0]))
        moment = max(moment, abs(turning - own_weight))
        support.append(_extent(points[:, 0], force[:, 2]))
    return Standing(
        pitch=pitch, support=np.array(support), balance=balance, moment=moment, poses=qpos.copy(), model=model
    )


def _extent(places: Array, forces: Array) -> tuple[float, float]:
    """Return the places behind and ahead of which 1 % of the force is carried."""
    order = np.argsort(places)
    carried = np.cumsum(forces[order]) / forces.sum()
    return float(places[order][np.searchsorted(carried, 0.01)]), float(places[order][np.searchsorted(carried, 0.99)])


def drop(
    kind: str,
    bars: Sequence[tuple[float, float, float]],
    options: StandingOptions,
    *,
    pitch: float = 0.0,
    timestep: float = 6.25e-5,
) -> Array:
    """Return the impact of a foot with a payload: the largest upward acceleration of the payload over gravity.

    Args:
        kind: one of `FEET`.
        bars: height of the fall, height and position of the bar [m] of each drop; bar height 0 for flat ground.
        options: feet and payload.
        pitch: pitch of the foot, toes down positive [rad].
        timestep: length of a step [s].
    """
    model = rig(kind, options, timestep, locked=True, pitch=pitch).compile()
    batch, _ = _on_bars(model, bars)
    dof = int(model.joint("slide").dofadr[0])
    longest = max(math.sqrt(2.0 * (fall + top) / GRAVITY) for fall, top, _ in bars)
    speed = batch.rollout(round((longest + 0.15) / timestep), record=("qvel",))["qvel"][:, :, dof]
    return np.diff(speed, axis=1).max(axis=1) / timestep / GRAVITY + 1.0


def scene(kind: str, options: StandingOptions, bar: tuple[float, float]) -> mujoco.MjModel:
    """Return the rig with a bar of a height and position in place [m] and a camera "side", compiled."""
    spec = rig(kind, options, STEP, locked=False)
    spec.body("bar").pos = [bar[1], 0.0, bar[0]]
    add_side_camera(spec)
    return spec.compile()


def press(kind: str, options: StandingOptions, bar: tuple[float, float]) -> PoseTrack:
    """Return the poses of a foot on a bar of a height and position [m], whose load grows within a second."""
    model = scene(kind, options, bar)
    data = mujoco.MjData(model)
    data.joint("slide").qpos[0] = _start(model) + bar[0] + 0.01
    track = PoseTrack().watch(model, data)
    while data.time < 2.5:
        data.xfrc_applied[model.body("carriage").id, 2] = -options.load * min(1.0, data.time)
        mujoco.mj_step(model, data)
        track.take()
    return track

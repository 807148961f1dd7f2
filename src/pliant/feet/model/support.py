"""Support of a robot by a foot: pitch stiffness in single support against gravity.

The robot stands on one foot with its joints held. If it leans forward by theta about the ankle, its centre of mass is
h theta ahead of the ankle, and the centre of pressure moves to x(theta). The ground force N = m g produces the
restoring moment N x(theta), gravity the toppling moment m g h theta. The robot stands without feedback if

    K = N dx/dtheta > m g h                                                                                (1)

where x = 0. K is the pitch stiffness of the foot, and h the height of the centre of mass above the ankle. x(theta) is
computed by a static simulation of the foot alone, pressed on the ground with an imposed pitch and free to slide
forward. With feedback that rotates the ankle by k theta, the condition is (1 + k) K > m g h.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import mujoco
import numpy as np

from pliant.base.errors import ModelError
from pliant.base.numerics import GRAVITY
from pliant.feet.model.closures import fit_closures, measure_closures
from pliant.feet.model.description import FootDescription
from pliant.feet.model.geometry import reach
from pliant.feet.model.soles import fit_soles, measure_soles
from pliant.model.contacts import contact_wrench
from pliant.model.inertia import set_inertia

SWEEP = tuple(math.radians(angle) for angle in (0.0, 3.0, 6.0, 9.0, 12.0))
"""Pitch angles [rad] of the search for the neutral pitch, in the direction that moves the centre of pressure to the
ankle."""
LEVEL_ERROR = 0.0005
"""Tolerance of the position of the centre of pressure with the pitch "level" [m]."""
HALF_WIDTH = math.radians(1.5)
"""Half width of the pitch interval over which the slope is computed [rad]."""
MAX_SINK = 0.3
"""Sink of the ankle, as a fraction of its height, above which the foot does not carry the load."""
MAX_SPEED = 20.0
"""Vertical speed of the ankle above which the foot counts as crushed [m/s]; it falls at most 0.1 m."""
REST_SPEED = 1.0
"""Joint speed above which a foot that does not carry its load is reported as vibrating [rad/s]."""
DOWN = np.array([0.0, 0.0, -1.0])
_STEP, _SECONDS, _ROUNDS, _DAMPING = 0.002, 0.4, 15, 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FootSupport:
    """Support of a robot by one foot."""

    load: float
    """Ground force, equal to the weight of the robot [N]."""
    stiffness: float
    """Pitch stiffness K about the ankle at the neutral pitch [N m/rad]; 0 if there is no neutral pitch."""
    toppling: float
    """m g h, the toppling moment of gravity per lean angle [N m/rad]."""
    neutral_pitch: float
    """Pitch of the ankle, positive with the toes down, at which the centre of pressure is below it [rad]; NaN if
    there is none."""
    offset_at_zero: float
    """Forward distance of the centre of pressure from the ankle with a level ankle [m]."""
    sink: float
    """Sink of the ankle under the load [m]."""

    @property
    def ratio(self) -> float:
        """Pitch stiffness divided by m g h; below 1 the robot needs feedback to stand."""
        return self.stiffness / self.toppling if self.toppling > 0.0 else math.inf

    def __str__(self) -> str:
        if math.isnan(self.neutral_pitch):
            where = "ahead of" if self.offset_at_zero > 0.0 else "behind"
            return (
                f"at {self.load:.0f} N the centre of pressure stays {where} the ankle "
                f"({1e3 * self.offset_at_zero:.0f} mm with a level ankle): no neutral pitch"
            )
        return (
            f"pitch stiffness {self.stiffness:.0f} N m/rad at {self.load:.0f} N on one foot, {self.ratio:.2f} times "
            f"m g h = {self.toppling:.0f} N m/rad; the centre of pressure is below the ankle at a pitch of "
            f"{math.degrees(self.neutral_pitch):.1f} deg"
        )


UNMEASURED = FootSupport(
    load=math.nan,
    stiffness=math.nan,
    toppling=math.nan,
    neutral_pitch=math.nan,
    offset_at_zero=math.nan,
    sink=math.nan,
)
"""Support of a foot that has not been measured."""


def measure_support(
    foot: FootDescription,
    *,
    load: float,
    height: float,
    offset: tuple[float, float] = (0.0, 0.0),
    mount: float = 0.0,
    gravity: float = GRAVITY,
    timestep: float = 0.002,
) -> FootSupport:
    """Return the support of a robot by a foot.

    Args:
        foot: description of the foot.
        load: weight of the robot, including the feet [N].
        height: height of the robot's centre of mass above its ankle [m].
        offset: forward and upward offset of the foot's ankle from the robot's ankle [m].
        mount: pitch of the foot on the robot's ankle, positive with the toes down [rad].
        gravity: magnitude of gravity [m/s^2].
        timestep: time step of the robot [s], used for the simulation of the foot if it is too stiff for 2 ms.

    Raises:
        ModelError: the foot collapses under the load.
    """
    if not (load > 0.0 and math.isfinite(load)):
        raise ModelError(f"the weight of the robot is {load:g} N; must be > 0 N", field="gravity")
    rounded = float(f"{load:.3g}")
    rig = (round(offset[0], 4), round(offset[1], 4), round(mount, 4), round(gravity, 4), _step_for(foot, timestep))
    stiffness, neutral, at_zero, sink = _statics(foot.for_side("left"), rounded, rig)
    return FootSupport(
        load=load,
        stiffness=stiffness * load / rounded,
        toppling=load * height,
        neutral_pitch=neutral,
        offset_at_zero=at_zero,
        sink=sink,
    )


def level_pitch(
    foot: FootDescription,
    *,
    load: float,
    target: float,
    ahead: float,
    depth: float,
    down: float,
    gravity: float,
    timestep: float = 0.002,
) -> float:
    """Return the pitch of a foot on a level ankle at which the centre of pressure is at a given position [rad].

    The position is met within 1 mm. The foot rotates about the point of its sole below its own ankle.

    Args:
        foot: description of the foot.
        load: ground force [N].
        target: forward distance of the centre of pressure from the robot's ankle [m].
        ahead: forward offset of the foot [m].
        depth: height of the robot's ankle above the sole [m].
        down: height of the foot's ankle above its sole [m].
        gravity: magnitude of gravity [m/s^2].
        timestep: time step of the robot [s].

    Raises:
        ModelError: there is no such pitch in the search interval, or the foot collapses under the load.
    """
    place = (round(target, 3), round(ahead, 4), round(depth, 4), round(down, 4))
    return _level_pitch(
        foot.for_side("left"), float(f"{load:.3g}"), place, round(gravity, 4), _step_for(foot, timestep)
    )


@functools.lru_cache(maxsize=32)
def _level_pitch(
    foot: FootDescription, load: float, place: tuple[float, float, float, float], gravity: float, step: float
) -> float:
    target, ahead, depth, down = place

    def miss(mount: float) -> float:
        rig = (ahead + down * math.sin(mount), down * math.cos(mount) - depth, mount, gravity, step)
        return _press(foot, load, 0.0, rig)[0] - target

    low, high = 0.0, SWEEP[-1]
    ends = miss(low), miss(high)
    if ends[0] > 0.0 or ends[1] < 0.0:
        raise ModelError(
            f'replace_foot: pitch is "level"; no pitch from 0 to {math.degrees(high):.0f} deg brings the centre of '
            f"pressure {1e3 * target:.0f} mm ahead of the ankle (at 0 it is {1e3 * (ends[0] + target):.0f} mm ahead, "
            f"at the end {1e3 * (ends[1] + target):.0f} mm); "
            + (
                "the forefoot gives way under the robot or is too far behind: use a smaller closure_compliance, a "
                "larger scale or a larger forward_offset"
                if ends[1] < 0.0
                else "use a smaller forward_offset"
            ),
            field="pitch",
        )
    # Regula falsi, with half the weight of an end that stays (Illinois).
    at_low, at_high = ends
    middle, stayed = low, 0
    for _ in range(20):
        middle = low - at_low * (high - low) / (at_high - at_low)
        at_middle = miss(middle)
        if abs(at_middle) < LEVEL_ERROR:
            break
        if at_middle < 0.0:
            low, at_low = middle, at_middle
            at_high *= 0.5 if stayed > 0 else 1.0
            stayed = 1
        else:
            high, at_high = middle, at_middle
            at_low *= 0.5 if stayed < 0 else 1.0
            stayed = -1
    return middle


_Rig = tuple[float, float, float, float, float]
"""The foot's ankle ahead of and above the robot's [m], its pitch on the ankle [rad], gravity [m/s^2], step [s]."""


@functools.lru_cache(maxsize=32)
def _step_for(foot: FootDescription, timestep: float) -> float:
    """Return the step at which a foot is measured: that of the robot where the foot is too stiff for the longer one."""
    if timestep >= _STEP:
        return _STEP
    try:
        model = foot.build_foot(_STEP).compile()
    except ModelError:
        return timestep
    # On the rig the time constants are somewhat shorter than on a fixed base.
    constants = [float(t) for t in model.eq_solref[:, 0] if t > 0.0]
    return _STEP if min(constants, default=math.inf) > 3.0 * _STEP else timestep


@functools.lru_cache(maxsize=32)
def _statics(foot: FootDescription, load: float, rig: _Rig) -> tuple[float, float, float, float]:
    def cop(pitch: float) -> tuple[float, float]:
        return _press(foot, load, pitch, rig)

    at_zero, sink = cop(0.0)
    neutral, before = math.nan, (0.0, at_zero)
    direction = 1.0 if at_zero <= 0.0 else -1.0
    for pitch in SWEEP[1:]:
        after = (direction * pitch, cop(direction * pitch)[0])
        if before[1] * after[1] <= 0.0:
            neutral = before[0] - before[1] * (after[0] - before[0]) / (after[1] - before[1])
            break
        before = after
    if math.isnan(neutral):
        return 0.0, neutral, at_zero, sink
    slope = (cop(neutral + HALF_WIDTH)[0] - cop(neutral - HALF_WIDTH)[0]) / (2.0 * HALF_WIDTH)
    return load * slope, neutral, at_zero, sink


def _press(foot: FootDescription, load: float, pitch: float, rig: _Rig) -> tuple[float, float]:
    """Return the centre of pressure ahead of the ankle and how far the ankle sinks [m]."""
    ahead, above, mount, gravity, step = rig
    child = foot.build_foot(step)
    alone = child.copy().compile()
    compliances = measure_closures(alone) if foot.keeps_compliance else {}
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.timestep = step
    spec.option.gravity = [0.0, 0.0, -gravity]
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    for name in ("timestep", "gravity", "integrator"):
        setattr(child.option, name, getattr(spec.option, name))
    for name in dir(child.authored):
        if not name.startswith("_"):
            setattr(child.authored, name, 0)
    # Contact bits of the ground that meet whatever the foot has.
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0], contype=0x7FFFFFFF, conaffinity=0x7FFFFFFF
    )
    c, s = math.cos(pitch), math.sin(pitch)
    carriage = spec.worldbody.add_body(name="rig")
    set_inertia(carriage, 1.0, 1e-3)
    carriage.gravcomp = 1.0
    for name, axis in (("rig_x", [1.0, 0.0, 0.0]), ("rig_z", [0.0, 0.0, 1.0])):
        carriage.add_joint(
            name=name, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis, damping=[_DAMPING, 0.0, 0.0], limited=False
        )
    frame = carriage.add_frame(
        pos=[c * ahead + s * above, 0.0, -s * ahead + c * above],
        quat=[math.cos(0.5 * (pitch + mount)), 0.0, math.sin(0.5 * (pitch + mount)), 0.0],
    )
    spec.attach(child, prefix="foot/", frame=frame)
    model = spec.compile()
    fit_closures(model, {f"foot/{name}": value for name, value in compliances.items()})
    fit_soles(model, {f"foot/{name}": law for name, law in measure_soles(alone).items()})
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    down = max(
        reach(model, data, g, DOWN) for g in range(1, model.ngeom) if model.geom_contype[g] or model.geom_conaffinity[g]
    )
    data.qpos[1] = down
    weight = gravity * (float(model.body_mass.sum()) - 1.0)
    data.qfrc_applied[1] = weight - load
    for _ in range(_ROUNDS):
        for _ in range(round(_SECONDS / step)):
            mujoco.mj_step(model, data)
            if not abs(data.qvel[1]) < MAX_SPEED:
                raise _gives_way(foot, load, "it is crushed")
        if float(np.abs(data.qvel).max()) < 1e-3:
            break
    mujoco.mj_forward(model, data)
    sink = down - float(data.qpos[1])
    total, moment = 0.0, 0.0
    for i in range(data.ncon):
        vertical = abs(float(contact_wrench(model, data, i)[0][2]))
        total += vertical
        moment += vertical * float(data.contact[i].pos[0] - data.qpos[0])
    gives_way = pitch == mount == 0.0 and sink > MAX_SINK * down
    if not (math.isfinite(sink) and math.isfinite(total)) or gives_way or abs(total - load) > 0.2 * load:
        if float(np.abs(data.qvel).max()) > REST_SPEED:
            raise ModelError(
                f"the {foot.label} does not come to rest under {load:.3g} N at steps of {step:g} s: it vibrates; take "
                "a shorter time step, a larger armature or scale, or less stiff bands",
                field="option.timestep",
            )
        raise _gives_way(foot, load, f"its ankle sinks by {1e3 * sink:.0f} mm of {1e3 * down:.0f} mm")
    return moment / total, sink


def _gives_way(foot: FootDescription, load: float, how: str) -> ModelError:
    return ModelError(
        f"the {foot.label} cannot carry {load:.6g} N: {how}; take a larger scale or a stiffer foot (a smaller "
        "closure_compliance), a lighter robot, or for a foot of a small scale a shorter time step",
        field="foot",
    )

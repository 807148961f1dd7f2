"""The numbers of a continuum parallel robot by name: every number of its file that changes its equilibria.

A name without a limb means all limbs at once (``young_modulus``, ``plate_joint.attach.z``), one with a limb that limb
(``limb3.length``, ``limb1.base.x``, ``limb2.plate_joint.yaw``, ``limb1.joint1.axis.x``). The value of all at once is
that of the first limb: materials and sizes that differ keep their ratios to it, places and directions are shifted by
the same amount from their own. Frames have ``x y z roll pitch yaw``, of a planar robot ``x y angle``. ``base_radius``
and ``plate_radius`` move all limbs towards or away from the z axis of the world and of the plate.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from pliant.base.errors import ModelError, nearest
from pliant.base.numerics import Array
from pliant.base.spatial import rotation_from_rpy, rpy_from_rotation
from pliant.rods.description import DistalJoint, GivenStiffness, Limb, Plate, RobotDescription, Round, planar_turn

Path = tuple[str | int, ...]

MATERIAL = ("young_modulus", "shear_modulus", "density")
SECTION = ("radius", "tip_radius", "width", "height", "tip_width", "tip_height", "torsion", "axial", "mass")
PLATE_PARAMETERS = ("plate.mass", "plate.com.x", "plate.com.y", "plate.com.z")
GRAVITY = ("gravity.x", "gravity.y", "gravity.z")
RADII: dict[str, Path] = {"base_radius": ("base",), "plate_radius": ("distal", "pose")}
SPATIAL, PLANAR = ("x", "y", "z", "roll", "pitch", "yaw"), ("x", "y", "angle")
MOST_JOINTS = 9
OUT_OF_PLANE = (
    *("distributed_force.z", "distributed_moment.x", "distributed_moment.y"),
    *("precurvature.u1", "precurvature.u3"),
)
"""Numbers of a limb that planar robots lack; their rods bend about u2."""


def _limb_paths() -> dict[str, Path]:
    """Return where every number of a limb stands: attributes, indices, and at the end a component of a frame."""
    frames: dict[str, Path] = {
        "base": ("base",), "attach": ("attach",), "plate_joint": ("distal", "pose"),
        "plate_joint.attach": ("distal", "attach"),
    }  # fmt: skip
    vectors: dict[str, Path] = {"plate_joint.axis": ("distal", "axis"), "plate_joint.axis_2": ("distal", "axis_2")}
    for j in range(MOST_JOINTS):
        frames[f"joint{j + 1}"] = ("joints", j, "pose")
        vectors[f"joint{j + 1}.axis"] = ("joints", j, "axis")
    vectors |= {name: ("rod", name) for name in ("distributed_force", "distributed_moment")}
    paths: dict[str, Path] = {name: ("rod", name) for name in (*MATERIAL, "length")}
    paths |= {name: ("rod", "section", name) for name in SECTION}
    for name in ("bending", "shear"):
        paths |= {f"{name}.{c + 1}": ("rod", "section", name, c) for c in range(2)}
    paths |= {f"precurvature.u{c}": ("rod", "precurvature", 0, c) for c in (1, 2, 3)}
    for frame, path in frames.items():
        paths |= {f"{frame}.{component}": (*path, component) for component in (*SPATIAL, "angle")}
    for vector, path in vectors.items():
        paths |= {f"{vector}.{axis}": (*path, c) for c, axis in enumerate("xyz")}
    return paths


LIMB_PATHS = _limb_paths()


class Change(NamedTuple):
    """Change of a description by a parameter."""

    limbs: Mapping[int, Limb]
    """The limbs that differ, by index."""
    plate: Plate
    """The plate."""
    gravity: tuple[float, float, float]
    """Acceleration of gravity [m/s^2]."""


def parameter_names(description: RobotDescription) -> tuple[str, ...]:
    """Return the names that :func:`with_parameter` knows.

    ``<limb>.offset`` is the offset of the limb's first actuator: true joint value = commanded value + offset.
    """
    limbs = description.limbs
    each = {
        description.limb_name(i): [name for name in LIMB_PATHS if _found(limb, name, description.planar)]
        for i, limb in enumerate(limbs)
    }
    shared = [name for name in next(iter(each.values())) if all(name in names for names in each.values())]
    radii = [name for name in RADII if _mean_radius(description, name) > 1e-9]
    gravity = GRAVITY[:2] if description.planar else GRAVITY
    own = (f"{limb}.{name}" for limb, names in each.items() for name in (*names, "offset"))
    return (*shared, *radii, *PLATE_PARAMETERS, *gravity, *own)


def _split(description: RobotDescription, name: str) -> tuple[list[int], str]:
    """Return the limbs that a name means, and the rest of the name."""
    if name in LIMB_PATHS:
        return list(range(len(description.limbs))), name
    limbs = {limb.name or f"limb {i + 1}": i for i, limb in enumerate(description.limbs)}
    at = name.find(".")
    while at > 0:  # names of limbs may hold dots
        limb, what = name[:at], name[at + 1 :]
        if limb in limbs and (what in LIMB_PATHS or what == "offset"):
            return [limbs[limb]], what
        at = name.find(".", at + 1)
    names = parameter_names(description)
    raise ModelError(f"parameter {name!r} is not known; {nearest(name, names, limit=16)}", field="parameter")


def _found(limb: Limb, what: str, planar: bool) -> bool:
    try:
        _value(limb, what, planar)
    except ModelError:
        return False
    return True


def _value(limb: Limb, what: str, planar: bool) -> float:
    """Return a number of a limb.

    Raises:
        ModelError: the limb has no such number.
    """
    at: Any = limb
    path = LIMB_PATHS[what]
    if isinstance(limb.rod.section, GivenStiffness) and what in MATERIAL:
        raise ModelError(f"{what}: the stiffness of this rod is given directly", field="parameter")
    if planar and what in OUT_OF_PLANE:
        raise ModelError(f"{what}: it would move the robot out of its plane", field="parameter")
    if planar and "axis" in what:
        raise ModelError(f"{what}: the axes of a planar robot are given by its plane", field="parameter")
    for step in path:
        if isinstance(step, int):
            at = at[step] if step < len(at) else None
        elif isinstance(at, np.ndarray):
            return _component(at, path, step, planar)
        else:
            at = getattr(at, step, None)
        if at is None:
            reason = "the section is not round" if what == "radius" else "this robot has none"
            raise ModelError(f"{what}: {reason}", field="parameter")
    return float(at)


def _turn(path: Path, planar: bool) -> Array:
    """Return what the reader of files multiplies a frame by: the rods of planar robots leave it along y."""
    return planar_turn()[:3, :3] if planar and path[-2] == "attach" else np.eye(3)


def _component(X: Array, path: Path, component: str, planar: bool) -> float:
    if component not in (PLANAR if planar else SPATIAL):
        raise ModelError(f"{component}: a {'planar' if planar else 'spatial'} robot has none", field="parameter")
    if component in "xyz":
        return float(X[SPATIAL.index(component), 3])
    rpy = rpy_from_rotation(X[:3, :3] @ _turn(path, planar).T)
    return float(rpy[2 if planar else SPATIAL.index(component) - 3])


def _with_component(X: Array, path: Path, component: str, value: float, planar: bool) -> Array:
    out = np.array(X, dtype=float)
    if component in "xyz":
        out[SPATIAL.index(component), 3] = value
        return out
    turn = _turn(path, planar)
    rpy = rpy_from_rotation(out[:3, :3] @ turn.T)
    rpy[2 if planar else SPATIAL.index(component) - 3] = value
    out[:3, :3] = rotation_from_rpy(rpy) @ turn
    return out


def _put(at: Any, path: Path, depth: int, value: float, planar: bool) -> Any:
    """Return a copy of an object with one number replaced."""
    if depth == len(path):
        return value
    step = path[depth]
    if isinstance(at, np.ndarray):
        return _with_component(at, path, str(step), value, planar)
    if isinstance(step, int):
        return tuple(_put(part, path, depth + 1, value, planar) if k == step else part for k, part in enumerate(at))
    return dataclasses.replace(at, **{step: _put(getattr(at, step), path, depth + 1, value, planar)})


def _limb_with(limb: Limb, what: str, value: float, planar: bool) -> Limb:
    before = _value(limb, what, planar)
    section = limb.rod.section
    if what == "radius" and isinstance(section, Round) and section.tip_radius is not None:
        section = Round(radius=value, tip_radius=section.tip_radius * value / before)
        return dataclasses.replace(limb, rod=dataclasses.replace(limb.rod, section=section))
    if limb.distal.kind == "universal" and what.startswith("plate_joint.axis"):
        return dataclasses.replace(limb, distal=_universal(limb.distal, what, value))
    return _put(limb, LIMB_PATHS[what], 0, value, planar)


def _universal(joint: DistalJoint, what: str, value: float) -> DistalJoint:
    """Return a universal joint with a component of an axis; the second axis stays perpendicular to the first."""
    axis, axis_2 = np.array(joint.axis, dtype=float), np.array(joint.axis_2, dtype=float)
    (axis_2 if "axis_2" in what else axis)["xyz".index(what[-1])] = value
    axis_2 -= (axis @ axis_2) / (axis @ axis) * axis
    return dataclasses.replace(joint, axis=tuple(map(float, axis)), axis_2=tuple(map(float, axis_2)))


def _is_shifted(what: str) -> bool:
    """Whether a name without a limb shifts every limb by the same, as places and directions, which differ, do."""
    path = LIMB_PATHS[what]
    return isinstance(path[-1], int) or path[0] != "rod"


def _mean_radius(description: RobotDescription, name: str) -> float:
    return float(np.mean([np.hypot(*_frame(limb, RADII[name])[:2, 3]) for limb in description.limbs]))


def _frame(limb: Limb, path: Path) -> Array:
    return limb.base if path == ("base",) else limb.distal.pose


def parameter_value(description: RobotDescription, name: str) -> float:
    """Return the value of a parameter; of a name that means all limbs that of the first, of a radius the mean."""
    if name == "plate.mass":
        return description.plate.mass
    if name in PLATE_PARAMETERS:
        return description.plate.com["xyz".index(name[-1])]
    if name in GRAVITY:
        return description.gravity["xyz".index(name[-1])]
    if name in RADII:
        return _mean_radius(description, name)
    limbs, what = _split(description, name)
    if what == "offset":
        return 0.0
    try:
        return _value(description.limbs[limbs[0]], what, description.planar)
    except ModelError as fault:
        raise ModelError(f"{name}: {fault.message.partition(': ')[2]}", field="parameter") from None


def parameter_scale(description: RobotDescription, name: str) -> float:
    """Return a large change of a parameter, in its unit: its value, the length of the rods, or a radian."""
    value = abs(parameter_value(description, name))
    last = name.rpartition(".")[2]
    if last in ("x", "y", "z") and not name.startswith("gravity") and "distributed" not in name and "axis" not in name:
        return description.mean_rod_length
    if last in (*SPATIAL, "angle", "x", "y", "z") or value == 0.0:
        return max(1.0, value)
    return value


def changed(description: RobotDescription, name: str, value: float) -> Change:
    """Return what a parameter with a value changes (not for offsets, which belong to the commands)."""
    plate, gravity, planar = description.plate, description.gravity, description.planar
    if name == "plate.mass":
        return Change({}, dataclasses.replace(plate, mass=value), gravity)
    if name in PLATE_PARAMETERS or name in GRAVITY:
        vector = list(gravity if name in GRAVITY else plate.com)
        vector["xyz".index(name[-1])] = value
        x, y, z = vector
        return Change({}, plate, (x, y, z)) if name in GRAVITY else Change(
            {}, dataclasses.replace(plate, com=(x, y, z)), gravity
        )  # fmt: skip
    if name in RADII:
        mean, path = _mean_radius(description, name), RADII[name]
        if mean < 1e-9:
            raise ModelError(f"{name}: all limbs are on the axis, so it cannot be changed", field="parameter")
        limbs = {}
        for i, limb in enumerate(description.limbs):
            X = np.array(_frame(limb, path), dtype=float)
            X[:2, 3] *= value / mean
            distal = limb.distal
            limbs[i] = (
                dataclasses.replace(limb, base=X)
                if path == ("base",)
                else dataclasses.replace(limb, distal=dataclasses.replace(distal, pose=X))
            )
        return Change(limbs, plate, gravity)
    chosen, what = _split(description, name)
    if what == "offset":
        raise ModelError(f"{name}: an offset changes the commands, not the robot", field="parameter")
    first = parameter_value(description, name)
    limbs = {}
    for i in chosen:
        limb = description.limbs[i]
        own = _value(limb, what, planar)
        if own == first:
            own = value
        elif _is_shifted(what):
            own += value - first
        elif first == 0.0:
            who = description.limb_name(i)
            raise ModelError(f"{name}: the first limb has 0 and {who} has {own:g}; name the limbs", field="parameter")
        else:
            own *= value / first
        limbs[i] = _limb_with(limb, what, own, planar)
    return Change(limbs, plate, gravity)


def with_parameter(description: RobotDescription, name: str, value: float) -> RobotDescription:
    """Return the description with one parameter changed (not for offsets, which belong to the commands)."""
    return with_values(description, {name: value})


def with_values(description: RobotDescription, values: Mapping[str, float]) -> RobotDescription:
    """Return the description with several parameters changed, and check it once.

    Raises:
        ModelError: a name or a value is not valid, or the parts do not make a robot.
    """
    work = copy.copy(description)
    for name, value in values.items():
        change = changed(work, name, value)
        limbs = tuple(change.limbs.get(i, limb) for i, limb in enumerate(work.limbs))
        for part, new in (("limbs", limbs), ("plate", change.plate), ("gravity", change.gravity)):
            object.__setattr__(work, part, new)
    return dataclasses.replace(description, limbs=work.limbs, plate=work.plate, gravity=work.gravity)


def offset_actuator(description: RobotDescription, name: str) -> int | None:
    """Return the actuator whose offset a parameter is, or None."""
    if name in PLATE_PARAMETERS or name in GRAVITY or name in RADII:
        return None
    (limb, *_), what = _split(description, name)
    if what != "offset":
        return None
    for a, (i, _j) in enumerate(description.actuators):
        if i == limb:
            return a
    raise ModelError(f"{name}: this limb has no actuator", field="parameter")

"""Parameters of a continuum parallel robot by name."""

from __future__ import annotations

import dataclasses

from pliant.base.errors import ModelError, nearest
from pliant.rods.description import GivenStiffness, RobotDescription, Round

__all__ = ["offset_actuator", "parameter_names", "parameter_value", "with_parameter"]

ROD_PARAMETERS = ("young_modulus", "shear_modulus", "density", "length", "radius")
PLATE_PARAMETERS = ("plate.mass", "plate.com.x", "plate.com.y", "plate.com.z")


def parameter_names(description: RobotDescription) -> tuple[str, ...]:
    """Return the names that :func:`with_parameter` knows.

    ``young_modulus`` and its like mean all rods at once, ``<limb>.young_modulus`` one; ``<limb>.offset`` is the
    offset of the limb's first actuator: true joint value = commanded value + offset.
    """
    limbs = [description.limb_name(i) for i in range(len(description.limbs))]
    return (
        *ROD_PARAMETERS,
        *PLATE_PARAMETERS,
        *(f"{limb}.{name}" for limb in limbs for name in (*ROD_PARAMETERS, "offset")),
    )


def _split(description: RobotDescription, name: str) -> tuple[list[int], str]:
    if name in ROD_PARAMETERS:
        return list(range(len(description.limbs))), name
    limb, _, what = name.rpartition(".")
    for i in range(len(description.limbs)):
        if limb == description.limb_name(i) and what in (*ROD_PARAMETERS, "offset"):
            return [i], what
    names = parameter_names(description)
    raise ModelError(f"parameter {name!r} is not known; {nearest(name, names, limit=16)}", field="parameter")


def parameter_value(description: RobotDescription, name: str) -> float:
    """Return the value of a parameter; of a name that means all rods that of the first."""
    if name == "plate.mass":
        return description.plate.mass
    if name in PLATE_PARAMETERS:
        return description.plate.com["xyz".index(name[-1])]
    limbs, what = _split(description, name)
    rod = description.limbs[limbs[0]].rod
    if what == "offset":
        return 0.0
    if what == "radius":
        if not isinstance(rod.section, Round):
            raise ModelError(f"{name}: the section is not round", field="parameter")
        return rod.section.radius
    return getattr(rod, what)


def with_parameter(description: RobotDescription, name: str, value: float) -> RobotDescription:
    """Return the description with one parameter changed (not for offsets, which belong to the commands)."""
    if name == "plate.mass":
        return dataclasses.replace(description, plate=dataclasses.replace(description.plate, mass=value))
    if name in PLATE_PARAMETERS:
        com = list(description.plate.com)
        com["xyz".index(name[-1])] = value
        return dataclasses.replace(description, plate=dataclasses.replace(description.plate, com=tuple(com)))
    chosen, what = _split(description, name)
    if what == "offset":
        raise ModelError(f"{name}: an offset changes the commands, not the robot", field="parameter")
    limbs = list(description.limbs)
    for i in chosen:
        rod = limbs[i].rod
        if what == "radius":
            if not isinstance(rod.section, Round):
                raise ModelError(f"{name}: the section is not round", field="parameter")
            ratio = value / rod.section.radius
            tip = rod.section.tip_radius
            section = Round(radius=value, tip_radius=None if tip is None else tip * ratio)
            rod = dataclasses.replace(rod, section=section)
        else:
            if isinstance(rod.section, GivenStiffness) and what != "length":
                raise ModelError(f"{name}: the stiffness of this rod is given directly", field="parameter")
            rod = dataclasses.replace(rod, **{what: value})
        limbs[i] = dataclasses.replace(limbs[i], rod=rod)
    return dataclasses.replace(description, limbs=tuple(limbs))


def offset_actuator(description: RobotDescription, name: str) -> int | None:
    """Return the actuator whose offset a parameter is, or None."""
    if name in ROD_PARAMETERS or name in PLATE_PARAMETERS:
        return None
    (limb, *_), what = _split(description, name)
    if what != "offset":
        return None
    for a, (i, _j) in enumerate(description.actuators):
        if i == limb:
            return a
    raise ModelError(f"{name}: this limb has no actuator", field="parameter")

"""Units that options, samples and commands may have: SI and radians."""

from __future__ import annotations

from collections.abc import Callable

from pliant.base.errors import PliantError, nearest

UNITS: dict[str, str] = {
    "": "a number without unit",
    "1/K": "temperature coefficient",
    "1/rad": "inverse angle",
    "1/s": "rate",
    "A": "current",
    "A/s": "current per time",
    "H": "inductance",
    "Hz": "frequency",
    "J": "energy",
    "J/K": "heat capacity",
    "K": "temperature",
    "K/W": "thermal resistance",
    "N": "force",
    "N m": "torque",
    "N m s/rad": "rotary damping",
    "N m s/rad^2": "growth of a rotary damping with an angle",
    "N m/(rad s)": "integral gain of an angle",
    "N m/A": "torque constant",
    "N m/rad": "rotary stiffness",
    "N m/rad^2": "growth of a rotary stiffness with an angle",
    "N m/s": "rate of torque",
    "N s": "impulse",
    "N s/m": "linear damping",
    "N/m": "linear stiffness",
    "N/m^3": "stiffness per area",
    "N s/m^3": "damping per area",
    "Pa": "pressure, modulus",
    "T": "magnetic flux density",
    "V": "voltage",
    "V s/rad": "back EMF constant",
    "W": "power",
    "kg": "mass",
    "kg m^2": "inertia",
    "kg/m^3": "density",
    "m": "length",
    "m/N": "compliance",
    "m/s": "speed",
    "m/s^2": "acceleration",
    "m/s^3": "jerk",
    "m^2": "area",
    "m^3": "volume",
    "m^3/(s Pa)": "sonic conductance",
    "m^4": "second moment of area",
    "ns": "time of the integer clock",
    "ohm": "resistance",
    "pixel": "position in an image",
    "rad": "angle",
    "rad/(N m)": "rotary compliance",
    "rad/m": "curvature",
    "rad/s": "angular speed",
    "rad/s^2": "angular acceleration",
    "rad/s^3": "angular jerk",
    "s": "time",
}
"""The known units, with their quantities: SI and radians."""

_SI_OF = {
    "deg": "rad", "degree": "rad", "degrees": "rad", "mm": "m", "cm": "m", "ms": "s", "us": "s", "min": "s", "g": "kg",
    "rpm": "rad/s", "deg/s": "rad/s", "Nm": "N m", "Nm/rad": "N m/rad", "kHz": "Hz", "meter": "m", "second": "s",
    "C": "K", "bar": "Pa", "MPa": "Pa", "GPa": "Pa", "mA": "A", "mV": "V",
}  # fmt: skip


def check_unit(unit: str, what: str, error: Callable[..., PliantError] = PliantError) -> None:
    """Raise unless a unit is one of `UNITS`, or several of them: "m, rad" of a pose, "m or rad" of a joint.

    Args:
        unit: the unit.
        what: how the message names it.
        error: the exception to raise.
    """
    for part in unit.replace(" or ", ", ").split(", "):
        if part in UNITS:
            continue
        if part in _SI_OF:
            raise error(f"{what} is {unit!r}; must be SI and radians: {_SI_OF[part]!r}", field="unit")
        known = [name for name in UNITS if name]
        raise error(f"{what} is {unit!r}, which is not known; {nearest(part, known, limit=60)}", field="unit")

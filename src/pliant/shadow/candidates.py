"""Parameters of a robot that may drift: springs, friction, damping, loads, delays and the zeros of sensors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, NamedTuple

from pliant.base.errors import ModelError, nearest
from pliant.base.numerics import Array
from pliant.base.options import describe
from pliant.laws.actuator import CompliantActuator
from pliant.model.robot import Robot
from pliant.model.wanted import check_robot

FACTOR = 1.25
"""Parameters are simulated at their value, at this multiple of it, and at its inverse."""
DELAY_STEP = 0.005
"""Delays are simulated this much longer and shorter [s], or by a quarter of a longer delay."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Parameters that drift together."""

    name: str
    """Such as ``elbow spring``."""
    kind: str
    """``factor``, ``delay`` or ``offset``."""
    values: Mapping[str, float]
    """Path of a parameter of `Robot.update` -> its value in the description; for an offset the measured port."""
    step: float
    """Half the distance between the two simulated values: of the logarithm, in s, or in the unit of the port."""
    unit: str = ""
    """Unit of an additive one."""

    def value(self, change: float) -> float:
        """Return the factor, or what is added, for a change in units of `step`."""
        return math.exp(change * self.step) if self.kind == "factor" else change * self.step


class Compared(NamedTuple):
    """Measured and simulated values of one port."""

    time: Array
    """Shape (n,) [s]."""
    measured: Array
    """Shape (n,)."""
    simulated: Array
    """Shape (n, worlds): as described, then two worlds for each candidate, above and below."""


def candidates_of(robot: Robot, watched: Sequence[str] = ()) -> list[Candidate]:
    """Return what may drift in a robot, or the parameters that are asked for.

    Springs: all stiffnesses of a joint's law together. Friction: all Coulomb torques of a joint. Damping: all viscous
    coefficients. Loads: the mass of each body at the end of a chain. Delay of the commands, and zero of each position
    sensor. What is zero in the description has no size and is left out.

    Args:
        robot: the robot.
        watched: names such as ``elbow spring``, or paths such as ``elbow.k1`` and ``link.mass``; empty for all.

    Raises:
        ModelError: a name that the robot does not have, or a parameter that is zero.
    """
    check_robot(robot, "candidates_of", compiled=False)
    known = {candidate.name: candidate for candidate in _all(robot)}
    if not watched:
        return list(known.values())
    chosen = []
    for name in watched:
        if name in known:
            chosen.append(known[name])
        elif "." in name:
            chosen.append(_of_path(robot, name))
        else:
            raise ModelError(f"no parameter {name!r} to watch; {nearest(name, known)}, or a path", field="watch")
    return chosen


def _all(robot: Robot) -> Iterator[Candidate]:
    step = math.log(FACTOR)
    for joint, actuator in robot.actuators.items():
        groups: dict[str, dict[str, float]] = {"spring": {}, "friction": {}, "damping": {}}
        for path, value, unit in _numbers(actuator):
            if not actuator.mode.has_motors and path.startswith("motor_"):
                continue  # ideal motors: nothing of theirs acts
            group = _group(path, unit)
            if group and value > 0.0 and math.isfinite(value):
                groups[group][f"{joint}.{path.removeprefix('law.')}"] = value
        damping = float(robot.spec.joint(joint).damping[0])
        if damping > 0.0:
            groups["damping"][f"{joint}.damping"] = damping
        for group, values in groups.items():
            if values:
                yield Candidate(f"{joint} {group}", "factor", values, step)
        delay = float(actuator.command_delay)
        yield Candidate(f"{joint} delay", "delay", {joint: delay}, max(DELAY_STEP, 0.25 * delay), "s")
        yield Candidate(f"{joint} zero", "offset", {f"{joint}/position": 0.0}, 0.01, "rad")
    parents = {body.parent.name for body in robot.spec.bodies if body.parent is not None}
    for body in robot.spec.bodies:
        if body.name and body.name not in parents and body.mass > 0.0:
            yield Candidate(f"{body.name} load", "factor", {f"{body.name}.mass": float(body.mass)}, step)


def _of_path(robot: Robot, path: str) -> Candidate:
    owner, _, parameter = path.partition(".")
    value = 0.0
    if owner in robot.actuators:
        found = {p.removeprefix("law."): v for p, v, _ in _numbers(robot.actuators[owner])}
        if parameter not in found:
            raise ModelError(f"{owner} has no parameter {parameter!r}; {nearest(parameter, found)}", field=path)
        value = found[parameter]
    elif parameter == "mass" and (body := robot.spec.body(owner)) is not None:
        value = float(body.mass)
    else:
        raise ModelError(
            f"{path!r} cannot be watched; must be <joint>.<parameter> of a compliant joint or <body>.mass", field=path
        )
    if not (math.isfinite(value) and value > 0.0):
        raise ModelError(f"{path} is {value:g}; must be more than 0 to drift by a factor", field=path)
    return Candidate(path, "factor", {path: value}, math.log(FACTOR))


def _numbers(actuator: CompliantActuator) -> Iterator[tuple[str, float, str]]:
    """Yield (path, value, unit) of every number of an actuator."""

    def walk(node: Any, prefix: str) -> Iterator[tuple[str, float, str]]:
        units = {info.name: info.unit for info in describe(type(node))}
        for field in fields(node):
            value = getattr(node, field.name)
            if is_dataclass(value):
                yield from walk(value, f"{prefix}{field.name}.")
            elif isinstance(value, float) and not isinstance(value, bool):
                yield f"{prefix}{field.name}", value, units.get(field.name, "")

    yield from walk(actuator, "")


def _group(path: str, unit: str) -> str:
    block, _, last = path.rpartition(".")
    if block == "law" and unit in ("N m", "N m/rad", "N/m", "N") and last != "stop_stiffness":
        return "spring"
    if block.endswith("friction") and last == "torque":
        return "friction"
    if last in ("damping", "link_damping"):
        return "damping"
    return ""

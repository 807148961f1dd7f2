"""Warnings about references that a compliant joint cannot follow.

A reference outside the range of a joint is legal: an equilibrium position beyond an end stop presses the link against
it. More often it is a mistake, such as degrees in place of radians, so the first one of each command is answered with a
warning.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass, field

from pliant.engine.base import Engine
from pliant.laws import COMMANDS, CompliantActuator, Mode

log = logging.getLogger("pliant")

MAX_TURN = 2.0 * math.pi
"""Largest angle of a joint without limits that is taken for an angle in radians [rad]."""
EXTERNAL = "external_torque"


@dataclass(slots=True)
class _Range:
    """Range of one command in one mode."""

    name: str
    unit: str
    low: float = -math.inf
    high: float = math.inf
    reason: str = ""
    """Origin of the range, in words."""
    position: bool = False
    """Whether degrees, or millimetres where the joint slides, are a likely mistake."""


@dataclass(slots=True)
class CommandRange:
    """Checks the references of one joint; the first of each command that is out of range is logged as a warning.

    Call ``attach`` once, ``restart`` at every reset and ``select`` when the mode changes. In a step, the owner compares
    a value with ``low`` and ``high`` and calls ``warn`` if it is outside.
    """

    device: str
    """Name of the device that takes the commands, for the message."""
    joint: str
    """Name of the joint."""
    actuator: CompliantActuator
    """Its actuator."""
    low: list[float] = field(default_factory=lambda: [-math.inf] * 3)
    """Lowest values of reference 1, reference 2 and the external torque in the present mode."""
    high: list[float] = field(default_factory=lambda: [math.inf] * 3)
    """Highest values of reference 1, reference 2 and the external torque in the present mode."""
    max_spread: float = math.inf
    """Distance of the two motor references at which both springs are at the end of their range, in their unit."""
    _ranges: dict[Mode, tuple[_Range, _Range, _Range]] = field(default_factory=dict)
    _mode: Mode | None = None
    _said: set[str] = field(default_factory=set)

    def attach(self, engine: Engine) -> None:
        """Read the limits of the joint from the engine."""
        ports = engine.ports()
        position, torque = ports.get(f"{self.joint}/position"), ports.get(f"{self.joint}/{EXTERNAL}")
        limits = (-math.inf, math.inf) if position is None else (position.low, position.high)
        rotary = position is None or position.unit == "rad"
        largest = math.inf if torque is None else torque.high
        self._ranges = {mode: self._of_mode(mode, *limits, rotary, largest) for mode in Mode}

    def _of_mode(
        self, mode: Mode, low: float, high: float, rotary: bool, largest: float
    ) -> tuple[_Range, _Range, _Range]:
        law = self.actuator.law
        first, second = COMMANDS[mode]
        lever, pressure = law.second_input == "lever", law.second_input == "pressure"
        deflection = float(getattr(law, "max_deflection", math.inf))
        one, two = (_Range(c.name, c.unit_of(law.second_input, slides=not rotary)) for c in (first, second))
        run_away = f"the largest torque that does not accelerate {self.joint!r} beyond what ends the run within 1 s"
        external = _Range(EXTERNAL, "N m" if rotary else "N", -largest, largest, run_away)
        if mode == Mode.LINK_TORQUE:
            one = _Range(first.name, one.unit, -largest, largest, run_away)
        elif mode == Mode.MOTOR_TORQUES:
            for which, motor in ((one, self.actuator.motor_1), (two, self.actuator.motor_2)):
                if motor is not None:
                    which.low, which.high = -motor.max_torque, motor.max_torque
                    which.reason = f"the torque of the motor of {self.joint!r}, to which it is limited"
                    if pressure:
                        which.reason = f"from the open exhaust to the open supply of the valve of {self.joint!r}"
        if pressure and mode.has_spring and mode != Mode.MOTOR_TORQUES:
            refs = mode in (Mode.SPRING_REFS, Mode.PID_REFS)
            for which, motor in ((one, self.actuator.motor_1), (two, self.actuator.motor_2)):
                if motor is not None and (refs or which is two):
                    which.low, which.high = 0.0, motor.max_position
                    which.reason = f"from the ambient pressure to that of the supply of {self.joint!r}"
        unlimited = low == -math.inf and high == math.inf
        if (
            mode not in (Mode.LINK_TORQUE, Mode.MOTOR_TORQUES)
            and one.unit in ("rad", "m")
            and (rotary or not unlimited)
        ):
            motors = mode in (Mode.SPRING_REFS, Mode.PID_REFS)
            # A spring between a motor outside this range and the link is at its end at every angle of the joint.
            margin = deflection if motors else 0.0
            one.position = True
            one.low, one.high = (-MAX_TURN, MAX_TURN) if unlimited else (low - margin, high + margin)
            if unlimited:
                one.reason = f"one turn; {self.joint!r} has no limits"
            elif margin:
                one.reason = f"the range of {self.joint!r} and the largest deflection of its spring"
            else:
                one.reason = f"the range of {self.joint!r}"
            if law.motors == 2 and not lever and not pressure:
                if motors:
                    two.low, two.high, two.reason, two.position = one.low, one.high, one.reason, True
                elif mode.has_spring and deflection < math.inf:
                    two.low, two.high, two.position = 0.0, deflection, True
                    two.reason = f"from no preset to where both springs of {self.joint!r} are at their ends"
        return one, two, external

    def limits(self, mode: Mode, command: str) -> tuple[float, float]:
        """Return the lowest and the highest value of a command in a mode that the joint can follow."""
        for r in self._ranges.get(mode, ()):
            if r.name == command:
                return r.low, r.high
        return -math.inf, math.inf

    def restart(self) -> None:
        """Warn again about every command."""
        self._said.clear()
        self._mode = None

    def select(self, mode: Mode) -> None:
        """Take the ranges of a mode."""
        if mode == self._mode or not self._ranges:
            return
        self._mode = mode
        ranges = self._ranges[mode]
        self.low, self.high = [r.low for r in ranges], [r.high for r in ranges]
        law = self.actuator.law
        pair = mode in (Mode.SPRING_REFS, Mode.PID_REFS) and law.motors == 2 and law.second_input == "angle"
        self.max_spread = 2.0 * float(getattr(law, "max_deflection", math.inf)) if pair else math.inf

    def warn(self, which: int, value: float) -> None:
        """Log a warning about a value that is out of range, once for each command.

        Args:
            which: 0 for reference 1, 1 for reference 2, 2 for the external torque.
            value: the value, in the unit of the command.
        """
        if self._mode is None:
            return
        r = self._ranges[self._mode][which]
        if r.name in self._said:
            return
        self._said.add(r.name)
        log.warning("%s", f"{self._where(r.name)} is {value:g} {r.unit}; {_interval(r)}. {_cause(r, value)}")

    def warn_spread(self, first: float, second: float) -> None:
        """Log a warning about two motor references that leave both springs at their ends, once.

        Args:
            first: reference 1, in its unit.
            second: reference 2, likewise.
        """
        if "spread" in self._said or self._mode is None:
            return
        unit = self._ranges[self._mode][0].unit
        self._said.add("spread")
        log.warning(
            "%s",
            f"{self._where('reference_1')} and reference_2 are {first:g} and {second:g} {unit}, "
            f"{abs(first - second):g} {unit} apart; expected less than {self.max_spread:g} {unit}, where both springs "
            f"of {self.joint!r} are at their ends and have no stiffness left",
        )

    def _where(self, name: str) -> str:
        return f"{self.device}/{name}" if self.device == self.joint else f"{self.device}: {name} of {self.joint!r}"


def _interval(r: _Range) -> str:
    return f"expected {r.low:.4g} to {r.high:.4g} {r.unit} ({r.reason})"


def _cause(r: _Range, value: float) -> str:
    if r.position:
        name, unit, factor = (
            ("degrees", "degrees", math.radians(1.0)) if r.unit == "rad" else ("millimetres", "mm", 1e-3)
        )
        if abs(value) > 1.0 and r.low <= factor * value <= r.high:
            return f"Likely cause: {name}; {value:g} {unit} are {factor * value:.6g} {r.unit}"
        if r.low == 0.0 and -r.high <= value < 0.0:
            return "Likely cause: a wrong sign; a negative preset exchanges the two motors"
    if r.unit in ("N m", "N"):
        return "Likely cause: a wrong unit, or a controller that is not stable"
    if r.name == "stiffness_preset":
        return "Likely cause: a stiffness in place of a preset"
    return "The reference is used as it is, and the joint cannot reach it"

"""The electronics of one compliant joint: the commands of its mode in, its state out."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.devices.base import Command, DeviceBase, FieldInfo, request
from pliant.engine.base import Engine
from pliant.errors import DeviceError
from pliant.laws import COMMAND_NAMES, CompliantActuator, Mode

__all__ = ["STATE_FIELDS", "CompliantJoint"]

# field of a sample -> (field of the engine's observation or port, unit, description)
_STATE: dict[str, tuple[str, str, str]] = {
    "position": ("position", "rad", "link angle q"),
    "velocity": ("velocity", "rad/s", "link velocity"),
    "torque": ("torque", "N m", "torque of the actuator on the link, its own friction and damping included"),
    "external_torque": ("external_torque", "N m", "external torque on the link"),
    "stiffness": ("stiffness", "N m/rad", "true slope of the spring torque; NaN in modes 0 and 1"),
    "reported_stiffness": ("reported_stiffness", "N m/rad", "stiffness as the original toolbox publishes it"),
    "elastic_torque": ("elastic_torque", "N m", "torque of the spring on the link; NaN in modes 0 and 1"),
    "load_1": ("load_1", "N m", "load of the spring on motor 1; NaN in modes 0 and 1"),
    "load_2": ("load_2", "N m", "load of the spring on motor 2, in N on a lever; NaN in modes 0 and 1"),
    "energy": ("energy", "J", "energy stored in the spring"),
    "equilibrium": ("equilibrium", "rad", "equilibrium position of the motors"),
    "preset": ("preset", "rad", "stiffness preset of the motors, in m on a lever"),
    "motor_1_position": ("motor_1_position", "rad", "motor 1"),
    "motor_1_velocity": ("motor_1_velocity", "rad/s", "motor 1"),
    "motor_1_effort": ("motor_1_effort", "N m", "torque that motor 1 applies, after its limits"),
    "motor_2_position": ("motor_2_position", "rad", "motor 2, in m on a lever"),
    "motor_2_velocity": ("motor_2_velocity", "rad/s", "motor 2"),
    "motor_2_effort": ("motor_2_effort", "N m", "torque that motor 2 applies, after its limits"),
    "motor_power": ("motor_power", "W", "mechanical power of the motors"),
    "at_stop": ("at_stop", "", "1 where a motor stands at a stop"),
    "reference_1": ("reference_1", "", "first reference in force, unit by mode"),
    "reference_2": ("reference_2", "", "second reference in force, unit by mode; NaN where the mode has none"),
}

STATE_FIELDS: tuple[str, ...] = tuple(_STATE)
"""Fields of a sample, in order."""

_COMMAND_UNIT = {
    Mode.LINK_TORQUE: ("N m", ""),
    Mode.LINK_PID: ("rad", ""),
    Mode.SPRING_REFS: ("rad", "rad"),
    Mode.SPRING_EQ_PRESET: ("rad", "rad"),
    Mode.MOTOR_TORQUES: ("N m", "N m"),
    Mode.PID_REFS: ("rad", "rad"),
    Mode.PID_EQ_PRESET: ("rad", "rad"),
}


def _mode_commands(actuator: CompliantActuator) -> dict[str, dict[str, FieldInfo]]:
    """Return mode name -> command field -> what it carries, for the modes that the actuator can have."""
    modes: dict[str, dict[str, FieldInfo]] = {}
    lever = actuator.law.second_input == "lever"
    length = float(getattr(actuator.law, "L", np.inf))
    for mode, names in COMMAND_NAMES.items():
        unit_1, unit_2 = _COMMAND_UNIT[mode]
        fields = {names[0]: FieldInfo(unit=unit_1, description=f"reference 1 of mode {mode.value}")}
        if mode.has_spring and actuator.law.motors == 2:
            if lever and mode != Mode.MOTOR_TORQUES:
                # A lever at its full length has infinite stiffness.
                fields[names[1]] = FieldInfo(
                    unit="m", low=0.0, high=float(np.nextafter(length, 0.0)), description="lever position sigma"
                )
            else:
                fields[names[1]] = FieldInfo(
                    unit="N" if lever else unit_2, description=f"reference 2 of mode {mode.value}"
                )
        fields["external_torque"] = FieldInfo(unit="N m", description="torque added to the link from outside")
        modes[mode.name.lower()] = fields
    return modes


class CompliantJoint(DeviceBase):
    """One compliant joint as the toolbox's plugin shows it, with an external torque that works.

    Commands are the two references of the joint's mode, by the toolbox's names (mode 6: ``equilibrium_position``,
    ``stiffness_preset``), and ``external_torque`` [N m]. Before the first command the joint holds its pose.

    Args:
        joint: name of the joint, and of the device unless ``name`` is given.
        actuator: the actuator of that joint.
        name: name of the device; None takes the joint's.
        options: `DeviceBase`'s: period, sample_period, latency, command_latency, watchdog, noise, stamp.
    """

    def __init__(self, joint: str, actuator: CompliantActuator, *, name: str | None = None, **options: Any) -> None:
        lever = actuator.law.second_input == "lever"
        fields = {}
        for key, (_, unit, text) in _STATE.items():
            if lever and key in ("preset", "motor_2_position", "motor_2_velocity"):
                unit = unit.replace("rad", "m")
            elif lever and key in ("load_2", "motor_2_effort"):
                unit = "N"
            elif key in ("reference_1", "reference_2"):
                unit = _COMMAND_UNIT[actuator.mode][int(key[-1]) - 1]
                if lever and key == "reference_2":
                    unit = "N" if actuator.mode == Mode.MOTOR_TORQUES else "m"
            fields[key] = FieldInfo(unit=unit, description=text)
        super().__init__(name or joint, samples=fields, commands=_mode_commands(actuator), **options)
        self.joint = joint
        self.actuator = actuator
        self.mode = actuator.mode

    def _connect(self, engine: Engine) -> None:
        joint = self.joint
        self._position = engine.port(f"{joint}/position")
        self._velocity = engine.port(f"{joint}/velocity")
        self._external = engine.port(f"{joint}/external_torque")
        self._ref_1 = engine.port(f"{joint}/reference_1")
        self._ref_2 = engine.port(f"{joint}/reference_2") if f"{joint}/reference_2" in engine.ports() else None
        own = ("position", "velocity", "external_torque", "reference_1", "reference_2")
        self._observed = [engine.port(f"{joint}/{source}") for key, (source, _, _) in _STATE.items() if key not in own]

    def _restart(self, rng: np.random.Generator) -> None:
        self.mode = self.actuator.mode
        self._external[0] = 0.0
        self._accept()

    def _accept(self) -> None:
        self.inbox.accept([self.mode.name.lower()])
        self._name_1, self._name_2 = COMMAND_NAMES[self.mode]

    def _latch(self, command: Command) -> None:
        values = command.values
        value = values.get(self._name_1)
        if value is not None:
            self._ref_1[0] = value
        if self._ref_2 is not None:
            value = values.get(self._name_2)
            if value is not None:
                self._ref_2[0] = value
        value = values.get("external_torque")
        if value is not None:
            self._external[0] = value

    def _measure(self) -> dict[str, float | np.ndarray]:
        o = self._observed
        return {
            "position": self._position.item(),
            "velocity": self._velocity.item(),
            "torque": o[0].item(),
            "external_torque": self._external.item(),
            "stiffness": o[1].item(),
            "reported_stiffness": o[2].item(),
            "elastic_torque": o[3].item(),
            "load_1": o[4].item(),
            "load_2": o[5].item(),
            "energy": o[6].item(),
            "equilibrium": o[7].item(),
            "preset": o[8].item(),
            "motor_1_position": o[9].item(),
            "motor_1_velocity": o[10].item(),
            "motor_1_effort": o[11].item(),
            "motor_2_position": o[12].item(),
            "motor_2_velocity": o[13].item(),
            "motor_2_effort": o[14].item(),
            "motor_power": o[15].item(),
            "at_stop": o[16].item(),
            "reference_1": self._ref_1.item(),
            "reference_2": np.nan if self._ref_2 is None else self._ref_2.item(),
        }

    def _trip(self) -> None:
        """Hold the present pose: what a qbMove does when its watchdog expires is to stop; here it stays."""
        self._hold()

    def _hold(self) -> None:
        engine: Any = self._engine
        engine.set_mode(self.joint, self.mode)

    @request
    def set_mode(self, mode: int | str) -> int:
        """Switch the operation mode, among those with the same state; the joint holds its pose until commanded.

        Raises:
            DeviceError: no such mode.
            ModelError: the mode needs another state than the robot was compiled with.
        """
        engine: Any = self._engine
        try:
            new = Mode[mode.upper()] if isinstance(mode, str) and not mode.isdigit() else Mode(int(mode))
        except (KeyError, ValueError):
            names = ", ".join(f"{m.value} {m.name.lower()}" for m in Mode)
            raise DeviceError(f"{self.name}: there is no mode {mode!r}; valid: {names}", field="mode") from None
        engine.set_mode(self.joint, new)
        self.mode = new
        self._accept()
        return int(new)

    @request
    def set_gains(
        self, motor: int = 1, kp: float | None = None, ki: float | None = None, kd: float | None = None
    ) -> None:
        """Change the gains of a motor's controller.

        Raises:
            LawError: a gain that is negative or not finite, or a motor that does not exist.
        """
        engine: Any = self._engine
        gains = {name: value for name, value in (("kp", kp), ("ki", ki), ("kd", kd)) if value is not None}
        engine.set_gains(self.joint, motor, **gains)

    @request
    def hold(self) -> None:
        """Hold the present pose until the next command."""
        self._hold()

"""Electronics of one compliant joint: accepts the commands of its mode and returns its state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

import numpy as np

from pliant.base.errors import DeviceError, ModelError
from pliant.devices.base import Command, DeviceBase, DeviceOptions, FieldInfo, request
from pliant.devices.command_range import CommandRange
from pliant.engine.base import Engine
from pliant.laws import COMMAND_NAMES, COMMANDS, JOINT_FIELDS, CompliantActuator, Mode
from pliant.laws.fields import SAMPLED
from pliant.model.parameters import parse_mode


def _mode_commands(actuator: CompliantActuator, slides: bool) -> dict[str, dict[str, FieldInfo]]:
    """Return mode name -> command field -> what it carries, for the modes that the actuator can have."""
    modes: dict[str, dict[str, FieldInfo]] = {}
    kind = actuator.law.second_input
    lever = kind == "lever"
    length = float(getattr(actuator.law, "L", np.inf))
    for mode, (first, second) in COMMANDS.items():
        fields = {
            first.name: FieldInfo(
                unit=first.unit_of(kind, slides=slides), description=f"reference 1 of mode {mode.value}"
            )
        }
        if mode.has_spring and actuator.law.motors == 2:
            if lever and mode != Mode.MOTOR_TORQUES:
                # A lever at its full length has infinite stiffness.
                fields[second.name] = FieldInfo(
                    unit="m", low=0.0, high=float(np.nextafter(length, 0.0)), description="lever position sigma"
                )
            else:
                fields[second.name] = FieldInfo(
                    unit=second.unit_of(kind, slides=slides), description=f"reference 2 of mode {mode.value}"
                )
        unit = JOINT_FIELDS["external_torque"].unit_of(kind, slides=slides)
        fields["external_torque"] = FieldInfo(unit=unit, description="torque added to the link from outside")
        modes[mode.name.lower()] = fields
    return modes


class CompliantJoint(DeviceBase):
    """Device for one compliant joint, with the interface of the toolbox's plugin and a working external torque.

    Commands are the two references of the joint's mode, with the toolbox's names (mode 6: ``equilibrium_position``
    and ``stiffness_preset``), and ``external_torque`` [N m]. Before the first command the joint holds its pose.
    When its spring breaks (`pliant.laws.Strength`), reading the device raises a DeviceError, which ends the run.

    Args:
        joint: name of the joint, and of the device unless ``name`` is given.
        actuator: actuator of the joint.
        name: name of the device; None uses the name of the joint.
        slides: whether the joint slides: positions are in metres and torques are forces.
        options: options of `DeviceBase`: period, sample_period, latency, command_latency, watchdog, noise, stamp.
    """

    signatures = ("joint",)

    def __init__(
        self,
        joint: str,
        actuator: CompliantActuator,
        *,
        name: str | None = None,
        slides: bool = False,
        **options: Unpack[DeviceOptions],
    ) -> None:
        kind = actuator.law.second_input
        units = {field.name: field.unit_of(kind, slides=slides) for field in JOINT_FIELDS.values()}
        first, second = COMMANDS[actuator.mode]
        units |= {f"reference_{n}": one.unit_of(kind, slides=slides) for n, one in enumerate((first, second), 1)}
        fields = {key: FieldInfo(unit=units[key], description=JOINT_FIELDS[key].description) for key in SAMPLED}
        super().__init__(name or joint, samples=fields, commands=_mode_commands(actuator, slides), **options)
        self.joint = joint
        self.joints = (joint,)
        self.actuator = actuator
        self.mode = actuator.mode
        self._gains = _gains_of(actuator)
        self._range = CommandRange(self.name, joint, actuator)
        # A joint whose mode has no motors shows none; a replay and a plot have to know.
        self.metadata = {"motors": str(int(actuator.mode.has_motors)), "mode": str(int(actuator.mode))}

    def _connect(self, engine: Engine) -> None:
        joint = self.joint
        self._external = engine.port(f"{joint}/external_torque")
        self._ref_1 = engine.port(f"{joint}/reference_1")
        self._ref_2 = engine.port(f"{joint}/reference_2") if f"{joint}/reference_2" in engine.ports() else None
        self._range.attach(engine)
        # A spring that can break ends the run when it does.
        can_break = self.actuator.strength is not None and np.isfinite(self.actuator.strength.break_torque)
        self._broken = engine.port(f"{joint}/broken") if can_break else None
        nothing = np.full(1, np.nan)
        ports = {"reference_2": nothing if self._ref_2 is None else self._ref_2}
        self._measured = [
            (name, (ports[name] if name in ports else engine.port(f"{joint}/{name}")).item) for name in SAMPLED
        ]

    def _restart(self, rng: np.random.Generator) -> None:
        self.mode = self.actuator.mode
        self._gains = _gains_of(self.actuator)
        self._external[0] = 0.0
        self._range.restart()
        self._accept()

    def _accept(self) -> None:
        self.inbox.accept([self.mode.name.lower()])
        self._name_1, self._name_2 = COMMAND_NAMES[self.mode]
        self._range.select(self.mode)

    def _latch(self, command: Command) -> None:
        values = command.values
        limits = self._range
        first = values.get(self._name_1)
        if first is not None:
            self._ref_1[0] = first
            if not limits.low[0] <= first <= limits.high[0]:
                limits.warn(0, float(first))
        if self._ref_2 is not None:
            second = values.get(self._name_2)
            if second is not None:
                self._ref_2[0] = second
                if not limits.low[1] <= second <= limits.high[1]:
                    limits.warn(1, float(second))
                if first is not None and abs(first - second) >= limits.max_spread:
                    limits.warn_spread(float(first), float(second))
        external = values.get("external_torque")
        if external is not None:
            self._external[0] = external
            if not limits.low[2] <= external <= limits.high[2]:
                limits.warn(2, float(external))

    def _measure(self) -> dict[str, float | np.ndarray]:
        if self._broken is not None and self._broken[0] != 0.0:
            self._report_breakage(float(self._broken[0]))
        return {name: item() for name, item in self._measured}

    def _report_breakage(self, torque: float) -> None:
        strength = self.actuator.strength
        limit = f" of {strength.break_torque:g} N m" if strength is not None else ""
        raise DeviceError(
            f"{self.name}: the spring of joint {self.joint!r} broke at t = {self._engine.time_ns * 1e-9:.6g} s: its "
            f"torque {torque:.4g} N m reached strength.break_torque{limit}; it transmits nothing any more",
            field=f"{self.joint}.strength.break_torque",
        )

    def _trip(self) -> None:
        """Hold the present pose: what a qbMove does when its watchdog expires is to stop; here it stays."""
        self._hold()

    def _hold(self) -> None:
        self._engine.set_mode(self.joint, self.mode)

    @property
    def command_ports(self) -> Mapping[str, str]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Command field of the present mode -> engine port, without the second reference where there is none."""
        names = (*COMMAND_NAMES[self.mode], "external_torque")
        taken = self.commands[self.mode.name.lower()]
        ports = zip(names, ("reference_1", "reference_2", "external_torque"), strict=True)
        return {name: f"{self.joint}/{port}" for name, port in ports if name in taken}

    @property
    def gains(self) -> Mapping[str, float]:
        """Gains in force, ``kp_1``, ``ki_1``, ``kd_1`` and those of motor 2; units as in `set_gains`."""
        return self._gains

    def limits(self, mode: str, command: str) -> tuple[float, float]:
        """Return the lowest and the highest value of a command that the joint can follow, in the command's unit."""
        return self._range.limits(Mode[mode.upper()], command)

    @request
    def set_mode(self, mode: int | str) -> int:
        """Switch the operation mode, 0 to 6 or a name; the joint holds its pose until the next command.

        Only modes with the same state variables as the compiled robot are available.

        Raises:
            DeviceError: the mode does not exist.
            ModelError: the mode needs other state variables than the robot was compiled with.
        """
        try:
            new = parse_mode(mode)
        except ModelError:
            names = ", ".join(f"{m.value} {m.name.lower()}" for m in Mode)
            raise DeviceError(f"{self.name}: there is no mode {mode!r}; must be one of {names}", field="mode") from None
        self._engine.set_mode(self.joint, new)
        self.mode = new
        self._accept()
        return int(new)

    @request
    def set_gains(
        self, motor: int = 1, kp: float | None = None, ki: float | None = None, kd: float | None = None
    ) -> None:
        """Change the gains of the controller of a motor.

        Args:
            motor: number of the motor, 1 or 2.
            kp: proportional gain [N m/rad; lever: N/m]; None keeps the present value, for each of the gains.
            ki: integral gain [N m/(rad s); lever: N/(m s)].
            kd: derivative gain [N m s/rad; lever: N s/m].

        Raises:
            LawError: a gain is negative or not finite, or the motor does not exist.
        """
        gains = {name: value for name, value in (("kp", kp), ("ki", ki), ("kd", kd)) if value is not None}
        self._engine.set_gains(self.joint, motor, **gains)
        # A new dictionary: other threads read the old one meanwhile.
        self._gains = self._gains | {f"{name}_{motor}": float(value) for name, value in gains.items()}

    @request
    def hold(self) -> None:
        """Hold the current pose until the next command."""
        self._hold()


def _gains_of(actuator: CompliantActuator) -> dict[str, float]:
    """Return the gains of the controllers with which a run begins."""
    return {
        f"{gain}_{motor}": float(getattr(pid, gain))
        for motor, pid in ((1, actuator.pid_1), (2, actuator.pid_2))
        if pid is not None and (motor == 1 or actuator.law.motors == 2)
        for gain in ("kp", "ki", "kd")
    }

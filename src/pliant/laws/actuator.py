"""Compliant actuator: law, operation mode, motors and controllers."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.errors import LawError
from pliant.base.numerics import Array
from pliant.base.options import check_values, option
from pliant.laws import layout
from pliant.laws.base import Law
from pliant.laws.friction import PreslidingFriction
from pliant.laws.modes import Mode
from pliant.laws.motor import DCMotor, Drive, LeverDrive
from pliant.laws.pid import PID
from pliant.laws.spring import Creep, Hysteresis, Strength
from pliant.laws.transmission import Backlash


@dataclass(frozen=True, slots=True)
class ActuatorTraces:
    """Result of `CompliantActuator.simulate`; every array has one entry per sample."""

    time: Array
    """Time of each sample [s], shape (n,)."""
    torque: Array
    """Torque applied to the link in the step that begins at the sample [N m], shape (n,)."""
    values: dict[str, Array]
    """The fields of `pliant.laws.fields.OBSERVED`, each of shape (n,), at the motor positions that determine the
    torque (after the step of the motors in modes 5 and 6, before it in mode 4)."""

    def __getattr__(self, name: str) -> Array:
        try:
            return self.values[name]
        except KeyError:
            raise AttributeError(name) from None


@dataclass(frozen=True, slots=True)
class CompliantActuator:
    """Compliant joint actuator: constitutive law, operation mode, motors and their controllers.

    Example:
        >>> arm.add_actuator("elbow", CompliantActuator(QbMove(), mode=Mode.PID_EQ_PRESET))
    """

    law: Law
    """The constitutive law."""
    mode: Mode = Mode.PID_EQ_PRESET
    """Operation mode, 0 to 6."""
    motor_1: DCMotor | Drive = field(default_factory=DCMotor)
    """Motor 1; of muscles a `PneumaticDrive`, which takes the place of the default."""
    motor_2: DCMotor | Drive | None = None
    """Motor 2; None for a default `DCMotor`, a `LeverDrive` if the second input of the law is a lever, or for muscles
    the drive of the first one."""
    pid_1: PID | None = None
    """Controller of motor 1 (modes 5, 6) or of the link (mode 1); None for the gains of the toolbox (kp/ki/kd):
    125/0/4.5, and 0.8/0/0.2 in mode 1."""
    pid_2: PID | None = None
    """Controller of motor 2; None for the gains of the toolbox, or the default gains of a lever drive or of a valve."""
    link_friction: PreslidingFriction | None = None
    """Friction of the actuator on the link side of the spring; None for no friction, as in the original toolbox."""
    link_damping: float = option(0.0, unit="N m s/rad", low=0.0)
    """Viscous damping of the link in the actuator."""
    link_preset_damping: float = option(0.0, unit="N m s/rad^2", low=0.0)
    """Increase of the link damping per unit of preset."""
    link_backlash: Backlash | None = None
    """Play between the spring and the link; None for none."""
    hysteresis: Hysteresis | None = None
    """Hysteresis of the spring; None for none."""
    creep: Creep | None = None
    """Creep of the spring; None for none."""
    strength: Strength | None = None
    """Yield and breakage of the spring; None for a spring that bears everything."""
    command_delay: float = option(0.0, unit="s", low=0.0, high=10.0)
    """Delay of the references on the bus, rounded to whole time steps."""
    command_resolution: float = option(0.0, unit="rad", low=0.0)
    """Quantisation step of the references, 1.9175e-4 rad for the qbMove. Lever positions are not quantised."""
    reference_slew_1: float = option(math.inf, low=0.0, above=True, infinite=True)
    """Largest rate of reference 1 in its unit per second, by the firmware or the driver; infinity for no limit."""
    reference_slew_2: float = option(math.inf, low=0.0, above=True, infinite=True)
    """Largest rate of reference 2 in its unit per second; infinity for no limit."""
    initial_preset: float | None = option(None, unit="rad")
    """Preset before the first command: theta_sr [rad], or sigma [m] of a lever; None for 0 rad, or 0.01 m."""
    start: str = option("pose", choices=("pose", "zero"))
    """Initial motor position: "pose" for the joint position, "zero" for 0 as in the original toolbox. "zero" causes an
    initial torque step if the joint position is not 0."""

    def __post_init__(self) -> None:
        put = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731
        try:
            put("mode", Mode(self.mode))
        except ValueError:
            modes = ", ".join(f"{m.value} {m.name}" for m in Mode)
            raise LawError(f"CompliantActuator: mode is {self.mode!r}; must be one of {modes}", field="mode") from None
        check_values(self, LawError)
        name = "CompliantActuator"
        lever = self.law.second_input == "lever"
        if self.law.step is not None:
            self.law.complete(self, put)
        elif isinstance(self.motor_1, Drive) or isinstance(self.motor_2, Drive):
            raise LawError(f"{name}: {self.law.label} has motors; motor_1 must be a DCMotor", field="motor_1")
        for field_name, linear in (("motor_1", False), ("motor_2", lever)):
            if isinstance(getattr(self, field_name), LeverDrive) and not linear:
                raise LawError(
                    f"{name}: {field_name} of {self.law.label} turns; must be a DCMotor, not a LeverDrive",
                    field=field_name,
                )
        if self.law.motors == 1:
            if self.motor_2 is not None or self.pid_2 is not None:
                raise LawError(
                    f"CompliantActuator: {self.law.label} has one motor; omit motor_2 and pid_2",
                    field="motor_2",
                )
        else:
            if self.motor_2 is None:
                top = 0.9 * getattr(self.law, "L", 0.05)
                put("motor_2", LeverDrive(max_position=top) if lever else DCMotor())
            if self.pid_2 is None:
                # A lever drive of 2 kg at 100 rad/s and damping ratio 1, drive friction counted: assumed.
                put("pid_2", PID(kp=2.0e4, kd=300.0) if lever else PID())
        if lever and self.motor_2 is not None:
            length = getattr(self.law, "L", math.inf)
            if not isinstance(self.motor_2, LeverDrive):
                raise LawError(f"CompliantActuator: {self.law.label} needs a LeverDrive as motor_2", field="motor_2")
            if self.motor_2.max_position >= length:
                raise LawError(
                    f"CompliantActuator: motor_2.max_position is {self.motor_2.max_position:g} m; must be below the "
                    f"lever's length L = {length:g} m, where the stiffness is infinite",
                    field="max_position",
                )
        if self.pid_1 is None:
            put("pid_1", PID(kp=0.8, kd=0.2) if self.mode == Mode.LINK_PID else PID())
        if self.initial_preset is None:
            put("initial_preset", layout.USUAL_PRESETS[self.law.second_input])
        self.check_preset(self.initial_preset, "initial_preset")

    def replace(self, **changes: object) -> CompliantActuator:
        """Return a copy with some fields changed, given by field name."""
        return dataclasses.replace(self, **changes)

    def check_preset(self, preset: float | None, field: str = "stiffness_preset") -> None:
        """Raise LawError if a preset is not valid for the law: a lever position at or beyond the lever length, a
        pressure below that of the ambient air."""
        if self.law.second_input == "pressure" and preset is not None and preset < 0.0:
            raise LawError(f"{self.law.label}: {field} is a gauge pressure of {preset:g} Pa; must be >= 0", field=field)
        if self.law.second_input != "lever" or preset is None:
            return
        length = getattr(self.law, "L", math.inf)
        if not 0.0 <= preset < length:
            raise LawError(
                f"{self.law.label}: {field} sigma is {preset:g} m; must be >= 0 and below L = {length:g} m, "
                "where the stiffness is infinite",
                field=field,
            )

    @property
    def commands(self) -> int:
        """Number of references of the mode: 1 or 2."""
        return 1 if self.mode < Mode.SPRING_REFS or self.law.motors == 1 else 2

    def delay_steps(self, dt: float) -> int:
        """Return the command delay as a number of steps of length dt [s]."""
        return round(self.command_delay / dt) if self.command_delay > 0.0 else 0

    def pack(self, dt: float) -> Array:
        """Return the parameter vector of `pliant.laws.layout`, shape (PARAMETERS,), or longer if the law has a table.

        Args:
            dt: time step [s], which determines the length of the delay line.
        """
        law = self.law
        own = law.parameters()
        par = np.zeros(max(layout.PARAMETERS, own.size))
        par[: own.size] = own
        par[layout.P_MAGIC] = layout.MAGIC
        par[layout.P_LAW] = layout.law_key(law.name)
        par[layout.P_MODE] = float(self.mode)
        par[layout.P_SECOND] = float(layout.SECOND_INPUTS.index(law.second_input))
        par[layout.P_COMPANION] = float(self.commands == 2)
        if (self.mode >= Mode.SPRING_REFS and self.mode != Mode.MOTOR_TORQUES) or self.mode == Mode.LINK_PID:
            if law.second_input != "pressure" or self.mode in (Mode.SPRING_EQ_PRESET, Mode.PID_EQ_PRESET):
                par[layout.P_RESOLUTION_1] = self.command_resolution
            if law.second_input == "angle":
                par[layout.P_RESOLUTION_2] = self.command_resolution
        delay = self.delay_steps(dt)
        par[layout.P_DELAY] = delay
        if self.link_friction is not None:
            layout.pack_friction(par, layout.P_LINK_FRICTION, self.link_friction)
        par[layout.P_LINK_DAMPING : layout.P_LINK_DAMPING + 2] = (self.link_damping, self.link_preset_damping)
        for base, motor in ((layout.M_1, self.motor_1), (layout.M_2, self.motor_2 or self.motor_1)):
            if isinstance(motor, Drive):
                numbers = motor.pack()
                par[base : base + len(numbers)] = numbers
            else:
                layout.pack_motor(par, base, motor)
        layout.pack_spring(par, self)
        first = cast("PID", self.pid_1)  # `__post_init__` has filled it in
        layout.pack_pid(par, layout.C_1, first)
        layout.pack_pid(par, layout.C_2, self.pid_2 or first)

        size = 0
        par[layout.A_LINK : layout.A_TEMPERATURE_2 + 1] = -1.0
        par[layout.A_PLAY : layout.A_GEAR_2 + 1] = -1.0
        slews = [0.0 if math.isinf(rate) else rate for rate in (self.reference_slew_1, self.reference_slew_2)]
        par[layout.P_SLEW_1 : layout.P_SLEW_2 + 1] = slews

        def reserve(where: int, length: int) -> None:
            nonlocal size
            par[where] = size
            size += length

        two = law.motors == 2
        if self.mode == Mode.LINK_PID:
            reserve(layout.A_MOTOR_1, 1)
        elif self.mode.has_motors:
            reserve(layout.A_MOTOR_1, layout.MOTOR_STATES)
            if two:
                reserve(layout.A_MOTOR_2, layout.MOTOR_STATES)
            if isinstance(self.motor_1, DCMotor) and self.motor_1.electrical is not None:
                reserve(layout.A_CURRENT_1, 1)
            if two and isinstance(self.motor_2, DCMotor) and self.motor_2.electrical is not None:
                reserve(layout.A_CURRENT_2, 1)
        controlled = self.mode.has_motors or self.mode == Mode.LINK_PID
        if self.pid_1 is not None and self.pid_1.velocity_feedforward and controlled:
            reserve(layout.A_PREVIOUS_1, 1)
        if two and self.pid_2 is not None and self.pid_2.velocity_feedforward and self.mode.has_motors:
            reserve(layout.A_PREVIOUS_2, 1)
        if max(par[layout.A_PREVIOUS_1], par[layout.A_PREVIOUS_2]) >= 0.0:
            reserve(layout.A_RATES, 2)
        if self.link_friction is not None:
            reserve(layout.A_LINK, 1)
        if self.mode.has_motors:
            if isinstance(self.motor_1, DCMotor) and self.motor_1.thermal is not None:
                reserve(layout.A_TEMPERATURE_1, 1)
            if two and isinstance(self.motor_2, DCMotor) and self.motor_2.thermal is not None:
                reserve(layout.A_TEMPERATURE_2, 1)
        if any(slews):
            reserve(layout.A_SLEW, 2)
        first = size
        for where, length in self._blocks():
            reserve(where, length)
        par[layout.P_BLOCKS] = float(size > first)
        if delay > 0:
            reserve(layout.A_DELAY, 1 + 2 * delay)
        par[layout.P_STATES] = size
        return par

    def _blocks(self) -> list[tuple[int, int]]:
        """Return the place of each block between motors and link in the parameter vector, and its number of states."""
        if not self.mode.has_spring:
            return []
        strength = self.strength or Strength()
        found = [
            (layout.A_PLAY, 1, self.link_backlash is not None),
            (layout.A_YIELD, 1, not math.isinf(strength.yield_torque)),
            (layout.A_BROKEN, 1, not math.isinf(strength.break_torque)),
            (layout.A_SLIP, layout.SLIPS, self.hysteresis is not None),
            (layout.A_CREEP, 1, self.creep is not None),
        ]
        motors = (self.motor_1, self.motor_2)[: self.law.motors] if self.mode.has_motors else ()
        for k, motor in enumerate(motors):
            if isinstance(motor, DCMotor):
                found.append((layout.A_PLAY_1 + k, 1, motor.backlash is not None))
                found.append((layout.A_TENDON_1 + k, 1, motor.tendon is not None))
                found.append((layout.A_GEAR_1 + k, 2, motor.gear is not None))
        return [(where, length) for where, length, present in found if present]

    def states(self, dt: float) -> int:
        """Return the number of state variables for a time step dt [s]."""
        return int(self.pack(dt)[layout.P_STATES])

    def hold(self, q: float, dt: float) -> tuple[Array, tuple[float, float]]:
        """Return the state at rest at link angle q, and the references that maintain it.

        Args:
            q: link angle [rad].
            dt: time step [s].

        Returns:
            (state, (ref_1, ref_2)): state of shape (states,), references in the units of the mode.
        """
        return self.hold_packed(q, self.pack(dt))

    def hold_packed(self, q: float, par: Array) -> tuple[Array, tuple[float, float]]:
        """Return the same as `hold`, with the parameter vector of `pack`."""
        from pliant.laws.compile import compiled

        size = int(par[layout.P_STATES])
        state, refs = np.zeros(max(1, size)), np.zeros(2)
        begin = 0.0 if self.start == "zero" else q
        call_hold(compiled(type(self.law)).hold, par, begin, float(self.initial_preset or 0.0), state, refs)
        return state[:size], (float(refs[0]), float(refs[1]))

    def simulate(
        self,
        q: ArrayLike,
        dq: ArrayLike | None,
        ref_1: ArrayLike,
        ref_2: ArrayLike = 0.0,
        dt: float = 1.0e-3,
        *,
        state: ArrayLike | None = None,
    ) -> ActuatorTraces:
        """Simulate the actuator along a prescribed motion of the link.

        Args:
            q: link angle at each sample, shape (n,) [rad].
            dq: link velocity, shape (n,) [rad/s]; None for finite differences of q.
            ref_1: first reference in the unit of the mode (see `Mode`), scalar or shape (n,).
            ref_2: second reference in the unit of the mode, scalar or shape (n,).
            dt: time step [s].
            state: initial state, shape (states,); None starts at rest at q[0].

        Returns:
            Torque and all observed fields at each sample.

        Raises:
            LawError: shapes do not match, values are not finite, or dt is not positive.
        """
        from pliant.laws.compile import compiled

        if isinstance(dt, bool | str) or not 0.0 < dt < math.inf:
            raise LawError(f"simulate: dt is {dt!r}; must be a number > 0 [s]", field="dt")
        q = np.array(_numbers("q", q), order="C")
        if q.ndim != 1 or q.size == 0:
            raise LawError(f"simulate: q has shape {q.shape}; must be (n,) with n >= 1", field="q")
        if dq is None:
            dq = np.asarray(np.gradient(q, dt)) if q.size > 1 else np.zeros(1)
        traces = {"q": q}
        for name, value in (("dq", dq), ("ref_1", ref_1), ("ref_2", ref_2)):
            array = _numbers(name, value)
            if array.shape not in ((), q.shape):
                raise LawError(f"simulate: {name} has shape {array.shape}; must be a number or {q.shape}", field=name)
            traces[name] = np.array(np.broadcast_to(array, q.shape), order="C")
        for name, array in traces.items():
            bad = np.flatnonzero(~np.isfinite(array))
            if bad.size:
                raise LawError(f"simulate: {name}[{bad[0]}] is {array[bad[0]]}; must be finite numbers", field=name)
        if self.mode in (Mode.SPRING_EQ_PRESET, Mode.PID_EQ_PRESET, Mode.SPRING_REFS, Mode.PID_REFS):
            self.check_preset(float(traces["ref_2"].max()), "ref_2")
            self.check_preset(float(traces["ref_2"].min()), "ref_2")
        par = self.pack(dt)
        size = int(par[layout.P_STATES])
        act = np.zeros(2 * size + 1)
        if state is None:
            act[:size] = self.hold_packed(float(q[0]), par)[0]
        else:
            given = _numbers("state", state)
            if given.shape != (size,):
                raise LawError(f"simulate: state has shape {given.shape}; must be ({size},)", field="state")
            act[:size] = given
        torque = np.zeros(q.size)
        trace = np.empty((q.size, layout.OBSERVATIONS))
        compiled(type(self.law)).simulate(
            par, q, traces["dq"], traces["ref_1"], traces["ref_2"], dt, act, np.empty(0), torque, trace
        )
        values = dict(zip(layout.OUT, np.ascontiguousarray(trace.T), strict=True))
        return ActuatorTraces(np.arange(q.size, dtype=float) * dt, torque, values)


def _numbers(name: str, value: ArrayLike) -> Array:
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise LawError(f"simulate: {name} is {value!r}; must be numbers", field=name) from None


def call_hold(
    address: int,
    par: Array,
    q: float,
    preset: float,
    state: Array,
    refs: Array,
) -> None:
    """Call a compiled `hold` kernel on contiguous arrays."""
    import ctypes

    pointer = ctypes.POINTER(ctypes.c_double)
    function = ctypes.CFUNCTYPE(None, pointer, ctypes.c_double, ctypes.c_double, pointer, pointer)(address)
    as_pointer = lambda a: a.ctypes.data_as(pointer)  # noqa: E731
    function(as_pointer(par), q, preset, as_pointer(state), as_pointer(refs))

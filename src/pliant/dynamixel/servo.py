"""The firmware of one servo: instructions on its control table, operating modes, profiles and shutdown.

Positions, speeds and torques at the output are in radians and SI; the control table is in published units. Numbers that
ROBOTIS does not publish are marked as assumed; docs/limitations.md lists what is not modelled.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from pliant.dynamixel.memory import Memory, Refused
from pliant.dynamixel.models import RPM, ServoModel
from pliant.dynamixel.motor import Actuation, Motion, Motor
from pliant.dynamixel.profile import STEP, Profile, plan, plan_time
from pliant.dynamixel.table import TURNS_LIMIT, Item
from pliant.dynamixel.wire import Error

PULSE = 2.0 * math.pi / 4096.0
"""One pulse [rad]."""
VELOCITY = 0.229 * RPM
"""One unit of velocity [rad/s]."""
ACCELERATION = 214.577 * 2.0 * math.pi / 3600.0
"""One unit of acceleration [rad/s^2]."""
CENTRE = 2048
"""Position of a servo at its zero angle [pulse]."""
FULL_PWM = 885.0
"""PWM of the full supply."""
BAUD_RATES = (9600, 57_600, 115_200, 1_000_000, 2_000_000, 3_000_000, 4_000_000, 4_500_000)
"""Rates by the value of Baud Rate."""
MEASURED_FROM = 120
"""First address of what is measured."""
MAX_KEPT_READS = 64
"""Most ranges of addresses whose items are remembered."""
CURRENT, SPEED, POSITION, EXTENDED, CURRENT_POSITION, PWM = 0, 1, 3, 4, 5, 16
"""Operating modes."""
RESET_WITH_MODE = (
    "Velocity I Gain",
    "Velocity P Gain",
    "Position D Gain",
    "Position I Gain",
    "Position P Gain",
    "Feedforward 1st Gain",
    "Feedforward 2nd Gain",
    "Profile Velocity",
    "Profile Acceleration",
)
"""Items that have their initial value after another operating mode is chosen."""
POSITIONS = (POSITION, EXTENDED, CURRENT_POSITION)
GOALS = ("Goal PWM", "Goal Current", "Goal Velocity", "Goal Position")
INPUT_VOLTAGE, OVERHEATING, OVERLOAD = 0x01, 0x04, 0x20
"""Bits of Hardware Error Status."""
OVERLOAD_SHARE, OVERLOAD_TIME = 0.8, 1.0
"""Share of the torque at stall, and how long it lasts before it is an overload [s]. # assumed"""
HEATING, COOLING_TIME = 120.0, 300.0
"""Rise of the temperature at the current at stall [K], and its time constant [s]. # assumed"""
IN_POSITION, FOLLOWING = 10, 100
"""Distance to the goal that is in position, and to the trajectory that is an error [pulse]. # assumed"""
FIRMWARE_PERIOD = 1e-3
"""Period to which the gains I and D refer [s]. # assumed"""
STIFF = 20.0
"""Gain from position to speed on an actuator that takes velocities [1/s]. # assumed"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServoSetup:
    """Model of a servo, and its mounting."""

    model: ServoModel
    """Type."""
    servo_id: int
    """ID at the start, 0 to 252."""
    actuation: Actuation = Actuation.TORQUE
    """What the actuator of its joint takes."""
    stall_torque: float
    """Torque at stall at the output [N m]; another one than that of the data sheet stands for a gear behind it."""
    inertia: float = math.inf
    """Inertia of the joint [kg m^2]."""
    voltage: float
    """Supply [V]."""
    ambient: float = 25.0
    """Temperature of the surroundings [C]."""
    baud: int = 1
    """Initial value of Baud Rate."""
    limp: bool = False
    """Whether the joint is limp before Torque Enable has been 1; otherwise nothing is commanded until then."""


class Servo:
    """One servo.

    Args:
        setup: what it is and where it is mounted.
    """

    def __init__(self, setup: ServoSetup) -> None:
        self.setup = setup
        self.memory = Memory(setup.model)
        self.motor = Motor(
            setup.stall_torque,
            setup.model.no_load_speed,
            setup.actuation,
            setup.inertia,
        )
        self.motion = Motion(0.0, 0.0, 0.0, 0.0)
        self._shown: dict[tuple[int, int], list[str]] = {}
        unit = setup.model.current_unit
        self._measures: dict[str, Callable[[], int]] = {
            "Realtime Tick": lambda: int(self._uptime * 1e3 + 1e-6) % 32768,
            "Moving": lambda: int(self._moving()),
            "Moving Status": self._moving_status,
            "Present PWM": self._present_pwm,
            "Present Current": lambda: _clipped(self._sense * self._current() / unit, 32767),
            "Present Velocity": lambda: _clipped(self._sense * self.motion.velocity / VELOCITY, 2**31 - 1),
            "Present Position": self.present_position,
            "Velocity Trajectory": self._trajectory_velocity,
            "Position Trajectory": self._trajectory_position,
            "Present Input Voltage": lambda: round(self.setup.voltage * 10.0),
            "Present Temperature": lambda: _clipped(self._temperature, 255),
        }
        self.reset()

    # ------------------------------------------------------------------ power
    def reset(self) -> None:
        """Return to the state of the factory, with the ID and the baud rate of the setup."""
        self.memory.restart(factory=True)
        self.memory["ID"] = self.setup.servo_id
        self.memory["Baud Rate"] = self.setup.baud
        self._temperature = self.setup.ambient
        self._commanded = self.setup.limp
        self._power_on()

    def reboot(self) -> None:
        """Start anew: the RAM area has its initial values, errors are gone, revolutions are forgotten."""
        self.memory.restart()
        self._power_on()

    def factory_reset(self, option: int) -> None:
        """Give the control table its initial values: 0xFF all of it, 1 not the ID, 2 neither ID nor baud rate.

        Raises:
            Refused: another option.
        """
        kept = {0xFF: (), 1: ("ID",), 2: ("ID", "Baud Rate")}.get(option)
        if kept is None:
            raise Refused(Error.DATA_RANGE, f"the option of a factory reset is {option}; must be 255, 1 or 2")
        self.memory.restart(factory=True, keep=kept)
        self._power_on()

    def _power_on(self) -> None:
        self._uptime = self._silent = self._strained = 0.0
        self._integral = 0.0
        self._registered: tuple[int, bytes] | None = None
        self._profile = Profile(0.0, 0.0, (), 0.0, STEP)
        self._elapsed = 0.0
        self._target = (0.0, 0.0)
        self._speed = 0.0
        self._ramp = math.inf
        self._output = 0.0
        self._turns = 0
        self._load_settings()
        self._forget_turns()
        self._reset_goals()
        self._align()
        if self.memory["Startup Configuration"] & 1:
            self.memory["Torque Enable"] = 1
            self._torque_changed()

    # ------------------------------------------------------------------ instructions
    @property
    def id(self) -> int:
        """The ID."""
        return self.memory["ID"]

    @property
    def alert(self) -> int:
        """The alert bit of a status packet."""
        return Error.ALERT if self.memory["Hardware Error Status"] else 0

    @property
    def baud(self) -> int:
        """The baud rate [bit/s]."""
        return BAUD_RATES[self.memory["Baud Rate"]]

    @property
    def return_delay(self) -> float:
        """The time between an instruction and its status packet [s]."""
        return 2e-6 * self.memory["Return Delay Time"]

    def begin(self, motion: Motion) -> None:
        """Switch the servo on at a state of its output."""
        self.motion = motion
        self.reset()

    def hear(self) -> None:
        """Take note that there was an instruction on the line, for the bus watchdog."""
        self._silent = 0.0

    def read(self, address: int, length: int) -> bytes:
        """Return bytes of the control table.

        Raises:
            Refused: see `Memory.read`.
        """
        if address + length > MEASURED_FROM:
            self._show(address, length)
        return self.memory.read(address, length)

    def write(self, address: int, data: bytes) -> None:
        """Write bytes of the control table.

        Raises:
            Refused: see `Memory.check_write` and `_limit`.
        """
        changes = self._checked(address, data)
        for item, value in changes:
            self.memory[item.name] = value
        # Whatever is written with a goal counts for that goal.
        for item, _ in sorted(changes, key=lambda change: change[0].name in GOALS):
            self._changed(item.name)

    def register(self, address: int, data: bytes) -> None:
        """Check a write, and keep it until `act`.

        Raises:
            Refused: as `write`.
        """
        self._checked(address, data)
        self._registered = address, data
        self.memory["Registered Instruction"] = 1

    def act(self) -> None:
        """Carry out the registered write.

        Raises:
            Refused: there is none, or it is not valid any more.
        """
        if self._registered is None:
            raise Refused(Error.INSTRUCTION, "Action without Reg Write")
        registered, self._registered = self._registered, None
        self.memory["Registered Instruction"] = 0
        self.write(*registered)

    def clear_turns(self) -> None:
        """Forget the revolutions: the present position is within one revolution.

        Raises:
            Refused: the servo moves.
        """
        if self._moving():
            raise Refused(Error.RESULT_FAIL, "the revolutions can be cleared only while the servo stands still")
        self._forget_turns()
        self._align()

    def _checked(self, address: int, data: bytes) -> list[tuple[Item, int]]:
        return self.memory.check_write(address, data, bool(self.memory["Torque Enable"]), self._limit)

    def _limit(self, item: Item, value: int) -> None:
        """Refuse what the present state does not allow.

        Raises:
            Refused: a goal beyond its limit or after the watchdog, or torque after a shutdown.
        """
        memory, name = self.memory, item.name
        if name == "Torque Enable" and value and memory["Hardware Error Status"] & memory["Shutdown"]:
            raise Refused(Error.RESULT_FAIL, "Torque Enable stays 0 after a shutdown; reboot the servo")
        if name not in GOALS:
            return
        if memory["Bus Watchdog"] < 0:
            raise Refused(Error.DATA_RANGE, f"{name} is read-only after the bus watchdog; write 0 to Bus Watchdog")
        if name == "Goal Position":
            single = memory["Operating Mode"] == POSITION
            low = memory["Min Position Limit"] if single else -TURNS_LIMIT
            high = memory["Max Position Limit"] if single else TURNS_LIMIT
        else:
            high = memory[name.removeprefix("Goal ") + " Limit"]
            low = -high
        if not low <= value <= high:
            raise Refused(Error.DATA_LIMIT, f"{name} is {value}; must be from {low} to {high}")

    def _changed(self, name: str) -> None:
        memory = self.memory
        if name == "Operating Mode":
            for gain in RESET_WITH_MODE:
                memory[gain] = memory.items[gain].initial
        self._load_settings()
        if name in GOALS:
            if memory["Drive Mode"] & 8 and not memory["Torque Enable"] and not self._shut_down:
                goal = memory[name]
                memory["Torque Enable"] = 1
                self._torque_changed()
                memory[name] = goal
                self._load_settings()
            if name == "Goal Position" and memory["Torque Enable"]:
                self._plan()
            elif name == "Goal Velocity":
                self._plan_ramp()
        elif name == "Torque Enable":
            self._torque_changed()
        elif name in ("Operating Mode", "Drive Mode", "Homing Offset"):
            if name == "Operating Mode" and self._mode == POSITION:
                self._forget_turns()
            self._reset_goals()
            self._align()
        elif name in ("PWM Limit", "Current Limit"):
            self._reset_goals()

    def _load_settings(self) -> None:
        """Take from the control table what every step needs."""
        m = self.memory
        self._enabled = bool(m["Torque Enable"])
        self._mode = m["Operating Mode"]
        self._sense = -1.0 if m["Drive Mode"] & 1 else 1.0
        self._watchdog = 0.02 * m["Bus Watchdog"]
        self._allowed = (m["Min Voltage Limit"], m["Max Voltage Limit"], m["Temperature Limit"])
        self._goal_pwm = m["Goal PWM"] / FULL_PWM
        self._goal_torque = self._torque_of(m["Goal Current"])
        self._goal_speed = m["Goal Velocity"] * VELOCITY
        homing = m["Homing Offset"]
        # In position mode an offset of more than a quarter of a revolution is ignored.
        self._offset = 0 if self._mode == POSITION and abs(homing) > 1024 else homing
        self._gains = (
            m["Position P Gain"] / 128.0,
            m["Position I Gain"] / 65536.0,
            m["Position D Gain"] / 16.0,
            m["Velocity P Gain"] / 128.0,
            m["Velocity I Gain"] / 65536.0,
        )

    @property
    def _shut_down(self) -> int:
        return self.memory["Hardware Error Status"] & self.memory["Shutdown"]

    # ------------------------------------------------------------------ positions
    def _torque_of(self, current: float) -> float:
        """Return the torque of a current in units of the table [N m]."""
        model = self.setup.model
        return current * model.current_unit * self.setup.stall_torque / model.stall_current

    def _actual(self) -> float:
        """Return the position without offsets, in the servo's sense [pulse]."""
        return CENTRE + self._sense * self.motion.position / PULSE

    def present_position(self) -> int:
        """Return Present Position [pulse]."""
        return round(self._actual()) + self._turns + self._offset

    def _angle_of(self, pulses: float) -> float:
        """Return the angle of a position of the table, in the servo's sense [rad]."""
        return (pulses - self._offset - self._turns - CENTRE) * PULSE

    def _forget_turns(self) -> None:
        self._turns = -4096 * math.floor(round(self._actual()) / 4096)

    def _reset_goals(self) -> None:
        """Set the goals of currents and duty cycles to their limits, or to 0 where they are what moves the servo."""
        m = self.memory
        m["Goal PWM"] = 0 if self._mode == PWM else m["PWM Limit"]
        m["Goal Current"] = 0 if self._mode == CURRENT else m["Current Limit"]
        m["Goal Velocity"] = 0
        self._load_settings()

    def _align(self) -> None:
        """Make the present position the goal, at rest."""
        x = self._sense * self.motion.position
        self.memory["Goal Position"] = self.present_position()
        self._profile = Profile(x, 0.0, (), x, STEP)
        self._elapsed = 0.0
        self._target = (x, 0.0)
        self._integral = self._speed = 0.0

    def _torque_changed(self) -> None:
        if self.memory["Torque Enable"]:
            self._commanded = True
            if self._mode == POSITION:
                self._forget_turns()
            if self._mode in (CURRENT, PWM, SPEED):
                self._reset_goals()
            self.motor.start(self.motion)
            self._silent = self._strained = 0.0
        self._align()
        self._load_settings()

    def _plan(self) -> None:
        m = self.memory
        position, velocity = self._target
        goal = self._angle_of(m["Goal Position"])
        speed, rise = m["Profile Velocity"], m["Profile Acceleration"]
        if m["Drive Mode"] & 4:
            self._profile = plan_time(position, velocity, goal, speed * 1e-3, rise * 1e-3)
        else:
            self._profile = plan(position, velocity, goal, speed * VELOCITY, rise * ACCELERATION)
        self._elapsed = 0.0

    def _plan_ramp(self) -> None:
        """Choose the acceleration of the velocity trajectory, which starts at its present velocity."""
        rise = self.memory["Profile Acceleration"]
        if not rise:
            self._ramp = math.inf
        elif self.memory["Drive Mode"] & 4:
            self._ramp = abs(self._goal_speed - self._speed) / (rise * 1e-3)
        else:
            self._ramp = rise * ACCELERATION

    # ------------------------------------------------------------------ firmware
    def step(self, dt: float, motion: Motion) -> float | None:
        """Run the firmware for one period.

        Args:
            dt: time since the last period [s].
            motion: state of the output.

        Returns:
            The command of the actuator [rad, rad/s or N m]; None where nothing is commanded.
        """
        self.motion = motion
        self._uptime += dt
        self._watch_hardware(dt)
        if not self._enabled:
            self._output = 0.0
            if not self._commanded:
                return None
            # Limp: no torque, or the reference at which the actuator has none.
            return motion.slack if self.setup.actuation is Actuation.POSITION else 0.0
        if self._watchdog > 0.0:
            self._silent += dt
            if self._silent > self._watchdog:
                self._stop_on_silence()
        command = self._sense * self._control(dt)
        self._output = command
        return command

    def _control(self, dt: float) -> float:
        """Return the command, in the servo's sense."""
        seen = self.motion
        sense = self._sense
        here = Motion(
            sense * seen.position, sense * seen.velocity, sense * seen.torque, sense * seen.slack, seen.stiffness
        )
        motor, mode = self.motor, self._mode
        supply = self.setup.voltage / self.setup.model.nominal_voltage
        if sense < 0.0:
            motor.reference = -motor.reference
        try:
            if mode == PWM:
                return motor.apply(self._goal_pwm * supply, here, dt)
            limit = abs(self._goal_pwm) * supply
            band = (-limit, limit)
            if mode == CURRENT:
                return motor.pull(self._goal_torque, band, here, dt)
            if mode == SPEED:
                return self._control_speed(band, here, dt)
            return self._control_position(band, here, dt)
        finally:
            if sense < 0.0:
                motor.reference = -motor.reference

    def _control_speed(self, band: tuple[float, float], here: Motion, dt: float) -> float:
        self._ramp_speed(dt)
        motor = self.motor
        if motor.actuation is not Actuation.TORQUE:
            return motor.turn(self._speed, (-math.inf, math.inf), band, here, dt)
        _, _, _, kp, ki = self._gains
        error = (self._speed - here.velocity) / VELOCITY
        duty = self._limited(kp * error + self._integral, ki * error, band, dt)
        return motor.apply(duty, here, dt)

    def _ramp_speed(self, dt: float) -> None:
        """Move the velocity trajectory towards the goal."""
        most = self._ramp * dt
        self._speed += min(max(self._goal_speed - self._speed, -most), most)

    def _control_position(self, band: tuple[float, float], here: Motion, dt: float) -> float:
        self._elapsed += dt
        position, velocity, _ = self._profile.at(self._elapsed)
        self._target = position, velocity
        motor = self.motor
        limited = self._mode == CURRENT_POSITION
        torque = abs(self._goal_torque) if limited else math.inf
        if motor.actuation is Actuation.POSITION:
            return motor.turn((position - motor.reference) / dt, (-torque, torque), band, here, dt)
        if motor.actuation is Actuation.VELOCITY:
            speed = velocity + STIFF * (position - here.position)
            return motor.turn(speed, (-torque, torque), band, here, dt)
        kp, ki, kd, _, _ = self._gains
        error = (position - here.position) / PULSE
        rate = (velocity - here.velocity) / PULSE * FIRMWARE_PERIOD
        duty = self._limited(kp * error + kd * rate + self._integral, ki * error, band, dt)
        if not limited:
            return motor.apply(duty, here, dt)
        # The controller gives a current, which Goal Current limits.
        wanted = min(max(duty * motor.stall_torque, -torque), torque)
        return motor.pull(wanted, band, here, dt)

    def _limited(self, pwm: float, rate: float, band: tuple[float, float], dt: float) -> float:
        """Return the duty cycle of a PWM inside a band; outside it the integral does not grow."""
        duty = pwm / FULL_PWM
        if band[0] < duty < band[1]:
            self._integral += rate * dt / FIRMWARE_PERIOD
            return duty
        return min(max(duty, band[0]), band[1])

    def _watch_hardware(self, dt: float) -> None:
        m, setup = self.memory, self.setup
        current = self._current() / setup.model.stall_current
        warm = setup.ambient + HEATING * current * current
        self._temperature += (warm - self._temperature) * min(1.0, dt / COOLING_TIME)
        self._strained = self._strained + dt if abs(current) > OVERLOAD_SHARE and self._enabled else 0.0
        low, high, hot = self._allowed
        errors = OVERLOAD if self._strained > OVERLOAD_TIME else 0
        if not low <= setup.voltage * 10.0 <= high:
            errors |= INPUT_VOLTAGE
        if self._temperature > hot:
            errors |= OVERHEATING
        if errors:
            m["Hardware Error Status"] = m["Hardware Error Status"] | errors
            if self._enabled and self._shut_down:
                m["Torque Enable"] = 0
                self._torque_changed()

    def _stop_on_silence(self) -> None:
        """Stop, and keep the goals from being written until 0 is written to Bus Watchdog."""
        m = self.memory
        m["Bus Watchdog"] = -1
        m["Profile Velocity"] = m["Profile Acceleration"] = 0
        if self._mode == CURRENT:
            m["Goal Current"] = 0
        elif self._mode == PWM:
            m["Goal PWM"] = 0
        m["Goal Velocity"] = 0
        self._ramp = math.inf
        self._align()
        self._load_settings()

    # ------------------------------------------------------------------ what clients read
    def _current(self) -> float:
        """Return the current of the motor, in the sense of the joint [A]."""
        if not self._enabled:
            return 0.0
        torque = self._output if self.setup.actuation is Actuation.TORQUE else self.motion.torque
        return torque * self.setup.model.stall_current / self.setup.stall_torque

    def _moving(self) -> bool:
        if self._enabled and self._mode in POSITIONS and self._elapsed < self._profile.duration:
            return True
        return abs(self.motion.velocity) / VELOCITY > self.memory["Moving Threshold"]

    def _moving_status(self) -> int:
        if not self._enabled or self._mode not in POSITIONS:
            return 0
        ongoing = self._elapsed < self._profile.duration
        x = self._sense * self.motion.position
        status = self._profile.kind | (0x02 if ongoing else 0)
        if not ongoing and abs(x - self._profile.goal) <= IN_POSITION * PULSE:
            status |= 0x01
        if abs(x - self._target[0]) > FOLLOWING * PULSE:
            status |= 0x08
        return status

    def _show(self, address: int, length: int) -> None:
        """Write what is measured into the items that a read covers."""
        names = self._shown.get((address, length))
        if names is None:
            if len(self._shown) >= MAX_KEPT_READS:
                self._shown.clear()
            items = self.memory.items
            # A read of indirect data may show any item.
            direct = address + length <= self.setup.model.indirect[0][0]
            names = [name for name in self._measures if not direct or _overlaps(items[name], address, length)]
            self._shown[address, length] = names
        for name in names:
            self.memory[name] = self._measures[name]()

    def _present_pwm(self) -> int:
        supply = self.setup.voltage / self.setup.model.nominal_voltage
        if not self._enabled or supply <= 0.0:
            return 0
        torque = self._current() / self.setup.model.stall_current * self.setup.stall_torque
        duty = self.motor.duty(torque, self.motion.velocity) / supply
        return _clipped(self._sense * duty * FULL_PWM, 885)

    def _trajectory_velocity(self) -> int:
        return _clipped((self._speed if self._mode == SPEED else self._target[1]) / VELOCITY, 2**31 - 1)

    def _trajectory_position(self) -> int:
        position = self._sense * self.motion.position if self._mode == SPEED else self._target[0]
        return round(CENTRE + position / PULSE) + self._turns + self._offset


def _overlaps(item: Item, address: int, length: int) -> bool:
    return address < item.address + item.size and item.address < address + length


def _clipped(value: float, most: int) -> int:
    return round(min(max(value, -most), most))

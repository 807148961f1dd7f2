"""Fields of a compliant joint, each declared once.

`JOINT_FIELDS` declares the name, unit and description of every quantity of a compliant joint. Observations of the
kernels, ports of the engine, samples of devices, recordings, messages and documentation use these declarations.
`COMMANDS` declares the two references of each operation mode.
"""

from __future__ import annotations

from dataclasses import dataclass

from pliant.base.errors import LawError
from pliant.base.options import check_unit
from pliant.laws.modes import Mode


def linear(unit: str) -> str:
    """Return the unit that a quantity of a turning joint has at a joint that slides."""
    return {"rad": "m", "rad/s": "m/s", "N m": "N", "N m/rad": "N/m"}.get(unit, unit)


class _Units:
    """The units of a quantity, which depend on the type of the inputs of the law."""

    __slots__ = ()
    name: str
    unit: str
    lever: str | None
    pressure: str | None

    def __post_init__(self) -> None:
        for unit in (self.unit, self.lever or "", self.pressure or ""):
            check_unit(unit, f"the unit of the joint's field {self.name!r}", LawError)

    def unit_of(self, second_input: str, *, slides: bool = False) -> str:
        """Return the unit for one joint.

        Args:
            second_input: type of the inputs of its law (`pliant.laws.base.Law.second_input`).
            slides: whether the joint slides; what are angles and torques of one that turns are lengths and forces.
        """
        other = {"lever": self.lever, "pressure": self.pressure}.get(second_input)
        unit = self.unit if other is None else other
        return linear(unit) if slides else unit


@dataclass(frozen=True, slots=True)
class JointField(_Units):
    """One quantity of a compliant joint."""

    name: str
    """Name, used from the kernel to the network messages."""
    unit: str
    """Unit with rotary motors."""
    description: str
    """One sentence with the quantity and its sign convention."""
    lever: str | None = None
    """Unit where the second input of the law is a lever; None where it is the same."""
    pressure: str | None = None
    """Unit where the inputs of the law are pressures; None where it is the same."""
    observed: bool = True
    """Whether the kernel `observe` computes it. The other fields are the references and MuJoCo's joint quantities."""
    sampled: bool = True
    """Whether a device measures it. The other fields, terms of a balance of energy, are ports of the engine only."""


def _table(*fields: JointField) -> dict[str, JointField]:
    table: dict[str, JointField] = {}
    for field in fields:
        if field.name in table:
            raise LawError(f"the joint's field {field.name!r} is declared twice", field=field.name)
        table[field.name] = field
    return table


def _own(name: str, unit: str, description: str) -> JointField:
    return JointField(name, unit, description, observed=False)


def _unsampled(name: str, unit: str, description: str, lever: str | None = None) -> JointField:
    return JointField(name, unit, description, lever, sampled=False)


JOINT_FIELDS: dict[str, JointField] = _table(
    _own("position", "rad", "link angle q"),
    _own("velocity", "rad/s", "link velocity"),
    JointField(
        "torque",
        "N m",
        "torque of the actuator on the link, its own friction and damping included, before the joint's effort limit",
    ),
    _own("external_torque", "N m", "external torque on the link"),
    JointField("stiffness", "N m/rad", "true slope of the spring torque; NaN in modes 0 and 1"),
    JointField("reported_stiffness", "N m/rad", "stiffness as the original toolbox publishes it"),
    JointField("elastic_torque", "N m", "torque of the spring on the link; NaN in modes 0 and 1"),
    JointField(
        "load_1",
        "N m",
        "load of the spring on motor 1, of a muscle less its volume; NaN in modes 0 and 1",
        pressure="m^3",
    ),
    JointField(
        "load_2",
        "N m",
        "load of the spring on motor 2 or the lever, of a muscle less its volume; NaN in modes 0 and 1",
        "N",
        "m^3",
    ),
    JointField("energy", "J", "energy stored in the spring, or in the air of muscles"),
    JointField("equilibrium", "rad", "equilibrium position of the motors"),
    JointField("preset", "rad", "stiffness preset of the motors or the lever, mean pressure of muscles", "m", "Pa"),
    JointField("motor_1_position", "rad", "position of motor 1, gauge pressure of muscle 1", pressure="Pa"),
    JointField("motor_1_velocity", "rad/s", "velocity of motor 1; NaN of a muscle with a valve"),
    JointField(
        "motor_1_effort", "N m", "torque that motor 1 applies, after its limits; opening of a valve", pressure=""
    ),
    JointField("motor_2_position", "rad", "position of motor 2 or the lever, gauge pressure of muscle 2", "m", "Pa"),
    JointField("motor_2_velocity", "rad/s", "velocity of motor 2 or the lever; NaN of a muscle with a valve", "m/s"),
    JointField(
        "motor_2_effort", "N m", "torque or force that motor 2 applies, after its limits; opening of a valve", "N", ""
    ),
    JointField("motor_1_temperature", "K", "temperature of the winding of motor 1; NaN without a thermal part"),
    JointField("motor_2_temperature", "K", "temperature of the winding of motor 2; NaN without a thermal part"),
    JointField(
        "motor_power", "W", "mechanical power that the motors put in, power of the air from the supply of muscles"
    ),
    JointField("at_stop", "", "1 where a motor stands at a stop"),
    _own("reference_1", "", "first reference in force, unit by mode"),
    _own("reference_2", "", "second reference in force, unit by mode; NaN where the mode has none"),
    _unsampled("friction_power", "W", "power lost in the friction of the motors"),
    _unsampled("damping_power", "W", "power lost in the damping of the motors"),
    _unsampled("copper_power", "W", "power lost in the windings of the motors"),
    _unsampled("link_friction_torque", "N m", "friction of the link, against its motion"),
    _unsampled("link_loss_power", "W", "power lost in the friction and the damping of the link"),
    _unsampled("stored_energy", "J", "energy of the spring and of the inertia of the motors"),
    _unsampled("motor_1_friction", "N m", "friction of motor 1, against its motion"),
    _unsampled("motor_1_damping", "N m", "damping of motor 1, against its motion"),
    _unsampled("motor_1_velocity_limit", "N m", "torque by which the speed limit holds motor 1 back in the step"),
    _unsampled("motor_1_stop", "N m", "torque by which a stop holds motor 1 back in the step"),
    _unsampled("motor_1_cogging", "N m", "cogging torque of motor 1, against its motion"),
    _unsampled("motor_2_friction", "N m", "friction of motor 2 or the lever, against its motion", "N"),
    _unsampled("motor_2_damping", "N m", "damping of motor 2 or the lever, against its motion", "N"),
    _unsampled(
        "motor_2_velocity_limit",
        "N m",
        "torque by which the speed limit holds motor 2 or the lever back in the step",
        "N",
    ),
    _unsampled("motor_2_stop", "N m", "torque by which a stop holds motor 2 or the lever back in the step", "N"),
    _unsampled("motor_2_cogging", "N m", "cogging torque of motor 2 or the lever, against its motion", "N"),
    _unsampled("link_damping_torque", "N m", "damping of the link, against its motion"),
    _unsampled("branch_torque", "N m", "torque of hysteresis and creep of the spring, against its deflection"),
    _unsampled("branch_energy", "J", "energy in hysteresis and creep of the spring"),
    _unsampled("tendon_energy", "J", "energy in the tendons of the motors"),
    _unsampled("link_offset", "rad", "link angle less that of the spring's end, less the plastic deflection: backlash"),
    _unsampled("plastic_deflection", "rad", "permanent deflection of the spring at the link by plastic flow"),
    _unsampled("motor_1_offset", "rad", "position of motor 1 less that of the spring's end: backlash and tendon"),
    _unsampled("motor_2_offset", "rad", "position of motor 2 less that of the spring's end: backlash and tendon", "m"),
    _unsampled("motor_1_output_velocity", "rad/s", "velocity of motor 1 after its elastic gear"),
    _unsampled("motor_2_output_velocity", "rad/s", "velocity of motor 2 after its elastic gear", "m/s"),
    _unsampled("gear_power", "W", "mean power lost in the elastic gears in the step"),
    _unsampled("broken", "N m", "torque at which the spring broke; 0 while it is whole"),
    _unsampled("supply_power", "W", "power of the air that the muscles take from their supply"),
    _unsampled("valve_power", "W", "power lost in the valves of the muscles, exhaust included"),
)
"""All fields by name, in the order of samples and observations."""

OBSERVED: tuple[str, ...] = tuple(name for name, field in JOINT_FIELDS.items() if field.observed)
"""Names of the columns of an observation, in order."""

SAMPLED: tuple[str, ...] = tuple(name for name, field in JOINT_FIELDS.items() if field.sampled)
"""Names of the fields of a joint sample, in order."""


@dataclass(frozen=True, slots=True)
class JointCommand(_Units):
    """One of the two references of an operation mode."""

    name: str
    """Name as in the topics of the toolbox; "disabled" if the mode has no such reference."""
    unit: str = ""
    """Unit with rotary motors."""
    lever: str | None = None
    """Unit where the second input of the law is a lever; None where it is the same."""
    pressure: str | None = None
    """Unit where the inputs of the law are pressures; None where it is the same."""


_NONE = JointCommand("disabled")
_MOTORS = (JointCommand("reference_1", "rad", pressure="Pa"), JointCommand("reference_2", "rad", "m", "Pa"))
_PRESET = (JointCommand("equilibrium_position", "rad"), JointCommand("stiffness_preset", "rad", "m", "Pa"))
_TORQUES = (
    JointCommand("torque_m1_command", "N m", pressure=""), JointCommand("torque_m2_command", "N m", "N", "")
)  # fmt: skip

COMMANDS: dict[Mode, tuple[JointCommand, JointCommand]] = {
    Mode.LINK_TORQUE: (JointCommand("torque_command", "N m"), _NONE),
    Mode.LINK_PID: (JointCommand("link_command", "rad"), _NONE),
    Mode.SPRING_REFS: _MOTORS,
    Mode.SPRING_EQ_PRESET: _PRESET,
    Mode.MOTOR_TORQUES: _TORQUES,
    Mode.PID_REFS: _MOTORS,
    Mode.PID_EQ_PRESET: _PRESET,
}
"""The two references of each mode."""

COMMAND_NAMES: dict[Mode, tuple[str, str]] = {mode: (one.name, two.name) for mode, (one, two) in COMMANDS.items()}
"""Names of the two references by mode."""

"""The streams of control boards: the state of the joints (`stateExt:o`) and commands (`command:i`).

Units are those of the wire: degrees for revolute joints, metres for prismatic ones; a bridge converts.

Source: recorded traffic of YARP 3.12.3 and 4.0.0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np

from pliant.base.errors import WireError, nearest
from pliant.yarp.wire.binary import Dialect
from pliant.yarp.wire.objects import floats, vector
from pliant.yarp.wire.values import FAIL, OK, Bottle, Value, Vocab, boolean, bottle, integer


@dataclass(frozen=True, slots=True, kw_only=True)
class JointState:
    """State of a control board's joints (`stateExt:o`); a field that is None is sent as not valid."""

    joint_position: tuple[float, ...] | None = None
    """Positions [deg or m]."""
    joint_velocity: tuple[float, ...] | None = None
    """Velocities [deg/s or m/s]."""
    joint_acceleration: tuple[float, ...] | None = None
    """Accelerations [deg/s^2 or m/s^2]."""
    motor_position: tuple[float, ...] | None = None
    """Motor positions [deg or m]."""
    motor_velocity: tuple[float, ...] | None = None
    """Motor velocities [deg/s or m/s]."""
    motor_acceleration: tuple[float, ...] | None = None
    """Motor accelerations [deg/s^2 or m/s^2]."""
    torque: tuple[float, ...] | None = None
    """Joint torques [Nm or N]."""
    pwm: tuple[float, ...] | None = None
    """Duty cycles [%]; single precision in dialect 4."""
    current: tuple[float, ...] | None = None
    """Motor currents [A]."""
    control_mode: tuple[Vocab, ...] | None = None
    """Control modes, ``[pos]`` and so on."""
    interaction_mode: tuple[Vocab, ...] | None = None
    """Interaction modes, ``[stif]`` or ``[comp]``."""
    temperature: tuple[float, ...] | None = None
    """Motor temperatures [degC]; single precision, dialect 4 only."""

    @classmethod
    def names(cls, dialect: Dialect) -> list[str]:
        """Return the fields of a dialect, in the order of the wire."""
        names = [f.name for f in fields(cls)]
        return names if dialect == 4 else names[:-1]

    @staticmethod
    def is_single(name: str, dialect: Dialect) -> bool:
        """Return whether a field has single precision in a dialect."""
        return dialect == 4 and name in ("pwm", "temperature")

    def encode(self, dialect: Dialect, axes: int) -> Bottle:
        """Return the Bottle: each vector and whether it is valid.

        Args:
            dialect: 3 (22 elements) or 4 (24 elements).
            axes: number of joints; a field that is not valid is sent as that many zeros.

        Raises:
            WireError: a field of another length.
        """
        items: list[Value] = []
        for name in self.names(dialect):
            values = getattr(self, name)
            if values is not None and len(values) != axes:
                raise WireError(f"{name} of {len(values)} joints; must be {axes}", field=name)
            if name.endswith("_mode"):
                codes = (0,) * axes if values is None else tuple([v.code for v in values])
                items.append(Bottle(codes, layout="" if codes else "int32"))
            else:
                numbers = np.zeros(axes) if values is None else values
                items.append(vector(numbers, single=self.is_single(name, dialect)))
            items.append(FAIL if values is None else OK)
        return Bottle(tuple(items))

    @classmethod
    def decode(cls, data: Bottle) -> JointState:
        """Return the state of a Bottle of either dialect: their numbers of elements differ.

        Raises:
            WireError: the Bottle is no such state.
        """
        names = cls.names(4 if len(data) == 24 else 3)
        if len(data) != 2 * len(names):
            raise WireError(f"a state of {len(data)} elements; must be 22 (dialect 3) or 24 (dialect 4)")
        found: dict[str, tuple[float, ...] | tuple[Vocab, ...]] = {}
        for at, name in enumerate(names):
            values = data[2 * at]
            if not isinstance(values, Bottle):
                raise WireError(f"{name} must be a list", field=name)
            if not boolean(data[2 * at + 1]):
                continue
            if name.endswith("_mode"):
                found[name] = tuple([Vocab(integer(v)) for v in values.items])
            else:
                found[name] = tuple(floats(values, name).tolist())
        return cls(**found)  # type: ignore[arg-type]


CONTROL_MODES = {
    "idle": "idl",
    "position": "pos",
    "position_direct": "posd",
    "velocity": "vel",
    "velocity_direct": "veld",
    "mixed": "mix",
    "torque": "torq",
    "current": "icur",
    "pwm": "ipwm",
    "hardware_fault": "hwfa",
    "calibrating": "cal",
    "calibration_done": "cald",
    "not_configured": "cfgn",
    "configured": "cfgy",
}
"""Control mode of an axis -> its vocabulary."""

COMMANDS: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, str, str]]] = {
    "position_direct": ((), ("ipod",), ("dpo", "dpos", "dpog")),
    "velocity": ((), ("ivel",), ("vmo", "vmos", "vmog")),
    "torque": ((), ("itrq",), ("dtq", "dtqs", "dtqg")),
    "position_move": ((), ("ipos",), ("", "poss", "")),
    "pwm": (("ipwm",), ("ipwm",), ("ref", "refs", "")),
    "current": (("icur",), ("icur",), ("ref", "refs", "refg")),
    "velocity_direct": (("?",), ("ived",), ("vdso", "vdsa", "vdsg")),
    "pid_offset": (("?",), ("ipid",), ("poff", "", "")),
    "pid_feedforward": (("?",), ("ipid",), ("pffd", "", "")),
}
"""Quantity -> words in front in dialect 3 (``?``: no such command) and in dialect 4, and the word for one joint, for
all and for a group (empty: no such command)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamCommand:
    """A command that a control board gets as a stream (`command:i`)."""

    quantity: str
    """``position_direct``, ``velocity``, ``torque``, ``position_move``, ``pwm``, ``current``; in dialect 4 also
    ``velocity_direct``, ``pid_offset``, ``pid_feedforward``."""
    values: tuple[float, ...]
    """References, in the units of the user's side: [deg], [deg/s], [Nm], [%], [A]."""
    joints: tuple[int, ...] | None = None
    """Joints that the references are for, counted from 0; None for all, in their order."""
    group: bool = False
    """True for a command to a group, also of one joint."""
    slot: Vocab | None = None
    """Controller that an offset or a feedforward is for, ``[pos1]`` and so on; else None."""

    def encode(self, dialect: Dialect) -> Bottle:
        """Return the Bottle: a head and a vector.

        Raises:
            WireError: the dialect has no such command, or joints and values do not match.
        """
        if self.quantity not in COMMANDS:
            raise WireError(f"command {self.quantity!r}: {nearest(self.quantity, COMMANDS)}", field="quantity")
        words = COMMANDS[self.quantity][dialect - 3]
        scope = 1 if self.joints is None else 2 if self.group else 0
        last = COMMANDS[self.quantity][2][scope]
        if not last or words == ("?",):
            raise WireError(f"dialect {dialect} has no such {self.quantity} command", field="quantity")
        if self.joints is not None and len(self.values) != len(self.joints):
            raise WireError(f"{len(self.values)} values for {len(self.joints)} joints", field="values")
        if scope == 0 and len(self.values) != 1:
            raise WireError(f"{len(self.values)} values for one joint", field="values")
        head: list[Value] = [Vocab.of(w) for w in (*words, last)]
        if self.quantity.startswith("pid_"):
            if self.slot is None:
                raise WireError(f"{self.quantity} needs a slot, such as [pos1]", field="slot")
            head.append(self.slot)
        if scope == 2:
            joints = self.joints or ()
            head += [len(joints), Bottle(joints, layout="" if joints else "int32")]
        elif scope == 0:
            head.append((self.joints or (0,))[0])
        return bottle(Bottle(tuple(head)), vector(self.values))

    @classmethod
    def decode(cls, data: Bottle, axes: int) -> StreamCommand:
        """Return the command of a Bottle of either dialect.

        Args:
            data: the head and the vector.
            axes: number of joints of the control board.

        Raises:
            WireError: an unknown command, a joint that does not exist or occurs twice, a wrong number of values, or a
                value that is not finite.
        """
        parts = data.items
        if len(parts) != 2 or not isinstance(parts[0], Bottle):
            raise WireError("a command must be a head and a vector")
        head, values = list(parts[0].items), tuple(floats(parts[1]).tolist())
        words = [item.name for item in head if isinstance(item, Vocab)]
        quantity, scope = _command_of(words)
        rest = head[len(words) :]
        slot = None
        if quantity.startswith("pid_"):
            if len(words) != 3:
                raise WireError(f"{quantity} needs a slot, such as [pos1]", field="slot")
            slot = Vocab.of(words[2])
        if any(isinstance(item, Vocab) for item in rest) or not all(map(math.isfinite, values)):
            raise WireError(f"a {quantity} command must hold joints and finite numbers", field="values")
        joints = _joints(quantity, scope, rest, axes)
        if len(values) != (axes if joints is None else len(joints)):
            raise WireError(f"{len(values)} values of {quantity}; must be one for each joint", field="values")
        return cls(quantity=quantity, values=values, joints=joints, group=scope == 2, slot=slot)


def _command_of(words: list[str]) -> tuple[str, int]:
    for quantity, (*fronts, lasts) in COMMANDS.items():
        for front in fronts:
            n = len(front)
            fits = len(words) == n + 1 + quantity.startswith("pid_") and tuple(words[:n]) == front
            if fits and words[n] in lasts:
                return quantity, lasts.index(words[n])
    raise WireError(f"unknown command [{'] ['.join(words[:4])}] to a control board", field="quantity")


def _joints(quantity: str, scope: int, rest: list[Value], axes: int) -> tuple[int, ...] | None:
    if len(rest) != (1, 0, 2)[scope]:
        raise WireError(f"{len(rest)} elements after the words of a {quantity} command; must be {(1, 0, 2)[scope]}")
    if scope == 1:
        return None
    if scope == 0:
        joints = (integer(rest[0]),)
    else:
        listed = rest[1]
        if not isinstance(listed, Bottle) or integer(rest[0]) != len(listed):
            raise WireError(f"a {quantity} command to a group must hold a count and as many joints", field="joints")
        joints = tuple([integer(j) for j in listed.items])
    if any(not 0 <= j < axes for j in joints) or len(set(joints)) != len(joints):
        raise WireError(f"joints {joints[:8]}; must be different and 0 to {axes - 1}", field="joints")
    return joints

"""The state of a control board on its stream ``/stateExt:o``."""

from __future__ import annotations

import numpy as np

from pliant.control_boards.layout import ControlMode, InteractionMode
from pliant.devices.fields import Values
from pliant.yarp.bridge.control_board_answers import CELSIUS, CONTROL_MODES, INTERACTION_MODES, Array
from pliant.yarp.wire.binary import Dialect, encode_bottle
from pliant.yarp.wire.board_calls import QUANTITIES
from pliant.yarp.wire.joints import JointState
from pliant.yarp.wire.values import Vocab

_SAMPLED = {
    "joint_position": "position",
    "joint_velocity": "velocity",
    "joint_acceleration": "acceleration",
    "pwm": "duty_cycle",
}
"""Field of the stream -> field of a sample, where their names differ."""
_CODES = np.array([CONTROL_MODES[ControlMode(k)].code for k in range(len(CONTROL_MODES))], dtype="<i4")
_INTERACTION_CODES = np.array([INTERACTION_MODES[InteractionMode(k)].code for k in range(2)], dtype="<i4")
_ANGLES = frozenset(name for name, quantity in QUANTITIES.items() if quantity.unit == "angle")


def sampled_field(name: str) -> str:
    """Return the field of a sample that a field of the stream shows."""
    return _SAMPLED.get(name, name)


class StateEncoder:
    """Makes the bytes of ``/stateExt:o`` from samples; one for each board and dialect.

    Args:
        scale: `user_scale` of the board.
        dialect: 3 or 4.
    """

    def __init__(self, scale: Array, dialect: Dialect) -> None:
        n = len(scale)
        self._scale = scale
        zeros, modes = (0.0,) * n, (Vocab(0),) * n
        fields = {name: sampled_field(name) for name in JointState.names(dialect)}
        blank = JointState(**{name: modes if name.endswith("_mode") else zeros for name in fields})  # type: ignore[arg-type]
        template = encode_bottle(blank.encode(dialect, n), dialect)
        at, formats, offsets = 8, [], []
        for name in fields:
            kind = "<i4" if name.endswith("_mode") else "<f4" if JointState.is_single(name, dialect) else "<f8"
            formats.append((kind, (n,)))
            offsets.append(at + 8)
            at += 8 + n * np.dtype(kind).itemsize + 8
        names = [*fields.values()]
        layout = np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": len(template)})
        self._message = np.frombuffer(bytearray(template), dtype=layout)
        self._fields = [(field, self._message[field][0]) for field in names]

    def encode(self, values: Values) -> bytes:
        """Return the bytes of a sample's values."""
        for field, place in self._fields:
            array = np.asarray(values[field])
            if field == "control_mode":
                place[:] = _CODES[array.astype(np.intp)]
            elif field == "interaction_mode":
                place[:] = _INTERACTION_CODES[array.astype(np.intp)]
            elif field in _ANGLES:
                np.multiply(array, self._scale, out=place)
            elif field == "temperature":
                place[:] = array - CELSIUS
            else:
                place[:] = array
        return self._message.tobytes()

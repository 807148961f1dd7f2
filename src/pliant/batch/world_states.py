"""The state of worlds as arrays by name, one row for each world."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pliant.base.errors import ModelError


def check_state(
    state: object, shapes: Mapping[str, tuple[int, ...]], optional: Mapping[str, object], count: int
) -> None:
    """Refuse a state that is not of this robot and number of worlds.

    Args:
        state: the state.
        shapes: name -> shape of a row that it must have.
        optional: beginning of a name, before the first ``/`` -> an object whose attribute of the rest of the name is
            the row; None for a row that is a number.
        count: number of worlds; one row stands for all of them.

    Raises:
        ModelError: an array is missing, unknown, or of another shape.
    """
    given = state if isinstance(state, Mapping) else {}
    expected = dict(shapes)
    for name in given:
        kind, _, rest = str(name).partition("/")
        if kind in optional and name not in shapes:
            own = 0.0 if optional[kind] is None else getattr(optional[kind], rest, None)
            if isinstance(own, float | np.ndarray):
                expected[name] = np.shape(own)
    for name in dict.fromkeys((*expected, *given)):
        rows, own = np.shape(given.get(name, ())), expected.get(name, ())
        if name not in expected or len(rows) != 1 + len(own) or rows[1:] != own or rows[0] not in (1, count):
            raise ModelError(
                f"the state of worlds has {name!r} of shape {rows}; must be of this robot, shape {(count, *own)}, or "
                f"{(1, *own)} for all worlds",
                field="state",
            )

"""Stiffness and damping of a board's axes; on a compliant joint, the stiffness of its springs."""

from __future__ import annotations

import numpy as np

from pliant.base.errors import DeviceError
from pliant.control_boards import layout as at
from pliant.control_boards.drives import Drive
from pliant.control_boards.state import Array, BoardState
from pliant.devices.base import request
from pliant.laws.layout import OUT

SPRING_GRID = 600
"""Presets at which the stiffness of a compliant joint is computed, to invert it."""


def tabulate_stiffness(drive: Drive) -> tuple[Array, Array] | None:
    """Return presets and the stiffness that they give at the equilibrium; None where it is fixed."""
    bounds, actuator = drive.preset_range, drive.actuator
    if bounds is None or actuator is None:
        return None
    presets = np.linspace(*bounds, SPRING_GRID)
    lever = actuator.law.second_input == "lever"
    references = [actuator.law.map_references(0.0, float(preset)) for preset in presets]
    with np.errstate(all="ignore"):
        found = actuator.law.evaluate(np.zeros(SPRING_GRID), *np.transpose(references))
    values = np.asarray(found.stiffness, dtype=float)
    good = np.isfinite(values) & (values > 0.0)
    last = int(np.argmin(good)) if not good.all() else SPRING_GRID
    presets, values = presets[:last], values[:last]
    rising = np.flatnonzero(np.diff(values) <= 0.0)
    end = int(rising[0]) + 1 if rising.size and not lever else len(values)
    return (presets[:end], values[:end]) if end > 1 else None


def spring_values(board: BoardState, field: str) -> Array:
    """Return a quantity of the compliant joints at each axis, NaN elsewhere."""
    drives = [board.lead_drive(a) for a in range(len(board.axes))]
    return np.array([board.buffers.observed[d.row, OUT[field]] if d and d.row >= 0 else np.nan for d in drives])


@request
def set_impedance(board: BoardState, axis: int, stiffness: float, damping: float) -> None:
    """Set stiffness [N m/rad or N/m] and damping [N m s/rad or N s/m] of an axis in compliant interaction.

    On a compliant joint the stiffness is that of its springs, set through the preset of its motors; the damping has
    no effect there.

    Raises:
        DeviceError: a value outside `impedance_limits`, or a compliant joint whose stiffness is fixed.
    """
    (a,) = board.select(axis)
    k, d = impedance_within(board, int(a), stiffness, damping)
    table = board.stiffness_tables.get(int(a))
    if table is not None:
        presets, values = table
        order = np.argsort(values)
        board.joint_table[at.PRESET, board.lead_joints[a]] = float(np.interp(k, values[order], presets[order]))
    board.axis_table[at.STIFFNESS, a], board.axis_table[at.DAMPING, a] = k, d


def impedance_within(board: BoardState, a: int, stiffness: float, damping: float) -> tuple[float, float]:
    """Return stiffness and damping of an axis, or raise where they are outside its limits."""
    k, d = board.values_of([stiffness, damping], 2, "impedance")
    low, high, least, most = impedance_limits(board, a)
    slack = 1e-9 * max(1.0, high)
    if not (low - slack <= k <= high + slack and least <= d <= most):
        raise DeviceError(
            f"{board.name}: the impedance of {board.axes[a]!r} is {k:g}, {d:g}; stiffness must be {low:g} to "
            f"{high:g}, damping {least:g} to {most:g}",
            field="impedance",
        )
    return float(k), float(d)


def impedance(board: BoardState, axis: int) -> tuple[float, float]:
    """Return stiffness and damping of an axis; on a compliant joint its stiffness of now."""
    (a,) = board.select(axis)
    stiffness = spring_values(board, "stiffness")[a] if a in board.springs else board.axis_table[at.STIFFNESS, a]
    return float(stiffness), float(board.axis_table[at.DAMPING, a])


def impedance_limits(board: BoardState, axis: int) -> tuple[float, float, float, float]:
    """Return the smallest and largest stiffness and damping of an axis."""
    (a,) = board.select(axis)
    d = board.description
    low, high, least, most = [
        float(board.per_axis(v, 0.0)[a]) for v in (d.min_stiffness, d.max_stiffness, d.min_damping, d.max_damping)
    ]
    if a in board.springs:
        table = board.stiffness_tables[int(a)]
        values = table[1] if table is not None else spring_values(board, "stiffness")[[a]]
        low, high = float(values.min()), float(values.max())
    return low, high, least, most


@request
def set_torque_offset(board: BoardState, axis: int, offset: float) -> None:
    """Set the torque that the impedance law of an axis adds [N m or N]."""
    board.set_row(at.TORQUE_OFFSET, offset, axis, "offset")

"""Square bars across the way of a walking robot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from pliant.base.errors import ModelError

if TYPE_CHECKING:
    import mujoco

BAR_WIDTH = 0.8
"""Length of a bar across the way [m] (softfoot walking trials; ours)."""


class BarOptions(Protocol):
    """Options of a robot with bars on its way."""

    @property
    def bar_height(self) -> float: ...
    @property
    def bar_positions(self) -> tuple[float, ...]: ...
    @property
    def bar_count(self) -> int: ...
    @property
    def bar_range(self) -> tuple[float, float]: ...
    @property
    def bar_seed(self) -> int: ...


def bar_positions(options: BarOptions) -> tuple[float, ...]:
    """Return where the bars are: those of the options, or one at random in each of equal sections of the range.

    Raises:
        ModelError: the range is empty.
    """
    if options.bar_height <= 0.0:
        return ()
    if options.bar_positions:
        return options.bar_positions
    import numpy as np

    low, high = options.bar_range
    if not low < high:
        raise ModelError(f"bar_range is {low:g}, {high:g}; its first value must be < its second [m]", field="bar_range")
    draws = np.random.default_rng(options.bar_seed).random(options.bar_count)
    section = (high - low) / max(1, options.bar_count)
    return tuple(float(low + section * (i + draw)) for i, draw in enumerate(draws))


def add_bars(spec: mujoco.MjSpec, options: BarOptions, *, ankles: float = 0.0) -> None:
    """Add the bars to a spec, called bar_1, bar_2, ...

    Args:
        spec: an `mujoco.MjSpec`.
        options: height, places and number.
        ankles: where the ankles of the standing robot are along the way [m].
    """
    import mujoco

    from pliant.robots.parts import COLORS

    half = 0.5 * options.bar_height
    for i, x in enumerate(bar_positions(options), 1):
        bar = spec.worldbody.add_geom(
            name=f"bar_{i}",
            type=mujoco.mjtGeom.mjGEOM_BOX,
            size=[half, 0.5 * BAR_WIDTH, half],
            pos=[x + ankles, 0.0, half],
        )
        if spec.material("wood"):
            bar.material = "wood"
        else:
            bar.rgba = COLORS["wood"]

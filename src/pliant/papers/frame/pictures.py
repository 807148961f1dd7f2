"""Pictures of a report in rows and columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import mujoco
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray


def even_light(spec: mujoco.MjSpec, *, width: int, height: int) -> None:
    """Give a scene a plain sky, light without shadows, and room for pictures of a size [pixels]."""
    from pliant.robots.parts import add_sky

    spec.visual.global_.offwidth, spec.visual.global_.offheight = max(width, 640), max(height, 480)
    plain = (0.94, 0.95, 0.97)
    add_sky(spec, plain, plain)
    for light in spec.lights:
        light.castshadow = False


def draw_path(spec: mujoco.MjSpec, points: Iterable[ArrayLike], color: Sequence[float]) -> None:
    """Add a ball at each point, in the world [m]; color is red, green, blue and opacity."""
    import mujoco

    for point in points:
        spec.worldbody.add_geom(
            type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.004, 0, 0], pos=point, rgba=color, contype=0, conaffinity=0
        )


def strip(
    pictures: Sequence[NDArray[np.uint8]], rows: Sequence[str], columns: Sequence[str], *, height: float = 1.7
) -> Figure:
    """Return a figure of pictures in rows and columns.

    Args:
        pictures: row by row.
        rows: text beside each row.
        columns: text over each column.
        height: of a row [inch].
    """
    from pliant.base.figures import label, new_figure

    figure, axes = new_figure(len(rows), len(columns), height=height, squeeze=False)
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            axis = axes[i, j]
            axis.imshow(pictures[i * len(columns) + j])
            axis.set_xticks([])
            axis.set_yticks([])
            axis.grid(False)
            for side in axis.spines.values():
                side.set_visible(False)
            label(axis, "", row if j == 0 else "", column if i == 0 else "")
    return figure

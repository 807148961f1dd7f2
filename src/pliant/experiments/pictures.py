"""Pictures of a report in rows and columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.experiments.panels import Panel, Picture, draw

if TYPE_CHECKING:
    import mujoco
    from numpy.typing import ArrayLike, NDArray

    from pliant.experiments.base import Figure


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


def rest_picture(model: mujoco.MjModel, *, width: int, height: int) -> Picture:
    """Return a picture of a model in its key frame "rest" from its camera "view", or the reason why there is none.

    Args:
        model: the compiled model.
        width: columns [pixels].
        height: rows [pixels].
    """
    from pliant.model.snapshots import snapshots

    found, reason = snapshots(model, model.key("rest").qpos[None], camera="view", width=width, height=height)
    return Picture(found[0] if found else None, reason)


def frames(
    name: str,
    caption: str,
    scenes: Iterable[tuple[mujoco.MjModel, ArrayLike, Mapping[str, Any]]],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    height: float = 1.7,
) -> Figure | str:
    """Return a figure of rendered poses in rows and columns, or the reason why nothing can be rendered.

    Args:
        name: name of its files.
        caption: description; the first sentence is its title.
        scenes: model, poses, and camera, width and height for `pliant.model.snapshots.snapshots`; row by row.
        rows: text beside each row.
        columns: text over each column.
        height: of a row [inch].
    """
    from pliant.model.snapshots import snapshots

    pictures: list[NDArray[np.uint8]] = []
    for model, poses, view in scenes:
        found, reason = snapshots(model, poses, **view)
        if not found:
            return reason
        pictures += found
    texts = [
        (row if j == 0 else "", column if i == 0 else "")
        for i, row in enumerate(rows)
        for j, column in enumerate(columns)
    ]
    panels = [Panel([Picture(picture)], "", *text) for picture, text in zip(pictures, texts, strict=True)]
    return draw(name, caption, panels, rows=len(rows), height=height)

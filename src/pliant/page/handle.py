"""The handle on the plate that a person drags, and the arrow of the force on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pliant.base.numerics import Array
from pliant.base.spatial import pose, quaternion_from_rotation, rotation_from_quaternion
from pliant.page.server import PageServer

if TYPE_CHECKING:
    import viser

ARROW_COLOUR = (213, 94, 0)
ARROW_LENGTH = 0.3
"""Length of the arrow of the largest force that the sliders offer, as part of the robot's size."""


class PlateHandle:
    """Arrows, planes and arcs at the plate that move a target pose; otherwise they follow what was found.

    Args:
        server: the page's server.
        planar: whether the plate moves in the x-y plane only.
        size: size of the robot [m].
        turns: whether it has arcs, which turn the target.
        moved: gets each new target, shape (4, 4), in the order of the pointer's motion.
    """

    def __init__(
        self, server: PageServer, *, planar: bool, size: float, moved: Callable[[Array], None], turns: bool = True
    ) -> None:
        self._moved = moved
        self._held: set[int | None] = set()
        self._gizmo = server.scene.add_transform_controls(
            "/plate-handle", scale=0.2 * size, line_width=2.5, active_axes=(True, True, not planar), depth_test=False,
            opacity=0.85, disable_rotations=not turns,
        )  # fmt: skip
        self._shown: Array | None = None
        self._gizmo.on_update(self._changed)

    @property
    def held(self) -> bool:
        """Whether somebody drags it."""
        return bool(self._held)

    @property
    def visible(self) -> bool:
        """Whether it is shown."""
        return bool(self._gizmo.visible)

    @visible.setter
    def visible(self, on: bool) -> None:
        self._gizmo.visible = on

    def follow(self, plate: Array) -> None:
        """Go to a plate pose, shape (4, 4), unless somebody drags the handle."""
        if self._held or (self._shown is not None and np.abs(plate - self._shown).max() < 1e-9):
            return
        self._shown = plate.copy()
        self._gizmo.position = tuple(plate[:3, 3].tolist())
        self._gizmo.wxyz = tuple(quaternion_from_rotation(plate[:3, :3]).tolist())

    async def _changed(self, event: viser.TransformControlsEvent) -> None:
        if event.phase == "start":
            self._held.add(event.client_id)
        elif event.phase == "end":
            self._held.discard(event.client_id)
            self._shown = None  # what was dragged too far goes back to what was found
        else:
            turn = rotation_from_quaternion(np.array(self._gizmo.wxyz, dtype=float))
            self._moved(pose(np.array(self._gizmo.position, dtype=float), turn))


class WrenchArrow:
    """Draws the force on the plate as an arrow.

    Args:
        server: the page's server.
        size: size of the robot [m].
        largest: force of the longest arrow [N].
    """

    def __init__(self, server: PageServer, *, size: float, largest: float) -> None:
        self._server, self._size, self._largest = server, size, largest
        self._arrow: viser.ArrowsHandle | None = None
        self._shown: npt.NDArray[np.float32] | None = None

    def draw(self, origin: Array, wrench: Array) -> None:
        """Draw the force of a wrench.

        Args:
            origin: where it acts, shape (3,) [m].
            wrench: 6 numbers, planar 3 [N, N m].
        """
        force = np.array([*wrench[:2], 0.0]) if len(wrench) == 3 else np.array(wrench[:3], dtype=float)
        number = float(np.linalg.norm(force))
        if number < 1e-9:
            if self._arrow is not None and self._arrow.visible:
                self._arrow.visible = False
                self._shown = None
            return
        # The root of the force, so that a small one is seen beside a large one.
        length = ARROW_LENGTH * self._size * min(number / self._largest, 4.0) ** 0.5
        points = np.array([[origin, origin + length * force / number]], dtype=np.float32)
        if self._shown is not None and np.abs(points - self._shown).max() < 1e-6:
            return
        self._shown = points
        if self._arrow is None:
            self._arrow = self._server.scene.add_arrows(
                "/wrench", points, ARROW_COLOUR, shaft_radius=0.006 * self._size, head_radius=0.015 * self._size,
                head_length=0.04 * self._size,
            )  # fmt: skip
            return
        self._arrow.points = points
        self._arrow.visible = True

"""The page of a parallel robot's statics alone: what the controls say is solved and drawn, nothing is simulated."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from pliant.base.errors import BridgeError
from pliant.base.numerics import Array
from pliant.base.spatial import quaternion_from_rotation
from pliant.model.inertia import set_inertia
from pliant.page.choice import RobotChoice
from pliant.page.controls import plain_name, plain_text
from pliant.page.curve_drawing import THINNEST, CurveDrawing
from pliant.page.document import READY
from pliant.page.panel import theme_button
from pliant.page.scene import Scene
from pliant.page.server import PageServer
from pliant.parallel.page.rods import RodPanel
from pliant.parallel.page.statics import PlainEquilibrium
from pliant.rods import ContinuumParallelRobot

if TYPE_CHECKING:
    from pathlib import Path

    import viser

PERIOD = 1.0 / 30.0
"""Time between two pictures [s of wall time]."""
LINK_COLOUR = (110, 118, 126)
PLATE = "plate"


class StaticsView:
    """A page that solves the statics of a robot; `run` draws it.

    Args:
        robot: the robot.
        server: the page's server.
        choice: the list of robots, and the button for files; when it names another robot, `run` returns.
        store: file of the saved poses; None takes the user's.

    Raises:
        PliantError: the robot has no equilibrium at its home pose.
    """

    def __init__(
        self,
        robot: ContinuumParallelRobot,
        server: PageServer,
        *,
        choice: RobotChoice | None = None,
        store: Path | None = None,
    ) -> None:
        self._robot, self._server = robot, server
        self.choice = choice
        """The list of robots, where there is one."""
        self._stopping = threading.Event()
        self._held: tuple[Array, Array] | None = None
        self._links: viser.LineSegmentsHandle | None = None
        self._drawn: tuple[PlainEquilibrium, bool] | None = None
        d, home = robot.description, robot.home()
        self._bases = np.array([np.asarray(limb.base, dtype=float)[:3, 3] for limb in d.limbs])
        self._corners = np.array([np.asarray(limb.distal.pose, dtype=float)[:3, 3] for limb in d.limbs])
        server.rename(plain_name(robot.name))
        with server.viser.atomic():
            points = np.concatenate([line.position for line in home.centrelines(11)] + [self._bases])
            margin = 0.2 * robot.characteristic_length()
            self._model = _model(robot, np.asarray(home.plate_pose))
            self._data = mujoco.MjData(self._model)
            self._scene = Scene(
                server, self._model, self._dragged, bounds=(points.min(axis=0) - margin, points.max(axis=0) + margin)
            )
            server.look(*self._scene.camera(), max(0.005 * self._scene.size, 1e-4))
            self._drawing = CurveDrawing(server, THINNEST * self._scene.size)
            self._panel = self._build(store)
        self.draw()

    def run(self) -> None:
        """Draw until `stop`, or until another robot is chosen, in this thread.

        Raises:
            BridgeError: the server of the page ended.
        """
        while not self._stopping.wait(PERIOD):
            if not self._server.alive:
                raise BridgeError("the server of the page ended", field="view")
            self.draw()

    def stop(self) -> None:
        """End `run`; any thread may call this."""
        self._stopping.set()

    def close(self) -> None:
        """Take everything off the page and end the thread that solves; may be called twice."""
        self.stop()
        self._panel.close()
        if self._server.alive:
            self._server.clear()

    def __enter__(self) -> StaticsView:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def panel(self) -> RodPanel:
        """The controls."""
        return self._panel

    def draw(self) -> None:
        """Show what was found."""
        self._panel.draw(self._drawing)
        shown, faint = self._panel.shown, self._panel.faint
        if self._drawn is not None and self._drawn[0] is shown and self._drawn[1] == faint:
            return
        self._drawn = shown, faint
        self._data.qpos[:3] = shown.plate[:3, 3]
        self._data.qpos[3:] = quaternion_from_rotation(shown.plate[:3, :3])
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_comPos(self._model, self._data)
        with self._server.viser.atomic():
            self._scene.update(self._data, None)
            self._drawing.draw(shown.lines, shown.strain, faint=faint)
            self._draw_links(shown)

    def _draw_links(self, shown: PlainEquilibrium) -> None:
        """Draw what is rigid: from each base to the rod, and from the rod to its joint on the plate."""
        joints = self._corners @ shown.plate[:3, :3].T + shown.plate[:3, 3]
        base = np.stack([self._bases, shown.lines[:, 0]], axis=1)
        tip = np.stack([shown.lines[:, -1], joints], axis=1)
        points = np.concatenate([base, tip]).astype(np.float32)
        if self._links is None:
            self._links = self._server.scene.add_line_segments(
                "/links", points, LINK_COLOUR, thickness=0.8 * THINNEST * self._scene.size
            )
            return
        self._links.points = points

    def _build(self, store: Path | None) -> RodPanel:
        gui = self._server.gui
        gui.main_panel.dock_right()
        gui.main_panel.set_width(320)
        gui.add_html(READY)
        if self.choice is not None:  # the panel, which takes tables, comes later
            self.choice.build(
                self._server, self._robot.name, self._say, self._leave, lambda *file: panel.files.open_table(*file)
            )
        panel = RodPanel(self._server, self._robot, self._say, size=self._scene.size, store=store)
        theme_button(gui)
        return panel

    def _leave(self, name: str) -> None:
        self._server.rename(plain_name(name))
        self.stop()

    def _say(self, text: str) -> None:
        self._server.notify("Not done", plain_text(text))

    async def _dragged(self, phase: str, body: int, point: Array, target: Array) -> None:
        """Move the target of the plate with the pointer, in the plane of the screen."""
        if phase == "start":
            self._held = self._panel.shown.plate.copy(), point
        elif self._held is not None:
            plate, start = self._held
            goal = plate.copy()
            goal[:3, 3] += (target - start) * ([1.0, 1.0, 0.0] if self._robot.planar else 1.0)
            self._panel.move_plate(goal)
            if phase == "end":
                self._held = None


def _model(robot: ContinuumParallelRobot, plate: Array) -> mujoco.MjModel:
    """Return a model for drawing: boxes at the bases, and the plate as a free body."""
    d, reach = robot.description, robot.characteristic_length()
    spec = mujoco.MjSpec()
    size = 0.012 * max(0.2, *(limb.rod.length for limb in d.limbs))
    for limb in d.limbs:
        base = np.asarray(limb.base, dtype=float)
        spec.worldbody.add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX, size=[size] * 3, pos=base[:3, 3],
            quat=quaternion_from_rotation(base[:3, :3]), rgba=[0.35, 0.38, 0.42, 1.0], group=1,
        )  # fmt: skip
    body = spec.worldbody.add_body(name=PLATE, pos=plate[:3, 3], quat=quaternion_from_rotation(plate[:3, :3]))
    set_inertia(body, 1.0, 1.0)
    body.add_freejoint()
    corners = [np.asarray(limb.distal.pose, dtype=float)[:3, 3] for limb in d.limbs]
    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_CYLINDER, size=[reach, 0.015 * reach, 0.0], rgba=[0.20, 0.45, 0.70, 0.55],
        pos=np.mean(corners, axis=0) * [0.0, 0.0, 1.0],
    )  # fmt: skip
    for corner in corners:
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.6 * size, 0.0, 0.0], pos=corner, rgba=[0.15, 0.18, 0.22, 1.0]
        )
    return spec.compile()

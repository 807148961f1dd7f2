"""Files of parallel robots on the page: a button that opens a robot or a path, buttons that download."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant.errors import PliantError
from pliant.rods import ContinuumParallelRobot, Solution
from pliant.rods.tables import SHAPE_COLUMNS, joint_columns, plate_columns, shape_rows, table_text
from pliant.viewer.controls import Say, guarded
from pliant.viewer.pose_path import PosePath
from pliant.viewer.robot_files import read_robot
from pliant.viewer.saved_poses import SavedPoses
from pliant.viewer.server import PageServer
from pliant.viewer.statics import StaticsSolver, Target

__all__ = ["RodFiles"]

MAX_FILE_BYTES = 1 << 20
"""Largest file that a browser may give [bytes]."""
ROBOT_ENDS, TABLE_ENDS = (".yaml", ".yml"), (".csv", ".txt")
DOWNLOADS = ("Path", "Shapes", "Poses")


class RodFiles:
    """The folder "files" of a page.

    Args:
        server: the page's server.
        solver: solves the rows of a path that is downloaded.
        saved: the saved poses.
        path: the path.
        say: tells what was refused.
        opened: gets a robot that was opened; None: robots cannot be opened.
        taken: names that such a robot may not have.
        given: what the controls ask for.
        changed: called when the path has other rows.
    """

    def __init__(
        self,
        server: PageServer,
        solver: StaticsSolver,
        saved: SavedPoses,
        path: PosePath,
        say: Say,
        *,
        opened: Callable[[ContinuumParallelRobot], None] | None,
        taken: Sequence[str],
        given: Callable[[], Target],
        changed: Callable[[], None],
    ) -> None:
        self._solver, self._saved, self._path, self._say = solver, saved, path, say
        self._opened, self._taken, self._given, self._changed = opened, taken, given, changed
        gui = server.gui
        with gui.add_folder("files", expand_by_default=False):
            ends = (*(ROBOT_ENDS if opened is not None else ()), *TABLE_ENDS)
            text = "A table of joint values or plate poses (.csv) becomes the path"
            if opened is not None:
                text += "; the description of a parallel robot (.yaml) is shown"
            button = gui.add_upload_button("Open a file", icon="upload", mime_type=",".join(ends), hint=text)
            group = gui.add_button_group(
                "download", DOWNLOADS,
                hint="Path: its rows, solved (.csv), without a path the present pose. Shapes: the rods (.csv). "
                "Poses: the saved ones (.yaml)",
            )  # fmt: skip
        server.uploads.accept(button, MAX_FILE_BYTES, say)
        button.on_upload(guarded(say, lambda event: self.open(event.target.value.name, event.target.value.content)))
        group.on_click(guarded(say, lambda event: self._download(str(group.value), event.client)))

    def open(self, file: str, data: bytes) -> None:
        """Take a file that a browser gives.

        Raises:
            PliantError: it is neither a table nor a robot.
        """
        name = "".join(c if c.isprintable() else "?" for c in file)[:120]
        end = "." + name.rpartition(".")[2].lower()
        if end in TABLE_ENDS:
            self._path.load(data, name, direct=self._given().model == "direct")
            self._changed()
        elif end not in ROBOT_ENDS:
            raise PliantError(f"the file must end in {', '.join((*ROBOT_ENDS, *TABLE_ENDS))}", file=name)
        elif self._opened is None:
            raise PliantError("a robot is opened with `pliant view`; this page shows the robot of a run", file=name)
        else:
            self._opened(read_robot(data, name, self._taken))

    def _download(self, what: str, client: Any) -> None:
        if client is None:
            return
        robot = self._solver.robot
        name = "".join(c if c.isalnum() or c in "-_" else "-" for c in robot.name)[:60] or "robot"
        if what == "Poses":
            _send(client, f"{name}-poses.yaml", self._saved.text())
            return
        path, target = self._path, self._given()
        rows, direct = list(path.rows) or [target.values], path.direct if path.rows else target.model == "direct"

        def solve(robot: ContinuumParallelRobot, last: Solution) -> None:
            if what == "Shapes":
                _send(client, f"{name}-shapes.csv", table_text(SHAPE_COLUMNS, shape_rows(last)))
                return
            goals = rows if direct else [robot.pose_from_numbers(row) for row in rows]
            with np.errstate(all="ignore"):
                done = robot.follow(
                    goals,
                    target.wrench,
                    start=last,
                    inverse=not direct,
                    controlled=None if direct else target.controlled,
                )
            table = np.hstack([done.q, [robot.pose_numbers(X) for X in done.plate_poses]])
            head = [*joint_columns(robot.actuator_count), *plate_columns(robot.planar)[0]]
            _send(client, f"{name}-path.csv", table_text(head, table))

        def work(robot: ContinuumParallelRobot, last: Solution) -> None:
            guarded(self._say, lambda _: solve(robot, last))()

        self._solver.work("download", work)


def _send(client: Any, name: str, text: str) -> None:
    client.send_file_download(name, text.encode(), save_immediately=True)

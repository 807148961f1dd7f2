"""Files of parallel robots on the page: a button that opens a path, buttons that download."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.errors import PliantError
from pliant.base.numerics import Array
from pliant.page.controls import Say, guarded
from pliant.page.dropped import plain_file_name
from pliant.page.server import PageServer
from pliant.parallel.page.pose_path import PosePath
from pliant.parallel.page.rod_facts import small
from pliant.parallel.page.saved_poses import SavedPoses
from pliant.parallel.page.statics import StaticsSolver, Target
from pliant.rods import ContinuumParallelRobot, Solution
from pliant.rods.tables import SHAPE_COLUMNS, joint_columns, plate_columns, shape_rows, table_text

if TYPE_CHECKING:
    import viser

MAX_FILE_BYTES = 1 << 20
"""Largest file that a browser may give [bytes]."""
TABLE_ENDS = (".csv", ".txt")
DOWNLOADS = ("Path", "Shapes", "Poses")
PORTION = 16
"""Rows of a path that are solved at a time; what is asked in between does not wait for the others."""


class RodFiles:
    """The folder "files" of a page.

    Args:
        server: the page's server.
        solver: solves the rows of a path that is downloaded.
        saved: the saved poses.
        path: the path.
        say: tells what was refused.
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
        given: Callable[[], Target],
        changed: Callable[[], None],
    ) -> None:
        self._solver, self._saved, self._path, self._say = solver, saved, path, say
        self._given, self._changed = given, changed
        gui = server.gui
        with gui.add_folder("files", expand_by_default=False):
            button = gui.add_upload_button(
                "Open a path", icon="upload", mime_type=",".join(TABLE_ENDS),
                hint="A table of joint values or plate poses (.csv) becomes the path",
            )  # fmt: skip
            group = gui.add_button_group(
                "download", DOWNLOADS,
                hint="Path: its rows, solved (.csv), without a path the present pose. Shapes: the rods (.csv). "
                "Poses: the saved ones (.yaml)",
            )  # fmt: skip
            self._progress = gui.add_html("", visible=False)
            self._stop = gui.add_button("Stop the download", visible=False)
        self._lock = threading.Lock()
        self._rows: _Rows | None = None
        self._stop.on_click(guarded(say, lambda _: self.stop()))
        server.uploads.accept(button, MAX_FILE_BYTES, say)
        button.on_upload(guarded(say, lambda event: self.open(event.target.value.name, event.target.value.content)))
        group.on_click(guarded(say, lambda event: self._download(str(group.value), event.client)))

    def open(self, file: str, data: bytes) -> None:
        """Take a file that a browser gives.

        Raises:
            PliantError: it is no table.
        """
        if not self.open_table(file, data):
            raise PliantError(f"the file must end in {' or '.join(TABLE_ENDS)}", file=plain_file_name(file))

    def open_table(self, file: str, data: bytes) -> bool:
        """Take a table of joint values or plate poses as the path; return False for another file.

        Raises:
            PliantError: the table is too large, or wrong.
        """
        name = plain_file_name(file)
        if not name.lower().endswith(TABLE_ENDS):
            return False
        if len(data) > MAX_FILE_BYTES:
            raise PliantError(f"the file has {len(data)} bytes; must be at most {MAX_FILE_BYTES}", file=name)
        self._path.load(data, name, direct=self._given().model == "direct")
        self._changed()
        return True

    def _download(self, what: str, client: viser.ClientHandle) -> None:
        if client is None:
            return
        robot = self._solver.robot
        name = "".join(c if c.isalnum() or c in "-_" else "-" for c in robot.name)[:60] or "robot"
        if what == "Poses":
            _send(client, f"{name}-poses.yaml", self._saved.text())
            return
        if what == "Shapes":
            self._solver.work("shapes", lambda _, last: self._send_shapes(client, f"{name}-shapes.csv", last))
            return
        path, target = self._path, self._given()
        rows, direct = list(path.rows) or [target.values], path.direct if path.rows else target.model == "direct"
        job = _Rows(rows, direct, target, lambda table: _send(client, f"{name}-path.csv", _path_text(robot, table)))
        with self._lock:
            self._rows = job
            self._show()
            self._solver.work("path", lambda robot, last: self._portion(job, robot, last))

    def stop(self) -> None:
        """Give up the path that is being solved for a download; does nothing where there is none."""
        with self._lock:
            self._rows = None
            self._show()

    def _send_shapes(self, client: viser.ClientHandle, name: str, last: Solution) -> None:
        guarded(self._say, lambda _: _send(client, name, table_text(SHAPE_COLUMNS, shape_rows(last))))()

    def _portion(self, job: _Rows, robot: ContinuumParallelRobot, present: Solution) -> None:
        """Solve some rows and queue the next ones, behind what was asked meanwhile; the solver's thread calls this."""
        if self._rows is job:
            guarded(self._say, lambda _: job.solve_next(robot, present))()
        with self._lock:
            if self._rows is not job:
                return  # stopped, or another one was asked for
            if job.fault or not job.left:
                self._rows = None
            else:
                self._solver.work("path", lambda robot, last: self._portion(job, robot, last))
            self._show()
        if not job.fault:
            guarded(self._say, lambda _: job.finish())()

    def _show(self) -> None:
        """Tell how far a path of several portions is; the lock is held."""
        job = self._rows
        shown = False
        if job is not None and len(job.rows) > PORTION:
            shown = True
            text = small(f"{100 * job.at // len(job.rows)} % of {len(job.rows)} rows solved")
            if self._progress.content != text:
                self._progress.content = text
        for handle in (self._progress, self._stop):
            if handle.visible != shown:
                handle.visible = shown


class _Rows:
    """Rows of a path, solved some at a time for a download.

    Args:
        rows: joint values, or numbers of poses.
        direct: whether they are joint values.
        target: has the wrench and the controlled degrees of freedom.
        send: gets the table once it is whole, shape (rows, joints and numbers of the pose).
    """

    def __init__(
        self, rows: Sequence[Sequence[float]], direct: bool, target: Target, send: Callable[[Array], None]
    ) -> None:
        self.rows, self._direct, self._target, self._send = rows, direct, target, send
        self._tables: list[Array] = []
        self._last: Solution | None = None
        self.at = 0
        """Rows that are solved."""
        self.fault = False
        """Whether the newest rows could not be solved."""

    @property
    def left(self) -> int:
        """Rows that are not yet solved."""
        return len(self.rows) - self.at

    def solve_next(self, robot: ContinuumParallelRobot, present: Solution) -> None:
        """Solve the next rows.

        Args:
            robot: solves them.
            present: where the path begins.

        Raises:
            PliantError: one of them has no equilibrium.
        """
        # The last row of the portion before is solved again, so that all rows are continued as in one piece.
        self.fault = True
        first = max(self.at - 1, 0)
        rows = self.rows[first : self.at + PORTION]
        start, direct = self._last or present, self._direct
        with np.errstate(all="ignore"):
            done = robot.follow(
                rows if direct else [robot.pose_from_numbers(row) for row in rows],
                self._target.wrench,
                start=start,
                # What has left the stable side in one portion does not jump back in the next.
                branch="smooth" if self._last is not None and start.morse_index else "home",
                inverse=not direct,
                controlled=None if direct else self._target.controlled,
                first_row=first,
            )
        table = np.hstack([done.q, [robot.pose_numbers(X) for X in done.plate_poses]])
        self._tables.append(table[self.at - first :])
        self.at += len(self._tables[-1])
        last = done[-1]
        assert isinstance(last, Solution)
        self._last, self.fault = last, False

    def finish(self) -> None:
        """Send the table if it is whole."""
        if not self.left:
            self._send(np.vstack(self._tables))


def _path_text(robot: ContinuumParallelRobot, table: Array) -> str:
    return table_text([*joint_columns(robot.actuator_count), *plate_columns(robot.planar)[0]], table)


def _send(client: viser.ClientHandle, name: str, text: str) -> None:
    client.send_file_download(name, text.encode(), save_immediately=True)

"""A path of joint values or plate poses, and a place on it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from pliant.base.errors import PliantError
from pliant.rods import ContinuumParallelRobot
from pliant.rods.geometry import between
from pliant.rods.tables import joint_columns, parse_table, plate_columns

MAX_ROWS = 5000
"""Longest path."""
ROW_TIME = 0.8
"""Time from one row to the next, where the whole is not too short or too long [s]."""
SHORTEST, LONGEST = 1.5, 20.0
"""Time of a whole path [s]."""


class PosePath:
    """Rows of joint values, or of plate poses, with straight lines between them.

    Poses turn the shortest way from one row to the next.

    Args:
        robot: whose path it is; only its facts are read.
    """

    def __init__(self, robot: ContinuumParallelRobot) -> None:
        self._robot = robot
        self.rows: list[tuple[float, ...]] = []
        """Joint values, or numbers of poses."""
        self.direct = True
        """Whether the rows are joint values."""
        self.place = 0.0
        """Place on the path, 0 to 1."""
        self.playing = False
        """Whether the place goes on."""

    @property
    def duration(self) -> float:
        """Time from end to end [s]."""
        return min(max(ROW_TIME * (len(self.rows) - 1), SHORTEST), LONGEST)

    def add(self, values: Sequence[float], *, direct: bool) -> None:
        """Add a row.

        Raises:
            PliantError: the rows are of the other kind, or there are too many.
        """
        if self.rows and direct != self.direct:
            raise PliantError(f"the rows of the path are {self.kind}; clear it, or give {self.kind}", field="path")
        if len(self.rows) >= MAX_ROWS:
            raise PliantError(f"the path has {MAX_ROWS} rows, the most; clear it", field="path")
        self.direct = direct
        self.rows.append(tuple(map(float, values)))

    def load(self, data: bytes, file: str, *, direct: bool) -> None:
        """Take the rows of a table (.csv) in the place of the present ones.

        A header that names columns (q1 ..., or x, y, ...) says what the rows are. A table that has both, as
        ``pliant cpr solve --output`` writes it, gives its joint values or its poses.

        Args:
            data: the text.
            file: its name, for messages.
            direct: what the rows are where the header does not say.

        Raises:
            PliantError: the table cannot be read, or has the wrong number of rows or columns.
        """
        robot = self._robot
        joints, pose = joint_columns(robot.actuator_count), plate_columns(robot.planar)[0]
        first = data[:2000].decode("utf-8-sig", "replace").lstrip().partition("\n")[0]
        names = re.split(r"[,;\s]+", first.strip().lower())
        whole = names[: len(joints) + 1] == [*joints, pose[0]]
        if names[0] in (joints[0], pose[0]) and not whole:
            direct = names[0] == joints[0]
        columns = [*joints, *pose] if whole else joints if direct else pose
        table = parse_table(data, file, (len(columns),), columns)
        if whole:
            table = table[:, : len(joints)] if direct else table[:, len(joints) :]
        if not 2 <= len(table) <= MAX_ROWS:
            raise PliantError(f"the table has {len(table)} rows; must be 2 to {MAX_ROWS}", file=file)
        self.clear()
        self.direct = direct
        self.rows = [tuple(map(float, row)) for row in table]

    def clear(self) -> None:
        """Take all rows away."""
        self.rows, self.place, self.playing = [], 0.0, False

    def play(self) -> None:
        """Let the place go on; at the end it begins again.

        Raises:
            PliantError: there are fewer than two rows.
        """
        if len(self.rows) < 2:
            raise PliantError(f"the path has {len(self.rows)} rows; must be 2 or more to play", field="path")
        if self.place >= 1.0:
            self.place = 0.0
        self.playing = True

    def advance(self, seconds: float) -> None:
        """Let time go by; at the end the path rests."""
        if self.playing:
            self.place = min(self.place + seconds / self.duration, 1.0)
            self.playing = self.place < 1.0

    def values(self) -> tuple[float, ...]:
        """Return the joint values or the pose at the present place.

        Raises:
            PliantError: there are fewer than two rows.
        """
        if len(self.rows) < 2:
            raise PliantError("the path must have 2 rows or more", field="path")
        x = self.place * (len(self.rows) - 1)
        k = min(int(x), len(self.rows) - 2)
        part = x - k
        if part == 0.0:
            return self.rows[k]
        if part == 1.0:
            return self.rows[k + 1]
        one, two = np.array(self.rows[k]), np.array(self.rows[k + 1])
        if self.direct or self._robot.planar:
            change = two - one
            if not self.direct:
                change[2] = (change[2] + np.pi) % (2.0 * np.pi) - np.pi
            return tuple(map(float, one + part * change))
        A, B = self._robot.pose_from_numbers(one), self._robot.pose_from_numbers(two)
        return tuple(map(float, self._robot.pose_numbers(between(A, B, part))))

    @property
    def kind(self) -> str:
        """Kind of the rows, in words."""
        return "joint values" if self.direct else "plate poses"

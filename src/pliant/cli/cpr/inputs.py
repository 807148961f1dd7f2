"""What the commands of parallel robots are given: robots, numbers, poses, tables."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pliant.errors import PliantError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from rich.console import Console

    from pliant.rods import ContinuumParallelRobot

__all__ = [
    "COMPILING",
    "JOINTS",
    "POSE",
    "WRENCH",
    "Robot",
    "load_parallel",
    "numbers",
    "pose_numbers",
    "read_table",
    "to_pose",
]

Robot = Annotated[str, Parameter(help="A name of `pliant cpr list`, a YAML file, or a folder of the Gazebo simulator.")]
COMPILING = "compiling the equations of rods (about a minute, once; later runs load them)"
WRENCH = "Wrench on the plate about its origin, world axes: fx,fy,fz,mx,my,mz (planar: fx,fy,mz) [N, N m]."
POSE = "Plate pose: x,y,z,roll,pitch,yaw (planar: x,y,angle) [m, rad]; solves for the joint values."
JOINTS = "Actuated joint values, separated by commas [m or rad]; solves for the plate pose."


def numbers(text: str, option: str, count: Sequence[int] | None = None) -> np.ndarray:
    """Read numbers separated by commas or spaces.

    Raises:
        PliantError: what is no finite number, or a wrong count.
    """
    import numpy as np

    words = text.replace(",", " ").split()
    values = []
    for word in words:
        try:
            values.append(float(word))
        except ValueError:
            raise PliantError(f"{option} {text!r}: {word!r} is not a number", field=option) from None
        if not math.isfinite(values[-1]):
            raise PliantError(f"{option} {text!r}: {word!r} is not finite", field=option)
    if count is not None and len(values) not in count:
        wanted = " or ".join(str(c) for c in count)
        raise PliantError(f"{option} {text!r} has {len(values)} numbers; valid: {wanted}", field=option)
    return np.array(values)


def to_pose(robot: ContinuumParallelRobot, values: np.ndarray) -> np.ndarray:
    """Return a pose as the solver takes it: (x, y, angle), or 4x4 from (x, y, z[, roll, pitch, yaw])."""
    import numpy as np

    from pliant.spatial import pose, rotation_from_rpy

    if robot.planar:
        return values
    rpy = values[3:] if len(values) == 6 else np.zeros(3)
    return pose(values[:3], rotation_from_rpy(rpy))


def pose_numbers(robot: ContinuumParallelRobot, X: np.ndarray) -> list[float]:
    """Return a 4x4 pose as (x, y, angle) or (x, y, z, roll, pitch, yaw)."""
    import numpy as np

    R = X[:3, :3]
    if robot.planar:
        return [float(X[0, 3]), float(X[1, 3]), float(np.arctan2(R[1, 0], R[0, 0]))]
    pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    return [*X[:3, 3].tolist(), *map(float, (np.arctan2(R[2, 1], R[2, 2]), pitch, np.arctan2(R[1, 0], R[0, 0])))]


def load_parallel(source: str, accuracy: str = "accurate", *, console: Console) -> ContinuumParallelRobot:
    """Load a robot; say so before its first use compiles for long.

    Args:
        source: see `Robot`.
        accuracy: see `pliant.rods.load_robot`.
        console: where people read.

    Raises:
        PliantError: there is no such robot, or its description is wrong.
    """
    from pliant.rods import is_compiled, load_robot

    if not is_compiled():
        console.print(f"[dim]{COMPILING}[/dim]", soft_wrap=True)
    return load_robot(source, accuracy=accuracy)


def read_table(path: Path, count: Sequence[int]) -> np.ndarray:
    """Read a CSV of numbers, with or without a line of headings.

    Raises:
        PliantError: file and line of what is wrong.
    """
    import numpy as np

    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise PliantError(f"the table cannot be read: {error.strerror}", file=path) from None
    except UnicodeDecodeError:
        raise PliantError("the table cannot be read: it is no text in UTF-8", file=path) from None
    rows, width = [], None
    for number, line in enumerate(lines, 1):
        text = line.split("#")[0].strip()
        if not text:
            continue
        words = [w for w in text.replace(";", ",").replace(",", " ").split() if w]
        try:
            row = [float(w) for w in words]
        except ValueError:
            if rows or number > 1:
                raise PliantError(f"not numbers: {text[:80]!r}", file=path, line=number) from None
            continue
        if not all(math.isfinite(v) for v in row):
            raise PliantError(f"a number is not finite: {text[:80]!r}", file=path, line=number)
        width = len(row) if width is None else width
        if len(row) != width or len(row) not in count:
            wanted = " or ".join(str(c) for c in count)
            raise PliantError(f"{len(row)} numbers in a row; valid: {wanted}", file=path, line=number)
        rows.append(row)
    if not rows:
        raise PliantError("the table has no rows", file=path)
    return np.array(rows)

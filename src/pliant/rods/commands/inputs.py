"""Arguments of the commands for parallel robots: robots, numbers, poses."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pliant.base.errors import PliantError
from pliant.rods.listed import names

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from pliant.rods import ContinuumParallelRobot

Robot = Annotated[
    str, Parameter(help="A name of `pliant list`, a YAML or JSON file, or a folder of the Gazebo simulator.")
]
WRENCH = "Wrench on the plate about its origin, world axes: fx,fy,fz,mx,my,mz (planar: fx,fy,mz) [N, N m]."
POSE = "Plate pose: x,y,z,roll,pitch,yaw (planar: x,y,angle) [m, rad]; solves for the joint values."
JOINTS = "Actuated joint values, separated by commas [m or rad]; solves for the plate pose."
CONTROLLED = "Controlled degrees of freedom of a robot with fewer actuators, such as z,rx,ry."
ACCURACY = "accurate (1e-6 m) or fast (1e-5 m)."


def completed() -> tuple[list[str], bool]:
    """Return what completes the arguments of ``pliant cpr``: parallel robots of the catalogue, and files."""
    return names(), True


def numbers(text: str, option: str, count: Sequence[int] | None = None) -> np.ndarray:
    """Read numbers separated by commas or spaces.

    Raises:
        PliantError: a word is not a finite number, or the count is wrong.
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
        raise PliantError(f"{option} {text!r} has {len(values)} numbers; must be {wanted}", field=option)
    return np.array(values)


def plate_wrench(robot: ContinuumParallelRobot, text: str | None) -> np.ndarray | None:
    """Read the wrench of ``--wrench`` on the plate, shape (6,), planar (3,); None for None.

    Raises:
        PliantError: as `numbers`.
    """
    return None if text is None else numbers(text, "--wrench", (3,) if robot.planar else (6,))


def plate_pose(robot: ContinuumParallelRobot, text: str | None) -> np.ndarray | None:
    """Read the pose of ``--pose``, shape (4, 4), planar (3,); None for None.

    Raises:
        PliantError: as `numbers`.
    """
    if text is None:
        return None
    return robot.pose_from_numbers(numbers(text, "--pose", (3,) if robot.planar else (3, 6)))


def freedoms(text: str | None) -> list[str] | None:
    """Return the names in ``--controlled``; None for None."""
    return None if text is None else text.replace(",", " ").split()

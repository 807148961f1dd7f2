"""Arguments of the commands for parallel robots: robots, numbers, poses."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pliant.base.errors import PliantError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

__all__ = [
    "JOINTS",
    "POSE",
    "WRENCH",
    "Robot",
    "completed",
    "numbers",
]

Robot = Annotated[
    str, Parameter(help="A name of `pliant list`, a YAML or JSON file, or a folder of the Gazebo simulator.")
]
WRENCH = "Wrench on the plate about its origin, world axes: fx,fy,fz,mx,my,mz (planar: fx,fy,mz) [N, N m]."
POSE = "Plate pose: x,y,z,roll,pitch,yaw (planar: x,y,angle) [m, rad]; solves for the joint values."
JOINTS = "Actuated joint values, separated by commas [m or rad]; solves for the plate pose."


def completed() -> tuple[list[str], bool]:
    """Return what completes the arguments of ``pliant cpr``: parallel robots of the catalogue, and files."""
    from pliant.rods.robots.entry import ROBOTS

    return [name for robot in ROBOTS for name in (robot.name, *robot.aliases)], True


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

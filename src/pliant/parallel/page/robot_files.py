"""Robots from the text of a file that a browser gives: parallel robots in YAML, which refer to no other files."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from pliant.base.documents.yaml_tree import parse_yaml
from pliant.base.errors import PliantError
from pliant.parallel.page.statics import plain_equilibrium
from pliant.rods import ContinuumParallelRobot
from pliant.rods.loaders import describe, full_name

MAX_ROBOT_BYTES = 1 << 16
"""Largest description of a robot from a page [bytes]."""
MAX_LIMBS = 32
"""Most limbs of a robot from a page."""
MAX_NAME = 60
"""Longest name of a robot from a page."""


def read_robot(data: bytes, file: str, taken: Collection[str] = ()) -> ContinuumParallelRobot:
    """Return a parallel robot, with its home equilibrium solved.

    Args:
        data: the text of the file.
        file: its name, for messages.
        taken: names that it may not have, beside those by which the catalogue of parallel robots is known; the case
            of the letters does not matter.

    Raises:
        PliantError: the text describes no parallel robot, its name is taken, or it has no equilibrium at home; with
            the name of the file.
    """
    if len(data) > MAX_ROBOT_BYTES:
        raise PliantError(f"the file has {len(data)} bytes; must be at most {MAX_ROBOT_BYTES}", file=file)
    description = describe(parse_yaml(data, file))
    name = description.name
    if not name.isprintable() or not 0 < len(name) <= MAX_NAME:
        raise PliantError(f"the name of the robot must be 1 to {MAX_NAME} printable characters", file=file)
    same = next((one for one in taken if one.casefold() == name.casefold()), None) or full_name(name)
    if same is not None:
        other = "" if same == name else f" ({same})"
        raise PliantError(f"there is a robot {name!r} already{other}; give the one in the file another name", file=file)
    if len(description.limbs) > MAX_LIMBS:
        raise PliantError(f"the robot has {len(description.limbs)} limbs; must be at most {MAX_LIMBS}", file=file)
    try:
        # Absurd numbers overflow in the solver before it gives up; that is no news.
        with np.errstate(all="ignore"):
            robot = ContinuumParallelRobot(description)
            plain_equilibrium(robot.home())
    except PliantError as error:
        raise PliantError(f"the home pose cannot be solved: {error.message}", file=file) from error
    except (ArithmeticError, ValueError) as error:  # numpy's LinAlgError is a ValueError
        reason = f"the home pose cannot be solved: the numbers leave every range ({error})"
        raise PliantError(reason, file=file) from error
    return robot

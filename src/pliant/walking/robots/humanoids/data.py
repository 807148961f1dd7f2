"""Find the files of PyPI's package example-robot-data, which pliant does not contain."""

from __future__ import annotations

import sys
from pathlib import Path

from pliant.base.errors import MissingDependency

SHARE = Path("cmeel.prefix", "share", "example-robot-data", "robots")
"""Where the package keeps its robots below site-packages."""


def find_data(file: str) -> Path:
    """Return a file of example-robot-data.

    Args:
        file: below the folder of its robots, such as "g1_description/urdf/g1_29dof_rev_1_0.urdf".

    Raises:
        MissingDependency: the package is not installed, or has no such file.
    """
    for folder in sys.path:
        path = Path(folder or ".") / SHARE / file
        if path.is_file():
            return path
    raise MissingDependency(
        "example-robot-data", command="pip install example-robot-data", purpose=f"the description {Path(file).name}"
    )

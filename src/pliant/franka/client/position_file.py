"""Files of joint positions, in ViSP's format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pliant.base.documents.files import read_text
from pliant.base.errors import DeviceError
from pliant.base.numerics import Array
from pliant.franka.client.backend import as_vector

_HEADER = "#PANDA - Joint position file\n#\n# R: q1 q2 q3 q4 q5 q6 q7\n# with joint positions in degrees\n#\n"


def read_positions(path: str | Path) -> Array:
    """Return the joint positions of a ViSP position file, shape (7,) [rad].

    Raises:
        DeviceError: no such file, or no line "R:" with seven numbers [deg].
    """
    lines = read_text(Path(path), DeviceError).splitlines()
    for number, line in enumerate(lines, 1):
        if line.strip().startswith("R:"):
            try:
                angles_deg = [float(x) for x in line.split(":", 1)[1].split()]
            except ValueError:
                angles_deg = []
            if len(angles_deg) != 7 or not np.isfinite(angles_deg).all():
                raise DeviceError(f"{line.strip()!r} must be R: and seven angles [deg]", file=path, line=number)
            return np.radians(angles_deg)
    raise DeviceError("no line 'R: q1 q2 q3 q4 q5 q6 q7'", file=path)


def write_positions(path: str | Path, q: Sequence[float] | Array) -> None:
    """Write joint positions [rad] as a ViSP position file (degrees).

    Raises:
        DeviceError: the file cannot be written, or other than seven finite numbers.
    """
    angles_deg = np.degrees(as_vector(q, 7, "q"))
    text = " ".join(f"{x:.9f}" for x in angles_deg)
    try:
        Path(path).write_text(f"{_HEADER}R: {text}\n", encoding="utf-8")
    except OSError as fault:
        raise DeviceError(f"cannot write positions: {fault}", file=path) from None

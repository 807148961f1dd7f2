"""Named poses of parallel robots: those of a robot's description, and a person's own in a file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pliant.base.documents.json_text import read_json
from pliant.base.errors import ModelError, PliantError, nearest
from pliant.base.numerics import is_finite_number
from pliant.base.replacing import replacing
from pliant.rods import ContinuumParallelRobot

MAX_POSES = 200
"""Most poses of a robot that a person saves."""
MAX_NAME = 60
"""Longest name."""
MODELS = {"dgm": "direct", "igm": "inverse"}
"""Model in the file -> model of a target."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedPose:
    """A pose with a name."""

    direct: bool
    """Whether the joint values are given, or the plate pose."""
    values: tuple[float, ...]
    """Joint values, or the numbers of the pose."""
    wrench: tuple[float, ...] | None
    """Wrench on the plate; None: none was saved."""
    own: bool
    """Whether the person saved it, and may delete it."""


class SavedPoses:
    """The named poses of one robot.

    Args:
        robot: the robot.
        file: JSON file of the person's own; None: ``pliant/cpr.json`` in the user's configuration folder.
    """

    def __init__(self, robot: ContinuumParallelRobot, file: str | Path | None = None) -> None:
        self._robot = robot
        base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
        self._file = Path(file) if file is not None else Path(base) / "pliant" / "cpr.json"

    def all(self) -> dict[str, SavedPose]:
        """Return every pose by its name.

        Raises:
            ModelError: the file cannot be read.
        """
        robot, out = self._robot, {}
        for name, one in robot.description.configurations.items():
            if "q" in one:
                out[name] = SavedPose(direct=True, values=_numbers(one["q"]), wrench=None, own=False)
            elif "pose" in one:
                v = _numbers(one["pose"])
                v = (v[0], v[1], v[5]) if robot.planar and len(v) == 6 else v
                out[name] = SavedPose(direct=False, values=v, wrench=None, own=False)
        for name, one in self._read().get(robot.name, {}).items():
            out[name] = self._own(name, one)
        return out

    def save(
        self, name: str, *, direct: bool, q: Sequence[float], pose: Sequence[float], wrench: Sequence[float]
    ) -> None:
        """Save a pose under a name, in the place of one that has it.

        Raises:
            PliantError: the name cannot be used, there are too many, or the file cannot be written.
        """
        if not name.strip() or len(name) > MAX_NAME or not name.isprintable():
            raise PliantError(f"the name of a pose must be 1 to {MAX_NAME} printable characters", field="name")
        if name in self._robot.description.configurations:
            raise PliantError(f"the description of the robot has a pose {name!r}; choose another name", field="name")
        every = self._read()
        mine = every.setdefault(self._robot.name, {})
        if len(mine) >= MAX_POSES and name not in mine:
            raise PliantError(f"{MAX_POSES} poses of this robot are saved, the most; delete one", field="name")
        mine[name] = {
            "mode": "dgm" if direct else "igm",
            "q": list(map(float, q)),
            "pose": list(map(float, pose)),
            "wrench": list(map(float, wrench)),
        }
        self._write(every)

    def delete(self, name: str) -> None:
        """Delete a pose that the person saved.

        Raises:
            PliantError: there is none of this name.
        """
        every = self._read()
        mine = every.get(self._robot.name, {})
        if name not in mine:
            raise PliantError(f"there is no saved pose {name[:80]!r}; {nearest(name, mine)}", field="name")
        del mine[name]
        self._write(every)

    def text(self) -> str:
        """Return all poses as the ``configurations`` of a robot's YAML file."""
        lines = ["configurations:"]
        for name, one in self.all().items():
            values = ", ".join(f"{v:.9g}" for v in one.values)
            lines.append(f"  {json.dumps(name)}: {{{'q' if one.direct else 'pose'}: [{values}]}}")
        return "\n".join(lines if len(lines) > 1 else ["configurations: {}"]) + "\n"

    def _own(self, name: str, one: Mapping[str, object]) -> SavedPose:
        model = one.get("mode")
        direct = model == "dgm"
        values, wrench = one.get("q" if direct else "pose"), one.get("wrench")
        size = 3 if self._robot.planar else 6
        if (
            not isinstance(model, str)
            or model not in MODELS
            or not _is_vector(values, self._robot.actuator_count if direct else size)
            or not (wrench is None or _is_vector(wrench, size))
        ):
            raise ModelError(f"the saved pose {name!r} of {self._robot.name} is not complete", file=self._file)
        load = None if wrench is None else _numbers(wrench)
        return SavedPose(direct=direct, values=_numbers(values), wrench=load, own=True)

    def _read(self) -> dict[str, dict[str, object]]:
        try:
            if not self._file.exists():
                return {}
            data = read_json(self._file)
        except PermissionError as error:
            raise ModelError(f"the saved poses cannot be read: {error}", file=self._file) from None
        robots = data.values() if isinstance(data, dict) else [None]
        if not all(isinstance(r, dict) and all(isinstance(one, dict) for one in r.values()) for r in robots):
            raise ModelError("the saved poses must be a mapping of robots", file=self._file)
        return data

    def _write(self, every: dict[str, dict[str, object]]) -> None:
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with replacing(self._file) as fresh:
                fresh.write_text(json.dumps(every, indent=1), encoding="utf-8")
        except OSError as error:
            raise ModelError(f"the pose cannot be saved: {error}", file=self._file) from None


def _is_vector(value: object, count: int) -> bool:
    return isinstance(value, list) and len(value) == count and all(map(is_finite_number, value))


def _numbers(values: Any) -> tuple[float, ...]:
    return tuple(float(v) for v in values)

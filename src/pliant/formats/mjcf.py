"""Read MJCF, MuJoCo's own format."""

from __future__ import annotations

import re
from pathlib import Path

import mujoco

from pliant.base.documents.xml_tree import Node, line_of
from pliant.base.errors import ModelError
from pliant.formats.mjcf_budget import check_budget
from pliant.formats.source import DEFAULT_TIMESTEP, Source
from pliant.model.description import is_authored
from pliant.model.robot import Robot
from pliant.model.sensor_reading import described_sensors


def read_mjcf(source: Source) -> Robot:
    """Return the robot of an MJCF file; its sensors become described sensors.

    Raises:
        ModelError: MuJoCo refuses the file, a number in it is not a number, or it expands to more than
            `pliant.formats.mjcf_budget` accepts.
    """
    path = source.path
    _refuse_nan(source.root, path)
    check_budget(source.root, path)
    try:
        spec = mujoco.MjSpec.from_file(str(path))
    except (ValueError, RuntimeError) as error:
        text = " ".join(str(error).split())
        # With an <include>, the line that MuJoCo names may be one of the other file.
        line = None if source.root.find(".//include") is not None else re.search(r"\bline ([1-9]\d*)$", text)
        raise ModelError(
            f"MuJoCo refuses the file: {text}", file=path, line=int(line.group(1)) if line else None
        ) from error
    if not is_authored(spec, "timestep"):
        spec.option.timestep = DEFAULT_TIMESTEP
    return Robot(spec, devices=described_sensors(spec), file=path)


def _refuse_nan(root: Node, path: Path) -> None:
    """Refuse numbers that are not numbers, which MuJoCo takes with no more than a warning."""
    for element in root.iter():
        for attribute, text in element.attrib.items():
            if attribute != "name" and any(word.lower().lstrip("+-") == "nan" for word in text.split()):
                raise ModelError(
                    f"<{element.tag}> {attribute} is {text!r}; must be finite numbers",
                    file=path,
                    line=line_of(element),
                    field=attribute,
                )

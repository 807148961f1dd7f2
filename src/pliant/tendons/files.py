"""Read tendon-driven robots by name or from YAML.

A file (lengths in metres, radians, pascal, kilogram, newton; a number may carry a unit as text)::

    name: finger
    gravity: [0, 0, -9.81]            # [0, 0, 9.81]: it hangs
    base: {xyz: [0, 0, 0], rpy: [0, 0, 0]}
    tip_mass: 5 g
    segment:                          # what all segments share; each may override any part
      rod: {radius: 0.5 mm, E: 50 GPa, density: 7800}
      disks: 5
      disk_radius: 6 mm
      disk_mass: 1 g
    segments:                         # from the base outwards
      - rod: {length: 100 mm}
      - rod: {length: 80 mm}
    tendon: {radius: 5 mm, drive_stiffness: 3200, pretension: 3 N}
    tendons:
      - {segment: 0, angle: 0 deg}    # ends at the last disk of the first segment
      - {segment: 1, angle: 60 deg, turn: 90 deg}

The keys are the fields of `TendonRobotDescription`, `Segment` and `Tendon`; those of the rod as in a parallel robot's
file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pliant.base.documents.yaml_tree import Document
from pliant.rods.loaders import Reader, field_keys, find_or_read, merge, read_fields, read_pose, read_rod
from pliant.tendons.description import Segment, Tendon, TendonRobotDescription
from pliant.tendons.robots import ROBOTS


def load_tendons(name: str | Path) -> TendonRobotDescription:
    """Return a tendon-driven robot of the catalogue or of a YAML file.

    Raises:
        ModelError: there is none of this name, or the file is not valid; the message names file, line and key.
    """
    return find_or_read(name, ROBOTS, describe, "tendon-driven robot", (".yaml", ".yml", ".json"))


def describe(document: Document) -> TendonRobotDescription:
    """Turn the YAML document of a tendon-driven robot into a description.

    Raises:
        ModelError: with file, line and field of the fault.
    """
    r = Reader(document.value, document)
    r.known(
        "name", "base", "links", "segment", "segments", "tendon", "tendons",
        *field_keys(TendonRobotDescription),
    )  # fmt: skip
    values = read_fields(r, TendonRobotDescription)
    segments, tendons = _all(r, "segment", _segment), _all(r, "tendon", _tendon)
    with r.placing():
        return TendonRobotDescription(
            name=r.text("name", Path(document.file).stem if document.file else "tendons"), base=read_pose(r, "base"),
            links=r.choice("links", ("chords", "curves"), "chords"), segments=segments, tendons=tendons, **values,
        )  # fmt: skip


def _all(r: Reader, one: str, read: Callable[[Reader], Any]) -> tuple[Any, ...]:
    """Read a list of parts, each with what they share."""
    many = one + "s"
    rows = r.data.get(many)
    if not isinstance(rows, list) or not rows:
        raise r.fail(f"needs a list of {many}, found {rows!r}", many)
    shared = r.sub(one).data if one in r else {}
    return tuple(
        read(
            Reader(
                merge(shared, row) if isinstance(row, Mapping) else row, r.document, ((many, k), (one,)), f"{many}[{k}]"
            )
        )
        for k, row in enumerate(rows)
    )


def _segment(r: Reader) -> Segment:
    r.known("rod", *field_keys(Segment))
    if "rod" not in r:
        raise r.fail("a rod is missing; it is needed here, or under segment for all segments", "rod")
    with r.placing():
        return Segment(rod=read_rod(r.sub("rod")), **read_fields(r, Segment))


def _tendon(r: Reader) -> Tendon:
    r.known("holes", *field_keys(Tendon))
    rows, holes = r.data.get("holes", []), []
    if not isinstance(rows, list):
        raise r.fail(f"needs a list of places (d1, d2) of holes, found {rows!r}", "holes")
    for row in rows:
        hole = Reader({"holes": row}, r.document, r.places, r.field).vector("holes", "length", 2)
        holes.append((hole[0], hole[1]))
    for key, unit in (("radius", "m"), ("angle", "rad")):
        if not holes and key not in r:
            text = f"is missing; must be a number [{unit}] or one with its unit, or the tendon needs holes instead"
            raise r.fail(text, key)
    with r.placing():
        instead = {"radius": 0.0, "angle": 0.0} if holes else {}
        full = Reader({**instead, **r.data}, r.document, r.places, r.field)
        return Tendon(holes=tuple(holes), **read_fields(full, Tendon))

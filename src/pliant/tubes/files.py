"""Read concentric-tube robots by name or from YAML.

A file (lengths in metres, pascal, radians; a number may carry a unit as text, as in a parallel robot's file)::

    name: two
    tubes:                       # the innermost first
      - {length: 200 mm, curved_length: 100 mm, curvature: 10, outer_radius: 0.5 mm, inner_radius: 0.3 mm, E: 60 GPa}
      - {length: 150 mm, curved_length: 80 mm, curvature: 5, outer_radius: 0.8 mm, inner_radius: 0.55 mm}
    translation: [-20 mm, -10 mm]
    base: {xyz: [0, 0, 0.1], rpy: [0, 0, 0]}
    gravity: [0, 0, -9.81]
"""

from __future__ import annotations

from pathlib import Path

from pliant.base.documents.yaml_tree import Document
from pliant.rods.loaders import Reader, field_keys, find_or_read, read_fields, read_pose
from pliant.tubes.description import Tube, TubesDescription
from pliant.tubes.robots import ROBOTS


def load_tubes(name: str | Path) -> TubesDescription:
    """Return a concentric-tube robot of the catalogue or of a YAML file.

    Raises:
        ModelError: there is none of this name, or the file is not valid; the message names file, line and key.
    """
    return find_or_read(name, ROBOTS, describe, "concentric-tube robot", (".yaml", ".yml"))


def describe(document: Document) -> TubesDescription:
    """Turn the YAML document of a concentric-tube robot into a description.

    Raises:
        ModelError: with file, line and field of the fault.
    """
    r = Reader(document.value, document)
    r.known("name", "tubes", "translation", "base", "gravity")
    rows = r.data.get("tubes")
    if not isinstance(rows, list) or not rows:
        raise r.fail(f"needs a list of tubes, the innermost first, found {rows!r}", "tubes")
    tubes = tuple(_tube(r.inner(row, "tubes", i, field=f"tubes[{i}]")) for i, row in enumerate(rows))
    base = read_pose(r, "base")
    with r.placing():
        return TubesDescription(
            name=r.text("name", Path(document.file).stem if document.file else "tubes"), tubes=tubes, base=base,
            translation=r.vector("translation", "length", len(tubes), ()), **read_fields(r, TubesDescription),
        )  # fmt: skip


def _tube(r: Reader) -> Tube:
    r.known(*field_keys(Tube))
    with r.placing():
        return Tube(**read_fields(r, Tube))

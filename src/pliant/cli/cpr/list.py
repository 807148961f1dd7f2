"""`pliant cpr list`: the parallel robots of the catalogue."""

from __future__ import annotations

from pliant.cli.options import Debug, Json
from pliant.cli.output import emit, make_console, print_table

__all__ = ["list_"]


def list_(*, json: Json = False, debug: Debug = False) -> int:
    """List the parallel robots of the catalogue."""
    from pliant.rods import catalogue, load_description

    rows = []
    for name in catalogue():
        d = load_description(name)
        rows.append(
            {
                "name": name,
                "kind": "planar" if d.planar else "spatial",
                "limbs": len(d.limbs),
                "actuators": [d.limbs[i].joints[j].kind for i, j in d.actuators],
                "plate_joints": [limb.distal.kind for limb in d.limbs],
                "controlled": list(d.controlled or d.freedoms),
            }
        )
    if json:
        emit({"robots": rows})
        return 0
    from rich.table import Table

    table = Table(box=None)
    for column in ("name", "", "limbs", "actuated", "plate joints", "controls"):
        table.add_column(column, no_wrap=column == "name")
    for row in rows:
        table.add_row(
            row["name"], row["kind"], str(row["limbs"]), ", ".join(dict.fromkeys(row["actuators"])),
            ", ".join(dict.fromkeys(row["plate_joints"])), " ".join(row["controlled"]),
        )  # fmt: skip
    print_table(make_console(), table)
    return 0

"""`pliant cpr identify`: parameters of a parallel robot from measured poses."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pliant.cli.options import Debug, Json
from pliant.cli.output import emit, make_console, print_table
from pliant.rods.commands.inputs import Robot
from pliant.rods.commands.writing import tell, write_table


def identify(
    robot: Robot,
    table: Annotated[
        Path,
        Parameter(
            help="CSV file with a row for each measurement: commanded joint values, measured plate pose "
            "x,y,z,roll,pitch,yaw (planar: x,y,angle); optionally also the wrench."
        ),
    ],
    *,
    parameter: Annotated[
        list[str],
        Parameter(
            help="Parameter to find; may be repeated: young_modulus, shear_modulus, density, length, radius of all "
            "rods; LIMB.young_modulus of one; LIMB.offset of its first actuator; plate.mass, plate.com.x.",
            negative=(),
        ),
    ],
    accuracy: Annotated[str, Parameter(help="accurate (1e-6 m) or fast (1e-5 m).")] = "accurate",
    output: Annotated[Path | None, Parameter(help="Write value and standard deviation per parameter (.csv).")] = None,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Find parameters of a parallel robot by least squares on measured plate poses.

    Examples:
        pliant cpr identify 3RR measured.csv --parameter young_modulus
    """
    import numpy as np

    from pliant.rods import Measurement, load_robot
    from pliant.rods.parameters import parameter_value
    from pliant.rods.tables import joint_columns, plate_columns, read_table

    console = make_console(quiet=json)
    statics = load_robot(robot, accuracy=accuracy)
    size, n = (3 if statics.planar else 6), statics.actuator_count
    pose_names, wrench_names = plate_columns(statics.planar)
    rows = read_table(table, (n + size, n + 2 * size), [*joint_columns(n), *pose_names, *wrench_names])
    measurements = [
        Measurement(q=row[:n], pose=statics.pose_from_numbers(row[n : n + size]), wrench=load if load.size else None)
        for row, load in zip(rows, rows[:, n + size :])
    ]
    with contextlib.nullcontext() if json else console.status("fitting"):
        found = statics.identify(measurements, parameter)
    before = {name: parameter_value(statics.description, name) for name in parameter}
    if output is not None:
        table_out = np.array([[found.values[name], found.deviations[name], before[name]] for name in parameter])
        write_table(output, "value,standard_deviation,value_in_file", table_out)
    if json:
        emit(
            {
                "robot": statics.name, "measurements": len(measurements), "values": found.values,
                "deviations": found.deviations, "before": before, "misfit": found.misfit,
                "output": output and str(output),
            }
        )  # fmt: skip
        return 0
    from rich.table import Table

    shown = Table(box=None)
    for column in ("parameter", "value", "standard deviation", "in the file"):
        shown.add_column(column, justify="left" if column == "parameter" else "right")
    for name in parameter:
        shown.add_row(name, f"{found.values[name]:.6g}", f"{found.deviations[name]:.2g}", f"{before[name]:.6g}")
    console.print(f"{statics.name}: {len(measurements)} measurements", soft_wrap=True)
    print_table(console, shown)
    console.print(f"root mean square error of the poses: {1e3 * found.misfit:.3g} mm")
    for name in parameter:
        if not np.isfinite(found.deviations[name]):
            console.print(f"[yellow]{name}[/yellow] does not affect these measurements")
    tell(console, output)
    return 0

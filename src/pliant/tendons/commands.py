"""`pliant cpr identify-tendons`: parameters of a tendon-driven robot from measured tips."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pliant.base.errors import PliantError
from pliant.cli.options import Debug, Json
from pliant.cli.output import emit, make_console, print_table


def identify_tendons(
    robot: Annotated[str, Parameter(help="tdcr, tdcr-v4, tdcr-v6, or a YAML file of tendons.")],
    table: Annotated[
        Path, Parameter(help="CSV file: timestamp, pattern_label, NAME_mm of each tendon, tip_x, tip_y, tip_z [mm].")
    ],
    *,
    folds: Annotated[int, Parameter(help="Parts of the cross-validation over motions; 0: none.")] = 5,
    every: Annotated[int, Parameter(help="Use every n-th row.")] = 1,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Find parameters of a tendon-driven robot by least squares on measured tips.

    Examples:
        pliant cpr identify-tendons tdcr-v4 v4_train.csv --every 3
    """
    import numpy as np

    from pliant.tendons.files import load_tendons
    from pliant.tendons.identify import EFFECTS, cross_validate, fit
    from pliant.tendons.measured import read_tips

    description, data = load_tendons(robot), read_tips(table)
    motions = len(set(data.pattern))
    if every < 1 or folds < 0 or folds == 1 or folds > motions:
        raise PliantError(f"--every {every} --folds {folds}: must be >= 1, and 0 or 2 to {motions} (the motions)")
    if data.pull.shape[1] != len(description.tendons):
        raise PliantError(
            f"{table}: has {data.pull.shape[1]} tendons, {robot} has {len(description.tendons)}", field="table"
        )
    data = data.thinned(every)
    console = make_console(quiet=json)
    with contextlib.nullcontext() if json else console.status("fitting"):
        found = fit(description, data)
        left_out = cross_validate(description, data, folds)[0] if folds else None
    values = {name: value.tolist() for name, value in found.parameters.items()}
    if json:
        emit(
            {
                "robot": robot, "rows": len(data.tip), "motions": motions, "rmse_m": found.rmse(),
                "left_out_rmse_m": left_out, "parameters": values,
            }
        )  # fmt: skip
        return 0
    from rich.table import Table

    shown = Table(box=None)
    for column in ("effect", "parameter", "difference from the nominal robot"):
        shown.add_column(column)
    for effect, names in EFFECTS.items():
        for name in names:
            shown.add_row(effect, name, " ".join(f"{v:.3g}" for v in np.atleast_1d(values[name])))
    print_table(console, shown)
    console.print(f"{robot}: {len(data.tip)} rows, {motions} motions; rmse {1e3 * found.rmse():.2f} mm")
    if left_out is not None:
        console.print(f"rmse of motions that the fit did not see ({folds} parts): {1e3 * left_out:.2f} mm")
    return 0

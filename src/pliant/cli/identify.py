"""`pliant identify`: fit parameters to measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from pliant.base.errors import PliantError, nearest
from pliant.cli.foreign_notes import say_what_was_read
from pliant.cli.options import Debug, Imports, Json, Seed, Settings, assignments, import_modules
from pliant.cli.output import clean, emit, make_console, plain
from pliant.cli.progress import Bar
from pliant.cli.simulating import check_figure, check_folder, refuse_unused

__all__ = ["identify"]


def identify(
    file: Annotated[
        list[Path],
        Parameter(
            negative=(),
            help="Recorded traces: CSV, NPZ, a recording or its export, or a ROS bag; one or several.",
        ),
    ],
    *,
    kind: Annotated[str, Parameter(help="What to fit: spring, friction or servo.")] = "spring",
    law: Annotated[str, Parameter(help="Law: a name that `pliant list` shows.")] = "qbmove",
    set: Settings = [],
    free: Annotated[
        list[str],
        Parameter(
            negative=(), consume_multiple=False, help="Parameter to fit; may be repeated. Default: those of the kind."
        ),
    ] = [],
    symmetric: Annotated[bool, Parameter(negative=(), help="Fit equal springs.")] = False,
    column: Annotated[
        list[str],
        Parameter(
            negative=(),
            consume_multiple=False,
            help="QUANTITY=COLUMN for a column whose name differs; the others are found by name; may be repeated.",
        ),
    ] = [],
    unit: Annotated[
        list[str],
        Parameter(negative=(), consume_multiple=False, help="QUANTITY=UNIT, such as position=deg; may be repeated."),
    ] = [],
    device: Annotated[
        str | None, Parameter(help="Device of a recording or its export, or joint of a bag; default: the only one.")
    ] = None,
    max_rest: Annotated[
        float, Parameter(help="Longest time without motion that is used [s]; longer ones are shortened.")
    ] = 5.0,
    figure: Annotated[Path | None, Parameter(help="Draw data and fit (.png, .svg, .pdf).")] = None,
    datasheet: Annotated[Path | None, Parameter(help="Write a data sheet of the fitted actuator (JSON).")] = None,
    seed: Seed = 0,
    import_: Imports = [],
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Fit spring parameters, friction or servo lag to recorded traces, with standard errors."""
    import_modules(import_)
    import numpy as np

    from pliant import identification as fits
    from pliant.identification import measurement_of, read_measurement
    from pliant.laws import CompliantActuator, Mode, get_law
    from pliant.model.parameters import change_actuator
    from pliant.recording.foreign import foreign_format, is_recording, traces_of_recording

    kinds = ("spring", "friction", "servo")
    if kind not in kinds:
        raise PliantError(f"--kind {kind}; {nearest(kind, kinds)}", field="kind")
    if not max_rest >= 0.0:
        raise PliantError(f"--max-rest is {max_rest:g}; must be >= 0 s", field="max-rest")
    refuse_unused(symmetric and kind != "spring", "--symmetric", "--kind spring")
    if figure is not None:
        check_figure(figure, "--figure")
    if datasheet is not None:
        check_folder(datasheet, "--datasheet")
    console = make_console(quiet=json)
    data = []
    for path in file:
        names, units = assignments(column, "--column"), assignments(unit, "--unit")
        foreign = foreign_format(path)
        if foreign is not None or is_recording(path):
            traces = traces_of_recording(path, device) if foreign is None else foreign.traces(path, device)
            data.append(measurement_of(traces.columns, str(path), names, units))
            say_what_was_read(console, path, traces, data[-1])
        else:
            data.append(read_measurement(path, names, units, device=device))
        before, data[-1] = data[-1], data[-1].without_rest(max_rest)
        if data[-1].samples < before.samples:
            lost = np.ptp(before["time"]) - np.ptp(data[-1]["time"])
            text = f"{plain(str(path))}: {lost:.3g} s of rest are not used (--max-rest {max_rest:g})"
            console.print(text, soft_wrap=True)
    mode = Mode.PID_EQ_PRESET if kind == "servo" else Mode.SPRING_REFS
    start = CompliantActuator(get_law(law)(), mode)
    tree: dict[str, Any] = {}
    for path_, value in assignments(set).items():
        node = tree
        *outer, last = path_.removeprefix("law.").split(".")
        for part in outer:
            node = node.setdefault(part, {})
        node[last] = value
    if tree:
        start = change_actuator(start, tree, "actuator")
    chosen: Any = {"free": tuple(free)} if free else {}
    with Bar(console, "fitting", "searches", shown=not json) as bar:
        chosen["progress"] = bar
        if kind == "spring":
            found = fits.fit_law(start.law, data, symmetric=symmetric, seed=seed, **chosen)
        elif kind == "friction":
            found = fits.fit_friction(start, data, seed=seed, **chosen)
        else:
            found = fits.fit_servo(start, data, seed=seed, **chosen)
    import json as json_module

    try:
        if figure is not None:
            found.figure().savefig(figure, dpi=150, bbox_inches="tight")
        if datasheet is not None:
            datasheet.write_text(json_module.dumps(clean(fits.datasheet(found.actuator)), indent=2) + "\n")
    except OSError as error:
        raise PliantError(f"the file cannot be written: {error.strerror}", file=error.filename) from None
    if json:
        emit(found.as_dict())
        return 0
    console.print(plain(found.report()), soft_wrap=True)
    for path, what in ((figure, "figure"), (datasheet, "data sheet")):
        if path is not None:
            console.print(f"{what}: {path}")
    return 0

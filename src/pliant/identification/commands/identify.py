"""`pliant identify`: fit parameters to measurements."""

from __future__ import annotations

import dataclasses
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from pliant.base.errors import PliantError, nearest
from pliant.base.options import check_values, option
from pliant.cli.checks import check_figure, check_folder, check_page, refuse_unused
from pliant.cli.options import Debug, Imports, Json, Seed, Settings, assignments, import_modules, option_name, repeated
from pliant.cli.output import clean, emit, make_console, plain
from pliant.cli.progress import Bar

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from pliant.identification import Fault, Fitting, Load, Measurement
    from pliant.laws import CompliantActuator
    from pliant.recording.foreign import Traces


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions:
    """Subject of the fit."""

    kind: str = "spring"
    """What to fit: spring, friction or servo."""
    law: str = "qbmove"
    """Law: a name that `pliant list` shows."""
    set: Settings = ()
    free: Annotated[tuple[str, ...], repeated()] = ()
    """Parameter to fit; may be repeated. Default: those of the kind."""
    symmetric: Annotated[bool, Parameter(negative=())] = False
    """Fit equal springs."""
    mode: int | None = option(None, low=5, high=6)
    """Operation mode of the recorded joint, 5 or 6; for --kind servo; default 6."""
    dt: float | None = option(None, unit="s", low=0.0, above=True)
    """Longest step of the simulation that is fitted [s]; for --kind servo; default 0.00002 up to 4 s."""
    folds: int | None = option(None, low=2, high=1000)
    """State the error on data that were not fitted, over this number of parts: logs, or windows of one log."""
    intervals: Annotated[bool, Parameter(negative=())] = False
    """State 95 % intervals, by the profile of the likelihood."""
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_values(self, names=option_name)
        refuse_unused(self.mode is not None and self.kind != "servo", "--mode", "--kind servo")
        refuse_unused(self.dt is not None and self.kind != "servo", "--dt", "--kind servo")

    def start(self) -> CompliantActuator:
        """Return the actuator from which the fit starts."""
        from pliant.identification.parameter_paths import target_paths
        from pliant.laws import CompliantActuator, Mode, get_law
        from pliant.model.parameters import change_actuator

        mode = Mode(self.mode or Mode.PID_EQ_PRESET) if self.kind == "servo" else Mode.SPRING_REFS
        actuator = CompliantActuator(get_law(self.law)(), mode)
        tree: dict[str, Any] = {}
        for path, value in assignments(self.set).items():
            if path.startswith("load."):
                continue
            # As in --free, "motor.x" is that of every motor; a lever's has other units and is named itself.
            of_all = target_paths(path) if actuator.law.second_input != "lever" else [path]
            for target in of_all[: actuator.law.motors]:
                node = tree
                *outer, last = target.removeprefix("law.").split(".")
                for part in outer:
                    node = node.setdefault(part, {})
                node[last] = value
        return change_actuator(actuator, tree, "actuator") if tree else actuator

    def load(self) -> Load | None:
        """Return the load of the link, if values of it are set."""
        from pliant.identification import Load
        from pliant.identification.parameters import load_with

        values = {path: v for path, v in assignments(self.set).items() if path.startswith("load.")}
        refuse_unused(bool(values) and self.kind != "servo", "--set load", "--kind servo")
        return load_with(Load(), values) if values else None

    def fitting(self, start: CompliantActuator, progress: Callable[[float, float], None] | None) -> Fitting:
        """Return the fit of measurements, and the prediction of others by its values."""
        from pliant import identification as fits

        chosen: dict[str, Any] = {"seed": self.seed, "profile": self.intervals, "progress": progress}
        if self.free:
            chosen["free"] = self.free
        if self.dt is not None:
            chosen["dt"] = self.dt
        if self.kind == "spring":
            return fits.Fitting(
                lambda data: fits.fit_law(start.law, data, symmetric=self.symmetric, **chosen),
                lambda found, data: fits.predict_law(found.law, data, found.values),
            )
        fit = fits.fit_friction if self.kind == "friction" else fits.fit_servo
        load = self.load()
        if load is not None:
            chosen["load"] = load
        outputs = lambda found: list(dict.fromkeys(f.quantity for f in found.fits))  # noqa: E731
        return fits.Fitting(
            lambda data: fit(start, data, **chosen),
            lambda found, data: fits.predict_actuator(
                found.actuator, data, found.values, outputs(found), dt=self.dt, load=load
            ),
        )


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class TraceOptions:
    """How traces are read."""

    column: Annotated[tuple[str, ...], repeated()] = ()
    """QUANTITY=COLUMN for a column whose name differs; the others are found by name; may be repeated."""
    unit: Annotated[tuple[str, ...], repeated()] = ()
    """QUANTITY=UNIT, such as position=deg; may be repeated."""
    device: str | None = None
    """Device of a recording or its export, or joint of a bag; default: the only one."""
    max_rest: float = 5.0
    """Longest time without motion that is used [s]; longer ones are shortened."""
    trust_columns: Annotated[bool, Parameter(negative=())] = False
    """Fit even if columns seem to have another unit, place or sign."""

    def read(
        self, path: Path, console: Console, actuator: CompliantActuator, *, dynamic: bool
    ) -> tuple[list[Measurement], tuple[Fault, ...]]:
        """Return the usable parts of a file and the faults of its log; say what is not used of it.

        Raises:
            PliantError: the log has wrong units, swapped columns or signs, or no part of it can be used.
        """
        from pliant.identification import find_faults, usable_parts

        found = self._table(path, console)
        faults = find_faults(found, actuator, dynamic=dynamic)
        wrong = [fault for fault in faults if fault.spoils_all]
        if wrong and not self.trust_columns:
            said = "; ".join(f"{fault.name}: {fault.text}; {fault.remedy}" for fault in wrong)
            raise PliantError(f"{said} (--trust-columns fits the log as it is)", file=path, field=wrong[0].columns[0])
        parts = usable_parts(found, faults) if faults else [found]
        if not parts:
            raise PliantError("no part of the log can be used: " + "; ".join(map(str, faults)), file=path)
        return [self._moving(path, part, console) for part in parts], faults

    def _moving(self, path: Path, found: Measurement, console: Console) -> Measurement:
        import numpy as np

        used = found.without_rest(self.max_rest)
        if used.samples < found.samples:
            lost = np.ptp(found["time"]) - np.ptp(used["time"])
            text = f"{plain(str(path))}: {lost:.3g} s of rest are not used (--max-rest {self.max_rest:g})"
            console.print(text, soft_wrap=True)
        return used

    def _table(self, path: Path, console: Console) -> Measurement:
        from pliant.identification import measurement_of, read_measurement
        from pliant.recording.foreign import foreign_format, is_recording, traces_of_recording

        names, units = assignments(self.column, "--column"), assignments(self.unit, "--unit")
        foreign = foreign_format(path)
        if foreign is not None or is_recording(path):
            traces = traces_of_recording(path, self.device) if foreign is None else foreign.traces(path, self.device)
            found = measurement_of(traces.columns, str(path), names, units, ordered=False)
            if is_recording(path):
                found = found.with_references_of_next_steps()
            _say_what_was_read(console, path, traces, found)
        else:
            found = read_measurement(path, names, units, device=self.device, ordered=False)
        return found


def _say_what_was_read(console: Console, path: Path, traces: Traces, data: Measurement) -> None:
    """Print which topics or fields became which quantities of a `Measurement`, and which are not used."""
    from pliant.identification.measurements import QUANTITIES

    known = {*QUANTITIES, *(other for _, others in QUANTITIES.values() for other in others)}
    rows = [f"{name} from {traces.topics[name]}" for name in traces.columns if name in known]
    text = f"{path}: {traces.joint}, {data.samples} rows; {', '.join(rows)}"
    console.print(f"[dim]{plain(text)}[/dim]", soft_wrap=True)
    if traces.unused:
        console.print(f"[dim]not used: {plain(', '.join(traces.unused))}[/dim]", soft_wrap=True)


DEFAULT_FIT, DEFAULT_TRACES = FitOptions(), TraceOptions()


def identify(
    file: Annotated[
        list[Path],
        Parameter(
            negative=(),
            help="Recorded traces: CSV, NPZ, a recording or its export, or a ROS bag; one or several.",
        ),
    ],
    *,
    fit: FitOptions = DEFAULT_FIT,
    traces: TraceOptions = DEFAULT_TRACES,
    figure: Annotated[Path | None, Parameter(help="Draw data and fit (.png, .svg, .pdf).")] = None,
    report: Annotated[Path | None, Parameter(help="Write a report with figures (.html).")] = None,
    datasheet: Annotated[Path | None, Parameter(help="Write a data sheet of the fitted actuator (JSON).")] = None,
    import_: Imports = (),
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Fit spring parameters, friction or servo lag to recorded traces, with standard errors.

    Examples:
        pliant identify pull.csv --law qbmove --figure fit.png
        pliant identify pull.bag --device elbow --json
    """
    import_modules(import_)
    from pliant import identification as fits

    kind = fit.kind
    kinds = ("spring", "friction", "servo")
    if kind not in kinds:
        raise PliantError(f"--kind {kind}; {nearest(kind, kinds)}", field="kind")
    if not traces.max_rest >= 0.0:
        raise PliantError(f"--max-rest is {traces.max_rest:g}; must be >= 0 s", field="max-rest")
    refuse_unused(fit.symmetric and kind != "spring", "--symmetric", "--kind spring")
    if figure is not None:
        check_figure(figure, "--figure")
    if datasheet is not None:
        check_folder(datasheet, "--datasheet")
    if report is not None:
        check_page(report, "--report")
    console = make_console(quiet=json)
    start = fit.start()
    read = [traces.read(path, console, start, dynamic=kind == "servo") for path in file]
    data = [part for parts, _ in read for part in parts]
    faults = tuple(fault for _, found in read for fault in found)
    with Bar(console, "fitting", "searches", shown=not json) as bar:
        if fit.folds is None:
            found = fit.fitting(start, bar).fit(data)
        else:
            found = fits.with_held_out(fit.fitting(start, None), data, fit.folds, progress=bar)
    found = dataclasses.replace(found, faults=faults)
    import json as json_module

    if figure is not None:
        from pliant.base.figures import save

        save(found.figure(), figure)
    try:
        if datasheet is not None:
            datasheet.write_text(json_module.dumps(clean(fits.datasheet(found.actuator)), indent=2) + "\n")
    except OSError as error:
        raise PliantError(f"the file cannot be written: {error.strerror}", file=error.filename) from None
    if report is not None:
        from pliant.identification.report import write_identification

        write_identification(found, report, shlex.join(["pliant", *sys.argv[1:]]))
    code = 0 if found.identified else 3
    if json:
        emit(found.as_dict())
        return code
    console.print(plain(found.report()), soft_wrap=True)
    for path, what in ((figure, "figure"), (report, "report"), (datasheet, "data sheet")):
        if path is not None:
            console.print(f"{what}: {path}")
    return code

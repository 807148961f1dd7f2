"""Additions of wings to commands: files of a run or a recording, additions to a simulation, monitors of its steps."""

from __future__ import annotations

from dataclasses import make_dataclass
from typing import TYPE_CHECKING, Any

from cyclopts import Parameter

from pliant.base.errors import PliantError
from pliant.base.warn import print_warning
from pliant.base.wing import offers
from pliant.cli.output import plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from pliant.engine import Monitor, MujocoEngine
    from pliant.simulation.additions import Addition, AdditionOptions
    from pliant.simulation.outputs import OutputOptions


def load_entries(field: str) -> dict[str, Any]:
    """Return the entries in a field of the wings, by name; what cannot be imported is left out and told."""
    found = {}
    for offer in offers(field):
        try:
            found[offer.key] = offer.load()
        except PliantError as error:
            print_warning(str(error))
    return found


def join_options(kinds: Mapping[str, type]) -> Any:
    """Return a dataclass with a field for each class of options; on the command line they stand side by side."""
    fields = [(name, kind, kind()) for name, kind in kinds.items()]
    module = {"__module__": __name__}  # cyclopts reads no fields of a class of the standard library
    side_by_side = Parameter(name="*", parse=bool(fields))  # without fields it would be a value called "*"
    return side_by_side(make_dataclass("Joined", fields, namespace=module, frozen=True, kw_only=True))


KINDS: dict[str, type[OutputOptions]] = load_entries("outputs")
"""Options of each file, by its name."""
DRAWN = {name: kind for name, kind in KINDS.items() if kind.recorded}
"""Those that show the samples of a recording."""
SHOWN = {name: kind for name, kind in KINDS.items() if not kind.recorded}
"""Those that show the robot."""
FILES = (*DRAWN, *SHOWN)
"""Names of all files, in the order of reports."""
SHOW_OPTIONS = [f"--{name}" for name in SHOWN]
"""The options that name a file that shows the robot."""
ADDITIONS: dict[str, type[AdditionOptions]] = load_entries("additions")
"""Options of each addition, by its name."""

if TYPE_CHECKING:

    class Figures:
        """Options of all files that show samples."""

    class Outputs:
        """Options of all files that show the robot."""

    class Additions:
        """Options of all additions."""

else:
    Figures, Outputs, Additions = join_options(DRAWN), join_options(SHOWN), join_options(ADDITIONS)

NO_FIGURES, NO_OUTPUTS, NO_ADDITIONS = Figures(), Outputs(), Additions()


def asked_files(*outputs: Figures | Outputs) -> dict[str, OutputOptions]:
    """Return the options of the files that are asked for, by name."""
    found = {name: getattr(some, name) for some in outputs for name in FILES if hasattr(some, name)}
    return {name: options for name, options in found.items() if options.file is not None}


def say_missing(missing: Sequence[str], where: str, console: Console) -> None:
    """Say which joints a film or a page shows at rest, because they were not recorded."""
    if missing:
        shown = ", ".join(missing[:8]) + (f", ... ({len(missing)} in all)" if len(missing) > 8 else "")
        console.print(f"[yellow]note[/yellow] not recorded, so at rest {where}: {plain(shown)}", soft_wrap=True)


def asked_additions(additions: Additions) -> dict[str, Addition]:
    """Return the additions that are asked for, by name; their files are read."""
    return {name: made for name in ADDITIONS if (made := getattr(additions, name).make()) is not None}


def add_monitors(engine: MujocoEngine) -> dict[str, Monitor | None]:
    """Add the monitors of all wings to an engine, and return them by name; None where one does not fit the model."""
    monitors: dict[str, Monitor | None] = {name: make(engine) for name, make in load_entries("monitors").items()}
    for monitor in filter(None, monitors.values()):
        engine.add_monitor(monitor)
    return monitors

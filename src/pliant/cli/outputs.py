"""Options of the files that wings make of a run or a recording."""

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

    from pliant.simulation.outputs import OutputOptions


def load_outputs() -> dict[str, type[OutputOptions]]:
    """Return the options of each file by its name; those that cannot be imported are left out with a warning."""
    found: dict[str, type[OutputOptions]] = {}
    for offer in offers("outputs"):
        try:
            found[offer.key] = offer.load()
        except PliantError as error:
            print_warning(str(error))
    return found


def join_outputs(kinds: Mapping[str, type[OutputOptions]]) -> Any:
    """Return a dataclass with a field for the options of each file; on the command line they stand side by side."""
    fields = [(name, kind, kind()) for name, kind in kinds.items()]
    module = {"__module__": __name__}  # cyclopts reads no fields of a class of the standard library
    side_by_side = Parameter(name="*", parse=bool(fields))  # without fields it would be a value called "*"
    return side_by_side(make_dataclass("Outputs", fields, namespace=module, frozen=True, kw_only=True))


KINDS = load_outputs()
"""Options of each file, by its name."""
FILE_OPTIONS = [f"--{name}" for name in KINDS]
"""The options that name a file."""

if TYPE_CHECKING:

    class Outputs:
        """Options of all files."""

else:
    Outputs = join_outputs(KINDS)

NO_OUTPUTS = Outputs()


def asked_files(outputs: Outputs) -> dict[str, OutputOptions]:
    """Return the options of the files that are asked for, by name."""
    return {name: options for name in KINDS if (options := getattr(outputs, name)).file is not None}


def say_missing(missing: Sequence[str], where: str, console: Console) -> None:
    """Say which joints a film or a page shows at rest, because they were not recorded."""
    if missing:
        shown = ", ".join(missing[:8]) + (f", ... ({len(missing)} in all)" if len(missing) > 8 else "")
        console.print(f"[yellow]note[/yellow] not recorded, so at rest {where}: {plain(shown)}", soft_wrap=True)

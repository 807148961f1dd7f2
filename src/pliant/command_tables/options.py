"""The option ``--command``: a table of commands over time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pliant.cli.output import plain
from pliant.simulation.additions import Addition

if TYPE_CHECKING:
    from pliant.command_tables.table import CommandPlayer, CommandTable


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """The table of a run."""

    command: Annotated[
        Path | None, Parameter(help="Table of commands over time: CSV, NPZ, YAML, JSON or a ROS bag.")
    ] = None

    def make(self) -> Addition | None:
        """Read the table."""
        if self.command is None:
            return None
        from pliant.command_tables.files import read_commands

        table = read_commands(self.command)
        return Addition(begin=lambda simulation: _said(table, simulation.play(table)))


def _said(table: CommandTable, player: CommandPlayer) -> list[str]:
    """Return lines on which topics of a recording command which fields, and which topics are not used."""
    if not table.topics:
        return []
    rows = [f"{column} from {topic}" for column, topic in table.topics.items() if column not in player.left_out]
    lines = [f"[dim]{plain(str(table.file))}: {plain(', '.join(rows))}[/dim]"]
    if player.left_out:
        text = ", ".join(table.topics[column] for column in player.left_out)
        lines.append(f"[yellow]note[/yellow] no device of this robot takes: {plain(text)}")
    if table.unused:
        lines.append(f"[dim]not commands: {plain(', '.join(table.unused))}[/dim]")
    return lines

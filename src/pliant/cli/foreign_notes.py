"""Notes about a recording of another program that is read: which topics are used, and for what."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pliant.cli.output import plain

if TYPE_CHECKING:
    from rich.console import Console

    from pliant.identification.measurements import Measurement
    from pliant.recording.foreign import Traces
    from pliant.simulation.commands import CommandPlayer, CommandTable


def say_what_is_played(console: Console, table: CommandTable, player: CommandPlayer) -> None:
    """Print which topics of a recording command which fields, and which topics are not used."""
    if not table.topics:
        return
    rows = [f"{column} from {topic}" for column, topic in table.topics.items() if column not in player.left_out]
    console.print(f"[dim]{plain(str(table.file))}: {plain(', '.join(rows))}[/dim]", soft_wrap=True)
    if player.left_out:
        text = ", ".join(table.topics[column] for column in player.left_out)
        console.print(f"[yellow]note[/yellow] no device of this robot takes: {plain(text)}", soft_wrap=True)
    if table.unused:
        console.print(f"[dim]not commands: {plain(', '.join(table.unused))}[/dim]", soft_wrap=True)


def say_what_was_read(console: Console, path: Path, traces: Traces, data: Measurement) -> None:
    """Print which topics or fields became which quantities of a `Measurement`, and which are not used."""
    from pliant.identification.measurements import QUANTITIES

    known = {*QUANTITIES, *(other for _, others in QUANTITIES.values() for other in others)}
    rows = [f"{name} from {traces.topics[name]}" for name in traces.columns if name in known]
    text = f"{path}: {traces.joint}, {data.samples} rows; {', '.join(rows)}"
    console.print(f"[dim]{plain(text)}[/dim]", soft_wrap=True)
    if traces.unused:
        console.print(f"[dim]not used: {plain(', '.join(traces.unused))}[/dim]", soft_wrap=True)

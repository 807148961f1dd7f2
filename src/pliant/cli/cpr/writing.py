"""Output files of the commands for parallel robots: tables, shapes, figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pliant.errors import PliantError

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from pliant.rods import Solution

__all__ = ["draw", "save_figure", "tell", "write_shapes", "write_table"]


def draw(groups: Any, titles: list[str], file: Path) -> None:
    from pliant.experiments.rod_figures import figure_of_robots

    save_figure(figure_of_robots(groups, titles, height=4.6), file)


def save_figure(figure: Any, file: Path) -> None:
    from pliant.figures import saving

    try:
        with saving():
            figure.savefig(file, dpi=160, facecolor="white")
    except (OSError, ValueError) as error:
        raise PliantError(f"the figure cannot be written: {error}", file=file) from None


def write_table(file: Path, head: str, table: Any) -> None:
    import numpy as np

    try:
        np.savetxt(file, table, delimiter=",", header=head, comments="", fmt="%.9g")
    except OSError as error:
        raise PliantError(f"the table cannot be written: {error.strerror}", file=file) from None


def write_shapes(solution: Solution, file: Path) -> None:
    from pliant.rods.tables import SHAPE_COLUMNS, shape_rows

    write_table(file, ",".join(SHAPE_COLUMNS), shape_rows(solution))


def tell(console: Console, *files: Path | None) -> None:
    for file in files:
        if file is not None:
            console.print(f"written: {file}", soft_wrap=True)

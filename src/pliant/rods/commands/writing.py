"""Output files of the commands for parallel robots: tables, shapes, figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pliant.base.errors import PliantError
from pliant.cli.checks import check_figure, check_folder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from matplotlib.figure import Figure
    from rich.console import Console

    from pliant.rods import Solution


def check_outputs(figure: Path | None, output: Path | None) -> None:
    """Refuse files that cannot be written, before anything is solved."""
    if figure is not None:
        check_figure(figure, "--figure")
    if output is not None:
        check_folder(output, "--output")


def draw(groups: Sequence[Sequence[Solution]], titles: list[str], file: Path) -> None:
    from pliant.rods.figures import figure_of_robots

    save_figure(figure_of_robots(groups, titles, height=4.6), file)


def save_figure(figure: Figure, file: Path) -> None:
    from pliant.base.figures import saving

    try:
        with saving():
            figure.savefig(file, dpi=160, facecolor="white")
    except (OSError, ValueError) as error:
        raise PliantError(f"the figure cannot be written: {error}", file=file) from None


def write_table(file: Path, head: str, table: np.ndarray) -> None:
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

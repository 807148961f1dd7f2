"""Options of figures of recordings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from cyclopts import Parameter

from pliant.cli.checks import check_figure

if TYPE_CHECKING:
    from collections.abc import Callable

    import mujoco

    from pliant.engine import Engine
    from pliant.recording import Recording
    from pliant.simulation.outputs import Progress


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure that was written."""

    file: Path
    """Its file."""
    fault: ClassVar[str] = ""

    def line(self) -> str:
        """Return the line that is printed of it."""
        return f"plot: {self.file}"

    def as_dict(self) -> str:
        """Return the name of the file."""
        return str(self.file)


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A figure of a recording.

    Raises:
        PliantError: a file that cannot be written.
        MissingDependency: nothing can draw a figure here.
    """

    label: ClassVar[str] = "figure"
    parts: ClassVar[str] = "figures"
    recorded: ClassVar[bool] = True

    plot: Path | None = None
    """Draw the recorded signals (.png, .svg, .pdf)."""

    def __post_init__(self) -> None:
        if self.plot is not None:
            check_figure(self.plot, "--plot")

    @property
    def file(self) -> Path | None:
        """The file; None without a figure."""
        return self.plot

    def follow(self, engine: Engine, *, contacts: bool, wait: bool) -> None:
        """Return nothing: the figure is drawn from the recording."""

    def replay(
        self, found: Recording, model: Callable[[], mujoco.MjModel], progress: Progress
    ) -> tuple[Drawn, tuple[str, ...]]:
        """Draw a recording."""
        from pliant.plots.figure import plot_recording

        assert self.plot is not None
        plot_recording(found, self.plot)
        return Drawn(self.plot), ()

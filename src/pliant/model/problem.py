"""Findings of a check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict, Unpack


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding of a check."""

    severity: Literal["error", "warning", "info"]
    """"error": it must not run; "warning": it runs, with a doubt; "info": what was assumed, or measured."""
    subject: str
    """Subject of the problem: a joint, a body, "model", "option", a measured quantity."""
    message: str
    """Description of the finding."""
    hint: str = ""
    """Remedy or origin of the problem."""
    value: float | None = None
    """The measured value, where one was measured."""
    limit: float | None = None
    """Largest valid value; for a speed the smallest."""
    unit: str = ""
    """Unit of value and limit."""

    def __str__(self) -> str:
        return f"{self.severity}: {self.subject}: {self.message}" + (f" ({self.hint})" if self.hint else "")


class Measured(TypedDict, total=False):
    """Measured quantities, as fields of a `Problem`."""

    value: float | None
    limit: float | None
    unit: str


class Problems(list[Problem]):
    """Findings of a check, in the order in which they were found."""

    def error(self, subject: str, message: str, hint: str = "", **measured: Unpack[Measured]) -> None:
        """Add a finding with which the robot must not run; ``measured`` are value, limit and unit."""
        self.append(Problem("error", subject, message, hint, **measured))

    def warning(self, subject: str, message: str, hint: str = "", **measured: Unpack[Measured]) -> None:
        """Add a finding with which the robot runs, with a doubt."""
        self.append(Problem("warning", subject, message, hint, **measured))

    def info(self, subject: str, message: str, hint: str = "", **measured: Unpack[Measured]) -> None:
        """Add what was assumed, or measured."""
        self.append(Problem("info", subject, message, hint, **measured))

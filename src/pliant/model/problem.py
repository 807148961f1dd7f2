"""What a check finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Problem"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding of a check."""

    severity: Literal["error", "warning", "info"]
    """"error": it must not run; "warning": it runs, with a doubt; "info": what was assumed, or measured."""
    subject: str
    """What it is about: a joint, a body, "model", "option", a measured quantity."""
    message: str
    """What was found."""
    hint: str = ""
    """What to do about it, or where it comes from."""
    value: float | None = None
    """The measured value, where one was measured."""
    limit: float | None = None
    """What the value may be at most; of a speed at least."""
    unit: str = ""
    """Unit of value and limit."""

    def __str__(self) -> str:
        return f"{self.severity}: {self.subject}: {self.message}" + (f" ({self.hint})" if self.hint else "")

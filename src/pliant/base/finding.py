"""Findings about a machine, or about what is served on it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of a report."""

    group: str
    """Part of the report."""
    name: str
    """Subject of the check."""
    status: str
    """"ok", "note", "warning" (a part of pliant cannot be used) or "error" (robots cannot be run)."""
    found: str
    """Result of the check."""
    advice: str = ""
    """Remedy; "" where none is needed."""

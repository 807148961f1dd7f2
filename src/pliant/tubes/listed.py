"""The concentric-tube robots in `pliant list`: they have statics, and no model that MuJoCo steps."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.base.wing import Listed


@dataclass(frozen=True, slots=True, kw_only=True)
class _NoOptions:
    """Its bases and loads are options of the command."""


def listed() -> list[Listed]:
    """Return the robots that ``pliant cpr tubes`` knows by name."""
    from pliant.tubes.robots import ROBOTS

    out = []
    for name, build in ROBOTS.items():
        lengths = ", ".join(f"{1e3 * tube.length:.0f}" for tube in build().tubes)
        summary = f"Concentric tubes of {lengths} mm, statics only: pliant cpr tubes {name}."
        out.append(Listed(name, summary, _NoOptions, f"pliant cpr tubes {name} --help"))
    return out

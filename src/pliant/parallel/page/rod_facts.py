"""Description of an equilibrium on the page: a badge and lines, as HTML."""

from __future__ import annotations

import html

from pliant.parallel.page.statics import Found, PlainEquilibrium

GOOD, NEUTRAL, BAD = "#1f7a4d", "#8a5a00", "#b83245"
"""Colours of the badge; white text on them has a contrast of 4.5 or more."""


def facts(found: PlainEquilibrium, spent: float | None = None, note: str = "", follows: bool = True) -> str:
    """Return the badge of an equilibrium with what is known of it.

    Args:
        found: the equilibrium.
        spent: time that it took to solve [s].
        note: what is told for some seconds, such as a change of branch.
        follows: whether a simulated robot goes there.
    """
    if found.stable:
        head, colour = "stable", GOOD
    elif found.index:
        head, colour = f"unstable, index {found.index}", BAD
    else:
        head, colour = "free to move: " + "; ".join(found.free), NEUTRAL
    took = "" if spent is None else f", {1e3 * spent:.1f} ms"
    rows = [
        f"smallest stiffness {found.stiffness:.4g} N/m, branch {found.branch}",
        "singular values: " + ", ".join(f"{name} {value:.3g}" for name, value in found.singular),
        f"largest strain {1e3 * float(found.strain.max()):.3g}/1000, residual {found.residual:.0e}, "
        f"{found.iterations} iterations{took}",
    ]
    warnings = [f"joint limit: {text}" for text in found.beyond[:3]]
    if found.beyond and not follows:
        warnings.append("the simulated robot stays within its limits and does not follow")
    if note:
        warnings.append(f"another branch: {note}")
    return _badge(head, colour, rows, warnings)


def no_equilibrium(found: Found) -> str:
    """Return the badge of a target that has no equilibrium, with the reason."""
    return _badge("no equilibrium", BAD, [], [found.reason])


def small(text: str) -> str:
    """Return a line of small text."""
    return f'<div style="padding:0 1em;font-size:0.85em">{html.escape(text)}</div>'


def _badge(head: str, colour: str, rows: list[str], warnings: list[str]) -> str:
    lines = "".join(f'<div style="overflow-wrap:anywhere;font-weight:600">{html.escape(row)}</div>' for row in warnings)
    lines += "".join(f"<div>{html.escape(row)}</div>" for row in rows)
    return (
        f'<div role="status" style="padding:0.2em 1em 0.5em"><span style="background:{colour};color:#fff;'
        f'border-radius:0.3em;padding:0.1em 0.6em;font-weight:600">{html.escape(head)}</span>'
        f'<div style="font-size:0.8em;margin-top:0.4em;font-variant-numeric:tabular-nums">{lines}</div></div>'
    )

"""Tables of options for the documentation."""

from __future__ import annotations

from collections.abc import Iterable

from pliant.base.options import describe


def markdown_table(cls: type, names: Iterable[str] | None = None) -> str:
    """Return the options of a dataclass as a Markdown table: option, default, meaning.

    Args:
        cls: the dataclass.
        names: the options that are shown; None for all.
    """
    shown = None if names is None else set(names)
    rows = ["| option | default | meaning |", "|---|---|---|"]
    for info in describe(cls):
        if shown is not None and info.name not in shown:
            continue
        meaning = info.description.replace("|", "\\|").replace("``", "`")
        if info.choices:
            meaning += f" Must be one of {', '.join(f'`{choice}`' for choice in info.choices)}."
        elif info.range_text:
            meaning += f" Must be {info.range_text}."
        unit = f" {info.unit}" if info.unit else ""
        default = f"`{info.default_text}`{unit}" if info.default_text else ""
        rows.append(f"| `{info.name}` | {default} | {meaning.strip()} |")
    return "\n".join(rows)

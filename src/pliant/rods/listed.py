"""Entries of the catalogue of parallel robots, read without the solver of rods."""

from __future__ import annotations

from importlib import resources
from typing import Any


def headers() -> list[dict[str, Any]]:
    """Return the documents of ``rods/catalogue``: name, aliases, summary, source, kind, and the robot itself."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast
    files = (resources.files("pliant") / "rods" / "catalogue").iterdir()
    return [yaml.load(item.read_text(encoding="utf-8"), Loader=loader) for item in files if item.name.endswith(".yaml")]


def names() -> list[str]:
    """Return the names of these robots, with their aliases."""
    return [name for one in headers() for name in (one["name"], *map(str, one.get("aliases", ())))]

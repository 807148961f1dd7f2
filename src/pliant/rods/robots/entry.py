"""The continuum parallel robots in the catalogue: one for each description in ``rods/catalogue``."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources
from typing import TYPE_CHECKING

from pliant.robots.catalogue import CatalogueRobot

if TYPE_CHECKING:
    from pliant.model.robot import Robot
    from pliant.rods.model.options import ParallelOptions


def _build(name: str) -> Callable[[ParallelOptions], Robot]:
    def build(options: ParallelOptions) -> Robot:
        from pliant.rods.model import build_parallel

        return build_parallel(name, options=options)

    return build


def _robots() -> list[CatalogueRobot]:
    import yaml

    found = []
    # Not through pliant.rods, whose import brings the compiler of its solver.
    for item in (resources.files("pliant") / "rods" / "catalogue").iterdir():
        if item.name.endswith(".yaml"):
            data = yaml.load(item.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
            found.append(
                CatalogueRobot(
                    name=data["name"],
                    aliases=tuple(map(str, data.get("aliases", ()))),
                    summary=data["summary"],
                    function=_build(data["name"]),
                    source=data["source"],
                    scenarios=("push-on-the-planar-plate" if data["kind"] == "planar" else "push-on-the-plate",),
                    options="pliant.rods.model.options:ParallelOptions",
                )
            )
    return found


ROBOTS = _robots()

"""The continuum parallel robots in the catalogue: one for each description in ``rods/catalogue``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pliant.robots.catalogue import CatalogueRobot
from pliant.rods.listed import headers

if TYPE_CHECKING:
    from pliant.model.robot import Robot
    from pliant.parallel.model.options import ParallelOptions


def _build(name: str) -> Callable[[ParallelOptions], Robot]:
    def build(options: ParallelOptions) -> Robot:
        from pliant.parallel.model import build_parallel

        return build_parallel(name, options=options)

    return build


def _entry(header: dict[str, Any]) -> CatalogueRobot:
    return CatalogueRobot(
        name=header["name"],
        aliases=tuple(map(str, header.get("aliases", ()))),
        summary=header["summary"],
        function=_build(header["name"]),
        source=header["source"],
        scenarios=("push-on-the-planar-plate" if header["kind"] == "planar" else "push-on-the-plate",),
        options="pliant.parallel.model.options:ParallelOptions",
    )


ROBOTS = [_entry(header) for header in headers()]

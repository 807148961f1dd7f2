"""Walks over bars: stiffness of the ankles, kind of feet and controller, judged at one height of the bar.

Usage: python benchmarks/compliance_walk.py FOLDER [--seeds 100] [--heights 0.02] [--ankles 0,100] [--workers 1]

What is compared is registered in docs/learn/compliance.md. A walk is that of `pliant reproduce softfoot-walk`, with
seeds from 1000 on, which were looked at by nobody before. The walks are kept in FOLDER, so that an interrupted run
continues; they are run in blocks of seeds over all cells, so that an incomplete run has equally many of each cell.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Mapping
from pathlib import Path

from pliant.base.numerics import holm
from pliant.tasks.executor import Executor
from pliant.walking.trials import COURSES, Rate, Walk, mcnemar, walk_many

FEET = ("rigid", "padded", "soft")
CONTROLLERS: Mapping[str, Mapping[str, object]] = {"steps": {}, "holds": {"max_adjustment": 0.0}}
"""Name -> settings of the walking controller: one that moves footholds against errors, and one that does not."""
FIRST_SEED, BLOCK = 1000, 5
HEIGHT = 0.02
"""Height of the bar at which the claims are judged [m]."""
STIFF, FREE = COURSES["biped"].ankle_stiffness, 0.0
CLAIMS = (
    (("soft", STIFF), ("rigid", STIFF)),
    (("soft", STIFF), ("padded", STIFF)),
    (("padded", STIFF), ("rigid", STIFF)),
    (("soft", FREE), ("rigid", FREE)),
    (("rigid", FREE), ("soft", STIFF)),
)
"""Pairs of (feet, stiffness of the ankles [N m/rad]), the better one of the claim first; for each controller."""
Cell = tuple[str, float, str, float]
"""Controller, height of the bar [m], feet, stiffness of the ankles [N m/rad]."""


def simulate(folder: Path, cells: list[Cell], seeds: int, workers: int) -> dict[Cell, list[bool]]:
    """Return whether the walk of each seed was completed, for every cell."""
    found: dict[Cell, list[bool]] = {cell: [] for cell in cells}
    executor = Executor(processes=workers)
    for first in range(0, seeds, BLOCK):
        block = range(FIRST_SEED + first, FIRST_SEED + min(first + BLOCK, seeds))
        for name, controller in CONTROLLERS.items():
            own = [cell for cell in cells if cell[0] == name]
            walks = {
                (cell, seed): Walk(feet=cell[2], height=cell[1], seed=seed, ankle_stiffness=cell[3])
                for cell in own
                for seed in block
            }
            done = walk_many(
                walks.values(),
                settings=dict.fromkeys(FEET, controller),
                file=folder / "walks.jsonl",
                executor=executor,
            )
            for (cell, _), walk in walks.items():
                found[cell].append(done[walk].result.completed)
        print(f"{min(first + BLOCK, seeds)} seeds of each cell", flush=True)
    return found


def rate(walks: list[bool]) -> Rate:
    """Return how many walks were completed."""
    return Rate(successes=sum(walks), trials=len(walks))


def difference(one: Rate, two: Rate) -> tuple[float, float, float]:
    """Return the difference of two rates and its 95 % interval from their score intervals (Newcombe 1998, method 10).

    It takes the samples as independent, and is too wide where the same seeds make them alike.
    """
    (low, high), (other_low, other_high) = one.interval, two.interval
    d = one.value - two.value
    return (
        d,
        d - math.hypot(one.value - low, other_high - two.value),
        d + math.hypot(high - one.value, two.value - other_low),
    )


def report(found: Mapping[Cell, list[bool]], height: float = HEIGHT) -> list[str]:
    """Return the tables of the rates, and of the claims at a height."""
    cells = sorted({(h, ankles, controller) for controller, h, _, ankles in found})
    lines = ["| bar | ankles | controller | rigid | padded | soft |", "|---|---|---|---|---|---|"]
    for h, ankles, controller in cells:
        rates = [str(rate(found[controller, h, feet, ankles])) for feet in FEET]
        lines.append(f"| {1e3 * h:g} mm | {ankles:g} N m/rad | `{controller}` | {' | '.join(rates)} |")
    judged = [
        (controller, one, two, found[controller, height, *one], found[controller, height, *two])
        for controller in CONTROLLERS
        for one, two in CLAIMS
        if (controller, height, *one) in found and (controller, height, *two) in found
    ]
    tests = [mcnemar(a, b) for *_, a, b in judged]
    lines += ["", "| controller | feet and ankles | minus | difference (95 %) | only : only | p | verdict |"]
    lines += ["|---|---|---|---|---|---|---|"]
    for (controller, one, two, a, b), (first, second, _), p in zip(
        judged, tests, holm([p for *_, p in tests]), strict=True
    ):
        d, low, high = difference(rate(a), rate(b))
        verdict = "no difference" if p >= 0.05 or low <= 0.0 <= high else "better" if d > 0.0 else "worse"
        names = " | ".join(f"{feet}, {ankles:g}" for feet, ankles in (one, two))
        lines.append(
            f"| `{controller}` | {names} | {100 * d:+.0f} % ({100 * low:+.0f} to {100 * high:+.0f}) "
            f"| {first} : {second} | {p:.2g} | {verdict} |"
        )
    return lines


def main() -> None:
    """Walk and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--heights", default=f"{HEIGHT:g}", help="heights of the bar [m], separated by commas")
    parser.add_argument("--ankles", default=f"{FREE:g},{STIFF:g}", help="stiffnesses [N m/rad], separated by commas")
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    heights, ankles = ([float(part) for part in text.split(",")] for text in (options.heights, options.ankles))
    cells: list[Cell] = list(itertools.product(CONTROLLERS, heights, FEET, ankles))
    print("\n".join(report(simulate(options.folder, cells, options.seeds, options.workers))))


if __name__ == "__main__":
    main()

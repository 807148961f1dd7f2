"""The bench validation of the SoftFoot against measurements: what needs them, and the figures with or without them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from pliant.experiments.base import Figure, Statement, Target
from pliant.experiments.panels import Level, Line, Panel, color_of, draw
from pliant.feet.measured import ForceErrors, force_errors, rotation_errors
from pliant.feet.trials import PARTS, Trials

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from pliant.base.numerics import Array
    from pliant.experiments.panels import Item

_NO_DATA = "Not judged: it compares with measured {what}, which were never published. `--set data=FILE.csv` judges it."
TABLE_1 = {"MuJoCo": (14.6, 33.2, 21.7), "MuJoCo filtered": (10.5, 21.2, 13.1)}
"""Mean relative error of heel, fascia modules and metatarsus [%] (table I)."""
ANALYTICAL = {"analytical": (31.0, 59.5, 7.2), "analytical filtered": (22.4, 54.5, 5.2)}
"""The same of the analytical model of Mura et al. 2020 [%] (table I)."""


_STATEMENTS: dict[str, tuple[str, str, str]] = {
    "total": (
        "The error of the total vertical force is below 10 % of the applied load.", "section V-A", "forces",
    ),
    "table": (
        "The mean relative force error is 14.6 % (heel), 33.2 % (fascia modules), 21.7 % (metatarsus).",
        "table I, row MuJoCo", "forces",
    ),
    "filtered": (
        "Without values above mean plus standard deviation it is 10.5 %, 21.2 % and 13.1 %.",
        "table I, row MuJoCo filtered", "forces",
    ),
    "analytical": (
        "The errors are smaller than those of the analytical model for heel and fascia (31.0 %, 59.5 %).",
        "table I, rows MuJoCo and analytical", "forces",
    ),
    "heel side": (
        "The errors of all three parts are higher when the obstacle is closest to the heel (p1).",
        "figure 5 and section V-A", "forces",
    ),
    "signs": (
        "With the obstacle near the heel the simulated force is too high at fascia and heel and too low at the "
        "metatarsus.", "figure 6 and section V-A", "forces",
    ),
    "middle": (
        "Away from p1 and p6 the errors remain below 24.2 % with the lower load and 31.4 % with the higher load.",
        "figure 5 and section V-A", "forces",
    ),
    "front": (
        "At p6 the relative error of the fascia increases substantially, the error in newtons is lower than at p1.",
        "figures 5 and 6 and section V-A", "forces",
    ),
    "height": (
        "The relative error of the fascia modules is highest with the lowest obstacle.", "figure 5 and section V-A",
        "forces",
    ),
    "rotations": (
        "The rotation errors are largest at the modules m1 and m6.", "figure 8 and section V-B", "rotations",
    ),
    "rotation heel side": (
        "The rotation errors are higher when the obstacle is closer to the heel.", "figure 7 and section V-B",
        "rotations",
    ),
}  # fmt: skip


def data_statements(simulated: Trials, measured: Trials | None) -> list[Statement]:
    """Judge everything that compares with measurements; without them, say that it cannot be judged."""
    rows: dict[str, tuple[list[Target], str]] = {}
    if measured is not None:
        errors = force_errors(simulated, measured)
        rows = _force_targets(errors, measured) | _rotation_targets(rotation_errors(simulated, measured), measured)
    statements = []
    for key, (what, where, data) in _STATEMENTS.items():
        targets, found = rows.get(key, ([], _NO_DATA.format(what=data)))
        statements.append(Statement(what=what, where=where, targets=targets, found=found))
    statements.append(
        Statement(
            what="The rotation error of the modules has a maximum, and from the first to the third quartile is "
            "confined to a range, in degrees.",
            where="figures 7 and 8 and section V-B",
            found="Not judged: the degrees are missing in the paper's text. The table of rotation errors has ours."
            if measured is not None
            else "Not judged: the degrees are missing in the paper's text, and the rotations were never published.",
        )
    )
    return statements


def _force_targets(errors: ForceErrors, measured: Trials) -> dict[str, tuple[list[Target], str]]:
    percent = 100.0 * errors.relative
    mean, kept = 100.0 * errors.mean, 100.0 * errors.filtered_mean
    places = sorted({t.position for t in measured.trials})
    loads, heights = (sorted({getattr(t, k) for t in measured.trials}) for k in ("load", "height"))
    total = float(100.0 * np.abs(errors.total_of_load).max())

    def over(part: int, **fixed: float) -> float:
        return float(np.nanmean(percent[measured.where(**fixed), part]))

    def table(name: str, values: NDArray) -> list[Target]:
        return [
            Target(f"Data, {name}: {part}", float(v), high=number + 0.05, unit="%", source="table I",
                   note="A smaller error supports the statement as well.")
            for part, v, number in zip(PARTS, values, TABLE_1[name], strict=True)
        ]  # fmt: skip

    text = "{:.1f} % (heel), {:.1f} % (fascia), {:.1f} % (metatarsus)"
    others = [p for p in places if p not in (1, 6)]
    rows = {
        "total": (
            [Target("Data, total: largest error as a part of the load", total, high=10.0, unit="%",
                    source="section V-A")],
            f"The largest error of the total force is {total:.1f} % of the load.",
        ),
        "table": (table("MuJoCo", mean), f"It is {text.format(*mean)}; {errors.undefined} undefined values left out."),
        "filtered": (table("MuJoCo filtered", kept), f"It is {text.format(*kept)}."),
        "analytical": (
            [Target(f"Data, against the analytical model: {PARTS[i]}", float(mean[i]), high=ANALYTICAL["analytical"][i],
                    unit="%", source="table I") for i in (0, 1)],
            f"It is {mean[0]:.1f} % (heel) and {mean[1]:.1f} % (fascia).",
        ),
        "height": (
            [Target("Data, heights: the lowest obstacle has the largest error of the fascia",
                    float(np.argmax([over(1, height=h) for h in heights]) == 0), equals=1.0, source="section V-A")],
            "From the lowest to the highest obstacle it is " + ", ".join(f"{over(1, height=h):.1f} %" for h in heights)
            + ".",
        ),
    }  # fmt: skip
    if 1 in places:
        signs = errors.absolute[measured.where(position=1)].mean(axis=0)
        rows["signs"] = (
            [
                Target(f"Data, p1: mean error of the {part}", float(sign), **{side: 0.0}, unit="N", source="figure 6")
                for part, sign, side in zip(PARTS, signs, ("low", "low", "high"), strict=True)
            ],
            "At p1 the mean errors are {:.2g} N (heel), {:.2g} N (fascia), {:.2g} N (metatarsus).".format(*signs),
        )
    if 1 in places and others:
        pairs = [(over(i, position=1), float(np.nanmean([over(i, position=p) for p in others]))) for i in range(3)]
        rows["heel side"] = (
            [Target(f"Data, p1 against the middle: {part}", a / b if b else np.inf, low=1.0, source="section V-A")
             for part, (a, b) in zip(PARTS, pairs, strict=True)],
            "At p1 and in the middle they are "
            + ", ".join(f"{a:.1f} and {b:.1f} % ({part})" for part, (a, b) in zip(PARTS, pairs, strict=True)) + ".",
        )  # fmt: skip
    if others:
        limits = dict(zip((loads[0], loads[-1]), (24.2, 31.4), strict=True))
        worst = {a: max(over(i, load=a, position=p) for i in range(3) for p in others) for a in limits}
        rows["middle"] = (
            [Target(f"Data, middle, {a:g} N: largest error", worst[a], high=limit, unit="%", source="section V-A",
                    note="Mean over the heights; the text does not say which errors it means.")
             for a, limit in limits.items()],
            "They reach " + " and ".join(f"{worst[a]:.1f} % ({a:g} N)" for a in limits) + ", means over the heights.",
        )  # fmt: skip
    if {1, 6} <= set(places) and others:
        here, there = over(1, position=6), float(np.nanmean([over(1, position=p) for p in others]))
        newtons = [float(np.abs(errors.absolute[measured.where(position=p), 1]).mean()) for p in (6, 1)]
        rows["front"] = (
            [
                Target("Data, p6: relative error of the fascia over that of the middle",
                       here / there if there else np.inf, low=1.0, source="section V-A"),
                Target("Data, p6: error of the fascia over that of p1, in newtons",
                       newtons[0] / newtons[1] if newtons[1] else np.inf, high=1.0, source="section V-A"),
            ],
            f"It is {here:.1f} % at p6 and {there:.1f} % in the middle; {newtons[0]:.2g} N at p6 and "
            f"{newtons[1]:.2g} N at p1.",
        )  # fmt: skip
    return rows


def _rotation_targets(errors: Array, measured: Trials) -> dict[str, tuple[list[Target], str]]:
    spread = np.degrees(np.sqrt((errors**2).mean(axis=0)))
    order = np.argsort(spread)[::-1][:2]
    places = sorted({t.position for t in measured.trials})
    by_place = [float(np.degrees(np.abs(errors[measured.where(position=p)])).mean()) for p in places]
    return {
        "rotations": (
            [Target("Data, rotations: m1 and m6 have the largest errors", float({*order} == {0, 5}), equals=1.0,
                    source="figure 8")],
            "The root mean square errors of m1 to m6 are " + ", ".join(f"{v:.2f}" for v in spread) + " deg.",
        ),
        "rotation heel side": (
            [Target("Data, rotations: the position with the largest error", float(places[int(np.argmax(by_place))]),
                    high=2.0, source="figure 7")],
            "From the heel to the toes the mean errors are " + ", ".join(f"{v:.2f}" for v in by_place) + " deg.",
        ),
    }  # fmt: skip


def _axes_of(found: Trials) -> tuple[list[float], list[float], list[int]]:
    """Return the loads, heights and positions of trials."""
    return tuple(sorted({getattr(t, k) for t in found.trials}) for k in ("load", "height", "position"))  # pyright: ignore[reportReturnType]


def _bars(found: Trials, values: NDArray, unit: str, title: str, *, reference: NDArray | None = None) -> list[Panel]:
    """Return panels of one value a part and trial: parts as rows, loads as columns, positions as groups of bars."""
    loads, heights, places = _axes_of(found)
    index, width = np.arange(len(places)), 0.8 / len(heights)
    panels = []
    for (i, part), (j, load) in itertools.product(enumerate(PARTS), enumerate(loads)):
        items: list[Item] = []
        for k, height in enumerate(heights):
            rows = [found.where(load=load, height=height, position=p) for p in places]
            x = index + (k - 0.5 * (len(heights) - 1)) * width
            style = {"width": 0.92 * width, "color": k, "label": f"{1e3 * height:g} mm"}
            items.append(Line(x, [values[row, i][0] for row in rows], kind="bar", **style))
            if reference is not None:
                y, last = [reference[row, i][0] for row in rows], k == len(heights) - 1
                items.append(Line(x, y, "_", color="ink", markersize=5, label="measured" if last else None))
        items.append(Level(0.0, color="ink", linewidth=0.6))
        labels = "position of the obstacle", "" if j else f"{part} [{unit}]", "" if i else f"{title}, {load:g} N"
        panels.append(Panel(items, *labels, xticks=(index, [f"p{p}" for p in places])))
    return panels


def _turns(found: Trials, values: NDArray, title: str) -> list[Panel]:
    """Return panels of the rotations of the six modules: loads as rows, positions as columns, as figure 7."""
    loads, heights, places = _axes_of(found)
    modules = (range(1, 7), [f"m{m}" for m in range(1, 7)])
    panels = []
    for (i, load), (j, place) in itertools.product(enumerate(loads), enumerate(places)):
        items: list[Item] = []
        for k, height in enumerate(heights):
            row = np.degrees(values[found.where(load=load, height=height, position=place)][0])
            style = {"color": k, "markersize": 2.5, "linewidth": 1.1, "label": f"{1e3 * height:g} mm"}
            items.append(Line(np.arange(1, 7), row, "o-", **style))
        items += [Level(0.0, color="ink", linewidth=0.6), lambda axis: axis.tick_params(axis="x", labelsize=6.5)]
        text = "" if j else f"{title} [deg], {load:g} N"
        panels.append(Panel(items, "", text, "" if i else f"p{place}", xticks=modules))
    return panels


def _boxes(values: NDArray, title: str) -> Panel:
    """Return box plots of the rotations of each module over all trials, as figure 8."""

    def plots(axis: Axes) -> None:
        boxes = axis.boxplot(np.degrees(values), patch_artist=True, widths=0.55, flierprops={"markersize": 3})
        for patch in boxes["boxes"]:
            patch.set(facecolor=color_of(5), edgecolor=color_of("ink"))
        for line in boxes["medians"]:
            line.set(color=color_of("ink"))

    modules = (range(1, 7), [f"m{i}" for i in range(1, 7)])
    return Panel([plots], "module of the plantar fascia", "[deg]", title, xticks=modules)


def figures(found: Trials, reduced: Trials, measured: Trials | None) -> list[Figure]:
    """Return the figures: forces, rotations, and the errors of both as figures 5 to 8."""
    base, turned, difference = found.force, reduced.pitch - found.pitch, reduced.force - found.force
    name, higher = "Reduced - exact", "reduced foot"
    forces = turns = "In place of the measurements, which were never published: the reduced foot less the exact one."
    if measured is not None:
        name, higher, difference = "Simulated - measured", "simulation", found.force - measured.force
        base, turned = measured.force, rotation_errors(found, measured)
        forces = "Simulation less the measurements of the user."
        turns = "Simulation less the measurements of the user, without the mean difference of each module."
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(base > 0.5, 100.0 * np.abs(difference) / base, np.nan)
    loads, _, _ = _axes_of(found)
    bars = {"rows": len(PARTS), "legend": 0, "height": 1.75, "sharex": True, "sharey": "row"}
    plots = {"rows": len(loads), "legend": 0, "height": 1.9, "sharex": True, "sharey": True}
    return [
        draw(
            "forces",
            "Vertical forces on the three blocks. Bars: exact foot at rest, by position and height of the obstacle"
            + ("; marks: measured." if measured is not None else "."),
            _bars(found, found.force, "N", "Force", reference=None if measured is None else measured.force),
            **bars,
        ),
        draw(
            "rotations",
            "Rotations of the modules of the plantar fascia at rest. Front of a module up is positive; the modules "
            "behind the obstacle climb to it, those ahead of it descend.",
            _turns(found, found.pitch, "rotation"),
            **plots,
        ),
        draw(
            "figure5",
            f"Relative errors of the forces, as figure 5. {forces} Forces below 0.5 N have no bar.",
            _bars(found, relative, "%", f"|{name}|"),
            **bars,
        ),
        draw(
            "figure6",
            f"Errors of the forces, as figure 6. {forces} Positive: the {higher} is higher.",
            _bars(found, difference, "N", name),
            **bars,
        ),
        draw("figure7", f"Errors of the rotations, as figure 7. {turns}", _turns(found, turned, name.lower()), **plots),
        draw(
            "figure8",
            f"Errors of the rotations over all trials, as figure 8. {turns}",
            [_boxes(turned, f"Rotations: {name.lower()}")],
            height=2.5,
            width=5.0,
        ),
    ]

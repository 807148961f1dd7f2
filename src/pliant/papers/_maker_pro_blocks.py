"""Losses of springs and motors beside the law of a qbMove: the sets that are fitted to the measured loops."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pliant.experiments.base import Figure, Statement, Table, Target
from pliant.experiments.panels import Line, Panel, draw
from pliant.identification.loops import LoopFit, TorqueLoops, predict_loop

WITHIN = 0.05
"""Largest RMS misfit of a predicted loop, as a fraction of its largest deflection: ours."""
_LAW = ("k", "a", "torque_zero", "deflection_zero")
_LOOP = ("friction", "hysteresis", "presliding")
COMPLETE = "linear spring, bearing, friction of loaded springs, dead zone"
SETS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "law": _LAW,
        "bearing, Maxwell slip, stretching tendons, backlash": (*_LAW, *_LOOP, "stretch", "backlash"),
        "bearing, Maxwell slip, yielding motors": (*_LAW, *_LOOP, "droop"),
        COMPLETE: (*_LAW, "parallel", "friction", "spring_friction", "presliding", "dead_zone", "motor_friction"),
    }
)
"""What acts beside the law -> fitted parameters; the others are off. All sets fit k, a and the two zero errors."""
WITHOUT: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "linear spring": ("parallel",),
        "bearing": ("friction",),
        "friction of loaded springs": ("spring_friction", "presliding"),
        "dead zone": ("dead_zone", "motor_friction"),
    }
)
"""Block of the complete set -> its parameters."""


def blocks_statement(complete: LoopFit) -> Statement:
    """Return the draft's claim of completeness, judged by loops that were left out of the fit."""
    return Statement(
        what="Springs, static friction, the dead zone of the bridge and the controller are all relevant parameters.",
        where="section III, table I",
        targets=[
            Target(f"Blocks fitted to the other loops: RMS misfit over the largest deflection, preset {preset:g}",
                   share, high=WITHIN, source="table I and figure 3; 5 % is ours")
            for preset, share in complete.predicted.items()
        ],
        found="With these elements, a linear spring and friction that grows with the load of the springs, all fitted, "
        f"the loops are described within {_percent(complete.described)} % of the largest deflection; each one is "
        f"predicted from the other two within {_percent(complete.predicted)} %.",
        rests_on="The angles of the motors were measured and not published, nor the rate of the motion; motors that "
        "slip all the time are assumed.",
    )  # fmt: skip


def blocks_tables(
    fits: Mapping[str, LoopFit],
    ablated: Mapping[str, Mapping[float, float]],
    refitted: Mapping[str, Mapping[float, float]],
) -> list[Table]:
    """Return the misfits of every set of blocks, what each block removes, and the fitted numbers.

    Args:
        fits: set of blocks -> its fits.
        ablated: block -> misfits of the complete set without it, fitted to all loops, by preset.
        refitted: number -> misfits of predictions where it alone is fitted to the predicted loop, by preset.
    """
    presets = list(fits[COMPLETE].described)
    rows = [
        [
            name,
            len(fit.every),
            *(100.0 * fit.described[p] for p in presets),
            *(100.0 * fit.predicted[p] for p in presets),
        ]
        for name, fit in fits.items()
    ]
    columns = [f"{kind}, {p:g} rad" for kind in ("described", "predicted") for p in presets]
    complete = fits[COMPLETE]
    numbers = {"all loops": complete.every, **{f"without preset {p:g}": v for p, v in complete.without.items()}}
    return [
        Table(
            title="Ours: blocks beside the law, RMS misfit over the largest deflection [%]",
            columns=["blocks", "fitted numbers", *columns],
            rows=rows,
            note="Described: fitted to all loops. Predicted: fitted to the other two loops. The sets were chosen with "
            "all loops in sight; the numbers of a prediction were not.",
        ),
        Table(
            title="Ours: what each block of the complete set removes, RMS misfit over the largest deflection [%]",
            columns=["complete set without", *(f"preset {p:g}" for p in presets)],
            rows=[[name, *(100.0 * misfits[p] for p in presets)] for name, misfits in ablated.items()],
            note="Fitted to all loops.",
        ),
        Table(
            title="Ours: predictions where one number is that of the predicted loop, RMS misfit over the largest "
            "deflection [%]",
            columns=["number", *(f"preset {p:g}" for p in presets)],
            rows=[[name, *(100.0 * misfits[p] for p in presets)] for name, misfits in refitted.items()],
            note="Everything else of the complete set is fitted to the other two loops.",
        ),
        Table(
            title="Ours: numbers of the complete set",
            columns=["fit to", *complete.every],
            rows=[[name, *values.values()] for name, values in numbers.items()],
            note="k, torque_zero, friction, motor_friction [N m]; a [1/rad]; parallel [N m/rad]; deflection_zero, "
            "presliding, dead_zone [rad]; spring_friction [N m per N m].",
        ),
    ]


def blocks_figure(loops: TorqueLoops, complete: LoopFit) -> Figure:
    """Draw the measured loops, the fit to all of them, and the prediction of each from the other two."""
    panels = []
    for preset, loop in loops.deflection.items():
        lines = [
            Line(loops.torque, branch, "o", ms=2.6, color="ink", label=None if i else "measured", zorder=5)
            for i, branch in enumerate(loop)
        ]
        styles = (
            (complete.every, {"color": "stiff", "lw": 1.5}, "fit to all loops"),
            (complete.without[preset], {"color": "muted", "lw": 1.2, "ls": "--"}, "prediction"),
        )
        for values, style, label in styles:
            for i, branch in enumerate(predict_loop(loops.torque, preset, values, turn=loops.turn)):
                lines.append(Line(loops.torque, branch, label=None if i else label, **style))
        panels.append(Panel(lines, "torque [N m]", "" if panels else "deflection [rad]", f"preset {preset:g} rad"))
    panels[-1].legend = "lower right"
    caption = (
        "Deflection over torque with all blocks. Dots: measured; solid: fitted to all three loops; dashed: predicted "
        "from a fit to the other two loops."
    )
    return draw("blocks", caption, panels, height=3.0, sharex=True)


def _percent(shares: Mapping[float, float]) -> str:
    texts = [f"{100.0 * share:.1f}" for share in shares.values()]
    return ", ".join(texts[:-1]) + f" and {texts[-1]}"

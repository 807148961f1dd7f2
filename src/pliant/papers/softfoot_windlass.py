"""The windlass of the SoftFoot: toes that bend up tighten the tendons, which lift the arch."""

from __future__ import annotations

import math
from dataclasses import dataclass

import mujoco
import numpy as np

from pliant.base.options import option
from pliant.experiments.base import Context, Figure, Result, Statement, Table, Target, experiment
from pliant.experiments.films import Film, film_of_tracks
from pliant.experiments.panels import DASHED, Level, Line, Panel, draw
from pliant.feet.press_bench import Standing, press, stand
from pliant.feet.softfoot import softfoot
from pliant.papers.softfoot_statics import PAPER, figure_of_soles, foot_options

RELEASED_SLACK = 0.0019572020875
"""Slack of the released tendons [m]: 0.286 m less their length at rest."""
LEVER = 0.0038
"""Lever arm of the tendons about the rolling axes [m] (released model)."""
FULL = math.radians(36.0)
"""Dorsiflexion at which both couplings of the toes reach their stops [rad] (released model)."""
SHORT = 0.0
"""Slack of the shorter tendons of the comparison [m]."""
CUT = 0.2
"""Slack of tendons that never are taut [m]."""
TIPTOE = math.radians(30.0)
"""Pitch of the ankle with the heel off the ground [rad].  # assumed"""
TIPTOE_LOADS = (50.0, 100.0)
"""Loads between which the stiffness of the raised foot is taken [N].  # assumed"""
STANDING_LOAD = 900.0
"""Load on the bar: a robot of 90 kg on one foot [N].  # assumed"""
BAR = (0.02, 0.02)
"""Edge of the bar and its position ahead of the ankle [m].  # assumed"""
RISE = 0.5e-3
"""Least rise of the arch that counts [m]; of the order of the penetration of the ground at a body's weight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftFootWindlassOptions:
    """Parameters that decide whether the windlass works."""

    tendon_slack: float = option(
        RELEASED_SLACK, unit="m", low=-0.003, high=0.2, source="the released model: 0.286 m less the length at rest"
    )
    """How far the tendons can lengthen from the straight sole before they are taut; 0 activates the windlass."""
    load: float = option(20.0, unit="N", low=0.0, high=1000.0, source="assumed: an unloaded foot on the ground")
    """Force on the ankle while the toes are bent upwards."""
    closure_compliance: float = option(
        7.7e-6, unit="m/N", low=1e-6, high=1e-3, source="fitted to the released model; the real one is unknown"
    )
    """Compliance of the closure between frontal arch and metatarsus."""


def angles(quick: bool) -> np.ndarray:
    """Return the dorsiflexions of the sweep [rad]."""
    return np.linspace(0.0, FULL, 4 if quick else 10)


def dorsiflexed(slack: float, load: float, quick: bool, foot: dict[str, object]) -> list[Standing]:
    """Return a foot at rest for every dorsiflexion of its toes."""
    return [stand(load, toes=float(toes), seconds=3.0, **{**foot, "tendon_slack": slack}) for toes in angles(quick)]


def tiptoe_stiffness(slack: float, foot: dict[str, object]) -> float:
    """Return the vertical stiffness of a foot with its heel off the ground [N/m]."""
    heights = [
        stand(load, pitch=TIPTOE, forward=True, seconds=3.0, **{**foot, "tendon_slack": slack}).height
        for load in TIPTOE_LOADS
    ]
    return (TIPTOE_LOADS[1] - TIPTOE_LOADS[0]) / (heights[0] - heights[1])


def lever_arm() -> float:
    """Return how much the tendons lengthen with the dorsiflexion of the toes alone [m/rad]."""
    model = softfoot().compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    before = float(data.ten_length[2])
    toes = [j for j in range(model.njnt) if model.joint(j).name.endswith("_3") and _of_toes(model.joint(j).name)]
    data.qpos[model.jnt_qposadr[toes]] = -0.01
    mujoco.mj_forward(model, data)
    return (float(data.ten_length[2]) - before) / (0.01 * len(toes))


def _of_toes(name: str) -> bool:
    return "phalanx_6" in name or "distal" in name


def tightening(feet: list[Standing]) -> Statement:
    """Judge that toes that bend up tighten the tendons."""
    tension = feet[-1].tendon
    return Statement(
        what="Dorsiflexion of the toes tightens the plantar fascia.",
        where="section II-A",
        targets=[
            Target("Tension of the tendons at full dorsiflexion", tension, low=1.0, unit="N",
                   source="section II-A in words; the limit is ours"),
        ],
        found=f"At 36 deg the tendons pull with {tension:.0f} N together.",
        rests_on="The length of the tendons of the prototype; the authors found theirs heuristically.",
    )  # fmt: skip


def lifting(feet: list[Standing], slack: float, load: float) -> Statement:
    """Judge that toes that bend up lift the arch."""
    rise = 1e3 * (feet[-1].height - feet[0].height)
    return Statement(
        what="Toe dorsiflexion elevates the arch of the foot (windlass mechanism).",
        where="section II-A",
        targets=[
            Target("Rise of the arch at full dorsiflexion", rise, low=1e3 * RISE, unit="mm",
                   source="section II-A in words; the limit is ours"),
        ],
        found=f"With a slack of {1e3 * slack:.2f} mm and {load:g} N on the ankle the arch rises by {rise:.2f} mm. The "
        f"toes take up {1e3 * LEVER * FULL:.2f} mm of tendon at their stops, and the tendons are taut only at "
        f"{math.degrees(slack / LEVER):.1f} deg.",
        rests_on="The length of the tendons of the prototype; the authors found theirs heuristically.",
    )  # fmt: skip


def stiff_lever(ratio: float) -> Statement:
    """Judge that the windlass makes the foot a stiff lever for push-off."""
    return Statement(
        what="The tightened fascia makes the foot a stiff lever for propulsion.",
        where="section II-A",
        targets=[
            Target("Stiffness on tiptoe, with tendons over without", ratio, low=1.05,
                   source="section II-A in words; the limit is ours"),
        ],
        found=f"With the heel off the ground, the ankle pitched by {math.degrees(TIPTOE):.0f} deg, the foot is "
        f"{ratio:.2f} times as stiff as without tendons, from {TIPTOE_LOADS[0]:g} to {TIPTOE_LOADS[1]:g} N.",
        rests_on="The length of the tendons; push-off was not measured.",
    )  # fmt: skip


def distributing(foot: Standing) -> Statement:
    """Judge that the tendons carry in standing on an obstacle."""
    return Statement(
        what="A tendon runs through each chain and distributes forces between its joints.",
        where="section II-A",
        targets=[
            Target("Tension of the tendons in standing on the bar", foot.tendon, low=1.0, unit="N",
                   source="section II-A in words; the limit is ours"),
        ],
        found=f"Standing on a bar of {1e3 * BAR[0]:g} mm with {STANDING_LOAD:g} N, all tendons pull with "
        f"{foot.tendon:.0f} N together.",
        rests_on="The length of the tendons of the prototype; the authors found theirs heuristically.",
    )  # fmt: skip


def short_targets(feet: list[Standing], ratio: float) -> list[Target]:
    """Check that shorter tendons bring the windlass to life."""
    return [
        Target("Slack 0: rise of the arch at full dorsiflexion", 1e3 * (feet[-1].height - feet[0].height), low=1.0,
               unit="mm", source="ours: tendon_slack is the parameter of the windlass"),
        Target("Slack 0: stiffness on tiptoe, with tendons over without", ratio, low=1.05,
               source="ours: tendon_slack is the parameter of the windlass"),
    ]  # fmt: skip


def lever_target() -> Target:
    """Check the lever arm of the routed tendons about the toes."""
    return Target(
        "Lengthening of the tendons with the angle of the toes' hinges", 1e3 * lever_arm(), equals=1e3 * LEVER,
        relative=0.01, unit="mm/rad", source="ours: the tendons run 3.8 mm below the rolling axes",
    )  # fmt: skip


def _films(context: Context, options: SoftFootWindlassOptions) -> list[Film]:
    foot = {"closure_compliance": options.closure_compliance}
    slacks = (options.tendon_slack, SHORT)
    return [
        film_of_tracks(
            {
                f"slack {1e3 * slack:.2f} mm": press(options.load, toes=FULL, **foot, tendon_slack=slack)
                for slack in slacks
            },
            name="toes",
            caption="The toes are bent up, with the tendons of the options and with tendons that are taut on flat "
            "ground: the short ones lift the arch.",
            camera="side",
            size="480x360",
        )
    ]


@experiment(
    "softfoot-windlass",
    title="The windlass of the SoftFoot",
    paper=PAPER,
    section="II-A in words",
    films=_films,
    cameras=("side",),
)
def softfoot_windlass(context: Context, options: SoftFootWindlassOptions) -> Result:
    """Bend the toes of a SoftFoot up and test whether its arch rises, with the released and with shorter tendons."""
    foot, quick = foot_options(context, options.closure_compliance), context.quick
    slacks = list(dict.fromkeys((options.tendon_slack, 0.5 * RELEASED_SLACK, SHORT)))
    feet = {
        slack: dorsiflexed(slack, options.load, quick, foot)
        for slack in context.track(slacks, lambda x: f"slack {1e3 * x:.2f} mm", high=0.6)
    }
    context.progress(0.6, "tiptoe")
    without = tiptoe_stiffness(CUT, foot)
    ratios = {
        slack: tiptoe_stiffness(slack, foot) / without for slack in context.track(slacks, "tiptoe", low=0.65, high=0.85)
    }
    on_bar = {slack: stand(STANDING_LOAD, bar=BAR, **{**foot, "tendon_slack": slack}) for slack in slacks}
    mine = options.tendon_slack
    degrees = np.degrees(angles(quick))
    return Result(
        summary="The foot stands on flat ground, its ankle free to rise, and servos bend its toes up to their stops. "
        "The height of the ankle is that of the arch. Then it stands on tiptoe, and on a bar. With the released "
        "tendons the windlass is nearly inactive: they are taut at 29.5 deg of the toes' 36. The option "
        "robot.tendon_slack=0 of the foot brings it to life.",
        statements=[
            tightening(feet[mine]),
            lifting(feet[mine], mine, options.load),
            stiff_lever(ratios[mine]),
            distributing(on_bar[mine]),
        ],
        targets=[*short_targets(feet[SHORT], ratios[SHORT]), lever_target()],
        tables=[
            Table(
                title=f"Toes bent up, {options.load:g} N on the ankle",
                columns=["slack [mm]", "taut at [deg]", "rise of the arch [mm]", "tension [N]",
                         "tiptoe, stiffness with over without", f"tension on a bar, {STANDING_LOAD:g} N [N]"],
                rows=[
                    [round(1e3 * slack, 3), round(math.degrees(slack / LEVER), 1),
                     round(1e3 * (found[-1].height - found[0].height), 3), round(found[-1].tendon, 1),
                     round(ratios[slack], 3), round(on_bar[slack].tendon, 1)]
                    for slack, found in feet.items()
                ],
            )
        ],
        figures=[_figure_windlass(degrees, feet, options.load), _figure_shape(degrees, feet)],
        assumptions=[
            f"Servos of the toes and {options.load:g} N on the ankle: the paper describes the windlass in words only.",
            "The tendons of the model are inextensible; those of the prototype almost.",
        ],
        notes=["Quick version: one lumped chain of midpoint hinges."] if quick else [],
        traces={
            "toes_rad": angles(quick),
            "slack_m": np.array(slacks),
            "height_m": np.array([[f.height for f in found] for found in feet.values()]),
            "tension_N": np.array([[f.tendon for f in found] for found in feet.values()]),
        },
    )  # fmt: skip


def _figure_windlass(degrees: np.ndarray, feet: dict[float, list[Standing]], load: float) -> Figure:
    rise, tension = [], []
    for k, (slack, found) in enumerate(feet.items()):
        style = {"color": k, "markersize": 3.5, "label": f"slack {1e3 * slack:.2f} mm"}
        rise.append(Line(degrees, [1e3 * (foot.height - found[0].height) for foot in found], "o-", **style))
        tension.append(Line(degrees, [foot.tendon for foot in found], "o-", **style))
    taut = Level(math.degrees(RELEASED_SLACK / LEVER), vertical=True, linestyle=DASHED, linewidth=1)
    panels = [
        Panel([rise, taut], "dorsiflexion of the toes [deg]", "rise of the arch [mm]", "Arch", legend="best"),
        Panel([tension, taut], "dorsiflexion of the toes [deg]", "tension of all tendons [N]", "Tendons"),
    ]
    caption = (
        f"Toes bent up with {load:g} N on the ankle: rise of the arch and tension of the tendons. With the released "
        "slack (first line) the tendons are taut from the dashed line on, and the arch stays where it is."
    )
    return draw("windlass", caption, panels, height=2.8)


def _figure_shape(degrees: np.ndarray, feet: dict[float, list[Standing]]) -> Figure:
    soles = {
        f"slack {1e3 * slack:.2f} mm": (found[-1].pitches, {"color": k})
        for k, (slack, found) in enumerate(feet.items())
    }
    caption = (
        f"Shape of the sole with the toes bent up by {degrees[-1]:.0f} deg against the metatarsus. Short tendons bend "
        "the sole into an arch."
    )
    return figure_of_soles(soles, caption, height=2.6)

"""Step and sinusoid of the two-joint arm, soft and stiff (Mengacci et al. 2021, section 4.2.2, figures 12 and 13)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.experiments.base import Context, Figure, Result, Table, Target, experiment
from pliant.experiments.runs import drive, step_response

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["simulate", "stiction_band", "two_dof"]

JOINTS = ("joint_1", "joint_2")
STEP = 0.8
"""Step of both joints [rad]. Section 4.2.2."""
AMPLITUDE = 0.8
"""Amplitude of the sinusoid [rad]. Section 4.2.2, equation 12."""
RATE = 0.8
"""Its angular frequency [rad/s]. Section 4.2.2, equation 12."""
FRICTION = 0.025
"""Friction of the joints [N m]. Section 4.2."""
DAMPING = 0.065
"""Damping of the joints [N m s/rad]. Section 4.2."""
PRESETS = {"soft": 0.2, "stiff": 0.6}
"""Stiffness presets [rad]. Section 4.2."""
STEP_DURATION = 3.0
"""Length of the step's run [s]."""
SINE_DURATION = 20.0
"""Length of the sinusoid's run [s]: that of the authors' signal node."""
TIMESTEP = 1e-3  # assumed
"""Time step [s]."""
PRESET_DAMPING = 0.35  # assumed
"""Growth of the link's damping with the preset in the run that shows it [N m s/rad per rad]."""

Traces = dict[str, "NDArray[np.float64]"]


def simulate(
    reference: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    behaviour: str,
    duration: float,
    *,
    timestep: float = TIMESTEP,
    preset_damping: float = 0.0,
    progress: Callable[[float], None] | None = None,
    **options: Any,
) -> Traces:
    """Run the arm in mode 6 with the same reference on both joints.

    Args:
        reference: commanded equilibrium [rad] as a function of time, shape (n,) [s].
        behaviour: "soft" or "stiff".
        duration: length [s].
        timestep: time step [s].
        preset_damping: growth of the link's damping with the preset [N m s/rad per rad].
        progress: called with the fraction done.
        options: of the robot.

    Returns:
        "time", "reference", and "<joint>/position", "<joint>/equilibrium", every millisecond.
    """
    from pliant.engine import MujocoEngine
    from pliant.robots import build_robot

    preset = PRESETS[behaviour]
    # The motors start at 0 as in the original, so a run begins with the change of the preset.
    robot = build_robot("qbmove-2dof", {"preset": 0.0, "timestep": timestep, **options})
    if preset_damping:
        robot.set("actuator.link_preset_damping", preset_damping)
    engine = MujocoEngine(robot)
    steps = round(duration / timestep)
    time = np.arange(steps) * timestep
    inputs: dict[str, Any] = {}
    for joint in JOINTS:
        inputs[f"{joint}/reference_1"] = reference(time)
        inputs[f"{joint}/reference_2"] = preset
    record = [f"{joint}/{what}" for joint in JOINTS for what in ("position", "equilibrium")]
    every = max(1, round(1e-3 / timestep))
    traces = drive(engine, inputs, record, steps, every=every, progress=progress)
    traces["reference"] = reference(traces["time"])
    return traces


def stiction_band(law: Any, preset: float, friction: float = FRICTION) -> tuple[float, float]:
    """Return how far below and above the commanded equilibrium friction can hold the link [rad].

    The angles at which the spring's torque is +friction and -friction.
    """
    from pliant.experiments.runs import spring_equilibrium

    return tuple(spring_equilibrium(law, 0.0, preset, lambda q, s=s: s * friction) for s in (-1.0, 1.0))  # type: ignore


def _step(time: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.full(np.shape(time), STEP)


def _sine(time: NDArray[np.float64]) -> NDArray[np.float64]:
    return AMPLITUDE * np.sin(RATE * np.asarray(time))


def _rms(values: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.mean(values * values)))


@experiment(
    "two-dof",
    title="Step and sinusoid of an arm of two qbMoves",
    paper="Mengacci et al. 2021, Front. Robot. AI 8:713083",
    section="4.2.2",
)
def two_dof(context: Context) -> Result:
    """Step and sinusoid of the two-joint arm, lying and hanging, soft and stiff."""
    from pliant.laws import PID, DCMotor
    from pliant.robots import build_robot

    result = Result(
        summary=(
            "An arm of two qbMove Advanced is commanded in mode 6 with a fixed preset, 0.2 rad (soft) or 0.6 rad "
            "(stiff). Lying, with its axes upright, it takes a step of 0.8 rad on both joints; hanging, it follows "
            "0.8 sin(0.8 t). The motors reach what they are told with either preset. The link does so as far as "
            "friction lets it when nothing loads it; under gravity the soft link falls short of the reference and the "
            "stiff link stays close."
        ),
        assumptions=[
            "Two links of 0.5 kg, centre of mass at 0.04 m, 0.085 m long, 0.002 kg m\u00b2 about it: the paper prints "
            "no rigid-body data of the arm, these are the geometry of the toolbox's template. They are options of the "
            "robot `qbmove-2dof`.",
            "Motors and link start at rest at 0, with the preset 0, as in the toolbox.",
            "The vertical mounting hangs at q = 0.",
            "Springs are the toolbox's defaults; the arm with the springs of section 4.3 is in the table.",
        ],
        notes=[
            "Link friction is presliding (Dahl's limiting case) with the presliding stiffness of the toolbox's motors.",
            f"Time step {1e3 * TIMESTEP:g} ms; the bound of these actuators is 8.7 ms.",
            "The stiff link rings: the authors see it in their simulation and not on the robot, whose damping grows "
            "with the preset. The option `link_preset_damping` gives the actuator such a damping; the figure shows the "
            f"same step with {PRESET_DAMPING:g} N m s/rad per rad (assumed, by eye), which calms it.",
        ],
    )
    plan: list[tuple[str, str, dict[str, Any]]] = [
        ("step", "soft", {"mounting": "horizontal"}),
        ("step", "stiff", {"mounting": "horizontal"}),
        ("step", "stiff", {"mounting": "horizontal", "preset_damping": PRESET_DAMPING}),
        ("sine", "soft", {"mounting": "vertical"}),
        ("sine", "stiff", {"mounting": "vertical"}),
        ("sine", "soft", {"mounting": "vertical", "springs": "identified"}),
        ("sine", "stiff", {"mounting": "vertical", "springs": "identified"}),
    ]
    if not context.quick:
        plan.append(("sine", "soft", {"mounting": "vertical", "timestep": 0.5 * TIMESTEP}))
    runs: list[Traces] = []
    for i, (kind, behaviour, options) in enumerate(plan):
        reference, duration = (_step, STEP_DURATION) if kind == "step" else (_sine, SINE_DURATION)
        runs.append(
            simulate(
                reference,
                behaviour,
                duration,
                progress=lambda f, i=i, b=behaviour, k=kind: context.progress(0.95 * (i + f) / len(plan), f"{k}, {b}"),
                **options,
            )
        )
    law = build_robot("qbmove-2dof").actuators["joint_1"].law

    # -- the step -----------------------------------------------------------------------------------------
    step_rows = []
    overshoot = {}
    for behaviour, traces in (("soft", runs[0]), ("stiff", runs[1])):
        low, high = stiction_band(law, PRESETS[behaviour])
        for joint in JOINTS:
            motors, link = traces[f"{joint}/equilibrium"], traces[f"{joint}/position"]
            result.targets.append(
                Target(
                    f"Step: final equilibrium of the motors, {behaviour}, {joint}",
                    float(motors[-1]),
                    equals=STEP,
                    tolerance=2e-4,
                    unit="rad",
                    source="section 4.2.2: reaches the desired position",
                )
            )
            result.targets.append(
                Target(
                    f"Step: final link angle minus commanded, {behaviour}, {joint}",
                    float(link[-1]) - STEP,
                    low=low - 2e-4,
                    high=high + 2e-4,
                    unit="rad",
                    source="stiction band of spring and friction",
                )
            )
            rise = step_response(traces["time"], motors, STEP).rise
            overshoot[behaviour, joint] = float(link.max()) - float(link[-1])
            step_rows.append(
                [
                    behaviour,
                    joint,
                    round(rise, 4),
                    round(float(motors[-1]), 5),
                    round(float(link.max()), 4),
                    round(float(link[-1]), 4),
                    _swings(link),
                ]
            )
    result.targets.append(
        Target(
            "Step: swings of the stiff link over those of the soft one",
            float(step_rows[2][-1] / max(1, step_rows[0][-1])),
            low=2.0,
            source="section 4.2.2: high oscillation in the stiff simulation",
            note="Swings are turning points of joint 1 more than 5 mrad apart.",
        )
    )
    # -- the sinusoid -------------------------------------------------------------------------------------
    pid, motor = PID(), DCMotor()
    # Error of a PD servo in steady motion: (viscous + friction) / kp, its RMS over a sinusoid.
    viscous = (pid.kd + motor.damping) / pid.kp * AMPLITUDE * RATE
    coulomb = motor.friction.torque / pid.kp
    lag = math.sqrt(0.5 * viscous**2 + 4.0 / math.pi * viscous * coulomb + coulomb**2)
    sine_rows = []
    window = {}
    for springs, soft, stiff in (("toolbox", runs[3], runs[4]), ("identified", runs[5], runs[6])):
        for behaviour, traces in (("soft", soft), ("stiff", stiff)):
            time, reference = traces["time"], traces["reference"]
            whole = time > time[-1] - 2 * 2 * math.pi / RATE  # two periods, without the start
            cells: list[Any] = [springs, behaviour]
            for joint in JOINTS:
                error = traces[f"{joint}/position"] - reference
                window[springs, behaviour, joint] = (
                    float(np.abs(traces[f"{joint}/position"][whole]).max()),
                    _rms(error),
                    _rms((traces[f"{joint}/equilibrium"] - reference)[whole]),
                )
            for column in range(3):
                cells.extend(round(window[springs, behaviour, joint][column], 4) for joint in JOINTS)
            sine_rows.append(cells)
    for joint in JOINTS:
        soft, stiff = window["toolbox", "soft", joint], window["toolbox", "stiff", joint]
        result.targets.append(
            Target(
                f"Sinusoid under gravity: amplitude of the soft link, {joint}",
                soft[0],
                high=0.75 * AMPLITUDE,
                unit="rad",
                source="section 4.2.2: not equal to the desired one",
            )
        )
        result.targets.append(
            Target(
                f"Sinusoid under gravity: amplitude of the stiff link, {joint}",
                stiff[0],
                low=0.8 * AMPLITUDE,
                high=1.05 * AMPLITUDE,
                unit="rad",
                source="section 4.2.2: close to the desired one",
            )
        )
        result.targets.append(
            Target(
                f"Sinusoid under gravity: RMS error of the stiff link over that of the soft one, {joint}",
                stiff[1] / soft[1],
                high=0.5,
                source="section 4.2.2, figure 13",
            )
        )
        for behaviour, values in (("soft", soft), ("stiff", stiff)):
            result.targets.append(
                Target(
                    f"Sinusoid: RMS lag of the motors, {behaviour}, {joint}",
                    1e3 * values[2],
                    equals=1e3 * lag,
                    relative=0.02,
                    unit="mrad",
                    source="RMS of ((kd + D) v + F sgn v) / kp",
                )
            )
    if not context.quick:
        fine = runs[-1]
        change = max(
            abs(_rms(fine[f"{j}/position"] - fine["reference"]) / window["toolbox", "soft", j][1] - 1.0) for j in JOINTS
        )
        result.targets.append(
            Target(
                "Time step: change of the soft link's error with half the step", change, high=0.01, source="convergence"
            )
        )

    context.progress(0.96, "figures")
    result.tables = [
        Table(
            title="Step of 0.8 rad, lying",
            columns=[
                "",
                "joint",
                "motors' rise [s]",
                "motors' final [rad]",
                "link peak [rad]",
                "link final [rad]",
                "swings",
            ],
            rows=step_rows,
            note="Rise from 10 % to 90 %. Swings are turning points more than 5 mrad apart.",
        ),
        Table(
            title="0.8 sin(0.8 t), hanging",
            columns=[
                "springs",
                "",
                "amplitude 1 [rad]",
                "2",
                "RMS link error 1 [rad]",
                "2",
                "RMS motor lag 1 [rad]",
                "2",
            ],
            rows=sine_rows,
            note="Joints 1 and 2. Link error over the whole 20 s; amplitude and lag over the last two periods.",
        ),
    ]
    result.figures = [
        Figure(
            name="step",
            caption="Step of 0.8 rad on both joints, lying. Motors (blue) and link (orange) with the soft (left) and "
            "the stiff preset (right), as in panel B of figure 12. The shaded band is where friction can hold the "
            "link. The stiff link rings; with a damping that grows with the preset (green) it does not.",
            figure=_figure_step(runs[0], runs[1], runs[2], law),
        ),
        Figure(
            name="sinusoid",
            caption="Sinusoid on both joints, hanging. The reference is 0.8 sin(0.8 t). The motors follow it with "
            "either preset; gravity holds the soft link back and hardly the stiff one, as in figure 13.",
            figure=_figure_sine(runs[3], runs[4]),
        ),
    ]
    for name, traces in zip(("step_soft", "step_stiff", "step_damped", "sine_soft", "sine_stiff"), runs):
        for key, values in traces.items():
            suffix = {"time": "time_s", "reference": "reference_rad"}.get(key, f"{key.replace('/', '_')}_rad")
            result.traces[f"{name}_{suffix}"] = values
    return result


def _swings(q: NDArray[np.float64], threshold: float = 5e-3) -> int:
    """Count turning points that are more than a threshold apart."""
    count, extreme, direction = 0, float(q[0]), 1
    for value in q.tolist():
        if direction * (value - extreme) > 0.0:
            extreme = value
        elif direction * (extreme - value) > threshold:
            count += 1
            direction, extreme = -direction, value
    return count


def _figure_step(soft: Traces, stiff: Traces, damped: Traces, law: Any) -> Any:
    from pliant.experiments.style import COLORS, CYCLE, figure_legend, label, new_figure, thin

    figure, axes = new_figure(2, 2, height=2.15, sharex=True, sharey=True)
    for column, (behaviour, traces) in enumerate((("soft", soft), ("stiff", stiff))):
        low, high = stiction_band(law, PRESETS[behaviour])
        for row, joint in enumerate(JOINTS):
            axis = axes[row, column]
            axis.axhspan(STEP + low, STEP + high, color=COLORS["link"], alpha=0.10, linewidth=0)
            axis.axhline(STEP, color=COLORS["reference"], linewidth=1.0, linestyle=(0, (4, 3)), label="reference")
            if behaviour == "stiff":
                time, q = thin(damped["time"], damped[f"{joint}/position"])
                axis.plot(time, q, color=CYCLE[2], linewidth=1.1, label="link, damping grows with preset")
            time, q, motors = thin(traces["time"], traces[f"{joint}/position"], traces[f"{joint}/equilibrium"])
            axis.plot(time, motors, color=COLORS["equilibrium"], label="equilibrium of the motors")
            axis.plot(time, q, color=COLORS["link"], label="link")
            axis.set_xlim(0.0, 1.5)
            axis.set_ylim(0.0, 1.28)
            name = joint.replace("_", " ")
            label(axis, "time [s]" if row else "", "angle [rad]" if not column else "", f"{behaviour}, {name}")
    figure_legend(figure, axes[0, 1], order=[3, 2, 1, 0])
    return figure


def _figure_sine(soft: Traces, stiff: Traces) -> Any:
    from pliant.experiments.style import COLORS, figure_legend, label, new_figure, thin

    figure, axes = new_figure(2, 2, height=2.15, sharex=True, sharey=True)
    for column, (behaviour, traces) in enumerate((("soft", soft), ("stiff", stiff))):
        for row, joint in enumerate(JOINTS):
            axis = axes[row, column]
            time, q, motors, reference = thin(
                traces["time"], traces[f"{joint}/position"], traces[f"{joint}/equilibrium"], traces["reference"]
            )
            axis.plot(
                time,
                reference,
                color=COLORS["reference"],
                linewidth=1.0,
                linestyle=(0, (4, 3)),
                label="reference",
                zorder=4,
            )
            axis.plot(time, motors, color=COLORS["equilibrium"], label="equilibrium of the motors")
            axis.plot(time, q, color=COLORS["link"], label="link")
            axis.set_xlim(0.0, SINE_DURATION)
            axis.set_xticks(range(0, 21, 5))
            axis.set_ylim(-1.0, 1.0)
            name = joint.replace("_", " ")
            label(axis, "time [s]" if row else "", "angle [rad]" if not column else "", f"{behaviour}, {name}")
    figure_legend(figure, axes[0, 1], order=[2, 1, 0])
    return figure

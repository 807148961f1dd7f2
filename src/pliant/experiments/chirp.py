"""Frequency response of one qbMove, soft and stiff (Mengacci et al. 2021, section 4.2.1, figure 11)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.experiments.base import Context, Figure, Result, Table, Target, experiment
from pliant.experiments.runs import drive

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["RUNS", "Run", "chirp", "response", "servo_amplitude", "simulate"]

AMPLITUDE = 0.15
"""Amplitude of the chirp [rad]. Section 4.2.1."""
LOW, HIGH = 0.5, 6.0
"""Its first and last frequency [Hz]. Section 4.2.1."""
DURATION = 30.0  # assumed
"""Its length [s]; the frequency rises linearly."""
FRICTION = 0.025
"""Friction of the joint [N m]. Section 4.2."""
PRESETS = {"soft": 0.2, "stiff": 0.6}
"""Stiffness presets [rad]. Section 4.2."""
TIMESTEP = 0.5e-3  # assumed
"""Time step [s]; half of it changes no amplitude by more than 1 %."""
TEMPLATE = 0.002
"""Inertia of the link in the toolbox's template [kg m^2]; the load adds 0.00032."""


@dataclass(frozen=True, slots=True)
class Run:
    """One chirp."""

    name: str
    """Short name."""
    behaviour: str
    """"soft" or "stiff"."""
    springs: str = "toolbox"
    """Set of springs."""
    friction: float = FRICTION
    """Friction of the joint [N m]."""
    link_inertia: float = TEMPLATE
    """Inertia of the link beside the load's [kg m^2]."""

    @property
    def inertia(self) -> float:
        """Inertia about the axis [kg m^2]."""
        return self.link_inertia + 0.2 * 0.04**2


RUNS: tuple[Run, ...] = (
    Run("soft, toolbox springs", "soft"),
    Run("soft, toolbox springs, no friction", "soft", friction=0.0),
    Run("soft, identified springs", "soft", springs="identified-1"),
    Run("stiff, toolbox springs", "stiff"),
    Run("stiff, toolbox springs, I = 0.004", "stiff", link_inertia=0.004 - 0.00032),
    Run("stiff, toolbox springs, I = 0.008", "stiff", link_inertia=0.008 - 0.00032),
    Run("stiff, identified springs", "stiff", springs="identified-1"),
)
"""What is run."""


def simulate(run: Run, timestep: float = TIMESTEP, progress: Any = None) -> dict[str, NDArray[np.float64]]:
    """Run one chirp in mode 6, without gravity.

    Returns:
        "time", "joint/position", "joint/equilibrium", every millisecond or every step if that is longer.
    """
    from pliant.engine import MujocoEngine
    from pliant.robots import build_robot

    robot = build_robot(
        "qbmove-1dof",
        {
            "mode": 6,
            "preset": PRESETS[run.behaviour],
            "springs": run.springs,
            "friction": run.friction,
            "link_inertia": run.link_inertia,
            "timestep": timestep,
        },
    )
    robot.set("option.gravity", 0.0)
    engine = MujocoEngine(robot)
    steps = round(DURATION / timestep)
    t = np.arange(steps) * timestep
    phase = 2.0 * math.pi * (LOW * t + 0.5 * (HIGH - LOW) / DURATION * t * t)
    inputs = {"joint/reference_1": AMPLITUDE * np.sin(phase), "joint/reference_2": PRESETS[run.behaviour]}
    every = max(1, round(1e-3 / timestep))
    return drive(engine, inputs, ["joint/position", "joint/equilibrium"], steps, every=every, progress=progress)


def response(time: NDArray[np.float64], q: NDArray[np.float64], at: Any) -> NDArray[np.float64]:
    """Return half the peak-to-peak value of a trace over one period around the moments of given frequencies.

    Args:
        time: time, shape (n,) [s].
        q: trace, shape (n,).
        at: frequencies, shape (m,) [Hz].
    """
    out = []
    for f in at:
        middle = (f - LOW) / (HIGH - LOW) * DURATION
        low, high = np.searchsorted(time, (middle - 0.5 / f, middle + 0.5 / f))
        part = q[max(0, low) : high + 1]
        out.append(0.5 * (part.max() - part.min()))
    return np.array(out)


def servo_amplitude(f: Any) -> NDArray[np.float64]:
    """Return the amplitude of the motors without load and friction: PD gains on inertia and damping.

    |kp / (kp - J w^2 + j w (D + kd))| times the chirp's amplitude.
    """
    from pliant.laws import PID, DCMotor

    motor, pid = DCMotor(), PID()
    w = 2.0 * math.pi * np.asarray(f)
    return AMPLITUDE * np.abs(pid.kp / (pid.kp - motor.inertia * w * w + 1j * w * (motor.damping + pid.kd)))


@experiment(
    "chirp",
    title="Frequency response of one qbMove",
    paper="Mengacci et al. 2021, Front. Robot. AI 8:713083",
    section="4.2.1",
)
def chirp(context: Context) -> Result:
    """Chirp of 0.15 rad from 0.5 to 6 Hz on one qbMove, soft and stiff."""
    at = np.linspace(LOW + 0.1, HIGH - 0.1, 107)
    traces: dict[str, dict[str, NDArray[np.float64]]] = {}
    link: dict[str, NDArray[np.float64]] = {}
    motor: dict[str, NDArray[np.float64]] = {}
    total = len(RUNS) + (0 if context.quick else 2)
    for i, run in enumerate(RUNS):
        traces[run.name] = found = simulate(
            run, progress=lambda f, i=i, run=run: context.progress(0.95 * (i + f) / total, run.name)
        )
        link[run.name] = response(found["time"], found["joint/position"], at)
        motor[run.name] = response(found["time"], found["joint/equilibrium"], at)
    peak = {name: float(at[int(np.argmax(amplitude))]) for name, amplitude in link.items()}

    free, stuck, known, stiff = (RUNS[i].name for i in (1, 0, 2, 3))
    heavier = [RUNS[4].name, RUNS[5].name]
    paper = "section 4.2.1"
    result = Result(
        summary=(
            "A qbMove Advanced follows, in mode 6, a chirp of 0.15 rad of its commanded equilibrium from 0.5 to 6 Hz, "
            "at the presets 0.2 (soft) and 0.6 rad (stiff). The motors lag and attenuate; the soft link is a low-pass "
            "filter behind them, the stiff link follows and, where its inertia allows, resonates. With the toolbox's "
            "default springs and the printed friction the soft link does not move at all."
        ),
        targets=[
            Target(
                "Soft and stiff: peak frequency of the stiff link over that of the soft one",
                peak[stiff] / peak[free],
                low=2.0,
                source=paper,
                note="The soft link peaks at the lowest frequencies. Toolbox springs; soft without friction.",
            ),
            *(
                Target(
                    f"Soft and stiff: the same with {name.split(', ')[-1]} kg m\u00b2",
                    peak[name] / peak[free],
                    low=2.0,
                    source=paper,
                )
                for name in heavier
            ),
            Target(
                "Soft and stiff: the same with identified springs and friction",
                peak[RUNS[6].name] / peak[known],
                low=2.0,
                source=paper,
            ),
            *(
                Target(
                    f"Soft roll-off: amplitude at 5.9 Hz over that at 0.6 Hz, {name.removeprefix('soft, ')}",
                    float(link[name][-1] / link[name][0]),
                    high=0.1,
                    source=paper,
                )
                for name in (free, known)
            ),
            Target(
                "Soft roll-off: the same ratio of the stiff link",
                float(link[stiff][-1] / link[stiff][0]),
                low=0.5,
                source=paper,
            ),
            *(
                Target(
                    f"Servo: amplitude of the motors' equilibrium at 5.9 Hz, {name}",
                    float(motor[name][-1]),
                    equals=float(servo_amplitude(at[-1])),
                    relative=0.02,
                    unit="rad",
                    source="transfer function of the PD servo",
                )
                for name in (free, stiff)
            ),
            Target(
                "Stiction: largest angle of the soft link, toolbox springs and printed friction",
                float(np.abs(traces[stuck]["joint/position"]).max()),
                high=0.01,
                unit="rad",
                source="spring torque at 0.15 rad below the friction",
                note="The soft spring reaches 0.025 N m only at 0.166 rad.",
            ),
        ],
        assumptions=[
            "The chirp lasts 30 s and its frequency rises linearly; the paper prints no duration.",
            "No gravity acts on the joint, as on the arm of section 4.2.2 in its horizontal mounting.",
            "The link's inertia is the template's 0.00232 kg m\u00b2 in all; two heavier links show where a resonance "
            "enters the band.",
            "Presliding stiffness of the joint's friction: 100 N m/rad.",
        ],
        notes=[
            "With the toolbox's default springs and the friction of 0.025 N m that the paper prints, the soft link "
            "stays in its stiction band of 0.166 rad, since the chirp has only 0.15 rad. The paper's soft link moves, "
            "so it had other springs (those of section 4.3 move), less friction, or gravity.",
            f"Time step {1e3 * TIMESTEP:g} ms, duration {DURATION:g} s, {len(RUNS)} runs.",
        ],
    )
    if not context.quick:
        changes = []
        for k, name in enumerate((free, heavier[0])):
            run = next(r for r in RUNS if r.name == name)
            fine = simulate(
                run,
                0.5 * TIMESTEP,
                lambda f, k=k: context.progress(0.95 * (len(RUNS) + k + f) / total, "half the time step"),
            )
            amplitude = response(fine["time"], fine["joint/position"], at)
            changes.append(abs(float(amplitude.max() / link[name].max()) - 1.0))
        result.targets.append(
            Target(
                "Time step: change of the largest amplitude with half the step",
                max(changes),
                high=0.01,
                source="convergence",
            )
        )
    context.progress(0.96, "figures")
    rows = []
    for run in RUNS:
        amplitude = link[run.name]
        best = int(np.argmax(amplitude))
        rows.append(
            [
                run.name,
                run.inertia,
                run.friction,
                round(float(amplitude[best]), 4),
                round(float(at[best]), 2),
                round(float(amplitude[0]), 4),
                round(float(amplitude[-1]), 4),
                round(float(motor[run.name][-1]), 4),
            ]
        )
    result.tables = [
        Table(
            title="Amplitudes",
            columns=[
                "run",
                "I [kg m\u00b2]",
                "friction [N m]",
                "largest [rad]",
                "at [Hz]",
                "at 0.6 Hz [rad]",
                "at 5.9 Hz [rad]",
                "motors at 5.9 Hz [rad]",
            ],
            rows=rows,
            note="Half the peak-to-peak value of the link angle over one period.",
        )
    ]
    result.figures = [
        Figure(
            name="chirp",
            caption="Commanded equilibrium, motors and link during the chirp. Soft on the left, stiff on the right, as "
            "in figure 11 of the paper. Above, the toolbox's springs (the soft case without friction, for with the "
            "printed friction it does not move); below, the springs identified for joint 1 in section 4.3, with "
            "friction. Unequal springs shift the soft link's middle.",
            figure=_figure_time([traces[n] for n in (free, stiff, known, RUNS[6].name)]),
        ),
        Figure(
            name="frequency",
            caption="Amplitude against frequency. The motors (grey: their transfer function) attenuate to 0.093 rad at "
            "6 Hz; behind them the soft link rolls off and the stiff link follows, with a resonance that moves into "
            "the band as the link gets heavier.",
            figure=_figure_frequency(at, link, motor[free]),
        ),
    ]
    for run in RUNS:
        key = run.name.replace(", ", "_").replace(" ", "_").replace("=", "").replace("__", "_")
        result.traces[f"{key}_angle_rad"] = traces[run.name]["joint/position"]
        result.traces[f"{key}_equilibrium_rad"] = traces[run.name]["joint/equilibrium"]
    result.traces["time_s"] = traces[free]["time"]
    return result


def _figure_time(runs: list[dict[str, NDArray[np.float64]]]) -> Any:
    from pliant.experiments.style import COLORS, figure_legend, label, new_figure, thin

    figure, axes = new_figure(2, 2, height=2.0, sharex=True, sharey=True)
    titles = ("soft, toolbox springs, no friction", "stiff, toolbox springs", "soft, identified", "stiff, identified")
    for k, (axis, run, title) in enumerate(zip(axes.flat, runs, titles)):
        for name, color, width, text in (
            ("position", "link", 1.1, "link"),
            ("equilibrium", "equilibrium", 0.6, "equilibrium of the motors"),
        ):
            time, q = thin(run["time"], run[f"joint/{name}"], points=3000)
            axis.plot(time, q, color=COLORS[color], linewidth=width, alpha=0.85, label=text)
        axis.set_xlim(0.0, DURATION)
        axis.set_ylim(-0.27, 0.27)
        label(axis, "time [s]" if k > 1 else "", "angle [rad]" if k % 2 == 0 else "", title)
    figure_legend(figure, axes[0, 1])
    return figure


def _figure_frequency(at: NDArray[np.float64], link: dict[str, NDArray[np.float64]], motor: NDArray[np.float64]) -> Any:
    from pliant.experiments.style import COLORS, CYCLE, label, legend, new_figure

    figure, axis = new_figure(height=3.3, width=7.2)
    axis.loglog(at, servo_amplitude(at), color=COLORS["reference"], linewidth=3.0, alpha=0.45, label="motors, computed")
    axis.loglog(at, motor, color=COLORS["reference"], linewidth=1.0, label="motors, simulated")
    colors = {"soft": (CYCLE[1], CYCLE[4]), "stiff": (CYCLE[0], CYCLE[5])}
    for run in RUNS:
        if run.behaviour == "soft" and run.springs == "toolbox" and run.friction > 0.0:
            continue
        color = colors[run.behaviour][0 if run.springs == "toolbox" else 1]
        style = "-"
        if run.link_inertia != TEMPLATE:
            style = (0, (5, 1.5)) if run.inertia < 0.006 else (0, (1.5, 1.2))
        axis.loglog(at, link[run.name], color=color, linestyle=style, label=run.name)
    ticks = [0.5, 1, 2, 3, 4, 5, 6]
    axis.set_xticks(ticks, [f"{x:g}" for x in ticks])
    axis.minorticks_off()
    levels = [0.003, 0.01, 0.03, 0.1, 0.3]
    axis.set_yticks(levels, [f"{x:g}" for x in levels])
    axis.set_xlim(0.58, 6.1)
    label(axis, "frequency [Hz]", "amplitude [rad]")
    legend(axis, loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure

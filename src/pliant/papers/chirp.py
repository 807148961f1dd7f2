"""Frequency response of one qbMove, soft and stiff (Mengacci et al. 2021, section 4.2.1, figure 11)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.numerics import Array
from pliant.base.options import option
from pliant.engine import MujocoEngine
from pliant.experiments.base import Context, Figure, Result, Statement, Table, Target, experiment
from pliant.experiments.curves import read_curves
from pliant.experiments.films import Film, Shot
from pliant.experiments.panels import BESIDE, Line, Panel, draw
from pliant.experiments.runs import drive
from pliant.experiments.trace import Trace
from pliant.laws import PID, DCMotor
from pliant.robots import build_robot

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from pliant.model.robot import Robot

AMPLITUDE = 0.15
"""Amplitude of the chirp [rad]. Section 4.2.1."""
LOW, HIGH = 0.5, 6.0
"""Its first and last frequency [Hz]. Section 4.2.1."""
PRESETS = {"soft": 0.2, "stiff": 0.6}
"""Stiffness presets [rad]. Section 4.2."""
TIMESTEP = 1e-3
"""Time step of the quick version [s]; the full one takes half of it and compares. The paper prints none."""
TEMPLATE = 0.002
"""Inertia of the link in the toolbox's template [kg m^2]; the load adds 0.00032."""
PRESLIDING = 100.0
"""Presliding stiffness of the joint's friction [N m/rad]: assumed."""
SIMILAR = 0.25
"""Part by which two peak deflections may differ and still be similar. Ours: the paper has no number."""
MEASURED = "identified-1"
"""Springs that stand in for the real joint: identified on the authors' arm of the same actuators, section 4.3."""
JOINTS = ("", ", identified springs", ", no friction")
"""Suffixes for the joint in the names of runs of one behaviour."""
HEAVIER = {0.004: (0.205, 5.4), 0.008: (0.315, 3.9)}
"""Inertia of heavier links [kg m^2]: peak [rad] and its frequency [Hz] of the stiff joint with friction 0.025 N m,
integrated by a program that shares no code with pliant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChirpOptions:
    """Assumptions of the experiment ``chirp``."""

    springs: str = option(
        "toolbox", choices=("toolbox", "kit", "maker-pro"), source="assumed: defaults of the original toolbox"
    )
    """Set of spring parameters of the simulated joint, see `pliant.joints.qbmove.SPRINGS`."""
    friction: float = option(0.025, unit="N m", low=0.0, high=10.0, source="section 4.2")
    """Friction of the joint, the same in the soft and in the stiff run."""
    damping: float = option(0.065, unit="N m s/rad", low=0.0, high=10.0, source="section 4.2")
    """Damping of the joint."""
    link_inertia: float = option(
        TEMPLATE, unit="kg m^2", low=1e-6, high=1.0, source="assumed: URDF templates of the toolbox"
    )
    """Inertia of the link beside that of the load."""
    duration: float = option(30.0, unit="s", low=5.0, high=600.0, source="assumed")
    """Length of the chirp; its frequency rises linearly."""
    gravity: float = option(0.0, unit="m/s^2", low=0.0, high=30.0, source="assumed: the joint's axis is vertical")
    """Gravity perpendicular to the joint's axis."""


@dataclass(frozen=True, slots=True)
class Run:
    """One chirp."""

    name: str
    """Short name."""
    behaviour: str
    """"soft" or "stiff"."""
    options: ChirpOptions
    """The joint."""
    springs: str = ""
    """Set of springs; empty for that of the options."""

    @property
    def inertia(self) -> float:
        """Inertia about the axis [kg m^2]."""
        return self.options.link_inertia + 0.2 * 0.04**2


def runs_of(options: ChirpOptions) -> dict[str, Run]:
    """Return the chirps of the experiment by name; every soft one has a stiff one with the same friction."""
    found = []
    for behaviour in PRESETS:
        free = replace(options, friction=0.0)
        joints = (options, ""), (options, MEASURED), (free, "")
        found += [Run(behaviour + text, behaviour, *joint) for text, joint in zip(JOINTS, joints, strict=True)]
    for inertia in HEAVIER:
        heavier = replace(options, link_inertia=inertia - 0.00032)
        found.append(Run(f"stiff, I = {inertia:g} kg m\u00b2", "stiff", heavier))
    return {run.name: run for run in found}


def build_joint(run: Run, timestep: float) -> Robot:
    """Return the one-joint robot of a chirp, in mode 6."""
    robot = build_robot(
        "qbmove-1dof",
        {
            "mode": 6,
            "preset": PRESETS[run.behaviour],
            "springs": run.springs or run.options.springs,
            "friction": run.options.friction,
            "friction_stiffness": PRESLIDING,
            "damping": run.options.damping,
            "link_inertia": run.options.link_inertia,
            "timestep": timestep,
        },
    )
    robot.set("option.gravity", -run.options.gravity)
    return robot


def simulate(run: Run, timestep: float = TIMESTEP, progress: Callable[[float], None] | None = None) -> Trace:
    """Run one chirp.

    Returns:
        "time", "joint/position", "joint/equilibrium", every millisecond or every step if that is longer.
    """
    engine = MujocoEngine(build_joint(run, timestep))
    duration = run.options.duration
    steps = round(duration / timestep)
    t = np.arange(steps) * timestep
    phase = 2.0 * math.pi * (LOW * t + 0.5 * (HIGH - LOW) / duration * t * t)
    inputs = {"joint/reference_1": AMPLITUDE * np.sin(phase), "joint/reference_2": PRESETS[run.behaviour]}
    every = max(1, round(1e-3 / timestep))
    return drive(engine, inputs, ["joint/position", "joint/equilibrium"], steps, every=every, progress=progress)


def response(time: Array, q: Array, at: Array, duration: float = 30.0) -> Array:
    """Return half the peak-to-peak value of a trace over one period around the moments of given frequencies.

    Args:
        time: time, shape (n,) [s].
        q: trace, shape (n,).
        at: frequencies, shape (m,) [Hz].
        duration: length of the chirp [s].
    """
    out = []
    for f in at:
        middle = (f - LOW) / (HIGH - LOW) * duration
        low, high = np.searchsorted(time, (middle - 0.5 / f, middle + 0.5 / f))
        part = q[max(0, low) : high + 1]
        out.append(0.5 * (part.max() - part.min()))
    return np.array(out)


def servo_amplitude(f: ArrayLike) -> Array:
    """Return the amplitude of the motors without load and friction: PD gains on inertia and damping.

    |kp / (kp - J w^2 + j w (D + kd))| times the chirp's amplitude.
    """
    motor, pid = DCMotor(), PID()
    w = 2.0 * math.pi * np.asarray(f)
    return AMPLITUDE * np.abs(pid.kp / (pid.kp - motor.inertia * w * w + 1j * w * (motor.damping + pid.kd)))


def judge_peaks(peaks: Mapping[str, float], measured: Mapping[str, float] | None = None) -> list[Statement]:
    """Judge what section 4.2.1 says about figure 11.

    Args:
        peaks: largest amplitude of "soft", "stiff", and of both with identified springs [rad].
        measured: largest amplitude of the real link by behaviour, from curves of the user [rad].
    """
    targets, found = [], []
    measured = measured or {}
    for behaviour in PRESETS:
        ours, real = peaks[behaviour], measured.get(behaviour, peaks[f"{behaviour}, identified springs"])
        other = "measured" if behaviour in measured else "identified springs"
        targets.append(
            Target(f"{behaviour}: peak deflection of the simulated link over the real one's", equals=1.0,
                   tolerance=SIMILAR, source="section 4.2.1: similar; 25 % is ours").measure(ours / real)
        )  # fmt: skip
        found.append(f"{behaviour} {ours:.4f} rad against {real:.4f} rad ({other})")
    unknown = "The curves of the real joint were never published as numbers."
    return [
        Statement(
            what="The peak deflection of the simulated link is similar to the real one's, soft and stiff.",
            where="section 4.2.1, figure 11",
            targets=targets,
            found=f"The simulated link against the real one: {', '.join(found)}.",
            rests_on="The springs of the simulated joint were never published."
            if len(measured) == len(PRESETS)
            else "The real joint's curves and the springs of the simulated one were never published as numbers. "
            "The springs that section 4.3 identifies on the authors' arm stand in for the real joint, with the same "
            "friction.",
        ),
        Statement(
            what="The simulated link equilibrium position evolves as that of the real actuator.",
            where="section 4.2.1, figure 11",
            found=f"{unknown} The simulated motors follow the transfer function of their servo (see the checks).",
        ),
        Statement(
            what="The evolution of the link and the bandwidth differ a little between simulation and reality.",
            where="section 4.2.1, figure 11",
            found=f"{unknown} The table has our amplitudes over the band.",
        ),
    ]


def verify_servo(name: str, amplitude: float, frequency: float) -> Target:
    """Check the amplitude of the motors' equilibrium against the servo's transfer function."""
    return Target(f"{name}: amplitude of the motors' equilibrium at {frequency:.1f} Hz",
                  equals=float(servo_amplitude(frequency)), relative=0.02, unit="rad",
                  source="ours: transfer function of the PD servo").measure(amplitude)  # fmt: skip


def verify_sticking(run: Run, largest: float) -> Target | None:
    """Check the angle of a link that sticks: torque of the spring over the presliding stiffness of the friction.

    Args:
        run: the chirp.
        largest: largest angle of the link [rad].

    Returns:
        The check; None where the spring's torque at the chirp's amplitude overcomes the friction.
    """
    from pliant.joints.qbmove import spring_law

    law = spring_law(run.springs or run.options.springs)
    first, second = law.map_references(AMPLITUDE, PRESETS[run.behaviour])
    torque = abs(float(type(law).torques(0.0, first, second, law.parameters())[0]))
    if torque >= run.options.friction or run.options.gravity > 0.0:
        return None
    return Target(
        f"{run.name}: largest angle of the link, which friction holds",
        equals=torque / PRESLIDING,
        relative=0.15,
        unit="rad",
        source="ours: statics of law and presliding friction",
        note=f"The spring gives {torque:.4f} N m at 0.15 rad; friction holds {run.options.friction:g} N m.",
    ).measure(largest)


def verify_heavier(run: Run, at: Array, amplitude: Array) -> list[Target]:
    """Check peak and peak frequency of a heavier stiff link against an integration by another program."""
    peak, frequency = HEAVIER[round(run.inertia, 6)]
    source = "ours: integrated without the engine"
    return [
        Target(f"{run.name}: peak", equals=peak, relative=0.02, unit="rad", source=source).measure(amplitude.max()),
        Target(f"{run.name}: frequency of the peak", equals=frequency, tolerance=0.2, unit="Hz", source=source).measure(
            at[int(np.argmax(amplitude))]
        ),
    ]


def verify_time_step(context: Context, chosen: list[Run], peaks: Mapping[str, float], at: Array) -> Target:
    """Check that twice the time step changes the largest amplitude of some runs little."""
    changes = []
    for run in context.track(chosen, "twice the time step", low=0.85, high=0.95):
        coarse = simulate(run, TIMESTEP)
        amplitude = response(coarse["time"], coarse["joint/position"], at, run.options.duration)
        changes.append(abs(float(amplitude.max() / peaks[run.name]) - 1.0))
    return Target(
        "change of the largest amplitude with twice the time step", max(changes), high=0.01, source="ours: convergence"
    )


def _films(context: Context, options: ChirpOptions) -> list[Film]:
    middle = slice(round(0.5 * options.duration / TIMESTEP), round(0.5 * options.duration / TIMESTEP) + 2000, 5)
    shots = []
    for behaviour in PRESETS:
        run = runs_of(options)[f"{behaviour}, no friction"]
        angle = simulate(run)["joint/position"]
        model = build_joint(run, TIMESTEP).compile()
        shots.append(Shot(title=behaviour, model=model, poses=angle[middle, None]))
    return [
        Film(
            name="chirp",
            caption="The joint without friction in the middle of the chirp, slowed down four times: the stiff link "
            "follows, the soft one rolls off.",
            time=TIMESTEP * 5 * np.arange(len(shots[0].poses)),
            shots=shots,
            speed=0.25,
        )
    ]


@experiment(
    "chirp",
    title="Frequency response of one qbMove",
    paper="Mengacci et al. 2021, Front. Robot. AI 8:713083",
    section="4.2.1",
    films=_films,
    cameras=("front",),
)
def chirp(context: Context, options: ChirpOptions) -> Result:
    """Move one qbMove by a chirp of 0.15 rad from 0.5 to 6 Hz, soft and stiff."""
    at = np.linspace(LOW + 0.1, HIGH - 0.1, 107)
    runs = runs_of(options)
    timestep = TIMESTEP if context.quick else 0.5 * TIMESTEP
    traces: dict[str, Trace] = {}
    link: dict[str, Array] = {}
    motor: dict[str, Array] = {}
    total = len(runs) + (0 if context.quick else 2)
    for i, run in enumerate(runs.values()):
        traces[run.name] = found = simulate(
            run, timestep, lambda f, i=i, run=run: context.progress(0.95 * (i + f) / total, run.name)
        )
        link[run.name] = response(found["time"], found["joint/position"], at, options.duration)
        motor[run.name] = response(found["time"], found["joint/equilibrium"], at, options.duration)
    peaks = {name: float(amplitude.max()) for name, amplitude in link.items()}
    heavier = [name for name in runs if "I = " in name]
    targets = [verify_servo(name, float(motor[name][-1]), float(at[-1])) for name in ("soft", "soft, no friction")]
    if options == replace(ChirpOptions(), duration=options.duration):
        targets += [t for name in heavier for t in verify_heavier(runs[name], at, link[name])]
    sticking = [verify_sticking(runs[n], float(np.abs(traces[n]["joint/position"]).max())) for n in PRESETS]
    stuck = [target for target in sticking if target is not None]
    targets += stuck
    if not context.quick:
        targets.append(verify_time_step(context, [runs[n] for n in ("soft, no friction", heavier[0])], peaks, at))
    context.progress(0.96, "figures")
    notes = [f"Time step {1e3 * timestep:g} ms, duration {options.duration:g} s, {len(runs)} runs."]
    if stuck:
        notes.insert(
            0,
            "With the default springs and the friction of 0.025 N m that the paper prints, the soft link sticks: its "
            "spring reaches 0.025 N m only at 0.166 rad, and the chirp has 0.15 rad. The paper's soft link moves, so "
            "its joint had other springs, less friction, or gravity.",
        )
    result = Result(
        statements=judge_peaks(peaks, measured_peaks(context)),
        targets=targets,
        summary=(
            "A qbMove Advanced follows, in mode 6, a chirp of 0.15 rad of its commanded equilibrium from 0.5 to 6 Hz, "
            "at the presets 0.2 (soft) and 0.6 rad (stiff), with the same friction in both. The largest link angle is "
            f"{peaks['soft']:.4f} rad soft and {peaks['stiff']:.4f} rad stiff; with the springs that were "
            f"identified on the authors' arm it is {peaks['soft, identified springs']:.4f} and "
            f"{peaks['stiff, identified springs']:.4f} rad."
        ),
        assumptions=[
            "Duration, springs, inertia of the link and direction of gravity: the paper prints none of them.",
            f"Presliding stiffness of the joint's friction: {PRESLIDING:g} N m/rad.",
            "Two heavier links show where a resonance enters the band.",
        ],
        notes=notes,
    )
    result.tables = [_table(runs, options, at, link, motor)]
    result.figures = [
        _figure_time(context, {name: traces[name] for name in runs if name not in heavier}, options.duration),
        _figure_frequency(at, link, motor["soft, no friction"]),
    ]
    for name in runs:
        key = name.replace(" kg m\u00b2", "").replace(", ", "_").replace(" = ", "").replace(" ", "_")
        result.traces[f"{key}_angle_rad"] = traces[name]["joint/position"]
        result.traces[f"{key}_equilibrium_rad"] = traces[name]["joint/equilibrium"]
    result.traces["time_s"] = traces["soft"]["time"]
    return result


def _table(
    runs: Mapping[str, Run], options: ChirpOptions, at: Array, link: Mapping[str, Array], motor: Mapping[str, Array]
) -> Table:
    """Return the amplitudes of link and motors at the frequencies ``at``."""
    rows = [
        {
            "run": name,
            "springs": run.springs or options.springs,
            "I [kg m\u00b2]": run.inertia,
            "friction [N m]": run.options.friction,
            "largest [rad]": round(float(link[name].max()), 4),
            "at [Hz]": round(float(at[int(np.argmax(link[name]))]), 2),
            "at 0.6 Hz [rad]": round(float(link[name][0]), 4),
            "at 5.9 Hz [rad]": round(float(link[name][-1]), 4),
            "motors at 5.9 Hz [rad]": round(float(motor[name][-1]), 4),
        }
        for name, run in runs.items()
    ]
    return Table.of(
        "Amplitudes",
        rows,
        "Half the peak-to-peak value of the link angle over one period. The rows of soft and stiff runs of one "
        "name have the same friction.",
    )


def measured_peaks(context: Context) -> dict[str, float]:
    """Return half the peak-to-peak value of the real link's digitised curves, by behaviour [rad]."""
    found = {}
    for behaviour in PRESETS:
        curves = read_curves(context, f"figure11-{behaviour}")
        if curves:
            found[behaviour] = max(0.5 * float(np.ptp(curve.y)) for curve in curves)
    return found


def _figure_time(context: Context, runs: dict[str, Trace], duration: float) -> Figure:
    names = list(runs)
    half = len(names) // 2
    limits = {"xlim": (0.0, duration), "ylim": (-0.27, 0.27)}
    panels = []
    for name in (names[k % half + half * column] for k in range(half) for column in (0, 1)):
        run, style = runs[name], {"alpha": 0.85, "points": 3000}
        items = [
            run.line("joint/position", color="link", linewidth=1.1, label="link", **style),
            run.line(
                "joint/equilibrium", color="equilibrium", linewidth=0.6, label="equilibrium of the motors", **style
            ),
        ]
        measured = f"figure11-{name.partition(',')[0]}"
        panels.append(Panel(items, "time [s]", "angle [rad]", name, measured=measured, **limits))
    caption = (
        "Commanded equilibrium, motors and link during the chirp. Soft on the left, stiff on the right, as in figure "
        "11 of the paper. Top: the springs of the simulated joint with the printed friction. Middle: the springs "
        "identified in section 4.3 with the same friction; unequal springs shift the soft link's middle. Bottom: no "
        "friction."
    )
    shared = {"sharex": True, "sharey": True}
    return draw("chirp", caption, panels, rows=half, context=context, height=1.7, legend=1, **shared)


def _figure_frequency(at: Array, link: dict[str, Array], motor: Array) -> Figure:
    styles: dict[str, tuple[int, object]] = {
        f"{behaviour}{joint}": (color, style)
        for behaviour, colors in (("soft", (1, 4, 1)), ("stiff", (0, 5, 0)))
        for joint, color, style in zip(JOINTS, colors, ("-", "-", (0, (5, 1.5))))
    }
    items = [
        Line(at, servo_amplitude(at), color="muted", linewidth=3.0, alpha=0.45, label="motors, computed"),
        Line(at, motor, color="muted", linewidth=1.0, label="motors, simulated"),
    ]
    for k, (name, amplitude) in enumerate(link.items()):
        color, style = styles.get(name, (2, "-" if k % 2 else (0, (1.5, 1.2))))
        items.append(Line(at, amplitude, color=color, linestyle=style, label=name))
    ticks, levels = [0.5, 1, 2, 3, 4, 5, 6], [0.003, 0.01, 0.03, 0.1, 0.3]
    rulers = {"xticks": (ticks, [f"{x:g}" for x in ticks]), "yticks": (levels, [f"{x:g}" for x in levels])}
    limits = {"xlim": (0.58, 6.1), "ylim": (0.0015, 0.4)}
    panel = Panel(items, "frequency [Hz]", "amplitude [rad]", log="xy", legend=BESIDE, **rulers, **limits)
    caption = (
        "Amplitude against frequency. The motors (grey: their transfer function) attenuate to 0.093 rad at 6 Hz; "
        "behind them the soft link rolls off, and the stiff link follows with a resonance that moves into the band as "
        "the link gets heavier. A soft link that friction holds lies below the frame."
    )
    return draw("frequency", caption, [panel], height=3.3, width=7.2)

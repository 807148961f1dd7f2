"""Steps of four compliant actuators, soft and stiff (Mengacci et al. 2021, section 4.1, figure 7)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.experiments.base import Context, Figure, Result, Table, Target, experiment
from pliant.experiments.runs import StepResponse, drive, nice_step, spring_equilibrium, step_response

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pliant.model import Robot

__all__ = ["BODIES", "CASES", "Body", "Case", "converged", "viactors_step"]

PAPER = "Mengacci et al. 2021, Front. Robot. AI 8:713083"
REFERENCE = 0.8
"""Commanded equilibrium [rad]. Section 4.1."""
DURATION = 1.5
"""Length of a run [s]; the slowest case has settled to 2 % at 1.01 s."""
RESOLUTION = 0.05
"""w dt of the runs, with the largest slope of the spring: at this the errors are far below 2 %."""
GRAVITY_TORQUE = 0.2 * 9.81 * 0.04
"""m g l of the load [N m]. Section 4.1."""


@dataclass(frozen=True, slots=True)
class Case:
    """One actuator at one stiffness."""

    actuator: str
    """Name of the actuator."""
    robot: str
    """Name of the bench in the catalogue."""
    behaviour: str
    """"soft" or "stiff"."""
    preset: float
    """Second reference: theta_sr [rad], sigma [m], or 0 for the SEA."""
    text: str
    """The setting as the paper prints it."""
    k: float | None = None
    """Spring of the SEA [N m/rad]."""

    @property
    def name(self) -> str:
        """Actuator and behaviour."""
        return f"{self.actuator} {self.behaviour}"

    def build(self, body: Body, timestep: float = 1e-3) -> Robot:
        """Return the bench of the case on a body."""
        from pliant.robots import build_robot

        options: dict[str, Any] = {"link_inertia": body.link_inertia, "damping": body.damping, "timestep": timestep}
        if self.k is not None:
            options["k"] = self.k
        else:
            options["preset"] = self.preset
        return build_robot(self.robot, options)


@dataclass(frozen=True, slots=True)
class Body:
    """Assumptions about the link."""

    link_inertia: float
    """Inertia beside that of the load [kg m^2]."""
    damping: float
    """Damping of the bearing [N m s/rad]."""

    @property
    def inertia(self) -> float:
        """Inertia about the axis [kg m^2]."""
        return self.link_inertia + 0.2 * 0.04**2

    @property
    def text(self) -> str:
        """Both numbers with units."""
        return f"I = {self.inertia:.3g} kg m\u00b2, d = {self.damping:.3g} N m s/rad"


CASES: tuple[Case, ...] = (
    Case("SEA", "sea-1dof", "soft", 0.0, "k = 200 N m/rad", k=200.0),
    Case("SEA", "sea-1dof", "stiff", 0.0, "k = 400 N m/rad", k=400.0),
    Case("AwAS-II", "awas2-1dof", "soft", 0.005, "\u03c3 = 0.005 m"),
    Case("AwAS-II", "awas2-1dof", "stiff", 0.04, "\u03c3 = 0.04 m"),
    Case("BAVS", "bavs-1dof", "soft", 0.001, "\u03b8sr = 0.001 rad"),
    Case("BAVS", "bavs-1dof", "stiff", 0.22, "\u03b8sr = 0.22 rad"),
    Case("qbMove", "qbmove-1dof", "soft", 0.2, "\u03b8sr = 0.2 rad"),
    Case("qbMove", "qbmove-1dof", "stiff", 0.6, "\u03b8sr = 0.6 rad"),
)
"""The eight cases of section 4.1."""

BODIES: tuple[Body, ...] = (Body(0.002, 0.065), Body(0.002, 0.02), Body(0.0, 0.065))
"""The link of the toolbox's template with the damping of section 4.2; with the template's damping; the load alone."""

SAGGING = ("AwAS-II soft", "qbMove soft")
"""Where the paper sees the load (section 4.1)."""


def converged(case: Case, body: Body, duration: float = DURATION) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Integrate law, load and damping with an adaptive method of order 8, without the engine.

    Args:
        case: actuator and setting.
        body: inertia and damping.
        duration: length [s].

    Returns:
        (time, angle): every 20 us, shape (n,) [s], [rad].
    """
    from scipy.integrate import solve_ivp

    law = case.build(body).actuators["joint"].law
    p = law.parameters().tolist()
    theta_1, theta_2 = law.map_references(REFERENCE, case.preset)
    torques, inertia, damping = type(law).torques, body.inertia, body.damping

    def rate(t: float, y: Sequence[float]) -> tuple[float, float]:
        torque = torques(y[0], theta_1, theta_2, p)[0] - damping * y[1] - GRAVITY_TORQUE * math.cos(y[0])
        return y[1], torque / inertia

    solution = solve_ivp(
        rate, (0.0, duration), (0.0, 0.0), method="DOP853", rtol=1e-9, atol=1e-10, max_step=0.01, dense_output=True
    )
    time = np.linspace(0.0, duration, round(duration / 2e-5) + 1)
    assert solution.sol is not None
    angle = np.concatenate([solution.sol(part)[0] for part in np.array_split(time, 60)])
    return time, angle


def simulate(case: Case, body: Body, timestep: float, duration: float = DURATION) -> dict[str, NDArray[np.float64]]:
    """Run the step in the engine.

    Returns:
        "time", "joint/position", "joint/torque" at every step.
    """
    from pliant.engine import MujocoEngine

    engine = MujocoEngine(case.build(body, timestep), check=False, guard=False)
    inputs = {"joint/reference_1": REFERENCE}
    if case.k is None:
        inputs["joint/reference_2"] = case.preset
    return drive(engine, inputs, ["joint/position", "joint/torque"], round(duration / timestep))


def link_step_size(case: Case, body: Body, timestep: float = 1e-3) -> Any:
    """Return the check's finding about the link, with the spring's largest slope."""
    from pliant.laws import Mode
    from pliant.model.check import step_sizes

    rows = step_sizes(case.build(body, timestep), modes={"joint": Mode.SPRING_EQ_PRESET}, poses=0)
    return next(row for row in rows if row.element == "link" and row.at == "rest")


def perturbation_growth(case: Case, body: Body, timestep: float, steps: int = 400) -> NDArray[np.float64]:
    """Return how a tiny disturbance grows around the point where the spring is stiffest, step by step.

    A constant external torque makes that point an equilibrium.

    Returns:
        |q - q0| over its initial value, shape (steps + 1,).
    """
    from pliant.engine import MujocoEngine

    robot = case.build(body, timestep)
    law = robot.actuators["joint"].law
    p = law.parameters().tolist()
    theta = law.map_references(REFERENCE, case.preset)
    grid = REFERENCE + np.linspace(-1.0, 1.0, 20001)
    best = int(np.argmax([type(law).stiffness(q, *theta, p) for q in grid.tolist()]))
    # One step of the grid inside, away from a clip.
    q0 = float(grid[best] + (1e-4 if grid[best] < REFERENCE else -1e-4 if grid[best] > REFERENCE else 0.0))
    engine = MujocoEngine(robot, check=False, guard=False)
    engine.set_pose({"joint": q0})
    engine.port("joint/reference_1")[0] = REFERENCE
    if case.k is None:
        engine.port("joint/reference_2")[0] = case.preset
    torque = float(type(law).torques(q0, *theta, p)[0])
    engine.port("joint/external_torque")[0] = GRAVITY_TORQUE * math.cos(q0) - torque
    tiny = 1e-9
    q = engine.port("joint/position")
    q[0] = q0 + tiny
    out = np.empty(steps + 1)
    out[0] = 1.0
    for k in range(steps):
        engine.step()
        out[k + 1] = abs(q[0] - q0) / tiny
    return out


@experiment("viactors-step", title="Steps of four compliant actuators", paper=PAPER, section="4.1")
def viactors_step(context: Context) -> Result:
    """Step four compliant actuators by 0.8 rad, soft and stiff, each with a load under gravity."""
    bodies = BODIES[:1] if context.quick else BODIES
    result = Result(
        summary=(
            "Four one-joint benches carry 0.2 kg at 0.04 m from the axis, under gravity, and are stepped from rest at "
            "0 to an equilibrium of 0.8 rad in mode 3 (ideal motors), soft and stiff. Where each comes to rest is "
            "decided by its spring and the load; how it gets there also by the inertia and damping of the link, which "
            "the paper does not print: three choices are run. Peak, rise and settling are compared with an integration "
            "of the same equations of order 8 and tolerance 1e-9 that uses neither engine nor compiled code."
        ),
        assumptions=[
            "At q = 0 the arm is horizontal, so the load is m g l cos q; the paper does not say.",
            f"The link's inertia is the toolbox template's 0.002 kg m\u00b2 ({bodies[0].text}), or nothing beside the "
            "load's; its damping is that of section 4.2, or the template's.",
            "The paper prints neither the time step nor the integrator of its simulation.",
        ],
    )
    finals = {case: _final(case, bodies[0]) for case in CASES}
    runs: dict[Case, dict[str, NDArray[np.float64]]] = {}
    truth: dict[Case, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
    transients: list[list[Any]] = []
    steps: list[list[Any]] = []
    work = [(body, case) for body in bodies for case in CASES]
    for body, case in context.track(work, lambda w: f"{w[1].name}, {w[0].text}", high=0.6):
        size = link_step_size(case, body)
        h = nice_step(RESOLUTION / (size.ratio / size.timestep))
        traces = simulate(case, body, h)
        found = step_response(traces["time"], traces["joint/position"], finals[case])
        true_time, true_q = converged(case, body)
        true = step_response(true_time, true_q, finals[case])
        if body is bodies[0]:
            runs[case], truth[case] = traces, (true_time, true_q)
            result.targets.append(
                Target(
                    f"Final angle: {case.name} ({case.text})",
                    float(traces["joint/position"][-1]),
                    equals=finals[case],
                    tolerance=1e-4,
                    unit="rad",
                    source="law and statics",
                )
            )
            steps.append(
                [
                    case.name,
                    size.stiffness,
                    1e3 * h,
                    size.ratio * h / size.timestep,
                    1e3 * size.limit,
                ]
            )
        result.targets.extend(_transient_targets(case, body, found, true))
        transients.append([case.name, body.inertia, body.damping, *_cells(found), *_cells(true)])
    for case in CASES:
        sag = REFERENCE - float(runs[case]["joint/position"][-1])
        band = 0.02 * REFERENCE
        bound = {"low": band} if case.name in SAGGING else {"low": 0.0, "high": band}
        result.targets.append(
            Target(
                f"Sag under the load: {case.name}",
                sag,
                **bound,  # type: ignore[arg-type]
                unit="rad",
                source="section 4.1: seen for AwAS-II and qbMove soft only",
                note="Seen means more than 2 % of the step." if case is CASES[0] else "",
            )
        )

    growth = {}
    for case in context.track(CASES, lambda c: f"step-size bound of {c.name}", low=0.6, high=0.7):
        bounds, targets = _bound(case, bodies[0])
        growth[case] = bounds
        result.targets.extend(targets)
    errors = {}
    fractions = (0.02, 0.1, 0.5) if context.quick else (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7)
    for case in context.track(CASES, lambda c: f"time steps of {c.name}", low=0.7, high=0.93):
        errors[case] = _errors(case, bodies[0], *truth[case], fractions)

    context.progress(0.94, "figures")
    result.figures = [
        Figure(
            name="steps",
            caption="Spring and step response of the four actuators, soft and stiff. Left, the torque of the spring "
            "against its deflection at both settings; dots mark where the load of 0.2 kg at 0.04 m rests. Right, the "
            f"response to a step of 0.8 rad with {bodies[0].text} (figure 7 of the paper). The soft AwAS-II and the "
            "soft qbMove come to rest visibly below the reference, the others do not.",
            figure=_figure_steps(runs, finals),
        ),
        Figure(
            name="time_step",
            caption="Error against time step. Largest distance from the converged response over the first 0.3 s, "
            "against the time step as a fraction of the bound that the check reports. The error falls with the step, "
            "with the slope of a first-order method; dots on the left are far finer than a run needs.",
            figure=_figure_errors(errors),
        ),
        Figure(
            name="bound",
            caption="The bound of the time step. Growth of a disturbance of 1e-9 rad at the spring's stiffest point, "
            "with 0.98 (thin) and 1.02 times (thick) the time step that the check reports as its bound: it dies out, "
            "or explodes.",
            figure=_figure_bounds(growth),
        ),
    ]
    result.tables = [
        Table(
            title="Transients, with the converged values",
            columns=[
                "case",
                "I [kg m\u00b2]",
                "d [N m s/rad]",
                "peak [rad]",
                "rise [ms]",
                "settling [s]",
                "converged peak",
                "rise",
                "settling",
            ],
            rows=transients,
            note="Rise is from 10 % to 90 % of the final angle, settling the last time outside 2 % of it.",
        ),
        Table(
            title="Time steps",
            columns=["case", "largest slope [N m/rad]", "step used [ms]", "w dt", "stable below [ms]"],
            rows=steps,
            note=f"For {bodies[0].text}; the step is chosen by the check's w dt of at most {RESOLUTION:g}.",
        ),
    ]
    result.notes = _notes(bodies, steps)
    for case in CASES:
        key = case.name.lower().replace(" ", "_").replace("-", "")
        result.traces[f"{key}_time_s"] = runs[case]["time"]
        result.traces[f"{key}_angle_rad"] = runs[case]["joint/position"]
    context.progress(0.97, "writing the report")
    return result


def _final(case: Case, body: Body) -> float:
    law = case.build(body).actuators["joint"].law
    return spring_equilibrium(law, REFERENCE, case.preset, lambda q: -GRAVITY_TORQUE * math.cos(q))


def _transient_targets(case: Case, body: Body, found: StepResponse, true: StepResponse) -> list[Target]:
    head = f"Transients with {body.text}: {case.name}"
    common: dict[str, Any] = {"relative": 0.02, "source": "converged integration"}
    return [
        Target(f"{head}, peak", found.peak, equals=true.peak, unit="rad", **common),
        Target(f"{head}, rise", 1e3 * found.rise, equals=1e3 * true.rise, unit="ms", **common),
        Target(f"{head}, settling", found.settling, equals=true.settling, unit="s", **common),
    ]


def _cells(response: StepResponse) -> list[float]:
    return [round(response.peak, 4), round(1e3 * response.rise, 3), round(response.settling, 4)]


def _bound(case: Case, body: Body) -> tuple[dict[float, NDArray[np.float64]], list[Target]]:
    limit = link_step_size(case, body).limit
    growth = {factor: perturbation_growth(case, body, factor * limit) for factor in (0.98, 1.02)}
    refused = any(p.severity == "error" for p in case.build(body, 1.02 * limit).check())
    head = f"Step-size bound: {case.name}, "
    source = "h\u00b2 K < 4 I + 2 h d (semi-implicit Euler, implicit damping)"
    return growth, [
        Target(f"{head}growth at 0.98 of it", float(growth[0.98][-100:].max()), high=10.0, source=source),
        Target(f"{head}growth at 1.02 of it", float(growth[1.02].max()), low=1e4, source=source),
        Target(f"{head}the check refuses 1.02 of it", float(refused), equals=1.0, source="must be refused"),
    ]


def _errors(
    case: Case,
    body: Body,
    true_time: NDArray[np.float64],
    true_q: NDArray[np.float64],
    fractions: Sequence[float],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    limit = link_step_size(case, body).limit
    rows = []
    for fraction in fractions:
        traces = simulate(case, body, fraction * limit, 0.3)
        error = np.abs(traces["joint/position"] - np.interp(traces["time"], true_time, true_q))
        rows.append((fraction, float(error.max())))
    return tuple(np.array(rows).T)  # type: ignore[return-value]


def _notes(bodies: Sequence[Body], steps: list[list[Any]]) -> list[str]:
    notes = [
        "Every case runs with a time step of its own, chosen by the check so that w dt stays at or below "
        f"{RESOLUTION:g}: from {min(s[2] for s in steps):g} ms for the stiff AwAS-II (3556 N m/rad) to "
        f"{max(s[2] for s in steps):g} ms. The paper's simulator ran all of them with one step.",
        "The stable bound is larger than 2 sqrt(I/K), since the joint's damping is integrated implicitly: "
        "h\u00b2 K < 4 I + 2 h d.",
        "The step starts beyond the deflection limit of AwAS-II (0.3 rad), BAVS (0.27 rad) and qbMove (0.8 rad less "
        "the preset): the spring's torque is held there, as in the original toolbox, so it accelerates with constant "
        "torque first.",
        "A rise of the order of a millisecond depends on how finely a response is sampled. Here crossings are "
        "interpolated; a sampling of 0.1 ms would shift the rise of the SEA and of the stiff AwAS-II by up to 0.1 ms.",
    ]
    if len(bodies) < len(BODIES):
        notes.append("Quick version: only the first of the three links, and fewer time steps.")
    return notes


# -- figures ----------------------------------------------------------------------------------------------


def _figure_steps(runs: dict[Case, dict[str, NDArray[np.float64]]], finals: dict[Case, float]) -> Any:
    from pliant.experiments.style import COLORS, INK, label, legend, new_figure, thin

    figure, axes = new_figure(4, 2, height=1.95, gridspec_kw={"width_ratios": [1.0, 1.75]})
    pairs = [CASES[i : i + 2] for i in range(0, len(CASES), 2)]
    for row, pair in enumerate(pairs):
        left, right = axes[row]
        right.axhline(REFERENCE, color=COLORS["reference"], linewidth=1.0, linestyle=(0, (4, 3)), label="reference")
        span = {"SEA": 0.002, "AwAS-II": 0.45, "BAVS": 0.4, "qbMove": 0.75}[pair[0].actuator]
        phi = np.linspace(-span, span, 801)
        for case in reversed(pair):
            color = COLORS[case.behaviour]
            law = case.build(BODIES[0]).actuators["joint"].law
            theta, p = law.map_references(0.0, case.preset), law.parameters().tolist()
            left.plot(phi, [-type(law).torques(x, *theta, p)[0] for x in phi.tolist()], color=color)
            rest = finals[case] - REFERENCE
            left.plot([rest], [-GRAVITY_TORQUE * math.cos(finals[case])], "o", color=color, markersize=4.5, zorder=5)
            time, q = thin(runs[case]["time"], runs[case]["joint/position"], points=2500)
            right.plot(time, q, color=color, linewidth=1.2, label=f"{case.behaviour}, {case.text}")
        top = {"SEA": 0.42, "AwAS-II": 2.4, "BAVS": 7.0, "qbMove": 1.7}[pair[0].actuator]
        left.set_ylim(-top, top)
        left.set_xlim(-span, span)
        left.axhline(0.0, color=INK, linewidth=0.6)
        left.axvline(0.0, color=INK, linewidth=0.6)
        right.set_xlim(0.0, 0.6)
        right.set_ylim(-0.05, 1.65)
        right.set_yticks([0.0, 0.4, 0.8, 1.2, 1.6])
        last = row == len(pairs) - 1
        label(left, "deflection [rad]" if last else "", "torque [N m]", pair[0].actuator)
        label(right, "time [s]" if last else "", "link angle [rad]")
        handles, labels = right.get_legend_handles_labels()
        order = [2, 1, 0] if row == 0 else [2, 1]
        legend(
            right,
            handles=[handles[i] for i in order],
            labels=[labels[i] for i in order],
            loc="lower right",
            bbox_to_anchor=(1.02, 0.97),
            ncols=3,
            columnspacing=1.2,
        )
    return figure


def _figure_errors(errors: dict[Case, tuple[NDArray[np.float64], NDArray[np.float64]]]) -> Any:
    from pliant.experiments.style import COLORS, CYCLE, label, legend, new_figure

    figure, axis = new_figure(height=3.1, width=6.4)
    actuators = list(dict.fromkeys(case.actuator for case in errors))
    for case, (fraction, error) in errors.items():
        color = CYCLE[actuators.index(case.actuator)]
        soft = case.behaviour == "soft"
        axis.loglog(
            fraction,
            error,
            marker="o",
            markersize=4,
            markerfacecolor="none" if soft else color,
            color=color,
            linestyle=(0, (4, 2)) if soft else "-",
            linewidth=1.3,
            label=case.name,
        )
    x = np.array([0.01, 0.1])
    axis.loglog(x, 0.01 * x, color=COLORS["reference"], linewidth=1.0)
    axis.text(0.032, 2.2e-4, "slope 1", color=COLORS["reference"], fontsize=8, ha="left", va="top")
    label(axis, "time step / largest stable time step", "largest error of the angle [rad]")
    legend(axis, loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def _figure_bounds(growth: dict[Case, dict[float, NDArray[np.float64]]]) -> Any:
    from pliant.experiments.style import COLORS, CYCLE, label, legend, new_figure

    figure, axis = new_figure(height=2.9, width=6.4)
    actuators = list(dict.fromkeys(case.actuator for case in growth))
    for case, traces in growth.items():
        color = CYCLE[actuators.index(case.actuator)]
        style = (0, (4, 2)) if case.behaviour == "soft" else "-"
        # The largest of 16 steps: the disturbance swings through zero.
        window = np.lib.stride_tricks.sliding_window_view(traces[0.98], 16).max(axis=1)
        axis.semilogy(window[:201], color=color, linewidth=0.9, linestyle=style)
        grown = traces[1.02]
        # Beyond this the disturbance reaches softer parts of the spring.
        end = int(np.argmax(grown > 1e4)) + 1 if (grown > 1e4).any() else grown.size
        axis.semilogy(grown[: min(end, 201)], color=color, linewidth=2.0, linestyle=style, label=case.name)
    axis.axhline(1.0, color=COLORS["reference"], linewidth=0.8)
    axis.set_ylim(1e-4, 2e4)
    axis.set_xlim(0, 200)
    axis.text(62, 1.2e4, "1.02 times the bound", color=COLORS["reference"], fontsize=8, va="top")
    axis.text(197, 4e-4, "0.98 times the bound", color=COLORS["reference"], fontsize=8, ha="right", va="bottom")
    label(axis, "steps", "disturbance / initial disturbance")
    legend(axis, loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure

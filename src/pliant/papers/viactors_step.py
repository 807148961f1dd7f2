"""Steps of four compliant actuators, soft and stiff (Mengacci et al. 2021, section 4.1, figure 7)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.base.figures import CYCLE
from pliant.base.options import option
from pliant.engine import MujocoEngine
from pliant.experiments.base import Context, Figure, Result, Statement, Table, Target, experiment
from pliant.experiments.curves import table_of_curves
from pliant.experiments.films import Film, Shot
from pliant.experiments.panels import BESIDE, DASHED, Level, Line, Note, Panel, draw
from pliant.experiments.runs import StepResponse, drive, nice_step, spring_equilibrium, step_response
from pliant.experiments.trace import Trace
from pliant.laws import Mode
from pliant.model.check import step_sizes
from pliant.robots import build_robot

if TYPE_CHECKING:
    from pliant.base.numerics import Array
    from pliant.experiments.panels import Item
    from pliant.model import Robot
    from pliant.model.check import StepSize

PAPER = "Mengacci et al. 2021, Front. Robot. AI 8:713083"
REFERENCE = 0.8
"""Commanded equilibrium [rad]. Section 4.1."""
DURATION = 1.5
"""Least length of a run [s]; with the damping of section 4.2 the slowest case has settled to 2 % at 1.01 s."""
MAX_DURATION = 20.0
"""Largest length of a run, for links that hardly have damping [s]."""
RESOLUTION = 0.05
"""w dt of the runs, with the largest slope of the spring: at this the errors are far below 2 %."""
GRAVITY_TORQUE = 0.2 * 9.81 * 0.04
"""m g l of the load [N m]. Section 4.1."""
VISIBLE = 0.02 * REFERENCE
"""Distance from the reference above which a rest is visibly "affected by the gravitational contribution" [rad]: ours,
2 % of the step."""
VARIATION = 0.05
"""By how much each parameter of a spring is varied to see how firm a verdict is, as a fraction of it: ours."""
UNMOVED = ("SEA soft", "SEA stiff", "BAVS soft", "BAVS stiff")
"""Cases of which section 4.1 mentions no effect of gravity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ViactorsOptions:
    """Assumptions of the experiment."""

    link_inertia: float = option(0.002, unit="kg m^2", low=0.0, high=1.0, source="assumed: the toolbox's template")
    """Inertia of the link beside that of the load."""
    damping: float = option(0.065, unit="N m s/rad", low=0.0, high=10.0, source="section 4.2")
    """Damping of the bearing."""
    at_zero: str = option("horizontal", choices=("horizontal", "hanging"), source="assumed")
    """Position of the load at q = 0."""


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
        options: dict[str, Any] = {"link_inertia": body.link_inertia, "damping": body.damping, "timestep": timestep}
        if self.k is not None:
            options["k"] = self.k
        else:
            options["preset"] = self.preset
        robot = build_robot(self.robot, options)
        if body.hanging:
            robot.set("option.gravity", [9.81, 0.0, 0.0])
        return robot


@dataclass(frozen=True, slots=True)
class Body:
    """Assumptions about the link."""

    link_inertia: float
    """Inertia beside that of the load [kg m^2]."""
    damping: float
    """Damping of the bearing [N m s/rad]."""
    hanging: bool = False
    """Whether the load hangs at q = 0; otherwise it is horizontal there."""

    def load(self, q: float) -> float:
        """Return the torque of the load on the link [N m]."""
        return -GRAVITY_TORQUE * (math.sin(q) if self.hanging else math.cos(q))

    @property
    def inertia(self) -> float:
        """Inertia about the axis [kg m^2]."""
        return self.link_inertia + 0.2 * 0.04**2

    @property
    def duration(self) -> float:
        """Time after which an oscillation has decayed by exp(-14), a millionth [s]."""
        return min(MAX_DURATION, max(DURATION, 14.0 * 2.0 * self.inertia / max(self.damping, 1e-9)))

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

OTHER_BODIES: tuple[tuple[float, float], ...] = ((0.002, 0.02), (0.0, 0.065))
"""Further choices of (link inertia [kg m^2], damping [N m s/rad]): the template's damping; the load alone."""
BODIES: tuple[Body, ...] = (Body(0.002, 0.065), *(Body(inertia, damping) for inertia, damping in OTHER_BODIES))
"""The link of the toolbox's template with the damping of section 4.2, and the others."""


def converged(case: Case, body: Body) -> tuple[Array, Array]:
    """Integrate law, load and damping with an adaptive method of order 8, without the engine.

    Args:
        case: actuator and setting.
        body: inertia and damping.

    Returns:
        (time, angle): every 20 us, shape (n,) [s], [rad].
    """
    from scipy.integrate import solve_ivp

    law = case.build(body).actuators["joint"].law
    p = law.parameters().tolist()
    theta_1, theta_2 = law.map_references(REFERENCE, case.preset)
    torques, inertia, damping, load = type(law).torques, body.inertia, body.damping, body.load

    def rate(t: float, y: Sequence[float]) -> tuple[float, float]:
        torque = torques(y[0], theta_1, theta_2, p)[0] - damping * y[1] + load(y[0])
        return y[1], torque / inertia

    solution = solve_ivp(
        rate, (0.0, body.duration), (0.0, 0.0), method="DOP853", rtol=1e-9, atol=1e-10, max_step=0.01, dense_output=True
    )
    time = np.linspace(0.0, body.duration, round(body.duration / 2e-5) + 1)
    assert solution.sol is not None
    angle = np.concatenate([solution.sol(part)[0] for part in np.array_split(time, 60)])
    return time, angle


def simulate(case: Case, body: Body, timestep: float, duration: float | None = None) -> Trace:
    """Run the step in the engine.

    Returns:
        "time", "joint/position", "joint/torque" at every step.
    """
    engine = MujocoEngine(case.build(body, timestep), check=False, guard=False)
    inputs = {"joint/reference_1": REFERENCE}
    if case.k is None:
        inputs["joint/reference_2"] = case.preset
    return drive(engine, inputs, ["joint/position", "joint/torque"], round((duration or body.duration) / timestep))


def link_step_size(case: Case, body: Body, timestep: float = 1e-3) -> StepSize:
    """Return the check's finding about the link, with the spring's largest slope."""
    rows = step_sizes(case.build(body, timestep), modes={"joint": Mode.SPRING_EQ_PRESET}, poses=0)
    return next(row for row in rows if row.element == "link" and row.at == "rest")


def perturbation_growth(case: Case, body: Body, timestep: float) -> Array:
    """Return how a tiny disturbance grows around the point where the spring is stiffest, step by step.

    A constant external torque makes that point an equilibrium.

    Returns:
        |q - q0| over its initial value, shape (401,).
    """
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
    torque = float(type(law).torques(q0, *theta, p)[0])
    inputs = {"joint/reference_1": REFERENCE, "joint/external_torque": -body.load(q0) - torque}
    if case.k is None:
        inputs["joint/reference_2"] = case.preset
    tiny = 1e-9
    engine.port("joint/position")[0] = q0 + tiny
    growth = np.abs(drive(engine, inputs, ["joint/position"], 400)["joint/position"] - q0) / tiny
    growth[0] = 1.0
    return growth


def simulate_case(case: Case, body: Body) -> CaseRun:
    """Run one case with a step that resolves it, and integrate it independently."""
    final = _final(case, body)
    size = link_step_size(case, body)
    timestep = nice_step(RESOLUTION / (size.ratio / size.timestep))
    traces = simulate(case, body, timestep)
    found = step_response(traces["time"], traces["joint/position"], final)
    truth = converged(case, body)
    return CaseRun(case, body, final, timestep, size, traces, found, truth, step_response(*truth, final))


@dataclass(frozen=True, slots=True)
class CaseRun:
    """One case on one body."""

    case: Case
    """Actuator and setting."""
    body: Body
    """Link."""
    final: float
    """Where spring and load balance [rad]."""
    timestep: float
    """Time step of the run [s]."""
    size: StepSize
    """The check's finding about the link."""
    traces: Trace
    """The run."""
    found: StepResponse
    """Its numbers."""
    truth: tuple[Array, Array]
    """Time and angle of the independent integration."""
    true: StepResponse
    """Its numbers."""

    @property
    def rest(self) -> float:
        """Where the run ends [rad]."""
        return float(self.traces["joint/position"][-1])

    @property
    def checks(self) -> list[Target]:
        """Statics and transients against what is computed without the engine."""
        return [
            Target(f"Final angle with {self.body.text}: {self.case.name} ({self.case.text})", self.rest,
                   equals=self.final, tolerance=1e-4, unit="rad", source="ours: balance of the law and the load"),
            *_transient_targets(self.case, self.body, self.found, self.true),
        ]  # fmt: skip


def varied_rests(case: Case, body: Body) -> list[float]:
    """Return the rests of a case by statics with each uncertain number a little different [rad].

    Each parameter of the spring that is not a limit is `VARIATION` smaller and larger, one at a time; the second
    reference is half a unit of its last printed digit smaller and larger.
    """
    law = case.build(body).actuators["joint"].law
    settings = [(law, case.preset)]
    for field in dataclasses.fields(law):
        value = getattr(law, field.name)
        if isinstance(value, float) and field.name != "max_deflection":
            settings += [
                (dataclasses.replace(law, **{field.name: value * (1.0 + s * VARIATION)}), case.preset)
                for s in (-1.0, 1.0)
            ]
    if case.k is None:
        half = 0.5 * 10.0 ** -len(f"{case.preset}".partition(".")[2])
        settings += [(law, case.preset + s * half) for s in (-1.0, 1.0)]
    return [spring_equilibrium(one, REFERENCE, preset, body.load) for one, preset in settings]


def _firmness(names: Sequence[str], varied: dict[str, list[float]], visible: bool) -> str:
    """Return between which distances the rests of the cases vary, and how often the verdict turns."""
    text = []
    for name in names:
        away = [abs(REFERENCE - q) for q in varied[name]]
        turned = sum((distance > VISIBLE) != visible for distance in away[1:])
        text.append(
            f"{name} {1e3 * min(away):.1f} to {1e3 * max(away):.1f} mrad, "
            + (f"on the other side of the limit in {turned} of {len(away) - 1}" if turned else "always on this side")
        )
    fragile = "fragile" if any("other side" in part for part in text) else "firm"
    return (
        f" The verdict is {fragile}: with each parameter of the spring {100 * VARIATION:g} % smaller or larger, and "
        f"the printed setting half of its last digit off, the distances are {'; '.join(text)} (the limit, "
        f"{1e3 * VISIBLE:g} mrad, is ours)."
    )


def statements(rest: dict[str, float], hanging: dict[str, float], varied: dict[str, list[float]]) -> list[Statement]:
    """Return what section 4.1 says.

    Args:
        rest: final angle by name of the case [rad].
        hanging: the same by statics, if the load hangs at q = 0 [rad].
        varied: by name of the case, what `varied_rests` returns [rad].
    """

    def sag(name: str) -> str:
        return f"{name} {1e3 * (REFERENCE - rest[name]):.1f} mrad"

    def target(name: str, visible: bool) -> Target:
        return Target(f"Distance of the rest from the reference: {name}", abs(REFERENCE - rest[name]),
                      low=VISIBLE if visible else None, high=None if visible else VISIBLE, unit="rad",
                      source="section 4.1; 2 % of the step is ours")  # fmt: skip

    moved, still = ("AwAS-II soft", "qbMove soft"), ("AwAS-II stiff", "qbMove stiff", *UNMOVED)
    low = 1e3 * max(abs(REFERENCE - rest[name]) for name in still)
    high = 1e3 * min(abs(REFERENCE - rest[name]) for name in moved)
    margin = f"; the verdicts are the same for every limit from {low:.1f} to {high:.1f} mrad" if low < high else ""
    rests_on = (
        "The direction of gravity at q = 0 and the parameters of the springs, which are the toolbox's. If the load "
        "hangs at q = 0, the distances are "
        + ", ".join(f"{name} {1e3 * abs(REFERENCE - value):.1f}" for name, value in hanging.items())
        + " mrad."
    )
    return [
        Statement(
            what="AwAS-II, soft: gravity visibly affects the regulation of the link.",
            where="section 4.1, figure 7 (ii)",
            targets=[target("AwAS-II soft", True)],
            found=f"The link rests below 0.8 rad: {sag('AwAS-II soft')} (2 % of the step are 16 mrad{margin})."
            + _firmness(["AwAS-II soft"], varied, True),
            rests_on=rests_on,
        ),
        Statement(
            what="qbMove, soft: gravity visibly affects the regulation of the link.",
            where="section 4.1, figure 7 (iv)",
            targets=[target("qbMove soft", True)],
            found=f"The link rests below 0.8 rad: {sag('qbMove soft')}." + _firmness(["qbMove soft"], varied, True),
            rests_on=rests_on,
        ),
        Statement(
            what="AwAS-II and qbMove, stiff: the regulation is performed correctly.",
            where="section 4.1, figure 7 (ii), (iv)",
            targets=[target("AwAS-II stiff", False), target("qbMove stiff", False)],
            found=f"The links rest below 0.8 rad: {sag('AwAS-II stiff')}, {sag('qbMove stiff')}."
            + _firmness(["AwAS-II stiff", "qbMove stiff"], varied, False),
            rests_on=rests_on,
        ),
        Statement(
            what="SEA and BAVS: gravity does not noticeably affect the regulation, soft or stiff; the paper only says "
            "that the effect is particularly noticeable for the other two.",
            where="section 4.1, implied",
            targets=[target(name, False) for name in UNMOVED],
            found="The links rest below 0.8 rad: "
            + ", ".join(sag(name) for name in UNMOVED)
            + "."
            + _firmness(UNMOVED, varied, False),
            rests_on=rests_on,
        ),
        Statement(
            what="The step responses of figure 7: rise, overshoot and oscillation of the eight cases.",
            where="figure 7, right column",
            found="The responses are printed as drawings only, and they depend on the link's inertia and damping, "
            "which were never published; the tables have ours for three choices.",
        ),
    ]


FILM_DURATION = 2.0
"""Length of the film of the steps [s]."""


def _films(context: Context, options: ViactorsOptions) -> list[Film]:
    body = Body(options.link_inertia, options.damping, options.at_zero == "hanging")
    shots = []
    for case in context.track(CASES, lambda case: f"film of {case.name}"):
        traces = simulate(case, body, 2e-4, FILM_DURATION)
        time, angle = traces["time"], traces["joint/position"]
        every = slice(None, None, 50)
        shots.append(Shot(title=case.name, model=case.build(body).compile(), poses=angle[every, None]))
    return [
        Film(
            name="steps",
            caption="The step of four actuators, soft and stiff in turn, each with the same load: the soft ones swing "
            "longer and sag more.",
            time=time[every],
            shots=shots,
            size="240x320",
            speed=0.5,
        )
    ]


@experiment(
    "viactors-step",
    title="Steps of four compliant actuators",
    paper=PAPER,
    section="4.1",
    films=_films,
    cameras=("front",),
)
def viactors_step(context: Context, options: ViactorsOptions) -> Result:
    """Step four compliant actuators by 0.8 rad, soft and stiff, each with a load under gravity."""
    hangs = options.at_zero == "hanging"
    bodies = [Body(options.link_inertia, options.damping, hangs)]
    if not context.quick:
        bodies += [b for b in (Body(i, d, hangs) for i, d in OTHER_BODIES) if b != bodies[0]]
    work = [(body, case) for body in bodies for case in CASES]
    every = [
        simulate_case(case, body) for body, case in context.track(work, lambda w: f"{w[1].name}, {w[0].text}", high=0.6)
    ]
    first = {run.case: run for run in every if run.body is bodies[0]}
    growth, bounds = {}, []
    for case in context.track(CASES, lambda c: f"step-size bound of {c.name}", low=0.6, high=0.7):
        growth[case], targets = _bound(case, bodies[0])
        bounds.extend(targets)
    errors = {}
    fractions = (0.02, 0.1, 0.5) if context.quick else (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7)
    for case in context.track(CASES, lambda c: f"time steps of {c.name}", low=0.7, high=0.93):
        errors[case] = _errors(case, bodies[0], *first[case].truth, fractions)

    context.progress(0.94, "figures")
    result = Result(
        statements=statements(
            {case.name: run.rest for case, run in first.items()},
            {case.name: _final(case, Body(0.0, 0.0, hanging=True)) for case in CASES},
            {case.name: varied_rests(case, bodies[0]) for case in CASES},
        ),
        summary=(
            "SEA, AwAS-II, BAVS and qbMove each make a step of 0.8 rad, soft and stiff, with a load under gravity. The "
            "statements of section 4.1 are judged by the angle at which each link rests."
        ),
        targets=[*(target for run in every for target in run.checks), *bounds],
        assumptions=[
            "At q = 0 the arm is horizontal, so the load is m g l cos q; the paper does not say. `at_zero` changes it.",
            f"The link's inertia is the toolbox template's 0.002 kg m\u00b2 ({bodies[0].text}), or nothing beside the "
            "load's; its damping is that of section 4.2, or the template's.",
            "The paper prints neither the time step nor the integrator of its simulation.",
        ],
    )
    runs = {case: run.traces for case, run in first.items()}
    finals = {case: run.final for case, run in first.items()}
    steps = [
        {
            "case": case.name,
            "largest slope [N m/rad]": run.size.stiffness,
            "step used [ms]": 1e3 * run.timestep,
            "w dt": run.size.ratio * run.timestep / run.size.timestep,
            "stable below [ms]": 1e3 * run.size.limit,
        }
        for case, run in first.items()
    ]
    result.figures = [_figure_steps(context, bodies[0], runs, finals), _figure_errors(errors), _figure_bounds(growth)]
    about = ["case", "I [kg m\u00b2]", "d [N m s/rad]"]
    result.tables = [
        Table(
            title="Transients, with the converged values",
            columns=[*about, "peak [rad]", "rise [ms]", "settling [s]", "converged peak", "rise", "settling"],
            rows=[[r.case.name, r.body.inertia, r.body.damping, *_cells(r.found), *_cells(r.true)] for r in every],
            note="Rise is from 10 % to 90 % of the final angle, settling the last time outside 2 % of it.",
        ),
        Table.of(
            "Time steps",
            steps,
            f"For {bodies[0].text}; the step is chosen by the check's w dt of at most {RESOLUTION:g}.",
        ),
    ]
    result.tables += table_of_curves(
        context, {_place(case): (run["time"], run["joint/position"]) for case, run in runs.items()}
    )
    result.notes = _notes(context.quick, steps)
    for case in CASES:
        key = case.name.lower().replace(" ", "_").replace("-", "")
        result.traces |= {f"{key}_time_s": runs[case]["time"], f"{key}_angle_rad": runs[case]["joint/position"]}
    context.progress(0.97, "writing the report")
    return result


def _place(case: Case) -> str:
    """Return the place of a measured curve, such as ``figure7-awasii-soft``."""
    return f"figure7-{case.name.lower().replace('-', '').replace(' ', '-')}"


def _final(case: Case, body: Body) -> float:
    law = case.build(body).actuators["joint"].law
    return spring_equilibrium(law, REFERENCE, case.preset, body.load)


def _transient_targets(case: Case, body: Body, found: StepResponse, true: StepResponse) -> list[Target]:
    head = f"Transients with {body.text}: {case.name}"
    common: dict[str, Any] = {"relative": 0.02, "source": "ours: integration of order 8"}
    return [
        Target(f"{head}, peak", found.peak, equals=true.peak, unit="rad", **common),
        Target(f"{head}, rise", 1e3 * found.rise, equals=1e3 * true.rise, unit="ms", **common),
        Target(f"{head}, settling", found.settling, equals=true.settling, unit="s", **common),
    ]


def _cells(response: StepResponse) -> list[float]:
    return [round(response.peak, 4), round(1e3 * response.rise, 3), round(response.settling, 4)]


def _bound(case: Case, body: Body) -> tuple[dict[float, Array], list[Target]]:
    limit = link_step_size(case, body).limit
    growth = {factor: perturbation_growth(case, body, factor * limit) for factor in (0.98, 1.02)}
    unstable = [
        any("unstable" in str(p) for p in case.build(body, factor * limit).check() if p.severity == "error")
        for factor in (0.98, 1.02)
    ]
    head = f"Step-size bound: {case.name}, "
    source = "ours: h\u00b2 K < 4 I + 2 h d (semi-implicit Euler, implicit damping)"
    return growth, [
        Target(f"{head}growth at 0.98 of it", float(growth[0.98][-100:].max()), high=10.0, source=source),
        Target(f"{head}growth at 1.02 of it", float(growth[1.02].max()), low=1e4, source=source),
        Target(f"{head}the check calls 1.02 of it unstable, and not 0.98", float(unstable == [False, True]),
               equals=1.0, source="ours: must be refused"),
    ]  # fmt: skip


def _errors(case: Case, body: Body, true_time: Array, true_q: Array, fractions: Sequence[float]) -> tuple[Array, Array]:
    limit = link_step_size(case, body).limit
    rows = []
    for fraction in fractions:
        traces = simulate(case, body, fraction * limit, 0.3)
        error = np.abs(traces["joint/position"] - np.interp(traces["time"], true_time, true_q))
        rows.append((fraction, float(error.max())))
    steps, errors = np.array(rows).T
    return steps, errors


def _notes(quick: bool, steps: list[dict[str, object]]) -> list[str]:
    notes = [
        "Every case runs with a time step of its own, chosen by the check so that w dt stays at or below "
        f"{RESOLUTION:g}: from {min(s['step used [ms]'] for s in steps):g} ms for the stiff AwAS-II (3556 N m/rad) to "
        f"{max(s['step used [ms]'] for s in steps):g} ms. The paper's simulator ran all of them with one step.",
        "The stable bound is larger than 2 sqrt(I/K), since the joint's damping is integrated implicitly: "
        "h\u00b2 K < 4 I + 2 h d.",
        "The step starts beyond the deflection limit of AwAS-II (0.3 rad), BAVS (0.27 rad) and qbMove (0.8 rad less "
        "the preset): the spring's torque is held there, as in the original toolbox, so it accelerates with constant "
        "torque first.",
        "A rise of the order of a millisecond depends on how finely a response is sampled. Here crossings are "
        "interpolated; a sampling of 0.1 ms would shift the rise of the SEA and of the stiff AwAS-II by up to 0.1 ms.",
    ]
    if quick:
        notes.append("Quick version: only the first of the three links, and fewer time steps.")
    return notes


def _figure_steps(context: Context, body: Body, runs: dict[Case, Trace], finals: dict[Case, float]) -> Figure:
    panels = []
    for pair in zip(CASES[::2], CASES[1::2]):
        actuator, last = pair[0].actuator, pair[1] is CASES[-1]
        span, top = {"SEA": (0.002, 0.42), "AwAS-II": (0.45, 2.4), "BAVS": (0.4, 7.0), "qbMove": (0.75, 1.7)}[actuator]
        phi = np.linspace(-span, span, 801)
        springs: list[Item] = [Level(0.0, color="ink", linewidth=0.6, vertical=vertical) for vertical in (False, True)]
        for case in reversed(pair):
            law = case.build(body).actuators["joint"].law
            theta, p = law.map_references(0.0, case.preset), law.parameters().tolist()
            torque = [-type(law).torques(x, *theta, p)[0] for x in phi.tolist()]
            springs.append(Line(phi, torque, color=case.behaviour))
            rest = [finals[case] - REFERENCE], [body.load(finals[case])]
            springs.append(Line(*rest, "o", color=case.behaviour, markersize=4.5, zorder=5))
        style = {"linewidth": 1.2, "points": 2500}
        responses = [
            runs[c].line("joint/position", color=c.behaviour, label=f"{c.behaviour}, {c.text}", **style)
            for c in reversed(pair)
        ]
        reference = Level(REFERENCE, linewidth=1.0, linestyle=DASHED, label=None if panels else "reference")
        above = {
            "loc": "lower right",
            "bbox_to_anchor": (1.02, 0.97),
            "ncols": 3,
            "columnspacing": 1.2,
            "reverse": True,
        }
        limits = {"xlim": (0.0, 0.6), "ylim": (-0.05, 1.65), "yticks": [0.0, 0.4, 0.8, 1.2, 1.6]}
        x = ("deflection [rad]", "time [s]") if last else ("", "")
        places = [_place(case) for case in pair]
        panels.append(Panel(springs, x[0], "torque [N m]", actuator, xlim=(-span, span), ylim=(-top, top)))
        panels.append(Panel([reference, responses], x[1], "link angle [rad]", measured=places, legend=above, **limits))
    caption = (
        "Spring and step response of the four actuators, soft and stiff. Left, the torque of the spring against its "
        "deflection at both settings; dots mark where the load of 0.2 kg at 0.04 m rests. Right, the response to a "
        f"step of 0.8 rad with {body.text} (figure 7 of the paper). The soft AwAS-II and the soft qbMove come to rest "
        "visibly below the reference, the others do not."
    )
    widths = {"width_ratios": [1.0, 1.75]}
    return draw("steps", caption, panels, rows=4, context=context, height=1.95, gridspec_kw=widths)


def _figure_errors(errors: dict[Case, tuple[Array, Array]]) -> Figure:
    actuators = list(dict.fromkeys(case.actuator for case in errors))
    items: list[Item] = []
    for case, (fraction, error) in errors.items():
        color, soft = CYCLE[actuators.index(case.actuator)], case.behaviour == "soft"
        face, style = ("none", (0, (4, 2))) if soft else (color, "-")
        looks = {"color": color, "markerfacecolor": face, "linestyle": style, "linewidth": 1.3, "markersize": 4}
        items.append(Line(fraction, error, marker="o", label=case.name, **looks))
    x = np.array([0.01, 0.1])
    items += [Line(x, 0.01 * x, color="muted", linewidth=1.0), Note(0.032, 2.2e-4, "slope 1", ha="left", va="top")]
    labels = "time step / largest stable time step", "largest error of the angle [rad]"
    caption = (
        "Error against time step. Largest distance from the converged response over the first 0.3 s, against the time "
        "step as a fraction of the bound that the check reports. The error falls with the step, with the slope of a "
        "first-order method; dots on the left are far finer than a run needs."
    )
    return draw("time_step", caption, [Panel(items, *labels, log="xy", legend=BESIDE)], height=3.1, width=6.4)


def _figure_bounds(growth: dict[Case, dict[float, Array]]) -> Figure:
    actuators = list(dict.fromkeys(case.actuator for case in growth))
    items: list[Item] = [Level(1.0, linewidth=0.8)]
    for case, traces in growth.items():
        style = {"color": actuators.index(case.actuator), "linestyle": (0, (4, 2)) if case.behaviour == "soft" else "-"}
        # The largest of 16 steps: the disturbance swings through zero.
        window = np.lib.stride_tricks.sliding_window_view(traces[0.98], 16).max(axis=1)[:201]
        items.append(Line(np.arange(len(window)), window, linewidth=0.9, **style))
        # Beyond 1e4 the disturbance reaches softer parts of the spring.
        large = np.flatnonzero(traces[1.02] > 1e4)
        grown = traces[1.02][: min(large[0] + 1 if large.size else 201, 201)]
        items.append(Line(np.arange(len(grown)), grown, linewidth=2.0, label=case.name, **style))
    items.append(Note(62, 1.2e4, "1.02 times the bound", va="top"))
    items.append(Note(197, 4e-4, "0.98 times the bound", ha="right", va="bottom"))
    labels = "steps", "disturbance / initial disturbance"
    panel = Panel(items, *labels, log="y", ylim=(1e-4, 2e4), xlim=(0, 200), legend=BESIDE)
    caption = (
        "The bound of the time step. Growth of a disturbance of 1e-9 rad at the spring's stiffest point, with 0.98 "
        "(thin) and 1.02 times (thick) the time step that the check reports as its bound: it dies out, or explodes."
    )
    return draw("bound", caption, [panel], height=2.9, width=6.4)

"""A Franka arm with zero torques, its estimate of an external wrench, and the numbers of its dynamics library."""

from __future__ import annotations

import importlib.util
import timeit
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.experiments._franka import open_robot
from pliant.experiments.base import Context, Figure, Result, Table, Target, experiment

if TYPE_CHECKING:
    from pliant.clients.franka import FrankaRobot

__all__ = ["accuracy", "call_times", "estimates", "float_arm", "franka_float", "push"]

Array = NDArray[np.float64]

PAPER = "Oliva, Spindler, Robuffo Giordano, Chaumette: FrankaSim. ICARCV 2022; Gaz et al., RA-L 2019"
DURATION = 60.0
"""How long the arm floats [s]."""
LEAN = (0.6, -0.4, 0.3)
"""Roll, pitch, yaw of a base that leans [rad]."""


def float_arm(robot: FrankaRobot, duration: float) -> Array:
    """Command zero torques; return how far each joint is from its start, a row each 10 ms, shape (n, 7) [rad]."""
    zero = np.zeros(7)
    robot.set_robot_state("force_torque")
    start = robot.get_position()
    rows = []
    for k in range(round(duration * 1e3)):
        robot.set_force_torque("joint", zero)
        if k % 10 == 9:
            rows.append(robot.get_position() - start)
    robot.stop_motion()
    return np.array(rows)


def push(robot: FrankaRobot, wrench: Array) -> None:
    """Let a wrench act on the hand of a simulated arm from now on.

    Args:
        robot: a simulated arm with hand, its base upright.
        wrench: force and moment at the end effector's origin in the base's axes, shape (6,) [N, N m].
    """
    from pliant.clients.franka.simulated import SimulationArm
    from pliant.engine import mujoco_state

    assert isinstance(robot.backend, SimulationArm)
    engine = robot.backend.simulation.engine
    data = mujoco_state(engine, "push").data
    lever = data.site("franka_ee").xpos - data.body("franka_hand").xipos
    engine.port("body/franka_hand/wrench")[:] = [*wrench[:3], *(wrench[3:] + np.cross(lever, wrench[:3]))]


def estimates(rng: np.random.Generator, count: int, settle: float = 2.0) -> tuple[Array, Array, Array]:
    """Push a holding arm in random poses by random wrenches.

    Returns:
        wrenches and the robot's estimates of them, shape (count, 6), and the estimates of the last push over time,
        shape (n, 6), a row a millisecond. The estimate is the negative of the published wrench, which is what the
        robot exerts.
    """
    from pliant.clients.franka import FrankaRobot
    from pliant.robots.franka.build import Q_START

    wrenches, found, trace = np.empty((count, 6)), np.empty((count, 6)), []
    for i in range(count):
        with FrankaRobot.simulated("fer", friction=False, q=Q_START + rng.uniform(-0.4, 0.4, 7)) as robot:
            wrenches[i] = rng.uniform(-1.0, 1.0, 6) * ([8.0] * 3 + [0.8] * 3)
            trace = []
            for k in range(round(settle * 1e3)):
                if k >= 50:
                    push(robot, wrenches[i])
                robot.wait(1e-3)
                trace.append(-robot.get_force_torque("reference"))
            assert robot.mode == "idle"
            found[i] = np.mean(trace[-100:], axis=0)
    return wrenches, found, np.array(trace)


def accuracy(rng: np.random.Generator, count: int = 200) -> dict[str, tuple[float, str]]:
    """Return the largest errors of the dynamics library over random states, each with what it is compared to."""
    import mujoco

    from pliant.robots.franka import dynamics
    from pliant.robots.franka.build import ArmMount, world
    from pliant.robots.franka.parameters import FER, FRANKA_HAND, FRICTION
    from pliant.robots.franka.urdf import urdf

    low, high = np.array(FER.limits.position_min), np.array(FER.limits.position_max)
    q, dq = rng.uniform(low, high, (count, 7)), rng.uniform(-2.0, 2.0, (count, 7))
    M = dynamics.mass(q, FRANKA_HAND)
    C = dynamics.coriolis(q, dq, FRANKA_HAND)
    g = dynamics.gravity(q, FRANKA_HAND)
    bias = np.einsum("kij,kj->ki", C, dq) + g
    model = world((ArmMount(motor_inertia=0.0),)).compile()
    data, full = mujoco.MjData(model), np.zeros((model.nv, model.nv))
    worst_M = worst_bias = 0.0
    for k in range(count):
        data.qpos[:7], data.qvel[:7], data.qpos[7:] = q[k], dq[k], 0.0
        mujoco.mj_forward(model, data)
        mujoco.mj_fullM(model, data, full)
        worst_M = max(worst_M, float(np.abs(full[:7, :7] - M[k]).max()))
        worst_bias = max(worst_bias, float(np.abs(data.qfrc_bias[:7] - bias[k]).max()))
    h = 2e-6
    rate = (dynamics.mass(q + h * dq, FRANKA_HAND) - dynamics.mass(q - h * dq, FRANKA_HAND)) / (2 * h)
    S = rate - 2.0 * C
    a, b, c = FRICTION.T
    friction = a / (1.0 + np.exp(-b * (dq + c))) - a / (1.0 + np.exp(-b * c))
    frankasim = dynamics.mass(q, FRANKA_HAND, variant="frankasim")
    out = {
        "M [kg m^2]": (worst_M, "MuJoCo"),
        "C dq + g [N m]": (worst_bias, "MuJoCo"),
        "dM/dt - 2 C, symmetric part [N m s/rad]": (float(np.abs(S + S.transpose(0, 2, 1)).max()), "differences of M"),
        "friction [N m]": (float(np.abs(dynamics.friction(dq) - friction).max()), "its formula"),
        "M of variant frankasim less M [kg m^2]": (float(np.abs(frankasim - M).max()), "variant feasible"),
    }
    if importlib.util.find_spec("pinocchio") is not None:
        import pinocchio as pin

        rigid = pin.buildModelFromXML(urdf(FER))
        center = np.add(FRANKA_HAND.center_of_mass, (0.0, 0.0, 0.107))
        hand = pin.Inertia(FRANKA_HAND.mass, center, np.reshape(FRANKA_HAND.inertia, (3, 3)))
        rigid.inertias[7] = rigid.inertias[7] + hand
        memory = rigid.createData()
        errors = np.zeros(3)
        for k in range(count):
            both = (
                (M[k], pin.crba(rigid, memory, q[k])),
                (C[k], pin.computeCoriolisMatrix(rigid, memory, q[k], dq[k])),
                (g[k], pin.computeGeneralizedGravity(rigid, memory, q[k])),
            )
            errors = np.maximum(errors, [np.abs(x - y).max() for x, y in both])
        for name, error in zip(("M [kg m^2] ", "C [N m s/rad]", "g [N m]"), errors, strict=True):
            out[name] = (float(error), "Pinocchio")
    return out


def call_times() -> dict[str, tuple[float, float]]:
    """Return the time of one call and of one state of a batch of 2000, the best of several rounds [s]."""
    from pliant.robots.franka import dynamics
    from pliant.robots.franka.parameters import FRANKA_HAND

    rng = np.random.default_rng(0)
    q, dq = rng.uniform(-2.5, 2.5, (2000, 7)), rng.uniform(-2.0, 2.0, (2000, 7))
    out = {}
    for name, many in (("mass", (q,)), ("coriolis", (q, dq)), ("gravity", (q,)), ("friction", (dq,))):
        function: Any = getattr(dynamics, name)
        payload = () if name == "friction" else (FRANKA_HAND,)
        one = [x[0] for x in many]
        function(*one, *payload)
        # the tuples are bound now: the loop goes on
        single = min(timeit.repeat(lambda f=function, x=(*one, *payload): f(*x), number=300, repeat=9)) / 300
        each = min(timeit.repeat(lambda f=function, x=(*many, *payload): f(*x), number=1, repeat=9)) / len(q)
        out[name] = (single, each)
    return out


@experiment("franka-float", title="A floating arm and the wrench it feels", paper=PAPER, section="III")
def franka_float(context: Context) -> Result:
    """Let a Franka arm float with zero torques for a minute, push it, and check its dynamics library."""
    from pliant.clients.franka import FrankaRobot
    from pliant.devices.franka.parameters import Payload

    duration = 5.0 if context.quick else DURATION
    drifts: dict[str, Array] = {}
    fci = False if context.quick else None
    context.progress(0.0, "floating")
    with open_robot(friction=False, fci=fci) as arm:
        through = arm.through if fci is None else "in this process"
        drifts["no friction"] = float_arm(arm.robot, duration)
    load = Payload(
        mass=0.8, center_of_mass=(0.02, -0.03, 0.12), inertia=(2e-3, 0.0, 0.0, 0.0, 3e-3, 0.0, 0.0, 0.0, 1.5e-3)
    )
    others: dict[str, dict[str, Any]] = {
        "friction, compensated": {},
        "friction, not compensated": {"friction_compensation": False},
        "no friction, base leans": {"friction": False, "rpy": LEAN},
        "no friction, FR3": {"arm": "fr3", "friction": False},
        "no friction, 0.8 kg at the flange, known": {"friction": False, "load": load},
    }
    for label, options in context.track(others.items(), lambda x: x[0], low=0.2, high=0.5):
        with FrankaRobot.simulated(**options) as robot:
            if "load" in options:
                X = np.eye(4)
                X[:3, 3] = load.center_of_mass
                robot.add_tool(robot.get_flMe(), load.mass, X, np.reshape(load.inertia, (3, 3)))
                robot.wait(1.0)
            drifts[label] = float_arm(robot, duration)
    context.progress(0.5, "pushing")
    wrenches, found, trace = estimates(context.rng, 3 if context.quick else 12)
    errors = np.abs(found - wrenches)
    context.progress(0.8, "dynamics")
    exact = accuracy(context.rng, 50 if context.quick else 300)
    times = call_times()

    def largest(label: str) -> float:
        return float(np.abs(drifts[label]).max())

    seconds = f"{duration:g} s"
    targets = [
        Target(
            f"drift in {seconds}, no friction", high=1e-3, unit="rad", source="gravity is compensated", note=through
        ).measure(largest("no friction")),
        *(
            Target(f"drift in {seconds}, {label}", high=1e-3, unit="rad", source="gravity is compensated").measure(
                largest(label)
            )
            for label in others
        ),
        Target("error of an external force, steady", high=0.2, unit="N", source="the wrench that acts").measure(
            float(errors[:, :3].max())
        ),
        Target("error of an external moment, steady", high=0.05, unit="N m", source="the wrench that acts").measure(
            float(errors[:, 3:].max())
        ),
    ]
    bounds = {
        "M [kg m^2]": 1e-12,
        "C dq + g [N m]": 1e-12,
        "dM/dt - 2 C, symmetric part [N m s/rad]": 2e-8,
        "friction [N m]": 1e-14,
        "M [kg m^2] ": 1e-12,
        "C [N m s/rad]": 1e-12,
        "g [N m]": 1e-12,
    }
    for name, (error, against) in exact.items():
        if name in bounds:
            quantity, _, unit = name.strip().partition(" [")
            targets.append(
                Target(
                    f"largest error of {quantity}", high=bounds[name], unit=unit.rstrip("]"), source=against
                ).measure(error)
            )
    budget = {"mass": (10.0, 1.0), "coriolis": (15.0, 3.0), "gravity": (10.0, 1.0)}
    for name, (single, each) in budget.items():
        targets.append(
            Target(f"one call of {name}", high=single, unit="us", source="pliant's budget").measure(
                times[name][0] * 1e6
            )
        )
        targets.append(
            Target(f"{name}, each of 2000 states", high=each, unit="us", source="pliant's budget").measure(
                times[name][1] * 1e6
            )
        )
    tables = [
        Table(
            title=f"Drift of the joints in {seconds} of zero torque [rad]",
            columns=["arm", *(f"joint {i}" for i in range(1, 8)), "largest"],
            rows=[[label, *map(float, np.abs(d).max(axis=0)), float(np.abs(d).max())] for label, d in drifts.items()],
            note="Largest distance from the start at any time. The identified friction is zero at "
            "rest, so it slows an arm but does not hold it.",
        ),
        Table(
            title="Wrenches at the end effector and what the robot says of them",
            columns=["push", *(f"{n} {u}" for n in ("applied", "error") for u in ("fx", "fy", "fz", "mx", "my", "mz"))],
            rows=[
                [i + 1, *map(float, w), *map(float, e - w)]
                for i, (w, e) in enumerate(zip(wrenches, found, strict=True))
            ],
            note="N and N m, base axes. Mean of the last 0.1 s of 2 s. The arm holds its pose by joint impedance.",
        ),
        Table(
            title="Dynamics library over random states within the limits, with hand",
            columns=["quantity", "compared with", "largest difference"],
            rows=[[name.strip(), against, error] for name, (error, against) in exact.items()],
            note="Variant frankasim reads the published tensors about the link origins, as the FrankaSim library does; "
            "its difference is a property, not an error. Pinocchio is asked where it is installed.",
        ),
        Table(
            title="Time of a call",
            columns=["function", "one call [us]", "target", "each of 2000 states [us]", "target "],
            rows=[
                [name, single * 1e6, budget.get(name, (None, None))[0], each * 1e6, budget.get(name, (None, None))[1]]
                for name, (single, each) in times.items()
            ],
        ),
    ]
    context.progress(0.95, "figures")
    return Result(
        targets=targets,
        tables=tables,
        figures=[_figure_drift(drifts, duration), _figure_wrench(trace, wrenches[-1])],
        summary=(
            f"With zero torques and no friction the arm drifts by {largest('no friction'):.1e} rad in {seconds}; with "
            f"friction that the robot compensates by {largest('friction, compensated'):.1e} rad, with friction that "
            f"nobody compensates by {largest('friction, not compensated'):.1e} rad. The momentum observer finds "
            f"wrenches at the hand within {errors[:, :3].max():.1e} N and {errors[:, 3:].max():.1e} N m."
        ),
        notes=[
            f"The arm without friction floated {through}; the others in this process.",
            "A real arm has friction that nobody identified, and a gravity model with errors of tenths of a newton "
            "metre; it does drift.",
        ],
        traces={
            "time_s": 0.01 * np.arange(1, 1 + len(drifts["no friction"])),
            **{"drift_" + "_".join(label.replace(",", "").split()) + "_rad": d for label, d in drifts.items()},
            "wrench": wrenches,
            "estimate": found,
        },
    )


def _figure_drift(drifts: dict[str, Array], duration: float) -> Figure:
    from pliant.figures import figure_legend, label, new_figure, thin

    figure, axis = new_figure(1, 1, height=3.0)
    for name, drift in drifts.items():
        largest = np.maximum(np.abs(drift).max(axis=1), 1e-16)
        axis.plot(*thin(np.linspace(0.0, duration, len(drift)), largest), label=name, lw=1.3)
    axis.axhline(1e-3, color="#6e7781", ls="--", lw=1.0)
    axis.set_yscale("log")
    axis.set_ylim(1e-16, 1e-2)
    label(axis, "time [s]", "largest joint drift [rad]")
    figure_legend(figure, axis, ncols=2)
    return Figure(
        name="drift",
        caption="Drift with zero torque commands. Dashed: the bound of 1e-3 rad. Below 1e-12 rad it is rounding.",
        figure=figure,
    )


def _figure_wrench(trace: Array, wrench: Array) -> Figure:
    from pliant.figures import CYCLE, MUTED, label, legend, new_figure, thin

    figure, axes = new_figure(1, 2, height=2.4)
    time = np.arange(len(trace)) * 1e-3
    shown = slice(0, 600)
    for half, (axis, names, unit) in enumerate(
        zip(axes, (("fx", "fy", "fz"), ("mx", "my", "mz")), ("force [N]", "moment [N m]"), strict=True)
    ):
        for i, name in enumerate(names):
            index = 3 * half + i
            axis.plot(*thin(time[shown], trace[shown, index]), color=CYCLE[i], label=name)
            axis.axhline(wrench[index], color=MUTED, ls="--", lw=0.8)
        label(axis, "time [s]", unit)
        legend(axis, loc="center right")
    return Figure(
        name="wrench",
        caption="The estimate of a wrench that begins to act after 0.05 s. Dashed: what acts. The observer is a "
        "low-pass of 10 Hz.",
        figure=figure,
    )

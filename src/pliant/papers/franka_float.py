"""A Franka arm with zero torques, its estimate of an external wrench, and the numbers of its dynamics library."""

from __future__ import annotations

import contextlib
import importlib.util
import timeit
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from pliant.base.errors import DeviceError
from pliant.base.numerics import Array
from pliant.base.options import option
from pliant.engine import mujoco_state
from pliant.experiments.base import Context, Figure, Result, Statement, Table, Target, experiment
from pliant.experiments.films import Film, film_of_tracks
from pliant.experiments.panels import Level, Line, Panel, draw, lines
from pliant.franka.device.settings import Settings
from pliant.papers.arms.franka_server import past_stalls
from pliant.simulation.pose_track import PoseTrack

if TYPE_CHECKING:
    from pliant.franka.client import FrankaRobot

PAPER = "Oliva, Spindler, Robuffo Giordano, Chaumette: FrankaSim. ICARCV 2022; Gaz et al., RA-L 2019"
DURATION = 60.0
"""How long the arm floats [s]."""
PRINTED_DH = np.array(
    [
        [0.0, 0.0, 0.333],
        [0.0, -np.pi / 2, 0.0],
        [0.0, np.pi / 2, 0.316],
        [0.0825, np.pi / 2, 0.0],
        [-0.0825, -np.pi / 2, 0.384],
        [0.0, np.pi / 2, 0.0],
        [0.088, np.pi / 2, 0.0],
        [0.0, 0.0, 0.107],
    ]
)
"""Table I with the lengths of figure 1: a [m], alpha [rad], d [m] of the modified convention, one row per frame."""
DRIFT = 1e-3
"""Largest drift in a minute that counts as standing still [rad]: ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrankaFloatOptions:
    """Assumptions of the experiment."""

    load: float = option(0.8, unit="kg", low=0.0, high=3.0, source="ours; the robot carries 3 kg")
    """Mass of the load at the flange that the robot is told."""
    roll: float = option(0.6, unit="rad", low=-3.2, high=3.2, source="ours")
    """Roll of the base that leans."""
    pitch: float = option(-0.4, unit="rad", low=-1.6, high=1.6, source="ours")
    """Pitch of the base that leans."""


def float_arm(robot: FrankaRobot, duration: float) -> Array:
    """Command zero torques; return how far each joint is from its start, one row per 10 ms, shape (n, 7) [rad]."""
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


def arms(options: FrankaFloatOptions) -> dict[str, dict[str, object]]:
    """Return the arms that float beside the one without friction: label -> options of `FrankaRobot.simulated`."""
    from pliant.franka.device.parameters import Payload

    inertia = (2.5e-3, 0.0, 0.0, 0.0, 3.75e-3, 0.0, 0.0, 0.0, 1.875e-3)
    load = Payload(
        mass=options.load, center_of_mass=(0.02, -0.03, 0.12), inertia=tuple(options.load * i for i in inertia)
    )
    return {
        "friction, compensated": {},
        "friction, not compensated": {"settings": Settings(friction_compensation=False)},
        "FR3": {"arm": "fr3", "friction": False},
        f"{options.load:g} kg at the flange, known": {"friction": False, "load": load},
        "the base leans": {"friction": False, "rpy": (options.roll, options.pitch, 0.3)},
    }


def float_one(chosen: dict[str, object], duration: float) -> Array:
    """Float one of `arms`; a load is announced to the robot first."""
    from pliant.franka.client import FrankaRobot

    with FrankaRobot.simulated(**chosen) as robot:
        if "load" in chosen:
            load, X = chosen["load"], np.eye(4)
            X[:3, 3] = load.center_of_mass
            robot.add_tool(robot.get_flMe(), load.mass, X, np.reshape(load.inertia, (3, 3)))
            robot.wait(1.0)
        return float_arm(robot, duration)


def float_published(duration: float, fci: bool | None) -> tuple[str, Array]:
    """Float the arm without friction; return how it is connected, and what `float_arm` returns."""
    from pliant.papers.arms.opened import open_robot

    with open_robot(friction=False, fci=fci) as arm:
        return arm.through if fci is None else "in this process", float_arm(arm.left, duration)


def push(robot: FrankaRobot, wrench: Array) -> None:
    """Let a wrench act on the hand of a simulated arm from now on.

    Args:
        robot: a simulated arm with hand, its base upright.
        wrench: force and moment at the end effector's origin in the base's axes, shape (6,) [N, N m].
    """
    from pliant.franka.client.simulated import SimulationArm

    assert isinstance(robot.backend, SimulationArm)
    engine = robot.backend.simulation.engine
    data = mujoco_state(engine, "push").data
    lever = data.site("franka_ee").xpos - data.body("franka_hand").xipos
    engine.port("body/franka_hand/wrench")[:] = [*wrench[:3], *(wrench[3:] + np.cross(lever, wrench[:3]))]


def estimates(rng: np.random.Generator, count: int, settle: float = 2.0) -> tuple[Array, Array, Array]:
    """Push a holding arm in random poses by random wrenches.

    Returns:
        wrenches and the robot's estimates of them, shape (count, 6), and the estimates of the last push over time,
        shape (n, 6), one row per millisecond. The estimate is the negative of the published wrench, which is what the
        robot exerts.
    """
    from pliant.franka.client import FrankaRobot
    from pliant.franka.robots.build import Q_START

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

    from pliant.franka.robots import dynamics
    from pliant.franka.robots.build import ArmMount, world
    from pliant.franka.robots.parameters import FER, FRANKA_HAND, FRICTION
    from pliant.franka.robots.urdf import urdf

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


def call_times(rounds: int = 9) -> dict[str, tuple[float, float]]:
    """Return the time of one call and of one state of a batch of 2000, the best of several rounds [s]."""
    from pliant.franka.robots import dynamics
    from pliant.franka.robots.parameters import FRANKA_HAND

    rng = np.random.default_rng(0)
    q, dq = rng.uniform(-2.5, 2.5, (2000, 7)), rng.uniform(-2.0, 2.0, (2000, 7))
    out = {}
    for name, many in (("mass", (q,)), ("coriolis", (q, dq)), ("gravity", (q,)), ("friction", (dq,))):
        function: Any = getattr(dynamics, name)
        payload = () if name == "friction" else (FRANKA_HAND,)
        one = [x[0] for x in many]
        function(*one, *payload)
        # the tuples are bound now: the loop goes on
        single = min(timeit.repeat(lambda f=function, x=(*one, *payload): f(*x), number=300, repeat=rounds)) / 300
        each = min(timeit.repeat(lambda f=function, x=(*many, *payload): f(*x), number=1, repeat=rounds)) / len(q)
        out[name] = (single, each)
    return out


def drift_statements(drifts: Mapping[str, Array], duration: float) -> list[Statement]:
    """Judge the gravity compensation of section IV-B by how far arms with zero torques drift.

    Args:
        drifts: label of an arm -> distance of its joints from the start, shape (n, 7) [rad].
        duration: how long they floated [s].
    """

    def stands(label: str, where: str) -> Target:
        return Target(f"drift with zero torques, {label}", float(np.abs(drifts[label]).max()), high=DRIFT, unit="rad",
                      source=f"{where}; {DRIFT:g} rad in {DURATION:g} s is ours")  # fmt: skip

    def found(labels: list[str]) -> str:
        worst = ", ".join(f"{float(np.abs(drifts[label]).max()):.0e} rad ({label})" for label in labels)
        return f"In {duration:g} s of zero torques the arms drift by {worst}."

    upright = [label for label in drifts if "leans" not in label and "at the flange" not in label]
    payload = [label for label in drifts if "at the flange" in label]
    leaning = [label for label in drifts if "leans" in label]
    return [
        Statement(
            what="An arm that is not servoed stands still, because the model compensates gravity, that of the gripper "
            "included.",
            where="section IV-B",
            targets=[stands(label, "section IV-B") for label in upright],
            found=found(upright),
        ),
        Statement(
            what="The dynamic model takes a payload as a parameter, which makes it compensate tools.",
            where="section III-B",
            targets=[stands(label, "section III-B") for label in payload],
            found=found(payload),
        ),
        Statement(
            what="The dynamic model takes the gravity vector as a parameter and compensates gravity fully when the "
            "robot is not mounted vertically.",
            where="sections III-B and IV-B",
            targets=[stands(label, "sections III-B and IV-B") for label in leaning],
            found=found(leaning),
        ),
    ]


def hand_statement() -> Statement:
    """Judge figure 2: the simulated hand, put together from its bodies, has the printed mass properties."""

    from pliant.franka.robots.build import world

    model = world().compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    bodies = [model.body(f"franka_{name}").id for name in ("hand", "finger1", "finger2")]
    flange = data.site("franka_flange")
    R, origin = flange.xmat.reshape(3, 3), flange.xpos
    masses = model.body_mass[bodies]
    mass = float(masses.sum())
    at = (data.xipos[bodies] - origin) @ R
    center = masses @ at / mass
    inertia = np.zeros((3, 3))
    for body, m, p in zip(bodies, masses, at - center, strict=True):
        axes = R.T @ data.ximat[body].reshape(3, 3)
        inertia += axes @ np.diag(model.body_inertia[body]) @ axes.T + m * (p @ p * np.eye(3) - np.outer(p, p))
    printed = np.diag((0.001, 0.0025, 0.0017))
    away, other = float(np.linalg.norm(center - (-0.01, 0.0, 0.03))), float(np.abs(inertia - printed).max())
    source = "figure 2"
    return Statement(
        what="The Franka Hand has a mass of 0.73 kg, its centre of mass at (-0.01, 0, 0.03) m of the flange and the "
        "inertia diag(0.001, 0.0025, 0.0017) kg m^2.",
        where=source,
        targets=[
            Target("mass of the simulated hand", mass, equals=0.73, tolerance=0.005, unit="kg", source=source),
            Target("distance of its centre of mass from the printed one", away, high=0.005, unit="m", source=source),
            Target("largest difference of its inertia", other, high=5e-5, unit="kg m^2", source=source),
        ],
        found=(
            f"The three bodies of the simulated hand weigh {mass:.4g} kg; their centre of mass is {1e3 * away:.2g} mm "
            f"and their inertia {other:.1e} kg m^2 from the printed ones, with closed fingers. The tolerances are half "
            "a unit of the last printed digit."
        ),
    )


def _differences(rotation: Array, place: Array, printed: Array) -> tuple[float, float]:
    """Return how far a pose is from a printed one: distance [m] and angle [rad]."""
    turn = rotation.T @ printed[:3, :3]
    axis = (turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1])
    angle = float(np.arctan2(np.linalg.norm(axis), np.trace(turn) - 1.0))
    return float(np.linalg.norm(place - printed[:3, 3])), angle


def kinematics_statement(rng: np.random.Generator, count: int) -> Statement:
    """Judge table I and the frames of figures 1 and 2: MuJoCo puts flange and end effector where they are printed.

    Args:
        rng: chooses the joint angles.
        count: how many.
    """

    from pliant.franka.robots.build import world

    model = world().compile()
    data = mujoco.MjData(model)
    hand = np.eye(4)
    hand[:2, :2] = [[np.sqrt(0.5), np.sqrt(0.5)], [-np.sqrt(0.5), np.sqrt(0.5)]]
    hand[2, 3] = 0.1034
    worst = np.zeros((2, 2))
    for q in rng.uniform(-2.5, 2.5, (count, 7)):
        for i, angle in enumerate(q):
            data.joint(f"franka_joint{i + 1}").qpos[0] = angle
        mujoco.mj_kinematics(model, data)
        base, flange, tool = data.body("franka_link0"), data.site("franka_flange"), data.site("franka_ee")
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = base.xmat.reshape(3, 3), base.xpos
        for (a, alpha, d), angle in zip(PRINTED_DH, (*q, 0.0), strict=True):
            ca, sa, c, s = np.cos(alpha), np.sin(alpha), np.cos(angle), np.sin(angle)
            pose = pose @ np.array(
                [[c, -s, 0, a], [s * ca, c * ca, -sa, -d * sa], [s * sa, c * sa, ca, d * ca], [0, 0, 0, 1]]
            )
        new = [
            _differences(site.xmat.reshape(3, 3), site.xpos, frame)
            for site, frame in ((flange, pose), (tool, pose @ hand))
        ]
        worst = np.maximum(worst, new)
    (flange_at, flange_turn), (tool_at, tool_turn) = worst
    first, second = "table I, figure 1; half a unit of the last digit", "figure 2; half a unit of the last digit"
    return Statement(
        what="The arm has the modified Denavit-Hartenberg parameters of table I and figure 1; the end effector of the "
        "hand is 0.1034 m from the flange and turned by -45 degrees.",
        where="section III-A, table I, figures 1 and 2",
        targets=[
            Target("distance of the flange from the printed chain", flange_at, high=5e-5, unit="m", source=first),
            Target("angle of the flange to the printed chain", flange_turn, high=1e-6, unit="rad", source="table I"),
            Target("distance of the end effector from the printed one", tool_at, high=5e-5, unit="m", source=second),
            Target("angle of the end effector to the printed one", tool_turn, high=1e-6, unit="rad", source="figure 2"),
        ],
        found=(
            f"In {count} random configurations MuJoCo puts the flange within {flange_at:.0e} m and {flange_turn:.0e} "
            f"rad of the printed chain, and the end effector within {tool_at:.0e} m and {tool_turn:.0e} rad."
        ),
    )


def wrench_checks(wrenches: Array, found: Array) -> list[Target]:
    """Return the checks of the estimated wrenches, shape (n, 6) each."""
    errors = np.abs(found - wrenches)
    of = partial(Target, source="ours: the wrench that acts")
    return [
        of("error of an external force, steady", float(errors[:, :3].max()), high=0.2, unit="N"),
        of("error of an external moment, steady", float(errors[:, 3:].max()), high=0.05, unit="N m"),
    ]


def dynamics_checks(exact: Mapping[str, tuple[float, str]]) -> list[Target]:
    """Return the checks of the dynamics library; `accuracy` gives the errors."""
    bounds = {
        "M [kg m^2]": 1e-12,
        "C dq + g [N m]": 1e-12,
        "friction [N m]": 1e-14,
        "M [kg m^2] ": 1e-12,
        "C [N m s/rad]": 1e-12,
        "g [N m]": 1e-12,
    }
    targets = []
    for name, (error, against) in exact.items():
        if name in bounds:
            quantity, _, unit = name.strip().partition(" [")
            targets.append(
                Target(f"largest error of {quantity} against {against}", error, high=bounds[name],
                       unit=unit.rstrip("]"), source=f"ours: {against}")
            )  # fmt: skip
    return targets


def dynamics_statements(
    exact: Mapping[str, tuple[float, str]], rng: np.random.Generator, count: int
) -> list[Statement]:
    """Judge what section III-B says of the model of equation 1.

    Args:
        exact: errors of the library, from `accuracy`.
        rng: draws the states.
        count: how many states.
    """
    from pliant.franka.robots import dynamics
    from pliant.franka.robots.parameters import FER, FRANKA_HAND

    q = rng.uniform(FER.limits.position_min, FER.limits.position_max, (count, 7))
    M = dynamics.mass(q, FRANKA_HAND)
    smallest = float(np.linalg.eigvalsh(M).min())
    theirs = float(np.linalg.eigvalsh(dynamics.mass(q, FRANKA_HAND, variant="frankasim")).min())
    skew, _ = exact["dM/dt - 2 C, symmetric part [N m s/rad]"]
    return [
        Statement(
            what="The inertia matrix B(q) is symmetric and positive definite.",
            where="section III-B, equation 1",
            targets=[
                Target(
                    "asymmetry of the inertia matrix", float(np.abs(M - np.swapaxes(M, 1, 2)).max()), high=1e-15,
                    unit="kg m^2", source="equation 1; the bound is rounding",
                ),
                Target(
                    "smallest eigenvalue of the inertia matrix", smallest, low=1e-6, unit="kg m^2",
                    source="equation 1; the bound is ours",
                ),
            ],
            found=(
                f"Over {count} random states the smallest eigenvalue is {smallest:.2g} kg m^2, and {theirs:.2g} kg m^2 "
                "with the tensors as the authors' library reads them."
            ),
        ),
        Statement(
            what="The library provides the full Coriolis matrix, as momentum observers and passivity-based control "
            "need it.",
            where="section III-B",
            targets=[
                Target(
                    "symmetric part of dM/dt - 2 C", skew, high=2e-8, unit="N m s/rad",
                    source="section III-B: the property that such control rests on; the bound is that of differences",
                )
            ],
            found=f"dM/dt - 2 C is skew-symmetric to {skew:.0e} N m s/rad, against differences of M.",
        ),
        Statement(
            what="The identified parameters make the simulation realistic.",
            where="sections I and III-B",
            found="It cannot be judged: no recording of the real arm was published with its commands.",
        ),
        Statement(
            what="Two arms, a camera and an obstacle are simulated in a visual servoing task, whose path is D-shaped.",
            where="section IV-B, figure 6",
            found="Not judged here: the experiment franka-dual-arm simulates and judges it.",
        ),
    ]  # fmt: skip


def _pushed(chosen: dict[str, object]) -> PoseTrack:
    """Let an arm float, push its hand for a moment, and let it float on."""
    from pliant.franka.client import FrankaRobot
    from pliant.franka.client.simulated import SimulationArm

    begin, end, duration = 600, 800, 2000
    with FrankaRobot.simulated(**chosen) as robot:
        assert isinstance(robot.backend, SimulationArm)
        state = mujoco_state(robot.backend.simulation.engine, "a film")
        track = PoseTrack().watch(state.model, state.data)
        robot.set_robot_state("force_torque")
        with contextlib.suppress(DeviceError):  # a limit ends the motion
            for k in range(duration):
                if k in (begin, end):
                    push(robot, np.array([0.0, 0.6, -5.0, 0.0, 0.0, 0.0]) * (k == begin))
                robot.set_force_torque("joint", np.zeros(7))
                track.take()
            robot.stop_motion()
    return track


def _films(context: Context, options: FrankaFloatOptions) -> list[Film]:
    upright = {"friction": False}
    return [
        film_of_tracks(
            {"upright": _pushed(upright), "the base leans": _pushed(arms(options)["the base leans"])},
            name="push",
            caption="Arms with zero torques stand still until their hands are pushed down with 5 N from 0.6 "
            "to 0.8 s; then they float on, at most to a limit of the robot.",
            camera="130,-15",
        )
    ]


def _drift_table(drifts: Mapping[str, Array], seconds: str) -> Table:
    return Table(
        title=f"Drift of the joints in {seconds} of zero torque [rad]",
        columns=["arm", *(f"joint {i}" for i in range(1, 8)), "largest"],
        rows=[[label, *map(float, np.abs(d).max(axis=0)), float(np.abs(d).max())] for label, d in drifts.items()],
        note="Largest distance from the start at any time. The identified friction is zero at "
        "rest, so it slows an arm but does not hold it.",
    )


def _wrench_table(wrenches: Array, found: Array) -> Table:
    return Table(
        title="Wrenches at the end effector and what the robot says of them",
        columns=["push", *(f"{n} {u}" for n in ("applied", "error") for u in ("fx", "fy", "fz", "mx", "my", "mz"))],
        rows=[
            [i + 1, *map(float, w), *map(float, e - w)] for i, (w, e) in enumerate(zip(wrenches, found, strict=True))
        ],
        note="N and N m, base axes. Mean of the last 0.1 s of 2 s. The arm holds its pose by joint impedance.",
    )


@experiment(
    "franka-float", title="A floating arm and the wrench it feels", paper=PAPER, section="III and IV-B", films=_films
)
def franka_float(context: Context, options: FrankaFloatOptions) -> Result:
    """Let a Franka arm float with zero torques for a minute, push it, and check its dynamics library."""
    duration = 2.0 if context.quick else DURATION
    drifts: dict[str, Array] = {}
    fci = False if context.quick else None
    context.progress(0.0, "floating")
    through, drifts["no friction"] = past_stalls(lambda: float_published(duration, fci))
    others = arms(options)
    for label, chosen in context.track(others.items(), lambda x: x[0], low=0.2, high=0.5):
        drifts[label] = float_one(chosen, duration)
    context.progress(0.5, "pushing")
    wrenches, found, trace = estimates(context.rng, 2 if context.quick else 12, settle=1.0 if context.quick else 2.0)
    errors = np.abs(found - wrenches)
    context.progress(0.8, "dynamics")
    count = 50 if context.quick else 300
    exact = accuracy(context.rng, count)
    times = call_times(rounds=2 if context.quick else 9)

    def largest(label: str) -> float:
        return float(np.abs(drifts[label]).max())

    seconds = f"{duration:g} s"
    tables = [
        _drift_table(drifts, seconds),
        _wrench_table(wrenches, found),
        Table(
            title="Dynamics library over random states within the limits, with hand",
            columns=["quantity", "compared with", "largest difference"],
            rows=[[name.strip(), against, error] for name, (error, against) in exact.items()],
            note="Variant frankasim reads the published tensors about the link origins, as the FrankaSim library does; "
            "its difference is a property, not an error. Pinocchio is asked where it is installed.",
        ),
        Table(
            title="Time of a call",
            columns=["function", "one call [us]", "each of 2000 states [us]"],
            rows=[[name, single * 1e6, each * 1e6] for name, (single, each) in times.items()],
            note="Timing is information: it depends on the machine and its load.",
        ),
    ]
    context.progress(0.95, "figures")
    return Result(
        statements=[
            *drift_statements(drifts, duration),
            hand_statement(),
            kinematics_statement(context.rng, count),
            *dynamics_statements(exact, context.rng, count),
        ],
        targets=[*wrench_checks(wrenches, found), *dynamics_checks(exact)],
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
    items = [
        Line(np.linspace(0.0, duration, len(drift)), np.maximum(np.abs(drift).max(axis=1), 1e-16), label=name, lw=1.3)
        for name, drift in drifts.items()
    ]
    limit = Level(DRIFT, ls="--", lw=1.0)
    panel = Panel([items, limit], "time [s]", "largest joint drift [rad]", log="y", ylim=(1e-16, 1e-2))
    caption = "Drift with zero torque commands. Dashed: the bound of 1e-3 rad. Below 1e-12 rad it is rounding."
    return draw("drift", caption, [panel], legend=0, legend_options={"ncols": 2}, height=3.0)


def _figure_wrench(trace: Array, wrench: Array) -> Figure:
    time = np.arange(600) * 1e-3
    panels = []
    for part, what in ((slice(0, 3), "force [N]"), (slice(3, 6), "moment [N m]")):
        found = lines(time[: len(trace)], trace[:600, part], [f"{what[0]}{axis}" for axis in "xyz"])
        acting = [Level(value, ls="--", lw=0.8) for value in wrench[part]]
        panels.append(Panel([found, acting], "time [s]", what, legend="center right"))
    caption = (
        "The estimate of a wrench that begins to act after 0.05 s. Dashed: what acts. The observer is a low-pass of "
        "10 Hz."
    )
    return draw("wrench", caption, panels, height=2.4)

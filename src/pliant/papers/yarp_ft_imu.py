"""Force/torque sensors and the inertial unit at the ports of YARP while the robot is pushed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.numerics import GRAVITY, Array
from pliant.base.options import option
from pliant.base.spatial import exp_so3, log_so3, rotation_from_rpy
from pliant.experiments.base import Context, Figure, Result, Statement, Table, Target, experiment
from pliant.experiments.films import Film, film_of_tracks
from pliant.experiments.panels import Band, Panel, draw, lines
from pliant.model.noise import Noise
from pliant.papers.yarp_clock import PAPER
from pliant.simulation.pose_track import PoseTrack
from pliant.walking.robots.biped import PARTS as JOINTS_OF
from pliant.walking.robots.biped.parameters import JOINTS, LINKS
from pliant.yarp.program import Board, biped, serve

if TYPE_CHECKING:
    from pliant.experiments.panels import Item

TIMESTEP = 0.002
"""Step of the physics [s].  # assumed"""
PUSHES = ((20.0, 0.0, 0.0), (0.0, -15.0, 0.0), (0.0, 0.0, -40.0))
"""Pushes on the right hand, one after the other, world axes [N].  # assumed; the last as large as those of figure 3"""
WAIST_PUSH = (30.0, 15.0, 0.0)
"""Push on the waist, world axes [N].  # assumed"""
WAIST_PUSH_S = 0.1
SETTLED = 0.25
"""Share of a push, at its end, over which the loads are averaged.  # assumed"""
HAND = "r_hand"
FORCES, TORQUES = slice(1, 4), slice(4, 7)
"""Columns of the force/torque sensor's rows, behind the time."""
ANGLES, ACCELERATION, RATES = slice(1, 4), slice(4, 7), slice(7, 10)
"""Columns of the inertial unit's rows, behind the time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class YarpFtImuOptions:
    """Parameters that the paper does not state."""

    acceleration_noise: float = option(0.1, unit="m/s^2", low=0.0, above=True, high=10.0, source="assumed")
    """Standard deviation of the acceleration's white noise."""
    rate_noise: float = option(0.01, unit="rad/s", low=0.0, above=True, high=1.0, source="assumed")
    """Standard deviation of the angular velocity's white noise."""
    force_noise: float = option(0.2, unit="N", low=0.0, high=10.0, source="assumed")
    """Standard deviation of the forces' white noise in the drawn traces."""
    push: float = option(0.5, unit="s", low=0.2, high=5.0, source="assumed")
    """Duration of each push on the hand."""


@dataclass(slots=True, kw_only=True)
class Traces:
    """Data that a program received while the robot was pushed."""

    sensors: tuple[int, int]
    """Force/torque sensors and inertial units that the name server lists."""
    wrench: Array
    """Time [s], force [N] and torque [N m] of the right wrist, one row per step."""
    inertial: Array
    """Time [s], angles [deg], acceleration [m/s^2], angular velocity [deg/s], zeros, one row per step."""
    arm: Array
    """Positions of the right arm, one row per step [rad]."""
    rest: slice
    """Rows before the first push."""
    pushes: tuple[tuple[int, int], ...]
    """First and last row of each push on the hand."""
    axes: Array
    """Orientation of the hand in the world at rest and at the end of each push, shape (1 + pushes, 3, 3)."""

    def load(self, columns: slice, k: int) -> Array:
        """Return the mean load at rest (0), or at the end of the k-th push, in the world's axes."""
        first, last = self.pushes[k - 1] if k else (self.rest.start, self.rest.stop)
        if k:
            first = last - round(SETTLED * (last - first))
        return self.axes[k] @ self.wrench[first:last, columns].mean(axis=0)


def record(
    options: YarpFtImuOptions, *, noisy: bool, seed: int = 0, push: float | None = None, track: PoseTrack | None = None
) -> Traces:
    """Push the standing robot, and record force/torque sensor and inertial unit through their ports.

    Args:
        options: noise and duration of the pushes.
        noisy: whether the sensors have noise.
        seed: of the noise.
        push: duration of each push on the hand [s]; None takes that of the options.
        track: what keeps the poses; None keeps none.
    """
    noise = {
        "linear_acceleration_noise": Noise(std=options.acceleration_noise),
        "angular_velocity_noise": Noise(std=options.rate_noise),
    }
    load_noise = {"force_noise": Noise(std=options.force_noise)}
    robot = biped(timestep=TIMESTEP, noise=noise if noisy else None, load_noise=load_noise if noisy else None)
    steps = round((options.push if push is None else push) / TIMESTEP)
    with serve(robot, seed=seed, track=track) as world:
        names = [contact.name for contact in world.yarp.list("/biped")]
        counted = (
            sum(name.endswith("_ft/analog:o") for name in names),
            sum(name.endswith("/measures:o") and not name.endswith("_ft/measures:o") for name in names),
        )
        world.step(round(0.6 / TIMESTEP))  # the robot comes to rest
        board = Board(world, "right_arm")
        readers = {"wrench": world.reader("/biped/r_wrist_ft/analog:o"), "imu": world.reader("/biped/imu")}
        wrench, inertial, arm = [], [], []
        taken = 0

        def measure(count: int) -> None:
            nonlocal taken
            while count:
                part = min(count, 200)
                found = world.measure(readers, part)
                arm.extend(np.radians(state.joint_position) for state in board.read(part))  # type: ignore[arg-type]
                wrench.append(found["wrench"])
                inertial.append(found["imu"])
                count -= part
                taken += part

        measure(steps)
        pushes = []
        for force in PUSHES:
            world.push(HAND, force, steps * TIMESTEP)
            first = taken
            measure(steps)
            pushes.append((first, taken))
            measure(steps)
        world.push("waist", WAIST_PUSH, WAIST_PUSH_S)
        measure(2 * steps)
        board.close()
    rows = [(steps // 2, steps), *((last - 1, last) for _, last in pushes)]
    imu, joints = np.concatenate(inertial), np.array(arm)
    orientations = [
        _hand_axes(imu[first:last, ANGLES].mean(axis=0), joints[first:last].mean(axis=0)) for first, last in rows
    ]
    return Traces(
        sensors=counted,
        wrench=np.concatenate(wrench),
        inertial=imu,
        arm=joints,
        rest=slice(steps // 2, steps),
        pushes=tuple(pushes),
        axes=np.array(orientations),
    )


def _hand_axes(angles_deg: Array, arm: Array) -> Array:
    """Return the orientation of the right hand in the world, from the angles of the waist and the arm's joints."""
    rotation = rotation_from_rpy(np.radians(angles_deg))
    for name, angle in zip(JOINTS_OF["right_arm"], arm, strict=True):  # the torso is held upright
        rotation = rotation @ exp_so3(angle * np.array(JOINTS[name].axis))
    return rotation


def noise_targets(noise: Array, std: float, what: str) -> list[Target]:
    """Return the targets of white Gaussian noise: mean, deviation, correlation of neighbours, fourth moment.

    Args:
        noise: a row a sample, a column an axis.
        std: standard deviation that was asked for.
        what: of which quantity.
    """
    n = noise.size
    x = noise / std
    lag = float(np.mean(x[1:] * x[:-1]))
    four = float(np.mean(((x - x.mean()) / x.std()) ** 4)) - 3.0
    statistic = "section 3.3.3, white Gaussian noise; 4 standard errors are ours"
    return [
        Target(f"{what}: mean of the noise over its standard error", abs(float(x.mean())) * math.sqrt(n), high=4.0,
               source=statistic),
        Target(f"{what}: deviation of the noise over that asked for, less 1, over its standard error",
               abs(float(x.std()) - 1.0) * math.sqrt(2.0 * n), high=4.0, source=statistic),
        Target(f"{what}: correlation of neighbours over its standard error", abs(lag) * math.sqrt(n), high=4.0,
               source=statistic),
        Target(f"{what}: excess of the fourth moment over its standard error", abs(four) * math.sqrt(n / 24.0),
               high=4.0, source=statistic),
    ]  # fmt: skip


def repetition_target(clean: Traces, noisy: Traces) -> Target:
    """Check that noise changes what is measured, and not what happens."""
    return Target("noise moves a joint by", float(np.abs(noisy.arm - clean.arm).max()), equals=0.0, unit="rad",
                  source="ours: no controller of the run uses the sensors, and runs in lock-step repeat")  # fmt: skip


def _turned(traces: Traces) -> float:
    """Return how far the integrated angular velocity leaves the orientation that is told, at most [rad]."""
    angles, rates = np.radians(traces.inertial[:, ANGLES]), np.radians(traces.inertial[:, RATES])
    rotation = rotation_from_rpy(angles[0])
    off = 0.0
    for told, before, after in zip(angles[1:], rates[:-1], rates[1:], strict=True):
        rotation = rotation @ exp_so3(0.5 * TIMESTEP * (before + after))
        off = max(off, float(np.linalg.norm(log_so3(rotation.T @ rotation_from_rpy(told)))))
    return off


def load_statements(clean: Traces) -> list[Statement]:
    """Judge section 3.3.2: the force/torque sensors."""
    hand = LINKS["hand"]
    weight = hand.mass * np.array([0.0, 0.0, -GRAVITY])
    rest = clean.load(FORCES, 0)
    force_error, torque_error = [], []
    for k, force in enumerate(PUSHES, 1):
        size = float(np.linalg.norm(force))
        force_error.append(float(np.linalg.norm(clean.load(FORCES, k) - weight - force)) / size)
        arm = clean.axes[k] @ np.array(hand.center)
        moment = np.cross(arm, weight + force)
        torque_error.append(float(np.linalg.norm(clean.load(TORQUES, k) - moment)) / (size * np.linalg.norm(arm)))
    spacing = float(np.abs(np.diff(clean.wrench[:, 0]) - TIMESTEP).max())
    width = clean.wrench.shape[1] - 1
    return [
        Statement(
            what="COMAN has four force/torque sensors, two in the legs and two in the arms, and one inertial unit.",
            where="section 3.3.5",
            targets=[
                Target("force/torque sensors at the name server", clean.sensors[0], equals=4, source="section 3.3.5"),
                Target("inertial units at the name server", clean.sensors[1], equals=1, source="section 3.3.5"),
            ],
            found=f"The name server lists {clean.sensors[0]} force/torque sensors and {clean.sensors[1]} inertial "
            "unit.",
            rests_on="The robot is pliant's biped, which was given the sensors of COMAN.",
        ),
        Statement(
            what="A force/torque sensor sends six numbers, the forces and torques on the frame of a joint, every step.",
            where="section 3.3.2, figure 5",
            targets=[
                Target("numbers in a message", width, equals=6, source="section 3.3.2"),
                Target("time between messages less the step", spacing, high=1e-9, unit="s", source="figure 5"),
                Target("weight of the hand less mass times gravity",
                       float(np.linalg.norm(rest - weight) / np.linalg.norm(weight)), high=0.01,
                       source="statics; 1 % is ours"),
            ],
            found=f"{width} numbers every {1e3 * TIMESTEP:g} ms; at rest the wrist carries "
            f"{np.linalg.norm(rest):.3f} N, the hand weighs {np.linalg.norm(weight):.3f} N.",
        ),
        Statement(
            what="The sensor shows the wrench that acts on the robot's structure while it is pushed.",
            where="section 3.3.2, figure 3",
            targets=[
                Target("force less weight and push, over the push, largest", max(force_error), high=0.02,
                       source="statics; 2 % are ours"),
                Target("torque less that of weight and push, over the push's, largest", max(torque_error), high=0.02,
                       source="statics; 2 % are ours"),
            ],
            found="At the end of pushes of " + ", ".join(f"{np.linalg.norm(f):g}" for f in PUSHES)
            + f" N on the right hand the measured force is the hand's weight and the push within "
            f"{100 * max(force_error):.1g} %, the torque their moment within {100 * max(torque_error):.1g} %.",
            rests_on="What the robot of figure 3 pushes against was not published.",
        ),
        Statement(
            what="Forces and torques of figure 3, up to about 40 N and 1 N m.",
            where="figure 3, panels c and d",
            found="The scene was not published. The report draws our traces, up to "
            f"{np.abs(clean.wrench[:, FORCES]).max():.0f} N and {np.abs(clean.wrench[:, TORQUES]).max():.1f} N m.",
        ),
    ]  # fmt: skip


def inertial_statements(clean: Traces) -> list[Statement]:
    """Judge section 3.3.3: the inertial unit."""
    rest = clean.inertial[clean.rest].mean(axis=0)
    expected = rotation_from_rpy(np.radians(rest[ANGLES])).T @ np.array([0.0, 0.0, GRAVITY])
    off = float(np.linalg.norm(rest[ACCELERATION] - expected))
    turned = _turned(clean)
    width = clean.inertial.shape[1] - 1
    return [
        Statement(
            what="The inertial unit measures velocity, orientation and gravitational forces of its link.",
            where="section 3.3.3",
            targets=[
                Target("numbers in a message of the inertial unit", width, equals=12,
                       source="the inertial vector of YARP: angles, acceleration, angular velocity, magnetic field"),
                Target("acceleration at rest less gravity in the told orientation", off, high=0.05, unit="m/s^2",
                       source="statics; 0.05 m/s^2 are ours"),
                Target("integrated angular velocity less the told orientation", turned, high=1e-3, unit="rad",
                       source="kinematics; 1 mrad is ours"),
            ],
            found=f"At rest it measures {np.linalg.norm(rest[ACCELERATION]):.4f} m/s^2, gravity in the orientation "
            f"that it tells within {off:.1g} m/s^2. Its angular velocity, integrated over "
            f"{TIMESTEP * len(clean.inertial):.2g} s with all pushes, stays within {1e3 * turned:.1g} mrad of its "
            "orientation.",
        ),
        Statement(
            what="Accelerations of figure 7.",
            where="figure 7, panels b and c",
            found="Motion and noise of that run were not published; the report draws the traces of ours.",
        ),
    ]  # fmt: skip


def noise_statements(clean: Traces, noisy: Traces, options: YarpFtImuOptions) -> list[Statement]:
    """Judge the noise of the inertial unit, the difference of two runs that are equal otherwise."""
    difference = noisy.inertial - clean.inertial
    acceleration = difference[:, ACCELERATION]
    rates = np.radians(difference[:, RATES])
    found = float(np.std(acceleration)), float(np.std(rates))
    return [
        Statement(
            what="White Gaussian noise can be added to its measurement.",
            where="section 3.3.3, figure 7",
            targets=[
                *noise_targets(acceleration, options.acceleration_noise, "acceleration"),
                *noise_targets(rates, options.rate_noise, "angular velocity"),
            ],
            found=f"Asked for {options.acceleration_noise:g} m/s^2 and {options.rate_noise:g} rad/s, the noise has "
            f"{found[0]:.4g} m/s^2 and {found[1]:.4g} rad/s over {len(acceleration)} samples of three axes; mean, "
            "correlation and fourth moment are those of white Gaussian noise.",
        ),
    ]  # fmt: skip


def _films(context: Context, options: YarpFtImuOptions) -> list[Film]:
    track = PoseTrack()
    record(options, noisy=False, push=min(options.push, 0.5), track=track)
    return [
        film_of_tracks(
            {"": track},
            name="pushes",
            caption="The standing robot is pushed at its right hand, each time in another direction, then at its "
            "waist.",
            camera="135,-8",
        )
    ]


@experiment(
    "yarp-ft-imu",
    title="Force/torque sensors and inertial unit through YARP",
    paper=PAPER,
    section="3.3.2 and 3.3.3, figures 3, 5 and 7",
    films=_films,
    cameras=("side",),
)
def yarp_ft_imu(context: Context, options: YarpFtImuOptions) -> Result:
    """Record a force/torque sensor and an inertial unit through YARP ports while the robot is pushed."""
    push = min(options.push, 0.3) if context.quick else options.push
    context.progress(0.0, "without noise")
    clean = record(options, noisy=False, push=push)
    context.progress(0.45, "with noise")
    noisy = record(options, noisy=True, push=push, seed=context.seed)
    rows = []
    for k, name in enumerate(("rest", *("push " + " ".join(f"{x:g}" for x in force) for force in PUSHES))):
        force, torque = clean.load(FORCES, k), clean.load(TORQUES, k)
        rows.append([name, *(round(float(x), 3) for x in (*force, *torque))])
    return Result(
        summary="A program reads the force/torque sensor of the right wrist and the inertial unit of the waist through "
        "their ports while the standing biped is pushed on its right hand, three times, and on its waist, by the port "
        "for external wrenches. Once without noise, for the statements about loads, and once with.",
        statements=[
            *load_statements(clean),
            *inertial_statements(clean),
            *noise_statements(clean, noisy, options),
        ],
        targets=[repetition_target(clean, noisy)],
        tables=[
            Table(
                title="Mean loads of the right wrist, world axes",
                columns=["", "fx [N]", "fy", "fz", "tx [N m]", "ty", "tz"],
                rows=rows,
            )
        ],
        figures=[_figure_loads(noisy), _figure_inertial(noisy)],
        notes=[
            "The sensor measures what the hand does to the arm: the weight and the push, not their reaction.",
            "The torques are smaller than those of figure 3, since pushes act at the hand's centre of mass, 40 mm from "
            "the sensor.",
        ],
        assumptions=["The robot is pliant's biped, in the class of COMAN; pushes and noise are ours."],
        traces={
            "wrench_s_N_Nm": noisy.wrench,
            "inertial_s_deg_mps2_degps": noisy.inertial,
            "wrench_clean_s_N_Nm": clean.wrench,
            "inertial_clean_s_deg_mps2_degps": clean.inertial,
        },
    )  # fmt: skip


RED_GREEN_BLUE = ("#c62828", "#2e7d32", "#1565c0")
"""Colours of x, y and z as in figures 3 and 7."""


def _figure_xyz(
    name: str, caption: str, rows: Array, columns: dict[str, slice], items: list[Item], width: float
) -> Figure:
    """Return a figure of vectors over time: a panel each, x, y and z in the paper's colours."""
    panels = [
        Panel([items, lines(rows[:, 0], rows[:, part], "xyz", colors=RED_GREEN_BLUE, lw=width)], "time [s]", what)
        for what, part in columns.items()
    ]
    return draw(name, caption, panels, rows=len(panels), legend=0, height=1.9, sharex=True)


def _figure_loads(traces: Traces) -> Figure:
    time = traces.wrench[:, 0]
    caption = (
        "Force/torque sensor of the right wrist, axes of the hand; grey, pushes on the hand. Each push appears as a "
        "step of its size, after a short swing of the arm."
    )
    columns = {"force [N]": FORCES, "torque [N m]": TORQUES}
    pushes = [Band(time[first], time[last - 1]) for first, last in traces.pushes]
    return _figure_xyz("loads", caption, traces.wrench, columns, pushes, 0.9)


def _figure_inertial(traces: Traces) -> Figure:
    caption = (
        "Inertial unit of the waist with noise. Gravity along z; the pushes swing the robot on its feet, most of all "
        "the last, on the waist."
    )
    columns = {"acceleration [m/s^2]": ACCELERATION, "angular velocity [deg/s]": RATES}
    return _figure_xyz("inertial", caption, traces.inertial, columns, [], 0.7)

"""Tendon-driven robots against the data of the Continuum Robotics Laboratory's simulator OpenCR-MuJoCo."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from pliant import rods, tendons
from pliant.base.errors import PliantError
from pliant.base.options import option
from pliant.engine import MujocoEngine
from pliant.engine.base import mujoco_state
from pliant.experiments.base import Context, Result, Statement, Table, Target, experiment
from pliant.experiments.panels import Line, Panel, draw
from pliant.experiments.runs import drive
from pliant.model import Robot

if TYPE_CHECKING:
    from collections.abc import Callable

    from pliant.base.numerics import Array
    from pliant.tendons.measured import ReleaseTable

PULL = np.array([0.004, -0.002, -0.002, 0.0, 0.001, -0.001])
"""Lengths drawn in for the comparison with the statics [m]."""
FOLDS, EVERY = 5, 3
LENGTHS = {"v4": 186.5, "v6": 222.0}
"""Lengths of the robots [mm]."""
LIMITS = {"v4": 7.0, "v6": 11.1}
"""Largest root mean square distance of tips that the fit did not see [mm]; ours: 7 mm, and 5 % of the length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TdcrOptions:
    """Options of the experiment ``tdcr``."""

    data: str = option("", source="opencr-mujoco, commit 17fff8b, MIT licence: its folders statics, releases and tips")
    """Folder with statics/steel.csv, releases/steel_1.txt to steel_5.txt and tips/v4_train.csv, v6_train.csv; without
    it only the checks of the simulation are made."""
    pairs: int = option(1, low=1, high=10)
    """Pairs of hinges of the backbone between two disks."""


def steel(length: float) -> rods.Rod:
    """Return the steel rod of the files."""
    E = 200e9
    return rods.Rod(
        length=length, section=rods.Round(radius=0.8e-3), young_modulus=E, shear_modulus=E / 2.66, density=7870.0
    )


def shape_errors(shapes: Array) -> Array:
    """Return the distances of the tips of the statics from those of shapes (`read_shapes`) [m]."""
    segment = tendons.Segment(rod=steel(0.3), disks=3, disk_radius=0.01)
    arm = tendons.TendonRobot(
        tendons.TendonRobotDescription(name="steel", segments=(segment, segment), tendons=()),
        resolution=tendons.Resolution(elements=1, steps=2, bending=5, torsion=4),
    )
    middle = int(arm.chain.element[0, 1])

    def tip(shape: Array) -> Array:
        loads = arm.loads(gravity=shape[1, :, 0], wrench=shape[:, :, 2].ravel(), at={middle: shape[:, :, 1].ravel()})
        return arm.solve(tension=np.zeros(0), loads=loads).tip

    return np.array([np.linalg.norm(tip(shape) - shape[1, :, -1]) for shape in shapes])


def release(data: ReleaseTable, *, seconds: float, damping: float | None = None) -> Array:
    """Return the tip of the simulated rod at the times of a release [m], shape (rows, 3).

    Args:
        data: loads, gravity and damping; nothing of its motion is used.
        seconds: duration [s].
        damping: time constant of the material [s]; None: that of the file.
    """
    spec = mujoco.MjSpec()
    spec.option.timestep, spec.option.gravity = 5e-4, data.gravity
    loads = tuple(
        rods.PointLoad(at=at, moment=tuple(w[:3]), force=tuple(w[3:]))
        for at, w in zip((0.5, 1.0), data.wrench, strict=True)
    )
    part = rods.RodBetween(
        rod=steel(0.6), body_b=None, loads=loads, segments=16, contact=False,
        damping=data.damping if damping is None else damping,
    )  # fmt: skip
    model = rods.attach_rod(Robot(spec), part).compile()
    state = mujoco.MjData(model)
    mujoco.mj_forward(model, state)
    model.actuator_biasprm[:] = 0.0  # the loads let go
    tip = [part.points(model, state)[-1]]
    for until in data.time[1 : 1 + np.searchsorted(data.time, seconds)]:
        while state.time < until - 1e-9:
            mujoco.mj_step(model, state)
        tip.append(part.points(model, state)[-1])
    return np.array(tip)


def settled(options: TdcrOptions) -> tuple[float, float, Array]:
    """Return distance of the simulated tip at rest from the statics, how far it moved [m], and its way; no friction.

    The way has the distance from the place of the statics every 10 ms [m], shape (300,).
    """

    from pliant.tendons.model import build_tendon_robot
    from pliant.tendons.options import TendonOptions
    from pliant.tendons.robots import generic

    d = generic()
    d = dataclasses.replace(d, tendons=tuple(dataclasses.replace(t, friction=0.0) for t in d.tendons))
    robot = build_tendon_robot(d, TendonOptions(pairs=options.pairs, damping=0.2, tendon_damping=0.01))
    engine = MujocoEngine(robot)
    state = mujoco_state(engine, "tdcr")
    pulls = {f"tendon{i}/reference_1": value / 0.01 for i, value in enumerate(PULL, 1)}
    start, *way = drive(engine, pulls, {"tip": lambda: state.data.site("tip").xpos}, 3000, every=10).tip
    base = np.eye(4)
    base[:3, 3] = state.data.body("tendon_base").xpos
    fine = tendons.Resolution(elements=0, steps=3, bending=2, torsion=2)
    mechanism = robot.devices[0]
    goal = tendons.TendonRobot(mechanism.statics(base), resolution=fine).solve(pull=PULL).tip
    tip = state.data.site("tip").xpos
    assert state.model.opt.integrator == mujoco.mjtIntegrator.mjINT_DISCRETE
    distance = np.linalg.norm(np.array(way) - goal, axis=1)
    return float(distance[-1]), float(np.linalg.norm(tip - start)), distance


def predicted(
    name: str, path: Path, *, seen_only: bool, tell: Callable[[float], None] | None = None
) -> tuple[float, float]:
    """Return root mean square distance of all tips of a measured robot [mm]: all motions seen, and each part left out.

    Args:
        name: v4 or v6.
        path: its table of tips.
        seen_only: whether the parts are not left out; the second number is then NaN.
        tell: called with the share that is done.
    """
    from pliant.tendons.identify import cross_validate, first_slopes, fit
    from pliant.tendons.measured import read_tips
    from pliant.tendons.robots import ROBOTS

    tell = tell or (lambda share: None)
    robot, table = ROBOTS[f"tdcr-{name}"](), read_tips(path)
    used = np.arange(len(table.tip)) % EVERY == 0
    slopes = first_slopes(robot, table)
    tell(0.5 / (FOLDS + 2))
    seen = 1e3 * fit(robot, table, used=used, slopes=slopes).rmse(np.ones(len(table.tip), bool))
    if seen_only:
        return seen, float("nan")
    tell(2.0 / (FOLDS + 2))
    unseen, _ = cross_validate(
        robot, table, FOLDS, used=used, slopes=slopes, done=lambda folds: tell((2.0 + folds) / (FOLDS + 2))
    )
    return seen, 1e3 * unseen


def _judge_steel(folder: Path) -> list[Statement]:
    from pliant.tendons.measured import read_release, read_shapes

    mean = 1e3 * float(shape_errors(read_shapes(folder / "statics" / "steel.csv")).mean())
    worst = 0.0
    for number in range(1, 6):
        data = read_release(folder / "releases" / f"steel_{number}.txt")
        tip = release(data, seconds=2.0)
        expected = data.tip[: len(tip)]
        size = np.linalg.norm(expected - expected[-1], axis=1).max()
        worst = max(worst, 100.0 * float(np.linalg.norm(tip - expected, axis=1).max() / size))
    shapes = Target(
        "steel shapes: mean distance of the tip", high=0.1, unit="mm", source="table steel.csv; limit: ours"
    )
    swing = Target("releases: largest distance of the tip", high=3.0, unit="% of the amplitude",
                   source="tables steel_1 to 5; limit: ours")  # fmt: skip
    return [
        Statement(
            what="A steel rod under gravity and wrenches at middle and tip rests in 500 given shapes.",
            where="table statics/steel.csv",
            targets=[shapes.measure(mean)],
            found=f"The tips of the statics are {mean:.3f} mm away on average; rounding explains 0.134 mm.",
        ),
        Statement(
            what="The same rod swings for two seconds after its loads let go.",
            where="tables releases/steel_1.txt to steel_5.txt",
            targets=[swing.measure(worst)],
            found=f"The simulated tip is within {worst:.2f} % of the amplitude, with nothing fitted.",
        ),
    ]


def _judge_tips(name: str, folder: Path, quick: bool, tell: Callable[[float], None]) -> Statement:
    seen, unseen = predicted(name, folder / "tips" / f"{name}_train.csv", seen_only=quick, tell=tell)
    target = Target(
        f"{name}: root mean square distance of unseen tips", high=LIMITS[name], unit="mm",
        source="table tips; limit: ours",
    )  # fmt: skip
    left_out = "" if quick else f", {unseen:.2f} mm of motions that it did not see"
    return Statement(
        what=f"The tips of the robot {name} ({LENGTHS[name]:g} mm) are measured along motions of its nine tendons.",
        where=f"table tips/{name}_train.csv",
        targets=[] if quick else [target.measure(unseen)],
        found=f"The fitted statics are {seen:.2f} mm away (root mean square) in motions seen by the fit{left_out}.",
        rests_on="Number of disks, distribution of mass and friction are not published.",
    )


@experiment(
    "tdcr",
    title="Tendon-driven robots: statics, releases and measured tips",
    paper="Continuum Robotics Laboratory, opencr-mujoco, commit 17fff8b",
    section="tables statics, releases and tips",
    films="it compares shapes at rest; `pliant run tdcr --scenario pull-tendons --video a.mp4` films a robot",
)
def tdcr(context: Context, options: TdcrOptions) -> Result:
    """Hold the step against the statics, and both against shapes, releases and measured tips."""
    miss, moved, distance = settled(options)
    share = 100.0 * miss / moved
    check = Target(
        "tdcr at rest: distance of the tip from the statics", high=1.0, unit="% of the way", source="ours: statics"
    )
    statements = []
    if options.data:
        folder = Path(options.data)
        if not (folder / "statics" / "steel.csv").is_file():
            raise PliantError(f"{folder}: has no statics/steel.csv; data names the folder above it", field="data")
        context.progress(0.02, "steel rods")
        statements = _judge_steel(folder)
        for k, name in enumerate(LENGTHS):

            def tell(share: float, k: int = k, name: str = name) -> None:
                context.progress(0.1 + 0.45 * (k + share), f"tips of {name}")

            tell(0.0)
            statements.append(_judge_tips(name, folder, context.quick, tell))
    rows = [
        {"hinges between disks": 2 * options.pairs, "tip moved [mm]": 1e3 * moved, "from the statics [mm]": 1e3 * miss}
    ]
    note = "" if options.data else "The data of the source are not part of pliant: --set data=FOLDER judges its tables."
    return Result(
        statements=statements,
        targets=[check.measure(share)],
        figures=[
            draw(
                "settling",
                "The tip of tdcr on its way to the place of the statics. Six tendons change their lengths at once.",
                [Panel([Line(0.01 * (np.arange(300) + 1.0), 1e3 * distance)], "time [s]", "distance [mm]", log="y")],
                height=2.4,
            )
        ],
        tables=[Table.of("The robot tdcr at rest", rows)],
        summary="The robot tdcr in the step against its statics; steel rods and measured robots against their tables.",
        notes=[note] if note else [],
    )

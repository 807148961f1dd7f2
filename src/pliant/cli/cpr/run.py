"""`pliant cpr run`: the dynamics."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from pliant.cli.cpr.inputs import WRENCH, Robot, load_parallel, numbers, pose_numbers, to_pose
from pliant.cli.cpr.writing import tell, write_table
from pliant.cli.options import Debug, Json
from pliant.cli.output import emit, make_console
from pliant.errors import PliantError

__all__ = ["run"]


def run(
    robot: Robot,
    *,
    q: Annotated[
        str | None, Parameter(help="Joint values to move to, from the start's.", allow_leading_hyphen=True)
    ] = None,
    pose: Annotated[
        str | None, Parameter(help="Plate pose to move to (by the inverse model).", allow_leading_hyphen=True)
    ] = None,
    wrench: Annotated[str | None, Parameter(help=WRENCH, allow_leading_hyphen=True)] = None,
    ramp: Annotated[float, Parameter(help="Seconds over which joints and wrench change.")] = 1.0,
    duration: Annotated[float, Parameter(help="Seconds to simulate.")] = 3.0,
    variant: Annotated[str, Parameter(help="chain (hinges) or flex (MuJoCo's flex).")] = "chain",
    segments: Annotated[int, Parameter(help="Elements a rod.")] = 10,
    timestep: Annotated[float, Parameter(help="Time step [s].")] = 1e-3,
    damping: Annotated[float, Parameter(help="Damping of the material [s].")] = 1e-3,
    mjcf: Annotated[Path | None, Parameter(help="Write the model (.xml) and stop.")] = None,
    figure: Annotated[Path | None, Parameter(help="Draw the plate's motion (.png, .svg, .pdf).")] = None,
    output: Annotated[Path | None, Parameter(help="Write time, joints and plate pose (.csv).")] = None,
    view: Annotated[bool, Parameter(negative=(), help="Show the simulation in the browser, in real time.")] = False,
    view_port: Annotated[int, Parameter(help="Port of the page; 0 takes the first free one from 8080 on.")] = 0,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Simulate the robot's dynamics, starting at rest from the statics' equilibrium."""
    from pliant.model.parallel import build_parallel

    console = make_console(quiet=json)
    statics = load_parallel(robot)
    for name, value in (("duration", duration), ("ramp", ramp)):
        if not (math.isfinite(value) and value >= 0.0):
            raise PliantError(f"--{name} is {value:g}; valid: a number of seconds >= 0", field=name)
    if q is not None and pose is not None:
        raise PliantError("--q and --pose exclude each other; give one of them", field="pose")
    model_of = build_parallel(statics, variant=variant, segments=segments, timestep=timestep, damping=damping)  # type: ignore[arg-type]
    for note in model_of.notes:
        console.print(f"[yellow]note[/yellow] {note}", soft_wrap=True)
    start = model_of.solution
    load = numbers(wrench, "--wrench", (3,) if statics.planar else (6,)) if wrench is not None else None
    if pose is not None:
        goal = to_pose(statics, numbers(pose, "--pose", (3,) if statics.planar else (3, 6)))
        target = statics.solve_igm(goal, load, start=start).q
    else:
        target = start.q if q is None else numbers(q, "--q", (statics.actuator_count,))
    if mjcf is not None:
        if variant == "flex":
            raise PliantError(
                "--mjcf: a flex is compiled straight and bent afterwards, which no file holds; valid: --variant chain",
                field="mjcf",
            )
        try:
            model_of.compile()
            mjcf.write_text(model_of.assemble().to_xml(), encoding="utf-8")
        except OSError as error:
            raise PliantError(f"the model cannot be written: {error}", file=mjcf) from None
        console.print(f"written: {mjcf}")
        return 0
    trace, speed, moving = _simulate(model_of, target, load, ramp, duration, view, view_port, console, json)
    import numpy as np

    expected = statics.solve_dgm(target, load, start=start) if np.any(target != start.q) or load is not None else start
    end = trace[-1]
    reached = to_pose(statics, end[1 + statics.actuator_count :])
    if statics.planar:
        off = float(np.hypot(reached[0] - expected.pose2d[0], reached[1] - expected.pose2d[1]))
    else:
        off = float(np.linalg.norm(reached[:3, 3] - expected.plate_pose[:3, 3]))
    names = ["x", "y", "angle"] if statics.planar else ["x", "y", "z", "roll", "pitch", "yaw"]
    if output is not None:
        head = ",".join(["time", *(f"q{a + 1}" for a in range(statics.actuator_count)), *names])
        write_table(output, head, trace)
    if figure is not None:
        _draw_motion(statics, trace, expected, figure)
    data = {
        "robot": statics.name,
        "variant": variant,
        "duration": float(end[0]),
        "x_real_time": speed,
        "q": end[1 : 1 + statics.actuator_count],
        "pose": end[1 + statics.actuator_count :],
        "static_pose": pose_numbers(statics, expected.plate_pose),
        "distance_to_static_pose": off,
        "plate_speed": moving,
        "notes": model_of.notes,
        "figure": figure and str(figure),
        "output": output and str(output),
    }
    if json:
        emit(data)
        return 0
    console.print(f"{statics.name}: {end[0]:g} s simulated as {variant}, {speed:.3g} x real time", soft_wrap=True)
    console.print("plate: " + ", ".join(f"{n} {v:.5f}" for n, v in zip(names, data["pose"])), soft_wrap=True)
    rest = f", still moving at {1e3 * moving:.2g} mm/s" if moving > 1e-3 else ""
    console.print(f"distance from the static solution: {1e3 * off:.3g} mm{rest}", soft_wrap=True)
    tell(console, figure, output)
    return 0


def _simulate(model_of, target, load, ramp, duration, view, view_port, console, json) -> tuple[Any, float, float]:
    import time

    import mujoco
    import numpy as np

    from pliant.engine import MujocoEngine

    statics, begin = model_of.solution.robot, model_of.solution
    engine = MujocoEngine(model_of, check=False)
    model, data = engine.model, engine.data
    model_of.start(model, data)
    page = None
    if view:
        from pliant.viewer import StudioView

        page = StudioView(engine, port=view_port)
        page.start({})
        console.print(f"look at it: {page.url} (Ctrl-C ends)", soft_wrap=True)
    wrench = begin.wrench if load is None else statics._wrench(load)
    steps = round(duration / engine.dt)
    every = max(1, round(0.01 / engine.dt))
    rows, share = [], 0.0

    def note() -> None:
        X = model_of.plate_pose(model, data)
        rows.append([data.time, *model_of.joints(model, data), *pose_numbers(statics, X)])

    note()
    began = time.perf_counter()
    try:
        for k in range(steps):
            if share < 1.0:
                share = min(1.0, (k + 1) * engine.dt / ramp) if ramp > 0.0 else 1.0
                model_of.set_joints(model, data, begin.q + share * (target - begin.q))
                model_of.set_wrench(model, data, begin.wrench + share * (wrench - begin.wrench))
            elif wrench.any():
                model_of.set_wrench(model, data, wrench)  # about the plate's origin, wherever its mass is
            model_of.update(model, data)
            engine.step()
            if (k + 1) % every == 0 or k == steps - 1:
                note()
            if page is not None:
                page.tick(0)
                ahead = (k + 1) * engine.dt - (time.perf_counter() - began)
                if ahead > 0.0:
                    time.sleep(ahead)
    except KeyboardInterrupt:
        if page is None:
            raise
    finally:
        if page is not None:
            page.stop()
    speed = data.time / max(time.perf_counter() - began, 1e-9)
    mujoco.mj_forward(model, data)
    return np.array(rows), speed, float(np.linalg.norm(engine.data.cvel[model.body("plate").id][3:]))


def _draw_motion(statics, trace, expected, file: Path) -> None:
    from pliant.experiments.style import CYCLE, label, legend, new_figure, saving

    figure, (left, right) = new_figure(1, 2, height=2.8)
    n = statics.actuator_count
    names = ["x", "y", "angle"] if statics.planar else ["x", "y", "z", "roll", "pitch", "yaw"]
    final = pose_numbers(statics, expected.plate_pose)
    for a in range(n):
        left.plot(trace[:, 0], trace[:, 1 + a], color=CYCLE[a % 6], label=f"q{a + 1}")
    for c, name in enumerate(names):
        right.plot(trace[:, 0], trace[:, 1 + n + c] - final[c], color=CYCLE[c % 6], label=name)
    label(left, "time [s]", "joint value [m or rad]", statics.name)
    label(right, "time [s]", "plate minus static solution [m, rad]")
    legend(left, ncols=2)
    legend(right, ncols=2)
    try:
        with saving():
            figure.savefig(file, dpi=160, facecolor="white")
    except (OSError, ValueError) as error:
        raise PliantError(f"the figure cannot be written: {error}", file=file) from None

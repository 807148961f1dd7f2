"""`pliant cpr run`: the dynamics."""

from __future__ import annotations

import array
import contextlib
import math
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from pliant.cli.cpr.inputs import WRENCH, Robot, load_parallel, numbers, pose_numbers, to_pose
from pliant.cli.cpr.writing import tell, write_table
from pliant.cli.output import emit, make_console, plain
from pliant.cli.simulating import DEFAULT_RUN, Run, RunOptions, refuse_unused
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
    ramp: Annotated[float | None, Parameter(help="Seconds over which joints and wrench change; default 1.")] = None,
    variant: Annotated[str, Parameter(help="chain (hinges) or flex (MuJoCo's flex).")] = "chain",
    segments: Annotated[int, Parameter(help="Elements a rod.")] = 10,
    timestep: Annotated[float, Parameter(help="Time step [s].")] = 1e-3,
    damping: Annotated[float, Parameter(help="Damping of the material [s].")] = 1e-3,
    mjcf: Annotated[Path | None, Parameter(help="Write the model (.xml) and stop.")] = None,
    figure: Annotated[Path | None, Parameter(help="Draw the plate's motion (.png, .svg, .pdf).")] = None,
    output: Annotated[Path | None, Parameter(help="Write time, joints and plate pose (.csv).")] = None,
    controller: Annotated[
        bool,
        Parameter(negative=(), help="Let a controller of the plate's pose move the robot; clients give it the pose."),
    ] = False,
    controller_wrench: Annotated[
        str | None,
        Parameter(
            help="What the wrench of a controller does: hold (the joints keep the plate where it is), push (it acts on "
            "the plate; default), exert (the joints let the rods exert it; default with --controller)."
        ),
    ] = None,
    joint_speed: Annotated[
        float | None, Parameter(help="Largest speed of the joints when clients move them [m/s, rad/s]; 0.5 and 1.")
    ] = None,
    plan: RunOptions = DEFAULT_RUN,
) -> int:
    """Simulate the robot's dynamics, starting at rest from the statics' equilibrium."""
    if ramp is not None and not (math.isfinite(ramp) and ramp >= 0.0):
        raise PliantError(f"--ramp is {ramp:g}; valid: a number of seconds >= 0", field="ramp")
    if q is not None and pose is not None:
        raise PliantError("--q and --pose exclude each other; give one of them", field="pose")
    refuse_unused(
        ramp is not None and q is None and pose is None and wrench is None, "--ramp", "--q, --pose or --wrench"
    )
    for option, given in (
        ("--controller", controller), ("--controller-wrench", controller_wrench is not None),
        ("--joint-speed", joint_speed is not None),
    ):  # fmt: skip
        refuse_unused(given and not plan.bridge, option, "a --bridge, over which clients command the robot")
    if joint_speed is not None and not (math.isfinite(joint_speed) and joint_speed > 0.0):
        raise PliantError(f"--joint-speed is {joint_speed:g}; valid: a speed above 0", field="joint-speed")
    if mjcf is not None:
        used = {
            "--q": q, "--pose": pose, "--wrench": wrench, "--duration": plan.duration, "--rtf": plan.rtf,
            "--record": plan.record, "--plot": plan.plot, "--bridge": plan.bridge or None, "--view": plan.view or None,
            "--figure": figure, "--output": output,
        }  # fmt: skip
        wrong = [option for option, value in used.items() if value is not None]
        if wrong:
            raise PliantError(
                f"--mjcf writes the model and stops, so {', '.join(wrong)} would do nothing; leave it out", field="mjcf"
            )
    from pliant.model.parallel import build_parallel

    console = make_console(quiet=plan.json)
    statics = load_parallel(robot, console=console)
    model_of = build_parallel(statics, variant=variant, segments=segments, timestep=timestep, damping=damping)  # type: ignore[arg-type]
    for note in model_of.notes:
        console.print(f"[yellow]note[/yellow] {plain(note)}", soft_wrap=True)
    if mjcf is not None:
        return _write_model(model_of, variant, mjcf, console, plan.json)
    start = model_of.solution
    load = numbers(wrench, "--wrench", (3,) if statics.planar else (6,)) if wrench is not None else None
    if pose is not None:
        goal = to_pose(statics, numbers(pose, "--pose", (3,) if statics.planar else (3, 6)))
        target = statics.solve_igm(goal, load, start=start).q
    else:
        target = start.q if q is None else numbers(q, "--q", (statics.actuator_count,))
    moves = bool((target != start.q).any()) or load is not None
    expected = statics.solve_dgm(target, load, start=start) if moves else start
    from pliant.devices.parallel import JOINT_SPEEDS, ParallelRobotDevice
    from pliant.engine import MujocoEngine

    engine = MujocoEngine(model_of, check=False)
    # A name space of its own for what the simulator that it stands for does not have; ROS 2 hides names that do not
    # begin with a letter.
    space = statics.name if statics.name[:1].isalpha() else f"cpr_{statics.name}"
    model_of.interface = model_of.interface.replace(namespace=space)
    device = ParallelRobotDevice(
        model_of,
        controller_wrench=controller_wrench or ("exert" if controller else "push"),
        joint_speeds=JOINT_SPEEDS if joint_speed is None else (joint_speed, joint_speed),
    )
    devices: list[Any] = [device]
    if controller:
        from pliant.control.plate_pose import PlatePosePID
        from pliant.devices.plate_controller import PlateController

        devices.insert(0, PlateController(device, PlatePosePID()))
    trace = _Trace(model_of, engine, keep=output is not None or figure is not None)
    with contextlib.closing(device), Run(plan, console, engine, devices, model_of, extra=[trace], usual=3.0) as done:
        # Where a client waits for each step, the step waits for the solver, and two runs are equal.
        if done.simulation.pacer.paces:
            device.solve_aside()
        if moves:
            done.simulation.play(_Ramp(device, start, expected, 1.0 if ramp is None else ramp, engine.dt))
        done.start()
        done.go()
        rows = trace.rows()
    moving = trace.plate_speed()
    end = rows[-1]
    count = statics.actuator_count
    # What a client commanded is an equilibrium of its own.
    reached = to_pose(statics, end[1 + count :])
    if statics.planar:
        off = math.hypot(*(reached[:2] - device.equilibrium.pose2d[:2]))
    else:
        off = math.dist(reached[:3, 3], device.equilibrium.plate_pose[:3, 3])
    names = ["x", "y", "angle"] if statics.planar else ["x", "y", "z", "roll", "pitch", "yaw"]
    if output is not None:
        write_table(output, ",".join(["time", *(f"q{a + 1}" for a in range(count)), *names]), rows)
    if figure is not None:
        _draw_motion(statics, rows, device.equilibrium, figure)
    data = {
        "robot": statics.name,
        "variant": variant,
        "duration": float(end[0]),
        "x_real_time": done.achieved_rtf,
        "q": end[1 : 1 + count],
        "pose": end[1 + count :],
        "static_pose": pose_numbers(statics, device.equilibrium.plate_pose),
        "distance_to_static_pose": off,
        "plate_speed": moving,
        "notes": model_of.notes,
        "figure": figure and str(figure),
        "output": output and str(output),
    }
    if plan.json:
        emit({**data, **done.as_dict()})
        return done.conclude()
    done.say_served()
    console.print(f"{statics.name} as {variant}", soft_wrap=True)
    console.print("plate: " + ", ".join(f"{n} {v:.5f}" for n, v in zip(names, data["pose"])), soft_wrap=True)
    rest = f", still moving at {1e3 * moving:.2g} mm/s" if moving > 1e-3 else ""
    console.print(f"distance from the static solution: {1e3 * off:.3g} mm{rest}", soft_wrap=True)
    done.say_end()
    tell(console, figure, output)
    return done.conclude()


def _write_model(model_of: Any, variant: str, file: Path, console: Any, as_json: bool) -> int:
    if variant == "flex":
        raise PliantError(
            "--mjcf: a flex is compiled straight and bent afterwards, which no file holds; valid: --variant chain",
            field="mjcf",
        )
    try:
        model_of.compile()
        file.write_text(model_of.assemble().to_xml(), encoding="utf-8")
    except OSError as error:
        raise PliantError(f"the model cannot be written: {error.strerror}", file=file) from None
    if as_json:
        emit({"robot": model_of.solution.robot.name, "notes": model_of.notes, "mjcf": str(file)})
    else:
        tell(console, file)
    return 0


class _Ramp:
    """Moves joints and wrench from one equilibrium to another in a straight line; a command of a client ends it.

    Args:
        device: the robot.
        begin: where it starts.
        end: where it goes.
        duration: how long that takes [s]; 0 for at once.
        dt: step of the engine [s].
    """

    def __init__(self, device: Any, begin: Any, end: Any, duration: float, dt: float) -> None:
        self._device, self._begin, self._end = device, begin, end
        self._duration, self._dt = duration, dt
        self._done = False

    def player(self, devices: Any, start_ns: int) -> _Ramp:
        """Return what the loop calls before each step."""
        return self

    def restart(self) -> None:
        """Begin again, after a reset."""
        self._done = False

    def __call__(self, elapsed_ns: int) -> None:
        """Command what holds at the end of the step that begins."""
        if self._done:
            return
        if self._device.inbox.peek() is not None or self._device.wrenches.peek() is not None:
            self._done = True
            return
        share = (elapsed_ns * 1e-9 + self._dt) / self._duration if self._duration > 0.0 else 1.0
        if share >= 1.0 - 1e-9:
            self._done = True
            self._device.drive(self._end.q, self._end.wrench, self._end)
            return
        a, b = self._begin, self._end
        self._device.drive(a.q + share * (b.q - a.q), a.wrench + share * (b.wrench - a.wrench))


class _Trace:
    """Notes joints and plate a hundred times a second; to the loop it is a bridge that goes nowhere.

    Args:
        model_of: the robot.
        engine: its engine.
        keep: keep every row; else only the last one.
    """

    lockstep = False
    name = "trace"

    def __init__(self, model_of: Any, engine: Any, *, keep: bool) -> None:
        self._model_of, self._engine, self._keep = model_of, engine, keep
        self._period_ns = max(1, round(0.01 / engine.dt)) * round(engine.dt * 1e9)
        self._values = array.array("d")
        self._stamp_ns = -1

    def start(self, devices: Any) -> None:
        """Note the state before the first step."""
        self._note(0)

    def publish(self, sample: Any) -> None:
        """Nothing: the model says more than the samples."""

    def tick(self, stamp_ns: int) -> None:
        """Note the state where a row is due."""
        if self._keep and not stamp_ns % self._period_ns:
            self._note(stamp_ns)

    def stop(self) -> None:
        """Nothing to close."""

    def health(self) -> dict[str, Any]:
        """Nothing to count."""
        return {}

    def rows(self) -> Any:
        """Return time, joints and plate pose, shape (rows, 1 + actuators + pose), the present state in the last row."""
        import numpy as np

        if self._engine.time_ns != self._stamp_ns:
            self._note(self._engine.time_ns)
        width = 1 + len(self._model_of.actuator_names) + (3 if self._model_of.solution.robot.planar else 6)
        return np.frombuffer(self._values).reshape(-1, width).copy()

    def plate_speed(self) -> float:
        """Return the speed of the plate at present [m/s]."""
        import mujoco
        import numpy as np

        model, data = self._engine.model, self._engine.data
        mujoco.mj_forward(model, data)
        return float(np.linalg.norm(data.cvel[model.body("plate").id][3:]))

    def _note(self, stamp_ns: int) -> None:
        model_of, model, data = self._model_of, self._engine.model, self._engine.data
        self._stamp_ns = stamp_ns
        pose = pose_numbers(model_of.solution.robot, model_of.plate_pose(model, data))
        self._values.extend([stamp_ns * 1e-9, *model_of.joints(model, data), *pose])


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

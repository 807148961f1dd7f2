"""Steps a second of environments: against the bare batch below, and against Gymnasium's own MuJoCo environments.

Usage: python benchmarks/envs.py [--worlds 256] [--seconds 1.0]; it needs pip install "gymnasium[mujoco]"
       python benchmarks/envs.py --device cuda:0 [--worlds 4096]; it needs pip install "pliant[learn,warp]"

Both sides of a ratio alternate, and each counts with its best round, so that other programs disturb neither. With a
device of Warp, the thrower runs there and on the cores of this machine, and medians are printed.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import mujoco
import numpy as np

from pliant.batch import make_batch
from pliant.batch.worlds import CpuBatch
from pliant.learn.envs.make import find_task
from pliant.learn.envs.task import Action, Task, World
from pliant.learn.envs.vector import BatchEnv
from pliant.learn.laws import load_warp
from pliant.learn.warp import WarpBatch
from pliant.model import Robot


def best(sides: list[Callable[[], Any]], seconds: float) -> list[float]:
    """Return the shortest time of a call of each side [s], the sides in turn for some time."""
    found = [math.inf] * len(sides)
    for side in sides:
        side()
    until = time.perf_counter() + seconds * len(sides)
    while time.perf_counter() < until:
        for k, side in enumerate(sides):
            start = time.perf_counter()
            side()
            found[k] = min(found[k], time.perf_counter() - start)
    return found


def against_the_batch(worlds: int, steps: int, seconds: float) -> None:
    """Print what the environment costs beside its batch, for the thrower at rest."""
    task = find_task("throw").replace(period=steps * 0.001, duration=1e6)
    env = BatchEnv(task, worlds)
    env.reset(seed=1)
    action = np.zeros((worlds, len(task.actions)))
    action[:, 4] = -1.0
    bare = make_batch(task.robot(), worlds)
    for _ in range(100):
        env.step(action)
    for field in ("qpos", "qvel", "act", "ctrl"):
        bare.bind(field)[:] = env.batch.read(f"state/{field}")
    physics = env.batch.step

    def python() -> None:
        env.batch.step = lambda n=1: None
        env.step(action)
        env.batch.step = physics

    mine, theirs, alone = best([lambda: env.step(action), lambda: bare.step(nstep=steps), python], seconds)
    rates = worlds * steps / np.array([mine, theirs])
    print(
        f"throw, {steps:2d} steps an action: environment {rates[0]:9.0f}, bare batch {rates[1]:9.0f} steps/s: "
        f"{100.0 * rates[0] / rates[1]:5.1f} %, {1e6 * (mine - theirs):.0f} us an action, "
        f"{1e6 * alone:.0f} us without physics"
    )


def on_device(device: str | None, worlds: int, steps: int, rounds: int = 40) -> None:
    """Print the time of an action of the thrower on a device of Warp, or on the cores, and the part of the batch."""
    task = find_task("throw").replace(period=steps * 0.001, duration=1e6)
    make = None if device is None else partial(WarpBatch, device=device)
    wait = (lambda: None) if device is None else load_warp().synchronize
    env = BatchEnv(task, worlds, batch=make)
    env.reset(seed=1)
    action = np.zeros((worlds, len(task.actions)), dtype=np.float32)
    action[:, 4] = -1.0
    sides: list[Callable[[], Any]] = [lambda: env.step(action), lambda: env.batch.step(steps)]
    times: list[list[float]] = [[], []]
    for k in range(rounds + 5):
        for side, found in zip(sides, times, strict=True):
            wait()
            start = time.perf_counter()
            side()
            wait()
            if k >= 5:
                found.append(time.perf_counter() - start)
    whole, batch = (statistics.median(found) for found in times)
    print(
        f"throw on {device or 'the cores'}, {worlds} worlds, {steps:2d} steps an action: {1e6 * whole:6.0f} us, "
        f"{worlds * steps / whole / 1e6:.3g} M steps/s, of which the batch {100.0 * batch / whole:.0f} %"
    )


def state(world: World) -> Any:
    """Return positions and velocities."""
    return np.concatenate([world.port("state/qpos"), world.port("state/qvel")], axis=1)


def cheetah(path: Path) -> Task:
    """Return Gymnasium's HalfCheetah as a task: the same model, observation and frame skip.

    Its reward is the velocity at the end of the action; Gymnasium's is the displacement in the action over its time.
    """
    names = ["bthigh", "bshin", "bfoot", "fthigh", "fshin", "ffoot"]
    return Task(
        robot=lambda: Robot(mujoco.MjSpec.from_file(str(path)), set_defaults=False),
        actions=[Action(f"{name}/control") for name in names],
        observation={"state": lambda world: state(world)[:, 1:]},
        reward={
            "forward": lambda world: world.port("state/qvel")[:, 0],
            "control": lambda world: -0.1 * np.square(world.action).sum(axis=1),
        },
        period=0.05,
        duration=50.0,
    )


def pendulum(path: Path) -> Task:
    """Return Gymnasium's InvertedPendulum: the pole falls and the world starts again, slightly off upright."""

    def fallen(world: World) -> Any:
        return np.abs(world.port("state/qpos")[:, 1]) > 0.2

    def start(rng: np.random.Generator, worlds: int) -> dict[str, Any]:
        return {name: rng.uniform(-0.01, 0.01, worlds) for name in ("slider", "hinge")}

    return Task(
        robot=lambda: Robot(mujoco.MjSpec.from_file(str(path)), set_defaults=False),
        actions=[Action("slide/control", -3.0, 3.0)],
        observation={"state": state},
        reward={"upright": lambda world: 1.0 - fallen(world)},
        terminated={"fallen": fallen},
        period=0.04,
        duration=40.0,
        start=start,
    )


GYMNASIUM: dict[str, tuple[str, Callable[[Path], Task], float]] = {
    "HalfCheetah-v5": ("half_cheetah.xml", cheetah, 1.0),
    "InvertedPendulum-v5": ("inverted_pendulum.xml", pendulum, 3.0),
}
"""Environment -> its model, the same task here, the largest action there."""


MOST_PROCESSES = 32
"""Most worlds for which Gymnasium's AsyncVectorEnv, a process for each, is measured."""


def saved_state(env: BatchEnv) -> Any:
    """Return time, positions and velocities of every world, as `mujoco.rollout` takes them."""
    qpos, qvel = env.batch.read("state/qpos"), env.batch.read("state/qvel")
    return np.concatenate([np.zeros((len(qpos), 1)), qpos, qvel], axis=1)


def rolled_out(model: Any, start: Any, control: Any, frames: int, threads: int) -> Callable[[], Any]:
    """Return a call of `mujoco.rollout` that advances every world by the frames of one action."""
    from mujoco.rollout import Rollout

    count = threads or os.cpu_count() or 1
    pool = Rollout(nthread=0 if count == 1 else count)
    data = [mujoco.MjData(model) for _ in range(count)]
    held = np.repeat(control[:, None, :], frames, axis=1)
    return lambda: pool.rollout(model, data, start, held)


def against_gymnasium(name: str, worlds: int, seconds: float) -> None:
    """Print the ratio to an environment of Gymnasium's, and what physics alone allows."""
    from gymnasium.envs import mujoco as assets

    file, make, largest = GYMNASIUM[name]
    text = (Path(assets.__file__).parent / "assets" / file).read_text()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file
        # MuJoCo warns of this attribute whenever it compiles the model; without it both sides have other masses.
        path.write_text(text.replace(' settotalmass="14"', ""))
        theirs = gymnasium.make_vec(name, num_envs=worlds, vectorization_mode="sync", xml_file=str(path))
        theirs.reset(seed=1)
        task = make(path)
        count = len(task.actions)
        actions = np.random.default_rng(1).uniform(-1.0, 1.0, (worlds, count)).astype(np.float32)
        sides: list[Callable[[], Any]] = [lambda: theirs.step(largest * actions)]
        names = ["Gymnasium, SyncVectorEnv"]
        if worlds <= MOST_PROCESSES:
            workers = gymnasium.make_vec(name, num_envs=worlds, vectorization_mode="async", xml_file=str(path))
            workers.reset(seed=1)
            sides.append(lambda: workers.step(largest * actions))
            names.append("Gymnasium, AsyncVectorEnv")
        else:
            workers = None
        for threads in (1, 0):
            env = BatchEnv(task, worlds, batch=lambda robot, n, k=threads: CpuBatch(robot, n, nthread=k))
            env.reset(seed=1)
            sides.append(lambda env=env: env.step(actions))
            cores = "all cores" if threads == 0 else "one thread"
            names.append(f"pliant, {cores}")
            bare = make_batch(task.robot(), worlds, nthread=threads)
            for _ in range(20):
                env.step(actions)
            for field in ("qpos", "qvel", "ctrl"):
                bare.bind(field)[:] = env.batch.read(f"state/{field}")
            saved = bare.state.copy()

            def physics(bare: Any = bare, frames: int = env.frames, saved: Any = saved) -> None:
                bare.state[:] = saved
                bare.step(nstep=frames)

            sides.append(physics)
            names.append(f"MuJoCo alone, {cores}")
            sides.append(
                rolled_out(env.batch.model, saved_state(env), env.batch.read("state/ctrl"), env.frames, threads)
            )
            names.append(f"mujoco.rollout, {cores}")
        times = best(sides, 3.0 * seconds)
        if workers is not None:
            workers.close()
    for side, took in zip(names, times, strict=True):
        print(f"{name:20s} {side:26s} {worlds / took:9.0f} actions/s, {times[0] / took:5.1f} x")


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, help="default 256, on a device 4096")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--device", help="device of Warp")
    options = parser.parse_args()
    if options.device:
        for device in (options.device, None):
            for steps in (1, 5, 20):
                on_device(device, options.worlds or 4096, steps)
        return
    for steps in (1, 5, 20):
        against_the_batch(options.worlds or 256, steps, options.seconds)
    for name in GYMNASIUM:
        against_gymnasium(name, options.worlds or 256, options.seconds)


if __name__ == "__main__":
    main()

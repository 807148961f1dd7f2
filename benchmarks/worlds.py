"""Steps a second of many worlds, and what the laws cost in them: `CpuBatch` and `WarpBatch`.

Usage: python benchmarks/worlds.py [--device cpu|cuda:0] [--worlds N ...] [--robot qbmove-5dof] [--precision ...]

The target on a GPU: 8192 five-joint arms, 5 million steps a second, laws at most 10 %. Every number is the
median of the rounds; the fastest and the slowest stand beside it.
"""

from __future__ import annotations

import argparse
import logging
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.base.errors import PliantError
from pliant.batch.worlds import CpuBatch
from pliant.learn.laws import PRECISIONS, load_warp
from pliant.learn.warp import WarpBatch
from pliant.robots import build_robot

ROUNDS = 7


def move(batch: Any) -> None:
    """Give every joint of every world a reference of its own."""
    rng = np.random.default_rng(0)
    for joint in batch.joints:
        batch.write(f"{joint}/reference_1", rng.uniform(-0.6, 0.6, (batch.worlds, 1)))


def step_times(batch: Any, steps: int, wait: Callable[[], Any], clock: Callable[[], float]) -> list[float]:
    """Return the time of a step of all worlds in each round [s]."""
    found = []
    for _ in range(ROUNDS):
        wait()
        start = clock()
        batch.step(steps)
        wait()
        found.append((clock() - start) / steps)
    return found


def describe(times: list[float], worlds: int, joints: int) -> str:
    """Return the rates as text."""
    middle = statistics.median(times)
    spread = f"{1e6 * min(times):.0f} to {1e6 * max(times):.0f}"
    rate = worlds / middle / 1e6
    return f"{1e6 * middle:.0f} us a step ({spread}), {rate:.3g} M steps/s, {joints * rate:.3g} M joint-steps/s"


def law_share(batch: WarpBatch, steps: int, wait: Callable[[], Any], clock: Callable[[], float]) -> float:
    """Return the share of the laws in a step, from rounds with and without them in turn."""
    with_laws: tuple[Any, Any] = (batch._groups, batch._graph)
    state: dict[str, tuple[Any, Any]] = {"with": with_laws, "without": ([], None)}
    times: dict[str, list[float]] = {name: [] for name in state}
    for k in range(ROUNDS + 1):
        for name in state:
            batch._groups, batch._graph = state[name]
            batch.step()
            wait()
            start = clock()
            batch.step(steps)
            wait()
            if k:  # the first round records the graph
                times[name].append(clock() - start)
            state[name] = (batch._groups, batch._graph)
    batch._groups, batch._graph = state["with"]
    return 1.0 - statistics.median(times["without"]) / statistics.median(times["with"])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--worlds", type=int, nargs="+", help="default 256, on a GPU 8192, 32768 and 131072")
    parser.add_argument("--robot", default="qbmove-5dof")
    parser.add_argument("--precision", nargs="+", choices=PRECISIONS, help="default both")
    parser.add_argument("--steps", type=int, help="steps of a round; default 20, on a GPU 500")
    options = parser.parse_args()
    gpu = options.device != "cpu"
    counts, steps = options.worlds or ([8192, 32768, 131072] if gpu else [256]), options.steps or (500 if gpu else 20)
    logging.basicConfig(format="%(message)s")
    logging.getLogger("pliant").setLevel(logging.INFO)  # the memory, said before anything is allocated
    robot = build_robot(options.robot)
    cores = CpuBatch(robot, min(counts[0], 1024))
    move(cores)
    cores.step(100)
    times = step_times(cores, 20, lambda: None, time.perf_counter)
    print(f"CpuBatch, {cores.worlds} worlds: {describe(times, cores.worlds, len(cores.joints))}")
    # Other programs disturb the time of the CPU device less when it is the processor's.
    clock = time.perf_counter if gpu else time.process_time
    for precision in options.precision or PRECISIONS:
        for worlds in counts:
            try:
                wp = load_warp()
                start = time.perf_counter()
                batch = WarpBatch(robot, worlds, options.device, precision=precision)
                batch.step()
                wp.synchronize()
            except PliantError as error:
                print(error)
                continue
            print(f"WarpBatch made in {time.perf_counter() - start:.1f} s (machine code is kept for later runs)")
            move(batch)
            batch.step(100 if gpu else 5)
            times = step_times(batch, steps, wp.synchronize, clock)
            print(f"{options.device}, {worlds} worlds, {precision}: {describe(times, worlds, len(batch.joints))}")
            share = 100.0 * law_share(batch, steps, wp.synchronize, clock)
            print(f"  laws {share:.1f} % of a step (target at most 10 %); diverged {int(batch.diverged.sum())}")
            if gpu and worlds == 8192:
                print(f"  5 million steps/s: {'met' if worlds >= 5e6 * statistics.median(times) else 'not met'}")
            del batch


if __name__ == "__main__":
    main()

"""Steps a second of many worlds, and what the laws cost in them: `CpuBatch` and `WarpBatch`.

Usage: python benchmarks/worlds.py [--device cpu|cuda:0] [--worlds N] [--robot qbmove-5dof] [--precision float64]

On a GPU the defaults are those of the target: 8192 five-joint arms, 5 million steps a second, laws at most 10 %.
"""

from __future__ import annotations

import argparse
import logging
import math
import time
from typing import Any

from pliant.base.errors import PliantError
from pliant.engine.worlds import CpuBatch
from pliant.learn.laws import load_warp
from pliant.learn.warp import WarpBatch
from pliant.robots import build_robot


def rate(batch: Any, steps: int, wait: Any) -> float:
    """Return steps of all worlds a second, the best of three."""
    best = 0.0
    for _ in range(3):
        wait()
        start = time.perf_counter()
        batch.step(steps)
        wait()
        best = max(best, steps * batch.worlds / (time.perf_counter() - start))
    return best


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--worlds", type=int, help="default 256, on a GPU 8192")
    parser.add_argument("--robot", default="qbmove-5dof")
    parser.add_argument("--precision", default="float64")
    parser.add_argument("--steps", type=int, help="steps of a round; default 20, on a GPU 500")
    options = parser.parse_args()
    gpu = options.device != "cpu"
    worlds, steps = options.worlds or (8192 if gpu else 256), options.steps or (500 if gpu else 20)
    logging.basicConfig(format="%(message)s")
    logging.getLogger("pliant").setLevel(logging.INFO)  # the memory, said before anything is allocated
    robot = build_robot(options.robot)
    cpu = CpuBatch(robot, min(worlds, 1024))
    print(f"CpuBatch, {cpu.worlds} worlds: {rate(cpu, 20, lambda: None):.0f} steps/s")
    try:
        wp = load_warp()
        start = time.perf_counter()
        batch = WarpBatch(robot, worlds, options.device, precision=options.precision)
        batch.step()
    except PliantError as error:
        print(error)
        return
    print(f"WarpBatch: made in {time.perf_counter() - start:.1f} s (machine code is kept for later runs)")
    with_laws = rate(batch, steps, wp.synchronize)
    target = f" (target on a GPU: 5 million; {'met' if with_laws >= 5e6 else 'not met'})" if gpu else ""
    print(f"WarpBatch on {options.device}, {worlds} worlds, {options.precision}: {with_laws:.0f} steps/s{target}")
    # Single steps in turn, the best of each: other programs disturb the rest. On the CPU by processor time.
    clock = time.process_time if options.device == "cpu" else time.perf_counter
    groups, graphs = batch._groups, {"with": None, "without": None}
    best = dict.fromkeys(graphs, math.inf)
    for _ in range(2 * steps):
        for name, kept in (("with", groups), ("without", [])):
            batch._groups, batch._graph = kept, graphs[name]
            wp.synchronize()
            start = clock()
            batch.step()
            wp.synchronize()
            best[name] = min(best[name], clock() - start)
            graphs[name] = batch._graph
    share = 100.0 * (1.0 - best["without"] / best["with"])
    print(f"step {1e3 * best['with']:.2f} ms, without laws {1e3 * best['without']:.2f} ms:", end=" ")
    print(f"laws and observation {share:.1f} % (target at most 10 %; {'met' if share <= 10.0 else 'not met'})")


if __name__ == "__main__":
    main()

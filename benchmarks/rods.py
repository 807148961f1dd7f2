"""Print what the continuum-parallel-robot solver reaches, beside what is asked of it.

Rates are of one core, the best of several runs, in ratio to the published C++ solver as shipped (155 ms a solve of
the 6PFR, 200 Dormand-Prince steps and dense finite differences). Run: python benchmarks/rods.py [--cold] [--compile]
Reached on two shared cores (numba 0.68): 6PFR fast 14 kHz at 4e-6 m, accurate 10 kHz at 2e-8 m,
paths of 500 poses 31-33 kHz and of 2000 49-50 kHz, both 1e-9 m from converged,
stability index 0.7 ms, a step of 1 ms of the 6PFR 450-490 us; two thirds of these rates, in the middle of a process,
where something outside takes a share of the core; cold starts 100, 100, 100 (6PFF, 6PFR, 6PFS),
98 (Till), 46 (6EFR); first compilation 23.5 s of processor time, imports included, then 0.8 s a process.

--cold adds the cold-start counts (a minute), --compile the first compilation in a new cache (half a minute).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter

import numpy as np

from pliant.base.spatial import exp_so3
from pliant.rods import NoEquilibrium, load_robot
from pliant.rods._build import flatten
from pliant.rods.accuracy import ACCURACIES
from pliant.rods.kernels import Tasks
from pliant.tendons import TendonRobot
from pliant.tendons.robots import measured_v4

SHIPPED = 0.155  # s a solve of the original, measured on a comparable core
ROWS = 500


def trajectory(rows):
    """A closed path of the 6PFR: 5 cm and 0.1 rad."""
    poses = []
    for a in np.linspace(0.0, 2.0 * np.pi, rows, endpoint=False):
        X = np.eye(4)
        X[:3, 3] = 0.05 * np.cos(a), 0.05 * np.sin(a), 1.1 + 0.05 * np.sin(2 * a)
        X[:3, :3] = exp_so3(0.1 * np.array([np.sin(a), np.cos(a), np.sin(2 * a)]))
        poses.append(X)
    return poses


def best(call, runs=7, clock=time.process_time):
    """Return the least time of several runs, of the processor unless another clock is given, and the last result."""
    times = []
    for _ in range(runs):
        start = clock()
        got = call()
        times.append(clock() - start)
    return min(times), got


def line(what, value, asked="", note=""):
    print(f"{what:<46}{value:>14}   {asked:<16}{note}")


def loop(robot, start, steps, poses, q=None):
    rows = len(poses)
    xs = np.array([flatten(X) for X in poses])
    inverse = q is None
    joints = np.zeros((rows, 6)) if inverse else q
    tasks = Tasks(inverse, joints, xs, np.ones(6, bool), np.zeros((rows, 6)), False)
    return robot._call(start._state.copy(), steps, tasks)


def ahead(robot, start, steps, poses, margins):
    """Follow poses as `ContinuumParallelRobot.follow`: predicted, with derivatives that serve for several rows."""
    xs, rows = np.array([flatten(X) for X in poses]), len(poses)
    tasks = Tasks(True, np.zeros((rows, 6)), xs, np.ones(6, bool), np.zeros((rows, 6)), False)
    return robot._follow(start._state.copy(), steps, tasks, margins=margins)


def gradient_times():
    """Twelve gradients by geometry, and those of the stiffness, in processor time."""
    home = load_robot("Stewart_Gough_6PFR").home()
    names = [f"limb{i}.{what}" for i in range(1, 7) for what in ("base.x", "plate_joint.y")]

    def run(of):
        home._gradient_matrix = home._linear = None
        home.gradients(names, of)

    for what, of, asked in (("joint values", ["joints"], "<= 1 ms"), ("stiffness", ["smallest_stiffness"], "")):
        run(of)
        times = []
        for _ in range(30):
            began = time.process_time()
            run(of)
            times.append(time.process_time() - began)
        line(f"  12 gradients of {what} by geometry", f"{1e3 * min(times):.2f} ms", asked, "processor time")


def step_time():
    """A step of the 6PFR with 4 segments a rod at 1 kHz, commands at 100 Hz, in processor time."""
    from pliant.engine import MujocoEngine
    from pliant.parallel.device.parallel import ParallelRobotDevice
    from pliant.parallel.model import build_parallel, mechanism_of
    from pliant.simulation import Simulation

    robot = build_parallel("Stewart_Gough_6PFR", segments=4)
    device = ParallelRobotDevice(mechanism_of(robot))
    simulation = Simulation(MujocoEngine(robot), [device], pacer="free")
    pose, steps, used = device.read(0).values["pose"].copy(), 1000, 0.0
    for k in range(steps):
        if k % 10 == 0:
            pose[0] += 2e-5
            device.inbox.put({"pose": pose.copy()}, mode="igm_parameters")
        began = time.process_time()
        simulation.step()
        used += time.process_time() - began
    simulation.close()
    line("  6PFR, 4 segments, a step of 1 ms", f"{1e6 * used / steps:.0f} us", "<= 700 us", "processor time")


def speed():
    robot = load_robot("Stewart_Gough_6PFR")
    poses = trajectory(ROWS)
    start = robot.solve_igm(poses[0])
    _, found = loop(robot, start, 400, poses)
    q_ref, x_ref = found.Q[:, :, 0].copy(), found.X.copy()
    print(f"6PFR, {ROWS} poses on a closed path, warm, compiled loop, {os.cpu_count()} cores seen, one used")
    for name, asked in (("fast", 5000), ("accurate", 4000)):
        steps = ACCURACIES[name].steps
        t, (_, found) = best(lambda n=steps: loop(robot, start, n, poses))
        error = np.abs(found.Q[:, :, 0] - q_ref).max()
        rate = ROWS / t
        line(f"  IGM {name} ({steps} steps)", f"{rate:.0f} Hz", f">= {asked} Hz", f"error {error:.1e} m, residual {found.report[:, 0].max():.0e}, {rate * SHIPPED:.0f}x shipped")  # noqa: E501  # fmt: skip
        t, (_, found) = best(lambda n=steps: loop(robot, start, n, poses, q_ref))
        line(f"  DGM {name}", f"{ROWS / t:.0f} Hz", f">= {asked} Hz", f"error {np.abs(found.X - x_ref).max():.1e}")
    for rows in (ROWS, 2000):
        path = trajectory(rows)
        for margins in (False, True):
            t, (_, found) = best(lambda p=path, m=margins: ahead(robot, start, ACCURACIES["fast"].steps, p, m))
            _, exact = loop(robot, start, ACCURACIES["fast"].steps, path)
            error = np.abs(found.Q - exact.Q)[1:].max()
            asked = "" if margins else ">= 30000 Hz"
            line(f"  path of {rows} poses{', margins' if margins else ''}", f"{rows / t:.0f} Hz", asked, f"{error:.0e} m from converged")  # noqa: E501  # fmt: skip

    def one_by_one():
        s = start
        for X in poses:
            s = robot.solve_igm(X, start=s)

    t, _ = best(one_by_one, 3)
    line("  Python call, one pose at a time, accurate", f"{ROWS / t:.0f} Hz", ">= 2500 Hz")
    robot.solve_batch(poses[:20])
    many = trajectory(4 * ROWS)
    t1, _ = best(lambda: robot.solve_batch(many, workers=1), 3, time.perf_counter)
    t2, _ = best(lambda: robot.solve_batch(many, workers=2), 3, time.perf_counter)
    line("  batch, 1 worker", f"{4 * ROWS / t1:.0f} Hz")
    line("  batch, 2 workers", f"{4 * ROWS / t2:.0f} Hz", "", f"{t1 / t2:.2f} times one worker")

    def index():
        for _ in range(100):
            start._stability = None
            start.stability()

    t, _ = best(index, 5)
    line("  stability index with linearisation", f"{10 * t:.2f} ms", "<= 1 ms")
    print("order of convergence (q against 400 steps):")
    for steps in (1, 2, 3, 4, 6):
        _, found = loop(robot, start, steps, poses[:100])
        line(f"  {steps} steps", f"{np.abs(found.Q[:, :, 0] - q_ref[:100]).max():.1e} m")


def tendon_path():
    """A smooth path of lengths of nine tendons of a robot of three segments, with friction, in processor time."""
    robot = TendonRobot(measured_v4())
    t = np.linspace(0.0, 2.0 * np.pi, 4 * ROWS)
    pulls = 2e-3 * np.cos(t[:, None] - np.arange(9) * 2.0 * np.pi / 3.0) * np.repeat([1.0, 0.6, 0.4], 3)
    robot.replay(pulls[:10])
    took, (tips, *_) = best(lambda: robot.replay(pulls), 5)
    assert np.isfinite(tips).all()
    line("  tdcr-v4, lengths of nine tendons", f"{len(pulls) / took:.0f} Hz", ">= 3000 Hz")


def equilibria_times():
    """All equilibria of a pose by 60 random starts, solved on all cores."""
    for name in ("Stewart_Gough_6PFR", "3RR", "RERRFR", "Stewart_Gough_6EFR"):
        robot = load_robot(name)
        X = np.array(robot.description.home)
        X[:2, 3] += 0.05, 0.02
        robot.equilibria(X)
        used, found = best(lambda r=robot, at=X: r.equilibria(at))
        wall, _ = best(lambda r=robot, at=X: r.equilibria(at), clock=time.perf_counter)
        note = f"{1e3 * used:.0f} ms of processor time on all cores"
        line(f"  equilibria of {name}: {len(found)}", f"{1e3 * wall:.0f} ms", "<= 50 ms", note)


def cold():
    print("cold starts, 100 random poses a robot (+-0.12 m, +-0.3 rad; Till's 0.4 times the positions)")
    asked = {"6PFF": 100, "6PFR": 100, "6PFS": 100, "6FFR_Till": 95, "6EFR": 45}
    for short, least in asked.items():
        robot = load_robot(f"Stewart_Gough_{short}")
        rng = np.random.default_rng(0)
        scale = 0.4 if "Till" in short else 1.0
        solved = stable = 0
        how = Counter()
        begin = time.perf_counter()
        for _ in range(100):
            X = np.eye(4)
            X[:3, 3] = robot.description.home[:3, 3] + rng.uniform(-0.12, 0.12, 3) * scale
            X[:3, :3] = exp_so3(rng.uniform(-0.3, 0.3, 3))
            try:
                s = robot.solve_igm(X)
            except NoEquilibrium:
                continue
            solved += 1
            stable += s.stable
            if s.stable:
                how[s.starts[-1].split(" of seed")[0].rstrip(" 0123456789")] += 1
        took = time.perf_counter() - begin
        line(f"  {short}", f"{solved}", f">= {least}", f"{stable} stable, {took:.1f} s, {dict(how)}")


def compile_time():
    code = (
        "import time; t = time.time()\n"
        "from pliant.rods import load_robot\n"
        "load_robot('Stewart_Gough_6PFR').home(); print(time.time() - t, time.process_time())"
    )
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        for what, asked in (("first solve in a new cache", "<= 25 s"), ("first solve with a filled cache", "< 2 s")):
            got = subprocess.run(
                [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
            )
            wall, cpu = (float(v) for v in got.stdout.split())
            line(f"  {what}", f"{wall:.2f} s", asked, f"{cpu:.2f} s of processor time, imports included")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cold", action="store_true", help="also solve from poses far from the last one")
    parser.add_argument("--compile", action="store_true", help="also the first solve, compilation included")
    given = parser.parse_args()
    speed()
    gradient_times()
    tendon_path()
    equilibria_times()
    step_time()
    if given.cold:
        cold()
    if given.compile:
        compile_time()

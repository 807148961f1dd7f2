"""Measure what pliant promises of its camera: pictures a second, real time beside a 1 kHz loop, what it adds to a step.

    python benchmarks/camera.py                  all
    python benchmarks/camera.py render realtime  some
    python benchmarks/camera.py --json           for programs

The scene is a Franka arm with a wrist camera of 640 x 480 at 50 Hz before an AprilTag. It needs a graphics library;
what is not installed is said.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pliant.base.errors import PliantError
from pliant.devices import make_devices
from pliant.devices.base import Sample, SampleSource
from pliant.engine import MujocoEngine
from pliant.franka.robots.build import ArmMount, Surroundings, TagPlace, WristCamera, build_arms
from pliant.model import Camera
from pliant.simulation import Simulation
from pliant.simulation.bridge import BridgeBase

LATENCY = 0.02
"""Latency of the camera [s]: one picture is rendered while the loop runs on."""
DT = 1e-3


@dataclass
class Figure:
    """One measured figure."""

    name: str
    value: float
    unit: str
    target: str
    met: bool | None
    note: str = ""


class Receiver(BridgeBase):
    """Counts the pictures of a camera and their age."""

    def __init__(self, camera: str) -> None:
        super().__init__()
        self.camera = camera
        self.arrived: list[tuple[int, float]] = []

    def start(self, devices: Mapping[str, SampleSource]) -> None:
        """Begin."""

    def publish(self, sample: Sample) -> None:
        """Take a sample."""
        if sample.device == self.camera:
            self.arrived.append((sample.stamp_ns, time.perf_counter()))


def arm(*, camera: bool, latency: float = LATENCY, shadows: bool = False, pacer: float | str = 1.0) -> Simulation:
    """Return a simulated arm before a tag, with or without its camera."""
    robot = build_arms(
        [ArmMount(position=(0.0, 0.0, 0.5), camera=WristCamera() if camera else None)],
        around=Surroundings(tags=(TagPlace(position=(0.5, 0.0, 0.5)),)),
    )
    for i, device in enumerate(robot.devices):
        if isinstance(device, Camera):
            robot.devices[i] = dataclasses.replace(device, latency=latency, shadows=shadows)
    return Simulation(MujocoEngine(robot), make_devices(robot), [Receiver("franka_camera")], pacer=pacer)


def load() -> str:
    """Return the load of the machine."""
    return f"load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores" if hasattr(os, "getloadavg") else ""


def bench_render(_: float) -> list[Figure]:
    """Pictures a second, one after the other, each waited for."""
    figures = []
    for shadows, what, target in ((False, "shadows off", 100.0), (True, "shadows on", None)):
        with arm(camera=True, latency=0.0, shadows=shadows) as simulation:
            device: Any = simulation.devices["franka_camera"]
            device.read(0)
            count = 100 if not shadows else 30
            began = time.perf_counter()
            for i in range(count):
                device.read(i)
            rate = count / (time.perf_counter() - began)
        text, met = ("", None) if target is None else (f">= {target:g}", rate >= target)
        figures.append(Figure(f"pictures of 640 x 480, {what}", rate, "1/s", text, met, load()))
    return figures


def bench_realtime(seconds: float) -> list[Figure]:
    """Real time with a camera at 50 Hz beside a loop of 1 kHz; every picture must arrive, at its latency."""
    with arm(camera=True) as simulation:
        receiver = next(b for b in simulation.bridges.values() if isinstance(b, Receiver))
        simulation.run(0.5)
        receiver.arrived.clear()
        before, late = simulation.health(), simulation.pacer.stats(simulation.time_ns).late_steps
        rtf = simulation.run(seconds).achieved_rtf
        after, late = simulation.health(), simulation.pacer.stats(simulation.time_ns).late_steps - late
    stamps = np.array([stamp for stamp, _ in receiver.arrived])
    walls = np.array([wall for _, wall in receiver.arrived])
    expected = round(seconds * 50)
    waits = after["devices"]["franka_camera"]["waits"] - before["devices"]["franka_camera"]["waits"]
    worst = after["devices"]["franka_camera"]["worst_wait"]
    gaps = 1e3 * np.diff(walls)
    p = np.percentile(gaps, (1, 50, 99))
    dropped = expected - len(np.unique(stamps))
    return [
        Figure("real-time factor, 1 kHz loop and 50 Hz camera", rtf, "", ">= 0.99", rtf >= 0.99, load()),
        Figure("pictures dropped", dropped, "", "0", dropped == 0, f"{len(stamps)} of {expected} arrived"),
        Figure(
            "time between two pictures on arrival, median",
            float(p[1]),
            "ms",
            "",
            None,
            f"p1 {p[0]:.1f} p99 {p[2]:.1f} max {gaps.max():.1f} ms",
        ),
        Figure(
            "pictures not ready when due",
            waits,
            "",
            "",
            None,
            f"of {expected}; longest wait {1e3 * worst:.1f} ms; latency {1e3 * LATENCY:g} ms",
        ),
        Figure("steps past their deadline", late, "", "", None, f"of {round(seconds / DT)}"),
    ]


def step_times(seconds: float, *, camera: bool) -> np.ndarray:
    """Return wall time and processor time of the loop's thread of each step of a loop at 1 kHz, shape (n, 2) [us]."""
    with arm(camera=camera, pacer="free") as simulation:  # the loop below keeps the pace
        simulation.step(500)
        count = round(seconds / DT)
        found = np.empty((count, 2))
        due = time.perf_counter()
        for k in range(count):
            began, worked = time.perf_counter(), time.thread_time()
            simulation.step()
            found[k, 1] = 1e6 * (time.thread_time() - worked)
            ended = time.perf_counter()
            found[k, 0] = 1e6 * (ended - began)
            due = max(due + DT, ended)
            time.sleep(max(0.0, due - ended))
    return found


def bench_step(seconds: float) -> list[Figure]:
    """What the camera adds to a step, of 1 kHz: without and with it in turn, the median of five differences."""
    means, tails = [], []
    for _ in range(5):
        runs = [step_times(seconds / 5.0, camera=camera) for camera in (False, True)]
        means.append([run.mean(axis=0) for run in runs])
        tails.append([float(np.percentile(run[:, 0], 99)) for run in runs])
    found = np.array(means)  # repetition, without and with, wall and processor
    added = np.median(found[:, 1] - found[:, 0], axis=0)
    (plain, seen), tail = np.median(found, axis=0), np.median(tails, axis=0)
    wall = f"mean {plain[0]:.0f} and {seen[0]:.0f} us, p99 {tail[0]:.0f} and {tail[1]:.0f} us; {load()}"
    return [
        Figure("time that the camera adds to a step", float(added[0]), "us", "<= 50", bool(added[0] <= 50.0), wall),
        Figure(
            "the same, processor time of the loop's thread",
            float(added[1]),
            "us",
            "<= 50",
            bool(added[1] <= 50.0),
            f"mean {plain[1]:.0f} and {seen[1]:.0f} us",
        ),
    ]


BENCHES = {"render": bench_render, "realtime": bench_realtime, "step": bench_step}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("which", nargs="*", choices=[*BENCHES, []], help="default: all")
    parser.add_argument("--seconds", type=float, default=10.0, help="length of a run")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures: list[Figure] = []
    for name in options.which or list(BENCHES):
        try:
            measured = BENCHES[name](options.seconds)
        except PliantError as error:
            sys.exit(str(error))
        figures += measured
        if not options.json:
            for f in measured:
                mark = {True: "met", False: "MISSED", None: ""}[f.met]
                print(
                    f"{f.name:<50} {f'{f.value:9.4g} {f.unit}':<16} target {f.target:<8} {mark:<7} {f.note}", flush=True
                )
    if options.json:
        print(json.dumps([asdict(f) for f in figures], indent=2, default=float))


if __name__ == "__main__":
    main()

"""Measure what pliant promises of the Franka arms: the interface in lock-step and on the wall clock, and the dynamics.

    python benchmarks/franka.py                all
    python benchmarks/franka.py lockstep wall  some
    python benchmarks/franka.py --json         for programs

The client is pylibfranka, an unmodified wheel, in this process; the server is a process of its own, once as a
simulation in a script and once as `pliant run fr3 --bridge fci`. Without pylibfranka only the dynamics are measured.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib.util
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

FIELDS = (
    "q dq q_d dq_d tau_J tau_J_d dtau_J theta O_T_EE O_T_EE_d O_T_EE_c elbow tau_ext_hat_filtered O_F_ext_hat_K "
    "K_F_ext_hat_K joint_contact cartesian_contact"
)
"""What of a state is hashed."""


@dataclass
class Figure:
    """One measured figure."""

    name: str
    value: float
    unit: str
    target: str
    met: bool | None
    note: str = ""


@dataclass
class Server:
    """A running server and, after its end, what it said."""

    host: str
    report: dict[str, Any] = field(default_factory=dict)
    cpu_s: float = 0.0


_number = 0


@contextlib.contextmanager
def server(*, product: bool = False, mode: str = "lockstep") -> Iterator[Server]:
    """Serve an FR3 with hand and friction from a process of its own."""
    global _number
    _number += 1
    made = Server(f"127.{30 + os.getpid() % 200}.{_number}.1")
    if product:
        command = ["-m", "pliant", "run", "fr3", "--json", "--bridge", f"fci:host={made.host},mode={mode}"]
    else:
        command = [__file__, "--serve", made.host, mode]
    child = subprocess.Popen([sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdin is not None
    assert child.stdout is not None
    until = time.monotonic() + 120.0
    while True:
        try:
            socket.create_connection((made.host, 1337), timeout=1.0).close()
            break
        except OSError:
            if child.poll() is not None or time.monotonic() > until:
                sys.exit(f"no server: {child.stdout.read()}")
            time.sleep(0.05)
    before = cpu(child.pid)
    try:
        yield made
    finally:
        made.cpu_s = cpu(child.pid) - before
        if product:
            child.terminate()
        child.stdin.close()
        said = child.stdout.read()
        child.wait(30)
        with contextlib.suppress(ValueError, IndexError):
            made.report = json.loads(said.strip().splitlines()[-1])


def serve(host: str, mode: Any) -> None:
    """Be the script: serve the robot that `pliant run fr3` serves, until the input closes; print the counters."""
    import pliant
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine
    from pliant.franka.bridge import FciBridge, FciOptions
    from pliant.simulation import Simulation

    robot = pliant.load("fr3")
    bridge = FciBridge(FciOptions(host=host, mode=mode, command_timeout=60.0))
    with Simulation(MujocoEngine(robot), make_devices(robot), [bridge]) as simulation:
        bridge.work_log = []
        simulation.start()
        threading.Thread(target=lambda: (sys.stdin.read(), simulation.stop()), daemon=True).start()
        simulation.run()
        work = np.percentile(bridge.work_log, (50, 90, 99)) * 1e6
        print(json.dumps({"arms": bridge.health()["arms"], "work_us": work.round(1).tolist()}))


def cpu(pid: int) -> float:
    """Return the processor time of a process [s]."""
    parts = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()  # noqa: PTH123, SIM115
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


def torque_loop(host: str, seconds: float, *, digest: bool = False, sway: bool = False) -> dict[str, Any]:
    """Run a torque motion as the vendor's examples do; return rates, losses and a hash of every state."""
    import pylibfranka as f

    robot = f.Robot(host, f.RealtimeConfig.kIgnore)
    for _ in range(20):
        robot.read_once()
    control = robot.start_torque_control()
    torque, hashed, names = np.zeros(7), hashlib.sha256(), FIELDS.split()
    t, cycles, lowest, jumps = 0.0, 0, 1.0, 0
    stamps = []
    began = time.perf_counter()
    while t < seconds:
        state, period = control.readOnce()
        step = period.to_sec()
        t += step
        cycles += 1
        jumps += step > 0.00101
        lowest = min(lowest, state.control_command_success_rate)
        if sway:
            torque[:] = 0.3 * np.cos(5.0 * t) * np.array([1, 1, 1, 1, 0.2, 0.2, 0.05])
        if digest:
            for name in names:
                hashed.update(np.asarray(getattr(state, name), float).tobytes())
        given = f.Torques(torque.tolist())
        given.motion_finished = t >= seconds
        control.writeOnce(given)
        stamps.append(time.perf_counter())
    took = time.perf_counter() - began
    return {
        "factor": t / took,
        "cycles": cycles,
        "lowest": lowest,
        "jumps": jumps,
        "hash": hashed.hexdigest(),
        "periods_us": np.diff(stamps) * 1e6,
    }


def bench_lockstep(seconds: float) -> list[Figure]:
    """A torque loop in Python, as fast as it goes, and the server's part in it."""
    figures = []
    for product, what in ((False, "a script"), (True, "pliant run fr3 --bridge fci")):
        with server(product=product) as made:
            torque_loop(made.host, 0.5)
            before = time.perf_counter()
            found = torque_loop(made.host, seconds)
            wall = time.perf_counter() - before
        p = np.percentile(found["periods_us"], (50, 99))
        note = (
            f"{found['cycles']} cycles, period p50 {p[0]:.0f} p99 {p[1]:.0f} us, lowest success rate {found['lowest']}"
        )
        factor = found["factor"]
        figures.append(Figure(f"lock-step torque loop, {what}", factor, "x real time", ">= 3", factor >= 3.0, note))
        jumps = found["jumps"]
        figures.append(Figure(f"states missed, {what}", jumps, "", "0", jumps == 0))
        if product:
            # the processor's time, sockets and waiting included; start and idle streaming are a small part of it
            share = made.cpu_s / max(found["cycles"] + 500 + 1000 * (wall - seconds / factor), 1) * 1e6
            figures.append(Figure(f"processor time a cycle, {what}", share, "us", "", None, "whole process"))
        else:
            work = made.report["work_us"]
            note = f"p90 {work[1]} p99 {work[2]} us: physics, control, packing, sending; of {found['cycles']} cycles"
            figures.append(Figure("server's work a cycle, median", work[0], "us", "<= 120", work[0] <= 120.0, note))
            lost = sum(made.report["arms"][0][name] for name in ("lost", "timeouts", "malformed"))
            figures.append(Figure("commands lost, late or malformed", lost, "", "0", lost == 0))
    return figures


def bench_repeat(seconds: float) -> list[Figure]:
    """Two runs of the same motion against two fresh servers: every byte of every state."""
    seen = []
    for product in (False, False, True, True):
        with server(product=product) as made:
            seen.append(torque_loop(made.host, seconds, digest=True, sway=True)["hash"])
    figures = []
    for what, (a, b) in (("a script", seen[:2]), ("pliant run fr3 --bridge fci", seen[2:])):
        note = f"{a[:16]} {b[:16]}"
        figures.append(Figure(f"two runs give the same states, {what}", float(a == b), "", "1", a == b, note))
    same = seen[0] == seen[2]
    figures.append(Figure("a script and pliant run give the same states", float(same), "", "1", same))
    return figures


def bench_wall(seconds: float) -> list[Figure]:
    """The same loop at the wall clock's 1 kHz, where a late command is lost as on the robot."""
    with server(mode="wall") as made:
        torque_loop(made.host, 0.2)
        found = torque_loop(made.host, seconds)
    p = np.percentile(found["periods_us"], (1, 50, 99, 99.9))
    rate = 1000.0 * found["factor"]
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    note = f"period p1 {p[0]:.0f} p50 {p[1]:.0f} p99 {p[2]:.0f} p99.9 {p[3]:.0f} max {found['periods_us'].max():.0f} us"
    return [
        Figure("wall clock, cycles of the robot", rate, "Hz", "", None, note),
        Figure("lowest success rate over 100 commands", found["lowest"], "", "", None, f"load average {load:.1f}"),
        Figure(
            "commands lost",
            made.report["arms"][0]["lost"],
            "",
            "",
            None,
            f"of {found['cycles']}, {made.report['arms'][0]['late']} late",
        ),
        Figure("states that the client missed", found["jumps"], "", "", None),
    ]


def bench_dynamics(_: float) -> list[Figure]:
    """Calls of the dynamics library from Python, with hand."""
    from pliant.papers.franka_float import call_times

    targets = {"mass": (10, 1), "coriolis": (15, 3), "gravity": (10, 1), "friction": (None, None)}
    figures = []
    for name, times in call_times().items():
        for value, target, what in zip(times, targets[name], ("one call", "each of 2000 states"), strict=True):
            us = value * 1e6
            text, met = ("", None) if target is None else (f"<= {target}", us <= target)
            figures.append(Figure(f"{name}, {what}", us, "us", text, met))
    return figures


BENCHES = {"dynamics": bench_dynamics, "lockstep": bench_lockstep, "repeat": bench_repeat, "wall": bench_wall}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("which", nargs="*", choices=[*BENCHES, []], help="default: all")
    parser.add_argument("--seconds", type=float, default=5.0, help="robot time of a loop")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--serve", nargs=2, metavar=("HOST", "MODE"), help="be the script that serves an arm")
    parser.add_argument("--client", metavar="HOST", help="be pylibfranka: one torque motion at a server, as JSON")
    options = parser.parse_args()
    if options.serve:
        serve(*options.serve)
        return
    if options.client:
        found = torque_loop(options.client, options.seconds)
        p50, p99 = np.percentile(found.pop("periods_us"), (50, 99))
        print(json.dumps(found | {"p50_us": p50, "p99_us": p99}))
        return
    which = options.which or list(BENCHES)
    if importlib.util.find_spec("pylibfranka") is None:
        print("pylibfranka is not installed: only the dynamics are measured", file=sys.stderr)
        which = [name for name in which if name == "dynamics"]
    figures: list[Figure] = []
    for name in which:
        measured = BENCHES[name](options.seconds)
        figures += measured
        if not options.json:
            for f in measured:
                mark = {True: "met", False: "MISSED", None: ""}[f.met]
                value = f"{f.value:9.3g} {f.unit}"
                print(f"{f.name:<66} {value:<22} target {f.target:<8} {mark:<7} {f.note}", flush=True)
    if options.json:
        print(json.dumps([asdict(f) for f in figures], indent=2, default=float))


if __name__ == "__main__":
    main()

"""Measure pliant beside the other simulators of the Franka Control Interface, in one run with the same client.

    benchmarks/make_franka_rivals.sh ~/franka-rivals
    FRANKA_RIVALS=~/franka-rivals python benchmarks/franka_rivals.py
    python benchmarks/franka_rivals.py --json

The clients are `fci_client.cpp`, compiled here with g++, and pylibfranka in Python: one torque motion, every state
answered. Each server runs in a process of its own and is measured from its command to the first states, then during
the motion, with the processes that it starts. A simulator that is not installed is left out with a message. franka-sim
downloads its arm at the first start; where FR3_MJCF names none, it gets the arm that `pliant export mjcf fr3` writes.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PATIENCE_S = 120.0
"""Longest wait for a server's port [s of wall time]."""
PLIANT = (sys.executable, "-m", "pliant")


@dataclass(frozen=True)
class Rival:
    """One server and how it is started."""

    name: str
    command: tuple[str, ...]
    host: str
    environment: tuple[tuple[str, str], ...] = ()


def compile_client(folder: Path) -> Path:
    """Compile the client; return its program."""
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        sys.exit("no C++ compiler: apt-get install g++")
    program = folder / "fci_client"
    source = Path(__file__).with_name("fci_client.cpp")
    subprocess.run([compiler, "-O2", "-std=c++17", source, "-o", program], check=True)
    return program


def family_cpu(pid: int) -> float:
    """Return the processor time of a process and of its children, those that have ended included [s]."""
    try:
        parts = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        children = [
            int(child) for file in Path(f"/proc/{pid}/task").glob("*/children") for child in file.read_text().split()
        ]
    except OSError:
        return 0.0
    return sum(map(int, parts[11:15])) / os.sysconf("SC_CLK_TCK") + sum(map(family_cpu, children))


def run_client(client: Path, host: str, seconds: float) -> subprocess.CompletedProcess[str]:
    """Run the client for a robot time [s]; 0: it only reads states."""
    command = [str(client), host, str(seconds)]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=10.0 + 20.0 * seconds, check=False)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", "the client did not end")


@contextlib.contextmanager
def served(rival: Rival, client: Path, folder: Path) -> Iterator[tuple[int, dict[str, float]]]:
    """Start a server; yield its process and how long it took from the command to the first states."""
    output = folder / f"{rival.name.replace(' ', '_')}.log"
    if not run_client(client, rival.host, 0.0).returncode:
        raise RuntimeError(f"{rival.name}: another server answers at {rival.host} already")
    with output.open("w") as log:
        began = time.perf_counter()
        child = subprocess.Popen(
            rival.command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=os.environ | dict(rival.environment)
        )
        try:
            while True:
                if not run_client(client, rival.host, 0.0).returncode:
                    break
                if child.poll() is not None or time.perf_counter() - began > PATIENCE_S:
                    raise RuntimeError(f"{rival.name}: no server\n{output.read_text()[-1500:]}")
                time.sleep(0.02)
            yield child.pid, {"start_s": time.perf_counter() - began, "start_cpu_s": family_cpu(child.pid)}
        finally:
            child.send_signal(signal.SIGINT)
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def measure(rival: Rival, client: Path, seconds: float, folder: Path) -> dict[str, Any]:
    """Return the figures of one server."""
    with served(rival, client, folder) as (pid, found):
        # The first motion warms the server up. A server that is not ready yet refuses it.
        for _ in range(5):
            if not run_client(client, rival.host, 0.5).returncode:
                break
            time.sleep(1.0)
        before = family_cpu(pid)
        done = run_client(client, rival.host, seconds)
        used = family_cpu(pid) - before
        if done.returncode:
            raise RuntimeError(f"{rival.name}: {done.stderr.strip()} {done.stdout.strip()}")
        told = json.loads(done.stdout)
        found |= told | {"server_cpu_us": 1e6 * used / told["cycles"]}
        return {"name": rival.name, **found, **vendor_client(rival.host, seconds)}


def vendor_client(host: str, seconds: float) -> dict[str, float]:
    """Return what pylibfranka in Python sees of the same motion; nothing where it is not installed."""
    command = [sys.executable, str(Path(__file__).with_name("franka.py")), "--client", host, "--seconds", str(seconds)]
    if importlib.util.find_spec("pylibfranka") is None:
        return {}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20.0 + 20.0 * seconds, check=True)
    except subprocess.SubprocessError:
        return {}
    told = json.loads(done.stdout.splitlines()[-1])
    return {"vendor_factor": told["factor"], "vendor_p50_us": told["p50_us"], "vendor_missed": told["jumps"]}


def write_arm(path: Path) -> Path:
    """Write the arm of pliant as MJCF that the MuJoCo of franka-sim reads; return the path."""
    settings = ("--set", "robot.hand=none", "--set", "robot.meshes=shapes")
    command = (*PLIANT, "export", "mjcf", "fr3", str(path), "--native", *settings)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    lines = path.read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if "<light " not in line)
    path.write_text(re.sub(r' colorspace="\w+"', "", text), encoding="utf-8")
    return path


def rivals(folder: Path | None, scratch: Path) -> list[Rival]:
    """Return the servers that are installed, pliant's first."""
    own = f"127.{30 + os.getpid() % 200}"
    found = [
        Rival(f"pliant, {mode}", (*PLIANT, "run", "fr3", "--bridge", f"fci:host={host},mode={mode}"), host)
        for mode, host in (("lockstep", f"{own}.1.1"), ("paced", f"{own}.2.1"))
    ]
    if folder is None:
        return found
    program = folder / "franky-sim" / "bin" / "franky-sim"
    if program.is_file():
        host = f"{own}.4.1"
        found.append(Rival("franky-sim", (str(program), "-s", "mujoco", "--hostname", host), host))
    else:
        print(f"franky-sim is not installed: {program}", file=sys.stderr)
    program = folder / "franka-sim" / "bin" / "run-franka-sim-server"
    if program.is_file():
        model = os.environ.get("FR3_MJCF")
        if not model:
            model = str(write_arm(scratch / "fr3.xml"))
        found.append(Rival("franka-sim", (str(program), "--no-gripper"), "127.0.0.1", (("FR3_MJCF", model),)))
    else:
        print(f"franka-sim is not installed: {program}", file=sys.stderr)
    return found


COLUMNS = (
    ("start_s", "start [s]"),
    ("start_cpu_s", "of it processor [s]"),
    ("factor", "x real time"),
    ("p50_us", "period p50 [us]"),
    ("p99_us", "p99 [us]"),
    ("missed", "states missed"),
    ("lowest", "lowest success rate"),
    ("server_cpu_us", "server processor a cycle [us]"),
    ("vendor_factor", "pylibfranka x real time"),
    ("vendor_p50_us", "its period p50 [us]"),
    ("vendor_missed", "its states missed"),
)


def main() -> None:
    """Measure and print one row a server."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("which", nargs="*", help="first letters of the servers that are measured; default: all")
    parser.add_argument(
        "--rivals",
        type=Path,
        default=os.environ.get("FRANKA_RIVALS"),
        help="folder of make_franka_rivals.sh; default: FRANKA_RIVALS",
    )
    parser.add_argument("--seconds", type=float, default=5.0, help="robot time of the motion")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        client = compile_client(folder)
        for rival in rivals(options.rivals, folder):
            if not rival.name.startswith(tuple(options.which) or ""):
                continue
            try:
                rows.append(measure(rival, client, options.seconds, folder))
            except RuntimeError as fault:
                print(fault, file=sys.stderr)
                continue
            if not options.json:
                row = rows[-1]
                print(
                    f"{row['name']:<18} "
                    + "  ".join(f"{title} {row[key]:.4g}" for key, title in COLUMNS if key in rows[-1]),
                    flush=True,
                )
    if options.json:
        print(json.dumps({"load": os.getloadavg()[0], "rows": rows}, indent=2))


if __name__ == "__main__":
    main()

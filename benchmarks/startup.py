"""Measure how long `pliant run fr3` takes to the open port of the control interface, first and from then on.

    python benchmarks/startup.py            median of three warm starts, and one without machine code
    python benchmarks/startup.py --json     for programs

    python benchmarks/startup.py --python ~/clean/bin/python    of another installation, such as a wheel's

Python's bytecode is written, as for users, even where PYTHONDONTWRITEBYTECODE is set; it lies in a folder of its own.
Processor time tells the machine's load and speed apart from pliant's work, so the targets are on it and on the ratio to
a program that only imports MuJoCo, numba and SciPy's linear algebra, which every start does.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass

PYTHON = [sys.executable]
"""The Python whose pliant is measured."""
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
IMPORTS = """
import mujoco, numba, cyclopts
try:
    import scipy.linalg  # by numba, where it is installed
except ImportError:
    pass
"""
"""What every start imports of other packages."""


@dataclass
class Figure:
    """One measured figure."""

    name: str
    value: float
    unit: str
    target: str
    met: bool | None
    note: str = ""


def spent(pid: int) -> float:
    """Return the processor time of a running process [s]."""
    with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123
        parts = file.read().rpartition(")")[2].split()
    return sum(int(part) for part in parts[11:15]) / os.sysconf("SC_CLK_TCK")


def finished(*command: str) -> float:
    """Run a program of this Python to its end; return its processor time [s]."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    quiet = subprocess.DEVNULL
    subprocess.run([*PYTHON, *command], check=True, stdout=quiet, stderr=quiet, env=ENVIRONMENT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def start(number: int, cache: str = "") -> tuple[float, float]:
    """Start an FR3 and wait for its open port; return wall and processor time [s].

    Args:
        number: of the address, so that no start waits for the last one's port.
        cache: folder for the machine code; "" for the user's.
    """
    host = f"127.{40 + os.getpid() % 150}.{number}.1"
    folders = {"PLIANT_CACHE": cache, "NUMBA_CACHE_DIR": os.path.join(cache, "numba")} if cache else {}  # noqa: PTH118
    began = time.perf_counter()
    child = subprocess.Popen(
        [*PYTHON, "-m", "pliant", "run", "fr3", "--bridge", f"fci:host={host}"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**ENVIRONMENT, **folders},
    )
    try:
        while True:
            try:
                socket.create_connection((host, 1337), timeout=1.0).close()
                return time.perf_counter() - began, spent(child.pid)
            except OSError:
                if child.poll() is not None:
                    sys.exit(f"pliant run fr3 ended with {child.returncode}")
                time.sleep(0.01)
    finally:
        child.send_signal(signal.SIGINT)
        child.wait(60)


def measure() -> list[Figure]:
    """Return the figures."""
    start(0)  # whatever is missing in the cache is compiled
    imports = statistics.median(finished("-c", IMPORTS) for _ in range(3))
    wall, warm = (statistics.median(column) for column in zip(*(start(1 + k) for k in range(3)), strict=True))
    short = statistics.median(
        finished("-m", "pliant", "run", "fr3", "--duration", "0.01", "--bridge", "fci:port=0,gripper_port=0")
        for _ in range(3)
    )
    with tempfile.TemporaryDirectory(prefix="pliant-cold-") as cache:
        cold_wall, cold = start(9, cache)
    load = f"load average {os.getloadavg()[0]:.1f}"
    return [
        Figure("other packages' imports", imports, "s of processor time", "", None),
        Figure("warm: to the open port", warm, "s of processor time", "<= 3", warm <= 3.0, f"{wall:.2f} s, {load}"),
        Figure("warm: over the imports", warm / imports, "", "", None),
        Figure("warm: run --duration 0.01", short, "s of processor time", "<= 1.5", short <= 1.5),
        Figure("without machine code: to the open port", cold, "s of processor time", "", None, f"{cold_wall:.1f} s"),
        Figure(
            "without machine code: over warm", cold / warm, "", "", None, "`make setup` makes it, a wheel brings it"
        ),
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--python", default=sys.executable, help="the Python whose pliant is measured")
    options = parser.parse_args()
    PYTHON[:] = [options.python]
    with tempfile.TemporaryDirectory(prefix="pliant-bytecode-") as folder:
        ENVIRONMENT["PYTHONPYCACHEPREFIX"] = folder
        figures = measure()
    if options.json:
        print(json.dumps([asdict(f) for f in figures], indent=2))
        return
    for f in figures:
        mark = {True: "met", False: "MISSED", None: ""}[f.met]
        print(f"{f.name:<40} {f.value:7.3g} {f.unit:<20} target {f.target:<7} {mark:<7} {f.note}")


if __name__ == "__main__":
    main()

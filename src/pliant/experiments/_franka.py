"""The simulated Franka arm for experiments: behind its interface where a client is installed, else in this process.

Run as a program it serves one arm until its input closes: ``python -m pliant.experiments._franka --help``.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pliant.errors import BridgeError

__all__ = ["Arm", "arm_server", "open_robot"]


@dataclass(frozen=True, slots=True)
class Arm:
    """What an experiment drives."""

    robot: Any
    """A `pliant.robots.franka.Robot`."""
    through: str
    """How it is reached, in words."""


@contextlib.contextmanager
def open_robot(
    *, arm: str = "fer", friction: bool = True, compensated: bool = True, fci: bool | None = None
) -> Iterator[Arm]:
    """Yield an arm that is driven through the interface if pylibfranka is installed, else in this process.

    Args:
        arm: "fer" or "fr3".
        friction: whether the identified friction acts.
        compensated: whether the cabinet compensates it.
        fci: True insists on the interface, False on this process; None takes what there is.
    """
    from pliant.robots.franka.robot import Robot

    if fci is None:
        fci = importlib.util.find_spec("pylibfranka") is not None
    compensated = compensated and friction
    if not fci:
        with Robot.simulated(arm, friction=friction, friction_compensation=compensated) as robot:
            yield Arm(robot, "in this process, since pylibfranka is not installed")
        return
    with (
        arm_server(arm=arm, friction=friction, compensated=compensated) as host,
        Robot.connect(host, arm=arm) as robot,
    ):
        yield Arm(robot, "through the Franka Control Interface with pylibfranka")


@contextlib.contextmanager
def arm_server(
    *, arm: str = "fer", friction: bool = True, compensated: bool = True, mode: str = "lockstep"
) -> Iterator[str]:
    """Serve an arm from a process of its own; yields the address.

    Raises:
        BridgeError: the server did not start.
    """
    options = [f"--arm={arm}", f"--friction={int(friction)}", f"--compensated={int(compensated)}", f"--mode={mode}"]
    said = ""
    for attempt in range(5):
        # stock clients know one port, so every server has a loopback address of its own
        host = f"127.{60 + os.getpid() % 150}.{20 + attempt}.1"
        command = [sys.executable, "-m", "pliant.experiments._franka", f"--host={host}", *options]
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            said = server.stdout.readline().strip()
            if said != "READY":
                continue
            yield host
            return
        finally:
            server.stdin.close()
            server.wait(20)
            server.stdout.close()
    raise BridgeError(f"no server of the arm started: {said}")


def main() -> None:
    """Serve one arm; says READY, or why not, and ends when its input closes."""
    from pliant.bridges.fci import FciServer
    from pliant.robots.franka.build import Mount, MujocoPlant
    from pliant.robots.franka.controller import Settings
    from pliant.robots.franka.parameters import arm
    from pliant.robots.franka.serve import arm_server as side

    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--arm", default="fer")
    parser.add_argument("--friction", type=int, default=1)
    parser.add_argument("--compensated", type=int, default=1)
    parser.add_argument("--mode", default="lockstep")
    parser.add_argument("--report", action="store_true", help="print counters and work per cycle as JSON at the end")
    options = parser.parse_args()
    mount = Mount(arm=arm(options.arm))
    plant = MujocoPlant([mount], friction=bool(options.friction))
    settings = Settings(friction_compensation=bool(options.friction and options.compensated))
    one = side(plant.arms[0], mount, gravity=plant.arms[0].gravity.tolist(), settings=settings, host=options.host)
    server = FciServer([one], plant.step, mode=options.mode)
    try:
        server.open()
    except BridgeError as fault:
        sys.stdout.write(f"{fault}\n")
        return
    sys.stdout.write("READY\n")
    sys.stdout.flush()
    over = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), over.set()), name="input", daemon=True).start()
    work: list[float] = []

    def until() -> bool:
        if options.report and one.cabinet.awaits_command:
            work.append(server.work_s)
        return over.is_set()

    server.run(until=until)
    server.close()
    if options.report:
        import json

        import numpy as np

        shares = np.percentile(work, (50, 90, 99)) * 1e6 if work else np.zeros(3)
        sys.stdout.write(json.dumps({**one.counters, "work_us": shares.round(1).tolist()}) + "\n")


if __name__ == "__main__":
    main()

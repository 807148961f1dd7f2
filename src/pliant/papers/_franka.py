"""The simulated Franka arm for experiments: behind its interface where a client is installed, else in this process.

Run as a program it serves one arm until its input closes: ``python -m pliant.papers._franka --help``.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pliant.base.errors import BridgeError

if TYPE_CHECKING:
    from pliant.franka.client import FrankaRobot
    from pliant.simulation import Simulation

__all__ = ["PATIENCE_S", "Arm", "Server", "arm_server", "open_robot", "run_until_closed", "serve"]

PATIENCE_S = 0.6
"""How long the served arms wait for a command [s]: longer than the default, so that a busy machine loses none."""


@dataclass(frozen=True, slots=True)
class Arm:
    """The arm of an experiment and its connection."""

    robot: FrankaRobot
    """The arm."""
    through: str
    """How the arm is connected, for the report."""


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
    from pliant.franka.client import FrankaRobot

    if fci is None:
        fci = importlib.util.find_spec("pylibfranka") is not None
    compensated = compensated and friction
    if not fci:
        with FrankaRobot.simulated(
            arm, friction=friction, friction_compensation=compensated, motor_inertia=0.0
        ) as robot:
            yield Arm(robot, "in this process, since pylibfranka is not installed")
        return
    with (
        arm_server(arm=arm, friction=friction, compensated=compensated) as host,
        FrankaRobot.connect(host, arm=arm) as robot,
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
    options = [
        f"--arm={arm}",
        f"--friction={int(friction)}",
        f"--compensated={int(compensated)}",
        f"--mode={mode}",
    ]
    with serve(options) as server:
        yield server.host


@dataclass(slots=True)
class Server:
    """A served arm."""

    host: str
    """Its address."""
    counters: dict[str, Any] = field(default_factory=dict)
    """What it counted, if it was started with ``--report``; known after its end."""


@contextlib.contextmanager
def serve(options: list[str], module: str = __name__) -> Iterator[Server]:
    """Run a module as a program that serves arms; yields the server.

    Args:
        options: of the command line, without the address.
        module: takes ``--host``, prints READY, and ends when its input closes.

    Raises:
        BridgeError: the server did not start.
    """
    said = ""
    for attempt in range(5):
        # stock clients know one port, so every server has a loopback address of its own
        host = f"127.{60 + os.getpid() % 150}.{20 + attempt}.1"
        command = [sys.executable, "-m", module, f"--host={host}", *options]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdin is not None
        assert process.stdout is not None
        found = Server(host)
        try:
            said = process.stdout.readline().strip()
            if said != "READY":
                continue
            yield found
            return
        finally:
            process.stdin.close()
            last = process.stdout.read().strip().splitlines()
            process.wait(20)
            process.stdout.close()
            if last and said == "READY":
                with contextlib.suppress(ValueError):
                    found.counters.update(json.loads(last[-1]))
    raise BridgeError(f"no server of the arm started: {said}")


def run_until_closed(simulation: Simulation) -> bool:
    """Print READY and run a simulation until the standard input closes, or print why it does not start.

    Returns:
        Whether it ran.
    """
    try:
        simulation.start()
    except BridgeError as fault:
        sys.stdout.write(f"{fault}\n")
        return False
    sys.stdout.write("READY\n")
    sys.stdout.flush()
    ended = threading.Thread(target=lambda: (sys.stdin.read(), simulation.stop()), name="input", daemon=True)
    ended.start()
    simulation.run()
    return True


def main() -> None:
    """Serve one arm; print READY, or why not, and end when the input closes."""
    import numpy as np

    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine
    from pliant.franka.bridge import FciBridge, FciOptions
    from pliant.franka.robots.build import Q_START, ArmMount, TagPlace, WristCamera, build_arms
    from pliant.franka.robots.parameters import arm
    from pliant.simulation import Simulation
    from pliant.vision.pictures_bridge import Pictures, PicturesOptions

    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--arm", default="fer")
    parser.add_argument("--friction", type=int, default=1)
    parser.add_argument("--compensated", type=int, default=1)
    parser.add_argument("--motor-inertia", type=float, default=0.0)
    parser.add_argument("--mode", default="lockstep")
    parser.add_argument("--start", type=float, nargs=7, default=Q_START.tolist(), help="joint positions [rad]")
    parser.add_argument("--tag", type=float, nargs=4, help="size and place of AprilTag 0 in the base [m]")
    parser.add_argument("--height", type=float, default=0.0, help="of the base above the floor [m]")
    parser.add_argument("--pictures", default="", help="folder for the pictures of a wrist camera")
    parser.add_argument("--report", action="store_true", help="print counters and work per cycle as JSON at the end")
    given = parser.parse_args()
    tags = []
    if given.tag is not None:
        size, x, y, z = given.tag
        tags = [TagPlace(size=size, position=(x, y, z + given.height))]
    robot = build_arms(
        [
            ArmMount(
                arm=arm(given.arm),
                motor_inertia=given.motor_inertia,  # 0: the published model has links only
                q=tuple(given.start),
                position=(0.0, 0.0, given.height),
                camera=WristCamera() if given.pictures else None,
            )
        ],
        friction=bool(given.friction),
        friction_compensation=bool(given.friction and given.compensated),
        tags=tags,
    )
    bridge = FciBridge(FciOptions(host=given.host, mode=given.mode, command_timeout=PATIENCE_S))
    pictures = [Pictures(PicturesOptions(folder=given.pictures))] if given.pictures else []
    with Simulation(MujocoEngine(robot, guard=False), make_devices(robot), [*pictures, bridge]) as simulation:
        bridge.work_log = [] if given.report else None
        if run_until_closed(simulation) and given.report:
            shares = np.percentile(bridge.work_log, (50, 90, 99)) * 1e6 if bridge.work_log else np.zeros(3)
            counters = bridge.arms[0].counters
            sys.stdout.write(json.dumps({**counters, "work_us": shares.round(1).tolist()}) + "\n")


if __name__ == "__main__":
    main()

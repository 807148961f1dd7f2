"""Simulated Franka arms for programs: in this process, or served by a process of its own through their interface.

Run as a program it serves one arm or the torso until its input closes; `serve` starts it.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from pliant.base.errors import BridgeError

if TYPE_CHECKING:
    from pliant.franka.bridge import FciBridge
    from pliant.model import Robot
    from pliant.simulation import Simulation


R = TypeVar("R")
ATTEMPTS = 3
"""Runs through the interface before one that the machine interrupted is judged."""

PATIENCE_S = 60.0
"""How long the served arms wait for a command [s]: so long that no stall of the program or the machine loses one. What
a run gives then does not depend on the machine's load."""


def names_stall(text: str) -> bool:
    """Return whether an error says that libfranka had no state for a second: the machine stalled the server."""
    return "timeout" in text.lower()


def past_stalls(make: Callable[[], R], stalled: Callable[[R], bool] = lambda _: False) -> R:
    """Return what a run through the interface gives; one that a stall of the machine ended is made again.

    A stall says nothing about the arm.

    Args:
        make: makes the run; it may also raise what ended it.
        stalled: tells of a run that was made whether a stall ended it.

    Raises:
        BridgeError: the interface failed in another way, or in the last of `ATTEMPTS` runs.
    """
    for _ in range(ATTEMPTS - 1):
        try:
            found = make()
        except BridgeError as error:
            if not names_stall(str(error)):
                raise
            continue
        if not stalled(found):
            return found
    return make()


def build_arm(
    *,
    arm: str = "fer",
    friction: bool = True,
    compensated: bool = True,
    motor_inertia: float = 0.0,
    q: Sequence[float] | None = None,
    height: float = 0.0,
    tag: Sequence[float] | None = None,
    camera: bool = False,
) -> Robot:
    """Return an arm with hand on a base, with a wrist camera and a tag if wanted.

    Args:
        arm: "fer", "fr3", "fp3" or "fr3v2".
        friction: whether the identified friction acts.
        compensated: whether the cabinet compensates it.
        motor_inertia: fraction of the motors' inertia that is left; 0: the published model has links only.
        q: joint positions at the start, shape (7,) [rad]; None for the robot's own.
        height: of the base above the floor [m].
        tag: size and place of AprilTag 0 in the base, shape (4,) [m].
        camera: whether the wrist has a camera.
    """
    from pliant.franka.device.settings import Settings
    from pliant.franka.robots.build import Q_START, ArmMount, Surroundings, TagPlace, WristCamera, build_arms
    from pliant.franka.robots.parameters import arm as parameters

    mount = ArmMount(
        arm=parameters(arm),
        motor_inertia=motor_inertia,
        q=tuple(map(float, Q_START if q is None else q)),
        position=(0.0, 0.0, height),
        camera=WristCamera() if camera else None,
    )
    tags = () if tag is None else (TagPlace(size=tag[0], position=(tag[1], tag[2], tag[3] + height)),)
    settings = Settings(friction_compensation=friction and compensated)
    return build_arms([mount], friction=friction, settings=settings, around=Surroundings(tags=tags))


@dataclass(slots=True)
class Server:
    """A process that serves arms."""

    address: str
    """Address of the first arm."""
    counters: dict[str, Any] = field(default_factory=dict)
    """Counters of each arm ("arms") and work of the interface in a cycle at 50, 90 and 99 % ("work_us"); filled in at
    its end."""

    def host(self, index: int = 0) -> str:
        """Return the address of an arm: 0 the only or the left one, 1 the right one."""
        head, _, last = self.address.rpartition(".")
        return f"{head}.{int(last) + index}"


@contextlib.contextmanager
def serve(
    *, torso: bool = False, mode: str = "lockstep", pictures: str = "", wrench: str = "", **robot: object
) -> Iterator[Server]:
    """Serve an arm, or the torso with two, from a process of its own; yield the server.

    Args:
        torso: whether it is the torso.
        mode: time mode of the interface.
        pictures: folder for the pictures of the cameras; empty for none.
        wrench: file for the wrench of the torso's sensor; empty for none.
        robot: keywords of `build_arm`, or of `pliant.franka.robots.torso.torso`.

    Raises:
        BridgeError: the server did not start.
    """
    given = {"torso": torso, "mode": mode, "pictures": pictures, "wrench": wrench, "robot": robot}
    said = ""
    for attempt in range(5):
        # stock clients know one port, so every server has a loopback address of its own
        found = Server(f"127.{60 + os.getpid() % 150}.{20 + attempt}.1")
        command = [sys.executable, "-m", __name__, json.dumps({**given, "host": found.address})]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdin is not None
        assert process.stdout is not None
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


def main(text: str) -> None:
    """Serve what `serve` asks for; print READY, or why not, end when the input closes, and print the counters.

    Args:
        text: JSON with "host" and the arguments of `serve`; all but the host may be missing.
    """
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine
    from pliant.franka.bridge import FciBridge, FciOptions
    from pliant.franka.robots.torso import torso
    from pliant.franka.wrench_file import WrenchFile
    from pliant.simulation import Simulation
    from pliant.vision.pictures_bridge import Pictures, PicturesOptions

    given = json.loads(text)
    robot = (torso if given.get("torso") else build_arm)(**given.get("robot", {}))
    # pylibfranka speaks the FR3's protocol, and the published experiments are on FERs
    options = FciOptions(
        host=given["host"], mode=given.get("mode", "lockstep"), command_timeout=PATIENCE_S, system_version="any"
    )
    bridge = FciBridge(options)
    bridges: list[Any] = [WrenchFile(given["wrench"], "right_wrench")] if given.get("wrench") else []
    bridges += [Pictures(PicturesOptions(folder=given["pictures"]))] if given.get("pictures") else []
    with Simulation(MujocoEngine(robot, guard=False), make_devices(robot), [*bridges, bridge]) as simulation:
        try:
            simulation.start()
        except BridgeError as fault:
            sys.stdout.write(f"{fault}\n")
            return
        sys.stdout.write(json.dumps(run_until_input_closes(simulation, bridge)) + "\n")


def run_until_input_closes(simulation: Simulation, bridge: FciBridge) -> dict[str, Any]:
    """Run a simulation that has started: print READY, end when the input closes; return its `Server.counters`."""
    import numpy as np

    bridge.work_log = []
    sys.stdout.write("READY\n")
    sys.stdout.flush()
    threading.Thread(target=lambda: (sys.stdin.read(), simulation.stop()), name="pliant-input", daemon=True).start()
    simulation.run()
    shares = np.percentile(bridge.work_log, (50, 90, 99)) * 1e6 if bridge.work_log else np.zeros(3)
    return {"arms": bridge.health()["arms"], "work_us": shares.round(1).tolist()}


if __name__ == "__main__":
    main(sys.argv[1])

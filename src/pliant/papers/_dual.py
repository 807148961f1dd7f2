"""The torso with two arms for experiments: in this process, or behind the interface in a process of its own.

Run as a program it serves both arms until its input closes: ``python -m pliant.papers._dual --help``. The
interface knows no cameras and no force/torque sensors beyond the arm; what theirs measure goes through mapped files.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import BridgeError
from pliant.simulation.bridge import BridgeBase

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pliant.devices.base import Sample, SampleSource
    from pliant.franka.client import FrankaRobot

__all__ = ["Torso", "TorsoServer", "WrenchFile", "map_wrench", "open_torso", "serve_torso", "torso_in_process"]

Array = NDArray[np.float64]
MODULE = "pliant.papers._dual"


@dataclass(slots=True)
class Torso:
    """Both arms and what the sensors at the right one measure."""

    left: FrankaRobot
    """The arm with the tag."""
    right: FrankaRobot
    """The arm with camera and force/torque sensor."""
    wrench: Callable[[], Array]
    """Gives the newest wrench of the sensor, shape (6,) [N, N m]."""
    picture: Callable[[], tuple[float, NDArray[np.uint8]] | None] | None
    """Gives the robot time of the newest image [s] and the image, or None while there is none; None without a
    camera."""
    through: str
    """How the arms are reached."""
    health: Callable[[], Sequence[Mapping[str, Any]]] = tuple
    """What the server counted of each arm, after its end."""


class WrenchFile(BridgeBase):
    """Keeps the newest wrench of a force/torque sensor in a file that another process maps.

    It stands before the interface among the bridges: a client that holds the state of a cycle finds its wrench.

    Args:
        path: of the file.
        device: name of the sensor.
    """

    def __init__(self, path: str | Path, device: str) -> None:
        super().__init__()
        self._path, self._device = Path(path), device

    def start(self, devices: Mapping[str, SampleSource]) -> None:
        """Make the file."""
        self._values = map_wrench(self._path, mode="w+")

    def publish(self, sample: Sample) -> None:
        """Write a wrench."""
        if sample.device == self._device:
            self._values[:3] = sample.values["force"]
            self._values[3:] = sample.values["torque"]


def map_wrench(path: str | Path, mode: Any = "r") -> Array:
    """Return the wrench of a file of `WrenchFile`, shape (6,) [N, N m]."""
    return np.memmap(path, dtype=np.float64, mode=mode, shape=(6,))


@dataclass(slots=True)
class TorsoServer:
    """Both arms, served by another process."""

    first: str
    """Address of the left arm."""
    wrench: Path
    """File of the wrench."""
    pictures: Path
    """Folder of the pictures, with one file for each camera."""
    health: list[dict[str, Any]] = field(default_factory=list)
    """What was counted of each arm; known after the end."""

    def host(self, index: int) -> str:
        """Return the address of an arm: 0 the left one, 1 the right one."""
        head, _, last = self.first.rpartition(".")
        return f"{head}.{int(last) + index}"


@contextlib.contextmanager
def serve_torso(options: Sequence[str] = ()) -> Iterator[TorsoServer]:
    """Serve the torso from a process of its own; yields the server.

    Args:
        options: of the command line of this module, without address and files.

    Raises:
        BridgeError: the server did not start.
    """
    from pliant.papers._franka import serve

    with tempfile.TemporaryDirectory(prefix="pliant-") as folder:
        wrench = Path(folder) / "wrench"
        files = [f"--wrench={wrench}", f"--pictures={folder}"]
        with serve([*options, *files], MODULE) as server:
            found = TorsoServer(server.host, wrench, Path(folder))
            yield found
        found.health += server.counters.get("arms", [])


@contextlib.contextmanager
def open_torso(
    *,
    fci: bool,
    rendered: bool,
    obstacle: bool,
    friction: bool = True,
    mode: str = "lockstep",
    start: Sequence[Sequence[float]] | None = None,
) -> Iterator[Torso]:
    """Yield both arms, at rest at their start.

    Args:
        fci: through the interface, served by another process; else in this one.
        rendered: whether the camera renders; it needs a renderer and the extra ``vision``.
        obstacle: whether the post stands on the table.
        friction: whether the identified joint friction acts, and is compensated.
        mode: time mode of the interface.
        start: joints of both arms at the start [rad]; None: the robot's own.

    Raises:
        MissingDependency: pylibfranka, a renderer or pyapriltags is missing.
        BridgeError: no server started.
    """
    from pliant.franka.client import FrankaRobot
    from pliant.vision.client import SharedPictures

    if not fci:
        with torso_in_process(rendered=rendered, obstacle=obstacle, friction=friction, start=start) as found:
            yield found
        return
    options = [f"--obstacle={int(obstacle)}", f"--camera={int(rendered)}", f"--friction={int(friction)}"]
    if start is not None:
        options += ["--start", *(repr(float(angle)) for q in start for angle in q)]
    with (
        serve_torso([*options, f"--mode={mode}"]) as server,
        FrankaRobot.connect(server.host(0), arm="fer") as left,
        FrankaRobot.connect(server.host(1), arm="fer") as right,
    ):
        wrench = map_wrench(server.wrench)
        eye = SharedPictures(server.pictures / "right_camera") if rendered else None

        def picture() -> tuple[float, NDArray[np.uint8]] | None:
            assert eye is not None
            try:
                stamp_ns, image = eye.latest()
            except BridgeError:
                return None
            return 1e-9 * stamp_ns, image

        yield Torso(
            left,
            right,
            lambda: np.array(wrench),
            picture if rendered else None,
            "through the Franka Control Interface with pylibfranka, in lock-step",
            lambda: server.health,
        )


@contextlib.contextmanager
def torso_in_process(
    *, rendered: bool, obstacle: bool, friction: bool = True, start: Sequence[Sequence[float]] | None = None
) -> Iterator[Torso]:
    """Yield both arms, simulated in this process.

    Raises:
        MissingDependency: a renderer or pyapriltags is missing.
    """
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine
    from pliant.franka.client import FrankaRobot
    from pliant.franka.robots.torso import Q_LEFT, Q_RIGHT, torso
    from pliant.simulation import Simulation

    q_left, q_right = (Q_LEFT, Q_RIGHT) if start is None else start
    robot = torso(camera=rendered, tag=rendered, obstacle=obstacle, friction=friction, q_left=q_left, q_right=q_right)
    with (
        Simulation(MujocoEngine(robot), make_devices(robot), pacer="free") as simulation,
        FrankaRobot.of(simulation, "left") as left,
        FrankaRobot.of(simulation, "right") as right,
    ):

        def wrench() -> Array:
            values = simulation.sample("right_wrench").values
            return np.concatenate([values["force"], values["torque"]])

        def picture() -> tuple[float, NDArray[np.uint8]]:
            sample = simulation.sample("right_camera")
            return 1e-9 * sample.stamp_ns, np.asarray(sample.values["image"], dtype=np.uint8)

        yield Torso(left, right, wrench, picture if rendered else None, "in this process")


def main() -> None:
    """Serve both arms; print READY, or why not, and end when the input closes."""
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine
    from pliant.franka.bridge import FciBridge, FciOptions
    from pliant.franka.robots.torso import Q_LEFT, Q_RIGHT, torso
    from pliant.papers._franka import PATIENCE_S, run_until_closed
    from pliant.simulation import Simulation
    from pliant.vision.pictures_bridge import Pictures, PicturesOptions

    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--mode", default="lockstep")
    parser.add_argument("--obstacle", type=int, default=1)
    parser.add_argument("--camera", type=int, default=0)
    parser.add_argument("--friction", type=int, default=1)
    parser.add_argument(
        "--start", type=float, nargs=14, default=[*Q_LEFT, *Q_RIGHT], help="left and right joints [rad]"
    )
    parser.add_argument("--wrench", required=True, help="file for the wrench of the right sensor")
    parser.add_argument("--pictures", required=True, help="folder for the pictures of the right camera")
    given = parser.parse_args()
    robot = torso(
        camera=bool(given.camera),
        tag=bool(given.camera),
        obstacle=bool(given.obstacle),
        friction=bool(given.friction),
        q_left=given.start[:7],
        q_right=given.start[7:],
    )
    interface = FciBridge(FciOptions(host=given.host, mode=given.mode, command_timeout=PATIENCE_S))
    bridges: list[Any] = [WrenchFile(given.wrench, "right_wrench")]
    if given.camera:
        bridges.append(Pictures(PicturesOptions(folder=given.pictures)))
    with Simulation(MujocoEngine(robot, guard=False), make_devices(robot), [*bridges, interface]) as simulation:
        if run_until_closed(simulation):
            sys.stdout.write(json.dumps({"arms": interface.health()["arms"]}) + "\n")


if __name__ == "__main__":
    main()

"""Franka arms for programs: in this process, or served by a process of their own through the robots' interface.

The interface knows no cameras and no force/torque sensors beyond the arm; what theirs measure goes through mapped
files.
"""

from __future__ import annotations

import contextlib
import importlib.util
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.base.numerics import Array
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.franka.client import FrankaRobot
from pliant.franka.client.backend import PERIOD
from pliant.franka.robots.torso import torso as build_torso
from pliant.franka.wrench_file import map_wrench
from pliant.papers.arms.franka_server import build_arm, serve
from pliant.simulation import Simulation
from pliant.vision.client import SharedPictures


@dataclass(slots=True)
class Opened:
    """Arms at rest at their start, and what the sensors at the last one measure."""

    arms: Sequence[FrankaRobot]
    """The arm, or the left one with the tag and the right one with camera and force/torque sensor."""
    through: str
    """How they are reached."""
    picture: Callable[[], tuple[int, NDArray[np.uint8]]] | None
    """Gives the robot time of the newest image [ns] and the image, or raises a `BridgeError` while there is none; None
    without a camera."""
    wrench: Callable[[], Array]
    """Gives the newest wrench of the sensor of the torso, shape (6,) [N, N m]."""
    simulation: Simulation | None = None
    """The simulation, if it is in this process."""
    health: Callable[[], Sequence[Mapping[str, Any]]] = tuple
    """The server's counters of each arm, after its end."""

    @property
    def left(self) -> FrankaRobot:
        """The only or the left arm."""
        return self.arms[0]

    @property
    def right(self) -> FrankaRobot:
        """The only or the right arm."""
        return self.arms[-1]


@contextlib.contextmanager
def open_arms(
    *,
    fci: bool,
    rendered: bool = False,
    torso: bool = False,
    mode: str = "lockstep",
    period: float = PERIOD,
    **robot: Any,
) -> Iterator[Opened]:
    """Yield an arm, or the torso with two.

    Args:
        fci: through the interface, served by another process; else in this one.
        rendered: whether there are images of the robot's camera.
        torso: whether it is the torso.
        mode: time mode of the interface.
        period: time between two commands [s].
        robot: keywords of `build_arm`, or of `pliant.franka.robots.torso.torso`.

    Raises:
        MissingDependency: pylibfranka, a renderer or pyapriltags is missing.
        BridgeError: no server started.
    """
    names = ("left", "right") if torso else ("franka",)
    camera = f"{names[-1]}_camera"
    with contextlib.ExitStack() as stack:
        if not fci:
            built = (build_torso if torso else build_arm)(**robot)
            made = Simulation(MujocoEngine(built), make_devices(built), pacer="free")
            simulation = stack.enter_context(made)

            def picture() -> tuple[int, NDArray[np.uint8]]:
                sample = simulation.sample(camera)
                return sample.stamp_ns, np.asarray(sample.values["image"], dtype=np.uint8)

            def wrench() -> Array:
                values = simulation.sample("right_wrench").values
                return np.concatenate([values["force"], values["torque"]])

            arms = [stack.enter_context(FrankaRobot.of(simulation, name, period=period)) for name in names]
            yield Opened(arms, "in this process", picture if rendered else None, wrench, simulation)
            return
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pliant-")))
        files = {"wrench": str(folder / "wrench") if torso else "", "pictures": str(folder) if rendered else ""}
        server = stack.enter_context(serve(torso=torso, mode=mode, **files, **robot))
        hosts = [server.host(k) for k in range(len(names))]
        arms = [stack.enter_context(FrankaRobot.connect(host, arm="fer", period=period)) for host in hosts]
        mapped = map_wrench(folder / "wrench") if torso else np.zeros(6)
        yield Opened(
            arms,
            "through the Franka Control Interface with pylibfranka",
            SharedPictures(folder / camera).latest if rendered else None,
            lambda: np.array(mapped),
            health=lambda: server.counters.get("arms", []),
        )


@contextlib.contextmanager
def open_robot(*, friction: bool = True, compensated: bool = True, fci: bool | None = None) -> Iterator[Opened]:
    """Yield an arm that is driven through the interface if pylibfranka is installed, else in this process.

    Args:
        friction: whether the identified friction acts.
        compensated: whether the cabinet compensates it.
        fci: True insists on the interface, False on this process; None takes what there is.
    """
    installed = importlib.util.find_spec("pylibfranka") is not None
    with open_arms(fci=installed if fci is None else fci, friction=friction, compensated=compensated) as found:
        if fci is None and not installed:
            found.through += ", since pylibfranka is not installed"
        yield found


@contextlib.contextmanager
def open_torso(
    *,
    fci: bool,
    rendered: bool,
    obstacle: bool,
    friction: bool = True,
    mode: str = "lockstep",
    start: Sequence[Sequence[float]] | None = None,
) -> Iterator[Opened]:
    """Yield both arms of the torso; arguments as for `open_arms`.

    Args:
        fci: see `open_arms`.
        rendered: whether the camera renders; it needs a renderer and the extra ``vision``.
        obstacle: whether the post stands on the table.
        friction: whether the identified joint friction acts, and is compensated.
        mode: see `open_arms`.
        start: joints of both arms at the start [rad]; None: the robot's own.
    """
    options: dict[str, Any] = {"camera": rendered, "tag": rendered, "obstacle": obstacle, "friction": friction}
    if start is not None:
        options["q_left"], options["q_right"] = (np.asarray(q, dtype=float).tolist() for q in start)
    with open_arms(fci=fci, rendered=rendered, torso=True, mode=mode, **options) as found:
        if fci:
            found.through += ", in lock-step"
        yield found

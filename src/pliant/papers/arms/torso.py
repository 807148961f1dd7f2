"""The torso with two Franka arms for programs: in this process, or served by a process of its own.

The robots' interface knows no cameras and no force/torque sensors beyond the arm; what theirs measure goes through
mapped files.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import BridgeError
from pliant.base.numerics import Array
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.franka.client import FrankaRobot
from pliant.franka.robots.torso import Q_LEFT, Q_RIGHT, torso
from pliant.franka.wrench_file import map_wrench
from pliant.papers.arms.franka_server import serve
from pliant.simulation import Simulation
from pliant.vision.client import SharedPictures

if TYPE_CHECKING:
    from collections.abc import Mapping


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
    health: Callable[[], Sequence[Mapping[str, object]]] = tuple
    """The server's counters of each arm, after its end."""


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
    if not fci:
        with torso_in_process(rendered=rendered, obstacle=obstacle, friction=friction, start=start) as found:
            yield found
        return
    options: dict[str, Any] = {"camera": rendered, "tag": rendered, "obstacle": obstacle, "friction": friction}
    if start is not None:
        options["q_left"], options["q_right"] = (np.asarray(q, dtype=float).tolist() for q in start)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pliant-")))
        files = {"wrench": str(folder / "wrench"), "pictures": str(folder) if rendered else ""}
        server = stack.enter_context(serve(torso=True, mode=mode, **files, **options))
        left, right = (stack.enter_context(FrankaRobot.connect(server.host(k), arm="fer")) for k in range(2))
        wrench = map_wrench(folder / "wrench")
        eye = SharedPictures(folder / "right_camera") if rendered else None

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
            lambda: server.counters.get("arms", []),
        )


@contextlib.contextmanager
def torso_in_process(
    *, rendered: bool, obstacle: bool, friction: bool = True, start: Sequence[Sequence[float]] | None = None
) -> Iterator[Torso]:
    """Yield both arms, simulated in this process.

    Raises:
        MissingDependency: a renderer or pyapriltags is missing.
    """
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

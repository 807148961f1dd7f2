"""The section of a tendon-driven robot on the page: a handle at the tip, whose place the tendons follow."""

from __future__ import annotations

import dataclasses
import threading
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.errors import PliantError
from pliant.base.numerics import Array
from pliant.base.spatial import pose
from pliant.devices.base import Device
from pliant.page.handle import PlateHandle
from pliant.page.panels import Surroundings
from pliant.rods.solving import Solver
from pliant.tendons.device import TendonDevice
from pliant.tendons.robot import TendonRobot, TendonSolution

if TYPE_CHECKING:
    import mujoco

    from pliant.page.curve_drawing import CurveDrawing

MOVED = 1e-4
"""Change of the base plate's pose at which the statics are built anew [m, -]."""


class TendonSection:
    """A handle at the tip; the statics without friction give the least tensions that hold it where it is dragged.

    The device gets these tensions, or the lengths drawn in that belong to them. Of several targets only the newest is
    solved, in a thread.

    Args:
        around: what the page gives.
        device: the tendons.
    """

    def __init__(self, around: Surroundings, device: TendonDevice) -> None:
        self.device: Device | None = None
        """None: the sliders of the device stay."""
        self._tendons, self._say = device, around.say
        self._handle = PlateHandle(around.server, planar=False, turns=False, size=around.size, moved=self.move_tip)
        self._solver = Solver("pliant-tendons")
        self._lock = threading.Lock()
        self._base = np.eye(4)
        self._robot: TendonRobot | None = None
        self._last: TendonSolution | None = None
        self._asked, self._answered = 0, 0

    @property
    def busy(self) -> bool:
        """Whether a target is not solved yet."""
        return self._answered < self._asked

    def move_tip(self, target: Array) -> None:
        """Ask for a place of the tip: that of a pose, shape (4, 4). Any thread may call this."""
        with self._lock:
            self._asked += 1
            number, base, goal = self._asked, self._base.copy(), np.array(target[:3, 3], dtype=float)
        self._solver.submit("tip", lambda: self._solve(number, base, goal))

    def show(self, drawing: CurveDrawing | None, data: mujoco.MjData) -> None:
        """Let the handle follow the tip of the simulated robot, unless somebody drags it."""
        self._solver.results()
        description = self._tendons.description
        plate, tip = data.body(description.base_body), data.site(description.tip)
        with self._lock:
            self._base = pose(plate.xpos.copy(), plate.xmat.reshape(3, 3).copy())
        self._handle.follow(pose(tip.xpos.copy(), np.eye(3)))

    def home(self) -> None:
        """Forget targets and shapes of before a reset."""
        self._solver.clear()
        with self._lock:
            self._answered = self._asked
        self._solver.submit("home", self._forget)

    def open(self, name: str, data: bytes) -> bool:
        """Take no file."""
        return False

    def close(self) -> None:
        """End the thread that solves."""
        self._solver.clear()
        self._solver.close()

    def _forget(self) -> None:
        self._last = None

    def _solve(self, number: int, base: Array, goal: Array) -> None:
        device = self._tendons
        try:
            found = self._statics(base).solve_igm(goal, start=self._last)
            self._last = found
            name = device.field
            device.inbox.put({name: found.pull() if name == "pull" else found.tension})
        except (PliantError, np.linalg.LinAlgError) as error:
            self._last = None
            self._say(str(error))
        finally:
            with self._lock:
                self._answered = max(self._answered, number)

    def _statics(self, base: Array) -> TendonRobot:
        if self._robot is None or np.abs(base - np.asarray(self._robot.description.base)).max() > MOVED:
            d = self._tendons.description.statics(base)
            smooth = tuple(dataclasses.replace(tendon, friction=0.0) for tendon in d.tendons)
            self._robot, self._last = TendonRobot(dataclasses.replace(d, tendons=smooth)), None
        return self._robot

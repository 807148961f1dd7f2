"""The state machine of the vacuum gripper, without sockets and without contacts.

One cycle is `step`: whether the lip of the cup is closed all around in, the force of the cup out. Vacuum and DropOff
are answered when they have ended; Stop is answered at once and aborts the running one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from pliant.engine.flush import SMALLEST
from pliant.franka.device.gripper import GripperAnswer, HandTasks
from pliant.franka.device.memory import DT
from pliant.franka.device.parameters import Cup
from pliant.franka.wire import fci

PASCAL = 100.0
"""One mbar [Pa]."""


@dataclass(slots=True)
class _Task:
    command: int
    command_id: int
    left: int


class VacuumGripper(HandTasks[_Task]):
    """The controller of the vacuum gripper: a pump, a valve and a pressure sensor.

    The vacuum follows a first-order law with the time constant of the cup's condition: evacuated, leaking, open to
    the air, or vented. The pump stops at the setpoint, and starts again where the vacuum has fallen by the hysteresis.

    Args:
        cup: geometry, pump and thresholds.
    """

    def __init__(self, cup: Cup) -> None:
        super().__init__()
        self.cup = cup
        self.reset()

    def reset(self) -> None:
        """Return to rest without vacuum."""
        self.vacuum = 0.0
        """Pressure below that of the surroundings [mbar]."""
        self.in_control_range = False
        """Whether the vacuum is at its setpoint."""
        self.part_present = False
        """Whether an object is held."""
        self.part_detached = False
        """Whether the object has been given off after it was held."""
        self.answers.clear()
        self._mode: Literal["off", "suck", "vent"] = "off"
        self._pumping = False
        self._setpoint = 0.0
        self._cycle = False
        self._task = None

    def request(self, request: fci.VacuumRequest, command_id: int = 0) -> None:
        """Handle a request; its answer appears in `answers` when the operation has ended."""
        if isinstance(request, fci.Connect):
            raise TypeError("Connect is answered by the server")
        if isinstance(request, fci.VacuumStop):
            if self._task is not None:
                self._switch("off")
            self._done("aborted")
            self.answers.append(GripperAnswer(3, command_id, "success"))
            return
        command = 1 if isinstance(request, fci.Vacuum) else 2
        valid = request.timeout > 0
        if isinstance(request, fci.Vacuum):
            valid = valid and 0 < request.vacuum <= 255 and 0 <= request.profile <= 3
        if not valid:
            self.answers.append(GripperAnswer(command, command_id, "fail"))
            return
        self._done("aborted")
        self._task = _Task(command, command_id, int(request.timeout))
        if isinstance(request, fci.Vacuum):
            self._setpoint = min(10.0 * request.vacuum, self.cup.max_setpoint)
            self.part_detached = False
            self._switch("suck")
        else:
            self._switch("vent")

    def _switch(self, mode: Literal["off", "suck", "vent"]) -> None:
        self._mode = mode
        self._pumping = mode == "suck"
        self.in_control_range = False

    def step(self, sealed: bool) -> float:
        """Advance by one millisecond.

        Args:
            sealed: whether an object closes the lip of the cup all around.

        Returns:
            Force with which the cup holds on to an object [N].
        """
        cup = self.cup
        if self._mode == "vent":
            goal, tau = 0.0, cup.vent_time
        elif not sealed:
            goal, tau = (cup.open_vacuum if self._pumping else 0.0), cup.open_time
        elif self._pumping:
            goal, tau = cup.max_vacuum, cup.evacuation_time
        else:
            goal, tau = 0.0, cup.leak_time
        self.vacuum = goal + (self.vacuum - goal) * math.exp(-DT / tau)
        if self.vacuum < SMALLEST:
            self.vacuum = 0.0  # a share of the smallest subnormal number is that number, so it would never end
        self._watch(cup)
        task = self._task
        if task is not None:
            task.left -= 1
            if task.command == 1 and self.in_control_range:
                self._done("success")
            elif task.command == 2 and self.vacuum < cup.detached:
                self._switch("off")
                self._done("success")
            elif task.left <= 0:
                self._switch("off")
                self._done("unsuccessful")
        return self.vacuum * PASCAL * cup.area

    def _watch(self, cup: Cup) -> None:
        """Switch the pump, and compare the vacuum with the thresholds."""
        if self._mode == "suck":
            if self.vacuum >= self._setpoint:
                self._pumping, self.in_control_range = False, True
            elif self.vacuum < self._setpoint - min(cup.setpoint_hysteresis, 0.5 * self._setpoint):
                self._pumping, self.in_control_range = True, False
        if self.vacuum >= cup.present:
            self.part_present = self._cycle = True
        elif self.vacuum < cup.present - cup.present_hysteresis:
            self.part_present = False
        if self._cycle and self.vacuum < cup.detached:
            self._cycle, self.part_detached = False, True

    def state(self, message_id: int) -> fci.VacuumState:
        """Return the state that the vacuum gripper publishes."""
        return fci.VacuumState(
            message_id=message_id & 0xFFFFFFFF,
            in_control_range=self.in_control_range,
            part_detached=self.part_detached,
            part_present=self.part_present,
            actual_power=100 if self._pumping else 0,
            vacuum=round(self.vacuum),
        )

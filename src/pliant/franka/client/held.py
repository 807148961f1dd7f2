"""Commands of an arm that a program holds: approached within the arm's limits, and sent every millisecond."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.base.errors import DeviceError, PortError, nearest
from pliant.base.numerics import Array
from pliant.franka.client.backend import PERIOD
from pliant.franka.client.model import RobotState
from pliant.franka.client.robot import BRAKING, FrankaRobot, approach

if TYPE_CHECKING:
    from pliant.devices.base import DeviceBase
    from pliant.simulation import Simulation
    from pliant.simulation.channels import Channel

EDGE = 0.05
"""Distance from the position limits at which a commanded velocity is zero [rad]."""  # assumed


class Kind(NamedTuple):
    """One field of a command that can be held."""

    state: RobotState
    """Control state that it needs."""
    count: int
    """Number of elements."""
    unit: str
    """Unit of the elements."""


KINDS = {
    "dq_c": Kind("velocity", 7, "rad/s"),
    "q_c": Kind("velocity", 7, "rad"),
    "O_dP_EE_c": Kind("velocity", 6, "m/s or rad/s"),
    "tau_J_d": Kind("force_torque", 7, "N m"),
}
"""Field of a command, as the interface names it: joint velocities, joint positions to servo to, twist of the end
effector in the axes of the base, joint torques beside the compensation of gravity and friction."""
COUNTS = {name: kind.count for name, kind in KINDS.items()}
"""Number of elements of each."""


class HeldCommand:
    """Holds a command of an arm; elements that are not given are 0, or keep their position at the start.

    Args:
        robot: the arm.
        field: a key of `KINDS`.
        elements: the elements that are given.

    Raises:
        DeviceError: there is no such field.
    """

    def __init__(self, robot: FrankaRobot, field: str, elements: Sequence[int]) -> None:
        if field not in KINDS:
            raise DeviceError(f"an arm cannot hold the command {field!r}; {nearest(field, KINDS)}", field="command")
        self.robot = robot
        self.kind = KINDS[field]
        """State, size and unit."""
        self.elements = list(elements)
        """The elements that are given."""
        self._field = field
        self._values = np.zeros(self.kind.count)
        limits = robot.arm.limits
        self._speed = 0.5 * np.array(limits.velocity)  # assumed, for positions
        self._brake = 2.0 * BRAKING * np.array(limits.acceleration)
        self._lowest = np.array(limits.position_min)
        self._highest = np.array(limits.position_max) - EDGE

    def limits(self, element: int) -> tuple[float, float]:
        """Return the least and the largest value that the arm takes of an element."""
        limits = self.robot.arm.limits
        if self._field == "q_c":
            return limits.position_min[element], limits.position_max[element]
        if self._field == "O_dP_EE_c":
            most = limits.translation[0] if element < 3 else limits.rotation[0]
        else:
            most = (limits.torque if self._field == "tau_J_d" else limits.velocity)[element]
        return -most, most

    def start(self) -> None:
        """Start the motion of the arm.

        Raises:
            DeviceError: the arm refuses the motion, for instance after a reflex.
        """
        self._values[:] = self.robot.backend.get("q_d") if self._field == "q_c" else 0.0
        self.robot.set_robot_state(self.kind.state)

    def hold(self, values: Array) -> Array:
        """Hold new values of the given elements; return the whole command."""
        self._values[self.elements] = values
        return self._values.copy()

    def cycle(self) -> None:
        """Send the command of one millisecond and take the state that follows.

        Raises:
            DeviceError: the arm has ended the motion.
        """
        robot = self.robot
        if self._field == "tau_J_d":
            robot.want_force_torque("joint", self._values, 1.0)
        elif self._field == "O_dP_EE_c":
            robot.want_velocity("reference", self._values)
        else:
            robot.want_velocity("joint", self._braked(self._values if self._field == "dq_c" else self._servoed()))
        robot.wait(PERIOD)

    def _servoed(self) -> Array:
        """Return the velocity towards the held positions."""
        backend = self.robot.backend
        return approach(self._values - backend.get("q"), backend.get("dq"), self._speed, self._brake)

    def _braked(self, wanted: Array) -> Array:
        """Return the commanded velocity, slowed down ahead of the position limits."""
        q = self.robot.backend.get("q_d")
        up = np.sqrt(self._brake * np.maximum(self._highest - q, 0.0))
        down = np.sqrt(self._brake * np.maximum(q - self._lowest - EDGE, 0.0))
        return np.minimum(np.maximum(wanted, -down), up)


class ArmCommander:
    """Holds the commands of actions on an arm of a simulation, as `pliant policy run --bridge fci` does on a robot.

    Args:
        simulation: the simulation, which `advance` steps.
        device: the arm.
        channels: elements of one field of its commands.

    Raises:
        PortError: the field cannot be held, or the channels are of several fields.
    """

    drives = True

    def __init__(self, simulation: Simulation, device: DeviceBase, channels: Sequence[Channel]) -> None:
        fields = list(dict.fromkeys(channel.field for channel in channels))
        if len(fields) > 1 or fields[0] not in KINDS:
            wrong = " and ".join(fields) if len(fields) > 1 else nearest(fields[0], KINDS)
            raise PortError(
                f"the actions command {device.name}/{fields[0]}: {wrong}; must be one of {', '.join(KINDS)}"
            )
        self._simulation, self._device = simulation, device
        self._field, self._elements = fields[0], [channel.index or 0 for channel in channels]
        self._held: HeldCommand | None = None
        self.cycle = max(1, device.period_ns // simulation.dt_ns)

    def start(self) -> None:
        """Start the motion, after a reset of the simulation; some cycles pass.

        Raises:
            DeviceError: the arm refuses the motion.
        """
        self._held = HeldCommand(FrankaRobot.of(self._simulation, self._device.name), self._field, self._elements)
        self._held.start()

    def hold(self, values: Array) -> None:
        """Hold new values."""
        if self._held is not None:
            self._held.hold(values)

    def advance(self, steps: int) -> None:
        """Advance by whole cycles of the arm.

        Raises:
            DeviceError: the arm has ended the motion, or the steps are no whole number of cycles.
        """
        if self._held is None or steps % self.cycle:
            raise DeviceError(
                f"{steps} steps of the simulation are no whole number of the arm's cycles of {self.cycle}",
                field="period",
            )
        for _ in range(steps // self.cycle):
            self._held.cycle()

"""A controller of a plate's pose: it pulls the plate of a parallel robot towards a goal.

What the controller node of the Gazebo simulator (Gotelli et al. 2022) is, as a device beside the robot's: it takes the
pose of ``igm_parameters`` as its goal, and gives the wrench of ``controller_wrench`` a thousand times a second.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Protocol, Unpack

import numpy as np

from pliant.base.errors import DeviceError
from pliant.base.numerics import Array
from pliant.devices.base import Command, DeviceBase, DeviceOptions, FieldInfo, Mailbox
from pliant.devices.kinds import devices_for
from pliant.parallel.device.parallel import ParallelRobotDevice, pose_matrix
from pliant.parallel.model.mechanism import ParallelMechanism
from pliant.parallel.plate_pose import PlatePosePID
from pliant.rods.geometry import pose_angles

PERIOD = 1e-3
"""Time between two wrenches [s]; the original's node runs at 1 kHz."""


class PlateLaw(Protocol):
    """Interface of a control law, such as `pliant.parallel.plate_pose.PlatePosePID`."""

    def update(self, desired: Array, measured: Array) -> Array:
        """Return the wrench on the plate, shape (6,), for two poses of shape (4, 4)."""
        ...

    def reset(self) -> None:
        """Forget what was before."""
        ...


class PlateController(DeviceBase):
    """Feeds the measured pose of a plate to a law of control, and its wrench to the robot.

    Until the first goal it gives no wrench. What its wrench does is the robot's matter (``controller_wrench`` of
    `ParallelRobotDevice`); with ``exert`` the controller moves the plate, and the goal is not solved for.

    It must come before its robot among the devices of a simulation: then its wrench acts in the same step.

    Args:
        robot: the device of the robot that it moves.
        law: its law; the law's own period must be that of the device.
        name: unique in a simulation.
        options: of `DeviceBase`; ``period`` is the time between two wrenches [s].

    Raises:
        DeviceError: a planar robot, for which the original has no controller either.
    """

    signatures = ("plate_controller",)

    def __init__(
        self,
        robot: ParallelRobotDevice,
        law: PlateLaw,
        name: str = "controller",
        **options: Unpack[DeviceOptions],
    ) -> None:
        if robot.planar:
            raise DeviceError(
                f"{name}: {robot.robot.name} is planar; the controller of the plate's pose is that of spatial robots",
                field="robot",
            )
        unit = "m, rad"
        text = "x, y, z and the angles of R = Rx(roll) Ry(pitch) Rz(yaw)"
        options.setdefault("period", PERIOD)
        super().__init__(
            name,
            samples={
                "desired": FieldInfo((6,), unit, f"pose that is wanted: {text}; where the plate is until one came"),
                "current": FieldInfo((6,), unit, f"pose of the plate: {text}"),
                "wrench": FieldInfo((6,), "N, N m", "what the controller gives, about the plate's origin, world axes"),
                "active": FieldInfo(description="1 once a goal came, else 0"),
            },
            commands={
                "igm_parameters": {"pose": FieldInfo((7,), "m", "goal (x, y, z, qx, qy, qz, qw)")},
                "desired_value": {"height": FieldInfo((), "m", "z of the goal; the rest of it stays")},
            },
            **options,
        )
        self.robot = robot
        self._law = law
        self._late: deque[tuple[int, Command]] = deque()
        self.heights = Mailbox(name, {"desired_value": self.commands["desired_value"]})
        """Where the height is put, so that it does not displace a pose that came in the same step."""
        self._goal: Array | None = None
        self._wrench = np.zeros(6)
        robot.driven = robot.policy == "exert"

    def _restart(self, rng: np.random.Generator) -> None:
        self._law.reset()
        self.heights.clear()
        self._late.clear()
        self._goal = None
        self._wrench = np.zeros(6)

    def write(self) -> None:
        """Take the goal, then the height."""
        late = self._delayed(self.heights.take(), self._late)
        if late is not None:
            self._obey(late)
        super().write()

    def _trip(self) -> None:
        """Take the wrench away, and give none until the next goal."""
        self._goal = None
        self._law.reset()
        if not self.robot.removed:
            self.robot.wrenches.put({"wrench": np.zeros(6)})

    def _latch(self, command: Command) -> None:
        if command.mode == "igm_parameters":
            if "pose" in command.values:
                try:
                    goal = pose_matrix(np.asarray(command.values["pose"], dtype=float), self.name)
                except DeviceError as error:
                    for listener in self.robot.listeners:
                        listener(f"{command.mode}: {error}")
                    return
                self._goal = goal
            return
        goal = self.robot.plate_pose() if self._goal is None else self._goal.copy()
        goal[2, 3] = command.values.get("height", goal[2, 3])
        self._goal = goal

    def _firmware(self) -> None:
        if self._goal is None or self.robot.removed:
            self._wrench = np.zeros(6)
            return
        self._wrench = self._law.update(self._goal, self.robot.plate_pose())
        self.robot.wrenches.put({"wrench": self._wrench})

    def _measure(self) -> dict[str, float | Array]:
        current = pose_angles(self.robot.plate_pose())
        desired = current if self._goal is None else pose_angles(self._goal)
        return {
            "desired": desired,
            "current": current,
            "wrench": self._wrench,
            "active": float(self._goal is not None),
        }

    def health(self) -> Mapping[str, object]:
        """Return the counters, and whether a goal came."""
        return {**super().health(), "active": self._goal is not None}


@devices_for(ParallelMechanism)
def parallel_devices(mechanism: ParallelMechanism, **options: Unpack[DeviceOptions]) -> list[DeviceBase]:
    """Return the device of a parallel robot, after that of its controller where it has one.

    Args:
        mechanism: the robot.
        options: of `DeviceBase`, for the robot; the watchdog is that of the controller too.
    """
    chosen = mechanism.options
    policy = chosen.controller_wrench or ("exert" if chosen.controller else "push")
    robot = ParallelRobotDevice(
        mechanism, mechanism.name, controller_wrench=policy, joint_speeds=chosen.joint_speeds, ramp=chosen.ramp,
        interpolate=chosen.interpolate, **options,
    )  # fmt: skip
    if not chosen.controller:
        return [robot]
    return [PlateController(robot, PlatePosePID(), watchdog=options.get("watchdog")), robot]

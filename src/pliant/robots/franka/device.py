"""A Franka arm as a device: the control cabinet and the hand, on the ports of an engine."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.devices.base import DeviceBase, FieldInfo, request
from pliant.errors import DeviceError
from pliant.robots.franka.build import Mount, MujocoArm
from pliant.robots.franka.controller import Cabinet, Gripper, Settings

if TYPE_CHECKING:
    from pliant.engine.base import Engine
    from pliant.wire import fci

__all__ = ["FrankaArm", "FrankaDescription"]

PERIOD = 1e-3
"""Cycle of the cabinet [s]."""

# field of a sample -> (length, unit, description); the names of the robot's own state
_STATE: dict[str, tuple[int, str, str]] = {
    "q": (7, "rad", "measured joint positions"),
    "dq": (7, "rad/s", "measured joint velocities"),
    "tau_J": (7, "N m", "measured link-side torques, gravity included"),
    "q_d": (7, "rad", "desired joint positions"),
    "dq_d": (7, "rad/s", "desired joint velocities"),
    "tau_J_d": (7, "N m", "desired torques, gravity and friction excluded"),
    "tau_ext_hat_filtered": (7, "N m", "estimate of the external torques"),
    "O_F_ext_hat_K": (6, "N, N m", "estimate of the external wrench on the stiffness frame, base axes"),
    "O_T_EE": (16, "", "pose of the end effector in the base, column-major"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FrankaDescription:
    """What `Robot.devices` says of a Franka arm."""

    name: str
    """Name of the device and prefix of the arm in the model."""
    mount: Mount
    """The arm, its place and its start."""
    friction: bool = True
    """Whether the identified friction acts, and the cabinet compensates it."""
    settings: Settings = field(default_factory=Settings)
    """Gains, thresholds and checks of the cabinet."""

    def prefixed(self, prefix: str) -> FrankaDescription:
        """Return the description of the same arm under a prefix."""
        mount = dataclasses.replace(self.mount, name=prefix + self.mount.name)
        return dataclasses.replace(self, name=prefix + self.name, mount=mount)

    def make(self, robot: Any) -> FrankaArm:
        """Return the device."""
        return FrankaArm(self)


class FrankaArm(DeviceBase):
    """One arm with its cabinet and hand.

    The cabinet runs once a millisecond: `write` is its control, with the command that the bridge left in
    ``pending``; `read` is its measurement. Without a bridge the arm holds its pose.

    Args:
        description: what the robot says of it.
        options: `DeviceBase`'s.
    """

    def __init__(self, description: FrankaDescription, **options: Any) -> None:
        samples = {key: FieldInfo((n,), unit, text) for key, (n, unit, text) in _STATE.items()}
        samples["robot_mode"] = FieldInfo((), "", "0 other, 1 idle, 2 move, 3 guiding, 4 reflex, 5 user stopped")
        samples["gripper_width"] = FieldInfo((), "m", "opening of the hand, 0 without hand")
        super().__init__(description.name, samples=samples, period=PERIOD, **options)
        mount = description.mount
        self.description = description
        self.arm = mount.arm
        self.pending: fci.RobotCommand | None = None
        """The command that the next cycle obeys; a bridge puts it, the cycle takes it."""
        self._q0 = np.asarray(mount.q, dtype=float)
        self.cabinet: Cabinet | None = None
        """The controller, once attached."""
        self.gripper: Gripper | None = Gripper(width=0.04) if mount.hand else None
        """The hand's controller."""
        self.plant: MujocoArm | None = None
        """Sensors and motors, once attached."""
        self.before_observe: Callable[[], None] | None = None
        """Called before the cabinet observes; a bridge counts there what it is about to publish."""

    def _connect(self, engine: Engine) -> None:
        model, data = getattr(engine, "model", None), getattr(engine, "data", None)
        if model is None or data is None:
            raise DeviceError(f"{self.name}: a Franka arm needs the MuJoCo engine", field="engine")
        description, mount = self.description, self.description.mount
        self.plant = MujocoArm(model, data, mount.name, arm=self.arm, friction=description.friction)
        settings = description.settings
        if settings.friction_compensation != description.friction:
            settings = dataclasses.replace(settings, friction_compensation=description.friction)
        self.cabinet = Cabinet(
            self.arm,
            settings=settings,
            end_effector=self.plant.payload(),
            gravity=self.plant.gravity,
            q=self._q0,
        )
        self._forward = lambda: _forward(model, data)

    def _restart(self, rng: np.random.Generator) -> None:
        self.pending = None
        self.plant.start(self._q0)  # type: ignore[union-attr]
        self._forward()
        self.cabinet.reset(self._q0)  # type: ignore[union-attr]
        if self.description.mount.hand:
            self.gripper = Gripper(width=0.04)

    def _firmware(self) -> None:
        command, self.pending = self.pending, None
        cabinet: Any = self.cabinet
        plant: Any = self.plant
        plant.write(cabinet.control(command))
        if self.gripper is not None:
            width, rate = plant.read_hand()
            plant.write_hand(self.gripper.step(width, rate))

    def measure(self) -> None:
        """Bring the cabinet's state up to the present; part of every sample."""
        cabinet: Any = self.cabinet
        plant: Any = self.plant
        q, dq, tau_J = plant.read()
        if cabinet.first_command_due or not cabinet.moving:
            rest = cabinet.settle(q, dq)
            if rest is not None:
                plant.settle(rest)
        if self.before_observe is not None:
            self.before_observe()
        cabinet.observe(q, dq, tau_J)

    def _measure(self) -> dict[str, float | np.ndarray]:
        self.measure()
        state: Any = self.cabinet.state  # type: ignore[union-attr]
        values: dict[str, float | np.ndarray] = {key: getattr(state, key) for key in _STATE}
        values["robot_mode"] = float(state.robot_mode)
        values["gripper_width"] = self.plant.read_hand()[0]  # type: ignore[union-attr]
        return values

    # -- what a bridge asks for ------------------------------------------------------------------------

    def urdf(self) -> str:
        """Return the arm's URDF, as the robot serves it."""
        from pliant.robots.franka.urdf import urdf

        return urdf(self.arm)

    def model_library(self, architecture: int, system: int) -> bytes:
        """Return the model library that old clients load, compiled on demand.

        Raises:
            PliantError: another architecture than this machine's, or no C compiler.
        """
        from pliant.robots.franka.model_library import build_library

        return build_library(architecture, system, arm=self.arm)

    @request
    def user_stop(self, pressed: bool = True) -> None:
        """Press or release the user stop."""
        self.cabinet.user_stop(pressed)  # type: ignore[union-attr]


def _forward(model: Any, data: Any) -> None:
    import mujoco

    mujoco.mj_forward(model, data)

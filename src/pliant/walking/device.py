"""A walking controller as a device: it reads the robot's own sensors and drives its joints.

The firmware is `pliant.walking.control.walker.Walker`. It sees the inertial unit of the base, the joint encoders and
the force/torque sensors of the ankles, and nothing else of the simulation.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Unpack

import numpy as np

from pliant.base.errors import DeviceError, PortError
from pliant.devices.base import Command, DeviceBase, DeviceOptions, FieldInfo, button, request
from pliant.devices.kinds import device_for
from pliant.engine.base import Engine, mujoco_state
from pliant.walking.control.settings import WalkSettings
from pliant.walking.model import joint_inertia, kinematic_tree

if TYPE_CHECKING:
    from pliant.model import Robot
    from pliant.walking.control.walker import Walker

PHASES = ("stand", "double support", "single support")


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkingDescription:
    """A walking controller on a robot with two legs and a free base."""

    name: str = "walking"
    """Name of the device."""
    base: str
    """Body with the free joint."""
    joints: tuple[str, ...]
    """Controlled joints, parents before children; their actuators have the same names."""
    rest: tuple[float, ...]
    """Their positions when the robot stands [rad]."""
    ankles: tuple[str, str]
    """Last joint of the left and of the right leg."""
    sole: float
    """Depth of the sole under the ankles [m]."""
    spacing: float
    """Lateral distance of the feet [m]."""
    imu: str
    """Inertial unit on the base."""
    force_torque: tuple[str, str]
    """Sensors at the ankles."""
    start: float = 1.0
    """Time at which the robot begins to walk by itself [s]; negative: it waits for the request."""
    period: float = 0.004
    """Time between two updates, about [s]."""
    rate_noise: float = 0.0
    """Standard deviation of the measured angular velocity [rad/s]."""
    load_noise: float = 0.0
    """Standard deviation of the measured load of a foot [N]."""
    settings: WalkSettings = field(default_factory=WalkSettings)
    """Gait and gains."""

    def prefixed(self, prefix: str) -> WalkingDescription:
        """Return the description with the device's and the model's names prefixed."""
        return dataclasses.replace(
            self,
            name=prefix + self.name,
            base=prefix + self.base,
            joints=tuple(prefix + j for j in self.joints),
            ankles=(prefix + self.ankles[0], prefix + self.ankles[1]),
            imu=prefix + self.imu,
            force_torque=(prefix + self.force_torque[0], prefix + self.force_torque[1]),
        )


_SAMPLES = {
    "phase": FieldInfo((), "", "0 stands, 1 both feet carry, 2 one foot carries"),
    "stance": FieldInfo((), "", "foot that carries or takes the load: 0 left, 1 right"),
    "steps": FieldInfo((), "", "touchdowns so far"),
    "fallen": FieldInfo((), "", "1 once the robot has fallen"),
    "dcm": FieldInfo((2,), "m", "divergent component of motion, x and y, from the middle of the feet at the start"),
    "dcm_reference": FieldInfo((2,), "m", "its reference"),
    "center_of_pressure": FieldInfo((2,), "m", "centre of pressure that the controller asks for"),
    "center_of_mass": FieldInfo((3,), "m", "estimated centre of mass"),
    "foothold": FieldInfo((2,), "m", "ankle of the next foothold"),
    "load": FieldInfo((2,), "N", "vertical force on the left and on the right foot, filtered"),
    "inclination": FieldInfo((2,), "rad", "roll and pitch of the base"),
}
_COMMANDS = {"walk": {"step_length": FieldInfo((), "m", "length of the next steps; 0 stops", -0.3, 0.4)}}


@device_for(WalkingDescription)
class WalkingDevice(DeviceBase):
    """Lets a biped walk.

    Actuators that take torques get them. To a position servo goes the reference with which it gives that torque at the
    present position and velocity.

    Args:
        description: the controller and what it is wired to.
        robot: the robot that it is described on.
        options: of `DeviceBase`.
    """

    signatures = ("walking",)

    def __init__(self, description: WalkingDescription, robot: Robot, **options: Unpack[DeviceOptions]) -> None:
        dt = float(robot.spec.option.timestep)
        period = max(1, round(description.period / dt)) * dt
        sample = max(1, round(0.01 / period)) * period
        super().__init__(
            description.name,
            samples=_SAMPLES,
            commands=_COMMANDS,
            **{"period": period, "sample_period": sample, **options},
        )
        self.description = description
        self.joints = description.joints
        self.written_ports = tuple(
            f"{joint}/{'reference_1' if joint in robot.actuators else 'control'}" for joint in self.joints
        )

    @property
    def walker(self) -> Walker:
        """The controller, after `attach`."""
        return self._walker

    def _connect(self, engine: Engine) -> None:
        from pliant.walking.control.walker import Leg, Walker

        d = self.description
        state = mujoco_state(engine, self.name)
        model, data = state.model, state.data
        tree = kinematic_tree(model, d.base, d.joints)
        index = {name: i for i, name in enumerate(d.joints, 1)}
        legs = (
            Leg(links=tree.limb(index[d.ankles[0]]), sole=d.sole, side=1.0),
            Leg(links=tree.limb(index[d.ankles[1]]), sole=d.sole, side=-1.0),
        )
        inertia = joint_inertia(model, d.joints, d.rest) if d.settings.swing_frequency > 0.0 else None
        self._walker = Walker(tree, legs, np.array(d.rest), d.settings, self.period_ns * 1e-9, d.spacing, inertia)
        self._q_at = np.array([model.joint(j).qposadr[0] for j in d.joints])
        self._v_at = np.array([model.joint(j).dofadr[0] for j in d.joints])
        actuators = {model.actuator(i).name: i for i in range(model.nu)}
        for name in d.joints:
            if name not in actuators:
                raise DeviceError(f"{self.name}: the joint {name!r} has no actuator of its name", field=name)
        u = np.array([actuators[j] for j in d.joints])
        self._u_at = model.actuator_ctrladr[u]
        servo = -model.actuator_biasprm[u, 1]
        self._servo = bool(np.any(servo > 0.0))
        if self._servo and not np.all(servo > 0.0):
            raise DeviceError(f"{self.name}: some actuators are position servos; must be all or none", field=self.name)
        self._stiffness, self._damping = servo, -model.actuator_biasprm[u, 2]
        try:
            self._orientation = engine.port(f"sensor/{d.imu}/orientation")
            self._rates = engine.port(f"sensor/{d.imu}/angular_velocity")
            self._forces = [engine.port(f"sensor/{name}/force") for name in d.force_torque]
        except PortError as error:
            raise DeviceError(
                f"{self.name}: {error}; the inertial unit and the force/torque sensors must be enabled", field=self.name
            ) from error
        self._qpos, self._qvel, self._ctrl = data.qpos, data.qvel, data.ctrl
        self._engine_state = state

    def _restart(self, rng: np.random.Generator) -> None:
        self._walker.reset()
        self._started = False
        self.inclination = np.zeros(2)
        """Roll and pitch of the base [rad]."""

    def _latch(self, command: Command) -> None:
        length = float(command.values["step_length"])
        if length == 0.0:
            self._walker.stop()
        else:
            self._walker.walk(length)
        self._started = True

    def _trip(self) -> None:
        """Stop on both feet after the next touchdown."""
        self._walker.stop()

    @button
    def walk(self) -> None:
        """Start to walk, or go on."""
        self._started = True
        self._walker.walk()

    @button
    def stop(self) -> None:
        """Stop on both feet after the next touchdown."""
        self._started = True
        self._walker.stop()

    @request
    def set_step_length(self, step_length: float) -> None:
        """Change the length of the next steps [m]."""
        info = _COMMANDS["walk"]["step_length"]
        if not (isinstance(step_length, int | float) and info.low <= step_length <= info.high):
            raise DeviceError(
                f"{self.name}: step_length is {step_length!r}; must be from {info.low:g} to {info.high:g} [m]",
                field="step_length",
            )
        self._walker.step_length = float(step_length)

    def _firmware(self) -> None:
        d, walker = self.description, self._walker
        if not self._started and d.start >= 0.0 and self._engine.time_ns >= d.start * 1e9:
            self._started = True
            walker.walk()
        w, x, y, z = self._orientation.tolist()
        rotation = np.array(
            [
                [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
                [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
                [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
            ]
        )
        rates = self._rates
        # MuJoCo gives what the leg does to the foot: upwards the ground carries the opposite of it.
        loads = [-float(force[2]) for force in self._forces]
        if d.rate_noise > 0.0:
            rates = rates + d.rate_noise * self._rng.standard_normal(3)
        if d.load_noise > 0.0:
            loads = [load + d.load_noise * float(self._rng.standard_normal()) for load in loads]
        q, dq = self._qpos[self._q_at], self._qvel[self._v_at]
        tau = walker.update(rotation, rotation @ rates, q, dq, loads)
        if self._servo:
            self._ctrl[self._u_at] = q + (tau + self._damping * dq) / self._stiffness
        else:
            self._ctrl[self._u_at] = tau
        self.inclination[0] = math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
        self.inclination[1] = math.asin(min(max(2.0 * (w * y - x * z), -1.0), 1.0))

    def _measure(self) -> dict[str, float | np.ndarray]:
        k = self._walker
        return {
            "phase": float(k.phase),
            "stance": float(k.stance),
            "steps": float(k.steps),
            "fallen": float(k.fallen),
            "dcm": k.dcm,
            "dcm_reference": k.dcm_ref,
            "center_of_pressure": k.cop,
            "center_of_mass": k.com,
            "foothold": k.foothold,
            "load": np.array(k.load),
            "inclination": self.inclination,
        }

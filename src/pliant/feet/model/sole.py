"""The sensing of a SoftFoot's sole, described: inertial units on all parts of the foot, and a sensor at the ankle."""

from __future__ import annotations

from dataclasses import dataclass, field

import mujoco

from pliant.base.errors import nearest
from pliant.base.options import option
from pliant.model.noise import Noise
from pliant.model.sensors import SensorDescription, sensor_kind

ROOT = "attachment_cube"
"""Name of the root body of a SoftFoot, after the prefix under which it was attached."""
FIXED = "posterior_arch"
"""Name of the part that is fixed to the root and has no inertial unit of its own."""
ANKLE_MODES = ("wrench", "load", "none")

_KINDS = {
    "rate": mujoco.mjtSensor.mjSENS_GYRO,
    "acceleration": mujoco.mjtSensor.mjSENS_ACCELEROMETER,
}
_ANKLE = {"force": mujoco.mjtSensor.mjSENS_FORCE, "torque": mujoco.mjtSensor.mjSENS_TORQUE}


@sensor_kind("sole")
@dataclass(frozen=True, slots=True, kw_only=True)
class Sole(SensorDescription):
    """The sensing of a SoftFoot: joint angles of its sole from pairs of inertial units, contact forces from its shape.

    An inertial unit sits on the root, the heel, the frontal arch and on every module of every chain. The relative angle
    of two neighbours comes from the direction of the specific force that both feel and from the difference of their
    rates (`pliant.feet.sole_estimation.RelativeAngleFilter`), the contact forces from the equilibrium of the foot in
    the measured shape (`pliant.feet.sole_estimation.SoleForceEstimator`). Messages call its frame by the name of the
    foot's root: x to the toes, y down.

    The default noise is that of an inexpensive calibrated unit.

    Example:
        >>> robot = pliant.load("softfoot")
        >>> robot.devices.append(Sole(name="sole", body="attachment_cube"))
    """

    rate: float = option(100.0, unit="Hz", low=0.0)
    """Samples a second of simulation time, of the inertial units too; 0 for every step."""
    time_constant: float = option(0.2, unit="s", low=0.0, high=100.0, source="assumed")
    """Time constant of the complementary filter: slower motion is measured by the accelerometers, faster one by the
    gyroscopes. 0: accelerometers alone."""
    ankle: str = "wrench"
    """What is known at the ankle: "wrench" as a force/torque sensor between leg and foot measures it, "load" for the
    constant `load`, "none" for nothing, where the weak bands alone tell the size of the forces."""
    load: float = option(300.0, unit="N", low=0.0, high=1e5, source="assumed")
    """Force of the leg on the foot, straight down, with ``ankle="load"``."""
    friction: float = option(0.01, low=0.0, above=True, high=10.0, source="assumed")
    """Size of the tangential contact forces that the estimate expects, over that of the normal ones; what the ankle
    measures of a horizontal force adds to it."""
    truth: bool = True
    """Whether samples carry the true angles and contact forces of the simulation beside the estimates."""
    angular_velocity_noise: Noise = field(default_factory=lambda: Noise(std=1e-3, bias=2e-3))
    """Of the three axes of every unit [rad/s].  # assumed: 0.006 deg/s/sqrt(Hz) at 100 Hz, 0.1 deg/s after zeroing"""
    linear_acceleration_noise: Noise = field(default_factory=lambda: Noise(std=0.03, bias=0.03))
    """Of the three axes of every unit [m/s^2].  # assumed: 0.3 mg/sqrt(Hz) at 100 Hz, 3 mg after calibration"""
    force_noise: Noise = field(default_factory=lambda: Noise(std=0.5))
    """Of the force at the ankle, three axes [N].  # assumed"""
    torque_noise: Noise = field(default_factory=lambda: Noise(std=0.02))
    """Of the moment at the ankle, three axes [N m].  # assumed"""

    def __post_init__(self) -> None:
        super(Sole, self).__post_init__()
        if self.ankle not in ANKLE_MODES:
            raise self.fault(f"ankle is {self.ankle!r}; {nearest(self.ankle, ANKLE_MODES)}", "ankle")
        for key in ("angular_velocity_noise", "linear_acceleration_noise", "force_noise", "torque_noise"):
            self._check_noise(key, 3)

    def _check_place(self) -> None:
        if self.site or not self.body:
            found = f"site {self.site!r}" if self.site else "no body"
            raise self.fault(f"it has {found}; must be the body that is the root of a SoftFoot", "body")

    @property
    def frame_id(self) -> str:
        """The frame_id of its messages: the root of the foot."""
        return self.frame or self.body

    def parts(self, spec: mujoco.MjSpec) -> list[str]:
        """Return the bodies that carry an inertial unit, the root first, parents before their children.

        Raises:
            ModelError: the body does not exist, or is no root of a SoftFoot.
        """
        root = self._find(spec.bodies, "body", self.body)
        prefix = self.body.removesuffix(ROOT)
        names = []

        def walk(body: mujoco.MjsBody) -> None:
            if body.name != prefix + FIXED:
                names.append(body.name)
            for child in body.bodies:
                walk(child)

        walk(root)
        if not self.body.endswith(ROOT) or prefix + "heel" not in names or len(names) < 4:
            roots = [body.name for body in spec.bodies if body.name.endswith(ROOT)]
            known = nearest(self.body, roots) if roots else "the model has none"
            raise self.fault(
                f"body is {self.body!r}; must be the root of a SoftFoot, whose name ends with {ROOT!r}: {known}", "body"
            )
        return names

    def unit_sensors(self, part: str) -> dict[str, str]:
        """Return quantity -> name of MuJoCo's sensor of the inertial unit on a part."""
        return {quantity: f"{self.name}/{part}/{quantity}" for quantity in _KINDS}

    def ankle_sensors(self) -> dict[str, str]:
        """Return quantity -> name of MuJoCo's sensor at the ankle; none where it is not measured."""
        return {quantity: f"{self.name}/ankle/{quantity}" for quantity in _ANKLE} if self.ankle == "wrench" else {}

    def install(self, spec: mujoco.MjSpec, original: mujoco.MjSpec) -> None:
        """Add the sites and sensors of all units to a model.

        Raises:
            ModelError: the body does not exist, is no root of a SoftFoot, or nothing carries it.
        """
        bodies = {body.name: body for body in spec.bodies}
        for part in self.parts(original):
            site = f"{self.name}/{part}"
            bodies[part].add_site(name=site, group=5, size=[1e-3] * 3)
            for quantity, name in self.unit_sensors(part).items():
                spec.add_sensor(name=name, type=_KINDS[quantity], objtype=mujoco.mjtObj.mjOBJ_SITE, objname=site)
        for quantity, name in self.ankle_sensors().items():
            site = f"{self.name}/{self.body}"
            spec.add_sensor(name=name, type=_ANKLE[quantity], objtype=mujoco.mjtObj.mjOBJ_SITE, objname=site)

"""Settings of a cabinet at start: gains, thresholds, tolerances and enabled checks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from pliant.base.errors import DeviceError, nearest
from pliant.franka.wire.fci import ERRORS, SetCollisionBehavior

ErrorOrigin = Literal["client", "guiding", "desk", "not simulated"]

ERROR_ORIGINS: dict[str, ErrorOrigin] = {
    **dict.fromkeys(ERRORS, "client"),
    "joint_move_in_wrong_direction": "guiding",
    "start_elbow_sign_inconsistent": "desk",
    "joint_p2p_insufficient_torque_for_planning": "desk",
    "joint_via_motion_generator_planning_joint_limit_violation": "desk",
    "cartesian_spline_motion_generator_violation": "desk",
    "cartesian_position_limits_violation": "not simulated",
    "force_control_safety_violation": "not simulated",
    "cartesian_velocity_profile_safety_violation": "not simulated",
    "force_controller_desired_force_tolerance_violation": "not simulated",
    "instability_detected": "not simulated",
    "base_acceleration_initialization_timeout": "not simulated",
    "base_acceleration_invalid_reading": "not simulated",
}
"""What raises each error of the interface. client: a motion or a request of a client; guiding: a hand that guides the
arm; desk: motions that the vendor's desk plans on the robot, which no client starts (the error list of libfranka says
of two of them "applies only to motions started from Desk"); not simulated: virtual walls, the robot's own force
control, accelerometers at start-up."""

CHECKS = frozenset(name for name, origin in ERROR_ORIGINS.items() if origin in ("client", "guiding"))
"""Errors that the cabinet can raise."""


COLLISION = SetCollisionBehavior(
    **{
        f"{side}_{kind}_{phase}": thresholds
        for kind, thresholds in (
            ("torque", (20.0, 20.0, 18.0, 18.0, 16.0, 14.0, 12.0)),
            ("force", (20.0, 20.0, 20.0, 25.0, 25.0, 25.0)),
        )
        for phase in ("acceleration", "nominal")
        for side in ("lower", "upper")
    }
)
"""Thresholds at start [N m; N, N m]: those of the vendor's examples, as the robot's own are not published."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Constants of a cabinet. Values that the vendor does not publish are marked as assumed."""

    K_theta: tuple[float, ...] = (3000.0, 3000.0, 3000.0, 2500.0, 2500.0, 2000.0, 2000.0)
    """Joint stiffness at start [N m/rad]; the vendor's usual values."""
    K_x: tuple[float, ...] = (3000.0, 3000.0, 3000.0, 300.0, 300.0, 300.0)
    """Cartesian stiffness at start [N/m, N m/rad]; the vendor's usual values."""
    damping_ratio: float = 1.0
    """Of both impedance controllers."""  # assumed
    nullspace_stiffness: float = 50.0
    """Stiffness of the elbow in Cartesian impedance [N m/rad]."""  # assumed
    collision: SetCollisionBehavior = COLLISION
    """Thresholds at start."""
    observer_gain: float = 2.0 * 3.141592653589793 * 10.0
    """Gain of the momentum observer [1/s]: external torques are low-passed at 10 Hz."""  # assumed
    checks: frozenset[str] = CHECKS
    """The errors that may be raised; omit one to switch its check off."""
    torque_loop_bandwidth: float = 100.0
    """Bandwidth of the joints' torque loops under torques of a client [rad/s]. Below it, the torque at the link follows
    the client's torque, and the arm accelerates as its links alone would; above it, the rotors show. 0: no such loop.
    100 rad/s is assumed; with 150 the vendor's example motion_with_control has little damping left."""
    friction_compensation: bool | None = None
    """Whether the identified friction is added to the torques; None: where the joints have it."""
    start_tolerance: float = 0.01
    """Largest distance of the first command of a motion from the desired or the measured one [rad or m]."""  # assumed
    rounding_acceleration: float = 0.5
    """Added to the limits of acceleration: twice-differenced rounding of float32 states [rad/s^2 or m/s^2]."""
    rounding_jerk: float = 1000.0
    """Added to the limits of jerk for the same reason [rad/s^3 or m/s^3]."""
    velocity_margin: float = 1.1
    """Measured velocities may exceed the limits of commands by this factor."""  # assumed
    torque_range_margin: float = 1.5
    """Measured torques may exceed the joint's torque by this factor before the sensor's range ends."""  # assumed
    power_limit: float = 600.0
    """Largest sum of |torque x velocity| over the joints [W]."""  # assumed
    lost_commands: int = 20
    """Consecutive lost commands that end a motion."""
    singular_manipulability: float = 0.003
    """Below this manipulability sqrt(det(J J')) of the stiffness frame the estimated external wrench is zero, as the
    vendor documents for poses near a singularity; 0.08 in the ready pose [m^3]."""  # assumed
    recovery_margin: float = 0.005
    """A joint that has passed a limit, or a reflex stops nearer to one, returns this far inside [rad]."""  # assumed
    recovery_timeout_ms: int = 1000
    """How long an automatic error recovery waits for joints to return inside their limits [ms]; after that, manual
    recovery, which is guiding, is required."""  # assumed
    guiding_margin: float = 0.02
    """How much farther beyond a limit an arm may be guided before it stops [rad]."""  # assumed
    recovery_ms: int = 50
    """Duration of an automatic error recovery [ms]; the client's socket holds some 90 unread states."""  # assumed

    def __post_init__(self) -> None:
        for name in self.checks:
            if name not in ERRORS:
                raise DeviceError(f"no check {name!r}: {nearest(name, CHECKS)}", field="checks")
        if not 0.0 <= self.torque_loop_bandwidth < 3000.0:
            raise DeviceError(
                f"torque_loop_bandwidth is {self.torque_loop_bandwidth} rad/s; must be >= 0 and < 3000",
                field="torque_loop_bandwidth",
            )
        if len(self.K_theta) != 7 or len(self.K_x) != 6:
            raise DeviceError("K_theta must have 7 numbers and K_x 6", field="K_theta")

    def without(self, *names: str) -> Settings:
        """Return the same settings with some checks off."""
        for name in names:
            if name not in CHECKS:
                raise DeviceError(f"no check {name!r}: {nearest(name, CHECKS)}", field="checks")
        return replace(self, checks=self.checks - set(names))

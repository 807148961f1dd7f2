"""The configuration of a cabinet: parameters of the arm, settings, and the requests that change them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.errors import DeviceError
from pliant.base.numerics import Array
from pliant.franka.device.dynamics import link_table
from pliant.franka.device.memory import DT, FILTER, MEMORY, THRESHOLD
from pliant.franka.device.parameters import NO_PAYLOAD, Arm, Payload, is_transform
from pliant.franka.device.settings import Settings
from pliant.franka.wire import fci

_MAX_STIFFNESS = 14250.0
"""Largest joint stiffness that the interface accepts [N m/rad], from the vendor's documentation."""
_MAX_LENGTH, _MAX_MASS, _MAX_INERTIA = 10.0, 100.0, 100.0
"""Largest lengths [m], mass [kg] and moments [kg m^2] of end effector and load: what is larger would not be finite in
the states."""  # assumed; the vendor publishes no bounds
_OF_SETTINGS = {
    "K_theta": "K_theta",
    "K_x": "K_x",
    "zeta": "damping_ratio",
    "K_null": "nullspace_stiffness",
    "singular": "singular_manipulability",
    "wrong_way": "guiding_margin",
    "observer_gain": "observer_gain",
    "tau_range": "torque_range_margin",
    "velocity_margin": "velocity_margin",
    "power_limit": "power_limit",
    "start_tolerance": "start_tolerance",
    "tol_ddq": "rounding_acceleration",
    "tol_dddq": "rounding_jerk",
}
"""Field of the record -> field of `Settings`."""
_OF_LIMITS = {
    "q_min": "position_min",
    "q_max": "position_max",
    "dq_max": "velocity",
    "ddq_max": "acceleration",
    "dddq_max": "jerk",
    "tau_max": "torque",
    "tau_rate": "torque_rate",
}
"""Field of the record -> field of `Limits`."""


class Configuration:
    """The record of a cabinet's kernels, and all in it that stays the same from cycle to cycle.

    Args:
        arm: the arm.
        settings: gains, thresholds, checks.
        end_effector: inertia of the end effector as configured on the robot.
        F_T_NE: pose of the nominal end effector in the flange, shape (4, 4).
        gravity: in the base frame, shape (3,) [m/s^2].
        rotor_inertia: inertia of the motors at the joints that their torque loops leave, shape (7,) [kg m^2].
        hand: whether the arm carries the hand, which must not meet the arm.

    Raises:
        DeviceError: a setting of the wrong shape.
    """

    def __init__(
        self,
        arm: Arm,
        settings: Settings,
        *,
        end_effector: Payload,
        F_T_NE: ArrayLike,
        gravity: ArrayLike,
        rotor_inertia: ArrayLike,
        hand: bool,
    ) -> None:
        self.arm = arm
        self.end_effector = end_effector
        self.load = NO_PAYLOAD
        """Inertia of the load that the client has set."""
        self.memory = np.zeros(1, MEMORY)
        """The record, shape (1,)."""
        self.fields: dict[str, Any] = {name: self.memory[name][0] for name in MEMORY.names or ()}
        """Name -> array of the record (a view); of a number, its value at start."""
        self.state = fci.RobotState(reals=self.fields["reals"])
        """The published state."""
        self.F_T_NE = np.array(F_T_NE, dtype=float)
        self.NE_T_EE = np.eye(4)
        """Pose of the end effector in the nominal end effector, shape (4, 4)."""
        if self.F_T_NE.shape != (4, 4):
            raise DeviceError(f"F_T_NE has shape {self.F_T_NE.shape}; it must be (4, 4)", field="F_T_NE")
        record, limits = self.memory[0], arm.limits
        record["friction"], record["joint_stiffness"] = np.ravel(arm.friction), arm.joint_stiffness
        record["gravity"], record["rotor_inertia"] = gravity, rotor_inertia
        for name, source in _OF_SETTINGS.items():
            record[name] = getattr(settings, source)
        record["friction_on"] = settings.friction_compensation is not False
        for name, source in _OF_LIMITS.items():
            record[name] = getattr(limits, source)
        record["hand"] = hand
        record["torque_loop"] = 1.0 - math.exp(-DT * settings.torque_loop_bandwidth)
        if limits.velocity_offset is not None and limits.deceleration is not None:
            record["dq_offset"], record["dq_dec"] = limits.velocity_offset, limits.deceleration
            record["position_dependent"] = 1
        record["cartesian"] = (limits.translation, limits.rotation, limits.elbow)
        for name in settings.checks:
            record["enabled"][fci.ERRORS.index(name)] = 1
        record["EE_T_K"] = np.eye(4)
        record["filter"] = 1.0
        record["deviation"] = fci.UNLIMITED_DEVIATION
        record["guiding_free"] = 1
        self._thresholds(settings.collision)
        self.update_geometry()
        self._power_on = self.memory.copy()

    def restart(self) -> None:
        """Undo all requests: the record, the load and the end effector are as they were made."""
        self.memory[...] = self._power_on
        self.load = NO_PAYLOAD
        self.NE_T_EE = np.eye(4)
        self.update_geometry()

    def set(self, name: str, value: float) -> None:
        """Set a number of the record."""
        self.memory[name][0] = value

    def _thresholds(self, c: fci.SetCollisionBehavior) -> None:
        for name, row in THRESHOLD._asdict().items():
            side, phase = name.split("_")
            for kind in ("torque", "force"):
                self.fields[f"threshold_{kind}"][row] = getattr(c, f"{side}_{kind}_{phase}")

    def update_geometry(self) -> None:
        """Update everything that depends on the end effector and the load, published fields included."""
        m, state = self.fields, self.state
        m["F_T_EE"][:] = self.F_T_NE @ self.NE_T_EE
        m["table"][:] = link_table(self.end_effector.combined(self.load), arm=self.arm)
        for name, T in (
            ("F_T_EE", m["F_T_EE"]),
            ("EE_T_K", m["EE_T_K"]),
            ("F_T_NE", self.F_T_NE),
            ("NE_T_EE", self.NE_T_EE),
        ):
            getattr(state, name)[:] = T.T.reshape(-1)
        for body, suffix in ((self.end_effector, "ee"), (self.load, "load")):
            getattr(state, f"m_{suffix}")[:] = body.mass
            getattr(state, f"I_{suffix}")[:] = body.inertia
            getattr(state, f"F_x_C{suffix}")[:] = body.center_of_mass

    # ----------------------------------------------------------------------------------------------- requests

    @staticmethod
    def takes(kind: type) -> bool:
        """Return whether requests of this type only change the configuration."""
        return kind in _SETTERS

    def apply(self, request: fci.Request) -> bool:
        """Change what a request asks for; return whether the desired pose of the end effector changes with it.

        Raises:
            DeviceError, ModelError: the robot refuses its numbers.
        """
        _SETTERS[type(request)](self, request)
        geometry = type(request) in _GEOMETRY
        if geometry:
            self.update_geometry()
        return geometry

    def _set_collision_behavior(self, r: fci.SetCollisionBehavior) -> None:
        for kind in ("torque", "force"):
            for phase in ("acceleration", "nominal"):
                lower = _positive(getattr(r, f"lower_{kind}_{phase}"), f"lower_{kind}_{phase}")
                upper = _positive(getattr(r, f"upper_{kind}_{phase}"), f"upper_{kind}_{phase}")
                if any(a > b for a, b in zip(lower, upper, strict=True)):
                    raise DeviceError(
                        f"lower_{kind}_{phase} exceeds the upper threshold", field=f"lower_{kind}_{phase}"
                    )
        self._thresholds(r)

    def _set_joint_impedance(self, r: fci.SetJointImpedance) -> None:
        K = _positive(r.K_theta, "K_theta")
        if max(K) > _MAX_STIFFNESS:
            raise DeviceError(f"K_theta {max(K)} exceeds {_MAX_STIFFNESS} N m/rad", field="K_theta")
        self.fields["K_theta"][:] = K

    def _set_cartesian_impedance(self, r: fci.SetCartesianImpedance) -> None:
        K = _positive(r.K_x, "K_x")
        if not (all(10.0 <= v <= 3000.0 for v in K[:3]) and all(1.0 <= v <= 300.0 for v in K[3:])):
            raise DeviceError("K_x must be 10 to 3000 N/m and 1 to 300 N m/rad", field="K_x")
        self.fields["K_x"][:] = K

    def _set_guiding_mode(self, r: fci.SetGuidingMode) -> None:
        self.fields["guiding_free"][:] = (*r.guiding_mode, r.nullspace)

    def _set_stiffness_frame(self, r: fci.SetEEToK) -> None:
        self.fields["EE_T_K"][:] = _pose(r.EE_T_K, "EE_T_K")

    def _set_end_effector(self, r: fci.SetNEToEE) -> None:
        self.NE_T_EE = _pose(r.NE_T_EE, "NE_T_EE")

    def _set_load(self, r: fci.SetLoad) -> None:
        _within((r.mass,), _MAX_MASS, "mass")
        _within(r.F_x_Cload, _MAX_LENGTH, "F_x_Cload")
        _within(r.I_load, _MAX_INERTIA, "I_load")
        x, y, z = r.F_x_Cload
        self.load = Payload(mass=r.mass, center_of_mass=(x, y, z), inertia=tuple(r.I_load))

    def _set_filters(self, r: fci.SetFilters) -> None:
        cutoffs = _positive([getattr(r, name) for name in FILTER._fields], "filters")
        if min(cutoffs) < 1.0 or max(cutoffs) > 1000.0:
            raise DeviceError("cut-off frequencies must be 1 to 1000 Hz", field="filters")
        # first-order low-pass, off at 1000 Hz: gain = dt / (dt + 1 / (2 pi f))
        self.fields["filter"][:] = [1.0 if f >= 1000.0 else DT / (DT + 1.0 / (2.0 * math.pi * f)) for f in cutoffs]


_SETTERS: dict[type, Callable[[Configuration, Any], None]] = {
    fci.SetCollisionBehavior: Configuration._set_collision_behavior,
    fci.SetJointImpedance: Configuration._set_joint_impedance,
    fci.SetCartesianImpedance: Configuration._set_cartesian_impedance,
    fci.SetGuidingMode: Configuration._set_guiding_mode,
    fci.SetEEToK: Configuration._set_stiffness_frame,
    fci.SetNEToEE: Configuration._set_end_effector,
    fci.SetLoad: Configuration._set_load,
    fci.SetFilters: Configuration._set_filters,
}
"""Type of request -> what it changes."""
_GEOMETRY = {fci.SetEEToK, fci.SetNEToEE, fci.SetLoad}
"""Requests after which `Configuration.update_geometry` is due."""


def _positive(values: Sequence[float], name: str) -> tuple[float, ...]:
    if not all(math.isfinite(v) and v >= 0.0 for v in values):
        raise DeviceError(f"{name} is {tuple(values)}; must be finite numbers >= 0", field=name)
    return tuple(values)


def _within(values: Sequence[float], most: float, name: str) -> None:
    if not all(abs(v) <= most for v in values):  # also for NaN
        raise DeviceError(f"{name} is {tuple(values)}; must be within -{most:g} and {most:g}", field=name)


def _pose(values: Sequence[float], name: str) -> Array:
    T = np.array(values, dtype=float).reshape(4, 4).T.copy()
    if not is_transform(T):
        raise DeviceError(f"{name} is not a homogeneous transform", field=name)
    _within(T[:3, 3].tolist(), _MAX_LENGTH, name)
    return T

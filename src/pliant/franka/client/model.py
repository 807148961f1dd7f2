"""Frames, tool and dynamics of a Franka arm at its present state, with ViSP's names."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from pliant.base.errors import DeviceError, nearest
from pliant.base.numerics import Array
from pliant.franka.client.backend import Backend, as_array, as_number, as_vector
from pliant.franka.device.parameters import Arm, Payload, is_transform
from pliant.franka.robots import dynamics, kinematics

RobotState = Literal["stop", "position", "velocity", "force_torque"]
"""The running control, named as ViSP's robot states."""
Frame = Literal["joint", "end_effector", "reference", "camera"]
"""Frame of a quantity: joint space, or the axes of end effector, base or camera."""


class ArmModel:
    """Poses, Jacobians, tool and dynamics of an arm; the base of `FrankaRobot`, which moves it.

    Args:
        backend: the simulated or real arm.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.arm: Arm = backend.arm
        """Parameters of the arm."""
        self._state: RobotState = "stop"
        self._eMc = np.eye(4)
        self._g0: Array | None = None
        self._load_model()

    def _refresh(self) -> None:
        if self._state in ("stop", "position"):
            self._backend.refresh()

    # ------------------------------------------------------------------------------------- frames and tool

    def _load_model(self) -> None:
        """Read the state that only a change of the tool changes."""
        self._F_T_EE = self._backend.pose("F_T_EE")
        self._payload = self._backend.payload()

    def _tool(self, frame: Frame) -> Array:
        return self._F_T_EE @ self._eMc if frame == "camera" else self._F_T_EE

    def _jacobian(self, frame: Frame, q: Array | None = None) -> Array:
        q = self._backend.get("q") if q is None else q
        axes: Literal["base", "body"] = "base" if frame == "reference" else "body"
        return kinematics.jacobian(q, F_T_EE=self._tool(frame), axes=axes)

    def _at(self, q: ArrayLike | None) -> Array:
        if q is not None:
            return as_vector(q, 7, "q")
        self._refresh()
        return self._backend.get("q")

    def get_fMe(self, q: ArrayLike | None = None) -> Array:
        """Return the pose of the end effector in the base, at q or now, shape (4, 4)."""
        return kinematics.forward_kinematics(self._at(q), F_T_EE=self._F_T_EE)

    def get_fMc(self, q: ArrayLike | None = None) -> Array:
        """Return the pose of the camera in the base, at q or now, shape (4, 4)."""
        return self.get_fMe(q) @ self._eMc

    def get_fJe(self, q: ArrayLike | None = None) -> Array:
        """Return the end effector's Jacobian in the base's axes, at q or now, shape (6, 7)."""
        return self._jacobian("reference", self._at(q))

    def get_eJe(self, q: ArrayLike | None = None) -> Array:
        """Return the end effector's Jacobian in its own axes, at q or now, shape (6, 7)."""
        return self._jacobian("end_effector", self._at(q))

    def get_eMc(self) -> Array:
        """Return the pose of the camera in the end effector, shape (4, 4)."""
        return self._eMc.copy()

    def set_eMc(self, eMc: ArrayLike) -> None:
        """Set the pose of the camera in the end effector, shape (4, 4)."""
        self._eMc = as_pose(eMc, "eMc")

    def get_flMe(self) -> Array:
        """Return the pose of the end effector in the flange, shape (4, 4)."""
        return self._F_T_EE.copy()

    def set_flMe(self, flMe: ArrayLike) -> None:
        """Set the pose of the end effector in the flange, shape (4, 4), here and in the robot.

        Raises:
            DeviceError: a motion runs, or flMe is not a pose.
        """
        X = as_pose(flMe, "flMe")
        self._needs_rest("set_flMe")
        self._backend.set_end_effector(X)
        self._load_model()

    def get_flMcom(self) -> Array:
        """Return the pose of the centre of mass of hand and tool in the flange, axes of the flange, shape (4, 4)."""
        X = np.eye(4)
        X[:3, 3] = self._payload.center_of_mass
        return X

    def get_tool_mass(self) -> float:
        """Return the mass of hand and tool [kg]."""
        return self._payload.mass

    def add_tool(
        self,
        flMe: ArrayLike,
        mass: float = 0.0,
        flMcom: ArrayLike | None = None,
        inertia: ArrayLike | None = None,
    ) -> None:
        """Tell the robot of a tool beside the hand: pose of its end effector, and its inertia.

        The inertia of the hand still counts; a second call replaces the first tool. In the simulation the tool is the
        ``load`` of `simulated`; this call makes the controller compensate it.

        Args:
            flMe: pose of the end effector in the flange, shape (4, 4).
            mass: of the tool [kg].
            flMcom: pose of its centre of mass in the flange, shape (4, 4), or its position, shape (3,) [m].
            inertia: about the centre of mass in the axes of flMcom, shape (3, 3) [kg m^2].

        Raises:
            DeviceError: a motion runs, or the robot refuses the numbers.
            ModelError: a mass or an inertia that no body has.
        """
        X = as_pose(flMe, "flMe")
        mass = as_number(mass, "mass", "a finite number >= 0 [kg]")
        com = np.zeros(3) if flMcom is None else as_array(flMcom, "flMcom", "a pose (4, 4) or a position (3,)")
        center = np.eye(4)
        if com.shape == (3,):
            center[:3, 3] = com
        else:
            center = as_pose(com, "flMcom")
        I = np.zeros((3, 3)) if inertia is None else as_array(inertia, "inertia", "numbers of shape (3, 3)")
        if I.shape != (3, 3):
            raise DeviceError(f"inertia has shape {I.shape}; must be (3, 3)", field="inertia")
        R = center[:3, :3]
        x, y, z = center[:3, 3].tolist()
        load = Payload(mass=mass, center_of_mass=(x, y, z), inertia=tuple((R @ I @ R.T).reshape(-1).tolist()))
        self._needs_rest("add_tool")
        self._backend.set_load(load)
        self._backend.set_end_effector(X)
        self._load_model()

    def set_g0(self, g0: ArrayLike) -> None:
        """Set gravity in the base for `get_gravity`, shape (3,) [m/s^2]; the robot keeps its own."""
        self._g0 = as_vector(g0, 3, "g0")

    def _needs_rest(self, method: str) -> None:
        if self._state in ("velocity", "force_torque"):
            raise DeviceError(f"{method} in state {self._state!r}; call set_robot_state('stop') first", field="state")

    # ---------------------------------------------------------------------------------------------- dynamics

    def get_mass(self) -> Array:
        """Return the mass matrix with hand and tool, shape (7, 7) [kg m^2]."""
        return dynamics.mass(self._at(None), self._payload, arm=self.arm)

    def get_coriolis_matrix(self) -> Array:
        """Return the Coriolis matrix of Christoffel symbols, shape (7, 7) [N m s/rad]."""
        q = self._at(None)
        return dynamics.coriolis(q, self._backend.get("dq"), self._payload, arm=self.arm)

    def get_coriolis(self) -> Array:
        """Return the Coriolis and centrifugal torques, shape (7,) [N m]."""
        q = self._at(None)
        dq = self._backend.get("dq")
        return dynamics.coriolis(q, dq, self._payload, arm=self.arm) @ dq

    def get_gravity(self) -> Array:
        """Return the torques that hold the arm, shape (7,) [N m]."""
        q = self._at(None)
        g0 = self._backend.get("O_ddP_O") if self._g0 is None else self._g0
        return dynamics.gravity(q, self._payload, g0, arm=self.arm)

    def get_friction(self) -> Array:
        """Return the identified friction torques, shape (7,) [N m]; on the FR3 assumed to be the FER's."""
        self._refresh()
        return dynamics.friction(self._backend.get("dq"), arm=self.arm)


def as_frame(frame: Frame) -> Frame:
    """Return a frame.

    Raises:
        DeviceError: there is no such frame.
    """
    if frame not in get_args(Frame):
        raise DeviceError(f"no frame {frame!r}: {nearest(str(frame), get_args(Frame))}", field="frame")
    return frame


def as_pose(X: ArrayLike, name: str) -> Array:
    """Return a pose as a new array, shape (4, 4).

    Args:
        X: what the caller gave.
        name: of the argument, for messages.

    Raises:
        DeviceError: it is no homogeneous transform.
    """
    found = as_array(X, name, "a homogeneous transform, shape (4, 4)")
    if found.shape != (4, 4) or not is_transform(found, row_tolerance=1e-6):
        raise DeviceError(f"{name} must be a homogeneous transform, shape (4, 4)", field=name)
    return found

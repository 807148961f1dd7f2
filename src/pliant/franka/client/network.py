"""A Franka robot behind its interface, driven through pylibfranka."""

from __future__ import annotations

import contextlib
import time as wall
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pliant.base.errors import BridgeError, DeviceError, importing
from pliant.base.numerics import Array
from pliant.franka.client.backend import Motion
from pliant.franka.client.hand import HandClient
from pliant.franka.device.parameters import NO_PAYLOAD, Arm, Payload
from pliant.franka.robots import dynamics
from pliant.franka.robots.parameters import ARMS
from pliant.simulation.realtime import kept_scheduling

MODEL_TOLERANCE = 0.01
"""Difference of a robot's mass matrix from that of a type of arm, relative to its largest entry, at which it is one of
that type. Rounding to float32 differs by less than 1e-5, types of different links by more than twice the tolerance."""


class NetworkArm:
    """A robot, or any server of its interface, driven through pylibfranka.

    Args:
        address: of the robot.
        arm: parameters of the arm, for limits and dynamics.
        realtime: whether pylibfranka requires a real-time kernel and priority. Without it the calling thread keeps the
            priority that it has.
    """

    def __init__(self, address: str, *, arm: Arm, realtime: bool = False) -> None:
        with importing("pylibfranka", command="pip install pylibfranka", purpose="FrankaRobot.connect"):
            import pylibfranka
        self._f = pylibfranka
        self.arm, self.address = arm, address
        self._robot: Any = None
        self._closed = False
        # libfranka gives a thread that connects the highest real-time priority wherever the system lets it, also with
        # kIgnore. Beside a simulation this starves other programs and the thread's own children: two such threads on
        # two processors leave nothing to anybody.
        self._scheduling = contextlib.nullcontext if realtime else kept_scheduling
        kind = pylibfranka.RealtimeConfig
        with self._errors(), self._scheduling():
            self._robot = pylibfranka.Robot(address, kind.kEnforce if realtime else kind.kIgnore)
        self._gripper: HandClient | None = None
        self._control: Any = None
        self._make: Any = None
        self._read_at = 0.0
        self.refresh()

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn pylibfranka's exceptions into pliant's."""
        f = self._f
        if self._closed:
            raise BridgeError(f"the connection to {self.address} was closed; connect again", field="address")
        try:
            yield
        except f.ControlException as fault:
            self._control = None
            raise DeviceError(f"the motion was aborted: {fault}", field="motion") from None
        except (f.CommandException, f.InvalidOperationException) as fault:
            raise DeviceError(f"the robot at {self.address} refused: {fault}") from None
        except (f.NetworkException, f.RealtimeException, f.FrankaException) as fault:
            self._control = None
            raise BridgeError(f"the robot at {self.address}: {fault}", field="address") from None

    def get(self, name: str) -> Array:
        return np.array(getattr(self._state, name), dtype=float)

    def pose(self, name: str) -> Array:
        return np.array(getattr(self._state, name), dtype=float).reshape(4, 4).T.copy()

    @property
    def time(self) -> float:
        return self._state.time.to_sec()

    @property
    def mode(self) -> str:
        name = str(self._state.robot_mode).rpartition(".")[2]
        return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")

    def payload(self) -> Payload:
        state = self._state
        if state.m_total <= 0.0:
            return NO_PAYLOAD
        # The sums of float32 numbers are not exactly symmetric and positive.
        I = np.reshape(state.I_total, (3, 3))
        I = 0.5 * (I + I.T)
        low = float(np.linalg.eigvalsh(I)[0])
        if low < 0.0:
            I = I - low * np.eye(3)
        x, y, z = state.F_x_Ctotal
        return Payload(mass=state.m_total, center_of_mass=(x, y, z), inertia=tuple(I.reshape(-1).tolist()))

    def served_arm(self) -> str:
        """Return the type of arm whose mass matrix is that of the robot's own model, "" where it is of none.

        FR3 and FP3 have the same links: of equal types, it is the one that this client was made for.
        """
        f = self._f
        try:
            with self._scheduling():
                served = np.reshape(self._robot.load_model().mass(self._state), (7, 7))
        except (f.FrankaException, RuntimeError):  # a robot without a model, or with one of an older version
            return ""
        q, payload = self.get("q"), self.payload()

        def error(arm: Arm) -> float:
            expected = dynamics.mass(q, payload, arm=arm)
            return float(np.abs(served - expected).max() / np.abs(expected).max())

        nearest = min((self.arm, *ARMS.values()), key=error)
        return nearest.name if error(nearest) < MODEL_TOLERANCE else ""

    def refresh(self) -> None:
        # A state that waited in the socket is old, the next one is new.
        stale = wall.perf_counter() - self._read_at > 0.02
        self.idle()
        if stale:
            self.idle()

    def idle(self) -> None:
        with self._errors():
            self._state = self._robot.read_once()
        self._read_at = wall.perf_counter()

    def begin(self, motion: Motion) -> None:
        f = self._f
        with self._errors(), self._scheduling():
            if motion == "torque":
                self._control, self._make = self._robot.start_torque_control(), f.Torques
            else:
                self._control = self._robot.start_joint_velocity_control(f.ControllerMode.JointImpedance)
                self._make = f.JointVelocities

    def exchange(self, values: Array) -> None:
        self.send(values)
        self.receive()

    def send(self, values: Array) -> None:
        with self._errors():
            self._control.writeOnce(self._make(values.tolist()))

    def receive(self) -> None:
        with self._errors():
            self._state, _ = self._control.readOnce()

    def finish(self, values: Array) -> None:
        with self._errors():
            last = self._make(values.tolist())
            last.motion_finished = True
            self._control.writeOnce(last)
        self._control = None

    def abort(self) -> None:
        self._control = None
        with self._errors():
            self._robot.stop()

    def recover(self) -> None:
        with self._errors():
            self._robot.automatic_error_recovery()
        self.refresh()

    def press(self, button: str, pressed: bool) -> None:
        raise DeviceError(
            f"{button} is not a request of the robot's interface: press it on the robot; for a simulated robot, run "
            f"it with --console and enter '{button} {'on' if pressed else 'off'}', or call its ROS service",
            field=button,
        )

    def set_load(self, load: Payload) -> None:
        with self._errors():
            self._robot.set_load(load.mass, list(load.center_of_mass), list(load.inertia))
        self._settled()

    def set_end_effector(self, F_T_EE: Array) -> None:
        NE_T_EE = np.linalg.solve(self.pose("F_T_NE"), F_T_EE)
        with self._errors():
            self._robot.set_EE(NE_T_EE.T.reshape(-1).tolist())
        self._settled()

    def _settled(self) -> None:
        """Read until a state is certainly newer than the last answer."""
        for _ in range(150):
            self.idle()

    def _hand(self) -> HandClient:
        if self._gripper is None:
            with self._errors():
                self._gripper = HandClient(self.address)
        return self._gripper

    def begin_hand(self, action: str, *values: float) -> Callable[[], bool | None]:
        return self._hand().begin(action, *values)

    def hand_width(self) -> float:
        # A robot in motion may wait for the next command, and gives no further state before it.
        return self._hand().width(wait=self._control is None)

    def close(self) -> None:
        if self._control is not None:
            with contextlib.suppress(BridgeError, DeviceError):
                self.abort()
        if self._gripper is not None:
            self._gripper.close()
        self._robot = self._gripper = None
        self._closed = True

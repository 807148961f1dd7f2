"""A Franka arm of a simulation in this process, advanced by its user."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import numpy as np

from pliant.base.errors import DeviceError, nearest
from pliant.base.numerics import Array
from pliant.franka.client.backend import PERIOD, Motion
from pliant.franka.client.hand import hand_request, hand_result
from pliant.franka.device.arm import FrankaArm
from pliant.franka.device.parameters import Payload
from pliant.franka.wire import fci

if TYPE_CHECKING:
    from pliant.franka.device.arm import StateValues
    from pliant.franka.device.gripper import GripperAnswer
    from pliant.simulation import Simulation

MAX_CYCLES = 30_000
"""Longest wait for an answer or for the end of a motion [cycles]."""


class SimulationArm:
    """An arm of a simulation, driven by its requests and its mailbox; each command steps the simulation.

    Args:
        simulation: a simulation with a Franka arm among its devices. Nobody else may run it meanwhile.
        device: name of the arm; "" for the only one.
        owned: whether `close` closes the simulation too.

    Raises:
        DeviceError: the simulation has no such arm, or several and none is named.
    """

    address = "simulation"

    def __init__(self, simulation: Simulation, device: str = "", *, owned: bool = False) -> None:
        arms = {name: d for name, d in simulation.devices.items() if isinstance(d, FrankaArm)}
        if not device and len(arms) == 1:
            device = next(iter(arms))
        if device not in arms:
            raise DeviceError(f"the simulation has no Franka arm {device!r}; {nearest(device, arms)}", field="device")
        self.simulation = simulation
        self.device = arms[device]
        self.arm = self.device.description.arm
        self._owned = owned
        self._steps = self.device.period_ns // simulation.dt_ns
        self.device.client = "a program"
        self._move: list[fci.Response | GripperAnswer] = []
        self._mode = ""
        self._cycle()

    def _cycle(self) -> None:
        """Advance by one cycle of the robot."""
        self.simulation.step(self._steps)
        self._read()

    def _read(self) -> None:
        """Take the newest state."""
        self._read_ns = self.simulation.time_ns
        self._values = cast("StateValues", self.device.newest)

    def get(self, name: str) -> Array:
        return np.array(self._values[name])

    def pose(self, name: str) -> Array:
        return self._values.state.matrix(name).copy()

    @property
    def time(self) -> float:
        return self._values.state.message_id * PERIOD

    @property
    def mode(self) -> str:
        return fci.RobotMode(self._values.state.robot_mode).name.lower()

    def served_arm(self) -> str:
        return self.arm.name

    def payload(self) -> Payload:
        def body(mass: str, center: str, inertia: str) -> Payload:
            x, y, z = self.get(center).tolist()
            return Payload(
                mass=float(self._values[mass]), center_of_mass=(x, y, z), inertia=tuple(self.get(inertia).tolist())
            )

        return body("m_ee", "F_x_Cee", "I_ee").combined(body("m_load", "F_x_Cload", "I_load"))

    def refresh(self) -> None:
        pass

    def idle(self) -> None:
        self._cycle()

    def _ask(self, name: str, **fields: object) -> list[fci.Response | GripperAnswer]:
        """Send a request, step until its first answer, and return the list that further answers go to."""
        answers: list[fci.Response | GripperAnswer] = []
        future = self.device.request(name, answered=answers.append, **fields)
        for _ in range(MAX_CYCLES):
            self._cycle()
            future.result(0.0)
            if answers:
                break
        else:
            raise DeviceError(f"{name} was not answered within {MAX_CYCLES * PERIOD:g} s", field=name)
        return answers

    def _require(self, name: str, **fields: object) -> list[fci.Response | GripperAnswer]:
        answers = self._ask(name, **fields)
        if answers[0].status not in ("success", "started"):
            raise DeviceError(f"{name} was refused: {answers[0].status} (the robot's mode is {self.mode})", field=name)
        return answers

    def begin(self, motion: Motion) -> None:
        external = motion == "torque"
        self._move = self._require(
            "move",
            controller=fci.Controller.EXTERNAL if external else fci.Controller.JOINT_IMPEDANCE,
            motion_generator=fci.MotionGenerator.NONE if external else fci.MotionGenerator.JOINT_VELOCITY,
        )
        self._mode = self.device.mode

    def _put(self, values: Array, finished: bool) -> None:
        name = "tau_J_d" if self._mode == "torque" else "dq_c"
        self.device.inbox.put(
            {name: values, "finished": float(finished)}, mode=self._mode, seq=self._values.state.message_id
        )

    def exchange(self, values: Array) -> None:
        self.send(values)
        self.receive()

    def send(self, values: Array) -> None:
        if self.device.mode:
            self._put(values, finished=False)

    def receive(self) -> None:
        # Another arm of this simulation may have advanced it.
        if self.simulation.time_ns == self._read_ns:
            if self.device.mode:
                self._cycle()
        else:
            self._read()
        if not self.device.mode:
            self._fail()

    def finish(self, values: Array) -> None:
        if self.device.mode:
            self._put(values, finished=True)
        for _ in range(MAX_CYCLES):
            self._cycle()
            if not self.device.mode:
                break
        if self._move and self._move[-1].status != "success":
            self._fail()

    def _fail(self) -> None:
        state = self._values.state
        names = [fci.ERRORS[i] for i in np.flatnonzero(state.reflex_reason)]
        raise DeviceError(
            f"the motion was aborted in mode {self.mode}: {', '.join(names) or 'no error is set'}", field="motion"
        )

    def abort(self) -> None:
        if self.device.mode:
            with contextlib.suppress(DeviceError):
                self._require("stop_move")

    def recover(self) -> None:
        self._require("automatic_error_recovery")

    def press(self, button: str, pressed: bool) -> None:
        future = self.device.request(button, **{self.device.buttons[button]: pressed})
        self._cycle()
        future.result(0.0)

    def set_load(self, load: Payload) -> None:
        self._require("set_load", mass=load.mass, F_x_Cload=load.center_of_mass, I_load=load.inertia)

    def set_end_effector(self, F_T_EE: Array) -> None:
        NE_T_EE = np.linalg.solve(self.pose("F_T_NE"), F_T_EE)
        self._require("set_ne_to_ee", NE_T_EE=tuple(NE_T_EE.T.reshape(-1).tolist()))

    def begin_hand(self, action: str, *values: float) -> Callable[[], bool | None]:
        if self.device.gripper is None:
            raise DeviceError(f"{self.device.name} has no hand", field="hand")
        asked = hand_request(action, values)
        answers: list[fci.Response | GripperAnswer] = []
        future = self.device.request(f"gripper_{action}", answered=answers.append, **dataclasses.asdict(asked))

        def result() -> bool | None:
            if future.done():
                future.result(0.0)
            return hand_result(asked, answers[0].status) if answers else None

        return result

    def hand_width(self) -> float:
        return self._values.width

    def close(self) -> None:
        if not self.simulation.health()["closed"]:
            self.abort()
        self.device.client = ""
        if self._owned:
            self.simulation.close()

"""What a `Robot` drives: an arm simulated in this process, or a server of the Franka Control Interface.

Both count robot time in cycles of one millisecond, hold one state, and run one motion at a time. The simulated arm
advances when it is told to; a server advances when its protocol says so (in lock-step with the commands, or with the
wall clock as the robot does).
"""

from __future__ import annotations

import contextlib
import time as wall
from collections.abc import Iterator, Sequence
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from pliant.errors import BridgeError, DeviceError, MissingDependency
from pliant.robots.franka.build import Mount, MujocoPlant, world
from pliant.robots.franka.controller import Cabinet, Gripper, Settings
from pliant.robots.franka.parameters import D_FLANGE, NO_PAYLOAD, Arm, Payload
from pliant.wire import fci

__all__ = ["Backend", "FciArm", "SimulatedArm"]

Array = NDArray[np.float64]
Motion = Literal["velocity", "torque"]
PERIOD = 1e-3
"""The robot's cycle [s]."""
_HAND_TIMEOUT = 30_000
"""Longest motion of the hand [cycles]."""


class Backend(Protocol):
    """One arm with its state; every vector has shape (7,) unless said otherwise."""

    arm: Arm
    """Which arm it is."""
    address: str
    """Where it is, for messages."""

    def get(self, name: str) -> Array:
        """Return a vector of the state by its name in the interface, such as "q" or "O_F_ext_hat_K" (a copy)."""
        ...

    def pose(self, name: str) -> Array:
        """Return a pose of the state, such as "F_T_EE", shape (4, 4)."""
        ...

    @property
    def time(self) -> float:
        """Robot time of the state [s]."""
        ...

    @property
    def mode(self) -> str:
        """The robot's mode in lower case: "idle", "move", "reflex", "user_stopped", ..."""
        ...

    def payload(self) -> Payload:
        """Return end effector and load as one body, in the flange's frame."""
        ...

    def refresh(self) -> None:
        """Bring the state of an idle robot up to date."""
        ...

    def idle(self) -> None:
        """Let one cycle pass without a motion."""
        ...

    def begin(self, motion: Motion) -> None:
        """Start a motion; the state is the first one that wants a command."""
        ...

    def exchange(self, values: Array) -> None:
        """Answer the state with a command, and take the next state."""
        ...

    def finish(self, values: Array) -> None:
        """End the motion with a last command and wait until the arm rests."""
        ...

    def abort(self) -> None:
        """Stop at once, whatever runs."""
        ...

    def recover(self) -> None:
        """Clear the errors of a reflex."""
        ...

    def set_load(self, load: Payload) -> None:
        """Tell the controller what hangs at the flange beside the end effector."""
        ...

    def set_end_effector(self, F_T_EE: Array) -> None:
        """Put the end effector's frame, shape (4, 4) in the flange."""
        ...

    def hand(self, action: str, *values: float) -> bool:
        """Run "homing", "move" (width, speed), "grasp" (width, speed, force, inner, outer) or "stop"."""
        ...

    def hand_width(self) -> float:
        """Return the opening of the hand [m]."""
        ...

    def close(self) -> None:
        """Let the robot go."""
        ...


class SimulatedArm:
    """An arm in MuJoCo with the controller of its cabinet, advanced by its user.

    Args:
        mount: which arm, how it stands, and where it starts.
        friction: whether the identified joint friction acts.
        friction_compensation: whether the cabinet compensates it; None: if it acts.
        load: a body that hangs at the flange beside the hand, unknown to the controller until it is told.
        settings: of the cabinet.
    """

    address = "simulation"

    def __init__(
        self,
        mount: Mount,
        *,
        friction: bool = True,
        friction_compensation: bool | None = None,
        load: Payload | None = None,
        settings: Settings | None = None,
    ) -> None:
        import dataclasses

        spec = world([mount])
        if load is not None and load.mass > 0.0:
            body = spec.body(f"{mount.name}_link7").add_body(name=f"{mount.name}_load", pos=[0.0, 0.0, D_FLANGE])
            I = np.reshape(load.inertia, (3, 3))
            body.explicitinertial = True
            body.mass, body.ipos = load.mass, list(load.center_of_mass)
            body.fullinertia = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
        self.arm = mount.arm
        self.plant = MujocoPlant([mount], friction=friction, spec=spec)
        self.side = self.plant.arms[0]
        compensated = friction if friction_compensation is None else friction_compensation
        self.cabinet = Cabinet(
            mount.arm,
            settings=dataclasses.replace(settings or Settings(), friction_compensation=compensated),
            end_effector=self.side.payload(),
            gravity=self.side.gravity,
            q=mount.q,
        )
        self.gripper = Gripper(width=self.side.read_hand()[0]) if mount.hand else None
        self._generator = 0
        self._observe()

    def _observe(self) -> None:
        q, dq, tau_J = self.side.read()
        cabinet = self.cabinet
        if cabinet.first_command_due or not cabinet.moving:
            rest = cabinet.settle(q, dq)
            if rest is not None:
                self.side.settle(rest)
        cabinet.observe(q, dq, tau_J)

    def _cycle(self, command: fci.RobotCommand | None = None) -> None:
        """Control, advance by a millisecond, measure: the order of the server."""
        self.side.write(self.cabinet.control(command))
        if self.gripper is not None:
            self.side.write_hand(self.gripper.step(*self.side.read_hand()))
        self.plant.step()
        self._observe()

    def get(self, name: str) -> Array:
        return getattr(self.cabinet.state, name).copy()

    def pose(self, name: str) -> Array:
        return self.cabinet.state.matrix(name).copy()

    @property
    def time(self) -> float:
        return self.cabinet.state.message_id * PERIOD

    @property
    def mode(self) -> str:
        return fci.RobotMode(self.cabinet.state.robot_mode).name.lower()

    def payload(self) -> Payload:
        return self.cabinet.end_effector.combined(self.cabinet.load)

    def refresh(self) -> None:
        pass

    def idle(self) -> None:
        self._cycle()

    def _ask(self, request: fci.Request) -> None:
        """Send a request and wait for its answer, whatever ends a running motion meanwhile."""
        self.cabinet.take_answers()
        name = type(request).__name__
        self.cabinet.request(request)
        for _ in range(10_000):
            for answer in self.cabinet.take_answers():
                if answer.command != name:
                    continue
                if answer.status in ("success", "started"):
                    return
                raise DeviceError(f"{name} refused: {answer.status} (the robot's mode is {self.mode})", field=name)
            self._cycle()
        raise DeviceError(f"{name} was not answered", field=name)

    def begin(self, motion: Motion) -> None:
        external = motion == "torque"
        self._ask(
            fci.Move(
                controller=fci.Controller.EXTERNAL if external else fci.Controller.JOINT_IMPEDANCE,
                motion_generator=fci.MotionGenerator.NONE if external else fci.MotionGenerator.JOINT_VELOCITY,
            )
        )
        self._external = external
        # a client sees one state with the new mode before the one that it answers
        self._cycle()
        self._cycle()

    def _command(self, values: Array, finished: bool = False) -> fci.RobotCommand:
        number = self.cabinet.state.message_id
        if self._external:
            return fci.RobotCommand(message_id=number, tau_J_d=values, torque_command_finished=finished)
        motion = np.zeros(38)
        motion[7:14] = values
        return fci.RobotCommand(message_id=number, motion=motion, motion_generation_finished=finished)

    def exchange(self, values: Array) -> None:
        self._cycle(self._command(values))
        if not self.cabinet.moving:
            self._failed()

    def finish(self, values: Array) -> None:
        self._cycle(self._command(values, finished=True))
        for _ in range(20_000):
            if not self.cabinet.moving:
                break
            self._cycle()
        if any(a.command == "Move" and a.status != "success" for a in self.cabinet.take_answers()):
            self._failed()

    def _failed(self) -> None:
        state = self.cabinet.state
        names = [fci.ERRORS[i] for i in np.flatnonzero(state.reflex_reason)]
        self.cabinet.take_answers()
        raise DeviceError(
            f"the motion was aborted in mode {self.mode}: {', '.join(names) or 'no error is set'}", field="motion"
        )

    def abort(self) -> None:
        if self.cabinet.moving:
            with contextlib.suppress(DeviceError):
                self._ask(fci.StopMove())

    def recover(self) -> None:
        self._ask(fci.AutomaticErrorRecovery())

    def set_load(self, load: Payload) -> None:
        self._ask(fci.SetLoad(mass=load.mass, F_x_Cload=load.center_of_mass, I_load=load.inertia))

    def set_end_effector(self, F_T_EE: Array) -> None:
        NE_T_EE = np.linalg.solve(self.cabinet.F_T_NE, F_T_EE)
        self._ask(fci.SetNEToEE(NE_T_EE=tuple(NE_T_EE.T.reshape(-1).tolist())))

    def hand(self, action: str, *values: float) -> bool:
        if self.gripper is None:
            raise DeviceError("this arm has no hand", field="hand")
        request: fci.GripperRequest
        if action == "homing":
            request = fci.GripperHoming()
        elif action == "move":
            request = fci.GripperMove(width=values[0], speed=values[1])
        elif action == "grasp":
            width, speed, force, inner, outer = values
            request = fci.GripperGrasp(width=width, speed=speed, force=force, epsilon_inner=inner, epsilon_outer=outer)
        else:
            request = fci.GripperStop()
        self.gripper.answers.clear()
        self.gripper.request(request)
        for _ in range(_HAND_TIMEOUT):
            if self.gripper.answers:
                status = self.gripper.answers[-1].status
                if status in ("success", "unsuccessful"):
                    return status == "success"
                raise DeviceError(f"the hand refused {action}{values}: {status}", field=action)
            self._cycle()
        raise DeviceError(f"the hand did not end {action}{values}", field=action)

    def hand_width(self) -> float:
        return self.side.read_hand()[0]

    def close(self) -> None:
        self.abort()


class FciArm:
    """A robot, or any server of its interface, through pylibfranka.

    Args:
        address: of the robot.
        arm: which arm stands there; for limits and the dynamics library.
        realtime: whether pylibfranka insists on a real-time kernel and priority.
    """

    def __init__(self, address: str, *, arm: Arm, realtime: bool = False) -> None:
        try:
            import pylibfranka
        except ImportError:
            raise MissingDependency("pylibfranka", command="pip install pylibfranka", purpose="Robot.connect") from None
        self._f = pylibfranka
        self.arm, self.address = arm, address
        self._robot: Any = None
        self._closed = False
        kind = pylibfranka.RealtimeConfig
        with self._errors():
            self._robot = pylibfranka.Robot(address, kind.kEnforce if realtime else kind.kIgnore)
        self._gripper: Any = None
        self._control: Any = None
        self._make: Any = None
        self._read_at = 0.0
        self.refresh()

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn pylibfranka's exceptions into pliant's."""
        f = self._f
        if self._closed:
            raise BridgeError(f"the connection to {self.address} was closed; connect anew", field="address")
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
        # sums of numbers that travel in float32
        I = np.reshape(state.I_total, (3, 3))
        I = 0.5 * (I + I.T)
        low = float(np.linalg.eigvalsh(I)[0])
        if low < 0.0:
            I = I - low * np.eye(3)
        x, y, z = state.F_x_Ctotal
        return Payload(mass=state.m_total, center_of_mass=(x, y, z), inertia=tuple(I.reshape(-1).tolist()))

    def refresh(self) -> None:
        # what waited in the socket is old: a second state is new
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
        with self._errors():
            if motion == "torque":
                self._control, self._make = self._robot.start_torque_control(), f.Torques
            else:
                self._control = self._robot.start_joint_velocity_control(f.ControllerMode.JointImpedance)
                self._make = f.JointVelocities
            self._state, _ = self._control.readOnce()

    def exchange(self, values: Array) -> None:
        with self._errors():
            self._control.writeOnce(self._make(values.tolist()))
            self._state, _ = self._control.readOnce()

    def finish(self, values: Array) -> None:
        with self._errors():
            last = self._make(values.tolist())
            last.motion_finished = True
            self._control.writeOnce(last)
        self._control = None
        self.refresh()

    def abort(self) -> None:
        self._control = None
        with self._errors():
            self._robot.stop()

    def recover(self) -> None:
        with self._errors():
            self._robot.automatic_error_recovery()
        self.refresh()

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
        """Read until a state is surely younger than the last answer."""
        for _ in range(150):
            self.idle()

    def _hand(self) -> Any:
        if self._gripper is None:
            with self._errors():
                self._gripper = self._f.Gripper(self.address)
        return self._gripper

    def hand(self, action: str, *values: float) -> bool:
        hand = self._hand()
        with self._errors():
            # pylibfranka's grasp takes width, speed, force, epsilon inner, epsilon outer
            done = getattr(hand, action)(*values)
        self.refresh()
        return bool(done)

    def hand_width(self) -> float:
        with self._errors():
            self._hand().read_once()
            return float(self._gripper.read_once().width)

    def close(self) -> None:
        if self._control is not None:
            with contextlib.suppress(BridgeError, DeviceError):
                self.abort()
        self._robot = self._gripper = None
        self._closed = True


def as_vector(values: Sequence[float] | Array, size: int, name: str) -> Array:
    """Return finite numbers of the right count.

    Raises:
        DeviceError: another shape, or what is not a finite number.
    """
    try:
        found = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise DeviceError(f"{name} {values!r}: valid are {size} numbers", field=name) from None
    if found.shape != (size,):
        raise DeviceError(f"{name} of shape {found.shape}; valid is ({size},)", field=name)
    if not np.isfinite(found).all():
        raise DeviceError(f"{name} {found.tolist()}: valid are finite numbers", field=name)
    return found

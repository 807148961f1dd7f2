"""A Franka arm as a device: control cabinet and hand, with the robot state as its sample.

The firmware is the robot's cycle of 1 ms: `FrankaArm.write` lets the cabinet control with the command of this cycle,
`FrankaArm.read` lets it observe. The command modes are the motions that a client of the robot can run; one is
accepted while the motion runs that the request ``move`` has started, and none otherwise. The other requests are those
of the robot's interface, declared once as the request types of `pliant.franka.wire.fci`.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from pliant.base.errors import DeviceError
from pliant.devices.base import Command, DeviceBase, DeviceOptions, FieldInfo, Sample, button, request
from pliant.devices.kinds import device_for
from pliant.engine.base import Engine, mujoco_state
from pliant.franka.device.cabinet import Cabinet, Motion
from pliant.franka.device.gripper import Gripper, GripperAnswer
from pliant.franka.device.imperfections import NO_IMPERFECTIONS, Imperfections, JointNoise
from pliant.franka.device.memory import DT
from pliant.franka.device.parameters import Arm, Cup, Hand, Payload
from pliant.franka.device.plant import OPENING, ArmPlant
from pliant.franka.device.settings import Settings
from pliant.franka.device.vacuum import PASCAL, VacuumGripper
from pliant.franka.wire import fci

if TYPE_CHECKING:
    from pliant.model import Robot


class Mode(NamedTuple):
    """One command mode: a motion that a client of the robot can run."""

    controller: str
    """"internal" (joint or Cartesian impedance) or "external" (the client's torques)."""
    generator: fci.MotionGenerator
    """The motion generator that the mode commands."""
    fields: Mapping[str, slice]
    """Command field -> its place in `fci.RobotCommand.motion`."""

    @property
    def torque(self) -> bool:
        """Whether the client commands torques."""
        return self.controller == "external"


_FINISHED = FieldInfo(description="1 ends the motion: the arm decelerates and holds", low=0.0, high=1.0)
_TORQUE = FieldInfo((7,), "N m", "torques, gravity and friction excluded")
_FIELDS = {name: FieldInfo((f.count,), f.unit, f.description) for name, f in fci.MOTION.items()}
_GENERATORS: dict[str, tuple[fci.MotionGenerator, tuple[str, ...]]] = {
    "joint_position": (fci.MotionGenerator.JOINT_POSITION, ("q_c",)),
    "joint_velocity": (fci.MotionGenerator.JOINT_VELOCITY, ("dq_c",)),
    "cartesian_pose": (fci.MotionGenerator.CARTESIAN_POSITION, ("O_T_EE_c", "elbow_c")),
    "cartesian_velocity": (fci.MotionGenerator.CARTESIAN_VELOCITY, ("O_dP_EE_c", "elbow_c")),
}


def _modes() -> dict[str, Mode]:
    modes = {"torque": Mode("external", fci.MotionGenerator.NONE, {})}
    for name, (generator, fields) in _GENERATORS.items():
        chosen = {key: fci.MOTION[key].place for key in fields}
        modes[name] = Mode("internal", generator, chosen)
        modes[f"torque_with_{name}"] = Mode("external", generator, chosen)
    return modes


MODES = _modes()
"""Command mode -> what it commands. ``torque_with_...``: the torques act, the motion generator's output is recorded."""
_MODE_OF = {(mode.torque, int(mode.generator)): name for name, mode in MODES.items()}
_COMMANDS = {
    name: {
        **({"tau_J_d": _TORQUE} if mode.torque else {}),
        **{key: _FIELDS[key] for key in mode.fields},
        "finished": _FINISHED,
    }
    for name, mode in MODES.items()
}
_NUMBERS = {
    "message_id": FieldInfo((), "", "robot time [ms]"),
    "motion_generator_mode": FieldInfo((), "", "running motion generator, `fci.MotionGeneratorMode`"),
    "controller_mode": FieldInfo((), "", "running controller, `fci.ControllerMode`"),
    "robot_mode": FieldInfo((), "", "0 other, 1 idle, 2 move, 3 guiding, 4 reflex, 5 user stopped, 6 error recovery"),
    "success_rate": FieldInfo((), "", "fraction of the last 100 commands that came in time, 0 without a motion"),
}
_ERRORS = {
    "errors": FieldInfo((len(fci.ERRORS),), "", "current errors, 1 where set, in the order of `fci.ERRORS`"),
    "reflex_reason": FieldInfo((len(fci.ERRORS),), "", "errors that ended the last motion"),
}
_HAND = {
    "gripper_width": FieldInfo((), "m", "opening of the hand, 0 without a hand"),
    "gripper_max_width": FieldInfo((), "m", "largest opening, found by homing, 0 without a hand"),
    "gripper_is_grasped": FieldInfo((), "", "1 while the hand holds an object"),
    "vacuum": FieldInfo((), "Pa", "pressure below that of the surroundings, 0 without a vacuum gripper"),
    "vacuum_part_present": FieldInfo((), "", "1 while the vacuum gripper holds an object"),
}
SAMPLES: dict[str, FieldInfo] = {
    **{name: FieldInfo((f.count,) if f.count > 1 else (), f.unit, f.description) for name, f in fci.REALS.items()},
    **_NUMBERS,
    **_ERRORS,
    **_HAND,
}
"""Fields of a sample: the robot state as the interface names it, and the hand."""
_PLACES: dict[str, slice | int] = {name: f.place if f.count > 1 else f.offset for name, f in fci.REALS.items()}


class StateValues(Mapping[str, "float | np.ndarray"]):
    """The values of a sample, read from one snapshot of the robot state as they are asked for."""

    __slots__ = ("grasped", "max_width", "part_present", "state", "vacuum", "width")

    def __init__(
        self,
        state: fci.RobotState,
        width: float = 0.0,
        max_width: float = 0.0,
        grasped: bool = False,
        vacuum: float = 0.0,
        part_present: bool = False,
    ) -> None:
        self.state = state
        """The robot state; its arrays are read-only."""
        self.width = width
        """Opening of the hand [m]."""
        self.max_width = max_width
        """Largest opening [m]."""
        self.grasped = grasped
        """Whether an object is held."""
        self.vacuum = vacuum
        """Pressure of the vacuum gripper below that of the surroundings [Pa]."""
        self.part_present = part_present
        """Whether the vacuum gripper holds an object."""

    def __getitem__(self, name: str) -> float | np.ndarray:
        place = _PLACES.get(name)
        if place is not None:
            return self.state.reals[place]
        if name in _NUMBERS:
            return float(getattr(self.state, name))
        if name in _ERRORS:
            bits = getattr(self.state, name).astype(np.float64)
            bits.flags.writeable = False
            return bits
        if name == "gripper_width":
            return self.width
        if name == "gripper_max_width":
            return self.max_width
        if name == "gripper_is_grasped":
            return float(self.grasped)
        if name == "vacuum":
            return self.vacuum
        if name == "vacuum_part_present":
            return float(self.part_present)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(SAMPLES)

    def __len__(self) -> int:
        return len(SAMPLES)


class CommandValues(Mapping[str, "float | np.ndarray"]):
    """The values of a command, read from a command of the robot's interface as they are asked for.

    Args:
        mode: the command mode, a key of `MODES`.
        command: the command; its arrays are read-only.
    """

    __slots__ = ("command", "mode")

    def __init__(self, mode: str, command: fci.RobotCommand) -> None:
        self.mode = mode
        self.command = command

    def __getitem__(self, name: str) -> float | np.ndarray:
        command, mode = self.command, MODES[self.mode]
        if name == "tau_J_d" and mode.torque:
            return command.tau_J_d
        if name == "finished":
            return float(command.motion_generation_finished or (command.torque_command_finished and mode.torque))
        if name == "elbow_c" and not command.valid_elbow:
            raise KeyError(name)
        return command.motion[mode.fields[name]]

    def __iter__(self) -> Iterator[str]:
        return (name for name in _COMMANDS[self.mode] if name != "elbow_c" or self.command.valid_elbow)

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclass(frozen=True, slots=True, kw_only=True)
class FrankaArmDescription:
    """Description of a Franka arm in `Robot.devices`."""

    name: str
    """Name of the device, and prefix of the arm's bodies, joints and actuators in the model."""
    arm: Arm
    """Parameters of the arm."""
    q: tuple[float, ...]
    """Joint positions at start [rad]."""
    hand: Hand | None = None
    """Parameters of the hand; None without a hand."""
    opening: float = OPENING
    """Opening of the hand at start [m]."""
    cup: Cup | None = None
    """Parameters of the vacuum gripper; None without one."""
    end_effector: Payload | None = None
    """Inertia of the end effector as configured on the robot; None for a bare flange."""
    F_T_NE: tuple[tuple[float, ...], ...] | None = None
    """Pose of the nominal end effector in the flange, 4 rows of 4; None for the flange itself."""
    friction: bool = True
    """Whether the identified friction acts on the joints."""
    static_friction: bool = False
    """Whether static friction, which no controller compensates, acts on the joints too."""
    settings: Settings = field(default_factory=Settings)
    """Gains, thresholds and checks of the cabinet."""
    imperfections: Imperfections = NO_IMPERFECTIONS
    """Of the sensors and motors."""
    urdf: str = ""
    """URDF of the arm, which the robot gives to its clients."""

    def prefixed(self, prefix: str) -> FrankaArmDescription:
        """Return the description of the same arm under a prefix."""
        return dataclasses.replace(self, name=prefix + self.name)


_ROBOT_REQUESTS = (
    fci.Move,
    fci.StopMove,
    fci.GetCartesianLimit,
    fci.SetCollisionBehavior,
    fci.SetJointImpedance,
    fci.SetCartesianImpedance,
    fci.SetGuidingMode,
    fci.SetEEToK,
    fci.SetNEToEE,
    fci.SetLoad,
    fci.SetFilters,
    fci.AutomaticErrorRecovery,
)
_PRESSED = (fci.StopMove, fci.AutomaticErrorRecovery, fci.GripperHoming, fci.GripperStop, fci.VacuumStop)
"""Requests without values, which a person may give too."""
_HAND_REQUESTS = (fci.GripperHoming, fci.GripperMove, fci.GripperGrasp, fci.GripperStop)
_VACUUM_REQUESTS = (fci.Vacuum, fci.VacuumDropOff, fci.VacuumStop)


def _request_name(kind: type) -> str:
    """Return the name of a request: ``SetNEToEE`` -> ``set_ne_to_ee``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", kind.__name__).lower()


REQUESTS: dict[type, str] = {
    kind: _request_name(kind) for kind in (*_ROBOT_REQUESTS, *_HAND_REQUESTS, *_VACUUM_REQUESTS)
}
"""Type of a request of the robot's interface -> name of the device's request with the same fields."""

Answered = Callable[["fci.Response | GripperAnswer"], None]


class FrankaArm(DeviceBase):
    """One arm with its cabinet and hand.

    Without a motion the arm holds its pose. A motion is started by the request ``move``; from then on the arm takes a
    command of its mode each millisecond, as the robot does: missing commands are extrapolated and counted, and 20 in a
    row end the motion with a reflex.

    Each request of `REQUESTS` takes the fields of its type, and optionally ``answered``: a function that the loop
    thread calls with each answer (the request ``move`` has two: "started", and how the motion ended). Without it, a
    request that is refused raises `DeviceError`.

    The arm's interface has no latency: each command is computed from the present state, and the arm checks it against
    the one before. The option ``latency`` ages the samples alone, and not the state that programs of the interface
    see; a ``command_latency`` is that of a late network, which ends a motion with a reflex, as on the robot.

    Args:
        description: the arm's description.
    """

    signatures = ("franka_arm",)

    noise_of_its_own = "set imperfections of its description, of which the state follows"

    def __init__(self, description: FrankaArmDescription, **options: Unpack[DeviceOptions]) -> None:
        super().__init__(description.name, samples=SAMPLES, commands=_COMMANDS, period=DT, **options)
        self.inbox.accept(())
        self.description = description
        self.urdf = description.urdf
        """URDF text that the robot gives to its clients."""
        self.client = ""
        """Who moves the arm, such as "the client at 127.0.0.1"; "" while nobody is connected."""
        parts = [f"joint{i}" for i in range(1, 8)]
        parts += ["finger1", "finger2"] if description.hand is not None else []
        parts += ["cup"] if description.cup is not None else []
        self.written_ports = tuple(f"{description.name}_{part}/control" for part in parts)
        self._q0 = np.array(description.q, dtype=float)
        self._joint_noise = JointNoise(description.imperfections) if description.imperfections.any else None
        self._command: fci.RobotCommand | None = None
        self._mode = ""
        self._running: Motion | None = None
        self._motion = np.zeros(fci.N_MOTION)
        self._ticket = 0
        self._waiting: dict[int, Answered] = {}
        self._waiting_tool: dict[int, Answered] = {}  # for the hand or the vacuum gripper, whose clients are others
        for kinds, ask, part in (
            (_ROBOT_REQUESTS, self._ask, description.arm),
            (_HAND_REQUESTS, self._ask_hand, description.hand),
            (_VACUUM_REQUESTS, self._ask_vacuum, description.cup),
        ):
            for kind in kinds if part is not None else ():
                self._add_request(kind, ask, pressed=kind in _PRESSED)

    def _add_request(self, kind: type, ask: Callable[..., str], *, pressed: bool) -> None:
        def method(answered: Answered | None = None, **fields: object) -> str:
            return ask(kind(**fields), answered)

        parameters = list(inspect.signature(kind).parameters.values())
        extra = inspect.Parameter("answered", inspect.Parameter.KEYWORD_ONLY, default=None)
        self._requests[REQUESTS[kind]] = (method, inspect.Signature([*parameters, extra]))
        if pressed:
            self._buttons[REQUESTS[kind]] = ""

    # ------------------------------------------------------------------------------------------------- cycle

    def _connect(self, engine: Engine) -> None:
        description = self.description
        self._state = mujoco_state(engine, self.name)
        self.plant = ArmPlant(
            self._state.model,
            self._state.data,
            description.name,
            arm=description.arm,
            friction=description.friction,
            static_friction=description.settings.torque_loop_bandwidth if description.static_friction else None,
            friction_torque=self._state.motor_friction,
        )
        """Sensors and motors."""
        settings = description.settings
        if settings.friction_compensation is None:
            settings = dataclasses.replace(settings, friction_compensation=description.friction)
        self.cabinet = Cabinet(
            description.arm,
            q=self._q0,
            settings=settings,
            end_effector=description.end_effector,
            F_T_NE=description.F_T_NE,
            gravity=self.plant.gravity,
            rotor_inertia=self.plant.rotor_inertia,
            hand=description.hand is not None,
            motors=self.plant.motors,
            sensors=self.plant.sensors,
        )
        """The controller."""
        self.gripper = None if description.hand is None else Gripper(description.hand, width=description.opening)
        """The hand's controller; None without a hand."""
        self.vacuum = None if description.cup is None else VacuumGripper(description.cup)
        """The vacuum gripper's controller; None without one."""
        self._parts = [part for part in (self.cabinet, self.gripper, self.vacuum) if part is not None]

    def _restart(self, rng: np.random.Generator) -> None:
        self._command = None
        for part in self._parts:
            for answer in part.cancel():
                self._deliver(answer)
        self._waiting.clear()
        self._waiting_tool.clear()
        if self._joint_noise is not None:
            self._joint_noise.restart(rng)
        self.plant.start(self._q0, self.description.opening)
        self._state.forward()
        self.cabinet.reset(self._q0)
        self._follow()
        if self.gripper is not None:
            self.gripper.reset(self.description.opening)
        if self.vacuum is not None:
            self.vacuum.reset()

    def _latch(self, command: Command) -> None:
        values = command.values
        if type(values) is CommandValues:
            self._command = values.command
            return
        mode, motion = MODES[command.mode], self._motion
        motion[:] = 0.0
        for name, place in mode.fields.items():
            if name in values:
                motion[place] = values[name]
        self._command = fci.RobotCommand(
            message_id=command.seq,
            motion=motion,
            tau_J_d=np.array(values.get("tau_J_d", _NO_TORQUE)),
            valid_elbow="elbow_c" in values,
            motion_generation_finished=bool(values.get("finished", 0.0)),
        )

    def _trip(self) -> None:
        self.cabinet.abort()

    def _firmware(self) -> None:
        command, self._command = self._command, None
        plant, noise = self.plant, self._joint_noise
        if noise is not None:
            self.cabinet.fields["motor_noise"][:] = noise.of_motors()
        self.cabinet.control(command)
        if self.gripper is not None:
            plant.write_hand(self.gripper.step(*plant.read_hand()))
        if self.vacuum is not None:
            plant.write_cup(self.vacuum.step(plant.lip_is_closed()))

    def read(self, stamp_ns: int) -> Sample:
        """Let the cabinet observe; return its state."""
        cabinet = self.cabinet
        motion = cabinet.motion
        if motion is not None and not motion.first and self._joint_noise is None and cabinet.locked_at is None:
            state = cabinet.observe()
        else:
            state = self._observe_at_rest()
        self._follow()
        hand, cup = self.gripper, self.vacuum
        if hand is not None:
            values = StateValues(state, hand.width, hand.max_width, hand.is_grasped)
        elif cup is not None:
            values = StateValues(state, vacuum=PASCAL * cup.vacuum, part_present=cup.part_present)
        else:
            values = StateValues(state)
        return self._arriving(stamp_ns, values)

    def _observe_at_rest(self) -> fci.RobotState:
        """Let the cabinet observe an arm that may rest, or whose sensors are not exact."""
        cabinet, motion = self.cabinet, self.cabinet.motion
        measured = self.plant.read()
        if self._joint_noise is not None:
            measured = self._joint_noise.measure(*measured)
        if cabinet.locked_at is not None:
            self.plant.settle(cabinet.locked_at)
        elif motion is None or motion.first:
            rest = cabinet.settle(measured[0], measured[1])
            if rest is not None:
                self.plant.settle(rest)
        return cabinet.observe(measured)

    def _follow(self) -> None:
        """Accept commands of the running motion only, and hand out the answers that are due."""
        cabinet = self.cabinet
        if cabinet.motion is not self._running:
            self._running = motion = cabinet.motion
            mode = "" if motion is None else _MODE_OF[motion.controller == fci.Controller.EXTERNAL, motion.generator]
            self._mode = mode
            self.inbox.clear()
            self.inbox.accept((mode,) if mode else ())
        for part in self._parts:
            if part.answers:
                for answer in part.take_answers():
                    self._deliver(answer)

    # ---------------------------------------------------------------------------------------------- requests

    def ask(
        self, asked: fci.Request | fci.GripperRequest | fci.VacuumRequest, answered: Answered | None = None
    ) -> None:
        """Handle a request of the robot's interface at once; for the loop's thread.

        Args:
            asked: a request of a type in `REQUESTS`.
            answered: called with each answer, as the class says.

        Raises:
            DeviceError: without `answered`, the request is refused.
        """
        fields = {f.name: getattr(asked, f.name) for f in dataclasses.fields(asked)}
        future = self.request(REQUESTS[type(asked)], answered=answered, **fields)
        self.serve()
        future.result()

    def _ask(self, asked: fci.Request, answered: Answered | None) -> str:
        return self._handle(self.cabinet.request, asked, answered, self._waiting)

    def _ask_hand(self, asked: fci.GripperRequest, answered: Answered | None) -> str:
        assert self.gripper is not None  # an arm without a hand has no such request
        return self._handle(self.gripper.request, asked, answered, self._waiting_tool)

    def _ask_vacuum(self, asked: fci.VacuumRequest, answered: Answered | None) -> str:
        assert self.vacuum is not None  # an arm without one has no such request
        return self._handle(self.vacuum.request, asked, answered, self._waiting_tool)

    def _handle(
        self,
        handle: Callable[[Any, int], None],
        asked: object,
        answered: Answered | None,
        waiting: dict[int, Answered],
    ) -> str:
        """Handle a request; return the status of its answer, "" if it is answered later."""
        self._ticket += 1
        statuses: list[str] = []

        def note(answer: fci.Response | GripperAnswer) -> None:
            statuses.append(answer.status)
            if answered is not None:
                answered(answer)

        waiting[self._ticket] = note
        handle(asked, self._ticket)
        self._follow()
        status = statuses[0] if statuses else ""
        if answered is None and status not in ("", "started", "success"):
            mode = fci.RobotMode(self.cabinet.state.robot_mode).name.lower()
            raise DeviceError(
                f"{self.name}: {type(asked).__name__} was refused: {status} (the robot's mode is {mode})",
                field=REQUESTS[type(asked)],
            )
        return status

    def _deliver(self, answer: fci.Response | GripperAnswer) -> None:
        waiting = self._waiting if answer.command_id in self._waiting else self._waiting_tool
        receive = waiting.get(answer.command_id)
        if answer.status != "started":
            waiting.pop(answer.command_id, None)
        if receive is not None:
            receive(answer)

    def stopped(self) -> str:
        """Return the errors of the reflex that holds the arm, or "" if none does."""
        state = self.cabinet.state
        if state.robot_mode != fci.RobotMode.REFLEX:
            return super().stopped()
        return f"stopped by a reflex: {', '.join(fci.ERRORS[k] for k in np.flatnonzero(state.reflex_reason))}"

    @button
    def user_stop(self, pressed: bool = True) -> None:
        """Press or release the user stop."""
        self.cabinet.user_stop(pressed)
        self._follow()

    @button
    def guide(self, pressed: bool = True) -> None:
        """Press or release the guiding button at the wrist: while it is pressed, the arm yields to a hand."""
        self.cabinet.guide(pressed)
        self._follow()

    @button
    def brakes(self, locked: bool = True) -> None:
        """Lock or open the brakes of all joints, as Desk does: locked, the arm stands still whatever pulls at it."""
        self.cabinet.lock_brakes(locked)
        self._follow()

    @request
    def disconnect(self) -> None:
        """Stop the arm because its client has gone: decelerate, hold, and answer nobody."""
        self.cabinet.disconnected()
        self._waiting.clear()
        self._follow()

    # --------------------------------------------------------------------------------- what the robot says of itself

    @property
    def mode(self) -> str:
        """The command mode of the running motion, a key of `MODES`; "" without a motion."""
        return self._mode

    def model_library(self, architecture: int, system: int) -> bytes:
        """Return the model library that old clients load, compiled on demand.

        Raises:
            PliantError: another architecture than this machine's, or no C compiler.
        """
        from pliant.franka.device.model_library import build_library

        return build_library(architecture, system, arm=self.description.arm)


_NO_TORQUE = np.zeros(7)


@device_for(FrankaArmDescription)
def _make(description: FrankaArmDescription, robot: Robot, **options: Unpack[DeviceOptions]) -> FrankaArm:
    return FrankaArm(description, **options)

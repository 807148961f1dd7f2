"""The vendor's setters as services, and its recovery as an action, with the answers of the vendor's client library."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from pliant.base.errors import PliantError
from pliant.franka.device.arm import FrankaArm
from pliant.franka.wire.fci import RobotMode
from pliant.ros.bridge.actions import Goal, GoalState, Outcome
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.wire.message import Message, MessageView, ServiceCallback
from pliant.simulation.answers import answered


@dataclass(frozen=True, slots=True)
class Setter:
    """One setter of the vendor as a service."""

    service: str
    """Name of the service."""
    type: str
    """Its type in franka_msgs."""
    request: str
    """Name of the device's request."""
    fields: Mapping[str, str]
    """Field of the device's request -> field of the service's."""

    @property
    def command(self) -> str:
        """Name in the messages of the client library."""
        return _COMMANDS[self.request]


_COMMANDS = {
    "set_joint_impedance": "Set Joint Impedance",
    "set_cartesian_impedance": "Set Cartesian Impedance",
    "set_ne_to_ee": "Set NE to EE",
    "set_ee_to_k": "Set EE to K",
    "set_load": "Set Load",
    "set_collision_behavior": "Set Collision Behavior",
}
_THRESHOLDS = [
    (f"{side}_{what}", phase)
    for what in ("torque", "force")
    for side in ("lower", "upper")
    for phase in ("acceleration", "nominal")
]
_NOMINAL = {f"{part}_{phase}": f"{part}_thresholds_nominal" for part, phase in _THRESHOLDS}
_FULL = {f"{part}_{phase}": f"{part}_thresholds_{phase}" for part, phase in _THRESHOLDS}
_JOINT, _CARTESIAN = {"K_theta": "joint_stiffness"}, {"K_x": "cartesian_stiffness"}
_COLLISION = (
    Setter(
        "set_force_torque_collision_behavior", "SetForceTorqueCollisionBehavior", "set_collision_behavior", _NOMINAL
    ),
    Setter("set_full_collision_behavior", "SetFullCollisionBehavior", "set_collision_behavior", _FULL),
)


def _load(center: str) -> Setter:
    return Setter("set_load", "SetLoad", "set_load", {"mass": "mass", "F_x_Cload": center, "I_load": "load_inertia"})


SETTERS: dict[int, tuple[Setter, ...]] = {
    1: (
        Setter("set_joint_impedance", "SetJointImpedance", "set_joint_impedance", _JOINT),
        Setter("set_cartesian_impedance", "SetCartesianImpedance", "set_cartesian_impedance", _CARTESIAN),
        Setter("set_EE_frame", "SetEEFrame", "set_ne_to_ee", {"NE_T_EE": "NE_T_EE"}),
        Setter("set_K_frame", "SetKFrame", "set_ee_to_k", {"EE_T_K": "EE_T_K"}),
        _load("F_x_center_load"),
        *_COLLISION,
    ),
    2: (
        Setter("set_joint_stiffness", "SetJointStiffness", "set_joint_impedance", _JOINT),
        Setter("set_cartesian_stiffness", "SetCartesianStiffness", "set_cartesian_impedance", _CARTESIAN),
        Setter("set_tcp_frame", "SetTCPFrame", "set_ne_to_ee", {"NE_T_EE": "transformation"}),
        Setter("set_stiffness_frame", "SetStiffnessFrame", "set_ee_to_k", {"EE_T_K": "transformation"}),
        _load("center_of_mass"),
        *_COLLISION,
    ),
}
"""Generation of ROS -> the setters of franka_control, and of franka_hardware's service_server."""
SETTER_NODES = {1: "franka_control", 2: "service_server"}
RECOVERY_NODES = {1: "franka_control", 2: "action_server"}


def refusal(device: FrankaArm, command: str, status: str) -> str:
    """Return what the vendor's client library says of a command that the robot refused."""
    if status == "not_possible":
        mode = RobotMode(device.cabinet.state.robot_mode).name.replace("_", " ").capitalize()
        return f'libfranka: {command} command rejected: command not possible in the current mode ("{mode}")!'
    if status == "invalid_argument":
        return f"libfranka: {command} command rejected: invalid argument!"
    return f"libfranka: {command} command rejected: {status.replace('_', ' ')}!"


def serve_setters(topics: RosTopics, device: FrankaArm, space: str) -> None:
    """Serve every setter of the node's generation."""
    version = topics.node.codec.version
    for setter in SETTERS[version]:
        name = f"{space}/{SETTER_NODES[version]}/{setter.service}"
        topics.serve(name, f"franka_msgs/{setter.type}", _answer(device, setter))


def _answer(device: FrankaArm, setter: Setter) -> ServiceCallback:
    def answer(message: Message) -> Message:
        statuses: list[str] = []
        fields = {key: _plain(message[source]) for key, source in setter.fields.items()}
        try:
            answered(device.request(setter.request, answered=lambda a: statuses.append(a.status), **fields))
        except PliantError as error:
            return {"success": False, "error": str(error)}
        status = statuses[0] if statuses else "aborted"
        ok = status == "success"
        return {"success": ok, "error": "" if ok else refusal(device, setter.command, status)}

    return answer


def _plain(value: Any) -> float | tuple[float, ...]:
    return float(value) if isinstance(value, int | float) else tuple(float(v) for v in value)


def serve_recovery(topics: RosTopics, device: FrankaArm, space: str) -> None:
    """Serve the action ``error_recovery``."""
    node = RECOVERY_NODES[topics.node.codec.version]
    topics.serve_action(f"{space}/{node}/error_recovery", "franka_msgs/ErrorRecovery", Recovery(device))


class Asked:
    """A request of the arm that was made for a goal: its status, once there is one.

    Args:
        device: the arm.
        request: name of the request.
        fields: its fields.
    """

    def __init__(self, device: FrankaArm, request: str, fields: Mapping[str, object]) -> None:
        self._statuses: list[str] = []
        note: Callable[[Any], None] = lambda answer: self._statuses.append(answer.status)  # noqa: E731
        self._future: Future[Any] = device.request(request, answered=note, **fields)

    @property
    def status(self) -> str:
        """How it ended; "" while it goes on."""
        if self._statuses:
            return self._statuses[0]
        if self._future.done() and (self._future.cancelled() or self._future.exception() is not None):
            return "aborted"
        return ""


class Recovery:
    """Handler of the goals of ``error_recovery``."""

    def __init__(self, device: FrankaArm) -> None:
        self._device = device

    def check(self, request: MessageView) -> None:
        """Take every goal, as the vendor's servers do."""

    def begin(self, goal: Goal, stamp_ns: int) -> None:
        """Ask the arm to recover; without an error there is nothing to ask."""
        wrong = self._device.cabinet.state.robot_mode == RobotMode.REFLEX
        goal.plan = Asked(self._device, "automatic_error_recovery", {}) if wrong else None

    def advance(self, goal: Goal, stamp_ns: int) -> Outcome | None:
        """Return how the recovery ended."""
        status = "success" if goal.plan is None else goal.plan.status
        if not status:
            return None
        if status == "success":
            return Outcome(state=GoalState.SUCCEEDED, result={})
        text = refusal(self._device, "Automatic Error Recovery", status)
        return Outcome(state=GoalState.ABORTED, result={}, text=text)

    def feedback(self, goal: Goal, stamp_ns: int) -> None:
        """Return None: the action has no feedback."""

    def stopped(self, goal: Goal, text: str) -> MessageView:
        """Return an empty result; a recovery cannot be stopped."""
        return {}

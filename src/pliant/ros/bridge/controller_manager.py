"""The services of a controller manager of ros2_control that tools ask: what there is, and which controller is active.

They stand at ``/controller_manager``, or below the name space that an option gives. A robot whose components talk over
topics of their own has a controller manager elsewhere, and none here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pliant.base.errors import DeviceError, PliantError, nearest
from pliant.devices.signatures import JOINT
from pliant.model.interface import ControlSystem
from pliant.ros.bridge.control_topics import TORQUE_MODES, topic_systems
from pliant.ros.bridge.forward import ForwardController, serve_forward_controllers
from pliant.ros.bridge.groups import DirectLimb
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.bridge.trajectory_controller import TrajectoryController
from pliant.ros.wire.message import Message
from pliant.simulation.answers import answered

__all__ = ["serve_controller_manager"]

NAME = "controller_manager"
BROADCASTER = "joint_state_broadcaster"
TYPES = {
    BROADCASTER: "joint_state_broadcaster/JointStateBroadcaster",
    "trajectory": "joint_trajectory_controller/JointTrajectoryController",
    "forward": ForwardController.kind,
}
BASES = ("controller_interface::ControllerInterface",) * len(TYPES)
STATES = ("position", "velocity", "effort")
BEST_EFFORT = 1
"""controller_manager_msgs/SwitchController: names that are unknown are left out."""
ACTIVE = {"id": 3, "label": "active"}
"""lifecycle_msgs/State of the hardware."""
MAX_NAMES = 200
"""Most controllers that one request may name."""


class _Trajectories:
    """A trajectory controller as the manager sees it.

    Args:
        controller: the controller.
        name: its full name.
        topics: the topics of the bridge.
    """

    kind = TYPES["trajectory"]
    interface = "position"

    def __init__(self, controller: TrajectoryController, name: str, topics: RosTopics) -> None:
        self._controller, self.name = controller, name
        owned = set(controller.limb.owned)
        self._devices = [d for d in topics.devices.values() if JOINT.live(d) and d.joint in owned]
        self._modes = [device.mode for device in self._devices]
        self.joints = controller.joints

    @property
    def active(self) -> bool:
        """Whether its trajectories are taken: no other program and no mode of the joints is in the way."""
        try:
            self._controller.limb.check(None)
        except DeviceError:
            return False
        return self._controller.enabled

    @property
    def claimed(self) -> list[str]:
        """The command interfaces that it needs."""
        return [f"{joint}/position" for joint in self.joints]

    def activate(self) -> None:
        """Take trajectories; joints that take torques go back to the mode of the start.

        Raises:
            PliantError: a joint does not change its mode.
        """
        for device, mode in zip(self._devices, self._modes, strict=True):
            if device.mode in TORQUE_MODES:
                answered(device.request("set_mode", mode=int(mode)))
        if not self.active and isinstance(self._controller.limb, DirectLimb):
            answered(self._controller.limb.enter())
        self._controller.enabled = True

    def deactivate(self) -> None:
        """Take no more trajectories."""
        self._controller.disable()


Controller = _Trajectories | ForwardController


class ControllerManager:
    """The controllers of a robot.

    Args:
        topics: the topics of the bridge; its trajectory controllers are served.
        base: full name of the manager.
        forward: the controllers that hand values on.
    """

    def __init__(self, topics: RosTopics, base: str, forward: Sequence[ForwardController]) -> None:
        space = base.rpartition("/")[0] + "/"
        trajectories = [_Trajectories(c, c.topic.rpartition("/")[0], topics) for c in topics.controllers]
        self._controllers: dict[str, Controller] = {
            (c.name.removeprefix(space) if c.name.startswith(space) else c.name.strip("/")): c
            for c in (*trajectories, *forward)
        }
        self._topics = topics
        self._systems: list[ControlSystem] = [*topics.interface.systems] or [self._whole()]
        for name, kind, answer in (
            ("list_controllers", "ListControllers", self._list_controllers),
            ("list_controller_types", "ListControllerTypes", self._list_types),
            ("list_hardware_components", "ListHardwareComponents", self._list_components),
            ("list_hardware_interfaces", "ListHardwareInterfaces", self._list_interfaces),
            ("switch_controller", "SwitchController", self._switch),
        ):
            topics.serve(f"{base}/{name}", f"controller_manager_msgs/{kind}", answer)

    def _whole(self) -> ControlSystem:
        """Return the component of a robot without ros2_control's tags: the joints that its controllers move."""
        moved: dict[str, tuple[str, ...]] = {}
        for controller in self._controllers.values():
            for joint in controller.joints:
                known = moved.get(joint, ())
                moved[joint] = known if controller.interface in known else (*known, controller.interface)
        stated = {self._topics.names.joint(joint): STATES for joint in sorted(self._topics.stated)}
        robot = self._topics.robot
        name = getattr(robot, "name", "") or self._topics.namespace
        return ControlSystem(name=name, plugin="pliant/CompliantSystem", commands=moved, states=stated)

    # ------------------------------------------------------------------ lists
    def _list_controllers(self, request: Message) -> Message:
        stated = sorted(map(self._topics.names.joint, self._topics.stated))
        rows: list[Message] = [
            {
                "name": BROADCASTER,
                "state": "active",
                "type": TYPES[BROADCASTER],
                "required_state_interfaces": [f"{joint}/{state}" for joint in stated for state in STATES],
            }
        ]
        for name, controller in self._controllers.items():
            active = controller.active
            rows.append(
                {
                    "name": name,
                    "state": "active" if active else "inactive",
                    "type": controller.kind,
                    "update_rate": self._rate(),
                    "claimed_interfaces": controller.claimed if active else [],
                    "required_command_interfaces": controller.claimed,
                    "required_state_interfaces": [f"{j}/{s}" for j in controller.joints for s in STATES[:2]],
                }
            )
        return {"controller": rows}

    def _rate(self) -> int:
        simulation = self._topics.simulation
        return 0 if simulation is None else min(0xFFFF, round(1.0 / simulation.engine.dt))

    def _list_types(self, request: Message) -> Message:
        return {"types": list(TYPES.values()), "base_classes": list(BASES)}

    def _interfaces(self, system: ControlSystem) -> tuple[list[Message], list[Message]]:
        """Return the command and the state interfaces of a component."""
        names = self._topics.names
        whole = system not in self._topics.interface.systems  # its joints have the names of the graph already
        claimed = {i for c in self._controllers.values() if c.active for i in c.claimed}
        available = {i for c in self._controllers.values() for i in c.claimed}

        def full(table: Mapping[str, tuple[str, ...]]) -> list[str]:
            return [f"{joint if whole else names.joint(joint)}/{i}" for joint, found in table.items() for i in found]

        commands = [_row(name, name in available, name in claimed) for name in full(system.commands)]
        return commands, [_row(name, True, False) for name in full(system.states)]

    def _list_components(self, request: Message) -> Message:
        rows = []
        for system in self._systems:
            commands, states = self._interfaces(system)
            rows.append(
                {
                    "name": system.name,
                    "type": "system",
                    "rw_rate": self._rate(),
                    "plugin_name": system.plugin,
                    "state": ACTIVE,
                    "command_interfaces": commands,
                    "state_interfaces": states,
                }
            )
        return {"component": rows}

    def _list_interfaces(self, request: Message) -> Message:
        both = [self._interfaces(system) for system in self._systems]
        return {
            "command_interfaces": [row for commands, _ in both for row in commands],
            "state_interfaces": [row for _, states in both for row in states],
        }

    # ------------------------------------------------------------------ switching
    def _switch(self, request: Message) -> Message:
        try:
            return {"ok": True, "message": self._switched(request)}
        except PliantError as error:
            return {"ok": False, "message": str(error)}

    def _switched(self, request: Message) -> str:
        strict = int(request["strictness"]) != BEST_EFFORT
        on = self._asked(request["activate_controllers"], strict)
        off = self._asked(request["deactivate_controllers"], strict)
        twice = on.keys() & off.keys()
        if twice:
            raise PliantError(f"{sorted(twice)} shall be activated and deactivated; must be one of them")
        for controller in off.values():
            controller.deactivate()
        for controller in on.values():
            for other in self._controllers.values():  # an interface takes the joints from another one
                if other.interface != controller.interface and set(other.joints) & set(controller.joints):
                    other.deactivate()
            controller.activate()
        return ""

    def _asked(self, names: Sequence[str], strict: bool) -> dict[str, Controller]:
        if len(names) > MAX_NAMES:
            raise PliantError(f"{len(names)} controllers in one request; must be at most {MAX_NAMES}")
        unknown = [name for name in names if name not in self._controllers and name != BROADCASTER]
        if unknown and strict:
            raise PliantError(f"there is no controller {unknown[0]!r}; {nearest(unknown[0], self._controllers)}")
        return {name: self._controllers[name] for name in names if name in self._controllers}


def _row(name: str, available: bool, claimed: bool) -> Message:
    return {"name": name, "data_type": "double", "is_available": available, "is_claimed": claimed}


def serve_controller_manager(topics: RosTopics) -> ControllerManager | None:
    """Serve the controllers that hand values on, and the manager where the wire has services of ROS 2."""
    forward = serve_forward_controllers(topics)
    node = topics.node
    if not node.has_services or node.codec.version != 2 or topic_systems(topics):
        return None
    if not (topics.controllers or forward):
        return None
    return ControllerManager(topics, topics.name(NAME) if topics.options.namespace else f"/{NAME}", forward)

"""The services of a controller manager of ros2_control that tools ask: what there is, and which controller is active.

They stand at ``/controller_manager``, or below the name space that an option gives. A robot whose components talk over
topics of their own has a controller manager elsewhere, and none here.
"""

from __future__ import annotations

import threading
from collections.abc import Container, Iterable, Mapping, Sequence

from pliant.base.errors import DeviceError, PliantError, nearest
from pliant.devices.signatures import JOINT
from pliant.ros.bridge.control_topics import TORQUE_MODES, topic_systems
from pliant.ros.bridge.forward import ForwardController, serve_forward_controllers
from pliant.ros.bridge.groups import DirectLimb
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.bridge.trajectory_controller import TrajectoryController
from pliant.ros.wire.message import Message
from pliant.ros2_control.interface import ControlSystem, control_of
from pliant.simulation.answers import answered

NAME = "controller_manager"
BROADCASTER = "joint_state_broadcaster"
TYPES = {
    BROADCASTER: "joint_state_broadcaster/JointStateBroadcaster",
    "trajectory": "joint_trajectory_controller/JointTrajectoryController",
    "forward": ForwardController.kind,
}
BASES = ("controller_interface::ControllerInterface",) * len(TYPES)
STATES = ("position", "velocity", "effort")
BEST_EFFORT = (0, 1)
"""controller_manager_msgs/SwitchController: what cannot be done is left out; a request that names no strictness is of
this kind, as with controller_manager. With every other number nothing is done if a part cannot be."""
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
        self.owned = controller.limb.owned
        self._devices = [d for d in topics.devices.values() if JOINT.live(d) and d.joint in self.owned]
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
            PliantError: a joint does not change its mode, or another program has the joints.
        """
        for device, mode in zip(self._devices, self._modes, strict=True):
            if device.mode in TORQUE_MODES:
                answered(device.request("set_mode", mode=int(mode)))
        if not self.active and isinstance(self._controller.limb, DirectLimb):
            answered(self._controller.limb.enter())
        self._controller.limb.check(None)
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
        self._switching = threading.Lock()
        self._systems: list[ControlSystem] = [*control_of(topics.interface).systems] or [self._whole()]
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
        # The joints of the whole robot have the names of the graph already.
        whole = system not in control_of(self._topics.interface).systems
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
            with self._switching:  # another request must not activate a controller between check and change
                return {"ok": True, "message": self._switched(request)}
        except PliantError as error:
            return {"ok": False, "message": str(error)}

    def _switched(self, request: Message) -> str:
        names = [list(request[key]) for key in ("activate_controllers", "deactivate_controllers")]
        if sum(map(len, names)) > MAX_NAMES:
            raise PliantError(f"{sum(map(len, names))} controllers in one request; must be at most {MAX_NAMES}")
        on, left_out = self._plan(*map(dict.fromkeys, names))
        if left_out and int(request["strictness"]) not in BEST_EFFORT:
            raise PliantError("; ".join(left_out))
        for name in names[1]:
            if name in self._controllers:  # also one that is inactive only as long as another program has its joints
                self._controllers[name].deactivate()
        for controller in on:
            for other in self._controllers.values():
                # An interface takes the joints from another one; what is inactive now must not become active later.
                apart = other.interface != controller.interface or not other.active
                if other is not controller and apart and set(other.owned) & set(controller.owned):
                    other.deactivate()
            controller.activate()
        return f"left out: {'; '.join(left_out)}" if left_out else ""

    def _plan(self, on: Iterable[str], off: Iterable[str]) -> tuple[list[Controller], list[str]]:
        """Return which controllers can be activated, and a sentence for each name with which that is not done.

        The rules are those of controller_manager: who is active is not activated again unless the same request
        deactivates it, who is inactive is not deactivated, and a command interface has one controller.
        """
        left_out: list[str] = []
        active = [name for name, controller in self._controllers.items() if controller.active]
        going = [name for name in off if self._is(name, active, left_out, "not active")]
        staying = [name for name in (*active, BROADCASTER) if name not in going]
        coming: list[Controller] = []
        claims = {claim: name for name in active if name not in going for claim in self._controllers[name].claimed}
        for name in on:
            if name in staying:
                left_out.append(f"{name} is active already")
            elif self._is(name, self._controllers, left_out, ""):
                claimed = self._controllers[name].claimed
                taken = next((claim for claim in claimed if claim in claims), None)
                if taken is not None:
                    left_out.append(f"{name} needs {taken}, which {claims[taken]} has; deactivate that one too")
                    continue
                coming.append(self._controllers[name])
                claims |= dict.fromkeys(claimed, name)
        return coming, left_out

    def _is(self, name: str, among: Container[str], left_out: list[str], otherwise: str) -> bool:
        """Return whether a name is among some; else say why not."""
        if name in among:
            return True
        if name == BROADCASTER:
            left_out.append(f"{name} is always active")
        elif name in self._controllers:
            left_out.append(f"{name} is {otherwise}")
        else:
            left_out.append(f"there is no controller {name!r}; {nearest(name, self._controllers)}")
        return False


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

"""What a robot shows to the outside: name spaces, published states, the plugin manager's lists, devices."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import mujoco

from pliant.model.problem import Problem
from pliant.model.yarp import YarpInterface

__all__ = [
    "DEFAULT_NAMESPACE",
    "DescribedDevice",
    "DeviceSpec",
    "Interface",
    "JointInterface",
    "ModelPart",
    "PluginManager",
    "PositionControlled",
]

DEFAULT_NAMESPACE = "toBEassigned"
"""Name space of the toolbox's topics when the parameter server names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JointInterface:
    """What one joint publishes and listens to, in the terms of the toolbox's plugin tags."""

    joint: str
    """Name of the joint."""
    plugin: str = ""
    """Name attribute of the plugin tag that described it; empty for none."""
    publish_elastic_torque: bool = True
    """Whether torque_el1_state and torque_el2_state are published (tag pub_eltau)."""
    publish_state: bool = True
    """Whether link_state is published (tag pub_state)."""
    subscribe_external_torque: bool = True
    """Whether external_torque is listened to (tag sub_ext_tau)."""
    velocity_limit: float | None = None
    """Velocity limit of the URDF joint [rad/s or m/s]; kept for devices, not enforced by the physics."""
    command_limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Lowest and highest command [SI] by command interface of ros2_control, where its tags give them; kept for devices
    and for export, not enforced by the physics."""
    file: str | None = None
    """File that described it."""
    line: int | None = None
    """Line in that file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginManager:
    """The settings of the toolbox's plugin manager: which joint each array element goes to, and how."""

    namespace: str
    """Prefix of all topics."""
    sample_time: float
    """Period of the manager's loop [s], positive (T_sample)."""
    joints: tuple[str, ...]
    """Joints in the order of the reference arrays (joints_name)."""
    ref_1: tuple[str, ...]
    """Command name of element i of reference array 1, without a leading slash."""
    ref_2: tuple[str, ...]
    """Command name of element i of reference array 2; "disabled" where the mode takes none."""
    file: str | None = None
    """File that it was read from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """The names under which a robot is reached."""

    namespace: str = DEFAULT_NAMESPACE
    """Prefix of all topics."""
    joints: Mapping[str, JointInterface] = field(default_factory=dict)
    """What each compliant joint publishes, by joint."""
    manager: PluginManager | None = None
    """The robot-wide board, or None."""
    sample_time: float | None = None
    """T_sample of the manager's file [s]; the original's joint plugin reads it and does not use it."""
    yarp: YarpInterface | None = None
    """What the robot shows over YARP, or None."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", dict(self.joints))

    def replace(self, **changes: Any) -> Interface:
        """Return a copy with some fields changed."""
        return dataclasses.replace(self, **changes)

    def prefixed(self, prefix: str) -> Interface:
        """Return the interface of the same robot with its model's names prefixed."""
        joints = {
            prefix + name: dataclasses.replace(joint, joint=prefix + joint.joint) for name, joint in self.joints.items()
        }
        manager = self.manager
        if manager is not None:
            manager = dataclasses.replace(manager, joints=tuple(prefix + j for j in manager.joints))
        yarp = self.yarp.prefixed(prefix) if self.yarp is not None else None
        return dataclasses.replace(self, joints=joints, manager=manager, yarp=yarp)

    def merged(self, other: Interface) -> Interface:
        """Return this interface with another's joints added; own name space and manager win."""
        yarp = self.yarp.merged(other.yarp) if self.yarp is not None and other.yarp is not None else None
        return dataclasses.replace(
            self,
            namespace=other.namespace if self.namespace == DEFAULT_NAMESPACE else self.namespace,
            joints={**self.joints, **other.joints},
            manager=self.manager or other.manager,
            sample_time=self.sample_time if self.sample_time is not None else other.sample_time,
            yarp=yarp or self.yarp or other.yarp,
        )


@runtime_checkable
class DescribedDevice(Protocol):
    """Whatever describes a device in `Robot.devices`: it has a name and can follow its robot under a prefix."""

    @property
    def name(self) -> str:
        """Name of the device, unique on its robot."""
        ...

    def prefixed(self, prefix: str) -> DescribedDevice:
        """Return the description with the device's and the model's names prefixed."""
        ...


@runtime_checkable
class ModelPart(DescribedDevice, Protocol):
    """A described device that takes part in the model: elements beside bodies, and what MuJoCo's spec cannot hold."""

    def install(self, spec: mujoco.MjSpec, original: mujoco.MjSpec) -> None:
        """Add its elements to the spec that is compiled, a copy of the original with the compliant actuators."""
        ...

    def finish(self, model: mujoco.MjModel) -> None:
        """Complete the compiled model."""
        ...

    def check(self, spec: mujoco.MjSpec) -> list[Problem]:
        """Return the problems of this part."""
        ...


@runtime_checkable
class PositionControlled(DescribedDevice, Protocol):
    """A described device whose controllers put torques on joints once a step."""

    def position_gains(self) -> dict[str, tuple[float, float]]:
        """Return proportional [N m/rad or N/m] and derivative gain [N m s/rad or N s/m] by joint."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceSpec:
    """A device as data: what kind it is and which elements of the model it is wired to."""

    name: str
    """Name of the device, unique on its robot."""
    kind: str
    """Kind of device, such as "compliant_joint", "board", "imu"; resolved by whoever builds the simulation."""
    joints: tuple[str, ...] = ()
    """Joints that it drives or measures."""
    elements: tuple[str, ...] = ()
    """Other elements of the model that it uses: sites, bodies, cameras, sensors."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of the device, by name."""

    def prefixed(self, prefix: str) -> DeviceSpec:
        """Return the description with the device's and the model's names prefixed."""
        return dataclasses.replace(
            self,
            name=prefix + self.name,
            joints=tuple(prefix + j for j in self.joints),
            elements=tuple(prefix + e for e in self.elements),
        )

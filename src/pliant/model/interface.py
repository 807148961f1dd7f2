"""External interface of a robot: namespaces, published states, plugin manager and devices."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

import mujoco

from pliant.model.problem import Problem

DEFAULT_NAMESPACE = "toBEassigned"
"""Namespace of the toolbox's topics if the parameter server does not define one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JointInterface:
    """Published and subscribed topics of one joint, as in the plugin tags of the toolbox."""

    joint: str
    """Name of the joint."""
    plugin: str = ""
    """Name attribute of the plugin tag that describes it; "" if there is none."""
    publish_elastic_torque: bool = True
    """Whether torque_el1_state and torque_el2_state are published (tag pub_eltau)."""
    publish_state: bool = True
    """Whether link_state is published (tag pub_state)."""
    subscribe_external_torque: bool = True
    """Whether external_torque is subscribed (tag sub_ext_tau)."""
    compliant: bool = True
    """Whether the joint has the toolbox's topics; False for one that other tags describe, as a stiff joint that follows
    positions or torques."""
    velocity_limit: float | None = None
    """Velocity limit of the URDF joint [rad/s or m/s]; used by devices, not enforced by the physics."""
    file: str | Path | None = None
    """File that contains the tag, or None."""
    line: int | None = None
    """Line in that file, counted from 1, or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginManager:
    """Settings of the toolbox's plugin manager: joint and command of each element of the reference arrays."""

    namespace: str
    """Prefix of all topics."""
    sample_time: float
    """Period of the manager's loop [s], > 0 (T_sample)."""
    joints: tuple[str, ...]
    """Joints in the order of the reference arrays (joints_name)."""
    ref_1: tuple[str, ...]
    """Command name of element i of reference array 1, without a leading slash."""
    ref_2: tuple[str, ...]
    """Command name of element i of reference array 2; "disabled" if the mode has no second reference."""
    file: str | None = None
    """File from which it was read, or None."""


class InterfaceExtension(Protocol):
    """Interface of a robot over the bridge of a wing: services, ports and devices that its files describe."""

    @property
    def devices(self) -> Sequence[DescribedDevice]:
        """Services and sensors; those for which a device is registered get one."""
        ...

    @property
    def problems(self) -> Sequence[Problem]:
        """Faults of the description, for `Robot.check`."""
        ...

    def prefixed(self, prefix: str) -> InterfaceExtension:
        """Return the extension with a prefix added to all names of the model."""
        ...

    def merged(self, other: object) -> InterfaceExtension:
        """Return this extension with what another of its kind has; its own names take precedence."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """Names of a robot's external interface."""

    namespace: str = DEFAULT_NAMESPACE
    """Prefix of all topics."""
    joints: Mapping[str, JointInterface] = field(default_factory=dict)
    """Interface of each compliant joint, by joint name."""
    manager: PluginManager | None = None
    """Plugin manager of the whole robot, or None."""
    sample_time: float | None = None
    """T_sample in the manager's file [s]; the original joint plugin reads but does not use it."""
    extensions: Mapping[str, InterfaceExtension] = field(default_factory=dict)
    """Interfaces of the robot that only wings know, by the name of the wing."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", dict(self.joints))
        object.__setattr__(self, "extensions", dict(self.extensions))

    def replace(self, **changes: object) -> Interface:
        """Return a copy with some fields changed."""
        return dataclasses.replace(self, **changes)

    def prefixed(self, prefix: str) -> Interface:
        """Return the interface with a prefix added to all names of the model."""
        joints = {
            prefix + name: dataclasses.replace(joint, joint=prefix + joint.joint) for name, joint in self.joints.items()
        }
        manager = self.manager
        if manager is not None:
            manager = dataclasses.replace(manager, joints=tuple(prefix + j for j in manager.joints))
        extensions = {name: extension.prefixed(prefix) for name, extension in self.extensions.items()}
        return dataclasses.replace(self, joints=joints, manager=manager, extensions=extensions)

    def merged(self, other: Interface) -> Interface:
        """Return this interface with the joints of another one added; this namespace and manager take precedence."""
        extensions = {**other.extensions, **self.extensions}
        for name in self.extensions.keys() & other.extensions.keys():
            extensions[name] = self.extensions[name].merged(other.extensions[name])
        return dataclasses.replace(
            self,
            namespace=other.namespace if self.namespace == DEFAULT_NAMESPACE else self.namespace,
            joints={**self.joints, **other.joints},
            manager=self.manager or other.manager,
            sample_time=self.sample_time if self.sample_time is not None else other.sample_time,
            extensions=extensions,
        )


@runtime_checkable
class DescribedDevice(Protocol):
    """Description of a device in `Robot.devices`, with a name and a method that adds a prefix to names."""

    @property
    def name(self) -> str:
        """Name of the device, unique on its robot."""
        ...

    def prefixed(self, prefix: str) -> DescribedDevice:
        """Return the description with the device's and the model's names prefixed."""
        ...


@runtime_checkable
class ModelPart(DescribedDevice, Protocol):
    """Described device that adds elements to the model, including values that MuJoCo's spec cannot represent."""

    def install(self, spec: mujoco.MjSpec, original: mujoco.MjSpec) -> None:
        """Add its elements to the spec to be compiled, which is a copy of the original with the compliant actuators."""
        ...

    def finish(self, model: mujoco.MjModel) -> None:
        """Complete the compiled model."""
        ...

    def check(self, spec: mujoco.MjSpec) -> list[Problem]:
        """Return the problems of this part, for `Robot.check`."""
        ...

    @property
    def stiff(self) -> bool:
        """Whether its springs are too stiff for other integrators than ``discrete``."""
        ...

    def export(self, spec: mujoco.MjSpec, model: mujoco.MjModel) -> None:
        """Complete the spec of an exported file by what `finish` wrote into the compiled model.

        Raises:
            ModelError: no file holds what the part is.
        """
        ...


class PartDefaults:
    """Members of a `ModelPart` that most parts do not need."""

    __slots__ = ()

    @property
    def stiff(self) -> bool:
        """Whether its springs are too stiff for other integrators than ``discrete``: no."""
        return False

    def export(self, spec: mujoco.MjSpec, model: mujoco.MjModel) -> None:
        """Leave the spec as it is."""


@runtime_checkable
class PositionControlled(DescribedDevice, Protocol):
    """Described device whose controllers apply torques to joints once per step."""

    def position_gains(self) -> dict[str, tuple[float, float]]:
        """Return (proportional gain [N m/rad or N/m], derivative gain [N m s/rad or N s/m]) by joint."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceSpec:
    """Description of a device: its kind and the elements of the model that it uses."""

    name: str
    """Name of the device, unique on its robot."""
    kind: str
    """Kind of device, such as "compliant_joint", "board" or "imu"; resolved when the simulation is built."""
    joints: tuple[str, ...] = ()
    """Joints that the device drives or measures."""
    elements: tuple[str, ...] = ()
    """Other elements of the model that the device uses: sites, bodies, cameras, sensors."""
    options: Mapping[str, object] = field(default_factory=dict)
    """Further arguments of the device, by name."""

    def prefixed(self, prefix: str) -> DeviceSpec:
        """Return the description with the device's and the model's names prefixed."""
        return dataclasses.replace(
            self,
            name=prefix + self.name,
            joints=tuple(prefix + j for j in self.joints),
            elements=tuple(prefix + e for e in self.elements),
        )

"""Interface of a robot in the tags of ros2_control: its hardware components, and limits of its joints' commands."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pliant.model.interface import DescribedDevice, Interface
from pliant.model.problem import Problem

EXTENSION = "ros2_control"
"""Key in `pliant.model.interface.Interface.extensions`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlSystem:
    """A hardware component of ros2_control: a ``<ros2_control>`` element of a URDF."""

    name: str
    """Its name."""
    plugin: str = ""
    """Name of the hardware plugin."""
    params: Mapping[str, str] = field(default_factory=dict)
    """Parameters of the hardware, by name."""
    commands: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Joint -> its command interfaces, both in the order of the file."""
    states: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Joint -> its state interfaces."""

    def prefixed(self, prefix: str) -> ControlSystem:
        """Return the component with a prefix added to all names of the model."""
        return dataclasses.replace(
            self,
            name=prefix + self.name,
            commands={prefix + joint: names for joint, names in self.commands.items()},
            states={prefix + joint: names for joint, names in self.states.items()},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlInterface:
    """Interface of a robot over ros2_control."""

    systems: tuple[ControlSystem, ...] = ()
    """Hardware components."""
    limits: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict)
    """Joint -> lowest and highest command [SI] by command interface, where its tags define them; for export, not
    enforced by the physics."""

    @property
    def devices(self) -> Sequence[DescribedDevice]:
        """Return no devices: joints and sensors are the robot's own."""
        return ()

    @property
    def problems(self) -> Sequence[Problem]:
        """Return no problems: wrong tags are refused where they are read."""
        return ()

    def prefixed(self, prefix: str) -> ControlInterface:
        """Return the interface with a prefix added to all names of the model."""
        return ControlInterface(
            systems=tuple(system.prefixed(prefix) for system in self.systems),
            limits={prefix + joint: limits for joint, limits in self.limits.items()},
        )

    def merged(self, other: object) -> ControlInterface:
        """Return this interface with what another one has; its own joints take precedence."""
        if not isinstance(other, ControlInterface):
            return self
        return ControlInterface(systems=(*self.systems, *other.systems), limits={**other.limits, **self.limits})


def control_of(interface: Interface) -> ControlInterface:
    """Return what ros2_control's tags say of a robot; nothing for a robot without such tags."""
    found = interface.extensions.get(EXTENSION)
    return found if isinstance(found, ControlInterface) else ControlInterface()

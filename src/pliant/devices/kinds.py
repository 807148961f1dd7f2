"""Which description is made into which device: pliant's own kinds and those that a user's module registers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pliant.base.errors import DeviceError
from pliant.base.options import place_of
from pliant.base.plugins import load_entry_points
from pliant.devices.base import DeviceBase
from pliant.model.sensors import SensorDescription

__all__ = ["DeviceFactory", "device_for", "device_kinds", "find_device", "has_device"]

DeviceFactory = Callable[[Any, Any], DeviceBase]
"""Takes a description and the robot that it is described on."""
F = TypeVar("F", bound=Callable[..., DeviceBase])

_FACTORIES: dict[type, DeviceFactory] = {}


def device_for(description: type) -> Callable[[F], F]:
    """Register the device of a kind of description (class decorator); see `SensorDevice` for an example.

    Args:
        description: type of what stands in `Robot.devices`; for a sensor, a class under `pliant.model.sensor_kind`.

    Raises:
        DeviceError: the description has a device already; the message has both places.
    """

    def register(factory: F) -> F:
        other = _FACTORIES.get(description)
        if other is not None and place_of(other) != place_of(factory):
            raise DeviceError(
                f"two devices are registered for {description.__name__}, at {place_of(other)} and {place_of(factory)}; "
                "remove one of them",
                field=description.__name__,
            )
        _FACTORIES[description] = factory
        return factory

    return register


def find_device(description: object) -> DeviceFactory:
    """Return what makes the device of a description.

    Raises:
        DeviceError: no device is registered for it.
    """
    kind = type(description)
    if kind not in _FACTORIES:
        load_entry_points("pliant.devices")
    if kind not in _FACTORIES:
        raise DeviceError(
            f"no device is registered for {kind.__name__} ({place_of(kind)}); register one with "
            f"@device_for({kind.__name__}), and import its module with --import",
            field=kind.__name__,
        )
    return _FACTORIES[kind]


def has_device(description: object) -> bool:
    """Return whether a device is registered for a description."""
    return type(description) in _FACTORIES


def device_kinds() -> dict[type[SensorDescription], DeviceFactory]:
    """Return the registered devices of sensors, by their description; contract tests run on each."""
    load_entry_points("pliant.devices")
    return {kind: factory for kind, factory in _FACTORIES.items() if issubclass(kind, SensorDescription)}

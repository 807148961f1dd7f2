"""The device of each description: those of the core, of wings and of a user's module."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import TypeVar

from pliant.base.errors import DeviceError
from pliant.base.options import place_of
from pliant.base.wing import offers
from pliant.devices.base import DeviceBase
from pliant.model.sensors import SensorDescription
from pliant.model.wanted import check_described, check_robot

DeviceFactory = Callable[..., DeviceBase | list[DeviceBase]]
"""Takes a description, the robot that it is described on, and options of `DeviceBase`."""
COMMON = ("latency", "command_latency", "watchdog", "stamp")
"""Options of `pliant.devices.make_devices` that every device takes; others, such as periods, are its own."""
F = TypeVar("F", bound=DeviceFactory)
One = TypeVar("One", bound=Callable[..., DeviceBase])
Several = TypeVar("Several", bound=Callable[..., list[DeviceBase]])

_FACTORIES: dict[type, DeviceFactory] = {}
_SEVERAL: set[type] = set()


def device_for(description: type) -> Callable[[One], One]:
    """Register the device of a kind of description (class decorator); see `SensorDevice` for an example.

    Args:
        description: type of what stands in `Robot.devices`; for a sensor, a class under `pliant.model.sensor_kind`.

    Raises:
        DeviceError: the description has a device already; the message has both places.
    """
    return _register(description, several=False)


def devices_for(description: type) -> Callable[[Several], Several]:
    """Register a function that returns several devices of a kind of description, as `device_for` does for one.

    The function takes the description and the options of `pliant.devices.make_devices`.
    """
    return _register(description, several=True)


def _register(description: type, *, several: bool) -> Callable[[F], F]:
    def register(factory: F) -> F:
        other = _FACTORIES.get(description)
        if other is not None and place_of(other) != place_of(factory):
            raise DeviceError(
                f"two devices are registered for {description.__name__}, at {place_of(other)} and {place_of(factory)}; "
                "remove one of them",
                field=description.__name__,
            )
        if inspect.isclass(factory):
            _check_arguments(factory, description)
        _FACTORIES[description] = factory
        if several:
            _SEVERAL.add(description)
        return factory

    return register


def _check_arguments(device: type, description: type) -> None:
    """Make a class of devices refuse a description of another kind, and what is no robot, before it looks at them."""
    create = device.__init__
    names = list(inspect.signature(create).parameters)[1:3]

    @functools.wraps(create)
    def checked(self: object, *args: object, **options: object) -> None:
        if type(self) is device and len(names) == 2:
            described, robot = (*args, *(options.get(name) for name in names[len(args) :]))[:2]
            check_described(described, description, device.__name__)
            check_robot(robot, device.__name__, compiled=False)
        create(self, *args, **options)

    setattr(device, "__init__", checked)  # noqa: B010 - an assignment is no valid override for the type checker


def devices_of(description: object, robot: object, options: Mapping[str, object]) -> list[DeviceBase]:
    """Return the devices of a description on a robot.

    Args:
        description: the description.
        robot: the robot.
        options: of `pliant.devices.make_devices`; a sensor's own latency stands in place of that of all devices.

    Raises:
        DeviceError: no device is registered for it, or its function takes no option that was given.
    """
    factory = find_device(description)
    if type(description) in _SEVERAL:
        made = factory(description, **options)
    else:
        given = {name: options[name] for name in COMMON if options.get(name)}
        if getattr(description, "latency", 0.0):
            given.pop("latency", None)
        try:
            inspect.signature(factory).bind(description, robot, **given)
        except TypeError:
            raise DeviceError(
                f"the device of {type(description).__name__} ({place_of(factory)}) takes none of {', '.join(given)}; "
                "let its function take **options and pass them to DeviceBase",
                field=next(iter(given), ""),
            ) from None
        made = factory(description, robot, **given)
    return made if isinstance(made, list) else [made]


def find_device(description: object) -> DeviceFactory:
    """Return what makes the device of a description.

    Raises:
        DeviceError: no device is registered for it.
    """
    kind = type(description)
    if not _load(kind):
        raise DeviceError(
            f"no device is registered for {kind.__name__} ({place_of(kind)}); register one with "
            f"@device_for({kind.__name__}), and import its module with --import",
            field=kind.__name__,
        )
    return _FACTORIES[kind]


def has_device(description: object) -> bool:
    """Return whether a device is registered for a description."""
    return _load(type(description))


def all_device_kinds() -> dict[type, DeviceFactory]:
    """Return all registered devices of all wings, by their description; contract tests run on each."""
    for offer in offers("devices"):
        offer.load()
    return dict(_FACTORIES)


def device_kinds() -> dict[type[SensorDescription], DeviceFactory]:
    """Return the registered devices of sensors, by their description; contract tests run on each."""
    all_device_kinds()
    return {kind: factory for kind, factory in _FACTORIES.items() if issubclass(kind, SensorDescription)}


def _load(kind: type) -> bool:
    """Return whether a description has a device; the wing of the description is imported until it registers one."""
    if kind not in _FACTORIES:
        # Only its own wing or package, or one that names it: a description without a device must not load all others.
        depth = 2 if kind.__module__.startswith("pliant.") else 1
        near = kind.__module__.split(".")[:depth]
        for offer in offers("devices"):
            module, _, described = offer.value.partition(":")
            fits = described == kind.__name__ or module.split(".")[:depth] == near
            if fits and offer.load() and kind in _FACTORIES:
                break
    return kind in _FACTORIES

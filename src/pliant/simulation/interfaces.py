"""Which function of a bridge serves which device: a table by signature, which wings extend."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from pliant.base.wing import offer, resolve
from pliant.devices.base import SampleSource

T = TypeVar("T")
Serve = Callable[[T, str, Any], None]
"""Announces what a bridge has for a device: (topics or ports of the bridge, name of the device, device)."""


class InterfaceTable(Generic[T]):
    """The functions of one bridge that serve devices, by signature of the device (`pliant.devices.signatures`).

    Wings add functions for their devices (`pliant.base.wing.Wing.interfaces`). A function may be given as
    ``"module:name"``; its module is then imported when a device needs it.

    Args:
        bridge: name of the bridge, for messages.
        entries: signature -> function.
        otherwise: the function for devices without a signature of the table.

    Example:
        >>> table = InterfaceTable("mine", {"imu": "mine.sensors:serve_imu"}, "builtins:print")
        >>> table.signatures
        ('imu',)
    """

    def __init__(self, bridge: str, entries: Mapping[str, str | Serve[T]], otherwise: str | Serve[T]) -> None:
        self._bridge = bridge
        self._entries = dict(entries)
        self._otherwise = otherwise

    @property
    def signatures(self) -> tuple[str, ...]:
        """The signatures that have a function of their own."""
        return tuple(self._entries)

    def find(self, device: SampleSource) -> Serve[T]:
        """Return the function that serves a device: that of the first of its signatures which has one."""
        found = self._otherwise
        for name in device.signatures:
            declared = offer("interfaces", f"{self._bridge}/{name}")
            if declared is not None:
                return declared.load()
            if name in self._entries:
                found = self._entries[name]
                break
        return resolve(found) if isinstance(found, str) else found

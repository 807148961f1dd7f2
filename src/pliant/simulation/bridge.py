"""What a bridge is: an adapter between the devices and a wire, driven by the loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from pliant.devices.base import Device, Sample

__all__ = ["Bridge", "LockstepBridge"]


@runtime_checkable
class Bridge(Protocol):
    """Carries samples to the outside and commands to the mailboxes.

    The loop thread calls every method. A bridge may have threads of its own; they touch nothing of the simulation but
    ``device.inbox.put`` and ``device.request``. A wire that is lost raises `BridgeError` from ``publish`` or ``tick``,
    which ends the run.
    """

    lockstep: bool
    """True if the loop waits, after each step, until the other side has answered; then see `LockstepBridge`."""

    def start(self, devices: Mapping[str, Device]) -> None:
        """Open the wire. ``devices``: name -> device, attached and reset.

        Raises:
            BridgeError: the wire cannot be opened.
            MissingDependency: a package is not installed.
        """
        ...

    def publish(self, sample: Sample) -> None:
        """Send one sample; returns without waiting for the receiver."""
        ...

    def tick(self, stamp_ns: int) -> None:
        """Send the simulation time [ns]; called once a step, before the samples of that step."""
        ...

    def stop(self) -> None:
        """Close the wire and join every thread. May be called twice, and after a failed ``start``."""
        ...

    def health(self) -> Mapping[str, Any]:
        """Return counters and the last fault, as plain numbers and text."""
        ...


@runtime_checkable
class LockstepBridge(Bridge, Protocol):
    """A bridge whose other side answers samples."""

    def wait(self, timeout: float) -> bool:
        """Wait until every sample that needs an answer has one.

        ``device.inbox.wait_for(seq, timeout)`` does this for one device.

        Args:
            timeout: longest wait [s] of wall time.

        Returns:
            True at once if nothing is open, True when all is answered, False if the time ran out.
        """
        ...

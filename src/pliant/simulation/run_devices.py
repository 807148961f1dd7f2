"""The devices of a run: their names, and what the loop calls of each in every step."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from pliant.base.errors import PliantError, nearest
from pliant.devices.base import Device, DeviceBase, Mailbox
from pliant.engine.base import Engine
from pliant.simulation.run_options import seeded


def _queued(device: Device) -> Collection[object]:
    queued = device.queued if isinstance(device, DeviceBase) else None
    return (device,) if queued is None else queued


def _fed(device: Device) -> Mailbox | None:
    return device.fed if isinstance(device, DeviceBase) else None


class RunDevices:
    """The devices of one simulation by name, in the order of the loop.

    Args:
        devices: the devices.
        engine: physics engine, to which they are attached.
        paced: whether the run keeps a real-time factor.

    Raises:
        PliantError: two devices have the same name.
        DeviceError: the period of a device is not a whole multiple of the time step of the engine.
    """

    def __init__(self, devices: Iterable[Device], engine: Engine, *, paced: bool) -> None:
        self.by_name: dict[str, Device] = {}
        for device in devices:
            if device.name in self.by_name:
                raise PliantError(
                    f"two devices have the name {device.name!r}; every name must differ", field=device.name
                )
            device.attach(engine)
            if paced:
                device.keep_pace()
            self.by_name[device.name] = device
        # Resolved once: the step looks nothing up by name, and calls nothing that has nothing to do.
        self.servers = [(_queued(device), device.serve) for device in self.by_name.values()]
        """Requests that wait for each device, and what runs them."""
        self.writers = [(device.period_ns, _fed(device), device.write) for device in self.by_name.values()]
        """Period [ns] and firmware of each device, and the mailbox that must be fresh before it is called, if any."""
        self.readers = [(device.sample_period_ns, device.read) for device in self.by_name.values()]
        """Sample period [ns] and measurement of each device."""

    def serve(self) -> None:
        """Run the requests of all devices."""
        for queued, serve in self.servers:
            if queued:
                serve()

    def find(self, name: str, extra: Iterable[str] = ()) -> Device:
        """Return a device by its name.

        Args:
            name: its name.
            extra: other names that would be valid, for the message.

        Raises:
            PliantError: there is no such device.
        """
        device = self.by_name.get(name)
        if device is None:
            raise PliantError(f"there is no device {name!r}; {nearest(name, [*self.by_name, *extra])}", field=name)
        return device

    def reset(self, seed: int) -> None:
        """Reset all devices, each with its own random numbers."""
        for name, device in self.by_name.items():
            device.reset(seeded(seed, name))

    def close(self) -> list[Exception]:
        """Close all devices; return their errors."""
        faults: list[Exception] = []
        for device in self.by_name.values():
            try:
                device.close()
            except Exception as error:  # the others are closed in any case
                faults.append(error)
        return faults

    def health(self) -> dict[str, dict[str, object]]:
        """Return the health of each device."""
        return {name: dict(device.health()) for name, device in self.by_name.items()}

"""Live parameters of a robot, by name: mode and gains of joints. Bridges serve it as parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pliant.base.errors import DeviceError
from pliant.devices.base import SampleSource
from pliant.devices.signatures import JOINT, JointDevice
from pliant.laws import Mode
from pliant.simulation.answers import answered

MAX_GAIN = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveParameter:
    """A value that is read and set by name while the simulation runs."""

    name: str
    """Its name, ``elbow.kp_1``."""
    kind: type
    """bool, int or float."""
    read: Callable[[], float]
    """Returns its value; any thread may call it."""
    write: Callable[[float], object] | None
    """Sets it and waits for the loop, in a thread that is not the loop's; None where it cannot be set."""
    text: str
    """Description of the parameter."""
    low: float = 0.0
    """Lowest valid value."""
    high: float = 0.0
    """Highest valid value."""

    def check(self, asked: float) -> float:
        """Return a value that may be written.

        Args:
            asked: a value of its kind.

        Raises:
            DeviceError: out of range, or it cannot be set.
        """
        if self.write is None:
            if asked == self.read():
                return asked
            raise DeviceError(f"{self.name} cannot be set to {asked}: {self.text}", field=self.name)
        if not (math.isfinite(asked) and self.low <= asked <= self.high):
            raise DeviceError(f"{self.name} is {asked}; must be {self.low:g} to {self.high:g}", field=self.name)
        return asked

    def change(self, value: float) -> bool:
        """Set it to a value that has been checked; return whether it changed."""
        if self.write is None or self.read() == value:
            return False
        self.write(value)
        return True


def joint_gains(device: JointDevice) -> dict[str, float]:
    """Return the gains in force that a joint uses in its mode: ``kp_1``, ``ki_1``, ``kd_1``, and those of motor 2."""
    return dict(device.gains) if device.mode is Mode.LINK_PID or device.mode.has_motors else {}


def live_parameters(
    devices: Mapping[str, SampleSource], name: Callable[[str], str] = lambda joint: joint
) -> dict[str, LiveParameter]:
    """Return the parameters of all joints among some devices, by name.

    Args:
        devices: name -> device.
        name: makes of a joint's name what parameters call it.
    """
    found: dict[str, LiveParameter] = {}
    for device in devices.values():
        if JOINT.live(device):
            for parameter in _of_joint(device, name(device.joint)):
                found[parameter.name] = parameter
    return found


def _of_joint(device: JointDevice, joint: str) -> list[LiveParameter]:
    def set_gain(motor: int, gain: str) -> Callable[[float], None]:
        def write(value: float) -> None:
            answered(device.request("set_gains", motor=motor, **{gain: value}))

        return write

    mode = LiveParameter(
        name=f"{joint}.operation_mode",
        kind=int,
        read=lambda: int(device.mode),
        write=lambda value: answered(device.request("set_mode", mode=value)),
        text="mode of the toolbox: " + ", ".join(f"{m.value} {m.name.lower()}" for m in Mode),
        low=min(Mode),
        high=max(Mode),
    )
    return [
        mode,
        *(
            LiveParameter(
                name=f"{joint}.{key}",
                kind=float,
                read=lambda key=key: device.gains[key],
                write=set_gain(int(key[-1]), key[:2]),
                text=f"gain {key[:2]} of motor {key[-1]}",
                high=MAX_GAIN,
            )
            for key in joint_gains(device)
        ),
    ]

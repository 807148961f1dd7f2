"""The options of ``--bridge dynamixel``."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.base.errors import BridgeError
from pliant.base.listening import check_listening_host
from pliant.base.options import check_values, option
from pliant.dynamixel.models import find_model
from pliant.dynamixel.servo import BAUD_RATES


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamixelOptions:
    """The line, and which servo moves which joint. Lists have one value for all servos, or one for each.

    Raises:
        BridgeError: a value is not valid.
    """

    port: str = ""
    """Path of a symbolic link to the pseudo-terminal, such as /tmp/servos; one that exists is replaced."""
    tcp: int = option(-1, low=-1, high=65535)
    """TCP port that serves the same line; 0 for a free one, -1 for none."""
    host: str = "127.0.0.1"
    """Address of this machine for the TCP port. Any client that can reach it can command the robot."""
    joints: tuple[str, ...] = option(())
    """Joints with a servo on this line, in the order of the other lists; none: all that can be commanded."""
    ids: tuple[int, ...] = option((), low=0, high=252)
    """ID of each servo; none: 1, 2, ..."""
    model: tuple[str, ...] = option(())
    """Type of the servos: XL330-M077, XL330-M288, XM430-W210 or XM430-W350; none: XM430-W350."""
    torque: tuple[float, ...] = option((), unit="N m", low=0.0, above=True)
    """Torque of each servo at stall; another one than that of the data sheet stands for a gear. None: the largest
    torque that the model allows at the joint, or that of the data sheet."""
    scale: tuple[float, ...] = option(())
    """Travel of each joint per radian of its servo [rad/rad or m/rad], not 0; none: 1, and 0.01 m/rad for a joint that
    slides."""
    voltage: float | None = option(None, unit="V", low=0.0, high=30.0)
    """Supply of the servos; none: the recommended one of each type."""
    ambient: float = option(298.15, unit="K", low=223.15, high=423.15)
    """Temperature of the surroundings."""
    baud: int = option(0, choices=(0, *BAUD_RATES))
    """Rate at which bytes pass in simulated time, with the Return Delay Time of each servo; 0 answers at once."""
    limp: bool = False
    """Whether joints are limp until Torque Enable is 1, as those of real servos. Otherwise a joint is commanded only
    from then on."""

    def __post_init__(self) -> None:
        check_values(self, BridgeError, names=lambda name: f"--bridge dynamixel: {name}")
        check_listening_host(self.host, "host")
        for name in self.model:
            find_model(name)
        for name, values in (("ids", self.ids), ("joints", self.joints)):
            double = next((value for value in values if values.count(value) > 1), None)
            if double is not None:
                raise BridgeError(f"--bridge dynamixel: {name} has {double!r} twice", field=name)
        if 0.0 in self.scale:
            raise BridgeError("--bridge dynamixel: scale has 0; must be travel per radian, not 0", field="scale")

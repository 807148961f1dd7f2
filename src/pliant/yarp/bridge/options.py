"""Options of the YARP bridge."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.base.errors import BridgeError
from pliant.base.options import check_values, option

CLOCK = "/clock"
"""Port of the time where neither the option nor the robot names another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class YarpOptions:
    """Options of a YARP bridge: served ports, their names, and the address of the name server.

    Raises:
        BridgeError: a value is not valid; the message says which and what would be.
    """

    name: str = ""
    """First part of the names of the ports, such as icubSim, also of those that the robot's files name; "" takes the
    robot's."""
    server: str = ""
    """Address HOST:PORT of the name server; "" takes that of YARP's configuration, else 127.0.0.1:10000."""
    own_server: str = option("auto", choices=("auto", "always", "never"))
    """Whether the bridge runs a name server itself: auto starts one if none answers; always starts one and refuses
    another that answers; never needs one that answers."""
    write: bool = False
    """Write YARP's configuration file for the bridge's own name server, as yarpserver --write does."""
    host: str = "127.0.0.1"
    """Address that the ports listen on."""
    dialect: int = option(3, low=3, high=4)
    """3 or 4: the YARP for which floats are written to a receiver that does not say which one it belongs to."""
    motor_parameters: int = option(9, choices=(4, 8, 9))
    """Numbers in the reply to getMotorTorqueParams of a client that has not set them: 4 for YARP 3.5 and 3.6, 8 for 3.7
    and 3.8, 9 from 3.9 on."""
    period: float = option(0.01, unit="s", low=0.0)
    """Time between two messages of a port that has no period of its own; 0 for every sample."""
    clock: str = CLOCK
    """Port of the simulation time; "" for none. The default takes the port of the robot's clock plugin, if it names
    one."""
    lockstep: bool = False
    """Take the steps that clients ask for by stepSimulationAndWait or stepSimulation, and wait between them."""
    step_timeout: float = option(0.0, unit="s", low=0.0, high=1e6)
    """Lock-step: longest wait for the next call after the first [s of wall time]; 0 for no limit."""
    queue: int = option(100, low=1, high=100_000)
    """Messages that wait for a slow receiver before further ones are dropped and counted."""

    def __post_init__(self) -> None:
        check_values(self, BridgeError, names=str)
        for field, value in (("name", self.name), ("clock", self.clock)):
            if any(c.isspace() for c in value) or len(value) > 200:
                raise BridgeError(f"{field} is {value!r}; must be a name of a port, without spaces", field=field)
        if self.lockstep and not self.clock.strip("/"):
            raise BridgeError(
                "lockstep needs the clock's port, over which clients request steps; omit clock=", field="clock"
            )

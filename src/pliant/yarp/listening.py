"""Listening to a robot on YARP: input ports that the robot's state ports are connected to, and no output."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pliant.base.errors import BridgeError, PliantError, WireError, printable
from pliant.base.threads import Threads
from pliant.recording.live import Heard, Inbox
from pliant.yarp.bridge.messages import Arrival
from pliant.yarp.bridge.port import Port
from pliant.yarp.client.network import YarpNetwork, find_server
from pliant.yarp.wire import Stamp
from pliant.yarp.wire.binary import MAX_BYTES
from pliant.yarp.wire.objects import properties
from pliant.yarp.wire.values import number

if TYPE_CHECKING:
    from pliant.model.robot import Robot

FIELDS = ("position", "motor_1_position", "motor_2_position", "reference_1", "reference_2")
"""Fields of a joint's state port, in SI."""
AGAIN_S = 1.0
"""Time between two attempts to connect a state port that is not connected [s]."""
SHOWN = 8


@dataclass(frozen=True, kw_only=True)
class ListenOptions:
    """The options of a listener on YARP.

    Raises:
        BridgeError: the server is no address.
    """

    server: str = ""
    """Address HOST:PORT of the name server, and behind a slash the first part of the ports' names, such as
    ``10.0.0.2:10000/left_arm``; "" for what YARP's configuration says, else 127.0.0.1:10000."""
    name: str = ""
    """First part of the names of the ports; "" takes the robot's."""
    host: str = "127.0.0.1"
    """Address that the input ports listen on."""


class YarpListener:
    """Reads the state port of each joint, ``/<name>/<joint>/state:o``: measurements, and the references in effect.

    Args:
        robot: the robot as it is described.
        options: where the robot is.
    """

    def __init__(self, robot: Robot, options: ListenOptions) -> None:
        server, _, prefix = options.server.partition("/")
        self._server, self._host = server, options.host
        self._name = (options.name or prefix or robot.interface.namespace or robot.name).strip("/")
        self._joints = list(robot.actuators)
        self._threads = Threads()
        self._closing = threading.Event()
        self._network: YarpNetwork | None = None
        self._inbox = Inbox(1)
        self.ports: dict[str, Port] = {}
        """The input port of each state port."""

    def start(self, inbox: Inbox) -> None:
        """Open the input ports and have the robot's state ports connected to them.

        Raises:
            BridgeError: no name server answers.
        """
        self._inbox = inbox
        self._network = YarpNetwork(self._server, host=self._host)
        for joint in self._joints:
            source = f"/{self._name}/{joint}/state:o".replace(" ", "_")
            self.ports[source] = self._network.network.open(
                "...", on_data=self._taker(joint, source), output=False, limit=MAX_BYTES
            )
        self._connect()
        self._threads.start("pliant-yarp-listen", self._watch)

    def stop(self) -> None:
        """Close the ports and join the threads; may be called twice."""
        self._threads.close()
        self._closing.set()
        self._threads.join(5.0)
        if self._network is not None:
            self._network.close()

    def where(self) -> str:
        """Return the name server and the name of the robot."""
        return f"yarp at name server {find_server(self._server)}, ports below /{self._name}"

    def lost(self) -> str:
        """Return why the name server cannot be reached, "" while it can."""
        return "" if self._network is None else self._network.network.lost

    def silent(self) -> str:
        """Return the state ports of others."""
        if self._network is None:
            return ""
        try:
            known = [c.name for c in self._network.list() if c.name.endswith("state:o") and c.name not in self.ports]
        except (BridgeError, WireError):
            return ""
        shown = ", ".join(printable(name) for name in known[:SHOWN])
        return f"other state ports are: {shown}; choose with name=" if known else ""

    # ------------------------------------------------------------------ inside
    def _watch(self) -> None:
        while not self._closing.wait(AGAIN_S):
            self._connect()

    def _connect(self) -> None:
        """Connect what is not connected; a robot that is not there yet, or again, is found later."""
        network = self._network
        if network is None:
            return
        for source, port in self.ports.items():
            if port.inputs or self._closing.is_set():
                continue
            try:
                network.connect(source, port.name)
            except (PliantError, OSError):
                continue

    def _taker(self, joint: str, source: str) -> Callable[[Arrival], None]:
        told = False

        def take(arrival: Arrival) -> None:
            nonlocal told
            try:
                fields = properties(arrival.bottle())
                stamp = Stamp.of_envelope(arrival.envelope or "")
                values = {f"{joint}/{name}": number(fields[name]) for name in FIELDS if name in fields}
            except WireError as error:
                if not told:
                    told = True
                    self._inbox.note(f"{source} sends what is no state of a joint with a stamp: {error}")
                return
            finite = {port: value for port, value in values.items() if math.isfinite(value)}
            if finite and math.isfinite(stamp.time):
                self._inbox.put(Heard(source, 0, stamp.time, True, finite))

        return take


def listen(robot: Robot, options: ListenOptions) -> YarpListener:
    """Return what listens to a robot on YARP."""
    return YarpListener(robot, options)

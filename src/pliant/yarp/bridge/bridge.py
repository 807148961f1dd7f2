"""The bridge between the devices and the ports of YARP, as the loop drives it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from pliant.base.errors import BridgeError, WireError, printable
from pliant.base.listening import check_listening_host
from pliant.devices.base import Sample, SampleSource
from pliant.model.wanted import check_source
from pliant.simulation.bridge import BridgeBase, TopicReport
from pliant.simulation.loop_cost import LoopCost
from pliant.simulation.switching import SwitchInterval
from pliant.yarp.bridge.analog_servers import serve_analog_servers
from pliant.yarp.bridge.calls import NameClient
from pliant.yarp.bridge.camera import serve_joined_cameras
from pliant.yarp.bridge.clock import serve_clock
from pliant.yarp.bridge.configuration import find_server, name_space, write_configuration
from pliant.yarp.bridge.control_board import serve_described_parts
from pliant.yarp.bridge.interfaces import INTERFACES
from pliant.yarp.bridge.nameserver import NameServer
from pliant.yarp.bridge.network import JOIN_TIMEOUT_S, Network
from pliant.yarp.bridge.options import CLOCK, YarpOptions
from pliant.yarp.bridge.served import Served
from pliant.yarp.bridge.skin_inertials import serve_skin_inertials
from pliant.yarp.bridge.step_gate import StepGate
from pliant.yarp.model.services import ClockPort, yarp_interface

if TYPE_CHECKING:
    from pliant.model.robot import Robot
    from pliant.simulation.replayed import Replayed

_log = logging.getLogger("pliant.yarp")


class YarpBridge(BridgeBase):
    """The devices of a robot as ports of YARP.

    The step only queues samples; encoding and sending happen in the thread of the ports.

    Args:
        robot: the robot, or what is replayed; None where there is neither.
        options: what is served, and where the name server is.
    """

    name = "yarp"

    def __init__(self, robot: Robot | Replayed | None, options: YarpOptions | None = None) -> None:
        check_source(robot, "YarpBridge")
        self.options = options or YarpOptions()
        self.robot = robot
        self.served: Served | None = None
        self.server: NameServer | None = None
        self.network: Network | None = None
        self.on_complaint: Callable[[str], None] = lambda text: None
        """Called, in any thread, with each fault of the other side; whoever shows them sets it."""
        self.lockstep = self.options.lockstep
        self.own_timeout = "step_timeout" if self.lockstep else ""
        self._gate = StepGate(self.options.step_timeout) if self.lockstep else None
        self._notes: list[str] = []
        self._complaints = 0
        self._last_complaint = ""
        self._started = 0.0
        self._interval = SwitchInterval()
        self._cost = LoopCost()

    # ------------------------------------------------------------------ the loop
    def start(self, devices: Mapping[str, SampleSource]) -> None:
        """Find or start the name server, and open every port.

        Raises:
            BridgeError: no name server, a port whose name is taken, an address of another machine.
        """
        check_listening_host(self.options.host, "host")
        self._interval.shorten()
        try:
            names = self._find_server()
            self.network = Network(names, host=self.options.host, threads=self.threads)
            self.network.on_complaint = self._complained
            self.network.advice = "give this run other names: --bridge yarp:name=NAME,clock=/NAME/clock"
            self.network.start()
            self.served = served = Served(self.robot, self.network, self.options)
            served.simulation = self._simulation
            served.gate = self._gate if self._simulation is not None else None
            served.devices = dict(devices)
            if self.clock_port:
                serve_clock(served, self.clock_port)
            for name in devices:
                served.writers[name] = []
            shown = serve_analog_servers(served) | serve_described_parts(served)
            shown |= serve_skin_inertials(served) | serve_joined_cameras(served)
            for name, device in devices.items():
                if name not in shown:
                    INTERFACES.find(device)(served, name, device)
        except WireError as fault:
            self.stop()
            raise BridgeError(f"the ports cannot be opened: {fault}", field="server") from None
        except BaseException:
            self.stop()
            raise
        self._started = time.monotonic()

    def _find_server(self) -> NameClient:
        options = self.options
        address = find_server(options.server)
        names = NameClient(address)
        answers = address.port != 0 and names.reachable()
        if answers and options.own_server == "always":
            raise BridgeError(
                f"a name server answers at {address} already; stop it, give own_server=auto to use it, or another "
                "address (server=HOST:PORT)",
                field="own_server",
            )
        if answers:
            return names
        if options.own_server == "never":
            raise BridgeError(
                f"no name server answers at {address}. Start one: pliant yarpserver --socket {address.port} --write "
                "(or yarpserver), or let the bridge run one (own_server=auto)",
                field="server",
            )
        self.server = NameServer(address.port, address.host, name=name_space(), threads=self.threads)
        self.server.on_complaint = self._complained
        try:
            self.server.start()
        except (BridgeError, OSError) as fault:
            self.server = None
            raise BridgeError(
                f"no name server answers at {address}, and none can be started there: {fault}. The address comes from "
                f"{'the option server' if options.server else 'the configuration of YARP'}",
                field="server",
            ) from None
        address = self.server.address
        if options.write:
            self._notes.append(f"written: {write_configuration(address)}")
        self._notes.append(
            f"name server started at {address}; programs of YARP find it after: yarp conf {address.host} {address.port}"
        )
        return NameClient(address)

    def publish(self, sample: Sample) -> None:
        """Queue what is due of this sample."""
        served = self.served
        writers = None if served is None else served.writers.get(sample.device)
        if not writers:
            return
        began = time.perf_counter_ns()
        for write in writers:
            write(sample)
        self._cost.spent_ns += time.perf_counter_ns() - began

    def tick(self, stamp_ns: int) -> None:
        """Queue the time, and count what the last step has paid."""
        began = time.perf_counter_ns()
        self._cost.end_step()
        if self.served is not None:
            for act in self.served.ticks:
                act(stamp_ns)
        self._cost.spent_ns += time.perf_counter_ns() - began

    def wait(self, timeout: float) -> bool:
        """Wait until a client has asked for a further step; without a limit unless the option step_timeout gives one.

        Meanwhile calls of clients are answered.
        """
        if self._gate is None or self._simulation is None:
            return True
        return self._gate.wait(self._simulation.serve)

    def release(self) -> None:
        """Let a waiting loop go on, because the run ends."""
        if self._gate is not None:
            self._gate.release()

    def stop(self) -> None:
        """Unregister and close every port, and join the threads."""
        self.release()
        self._interval.restore()
        if self.network is not None:
            if self.server is not None and self.server.dead:
                self.network.lost = "the thread of its own name server died"
            self.network.release()
        if self.server is not None:
            self.server.release()
        self.threads.close()
        self.threads.join(JOIN_TIMEOUT_S)
        if self.network is not None:
            self.network.free()
        if self.server is not None:
            self.server.free()

    @property
    def clock_port(self) -> str:
        """Port of the time: that of the option, else that of the robot's clock plugin, else ``/clock``; "" for none."""
        asked = self.options.clock
        if (
            asked == CLOCK
            and self.robot is not None
            and (interface := yarp_interface(self.robot.interface)) is not None
        ):
            asked = next((d.port for d in interface.devices if isinstance(d, ClockPort)), asked)
        return "/" + asked.strip("/") if asked.strip("/") else ""

    # ------------------------------------------------------------------ what is told
    def _complained(self, text: str) -> None:
        """Count and log a fault of the other side; one that repeats is logged once."""
        text = printable(text)
        self._complaints += 1
        if text != self._last_complaint:
            self._last_complaint = text
            _log.warning("%s", text)
        self.on_complaint(text)

    @property
    def addresses(self) -> dict[str, str]:
        """Message to the user: served item -> address."""
        if self.served is None or self.network is None:
            return {}
        return {
            f"{len(self.served.ports)} ports below /{self.served.name}": f"name server {self.network.names.address}"
        }

    @property
    def awaited(self) -> Sequence[str]:
        """The port at which a lock-step run waits for calls."""
        return (f"{self.clock_port}/rpc",) if self.lockstep else ()

    def health(self) -> dict[str, object]:
        """Return what was sent and received, what was dropped or refused, and what the loop paid for it."""
        own = {} if self.server is None else {f"server_{k}": v for k, v in self.server.health.items()}
        ports = {} if self.network is None else self.network.health()
        faults = int(ports.get("internal_faults", 0)) + int(own.get("server_internal_faults", 0))
        return {
            "name": "" if self.served is None else self.served.name,
            **ports,
            **own,
            "internal_faults": faults,
            "complaints": self._complaints,
            "last_complaint": self._last_complaint,
            **self._cost.health(),
        }

    def report(self) -> list[TopicReport]:
        """Return one row per port: name, type, direction, messages, their rate [Hz], who is connected."""
        if self.served is None:
            return []
        wall = max(1e-9, time.monotonic() - self._started)
        rows: list[TopicReport] = []
        for port, type_name, direction in self.served.ports:
            out = direction == "out"
            count = port.sent if out else port.received
            peers = list(port.outputs) if out else [c.sender for c in list(port.inputs.values()) if c.greeted]
            rows.append(
                {
                    "topic": port.name,
                    "type": type_name,
                    "direction": direction,
                    "count": count,
                    "rate": count / wall,
                    "peers": peers,
                }
            )
        return rows


def make(robot: Robot | Replayed | None, options: YarpOptions) -> YarpBridge:
    """Return the bridge of a robot, or of what is replayed; None where there is neither."""
    return YarpBridge(robot, options)

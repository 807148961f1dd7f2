"""The simulated biped for experiments, and a program that reaches it by the ports of YARP alone."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.errors import BridgeError
from pliant.base.numerics import Array

if TYPE_CHECKING:
    from pliant.model import Robot
    from pliant.model.noise import Noise
    from pliant.simulation import Pacer, Simulation
    from pliant.simulation.pose_track import PoseTrack
    from pliant.yarp.bridge.calls import RpcConnection
    from pliant.yarp.bridge.port import Port
    from pliant.yarp.client import InputPort, YarpNetwork
    from pliant.yarp.wire import Bottle
    from pliant.yarp.wire.joints import JointState

PARTS = ("torso", "left_arm", "right_arm", "left_leg", "right_leg")
WRENCH_PORT = "/biped/applyExternalWrench/rpc:i"
TIMEOUT_S = 120.0
"""Longest wait for a step, a message or an answer [s of wall time]; kernels may be compiled before the first."""
PERIOD = 0.0
"""Time between two messages of the bridge [s]; 0 for one each step."""
BATCH = 400
"""Most steps whose messages are left unread."""


def biped(
    *,
    timestep: float = 0.001,
    trajectory: str = "constant_speed",
    noise: dict[str, Noise] | None = None,
    load_noise: dict[str, Noise] | None = None,
) -> Robot:
    """Return the biped with torque motors, whose boards and sensors give a sample each step.

    Args:
        timestep: step of the physics [s].
        trajectory: generator of the boards.
        noise: fields of the inertial unit -> its noise.
        load_noise: fields of the force/torque sensors -> their noise.
    """
    from pliant.control_boards.description import ControlBoard
    from pliant.model import ForceTorque, Imu
    from pliant.robots.lookup import build_robot

    robot = build_robot("biped", {"actuation": "torque", "timestep": timestep})
    for i, device in enumerate(robot.devices):
        if isinstance(device, ControlBoard):
            robot.devices[i] = dataclasses.replace(device, sample_rate=0.0, trajectory=trajectory)
        elif isinstance(device, Imu):
            robot.devices[i] = dataclasses.replace(device, rate=0.0, **(noise or {}))
        elif isinstance(device, ForceTorque):
            robot.devices[i] = dataclasses.replace(device, rate=0.0, **(load_noise or {}))
    return robot


@dataclass(slots=True)
class World:
    """A simulation that is served, and the program's connections to it."""

    yarp: YarpNetwork
    """Ports of the program."""
    simulation: Simulation
    """The simulation, in another thread; the program's side uses the ports only."""
    faults: list[BaseException]
    """Exceptions that ended the run."""
    clock: RpcConnection
    """Calls of the clock."""

    def call(self, connection: RpcConnection, request: Bottle) -> Bottle:
        """Return the reply to a call.

        Raises:
            BridgeError: the port refused it.
        """
        from pliant.yarp.wire import Vocab, format_bottle

        reply = connection.call(request)
        if reply.items and reply[-1] in (Vocab.of("fail"), Vocab.of("nak")):
            raise BridgeError(f"{format_bottle(request)!r} was refused: {format_bottle(reply)}", field="rpc")
        return reply

    def step(self, count: int = 1) -> None:
        """Let the simulation take steps, and return when they are done."""
        from pliant.yarp.wire import bottle

        self.call(self.clock, bottle("stepSimulationAndWait", count))

    @property
    def time(self) -> float:
        """Simulation time, as the clock's port tells it [s]."""
        from pliant.yarp.wire import bottle
        from pliant.yarp.wire.values import number

        return number(self.call(self.clock, bottle("getSimulationTime"))[0])

    def push(self, link: str, force: Sequence[float], duration: float) -> None:
        """Push a link with a force in world axes [N] for a time [s]."""
        from pliant.yarp.wire import bottle

        with self.yarp.open_rpc(WRENCH_PORT) as connection:
            words = [float(x) for x in (*force, 0.0, 0.0, 0.0, duration)]
            reply = connection.call(bottle(link, *words))
        if "[ACK]" not in str(reply[0]):
            raise BridgeError(f"the push was refused: {reply[0]}", field="push")

    def reader(self, source: str) -> InputPort:
        """Return a port that receives what a source sends, every message."""
        port = self.yarp.open_input(f"/experiment{source}")
        self.yarp.connect(source, port.name)
        return port

    def measure(self, readers: dict[str, InputPort], steps: int) -> dict[str, Array]:
        """Take steps and return the received data, one row per step: the time of the message [s], then its numbers."""
        from pliant.yarp.wire.objects import floats

        rows: dict[str, list[Array]] = {name: [] for name in readers}
        left = steps
        while left:
            count = min(left, BATCH)
            self.step(count)
            for name, reader in readers.items():
                for _ in range(count):
                    message = reader.read(TIMEOUT_S)
                    stamp = np.nan if message.stamp is None else message.stamp.time
                    rows[name].append(np.array([stamp, *floats(message.content, name)]))
            left -= count
        return {name: np.array(found) for name, found in rows.items()}


class Board:
    """A control board at its ports, in dialect 3: degrees on the wire, radians here.

    Args:
        world: where it is.
        part: name of the part.
    """

    def __init__(self, world: World, part: str) -> None:
        self.world = world
        self.rpc = world.yarp.open_rpc(f"/biped/{part}/rpc:i", f"/experiment/{part}/rpc:o")
        self.states = world.yarp.open_input(f"/experiment/{part}/stateExt:i")
        world.yarp.connect(f"/biped/{part}/stateExt:o", self.states.name)
        self.stream: Port = world.yarp.open_output(f"/experiment/{part}/command:o")
        world.yarp.connect(self.stream.name, f"/biped/{part}/command:i")
        self.axes = int(str(self.call("[get] [axes]")[2]))

    def call(self, text: str) -> Bottle:
        """Return the reply to a call that is written as text."""
        from pliant.yarp.wire import parse_bottle

        return self.world.call(self.rpc, parse_bottle(text))

    def numbers(self, text: str) -> Array:
        """Return the list of numbers in the reply to a call."""
        from pliant.yarp.wire import Bottle
        from pliant.yarp.wire.objects import floats

        for item in self.call(text).items:
            if isinstance(item, Bottle):
                return floats(item, text)
        raise BridgeError(f"{text!r}: the reply has no list", field="rpc")

    def modes(self, control: str | Sequence[str], interaction: str | Sequence[str] = "stif") -> None:
        """Set control and interaction modes, of all axes or of each."""
        for call, modes in (("[icmd] [cmds]", control), ("[intm] [mods]", interaction)):
            names = [modes] * self.axes if isinstance(modes, str) else modes
            self.call(f"[set] {call} ({' '.join(f'[{name}]' for name in names)})")

    def move(self, target: Array, speed: Array | None = None) -> None:
        """Move to positions [rad] at speeds [rad/s]."""
        if speed is not None:
            self.call(f"[set] [vels] ({_text(np.degrees(speed))})")
        self.call(f"[set] [poss] ({_text(np.degrees(target))})")

    def references(self) -> Array:
        """Return the references of the position controllers [rad]."""
        return np.radians(self.numbers("[get] [pid] [refs] [pos]"))

    def command(self, quantity: str, values: Array) -> None:
        """Send a command as a stream, in the units of the wire."""
        from pliant.yarp.wire.joints import StreamCommand

        self.stream.write_bottle(StreamCommand(quantity=quantity, values=tuple(map(float, values))).encode(3))

    def set_impedance(self, stiffness: float, damping: float) -> None:
        """Set stiffness [N m/rad] and damping [N m s/rad] of all axes."""
        for j in range(self.axes):
            self.call(f"[set] [iimp] [ipr] {j} ({_text(np.radians([stiffness, damping]))})")

    def set_offsets(self, torques: Array) -> None:
        """Set the torques that are added to the impedance's [N m]."""
        for j, torque in enumerate(torques):
            self.call(f"[set] [iimp] [iof] {j} ({_text([torque])})")

    def read(self, count: int) -> list[JointState]:
        """Return the next states of `stateExt:o`."""
        from pliant.yarp.wire.joints import JointState

        return [JointState.decode(self.states.read(TIMEOUT_S).content) for _ in range(count)]

    def run(self, steps: int) -> list[JointState]:
        """Take steps and return the state after each."""
        states: list[JointState] = []
        while len(states) < steps:
            count = min(steps - len(states), BATCH)
            self.world.step(count)
            states += self.read(count)
        return states

    def close(self) -> None:
        """Close the connection for calls."""
        self.rpc.close()


def _text(values: Iterable[float]) -> str:
    return " ".join(f"{float(v):.17g}" if float(v) % 1.0 else f"{float(v):.1f}" for v in values)


@contextlib.contextmanager
def serve(
    robot: Robot, *, pacer: str | Pacer = "sync", lockstep: bool = True, seed: int = 0, track: PoseTrack | None = None
) -> Iterator[World]:
    """Simulate a robot in another thread with its ports on a name server of its own, and yield the program's side.

    Args:
        robot: the robot.
        pacer: of the simulation.
        lockstep: whether the simulation waits for the program's steps.
        seed: of the sensors' noise.
        track: what keeps the poses; None keeps none.
    """
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine
    from pliant.simulation import Simulation
    from pliant.yarp.bridge.bridge import YarpBridge
    from pliant.yarp.bridge.options import YarpOptions
    from pliant.yarp.client import YarpNetwork

    options = YarpOptions(server="127.0.0.1:0", period=PERIOD, lockstep=lockstep, queue=10_000)
    bridge = YarpBridge(robot, options)
    engine = MujocoEngine(robot, check=False)
    bridges = [bridge] if track is None else [track.watch(engine.model, engine.data), bridge]
    simulation = Simulation(engine, make_devices(robot), bridges, pacer=pacer, seed=seed)
    faults: list[BaseException] = []

    def work() -> None:
        try:
            simulation.run()
        except BaseException as fault:  # the program's side raises it
            faults.append(fault)

    thread = threading.Thread(target=work, name="pliant-experiment-simulation")
    with simulation:
        simulation.start()
        if not lockstep:
            simulation.pause()
        thread.start()
        try:
            assert bridge.server is not None
            with (
                YarpNetwork(str(bridge.server.address), timeout=TIMEOUT_S) as yarp,
                yarp.open_rpc("/clock/rpc", "/experiment/clock/rpc:o") as clock,
            ):
                world = World(yarp, simulation, faults, clock)
                if lockstep:
                    world.step()  # the first step is taken without a call; behind this nothing moves by itself
                yield world
        finally:
            simulation.stop()
            bridge.release()
            thread.join(TIMEOUT_S)
            if faults:
                raise faults[0]

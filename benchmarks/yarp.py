"""What the YARP bridge costs a step, and how long a call takes: 6 parts of 32 axes, 6 F/T, 4 IMU, one client on each;
then how long a call takes beside 500 readers that never read. Where icub-models is installed, also how much faster than
real time the iCub is on one core.

python benchmarks/yarp.py [seconds]

The time of a step is given three times. CPU is what the bridge computes on the loop's thread. The wall time contains
waiting for the interpreter, and whatever else the machine runs meanwhile: steps above 2 ms, which a quiet machine does
not have, are counted apart.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from typing import Any

import mujoco
import numpy as np

from pliant.base.errors import MissingDependency
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.robots.loading import load
from pliant.simulation import Simulation
from pliant.simulation.bridges import make_bridge

PARTS, AXES, WRENCHES, UNITS = 6, 32, 6, 4
SILENT = 500
"""Readers that never read."""

CALLS = """
import sys, threading, time
from pliant.yarp.client import YarpNetwork
from pliant.yarp.wire import parse_bottle
server, seconds = sys.argv[1], float(sys.argv[2])
def call_times(call, seconds):
    request, times, end = parse_bottle("[get] [axes]"), [], time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.perf_counter()
        call.call(request)
        times.append(1e6 * (time.perf_counter() - began))
        time.sleep(0.003)
    times.sort()
    p50, p99 = (times[len(times) * part // 100] for part in (50, 99))
    return f"{len(times)} calls: p50 {p50:.0f} us, p99 {p99:.0f} us, longest {times[-1]:.0f} us"
"""
"""What both clients share; their arguments begin with the name server and the time of the run [s]."""
CLIENT = """
names = sys.argv[3].split(",")
counts = {name: [] for name in names}
with YarpNetwork(server) as yarp:
    ports = []
    for k, name in enumerate(names):
        heard = counts[name]
        port = yarp.network.open(f"/reader/{k}", on_data=lambda a, h=heard: h.append(int(a.envelope.split()[0])))
        yarp.connect(name, port.name, "tcp")
    with yarp.open_rpc(sys.argv[4]) as call:
        times = call_times(call, seconds)
lost = sum(max(c) - min(c) + 1 - len(c) for c in counts.values() if c)
received = sum(map(len, counts.values()))
print(f"{times}; {received} messages, {lost} lost")
"""


def robot() -> Any:
    """Return a robot of 6 parts with 32 light axes each, 6 force/torque sensors and 4 inertial units."""
    from pliant.control_boards.description import add_control_boards
    from pliant.model import Robot
    from pliant.model.sensors import ForceTorque, Imu

    bodies, motors = "", ""
    for p in range(PARTS):
        for a in range(AXES):
            name = f"j{p}_{a}"
            bodies += (
                f'<body name="b{p}_{a}" pos="{p} {a} 1"><joint name="{name}" damping="1"/>'
                '<inertial pos="0 0 0" mass="0.1" diaginertia="0.01 0.01 0.01"/></body>'
            )
            motors += f'<motor joint="{name}"/>'
    text = f'<mujoco><option timestep="0.001"/><worldbody>{bodies}</worldbody><actuator>{motors}</actuator></mujoco>'
    made = Robot(mujoco.MjSpec.from_string(text))
    add_control_boards(made, {f"part{p}": [f"j{p}_{a}" for a in range(AXES)] for p in range(PARTS)})
    made.devices += [ForceTorque(name=f"ft{k}", body=f"b{k}_0", rate=100.0) for k in range(WRENCHES)]
    made.devices += [Imu(name=f"imu{k}", body=f"b{k}_1", rate=100.0) for k in range(UNITS)]
    return made


class StepTimes:
    """Wall and CPU time that a bridge takes of each step on the loop's thread."""

    def __init__(self, bridge: Any) -> None:
        self.wall: list[int] = []
        self.cpu: list[int] = []
        self._wall = self._cpu = 0
        publish, tick = bridge.publish, bridge.tick

        def timed(action: Any, argument: Any) -> None:
            wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
            action(argument)
            self._cpu += time.thread_time_ns() - cpu
            self._wall += time.perf_counter_ns() - wall

        def end_of_step(stamp_ns: int) -> None:
            timed(tick, stamp_ns)
            self.wall.append(self._wall)
            self.cpu.append(self._cpu)
            self._wall = self._cpu = 0

        bridge.publish = lambda sample: timed(publish, sample)
        bridge.tick = end_of_step

    def __str__(self) -> str:
        wall, cpu = np.array(self.wall) / 1e3, np.array(self.cpu) / 1e3
        usual = wall[wall < 2000.0]
        return (
            f"{cpu.mean():.0f} us of CPU a step, wall time mean {wall.mean():.0f} us, median {np.median(wall):.0f} us, "
            f"mean of the {100.0 * usual.size / wall.size:.1f} % of steps below 2 ms {usual.mean():.0f} us"
        )


def served(made: Any, outputs: list[str], call: str, options: str, seconds: float) -> None:
    """Run a robot in real time with a reader of each output and a caller, and print what it took."""
    bridge = make_bridge(f"yarp:server=127.0.0.1:0{options}", made)
    times = StepTimes(bridge)
    simulation = Simulation(MujocoEngine(made, check=False), make_devices(made), [bridge], pacer=1.0)
    with simulation:
        simulation.start()
        simulation.run(0.5)
        times.wall.clear()
        times.cpu.clear()
        client = subprocess.Popen(
            [sys.executable, "-c", CALLS + CLIENT, str(bridge.server.address), str(seconds), ",".join(outputs), call]
        )
        while client.poll() is None:
            simulation.run(0.5)
        health = bridge.health()
        pace = simulation.health()["pacer"]
    print(f"bridge: {times}; {health['dropped']} dropped; {pace.achieved_rtf:.3f} x real time")


SILENT_CLIENT = """
import resource, socket
from pliant.yarp.wire.connection import encode_number
output, rpc, readers = sys.argv[3], sys.argv[4], int(sys.argv[5])
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
listener = socket.create_server(("127.0.0.1", 0), backlog=readers)
kept = []
def accept():
    while True:
        connection, _ = listener.accept()
        if output.encode() in connection.recv(4096):
            kept.append(connection)
            connection.sendall(encode_number(listener.getsockname()[1]))
        else:  # asks what the reader understands
            connection.close()
threading.Thread(target=accept, daemon=True).start()
with YarpNetwork(server) as yarp, yarp.open_rpc(rpc) as call:
    print(f"no reader: {call_times(call, seconds / 2)}", flush=True)
    for k in range(readers):
        yarp.names.ask("register", f"/silent/{k}", "tcp", "127.0.0.1", str(listener.getsockname()[1]))
        yarp.connect(output, f"/silent/{k}", "tcp")
    print(f"{len(kept)} readers that never read (p99 at most 20 ms): {call_times(call, seconds / 2)}", flush=True)
"""


def silent_readers(seconds: float) -> None:
    """Print how long a call takes while hundreds of receivers of the same board's state read nothing."""
    bridge = make_bridge("yarp:server=127.0.0.1:0,name=bench,period=0.01", made := robot())
    with Simulation(MujocoEngine(made, check=False), make_devices(made), [bridge], pacer=1.0) as simulation:
        simulation.start()
        words = [str(bridge.server.address), str(seconds), "/bench/part0/stateExt:o", "/bench/part0/rpc:i", str(SILENT)]
        client = subprocess.Popen([sys.executable, "-c", CALLS + SILENT_CLIENT, *words])
        while client.poll() is None:
            simulation.run(0.5)
        print(f"{bridge.health()['dropped']} messages for them dropped")
    if client.returncode:
        raise SystemExit(client.returncode)


def icub(seconds: float) -> None:
    """Time the iCub of icub-models: physics, boards and sensors, bridge with two readers."""
    try:
        load("icub")
    except MissingDependency as missing:
        print(f"iCub: {missing}")
        return
    for what, devices in (("physics", False), ("6 boards and 9 sensors", True)):
        made = load("icub")
        with Simulation(MujocoEngine(made, check=False), make_devices(made) if devices else []) as simulation:
            simulation.run(0.5)
            began = time.process_time()
            simulation.run(5.0)
            spent = time.process_time() - began
        print(
            f"iCub, {what}: {spent / 5.0 * 1e3:.0f} us of CPU a step of 1 ms, {5.0 / spent:.1f} x real time on a core"
        )
    outputs = ["/icubSim/left_leg/stateExt:o", "/icubSim/left_leg/FT/measures:o"]
    served(load("icub"), outputs, "/icubSim/left_leg/rpc:i", "", seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", type=float, nargs="?", default=10.0, help="time of each run [s] (default: 10)")
    seconds = parser.parse_args().seconds
    outputs = [f"/bench/part{p}/stateExt:o" for p in range(PARTS)]
    outputs += [f"/bench/ft{k}/measures:o" for k in range(WRENCHES)]
    outputs += [f"/bench/imu{k}/measures:o" for k in range(UNITS)]
    served(robot(), outputs, "/bench/part0/rpc:i", ",name=bench,period=0.01", seconds)
    silent_readers(seconds)
    icub(seconds)


if __name__ == "__main__":
    main()

"""What the YARP bridge costs a step, and how long a call takes: 6 parts of 32 axes, 6 F/T, 4 IMU, one client on each.

python benchmarks/yarp.py [seconds]
"""

from __future__ import annotations

import subprocess
import sys

import mujoco

PARTS, AXES, WRENCHES, UNITS = 6, 32, 6, 4

CLIENT = """
import sys, threading, time
from pliant.clients.yarp import YarpNetwork
from pliant.wire.yarp import parse_bottle
server, seconds = sys.argv[1], float(sys.argv[2])
names = sys.argv[3].split(",")
counts = {name: [] for name in names}
with YarpNetwork(server) as yarp:
    ports = []
    for k, name in enumerate(names):
        heard = counts[name]
        port = yarp.network.open(f"/reader/{k}", on_data=lambda a, h=heard: h.append(int(a.envelope.split()[0])))
        yarp.connect(name, port.name, "tcp")
    with yarp.open_rpc("/bench/part0/rpc:i") as call:
        request = parse_bottle("[get] [axes]")
        times = []
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            began = time.perf_counter()
            call.call(request)
            times.append(time.perf_counter() - began)
            time.sleep(0.003)
times.sort()
lost = sum(max(c) - min(c) + 1 - len(c) for c in counts.values() if c)
p50, p99 = (1e6 * times[len(times) * part // 100] for part in (50, 99))
received = sum(map(len, counts.values()))
print(f"{len(times)} calls: p50 {p50:.0f} us, p99 {p99:.0f} us; {received} messages, {lost} lost")
"""


def robot() -> object:
    """Return a robot of 6 parts with 32 light axes each, 6 force/torque sensors and 4 inertial units."""
    from pliant.model import Robot
    from pliant.model.control_board import add_control_boards
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


def main() -> None:
    from pliant.bridges import make_bridge
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine
    from pliant.simulation import Simulation

    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    made = robot()
    bridge = make_bridge("yarp:server=127.0.0.1:0,name=bench,period=0.01", made)
    simulation = Simulation(MujocoEngine(made, check=False), make_devices(made), [bridge], pacer=1.0)
    with simulation:
        simulation.start()
        simulation.run(0.5)
        outputs = [f"/bench/part{p}/stateExt:o" for p in range(PARTS)]
        outputs += [f"/bench/ft{k}/measures:o" for k in range(WRENCHES)]
        outputs += [f"/bench/imu{k}/measures:o" for k in range(UNITS)]
        client = subprocess.Popen(
            [sys.executable, "-c", CLIENT, str(bridge.server.address), str(seconds), ",".join(outputs)]
        )
        while client.poll() is None:
            simulation.run(0.5)
        health = bridge.health()
        pace = simulation.health()["pacer"]
    print(f"bridge: {health['loop_us_per_step']:.0f} us a step mean, {health['dropped']} dropped, pacer {pace}")


if __name__ == "__main__":
    main()

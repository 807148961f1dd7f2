"""Nine servos on one line, driven by ROBOTIS' SDK at 500 Hz: sync write of goals, then sync read of positions.

python benchmarks/dynamixel.py [seconds [rate]]

The client is a process of its own that opens the pseudo-terminal. An error is any result of the SDK but success, or a
status packet with an error; the SDK waits 34 ms for an answer. A cycle is late if it begins more than one period after
its time, which says more about the machine than about the bridge. CPU is what the loop's thread computes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import threading
import time
from typing import Any

import mujoco

from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.model import Robot
from pliant.simulation import Simulation
from pliant.simulation.bridges import make_bridge

SERVOS = 9

CLIENT = """
import math, sys, time
from dynamixel_sdk import GroupSyncRead, GroupSyncWrite, PacketHandler, PortHandler
path, seconds, rate, servos = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
port, packets = PortHandler(path), PacketHandler(2.0)
assert port.openPort() and port.setBaudRate(1_000_000)
errors = late = 0
for k in range(1, servos + 1):
    while packets.write1ByteTxRx(port, k, 64, 1)[0] != 0:
        errors += 1
write = GroupSyncWrite(port, packets, 116, 4)
read = GroupSyncRead(port, packets, 132, 4)
for k in range(1, servos + 1):
    write.addParam(k, [0, 8, 0, 0])
    read.addParam(k)
times, begin = [], time.perf_counter()
for i in range(int(seconds * rate)):
    due = begin + i / rate
    while (now := time.perf_counter()) < due:
        time.sleep(max(0.0, due - now - 2e-4))
    late += now > due + 1.0 / rate
    goal = round(2048 + 200 * math.sin(6.28 * i / rate))
    for k in range(1, servos + 1):
        write.changeParam(k, list(goal.to_bytes(4, "little")))
    errors += write.txPacket() != 0
    errors += read.txRxPacket() != 0
    times.append(time.perf_counter() - now)
took = time.perf_counter() - begin
times.sort()
print(len(times), took, errors, late, *(1e3 * times[len(times) * part // 100] for part in (50, 99)), 1e3 * times[-1])
"""


def chain() -> Robot:
    """Return an arm of nine joints that takes positions."""
    body = ""
    for k in reversed(range(SERVOS)):
        body = (
            f'<body name="l{k}" pos="0 0 {0.05 if k else 0.5}"><joint name="j{k}" axis="0 {k % 2} {1 - k % 2}" '
            f'armature="0.005" damping="0.05"/><geom type="capsule" size="0.01" fromto="0 0 0 0 0 0.05" mass="0.02" '
            f'contype="0" conaffinity="0"/>{body}</body>'
        )
    motors = "".join(f'<position joint="j{k}" name="m{k}" kp="20" kv="0.4"/>' for k in range(SERVOS))
    text = f"<mujoco><worldbody>{body}</worldbody><actuator>{motors}</actuator></mujoco>"
    spec = mujoco.MjSpec.from_string(text)
    spec.option.timestep = 0.001
    return Robot(spec)


def measure(seconds: float, rate: float = 500.0) -> dict[str, Any]:
    """Run the client for some seconds and return what it counted, and what the loop computed."""
    robot = chain()
    bridge = make_bridge("dynamixel", robot)
    simulation = Simulation(MujocoEngine(robot, check=False), make_devices(robot), [bridge], pacer=1.0)
    cpu: list[float] = []

    def loop() -> None:
        began = time.thread_time()
        simulation.run()
        cpu.append(time.thread_time() - began)

    with simulation:
        simulation.start()
        thread = threading.Thread(target=loop, name="loop")
        thread.start()
        try:
            done = subprocess.run(
                [sys.executable, "-c", CLIENT, bridge.addresses["Dynamixel"], str(seconds), str(rate), str(SERVOS)],
                capture_output=True, text=True, check=False, timeout=20.0 * seconds + 60.0,
            )  # fmt: skip
        finally:
            simulation.stop()
            thread.join()
        if done.returncode:
            raise SystemExit(done.stderr)
        cycles, took, errors, late, p50, p99, worst = map(float, done.stdout.split())
        return {
            "cycles": int(cycles),
            "rate": cycles / took,
            "errors": int(errors) + bridge.health()["rejected"],
            "late": int(late),
            "p50_ms": p50,
            "p99_ms": p99,
            "worst_ms": worst,
            "cpu": cpu[0] / max(simulation.time, 1e-9),
            "dropped": bridge.health()["dropped"],
        }


def main() -> None:
    """Print one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", type=float, nargs="?", default=10.0, help="time of the run [s] (default: 10)")
    parser.add_argument("rate", type=float, nargs="?", default=500.0, help="cycles a second [Hz] (default: 500)")
    given = parser.parse_args()
    m = measure(given.seconds, given.rate)
    print(
        f"{SERVOS} servos, sync write and sync read: {m['cycles']} cycles at {m['rate']:.0f} Hz, {m['errors']} errors, "
        f"{m['dropped']} dropped, {m['late']} late; a cycle p50 {m['p50_ms']:.2f}, p99 {m['p99_ms']:.2f}, "
        f"worst {m['worst_ms']:.1f} ms; loop {100 * m['cpu']:.0f} % of a core"
    )


if __name__ == "__main__":
    main()

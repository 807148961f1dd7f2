"""Measure what pliant promises of the Franka arms: the interface in lock-step and on the wall clock, and the dynamics.

    python benchmarks/franka.py                all
    python benchmarks/franka.py lockstep wall  some
    python benchmarks/franka.py --json         for programs

The client is pylibfranka, an unmodified wheel, in this process; the server is a process of its own, once as a
simulation in a script and once as `pliant run fr3 --bridge fci`. Without pylibfranka only the dynamics are measured.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

FIELDS = (
    "q dq q_d dq_d tau_J tau_J_d dtau_J theta O_T_EE O_T_EE_d O_T_EE_c elbow tau_ext_hat_filtered O_F_ext_hat_K "
    "K_F_ext_hat_K joint_contact cartesian_contact"
)
"""What of a state is hashed."""


@dataclass
class Figure:
    """One measured figure."""

    name: str
    value: float
    unit: str
    target: str
    met: bool | None
    note: str = ""


@dataclass
class Server:
    """A running server and, after its end, what it said."""

    host: str
    report: dict[str, Any] = field(default_factory=dict)
    cpu_s: float = 0.0


_number = 0


@contextlib.contextmanager
def server(*, product: bool = False, mode: str = "lockstep", only: str = "") -> Iterator[Server]:
    """Serve an FR3 with hand and friction from a process of its own."""
    global _number
    _number += 1
    made = Server(f"127.{30 + os.getpid() % 200}.{_number}.1")
    if product:
        command = ["-m", "pliant", "run", "fr3", "--json", "--bridge", f"fci:host={made.host},mode={mode}"]
    else:
        command = [__file__, "--serve", made.host, mode, only] if only != "echo" else [__file__, "--echo", made.host]
    child = subprocess.Popen([sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdin is not None
    assert child.stdout is not None
    until = time.monotonic() + 120.0
    while True:
        try:
            socket.create_connection((made.host, 1337), timeout=1.0).close()
            break
        except OSError:
            if child.poll() is not None or time.monotonic() > until:
                sys.exit(f"no server: {child.stdout.read()}")
            time.sleep(0.05)
    before = cpu(child.pid)
    try:
        yield made
    finally:
        made.cpu_s = cpu(child.pid) - before
        if product:
            child.terminate()
        child.stdin.close()
        said = child.stdout.read()
        child.wait(30)
        with contextlib.suppress(ValueError, IndexError):
            made.report = json.loads(said.strip().splitlines()[-1])


def serve(host: str, mode: Any, *more: str) -> None:
    """Be the script: serve the robot that `pliant run fr3` serves, until the input closes; print the counters."""
    import pliant
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine
    from pliant.franka.bridge import FciBridge, FciOptions
    from pliant.papers.arms.franka_server import run_until_input_closes
    from pliant.simulation import Simulation

    robot = pliant.load("fr3")
    bridge = FciBridge(FciOptions(host=host, mode=mode, command_timeout=60.0))
    with Simulation(MujocoEngine(robot), make_devices(robot), [bridge]) as simulation:
        simulation.start()
        split = part_times(simulation, bridge) if "split" in more else {}
        found = run_until_input_closes(simulation, bridge)
        parts = {name: float(sum(np.median(log) for log in logs)) / 1e3 for name, logs in split.items()}
        print(json.dumps(found | {"parts_us": parts}))


def part_times(simulation: Any, bridge: Any) -> dict[str, list[list[int]]]:
    """Log how long each call of the parts of a cycle takes [ns]: physics, cabinet, packing, sockets."""

    def log(owner: Any, name: str) -> list[int]:
        call, times, clock = getattr(owner, name), [], time.perf_counter_ns

        def timed(*values: Any) -> Any:
            began = clock()
            try:
                return call(*values)
            finally:
                times.append(clock() - began)

        setattr(owner, name, timed)
        return times

    from pliant.franka.bridge.sockets import Connection
    from pliant.franka.wire import fci

    cabinet = bridge.arms[0].cabinet
    return {
        "physics": [log(simulation, "_engine_step")],
        "cabinet": [log(cabinet, "control"), log(cabinet, "observe")],
        "packing": [log(fci.StatePacker, "pack"), log(fci.CommandUnpacker, "unpack")],
        "sending": [log(Connection, "send_datagram")],
    }


def echo(host: str) -> None:
    """Be a server that does nothing: it answers each command with the next state, always the same but for its number.

    What a client reaches here, it reaches with no server in Python faster than this one.
    """
    import pliant
    from pliant.franka.wire import fci

    listener = socket.create_server((host, 1337))
    packer, unpacker, state = fci.StatePacker(10), fci.CommandUnpacker(10), fci.RobotState()
    for name in ("O_T_EE", "O_T_EE_d", "O_T_EE_c", "F_T_EE", "EE_T_K", "F_T_NE", "NE_T_EE"):
        state.matrix(name)[:] = np.eye(4)
    state.O_ddP_O[2] = -9.81
    tcp = listener.accept()[0]
    while not (data := tcp.recv(4096)):  # the first connection only looks whether the server is there
        tcp.close()
        tcp = listener.accept()[0]
    framer, version = fci.Framer("robot"), None
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind((host, 0))

    def answer(number: int, command: str, status: str, payload: bytes = b"") -> None:
        given = fci.Response(command=command, command_id=number, status=status, payload=payload)
        tcp.sendall(fci.encode_response(given, version=10))

    def publish() -> None:
        state.message_id += 1
        udp.send(packer.pack(state))

    move = None
    while data:
        for frame in framer.feed(data):
            request = fci.decode_request(frame, version=version)
            if isinstance(request, fci.Connect):
                version = 10
                udp.connect((tcp.getpeername()[0], request.udp_port))
                answer(frame.command_id, "Connect", "success", (10).to_bytes(2, "little"))
            elif isinstance(request, fci.GetRobotModel):
                answer(frame.command_id, "GetRobotModel", "success", pliant.load("fr3").devices[0].urdf.encode())
            elif isinstance(request, fci.Move):
                move = frame.command_id
                answer(move, "Move", "started")
                state.controller_mode, state.motion_generator_mode = request.controller, request.motion_generator + 1
                state.robot_mode, state.success_rate = fci.RobotMode.MOVE, 1.0
        udp.settimeout(0.001)
        tcp.setblocking(False)
        data = b"."
        while data == b".":
            publish()
            while move is not None:
                try:
                    command = unpacker.unpack(udp.recv(2048))
                except TimeoutError:
                    break  # the client has not begun yet
                if command.torque_command_finished or command.motion_generation_finished:
                    state.controller_mode, state.motion_generator_mode = fci.ControllerMode.OTHER, 0
                    state.robot_mode = fci.RobotMode.IDLE
                    publish()
                    answer(move, "Move", "success")
                    move = None
                    break
                udp.settimeout(1.0)
                publish()
            try:
                data = tcp.recv(4096)
            except BlockingIOError:
                time.sleep(0.0 if move is not None else 0.001)
        tcp.setblocking(True)


def cpu(pid: int) -> float:
    """Return the processor time of a process [s]."""
    parts = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()  # noqa: PTH123, SIM115
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


def torque_loop(host: str, seconds: float, *, digest: bool = False, sway: bool = False) -> dict[str, Any]:
    """Run a torque motion as the vendor's examples do; return rates, losses and a hash of every state."""
    import pylibfranka as f

    robot = f.Robot(host, f.RealtimeConfig.kIgnore)
    for _ in range(20):
        robot.read_once()
    control = robot.start_torque_control()
    torque, hashed, names = np.zeros(7), hashlib.sha256(), FIELDS.split()
    t, cycles, lowest, jumps = 0.0, 0, 1.0, 0
    stamps = []
    began = time.perf_counter()
    while t < seconds:
        state, period = control.readOnce()
        step = period.to_sec()
        t += step
        cycles += 1
        jumps += step > 0.00101
        lowest = min(lowest, state.control_command_success_rate)
        if sway:
            torque[:] = 0.3 * np.cos(5.0 * t) * np.array([1, 1, 1, 1, 0.2, 0.2, 0.05])
        if digest:
            for name in names:
                hashed.update(np.asarray(getattr(state, name), float).tobytes())
        given = f.Torques(torque.tolist())
        given.motion_finished = t >= seconds
        control.writeOnce(given)
        stamps.append(time.perf_counter())
    took = time.perf_counter() - began
    return {
        "factor": t / took,
        "cycles": cycles,
        "lowest": lowest,
        "jumps": jumps,
        "hash": hashed.hexdigest(),
        "periods_us": np.diff(stamps) * 1e6,
    }


def bench_lockstep(seconds: float) -> list[Figure]:
    """A torque loop in Python, as fast as it goes, and the server's part in it."""
    figures = []
    for product, what in ((False, "a script"), (True, "pliant run fr3 --bridge fci")):
        with server(product=product) as made:
            torque_loop(made.host, 0.5)
            before = time.perf_counter()
            found = torque_loop(made.host, seconds)
            wall = time.perf_counter() - before
        p = np.percentile(found["periods_us"], (50, 99))
        note = (
            f"{found['cycles']} cycles, period p50 {p[0]:.0f} p99 {p[1]:.0f} us, lowest success rate {found['lowest']}"
        )
        factor = found["factor"]
        figures.append(Figure(f"lock-step torque loop, {what}", factor, "x real time", ">= 9", factor >= 9.0, note))
        jumps = found["jumps"]
        figures.append(Figure(f"states missed, {what}", jumps, "", "0", jumps == 0))
        if product:
            # the processor's time, sockets and waiting included; start and idle streaming are a small part of it
            share = made.cpu_s / max(found["cycles"] + 500 + 1000 * (wall - seconds / factor), 1) * 1e6
            figures.append(Figure(f"processor time a cycle, {what}", share, "us", "", None, "whole process"))
        else:
            work = made.report["work_us"]
            note = f"p90 {work[1]} p99 {work[2]} us: physics, control, packing, sending; of {found['cycles']} cycles"
            figures.append(Figure("server's work a cycle, median", work[0], "us", "<= 40", work[0] <= 40.0, note))
            lost = sum(made.report["arms"][0][name] for name in ("lost", "timeouts", "malformed"))
            figures.append(Figure("commands lost, late or malformed", lost, "", "0", lost == 0))
    return figures


def bench_share(seconds: float) -> list[Figure]:
    """Where a cycle's time goes: in the server by parts, and in the client against a server that does nothing."""
    figures = []
    with server(only="split") as made:
        torque_loop(made.host, seconds)
    for name, value in made.report["parts_us"].items():
        figures.append(Figure(f"server's median a cycle, {name}", value, "us", "", None))
    rest = made.report["work_us"][0] - sum(made.report["parts_us"].values())
    figures.append(Figure("server's median a cycle, the rest: loop, device, bridge", rest, "us", "", None))
    with server(only="echo") as made:
        before = time.process_time()
        found = torque_loop(made.host, seconds)
        share = 1e6 * (time.process_time() - before) / found["cycles"]
    note = "connecting included; above 111 us no server reaches 9 x real time"
    figures.append(Figure("pylibfranka's processor time a cycle", share, "us", "", None, note))
    what = "pylibfranka against a server that only counts states"
    figures.append(Figure(what, found["factor"], "x real time", "", None))
    return figures


def bench_repeat(seconds: float) -> list[Figure]:
    """Two runs of the same motion against two fresh servers: every byte of every state."""
    seen = []
    for product in (False, False, True, True):
        with server(product=product) as made:
            seen.append(torque_loop(made.host, seconds, digest=True, sway=True)["hash"])
    figures = []
    for what, (a, b) in (("a script", seen[:2]), ("pliant run fr3 --bridge fci", seen[2:])):
        note = f"{a[:16]} {b[:16]}"
        figures.append(Figure(f"two runs give the same states, {what}", float(a == b), "", "1", a == b, note))
    same = seen[0] == seen[2]
    figures.append(Figure("a script and pliant run give the same states", float(same), "", "1", same))
    return figures


def bench_wall(seconds: float) -> list[Figure]:
    """The same loop at the wall clock's 1 kHz, where a late command is lost as on the robot."""
    with server(mode="wall") as made:
        torque_loop(made.host, 0.2)
        found = torque_loop(made.host, seconds)
    p = np.percentile(found["periods_us"], (1, 50, 99, 99.9))
    rate = 1000.0 * found["factor"]
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    note = f"period p1 {p[0]:.0f} p50 {p[1]:.0f} p99 {p[2]:.0f} p99.9 {p[3]:.0f} max {found['periods_us'].max():.0f} us"
    return [
        Figure("wall clock, cycles of the robot", rate, "Hz", "", None, note),
        Figure("lowest success rate over 100 commands", found["lowest"], "", "", None, f"load average {load:.1f}"),
        Figure(
            "commands lost",
            made.report["arms"][0]["lost"],
            "",
            "",
            None,
            f"of {found['cycles']}, {made.report['arms'][0]['late']} late",
        ),
        Figure("states that the client missed", found["jumps"], "", "", None),
    ]


def bench_dynamics(_: float) -> list[Figure]:
    """Calls of the dynamics library from Python, with hand."""
    from pliant.papers.franka_float import call_times

    targets = {"mass": (10, 1), "coriolis": (15, 3), "gravity": (10, 1), "friction": (None, None)}
    figures = []
    for name, times in call_times().items():
        for value, target, what in zip(times, targets[name], ("one call", "each of 2000 states"), strict=True):
            us = value * 1e6
            text, met = ("", None) if target is None else (f"<= {target}", us <= target)
            figures.append(Figure(f"{name}, {what}", us, "us", text, met))
    return figures


BENCHES = {
    "dynamics": bench_dynamics,
    "lockstep": bench_lockstep,
    "share": bench_share,
    "repeat": bench_repeat,
    "wall": bench_wall,
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("which", nargs="*", choices=[*BENCHES, []], help="default: all")
    parser.add_argument("--seconds", type=float, default=5.0, help="robot time of a loop")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--serve", nargs="+", metavar="HOST MODE", help="be the script that serves an arm")
    parser.add_argument("--echo", metavar="HOST", help="be a server that does nothing but count states")
    parser.add_argument("--client", metavar="HOST", help="be pylibfranka: one torque motion at a server, as JSON")
    options = parser.parse_args()
    if options.serve:
        serve(*options.serve)
        return
    if options.echo:
        echo(options.echo)
        return
    if options.client:
        found = torque_loop(options.client, options.seconds)
        p50, p99 = np.percentile(found.pop("periods_us"), (50, 99))
        print(json.dumps(found | {"p50_us": p50, "p99_us": p99}))
        return
    which = options.which or list(BENCHES)
    if importlib.util.find_spec("pylibfranka") is None:
        print("pylibfranka is not installed: only the dynamics are measured", file=sys.stderr)
        which = [name for name in which if name == "dynamics"]
    figures: list[Figure] = []
    for name in which:
        measured = BENCHES[name](options.seconds)
        figures += measured
        if not options.json:
            for f in measured:
                mark = {True: "met", False: "MISSED", None: ""}[f.met]
                value = f"{f.value:9.3g} {f.unit}"
                print(f"{f.name:<66} {value:<22} target {f.target:<8} {mark:<7} {f.note}", flush=True)
    if options.json:
        print(json.dumps([asdict(f) for f in figures], indent=2, default=float))


if __name__ == "__main__":
    main()

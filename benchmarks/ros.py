"""What the ROS bridges cost and lose: five joints, aggregated topics at 1 kHz, joints at 100 Hz, real peers.

Prints, for ROS 1 (roscore and rospy) and for ROS 2 (nobody, rclpy of Jazzy and Kilted, Fast DDS): messages sent and
received, the loop's time for the bridge a step, the rate of the loop, the lock-step's speed and latency. Needs what
conformance/ros needs.

    python benchmarks/ros.py [SECONDS]
"""

import argparse
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "conformance" / "ros"))
import real  # noqa: E402


def run_robot(bridge, seconds, env, *arguments):
    return real.pliant(
        ["run", "qbmove-5dof", "--bridge", bridge, "--duration", seconds, "--no-check", "--json", *arguments], env
    )


def row(what, measured, wanted=""):
    print(f"  {what:<58} {measured:>22}   {wanted}", flush=True)


def loop(said, name, limit):
    bridge, pacer = said["health"]["bridges"][name], said["health"]["pacer"]
    row("loop time for the bridge, mean a step", f"{bridge['loop_us_per_step']:.1f} us", f"<= {limit} us")
    row(
        "loop time for the bridge, longest step",
        f"{bridge['loop_us_worst']:.0f} us",
        "<= 1000 us (the scheduler's too)",
    )
    row("rate of the loop", f"{1000 * pacer['achieved_rtf']:.2f} Hz", "1000 +- 1 Hz")
    row("late steps; worst lag", f"{pacer['late_steps']}; {1e3 * pacer['worst_lag']:.2f} ms")
    row("dropped by the bridge", str(bridge["dropped"]), "0")


def ros1(seconds):
    print(f"ROS 1: roscore and rospy, {seconds:g} s")
    for label, options in (("default rates", ()), ("every topic on every step", ("--joint-rate", "1000"))):
        print(f" {label}")
        length = seconds if not options else min(seconds, 15)
        # A master of its own: once pliant has set use_sim_time, rospy keeps only the newest message of /clock.
        core = real.Roscore()
        try:
            process = run_robot("ros1:aggregate_rate=1000", length, core.env, *options)
            got = real.ros1_step(core, "count_all", "qbmove_5dof", "-", timeout=length + 120)
            said = json.loads(real.finish(process, length + 60))
        finally:
            core.close()
        sent = {r["topic"]: r["count"] for r in said["served"]["ros1"] if r["topic"] in got}
        lost = sum(sent.values()) - sum(got.values())
        row(f"messages to rospy on {len(got)} topics", f"{sum(got.values())} of {sum(sent.values())}")
        row("messages lost", str(lost), "0")
        loop(said, "ros1", 200)
    core = real.Roscore()
    try:
        factors, digests = [], set()
        for _ in range(2):
            echo = real.Program([sys.executable, ROOT / "benchmarks" / "ros1_echo.py", "qbmove_5dof", 5], core.env)
            floor = real.ros1_step(core, "lock_step", "qbmove_5dof", "-", 4.9, 5)
            echo.close()
            process = run_robot("ros1:sync=reference_1,aggregate_rate=1000", 5, core.env)
            found = real.ros1_step(core, "lock_step", "qbmove_5dof", "-", 4.9, 5)
            process.kill()
            process.communicate()
            factors.append(found["rtf"])
            for what, times in (("an echo of made bytes", floor), ("pliant", found)):
                row(
                    f"command to state, rospy with {what}, p10 p50 p99",
                    " ".join(f"{times[f'p{part}_us']:.0f}" for part in (10, 50, 99)) + " us",
                    "" if times is floor else "p99 <= 1500",
                )
            row(
                "ratio of pliant to the echo, p10 p50 p99",
                " ".join(f"{found[f'p{part}_us'] / floor[f'p{part}_us']:.1f}" for part in (10, 50, 99)),
            )
            digests.add(found["digest"])
        row("lock-step with an rospy controller, x real time", " ".join(f"{f:.2f}" for f in factors), ">= 1.5")
        row("states of two lock-step runs", "identical" if len(digests) == 1 else "DIFFERENT", "identical")
    finally:
        core.close()


PROCESSOR_TIME = """
import sys, time, types
import pliant.ros.bridge.bridge as bridge
bridge.time = types.SimpleNamespace(**{**vars(time), "perf_counter_ns": time.thread_time_ns})
from pliant.cli import main
sys.exit(main())
"""
"""Runs pliant so that the loop time of a bridge of ROS is processor time of the loop's thread."""


def processor_time(bridge):
    """Return what the loop pays for a bridge in processor time, mean a step [us]; other programs do not count."""
    words = ["run", "qbmove-5dof", "--bridge", bridge, "--duration", 6, "--no-check", "--json"]
    said = json.loads(real.finish(real.Program([sys.executable, "-c", PROCESSOR_TIME, *words]), 70))
    return next(iter(said["health"]["bridges"].values()))["loop_us_per_step"]


def ros2_alone():
    print("ROS 2: five joints, robot-wide topics at 1 kHz, nobody listens")
    said = json.loads(real.finish(run_robot("ros2:aggregate_rate=1000,domain=70", 10, {}), 70))
    loop(said, "ros2", 60)
    times = sorted(processor_time("ros2:aggregate_rate=1000,domain=70") for _ in range(3))
    row(
        "processor time of the loop for the bridge, three runs", " ".join(f"{t:.1f}" for t in times) + " us", "<= 60 us"
    )


def ros2_rclpy(distro, domain):
    """Count what rclpy sends and receives, and how soon it finds pliant."""
    python, why = real.rclpy_python(distro)
    if python is None:
        print(f"ROS 2 with rclpy of {distro} is not measured: {why}")
        return
    print(f"ROS 2: rclpy of {distro}")
    env = {**real.clean_env(), "ROS_DOMAIN_ID": str(domain)}

    def start(*arguments):
        return real.Program([python, real.FOLDER / "ros2_rclpy_steps.py", *arguments], env)

    def said_by(program):
        out = real.finish(program, 150)
        return json.loads(next(line for line in out.splitlines() if line.startswith("RESULT "))[7:])

    count = 12_000
    process = run_robot(f"ros2:aggregate_rate=1000,tf=false,domain={domain}", 32, {})
    heard, sent = start("count_states", "qbmove_5dof", count), start("send_references", "qbmove_5dof", 5, count)
    found = said_by(heard)
    row("states to rclpy: received, missing", f"{found['received']}, {found['missing']}", f"{count}, 0")
    said_by(sent)
    said = json.loads(real.finish(process, 90))
    received = said["health"]["bridges"]["ros2"]["received"]
    row("references from rclpy: sent, received", f"{count}, {received}", "equal")
    loop(said, "ros2", 60)
    process = run_robot(f"ros2:domain={domain}", 60, {})
    real.until(lambda: "name space" in process.text("err"), "pliant serves")
    row("a default node has its first /clock after", f"{said_by(start('find', '/clock'))['seconds']:.3f} s", "<= 1 s")
    process.close()


def ros2(seconds):
    print(f"ROS 2: Fast DDS, {seconds:g} s")
    with tempfile.TemporaryDirectory() as folder:
        peer = Path(folder) / "peer"
        source = ROOT / "conformance" / "ros" / "peer.cpp"
        subprocess.run(["g++", "-std=c++17", "-O2", source, "-o", peer, "-lfastrtps", "-lfastcdr"], check=True)

        def start(domain, *arguments):
            return subprocess.Popen([peer, str(domain), *map(str, arguments)], stdout=subprocess.PIPE, text=True)

        def said_by(process):
            return json.loads(process.communicate(timeout=seconds + 90)[0])

        count = int(1000 * (seconds - 4))
        state = ("rt/qbmove_5dof/robot_state", "sensor_msgs::msg::dds_::JointState_")
        listeners = [
            start(71, "listen", *state, count, seconds + 20),
            start(71, "listen", "rt/joint_states", state[1], count, seconds + 20),
            start(71, "listen", "rt/clock", "rosgraph_msgs::msg::dds_::Clock_", count, seconds + 20),
        ]
        process = run_robot("ros2:aggregate_rate=1000,domain=71", seconds, {})
        time.sleep(5.0)  # discovery is over: what is counted is the wire
        listeners.append(start(71, "send", "rt/qbmove_5dof/reference_1", 5, int(1000 * (seconds - 8)), 1000))
        said = json.loads(real.finish(process, seconds + 60))
        results = [said_by(listener) for listener in listeners]
        for name, found in zip(("robot_state", "joint_states", "clock"), results[:3], strict=True):
            row(f"{name} to Fast DDS: received, lost", f"{found['received']}, {found['missing']}", "0 lost")
        heard = said["health"]["bridges"]["ros2"]["received"]
        row("commands from Fast DDS: sent, received", f"{results[3]['sent']}, {heard}", "equal")
        loop(said, "ros2", 60)
        digests = set()
        for k in range(2):
            process = run_robot(f"ros2:sync=reference_1,aggregate_rate=1000,tf=false,domain={72 + k}", 5, {})
            drive = start(72 + k, "drive", state[0], "rt/qbmove_5dof/reference_1", 5, 4900)
            found = said_by(drive)
            process.kill()
            process.communicate()
            digests.add(found["digest"])
            row(
                "command to state in lock-step, p50 p99",
                f"{found['p50_us']:.0f} us {found['p99_us']:.0f} us",
                "p50 <= 400",
            )
            row("lock-step with a C++ controller, x real time", f"{found['rtf']:.2f}")
        row("states of two lock-step runs", "identical" if len(digests) == 1 else "DIFFERENT", "identical")


def zenoh(seconds):
    print(f"zenoh: eclipse-zenoh as a node of rmw_zenoh, {seconds:g} s")

    def start(what, port, domain, number):
        words = [sys.executable, ROOT / "benchmarks" / "zenoh_peer.py", what, port, domain, "qbmove_5dof", 5, number]
        return subprocess.Popen([*map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)

    def said_by(process):
        return json.loads(process.communicate(timeout=seconds + 90)[0])

    port = real.free_port()
    listener = start("count", port, 71, seconds - 6)
    process = run_robot(f"zenoh:mode=router,listen=tcp/127.0.0.1:{port},aggregate_rate=1000,domain=71", seconds, {})
    said = json.loads(real.finish(process, seconds + 60))
    found = said_by(listener)
    for topic, item in found["heard"].items():
        row(f"{topic}: received, lost", f"{item['received']}, {item['missing']}", "0 lost")
    bridge = said["health"]["bridges"]["zenoh"]
    row("commands: sent, received", f"{found['sent']}, {bridge['received']}", "equal")
    loop(said, "zenoh", 50)
    digests = set()
    for domain in (72, 73):
        port = real.free_port()
        address = f"mode=router,listen=tcp/127.0.0.1:{port}"
        process = run_robot(f"zenoh:{address},sync=reference_1,aggregate_rate=1000,tf=false,domain={domain}", 5, {})
        found = said_by(start("drive", port, domain, 4900))
        process.kill()
        process.communicate()
        digests.add(found["digest"])
        row(
            "command to state in lock-step (Python), p50 p99",
            f"{found['p50_us']:.0f} us {found['p99_us']:.0f} us",
        )
        row("lock-step with a Python controller, x real time", f"{found['rtf']:.2f}")
    row("states of two lock-step runs", "identical" if len(digests) == 1 else "DIFFERENT", "identical")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", type=float, nargs="?", default=60.0, help="time of each run [s] (default: 60)")
    seconds = parser.parse_args().seconds
    if real.rospy_python() is None:
        print(f"ROS 1 is not measured: no interpreter has rospy; type: {real.INSTALL}")
    else:
        ros1(seconds)
    ros2_alone()
    for domain, distro in enumerate(real.RCLPY_VARIABLES, start=75):
        ros2_rclpy(distro, domain)
    if shutil.which("g++") is None or not Path("/usr/include/fastdds").exists():
        print("ROS 2 with Fast DDS is not measured; type: apt-get install --no-install-recommends libfastrtps-dev g++")
    else:
        ros2(seconds)
    if importlib.util.find_spec("zenoh") is None:
        print("zenoh is not measured; type: pip install 'pliant[zenoh]'")
    else:
        zenoh(seconds)


if __name__ == "__main__":
    main()

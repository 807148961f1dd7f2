"""Serve one arm in MuJoCo for a conformance test: prints READY, serves until its input closes, prints its health."""

import argparse
import json
import sys
import threading

import numpy as np

from pliant.robots.franka.build import Mount
from pliant.robots.franka.parameters import arm as arm_of
from pliant.robots.franka.serve import server as make_server

parser = argparse.ArgumentParser()
parser.add_argument("--host", default="127.0.0.1")
parser.add_argument("--second-host", help="a second arm on the other side of a torso")
parser.add_argument("--arm", default="fr3")
parser.add_argument("--mode", default="lockstep")
parser.add_argument("--command-timeout", type=float, default=0.2)
parser.add_argument("--priority", type=int)
options = parser.parse_args()

kind = arm_of(options.arm)
mounts, hosts = (Mount(arm=kind),), (options.host,)
if options.second_host:
    left = Mount(name="left", arm=kind, position=(0.0, 0.3, 1.0), rpy=(-0.8, 0.0, 0.0))
    right = Mount(name="right", arm=kind, position=(0.0, -0.3, 1.0), rpy=(0.8, 0.0, 0.0))
    mounts, hosts = (left, right), (options.host, options.second_host)
server = make_server(
    mounts,
    hosts=hosts,
    mode=options.mode,
    command_timeout=options.command_timeout,
    priority=options.priority,
)
cabinet = server.arms[0].cabinet
server.open()
print("READY", flush=True)
over = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
moving: list[float] = []


def until() -> bool:
    if cabinet.awaits_command:
        moving.append(server.work_s)
    return over.is_set()


server.run(until=until)
server.close()
arms = server.health()["arms"]
health = arms[0] | {"arms": arms}
if moving:
    work = np.array(moving) * 1e6
    health["work_us"] = {f"p{p}": round(float(np.percentile(work, p)), 1) for p in (50, 90, 99)}
print(json.dumps(health), flush=True)

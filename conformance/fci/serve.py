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
parser.add_argument("--arm", default="fr3")
parser.add_argument("--mode", default="lockstep")
parser.add_argument("--command-timeout", type=float, default=0.2)
parser.add_argument("--priority", type=int)
options = parser.parse_args()

server = make_server(
    (Mount(arm=arm_of(options.arm)),),
    hosts=(options.host,),
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
health = server.health()["arms"][0]
if moving:
    work = np.array(moving) * 1e6
    health["work_us"] = {f"p{p}": round(float(np.percentile(work, p)), 1) for p in (50, 90, 99)}
print(json.dumps(health), flush=True)

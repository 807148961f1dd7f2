"""Serve one arm in MuJoCo for a conformance test: prints READY, serves until its input closes, prints its health."""

import argparse
import json
import sys
import threading

import numpy as np

from pliant.bridges.fci import ArmServer, FciServer
from pliant.robots.franka.build import Mount, MujocoPlant
from pliant.robots.franka.controller import Cabinet, Gripper, Settings
from pliant.robots.franka.model_library import build_library
from pliant.robots.franka.parameters import arm as arm_of
from pliant.robots.franka.urdf import urdf

parser = argparse.ArgumentParser()
parser.add_argument("--host", default="127.0.0.1")
parser.add_argument("--arm", default="fr3")
parser.add_argument("--mode", default="lockstep")
parser.add_argument("--command-timeout", type=float, default=0.2)
parser.add_argument("--priority", type=int)
options = parser.parse_args()

arm = arm_of(options.arm)
mount = Mount(arm=arm)
plant = MujocoPlant((mount,), friction=True)
cabinet = Cabinet(arm, settings=Settings(), gravity=plant.arms[0].gravity, q=mount.q)
side = ArmServer(
    cabinet,
    plant.arms[0],
    gripper=Gripper(width=0.04),
    host=options.host,
    urdf=urdf(arm),
    library=lambda architecture, system: build_library(architecture, system, arm=arm),
)
server = FciServer(
    [side],
    plant.step,
    mode=options.mode,
    command_timeout=options.command_timeout,
    priority=options.priority,
)
server.work_log = []
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

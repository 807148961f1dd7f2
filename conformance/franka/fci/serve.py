"""Serve one arm in MuJoCo for a conformance test: prints READY, serves until its input closes, prints its health."""

import argparse
import json

import numpy as np

from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.franka.bridge import FciBridge, FciOptions
from pliant.franka.device.parameters import Payload
from pliant.franka.robots.build import ArmMount, build_arms
from pliant.franka.robots.parameters import arm
from pliant.papers.arms.franka_server import run_until_input_closes
from pliant.robots import build_robot
from pliant.simulation import Simulation
from pliant.simulation.bridge import BridgeBase

parser = argparse.ArgumentParser()
parser.add_argument("--host", default="127.0.0.1")
parser.add_argument("--two", action="store_true", help="two arms on a torso; the second at the next address")
parser.add_argument("--arm", default="fr3")
parser.add_argument("--mode", default="lockstep")
parser.add_argument("--command-timeout", type=float, default=0.5)
parser.add_argument("--priority", type=int, default=0)
parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="options of the robot")
parser.add_argument("--load", type=float, default=0.0, help="a weight on the hand that nobody announces [kg]")
options = parser.parse_args()

# What `pliant run NAME --bridge fci` puts together.
chosen = dict(item.split("=", 1) for item in options.set)
robot = build_robot("franka-dual" if options.two else "franka" if options.arm == "fer" else options.arm, chosen)
if options.load:
    weight = Payload(mass=options.load, center_of_mass=(0.0, 0.0, 0.1))
    robot = build_arms([ArmMount(arm=arm(options.arm), position=(0.0, 0.0, 0.5))], load=weight)


class Scale(BridgeBase):
    """The load of the table's scale [N], in every period."""

    def __init__(self):
        self.loads = []

    def publish(self, sample):
        if sample.device == "scale":
            self.loads.append(-float(np.asarray(sample.values["force"])[2]))


scale = Scale()
devices = make_devices(robot)
bridge = FciBridge(
    FciOptions(mode=options.mode, host=options.host, command_timeout=options.command_timeout, priority=options.priority)
)
with Simulation(MujocoEngine(robot), devices, [bridge, scale], pacer="sync") as simulation:
    simulation.start()
    counters = run_until_input_closes(simulation, bridge)
result = counters["arms"][0] | counters
if scale.loads:
    pressed = np.array(scale.loads) - scale.loads[0]
    result["pressed"] = {"largest": float(pressed.max()), "held": float(np.median(pressed[-1500:-500]))}
print(json.dumps(result), flush=True)

"""Simulations that serve YARP in this process, for tests of the bridge."""

import contextlib
import threading
from types import SimpleNamespace

import mujoco
from fuzz import until

from pliant.control_boards.description import add_control_boards
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.model import Robot
from pliant.simulation import Simulation
from pliant.simulation.bridges import make_bridge
from pliant.yarp.client import YarpNetwork

TWO_JOINTS = """
<mujoco model="bench"><option timestep="0.001"/>
<worldbody><body name="upper"><joint name="shoulder" axis="0 1 0" damping="1" range="-170 170"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02" mass="1"/>
<body name="lower" pos="0 0 -0.3"><joint name="elbow" axis="0 1 0" damping="1" range="-170 170"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02" mass="1"/></body></body></worldbody>
<actuator><motor joint="shoulder"/><motor joint="elbow"/></actuator></mujoco>
"""


def bench():
    """Return a robot with one control board of two axes, called arm."""
    robot = Robot(mujoco.MjSpec.from_string(TWO_JOINTS))
    return add_control_boards(robot, {"arm": ("shoulder", "elbow")})


@contextlib.contextmanager
def served(robot, options="", **run):
    """Run a robot with the bridge in a thread, at the clock's pace."""
    bridge = make_bridge(f"yarp:server=127.0.0.1:0{options}", robot)
    simulation = Simulation(MujocoEngine(robot, check=False), make_devices(robot), [bridge], **{"pacer": 1.0, **run})
    faults = []

    def work():
        try:
            simulation.run()
        except BaseException as error:
            faults.append(error)

    thread = threading.Thread(target=work, name="simulation")
    simulation.start()
    thread.start()
    try:
        until(lambda: simulation.time_ns > 0 or faults, "the first step; a kernel may be compiled before", 120.0)
        with YarpNetwork(str(bridge.server.address)) as yarp:
            yield SimpleNamespace(bridge=bridge, simulation=simulation, yarp=yarp)
        assert not faults, faults
        assert bridge.health()["internal_faults"] == 0, bridge.health()["last_faults"]
    finally:
        simulation.stop()
        thread.join(30.0)
        simulation.close()

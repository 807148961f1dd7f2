"""Serve a bench of two joints with a control board and two sensors, and print the name server's address.

python serve.py HOST:PORT [OPTIONS OF THE BRIDGE]
"""

import sys

import mujoco

from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.model import Robot
from pliant.model.sensors import ForceTorque, Imu
from pliant.simulation import Simulation
from pliant.simulation.bridges import make_bridge
from pliant.yarp.model.control_board import add_control_boards

BENCH = """
<mujoco><option timestep="0.001"/>
<worldbody><body name="upper"><joint name="shoulder" axis="0 1 0" damping="1" range="-170 170"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02" mass="1"/>
<body name="lower" pos="0 0 -0.3"><joint name="elbow" axis="0 1 0" damping="1" range="-170 170"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02" mass="1"/></body></body></worldbody>
<actuator><motor joint="shoulder"/><motor joint="elbow"/></actuator></mujoco>
"""


def main() -> None:
    robot = add_control_boards(Robot(mujoco.MjSpec.from_string(BENCH)), {"arm": ("shoulder", "elbow")})
    robot.devices += [Imu(name="imu", body="upper"), ForceTorque(name="ft", body="lower")]
    options = sys.argv[2] if len(sys.argv) > 2 else "name=robot"
    lockstep = "lockstep=true" in options
    bridge = make_bridge(f"yarp:server={sys.argv[1]},{options}", robot)
    pacer = "sync" if lockstep else 1.0
    simulation = Simulation(MujocoEngine(robot, check=False), make_devices(robot), [bridge], pacer=pacer)
    with simulation:
        simulation.start()
        if not lockstep:
            simulation.run(0.1)
        print(bridge.network.names.address, flush=True)
        simulation.run()


if __name__ == "__main__":
    main()

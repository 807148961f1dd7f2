"""Serve a bench of two joints with a control board and two sensors, and print the name server's address.

python serve.py HOST:PORT [OPTIONS OF THE BRIDGE] [sensors]

With ``sensors`` it has a laser and two cameras, too, in front of a wall at x = 3 m.
"""

import sys

import mujoco

from pliant.control_boards.description import add_control_boards
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.model import Robot
from pliant.model.sensors import Camera, ForceTorque, Imu, Laser
from pliant.simulation import Simulation
from pliant.simulation.bridges import make_bridge

BENCH = """
<mujoco><option timestep="0.001"/>
<worldbody><geom type="box" size=".5 20 20" pos="3.5 0 0" contype="0" conaffinity="0"/>
<body name="mast" pos="0 1 0"><camera name="forward" fovy="60" xyaxes="0 -1 0 0 0 1"/></body>
<body name="upper"><joint name="shoulder" axis="0 1 0" damping="1" range="-170 170"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02" mass="1"/>
<body name="lower" pos="0 0 -0.3"><joint name="elbow" axis="0 1 0" damping="1" range="-170 170"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02" mass="1"/></body></body></worldbody>
<actuator><motor joint="shoulder"/><motor joint="elbow"/></actuator></mujoco>
"""


def main() -> None:
    robot = add_control_boards(Robot(mujoco.MjSpec.from_string(BENCH)), {"arm": ("shoulder", "elbow")})
    robot.devices += [Imu(name="imu", body="upper"), ForceTorque(name="ft", body="lower")]
    if "sensors" in sys.argv[3:]:
        small = {"camera": "forward", "width": 64, "height": 48, "rate": 10.0}
        robot.devices += [
            Laser(name="scan", body="mast", rays=3, min_angle=-0.5, max_angle=0.5, rate=50.0),
            Camera(name="eye", **small),
            Camera(name="deep", depth=True, near=0.1, far=8.0, **small),
        ]
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

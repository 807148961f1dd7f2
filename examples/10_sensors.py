"""A wrist with an inertial unit, a force/torque sensor and a camera.

You will see what the sensors measure while the arm hangs still: g upwards for the inertial unit, the weight of the
hand for the force/torque sensor, and where the camera sees a ball against where its matrix says that it is.
"""

import mujoco
import numpy as np

from pliant.base.errors import MissingDependency
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.model import Camera, ForceTorque, Imu, Noise, Robot
from pliant.simulation import Simulation

MODEL = """
<mujoco model="wrist">
  <option timestep="0.001"/>
  <visual><headlight ambient="0.8 0.8 0.8" diffuse="0 0 0" specular="0 0 0"/></visual>
  <worldbody>
    <body name="arm" pos="0 0 1"><joint name="elbow" axis="0 1 0" damping="1"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.4" mass="1" rgba="0.5 0.5 0.5 1"/>
      <body name="hand" pos="0 0 -0.4"><geom type="box" size="0.02 0.02 0.04" mass="0.7"/></body>
    </body>
    <geom name="ball" size="0.05" pos="0.6 0.1 0.7" rgba="1 0 0 1"/>
  </worldbody>
</mujoco>
"""


def main() -> None:
    """Describe the sensors, run, and print what they measure."""
    robot = Robot(mujoco.MjSpec.from_string(MODEL))
    robot.devices = [
        Imu(name="imu", body="hand", rate=200, angular_velocity_noise=Noise(std=0.002)),
        ForceTorque(name="cell", body="hand", rate=500),
        # z forward, x right, y down: this one looks along the world's x axis.
        Camera(name="eye", body="world", pos=(-0.4, 0, 0.7), quat=(0.5, -0.5, 0.5, -0.5), rate=20, depth=True),
    ]
    try:
        report(robot)
    except MissingDependency as error:
        print(error)
        report(robot.set("eye.enabled", False))


def report(robot: Robot) -> None:
    """Run for a second and print the last samples."""
    with Simulation(MujocoEngine(robot), make_devices(robot), pacer="free", seed=1) as simulation:
        simulation.run(1.0)
        imu, cell = simulation.sample("imu").values, simulation.sample("cell").values
        print("imu: acceleration", np.round(imu["linear_acceleration"], 3) + 0.0, "m/s^2")
        print("cell: force", np.round(cell["force"], 3) + 0.0, "N; the hand weighs", round(0.7 * 9.81, 3), "N")
        eye = simulation.devices.get("eye")
        if eye is not None:
            values = simulation.sample("eye").values
            red = np.argwhere((values["image"][..., 0] > 100) & (values["image"][..., 1] < 50))
            row, column = red.mean(axis=0)
            x, y = eye.camera.project([[-0.1, 0.0, 1.0]])[0]
            away = values["depth"][round(row), round(column)]
            print(f"eye: ball at {column:.1f} {row:.1f}, expected {x:.1f} {y:.1f}; {away:.3f} m away")


if __name__ == "__main__":
    main()

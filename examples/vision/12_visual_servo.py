"""A Franka arm brings its wrist camera 24 cm in front of a tag, by what the camera sees.

You will see the error of the camera's pose fall below 0.5 mm and 0.5 deg in about 2.5 s of simulated time. If the tag
is lost, the arm stops and the reason is printed. To run the same loop on a robot, make `arm` with
`FrankaRobot.connect(address)` and take the images from its camera. With --view, a page in the browser shows
arm, camera picture with the tag's corners, and curves in real time.
"""

import math
import sys

import numpy as np

from pliant import load
from pliant.base.errors import MissingDependency
from pliant.base.spatial import inverse
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.franka.client import FrankaRobot
from pliant.franka.robots.build import WristCamera
from pliant.page import PageView
from pliant.simulation import Simulation
from pliant.vision import AprilTagDetector, Task, facing_pose
from pliant.vision.tasks import AdaptiveGain
from pliant.vision.visual_servoing import ServoMonitor, ServoStatus, VisualServo, pbvs_task, pose_below


def main() -> None:
    """Servo until the monitor says that it has converged."""
    robot = load("franka", options={"camera": "wrist", "tag": "table"})
    engine = MujocoEngine(robot)
    pages = [PageView(engine, title="visual servoing")] if "--view" in sys.argv else []
    simulation = Simulation(engine, make_devices(robot), pages, pacer="paced" if pages else "free")
    goal = facing_pose(0.24)  # the tag in the camera, as it should be

    def task(image: np.ndarray) -> Task:
        found = detector.find(image, tag_id=0)  # the servo names the condition where the tag is not seen
        for page in pages:
            page.mark("franka_camera", found.pixels)
        return pbvs_task(found.X_CO, goal)

    servo = VisualServo(
        task,
        AdaptiveGain(at_zero=4.0, at_infinity=1.2, slope_at_zero=25.0),
        ServoMonitor(pose_below(0.5e-3, math.radians(0.5))),
        smooth_start=4.0,
    )
    simulation.start()
    for page in pages:
        input(f"open {page.url} and press Enter")
    with simulation, FrankaRobot.of(simulation, period=0.02) as arm:
        arm.set_eMc(inverse(arm.get_flMe()) @ WristCamera().F_T_C)
        arm.wait(0.02)
        detector = AprilTagDetector(simulation.devices["franka_camera"].camera, size=0.08)
        arm.set_robot_state("velocity")
        for cycle in range(300):
            image = simulation.sample("franka_camera").values["image"]
            step = servo(image, arm.time)
            arm.set_velocity("camera", step.velocity)
            if cycle % 25 == 0 or step.status is not ServoStatus.RUNNING:
                print(f"{arm.time:5.2f} s: {step.status}, {step.message or f'error {step.error:.4f}'}")
            if step.status is not ServoStatus.RUNNING:
                break
        arm.stop_motion()


if __name__ == "__main__":
    try:
        main()
    except MissingDependency as error:
        print(error)

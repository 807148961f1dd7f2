"""A thousand arms with different springs, stepped together by MuJoCo's own Batch.

You will see how the sag of the first joint spreads when the springs' stiffness is uncertain by 20 %. The laws run
inside the batch's threads; nothing is evaluated in Python.
"""

import time

import numpy as np

from pliant import QbMove
from pliant.batch import make_batch, set_actuators
from pliant.robots import build_robot

NSIM, PRESET = 1000, 0.4


def main() -> None:
    """Build the batch, give every simulation its own springs, step, print percentiles."""
    robot = build_robot("qbmove-2dof", {"mounting": "vertical", "preset": PRESET, "mode": 3})
    rng = np.random.default_rng(0)
    scale = rng.normal(1.0, 0.2, NSIM).clip(0.3)
    batch = make_batch(robot, NSIM)
    for joint, actuator in robot.actuators.items():
        default = QbMove()
        springs = [QbMove(k1=default.k1 * s, k2=default.k2 * s) for s in scale]
        set_actuators(batch, joint, [actuator.replace(law=law) for law in springs], robot.timestep)

    # The control of actuator "<joint>" is reference 1, that of "<joint>/ref_2" reference 2.
    ctrl = batch.bind("ctrl")
    ctrl[:, batch.model.actuator("joint_1").id] = 0.8
    ctrl[:, batch.model.actuator("joint_1/ref_2").id] = PRESET

    steps = 1000
    began = time.perf_counter()
    for _ in range(steps):
        batch.step()
    wall = time.perf_counter() - began
    q = batch.bind("qpos")[:, batch.model.joint("joint_1").qposadr[0]]
    low, middle, high = np.percentile(0.8 - q, [5, 50, 95])
    print(f"sag of joint_1 after 1 s: 5 % {low:.3f} rad, median {middle:.3f}, 95 % {high:.3f}")
    print(f"{NSIM * steps:,} steps in {wall:.1f} s")


if __name__ == "__main__":
    main()

"""A biped on a bar of 10 mm, with its own flat feet and with SoftFeet.

You will see what a SoftFoot carries: its pitch stiffness against m g h of the robot. Then both robots are put with the
bar under both feet, their joints held. The flat feet rock on the bar, and the robot falls; the soft soles bend around
it.
"""

import math

import mujoco

import pliant
from pliant.feet.model.foot_fit import FootFit
from pliant.feet.model.replace import replace_foot
from pliant.feet.softfoot import SoftFoot
from pliant.model import Robot

HEIGHT, PLACE, SECONDS = 0.01, 0.03, 4.0  # of the bar [m], ahead of the ankles [m], of the run [s]


def main() -> None:
    """Let the biped stand on the bar with both kinds of feet."""
    flat = pliant.load("biped", options={"bar_height": HEIGHT, "bar_positions": (PLACE,)})
    soft = flat.copy()
    foot = SoftFoot(n_chains=1, lump=True, coupling="midpoint", tendon="fixed")
    for body in ("l_foot", "r_foot"):
        part = replace_foot(soft, body, foot, FootFit(pitch="level"))
        print(f"{body}, {part.side}: {part.support}")
    for name, robot in (("flat", flat), ("soft", soft)):
        print(f"{name} feet: the trunk is tilted by {tilt(robot):.1f} deg after {SECONDS:g} s on the bar")


def tilt(robot: Robot) -> float:
    """Return how far the trunk leans after the run [deg]."""
    model = robot.compile()
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    data.joint("base").qpos[2] += HEIGHT + 0.001  # from just above the bar
    while data.time < SECONDS:
        mujoco.mj_step(model, data)
    return math.degrees(math.acos(min(1.0, data.body("waist").xmat[8])))


if __name__ == "__main__":
    main()

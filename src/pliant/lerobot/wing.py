"""Declaration of the wing ``lerobot``."""

from pliant.base.wing import Wing

WING = Wing(
    name="lerobot",
    summary="A Franka arm as a robot of LeRobot, simulated or over FCI: the working part of its plugins",
    builds_on=("franka",),
    benchmarks=("lerobot_push.py",),
)

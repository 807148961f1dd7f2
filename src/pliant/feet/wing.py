"""Declaration of the wing ``feet``."""

from pliant.base.wing import Wing

WING = Wing(
    name="feet",
    summary="The SoftFoot, alone, on its bench or in place of a robot's feet, and its sensing sole",
    robots={"softfoot": "pliant.feet.softfoot.build", "softfoot-bench": "pliant.feet.softfoot_bench.build"},
    scenarios=dict.fromkeys(("load-and-release", "press-harder"), "pliant.feet"),
    blocks={"soft_feet": "pliant.feet.softfoot.feet:SOFT_FEET"},
    devices=("pliant.feet.device.press", "pliant.feet.device.sole"),
    benchmarks=("softfoot.py", "softfoot_robots.py", "softfoot_sole.py"),
)

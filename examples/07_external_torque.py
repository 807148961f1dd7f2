"""Somebody pushes a compliant joint, and the joint tells how stiff it is.

You will see, for three presets, the stiffness that the joint reports and the one that the push measures (torque over
deflection). For a small push the two agree; the spring hardens, so a large push meets more.
"""

import pliant
from pliant.engine import MujocoEngine
from pliant.robots import build_robot


def push(engine: MujocoEngine, torque: float) -> float:
    """Return the angle at which the joint rests under an external torque [rad]."""
    engine.port("joint/external_torque")[0] = torque
    engine.step(6000)
    return float(engine.port("joint/position")[0])


def main() -> None:
    """Push softly and hard at three presets."""
    for preset in (0.2, 0.4, 0.6):
        robot = build_robot("qbmove-1dof", {"preset": preset, "timestep": 0.0005})
        robot.set("option.gravity", 0)
        engine = MujocoEngine(robot)
        rest = push(engine, 0.0)
        reported = float(engine.port("joint/stiffness")[0])
        small = 0.001 / (push(engine, 0.001) - rest)
        large = 0.1 / (push(engine, 0.1) - rest)
        energy = float(engine.port("joint/energy")[0])
        print(
            f"preset {preset}: reports {reported:.4f} N m/rad; 1 mN m measures {small:.4f}, "
            f"0.1 N m measures {large:.4f}; {1e3 * energy:.2f} mJ stored"
        )
    print("law alone:", f"{pliant.QbMove().evaluate(0.0, 0.6, -0.6).stiffness:.4f} N m/rad at preset 0.6")


if __name__ == "__main__":
    main()

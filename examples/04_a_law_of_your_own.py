"""A spring that no one has built yet, from its energy alone.

You will see the torque and stiffness that follow from the energy by differentiation, and a joint that carries a load on
that spring, inside MuJoCo, at the speed of compiled code.
"""

from dataclasses import dataclass
from typing import ClassVar

import mujoco

from pliant import CompliantActuator, law
from pliant.engine import MujocoEngine
from pliant.laws import Law
from pliant.model import Robot


@law("hardening")
@dataclass(frozen=True)
class Hardening(Law):
    """One motor and a spring that stiffens with its deflection d = q - theta_1: H = k d^2 / 2 + c d^4 / 4."""

    k: float = 2.0
    """Stiffness at rest [N m/rad]."""
    c: float = 60.0
    """Growth of the stiffness [N m/rad^3]."""

    motors: ClassVar[int] = 1

    @staticmethod
    def energy(q, theta_1, k, c):
        d = q - theta_1
        return 0.5 * k * d**2 + 0.25 * c * d**4


def main() -> None:
    """Evaluate the law, then hang a load on it."""
    for d in (0.0, 0.1, 0.2):
        values = Hardening().evaluate(d, 0.0)
        print(f"deflection {d:.1f} rad: torque {values.torque:+.3f} N m, stiffness {values.stiffness:.2f} N m/rad")

    spec = mujoco.MjSpec()
    spec.option.timestep = 0.0005
    arm = spec.worldbody.add_body(name="arm")
    arm.add_joint(name="joint", axis=[0, -1, 0], damping=[0.05, 0, 0])
    arm.add_geom(size=[0.02, 0, 0], pos=[0.1, 0, 0], mass=1.0)
    robot = Robot(spec)
    robot.add_actuator("joint", CompliantActuator(Hardening(), mode=5))
    engine = MujocoEngine(robot)
    engine.port("joint/reference_1")[0] = 0.3  # where the motor goes
    engine.step(8000)
    q, motor = engine.port("joint/position")[0], engine.port("joint/motor_1_position")[0]
    torque = engine.port("joint/torque")[0]
    print(f"motor at {motor:.4f} rad, link at {q:.4f} rad: the spring carries {torque:.4f} N m")


if __name__ == "__main__":
    main()

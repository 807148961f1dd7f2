"""A hanging arm of two qbMove actuators swings up, once soft and once stiff.

You will see, for both presets, where the joints come to rest and how stiff they are there: the soft arm sags under its
own weight, the stiff one hardly does.
"""

from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.robots import build_robot
from pliant.simulation import Simulation

REFERENCE = [0.8, 0.4]  # equilibrium positions [rad]


def main() -> None:
    """Run both presets and print a line a joint."""
    for name, preset in (("soft", 0.2), ("stiff", 0.6)):
        robot = build_robot("qbmove-2dof", {"mounting": "vertical", "preset": preset})
        engine = MujocoEngine(robot)
        with Simulation(engine, make_devices(robot), pacer="free", seed=1) as simulation:
            # The board takes one array for all joints, as the toolbox's plugin manager does.
            simulation.devices["board"].inbox.put({"reference_1": REFERENCE, "reference_2": [preset, preset]})
            simulation.run(4.0)
            board = simulation.sample("board").values
        for i, joint in enumerate(robot.actuators):
            print(
                f"{name:5s} {joint}: asked {REFERENCE[i]:.2f} rad, motors at {board['equilibrium'][i]:.3f}, "
                f"link at {board['position'][i]:.3f}, stiffness {board['stiffness'][i]:.3f} N m/rad"
            )


if __name__ == "__main__":
    main()

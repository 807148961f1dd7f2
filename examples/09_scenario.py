"""Things happen during a run: a reference, a push, a change of gains, another mode, written as a scenario.

You will see the joint's state before and after each event. The same scenario, as a YAML file, is what
`pliant run --scenario` takes.
"""

import tempfile
from pathlib import Path

from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.events import read_scenario
from pliant.robots import build_robot
from pliant.simulation import Simulation

SCENARIO = """
description: a push, softer gains, then direct motor torques
events:
  - {event: set, at: 0.0, device: joint, values: {equilibrium_position: 0.5, stiffness_preset: 0.5}}
  - {event: external_torque, at: 1.0, device: joint, torque: -0.2, duration: 0.5}
  - {event: gains, at: 2.0, device: joint, gains: {motor: 1, kp: 60.0, kd: 4.5}}
  - {event: mode, at: 3.0, device: joint, mode: motor_torques}
"""


def main() -> None:
    """Run the scenario in pieces, printing the joint's state in between."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "push.yaml"
        path.write_text(SCENARIO)
        scenario = read_scenario(path)
    robot = build_robot("qbmove-1dof", {"mode": 6, "preset": 0.5})
    with Simulation(MujocoEngine(robot), make_devices(robot), pacer="free") as simulation:
        scenario.install(simulation)
        for until in (0.99, 1.49, 1.99, 2.99, 3.5):
            simulation.run(until - simulation.time)
            state = simulation.sample("joint").values
            print(
                f"t = {simulation.time:.2f} s: link {state['position']:.3f} rad, "
                f"motors {state['equilibrium']:.3f} rad, external {state['external_torque']:+.1f} N m, "
                f"efforts {state['motor_1_effort']:+.3f} and {state['motor_2_effort']:+.3f} N m"
            )


if __name__ == "__main__":
    main()

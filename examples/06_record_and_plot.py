"""A run is recorded, read back as arrays, drawn, exported and compared with a second run of the same seed.

You will see the files appear in a folder `out_06`, a few numbers from the recording, and that two equal runs give equal
recordings.
"""

from pathlib import Path

import pliant
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.plots import plot_recording
from pliant.recording import compare, export, read_recording
from pliant.simulation import Simulation


def run(path: Path) -> None:
    """Record three seconds: a step, then a softer preset."""
    path.unlink(missing_ok=True)
    robot = pliant.load("qbmove-1dof")
    with Simulation(MujocoEngine(robot), make_devices(robot), pacer="free", recorder=path, seed=7) as simulation:
        joint = simulation.devices["joint"]
        joint.inbox.put({"equilibrium_position": 0.6, "stiffness_preset": 0.6})
        simulation.run(1.5)
        joint.inbox.put({"stiffness_preset": 0.3})
        simulation.run(1.5)


def main() -> None:
    """Record twice, read, plot, export, compare."""
    folder = Path("out_06")
    folder.mkdir(exist_ok=True)
    run(folder / "first.mcap")
    run(folder / "second.mcap")

    recording = read_recording(folder / "first.mcap")
    stiffness = recording["joint/stiffness"]
    print(f"{recording.duration:g} s, {len(stiffness)} samples of the joint, seed {recording.metadata['seed']}")
    print(f"stiffness from {stiffness.min():.2f} to {stiffness.max():.2f} {recording.unit('joint/stiffness')}")
    plot_recording(recording, folder / "first.png")
    export(recording, "npz", folder / "first.npz", overwrite=True)
    print("differences between the two runs:", compare(recording, folder / "second.mcap"))
    print("written:", ", ".join(sorted(p.name for p in folder.iterdir())))


if __name__ == "__main__":
    main()

"""How well the sole of a SoftFoot senses: angles and forces against the simulation, on the 48 trials of the bench.

Run: python benchmarks/softfoot_sole.py [--quick]
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from pliant.devices.sole import SoleDevice
from pliant.engine import MujocoEngine
from pliant.experiments.softfoot_trials import Trial, all_trials
from pliant.model import Sole
from pliant.robots.softfoot_bench import SoftFootBenchOptions
from pliant.robots.softfoot_bench.build import build

PARTS = {
    "heel": ("heel",),
    "fascia": ("phalanx_1", "phalanx_2", "phalanx_3", "phalanx_4", "phalanx_5", "reverse_phalanx"),
    "forefoot": ("rollover_phalanx", "phalanx_6", "distal_phalanx"),
}


def sense(
    trial: Trial, seed: int = 0, *, seconds: float = 3.0, ankle: str = "wrench", **changes: Any
) -> dict[str, Any]:
    """Simulate a trial and return what the sole measures at its end.

    Args:
        trial: load, height and position.
        seed: of the noise.
        seconds: length of the trial [s].
        ankle: what is known at the ankle, as the option of `Sole`.
        changes: options of the bench.

    Returns:
        Angle errors [rad]; estimated and true forces of heel, fascia and forefoot [N].
    """
    options = SoftFootBenchOptions(
        load=0.0, obstacle_height=trial.height, module=trial.position, **{"timestep": 0.004, **changes}
    )
    robot = build(options)
    described = Sole(name="sole", body="attachment_cube", ankle=ankle, load=trial.load)
    robot.devices = [described]
    device = SoleDevice(described, robot)
    engine = MujocoEngine(robot, check=False)
    device.attach(engine)
    engine.reset()
    engine.data.qpos[engine.model.joint("slide").qposadr[0]] = trial.height
    device.reset(np.random.default_rng(seed))
    load = engine.model.actuator("load").id
    every = device.sample_period_ns // round(1e9 * options.timestep)
    steps = round(seconds / options.timestep)
    sample = None
    for i in range(0, steps, every):
        engine.data.ctrl[load] = trial.load * min(1.0, i / (0.4 * steps))
        engine.step(every)
        if i > 0.6 * steps:
            sample = device.read(engine.time_ns)
    assert sample is not None
    values = sample.values
    groups = {
        part: np.array(
            [name.rstrip("0123456789").rstrip("_") in members or name in members for name in device.contact_bodies]
        )
        for part, members in PARTS.items()
    }
    return {
        "angles": values["position"] - values["true_position"],
        "estimated": np.array([values["contact_force"][groups[part]].sum() for part in PARTS]),
        "true": np.array([values["true_contact_force"][groups[part]].sum() for part in PARTS]),
    }


def main() -> None:
    """Print the errors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only the trials of 10 mm")
    quick = parser.parse_args().quick
    trials = [t for t in all_trials() if not quick or abs(t.height - 0.01) < 1e-9]
    print(f"{len(trials)} trials; errors of the forces over the load [%]: mean, largest")
    print(f"{'known at the ankle':20s}{'angles [deg]':>14s}" + "".join(f"{part:>16s}" for part in PARTS))
    for ankle in ("wrench", "load", "none"):
        start = time.perf_counter()
        found = [sense(trial, seed, ankle=ankle) for seed, trial in enumerate(trials)]
        angles = np.degrees(np.sqrt(np.mean(np.concatenate([f["angles"] for f in found]) ** 2)))
        errors = np.array(
            [100.0 * np.abs(f["estimated"] - f["true"]) / t.load for f, t in zip(found, trials, strict=True)]
        )
        cells = "".join(f"{m:9.1f}{x:7.1f}" for m, x in zip(errors.mean(0), errors.max(0), strict=True))
        print(f"{ankle:20s}{angles:14.2f}{cells}   ({time.perf_counter() - start:.0f} s)", flush=True)


if __name__ == "__main__":
    main()

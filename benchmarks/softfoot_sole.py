"""How well the sole of a SoftFoot senses: angles and forces against the simulation.

On the 48 trials of the bench (one chain on three blocks), and for a whole foot on flat ground and on bars.

Run: python benchmarks/softfoot_sole.py [--quick]
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from pliant.engine import MujocoEngine
from pliant.feet.device.sole import SoleDevice
from pliant.feet.model.sole import Sole
from pliant.feet.softfoot_bench import SoftFootBenchOptions
from pliant.feet.softfoot_bench.build import build
from pliant.feet.trials import Trial, all_trials
from pliant.robots import find_robot

PARTS = {
    "heel": ("heel",),
    "fascia": ("phalanx_1", "phalanx_2", "phalanx_3", "phalanx_4", "phalanx_5", "reverse_phalanx"),
    "forefoot": ("rollover_phalanx", "phalanx_6", "distal_phalanx"),
}


BARS = ((0.0, 0.0), (0.01, 0.0), (0.02, 0.02), (0.02, -0.02), (0.02, 0.06), (0.015, 0.11))
"""Height of a bar and its place ahead of the ankle [m]."""
FEET: dict[str, dict[str, Any]] = {
    "exact, 5 chains": {},
    "midpoint, 3 lumped": {"n_chains": 3, "lump": True, "coupling": "midpoint", "tendon": "fixed"},
    "midpoint, 1 lumped": {"n_chains": 1, "lump": True, "coupling": "midpoint", "tendon": "fixed"},
}


def measure(robot: Any, load: float, seed: int, seconds: float, start: float = 0.0, ankle: str = "wrench") -> Any:
    """Press a foot with a load that grows, and return what its sole measures at the end.

    Args:
        robot: a rig with a joint "slide" and an actuator "load".
        load: control of the actuator at the end [N].
        seed: of the noise.
        seconds: length of the trial [s].
        start: of the slide [m].
        ankle: what is known at the ankle, as the option of `Sole`.

    Returns:
        Angle errors [rad]; estimated and true forces of heel, fascia and forefoot [N].
    """
    described = Sole(name="sole", body="attachment_cube", ankle=ankle, load=load)
    robot.devices = [described]
    device = SoleDevice(described, robot)
    engine = MujocoEngine(robot, check=False)
    device.attach(engine)
    engine.reset()
    engine.data.qpos[engine.model.joint("slide").qposadr[0]] = start
    device.reset(np.random.default_rng(seed))
    actuator = engine.model.actuator("load").id
    every = device.sample_period_ns // round(1e9 * engine.dt)
    steps = round(seconds / engine.dt)
    values: Any = {}
    for i in range(0, steps, every):
        engine.data.ctrl[actuator] = load * min(1.0, i / (0.4 * steps))
        engine.step(every)
        if i > 0.6 * steps:
            values = device.read(engine.time_ns).values
    found = {}
    for field in ("contact_force", "true_contact_force"):
        sums = dict.fromkeys(PARTS, 0.0)
        for name, force in zip(device.contact_bodies, values[field], strict=True):
            part = next(p for p, members in PARTS.items() if name in members or name.rpartition("_")[0] in members)
            sums[part] += force
        found[field] = np.array(list(sums.values()))
    return values["position"] - values["true_position"], found["contact_force"], found["true_contact_force"]


def trial(chosen: Trial, seed: int, ankle: str) -> Any:
    """Simulate a trial of the bench."""
    options = SoftFootBenchOptions(load=0.0, obstacle_height=chosen.height, module=chosen.position, timestep=0.004)
    return measure(build(options), chosen.load, seed, 3.0, chosen.height, ankle)


def posture(load: float, bar: tuple[float, float], seed: int, ankle: str, **foot: Any) -> Any:
    """Press a whole foot on a bar."""
    listed = find_robot("softfoot")
    height, place = bar
    robot = listed.function(listed.options_class(load=0.0, bar=height, bar_position=place, **foot))
    return measure(robot, load, seed, 3.0, ankle=ankle)


def line(name: str, ankle: str, loads: list[float], found: list[Any]) -> None:
    """Print the errors of a set of cases."""
    angles = np.degrees(np.sqrt(np.mean(np.concatenate([f[0] for f in found]) ** 2)))
    errors = np.array([100.0 * np.abs(f[1] - f[2]) / load for f, load in zip(found, loads, strict=True)])
    cells = "".join(f"{m:9.1f}{x:7.1f}" for m, x in zip(errors.mean(0), errors.max(0), strict=True))
    print(f"{name:20s}{ankle:8s}{angles:13.2f}{cells}", flush=True)


def main() -> None:
    """Print the errors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only the trials of 10 mm and the lumped foot")
    quick = parser.parse_args().quick
    trials = [t for t in all_trials() if not quick or abs(t.height - 0.01) < 1e-9]
    print("errors of the forces over the load [%]: mean, largest; root mean square of the angles")
    print(f"{'feet':20s}{'ankle':8s}{'angles [deg]':>13s}" + "".join(f"{part:>16s}" for part in PARTS))
    for ankle in ("wrench", "load", "none"):
        loads = [t.load for t in trials]
        line(f"bench, {len(trials)} trials", ankle, loads, [trial(t, k, ankle) for k, t in enumerate(trials)])
        for name, foot in list(FEET.items())[-1 if quick else 0 :]:
            cases = [(load, bar) for load in (100.0, 300.0) for bar in BARS]
            found = [posture(load, bar, k, ankle, **foot) for k, (load, bar) in enumerate(cases)]
            line(name, ankle, [load for load, _ in cases], found)


if __name__ == "__main__":
    main()

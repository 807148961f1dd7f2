"""Fit a measured tendon-driven robot and predict motions that the fit did not see: distances of the tip.

    python benchmarks/tendons.py --data DIR             the robot v4: nominal, all motions seen, five parts left out
    python benchmarks/tendons.py --data DIR --robot v6  the robot v6
    python benchmarks/tendons.py --data DIR --json      for programs

DIR has the folder tips of the data that the Continuum Robotics Laboratory published with its simulator. Each fit sees
every third row of its motions; distances are those of all rows, and no mean is removed. Takes some minutes of one core.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

from pliant.rods.tendons.build import Resolution
from pliant.rods.tendons.identify import fit, nominal, residual
from pliant.rods.tendons.measured import read_tips
from pliant.rods.tendons.robots import ROBOTS

FOLDS, EVERY = 5, 3
HERE = Path(__file__).resolve().parents[2] / "shared" / "data" / "tdcr"


def distances(error: np.ndarray) -> dict[str, float]:
    """Return root mean square, median and 95 % of the lengths of errors [mm]."""
    sizes = 1e3 * np.linalg.norm(error, axis=1)
    return {
        "rms": float(np.sqrt((sizes**2).mean())),
        "median": float(np.median(sizes)),
        "95 %": float(np.quantile(sizes, 0.95)),
    }


def measure(name: str, data: Path) -> dict[str, dict[str, float]]:
    """Return the distances of each experiment."""
    robot, table = ROBOTS[f"tdcr-{name}"](), read_tips(data / "tips" / f"{name}_train.csv")
    seen = np.arange(len(table.tip)) % EVERY == 0
    resolution = Resolution(elements=1, bending=1, torsion=0)
    found = {"nominal": distances(residual(robot, table, nominal(robot), resolution))}
    began = time.process_time()
    everything = fit(robot, table, used=seen)
    found["all motions seen"] = distances(everything.error)
    left_out = np.zeros_like(table.tip)
    for k, mask in enumerate(table.folds(FOLDS)):
        part = fit(robot, table, used=seen & ~mask)
        left_out[mask] = part.error[mask]
        found[f"part {k + 1} left out"] = distances(part.error[mask])
    found["all parts, each left out"] = distances(left_out)
    found["processor time of the fits [s]"] = {"rms": time.process_time() - began}
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=HERE)
    parser.add_argument("--robot", choices=("v4", "v6"), default="v4")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if not (given.data / "tips").is_dir():
        print(
            f"{given.data}/tips: there is no such folder; --data names the folder of the measured tips", file=sys.stderr
        )
        return 1
    found = measure(given.robot, given.data)
    if given.json:
        print(json.dumps(found, indent=2))
        return 0
    print(f"tdcr-{given.robot}, distance of the tip [mm]")
    for name, numbers in found.items():
        print(f"  {name:30s} " + "  ".join(f"{key} {value:7.2f}" for key, value in numbers.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Measure what SoftFeet cost a whole robot: time of a step with lumped soft feet over that with flat feet.

    python benchmarks/softfoot_robots.py           biped, and Talos and G1 where example-robot-data is installed
    python benchmarks/softfoot_robots.py --json    for programs

The robots stand for each measurement, at steps of 1 ms: MuJoCo's step alone, and with a controller in Python at 200 Hz
that reads the centre of mass and writes every servo. "walking" is the whole of `run_walk`: simulation, device and
walking controller of the biped. Medians of interleaved rounds in time of the processor.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict

import mujoco
import numpy as np
from run import Figure

import pliant
from pliant.base.errors import MissingDependency
from pliant.feet.model.foot_fit import FootFit
from pliant.feet.model.replace import replace_foot
from pliant.feet.softfoot import SoftFoot
from pliant.walking.robots.humanoids.build import FEET
from pliant.walking.walk import run_walk

ROBOTS = {"biped": ("l_foot", "r_foot"), **FEET}
DT, EVERY, STEPS, ROUNDS = 0.001, 5, 400, 9
LUMPED = {"n_chains": 1, "lump": True, "coupling": "midpoint", "tendon": "fixed"}
VARIANTS = {
    "flat": None,
    "soft": SoftFoot(**LUMPED),
    "soft, plain": SoftFoot(**LUMPED, shapes="plain"),
    "soft, skids": SoftFoot(**LUMPED, contact="skid"),
}
FLAGS = {
    "without islands": int(mujoco.mjtDisableBit.mjDSBL_ISLAND),
    "without contacts": int(mujoco.mjtDisableBit.mjDSBL_CONTACT),
    "without constraints": int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT),
}
"""What the step is measured without, to see where its time goes."""
TARGET = 1.15


class Standing:
    """A robot that stands."""

    def __init__(self, name: str, foot: SoftFoot | None) -> None:
        robot = pliant.load(name, timestep=DT)
        if foot is not None:
            for body in ROBOTS[name]:
                replace_foot(robot, body, foot, FootFit(pitch="level"))
        self.model = robot.compile()
        self.data = mujoco.MjData(self.model)
        mujoco.mj_resetDataKeyframe(self.model, self.data, 0)
        self.references = np.array(self.data.ctrl)
        self.base = int(self.model.jnt_bodyid[0])
        self.omega = math.sqrt(9.81 / float(self.data.subtree_com[self.base][2] or 1.0))
        ankles = [i for i in range(self.model.nu) if "ankle_pitch" in self.model.actuator(i).name]
        self.ankles = ankles or [i for i in range(self.model.nu) if self.model.actuator(i).name.endswith("_5_joint")]
        for _ in range(1500):
            mujoco.mj_step(self.model, self.data)
        self.home = np.array(self.data.subtree_com[self.base])

    def control(self) -> None:
        """Lean against the motion of the centre of mass with the ankles."""
        mujoco.mj_subtreeVel(self.model, self.data)
        off = self.data.subtree_com[self.base] - self.home + self.data.subtree_linvel[self.base] / self.omega
        references = self.references.copy()
        references[self.ankles] += 0.1 * off[0]
        self.data.ctrl[:] = references

    def part(self, flag: int) -> float:
        """Return the time of a step with something of MuJoCo disabled, from where the robot stands [us]."""
        model, data = copy.copy(self.model), copy.copy(self.data)
        model.opt.disableflags |= flag
        start = time.process_time()
        mujoco.mj_step(model, data, 100)
        return 1e6 * (time.process_time() - start) / 100

    def step(self, controlled: bool) -> float:
        """Return the time of a step [us]."""
        start = time.process_time()
        for i in range(STEPS):
            if controlled and i % EVERY == 0:
                self.control()
            mujoco.mj_step(self.model, self.data)
        return 1e6 * (time.process_time() - start) / STEPS


def walk(feet: str) -> float:
    """Return the time that a second of walking takes [ms]."""
    start = time.process_time()
    result = run_walk(feet=feet, duration=4.0)
    return 1e3 * (time.process_time() - start) / result.duration


def medians(measurements: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """Return the median of each, measured in turn."""
    found: dict[str, list[float]] = {name: [] for name in measurements}
    for _ in range(rounds):
        for name, measure in measurements.items():
            found[name].append(measure())
    return {name: statistics.median(values) for name, values in found.items()}


def figures() -> list[Figure]:
    """Measure all robots that there are."""
    out = []
    for name in ROBOTS:
        try:
            robots = {variant: Standing(name, foot) for variant, foot in VARIANTS.items()}
        except MissingDependency:
            continue
        for controlled, what in ((False, "step"), (True, "step with a controller at 200 Hz")):
            times = medians({v: lambda r=r, c=controlled: r.step(c) for v, r in robots.items()}, ROUNDS)
            for variant in list(VARIANTS)[1:]:
                ratio = times[variant] / times["flat"]
                note = f"{times['flat']:.0f} to {times[variant]:.0f} us, {robots[variant].model.nv} degrees of freedom"
                label = f"{name}: {what}, {variant} over flat"
                out.append(Figure(label, ratio, "", f"<= {TARGET}", ratio <= TARGET, note))
        times = {v: medians({w: lambda r=r, f=f: r.part(f) for w, f in FLAGS.items()}, 25)
                 for v, r in robots.items() if v in ("flat", "soft")}  # fmt: skip
        for what in FLAGS:
            flat, soft = times["flat"][what], times["soft"][what]
            out.append(
                Figure(
                    f"{name}: step {what}, soft over flat", soft / flat, "", "", None, f"{flat:.0f} to {soft:.0f} us"
                )
            )
    times = medians({"rigid": lambda: walk("rigid"), "soft": lambda: walk("soft")}, 5)
    ratio = times["soft"] / times["rigid"]
    note = f"{times['rigid']:.0f} to {times['soft']:.0f} ms a second, steps of 2 ms"
    out.append(Figure("biped: walking, soft over flat", ratio, "", f"<= {TARGET}", ratio <= TARGET, note))
    return out


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    found = figures()
    if arguments.json:
        print(json.dumps([asdict(figure) for figure in found], indent=2))
        return
    for f in found:
        mark = {True: f"target {f.target}  met", False: f"target {f.target}  missed", None: ""}[f.met]
        print(f"{f.name:62} {f.value:6.2f}  {mark:22}  ({f.note})")


if __name__ == "__main__":
    main()

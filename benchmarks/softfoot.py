"""Measure what the detail of a SoftFoot costs: the time of a step of the foot alone, at rest under 300 N.

    python benchmarks/softfoot.py           flat ground and a bar of 20 mm
    python benchmarks/softfoot.py --json    for programs

Each ratio is the exact foot with five chains over a reduced one, medians of interleaved rounds of one run, 1 ms steps,
in time of the processor, which a loaded machine disturbs less. Reached on two cores, flat and bar: midpoint, five
chains 2.1 and 1.9, with skids 2.6 and 2.5; one lumped chain 9.3 and 10.6, with plain shapes 10.1 and 11.1. The feet are
solved without MuJoCo's islands, except "islands": the exact foot with the settings of the release.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from dataclasses import asdict

import mujoco
from run import Figure

from pliant.feet.softfoot import add_softfoot
from pliant.feet.softfoot.generator import disable_islands

LOAD = 300.0
STEPS = {"five": 150, "three": 300, "one": 1000}
REDUCED = {"coupling": "midpoint", "tendon": "fixed"}
LUMPED = {**REDUCED, "n_chains": 1, "lump": True}
EXACT = "exact, five chains, boxes"
ISLANDS = f"{EXACT}, islands"
VARIANTS = {
    EXACT: ({}, "five", None),
    ISLANDS: ({}, "five", None),
    "midpoint, five chains, boxes": (REDUCED, "five", 2.5),
    "midpoint, five chains, skids": ({**REDUCED, "contact": "skid"}, "five", 2.5),
    "midpoint, three lumped chains, boxes": ({**REDUCED, "n_chains": 3, "lump": True}, "three", None),
    "exact, one lumped chain, boxes": ({"tendon": "fixed", "n_chains": 1, "lump": True}, "one", None),
    "midpoint, one lumped chain, boxes": (LUMPED, "one", 10.0),
    "midpoint, one lumped chain, plain boxes": ({**LUMPED, "shapes": "plain"}, "one", 10.0),
    "midpoint, one lumped chain, skids": ({**LUMPED, "contact": "skid"}, "one", 10.0),
}
"""Options of the foot, how many steps a round has, smallest ratio asked for."""


def at_rest(bar: bool, options: dict[str, object], islands: bool) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Return a foot that has settled on flat ground or on a bar of 20 mm."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.timestep = 1e-3
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    if not islands:
        disable_islands(spec)
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[2.0, 2.0, 0.1])
    if bar:
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.01, 0.2, 0.01], pos=[0.02, 0.0, 0.01])
    carriage = spec.worldbody.add_body(name="carriage", pos=[0.0, 0.0, 0.1155 if bar else 0.0955])
    carriage.add_joint(type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[0.0, 0.0, 1.0], damping=[100.0, 0.0, 0.0])
    add_softfoot(spec, carriage, None, **options)
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qfrc_applied[0] = -LOAD
    mujoco.mj_step(model, data, 2000)
    return model, data


def bench_step(bar: bool) -> list[Figure]:
    """Compare the variants on one ground."""
    feet = {name: at_rest(bar, options, name == ISLANDS) for name, (options, _, _) in VARIANTS.items()}
    rounds: dict[str, list[float]] = {name: [] for name in feet}
    for _ in range(41):
        for name, (model, data) in feet.items():
            steps = STEPS[VARIANTS[name][1]]
            began = time.process_time()
            mujoco.mj_step(model, data, steps)
            rounds[name].append((time.process_time() - began) / steps)
    times = {name: statistics.median(values) for name, values in rounds.items()}
    figures = []
    for name, (model, data) in feet.items():
        least = VARIANTS[name][2]
        ratio = times[EXACT] / times[name]
        figures.append(
            Figure(
                f"{'20 mm bar' if bar else 'flat'}: {EXACT} / {name}",
                ratio,
                "x",
                "" if least is None else f">= {least:g}",
                None if least is None else ratio >= least,
                f"{1.0 / times[name]:,.0f} steps/s, nv {model.nv}, {data.ncon} contacts",
            )
        )
    return figures


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = [figure for bar in (False, True) for figure in bench_step(bar)]
    if options.json:
        print(json.dumps([asdict(f) for f in figures], indent=2))
        return
    for f in figures:
        mark = {True: "met", False: "MISSED", None: ""}[f.met]
        print(f"{f.name:<78} {f.value:6.2f} {f.unit} target {f.target:<8} {mark:<7} {f.note}")


if __name__ == "__main__":
    main()

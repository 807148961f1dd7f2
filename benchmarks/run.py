"""Measure the ratios that pliant promises; each is taken in one run against the named alternative.

    python benchmarks/run.py            all
    python benchmarks/run.py step loop  some
    python benchmarks/run.py --json     for programs

Medians of interleaved rounds, so that a machine whose speed drifts slows both sides alike.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import mujoco
import mujoco.batch
import numpy as np

from pliant.batch import make_batch
from pliant.devices import make_devices
from pliant.energy import EnergyAudit
from pliant.engine import MujocoEngine, install
from pliant.laws import (
    Backlash,
    Cogging,
    CompliantActuator,
    Creep,
    DCMotor,
    Electrical,
    Gear,
    Hysteresis,
    PreslidingFriction,
    QbMove,
    Strength,
    Tendon,
    Thermal,
)
from pliant.model import Robot
from pliant.simulation import Simulation

DT = 1.0e-3


@dataclass
class Figure:
    """One measured figure."""

    name: str
    value: float
    unit: str
    target: str
    met: bool | None
    note: str = ""


def chain(n: int) -> mujoco.MjSpec:
    """Return a chain of n hinged links of 0.5 kg and 85 mm, axes alternating, without contacts."""
    spec = mujoco.MjSpec()
    spec.option.timestep = DT
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    body = spec.worldbody
    for i in range(n):
        body = body.add_body(name=f"l{i}", pos=[0.085 if i else 0.0, 0, 0])
        body.add_joint(name=f"j{i}", axis=[0, i % 2 == 0, i % 2], damping=0.065)
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_CAPSULE,
            fromto=[0, 0, 0, 0.085, 0, 0],
            size=[0.02, 0, 0],
            mass=0.5,
            contype=0,
            conaffinity=0,
        )
    return spec


def compliant(n: int, mode: int) -> Robot:
    """Return the chain with qbMove actuators."""
    return Robot(chain(n), {f"j{i}": CompliantActuator(QbMove(), mode) for i in range(n)})


def native(n: int) -> mujoco.MjModel:
    """Return the chain with MuJoCo's own filtered position actuators."""
    spec = chain(n)
    for i in range(n):
        actuator = spec.add_actuator(
            name=f"j{i}",
            target=f"j{i}",
            trntype=mujoco.mjtTrn.mjTRN_JOINT,
            dyntype=mujoco.mjtDyn.mjDYN_FILTER,
            gaintype=mujoco.mjtGain.mjGAIN_FIXED,
            biastype=mujoco.mjtBias.mjBIAS_AFFINE,
        )
        actuator.gainprm[0], actuator.biasprm[1], actuator.biasprm[2], actuator.dynprm[0] = 10.0, -10.0, -0.1, 0.05
    return spec.compile()


def rounds(
    work: dict[str, Callable[[], None]], count: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Return the median time of each piece of work [s], taken in turns."""
    return {name: statistics.median(values) for name, values in in_turns(work, count, clock).items()}


def in_turns(
    work: dict[str, Callable[[], None]], count: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, list[float]]:
    """Return the times of each piece of work [s], taken in turns."""
    times: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(count):
        for name, function in work.items():
            began = clock()
            function()
            times[name].append(clock() - began)
    return times


def bench_step() -> list[Figure]:
    """A step with compliant joints against the same model with native filtered position actuators."""
    figures = []
    steps = 2000
    for n in (1, 5, 20):
        models = {"native": native(n), "3": compliant(n, 3).compile(), "6": compliant(n, 6).compile()}
        install(models["3"])
        install(models["6"])
        work = {}
        for name, model in models.items():
            data = mujoco.MjData(model)

            def run(model=model, data=data) -> None:
                mujoco.mj_resetData(model, data)
                data.ctrl[:] = 0.3
                mujoco.mj_step(model, data, steps)

            work[name] = run
        t = rounds(work, 31)
        for mode, limit in (("3", 1.10), ("6", 1.30)):
            ratio = t[mode] / t["native"]
            figures.append(
                Figure(
                    f"step, {n} joints, mode {mode} / native filtered position",
                    ratio,
                    "x",
                    f"<= {limit:.2f}",
                    ratio <= limit,
                    f"{t[mode] / steps * 1e6:.2f} against {t['native'] / steps * 1e6:.2f} us",
                )
            )
    return figures


def bench_blocks() -> list[Figure]:
    """A Batch of ten-motor arms with blocks of `pliant.laws` against the same Batch with native actuators."""
    friction = PreslidingFriction(stribeck_velocity=0.1, breakaway=0.01, bristle_damping=0.05)
    winding = Electrical(inductance=1e-3, max_current_rate=1e3, supply_resistance=0.2)
    of_motor = {
        "friction": friction, "electrical": winding, "thermal": Thermal(), "cogging": Cogging(ripple=0.02),
        "gear": Gear(), "backlash": Backlash(), "tendon": Tendon(),
    }  # fmt: skip
    of_spring = {
        "hysteresis": Hysteresis(), "creep": Creep(), "strength": Strength(yield_torque=5.0, break_torque=9.0),
        "link_backlash": Backlash(), "link_friction": friction, "reference_slew_1": 1.0, "reference_slew_2": 1.0,
    }  # fmt: skip
    n, nsim, steps = 5, 64, 20
    sets = {
        "no blocks": ({}, {}),
        **{name: ({name: block}, {}) for name, block in of_motor.items() if name != "thermal"},
    }
    sets |= {name: ({}, {name: block}) for name, block in of_spring.items()}
    sets |= {"all blocks of the motors": (of_motor, {}), "all blocks of the spring": ({}, of_spring)}
    sets |= {"all blocks": (of_motor, of_spring)}
    batches = {"native": mujoco.batch.Batch(native(n), nsim, nthread=1)}
    for name, (motor_blocks, blocks) in sets.items():
        motor = DCMotor(**motor_blocks)
        actuators = {f"j{i}": CompliantActuator(QbMove(), 6, motor_1=motor, motor_2=motor, **blocks) for i in range(n)}
        batches[name] = make_batch(Robot(chain(n), actuators), nsim, nthread=1)
    work = {}
    for name, batch in batches.items():
        batch.bind("ctrl")[:] = 0.2

        def run(batch=batch) -> None:
            for _ in range(steps):
                batch.step()

        work[name] = run
    t = rounds(work, 31, time.process_time)
    figures = []
    for name in sets:
        ratio, last = t[name] / t["native"], name == "all blocks"
        note = f"{(t[name] - t['no blocks']) / nsim / steps / n * 1e9:.0f} ns per joint and step more than without"
        target, met = ("<= 1.60", ratio <= 1.6) if last else ("-", None)
        figures.append(Figure(f"Batch of {n} qbMoves, mode 6, {name} / native", ratio, "x", target, met, note))
    return figures


def bench_engine() -> list[Figure]:
    """`MujocoEngine.step` against mj_step on the same compiled model, whose laws run in both.

    Medians of the ratios of neighbours in time: a machine with other work changes its speed within a round.
    """
    figures = []
    steps = 2000
    for n in (1, 5, 20):
        robot = compliant(n, 6)
        bare = MujocoEngine(robot, check=False, guard=False)
        engine, audited = MujocoEngine(robot, check=False), MujocoEngine(robot, check=False)
        audited.add_monitor(EnergyAudit(audited))
        times = in_turns(
            {
                "mj_step": lambda bare=bare: mujoco.mj_step(bare.model, bare.data, steps),
                "guard and observation": lambda engine=engine: engine.step(steps),
                "guard, observation and energy audit": lambda audited=audited: audited.step(steps),
            },
            61,
            time.process_time,
        )
        t = {name: statistics.median(values) for name, values in times.items()}
        for name in ("guard and observation", "guard, observation and energy audit"):
            ratio = statistics.median(a / b for a, b in zip(times[name], times["mj_step"], strict=True))
            note = f"{t[name] / steps * 1e6:.2f} against {t['mj_step'] / steps * 1e6:.2f} us"
            label = f"engine.step(n) with {name}, {n} joints, mode 6 / mj_step of the same model"
            figures.append(Figure(label, ratio, "x", "<= 1.20", ratio <= 1.2, note))
    return figures


def _numpy_loop(model: mujoco.MjModel, steps: int) -> float:
    """Return the time of one simulation step with the law of mode 3 evaluated in numpy before mj_step [s]."""
    law = QbMove()
    data = mujoco.MjData(model)
    q, ctrl = data.qpos, np.full(model.nv, 0.3)
    reference, preset = np.full(model.nv, 0.3), 0.3
    torque = data.qfrc_applied
    began = time.perf_counter()
    for _ in range(steps):
        d1 = np.clip(q - (reference + preset), -law.max_deflection, law.max_deflection)
        d2 = np.clip(q - (reference - preset), -law.max_deflection, law.max_deflection)
        torque[:] = -law.k1 * np.sinh(law.a1 * d1) - law.k2 * np.sinh(law.a2 * d2)
        mujoco.mj_step(model, data)
    del ctrl
    return (time.perf_counter() - began) / steps


def bench_batch() -> list[Figure]:
    """A Batch of 256 five-joint arms against the same Batch without laws, a numpy loop, and one thread."""
    figures = []
    nsim, n, steps = 256, 5, 40
    plain = mujoco.batch.Batch(native(n), nsim)
    batches = {"native": plain}
    for mode in (3, 6):
        batches[str(mode)] = make_batch(compliant(n, mode), nsim)
        batches[f"{mode} one thread"] = make_batch(compliant(n, mode), nsim, nthread=1)
    for batch in batches.values():
        batch.bind("ctrl")[:] = 0.3
    work = {}
    for name, batch in batches.items():

        def run(batch=batch) -> None:
            for _ in range(steps):
                batch.step()

        work[name] = run
    t = rounds(work, 15)
    for mode, limit in (("3", 1.10), ("6", 1.30)):
        ratio = t[mode] / t["native"]
        figures.append(
            Figure(
                f"Batch of {nsim} five-joint arms, mode {mode} / same Batch, native actuators",
                ratio,
                "x",
                f"<= {limit:.2f}",
                ratio <= limit,
                f"{nsim * steps / t[mode]:,.0f} steps/s",
            )
        )
        gain = t[f"{mode} one thread"] / t[mode]
        cores = os.cpu_count() or 1
        figures.append(
            Figure(f"Batch, mode {mode}, {cores} threads / 1 thread", gain, "x", "grows with the cores", None)
        )
    spec = chain(n)
    loop = statistics.median(_numpy_loop(spec.compile(), 3000) for _ in range(3))
    gain = loop / (t["3"] / steps / nsim)
    figures.append(
        Figure(
            "numpy loop (law in numpy, then mj_step) / Batch, mode 3, per simulation step",
            gain,
            "x",
            ">= 5",
            gain >= 5.0,
            f"{loop * 1e6:.1f} us a step in the loop",
        )
    )
    return figures


def bench_loop() -> list[Figure]:
    """The whole loop (devices, clock; recorder off) over mj_step alone, as processor time.

    Rounds are short, so that most of them are not interrupted by other work of the machine; the note has the twentieth
    part of them that was least disturbed.
    """
    figures = []
    steps = 100
    for n in (1, 5):
        robot = compliant(n, 6)
        bare = MujocoEngine(robot, check=False, guard=False)
        engine = MujocoEngine(robot, check=False)
        simulation = Simulation(engine, make_devices(robot), pacer="free")
        simulation.devices["board"].inbox.put({"reference_1": [0.3] * n, "reference_2": [0.3] * n})
        times = in_turns(
            {
                "mj_step": lambda bare=bare: mujoco.mj_step(bare.model, bare.data, steps),
                "loop": lambda simulation=simulation: simulation.step(steps),
            },
            300,
            time.process_time,
        )
        differences = sorted(a - b for a, b in zip(times["loop"], times["mj_step"], strict=True))
        over, least = (differences[k] / steps * 1e6 for k in (150, 15))
        figures.append(
            Figure(
                f"loop over mj_step, {n} joints, board at 1 kHz, joints at 100 Hz",
                over,
                "us",
                "<= 20",
                over <= 20.0,
                f"{least:.1f} us where least disturbed",
            )
        )
        simulation.close()
    return figures


def bench_sweep() -> list[Figure]:
    """A thousand one-second simulations of a 3-joint arm in a sweep."""
    from pliant.sweep import SweepPlan, parse_variation, run_sweep

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arm.yaml"
        model = Path(folder) / "arm.xml"
        spec = chain(3)
        spec.compile()
        model.write_text(spec.to_xml())
        path.write_text(
            "model: arm.xml\nactuators:\n" + "".join(f"  j{i}: {{law: qbmove, mode: 6}}\n" for i in range(3))
        )
        plan = SweepPlan(
            source=str(path),
            variations=(parse_variation("actuator.k1=uniform(0.001,0.003)"),),
            samples=1000,
            duration=1.0,
            timestep=DT,
            commands={f"j{i}/equilibrium_position": 0.3 for i in range(3)},
        )
        result = run_sweep(plan, Path(folder) / "out")
    cores = os.cpu_count() or 1
    return [
        Figure(f"1000 one-second simulations of 3 joints, {cores} cores", result.wall, "s", "< 10", result.wall < 10.0)
    ]


def bench_start() -> list[Figure]:
    """Import, warm start and cold start."""
    figures = []

    def seconds(code: list[str], environment: dict[str, str] | None = None) -> float:
        began = time.perf_counter()
        # As on a user's machine: Python keeps its byte code.
        inherited = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        subprocess.run(code, check=True, capture_output=True, env={**inherited, **(environment or {})})
        return time.perf_counter() - began

    python = sys.executable
    bare = statistics.median(seconds([python, "-c", "pass"]) for _ in range(5))
    value = statistics.median(seconds([python, "-c", "import pliant"]) for _ in range(5))
    figures.append(
        Figure("import pliant, interpreter included", value, "s", "< 0.5", value < 0.5, f"bare {bare:.2f} s")
    )
    command = [python, "-m", "pliant", "run", "qbmove-1dof", "--duration", "0.001"]
    with tempfile.TemporaryDirectory() as cache:
        environment = {"PLIANT_CACHE": cache}
        cold = seconds(command, environment)
        warm = statistics.median(seconds(command, environment) for _ in range(5))
    figures.append(Figure("pliant run, cold: compile the law, one step, exit", cold, "s", "< 20", cold < 20.0))
    figures.append(Figure("pliant run, warm: one step, exit", warm, "s", "< 2", warm < 2.0))
    return figures


def bench_memory() -> list[Figure]:
    """A Batch of 10,000 five-joint arms, in a process of its own."""
    code = (
        "import resource, sys; sys.path.insert(0, sys.argv[1])\n"
        "import run\n"
        "batch = run.make_batch(run.compliant(5, 6), 10_000)\n"
        "batch.bind('ctrl')[:] = 0.3\n"
        "batch.step()\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parent)], check=True, capture_output=True, text=True
    )
    unit = 1024 if sys.platform != "darwin" else 1
    size = int(done.stdout.split()[-1]) * unit / 1e9
    return [Figure("Batch of 10,000 five-joint arms, whole process", size, "GB", "< 1", size < 1.0)]


BENCHES = {
    "step": bench_step,
    "blocks": bench_blocks,
    "engine": bench_engine,
    "batch": bench_batch,
    "loop": bench_loop,
    "sweep": bench_sweep,
    "start": bench_start,
    "memory": bench_memory,
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("which", nargs="*", choices=[*BENCHES, []], help="default: all")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures: list[Figure] = []
    for name in options.which or BENCHES:
        if not options.json:
            print(f"{name} ...", end="\r", file=sys.stderr, flush=True)
        measured = BENCHES[name]()
        figures += measured
        if not options.json:
            for f in measured:
                mark = {True: "met", False: "MISSED", None: ""}[f.met]
                print(f"{f.name:<86} {f.value:9.3g} {f.unit:<3} target {f.target:<20} {mark:<7} {f.note}", flush=True)
    if options.json:
        print(json.dumps([asdict(f) for f in figures], indent=2))


if __name__ == "__main__":
    main()

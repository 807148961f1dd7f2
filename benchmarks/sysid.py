"""Identify the same joints from the same data with pliant and with `mujoco.sysid`: errors, and processor time.

    python benchmarks/sysid.py              a table: largest error of the parameters, error of the prediction, time
    python benchmarks/sysid.py --json       for programs
    python benchmarks/sysid.py --case sea   one joint

The link is clamped, a motor follows references that are held for 2 ms and arrive 7.3 ms late. The data are integrated
by scipy's DOP853 from the equations below, not by pliant or MuJoCo, and have the noise of an encoder and of a torque
sensor. Both fit the same parameters from the same start values, once, on one core, without intervals or a report; what
pliant's profiles and further searches cost is shown by --more. What MuJoCo cannot express gets its best
approximation, and the table says so: a polynomial for the springs of the qbMove, a fixed lever for the AwAS-II, a dead
band of a tendon, without the lubricant, for the backlash. Needs ``pip install "mujoco[sysid]"``.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import math
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

RATE, SECONDS, DELAY = 500.0, 1.5, 0.0073
J, D, KP, KD = 0.031, 0.38, 90.0, 3.2
S0, S1, F, BREAK, VS = 800.0, 0.3, 0.12, 0.08, 0.15
NOISE = {"motor_1_position": 2e-5, "motor_2_position": 2e-5, "torque": 2e-3}
STEP = 2e-4
"""Step of MuJoCo [s]; pliant's own steps are 0.2 and 0.1 ms, extrapolated."""
XTOL = 1e-5
"""Relative step of the parameters at which `mujoco.sysid` ends: with its own 1e-8 it takes many more steps for the same
result. pliant ends at 1e-3 standard errors, which are about as much."""


@dataclass
class Compared:
    """Both results of one joint."""

    case: str
    pliant_error: float
    """Largest relative error of a parameter."""
    sysid_error: float
    """The same, of the parameters that the native model has."""
    pliant_rms: float
    """Error of the predicted torque without noise, relative to its rms."""
    sysid_rms: float
    pliant_s: float
    """Processor time [s]."""
    sysid_s: float
    note: str


def reference(t: float) -> float:
    return 0.3 * math.sin(2.0 * math.pi * (0.5 + 0.8 * t) * t) + (0.12 if t > 0.5 else 0.0)


def integrate(slope: Callable[[float, Any, float], Any], size: int) -> tuple[Any, Any, Any]:
    """Return times, references and states of an equation that gets the time of the command in force, held and late."""
    from scipy.integrate import DOP853

    period = 1.0 / RATE
    times = np.arange(round(SECONDS * RATE)) * period
    edges = np.unique(np.round(np.concatenate([times, times + DELAY]), 12))
    edges = edges[edges <= times[-1] + 1e-12]
    y, found = np.zeros(size), {0: np.zeros(size)}
    for begin, end in itertools.pairwise(edges):
        r = max(math.floor((begin - DELAY) / period + 1e-6), 0) * period
        for a, b in itertools.pairwise(np.linspace(begin, end, math.ceil((end - begin) / 2.5e-4 - 1e-9) + 1)):
            solver = DOP853(lambda t, y, r=r: slope(t, y, r), a, y, b, rtol=1e-8, atol=1e-10)
            while solver.status == "running":
                solver.step()
            y = solver.y.copy()
        sample = round(end / period)
        if abs(end - sample * period) < 1e-9:
            found[sample] = y.copy()
    return times, np.array([reference(t) for t in times]), np.array([found[k] for k in range(times.size)])


def lugre(v: float, z: float, f: float = F) -> tuple[float, float]:
    """Return the friction and the rate of the bristle (Canudas de Wit et al. 1995)."""
    level = f + BREAK * math.exp(-((v / VS) ** 2))
    rate = v - S0 * abs(v) * z / level
    return S0 * z + S1 * rate, rate


def servo(r: float, x: float, v: float, load: float, z: float) -> tuple[float, float, float]:
    friction, rate = lugre(v, z)
    return v, (KP * (r - x) - KD * v - D * v - load - friction) / J, rate


@dataclass
class Case:
    """Data and models of one joint."""

    time: Any
    references: Mapping[str, Any]
    outputs: Mapping[str, Any]
    actuator: Any
    true: dict[str, float]
    spring: str
    """MuJoCo's spring: "linear", "cubic" or "dead band"."""
    note: str = ""
    second: bool = False
    """Whether a second motor moves like the first one, with the other sign of its offset."""


def motor(backlash: Any = None) -> Any:
    from pliant.laws import DCMotor, PreslidingFriction

    friction = PreslidingFriction(
        torque=0.09, stiffness=S0, breakaway=0.05, stribeck_velocity=VS, bristle_damping=S1
    )  # fmt: skip
    return DCMotor(inertia=0.026, damping=0.3, max_torque=math.inf, friction=friction, backlash=backlash)


def common(prefix: str = "motor") -> dict[str, float]:
    return {
        f"{prefix}.inertia": J,
        f"{prefix}.damping": D,
        f"{prefix}.friction.torque": F,
        f"{prefix}.friction.breakaway": BREAK,
        "command_delay": DELAY,
    }


def sea() -> Case:
    from pliant.laws import PID, SEA, CompliantActuator, Mode

    k = 15.0
    t, r, y = integrate(lambda t, y, at: servo(reference(at), y[0], y[1], k * y[0], y[2]), 3)
    start = CompliantActuator(SEA(k=12.0), Mode.PID_REFS, motor(), pid_1=PID(kp=KP, kd=KD), command_delay=0.004)
    outputs = {"motor_1_position": y[:, 0], "torque": k * y[:, 0]}
    return Case(t, {"reference_1": r}, outputs, start, {**common(), "law.k": k}, "linear")


def qbmove() -> Case:
    from pliant.laws import PID, CompliantActuator, Mode, QbMove

    k, a, preset = 0.05, 6.0, 0.15

    def slope(t: float, y: Any, at: float) -> Any:
        r = reference(at)
        one = servo(r + preset, y[0], y[1], k * math.sinh(a * y[0]), y[2])
        return [*one, *servo(r - preset, y[3], y[4], k * math.sinh(a * y[3]), y[5])]

    t, r, y = integrate(slope, 6)
    pid = PID(kp=KP, kd=KD)
    start = CompliantActuator(
        QbMove(k1=0.06, a1=5.5, k2=0.06, a2=5.5), Mode.PID_REFS, motor(), motor(), pid, pid, command_delay=0.004
    )
    outputs = {
        "motor_1_position": y[:, 0],
        "motor_2_position": y[:, 3],
        "torque": k * np.sinh(a * y[:, 0]) + k * np.sinh(a * y[:, 3]),
    }
    true = {**common(), "law.k1": k, "law.a1": a, "law.k2": k, "law.a2": a}
    refs = {"reference_1": r + preset, "reference_2": r - preset}
    return Case(t, refs, outputs, start, true, "cubic", "native: cubic springs, no sinh", True)


def awas() -> Case:
    from pliant.laws import PID, AwAS2, CompliantActuator, LeverDrive, Mode, PreslidingFriction

    ks, length, radius = 10.0, 0.05, 0.015

    def lever(t: float) -> float:
        return 0.012 + (0.005 if t > 0.701 else 0.0)

    def torque(x: float, s: float) -> float:
        return ks * (length / radius * s / (length - s)) ** 2 * math.sin(2.0 * x)

    def slope(t: float, y: Any, at: float) -> Any:
        s, gap = y[3], length - y[3]
        side = 2.0 * ks * (length / radius) ** 2 * s * length / gap**3 * math.sin(y[0]) ** 2
        force = 2e4 * (lever(at) - s) - 400.0 * y[4] - side
        return [*servo(0.5 * reference(at), y[0], y[1], torque(y[0], s), y[2]), y[4], force / 2.0]

    # The lever is pulled to its begin before the log; its own friction is left out.
    def begun(t: float, y: Any, at: float) -> Any:
        z = y.copy()
        z[3] += 0.012
        return slope(t, z, at)

    t, r, y = integrate(begun, 5)
    sigma = y[:, 3] + 0.012
    drive = LeverDrive(
        inertia=2.0, damping=100.0, max_torque=math.inf, min_position=-0.01, friction=PreslidingFriction(torque=0.0)
    )  # fmt: skip
    start = CompliantActuator(
        AwAS2(Ks=8.0), Mode.PID_REFS, motor(), drive, PID(kp=KP, kd=KD), PID(kp=2e4, kd=300.0), command_delay=0.004
    )
    outputs = {
        "motor_1_position": y[:, 0],
        "motor_2_position": sigma,
        "torque": np.array([torque(*row) for row in zip(y[:, 0], sigma, strict=True)]),
    }
    # Half the motion: the springs of the AwAS-II end at their largest deflection.
    refs = {"reference_1": 0.5 * r, "reference_2": np.array([lever(x) for x in t])}
    true = {**common("motor_1"), "law.Ks": ks}
    return Case(t, refs, outputs, start, true, "cubic", "native: no lever, a cubic spring in its place")


def backlash() -> Case:
    from pliant.laws import PID, SEA, Backlash, CompliantActuator, Mode

    k, width, damping = 15.0, 0.06, 0.05

    def slope(t: float, y: Any, at: float) -> Any:
        load = k * (y[0] - y[3])
        slides = abs(y[3]) >= 0.5 * width and load * y[3] > 0.0
        return [*servo(reference(at), y[0], y[1], load, y[2]), 0.0 if slides else load / damping]

    t, r, y = integrate(slope, 4)
    load = k * (y[:, 0] - np.clip(y[:, 3], -0.5 * width, 0.5 * width))
    start = CompliantActuator(
        SEA(k=12.0), Mode.PID_REFS, motor(Backlash(width=0.045, damping=0.07)), pid_1=PID(kp=KP, kd=KD),
        command_delay=0.004,
    )  # fmt: skip
    true = {**common(), "law.k": k, "motor_1.backlash.width": width, "motor_1.backlash.damping": damping}
    outputs = {"motor_1_position": y[:, 0], "torque": load}
    return Case(t, {"reference_1": r}, outputs, start, true, "dead band", "native: dead band without lubricant")


CASES: dict[str, Callable[[], Case]] = {"sea": sea, "qbmove": qbmove, "awas": awas, "backlash": backlash}


def by_pliant(case: Case, log: Mapping[str, Any]) -> tuple[dict[str, float], float, float]:
    from pliant.identification import fit_actuator

    begin = time.process_time()
    weights = {n: 2e-6 if n == "motor_2_position" and not case.second else NOISE[n] for n in case.outputs}
    found = fit_actuator(
        case.actuator, log, list(case.true), outputs=list(case.outputs), starts=1, weights=weights
    )  # fmt: skip
    spent = time.process_time() - begin
    (torque,) = [f for f in found.fits if f.quantity == "torque"]
    return found.values, _relative(torque.predicted, case.outputs["torque"]), spent


def with_more(case: Case, log: Mapping[str, Any]) -> dict[str, float]:
    """Return the processor time of what a fit offers beyond its values [s]."""
    from pliant.identification import expected_errors, fit_actuator

    weights = {n: 2e-6 if n == "motor_2_position" and not case.second else NOISE[n] for n in case.outputs}
    free, outputs = list(case.true), list(case.outputs)
    work: dict[str, Callable[[], Any]] = {
        "fit": lambda: fit_actuator(case.actuator, log, free, outputs=outputs, weights=weights, starts=1),
        "fit with intervals": lambda: fit_actuator(
            case.actuator, log, free, outputs=outputs, weights=weights, starts=1, profile=True
        ),
        "fit from four starts": lambda: fit_actuator(case.actuator, log, free, outputs=outputs, weights=weights),
        "expected errors before the fit": lambda: expected_errors(case.actuator, log, free, weights),
    }
    spent = {}
    for name, do in work.items():
        begin = time.process_time()
        do()
        spent[name] = time.process_time() - begin
    return spent


def warm_up(case: Case) -> None:
    """Load or compile the machine code of a law, whose time is no part of a fit."""
    case.actuator.simulate([0.0, 0.0], None, 0.0, 0.0 if case.actuator.law.second_input != "lever" else 0.01)


def _relative(predicted: Any, true: Any) -> float:
    return float(np.sqrt(np.mean((predicted - true) ** 2) / np.mean(true**2)))


def _spec(case: Case) -> Any:
    """Return MuJoCo's model: motors against springs to a clamped link."""
    import mujoco

    spec = mujoco.MjSpec()
    spec.option.timestep = STEP
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.gravity = [0.0, 0.0, 0.0]
    for j in range(2 if case.second else 1):
        body = spec.worldbody.add_body(name=f"motor_{j + 1}")
        body.add_geom(size=[0.01, 0.01, 0.01], mass=1e-9, contype=0, conaffinity=0)
        joint = body.add_joint(name=f"motor_{j + 1}", axis=[0, 0, 1])
        joint.armature = J
        servo = spec.add_actuator(name=f"servo_{j + 1}", target=joint.name)
        servo.trntype = mujoco.mjtTrn.mjTRN_JOINT
        servo.set_to_position(kp=KP, kv=KD)
        servo.nsample, servo.interp = 60, 1
        losses = spec.add_actuator(name=f"losses_{j + 1}", target=joint.name)
        losses.trntype = mujoco.mjtTrn.mjTRN_JOINT
        tendon = spec.add_tendon(name=f"spring_{j + 1}")
        tendon.wrap_joint(joint.name, 1.0)
        spec.add_sensor(
            name=f"position_{j + 1}", type=mujoco.mjtSensor.mjSENS_JOINTPOS, objtype=mujoco.mjtObj.mjOBJ_JOINT,
            objname=joint.name,
        )  # fmt: skip
    return spec


def _parameters(case: Case) -> Any:
    """Return the parameters as multiples of their start values."""
    import mujoco
    from mujoco.sysid import Parameter, ParameterDict

    count = 2 if case.second else 1

    def put(p: Mapping[str, float], spec: Any) -> None:
        for j in range(1, count + 1):
            spec.joint(f"motor_{j}").armature = 0.026 * p["inertia"]
            spec.joint(f"motor_{j}").damping = [0.3 * p["damping"], 0.0, 0.0]
            spec.actuator(f"servo_{j}").delay = 0.004 * p["delay"]
            spec.actuator(f"losses_{j}").set_to_dcmotor(
                motorconst=[1e-9, 1e-9], resistance=1.0, ctrlspec=int(mujoco.mjtCtrlInput.mjINPUT_NONE),
                lugre=[S0, S1, 0.09 * p["friction"], 0.09 * p["friction"] + 0.05 * p["breakaway"], VS],
            )  # fmt: skip
            spring = spec.tendon(f"spring_{j}")
            cubic = 60.0 * p[f"cubic_{j}"] if case.spring == "cubic" else 0.0
            spring.stiffness = [START[case.spring] * p[f"k_{j}"], 0.0, cubic]
            half = 0.5 * 0.045 * p["width"] if case.spring == "dead band" else 0.0
            spring.springlength = [-half, half]

    names = ["inertia", "damping", "friction", "breakaway", "delay"]
    for j in range(1, count + 1):
        names.append(f"k_{j}")
        if case.spring == "cubic":
            names.append(f"cubic_{j}")
    if case.spring == "dead band":
        names.append("width")
    params = ParameterDict()
    for name in names:
        params.add(Parameter(name, 1.0, 0.05, 20.0))
    return params, put


START = {"linear": 12.0, "dead band": 12.0, "cubic": 1.0}


def by_sysid(case: Case, log: Mapping[str, Any]) -> tuple[dict[str, float], float, float]:
    from mujoco import sysid

    params, put = _parameters(case)
    spec = _spec(case)
    count = 2 if case.second else 1

    def values(p: Any) -> dict[str, float]:
        return {name: float(p[name].value[0]) for name in p.keys()}  # noqa: SIM118

    def build(p: Any, spec: Any) -> Any:
        put(values(p), spec)
        return spec.compile()

    model = build(params, spec)
    grid = np.arange(round(SECONDS / STEP)) * STEP
    at = np.minimum((grid / (1.0 / RATE) + 1e-6).astype(int), case.time.size - 1)
    controls = np.zeros((grid.size, model.nu))
    for j in range(1, count + 1):
        controls[:, j - 1] = case.references[f"reference_{j}"][at]
    control = sysid.TimeSeries.from_control_names(grid, controls, model)
    columns = [log[f"motor_{j}_position"] for j in range(1, count + 1)]
    names = [f"position_{j}" for j in range(1, count + 1)]
    measured = sysid.TimeSeries.from_names(case.time, np.stack(columns, axis=1), model, names)
    state = sysid.create_initial_state(model, np.zeros(model.nq))
    sequences = [sysid.ModelSequences("joint", spec, "log", state, control, measured)]

    def compare(p: Any, predicted: Any, measured: Any, model: Any, everything: bool, **_: Any) -> Any:
        v = values(p)
        shown = predicted.resample(measured.times[1:])
        x = shown.data
        load = np.zeros(x.shape[0])
        for j in range(1, count + 1):
            half = 0.5 * 0.045 * v["width"] if case.spring == "dead band" else 0.0
            y = x[:, j - 1] - np.clip(x[:, j - 1], -half, half)
            cubic = 60.0 * v[f"cubic_{j}"] if case.spring == "cubic" else 0.0
            load += START[case.spring] * v[f"k_{j}"] * y + cubic * y**3
        rest = [
            (x - measured.data[1:]) / NOISE["motor_1_position"],
            ((load - log["torque"][1:]) / NOISE["torque"])[:, None],
        ]
        told.append(load)
        cut = sysid.TimeSeries(measured.times[1:], measured.data[1:], measured.signal_mapping)
        return np.concatenate(rest, axis=1), sysid.TimeSeries(shown.times, x, measured.signal_mapping), cut

    told: list[Any] = []
    residual = sysid.build_residual_fn(
        models_sequences=sequences, build_model=build, modify_residual=compare, n_threads=1
    )  # fmt: skip
    begin = time.process_time()
    with contextlib.redirect_stdout(sys.stderr):
        found, _ = sysid.optimize(params, residual, verbose=False, max_iters=60, xtol=XTOL)
    spent = time.process_time() - begin
    residual(found.as_vector(), found)
    v = values(found)
    scale = {"inertia": 0.026, "damping": 0.3, "friction": 0.09, "breakaway": 0.05, "delay": 0.004, "width": 0.045}
    out = {name: scale[name] * v[name] for name in scale if name in v}
    out["k"] = START[case.spring] * v["k_1"]
    return out, _relative(told[-1], case.outputs["torque"][1:]), spent


SHARED = {
    "inertia": "inertia",
    "damping": "damping",
    "friction": "torque",
    "breakaway": "breakaway",
    "delay": "command_delay",
    "width": "width",
}


def noisy(case: Case, seed: int) -> dict[str, Any]:
    """Return the columns of a log, with noise."""
    rng = np.random.default_rng(seed)
    log: dict[str, Any] = {"time": case.time, "link_position": np.zeros(case.time.size), **case.references}
    for column, values in case.outputs.items():
        scale = 2e-6 if column == "motor_2_position" and not case.second else NOISE[column]
        log[column] = values + scale * rng.standard_normal(values.size)
    return log


def compare(name: str, seed: int = 0) -> Compared:
    """Identify one joint twice."""
    case = CASES[name]()
    log = noisy(case, seed)
    ours, our_rms, our_time = by_pliant(case, log)
    theirs, their_rms, their_time = by_sysid(case, log)
    worst = {}
    for key, last in SHARED.items():
        (path,) = [p for p in case.true if p.rsplit(".", 1)[-1] == last and "backlash.damping" not in p] or [None]
        if key in theirs and path:
            worst[key] = abs(theirs[key] / case.true[path] - 1.0)
    if case.spring != "cubic":
        worst["k"] = abs(theirs["k"] / case.true["law.k"] - 1.0)
    return Compared(
        case=name,
        pliant_error=max(abs(ours[p] / v - 1.0) for p, v in case.true.items()),
        sysid_error=max(worst.values()),
        pliant_rms=our_rms,
        sysid_rms=their_rms,
        pliant_s=our_time,
        sysid_s=their_time,
        note=case.note,
    )


def main() -> None:
    """Print the comparison of every joint."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", choices=CASES, action="append")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--more", action="store_true", help="time pliant's intervals, searches and expected errors")
    options = parser.parse_args()
    for name in options.case or CASES:
        warm_up(CASES[name]())
    if options.more:
        times = {name: with_more(case := CASES[name](), noisy(case, options.seed)) for name in options.case or CASES}
        print(json.dumps(times, indent=1))
        return
    found = [compare(name, options.seed) for name in options.case or CASES]
    if options.json:
        print(json.dumps([asdict(one) for one in found], indent=1))
        return
    three = f"{'pliant':>8} {'sysid':>8} {'ratio':>8} "
    print(f"{'joint':<9} {'error of a parameter [%]':^26} {'error of the torque [%]':^26} {'processor time [s]':^22}")
    print(f"{'':<9} {three}{three}{'pliant':>7} {'sysid':>7} {'ratio':>6}")
    for c in found:
        errors = f"{100 * c.pliant_error:8.3f} {100 * c.sysid_error:8.3f} {c.pliant_error / c.sysid_error:8.3f}"
        torques = f"{100 * c.pliant_rms:8.4f} {100 * c.sysid_rms:8.4f} {c.pliant_rms / c.sysid_rms:8.3f}"
        print(
            f"{c.case:<9} {errors} {torques} {c.pliant_s:7.1f} {c.sysid_s:7.1f} {c.pliant_s / c.sysid_s:6.2f} {c.note}"
        )


if __name__ == "__main__":
    main()

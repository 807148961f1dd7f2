"""Broken causes of the experiment ``chirp``."""

from dataclasses import replace

import numpy as np
from mutations import Mutation

from pliant.papers import chirp

AT = np.linspace(chirp.LOW + 0.1, chirp.HIGH - 0.1, 107)


def amplitudes(options, names):
    runs = chirp.runs_of(options)
    traces = {name: chirp.simulate(runs[name]) for name in names}
    return runs, traces


def peaks(context, options):
    """The pairs of which the default springs and the identified ones are compared."""
    names = [f"{behaviour}{springs}" for behaviour in chirp.PRESETS for springs in ("", ", identified springs")]
    _, traces = amplitudes(options, names)
    found = {n: chirp.response(t["time"], t["joint/position"], AT).max() for n, t in traces.items()}
    return chirp.judge_peaks(found)


def servo(context, options):
    names = ("soft", "soft, no friction")
    _, traces = amplitudes(options, names)
    motors = {n: chirp.response(t["time"], t["joint/equilibrium"], AT[-1:])[0] for n, t in traces.items()}
    return [chirp.verify_servo(name, motors[name], AT[-1]) for name in names]


def sticking(context, options):
    runs, traces = amplitudes(options, ["soft"])
    return [chirp.verify_sticking(runs["soft"], np.abs(traces["soft"]["joint/position"]).max())]


def heavier(context, options):
    names = [name for name in chirp.runs_of(options) if "I = " in name]
    runs, traces = amplitudes(options, names)
    found = {n: chirp.response(t["time"], t["joint/position"], AT) for n, t in traces.items()}
    return [target for n in names for target in chirp.verify_heavier(runs[n], AT, found[n])]


def changed_joint(change, behaviour=""):
    """Return a patch that changes the simulated joint."""

    def patch(monkeypatch):
        build = chirp.build_joint

        def broken(run, timestep):
            robot = build(run, timestep)
            if run.behaviour.startswith(behaviour) and not run.springs:
                change(robot)
            return robot

        monkeypatch.setattr(chirp, "build_joint", broken)

    return patch


def weaken_spring(robot):
    robot.update({"joint.k1": 2e-5, "joint.k2": 2e-5})


def slow_servo(robot):
    robot.update({"joint.pid_1.kp": 80.0, "joint.pid_2.kp": 80.0})


def soften_friction(robot):
    robot.set("joint.link_friction.stiffness", 50.0)


def overdamp(monkeypatch):
    """Give the joint three times the damping."""
    build = chirp.build_joint
    monkeypatch.setattr(
        chirp,
        "build_joint",
        lambda run, timestep: build(replace(run, options=replace(run.options, damping=0.2)), timestep),
    )


MUTATIONS = [
    Mutation(
        experiment="chirp",
        name="the simulated joint has the springs of the Maker Pro",
        turns=("soft: peak deflection of the simulated link over the real one's",),
        options={"springs": "maker-pro"},
        run=peaks,
    ),
    Mutation(
        experiment="chirp",
        name="the spring of the stiff joint is a hundredth",
        turns=("stiff: peak deflection of the simulated link over the real one's",),
        patch=changed_joint(weaken_spring, "stiff"),
        run=peaks,
    ),
    Mutation(
        experiment="chirp",
        name="the gain of the servo is too small",
        turns=("*: amplitude of the motors' equilibrium at 5.9 Hz",),
        patch=changed_joint(slow_servo),
        run=servo,
    ),
    Mutation(
        experiment="chirp",
        name="the presliding friction gives way more",
        turns=("soft: largest angle of the link, which friction holds",),
        patch=changed_joint(soften_friction),
        run=sticking,
    ),
    Mutation(
        experiment="chirp",
        name="the damping of the joint is three times as large",
        turns=("stiff, I = *: peak", "stiff, I = *: frequency of the peak"),
        patch=overdamp,
        run=heavier,
    ),
]

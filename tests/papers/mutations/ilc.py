"""Broken causes of the experiment ``ilc``."""

import numpy as np
from mutations import Mutation, quick

from pliant.papers import ilc


def learning(context, options):
    result = ilc.learn(options)
    return [*ilc.judge_learning(result), *ilc.verify(options, result)]


def two_runs(context, options):
    return ilc.judge_learning(ilc.learn(options, max_runs=3))


def frictionless(monkeypatch):
    build = ilc.make_plant
    monkeypatch.setattr(ilc, "make_plant", lambda arm, *rest: build({**arm, "friction": 0.0}, *rest))


def time_step(context, options):
    return [ilc.verify_time_step(options, 2)]


def delay_in_steps(monkeypatch):
    """Delay the command by a number of steps instead of a time, so that it depends on the time step."""
    build = ilc.make_plant

    def delayed(*given):
        plant = build(*given)
        return lambda command: plant(np.concatenate([np.repeat(command[:1], 500, axis=0), command[:-500]]))

    monkeypatch.setattr(ilc, "make_plant", delayed)


def transferred(context, options):
    traces = quick("ilc").traces
    command, error = traces["command_rad"], traces["reference_rad"] - traces["response_last_rad"]
    arms = [ilc.transfer(options, row, command) for row in ilc.draw_arms(context.rng, 1)]
    return ilc.verify_transfer(options, command, error, arms)


def weak_springs(monkeypatch):
    monkeypatch.setattr(ilc, "draw_arms", lambda rng, count: np.array([[0.5, 1.0, 1.0]]))


MUTATIONS = [
    Mutation(
        experiment="ilc",
        name="the links weigh half as much",
        turns=("runs until both joints are within 0.08 rad",),
        options={"link_mass": 0.5},
        run=learning,
    ),
    Mutation(
        experiment="ilc",
        name="the learning overshoots",
        turns=("runs in which the largest error did not fall",),
        options={"gain": 8.0},
        run=two_runs,
    ),
    Mutation(
        experiment="ilc",
        name="the joints have no friction",
        turns=("joint 1: largest error of run *",),
        patch=frictionless,
        run=learning,
    ),
    Mutation(
        experiment="ilc",
        name="the command is delayed by a number of steps",
        turns=("largest change of the errors of the first 2 runs with half the time step",),
        patch=delay_in_steps,
        run=time_step,
    ),
    Mutation(
        experiment="ilc",
        name="the springs of the other arms are half as stiff",
        turns=("joint 1: largest error on arms that differ*", "joint 2: largest error on arms that differ*"),
        patch=weak_springs,
        run=transferred,
    ),
    Mutation(
        experiment="ilc",
        name="the joints have no friction when the learned input is run",
        turns=("learned input on an arm equal to the model: largest change of the error",),
        patch=frictionless,
        run=transferred,
    ),
]

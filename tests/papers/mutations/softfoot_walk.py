"""Broken causes of the experiment ``softfoot-walk``."""

from mutations import Mutation

from pliant.base.errors import DivergedError
from pliant.papers import softfoot_walk
from pliant.simulation import Simulation
from pliant.walking.trials import Crossing, Walk, walk_many
from pliant.walking.walk import run_walk

OFF = {"dcm_rate": 0.0, "max_adjustment": 0.0, "posture_stiffness": 0.0, "posture_damping": 0.0}


def without_stabiliser(context, options):
    walks = [Walk(feet=feet, height=0.0, seed=0, goal=0.95, duration=10.0) for feet in softfoot_walk.FEET]
    return softfoot_walk.checks(walk_many(walks, settings=dict.fromkeys(softfoot_walk.FEET, OFF)))


def a_step_diverges(monkeypatch):
    def step(self, count=1):
        raise DivergedError("the acceleration of a joint is no number", joint="l_knee")

    monkeypatch.setattr(Simulation, "step", step)


def one_walk(context, options):
    result = run_walk(feet="rigid", duration=0.1)
    return softfoot_walk.checks({Walk(feet="rigid", height=0.0, seed=0): Crossing(result=result, offset=float("nan"))})


def lift_the_soft_feet_higher(monkeypatch):
    monkeypatch.setitem(softfoot_walk.SETTINGS, "soft", {"lift": 0.09})


def only_settings(context, options):
    return [softfoot_walk.unmodified(softfoot_walk.settings_that_differ())]


MUTATIONS = [
    Mutation(
        experiment="softfoot-walk",
        name="the stabiliser is off",
        turns=("flat ground: completed walks with * feet",),
        run=without_stabiliser,
    ),
    Mutation(
        experiment="softfoot-walk",
        name="the simulation diverges",
        turns=("walks whose simulation diverged",),
        patch=a_step_diverges,
        run=one_walk,
    ),
    Mutation(
        experiment="softfoot-walk",
        name="the soft feet are lifted higher",
        turns=("settings of the controller that differ between the feet",),
        patch=lift_the_soft_feet_higher,
        run=only_settings,
    ),
]

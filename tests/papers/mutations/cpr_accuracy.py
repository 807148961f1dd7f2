"""Mutations of the experiment ``cpr-accuracy``."""

import dataclasses

import numpy as np
from mutations import Mutation
from rod_mutations import section, weight

from pliant.papers import cpr_accuracy as module
from pliant.rods import ContinuumParallelRobot, accuracy, load_robot, robot


def settings(context, options):
    return module.setting_targets(context, options, 1)[0]


def kinked(context, options):
    """A rod whose own curvature has a kink is integrated with a lower order."""
    d = load_robot("Stewart_Gough_6PFR").description
    rod = dataclasses.replace(
        d.limbs[0].rod, precurvature=((0.0, 0.0, 0.0, 0.0), (0.37, 0.0, 0.5, 0.0), (1.0, 0, 0, 0))
    )
    limbs = (dataclasses.replace(d.limbs[0], rod=rod), *d.limbs[1:])
    return [module.convergence_target(ContinuumParallelRobot(dataclasses.replace(d, limbs=limbs)).home())[0]]


def till(context, options):
    return module.till_statement(context, options, 4)[:2]


def weightless(patch):
    original = module.shoot
    patch.setattr(
        module, "shoot", lambda rod, L, w, base, g, *, printed: original(rod, L, w, base, 0 * g, printed=printed)
    )


def coarse(patch):
    rough = accuracy.Accuracy(steps=1, tolerance=np.inf)
    for place in (accuracy, robot):
        patch.setattr(place, "ACCURACIES", {"fast": rough, "accurate": rough})


MUTATIONS = [
    Mutation(
        experiment="cpr-accuracy",
        name="the rod is 1 m long, where the second length does no harm",
        options={"length": 1.0},
        run=lambda context, options: [module.moment_statement(options)],
        turns=("equation 2: *",),
    ),
    Mutation(
        experiment="cpr-accuracy",
        name="the shear modulus of the rod is Young's modulus",
        patch=section(torsion=2.5),
        run=lambda context, options: [module.torsion_statement()],
        turns=("equation 4: *",),
    ),
    Mutation(
        experiment="cpr-accuracy",
        name="the plate is level",
        run=lambda context, options: [module.orientation_statement(load_robot("Stewart_Gough_6PFR").home())],
        turns=("section 3.1: *",),
    ),
    Mutation(
        experiment="cpr-accuracy",
        name="the plate of Till's robot moves farther",
        options={"till_shift": 0.04, "till_turn": 0.2},
        run=till,
        turns=("section 5: difference of the rod lengths*",),
    ),
    Mutation(
        experiment="cpr-accuracy",
        name="the plate of Till's robot weighs half as much again in the solver",
        patch=weight(1.5),
        run=till,
        turns=("6FFR_Till: rod lengths against an independent solver",),
    ),
    Mutation(
        experiment="cpr-accuracy",
        name="the rods are integrated in one step and nobody looks at the error",
        patch=coarse,
        run=settings,
        turns=("6PFR, *: joint values against 400 steps",),
    ),
    Mutation(
        experiment="cpr-accuracy",
        name="the rods weigh nothing in the other integrator",
        patch=weightless,
        run=settings,
        turns=("rods against DOP853: tip position",),
    ),
    Mutation(
        experiment="cpr-accuracy",
        name="a rod has a kink in its own curvature",
        run=kinked,
        turns=("order of convergence",),
    ),
    Mutation(
        experiment="cpr-accuracy",
        name="the plate of the 6EFR weighs a tenth more in the solver",
        patch=weight(1.1),
        run=lambda context, options: module.home_targets()[0][:1],
        turns=("6EFR: home length against scipy",),
    ),
    Mutation(
        experiment="cpr-accuracy",
        name="the rods of the 6EFR are a hundredth stiffer",
        patch=section(bending=1.01),
        run=lambda context, options: module.home_targets()[0],
        turns=("6EFR: home length, equation *",),
    ),
]

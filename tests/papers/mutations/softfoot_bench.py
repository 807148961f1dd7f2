"""What breaks the statements and checks of ``softfoot-bench``."""

import dataclasses

import numpy as np
from mutations import Mutation

from pliant.feet.trials import Trial
from pliant.papers import softfoot_bench as module

FEW = [Trial(50.0, 0.005, 1), Trial(50.0, 0.02, 1), Trial(100.0, 0.005, 6), Trial(100.0, 0.02, 6)]
GRID = [Trial(100.0, height, place) for height in (0.005, 0.02) for place in (1, 6)]

SAME = (
    "Sensitivity to the heel block: heel over its printed part",
    "Sensitivity to the heel block: fascia over its printed part",
    "Sensitivity to the heel block: metatarsus over its printed part",
    "Sensitivity to the heel block: the fascia changes least",
    "Sensitivity to the metatarsus block: heel over its printed part",
    "Sensitivity to the metatarsus block: metatarsus over its printed part",
    "Sensitivity to the initial pitch: fascia over its printed part",
)
"""What the few trials of the quick version miss."""
OTHER = (
    "Sensitivity to the metatarsus block: fascia over its printed part",
    "Sensitivity to the initial pitch: heel over its printed part",
    "Sensitivity to the initial pitch: metatarsus over its printed part",
)
"""What they meet."""


def _run(trials, options, **changes):
    return module.run_trials(trials, options, **changes)


def _printed(factor=1.0, columns=(0, 1, 2)):
    """Return a part that judges forces that change as the paper prints, times factors, with parts exchanged."""

    def run(context, options):
        changes = {
            name: 0.01 * np.multiply(factor, values)[list(columns)] for name, values in module.SENSITIVITY.items()
        }
        return module.sensitivity_statements(changes, options)

    return run


def _unchanged(context, options):
    nominal = _run(FEW[:2], options)
    return module.sensitivity_statements(module.sensitivity(FEW[:2], options, nominal), options)


def _short(context, options):
    found = _run(FEW, options)
    return [
        module.rest_statement(found, _run(FEW, options, seconds=4.0), options.duration),
        *module.balance_checks(found),
    ]


def _leaning(context, options):
    """Judge forces on blocks that are pushed to the toes as much as down."""
    found = _run(FEW, options)
    return [module.vertical_statement(dataclasses.replace(found, horizontal=1.2 * found.force))]


def _upside_down(context, options):
    """Judge trends of forces that belong to the trials in reverse order."""
    found = _run(GRID, options)
    return module.trend_statements(dataclasses.replace(found, force=found.force[::-1]))


def _all_carry(context, options):
    found = _run([Trial(100.0, height, place) for height in (0.005, 0.01) for place in (2, 5)], options)
    return module.trend_statements(found)[:1]


def _other_foot(**changes):
    def run(context, options):
        exact = _run(FEW, options)
        return [
            *module.reduced_checks(exact, _run(FEW, options, **module.REDUCED, **changes)),
            *module.tendon_checks(exact, _run(FEW, options, tendon="fixed", **changes)),
        ]

    return run


MUTATIONS = [
    Mutation(
        experiment="softfoot-bench",
        name="a trial is over before the foot has come to rest",
        options={"duration": 1.05},
        run=_short,
        turns=("Rest: *", "Balance: *"),
    ),
    Mutation(
        experiment="softfoot-bench",
        name="a quarter of the step stops long before",
        options={"duration": 0.3},
        run=lambda context, options: module.step_checks(FEW, options),
        turns=("Time step: *",),
    ),
    Mutation(
        experiment="softfoot-bench",
        name="the blocks are pushed to the toes more than down",
        run=_leaning,
        turns=("Vertical force: *",),
    ),
    Mutation(
        experiment="softfoot-bench",
        name="forces of the last trial belong to the first",
        run=_upside_down,
        turns=("Height: *", "Position: *"),
    ),
    Mutation(
        experiment="softfoot-bench",
        name="no obstacle stands under the first module",
        run=_all_carry,
        turns=("Contact: *",),
    ),
    Mutation(
        experiment="softfoot-bench",
        name="nothing in the set-up changes",
        options={"block_move": 0.0, "pitch_change": 0.0},
        run=_unchanged,
        turns=("Sensitivity to the *: largest change of a mean force",),
    ),
    Mutation(
        experiment="softfoot-bench",
        name="the forces change as the paper prints",
        run=_printed(),
        turns=SAME,
    ),
    Mutation(
        experiment="softfoot-bench",
        name="heel and metatarsus change by a tenth of what the paper prints",
        run=_printed((0.1, 1.0, 0.1)),
        turns=OTHER,
    ),
    Mutation(
        experiment="softfoot-bench",
        name="heel and metatarsus are exchanged",
        run=_printed(1.0, (2, 1, 0)),
        turns=(
            "Sensitivity to the metatarsus block: the heel changes least",
            "Sensitivity to the initial pitch: the heel changes least",
        ),
    ),
    Mutation(
        experiment="softfoot-bench",
        name="the reduced foot has bands of ten times the stiffness and no slack in its tendons",
        run=_other_foot(band_stiffness=8.0, tendon_slack=-0.004),
        turns=("Reduced foot: *", "Fixed tendon: *"),
    ),
]

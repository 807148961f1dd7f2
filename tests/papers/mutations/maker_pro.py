"""What breaks the statements and checks of ``maker-pro``."""

import dataclasses

import numpy as np
from mutations import Mutation

from pliant.identification.loops import predict_loop, validate_loops
from pliant.papers import maker_pro
from pliant.papers._maker_pro_blocks import COMPLETE, SETS, blocks_statement
from pliant.papers.maker_pro import MEASURED, PRESETS, Loss, branch


def _perfect(loss):
    """Return a patch that measures a joint that has the law and these losses."""
    columns = [branch(p, MEASURED[:, 0], rising, loss) for p in PRESETS for rising in (True, False)]
    return lambda patch: patch.setattr(maker_pro, "MEASURED", np.column_stack([MEASURED[:, 0], *columns]))


def _complete(monkeypatch):
    """Measure a joint that has all the blocks and nothing else."""
    torque = MEASURED[:, 0]
    values = {"k": 0.004, "a": 8.5, "parallel": 0.4, "spring_friction": 0.2, "presliding": 0.06, "dead_zone": 0.08}
    columns = [branch for preset in PRESETS for branch in predict_loop(torque, preset, values, turn=1.47)]
    monkeypatch.setattr(maker_pro, "MEASURED", np.column_stack([torque, *columns]))


def _backwards(monkeypatch):
    monkeypatch.setattr(maker_pro, "MEASURED", MEASURED[:, [0, 2, 1, 4, 3, 6, 5]])


def _loops(friction, half_friction):
    """Return the checks of short loops that are simulated with other friction than they are compared with."""

    def run(context, options):
        fit = Loss(friction=0.05, dead_band=0.075)
        broken, other = (dataclasses.replace(fit, friction=f) for f in (friction, half_friction))
        loop = maker_pro.sweep(PRESETS[-1], broken, period=20.0)
        half = maker_pro.sweep(PRESETS[-1], other, period=20.0)
        return maker_pro.checks({PRESETS[-1]: loop}, half, fit, options)

    return run


MUTATIONS = [
    Mutation(
        experiment="maker-pro",
        name="springs of half the stiffness",
        options={"k": 0.011},
        run=lambda context, options: maker_pro.law_statements(options),
        turns=("Law alone: *, preset 0",),
    ),
    Mutation(
        experiment="maker-pro",
        name="a measured joint that has the law and no losses",
        patch=_perfect(Loss(friction=0.01)),
        run=lambda context, options: maker_pro.law_statements(options),
        turns=("Law alone: *, preset 0.4602", "Law alone: *, preset 0.6903"),
    ),
    Mutation(
        experiment="maker-pro",
        name="twenty times the friction of the draft",
        options={"friction": 0.2},
        run=lambda context, options: [maker_pro.friction_statement(options)],
        turns=("Friction of the draft: *, preset 0.4602", "Friction of the draft: *, preset 0.6903"),
    ),
    Mutation(
        experiment="maker-pro",
        name="four times the friction of the draft",
        options={"friction": 0.04},
        run=lambda context, options: [maker_pro.friction_statement(options)],
        turns=("Friction of the draft: *, preset 0",),
    ),
    Mutation(
        experiment="maker-pro",
        name="a measured joint that has the blocks and nothing else",
        patch=_complete,
        run=lambda context, options: [blocks_statement(validate_loops(maker_pro.measured_loops(), SETS[COMPLETE]))],
        turns=("Blocks fitted to the other loops: *",),
    ),
    Mutation(
        experiment="maker-pro",
        name="the simulated joint has twice the friction",
        run=_loops(0.1, 0.05),
        turns=("Simulated loops: *",),
    ),
    Mutation(
        experiment="maker-pro",
        name="the branches of the measured loops are exchanged",
        patch=_backwards,
        run=_loops(0.05, 0.05),
        turns=("Measured loops: smallest energy that a loop dissipates",),
    ),
]

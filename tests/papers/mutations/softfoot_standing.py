"""What breaks the statements and checks of ``softfoot-standing``."""

import dataclasses

import numpy as np
from mutations import Mutation

from pliant.feet import standing_bench
from pliant.papers import softfoot_standing as module

BARS = [(0.0, 0.0), (0.01, 0.05), (0.02, 0.05)]
DROPS = [(0.02, 0.0, 0.0)]


def _stand(options, seconds=3.0):
    return {kind: module.stand(kind, BARS, options, seconds=seconds) for kind in module.FEET}


def _exchanged(context, options):
    """Judge feet of which the SoftFoot is the rigid one."""
    found = _stand(options)
    soft, rigid = found["soft"], found["rigid"]
    exchanged = {"soft": rigid, "rigid": soft, "compliant": found["compliant"]}
    return module.standing_statements(exchanged, {1.0: soft.length[1:]}, BARS, range(1, len(BARS)))


def _small_pads(context, options):
    """Judge a SoftFoot among pads that are supported as little as the rigid foot."""
    found = _stand(options, seconds=1.0)
    return module.standing_statements(found, {1.0: found["rigid"].length[1:]}, BARS, range(1, len(BARS)))


def _short(context, options):
    return module.checks(_stand(options, seconds=0.1), options)


def _soft(context, options):
    pad = module.drop("compliant", DROPS, options)
    rigid = module.drop("rigid", DROPS, options)
    return [module.drop_statement({"soft": pad, "rigid": rigid, "compliant": pad})]


def _damped(monkeypatch):
    add = standing_bench.add_softfoot
    softened = lambda spec, body, **options: add(spec, body, **options, sole_damping=8e5)  # noqa: E731
    monkeypatch.setattr(standing_bench, "add_softfoot", softened)


def _drops(context, options):
    return [module.drop_statement({kind: module.drop(kind, DROPS, options) for kind in module.FEET})]


def _level(monkeypatch):
    stand = module.stand

    def level(*arguments, **options):
        found = stand(*arguments, **options)
        return dataclasses.replace(found, pitch=0.9 * np.asarray(found.pitch))

    monkeypatch.setattr(module, "stand", level)


MUTATIONS = [
    Mutation(
        experiment="softfoot-standing",
        name="SoftFoot and rigid foot are exchanged",
        run=_exchanged,
        turns=("Support: SoftFoot over rigid foot", "Compensating angle, *"),
    ),
    Mutation(
        experiment="softfoot-standing",
        name="every pad has the support of the rigid foot",
        run=_small_pads,
        turns=("Support: SoftFoot over compliant pad, *",),
    ),
    Mutation(
        experiment="softfoot-standing",
        name="the feet have a tenth of a second to come to rest",
        run=_short,
        turns=("Balance on bars, *", "Moments on bars, *"),
    ),
    Mutation(
        experiment="softfoot-standing",
        name="the SoftFoot falls as the pad does",
        run=_soft,
        turns=("Drops: what the SoftFoot takes off *",),
    ),
    Mutation(
        experiment="softfoot-standing",
        name="the soles have ten times the damping of rubber",
        patch=_damped,
        run=_drops,
        turns=("Drops: impact of the SoftFoot *",),
    ),
    Mutation(
        experiment="softfoot-standing",
        name="pitches are measured ten per cent too small",
        patch=_level,
        run=lambda context, options: [module.rigid_angle_check(options)],
        turns=("Rigid foot: *",),
    ),
]

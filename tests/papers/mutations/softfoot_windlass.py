"""What breaks the statements and checks of ``softfoot-windlass``."""

from mutations import Mutation

from pliant.feet.press_bench import REDUCED, stand
from pliant.feet.softfoot import parameters
from pliant.papers import softfoot_windlass as module


def _statements(slack):
    """Return the run of all statements about feet with one slack."""

    def run(context, options):
        foot = dict(REDUCED)
        feet = module.dorsiflexed(slack, options.load, True, foot)
        ratio = module.tiptoe_stiffness(slack, foot) / module.tiptoe_stiffness(module.CUT, foot)
        return [
            module.tightening(feet),
            module.lifting(feet, slack, options.load),
            module.stiff_lever(ratio),
            module.distributing(stand(module.STANDING_LOAD, bar=module.BAR, **{**foot, "tendon_slack": slack})),
        ]

    return run


def _short(context, options):
    """Return the checks of the short tendons, for tendons that are never taut."""
    foot = dict(REDUCED)
    without = module.tiptoe_stiffness(module.CUT, foot)
    return module.short_targets(
        module.dorsiflexed(module.SHORT, options.load, True, foot),
        module.tiptoe_stiffness(module.SHORT, foot) / without,
    )


def _never_taut(patch):
    patch.setattr(module, "SHORT", 0.1)


def _higher_tendons(patch):
    """Route the tendons 3 mm below the rolling axes, and make the pulleys small enough for it."""
    patch.setattr(parameters, "TENDON_OFFSET", 0.003)
    patch.setattr(parameters, "PULLEY_RADIUS", 0.0025)


MUTATIONS = [
    Mutation(
        experiment="softfoot-windlass",
        name="the tendons are cut",
        run=_statements(module.CUT),
        turns=("Tension of the tendons at full dorsiflexion",),
    ),
    Mutation(
        experiment="softfoot-windlass",
        name="the tendons have no slack",
        run=_statements(0.0),
        turns=(
            "Rise of the arch at full dorsiflexion",
            "Stiffness on tiptoe, *",
            "Tension of the tendons in standing on the bar",
        ),
    ),
    Mutation(
        experiment="softfoot-windlass",
        name="the short tendons are never taut",
        patch=_never_taut,
        run=_short,
        turns=("Slack 0: *",),
    ),
    Mutation(
        experiment="softfoot-windlass",
        name="the tendons run 3 mm below the axes",
        patch=_higher_tendons,
        run=lambda context, options: [module.lever_target()],
        turns=("Lengthening of the tendons with *",),
    ),
]

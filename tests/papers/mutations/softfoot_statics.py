"""What breaks the statements and checks of ``softfoot-statics``."""

import dataclasses

from mutations import Mutation

from pliant.feet import press_bench as softfoot_press
from pliant.feet.press_bench import REDUCED, stand
from pliant.papers import softfoot_statics as module

BAR = (0.02, 0.02)
STEPS = "Height with steps of 2 and 4 ms"


def _curve(context, options):
    return [module.stiffening([stand(load, bar=BAR, **REDUCED) for load in module.LOADS])]


def _from_above(patch):
    patch.setattr(module, "LOADS", module.LOADS[::-1])


def _stiff_bands(context, options):
    """Give the sole bands that are 250 times as stiff."""
    foot = {**REDUCED, "band_stiffness": 200.0}
    loads = (*module.SHAPE_LOADS, module.LOAD)
    return [module.shape(stand(module.LOAD, **foot), {load: stand(load, bar=BAR, **foot) for load in loads})]


def _exchanged_feet(context, options):
    soft, rigid = (stand(module.LOAD, bar=BAR, rigid=rigid, **({} if rigid else REDUCED)) for rigid in (False, True))
    return [module.support(rigid, soft)]


def _exchanged_places(context, options):
    forces = {place: stand(module.LOAD, bar=(0.01, place), **REDUCED).bar for place in module.PLACES}
    forces[module.HEEL], forces[module.METATARSUS], forces[0.05] = forces[0.02], forces[0.08], forces[module.HEEL]
    return [module.flexible(forces)]


def _large_capsules(patch):
    """Make the foot of the release a fifth larger, with capsules as soles."""

    def other(load, **options):
        changes = {"scale": 1.2, "contact": "capsule"} if options.pop("release_quirks", False) else {}
        return stand(load, **options, **changes)

    patch.setattr(module, "stand", other)


def _stiff_closure(context, options):
    stiff = module.centers(**REDUCED, closure_compliance=2e-6)
    return module.center_targets(stiff, module.centers(**{**REDUCED, "contact": "capsule"}))


def _stiff_rig(patch):
    patch.setitem(softfoot_press.TRIAL_RIG, "stiffness", 30000.0)


def _nearly_equal_loads(patch):
    patch.setattr(module, "SHAPE_LOADS", (300.0, 310.0))


def _shape(context, options):
    loads = (*module.SHAPE_LOADS, module.LOAD)
    on_bar = {load: stand(load, bar=BAR, **REDUCED) for load in loads}
    return [module.shape(stand(module.LOAD, **REDUCED), on_bar)]


def _without_weight(patch):
    patch.setattr(module, "stand", lambda load, **options: dataclasses.replace(stand(load, **options), weight=0.0))


def _too_long_a_step(patch):
    """Take a step at which constraints of the release would have to be faster than two steps: MuJoCo softens them."""
    patch.setattr(module, "STEP", {"short": 2e-3, "long": 10.4e-3})


def _steps(context, options):
    checks = module.steps_compared({**REDUCED, "release_quirks": True}, BAR)
    return [dataclasses.replace(checks[1], name=STEPS)]


MUTATIONS = [
    Mutation(
        experiment="softfoot-statics",
        name="the loads go from the largest to the smallest",
        patch=_from_above,
        run=_curve,
        turns=("Stiffness at the largest load over that at the smallest", "Steps of the load in which *"),
    ),
    Mutation(
        experiment="softfoot-statics",
        name="the bands are 250 times as stiff",
        run=_stiff_bands,
        turns=("Largest turn of a module from flat ground to the bar",),
    ),
    Mutation(
        experiment="softfoot-statics",
        name="the two loads are nearly equal",
        patch=_nearly_equal_loads,
        run=_shape,
        turns=("Largest turn of a module from 50 to 500 N",),
    ),
    Mutation(
        experiment="softfoot-statics",
        name="soft and rigid foot are exchanged",
        run=_exchanged_feet,
        turns=("Soft foot: share of the load beside the bar", "Length of the support, soft over rigid foot"),
    ),
    Mutation(
        experiment="softfoot-statics",
        name="the places of the bar are exchanged",
        run=_exchanged_places,
        turns=("Force on a bar under *",),
    ),
    Mutation(
        experiment="softfoot-statics",
        name="the foot is a fifth larger and has capsules as soles",
        patch=_large_capsules,
        run=lambda context, options: module.trial_targets(),
        turns=("Flat, *", "Bar of 20 mm: largest difference of a pitch"),
    ),
    Mutation(
        experiment="softfoot-statics",
        name="the closure is stiffer, and the reduced foot has capsules",
        run=_stiff_closure,
        turns=("Pitch sweep: *", "Reduced foot: *"),
    ),
    Mutation(
        experiment="softfoot-statics",
        name="the rig of the trial holds the ankle ten times as stiffly",
        patch=_stiff_rig,
        run=lambda context, options: module.rig_targets(True),
        turns=("Rig of the trial, *",),
    ),
    Mutation(
        experiment="softfoot-statics",
        name="the weight of the foot is left out",
        patch=_without_weight,
        run=lambda context, options: module.steps_compared(dict(REDUCED), BAR),
        turns=("Force of the ground less load and weight",),
    ),
    Mutation(
        experiment="softfoot-statics",
        name="the long step is too long for the contacts of the release",
        patch=_too_long_a_step,
        run=_steps,
        turns=(STEPS,),
    ),
]

"""Broken causes of the experiment ``tdcr``."""

import dataclasses

from mutations import Mutation

from pliant.papers import tdcr


def thick(monkeypatch):
    """Build the model from a wire that is a tenth stiffer than that of the statics."""
    from pliant.tendons import model

    build = model.build_tendon_robot

    def broken(description, options=None, **more):
        segments = tuple(
            dataclasses.replace(s, rod=dataclasses.replace(s.rod, young_modulus=1.3 * s.rod.young_modulus))
            for s in description.segments
        )
        made = build(dataclasses.replace(description, segments=segments), options, **more)
        made.devices[0] = dataclasses.replace(made.devices[0], description=description)
        return made

    monkeypatch.setattr(model, "build_tendon_robot", broken)


MUTATIONS = [
    Mutation(
        experiment="tdcr",
        name="the simulated wire is stiffer than that of the statics",
        turns=("tdcr at rest: *",),
        patch=thick,
        run=lambda context, options: tdcr.tdcr(context, options).targets,
    ),
]

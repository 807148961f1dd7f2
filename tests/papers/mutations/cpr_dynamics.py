"""Mutations of the experiment ``cpr-dynamics``."""

import dataclasses

import numpy as np
import pytest
from mutations import Mutation, quick

from pliant.papers import cpr_dynamics as module
from pliant.parallel.model import builder, comparison
from pliant.parallel.model.mechanism import MechanismState
from pliant.rods import load_robot

ROBOTS = ("Stewart_Gough_6PFR", "RERRFR")


def material(factor):
    """Return a patch that gives the rods of dynamic models, not those of the statics, another Young's modulus."""

    def patch(monkeypatch):
        add = builder.add_chain

        def broken(out, limb, *rest):
            rod = dataclasses.replace(limb.rod, young_modulus=factor * limb.rod.young_modulus)
            return add(out, dataclasses.replace(limb, rod=rod), *rest)

        monkeypatch.setattr(builder, "add_chain", broken)

    return patch


def too_far(monkeypatch):
    set_joints = MechanismState.set_joints
    monkeypatch.setattr(MechanismState, "set_joints", lambda self, q: set_joints(self, np.asarray(q) + 0.005))


def pushing(monkeypatch):
    """Let the material of the rods push where it should damp."""
    growth = comparison._energy_growth

    def broken(state):
        model = state.model  # the integrator damps by its time step
        model.dof_damping[:] -= 11.0 * model.opt.timestep * model.jnt_stiffness[model.dof_jntid]
        return growth(state)

    monkeypatch.setattr(comparison, "_energy_growth", broken)


def settled(*kinds):
    """Return a run of the checks of some kinds on robots at rest."""

    def run(context, options):
        with pytest.MonkeyPatch.context() as patch:  # the energy is not looked at, and takes longest
            patch.setattr(comparison, "_energy_growth", lambda state: 0.0)
            found = [target for name in ROBOTS for target in module.robot_targets(name, options)[0]]
        return [target for target in [*found, *segments(options)] if target.name.startswith(kinds)]

    return run


def energy(context, options):
    return [module.robot_targets(name, options)[0][-1] for name in ROBOTS]


def segments(options):
    statics = load_robot("Stewart_Gough_6PFR")
    return module.chain_targets(np.array([module.segment_row(statics, "chain", n, options.move) for n in (4, 6, 8)]))


def pitch(context, options):
    """Compare a broken swing with the healthy one of the quick version."""
    right = quick("cpr-dynamics").traces["sideways_16_links_m"]
    seconds = len(right) * module.FINE_STEP
    found = module.swing(load_robot("Stewart_Gough_6PFR"), 12, seconds, timestep=module.FINE_STEP)[0].position[:, 1]
    return [module.pitch_target(100.0 * (module.time_stretch(found, right) - 1.0))]


MUTATIONS = [
    Mutation(
        experiment="cpr-dynamics",
        name="the joints move 5 mm (5 mrad) too far",
        patch=too_far,
        run=settled("Settled plate", "6PFR: "),
        turns=(
            "Settled plate: *",
            "6PFR: order of the settled error in the number of links",
            "6PFR: settled error of the coarsest chain",
        ),
    ),
    Mutation(
        experiment="cpr-dynamics",
        name="the rods of the dynamic model are half as stiff again",
        patch=material(1.5),
        run=settled("Load", "6PFR: first"),
        turns=("Load: *", "6PFR: first bending frequency of the coarsest chain"),
    ),
    Mutation(
        experiment="cpr-dynamics",
        name="the material of the rods pushes where it should damp",
        patch=pushing,
        run=energy,
        turns=("Energy: *",),
    ),
    Mutation(
        experiment="cpr-dynamics",
        name="the rods with 12 links are a tenth softer",
        patch=material(0.9),
        run=pitch,
        turns=("6PFR: pitch of the sideways swing with 12 links against 16 links",),
    ),
]

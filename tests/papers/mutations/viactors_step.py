"""What breaks the statements and checks of ``viactors-step``."""

import dataclasses
from types import SimpleNamespace

import pytest
from mutations import Mutation

from pliant.papers import viactors_step
from pliant.papers.viactors_step import CASES, Body


def _late(monkeypatch):
    """Sample the simulation one part in five late, and five per cent too high."""
    simulate = viactors_step.simulate

    def broken(*args, **kwargs):
        traces = simulate(*args, **kwargs)
        return {**traces, "time": 1.2 * traces["time"], "joint/position": 1.05 * traces["joint/position"]}

    monkeypatch.setattr(viactors_step, "simulate", broken)


def _bound_off_by(factor):
    def patch(monkeypatch):
        size = viactors_step.link_step_size

        def broken(*args, **kwargs):
            found = size(*args, **kwargs)
            return SimpleNamespace(limit=factor * found.limit)

        monkeypatch.setattr(viactors_step, "link_step_size", broken)

    return patch


def _cases(context, options):
    body = Body(options.link_inertia, options.damping)
    return [target for case in CASES for target in viactors_step.simulate_case(case, body).checks]


def _bounds(context, options):
    return [t for case in CASES for t in viactors_step._bound(case, Body(options.link_inertia, options.damping))[1]]


def _rests(preset_of):
    """Return the statements about the rest, by statics, with other presets or loads."""

    def run(context, options):
        cases = {case.name: dataclasses.replace(case, **preset_of(case)) for case in CASES}
        rest = {name: viactors_step._final(case, Body(0.002, 0.065)) for name, case in cases.items()}
        return viactors_step.statements(rest, rest, {name: [q] for name, q in rest.items()})

    return run


def _exchanged(case):
    other = next(c for c in CASES if c.actuator == case.actuator and c.behaviour != case.behaviour)
    return {"preset": other.preset, "k": other.k}


def _heavy(context, options):
    """Return the statements about the rest with loads that bend the springs of SEA and BAVS."""
    rest = {case.name: viactors_step._final(case, Body(0.002, 0.065)) for case in CASES}
    for actuator, factor in (("SEA", 150.0), ("BAVS", 15.0)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(viactors_step, "GRAVITY_TORQUE", factor * viactors_step.GRAVITY_TORQUE)
            rest |= {c.name: viactors_step._final(c, Body(0.002, 0.065)) for c in CASES if c.actuator == actuator}
    return viactors_step.statements(rest, rest, {name: [q] for name, q in rest.items()})


REST = "Distance of the rest from the reference: "

MUTATIONS = [
    Mutation(
        experiment="viactors-step",
        name="the simulated angle is five per cent too large, and late",
        patch=_late,
        run=_cases,
        turns=(
            "Final angle with *",
            "Transients with *, peak",
            "Transients with *, rise",
            "Transients with *, settling",
        ),
    ),
    Mutation(
        experiment="viactors-step",
        name="the bound of the time step is a tenth too large",
        patch=_bound_off_by(1.1),
        run=_bounds,
        turns=("Step-size bound: *, growth at 0.98 of it",),
    ),
    Mutation(
        experiment="viactors-step",
        name="the bound of the time step is a tenth too small",
        patch=_bound_off_by(0.9),
        run=_bounds,
        turns=(
            "Step-size bound: *, growth at 1.02 of it",
            "Step-size bound: *, the check calls 1.02 of it unstable, and not 0.98",
        ),
    ),
    Mutation(
        experiment="viactors-step",
        name="soft and stiff are exchanged",
        run=_rests(_exchanged),
        turns=tuple(REST + name for name in ("AwAS-II soft", "qbMove soft", "qbMove stiff", "AwAS-II stiff")),
    ),
    Mutation(
        experiment="viactors-step",
        name="loads that bend the springs of SEA and BAVS",
        run=_heavy,
        turns=tuple(REST + name for name in ("SEA soft", "SEA stiff", "BAVS soft", "BAVS stiff")),
    ),
]

"""The step of four actuators: numbers computed independently beforehand, and the targets of the experiment."""

import math

import numpy as np
import pytest
from mutations import quick, quick_run

from pliant.base.errors import PliantError
from pliant.experiments.runs import nice_step, spring_equilibrium, step_response
from pliant.laws import SEA, QbMove
from pliant.papers import viactors_step
from pliant.papers.viactors_step import BODIES, CASES, Body

# Final angle [rad]; then peak [rad], rise [ms], settling [s] for each of BODIES, computed with steps of 2 us, sampled
# at 0.1 ms, so that a rise is known to 0.1 ms.
TABLE = {
    "SEA soft": (0.79973, (1.488, 3.6, 0.279), (1.564, 3.5, 0.900), (1.332, 1.5, 0.037)),
    "SEA stiff": (0.79986, (1.519, 2.6, 0.274), (1.574, 2.5, 0.901), (1.400, 0.9, 0.037)),
    "AwAS-II soft": (0.77965, (0.894, 74.6, 0.282), (1.159, 52.5, 0.808), (0.780, 65.6, 0.106)),
    "AwAS-II stiff": (0.79998, (1.546, 1.2, 0.265), (1.582, 1.2, 0.865), (1.467, 0.4, 0.036)),
    "BAVS soft": (0.79452, (1.171, 18.6, 0.276), (1.406, 16.7, 0.874), (0.931, 9.4, 0.043)),
    "BAVS stiff": (0.79880, (1.171, 19.1, 0.239), (1.410, 16.9, 0.812), (0.904, 9.8, 0.037)),
    "qbMove soft": (0.52792, (0.710, 42.1, 0.533), (1.294, 32.0, 1.027), (0.528, 84.0, 0.239)),
    "qbMove stiff": (0.78538, (0.971, 50.3, 0.280), (1.229, 38.8, 0.854), (0.788, 36.3, 0.054)),
}


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_the_link_rests_where_spring_and_load_balance(case):
    assert viactors_step._final(case, BODIES[0]) == pytest.approx(TABLE[case.name][0], abs=6e-6)


@pytest.mark.parametrize("case", [c for c in CASES if c.name in ("SEA stiff", "BAVS soft", "qbMove soft")], ids=str)
@pytest.mark.parametrize("index", range(3))
def test_the_converged_transients_are_those_computed_beforehand(case, index):
    final, *rows = TABLE[case.name]
    found = step_response(*viactors_step.converged(case, BODIES[index]), final)
    peak, rise, settling = rows[index]
    assert found.peak == pytest.approx(peak, rel=2e-3)
    assert 1e3 * found.rise == pytest.approx(rise, abs=0.101, rel=2e-3)
    assert found.settling == pytest.approx(settling, rel=0.02, abs=6e-4)


@pytest.mark.slow
def test_every_check_of_the_quick_version_passes_and_every_statement_is_consistent():
    run = quick_run("viactors-step")
    result, seen = run.result, run.progress
    assert [t.name for t in result.failures] == []
    assert result.verdicts == {"reproduced": 0, "consistent": 4, "not reproduced": 0, "not judged": 1}
    assert len(result.every_target) == 64
    assert seen == sorted(seen)
    assert {f.name for f in result.figures} == {"steps", "time_step", "bound"}
    assert abs(result.traces["qbmove_soft_angle_rad"][-1] - TABLE["qbMove soft"][0]) < 1e-4
    assert "the same for every limit from 14.6 to 20.3 mrad" in result.statements[0].found
    assert ["The verdict is fragile" in s.found for s in result.statements] == [False, False, True, False, False]


def test_a_verdict_that_a_small_change_of_the_spring_turns_says_so():
    # By hand: the stiff qbMove is stiff through exp(a p), so that 5 % of one exponent moves it by 18 mrad.
    rests = {c.name: viactors_step.varied_rests(c, BODIES[0]) for c in CASES}
    middle = {c.name: viactors_step._final(c, BODIES[0]) for c in CASES}
    assert {name: values[0] for name, values in rests.items()} == middle
    away = [1e3 * (0.8 - q) for q in rests["qbMove stiff"]]
    assert (min(away), max(away)) == pytest.approx((-2.37, 32.97), abs=0.01)
    found = viactors_step.statements(middle, middle, rests)
    assert "The verdict is firm" in found[0].found
    assert "AwAS-II soft 16.4 to 25.8 mrad, always on this side" in found[0].found
    stiff = found[2].found
    assert "The verdict is fragile" in stiff
    assert "on the other side of the limit in 5 of 10" in stiff
    assert "AwAS-II stiff 0.0 to 0.0 mrad, always on this side" in stiff


@pytest.mark.parametrize("case", [CASES[2], CASES[6]], ids=str)
def test_a_load_that_hangs_at_zero_is_simulated_as_the_statics_say(case):
    body = Body(0.002, 0.065, hanging=True)
    run = viactors_step.simulate_case(case, body)
    assert run.rest == pytest.approx(run.final, abs=1e-4)
    assert abs(run.final - viactors_step._final(case, BODIES[0])) > 2e-4


def test_the_numbers_of_a_second_order_response_are_found_between_samples():
    # q'' + 2 z w q' + w^2 q = w^2: peak 1 + exp(-pi z / sqrt(1 - z^2))
    w, z = 100.0, 0.3
    damped = w * math.sqrt(1 - z * z)
    t = np.arange(0.0, 0.4, 1.3e-3)
    q = 1.0 - np.exp(-z * w * t) * (np.cos(damped * t) + z * w / damped * np.sin(damped * t))
    found = step_response(t, 0.5 * q, 0.5)
    assert found.peak == pytest.approx(0.5 * (1 + math.exp(-math.pi * z / math.sqrt(1 - z * z))), rel=1e-4)
    assert found.rise == pytest.approx(0.01327, rel=5e-3)


def test_a_response_that_never_settles_has_no_settling_time():
    t = np.linspace(0.0, 1.0, 101)
    found = step_response(t, 0.5 * t, 1.0)
    assert math.isnan(found.settling)
    assert math.isnan(found.rise)


def test_what_the_paper_only_implies_says_so():
    result = quick("viactors-step")
    (implied,) = [s for s in result.statements if s.what.startswith("SEA and BAVS")]
    assert "implied" in implied.where
    assert result.summary


def test_the_balance_of_a_linear_spring_is_exact():
    assert spring_equilibrium(SEA(k=10.0), 0.5, 0.0, lambda q: -2.0) == pytest.approx(0.3, abs=1e-12)


def test_a_load_beyond_the_spring_is_refused():
    with pytest.raises(PliantError, match="cannot carry the load"):
        spring_equilibrium(QbMove(), 0.8, 0.2, lambda q: -3.0)


@pytest.mark.parametrize(("largest", "step"), [(1e-3, 1e-3), (9.9e-4, 5e-4), (4.2e-5, 2e-5), (0.16, 0.1)])
def test_a_nice_step_is_not_larger_than_asked(largest, step):
    assert nice_step(largest) == pytest.approx(step, rel=1e-12)

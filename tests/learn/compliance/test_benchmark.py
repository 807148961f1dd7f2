"""Searches and held-out evaluations."""

import dataclasses
import itertools

import numpy as np
import pytest
from compliance_toys import SOFT, STIFF, make_toy

from pliant.base.errors import PliantError
from pliant.learn.compliance import Budget, run_benchmark
from pliant.learn.compliance.results import read_results
from pliant.learn.compliance.runs import MAX_RUNS, held_out_seeds, run_method, training_seeds

SMALL = Budget(runs=10, population=12, rounds=12, episodes=2, held_out=12)


def test_variable_stiffness_is_better_where_two_phases_want_different_ones(tmp_path):
    make_toy(rule=(0.5, 0.5))
    results = run_benchmark(["toy"], tmp_path, budget=SMALL)
    over_fixed, over_rule = results.claims()
    assert [over_fixed.verdict, over_rule.verdict] == ["better", "better"]
    assert over_fixed.difference.value == pytest.approx(-(STIFF - SOFT), abs=0.12)


def test_no_difference_is_left_when_the_plant_ignores_stiffness(tmp_path):
    make_toy(plant_has_stiffness=False, rule=(0.5, 0.5))
    over_fixed, _ = run_benchmark(["toy"], tmp_path, budget=SMALL).claims()
    assert over_fixed.verdict == "no difference"


def test_a_search_is_worse_than_a_perfect_rule(tmp_path):
    make_toy()
    _, over_rule = run_benchmark(["toy"], tmp_path, budget=SMALL).claims()
    assert over_rule.verdict == "worse"


def test_both_searches_begin_with_the_same_controller_and_spend_the_same_episodes(monkeypatch):
    toy = make_toy()
    spent = {}

    def counting(parameters, seeds):
        spent.setdefault(name, []).append((parameters.shape[0], list(seeds)))
        return toy.evaluate(parameters, seeds)

    from pliant.learn.compliance.task import register_task

    register_task(dataclasses.replace(toy, evaluate=counting))
    begins = []
    for name in ("fixed", "variable"):
        begins.append(run_method("toy", name, 3, 0, SMALL).history[0])
    assert begins[0] == begins[1]
    assert spent["fixed"] == spent["variable"]
    assert sum(n * len(seeds) for n, seeds in spent["fixed"][:-1]) == SMALL.searched


def test_training_and_held_out_seeds_never_meet():
    budget = Budget(runs=MAX_RUNS, rounds=20, episodes=500, held_out=10_000)
    blocks = [held_out_seeds(seed, budget) for seed in (0, 1)]
    for seed in (0, 1):
        for run in (0, 1, MAX_RUNS - 1):
            blocks += [training_seeds(seed, run, k, budget) for k in (0, budget.rounds - 1)]
    ends = sorted((block.start, block.stop) for block in blocks)
    assert all(first[1] <= second[0] for first, second in itertools.pairwise(ends))


def test_equal_seeds_give_equal_bytes_and_a_run_continues_where_it_ended(tmp_path):
    make_toy()
    budget = dataclasses.replace(SMALL, runs=3)
    first, second = tmp_path / "a", tmp_path / "b"
    run_benchmark(["toy"], first, budget=budget, seed=5)
    second.mkdir()
    lines = (first / "outcomes.jsonl").read_text().splitlines(keepends=True)
    (second / "outcomes.jsonl").write_text("".join(lines[:4]))
    calls = []
    run_benchmark(["toy"], second, budget=budget, seed=5, progress=lambda *now: calls.append(now))
    assert len(calls) == 7 - 4
    assert calls[-1][:2] == (7, 7)
    assert (first / "compliance.json").read_bytes() == (second / "compliance.json").read_bytes()


def test_a_folder_of_another_seed_or_budget_is_refused(tmp_path):
    make_toy()
    small = Budget(runs=2, population=8, rounds=1, episodes=1, held_out=2)
    run_benchmark(["toy"], tmp_path, budget=small)
    with pytest.raises(PliantError, match="seed 0 and not 1"):
        run_benchmark(["toy"], tmp_path, budget=small, seed=1)
    with pytest.raises(PliantError, match="rounds = 1 and not 3"):
        run_benchmark(["toy"], tmp_path, budget=dataclasses.replace(small, rounds=3))
    file = tmp_path / "compliance.json"
    file.write_text(file.read_text().replace('"version": 2', '"version": 9'))
    with pytest.raises(PliantError, match="version 9; this pliant reads version 2"):
        run_benchmark(["toy"], tmp_path, budget=small)


def test_a_result_file_keeps_every_outcome(tmp_path):
    make_toy()
    small = Budget(runs=2, population=8, rounds=1, episodes=1, held_out=2)
    results = run_benchmark(["toy"], tmp_path, budget=small)
    assert read_results(tmp_path / "compliance.json") == results
    assert {claim.verdict for claim in results.claims()} == {"not judged"}


@pytest.mark.parametrize("name", ["runs", "population", "rounds", "episodes", "held_out"])
def test_a_budget_of_zero_is_refused_by_name(name):
    with pytest.raises(PliantError, match=f"{name} is 0; must be"):
        Budget(**{name: 0})


def test_measures_that_are_missing_or_not_finite_are_refused_by_name(tmp_path):
    from pliant.learn.compliance.task import register_task

    toy = make_toy()
    for given, message in (
        ({}, "gave no measure 'error'"),
        ({"error": np.zeros((1, 1)), "twice": np.zeros((1, 1))}, "error has shape"),
    ):
        register_task(dataclasses.replace(toy, evaluate=lambda *_, given=given: given))
        with pytest.raises(PliantError, match=message):
            run_benchmark(["toy"], tmp_path, budget=Budget(runs=2, held_out=3))

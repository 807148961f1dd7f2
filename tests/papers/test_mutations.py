"""Every target of every experiment fails, or is met, when its cause is broken."""

import importlib.util

import pytest
from mutations import matching, mutations, passed, quick

from pliant.papers.runner import list_experiments

MUTATIONS = mutations()
NAMES = [found.name for found in list_experiments()]
COVERED = {m.experiment for m in MUTATIONS}
NEEDS = {"franka-torque": "pylibfranka"}
"""Optional packages whose absence leaves out targets of an experiment."""

CASES = [pytest.param(m, id=f"{m.experiment}: {m.name}") for m in MUTATIONS]


@pytest.mark.network
@pytest.mark.parametrize("mutation", CASES)
def test_a_broken_cause_turns_its_targets(mutation, monkeypatch):
    if reason := mutation.missing():
        pytest.skip(reason)
    before = passed(quick(mutation.experiment).every_target)
    after = mutation.results(monkeypatch)
    for pattern in mutation.turns:
        names = matching(pattern, before)
        assert names, f"no target is named {pattern!r}; there are {sorted(before)}"
        same = [name for name in names if after.get(name) is before[name]]
        assert not same, f"{mutation.name}: the same result as without the mutation"
        absent = [name for name in names if name not in after]
        assert not absent, f"{mutation.name}: not measured in the mutated run"


@pytest.mark.network
@pytest.mark.parametrize("name", NAMES)
def test_every_target_has_a_mutation(name):
    assert name in COVERED, f"tests/papers/mutations has no mutations of {name!r}"
    if name in NEEDS and importlib.util.find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed")
    patterns = [pattern for m in MUTATIONS if m.experiment == name for pattern in m.turns]
    names = [target.name for target in quick(name).every_target]
    covered = {found for pattern in patterns for found in matching(pattern, names)}
    assert not [found for found in names if found not in covered], "targets without a mutation"


def test_the_mutations_belong_to_experiments_and_have_names_of_their_own():
    assert {m.experiment for m in MUTATIONS} <= set(NAMES)
    keys = [(m.experiment, m.name) for m in MUTATIONS]
    assert len(set(keys)) == len(keys)
    for mutation in MUTATIONS:
        assert mutation.options or mutation.patch or mutation.run, f"{mutation.name} breaks nothing"

"""Every target of every experiment fails, or is met, when its cause is broken."""

import dataclasses
import importlib.util

import pytest
from daily import by_day
from mutations import LONG, matching, mutations, passed, quick

from pliant.experiments.runner import list_experiments

MUTATIONS = mutations()
NAMES = [found.name for found in list_experiments()]
COVERED = {m.experiment for m in MUTATIONS}
NEEDS = {"franka-torque": "pylibfranka"}
"""Optional packages whose absence leaves out targets of an experiment."""

NIGHTLY = {
    "box": (
        "the springs are those of the toolbox",
        "half of gravity is compensated",
        "the stiff preset is the soft one",
    ),
    "chirp": (
        "the spring of the stiff joint is a hundredth",
        "the simulated joint has the springs of the Maker Pro",
    ),
    "cpr-accuracy": (
        "the plate of Till's robot moves farther",
        "the plate of the 6EFR weighs a tenth more in the solver",
        "the rods are integrated in one step and nobody looks at the error",
        "the rods of the 6EFR are a hundredth stiffer",
        "the plate of Till's robot weighs half as much again in the solver",
    ),
    "cpr-dynamics": (
        "the material of the rods pushes where it should damp",
        "the joints move 5 mm (5 mrad) too far",
        "the rods of the dynamic model are half as stiff again",
    ),
    "cpr-planar": ("the solver stops early",),
    "franka-dual-arm": (
        "the program commands one arm twice as often as the other",
        "a stiff admittance",
        "the robots' clock does not wait for the program",
        "the right arm hardly moves",
        "an image in 40 ms",
        "the left arm is weak, and believes in half of its mass",
        "the feed-forward is in the published law",
        "the tag is seen turned",
        "the camera is covered on the way",
        "there is no obstacle",
    ),
    "franka-dynamic-servo": (
        "another frequency through the interface than in this process",
        "the robot's clock does not wait for the law",
    ),
    "franka-torque": ("friction beyond the torque sensors, ten times the identified one",),
    "franka-visual-servo": (
        "the robot's clock does not wait for the detector",
        "IBVS takes the place of PBVS",
        "another gain through the interface than in this process",
    ),
    "softfoot-bench": ("a trial is over before the foot has come to rest",),
    "softfoot-statics": (
        "the loads go from the largest to the smallest",
        "the foot is a fifth larger and has capsules as soles",
        "the rig of the trial holds the ankle ten times as stiffly",
    ),
    "two-dof": (
        "the motors' controllers have a tenth of their gain",
        "dry friction that the stiff spring cannot overcome",
        "the simulated friction is not that of the statics",
        "the hanging arm lies",
        "soft and stiff are exchanged",
        "the damping depends on the time step",
    ),
    "yarp-ft-imu": ("uniform, coloured noise with a mean; pushes that grow", "pushes of 95 %, another gravity"),
    "yarp-impedance": (
        "a robot without a torso's board, states every 10 ms, a description without inertial unit",
        "references 1 urad off, torques 0.1 % off",
        "half of gravity is compensated, one stiffness for all",
        "minimum jerk at nine tenths of the speed",
    ),
}
"""Mutations that take more than half a second each, of experiments that have others; `make nightly` runs them."""


def case(mutation):
    night = mutation.experiment in LONG or mutation.name in NIGHTLY.get(mutation.experiment, ())
    marks = [pytest.mark.nightly] if night else []
    return pytest.param(mutation, id=f"{mutation.experiment}: {mutation.name}", marks=marks)


CASES = [case(mutation) for mutation in MUTATIONS]
EACH = by_day(NAMES, lambda name: name not in LONG)


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
@pytest.mark.parametrize("name", EACH)
def test_every_target_has_a_mutation(name):
    assert name in COVERED, f"tests/papers/mutations has no mutations of {name!r}"
    if name in NEEDS and importlib.util.find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed")
    patterns = [pattern for m in MUTATIONS if m.experiment == name for pattern in m.turns]
    names = [target.name for target in quick(name).every_target]
    covered = {found for pattern in patterns for found in matching(pattern, names)}
    assert not [found for found in names if found not in covered], "targets without a mutation"


@pytest.mark.network
@pytest.mark.parametrize("name", EACH)
def test_every_statement_is_one_of_the_publication_and_no_row_is_ours(name):
    result = quick(name)
    assert result.paper, f"{name} names no publication"
    assert sum(result.verdicts.values()) == len(result.statements)
    for statement in result.statements:
        assert dataclasses.replace(statement) == statement  # its type refuses a row of ours
        for target in statement.targets:
            assert not target.source.startswith("ours") or len(statement.targets) > 1, target.name


def test_the_mutations_belong_to_experiments_and_have_names_of_their_own():
    assert {m.experiment for m in MUTATIONS} <= set(NAMES)
    keys = [(m.experiment, m.name) for m in MUTATIONS]
    assert len(set(keys)) == len(keys)
    assert {(name, mutation) for name, some in NIGHTLY.items() for mutation in some} <= set(keys)
    assert set(NAMES) >= LONG
    assert {m.experiment for m, c in zip(MUTATIONS, CASES, strict=True) if not c.marks} == COVERED - LONG
    for mutation in MUTATIONS:
        assert mutation.options or mutation.patch or mutation.run, f"{mutation.name} breaks nothing"

"""The mutation tool: its mutants are valid code, drawn by a seed, and judged where they survive."""

import ast
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import mutants
import pytest
import yaml

pytestmark = pytest.mark.quick

ROOT = Path(__file__).resolve().parents[1]
SOURCE = b'''"""Law."""

LIMIT = 3


def torque(q: float, k: float = 2.0) -> float:
    """Return 1 + 1."""
    if q < 0.0:
        raise ValueError(f"q is {q + 1}")
    log.info("torque %g", 3.0 * q)
    if k == 0.0 and abs(q) < 1e-9:
        table[q, k] += max(q, k)
    return -k * (q + 1) if q != 4 else "a" + "b"
'''


def test_a_function_has_the_mutants_of_its_arithmetic_conditions_and_statements():
    found = list(mutants.mutants_of("law.py", SOURCE))
    assert Counter(m.kind for m in found) == {
        "check": 1, "comparison": 4, "condition": 2, "operator": 2, "sign": 1, "constant": 5, "statement": 1,
        "index": 1, "absolute": 1, "extreme": 1,
    }  # fmt: skip
    assert {m.kind for m in found} == set(mutants.KINDS)
    texts = {(m.before, m.after) for m in found}
    assert {("q < 0.0", "False"), ("q < 0.0", "(q >= 0.0)"), ("-k", "(k)"), ("q + 1", "(q - 1)")} <= texts
    assert {("0.0", "1.0"), ("2.0", "4.0"), ("1", "0"), ("4", "5")} <= texts
    assert {("abs(q)", "(q)"), ("max(q, k)", "(min(q, k))"), ("q, k", "(k, q)")} <= texts
    assert ("table[q, k] += max(q, k)", "pass") in texts
    assert {m.function for m in found} == {"torque"}
    for mutant in found:
        broken = mutant.apply(SOURCE)
        assert broken != SOURCE
        assert ast.dump(ast.parse(broken)) != ast.dump(ast.parse(SOURCE))


def test_a_mutant_is_named_by_its_function_whatever_stands_above_it():
    moved = [m.key for m in mutants.mutants_of("law.py", b"X = 1\n\n\ndef other(x):\n    return x * x\n\n\n" + SOURCE)]
    keys = [m.key for m in mutants.mutants_of("law.py", SOURCE)]
    assert len(set(keys)) == len(keys)
    assert moved[1:] == keys


def test_a_seed_draws_as_many_mutants_of_valid_code_from_every_room():
    drawn = mutants.choose(450, seed=0)
    assert drawn == mutants.choose(510, seed=0)[:450]
    assert drawn != mutants.choose(450, seed=1)
    assert len({m.key for m in drawn}) == 450
    assert set(Counter(m.file.split("/")[2] for m in drawn).items()) == {
        (room.split("/")[0], 450 // len(mutants.ROOMS)) for room in mutants.ROOMS
    }
    for mutant in drawn[::5]:
        ast.parse(mutant.apply((ROOT / mutant.file).read_bytes()))
        assert mutants.mirrored(mutant.file), mutant.file


def test_the_mirrored_tests_are_those_of_the_name_and_then_those_of_the_folder():
    first, *rest = mutants.mirrored("src/pliant/model/check/bodies.py")
    assert first == "tests/model/check/test_bodies.py"
    assert {"tests/model/test_check.py", "tests/model/test_check_advice.py"} <= set(rest)
    first, *rest = mutants.mirrored("src/pliant/feet/model/geometry.py")
    assert first == "tests/feet/model/test_geometry.py"
    assert "tests/feet/model/test_replace.py" in rest
    first, *rest = mutants.mirrored("src/pliant/rods/kernels/newton.py")
    assert "tests/rods/test_rod_physics.py" in rest


TWICE = b"""def double(x):
    return 2 * x


def unused(x):
    return 3 * x
"""
JUDGE = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import mutants
copy = Path(sys.argv[2])
for one in mutants.mutants_of("src/pliant/control/twice.py", (copy / "src/pliant/control/twice.py").read_bytes()):
    if one.kind == "constant":
        print(one.function, *mutants.killed_by(one, copy, copy / "kept"))
"""


def test_a_mutant_is_killed_by_a_test_that_fails_with_it_and_survives_where_no_test_executes_it(tmp_path):
    for folder in ("src/pliant/control", "tests/control"):
        (tmp_path / folder).mkdir(parents=True)
    for folder in ("src/pliant", "src/pliant/control"):
        (tmp_path / folder / "__init__.py").touch()
    file = tmp_path / "src" / "pliant" / "control" / "twice.py"
    file.write_bytes(TWICE)
    (tmp_path / "tests" / "control" / "test_twice.py").write_text(
        "from pliant.control.twice import double\n\n\n"
        "def test_nothing_is_twice_nothing():\n    assert double(0) == 0\n\n\n"
        "def test_two_is_twice_one():\n    assert double(1) == 2\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    slow\n    nightly\n    network\n    shared\n")
    command = [sys.executable, "-c", JUDGE, str(ROOT / "tests" / "helpers"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTEST_ADDOPTS": "--no-such"})
    assert done.stdout.splitlines() == [
        "double tests/control/test_twice.py::test_two_is_twice_one 2",
        "unused  0",
    ], done.stderr
    assert file.read_bytes() == TWICE


def test_every_survivor_of_the_run_is_judged_and_the_run_adds_up():
    found = yaml.safe_load((ROOT / "tests" / "data" / "mutants.yaml").read_text())
    run, survivors = found["run"], found["survivors"]
    assert run["killed"] + len(survivors) == run["mutants"]
    assert run["survived"] == len(survivors)
    assert run["of_these_equivalent"] == sum(one["judgement"].startswith("equivalent: ") for one in survivors)
    for one in survivors:
        assert one["judgement"].strip(), one
        assert one["judgement"].startswith(("equivalent: ", "missing test: ")), one
        assert one["file"].startswith(tuple(f"src/pliant/{room}/" for room in mutants.ROOMS)), one

"""The mutation tool: its mutants are valid code, drawn by a seed, and judged where they survive."""

import ast
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
    return -k * (q + 1) if q != 4 else "a" + "b"
'''


def test_a_function_has_the_mutants_of_its_operators_signs_constants_comparisons_and_checks():
    found = list(mutants.mutants_of("law.py", SOURCE))
    assert Counter(m.kind for m in found) == {
        "check": 1, "comparison": 2, "operator": 2, "sign": 1, "constant": 4,
    }  # fmt: skip
    texts = {(m.before, m.after) for m in found}
    assert {("q < 0.0", "False"), ("q < 0.0", "(q >= 0.0)"), ("-k", "(k)"), ("q + 1", "(q - 1)")} <= texts
    assert {("0.0", "1.0"), ("2.0", "3.0"), ("1", "2"), ("4", "5")} <= texts
    for mutant in found:
        broken = mutant.apply(SOURCE)
        assert broken != SOURCE
        assert ast.dump(ast.parse(broken)) != ast.dump(ast.parse(SOURCE))


def test_a_seed_draws_the_same_mutants_of_valid_code_from_every_room():
    drawn = mutants.choose(300, seed=0)
    assert drawn == mutants.choose(300, seed=0)
    assert drawn != mutants.choose(300, seed=1)
    assert len(set(drawn)) == 300
    assert {m.file.split("/")[2] for m in drawn} == {"model", "laws", "devices", "rods", "control", "feet"}
    for mutant in drawn:
        ast.parse(mutant.apply((ROOT / mutant.file).read_bytes()))
        assert mutants.mirrored(mutant.file), mutant.file


def test_the_mirrored_tests_are_those_of_the_name_and_then_those_of_the_folder():
    first, rest = mutants.mirrored("src/pliant/model/check/bodies.py")
    assert [path.name for path in first] == ["test_bodies.py"]
    assert {"test_check.py", "test_check_advice.py"} <= {path.name for path in rest}
    first, rest = mutants.mirrored("src/pliant/feet/model/geometry.py")
    assert [path.name for path in first] == ["test_geometry.py"]
    assert "test_replace.py" in [path.name for path in rest]


@pytest.mark.parametrize(("test", "killed"), [("assert double(2) == 4", True), ("assert double(0) == 0", False)])
def test_a_mutant_is_killed_by_a_test_that_fails_with_it(tmp_path, test, killed):
    (tmp_path / "src" / "pliant" / "laws").mkdir(parents=True)
    (tmp_path / "tests" / "laws").mkdir(parents=True)
    source = b"def double(x):\n    return 2 * x\n"
    file = tmp_path / "src" / "pliant" / "laws" / "twice.py"
    file.write_bytes(source)
    (tmp_path / "tests" / "laws" / "test_twice.py").write_text(
        f"import runpy\n\n\ndef test_it():\n    double = runpy.run_path({str(file)!r})['double']\n    {test}\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    slow\n    nightly\n    network\n    shared\n")
    (mutant,) = [m for m in mutants.mutants_of("src/pliant/laws/twice.py", source) if m.kind == "constant"]
    assert bool(mutants.killed_by(mutant, tmp_path)) is killed
    assert file.read_bytes() == source


def test_every_survivor_that_was_seen_is_judged_and_still_there():
    survivors = yaml.safe_load((ROOT / "tests" / "data" / "mutants.yaml").read_text())
    for one in survivors:
        assert one["judgement"].strip(), one
        assert one["before"] in (ROOT / one["file"]).read_text(), one

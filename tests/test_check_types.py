"""The verdict on what the type checker finds."""

from pathlib import Path

import check_types
import pytest

pytestmark = pytest.mark.quick


def found(file: str, severity: str = "warning", rule: str = "reportArgumentType") -> dict:
    place = {"line": 6, "character": 4}
    return {
        "file": str(check_types.SOURCE / file),
        "severity": severity,
        "message": "no",
        "rule": rule,
        "range": {"start": place},
    }


@pytest.mark.parametrize(
    ("diagnostic", "fails"),
    [
        (found("laws/base.py"), True),
        (found("laws/base.py", "error"), True),
        (found("__init__.py"), True),
        (found("rods/solution.py"), False),
        (found("rods/solution.py", "error"), True),
        (found("laws/base.py", rule="reportMissingImports"), False),
        (found("../../elsewhere.py"), True),
    ],
)
def test_a_warning_fails_outside_the_rooms_that_may_have_some(diagnostic, fails):
    failed, others = check_types.failures([diagnostic])
    assert failed == ([f"{diagnostic['file']}:7:5: no ({diagnostic['rule']})"] if fails else [])
    assert others.total() == (0 if fails else 1)


def test_every_room_that_may_have_warnings_is_a_wing():
    assert set(check_types.WARN) <= {path.parent.name for path in check_types.SOURCE.glob("*/wing.py")}


def test_make_lint_runs_it():
    assert "$(BIN)/python tests/helpers/check_types.py" in (Path(__file__).parents[1] / "Makefile").read_text()


@pytest.mark.parametrize(
    ("answer", "code"), [("", 1), ('{"generalDiagnostics": [], "summary": {"filesAnalyzed": 3}}', 0)]
)
def test_a_checker_that_does_not_answer_is_a_failure(answer, code, tmp_path, monkeypatch, capsys):
    pyright = tmp_path / "pyright"
    pyright.write_text(f"#!/bin/sh\ncat <<'END'\n{answer}\nEND\n")
    pyright.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    assert check_types.main([]) == code
    assert ("no report" in capsys.readouterr().err) == bool(code)

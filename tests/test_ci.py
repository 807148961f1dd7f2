"""Continuous integration: its limits, and the workflow that runs the same script."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.quick

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / ".ci" / "run"


def test_the_limits_of_all_stages_together_are_less_than_an_hour():
    text = re.sub(r"^ *#.*$", "", SCRIPT.read_text(), flags=re.MULTILINE)
    limits = re.findall(r"\b(?:stage|timeout)(?: --kill-after=\d+)? (\S+)", text)
    limits.remove('"$limit"')  # that of a stage
    assert [limit for limit in limits if not limit.isdecimal()] == []
    rclpy = re.search(r"^rclpy\(\) \{.*?timeout --kill-after=\d+ (\d+) ", text, re.DOTALL | re.MULTILINE)
    assert rclpy is not None
    assert all(line.endswith("&") for line in re.findall(r"^rclpy \w+.*$", text, re.MULTILINE))
    beside = re.findall(r"^stage (\d+) .* &$", text, re.MULTILINE)  # beside a stage of the same limit
    assert beside == re.findall(r"^stage (\d+) make lint", text, re.MULTILINE)
    assert sum(map(int, limits)) - int(rclpy[1]) - sum(map(int, beside)) < 3600  # rclpy is installed beside the stages


def test_the_workflow_runs_the_same_script():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())["jobs"]
    commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    assert commands == [".ci/run"]
    assert all(job["timeout-minutes"] >= 60 for job in jobs.values())


def test_the_hooks_before_a_commit_run_the_linters_of_the_environment():
    settings = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    assert {source["repo"] for source in settings["repos"]} == {"local"}
    entries = [hook["entry"] for source in settings["repos"] for hook in source["hooks"]]
    assert entries == [".venv/bin/ruff check --fix", ".venv/bin/ruff format"]


def test_every_stage_has_a_limit_and_the_sum_of_all_is_written_nowhere_else():
    text = SCRIPT.read_text()
    stages = re.findall(r"^stage (\d+) (.*)$", text, re.MULTILINE)
    assert [command for _, command in stages] == [
        "make .venv/.lint",
        '.venv/bin/python .ci/package.py >"$packaged" 2>&1 &',
        "make lint || failed=$?",
        "make test",
        "make conformance",
    ]
    assert all(0 < int(limit) < 3600 for limit, _ in stages)
    heavy = re.findall(r"^(?!\s*#|stage)[^#\n]*\b(?:make|pytest)\b.*$", text, re.MULTILINE)
    assert [line for line in heavy if "timeout" not in line] == []


FAKES = {
    "Makefile": ".PHONY: conformance\n.venv/.lint lint test conformance:\n\t@echo made $@\n\t@test '$(BROKEN)' != $@\n",
    "bin/id": "#!/bin/sh\necho 1000\n",  # not the user who may install packages
    ".venv/bin/python": '#!/bin/sh\nsleep 0.2\necho packaged\ntest "$BROKEN" != package\n',
    "conformance/ros/make_rclpy_venv.sh": "echo rclpy $1 >>said\n",
}
"""A checkout whose stages say their names; the one that BROKEN names fails."""


@pytest.mark.parametrize(
    ("broken", "ran"),
    [
        ("", ["made .venv/.lint", "made lint", "packaged", "made test", "made conformance"]),
        ("lint", ["made .venv/.lint", "made lint", "packaged"]),
        ("package", ["made .venv/.lint", "made lint", "packaged"]),
    ],
)
def test_the_script_runs_its_stages_in_order_and_ends_where_one_fails(broken, ran, tmp_path):
    for name, text in FAKES.items() | {(".ci/run", SCRIPT.read_text())}:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "BROKEN": broken}
    done = subprocess.run(["bash", ".ci/run"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode == 0) is (broken == ""), done.stdout + done.stderr
    assert [line for line in done.stdout.splitlines() if line in ran or line.startswith("made")] == ran
    if not broken:
        assert sorted((tmp_path / "said").read_text().split()) == ["jazzy", "kilted", "rclpy", "rclpy"]


@pytest.fixture(scope="module")
def audit():
    spec = importlib.util.spec_from_file_location("audit", ROOT / ".ci" / "audit.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answering(vulnerable=(), **changes):
    """Return a database that knows an advisory of some packages."""

    def ask(question):
        results = [
            {"vulns": [{"id": "PYSEC-1"}]} if query["package"]["name"] in vulnerable else {}
            for query in question["queries"]
        ]
        return {"results": results} | changes

    return ask


def test_the_audit_asks_for_every_pin_of_the_lock_file(audit):
    wanted = audit.pins((ROOT / "requirements.lock").read_text())
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    assert len(wanted) == len({line.split(" ")[0] for line in lines if "==" in line.split(";")[0]}) > 100
    assert audit.pins("a==1 ; python_version < '3'\n# via b\nb[c]==2.0.post1 \\\n    --hash=sha256:0\n") == [
        ("a", "1"),
        ("b", "2.0.post1"),
    ]
    assert audit.advisories(wanted, answering()) == {}
    assert list(audit.advisories(wanted, answering({"numpy"}))) == [p for p in wanted if p[0] == "numpy"]


def refuse(question):
    raise OSError("no network")


@pytest.mark.parametrize(
    "ask",
    [
        refuse,
        answering(results=[]),
        answering(results=[{}]),
        answering(results=[{"next_page_token": "x"}, {}]),
        answering(results=[{"vulns": [{}]}, {}]),
        answering(results=None),
        lambda question: [],
    ],
)
def test_an_audit_without_a_complete_answer_is_none(audit, ask):
    with pytest.raises(audit.NotAudited):
        audit.advisories([("a", "1"), ("b", "2")], ask)


@pytest.mark.parametrize("text", ["", "# nothing\n", "a>=1\n"])
def test_a_lock_file_without_pins_is_not_audited(audit, text):
    with pytest.raises(audit.NotAudited):
        audit.pins(text)


def test_an_audit_without_network_says_not_audited_and_fails():
    # Port 9 of this machine: nobody listens there.
    environment = {**os.environ, "PLIANT_AUDIT_URL": "http://127.0.0.1:9/"}
    done = subprocess.run(
        [sys.executable, ROOT / ".ci" / "audit.py"], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("not audited: ")


def test_the_audit_is_a_command_of_its_own_and_no_stage():
    assert "audit" not in SCRIPT.read_text()
    assert re.search(r"^audit:\n\t\$\(PYTHON\) \.ci/audit\.py$", (ROOT / "Makefile").read_text(), re.MULTILINE)

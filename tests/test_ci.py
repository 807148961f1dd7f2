"""Continuous integration: its limits, and the workflow that runs the same script."""

import re
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
    again = len(re.findall(r"^rclpy \w+", text, re.MULTILINE)) - 1  # the limit is written once, and holds for each
    assert sum(map(int, limits)) + again * int(rclpy[1]) < 3600


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

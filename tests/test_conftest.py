"""The rules of `conftest.py` for all tests: who may open a socket, and who may be run again."""

import gc
import os
import re
import shutil
from pathlib import Path

import pytest
from daily import selects_nightly
from forks import forks

ROOT = Path(__file__).resolve().parents[1]
HEAD = """
import itertools, socket, pytest
attempts = itertools.count()
"""
FIRST_FAILS = "assert next(attempts), 'bad luck'\n"
BINDS = "socket.socket().bind(('127.0.0.1', 0))\n"


RUN = "import pytest, sys\nprint('ended:', int(pytest.main(sys.argv[1:])))"


@pytest.fixture(scope="module")
def run():
    """Return a function that runs some tests under the rules; it returns the exit code and what is printed.

    Each run is a fork of a process that has imported what the rules need.
    """
    environment = {k: v for k, v in os.environ.items() if k != "PYTEST_ADDOPTS"}

    def one(folder, text, *options):
        shutil.copy(ROOT / "conftest.py", folder)
        (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    network: opens sockets\n    shared: reads files\n")
        (folder / "test_sample.py").write_text(HEAD + text)
        usual = ["-q", "-p", "no:cacheprovider", "-rR", "-W", "ignore::pytest.PytestAssertRewriteWarning"]  # see forks
        printed = found.run(RUN, folder, *usual, *options, str(folder))
        return int(re.search(r"^ended: (\d+)$", printed, re.MULTILINE)[1]), printed

    with forks("pytest", "hypothesis", "pliant.simulation.realtime", environment=environment) as found:
        yield one


def test_a_test_that_opens_a_socket_is_marked(run, tmp_path):
    code, printed = run(tmp_path, f"def test_a():\n    {BINDS}\n@pytest.mark.network\ndef test_b():\n    {BINDS}")
    assert code == 1
    assert "test_sample.py::test_a is not marked 'network', but it opens a socket: socket.bind" in printed
    assert "1 failed, 1 passed" in printed


def test_a_test_that_reads_files_of_others_is_marked_and_skipped_where_they_are_absent(run, tmp_path):
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    reads = f"open({str(tmp_path / 'shared' / 'a.txt')!r}).close()"
    text = f"@pytest.mark.shared\ndef test_a():\n    {reads}\ndef test_b():\n    assert True\n"
    code, printed = run(checkout, text, "-rs")
    assert code == 0, printed
    assert "1 passed, 1 skipped" in printed
    assert f"which are not at {tmp_path / 'shared'}" in printed
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "a.txt").touch()
    code, printed = run(checkout, text.replace("assert True", reads))
    assert code == 1
    assert "test_b is not marked 'shared', but it opens " in printed
    assert "1 failed, 1 passed" in printed


def test_only_one_file_knows_where_the_files_of_others_are():
    where = re.compile(r"""["']shared["']|\bshared/(?:data|spec|papers|design)""")
    files = [path for path in (ROOT / "tests").rglob("*.py") if where.search(path.read_text(encoding="utf-8"))]
    assert {path.name for path in files} == {"shared_files.py", Path(__file__).name}
    # A module that reads them while it is imported has no running test that conftest.py could blame.
    users = re.compile(r"^from shared_files import|^from yarp_world import .*\brecorded\b", re.MULTILINE)
    for path in (ROOT / "tests").rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        if users.search(text):
            assert "pytest.mark.shared" in text, f"{path} reads files of others, but has no test marked 'shared'"


@pytest.mark.parametrize("workers", ["0", "2"])
def test_only_a_network_test_gets_a_second_attempt_and_only_when_asked(run, tmp_path, workers):
    marked = f"@pytest.mark.network\ndef test_a():\n    {FIRST_FAILS}"
    code, printed = run(tmp_path, marked, "--rerun-network", "-n", workers)
    assert code == 0, printed
    assert re.search(r"RERUN .*test_a", printed)
    assert run(tmp_path, marked)[0] == 1
    assert run(tmp_path, f"def test_a():\n    {FIRST_FAILS}", "--rerun-network", "-n", workers)[0] == 1


def test_two_failures_in_a_row_fail_the_run(run, tmp_path):
    code, printed = run(tmp_path, "@pytest.mark.network\ndef test_a():\n    assert False\n", "--rerun-network")
    assert code == 1
    assert "1 failed, 1 rerun" in printed


def test_a_test_that_needs_a_second_attempt_in_two_of_its_cases_fails_the_run(run, tmp_path):
    text = "\nseen = set()\n@pytest.mark.network\n@pytest.mark.parametrize('n', [1, 2])\ndef test_a(n):\n"
    text += "    again = n in seen\n    seen.add(n)\n    assert again\n"
    code, printed = run(tmp_path, text, "--rerun-network")
    assert "2 passed, 2 rerun" in printed
    assert "needed a second attempt more than once: test_sample.py::test_a (2 times)" in printed
    assert code == 1


def test_only_conftest_asks_for_second_attempts():
    wanted = re.compile(r"mark\.flaky|--reruns\b")
    files = [p for folder in ("tests", "conformance", ".ci") for p in (ROOT / folder).rglob("*") if p.is_file()]
    files += [ROOT / "Makefile", ROOT / "pyproject.toml"]
    found = [str(p.relative_to(ROOT)) for p in files if p.suffix != ".pyc" and wanted.search(p.read_text("latin-1"))]
    assert found == [str(Path(__file__).relative_to(ROOT))]


@pytest.mark.parametrize(
    ("expression", "nightly"),
    [
        ("", True),
        ("nightly", True),
        ("nightly or not nightly", True),
        ("not slow", True),
        ("nightly and slow and network", True),
        ("not nightly", False),
        ("not slow and not nightly", False),
        ("not (slow or nightly)", False),
        ("not nightly and not nightly", False),
    ],
)
def test_nightly_cases_are_made_where_an_expression_of_markers_can_select_one(expression, nightly):
    assert selects_nightly(expression, ["slow", "nightly", "network"]) is nightly


def test_every_file_with_nightly_cases_is_in_the_table_of_contributing():
    table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Nightly cases")[2]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    marked = re.compile(r"pytest\.mark\.nightly|^from daily import|^import daily", re.MULTILINE)
    files = [p for p in (ROOT / "tests").rglob("test_*.py") if marked.search(p.read_text(encoding="utf-8"))]
    wanted = [path.relative_to(ROOT) for path in files if path != Path(__file__)]
    assert len(wanted) > 50

    def named(path):
        return any(f"`{path}`" in row or (f"`{path.parent}/" in row and f"`{path.name}`" in row) for row in rows)

    assert [str(path) for path in wanted if not named(path)] == []
    listed = [name for row in rows for name in re.findall(r"`(tests/[\w/]+\.py)`", row)]
    assert [name for name in listed if not (ROOT / name).exists()] == []


def test_the_garbage_collector_runs_more_seldom_than_by_itself_and_no_test_changes_that():
    assert gc.isenabled()
    assert gc.get_threshold() == (20_000, 10, 20)
    assert gc.get_freeze_count() > 10_000


def test_every_variable_that_conformance_reads_is_documented():
    sources = [p for kind in ("*.py", "*.sh") for p in (ROOT / "conformance").rglob(kind)]
    read = {name for p in sources for name in re.findall(r"PLIANT_[A-Z_0-9]+", p.read_text(encoding="utf-8"))}
    pages = [ROOT / "CONTRIBUTING.md", *(ROOT / "conformance").rglob("README.md"), *(ROOT / "docs").rglob("*.md")]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    assert {"PLIANT_RCLPY_JAZZY", "PLIANT_YARP", "PLIANT_ISAACLAB"} <= read
    assert [name for name in sorted(read) if name not in re.findall(r"PLIANT_[A-Z_0-9]+", text)] == []

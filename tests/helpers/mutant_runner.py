"""Run single tests in forked processes: once to see which lines they execute, and once for each mutant.

The parent process has imported the packages that pliant uses, but nothing of pliant; a child therefore starts in
milliseconds and imports the mutated file, and all that imports it, afresh. Time limits are of the processor's time, so
that a busy machine ends no test.

`interpreted` runs take kernels as plain Python: no mutant has to be compiled, and their functions are seen. A test that
needs other machine code is skipped there.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import hashlib
import importlib
import json
import os
import resource
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

MARKERS = "not slow and not nightly and not network and not shared"
IMPORTED = ("numpy", "scipy.optimize", "scipy.special", "scipy.integrate", "mujoco", "numba", "yaml", "hypothesis")
"""Packages of others that the parent imports."""
TEST_LIMIT_S = 30.0
"""Processor time that a test may take beside ten times its usual time [s]; then the mutant has made it hang."""
MUTANT_LIMIT_S = 15.0
"""Processor time after which no further test of a mutant is begun [s]."""
SURVEY_LIMIT_S = 60.0
"""Processor time after which no further test of a file is surveyed [s]; the rest of the file is not used."""
WAIT_S = 1200.0
"""Wall time after which a child that waits for something is ended [s]."""
AT_IMPORT = ""
"""In place of a test: what is executed while a test file is imported."""


@dataclass(kw_only=True)
class Survey:
    """What the tests of one file take and execute."""

    seconds: dict[str, float] = field(default_factory=dict)
    """Processor time of each test that passed [s]."""
    lines: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    """Lines by source file, of each test and of `AT_IMPORT`."""

    def tests_of(self, file: str, lines: range) -> list[str]:
        """Return the tests that execute one of these lines of a source file; all, if the import does."""
        if not set(lines).isdisjoint(self.lines.get(AT_IMPORT, {}).get(file, ())):
            return list(self.seconds)
        return [test for test in self.seconds if not set(lines).isdisjoint(self.lines[test].get(file, ()))]


def interpret_kernels() -> None:
    """Let numba compile nothing in this process; to be called before pliant is imported."""
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="cache-", dir=Path.cwd())  # code derived before the change
    importlib.import_module("numba").config.DISABLE_JIT = True
    codecache = importlib.import_module("pliant.base.codecache")
    compile_laws = importlib.import_module("pliant.laws.compile")

    def plain(*_: Any, **__: Any) -> Callable[[Any], Any]:
        return lambda function: function

    def no_machine_code(*_: Any, **__: Any) -> None:
        pytest.skip("needs machine code")

    number, pointer = ctypes.c_double, ctypes.POINTER(ctypes.c_double)
    arguments = {
        "step": (pointer, *[number] * 5, pointer, pointer),
        "observe": (pointer, *[number] * 5, pointer, number, pointer),
        "hold": (pointer, number, number, pointer, pointer),
    }

    def address_of_python(self: Any, entry: str, signature: str) -> int | None:
        kind = ctypes.CFUNCTYPE(number if signature == "step" else None, *arguments[signature])
        self._machines.append(kind(self._namespace[f"{entry}_c"]))
        return ctypes.cast(self._machines[-1], ctypes.c_void_p).value

    codecache.njit = compile_laws.njit = compile_laws._with_cache = plain  # type: ignore[attr-defined]
    compile_laws.native = no_machine_code  # type: ignore[attr-defined]
    compile_laws.CompiledLaw._native = address_of_python  # type: ignore[attr-defined]


class _Runner:
    """Plugin of pytest in a child: limits, the test that fails, and the lines that are executed."""

    def __init__(self, *, interpreted: bool, usual: dict[str, float], watched: str = "") -> None:
        """Run chosen tests in the order of their usual times, or all, with the lines under a folder ``watched``."""
        self.interpreted = interpreted
        self.usual = usual
        self.watched = watched
        self.failed = ""
        self.current = AT_IMPORT
        self.survey = Survey()
        self.seen: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        self.codes: dict[Any, set[int] | None] = {}

    def pytest_load_initial_conftests(self) -> None:
        if self.interpreted:
            interpret_kernels()
        if self.watched:
            self.trace()

    def pytest_sessionstart(self) -> None:
        from hypothesis import Phase, settings

        settings.register_profile("mutants", settings(), phases=(Phase.explicit, Phase.generate), database=None)
        settings.load_profile("mutants")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if not self.watched:
            chosen = [item for item in items if item.nodeid in self.usual]
            items[:] = sorted(chosen, key=lambda item: self.usual[item.nodeid])

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item):
        if time.process_time() > (SURVEY_LIMIT_S if self.watched else MUTANT_LIMIT_S):
            item.session.shouldstop = "the time is used up"
            return True
        self.current, begin = item.nodeid, time.process_time()
        self.codes.clear()
        if not self.watched:
            signal.setitimer(signal.ITIMER_PROF, TEST_LIMIT_S + 10 * self.usual.get(item.nodeid, 0.0))
        else:
            self.trace()
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            self.current = AT_IMPORT
            if item.nodeid in self.survey.seconds:
                self.survey.seconds[item.nodeid] = time.process_time() - begin

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any):
        test = self.current
        if fixturedef.scope != "function":  # all tests of the file depend on it
            self.current = AT_IMPORT
            self.codes.clear()
        try:
            return (yield)
        finally:
            self.current = test
            self.codes.clear()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = self.failed or report.nodeid
            self.survey.seconds.pop(report.nodeid, None)
        elif report.when == "call" and report.passed:
            self.survey.seconds[report.nodeid] = 0.0

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed = self.failed or report.nodeid

    def trace(self) -> None:
        threading.settrace(self._call)
        sys.settrace(self._call)

    def _call(self, frame: FrameType, event: str, argument: object) -> Any:
        code = frame.f_code
        if code not in self.codes:
            path = code.co_filename
            inside = path.startswith(self.watched)
            lines = self.seen[self.current][f"pliant/{path.split('/src/pliant/', 1)[1]}"] if inside else None
            if lines is not None and "kernels" in path:  # too many steps to follow: all lines of the function
                lines.update(n for *_, n in code.co_lines() if n)
                lines = None
            self.codes[code] = lines
        lines = self.codes[code]
        if lines is None:
            return None
        lines.add(frame.f_lineno)

        def line(frame: FrameType, event: str, argument: object) -> Any:
            lines.add(frame.f_lineno)
            return line

        return line


def _in_child(work: Callable[[], Any], result: Path) -> tuple[int, Any]:
    """Return signal and result of a function that runs in a forked process with its own output."""
    result.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        try:
            out = os.open(result.with_suffix(".log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(out, 1)
            os.dup2(out, 2)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            result.write_text(json.dumps(work()))
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(1)
    end = time.monotonic() + WAIT_S
    done, status = 0, 0
    while not done:
        time.sleep(0.02)
        done, status = os.waitpid(child, os.WNOHANG)
        if not done and time.monotonic() > end:
            os.kill(child, signal.SIGPROF)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # processes that a test has left
    ended_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    return ended_by, json.loads(result.read_text()) if result.exists() else None


def _enter(copy: Path) -> None:
    os.chdir(copy)
    sys.path.insert(0, str(copy / "src"))
    os.environ["PYTHONPATH"] = str(copy / "src")
    os.environ.pop("PYTEST_ADDOPTS", None)


def _pytest(plugin: _Runner, *arguments: str) -> int:
    return int(
        pytest.main(
            ["-q", "-p", "no:xdist", "-p", "no:cacheprovider", "-p", "no:pliant_franka", "-m", MARKERS, *arguments],
            [plugin],
        )
    )


def prepare() -> None:
    """Import in this process what all children need."""
    for name in IMPORTED:
        importlib.import_module(name)
    gc.freeze()


def survey(test_file: str, copy: Path, *, interpreted: bool, kept: Path) -> Survey:
    """Return what the tests of a file take and execute, from `kept` if neither they nor the sources have changed."""
    content = hashlib.sha256((copy / test_file).read_bytes() + Path(__file__).read_bytes())
    for path in sorted((copy / "src").rglob("*.py")):
        content.update(path.read_bytes())
    key = f"{content.hexdigest()} {interpreted}"
    path = kept / f"{test_file.replace('/', '.')}.{interpreted}.json"
    if path.exists() and (found := json.loads(path.read_text()))["key"] == key:
        return Survey(seconds=found["seconds"], lines=found["lines"])

    def work() -> dict[str, Any]:
        _enter(copy)
        plugin = _Runner(
            interpreted=interpreted, usual={}, watched=str(copy / "src" / "pliant" / test_file.split("/")[1])
        )
        _pytest(plugin, test_file)
        sys.settrace(None)
        return {
            "seconds": plugin.survey.seconds,
            "lines": {
                test: {file: sorted(lines) for file, lines in files.items()} for test, files in plugin.seen.items()
            },
        }

    kept.mkdir(parents=True, exist_ok=True)
    _, found = _in_child(work, kept / "child")
    found = found or {"seconds": {}, "lines": {}}
    for test in found["seconds"]:
        found["lines"].setdefault(test, {})
    path.write_text(json.dumps({"key": key, **found}))
    return Survey(seconds=found["seconds"], lines=found["lines"])


def first_failure(tests: dict[str, float], copy: Path, *, interpreted: bool, scratch: Path) -> str:
    """Run tests in the order of their usual times; return which fails, "time limit ..." if one hangs, or "".

    Raises:
        RuntimeError: pytest was used wrongly, which says nothing of the tests.
    """

    def work() -> tuple[int, str]:
        _enter(copy)
        plugin = _Runner(interpreted=interpreted, usual=tests)
        return _pytest(plugin, "-x", *sorted({test.split("::")[0] for test in tests})), plugin.failed

    ended_by, found = _in_child(work, scratch / "child")
    if ended_by:
        return "time limit" if ended_by == signal.SIGPROF else f"signal {ended_by}"
    code, failed = found or (pytest.ExitCode.USAGE_ERROR, "")
    if code == pytest.ExitCode.USAGE_ERROR and not failed:
        text = (scratch / "child.log").read_text(errors="replace")
        if f"{copy}/src/pliant/" not in text and "while loading conftest" not in text:
            raise RuntimeError(text)
        return "pliant cannot be imported"
    return failed

"""Rules for all tests, those of ``tests`` and those of ``conformance``.

* A test that opens a network socket in this process is marked ``network``; one that is not marked fails.
* A test that opens a file of ``../shared`` is marked ``shared``; one that is not marked fails. Where the folder is
  absent, the marked ones are skipped.
* ``--rerun-network`` runs a failed test once more if it is marked ``network``, and no other test. The run fails if the
  second attempt fails as well, or if two cases of one test function needed a second attempt.
* Examples of hypothesis have no deadline; a test has 50 of them unless it says more.
* Linear algebra has one thread in this process and in those that tests start, as in the program `pliant`.
* The garbage collector runs more seldom than by itself, not while tests are collected, and does not look at them.
* A test that leaves its thread with another scheduling, as libfranka's clients do, does not leave it to the next.
"""

import gc
import os
import signal
import sys
from collections import Counter
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported

import hypothesis
import pytest

from pliant.simulation.realtime import kept_scheduling

# How long an example takes says more about what else the machine does than about the code: no deadline. Each run draws
# other examples, so that half of the usual number finds the same in twice the runs.
hypothesis.settings.register_profile("pliant", deadline=None, max_examples=50)
hypothesis.settings.load_profile("pliant")

_NETWORK_EVENTS = {"socket.bind", "socket.connect", "socket.sendto", "socket.sendmsg"}
_SHARED = str(Path(__file__).resolve().parent.parent / "shared")
_opened: list[tuple[str, str]] = []
"""Marker that was needed, and what for."""
_watching = False

GARBAGE_THRESHOLD = (20_000, 10, 20)
"""New objects after which the garbage collector runs, and its runs until that of an older generation. At Python's 700,
10, 10 it took 3.9 of 25.4 s of processor time of a part of the tests, with these 1.4 of 20.0 s."""


def _note(event: str, arguments: tuple) -> None:
    if not _watching:
        return
    if event == "open":
        if isinstance(arguments[0], str) and arguments[0].startswith(_SHARED):
            _opened.append(("shared", arguments[0]))
    # Addresses of IPv4 and IPv6 are tuples, those of sockets inside the machine are paths.
    elif event in _NETWORK_EVENTS and len(arguments) > 1 and isinstance(arguments[1], tuple):
        _opened.append(("network", f"a socket: {event} {arguments[1]}"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rerun-network", action="store_true", help="run a failed test once more if it is marked 'network'"
    )


def pytest_configure(config: pytest.Config) -> None:
    sys.addaudithook(_note)
    gc.set_threshold(*GARBAGE_THRESHOLD)
    # A shell without job control starts background jobs with SIGINT ignored; tests press Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session):
    gc.disable()  # a quarter of the time of collecting 14,000 tests, which leaves no garbage
    try:
        return (yield)
    finally:
        gc.freeze()  # what is there now stays: else each full collection, and a page makes some, looks at all tests
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not Path(_SHARED).is_dir():
        absent = pytest.mark.skip(reason=f"compares with files of others, which are not at {_SHARED}")
        for item in items:
            if item.get_closest_marker("shared"):
                item.add_marker(absent)
    if config.getoption("--rerun-network"):
        for item in items:
            if item.get_closest_marker("network"):
                item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    report = yield
    for marker in sorted({marker for marker, _ in _opened}):
        if report.passed and not item.get_closest_marker(marker):
            found = [what for of, what in _opened if of == marker]
            report.outcome = "failed"
            report.longrepr = f"{item.nodeid} is not marked {marker!r}, but it opens {', '.join(found[:3])}"
            _opened.clear()
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None):
    global _watching
    _opened.clear()
    _watching = True
    try:
        with kept_scheduling():
            return (yield)
    finally:
        _watching = False


def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return
    reruns = Counter(report.nodeid.split("[")[0] for report in reporter.stats.get("rerun", ()))
    often = [f"{name} ({count} times)" for name, count in reruns.items() if count > 1]
    if often:
        reporter.write_line(f"\nfails: needed a second attempt more than once: {', '.join(often)}", red=True)
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

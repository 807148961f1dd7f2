"""Who asks is told what is being compiled, how far it is, and when it has ended."""

import subprocess
import sys

import pytest

from pliant.base import compiling, shipped
from pliant.base.codecache import njit
from pliant.base.compiling import Compilation, compilation, observed


@pytest.fixture
def told():
    """Every report while the test runs."""
    reports: list[Compilation] = []
    with observed(reports.append):
        yield reports


def summary(reports):
    return [(r.what, r.done, r.total, r.over) for r in reports]


SOURCE = """
def inner(x):
    return 2.0 * x

def outer(x):
    return inner(x) + 1.0
"""


def make_outer(module, folder):
    """Return a function that calls another one, as a module of this name would hold it."""
    path = folder / "kernels.py"
    path.write_text(SOURCE)
    names = {"__name__": module}
    exec(compile(SOURCE, str(path), "exec"), names)
    names["inner"] = njit()(names["inner"])
    return njit()(names["outer"])


def test_functions_of_numba_are_reported_with_those_that_they_call(told, tmp_path):
    outer = make_outer("pliant.robots.sample.kernels", tmp_path)
    assert outer(3.0) == 7.0
    assert summary(told) == [("robots", 0, 2, False), ("robots", 1, 2, False), ("robots", 2, 2, True)]  # its room
    told.clear()
    assert outer(4.0) == 9.0
    assert told == []


def test_functions_of_others_are_not_reported(told, tmp_path):
    assert make_outer("somebody.kernels", tmp_path)(3.0) == 7.0
    assert told == []


def test_compiling_a_law_is_reported_once_and_what_is_in_the_cache_is_not(told, tmp_path, monkeypatch):
    from pliant.laws import registered_laws
    from pliant.laws.compile import _prepare

    monkeypatch.setenv("PLIANT_CACHE", str(tmp_path))
    monkeypatch.setattr(shipped, "folder", lambda: None)  # a wheel brings the code of its laws
    law = registered_laws()["sea"]
    assert _prepare(law).hold
    assert {r.what for r in told} == {"the law sea"}
    assert [r.over for r in told] == [False] * (len(told) - 1) + [True]
    assert told[-1].done == told[-1].total > 1
    told.clear()
    assert _prepare(law).hold
    assert told == []


def test_loading_the_functions_of_a_law_on_arrays_from_the_cache_is_not_reported(told, tmp_path, monkeypatch):
    from pliant.laws import registered_laws
    from pliant.laws.compile import _prepare

    monkeypatch.setenv("PLIANT_CACHE", str(tmp_path))
    monkeypatch.setattr(shipped, "folder", lambda: None)  # a wheel brings the code of its laws
    law = registered_laws()["sea"]
    assert _prepare(law).evaluate
    assert {r.what for r in told} == {"the law sea"}
    assert [r.over for r in told] == [False] * (len(told) - 1) + [True]
    told.clear()
    assert _prepare(law).evaluate
    assert told == []


def test_what_compiles_within_a_compilation_belongs_to_it(told):
    with compilation("the law x", 3), compilation("kernels", 7):
        pass
    assert summary(told) == [("the law x", 0, 3, False), ("the law x", 1, 3, False), ("the law x", 2, 2, True)]


def test_the_end_is_reported_where_the_compilation_fails(told):
    with pytest.raises(ValueError, match="no"), compilation("the law x", 1):
        raise ValueError("no")
    assert told[-1].over
    with compilation("the law y", 1):
        pass
    assert told[-1].what == "the law y"


def test_without_an_observer_a_long_compilation_is_a_warning_once(caplog, monkeypatch):
    monkeypatch.setattr(compiling, "_observers", [])
    monkeypatch.setattr(compiling, "_told", set())
    for functions in (2, 100, 100):
        with compilation("rods", functions):
            pass
    assert caplog.messages == ["compiling rods (once; later runs load it)"]


COUNT = """
from pliant.base.compiling import MANY, count_functions
from pliant.franka.device import kernels
from pliant.rods import kernels as rods
print([count_functions(f) >= MANY for f in (kernels.control, rods.solve)])
"""


def test_parallel_robots_and_franka_arms_are_worth_a_warning():
    done = subprocess.run([sys.executable, "-c", COUNT], capture_output=True, text=True, check=True)
    assert done.stdout == "[True, True]\n"

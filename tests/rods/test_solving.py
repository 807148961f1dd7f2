"""The thread that solves beside the loop."""

import functools
import threading

import pytest
import waiting

from pliant.rods import solving
from pliant.rods.solving import Solver

until = functools.partial(waiting.until, timeout=30.0)


def threads(name):
    return [t for t in threading.enumerate() if t.name == name]


def test_jobs_are_done_in_their_order_by_a_thread_of_their_own():
    solver = Solver("order")
    who = []
    solver.submit("a", lambda: who.append(threading.current_thread().name) or 1)
    solver.submit("b", lambda: 2)
    solver.close()
    assert solver.results() == [("a", 1), ("b", 2)]
    assert who == ["order"]
    assert solver.results() == []
    assert not threads("order")


def test_a_job_that_waits_gives_way_to_a_newer_one_of_its_kind():
    solver = Solver("newest")
    go = threading.Event()
    begun = threading.Event()
    solver.submit("goal", lambda: begun.set() or (go.wait(30) and "first"))
    assert begun.wait(30)
    for k in range(5):
        solver.submit("goal", lambda k=k: k)
    solver.submit("controller", lambda: "kept")
    go.set()
    solver.close()
    assert solver.results() == [("goal", "first"), ("goal", 4), ("controller", "kept")]
    assert solver.replaced == 4


def test_what_is_cleared_is_not_done():
    solver = Solver("cleared")
    go, begun = threading.Event(), threading.Event()
    solver.submit("goal", lambda: begun.set() or go.wait(30))
    assert begun.wait(30)
    solver.submit("next", lambda: pytest.fail("it was cleared"))
    solver.clear()
    go.set()
    solver.close()
    assert [kind for kind, _ in solver.results()] == ["goal"]


def test_the_thread_ends_when_there_is_nothing_to_do_and_begins_again(monkeypatch):
    monkeypatch.setattr(solving, "IDLE", 0.01)
    solver = Solver("idle")
    solver.submit("a", lambda: 1)
    until(lambda: not threads("idle"))
    solver.submit("a", lambda: 2)
    solver.close()
    assert [value for _, value in solver.results()] == [1, 2]


def test_closing_twice_and_submitting_after_it_do_nothing():
    solver = Solver("closed")
    solver.close()
    solver.close()
    solver.submit("a", lambda: pytest.fail("it is closed"))
    assert solver.results() == []
    assert not threads("closed")

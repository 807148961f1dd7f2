"""Threads whose death is noticed."""

import threading

import pytest
from threads_killed import Killed, kill

from pliant.base.threads import Threads, WorkerPool


def fail():
    raise ZeroDivisionError("a fault of ours")


def waiting(threads):
    """Start a thread that lives until the event that is returned is set."""
    event = threading.Event()
    threads.start("waiting", lambda: [None for _ in iter(lambda: event.wait(0.01), True)])
    return event


def test_a_thread_that_raises_is_logged_told_and_kept(caplog):
    threads, told = Threads(), []
    threads.tell(lambda name, why: told.append((name, why)))
    threads.start("worker", fail).join()
    assert threads.dead == {"worker": "ZeroDivisionError: a fault of ours"}
    assert told == [("worker", "ZeroDivisionError: a fault of ours")]
    assert "the thread worker died: ZeroDivisionError: a fault of ours" in caplog.text


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_what_is_no_exception_ends_a_thread_too_and_is_told(error):
    def work():
        raise error

    threads = Threads()
    threads.start("worker", work).join()
    assert threads.dead["worker"].startswith(error.__name__)


def test_a_thread_that_returns_too_early_is_dead_and_one_that_returns_at_the_end_is_not():
    threads = Threads()
    threads.start("early", lambda: None).join()
    event = waiting(threads)
    threads.close()
    event.set()
    threads.join(10.0)
    assert threads.alive == ()
    assert threads.dead == {"early": "it ended by itself"}


def test_who_listens_late_hears_of_it_too_and_a_listener_that_fails_keeps_it_from_nobody():
    threads, told = Threads(), []
    threads.tell(lambda name, why: fail())
    threads.tell(lambda name, why: told.append(name))
    threads.start("worker", fail).join()
    threads.tell(lambda name, why: told.append(name.upper()))
    assert told == ["worker", "WORKER"]


def test_a_thread_is_killed_from_outside_as_the_contract_of_bridges_does():
    threads = Threads()
    waiting(threads)
    kill(threads.alive[0])
    assert threads.dead["waiting"].startswith(Killed.__name__)


def test_a_pool_begins_jobs_in_their_order_refuses_too_many_and_ends():
    threads, order, free = Threads(), [], threading.Event()
    pool = WorkerPool(threads, "worker", workers=1, limit=3)
    begun = threading.Event()
    assert pool.submit(lambda: (begun.set(), free.wait(30.0)))
    assert begun.wait(30.0)
    assert [pool.submit(lambda k=k: order.append(k)) for k in range(4)] == [True, True, True, False]
    free.set()
    done = threading.Event()
    while not pool.submit(done.set):
        pass
    assert done.wait(30.0)
    assert order == [0, 1, 2]
    threads.close()
    pool.close()
    threads.join(30.0)
    assert not pool.submit(done.set)
    assert threads.alive == ()
    assert threads.dead == {}


def test_a_worker_whose_job_raises_is_dead():
    threads = Threads()
    pool = WorkerPool(threads, "worker", workers=1, limit=3)
    pool.submit(fail)
    threads.join(30.0)
    assert threads.dead == {"worker-0": "ZeroDivisionError: a fault of ours"}
    pool.close()

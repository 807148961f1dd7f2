"""Events of controls: each callback runs in one thread at a time, and a fast browser cannot pile up work."""

import threading
from types import SimpleNamespace

import pytest
from running import eventually, free_port

from pliant.page import PageServer
from pliant.page.calls import LatestCalls


@pytest.fixture
def calls():
    found = LatestCalls(workers=2)
    yield found
    found.shutdown()


def event(number, client=1, phase=None):
    return SimpleNamespace(number=number, client_id=client, phase=phase)


class Slow:
    """A callback that waits until it is let go."""

    def __init__(self):
        self.begun, self.go = threading.Semaphore(0), threading.Semaphore(0)
        self.seen, self.inside, self.most = [], 0, 0

    def __call__(self, found):
        self.inside += 1
        self.most = max(self.most, self.inside)
        self.begun.release()
        assert self.go.acquire(timeout=10.0)
        self.seen.append((found.client_id, found.phase, found.number))
        self.inside -= 1


def test_while_a_callback_runs_only_the_newest_event_of_each_browser_waits(calls):
    slow = Slow()
    answers = [calls.submit(slow, event(0))]
    assert slow.begun.acquire(timeout=10.0)
    answers += [calls.submit(slow, event(number, client)) for number in range(1, 1000) for client in (1, 2)]
    slow.go.release(3)
    assert [answer.result(10.0) for answer in answers] == [None] * len(answers)
    assert slow.seen == [(1, None, 0), (1, None, 999), (2, None, 999)]
    assert slow.most == 1
    eventually(lambda: not calls._waiting)


def test_the_phases_of_a_drag_are_kept_in_their_order(calls):
    slow = Slow()
    last = [calls.submit(slow, event(k, phase=p)) for k, p in enumerate(("start", "update", "update", "end"))][-1]
    slow.go.release(4)
    last.result(10.0)
    assert [phase for _, phase, _ in slow.seen] == ["start", "update", "end"]


def test_a_callback_that_blocks_does_not_keep_others_waiting(calls):
    slow, seen = Slow(), []
    first, second = calls.submit(slow, event(0)), calls.submit(slow, event(1, client=2))
    calls.submit(seen.append, 3).result(10.0)
    assert seen == [3]
    slow.go.release(2)
    assert first.result(10.0) is second.result(10.0) is None


def test_more_callbacks_than_threads_take_turns():
    calls, seen, go = LatestCalls(workers=1), [], threading.Event()

    def work(number):
        def run(_):
            assert go.wait(10.0)
            seen.append(number)

        return run

    works = [work(number) for number in range(5)]
    answers = [calls.submit(one, event(0, client)) for client in range(3) for one in works]
    go.set()
    for answer in answers:
        answer.result(10.0)
    assert seen == [*range(5)] * 3
    calls.shutdown()


def test_an_error_of_a_callback_goes_to_who_asked_and_the_next_event_runs(calls):
    def fail(found):
        raise ValueError(found.number)

    for number in (1, 2):
        with pytest.raises(ValueError, match=str(number)):
            calls.submit(fail, event(number)).result(10.0)


def test_a_pool_that_was_shut_down_refuses_events(calls):
    calls.shutdown()
    with pytest.raises(RuntimeError):
        calls.submit(print, event(0))


@pytest.mark.network
def test_clicks_on_a_button_that_waits_do_not_pile_up_on_a_page():
    slow, last = Slow(), threading.Event()
    with PageServer(port=free_port()) as server:
        button = server.gui.add_button("slow")
        button.on_click(slow)
        executor = server.gui._thread_executor
        for number in range(500):
            for callback in button._impl.update_cb:
                answer = executor.submit(callback, event(number))
        answer.add_done_callback(lambda _: last.set())
        slow.go.release(500)
        assert last.wait(10.0)
        assert len(slow.seen) <= 3
        assert slow.seen[-1] == (1, None, 499)
        assert slow.most == 1

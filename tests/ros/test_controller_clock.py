"""The clocks of a policy never go back; a wait ends at its time, at a stop, or where the time stands still."""

import threading
from types import SimpleNamespace

import pytest

from pliant.base.errors import BridgeError
from pliant.learn.running import WallClock
from pliant.ros.controller_clock import RosClock


def ros(timeout=60.0):
    clock = RosClock(threading.Condition(), timeout)
    subscribed = []
    clock.subscribe(SimpleNamespace(subscribe=lambda topic, kind, callback: subscribed.append(callback)))
    return clock, lambda t: subscribed[0]({"clock": round(t * 1e9)})


def test_the_time_of_a_simulation_goes_on_where_it_is_set_back():
    clock, take = ros()
    found = []
    for t in (5.0, 5.5, 5.5, 0.0, 0.25, 0.1, 1.1):
        take(t)
        found.append(clock.now())
    assert found == pytest.approx([5.0, 5.5, 5.5, 5.5, 5.75, 5.75, 6.75])
    assert clock.count == 6  # the repeated one is none


def test_a_wait_ends_when_the_message_with_the_time_comes():
    clock, take = ros()
    take(1.0)
    clock.wait_until(1.0, threading.Event())
    messages = threading.Thread(target=lambda: [take(t) for t in (1.1, 1.2, 1.3)], name="messages")
    messages.start()
    clock.wait_until(1.3, threading.Event())
    messages.join()
    assert clock.now() == pytest.approx(1.3)


def test_a_time_that_stands_still_ends_the_wait_with_an_error():
    clock, take = ros(timeout=0.05)
    take(1.0)
    with pytest.raises(
        BridgeError, match=r"/clock has stood still for \d+\.\d\d s, more than 0\.05 s; the robot keeps"
    ):
        clock.wait_until(2.0, threading.Event())


@pytest.mark.parametrize("make", [lambda: ros()[0], WallClock])
def test_a_stop_ends_a_wait(make):
    clock, stop = make(), threading.Event()
    stop.set()
    clock.wait_until(clock.now() + 1e6, stop)


def test_wall_time_passes_while_one_waits():
    clock = WallClock()
    due = clock.now() + 0.02
    clock.wait_until(due, threading.Event())
    assert clock.now() >= due

"""A thread of a wire that dies is logged, told, and kept in health()."""

import logging

import pytest
from ros2_clients import DOMAINS, until

from pliant.bridges.ros.outbox import Outbox
from pliant.bridges.ros.threads import WireThread
from pliant.bridges.ros2 import Ros2Node


def fail():
    raise ZeroDivisionError("a fault of ours")


def test_a_thread_that_dies_is_logged_and_told(caplog):
    told = []
    thread = WireThread("wire-test", fail, told.append)
    with caplog.at_level(logging.ERROR):
        thread.start()
        thread.join()
    assert thread.fault == "ZeroDivisionError: a fault of ours"
    assert told == ["the thread wire-test died: ZeroDivisionError: a fault of ours"]
    assert "the thread wire-test died" in caplog.text


def test_a_writer_whose_wire_fails_is_a_dead_thread():
    outbox = Outbox("writer-test", lambda sender, data: fail())
    assert outbox.dead_threads == {}
    outbox.start()
    outbox.send(None, b"x")
    until(lambda: outbox.dead_threads)
    assert outbox.dead_threads == {"writer-test": "ZeroDivisionError: a fault of ours"}
    outbox.stop()


@pytest.mark.network
def test_the_health_of_a_node_names_its_dead_threads():
    node = Ros2Node("robot", domain=next(DOMAINS))
    node.start()
    try:
        assert node.health()["dead_threads"] == {}
        node.participant.on_tick = lambda now: fail()
        until(lambda: node.health()["dead_threads"])
        assert node.health()["dead_threads"] == {"ros2-rtps": "ZeroDivisionError: a fault of ours"}
        assert any("ros2-rtps died" in fault for fault in node.health()["last_faults"])
    finally:
        node.stop()

"""The queue between the loop and a wire."""

import functools
import threading

import waiting
from hypothesis import given
from hypothesis import strategies as st

from pliant.base.threads import Threads
from pliant.ros.bridge.outbox import Outbox


class Topic:
    def __init__(self):
        self.drops = 0


until = functools.partial(waiting.until, timeout=30.0)


def test_messages_arrive_in_order_in_the_writers_thread():
    got = []
    outbox = Outbox(
        "test-writer", lambda topic, data: got.append((threading.current_thread().name, data)), threads=Threads()
    )
    outbox.start()
    topic = Topic()
    for k in range(500):
        outbox.send(topic, b"%d" % k)
    until(lambda: len(got) == 500)
    outbox.stop()
    assert got == [("test-writer", b"%d" % k) for k in range(500)]
    assert topic.drops == outbox.dropped == 0


def test_stopping_hands_over_what_waits_and_ends_the_thread():
    got = []
    outbox = Outbox("test-writer", lambda topic, data: got.append(data), threads=Threads())
    for _ in range(100):
        outbox.send(Topic(), b"x")
    outbox.start()
    outbox.stop()
    outbox.stop()
    assert len(got) == 100
    assert "test-writer" not in {t.name for t in threading.enumerate()}


def test_direct_messages_wait_for_the_flush():
    got = []
    outbox = Outbox("test-writer", lambda topic, data: got.append(threading.current_thread().name), threads=Threads())
    outbox.direct = True
    for _ in range(3):
        outbox.send(Topic(), b"x")
    assert not got
    outbox.flush()
    assert got == [threading.current_thread().name] * 3


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 60)), max_size=80),
    st.integers(1, 10),
    st.integers(1, 200),
)
def test_the_oldest_go_where_there_is_no_room(messages, count, size):
    topics = [Topic() for _ in range(3)]
    got = []
    outbox = Outbox(
        "test-writer", lambda topic, data: got.append((topic, data)), threads=Threads(), messages=count, size=size
    )
    sent = [(topics[k], bytes([n]) * length) for n, (k, length) in enumerate(messages)]
    for n, (topic, data) in enumerate(sent, 1):
        outbox.send(topic, data)
        waiting = sent[n - len(outbox) : n]
        assert len(waiting) <= count
        assert len(waiting) == 1 or sum(len(data) for _, data in waiting) <= size
    outbox.flush()
    assert got == sent[len(sent) - len(got) :]  # the newest, in order
    assert len(got) + outbox.dropped == len(sent)
    assert sum(topic.drops for topic in topics) == outbox.dropped
    lost = outbox.dropped
    outbox.send(topics[0], bytes(size))  # all of the room is free again
    assert (len(outbox), outbox.dropped) == (1, lost)


def test_a_wire_that_raises_is_reported_as_a_dead_thread():
    def fail(topic, data):
        raise OSError("the wire is gone")

    threads = Threads()
    told = []
    threads.tell(lambda name, why: told.append((name, why)))
    outbox = Outbox("test-writer", fail, threads=threads)
    outbox.start()
    outbox.send(Topic(), b"x")
    until(lambda: told)
    assert told[0][0] == "test-writer"
    assert "the wire is gone" in told[0][1]

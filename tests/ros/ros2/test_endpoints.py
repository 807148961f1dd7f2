"""Reliable writers and readers of RTPS over a wire that loses, doubles and swaps; no sockets, no clock."""

import tracemalloc

from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.ros.ros2.endpoints import (
    FRAGMENT_SIZE,
    SAMPLE_LIMIT,
    WAITING_BYTES,
    Reader,
    ReaderProxy,
    Writer,
    WriterProxy,
)
from pliant.ros.wire.rtps.messages import AckNack, Data, DataFrag, Gap, Heartbeat, NackFrag, decode_message

A, B, C = (bytes([k]) * 12 for k in (1, 2, 3))
WRITER, READER = A + b"\0\0\1\3", B + b"\0\0\1\4"
HERE = ("127.0.0.1", 1)


class Wire:
    """Carries what a writer and its reader say; `fate` decides what is lost, doubled or held back."""

    def __init__(self, writer, reader, fate=lambda: "through"):
        self.writer, self.reader, self.fate = writer, reader, fate
        self.got, self.flying, self.now = [], [], 0.0

    def send(self, out):
        for _, datagram in out:
            (to, *submessages) = decode_message(datagram)[1]
            prefix = to.prefix
            fate = self.fate()
            if fate == "lost":
                continue
            at = 0 if fate == "first" else len(self.flying)
            self.flying[at:at] = [(prefix, submessages)] * (2 if fate == "twice" else 1)

    def carry(self):
        while self.flying:
            to, submessages = self.flying.pop(0)
            for message in submessages:
                self._arrive(to, message)

    def _arrive(self, to, message):
        if to == B:
            ready, out = [], []
            match message:
                case Data():
                    ready, out = self.reader.take(A, message, self.now)
                case DataFrag():
                    ready, out = self.reader.take_fragments(A, message, self.now)
                case Heartbeat():
                    ready, out = self.reader.hear(A, message, self.now)
                case Gap():
                    ready = self.reader.skip(A, message)
            self.got += [data for _, data in ready]
            self.send(out)
        elif to == A:
            match message:
                case AckNack():
                    self.send(self.writer.answer(B, message, self.now))
                case NackFrag():
                    self.send(self.writer.answer_fragments(B, message))

    def settle(self, seconds=30.0):
        end = self.now + seconds
        while self.now < end:
            self.now += 0.05
            self.send(self.writer.tick(self.now))
            ready, out = self.reader.tick(self.now)
            self.got += [data for _, data in ready]
            self.send(out)
            self.carry()


def pair(fate=lambda: "through", **options):
    return Wire(Writer(WRITER, **options), Reader(READER), fate)


def join(wire):
    wire.send(wire.writer.add(ReaderProxy(guid=READER, address=HERE), wire.now))
    wire.send(wire.reader.add(WriterProxy(guid=WRITER, address=HERE), wire.now))
    wire.carry()


FATES = st.sampled_from(["through", "through", "through", "lost", "twice", "first"])


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from([4, 40, 3 * FRAGMENT_SIZE + 8]), min_size=1, max_size=12), st.data())
def test_everything_arrives_once_and_in_order_over_a_wire_that_loses(sizes, data):
    budget = [60]

    def fate():
        budget[0] -= 1
        return data.draw(FATES) if budget[0] > 0 else "through"

    wire = pair(fate)
    join(wire)
    sent = []
    for number, size in enumerate(sizes):
        sent.append(bytes([number]) * size)
        wire.send(wire.writer.write(sent[-1], wire.now))
        wire.carry()
    wire.settle()
    assert [d.payload for d in wire.got] == sent
    assert not wire.writer.tick(wire.now + 100.0)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=20), st.data())
def test_what_is_for_another_is_a_gap_and_holds_nothing_up(mine, data):
    budget = [40]

    def fate():
        budget[0] -= 1
        return data.draw(FATES) if budget[0] > 0 else "through"

    wire = pair(fate)
    join(wire)
    for number, own in enumerate(mine):
        wire.send(wire.writer.write(bytes([number]) * 4, wire.now, only=frozenset((B if own else C,))))
        wire.carry()
    wire.settle()
    assert [d.payload for d in wire.got] == [bytes([n]) * 4 for n, own in enumerate(mine) if own]


def test_a_late_reader_gets_what_is_kept_only_from_a_transient_local_writer():
    for transient, expected in ((True, [b"1111", b"2222", b"3333"]), (False, [b"3333"])):
        wire = pair(transient_local=transient)
        for payload in (b"0000", b"1111", b"2222")[-2 if transient else 0 :]:
            wire.writer.write(payload, 0.0)
        join(wire)
        wire.send(wire.writer.write(b"3333", wire.now))
        wire.settle(1.0)
        assert [d.payload for d in wire.got] == expected


def test_a_sample_that_is_no_longer_kept_is_passed_over():
    wire = pair(depth=2)
    join(wire)
    for number in range(5):
        wire.writer.write(bytes([number]) * 4, wire.now)  # none of these arrives
    wire.settle(5.0)
    assert [d.payload for d in wire.got] == [b"\3\3\3\3", b"\4\4\4\4"]
    (proxy,) = wire.reader.proxies.values()
    assert proxy.lost == 3


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_what_has_arrived_is_handed_over_although_an_earlier_sample_is_gone(data):
    arrived = set()

    class Counted(Reader):
        def take(self, prefix, message, now):
            arrived.add(message.sequence)
            return super().take(prefix, message, now)

    writer, reader = Writer(WRITER, depth=10), Counted(READER)
    wire = Wire(writer, reader)
    join(wire)
    wire.settle(1.0)
    # A starved receiver: of 200 samples, long runs are lost, and the writer keeps ten.
    losing = data.draw(st.lists(st.booleans(), min_size=200, max_size=200))
    for lost in losing:
        wire.fate = lambda lost=lost: "lost" if lost else "through"
        wire.send(writer.write(b"\0\1\0\0", wire.now))
        wire.fate = lambda: "lost"  # of what is asked, nothing arrives
        wire.carry()
        wire.now += 1e-3
    wire.fate = lambda: "through"
    wire.settle(5.0)
    got = [item.sequence for item in wire.got]
    assert got == sorted(arrived)
    (proxy,) = reader.proxies.values()
    assert proxy.lost == writer.last - len(got)


def test_the_last_sample_is_asked_for_although_nothing_follows():
    wire = pair()
    join(wire)
    for payload in (b"aaaa", b"bbbb"):
        wire.fate = lambda payload=payload: "lost" if payload == b"bbbb" else "through"
        wire.send(wire.writer.write(payload, wire.now))
    wire.fate = lambda: "through"
    wire.settle(1.0)
    assert [d.payload for d in wire.got] == [b"aaaa", b"bbbb"]


def test_stale_counts_are_passed_over():
    wire = pair()
    join(wire)
    wire.send(wire.writer.write(b"a", 0.0))
    wire.carry()
    old = AckNack(reader=READER[12:], writer=WRITER[12:], base=1, missing=(1,), count=1, final=False)
    assert wire.writer.answer(B, old, 0.0) == []
    assert wire.writer.answer(C, old, 0.0) == []
    stale = Heartbeat(writer=WRITER[12:], first=1, last=9, count=1)
    assert wire.reader.hear(A, stale, 0.0) == ([], [])


def test_wild_numbers_cost_no_memory():
    reader = Reader(READER)
    reader.add(WriterProxy(guid=WRITER, address=HERE), 0.0)
    reader.hear(A, Heartbeat(writer=WRITER[12:], first=1, last=1 << 60, count=1), 0.0)
    for sequence in range(2, 3000):
        reader.take(A, Data(writer=WRITER[12:], sequence=sequence, payload=b""), 0.0)
    reader.skip(A, Gap(reader=READER[12:], writer=WRITER[12:], start=5000, base=1 << 59, others=()))
    huge = DataFrag(
        writer=WRITER[12:], sequence=7777, first=1, count=1, fragment_size=1000, sample_size=1 << 31, payload=b""
    )
    reader.take_fragments(A, huge, 0.0)
    for sequence in range(10_000, 10_100):
        some = DataFrag(
            writer=WRITER[12:],
            sequence=sequence,
            first=1,
            count=1,
            fragment_size=10,
            sample_size=100,
            payload=b"x" * 10,
        )
        reader.take_fragments(A, some, 0.0)
    (proxy,) = reader.proxies.values()
    assert len(proxy.held) <= 1100
    assert len(proxy.assemblies) <= 4
    _, ((_, datagram),) = reader.hear(A, Heartbeat(writer=WRITER[12:], first=1, last=1 << 60, count=2), 1.0)
    _, answer, *fragments = decode_message(datagram)[1]
    assert len(answer.missing) <= 256
    assert len(fragments) <= 4


def fragment(sequence, number, size, whole, payload, writer=WRITER):
    return DataFrag(
        writer=writer[12:], sequence=sequence, first=number, count=1, fragment_size=size, sample_size=whole,
        payload=payload,
    )  # fmt: skip


def test_a_short_datagram_that_claims_the_longest_sample_costs_little_memory():
    reader = Reader(READER)
    reader.add(WriterProxy(guid=WRITER, address=HERE), 0.0)
    reader.hear(A, Heartbeat(writer=WRITER[12:], first=1, last=100, count=1), 0.0)
    tracemalloc.start()
    try:
        for sequence in range(1, 100):
            for size in (1, 2, 511, 512, 60_000):
                reader.take_fragments(A, fragment(sequence, 1, size, SAMPLE_LIMIT, b"x" * min(size, 1000)), 0.0)
        reader.hear(A, Heartbeat(writer=WRITER[12:], first=1, last=100, count=2), 1.0)
        assert tracemalloc.get_traced_memory()[1] < 2e6
    finally:
        tracemalloc.stop()


def test_what_waits_for_the_writers_of_a_reader_is_bounded_and_everything_still_arrives():
    writers = [A + bytes([0, 1, k, 3]) for k in range(30)]
    reader, whole = Reader(READER), SAMPLE_LIMIT
    part = b"x" * (whole // 4)
    for guid in writers:
        reader.add(WriterProxy(guid=guid, address=HERE), 0.0)
        reader.hear(A, Heartbeat(writer=guid[12:], first=1, last=3, count=1), 0.0)
        for sequence in (2, 3):  # the first is missing
            for number in (1, 2, 3, 4):
                reader.take_fragments(A, fragment(sequence, number, len(part), whole, part, guid), 0.0)
    assert sum(proxy.waiting for proxy in reader.proxies.values()) <= WAITING_BYTES
    for guid in writers:
        got = []
        for sequence in (1, 2, 3):
            for number in (1, 2, 3, 4):
                got += reader.take_fragments(A, fragment(sequence, number, len(part), whole, part, guid), 0.0)[0]
        assert [data.sequence for _, data in got] == [1, 2, 3]
        assert all(data.payload == part * 4 for _, data in got)


def test_a_reader_is_asked_before_the_history_is_full_and_gets_what_it_missed():
    lossy = iter([*["lost"] * 3, *["through"] * 10_000])
    wire = pair(lambda: next(lossy), depth=100)
    join(wire)
    for k in range(300):  # between two calls of `tick`
        wire.send(wire.writer.write(k.to_bytes(4), wire.now))
        wire.carry()
    assert [int.from_bytes(data.payload) for data in wire.got] == list(range(300))
    assert wire.writer.lost == 0


def test_samples_that_leave_the_history_unacknowledged_are_counted():
    wire = pair(lambda: "lost", depth=100)
    wire.writer.add(ReaderProxy(guid=READER, address=HERE), 0.0)
    for _ in range(300):
        wire.writer.write(b"x", 0.0)
    assert wire.writer.lost == 200
    assert wire.writer.slowest == 0
    latched = Writer(WRITER, transient_local=True, depth=1)
    latched.add(ReaderProxy(guid=READER, address=HERE), 0.0)
    for _ in range(3):
        latched.write(b"x", 0.0)
    assert latched.lost == 0


def test_a_reader_is_heard_that_answers_late_and_only_where_the_last_heartbeat_asks():
    """Fast DDS answers a question after 5 ms, and not if another heartbeat has come since that asks nothing."""
    writer = Writer(WRITER, depth=100)
    out = writer.add(ReaderProxy(guid=READER, address=HERE), 0.0)
    due, asked, answers = None, False, 0
    for k in range(2000):
        now = 1e-3 * k
        out += [*writer.write(b"\0\1\0\0", now), *writer.tick(now)]
        for message in (m for _, datagram in out for m in decode_message(datagram)[1]):
            if isinstance(message, Heartbeat):
                asked = not message.final
                due = now + 5e-3 if asked and due is None else due
        out = []
        if due is not None and now >= due:
            due = None
            answers += asked
            answer = AckNack(
                reader=READER[12:], writer=WRITER[12:], base=writer.last + 1, missing=(), count=answers, final=True
            )
            out = writer.answer(B, answer, now) if asked else []
    assert answers > 10
    assert writer.lost == 0

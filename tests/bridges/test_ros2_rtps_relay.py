"""What is handed on, to whom, in which order; no sockets."""

from pliant.bridges.ros2.rtps_relay import CYCLONE, PUB_WRITER, SUB_WRITER, Relay
from pliant.wire.rtps import Data, Heartbeat, ParticipantData

FAST = b"\x01\x0f"
STRANGER, SIBLING, OTHER = (bytes([k]) * 12 for k in (1, 2, 3))
SPDP = b"\0\1\0\xc2"


class World:
    def __init__(self):
        self.sent = []
        self.relay = Relay(self.send)

    def send(self, address, header, submessages):
        destination, message = submessages
        self.sent.append((header.prefix, header.vendor, address[1], destination.prefix, message))

    @property
    def messages(self):
        return [message for *_, message in self.sent]

    def meet(self, prefix, vendor, port):
        announcement = Data(writer=SPDP, sequence=1, payload=prefix)
        data = ParticipantData(guid=prefix + b"\0\0\1\xc1", vendor=vendor, version=(2, 1))
        self.relay.met(data, ("127.0.0.1", port), announcement)
        return announcement

    def tell(self, prefix, count, writer=PUB_WRITER):
        samples = [Data(writer=writer, sequence=k + 1, payload=b"x") for k in range(count)]
        beat = Heartbeat(writer=writer, first=1, last=count, count=4)
        for sample in samples:
            self.relay.told(prefix, sample)
        self.relay.beat(prefix, beat)
        return [beat, *samples]


def test_a_late_sibling_hears_announcement_heartbeat_and_samples_in_this_order():
    world = World()
    announcement = world.meet(STRANGER, FAST, 7)
    told = world.tell(STRANGER, 3)
    told += world.tell(STRANGER, 2, SUB_WRITER)
    world.relay.add_sibling(SIBLING)
    assert not world.sent
    world.meet(SIBLING, CYCLONE, 9)
    assert world.messages == [announcement, *told]
    assert {item[:4] for item in world.sent} == {(STRANGER, FAST, 9, SIBLING)}
    assert world.relay.count == len(world.sent)


def test_what_comes_later_follows_at_once_and_nothing_twice():
    world = World()
    world.relay.add_sibling(SIBLING)
    world.meet(SIBLING, CYCLONE, 9)
    announcement = world.meet(STRANGER, FAST, 7)
    early = Data(writer=PUB_WRITER, sequence=1, payload=b"early")
    world.relay.told(STRANGER, early)
    assert world.messages == [announcement]  # a sample is dropped as long as no heartbeat came
    beat = Heartbeat(writer=PUB_WRITER, first=1, last=1, count=1)
    world.relay.beat(STRANGER, beat)
    late = Data(writer=PUB_WRITER, sequence=2, payload=b"late")
    for message in (late, early, late):
        world.relay.told(STRANGER, message)
    world.relay.beat(STRANGER, Heartbeat(writer=PUB_WRITER, first=1, last=2, count=2))
    assert world.messages == [announcement, beat, early, late]


def test_cyclone_dds_siblings_other_writers_and_the_unknown_are_left_alone():
    world = World()
    world.relay.add_sibling(SIBLING)
    world.meet(SIBLING, FAST, 9)
    world.meet(OTHER, CYCLONE, 8)
    world.tell(OTHER, 2)
    world.tell(SIBLING, 2)
    world.tell(STRANGER, 2)  # nobody met it
    announcement = world.meet(STRANGER, FAST, 7)
    world.relay.told(STRANGER, Data(writer=b"\0\0\1\3", sequence=1, payload=b"x"))
    assert world.messages == [announcement]
    world.relay.forget(STRANGER)
    world.tell(STRANGER, 2)
    assert world.messages == [announcement]

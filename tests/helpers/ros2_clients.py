"""Clients of ROS 2's services in both conventions, without ROS 2."""

import itertools
import os

from waiting import until

from pliant.ros.wire import Codec, dds_type_name
from pliant.ros.wire.rtps.parameters import related_parameters


def _domains():
    """Domains of DDS, one after the other; those of two workers of a test run do not meet.

    The ports of domains 102 to 214 (7400 + 250 d and the next) are those that Linux gives to any socket: left out.
    """
    free = [*range(1, 102), *range(215, 232)]
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if worker:
        share = len(free) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
        first, begin = int(worker.removeprefix("gw")) * share, os.getppid() * 37
    else:
        share, first, begin = len(free), 0, os.getpid() * 37
    for k in itertools.count(begin):  # two test runs on one machine do not begin at the same one
        yield free[(first + k % share) % len(free)]


DOMAINS = _domains()


class FastClient:
    """Asks as rmw_fastrtps does: the request names the reader that waits, the reply names the request."""

    def __init__(self, participant, name, type_name):
        self.participant = participant
        self.codec = Codec(2)
        self.type = self.codec.types.service(type_name)
        self.replies = {}
        topic = name.strip("/")
        self.reader = participant.reader(f"rr/{topic}Reply", dds_type_name(self.type.response.name), self._take)
        self.writer = participant.writer(f"rq/{topic}Request", dds_type_name(self.type.request.name))

    def _take(self, sample):
        assert sample.related is not None
        if sample.related[0] == self.reader.guid:
            self.replies[sample.related[1]] = self.codec.decode(self.type.response, sample.payload)

    @property
    def ready(self):
        return len(self.reader.proxies) == len(self.writer.proxies) == 1

    def ask(self, **values):
        with self.participant.lock:
            number = self.writer.last + 1
            inline = related_parameters(self.reader.guid, -1 << 32)
            self.participant.write(self.writer, self.codec.encode(self.type.request, values), inline=inline)
        return number

    def call(self, **values):
        number = self.ask(**values)
        return until(lambda: self.replies.get(number), f"reply {number}")


class CycloneClient:
    """Asks as rmw_cyclonedds does: 16 bytes that identify client and request stand in front of both."""

    def __init__(self, domain, name, type_name, guid):
        from cyclone_peer import CyclonePeer

        self.participant = CyclonePeer(f"client{guid}", domain=domain)
        types = self.participant.codec.types
        service = types.service(type_name)
        self.request, self.response = service.request.name, service.response.name
        for part in (service.request, service.response):
            text = part.text or "uint8 structure_needs_at_least_one_member\n"
            types.add({part.name: "uint64 client_guid\nint64 number\n" + text})
        self.guid, self.number, self.others = guid, 0, 0
        self.replies = {}
        topic = name.strip("/")
        self.participant.start()
        self.participant.subscribe(f"rr/{topic}Reply", self.response, self._take, plain=True)
        self.publication = self.participant.advertise(f"rq/{topic}Request", self.request, plain=True)

    def _take(self, message):
        if message["client_guid"] == self.guid:
            self.replies[message["number"]] = message
        else:
            self.others += 1

    def call(self, **values):
        self.number += 1
        number, values = self.number, {"client_guid": self.guid, "number": self.number, **values}
        self.publication.send(self.participant.codec.encode(self.request, values))
        return until(lambda: self.replies.get(number), f"reply {number}")

"""A peer on the wire of ROS 2 that is not pliant's: Cyclone DDS, the DDS below rmw_cyclonedds, from PyPI.

Importing this module skips the tests where cyclonedds is not installed.
"""

import contextlib
import dataclasses
import keyword
import threading
import types

import pytest

cyclonedds = pytest.importorskip("cyclonedds", reason="no cyclonedds; type: pip install cyclonedds")

from cyclonedds import core, domain, idl, pub, sub, topic, util  # noqa: E402
from cyclonedds._clayer import ddspy_take, ddspy_write  # noqa: E402
from cyclonedds.idl import annotations  # noqa: E402
from cyclonedds.idl import types as idl_types  # noqa: E402

from pliant.ros.wire import Codec, Registry, dds_type_name  # noqa: E402

LOOPBACK = (
    "<CycloneDDS><Domain><General><Interfaces><NetworkInterface address='127.0.0.1'/></Interfaces>"
    "<AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex>"
    "<MaxAutoParticipantIndex>60</MaxAutoParticipantIndex><Peers><Peer address='127.0.0.1'/></Peers></Discovery>"
    "</Domain></CycloneDDS>"
)
ANY = core.SampleState.Any | core.ViewState.Any | core.InstanceState.Any
GIDS = {"humble": 24, "jazzy": 16}


class IdlTypes:
    """Message types as classes of cyclonedds, made at run time."""

    def __init__(self, registry):
        self._registry = registry
        self._made = {}

    def get(self, name):
        if name not in self._made:
            self._made[name] = self._make(self._registry.message(name))
        return self._made[name]

    def _time(self, kind):
        name = f"builtin_interfaces/{kind.capitalize()}"
        if name not in self._made:
            self._made[name] = self._build(name, {"sec": idl_types.int32, "nanosec": idl_types.uint32})
        return self._made[name]

    def _make(self, message):
        members = {}
        for field in message.fields:
            if field.base in ("time", "duration"):
                kind = self._time(field.base)
            elif field.base == "string":
                kind = str if not field.bound or field.size is not None else idl_types.bounded_str[field.bound]
            elif field.base == "bool":
                kind = bool
            elif field.primitive:
                kind = getattr(idl_types, {"char": "uint8", "byte": "uint8"}.get(field.base, field.base))
            else:
                kind = self.get(field.base)
            if field.size is not None:
                kind = idl_types.sequence[kind] if field.size < 0 else idl_types.array[kind, field.size]
            members[field.name + ("_" if keyword.iskeyword(field.name) else "")] = kind
        return self._build(message.name, members or {"structure_needs_at_least_one_member": idl_types.uint8})

    def _build(self, name, members):
        space = {"__annotations__": members, "__module__": __name__}
        made = types.new_class(
            name.replace("/", "_"), (idl.IdlStruct,), {"typename": dds_type_name(name)}, lambda s: s.update(space)
        )
        return annotations.final(dataclasses.dataclass(made))


class Publication:
    """A writer; `matched` counts its readers."""

    def __init__(self):
        self.matched = 0
        self.writer = None

    def send(self, data):
        result = ddspy_write(self.writer._ref, data + bytes(-len(data) % 4))
        assert result >= 0, core.DDSException(result)


class CyclonePeer:
    """A participant of Cyclone DDS that writes and reads ROS messages as bytes."""

    def __init__(self, node, *, domain, distro="jazzy"):
        self.node, self.domain, self.distro = node, domain, distro
        registry = Registry(2)
        registry.add({"rmw_dds_common/Gid": f"uint8[{GIDS[distro]}] data\n"})
        self.codec = Codec(2, registry)
        self.idl = IdlTypes(registry)
        self.errors = []
        self._stopping = threading.Event()
        self._readers = []
        self._topics = {}
        self._participant = self._configured = None

    def start(self):
        with contextlib.suppress(core.DDSException):  # another peer of this process has configured it
            self._configured = domain.Domain(self.domain, LOOPBACK)
        qos = core.Qos(core.Policy.EntityName(self.node), core.Policy.Userdata(b"enclave=/;"))
        self._participant = domain.DomainParticipant(self.domain, qos=qos)
        self._thread = threading.Thread(target=self._read, name=f"cyclone-{self.node}", daemon=True)
        self._thread.start()

    def stop(self):
        self._stopping.set()
        self._thread.join(5)
        self._readers = []
        self._topics = {}
        self._participant = None
        self._configured = None

    def _qos(self, type_name, latch, reliable):
        policy = core.Policy
        return core.Qos(
            policy.Reliability.Reliable(util.duration(milliseconds=100)) if reliable else policy.Reliability.BestEffort,
            policy.Durability.TransientLocal if latch else policy.Durability.Volatile,
            policy.History.KeepLast(1 if latch else 1000),
            policy.DataRepresentation(use_cdrv0_representation=True),
            policy.IgnoreLocal.Participant,
            policy.Userdata(f"typehash={self.codec.types.rihs01(type_name)};".encode()),
        )

    def _topic(self, name, type_name, plain):
        name = name if plain else "rt/" + name.strip("/")
        if name not in self._topics:
            self._topics[name] = topic.Topic(self._participant, name, self.idl.get(type_name))
        return self._topics[name]

    def advertise(self, name, type_name, *, latch=False, reliable=True, plain=False):
        publication = Publication()

        class Matched(core.Listener):
            def on_publication_matched(self, writer, status):
                publication.matched = status.current_count

        qos = self._qos(type_name, latch, reliable)
        where = self._topic(name, type_name, plain)
        publication.writer = pub.DataWriter(self._participant, where, qos=qos, listener=Matched())
        return publication

    def subscribe(self, name, type_name, callback, *, latch=False, reliable=True, plain=False):
        qos = self._qos(type_name, latch, reliable)
        reader = sub.DataReader(self._participant, self._topic(name, type_name, plain), qos=qos)
        self._readers = [*self._readers, (reader, self.codec.types.message(type_name), callback)]
        return reader

    def announce(self):
        """Tell graph tools that the readers belong to a node."""
        size = GIDS[self.distro]
        readers = [{"data": reader.guid.bytes.ljust(size, b"\0")} for reader, *_ in self._readers]
        node = {"node_namespace": "/", "node_name": self.node, "reader_gid_seq": readers, "writer_gid_seq": []}
        gid = {"data": self._participant.guid.bytes.ljust(size, b"\0")}
        values = {"gid": gid, "node_entities_info_seq": [node]}
        kind = "rmw_dds_common/ParticipantEntitiesInfo"
        self._graph = self.advertise("ros_discovery_info", kind, latch=True, plain=True)
        self._graph.send(self.codec.encode(kind, values))

    def _read(self):
        while not self._stopping.wait(0.001):
            for reader, kind, callback in self._readers:
                found = ddspy_take(reader._ref, ANY, 100)
                for data, info in [] if isinstance(found, int) else found:
                    if info.valid_data:
                        callback(self.codec.decode(kind, data))

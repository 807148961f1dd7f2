"""A participant of ROS 2's wire: DDS topics with ROS names, our own CDR, written and read as raw bytes.

It needs cyclonedds from PyPI and nothing of ROS. What ROS 2 adds to DDS is here: names (``rt/`` in front, ``dds_`` in
the types), quality of service, ``ros_discovery_info`` and the user data by which graph tools list the node.

Bytes go through cyclonedds' private ``_clayer.ddspy_write`` and ``ddspy_take``; where these are missing, or do not take
what they took when this was written, the public ``write`` and ``read`` do the work, more slowly (`RawWriter.raw`).
"""

from __future__ import annotations

import dataclasses
import keyword
import logging
import os
import threading
import time
import types
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from pliant.bridges.ros.outbox import Outbox
from pliant.bridges.ros2.names import NodeNames
from pliant.errors import BridgeError, MissingDependency, WireError
from pliant.wire.ros import Codec, Registry, dds_type_name
from pliant.wire.ros.types import MessageType

__all__ = ["DISTROS", "Participant", "Publication"]

DISTROS: dict[str, int] = {"humble": 24, "iron": 16, "jazzy": 16, "kilted": 16, "rolling": 16}
"""Distribution of ROS 2 -> bytes of a global identifier in ``ros_discovery_info``."""
LAST_DOMAIN = 232
DEPTH = 1000
"""History of a writer and of a reader."""
DISCOVERY = "ros_discovery_info"
ERROR_LIMIT = 20
SEEN = 100
"""Readers that a topic remembers for the report."""
SPIN = 5e-4
"""How long the lock-step looks for an answer before it sleeps [s]."""
LOOPBACK = (
    "<CycloneDDS><Domain><General><Interfaces><NetworkInterface address='127.0.0.1'/></Interfaces>"
    "<AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex>"
    "<MaxAutoParticipantIndex>60</MaxAutoParticipantIndex><Peers><Peer address='127.0.0.1'/></Peers></Discovery>"
    "<Internal><SynchronousDeliveryLatencyBound>inf</SynchronousDeliveryLatencyBound></Internal></Domain></CycloneDDS>"
)
_log = logging.getLogger("pliant.ros2")


def _dds() -> Any:
    """Return the package, or say how to get it."""
    try:
        import cyclonedds.core
        import cyclonedds.domain
        import cyclonedds.idl
        import cyclonedds.idl.annotations
        import cyclonedds.idl.types
        import cyclonedds.pub
        import cyclonedds.sub
        import cyclonedds.topic
        import cyclonedds.util
    except ImportError as error:
        raise MissingDependency(
            f"cyclonedds ({error})", command="pip install 'pliant[ros2]'", purpose="the ROS 2 bridge"
        ) from None
    return cyclonedds


class IdlTypes:
    """Message types as classes of cyclonedds, made at run time.

    Args:
        registry: the types.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._made: dict[str, Any] = {}

    def get(self, name: str) -> Any:
        """Return the class of a type."""
        if name not in self._made:
            self._made[name] = self._make(self._registry.message(name))
        return self._made[name]

    def _time(self, kind: str) -> Any:
        name = f"builtin_interfaces/{kind.capitalize()}"
        if name not in self._made:
            idl = _dds().idl.types
            self._made[name] = self._build(name, {"sec": idl.int32, "nanosec": idl.uint32})
        return self._made[name]

    def _make(self, message: MessageType) -> Any:
        idl = _dds().idl.types
        members: dict[str, Any] = {}
        for field in message.fields:
            if field.base in ("time", "duration"):
                kind: Any = self._time(field.base)
            elif field.base == "string":
                kind = str if not field.bound or field.size is not None else idl.bounded_str[field.bound]
            elif field.base == "bool":
                kind = bool
            elif field.primitive:
                kind = getattr(idl, {"char": "uint8", "byte": "uint8"}.get(field.base, field.base))
            else:
                kind = self.get(field.base)
            if field.size is not None:
                kind = idl.sequence[kind] if field.size < 0 else idl.array[kind, field.size]
            members[field.name + ("_" if keyword.iskeyword(field.name) else "")] = kind
        if not members:
            members["structure_needs_at_least_one_member"] = idl.uint8
        return self._build(message.name, members)

    def _build(self, name: str, members: dict[str, Any]) -> Any:
        cyclonedds = _dds()

        def fill(space: dict[str, Any]) -> None:
            space["__annotations__"] = members
            space["__module__"] = __name__

        made = types.new_class(
            name.replace("/", "_"), (cyclonedds.idl.IdlStruct,), {"typename": dds_type_name(name)}, fill
        )
        return cyclonedds.idl.annotations.final(dataclasses.dataclass(made))


class Publication:
    """A topic that is published."""

    __slots__ = (
        "_participant", "_write", "count", "drops", "first_at", "gid", "last_at", "latch", "look", "matched", "raw",
        "seen", "topic", "type", "writer",
    )  # fmt: skip

    def __init__(self, participant: Participant, topic: str, type_name: str, latch: bool) -> None:
        self._participant = participant
        self.topic = topic
        self.type = type_name
        self.latch = latch
        self.matched = 0
        self.count = 0
        self.drops = 0
        self.first_at = self.last_at = 0.0
        self.raw = True
        self.writer: Any = None
        self._write: Callable[[bytes], None] = lambda data: None
        self.gid = b""
        self.look = False
        """Whether readers came that were not asked who they are."""
        self.seen: dict[bytes, None] = {}
        """Identifiers of the readers there are and were."""

    @property
    def active(self) -> bool:
        """Whether a message would go anywhere."""
        return self.matched > 0 or self.latch

    @property
    def subscribers(self) -> list[str]:
        """Names of the nodes that listen, or have listened; readers of no node are counted.

        Those that went before they could be asked are not there.
        """
        self._participant.look(self)
        return self._participant.names.of(self.seen)

    def ask(self) -> None:
        """Note who reads this."""
        self.look = False
        for handle in self.writer.get_matched_subscriptions():
            found = self.writer.get_matched_subscription_data(handle)
            if found is not None and len(self.seen) < SEEN:
                self.seen[found.key.bytes] = None

    def send(self, data: bytes) -> None:
        """Queue one message, its encapsulation included; never waits."""
        self.count += 1
        self.last_at = time.monotonic()
        if self.count == 1:
            self.first_at = self.last_at
        self._participant.outbox.send(self, data)


class _Domains:
    """The domains that this process has configured; each lives as long as one of its participants.

    With the object goes the domain, and with the domain all its participants, whoever made it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[int, tuple[Any, int]] = {}

    def take(self, number: int) -> Any:
        """Return a domain on 127.0.0.1; None where somebody else in the process configured it."""
        cyclonedds = _dds()
        with self._lock:
            found, users = self._made.get(number, (None, 0))
            if found is None:
                try:
                    found = cyclonedds.domain.Domain(number, LOOPBACK)
                except cyclonedds.core.DDSException:
                    return None
            self._made[number] = found, users + 1
            return found

    def leave(self, number: int) -> None:
        """Give a domain back that `take` returned."""
        with self._lock:
            found, users = self._made.pop(number)
            if users > 1:
                self._made[number] = found, users - 1


_DOMAINS = _Domains()


class Participant:
    """One node on the wire of ROS 2.

    Args:
        node: name of the node.
        namespace: its name space, beginning with a slash.
        domain: number of the domain; None for ``ROS_DOMAIN_ID``, else 0.
        loopback: talk on 127.0.0.1 only; False leaves it to cyclonedds and ``CYCLONEDDS_URI``.
        distro: distribution of ROS 2 that graph tools are of.
        raw: write and read bytes directly; False takes cyclonedds' public calls.

    Raises:
        BridgeError: no such domain or distribution.
    """

    def __init__(
        self,
        node: str,
        *,
        namespace: str = "/",
        domain: int | None = None,
        loopback: bool = True,
        distro: str = "jazzy",
        raw: bool = True,
    ) -> None:
        if domain is None:
            text = os.environ.get("ROS_DOMAIN_ID", "").strip() or "0"
            if not text.isdigit():
                raise BridgeError(f"ROS_DOMAIN_ID is {text!r}; valid is 0 to {LAST_DOMAIN}", field="domain")
            domain = int(text)
        if not 0 <= domain <= LAST_DOMAIN:
            raise BridgeError(f"the domain is {domain}; valid is 0 to {LAST_DOMAIN}", field="domain")
        if distro not in DISTROS:
            raise BridgeError(f"the distribution is {distro!r}; valid: {', '.join(DISTROS)}", field="distro")
        self.node = node
        self.namespace = "/" + namespace.strip("/")
        self.domain = domain
        self.loopback = loopback
        self.distro = distro
        registry = Registry(2)
        registry.add({"rmw_dds_common/Gid": f"uint8[{DISTROS[distro]}] data\n"})
        self.codec = Codec(2, registry)
        self.idl = IdlTypes(registry)
        self.want_raw = raw
        self.publications: dict[str, Publication] = {}
        self.readers: dict[str, Any] = {}
        self.errors: deque[str] = deque(maxlen=ERROR_LIMIT)
        self.error_count = 0
        self.on_complaint: Callable[[str], None] = lambda text: None
        """Called, in any thread, with each fault of the other side."""
        self.outbox = Outbox("ros2-writer", self._put)
        self._pumped_at = 0.0
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.RLock()
        self.names = NodeNames()
        self._takes_raw = False
        self._participant: Any = None
        self._domain: Any = None
        self._topics: dict[str, Any] = {}
        self._attached: tuple[tuple[Any, Any, str, Any, Callable[[Any], None]], ...] = ()
        self._take: Callable[[Any], list[bytes]] = lambda reader: []
        self._fault: type[Exception] = RuntimeError
        self._discovery: Publication | None = None
        self._announced = False
        self._elsewhere: tuple[list[bytes], list[bytes]] = ([], [])

    # ------------------------------------------------------------------ life
    def start(self) -> None:
        """Join the domain.

        Raises:
            MissingDependency: cyclonedds is not installed.
            BridgeError: the domain cannot be joined.
        """
        cyclonedds = _dds()
        core, policy = cyclonedds.core, cyclonedds.core.Policy
        if self.on_loopback:
            # One configuration a domain and process: a second participant takes the first one's.
            self._domain = _DOMAINS.take(self.domain)
        try:
            self._participant = cyclonedds.domain.DomainParticipant(
                self.domain, qos=core.Qos(policy.EntityName(self.node), policy.Userdata(b"enclave=/;"))
            )
        except core.DDSException as error:
            self._leave_domain()
            raise BridgeError(
                f"domain {self.domain} of DDS cannot be joined: {error}. Another program may hold its UDP ports "
                f"({7400 + 250 * self.domain} and the next ones), or too many participants run here; choose another "
                "domain, or stop them",
                field="domain",
            ) from None
        self._fault = core.DDSException
        self._take = self._taker()
        self._waitset = core.WaitSet(self._participant)
        self._guard = core.GuardCondition(self._participant)
        self._waitset.attach(self._guard)
        self._thread = threading.Thread(target=self._read_loop, name="ros2-reader", daemon=True)
        self._thread.start()
        self.outbox.start()
        self._discovery = self.advertise(DISCOVERY, "rmw_dds_common/ParticipantEntitiesInfo", latch=True, plain=True)
        if self._takes_raw:
            self._hear_names()

    @property
    def direct(self) -> bool:
        """Whether the caller's thread writes and reads, by `flush` and `pump`, instead of the threads here."""
        return self.outbox.direct

    @direct.setter
    def direct(self, value: bool) -> None:
        self.outbox.direct = value

    @property
    def on_loopback(self) -> bool:
        """Whether it talks on 127.0.0.1 only: asked for, and not overruled by ``CYCLONEDDS_URI``."""
        return self.loopback and "CYCLONEDDS_URI" not in os.environ

    @property
    def prefix(self) -> bytes:
        """Its identifier on the wire, 12 bytes."""
        return self._participant.guid.bytes[:12]

    def announce(self, readers: Iterable[bytes] = (), writers: Iterable[bytes] = ()) -> None:
        """Tell graph tools which node has which topics, now and whenever that changes.

        Args:
            readers: identifiers of readers that the node has elsewhere, those of its services.
            writers: identifiers of such writers.
        """
        self._elsewhere = list(readers), list(writers)
        self._announced = True
        self._tell_graph()

    def _tell_graph(self) -> None:
        if not self._announced or self._stopping.is_set():
            return
        assert self._discovery is not None
        size = DISTROS[self.distro]

        def gid(raw: bytes) -> dict[str, Any]:
            return {"data": raw.ljust(size, b"\0")}

        with self._lock:
            writers = [p.gid for p in self.publications.values() if p is not self._discovery]
            readers = [reader.guid.bytes for reader, _, name, *_ in self._attached if name != DISCOVERY]
        readers += self._elsewhere[0]
        writers += self._elsewhere[1]
        values = {
            "gid": gid(self._participant.guid.bytes),
            "node_entities_info_seq": [
                {
                    "node_namespace": self.namespace,
                    "node_name": self.node,
                    "reader_gid_seq": [gid(r) for r in readers],
                    "writer_gid_seq": [gid(w) for w in writers],
                }
            ],
        }
        self._discovery.send(self.codec.encode("rmw_dds_common/ParticipantEntitiesInfo", values))

    def stop(self) -> None:
        """Send what is queued, leave the domain, join the threads. May be called twice."""
        if self._participant is None or self._stopping.is_set():
            return
        self.outbox.stop()
        self._stopping.set()
        self._guard.set(True)
        if self._thread is not None:
            self._thread.join(5.0)
        with self._lock:
            self._attached = ()
            for publication in self.publications.values():
                self.look(publication)
                publication.matched = 0
                publication.latch = False
                publication.writer = None
                publication._write = lambda data: None
            self.readers.clear()
            self._topics.clear()
            self._waitset = None
            self._guard = None
            self._participant = None
        self._leave_domain()

    def _leave_domain(self) -> None:
        if self._domain is not None:
            self._domain = None
            _DOMAINS.leave(self.domain)

    # ------------------------------------------------------------------ topics
    def _qos(self, *, latch: bool, sensor: bool, type_name: str) -> Any:
        cyclonedds = _dds()
        policy, duration = cyclonedds.core.Policy, cyclonedds.util.duration
        reliability = (
            policy.Reliability.BestEffort if sensor else policy.Reliability.Reliable(duration(milliseconds=10))
        )
        return cyclonedds.core.Qos(
            reliability,
            policy.Durability.TransientLocal if latch else policy.Durability.Volatile,
            policy.History.KeepLast(1 if latch else 5 if sensor else DEPTH),
            policy.DataRepresentation(use_cdrv0_representation=True),
            # The node hears itself where it forwards references; DDS would send them round.
            policy.IgnoreLocal.Participant,
            policy.Userdata(f"typehash={self.codec.types.rihs01(type_name)};".encode()),
        )

    def _topic(self, topic: str, type_name: str) -> Any:
        cyclonedds = _dds()
        found = self._topics.get(topic)
        if found is None:
            found = cyclonedds.topic.Topic(self._participant, topic, self.idl.get(type_name))
            self._topics[topic] = found
        return found

    def advertise(
        self, topic: str, type_name: str, *, latch: bool = False, sensor: bool = False, plain: bool = False
    ) -> Publication:
        """Publish a topic.

        Args:
            topic: its name in ROS, such as ``/clock``.
            type_name: its type.
            latch: late joiners get the last message (transient local).
            sensor: best effort, as ROS's sensor data profile.
            plain: a name of DDS that gets no ``rt/`` in front.
        """
        cyclonedds = _dds()
        name = topic if plain else "/" + topic.strip("/")
        with self._lock:
            if name in self.publications:
                return self.publications[name]
            publication = Publication(self, name, type_name, latch)

            class Matched(cyclonedds.core.Listener):
                def on_publication_matched(self, writer: Any, status: Any) -> None:
                    publication.matched = status.current_count
                    publication.look = publication.look or status.current_count_change > 0

            try:
                writer = cyclonedds.pub.DataWriter(
                    self._participant,
                    self._topic(name if plain else f"rt{name}", type_name),
                    qos=self._qos(latch=latch, sensor=sensor, type_name=type_name),
                    listener=Matched(),
                )
            except cyclonedds.core.DDSException as error:
                raise BridgeError(f"{name} cannot be published: {error}", field=name) from None
            publication.writer = writer
            publication.gid = writer.guid.bytes
            publication._write, publication.raw = self._writer(writer, type_name)
            self.publications[name] = publication
        self._tell_graph()
        return publication

    def _writer(self, writer: Any, type_name: str) -> tuple[Callable[[bytes], None], bool]:
        """Return the call that writes bytes, and whether it is the direct one."""
        cyclonedds = _dds()
        if self.want_raw:
            try:
                from cyclonedds._clayer import ddspy_write

                ref = writer._ref
            except (ImportError, AttributeError) as error:
                self.complain(f"this cyclonedds takes no raw bytes ({error}); the public write is used")
            else:

                def write_raw(data: bytes) -> None:
                    ret = ddspy_write(ref, data + bytes(-len(data) % 4))
                    if ret < 0:
                        raise cyclonedds.core.DDSException(ret)

                return write_raw, True
        kind = self.idl.get(type_name)

        def write_public(data: bytes) -> None:
            writer.write(kind.deserialize(data + bytes(-len(data) % 4)))

        return write_public, False

    def subscribe(
        self,
        topic: str,
        type_name: str,
        callback: Callable[[dict[str, Any]], None],
        *,
        latch: bool = False,
        plain: bool = False,
    ) -> None:
        """Listen to a topic; the callback runs in the reader's thread and must be short.

        Args:
            topic: its name in ROS.
            type_name: its type.
            callback: takes the messages.
            latch: also those that were sent before (transient local).
            plain: a name of DDS that gets no ``rt/`` in front.
        """
        cyclonedds = _dds()
        name = topic if plain else "/" + topic.strip("/")
        with self._lock:
            try:
                reader = cyclonedds.sub.DataReader(
                    self._participant,
                    self._topic(name if plain else f"rt{name}", type_name),
                    qos=self._qos(latch=latch, sensor=False, type_name=type_name),
                )
            except cyclonedds.core.DDSException as error:
                raise BridgeError(f"{name} cannot be listened to: {error}", field=name) from None
            condition = cyclonedds.core.ReadCondition(
                reader,
                cyclonedds.core.ViewState.Any | cyclonedds.core.InstanceState.Any | cyclonedds.core.SampleState.NotRead,
            )
            self._waitset.attach(condition)
            self.readers[name] = reader
            kind = self.codec.types.message(type_name)
            self._attached = (*self._attached, (reader, condition, name, kind, callback))
        self._tell_graph()

    def unsubscribe(self, topic: str) -> None:
        """Stop listening."""
        name = "/" + topic.strip("/")
        with self._lock:
            for item in self._attached:
                if item[2] == name:
                    self._waitset.detach(item[1])
            self._attached = tuple(item for item in self._attached if item[2] != name)
            self.readers.pop(name, None)
        self._tell_graph()

    def _hear_names(self) -> None:
        """Listen to what the nodes tell of themselves.

        It needs bytes: the public read would take the identifiers of one distribution only.
        """
        cyclonedds = _dds()
        core = cyclonedds.core
        policy = core.Policy
        type_name = "rmw_dds_common/ParticipantEntitiesInfo"
        with self._lock:
            reader = cyclonedds.sub.DataReader(
                self._participant,
                self._topic(DISCOVERY, type_name),
                qos=core.Qos(
                    policy.Reliability.Reliable(cyclonedds.util.duration(milliseconds=10)),
                    policy.Durability.TransientLocal,
                    policy.History.KeepLast(DEPTH),
                    policy.DataRepresentation(use_cdrv0_representation=True),
                    policy.IgnoreLocal.Participant,
                ),
            )
            condition = core.ReadCondition(
                reader, core.ViewState.Any | core.InstanceState.Any | core.SampleState.NotRead
            )
            self._waitset.attach(condition)
            self._attached = (*self._attached, (reader, condition, DISCOVERY, None, self.names.take))

    def look(self, publication: Publication) -> None:
        """Note who reads a topic, if anybody came since that was done last."""
        if not publication.look:
            return
        with self._lock:
            if publication.writer is not None:
                try:
                    publication.ask()
                except IndexError:  # a reader came while cyclonedds counted them
                    publication.look = True
                except self._fault as error:
                    _log.info("%s: who reads it is not told: %s", publication.topic, error)

    def taken(self, topics: list[str], patience: float = 0.4) -> dict[str, list[str]]:
        """Return the topics that other participants write already.

        Args:
            topics: names in ROS.
            patience: how long discovery is waited for [s].
        """
        from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsPublication

        own = {p.gid for p in self.publications.values()}
        wanted = {f"rt/{t.strip('/')}": t for t in topics}
        reader = BuiltinDataReader(self._participant, BuiltinTopicDcpsPublication)
        found: dict[str, list[str]] = {}
        end = time.monotonic() + patience
        while time.monotonic() < end:
            for sample in reader.take(1000):
                name = getattr(sample, "topic_name", None)
                if name in wanted and sample.key.bytes not in own and sample.sample_info.valid_data:
                    found.setdefault(wanted[name], []).append(f"participant {sample.participant_key}")
            if found:
                break
            time.sleep(0.02)
        return found

    def complain(self, text: str) -> None:
        """Note a fault of the other side."""
        self.error_count += 1
        if not self.errors or self.errors[-1] != text:
            self.errors.append(text)
            _log.warning("%s", text)
        self.on_complaint(text)

    # ------------------------------------------------------------------ threads
    def flush(self) -> None:
        """Write what is queued, in the caller's thread."""
        self.outbox.flush()

    def _put(self, publication: Publication, data: bytes) -> None:
        try:
            publication._write(data)
        except Exception as error:  # DDS says time-out where a reader does not follow
            publication.drops += 1
            self.complain(f"{publication.topic}: not written: {error}")

    def pump(self, timeout: float, first: tuple[str, ...] = ()) -> None:
        """Wait for messages, at most ``timeout`` [s], and hand them to their callbacks, in the caller's thread.

        Args:
            timeout: longest wait [s].
            first: topics that are looked at again and again for half a millisecond before the thread sleeps: a
                controller that answers at once is heard without the delay of a wake-up.
        """
        self._pumped_at = time.monotonic()
        if first:
            urgent = [item for item in self._attached if item[2] in first]
            end = time.perf_counter() + min(timeout, SPIN)
            while time.perf_counter() < end:
                if sum(map(self._serve, urgent)):
                    if self._waitset.wait(0):
                        self._serve_all()
                    return
                os.sched_yield()
        self._pump(timeout)

    def _pump(self, timeout: float) -> None:
        try:
            if not self._waitset.wait(int(timeout * 1e9)):
                return
        except self._fault as error:
            self.complain(f"waiting for commands: {error}")
            return
        self._serve_all()

    def _serve_all(self) -> None:
        if not self._stopping.is_set():
            for item in self._attached:
                self._serve(item)

    def _serve(self, item: tuple[Any, Any, str, Any, Callable[[Any], None]]) -> bool:
        """Hand over what a reader has; return whether it had anything."""
        reader, _, name, kind, callback = item
        bodies = self._take(reader)
        for body in bodies:
            try:
                callback(body if kind is None else self.codec.decode(kind, body))
            except WireError as error:
                self.complain(f"{name}: {error}")
            except Exception:  # a fault of ours must not stop the reader
                _log.exception("message on %s", name)
        return bool(bodies)

    def _read_loop(self) -> None:
        while not self._stopping.is_set():
            for publication in list(self.publications.values()):
                self.look(publication)
            if not self.direct:
                self._pump(0.2)
            elif time.monotonic() - self._pumped_at < 0.1:
                self._stopping.wait(0.05)  # the caller's thread does it
            else:
                self._pump(0.02)

    def _taker(self) -> Callable[[Any], list[bytes]]:
        """Return the call that takes all messages of a reader as bytes."""
        core = _dds().core
        states = core.SampleState.Any | core.ViewState.Any | core.InstanceState.Any
        if self.want_raw:
            try:
                from cyclonedds._clayer import ddspy_take
            except ImportError as error:
                self.complain(f"this cyclonedds gives no raw bytes ({error}); the public read is used")
            else:

                def take_raw(reader: Any) -> list[bytes]:
                    found = ddspy_take(reader._ref, states, 100)
                    return [] if isinstance(found, int) else [data for data, info in found if info.valid_data]

                self._takes_raw = True
                return take_raw

        def take_public(reader: Any) -> list[bytes]:
            return [sample.serialize() for sample in reader.take(100) if sample.sample_info.valid_data]

        return take_public

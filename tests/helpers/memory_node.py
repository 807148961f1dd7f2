"""A wire of ROS without sockets: what is advertised is kept, what is served is called, what is listened to is put."""

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

from pliant.ros.bridge.node import Node
from pliant.ros.bridge.send_rate import SendRate
from pliant.ros.wire import Codec


class MemoryNode(Node):
    """A node for `pliant.ros.bridge.RosBridge`; version 1 or 2."""

    has_services = True

    def __init__(self, version):
        super().__init__(Codec(version))
        self.sent, self.services, self.heard, self.actions, self.told = {}, {}, {}, {}, []
        self.handles = {}

    def start(self):
        """Do nothing: there are no sockets."""

    def stop(self):
        """Do nothing."""

    def advertise(self, topic, type_name, *, latch=False, reliable=True):
        sent = self.sent.setdefault(topic, [])
        return self.handles.setdefault(
            topic,
            SimpleNamespace(topic=topic, type=type_name, latch=latch, active=True, count=0, drops=0, rate=SendRate(),
                            subscribers=[], send=sent.append),
        )  # fmt: skip

    def subscribe(self, topic, type_name, callback):
        self.heard[topic] = type_name, callback

    def unsubscribe(self, topic):
        self.heard.pop(topic)

    def taken(self, topics):
        return {}

    def serve(self, name, type_name, callback):
        self.services[name] = type_name, callback

    def serve_action(self, name, type_name, server):
        self.actions[name] = type_name, server

    def complain(self, text):
        self.told.append(text)

    def where(self):
        return "memory"

    # ------------------------------------------------------------------ the client
    def put(self, topic, **message):
        """Let a message arrive."""
        type_name, callback = self.heard[topic]
        callback(self.codec.decode(type_name, self.codec.encode(type_name, message)))

    def last(self, topic):
        """Return the last message of a topic."""
        return self.codec.decode(self.handles[topic].type, self.sent[topic][-1])

    def call(self, simulation, name, **request):
        """Call a service while the simulation steps."""
        type_name, callback = self.services[name]
        kind = self.codec.types.service(type_name)
        asked = self.codec.decode(kind.request, self.codec.encode(kind.request, request))
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(callback, asked)
            while not answer.done():
                simulation.step()
        return self.codec.decode(kind.response, self.codec.encode(kind.response, answer.result()))

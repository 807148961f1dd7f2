"""A node of ROS that goes nowhere: what a bridge sends is kept, what it shall hear is put in by the test."""

from pliant.base.threads import Threads
from pliant.ros.bridge.send_rate import SendRate
from pliant.ros.wire import Codec


class KeptTopic:
    """A topic whose messages are kept."""

    def __init__(self, node, topic, kind):
        self.node, self.topic, self.type = node, topic, kind
        self.count = self.drops = 0
        self.rate = SendRate()
        self.active, self.subscribers, self.sent = True, ["test"], []

    def send(self, data):
        self.count += 1
        self.sent.append(data)

    def messages(self):
        return [self.node.codec.decode(self.type, data) for data in self.sent]

    def last(self):
        return self.node.codec.decode(self.type, self.sent[-1])


class KeptNode:
    """A node of one generation of ROS; names lead to what was advertised, heard, served and set."""

    wire, state_type, has_services, has_actions, lockstep = "test", "viactors_plugins/state_info", True, True, False

    def __init__(self, version=1):
        self.codec, self.threads = Codec(version), Threads()
        self.on_complaint = self.on_publication = lambda *text: None
        self.out, self.into, self.services, self.actions, self.params, self.said = {}, {}, {}, {}, {}, []
        self.lost_of, self.waits_of = {}, {}

    def start(self):
        pass

    announce = stop = flush = start

    def advertise(self, topic, type_name, *, latch=False, reliable=True):
        return self.out.setdefault(topic, KeptTopic(self, topic, type_name))

    def subscribe(self, topic, type_name, callback):
        assert topic not in self.into
        self.into[topic] = (type_name, callback)

    subscribe_latched = subscribe

    def unsubscribe(self, topic):
        self.into.pop(topic, None)

    def serve(self, name, type_name, callback):
        self.services[name] = (type_name, callback)

    def serve_action(self, name, type_name, server):
        self.actions[name] = (type_name, server)

    def set_param(self, name, value):
        self.params[name] = value

    def get_param(self, name):
        return self.params.get(name)

    def taken(self, topics):
        return {}

    def complain(self, text):
        self.said.append(text)

    def lost(self):
        return ""

    def wait_for(self, condition, answered, timeout):
        return answered()

    def lost_commands(self):
        return self.lost_of

    def unacknowledged(self):
        return self.waits_of

    def publishers_of(self, topic):
        return ["test"]

    def where(self):
        return "here"

    def health(self):
        return {}

    # what the tests do
    def hear(self, topic, **values):
        """Let a message arrive, through its bytes."""
        kind, callback = self.into[topic]
        callback(self.codec.decode(kind, self.codec.encode(kind, values)))

    def call(self, name, **request):
        """Call a service, through its bytes."""
        kind, callback = self.services[name]
        service = self.codec.types.service(kind)
        asked = self.codec.decode(service.request, self.codec.encode(service.request, request))
        return self.codec.decode(service.response, self.codec.encode(service.response, callback(asked)))

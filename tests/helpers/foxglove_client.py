"""A client of Foxglove's WebSocket protocol (foxglove.sdk.v1), of our own."""

import json
import struct

from websockets.sync.client import connect

__all__ = ["FoxgloveClient"]


class FoxgloveClient:
    """One connection; messages are kept in the order in which they came."""

    def __init__(self, address, timeout=60.0):
        self.timeout = timeout
        self.socket = connect(
            address, subprotocols=["foxglove.sdk.v1"], compression=None, max_size=2**26, close_timeout=0.2
        )
        self.texts, self.messages, self.times, self.answers = [], [], [], []
        self.channels, self.services, self.subscribed = {}, {}, {}
        self.info = self.wait(lambda: self.text("serverInfo"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    # ------------------------------------------------------------------ out
    def send(self, op, **rest):
        self.socket.send(json.dumps({"op": op, **rest}))

    def subscribe(self, topic):
        self.wait(lambda: topic in self.channels)
        number = len(self.subscribed) + 1
        self.subscribed[number] = topic
        self.send("subscribe", subscriptions=[{"id": number, "channelId": self.channels[topic]["id"]}])

    def advertise(self, number, topic, encoding="json"):
        channel = {"id": number, "topic": topic, "encoding": encoding, "schemaName": "command"}
        self.send("advertise", channels=[channel])

    def publish(self, number, values):
        data = values if isinstance(values, bytes) else json.dumps(values).encode()
        self.socket.send(struct.pack("<BI", 1, number) + data)

    def call(self, service, **request):
        self.wait(lambda: service in self.services)
        head = struct.pack("<BIII", 2, self.services[service], len(self.answers) + 1, 4)
        before = len(self.answers)
        self.socket.send(head + b"json" + json.dumps(request).encode())
        self.wait(lambda: len(self.answers) > before)
        return self.answers[-1]

    # ------------------------------------------------------------------ in
    def wait(self, condition):
        """Take messages until a condition holds; return what it returned."""
        while not (found := condition()):
            self.take(self.socket.recv(timeout=self.timeout))
        return found

    def text(self, op):
        return next((m for m in reversed(self.texts) if m["op"] == op), None)

    def of(self, topic):
        return [data for name, _, data in self.messages if name == topic]

    def take(self, data):
        if isinstance(data, str):
            message = json.loads(data)
            self.texts.append(message)
            if message["op"] == "advertise":
                self.channels |= {c["topic"]: c for c in message["channels"]}
            if message["op"] == "advertiseServices":
                self.services |= {s["name"]: s["id"] for s in message["services"]}
            return
        if data[0] == 1:
            number, stamp = struct.unpack_from("<IQ", data, 1)
            self.messages.append((self.subscribed[number], stamp, data[13:]))
        elif data[0] == 2:
            self.times.append(struct.unpack_from("<Q", data, 1)[0])
        elif data[0] == 3:
            _, _, length = struct.unpack_from("<III", data, 1)
            self.answers.append(json.loads(data[13 + length :]))

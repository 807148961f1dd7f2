"""A ROS master for the tests: registrations, parameters, and updates to subscribers; no logging, no rosout."""

import contextlib
import functools
import os
import threading
import xmlrpc.client
from socketserver import ThreadingMixIn
from xmlrpc.server import SimpleXMLRPCRequestHandler, SimpleXMLRPCServer


class Handler(SimpleXMLRPCRequestHandler):
    rpc_paths = ()
    protocol_version = "HTTP/1.1"  # connections are kept, as roscore keeps them

    def log_message(self, *_):
        pass


class Server(ThreadingMixIn, SimpleXMLRPCServer):
    daemon_threads = True
    block_on_close = False

    def process_request(self, request, client_address):
        work, name = self.process_request_thread, "fake-master-connection"
        threading.Thread(target=work, args=(request, client_address), name=name, daemon=True).start()


class FakeMaster:
    def __init__(self, port=0):
        self.server = Server(("127.0.0.1", port), requestHandler=Handler, logRequests=False, allow_none=True)
        self.uri = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.port = self.server.server_address[1]
        self.publishers, self.subscribers, self.services = {}, {}, {}
        self.nodes, self.types, self.params = {}, {}, {}
        self.calls = set()  # (caller, method)
        for name in dir(self):
            if name.startswith("api_"):
                self.server.register_function(functools.partial(self._call, name), name[4:])
        self.thread = threading.Thread(target=lambda: self.server.serve_forever(0.02), name="fake-master", daemon=True)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def _call(self, name, caller, *arguments):
        self.calls.add((caller, name[4:]))
        return getattr(self, name)(caller, *arguments)

    def _notify(self, topic):
        uris = [self.nodes[n] for n in self.publishers.get(topic, {})]
        for uri in list(self.subscribers.get(topic, {}).values()):
            threading.Thread(
                target=self._update, args=(uri, topic, uris), name="fake-master-update", daemon=True
            ).start()

    @staticmethod
    def _update(uri, topic, uris):
        with contextlib.suppress(OSError):
            xmlrpc.client.ServerProxy(uri).publisherUpdate("/master", topic, uris)

    def api_getPid(self, _):
        return [1, "", os.getpid()]

    def api_registerPublisher(self, caller, topic, kind, api):
        self.nodes[caller] = api
        self.publishers.setdefault(topic, {})[caller] = api
        self.types[topic] = kind
        self._notify(topic)
        return [1, "", list(self.subscribers.get(topic, {}).values())]

    def api_unregisterPublisher(self, caller, topic, _):
        self.publishers.get(topic, {}).pop(caller, None)
        self._notify(topic)
        return [1, "", 1]

    def api_registerSubscriber(self, caller, topic, kind, api):
        self.nodes[caller] = api
        self.subscribers.setdefault(topic, {})[caller] = api
        self.types.setdefault(topic, kind)
        return [1, "", list(self.publishers.get(topic, {}).values())]

    def api_unregisterSubscriber(self, caller, topic, _):
        self.subscribers.get(topic, {}).pop(caller, None)
        return [1, "", 1]

    def api_registerService(self, caller, service, api, node):
        self.nodes[caller] = node
        self.services[service] = api
        return [1, "", 1]

    def api_unregisterService(self, caller, service, api):
        self.services.pop(service, None)
        return [1, "", 1]

    def api_lookupNode(self, _, name):
        return [1, "", self.nodes[name]] if name in self.nodes else [-1, "unknown node", ""]

    def api_getSystemState(self, _):
        return [1, "", [[[t, list(n)] for t, n in self.publishers.items() if n], [], []]]

    def api_setParam(self, _, name, value):
        self.params[name] = value
        return [1, "", 0]

    def api_getParam(self, _, name):
        return [1, "", self.params[name]] if name in self.params else [-1, "no such parameter", 0]

"""A name server and ports on this machine, a scripted peer that plays recorded bytes, and what they have left open."""

import contextlib
import json
import socket
import threading

from fuzz import until
from shared_files import shared_file

from pliant.yarp.bridge.calls import NameClient
from pliant.yarp.bridge.nameserver import NameServer
from pliant.yarp.bridge.network import Network
from pliant.yarp.wire import Vocab, bottle
from pliant.yarp.wire.values import FAIL


def recorded(name):
    """Return the recorded streams of a scene, (client's bytes, server's bytes) by the stream's name."""
    scene = json.loads(shared_file("data/yarp_golden.json").read_text())[name]
    return {
        row["stream"]: (bytes.fromhex(row["client_to_server"]), bytes.fromhex(row["server_to_client"])) for row in scene
    }


@contextlib.contextmanager
def yarp_world(**options):
    """Yield a name client and a network; both ends are checked to leave no fault of ours."""
    with NameServer(port=0, **options) as server:
        names = NameClient(server.address)
        with Network(names) as network:
            yield server, names, network
            assert network.reactor.internal_faults == 0, network.reactor.last_fault
        assert server.health["internal_faults"] == 0, server.health["last_faults"]


def answers_of(dialect):
    """Return what makes a port (`Port.administer`) say that it is of YARP 3 or 4."""
    reply = bottle(1, "", 4711) if dialect == 3 else bottle(FAIL, "send [help] for list of valid commands")
    return lambda command: reply if command == bottle(Vocab.of("pid")) else None


def exchange(port, data, expected_size, timeout=60.0):
    """Send bytes and return as many as are expected, or what came until the other side closed."""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as sock:
        sock.sendall(data)
        said = b""
        while len(said) < expected_size and (piece := sock.recv(1 << 16)):
            said += piece
        return said


class Peer:
    """Accepts one connection, says what it is told to say when asked, and keeps what it hears.

    Args:
        answers: what is said after so many bytes were heard: (bytes heard, answer).
    """

    def __init__(self, answers, *, read=True):
        self.heard = b""
        self.closed = False
        self._answers = list(answers)
        self._read = read
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._sock = None
        self._thread = threading.Thread(target=self._run, name="yarp-peer", daemon=True)
        self._thread.start()

    def _run(self):
        try:
            self._sock = self._listener.accept()[0]
        except OSError:
            return
        with contextlib.suppress(OSError):
            while True:
                while self._answers and len(self.heard) >= self._answers[0][0]:
                    self._sock.sendall(self._answers.pop(0)[1])
                if not self._answers and not self._read:
                    return
                data = self._sock.recv(1 << 16)
                if not data:
                    break
                self.heard += data
        self.closed = True

    def wait(self, size):
        until(lambda: len(self.heard) >= size, f"{size} bytes at the peer, {len(self.heard)} are there")
        return self.heard

    def close(self):
        for sock in (self._listener, self._sock):
            if sock is not None:
                with contextlib.suppress(OSError):
                    sock.shutdown(socket.SHUT_RDWR)
                sock.close()
        self._thread.join(5.0)

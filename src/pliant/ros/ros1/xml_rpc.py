"""XML-RPC between nodes of ROS 1 and their master, with limits and checks of everything that comes in."""

from __future__ import annotations

import contextlib
import http.client
import io
import logging
import socket
import socketserver
import sys
import threading
import time
import urllib.parse
import xmlrpc.client
from typing import TYPE_CHECKING, Any
from xml.parsers.expat import ExpatError
from xmlrpc.server import SimpleXMLRPCRequestHandler, SimpleXMLRPCServer

from pliant.base.errors import BridgeError, WireError
from pliant.base.origin import from_browser

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CALL_TIMEOUT_S = 2.0
"""Longest wait for an answer [s]."""
ANSWER_TIMEOUT_S = 10.0
"""Longest time that a whole answer takes to come [s]."""
CLIENT_TIMEOUT_S = 10.0
"""How long a client may take for its whole request, and a publisher to answer [s]."""
CLOSE_TIMEOUT_S = 5.0
"""How long the connections that are open at the end may take to end [s]."""
MAX_REQUEST_BYTES = 1 << 20
"""Bytes of a request."""
MAX_ANSWER_BYTES = 1 << 24
"""Bytes of an answer; the state of a system of some thousand topics is below 1 MB."""
MAX_URIS = 1000
"""Publishers of one topic."""
MAX_URI = 1000
"""Characters of an address."""
_log = logging.getLogger("pliant.ros1")

XML_RPC_ERRORS: tuple[type[Exception], ...] = (
    OSError, xmlrpc.client.Error, http.client.HTTPException, ExpatError, BridgeError, WireError, UnicodeError,
)  # fmt: skip
"""Exceptions that a call may raise: no peer at the address, or a peer that answers something else."""


class _InTime(io.RawIOBase):
    """The bytes of one request or answer, which must all come in time: a peer that drips them keeps no thread.

    Args:
        sock: the connection.
        stream: what `socket.makefile` has made of it.
        seconds: how long all of it may take [s].
    """

    def __init__(self, sock: socket.socket, stream: io.BufferedIOBase, seconds: float) -> None:
        self._sock, self._raw = sock, stream.detach()
        self._longest, self._end = sock.gettimeout() or seconds, time.monotonic() + seconds

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int | None:
        """Read what has come.

        Raises:
            TimeoutError: the time is over.
        """
        self._sock.settimeout(min(self._longest, max(1e-3, self._end - time.monotonic())))
        try:
            return self._raw.readinto(buffer)
        finally:
            self._sock.settimeout(self._longest)

    def close(self) -> None:
        """Let go of the connection."""
        self._raw.close()
        super().close()


class _Answer(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *arguments: Any, **options: Any) -> None:
        super().__init__(sock, *arguments, **options)
        self.fp = io.BufferedReader(_InTime(sock, self.fp, ANSWER_TIMEOUT_S))


class _Transport(xmlrpc.client.Transport):
    """XML-RPC over HTTP with a time-out and a limit on answers."""

    accept_gzip_encoding = False

    def make_connection(self, host: tuple[str, dict[str, str]] | str) -> http.client.HTTPConnection:
        """Return a connection with a time-out."""
        known, connection = self._connection
        if connection is None or host != known:
            name, self._extra_headers, _ = self.get_host_info(host)
            connection = http.client.HTTPConnection(name, timeout=CALL_TIMEOUT_S)
            connection.response_class = _Answer
            self._connection = host, connection
        return connection

    def parse_response(self, response: http.client.HTTPResponse) -> object:
        """Read the answer.

        Raises:
            WireError: it is encoded, too long, or no answer of XML-RPC.
        """
        if response.getheader("Content-Encoding"):
            raise WireError("the answer has a Content-Encoding, which was not requested")
        data = b""
        while piece := response.read1(1 << 16):
            data += piece
            if len(data) > MAX_ANSWER_BYTES:
                raise WireError(f"the answer has more than {MAX_ANSWER_BYTES} bytes")
        response.close()  # read1 leaves that to the caller, and the connection may serve the next call
        _refuse_document_type(data)
        parser, unmarshaller = self.getparser()
        try:
            parser.feed(data)
            parser.close()
            return unmarshaller.close()
        except (xmlrpc.client.Error, ExpatError):
            raise
        except Exception as error:  # what the standard library raises where the types do not fit
            raise WireError(f"the answer is not XML-RPC: {type(error).__name__}: {error}") from None


def is_address(uri: str) -> bool:
    """Return whether a text is the address of a master or node: http://HOST:PORT/."""
    try:
        parts = urllib.parse.urlsplit(uri)
        return parts.scheme == "http" and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, or too large; brackets that do not close
        return False


def proxy(uri: str) -> xmlrpc.client.ServerProxy:
    """Return what calls the functions of a master or node.

    Raises:
        WireError: the address is none of HTTP.
    """
    if not is_address(uri):
        raise WireError(f"{uri[:200]!r} is not the address of a node; must be http://HOST:PORT/")
    return xmlrpc.client.ServerProxy(uri, transport=_Transport(), allow_none=True)


def check_uris(value: object) -> list[str]:
    """Return addresses of nodes as a list of texts.

    Raises:
        WireError: it is something else, or too many or too long ones.
    """
    if not isinstance(value, list) or len(value) > MAX_URIS:
        raise WireError(f"the publishers are {str(value)[:80]!r}; must be a list of at most {MAX_URIS} addresses")
    for item in value:
        if not isinstance(item, str) or len(item) > MAX_URI or not item.isprintable():
            raise WireError(
                f"the publishers hold {str(item)[:80]!r}; must be addresses such as http://127.0.0.1:40000/"
            )
    return value


def read_tcpros_address(answer: object) -> tuple[str, int]:
    """Return host and port from the answer to ``requestTopic``.

    Raises:
        WireError: the publisher refused, or answered something else.
    """
    if not isinstance(answer, list) or len(answer) != 3:
        raise WireError(f"it answered {str(answer)[:80]!r} to requestTopic; must be [code, message, protocol]")
    code, message, value = answer
    if code != 1:
        raise WireError(f"it refused: {str(message)[:200]}")
    if not isinstance(value, list) or not value or value[0] != "TCPROS":
        raise WireError(f"it offers no TCPROS: {str(message)[:200]}")
    host, port = [*value, None, None][1:3]
    if not isinstance(host, str) or not 0 < len(host) <= 255 or not host.isprintable():
        raise WireError(f"it offers TCPROS at the host {str(host)[:80]!r}; must be a name or an address")
    if isinstance(port, bool) or not isinstance(port, int) or not 0 < port < 65536:
        raise WireError(f"it offers TCPROS at the port {str(port)[:80]!r}; must be 1 to 65535")
    return host, port


def _refuse_document_type(data: bytes) -> None:
    """Refuse definitions of entities, by which a short text becomes a long one; XML-RPC has none.

    Raises:
        WireError: there is one.
    """
    if b"<!" in data.replace(b"<!--", b""):
        raise WireError("a document type in XML-RPC")


class _Handler(SimpleXMLRPCRequestHandler):
    rpc_paths = ()  # ROS nodes call any path
    timeout = CLIENT_TIMEOUT_S
    wbufsize = -1  # head and body in one piece
    disable_nagle_algorithm = True

    def setup(self) -> None:
        """Read the request within `CLIENT_TIMEOUT_S`."""
        super().setup()
        self.rfile = io.BufferedReader(_InTime(self.connection, self.rfile, CLIENT_TIMEOUT_S))

    def do_POST(self) -> None:
        """Answer one call; what is too long or encoded is not even read."""
        size = self.headers.get("content-length", "")
        if not (size.isascii() and size.isdigit() and len(size) < 20 and int(size) <= MAX_REQUEST_BYTES):
            self.send_error(413, f"a request has 0 to {MAX_REQUEST_BYTES} bytes")
            return
        if self.headers.get("content-encoding") or self.headers.get("transfer-encoding"):
            self.send_error(415, "a request must not be encoded")
            return
        reason = from_browser(self.headers.items())
        if reason:
            self.send_error(403, reason)
            return
        super().do_POST()

    def decode_request_content(self, data: bytes) -> bytes | None:
        """Return the body, unless it defines entities."""
        try:
            _refuse_document_type(data)
        except WireError as error:
            self.send_error(400, str(error))
            return None
        return data

    def log_message(self, *_: object) -> None:
        """Nothing: the base class prints."""


class ConnectionThreads(socketserver.TCPServer):
    """Serves each connection in a thread of its own; the first base of a server of `http.server`, for example.

    A connection that breaks is no fault; whatever else a request raises is counted and told in one line.
    """

    max_connections = 64
    """Connections at once; further ones are closed."""
    thread_name = "connection"
    """Name of the threads."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._open: dict[threading.Thread, socket.socket] = {}
        self._lock = threading.Lock()
        self.refused = 0
        """Connections that were closed because too many were open."""
        self.faults = 0
        """Requests that raised."""
        super().__init__(*arguments, **options)

    def process_request(self, request: socket.socket | tuple[bytes, socket.socket], client_address: object) -> None:
        """Serve a connection in a thread."""
        if isinstance(request, tuple):  # of a server of datagrams
            request = request[1]
        thread = threading.Thread(
            target=self._serve, args=(request, client_address), name=self.thread_name, daemon=True
        )
        with self._lock:
            full = len(self._open) >= self.max_connections
            if not full:
                self._open[thread] = request
        if full:
            self.refused += 1
            self.shutdown_request(request)
            return
        thread.start()

    def _serve(self, request: socket.socket, client_address: object) -> None:
        try:
            self.finish_request(request, client_address)
        except Exception:  # as in socketserver: one request must not end the server
            self.handle_error(request, client_address)
        finally:
            self.shutdown_request(request)
            with self._lock:
                self._open.pop(threading.current_thread(), None)

    def handle_error(self, request: object, client_address: object) -> None:
        """Note what a request raised; the base class prints a traceback."""
        error = sys.exc_info()[1]
        if isinstance(error, OSError):
            _log.debug("%s: a connection broke", self.thread_name, exc_info=True)
            return
        self.faults += 1
        _log.warning("%s: a request failed: %s: %s", self.thread_name, type(error).__name__, error)
        _log.debug("%s: a request failed", self.thread_name, exc_info=True)

    def server_close(self) -> None:
        """Close the listener, break the connections off, and wait for their threads."""
        super().server_close()
        with self._lock:
            still = dict(self._open)
        for request in still.values():
            with contextlib.suppress(OSError):
                request.shutdown(socket.SHUT_RDWR)
        end = time.monotonic() + CLOSE_TIMEOUT_S
        for thread in still:
            if thread is not threading.current_thread():
                thread.join(max(0.0, end - time.monotonic()))


class XmlRpcServer(ConnectionThreads, SimpleXMLRPCServer):
    """Serves the functions of a node.

    Args:
        address: host and port to listen on.
    """

    thread_name = "ros1-xmlrpc"

    def __init__(self, address: tuple[str, int]) -> None:
        super().__init__(address, requestHandler=_Handler, logRequests=False, allow_none=True)

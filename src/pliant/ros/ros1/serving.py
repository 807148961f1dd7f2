"""HTTP servers of the standard library with a limit on connections, named threads, and no tracebacks on the console."""

from __future__ import annotations

import contextlib
import logging
import socket
import socketserver
import sys
import threading
import time
from typing import Any

CLOSE_TIMEOUT_S = 5.0
"""How long the connections that are open at the end may take to end [s]."""
_log = logging.getLogger("pliant.ros1")


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

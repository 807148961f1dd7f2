"""One thread that serves every socket of YARP's ports: it waits for any of them, and never blocks on one."""

from __future__ import annotations

import contextlib
import heapq
import itertools
import logging
import selectors
import socket
import time
from collections import deque
from collections.abc import Callable

from pliant.base.threads import Threads

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
POLL_S = 0.5
"""Longest wait of the thread [s]: how late it notices that it is to end, where nobody wakes it."""
TURN_S = 0.002
"""How long calls run before the sockets have their turn [s]."""
_log = logging.getLogger("pliant.yarp.bridge")


class Reactor:
    """Calls what belongs to a socket when the socket is ready; everything it calls runs in its one thread.

    `call` and `close` may be used by any thread, the other methods by the reactor's thread only.

    Args:
        threads: whose thread it is.
        name: of the thread.
    """

    def __init__(self, threads: Threads, name: str = "pliant-yarp-io") -> None:
        self._threads = threads
        self._name = name
        self._selector = selectors.DefaultSelector()
        self._wake_in, self._wake_out = socket.socketpair()
        for end in (self._wake_in, self._wake_out):
            end.setblocking(False)
        self._selector.register(self._wake_in, READ, None)
        self._calls: deque[Callable[[], None]] = deque()
        self._woken = False
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._count = itertools.count()
        self._stopping = False
        self._started = False
        self._freed = False
        self.connections = 0
        """Connections into the ports that it serves."""
        self.internal_faults = 0
        """Exceptions that no peer can be the cause of: faults of this program."""
        self.last_fault = ""
        """Text of the last of them."""

    def start(self) -> None:
        """Start the thread."""
        self._started = True
        self._threads.start(self._name, self._run)

    @property
    def closed(self) -> bool:
        """Whether it takes no more calls."""
        return self._stopping

    # ------------------------------------------------------------------ any thread
    def call(self, action: Callable[[], None]) -> None:
        """Run ``action()`` in the reactor's thread soon; calls run in the order in which they came."""
        self._calls.append(action)
        if not self._woken:
            self._woken = True
            with contextlib.suppress(OSError):
                self._wake_out.send(b"\0")

    def close(self) -> None:
        """Run the calls that wait, and end the thread; `Threads.join` waits for it. May be called twice."""
        self._stopping = True
        if not self._started:
            self._free()
            return
        self._woken = False
        self.call(lambda: None)

    # ------------------------------------------------------------------ the reactor's thread
    def watch(self, sock: socket.socket, events: int, handler: Callable[[int], None]) -> None:
        """Call ``handler(events)`` when a socket is ready for any of these; with other events than before, change them.

        Events of 0 keep the handler and watch for nothing.
        """
        if self._freed:
            return
        known = sock.fileno() in self._selector.get_map()
        if events and known:
            self._selector.modify(sock, events, handler)
        elif events:
            self._selector.register(sock, events, handler)
        elif known:
            self._selector.unregister(sock)

    def forget(self, sock: socket.socket) -> None:
        """Stop watching a socket."""
        if not self._freed:
            with contextlib.suppress(KeyError, ValueError):
                self._selector.unregister(sock)

    def after(self, delay: float, action: Callable[[], None]) -> None:
        """Call ``action()`` after a time [s]."""
        heapq.heappush(self._timers, (time.monotonic() + delay, next(self._count), action))

    def guard(self, action: Callable[..., None], *arguments: object) -> None:
        """Call something, and count what it raises as a fault of this program."""
        try:
            action(*arguments)
        except Exception as fault:  # one handler must not end the thread of all sockets
            self.internal_faults += 1
            self.last_fault = f"{type(fault).__name__}: {fault}"
            _log.exception("a handler of YARP's sockets failed")

    def _run(self) -> None:
        try:
            while True:
                self._drain()
                if self._stopping and not self._calls:
                    return
                self._step(self._due())
        finally:
            self._free()

    def _drain(self) -> None:
        self._woken = False
        end = time.monotonic() + TURN_S
        for _ in range(len(self._calls)):
            self.guard(self._calls.popleft())
            if time.monotonic() > end:  # sockets have their turn; the other calls come after them
                return

    def _due(self) -> float:
        now = time.monotonic()
        while self._timers and self._timers[0][0] <= now:
            self.guard(heapq.heappop(self._timers)[2])
        if self._calls:
            return 0.0
        return min(POLL_S, self._timers[0][0] - now) if self._timers else POLL_S

    def _step(self, timeout: float) -> None:
        for key, events in self._selector.select(max(0.0, timeout)):
            if key.data is None:
                with contextlib.suppress(OSError):
                    while len(self._wake_in.recv(4096)) == 4096:
                        pass
            elif key.fd in self._selector.get_map():  # an earlier handler may have closed it
                self.guard(key.data, events)

    def _free(self) -> None:
        if self._freed:
            return
        self._freed = self._stopping = True
        for sock in (self._wake_in, self._wake_out):
            sock.close()
        self._selector.close()

"""Messages on their way from the loop to the wire: a bounded queue, and the thread that empties it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from pliant.base.threads import Threads

MESSAGES = 2000
"""Messages that wait for the wire before the oldest is dropped."""
BYTES = 64 * 2**20
"""Bytes that wait before the oldest message is dropped; images reach this first."""
IDLE = 0.2
"""How often an idle writer looks whether it is to stop [s]."""


class Sender(Protocol):
    """Owner of messages."""

    drops: int


S = TypeVar("S", bound=Sender)


class Outbox(Generic[S]):
    """Takes messages without waiting; a thread of its own hands them to the wire, in their order.

    Args:
        name: name of the thread.
        put: hands a message to the wire; it may take long. If it raises, the thread dies.
        threads: whose thread it is.
        messages: most messages that wait.
        size: most bytes that wait.
    """

    def __init__(
        self,
        name: str,
        put: Callable[[S, bytes], None],
        *,
        threads: Threads,
        messages: int = MESSAGES,
        size: int = BYTES,
    ) -> None:
        self._name = name
        self._put = put
        self._threads = threads
        self._messages = messages
        self._limit = size
        self._queue: deque[tuple[S, bytes]] = deque()
        self._size = 0
        self._lock = threading.Lock()
        self._write_lock = threading.Lock()
        self._wake = threading.Event()
        self._idle = False
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self.direct = False
        """Whether the caller's thread writes, in `flush`, instead of the thread here."""
        self.dropped = 0
        """Messages dropped for want of room."""

    def __len__(self) -> int:
        return len(self._queue)

    def start(self) -> None:
        """Start the thread."""
        self._thread = self._threads.start(self._name, self._run)

    def send(self, sender: S, data: bytes) -> None:
        """Take one message; drop the oldest where there is no room."""
        with self._lock:
            queue = self._queue
            self._size += len(data)
            while queue and (len(queue) >= self._messages or self._size > self._limit):
                oldest, lost = queue.popleft()
                self._size -= len(lost)
                oldest.drops += 1
                self.dropped += 1
            queue.append((sender, data))
        if self._idle and not self.direct:
            self._idle = False
            self._wake.set()

    def flush(self) -> None:
        """Hand over what waits, in the caller's thread."""
        with self._write_lock:
            while True:
                with self._lock:
                    if not self._queue:
                        return
                    sender, data = self._queue.popleft()
                    self._size -= len(data)
                self._put(sender, data)

    def stop(self, patience: float = 5.0) -> None:
        """Hand over what waits, as far as that takes no longer than ``patience`` [s], and end the thread."""
        self._stopping.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(patience)

    def _run(self) -> None:
        while True:
            self._wake.clear()
            self._idle = True
            if not self._queue:
                if self._stopping.is_set():
                    return
                self._wake.wait(IDLE)
            self._idle = False
            self.flush()

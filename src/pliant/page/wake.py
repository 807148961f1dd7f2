"""Messages for browsers are announced on the loop of viser's server, whichever thread sends them.

Every call of viser that changes a page ends in `AsyncMessageBuffer.push`, which any thread may call: it holds a lock.
At its end, however, viser sets an `asyncio.Event` there and then. asyncio's events belong to the loop's thread: if a
browser comes or goes meanwhile, the waiting tasks change while they are counted ("deque mutated during iteration").
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from viser import infra
    from viser.infra._async_message_buffer import AsyncMessageBuffer


class LoopEvent(asyncio.Event):
    """An event that any thread may set: its tasks are woken on the loop.

    Args:
        loop: where the tasks wait.
        thread: identity of the loop's thread.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, thread: int) -> None:
        super().__init__()
        self._home, self._home_thread = loop, thread

    def set(self) -> None:
        """Wake the tasks, now or, from another thread, as soon as the loop comes to it."""
        if threading.get_ident() == self._home_thread:
            super().set()
            return
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._home.call_soon_threadsafe(super().set)


def wake_on_loop(connection: infra.WebsockServer) -> None:
    """Let the messages for all browsers of a server, and those for each of them, be announced on its loop.

    Args:
        connection: viser's ``WebsockServer``, started.
    """
    loop = cast("asyncio.AbstractEventLoop", connection._background_event_loop)
    done = threading.Event()

    def exchange(buffer: AsyncMessageBuffer) -> None:
        before = buffer.message_event
        buffer.message_event = LoopEvent(loop, threading.get_ident())
        before.set()  # who waits already looks for messages and waits at the new one

    def arrived(client: infra.WebsockClientConnection) -> None:
        buffer = client.get_message_buffer()
        # A browser that leaves while something is sent to it is no fault.
        buffer._warned_push_after_done = True
        exchange(buffer)

    def begin() -> None:
        exchange(connection._broadcast_buffer)
        for state in connection._client_state_from_id.values():
            exchange(state.message_buffer)
        connection._client_connect_cb.insert(0, arrived)
        done.set()

    loop.call_soon_threadsafe(begin)
    done.wait(10.0)

"""Values that browsers give to controls and handles: finite, of a modest size, and inside the range of the
control, or one of its choices."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import viser
    from viser import infra

MAX_TEXT = 4096
"""Longest text that a browser may give to a control."""
MAX_DISTANCE = 1e6
"""Farthest place that something may be dragged to [m]."""
_log = logging.getLogger("pliant.view")


Handler = Callable[..., Coroutine[object, object, None]]
"""Function of a client and a message."""


class _Update(Protocol):
    """Message of viser about a changed control."""

    uuid: str
    updates: dict[str, object]


class _Pose(Protocol):
    """Message of viser about something that is dragged."""

    position: Sequence[float]
    wxyz: Sequence[float]


def values_only(
    handler: Callable[..., Any],
    limits: Callable[[str], tuple[float, float]],
    clamped: Callable[[int, str, float, float], None],
    choices: Callable[[str], Sequence[str] | None],
) -> Handler:
    """Return a handler of changed controls that takes finite values of a modest size only, and limits numbers.

    What is none of the choices of a control is ignored: no page offers it.

    Args:
        handler: gets what is left.
        limits: gives the range of the control of an identity.
        clamped: called with the client, the control, the entered and the used value, after the handler.
        choices: gives the choices of the control of an identity; None for a control without.
    """

    async def handle(client: int, message: _Update) -> None:
        updates = message.updates
        if not isinstance(updates, dict) or set(updates) != {"value"}:
            return
        value = updates["value"]
        if isinstance(value, str | bytes | list | tuple | dict) and len(value) > MAX_TEXT:
            return
        offered = choices(message.uuid)
        if offered is not None and value not in offered:
            _log.debug("a browser sent %.100r for a control; it is ignored", value)
            return
        if not isinstance(value, int | float) or isinstance(value, bool):
            await handler(client, message)
            return
        if not abs(value) <= 1e300:
            _log.debug("a browser sent %r for a control; it is ignored", value)
            return
        low, high = limits(message.uuid)
        used = updates["value"] = min(max(value, low), high)
        await handler(client, message)
        if used != value:
            clamped(client, message.uuid, value, used)

    return handle


def poses_only(handler: Callable[..., Any]) -> Handler:
    """Return a handler of dragged poses that refuses what is none."""

    async def handle(client: int, message: _Pose) -> None:
        for numbers, count in ((message.position, 3), (message.wxyz, 4)):
            if not isinstance(numbers, list | tuple) or len(numbers) != count:
                return
            if not all(isinstance(v, int | float) and abs(v) <= MAX_DISTANCE for v in numbers):
                return
        if 0.5 < math.hypot(*message.wxyz) < 2.0:
            await handler(client, message)

    return handle


def drop_late_values(connection: infra.WebsockServer, gui: viser.GuiApi) -> None:
    """Pass a value that one browser entered on to the others only while its control is there.

    viser looks whether a control is there before it takes the value. Where another thread takes the control away
    meanwhile, its value would be sent after it, and to every browser to come.
    """
    from viser._messages import GuiUpdateMessage

    queue = connection.queue_message

    def queue_message(message: infra.Message) -> None:
        with connection._record_lock:  # in which viser sends that a control is taken away, after it has noted it
            if isinstance(message, GuiUpdateMessage) and message.excluded_self_client is not None:
                handle = gui._gui_input_handle_from_uuid.get(message.uuid)
                if handle is None or handle._impl.removed:
                    return
            queue(message)

    connection.queue_message = queue_message

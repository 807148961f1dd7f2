"""What browsers give to controls and handles: finite, of a modest size, and inside the range, or one of the choices, of
the control."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from typing import Any

MAX_TEXT = 4096
"""Longest text that a browser may give to a control."""
MAX_DISTANCE = 1e6
"""Farthest place that something may be dragged to [m]."""
_log = logging.getLogger("pliant.view")


def values_only(
    handler: Callable[..., Any],
    limits: Callable[[str], tuple[float, float]],
    clamped: Callable[[int, str, float, float], None],
    choices: Callable[[str], Sequence[str] | None],
) -> Callable[..., Any]:
    """Return a handler of changed controls that takes finite values of a modest size only, and limits numbers.

    What is none of the choices of a control is ignored: no page offers it.

    Args:
        handler: gets what is left.
        limits: gives the range of the control of an identity.
        clamped: called with the client, the control, the entered and the used value, after the handler.
        choices: gives the choices of the control of an identity; None for a control without.
    """

    async def handle(client: Any, message: Any) -> None:
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
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and not abs(value) <= 1e300:
            _log.debug("a browser sent %r for a control; it is ignored", value)
            return
        used = value
        if number:
            low, high = limits(message.uuid)
            used = min(max(value, low), high)
            updates["value"] = used
        await handler(client, message)
        if used != value:
            clamped(client, message.uuid, value, used)

    return handle


def poses_only(handler: Callable[..., Any]) -> Callable[..., Any]:
    """Return a handler of dragged poses that refuses what is none."""

    async def handle(client: Any, message: Any) -> None:
        for numbers, count in ((message.position, 3), (message.wxyz, 4)):
            if not isinstance(numbers, list | tuple) or len(numbers) != count:
                return
            if not all(isinstance(v, int | float) and abs(v) <= MAX_DISTANCE for v in numbers):
                return
        if 0.5 < math.hypot(*message.wxyz) < 2.0:
            await handler(client, message)

    return handle

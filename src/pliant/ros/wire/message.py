"""Types of messages in Python, and of the functions that take and answer them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Message: TypeAlias = dict[str, Any]
"""A message by field: number, text, integer nanoseconds for ``time`` and ``duration``, list, array or message. The
definition of its type says which, so that no static type can."""
MessageView: TypeAlias = Mapping[str, Any]
"""A message that is only read; fields that are left out are zero or empty."""
MessageCallback: TypeAlias = Callable[[Message], object]
"""Takes the messages of a topic; what it returns is not used."""
ServiceCallback: TypeAlias = Callable[[Message], Message]
"""Takes the request of a service and returns its response."""
Respond: TypeAlias = Callable[[Message], None]
"""Takes the response to a request."""
DeferredService: TypeAlias = Callable[[Message, Respond], None]
"""Takes a request, and what any thread may call, once, with the response."""

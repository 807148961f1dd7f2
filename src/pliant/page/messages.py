"""Messages of the run on the page: warnings, limits and faults that are otherwise in the log only."""

from __future__ import annotations

import html
import logging
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import viser

KEPT = 6
"""Most messages in the list."""
MAX_LENGTH = 300
"""Longest message that is shown."""
OWN = "pliant.view"
"""Log of the page itself, which shows its own messages already."""
COLOURS = {"fault": "#c0392b", "warning": "#b8600b", "done": "#00788c"}


class Messages(logging.Handler):
    """Collects the warnings of pliant's log and what the page says, and lists the newest.

    The log is that of the process: where it runs several simulations, each page shows the messages of all.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._list: deque[tuple[str, str]] = deque(maxlen=KEPT)
        self._fresh: deque[tuple[str, str]] = deque(maxlen=KEPT)
        self._text: viser.GuiHtmlHandle | None = None
        self._changed = False

    def open(self, gui: viser.GuiApi) -> None:
        """Add the list to a GUI container and begin to listen."""
        self._text = gui.add_html("")
        logging.getLogger("pliant").addHandler(self)

    def close(self) -> None:
        """Stop listening; may be called twice."""
        logging.getLogger("pliant").removeHandler(self)
        super().close()

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a message of the log; any thread may call this."""
        if record.name != OWN:
            kind = "fault" if record.levelno >= logging.ERROR else "warning"
            self.add(kind, record.getMessage())
            self._fresh.append((kind, record.getMessage()))

    def add(self, kind: str, text: str) -> None:
        """Add a message to the list; one that is there already moves to its end."""
        found = (kind, "".join(c if c.isprintable() else " " for c in text)[:MAX_LENGTH])
        if found in self._list:
            self._list.remove(found)
        self._list.append(found)
        self._changed = True

    def draw(self) -> list[tuple[str, str]]:
        """Show the list; return the messages of the log that came since the last call, kind and text."""
        if self._changed and self._text is not None:
            self._changed = False
            self._text.content = _listed(list(self._list))
        fresh = []
        while self._fresh:
            fresh.append(self._fresh.popleft())
        return fresh


def _listed(messages: list[tuple[str, str]]) -> str:
    style = "border-left:3px solid {};padding-left:0.5em;margin:0.2em 0"
    rows = "".join(
        f'<div style="{style.format(COLOURS[kind])}">{html.escape(text)}</div>' for kind, text in reversed(messages)
    )
    return (
        '<details open style="padding:0 1em 0.3em;font-size:0.85em"><summary>Messages</summary>'
        f'<div role="log" style="max-height:8em;overflow:auto">{rows}</div></details>'
    )

"""Files that a browser gives to the page: for the buttons that are made for it only, one at a time, within a size."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from viser import GuiApi, GuiUploadButtonHandle, ViserServer, _messages
    from viser.infra import ClientId

MAX_DROPPED_BYTES = 64 << 20
"""Largest file that may be dropped on the page [bytes]."""
MAX_PARTS = 16
"""Most messages that carry one file."""
MAX_OPEN = 16
"""Most files that are on their way, of all browsers together."""
MAX_NAME = 255
"""Longest name of a file."""


@dataclass(slots=True)
class _Transfer:
    """A file on its way."""

    client: ClientId
    """The browser that sends it."""
    left: int
    """Bytes that may still come."""


class Uploads:
    """Stands between the browsers and viser's reception of files, which knows no limits.

    Without a button nothing is received at all.

    Args:
        viser: viser's server.
    """

    def __init__(self, viser: ViserServer) -> None:
        from viser import _messages

        self._viser, self._messages = viser, _messages
        self._handlers = viser._websock_server._incoming_handlers
        for kind in self._kinds():
            self._handlers.pop(kind, None)
        self._limits: dict[str, tuple[int, Callable[[str], None]]] = {}
        self._open: dict[str, _Transfer] = {}

    def accept(self, button: GuiUploadButtonHandle, max_bytes: int, say: Callable[[str], None]) -> None:
        """Receive files for a button.

        Args:
            button: of viser's ``add_upload_button``.
            max_bytes: largest file.
            say: tells what was refused.
        """
        self._limits[button._impl.uuid] = (max_bytes, say)
        start, part = self._kinds()
        self._handlers[start] = [self._begin]  # pyright: ignore[reportArgumentType]
        self._handlers[part] = [self._take]  # pyright: ignore[reportArgumentType]

    def clear(self) -> None:
        """Receive nothing from now on."""
        for kind in self._kinds():
            self._handlers.pop(kind, None)
        self._limits.clear()
        for name in list(self._open):
            self._drop(name)

    def _kinds(self) -> tuple[type[_messages.FileTransferStartUpload], type[_messages.FileTransferPart]]:
        return self._messages.FileTransferStartUpload, self._messages.FileTransferPart

    def _begin(self, client: ClientId, message: _messages.FileTransferStartUpload) -> None:
        """Look at what a browser wants to send."""
        for name, transfer in list(self._open.items()):
            if transfer.client == client or transfer.client not in self._viser._connected_clients:
                self._drop(name)
        found = self._limits.get(message.source_component_uuid)
        if found is None or not _sensible(message):
            return
        most, say = found
        size = message.size_bytes
        if size > most:
            name = "".join(c for c in message.filename[:80] if c.isprintable())
            say(f"the file {name!r} has {size} bytes; must be at most {most}")
            self._finish(client, message)
            return
        if len(self._open) >= MAX_OPEN or message.transfer_uuid in self._open:
            return
        if size:
            self._open[message.transfer_uuid] = _Transfer(client, size)
        if (gui := self._answering(client)) is not None:
            gui._handle_file_transfer_start(client, message)

    def _take(self, client: ClientId, message: _messages.FileTransferPart) -> None:
        transfer = self._open.get(message.transfer_uuid)
        if transfer is None or transfer.client != client or not isinstance(message.content, bytes):
            return
        transfer.left -= len(message.content)
        if transfer.left < 0 or not isinstance(message.part_index, int):
            self._drop(message.transfer_uuid)
            return
        if transfer.left == 0:
            del self._open[message.transfer_uuid]
        if (gui := self._answering(client)) is not None:
            gui._handle_file_transfer_part(client, message)
        if transfer.left == 0:  # viser has it, or it did not add up
            self._viser.gui._current_file_upload_states.pop(message.transfer_uuid, None)

    def _drop(self, name: str) -> None:
        self._open.pop(name, None)
        self._viser.gui._current_file_upload_states.pop(name, None)

    def _answering(self, client: ClientId) -> GuiApi | None:
        """Return viser's reception of files, with answers for one browser; None where it has gone.

        Answers to all would be kept for browsers to come, without an end.
        """
        found = self._viser._connected_clients.get(client)
        if found is None:
            return None
        gui = copy.copy(self._viser.gui)
        gui._websock_interface = found.gui._websock_interface
        return gui

    def _finish(self, client: ClientId, message: _messages.FileTransferStartUpload) -> None:
        """Let the browser stop waiting for a file that was refused."""
        if (gui := self._answering(client)) is None:
            return
        gui._websock_interface.queue_message(
            self._messages.FileTransferPartAck(
                source_component_uuid=message.source_component_uuid, transfer_uuid=message.transfer_uuid,
                transferred_bytes=message.size_bytes, total_bytes=message.size_bytes,
            )
        )  # fmt: skip


def _sensible(message: _messages.FileTransferStartUpload) -> bool:
    """Return whether the fields of a start are what they must be."""
    names = (message.transfer_uuid, message.filename, message.mime_type)
    if not all(isinstance(name, str) and len(name) <= MAX_NAME for name in names):
        return False
    counts = (message.size_bytes, message.part_count)
    if not all(isinstance(count, int) and not isinstance(count, bool) and count >= 0 for count in counts):
        return False
    return message.part_count <= max(MAX_PARTS, message.size_bytes >> 16) and bool(message.part_count) == bool(
        message.size_bytes
    )

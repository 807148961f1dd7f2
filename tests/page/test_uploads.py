"""Files that a browser gives: only for a button, only within its size."""

import threading
from types import SimpleNamespace

import pytest
from viser import _messages

from pliant.page.server import PageServer

pytestmark = pytest.mark.network
LIMIT = 1000


@pytest.fixture
def server():
    with PageServer() as made:
        yield made


@pytest.fixture
def said():
    return []


@pytest.fixture
def button(server, said):
    made = server.gui.add_upload_button("Open")
    server.uploads.accept(made, LIMIT, said.append)
    return made


@pytest.fixture
def answers():
    return []


@pytest.fixture
def client(server, answers):
    """A browser that is connected: its number and what it is sent matter here."""
    sends = SimpleNamespace(queue_message=answers.append)
    server.viser._connected_clients[7] = SimpleNamespace(gui=SimpleNamespace(_websock_interface=sends))
    yield 7
    server.viser._connected_clients.pop(7, None)


def start(button, size, parts=1, transfer="t", name="a.csv"):
    return _messages.FileTransferStartUpload(
        source_component_uuid=button._impl.uuid, transfer_uuid=transfer, filename=name, mime_type="",
        part_count=parts, size_bytes=size,
    )  # fmt: skip


def part(button, content, index=0, transfer="t"):
    return _messages.FileTransferPart(button._impl.uuid, transfer, index, content)


def send(server, client, message):
    """Give a message to the handlers, as the server's thread does."""
    done = threading.Event()

    def call():
        try:
            for handler in server.viser._websock_server._incoming_handlers.get(type(message), []):
                handler(client, message)
        finally:
            done.set()

    server.viser.get_event_loop().call_soon_threadsafe(call)
    assert done.wait(60.0)


def waiting(server):
    return dict(server.viser.gui._current_file_upload_states)


def test_a_page_without_a_button_takes_no_files(server):
    handlers = server.viser._websock_server._incoming_handlers
    assert not {_messages.FileTransferStartUpload, _messages.FileTransferPart} & set(handlers)


def test_a_file_within_the_size_arrives_in_one_piece(server, button, client, said):
    send(server, client, start(button, 10, parts=2))
    send(server, client, part(button, b"01234", 0))
    send(server, client, part(button, b"56789", 1))
    assert button.value.name == "a.csv"
    assert button.value.content == b"0123456789"
    assert waiting(server) == {}
    assert said == []


def test_a_file_that_is_too_large_is_refused_with_the_limit(server, button, client, said):
    send(server, client, start(button, LIMIT + 1, name="big\n.csv"))
    send(server, client, part(button, b"x" * (LIMIT + 1)))
    assert said == [f"the file 'big.csv' has {LIMIT + 1} bytes; must be at most {LIMIT}"]
    assert button.value.content == b""
    assert waiting(server) == {}


def test_answers_go_to_the_browser_that_sends_and_none_is_kept_for_browsers_to_come(server, button, client, answers):
    send(server, client, start(button, 10, parts=2))
    send(server, client, part(button, b"01234", 0))
    send(server, client, part(button, b"56789", 1))
    send(server, client, start(button, 0, parts=0, transfer="empty"))
    send(server, client, start(button, LIMIT + 1, transfer="big"))
    expected = [("t", 5), ("t", 10), ("empty", 0), ("big", LIMIT + 1)]
    assert [(answer.transfer_uuid, answer.transferred_bytes) for answer in answers] == expected
    kept = server.viser._websock_server._broadcast_buffer.message_from_id.values()
    assert not [message for message in kept if isinstance(message, _messages.FileTransferPartAck)]


def test_more_bytes_than_were_announced_are_thrown_away(server, button, client):
    send(server, client, start(button, 10, parts=2))
    send(server, client, part(button, b"x" * 900, 0))
    assert waiting(server) == {}
    send(server, client, part(button, b"x", 1))
    assert button.value.content == b""


def test_parts_that_do_not_add_up_are_thrown_away(server, button, client):
    send(server, client, start(button, 10, parts=3))
    send(server, client, part(button, b"x" * 10, 0))  # all bytes, and two parts are missing
    assert waiting(server) == {}
    assert button.value.content == b""


@pytest.mark.parametrize(
    "changes",
    [
        {"source_component_uuid": "another"},
        {"size_bytes": -1},
        {"size_bytes": 1.5},
        {"part_count": 10**9},
        {"part_count": 0},
        {"filename": "x" * 300},
        {"transfer_uuid": None},
    ],
)
def test_a_start_that_makes_no_sense_opens_nothing(server, button, client, changes):
    message = start(button, 10)
    for name, value in changes.items():
        setattr(message, name, value)
    send(server, client, message)
    assert waiting(server) == {}


def test_a_browser_sends_one_file_at_a_time_and_another_browser_cannot_add_to_it(server, button, client):
    send(server, client, start(button, 10, transfer="one"))
    send(server, client, start(button, 4, transfer="two"))
    assert set(waiting(server)) == {"two"}
    send(server, 8, part(button, b"evil", transfer="two"))
    assert button.value.content == b""
    send(server, client, part(button, b"good", transfer="two"))
    assert button.value.content == b"good"


def test_after_the_page_was_cleared_nothing_is_taken(server, button, client):
    send(server, client, start(button, 10))
    server.clear()
    assert waiting(server) == {}
    test_a_page_without_a_button_takes_no_files(server)

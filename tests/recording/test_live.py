"""What listeners put is taken once and in order; a listener is made from the text of its option."""

import threading

import pytest

import pliant
from pliant.base.errors import BridgeError
from pliant.recording.live import Heard, Inbox, list_listeners, make_listener


def message(k):
    return Heard("topic", 0, float(k), True, {"joint/position": 0.0})


def test_messages_and_notes_are_taken_once_and_in_order():
    inbox = Inbox()
    for k in range(3):
        inbox.put(message(k))
    inbox.note("odd")
    found, notes, ended = inbox.take(0.0)
    assert [one.time for one in found] == [0.0, 1.0, 2.0]
    assert notes == ["odd"]
    assert not ended
    assert inbox.take(0.0) == ([], [], False)
    inbox.end()
    assert inbox.take(60.0) == ([], [], True)


def test_the_oldest_messages_go_first_where_nobody_takes_them():
    inbox = Inbox(limit=10)
    for k in range(25):
        inbox.put(message(k))
    assert [one.time for one in inbox.take(0.0)[0]] == [float(k) for k in range(15, 25)]
    assert (inbox.count, inbox.dropped) == (25, 15)


def test_whoever_waits_is_woken_by_the_first_message():
    inbox = Inbox()
    thread = threading.Thread(target=lambda: inbox.put(message(1)))
    thread.start()
    found, _, _ = inbox.take(60.0)
    thread.join()
    assert [one.time for one in found] == [1.0]


@pytest.mark.parametrize("name", sorted(list_listeners()))
def test_an_option_that_a_listener_does_not_have_is_refused(name):
    robot = pliant.load("sea-1dof")
    with pytest.raises(BridgeError, match=f"--{name}: no option 'nobody'"):
        make_listener(name, "nobody=1", robot)
    with pytest.raises(BridgeError, match="nothing listens to 'radio'"):
        make_listener("radio", "", robot)


def test_a_value_without_a_key_is_the_first_option():
    robot = pliant.load("sea-1dof")
    listener = make_listener("ros1", "http://127.0.0.1:11377,namespace=left", robot)
    assert listener.where() == "ros1 at http://127.0.0.1:11377, name space /left"
    assert make_listener("ros2", "17", robot).where().startswith("ros2 at DDS domain 17")

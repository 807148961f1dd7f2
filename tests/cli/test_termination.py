"""SIGTERM does what Ctrl-C does."""

import os
import signal

import pytest

from pliant.cli.termination import terminating_as_interrupt


@pytest.fixture
def interrupted():
    """Count what a SIGINT would do, and put the handlers back."""
    count = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, lambda *_: count.append(1))
    yield count
    for number, handler in before.items():
        signal.signal(number, handler)


def test_sigterm_does_what_sigint_does(interrupted):
    with terminating_as_interrupt():
        signal.raise_signal(signal.SIGTERM)
        assert interrupted == [1]


def test_where_sigint_is_ignored_sigterm_still_interrupts(interrupted):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with terminating_as_interrupt(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)


def test_the_handler_of_before_is_put_back(interrupted):
    told = []
    signal.signal(signal.SIGTERM, lambda *_: told.append(1))
    with terminating_as_interrupt():
        pass
    signal.raise_signal(signal.SIGTERM)
    assert told == [1]


def test_a_forked_process_ends_by_sigterm(interrupted):
    with terminating_as_interrupt():
        child = os.fork()
        if child == 0:
            try:
                signal.raise_signal(signal.SIGTERM)
            finally:
                os._exit(77)
        _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGTERM

"""What a stall of the machine does in lock-step: nothing; the wall clock of these tests is a variable."""

import socket
from types import SimpleNamespace

import numpy as np
import pytest

from pliant.franka.bridge import FciBridge, FciOptions
from pliant.franka.bridge import bridge as module
from pliant.franka.bridge.sockets import Connection

TIMEOUT = 0.2


class Arm(SimpleNamespace):
    """An arm whose client answers after a number of slices of the wait."""

    def __init__(self, *, answers_after, read_after=0):
        self.slices, self.answers_after, self.read_after = 0, answers_after, read_after
        self.looks, self.found_by = 0, 10**9
        self.counters = {"timeouts": 0}
        self.owes = TIMEOUT
        self.changed = False
        self.connected = True
        self.awaits_command = True

    @property
    def fitting(self):
        return "command" if self.slices >= self.answers_after or self.looks >= self.found_by else None

    @property
    def unread(self):
        return self.slices < self.read_after


def waited(monkeypatch, *arms, lengths=None, cycles=1):
    """Let lock-step cycles wait for arms; return the wall time that has passed [s]."""
    clock = [0.0]
    bridge = FciBridge(FciOptions(mode="lockstep", command_timeout=TIMEOUT))

    def serve(timeout):
        if timeout == 0.0:  # a look
            clock[0] += 1e-6
            for arm in arms:
                arm.looks += 1
            return len(arms)
        clock[0] += max(timeout, 1e-9) if lengths is None else next(lengths)  # time passes, whatever is asked for
        for arm in arms:
            arm.slices += 1
        return len(arms)

    monkeypatch.setattr(module.time, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(bridge, "_serve", serve)
    bridge.arms = [*arms]
    for _ in range(cycles):
        bridge._lockstep()
    return clock[0]


def test_a_client_that_has_its_state_gets_the_time_that_was_asked_for(monkeypatch):
    arm = Arm(answers_after=10**6)
    assert waited(monkeypatch, arm) == pytest.approx(TIMEOUT, abs=1e-5)
    assert arm.counters["timeouts"] == 1


def test_a_fast_client_is_answered_without_sleep_and_a_slow_one_is_looked_for_ever_less(monkeypatch):
    monkeypatch.setattr(module, "CORES", 2)
    fast = Arm(answers_after=10**6)
    fast.found_by = 50
    assert waited(monkeypatch, fast) < module.LOOK_S
    assert (fast.slices, fast.counters["timeouts"]) == (0, 0)
    slow = Arm(answers_after=10**6)
    assert waited(monkeypatch, slow, cycles=200) == pytest.approx(200 * TIMEOUT, abs=1e-3)
    assert slow.looks < 7 * 151  # after 2, 4, 8, ... cycles without
    monkeypatch.setattr(module, "CORES", 1)
    alone = Arm(answers_after=1)
    waited(monkeypatch, alone)
    assert alone.looks == 0


def test_a_machine_that_stops_the_server_for_ten_seconds_loses_no_command(monkeypatch):
    arm = Arm(answers_after=5)
    assert waited(monkeypatch, arm, lengths=iter([0.02, 10.0, 0.02, 10.0, 0.01])) == pytest.approx(20.05, abs=1e-3)
    assert arm.counters["timeouts"] == 0


def test_the_first_command_of_a_motion_is_awaited_by_the_wall_clock(monkeypatch):
    """It is not lost when robot time goes on, and a client of libfranka gives up after 1 s without a state."""
    arm = Arm(answers_after=10**6, read_after=10**6)
    arm.awaits_command = False
    assert waited(monkeypatch, arm, lengths=iter([0.1] * 10)) == pytest.approx(TIMEOUT, abs=1e-3)
    assert arm.counters["timeouts"] == 0


def test_a_client_that_is_kept_from_reading_its_state_loses_no_command(monkeypatch):
    slices = round(0.5 / module.SLICE_S)
    arm = Arm(answers_after=slices + 1, read_after=slices)
    assert waited(monkeypatch, arm) > 0.49 > TIMEOUT
    assert arm.counters["timeouts"] == 0


def test_a_client_that_sleeps_and_reads_nothing_loses_twenty_commands_in_the_time_of_25(monkeypatch):
    """The twentieth ends the motion: the wait for a stalled client comes once, not with each command."""
    arm = Arm(answers_after=10**6, read_after=10**6)
    assert waited(monkeypatch, arm, cycles=20) < 25 * TIMEOUT
    assert arm.counters["timeouts"] == 20


def test_a_client_that_never_reads_is_given_up(monkeypatch):
    arm = Arm(answers_after=10**6, read_after=10**6)
    assert waited(monkeypatch, arm) == pytest.approx(TIMEOUT + module.MAX_STALL_S, abs=2 * module.SLICE_S)
    assert arm.counters["timeouts"] == 1


def test_a_program_that_waits_for_another_arms_state_is_not_taken_for_stalled(monkeypatch):
    first, second = Arm(answers_after=10**6, read_after=10**6), Arm(answers_after=10**6)
    second.owes = 0.0
    assert waited(monkeypatch, first, second) == pytest.approx(TIMEOUT, abs=1e-5)


def test_a_client_that_waits_beside_a_stalled_one_gets_a_state_within_a_second(monkeypatch):
    stalled, ready = Arm(answers_after=10**6, read_after=10**6), Arm(answers_after=1)
    assert waited(monkeypatch, stalled, ready) < 0.9


@pytest.mark.network
def test_a_connection_says_whether_its_client_has_read_what_was_sent():
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()):
        connection = Connection(listener.accept()[0], "robot")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.bind(("127.0.0.1", 0))
            assert not connection.unread
            connection.open_udp("127.0.0.1", client.getsockname()[1])
            assert not connection.unread
            connection.send_datagram(np.zeros(100).tobytes())
            assert connection.unread
            client.recv(1000)
            assert not connection.unread
        connection.close()

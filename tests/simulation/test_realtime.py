"""Real-time scheduling: what is asked of the system, and what is said where it refuses."""

import os
import threading
from types import SimpleNamespace

import pytest

from pliant.base.errors import PliantError
from pliant.simulation.realtime import kept_scheduling, realtime


class System:
    """Stands for the module os, and writes down what it is asked."""

    SCHED_OTHER, SCHED_FIFO, SCHED_RESET_ON_FORK = 0, 1, 0x40000000

    def __init__(self, refuse=False):
        self.refuse = refuse
        self.asked = []
        self.policy = (0, SimpleNamespace(sched_priority=0))

    def sched_param(self, priority):
        return SimpleNamespace(sched_priority=priority)

    def sched_getscheduler(self, pid):
        assert pid == 0
        return self.policy[0]

    def sched_getparam(self, pid):
        return self.policy[1]

    def sched_setscheduler(self, pid, policy, param):
        assert pid == 0
        self.asked.append((policy, param.sched_priority))
        if self.refuse:
            raise PermissionError(1, "Operation not permitted")
        self.policy = (policy, param)


def test_the_thread_gets_fifo_for_itself_alone_and_loses_it_at_the_end():
    system = System()
    with realtime(7, system=system):
        assert system.policy[0] == system.SCHED_FIFO | system.SCHED_RESET_ON_FORK
        assert system.policy[1].sched_priority == 7
    assert system.policy[0] == system.SCHED_OTHER
    assert system.policy[1].sched_priority == 0


def test_it_is_given_back_after_an_error():
    system = System()
    with pytest.raises(ValueError, match="inside"), realtime(system=system):
        raise ValueError("inside")
    assert system.policy[0] == system.SCHED_OTHER


def test_a_refusal_says_what_to_do():
    system = System(refuse=True)
    with pytest.raises(PliantError) as found, realtime(12, system=system):
        pytest.fail("the block ran")
    text = str(found.value)
    for part in (
        "SCHED_FIFO, priority 12",
        "Operation not permitted",
        "rtprio",
        "limits.d",
        "SYS_NICE",
        "omit it",
    ):
        assert part in text
    assert len(system.asked) == 1


def test_a_system_without_the_scheduler_is_named():
    with pytest.raises(PliantError, match="needs Linux"), realtime(system=SimpleNamespace()):
        pytest.fail("the block ran")


@pytest.mark.parametrize("priority", [0, 100, -1, 1.5, True, "high"])
def test_wrong_priorities_are_refused(priority):
    with pytest.raises(PliantError, match="1 to 99"), realtime(priority, system=System()):
        pytest.fail("the block ran")


def test_a_thread_gets_its_scheduling_back_from_code_that_changes_it():
    system = System()
    with kept_scheduling(system=system):
        system.sched_setscheduler(0, system.SCHED_FIFO, system.sched_param(99))
    assert system.policy == (system.SCHED_OTHER, SimpleNamespace(sched_priority=0))


def test_a_thread_whose_scheduling_did_not_change_asks_for_nothing():
    system = System()
    with kept_scheduling(system=system):
        pass
    assert system.asked == []


def test_a_thread_that_may_not_lose_the_flag_of_its_children_becomes_ordinary_with_it():
    class Unprivileged(System):
        def sched_setscheduler(self, pid, policy, param):
            self.refuse = bool(self.policy[0] & self.SCHED_RESET_ON_FORK & ~policy)
            super().sched_setscheduler(pid, policy, param)

    system = Unprivileged()
    with realtime(5, system=system):
        pass
    assert system.policy == (system.SCHED_OTHER | system.SCHED_RESET_ON_FORK, SimpleNamespace(sched_priority=0))


def test_a_system_without_the_scheduler_keeps_nothing():
    with kept_scheduling(system=SimpleNamespace()):
        pass


@pytest.mark.skipif(not hasattr(os, "sched_setscheduler"), reason="SCHED_FIFO is Linux's")
def test_threads_that_a_real_time_thread_starts_are_ordinary():
    before = os.sched_getscheduler(0)
    seen = {}

    def other():
        seen["other"] = os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK

    try:
        with realtime(1):
            seen["loop"] = os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
    except PliantError as error:
        pytest.skip(f"not granted here: {error}")
    assert seen == {"loop": os.SCHED_FIFO, "other": os.SCHED_OTHER}
    assert os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK == before & ~os.SCHED_RESET_ON_FORK

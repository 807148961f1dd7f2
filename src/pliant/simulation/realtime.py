"""Real-time scheduling of the loop's thread, where the operating system grants it.

With ordinary priority a thread waits for a processor whenever others want one, for milliseconds on a busy machine. With
SCHED_FIFO it runs as soon as it can. Only the thread that asks gets it: threads that it starts are ordinary again
(SCHED_RESET_ON_FORK), so sockets, writers and viewers never stand before the loop.
"""

from __future__ import annotations

import contextlib
import os
import types
from collections.abc import Iterator

from pliant.base.errors import PliantError

PRIORITY = 10
"""SCHED_FIFO priority of the loop: above every ordinary thread, below the kernel's own of 50. Assumed."""


@contextlib.contextmanager
def kept_scheduling(*, system: types.ModuleType = os) -> Iterator[None]:
    """Give the calling thread the scheduling back that it had before the block, where the system has schedulers.

    Args:
        system: what has the scheduler's calls, as the module `os`.
    """
    if not hasattr(system, "sched_setscheduler"):
        yield
        return
    # 0 is the calling thread, not the process.
    before = (system.sched_getscheduler(0), system.sched_getparam(0))
    try:
        yield
    finally:
        if (system.sched_getscheduler(0), system.sched_getparam(0)) != before:
            # Going back to an ordinary policy is always granted, but for the flag: a process without the right to real
            # time may not take SCHED_RESET_ON_FORK away again. Ordinary with the flag differs in nothing that matters.
            try:
                system.sched_setscheduler(0, *before)
            except OSError:
                with contextlib.suppress(OSError):
                    system.sched_setscheduler(0, before[0] | system.SCHED_RESET_ON_FORK, before[1])


@contextlib.contextmanager
def realtime(priority: int = PRIORITY, *, system: types.ModuleType = os) -> Iterator[None]:
    """Run the calling thread with SCHED_FIFO inside the block; afterwards it has what it had.

    Args:
        priority: 1 to 99; higher goes first.
        system: what has the scheduler's calls, as the module `os`.

    Raises:
        PliantError: a wrong priority, a system without SCHED_FIFO, or one that refuses it; the message says what to do.
    """
    if isinstance(priority, bool) or not isinstance(priority, int) or not 1 <= priority <= 99:
        raise PliantError(
            f"the real-time priority is {priority!r}; must be a whole number from 1 to 99", field="priority"
        )
    if not hasattr(system, "sched_setscheduler"):
        raise PliantError("real-time scheduling (SCHED_FIFO) needs Linux; omit it", field="realtime")
    with kept_scheduling(system=system):
        try:
            system.sched_setscheduler(0, system.SCHED_FIFO | system.SCHED_RESET_ON_FORK, system.sched_param(priority))
        except OSError as error:
            raise PliantError(
                f"the system refuses real-time scheduling (SCHED_FIFO, priority {priority}): {error.strerror}"
                f"{_limit()}. To get it: run as root; or allow it for your user by a line '@realtime - rtprio 99' in "
                "/etc/security/limits.d/realtime.conf, being of the group realtime, and log in again; or start the "
                "container with --cap-add SYS_NICE --ulimit rtprio=99; or omit it",
                field="realtime",
            ) from None
        yield


def _limit() -> str:
    """Return what the limit of this process is, as the end of a sentence."""
    try:
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_RTPRIO)
    except (ImportError, AttributeError, OSError, ValueError):
        return ""
    return f"; this process may take priorities up to {max(soft, hard)} (ulimit -r)" if max(soft, hard) >= 0 else ""

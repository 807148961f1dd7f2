"""SIGINT, SIGTERM, SIGHUP: the first ends a command with its results, a second one even one that does not answer."""

from __future__ import annotations

import _thread
import contextlib
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

PATIENCE = 1.0
"""Time that the main thread has to answer the second signal [s]."""
SAME_PRESS = 0.05
"""Signals that arrive closer together are one: a parent may pass on what the terminal has sent to both [s]."""
CATCHING = ("trimesh",)
"""Packages that catch every exception, also `KeyboardInterrupt`, in their functions."""
RETRY = 0.05
"""Time between two attempts to interrupt a main thread that would lose the interrupt [s]."""
LONGEST_IMPORT = 10.0
"""Time after which an import or a function of `CATCHING` is interrupted all the same [s]."""
_own: list[float] = []
_kept: list[object] = []
_deferred: list[float] = []


ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that end a command. Windows has no SIGHUP."""


@contextlib.contextmanager
def signals_as_interrupt() -> Iterator[None]:
    """Let SIGINT, SIGTERM and SIGHUP interrupt the main thread while the body runs, however the program was started.

    A shell without job control starts its background jobs with SIGINT ignored, and Python then installs no handler of
    its own. SIGTERM, which ``kill`` and service managers send, and SIGHUP, which a closed terminal causes, would end
    the process at once and leave ports registered. SIGHUP stays ignored if it was, because only ``nohup`` and the like
    ask for that. In forked processes, SIGTERM and SIGHUP keep their default action. An interrupt that Python ignores,
    because it arrives in a callback of a weak reference or in a finalizer, is repeated.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    process = os.getpid()

    def ended(number: int, frame: FrameType | None) -> None:
        if os.getpid() != process:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        handler = signal.getsignal(signal.SIGINT)
        if not callable(handler):
            raise KeyboardInterrupt
        handler(signal.SIGINT, frame)

    before: dict[int, signal.Handlers | int | Callable[[int, FrameType | None], object] | None] = {}
    for number in ENDING:
        found = signal.getsignal(number)
        if number == signal.SIGINT:
            usual = (signal.SIG_IGN, signal.SIG_DFL, signal.default_int_handler)
            wanted = _interrupt if found in usual else found
        else:
            wanted = found if number != signal.SIGTERM and found == signal.SIG_IGN else ended
        before[number] = signal.signal(number, wanted)
    usual_hook = sys.unraisablehook

    def ignored(fault: sys.UnraisableHookArgs) -> None:
        if issubclass(fault.exc_type, KeyboardInterrupt):
            _interrupt_again()
        else:
            usual_hook(fault)

    sys.unraisablehook = ignored
    try:
        yield
    finally:
        sys.unraisablehook = usual_hook
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _interrupt(_: int, frame: FrameType | None) -> None:
    """Raise `KeyboardInterrupt`, or later if it would be lost where the main thread is.

    Packages import their optional dependencies under ``except BaseException`` or a bare ``except``, and some call
    functions so: an interrupt there would be taken for a missing dependency, and the command would run on.
    """
    now = time.monotonic()
    if _deferred and now - _deferred[-1] > LONGEST_IMPORT:  # of an interrupt that another handler has taken
        _deferred.clear()
    if not _is_lost(frame) or (_deferred and now - _deferred[0] > LONGEST_IMPORT):
        _deferred.clear()
        raise KeyboardInterrupt
    _deferred.append(now)
    _interrupt_again()


def _interrupt_again() -> None:
    timer = threading.Timer(RETRY, interrupt_main)
    timer.daemon = True
    timer.start()


def _is_lost(frame: FrameType | None) -> bool:
    while frame is not None:
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package in CATCHING or frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


@contextlib.contextmanager
def stopping_at_signal() -> Iterator[threading.Event]:
    """Yield an event that the first SIGINT sets; the second one interrupts the main thread.

    For what must not be interrupted between two lines, such as a motion that must be finished.
    """
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event
        return
    before, first = signal.getsignal(signal.SIGINT), 0.0

    def ended(number: int, frame: object) -> None:
        nonlocal first
        if not event.is_set():
            first = time.monotonic()
            event.set()
        elif time.monotonic() - first > SAME_PRESS:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, ended)
    try:
        yield event
    finally:
        signal.signal(signal.SIGINT, before)


def interrupt_main() -> None:
    """Interrupt the main thread as Ctrl-C does, even in its wait for a lock; it is no signal of the user."""
    if hasattr(signal, "pthread_kill"):
        _own.append(time.monotonic())
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        _thread.interrupt_main()


@contextlib.contextmanager
def ending_at_second_signal() -> Iterator[None]:
    """End the process at the second SIGINT, SIGTERM or SIGHUP if the main thread does not answer it.

    Python runs its signal handlers between two instructions of Python. A main thread that is inside a step of MuJoCo
    does not come to that, so another thread receives the signals as well (`signal.set_wakeup_fd`). If the main thread
    executes no instruction of Python for `PATIENCE` seconds after the second signal, the process ends with the exit
    code of that signal. A recording is readable up to its last flush then.
    """
    if threading.current_thread() is not threading.main_thread() or sys.platform == "win32":
        yield
        return
    receiver, sender = socket.socketpair()
    sender.setblocking(False)
    thread = threading.Thread(target=_watch, args=(receiver, os.getpid()), name="pliant-signals", daemon=True)
    before = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    thread.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        sender.close()
        while thread.is_alive():  # a wait without a limit would keep the main thread from answering `_is_stuck`
            thread.join(0.05)
        receiver.close()


def _watch(receiver: socket.socket, process: int) -> None:
    count, last = 0, -SAME_PRESS
    while numbers := receiver.recv(64):
        for number in numbers:
            if number not in ENDING:
                continue
            now = time.monotonic()
            if _own:
                _own.pop()
            elif now - last >= SAME_PRESS:
                count, last = count + 1, now
                if count > 1 and os.getpid() == process and _is_stuck():
                    os.write(2, b"\npliant: ended at once; a recording is readable up to what was written before\n")
                    os._exit(128 + number)


def _is_stuck() -> bool:
    """Return whether the main thread executes no instruction of Python for `PATIENCE` seconds."""
    import ctypes

    moved = threading.Event()

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
    def call(_: int | None) -> int:
        moved.set()
        return 0

    _kept.append(call)  # it may be called later
    # What Python calls in the main thread between two instructions, as it does handlers of signals.
    if ctypes.pythonapi.Py_AddPendingCall(call, None) != 0:
        return False
    return not moved.wait(PATIENCE)

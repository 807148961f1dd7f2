"""Killing a thread from outside, as a fault of ours would."""

import ctypes
import time


class Killed(BaseException):
    """What is injected; nothing may catch it but who keeps account of threads."""


def kill(thread, timeout=30.0):
    """Raise `Killed` in a thread as soon as it runs Python code again, and wait for its end."""
    end = time.monotonic() + timeout
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(Killed))
    thread.join(max(0.0, end - time.monotonic()))
    assert not thread.is_alive(), f"{thread.name} lives on after {timeout} s"

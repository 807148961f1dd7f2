"""Waiting for what another thread does."""

import threading
import time

import pytest


def until(condition, what="", timeout=60.0, act=lambda: None):
    """Act and ask again until a condition holds; return what it found. The test fails if that takes too long."""
    pause = threading.Event()
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        act()
        found = condition()
        if found:
            return found
        pause.wait(0.002)
    pytest.fail(f"not within {timeout} s: {what or condition}")

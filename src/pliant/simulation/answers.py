"""Answers of the loop to other threads: those of bridges and of the page."""

from __future__ import annotations

from concurrent.futures import CancelledError, Future
from typing import TypeVar

from pliant.base.errors import BridgeError

T = TypeVar("T")

ANSWER_TIMEOUT = 5.0
"""Longest wait of a service for the loop [s of wall time]."""


def answered(future: Future[T], timeout: float = ANSWER_TIMEOUT) -> T:
    """Return what the loop answers, from another thread: a bridge's, or one of the page.

    Args:
        future: the answer.
        timeout: longest wait [s of wall time].

    Raises:
        BridgeError: the loop does not answer in time, or has ended.
    """
    try:
        return future.result(timeout)
    except TimeoutError:
        future.cancel()
        raise BridgeError(f"the loop did not answer within {timeout:g} s: is the simulation running?") from None
    except CancelledError:
        raise BridgeError("the run ended before this was done") from None

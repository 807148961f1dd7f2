"""Answers of the loop to the threads of a bridge."""

from __future__ import annotations

from concurrent.futures import CancelledError

from pliant.base.errors import BridgeError

__all__ = ["ANSWER_TIMEOUT", "answered"]

ANSWER_TIMEOUT = 5.0
"""Longest wait of a service for the loop [s of wall time]."""


def answered(future: object, timeout: float = ANSWER_TIMEOUT) -> object:
    """Return what the loop answers, from another thread.

    Raises:
        BridgeError: the loop does not answer.
    """
    try:
        return future.result(timeout)
    except TimeoutError:
        future.cancel()
        raise BridgeError(f"the loop did not answer within {timeout:g} s: is the simulation running?") from None
    except CancelledError:
        raise BridgeError("the run ended before this was done") from None

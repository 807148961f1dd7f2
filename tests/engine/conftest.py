"""Gives MuJoCo's callbacks back after a test."""

import pytest


@pytest.fixture
def bare_callbacks():
    """Run a test on a MuJoCo without callbacks, and put pliant's back afterwards."""
    from pliant.engine import callbacks

    slots = {name: callbacks._pointer(name) for name in ("mjcb_act_dyn", "mjcb_act_bias", "mjcb_act_gain")}
    before = {name: slot.value for name, slot in slots.items()}
    previous = callbacks._previous.copy()
    for slot in slots.values():
        slot.value = None
    callbacks._previous[:] = 0
    yield callbacks
    for name, slot in slots.items():
        slot.value = before[name]
    callbacks._previous[:] = previous

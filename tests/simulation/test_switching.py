"""The interpreter's switch interval while bridges are open."""

import sys

from pliant.simulation.switching import SWITCH_INTERVAL, SwitchInterval


def test_the_interval_is_short_until_the_last_bridge_closes():
    before = sys.getswitchinterval()
    first, second = SwitchInterval(), SwitchInterval()
    first.restore()
    first.shorten()
    second.shorten()
    second.shorten()
    first.restore()
    assert sys.getswitchinterval() <= SWITCH_INTERVAL * 1.01
    second.restore()
    second.restore()
    assert sys.getswitchinterval() == before

"""A program that follows a clock: it reads every tick, or sleeps until a simulated time."""

import pytest

from pliant.base.errors import BridgeError
from pliant.yarp.bridge.nameserver import NameServer
from pliant.yarp.client import ClockReader, NetworkClock, YarpNetwork
from pliant.yarp.wire import bottle

pytestmark = pytest.mark.network


@pytest.fixture
def world():
    """A network, and a function that sends a time [ns] as a simulation does."""
    with NameServer(port=0) as server, YarpNetwork(str(server.address), timeout=5.0) as yarp:
        clock = yarp.open_output("/clock")
        yield yarp, lambda time_ns: clock.write_bottle(bottle(*divmod(time_ns, 1_000_000_000)))


def test_a_reader_gets_every_tick_in_order(world):
    yarp, send = world
    reader = ClockReader(yarp)
    times = [999_999_999 + k * 1_000_000 for k in range(50)]
    for time in times:
        send(time)
    assert [reader.read(5.0) for _ in times] == times
    with pytest.raises(BridgeError, match="nothing arrived"):
        reader.read(0.05)


def test_a_sleeper_wakes_at_its_time_and_not_before(world):
    yarp, send = world
    with NetworkClock(yarp, timeout=5.0) as clock:
        for k in range(1, 6):
            send(k * 1_000_000)
        assert clock.sleep_until(5_000_000) == 5_000_000
        send(6_000_000)
        send(9_000_000)
        assert clock.sleep_until(7_000_000) == 9_000_000
        assert clock.sleep_until(2**62, ticks=7) == 9_000_000


def test_a_sleeper_is_told_when_the_time_does_not_come_or_the_clock_is_not_followed_any_more(world):
    yarp, send = world
    with NetworkClock(yarp, timeout=0.1) as clock:
        send(1_000_000)
        with pytest.raises(BridgeError, match="did not reach 2000000 ns"):
            clock.sleep_until(2_000_000)
    with pytest.raises(BridgeError, match="did not reach"):
        clock.sleep_until(10**12)


def test_a_clock_that_does_not_exist_is_named():
    with (
        NameServer(port=0) as server,
        YarpNetwork(str(server.address), timeout=5.0) as yarp,
        pytest.raises(BridgeError, match="/clocks"),
    ):
        NetworkClock(yarp, "/clocks")

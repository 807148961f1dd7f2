"""The rates of the table at the end of a run count the time in which somebody listened."""

import time

import pytest
from ros1_world import until

from pliant.ros.bridge.send_rate import SendRate


def rate_of(events):
    """Return the rate of messages at some times, each with the number of the time with a listener, 0 for none."""
    times = iter([at for at, _ in events])
    rate = SendRate(lambda: next(times))
    for _, period in events:
        rate.sent(period)
    return rate


def test_times_without_a_listener_do_not_count():
    first = [(0.1 * k, 1) for k in range(11)]
    nobody = [(2.0 + k, 0) for k in range(50)]
    second = [(1000.0 + 0.1 * k, 2) for k in range(11)]
    assert rate_of(first + nobody + second).hz == pytest.approx(10.0)
    assert rate_of(first + second).hz == pytest.approx(10.0)  # nothing was sent meanwhile
    assert rate_of(first + nobody + second).gaps == 20


def test_without_two_messages_to_a_listener_there_is_no_rate():
    assert rate_of([]).hz == 0.0
    assert rate_of([(1.0, 1)]).hz == 0.0
    assert rate_of([(1.0, 0), (2.0, 0)]).hz == 0.0
    assert rate_of([(1.0, 1), (2.0, 2)]).hz == 0.0


@pytest.mark.network
def test_the_table_of_ros_1_counts_the_time_in_which_a_client_listened(world):
    """A client listens to 20 steps, is away while the clock stands still, and listens to 20 steps more."""
    item = world()
    topic = "/toBEassigned/robot_state"
    spent = 0.0
    for name in ("/first", "/second"):
        client = item.connect(name)
        heard = item.hear(topic, "sensor_msgs/JointState")
        began = time.monotonic()
        item.simulation.step(20)
        spent += time.monotonic() - began
        until(lambda heard=heard: len(heard) == 20)
        client.stop()
        until(lambda: not item.node.publications[topic].connections)
        item.simulation.step(20)  # nobody listens
    item.client = None
    row = next(row for row in item.bridge.report() if row["topic"] == topic)
    assert row["rate"] >= 38 / spent  # not fewer than the steps that somebody listened to, over their time
